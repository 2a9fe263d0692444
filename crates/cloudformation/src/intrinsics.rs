//! Evaluates the intrinsic functions, by family. Values known only after deployment stay placeholders in their text, so
//! that the last part of an ARN that contains `${AWS::Region}` is still known. A call that CloudFormation rejects is
//! unresolved.

mod choices;
mod json;
mod lists;
mod parameters;
mod texts;

use super::eval::too_many;
use super::template::Template;
use super::value::{Evaluated, Outcomes, Part, Reference, always, combine};
use conditions::{Condition, TooMany};
use knowledge::{Cause, Reason};
use source::Span;
use trees::Node;

impl<'t> Template<'t> {
    /// Evaluates the function `name` with `argument`.
    pub(crate) fn intrinsic(&self, name: &str, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let extended = matches!(name, "Fn::ToJsonString" | "Fn::Length");
        if extended && !self.has_language_extensions {
            return refused(at, &format!("`{name}` needs the transform `AWS::LanguageExtensions`"));
        }
        match name {
            "Ref" => self.reference(argument, at, assumed),
            "Fn::GetAtt" => self.attribute_of(argument, at, assumed),
            "Fn::Sub" => self.substitute(argument, at, assumed),
            "Fn::Join" => self.join(argument, at, assumed),
            "Fn::Split" => self.split(argument, at, assumed),
            "Fn::Base64" => self.base64(argument, at, assumed),
            "Fn::ImportValue" => self.import(argument, at, assumed),
            "Fn::GetStackOutput" => self.stack_output(argument, at, assumed),
            // Properties that take JSON as text also take an object; `argument` renders it as text.
            "Fn::ToJsonString" => self.eval(argument, at, assumed),
            "Fn::Select" => self.select(argument, at, assumed),
            "Fn::Length" => self.length(argument, at, assumed),
            "Fn::Cidr" => self.cidr(argument, at, assumed),
            "Fn::If" => self.choose(argument, at, assumed),
            "Fn::FindInMap" => self.find_in_map(argument, at, assumed),
            "Fn::GetAZs" => unresolved(
                at,
                Cause::KnownAfterApply.because("availability zones are known only at deployment"),
            ),
            "Fn::Transform" => unresolved(
                at,
                Cause::Unsupported.because("the result of `Fn::Transform` is unknown"),
            ),
            "Fn::And" | "Fn::Equals" | "Fn::Not" | "Fn::Or" => {
                refused(at, &format!("`{name}` is only allowed in conditions"))
            }
            _ => unresolved(at, Cause::Unsupported.because(format!("`{name}` is not evaluated"))),
        }
    }

    /// Evaluates the argument of a function that takes a text; here `Fn::ToJsonString` yields text.
    pub fn argument(&self, node: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        match super::document::intrinsic(node) {
            Some(("Fn::ToJsonString", object)) if self.has_language_extensions => self.json_text(object, at, assumed),
            _ => self.eval(node, at, assumed),
        }
    }

    fn reference(&self, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        if let Some(name) = argument.as_str() {
            return self.name(name, at, assumed);
        }
        if argument.entries().is_none() || !self.has_language_extensions {
            return refused(at, "`Ref` takes a name");
        }
        let names = self.eval(argument, at, assumed);
        let all = names.and_then(|when, outcome| match outcome.value.text() {
            Ok(name) => self.name(&name, at, &assumed.and(when)),
            Err(reason) => unresolved(at, reason),
        });
        all.unwrap_or_else(|TooMany| too_many(at))
    }

    /// Evaluates a name: a parameter, a pseudo parameter or a resource.
    fn name(&self, name: &str, at: Span, assumed: &Condition) -> Outcomes<'t> {
        if name.starts_with("AWS::") {
            return self.pseudo_value(name, at);
        }
        if self.parameter(name).is_some() && self.resource(name).is_none() {
            return self.parameter_value(name, at, assumed);
        }
        let reference = Reference {
            id: name.into(),
            attribute: None,
            elsewhere: None,
        };
        always(Evaluated::Text(vec![Part::Reference(reference)]), at)
    }

    /// Evaluates `Fn::GetAtt` in its three spellings: a list, a text with a dot, and the tag with either.
    fn attribute_of(&self, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let wrong = || refused(at, "`Fn::GetAtt` takes a resource and an attribute");
        if let Some(text) = argument.as_str() {
            return match text.split_once('.') {
                Some((id, attribute)) if self.placeholder(text).is_none() => {
                    self.attribute_value(id, attribute, at, assumed)
                }
                _ => wrong(),
            };
        }
        let Some([id, rest @ ..]) = argument.items().filter(|items| items.len() > 1) else {
            return wrong();
        };
        let steps = std::iter::once(id).chain(rest).map(|node| self.eval(node, at, assumed));
        let found = combine(steps.collect(), assumed).and_then(|combinations| {
            combinations.and_then(|_, combination| {
                let names: Result<Vec<String>, _> = combination.values.iter().map(Evaluated::text).collect();
                // The provenance of the name is not that of the value.
                match names.as_deref() {
                    Ok([id, rest @ ..]) if !id.is_empty() => self.attribute_value(id, &rest.join("."), at, assumed),
                    Ok(_) => wrong(),
                    Err(reason) => unresolved(at, reason.clone()),
                }
            })
        });
        found.unwrap_or_else(|TooMany| too_many(at))
    }

    /// Evaluates `Fn::GetAtt` of the resource `id`: an output of a nested stack, or a reference.
    fn attribute_value(&self, id: &str, attribute: &str, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let output = self.output_of(id, attribute, at, assumed);
        output.unwrap_or_else(|| always(Self::attribute_reference(id, attribute), at))
    }

    fn attribute_reference<'a>(id: &str, attribute: &str) -> Evaluated<'a> {
        Evaluated::Text(vec![Part::Reference(Reference {
            id: id.into(),
            attribute: Some(attribute.into()),
            elsewhere: None,
        })])
    }
}

/// Returns an unresolved value that CloudFormation rejects, for the reason `words`.
fn refused<'t>(at: Span, words: &str) -> Outcomes<'t> {
    unresolved(at, Cause::Invalid.because(words))
}

/// Returns an unresolved value.
fn unresolved<'t>(at: Span, reason: Reason) -> Outcomes<'t> {
    always(Evaluated::Unresolved(reason), at)
}
