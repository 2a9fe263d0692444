//! Who sets a number that a resource takes: its own module, or whoever calls a module that hands it on. Followed through
//! names alone, so that nothing is computed on the way: `var.timeout`, `local.timeout`, an argument that is one of them.

use super::super::syntax::{Block, Expression, Kind as Syntax, Step, UnaryOperator};
use super::{Evaluator, validation};
use crate::graph::set_by::{Input, SetBy};
use std::sync::Arc;

/// Names that lead to each other are followed so far.
const MAX_STEPS: usize = 16;

impl Evaluator<'_> {
    /// Who sets the argument `name` of `block`, a resource of `module`; `None` where that is not known.
    pub(in super::super) fn set_by(&self, block: &Block, module: usize, name: &str) -> Option<SetBy> {
        if self.is_described(module) || has_conditions(block) {
            return None;
        }
        let Some(attribute) = block.body.attribute(name) else {
            return Some(SetBy::Itself);
        };
        self.expression_set_by(&attribute.value, module, module, MAX_STEPS)
    }

    /// Who sets what `expression` of module `at` is, for a resource of `module`.
    fn expression_set_by(&self, expression: &Expression, at: usize, module: usize, steps: usize) -> Option<SetBy> {
        if steps == 0 {
            return None;
        }
        match &expression.kind {
            Syntax::Traversal(base, path) => {
                let (Syntax::Variable(base), [Step::Attribute(name)]) = (&base.kind, path.as_slice()) else {
                    return None;
                };
                match &**base {
                    "var" => self.variable_set_by(name, at, module, steps - 1),
                    "local" => {
                        let local = self.instances[at].module.locals.get(name)?;
                        self.expression_set_by(&local.value, at, module, steps - 1)
                    }
                    _ => None,
                }
            }
            // What a caller hands over, the caller sets.
            _ => (at == module && is_constant(expression, steps)).then_some(SetBy::Itself),
        }
    }

    fn variable_set_by(&self, name: &Arc<str>, at: usize, module: usize, steps: usize) -> Option<SetBy> {
        let instance = &self.instances[at];
        if self.is_described(at) {
            return None;
        }
        if let Some((_, call, scope)) = &instance.caller {
            if let Some(argument) = call.block.body.attribute(name) {
                return self.expression_set_by(&argument.value, scope.module, module, steps);
            }
        } else if self.is_given(name, at) {
            return None;
        }
        let block = instance.module.variables.get(name)?;
        let default = block.body.attribute("default")?;
        let most = validation::bounds(block, name).most;
        // What another validation asks is not understood, and may keep it within bounds.
        let is_bounded = block.body.blocks.iter().any(|block| &*block.kind == "validation");
        if is_bounded && most.is_none() {
            return None;
        }
        Some(SetBy::Input(Arc::new(Input {
            shown: format!("`var.{name}`"),
            within: instance.path.to_string(),
            span: default.value.span,
            most,
            limit: "a `validation`",
        })))
    }
}

/// Whether a resource has conditions of its own, which may compare what it takes.
fn has_conditions(block: &Block) -> bool {
    let lifecycle = block.body.blocks.iter().filter(|block| &*block.kind == "lifecycle");
    lifecycle
        .flat_map(|lifecycle| &lifecycle.body.blocks)
        .any(|block| matches!(&*block.kind, "precondition" | "postcondition"))
}

/// Whether an expression is made of numbers alone.
fn is_constant(expression: &Expression, steps: usize) -> bool {
    match &expression.kind {
        Syntax::Number(_) | Syntax::Text(_) | Syntax::Null => true,
        Syntax::Unary(UnaryOperator::Neg, inner) => steps > 0 && is_constant(inner, steps - 1),
        Syntax::Binary(_, operands) => steps > 0 && operands.iter().all(|operand| is_constant(operand, steps - 1)),
        _ => false,
    }
}
