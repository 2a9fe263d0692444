//! Runs `sqslint policy`: tests a team's own rules on their snippets, and prints a template for a new rule.

use super::config::{ConfigArgs, with_config};
use super::{Exit, Streams};
use clap::Subcommand;
use sqslint::config::{Config, packs};
use sqslint::report::{counted, printable};
use sqslint::{Trial, try_policy};
use std::io;
use std::path::PathBuf;

/// Template that `sqslint policy new` prints.
const TEMPLATE: &str = include_str!("policy/template.toml");

#[derive(Debug, Subcommand)]
pub(super) enum PolicyCommand {
    /// Test each policy on its own snippets
    Test {
        /// A file or directory that the policies apply to
        #[arg(default_value = ".")]
        path: PathBuf,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// List the packs of policies that `packs = ["NAME"]` in a configuration adds
    Packs,
    /// Print a template for a policy, as TOML
    New {
        /// Its id, in kebab-case
        id: String,
    },
}

pub(super) fn run(command: &PolicyCommand, streams: &mut Streams<'_>) -> io::Result<Exit> {
    match command {
        PolicyCommand::Test { path, config } => with_config(path, config, streams, test),
        PolicyCommand::Packs => list_packs(streams),
        PolicyCommand::New { id } => {
            let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if id.is_empty() || !id.chars().all(is_part) {
                let message = format!("`{id}` is not an id; write it in kebab-case, as in `orders-keep-fourteen-days`");
                return streams.refuse(&message);
            }
            streams.out.write_all(TEMPLATE.replace("{id}", id).as_bytes())?;
            Ok(Exit::Clean)
        }
    }
}

fn list_packs(streams: &mut Streams<'_>) -> io::Result<Exit> {
    for pack in packs::all() {
        writeln!(streams.out, "{}", pack.name)?;
        for policy in pack.policies().unwrap_or_default() {
            let definition = policy.definition();
            let target = definition.target.name();
            writeln!(streams.out, "  {:<32} a {target} {}", definition.id, definition.message)?;
        }
    }
    Ok(Exit::Clean)
}

fn test(config: &Config, streams: &mut Streams<'_>) -> io::Result<Exit> {
    if config.policies.is_empty() {
        writeln!(
            streams.err,
            "sqslint: there are no policies; `sqslint policy new ID` prints one to begin with"
        )?;
        return Ok(Exit::Nothing);
    }
    let (mut tests, mut failed) = (0, 0);
    for policy in &config.policies {
        let id = policy.rule().id;
        writeln!(streams.out, "{id}")?;
        if policy.definition().examples.is_empty() {
            writeln!(streams.out, "  no tests")?;
        }
        let trials = match try_policy(policy) {
            Ok(trials) => trials,
            Err(error) => {
                writeln!(
                    streams.err,
                    "sqslint: the snippets of `{id}` cannot be written: {error}"
                )?;
                return Ok(Exit::Failed);
            }
        };
        for (at, trial) in trials.iter().enumerate() {
            tests += 1;
            failed += usize::from(!trial.is_as_expected());
            print_trial(at, trial, streams)?;
        }
    }
    let policies = match config.policies.len() {
        1 => "1 policy".to_owned(),
        count => format!("{count} policies"),
    };
    writeln!(streams.out, "\n{policies}, {}, {failed} failed", counted(tests, "test"))?;
    Ok(if failed > 0 { Exit::Findings } else { Exit::Clean })
}

fn print_trial(at: usize, trial: &Trial<'_>, streams: &mut Streams<'_>) -> io::Result<()> {
    let example = trial.example;
    let name = example.name.clone().unwrap_or_else(|| format!("test {}", at + 1));
    let found = counted(trial.findings.len(), "finding");
    let name = printable(&name);
    if trial.is_as_expected() {
        return writeln!(streams.out, "  ok      {name}: {found}");
    }
    writeln!(
        streams.out,
        "  failed  {name}: {found} and {} not judged, expected {} and {}",
        trial.not_judged.len(),
        example.findings,
        example.not_judged
    )?;
    for line in trial.errors.iter().chain(&trial.findings).chain(&trial.not_judged) {
        writeln!(streams.out, "            {}", printable(line))?;
    }
    Ok(())
}
