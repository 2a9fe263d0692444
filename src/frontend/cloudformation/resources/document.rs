//! Policy documents: an object, or a text that holds one, with intrinsics anywhere in it.
//!
//! A document is first evaluated as a whole, then its statements are read. What is not settled makes the part
//! unresolved, or the document opaque. Whether anything is allowed is not decided here.

use super::queue::unmarked_text;
use super::{Lowering, Properties, attribute, of_cases};
use crate::conditions::{Case, Cases, Condition};
use crate::frontend::cloudformation::template::scalar;
use crate::frontend::cloudformation::value::{Evaluated, Outcome, Part};
use crate::frontend::json;
use crate::frontend::tree::{Node, Value};
use crate::graph::access::{Effect, PolicyDocument, Principal, Statement, StatementCondition};
use crate::graph::{Attribute, Link, Name, Sourced, State};
use crate::source::Span;
use std::sync::Arc;

/// Documents are read this deep; those that AWS takes have six levels.
const MAX_DEPTH: usize = 16;

/// A document or a part of it, evaluated.
#[derive(Clone)]
enum Deep<'t> {
    /// A single value; also absent or unresolved.
    Value(Evaluated<'t>),
    /// A list.
    List(Vec<Branches<'t>>),
    /// An object, with the places of its keys.
    Object(Vec<(Arc<str>, Span, Branches<'t>)>),
}

/// What an expression in a document comes to.
#[derive(Clone)]
struct Branch<'t> {
    span: Span,
    value: Deep<'t>,
}

type Branches<'t> = Cases<Branch<'t>>;

impl<'t> Deep<'t> {
    fn unresolved(reason: &str) -> Self {
        Deep::Value(Evaluated::Unresolved(reason.into()))
    }

    /// The value of `key` in an object, whatever its case: IAM's keys are compared without.
    fn get(&self, key: &str) -> Option<&Branches<'t>> {
        match self {
            Deep::Object(keys) => {
                let mut found = keys.iter().filter(|(name, ..)| name.eq_ignore_ascii_case(key));
                found.next().map(|(_, _, branches)| branches)
            }
            Deep::Value(_) | Deep::List(_) => None,
        }
    }

    /// The items of a list; a single value counts as a list of it.
    fn items(&self, span: Span) -> Vec<Branches<'t>> {
        let one = |value| Cases::one(Branch { span, value });
        match self {
            Deep::List(items) => items.clone(),
            Deep::Value(Evaluated::Absent) => Vec::new(),
            Deep::Value(Evaluated::Items(items)) => {
                let texts = items.iter().cloned().map(Evaluated::Text);
                texts.map(|text| one(Deep::Value(text))).collect()
            }
            other => vec![one(other.clone())],
        }
    }

    /// The text of a single value, or why there is none.
    fn text(&self) -> Result<String, Arc<str>> {
        match self {
            Deep::Value(value) => value.text(),
            Deep::List(_) | Deep::Object(_) => Err("a single value is expected here".into()),
        }
    }
}

