//! `sqslint simulate`: what becomes of messages under a configuration, and under others.

mod progress;
mod settings;
mod subject;

use super::check::nothing_to_check;
use super::config::ConfigArgs;
use super::inputs::{self, InputArgs, StdinArgs};
use super::{Exit, Streams};
use clap::{Args, ValueEnum};
use progress::Progress;
use settings::{Settings, duration, heartbeat, rate, share};
use sqslint::Options;
use sqslint::model::Share;
use sqslint::model::traffic::variants;
use sqslint::report::simulation::{self, Simulation};
use sqslint::report::{printable, printable_error};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Messages that are simulated for each configuration, about.
const MESSAGES: u64 = 500_000;
/// Weeks that are simulated at most, where nobody says.
const MOST_WEEKS: u64 = 10;
/// And at least.
const LEAST_WEEKS: u64 = 2;

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
    /// How to print it
    #[arg(long, value_enum, default_value_t = SimulationFormat::Text)]
    format: SimulationFormat,
    #[command(flatten)]
    queue_args: QueueArgs,
    #[command(flatten)]
    consumer_args: ConsumerArgs,
    #[command(flatten)]
    traffic_args: TrafficArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    stdin: StdinArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// Exit with 0 where there is nothing to simulate
    #[arg(long)]
    allow_empty: bool,
}

/// Settings of the queue, in place of those in the files.
#[derive(Debug, Args)]
struct QueueArgs {
    /// The visibility timeout
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Queue")]
    visibility: Option<u64>,
    /// How long the queue keeps messages
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Queue")]
    retention: Option<u64>,
    /// How long a new message is delayed
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Queue")]
    delay: Option<u64>,
    /// After how many receives a message moves to the dead-letter queue; 0 for none
    #[arg(long, value_name = "COUNT", help_heading = "Queue")]
    max_receives: Option<u32>,
    /// How long the dead-letter queue keeps messages
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Queue")]
    dead_letter_retention: Option<u64>,
    /// A FIFO queue
    #[arg(long, help_heading = "Queue")]
    fifo: bool,
    /// How many message groups there are
    #[arg(long, value_name = "COUNT", default_value_t = 1_000, help_heading = "Queue")]
    groups: u32,
}

/// Who reads the queue, in place of what the files say.
#[derive(Debug, Args)]
struct ConsumerArgs {
    /// A function that may run for so long reads it
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "workers", help_heading = "Consumer")]
    timeout: Option<u64>,
    /// The function's largest batch
    #[arg(long, value_name = "COUNT", help_heading = "Consumer")]
    batch: Option<u32>,
    /// Its batching window
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Consumer")]
    window: Option<u64>,
    /// Its reserved concurrency
    #[arg(long, value_name = "COUNT", help_heading = "Consumer")]
    concurrency: Option<u32>,
    /// It reports the messages of a batch that failed
    #[arg(long, help_heading = "Consumer")]
    partial_responses: bool,
    /// So many workers read it, one message each at a time
    #[arg(long, value_name = "COUNT", help_heading = "Consumer")]
    workers: Option<u32>,
    /// How often the visibility timeout is renewed, and to what, as in 20s/60s
    #[arg(long, value_name = "EVERY/EXTEND-TO", value_parser = heartbeat, help_heading = "Consumer")]
    heartbeat: Option<(u64, u64)>,
    /// When the consumer looks whether a message was handled already
    #[arg(long, value_enum, default_value_t = Recheck::Never, help_heading = "Consumer")]
    recheck: Recheck,
    /// Half of the messages take no longer
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Consumer")]
    p50: Option<u64>,
    /// All but the tail take no longer
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Consumer")]
    p99: Option<u64>,
    /// No message takes longer
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Consumer")]
    max: Option<u64>,
    /// The share of messages that take longer than --p99
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "1%", help_heading = "Consumer")]
    tail: Share,
}

