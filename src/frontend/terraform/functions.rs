//! Terraform's functions. Those that choose among their arguments pass on what is not known; the others are not
//! known where an argument is not. It knows no resource.

mod collections;
mod texts;

use super::eval::{Evaluator, Scope};
use super::json;
use super::syntax::Expression;
use super::value::{Kind, Value};
use std::sync::Arc;

/// What a function makes of its evaluated arguments; `None` where their number or their types do not fit.
type Answer = Option<Value>;

/// Calls the function `name`.
pub(super) fn call(
    eval: &mut Evaluator,
    name: &Arc<str>,
    arguments: &[Expression],
    expand: bool,
    scope: &Scope,
) -> Value {
    match &**name {
        "try" => return first_that_works(eval, arguments, scope),
        "can" => {
            let value = arguments
                .first()
                .map_or_else(Value::null, |argument| eval.eval(argument, scope));
            return eval.lift(vec![value], &mut |_, values| match values[0].as_unknown() {
                Some(unknown) if unknown.error => Value::bool(false),
                Some(_) => values[0].clone(),
                None => Value::bool(true),
            });
        }
        _ => {}
    }
    let mut values: Vec<Value> = arguments.iter().map(|argument| eval.eval(argument, scope)).collect();
    if expand && let Some(last) = values.pop() {
        match last.items() {
            Some(items) => values.extend(items.iter().cloned()),
            None if last.as_unknown().is_some() => return last,
            None => return Value::unknown(format!("the last argument of `{name}` is not known")),
        }
    }
    let name = name.clone();
    eval.lift(values, &mut |eval, values| apply(eval, &name, values))
}

/// The first argument that Terraform would not refuse.
fn first_that_works(eval: &mut Evaluator, arguments: &[Expression], scope: &Scope) -> Value {
    let Some((first, rest)) = arguments.split_first() else {
        return Value::error("no argument of `try` works");
    };
    let value = eval.eval(first, scope);
    eval.lift(vec![value], &mut |eval, mut values| {
        let value = values.pop().unwrap_or_else(Value::null);
        match value.as_unknown() {
            Some(unknown) if unknown.error => first_that_works(eval, rest, scope),
            _ => value,
        }
    })
}

fn apply(eval: &mut Evaluator, name: &str, values: Vec<Value>) -> Value {
    let work: usize = values.iter().map(size).sum();
    if !eval.spend(work) {
        return Value::unknown("evaluating it takes more than 2 million steps");
    }
    if let Some(answer) = tolerant(eval, name, &values) {
        return answer.from(&values);
    }
    if let Some(unknown) = values.iter().find(|value| value.as_unknown().is_some()) {
        return unknown.clone();
    }
    let values: Vec<Value> = values.into_iter().map(|value| eval.plain(value)).collect();
    let collected = collections::apply(eval, name, &values);
    match collected.or_else(|| texts::apply(name, &values)) {
        Some(answer) => answer.from(&values),
        None if collections::NAMES.contains(&name) || texts::NAMES.contains(&name) => refuse(name, &values),
        None => Value::unknown(format!("the function `{name}` is not understood yet")),
    }
}

/// The reason why known arguments gave nothing: a reference that AWS fills, or a mistake.
fn refuse(name: &str, values: &[Value]) -> Value {
    let filled = values.iter().find_map(|value| match &value.kind {
        Kind::Reference(id, attribute) => Some(format!("`{}.{attribute}` is known only after apply", id.address)),
        Kind::Template(_) | Kind::Encoded(_) => Some(format!("an argument of `{name}` is known only after apply")),
        Kind::List(items) | Kind::Set(items) if !items.iter().all(Value::is_plain) => {
            Some(format!("an argument of `{name}` is not known"))
        }
        Kind::Map(entries) if !entries.iter().all(|(_, value)| value.is_plain()) => {
            Some(format!("an argument of `{name}` is not known"))
        }
        _ => None,
    });
    match filled {
        Some(reason) => Value::unknown(reason),
        None => Value::error(format!("`{name}` refuses its arguments")),
    }
}

fn size(value: &Value) -> usize {
    match &value.kind {
        Kind::List(items) | Kind::Set(items) => items.len(),
        Kind::Map(entries) => entries.len(),
        Kind::Text(text) => text.len() / 64,
        _ => 1,
    }
}

/// Functions that take what is not known and may still answer.
fn tolerant(eval: &mut Evaluator, name: &str, values: &[Value]) -> Answer {
    match (name, values) {
        ("jsonencode", [value]) if value.as_unknown().is_none() => Some(Kind::Encoded(Arc::new(value.clone())).into()),
        ("jsondecode", [value]) if value.as_unknown().is_none() => {
            Some(json::decode(value).unwrap_or_else(Value::error))
        }
        ("sensitive" | "nonsensitive" | "ephemeralasnull", [value]) => Some(value.clone()),
        ("coalesce", _) => {
            for value in values {
                let plain = eval.plain(value.clone());
                match &plain.kind {
                    Kind::Null => {}
                    Kind::Text(text) if text.is_empty() => {}
                    _ => return Some(value.clone()),
                }
            }
            Some(Value::error("`coalesce` finds nothing"))
        }
        ("coalescelist", _) => {
            for value in values {
                match value.items() {
                    Some(items) if items.is_empty() => {}
                    None if value.is_null() => {}
                    _ => return Some(value.clone()),
                }
            }
            Some(Value::error("`coalescelist` finds nothing"))
        }
        ("tostring", [value]) => match &value.kind {
            Kind::Reference(..) | Kind::Template(_) | Kind::Encoded(_) => Some(value.clone()),
            _ => None,
        },
        ("join", [separator, list]) => {
            let (separator, items) = (separator.to_text()?, list.items()?);
            let mut parts = Vec::new();
            for (at, item) in items.iter().enumerate() {
                if at > 0 && !separator.is_empty() {
                    parts.push(Value::text(separator.clone()));
                }
                parts.push(eval.plain(item.clone()));
            }
            // One reference alone stays a link.
            Some(if parts.len() == 1 {
                parts.remove(0)
            } else {
                super::value::joined(parts)
            })
        }
        _ => None,
    }
}
