//! Finds work on messages that is not awaited: its failures are lost, and it may not be finished when the function
//! returns.
//!
//! ```js
//! exports.handler = async (event) => {
//!   event.Records.forEach(async (record) => { await ship(record); });   // also with `map`, and with `await` in front
//!   for (const record of event.Records) ship(record);                   // if `ship` is an `async` function
//! };
//! ```
//!
//! A handler that is not `async` is not checked: Lambda waits until its event loop is empty.

use super::file::{Entry, File, MAX_CALLS, WALK};
use super::syntax::{Expression, Function, Statement, StatementKind, Term, TextRange, walk};
use std::sync::Arc;

impl<'m> File<'m> {
    /// Returns the code that starts the first such work.
    pub(super) fn unawaited(&self, entry: &Entry<'m>) -> Option<&'m TextRange> {
        self.unawaited_in(entry.function, 0)
    }

    fn unawaited_in(&self, function: &'m Arc<Function>, depth: usize) -> Option<&'m TextRange> {
        if depth > MAX_CALLS || !function.is_async || !self.spend(WALK) {
            return None;
        }
        self.unawaited_in_body(&function.body, depth)
    }

    fn unawaited_in_body(&self, body: &'m [Statement], depth: usize) -> Option<&'m TextRange> {
        body.iter().find_map(|statement| {
            let of_its_own = match &statement.kind {
                StatementKind::Expression(value) => self.passed_to_each(value),
                StatementKind::Loop { over: Some(over), body } if self.is_of_records(over, 0) => {
                    self.called_and_left(body)
                }
                _ => None,
            };
            let inner = || {
                let mut inner = statement.inner().into_iter();
                inner.find_map(|inner| self.unawaited_in_body(inner, depth))
            };
            of_its_own
                .or_else(|| self.awaited_call(statement, depth))
                .or_else(inner)
        })
    }

    /// Searches a function that is called and awaited.
    fn awaited_call(&self, statement: &'m Statement, depth: usize) -> Option<&'m TextRange> {
        let (StatementKind::Expression(value)
        | StatementKind::Return(Some(value))
        | StatementKind::Assign { value, .. }) = &statement.kind
        else {
            return None;
        };
        let call = match &value.kind {
            Term::Await(inner) => inner,
            _ => value,
        };
        let Term::Call { callee, .. } = &call.kind else {
            return None;
        };
        self.unawaited_in(self.called(callee)?, depth + 1)
    }

    /// Finds `event.Records.forEach(async …)`, which returns no promise, and `map` with unused promises.
    fn passed_to_each(&self, value: &'m Expression) -> Option<&'m TextRange> {
        let call = match &value.kind {
            Term::Await(inner) => inner,
            _ => value,
        };
        let Term::Call { callee, arguments, .. } = &call.kind else {
            return None;
        };
        let (Term::Member(of, name), [argument, ..]) = (&callee.kind, arguments.as_slice()) else {
            return None;
        };
        let function = match &argument.kind {
            Term::Function(function) => Some(function),
            Term::Name(name) => self.function(name),
            _ => None,
        };
        let is_left = matches!(&**name, "forEach" | "map") && self.is_of_records(of, 0);
        (is_left && function.is_some_and(|function| self.takes_its_time(function))).then_some(&callee.at)
    }

    /// Finds a call of an `async` function of the file in a loop without `await`.
    fn called_and_left(&self, body: &'m [Statement]) -> Option<&'m TextRange> {
        body.iter().find_map(|statement| match &statement.kind {
            StatementKind::Expression(value) => {
                let Term::Call { callee, .. } = &value.kind else {
                    return None;
                };
                let function = self.called(callee)?;
                self.takes_its_time(function).then_some(&value.at)
            }
            _ => None,
        })
    }

    /// Returns `true` if an `async` function does work and awaits something.
    fn takes_its_time(&self, function: &'m Arc<Function>) -> bool {
        let mut waits = false;
        walk(&function.body, false, &mut |seen| {
            let is_await = |value: &Expression| matches!(value.kind, Term::Await(_));
            waits |= seen.expression().is_some_and(is_await);
        });
        function.is_async && waits && self.works(&function.body, 0)
    }
}
