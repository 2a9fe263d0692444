//! Promises and other results that arrive later, alone and in lists.

use super::calls::Arguments;
use super::libraries::Known;
use super::machine::Machine;
use super::values::{Id, Object, Value};
use crate::read::syntax::{Expression, Term};

impl<'m> Machine<'m> {
    pub(super) fn promise_method(
        &mut self,
        whole: &'m Expression,
        id: Id,
        name: &str,
        arguments: &Arguments,
        first: &Value,
    ) -> Known {
        let Object::Promise { result, is_slow, .. } = self.heap[id].clone() else {
            return Ok(None);
        };
        if matches!(name, "then" | "catch" | "finally" | "result" | "exception")
            && let Object::Promise { is_observed, .. } = &mut self.heap[id]
        {
            *is_observed = true;
        }
        let at = whole.at.clone();
        let rejected = match name {
            "then" => arguments.get(1),
            _ => Some(first),
        };
        let settled = match (name, &result) {
            ("promise", _) => return Ok(Some(Value::Promise(id))),
            ("result", _) => return self.awaited(Value::Promise(id)).map(Some),
            ("exception", Err(raised)) => return Ok(Some(raised.clone())),
            ("exception", Ok(_)) => return Ok(Some(Value::Null)),
            ("add_done_callback" | "done", _) => {
                self.run.is_uncertain |= result.is_err();
                return Ok(Some(Value::Unknown(0)));
            }
            ("then", Ok(value)) => self.called(first, vec![value.clone()], Vec::new(), whole)?,
            ("then" | "catch", Err(raised)) if rejected.is_some_and(|one| *one != Value::Null) => {
                if self.is_failure(raised) {
                    let Term::Call { arguments: written, .. } = &whole.kind else {
                        return Ok(None);
                    };
                    self.run.vanished = written.last().map(|last| last.at.clone());
                }
                match rejected {
                    // `.catch(console.error)`, `.catch(imported)`
                    Some(Value::Unknown(_)) => {
                        self.run.is_parked |= !self.is_log_argument(whole);
                        Ok(Value::Unknown(0))
                    }
                    Some(function) => self.called(&function.clone(), vec![raised.clone()], Vec::new(), whole)?,
                    None => result,
                }
            }
            ("finally", _) => match self.called(first, Vec::new(), Vec::new(), whole)? {
                Ok(_) => result,
                failed => failed,
            },
            ("then" | "catch", _) => result,
            _ => return Ok(None),
        };
        // A promise that the function returns is part of the chain.
        let settled = settled.and_then(|value| self.settle(value));
        Ok(Some(self.promise(settled, is_slow, at)))
    }

    /// Returns `true` for the promise of a call that may return another value instead.
    pub(super) fn is_late(&self, value: &Value) -> bool {
        matches!(value, Value::Promise(id) if self.run.late == Some(*id))
    }

    pub(super) fn is_log_argument(&self, whole: &Expression) -> bool {
        let Term::Call { arguments, .. } = &whole.kind else {
            return false;
        };
        arguments.last().is_some_and(crate::words::is_harmless)
    }

    /// Combines promises: the first failure is that of all.
    pub(super) fn all(&mut self, whole: &'m Expression, list: &Value) -> Value {
        let Some(items) = self.promises(list) else {
            return Value::Unknown(self.mask(list));
        };
        let mut results = Vec::new();
        let mut failed = None;
        for item in items {
            match self.settle(item) {
                Ok(value) => results.push(value),
                Err(raised) => failed = failed.or(Some(raised)),
            }
        }
        let result = match failed {
            Some(raised) => Err(raised),
            None => Ok(self.results_of(list, results)),
        };
        self.promise(result, true, whole.at.clone())
    }

    pub(super) fn promises(&mut self, list: &Value) -> Option<Vec<Value>> {
        let items = self.items(list).or_else(|| self.known_promises(list));
        self.run.is_uncertain |= items.is_none() && matches!(list, Value::List(_));
        items
    }

    /// Returns the known promises of a list that may have more, unless one of the others may have failed.
    fn known_promises(&self, list: &Value) -> Option<Vec<Value>> {
        let Value::List(id) = list else { return None };
        let Object::List { items, .. } = &self.heap[*id] else {
            return None;
        };
        if !self.counts(items.len()) {
            return None;
        }
        let is_rejected = |item: &Value| match item {
            Value::Promise(id) => matches!(&self.heap[*id], Object::Promise { result: Err(_), .. }),
            _ => false,
        };
        let may_have_failed = self.run.failed.is_some() && self.mask(list) & self.failing != 0;
        let is_known = !may_have_failed || items.iter().any(is_rejected);
        (is_known && !items.is_empty()).then(|| items.clone())
    }

    /// Returns the results of the promises in `list`, which has more if `list` does.
    fn results_of(&mut self, list: &Value, results: Vec<Value>) -> Value {
        let is_open =
            !matches!(list, Value::List(id) if matches!(&self.heap[*id], Object::List { is_open: false, .. }));
        let results = self.list(results);
        self.opened(results, is_open)
    }

    /// Combines promises: failures become results.
    pub(super) fn settled(&mut self, whole: &'m Expression, list: &Value) -> Value {
        let Some(items) = self.promises(list) else {
            return Value::Unknown(self.mask(list));
        };
        let mut results = Vec::new();
        for item in items {
            let result = self.settle(item);
            if let Err(raised) = &result
                && self.is_failure(raised)
            {
                self.run.vanished = Some(whole.at.clone());
            }
            if !self.module.is_script {
                results.push(result.unwrap_or_else(|raised| raised));
                continue;
            }
            let (status, key, value) = match result {
                Ok(value) => ("fulfilled", "value", value),
                Err(raised) => ("rejected", "reason", raised),
            };
            let entries = vec![
                (Some("status".into()), Value::Text(status.into())),
                (Some(key.into()), value),
            ];
            results.push(self.object(entries, whole.at.clone()));
        }
        let results = self.results_of(list, results);
        self.promise(Ok(results), true, whole.at.clone())
    }
}
