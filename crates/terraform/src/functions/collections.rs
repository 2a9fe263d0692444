//! Functions of lists and maps. A function of a tuple or an object returns a tuple or an object; lists and maps keep
//! one element type.

use super::{FunctionResult, as_list, plain_items};
use crate::eval::{Evaluator, TOO_MANY_STEPS, both};
use crate::limits;
use crate::number::Number;
use crate::types::{self, Type};
use crate::value::{Value, ValueKind};
use conditions::{Case, Condition};
use knowledge::Cause;
use std::collections::BTreeMap;
use std::sync::Arc;

const TOO_MANY_ITEMS: &str = "a list has more than 100000 elements";

/// Evaluates `keys`.
pub(crate) fn keys(map: &Value) -> FunctionResult {
    let keys = map.entries()?.iter().map(|(key, _)| key.clone());
    Some(like(map, Value::texts(keys)))
}

/// Evaluates `values`.
pub(crate) fn values(map: &Value) -> FunctionResult {
    let values = map.entries()?.iter().map(|(_, value)| value.clone()).collect();
    Some(match map.declared.as_deref() {
        Some(Type::Map(element)) => Value::list_of(values, element),
        _ => Value::list(values),
    })
}

/// Evaluates `flatten`.
pub(crate) fn flatten(list: &Value) -> FunctionResult {
    let mut all = Vec::new();
    flatten_into(list, &mut all)?;
    Some(Value::list(all))
}

/// Evaluates `one`.
pub(crate) fn one(list: &Value) -> FunctionResult {
    match &**plain_items(list)? {
        [] => Some(Value::null()),
        [only] => Some(only.clone()),
        // The elements of a set may be equal once they are known.
        _ if matches!(list.kind, ValueKind::Set(_)) => None,
        _ => Some(Value::error("`one` is given several elements")),
    }
}

/// Evaluates `reverse`.
pub(crate) fn reverse(list: &Value) -> FunctionResult {
    let items = plain_items(list)?.iter().rev().cloned().collect();
    Some(match types::of(list) {
        Type::List(element) | Type::Set(element) => Value::list_of(items, &element),
        _ => Value::list(items),
    })
}

/// Evaluates `slice`.
pub(crate) fn slice(list: &Value, start: &Value, end: &Value) -> FunctionResult {
    let place = |value: &Value| value.to_whole().and_then(|at| usize::try_from(at).ok());
    let items = list.items().filter(|_| matches!(list.kind, ValueKind::List(_)))?;
    let part = items.get(place(start)?..place(end)?)?.to_vec();
    Some(like(list, Value::list(part)))
}

/// Evaluates `compact`. The result is unknown if an element may be empty. An attribute of a resource is not.
pub(crate) fn compact(list: &Value) -> FunctionResult {
    let list = as_list(list, &Type::Text)?;
    let items = list.items()?;
    if let Some(open) = items.iter().find(|item| may_be_empty(item)) {
        return Some(Value::unknown(open.as_unknown()?.reason.clone()));
    }
    let kept = items
        .iter()
        .filter(|item| !item.is_null() && item.to_text().is_none_or(|text| !text.is_empty()));
    Some(Value::list_of(kept.cloned().collect(), &Type::Text))
}

/// Returns `true` if it is unknown whether `value` is an empty text.
fn may_be_empty(value: &Value) -> bool {
    match &value.kind {
        ValueKind::Cases(_) | ValueKind::Unknown(_) => true,
        ValueKind::Template(parts) => parts.iter().all(|part| {
            part.to_text()
                .map_or_else(|| may_be_empty(part), |text| text.is_empty())
        }),
        _ => false,
    }
}

/// Evaluates `sort`.
pub(crate) fn sort(list: &Value) -> FunctionResult {
    let list = as_list(list, &Type::Text)?;
    let mut texts: Vec<Arc<str>> = list.items()?.iter().map(Value::to_text).collect::<Option<_>>()?;
    texts.sort();
    Some(Value::texts(texts))
}

/// Evaluates `sum`.
pub(crate) fn sum(list: &Value) -> FunctionResult {
    let numbers: Vec<Number> = plain_items(list)?.iter().map(Value::to_exact).collect::<Option<_>>()?;
    let (first, rest) = numbers.split_first()?;
    let sum = rest.iter().try_fold(first.clone(), |sum, next| sum.add(next));
    Some(Value::computed(sum))
}

