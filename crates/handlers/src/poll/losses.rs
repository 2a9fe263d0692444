//! Finds messages that a program deletes although the work on them may fail: before the work, or after a failure that it
//! catches. Only the statements of one block are compared, so a deletion under a condition has no effect.

use super::calls::{Calls, DELETIONS, SENDS, is_of_sqs, named, takes_time};
use crate::read::syntax::{Catch, Expression, Module, Statement, StatementKind, Term, TextRange};
use crate::words::is_harmless;
use rustc_hash::{FxHashMap, FxHashSet};

/// Types of exceptions that include all failures of the work.
const ALL: [&str; 3] = ["BaseException", "Error", "Exception"];

/// Names of a block that hold a message or a part of it.
type Names<'m> = FxHashSet<&'m str>;

/// Reason for which a message is lost if the work on it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossKind {
    /// The message is deleted before the work.
    BeforeWork,
    /// The failure is caught, and the message is deleted.
    Swallowed,
}

/// A deletion of a message whose work may fail.
pub(crate) struct FoundLoss {
    pub(crate) kind: LossKind,
    /// The deletion; the code that hides the failure if a library deletes the message.
    pub(crate) at: TextRange,
    /// The work, or the code that hides its failure.
    pub(crate) other: TextRange,
}

/// Returns the first loss of each block of `module`.
pub(super) fn losses<'m>(calls: &Calls<'m>, module: &'m Module) -> Vec<FoundLoss> {
    let mut blocks = Blocks {
        deleting: calls.deleting(),
        has_resources: module.says(&["receive_messages"]),
        all: Vec::new(),
    };
    blocks.block(&module.body);
    blocks.all
}

struct Blocks<'m> {
    /// Functions that delete a message and do nothing else.
    deleting: FxHashSet<&'m str>,
    /// `true` if messages may have a method `delete`.
    has_resources: bool,
    all: Vec<FoundLoss>,
}

impl<'m> Blocks<'m> {
    fn block(&mut self, all: &'m [Statement]) {
        self.judge(all);
        for statement in all {
            match &statement.kind {
                StatementKind::Function(function) => self.block(&function.body),
                StatementKind::Class(class) => self.block(&class.body),
                _ => {}
            }
            statement.bodies().into_iter().for_each(|body| self.block(body));
            for value in values(statement) {
                value.walk(&mut |one| {
                    if let Term::Function(function) = &one.kind {
                        self.block(&function.body);
                    }
                });
            }
        }
    }

    fn judge(&mut self, all: &'m [Statement]) {
        for statement in all {
            if let StatementKind::Try {
                body, catches, last, ..
            } = &statement.kind
                && let Some((_, deletion, names)) = self.deletion_in(last, body)
                && body.iter().any(|one| work(one, &names).is_some())
                && catches.iter().all(|catch| !acts(&catch.body))
            {
                self.add(LossKind::Swallowed, deletion, &statement.at);
                return;
            }
        }
        let Some((at, deletion, names)) = self.deletion_in(all, &[]) else {
            return;
        };
        let (before, after) = (&all[..at], &all[at + 1..]);
        let swallowed = before.iter().find_map(|one| match &one.kind {
            StatementKind::Try {
                body, catches, last, ..
            } if body.iter().any(|one| work(one, &names).is_some()) => catches
                .iter()
                .find(|catch| hides_failures(catch))
                .filter(|_| !leaves(last)),
            _ => None,
        });
        if let Some(catch) = swallowed {
            self.add(LossKind::Swallowed, deletion, &catch.at);
        } else if !before
            .iter()
            .any(|one| work(one, &names).is_some() || sends(one, &names))
            && let Some(work) = after.iter().find_map(|one| work(one, &names))
        {
            self.add(LossKind::BeforeWork, deletion, work);
        }
    }

    fn add(&mut self, kind: LossKind, at: &TextRange, other: &TextRange) {
        let (at, other) = (at.clone(), other.clone());
        self.all.push(FoundLoss { kind, at, other });
    }

