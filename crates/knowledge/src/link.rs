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

impl Form {
    /// Returns the form of a text that begins with `start` and ends with a name, which follows `before`; `None` if the name
    /// is not a part of its own.
    pub fn of_last(start: &str, before: &str) -> Option<Form> {
        match before.as_bytes().last()? {
            b':' if start.starts_with("arn:") => Some(Form::Arn),
            b'/' if start.starts_with("https://sqs.") => Some(Form::Url),
            _ => None,
        }
    }
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
