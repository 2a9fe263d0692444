//! Defines checked expressions.

use super::objects::Field;
use super::syntax::{Macro, Operator};
use super::types::Type;
use regex::Regex;
use std::fmt;
use std::sync::Arc;

/// Checked expression.
#[derive(Debug)]
pub(super) enum Code {
    Constant(Constant),
    List(Vec<Code>),
    Root(Root),
    /// The list element bound by an enclosing macro, counted from the outermost.
    Local(usize),
    Field(Box<Code>, &'static Field),
    /// An entry of a map of tags.
    Tag(Box<Code>, Box<Code>),
    Index(Box<Code>, Box<Code>),
    Has(Box<Code>),
    Not(Box<Code>),
    Minus(Box<Code>),
    Binary(Operator, Box<Code>, Box<Code>),
    Choice(Box<Code>, Box<Code>, Box<Code>),
    Macro {
        which: Macro,
        list: Box<Code>,
        body: Vec<Code>,
    },
    Call(Function, Vec<Code>),
    Matches(Box<Code>, Regex),
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[derive(Debug)]
pub(super) enum Constant {
    Null,
    Bool(bool),
    Int(i64),
    Text(Arc<str>),
    /// Duration in milliseconds.
    Duration(i64),
}

/// Variable that an expression starts with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Root {
    /// The object of the policy.
    Object,
    /// The unit that declares the object.
    Unit,
    /// The name of the environment.
    Environment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    Duration,
    Int,
    String,
    StartsWith,
    EndsWith,
    Contains,
    Matches,
    LowerAscii,
    UpperAscii,
    Seconds,
    Minutes,
    Hours,
}

impl Function {
    pub(super) const ALL: [Function; 13] = [
        Function::Size,
        Function::Duration,
        Function::Int,
        Function::String,
        Function::StartsWith,
        Function::EndsWith,
        Function::Contains,
        Function::Matches,
        Function::LowerAscii,
        Function::UpperAscii,
        Function::Seconds,
        Function::Minutes,
        Function::Hours,
    ];

    pub(super) fn called(name: &str) -> Option<Function> {
        Function::ALL.into_iter().find(|function| function.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Function::Size => "size",
            Function::Duration => "duration",
            Function::Int => "int",
            Function::String => "string",
            Function::StartsWith => "startsWith",
            Function::EndsWith => "endsWith",
            Function::Contains => "contains",
            Function::Matches => "matches",
            Function::LowerAscii => "lowerAscii",
            Function::UpperAscii => "upperAscii",
            Function::Seconds => "getSeconds",
            Function::Minutes => "getMinutes",
            Function::Hours => "getHours",
        }
    }

    /// Returns the notation, for error messages.
    pub(super) fn form(self) -> &'static str {
        match self {
            Function::Size => "size(list)",
            Function::Duration => "duration(\"14d\")",
            Function::Int => "int(value)",
            Function::String => "string(value)",
            Function::StartsWith => "text.startsWith(\"…\")",
            Function::EndsWith => "text.endsWith(\"…\")",
            Function::Contains => "text.contains(\"…\")",
            Function::Matches => "text.matches(\"…\")",
            Function::LowerAscii => "text.lowerAscii()",
            Function::UpperAscii => "text.upperAscii()",
            Function::Seconds => "duration.getSeconds()",
            Function::Minutes => "duration.getMinutes()",
            Function::Hours => "duration.getHours()",
        }
    }

    /// Returns `true` if it is written after its first argument.
    pub(super) fn is_method(self) -> bool {
        !matches!(
            self,
            Function::Size | Function::Duration | Function::Int | Function::String
        )
    }

    /// Returns the number of arguments, including the receiver.
    pub(super) fn arguments(self) -> usize {
        match self {
            Function::StartsWith | Function::EndsWith | Function::Contains | Function::Matches => 2,
            _ => 1,
        }
    }

    pub(super) fn result(self) -> Type {
        match self {
            Function::Size | Function::Int | Function::Seconds | Function::Minutes | Function::Hours => Type::Int,
            Function::Duration => Type::Duration,
            Function::String | Function::LowerAscii | Function::UpperAscii => Type::Text,
            Function::StartsWith | Function::EndsWith | Function::Contains | Function::Matches => Type::Bool,
        }
    }
}
