//! Common state of the readers of languages: the words of a file, and the depth of its syntax.

use super::syntax::{Expression, Module, Statement, StatementKind, Term, TextRange};
use crate::limits;
use std::sync::Arc;

/// Converts the syntax of one file.
pub(crate) struct SyntaxReader<'s> {
    source: &'s str,
    module: Module,
    depth: usize,
    is_too_deep: bool,
}

impl<'s> SyntaxReader<'s> {
    pub(crate) fn new(source: &'s str, is_script: bool) -> Self {
        let module = Module {
            is_script,
            ..Module::default()
        };
        SyntaxReader {
            source,
            module,
            depth: 0,
            is_too_deep: false,
        }
    }

    /// Returns the file with the statements `body`, or `None` if its syntax is too deep.
    pub(crate) fn finish(mut self, body: Vec<Statement>) -> Option<Module> {
        self.module.body = body;
        (!self.is_too_deep).then_some(self.module)
    }

    /// Enters a nested construct; returns `false` if it is too deep. [`leave`](Self::leave) follows in both cases.
    pub(crate) fn enter(&mut self) -> bool {
        self.depth += 1;
        self.is_too_deep |= self.depth > limits::MAX_SYNTAX_DEPTH;
        !self.is_too_deep
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Returns a word of the file.
    pub(crate) fn word(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.module.words.get(text) {
            return known.clone();
        }
        let word: Arc<str> = text.into();
        if text.len() <= limits::MAX_KEPT_TEXT {
            self.module.words.insert(word.clone());
        }
        word
    }

    /// Notes the file that names are imported from.
    pub(crate) fn add_imports(&mut self, names: &[Arc<str>], from: &Arc<str>) {
        let all = names.iter().map(|name| (name.clone(), from.clone()));
        self.module.imports.extend(all);
    }

    /// Notes that a member of the expression that ends at `end` is read only if there is one.
    pub(crate) fn add_optional(&mut self, end: usize) {
        self.module.optional.insert(end);
    }

    /// Returns the text at `at`.
    pub(crate) fn text(&self, at: TextRange) -> &'s str {
        self.source.get(at).unwrap_or_default()
    }

    /// Returns the range of the first line of `at`.
    pub(crate) fn head(&self, at: TextRange) -> TextRange {
        let line = self.text(at.clone()).lines().next().unwrap_or_default().trim_end();
        at.start..at.start + line.len()
    }
}

/// Returns an expression.
pub(crate) fn expression(kind: Term, at: TextRange) -> Expression {
    Expression { kind, at }
}

/// Returns an assignment to a name in the block.
pub(crate) fn named(name: Arc<str>, value: Expression, at: TextRange) -> Statement {
    use super::syntax::Declares;
    let target = expression(Term::Name(name), at.clone());
    let kind = StatementKind::Assign {
        target,
        value,
        declares: Declares::Block,
    };
    Statement { kind, at }
}
