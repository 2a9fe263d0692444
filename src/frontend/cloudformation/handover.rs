//! What crosses from one template to another: arguments and outputs of nested stacks, exports and imports. A value
//! leaves its template without its tree: references become links that name their unit, and what only the one
//! template's deployment knows is told apart from what the other calls the same.

use super::Environment;
use super::eval::Listed;
use super::parameters::Parameter;
use super::stacks::Stack;
use super::template::Template;
use super::value::{Evaluated, Foreign, Outcome, Outcomes, Part, Reference, always, split};
use crate::conditions::{Case, Condition};
use crate::frontend::tree::Node;
use crate::graph::{Cause, Origin, Reason, Target};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What is the same for every stack that one deployment makes.
const SHARED: [&str; 4] = [
    "${AWS::AccountId}",
    "${AWS::Partition}",
    "${AWS::Region}",
    "${AWS::URLSuffix}",
];

/// A value that a stack publishes under a name of its account and Region.
#[derive(Debug, Clone)]
pub(super) struct Export {
    pub(super) name: String,
    /// The unit that exports it.
    pub(super) unit: Arc<str>,
    pub(super) outcomes: Outcomes<'static>,
}

impl<'t> Template<'t> {
    /// `outcomes` as another template sees them; `what` says how they came there.
    pub(super) fn hand_over(
        &self,
        outcomes: Outcomes<'t>,
        assumed: &Condition,
        what: Option<&str>,
    ) -> Outcomes<'static> {
        let all = outcomes.into_iter().flat_map(|Case { when, then: outcome }| {
            let value = match &outcome.value {
                Evaluated::Absent => Evaluated::Absent,
                Evaluated::Unresolved(reason) => Evaluated::Unresolved(reason.clone()),
                Evaluated::Text(parts) => Evaluated::Text(self.parts_over(parts)),
                Evaluated::Items(items) => Evaluated::Items(items.iter().map(|item| self.parts_over(item)).collect()),
                Evaluated::Tree(_) => {
                    let lists = self.list(&Case::new(when, outcome).into(), assumed);
                    return lists.map(|list| self.list_over(list));
                }
            };
            Case::new(when, outcome.with(value)).into()
        });
        let all: Outcomes<'static> = all.collect();
        all.map(|mut outcome| {
            outcome.origins.extend(what.map(|what| Origin {
                span: outcome.span,
                what: what.into(),
                computes: false,
            }));
            outcome
        })
    }

    /// A list that is written out.
    fn list_over(&self, list: Listed<'t>) -> Outcome<'static> {
        let items = list.items.and_then(|items| {
            let texts = items.into_iter().map(|item| match item {
                Evaluated::Text(parts) => Ok(self.parts_over(&parts)),
                other => Err(other
                    .text()
                    .err()
                    .unwrap_or_else(|| Cause::Invalid.because("a string is expected here"))),
            });
            texts.collect::<Result<Vec<_>, Reason>>()
        });
        Outcome {
            value: items.map_or_else(Evaluated::Unresolved, Evaluated::Items),
            span: list.span,
            origins: list.origins,
        }
    }

    fn parts_over(&self, parts: &[Part]) -> Vec<Part> {
        parts.iter().map(|part| self.part_over(part)).collect()
    }

    fn part_over(&self, part: &Part) -> Part {
        match part {
            Part::Text(_) => part.clone(),
            Part::Open { text, .. } if SHARED.contains(&text.as_str()) => part.clone(),
            Part::Open { text, reason, atomic } => Part::Open {
                text: format!("${{{} {text}}}", self.key),
                reason: reason.clone(),
                atomic: *atomic,
            },
            Part::Reference(reference) => match self.seen_elsewhere(reference) {
                Ok(foreign) => Part::Reference(Reference {
                    id: format!("{} {}", self.key, reference.shown()).into(),
                    attribute: None,
                    elsewhere: Some(foreign),
                }),
                Err(reason) => Part::Open {
                    text: format!("${{{} {}}}", self.key, reference.shown()),
                    reason,
                    atomic: false,
                },
            },
        }
    }

    /// What a reference of this template is to another.
    fn seen_elsewhere(&self, reference: &Reference) -> Result<Foreign, Reason> {
        if let Some(foreign) = &reference.elsewhere {
            return Ok(foreign.clone());
        }
        let mut link = self.link(&Evaluated::Text(vec![Part::Reference(reference.clone())]))?;
        let kind = match &link.target {
            Target::Resource(id) => self.resource(id).map(|resource| resource.kind.clone()),
            Target::Elsewhere { .. } => self.kind_elsewhere(&link.target),
            Target::External(_) | Target::Dangling(_) => None,
        };
        let unknown = || {
            let words = format!("`{}` is known only when the stack is deployed", reference.shown());
            Cause::KnownAfterApply.because(words)
        };
        let kind = kind.ok_or_else(unknown)?;
        if let Target::Resource(id) = &link.target {
            link.target = Target::Elsewhere {
                unit: self.key.as_str().into(),
                address: id.clone(),
            };
        }
        Ok(Foreign { link, kind })
    }

    /// The type of a resource of another template, where it came as an argument, an output or an import.
    pub(super) fn kind_elsewhere(&self, target: &Target) -> Option<Arc<str>> {
        self.kinds_elsewhere.borrow().get(target).cloned()
    }

    /// What a call hands to the parameter `name`; its default where the call does not name it.
    pub(super) fn handed_value(&self, name: &str, parameter: Parameter<'_>, at: Span) -> Option<Outcomes<'t>> {
        let outcomes = self.surroundings?.arguments.as_ref()?.get(name)?;
        let all = outcomes.clone().map(|outcome| {
            let (value, origin) = match (&outcome.value, parameter.default()) {
                (Evaluated::Absent, Some((text, span))) => {
                    let what = format!("the default of parameter `{name}`").into();
                    (
                        self.parameter_text(parameter, &text),
                        Some(Origin {
                            span,
                            what,
                            computes: false,
                        }),
                    )
                }
                (Evaluated::Absent, None) => {
                    let reason = Cause::InputWithoutValue.because(format!(
                        "parameter `{name}` has no default, and the call does not set it"
                    ));
                    (Evaluated::open(format!("${{{name}}}"), reason), None)
                }
                (Evaluated::Text(parts), _) if parameter.is_list() => (Evaluated::Items(split(parts, ",")), None),
                (value, _) => (value.clone(), None),
            };
            // A default comes from nowhere else.
            let origins = origin.map_or(outcome.origins, |origin| vec![origin]);
            Outcome {
                value,
                span: at,
                origins,
            }
        });
        Some(all)
    }

    /// Whether a call settles the parameter `name`.
    pub(super) fn is_handed(&self, name: &str) -> bool {
        let arguments = self.surroundings.and_then(|around| around.arguments.as_ref());
        arguments.is_some_and(|arguments| arguments.contains_key(name))
    }

    /// The outputs of a nested stack.
    pub(super) fn handed_back(&self) -> FxHashMap<Arc<str>, Outcomes<'static>> {
        let outputs = self.outputs.iter().filter_map(|output| {
            let value = output.value.get("Value")?;
            let outcomes = self.eval(value, output.span(), &Condition::always());
            let what = format!("output `{}` of `{}`", output.key, self.base_name());
            Some((
                output.key.clone(),
                self.hand_over(outcomes, &Condition::always(), Some(&what)),
            ))
        });
        outputs.collect()
    }

    /// Follows what this template calls, and notes what it exports.
    pub(super) fn cross(&self) {
        let Some(around) = self.surroundings else { return };
        for declared in &self.resources {
            if super::stacks::is_stack(&declared.kind) {
                let _: Stack = self.stack(&declared.id);
            }
        }
        self.publish_outputs();
        for output in self.outputs {
            let name = output.value.get("Export").and_then(|export| export.get("Name"));
            let (Some(name), Some(value)) = (name, output.value.get("Value")) else {
                continue;
            };
            let condition = output.value.get("Condition").and_then(|name| name.as_str());
            let exists = condition.map(|name| self.condition(name)).unwrap_or_default();
            let exists = exists.and(&around.assumed);
            let values = self.eval(value, output.span(), &exists);
            for named in self.eval(name, name.span, &exists) {
                let Evaluated::Text(parts) = &named.value else { continue };
                let Some(name) = published_name(parts) else { continue };
                let when = exists.and(&named.when);
                let what = format!("export `{name}`");
                let outcomes = self.hand_over(values.clone(), &when, Some(&what)).under(&when);
                if !outcomes.is_empty() {
                    let unit = self.key.as_str().into();
                    around.met.exports.borrow_mut().push(Export { name, unit, outcomes });
                }
            }
        }
    }

    /// Notes what other stacks read of this one by its name.
    fn publish_outputs(&self) {
        let Some(around) = self.surroundings else { return };
        let Some(stack) = around.environment.and_then(Environment::stack) else {
            return;
        };
        for output in self.outputs {
            let Some(value) = output.value.get("Value") else {
                continue;
            };
            let condition = output.value.get("Condition").and_then(|name| name.as_str());
            let exists = condition.map(|name| self.condition(name)).unwrap_or_default();
            let values = self.eval(value, output.span(), &exists);
            let what = format!("output `{}` of stack `{stack}`", output.key);
            let outcomes = self.hand_over(values, &exists, Some(&what)).under(&exists);
            if !outcomes.is_empty() {
                let name = name_of_output(stack, &output.key);
                let unit = self.key.as_str().into();
                around.met.exports.borrow_mut().push(Export { name, unit, outcomes });
            }
        }
    }

    /// `Fn::GetStackOutput`: an output of a stack that is named, exported or not.
    pub(super) fn stack_output(&self, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let text = |key: &str| {
            let outcomes = self.eval(argument.get(key)?, at, assumed);
            let [only] = &*outcomes else { return None };
            only.value.text().ok()
        };
        let (Some(stack), Some(output)) = (text("StackName"), text("OutputName")) else {
            let reason = Cause::Elsewhere.because("an output of another stack is known only when it is deployed");
            return always(Evaluated::Unresolved(reason), at);
        };
        let found = self.published(name_of_output(&stack, &output), at, assumed);
        found.unwrap_or_else(|| {
            let reason = Cause::Elsewhere.because(format!("output `{output}` of stack `{stack}`"));
            always(Evaluated::open(format!("${{output {stack}.{output}}}"), reason), at)
        })
    }

    /// What another template of the project exports under the name that `parts` are; `None` where none does, or
    /// several do.
    pub(super) fn imported(&self, parts: &[Part], at: Span, assumed: &Condition) -> Option<Outcomes<'t>> {
        self.published(published_name(parts)?, at, assumed)
    }

    /// What one other template of the project publishes under `name`.
    fn published(&self, name: String, at: Span, assumed: &Condition) -> Option<Outcomes<'t>> {
        let around = self.surroundings?;
        let exports = around.project.exports(&name);
        around.met.imports.borrow_mut().insert(name);
        let (first, rest) = exports.split_first()?;
        if *first.unit == *self.key || rest.iter().any(|export| export.unit != first.unit) {
            return None;
        }
        let outcomes: Outcomes<'t> = exports.iter().flat_map(|export| export.outcomes.clone()).collect();
        let here = outcomes
            .restrict(assumed)
            .map(|outcome| Outcome { span: at, ..outcome });
        (!here.is_empty()).then_some(here)
    }
}

/// What an output of a stack is published under; no export has such a name.
fn name_of_output(stack: &str, output: &str) -> String {
    format!("output `{output}` of `{stack}`")
}

/// Whether a placeholder stands for what a caller hands over, and so for the same in all that it calls.
fn is_handed(text: &str) -> bool {
    text.strip_prefix("${").is_some_and(|inner| inner.contains(" ${"))
}

/// A name that is the same wherever it is written in one account and Region.
fn published_name(parts: &[Part]) -> Option<String> {
    let mut name = String::new();
    for part in parts {
        match part {
            Part::Text(text) => name.push_str(text),
            Part::Open { text, .. } if SHARED.contains(&text.as_str()) || is_handed(text) => name.push_str(text),
            Part::Open { .. } | Part::Reference(_) => return None,
        }
    }
    (!name.is_empty()).then_some(name)
}
