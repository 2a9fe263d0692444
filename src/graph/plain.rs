//! Plain values of attributes: numbers, durations, flags and texts, which the JSON document and policies read alike.

use super::{Link, Seconds};

/// A value without parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain<'v> {
    /// An optional value that is not set.
    None,
    /// A Boolean.
    Flag(bool),
    /// A whole number.
    Number(i64),
    /// A duration.
    Seconds(Seconds),
    /// A text.
    Text(&'v str),
}

/// A type of values without parts.
pub trait AsPlain {
    /// `true` for durations.
    const IS_DURATION: bool = false;

    /// Returns the value.
    fn plain(&self) -> Plain<'_>;
}

impl AsPlain for bool {
    fn plain(&self) -> Plain<'_> {
        Plain::Flag(*self)
    }
}

impl AsPlain for i64 {
    fn plain(&self) -> Plain<'_> {
        Plain::Number(*self)
    }
}

impl AsPlain for Seconds {
    const IS_DURATION: bool = true;

    fn plain(&self) -> Plain<'_> {
        Plain::Seconds(*self)
    }
}

impl AsPlain for String {
    fn plain(&self) -> Plain<'_> {
        Plain::Text(self)
    }
}

/// The reference as written.
impl AsPlain for Link {
    fn plain(&self) -> Plain<'_> {
        Plain::Text(self.written())
    }
}

impl<T: AsPlain> AsPlain for Option<T> {
    const IS_DURATION: bool = T::IS_DURATION;

    fn plain(&self) -> Plain<'_> {
        self.as_ref().map_or(Plain::None, AsPlain::plain)
    }
}
