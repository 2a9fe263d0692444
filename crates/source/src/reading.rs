//! Reads files as UTF-8, and describes what cannot be read.

use crate::files::Refusal;
use crate::{FileId, Sources, Span};
use std::path::Path;

/// Problem with the text of a file, as a parser reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Place of the problem.
    pub span: Span,
    /// Kind of the problem.
    pub kind: ProblemKind,
    /// Description that follows "it cannot be read:".
    pub message: String,
}

/// Kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text is not valid in its file.
    Invalid,
    /// The text exceeds a bound, which the message names.
    Limit,
    /// The key has no effect, because the same key at this place replaces it.
    Repeated(Span),
}

impl Problem {
    /// Creates a problem with text that is not valid.
    pub fn invalid(span: Span, message: impl Into<String>) -> Self {
        let (kind, message) = (ProblemKind::Invalid, message.into());
        Problem { span, kind, message }
    }

    /// Creates a problem with a key that the same key at `last` replaces.
    pub fn repeated(span: Span, last: Span) -> Self {
        let (kind, message) = (ProblemKind::Repeated(last), "the same key follows".to_owned());
        Problem { span, kind, message }
    }

    /// Creates a problem with text that exceeds a bound.
    pub fn limit(span: Span, message: impl Into<String>) -> Self {
        let (kind, message) = (ProblemKind::Limit, message.into());
        Problem { span, kind, message }
    }
}

/// Reason why a file has no text.
#[derive(Debug)]
pub enum ReadError {
    /// The file could not be opened.
    Io(String),
    /// The file is not UTF-8, or must not be read.
    Unfit(Problem),
}

/// Maximum size in bytes of a file, unless the caller states another.
const LARGEST: u64 = 16 << 20;

/// Reads a file of at most 16 MiB as UTF-8. A byte order mark stays in the text, so that offsets are those of the file.
pub fn read(path: &Path, sources: &Sources) -> Result<FileId, ReadError> {
    read_up_to(LARGEST, path, sources)
}

/// Like [`read`], for a file of at most `most` bytes.
pub fn read_up_to(most: u64, path: &Path, sources: &Sources) -> Result<FileId, ReadError> {
    decoded(most, path, sources, |_| false)
}

/// Like [`read`], but replaces each invalid byte by U+FFFD if `may_be` accepts the resulting text.
pub fn read_where(path: &Path, sources: &Sources, may_be: impl FnOnce(&str) -> bool) -> Result<FileId, ReadError> {
    decoded(LARGEST, path, sources, may_be)
}

fn decoded(most: u64, path: &Path, sources: &Sources, may_be: impl FnOnce(&str) -> bool) -> Result<FileId, ReadError> {
    if let Some(known) = sources.find_read(path) {
        return Ok(known);
    }
    let bytes = sources.files().read(path, most);
    match String::from_utf8(bytes.map_err(|refusal| refused(path, &refusal, sources))?) {
        Ok(text) => Ok(sources.add(path, text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            let lossy = String::from_utf8_lossy(&bytes);
            if may_be(&lossy) {
                return Ok(sources.add_unread(path, lossy));
            }
            let message = match bytes.as_slice() {
                [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it is UTF-16; save it as UTF-8",
                _ => "it is not UTF-8 from here on",
            };
            let file = sources.add_unread(path, lossy);
            Err(ReadError::Unfit(Problem::invalid(Span::new(file, at..at + 1), message)))
        }
    }
}

/// Returns the error for a file that is not read. Files outside the permitted directories are not quoted.
pub fn refused(path: &Path, refusal: &Refusal, sources: &Sources) -> ReadError {
    let shown = sources.shown_of(path);
    let kind = match refusal {
        Refusal::Missing => return ReadError::Io(format!("`{shown}`: no such file")),
        Refusal::Io(error) => return ReadError::Io(format!("cannot read `{shown}`: {error}")),
        Refusal::TooLarge(_) => ProblemKind::Limit,
        Refusal::Outside | Refusal::LeadsOut | Refusal::Git | Refusal::NotAFile => ProblemKind::Invalid,
    };
    ReadError::Unfit(Problem {
        span: Span::new(sources.add_unread(path, ""), 0..0),
        kind,
        message: refusal.to_string(),
    })
}
