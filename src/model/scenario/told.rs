//! Events in words, short enough for a line each.

use super::{Harm, Timeline, runs};
use crate::model::clock;
use crate::model::event::{Event, Kind};

/// Of more events of one kind in a row the last takes the place of the one before.
const MOST_ALIKE: usize = 3;

/// The words for the end of a visibility timeout.
const VISIBLE: &str = "visible again";
/// The words for the second receive of a message.
pub(super) const RECEIVED: &str = "received again";
/// The words for both at one moment.
const DELIVERED: &str = "delivered again";

/// An event in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// When, in milliseconds from the beginning.
    pub at: u64,
    /// What.
    pub kind: Kind,
    /// Of which receive.
    pub receive: u32,
    /// The same in words.
    pub text: String,
}

/// A timeline in the making.
#[derive(Default)]
pub(super) struct Teller {
    events: Vec<Told>,
    renewals: u32,
}

impl Teller {
    /// Adds `event` with these words.
    pub(super) fn say(&mut self, event: &Event, text: impl Into<String>) {
        self.events.push(Told {
            at: event.at,
            kind: event.kind,
            receive: event.receive,
            text: text.into(),
        });
    }

    /// Adds `event`, the `count`th of its kind, with these words; of many alike only the first and the last are kept.
    pub(super) fn repeat(&mut self, event: &Event, text: &str, what: &str, count: u32) {
        let alike = self.events.iter().rev().take_while(|told| told.kind == event.kind);
        if alike.count() < MOST_ALIKE {
            return self.say(event, text);
        }
        self.events.pop();
        self.say(event, format!("{what} for the {} time", ordinal(count)));
    }

    /// Adds `event` in its own words. That a message is sent goes without saying.
    pub(super) fn tell(&mut self, event: &Event) {
        let text = match event.kind {
            Kind::Sent => "sent",
            Kind::Received => return self.say(event, runs::received(event.receive)),
            Kind::Throttled => "throttled",
            Kind::Started => "work begins",
            Kind::VisibleAgain => VISIBLE,
            Kind::Done => "done",
            Kind::Skipped => "handled before, nothing to do",
            Kind::Failed => "fails",
            Kind::Crashed => "the consumer crashes",
            Kind::TimedOut => "the function times out",
            Kind::Renewed => {
                self.renewals += 1;
                return self.repeat(event, "renewed", "renewed", self.renewals);
            }
            Kind::RenewedToCeiling => "renewed up to the limit of 12 hours",
            Kind::RenewalRefused => "renewed too late",
            Kind::RenewalMissed => "a renewal is lost",
            Kind::Deleted => "deleted",
            Kind::DeleteIgnored => "its delete has no effect",
            Kind::Expired => "deleted at the end of its retention period",
            Kind::Moved => "moves to the dead-letter queue",
            Kind::ExpiredAside => "deleted as too old",
        };
        if event.kind == Kind::Sent {
            // A message that is received at once need not be sent before.
            return;
        }
        self.say(event, text);
    }

    /// What the events show.
    pub(super) fn conclude(self, harm: Option<(Harm, String)>) -> Timeline {
        let (harm, summary) = harm.unzip();
        Timeline {
            events: self.events,
            harm,
            summary,
        }
    }
}

/// `second`, `third`, `4th`.
pub(super) fn ordinal(number: u32) -> String {
    match (number, number % 10, number % 100) {
        (2, ..) => "second".to_owned(),
        (3, ..) => "third".to_owned(),
        (_, _, 11..=13) => format!("{number}th"),
        (_, 1, _) => format!("{number}st"),
        (_, 2, _) => format!("{number}nd"),
        (_, 3, _) => format!("{number}rd"),
        _ => format!("{number}th"),
    }
}

/// The moments of `timeline`, each with all that happens then.
pub(super) fn steps(timeline: &Timeline) -> Vec<(String, String)> {
    let mut steps: Vec<(u64, String)> = Vec::new();
    for event in &timeline.events {
        // The harm says as much.
        if event.kind == Kind::DeleteIgnored && timeline.harm.is_some() {
            continue;
        }
        match steps.last_mut() {
            Some((at, text)) if *at == event.at && event.text == RECEIVED && text.ends_with(VISIBLE) => {
                text.truncate(text.len() - VISIBLE.len());
                text.push_str(DELIVERED);
            }
            Some((at, text)) if *at == event.at => {
                text.push_str(", ");
                text.push_str(&event.text);
            }
            _ => steps.push((event.at, event.text.clone())),
        }
    }
    if let (Some((_, last)), Some(summary)) = (steps.last_mut(), &timeline.summary) {
        last.push_str(": ");
        last.push_str(summary);
    }
    let shown = steps.into_iter().map(|(at, text)| (clock::moment(at), text));
    shown.collect()
}

/// The same on one line: `0:00 received · 0:30 visible again`.
pub fn line(timeline: &Timeline) -> String {
    let steps = steps(timeline);
    let steps: Vec<String> = steps.into_iter().map(|(at, text)| format!("{at} {text}")).collect();
    steps.join(" · ")
}
