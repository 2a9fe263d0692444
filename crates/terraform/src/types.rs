//! Terraform's types: the type of a value, the one type that several types unify to, and conversions.
//!
//! ```text
//! locals {
//!   numbers = [1, 2]
//!   names   = tolist(["a"])
//!   both    = var.large ? local.numbers : local.names
//! }
//! ```
//!
//! Both branches of a conditional must have one type. Here they differ: a literal `[…]` is a tuple, so `numbers` is a
//! `tuple([number, number])`, and `names` is a `list(string)`. [`unify`] finds the common type:
//!
//! 1. One type is a list and the other a tuple. A tuple converts to a list, but a list has no fixed length, so the
//!    result is a list.
//! 2. The elements of the tuple are unified with each other first. Both are `number`.
//! 3. The result is unified with the element type of the list. `number` and `string` are primitives without a common
//!    structure, so each is tried as a candidate, in the order of `Type::rank`: `string` accepts both.
//! 4. The common type is `list(string)`, and if `var.large` holds, `convert` turns `[1, 2]` into `["1", "2"]`.
//!
//! By the same rules, `var.large ? { a = 1 } : { b = 2 }` is a `map(number)`: the objects have different attributes.
//! With `[1, true]`, step 2 fails, because neither of `number` and `bool` accepts the other: the conditional is an
//! error. An unknown value can have any type.

use super::value::{Value, ValueKind};
use conditions::Cases;
use knowledge::Cause;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A type constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// An unknown type, or the type of `null`.
    Any,
    /// `bool`.
    Bool,
    /// `number`.
    Number,
    /// `string`.
    Text,
    /// `list(…)`.
    List(Arc<Type>),
    /// `set(…)`.
    Set(Arc<Type>),
    /// `map(…)`.
    Map(Arc<Type>),
    /// `tuple([…])`.
    Tuple(Arc<[Type]>),
    /// `object({…})`, without optional attributes.
    Object(Arc<BTreeMap<Arc<str>, Type>>),
}

impl Type {
    fn element(&self) -> Option<&Type> {
        match self {
            Type::List(element) | Type::Set(element) | Type::Map(element) => Some(element),
            _ => None,
        }
    }

    fn is_primitive(&self) -> bool {
        matches!(self, Type::Bool | Type::Number | Type::Text)
    }

    /// Returns the order in which candidates for a unified type are tried: lower ranks are preferred.
    fn rank(&self) -> u8 {
        match self {
            Type::Any => 0,
            Type::Text => 1,
            Type::Number => 2,
            Type::Bool => 3,
            Type::List(_) => 4,
            Type::Set(_) => 5,
            Type::Map(_) => 6,
            Type::Tuple(_) => 7,
            Type::Object(_) => 8,
        }
    }
}

/// Returns the type of `value`.
pub(crate) fn of(value: &Value) -> Type {
    let declared = value.declared.as_deref();
    match (&value.kind, declared) {
        (ValueKind::Bool(_), _) => Type::Bool,
        (ValueKind::Number(_), _) => Type::Number,
        (
            ValueKind::Text(_)
            | ValueKind::Template(_)
            | ValueKind::Encoded(_)
            | ValueKind::Rendered(_)
            | ValueKind::Reference(..),
            _,
        ) => Type::Text,
        (ValueKind::List(items), Some(Type::List(element))) if **element == Type::Any => {
            Type::List(Arc::new(of_all(items)))
        }
        (ValueKind::List(_), Some(list @ Type::List(_))) => list.clone(),
        (ValueKind::List(items), _) => Type::Tuple(items.iter().map(of).collect()),
        (ValueKind::Set(_), Some(set @ Type::Set(element))) if **element != Type::Any => set.clone(),
        (ValueKind::Set(items), _) => Type::Set(Arc::new(of_all(items))),
        (ValueKind::Map(entries), Some(Type::Map(element))) if **element == Type::Any => {
            let types: Vec<Type> = entries.iter().map(|(_, value)| of(value)).collect();
            Type::Map(Arc::new(unify_known(&types).unwrap_or(Type::Any)))
        }
        (ValueKind::Map(_), Some(map @ Type::Map(_))) => map.clone(),
        (ValueKind::Map(entries), _) => Type::Object(Arc::new(
            entries.iter().map(|(key, value)| (key.clone(), of(value))).collect(),
        )),
        (ValueKind::Cases(cases), _) => {
            let mut types = cases.iter().map(|case| of(&case.then));
            let first = types.next().unwrap_or(Type::Any);
            if types.all(|other| other == first) {
                first
            } else {
                Type::Any
            }
        }
        (ValueKind::Null | ValueKind::Unknown(_), Some(declared)) => declared.clone(),
        _ => Type::Any,
    }
}

