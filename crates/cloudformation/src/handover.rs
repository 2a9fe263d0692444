//! Passes values between templates: arguments and outputs of nested stacks, exports and imports.
//!
//! A value leaves its template without its syntax tree. References become links that name their unit, and placeholders
//! for values known only after deployment are prefixed with the template, so that they differ from those of other
//! templates.

use super::Environment;
use super::eval::Listed;
use super::parameters::Parameter;
use super::stacks::Stack;
use super::surroundings::Export;
use super::template::Template;
use super::value::{Evaluated, Foreign, Outcome, Outcomes, Part, Reference, always, split};
use conditions::{Case, Condition};
use knowledge::{Cause, Origin, Published, Reason, Store, Target};
use rustc_hash::FxHashMap;
use source::Span;
use std::sync::Arc;
use trees::{Entry, Node};

/// Placeholders with one value for all stacks of a deployment.
const SHARED: [&str; 4] = [
    "${AWS::AccountId}",
    "${AWS::Partition}",
    "${AWS::Region}",
    "${AWS::URLSuffix}",
];

/// Placeholder for the name of the stack itself.
const STACK_NAME: &str = "${AWS::StackName}";

impl<'t> Template<'t> {
    /// Converts `outcomes` for use in another template; `what` describes this step of their provenance.
    pub(crate) fn hand_over(
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
            outcome.origins.extend(what.map(|what| Origin::new(outcome.span, what)));
            outcome
        })
    }

    /// Converts a list whose items are evaluated.
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
        Outcome::with_origins(
            items.map_or_else(Evaluated::Unresolved, Evaluated::Items),
            list.span,
            list.origins,
        )
    }

    fn parts_over(&self, parts: &[Part]) -> Vec<Part> {
        parts.iter().map(|part| self.part_over(part)).collect()
    }

    fn part_over(&self, part: &Part) -> Part {
        match part {
            Part::Text(_) => part.clone(),
            Part::Unresolved { text, .. } if SHARED.contains(&text.as_str()) || is_name_of_stack(text) => part.clone(),
            Part::Unresolved {
                text,
                reason,
                atomic,
                published,
            } => Part::Unresolved {
                text: self.text_over(text),
                reason: reason.clone(),
                atomic: *atomic,
                published: published.clone(),
            },
            Part::Reference(reference) => match self.foreign_reference(reference) {
                Ok(foreign) => Part::Reference(Reference {
                    id: format!("{} {}", self.key, reference.shown()).into(),
                    attribute: None,
                    elsewhere: Some(foreign),
                }),
                Err(reason) => Part::unresolved(format!("${{{} {}}}", self.key, reference.shown()), reason),
            },
        }
    }

    /// Returns a placeholder of this template as other templates see it.
    fn text_over(&self, text: &str) -> String {
        format!("${{{} {text}}}", self.key)
    }

    /// Returns the names of an export. It may contain the name of this stack, which others know as an output, as an
    /// argument, or from the configuration of its deployment.
    fn export_names(&self, parts: &[Part]) -> impl Iterator<Item = String> {
        let with = |stack: &str| {
            let parts = parts.iter().map(|part| match part {
                Part::Unresolved { text, .. } if text == STACK_NAME => Part::Text(stack.to_owned()),
                other => other.clone(),
            });
            published_name(&parts.collect::<Vec<_>>())
        };
        let shared = with(&self.text_over(STACK_NAME));
        let own = self
            .stack_name()
            .and_then(with)
            .filter(|name| shared.as_ref() != Some(name));
        shared.into_iter().chain(own)
    }

    /// Converts a reference of this template for use in another.
    fn foreign_reference(&self, reference: &Reference) -> Result<Foreign, Reason> {
        if let Some(foreign) = &reference.elsewhere {
            return Ok(foreign.clone());
        }
        let mut link = self.link(&Evaluated::Text(vec![Part::Reference(reference.clone())]))?;
        let kind = match &link.target {
            Target::Resource(id) => self.resource(id).map(|resource| resource.kind.clone()),
            Target::OtherUnit { .. } => self.foreign_kind(&link.target),
            Target::External(_) | Target::Dangling(_) => None,
        };
        let unknown = || {
            let words = format!("`{}` is known only at deployment", reference.shown());
            Cause::KnownAfterApply.because(words)
        };
        let kind = kind.ok_or_else(unknown)?;
        if let Target::Resource(id) = &link.target {
            link.target = Target::OtherUnit {
                unit: self.key.text(),
                address: id.clone(),
            };
        }
        Ok(Foreign { link, kind })
    }

    /// Returns the type of a resource in another template that was referenced by an argument, an output or an import.
    pub fn foreign_kind(&self, target: &Target) -> Option<Arc<str>> {
        self.foreign_kinds.borrow().get(target).cloned()
    }

    /// Returns the argument of the call for the parameter `name`, or its default if the call does not set it.
    pub(crate) fn argument_value(&self, name: &str, parameter: Parameter<'_>, at: Span) -> Option<Outcomes<'t>> {
        let outcomes = self.context?.arguments.as_ref()?.get(name)?;
        let all = outcomes.clone().map(|outcome| {
            let (value, origin) = match (&outcome.value, parameter.default()) {
                (Evaluated::Absent, Some((text, span))) => {
                    let what = format!("the default of parameter `{name}`");
                    (self.parameter_text(parameter, &text), Some(Origin::new(span, what)))
                }
                (Evaluated::Absent, None) => {
                    let reason = Cause::InputWithoutValue.because(format!(
                        "parameter `{name}` has no default, and the call does not set it"
                    ));
                    (Evaluated::placeholder(format!("${{{name}}}"), reason), None)
                }
                (Evaluated::Text(parts), _) if parameter.is_list() => (Evaluated::Items(split(parts, ",")), None),
                (value, _) => (value.clone(), None),
            };
            // The provenance of a default is only its declaration.
            let origins = origin.map_or(outcome.origins, |origin| vec![origin]);
            Outcome::with_origins(value, at, origins)
        });
        Some(all)
    }

    /// Returns `true` if a call determines the parameter `name`.
    pub(crate) fn is_passed(&self, name: &str) -> bool {
        let arguments = self.context.and_then(|around| around.arguments.as_ref());
        arguments.is_some_and(|arguments| arguments.contains_key(name))
    }

    /// Returns the outputs of a nested stack.
    pub(crate) fn output_values(&self) -> FxHashMap<Arc<str>, Outcomes<'static>> {
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

    /// Follows the calls of this template and records its exports.
    pub(crate) fn cross(&self) {
        let Some(around) = self.context else { return };
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
            let exists = self.existence_of_output(output);
            let values = self.eval(value, output.span(), &exists);
            for named in self.eval(name, name.span, &exists) {
                let Evaluated::Text(parts) = &named.value else { continue };
                for name in self.export_names(parts) {
                    let when = exists.and(&named.when);
                    let what = format!("export `{name}`");
                    let outcomes = self.hand_over(values.clone(), &when, Some(&what)).under(&when);
                    if !outcomes.is_empty() {
                        let unit = self.key.text();
                        around
                            .collected
                            .exports
                            .borrow_mut()
                            .push(Export { name, unit, outcomes });
                    }
                }
            }
        }
    }

    /// Returns the condition under which `output` is deployed.
    pub fn existence_of_output(&self, output: &Entry) -> Condition {
        let condition = output.value.get("Condition").and_then(Node::as_str);
        self.deployed(&condition.map(|name| self.condition(name)).unwrap_or_default())
    }

    /// Returns the names under which units of any dialect can read `output`: that of its export, and those of its stack
    /// and of its template.
    pub fn published_names(&self, output: &Entry) -> Vec<(Store, String)> {
        let of_stack = self
            .context
            .and_then(|around| around.environment)
            .and_then(Environment::stack);
        let owners = of_stack
            .or_else(|| self.stack_name())
            .into_iter()
            .chain([self.key.as_str()]);
        let outputs = owners.map(|owner| (Store::StackOutput, format!("{owner}#{}", output.key)));
        let name = output.value.get("Export").and_then(|export| export.get("Name"));
        let names = name.map(|name| self.eval(name, name.span, &self.existence_of_output(output)));
        let exports = names
            .iter()
            .flat_map(|names| names.iter())
            .flat_map(|named| match &named.value {
                Evaluated::Text(parts) if names.as_ref().is_some_and(|all| all.len() == 1) => {
                    self.export_names(parts).collect()
                }
                _ => Vec::new(),
            });
        outputs.chain(exports.map(|name| (Store::Export, name))).collect()
    }

    /// Records the outputs that other stacks can read by the name of this stack.
    fn publish_outputs(&self) {
        let Some(around) = self.context else { return };
        let Some(stack) = around.environment.and_then(Environment::stack) else {
            return;
        };
        for output in self.outputs {
            let Some(value) = output.value.get("Value") else {
                continue;
            };
            let exists = self.existence_of_output(output);
            let values = self.eval(value, output.span(), &exists);
            let what = format!("output `{}` of stack `{stack}`", output.key);
            let outcomes = self.hand_over(values, &exists, Some(&what)).under(&exists);
            if !outcomes.is_empty() {
                let name = name_of_output(stack, &output.key);
                let unit = self.key.text();
                around
                    .collected
                    .exports
                    .borrow_mut()
                    .push(Export { name, unit, outcomes });
            }
        }
    }

    /// Evaluates `Fn::GetStackOutput`: an output of the named stack, exported or not.
    pub(crate) fn stack_output(&self, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
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
            let value = Evaluated::placeholder(format!("${{output {stack}.{output}}}"), reason);
            let name = Published::new(Store::StackOutput, format!("{stack}#{output}"));
            always(value.published_as(Some(name)), at)
        })
    }

    /// Returns the value that another template of the project exports under the name `parts`, or `None` if no template,
    /// or more than one, exports it.
    pub(crate) fn imported(&self, parts: &[Part], at: Span, assumed: &Condition) -> Option<Outcomes<'t>> {
        self.published(published_name(parts)?, at, assumed)
    }

    /// Returns the value that exactly one other template of the project publishes under `name`.
    fn published(&self, name: String, at: Span, assumed: &Condition) -> Option<Outcomes<'t>> {
        let around = self.context?;
        let exports = around.project.exports(&name);
        around.collected.imports.borrow_mut().insert(name);
        let (first, rest) = exports.split_first()?;
        if *first.unit == *self.key.as_str() || rest.iter().any(|export| export.unit != first.unit) {
            return None;
        }
        let outcomes: Outcomes<'t> = exports.iter().flat_map(|export| export.outcomes.clone()).collect();
        let here = outcomes
            .restrict(assumed)
            .map(|outcome| Outcome { span: at, ..outcome });
        (!here.is_empty()).then_some(here)
    }
}

/// Returns the name under which an output of a stack is published; it cannot be the name of an export.
fn name_of_output(stack: &str, output: &str) -> String {
    format!("output `{output}` of `{stack}`")
}

/// Returns `true` if a placeholder represents an argument of the caller, which has one value in all templates that it
/// calls.
fn is_passed(text: &str) -> bool {
    text.strip_prefix("${").is_some_and(|inner| inner.contains(" ${"))
}

/// Returns `true` if a placeholder is the name of one stack, which is the same in all templates.
fn is_name_of_stack(text: &str) -> bool {
    is_passed(text) && text.strip_suffix('}').is_some_and(|inner| inner.ends_with(STACK_NAME))
}

/// Returns a name that has one value throughout an account and Region.
pub(crate) fn published_name(parts: &[Part]) -> Option<String> {
    let mut name = String::new();
    for part in parts {
        match part {
            Part::Text(text) => name.push_str(text),
            Part::Unresolved { text, .. } if SHARED.contains(&text.as_str()) || is_passed(text) => name.push_str(text),
            Part::Unresolved { .. } | Part::Reference(_) => return None,
        }
    }
    (!name.is_empty()).then_some(name)
}
