//! Members and items of values, and their removal.

use super::calls::Arguments;
use super::evaluate::count;
use super::machine::{Machine, NOWHERE};
use super::reads;
use super::values::{ALL, Evaluated, Flow, Id, OWN, Object, Value, bit};
use crate::limits;
use crate::read::syntax::{Expression, Term};
use crate::words::PROMISE_MEMBERS;

impl<'m> Machine<'m> {
    /// Returns the method or function-valued entry `name` of an object.
    pub(super) fn method(&mut self, of: &Value, name: &str) -> Option<Value> {
        let Value::Object(id) = of else { return None };
        if let Some(own) = self.entry(*id, name) {
            return Some(own);
        }
        let Object::Entries { class, .. } = &self.heap[*id] else {
            return None;
        };
        self.class_member((*class)?, name, of)
    }

    /// Returns the method `name` of an instance of a class of this file.
    pub(super) fn instance_method(&mut self, of: &Value, name: &str) -> Option<Value> {
        let Value::Object(id) = of else { return None };
        match self.heap[*id] {
            Object::Entries { class: Some(class), .. } => self.class_member(class, name, of),
            _ => None,
        }
    }

    /// Removes variables, items or entries.
    pub(super) fn deleted(&mut self, targets: &'m [Expression]) -> Evaluated {
        for target in targets {
            let (of, key) = match &target.kind {
                Term::Member(of, name) => (self.evaluate(of)?, Some(name.clone())),
                Term::Index(of, key) => {
                    let of = self.evaluate(of)?;
                    match self.evaluate(key)? {
                        Value::Text(key) => (of, Some(key)),
                        _ => (of, None),
                    }
                }
                // `del items[:]`
                Term::Call { callee, .. } => match &callee.kind {
                    Term::Member(of, _) => (self.evaluate(of)?, None),
                    _ => continue,
                },
                _ => continue,
            };
            match (&of, key) {
                (Value::Object(id), Some(key)) => {
                    if let Object::Entries { entries, .. } = &mut self.heap[*id] {
                        entries.retain(|(known, _)| known.as_ref() != Some(&key));
                    }
                }
                (of, _) => self.forget(of),
            }
        }
        Ok(Value::Bool(true))
    }

    /// Returns the number of items of a list, if it is known.
    pub(super) fn length(&self, id: Id) -> Value {
        match &self.heap[id] {
            Object::List { items, is_open: false } => Value::Number(count(items.len())),
            Object::Entries {
                entries,
                is_open: false,
                ..
            } => Value::Number(count(entries.len())),
            _ => Value::Unknown(0),
        }
    }

    pub(super) fn size(&self, value: &Value) -> Value {
        match value {
            Value::List(id) | Value::Object(id) => self.length(*id),
            Value::Text(text) => Value::Number(count(text.len())),
            other => Value::Unknown(self.mask(other)),
        }
    }

    /// Returns the member `name` of a value.
    pub(super) fn member(&mut self, of: &Value, name: &str) -> Evaluated {
        if *of == Value::Null && name != "__class__" && !self.module.is_script && !self.is_loading {
            return Err(Flow::Raise(Value::Error(Some("AttributeError".into()), 0)));
        }
        let found = self.found_member(of, name);
        if self.is_getter(&found) {
            let found = match (&found, of) {
                (Value::Function(id), Value::Object(_)) => self.bound(*id, Some(of), Vec::new()),
                _ => found,
            };
            return self.invoke(&found, Arguments::default(), &NOWHERE);
        }
        Ok(found)
    }

    fn found_member(&mut self, of: &Value, name: &str) -> Value {
        self.run.is_impossible |= self.is_late(of) && !PROMISE_MEMBERS.contains(&name);
        match of {
            Value::Event if matches!(name, "Records" | "records") => Value::List(self.records),
            // Events of other services have other keys.
            Value::Event if self.module.is_script => Value::Null,
            Value::Event => Value::Unknown(0),
            Value::Record(record) if matches!(name, "messageId" | "message_id") => Value::MessageId(*record),
            Value::Record(record) if matches!(name, "receiptHandle" | "receipt_handle") => {
                Value::ReceiptHandle(*record)
            }
            // Functions of several services compare it.
            Value::Record(_) if matches!(name, "eventSource" | "event_source") => Value::Text("aws:sqs".into()),
            Value::Record(record) if matches!(name, "body" | "json_body") => {
                self.run.read |= bit(*record);
                Value::Unknown(bit(*record) | if name == "body" { reads::BODY } else { reads::MESSAGE })
            }
            Value::Record(_) if reads::lacks(name) => Value::Null,
            // A record of another service.
            Value::Record(record) if matches!(name, "Sns" | "dynamodb" | "kinesis" | "s3") => {
                self.run.is_uncertain = true;
                Value::Unknown(bit(*record))
            }
            Value::List(id) if name == "length" && self.sets.contains(id) => Value::Null,
            Value::List(id) if name == "size" && self.module.is_script && !self.sets.contains(id) => Value::Null,
            Value::List(id) if matches!(name, "length" | "size") => self.length(*id),
            // A method that is passed on: `partial(failures.append, failure)`
            Value::List(id) if *id != self.records => {
                self.forget(of);
                Value::Unknown(self.mask(of))
            }
            Value::Object(id) => {
                if let Some(found) = self.method(of, name) {
                    return found;
                }
                match self.known_entries(of) {
                    _ if name == "__dict__" => of.clone(),
                    _ if name == "__class__" || name == "constructor" => match self.heap[*id] {
                        Object::Entries { class: Some(class), .. } => Value::Class(class),
                        _ => Value::Unknown(0),
                    },
                    Some(_) if name == "size" => self.length(*id),
                    Some(entries) if entries.iter().all(|(key, _)| key.is_some()) => Value::Null,
                    _ => Value::Unknown(self.mask(of)),
                }
            }
            Value::Class(_) if name == "prototype" => of.clone(),
            Value::Class(id) if name == "__name__" || name == "name" => {
                self.class_name(*id).map_or(Value::Unknown(0), Value::Text)
            }
            Value::Class(id) => match self.class_member(*id, name, of) {
                Some(found) if !self.is_getter(&found) => found,
                _ => Value::Unknown(0),
            },
            Value::Super(home, this) => self.inherited(*home, name, this).unwrap_or(Value::Unknown(0)),
            Value::Claimed => match name {
                "name" | "code" | "Code" | "__type" => Value::Text("ConditionalCheckFailedException".into()),
                "response" | "Error" => Value::Claimed,
                _ => Value::Unknown(0),
            },
            Value::Error(Some(class), _) if name == "name" => Value::Text(class.clone()),
            Value::Client => Value::Client,
            Value::Environment => Value::Variable(name.into()),
            // In Python the read itself fails without the field.
            Value::Unknown(mask) if name == "Records" && !self.module.is_script => Value::Unknown(mask & ALL),
            Value::Unknown(_) => reads::member(of, name),
            other => Value::Unknown(self.mask(other)),
        }
    }