/// Returns the unified type of the elements of a list or set.
fn of_all(items: &[Value]) -> Type {
    let types: Vec<Type> = items.iter().map(of).collect();
    unify_known(&types).unwrap_or(Type::Any)
}

/// Unifies the known types among `types`; see [`unify`].
pub(crate) fn unify_known(types: &[Type]) -> Option<Type> {
    let known: Vec<Type> = types.iter().filter(|one| **one != Type::Any).cloned().collect();
    if known.is_empty() {
        Some(Type::Any)
    } else {
        unify(&known)
    }
}

/// Returns the one type that all of `types` convert to; `None` if no such type exists.
pub fn unify(types: &[Type]) -> Option<Type> {
    let first = types.first()?;
    if types.iter().all(|other| other == first) {
        return Some(first.clone());
    }
    // The rules depend on which kinds of types occur together.
    let count = |wanted: fn(&Type) -> bool| types.iter().filter(|one| wanted(one)).count();
    let any = count(|one| *one == Type::Any);
    let (maps, objects) = (
        count(|one| matches!(one, Type::Map(_))),
        count(|one| matches!(one, Type::Object(_))),
    );
    let (lists, tuples) = (
        count(|one| matches!(one, Type::List(_))),
        count(|one| matches!(one, Type::Tuple(_))),
    );
    let sets = count(|one| matches!(one, Type::Set(_)));
    let all = types.len();
    let is_all = |some: usize| some > 0 && some + any == all;
    // Next to an unknown type, collections of one kind unify to an unknown type: they become such a collection, but its
    // element type depends on the unknown one.
    if any > 0 && (is_all(maps + objects) || is_all(lists + tuples) || is_all(sets)) {
        return Some(Type::Any);
    }
    // Maps unify their element types; so do lists and sets below.
    if is_all(maps) {
        return Some(Type::Map(Arc::new(unify_elements(types)?)));
    }
    // An object converts to any map of its values, but a map to an object only if it has the attributes.
    if maps > 0 && is_all(maps + objects) {
        return unify_parts(types, Type::Map, attribute_types);
    }
    if is_all(lists) {
        return Some(Type::List(Arc::new(unify_elements(types)?)));
    }
    // A tuple converts to a list, but a list never converts to a tuple.
    if lists > 0 && is_all(lists + tuples) {
        return unify_parts(types, Type::List, item_types);
    }
    if is_all(sets) {
        return Some(Type::Set(Arc::new(unify_elements(types)?)));
    }
    // Structural types unify part by part, or become a collection if their shapes differ.
    if is_all(objects) {
        return unify_objects(types);
    }
    if is_all(tuples) {
        return unify_tuples(types);
    }
    // Objects and tuples have no common type.
    if objects > 0 && tuples > 0 {
        return None;
    }
    // No rule applies to this mix of kinds. One of the types may still accept all others, as `string` accepts numbers
    // and booleans.
    let mut candidates: Vec<&Type> = types.iter().filter(|one| **one != Type::Any).collect();
    candidates.sort_by_key(|candidate| candidate.rank());
    candidates
        .into_iter()
        .find(|candidate| types.iter().all(|from| can_convert(from, candidate)))
        .cloned()
        .or((any > 0).then_some(Type::Any))
}

fn unify_elements(types: &[Type]) -> Option<Type> {
    let elements: Vec<Type> = types.iter().filter_map(Type::element).cloned().collect();
    unify(&elements)
}

/// Unifies collections with structural types (objects or tuples) to one collection.
fn unify_parts(types: &[Type], make: fn(Arc<Type>) -> Type, parts: fn(&Type) -> Vec<Type>) -> Option<Type> {
    let structural: Vec<Type> = types
        .iter()
        .filter(|one| one.element().is_none())
        .flat_map(parts)
        .collect();
    let mut elements: Vec<Type> = types.iter().filter_map(Type::element).cloned().collect();
    if !structural.is_empty() {
        // Step 2 of the example: the parts of all structural types must unify among themselves.
        elements.push(unify(&structural)?);
    }
    Some(make(Arc::new(unify(&elements)?)))
}