/// Evaluates `alltrue`.
pub(crate) fn all_true(list: &Value) -> FunctionResult {
    Some(Value::bool(answers(list)?.iter().all(|answer| *answer)))
}

/// Evaluates `anytrue`.
pub(crate) fn any_true(list: &Value) -> FunctionResult {
    Some(Value::bool(answers(list)?.contains(&true)))
}

/// Evaluates `alltrue` or `anytrue` if one element is `decisive`, whatever the unknown ones are.
pub(crate) fn decided(list: &Value, decisive: bool) -> FunctionResult {
    let items = list.items()?;
    let may_answer = |value: &Value| value.to_bool().is_some() || value.as_unknown().is_some_and(|one| !one.error);
    let is_answer = |item: &Value| item.each_case().iter().all(|case| may_answer(&case.then));
    let is_decided = items.iter().any(|item| item.to_bool() == Some(decisive));
    (is_decided && items.iter().all(is_answer)).then(|| Value::bool(decisive))
}

/// Evaluates `chunklist`.
pub(crate) fn chunks(list: &Value, size: &Value) -> FunctionResult {
    let list = as_list(list, &Type::Any)?;
    let items = list.items()?;
    let size = usize::try_from(size.to_whole()?).ok()?;
    let inner = types::of(&list);
    let size = if size == 0 { items.len().max(1) } else { size };
    let chunks = items.chunks(size).map(|chunk| like(&list, Value::list(chunk.to_vec())));
    Some(Value::list_of(chunks.collect(), &inner))
}

/// Returns `made` as a list if `from` is a list or a map, and as a tuple if `from` is a tuple or an object.
fn like(from: &Value, made: Value) -> Value {
    let is_empty = made.items().is_some_and(|items| items.is_empty());
    let declared = match from.declared.as_deref() {
        // An empty list has no elements that determine its type.
        Some(Type::List(_)) if is_empty => Some(Arc::new(types::of(from))),
        Some(list @ Type::List(_)) => Some(Arc::new(list.clone())),
        Some(Type::Map(_)) => made.declared.clone(),
        _ => None,
    };
    Value { declared, ..made }
}

/// Evaluates `length`.
pub(crate) fn length(value: &Value) -> FunctionResult {
    match &value.kind {
        ValueKind::Text(text) => Some(Value::count(super::texts::characters(text).len())),
        ValueKind::Map(entries) => Some(Value::count(entries.len())),
        // Unknown elements may be equal to others.
        ValueKind::Set(items) if items.len() > 1 && !items.iter().all(Value::is_plain) => Some(Value::unknown(
            Cause::Derived.because("an element of a set is not known"),
        )),
        _ => Some(Value::count(value.items()?.len())),
    }
}

/// Evaluates `concat`.
pub(crate) fn concat(eval: &mut Evaluator, lists: &[Value]) -> FunctionResult {
    let mut all = Vec::new();
    for list in lists {
        let ValueKind::List(items) = &list.kind else {
            return None;
        };
        all.extend(items.iter().cloned());
    }
    if all.len() > limits::MAX_LIST_ITEMS {
        return Some(eval.reached(TOO_MANY_ITEMS));
    }
    let kinds: Vec<Type> = lists.iter().map(types::of).collect();
    if kinds.iter().all(|kind| matches!(kind, Type::List(_)))
        && let Some(one) = types::unify(&kinds)
    {
        return Some(types::convert(&Value::list(all), &one));
    }
    Some(Value::list(all))
}

/// Evaluates `merge`.
pub(crate) fn merge(maps: &[Value]) -> FunctionResult {
    let is_map = |declared: Option<&Type>| matches!(declared, None | Some(Type::Any | Type::Map(_) | Type::Object(_)));
    if maps.iter().any(|map| map.is_null() && !is_map(map.declared.as_deref())) {
        return None;
    }
    let mut all = Vec::new();
    for map in maps.iter().filter(|map| !map.is_null()) {
        all.extend(map.entries()?.iter().cloned());
    }
    // A null affects the type although it adds no entries.
    let mut kinds = maps.iter().map(types::of);
    let first = kinds.next();
    let made = Value::map(all);
    Some(match first {
        Some(map @ Type::Map(_)) if kinds.all(|other| other == map) => Value {
            declared: Some(Arc::new(map)),
            ..made
        },
        _ => made,
    })
}

