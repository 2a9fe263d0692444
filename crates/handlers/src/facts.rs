//! Facts about a function's source code: how it processes a batch, independent of the programming language.

use source::Span;
use std::path::PathBuf;
use std::sync::Arc;

/// A duration that a program states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedTime {
    /// Milliseconds.
    pub milliseconds: i64,
    /// Span of the value or of its setting.
    pub span: Span,
}

/// Top-level keys of a message that SNS sends without raw message delivery.
/// <https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html>
pub const SNS_ENVELOPE: [&str; 12] = [
    "Message",
    "MessageAttributes",
    "MessageId",
    "SequenceNumber",
    "Signature",
    "SignatureVersion",
    "SigningCertURL",
    "Subject",
    "Timestamp",
    "TopicArn",
    "Type",
    "UnsubscribeURL",
];

/// Location of a function's source code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Code {
    /// Entry point that Lambda calls: `app.handler`; `None` if only the Dockerfile of an image states it.
    pub handler: Option<String>,
    /// Source; `None` if the files do not contain it.
    pub source: Option<CodeSource>,
    /// Files that a bundler starts from, relative to the source.
    pub entry_points: Vec<String>,
    /// Runtime, if it is known: `nodejs22.x`.
    pub runtime: Option<String>,
    /// Names of the function, if the code is an image: its name, and the one in its address.
    pub names: Vec<String>,
}

/// The source code of a function.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CodeSource {
    /// A file or a directory, which need not exist.
    Path(PathBuf),
    /// Text in the configuration, with its span.
    Text(Arc<str>, Span),
    /// Another repository, as a team states.
    Elsewhere,
    /// A package that is built and stored elsewhere, by the key of its object or the name of its image.
    Package(String),
}

/// Reference to a queue in a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PolledQueue {
    /// Environment variable.
    Variable(Arc<str>),
    /// Name, which is also the end of its URL.
    Named(Arc<str>),
}

/// A fact about the source code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Span of the code.
    pub span: Span,
    /// Label for the span.
    pub words: Arc<str>,
}

/// Response of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response {
    /// The failed messages, on some path.
    Failures(Fact),
    /// Never a response that Lambda evaluates.
    Nothing,
    /// Unknown.
    Unknown,
}

/// Fate of a message whose work fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The handler fails, and the whole batch is retried.
    Raised,
    /// The handler returns normally without naming the message, and Lambda deletes it.
    Deleted,
    /// The response names the message.
    Reported,
    /// The source shows no work that may fail.
    NoWork,
    /// Unknown, or not the same on all paths.
    Unknown,
}

/// A handler that continues with later records after one failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContinuesAfterFailure {
    /// Code that continues.
    pub fact: Fact,
    /// Alternative that a library offers, if any.
    pub instead: Option<&'static str>,
}

/// A way in which a handler loses or repeats messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// The response names a record that failed, but not the later ones, which are never processed.
    UnnamedRest,
    /// The loop over the records ends at some of them, and the later ones are never processed.
    SkippedRest,
    /// Each delivery starts another execution.
    UnnamedExecution,
    /// Each delivery submits another job.
    RepeatedJob,
    /// All messages of a batch fail, and the response is empty.
    EmptiedFullBatch,
    /// The work is in a generator that nothing runs.
    NeverRun,
    /// A request succeeds although entries of it may fail, and nothing reads which ones.
    IgnoredEntries,
    /// Lambda cannot convert the response to JSON, on any path.
    NeverJson,
    /// Lambda cannot convert the response to JSON, on some path.
    NotAlwaysJson,
    /// A body that cannot be parsed fails the whole batch, although failures are reported.
    ParsedOutsideTry,
}

/// Reason that a function has no [`Handler`], with a clause for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// No queue invokes the function.
    NotSearched,
    /// The source was not found: the configuration does not locate it, or the searched places lack it.
    NotFound(Arc<str>),
    /// The source was found but is not judged.
    NotJudged(Arc<str>),
    /// The source was found but exceeds a bound, or is not text.
    Refused(Arc<str>),
    /// The source was found but could not be parsed.
    NotParsed(Arc<str>),
    /// The source was found and lacks the function.
    NoFunction {
        /// Clause for people.
        words: Arc<str>,
        /// First line of the source.
        file: Span,
        /// Names of the functions that it has.
        functions: Arc<str>,
    },
}

