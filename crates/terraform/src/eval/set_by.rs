//! Determines who sets a numeric argument of a resource: its own module, or a caller that passes it as an input. Only
//! plain references are followed and nothing is computed: `var.timeout`, `local.timeout`, or an argument that is one of
//! these.

use super::super::syntax::{Block, Expression, ExpressionKind, Step, UnaryOperator};
use super::{Evaluator, validation};
use knowledge::{Input, SetBy};
use std::sync::Arc;

/// Maximum number of references that are followed.
const MAX_STEPS: usize = 16;

impl Evaluator<'_> {
    /// Determines who sets the argument `name` of `block`, a resource of `module`; `None` if that is unknown.
    pub fn set_by(&self, block: &Block, module: usize, name: &str) -> Option<SetBy> {
        if self.is_described(module) || has_conditions(block) {
            return None;
        }
        let Some(attribute) = block.body.attribute(name) else {
            return Some(SetBy::Itself);
        };
        self.expression_set_by(&attribute.value, module, module, MAX_STEPS)
    }

    /// Determines who sets the value of `expression` in module `at`, for a resource of `module`.
    fn expression_set_by(&self, expression: &Expression, at: usize, module: usize, steps: usize) -> Option<SetBy> {
        if steps == 0 {
            return None;
        }
        match &expression.kind {
            ExpressionKind::Traversal(base, path) => {
                let (ExpressionKind::Variable(base), [Step::Attribute(name)]) = (&base.kind, path.as_slice()) else {
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
            // A constant in a calling module is set by the caller.
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
        } else if self.has_input(name, at) {
            return None;
        }
        let block = instance.module.variables.get(name)?;
        let default = block.body.attribute("default")?;
        let most = validation::bounds(block, name).most;
        // Another form of validation is not understood, and may limit the value.
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

/// Returns `true` if a resource has `precondition` or `postcondition` blocks, which may limit the argument.
fn has_conditions(block: &Block) -> bool {
    let lifecycle = block.body.blocks.iter().filter(|block| &*block.kind == "lifecycle");
    lifecycle
        .flat_map(|lifecycle| &lifecycle.body.blocks)
        .any(|block| matches!(&*block.kind, "precondition" | "postcondition"))
}

/// Returns `true` if an expression consists of literals only.
fn is_constant(expression: &Expression, steps: usize) -> bool {
    match &expression.kind {
        ExpressionKind::Number(_) | ExpressionKind::Text(_) | ExpressionKind::Null => true,
        ExpressionKind::Unary(UnaryOperator::Neg, inner) => steps > 0 && is_constant(inner, steps - 1),
        ExpressionKind::Binary(_, operands) => {
            steps > 0 && operands.iter().all(|operand| is_constant(operand, steps - 1))
        }
        _ => false,
    }
}
