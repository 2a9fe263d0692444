//! Evaluates expressions, lazily: a property is evaluated when it is asked for, in the worlds it is asked for.
//! It knows no resource type; what an intrinsic does is told in `intrinsics.rs`.

use super::serverless;
use super::template::{Dialect, Template, scalar};
use super::value::{Evaluated, Outcome, Outcomes, Part, combine};
use crate::frontend::tree::{Node, Value};
use crate::graph::{Condition, Origin};
use crate::source::Span;
use std::sync::Arc;

/// A list, with its items evaluated, in some worlds.
#[derive(Debug)]
pub(super) struct Listed<'t> {
    /// The worlds.
    pub(super) when: Condition,
    /// The items, those that are absent left out, or why they are not known.
    pub(super) items: Result<Vec<Evaluated<'t>>, Arc<str>>,
    /// The property as written.
    pub(super) span: Span,
    /// Where it came from, nearest first.
    pub(super) origins: Vec<Origin>,
}

/// The only entry of an intrinsic function: its name and argument.
pub(super) fn intrinsic(node: &Node) -> Option<(&str, &Node)> {
    let [entry] = node.entries()? else { return None };
    (&*entry.key == "Ref" || entry.key.starts_with("Fn::")).then_some((&*entry.key, &entry.value))
}

impl<'t> Template<'t> {
    /// What `node`, written at `at`, comes to in the worlds of `world`.
    pub(super) fn eval(&self, node: &'t Node, at: Span, world: &Condition) -> Outcomes<'t> {
        let one = |value| vec![Outcome::always(value, at)];
        if !self.may_step() {
            return one(Evaluated::Unresolved(
                "the template takes too many steps to evaluate".into(),
            ));
        }
        match &node.value {
            Value::Null => one(Evaluated::Absent),
            Value::String(text) => self.told(node, one(self.plain(text))),
            Value::Sequence(_) => one(Evaluated::Tree(node)),
            Value::Mapping(_) => match intrinsic(node) {
                Some((name, argument)) => self.intrinsic(name, argument, at, world),
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
        if let Some(reason) = self.placeholder(text) {
            return Evaluated::open(text, reason);
        }
        if self.dialect == Dialect::Serverless {
            return Evaluated::Text(serverless::parts(text));
        }
        Evaluated::literal(text)
    }

    /// Why `text` is filled in by something other than CloudFormation's intrinsics.
    pub(super) fn placeholder(&self, text: &str) -> Option<Arc<str>> {
        if text.contains("{{resolve:") {
            return Some("a dynamic reference is known only when the stack is deployed".into());
        }
        if text.contains("{{") || text.contains("{%") {
            return Some("a template language fills it in".into());
        }
        None
    }

    /// The value of `key` in what `object` comes to.
    pub(super) fn field(&self, object: &Outcomes<'t>, key: &str, world: &Condition) -> Outcomes<'t> {
        let mut all = Vec::new();
        for outcome in object {
            let here = world.and(&outcome.when);
            let keep = |value| Outcome {
                value,
                ..outcome.clone()
            };
            match &outcome.value {
                Evaluated::Tree(node) => match node.entry(key) {
                    Some(entry) => {
                        for found in self.eval(&entry.value, entry.span(), &here) {
                            all.push(Outcome {
                                when: outcome.when.and(&found.when),
                                origins: found.origins.into_iter().chain(outcome.origins.clone()).collect(),
                                ..found
                            });
                        }
                    }
                    None if node.entry("Fn::Transform").is_some() => {
                        all.push(keep(Evaluated::Unresolved("`Fn::Transform` may add to it".into())));
                    }
                    None => all.push(keep(Evaluated::Absent)),
                },
                Evaluated::Absent => all.push(keep(Evaluated::Absent)),
                other => {
                    let reason = other
                        .text()
                        .err()
                        .unwrap_or_else(|| "an object is expected here".into());
                    all.push(keep(Evaluated::Unresolved(reason)));
                }
            }
        }
        all
    }

    /// The value at `path` in `object`.
    pub(super) fn path(&self, object: &Outcomes<'t>, path: &[&str], world: &Condition) -> Outcomes<'t> {
        let start = object.clone();
        path.iter().fold(start, |object, key| self.field(&object, key, world))
    }

    /// What `outcomes` are as lists.
    pub(super) fn list(&self, outcomes: &Outcomes<'t>, world: &Condition) -> Vec<Listed<'t>> {
        let mut all = Vec::new();
        for outcome in outcomes {
            let keep = |items| Listed {
                when: outcome.when.clone(),
                items,
                span: outcome.span,
                origins: outcome.origins.clone(),
            };
            match &outcome.value {
                Evaluated::Absent => all.push(keep(Ok(Vec::new()))),
                Evaluated::Unresolved(reason) => all.push(keep(Err(reason.clone()))),
                Evaluated::Items(items) => {
                    all.push(keep(Ok(items.iter().cloned().map(Evaluated::Text).collect())));
                }
                // A single value where a list is expected.
                Evaluated::Text(parts) => all.push(match parts.as_slice() {
                    [Part::Open { reason, .. }] => keep(Err(reason.clone())),
                    _ => keep(Ok(vec![outcome.value.clone()])),
                }),
                Evaluated::Tree(node) => {
                    let here = world.and(&outcome.when);
                    let Some(items) = node.items() else {
                        all.push(keep(Ok(vec![outcome.value.clone()])));
                        continue;
                    };
                    let evaluated = items.iter().map(|item| self.eval(item, item.span, &here)).collect();
                    let Some(combinations) = combine(evaluated, &here) else {
                        all.push(keep(Err("too many combinations of conditions".into())));
                        continue;
                    };
                    for combination in combinations {
                        let is_there = |value: &Evaluated<'_>| !matches!(value, Evaluated::Absent);
                        all.push(Listed {
                            when: outcome.when.and(&combination.when),
                            items: Ok(combination.values.into_iter().filter(is_there).collect()),
                            span: outcome.span,
                            origins: combination.origins.into_iter().chain(outcome.origins.clone()).collect(),
                        });
                    }
                }
            }
        }
        all
    }
}
