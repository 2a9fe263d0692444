//! Determines that a file certainly lacks the function of a handler.
//!
//! ```text
//! handler.lambda_handler    def handler(event, context): …        missing, the file has `handler`
//! app.run                   from .orders import *                 unknown
//! index.handler             module.exports = create(parts)        unknown
//! ```

use crate::find::exports::{self, Defined, Token, tokens};
use crate::read::language::Language;
use crate::read::syntax::{Expression, Module, Statement, StatementKind, Term};
use std::sync::Arc;

/// Words of code in Python that may define names in other ways than by statements of its module.
const DYNAMIC: [&str; 10] = [
    "*",
    "__dict__",
    "__getattr__",
    "exec",
    "execfile",
    "globals",
    "locals",
    "modules",
    "setattr",
    "vars",
];

/// Maximum number of functions that are named instead.
const MOST_NAMED: usize = 12;

/// Returns the names of the functions that a file has, if it is understood and certainly lacks `name`.
pub(crate) fn functions_instead(module: &Module, text: &str, name: &str) -> Option<Vec<Arc<str>>> {
    if module.is_script {
        // `const own = module.exports = {}`
        if text.contains("= module.exports") {
            return None;
        }
        let tokens = tokens(text);
        let lacks =
            exports::origin(text, Language::Script, name) == Defined::Nowhere && exports_are_known(&tokens, name);
        let exported = |function: &Arc<str>| exports::origin(text, Language::Script, function) == Defined::Here;
        return lacks.then(|| functions(&module.body).take(MOST_NAMED).filter(exported).collect());
    }
    let lacks = !module.says(&DYNAMIC) && !binds(&module.body, name);
    lacks.then(|| {
        functions(&module.body)
            .filter(|name| !name.starts_with('_'))
            .take(MOST_NAMED)
            .collect()
    })
}

/// Returns the functions outside of classes and other functions.
fn functions(body: &[Statement]) -> impl Iterator<Item = Arc<str>> {
    body.iter().filter_map(|one| match &one.kind {
        StatementKind::Function(function) => function.name.clone(),
        StatementKind::Assign { target, value, .. } if matches!(value.kind, Term::Function(_)) => {
            target.name().cloned()
        }
        _ => None,
    })
}

/// Returns `true` if statements of a module in Python, or of its functions, may bind `name` in the module.
fn binds(body: &[Statement], name: &str) -> bool {
    let is_bound = |target: &Expression| target.says(&[name]);
    body.iter().any(|one| {
        let own = match &one.kind {
            StatementKind::Assign { target, .. } => is_bound(target),
            StatementKind::Expression(value) => is_bound(value),
            StatementKind::Function(function) => {
                function.name.as_deref() == Some(name) || may_bind_outside(&function.body, name, &function.outer)
            }
            StatementKind::Class(class) => class.name.as_deref() == Some(name),
            StatementKind::Field(field) => **field == *name,
            StatementKind::Import(names) => names.iter().any(|one| **one == *name),
            StatementKind::Loop(one) => one.target.as_ref().is_some_and(is_bound),
            StatementKind::With(items, _) => items.iter().any(|(_, target)| target.as_ref().is_some_and(is_bound)),
            StatementKind::If { test, .. } => is_bound(test),
            _ => false,
        };
        let is_scope = matches!(one.kind, StatementKind::Function(_) | StatementKind::Class(_));
        own || !is_scope && one.bodies().into_iter().any(|body| binds(body, name))
    })
}

/// Returns `true` if a function names `name` as a variable of its module, or contains one that does.
fn may_bind_outside(body: &[Statement], name: &str, outer: &[Arc<str>]) -> bool {
    outer.iter().any(|one| **one == *name)
        || body.iter().any(|one| match &one.kind {
            StatementKind::Function(function) => may_bind_outside(&function.body, name, &function.outer),
            _ => one.bodies().into_iter().any(|body| may_bind_outside(body, name, &[])),
        })
}

/// Returns `true` if a script exports names only in ways that show each of them, and `name` in none.
fn exports_are_known(tokens: &[Token<'_>], name: &str) -> bool {
    use Token::{Sign, Text, Word};
    (0..tokens.len()).all(|at| match &tokens[at..] {
        // `exports = value`, `exports = { ...others }`, `exports[name] = value`, `f(exports)`
        [Word("exports"), Sign(b'='), Sign(b'='), ..] => true,
        [Word("exports"), Sign(b'='), Sign(b'{'), inner @ ..] => {
            let end = inner
                .iter()
                .position(|token| *token == Sign(b'}'))
                .unwrap_or(inner.len());
            let is_plain = |token: &Token<'_>| matches!(token, Word(_) | Sign(b',' | b':'));
            inner[..end].iter().all(is_plain) && !inner[..end].contains(&Word(name))
        }
        [Word("exports" | "this"), Sign(b'.'), Word(own), ..] => own != &name,
        [Word("exports"), ..] => false,
        // `export * from`, `export default { name }`, `export = value`, `export const { name } = value`
        [Word("export"), Sign(b'{'), ..] => true,
        [Word("export"), Word("default"), next, ..] => {
            name != "default" && matches!(next, Word("function" | "async" | "class"))
        }
        [Word("export"), Word("const" | "let" | "var"), next, ..] => matches!(next, Word(own) if *own != name),
        [Word("export"), next, ..] => matches!(
            next,
            Word("async" | "function" | "class" | "type" | "interface" | "enum" | "declare" | "abstract")
        ),
        // A name may be exported under a text.
        [Text(text), ..] => *text != name,
        _ => true,
    })
}