    pub(super) fn index(&mut self, of: &Value, key: &Value, at: &Expression) -> Evaluated {
        if let Value::Text(key) = key {
            self.note_read(of, key, &at.at)?;
            let is_missing = *of == Value::Null
                || self
                    .known_entries(of)
                    .is_some_and(|entries| entries.iter().all(|(known, _)| known.is_some()))
                    && self.contains(of, &Value::Text(key.clone())) == Some(false);
            if is_missing && !self.module.is_script && !self.is_loading {
                let error = if *of == Value::Null { "TypeError" } else { "KeyError" };
                return Err(Flow::Raise(Value::Error(Some(error.into()), self.mask(of))));
            }
            return self.member(of, key);
        }
        if let (Value::List(_) | Value::Object(_), Value::Unknown(_), false) = (of, key, self.is_records(of)) {
            // Any of its parts may change under another name.
            let (Value::List(id) | Value::Object(id)) = of else {
                return Ok(Value::Unknown(0));
            };
            let parts = match &self.heap[*id] {
                Object::Entries { entries, .. } if self.counts(entries.len()) => {
                    entries.iter().map(|(_, value)| value.clone()).collect()
                }
                _ => self.known_items(*id),
            };
            if let Some(function) = self.any_function(&parts, at) {
                return Ok(function);
            }
            for part in parts {
                if matches!(part, Value::List(_) | Value::Object(_)) {
                    self.escape(&part, 1);
                }
            }
            if matches!(of, Value::Object(id) if matches!(self.heap[*id], Object::Entries { class: Some(_), .. })) {
                return Ok(Value::Unknown(self.mask(of) | OWN));
            }
        }
        let is_python = !self.module.is_script;
        let error = match (of, key) {
            (Value::Null, _) if is_python => "TypeError",
            (Value::List(id), Value::Number(at)) if is_python && !self.is_loading => match &self.heap[*id] {
                Object::List { items, is_open: false } if count(items.len()) <= *at || count(items.len()) < -*at => {
                    "IndexError"
                }
                _ => "",
            },
            _ => "",
        };
        if !error.is_empty() {
            return Err(Flow::Raise(Value::Error(Some(error.into()), self.mask(of))));
        }
        Ok(self.item(of, key, at))
    }

    /// Returns one of the functions in a table, whose key is not known: each path takes another one.
    pub(super) fn any_function(&mut self, values: &[Value], at: &Expression) -> Option<Value> {
        let functions: Vec<&Value> = values.iter().filter(|one| matches!(one, Value::Function(_))).collect();
        if functions.is_empty() || self.is_loading {
            return None;
        }
        if functions.len() > limits::MAX_TABLE || functions.len() < values.len() {
            return Some(Value::Unknown(OWN));
        }
        let chosen = self.choose(at, functions.len());
        functions.get(chosen).map(|one| (*one).clone())
    }

    fn item(&mut self, of: &Value, key: &Value, at: &Expression) -> Value {
        let (Value::List(id), Value::Number(number)) = (of, key) else {
            let own = if of.is_own() { OWN } else { 0 };
            return Value::Unknown(self.mask(of) | own);
        };
        if self.is_records(of) {
            self.run.first.get_or_insert(at.at.clone());
        }
        let Object::List { items, is_open } = &self.heap[*id] else {
            return Value::Unknown(0);
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is a small index"
        )]
        let found = (*number >= 0.0).then(|| items.get(*number as usize)).flatten();
        let item = match found {
            Some(item) => item.clone(),
            None if *is_open || *number < 0.0 => Value::Unknown(self.mask(of)),
            None => Value::Null,
        };
        if self.is_records(of) {
            self.reach(self.mask(&item));
        }
        item
    }
}
