//! Common syntax of all languages: statements and expressions, with only as many kinds as the analysis needs.

use std::ops::Range;
use std::sync::Arc;

/// Byte range in the source.
pub(crate) type TextRange = Range<usize>;

/// A source file.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// Statements outside of functions.
    pub(crate) body: Vec<Statement>,
    /// All identifiers and short texts in the file, except in comments.
    pub(crate) words: rustc_hash::FxHashSet<Arc<str>>,
    /// Imported functions, with whether they return a promise.
    pub(crate) promises: rustc_hash::FxHashMap<Arc<str>, bool>,
    /// Records that imported functions use of an event that they get.
    pub(crate) records_used: rustc_hash::FxHashMap<Arc<str>, u8>,
    /// Files that names are imported from, as written.
    pub(crate) imports: rustc_hash::FxHashMap<Arc<str>, Arc<str>>,
    /// Imported files of the repository, whose functions may handle the failures of their calls.
    pub(crate) own: rustc_hash::FxHashSet<Arc<str>>,
    /// Ends of the objects of `of?.member`.
    pub(crate) optional: rustc_hash::FxHashSet<usize>,
    /// `true` if the response of Powertools' processor is known to be empty after all messages failed.
    pub(crate) empties_full_batch: bool,
    /// `true` for JavaScript and TypeScript, where blocks are scopes and failures of promises wait for an `await`.
    pub(crate) is_script: bool,
}

impl Module {
    /// Returns `true` if the source contains one of `words`.
    pub(crate) fn says(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.words.contains(*word))
    }
}

/// A function, method or lambda.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent modifiers")]
pub(crate) struct Function {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) decorators: Vec<Expression>,
    pub(crate) body: Vec<Statement>,
    /// `true` if a call returns a promise or coroutine.
    pub(crate) is_async: bool,
    /// `true` if the type of the result is that of a response with failed messages.
    pub(crate) returns_failures: bool,
    /// `true` if a call returns an iterator.
    pub(crate) is_generator: bool,
    /// `true` if `this` is that of the surrounding function.
    pub(crate) is_arrow: bool,
    pub(crate) role: Role,
    /// Variables of surrounding functions that Python's `global` and `nonlocal` name.
    pub(crate) outer: Vec<Arc<str>>,
    /// First line.
    pub(crate) at: TextRange,
}

/// Relation of a method to its object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Role {
    #[default]
    Plain,
    /// A read of the member calls it: a property.
    Get,
    /// An assignment to the member calls it.
    Set,
    /// A method without an object.
    Static,
}

/// A parameter of a function.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) pattern: Expression,
    pub(crate) default: Option<Expression>,
    pub(crate) takes: Takes,
}

/// Arguments that a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    One,
    /// An argument by position, never one by name.
    Positional,
    /// All remaining arguments.
    Rest,
    /// All remaining named arguments.
    Named,
}

/// A class.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) bases: Vec<Expression>,
    pub(crate) decorators: Vec<Expression>,
    /// `true` if other code than its bases and decorators creates it: a metaclass.
    pub(crate) is_created_elsewhere: bool,
    /// Methods, and fields as assignments to their name. A field that each instance has is declared in the block.
    pub(crate) body: Vec<Statement>,
}

/// A statement.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) kind: StatementKind,
    pub(crate) at: TextRange,
}

impl Statement {
    /// Returns the lists of statements in it, except those of functions and classes.
    pub(crate) fn bodies(&self) -> Vec<&[Statement]> {
        match &self.kind {
            StatementKind::Loop(one) => vec![&one.body, &one.otherwise],
            StatementKind::If { yes, no, .. } => vec![yes, no],
            StatementKind::Switch { cases, .. } => cases.iter().map(|case| &*case.body).collect(),
            StatementKind::Try {
                body,
                catches,
                otherwise,
                last,
            } => {
                let catches = catches.iter().map(|catch| &*catch.body);
                [&**body, otherwise, last].into_iter().chain(catches).collect()
            }
            StatementKind::With(_, body) | StatementKind::Block(body) => vec![body],
            _ => Vec::new(),
        }
    }
}

