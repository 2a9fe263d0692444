//! What the readers of languages share: the text, the words in it, and how deep they go.

use super::parse::{self, MAX_DEPTH, children};
use super::syntax::{Module, Statement, TextRange};
use std::sync::Arc;
use tree_sitter::Node;

/// Goes through the syntax of one file.
pub(super) struct SyntaxReader<'s> {
    source: &'s str,
    module: Module,
    is_too_deep: bool,
}

impl<'s> SyntaxReader<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        SyntaxReader {
            source,
            module: Module::default(),
            is_too_deep: false,
        }
    }

    /// The file, whose statements are `body`; `None` where it goes too deep.
    pub(super) fn finish(mut self, body: Vec<Statement>) -> Option<Module> {
        self.module.body = body;
        (!self.is_too_deep).then_some(self.module)
    }

    /// The text of a node, which is one of the words of the file.
    pub(super) fn text(&mut self, node: Node<'_>) -> Arc<str> {
        let text = parse::text(node, self.source);
        self.module.words.insert(text.clone());
        text
    }

    /// The first line of a node.
    pub(super) fn head(&self, node: Node<'_>) -> TextRange {
        parse::head(node, self.source)
    }

    /// Whether `depth` is more than is followed.
    pub(super) fn is_beyond(&mut self, depth: usize) -> bool {
        self.is_too_deep |= depth > MAX_DEPTH;
        depth > MAX_DEPTH
    }

    /// Notes the words in what is not looked at any further.
    pub(super) fn learn(&mut self, node: Node<'_>, depth: usize) {
        if self.is_beyond(depth) {
            return;
        }
        if node.kind().ends_with("identifier") || node.kind() == "string_fragment" {
            self.text(node);
        }
        for child in children(node) {
            self.learn(child, depth + 1);
        }
    }
}
