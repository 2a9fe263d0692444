//! The JSON syntax of Terraform: converts objects to the blocks and attributes of native syntax, and strings to
//! templates.
//!
//! Only a provider's schema could distinguish arguments from nested blocks, and no schemas are available. A value that
//! can be either becomes both, and the code that uses it chooses.

use super::convert::{self, Drift};
use super::{Attribute, Block, Body, Expression, ExpressionKind, Fault, ObjectItem, Problem, broken, scan};
use crate::limits;
use crate::number::Number;
use source::{FileId, Span};
use std::sync::Arc;
use trees::json;
use trees::{Entry, Node, Parsed, Value};

/// Parses the text of a module file.
pub(crate) fn parse(file: FileId, text: &str) -> (Body, Vec<Problem>) {
    of_tree(file, text, &json::parse_repeating(text, file))
}

/// Converts the tree `parsed` of a module file.
pub(crate) fn of_tree(file: FileId, text: &str, parsed: &Parsed) -> (Body, Vec<Problem>) {
    let mut reader = JsonReader::new(file, text);
    let mut body = Body::default();
    for entry in reader.root(parsed) {
        if let Some(labels) = labels(&entry.key) {
            reader.unpack(&entry.key, labels, &[], &entry, &mut body);
        }
    }
    body.lost = reader.is_incomplete;
    (body, reader.problems)
}

/// Converts the tree `parsed` of a variable file, in which strings are not templates.
pub(crate) fn values_of_tree(file: FileId, text: &str, parsed: &Parsed) -> (Body, Vec<Problem>) {
    let mut reader = JsonReader::new(file, text);
    let mut body = Body::default();
    for entry in reader.root(parsed) {
        let value = reader.value(&entry.value, StringMeaning::Literal);
        body.attributes.push(attribute(&entry, value));
    }
    body.lost = reader.is_incomplete;
    (body, reader.problems)
}

/// Returns the number of labels of a top-level block; `None` if no such block exists.
fn labels(kind: &str) -> Option<usize> {
    match kind {
        "resource" | "data" | "ephemeral" => Some(2),
        "module" | "variable" | "output" | "provider" | "check" => Some(1),
        "locals" | "terraform" | "moved" | "import" | "removed" => Some(0),
        _ => None,
    }
}

/// The meaning of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringMeaning {
    Template,
    Literal,
    /// An expression without quotes: a type, a provider.
    Expression,
}

/// Returns the meaning of the strings in an argument.
fn reading(block: &str, argument: &str) -> StringMeaning {
    match (block, argument) {
        ("variable", "type") => StringMeaning::Expression,
        ("variable", _) => StringMeaning::Literal,
        ("module", "source" | "version") | ("provider", "alias" | "version") => StringMeaning::Literal,
        ("module", "providers") | ("resource" | "data", "provider") | ("dynamic", "iterator") => {
            StringMeaning::Expression
        }
        (_, "depends_on" | "ignore_changes" | "replace_triggered_by") => StringMeaning::Literal,
        _ => StringMeaning::Template,
    }
}

fn attribute(entry: &Entry, value: Expression) -> Attribute {
    Attribute {
        name: entry.key.clone(),
        value: Arc::new(value),
        span: entry.span(),
    }
}

struct JsonReader<'t> {
    file: FileId,
    text: &'t str,
    problems: Vec<Problem>,
    /// `true` if a part of the text is not read.
    is_incomplete: bool,
}

impl<'t> JsonReader<'t> {
    fn new(file: FileId, text: &'t str) -> Self {
        JsonReader {
            file,
            text,
            problems: Vec::new(),
            is_incomplete: false,
        }
    }

    /// Returns the entries of the outermost object, without comments.
    fn root(&mut self, parsed: &Parsed) -> Vec<Entry> {
        self.is_incomplete = !(parsed.errors.is_empty() && parsed.limits.is_empty());
        let failures = parsed.errors.iter().map(|error| (error, Fault::Syntax));
        let limits = parsed.limits.iter().map(|error| (error, Fault::Limit));
        for (error, fault) in failures.chain(limits) {
            self.problems.push(Problem {
                span: error.span,
                message: error.message.clone(),
                fault,
            });
        }
        let objects: Vec<Node> = parsed.documents.iter().cloned().flat_map(objects).collect();
        objects.into_iter().flat_map(entries).collect()
    }

    /// Takes the labels from the keys of nested objects, then adds the bodies as blocks.
    fn unpack(&mut self, kind: &Arc<str>, missing: usize, labels: &[Arc<str>], entry: &Entry, body: &mut Body) {
        for object in objects(entry.value.clone()) {
            if missing == 0 {
                body.blocks.push(Arc::new(Block {
                    kind: kind.clone(),
                    labels: labels.to_vec(),
                    body: self.body(kind, entries(object), 0),
                    header: entry.key_span,
                    span: entry.span(),
                }));
                continue;
            }
            for inner in object.entries().unwrap_or_default() {
                let mut labels = labels.to_vec();
                labels.push(inner.key.clone());
                self.unpack(kind, missing - 1, &labels, inner, body);
            }
        }
    }

