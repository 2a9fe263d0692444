//! Conditions about unknown values.
//!
//! A condition refers to the identity of a value (`value/identity.rs`), never to source text. So the same condition
//! arises in a resource with `count`, in one without, in a loop and in another module. The text serves only as its
//! name: the expression of the user on one line.

use super::{Evaluator, Scope};
use crate::limits;
use crate::syntax::{self, Expression, ExpressionKind, For, Step, TemplatePart};
use crate::types::Type;
use crate::value::{Identity, SizeRelation, Value, ValueKind};
use conditions::{ANY_OPERAND, Case, Cases, Condition, Point, Variable};
use knowledge::Bounds;
use source::Span;
use std::fmt::Write as _;
use std::sync::Arc;

impl Evaluator<'_> {
    /// Converts a value to a boolean. An unknown one becomes two cases, under a condition named after it.
    pub(crate) fn question(&mut self, value: Value, expression: &Expression, scope: &Scope) -> Value {
        let cases = value.each_case().into_iter().flat_map(|Case { when, then: value }| {
            let answers = match (&value.kind, value.to_bool()) {
                (_, Some(answer)) => Cases::one(Value::bool(answer).from(&[value])),
                (ValueKind::Unknown(unknown), None) if unknown.error => Cases::one(value),
                (ValueKind::Unknown(unknown), None) => {
                    let identity = unknown.identity.clone();
                    both(&self.flag(identity.as_deref(), expression, scope))
                }
                _ => Cases::one(Value::error("it is not a boolean")),
            };
            answers.under(&when)
        });
        Value::cases(cases)
    }

    /// Returns the condition that `left < right`, or `left <= right` if `or_equal`, if one of them is unknown; `whole` is
    /// the comparison.
    pub(crate) fn is_less(
        &mut self,
        [(left, left_at), (right, right_at)]: [(&Value, &Expression); 2],
        or_equal: bool,
        whole: &Expression,
        scope: &Scope,
    ) -> Condition {
        // Numbers are whole: `n > 4` is `n >= 5`.
        let known = |value: &Value, is_next| value.to_whole()?.checked_add(i64::from(is_next));
        let condition = match (known(left, !or_equal), known(right, or_equal)) {
            (Some(least), None) => self.is_at_least(right, least, || self.written(right_at)),
            (None, Some(least)) => {
                let condition = self.is_at_least(left, least, || self.written(left_at));
                condition.map(|condition| condition.not())
            }
            _ => None,
        };
        condition.unwrap_or_else(|| {
            let identity = Identity::computed(if or_equal { "<=" } else { "<" }, [left, right]);
            self.flag(identity.as_ref(), whole, scope)
        })
    }

    /// Returns the condition that the unknown number `value` is at least `least`. A size becomes a condition on its
    /// collection.
    pub(crate) fn is_at_least(&self, value: &Value, least: i64, name: impl Fn() -> Arc<str>) -> Option<Condition> {
        let identity = value.as_unknown()?.identity.as_deref()?;
        let Bounds {
            least: lower,
            most: upper,
        } = identity.bounds;
        if lower.is_some_and(|lower| lower >= least) {
            return Some(Condition::always());
        }
        if upper.is_some_and(|upper| upper < least) {
            return Some(Condition::never());
        }
        if let Some(size) = &identity.size
            && (size.relation == SizeRelation::Same || (size.relation == SizeRelation::EmptyTogether && least == 1))
        {
            return Some(Condition::at_least(
                self.variable_of(&size.of, &name),
                Point::Size(least),
            ));
        }
        // A text that looks like a number is compared with texts, too, which have another order.
        let is_text = value.declared.as_deref() == Some(&Type::Text);
        (!is_text).then(|| Condition::at_least(self.variable_of(identity, name), Point::Number(least)))
    }

    /// Returns the condition that the unknown `value` is null.
    pub(crate) fn is_null(&self, value: &Value) -> Option<Condition> {
        let identity = value.as_unknown()?.identity.as_deref()?;
        let name = identity.name.clone()?;
        Some(self.null(identity, || name.clone()))
    }

    /// Returns the condition that the value with `identity` is null. A number with bounds is not, because its validation
    /// rejects null.
    fn null(&self, identity: &Identity, name: impl Fn() -> Arc<str>) -> Condition {
        if identity.is_present || identity.bounds.is_bounded() {
            return Condition::never();
        }
        Condition::is_point(self.variable_of(identity, name), Point::Null)
    }

    /// Returns the condition that the collection from which instances are created has an element, as far as `value`
    /// determines it: for a `count`, that it is at least 1.
    pub(crate) fn has_instances(&self, value: &Value, is_count: bool, written: Span) -> Option<Condition> {
        let name = || Arc::from(syntax::one_line(&self.sources.text(written)));
        if is_count {
            return self.is_at_least(value, 1, name);
        }
        let source = value.source()?;
        Some(Condition::at_least(self.variable_of(&source, name), Point::Size(1)))
    }

    /// Returns the condition that the unknown `value` equals the known `other`; `None` if that is not a test of one
    /// variable.
    pub(crate) fn is_value(&self, value: &Value, other: &Value, name: impl Fn() -> Arc<str>) -> Option<Condition> {
        let identity = value.as_unknown()?.identity.as_deref()?;
        let variable = || self.variable_of(identity, &name);
        match &other.kind {
            ValueKind::Null => Some(self.null(identity, &name)),
            ValueKind::Number(_) => {
                let number = other.to_whole()?;
                let is_less = self.is_at_least(value, number.checked_add(1)?, &name)?.not();
                Some(self.is_at_least(value, number, &name)?.and(&is_less))
            }
            ValueKind::Text(text) => Some(Condition::is(variable(), text.clone())),
            _ if other.is_empty() && other.declared.is_none() => match value.declared.as_deref() {
                // Terraform compares types as well, and `[]` and `{}` are neither lists nor maps.
                Some(Type::List(_) | Type::Set(_) | Type::Map(_)) => Some(Condition::never()),
                // `length(null)` is an error, so it makes no difference that null counts as empty here.
                None | Some(Type::Any) if identity.size.is_none() => {
                    Some(Condition::at_least(variable(), Point::Size(1)).not())
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the condition that two values are equal if one of them is unknown; `operands` are their expressions.
    pub(crate) fn are_equal(&mut self, values: [&Value; 2], operands: &[Expression; 2], scope: &Scope) -> Condition {
        let [left, right] = values;
        for (requested, other, operand) in [(left, right, &operands[0]), (right, left, &operands[1])] {
            if let Some(condition) = self.is_value(requested, other, || self.written(operand)) {
                return condition;
            }
            if let (Some(unknown), ValueKind::Bool(answer)) = (requested.as_unknown(), &other.kind)
                && let Some(identity) = unknown.identity.as_deref()
            {
                let flag = self.flag(Some(identity), operand, scope);
                return if *answer { flag } else { flag.not() };
            }
        }
        // `a == b` is the same condition as `b == a`.
        let mut sorted = values;
        sorted.sort_by_cached_key(|value| value.identity());
        let identity = Identity::computed("==", sorted).unwrap_or_else(|| {
            let places = operands.each_ref().map(|operand| self.place_of(operand, scope));
            let mut all = Vec::new();
            for value in values {
                value.operands(&mut all);
            }
            Identity::of(places.join("==")).on(all)
        });
        let [left, right] = operands.each_ref().map(|operand| self.written(operand));
        let name = if self.is_described(scope.module) {
            right
        } else {
            format!("{left} == {right}").into()
        };
        Condition::flag_of(self.key(&identity.key), name, self.operands(&identity))
    }

    /// Distinguishes the values of an unknown `key` of a `map` with known keys: a case for each key, and a last one in
    /// which it remains unknown. So `local.timeouts[var.stage]` has the value of each stage.
    pub(crate) fn key_of(&self, map: &Value, key: &Value) -> Value {
        let (Some(unknown), Some(entries)) = (key.as_unknown(), map.entries()) else {
            return key.clone();
        };
        let identity = unknown.identity.as_deref().filter(|_| !unknown.error);
        let Some((identity, name)) = identity.and_then(|identity| Some((identity, identity.name.clone()?))) else {
            return key.clone();
        };
        if entries.len() > limits::MAX_DISTINGUISHED_KEYS {
            return key.clone();
        }
        let variable = self.variable_of(identity, || name.clone());
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

    /// Returns the condition that `expression` is true.
    fn flag(&self, identity: Option<&Identity>, expression: &Expression, scope: &Scope) -> Condition {
        let key = match identity {
            Some(identity) => self.key(&identity.key),
            None => self.key(&self.place_of(expression, scope)),
        };
        let operands = match identity {
            Some(identity) => self.operands(identity),
            // What the value is computed from is not known.
            None => Some([ANY_OPERAND.into()].into()),
        };
        Condition::flag_of(key, self.name_of(identity, expression), operands)
    }

    /// Returns the variable for `identity`; it is called `name` if it has no name of its own.
    pub(crate) fn variable_of(&self, identity: &Identity, name: impl Fn() -> Arc<str>) -> Variable {
        Variable {
            order: 0,
            key: self.key(&identity.key),
            name: identity.name.clone().unwrap_or_else(name),
            domain: None,
            default: None,
            operands: self.operands(identity),
        }
    }

    /// Returns the operands of the variable for `identity`: the keys of the values that it is computed from.
    fn operands(&self, identity: &Identity) -> Option<Arc<[Arc<str>]>> {
        let key = |operand: &Arc<str>| match &**operand {
            ANY_OPERAND => operand.clone(),
            _ => self.key(operand),
        };
        Some(identity.operands.as_ref()?.iter().map(key).collect())
    }

    /// Returns the key of a condition's variable, which is unique across units.
    pub(crate) fn key(&self, identity: &str) -> Arc<str> {
        format!("{}|{identity}", self.unit).into()
    }

    fn name_of(&self, identity: Option<&Identity>, expression: &Expression) -> Arc<str> {
        let name = identity.and_then(|identity| identity.name.clone());
        name.unwrap_or_else(|| self.written(expression))
    }

    /// Returns the source text of the expression on one line.
    fn written(&self, expression: &Expression) -> Arc<str> {
        syntax::one_line(&self.sources.text(expression.span)).into()
    }

    /// Returns a key that identifies the value of `expression` in `scope` if it has no other identity: the span, the
    /// instance, and the elements of the surrounding loops.
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
            // Many expressions of a description share one span.
            let _ = write!(place, ",{:?}", expression.kind);
        }
        place
    }

    /// Gives an unknown `value` an identity if it has none yet. What it is computed from is not known then.
    pub(crate) fn identified(&self, value: Value, expression: &Expression, scope: &Scope) -> Value {
        value.otherwise_identified(|| Some(Identity::of(self.place_of(expression, scope)).on(vec![ANY_OPERAND.into()])))
    }

    /// Returns the identity of a loop over an unknown collection. Equal loops over one collection have the same
    /// identity, wherever they are written.
    pub(crate) fn loop_over(&mut self, collection: &Value, parts: &For, scope: &Scope) -> Option<Identity> {
        let mut outline = Outline {
            text: format!("for({},", collection.identity()?),
            bound: Vec::new(),
            operands: Vec::new(),
        };
        collection.operands(&mut outline.operands);
        outline.bound.extend(parts.key_name.clone());
        outline.bound.push(parts.value_name.clone());
        let of_map = parts.key.is_some();
        let _ = write!(outline.text, "{of_map},{},", parts.grouping);
        let inner = parts.key.iter().chain([&parts.value]).chain(&parts.condition);
        for expression in inner {
            self.outline(expression, scope, &mut outline)?;
            outline.text.push(',');
        }
        let relation = match (&parts.condition, parts.grouping) {
            (Some(_), _) => SizeRelation::AtMost,
            (None, true) => SizeRelation::EmptyTogether,
            (None, false) => SizeRelation::Same,
        };
        Some(
            Identity::of(outline.text)
                .on(outline.operands)
                .sized(collection, relation),
        )
    }

    /// Returns the identity of `steps` applied to every element of an unknown collection.
    pub(crate) fn splat_over(&mut self, collection: &Value, steps: &[Step], scope: &Scope) -> Option<Identity> {
        let mut outline = Outline {
            text: format!("splat({},", collection.identity()?),
            bound: Vec::new(),
            operands: Vec::new(),
        };
        collection.operands(&mut outline.operands);
        self.outline_steps(steps, scope, &mut outline)?;
        Some(Identity::of(outline.text).on(outline.operands))
    }

    /// Appends a description of what `expression` computes with every name resolved: names that the surrounding loops
    /// bind become their position, and all others the identity of their value in `scope`. Returns `None` if it cannot
    /// be described.
    fn outline(&mut self, expression: &Expression, scope: &Scope, outline: &mut Outline) -> Option<()> {
        if outline.text.len() > limits::MAX_LOOP_OUTLINE || !self.spend(1) {
            return None;
        }
        let (base, steps) = match &expression.kind {
            ExpressionKind::Traversal(base, steps) => (&**base, steps.as_slice()),
            _ => (expression, &[][..]),
        };
        if let ExpressionKind::Variable(name) = &base.kind {
            if let Some(at) = outline.bound.iter().rposition(|bound| bound == name) {
                let _ = write!(outline.text, "${at}");
                return self.outline_steps(steps, scope, outline);
            }
            // Any other name is replaced by the identity of its value, up to the first step that is not an attribute.
            let is_plain = |step: &&Step| matches!(step, Step::Attribute(_));
            let (plain, rest) = steps.split_at(steps.iter().take_while(is_plain).count());
            let value = self.traverse(base, plain, scope);
            let value = self.identified(value, expression, scope);
            outline.text.push_str(&value.identity()?);
            value.operands(&mut outline.operands);
            return self.outline_steps(rest, scope, outline);
        }
        match &expression.kind {
            ExpressionKind::Null
            | ExpressionKind::Bool(_)
            | ExpressionKind::Number(_)
            | ExpressionKind::Text(_)
            | ExpressionKind::Known(_) => {
                let value = self.eval(expression, scope);
                outline.text.push_str(&value.identity()?);
                Some(())
            }
            ExpressionKind::Traversal(base, steps) => {
                self.outline(base, scope, outline)?;
                self.outline_steps(steps, scope, outline)
            }
            ExpressionKind::Tuple(items) => self.outline_all("list", items, scope, outline),
            ExpressionKind::Object(items) => {
                let items: Vec<Expression> = items
                    .iter()
                    .flat_map(|item| [item.key.clone(), item.value.clone()])
                    .collect();
                self.outline_all("map", &items, scope, outline)
            }
            ExpressionKind::Conditional(parts) => self.outline_all("if", &**parts, scope, outline),
            ExpressionKind::Call {
                name,
                arguments,
                expand,
            } => self.outline_all(&format!("{name}{expand}"), arguments, scope, outline),
            ExpressionKind::Unary(operator, operand) => self.outline_all(
                &format!("{operator:?}"),
                std::slice::from_ref(&**operand),
                scope,
                outline,
            ),
            ExpressionKind::Binary(operator, operands) => {
                self.outline_all(&format!("{operator:?}"), &**operands, scope, outline)
            }
            ExpressionKind::Template(parts) => {
                outline.text.push_str("text(");
                for part in parts {
                    match part {
                        TemplatePart::Literal(text) => {
                            let _ = write!(outline.text, "{text:?},");
                        }
                        TemplatePart::Value(expression) => self.outline(expression, scope, outline)?,
                        // A nested loop is not supported.
                        TemplatePart::If(..) | TemplatePart::For { .. } => return None,
                    }
                }
                outline.text.push(')');
                Some(())
            }
            // A nested loop is not supported.
            ExpressionKind::For(_) | ExpressionKind::Variable(_) => None,
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

/// A canonical description of an expression.
struct Outline {
    text: String,
    /// Names that the surrounding loops bind, outermost first.
    bound: Vec<Arc<str>>,
    /// Keys of the values that it is computed from.
    operands: Vec<Arc<str>>,
}

/// Returns the two cases of a boolean: `true` under `flag`, `false` under its negation.
pub(crate) fn both(flag: &Condition) -> Cases<Value> {
    let answers = [
        Case::new(flag.clone(), Value::bool(true)),
        Case::new(flag.not(), Value::bool(false)),
    ];
    answers.into_iter().collect()
}
