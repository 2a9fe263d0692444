//! What the `validation` blocks of a variable leave it to be.
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
//! Where nobody gives a value, `var.timeout` is unknown but within 60 and 900, and `var.stage` is one of two values, each
//! under a condition. Only these forms are understood, joined by `&&`; whatever else a condition asks leaves more out
//! than is said here.

use super::super::syntax::{BinaryOperator, Block, Expression, Kind as Syntax, Step, UnaryOperator};
use super::super::value::Value;
use super::{Evaluator, Scope};
use crate::graph::Bounds;

/// Lists of more values are not told apart.
const MAX_ALLOWED: usize = 16;

/// The numbers that the variable `name` may be, which `block` declares.
pub(super) fn bounds(block: &Block, name: &str) -> Bounds {
    let all = conditions(block).map(|condition| within(condition, name, true));
    all.fold(Bounds::ANY, Bounds::and)
}

fn conditions(block: &Block) -> impl Iterator<Item = &Expression> {
    let blocks = block.body.blocks.iter().filter(|block| &*block.kind == "validation");
    blocks.filter_map(|block| Some(&*block.body.attribute("condition")?.value))
}

/// The numbers of which `condition` is, or is not, so.
fn within(condition: &Expression, name: &str, is_so: bool) -> Bounds {
    use BinaryOperator::{And, Eq, Greater, GreaterEq, Less, LessEq, NotEq, Or};
    let (operator, [left, right]) = match &condition.kind {
        Syntax::Unary(UnaryOperator::Not, inner) => return within(inner, name, !is_so),
        Syntax::Binary(operator, operands) => (*operator, &**operands),
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
    // A fraction may lie between a bound and the next whole number, so the bound itself counts.
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
    let Syntax::Traversal(base, steps) = &expression.kind else {
        return false;
    };
    let is_var = matches!(&base.kind, Syntax::Variable(base) if &**base == "var");
    is_var && matches!(steps.as_slice(), [Step::Attribute(own)] if &**own == name)
}

fn number(expression: &Expression) -> Option<i64> {
    match &expression.kind {
        Syntax::Number(Some(number)) => Value::exact(number.clone()).to_whole(),
        Syntax::Unary(UnaryOperator::Neg, inner) => number(inner)?.checked_neg(),
        _ => None,
    }
}

/// The list in `contains(list, var.name)`, which has to be so for `condition` to be.
fn list<'e>(condition: &'e Expression, name: &str) -> Option<&'e Expression> {
    match &condition.kind {
        Syntax::Binary(BinaryOperator::And, operands) => operands.iter().find_map(|operand| list(operand, name)),
        Syntax::Call {
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
    /// The values of which the variable `name` has to be one; `None` where they are not listed.
    pub(super) fn allowed(&mut self, block: &Block, name: &str, scope: &Scope) -> Option<Vec<Value>> {
        let list = conditions(block).find_map(|condition| list(condition, name))?;
        let list = self.eval(list, scope);
        let values = list.items()?.to_vec();
        let are_told_apart = values.iter().all(|value| value.to_text().is_some());
        (are_told_apart && (1..=MAX_ALLOWED).contains(&values.len())).then_some(values)
    }
}
