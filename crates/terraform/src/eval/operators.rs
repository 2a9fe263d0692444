//! Operators, with Terraform's conversions: arithmetic and ordering convert strings to numbers, equality never
//! converts.

use super::questions::both;
use super::{Evaluator, Scope};
use crate::json;
use crate::number::Number;
use crate::syntax::{BinaryOperator, Expression, UnaryOperator};
use crate::types::Type;
use crate::value::{Identity, Value, ValueKind};
use knowledge::{Bounds, Cause};
use source::Span;

impl Evaluator<'_> {
    /// Evaluates a unary operator. An unknown result has the type of the operator, as in Terraform.
    pub(crate) fn unary(
        &mut self,
        operator: UnaryOperator,
        value: Value,
        operand: &Expression,
        scope: &Scope,
    ) -> Value {
        match operator {
            UnaryOperator::Not => {
                let value = self.question(value, operand, scope);
                self.lift(vec![value], &mut |_, values| match values[0].to_bool() {
                    Some(answer) => Value::bool(!answer).from(&values),
                    None => values[0].clone().of_type(Some(Type::Bool)),
                })
            }
            UnaryOperator::Neg => self.lift(vec![value], &mut |this, values| {
                let value = this.plain(values[0].clone());
                if let Some(number) = value.to_exact() {
                    return Value::exact(number.neg()).from(&values);
                }
                let negated = not_a_number(&value).of_type(Some(Type::Number));
                negated.identified(|| Some(Identity::computed("-", [&value])?.bounded(value.bounds().negated())))
            }),
        }
    }

    pub(crate) fn binary(
        &mut self,
        operator: BinaryOperator,
        left: Value,
        right: Value,
        place: (&Expression, &[Expression; 2]),
        scope: &Scope,
    ) -> Value {
        let result = self.operate(operator, left, right, place, scope);
        result.of_type(Some(match operator {
            BinaryOperator::Plus
            | BinaryOperator::Minus
            | BinaryOperator::Mul
            | BinaryOperator::Div
            | BinaryOperator::Mod => Type::Number,
            _ => Type::Bool,
        }))
    }

    fn operate(
        &mut self,
        operator: BinaryOperator,
        left: Value,
        right: Value,
        (whole, operands): (&Expression, &[Expression; 2]),
        scope: &Scope,
    ) -> Value {
        match operator {
            BinaryOperator::And | BinaryOperator::Or => {
                // The right operand must have the correct type even if the left one decides.
                let is_answer = |value: &Value| value.as_unknown().is_some() || value.to_bool().is_some();
                let may_err = right.each_case().iter().all(|case| is_answer(&case.then));
                let left = self.question(left, &operands[0], scope);
                let right = self.question(right, &operands[1], scope);
                let decisive = operator == BinaryOperator::Or;
                self.lift(
                    vec![left, right],
                    &mut |_, values| match (values[0].to_bool(), values[1].to_bool()) {
                        // Since Terraform 1.12, the right operand is not evaluated if the left one decides. Earlier
                        // versions fail if it does.
                        (Some(a), None) if a == decisive && may_err && scope.tried => Value::unknown(
                            Cause::RunContext.because("versions of Terraform differ about an error on the right side"),
                        ),
                        (Some(a), b) if a == decisive && (b.is_some() || may_err) => Value::bool(a).from(&values[..1]),
                        (Some(a), Some(b)) => Value::bool(if decisive { a || b } else { a && b }).from(&values),
                        (None, _) => values[0].clone(),
                        (_, None) => values[1].clone(),
                    },
                )
            }
            BinaryOperator::Eq | BinaryOperator::NotEq => {
                let equal = operator == BinaryOperator::Eq;
                self.lift(vec![left, right], &mut |this, values| {
                    this.equality(equal, &values[0], &values[1], operands, scope)
                })
            }
            _ => self.lift(vec![left, right], &mut |this, values| {
                let (left, right) = (this.plain(values[0].clone()), this.plain(values[1].clone()));
                match (left.to_exact(), right.to_exact()) {
                    (Some(a), Some(b)) => {
                        let made = number(operator, &a, &b).from(&values);
                        this.computed(made, &values, whole.span)
                    }
                    (known, _) => {
                        let first = if known.is_none() { &left } else { &right };
                        let operands = [(&left, &operands[0]), (&right, &operands[1])];
                        this.no_number(operator, first, operands, whole, scope)
                    }
                }
            }),
        }
    }

    /// Adds the computation at `span` to the origins of a number, unless the number equals one of the operands `from`.
    pub(crate) fn computed(&self, made: Value, from: &[Value], span: Span) -> Value {
        let Some(number) = made.to_exact().filter(|_| matches!(made.kind, ValueKind::Number(_))) else {
            return made;
        };
        let same = from.iter().find(|value| value.to_exact().as_ref() == Some(&number));
        if let Some(same) = same {
            return Value {
                origins: same.origins.clone(),
                ..made
            };
        }
        if made.origins.is_empty() {
            return made;
        }
        let what = format!("`{}`", self.shown(span));
        Value {
            origins: made.origins.clone().computed(span, what),
            ..made
        }
    }

    /// Returns the result of an operation with an operand that is not a known number; `first` is the first such
    /// operand.
    fn no_number(
        &mut self,
        operator: BinaryOperator,
        first: &Value,
        [left, right]: [(&Value, &Expression); 2],
        whole: &Expression,
        scope: &Scope,
    ) -> Value {
        let is_unknown = first.as_unknown().is_some_and(|unknown| !unknown.error);
        if !is_unknown {
            return not_a_number(first);
        }
        // A comparison becomes a condition, and `a > b` is the same condition as `b < a`.
        let condition = match operator {
            BinaryOperator::Less => self.is_less([left, right], false, whole, scope),
            BinaryOperator::Greater => self.is_less([right, left], false, whole, scope),
            BinaryOperator::LessEq => self.is_less([left, right], true, whole, scope),
            BinaryOperator::GreaterEq => self.is_less([right, left], true, whole, scope),
            _ => {
                let operation = format!("{operator:?}");
                let operands = [left.0, right.0];
                let bounds = range(operator, left.0.bounds(), right.0.bounds());
                return first
                    .clone()
                    .identified(|| Some(Identity::computed(&operation, operands)?.bounded(bounds)));
            }
        };
        Value::cases(both(&condition))
    }

    fn equality(
        &mut self,
        equal: bool,
        left: &Value,
        right: &Value,
        operands: &[Expression; 2],
        scope: &Scope,
    ) -> Value {
        let holds = [left, right].into_iter().find(|value| value.holds_refused());
        if let Some(refused) = holds {
            return refused.with(Value::error("a part of it is refused"));
        }
        if let Some(same) = left.equals(right) {
            return Value::bool(same == equal).from(&[left.clone(), right.clone()]);
        }
        let (left, right) = (
            json::settled(self.plain(left.clone())),
            json::settled(self.plain(right.clone())),
        );
        if let Some(same) = left.equals(&right) {
            return Value::bool(same == equal);
        }
        if let Some(value) = [&left, &right]
            .into_iter()
            .find(|value| value.as_unknown().is_some_and(|u| u.error))
        {
            return value.clone();
        }
        if let (Some(one), Some(other)) = (left.identity(), right.identity())
            && one == other
        {
            return Value::bool(equal);
        }
        let condition = self.are_equal([&left, &right], operands, scope);
        let condition = if equal { condition } else { condition.not() };
        Value::cases(both(&condition))
    }
}

