//! Evaluates `Ref` of a parameter or pseudo parameter.

use crate::parameters::Parameter;
use crate::template::Template;
use crate::value::{Evaluated, Outcome, Outcomes, Part, always};
use conditions::{Case, Cases, Condition, MAX_CASES};
use knowledge::Input;
use knowledge::{Cause, Origin, Published, Reason, SetBy, Store};
use source::Span;
use std::sync::Arc;

impl<'t> Template<'t> {
    /// Evaluates a pseudo parameter, whose name begins with `AWS::`.
    pub(super) fn pseudo_value(&self, name: &str, at: Span) -> Outcomes<'t> {
        let value = match name {
            "AWS::NoValue" => Evaluated::Absent,
            "AWS::NotificationARNs" => Evaluated::Unresolved(
                Cause::KnownAfterApply.because("`AWS::NotificationARNs` is known only at deployment"),
            ),
            // Composed of placeholders, because templates split it to get its last part.
            "AWS::StackId" => {
                let text = |text: &str| Part::Text(text.to_owned());
                Evaluated::Text(vec![
                    text("arn:"),
                    self.pseudo_part("AWS::Partition"),
                    text(":cloudformation:"),
                    self.pseudo_part("AWS::Region"),
                    text(":"),
                    self.pseudo_part("AWS::AccountId"),
                    text(":stack/"),
                    self.pseudo_part("AWS::StackName"),
                    text("/"),
                    self.pseudo_part("AWS::StackId"),
                ])
            }
            _ => Evaluated::Text(vec![self.pseudo_part(name)]),
        };
        always(value, at)
    }

    /// Returns a pseudo parameter as a part of a text.
    pub(super) fn pseudo_part(&self, name: &str) -> Part {
        match self.pseudo_parameter(name) {
            Some(known) => Part::Text(known.to_string()),
            None => Part::Unresolved {
                text: format!("${{{name}}}"),
                reason: Cause::KnownAfterApply.because(format!("`{name}` is known only at deployment")),
                atomic: true,
                published: None,
            },
        }
    }

    pub(super) fn parameter_value(&self, name: &str, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let Some(parameter) = self.parameter(name) else {
            return Cases::from_iter([]);
        };
        let open = |reason: Reason| always(Evaluated::placeholder(format!("${{{name}}}"), reason), at);
        let one = |value, origin| Outcome::with_origins(value, at, vec![origin]);
        if parameter.is_from_store() {
            let reason = Cause::Elsewhere.because(format!("parameter `{name}` is read from the parameter store"));
            let stored = match (self.argument_value(name, parameter, at), parameter.argument()) {
                (Some(passed), _) => match &*passed {
                    [only] => only.value.text().ok(),
                    _ => None,
                },
                (None, Some(argument)) => argument.ok().map(|argument| argument.value.to_string()),
                (None, None) => parameter.default().map(|(text, _)| text),
            };
            let value = Evaluated::placeholder(format!("${{{name}}}"), reason);
            let name = stored.filter(|_| !parameter.is_stored_list());
            return always(
                value.published_as(name.map(|name| Published::new(Store::Parameter, name))),
                at,
            );
        }
        if parameter.is_secret() {
            return open(Cause::Secret.because(format!("parameter `{name}` is secret")));
        }
        if let Some(passed) = self.argument_value(name, parameter, at) {
            return passed.restrict(assumed);
        }
        match parameter.argument() {
            None => {}
            Some(Err(reason)) => return open(reason),
            Some(Ok(argument)) => {
                let origin = Origin::new(argument.span, format!("parameter `{name}`, given by {}", argument.by));
                return Cases::one(one(self.parameter_text(parameter, &argument.value), origin));
            }
        }
        let default = parameter.default();
        if let Some(allowed) = parameter.allowed() {
            if allowed.len() > MAX_CASES {
                return open(
                    Cause::InputWithoutValue.because(format!("parameter `{name}` has too many allowed values")),
                );
            }
            let all = allowed.into_iter().map(|(value, span)| {
                let when = Condition::is(self.variable(name), value.as_str());
                let origin = match &default {
                    Some((text, place)) if *text == value => Origin {
                        is_input_default: true,
                        ..Origin::new(*place, format!("the default of parameter `{name}`"))
                    },
                    _ => Origin::new(span, format!("an allowed value of parameter `{name}`")),
                };
                Case::new(when, one(self.plain(&value), origin))
            });
            return all.collect::<Outcomes<'t>>().restrict(assumed);
        }
        if self.keeps_variables.get() {
            return open(Cause::InputWithoutValue.because(format!("parameter `{name}` may have any value")));
        }
        let compared = self.compared(name);
        if !(compared.is_empty() || parameter.is_list()) {
            return self.compared_value(name, &compared, default, at, assumed);
        }
        let Some((text, span)) = default else {
            return open(Cause::InputWithoutValue.because(format!("parameter `{name}` has no default")));
        };
        let origin = Origin {
            is_input_default: true,
            ..Origin::new(span, format!("the default of parameter `{name}`"))
        };
        Cases::one(one(self.parameter_text(parameter, &text), origin))
    }

    /// Returns the parameter `name` as an input that users of the template may set and no known input sets.
    pub fn input(&self, name: &str) -> Option<SetBy> {
        let parameter = self.parameter(name)?;
        if self.is_passed(name) || !parameter.is_free() || !self.compared(name).is_empty() {
            return None;
        }
        let default = parameter.default();
        Some(SetBy::Input(Arc::new(Input {
            name: name.into(),
            shown: format!("parameter `{name}`"),
            within: String::new(),
            is_required: default.is_none(),
            span: default.map_or(parameter.declaration(), |(_, span)| span),
            most: parameter.bounds().most,
            limit: "`MaxValue`",
        })))
    }

    /// Evaluates a parameter that conditions compare with texts: it has a case for each text, and its default in all
    /// others.
    fn compared_value(
        &self,
        name: &str,
        compared: &[Arc<str>],
        default: Option<(String, Span)>,
        at: Span,
        assumed: &Condition,
    ) -> Outcomes<'t> {
        let variable = self.variable(name);
        let mut rest = Condition::always();
        let mut all = Vec::new();
        let origin = |default: &(String, Span)| Origin {
            is_input_default: true,
            ..Origin::new(default.1, format!("the default of parameter `{name}`"))
        };
        for text in compared {
            let when = Condition::is(variable.clone(), text.clone());
            rest = rest.and(&when.not());
            let is_default = default.as_ref().filter(|(default, _)| **default == **text);
            let then = Outcome::with_origins(self.plain(text), at, is_default.map(origin).into_iter().collect());
            all.push(Case::new(when, then));
        }
        let open = |reason: Reason| Evaluated::placeholder(format!("${{{name}}}"), reason);
        let value = match &default {
            Some((text, _)) if !compared.iter().any(|known| **known == **text) => self.plain(text),
            Some(_) => open(
                Cause::InputWithoutValue.because(format!("parameter `{name}` may have values that no condition names")),
            ),
            None => open(Cause::InputWithoutValue.because(format!("parameter `{name}` has no default"))),
        };
        let then = Outcome::with_origins(value, at, default.as_ref().map(origin).into_iter().collect());
        all.push(Case::new(rest, then));
        Cases::from(all).restrict(assumed)
    }

    /// Converts a parameter's text to its type.
    pub(crate) fn parameter_text(&self, parameter: Parameter<'_>, text: &str) -> Evaluated<'t> {
        if parameter.is_list() {
            let items = text.split(',').map(|item| vec![Part::Text(item.trim().to_owned())]);
            Evaluated::Items(items.collect())
        } else {
            self.plain(text)
        }
    }
}
