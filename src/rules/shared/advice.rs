//! How long a queue should hide a message from Lambda, by AWS's advice or the team's own factor.

use super::operands::Operand;
use crate::diagnostic::Remedy;
use crate::graph::{Resource, limits};
use crate::rules::{Findings, visibility_timeout_too_short};

/// How many function timeouts AWS advises. The window is added on top.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html>
pub(crate) const FACTOR: i64 = 6;

/// What a team, or AWS, asks of a visibility timeout.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Advice {
    factor: i64,
    counts_window: bool,
}

impl Findings<'_> {
    /// What is asked of the queue `resource`.
    pub(crate) fn advice(&self, resource: &Resource) -> Advice {
        let rule = &visibility_timeout_too_short::RULE;
        Advice {
            factor: self.number(rule, "factor", resource),
            counts_window: self.flag(rule, "count-window", resource),
        }
    }
}

impl Advice {
    /// The least visibility timeout, in seconds.
    pub(crate) fn least(self, timeout: i64, window: i64) -> i64 {
        let window = if self.counts_window { window } else { 0 };
        self.factor.saturating_mul(timeout).saturating_add(window)
    }

    /// How that comes to be: `6 × 300 s + 5 s = 1805 s`.
    pub(crate) fn calculation(self, timeout: i64, window: i64) -> String {
        let window_of = if self.counts_window {
            format!(" + {window} s")
        } else {
            String::new()
        };
        let least = self.least(timeout, window);
        format!("{} × {timeout} s{window_of} = {least} s", self.factor)
    }

    /// The remedy for `queue`, where SQS takes what is asked.
    pub(crate) fn remedy(
        self,
        queue: &Resource,
        visibility: &Operand<'_>,
        timeout: i64,
        window: i64,
    ) -> Option<Remedy> {
        let least = self.least(timeout, window);
        let fits = limits::VISIBILITY_TIMEOUT.contains(&least);
        fits.then(|| Remedy::not_safe(visibility.write(queue, least)))
    }

    /// What it is made of, after a colon: "six times the function timeout plus the batching window".
    pub(crate) fn terms(self) -> String {
        let times = match self.factor {
            1 => "the function timeout".to_owned(),
            FACTOR => "six times the function timeout".to_owned(),
            factor => format!("{factor} times the function timeout"),
        };
        if self.counts_window {
            times + " plus the batching window"
        } else {
            times
        }
    }

    /// The same where the window is not known: the least without it, and what is missing.
    pub(crate) fn without_window(self, name: &str, timeout: i64) -> String {
        let least = self.least(timeout, 0);
        let plus = if self.counts_window {
            ", plus the batching window"
        } else {
            ""
        };
        let terms = self.terms();
        let terms = terms.trim_end_matches(" plus the batching window");
        format!("set `{name}` to {least} or more{plus}: {terms}")
    }
}
