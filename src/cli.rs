//! Defines the command line: its arguments, what they mean, and the exit codes.
//!
//! Output goes to the streams that `main` passes; this module itself neither opens nor reads a file.

mod baseline;
mod check;
mod config;
mod explain;
mod fixing;
mod graph;
mod inputs;
mod manual;
mod output;
mod page;
mod policy;
mod review;
mod rules;
mod simulate;
mod snapshot;
#[cfg(test)]
mod tests;
mod variables;

use baseline::{BaselineArgs, BaselineCommand};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{ArgAction, ArgGroup, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use config::{ConfigArgs, ConfigCommand};
use explain::ExplainArgs;
use fixing::FixArgs;
use inputs::{InputArgs, StdinArgs};
use output::{ColorArgs, OutputArgs};
use policy::PolicyCommand;
use sqslint::diagnostic::{Harm, Severity};
use sqslint::report::{printable, printable_error};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::PathBuf;

/// Help text after the list of commands.
const EXAMPLES: &str = "\
Examples:
  sqslint check                        everything below the working directory
  sqslint check --since main           only what this branch adds
  sqslint review --since main          what this branch does to messages
  sqslint check --fix                  fix what can be fixed safely
  sqslint explain infra/queues.tf:12   the values on a line and their origin";

/// Help text after the flags of `check`.
const CODES: &str = "\
Exit codes:
  0  nothing at or above the fail level
  1  at least one finding at or above it, or with a harm of --fail-on
  2  sqslint could not do its job
  3  nothing to check

Environment:
  SQSLINT_FORMAT, SQSLINT_CONFIG  instead of --format and --config
  NO_COLOR, CLICOLOR_FORCE        never colour; colour in pipes, too
  NO_GRAPHICS                     prose instead of drawings";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "sqslint", version, about = env!("CARGO_PKG_DESCRIPTION"), long_about = None, propagate_version = true, max_term_width = 80, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Lint files and directories
    Check(CheckArgs),
    /// Print what a change does to each link between a queue and its function
    Review(review::ReviewArgs),
    /// Print a rule's page, or the values on a line and how they were judged
    Explain(ExplainArgs),
    /// List the rules, and the policies of the configuration
    Rules {
        /// Output format
        #[arg(long, value_enum, default_value_t = RulesFormat::Text)]
        format: RulesFormat,
        #[command(flatten)]
        color: ColorArgs,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Print the queues and their consumers, as sqslint resolves them
    Graph(GraphArgs),
    /// Simulate a queue's messages with its current settings and with others
    Simulate(simulate::SimulateArgs),
    /// Accept today's findings, so that only new ones fail a run
    Baseline {
        #[command(subcommand)]
        command: BaselineCommand,
    },
    /// Serve an editor: the Language Server Protocol over standard input and output
    #[command(alias = "lsp")]
    Server {
        /// Use standard input and output, the default and only transport
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// Test the configured policies, or print a template for a new one
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// Print the effective settings, their file, or their schema; replace former ids of rules
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Print the script that lists what an account has deployed
    Snapshot {
        /// Print it: Python with boto3, which only lists and reads
        #[arg(long, required = true)]
        script: bool,
    },
    /// Write a sqslint.toml that lists every setting, commented out
    Init {
        /// Append a stub for each queue, module and source that other files own
        #[arg(long)]
        external: bool,
        /// Append a declaration of each worker that is found, with the times that its code states
        #[arg(long)]
        consumers: bool,
    },
    /// Print completions for a shell
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
    /// Print the manual page, as roff
    Man,
}

#[derive(Debug, Args)]
struct GraphArgs {
    /// Files and directories; `-` is standard input [default: `.`]
    paths: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    format: GraphFormat,
    /// Also draw functions that are not connected to any queue
    #[arg(long)]
    all: bool,
    /// Print the fields that policies can use, without reading any files
    #[arg(long)]
    schema: bool,
    #[command(flatten)]
    color: ColorArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    stdin: StdinArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// Exit with 0 if there is nothing to print
    #[arg(long)]
    allow_empty: bool,
}

// The flags are independent of each other, so an enum of states would not fit.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Args)]
#[command(
    after_help = CODES,
    group = ArgGroup::new("fixing").args(["fix", "diff"]).multiple(true)
)]
struct CheckArgs {
    /// Files and directories; `-` is standard input [default: `.`; with --staged, what is staged]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    /// Print findings and errors only, no summary
    #[arg(long, short, conflicts_with = "verbose", help_heading = "Output")]
    quiet: bool,
    /// Also show infos, and list what could not be judged, and why
    #[arg(long, short, help_heading = "Output")]
    verbose: bool,
    /// Also list findings hidden by suppressions, a baseline or --since, in formats that support it
    #[arg(long, help_heading = "Output")]
    show_suppressed: bool,
    /// Run these rules, categories or sets (default, pedantic, all) instead of the configured ones
    #[arg(long, value_name = "RULE,...", value_delimiter = ',', value_parser = RuleName, hide_possible_values = true, help_heading = "Selection")]
    select: Vec<String>,
    /// Do not run these rules, categories or sets
    #[arg(long, value_name = "RULE,...", value_delimiter = ',', value_parser = RuleName, hide_possible_values = true, help_heading = "Selection")]
    ignore: Vec<String>,
    /// Also run the pedantic rules, which not every team wants
    #[arg(long, help_heading = "Selection")]
    pedantic: bool,
    /// Leave out findings below this severity [default: warning in `full`, info in other formats]
    #[arg(long, value_enum, value_name = "SEVERITY", help_heading = "Selection")]
    min_severity: Option<Level>,
    /// Exit with 1 for findings of this severity or above [default: the configured level, else warning]
    #[arg(long, value_enum, value_name = "SEVERITY", help_heading = "Outcome")]
    fail_level: Option<FailLevel>,
    /// Exit with 1 for findings with one of these harms, whatever their severity
    #[arg(
        long,
        value_enum,
        value_name = "HARM,...",
        value_delimiter = ',',
        conflicts_with = "fail_level",
        help_heading = "Outcome"
    )]
    fail_on: Vec<HarmName>,
    /// Exit with 1 if a rule could not judge a resource
    #[arg(long, help_heading = "Outcome")]
    fail_on_unjudged: bool,
    /// Exit with 0 even if there are findings
    #[arg(long, action = ArgAction::SetTrue, help_heading = "Outcome")]
    exit_zero: bool,
    /// Exit with 0 if there is nothing to check
    #[arg(long, help_heading = "Outcome")]
    allow_empty: bool,
    #[command(flatten)]
    fixing: FixArgs,
    /// Report only findings that are new since HEAD branched off this commit or branch
    #[arg(long, value_name = "REF", overrides_with = "since", conflicts_with_all = ["staged", "stdin_filename"], help_heading = "History")]
    since: Option<String>,
    #[command(flatten)]
    baseline: BaselineArgs,
    /// Ignore the suppressions in the files
    #[arg(long, help_heading = "Suppression")]
    no_ignores: bool,
    /// Suppress the printed findings by comments in the files, with this reason
    #[arg(
        long,
        value_name = "REASON",
        value_parser = reason,
        conflicts_with = "no_ignores",
        help_heading = "Suppression"
    )]
    add_ignore: Option<String>,
    #[command(flatten)]
    inputs: InputArgs,
    /// Also compare with what is deployed, as this snapshot lists it
    #[arg(long, value_name = "SNAPSHOT", conflicts_with = "since", help_heading = "Inputs")]
    deployed: Option<PathBuf>,
    #[command(flatten)]
    stdin: StdinArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

