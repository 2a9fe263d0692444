//! Functions that join and split texts.

use super::refused;
use crate::eval::too_many;
use crate::limits;
use crate::sections::Dialect;
use crate::serverless;
use crate::template::Template;
use crate::value::{
    Evaluated, Foreign, Link, Outcome, Outcomes, Part, Reference, always, combine, literal, rendered, split,
};
use conditions::{Cases, Condition, TooMany};
use knowledge::{Cause, Form, Published, Store};
use rustc_hash::FxHashMap;
use source::Span;
use trees::{Entry, Node, Value, base64};

impl<'t> Template<'t> {
    pub(super) fn substitute(&self, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let (text, given) = match (&argument.value, argument.items()) {
            (Value::String(text), _) => (text, &[][..]),
            (_, Some([text, given])) => match (&text.value, given.entries()) {
                (Value::String(text), Some(entries)) => (text, entries),
                _ => return refused(at, "`Fn::Sub` takes a string and an object"),
            },
            _ => return refused(at, "`Fn::Sub` takes a string, or a string and an object"),
        };
        if let Some(reason) = self.foreign(text) {
            return always(Evaluated::placeholder(&**text, reason), at);
        }
        let mut pieces: Vec<Outcomes<'t>> = Vec::new();
        // Each name is evaluated once, even if it occurs several times.
        let mut collected: FxHashMap<&str, Outcomes<'t>> = FxHashMap::default();
        let known = |text: &str| always(Evaluated::literal(text), at);
        let mut rest = &**text;
        while let Some((before, after)) = rest.split_once("${") {
            pieces.push(known(before));
            let Some((name, following)) = after.split_once('}') else {
                // No later `${` is closed either.
                pieces.push(known("${"));
                rest = after;
                break;
            };
            rest = following;
            let name = name.trim();
            if let Some(escaped) = name.strip_prefix('!') {
                pieces.push(known(&format!("${{{escaped}}}")));
                continue;
            }
            if let Some(open) = self.framework_variable(name) {
                pieces.push(always(open, at));
                continue;
            }
            let is_part_of_name = |c: char| c.is_ascii_alphanumeric() || "_.:".contains(c);
            if name.is_empty() || !name.chars().all(is_part_of_name) {
                return refused(at, &format!("`Fn::Sub` does not take the name `{name}`"));
            }
            if let Some(found) = collected.get(name) {
                pieces.push(found.clone());
                continue;
            }
            let found = self.named(name, given, at, assumed);
            collected.insert(name, found.clone());
            pieces.push(found);
        }
        pieces.push(known(rest));
        self.concatenate(pieces, at, assumed)
    }