/// Kinds of statements.
#[derive(Debug)]
pub(crate) enum StatementKind {
    Expression(Expression),
    /// `a = value`, or `const a = value`.
    Assign {
        target: Expression,
        value: Expression,
        declares: Declares,
    },
    Return(Option<Expression>),
    Raise(Option<Expression>),
    Loop(Box<Loop>),
    If {
        test: Expression,
        yes: Vec<Statement>,
        no: Vec<Statement>,
    },
    Switch {
        subject: Expression,
        cases: Vec<Case>,
        /// `true` if a case continues with the next one unless a `break` ends it.
        falls_through: bool,
    },
    Try {
        body: Vec<Statement>,
        catches: Vec<Catch>,
        /// Statements that run if nothing failed.
        otherwise: Vec<Statement>,
        last: Vec<Statement>,
    },
    /// `with`: values with the names that they get, and the statements in their scope.
    With(Vec<(Expression, Option<Expression>)>, Vec<Statement>),
    Block(Vec<Statement>),
    /// Label of the loop to leave, if it is named.
    Break(Option<Arc<str>>),
    Continue(Option<Arc<str>>),
    Function(Arc<Function>),
    Class(Arc<Class>),
    /// A field of a class with a type and without a value.
    Field(Arc<str>),
    /// Names from other files.
    Import(Vec<Arc<str>>),
    /// A statement without an effect on the analysis: a type declaration.
    Nothing,
}

/// Scope in which an assignment creates its variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Declares {
    /// The variable exists, or the language has no declarations.
    No,
    Block,
    Function,
}

/// A loop of any kind.
#[derive(Debug, Default)]
pub(crate) struct Loop {
    pub(crate) label: Option<Arc<str>>,
    /// Variable of each item.
    pub(crate) target: Option<Expression>,
    /// Items; `None` for a loop that only has a test.
    pub(crate) over: Option<Expression>,
    pub(crate) test: Option<Expression>,
    pub(crate) step: Option<Expression>,
    pub(crate) body: Vec<Statement>,
    /// Statements that run after a loop that no `break` left.
    pub(crate) otherwise: Vec<Statement>,
    /// `true` if the test follows the body.
    pub(crate) is_tested_last: bool,
    /// `true` if it waits for each item.
    pub(crate) is_awaited: bool,
}

/// A case of a `switch` or `match`.
#[derive(Debug)]
pub(crate) struct Case {
    /// Values of which one has to match; `None` if the case always matches.
    pub(crate) tests: Option<Vec<Expression>>,
    pub(crate) body: Vec<Statement>,
}

/// An `except` or `catch`.
#[derive(Debug)]
pub(crate) struct Catch {
    /// Types of failures that it catches; `None` for all.
    pub(crate) types: Option<Vec<Expression>>,
    /// Pattern that the failure is bound to.
    pub(crate) target: Option<Expression>,
    pub(crate) body: Vec<Statement>,
    /// First line.
    pub(crate) at: TextRange,
}

/// An expression.
#[derive(Debug)]
pub(crate) struct Expression {
    pub(crate) kind: Term,
    pub(crate) at: TextRange,
}

/// Operators with a result that the analysis computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    /// Division that rounds down.
    Floor,
    Remainder,
    /// `===`, and `is`.
    Same,
    NotSame,
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    In,
    NotIn,
    InstanceOf,
    Other,
}

/// Operators that evaluate their right side only if needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logic {
    And,
    Or,
    IfNull,
}

/// Kinds of expressions.
#[derive(Debug)]
pub(crate) enum Term {
    Name(Arc<str>),
    /// `a.b`, and the equivalent `a["b"]`.
    Member(Box<Expression>, Arc<str>),
    Index(Box<Expression>, Box<Expression>),
    Call {
        callee: Box<Expression>,
        arguments: Vec<Expression>,
        /// Arguments by name; one without a name is spread.
        named: Vec<(Option<Arc<str>>, Expression)>,
        is_new: bool,
    },
    Function(Arc<Function>),
    Class(Arc<Class>),
    /// Keys with values; a spread or computed value has no key.
    Object(Vec<(Option<Arc<str>>, Expression)>),
    List(Vec<Expression>),
    /// A set with the items of a list.
    Set(Box<Expression>),
    /// A value for each item of others.
    Each {
        clauses: Vec<Clause>,
        made: Box<Expression>,
        /// `true` if the values are made when they are used.
        is_lazy: bool,
    },
    /// A value for the user of a generator; the flag is set for all values of another one.
    Yield(Option<Box<Expression>>, bool),
    /// Removal of variables or members.
    Delete(Vec<Expression>),
    Await(Box<Expression>),
    If(Box<[Expression; 3]>),
    Logic(Logic, Box<[Expression; 2]>),
    Not(Box<Expression>),
    Binary(Operator, Box<[Expression; 2]>),
    /// An assignment with a value: `(n := 1)`, `n += 1`.
    Assign {
        target: Box<Expression>,
        value: Box<Expression>,
        operator: Option<Operator>,
    },
    Spread(Box<Expression>),
    Text(Arc<str>),
    Number(f64),
    Bool(bool),
    /// `None`, or `undefined`.
    Null,
    /// `null` of JavaScript.
    Nil,
    /// Any other expression with parts.
    Other(Vec<Expression>),
}

