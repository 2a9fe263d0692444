//! The shape that the source of a handler is brought into, whatever its language: statements and expressions, as few
//! kinds of them as questions are asked of.

use std::ops::Range;
use std::sync::Arc;

/// Bytes of the source.
pub(super) type Place = Range<usize>;

/// A file.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// What stands outside of every function.
    pub(super) body: Vec<Statement>,
    /// Every identifier and every short text in it, comments left out.
    pub(super) words: rustc_hash::FxHashSet<Arc<str>>,
}

/// A function, a method, a lambda.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: Option<Arc<str>>,
    /// The names of its parameters, in their order; `None` for one that is taken apart.
    pub(super) parameters: Vec<Option<Arc<str>>>,
    pub(super) decorators: Vec<Expression>,
    pub(super) body: Vec<Statement>,
    /// Whether a call of it gives a promise at its first `await`.
    pub(super) is_async: bool,
    /// Its first line.
    pub(super) at: Place,
}

/// One statement.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) kind: Kind,
    pub(super) at: Place,
}

/// What a statement is.
#[derive(Debug)]
pub(super) enum Kind {
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
    /// `if`, `switch`: what is asked, and what is done for each answer.
    Branch {
        tests: Vec<Expression>,
        arms: Vec<Vec<Statement>>,
    },
    Try {
        body: Vec<Statement>,
        catches: Vec<Catch>,
        last: Vec<Statement>,
    },
    /// Statements that stand together; `with` has expressions before them.
    Block(Vec<Expression>, Vec<Statement>),
    Break,
    Continue,
    Function(Arc<Function>),
    Class(Vec<Statement>),
    /// Anything that does nothing here: imports, declarations of types.
    Nothing,
}

/// One `except` or `catch`.
#[derive(Debug)]
pub(super) struct Catch {
    /// Whether it takes failures of every kind.
    pub(super) is_general: bool,
    pub(super) body: Vec<Statement>,
    /// Its first line.
    pub(super) at: Place,
}

/// One expression.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) kind: Term,
    pub(super) at: Place,
}

/// What an expression is.
#[derive(Debug)]
pub(super) enum Term {
    Name(Arc<str>),
    /// `a.b`, and `a["b"]`, which says the same.
    Member(Box<Expression>, Arc<str>),
    Index(Box<Expression>, Box<Expression>),
    Call {
        callee: Box<Expression>,
        arguments: Vec<Expression>,
        is_new: bool,
    },
    Function(Arc<Function>),
    /// Keys with their values; one without a key is spread.
    Object(Vec<(Option<Arc<str>>, Expression)>),
    List(Vec<Expression>),
    /// Something for each item of another.
    Each {
        over: Box<Expression>,
        made: Box<Expression>,
    },
    Await(Box<Expression>),
    /// One of several.
    Choice(Vec<Expression>),
    Text(Arc<str>),
    /// A number, a boolean, nothing.
    Literal,
    /// Anything else that is made of others.
    Other(Vec<Expression>),
}

impl Expression {
    /// The last name of what is called or read: `put_item` for `table.put_item`.
    pub(super) fn last_name(&self) -> Option<&str> {
        match &self.kind {
            Term::Name(name) | Term::Member(_, name) => Some(name),
            Term::Await(inner) => inner.last_name(),
            _ => None,
        }
    }

    /// The name that everything before it hangs on: `table` for `table.put_item`.
    pub(super) fn first_name(&self) -> Option<&str> {
        match &self.kind {
            Term::Name(name) => Some(name),
            Term::Member(of, _) | Term::Index(of, _) | Term::Await(of) => of.first_name(),
            Term::Call { callee, .. } => callee.first_name(),
            _ => None,
        }
    }

    /// The name, where it is nothing else.
    pub(super) fn name(&self) -> Option<&Arc<str>> {
        match &self.kind {
            Term::Name(name) => Some(name),
            _ => None,
        }
    }

    /// What it is made of, functions left out.
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

    /// Itself and all it is made of; functions in it are entered where `functions` is set.
    pub(super) fn walk<'e>(&'e self, functions: bool, visit: &mut dyn FnMut(Seen<'e>)) {
        visit(Seen::Expression(self));
        if let (Term::Function(function), true) = (&self.kind, functions) {
            walk(&function.body, functions, visit);
        }
        for part in self.parts() {
            part.walk(functions, visit);
        }
    }
}

/// What a walk comes by.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seen<'e> {
    Statement(&'e Statement),
    Expression(&'e Expression),
}

impl<'e> Seen<'e> {
    /// The expression that it is.
    pub(super) fn expression(self) -> Option<&'e Expression> {
        match self {
            Seen::Expression(expression) => Some(expression),
            Seen::Statement(_) => None,
        }
    }

    /// The statement that it is.
    pub(super) fn statement(self) -> Option<&'e Statement> {
        match self {
            Seen::Statement(statement) => Some(statement),
            Seen::Expression(_) => None,
        }
    }

    /// The call that it is, its callee and its arguments.
    pub(super) fn call(self) -> Option<(&'e Expression, &'e Expression, &'e [Expression])> {
        let whole = self.expression()?;
        match &whole.kind {
            Term::Call { callee, arguments, .. } => Some((whole, callee, arguments)),
            _ => None,
        }
    }
}

impl Statement {
    /// The expressions that stand in it directly.
    pub(super) fn expressions(&self) -> Vec<&Expression> {
        match &self.kind {
            Kind::Expression(one) | Kind::Return(Some(one)) | Kind::Raise(Some(one)) => vec![one],
            Kind::Assign { target, value, .. } => vec![target, value],
            Kind::Loop { over, .. } => over.iter().collect(),
            Kind::Branch { tests, .. } => tests.iter().collect(),
            Kind::Block(with, _) => with.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The statements in it, in their order; functions are not entered.
    pub(super) fn inner(&self) -> Vec<&[Statement]> {
        match &self.kind {
            Kind::Loop { body, .. } | Kind::Block(_, body) | Kind::Class(body) => vec![body],
            Kind::Branch { arms, .. } => arms.iter().map(Vec::as_slice).collect(),
            Kind::Try { body, catches, last } => {
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

/// What a call is given, in its arguments and in the objects among them, each with its name where it has one.
pub(super) fn given(arguments: &[Expression]) -> impl Iterator<Item = (Option<&str>, &Expression)> {
    arguments.iter().flat_map(|argument| match &argument.kind {
        Term::Object(entries) => entries.iter().map(|(key, value)| (key.as_deref(), value)).collect(),
        _ => vec![(None, argument)],
    })
}

/// Goes through statements and expressions, outermost first; functions are entered where `functions` is set.
pub(super) fn walk<'e>(statements: &'e [Statement], functions: bool, visit: &mut dyn FnMut(Seen<'e>)) {
    for statement in statements {
        visit(Seen::Statement(statement));
        for expression in statement.expressions() {
            expression.walk(functions, visit);
        }
        if let (Kind::Function(function), true) = (&statement.kind, functions) {
            walk(&function.body, functions, visit);
        }
        for inner in statement.inner() {
            walk(inner, functions, visit);
        }
    }
}