    fn body(&mut self, kind: &str, entries: Vec<Entry>, depth: usize) -> Body {
        let mut body = Body::default();
        for entry in entries {
            if &*entry.key == "dynamic" {
                self.unpack(&entry.key.clone(), 1, &[], &entry, &mut body);
                continue;
            }
            let value = self.value(&entry.value, reading(kind, &entry.key));
            body.attributes.push(attribute(&entry, value));
            // Arguments of a module, values of locals and settings of variables are never blocks.
            if depth < limits::MAX_JSON_BLOCK_DEPTH && !matches!(kind, "module" | "locals" | "variable" | "output") {
                for object in objects(entry.value.clone()) {
                    body.blocks.push(Arc::new(Block {
                        kind: entry.key.clone(),
                        labels: Vec::new(),
                        body: self.body(&entry.key, self::entries(object), depth + 1),
                        header: entry.key_span,
                        span: entry.span(),
                    }));
                }
            }
        }
        body
    }

    fn value(&mut self, node: &Node, reading: StringMeaning) -> Expression {
        let kind = match &node.value {
            Value::Null => ExpressionKind::Null,
            Value::Bool(value) => ExpressionKind::Bool(*value),
            Value::Integer(value) => ExpressionKind::Number(Some((*value).into())),
            Value::Float(value) => ExpressionKind::Number(Number::parse(&value.to_string())),
            Value::String(text) => return self.string(text, node.span, reading),
            Value::Sequence(items) => {
                ExpressionKind::Tuple(items.iter().map(|item| self.value(item, reading)).collect())
            }
            Value::Mapping(entries) => ExpressionKind::Object(
                entries
                    .iter()
                    .map(|entry| ObjectItem {
                        key: self.string(&entry.key, entry.key_span, reading),
                        value: self.value(&entry.value, reading),
                        span: entry.span(),
                        is_bare_reference: false,
                    })
                    .collect(),
            ),
        };
        Expression { kind, span: node.span }
    }

    fn string(&mut self, text: &Arc<str>, span: Span, reading: StringMeaning) -> Expression {
        let literal = Expression::new(ExpressionKind::Text(text.clone()), span);
        let template = reading == StringMeaning::Template && (text.contains("${") || text.contains("%{"));
        if !template && reading != StringMeaning::Expression {
            return literal;
        }
        if let Some(limit) = scan::limit_of_template(text) {
            self.problems.push(Problem::limit(span, limit));
            return broken::unread(span);
        }
        let drift = self.drift(span);
        let parsed = if template {
            convert::template(self.file, text, drift)
        } else {
            convert::expression(self.file, text, drift)
        };
        match parsed {
            Ok(mut expression) => {
                expression.span = span;
                expression
            }
            // In old configurations, some of these strings are plain text.
            Err(_) if !template => literal,
            Err(problem) => {
                self.problems.push(problem);
                broken::unread(span)
            }
        }
    }

    /// Returns the mapping from the value of the string at `span` to the file.
    fn drift(&self, span: Span) -> Drift {
        let range = span.start as usize + 1..(span.end as usize).saturating_sub(1).max(span.start as usize + 1);
        let raw = self.text.get(range.clone()).unwrap_or("").as_bytes();
        let mut steps = Vec::new();
        let (mut at, mut decoded) = (0, 0);
        while let Some(&byte) = raw.get(at) {
            if byte != b'\\' {
                at += 1;
                decoded += 1;
                continue;
            }
            let (written, meant) = escape(raw.get(at..).unwrap_or(&[]));
            at += written;
            decoded += meant;
            steps.push((decoded, at));
        }
        Drift { range, steps }
    }
}

