//! Type constraints of variables. As in Terraform, the defaults of optional attributes are filled in first, at every
//! depth, and then the value is converted to the declared type.

use super::{Evaluator, Scope};
use crate::syntax::{Expression, ExpressionKind, ObjectItem};
use crate::types::{self, Type};
use crate::value::{Value, ValueKind};
use knowledge::Cause;
use std::sync::Arc;

impl Evaluator<'_> {
    /// Converts `value` to the type that `constraint` declares.
    pub(crate) fn convert(&mut self, value: Value, constraint: &Expression, scope: &Scope) -> Value {
        let filled = self.fill(value, constraint, scope);
        types::convert(&filled, &declared(constraint))
    }

    /// Fills in the defaults of optional attributes that are absent or null.
    fn fill(&mut self, value: Value, constraint: &Expression, scope: &Scope) -> Value {
        let ExpressionKind::Call { name, arguments, .. } = &constraint.kind else {
            return value;
        };
        if !self.spend(1) {
            return Value::beyond("evaluating it takes more than 2 million steps");
        }
        if let ValueKind::Cases(_) = value.kind {
            return self.lift(vec![value], &mut |this, mut values| {
                let value = values.pop().unwrap_or_else(Value::null);
                this.fill(value, constraint, scope)
            });
        }
        let Some(inner) = arguments.first() else {
            return value;
        };
        let filled = match (&**name, &value.kind, &inner.kind) {
            ("optional", ..) => return self.fill(value, inner, scope),
            ("list" | "set", ValueKind::List(items) | ValueKind::Set(items), _) => {
                let items = items.iter().map(|item| self.fill(item.clone(), inner, scope));
                ValueKind::List(items.collect())
            }
            ("map", ValueKind::Map(entries), _) => {
                let filled = |(key, value): &(Arc<str>, Value)| (key.clone(), self.fill(value.clone(), inner, scope));
                ValueKind::Map(entries.iter().map(filled).collect())
            }
            ("tuple", ValueKind::List(items), ExpressionKind::Tuple(types)) if items.len() == types.len() => {
                let pairs = items.iter().zip(types);
                ValueKind::List(
                    pairs
                        .map(|(item, wanted)| self.fill(item.clone(), wanted, scope))
                        .collect(),
                )
            }
            ("object", ValueKind::Map(_), ExpressionKind::Object(fields)) => self.fill_object(&value, fields, scope),
            _ => return value,
        };
        value.with(filled.into())
    }

    /// Returns the value of a variable without one that is called `name`: an object whose optional attributes have their
    /// defaults, or an unknown value.
    pub(crate) fn without_value(&mut self, name: &str, constraint: Option<&Expression>, scope: &Scope) -> Value {
        let object = constraint.and_then(|constraint| match &constraint.kind {
            ExpressionKind::Call { name, arguments, .. } if &**name == "object" => arguments.first(),
            _ => None,
        });
        let Some(ExpressionKind::Object(fields)) = object.map(|object| &object.kind).filter(|_| self.spend(1)) else {
            return Value::unknown(Cause::InputWithoutValue.because(format!("`{name}` has no value")));
        };
        let entries = fields.iter().filter_map(|field| {
            let ExpressionKind::Text(key) = &field.key.kind else {
                return None;
            };
            let name = format!("{name}.{key}");
            let value = match &field.value.kind {
                ExpressionKind::Call {
                    name: function,
                    arguments,
                    ..
                } if &**function == "optional" => match arguments.get(1) {
                    None => Value::null(),
                    Some(default) => {
                        let mut value = self.eval(default, scope);
                        value.origins = value
                            .origins
                            .defaulted(default.span, format!("the default of `{name}`"));
                        value
                    }
                },
                _ => self.without_value(&name, Some(&field.value), scope),
            };
            Some((key.clone(), value))
        });
        Value::map(entries.collect())
    }

    fn fill_object(&mut self, value: &Value, fields: &[ObjectItem], scope: &Scope) -> ValueKind {
        let mut entries = value.entries().map_or_else(Vec::new, |entries| entries.to_vec());
        for field in fields {
            let ExpressionKind::Text(name) = &field.key.kind else {
                continue;
            };
            let written = value.get(name).cloned();
            let default = match &field.value.kind {
                ExpressionKind::Call { name, arguments, .. } if &**name == "optional" => Some(arguments.get(1)),
                _ => None,
            };
            let filled = match (written, default) {
                // The conversion reports the missing attribute.
                (None, None) => continue,
                (Some(written), None | Some(None)) => written,
                (None, Some(None)) => Value::null(),
                (written, Some(Some(default))) => {
                    let written = written.unwrap_or_else(Value::null);
                    self.lift(vec![written], &mut |this, mut values| match values.pop() {
                        Some(value) if !value.is_null() => value,
                        _ => this.eval(default, scope),
                    })
                }
            };
            let span = filled.span;
            let mut filled = self.fill(filled, &field.value, scope);
            filled.span = span;
            entries.push((name.clone(), filled));
        }
        Value::map(entries).kind
    }
}

/// Returns the type that a constraint declares; [`Type::Any`] if it is not a valid one.
fn declared(constraint: &Expression) -> Type {
    let (name, inner) = match &constraint.kind {
        // Configurations written for Terraform 0.11 quote the type.
        ExpressionKind::Variable(name) | ExpressionKind::Text(name) => (name, None),
        ExpressionKind::Call { name, arguments, .. } => (name, arguments.first()),
        _ => return Type::Any,
    };
    let element = || Arc::new(inner.map_or(Type::Any, declared));
    match (&**name, inner.map(|inner| &inner.kind)) {
        ("string", _) => Type::Text,
        ("number", _) => Type::Number,
        ("bool", _) => Type::Bool,
        ("list", _) => Type::List(element()),
        ("set", _) => Type::Set(element()),
        ("map", _) => Type::Map(element()),
        ("optional", _) => inner.map_or(Type::Any, declared),
        ("tuple", Some(ExpressionKind::Tuple(types))) => Type::Tuple(types.iter().map(declared).collect()),
        ("object", Some(ExpressionKind::Object(fields))) => {
            let fields = fields.iter().filter_map(|field| match &field.key.kind {
                ExpressionKind::Text(name) => Some((name.clone(), declared(&field.value))),
                _ => None,
            });
            Type::Object(Arc::new(fields.collect()))
        }
        _ => Type::Any,
    }
}
