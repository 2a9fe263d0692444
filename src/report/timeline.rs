//! A timeline in each form that reports have for it.

use super::markup::escaped;
use super::printable;
use crate::model::Kind;
use crate::model::scenario::{Harm, Timeline, Told, line};
use serde::Serialize;
use std::fmt::Write;

/// As JSON has it.
#[derive(Serialize)]
pub(super) struct ShownTimeline {
    /// What the run shows: `worked-on-twice`, `lost`; null where nothing is wrong.
    harm: Option<&'static str>,
    summary: Option<String>,
    events: Vec<ShownEvent>,
}

#[derive(Serialize)]
struct ShownEvent {
    /// From the start of the run.
    milliseconds: u64,
    event: &'static str,
    /// Which receive of the message.
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

/// On one line, for people.
pub(super) fn on_a_line(timeline: &Timeline) -> String {
    printable(&line(timeline))
}

/// A line a moment, indented, for terminals.
pub(super) fn in_lines(timeline: &Timeline) -> String {
    let steps = timeline.steps();
    let longest = steps.iter().map(|(at, _)| at.len()).max().unwrap_or(0);
    let lines = steps.iter().map(|(at, text)| format!("  {at:>longest$}  {text}\n"));
    lines.collect()
}

/// Pixels of the picture, before it is stretched to the width of its place.
const WIDTH: usize = 720;
/// A receive's bar, with the gap below it.
const LANE: usize = 14;
/// Bars at most.
const MOST_LANES: usize = 6;

/// A picture for a page: a bar for each receive, from its beginning to its end, along one axis of time, and below what
/// happened in words, which wrap where there is little room. Colours are those of the page.
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

/// The receives with their beginnings and ends.
fn lanes(timeline: &Timeline, last: u64) -> Vec<(u32, u64, u64)> {
    // Where two are at work, one that has no end yet goes on; else it lasts until the message is received again.
    let goes_on = timeline.harm == Some(Harm::WorkedOnTwice);
    let received = timeline.events.iter().filter(|event| event.kind == Kind::Received);
    let lanes = received.take(MOST_LANES).map(|event| {
        let is_own_end = |later: &&Told| later.receive == event.receive && later.at >= event.at && is_end(later.kind);
        let is_next = |later: &&Told| later.receive > event.receive && later.kind == Kind::Received;
        let end = timeline.events.iter().find(is_own_end);
        let end = end.or_else(|| timeline.events.iter().find(is_next).filter(|_| !goes_on));
        let otherwise = if goes_on { last } else { event.at };
        (event.receive, event.at, end.map_or(otherwise, |end| end.at))
    });
    lanes.collect()
}

fn is_end(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Done | Kind::Failed | Kind::Crashed | Kind::TimedOut | Kind::Expired
    )
}
