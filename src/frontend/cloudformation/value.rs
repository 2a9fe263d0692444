//! What a template's expressions come to: texts with references in them, trees, absence, each under a condition.
//! It knows no intrinsic and no resource type.

use crate::conditions::{Cases, Condition, TooMany};
use crate::frontend::tree::{Node, Value};
use crate::graph::{Cause, Link, Origin, Reason};
use crate::source::Span;
use std::sync::Arc;

/// A `Ref` or `Fn::GetAtt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    /// The logical id.
    pub(super) id: Arc<str>,
    /// The attribute; `None` for `Ref`.
    pub(super) attribute: Option<Arc<str>>,
    /// What another template hands over, where the reference was written there.
    pub(super) elsewhere: Option<Foreign>,
}

/// A resource of another template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Foreign {
    /// The link to it, which names its unit.
    pub(super) link: Link,
    /// Its type.
    pub(super) kind: Arc<str>,
}

impl Reference {
    /// As it stands in a `Fn::Sub`, without the braces.
    pub(super) fn shown(&self) -> String {
        match &self.attribute {
            None => self.id.to_string(),
            Some(attribute) => format!("{}.{attribute}", self.id),
        }
    }
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Known text.
    Text(String),
    /// What a resource gives.
    Reference(Reference),
    /// Text that only the deployment knows.
    Open {
        /// What stands for it; equal texts stand for equal values.
        text: String,
        /// Why it is not known.
        reason: Reason,
        /// Whether it holds none of the separators of ARNs and URLs.
        atomic: bool,
    },
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Part::Text(text) | Part::Open { text, .. } => text.len(),
            Part::Reference(reference) => reference.id.len(),
        }
    }
}

/// What an expression comes to. Scalars are texts, because CloudFormation converts between them.
#[derive(Debug, Clone)]
pub(super) enum Evaluated<'t> {
    /// Nothing: not written, `null`, or `AWS::NoValue`.
    Absent,
    /// A mapping or sequence, whose parts are not evaluated yet.
    Tree(&'t Node),
    /// A scalar.
    Text(Vec<Part>),
    /// A list of scalars that was computed.
    Items(Vec<Vec<Part>>),
    /// Not known, and why.
    Unresolved(Reason),
}

impl Evaluated<'_> {
    /// Known text.
    pub(super) fn literal(text: impl Into<String>) -> Self {
        Evaluated::Text(vec![Part::Text(text.into())])
    }

    /// Text that stands for something unknown.
    pub(super) fn open(text: impl Into<String>, reason: Reason) -> Self {
        Evaluated::Text(vec![Part::Open {
            text: text.into(),
            reason,
            atomic: false,
        }])
    }

    /// The text, where it is known, or why it is not.
    pub(super) fn text(&self) -> Result<String, Reason> {
        match self {
            Evaluated::Text(parts) => literal(parts),
            Evaluated::Unresolved(reason) => Err(reason.clone()),
            Evaluated::Absent => Err(Cause::Invalid.because("nothing is written")),
            Evaluated::Tree(_) | Evaluated::Items(_) => Err(Cause::Invalid.because("a single value is expected here")),
        }
    }

    /// Whether it is a list or an object, and no single value. An object with an intrinsic function may come to one.
    pub(super) fn is_several(&self) -> bool {
        let is_function = |key: &str| key.starts_with("Fn::") || key == "Ref" || key == "Condition";
        match self {
            Evaluated::Items(_) => true,
            Evaluated::Tree(node) => match &node.value {
                Value::Mapping(entries) => !entries.iter().any(|entry| is_function(&entry.key)),
                value => matches!(value, Value::Sequence(_)),
            },
            _ => false,
        }
    }

    /// How long it is in a text, in bytes.
    pub(super) fn len(&self) -> usize {
        let length = |parts: &[Part]| parts.iter().map(Part::len).sum::<usize>();
        match self {
            Evaluated::Text(parts) => length(parts),
            Evaluated::Items(items) => items.iter().map(|item| length(item)).sum(),
            Evaluated::Unresolved(reason) => reason.len(),
            Evaluated::Absent | Evaluated::Tree(_) => 0,
        }
    }

    /// As a part of a longer text.
    pub(super) fn into_parts(self) -> Vec<Part> {
        match self {
            Evaluated::Text(parts) => parts,
            Evaluated::Absent => Vec::new(),
            Evaluated::Unresolved(reason) => vec![Part::Open {
                text: format!("${{{reason}}}"),
                reason,
                atomic: false,
            }],
            Evaluated::Tree(_) | Evaluated::Items(_) => vec![Part::Open {
                text: "${list}".to_owned(),
                reason: Cause::Invalid.because("a list is used in a string"),
                atomic: false,
            }],
        }
    }
}

