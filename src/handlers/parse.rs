//! Parses text to a syntax tree, within bounds. The bounds on the duration count steps and reads, not time, so that the
//! result does not depend on the machine.
//!
//! A syntax error ends the parse, because the parser may need minutes and gigabytes to recover from thousands of
//! errors. Some recoveries appear only in its log, and logging makes it several times slower, so a parse has two
//! rounds:
//!
//! ```text
//! steps 1 to 16     without a log, which is enough for small files
//! steps 17 to 4000  with a log; the first entry about a recovery ends the parse
//! ```

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tree_sitter::{Language, Node, ParseOptions, ParseState, Parser, Tree};

/// Maximum size of a file in bytes. Larger files are not read.
pub(super) const LARGEST: u64 = 64 << 10;
/// Maximum number of steps of a parse, of 100 operations each. Real files of the maximum size need up to 500.
const MAX_STEPS: usize = 4_000;
/// Number of steps without a log. They must be few, because recovery from errors takes at least quadratic time.
const UNLOGGED_STEPS: usize = 16;
/// Size in bytes of the pieces in which the parser reads the text.
const PIECE: usize = 1 << 10;
/// Maximum number of pieces that the parser may read. At each comment line, the scanner for Python reads ahead to the
/// end of the comments. Real files of the maximum size need up to 550.
const MAX_PIECES: usize = 16_384;
/// Beginning of the log entry for the first step of a recovery. `ParseState::has_error` misses errors from which the
/// parser recovers at once.
const RECOVERY: &str = "resume version";
/// Maximum depth of syntax.
pub(super) const MAX_DEPTH: usize = 200;
/// Maximum length of a line. Longer ones are written by bundlers, not by people.
const LONGEST_LINE: usize = 2_000;
/// Markers in the output of bundlers and compilers.
const OF_TOOLS: [&str; 6] = [
    "__webpack_require__",
    "__commonJS",
    "__defProp = Object.defineProperty",
    "Object.defineProperty(exports, \"__esModule\"",
    "Object.defineProperty(exports, '__esModule'",
    "//# sourceMappingURL=",
];

/// Returns `true` if `text` is generated from another source.
pub(super) fn is_built(text: &str) -> bool {
    text.lines().any(|line| line.len() > LONGEST_LINE) || OF_TOOLS.iter().any(|mark| text.contains(mark))
}

/// Parses `text`, or returns `None` if it has a syntax error or takes too many steps.
pub(super) fn parse(text: &str, language: &Language) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    bounded(&mut parser, text).0
}

/// Parses `text` like [`parse`], and also returns the number of steps.
fn bounded(parser: &mut Parser, text: &str) -> (Option<Tree>, usize) {
    let has_error = Arc::new(AtomicBool::new(false));
    let (steps, pieces) = (Cell::new(0), Cell::new(0));
    let is_beyond = || steps.get() > MAX_STEPS || pieces.get() > MAX_PIECES || has_error.load(Ordering::Relaxed);
    let mut piece = |at: usize, _| {
        pieces.set(pieces.get() + 1);
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        // The scanner may read many pieces within one step, in which it cannot be stopped. It gets the end of the text
        // instead.
        let size = if pieces.get() > MAX_PIECES { 0 } else { PIECE };
        rest.get(..size).unwrap_or(rest)
    };
    for most in [UNLOGGED_STEPS, MAX_STEPS] {
        let mut progress = |state: &ParseState| {
            steps.set(steps.get() + 1);
            if steps.get() > most || state.has_error() || is_beyond() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        if let Some(tree) = parser.parse_with_options(&mut piece, None, Some(options)) {
            let is_valid = !tree.root_node().has_error() && !is_beyond();
            return (is_valid.then_some(tree), steps.get());
        }
        // The second round continues where the first one stopped.
        let has_error = Arc::clone(&has_error);
        parser.set_logger(Some(Box::new(move |_, entry| {
            has_error.fetch_or(entry.starts_with(RECOVERY), Ordering::Relaxed);
        })));
    }
    (None, steps.get())
}

/// Returns the named children of a node, except comments.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    let named = node.named_children(&mut cursor);
    named.filter(|child| !child.kind().contains("comment")).collect()
}

/// Returns the children of a node in a field.
pub(super) fn fields<'t>(node: Node<'t>, field: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(field, &mut cursor)
        .filter(Node::is_named)
        .collect()
}

/// Returns the text of a node.
pub(super) fn text(node: Node<'_>, source: &str) -> Arc<str> {
    source.get(node.byte_range()).unwrap_or_default().into()
}

/// Returns the range of the first line of a node.
pub(super) fn head(node: Node<'_>, source: &str) -> std::ops::Range<usize> {
    let whole = node.byte_range();
    let written = source.get(whole.clone()).unwrap_or_default();
    let line = written.lines().next().unwrap_or_default().trim_end();
    whole.start..whole.start + line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of steps, and `true` if `text` was parsed.
    fn parsed(text: &str, language: &Language) -> (usize, bool) {
        let mut parser = Parser::new();
        parser.set_language(language).unwrap();
        let (tree, steps) = bounded(&mut parser, text);
        (steps, tree.is_some())
    }

    /// Fails if an update of the parser changes the log entry [`RECOVERY`].
    #[test]
    fn parse_stops_soon_after_an_error() {
        let go = tree_sitter_go::LANGUAGE.into();
        let broken = "]\n*/\n".repeat(4_000);
        assert_eq!(parsed(&broken, &go), (UNLOGGED_STEPS + 2, false));
        let valid = "var a = []int{1, 2, 3}\n".repeat(1_000);
        let valid = format!("package main\n{valid}");
        let (steps, is_read) = parsed(&valid, &go);
        assert!(steps > 2 * UNLOGGED_STEPS && is_read, "{steps}");
        assert!(!parsed(&(valid + &broken), &go).1);
    }

    #[test]
    fn lookahead_of_the_scanner_is_bounded() {
        let python = tree_sitter_python::LANGUAGE.into();
        let commented = |lines: usize| {
            let comments = "    # the courier\n".repeat(lines);
            format!("def handler(event, context):\n    work(event)\n{comments}    return None\n")
        };
        assert!(parsed(&commented(500), &python).1);
        assert!(!parsed(&commented(3_000), &python).1);
    }
}
