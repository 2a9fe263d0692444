//! Resolves values that a file computes from constants and environment variables, without executing it. A name has a
//! value only if it is bound once in the whole file, so that no scope needs to be known.

use crate::limits;
use crate::read::syntax::{Expression, Logic, Operator, Term};
use rustc_hash::{FxHashMap, FxHashSet};

/// Objects that applications name their settings after; an upper-case member of one is an environment variable.
const SETTINGS: [&str; 5] = ["settings", "config", "conf", "env", "Config"];

/// The value of an expression, as far as a file determines it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Constant<'m> {
    Number(f64),
    Bool(bool),
    Text(&'m str),
    /// The value of an environment variable.
    Variable(&'m str),
    /// An object or a call, whose parts are resolved on demand.
    Compound(&'m Expression),
    Unknown,
}

/// Binding of a name.
#[derive(Debug, Clone, Copy)]
enum Binding<'m> {
    Value(&'m Expression),
    Variable(&'m str),
    /// Bound to something else, or several times.
    Other,
}

/// The names that a file binds.
#[derive(Debug, Default)]
pub(crate) struct Constants<'m> {
    bindings: FxHashMap<&'m str, Binding<'m>>,
    /// Fields of `self` and `this`.
    fields: FxHashMap<&'m str, Binding<'m>>,
    /// Entries that are assigned to objects after their creation.
    assigned: FxHashSet<&'m str>,
}

impl<'m> Constants<'m> {
    /// Adds the names in the pattern `target`, bound to `value` if it is a single name or field.
    pub(crate) fn bind(&mut self, target: &'m Expression, value: Option<&'m Expression>) {
        let binding = value.map_or(Binding::Other, Binding::Value);
        match &target.kind {
            Term::Name(name) => add(&mut self.bindings, name, binding),
            Term::Member(of, field) if is_self(of) => add(&mut self.fields, field, binding),
            Term::Member(_, entry) => {
                self.assigned.insert(entry);
            }
            Term::Index(_, index) => {
                if let Term::Text(entry) = &index.kind {
                    self.assigned.insert(entry);
                }
            }
            // `const { QUEUE_URL } = process.env`
            Term::Object(entries) if value.is_some_and(is_environment) => {
                for (key, local) in entries {
                    match (key, local.name()) {
                        (Some(key), Some(local)) => add(&mut self.bindings, local, Binding::Variable(key)),
                        _ => self.bind(local, None),
                    }
                }
            }
            Term::Object(entries) => entries.iter().for_each(|(_, part)| self.bind(part, None)),
            Term::List(parts) | Term::Other(parts) => parts.iter().for_each(|part| self.bind(part, None)),
            Term::Spread(part) => self.bind(part, None),
            Term::Assign { target, .. } => self.bind(target, None),
            _ => {}
        }
    }

    /// Adds a name whose value is unknown.
    pub(crate) fn bind_name(&mut self, name: &'m str) {
        add(&mut self.bindings, name, Binding::Other);
    }

    /// Returns `true` if `entry` of some object is assigned after the object was created.
    pub(crate) fn is_assigned(&self, entry: &str) -> bool {
        self.assigned.contains(entry)
    }

    /// Returns the expression that `name` is bound to.
    pub(crate) fn value(&self, name: &str) -> Option<&'m Expression> {
        match self.bindings.get(name)? {
            Binding::Value(value) => Some(value),
            Binding::Variable(_) | Binding::Other => None,
        }
    }

    pub(crate) fn resolve(&self, value: &'m Expression) -> Constant<'m> {
        self.resolve_within(value, limits::MAX_CONSTANT_HOPS)
    }

    /// Returns the number that `value` is, if it is at least 0.
    pub(crate) fn number(&self, value: &'m Expression) -> Option<f64> {
        match self.resolve(value) {
            Constant::Number(number) if number.is_finite() && number >= 0.0 => Some(number),
            _ => None,
        }
    }

    fn resolve_within(&self, value: &'m Expression, steps: usize) -> Constant<'m> {
        let Some(steps) = steps.checked_sub(1) else {
            return Constant::Unknown;
        };
        match &value.kind {
            Term::Number(number) => Constant::Number(*number),
            Term::Bool(truth) => Constant::Bool(*truth),
            Term::Text(text) => Constant::Text(text),
            Term::Name(name) => self.bound(self.bindings.get(&**name), steps),
            Term::Member(of, name) if is_environment(of) => Constant::Variable(name),
            Term::Member(of, field) if is_self(of) => self.bound(self.fields.get(&**field), steps),
            Term::Member(of, key) => self.member(of, key, steps),
            Term::Call {
                callee,
                arguments,
                is_new: false,
                ..
            } => read_variable(callee, arguments).map_or(Constant::Compound(value), Constant::Variable),
            Term::Object(_) | Term::Call { .. } => Constant::Compound(value),
            Term::Await(inner) => self.resolve_within(inner, steps),
            // The variable is set, so its default does not apply.
            Term::Logic(Logic::Or | Logic::IfNull, parts) => match self.resolve_within(&parts[0], steps) {
                Constant::Variable(name) => Constant::Variable(name),
                _ => Constant::Unknown,
            },
            Term::Binary(operator, parts) => {
                let [left, right] = [0, 1].map(|at| self.resolve_within(&parts[at], steps));
                match (operator, left, right) {
                    (Operator::Add, Constant::Number(left), Constant::Number(right)) => Constant::Number(left + right),
                    (Operator::Subtract, Constant::Number(left), Constant::Number(right)) => {
                        Constant::Number(left - right)
                    }
                    (Operator::Multiply, Constant::Number(left), Constant::Number(right)) => {
                        Constant::Number(left * right)
                    }
                    _ => Constant::Unknown,
                }
            }
            _ => Constant::Unknown,
        }
    }

    fn bound(&self, binding: Option<&Binding<'m>>, steps: usize) -> Constant<'m> {
        match binding {
            Some(Binding::Value(value)) => self.resolve_within(value, steps),
            Some(Binding::Variable(name)) => Constant::Variable(name),
            Some(Binding::Other) | None => Constant::Unknown,
        }
    }

    fn member(&self, of: &'m Expression, key: &'m str, steps: usize) -> Constant<'m> {
        match self.resolve_within(of, steps) {
            Constant::Compound(Expression {
                kind: Term::Object(entries),
                ..
            }) => match entry(entries, key) {
                Ok(Some(value)) => self.resolve_within(value, steps),
                _ => Constant::Unknown,
            },
            _ if of.name().is_some_and(|name| SETTINGS.contains(&&**name)) && is_variable(key) => {
                Constant::Variable(key)
            }
            _ => Constant::Unknown,
        }
    }
}

/// A value or setting that a file does not determine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Undetermined;

/// Returns the value of `key` among the entries of an object, `None` if it has none, or an error if a spread or a computed
/// key may set it.
pub(crate) fn entry<'m>(
    entries: &'m [(Option<std::sync::Arc<str>>, Expression)],
    key: &str,
) -> Result<Option<&'m Expression>, Undetermined> {
    if entries.iter().any(|(key, _)| key.is_none()) {
        return Err(Undetermined);
    }
    let mut found = entries.iter().rev().filter(|(known, _)| known.as_deref() == Some(key));
    Ok(found.next().map(|(_, value)| value))
}

fn add<'m>(bindings: &mut FxHashMap<&'m str, Binding<'m>>, name: &'m str, binding: Binding<'m>) {
    let known = bindings.insert(name, binding);
    if known.is_some() {
        bindings.insert(name, Binding::Other);
    }
}