/// The text of `parts`, where all of it is known, or why it is not.
pub(super) fn literal(parts: &[Part]) -> Result<String, Reason> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(piece) => text.push_str(piece),
            Part::Reference(reference) => {
                let shown = reference.shown();
                return Err(
                    Cause::KnownAfterApply.because(format!("`{shown}` is known only when the stack is deployed"))
                );
            }
            Part::Open { reason, .. } => return Err(reason.clone()),
        }
    }
    Ok(text)
}

/// The text with `${…}` for what is not known.
pub(super) fn rendered(parts: &[Part]) -> String {
    let pieces = parts.iter().map(|part| match part {
        Part::Text(text) | Part::Open { text, .. } => text.clone(),
        Part::Reference(reference) => format!("${{{}}}", reference.shown()),
    });
    pieces.collect()
}

/// `parts` between the `delimiter`s in its known text.
pub(super) fn split(parts: &[Part], delimiter: &str) -> Vec<Vec<Part>> {
    let mut pieces: Vec<Vec<Part>> = vec![Vec::new()];
    for part in parts {
        if let (Part::Text(text), false) = (part, delimiter.is_empty()) {
            for (at, piece) in text.split(delimiter).enumerate() {
                if at > 0 {
                    pieces.push(Vec::new());
                }
                if let (Some(last), false) = (pieces.last_mut(), piece.is_empty()) {
                    last.push(Part::Text(piece.to_owned()));
                }
            }
        } else if let Some(last) = pieces.last_mut() {
            last.push(part.clone());
        }
    }
    pieces
}

/// What an expression comes to under a condition.
#[derive(Debug, Clone)]
pub(super) struct Outcome<'t> {
    /// The value.
    pub(super) value: Evaluated<'t>,
    /// The property, or the branch of `Fn::If`, as written.
    pub(super) span: Span,
    /// Where the value came from, nearest first.
    pub(super) origins: Vec<Origin>,
}

/// What an expression comes to under each condition that was asked for.
pub(super) type Outcomes<'t> = Cases<Outcome<'t>>;

impl<'t> Outcome<'t> {
    /// `value`, written at `span`.
    pub(super) const fn new(value: Evaluated<'t>, span: Span) -> Self {
        Outcome {
            value,
            span,
            origins: Vec::new(),
        }
    }

    /// The same with another value.
    pub(super) fn with(self, value: Evaluated<'_>) -> Outcome<'_> {
        Outcome {
            value,
            span: self.span,
            origins: self.origins,
        }
    }
}

/// The same in every case: `value`, written at `span`.
pub(super) const fn always(value: Evaluated<'_>, span: Span) -> Outcomes<'_> {
    Cases::one(Outcome::new(value, span))
}

/// One value of each of several lists at once.
#[derive(Debug)]
pub(super) struct Combination<'t> {
    /// The values.
    pub(super) values: Vec<Evaluated<'t>>,
    /// Where they came from.
    pub(super) origins: Vec<Origin>,
}

/// Every combination of `lists` that is possible where `within` holds.
pub(super) fn combine<'t>(lists: Vec<Outcomes<'t>>, within: &Condition) -> Result<Cases<Combination<'t>>, TooMany> {
    let combinations = Cases::product(lists, within)?.map(|outcomes| {
        let (values, origins): (_, Vec<_>) = outcomes.into_iter().map(|one| (one.value, one.origins)).unzip();
        Combination {
            values,
            origins: origins.into_iter().flatten().collect(),
        }
    });
    Ok(combinations)
}
