//! Parses CEL into a tree in which every node has its byte range.
//!
//! This parser replaces an existing crate for two reasons. Expressions come from anyone who opens a pull request, so
//! nesting, length and the number of nodes are bounded during parsing, and errors and unknown fields are reported at
//! their columns. And macros (`all`, `exists`…) remain in the tree, whereas a parser that expands them into loops would
//! rule out three-valued logic. Doubles, unsigned numbers, bytes and messages, which this dialect lacks, are rejected
//! by name.

mod lexer;
mod parser;

pub(super) use parser::parse;
use std::ops::Range;

/// Maximum length of an expression, in bytes.
pub(super) const MAX_LENGTH: usize = 4096;
/// Maximum nesting depth below the outermost level.
pub(super) const MAX_DEPTH: usize = 32;
/// Maximum number of nodes.
pub(super) const MAX_NODES: usize = 512;

/// Error in an expression, with its byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) range: Range<usize>,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(range: Range<usize>, message: impl Into<String>) -> Self {
        Fault {
            range,
            message: message.into(),
        }
    }
}

/// Expression with its byte range.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    pub(super) range: Range<usize>,
    pub(super) kind: ExprKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExprKind {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    List(Vec<Expr>),
    /// A name.
    Name(String),
    /// A field of an object, or an entry of a map: the name, and its byte range.
    Field(Box<Expr>, String, Range<usize>),
    /// `has(a.b)`.
    Has(Box<Expr>),
    /// `a[b]`.
    Index(Box<Expr>, Box<Expr>),
    /// `f(a, b)`, or `a.f(b)` with its receiver first.
    Call {
        name: String,
        name_range: Range<usize>,
        is_method: bool,
        arguments: Vec<Expr>,
    },
    /// `list.all(each, test)` and similar macros; `map` has two expressions if it also filters.
    Macro {
        which: Macro,
        list: Box<Expr>,
        each: String,
        body: Vec<Expr>,
    },
    Not(Box<Expr>),
    Minus(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `a ? b : c`.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Macro {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

impl Macro {
    pub(super) const ALL: [(&'static str, Macro); 5] = [
        ("all", Macro::All),
        ("exists", Macro::Exists),
        ("exists_one", Macro::ExistsOne),
        ("filter", Macro::Filter),
        ("map", Macro::Map),
    ];

    fn called(name: &str) -> Option<Macro> {
        Macro::ALL.iter().find(|(own, _)| *own == name).map(|(_, which)| *which)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Unequal,
    In,
    Plus,
    Minus,
    Times,
    Divided,
    Modulo,
}

impl Operator {
    /// Returns the operator in CEL's notation.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Operator::Or => "||",
            Operator::And => "&&",
            Operator::Less => "<",
            Operator::AtMost => "<=",
            Operator::More => ">",
            Operator::AtLeast => ">=",
            Operator::Equal => "==",
            Operator::Unequal => "!=",
            Operator::In => "in",
            Operator::Plus => "+",
            Operator::Minus => "-",
            Operator::Times => "*",
            Operator::Divided => "/",
            Operator::Modulo => "%",
        }
    }
}
