//! The syntax of one Terraform file: expressions, attributes and blocks, with their byte spans in the file.
//!
//! This module encapsulates the parser, whose types are not visible outside. Only JSON syntax (`json.rs`) needs to know
//! the number of labels of each block type. Nothing is evaluated. A syntax error affects its line, at most its
//! top-level item, but never the whole file. Whatever cannot be read is unknown, which differs from absent.

mod broken;
mod code;
mod convert;
mod json;
mod literal;
mod outline;
mod scan;

use super::number::Number;
use super::value::Value;
use source::{FileId, Span};
use std::sync::Arc;

pub(super) use broken::{anything, doubt, unread};
pub(super) use code::Code;
pub(in crate::frontend) use code::Trace;
pub(super) use hcl_edit::expr::{BinaryOperator, UnaryOperator};
pub(in crate::frontend) use outline::outline;
use scan::Unclosed;
pub(super) use scan::{are_in_comments, one_line};

/// An expression and its span.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub(super) kind: ExpressionKind,
    pub(super) span: Span,
}

/// The kind of an expression. Parentheses are removed.
#[derive(Debug, Clone)]
pub(super) enum ExpressionKind {
    Null,
    Bool(bool),
    /// A number; `None` if it is too large or too precise to compute with.
    Number(Option<Number>),
    Text(Arc<str>),
    Template(Vec<TemplatePart>),
    Tuple(Vec<Expression>),
    Object(Vec<ObjectItem>),
    /// The first name of a traversal: `var`, `aws_sqs_queue`, `each`.
    Variable(Arc<str>),
    Traversal(Box<Expression>, Vec<Step>),
    Conditional(Box<[Expression; 3]>),
    Call {
        name: Arc<str>,
        arguments: Vec<Expression>,
        /// `true` if the last argument is `list...`.
        expand: bool,
    },
    Unary(UnaryOperator, Box<Expression>),
    Binary(BinaryOperator, Box<[Expression; 2]>),
    For(Box<For>),
    /// A value without an expression, from a plan or a tool that calls Terraform.
    Known(Box<Value>),
}

/// A piece of a template.
#[derive(Debug, Clone)]
pub(super) enum TemplatePart {
    Literal(Arc<str>),
    Value(Expression),
    If(Expression, Vec<TemplatePart>, Vec<TemplatePart>),
    For {
        key: Option<Arc<str>>,
        value: Arc<str>,
        collection: Expression,
        body: Vec<TemplatePart>,
    },
}

impl TemplatePart {
    /// Calls `each` with every direct subexpression of `parts`.
    pub(super) fn expressions<'e>(parts: &'e [TemplatePart], each: &mut impl FnMut(&'e Expression)) {
        for part in parts {
            match part {
                TemplatePart::Literal(_) => {}
                TemplatePart::Value(value) => each(value),
                TemplatePart::If(condition, yes, no) => {
                    each(condition);
                    TemplatePart::expressions(yes, each);
                    TemplatePart::expressions(no, each);
                }
                TemplatePart::For { collection, body, .. } => {
                    each(collection);
                    TemplatePart::expressions(body, each);
                }
            }
        }
    }
}

/// A `key = value` of an object.
#[derive(Debug, Clone)]
pub(super) struct ObjectItem {
    pub(super) key: Expression,
    pub(super) value: Expression,
    /// From the key to the end of the value.
    pub(super) span: Span,
    /// `true` if the key is a reference without parentheses, as in `providers`. Terraform does not evaluate such keys.
    pub(super) is_bare_reference: bool,
}

/// A step of a traversal.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Attribute(Arc<str>),
    Index(Expression),
    /// `.0`. After `.*` it applies to each element, like an attribute.
    LegacyIndex(Expression),
    /// `[*]`: the following steps apply to each element.
    Splat,
    /// `.*`: the following attributes apply to each element, but an index in brackets applies to the result.
    AttributeSplat,
}

/// A `for` expression.
#[derive(Debug, Clone)]
pub(super) struct For {
    pub(super) key_name: Option<Arc<str>>,
    pub(super) value_name: Arc<str>,
    pub(super) collection: Expression,
    /// Present in a `for` that builds an object.
    pub(super) key: Option<Expression>,
    pub(super) value: Expression,
    pub(super) grouping: bool,
    pub(super) condition: Option<Expression>,
}

/// `name = value`.
#[derive(Debug, Clone)]
pub(super) struct Attribute {
    pub(super) name: Arc<str>,
    pub(super) value: Arc<Expression>,
    /// From the name to the end of the value.
    pub(super) span: Span,
}

/// A block.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) kind: Arc<str>,
    pub(super) labels: Vec<Arc<str>>,
    pub(super) body: Body,
    /// Span of the type and the labels.
    pub(super) header: Span,
    /// Span of the whole block.
    pub(super) span: Span,
}

