//! `Ref` of a parameter or pseudo parameter.

use crate::frontend::cloudformation::template::{Parameter, Template};
use crate::frontend::cloudformation::value::{Evaluated, MAX_OUTCOMES, Outcome, Outcomes, Part};
use crate::graph::{Condition, Origin};
use crate::source::Span;

impl<'t> Template<'t> {
    /// What AWS fills in; the names begin with `AWS::`.
    pub(super) fn pseudo_value(&self, name: &str, at: Span) -> Outcomes<'t> {
        let value = match name {
            "AWS::NoValue" => Evaluated::Absent,
            "AWS::NotificationARNs" => {
                Evaluated::Unresolved("`AWS::NotificationARNs` is known only when the stack is deployed".into())
            }
            // Its parts are known by their kind: templates take it apart for the last one.
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
        vec![Outcome::always(value, at)]
    }

    /// A pseudo parameter as a part of a text.
    pub(super) fn pseudo_part(&self, name: &str) -> Part {
        match self.pseudo_parameter(name) {
            Some(known) => Part::Text(known.to_string()),
            None => Part::Open {
                text: format!("${{{name}}}"),
                reason: format!("`{name}` is known only when the stack is deployed").into(),
                atomic: true,
            },
        }
    }

    pub(super) fn parameter_value(&self, name: &str, at: Span, world: &Condition) -> Outcomes<'t> {
        let Some(parameter) = self.parameter(name) else {
            return Vec::new();
        };
        let open = |reason: String| vec![Outcome::always(Evaluated::open(format!("${{{name}}}"), reason), at)];
        if parameter.is_from_store() {
            return open(format!("parameter `{name}` is read from the parameter store"));
        }
        if parameter.is_secret() {
            return open(format!("parameter `{name}` is secret"));
        }
        match parameter.argument() {
            None => {}
            Some(Err(reason)) => return open(reason.to_string()),
            Some(Ok(argument)) => {
                return vec![Outcome {
                    when: Condition::always(),
                    value: self.parameter_text(parameter, &argument.value),
                    span: at,
                    origins: vec![Origin {
                        span: argument.span,
                        what: format!("parameter `{name}`, given by {}", argument.by).into(),
                    }],
                }];
            }
        }
        let default = parameter.default();
        if let Some(allowed) = parameter.allowed() {
            if allowed.len() > MAX_OUTCOMES {
                return open(format!("parameter `{name}` has too many allowed values"));
            }
            let mut all = Vec::new();
            for (value, span) in allowed {
                let when = Condition::is(self.variable(name), value.as_str());
                if !world.is_possible_with(&when) {
                    continue;
                }
                let when = if world.implies(&when) {
                    Condition::always()
                } else {
                    when
                };
                let origin = match &default {
                    Some((text, place)) if *text == value => Origin {
                        span: *place,
                        what: format!("the default of parameter `{name}`").into(),
                    },
                    _ => Origin {
                        span,
                        what: format!("an allowed value of parameter `{name}`").into(),
                    },
                };
                all.push(Outcome {
                    when,
                    value: self.plain(&value),
                    span: at,
                    origins: vec![origin],
                });
            }
            return all;
        }
        let Some((text, span)) = default else {
            return open(format!("parameter `{name}` has no default"));
        };
        vec![Outcome {
            when: Condition::always(),
            value: self.parameter_text(parameter, &text),
            span: at,
            origins: vec![Origin {
                span,
                what: format!("the default of parameter `{name}`").into(),
            }],
        }]
    }

    /// A parameter's text as a value of its type.
    fn parameter_text(&self, parameter: Parameter<'_>, text: &str) -> Evaluated<'t> {
        if parameter.is_list() {
            let items = text.split(',').map(|item| vec![Part::Text(item.trim().to_owned())]);
            Evaluated::Items(items.collect())
        } else {
            self.plain(text)
        }
    }
}
