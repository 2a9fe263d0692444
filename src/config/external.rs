//! Statements on what other files own: queues, modules, and the source of functions.

use super::{ConfigText, Duration, Located, NamePattern};
use std::path::PathBuf;

/// Statement on something that other files own.
#[derive(Debug, Clone)]
pub struct External {
    /// File with the statement; `None` for the command line.
    pub file: Option<ConfigText>,
    /// ARN or name of the queue, source of the module, or name of the function, or a pattern of these.
    pub name: Located<NamePattern>,
    /// Facts about it.
    pub what: Owned,
}

/// Kind of what other files own.
#[derive(Debug, Clone)]
pub enum Owned {
    /// A queue that no file declares.
    Queue(Box<StatedQueue>),
    /// A Terraform module, with the local directory that contains it, if there is one.
    Module(Option<PathBuf>),
    /// The source of a function: a file or directory, or `None` if it is elsewhere.
    Source(Option<PathBuf>),
}

/// Facts about a queue; `None` for what is not stated.
#[derive(Debug, Clone)]
pub struct StatedQueue {
    /// Visibility timeout.
    pub visibility_timeout: Option<Located<Duration>>,
    /// Retention period.
    pub retention: Option<Located<Duration>>,
    /// `true` for a FIFO queue.
    pub fifo: Option<Located<bool>>,
    /// ARN or name of the dead-letter queue; an empty text if it has one, `None` if it has none.
    pub dead_letter: Option<Located<Option<String>>>,
}
