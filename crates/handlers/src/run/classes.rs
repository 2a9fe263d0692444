//! Classes: their creation, their members, and their instances.

use super::calls::Arguments;
use super::machine::{Machine, NOWHERE};
use super::values::{Closure, Evaluated, Executed, Id, Object, Value};
use crate::limits;
use crate::read::syntax::{Class, Declares, Expression, Function, Role, StatementKind, Term};
use std::sync::Arc;

/// Decorators that create a constructor from the fields of a class.
const RECORD_DECORATORS: [&str; 8] = [
    "attrs",
    "dataclass",
    "define",
    "frozen",
    "mutable",
    "s",
    "total_ordering",
    "unique",
];

/// Bases that create a constructor from the fields of a class.
const RECORD_BASES: [&str; 5] = ["BaseModel", "BaseSettings", "NamedTuple", "Struct", "TypedDict"];

/// Bases without a member that matters.
const PLAIN_BASES: [&str; 10] = [
    "ABC", "Enum", "Generic", "IntEnum", "Protocol", "StrEnum", "dict", "list", "object", "str",
];

/// Methods by which the members of an instance are not those of its class.
const STRANGE: [&str; 7] = [
    "__class_getitem__",
    "__delattr__",
    "__getattr__",
    "__getattribute__",
    "__init_subclass__",
    "__new__",
    "__setattr__",
];

/// Functions that describe a field of a record class.
const FIELDS: [&str; 5] = ["Field", "attrib", "field", "ib", "PrivateAttr"];

/// A member that a class defines.
enum Member<'m> {
    Method(&'m Arc<Function>),
    Value(Value),
}

impl<'m> Machine<'m> {
    /// Creates a class, with the values that all instances share.
    pub(super) fn class(&mut self, class: &'m Class) -> Evaluated {
        let scope = self.scope;
        let bases = class
            .bases
            .iter()
            .map(|base| match base.name().and_then(|base| self.variable(base)) {
                Some(Value::Class(base)) => Some(base),
                _ => None,
            });
        let bases = bases.collect();
        let statics = self.object(Vec::new(), 0..0);
        let Value::Object(shared) = statics else {
            return Ok(Value::Unknown(0));
        };
        let made = Value::Class(self.add(Object::Class {
            class,
            scope,
            bases,
            statics: shared,
        }));
        let is_script = self.module.is_script;
        let outer = self.this.replace(made.clone());
        let done = self.scoped(scope, None, |machine| {
            for member in &class.body {
                match &member.kind {
                    StatementKind::Assign {
                        target,
                        value,
                        declares,
                    } => {
                        let is_shared = !is_script || *declares == Declares::Function;
                        if let (Some(name), true) = (target.name(), is_shared) {
                            let value = machine.evaluate(value)?;
                            if !is_script {
                                machine.declare(name, value.clone());
                            }
                            machine.set_entry(&statics, Some(name.clone()), value);
                        }
                    }
                    StatementKind::Function(function) if !function.decorators.is_empty() => {
                        let value = machine.closure(function);
                        let value = machine.decorated(value, &function.decorators)?;
                        machine.set_entry(&statics, function.name.clone(), value);
                    }
                    _ => {}
                }
            }
            Ok(())
        });
        self.this = outer;
        done?;
        Ok(made)
    }

