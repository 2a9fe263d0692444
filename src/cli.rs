//! The command line: what may be typed, what it means, and which exit code says how it went.
//!
//! Everything is written into the streams that `main` hands over; nothing here opens or reads a file.

mod baseline;
mod check;
mod config;
mod explain;
mod fixing;
mod graph;
mod inputs;
mod manual;
mod output;
mod rules;
mod variables;

use baseline::{BaselineArgs, BaselineCommand};
use clap::{ArgAction, ArgGroup, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use config::{ConfigArgs, ConfigCommand};
use explain::ExplainArgs;
use fixing::FixArgs;
use inputs::InputArgs;
use output::OutputArgs;
use sqslint::diagnostic::Severity;
use std::io::{self, Write};
use std::path::PathBuf;

/// What may be typed.
#[derive(Debug, Parser)]
#[command(name = "sqslint", version, about = env!("CARGO_PKG_DESCRIPTION"), long_about = None, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Lint files and directories
    Check(CheckArgs),
    /// Print the page of a rule, or what is known of a line and who judged it
    Explain(ExplainArgs),
    /// Keep the findings of today from failing runs
    Baseline {
        #[command(subcommand)]
        command: BaselineCommand,
    },
    /// Print queues, functions and event source mappings as they were understood
    Graph(GraphArgs),
    /// Print the settings, their file, or their schema
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Write a commented sqslint.toml
    Init,
    /// Print completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, as roff
    Man,
    /// List the rules
    Rules {
        /// How to list them
        #[arg(long, value_enum, default_value_t = RulesFormat::Text)]
        format: RulesFormat,
    },
}

#[derive(Debug, Args)]
struct GraphArgs {
    /// Files and directories
    #[arg(default_value = ".")]
    paths: Vec<PathBuf>,
    /// How to print them
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    format: GraphFormat,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// Nothing to print is no failure
    #[arg(long)]
    allow_empty: bool,
}

// Flags that may be combined at will are no state machine.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("fixing").args(["fix", "diff"]).multiple(true),
    after_help = "Exit codes: 0 nothing at or above the fail level, 1 findings, 2 sqslint could not do its \
                        job, 3 nothing to check"
)]
struct CheckArgs {
    /// Files and directories, `-` for standard input [default: `.`, or with --staged nothing else]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// Pass over what is excluded even where it is named
    #[arg(long, help_heading = "Inputs")]
    force_exclude: bool,
    /// Also check the units that the staged changes touch, deleted and renamed files too
    #[arg(long, help_heading = "Inputs")]
    staged: bool,
    /// Read this file from standard input in place of the disk, among its neighbours
    #[arg(long, value_name = "PATH", help_heading = "Inputs")]
    stdin_filename: Option<PathBuf>,
    /// Also check what git ignores
    #[arg(long, help_heading = "Inputs")]
    no_gitignore: bool,
    /// Report only what is new since this commit or branch and HEAD parted
    #[arg(long, value_name = "REF", conflicts_with_all = ["staged", "stdin_filename"], help_heading = "History")]
    since: Option<String>,
    #[command(flatten)]
    baseline: BaselineArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Print findings and errors only, no summary
    #[arg(long, short, conflicts_with = "verbose", help_heading = "Output")]
    quiet: bool,
    /// Also list what could not be judged, and why
    #[arg(long, short, help_heading = "Output")]
    verbose: bool,
    /// Run these rules, categories or sets (default, pedantic, all) instead of the default set
    #[arg(long, value_name = "RULE,…", value_delimiter = ',', help_heading = "Selection")]
    select: Vec<String>,
    /// Do not run these rules, categories or sets
    #[arg(long, value_name = "RULE,…", value_delimiter = ',', help_heading = "Selection")]
    ignore: Vec<String>,
    /// Also run the rules that not every team wants
    #[arg(long, help_heading = "Selection")]
    pedantic: bool,
    /// Leave out findings below this severity
    #[arg(long, value_enum, default_value_t = Level::Info, value_name = "SEVERITY", help_heading = "Selection")]
    min_severity: Level,
    /// Exit with 1 for findings of this severity or above [default: warning, or what the configuration says]
    #[arg(long, value_enum, value_name = "SEVERITY", help_heading = "Outcome")]
    fail_level: Option<FailLevel>,
    #[command(flatten)]
    fixing: FixArgs,
    /// Pass over suppressions in the files
    #[arg(long, help_heading = "Suppression")]
    no_ignores: bool,
    /// Write suppressions for all findings into the files, with this reason
    #[arg(
        long,
        value_name = "REASON",
        value_parser = reason,
        conflicts_with = "no_ignores",
        help_heading = "Suppression"
    )]
    add_ignore: Option<String>,
    /// List what suppressions, a baseline or --since leave out as well, in formats that can say so
    #[arg(long, help_heading = "Output")]
    show_suppressed: bool,
    /// Exit with 0 whatever the findings
    #[arg(long, action = ArgAction::SetTrue, help_heading = "Outcome")]
    exit_zero: bool,
    /// Nothing to check is no failure
    #[arg(long, help_heading = "Outcome")]
    allow_empty: bool,
}

/// A reason that says something.
fn reason(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        return Err("say why the findings are none");
    }
    Ok(text.to_owned())
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
    /// As the library takes it.
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
enum RulesFormat {
    /// A table for the terminal
    Text,
    /// A list of objects
    Json,
    /// A table for a page
    Markdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GraphFormat {
    /// For people
    Text,
    /// A flowchart that GitHub and GitLab draw
    Mermaid,
    /// For Graphviz
    Dot,
    /// A picture
    Svg,
    /// Version 1 of the document
    Json,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Nothing at or above the fail level.
    Clean = 0,
    /// A finding at or above the fail level.
    Findings = 1,
    /// sqslint could not do its job.
    Failed = 2,
    /// There was nothing to check.
    Nothing = 3,
}

/// Where output goes.
pub(crate) struct Streams<'a> {
    /// Results.
    pub(crate) out: &'a mut dyn Write,
    /// What went wrong, and the summary.
    pub(crate) err: &'a mut dyn Write,
}

impl Cli {
    /// Does what was asked. An error is one of writing.
    pub(crate) fn run(self, streams: &mut Streams<'_>) -> io::Result<Exit> {
        match self.command {
            Command::Check(arguments) => check::run(&arguments, streams),
            Command::Baseline { command } => baseline::run(&command, streams),
            Command::Graph(arguments) => graph::run(&arguments, streams),
            Command::Explain(arguments) => explain::run(&arguments, streams),
            Command::Config { command } => config::run(&command, streams),
            Command::Init => config::init(streams),
            Command::Completions { shell } => {
                clap_complete::generate(shell, &mut Cli::command(), "sqslint", streams.out);
                Ok(Exit::Clean)
            }
            Command::Man => manual::render(streams.out).map(|()| Exit::Clean),
            Command::Rules { format } => rules::list(format, streams),
        }
    }
}