/// The content between the braces of a block, or of a whole file.
#[derive(Debug, Clone, Default)]
pub(super) struct Body {
    pub(super) attributes: Vec<Attribute>,
    pub(super) blocks: Vec<Arc<Block>>,
    /// Represents every attribute that is not in `attributes` if a part of the body could not be read.
    pub(super) broken: Option<Attribute>,
    /// `true` for a file with an unreadable part that may declare anything.
    pub(super) lost: bool,
}

impl Body {
    /// Returns the attribute `name`, or `broken` if it may be in a part that could not be read.
    pub(super) fn attribute(&self, name: &str) -> Option<&Attribute> {
        let found = self.attributes.iter().find(|attribute| &*attribute.name == name);
        found.or(self.broken.as_ref())
    }
}

/// A part of the text that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) fault: Fault,
}

/// The category of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The text is not valid HCL.
    Syntax,
    /// A bound of sqslint was exceeded.
    Limit,
    /// Terraform rejects the syntax since 0.12. It is parsed nevertheless.
    Before012,
}

/// Parses a file. Parts that cannot be read are omitted and reported as problems.
pub(super) fn parse(file: FileId, text: &str) -> (Body, Vec<Problem>) {
    source::parsed(text);
    let mut body = Body::default();
    let mut problems = Vec::new();
    for item in scan::items(text) {
        let at = |range: std::ops::Range<usize>| Span::new(file, range);
        if let Some(limit) = item.limit {
            problems.push(Problem::limit(at(item.range.start..item.range.start + 1), limit));
            let start = item.range.start;
            let text = text.get(item.range).unwrap_or("");
            let lost = broken::lost(text, |range| at(start + range.start..start + range.end));
            body.lost |= lost.is_none();
            body.blocks.extend(lost);
            continue;
        }
        if let Some((start, unclosed)) = item.unclosed {
            problems.push(Problem::unclosed(at(start..start + 2), unclosed));
            body.lost = true;
            let start = item.range.start;
            let text = text.get(item.range).unwrap_or("");
            let lost = broken::lost(text, |range| at(start + range.start..start + range.end));
            body.blocks.extend(lost);
            continue;
        }
        convert::item(file, text, &item, &mut body, &mut problems);
    }
    (body, problems)
}

/// Parses a template that is a whole file.
pub(super) fn template(file: FileId, text: &str) -> Result<Expression, Problem> {
    let range = 0..text.len();
    if let Some(limit) = scan::limit_of_template(text) {
        return Err(Problem::limit(Span::new(file, range), limit));
    }
    let steps = Vec::new();
    convert::template(file, text, convert::Drift { range, steps })
}

/// Parses a template that is the value of the string at `span`.
pub(super) fn template_at(span: Span, text: &str) -> Result<Expression, Problem> {
    if let Some(limit) = scan::limit_of_template(text) {
        return Err(Problem::limit(span, limit));
    }
    let (range, steps) = (span.range(), Vec::new());
    convert::template(span.file, text, convert::Drift { range, steps })
}

/// Parses the expression at `range` of `text`.
pub(super) fn expression(file: FileId, text: &str, range: std::ops::Range<usize>) -> Result<Expression, Problem> {
    let part = text.get(range.clone()).unwrap_or("");
    if let Some(limit) = scan::limit_of_expression(part) {
        return Err(Problem::limit(Span::new(file, range), limit));
    }
    let steps = Vec::new();
    convert::expression(file, part, convert::Drift { range, steps })
}

impl Problem {
    fn limit(span: Span, limit: &str) -> Problem {
        Problem {
            span,
            message: limit.to_owned(),
            fault: Fault::Limit,
        }
    }

