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
use source::{FileId, Span, reading};
use std::sync::Arc;

pub use broken::{anything, doubt, unread};
pub use code::Code;
pub use code::Trace;
pub use hcl_edit::expr::{BinaryOperator, UnaryOperator};
pub use outline::outline;
use scan::Unclosed;
pub use scan::{are_in_comments, one_line};

/// An expression and its span.
#[derive(Debug, Clone)]
pub struct Expression {
    /// Kind, with the parts.
    pub kind: ExpressionKind,
    /// The expression as written.
    pub span: Span,
}

/// The kind of an expression. Parentheses are removed.
#[derive(Debug, Clone)]
pub enum ExpressionKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number; `None` if it is too large or too precise to compute with.
    Number(Option<Number>),
    /// A string without interpolation, decoded.
    Text(Arc<str>),
    /// A string with interpolation.
    Template(Vec<TemplatePart>),
    /// `[a, b]`.
    Tuple(Vec<Expression>),
    /// `{ a = b }`.
    Object(Vec<ObjectItem>),
    /// The first name of a traversal: `var`, `aws_sqs_queue`, `each`.
    Variable(Arc<str>),
    /// `first.second[0]`: a start and its steps.
    Traversal(Box<Expression>, Vec<Step>),
    /// `a ? b : c`.
    Conditional(Box<[Expression; 3]>),
    /// `name(a, b)`.
    Call {
        /// Name of the function.
        name: Arc<str>,
        /// Arguments in order.
        arguments: Vec<Expression>,
        /// `true` if the last argument is `list...`.
        expand: bool,
    },
    /// `-a`, `!a`.
    Unary(UnaryOperator, Box<Expression>),
    /// `a + b`.
    Binary(BinaryOperator, Box<[Expression; 2]>),
    /// `[for a in b : c]`, `{for a in b : c => d}`.
    For(Box<For>),
    /// A value without an expression, from a plan or a tool that calls Terraform.
    Known(Box<Value>),
}

/// A piece of a template.
#[derive(Debug, Clone)]
pub enum TemplatePart {
    /// Text as it is.
    Literal(Arc<str>),
    /// `${value}`.
    Value(Expression),
    /// `%{ if a }b%{ else }c%{ endif }`.
    If(Expression, Vec<TemplatePart>, Vec<TemplatePart>),
    /// `%{ for a in b }c%{ endfor }`.
    For {
        /// Name of the key.
        key: Option<Arc<str>>,
        /// Name of the value.
        value: Arc<str>,
        /// Collection of the iteration.
        collection: Expression,
        /// Text of each iteration.
        body: Vec<TemplatePart>,
    },
}

impl Expression {
    /// Creates an expression.
    pub(crate) fn new(kind: ExpressionKind, span: Span) -> Self {
        Expression { kind, span }
    }