    /// Returns the index of the first statement of `all` that deletes a message, the call, and the names that hold the
    /// message there or in `before`.
    fn deletion_in(&self, all: &'m [Statement], before: &'m [Statement]) -> Option<(usize, &'m TextRange, Names<'m>)> {
        all.iter().enumerate().find_map(|(at, statement)| {
            let (StatementKind::Expression(value) | StatementKind::Assign { value, .. }) = &statement.kind else {
                return None;
            };
            let mut found = None;
            value.walk(&mut |one| {
                if found.is_none()
                    && let Some(handle) = self.handle(one)
                {
                    found = Some((&one.at, handle));
                }
            });
            let (deletion, mut names) = found?;
            let assignments = before.iter().chain(&all[..at]);
            let assignments: Vec<_> = assignments.filter_map(assignment).collect();
            for (target, value) in assignments.iter().rev() {
                // `handle = message["ReceiptHandle"]`
                if is_part(value) && mentions(target, &names) {
                    add_names(value, &mut names);
                    add_names(target, &mut names);
                }
            }
            for (target, value) in assignments {
                if mentions(value, &names) {
                    add_names(target, &mut names);
                }
            }
            Some((at, deletion, names))
        })
    }

    /// Returns the names in the argument that identifies the message, if `call` deletes one.
    fn handle(&self, call: &'m Expression) -> Option<Names<'m>> {
        let Term::Call { callee, arguments, .. } = &call.kind else {
            return None;
        };
        let name = callee.last_name()?;
        let mut names = Names::default();
        if self.deleting.contains(name) {
            for one in arguments {
                add_names(one, &mut names);
            }
        } else if name == "delete" {
            let (Term::Member(of, _), true) = (&callee.kind, arguments.is_empty() && self.has_resources) else {
                return None;
            };
            add_names(of, &mut names);
        } else if DELETIONS.contains(&name) {
            let option = |key| {
                named(call, key).or_else(|| match arguments.as_slice() {
                    [
                        Expression {
                            kind: Term::Object(entries),
                            ..
                        },
                    ] => super::constants::entry(entries, key).ok().flatten(),
                    _ => None,
                })
            };
            add_names(option("ReceiptHandle").or_else(|| option("Entries"))?, &mut names);
        }
        (!names.is_empty()).then_some(names)
    }
}

/// Returns the expressions of a statement, except those of the statements in it.
fn values(statement: &Statement) -> Vec<&Expression> {
    match &statement.kind {
        StatementKind::Expression(value) => vec![value],
        StatementKind::Return(value) | StatementKind::Raise(value) => value.iter().collect(),
        StatementKind::Assign { target, value, .. } => vec![target, value],
        StatementKind::Loop(one) => [&one.over, &one.test, &one.step].into_iter().flatten().collect(),
        StatementKind::If { test, .. } => vec![test],
        StatementKind::Switch { subject, .. } => vec![subject],
        StatementKind::With(values, _) => values.iter().map(|(value, _)| value).collect(),
        _ => Vec::new(),
    }
}

fn assignment(statement: &Statement) -> Option<(&Expression, &Expression)> {
    match &statement.kind {
        StatementKind::Assign { target, value, .. } => Some((target, value)),
        _ => None,
    }
}

/// Returns `true` for a name and its parts: `message["Body"]`.
fn is_part(value: &Expression) -> bool {
    match &value.kind {
        Term::Name(_) => true,
        Term::Member(of, _) | Term::Index(of, _) => is_part(of),
        _ => false,
    }
}

fn add_names<'m>(value: &'m Expression, names: &mut Names<'m>) {
    value.walk(&mut |one| {
        names.extend(one.name().map(|name| &**name));
    });
}

fn mentions(value: &Expression, names: &Names<'_>) -> bool {
    let mut found = false;
    value.walk(&mut |one| found |= one.name().is_some_and(|name| names.contains(&**name)));
    found
}

/// Returns the first call in `statement`, outside of functions, that `is_it` accepts.
fn call<'s>(statement: &'s Statement, is_it: &dyn Fn(&Expression) -> bool) -> Option<&'s Expression> {
    let mut found = None;
    for value in values(statement) {
        value.walk(&mut |one| {
            if found.is_none() && matches!(one.kind, Term::Call { .. }) && is_it(one) {
                found = Some(one);
            }
        });
    }
    let mut inner = statement.bodies().into_iter().flatten();
    found.or_else(|| inner.find_map(|one| call(one, is_it)))
}

/// Returns the call in `statement` that works on the message in `names`: it may fail, and does more than read or log.
fn work<'s>(statement: &'s Statement, names: &Names<'_>) -> Option<&'s TextRange> {
    let works = |one: &Expression| takes_part(one) && mentions(one, names);
    call(statement, &works).map(|call| &call.at)
}

