//! The graph itself: what `sqslint graph` prints, and the pictures of units in other reports.
//!
//! It is all of the reports that knows the graph, and it knows no rule.

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
