//! The intrinsic functions, one by one. What only a deployment knows stays a placeholder in its text, so that the
//! last part of an ARN with `${AWS::Region}` in it is still known.

use super::template::{Parameter, Template};
use super::value::{
    Evaluated, MAX_OUTCOMES, Outcome, Outcomes, Part, Reference, combine, literal, rendered, split, too_many,
};
use crate::frontend::tree::Node;
use crate::graph::{Condition, Origin};
use crate::source::Span;
use std::sync::Arc;

/// A known key, or why it is not known, in some worlds.
type KeyCase = (Condition, Result<String, Arc<str>>, Vec<Origin>);

impl<'t> Template<'t> {
    /// What the function `name` with `argument` comes to.
    pub(super) fn intrinsic(&self, name: &str, argument: &'t Node, at: Span, world: &Condition) -> Outcomes<'t> {
        let one = |value| vec![Outcome::always(value, at)];
        match name {
            "Ref" => match argument.as_str() {
                Some(name) => self.name(name, at, world),
                None => one(Evaluated::Unresolved("`Ref` takes a name".into())),
            },
            "Fn::GetAtt" => one(self.attribute_of(argument)),
            "Fn::Sub" => self.substitute(argument, at, world),
            "Fn::If" => self.choose(argument, at, world),
            "Fn::Join" => self.join(argument, at, world),
            "Fn::Select" => self.select(argument, at, world),
            "Fn::Split" => self.split(argument, at, world),
            "Fn::FindInMap" => self.find_in_map(argument, at, world),
            // Where text is wanted that holds JSON, the object is taken as well.
            "Fn::ToJsonString" => self.eval(argument, at, world),
            "Fn::ImportValue" => {
                let names = self.eval(argument, at, world).into_iter();
                let imports = names.map(|outcome| {
                    let shown = match &outcome.value {
                        Evaluated::Text(parts) => rendered(parts),
                        _ => "?".to_owned(),
                    };
                    let text = format!("${{import {shown}}}");
                    Outcome {
                        value: Evaluated::open(text, format!("import `{shown}`")),
                        ..outcome
                    }
                });
                imports.collect()
            }
            _ => one(Evaluated::Unresolved(format!("`{name}` is not evaluated").into())),
        }
    }

    /// What a name means: a parameter, a pseudo parameter or a resource.
    fn name(&self, name: &str, at: Span, world: &Condition) -> Outcomes<'t> {
        if name == "AWS::NoValue" {
            return vec![Outcome::always(Evaluated::Absent, at)];
        }
        if let Some(known) = self.pseudo_parameter(name) {
            return vec![Outcome::always(Evaluated::literal(&*known), at)];
        }
        if name.starts_with("AWS::") {
            let part = Part::Open {
                text: format!("${{{name}}}"),
                reason: format!("`{name}` is known only when the stack is deployed").into(),
                atomic: true,
            };
            return vec![Outcome::always(Evaluated::Text(vec![part]), at)];
        }
        if self.parameter(name).is_some() && self.resource(name).is_none() {
            return self.parameter_value(name, at, world);
        }
        let reference = Reference {
            id: name.into(),
            attribute: None,
        };
        vec![Outcome::always(Evaluated::Text(vec![Part::Reference(reference)]), at)]
    }

    fn parameter_value(&self, name: &str, at: Span, world: &Condition) -> Outcomes<'t> {
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