    /// Finds a member in a class or its bases; `is_written` for the function that an assignment calls.
    fn find_member(&self, id: Id, name: &str, is_written: bool, depth: usize) -> Option<(Id, Member<'m>)> {
        let Object::Class {
            class, bases, statics, ..
        } = &self.heap[id]
        else {
            return None;
        };
        if depth > limits::MAX_CALL_DEPTH {
            return None;
        }
        if let (Some(value), false) = (self.entry(*statics, name), is_written) {
            return Some((id, Member::Value(value)));
        }
        let is_it = |function: &&'m Arc<Function>| {
            function.name.as_deref() == Some(name) && (function.role == Role::Set) == is_written
        };
        let methods = class.body.iter().rev().filter_map(|member| match &member.kind {
            StatementKind::Function(function) => Some(function),
            _ => None,
        });
        let own = { methods }.find(is_it).map(|function| (id, Member::Method(function)));
        own.or_else(|| self.find_inherited(bases, name, is_written, depth))
    }

    fn find_inherited(
        &self,
        bases: &[Option<Id>],
        name: &str,
        is_written: bool,
        depth: usize,
    ) -> Option<(Id, Member<'m>)> {
        let mut bases = bases.iter().flatten();
        bases.find_map(|base| self.find_member(*base, name, is_written, depth + 1))
    }

    /// Returns the member of a class, bound to `this`.
    pub(super) fn class_member(&mut self, id: Id, name: &str, this: &Value) -> Option<Value> {
        let (home, member) = self.find_member(id, name, false, 0)?;
        Some(self.bound_member(home, member, name, this))
    }

    fn bound_member(&mut self, home: Id, member: Member<'m>, name: &str, this: &Value) -> Value {
        match member {
            Member::Method(function) => {
                let Object::Class { scope, .. } = self.heap[home] else {
                    return Value::Unknown(0);
                };
                let this = (function.role != Role::Static).then(|| this.clone());
                self.function_value(Closure {
                    scope,
                    this,
                    home: Some(home),
                    ..Closure::of(function)
                })
            }
            Member::Value(Value::Function(function)) if !self.module.is_script && !self.is_static(home, name) => {
                self.bound(function, Some(this), Vec::new())
            }
            Member::Value(value) => value,
        }
    }

    fn is_static(&self, class: Id, name: &str) -> bool {
        let Object::Class { class, .. } = &self.heap[class] else {
            return false;
        };
        class.body.iter().any(|member| {
            matches!(&member.kind, StatementKind::Function(function)
                if function.name.as_deref() == Some(name) && function.role == Role::Static)
        })
    }

    /// Returns a member of the bases of the class `home`.
    pub(super) fn inherited(&mut self, home: Id, name: &str, this: &Value) -> Option<Value> {
        let Object::Class { bases, .. } = &self.heap[home] else {
            return None;
        };
        let (home, member) = self.find_inherited(bases, name, false, 0)?;
        Some(self.bound_member(home, member, name, this))
    }

    /// Returns the function that an assignment to a member of an instance calls.
    pub(super) fn setter(&mut self, of: &Value, name: &str) -> Option<Value> {
        let Value::Object(id) = of else { return None };
        let Object::Entries { class, .. } = &self.heap[*id] else {
            return None;
        };
        let (home, member) = self.find_member((*class)?, name, true, 0)?;
        Some(self.bound_member(home, member, name, of))
    }

    /// Returns `true` if a part of the class or its bases has this property.
    pub(super) fn any_class(&self, id: Id, has: &dyn Fn(&Class) -> bool) -> bool {
        match &self.heap[id] {
            Object::Class { class, bases, .. } => {
                has(class) || bases.iter().flatten().any(|base| self.any_class(*base, has))
            }
            _ => false,
        }
    }

    /// Returns `true` if `id` is the class `other` or derived from it.
    fn is_derived(&self, id: Id, other: Id) -> bool {
        id == other
            || matches!(&self.heap[id], Object::Class { bases, .. }
                if bases.iter().flatten().any(|base| self.is_derived(*base, other)))
    }

    /// Returns `true` if members of the class may come from another file.
    pub(super) fn has_unknown_base(&self, id: Id) -> bool {
        let Object::Class { class, bases, .. } = &self.heap[id] else {
            return false;
        };
        class.bases.iter().zip(bases).any(|(written, base)| {
            if let Some(base) = base {
                self.has_unknown_base(*base)
            } else {
                let name = base_name(written);
                !PLAIN_BASES.contains(&name) && !RECORD_BASES.contains(&name) && !is_exception(name)
            }
        })
    }

    /// Returns `true` if instances of the class are neither dictionaries, lists, texts nor numbers.
    pub(super) fn is_plain_class(&self, id: Id) -> bool {
        let is_data = |class: &Class| {
            class
                .bases
                .iter()
                .any(|base| !matches!(base_name(base), "ABC" | "Generic" | "Protocol" | "object"))
        };
        let Object::Class { class, bases, .. } = &self.heap[id] else {
            return false;
        };
        if bases.iter().all(Option::is_some) {
            return bases.iter().flatten().all(|base| self.is_plain_class(*base));
        }
        !is_data(class)
    }

    fn is_record_class(&self, id: Id) -> bool {
        self.any_class(id, &|class| {
            let is_decorator = |one: &Expression| RECORD_DECORATORS.contains(&decorator_name(one));
            class.decorators.iter().any(is_decorator)
                || class.bases.iter().any(|base| RECORD_BASES.contains(&base_name(base)))
        })
    }

    /// Creates an instance of a class.
    pub(super) fn instance(&mut self, id: Id, arguments: Arguments, at: &'m Expression) -> Evaluated {
        let Object::Class { class, .. } = self.heap[id] else {
            return Ok(Value::Unknown(0));
        };
        if class.bases.iter().any(|base| base_name(base) == "TypedDict") && arguments.values.is_empty() {
            return Ok(self.object(arguments.named, at.at.clone()));
        }
        let instance = self.object(Vec::new(), at.at.clone());
        if let Value::Object(made) = instance
            && let Object::Entries { class, .. } = &mut self.heap[made]
        {
            *class = Some(id);
        }
        let mask = self.masks(&arguments.all().cloned().collect::<Vec<_>>());
        let is_strange = |class: &Class| {
            let is_known = |one: &Expression| RECORD_DECORATORS.contains(&decorator_name(one));
            class.is_created_elsewhere
                || self.module.says(&["__set__", "__get__"])
                || !class.decorators.iter().all(is_known)
                || class.body.iter().any(|member| {
                    matches!(&member.kind, StatementKind::Function(function)
                        if function.name.as_deref().is_some_and(|name| STRANGE.contains(&name)))
                })
        };
        if self.any_class(id, &is_strange) {
            self.doubt();
        }
        self.fields(id, &instance)?;
        self.construct(id, &instance, arguments, at)?;
        let is_error = |class: &Class| class.bases.iter().any(|base| is_exception(base_name(base)));
        if self.any_class(id, &is_error) {
            return Ok(Value::Error(class.name.clone(), mask));
        }
        Ok(instance)
    }

    /// Calls the constructor of a class, or sets the fields if it has none.
    fn construct(&mut self, id: Id, instance: &Value, arguments: Arguments, at: &'m Expression) -> Executed {
        let name = if self.module.is_script {
            "constructor"
        } else {
            "__init__"
        };
        if let Some(constructor) = self.class_member(id, name, instance) {
            self.invoke(&constructor, arguments, at)?;
            return Ok(());
        }
        if self.has_unknown_base(id) && arguments.all().next().is_some() {
            self.forget(instance);
            return Ok(());
        }
        if self.is_record_class(id) {
            self.set_fields(id, instance, arguments)?;
            if let Some(after) = self.class_member(id, "__post_init__", instance) {
                self.invoke(&after, Arguments::default(), at)?;
            }
        }
        Ok(())
    }

    /// Calls the constructor of the bases of the class `home`.
    pub(super) fn construct_base(
        &mut self,
        home: Id,
        instance: &Value,
        arguments: Arguments,
        at: &'m Expression,
    ) -> Executed {
        let Object::Class { bases, .. } = &self.heap[home] else {
            return Ok(());
        };
        if let Some(base) = bases.iter().flatten().next().copied() {
            self.construct(base, instance, arguments, at)
        } else {
            if self.has_unknown_base(home) {
                self.forget(instance);
            }
            Ok(())
        }
    }

    /// Sets the fields of an instance of a record class from the arguments.
    fn set_fields(&mut self, id: Id, instance: &Value, arguments: Arguments) -> Executed {
        let mut fields = Vec::new();
        self.add_fields(id, &mut fields);
        let mut values = arguments.values.into_iter();
        for (name, default, scope) in fields {
            let named = arguments.named.iter().find(|(key, _)| key.as_ref() == Some(name));
            let value = match (named, default) {
                (Some((_, value)), _) => value.clone(),
                (None, default) => match (values.next(), default) {
                    (Some(value), _) => value,
                    _ if arguments.is_open => Value::Unknown(0),
                    (None, Some(default)) => self.within(scope, |machine| machine.field_default(default))?,
                    (None, None) => Value::Unknown(0),
                },
            };
            self.set_entry(instance, Some(name.clone()), value);
        }
        Ok(())
    }

    /// Adds the fields of a class, those of its bases first.
    fn add_fields(&self, id: Id, fields: &mut Vec<(&'m Arc<str>, Option<&'m Expression>, usize)>) {
        let Object::Class {
            class, scope, bases, ..
        } = &self.heap[id]
        else {
            return;
        };
        for base in bases.iter().flatten() {
            self.add_fields(*base, fields);
        }
        for member in &class.body {
            let (name, default) = match &member.kind {
                StatementKind::Field(name) => (name, None),
                StatementKind::Assign {
                    target,
                    value,
                    declares,
                } if *declares == Declares::Block || is_field(value) => {
                    let Some(name) = target.name() else { continue };
                    (name, Some(value))
                }
                _ => continue,
            };
            match fields.iter_mut().find(|(known, ..)| *known == name) {
                Some(known) => known.1 = default,
                None => fields.push((name, default, *scope)),
            }
        }
    }

    /// Returns the default of a field: `field(default_factory=list)`.
    fn field_default(&mut self, default: &'m Expression) -> Evaluated {
        let Term::Call { arguments, named, .. } = &default.kind else {
            return self.evaluate(default);
        };
        if !is_field(default) {
            return self.evaluate(default);
        }
        let of = |wanted: &[&str]| {
            let found = named
                .iter()
                .find(|(name, _)| name.as_deref().is_some_and(|name| wanted.contains(&name)));
            found.map(|(_, value)| value)
        };
        if let Some(factory) = of(&["default_factory", "factory"]) {
            return match (factory.last_name(), self.evaluate(factory)?) {
                (Some("list" | "set"), Value::Unknown(_)) => Ok(self.list(Vec::new())),
                (Some("dict"), Value::Unknown(_)) => Ok(self.object(Vec::new(), 0..0)),
                (_, made @ (Value::Function(_) | Value::Class(_))) => {
                    self.invoke(&made, Arguments::default(), &NOWHERE)
                }
                _ => Ok(Value::Unknown(0)),
            };
        }
        match of(&["default"]).or(arguments.first()) {
            Some(value) => self.evaluate(value),
            None => Ok(Value::Unknown(0)),
        }
    }

    /// Sets the fields of a new instance in JavaScript, those of base classes first.
    fn fields(&mut self, id: Id, instance: &Value) -> Executed {
        let Object::Class {
            class, scope, bases, ..
        } = self.heap[id].clone()
        else {
            return Ok(());
        };
        if !self.module.is_script {
            return Ok(());
        }
        for base in bases.iter().flatten() {
            self.fields(*base, instance)?;
        }
        for member in &class.body {
            if let StatementKind::Assign {
                target,
                value,
                declares,
            } = &member.kind
                && let (Some(name), Declares::Block) = (target.name(), declares)
            {
                let outer = self.this.replace(instance.clone());
                let value = self.within(scope, |machine| machine.evaluate(value));
                self.this = outer;
                self.set_entry(instance, Some(name.clone()), value?);
            }
        }
        Ok(())
    }

    /// Returns whether a value is an instance of a class, if that is known.
    pub(super) fn is_instance(&self, value: &Value, class: &Expression, of: &Value) -> Option<bool> {
        if let (Value::List(types), Term::List(written)) = (of, &class.kind) {
            let types = self.known_items(*types);
            let known: Vec<_> = written
                .iter()
                .zip(&types)
                .map(|(class, of)| self.is_instance(value, class, of))
                .collect();
            return match known.contains(&Some(true)) {
                true => Some(true),
                false if known.iter().all(Option::is_some) => Some(false),
                false => None,
            };
        }
        let name = class.last_name().unwrap_or_default();
        match (value, name) {
            (Value::Event, "dict") => return Some(true),
            (Value::List(id), "list") if !self.sets.contains(id) => return Some(true),
            (Value::List(_), "dict") => return Some(false),
            _ => {}
        }
        let is_raised = matches!(value, Value::Failure | Value::Error(..) | Value::Claimed);
        match (value, of) {
            (Value::Unknown(_) | Value::Variable(_) | Value::Event | Value::Record(_) | Value::Client, _) => None,
            (Value::Object(id), _) => {
                let Object::Entries { class: Some(own), .. } = &self.heap[*id] else {
                    return match of {
                        Value::Class(_) => Some(false),
                        _ => None,
                    };
                };
                match of {
                    Value::Class(other) if self.is_derived(*own, *other) => Some(true),
                    _ if is_exception(name) && !self.has_unknown_base(*own) => Some(false),
                    Value::Class(_) if !self.has_unknown_base(*own) => Some(false),
                    _ => None,
                }
            }
            (Value::Error(Some(own), _), _) if **own == *name => Some(true),
            (Value::Error(Some(own), _), Value::Class(other)) => match self.variable(own) {
                Some(Value::Class(own)) => Some(self.is_derived(own, *other)),
                _ => Some(false),
            },
            // Code elsewhere does not raise a class of this file.
            (Value::Failure, Value::Class(_)) => Some(false),
            _ if matches!(name, "Error" | "Exception" | "BaseException") => Some(is_raised),
            (_, Value::Class(_)) => Some(false),
            (Value::Null | Value::Nil | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_), _)
                if is_exception(name) =>
            {
                Some(false)
            }
            (Value::Text(_), _) if name == "str" => Some(true),
            (Value::Null | Value::Nil, _) => Some(false),
            (Value::Number(_) | Value::List(_), _) if name == "str" => Some(false),
            _ => None,
        }
    }
}

/// Returns `true` for names of exceptions.
fn is_exception(name: &str) -> bool {
    name.ends_with("Error") || name.ends_with("Exception")
}

/// Returns the name of a base: `Generic` for `Generic[T]`.
fn base_name(base: &Expression) -> &str {
    match &base.kind {
        Term::Index(of, _) => of.last_name().unwrap_or_default(),
        _ => base.last_name().unwrap_or_default(),
    }
}

fn decorator_name(decorator: &Expression) -> &str {
    match &decorator.kind {
        Term::Call { callee, .. } => callee.last_name().unwrap_or_default(),
        _ => decorator.last_name().unwrap_or_default(),
    }
}

/// Returns `true` for the description of a field of a record class.
fn is_field(value: &Expression) -> bool {
    matches!(&value.kind, Term::Call { callee, .. } if callee.last_name().is_some_and(|name| FIELDS.contains(&name)))
}
