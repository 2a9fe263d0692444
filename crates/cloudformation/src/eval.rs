//! Evaluates expressions lazily: a property is evaluated on demand, under the condition that the caller assumes. It
//! knows no resource type; `intrinsics.rs` evaluates the intrinsic functions.

use super::document::{PREFIX, functions, intrinsic, is_transformed, scalar};
use super::sections::Dialect;
use super::serverless;
use super::template::Template;
use super::value::{Evaluated, Outcome, Outcomes, Part, always, combine};
use conditions::{Cases, Condition};
use knowledge::{Cause, Origin, Published, Reason, Store};
use source::Span;
use trees::{Node, Value};

/// Beginning of a dynamic reference.
const DYNAMIC: &str = "{{resolve:";
const UNKNOWN_REFERENCE: &str = "`{{resolve:…}}` values are known only at deployment";

/// A list with evaluated items.
#[derive(Debug)]
pub struct Listed<'t> {
    /// The items, without absent ones, or the reason why they are unresolved.
    pub items: Result<Vec<Evaluated<'t>>, Reason>,
    /// The property as written.
    pub span: Span,
    /// Provenance, nearest first.
    pub origins: Vec<Origin>,
}

impl Listed<'_> {
    /// Returns the items as texts, or the reason why one of them is unresolved.
    pub fn texts(&self) -> Result<Vec<String>, Reason> {
        let items = self.items.as_ref().map_err(Reason::clone)?;
        items.iter().map(Evaluated::text).collect()
    }
}

