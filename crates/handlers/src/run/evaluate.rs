//! Evaluates expressions.

use super::machine::Machine;
use super::reads;
use super::values::{Evaluated, Executed, Flow, Id, Object, Value};
use crate::limits;
use crate::read::syntax::{Clause, Declares, Expression, Logic, Operator, Term};
use std::sync::Arc;

impl<'m> Machine<'m> {
    pub(super) fn evaluate(&mut self, value: &'m Expression) -> Evaluated {
        self.enter()?;
        let done = self.term(value);
        self.leave();
        done
    }

    #[expect(clippy::too_many_lines, reason = "one arm per kind of term")]
    fn term(&mut self, value: &'m Expression) -> Evaluated {
        Ok(match &value.kind {
            Term::Name(name) => match &**name {
                "super" if self.module.is_script => match (self.home, &self.this) {
                    (Some(home), Some(this)) => Value::Super(home, Box::new(this.clone())),
                    _ => Value::Unknown(0),
                },
                "this" if self.module.is_script => self.this.clone().unwrap_or(Value::Unknown(0)),
                _ => self.variable(name).unwrap_or(Value::Unknown(0)),
            },
            Term::Member(of, name) if is_environment(of, name) => Value::Environment,
            Term::Member(of, name) => {
                let whole = self.evaluate(of)?;
                self.note_member_of(&whole, of);
                self.note_read(&whole, name, &value.at)?;
                return self.member(&whole, name);
            }
            Term::Index(of, key) => {
                let whole = self.evaluate(of)?;
                self.note_member_of(&whole, of);
                let key = self.evaluate(key)?;
                return self.index(&whole, &key, value);
            }
            Term::Call { .. } => return self.call_expression(value, false),
            Term::Function(function) => self.closure(function),
            Term::Class(class) => return self.class(class),
            Term::Object(entries) => self.entries(entries, value)?,
            Term::List(items) => {
                let (items, is_open) = self.arguments(items)?;
                Value::List(self.add(Object::List { items, is_open }))
            }
            Term::Set(inner) => {
                let list = self.evaluate(inner)?;
                if let Value::List(id) = &list {
                    self.sets.insert(*id);
                }
                list
            }
            Term::Yield(value, is_each) => return self.yielded(value.as_deref(), *is_each),
            Term::Delete(targets) => return self.deleted(targets),
            Term::Each {
                clauses,
                made,
                is_lazy: true,
            } => return self.each_later(clauses, made),
            Term::Each { clauses, made, .. } => {
                let mut items = Vec::new();
                let parent = self.scope();
                let current = self.current;
                let done = self.scoped(parent, None, |machine| machine.each(clauses, made, None, &mut items));
                self.current = current;
                done?;
                self.list(items)
            }
            Term::Await(inner) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.is_slow = true;
                }
                let inner = match &inner.kind {
                    Term::Call { .. } => self.call_expression(inner, true)?,
                    _ => self.evaluate(inner)?,
                };
                return self.awaited(inner);
            }
            Term::If(parts) => {
                let [test, yes, no] = &**parts;
                let tested = self.evaluate(test)?.opaque();
                if let Some(joined) = self.joined(&tested, &[yes, no])? {
                    return Ok(joined);
                }
                let arm = if self.truth(&tested, test)? { yes } else { no };
                return self.evaluate(arm);
            }
            Term::Logic(logic, parts) => return self.logic(*logic, parts),
            Term::Not(inner) => {
                let tested = self.evaluate(inner)?;
                Value::Bool(!self.truth(&tested, inner)?)
            }
            Term::Binary(operator, parts) => {
                let [left, right] = &**parts;
                let (first, second) = (self.evaluate(left)?, self.evaluate(right)?);
                match operator {
                    Operator::InstanceOf => match self.is_instance(&first, right, &second) {
                        Some(known) => Value::Bool(known),
                        None => Value::Unknown(self.mask(&first)),
                    },
                    _ => self.computed(*operator, &first, &second),
                }
            }
            Term::Assign {
                target,
                value,
                operator,
            } => return self.assigned(target, value, *operator),
            Term::Spread(inner) => return self.evaluate(inner),
            Term::Text(text) => Value::Text(text.clone()),
            Term::Number(number) => Value::Number(*number),
            Term::Bool(known) => Value::Bool(*known),
            Term::Null => Value::Null,
            Term::Nil => Value::Nil,
            Term::Other(parts) => {
                let mut mask = 0;
                for part in parts {
                    let part = self.evaluate(part)?;
                    self.note_tested(&part);
                    mask |= self.mask(&part);
                }
                Value::Unknown(mask)
            }
        })
    }

    fn logic(&mut self, logic: Logic, parts: &'m [Expression; 2]) -> Evaluated {
        let [left, right] = parts;
        let first = self.evaluate(left)?;
        if let (Value::Variable(_), Term::Text(_), Logic::Or | Logic::IfNull) = (&first, &right.kind, logic) {
            // The variable is set, so that its default does not apply.
            return Ok(first);
        }
        let first = first.opaque();
        let decides = logic != Logic::IfNull && matches!(first, Value::Unknown(_));
        if let Some(joined) = self.joined(&first, &[right])? {
            // `paused || failed` is true if `failed` is, whatever `paused` is.
            let last = self.evaluate(right)?;
            let is_known = decides && last == Value::Bool(logic == Logic::Or);
            return Ok(if is_known { last } else { joined });
        }
        let takes_first = match logic {
            Logic::IfNull => match &first {
                Value::Null | Value::Nil => false,
                Value::Unknown(_) => {
                    self.note_tested(&first);
                    self.choose(left, 2) == 0
                }
                _ => true,
            },
            Logic::And => !self.truth(&first, left)?,
            Logic::Or => self.truth(&first, left)?,
        };
        match first {
            // Its truth was chosen.
            Value::Unknown(0) if takes_first && decides => Ok(Value::Bool(logic == Logic::Or)),
            _ if takes_first => Ok(first),
            _ => self.evaluate(right),
        }
    }

    fn assigned(&mut self, target: &'m Expression, value: &'m Expression, operator: Option<Operator>) -> Evaluated {
        let mut value = self.evaluate(value)?;
        if let Some(operator) = operator {
            let before = self.evaluate(target)?;
            if let (Operator::Add, Value::List(list)) = (operator, &before) {
                // `failures += [id]` extends the list.
                self.extend(*list, &value);
                return Ok(before);
            }
            value = self.computed(operator, &before, &value);
        }
        self.bind(target, value.clone(), Declares::No)?;
        Ok(value)
    }

    /// Makes a value for each item; `first` are the items of the first clause if they are known already.
    pub(super) fn each(
        &mut self,
        clauses: &'m [Clause],
        made: &'m Expression,
        first: Option<Value>,
        items: &mut Vec<Value>,
    ) -> Executed {
        let Some((clause, rest)) = clauses.split_first() else {
            items.push(self.evaluate(made)?);
            return Ok(());
        };
        let over = first.map_or_else(|| self.evaluate(&clause.over), Ok)?;
        let over = self.awaited(over)?;
        let over = self.forced(over)?;
        let all = match self.items(&over) {
            Some(all) => all,
            None => self.unknown_items(&over, &clause.over),
        };
        let outer = self.current;
        'items: for item in all {
            let mask = self.mask(&item);
            self.reach(mask);
            self.current = if mask == 0 { outer } else { mask };
            self.bind(&clause.target, item, Declares::Block)?;
            for test in &clause.tests {
                let tested = self.evaluate(test)?;
                if !self.truth(&tested, test)? {
                    continue 'items;
                }
            }
            self.each(rest, made, None, items)?;
        }
        self.current = outer;
        Ok(())
    }

    /// Evaluates arguments or items; returns `true` with them if a spread value is unknown.
    pub(super) fn arguments(&mut self, all: &'m [Expression]) -> Result<(Vec<Value>, bool), Flow> {
        let (mut items, mut is_open) = (Vec::new(), false);
        for one in all {
            let mut value = self.evaluate(one)?;
            if matches!(one.kind, Term::Spread(_)) {
                value = self.forced(value)?;
            }
            match (&one.kind, self.items(&value)) {
                (Term::Spread(_), Some(several)) => items.extend(several),
                (Term::Spread(_), None) => {
                    is_open = true;
                    let mask = self.mask(&value);
                    if mask != 0 {
                        items.push(Value::Unknown(mask));
                    }
                }
                _ => items.push(value),
            }
        }
        Ok((items, is_open))
    }

    fn entries(&mut self, all: &'m [(Option<Arc<str>>, Expression)], at: &Expression) -> Evaluated {
        let (mut entries, mut open) = (Vec::new(), false);
        for (key, value) in all {
            if let (None, Term::Other(parts)) = (key, &value.kind)
                && let [name, value] = parts.as_slice()
            {
                let name = match self.evaluate(name)? {
                    Value::Text(name) => Some(name),
                    _ => None,
                };
                open |= name.is_none();
                entries.push((name, self.evaluate(value)?));
                continue;
            }
            let evaluated = self.evaluate(value)?;
            match (&value.kind, &evaluated) {
                (Term::Spread(_), Value::Object(id)) => {
                    if let Object::Entries {
                        entries: others,
                        is_open,
                        ..
                    } = &self.heap[*id]
                    {
                        open |= is_open;
                        if self.counts(others.len()) {
                            entries.extend(others.iter().cloned());
                        }
                    }
                }
                (Term::Spread(_), Value::Null | Value::Nil) => {}
                (Term::Spread(_), _) => {
                    open = true;
                    entries.push((None, evaluated));
                }
                _ => entries.push((key.clone(), evaluated)),
            }
        }
        let object = self.object(entries, at.at.clone());
        if let (Value::Object(id), true) = (&object, open) {
            self.set_open(*id);
        }
        Ok(object)
    }

    pub(super) fn set_open(&mut self, id: Id) {
        match &mut self.heap[id] {
            Object::Entries { is_open, .. } | Object::List { is_open, .. } => *is_open = true,
            _ => {}
        }
    }

    /// Returns the items of a collection, or `None` if they are unknown.
    pub(super) fn items(&self, value: &Value) -> Option<Vec<Value>> {
        match value {
            Value::List(id) => match &self.heap[*id] {
                Object::List { items, is_open: false } if self.counts(items.len()) => Some(items.clone()),
                _ => None,
            },
            Value::Null | Value::Nil => Some(Vec::new()),
            _ => {
                let entries = self.known_entries(value).filter(|entries| self.counts(entries.len()))?;
                let keys = entries.iter().map(|(key, value)| match key {
                    Some(key) => Value::Text(key.clone()),
                    None => Value::Unknown(self.mask(value)),
                });
                Some(keys.collect())
            }
        }
    }

    /// Returns the entries of a dictionary or plain object, or `None` if they are unknown.
    pub(super) fn known_entries(&self, value: &Value) -> Option<&[(Option<Arc<str>>, Value)]> {
        let Value::Object(id) = value else { return None };
        match &self.heap[*id] {
            Object::Entries {
                entries,
                is_open: false,
                class: None,
                ..
            } => Some(entries),
            _ => None,
        }
    }

    /// Returns the known items of a list, which may have more.
    pub(super) fn known_items(&self, list: Id) -> Vec<Value> {
        match &self.heap[list] {
            Object::List { items, .. } if self.counts(items.len()) => items.clone(),
            _ => Vec::new(),
        }
    }

    pub(super) fn extend(&mut self, list: Id, with: &Value) {
        let more = self.items(with);
        let mask = self.mask(with);
        if let Object::List { items, is_open } = &mut self.heap[list] {
            *is_open |= more.is_none();
            items.extend(more.unwrap_or_else(|| vec![Value::Unknown(mask)]));
        }
    }

    /// Returns whether two values are equal, if that is known.
    pub(super) fn is_equal(&self, left: &Value, right: &Value) -> Option<bool> {
        Some(match (left, right) {
            (Value::Null | Value::Nil, Value::Null | Value::Nil) => true,
            (Value::Nil, other) | (other, Value::Nil) => return self.is_equal(&Value::Null, other),
            (Value::Object(left), Value::Object(_))
                if matches!(&self.heap[*left], Object::Entries { class: Some(_), .. }) && !self.module.is_script =>
            {
                return None;
            }
            (Value::Unknown(_) | Value::Variable(_), _) | (_, Value::Unknown(_) | Value::Variable(_)) => return None,
            (Value::Number(left), Value::Number(right)) => left.total_cmp(right).is_eq(),
            (Value::Text(left), Value::Text(right)) => left == right,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::MessageId(left), Value::MessageId(right)) => left == right,
            (Value::Null, _) | (_, Value::Null) => false,
            _ if left == right => true,
            _ => return None,
        })
    }

    /// Notes the texts that an unknown value is compared with.
    pub(super) fn note_compared(&mut self, left: &Value, right: &Value) {
        let ((Value::Unknown(_) | Value::Variable(_), other) | (other, Value::Unknown(_))) = (left, right) else {
            return;
        };
        let texts = match other {
            Value::List(id) => self.known_items(*id),
            other => vec![other.clone()],
        };
        for text in texts {
            if let Value::Text(text) = text
                && self.run.compared.len() < limits::MAX_NOTED_TEXTS
            {
                self.run.compared.push(text);
            }
        }
    }

    /// Returns the texts in a value.
    pub(super) fn texts(&self, value: &Value, depth: usize, texts: &mut Vec<Arc<str>>) {
        let parts = match value {
            Value::Text(text) if texts.len() < limits::MAX_NOTED_TEXTS => return texts.push(text.clone()),
            Value::List(id) if depth > 0 => self.known_items(*id),
            Value::Object(id) if depth > 0 => match &self.heap[*id] {
                Object::Entries { entries, .. } if self.counts(entries.len()) => {
                    entries.iter().map(|(_, value)| value.clone()).collect()
                }
                _ => return,
            },
            _ => return,
        };
        for part in parts {
            self.texts(&part, depth - 1, texts);
        }
    }

    fn computed(&mut self, operator: Operator, left: &Value, right: &Value) -> Value {
        if matches!(
            operator,
            Operator::Equal | Operator::NotEqual | Operator::Same | Operator::NotSame | Operator::In | Operator::NotIn
        ) {
            self.note_compared(left, right);
        }
        if matches!(operator, Operator::In | Operator::NotIn) {
            self.note_asked(left, right);
        }
        self.note_tested(left);
        self.note_tested(right);
        let unknown = Value::Unknown(self.mask(left) | self.mask(right));
        let compared = |known: Option<bool>| known.map_or(unknown.clone(), Value::Bool);
        match (operator, left, right) {
            (Operator::Same | Operator::NotSame, Value::Nil, Value::Null)
            | (Operator::Same | Operator::NotSame, Value::Null, Value::Nil) => {
                Value::Bool(operator == Operator::NotSame)
            }
            (Operator::Same | Operator::NotSame, Value::Object(left), Value::Object(right)) => {
                Value::Bool((left == right) == (operator == Operator::Same))
            }
            (Operator::Same, ..) => compared(self.is_equal(left, right)),
            (Operator::NotSame, ..) => compared(self.is_equal(left, right).map(|is_equal| !is_equal)),
            (Operator::Equal, ..) => compared(self.is_equal(left, right)),
            (Operator::NotEqual, ..) => compared(self.is_equal(left, right).map(|is_equal| !is_equal)),
            (Operator::In, _, _) => compared(self.contains(right, left)),
            (Operator::NotIn, _, _) => compared(self.contains(right, left).map(|contains| !contains)),
            (_, Value::Number(left), Value::Number(right)) => match operator {
                Operator::Add => Value::Number(left + right),
                Operator::Subtract => Value::Number(left - right),
                Operator::Multiply => Value::Number(left * right),
                Operator::Floor if *right != 0.0 => Value::Number((left / right).floor()),
                Operator::Remainder if *right != 0.0 && self.module.is_script => Value::Number(left % right),
                Operator::Remainder if *right != 0.0 => Value::Number(left - right * (left / right).floor()),
                Operator::Less => Value::Bool(left < right),
                Operator::AtMost => Value::Bool(left <= right),
                Operator::Greater => Value::Bool(left > right),
                Operator::AtLeast => Value::Bool(left >= right),
                _ => unknown,
            },
            (Operator::Add, Value::List(_), _) => {
                let Some(items) = self.items(left) else { return unknown };
                let sum = self.list(items);
                if let Value::List(id) = sum {
                    self.extend(id, right);
                }
                sum
            }
            _ => unknown,
        }
    }

    /// Returns whether a collection contains an item or key, if that is known.
    pub(super) fn contains(&self, collection: &Value, item: &Value) -> Option<bool> {
        if let (Value::Event, Value::Text(key)) = (collection, item) {
            return Some(&**key == "Records");
        }
        if let (Value::Text(text), Value::Text(part)) = (collection, item) {
            return Some(text.contains(&**part));
        }
        if let (Value::Record(_), Value::Text(key)) = (collection, item)
            && reads::lacks(key)
        {
            return Some(false);
        }
        let items = self.items(collection)?;
        let known: Vec<Option<bool>> = items.iter().map(|one| self.is_equal(one, item)).collect();
        if known.contains(&Some(true)) {
            return Some(true);
        }
        // Items of different kinds differ.
        let is_other = |(one, known): (&Value, &Option<bool>)| {
            *known == Some(false)
                || std::mem::discriminant(one) != std::mem::discriminant(item)
                    && !matches!(one, Value::Unknown(_) | Value::Variable(_))
        };
        let is_known =
            !matches!(item, Value::Unknown(_) | Value::Variable(_)) && items.iter().zip(&known).all(is_other);
        (items.is_empty() || is_known).then_some(false)
    }

    /// Waits for a promise; other values are their own result.
    pub(super) fn awaited(&mut self, value: Value) -> Evaluated {
        self.settle(value).map_err(Flow::Raise)
    }

    /// Waits for a value; an exception becomes a result.
    pub(super) fn settle(&mut self, value: Value) -> Result<Value, Value> {
        let Value::Promise(id) = value else { return Ok(value) };
        let Object::Promise {
            result, is_observed, ..
        } = &mut self.heap[id]
        else {
            return Ok(Value::Unknown(0));
        };
        *is_observed = true;
        // A promise of a promise settles like the inner one.
        result.clone().and_then(|inner| self.settle(inner))
    }
}

/// Returns `true` for `process.env` and `os.environ`.
fn is_environment(of: &Expression, name: &str) -> bool {
    let of = of.name().map(|of| &**of);
    matches!((of, name), (Some("process"), "env") | (Some("os"), "environ"))
}

/// Converts a number of items.
#[expect(clippy::cast_precision_loss, reason = "lists are short")]
pub(super) fn count(items: usize) -> f64 {
    items as f64
}
