//! CEL's syntax: from a text to a tree in which every node has its place.
//!
//! It is a reader of its own and no crate's: an expression comes from whoever opens a pull request, so nesting, length
//! and the number of nodes are bounded while it reads, and an error or an unknown field is told at its column. Macros
//! (`all`, `exists`…) stay what they are in the tree; a reader that unfolds them into loops leaves nothing to judge by
//! three values. Doubles, unsigned numbers, bytes and messages, which nothing here has, are refused by name.

mod lexer;
mod parser;

pub(super) use parser::parse;
use std::ops::Range;

/// Bytes that an expression may have.
pub(super) const MAX_LENGTH: usize = 4096;
/// How deep one may nest below its outermost level.
pub(super) const MAX_DEPTH: usize = 32;
/// Nodes that one may have.
pub(super) const MAX_NODES: usize = 512;

/// What is wrong with an expression, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) at: Range<usize>,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(at: Range<usize>, message: impl Into<String>) -> Self {
        Fault {
            at,
            message: message.into(),
        }
    }
}

/// An expression and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    pub(super) at: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    List(Vec<Expr>),
    /// A name.
    Name(String),
    /// A field of an object, or an entry of a map: the name, and its place.
    Field(Box<Expr>, String, Range<usize>),
    /// `has(a.b)`.
    Has(Box<Expr>),
    /// `a[b]`.
    Index(Box<Expr>, Box<Expr>),
    /// `f(a, b)`, or `a.f(b)` with its receiver first.
    Call {
        name: String,
        name_at: Range<usize>,
        is_method: bool,
        arguments: Vec<Expr>,
    },
    /// `list.all(each, test)` and its kin; `map` has two expressions where it filters as well.
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
    /// As CEL writes it.
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
