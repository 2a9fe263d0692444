//! Evaluates expressions, lazily: a property is evaluated when it is asked for, under the condition it is asked for.
//! It knows no resource type; what an intrinsic does is told in `intrinsics.rs`.

use super::loops::PREFIX;
use super::sections::{Dialect, scalar};
use super::serverless;
use super::template::Template;
use super::value::{Evaluated, Outcome, Outcomes, Part, always, combine};
use crate::conditions::{Cases, Condition, MAX_CASES};
use crate::frontend::tree::{Entry, Node, Value};
use crate::graph::{Cause, Origin, Reason};
use crate::source::Span;

/// How a dynamic reference begins.
const DYNAMIC: &str = "{{resolve:";
const UNKNOWN_REFERENCE: &str = "a dynamic reference is known only when the stack is deployed";

/// A list, with its items evaluated.
#[derive(Debug)]
pub(super) struct Listed<'t> {
    /// The items, those that are absent left out, or why they are not known.
    pub(super) items: Result<Vec<Evaluated<'t>>, Reason>,
    /// The property as written.
    pub(super) span: Span,
    /// Where it came from, nearest first.
    pub(super) origins: Vec<Origin>,
}

impl Listed<'_> {
    /// The items as texts, or why one is not known.
    pub(super) fn texts(&self) -> Result<Vec<String>, Reason> {
        let items = self.items.as_ref().map_err(Reason::clone)?;
        items.iter().map(Evaluated::text).collect()
    }
}

/// The only entry of an intrinsic function: its name and argument.
pub(super) fn intrinsic(node: &Node) -> Option<(&str, &Node)> {
    let [entry] = node.entries()? else { return None };
    let is_function = &*entry.key == "Ref" || (entry.key.starts_with("Fn::") && !entry.key.starts_with(PREFIX));
    is_function.then_some((&*entry.key, &entry.value))
}

