//! Formats a timeline for each kind of report.

use super::markup::escaped;
use super::printable;
use serde::Serialize;
use sqs_model::EventKind;
use sqs_model::scenario::{Harm, Timeline, TimelineEvent, line};
use std::fmt::Write;

/// Timeline in JSON.
#[derive(Serialize)]
pub(super) struct ShownTimeline {
    /// Harm that the run demonstrates, such as `worked-on-twice` or `lost`; null without harm.
    harm: Option<&'static str>,
    summary: Option<String>,
    events: Vec<ShownEvent>,
}

#[derive(Serialize)]
struct ShownEvent {
    /// Time since the start of the run.
    milliseconds: u64,
    event: &'static str,
    /// Number of the receive of the message.
    receive: u32,
    message: String,
}

impl From<Timeline> for ShownTimeline {
    fn from(timeline: Timeline) -> Self {
        let shown = timeline.events.into_iter().map(|event| ShownEvent {
            milliseconds: event.at,
            event: event.kind.name(),
            receive: event.receive,
            message: event.text,
        });
        ShownTimeline {
            harm: timeline.harm.map(Harm::name),
            summary: timeline.summary,
            events: shown.collect(),
        }
    }
}

/// Formats the timeline on one line, for people.
pub(super) fn on_a_line(timeline: &Timeline) -> String {
    printable(&line(timeline))
}

/// Formats the timeline with one indented line per moment, for terminals.
pub(super) fn in_lines(timeline: &Timeline) -> String {
    let steps = timeline.steps();
    let longest = steps.iter().map(|(at, _)| at.len()).max().unwrap_or(0);
    let lines = steps.iter().map(|(at, text)| format!("  {at:>longest$}  {text}\n"));
    lines.collect()
}

/// Width of the drawing in pixels, before it is stretched to the available width.
const WIDTH: usize = 720;
/// Height of a receive's bar, including the gap below it.
const LANE: usize = 14;
/// Maximum number of bars.
const MOST_LANES: usize = 6;

/// Draws the timeline for a page: a bar for each receive along a time axis, and below it the events as text that wraps
/// if necessary. Colours are those of the page.
pub(super) fn figure(timeline: &Timeline) -> String {
    let last = timeline.events.last().map_or(0, |event| event.at).max(1);
    let lanes = lanes(timeline, last);
    let height = LANE * lanes.len() + 6;
    let label = escaped(&line(timeline));
    let mut text = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" height=\"{height}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{label}\">"
    );
    let x = |at: u64| {
        let along = u128::from(at) * WIDTH as u128 / u128::from(last);
        usize::try_from(along).unwrap_or(WIDTH)
    };
    for (row, (receive, from, to)) in lanes.iter().enumerate() {
        let width = (x(*to) - x(*from)).max(4);
        let class = if *receive > 1 { " class=\"again\"" } else { "" };
        let _ = write!(
            text,
            "<rect x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{}\" fill=\"currentColor\" opacity=\".6\"{class}/>",
            x(*from).min(WIDTH - width),
            2 + LANE * row,
            LANE - 4
        );
    }
    let _ = write!(
        text,
        "<path d=\"M0 {y}H{WIDTH}\" stroke=\"currentColor\"/></svg>\n<table>\n",
        y = height - 1
    );
    let steps = timeline.steps();
    for (row, (at, said)) in steps.iter().enumerate() {
        let is_harm = timeline.harm.is_some() && row + 1 == steps.len();
        let class = if is_harm { " class=\"harm\"" } else { "" };
        let _ = writeln!(
            text,
            "<tr{class}><th scope=\"row\">{}</th><td>{}</td></tr>",
            escaped(at),
            escaped(said)
        );
    }
    text + "</table>"
}

/// Returns the receives with their starts and ends.
fn lanes(timeline: &Timeline, last: u64) -> Vec<(u32, u64, u64)> {
    // If two consumers work at the same time, a receive without an end continues; otherwise, it ends with the next
    // receive.
    let goes_on = timeline.harm == Some(Harm::WorkedOnTwice);
    let received = timeline.events.iter().filter(|event| event.kind == EventKind::Received);
    let lanes = received.take(MOST_LANES).map(|event| {
        let is_own_end =
            |later: &&TimelineEvent| later.receive == event.receive && later.at >= event.at && is_end(later.kind);
        let is_next = |later: &&TimelineEvent| later.receive > event.receive && later.kind == EventKind::Received;
        let end = timeline.events.iter().find(is_own_end);
        let end = end.or_else(|| timeline.events.iter().find(is_next).filter(|_| !goes_on));
        let otherwise = if goes_on { last } else { event.at };
        (event.receive, event.at, end.map_or(otherwise, |end| end.at))
    });
    lanes.collect()
}

fn is_end(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Done | EventKind::Failed | EventKind::Crashed | EventKind::TimedOut | EventKind::Expired
    )
}
