//! Text to a syntax tree, within bounds: how long it may take is counted in steps and not in time.

use std::ops::ControlFlow;
use std::sync::Arc;
use tree_sitter::{Language, Node, ParseOptions, Parser, Tree};

/// Longer files are not read.
pub(super) const LARGEST: u64 = 512 << 10;
/// Steps of the parser between two of which it asks to go on. A file of the largest size takes fewer.
const MAX_PROGRESS: usize = 200_000;
/// Syntax is not followed deeper than this.
pub(super) const MAX_DEPTH: usize = 200;
/// People write no line that is longer; tools that pack code do.
const LONGEST_LINE: usize = 2_000;
/// What bundlers and compilers leave in what they write.
const OF_TOOLS: [&str; 6] = [
    "__webpack_require__",
    "__commonJS",
    "__defProp = Object.defineProperty",
    "Object.defineProperty(exports, \"__esModule\"",
    "Object.defineProperty(exports, '__esModule'",
    "//# sourceMappingURL=",
];

/// Whether a tool wrote `text` from another source.
pub(super) fn is_built(text: &str) -> bool {
    text.lines().any(|line| line.len() > LONGEST_LINE) || OF_TOOLS.iter().any(|mark| text.contains(mark))
}

/// The syntax of `text`; `None` where some of it is not of the language, or takes too long.
pub(super) fn parse(text: &str, language: &Language) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    let mut steps = 0;
    let mut progress = |_: &tree_sitter::ParseState| {
        steps += 1;
        if steps > MAX_PROGRESS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree = parser.parse_with_options(
        &mut |at, _| text.as_bytes().get(at..).unwrap_or(&[]),
        None,
        Some(options),
    )?;
    (!tree.root_node().has_error()).then_some(tree)
}

/// The named children of a node that are no comments.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    let named = node.named_children(&mut cursor);
    named.filter(|child| !child.kind().contains("comment")).collect()
}

/// The children of a node in a field.
pub(super) fn fields<'t>(node: Node<'t>, field: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(field, &mut cursor)
        .filter(Node::is_named)
        .collect()
}

/// The text of a node.
pub(super) fn text(node: Node<'_>, source: &str) -> Arc<str> {
    source.get(node.byte_range()).unwrap_or_default().into()
}

/// The first line of a node.
pub(super) fn head(node: Node<'_>, source: &str) -> std::ops::Range<usize> {
    let whole = node.byte_range();
    let written = source.get(whole.clone()).unwrap_or_default();
    let line = written.lines().next().unwrap_or_default().trim_end();
    whole.start..whole.start + line.len()
}
