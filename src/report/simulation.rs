//! Writes the results of `sqslint simulate`, as text and as JSON.

use super::human::wrapped;
use super::json_text::write_pretty;
use super::printable;
use super::timeline::{ShownTimeline, in_lines};
use serde::Serialize;
use sqs_model::clock::{self, SECOND};
use sqs_model::scenario::Timeline;
use sqs_model::traffic::{Figure, Outcome, Traffic, Variant, shown};
use std::io::{self, Write};

/// Columns of a bar that represents all messages.
const BAR: u64 = 40;
/// Maximum number of rows in the histogram.
const MAX_ROWS: usize = 12;
/// Maximum width of a verdict, in columns.
const PROSE: usize = 96;

/// Results of a simulation.
#[derive(Debug)]
pub struct Simulation {
    /// Subject of the simulation, as a sentence without a full stop.
    pub subject: String,
    /// Values that were assumed because they are unknown.
    pub assumed: Vec<String>,
    /// `true` if processing times are among them.
    pub times_are_assumed: bool,
    /// Configuration of the user.
    pub traffic: Traffic,
    /// Timelines of single messages, each with its title.
    pub timelines: Vec<(&'static str, Timeline)>,
    /// Number of simulated weeks.
    pub weeks: u32,
    /// The seed of the first week.
    pub seed: u64,
    /// Simulated configurations with their outcomes.
    pub rows: Vec<(Variant, Outcome)>,
}

/// Writes the results as text.
pub fn write(simulation: &Simulation, out: &mut dyn Write) -> io::Result<()> {
    let traffic = &simulation.traffic;
    writeln!(out, "{}", wrapped(&printable(&simulation.subject), PROSE))?;
    for (name, value) in facts(traffic) {
        writeln!(out, "  {name:<18} {}", printable(&value))?;
    }
    for line in &simulation.assumed {
        writeln!(out, "  {:<18} {}", "assumed", printable(line))?;
    }
    for (title, timeline) in &simulation.timelines {
        writeln!(out, "\n{title}")?;
        out.write_all(in_lines(timeline).as_bytes())?;
    }
    writeln!(out, "\nHow long the work takes")?;
    out.write_all(histogram(traffic).as_bytes())?;
    let weeks = match simulation.weeks {
        1 => "one week".to_owned(),
        weeks => format!("{weeks} weeks: the mean, and the least and the most"),
    };
    writeln!(out, "\nA week of {} messages, over {weeks}", traffic.messages)?;
    let rows: Vec<[String; 6]> = std::iter::once(HEADINGS.map(str::to_owned))
        .chain(simulation.rows.iter().map(|(_, outcome)| cells(outcome)))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let mut lines = rows.iter().map(|row| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("    {}", cells.collect::<Vec<_>>().join("  ").trim_end())
    });
    writeln!(out, "{}", lines.next().unwrap_or_default())?;
    for (line, (variant, outcome)) in lines.zip(&simulation.rows) {
        let (is_right, verdict) = outcome.verdict(&variant.traffic);
        let sign = if is_right { "good" } else { "bad" };
        let under = if simulation.times_are_assumed {
            " under the assumed times"
        } else {
            ""
        };
        writeln!(out, "  {}\n{line}", printable(&variant.name))?;
        let verdict = wrapped(&format!("{sign}{under}: {verdict}"), PROSE);
        for line in verdict.lines() {
            writeln!(out, "    {line}")?;
        }
    }
    Ok(())
}

const HEADINGS: [&str; 6] = [
    "twice",
    "dead-lettered",
    "lost",
    "after a crash",
    "longest wait",
    "in flight",
];

fn cells(outcome: &Outcome) -> [String; 6] {
    let at_least = if outcome.is_aborted { "≥ " } else { "" };
    [
        format!("{at_least}{}", figure(outcome.twice)),
        figure(outcome.dead_lettered),
        figure(outcome.lost),
        outcome.recovery.map_or_else(|| "never".to_owned(), clock::span),
        clock::span(outcome.longest_wait),
        figure(outcome.in_flight),
    ]
}

/// Formats a mean with its range: `2.9 (1–5)`.
fn figure(figure: Figure) -> String {
    let mean = shown(figure.mean);
    if figure.least == figure.most {
        return mean;
    }
    format!("{mean} ({}–{})", figure.least, figure.most)
}

/// Returns the settings, each with its name.
fn facts(traffic: &Traffic) -> Vec<(&'static str, String)> {
    let (queue, consumer) = (&traffic.queue, &traffic.consumer);
    let mut facts = vec![
        ("visibility timeout", clock::span(queue.visibility)),
        ("retention", clock::span(queue.retention)),
    ];
    if queue.delay > 0 {
        facts.push(("delay", clock::span(queue.delay)));
    }
    if queue.fifo {
        facts.push(("message groups", traffic.groups.to_string()));
    }
    facts.push((
        "dead-letter queue",
        queue.dead_letter.map_or_else(
            || "none".to_owned(),
            |dead| {
                let (receives, kept) = (dead.max_receives, clock::span(dead.retention));
                format!("after {receives} receives, which keeps messages for {kept}")
            },
        ),
    ));
    facts.push(match consumer.timeout {
        Some(timeout) => {
            let (timeout, batch, at_once) = (clock::span(timeout), consumer.batch, consumer.concurrency);
            let window = match consumer.window {
                0 => String::new(),
                window => format!(", window {}", clock::span(window)),
            };
            (
                "function",
                format!("timeout {timeout}, batches of {batch}{window}, {at_once} at one time"),
            )
        }
        None => ("workers", consumer.concurrency.to_string()),
    });
    if let Some(heartbeat) = consumer.heartbeat {
        let (every, extend_to) = (clock::span(heartbeat.every), clock::span(heartbeat.extend_to));
        facts.push(("heartbeat", format!("every {every}, extends to {extend_to}")));
    }
    let parts = [
        ("attempts fail", traffic.failing),
        ("messages always fail", traffic.poison),
        ("consumers die", traffic.crashing),
    ];
    let parts = parts.map(|(what, share)| format!("{share} of {what}"));
    facts.push(("failures", parts.join(", ")));
    facts
}