/// The messages.
#[derive(Debug, Args)]
struct TrafficArgs {
    /// How many there are, as in 20000/week, 50/minute
    #[arg(long, value_name = "COUNT/UNIT", value_parser = rate, default_value = "10000/week", help_heading = "Traffic")]
    rate: u64,
    /// The share of attempts that fail
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "1%", help_heading = "Traffic")]
    failing: Share,
    /// The share of messages at which every attempt fails
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "0.01%", help_heading = "Traffic")]
    poison: Share,
    /// The share of attempts in the middle of which the consumer crashes
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "0.01%", help_heading = "Traffic")]
    crashes: Share,
    /// After how long the consumer crashes whose story is told [default: half of --p50]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Traffic")]
    crash_after: Option<u64>,
    /// How many weeks to simulate [default: 10, fewer of many messages]
    #[arg(long, value_name = "COUNT", help_heading = "Traffic")]
    weeks: Option<u32>,
    /// Another number, other weeks
    #[arg(long, value_name = "NUMBER", default_value_t = 1, help_heading = "Traffic")]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SimulationFormat {
    /// For people
    Text,
    /// Version 1 of the document
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Recheck {
    /// Never: whoever gets it handles it
    Never,
    /// Before the work begins
    First,
    /// Before it acts, at the end of the work
    Last,
}

pub(super) fn run(arguments: &SimulateArgs, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let settings = match settings(arguments, streams)? {
        Ok(settings) => settings,
        Err(exit) => return Ok(exit),
    };
    let (subject, assumed, traffic) = match settings.traffic(arguments) {
        Ok(known) => known,
        Err(error) => return refuse(&error, streams),
    };
    let weeks = arguments.traffic_args.weeks.unwrap_or_else(|| {
        let weeks = (MESSAGES / traffic.messages.max(1)).clamp(LEAST_WEEKS, MOST_WEEKS);
        u32::try_from(weeks).unwrap_or(1)
    });
    let seed = arguments.traffic_args.seed;
    let variants = variants(&traffic);
    let progress = Progress::new(variants.len() * weeks.max(1) as usize);
    let rows = variants.into_iter().map(|variant| {
        let outcome = variant.traffic.weeks(weeks, seed, &|| progress.pass());
        (variant, outcome)
    });
    let rows = rows.collect();
    progress.clear();
    let stories = vec![
        ("The slowest message", traffic.slow_message().timeline()),
        ("A consumer that crashes", traffic.crash().timeline()),
        ("A message that always fails", traffic.poison_message().timeline()),
    ];
    let simulation = Simulation {
        subject,
        assumed,
        traffic,
        stories,
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

/// What files and flags say; where there is nothing to simulate, the exit code.
fn settings(arguments: &SimulateArgs, streams: &mut Streams<'_>) -> io::Result<Result<Settings, Exit>> {
    if arguments.is_without_files() {
        return Ok(Ok(Settings::of(arguments)));
    }
    let otherwise = arguments.inputs.otherwise();
    let (paths, stdin) = match inputs::chosen(&arguments.paths, &arguments.stdin, otherwise) {
        Ok(chosen) => chosen,
        Err(error) => return refuse(&error, streams).map(Err),
    };
    let options = Options {
        paths,
        stdin,
        given: arguments.inputs.given(),
        staged: arguments.inputs.staged,
        force_exclude: arguments.inputs.force_exclude,
        no_gitignore: arguments.inputs.no_gitignore,
        config: arguments.config.source(),
        baseline: sqslint::history::Choice::Without,
        ..Options::default()
    };
    let outcome = sqslint::check(&options);
    for error in &outcome.errors {
        writeln!(streams.err, "sqslint: {}", printable_error(error))?;
    }
    if !outcome.errors.is_empty() {
        return Ok(Err(Exit::Failed));
    }
    if outcome.graph.units().is_empty() {
        if arguments.allow_empty {
            return Ok(Err(Exit::Clean));
        }
        let message = nothing_to_check(&options.paths, &outcome);
        writeln!(streams.err, "sqslint: {}", printable(&message))?;
        return Ok(Err(Exit::Nothing));
    }
    match subject::chosen(&outcome.graph, arguments.queue.as_deref()) {
        Ok(queue) => Ok(Ok(Settings::of(arguments).or(subject::settings(&outcome.graph, queue)))),
        Err(error) => refuse(&error, streams).map(Err),
    }
}

impl SimulateArgs {
    /// Whether everything is on the command line.
    fn is_without_files(&self) -> bool {
        let names_files = self.queue.is_some() || inputs::asks_for_stdin(&self.paths, &self.stdin);
        self.paths.is_empty() && !names_files && self.queue_args.visibility.is_some()
    }
}

fn refuse(message: &str, streams: &mut Streams<'_>) -> io::Result<Exit> {
    writeln!(streams.err, "sqslint: {}", printable(message))?;
    Ok(Exit::Failed)
}
