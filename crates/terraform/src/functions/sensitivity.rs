//! `issensitive`, based on declarations only, because values do not record whether they are sensitive.
//!
//! ```hcl
//! variable "key" { sensitive = true }
//! # issensitive(var.key), issensitive("${var.key}/x"), issensitive(sensitive(1)): true
//! # issensitive(nonsensitive(var.key)), issensitive([var.key]), issensitive(upper("x")): false
//! # issensitive(data.x.y.z): unknown, because the provider decides
//! ```

use crate::eval::{Evaluator, Scope};
use crate::limits;
use crate::syntax::{Expression, ExpressionKind, ObjectItem, Step, TemplatePart};
use std::sync::Arc;

/// Returns whether Terraform marks the value of `expression` as sensitive; `None` if the declarations do not determine
/// it.
pub(crate) fn is_sensitive(eval: &mut Evaluator, expression: &Expression, scope: &Scope) -> Option<bool> {
    marked(eval, expression, scope, limits::MAX_SENSITIVITY_DEPTH)
}

fn marked(eval: &mut Evaluator, expression: &Expression, scope: &Scope, deepest: usize) -> Option<bool> {
    let deepest = deepest.checked_sub(1)?;
    let mut any = |parts: &[&Expression]| {
        let all: Vec<Option<bool>> = parts.iter().map(|part| marked(eval, part, scope, deepest)).collect();
        if all.contains(&Some(true)) {
            return Some(true);
        }
        (!all.contains(&None)).then_some(false)
    };
    match &expression.kind {
        ExpressionKind::Null | ExpressionKind::Bool(_) | ExpressionKind::Number(_) | ExpressionKind::Text(_) => {
            Some(false)
        }
        // Its elements may be sensitive, but the collection itself is not.
        ExpressionKind::Tuple(_) | ExpressionKind::Object(_) => Some(false),
        ExpressionKind::Unary(_, operand) => any(&[operand]),
        ExpressionKind::Binary(_, operands) => any(&[&operands[0], &operands[1]]),
        ExpressionKind::Conditional(parts) => {
            let [condition, yes, no] = &**parts;
            let chosen = any(&[yes]);
            if any(&[condition])? {
                return Some(true);
            }
            chosen.filter(|chosen| any(&[no]) == Some(*chosen))
        }
        ExpressionKind::Template(parts) => {
            let mut inner = Vec::new();
            let is_plain = parts
                .iter()
                .all(|part| matches!(part, TemplatePart::Literal(_) | TemplatePart::Value(_)));
            TemplatePart::expressions(parts, &mut |part| inner.push(part));
            is_plain.then(|| any(&inner))?
        }
        ExpressionKind::Call { name, arguments, .. } => match &**name {
            "sensitive" => Some(true),
            "nonsensitive" | "issensitive" => Some(false),
            // A function may or may not preserve the marks within its arguments.
            _ => arguments
                .iter()
                .all(|argument| is_clean(eval, argument, scope, deepest))
                .then_some(false),
        },
        ExpressionKind::Traversal(root, steps) => match (&root.kind, steps.as_slice()) {
            (ExpressionKind::Variable(root), [Step::Attribute(name), rest @ ..]) => {
                // Parts of a marked value are marked, and parts of an unmarked one may be.
                declared(eval, root, name, scope, deepest).filter(|marked| *marked || rest.is_empty())
            }
            _ => None,
        },
        ExpressionKind::Variable(_) | ExpressionKind::For(_) | ExpressionKind::Known(_) => None,
    }
}

/// Returns whether the value of the variable or local `name` is marked.
fn declared(eval: &mut Evaluator, root: &str, name: &Arc<str>, scope: &Scope, deepest: usize) -> Option<bool> {
    if scope.alone {
        return None;
    }
    match root {
        "local" => {
            let attribute = eval.declared_local(scope.module, name)?;
            let scope = eval.scope(scope.module);
            marked(eval, &attribute.value, &scope, deepest)
        }
        "var" => {
            let block = eval.declared_variable(scope.module, name)?;
            match block.body.attribute("sensitive").map(|attribute| &attribute.value.kind) {
                Some(ExpressionKind::Bool(true)) => return Some(true),
                Some(ExpressionKind::Bool(false)) | None => {}
                Some(_) => return None,
            }
            // Values from the command line or a file are not marked.
            let Some((argument, scope)) = eval.argument(scope.module, name) else {
                return Some(false);
            };
            marked(eval, &argument, &scope, deepest)
        }
        _ => None,
    }
}

/// Returns `true` if nothing in `expression` is marked.
fn is_clean(eval: &mut Evaluator, expression: &Expression, scope: &Scope, deepest: usize) -> bool {
    let Some(below) = deepest.checked_sub(1) else {
        return false;
    };
    match &expression.kind {
        ExpressionKind::Tuple(items) => items.iter().all(|item| is_clean(eval, item, scope, below)),
        ExpressionKind::Object(items) => items.iter().all(|ObjectItem { key, value, .. }| {
            let key_is_clean = is_clean(eval, key, scope, below);
            key_is_clean && is_clean(eval, value, scope, below)
        }),
        ExpressionKind::Traversal(..) => false,
        _ => marked(eval, expression, scope, below) == Some(false),
    }
}
