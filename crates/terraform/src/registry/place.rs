//! Gives the blocks of a description the spans of a call: each attribute receives the span of the argument that it
//! comes from, or the header of the call. No span points into a description, which is not a file of the user.

use crate::limits;
use crate::module::Spelling;
use crate::syntax::{Attribute, Block, Body, Expression, ExpressionKind, Step};
use source::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Relocates the blocks of a description to one call.
pub(crate) struct Relocation<'a> {
    call: &'a Block,
    locals: BTreeMap<Arc<str>, Arc<Expression>>,
    /// The spelling of each resource argument in the call.
    pub(super) spelling: Spelling,
}

/// Names of variables, in order of appearance.
type Mentions = Vec<Arc<str>>;

/// Variables that the names bound by surrounding blocks depend on: `each`, and the iterators of dynamic blocks.
type Context = Vec<(Arc<str>, Mentions)>;

impl<'a> Relocation<'a> {
    pub(super) fn new(call: &'a Block, blocks: &[Arc<Block>]) -> Self {
        let locals = blocks.iter().filter(|block| &*block.kind == "locals");
        let locals = locals.flat_map(|block| &block.body.attributes);
        Relocation {
            call,
            locals: locals
                .map(|attribute| (attribute.name.clone(), attribute.value.clone()))
                .collect(),
            spelling: Spelling::new(),
        }
    }

    /// Relocates a top-level block of the description.
    pub(crate) fn block(&mut self, block: &Arc<Block>) -> Arc<Block> {
        let mut placed = (**block).clone();
        let mut context = Context::new();
        if let Some(each) = block.body.attribute("for_each") {
            let mut mentions = Mentions::new();
            self.mentions(&each.value, &context, &mut mentions, 0);
            context.push(("each".into(), mentions));
        }
        if let ("resource", [kind, name]) = (&*block.kind, block.labels.as_slice()) {
            for attribute in &block.body.attributes {
                if let (_, Some(argument)) = self.argument(attribute, &context) {
                    let key = (kind.clone(), name.clone(), attribute.name.clone());
                    self.spelling.insert(key, argument);
                }
            }
        }
        self.place(&mut placed, &context, self.call.header);
        Arc::new(placed)
    }

    fn place(&self, block: &mut Block, context: &Context, span: Span) {
        block.header = span;
        block.span = span;
        self.body(&mut block.body, context, span);
    }

    /// Relocates a body; `span` is that of the surrounding block.
    fn body(&self, body: &mut Body, context: &Context, span: Span) {
        for attribute in &mut body.attributes {
            let (span, _) = self.argument(attribute, context);
            attribute.span = span;
            relocate(Arc::make_mut(&mut attribute.value), span);
        }
        for block in &mut body.blocks {
            let mut inner = context.clone();
            let mut place = span;
            if let ("dynamic", Some(label), Some(each)) =
                (&*block.kind, block.labels.first(), block.body.attribute("for_each"))
            {
                let mut mentions = Mentions::new();
                self.mentions(&each.value, context, &mut mentions, 0);
                place = self.given(&mentions).map_or(span, |given| given.span);
                inner.push((label.clone(), mentions));
            }
            self.place(Arc::make_mut(block), &inner, place);
        }
    }

    /// Returns the first of `variables` that the call sets.
    fn given(&self, variables: &Mentions) -> Option<&Attribute> {
        variables.iter().find_map(|name| self.call.body.attribute(name))
    }

    /// Returns the span of the argument of the call that an attribute of the description comes from, and the argument's
    /// name if it corresponds to the attribute.
    fn argument(&self, attribute: &Attribute, context: &Context) -> (Span, Option<Arc<str>>) {
        let mut mentions = Mentions::new();
        self.mentions(&attribute.value, context, &mut mentions, 0);
        let spells = |variable: &Arc<str>| {
            let before = variable.strip_suffix(&*attribute.name);
            before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
        };
        let same: Mentions = mentions.iter().filter(|variable| spells(variable)).cloned().collect();
        let is_spelled = !same.is_empty();
        let candidates = if is_spelled { same } else { mentions };
        let given = self.given(&candidates);
        let spelled = given.map(|given| &given.name).or(candidates.first()).cloned();
        (
            given.map_or(self.call.header, |given| given.span),
            spelled.filter(|_| is_spelled),
        )
    }

    fn mentions(&self, expression: &Expression, context: &Context, found: &mut Mentions, depth: usize) {
        if depth > limits::MAX_REGISTRY_REFERENCE_DEPTH {
            return;
        }
        let mut walk = |inner: &Expression| self.mentions(inner, context, found, depth + 1);
        match &expression.kind {
            ExpressionKind::Variable(name) => {
                let known = context.iter().rev().find(|(known, _)| known == name);
                add(found, known.map_or(&[], |(_, mentions)| mentions));
            }
            ExpressionKind::Traversal(base, steps) => {
                for step in steps {
                    if let Step::Index(index) | Step::LegacyIndex(index) = step {
                        walk(index);
                    }
                }
                match (&base.kind, steps.first()) {
                    (ExpressionKind::Variable(name), Some(Step::Attribute(variable))) if &**name == "var" => {
                        add(found, std::slice::from_ref(variable));
                    }
                    (ExpressionKind::Variable(name), Some(Step::Attribute(local))) if &**name == "local" => {
                        if let Some(local) = self.locals.get(local) {
                            walk(local);
                        }
                    }
                    _ => walk(base),
                }
            }
            // The branches are more likely to contain the value than the condition.
            ExpressionKind::Conditional(parts) => [&parts[1], &parts[2], &parts[0]].into_iter().for_each(walk),
            _ => expression.for_each_child(&mut walk),
        }
    }
}

fn add(found: &mut Mentions, names: &[Arc<str>]) {
    for name in names {
        if !found.contains(name) {
            found.push(name.clone());
        }
    }
}

/// Sets the span of an expression and all its subexpressions.
fn relocate(expression: &mut Expression, span: Span) {
    expression.span = span;
    if let ExpressionKind::Object(items) = &mut expression.kind {
        for item in items {
            item.span = span;
        }
    }
    expression.for_each_child_mut(&mut |child| relocate(child, span));
}
