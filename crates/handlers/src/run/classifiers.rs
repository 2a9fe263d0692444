//! Recognises code that has no effect, whatever its conditions are: `score(temperature)`, `name or "unknown"`, and a
//! branch that only logs. A path for each of its branches would be too many.

use super::machine::Machine;
use super::values::{Flow, Object, Value};
use crate::read::syntax::{Declares, Expression, Function, Statement, StatementKind, Term};
use crate::words::is_harmless;

impl<'m> Machine<'m> {
    /// Returns `true` if `function` does nothing but choose one of several literals.
    pub(super) fn classifies(&self, function: &Function) -> bool {
        let is_plain = !function.is_async && !function.is_generator && function.outer.is_empty();
        let is_branch = |one: &Statement| matches!(one.kind, StatementKind::If { .. } | StatementKind::Switch { .. });
        is_plain && function.body.iter().any(is_branch) && self.chooses(&function.body)
    }

    fn chooses(&self, body: &[Statement]) -> bool {
        body.iter().all(|one| match &one.kind {
            StatementKind::If { test, .. } => self.is_pure(test) && one.bodies().iter().all(|body| self.chooses(body)),
            StatementKind::Switch { subject, cases, .. } => {
                let mut tests = cases.iter().flat_map(|case| case.tests.iter().flatten());
                let is_pure = self.is_pure(subject) && tests.all(|one| self.is_pure(one));
                is_pure && one.bodies().iter().all(|body| self.chooses(body))
            }
            StatementKind::Assign {
                target,
                value,
                declares,
            } => {
                let is_local = !self.module.is_script || *declares != Declares::No;
                is_local && target.name().is_some() && self.is_pure(value)
            }
            StatementKind::Return(value) => value.as_ref().is_none_or(|value| self.is_literal(value)),
            StatementKind::Break(None) | StatementKind::Nothing => true,
            StatementKind::Expression(value) => self.is_literal(value),
            _ => false,
        })
    }

    /// Returns `true` for values of which no caller reads a part.
    fn is_literal(&self, value: &Expression) -> bool {
        match &value.kind {
            Term::Text(_) | Term::Number(_) | Term::Bool(_) | Term::Null | Term::Nil => true,
            Term::Other(_) => self.is_pure(value),
            _ => false,
        }
    }

    /// Returns `true` if the statements only log.
    pub(super) fn is_idle(&self, body: &[Statement]) -> bool {
        body.iter().all(|one| match &one.kind {
            StatementKind::Expression(value) => self.is_pure(value),
            StatementKind::If { test, yes, no } => self.is_pure(test) && self.is_idle(yes) && self.is_idle(no),
            StatementKind::Nothing => true,
            _ => false,
        })
    }

    /// Returns one unknown value for all that `choices` may be, if `tested` is unknown and none of them has an effect or
    /// is an object.
    pub(super) fn joined(&mut self, tested: &Value, choices: &[&'m Expression]) -> Result<Option<Value>, Flow> {
        let Value::Unknown(_) = tested else {
            return Ok(None);
        };
        let mut mask = self.mask(tested);
        if self.is_loading || !choices.iter().all(|one| self.is_pure(one)) {
            return Ok(None);
        }
        self.note_tested(tested);
        let mut known = Vec::new();
        for one in choices {
            let value = self.evaluate(one)?.opaque();
            if !matches!(
                value,
                Value::Unknown(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_)
            ) {
                return Ok(None);
            }
            mask |= self.mask(&value);
            known.push(value);
        }
        Ok(Some(match known.pop() {
            Some(same) if !known.is_empty() && known.iter().all(|one| *one == same) => same,
            _ => Value::Unknown(mask),
        }))
    }

    /// Returns `true` for a function of this file that does more than compute a value.
    pub(super) fn may_have_effects(&self, value: &Value) -> bool {
        let Value::Function(id) = value else { return false };
        let Object::Function(closure) = &self.heap[*id] else {
            return false;
        };
        !closure.function.body.iter().all(|one| match &one.kind {
            StatementKind::Return(value) => value.as_ref().is_none_or(|value| self.is_pure(value)),
            _ => false,
        })
    }

    /// Returns `true` if evaluating `value` changes nothing and cannot fail.
    fn is_pure(&self, value: &Expression) -> bool {
        let mut is_pure = true;
        value.walk(&mut |one| match &one.kind {
            Term::Call { callee, .. } => {
                let root = callee.first_name().and_then(|name| self.variable(name));
                let is_elsewhere = matches!(root, None | Some(Value::Unknown(_)));
                let removes = matches!(callee.last_name(), Some("pop" | "shift"));
                is_pure &= is_elsewhere && !removes && is_harmless(callee);
            }
            Term::Await(_)
            | Term::Assign { .. }
            | Term::Function(_)
            | Term::Class(_)
            | Term::Yield(..)
            | Term::Delete(_) => is_pure = false,
            _ => {}
        });
        is_pure
    }
}
