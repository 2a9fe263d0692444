//! Questions: which conditions a value depends on that is not known.
//!
//! What a question is about is the identity of a value (`value/identity.rs`), never the text that asks. So it is the
//! same question in a resource with `count`, in one without, in a loop and in another module. The text is for people
//! only: the reader's own expression on one line.

use super::super::syntax::{self, Expression, For, Kind as Syntax, Part, Step};
use super::super::value::{Identity, Kind, Value};
use super::{Evaluator, Scope};
use crate::conditions::{Case, Cases, Condition, Variable};
use crate::source::Span;
use std::fmt::Write as _;
use std::sync::Arc;

/// The keys of larger maps are not told apart.
const MAX_KEYS: usize = 8;
/// A loop of which more would have to be compared is told from others by its place.
const MAX_OUTLINE: usize = 4096;

impl Evaluator<'_> {
    /// A value as a boolean: what is not known becomes both answers, under a condition named after it.
    pub(super) fn question(&mut self, value: Value, expression: &Expression, scope: &Scope) -> Value {
        let cases = value.each_case().into_iter().flat_map(|Case { when, then: value }| {
            let answers = match (&value.kind, value.to_bool()) {
                (_, Some(answer)) => Cases::one(Value::bool(answer).from(&[value])),
                (Kind::Unknown(unknown), None) if unknown.error => Cases::one(value),
                (Kind::Unknown(unknown), None) => {
                    let identity = unknown.identity.clone();
                    both(&self.flag(identity.as_deref(), expression, scope))
                }
                _ => Cases::one(Value::error("it is not a boolean")),
            };
            answers.under(&when)
        });
        Value::cases(cases)
    }

    /// The condition that `left` comes before `right`, of which one is not known; `whole` asks it.
    pub(super) fn is_less(&mut self, left: &Value, right: &Value, whole: &Expression, scope: &Scope) -> Condition {
        let identity = Identity::computed("<", [left, right]);
        self.flag(identity.as_ref(), whole, scope)
    }

    /// The condition that `left <= right`, as [`Evaluator::is_less`].
    pub(super) fn is_at_most(&mut self, left: &Value, right: &Value, whole: &Expression, scope: &Scope) -> Condition {
        let identity = Identity::computed("<=", [left, right]);
        self.flag(identity.as_ref(), whole, scope)
    }

    /// The condition that values are equal of which one is not known; `operands` gave them.
    pub(super) fn are_equal(&mut self, values: [&Value; 2], operands: &[Expression; 2], scope: &Scope) -> Condition {
        let [left, right] = values;
        for (asked, other, operand) in [(left, right, &operands[0]), (right, left, &operands[1])] {
            if let Some(identity) = asked.as_unknown().and_then(|unknown| unknown.identity.as_deref())
                && let Some(text) = other.to_text()
            {
                return match other.kind {
                    Kind::Bool(true) => self.flag(Some(identity), operand, scope),
                    Kind::Bool(_) => self.flag(Some(identity), operand, scope).not(),
                    _ => {
                        let variable = Variable {
                            order: 0,
                            key: self.key(&identity.key),
                            name: self.name_of(Some(identity), operand),
                            domain: None,
                            default: None,
                        };
                        Condition::is(variable, text)
                    }
                };
            }
        }
        // The other way round it is the same question.
        let mut sorted = values;
        sorted.sort_by_cached_key(|value| value.identity());
        let key = match Identity::computed("==", sorted) {
            Some(identity) => self.key(&identity.key),
            None => self.key(&format!(
                "{}=={}",
                self.place_of(&operands[0], scope),
                self.place_of(&operands[1], scope)
            )),
        };
        let [left, right] = operands.each_ref().map(|operand| self.written(operand));
        if self.is_described(scope.module) {
            return Condition::flag(key, right);
        }
        Condition::flag(key, format!("{left} == {right}"))
    }

    /// An unknown `key` of a `map` whose keys are known: each of them under the condition that it is that, and what it was
    /// where it is none. `local.timeouts[var.stage]` has the value of each stage.
    pub(in super::super) fn key_of(&self, map: &Value, key: &Value) -> Value {
        let (Some(unknown), Some(entries)) = (key.as_unknown(), map.entries()) else {
            return key.clone();
        };
        let identity = unknown.identity.as_deref().filter(|_| !unknown.error);
        let Some((identity, name)) = identity.and_then(|identity| Some((identity, identity.name.clone()?))) else {
            return key.clone();
        };
        if entries.len() > MAX_KEYS {
            return key.clone();
        }
        let variable = Variable {
            order: 0,
            key: self.key(&identity.key),
            name,
            domain: None,
            default: None,
        };
        let mut rest = Condition::always();
        let mut cases = Vec::new();
        for (text, _) in entries.iter() {
            let when = Condition::is(variable.clone(), text.clone());
            rest = rest.and(&when.not());
            cases.push(Case::new(when, Value::text(text.clone())));
        }
        cases.push(Case::new(rest, key.clone()));
        Value::cases(cases)
    }

    /// The condition that what `expression` asks is so.
    fn flag(&self, identity: Option<&Identity>, expression: &Expression, scope: &Scope) -> Condition {
        let key = match identity {
            Some(identity) => self.key(&identity.key),
            None => self.key(&self.place_of(expression, scope)),
        };
        Condition::flag(key, self.name_of(identity, expression))
    }

    /// Tells a variable of conditions from those of other units.
    pub(super) fn key(&self, identity: &str) -> Arc<str> {
        format!("{}|{identity}", self.unit).into()
    }

    fn name_of(&self, identity: Option<&Identity>, expression: &Expression) -> Arc<str> {
        let name = identity.and_then(|identity| identity.name.clone());
        name.unwrap_or_else(|| self.written(expression))
    }

    /// The expression as its author wrote it, on one line.
    fn written(&self, expression: &Expression) -> Arc<str> {
        syntax::one_line(&self.sources.text(expression.span)).into()
    }

    /// What tells the value of `expression` in `scope` from every other where nothing else does: where it is asked, by
    /// which instance, and for which elements.
    fn place_of(&self, expression: &Expression, scope: &Scope) -> String {
        let Span { file, start, end } = expression.span;
        let file = self.sources.file(file);
        let mut place = format!("{}.{}@{}:{start}-{end}", scope.module, scope.key.shown(), file.name());
        for (name, value) in &scope.names {
            let _ = match value.identity() {
                Some(identity) => write!(place, ",{name}={identity}"),
                None => write!(place, ",{name}={:?}", value.span),
            };
        }
        if self.is_described(scope.module) {
            // Many expressions of a description stand at one place.
            let _ = write!(place, ",{:?}", expression.kind);
        }
        place
    }

    /// `value`, with an identity of its own if it is not known and has none yet.
    pub(super) fn identified(&self, value: Value, expression: &Expression, scope: &Scope) -> Value {
        value.otherwise_identified(|| Some(Identity::of(self.place_of(expression, scope))))
    }

    /// What a loop over something unknown gives: one value for one loop over one thing, wherever it is written.
    pub(super) fn loop_over(&mut self, collection: &Value, parts: &For, scope: &Scope) -> Option<Identity> {
        let mut outline = Outline {
            text: format!("for({},", collection.identity()?),
            bound: Vec::new(),
        };
        outline.bound.extend(parts.key_name.clone());
        outline.bound.push(parts.value_name.clone());
        let of_map = parts.key.is_some();
        let _ = write!(outline.text, "{of_map},{},", parts.grouping);
        let inner = parts.key.iter().chain([&parts.value]).chain(&parts.condition);
        for expression in inner {
            self.outline(expression, scope, &mut outline)?;
            outline.text.push(',');
        }
        Some(Identity::of(outline.text))
    }

    /// `steps` after something unknown, where each has to be taken on every element.
    pub(super) fn splat_over(&mut self, collection: &Value, steps: &[Step], scope: &Scope) -> Option<Identity> {
        let mut outline = Outline {
            text: format!("splat({},", collection.identity()?),
            bound: Vec::new(),
        };
        self.outline_steps(steps, scope, &mut outline)?;
        Some(Identity::of(outline.text))
    }

    /// Writes what `expression` computes, with every name resolved: those that the loops around it bind by their place,
    /// all others to what they stand for in `scope`. `None` where that cannot be said.
    fn outline(&mut self, expression: &Expression, scope: &Scope, outline: &mut Outline) -> Option<()> {
        if outline.text.len() > MAX_OUTLINE || !self.spend(1) {
            return None;
        }
        let (base, steps) = match &expression.kind {
            Syntax::Traversal(base, steps) => (&**base, steps.as_slice()),
            _ => (expression, &[][..]),
        };
        if let Syntax::Variable(name) = &base.kind {
            if let Some(at) = outline.bound.iter().rposition(|bound| bound == name) {
                let _ = write!(outline.text, "${at}");
                return self.outline_steps(steps, scope, outline);
            }
            // Another name is what it stands for, as far as no element has to be known for it.
            let is_plain = |step: &&Step| matches!(step, Step::Attribute(_));
            let (plain, rest) = steps.split_at(steps.iter().take_while(is_plain).count());
            let value = self.traverse(base, plain, scope);
            let value = self.identified(value, expression, scope);
            outline.text.push_str(&value.identity()?);
            return self.outline_steps(rest, scope, outline);
        }
        match &expression.kind {
            Syntax::Null | Syntax::Bool(_) | Syntax::Number(_) | Syntax::Text(_) | Syntax::Known(_) => {
                let value = self.eval(expression, scope);
                outline.text.push_str(&value.identity()?);
                Some(())
            }
            Syntax::Traversal(base, steps) => {
                self.outline(base, scope, outline)?;
                self.outline_steps(steps, scope, outline)
            }
            Syntax::Tuple(items) => self.outline_all("list", items, scope, outline),
            Syntax::Object(items) => {
                let items: Vec<Expression> = items
                    .iter()
                    .flat_map(|item| [item.key.clone(), item.value.clone()])
                    .collect();
                self.outline_all("map", &items, scope, outline)
            }
            Syntax::Conditional(parts) => self.outline_all("if", &**parts, scope, outline),
            Syntax::Call {
                name,
                arguments,
                expand,
            } => self.outline_all(&format!("{name}{expand}"), arguments, scope, outline),
            Syntax::Unary(operator, operand) => self.outline_all(
                &format!("{operator:?}"),
                std::slice::from_ref(&**operand),
                scope,
                outline,
            ),
            Syntax::Binary(operator, operands) => {
                self.outline_all(&format!("{operator:?}"), &**operands, scope, outline)
            }
            Syntax::Template(parts) => {
                outline.text.push_str("text(");
                for part in parts {
                    match part {
                        Part::Literal(text) => {
                            let _ = write!(outline.text, "{text:?},");
                        }
                        Part::Value(expression) => self.outline(expression, scope, outline)?,
                        // A loop of its own.
                        Part::If(..) | Part::For { .. } => return None,
                    }
                }
                outline.text.push(')');
                Some(())
            }
            // A loop in a loop.
            Syntax::For(_) | Syntax::Variable(_) => None,
        }
    }

    fn outline_all(&mut self, what: &str, all: &[Expression], scope: &Scope, outline: &mut Outline) -> Option<()> {
        let _ = write!(outline.text, "{what}(");
        for expression in all {
            self.outline(expression, scope, outline)?;
            outline.text.push(',');
        }
        outline.text.push(')');
        Some(())
    }

    fn outline_steps(&mut self, steps: &[Step], scope: &Scope, outline: &mut Outline) -> Option<()> {
        for step in steps {
            match step {
                Step::Attribute(name) => {
                    let _ = write!(outline.text, ".{name:?}");
                }
                Step::Index(index) | Step::LegacyIndex(index) => {
                    outline.text.push('.');
                    self.outline(index, scope, outline)?;
                }
                Step::Splat => outline.text.push_str("[*]"),
                Step::AttributeSplat => outline.text.push_str(".*"),
            }
        }
        Some(())
    }
}

/// An expression as it is written down.
struct Outline {
    text: String,
    /// Names of the loops around it, outermost first.
    bound: Vec<Arc<str>>,
}

/// Both answers to a question, where `flag` holds and where it does not.
pub(super) fn both(flag: &Condition) -> Cases<Value> {
    let answers = [
        Case::new(flag.clone(), Value::bool(true)),
        Case::new(flag.not(), Value::bool(false)),
    ];
    answers.into_iter().collect()
}
