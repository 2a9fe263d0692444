//! What a template's expressions come to: texts with references in them, trees, absence, each in some worlds.
//! It knows no intrinsic and no resource type.

use crate::conditions::Condition;
use crate::frontend::tree::Node;
use crate::graph::{Link, Origin};
use crate::source::Span;
use std::sync::Arc;

/// More combinations of conditions than this are not told apart.
pub(super) const MAX_OUTCOMES: usize = 64;

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
        reason: Arc<str>,
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
    Unresolved(Arc<str>),
}

impl Evaluated<'_> {
    /// Known text.
    pub(super) fn literal(text: impl Into<String>) -> Self {
        Evaluated::Text(vec![Part::Text(text.into())])
    }

    /// Text that stands for something unknown.
    pub(super) fn open(text: impl Into<String>, reason: impl Into<Arc<str>>) -> Self {
        Evaluated::Text(vec![Part::Open {
            text: text.into(),
            reason: reason.into(),
            atomic: false,
        }])
    }

    /// The text, where it is known, or why it is not.
    pub(super) fn text(&self) -> Result<String, Arc<str>> {
        match self {
            Evaluated::Text(parts) => literal(parts),
            Evaluated::Unresolved(reason) => Err(reason.clone()),
            Evaluated::Absent => Err("nothing is written".into()),
            Evaluated::Tree(_) | Evaluated::Items(_) => Err("a single value is expected here".into()),
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
                reason: "a list stands in a text".into(),
                atomic: false,
            }],
        }
    }
}

/// The text of `parts`, where all of it is known, or why it is not.
pub(super) fn literal(parts: &[Part]) -> Result<String, Arc<str>> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(piece) => text.push_str(piece),
            Part::Reference(reference) => {
                let shown = reference.shown();
                return Err(format!("`{shown}` is known only when the stack is deployed").into());
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

/// What an expression comes to in some worlds.
#[derive(Debug, Clone)]
pub(super) struct Outcome<'t> {
    /// The worlds.
    pub(super) when: Condition,
    /// The value there.
    pub(super) value: Evaluated<'t>,
    /// The property, or the branch of `Fn::If`, as written.
    pub(super) span: Span,
    /// Where the value came from, nearest first.
    pub(super) origins: Vec<Origin>,
}

/// Disjoint, and together every world that was asked for.
pub(super) type Outcomes<'t> = Vec<Outcome<'t>>;

impl<'t> Outcome<'t> {
    /// The same in every world.
    pub(super) fn always(value: Evaluated<'t>, span: Span) -> Self {
        Outcome {
            when: Condition::always(),
            value,
            span,
            origins: Vec::new(),
        }
    }
}

/// One of each list at once, where the worlds allow it.
#[derive(Debug)]
pub(super) struct Combination<'t> {
    /// The worlds.
    pub(super) when: Condition,
    /// One of each list.
    pub(super) values: Vec<Evaluated<'t>>,
    /// Where they came from.
    pub(super) origins: Vec<Origin>,
}

/// Every combination of `lists` that is possible in `world`; `None` where there are too many.
pub(super) fn combine<'t>(lists: Vec<Outcomes<'t>>, world: &Condition) -> Option<Vec<Combination<'t>>> {
    let mut all = vec![Combination {
        when: Condition::always(),
        values: Vec::new(),
        origins: Vec::new(),
    }];
    for list in lists {
        if let [only] = list.as_slice()
            && only.when.is_always()
        {
            for combination in &mut all {
                combination.values.push(only.value.clone());
                combination.origins.extend(only.origins.iter().cloned());
            }
            continue;
        }
        let mut next = Vec::new();
        for combination in &all {
            for outcome in &list {
                let when = combination.when.and(&outcome.when);
                if !world.is_possible_with(&when) {
                    continue;
                }
                let mut values = combination.values.clone();
                values.push(outcome.value.clone());
                let origins = combination.origins.iter().chain(&outcome.origins).cloned().collect();
                next.push(Combination { when, values, origins });
            }
        }
        if next.len() > MAX_OUTCOMES {
            return None;
        }
        all = next;
    }
    Some(all)
}

/// The outcome where [`combine`] gave up.
pub(super) fn too_many<'t>(span: Span) -> Outcomes<'t> {
    let reason = "too many combinations of conditions";
    vec![Outcome::always(Evaluated::Unresolved(reason.into()), span)]
}