impl<'t> Lowering<'_, 't> {
    /// The policy document that the property `name` holds; unresolved where nothing is written.
    pub(super) fn document(&self, properties: &Properties<'t>, name: &'static str) -> Attribute<PolicyDocument> {
        self.optional_document(properties, name)
            .try_map(|document| document.ok_or_else(|| format!("`{name}` is missing").into()))
    }

    /// The policy document that the property `name` holds, `None` where nothing is written.
    pub(super) fn optional_document(
        &self,
        properties: &Properties<'t>,
        name: &'static str,
    ) -> Attribute<Option<PolicyDocument>> {
        let cases = self.get(properties, &[name]).map_cases(|when, outcome| {
            let is_absent = matches!(outcome.value, Evaluated::Absent);
            let world = properties.world.and(when);
            let deep = self.deep(outcome.value, outcome.span, &world, 0);
            let state = match &deep {
                Deep::Value(Evaluated::Absent) => State::Default(None),
                Deep::Value(value) => State::Unresolved(value.text().err().unwrap_or_else(|| "no policy".into())),
                Deep::List(_) => State::Unresolved("a policy is an object".into()),
                Deep::Object(_) => State::Set(Some(self.read_document(&deep, outcome.span))),
            };
            Sourced {
                state,
                span: if is_absent { properties.header } else { outcome.span },
                origins: outcome.origins.into(),
            }
        });
        of_cases(name, cases, properties.header)
    }

    /// `value` with everything in it evaluated.
    fn deep(&self, value: Evaluated<'t>, span: Span, world: &Condition, depth: usize) -> Deep<'t> {
        if depth > MAX_DEPTH {
            return Deep::unresolved("the policy is nested too deep");
        }
        match value {
            Evaluated::Tree(node) => {
                if let Some(items) = node.items() {
                    return Deep::List(
                        items
                            .iter()
                            .map(|item| self.branches(item, item.span, world, depth))
                            .collect(),
                    );
                }
                let entries = node.entries().unwrap_or_default();
                if entries.iter().any(|entry| entry.key.starts_with("Fn::")) {
                    return Deep::unresolved("a macro fills it in");
                }
                let keys = entries.iter().map(|entry| {
                    let branches = self.branches(&entry.value, entry.span(), world, depth);
                    (entry.key.clone(), entry.key_span, branches)
                });
                Deep::Object(keys.collect())
            }
            // Text that holds JSON is a document only at the top: inside it is a value.
            Evaluated::Text(parts) if depth == 0 => in_text(&parts, span),
            other => Deep::Value(other),
        }
    }

    fn branches(&self, node: &'t Node, at: Span, world: &Condition, depth: usize) -> Branches<'t> {
        let outcomes = self.template.eval(node, at, world);
        outcomes.map_cases(|when, Outcome { value, span, .. }| Branch {
            span,
            value: self.deep(value, span, &world.and(when), depth + 1),
        })
    }

    fn read_document(&self, document: &Deep<'t>, span: Span) -> PolicyDocument {
        let mut read = PolicyDocument {
            version: self.single(
                document.get("Version"),
                "Version",
                span,
                State::Default(None),
                |value| value.text().map(Some),
            ),
            statements: Vec::new(),
            opaque: None,
        };
        for branch in document.get("Statement").into_iter().flatten() {
            for item in branch.value.items(branch.span) {
                for statement in item {
                    let when = branch.when.and(&statement.when);
                    match &statement.value {
                        Deep::Value(Evaluated::Absent) => {}
                        Deep::Value(value) => {
                            read.opaque = value.text().err().or_else(|| Some("a statement is an object".into()));
                        }
                        // The items of a list that a function gives.
                        Deep::List(_) => read.opaque = Some("a list stands in the list of statements".into()),
                        Deep::Object(_) => {
                            read.statements
                                .push(self.statement(&statement.value, when, statement.span));
                        }
                    }
                }
            }
        }
        read
    }

    fn statement(&self, statement: &Deep<'t>, when: Condition, span: Span) -> Statement {
        let either = |plain: &str, negated: &str| {
            let found = statement.get(plain);
            found.map_or_else(|| (statement.get(negated), true), |branches| (Some(branches), false))
        };
        let (actions, _) = either("Action", "NotAction");
        let (resources, _) = either("Resource", "NotResource");
        let (principals, _) = either("Principal", "NotPrincipal");
        let missing = State::Unresolved("`Effect` is missing".into());
        Statement {
            span,
            when,
            effect: self.single(statement.get("Effect"), "Effect", span, missing, |value| {
                match value.text()?.as_str() {
                    "Allow" => Ok(Effect::Allow),
                    "Deny" => Ok(Effect::Deny),
                    other => Err(format!("`{other}` is neither `Allow` nor `Deny`").into()),
                }
            }),
            principals: self.single(principals, "Principal", span, State::Default(Vec::new()), |value| {
                principals_of(value)
            }),
            actions: self.single(actions, "Action", span, State::Default(Vec::new()), |value| {
                let items = value.items(span);
                items.iter().map(|item| only(item)?.text()).collect()
            }),
            resources: self.links(resources, &"Resource".into()),
            conditions: self.conditions(statement),
            is_negated: ["NotAction", "NotResource", "NotPrincipal"]
                .iter()
                .any(|key| statement.get(key).is_some()),
        }
    }

    /// An attribute from what a key comes to.
    fn single<T: Clone>(
        &self,
        branches: Option<&Branches<'t>>,
        name: &'static str,
        span: Span,
        absent: State<T>,
        convert: impl Fn(&Deep<'t>) -> Result<T, Arc<str>>,
    ) -> Attribute<T> {
        let Some(branches) = branches.filter(|branches| !branches.is_empty()) else {
            return Attribute::single(name, absent, span);
        };
        let cases = branches.iter().map(|branch| {
            let state = match &branch.value {
                Deep::Value(Evaluated::Absent) => absent.clone(),
                value => convert(value).map_or_else(State::Unresolved, State::Set),
            };
            Case::new(branch.when.clone(), Sourced::new(state, branch.span))
        });
        Attribute {
            name: name.into(),
            cases: cases.collect(),
        }
    }

    /// What each item of a list, or a single value, points to.
    fn links(&self, branches: Option<&Branches<'t>>, name: &Name) -> Vec<Attribute<Link>> {
        let Some(branches) = branches else {
            return Vec::new();
        };
        let is_list =
            |branch: &Case<Branch<'t>>| matches!(branch.value, Deep::List(_) | Deep::Value(Evaluated::Items(_)));
        if branches.iter().any(is_list) {
            let items = branches.iter().flat_map(|branch| {
                let items = branch.value.items(branch.span).into_iter();
                items.map(|item| self.link_in(&branch.when, item, name, branch.span))
            });
            return items.flatten().collect();
        }
        let span = branches.first().map(|branch| branch.span);
        let single = span.and_then(|span| self.link_in(&Condition::always(), branches.clone(), name, span));
        single.into_iter().collect()
    }

    /// What a single value points to where `when` holds; `None` where nothing is written.
    fn link_in(&self, when: &Condition, branches: Branches<'t>, name: &Name, span: Span) -> Option<Attribute<Link>> {
        let outcomes = branches.under(when).map(|found| {
            let value = match found.value {
                Deep::Value(value) => value,
                Deep::List(_) | Deep::Object(_) => Evaluated::Unresolved("a single value is expected here".into()),
            };
            Outcome::new(value, found.span)
        });
        let is_written = |outcome: &Case<Outcome<'t>>| !matches!(outcome.value, Evaluated::Absent);
        let outcomes: Cases<_> = outcomes.into_iter().filter(is_written).collect();
        let absent = State::Unresolved("nothing is written".into());
        (!outcomes.is_empty())
            .then(|| attribute(name.clone(), outcomes, span, &absent, |value| self.template.link(value)))
    }

    fn conditions(&self, statement: &Deep<'t>) -> Result<Vec<StatementCondition>, Arc<str>> {
        let mut all = Vec::new();
        let Some(branches) = statement.get("Condition") else {
            return Ok(all);
        };
        let Deep::Object(operators) = only(branches)? else {
            return only(branches)?.text().map(|_| all);
        };
        for (operator, _, keys) in operators {
            let Deep::Object(keys) = only(keys)? else {
                return Err(format!("the condition `{operator}` is not an object").into());
            };
            for (key, _, values) in keys {
                all.push(StatementCondition {
                    operator: operator.to_string(),
                    key: key.to_string(),
                    values: self.links(Some(values), &key.clone().into()),
                });
            }
        }
        Ok(all)
    }
}

/// The value that always holds.
fn only<'d, 't>(branches: &'d Branches<'t>) -> Result<&'d Deep<'t>, Arc<str>> {
    match &**branches {
        [only] => Ok(&only.value),
        _ => Err("it depends on a condition".into()),
    }
}

fn principals_of(value: &Deep<'_>) -> Result<Vec<Principal>, Arc<str>> {
    let Deep::Object(kinds) = value else {
        let id = value.text()?;
        return Ok(vec![Principal {
            kind: if id == "*" { "*" } else { "AWS" }.to_owned(),
            id: Some(id),
        }]);
    };
    let mut all = Vec::new();
    for (kind, span, ids) in kinds {
        for id in only(ids)?.items(*span) {
            all.push(Principal {
                kind: kind.to_string(),
                id: only(&id)?.text().ok(),
            });
        }
    }
    Ok(all)
}

/// A document in a text, whose references and placeholders stand inside or outside of JSON strings.
fn in_text<'t>(parts: &[Part], span: Span) -> Deep<'t> {
    if let [Part::Open { reason, .. }] = parts {
        return Deep::Value(Evaluated::Unresolved(reason.clone()));
    }
    let text = super::queue::marked(parts);
    match json::parse_value(&text, span) {
        Ok(node) => restored(&node, parts, span, 0),
        Err(_) => Deep::unresolved("the policy is no JSON"),
    }
}

/// The parts of a marked text put back into what it holds.
fn restored<'t>(node: &Node, parts: &[Part], span: Span, depth: usize) -> Deep<'t> {
    if depth > MAX_DEPTH {
        return Deep::unresolved("the policy is nested too deep");
    }
    let inner = |node: &Node| {
        let value = restored(node, parts, span, depth + 1);
        Cases::one(Branch { span, value })
    };
    match &node.value {
        Value::Null => Deep::Value(Evaluated::Absent),
        Value::Sequence(items) => Deep::List(items.iter().map(inner).collect()),
        Value::Mapping(entries) => Deep::Object(
            entries
                .iter()
                .map(|entry| (entry.key.clone(), span, inner(&entry.value)))
                .collect(),
        ),
        _ => {
            let text = scalar(node).unwrap_or_default();
            Deep::Value(Evaluated::Text(unmarked_text(&text, parts)))
        }
    }
}
