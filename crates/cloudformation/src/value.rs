//! Values of evaluated expressions: texts that may contain references, trees, absence, each under a condition. It knows
//! no intrinsic and no resource type.

use conditions::{Cases, Condition, TooMany};
use knowledge::{Cause, Form, Origin, Published, Reason, Target};
use source::Span;
use std::sync::Arc;
use trees::{Node, Value};

/// A reference to another resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Link {
    /// Target of the link.
    pub target: Target,
    /// Form in which it is written.
    pub form: Form,
}

/// A `Ref` or `Fn::GetAtt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The logical id.
    pub id: Arc<str>,
    /// The attribute; `None` for `Ref`.
    pub attribute: Option<Arc<str>>,
    /// The resource, if the reference was written in another template.
    pub elsewhere: Option<Foreign>,
}

/// A resource of another template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// The link to it, which names its unit.
    pub link: Link,
    /// Its type.
    pub kind: Arc<str>,
}

impl Reference {
    /// Renders the reference as in a `Fn::Sub`, without the braces.
    pub fn shown(&self) -> String {
        match &self.attribute {
            None => self.id.to_string(),
            Some(attribute) => format!("{}.{attribute}", self.id),
        }
    }
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Known text.
    Text(String),
    /// A value that a resource returns.
    Reference(Reference),
    /// Text that is known only after deployment.
    Unresolved {
        /// Placeholder; equal placeholders represent equal values.
        text: String,
        /// Reason why it is unresolved.
        reason: Reason,
        /// `true` if the value contains none of the separators of ARNs and URLs.
        atomic: bool,
        /// Name under which another unit may publish it.
        published: Option<Arc<Published>>,
    },
}

impl Part {
    /// Creates a placeholder for an unresolved text.
    pub(crate) fn unresolved(text: impl Into<String>, reason: Reason) -> Self {
        Part::Unresolved {
            text: text.into(),
            reason,
            atomic: false,
            published: None,
        }
    }

    /// Sets the name under which another unit may publish the text.
    pub(crate) fn published_as(mut self, name: Option<Published>) -> Self {
        if let Part::Unresolved { published, .. } = &mut self {
            *published = name.map(Arc::new);
        }
        self
    }

    fn len(&self) -> usize {
        match self {
            Part::Text(text) | Part::Unresolved { text, .. } => text.len(),
            Part::Reference(reference) => reference.id.len(),
        }
    }
}

/// The value of an expression. Scalars are texts, because CloudFormation converts between them.
#[derive(Debug, Clone)]
pub enum Evaluated<'t> {
    /// An absent value: not written, `null`, or `AWS::NoValue`.
    Absent,
    /// A mapping or sequence whose children are not evaluated yet.
    Tree(&'t Node),
    /// A scalar.
    Text(Vec<Part>),
    /// A computed list of scalars.
    Items(Vec<Vec<Part>>),
    /// An unresolved value, with the reason.
    Unresolved(Reason),
}

impl Evaluated<'_> {
    /// Creates a known text.
    pub fn literal(text: impl Into<String>) -> Self {
        Evaluated::Text(vec![Part::Text(text.into())])
    }

    /// Creates a placeholder for an unresolved text.
    pub fn placeholder(text: impl Into<String>, reason: Reason) -> Self {
        Evaluated::Text(vec![Part::unresolved(text, reason)])
    }

    /// Sets the name under which another unit may publish the value, if it is a placeholder.
    pub(crate) fn published_as(self, name: Option<Published>) -> Self {
        match self {
            Evaluated::Text(parts) => {
                Evaluated::Text(parts.into_iter().map(|part| part.published_as(name.clone())).collect())
            }
            other => other,
        }
    }

    /// Returns the published value that names the target of the text: the whole, or the name at the end of an ARN or a URL.
    pub fn published(&self) -> Option<Arc<Published>> {
        let Evaluated::Text(parts) = self else { return None };
        let (first, last) = (parts.first()?, parts.last()?);
        let name = |part: &Part| match part {
            Part::Unresolved { published, .. } => published.clone(),
            _ => None,
        };
        match (first, last) {
            (whole, _) if parts.len() == 1 => name(whole),
            (whole, Part::Text(rest)) if parts.len() == 2 && rest.starts_with(':') => name(whole),
            (Part::Text(start), last) => {
                let Part::Text(before) = parts.get(parts.len().checked_sub(2)?)? else {
                    return None;
                };
                let within = Form::of_last(start, before)?;
                let whole = name(last)?;
                Some(Arc::new(Published {
                    within: Some(within),
                    ..Published::clone(&whole)
                }))
            }
            _ => None,
        }
    }

    /// Returns the text if it is known, else the reason why it is not.
    pub fn text(&self) -> Result<String, Reason> {
        match self {
            Evaluated::Text(parts) => literal(parts),
            Evaluated::Unresolved(reason) => Err(reason.clone()),
            Evaluated::Absent => Err(Cause::Invalid.because("nothing is written")),
            Evaluated::Tree(_) | Evaluated::Items(_) => Err(Cause::Invalid.because("a single value is expected here")),
        }
    }

    /// Returns `true` for a list or an object. An object with an intrinsic function may evaluate to a single value, so
    /// it does not count.
    pub fn is_several(&self) -> bool {
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

    /// Returns the length of its text in bytes.
    pub(crate) fn len(&self) -> usize {
        let length = |parts: &[Part]| parts.iter().map(Part::len).sum::<usize>();
        match self {
            Evaluated::Text(parts) => length(parts),
            Evaluated::Items(items) => items.iter().map(|item| length(item)).sum(),
            Evaluated::Unresolved(reason) => reason.len(),
            Evaluated::Absent | Evaluated::Tree(_) => 0,
        }
    }

    /// Converts the value to parts of a longer text.
    pub fn into_parts(self) -> Vec<Part> {
        match self {
            Evaluated::Text(parts) => parts,
            Evaluated::Absent => Vec::new(),
            Evaluated::Unresolved(reason) => vec![Part::unresolved(format!("${{{reason}}}"), reason)],
            Evaluated::Tree(_) | Evaluated::Items(_) => {
                vec![Part::unresolved(
                    "${list}",
                    Cause::Invalid.because("a list is used in a string"),
                )]
            }
        }
    }
}