impl Unread {
    /// Returns the reason without details.
    pub fn kind(&self) -> &'static str {
        match self {
            Unread::NotSearched => "source not searched",
            Unread::NotFound(_) => "source not found",
            Unread::NotJudged(_) => "source not judged",
            Unread::Refused(_) => "source too large, or not text",
            Unread::NotParsed(_) => "source not parsed",
            Unread::NoFunction { .. } => "function missing in the source",
        }
    }

    /// Returns the clause for people; `None` if nothing was searched.
    pub fn words(&self) -> Option<&Arc<str>> {
        match self {
            Unread::NotSearched => None,
            Unread::NotFound(words)
            | Unread::NotJudged(words)
            | Unread::Refused(words)
            | Unread::NotParsed(words)
            | Unread::NoFunction { words, .. } => Some(words),
        }
    }
}

/// A key with the code that reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRead {
    /// The key.
    pub key: Arc<str>,
    /// Span of the code.
    pub span: Span,
}

/// Keys of records, and fields of the messages in their bodies, that a handler reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordReads {
    /// Key that messages from `ReceiveMessage` have and records of an event lack, with the key of the event.
    pub unknown_key: Option<(KeyRead, &'static str)>,
    /// Field that SNS's envelope lacks, if the handler reads none of the envelope's fields.
    pub field: Option<KeyRead>,
    /// Field `Message` of SNS's envelope, if the handler reads only fields of the envelope; the flag is `true` if it
    /// parses the field.
    pub envelope: Option<(KeyRead, bool)>,
    /// Field `Records` of an event of S3, if the handler fails without it.
    pub events: Option<KeyRead>,
}

/// Facts about the source code of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handler {
    /// Name of the entry point in the source.
    pub name: Arc<str>,
    /// Span of the entry point.
    pub place: Span,
    /// `true` if its body was read, and not only its type.
    pub has_body: bool,
    /// Response to Lambda.
    pub response: Response,
    /// Fate of a message whose work fails.
    pub outcome: Outcome,
    /// Fate of a message that is alone in its batch.
    pub outcome_alone: Outcome,
    /// Request whose failure is caught although other work may raise an exception; the label is its name.
    pub caught_call: Option<Fact>,
    /// A response with failed messages in a form that Lambda does not accept.
    pub malformed_response: Option<Fact>,
    /// Failed messages in a place of the response that Lambda does not read.
    pub misplaced_failures: Option<Fact>,
    /// Code that handles every failure without reporting it to Lambda.
    pub swallowed_failure: Option<Fact>,
    /// Work on messages that is started but not awaited.
    pub unawaited: Option<Fact>,
    /// Use of a single record of the batch, if it uses no other.
    pub first_record_only: Option<Fact>,
    /// `true` if it deletes processed messages itself.
    pub deletes_processed: bool,
    /// Code that continues with later records after one failed.
    pub continues: Option<ContinuesAfterFailure>,
    /// Idempotency that does not take the end of the invocation into account.
    pub deadline_unaware_idempotency: Option<Fact>,
    /// A read, work, and an unconditional write.
    pub unconditional_write: Option<Fact>,
    /// `true` if that work is a payment or a message to a person, without a key against repetition.
    pub pays_unconditionally: bool,
    /// A conditional write that stays after the work failed, and makes the next delivery skip it.
    pub unreleased_claim: Option<Fact>,
    /// A loop over the records that never checks the remaining time.
    pub unchecked_time_left: Option<Fact>,
    /// Longest time that a single call may wait.
    pub wait: Option<StatedTime>,
    /// Keys and fields that it reads.
    pub reads: RecordReads,
    /// Queues that it sends to.
    pub sends_to: Vec<(PolledQueue, Span)>,
    /// Queues that it receives from, if it never reads the records of its event.
    pub polls: Vec<(PolledQueue, Span)>,
    /// Other defects.
    pub defects: Vec<(Defect, Fact)>,
}

impl Handler {
    /// Returns the code with this defect, if it has it.
    pub fn defect(&self, defect: Defect) -> Option<&Fact> {
        let found = self.defects.iter().find(|(kind, _)| *kind == defect);
        found.map(|(_, fact)| fact)
    }
}

impl Defect {
    /// Returns the label for the code with the defect.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Defect::UnnamedRest => "the handler stops here, and the response does not name the rest of the batch",
            Defect::SkippedRest => "this leaves the loop, not only the one record",
            Defect::UnnamedExecution => "without `name`, each delivery starts another execution",
            Defect::EmptiedFullBatch => "the error ends here, and the response of the processor is empty",
            Defect::ParsedOutsideTry => "no `try` that reports the message surrounds this",
            Defect::RepeatedJob => "each delivery submits another job",
            Defect::NeverRun => "nothing runs this generator",
            Defect::IgnoredEntries => "this succeeds even if entries of it fail, and nothing reads which ones",
            Defect::NeverJson | Defect::NotAlwaysJson => "Lambda cannot convert this to JSON",
        }
    }
}
