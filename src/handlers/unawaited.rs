//! Work on messages that nothing waits for: its failures come too late, and so may its end.
//!
//! ```js
//! exports.handler = async (event) => {
//!   event.Records.forEach(async (record) => { await ship(record); });   // as with `map`, `await` before it or not
//!   for (const record of event.Records) ship(record);                   // where `ship` is an `async` function
//! };
//! ```
//!
//! A handler that is not `async` is left out: Lambda waits until nothing is left to do there.

use super::file::{Entry, File, MAX_CALLS, WALK};
use super::syntax::{Expression, Function, Kind, Place, Statement, Term, walk};
use std::sync::Arc;

impl<'m> File<'m> {
    /// What begins the first such work.
    pub(super) fn unawaited(&self, entry: &Entry<'m>) -> Option<&'m Place> {
        self.left_behind(entry.function, 0)
    }

    fn left_behind(&self, function: &'m Arc<Function>, depth: usize) -> Option<&'m Place> {
        if depth > MAX_CALLS || !function.is_async || !self.spend(WALK) {
            return None;
        }
        self.left_behind_in(&function.body, depth)
    }

    fn left_behind_in(&self, body: &'m [Statement], depth: usize) -> Option<&'m Place> {
        body.iter().find_map(|statement| {
            let of_its_own = match &statement.kind {
                Kind::Expression(value) => self.given_each(value),
                Kind::Loop { over: Some(over), body } if self.is_of_records(over, 0) => self.called_and_left(body),
                _ => None,
            };
            let inner = || {
                let mut inner = statement.inner().into_iter();
                inner.find_map(|inner| self.left_behind_in(inner, depth))
            };
            of_its_own
                .or_else(|| self.awaited_call(statement, depth))
                .or_else(inner)
        })
    }

    /// In a function that is waited for.
    fn awaited_call(&self, statement: &'m Statement, depth: usize) -> Option<&'m Place> {
        let (Kind::Expression(value) | Kind::Return(Some(value)) | Kind::Assign { value, .. }) = &statement.kind else {
            return None;
        };
        let call = match &value.kind {
            Term::Await(inner) => inner,
            _ => value,
        };
        let Term::Call { callee, .. } = &call.kind else {
            return None;
        };
        self.left_behind(self.called(callee)?, depth + 1)
    }

    /// `event.Records.forEach(async …)`, which gives nothing that could be waited for, or `map`, whose promises nobody
    /// has.
    fn given_each(&self, value: &'m Expression) -> Option<&'m Place> {
        let call = match &value.kind {
            Term::Await(inner) => inner,
            _ => value,
        };
        let Term::Call { callee, arguments, .. } = &call.kind else {
            return None;
        };
        let (Term::Member(of, name), [given, ..]) = (&callee.kind, arguments.as_slice()) else {
            return None;
        };
        let function = match &given.kind {
            Term::Function(function) => Some(function),
            Term::Name(name) => self.function(name),
            _ => None,
        };
        let is_left = matches!(&**name, "forEach" | "map") && self.is_of_records(of, 0);
        (is_left && function.is_some_and(|function| self.takes_its_time(function))).then_some(&callee.at)
    }

    /// A call of an `async` function of the file in a loop, with no `await` before it.
    fn called_and_left(&self, body: &'m [Statement]) -> Option<&'m Place> {
        body.iter().find_map(|statement| match &statement.kind {
            Kind::Expression(value) => {
                let Term::Call { callee, .. } = &value.kind else {
                    return None;
                };
                let function = self.called(callee)?;
                self.takes_its_time(function).then_some(&value.at)
            }
            _ => None,
        })
    }

    /// Whether some work of a function comes behind an `await`, or is waited for there.
    fn takes_its_time(&self, function: &'m Arc<Function>) -> bool {
        let mut waits = false;
        walk(&function.body, false, &mut |seen| {
            let is_await = |value: &Expression| matches!(value.kind, Term::Await(_));
            waits |= seen.expression().is_some_and(is_await);
        });
        function.is_async && waits && self.works(&function.body, 0)
    }
}
