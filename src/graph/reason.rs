//! Why something is not known.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The kind of thing that keeps a value from being known, by which reasons are grouped and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A variable or parameter that nobody gives a value, or that may have any.
    InputWithoutValue,
    /// The code of a module that is somewhere else.
    ModuleNotHere,
    /// AWS or a provider chooses it when it is deployed.
    KnownAfterApply,
    /// Another stack, a store of parameters, or a file that is not part of the run has it.
    Elsewhere,
    /// It depends on where, when and by whom the tool is run.
    Run,
    /// It is sensitive, and left out of what is read.
    Secret,
    /// A bound of sqslint is reached.
    Limit,
    /// sqslint does not evaluate what is written.
    Unsupported,
    /// What is written is refused when it is deployed.
    Invalid,
    /// A name that the configuration has to declare, and does not.
    Undeclared,
    /// What is written has another type than the attribute: `"30s"` for a number of seconds.
    WrongType,
    /// A part of the configuration cannot be read, or another language fills it in.
    NotRead,
    /// It is computed from something that is not known.
    Derived,
}

impl Cause {
    /// As documents write it: `input-without-value`.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::InputWithoutValue => "input-without-value",
            Cause::ModuleNotHere => "module-not-here",
            Cause::KnownAfterApply => "known-after-apply",
            Cause::Elsewhere => "elsewhere",
            Cause::Run => "run",
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

    /// A reason of this cause, which `words` tell to people as a clause: "`var.x` has no value".
    pub fn because(self, words: impl Into<Arc<str>>) -> Reason {
        Reason {
            cause: self,
            words: words.into(),
        }
    }
}

/// Why a value is not known. It reads like its words; code asks for the cause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reason {
    cause: Cause,
    words: Arc<str>,
}

/// What stands behind the name in the words of a reason for [`Cause::Undeclared`].
const IS_NOT_DECLARED: &str = "` is not declared";

impl Reason {
    /// That `name` is not declared, though it has to be.
    pub fn undeclared(name: impl fmt::Display) -> Reason {
        Cause::Undeclared.because(format!("`{name}{IS_NOT_DECLARED}"))
    }

    /// The name that is not declared.
    pub fn undeclared_name(&self) -> Option<&str> {
        let is_undeclared = self.cause == Cause::Undeclared;
        let name = self.words.strip_prefix('`').filter(|_| is_undeclared)?;
        name.strip_suffix(IS_NOT_DECLARED)
    }

    /// The kind of thing that it is.
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
