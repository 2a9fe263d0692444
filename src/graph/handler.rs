//! What a function's own source says of how it takes a batch, in no programming language.
//!
//! A frontend says where the source lies, whoever reads it fills in what is in it, and rules ask for that.

use crate::source::Span;
use std::path::PathBuf;
use std::sync::Arc;

/// Where the source of a function lies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Code {
    /// What Lambda calls in it: `app.handler`.
    pub handler: Option<String>,
    /// The source; `None` where the files do not say.
    pub source: Option<CodeSource>,
}

/// The source of a function.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CodeSource {
    /// A file or a directory, which need not be there.
    Path(PathBuf),
    /// Written in the configuration, at this place.
    Text(Arc<str>, Span),
}

/// Something that the source says, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The place.
    pub span: Span,
    /// In words, as a label at that place.
    pub words: Arc<str>,
}

/// What a handler answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response {
    /// The messages that failed, on some path.
    Failures(Fact),
    /// Nothing that Lambda reads, on any path.
    Nothing,
    /// Not known.
    Unknown,
}

/// How a handler goes on behind a record that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Continues {
    /// What does.
    pub fact: Fact,
    /// What to use in its place, where a library has it.
    pub instead: Option<&'static str>,
}

/// What the source of a function says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handler {
    /// What Lambda calls, as the source names it.
    pub name: Arc<str>,
    /// Its place.
    pub place: Span,
    /// What it answers.
    pub response: Response,
    /// The first `catch` that ends a failure of any kind without a word to Lambda.
    pub swallows: Option<Fact>,
    /// Work on the messages that is begun, and that nothing waits for.
    pub unawaited: Option<Fact>,
    /// Whether any failure may be caught before it gets to Lambda.
    pub may_catch: bool,
    /// How it goes on behind a record that failed, where it does.
    pub continues: Option<Continues>,
    /// Idempotency that does not know when Lambda ends the invocation.
    pub undated: Option<Fact>,
    /// A read, work, and a write that asks no condition.
    pub unconditional_write: Option<Fact>,
    /// A loop over the records with work in it that never asks for the time left.
    pub untimed: Option<Fact>,
}