/// Evaluates `lookup`.
pub(crate) fn lookup(map: &Value, key: &Value, default: Option<&Value>) -> FunctionResult {
    let entries = map.entries()?;
    let key = key.to_text()?;
    let found = entries.iter().find(|(name, _)| **name == *key);
    let default = match (default, types::of(map)) {
        (Some(default), Type::Map(element)) => {
            let converted = types::convert(default, &element);
            if converted.as_unknown().is_some_and(|unknown| unknown.error) {
                return None;
            }
            Some(converted)
        }
        (default, _) => default.cloned(),
    };
    found.map(|(_, value)| value.clone()).or(default)
}

/// Evaluates `lookup` of an unknown key in a map with known keys: a case for each key, and one with the default.
pub(crate) fn lookup_each(eval: &Evaluator, map: &Value, key: &Value, default: Option<&Value>) -> FunctionResult {
    let ValueKind::Cases(keys) = eval.key_of(map, key).kind else {
        return None;
    };
    let no_key = Value::text("\0");
    let found = keys.iter().map(|case| {
        let value = match case.then.as_unknown() {
            Some(_) => lookup(map, &no_key, default).unwrap_or_else(|| case.then.clone()),
            None => lookup(map, &case.then, default).unwrap_or_else(Value::null),
        };
        Case::new(case.when.clone(), value)
    });
    Some(Value::cases(found))
}

/// Evaluates `contains` of an unknown value in a list of known ones.
pub(crate) fn contains_each(eval: &Evaluator, list: &Value, wanted: &Value) -> FunctionResult {
    let items = list.items().filter(|items| items.len() <= limits::MAX_COMPARED_ITEMS)?;
    let name = wanted.as_unknown()?.identity.as_ref()?.name.clone()?;
    let each = items.iter().map(|item| eval.is_value(wanted, item, || name.clone()));
    let any = each.collect::<Option<Vec<Condition>>>()?;
    let any = any.iter().fold(Condition::never(), |any, next| any.or(next));
    Some(Value::cases(both(&any)))
}

/// Evaluates `contains`.
pub(crate) fn contains(eval: &mut Evaluator, list: &Value, wanted: &Value) -> FunctionResult {
    if wanted.is_null() {
        return None;
    }
    let mut answer = Some(false);
    for item in list.items()?.iter() {
        let item = eval.plain(item.clone());
        match item.equals(wanted) {
            Some(true) => return Some(Value::bool(true)),
            None => answer = None,
            Some(false) => {}
        }
    }
    Some(answer.map_or_else(
        || Value::unknown(Cause::Derived.because("an element of a list is not known")),
        Value::bool,
    ))
}

/// Evaluates `element`. Only some versions of Terraform accept a negative index into a tuple, so within `try` such an
/// element is unknown.
pub(crate) fn element(list: &Value, index: &Value, is_tried: bool) -> FunctionResult {
    let ValueKind::List(items) = &list.kind else {
        return None;
    };
    let count = i64::try_from(items.len()).ok().filter(|count| *count > 0)?;
    let at = index.to_whole()? % count;
    if at < 0 && list.declared.is_none() && is_tried {
        return Some(Value::unknown(
            Cause::RunContext.because("versions of Terraform differ about an index below zero"),
        ));
    }
    let at = if at < 0 { at + count } else { at };
    items.get(usize::try_from(at).ok()?).cloned()
}

fn flatten_into(list: &Value, all: &mut Vec<Value>) -> Option<()> {
    for item in list.items()?.iter() {
        match &item.kind {
            ValueKind::List(_) | ValueKind::Set(_) => flatten_into(item, all)?,
            ValueKind::Unknown(_) | ValueKind::Cases(_) => return None,
            _ => all.push(item.clone()),
        }
    }
    Some(())
}

/// Evaluates `zipmap`.
pub(crate) fn zipmap(keys: &Value, items: &Value) -> FunctionResult {
    let keys = as_list(keys, &Type::Text)?;
    let values = items.items()?;
    if keys.items()?.len() != values.len() {
        return None;
    }
    let keys: Vec<Arc<str>> = keys.items()?.iter().map(Value::to_text).collect::<Option<_>>()?;
    let entries = keys.into_iter().zip(values.iter().cloned()).collect();
    Some(match types::of(items) {
        Type::List(element) | Type::Set(element) => Value::map_of(entries, &element),
        _ => Value::map(entries),
    })
}

