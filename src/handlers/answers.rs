//! Determines what a function returns over all of its paths: failed messages, nothing that Lambda evaluates, or an
//! unknown value.

use super::file::{File, MAX_CALLS, WALK};
use super::syntax::{Expression, Function, Statement, StatementKind, Term, TextRange, passed_values, walk};
use super::words::{BATCH_FUNCTIONS, FAILURES, FIFO_PROCESSORS, STANDARD_PROCESSORS, is_harmless};

/// Possible results of a function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Answers {
    /// Place of a response with failed messages, if there is one.
    pub(super) failures: Option<TextRange>,
    /// `true` if some path may return anything.
    pub(super) is_unknown: bool,
}

impl Answers {
    fn unknown() -> Self {
        Answers {
            failures: None,
            is_unknown: true,
        }
    }

    fn failures(at: &TextRange) -> Self {
        Answers {
            failures: Some(at.clone()),
            is_unknown: false,
        }
    }

    fn or(self, other: Answers) -> Self {
        Answers {
            failures: self.failures.or(other.failures),
            is_unknown: self.is_unknown || other.is_unknown,
        }
    }
}

impl<'m> File<'m> {
    /// Determines the results of `function`. An entry point may also respond through a callback.
    pub(super) fn answers_of(&self, function: &'m Function, is_entry: bool, depth: usize) -> Answers {
        if depth > MAX_CALLS || !self.spend(WALK) {
            return Answers::unknown();
        }
        let mut all = Answers::default();
        for value in returned(&function.body) {
            all = all.or(self.answer(value, function, depth));
        }
        let callback = function.parameters.get(2).and_then(Option::as_ref).filter(|_| is_entry);
        if let Some(callback) = callback {
            all = all.or(self.through(callback, function, depth));
        }
        let context = function.parameters.get(1).and_then(Option::as_ref).filter(|_| is_entry);
        if let Some(context) = context
            && ends_by(&function.body, context)
        {
            all = all.or(Answers::unknown());
        }
        all
    }

    /// Determines the values that `function` passes to its callback.
    fn through(&self, callback: &str, function: &'m Function, depth: usize) -> Answers {
        let mut all = Answers::default();
        walk(&function.body, true, &mut |seen| {
            let Some((_, callee, arguments)) = seen.call() else {
                return;
            };
            if is_called(callee, callback) {
                if let Some(value) = arguments.get(1) {
                    all = std::mem::take(&mut all).or(self.answer(value, function, depth));
                }
            } else if passed_values(arguments).any(|(_, one)| is_called(one, callback)) {
                all.is_unknown = true;
            }
        });
        all
    }

    /// Determines the value of an expression in `function`.
    pub(super) fn answer(&self, value: &'m Expression, function: &'m Function, depth: usize) -> Answers {
        if depth > MAX_CALLS || !self.spend(1) {
            return Answers::unknown();
        }
        let deeper = |inner: &'m Expression| self.answer(inner, function, depth + 1);
        match &value.kind {
            Term::Literal | Term::Text(_) | Term::List(_) | Term::Each { .. } => Answers::default(),
            Term::Await(inner) => deeper(inner),
            Term::Choice(all) => all.iter().map(deeper).fold(Answers::default(), Answers::or),
            Term::Object(entries) => {
                let mut named = entries.iter().filter(|(key, _)| key.as_deref() == Some(FAILURES));
                match named.next() {
                    Some((_, listed)) if self.is_always_empty(listed) => Answers::unknown(),
                    Some(_) => Answers::failures(&value.at),
                    None if entries.iter().any(|(key, _)| key.is_none()) => Answers::unknown(),
                    None => Answers::default(),
                }
            }
            Term::Name(name) => self.variable(name, function, depth),
            Term::Call {
                callee,
                arguments,
                is_new,
            } => {
                let name = callee.last_name().unwrap_or_default();
                if BATCH_FUNCTIONS.contains(&name) {
                    return Answers::failures(&value.at);
                }
                let is_processor = self.says(&STANDARD_PROCESSORS) || self.says(&FIFO_PROCESSORS);
                if name == "response" && arguments.is_empty() && is_processor {
                    return Answers::failures(&value.at);
                }
                if let Some(called) = self.called(callee).filter(|_| !is_new) {
                    // A generator returns no response, and a decorator may return another one.
                    return if called.decorators.is_empty() {
                        self.answers_of(called, false, depth + 1)
                    } else {
                        Answers::unknown()
                    };
                }
                match (callee.first_name(), name, arguments.as_slice()) {
                    (Some("asyncio"), "run" | "run_until_complete", [only]) => deeper(only),
                    (_, "run_until_complete", [only]) => deeper(only),
                    (Some("asyncio"), "gather", _) => Answers::default(),
                    (Some("Promise"), "all" | "allSettled", _) => Answers::default(),
                    (Some("Promise"), "resolve", []) => Answers::default(),
                    (Some("Promise"), "resolve", [only]) => deeper(only),
                    (Some("console" | "print"), ..) => Answers::default(),
                    _ => Answers::unknown(),
                }
            }
            _ => Answers::unknown(),
        }
    }