/// A `for` of a comprehension, with its tests.
#[derive(Debug)]
pub(crate) struct Clause {
    pub(crate) target: Expression,
    pub(crate) over: Expression,
    pub(crate) tests: Vec<Expression>,
}

impl Term {
    /// Returns a call with arguments by position.
    pub(crate) fn call(callee: Expression, arguments: Vec<Expression>) -> Term {
        Term::Call {
            callee: Box::new(callee),
            arguments,
            named: Vec::new(),
            is_new: false,
        }
    }

    /// Returns an assignment with a value.
    pub(crate) fn assign(target: Expression, value: Expression, operator: Option<Operator>) -> Term {
        Term::Assign {
            target: Box::new(target),
            value: Box::new(value),
            operator,
        }
    }
}

impl Expression {
    /// Returns the last name of a called or read expression: `put_item` for `table.put_item`.
    pub(crate) fn last_name(&self) -> Option<&str> {
        match &self.kind {
            Term::Name(name) | Term::Member(_, name) => Some(name),
            Term::Await(inner) => inner.last_name(),
            _ => None,
        }
    }

    /// Returns the first name of an expression: `table` for `table.put_item`.
    pub(crate) fn first_name(&self) -> Option<&str> {
        match &self.kind {
            Term::Name(name) => Some(name),
            Term::Member(of, _) | Term::Index(of, _) | Term::Await(of) => of.first_name(),
            Term::Call { callee, .. } => callee.first_name(),
            _ => None,
        }
    }

    /// Returns the name if the expression is only a name.
    pub(crate) fn name(&self) -> Option<&Arc<str>> {
        match &self.kind {
            Term::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the direct parts, except functions and classes.
    pub(crate) fn parts(&self) -> Vec<&Expression> {
        match &self.kind {
            Term::Name(_)
            | Term::Text(_)
            | Term::Number(_)
            | Term::Bool(_)
            | Term::Null
            | Term::Nil
            | Term::Function(_)
            | Term::Class(_) => Vec::new(),
            Term::Member(inner, _) | Term::Await(inner) | Term::Not(inner) | Term::Set(inner) | Term::Spread(inner) => {
                vec![inner]
            }
            Term::Yield(inner, _) => inner.iter().map(|inner| &**inner).collect(),
            Term::Index(of, index) => vec![of, index],
            Term::Call {
                callee,
                arguments,
                named,
                ..
            } => {
                let named = named.iter().map(|(_, value)| value);
                std::iter::once(&**callee).chain(arguments).chain(named).collect()
            }
            Term::Object(entries) => entries.iter().map(|(_, value)| value).collect(),
            Term::List(all) | Term::Delete(all) | Term::Other(all) => all.iter().collect(),
            Term::If(parts) => parts.iter().collect(),
            Term::Logic(_, parts) | Term::Binary(_, parts) => parts.iter().collect(),
            Term::Assign { target, value, .. } => vec![target, value],
            Term::Each { clauses, made, .. } => {
                let of = clauses
                    .iter()
                    .flat_map(|clause| std::iter::once(&clause.over).chain(&clause.tests));
                of.chain([&**made]).collect()
            }
        }
    }

    /// Visits the expression and all its parts, except the bodies of functions.
    pub(crate) fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        visit(self);
        for part in self.parts() {
            part.walk(visit);
        }
    }

    /// Returns `true` if the expression contains one of `words` as a name, a key or a text.
    pub(crate) fn says(&self, words: &[&str]) -> bool {
        let mut found = false;
        self.walk(&mut |one| match &one.kind {
            Term::Name(name) | Term::Text(name) | Term::Member(_, name) => found |= words.contains(&&**name),
            Term::Object(entries) => {
                found |= entries
                    .iter()
                    .any(|(key, _)| key.as_deref().is_some_and(|key| words.contains(&key)));
            }
            Term::Call { named, .. } => {
                found |= named
                    .iter()
                    .any(|(key, _)| key.as_deref().is_some_and(|key| words.contains(&key)));
            }
            _ => {}
        });
        found
    }
}
