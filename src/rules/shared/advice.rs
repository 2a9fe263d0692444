//! Recommended values, from AWS or from a team, that more than one rule uses.

use super::compare::Term;
use super::operands::Operand;
use super::settings::settings;
use crate::diagnostic::Change;
use crate::graph::limits::{self, ADVISED_FUNCTION_TIMEOUTS, LEAST_RECEIVES};

settings! {
    /// Requirements for a visibility timeout, from AWS or from a team.
    pub(crate) struct Advice of "visibility-timeout-too-short" {
        factor: i64 = ADVISED_FUNCTION_TIMEOUTS, at least 1, "how many function timeouts the visibility timeout covers";
        count_window: bool = true, "whether the batching window is added";
    }
}

settings! {
    /// Minimum number of receives that gives a message a second chance.
    pub(crate) struct FewestReceives of "max-receive-count-too-low" {
        minimum: i64 = LEAST_RECEIVES, at least 1, "the fewest receives that are enough";
    }
}

settings! {
    /// Recommended number of receives for a queue that Lambda polls.
    pub(crate) struct AdvisedReceives of "max-receive-count-low-for-poller" {
        recommended: i64 = limits::ADVISED_RECEIVES, at least 1, "the fewest receives that absorb throttling";
    }
}

impl Advice {
    /// Returns the minimum visibility timeout: `6 × 300 s + 5 s`.
    pub(crate) fn needed<'a>(self, timeout: &'a Operand<'_>, window: impl Into<Term<'a>>) -> Term<'a> {
        self.needed_for(timeout, window)
    }

    /// Like [`Advice::needed`], for any number.
    pub(crate) fn needed_for<'a>(self, timeout: impl Into<Term<'a>>, window: impl Into<Term<'a>>) -> Term<'a> {
        self.with_window(self.factor * timeout.into(), window)
    }

    /// Returns the longest function timeout that `visibility` covers, in seconds.
    pub(crate) fn longest(self, visibility: &Operand<'_>, window: &Operand<'_>) -> i64 {
        let window = if self.count_window { window.value } else { 0 };
        (visibility.value - window) / self.factor
    }

    /// Returns the minimum visibility timeout for two functions that run one after the other: `6 × 60 s + 6 × 30 s + 5
    /// s`.
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

    /// Returns the help text for `visibility`.
    pub(crate) fn help(self, visibility: &Operand<'_>, needed: &Term<'_>) -> String {
        self.help_for("the function timeout", visibility, needed)
    }

    /// Like [`Advice::help`], if `time` is the duration to cover.
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
            format!("set `{name}` to {timeouts}{window}: {}", needed.with_unit())
        }
    }

    /// Returns who gives the advice: AWS, or the team.
    pub(crate) fn by(self) -> &'static str {
        if self.factor == ADVISED_FUNCTION_TIMEOUTS && self.count_window {
            "AWS advises"
        } else {
            "the configuration demands"
        }
    }

    /// Returns the origin of the advised visibility timeout: "6 × the timeout of `worker` plus the batching window".
    pub(crate) fn reason(self, function: &str, window: &Operand<'_>) -> String {
        let window = if self.count_window && window.value > 0 {
            " plus the batching window"
        } else {
            ""
        };
        match self.factor {
            1 => format!("the timeout of {function}{window}"),
            factor => format!("{factor} × the timeout of {function}{window}"),
        }
    }

    /// Returns the factor in words: "six times the function timeout".
    pub(crate) fn times(self, time: &str) -> String {
        match self.factor {
            1 => time.to_owned(),
            ADVISED_FUNCTION_TIMEOUTS => format!("six times {time}"),
            factor => format!("{factor} times {time}"),
        }
    }
}

/// Returns the change that sets `visibility` to the needed value, if that value is known and SQS accepts it.
pub(crate) fn set_to_needed(visibility: &Operand<'_>, needed: &Term<'_>) -> Option<Change> {
    let is_accepted = limits::VISIBILITY_TIMEOUT.accepts(needed.value);
    (is_accepted && needed.is_known() && visibility.is_known()).then(|| visibility.set_to(needed.value))
}
