//! Terraform's functions. Functions that select one of their arguments also accept unknown ones; any other function has
//! an unknown result if an argument is unknown. This module knows no resources.

mod arns;
mod collections;
mod digests;
mod encoding;
pub(crate) mod files;
mod format;
mod networks;
mod numbers;
mod partial;
mod patterns;
mod sensitivity;
mod sets;
mod table;
mod texts;
mod times;
mod yaml;

use super::eval::{Evaluator, Scope, TOO_MANY_STEPS};
use super::json;
use super::syntax::Expression;
use super::types::{self, Type};
use super::value::{Identity, SizeRelation, Value, ValueKind};
use conditions::{Case, Cases, Condition};
use knowledge::{Bounds, Cause};
use std::sync::Arc;
use table::{FUNCTIONS, Function, PARTLY};

/// The result of a function for its evaluated arguments; `None` if their number or their types are wrong.
type FunctionResult = Option<Value>;

/// Calls the function `name`.
pub(crate) fn call(
    eval: &mut Evaluator,
    name: &Arc<str>,
    arguments: &[Expression],
    expand: bool,
    scope: &Scope,
) -> Value {
    match &**name {
        "try" => return first_that_works(eval, arguments, &scope.tried()),
        "can" => {
            let value = arguments
                .first()
                .map_or_else(Value::null, |argument| eval.eval(argument, &scope.tried()));
            return eval.lift(vec![value], &mut |_, values| match values[0].as_unknown() {
                _ if values[0].holds_refused() => Value::bool(false),
                Some(_) => identified("can", &values, values[0].clone()),
                None => Value::bool(true),
            });
        }
        "templatestring" => {
            let [template, given] = arguments else {
                return Value::error("`templatestring` takes two arguments");
            };
            let given = eval.eval(given, scope);
            return files::template_text(eval, template, &given, scope);
        }
        "issensitive" => {
            let [argument] = arguments else {
                return Value::error("`issensitive` takes one argument");
            };
            if let Some(is_sensitive) = sensitivity::is_sensitive(eval, argument, scope) {
                return Value::bool(is_sensitive);
            }
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
            None => {
                return Value::unknown(Cause::Derived.because(format!("the last argument of `{name}` is not known")));
            }
        }
    }
    let name = name.clone();
    eval.lift(values, &mut |eval, values| {
        let operands = values.clone();
        let answer = identified(&name, &operands, apply(eval, &name, values, scope));
        let is_nameless = answer
            .as_unknown()
            .is_some_and(|one| one.identity.is_none() && !one.error);
        let spread: Option<Vec<Value>> = operands.iter().filter(|_| is_nameless).map(spread).collect();
        match spread {
            Some(values) if values.iter().any(|value| matches!(value.kind, ValueKind::Cases(_))) => {
                eval.lift(values, &mut |eval, values| {
                    let operands = values.clone();
                    identified(&name, &operands, apply(eval, &name, values, scope))
                })
            }
            _ if answer.is_empty() || answer.is_brief() => answer.decided_by(&operands),
            _ => answer,
        }
    })
}

/// Returns a value with cases inside as cases of values: `[var.a ? 1 : 2]` is `[1]` or `[2]`. Returns `None` if there
/// are too many.
fn spread(value: &Value) -> Option<Value> {
    let each = |values: &mut dyn Iterator<Item = &Value>| {
        Cases::product(values.map(Value::each_case), &Condition::always()).ok()
    };
    let like = |kind: ValueKind| Value {
        declared: value.declared.clone(),
        ..value.with(kind.into())
    };
    Some(match &value.kind {
        ValueKind::List(items) => {
            Value::cases(each(&mut items.iter())?.map(|items| like(ValueKind::List(items.into()))))
        }
        ValueKind::Map(entries) => {
            let keys = || entries.iter().map(|(key, _)| key.clone());
            let values = each(&mut entries.iter().map(|(_, value)| value))?;
            Value::cases(values.map(|values| like(ValueKind::Map(keys().zip(values).collect()))))
        }
        _ => value.clone(),
    })
}

/// Gives an unknown result of `name` an identity that is derived from `operands`, and equal for equal operands.
pub(crate) fn identified(name: &str, operands: &[Value], answer: Value) -> Value {
    if KEEPING.contains(&name) && !converts(name, operands) {
        return answer;
    }
    answer.identified(|| {
        let identity = Identity::computed(name, operands)?.bounded(range(name, operands));
        Some(match (name, operands) {
            ("keys" | "length" | "reverse" | "sort" | "values", [of]) => identity.sized(of, SizeRelation::Same),
            ("distinct" | "toset", [of]) => identity.sized(of, SizeRelation::EmptyTogether),
            ("compact", [of]) => identity.sized(of, SizeRelation::AtMost),
            _ => identity,
        })
    })
}

/// Returns `true` if `name` converts a value of another declared type: `tostring(1)` is compared with other values than 1.
fn converts(name: &str, operands: &[Value]) -> bool {
    let to = match name {
        "tobool" => Type::Bool,
        "tonumber" => Type::Number,
        "tostring" => Type::Text,
        _ => return false,
    };
    let from = operands.first().and_then(|operand| operand.declared.as_deref());
    from.is_some_and(|from| matches!(from, Type::Bool | Type::Number | Type::Text) && *from != to)
}