/// Returns `true` if `statement` sends the message in `names` to a queue.
fn sends(statement: &Statement, names: &Names<'_>) -> bool {
    call(statement, &|one| one.says(&SENDS) && mentions(one, names)).is_some()
}

/// Returns `true` for a call that is neither harmless nor one of SQS.
fn takes_part(one: &Expression) -> bool {
    let Term::Call { callee, .. } = &one.kind else {
        return false;
    };
    takes_time(callee, one) && !is_of_sqs(one)
}

/// Returns `true` if a handler of failures may do something about the message, or leaves the block.
fn acts(body: &[Statement]) -> bool {
    let ends = |one: &Expression| match &one.kind {
        Term::Call { callee, .. } => {
            one.says(&SENDS) || callee.last_name() == Some("exit") || takes_part(one) && !is_harmless(callee)
        }
        _ => false,
    };
    leaves(body) || body.iter().any(|one| call(one, &ends).is_some())
}

fn leaves(body: &[Statement]) -> bool {
    body.iter().any(|one| {
        let leaves_here = matches!(
            one.kind,
            StatementKind::Raise(_) | StatementKind::Return(_) | StatementKind::Break(_) | StatementKind::Continue(_)
        );
        leaves_here || one.bodies().into_iter().any(leaves)
    })
}

/// Returns `true` if `catch` catches every failure and does nothing about it.
fn hides_failures(catch: &Catch) -> bool {
    let types = catch.types.as_deref().unwrap_or_default();
    let is_general = |one: &Expression| one.last_name().is_some_and(|name| ALL.contains(&name));
    (types.is_empty() || types.iter().any(is_general)) && !acts(&catch.body)
}

/// Functions that only start the work.
const STARTS: [&str; 9] = [
    "Process",
    "Thread",
    "apply_async",
    "create_task",
    "delay",
    "put",
    "spawn",
    "start",
    "submit",
];

/// Returns `true` if a loop over received messages works on one after the other.
pub(super) fn works_in_sequence(calls: &Calls<'_>, all: &[Statement], is_script: bool) -> bool {
    let of_receive = |over: &Expression| over.says(&["Messages", "receive_messages"]);
    all.iter().any(|statement| {
        let is_sequence = match &statement.kind {
            StatementKind::Loop(one) => one
                .target
                .as_ref()
                .zip(one.over.as_ref())
                .is_some_and(|(target, over)| {
                    let value = over.name().and_then(|name| calls.constants.value(name));
                    let mut names = Names::default();
                    add_names(target, &mut names);
                    let waits = |one: &Expression| match &one.kind {
                        Term::Call { callee, .. } => {
                            let starts = callee.last_name().is_some_and(|name| STARTS.contains(&name));
                            !starts && (!is_script || calls.is_awaited(one))
                        }
                        _ => false,
                    };
                    let works = |one: &Expression| takes_part(one) && mentions(one, &names) && waits(one);
                    (of_receive(over) || value.is_some_and(of_receive))
                        && one.body.iter().any(|one| call(one, &works).is_some())
                }),
            StatementKind::Function(function) => works_in_sequence(calls, &function.body, is_script),
            StatementKind::Class(class) => works_in_sequence(calls, &class.body, is_script),
            _ => false,
        };
        let mut functions = Vec::new();
        for value in values(statement) {
            value.walk(&mut |one| {
                if let Term::Function(function) = &one.kind {
                    functions.push(function);
                }
            });
        }
        is_sequence
            || statement
                .bodies()
                .into_iter()
                .any(|body| works_in_sequence(calls, body, is_script))
            || functions
                .iter()
                .any(|function| works_in_sequence(calls, &function.body, is_script))
    })
}

impl<'m> Calls<'m> {
    /// Returns the functions that delete a message and do nothing else that takes time.
    fn deleting(&self) -> FxHashSet<&'m str> {
        let mut functions: FxHashMap<&'m str, (bool, bool)> = FxHashMap::default();
        for call in &self.all {
            let Some(name) = call.function else { continue };
            let (deletes, works) = functions.entry(name).or_default();
            let is_deletion = DELETIONS.contains(&call.name()) && call.name() != "delete";
            *deletes |= is_deletion;
            *works |= !is_deletion && takes_part(call.expression);
        }
        let deleting = functions.into_iter().filter(|(_, (deletes, works))| *deletes && !works);
        deleting.map(|(name, _)| name).collect()
    }
}
