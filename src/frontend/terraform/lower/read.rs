//! Reads arguments and nested blocks of a resource as attributes of the graph: case by case, with place and origin.

pub(super) use super::super::eval::Nested;
use super::super::eval::{Evaluator, Scope};
use super::super::json;
use super::super::syntax::Body;
use super::super::value::{Kind, Value};
pub(super) use super::link::link;
use super::{Lowering, Node};
use crate::conditions::{Case, Condition};
use crate::graph::{Attribute, Link, Name, Seconds, Sourced, State};
use crate::source::Span;
use std::sync::Arc;

/// A body to read, and where to point at what it does not say.
pub(super) struct Place<'n> {
    pub(super) body: &'n Body,
    pub(super) scope: &'n Scope,
    pub(super) header: Span,
    pub(super) world: &'n Condition,
}

impl Node {
    pub(super) fn place(&self) -> Place<'_> {
        Place {
            body: &self.block.body,
            scope: &self.scope,
            header: self.resource.header,
            world: &self.resource.when,
        }
    }
}

impl Nested {
    /// The block as a place of `node`, in `world`.
    pub(super) fn place<'n>(&'n self, world: &'n Condition) -> Place<'n> {
        Place {
            body: &self.block.body,
            scope: &self.scope,
            header: self.block.header,
            world,
        }
    }
}

/// Why a value is no `T`.
pub(super) type Refusal = Arc<str>;

impl Lowering<'_, '_> {
    /// The value of an argument and the place of the argument.
    pub(super) fn argument(&mut self, body: &Body, scope: &Scope, name: &str) -> Option<(Value, Span)> {
        let attribute = body.attribute(name)?;
        let value = self.eval.eval(&attribute.value, scope);
        let span = match value.span {
            Some(span) if self.eval.is_described(scope.module) => span,
            _ => attribute.span,
        };
        Some((value, span))
    }

    /// An argument as the user spells it: in a module that is known by a description, as its call does.
    pub(super) fn spelled(&self, node: &Node, name: &'static str) -> Name {
        let described = self.eval.instances[node.scope.module].module.described.as_ref();
        let labels = (node.block.labels.first(), node.block.labels.get(1));
        let spelled = match (described, labels) {
            (Some(described), (Some(kind), Some(label))) => {
                described.spelling.get(&(kind.clone(), label.clone(), name.into()))
            }
            _ => None,
        };
        spelled.map_or_else(|| name.into(), |spelled| spelled.clone().into())
    }

    /// An argument as an attribute; `default` where it is absent or null.
    pub(super) fn read<T: Clone>(
        &mut self,
        node: &Node,
        name: &'static str,
        default: T,
        convert: impl FnMut(&mut Evaluator, &Value) -> Result<T, Refusal>,
    ) -> Attribute<T> {
        let argument = self.argument(&node.block.body, &node.scope, name);
        let name = self.spelled(node, name);
        self.attribute(
            name,
            argument,
            node.resource.header,
            &node.resource.when,
            Some(default),
            convert,
        )
    }

    /// A value as an attribute. Without `default`, an absent value is unresolved.
    pub(super) fn attribute<T: Clone>(
        &mut self,
        name: impl Into<Name>,
        argument: Option<(Value, Span)>,
        header: Span,
        world: &Condition,
        default: Option<T>,
        mut convert: impl FnMut(&mut Evaluator, &Value) -> Result<T, Refusal>,
    ) -> Attribute<T> {
        let name = name.into();
        let absent = || match &default {
            Some(default) => State::Default(default.clone()),
            None => State::Unresolved(format!("`{name}` is not set").into()),
        };
        let Some((value, span)) = argument else {
            let state = absent();
            return Attribute::single(name, state, header);
        };
        let mut cases = Vec::new();
        for Case { when, then: value } in value.each_case() {
            if !world.is_possible_with(&when) {
                continue;
            }
            let state = match &value.kind {
                Kind::Null => absent(),
                Kind::Unknown(unknown) => State::Unresolved(unknown.reason.clone()),
                _ => convert(self.eval, &value).map_or_else(State::Unresolved, State::Set),
            };
            let sourced = Sourced {
                state,
                span,
                origins: value.origins.list().into(),
            };
            cases.push(Case::new(when, sourced));
        }
        of_cases(name, cases, span)
    }

    /// The nested blocks `name`, dynamic ones expanded; or why they are not known.
    pub(super) fn blocks(&mut self, body: &Body, scope: &Scope, name: &str) -> Result<Vec<Nested>, Refusal> {
        self.eval.blocks(body, scope, name)
    }

    /// The blocks at the end of `path`, which leads through blocks in blocks.
    pub(super) fn blocks_at(&mut self, body: &Body, scope: &Scope, path: &[&str]) -> Result<Vec<Nested>, Refusal> {
        let Some((first, rest)) = path.split_first() else {
            return Ok(Vec::new());
        };
        let outer = self.blocks(body, scope, first)?;
        if rest.is_empty() {
            return Ok(outer);
        }
        let mut all = Vec::new();
        for nested in outer {
            for mut inner in self.blocks_at(&nested.block.body, &nested.scope, rest)? {
                inner.when = inner.when.and(&nested.when);
                all.push(inner);
            }
        }
        Ok(all)
    }

