//! Finds the code that runs once per record of a batch: in loops, in callbacks, and through libraries.

use super::file::{Entry, File, MAX_CALLS};
use super::syntax::{Expression, Function, Statement, StatementKind, Term, TextRange, passed_values};
use super::words::{BATCH_FUNCTIONS, STANDARD_PROCESSORS};
use std::sync::Arc;

/// Code that runs once per record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region<'m> {
    pub(super) body: &'m [Statement],
    /// `true` if its return value is used.
    pub(super) is_used: bool,
    /// Way in which it is run.
    pub(super) runs: Runs,
    /// Place of its beginning.
    pub(super) at: &'m TextRange,
}

/// Ways to run code once per record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    /// A loop, one record after the other.
    Loop,
    /// All records concurrently.
    Together,
    /// A library.
    Library,
}

/// Search for code that runs once per record.
struct Search<'f, 'm> {
    file: &'f File<'m>,
    found: Vec<Region<'m>>,
    /// Functions already searched, by the offset of their beginning.
    seen: Vec<usize>,
    /// `true` if the return value of the entry point is used.
    answers: bool,
}

impl<'m> File<'m> {
    /// Finds the code that runs once per record of a batch passed to `entry`.
    pub(super) fn regions(&self, entry: &Entry<'m>) -> Vec<Region<'m>> {
        let mut search = Search {
            file: self,
            found: Vec::new(),
            seen: Vec::new(),
            answers: entry.middleware(self).is_some(),
        };
        for around in &entry.around {
            if let Term::Call { arguments, .. } = &around.kind {
                search.passed_to_library(arguments);
            }
        }
        search.function(entry.function, true, 0);
        search.found
    }

    /// Returns `true` if an expression is the records of a batch, or iterates over them.
    pub(super) fn is_of_records(&self, value: &Expression, depth: usize) -> bool {
        if depth > MAX_CALLS || !self.spend(1) {
            return false;
        }
        let deeper = |inner: &Expression| self.is_of_records(inner, depth + 1);
        match &value.kind {
            Term::Member(_, name) if matches!(&**name, "Records" | "records") => true,
            Term::Member(of, name) => matches!(&**name, "length" | "entries") && deeper(of),
            Term::Name(name) => self.values(name).iter().any(|value| deeper(value)),
            Term::Await(inner) => deeper(inner),
            Term::Choice(all) | Term::Other(all) => all.iter().any(deeper),
            Term::Call { callee, arguments, .. } => {
                let is_first = |names: &[&str]| callee.name().is_some_and(|name| names.contains(&&**name));
                match (&callee.kind, arguments.as_slice()) {
                    // `event.get("Records", [])`
                    (Term::Member(_, name), [key, ..]) if &**name == "get" => {
                        matches!(&key.kind, Term::Text(key) if &**key == "Records")
                    }
                    (Term::Member(of, name), []) => &**name == "entries" && deeper(of),
                    (_, [only, ..]) if is_first(&["enumerate", "list", "reversed", "iter", "len"]) => deeper(only),
                    _ => false,
                }
            }
            _ => false,
        }
    }
}

impl<'m> Search<'_, 'm> {
    fn function(&mut self, function: &'m Arc<Function>, is_entry: bool, depth: usize) {
        if depth > MAX_CALLS || self.seen.contains(&function.at.start) {
            return;
        }
        self.seen.push(function.at.start);
        self.statements(&function.body, is_entry, depth);
    }

    fn statements(&mut self, body: &'m [Statement], is_entry: bool, depth: usize) {
        for statement in body {
            if let StatementKind::Loop {
                over: Some(over), body, ..
            } = &statement.kind
                && self.file.is_of_records(over, 0)
            {
                self.add(body, false, Runs::Loop, &statement.at);
            }
            let is_used = match &statement.kind {
                StatementKind::Expression(_) => false,
                // Lambda ignores a returned list.
                StatementKind::Return(_) => self.answers || !is_entry,
                _ => true,
            };
            for expression in statement.expressions() {
                self.expression(expression, is_used, depth);
            }
            for inner in statement.inner() {
                self.statements(inner, is_entry, depth);
            }
        }
    }

    fn expression(&mut self, value: &'m Expression, is_used: bool, depth: usize) {
        match &value.kind {
            Term::Await(inner) => self.expression(inner, is_used, depth),
            Term::Function(function) => self.function(function, false, depth + 1),
            Term::Call { callee, arguments, .. } => {
                let name = callee.last_name().unwrap_or_default();
                if BATCH_FUNCTIONS.contains(&name) || STANDARD_PROCESSORS.contains(&name) || name.ends_with("rocessor")
                {
                    self.passed_to_library(arguments);
                }
                let is_all = callee.first_name() == Some("Promise");
                if let (Term::Member(of, _), "forEach" | "map", [argument, ..]) =
                    (&callee.kind, name, arguments.as_slice())
                    && self.file.is_of_records(of, 0)
                    && let Some(function) = self.passed_function(argument)
                {
                    self.add(&function.body, is_used && name == "map", Runs::Together, &function.at);
                    return;
                }
                if let Some(called) = self.file.called(callee) {
                    self.function(called, false, depth + 1);
                }
                for argument in arguments {
                    self.expression(argument, is_used || !is_all, depth);
                }
                for part in callee.parts() {
                    self.expression(part, true, depth);
                }
            }
            _ => {
                for part in value.parts() {
                    self.expression(part, true, depth);
                }
            }
        }
    }

    /// Adds the functions among the arguments of a batch processor.
    fn passed_to_library(&mut self, arguments: &'m [Expression]) {
        for (_, argument) in passed_values(arguments) {
            if let Some(function) = self.passed_function(argument) {
                self.add(&function.body, false, Runs::Library, &function.at);
            }
        }
    }

    /// Returns the function that is passed by name or as a literal.
    fn passed_function(&self, value: &'m Expression) -> Option<&'m Arc<Function>> {
        match &value.kind {
            Term::Function(function) => Some(function),
            _ => self.file.called(value),
        }
    }

    fn add(&mut self, body: &'m [Statement], is_used: bool, runs: Runs, at: &'m TextRange) {
        if self.found.iter().all(|known| known.at != at) {
            self.found.push(Region {
                body,
                is_used,
                runs,
                at,
            });
        }
    }
}