/// Returns the bounds of the result of `name` for `operands`.
fn range(name: &str, operands: &[Value]) -> Bounds {
    let bounds = operands.iter().map(Value::bounds);
    match name {
        "max" => bounds.reduce(Bounds::max).unwrap_or_default(),
        "min" => bounds.reduce(Bounds::min).unwrap_or_default(),
        "length" => Bounds::at_least(operands.iter().any(Value::has_characters).into()),
        "abs" => Bounds::at_least(0),
        _ => Bounds::ANY,
    }
}

/// Functions that return their argument, possibly converted to another type.
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

/// Returns the first argument that Terraform would not reject.
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
    // Read before the computation, which may evaluate expressions with other spans.
    let place = eval.place();
    let work: usize = values.iter().map(size).sum();
    if !eval.spend(work) {
        return Value::beyond(TOO_MANY_STEPS);
    }
    // Terraform rejects an invalid argument even if another one is unknown.
    let refused = values
        .iter()
        .find(|value| value.as_unknown().is_some_and(|unknown| unknown.error));
    if let Some(refused) = refused {
        return refused.clone().of_type(None);
    }
    let partly = Function::find(PARTLY, name);
    if let Some(answer) = partly.and_then(|function| function.compute(eval, scope, &values)) {
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
    // A conversion to a string exceeded the maximum length.
    if let Some(unknown) = values.iter().find(|value| value.as_unknown().is_some()) {
        return unknown.clone().of_type(None);
    }
    let Some(function) = Function::find(FUNCTIONS, name) else {
        return Value::unknown(Cause::Unsupported.because(format!("the function `{name}` is not supported yet")));
    };
    match function.compute(eval, scope, &values) {
        Some(answer) => {
            let answer = answer.from(&values);
            match place {
                Some(place) => eval.computed(answer, &values, place),
                None => answer,
            }
        }
        None => refuse(name, &values),
    }
}

/// Returns a string that differs at each run, because it depends on the clock or on chance.
fn nondeterministic(name: &str) -> Value {
    let reason = Cause::RunContext.because(format!("`{name}` gives another result at each run"));
    ValueKind::Template([Value::unknown(reason)].into()).into()
}

/// Returns the elements of a list or a set that is not null.
fn plain_items(value: &Value) -> Option<&Arc<[Value]>> {
    value.items()
}

/// Converts `value` to a list of `element`s.
fn as_list(value: &Value, element: &Type) -> Option<Value> {
    let list = types::convert(value, &Type::List(Arc::new(element.clone())));
    list.items().is_some().then_some(list)
}

/// Returns a value with the reason why a function with known arguments failed: a reference that AWS completes, or an
/// error.
fn refuse(name: &str, values: &[Value]) -> Value {
    let filled = values.iter().find_map(|value| match &value.kind {
        ValueKind::Reference(id, attribute) => {
            Some(Cause::KnownAfterApply.because(format!("`{}.{attribute}` is known only after apply", id.address())))
        }
        ValueKind::Template(_) | ValueKind::Encoded(_) | ValueKind::Rendered(_) | ValueKind::Resource(_) => {
            Some(Cause::KnownAfterApply.because(format!("an argument of `{name}` is known only after apply")))
        }
        ValueKind::AnyResource(_) | ValueKind::AnyModule(_) => {
            Some(Cause::Derived.because(format!("an argument of `{name}` is not known")))
        }
        ValueKind::List(items) | ValueKind::Set(items) if !items.iter().all(Value::is_plain) => {
            Some(Cause::Derived.because(format!("an argument of `{name}` is not known")))
        }
        ValueKind::Map(entries) if !entries.iter().all(|(_, value)| value.is_plain()) => {
            Some(Cause::Derived.because(format!("an argument of `{name}` is not known")))
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
        ValueKind::List(items) | ValueKind::Set(items) => items.len(),
        ValueKind::Map(entries) => entries.len(),
        ValueKind::Text(text) => text.len() / 64,
        _ => 1,
    }
}

/// Returns the first value that is neither null nor an empty string, converted to the unified type of all.
fn coalesce(eval: &mut Evaluator, values: &[Value]) -> Value {
    let kinds: Vec<Type> = values.iter().map(types::of).collect();
    let Some(one) = types::unify(&kinds) else {
        return Value::error("the arguments of `coalesce` have no type in common");
    };
    for (at, value) in values.iter().enumerate() {
        let plain = eval.plain(value.clone());
        match (&plain.kind, values.get(at + 1)) {
            (ValueKind::Null, _) => {}
            (ValueKind::Text(text), _) if text.is_empty() => {}
            (ValueKind::Unknown(_), Some(next)) if next.is_empty() => {
                let convert = |value| types::convert(value, &one);
                return match eval.is_null(&plain) {
                    Some(is_null) => Value::cases([
                        Case::new(is_null.clone(), convert(next)),
                        Case::new(is_null.not(), convert(value)),
                    ]),
                    None => convert(value),
                };
            }
            _ => return types::convert(value, &one),
        }
    }
    Value::error("`coalesce` finds nothing")
}