    /// An argument of a nested block that may stand at most once; `default` where there is no such block.
    pub(super) fn read_nested<T: Clone>(
        &mut self,
        node: &Node,
        path: &[&str],
        name: &'static str,
        default: T,
        convert: impl FnMut(&mut Evaluator, &Value) -> Result<T, Refusal>,
    ) -> Attribute<T> {
        self.read_in(&node.place(), path, name, default, convert)
    }

    /// The same inside of a block.
    pub(super) fn read_in<T: Clone>(
        &mut self,
        &Place {
            body,
            scope,
            header,
            world,
        }: &Place<'_>,
        path: &[&str],
        name: &'static str,
        default: T,
        mut convert: impl FnMut(&mut Evaluator, &Value) -> Result<T, Refusal>,
    ) -> Attribute<T> {
        if path.is_empty() {
            let argument = self.argument(body, scope, name);
            return self.attribute(name, argument, header, world, Some(default), convert);
        }
        let blocks = match self.blocks_at(body, scope, path) {
            Ok(blocks) => blocks,
            Err(reason) => return Attribute::unresolved(name, reason, header),
        };
        let mut left = Condition::always();
        let mut cases = Vec::new();
        for nested in blocks {
            let argument = self.argument(&nested.block.body, &nested.scope, name);
            let place = nested.block.header;
            let attribute = self.attribute(name, argument, place, world, Some(default.clone()), &mut convert);
            for mut case in attribute.cases {
                case.when = case.when.and(&nested.when).and(&left);
                if case.when.is_possible() {
                    cases.push(case);
                }
            }
            left = left.and(&nested.when.not());
        }
        if left.is_possible() {
            cases.push(Case::new(left, Sourced::new(State::Default(default), header)));
        }
        Attribute {
            name: name.into(),
            cases: cases.into(),
        }
    }

    /// An argument that has to be there: unresolved where it is not.
    pub(super) fn read_required<T: Clone>(
        &mut self,
        node: &Node,
        name: &'static str,
        convert: impl FnMut(&mut Evaluator, &Value) -> Result<T, Refusal>,
    ) -> Attribute<T> {
        let argument = self.argument(&node.block.body, &node.scope, name);
        let name = self.spelled(node, name);
        self.attribute(name, argument, node.resource.header, &node.resource.when, None, convert)
    }

    /// An argument as a text; `None` where it is absent or null.
    pub(super) fn optional_text(&mut self, node: &Node, name: &'static str) -> Attribute<Option<String>> {
        self.read(node, name, None, |eval, value| text(eval, value).map(Some))
    }

    /// An argument as a link; `None` where it is absent or null.
    pub(super) fn optional_link(&mut self, node: &Node, name: &'static str) -> Attribute<Option<Link>> {
        self.read(node, name, None, |eval, value| link(eval, value).map(Some))
    }

    /// An argument as a link.
    pub(super) fn link(&mut self, node: &Node, name: &'static str) -> Attribute<Link> {
        self.read_required(node, name, link)
    }
}

/// An attribute of the cases that are possible where the resource exists.
pub(super) fn of_cases<T>(name: Name, mut cases: Vec<Case<Sourced<T>>>, span: Span) -> Attribute<T> {
    if cases.is_empty() {
        return Attribute::unresolved(name, "no combination of conditions reaches it", span);
    }
    // Where one case is left, the others were impossible.
    if let [only] = cases.as_mut_slice() {
        only.when = Condition::always();
    }
    let cases = cases.into();
    Attribute { name, cases }
}

/// A whole number.
pub(super) fn integer(_: &mut Evaluator, value: &Value) -> Result<i64, Refusal> {
    value
        .to_whole()
        .ok_or_else(|| refusal(value, "it is not a whole number"))
}

/// Seconds.
pub(super) fn seconds(eval: &mut Evaluator, value: &Value) -> Result<Seconds, Refusal> {
    integer(eval, value).map(Seconds)
}

/// A boolean.
pub(super) fn boolean(_: &mut Evaluator, value: &Value) -> Result<bool, Refusal> {
    value.to_bool().ok_or_else(|| refusal(value, "it is not a boolean"))
}

/// A text.
pub(super) fn text(eval: &mut Evaluator, value: &Value) -> Result<String, Refusal> {
    let plain = match &value.kind {
        Kind::Encoded(inner) | Kind::Rendered(inner) => json::encode(inner),
        _ => eval.plain(value.clone()),
    };
    plain
        .to_text()
        .map(|text| text.to_string())
        .ok_or_else(|| refusal(value, "it is not a text"))
}

/// Why `value` is not what it ought to be: because it is not known, or `or`.
pub(super) fn refusal(value: &Value, or: &str) -> Refusal {
    match &value.kind {
        Kind::Unknown(unknown) => unknown.reason.clone(),
        Kind::Reference(id, attribute) => format!("`{}.{attribute}` is known only after apply", id.address()).into(),
        Kind::Template(parts) => parts
            .iter()
            .find(|part| part.to_text().is_none())
            .map_or_else(|| or.into(), |part| refusal(part, or)),
        Kind::Cases(_) => "it depends on conditions inside of a text".into(),
        _ => or.into(),
    }
}