fn attribute_types(of: &Type) -> Vec<Type> {
    match of {
        Type::Object(attributes) => attributes.values().cloned().collect(),
        _ => Vec::new(),
    }
}

fn item_types(of: &Type) -> Vec<Type> {
    match of {
        Type::Tuple(items) => items.to_vec(),
        _ => Vec::new(),
    }
}

fn unify_objects(types: &[Type]) -> Option<Type> {
    let all: Vec<&BTreeMap<Arc<str>, Type>> = types
        .iter()
        .filter_map(|one| match one {
            Type::Object(attributes) => Some(&**attributes),
            _ => None,
        })
        .collect();
    let first = *all.first()?;
    if all.iter().any(|other| !other.keys().eq(first.keys())) {
        // The attributes differ, so only a map can contain both.
        let parts: Vec<Type> = types.iter().flat_map(attribute_types).collect();
        return Some(Type::Map(Arc::new(unify(&parts)?)));
    }
    let mut attributes = BTreeMap::new();
    for name in first.keys() {
        let across: Vec<Type> = all.iter().filter_map(|one| one.get(name)).cloned().collect();
        attributes.insert(name.clone(), unify(&across)?);
    }
    Some(Type::Object(Arc::new(attributes)))
}

fn unify_tuples(types: &[Type]) -> Option<Type> {
    let all: Vec<Vec<Type>> = types.iter().map(item_types).collect();
    let first = all.first()?;
    if all.iter().any(|other| other.len() != first.len()) {
        // The lengths differ, so only a list can contain both.
        let parts: Vec<Type> = all.into_iter().flatten().collect();
        let list = Type::List(Arc::new(unify(&parts)?));
        return types.iter().all(|one| can_convert(one, &list)).then_some(list);
    }
    let mut items = Vec::with_capacity(first.len());
    for at in 0..first.len() {
        let across: Vec<Type> = all.iter().filter_map(|one| one.get(at)).cloned().collect();
        items.push(unify(&across)?);
    }
    Some(Type::Tuple(items.into()))
}

/// Returns `true` if some value of type `from` converts to type `to`.
fn can_convert(from: &Type, to: &Type) -> bool {
    match (from, to) {
        _ if from == to => true,
        (Type::Any, _) | (_, Type::Any) => true,
        (_, Type::Text) => from.is_primitive(),
        (Type::Text, Type::Number | Type::Bool) => true,
        (Type::List(a) | Type::Set(a), Type::List(b) | Type::Set(b)) | (Type::Map(a), Type::Map(b)) => {
            can_convert(a, b)
        }
        (Type::Tuple(items), Type::List(element) | Type::Set(element)) => {
            if **element == Type::Any {
                unify_known(items).is_some()
            } else {
                items.iter().all(|item| can_convert(item, element))
            }
        }
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| can_convert(a, b))
        }
        (Type::Object(attributes), Type::Map(element)) => {
            attributes.values().all(|attribute| can_convert(attribute, element))
        }
        (Type::Map(element), Type::Object(attributes)) => {
            attributes.values().all(|attribute| can_convert(element, attribute))
        }
        (Type::Object(from), Type::Object(to)) => to
            .iter()
            .all(|(name, wanted)| from.get(name).is_some_and(|given| can_convert(given, wanted))),
        _ => false,
    }
}

