//! Reads JSON into the tree, strictly: comments and trailing commas are errors, as they are for AWS.
//! It knows nothing of templates; a policy inside a string is read here too, but its nodes all have the string's place.

use super::tree::{Entry, Node, Parsed, SyntaxError, Value, keep_last, note_repeated};
use crate::source::{FileId, Span};
use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::Arc;

/// Reads a whole file; of repeated keys the last counts. A byte order mark is skipped.
pub(super) fn parse(text: &str, file: FileId) -> Parsed {
    parse_file(text, file, Repeated::Last)
}

/// Reads a whole file and keeps every one of repeated keys: in Terraform's JSON each may be a block of its own.
pub(super) fn parse_repeating(text: &str, file: FileId) -> Parsed {
    parse_file(text, file, Repeated::All)
}

fn parse_file(text: &str, file: FileId, repeated: Repeated) -> Parsed {
    #[cfg(test)]
    crate::source::parsed(text);
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    parse_at(body, Place::File(file, text.len() - body.len()), repeated)
}

/// Which of repeated keys count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeated {
    Last,
    All,
}

/// Reads a value that stands in a file after `base` bytes.
pub(super) fn parse_part(text: &str, file: FileId, base: usize) -> Parsed {
    parse_at(text, Place::File(file, base), Repeated::Last)
}

fn parse_at(body: &str, place: Place, repeated: Repeated) -> Parsed {
    let mut parsed = Parsed::default();
    match read(body) {
        Ok(Some(value)) => {
            let root = convert(value, &place, repeated, &mut parsed.duplicates);
            parsed.documents.push(root);
        }
        Ok(None) => parsed.errors.push(SyntaxError {
            span: place.span(0..0),
            message: "it is empty".to_owned(),
        }),
        Err(error) => {
            let range = error.range();
            let failure = SyntaxError {
                span: place.span(range.start..range.end.min(body.len()).max(range.start)),
                message: message(&error),
            };
            if matches!(error.kind(), ParseErrorKind::NestingDepthExceeded) {
                parsed.limits.push(failure);
            } else {
                parsed.errors.push(failure);
            }
        }
    }
    parsed
}

/// Reads the text of a string value; every node has the place of the string, `span`.
pub(super) fn parse_value(text: &str, span: Span) -> Result<Node, SyntaxError> {
    match read(text) {
        Ok(Some(value)) => Ok(convert(value, &Place::Whole(span), Repeated::Last, &mut Vec::new())),
        Ok(None) => Err(SyntaxError {
            span,
            message: "it is empty".to_owned(),
        }),
        Err(error) => Err(SyntaxError {
            span,
            message: message(&error),
        }),
    }
}

fn read(text: &str) -> Result<Option<ast::Value<'_>>, ParseError> {
    let strict = ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    Ok(parse_to_ast(text, &CollectOptions::default(), &strict)?.value)
}

/// The parser's words in our style: no capital, no full stop.
fn message(error: &ParseError) -> String {
    match error.kind() {
        ParseErrorKind::NestingDepthExceeded => "values are nested more than 512 levels deep".to_owned(),
        kind => {
            let text = kind.to_string();
            let mut letters = text.chars();
            letters
                .next()
                .map(|first| first.to_lowercase().chain(letters).collect())
                .unwrap_or_default()
        }
    }
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

    fn of(&self, ranged: &impl Ranged) -> Span {
        let range = ranged.range();
        self.span(range.start..range.end)
    }
}

fn convert(value: ast::Value<'_>, place: &Place, repeated: Repeated, duplicates: &mut Vec<Span>) -> Node {
    let mut tree = Tree {
        place,
        repeated,
        duplicates,
        keys: FxHashSet::default(),
    };
    tree.node(value)
}

/// Makes the tree of one text.
struct Tree<'a> {
    place: &'a Place,
    repeated: Repeated,
    /// Keys that are written again later.
    duplicates: &'a mut Vec<Span>,
    /// Each key once: templates of megabytes have few of them.
    keys: FxHashSet<Arc<str>>,
}

impl Tree<'_> {
    /// The parser bounds the depth, so this recursion is bounded too.
    fn node(&mut self, value: ast::Value<'_>) -> Node {
        let span = self.place.of(&value);
        let value = match value {
            ast::Value::StringLit(text) => Value::String(Arc::from(text.value.as_ref())),
            ast::Value::NumberLit(number) => number_of(number.value),
            ast::Value::BooleanLit(boolean) => Value::Bool(boolean.value),
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::Array(array) => {
                // A list of its own: one that takes the parser's place would keep its room.
                let mut items = Vec::with_capacity(array.elements.len());
                items.extend(array.elements.into_iter().map(|item| self.node(item)));
                Value::Sequence(items)
            }
            ast::Value::Object(object) => {
                let mut entries = Vec::with_capacity(object.properties.len());
                for property in object.properties {
                    entries.push(Entry {
                        key: self.key(property.name.as_str()),
                        key_span: self.place.of(&property.name),
                        value: self.node(property.value),
                    });
                }
                Value::Mapping(match self.repeated {
                    Repeated::Last => keep_last(entries, self.duplicates),
                    Repeated::All => {
                        note_repeated(&entries, self.duplicates);
                        entries
                    }
                })
            }
        };
        Node { span, value }
    }

    fn key(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.keys.get(text) {
            return known.clone();
        }
        let key: Arc<str> = text.into();
        self.keys.insert(key.clone());
        key
    }
}

fn number_of(text: &str) -> Value {
    if let Ok(whole) = text.parse() {
        return Value::Integer(whole);
    }
    text.parse()
        .map_or_else(|_| Value::String(Arc::from(text)), Value::Float)
}

/// Whether the end of `text` lies inside a string.
pub(super) fn ends_in_string(text: &str) -> bool {
    let (mut inside, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => inside = !inside,
            _ => {}
        }
    }
    inside
}

/// Whether no text that begins with `text` is JSON.
pub(super) fn is_faulty(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_err_and(|error| !error.is_eof())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
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
}