    fn unclosed(span: Span, unclosed: Unclosed) -> Problem {
        let message = match unclosed {
            Unclosed::Comment => "the comment that begins here is not closed: `*/` is missing",
            Unclosed::Heredoc => "the heredoc that begins here is not closed",
        };
        Problem {
            span,
            message: message.to_owned(),
            fault: Fault::Syntax,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::Sources;
    use std::path::Path;

    fn parse_text(text: &str) -> (Sources, Body, Vec<Problem>) {
        let sources = Sources::default();
        let file = sources.add(Path::new("main.tf"), text);
        let (body, problems) = parse(file, text);
        (sources, body, problems)
    }

    #[test]
    fn spans_point_into_the_file() {
        let (sources, body, problems) =
            parse_text("\u{feff}# c\nlocals {\n  a = 1\n}\nresource \"t\" \"n\" {\n  x = [1, 2] # y\n}\n");
        assert_eq!(problems, []);
        assert_eq!(sources.text(body.blocks[1].header), "resource \"t\" \"n\"");
        assert_eq!(sources.text(body.blocks[1].body.attributes[0].span), "x = [1, 2]");
    }

    #[test]
    fn syntax_error_affects_only_its_item() {
        let cases = [
            ("a {\n x = \n}\nresource \"b\" \"c\" {\n}\n", 1),
            ("a {\n x = 1\nresource \"b\" \"c\" {\n}\n", 1),
            ("a {\n x = \"unclosed\n}\nresource \"b\" \"c\" {\n}\n", 1),
            ("}\n)\nresource \"b\" \"c\" {\n}\n", 1),
        ];
        for (text, least) in cases {
            let (_, body, problems) = parse_text(text);
            assert!(problems.len() >= least, "{text}: {problems:?}");
            assert!(body.blocks.iter().any(|block| &*block.kind == "resource"), "{text}");
        }
    }

    /// Returns for each of `names` whether it is read, broken or definitely absent in the block in `text`.
    fn states(text: &str, names: &[&str]) -> Vec<&'static str> {
        let (_, body, problems) = parse_text(text);
        assert!(!problems.is_empty(), "{text}");
        let block = &body.blocks[0];
        let told = names.iter().map(|name| match block.body.attribute(name) {
            None => "absent",
            Some(attribute) if attribute.value.is_unread() => "broken",
            Some(_) => "read",
        });
        told.collect()
    }

    #[test]
    fn broken_argument_is_not_absent() {
        let cases = [
            ("r \"a\" \"b\" {\n x = = 1\n y = 2\n}\n", ["broken", "read", "absent"]),
            (
                "r \"a\" \"b\" {\n x = f({\n  k = = 1\n })\n y = 2\n}\n",
                ["broken", "read", "absent"],
            ),
            ("r \"a\" \"b\" {\n x 1\n y = 2\n}\n", ["broken", "read", "broken"]),
            (
                "r \"a\" \"b\" {\n x = f({ k = 1 )\n y = 2\n}\n",
                ["broken", "read", "broken"],
            ),
            (
                "r \"a\" \"b\" {\n x = {{\n k = 1\n }\n y = 2\n}\n",
                ["broken", "broken", "broken"],
            ),
            ("r \"a\" \"b\" {\n x = 1\n", ["broken", "broken", "broken"]),
            ("r \"a\" \"b\" {{\n x = 1\n}\n", ["broken", "broken", "broken"]),
        ];
        for (text, expected) in cases {
            assert_eq!(states(text, &["x", "y", "z"]), expected, "{text}");
        }
    }

    #[test]
    fn repeated_object_keys_are_all_kept() {
        let (_, body, problems) = parse_text("x = { a = 1, \"b\" = 2, a = 3, \"b\" = 4 }\n");
        assert_eq!(problems, []);
        let ExpressionKind::Object(items) = &body.attributes[0].value.kind else {
            panic!("no object");
        };
        assert_eq!(items.len(), 4);
        assert!(matches!(&items[3].key.kind, ExpressionKind::Text(text) if &**text == "b"));
    }

    /// The parser ends a heredoc at a line that begins with its name. Terraform requires a line with nothing else on
    /// it.
    #[test]
    fn heredoc_ends_at_a_line_with_only_its_name() {
        for (text, expected) in [
            ("x = <<EOF\na << EOF\nEOF\"\nb\nEOF\n", "a << EOF\nEOF\"\nb\n"),
            ("x = <<-E\n  E)\n  E x\n  E\n", "E)\nE x\n"),
            ("x = <<E\nEE\nE.\n\tE\n", "EE\nE.\n"),
            ("x = <<E\n${<<E\nE,\nE\n}E\nE;\nE\n", "E,\nE\nE;\n"),
        ] {
            let (_, body, problems) = parse_text(text);
            assert_eq!(problems, [], "{text}");
            match &body.attributes[0].value.kind {
                ExpressionKind::Text(read) => assert_eq!(&**read, expected, "{text}"),
                ExpressionKind::Template(parts) => assert_eq!(parts.len(), 2, "{text}: {parts:?}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn deep_nesting_is_reported_as_a_limit() {
        let deep = format!("x = {}1{}\ny = 1\n", "[".repeat(5000), "]".repeat(5000));
        let (_, body, problems) = parse_text(&deep);
        assert_eq!(problems[0].fault, Fault::Limit);
        assert_eq!(body.attributes.len(), 1);
    }

    #[test]
    fn hostile_bytes_do_not_panic() {
        for text in [
            "${",
            "\"${\"",
            "<<E\n",
            "x = <<-\n",
            "/*",
            "a = {a=1,a=1",
            "é = \"\\u12\"",
            "x = \"%{if\"",
            "{{{",
            "x = 1e400\n",
        ] {
            parse_text(text);
        }
    }
}
