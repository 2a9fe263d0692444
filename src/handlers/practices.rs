//! Determines how a handler deals with duplicate messages, and with the time it has.

use super::file::{Entry, File};
use super::records::{Region, Runs};
use super::syntax::{Expression, Statement, StatementKind, Term, TextRange, VisitedNode, passed_values, walk};
use super::words::{self, BATCH_FUNCTIONS, is_harmless};

/// Functions that read one record of a store, and functions that write one.
const READS: [&str; 5] = ["GetCommand", "GetItemCommand", "exists", "getItem", "get_item"];
const WRITES: [&str; 5] = ["PutCommand", "PutItemCommand", "putItem", "put_item", "set"];

/// Words that make a write conditional.
const CONDITIONS: [&str; 6] = ["ConditionExpression", "Expected", "IfNotExists", "NX", "nx", "setnx"];

/// Functions that return the remaining time of the invocation.
const CLOCKS: [&str; 2] = ["getRemainingTimeInMillis", "get_remaining_time_in_millis"];

impl<'m> File<'m> {
    /// Returns idempotency of the work on a record that is not informed of the end of the invocation (Powertools for
    /// AWS Lambda).
    pub(super) fn undated(&self, entry: &Entry<'m>, regions: &[Region<'m>]) -> Option<&'m TextRange> {
        if self.says(&["register_lambda_context", "registerLambdaContext"]) {
            return None;
        }
        let mut found = None;
        walk(&self.module.body, true, &mut |seen| {
            let marked = match seen {
                VisitedNode::Statement(statement) => self.decorated(statement, regions),
                VisitedNode::Expression(expression) => self.wrapped(expression, entry, regions),
            };
            found = found.or(marked);
        });
        found
    }

    /// Finds `@idempotent_function(…)` on a function that processes the records.
    fn decorated(&self, statement: &'m Statement, regions: &[Region<'m>]) -> Option<&'m TextRange> {
        let StatementKind::Function(function) = &statement.kind else {
            return None;
        };
        let decorator = function.decorators.iter().find(|one| {
            let called = match &one.kind {
                Term::Call { callee, .. } => callee.last_name(),
                _ => one.last_name(),
            };
            called == Some("idempotent_function")
        })?;
        let name = function.name.as_deref()?;
        (self.is_configured_here(decorator) && self.gets_records(name, regions)).then_some(&decorator.at)
    }

    /// Finds `makeIdempotent(work, …)` around a function that processes the records and does not get the context.
    fn wrapped(&self, value: &'m Expression, entry: &Entry<'m>, regions: &[Region<'m>]) -> Option<&'m TextRange> {
        let (_, callee, _) = VisitedNode::Expression(value).call()?;
        let is_entry = entry.around.iter().any(|around| around.at == value.at);
        if callee.last_name() != Some("makeIdempotent") || is_entry || !self.is_configured_here(value) {
            return None;
        }
        let mut is_called = false;
        let mut gets_context = false;
        walk(&self.module.body, true, &mut |seen| {
            let Some((_, callee, arguments)) = seen.call() else {
                return;
            };
            let is_it = |one: &Expression| {
                let named = one
                    .name()
                    .is_some_and(|name| self.values(name).iter().any(|given| given.at == value.at));
                named || one.at == value.at
            };
            if is_it(callee) {
                is_called |= words_in(regions, callee);
                gets_context |= arguments.len() > 1;
            } else if arguments.iter().any(is_it)
                && callee.last_name().is_some_and(|name| BATCH_FUNCTIONS.contains(&name))
            {
                is_called = true;
                gets_context |= passed_values(arguments).any(|(key, _)| key == Some("context"));
            }
        });
        (is_called && !gets_context).then_some(&value.at)
    }

    /// Returns `true` unless the configuration among the arguments of a call comes from another file.
    fn is_configured_here(&self, call: &Expression) -> bool {
        let Term::Call { arguments, .. } = &call.kind else {
            return true;
        };
        passed_values(arguments).all(|(key, value)| match value.name() {
            Some(name) if key.is_some_and(|key| key.contains("onfig")) => !self.values(name).is_empty(),
            _ => true,
        })
    }

    /// Returns `true` if the function `name` runs for each record, or is called by code that does.
    fn gets_records(&self, name: &str, regions: &[Region<'m>]) -> bool {
        let Some(function) = self.function(name) else {
            return false;
        };
        regions.iter().any(|region| {
            let mut is_called = region.at == &function.at;
            walk(region.body, true, &mut |seen| {
                is_called |= seen
                    .call()
                    .is_some_and(|(_, callee, _)| callee.name().is_some_and(|of| **of == *name));
            });
            is_called
        })
    }

    /// Returns an unconditional write after the work, with a read of the same record before it that skips the work if
    /// the record exists. Two invocations may both pass the read.
    pub(super) fn unconditional_write(&self, regions: &[Region<'m>]) -> Option<&'m TextRange> {
        let mut bodies: Vec<&'m [Statement]> = regions.iter().map(|region| region.body).collect();
        for region in regions {
            walk(region.body, true, &mut |seen| {
                if let Some(called) = seen.call().and_then(|(_, callee, _)| self.called(callee)) {
                    bodies.push(&called.body);
                }
            });
        }
        bodies.into_iter().find_map(|body| self.checked_then_done(body))
    }

    fn checked_then_done(&self, body: &'m [Statement]) -> Option<&'m TextRange> {
        let mut read: Option<&'m Expression> = None;
        let (mut leaves, mut works, mut found) = (false, false, None);
        walk(body, false, &mut |seen| {
            if let Some(StatementKind::Branch { tests, arms }) = seen.statement().map(|statement| &statement.kind) {
                let ends = |arm: &Vec<Statement>| {
                    matches!(
                        arm.last().map(|last| &last.kind),
                        Some(StatementKind::Return(_) | StatementKind::Continue)
                    )
                };
                let asks = read.is_some() || tests.iter().any(reads);
                leaves |= asks && arms.iter().any(ends);
            }
            let Some((whole, callee, _)) = seen.call() else {
                return;
            };
            let name = callee.last_name().unwrap_or_default();
            match read {
                None if READS.contains(&name) => read = Some(whole),
                Some(before) if leaves && WRITES.contains(&name) => {
                    let asks = says_in(whole, &CONDITIONS);
                    if works && !asks && found.is_none() && is_of_same(before, whole) {
                        found = Some(&whole.at);
                    }
                }
                Some(_) if leaves => works |= self.is_work(whole) && !READS.contains(&name) && name != "send",
                _ => {}
            }
        });
        found
    }

    fn is_work(&self, call: &Expression) -> bool {
        matches!(&call.kind, Term::Call { callee, is_new: false, .. } if !is_harmless(callee))
    }

    /// Returns a loop over the records with sequential requests that never checks the remaining time.
    pub(super) fn untimed(&self, regions: &[Region<'m>]) -> Option<&'m TextRange> {
        if self.says(&CLOCKS) {
            return None;
        }
        let mut loops = regions.iter().filter(|region| region.runs == Runs::Loop);
        loops
            .find(|region| self.requests(region.body, 0))
            .map(|region| region.at)
    }

    /// Returns `true` if statements wait for another machine.
    fn requests(&self, body: &'m [Statement], depth: usize) -> bool {
        let mut found = false;
        walk(body, false, &mut |seen| {
            if let Some(Term::Await(inner)) = seen.expression().map(|expression| &expression.kind) {
                // Functions of this file are searched themselves.
                let called = VisitedNode::Expression(inner).call();
                found |= called.is_some_and(|(_, callee, _)| self.called(callee).is_none() && !is_harmless(callee));
            }
            if let Some((_, callee, _)) = seen.call() {
                let root = callee.first_name().unwrap_or_default();
                let is_client = |value: &&Expression| value.first_name() == Some("boto3");
                found |= words::is_request(root) || self.values(root).iter().any(is_client);
                if let Some(called) = self.called(callee)
                    && depth < super::file::MAX_CALLS
                {
                    found |= self.requests(&called.body, depth + 1);
                }
            }
        });
        found
    }
}

/// Returns `true` if an expression reads a record of a store.
fn reads(value: &Expression) -> bool {
    let mut found = false;
    value.walk(false, &mut |seen| {
        let name = seen.call().and_then(|(_, callee, _)| callee.last_name());
        found |= name.is_some_and(|name| READS.contains(&name));
    });
    found
}

/// Returns `true` if an expression is in one of the regions.
fn words_in(regions: &[Region<'_>], expression: &Expression) -> bool {
    regions.iter().any(|region| {
        let mut is_there = false;
        walk(region.body, true, &mut |seen| {
            is_there |= seen.expression().is_some_and(|one| std::ptr::eq(one, expression));
        });
        is_there
    })
}

/// Returns `true` if an expression contains one of `words` as a name, a key or a text.
fn says_in(value: &Expression, words: &[&str]) -> bool {
    let mut found = false;
    value.walk(false, &mut |seen| match seen.expression().map(|one| &one.kind) {
        Some(Term::Name(name) | Term::Text(name) | Term::Member(_, name)) => found |= words.contains(&&**name),
        Some(Term::Object(entries)) => {
            found |= entries
                .iter()
                .any(|(key, _)| key.as_deref().is_none_or(|key| words.contains(&key)));
        }
        _ => {}
    });
    found
}

/// Returns `true` if a read and a write are known to use the same table or key-value store.
fn is_of_same(read: &Expression, write: &Expression) -> bool {
    let is_new = |value: &Expression| matches!(value.kind, Term::Call { is_new: true, .. });
    let tables = (table(read), table(write));
    match tables {
        (Some(one), Some(other)) => one == other,
        (None, None) => {
            !is_new(read) && !is_new(write) && read.first_name().is_some() && read.first_name() == write.first_name()
        }
        _ => false,
    }
}

/// Returns the table of a request.
fn table(request: &Expression) -> Option<String> {
    let (_, _, arguments) = VisitedNode::Expression(request).call()?;
    let (_, value) = passed_values(arguments).find(|(key, _)| *key == Some("TableName"))?;
    match &value.kind {
        Term::Text(text) => Some(text.to_string()),
        _ => value.last_name().map(str::to_owned),
    }
}
