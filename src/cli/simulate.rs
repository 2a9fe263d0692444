//! Runs `sqslint simulate`, which shows the fate of messages under a configuration and under variations of it.

mod progress;
mod settings;
mod subject;

use super::check::tell_nothing;
use super::config::ConfigArgs;
use super::inputs::{self, InputArgs, StdinArgs};
use super::{Exit, Streams};
use clap::{Args, ValueEnum};
use progress::Progress;
use rayon::prelude::*;
use settings::{Settings, duration, rate, share};
use sqs_model::Share;
use sqs_model::traffic::{Outcome, Traffic, Variant, variants};
use sqslint::Options;
use sqslint::report::simulation::{self, Simulation};
use sqslint::selection::Selection;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Approximate number of messages to simulate per configuration.
const MESSAGES: u64 = 500_000;
/// Maximum number of weeks to simulate by default.
const MOST_WEEKS: u64 = 10;
/// Minimum number of weeks to simulate by default.
const LEAST_WEEKS: u64 = 1;
/// Maximum number of weeks of `--weeks`.
const LONGEST: u32 = 1_000;
/// Maximum number of messages in all weeks.
const MOST_SIMULATED: u64 = 40_000_000;

const EXAMPLES: &str = "\
Examples:
  sqslint simulate infra --queue aws_sqs_queue.orders
  sqslint simulate --visibility 30 --timeout 300 --p50 12s --p99 25s --max 280s --tail 0.015% --rate 20000/week

Times are seconds, or have a unit: 250ms, 30s, 5m, 12h, 4d. Shares are percent.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SimulateArgs {
    /// Files and directories; `-` is standard input [default: `.`, unless --visibility is given]
    paths: Vec<PathBuf>,
    /// The queue, by address or name
    #[arg(long, value_name = "ADDRESS")]
    queue: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = SimulationFormat::Text)]
    format: SimulationFormat,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    traffic_args: TrafficArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    stdin: StdinArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// Exit with 0 if there is nothing to simulate
    #[arg(long)]
    allow_empty: bool,
}

/// Traffic of the queue.
#[derive(Debug, Args)]
struct TrafficArgs {
    /// Rate of messages, as in 20000/week, 50/minute
    #[arg(long, value_name = "COUNT/UNIT", value_parser = rate, default_value = "10000/week", help_heading = "Traffic")]
    rate: u64,
    /// The share of attempts that fail
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "1%", help_heading = "Traffic")]
    failing: Share,
    /// The share of messages for which every attempt fails
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "0.01%", help_heading = "Traffic")]
    poison: Share,
    /// The share of attempts during which the consumer crashes
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "0.01%", help_heading = "Traffic")]
    crashes: Share,
    /// Time after which the consumer crashes in the timeline shown [default: half of --p50]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Traffic")]
    crash_after: Option<u64>,
    /// Number of weeks to simulate [default: 10, fewer if there are many messages]
    #[arg(long, value_name = "COUNT", help_heading = "Traffic")]
    weeks: Option<u32>,
    /// Seed of the random numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 1, help_heading = "Traffic")]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SimulationFormat {
    /// Text for people
    Text,
    /// JSON document, version 1
    Json,
}

