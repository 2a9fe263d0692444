//! What AWS, or a team, advises, where more than one rule asks for it.

use super::compare::Term;
use super::operands::Operand;
use super::settings::settings;
use crate::diagnostic::Change;
use crate::graph::limits::{self, ADVISED_FUNCTION_TIMEOUTS, LEAST_RECEIVES};

settings! {
    /// What a team, or AWS, asks of a visibility timeout.
    pub(crate) struct Advice of "visibility-timeout-too-short" {
        factor: i64 = ADVISED_FUNCTION_TIMEOUTS, at least 1, "how many function timeouts the visibility timeout covers";
        count_window: bool = true, "whether the batching window is added";
    }
}

settings! {
    /// How many receives leave a message a second chance.
    pub(crate) struct FewestReceives of "max-receive-count-too-low" {
        minimum: i64 = LEAST_RECEIVES, at least 1, "the fewest receives that are enough";
    }
}

settings! {
    /// How many receives a poller needs.
    pub(crate) struct AdvisedReceives of "max-receive-count-low-for-poller" {
        recommended: i64 = limits::ADVISED_RECEIVES, at least 1, "the fewest receives that absorb throttling";
    }
}

impl Advice {
    /// The least visibility timeout: `6 × 300 s + 5 s`.
    pub(crate) fn needed<'a>(self, timeout: &'a Operand<'_>, window: impl Into<Term<'a>>) -> Term<'a> {
        self.needed_for(timeout, window)
    }

    /// The same for any number.
    pub(crate) fn needed_for<'a>(self, timeout: impl Into<Term<'a>>, window: impl Into<Term<'a>>) -> Term<'a> {
        self.with_window(self.factor * timeout.into(), window)
    }

    /// The longest function timeout that `visibility` is enough for, in seconds.
    pub(crate) fn longest(self, visibility: &Operand<'_>, window: &Operand<'_>) -> i64 {
        let window = if self.count_window { window.value } else { 0 };
        (visibility.value - window) / self.factor
    }

    /// The same where two functions run one after the other: `6 × 60 s + 6 × 30 s + 5 s`.
    pub(crate) fn needed_by_both<'a>(
        self,
        (first, second): (&'a Operand<'_>, &'a Operand<'_>),
        window: impl Into<Term<'a>>,
    ) -> Term<'a> {
        let timeouts = self.factor * Term::from(first) + self.factor * Term::from(second);
        self.with_window(timeouts, window)
    }

    fn with_window<'a>(self, timeouts: Term<'a>, window: impl Into<Term<'a>>) -> Term<'a> {
        if self.count_window {
            timeouts + window.into()
        } else {
            timeouts
        }
    }

    /// What to do about `visibility`.
    pub(crate) fn help(self, visibility: &Operand<'_>, needed: &Term<'_>) -> String {
        self.help_for("the function timeout", visibility, needed)
    }

    /// The same, where it is `time` that counts.
    pub(crate) fn help_for(self, time: &str, visibility: &Operand<'_>, needed: &Term<'_>) -> String {
        let window = if self.count_window {
            " plus the batching window"
        } else {
            ""
        };
        let (name, timeouts) = (visibility.name, self.times(time));
        if needed.is_known() {
            format!("set `{name}` to {} or more: {timeouts}{window}", needed.value)
        } else {
            format!("set `{name}` to {timeouts}{window}: {}", needed.spoken())
        }
    }

    /// In words: "six times the function timeout".
    pub(crate) fn times(self, time: &str) -> String {
        match self.factor {
            1 => time.to_owned(),
            ADVISED_FUNCTION_TIMEOUTS => format!("six times {time}"),
            factor => format!("{factor} times {time}"),
        }
    }
}

/// The change of `visibility` to what is needed, where that is known and SQS accepts it.
pub(crate) fn set_to_needed(visibility: &Operand<'_>, needed: &Term<'_>) -> Option<Change> {
    let is_accepted = limits::VISIBILITY_TIMEOUT.accepts(needed.value);
    (is_accepted && needed.is_known() && visibility.is_known()).then(|| visibility.set_to(needed.value))
}
