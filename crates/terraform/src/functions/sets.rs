//! Functions of sets, which first convert all elements to one type.

use super::FunctionResult;
use crate::eval::Evaluator;
use crate::limits;
use crate::types::{self, Type};
use crate::value::{Value, ValueKind};
use knowledge::Cause;
use std::sync::Arc;

/// An operation on two sets.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Operation {
    Union,
    Intersection,
    Subtraction,
}

/// Evaluates `setunion`, `setintersection` and `setsubtract`.
pub(crate) fn combine(eval: &mut Evaluator, operation: Operation, values: &[Value]) -> FunctionResult {
    let mut sets = Vec::new();
    for value in values {
        let set = types::convert(value, &Type::Set(Arc::new(Type::Any)));
        set.items()?;
        sets.push(set);
    }
    // An empty literal has no element type to contribute.
    let any = Type::Set(Arc::new(Type::Any));
    let kinds: Vec<Type> = sets.iter().map(types::of).filter(|kind| *kind != any).collect();
    let one = if kinds.is_empty() {
        any
    } else {
        types::unify_known(&kinds)?
    };
    let sets: Vec<Value> = sets.iter().map(|set| types::convert(set, &one)).collect();
    let work: usize = sets.iter().filter_map(Value::items).map(|items| items.len()).sum();
    let plain = sets.iter().all(Value::is_plain);
    if !plain && operation != Operation::Union {
        return Some(Value::unknown(
            Cause::Derived.because("an element of a set is not known"),
        ));
    }
    let (first, rest) = sets.split_first()?;
    let mut all: Vec<Value> = first.items()?.to_vec();
    for other in rest {
        let other = other.items()?;
        if !eval.spend(all.len().saturating_mul(other.len()) / 16 + work) {
            return Some(Value::beyond(super::super::eval::TOO_MANY_STEPS));
        }
        let has = |item: &Value| other.iter().any(|one| one.equals(item) == Some(true));
        match operation {
            Operation::Union => all.extend(other.iter().cloned()),
            Operation::Intersection => all.retain(has),
            Operation::Subtraction => all.retain(|item| !has(item)),
        }
    }
    let element = match one {
        Type::Set(element) => element,
        _ => Arc::new(Type::Any),
    };
    Some(Value::set_of(all, &element))
}

/// Evaluates `setproduct`.
pub(crate) fn product(eval: &mut Evaluator, values: &[Value]) -> FunctionResult {
    let all_sets = values.iter().all(|value| matches!(value.kind, ValueKind::Set(_)));
    let any_list = values
        .iter()
        .any(|value| matches!(types::of(value), Type::List(_) | Type::Tuple(_)));
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    let mut elements = Vec::with_capacity(values.len());
    for value in values {
        let collection = match &value.kind {
            ValueKind::List(_) => types::convert(value, &Type::List(Arc::new(Type::Any))),
            _ => value.clone(),
        };
        let items = collection.items()?.clone();
        elements.push(match types::of(&collection) {
            Type::List(element) | Type::Set(element) => (*element).clone(),
            _ => Type::Any,
        });
        let grown = rows.len().saturating_mul(items.len());
        if grown > limits::MAX_PRODUCT_ITEMS || !eval.spend(grown.saturating_mul(values.len())) {
            return Some(eval.reached("a product of sets has more than 100000 elements"));
        }
        let longer = |before: &Vec<Value>, item: &Value| {
            let mut row = before.clone();
            row.push(item.clone());
            row
        };
        rows = rows
            .iter()
            .flat_map(|before| items.iter().map(move |item| longer(before, item)))
            .collect();
    }
    let row = match rows.as_slice() {
        [] => Type::Tuple(elements.into()),
        _ => Type::Any,
    };
    let rows = rows.into_iter().map(Value::list).collect();
    // With a set among the arguments, the result is a set.
    let is_set = all_sets || !any_list || values.iter().any(|value| matches!(value.kind, ValueKind::Set(_)));
    Some(if is_set {
        Value::set_of(rows, &row)
    } else {
        Value::list_of(rows, &row)
    })
}