/// Formats a histogram of the processing times with classes that double in width, and marks the visibility timeout.
fn histogram(traffic: &Traffic) -> String {
    let work = &traffic.work;
    let visibility = traffic.queue.visibility;
    let first = (work.min() / SECOND).max(1) * SECOND;
    let mut text = String::new();
    let (mut from, mut to) = (0, first);
    for _ in 0..MAX_ROWS {
        let share = work.share_from(from) - work.share_from(to);
        if share > 0.0 {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "between 0 and 1"
            )]
            let bar = "█".repeat((share * BAR as f64).round() as usize);
            let mark = if (from..to).contains(&visibility) && traffic.consumer.heartbeat.is_none() {
                "  ← visible again within"
            } else {
                ""
            };
            let class = format!("{} to {}", clock::span(from), clock::span(to));
            let line = format!("  {class:<18} {:>8}  {bar}{mark}", percent(share));
            text += line.trim_end();
            text.push('\n');
        }
        if to > work.max() {
            break;
        }
        (from, to) = (to, to * 2);
    }
    if traffic.consumer.heartbeat.is_none() {
        let share = work.share_above(visibility);
        #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
        let count = shown(share * traffic.messages as f64);
        text += &format!(
            "  {} takes longer than the visibility timeout of {}: {count} messages a week\n",
            percent(share),
            clock::span(visibility)
        );
    }
    text
}

/// Formats a share as a percentage with few significant digits: `50 %`, `0.0147 %`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 {
        return "0 %".to_owned();
    }
    let digits = if percent >= 10.0 {
        1
    } else if percent >= 0.1 {
        2
    } else {
        4
    };
    let text = format!("{percent:.digits$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "0" => "below 0.0001 %".to_owned(),
        text => format!("{text} %"),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    subject: &'a str,
    assumed: &'a [String],
    assumed_times: bool,
    messages: u64,
    weeks: u32,
    seed: u64,
    /// Share of messages that take longer than the visibility timeout.
    slow_share: f64,
    timelines: Vec<NamedTimeline<'a>>,
    configurations: Vec<Configuration<'a>>,
}

#[derive(Serialize)]
struct NamedTimeline<'a> {
    name: &'a str,
    #[serde(flatten)]
    timeline: ShownTimeline,
}

/// Times are in milliseconds, counts are per week.
#[derive(Serialize)]
struct Configuration<'a> {
    id: &'a str,
    name: &'a str,
    visibility_timeout: u64,
    retention: u64,
    fifo: bool,
    max_receive_count: Option<u32>,
    twice: Range,
    repeats: Range,
    most_attempts: u64,
    dead_lettered: Range,
    dead_lettered_done: Range,
    lost: Range,
    in_flight: Range,
    recovery: Option<u64>,
    longest_wait: u64,
    broken_off: bool,
    good: bool,
    verdict: String,
}

#[derive(Serialize)]
struct Range {
    mean: f64,
    least: u64,
    most: u64,
}

impl From<Figure> for Range {
    fn from(figure: Figure) -> Self {
        let Figure { mean, least, most } = figure;
        Range { mean, least, most }
    }
}

/// Writes the results as JSON.
pub fn write_json(simulation: &Simulation, out: &mut dyn Write) -> io::Result<()> {
    let timelines = simulation.timelines.iter().map(|(name, timeline)| NamedTimeline {
        name,
        timeline: timeline.clone().into(),
    });
    let configurations = simulation.rows.iter().map(|(variant, outcome)| {
        let (good, verdict) = outcome.verdict(&variant.traffic);
        let queue = &variant.traffic.queue;
        Configuration {
            id: variant.id,
            name: &variant.name,
            visibility_timeout: queue.visibility,
            retention: queue.retention,
            fifo: queue.fifo,
            max_receive_count: queue.dead_letter.map(|dead| dead.max_receives),
            twice: outcome.twice.into(),
            repeats: outcome.repeats.into(),
            most_attempts: outcome.most_done,
            dead_lettered: outcome.dead_lettered.into(),
            dead_lettered_done: outcome.dead_lettered_done.into(),
            lost: outcome.lost.into(),
            in_flight: outcome.in_flight.into(),
            recovery: outcome.recovery,
            longest_wait: outcome.longest_wait,
            broken_off: outcome.is_aborted,
            good,
            verdict,
        }
    });
    let traffic = &simulation.traffic;
    let document = Document {
        version: 1,
        subject: &simulation.subject,
        assumed: &simulation.assumed,
        assumed_times: simulation.times_are_assumed,
        messages: traffic.messages,
        weeks: simulation.weeks,
        seed: simulation.seed,
        slow_share: traffic.work.share_above(traffic.queue.visibility),
        timelines: timelines.collect(),
        configurations: configurations.collect(),
    };
    write_pretty(out, &document)
}