/// Evaluates `index`.
pub(crate) fn index(list: &Value, wanted: &Value) -> FunctionResult {
    let ValueKind::List(items) = &list.kind else {
        return None;
    };
    for (at, item) in items.iter().enumerate() {
        match item.equals(wanted) {
            Some(true) => return Some(Value::count(at)),
            Some(false) => {}
            None => {
                return Some(Value::unknown(
                    Cause::Derived.because("an element of a list is not known"),
                ));
            }
        }
    }
    None
}

/// Returns the first list that is not null and has elements. Sets and untyped nulls are rejected.
pub(crate) fn coalesce(lists: &[Value]) -> FunctionResult {
    let is_list = |list: &Value| match (&list.kind, list.declared.as_deref()) {
        (ValueKind::List(_), _) => true,
        (ValueKind::Null, declared) => matches!(declared, Some(Type::List(_) | Type::Tuple(_))),
        _ => false,
    };
    if !lists.iter().all(is_list) {
        return None;
    }
    lists
        .iter()
        .find(|list| list.items().is_some_and(|items| !items.is_empty()))
        .cloned()
}

/// Evaluates `distinct`.
pub(crate) fn distinct(eval: &mut Evaluator, list: &Value) -> FunctionResult {
    let list = &as_list(list, &Type::Any)?;
    let mut all: Vec<Value> = Vec::new();
    for item in list.items()?.iter() {
        if !eval.spend(all.len()) {
            return Some(Value::beyond(TOO_MANY_STEPS));
        }
        let mut answers = all.iter().map(|known| known.equals(item));
        if answers.any(|answer| answer == Some(true)) {
            continue;
        }
        if all.iter().any(|known| known.equals(item).is_none()) {
            return Some(Value::unknown(
                Cause::Derived.because("an element of a list is not known"),
            ));
        }
        all.push(item.clone());
    }
    Some(like(list, Value::list(all)))
}

/// Returns the booleans of a list; null counts as false.
fn answers(list: &Value) -> Option<Vec<bool>> {
    let list = as_list(list, &Type::Bool)?;
    let answers = list
        .items()?
        .iter()
        .map(|item| if item.is_null() { Some(false) } else { item.to_bool() });
    answers.collect()
}

/// Evaluates `matchkeys`.
pub(crate) fn matching(eval: &mut Evaluator, values: &Value, keys: &Value, wanted: &Value) -> FunctionResult {
    let values = as_list(values, &Type::Any)?;
    let (keys, wanted) = (as_list(keys, &Type::Any)?, as_list(wanted, &Type::Any)?);
    let one = types::unify(&[types::of(&keys), types::of(&wanted)])?;
    let (keys, wanted) = (types::convert(&keys, &one), types::convert(&wanted, &one));
    let (items, keys, wanted) = (values.items()?, keys.items()?, wanted.items()?);
    if items.len() != keys.len() {
        return None;
    }
    if !eval.spend(keys.len().saturating_mul(wanted.len())) {
        return Some(Value::beyond(TOO_MANY_STEPS));
    }
    let mut kept = Vec::new();
    for (item, key) in items.iter().zip(keys.iter()) {
        let answers: Vec<Option<bool>> = wanted.iter().map(|one| one.equals(key)).collect();
        if answers.contains(&Some(true)) {
            kept.push(item.clone());
        } else if answers.contains(&None) {
            return Some(Value::unknown(
                Cause::Derived.because("an element of a list is not known"),
            ));
        }
    }
    Some(like(&values, Value::list(kept)))
}

/// Evaluates `transpose`.
pub(crate) fn transpose(map: &Value) -> FunctionResult {
    let map = types::convert(map, &Type::Map(Arc::new(Type::List(Arc::new(Type::Text)))));
    let mut all: BTreeMap<Arc<str>, Vec<Arc<str>>> = BTreeMap::new();
    for (key, values) in map.entries()?.iter() {
        for value in values.items()?.iter() {
            all.entry(value.to_text()?).or_default().push(key.clone());
        }
    }
    let entries = all.into_iter().map(|(key, names)| (key, Value::texts(names)));
    Some(Value::map_of(entries.collect(), &Type::List(Arc::new(Type::Text))))
}
