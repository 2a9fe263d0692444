//! Determines what happens to failures in a handler: whether they reach Lambda, end in a `catch`, or are collected.

use super::file::{Entry, File, MAX_CALLS, WALK};
use super::records::{Region, Runs};
use super::syntax::{Catch, Expression, Function, Statement, StatementKind, Term, TextRange, walk};
use super::words::{FAILURES, FIFO_PROCESSORS, STANDARD_PROCESSORS, is_harmless};
use std::sync::Arc;

impl<'m> File<'m> {
    /// Returns the first `catch` around all the work on a record or on the batch that hides failures from Lambda.
    pub(super) fn swallowing(&self, entry: &Entry<'m>, regions: &[Region<'m>]) -> Option<&'m TextRange> {
        let mut lost = regions
            .iter()
            .filter_map(|region| self.lost(region.body, region.is_used, 0));
        lost.next()
            .or_else(|| self.lost_batch(&entry.function.body, entry.function))
            .or_else(|| self.settled(&entry.function.body))
    }

    /// Finds `await Promise.allSettled(event.Records.map(ship));` with an unused result: rejected promises do not
    /// throw, and the function returns as if all had succeeded.
    fn settled(&self, body: &'m [Statement]) -> Option<&'m TextRange> {
        let (at, found) = body.iter().enumerate().find_map(|(at, statement)| {
            let StatementKind::Expression(value) = &statement.kind else {
                return None;
            };
            let Term::Await(call) = &value.kind else { return None };
            let Term::Call { callee, arguments, .. } = &call.kind else {
                return None;
            };
            let (Term::Member(of, name), [argument]) = (&callee.kind, arguments.as_slice()) else {
                return None;
            };
            let is_all = &**name == "allSettled" && of.name().is_some_and(|of| &**of == "Promise");
            (is_all && self.is_work_on_records(argument)).then_some((at, &value.at))
        })?;
        let is_heard = self.says(&[FAILURES]) || !self.lets_go(&body[at + 1..], false, found);
        (!is_heard).then_some(found)
    }

    /// Returns `true` for `event.Records.map(…)` with a function that catches nothing itself, or a variable with that
    /// value.
    fn is_work_on_records(&self, promises: &'m Expression) -> bool {
        if let Some(name) = promises.name() {
            return match self.values(name) {
                [only] => only.name().is_none() && self.is_work_on_records(only),
                _ => false,
            };
        }
        let Term::Call { callee, arguments, .. } = &promises.kind else {
            return false;
        };
        let (Term::Member(of, name), [each]) = (&callee.kind, arguments.as_slice()) else {
            return false;
        };
        let function = match &each.kind {
            Term::Function(function) => Some(function),
            Term::Name(name) => self.function(name),
            _ => None,
        };
        let catches = |body: &'m [Statement]| {
            let mut found = false;
            walk(body, true, &mut |seen| {
                found |= matches!(seen.statement().map(|one| &one.kind), Some(StatementKind::Try { .. }));
                found |= seen
                    .call()
                    .is_some_and(|(_, callee, _)| callee.last_name() == Some("catch"));
            });
            found
        };
        let is_plain = function.is_none_or(|function| self.works(&function.body, 0) && !catches(&function.body));
        &**name == "map" && self.is_of_records(of, 0) && is_plain
    }

    /// Finds a `catch` in a handler around everything it does with the records.
    fn lost_batch(&self, body: &'m [Statement], handler: &'m Arc<Function>) -> Option<&'m TextRange> {
        body.iter().find_map(|statement| match &statement.kind {
            StatementKind::Try { body, catches, .. } => {
                let general = catches.iter().find(|catch| catch.is_general)?;
                let takes_records = self.reads_records(body);
                let is_lost = takes_records && self.works(body, 0) && self.swallows(general, false);
                let answers = super::answers::returned(&general.body).into_iter();
                let mut answers = answers.map(|value| self.answer(value, handler, 0));
                let says_nothing = answers.all(|answer| answer.failures.is_none() && !answer.is_unknown);
                (is_lost && says_nothing).then_some(&general.at)
            }
            StatementKind::Block(_, inner) => self.lost_batch(inner, handler),
            _ => None,
        })
    }

    fn reads_records(&self, body: &'m [Statement]) -> bool {
        let mut found = false;
        walk(body, true, &mut |seen| {
            let named = seen
                .expression()
                .filter(|one| matches!(one.kind, Term::Member(..) | Term::Call { .. }));
            found |= named.is_some_and(|expression| self.is_of_records(expression, 0));
        });
        found
    }

    /// Returns the `catch` around all the work in `body` that drops failures, or `None` if some work is outside of it.
    fn lost(&self, body: &'m [Statement], is_used: bool, depth: usize) -> Option<&'m TextRange> {
        if depth > MAX_CALLS || !self.spend(WALK) {
            return None;
        }
        let mut working = body.iter().filter(|one| self.works(std::slice::from_ref(one), 0));
        let (Some(only), None) = (working.next(), working.next()) else {
            return None;
        };
        match &only.kind {
            StatementKind::Try { body, catches, last } => {
                let general = catches.iter().find(|catch| catch.is_general);
                match general {
                    Some(catch) if self.swallows(catch, is_used) && !self.works(last, 0) => Some(&catch.at),
                    Some(_) => None,
                    None => self.lost(body, is_used, depth + 1),
                }
            }
            StatementKind::Expression(value) => self.lost_in(value, false, depth),
            StatementKind::Return(Some(value)) => self.lost_in(value, is_used, depth),
            StatementKind::Assign { value, .. } => self.lost_in(value, true, depth),
            StatementKind::Block(_, inner) | StatementKind::Loop { body: inner, .. } => {
                self.lost(inner, is_used, depth + 1)
            }
            StatementKind::Branch { arms, .. } => {
                let mut working = arms.iter().filter(|arm| self.works(arm, 0));
                match (working.next(), working.next()) {
                    (Some(only), None) => self.lost(only, is_used, depth + 1),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Like [`lost`](Self::lost), for an expression that calls a function of the file or has a `.catch(…)`.
    fn lost_in(&self, value: &'m Expression, is_used: bool, depth: usize) -> Option<&'m TextRange> {
        match &value.kind {
            Term::Await(inner) => self.lost_in(inner, is_used, depth),
            Term::Call { callee, arguments, .. } => {
                if let (Term::Member(_, name), [argument]) = (&callee.kind, arguments.as_slice())
                    && &**name == "catch"
                {
                    let is_lost = match &argument.kind {
                        Term::Function(function) => self.lets_go(&function.body, is_used, &argument.at),
                        // `.catch(console.error)`
                        _ => !is_used && is_harmless(argument),
                    };
                    return is_lost.then_some(&argument.at);
                }
                let arguments_work = arguments.iter().any(|one| self.works_in(one, 0));
                let called = self.called(callee).filter(|_| !arguments_work)?;
                self.lost(&called.body, is_used, depth + 1)
            }
            _ => None,
        }
    }

    /// Returns `true` if a `catch` drops every failure.
    fn swallows(&self, catch: &'m Catch, is_used: bool) -> bool {
        self.lets_go(&catch.body, is_used, &catch.at)
    }

    /// Returns `true` if the statements that handle a failure report it at most to logs.
    fn lets_go(&self, body: &'m [Statement], is_used: bool, from: &TextRange) -> bool {
        let end = body.last().map_or(from.end, |last| last.at.end);
        let within = from.start..end;
        let only_looks = |value: &'m Expression| !self.works_in(value, 0) && !mentions_failures(value);
        body.iter().all(|statement| match &statement.kind {
            StatementKind::Nothing | StatementKind::Continue | StatementKind::Break | StatementKind::Return(None) => {
                true
            }
            StatementKind::Expression(value) => only_looks(value),
            StatementKind::Return(Some(value)) => !is_used && only_looks(value),
            StatementKind::Assign { target, value, .. } => {
                only_looks(value) && target.name().is_some_and(|name| self.stays_within(name, &within))
            }
            StatementKind::Branch { tests, arms, .. } => {
                tests.iter().all(only_looks) && arms.iter().all(|arm| self.lets_go(arm, is_used, from))
            }
            _ => false,
        })
    }

    /// Returns `true` if a variable is not used outside of `within`.
    fn stays_within(&self, name: &str, within: &TextRange) -> bool {
        if !self.spend(WALK) {
            return false;
        }
        let mut is_elsewhere = false;
        walk(&self.module.body, true, &mut |seen| {
            let named = seen
                .expression()
                .filter(|one| one.name().is_some_and(|found| **found == *name));
            is_elsewhere |= named.is_some_and(|expression| !within.contains(&expression.at.start));
        });
        !is_elsewhere
    }

    /// Returns `true` if statements do more than read values and write logs.
    pub(super) fn works(&self, body: &'m [Statement], depth: usize) -> bool {
        body.iter().any(|statement| {
            let of_its_own = statement
                .expressions()
                .into_iter()
                .any(|value| self.works_in(value, depth));
            of_its_own || statement.inner().into_iter().any(|inner| self.works(inner, depth))
        })
    }

    fn works_in(&self, value: &'m Expression, depth: usize) -> bool {
        if !self.spend(1) {
            return true;
        }
        let is_work = match &value.kind {
            Term::Call { callee, is_new, .. } if !is_harmless(callee) && !is_new => match self.called(callee) {
                Some(called) if depth < MAX_CALLS => self.works(&called.body, depth + 1),
                _ => true,
            },
            _ => false,
        };
        is_work || value.parts().into_iter().any(|part| self.works_in(part, depth))
    }

    /// Returns `true` if some failure may be caught before it reaches Lambda.
    pub(super) fn may_catch(&self) -> bool {
        let rethrows =
            |catch: &Catch| matches!(catch.body.last().map(|last| &last.kind), Some(StatementKind::Raise(_)));
        let mut found = false;
        walk(&self.module.body, true, &mut |seen| {
            if let Some(StatementKind::Try { catches, .. }) = seen.statement().map(|statement| &statement.kind) {
                found |= catches.iter().any(|catch| !rethrows(catch));
            }
            let called = seen.call().and_then(|(_, callee, _)| callee.last_name());
            found |= matches!(called, Some("catch" | "allSettled" | "gather"));
        });
        found
    }

    /// Returns the code that continues with later records after one failed, if it collects failures as they occur.
    pub(super) fn going_on(&self, regions: &[Region<'m>]) -> Option<(&'m TextRange, Option<&'static str>)> {
        if self.says(&["MessageGroupId", "messageGroupId", "message_group_id"]) || self.says(&FIFO_PROCESSORS) {
            return None;
        }
        let mut processor = None;
        walk(&self.module.body, true, &mut |seen| {
            if let Some((whole, callee, _)) = seen.call()
                && callee.name().is_some_and(|name| STANDARD_PROCESSORS.contains(&&**name))
            {
                processor = processor.or(Some((&whole.at, callee.last_name())));
            }
        });
        if let Some((at, name)) = processor {
            let instead = match name {
                Some("BatchProcessor") if self.says(&["processPartialResponse"]) => "SqsFifoPartialProcessorAsync",
                _ => "SqsFifoPartialProcessor",
            };
            return Some((at, Some(instead)));
        }
        let mut collecting = regions.iter().filter(|region| match region.runs {
            Runs::Library => false,
            Runs::Loop => notes_failures(region.body) && !leaves(region.body),
            Runs::Together => notes_failures(region.body),
        });
        collecting.next().map(|region| (region.at, None))
    }
}

/// Returns `true` if the expression contains a response with failed messages.
fn mentions_failures(value: &Expression) -> bool {
    let mut found = false;
    value.walk(true, &mut |seen| match seen.expression().map(|part| &part.kind) {
        Some(Term::Object(entries)) => found |= entries.iter().any(|(key, _)| key.as_deref() == Some(FAILURES)),
        Some(Term::Member(_, name)) => found |= &**name == FAILURES,
        _ => {}
    });
    found
}

/// Returns `true` if a `catch` in the statements adds the failed message to a list.
fn notes_failures(body: &[Statement]) -> bool {
    body.iter().any(|statement| {
        let in_catch = match &statement.kind {
            StatementKind::Try { catches, .. } => catches.iter().any(|catch| puts_on_list(&catch.body)),
            _ => false,
        };
        in_catch || statement.inner().into_iter().any(notes_failures)
    })
}

fn puts_on_list(body: &[Statement]) -> bool {
    let mut found = false;
    walk(body, false, &mut |seen| {
        if let Some((_, callee, arguments)) = seen.call() {
            let is_list = matches!(callee.last_name(), Some("append" | "push"));
            let mut names_message = false;
            for argument in arguments {
                argument.walk(false, &mut |seen| {
                    let name = seen.expression().and_then(Expression::last_name);
                    names_message |= matches!(name, Some("messageId" | "message_id"));
                });
            }
            found |= is_list && names_message;
        }
    });
    found
}

/// Returns `true` if a loop may be left before its end.
fn leaves(body: &[Statement]) -> bool {
    body.iter().any(|statement| {
        let itself = matches!(
            statement.kind,
            StatementKind::Break | StatementKind::Return(_) | StatementKind::Raise(_)
        );
        itself || statement.inner().into_iter().any(leaves)
    })
}