/// Returns the length in bytes of the escape at the start of `raw`, and of the character it represents.
fn escape(raw: &[u8]) -> (usize, usize) {
    let unit = |at: usize| {
        let digits = raw.get(at..at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        digits.and_then(|digits| u32::from_str_radix(digits, 16).ok())
    };
    match (raw.get(1), unit(2)) {
        (Some(b'u'), Some(0xd800..=0xdbff)) if raw.get(6..8) == Some(b"\\u") => (12, 4),
        (Some(b'u'), Some(code)) => (6, char::from_u32(code).map_or(3, char::len_utf8)),
        _ => (2, 1),
    }
}

/// Returns an object, or the objects in an array: a block may be written either way.
fn objects(node: Node) -> Vec<Node> {
    match node.value {
        Value::Mapping(_) => vec![node],
        Value::Sequence(items) => items
            .into_iter()
            .filter(|item| matches!(item.value, Value::Mapping(_)))
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the entries of an object that is a body, in which `//` is a comment.
fn entries(node: Node) -> Vec<Entry> {
    match node.value {
        Value::Mapping(entries) => entries.into_iter().filter(|entry| &*entry.key != "//").collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::super::TemplatePart;
    use super::*;
    use source::Sources;
    use std::path::Path;

    fn read(text: &str) -> (Sources, Body, Vec<Problem>) {
        let sources = Sources::default();
        let file = sources.add(Path::new("main.tf.json"), text);
        let (body, problems) = parse(file, text);
        (sources, body, problems)
    }

    #[test]
    fn objects_become_the_blocks_of_native_syntax() {
        let (sources, body, problems) = read(
            r#"{"//": "c", "resource": [{"t": {"a": {"//": "c", "x": 1, "n": [{"y": 2}, {"y": 3}]}}},
                {"t": {"b": [{"dynamic": {"n": {"for_each": [1], "iterator": "i", "content": {"y": "${i.value}"}}}}]}}],
                "locals": {"o": {"//": 1}}, "resource": {"t": {"c": {}}}}"#,
        );
        assert_eq!(problems, []);
        let shown: Vec<String> = body
            .blocks
            .iter()
            .map(|block| format!("{} {}", block.kind, block.labels.join(".")))
            .collect();
        assert_eq!(shown, ["resource t.a", "resource t.b", "locals ", "resource t.c"]);
        let a = &body.blocks[0];
        assert_eq!(sources.text(a.header), "\"a\"");
        assert_eq!(a.body.blocks.len(), 2);
        assert_eq!(sources.text(a.body.attribute("x").unwrap().span), "\"x\": 1");
        let dynamic = &body.blocks[1].body.blocks[0];
        assert_eq!((&*dynamic.kind, &*dynamic.labels[0]), ("dynamic", "n"));
        let iterator = &dynamic.body.attribute("iterator").unwrap().value.kind;
        assert!(matches!(iterator, ExpressionKind::Variable(name) if &**name == "i"));
        // A `//` key is a comment only in a body.
        let object = &body.blocks[2].body.attribute("o").unwrap().value.kind;
        assert!(matches!(object, ExpressionKind::Object(items) if items.len() == 1));
    }

    #[test]
    fn spans_in_strings_point_into_the_file() {
        let (sources, body, problems) =
            read(r#"{"locals": {"a": "\u00e9\"${var.x == \"ä\" ? 1 : 2}\t${var.y}", "b": "${var.z}", "c": "$${d}"}}"#);
        assert_eq!(problems, []);
        let locals = &body.blocks[0].body;
        let ExpressionKind::Template(parts) = &locals.attribute("a").unwrap().value.kind else {
            panic!("no template");
        };
        let under: Vec<String> = parts
            .iter()
            .filter_map(|part| match part {
                TemplatePart::Value(expression) => Some(sources.text(expression.span)),
                _ => None,
            })
            .collect();
        assert_eq!(under, [r#"var.x == \"ä\" ? 1 : 2"#, "var.y"]);
        assert!(matches!(
            &locals.attribute("b").unwrap().value.kind,
            ExpressionKind::Traversal(..)
        ));
        assert!(matches!(&locals.attribute("c").unwrap().value.kind, ExpressionKind::Text(text) if &**text == "${d}"));
    }

    #[test]
    fn unreadable_values_are_reported_and_not_absent() {
        let (sources, body, problems) = read(r#"{"locals": {"a": "${1 +}", "b": 1}}"#);
        assert_eq!(problems.len(), 1);
        assert!(sources.text(problems[0].span).len() == 1, "{problems:?}");
        assert!(matches!(
            &body.blocks[0].body.attribute("a").unwrap().value.kind,
            ExpressionKind::Variable(_)
        ));
        assert!(read("{\"a\": }").2.len() == 1 && read("[1, {}]").2.is_empty());
    }

    #[test]
    fn variables_contain_literals_and_types() {
        let (_, body, problems) =
            read(r#"{"variable": {"x": {"type": "list(string)", "default": "${no}"}, "y": {"type": "string"}}}"#);
        assert_eq!(problems, []);
        let [x, y] = body.blocks.as_slice() else { panic!() };
        assert!(matches!(
            &x.body.attribute("type").unwrap().value.kind,
            ExpressionKind::Call { .. }
        ));
        assert!(
            matches!(&x.body.attribute("default").unwrap().value.kind, ExpressionKind::Text(text) if &**text == "${no}")
        );
        assert!(matches!(
            &y.body.attribute("type").unwrap().value.kind,
            ExpressionKind::Variable(_)
        ));
    }
}
