//! Terraform's functions. Those that choose among their arguments pass on what is not known; the others are not
//! known where an argument is not. It knows no resource.

mod collections;
mod digests;
mod encoding;
mod files;
mod format;
mod networks;
mod numbers;
mod partial;
mod patterns;
mod sets;
mod texts;
mod times;
mod yaml;

use super::eval::{Evaluator, Scope, TOO_MANY_STEPS};
use super::json;
use super::syntax::Expression;
use super::types::{self, Type};
use super::value::{Identity, Kind, Value};
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
                _ if values[0].holds_refused() => Value::bool(false),
                Some(_) => identified("can", &values, values[0].clone()),
                None => Value::bool(true),
            });
        }
        _ => {}
    }
    let mut values: Vec<Value> = arguments.iter().map(|argument| eval.eval(argument, scope)).collect();
    if expand && let Some(last) = values.pop() {
        match last.items() {
            Some(items) => values.extend(items.iter().cloned()),
            None if last.as_unknown().is_some() => {
                values.push(last.clone());
                return identified(name, &values, last);
            }
            None => return Value::unknown(format!("the last argument of `{name}` is not known")),
        }
    }
    let name = name.clone();
    eval.lift(values, &mut |eval, values| {
        let operands = values.clone();
        identified(&name, &operands, apply(eval, &name, values, scope))
    })
}

/// What `name` gave of `operands`; where that is not known, it is what the function makes of them, and equal for equal
/// operands.
pub(super) fn identified(name: &str, operands: &[Value], answer: Value) -> Value {
    if KEEPING.contains(&name) {
        return answer;
    }
    answer.identified(|| Identity::computed(name, operands))
}

/// Functions whose value is their argument, of another type perhaps.
const KEEPING: &[&str] = &[
    "ephemeralasnull",
    "nonsensitive",
    "sensitive",
    "tobool",
    "tolist",
    "tomap",
    "tonumber",
    "tostring",
];

/// The first argument that Terraform would not refuse.
fn first_that_works(eval: &mut Evaluator, arguments: &[Expression], scope: &Scope) -> Value {
    let Some((first, rest)) = arguments.split_first() else {
        return Value::error("no argument of `try` works");
    };
    let value = eval.eval(first, scope);
    eval.lift(vec![value], &mut |eval, mut values| {
        let value = values.pop().unwrap_or_else(Value::null);
        if value.holds_refused() {
            first_that_works(eval, rest, scope)
        } else {
            value
        }
    })
}

fn apply(eval: &mut Evaluator, name: &str, values: Vec<Value>, scope: &Scope) -> Value {
    let values: Vec<Value> = values.into_iter().map(|value| eval.unfolded(value)).collect();
    let work: usize = values.iter().map(size).sum();
    if !eval.spend(work) {
        return Value::unknown(TOO_MANY_STEPS);
    }
    // What Terraform refuses is refused, whatever else is not known.
    let refused = values
        .iter()
        .find(|value| value.as_unknown().is_some_and(|unknown| unknown.error));
    if let Some(refused) = refused {
        return refused.clone().of_type(None);
    }
    if let Some(answer) = tolerant(eval, name, &values) {
        return answer.from(&values);
    }
    if let Some(unknown) = values.iter().find(|value| value.as_unknown().is_some()) {
        return Value {
            declared: None,
            ..unknown.clone()
        };
    }
    let values: Vec<Value> = values
        .into_iter()
        .map(|value| json::settled(eval.plain(value)))
        .collect();
    // A text that became too long.
    if let Some(unknown) = values.iter().find(|value| value.as_unknown().is_some()) {
        return unknown.clone().of_type(None);
    }
    let has = |names: &[&str]| names.contains(&name);
    let answer = match () {
        () if has(collections::NAMES) => collections::apply(eval, name, &values),
        () if has(sets::NAMES) => sets::apply(eval, name, &values),
        () if has(texts::NAMES) => texts::apply(name, &values),
        () if has(patterns::NAMES) => patterns::apply(eval, name, &values),
        () if has(format::NAMES) => format::apply(eval, name, &values),
        () if has(numbers::NAMES) => numbers::apply(name, &values),
        () if has(encoding::NAMES) => encoding::apply(eval, name, &values),
        () if has(files::NAMES) => files::apply(eval, name, &values, scope),
        () if has(digests::NAMES) => digests::apply(eval, name, &values, scope),
        () if has(times::NAMES) => times::apply(name, &values),
        () if has(networks::NAMES) => networks::apply(name, &values),
        () if has(TOLERANT) => None,
        () if has(UNSETTLED) => {
            // A text, though none that is known.
            let reason = format!("`{name}` gives another result at each run");
            Some(Kind::Template([Value::unknown(reason)].into()).into())
        }
        () => return Value::unknown(format!("the function `{name}` is not supported yet")),
    };
    match answer {
        Some(answer) => answer.from(&values),
        None => refuse(name, &values),
    }
}

