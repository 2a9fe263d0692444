//! Describes events, in texts short enough for one line each.

use super::{Harm, Timeline, runs};
use crate::clock;
use crate::event::{Event, EventKind};

/// Maximum number of consecutive events of one kind that are shown; a further one replaces the last.
const MAX_CONSECUTIVE: usize = 3;

/// Text for the end of a visibility timeout.
const VISIBLE: &str = "visible again";
/// Text for the second receive of a message.
pub(super) const RECEIVED: &str = "received again";
/// Text for both at the same time.
pub(super) const DELIVERED: &str = "delivered again";

/// A described event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineEvent {
    /// Time in milliseconds from the start of the run.
    pub at: u64,
    /// Kind of event.
    pub kind: EventKind,
    /// Receive count of the message.
    pub receive: u32,
    /// Description.
    pub text: String,
}

/// A timeline under construction.
#[derive(Default)]
pub(super) struct TimelineBuilder {
    events: Vec<TimelineEvent>,
    renewals: u32,
}

impl TimelineBuilder {
    /// Adds `event` with the description `text`.
    pub(super) fn push_with_text(&mut self, event: &Event, text: impl Into<String>) {
        self.events.push(TimelineEvent {
            at: event.at,
            kind: event.kind,
            receive: event.receive,
            text: text.into(),
        });
    }

    /// Adds `event`, the `count`th of its kind, with the description `text`. In a long series it replaces the previous
    /// one and is described by `what` and its number.
    pub(super) fn push_repeated(&mut self, event: &Event, text: &str, what: &str, count: u32) {
        let alike = self.events.iter().rev().take_while(|pushed| pushed.kind == event.kind);
        if alike.count() < MAX_CONSECUTIVE {
            return self.push_with_text(event, text);
        }
        self.events.pop();
        self.push_with_text(event, format!("{what} for the {} time", ordinal(count)));
    }

    /// Adds `event` with its usual description. The sending of a message is left out.
    pub(super) fn push(&mut self, event: &Event) {
        let text = match event.kind {
            EventKind::Sent => "sent",
            EventKind::Received => return self.push_with_text(event, runs::received(event.receive)),
            EventKind::Throttled => "throttled",
            EventKind::Started => "work begins",
            EventKind::VisibleAgain => VISIBLE,
            EventKind::Done => "done",
            EventKind::Skipped => "handled before, nothing to do",
            EventKind::Failed => "fails",
            EventKind::Crashed => "the consumer crashes",
            EventKind::TimedOut => "the function times out",
            EventKind::Renewed => {
                self.renewals += 1;
                return self.push_repeated(event, "renewed", "renewed", self.renewals);
            }
            EventKind::RenewedToCeiling => "renewed up to the limit of 12 hours",
            EventKind::RenewalRefused => "renewed too late",
            EventKind::RenewalMissed => "a renewal is lost",
            EventKind::DeleteResult => "deleted",
            EventKind::DeleteIgnored => "its delete has no effect",
            EventKind::Expired => "deleted at the end of its retention period",
            EventKind::Moved => "moves to the dead-letter queue",
            EventKind::ExpiredInDeadLetterQueue => "deleted at the end of its retention there",
        };
        if event.kind == EventKind::Sent {
            // A message received at once need not be shown as sent first.
            return;
        }
        self.push_with_text(event, text);
    }

    /// Returns the timeline with the harm that it shows.
    pub(super) fn finish(self, harm: Option<(Harm, String)>) -> Timeline {
        let (harm, summary) = harm.unzip();
        Timeline {
            events: self.events,
            harm,
            summary,
        }
    }
}

/// Formats an ordinal: `second`, `third`, `4th`.
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

/// Formats a number of times: `twice`, `three times`, `11520 times`.
pub(crate) fn shown_times(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        3 => "three times".to_owned(),
        more => format!("{more} times"),
    }
}

/// Groups the events of `timeline` by time, each time with one text.
pub(super) fn steps(timeline: &Timeline) -> Vec<(String, String)> {
    let mut steps: Vec<(u64, String)> = Vec::new();
    for event in &timeline.events {
        // The harm already implies it.
        if event.kind == EventKind::DeleteIgnored && timeline.harm.is_some() {
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

/// Formats a timeline on one line: `0:00 received · 0:30 visible again`.
pub fn line(timeline: &Timeline) -> String {
    let steps = steps(timeline);
    let steps: Vec<String> = steps.into_iter().map(|(at, text)| format!("{at} {text}")).collect();
    steps.join(" · ")
}
