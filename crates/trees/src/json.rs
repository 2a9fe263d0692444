//! Parses JSON into the syntax tree, strictly: comments and trailing commas are errors, as they are for AWS. It knows
//! nothing of templates. A policy inside a string is parsed here too, but each of its nodes has the span of the string.

use super::{Entry, Node, Parsed, SyntaxError, Value, keep_last, note_repeated};
use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use rustc_hash::FxHashSet;
use source::{FileId, Span};
use std::ops::Range;
use std::sync::Arc;

/// Parses a whole file. The last of repeated keys wins. A byte order mark is skipped.
pub fn parse(text: &str, file: FileId) -> Parsed {
    parse_file(text, file, RepeatedKeys::Last)
}

/// Parses a whole file and keeps all repeated keys: in Terraform's JSON each may be a separate block.
pub fn parse_repeating(text: &str, file: FileId) -> Parsed {
    parse_file(text, file, RepeatedKeys::All)
}

fn parse_file(text: &str, file: FileId, repeated_keys: RepeatedKeys) -> Parsed {
    source::parsed(text);
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    parse_at(body, TextLocation::File(file, text.len() - body.len()), repeated_keys)
}

/// Treatment of repeated keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RepeatedKeys {
    Last,
    All,
}

/// Parses a value that begins at byte `base` of a file.
pub fn parse_part(text: &str, file: FileId, base: usize) -> Parsed {
    parse_at(text, TextLocation::File(file, base), RepeatedKeys::Last)
}

fn parse_at(body: &str, location: TextLocation, repeated_keys: RepeatedKeys) -> Parsed {
    let mut parsed = Parsed::default();
    match read(body) {
        Ok(Some(value)) => {
            let root = convert(value, &location, repeated_keys, &mut parsed.duplicates);
            parsed.documents.push(root);
        }
        Ok(None) => parsed.errors.push(SyntaxError {
            span: location.span(0..0),
            message: "it is empty".to_owned(),
        }),
        Err(error) => {
            let range = error.range();
            let failure = SyntaxError {
                span: location.span(range.start..range.end.min(body.len()).max(range.start)),
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

/// Parses the text of a string value; every node has the span of the string, `span`.
pub fn parse_value(text: &str, span: Span) -> Result<Node, SyntaxError> {
    match read(text) {
        Ok(Some(value)) => Ok(convert(
            value,
            &TextLocation::Whole(span),
            RepeatedKeys::Last,
            &mut Vec::new(),
        )),
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

/// Returns the parser's message in our style: no capital, no full stop.
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

/// Location of the parsed text.
enum TextLocation {
    /// A file, from this byte on.
    File(FileId, usize),
    /// A string value, whose span every node has.
    Whole(Span),
}

impl TextLocation {
    fn span(&self, range: Range<usize>) -> Span {
        match *self {
            TextLocation::File(file, base) => Span::new(file, base + range.start..base + range.end),
            TextLocation::Whole(span) => span,
        }
    }

    fn of(&self, ranged: &impl Ranged) -> Span {
        let range = ranged.range();
        self.span(range.start..range.end)
    }
}

fn convert(
    value: ast::Value<'_>,
    location: &TextLocation,
    repeated_keys: RepeatedKeys,
    duplicates: &mut Vec<[Span; 2]>,
) -> Node {
    let mut tree = TreeBuilder {
        location,
        repeated_keys,
        duplicates,
        keys: FxHashSet::default(),
    };
    tree.node(value)
}

/// Builds the tree of one text.
struct TreeBuilder<'a> {
    location: &'a TextLocation,
    repeated_keys: RepeatedKeys,
    /// Keys that are repeated later.
    duplicates: &'a mut Vec<[Span; 2]>,
    /// Interned keys: a template of megabytes has few different ones.
    keys: FxHashSet<Arc<str>>,
}

impl TreeBuilder<'_> {
    /// Converts a value. The parser bounds the depth, and with it this recursion.
    fn node(&mut self, value: ast::Value<'_>) -> Node {
        let span = self.location.of(&value);
        let value = match value {
            ast::Value::StringLit(text) => Value::String(Arc::from(text.value.as_ref())),
            ast::Value::NumberLit(number) => number_of(number.value),
            ast::Value::BooleanLit(boolean) => Value::Bool(boolean.value),
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::Array(array) => {
                // A new list: collecting in place would keep the capacity of the parser's larger elements.
                let mut items = Vec::with_capacity(array.elements.len());
                items.extend(array.elements.into_iter().map(|item| self.node(item)));
                Value::Sequence(items)
            }
            ast::Value::Object(object) => {
                let mut entries = Vec::with_capacity(object.properties.len());
                for property in object.properties {
                    entries.push(Entry {
                        key: self.key(property.name.as_str()),
                        key_span: self.location.of(&property.name),
                        value: self.node(property.value),
                    });
                }
                Value::Mapping(match self.repeated_keys {
                    RepeatedKeys::Last => keep_last(entries, self.duplicates),
                    RepeatedKeys::All => {
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

/// Returns `true` if the end of `text` is inside a string.
pub fn ends_in_string(text: &str) -> bool {
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

/// Returns `true` if no JSON text begins with `text`.
pub fn is_faulty(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_err_and(|error| !error.is_eof())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use source::Sources;
    use std::path::Path;

    fn read(text: &str) -> Parsed {
        let sources = Sources::default();
        parse(text, sources.add(Path::new("t.json"), text))
    }

    #[test]
    fn spans_cover_the_written_text() {
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
    fn last_of_repeated_keys_wins() {
        let parsed = read(r#"{"a": 1, "a": 2}"#);
        assert_eq!(parsed.documents[0].get("a").unwrap().value, Value::Integer(2));
        assert_eq!(parsed.duplicates[0][0].range(), 1..4);
    }

    #[test]
    fn invalid_json_is_an_error() {
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
    fn excessive_depth_is_reported_as_a_limit() {
        let run = || assert_eq!(read(&"[".repeat(100_000)).limits.len(), 1);
        std::thread::Builder::new()
            .stack_size(8 << 20)
            .spawn(run)
            .unwrap()
            .join()
            .unwrap();
    }

    #[test]
    fn policy_in_a_string_has_the_span_of_the_string() {
        let sources = Sources::default();
        let span = Span::new(sources.add(Path::new("t.yaml"), ""), 3..9);
        let node = parse_value(r#"{"maxReceiveCount": 3}"#, span).unwrap();
        assert_eq!(node.get("maxReceiveCount").unwrap().span, span);
        assert_eq!(parse_value("{", span).unwrap_err().span, span);
    }

    #[test]
    fn damaged_json_does_not_panic() {
        let text = "\u{feff}{\"Ré\": {\"Q\": {\"Type\": \"AWS::SQS::Queue\", \"P\": [1, -2.5e3, true, null, \"\\u00e9\\n\\ud83d\\ude00\"]}}}\n";
        let sources = Sources::default();
        super::super::hostile::maul(text, sources.add(Path::new("t.json"), text), parse);
    }
}