/// Returns the text of `parts` if all of it is known, else the reason why it is not.
pub fn literal(parts: &[Part]) -> Result<String, Reason> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(piece) => text.push_str(piece),
            Part::Reference(reference) => {
                let shown = reference.shown();
                return Err(Cause::KnownAfterApply.because(format!("`{shown}` is known only at deployment")));
            }
            Part::Unresolved { reason, .. } => return Err(reason.clone()),
        }
    }
    Ok(text)
}

/// Renders the text, with `${…}` for unresolved parts.
pub fn rendered(parts: &[Part]) -> String {
    let pieces = parts.iter().map(|part| match part {
        Part::Text(text) | Part::Unresolved { text, .. } => text.clone(),
        Part::Reference(reference) => format!("${{{}}}", reference.shown()),
    });
    pieces.collect()
}

/// Splits `parts` at each `delimiter` in its known text.
pub fn split(parts: &[Part], delimiter: &str) -> Vec<Vec<Part>> {
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

/// The value of an expression in one case.
#[derive(Debug, Clone)]
pub struct Outcome<'t> {
    /// The value.
    pub value: Evaluated<'t>,
    /// The property, or the branch of `Fn::If`, as written.
    pub span: Span,
    /// Provenance, nearest first.
    pub origins: Vec<Origin>,
}

/// The cases of an expression's value.
pub type Outcomes<'t> = Cases<Outcome<'t>>;

impl<'t> Outcome<'t> {
    /// Creates an outcome of `value` that came from `origins`.
    pub(crate) fn with_origins(value: Evaluated<'t>, span: Span, origins: Vec<Origin>) -> Self {
        Outcome { value, span, origins }
    }

    /// Creates an outcome of `value`, written at `span`.
    pub const fn new(value: Evaluated<'t>, span: Span) -> Self {
        Outcome {
            value,
            span,
            origins: Vec::new(),
        }
    }

    /// Replaces the value.
    pub fn with(self, value: Evaluated<'_>) -> Outcome<'_> {
        Outcome {
            value,
            span: self.span,
            origins: self.origins,
        }
    }
}

/// Returns a single unconditional case: `value`, written at `span`.
pub const fn always(value: Evaluated<'_>, span: Span) -> Outcomes<'_> {
    Cases::one(Outcome::new(value, span))
}

/// A combination of values, each from a different list.
#[derive(Debug)]
pub struct Combination<'t> {
    /// The values.
    pub values: Vec<Evaluated<'t>>,
    /// Their provenance.
    pub origins: Vec<Origin>,
}

/// Returns every combination of `lists` that is possible under `within`.
pub fn combine<'t>(lists: Vec<Outcomes<'t>>, within: &Condition) -> Result<Cases<Combination<'t>>, TooMany> {
    let combinations = Cases::product(lists, within)?.map(|outcomes| {
        let (values, origins): (_, Vec<_>) = outcomes.into_iter().map(|one| (one.value, one.origins)).unzip();
        Combination {
            values,
            origins: origins.into_iter().flatten().collect(),
        }
    });
    Ok(combinations)
}
