//! Evaluates expressions in a scope, lazily and each declaration once.
//!
//! ```text
//! variable "env" {}
//! locals { wait = var.env == "prod" ? 300 : 30 }
//! resource "aws_sqs_queue" "q" {
//!   for_each                   = toset(["a", "b"])
//!   visibility_timeout_seconds = local.wait
//! }
//! ```
//!
//! Nothing is evaluated until the lowering requests the members of `aws_sqs_queue.q`. `for_each` yields two
//! (`expansion.rs`), each with its own [`Scope`] in which `each.key` is known. The timeout of the first evaluates
//! `local.wait` and caches its value; the second reads it from the cache. `var.env` has no value, so whether it is
//! `prod` becomes a condition (`questions.rs`), and the conditional has a value with two cases: 300 if `var.env` is
//! `prod`, else 30. Anything computed from it is computed for each case ([`Evaluator::lift`]).
//!
//! Unknown values keep the first reason why they are unknown. This module knows nothing about resource types except
//! which attributes are links and the provider's defaults (`provider.rs`). Work is bounded in steps and depth.

mod blocks;
mod constraint;
mod expansion;
mod instances;
mod names;
mod operators;
mod policy_document;
mod providers;
mod published;
mod questions;
mod remote_state;
mod set_by;
mod traversal;
mod validation;

pub use blocks::Nested;
pub use expansion::Expansion;
pub use expansion::Member;
pub use instances::Instance;
pub(crate) use questions::both;

use super::functions;
use super::inputs::RootInputs;
use super::module::Modules;
use super::provider;
use super::syntax::{Expression, ExpressionKind, For, TemplatePart};
use super::types;
use super::value::{Key, TOO_MANY_CASES, Trail, Value, ValueKind, joined};
use crate::limits;
use conditions::{Cases, Condition};
use expansion::Made;
use knowledge::{Cause, Reason};
use rustc_hash::FxHashMap;
use source::{Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The reason for values that are unknown because all steps are used up.
pub(crate) const TOO_MANY_STEPS: &str = "evaluating it takes more than 2 million steps";

/// Additions of a tool that calls Terraform: functions, names, and inputs of the root module.
#[derive(Default)]
pub struct Outside<'a> {
    /// A predicate for the names of its functions, and a callback that evaluates them.
    pub(crate) functions: Option<(fn(&str) -> bool, &'a dyn Fn(&str, &[Value]) -> Value)>,
    /// Names that it defines.
    pub(crate) names: Vec<(Arc<str>, Value)>,
    /// Values for variables that no other source sets.
    pub inputs: Option<&'a super::terragrunt::TerragruntInputs>,
    /// Variables of the root whose defaults do not apply.
    pub unset: Option<&'a BTreeSet<Arc<str>>>,
}

/// Evaluates one root module and the modules that it calls.
pub struct Evaluator<'a> {
    /// Name of the unit.
    unit: Arc<str>,
    /// Files of the run.
    pub sources: &'a Sources,
    /// Modules of the run.
    pub modules: &'a Modules,
    /// Inputs of the run, if any.
    pub inputs: Option<&'a RootInputs>,
    /// Values from outside of the configuration.
    pub outside: Outside<'a>,
    /// Module instances, the root first.
    pub instances: Vec<Instance>,
    /// Values computed so far; `None` while one is being computed.
    known: FxHashMap<(usize, Declaration), Option<Value>>,
    expansions: FxHashMap<(usize, Declaration), Option<Arc<Expansion>>>,
    steps: usize,
    /// Number of bytes of files hashed so far.
    pub(crate) hashed: usize,
    depth: usize,
    /// Span of the expression that is being evaluated.
    place: Option<Span>,
    /// The first bound that was reached, and the span of the expression that reached it.
    pub limit: Option<(Span, Reason)>,
    /// Headers of module calls that form a cycle, with a description of each cycle.
    pub cycles: BTreeMap<Span, Arc<str>>,
    made: Made,
    /// Template files that were read, by path.
    pub(crate) templates: FxHashMap<PathBuf, Result<Arc<Expression>, Arc<str>>>,
}

