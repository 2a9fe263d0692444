//! Remedies and fixes: the change that a rule proposes for a finding, and the edits with which a frontend makes it.
//!
//! Rules use attributes and queues of the graph. Only the frontend knows how a file spells them, and whether it can be
//! edited at all. This module is plain data, like the finding itself.

use source::Span;

/// Effect of a change on deployed resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Safety {
    /// No effect, except that a defect is gone.
    Safe,
    /// Deployed resources change their behaviour; none is replaced.
    Unsafe,
}

impl Safety {
    /// Returns the name in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Safety::Safe => "safe",
            Safety::Unsafe => "unsafe",
        }
    }

    /// Returns the flags that apply such fixes.
    pub fn flags(self) -> &'static str {
        match self {
            Safety::Safe => "--fix",
            Safety::Unsafe => "--fix --unsafe-fixes",
        }
    }
}

/// An attribute of a resource under some conditions, and the location of its value, written or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Header of the resource.
    pub header: Span,
    /// Name of the attribute as the user writes it.
    pub name: String,
    /// Span of the value; `None` if it is absent and the default applies.
    pub written: Option<Span>,
    /// Spans of the steps to the origin of the value, nearest first; empty if it is a literal.
    pub origins: Vec<Span>,
    /// Value at the origin, if it is a whole number.
    pub value: Option<i64>,
}

/// A queue that needs a dead-letter queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingDeadLetterQueue {
    /// Header of the queue.
    pub header: Span,
    /// `true` for a FIFO queue, whose dead-letter queue must be one too.
    pub fifo: bool,
    /// Maximum receive count of the redrive policy.
    pub max_receive_count: i64,
    /// Retention period of the dead-letter queue, in seconds.
    pub retention: i64,
    /// Existing queue to use as its dead-letter queue; `None` to declare a new one.
    pub to: Option<Destination>,
}

/// An existing queue to use as a dead-letter queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Header of the queue.
    pub header: Span,
    /// Address as findings show it.
    pub shown: String,
    /// Its retention setting, if that has to be added as well.
    pub retention: Option<Place>,
}

/// Response type with which a function reports the failed messages of a batch.
pub const REPORT_FAILURES: &str = "ReportBatchItemFailures";

/// A change to a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Set the attribute to a whole number, whether it is written or absent.
    Number {
        /// Attribute.
        place: Place,
        /// New value.
        value: i64,
    },
    /// Set the absent list of response types to the one that reports failed messages of a batch.
    ReportFailures(Place),
    /// Remove the attribute.
    Remove(Place),
    /// Remove the quotes from the whole number at the span.
    Unquote(Span),
    /// Replace the reference to a queue at the span by one to its ARN.
    Arn(Span),
    /// Create the resource with this header after another one, given by a reference.
    After(Span, String),
    /// Replace the text at the span by a reference to the resource with this id.
    Reference(Span, String),
    /// Add a redrive policy to the queue and, if necessary, a dead-letter queue.
    DeadLetterQueue(MissingDeadLetterQueue),
    /// Add an alarm on visible messages for the queue with this header.
    Alarm(Span),
    /// Add the dimension of a queue to an alarm without dimensions.
    Dimension {
        /// Header of the alarm.
        alarm: Span,
        /// Header of the queue.
        queue: Span,
    },
    /// Replace a word in the literal at the span.
    Word {
        /// Span of the literal.
        at: Span,
        /// Wrong word.
        wrong: String,
        /// Right word.
        right: &'static str,
    },
    /// Remove the suppression, or one of several names in it.
    Suppression {
        /// Span of the suppression, as its frontend reported it.
        at: Span,
        /// Name; `None` for the whole suppression.
        name: Option<String>,
    },
}

impl Change {
    /// Returns the change as an instruction: "set `visibility_timeout_seconds` to 360".
    pub fn title(&self) -> String {
        match self {
            Change::Number { place, value } => format!("set `{}` to {value}", place.name),
            Change::ReportFailures(place) => format!("set `{}` to `{REPORT_FAILURES}`", place.name),
            Change::Remove(place) => format!("remove `{}`", place.name),
            Change::Unquote(_) => "write the number without quotes".to_owned(),
            Change::Arn(_) => "refer to the queue's ARN".to_owned(),
            Change::After(_, other) => format!("make it depend on `{other}`"),
            Change::Reference(_, id) => format!("refer to `{id}`"),
            Change::DeadLetterQueue(queue) => match &queue.to {
                Some(Destination { shown, retention, .. }) => {
                    let set = |place: &Place| format!(", and set its `{}` to {}", place.name, queue.retention);
                    let more = retention.iter().map(set);
                    format!("add a redrive policy that leads to {shown}{}", more.collect::<String>())
                }
                None => "declare a dead-letter queue, and a redrive policy that points to it".to_owned(),
            },
            Change::Alarm(_) => "declare an alarm on the number of visible messages".to_owned(),
            Change::Dimension { .. } => "name the queue in the dimensions of the alarm".to_owned(),
            Change::Word { right, .. } => format!("write `{right}`"),
            Change::Suppression { name: Some(name), .. } => format!("remove `{name}` from the suppression"),
            Change::Suppression { name: None, .. } => "remove the suppression".to_owned(),
        }
    }
}

/// A change that a rule proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    /// Change.
    pub change: Change,
    /// Effect on deployed resources.
    pub safety: Safety,
    /// Case in which the change must not be made, as a clause; also the end of the finding's help.
    pub caveat: Option<&'static str>,
}

impl Remedy {
    /// Creates a remedy without an effect on deployed resources.
    pub fn safe(change: Change) -> Self {
        Remedy {
            change,
            safety: Safety::Safe,
            caveat: None,
        }
    }

    /// Creates the remedy that replaces the reference at `written` by the ARN, or returns `None` if the reference has
    /// another origin, which other resources may share.
    pub fn arn<T>(written: Span, origins: &[T]) -> Option<Self> {
        origins.is_empty().then(|| Remedy::safe(Change::Arn(written)))
    }
}

/// A replacement of a byte range by a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Range to replace; empty for an insertion.
    pub span: Span,
    /// New text.
    pub text: String,
}

impl Edit {
    /// Creates an edit that replaces `span` by `text`.
    pub fn new(span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        Edit { span, text }
    }

    /// Creates an insertion of `text` at byte `at` of the file of `within`.
    pub fn insertion(within: Span, at: usize, text: String) -> Self {
        Edit::new(Span::new(within.file, at..at), text)
    }

    /// Applies the edit to `text`, unless its range is invalid there. Several edits must be applied from the last to
    /// the first, so that the ranges of the others stay valid.
    pub fn apply(&self, text: &mut String) {
        if text.get(self.span.range()).is_some() {
            text.replace_range(self.span.range(), &self.text);
        }
    }
}

/// A remedy as edits of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The change as an instruction.
    pub title: String,
    /// Effect on deployed resources.
    pub safety: Safety,
    /// Edits without overlaps, sorted by file and range.
    pub edits: Vec<Edit>,
}
