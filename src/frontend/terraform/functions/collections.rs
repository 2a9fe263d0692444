//! Functions of lists, sets and maps, and conversions between them.

use super::super::eval::Evaluator;
use super::super::value::{Kind, Value};
use super::Answer;
use std::sync::Arc;

/// What [`apply`] knows.
pub(super) const NAMES: &[&str] = &[
    "chunklist",
    "compact",
    "concat",
    "contains",
    "distinct",
    "element",
    "flatten",
    "index",
    "keys",
    "length",
    "lookup",
    "matchkeys",
    "merge",
    "one",
    "range",
    "reverse",
    "setintersection",
    "setproduct",
    "setsubtract",
    "setunion",
    "slice",
    "sort",
    "sum",
    "alltrue",
    "anytrue",
    "tolist",
    "tomap",
    "toset",
    "values",
    "zipmap",
];
/// Terraform's own limit of `range`.
const MAX_RANGE: usize = 1024;
/// Bounds `setproduct` and what grows like it.
const MAX_ITEMS: usize = 100_000;

#[allow(clippy::too_many_lines, reason = "a table")]
pub(super) fn apply(eval: &mut Evaluator, name: &str, values: &[Value]) -> Answer {
    let answer = match (name, values) {
        ("length", [value]) => match &value.kind {
            Kind::Text(text) => Value::count(text.chars().count()),
            Kind::Map(entries) => Value::count(entries.len()),
            _ => Value::count(value.items()?.len()),
        },
        ("concat", lists) => {
            let mut all = Vec::new();
            for list in lists {
                all.extend(list.items()?.iter().cloned());
            }
            if all.len() > MAX_ITEMS {
                return Some(Value::unknown("a list has more than 100000 elements"));
            }
            Value::list(all)
        }
        ("merge", maps) => {
            let mut all = Vec::new();
            for map in maps.iter().filter(|map| !map.is_null()) {
                all.extend(map.entries()?.iter().cloned());
            }
            Value::map(all)
        }
        ("lookup", [map, key, default @ ..]) => match (map.get(&*key.to_text()?), default) {
            (Some(found), _) => found.clone(),
            (None, [default, ..]) if map.entries().is_some() => default.clone(),
            _ => return None,
        },
        ("keys", [map]) => Value::list(map.entries()?.iter().map(|(key, _)| Value::text(key.clone())).collect()),
        ("values", [map]) => Value::list(map.entries()?.iter().map(|(_, value)| value.clone()).collect()),
        ("contains", [list, wanted]) => {
            let mut answer = Some(false);
            for item in list.items()?.iter() {
                let item = eval.plain(item.clone());
                match item.equals(wanted) {
                    Some(true) => return Some(Value::bool(true)),
                    None => answer = None,
                    Some(false) => {}
                }
            }
            answer.map_or_else(|| Value::unknown("an element of a list is not known"), Value::bool)
        }
        ("element", [list, index]) => {
            let items = list.items().filter(|items| !items.is_empty())?;
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "wraps"
            )]
            let at = (index.to_number()?.rem_euclid(items.len() as f64)) as usize;
            items.get(at)?.clone()
        }
        ("flatten", [list]) => {
            let mut all = Vec::new();
            flatten(list, &mut all)?;
            Value::list(all)
        }
        ("compact", [list]) => {
            let mut all = Vec::new();
            for item in list.items()?.iter() {
                match &eval.plain(item.clone()).kind {
                    Kind::Null => {}
                    Kind::Text(text) if text.is_empty() => {}
                    Kind::Unknown(_) | Kind::Cases(_) => return None,
                    _ => all.push(item.clone()),
                }
            }
            Value::list(all)
        }
        ("distinct", [list]) => {
            let mut all: Vec<Value> = Vec::new();
            for item in list.items()?.iter() {
                if !eval.spend(all.len()) {
                    return Some(Value::unknown("evaluating it takes more than 2 million steps"));
                }
                if !all.iter().any(|known| known.equals(item) == Some(true)) {
                    all.push(item.clone());
                }
            }
            Value::list(all)
        }
        ("one", [list]) => match &**list.items()? {
            [] => Value::null(),
            [only] => only.clone(),
            _ => return None,
        },
        ("range", numbers) => range(numbers)?,
        ("zipmap", [keys, items]) => {
            let (keys, items) = (keys.items()?, items.items()?);
            if keys.len() != items.len() {
                return None;
            }
            let keys: Option<Vec<Arc<str>>> = keys.iter().map(Value::to_text).collect();
            Value::map(keys?.into_iter().zip(items.iter().cloned()).collect())
        }
        ("sort", [list]) => {
            let mut texts: Vec<Arc<str>> = list.items()?.iter().map(Value::to_text).collect::<Option<_>>()?;
            texts.sort();
            Value::list(texts.into_iter().map(Value::text).collect())
        }
        ("reverse", [list]) => Value::list(list.items()?.iter().rev().cloned().collect()),
        ("slice", [list, start, end]) => {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "`get` checks them"
            )]
            let (start, end) = (start.to_number()? as usize, end.to_number()? as usize);
            Value::list(list.items()?.get(start..end)?.to_vec())
        }
        ("index", [list, wanted]) => {
            let at = list
                .items()?
                .iter()
                .position(|item| item.equals(wanted) == Some(true))?;
            Value::count(at)
        }
        ("sum", [list]) => {
            let numbers: Option<Vec<f64>> = list.items()?.iter().map(Value::to_number).collect();
            Value::number(numbers.filter(|numbers| !numbers.is_empty())?.iter().sum())
        }
        ("alltrue", [list]) => Value::bool(answers(list)?.iter().all(|answer| *answer)),
        ("anytrue", [list]) => Value::bool(answers(list)?.iter().any(|answer| *answer)),
        ("setunion", sets) => {
            let mut all = Vec::new();
            for set in sets {
                all.extend(set.items()?.iter().cloned());
            }
            Value::set(all)
        }
        ("setsubtract", [from, minus]) => {
            let (from, minus) = (from.items()?, minus.items()?);
            let left = from
                .iter()
                .filter(|item| !minus.iter().any(|other| other.equals(item) == Some(true)));
            Value::set(left.cloned().collect())
        }
        ("setintersection", [first, second]) => {
            let (first, second) = (first.items()?, second.items()?);
            let both = first
                .iter()
                .filter(|item| second.iter().any(|other| other.equals(item) == Some(true)));
            Value::set(both.cloned().collect())
        }
        ("setproduct", sets) if !sets.is_empty() => {
            let mut all: Vec<Vec<Value>> = vec![Vec::new()];
            for set in sets {
                let items = set.items()?;
                if all.len().saturating_mul(items.len()) > MAX_ITEMS || !eval.spend(all.len() * items.len()) {
                    return Some(Value::unknown("a product of sets has more than 100000 elements"));
                }
                let longer = |before: &Vec<Value>, item: &Value| {
                    let mut tuple = before.clone();
                    tuple.push(item.clone());
                    tuple
                };
                all = all
                    .iter()
                    .flat_map(|before| items.iter().map(move |item| longer(before, item)))
                    .collect();
            }
            Value::list(all.into_iter().map(Value::list).collect())
        }
        ("tolist", [value]) => match &value.kind {
            Kind::Null => value.clone(),
            _ => Value::list(value.items()?.to_vec()),
        },
        ("toset", [value]) => match &value.kind {
            Kind::Null => value.clone(),
            _ => Value::set(value.items()?.to_vec()),
        },
        ("tomap", [value]) if value.is_null() || value.entries().is_some() => value.clone(),
        _ => return None,
    };
    Some(answer)
}

fn answers(list: &Value) -> Option<Vec<bool>> {
    list.items()?.iter().map(Value::to_bool).collect()
}

fn flatten(list: &Value, all: &mut Vec<Value>) -> Option<()> {
    for item in list.items()?.iter() {
        match &item.kind {
            Kind::List(_) | Kind::Set(_) => flatten(item, all)?,
            Kind::Unknown(_) | Kind::Cases(_) => return None,
            _ => all.push(item.clone()),
        }
    }
    Some(())
}

fn range(numbers: &[Value]) -> Answer {
    let numbers: Vec<f64> = numbers.iter().map(Value::to_number).collect::<Option<_>>()?;
    let (start, end, step) = match numbers.as_slice() {
        [end] => (0.0, *end, if *end < 0.0 { -1.0 } else { 1.0 }),
        [start, end] => (*start, *end, if end < start { -1.0 } else { 1.0 }),
        [start, end, step] => (*start, *end, *step),
        _ => return None,
    };
    let mut all = Vec::new();
    let mut at = start;
    while (step > 0.0 && at < end) || (step < 0.0 && at > end) {
        if all.len() >= MAX_RANGE {
            return None;
        }
        all.push(Value::number(at));
        at += step;
    }
    Some(Value::list(all))
}
