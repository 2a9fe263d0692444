//! Values that the `validation` blocks of a variable allow.
//!
//! ```hcl
//! variable "timeout" {
//!   type = number
//!   validation { condition = var.timeout >= 60 && var.timeout <= 900 }
//! }
//! variable "stage" {
//!   validation { condition = contains(["dev", "prod"], var.stage) }
//! }
//! ```
//!
//! If no value is set, `var.timeout` is unknown but between 60 and 900, and `var.stage` is one of two values, each
//! under a condition. Only these forms, joined by `&&`, are understood; any other condition may exclude further values.

use super::set_by::named;
use super::{Evaluator, Scope};
use crate::limits;
use crate::syntax::{BinaryOperator, Block, Expression, ExpressionKind, UnaryOperator};
use crate::value::Value;
use knowledge::Bounds;

/// Returns the bounds of the variable `name` that `block` declares.
pub(crate) fn bounds(block: &Block, name: &str) -> Bounds {
    let all = conditions(block).map(|condition| within(condition, name, true));
    all.fold(Bounds::ANY, Bounds::and)
}

fn conditions(block: &Block) -> impl Iterator<Item = &Expression> {
    let blocks = block.body.blocks.iter().filter(|block| &*block.kind == "validation");
    blocks.filter_map(|block| Some(&*block.body.attribute("condition")?.value))
}

/// Returns the bounds of the numbers for which `condition` evaluates to `is_so`.
fn within(condition: &Expression, name: &str, is_so: bool) -> Bounds {
    use BinaryOperator::{And, Eq, Greater, GreaterEq, Less, LessEq, NotEq, Or};
    let (operator, [left, right]) = match &condition.kind {
        ExpressionKind::Unary(UnaryOperator::Not, inner) => return within(inner, name, !is_so),
        ExpressionKind::Binary(operator, operands) => (*operator, &**operands),
        _ => return Bounds::ANY,
    };
    let of = |operand: &Expression| within(operand, name, is_so);
    match (operator, is_so) {
        (And, true) | (Or, false) => return of(left).and(of(right)),
        (Or, true) | (And, false) => return of(left).or(of(right)),
        _ => {}
    }
    let (number, is_left) = match (is_variable(left, name), is_variable(right, name)) {
        (true, false) => (number(right), true),
        (false, true) => (number(left), false),
        _ => return Bounds::ANY,
    };
    let Some(number) = number else {
        return Bounds::ANY;
    };
    // Strict comparisons include the bound itself, because the variable may be a fraction between it and the next
    // integer.
    let is_lower = match operator {
        Greater | GreaterEq => is_left == is_so,
        Less | LessEq => is_left != is_so,
        Eq if is_so => return number.into(),
        NotEq if !is_so => return number.into(),
        _ => return Bounds::ANY,
    };
    if is_lower {
        Bounds::at_least(number)
    } else {
        Bounds::at_most(number)
    }
}

fn is_variable(expression: &Expression, name: &str) -> bool {
    matches!(named(expression), Some(("var", own, fields)) if &**own == name && fields.is_empty())
}

fn number(expression: &Expression) -> Option<i64> {
    match &expression.kind {
        ExpressionKind::Number(Some(number)) => Value::exact(number.clone()).to_whole(),
        ExpressionKind::Unary(UnaryOperator::Neg, inner) => number(inner)?.checked_neg(),
        _ => None,
    }
}

/// Returns the list in `contains(list, var.name)` if `condition` requires that to be true.
fn list<'e>(condition: &'e Expression, name: &str) -> Option<&'e Expression> {
    match &condition.kind {
        ExpressionKind::Binary(BinaryOperator::And, operands) => {
            operands.iter().find_map(|operand| list(operand, name))
        }
        ExpressionKind::Call {
            name: function,
            arguments,
            ..
        } if &**function == "contains" => match arguments.as_slice() {
            [list, variable] if is_variable(variable, name) => Some(list),
            _ => None,
        },
        _ => None,
    }
}

impl Evaluator<'_> {
    /// Returns the values that the variable `name` must be one of; `None` if its validation does not list them.
    pub(crate) fn allowed(&mut self, block: &Block, name: &str, scope: &Scope) -> Option<Vec<Value>> {
        let list = conditions(block).find_map(|condition| list(condition, name))?;
        let list = self.eval(list, scope);
        let values = list.items()?.to_vec();
        let are_distinct = values.iter().all(|value| value.to_text().is_some());
        (are_distinct && (1..=limits::MAX_ALLOWED_VALUES).contains(&values.len())).then_some(values)
    }
}
