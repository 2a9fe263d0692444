//! Lints SQS queues together with what reads them: discover, load, link, judge, report.

pub mod diagnostic;
pub mod discover;
pub mod frontend;
pub mod graph;
pub mod rules;
pub mod source;
