//! Reads JSON into the tree, strictly: comments and trailing commas are errors, as they are for AWS.
//! It knows nothing of templates; a policy inside a string is read here too, but its nodes all have the string's place.

mod reader;

use super::tree::{Node, Parsed, SyntaxError};
use crate::source::{FileId, Span};
use std::ops::Range;

/// Reads a whole file; of repeated keys the last counts. A byte order mark is skipped.
pub(super) fn parse(text: &str, file: FileId) -> Parsed {
    let mut duplicates = Vec::new();
    let parsed = parse_file(text, file, Some(&mut duplicates));
    Parsed { duplicates, ..parsed }
}

/// Reads a whole file and keeps every one of repeated keys: in Terraform's JSON each may be a block of its own.
pub(super) fn parse_repeating(text: &str, file: FileId) -> Parsed {
    parse_file(text, file, None)
}

fn parse_file(text: &str, file: FileId, duplicates: Option<&mut Vec<Span>>) -> Parsed {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    parse_at(body, Place::File(file, text.len() - body.len()), duplicates)
}

/// Reads a value that stands in a file after `base` bytes.
pub(super) fn parse_part(text: &str, file: FileId, base: usize) -> Parsed {
    parse_at(text, Place::File(file, base), Some(&mut Vec::new()))
}

fn parse_at(body: &str, place: Place, duplicates: Option<&mut Vec<Span>>) -> Parsed {
    let mut parsed = Parsed::default();
    match reader::read(body, &place, duplicates) {
        Ok(node) => parsed.documents.push(node),
        Err(failure) => {
            let refused = if failure.limit {
                &mut parsed.limits
            } else {
                &mut parsed.errors
            };
            refused.push(SyntaxError {
                span: place.span(failure.range),
                message: failure.message.to_owned(),
            });
        }
    }
    parsed
}

/// Reads the text of a string value; every node has the place of the string, `span`.
pub(super) fn parse_value(text: &str, span: Span) -> Result<Node, SyntaxError> {
    reader::read(text, &Place::Whole(span), Some(&mut Vec::new())).map_err(|failure| SyntaxError {
        span,
        message: failure.message.to_owned(),
    })
}

/// Where the text stands.
enum Place {
    /// In a file, after so many bytes.
    File(FileId, usize),
    /// Inside a string value.
    Whole(Span),
}

impl Place {
    fn span(&self, range: Range<usize>) -> Span {
        match *self {
            Place::File(file, base) => Span::new(file, base + range.start..base + range.end),
            Place::Whole(span) => span,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::frontend::tree::Value;
    use crate::source::Sources;
    use std::path::Path;

    fn read(text: &str) -> Parsed {
        let sources = Sources::default();
        parse(text, sources.add(Path::new("t.json"), text))
    }

    #[test]
    fn spans_cover_what_is_written() {
        let text = "\u{feff}{ \"ä\": [1, 2.5, true], \"b\": {\"c\": null, \"d\": \"x\\n\"} }\n";
        let parsed = read(text);
        let root = &parsed.documents[0];
        let under = |span: Span| &text[span.range()];
        assert_eq!(under(root.span), text.trim().trim_start_matches('\u{feff}'));
        assert_eq!(under(root.entry("ä").unwrap().key_span), "\"ä\"");
        let items = root.get("ä").unwrap().items().unwrap();
        assert_eq!(
            items.iter().map(|item| under(item.span)).collect::<Vec<_>>(),
            ["1", "2.5", "true"]
        );
        assert_eq!(
            under(root.entry("b").unwrap().span()),
            r#""b": {"c": null, "d": "x\n"}"#
        );
        assert_eq!(root.get("b").unwrap().get("d").unwrap().as_str(), Some("x\n"));
        assert_eq!(root.get("b").unwrap().get("c").unwrap().value, Value::Null);
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        let parsed = read(r#"{"a": 1, "a": 2}"#);
        assert_eq!(parsed.documents[0].get("a").unwrap().value, Value::Integer(2));
        assert_eq!(parsed.duplicates[0].range(), 1..4);
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        for text in [
            "",
            " ",
            "\u{feff}",
            "{",
            "{\"a\": 1,}",
            "// c\n{}",
            "{a: 1}",
            "{'a': 1}",
            "[1 2]",
            "{} {}",
            "[.5]",
            "[+1]",
            "[NaN]",
        ] {
            let parsed = read(text);
            assert_eq!((parsed.documents.len(), parsed.errors.len()), (0, 1), "{text}");
        }
    }

    #[test]
    fn depth_is_a_limit() {
        let run = || assert_eq!(read(&"[".repeat(100_000)).limits.len(), 1);
        std::thread::Builder::new()
            .stack_size(8 << 20)
            .spawn(run)
            .unwrap()
            .join()
            .unwrap();
    }

    #[test]
    fn a_policy_in_a_string_has_the_place_of_the_string() {
        let sources = Sources::default();
        let span = Span::new(sources.add(Path::new("t.yaml"), ""), 3..9);
        let node = parse_value(r#"{"maxReceiveCount": 3}"#, span).unwrap();
        assert_eq!(node.get("maxReceiveCount").unwrap().span, span);
        assert_eq!(parse_value("{", span).unwrap_err().span, span);
    }

    #[test]
    fn no_text_is_fatal() {
        let text = "\u{feff}{\"Ré\": {\"Q\": {\"Type\": \"AWS::SQS::Queue\", \"P\": [1, -2.5e3, true, null, \"\\u00e9\\n\\ud83d\\ude00\"]}}}\n";
        let sources = Sources::default();
        super::super::tree::hostile::maul(text, sources.add(Path::new("t.json"), text), parse);
    }

    /// Everything that is JSON is read, nothing else is, and to the same values.
    #[test]
    fn another_reader_agrees() {
        fn plain(node: &Node) -> serde_json::Value {
            match &node.value {
                Value::Null => serde_json::Value::Null,
                Value::Bool(known) => (*known).into(),
                Value::Integer(whole) => (*whole).into(),
                Value::Float(number) => (*number).into(),
                Value::String(text) => (&**text).into(),
                Value::Sequence(items) => items.iter().map(plain).collect(),
                Value::Mapping(entries) => entries
                    .iter()
                    .map(|entry| (entry.key.to_string(), plain(&entry.value)))
                    .collect(),
            }
        }
        let valid = r#" {"a\"\\\/\b\f\n\r\t": [0, -0.5, 12, 1e3, 2E-1, 3.25e+2, true, false, null, "\u00e9\ud83d\ude00"], "b": {}, "c": [[], ""]} "#;
        let marks = b" \n{}[]\",:\\/-+.01eEtfnu'_d";
        let mut texts = vec![valid.to_owned()];
        for at in 0..valid.len() {
            texts.extend(valid.get(..at).map(str::to_owned));
            for &mark in marks {
                let mut changed = valid.as_bytes().to_vec();
                changed[at] = mark;
                texts.extend(String::from_utf8(changed.clone()));
                changed.insert(at, mark);
                texts.extend(String::from_utf8(changed));
            }
        }
        // Control characters are let through, and a negative zero is a zero.
        let same = |text: &&String| !text.contains('\n') && !text.contains("-0,");
        for text in texts.iter().filter(same) {
            let expected: Option<serde_json::Value> = serde_json::from_str(text).ok();
            let parsed = read(text);
            assert_eq!(parsed.documents.first().map(plain), expected, "{text}");
        }
    }
}