/// What no file settles.
const UNSETTLED: &[&str] = &["bcrypt", "plantimestamp", "timestamp", "uuid"];

/// The elements of a list or a set that is not null.
fn plain_items(value: &Value) -> Option<&Arc<[Value]>> {
    value.items()
}

/// `value` as a list of `element`s.
fn as_list(value: &Value, element: &Type) -> Option<Value> {
    let list = types::convert(value, &Type::List(Arc::new(element.clone())));
    list.items().is_some().then_some(list)
}

/// The reason why known arguments gave nothing: a reference that AWS fills, or a mistake.
fn refuse(name: &str, values: &[Value]) -> Value {
    let filled = values.iter().find_map(|value| match &value.kind {
        Kind::Reference(id, attribute) => Some(format!("`{}.{attribute}` is known only after apply", id.address())),
        Kind::Template(_) | Kind::Encoded(_) | Kind::Rendered(_) | Kind::Resource(_) => {
            Some(format!("an argument of `{name}` is known only after apply"))
        }
        Kind::AnyResource(_) | Kind::AnyModule(_) => Some(format!("an argument of `{name}` is not known")),
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

/// What [`tolerant`] knows and no other place.
const TOLERANT: &[&str] = &[
    "coalesce",
    "ephemeralasnull",
    "jsondecode",
    "jsonencode",
    "nonsensitive",
    "sensitive",
];

/// Functions that take what is not known and may still answer.
fn tolerant(eval: &mut Evaluator, name: &str, values: &[Value]) -> Answer {
    match (name, values) {
        ("jsonencode", [value]) if value.as_unknown().is_none() => Some(if json::is_finite(value) {
            Kind::Encoded(Arc::new(value.clone())).into()
        } else {
            Value::error("it holds an infinite number")
        }),
        ("jsondecode", [value]) if value.as_unknown().is_none() => {
            let text = match &value.kind {
                Kind::Bool(_) | Kind::Number(_) => value.to_text().map(Value::text),
                _ => None,
            };
            Some(json::decode(text.as_ref().unwrap_or(value)).unwrap_or_else(Value::error))
        }
        ("sensitive" | "nonsensitive" | "ephemeralasnull", [value]) => Some(value.clone()),
        ("startswith", [text, prefix]) => partial::has(text, prefix, <[Value]>::first, |a, b| a.starts_with(b)),
        ("endswith", [text, suffix]) => partial::has(text, suffix, <[Value]>::last, |a, b| a.ends_with(b)),
        ("format", _) if values.iter().skip(1).any(|value| value.as_unknown().is_some()) => {
            let settled = values.iter().map(|value| json::settled(eval.plain(value.clone())));
            let settled: Vec<Value> = settled.collect();
            let unknown = settled.first()?.as_unknown().is_some();
            if unknown {
                None
            } else {
                format::apply(eval, name, &settled)
            }
        }
        ("trimprefix", [text, prefix]) => partial::without_prefix(text, prefix),
        ("trimsuffix", [text, suffix]) => partial::without_suffix(text, suffix),
        ("chomp", [text]) => partial::without_line_end(text),
        ("trimspace", [text]) => partial::without_space(text),
        ("split", [separator, text]) if matches!(text.kind, Kind::Reference(..) | Kind::Template(_)) => {
            partial::pieces(separator, text)
        }
        ("replace", [text, from, to]) => partial::replaced(text, from, to),
        ("coalesce", _) => Some(coalesce(eval, values)),
        _ => None,
    }
}

/// The first value that is neither null nor an empty text, as the type that all become.
fn coalesce(eval: &mut Evaluator, values: &[Value]) -> Value {
    let kinds: Vec<Type> = values.iter().map(types::of).collect();
    let Some(one) = types::unify(&kinds) else {
        return Value::error("the arguments of `coalesce` have no type in common");
    };
    for value in values {
        let plain = eval.plain(value.clone());
        match &plain.kind {
            Kind::Null => {}
            Kind::Text(text) if text.is_empty() => {}
            _ => return types::convert(value, &one),
        }
    }
    Value::error("`coalesce` finds nothing")
}
