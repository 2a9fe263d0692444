//! Where links end, in the words of whoever reads the graph: the far end's address, or what is written.

use super::{Graph, Link, Resource, Target, UnitId};

/// Where a link ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End<'g> {
    /// A resource of the same unit.
    Address(&'g str),
    /// A resource of another unit.
    Elsewhere {
        /// The other unit.
        unit: &'g str,
        /// The resource there.
        address: &'g str,
    },
    /// Nothing that the project declares.
    Written(&'g str),
}

impl Graph {
    /// The end of `link`, written in `unit`, where `resource` is what it was found to point to.
    pub fn end<'g>(&'g self, unit: UnitId, link: &'g Link, resource: Option<&'g Resource>) -> End<'g> {
        match resource {
            Some(found) if found.unit == unit => End::Address(&found.address),
            Some(found) => End::Elsewhere {
                unit: &self.unit(found.unit).name,
                address: &found.address,
            },
            None => match &link.target {
                Target::Resource(written)
                | Target::Elsewhere { address: written, .. }
                | Target::External(written)
                | Target::Dangling(written) => End::Written(written),
            },
        }
    }
}