fn is_self(of: &Expression) -> bool {
    of.name().is_some_and(|name| matches!(&**name, "self" | "this"))
}

/// Returns `true` for `process.env` and `os.environ`.
fn is_environment(of: &Expression) -> bool {
    match &of.kind {
        Term::Member(of, name) => {
            let of = of.name().map(|of| &**of);
            matches!((of, &**name), (Some("process"), "env") | (Some("os"), "environ"))
        }
        Term::Name(name) => &**name == "environ",
        _ => false,
    }
}

/// Returns the variable that a call reads: `os.getenv("QUEUE_URL")`, `environ.get("QUEUE_URL")`,
/// `config.getOrThrow("QUEUE_URL")`.
fn read_variable<'m>(callee: &'m Expression, arguments: &'m [Expression]) -> Option<&'m str> {
    let Some(Term::Text(name)) = arguments.first().map(|first| &first.kind) else {
        return None;
    };
    let reads = matches!(callee.last_name(), Some("get" | "getenv" | "getOrThrow"));
    (reads && is_variable(name)).then_some(name)
}

/// Returns `true` if `name` has the form of an environment variable.
pub(crate) fn is_variable(name: &str) -> bool {
    name.contains(|one: char| one.is_ascii_uppercase())
        && name
            .chars()
            .all(|one| one.is_ascii_uppercase() || one.is_ascii_digit() || one == '_')
}
