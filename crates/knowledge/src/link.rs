//! References between resources.

use std::sync::Arc;

/// Form in which a resource is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// An ARN.
    Arn,
    /// A URL.
    Url,
    /// A name or id.
    Name,
}

/// Target of a link.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A resource of the same unit, by address.
    Resource(Arc<str>),
    /// A resource of another unit.
    OtherUnit {
        /// Key of the unit.
        unit: Arc<str>,
        /// Address in that unit.
        address: Arc<str>,
    },
    /// An ARN, URL or name as written.
    External(Arc<str>),
    /// A reference, as written, to something that the unit should declare and does not.
    Dangling(Arc<str>),
}
