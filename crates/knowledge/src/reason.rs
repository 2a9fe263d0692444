//! Reasons why a value is unresolved.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Kinds of reasons, by which they are grouped and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A variable or parameter without a value, or with any of several.
    InputWithoutValue,
    /// The code of a module that is not among the files.
    MissingModule,
    /// A value that AWS or a provider chooses at deployment.
    KnownAfterApply,
    /// A value in another stack, in a parameter store, or in a file outside of the run.
    Elsewhere,
    /// A value that depends on the place, time or user of the tool's run.
    RunContext,
    /// A secret, which is removed from the input.
    Secret,
    /// A bound of sqslint.
    Limit,
    /// An expression that sqslint does not evaluate.
    Unsupported,
    /// An expression that is rejected at deployment.
    Invalid,
    /// A name that the configuration must declare and does not.
    Undeclared,
    /// A value of another type than the attribute's: `"30s"` for a number of seconds.
    WrongType,
    /// A part of the configuration that cannot be read, or that another language generates.
    NotRead,
    /// A value computed from an unresolved one.
    Derived,
}

impl Cause {
    /// Returns the name in documents: `input-without-value`.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::InputWithoutValue => "input-without-value",
            Cause::MissingModule => "module-not-here",
            Cause::KnownAfterApply => "known-after-apply",
            Cause::Elsewhere => "elsewhere",
            Cause::RunContext => "run",
            Cause::Secret => "secret",
            Cause::Limit => "limit",
            Cause::Unsupported => "unsupported",
            Cause::Invalid => "invalid",
            Cause::Undeclared => "undeclared",
            Cause::WrongType => "wrong-type",
            Cause::NotRead => "not-read",
            Cause::Derived => "derived",
        }
    }

    /// Creates a reason with this cause. `words` is a clause: "`var.x` has no value".
    pub fn because(self, words: impl Into<Arc<str>>) -> Reason {
        Reason {
            cause: self,
            words: words.into(),
        }
    }
}

/// The reason why a value is unresolved. It dereferences to its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reason {
    cause: Cause,
    words: Arc<str>,
}

/// Text after the name in a reason for [`Cause::Undeclared`].
const IS_NOT_DECLARED: &str = "` is not declared";

impl Reason {
    /// Creates the reason that `name` is not declared.
    pub fn undeclared(name: impl fmt::Display) -> Reason {
        Cause::Undeclared.because(format!("`{name}{IS_NOT_DECLARED}"))
    }

    /// Returns the name that is not declared.
    pub fn undeclared_name(&self) -> Option<&str> {
        let is_undeclared = self.cause == Cause::Undeclared;
        let name = self.words.strip_prefix('`').filter(|_| is_undeclared)?;
        name.strip_suffix(IS_NOT_DECLARED)
    }

    /// Returns the cause.
    pub const fn cause(&self) -> Cause {
        self.cause
    }
}

impl Deref for Reason {
    type Target = str;

    fn deref(&self) -> &str {
        &self.words
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}
