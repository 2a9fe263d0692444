//! A suppression as it stands in a file: what frontends hand over, who know where comments are and what they cover.

use crate::source::Span;

/// A suppression, and what it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The place to point at. That of [`Content::Text`] is the text itself, unless it was decoded.
    pub span: Span,
    /// What it says.
    pub content: Content,
    /// What follows it, or stands before it on its line.
    pub covers: Cover,
    /// Whether it stands before everything else in its file, so that it may be for all of it.
    pub leading: bool,
}

/// What a suppression says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// What stands behind `sqslint:`.
    Text(String),
    /// An entry of a list in the metadata.
    Fields(Fields),
}

/// A suppression in fields of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// Rules and categories.
    pub rules: Vec<String>,
    /// Why.
    pub reason: Option<String>,
    /// To the end of this day.
    pub until: Option<String>,
    /// A key that means nothing here, and those that do.
    pub unknown: Option<(String, &'static [&'static str])>,
}

/// What a suppression covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    /// Nothing: no element follows, none stands before it.
    Nothing,
    /// What begins in here.
    Place(Span),
    /// The whole file.
    File,
}

/// Behind this word a comment speaks to sqslint.
const MARKER: &str = "sqslint:";

/// Whether `text` may hold a suppression at all; most files do not.
pub fn may_suppress(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"sqslint").is_some()
}

/// Where in a comment, given with its signs, stands what it says to sqslint: at its beginning, or behind another
/// remark and a sign. Of a comment over several lines each may say something.
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

/// The offset behind the marker, if only signs of comments and spaces stand before it, or such a sign just before.
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
    fn the_marker_stands_behind_a_sign() {
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
