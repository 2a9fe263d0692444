//! Parses TOML into the syntax tree. It does not know what a file configures.

use super::{Entry, Node, Parsed, SyntaxError, Value};
use source::{FileId, Span};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Parses a whole file. A byte order mark is skipped.
pub fn parse(text: &str, file: FileId) -> Parsed {
    source::parsed(text);
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let location = TextLocation {
        file,
        base: text.len() - body.len(),
    };
    let mut parsed = Parsed::default();
    match DeTable::parse(body) {
        Ok(table) => parsed.documents.push(Node {
            span: location.span(&table.span()),
            value: mapping(table.get_ref(), &location),
        }),
        Err(error) => {
            let range = error.span().unwrap_or(0..0);
            parsed.errors.push(SyntaxError {
                span: location.span(&(range.start..range.end.min(body.len()).max(range.start))),
                message: error.message().trim().replace('\n', ", "),
            });
        }
    }
    parsed
}

struct TextLocation {
    file: FileId,
    /// Length of the byte order mark.
    base: usize,
}

impl TextLocation {
    fn span(&self, range: &Range<usize>) -> Span {
        Span::new(self.file, self.base + range.start..self.base + range.end)
    }
}

/// Converts a table. Entries are in the order of the text; the parser returns its tables sorted by key.
fn mapping(table: &DeTable<'_>, location: &TextLocation) -> Value {
    let entries = table.iter().map(|(key, value)| Entry {
        key: key.get_ref().as_ref().into(),
        key_span: location.span(&key.span()),
        value: Node {
            span: location.span(&value.span()),
            value: convert(value.get_ref(), location),
        },
    });
    let mut entries: Vec<Entry> = entries.collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    Value::Mapping(entries)
}

/// Converts a value. The parser bounds the depth.
fn convert(value: &DeValue<'_>, location: &TextLocation) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.as_ref().into()),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::String(number.as_str().into()), Value::Integer),
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .map_or_else(|_| Value::String(number.as_str().into()), Value::Float),
        DeValue::Datetime(value) => Value::String(value.to_string().into()),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| Node {
                span: location.span(&item.span()),
                value: convert(item.get_ref(), location),
            });
            Value::Sequence(items.collect())
        }
        DeValue::Table(table) => mapping(table, location),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::Sources;
    use std::path::Path;

    #[test]
    fn values_have_spans() {
        let text = "\u{feff}[a.b]\nc = \"x y\"\nd = [1, 2.5, true]\n";
        let sources = Sources::default();
        let file = sources.add(Path::new("s.toml"), text);
        let parsed = parse(text, file);
        let table = parsed.documents.first().and_then(|root| root.get("a")?.get("b"));
        let c = table
            .and_then(|table| table.entry("c"))
            .map(|entry| sources.text(entry.span()));
        assert_eq!(c.as_deref(), Some("c = \"x y\""));
        let d = table.and_then(|table| table.get("d")?.items());
        let values: Vec<_> = d.unwrap_or_default().iter().map(|item| &item.value).collect();
        assert_eq!(values, [&Value::Integer(1), &Value::Float(2.5), &Value::Bool(true)]);
    }

    #[test]
    fn syntax_error_has_a_span() {
        let sources = Sources::default();
        let file = sources.add(Path::new("s.toml"), "a = \nb = 1\n");
        let parsed = parse("a = \nb = 1\n", file);
        assert_eq!(parsed.errors.len(), 1);
        assert_eq!(parsed.errors[0].span.start, 4);
    }

    #[test]
    fn damaged_toml_does_not_panic() {
        let sources = Sources::default();
        let text = "v = 0.1\n[default.deploy.parameters]\np = \"A=1 B=\\\"x\\\"\"\nl = [\"a\", {b = 1}]\n";
        let file = sources.add(Path::new("s.toml"), text);
        crate::hostile::maul(text, file, parse);
    }
}