impl<'t> Template<'t> {
    /// What `node`, written at `at`, comes to where `when` holds.
    pub(super) fn eval(&self, node: &'t Node, at: Span, when: &Condition) -> Outcomes<'t> {
        let one = |value| always(value, at);
        if !self.may_step() {
            self.note_limit(at, "the template takes too many steps to evaluate".to_owned());
            return one(Evaluated::Unresolved(
                Cause::Limit.because("the template takes too many steps to evaluate"),
            ));
        }
        match &node.value {
            Value::Null => one(Evaluated::Absent),
            Value::String(text) => self.told(node, one(self.plain(text))),
            Value::Sequence(_) => one(Evaluated::Tree(node)),
            Value::Mapping(_) => match intrinsic(node) {
                Some((name, argument)) => self.intrinsic(name, argument, at, when),
                None => one(Evaluated::Tree(node)),
            },
            Value::Bool(_) | Value::Integer(_) | Value::Float(_) => {
                self.told(node, one(Evaluated::literal(scalar(node).unwrap_or_default())))
            }
        }
    }

    /// `outcomes` of a scalar, with where it came from in the place of a variable.
    fn told(&self, node: &Node, mut outcomes: Outcomes<'t>) -> Outcomes<'t> {
        if let Some(origins) = self.origins.and_then(|all| all.get(&node.span)) {
            for outcome in &mut outcomes {
                outcome.origins.extend(origins.iter().cloned());
            }
        }
        outcomes
    }

    /// A text that is no argument of an intrinsic.
    pub(super) fn plain<'a>(&self, text: &str) -> Evaluated<'a> {
        if !text.contains('{') {
            return Evaluated::literal(text);
        }
        match self.foreign(text) {
            Some(reason) => Evaluated::open(text, reason),
            None if text.contains(DYNAMIC) => Evaluated::Text(dynamic(text)),
            None if self.dialect == Dialect::Serverless => Evaluated::Text(serverless::parts(text)),
            None => Evaluated::literal(text),
        }
    }

    /// Why `text` is filled in by something other than CloudFormation's intrinsics.
    pub(super) fn placeholder(&self, text: &str) -> Option<Reason> {
        let is_dynamic = text.contains(DYNAMIC);
        self.foreign(text)
            .or_else(|| is_dynamic.then(|| Cause::Elsewhere.because(UNKNOWN_REFERENCE)))
    }

    /// Which language other than CloudFormation's `text` is written in.
    pub(super) fn foreign(&self, text: &str) -> Option<Reason> {
        let mut braces = text.match_indices("{{");
        let is_own = |at: usize| text.get(at..).is_some_and(|rest| rest.starts_with(DYNAMIC));
        if braces.any(|(at, _)| !is_own(at)) || text.contains("{%") {
            return Some(Cause::NotRead.because("a template language fills it in"));
        }
        None
    }

    /// The value of `key` in what `object` comes to.
    pub(super) fn field(&self, object: &Outcomes<'t>, key: &str, when: &Condition) -> Outcomes<'t> {
        if let [only] = &**object
            && only.when.is_always()
        {
            return self.field_of(only, key, when);
        }
        let fields = object.iter().flat_map(|outcome| {
            let here = when.and(&outcome.when);
            self.field_of(outcome, key, &here).under(&outcome.when)
        });
        fields.collect()
    }

    fn field_of(&self, outcome: &Outcome<'t>, key: &str, here: &Condition) -> Outcomes<'t> {
        let keep = |value| {
            Cases::one(Outcome {
                value,
                span: outcome.span,
                origins: outcome.origins.clone(),
            })
        };
        match &outcome.value {
            Evaluated::Tree(node) if is_transformed(node) => keep(Evaluated::Unresolved(
                Cause::Unsupported.because("`Fn::Transform` may change it"),
            )),
            Evaluated::Tree(node) => match node.entry(key) {
                Some(entry) => {
                    let mut found = self.eval(&entry.value, entry.span(), here);
                    for one in &mut found {
                        one.origins.extend(outcome.origins.iter().cloned());
                    }
                    found
                }
                None => keep(self.unwritten(node)),
            },
            Evaluated::Absent => keep(Evaluated::Absent),
            other => {
                let reason = other.text().err();
                keep(Evaluated::Unresolved(
                    reason.unwrap_or_else(|| Cause::Invalid.because("an object is expected here")),
                ))
            }
        }
    }

    /// What a key comes to that `node` does not have.
    fn unwritten(&self, node: &Node) -> Evaluated<'t> {
        let keys = || functions(node).map(|entry| &*entry.key);
        if keys().any(|key| key == "Fn::Transform") {
            Evaluated::Unresolved(Cause::Unsupported.because("`AWS::Include` may add it"))
        } else if keys().any(|key| key.starts_with(PREFIX)) {
            Evaluated::Unresolved(Cause::Unsupported.because("a loop may add it"))
        } else {
            self.nothing()
        }
    }

    /// What is not written: a macro of the account's own may add it to what it finds.
    pub(super) fn nothing(&self) -> Evaluated<'t> {
        match &self.account_macro {
            Some(name) => Evaluated::Unresolved(Cause::Unsupported.because(format!("the macro `{name}` may add it"))),
            None => Evaluated::Absent,
        }
    }

    /// The value at `path` in `object`.
    pub(super) fn path(&self, object: &Outcomes<'t>, path: &[&str], when: &Condition) -> Outcomes<'t> {
        let Some((first, rest)) = path.split_first() else {
            return object.clone();
        };
        let start = self.field(object, first, when);
        rest.iter().fold(start, |object, key| self.field(&object, key, when))
    }

    /// What `outcomes` are as lists.
    pub(super) fn list(&self, outcomes: &Outcomes<'t>, when: &Condition) -> Cases<Listed<'t>> {
        let lists = outcomes.iter().flat_map(|outcome| {
            let here = when.and(&outcome.when);
            self.list_of(outcome, &here).under(&outcome.when)
        });
        lists.collect()
    }

    fn list_of(&self, outcome: &Outcome<'t>, here: &Condition) -> Cases<Listed<'t>> {
        let listed = |items, origins: Vec<Origin>| Listed {
            items,
            span: outcome.span,
            origins: origins.into_iter().chain(outcome.origins.clone()).collect(),
        };
        let keep = |items| Cases::one(listed(items, Vec::new()));
        match &outcome.value {
            Evaluated::Absent => keep(Ok(Vec::new())),
            Evaluated::Unresolved(reason) => keep(Err(reason.clone())),
            Evaluated::Items(items) => keep(Ok(items.iter().cloned().map(Evaluated::Text).collect())),
            // A single value where a list is expected.
            Evaluated::Text(parts) => match parts.as_slice() {
                [Part::Open { reason, .. }] => keep(Err(reason.clone())),
                _ => keep(Ok(vec![outcome.value.clone()])),
            },
            Evaluated::Tree(node) => {
                let Some(items) = node.items() else {
                    return keep(Ok(vec![outcome.value.clone()]));
                };
                let evaluated = items.iter().map(|item| self.argument(item, item.span, here)).collect();
                let Ok(combinations) = combine(evaluated, here) else {
                    return keep(Err(self.too_many_cases(outcome.span)));
                };
                combinations.map(|combination| {
                    let is_there = |value: &Evaluated<'_>| !matches!(value, Evaluated::Absent);
                    let items = combination.values.into_iter().filter(is_there).collect();
                    listed(Ok(items), combination.origins)
                })
            }
        }
    }

    /// Why a value is not known that has more cases than are told apart.
    fn too_many_cases(&self, at: Span) -> Reason {
        self.note_limit(
            at,
            format!("a value depends on more than {MAX_CASES} combinations of conditions"),
        );
        Cause::Limit.because("too many combinations of conditions")
    }

    /// The outcome in place of more cases than are told apart.
    pub(super) fn too_many(&self, at: Span) -> Outcomes<'t> {
        always(Evaluated::Unresolved(self.too_many_cases(at)), at)
    }
}

/// The text with each dynamic reference as a part of its own.
fn dynamic(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(DYNAMIC) {
        let (before, reference) = rest.split_at(at);
        let end = reference.find("}}").map_or(reference.len(), |end| end + 2);
        let (reference, behind) = reference.split_at(end);
        parts.extend((!before.is_empty()).then(|| Part::Text(before.to_owned())));
        parts.push(Part::Open {
            text: reference.to_owned(),
            reason: Cause::Elsewhere.because(UNKNOWN_REFERENCE),
            atomic: false,
        });
        rest = behind;
    }
    parts.extend((!rest.is_empty()).then(|| Part::Text(rest.to_owned())));
    parts
}

/// Whether a macro gets `node` and gives another in its place. An include only adds to it.
pub(super) fn is_transformed(node: &Node) -> bool {
    let transform = functions(node).find(|entry| &*entry.key == "Fn::Transform");
    let name = transform.and_then(|transform| transform.value.get("Name"));
    name.is_some_and(|name| name.as_str() != Some("AWS::Include"))
}

/// The entries of `node` that are named as functions are: next to no mapping has one among others.
fn functions(node: &Node) -> impl Iterator<Item = &Entry> {
    let entries = node.entries().unwrap_or_default().iter();
    entries.filter(|entry| entry.key.starts_with("Fn::"))
}
