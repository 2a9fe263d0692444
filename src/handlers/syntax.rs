//! Common syntax of all languages: statements and expressions, with only as many kinds as the analysis needs.

use std::ops::Range;
use std::sync::Arc;

/// Byte range in the source.
pub(super) type TextRange = Range<usize>;

/// A source file.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// Statements outside of functions.
    pub(super) body: Vec<Statement>,
    /// All identifiers and short texts in the file, except in comments.
    pub(super) words: rustc_hash::FxHashSet<Arc<str>>,
}

/// A function, method or lambda.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: Option<Arc<str>>,
    /// Names of the parameters in order; `None` for a destructured one.
    pub(super) parameters: Vec<Option<Arc<str>>>,
    pub(super) decorators: Vec<Expression>,
    pub(super) body: Vec<Statement>,
    /// `true` if a call returns a promise at its first `await`.
    pub(super) is_async: bool,
    /// First line.
    pub(super) at: TextRange,
}

/// A statement.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) kind: StatementKind,
    pub(super) at: TextRange,
}

/// Kinds of statements.
#[derive(Debug)]
pub(super) enum StatementKind {
    Expression(Expression),
    /// `a = value`, or `a += value`.
    Assign {
        target: Expression,
        value: Expression,
        adds: bool,
    },
    Return(Option<Expression>),
    Raise(Option<Expression>),
    Loop {
        over: Option<Expression>,
        body: Vec<Statement>,
    },
    /// `if` or `switch`: the tested expressions, and the statements for each result.
    Branch {
        tests: Vec<Expression>,
        arms: Vec<Vec<Statement>>,
    },
    Try {
        body: Vec<Statement>,
        catches: Vec<Catch>,
        last: Vec<Statement>,
    },
    /// A block of statements; `with` has expressions in front of it.
    Block(Vec<Expression>, Vec<Statement>),
    Break,
    Continue,
    Function(Arc<Function>),
    Class(Vec<Statement>),
    /// A statement without an effect on the analysis: an import, a type declaration.
    Nothing,
}

/// An `except` or `catch`.
#[derive(Debug)]
pub(super) struct Catch {
    /// `true` if it catches failures of every kind.
    pub(super) is_general: bool,
    pub(super) body: Vec<Statement>,
    /// First line.
    pub(super) at: TextRange,
}

/// An expression.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) kind: Term,
    pub(super) at: TextRange,
}

/// Kinds of expressions.
#[derive(Debug)]
pub(super) enum Term {
    Name(Arc<str>),
    /// `a.b`, and the equivalent `a["b"]`.
    Member(Box<Expression>, Arc<str>),
    Index(Box<Expression>, Box<Expression>),
    Call {
        callee: Box<Expression>,
        arguments: Vec<Expression>,
        is_new: bool,
    },
    Function(Arc<Function>),
    /// Keys with values; a spread value has no key.
    Object(Vec<(Option<Arc<str>>, Expression)>),
    List(Vec<Expression>),
    /// A value for each item of another.
    Each {
        over: Box<Expression>,
        made: Box<Expression>,
    },
    Await(Box<Expression>),
    /// A choice between several values.
    Choice(Vec<Expression>),
    Text(Arc<str>),
    /// A number, a Boolean, a null.
    Literal,
    /// Any other expression with parts.
    Other(Vec<Expression>),
}

impl Expression {
    /// Returns the last name of a called or read expression: `put_item` for `table.put_item`.
    pub(super) fn last_name(&self) -> Option<&str> {
        match &self.kind {
            Term::Name(name) | Term::Member(_, name) => Some(name),
            Term::Await(inner) => inner.last_name(),
            _ => None,
        }
    }

    /// Returns the first name of an expression: `table` for `table.put_item`.
    pub(super) fn first_name(&self) -> Option<&str> {
        match &self.kind {
            Term::Name(name) => Some(name),
            Term::Member(of, _) | Term::Index(of, _) | Term::Await(of) => of.first_name(),
            Term::Call { callee, .. } => callee.first_name(),
            _ => None,
        }
    }