    /// Returns the first name of a reference, and the steps after it.
    pub fn path(&self) -> Option<(&str, &[Step])> {
        match &self.kind {
            ExpressionKind::Traversal(base, steps) => match &base.kind {
                ExpressionKind::Variable(name) => Some((name, steps)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Defines methods that call `each` with every direct subexpression of an expression, and of the parts of a template.
macro_rules! children {
    ($of_expression:ident, $of_parts:ident $(, $mut:tt)?) => {
        impl Expression {
            /// Calls `each` with every direct subexpression.
            pub(crate) fn $of_expression<'e>(&'e $($mut)? self, each: &mut impl FnMut(&'e $($mut)? Expression)) {
                match &$($mut)? self.kind {
                    ExpressionKind::Null
                    | ExpressionKind::Bool(_)
                    | ExpressionKind::Number(_)
                    | ExpressionKind::Text(_)
                    | ExpressionKind::Variable(_)
                    | ExpressionKind::Known(_) => {}
                    ExpressionKind::Template(parts) => TemplatePart::$of_parts(parts, each),
                    ExpressionKind::Tuple(items) => items.into_iter().for_each(each),
                    ExpressionKind::Object(items) => items.into_iter().for_each(|item| {
                        each(&$($mut)? item.key);
                        each(&$($mut)? item.value);
                    }),
                    ExpressionKind::Traversal(base, steps) => {
                        each(base);
                        for step in steps {
                            if let Step::Index(key) | Step::LegacyIndex(key) = step {
                                each(key);
                            }
                        }
                    }
                    ExpressionKind::Conditional(three) => (&$($mut)? **three).into_iter().for_each(each),
                    ExpressionKind::Call { arguments, .. } => arguments.into_iter().for_each(each),
                    ExpressionKind::Unary(_, one) => each(one),
                    ExpressionKind::Binary(_, two) => (&$($mut)? **two).into_iter().for_each(each),
                    ExpressionKind::For(all) => {
                        each(&$($mut)? all.collection);
                        (&$($mut)? all.key).into_iter().for_each(&mut *each);
                        each(&$($mut)? all.value);
                        (&$($mut)? all.condition).into_iter().for_each(each);
                    }
                }
            }
        }

        impl TemplatePart {
            /// Calls `each` with every direct subexpression of `parts`.
            pub(crate) fn $of_parts<'e>(
                parts: &'e $($mut)? [TemplatePart],
                each: &mut impl FnMut(&'e $($mut)? Expression),
            ) {
                for part in parts {
                    match part {
                        TemplatePart::Literal(_) => {}
                        TemplatePart::Value(value) => each(value),
                        TemplatePart::If(condition, yes, no) => {
                            each(condition);
                            TemplatePart::$of_parts(yes, each);
                            TemplatePart::$of_parts(no, each);
                        }
                        TemplatePart::For { collection, body, .. } => {
                            each(collection);
                            TemplatePart::$of_parts(body, each);
                        }
                    }
                }
            }
        }
    };
}

children!(for_each_child, expressions);
children!(for_each_child_mut, expressions_mut, mut);

/// A `key = value` of an object.
#[derive(Debug, Clone)]
pub struct ObjectItem {
    /// The key.
    pub key: Expression,
    /// The value.
    pub value: Expression,
    /// From the key to the end of the value.
    pub span: Span,
    /// `true` if the key is a reference without parentheses, as in `providers`. Terraform does not evaluate such keys.
    pub is_bare_reference: bool,
}

/// A step of a traversal.
#[derive(Debug, Clone)]
pub enum Step {
    /// `.name`.
    Attribute(Arc<str>),
    /// `[index]`.
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
pub struct For {
    /// Name of the key.
    pub key_name: Option<Arc<str>>,
    /// Name of the value.
    pub value_name: Arc<str>,
    /// Collection of the iteration.
    pub collection: Expression,
    /// Present in a `for` that builds an object.
    pub key: Option<Expression>,
    /// Result of each iteration.
    pub value: Expression,
    /// `true` for `value...`, which groups values by key.
    pub grouping: bool,
    /// The `if` clause.
    pub condition: Option<Expression>,
}

/// `name = value`.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Name of the argument.
    pub name: Arc<str>,
    /// Value of the argument.
    pub value: Arc<Expression>,
    /// From the name to the end of the value.
    pub span: Span,
}

impl Attribute {
    /// Creates an argument whose name and value have the same span.
    pub(crate) fn known(name: impl Into<Arc<str>>, kind: ExpressionKind, span: Span) -> Self {
        Attribute {
            name: name.into(),
            value: Arc::new(Expression { kind, span }),
            span,
        }
    }
}

/// A block.
#[derive(Debug, Clone)]
pub struct Block {
    /// Type of the block: `resource`.
    pub kind: Arc<str>,
    /// Labels of the block, decoded.
    pub labels: Vec<Arc<str>>,
    /// Content of the block.
    pub body: Body,
    /// Span of the type and the labels.
    pub header: Span,
    /// Span of the whole block.
    pub span: Span,
}

impl Block {
    /// Creates a block without labels whose whole span is that of its header.
    pub(crate) fn unlabelled(kind: impl Into<Arc<str>>, body: Body, header: Span) -> Self {
        Block {
            kind: kind.into(),
            labels: Vec::new(),
            body,
            header,
            span: header,
        }
    }
}

/// The content between the braces of a block, or of a whole file.
#[derive(Debug, Clone, Default)]
pub struct Body {
    /// Arguments in the order written.
    pub attributes: Vec<Attribute>,
    /// Nested blocks in the order written.
    pub blocks: Vec<Arc<Block>>,
    /// Represents every attribute that is not in `attributes` if a part of the body could not be read.
    pub broken: Option<Attribute>,
    /// `true` for a file with an unreadable part that may declare anything.
    pub lost: bool,
}

impl Body {
    /// Returns the attribute `name`, or `broken` if it may be in a part that could not be read.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        let found = self.attributes.iter().find(|attribute| &*attribute.name == name);
        found.or(self.broken.as_ref())
    }
}

/// A part of the text that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Place of the problem.
    pub span: Span,
    /// Description of the problem.
    pub message: String,
    /// Category of the problem.
    pub fault: Fault,
}

impl From<Problem> for reading::Problem {
    fn from(problem: Problem) -> Self {
        match problem.fault {
            Fault::Limit => reading::Problem::limit(problem.span, problem.message),
            Fault::Syntax | Fault::Before012 => reading::Problem::invalid(problem.span, problem.message),
        }
    }
}

/// The category of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The text is not valid HCL.
    Syntax,
    /// A bound of sqslint was exceeded.
    Limit,
    /// Terraform rejects the syntax since 0.12. It is parsed nevertheless.
    Before012,
}

/// Parses a file. Parts that cannot be read are omitted and reported as problems.
pub fn parse(file: FileId, text: &str) -> (Body, Vec<Problem>) {
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

/// Parses a template that is the value of the string at `span`, or the whole file.
pub fn template(span: Span, text: &str) -> Result<Expression, Problem> {
    if let Some(limit) = scan::limit_of_template(text) {
        return Err(Problem::limit(span, limit));
    }
    let (range, steps) = (span.range(), Vec::new());
    convert::template(span.file, text, convert::Drift { range, steps })
}

/// Parses the expression at `range` of `text`.
pub fn expression(file: FileId, text: &str, range: std::ops::Range<usize>) -> Result<Expression, Problem> {
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
    fn unclosed_bracket_is_one_problem() {
        for (text, problems) in [
            ("a = [1, 2\nb = 3\nc = { d = 4 }\ne {\n  f = 5\n}\n", 1),
            ("a {\n  b = f(\n  c = 1\n}\nd {\n  e = 2\n}\n", 1),
            ("a {\n  b = 1 1\n  c = 2 2\n}\n", 2),
            ("a {\n  b = [1 1]\n}\nc {\n  d = [2 2]\n}\n", 2),
        ] {
            assert_eq!(parse_text(text).2.len(), problems, "{text} {:?}", parse_text(text).2);
        }
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
        let reported = names.iter().map(|name| match block.body.attribute(name) {
            None => "absent",
            Some(attribute) if attribute.value.is_unread() => "broken",
            Some(_) => "read",
        });
        reported.collect()
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
    fn problems_are_in_words() {
        for (text, expected) in [
            ("x = \n", "an expression is missing"),
            ("x = ${\"a\"}\n", "unexpected `$`: no expression begins with it"),
            (
                "r \"a\" \"b\" {\n x = 1\n x = 2\n}\n",
                "the block already sets this argument",
            ),
        ] {
            let (_, _, problems) = parse_text(text);
            assert_eq!(problems[0].message, expected, "{text:?}");
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

    /// Terraform ignores line breaks in `for` expressions, also in those of objects.
    #[test]
    fn for_expression_of_an_object_may_be_broken_anywhere() {
        for text in [
            "x = { for k in y : k => k != 1 ?\n 1 :\n 2\n}\nz = 1\n",
            "x = {\n for k in y : # one :\n k => 1 + // two\n 2 if k\n && k /* three\n */ || k\n}\nz = 1\n",
            "x = { for k in y : k => { for l in k : l => l ?\r\n 1 :\r\n 2 } }\nz = 1\n",
            "x = { for k in y :\n k\n => <<E\n a ?\nE\n}\nz = 1\n",
            "x = { for k in y : k => k ?\n { a = 1\n b = 2\n } : {} }\nz = 1\n",
            "r \"a\" {\n x = merge({\n for k in y : k => k ?\n [1,\n 2] : (\n 3) }, {})\n}\nz = 1\n",
        ] {
            let (_, body, problems) = parse_text(text);
            assert_eq!(problems, [], "{text}");
            let last = body.attributes.last().expect("the last attribute is read");
            assert_eq!(&*last.name, "z", "{text}");
        }
        // The lines of other objects, and errors elsewhere, stay as they are.
        let (_, _, problems) = parse_text("x = { a = 1 ?\n 1 : 2 }\n");
        assert!(!problems.is_empty());
        let (sources, _, problems) = parse_text("x = { for k in y : k => k ?\n 1 :\n 2 }\nz = = 1\n");
        let spans: Vec<String> = problems.iter().map(|problem| sources.text(problem.span)).collect();
        assert_eq!(spans, ["="]);
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