/// Parses a reason, which must not be empty.
fn reason(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        return Err("say why the findings may stay");
    }
    if sqslint::suppress::sets_an_end(text) {
        return Err("`until=` belongs into the brackets of the suppression, not into its reason");
    }
    Ok(text.to_owned())
}

impl CheckArgs {
    /// Returns `true` if the text report lists infos: with `--verbose`, or if the flags select rules or levels that
    /// mostly concern infos.
    fn shows_infos(&self) -> bool {
        let is_selected = self.pedantic || !self.select.is_empty();
        let is_level = self.min_severity == Some(Level::Info) || self.fail_level == Some(FailLevel::Info);
        self.verbose || is_selected || is_level
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    Error,
    Warning,
    Info,
}

impl Level {
    fn severity(self) -> Severity {
        match self {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Info => Severity::Info,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailLevel {
    Error,
    Warning,
    Info,
    Never,
}

impl FailLevel {
    /// Converts the level into the library's type.
    fn level(self) -> sqslint::config::FailLevel {
        use sqslint::config::FailLevel::{At, Never};
        match self {
            FailLevel::Error => At(Severity::Error),
            FailLevel::Warning => At(Severity::Warning),
            FailLevel::Info => At(Severity::Info),
            FailLevel::Never => Never,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HarmName {
    /// Work is done twice
    Duplicates,
    /// A message is deleted or expires unseen, or a good one is dead-lettered
    Loss,
    /// A message is never processed, waits, or uses up its receives
    Stuck,
}

impl HarmName {
    /// Converts the harm into the library's type.
    fn harm(self) -> Harm {
        match self {
            HarmName::Duplicates => Harm::Duplicates,
            HarmName::Loss => Harm::Loss,
            HarmName::Stuck => Harm::Stuck,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RulesFormat {
    /// A table for the terminal
    Text,
    /// A list of objects
    Json,
    /// A table for a Markdown page
    Markdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GraphFormat {
    /// Text for people
    Text,
    /// A flowchart that GitHub and GitLab render
    Mermaid,
    /// Graphviz source
    Dot,
    /// A picture
    Svg,
    /// JSON document, version 1
    Json,
}

/// Result of a run, as an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// No finding at or above the fail level.
    Clean = 0,
    /// A finding at or above the fail level.
    Findings = 1,
    /// sqslint could not do its job.
    Failed = 2,
    /// There was nothing to check.
    Nothing = 3,
}

/// Streams that output goes to.
pub(crate) struct Streams<'a> {
    /// Results.
    pub(crate) out: &'a mut dyn Write,
    /// Errors and the summary.
    pub(crate) err: &'a mut dyn Write,
}

impl Streams<'_> {
    /// Reports an error that prevents the run.
    fn refuse(&mut self, message: &str) -> io::Result<Exit> {
        writeln!(self.err, "sqslint: {}", printable(message))?;
        Ok(Exit::Failed)
    }

    /// Reports errors that prevented a part of the run.
    fn tell_errors<'e>(&mut self, errors: impl IntoIterator<Item = &'e String>) -> io::Result<()> {
        errors
            .into_iter()
            .try_for_each(|error| writeln!(self.err, "sqslint: {}", printable_error(error)))
    }
}

/// Adds a suggestion to the error for an unknown command: users of other linters type paths alone, or a command such as
/// `lint`.
pub(crate) fn with_check(mut error: clap::Error) -> clap::Error {
    const OTHERS: [&str; 6] = ["lint", "scan", "test", "run", "validate", "analyze"];
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let path = if OTHERS.contains(&word.as_str()) {
        "."
    } else if source::files::exists(std::path::Path::new(word)) {
        word.as_str()
    } else {
        return error;
    };
    let tip = format!("`sqslint check {path}` checks files and directories");
    error.remove(ContextKind::SuggestedSubcommand);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// Parser for names of rules, categories and sets. Shells complete these names; an unknown name is accepted here and
/// reported later, together with a similar one.
#[derive(Clone)]
struct RuleName;

impl TypedValueParser for RuleName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = sqslint::selection::names(sqslint::rules::Catalogue::BUILT_IN);
        Some(Box::new(names.map(PossibleValue::new)))
    }
}

/// Serves an editor. If the editor exits without a `shutdown` request, the exit code is 1, as the protocol requires.
fn server(streams: &mut Streams<'_>) -> io::Result<Exit> {
    if cfg!(target_family = "wasm") {
        return streams
            .refuse("the language server needs threads, and WebAssembly has none: install the native program");
    }
    match sqslint::server::run() {
        Ok(true) => Ok(Exit::Clean),
        Ok(false) => Ok(Exit::Findings),
        Err(error) => {
            writeln!(streams.err, "sqslint: {error}")?;
            Ok(Exit::Failed)
        }
    }
}

impl Cli {
    /// Runs the command. An error means that output could not be written.
    pub(crate) fn run(self, streams: &mut Streams<'_>) -> io::Result<Exit> {
        match self.command {
            Command::Check(arguments) => check::run(&arguments, streams),
            Command::Review(arguments) => review::run(&arguments, streams),
            Command::Baseline { command } => baseline::run(&command, streams),
            Command::Graph(arguments) => graph::run(&arguments, streams),
            Command::Simulate(arguments) => simulate::run(&arguments, streams),
            Command::Explain(arguments) => explain::run(&arguments, streams),
            Command::Policy { command } => policy::run(&command, streams),
            Command::Config { command } => config::run(&command, streams),
            Command::Server { stdio: _ } => server(streams),
            Command::Snapshot { script: _ } => snapshot::run(streams),
            Command::Init { external, consumers } => config::init(external, consumers, streams),
            Command::Completions { shell } => {
                clap_complete::generate(shell, &mut Cli::command(), "sqslint", streams.out);
                Ok(Exit::Clean)
            }
            Command::Man => manual::render(streams.out).map(|()| Exit::Clean),
            Command::Rules { format, color, config } => rules::list(format, &config, color.is_on(), streams),
        }
    }
}