fn not_a_number(value: &Value) -> Value {
    match &value.kind {
        ValueKind::Unknown(_) => value.clone(),
        _ => Value::error("it is not a number"),
    }
}

/// Returns the bounds of the result of an operation.
fn range(operator: BinaryOperator, left: Bounds, right: Bounds) -> Bounds {
    match operator {
        BinaryOperator::Plus => left.plus(right),
        BinaryOperator::Minus => left.plus(right.negated()),
        BinaryOperator::Mul => left.times(right),
        _ => Bounds::ANY,
    }
}

fn number(operator: BinaryOperator, a: &Number, b: &Number) -> Value {
    match operator {
        BinaryOperator::Plus => Value::computed(a.add(b)),
        BinaryOperator::Minus => Value::computed(a.sub(b)),
        BinaryOperator::Mul => Value::computed(a.mul(b)),
        BinaryOperator::Div if a.is_zero() && b.is_zero() => Value::error("it divides zero by zero"),
        BinaryOperator::Div => Value::computed(a.div(b)),
        BinaryOperator::Mod => Value::computed(a.rem(b)),
        BinaryOperator::Less => Value::bool(a < b),
        BinaryOperator::LessEq => Value::bool(a <= b),
        BinaryOperator::Greater => Value::bool(a > b),
        BinaryOperator::GreaterEq => Value::bool(a >= b),
        _ => Value::error("it is not arithmetic"),
    }
}
