//! Plain values of attributes: numbers, durations, flags, texts and links, which all readers of attributes treat alike.

use super::{Form, Link, Seconds, Target, Unresolved};
use std::fmt;

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
    /// A reference.
    Link(&'v Link),
}

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Plain::None => f.write_str("none"),
            Plain::Flag(flag) => flag.fmt(f),
            Plain::Number(number) => number.fmt(f),
            Plain::Seconds(seconds) => seconds.fmt(f),
            Plain::Text(text) => f.write_str(text),
            Plain::Link(link) => f.write_str(link.written()),
        }
    }
}

/// Kind of plain values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Booleans.
    Flag,
    /// Whole numbers.
    Number,
    /// Durations.
    Seconds,
    /// Texts.
    Text,
    /// References.
    Link,
}

/// Reads a written value as each of the types.
pub trait Scalar {
    /// Reads it as a Boolean.
    fn boolean(&mut self) -> Result<bool, Unresolved>;

    /// Reads it as a whole number.
    fn integer(&mut self) -> Result<i64, Unresolved>;

    /// Reads it as a text.
    fn text(&mut self) -> Result<String, Unresolved>;

    /// Reads it as a reference.
    fn link(&mut self) -> Result<Link, Unresolved>;
}

/// A type of values without parts.
pub trait AsPlain: Sized {
    /// Kind of the values.
    const KIND: Kind;
    /// `true` if the value may be absent.
    const IS_OPTIONAL: bool = false;

    /// Returns the value.
    fn plain(&self) -> Plain<'_>;

    /// Converts a written value.
    fn read(scalar: &mut impl Scalar) -> Result<Self, Unresolved>;

    /// Returns the value for a reference to `name`, which is not declared; `None` if it is not a reference.
    fn dangling(_name: &str) -> Option<Self> {
        None
    }
}

macro_rules! as_plain {
    ($($type:ty: $kind:ident, $read:ident, $plain:expr;)*) => {
        $(impl AsPlain for $type {
            const KIND: Kind = Kind::$kind;

            fn plain(&self) -> Plain<'_> {
                let plain: fn(&Self) -> Plain<'_> = $plain;
                plain(self)
            }

            fn read(scalar: &mut impl Scalar) -> Result<Self, Unresolved> {
                scalar.$read().map(Into::into)
            }
        })*
    };
}

as_plain! {
    bool: Flag, boolean, |flag| Plain::Flag(*flag);
    i64: Number, integer, |number| Plain::Number(*number);
    Seconds: Seconds, integer, |seconds| Plain::Seconds(*seconds);
    String: Text, text, |text| Plain::Text(text);
}

impl From<i64> for Seconds {
    fn from(seconds: i64) -> Self {
        Seconds(seconds)
    }
}

impl AsPlain for Link {
    const KIND: Kind = Kind::Link;

    fn plain(&self) -> Plain<'_> {
        Plain::Link(self)
    }

    fn read(scalar: &mut impl Scalar) -> Result<Self, Unresolved> {
        scalar.link()
    }

    fn dangling(name: &str) -> Option<Self> {
        let target = Target::Dangling(name.into());
        let form = Form::Arn;
        Some(Link { target, form })
    }
}

impl<T: AsPlain> AsPlain for Option<T> {
    const KIND: Kind = T::KIND;
    const IS_OPTIONAL: bool = true;

    fn plain(&self) -> Plain<'_> {
        self.as_ref().map_or(Plain::None, AsPlain::plain)
    }

    fn read(scalar: &mut impl Scalar) -> Result<Self, Unresolved> {
        T::read(scalar).map(Some)
    }

    fn dangling(name: &str) -> Option<Self> {
        T::dangling(name).map(Some)
    }
}