    /// Returns a variable of the Serverless Framework that was left in a text.
    fn framework_variable(&self, name: &str) -> Option<Evaluated<'t>> {
        let is_one = self.dialect == Dialect::Serverless && name.contains([':', '(']) && !name.contains("::");
        is_one.then(|| Evaluated::Text(serverless::parts(&format!("${{{name}}}"))))
    }

    /// Evaluates `name` in a text.
    fn named(&self, name: &str, given: &'t [Entry], at: Span, assumed: &Condition) -> Outcomes<'t> {
        let own = given.iter().find(|entry| &*entry.key == name);
        let found = match (own, name.split_once('.')) {
            (Some(entry), _) => self.argument(&entry.value, at, assumed),
            (None, Some((id, attribute))) if !name.starts_with("AWS::") => {
                self.attribute_value(id, attribute, at, assumed)
            }
            (None, _) => self.name(name, at, assumed),
        };
        found.map(never_absent)
    }

    /// Concatenates `pieces`.
    fn concatenate(&self, pieces: Vec<Outcomes<'t>>, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let longest = |piece: &Outcomes<'t>| piece.iter().map(|outcome| outcome.value.len()).max().unwrap_or(0);
        let length = pieces.iter().map(longest).sum::<usize>();
        if length > limits::MAX_TEXT || !self.spend(length / limits::BYTES_PER_STEP) {
            return always(self.too_long(at), at);
        }
        let Ok(combinations) = combine(pieces, assumed) else {
            return too_many(at);
        };
        combinations.map(|combination| {
            let parts = combination.values.into_iter().flat_map(Evaluated::into_parts);
            Outcome::with_origins(self.text(joined(parts)), at, combination.origins)
        })
    }

    pub(super) fn too_long(&self, at: Span) -> Evaluated<'t> {
        self.note_limit(at, "a string is longer than a whole template may be".to_owned());
        Evaluated::Unresolved(Cause::Limit.because("the text is too long"))
    }

    /// Converts a composed text to a value; the composition may have produced a dynamic reference.
    fn text(&self, parts: Vec<Part>) -> Evaluated<'t> {
        let may_resolve = |part: &Part| matches!(part, Part::Text(text) if text.contains("{{resolve:"));
        if !parts.iter().any(may_resolve) {
            return Evaluated::Text(parts);
        }
        match parts.as_slice() {
            [Part::Text(text)] => self.plain(text),
            _ => Evaluated::placeholder(
                rendered(&parts),
                Cause::Elsewhere.because("`{{resolve:…}}` values are known only at deployment"),
            ),
        }
    }

    pub(super) fn join(&self, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let Some([delimiter, list]) = argument.items() else {
            return refused(at, "`Fn::Join` takes two items");
        };
        let Some(delimiter) = delimiter.as_str().filter(|text| self.placeholder(text).is_none()) else {
            return refused(at, "`Fn::Join` takes a string between the items");
        };
        self.items(list, at, assumed).map(|list| Outcome {
            value: match list.items {
                Err(reason) => Evaluated::Unresolved(reason),
                Ok(items) => self.joined_by(delimiter, items, at),
            },
            span: at,
            origins: list.origins,
        })
    }

    fn joined_by(&self, delimiter: &str, items: Vec<Evaluated<'t>>, at: Span) -> Evaluated<'t> {
        let length: usize = items.iter().map(|item| item.len() + delimiter.len()).sum();
        if length > limits::MAX_TEXT || !self.spend(length / limits::BYTES_PER_STEP) {
            return self.too_long(at);
        }
        let mut parts = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                parts.push(Part::Text(delimiter.to_owned()));
            }
            parts.extend(item.into_parts());
        }
        self.text(joined(parts.into_iter()))
    }

    pub(super) fn split(&self, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let Some([delimiter, text]) = argument.items() else {
            return refused(at, "`Fn::Split` takes two items");
        };
        let Some(delimiter) = delimiter.as_str().filter(|text| !text.is_empty()) else {
            return refused(at, "`Fn::Split` takes a string to split at");
        };
        self.argument(text, at, assumed).map(|outcome| Outcome {
            value: match &outcome.value {
                Evaluated::Text(parts) => self.pieces(parts, delimiter),
                other => Evaluated::Unresolved(
                    other
                        .text()
                        .err()
                        .unwrap_or_else(|| Cause::Invalid.because("a string is expected here")),
                ),
            },
            ..outcome
        })
    }

    /// Splits `parts` at the delimiters, if unresolved parts cannot contain one.
    fn pieces(&self, parts: &[Part], delimiter: &str) -> Evaluated<'t> {
        if let ([Part::Reference(reference)], ":") = (parts, delimiter)
            && let Some(pieces) = self.arn_pieces(reference)
        {
            return Evaluated::Items(pieces);
        }
        let keeps_whole = |part: &Part| match part {
            Part::Text(_) => true,
            Part::Unresolved { atomic, .. } => *atomic && matches!(delimiter, ":" | "/" | "," | "|"),
            Part::Reference(reference) => matches!(delimiter, "," | "|") && self.is_name_or_arn(reference),
        };
        if parts.iter().all(keeps_whole) {
            Evaluated::Items(split(parts, delimiter))
        } else {
            let reason = literal(parts).err();
            Evaluated::Unresolved(
                reason.unwrap_or_else(|| Cause::Derived.because("the string of `Fn::Split` is unknown")),
            )
        }
    }

    /// Returns `true` if `reference` is to a queue or a function, whose names, ARNs and URLs contain no separator of
    /// lists.
    fn is_name_or_arn(&self, reference: &Reference) -> bool {
        let kind = match &reference.elsewhere {
            Some(foreign) => Some(&foreign.kind),
            None => self.resource(&reference.id).map(|resource| &resource.kind),
        };
        kind.is_some_and(|kind| matches!(&**kind, "AWS::SQS::Queue" | "AWS::Lambda::Function"))
    }

    /// Returns the components of a resource's ARN: CDK splits the ARN of a version to append an alias.
    fn arn_pieces(&self, reference: &Reference) -> Option<Vec<Vec<Part>>> {
        let foreign = reference.elsewhere.as_ref();
        let (kind, attribute) = match foreign {
            Some(foreign) => (&*foreign.kind, (foreign.link.form == Form::Arn).then_some("Arn")),
            None => (&*self.resource(&reference.id)?.kind, reference.attribute.as_deref()),
        };
        let (service, name) = match (kind, attribute) {
            ("AWS::SQS::Queue", Some("Arn")) => ("sqs", "QueueName"),
            ("AWS::Lambda::Version" | "AWS::Lambda::Alias", None)
            | ("AWS::Lambda::Function" | "AWS::Serverless::Function", Some("Arn")) => ("lambda", "FunctionName"),
            _ => return None,
        };
        let text = |text: &str| vec![Part::Text(text.to_owned())];
        let open = |name: &str| vec![self.pseudo_part(name)];
        let mut pieces = vec![text("arn"), open("AWS::Partition"), text(service)];
        pieces.extend([open("AWS::Region"), open("AWS::AccountId")]);
        if service == "lambda" {
            pieces.push(text("function"));
        }
        pieces.push(vec![Part::Reference(Reference {
            id: reference.id.clone(),
            attribute: foreign.is_none().then(|| name.into()),
            elsewhere: foreign.map(|foreign| Foreign {
                link: Link {
                    form: Form::Name,
                    ..foreign.link.clone()
                },
                kind: foreign.kind.clone(),
            }),
        })]);
        Some(pieces)
    }

    pub(super) fn base64(&self, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        self.argument(argument, at, assumed).map(|outcome| Outcome {
            value: match outcome.value.text() {
                Ok(text) => Evaluated::literal(base64::encoded(text.as_bytes())),
                Err(reason) => Evaluated::Unresolved(reason),
            },
            ..outcome
        })
    }

    /// Evaluates an import. If no template exports the name, the name itself is the placeholder, so that equal imports
    /// are equal.
    pub(super) fn import(&self, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let names = self.argument(argument, at, assumed);
        let imports = names.and_then(|when, outcome| {
            if let Evaluated::Text(parts) = &outcome.value
                && let Some(found) = self.imported(parts, at, &assumed.and(when))
            {
                return found;
            }
            let shown = match &outcome.value {
                Evaluated::Text(parts) => rendered(parts),
                _ => "?".to_owned(),
            };
            let text = format!("${{import {shown}}}");
            let reason = Cause::Elsewhere.because(format!("no template that is read exports `{shown}`"));
            let name = outcome
                .value
                .text()
                .ok()
                .map(|name| Published::new(Store::Export, name));
            Cases::one(outcome.with(Evaluated::placeholder(text, reason).published_as(name)))
        });
        imports.unwrap_or_else(|TooMany| too_many(at))
    }
}

/// Rejects `AWS::NoValue` as part of a text.
fn never_absent(outcome: Outcome<'_>) -> Outcome<'_> {
    match outcome.value {
        Evaluated::Absent => outcome.with(Evaluated::Unresolved(
            Cause::Invalid.because("`AWS::NoValue` is used in a string"),
        )),
        _ => outcome,
    }
}

/// Merges neighbouring texts.
pub(super) fn joined(parts: impl Iterator<Item = Part>) -> Vec<Part> {
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