    /// Determines the values that a variable may have when it is returned.
    fn variable(&self, name: &str, function: &'m Function, depth: usize) -> Answers {
        if !self.spend(WALK) {
            return Answers::unknown();
        }
        let mut all = Answers::default();
        let (mut is_given, mut is_handed_out, mut pushed) = (false, false, None);
        walk(&function.body, true, &mut |seen| {
            if let Some((whole, callee, arguments)) = seen.call() {
                // `response.batchItemFailures.push(…)`, `response["batchItemFailures"].append(…)`
                if let Term::Member(list, _) = &callee.kind
                    && let Term::Member(of, key) = &list.kind
                    && &**key == FAILURES
                    && is_called(of, name)
                {
                    pushed = pushed.take().or(Some(whole.at.clone()));
                }
                let is_argument = passed_values(arguments).any(|(_, one)| is_called(one, name));
                is_handed_out |= is_argument && !is_harmless(callee);
            }
            let Some(statement) = seen.statement() else {
                return;
            };
            let StatementKind::Assign { target, value, adds } = &statement.kind else {
                return;
            };
            match &target.kind {
                Term::Name(of) if **of == *name => {
                    is_given = true;
                    all.is_unknown |= adds;
                    if !adds {
                        all = std::mem::take(&mut all).or(self.answer(value, function, depth + 1));
                    }
                }
                Term::Member(of, key) if is_called(of, name) && &**key == FAILURES && !self.is_always_empty(value) => {
                    all = std::mem::take(&mut all).or(Answers::failures(&statement.at));
                }
                _ => {}
            }
        });
        if let Some(at) = pushed {
            return Answers::failures(&at);
        }
        if !is_given && all.failures.is_none() {
            return match self.values(name) {
                // A variable of the module.
                [only] if matches!(only.kind, Term::Object(_) | Term::Literal | Term::Text(_)) && !is_handed_out => {
                    self.answer(only, function, depth + 1)
                }
                _ => Answers::unknown(),
            };
        }
        all.is_unknown |= is_handed_out;
        all
    }

    /// Returns `true` if a list always stays empty.
    fn is_always_empty(&self, list: &Expression) -> bool {
        let name = match &list.kind {
            Term::List(items) => return items.is_empty(),
            Term::Name(name) => name,
            _ => return false,
        };
        if !self.spend(WALK) {
            return false;
        }
        let given_to_it = self.values(name);
        let is_empty = |value: &&Expression| matches!(&value.kind, Term::List(items) if items.is_empty());
        if given_to_it.is_empty() || !given_to_it.iter().all(is_empty) {
            return false;
        }
        let is_it = |of: &Expression| is_called(of, name);
        let mut may_grow = false;
        walk(&self.module.body, true, &mut |seen| {
            if let Some((_, callee, arguments)) = seen.call() {
                may_grow |= matches!(&callee.kind, Term::Member(of, _) if is_it(of));
                may_grow |= passed_values(arguments).any(|(_, one)| is_it(one)) && !is_harmless(callee);
            }
            if let Some(StatementKind::Assign { target, adds: true, .. }) =
                seen.statement().map(|statement| &statement.kind)
            {
                may_grow |= is_it(target);
            }
        });
        !may_grow
    }
}

/// Returns `true` if an expression is the variable `name`.
fn is_called(expression: &Expression, name: &str) -> bool {
    expression.name().is_some_and(|found| **found == *name)
}

/// Returns the values that a body returns, without those of nested functions.
pub(super) fn returned(body: &[Statement]) -> Vec<&Expression> {
    let mut all = Vec::new();
    collect(body, &mut all);
    all
}

fn collect<'s>(body: &'s [Statement], all: &mut Vec<&'s Expression>) {
    for statement in body {
        if let StatementKind::Return(Some(value)) = &statement.kind {
            all.push(value);
        }
        if !matches!(statement.kind, StatementKind::Class(_)) {
            for inner in statement.inner() {
                collect(inner, all);
            }
        }
    }
}

/// Returns `true` if the invocation is ended through its context, as in Node.js 0.10.
fn ends_by(body: &[Statement], context: &str) -> bool {
    let mut found = false;
    walk(body, true, &mut |seen| {
        if let Some(Term::Member(of, name)) = seen.expression().map(|expression| &expression.kind) {
            let is_end = matches!(&**name, "succeed" | "done" | "fail");
            found |= is_end && is_called(of, context);
        }
    });
    found
}