pub(super) fn run(arguments: &SimulateArgs, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let settings = match settings(arguments, streams)? {
        Ok(settings) => settings,
        Err(exit) => return Ok(exit),
    };
    let (subject, assumed, times_are_assumed, traffic) = match settings.traffic(&arguments.traffic_args) {
        Ok(known) => known,
        Err(error) => return streams.refuse(&error),
    };
    let weeks = match weeks(arguments, traffic.messages) {
        Ok(weeks) => weeks,
        Err(error) => return streams.refuse(&error),
    };
    let seed = arguments.traffic_args.seed;
    let variants = variants(&traffic);
    // Some variants change nothing: a configuration is simulated once.
    let mut distinct: Vec<&Traffic> = Vec::new();
    for variant in &variants {
        if !distinct.contains(&&variant.traffic) {
            distinct.push(&variant.traffic);
        }
    }
    let progress = Progress::new(distinct.len() * weeks.max(1) as usize);
    let outcomes = distinct.par_iter().map(|traffic| {
        let outcome = traffic.weeks(weeks, seed, &|| progress.pass());
        (*traffic, outcome)
    });
    let outcomes: Vec<(&Traffic, Outcome)> = outcomes.collect();
    progress.clear();
    let outcome = |variant: &Variant| outcomes.iter().find(|(traffic, _)| **traffic == variant.traffic);
    let rows = variants
        .iter()
        .filter_map(|variant| Some((variant.clone(), outcome(variant)?.1.clone())));
    let rows = rows.collect();
    let timelines = vec![
        ("The slowest message", traffic.slow_message()),
        ("A consumer that crashes", traffic.crash().timeline()),
        ("A message that always fails", traffic.poison_message().timeline()),
    ];
    let simulation = Simulation {
        subject,
        assumed,
        times_are_assumed,
        traffic,
        timelines,
        weeks: weeks.max(1),
        seed,
        rows,
    };
    let mut out = BufWriter::new(&mut *streams.out);
    match arguments.format {
        SimulationFormat::Text => simulation::write(&simulation, &mut out)?,
        SimulationFormat::Json => simulation::write_json(&simulation, &mut out)?,
    }
    out.flush()?;
    Ok(Exit::Clean)
}

/// Returns the number of weeks to simulate.
fn weeks(arguments: &SimulateArgs, messages: u64) -> Result<u32, String> {
    let Some(weeks) = arguments.traffic_args.weeks else {
        let weeks = (MESSAGES / messages.max(1)).clamp(LEAST_WEEKS, MOST_WEEKS);
        return Ok(u32::try_from(weeks).unwrap_or(1));
    };
    if weeks > LONGEST || u64::from(weeks).saturating_mul(messages) > MOST_SIMULATED {
        return Err(format!(
            "{weeks} weeks of {messages} messages exceed the maximum of {LONGEST} weeks and {MOST_SIMULATED} messages"
        ));
    }
    Ok(weeks)
}

/// Returns the settings from flags and files, or the exit code if there is nothing to simulate.
fn settings(arguments: &SimulateArgs, streams: &mut Streams<'_>) -> io::Result<Result<Settings, Exit>> {
    if arguments.is_without_files() {
        return Ok(Ok(arguments.settings.clone()));
    }
    let otherwise = arguments.inputs.otherwise();
    let (paths, stdin) = match inputs::chosen(&arguments.paths, &arguments.stdin, otherwise) {
        Ok(chosen) => chosen,
        Err(error) => return streams.refuse(&error).map(Err),
    };
    let options = Options {
        paths,
        stdin,
        baseline: sqslint::history::BaselineChoice::Without,
        // Only the graph is needed.
        selection: Selection::new(Vec::new(), vec!["all".to_owned()], false),
        ..arguments.inputs.options(&arguments.config)
    };
    let outcome = sqslint::check(&options);
    streams.tell_errors(&outcome.errors)?;
    if !outcome.errors.is_empty() {
        return Ok(Err(Exit::Failed));
    }
    if outcome.graph.units().is_empty() {
        if arguments.allow_empty {
            return Ok(Err(Exit::Clean));
        }
        return tell_nothing(&options.paths, &outcome, streams).map(Err);
    }
    match subject::chosen(&outcome.graph, arguments.queue.as_deref()) {
        Ok(queue) => Ok(Ok(arguments.settings.clone().or_of(&outcome.graph, queue))),
        Err(error) => streams.refuse(&error).map(Err),
    }
}

impl SimulateArgs {
    /// Returns `true` if the command line determines everything, so that no file is read.
    fn is_without_files(&self) -> bool {
        let names_files = self.queue.is_some() || inputs::asks_for_stdin(&self.paths, &self.stdin);
        self.paths.is_empty() && !names_files && self.settings.visibility.is_some()
    }
}
