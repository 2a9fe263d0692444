//! Index of a source file by name: functions, and values assigned to variables.

use super::syntax::{Expression, Function, Module, StatementKind, Term, walk};
use super::words::{MIDDLEWARE, TRANSPARENT};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::sync::Arc;

/// Maximum depth to which calls are followed.
pub(super) const MAX_CALLS: usize = 6;

/// Maximum number of steps for one file. A file that needs more is not understood.
const MAX_STEPS: u32 = 100_000;
/// Number of steps that a walk through a function counts as.
pub(super) const WALK: u32 = 200;

/// A module with an index of its names.
pub(super) struct File<'m> {
    pub(super) module: &'m Module,
    /// Functions and methods by name, including nested functions.
    functions: FxHashMap<&'m str, Vec<&'m Arc<Function>>>,
    /// Values assigned to a name anywhere in the file.
    values: FxHashMap<&'m str, Vec<&'m Expression>>,
    steps: Cell<u32>,
}

/// The entry point that Lambda calls.
pub(super) struct Entry<'m> {
    pub(super) function: &'m Arc<Function>,
    /// Decorators, wrappers and middlewares around it, outermost last.
    pub(super) around: Vec<&'m Expression>,
}

impl<'m> File<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        let mut functions: FxHashMap<&'m str, Vec<&'m Arc<Function>>> = FxHashMap::default();
        let mut values: FxHashMap<&'m str, Vec<&'m Expression>> = FxHashMap::default();
        let mut note = |target: &'m Expression, value: &'m Expression| match (&target.kind, &value.kind) {
            (Term::Name(name), _) => values.entry(name).or_default().push(value),
            (Term::Member(of, name), _) if is_exports(of) => values.entry(name).or_default().push(value),
            (_, Term::Object(entries)) if is_exports(target) => {
                let named = entries
                    .iter()
                    .filter_map(|(key, value)| Some((&**key.as_ref()?, value)));
                for (name, value) in named {
                    // `{ handler }` adds nothing to the name.
                    if value.name().is_none_or(|of| **of != *name) {
                        values.entry(name).or_default().push(value);
                    }
                }
            }
            _ => {}
        };
        walk(
            &module.body,
            true,
            &mut |seen| match seen.statement().map(|statement| &statement.kind) {
                Some(StatementKind::Assign {
                    target,
                    value,
                    adds: false,
                }) => note(target, value),
                Some(StatementKind::Function(function)) => {
                    if let Some(name) = &function.name {
                        functions.entry(name).or_default().push(function);
                    }
                }
                _ => {}
            },
        );
        File {
            module,
            functions,
            values,
            steps: Cell::new(0),
        }
    }

    /// Counts steps; returns `false` if there were too many.
    pub(super) fn spend(&self, steps: u32) -> bool {
        self.steps.set(self.steps.get().saturating_add(steps));
        !self.is_exhausted()
    }

    /// Returns `true` if there were too many steps.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps.get() > MAX_STEPS
    }

    /// Returns `true` if the source contains one of `words`.
    pub(super) fn says(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.module.words.contains(*word))
    }

    /// Returns the function called `name` if there is exactly one.
    pub(super) fn function(&self, name: &str) -> Option<&'m Arc<Function>> {
        match (
            self.functions.get(name).map(Vec::as_slice),
            self.values.get(name).map(Vec::as_slice),
        ) {
            (Some([only]), None) => Some(only),
            (None, Some([only])) => match &only.kind {
                Term::Function(function) => Some(function),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the function that a call of `callee` runs if this file defines it: by its name, or as a method of the
    /// same object.
    pub(super) fn called(&self, callee: &Expression) -> Option<&'m Arc<Function>> {
        match &callee.kind {
            Term::Name(name) => self.function(name),
            Term::Member(of, name) if of.name().is_some_and(|of| matches!(&**of, "self" | "this" | "cls")) => {
                self.function(name)
            }
            _ => None,
        }
    }

    /// Returns the values assigned to `name`.
    pub(super) fn values(&self, name: &str) -> &[&'m Expression] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the entry point called `name`.
    pub(super) fn entry(&self, name: &str) -> Option<Entry<'m>> {
        let mut around = Vec::new();
        let function = self.named(name, &mut around, 0)?;
        around.extend(function.decorators.iter());
        Some(Entry { function, around })
    }

    fn named(&self, name: &str, around: &mut Vec<&'m Expression>, depth: usize) -> Option<&'m Arc<Function>> {
        if let Some(function) = self.function(name) {
            return Some(function);
        }
        match self.values(name) {
            [only] => self.resolved(only, around, depth + 1),
            _ => None,
        }
    }

    /// Returns the function inside wrappers.
    fn resolved(
        &self,
        value: &'m Expression,
        around: &mut Vec<&'m Expression>,
        depth: usize,
    ) -> Option<&'m Arc<Function>> {
        if depth > MAX_CALLS || !self.spend(1) {
            return None;
        }
        match &value.kind {
            Term::Function(function) => Some(function),
            Term::Name(name) => self.named(name, around, depth),
            // A method of an object created from a class in this file.
            Term::Member(of, name) => {
                let is_made = |value: &&Expression| matches!(value.kind, Term::Call { .. });
                let is_object = of.name().is_some_and(|of| self.values(of).iter().all(is_made));
                self.function(name).filter(|_| is_object)
            }
            Term::Call { callee, arguments, .. } => {
                around.push(value);
                let given = arguments.iter().find_map(|one| self.resolved(one, around, depth + 1));
                given.or_else(|| match &callee.kind {
                    // `middy(handler).use(…)`, `lambda.handler.bind(lambda)`
                    Term::Member(of, _) => self.resolved(of, around, depth + 1),
                    _ => None,
                })
            }
            _ => None,
        }
    }
}

impl Entry<'_> {
    /// Returns `true` if nothing around it changes its return value.
    pub(super) fn is_transparent(&self) -> bool {
        self.around.iter().all(|one| {
            let name = match &one.kind {
                Term::Call { callee, .. } => callee.last_name(),
                _ => one.last_name(),
            };
            name.is_some_and(|name| TRANSPARENT.binary_search(&name).is_ok())
        })
    }

    /// Returns the middleware that creates the response from the handler's result, if there is one.
    pub(super) fn middleware(&self, file: &File<'_>) -> Option<&Expression> {
        if !file.says(&[MIDDLEWARE]) {
            return None;
        }
        let mut used = self.around.iter().filter(|one| match &one.kind {
            Term::Call { callee, .. } => callee.last_name() == Some("use"),
            _ => false,
        });
        used.next().copied()
    }
}

/// Returns `true` for `exports` and `module.exports`.
fn is_exports(of: &Expression) -> bool {
    match &of.kind {
        Term::Name(name) => &**name == "exports",
        Term::Member(of, name) => &**name == "exports" && of.name().is_some_and(|name| &**name == "module"),
        _ => false,
    }
}