    fn attribute_of(&self, argument: &Node) -> Evaluated<'t> {
        let (id, attribute) = match (argument.as_str(), argument.items()) {
            (Some(text), _) => text.split_once('.').unwrap_or((text, "")),
            (None, Some([id, rest @ ..])) => {
                let names: Option<Vec<&str>> = rest.iter().map(Node::as_str).collect();
                match (id.as_str(), names) {
                    (Some(id), Some(names)) => return Self::attribute_reference(id, &names.join(".")),
                    _ => ("", ""),
                }
            }
            _ => ("", ""),
        };
        if id.is_empty() || self.placeholder(id).is_some() {
            return Evaluated::Unresolved("`Fn::GetAtt` takes a resource and an attribute".into());
        }
        Self::attribute_reference(id, attribute)
    }

    fn attribute_reference<'a>(id: &str, attribute: &str) -> Evaluated<'a> {
        Evaluated::Text(vec![Part::Reference(Reference {
            id: id.into(),
            attribute: Some(attribute.into()),
        })])
    }

    fn substitute(&self, argument: &'t Node, at: Span, world: &Condition) -> Outcomes<'t> {
        let (text, given) = match (argument.as_str(), argument.items()) {
            (Some(text), _) => (Some(text), None),
            (None, Some([text, given, ..])) => (text.as_str(), Some(given)),
            (None, Some([text])) => (text.as_str(), None),
            _ => (None, None),
        };
        let Some(text) = text else {
            return vec![Outcome::always(
                Evaluated::Unresolved("`Fn::Sub` takes a text".into()),
                at,
            )];
        };
        if let Some(reason) = self.placeholder(text) {
            return vec![Outcome::always(Evaluated::open(text, reason), at)];
        }
        let mut pieces: Vec<Outcomes<'t>> = Vec::new();
        let known = |text: &str| vec![Outcome::always(Evaluated::literal(text), at)];
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            pieces.push(known(before));
            let Some((name, behind)) = after.split_once('}') else {
                pieces.push(known("${"));
                rest = after;
                continue;
            };
            rest = behind;
            let name = name.trim();
            if let Some(escaped) = name.strip_prefix('!') {
                pieces.push(known(&format!("${{{escaped}}}")));
            } else if let Some(entry) = given.and_then(|given| given.entry(name)) {
                pieces.push(self.eval(&entry.value, at, world));
            } else if let (false, Some((id, attribute))) = (name.starts_with("AWS::"), name.split_once('.')) {
                pieces.push(vec![Outcome::always(Self::attribute_reference(id, attribute), at)]);
            } else {
                pieces.push(self.name(name, at, world));
            }
        }
        pieces.push(known(rest));
        Self::concatenate(pieces, at, world)
    }

    fn concatenate(pieces: Vec<Outcomes<'t>>, at: Span, world: &Condition) -> Outcomes<'t> {
        let Some(combinations) = combine(pieces, world) else {
            return too_many(at);
        };
        let all = combinations.into_iter().map(|combination| {
            let parts = combination.values.into_iter().flat_map(Evaluated::into_parts);
            Outcome {
                when: combination.when,
                value: Evaluated::Text(joined(parts)),
                span: at,
                origins: combination.origins,
            }
        });
        all.collect()
    }

    fn choose(&self, argument: &'t Node, at: Span, world: &Condition) -> Outcomes<'t> {
        let Some([condition, yes, no]) = argument.items() else {
            return vec![Outcome::always(
                Evaluated::Unresolved("`Fn::If` takes three items".into()),
                at,
            )];
        };
        let Some(name) = condition.as_str().or_else(|| condition.get("Condition")?.as_str()) else {
            return vec![Outcome::always(
                Evaluated::Unresolved("`Fn::If` takes a condition's name".into()),
                at,
            )];
        };
        let condition = self.condition(name);
        let mut all = Vec::new();
        for (when, branch) in [(condition.clone(), yes), (condition.not(), no)] {
            let here = world.and(&when);
            if !here.is_possible() {
                continue;
            }
            let when = if world.implies(&when) {
                Condition::always()
            } else {
                when
            };
            for outcome in self.eval(branch, branch.span, &here) {
                all.push(Outcome {
                    when: when.and(&outcome.when),
                    ..outcome
                });
            }
            if all.len() > MAX_OUTCOMES {
                return too_many(at);
            }
        }
        all
    }

    fn join(&self, argument: &'t Node, at: Span, world: &Condition) -> Outcomes<'t> {
        let Some([delimiter, list]) = argument.items() else {
            return vec![Outcome::always(
                Evaluated::Unresolved("`Fn::Join` takes two items".into()),
                at,
            )];
        };
        let delimiter = delimiter.as_str().unwrap_or_default();
        let lists = self.list(&self.eval(list, at, world), world);
        let all = lists.into_iter().map(|list| Outcome {
            when: list.when,
            value: match list.items {
                Err(reason) => Evaluated::Unresolved(reason),
                Ok(items) => {
                    let mut parts = Vec::new();
                    for (index, item) in items.into_iter().enumerate() {
                        if index > 0 {
                            parts.push(Part::Text(delimiter.to_owned()));
                        }
                        parts.extend(item.into_parts());
                    }
                    Evaluated::Text(joined(parts.into_iter()))
                }
            },
            span: at,
            origins: list.origins,
        });
        all.collect()
    }

    fn select(&self, argument: &'t Node, at: Span, world: &Condition) -> Outcomes<'t> {
        let unresolved = |reason: &str| Evaluated::Unresolved(reason.into());
        let Some([index, list]) = argument.items() else {
            return vec![Outcome::always(unresolved("`Fn::Select` takes two items"), at)];
        };
        let lists = self.list(&self.eval(list, at, world), world);
        let index = self.eval(index, at, world);
        let index = match index.as_slice() {
            [only] => only.value.text().ok().and_then(|text| text.parse::<usize>().ok()),
            _ => None,
        };
        let all = lists.into_iter().map(|list| Outcome {
            when: list.when,
            value: match (list.items, index) {
                (Err(reason), _) => Evaluated::Unresolved(reason),
                (Ok(_), None) => unresolved("the index of `Fn::Select` is not known"),
                (Ok(mut items), Some(index)) if index < items.len() => items.swap_remove(index),
                (Ok(_), Some(_)) => unresolved("the list of `Fn::Select` is shorter"),
            },
            span: at,
            origins: list.origins,
        });
        all.collect()
    }

    fn split(&self, argument: &'t Node, at: Span, world: &Condition) -> Outcomes<'t> {
        let Some([delimiter, text]) = argument.items() else {
            return vec![Outcome::always(
                Evaluated::Unresolved("`Fn::Split` takes two items".into()),
                at,
            )];
        };
        let delimiter = delimiter.as_str().unwrap_or_default();
        let all = self.eval(text, at, world).into_iter().map(|outcome| Outcome {
            value: match &outcome.value {
                Evaluated::Text(parts) => self.pieces(parts, delimiter),
                other => Evaluated::Unresolved(other.text().err().unwrap_or_else(|| "a text is expected here".into())),
            },
            ..outcome
        });
        all.collect()
    }

    /// `parts` between the delimiters, where what is not known cannot hold one.
    fn pieces(&self, parts: &[Part], delimiter: &str) -> Evaluated<'t> {
        if let ([Part::Reference(reference)], ":") = (parts, delimiter)
            && let Some(pieces) = self.arn_pieces(reference)
        {
            return Evaluated::Items(pieces);
        }
        let keeps_whole = |part: &Part| match part {
            Part::Text(_) => true,
            Part::Open { atomic, .. } => *atomic && matches!(delimiter, ":" | "/" | "," | "|"),
            Part::Reference(_) => false,
        };
        if parts.iter().all(keeps_whole) {
            Evaluated::Items(split(parts, delimiter))
        } else {
            let reason = literal(parts).err();
            Evaluated::Unresolved(reason.unwrap_or_else(|| "the text of `Fn::Split` is not known".into()))
        }
    }

    /// The parts of an ARN that a resource gives: CDK takes a version's apart to put an alias behind it.
    fn arn_pieces(&self, reference: &Reference) -> Option<Vec<Vec<Part>>> {
        let kind = &*self.resource(&reference.id)?.kind;
        let (service, name) = match (kind, reference.attribute.as_deref()) {
            ("AWS::SQS::Queue", Some("Arn")) => ("sqs", "QueueName"),
            ("AWS::Lambda::Version" | "AWS::Lambda::Alias", None)
            | ("AWS::Lambda::Function" | "AWS::Serverless::Function", Some("Arn")) => ("lambda", "FunctionName"),
            _ => return None,
        };
        let text = |text: &str| vec![Part::Text(text.to_owned())];
        let open = |name: &str| {
            vec![Part::Open {
                text: format!("${{{name}}}"),
                reason: format!("`{name}` is known only when the stack is deployed").into(),
                atomic: true,
            }]
        };
        let mut pieces = vec![text("arn"), open("AWS::Partition"), text(service)];
        pieces.extend([open("AWS::Region"), open("AWS::AccountId")]);
        if service == "lambda" {
            pieces.push(text("function"));
        }
        pieces.push(vec![Part::Reference(Reference {
            id: reference.id.clone(),
            attribute: Some(name.into()),
        })]);
        Some(pieces)
    }

    fn find_in_map(&self, argument: &'t Node, at: Span, world: &Condition) -> Outcomes<'t> {
        let one = |value| vec![Outcome::always(value, at)];
        let Some([map, first, second, options @ ..]) = argument.items() else {
            return one(Evaluated::Unresolved("`Fn::FindInMap` takes three items".into()));
        };
        let Some(mapping) = map.as_str().and_then(|name| self.mapping(name)) else {
            return one(Evaluated::Unresolved(
                "the mapping of `Fn::FindInMap` is not known".into(),
            ));
        };
        let fallback = options.first().and_then(|options| options.get("DefaultValue"));
        let mut all = Vec::new();
        for (when, key, origins) in self.key_cases(first, &mapping.value, at, world) {
            let rows = key.and_then(|key| {
                let row = mapping.value.get(&key);
                row.ok_or_else(|| missing_key(&mapping.key, &key))
            });
            let row = match rows {
                Ok(row) => row,
                Err(reason) => {
                    all.extend(self.fallback(fallback, reason, &when, at, world));
                    continue;
                }
            };
            let here = world.and(&when);
            for (also, key, more) in self.key_cases(second, row, at, &here) {
                let when = when.and(&also);
                let found = key.and_then(|key| row.entry(&key).ok_or_else(|| missing_key(&mapping.key, &key)));
                match found {
                    Err(reason) => all.extend(self.fallback(fallback, reason, &when, at, world)),
                    Ok(entry) => {
                        let origin = Origin {
                            span: entry.span(),
                            what: format!("the mapping `{}`", mapping.key).into(),
                        };
                        let value = self
                            .eval(&entry.value, at, &here)
                            .into_iter()
                            .next()
                            .map(|found| found.value);
                        all.push(Outcome {
                            when,
                            value: value.unwrap_or(Evaluated::Absent),
                            span: at,
                            origins: origins.iter().chain(&more).cloned().chain([origin]).collect(),
                        });
                    }
                }
            }
        }
        if all.len() > MAX_OUTCOMES { too_many(at) } else { all }
    }

    fn fallback(
        &self,
        value: Option<&'t Node>,
        reason: Arc<str>,
        when: &Condition,
        at: Span,
        world: &Condition,
    ) -> Outcomes<'t> {
        let found = match value {
            Some(value) => self.eval(value, at, &world.and(when)),
            None => vec![Outcome::always(Evaluated::Unresolved(reason), at)],
        };
        let all = found.into_iter().map(|outcome| Outcome {
            when: when.and(&outcome.when),
            ..outcome
        });
        all.collect()
    }

    /// The keys that `node` may name. A parameter that may have any value has one of the keys that there are,
    /// because a deployment with another is refused.
    fn key_cases(&self, node: &'t Node, row: &'t Node, at: Span, world: &Condition) -> Vec<KeyCase> {
        let is_open = |name: &&str| self.parameter(name).is_none_or(Parameter::is_open);
        if let Some(name) = self.variable_name(node).filter(is_open) {
            let keys = row.entries().unwrap_or_default().iter();
            let cases = keys.filter_map(|entry| {
                let when = Condition::is(self.variable(name), entry.key.clone());
                world
                    .is_possible_with(&when)
                    .then(|| (when, Ok(entry.key.to_string()), Vec::new()))
            });
            let cases: Vec<KeyCase> = cases.collect();
            return match cases.len() {
                0 => vec![(
                    Condition::always(),
                    Err(format!("no key for `{name}`").into()),
                    Vec::new(),
                )],
                1..=MAX_OUTCOMES => cases,
                _ => vec![(
                    Condition::always(),
                    Err("the mapping has too many keys".into()),
                    Vec::new(),
                )],
            };
        }
        let outcomes = self.eval(node, at, world).into_iter();
        outcomes
            .map(|outcome| (outcome.when, outcome.value.text(), outcome.origins))
            .collect()
    }
}

fn missing_key(mapping: &str, key: &str) -> Arc<str> {
    format!("mapping `{mapping}` has no `{key}`").into()
}

/// `parts` with neighbouring texts as one.
fn joined(parts: impl Iterator<Item = Part>) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::new();
    for part in parts {
        match (all.last_mut(), part) {
            (Some(Part::Text(text)), Part::Text(more)) => text.push_str(&more),
            (_, part) => all.push(part),
        }
    }
    if all.len() > 1 {
        all.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
    }
    all
}