    /// Returns the name if the expression is only a name.
    pub(super) fn name(&self) -> Option<&Arc<str>> {
        match &self.kind {
            Term::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the direct parts, except functions.
    pub(super) fn parts(&self) -> Vec<&Expression> {
        match &self.kind {
            Term::Name(_) | Term::Text(_) | Term::Literal | Term::Function(_) => Vec::new(),
            Term::Member(inner, _) | Term::Await(inner) => vec![inner],
            Term::Index(of, index) => vec![of, index],
            Term::Call { callee, arguments, .. } => std::iter::once(&**callee).chain(arguments).collect(),
            Term::Object(entries) => entries.iter().map(|(_, value)| value).collect(),
            Term::List(all) | Term::Choice(all) | Term::Other(all) => all.iter().collect(),
            Term::Each { over, made, .. } => vec![over, made],
        }
    }

    /// Visits the expression and all its parts, and the bodies of functions in it if `functions` is set.
    pub(super) fn walk<'e>(&'e self, functions: bool, visit: &mut dyn FnMut(VisitedNode<'e>)) {
        visit(VisitedNode::Expression(self));
        if let (Term::Function(function), true) = (&self.kind, functions) {
            walk(&function.body, functions, visit);
        }
        for part in self.parts() {
            part.walk(functions, visit);
        }
    }
}

/// A node visited by a walk.
#[derive(Debug, Clone, Copy)]
pub(super) enum VisitedNode<'e> {
    Statement(&'e Statement),
    Expression(&'e Expression),
}

impl<'e> VisitedNode<'e> {
    /// Returns the expression, if it is one.
    pub(super) fn expression(self) -> Option<&'e Expression> {
        match self {
            VisitedNode::Expression(expression) => Some(expression),
            VisitedNode::Statement(_) => None,
        }
    }

    /// Returns the statement, if it is one.
    pub(super) fn statement(self) -> Option<&'e Statement> {
        match self {
            VisitedNode::Statement(statement) => Some(statement),
            VisitedNode::Expression(_) => None,
        }
    }

    /// Returns the call with its callee and arguments, if it is one.
    pub(super) fn call(self) -> Option<(&'e Expression, &'e Expression, &'e [Expression])> {
        let whole = self.expression()?;
        match &whole.kind {
            Term::Call { callee, arguments, .. } => Some((whole, callee, arguments)),
            _ => None,
        }
    }
}

impl Statement {
    /// Returns the direct expressions of the statement.
    pub(super) fn expressions(&self) -> Vec<&Expression> {
        match &self.kind {
            StatementKind::Expression(one) | StatementKind::Return(Some(one)) | StatementKind::Raise(Some(one)) => {
                vec![one]
            }
            StatementKind::Assign { target, value, .. } => vec![target, value],
            StatementKind::Loop { over, .. } => over.iter().collect(),
            StatementKind::Branch { tests, .. } => tests.iter().collect(),
            StatementKind::Block(with, _) => with.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the nested statements in order, except those in functions.
    pub(super) fn inner(&self) -> Vec<&[Statement]> {
        match &self.kind {
            StatementKind::Loop { body, .. } | StatementKind::Block(_, body) | StatementKind::Class(body) => vec![body],
            StatementKind::Branch { arms, .. } => arms.iter().map(Vec::as_slice).collect(),
            StatementKind::Try { body, catches, last } => {
                let catches = catches.iter().map(|catch| catch.body.as_slice());
                std::iter::once(body.as_slice())
                    .chain(catches)
                    .chain([last.as_slice()])
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Returns the arguments of a call, and the entries of objects among them with their keys.
pub(super) fn passed_values(arguments: &[Expression]) -> impl Iterator<Item = (Option<&str>, &Expression)> {
    arguments.iter().flat_map(|argument| match &argument.kind {
        Term::Object(entries) => entries.iter().map(|(key, value)| (key.as_deref(), value)).collect(),
        _ => vec![(None, argument)],
    })
}

/// Visits statements and expressions, outermost first, and the bodies of functions if `functions` is set.
pub(super) fn walk<'e>(statements: &'e [Statement], functions: bool, visit: &mut dyn FnMut(VisitedNode<'e>)) {
    for statement in statements {
        visit(VisitedNode::Statement(statement));
        for expression in statement.expressions() {
            expression.walk(functions, visit);
        }
        if let (StatementKind::Function(function), true) = (&statement.kind, functions) {
            walk(&function.body, functions, visit);
        }
        for inner in statement.inner() {
            walk(inner, functions, visit);
        }
    }
}