/// A declaration in a module.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Declaration {
    /// A variable.
    Variable(Arc<str>),
    /// A local value.
    Local(Arc<str>),
    /// An output.
    Output(Arc<str>),
    /// A call of a module.
    Call(Arc<str>),
    /// A resource, or a data source if `true`, with its type and name.
    Resource(bool, Arc<str>, Arc<str>),
    /// The Region of a provider, by name and alias.
    Provider(Arc<str>, Option<Arc<str>>),
    /// The account of a provider, by name and alias.
    Account(Arc<str>, Option<Arc<str>>),
}

impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Declaration::Variable(name) => write!(f, "var.{name}"),
            Declaration::Local(name) => write!(f, "local.{name}"),
            Declaration::Output(name) => write!(f, "output.{name}"),
            Declaration::Call(name) => write!(f, "module.{name}"),
            Declaration::Resource(true, kind, name) => write!(f, "data.{kind}.{name}"),
            Declaration::Resource(false, kind, name) => write!(f, "{kind}.{name}"),
            Declaration::Account(name, alias) => write!(f, "account.{name}.{}", alias.as_deref().unwrap_or_default()),
            Declaration::Provider(name, None) => write!(f, "provider.{name}"),
            Declaration::Provider(name, Some(alias)) => write!(f, "provider.{name}.{alias}"),
        }
    }
}

/// The context of an expression.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Index of the module in [`Evaluator::instances`].
    pub module: usize,
    /// `each.key` and `each.value`, within a `for_each`.
    pub(crate) each: Option<Arc<(Value, Value)>>,
    /// `count.index`.
    pub(crate) index: Option<usize>,
    /// Key of the instance. It distinguishes the conditions of the instance from those of its siblings.
    pub(crate) key: Key,
    /// Names bound by `for` expressions and dynamic blocks, innermost last.
    pub(crate) names: Vec<(Arc<str>, Value)>,
    /// `true` if only these names are defined, as in a template file.
    pub(crate) alone: bool,
    /// `true` within `try` or `can`, which catch errors. Elsewhere, an expression that only some versions of Terraform
    /// reject has the value that the others compute.
    pub(crate) tried: bool,
}

impl Scope {
    /// Returns the scope within `try` or `can`.
    pub(crate) fn tried(&self) -> Scope {
        Scope {
            tried: true,
            ..self.clone()
        }
    }

    /// Returns the scope in which `name` is bound to `value`.
    pub(crate) fn with(&self, name: &Arc<str>, value: Value) -> Scope {
        let mut scope = self.clone();
        scope.names.push((name.clone(), value));
        scope
    }
}