impl<'t> Template<'t> {
    /// Evaluates `node`, written at `at`, under the condition `when`.
    pub fn eval(&self, node: &'t Node, at: Span, when: &Condition) -> Outcomes<'t> {
        let one = |value| always(value, at);
        if !self.may_step() {
            self.note_limit(at, "the template takes too many steps to evaluate".to_owned());
            return one(Evaluated::Unresolved(
                Cause::Limit.because("the template takes too many steps to evaluate"),
            ));
        }
        match &node.value {
            Value::Null => one(Evaluated::Absent),
            Value::String(text) => self.with_origins(node, one(self.plain(text))),
            Value::Sequence(_) => one(Evaluated::Tree(node)),
            Value::Mapping(_) => match intrinsic(node) {
                Some((name, argument)) => self.intrinsic(name, argument, at, when),
                None => one(Evaluated::Tree(node)),
            },
            Value::Bool(_) | Value::Integer(_) | Value::Float(_) => {
                self.with_origins(node, one(Evaluated::literal(scalar(node).unwrap_or_default())))
            }
        }
    }

    /// Adds to the `outcomes` of a scalar the provenance of the variable that it replaced.
    fn with_origins(&self, node: &Node, mut outcomes: Outcomes<'t>) -> Outcomes<'t> {
        if let Some(origins) = self.origins.and_then(|all| all.get(&node.span)) {
            for outcome in &mut outcomes {
                outcome.origins.extend(origins.iter().cloned());
            }
        }
        outcomes
    }

    /// Evaluates a text that is not an argument of an intrinsic.
    pub(crate) fn plain<'a>(&self, text: &str) -> Evaluated<'a> {
        if !text.contains('{') {
            return Evaluated::literal(text);
        }
        match self.foreign(text) {
            Some(reason) => Evaluated::placeholder(text, reason),
            None if text.contains(DYNAMIC) => Evaluated::Text(dynamic(text)),
            None if self.dialect == Dialect::Serverless => Evaluated::Text(serverless::parts(text)),
            None => Evaluated::literal(text),
        }
    }

    /// Returns a reason if part of `text` is substituted by something other than CloudFormation's intrinsics.
    pub(crate) fn placeholder(&self, text: &str) -> Option<Reason> {
        let is_dynamic = text.contains(DYNAMIC);
        self.foreign(text)
            .or_else(|| is_dynamic.then(|| Cause::Elsewhere.because(UNKNOWN_REFERENCE)))
    }

    /// Returns a reason if `text` is written in a template language.
    pub(crate) fn foreign(&self, text: &str) -> Option<Reason> {
        let mut braces = text.match_indices("{{");
        let is_own = |at: usize| text.get(at..).is_some_and(|rest| rest.starts_with(DYNAMIC));
        if braces.any(|(at, _)| !is_own(at)) || text.contains("{%") {
            return Some(Cause::NotRead.because("a template language fills it in"));
        }
        None
    }

    /// Returns the value of `key` in `object`.
    pub fn field(&self, object: &Outcomes<'t>, key: &str, when: &Condition) -> Outcomes<'t> {
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
        let keep = |value| Cases::one(Outcome::with_origins(value, outcome.span, outcome.origins.clone()));
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
                None => keep(self.unwritten(node, key)),
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

    /// Returns the value of `key`, which `node` does not have.
    fn unwritten(&self, node: &Node, key: &str) -> Evaluated<'t> {
        let keys = || functions(node).map(|entry| &*entry.key);
        if keys().any(|key| key == "Fn::Transform") {
            Evaluated::Unresolved(Cause::Unsupported.because("`AWS::Include` may add it"))
        } else if keys().any(|key| key.starts_with(PREFIX)) {
            Evaluated::Unresolved(Cause::Unsupported.because("a loop may add it"))
        } else {
            self.nothing(key, Some(node))
        }
    }

    /// Returns the value of `key`, which is absent from the object `node` or from a resource without properties:
    /// unresolved if a macro may add it.
    pub(crate) fn nothing(&self, key: &str, node: Option<&Node>) -> Evaluated<'t> {
        match self.macro_that_adds(key, node) {
            Some(name) => Evaluated::Unresolved(Cause::Unsupported.because(format!("the macro `{name}` may add it"))),
            None => Evaluated::Absent,
        }
    }

    /// Returns the value at `path` in `object`, whose keys are separated by dots.
    pub fn path(&self, object: &Outcomes<'t>, path: &str, when: &Condition) -> Outcomes<'t> {
        if path.is_empty() {
            return object.clone();
        }
        let mut keys = path.split('.');
        let start = self.field(object, keys.next().unwrap_or_default(), when);
        keys.fold(start, |object, key| self.field(&object, key, when))
    }

    /// Converts `outcomes` to lists.
    pub fn list(&self, outcomes: &Outcomes<'t>, when: &Condition) -> Cases<Listed<'t>> {
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
            // CloudFormation accepts a single value for a list.
            Evaluated::Text(parts) => match parts.as_slice() {
                [Part::Unresolved { reason, .. }] => keep(Err(reason.clone())),
                _ => keep(Ok(vec![outcome.value.clone()])),
            },
            Evaluated::Tree(node) => {
                let Some(items) = node.items() else {
                    return keep(Ok(vec![outcome.value.clone()]));
                };
                let evaluated = items.iter().map(|item| self.argument(item, item.span, here)).collect();
                let Ok(combinations) = combine(evaluated, here) else {
                    return keep(Err(too_many_cases()));
                };
                combinations.map(|combination| {
                    let is_there = |value: &Evaluated<'_>| !matches!(value, Evaluated::Absent);
                    let items = combination.values.into_iter().filter(is_there).collect();
                    listed(Ok(items), combination.origins)
                })
            }
        }
    }
}

/// Returns the reason for a value with more cases than are distinguished.
fn too_many_cases() -> Reason {
    Cause::Limit.because("too many combinations of conditions")
}

/// Returns an unresolved outcome for a value with more cases than are distinguished.
pub(crate) fn too_many<'t>(at: Span) -> Outcomes<'t> {
    always(Evaluated::Unresolved(too_many_cases()), at)
}

/// Splits a text into its dynamic references and the text around them.
fn dynamic(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(DYNAMIC) {
        let (before, reference) = rest.split_at(at);
        let end = reference.find("}}").map_or(reference.len(), |end| end + 2);
        let (reference, following) = reference.split_at(end);
        parts.extend((!before.is_empty()).then(|| Part::Text(before.to_owned())));
        let part = Part::unresolved(reference, Cause::Elsewhere.because(UNKNOWN_REFERENCE));
        parts.push(part.published_as(referenced(reference)));
        rest = following;
    }
    parts.extend((!rest.is_empty()).then(|| Part::Text(rest.to_owned())));
    parts
}

/// Returns the value that a dynamic reference reads: `{{resolve:ssm:NAME:VERSION}}` or
/// `{{resolve:secretsmanager:NAME:SecretString:KEY}}`.
/// <https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html>
fn referenced(reference: &str) -> Option<Published> {
    let words = reference.strip_prefix(DYNAMIC)?.strip_suffix("}}")?;
    let mut words = words.split(':');
    let (service, name) = (words.next()?, words.next()?);
    match service {
        // A version may have another value than the one that is written.
        "ssm" | "ssm-secure" => (words.next().is_none()).then(|| Published::new(Store::Parameter, name)),
        "secretsmanager" => {
            let secret = Published::new(Store::Secret, name);
            Some(match words.nth(1).filter(|key| !key.is_empty()) {
                Some(key) => secret.element(key),
                None => secret,
            })
        }
        _ => None,
    }
}