/// Converts `value` to the type `to`; returns an error value if Terraform rejects the conversion.
pub(crate) fn convert(value: &Value, to: &Type) -> Value {
    match (&value.kind, to) {
        (ValueKind::Cases(cases), _) => {
            let cases = Cases::clone(cases).map(|case| convert(&case, to));
            return value.with(Value::cases(cases));
        }
        (ValueKind::Null | ValueKind::Unknown(_), Type::Any) => return value.clone(),
        (ValueKind::Null | ValueKind::Unknown(_), _) => {
            return Value {
                declared: Some(Arc::new(to.clone())),
                ..value.clone()
            };
        }
        (ValueKind::Resource(_) | ValueKind::AnyResource(_) | ValueKind::Module(_) | ValueKind::AnyModule(_), _)
        | (_, Type::Any) => {
            return value.clone();
        }
        _ => {}
    }
    let converted = match to {
        Type::Any => return value.clone(),
        Type::Text => match &value.kind {
            ValueKind::Text(_)
            | ValueKind::Template(_)
            | ValueKind::Encoded(_)
            | ValueKind::Rendered(_)
            | ValueKind::Reference(..) => {
                return value.clone();
            }
            _ => value.to_text().map(Value::text),
        },
        Type::Number => value.to_exact().map(Value::exact),
        Type::Bool => value.to_bool().map(Value::bool),
        Type::List(element) => items_as(value, element).map(|items| Value::list_of(items, &kept(value, element))),
        Type::Set(element) => items_as(value, element).map(|items| Value::set_of(items, &kept(value, element))),
        Type::Map(element) => map_as(value, element),
        Type::Tuple(types) => tuple_as(value, types),
        Type::Object(attributes) => object_as(value, attributes),
    };
    // The text of these is known only after apply, and may convert then.
    let open = matches!(
        value.kind,
        ValueKind::Reference(..) | ValueKind::Template(_) | ValueKind::Encoded(_)
    );
    match converted {
        Some(converted) => value.with(converted),
        None if open => value.with(Value::unknown(
            Cause::KnownAfterApply.because("it is known only after apply"),
        )),
        None => value.with(Value::error(format!("it is not {}", name(to)))),
    }
}

fn name(of: &Type) -> &'static str {
    match of {
        Type::Any => "a value",
        Type::Bool => "a boolean",
        Type::Number => "a number",
        Type::Text => "a string",
        Type::List(_) => "a list",
        Type::Set(_) => "a set",
        Type::Map(_) => "a map",
        Type::Tuple(_) => "a tuple",
        Type::Object(_) => "an object",
    }
}

/// Converts all of `values` to `element`, or to their unified type if `element` is [`Type::Any`]; `None` if a
/// conversion fails.
fn all_as(values: Vec<&Value>, element: &Type) -> Option<Vec<Value>> {
    let chosen = match element {
        Type::Any => unify_known(&values.iter().map(|value| of(value)).collect::<Vec<_>>())?,
        _ => element.clone(),
    };
    let converted: Vec<Value> = values.into_iter().map(|value| convert(value, &chosen)).collect();
    let refused = converted
        .iter()
        .any(|value| value.as_unknown().is_some_and(|unknown| unknown.error));
    (!refused).then_some(converted)
}

fn items_as(value: &Value, element: &Type) -> Option<Vec<Value>> {
    all_as(value.items()?.iter().collect(), element)
}

fn map_as(value: &Value, element: &Type) -> Option<Value> {
    let entries = value.entries()?;
    let values = all_as(entries.iter().map(|(_, value)| value).collect(), element)?;
    let keys = entries.iter().map(|(key, _)| key.clone());
    Some(Value::map_of(keys.zip(values).collect(), &kept(value, element)))
}

/// Returns the element type of the collection that `value` is converted to. An empty collection keeps its own element
/// type if the target accepts any.
fn kept(value: &Value, element: &Type) -> Type {
    let is_empty = match &value.kind {
        ValueKind::List(items) | ValueKind::Set(items) => items.is_empty(),
        ValueKind::Map(entries) => entries.is_empty(),
        _ => false,
    };
    let own = value.declared.as_deref().and_then(Type::element);
    own.filter(|_| is_empty && *element == Type::Any)
        .unwrap_or(element)
        .clone()
}

fn tuple_as(value: &Value, types: &[Type]) -> Option<Value> {
    let items = value.items().filter(|items| items.len() == types.len())?;
    Some(Value::list(
        items
            .iter()
            .zip(types)
            .map(|(item, wanted)| convert(item, wanted))
            .collect(),
    ))
}

fn object_as(value: &Value, attributes: &BTreeMap<Arc<str>, Type>) -> Option<Value> {
    let mut entries = Vec::with_capacity(attributes.len());
    for (name, wanted) in attributes {
        entries.push((name.clone(), convert(value.get(name)?, wanted)));
    }
    Some(Value::map(entries))
}
