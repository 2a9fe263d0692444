//! Presents the graph: the output of `sqslint graph`, and the diagrams in other reports.
//!
//! This is the only report module that knows the graph, and it knows no rule.

pub mod drawing;
pub mod json;
mod layout;
mod marks;
pub mod svg;
pub mod text;
mod titles;
pub mod topology;

pub use marks::Marks;
pub use topology::Topology;

/// Formats whole hours and days in words, and other durations in seconds.
fn duration(seconds: &crate::graph::Seconds) -> String {
    seconds.readable()
}
