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

/// Pixels of the picture.
const WIDTH: usize = 720;
const LEFT: usize = 12;
/// A receive's bar, with the gap below it.
const LANE: usize = 14;
/// Bars at most.
const MOST_LANES: usize = 6;
/// Between the lines of what happened.
const LINE: usize = 20;

/// A picture for a page: a bar for each receive, from its beginning to its end, along one axis of time, and what happened
/// in words below. Colours are those of the page.
pub(super) fn svg(timeline: &Timeline) -> String {
    let steps = timeline.steps();
    let last = timeline.events.last().map_or(0, |event| event.at).max(1);
    let lanes = lanes(timeline, last);
    let top = LANE * lanes.len() + 8;
    let height = top + 14 + LINE * steps.len();
    let label = escaped(&line(timeline));
    let mut text = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\" aria-label=\"{label}\">"
    );
    let room = WIDTH - 2 * LEFT;
    let x = |at: u64| {
        let along = u128::from(at) * room as u128 / u128::from(last);
        LEFT + usize::try_from(along).unwrap_or(room)
    };
    for (row, (receive, from, to)) in lanes.iter().enumerate() {
        let (start, end) = (x(*from), x(*to));
        let class = if *receive > 1 { " class=\"again\"" } else { "" };
        let _ = write!(
            text,
            "<rect x=\"{start}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\" fill=\"currentColor\" opacity=\".6\"{class}/>",
            2 + LANE * row,
            (end - start).max(4),
            LANE - 4
        );
    }
    let _ = write!(
        text,
        "<path d=\"M{LEFT} {top}H{}\" stroke=\"currentColor\"/>",
        WIDTH - LEFT
    );
    let is_harm = timeline.harm.is_some();
    for (row, (at, said)) in steps.iter().enumerate() {
        let y = top + 22 + LINE * row;
        let class = if is_harm && row + 1 == steps.len() {
            " class=\"harm\""
        } else {
            ""
        };
        let _ = write!(
            text,
            "<text x=\"128\" y=\"{y}\" text-anchor=\"end\" font-weight=\"600\" fill=\"currentColor\">{}</text>\
             <text x=\"140\" y=\"{y}\" fill=\"currentColor\"{class}>{}</text>",
            escaped(at),
            escaped(said)
        );
    }
    text + "</svg>"
}

/// The receives with their beginnings and ends.
fn lanes(timeline: &Timeline, last: u64) -> Vec<(u32, u64, u64)> {
    // Where two are at work, one that has no end yet goes on.
    let is_open = timeline.harm == Some(Harm::WorkedOnTwice);
    let received = timeline.events.iter().filter(|event| event.kind == Kind::Received);
    let lanes = received.take(MOST_LANES).map(|event| {
        let ends = |later: &&Told| later.receive == event.receive && later.at >= event.at && is_end(later.kind);
        let end = timeline.events.iter().find(ends).map(|end| end.at);
        (
            event.receive,
            event.at,
            end.unwrap_or(if is_open { last } else { event.at }),
        )
    });
    lanes.collect()
}

fn is_end(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Done | Kind::Failed | Kind::Crashed | Kind::TimedOut | Kind::Expired
    )
}