impl Evaluator<'_> {
    /// Returns the value of `expression`, with its span.
    pub fn eval(&mut self, expression: &Expression, scope: &Scope) -> Value {
        self.place = Some(expression.span);
        if !self.spend(1) {
            return Value::beyond(TOO_MANY_STEPS);
        }
        if self.depth >= limits::MAX_EVALUATION_DEPTH {
            return self.give_up(expression.span, "more than 200 expressions wait for each other");
        }
        // The depth counts more than nested expressions: a local that waits for a local that waits for a local is as
        // deep.
        self.depth += 1;
        let value = self.eval_kind(expression, scope);
        self.depth -= 1;
        // A value can exceed a bound in code that knows no expression. The first expression with such a value is
        // reported.
        if let Some(unknown) = value.as_unknown().filter(|unknown| unknown.is_bound()) {
            self.limit
                .get_or_insert_with(|| (expression.span, unknown.reason.clone()));
        }
        let value = self.identified(value, expression, scope);
        self.placed(value, expression.span, scope)
    }

    /// Counts work that is not an expression of its own. Returns `true` if steps are left.
    pub(crate) fn spend(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > limits::MAX_EVALUATION_STEPS
            && let Some(place) = self.place
        {
            self.limit
                .get_or_insert_with(|| (place, Cause::Limit.because(TOO_MANY_STEPS)));
        }
        self.steps <= limits::MAX_EVALUATION_STEPS
    }

    /// Returns the span of the expression that is being evaluated.
    pub(crate) fn place(&self) -> Option<Span> {
        self.place
    }

    /// Records that the expression being evaluated reached `bound`, and returns an unknown value.
    pub(crate) fn reached(&mut self, bound: &'static str) -> Value {
        match self.place {
            Some(place) => self.give_up(place, bound),
            None => Value::beyond(bound),
        }
    }

    fn give_up(&mut self, span: Span, bound: &'static str) -> Value {
        self.limit.get_or_insert_with(|| (span, Cause::Limit.because(bound)));
        Value::beyond(bound)
    }

    fn eval_kind(&mut self, expression: &Expression, scope: &Scope) -> Value {
        match &expression.kind {
            ExpressionKind::Null => Value::null(),
            ExpressionKind::Bool(value) => Value::bool(*value),
            ExpressionKind::Number(Some(value)) => Value::exact(value.clone()),
            ExpressionKind::Number(None) => {
                Value::unknown(Cause::Unsupported.because("it is a number of too many digits"))
            }
            ExpressionKind::Text(text) => Value::text(text.clone()),
            ExpressionKind::Template(parts) => self.template(parts, scope),
            ExpressionKind::Tuple(items) => Value::list(items.iter().map(|item| self.eval(item, scope)).collect()),
            ExpressionKind::Object(items) => self.object(items, scope),
            ExpressionKind::Variable(_) if expression.is_unread() => {
                Value::unknown(Cause::NotRead.because("the expression cannot be read"))
            }
            ExpressionKind::Variable(_) => self.traverse(expression, &[], scope),
            ExpressionKind::Traversal(base, steps) => self.traverse(base, steps, scope),
            ExpressionKind::Conditional(parts) => self.conditional(parts, scope),
            ExpressionKind::Call {
                name,
                arguments,
                expand,
            } => match self.outside.functions {
                Some((knows, call)) if knows(name) => {
                    let arguments: Vec<Value> = arguments.iter().map(|argument| self.eval(argument, scope)).collect();
                    functions::identified(name, &arguments, call(name, &arguments))
                }
                _ => functions::call(self, name, arguments, *expand, scope),
            },
            ExpressionKind::Unary(operator, operand) => {
                let value = self.eval(operand, scope);
                self.unary(*operator, value, operand, scope)
            }
            ExpressionKind::Binary(operator, operands) => {
                let (left, right) = (self.eval(&operands[0], scope), self.eval(&operands[1], scope));
                self.binary(*operator, left, right, (expression, operands), scope)
            }
            ExpressionKind::For(parts) => self.for_expression(parts, scope),
            ExpressionKind::Known(value) => match &value.kind {
                // The plan refers to a policy document that is known only after apply.
                ValueKind::Reference(id, name) if provider::is_document(id, name) => self.configured(id, name),
                _ => (**value).clone(),
            },
        }
    }

    fn object(&mut self, items: &[super::syntax::ObjectItem], scope: &Scope) -> Value {
        let mut entries = Vec::with_capacity(items.len());
        for item in items {
            if item.is_bare_reference {
                return Value::error("a reference that is a key stands in parentheses");
            }
            let key = self.eval(&item.key, scope);
            let value = self.eval(&item.value, scope);
            let value = self.placed(value, item.span, scope);
            let key = self.plain(key);
            if key.is_null() {
                return Value::error("a key of an object is null");
            }
            match (key.to_text(), item) {
                (Some(key), _) => {
                    // The last of equal keys wins, but an error in an earlier one is still an error.
                    let is_dropped = |(name, value): &&(Arc<str>, Value)| *name == key && value.holds_refused();
                    match entries.iter().find(is_dropped).map(|(_, value)| value.clone()) {
                        Some(refused) => return refused,
                        None => entries.push((key, value)),
                    }
                }
                (None, _) if key.is_plain() => return Value::error("a key of an object is not a string"),
                (None, _) if key.is_refused() => return key,
                (None, item) => {
                    let shown = self.shown(item.key.span);
                    return Value::unknown(Cause::Derived.because(format!("the key `{shown}` is not known")));
                }
            }
        }
        Value::map(entries)
    }

    fn conditional(&mut self, parts: &[Expression; 3], scope: &Scope) -> Value {
        let [test, yes, no] = parts;
        let requested = self.eval(test, scope);
        let requested_origins = requested.origins.clone();
        let requested = self.question(requested, test, scope);
        let mut branches: [Option<Value>; 2] = [None, None];
        // The spans of the branches are more specific than that of the whole conditional.
        Value::cases(requested.each_case().map(|requested| {
            let Some(answer) = requested.to_bool() else {
                let both = [true, false].map(|answer| self.branch(&mut branches, yes, no, answer, scope));
                let kinds: Vec<types::Type> = both.iter().filter(|value| !value.is_null()).map(types::of).collect();
                return requested.of_type(types::unify(&kinds));
            };
            let value = self.branch(&mut branches, yes, no, answer, scope);
            if value.as_unknown().is_some() {
                return value;
            }
            let value = self.null_where(value, &requested_origins, test, answer);
            // Both branches convert to one type, so the other branch is evaluated for its type only. Terraform ignores
            // errors in it, and so does `conform`.
            let other = self.branch(&mut branches, yes, no, !answer, scope);
            self.conform(value, &other).decided_by([&requested])
        }))
    }

    /// Adds to a null value, as its origin, the condition that selected it.
    fn null_where(&self, value: Value, requested_origins: &Trail, test: &Expression, answer: bool) -> Value {
        if !value.is_null() || !value.origins.is_empty() {
            return value;
        }
        let what = format!("`{}`, which is {answer}", self.shown(test.span));
        Value {
            origins: requested_origins.clone().before(test.span, what),
            ..value
        }
    }

    fn branch(
        &mut self,
        known: &mut [Option<Value>; 2],
        yes: &Expression,
        no: &Expression,
        answer: bool,
        scope: &Scope,
    ) -> Value {
        let slot = usize::from(answer);
        if let Some(value) = known.get(slot).and_then(Option::as_ref) {
            return value.clone();
        }
        let branch = if answer { yes } else { no };
        let mut value = self.eval(branch, scope);
        value.span = value.span.or(Some(branch.span));
        if let Some(slot) = known.get_mut(slot) {
            *slot = Some(value.clone());
        }
        value
    }

    /// Converts `value` to the type that it and `other` unify to.
    fn conform(&mut self, value: Value, other: &Value) -> Value {
        if other.is_null() && other.declared.is_none() {
            return value;
        }
        if value.is_null() && value.declared.is_none() {
            return types::convert(&value, &types::of(other));
        }
        if !self.spend((value.weight + other.weight) as usize / 8) {
            return Value::beyond(TOO_MANY_STEPS);
        }
        let (mine, theirs) = (types::of(&value), types::of(other));
        if mine == theirs {
            return value;
        }
        match types::unify(&[mine, theirs]) {
            Some(types::Type::Any) => value,
            Some(one) => types::convert(&value, &one),
            None => value.with(Value::error(
                "the two results of a conditional have types that do not fit together",
            )),
        }
    }

    /// Returns the source text at `span` on one line, shortened.
    pub fn shown(&self, span: Span) -> String {
        let line = super::syntax::one_line(&self.sources.text(span));
        match line.char_indices().nth(60) {
            Some((at, _)) => format!("{}…", line.get(..at).unwrap_or("")),
            None => line,
        }
    }

    /// Calls `change` for each combination of the cases of `values`, and returns the results as cases.
    pub fn lift(&mut self, values: Vec<Value>, change: &mut dyn FnMut(&mut Self, Vec<Value>) -> Value) -> Value {
        if !values.iter().any(|value| matches!(value.kind, ValueKind::Cases(_))) {
            return change(self, values);
        }
        // `300 when A, 30 when not A` and `5 when A, 1 when not A` have two combinations, not four.
        let lists = values.iter().map(Value::each_case);
        let Ok(combinations) = Cases::product(lists, &Condition::always()) else {
            return Value::beyond(TOO_MANY_CASES);
        };
        if !self.spend(combinations.len() * values.len()) {
            return Value::beyond(TOO_MANY_STEPS);
        }
        Value::cases(combinations.map(|values| change(self, values)))
    }

    fn template(&mut self, parts: &[TemplatePart], scope: &Scope) -> Value {
        let mut values = Vec::new();
        for part in parts {
            match part {
                TemplatePart::Literal(text) => values.push(Value::text(text.clone())),
                TemplatePart::Value(expression) => {
                    let value = self.eval(expression, scope);
                    values.push(self.plain(value));
                }
                TemplatePart::If(test, yes, no) => {
                    let value = self.eval(test, scope);
                    let value = self.question(value, test, scope);
                    let chosen = self.lift(vec![value], &mut |this, values| match values[0].to_bool() {
                        Some(true) => this.template(yes, scope),
                        Some(false) => this.template(no, scope),
                        None => values[0].clone(),
                    });
                    values.push(chosen);
                }
                TemplatePart::For {
                    key,
                    value,
                    collection,
                    body,
                } => {
                    let collection = self.eval(collection, scope);
                    let text = self.lift(vec![collection], &mut |this, mut values| {
                        let collection = values.pop().unwrap_or_else(Value::null);
                        let pairs = match this.pairs(&collection) {
                            Ok(pairs) => pairs,
                            Err(refused) => return refused,
                        };
                        let mut all = Vec::new();
                        for (name, item) in pairs {
                            if !this.spend(1) {
                                return Value::beyond(TOO_MANY_STEPS);
                            }
                            let mut inner = scope.with(value, item);
                            if let Some(key) = key {
                                inner = inner.with(key, name);
                            }
                            all.push(this.template(body, &inner));
                        }
                        this.lift(all, &mut |_, parts| joined(parts))
                    });
                    values.push(text);
                }
            }
        }
        self.lift(values, &mut |this, parts| {
            let length: usize = parts
                .iter()
                .filter_map(Value::to_text)
                .map(|text| text.len() / 16)
                .sum();
            if !this.spend(length) {
                return Value::beyond(TOO_MANY_STEPS);
            }
            if let Some(refused) = parts.iter().find(|part| part.is_refused()) {
                return refused.clone().of_type(Some(types::Type::Text));
            }
            if parts.iter().any(|part| {
                matches!(
                    part.kind,
                    ValueKind::Null | ValueKind::List(_) | ValueKind::Set(_) | ValueKind::Map(_)
                )
            }) {
                return Value::error("a part of a template is not a string").of_type(Some(types::Type::Text));
            }
            let from = parts.clone();
            joined(parts).from(&from)
        })
    }

    /// Returns the keys and values of a collection as `for` iterates over them.
    pub(crate) fn pairs(&mut self, collection: &Value) -> Result<Vec<(Value, Value)>, Value> {
        let collection = &self.unfolded(collection.clone());
        let refused = match &collection.kind {
            ValueKind::List(items) | ValueKind::Set(items) => items.iter().find(|item| item.is_refused()),
            ValueKind::Map(entries) => entries.iter().map(|(_, value)| value).find(|value| value.is_refused()),
            _ => None,
        };
        if let Some(refused) = refused {
            return Err(refused.clone());
        }
        let pairs = match &collection.kind {
            ValueKind::List(items) => items
                .iter()
                .enumerate()
                .map(|(at, item)| (Value::count(at), collection.element(item)))
                .collect(),
            ValueKind::Set(items) => items
                .iter()
                .map(|item| (item.clone(), collection.element(item)))
                .collect(),
            ValueKind::Map(entries) => entries
                .iter()
                .map(|(key, value)| (Value::text(key.clone()), collection.element(value)))
                .collect(),
            ValueKind::Unknown(_) => return Err(collection.clone()),
            ValueKind::Resource(_) | ValueKind::AnyResource(_) | ValueKind::AnyModule(_) => {
                return Err(Value::unknown(Cause::Derived.because("its attributes are unknown")));
            }
            _ => return Err(Value::error("it is not a collection")),
        };
        Ok(pairs)
    }

    fn for_expression(&mut self, parts: &For, scope: &Scope) -> Value {
        let collection = self.eval(&parts.collection, scope);
        self.lift(vec![collection], &mut |this, mut values| {
            let collection = values.pop().unwrap_or_else(Value::null);
            let pairs = match this.pairs(&collection) {
                Ok(pairs) => pairs,
                Err(refused) => {
                    let identity = this.loop_over(&collection, parts, scope);
                    let identity = match this.mapped_by_name(&collection, parts, scope) {
                        Some(all) => identity.map(|identity| identity.published_as(Some(all))),
                        None => identity,
                    };
                    return refused.of_type(None).identified(|| identity);
                }
            };
            let mut entries: Vec<(Option<Value>, Value)> = Vec::new();
            for (key, value) in pairs {
                if !this.spend(1) {
                    return Value::beyond(TOO_MANY_STEPS);
                }
                let mut inner = scope.clone();
                if let Some(name) = &parts.key_name {
                    inner.names.push((name.clone(), key));
                }
                inner.names.push((parts.value_name.clone(), value));
                if let Some(condition) = &parts.condition {
                    let kept = this.eval(condition, &inner);
                    match kept.to_bool() {
                        Some(true) => {}
                        Some(false) => continue,
                        None if kept.is_refused() => return kept.of_type(None),
                        None if kept.is_plain() => return Value::error("the condition of a `for` is not a boolean"),
                        None => {
                            return Value::unknown(kept.reason_or("the condition of a `for` is not known"));
                        }
                    }
                }
                let key = parts.key.as_ref().map(|key| this.eval(key, &inner));
                let value = this.eval(&parts.value, &inner);
                entries.push((key, value));
            }
            let made = this.collect(entries, parts);
            if made.is_empty() {
                made.decided_by([&collection])
            } else {
                made
            }
        })
    }

    fn collect(&mut self, entries: Vec<(Option<Value>, Value)>, parts: &For) -> Value {
        if parts.key.is_none() {
            return Value::list(entries.into_iter().map(|(_, value)| value).collect());
        }
        let mut map: Vec<(Arc<str>, Value)> = Vec::new();
        let mut groups: std::collections::BTreeMap<Arc<str>, Vec<Value>> = std::collections::BTreeMap::new();
        for (key, value) in entries {
            let key = self.plain(key.unwrap_or_else(Value::null));
            let Some(key) = key.to_text() else {
                if key.is_refused() {
                    return key.of_type(None);
                }
                if key.is_plain() {
                    return Value::error("a key of a `for` is not a string");
                }
                return Value::unknown(key.reason_or("a key is not known"));
            };
            if parts.grouping {
                groups.entry(key).or_default().push(value);
            } else {
                map.push((key, value));
            }
            if !self.spend(1) {
                return Value::beyond(TOO_MANY_STEPS);
            }
        }
        let keys: std::collections::BTreeSet<&Arc<str>> = map.iter().map(|(key, _)| key).collect();
        if keys.len() < map.len() {
            return Value::error("two elements of a `for` have the same key");
        }
        map.extend(groups.into_iter().map(|(key, values)| (key, Value::list(values))));
        Value::map(map)
    }
}
