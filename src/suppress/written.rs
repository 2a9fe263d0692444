//! Suppressions as frontends pass them, which know where comments are and what they cover.

use source::Span;

/// Suppression with what it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawSuppression {
    /// Span to report. For [`Content::Text`], the span of the text, unless the text was decoded.
    pub span: Span,
    /// Content of the suppression.
    pub content: Content,
    /// Element that follows the suppression, or that precedes it on its line.
    pub covers: Coverage,
    /// `true` if it is at the start of its file, so that it may cover the whole file.
    pub leading: bool,
}

/// Content of a suppression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The text after `sqslint:`.
    Text(String),
    /// An entry of a list in metadata.
    Fields(SuppressionFields),
}

/// Suppression in metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuppressionFields {
    /// Rules and categories.
    pub rules: Vec<String>,
    /// Reason, if given.
    pub reason: Option<String>,
    /// Last day on which the suppression is valid.
    pub until: Option<String>,
    /// An unknown key, with the known keys.
    pub unknown: Option<(String, &'static [&'static str])>,
}

/// Coverage of a suppression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// No element: none follows, or precedes it on its line.
    Nothing,
    /// All elements that begin within this span.
    Span(Span),
    /// The whole file.
    File,
}

/// Marker of comments for sqslint.
pub(crate) const MARKER: &str = "sqslint:";

/// Returns `true` if `text` may contain a suppression; most files do not.
pub fn may_suppress(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"sqslint").is_some()
}

/// Returns the directives for sqslint in a comment, which includes its comment signs. A directive is at the start of a
/// line, or follows another remark and a comment sign.
pub fn directives(comment: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut offset = 0;
    for line in comment.split_inclusive('\n') {
        if let Some(at) = directive(line) {
            let text = line.get(at..).unwrap_or("").trim_end();
            let text = text.strip_suffix("*/").unwrap_or(text).trim_end();
            found.push((offset + at, text));
        }
        offset += line.len();
    }
    found
}

/// Returns the offset after the marker, if only comment signs and spaces precede it, or a comment sign immediately
/// does.
fn directive(line: &str) -> Option<usize> {
    let is_sign = |c: char| matches!(c, '#' | '/' | '*');
    let mut from = 0;
    while let Some(at) = line.get(from..)?.find(MARKER) {
        let at = from + at;
        let before = line.get(..at)?;
        let spaced = before.trim_end();
        let is_first = before.chars().all(|c| is_sign(c) || c.is_whitespace());
        if is_first || spaced.ends_with(is_sign) {
            return Some(at + MARKER.len());
        }
        from = at + MARKER.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_follows_a_comment_sign() {
        let cases: &[(&str, &[&str])] = &[
            ("# sqslint: ignore[a]", &["ignore[a]"]),
            ("//sqslint:ignore[a]", &["ignore[a]"]),
            ("/* sqslint: ignore[a] why */", &["ignore[a] why"]),
            (
                "/*\n * sqslint: ignore[a]\r\n * other\n * sqslint: ignore[b] */",
                &["ignore[a]", "ignore[b]"],
            ),
            ("# why # sqslint: ignore[a]", &["ignore[a]"]),
            ("# see sqslint: ignore[a]", &[]),
            ("# see sqslint: x # sqslint: ignore[a]", &["ignore[a]"]),
            ("# sqslintx: ignore[a]", &[]),
        ];
        for (comment, expected) in cases {
            let found: Vec<&str> = directives(comment).iter().map(|(_, text)| text.trim()).collect();
            assert_eq!(&found, expected, "{comment}");
            for (at, text) in directives(comment) {
                assert!(comment[at..].starts_with(text));
            }
        }
    }
}
