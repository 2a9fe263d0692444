//! Defines the inputs: files and directories, standard input, and values for variables and parameters.

use super::config::ConfigArgs;
use super::variables::Variables;
use clap::Args;
use sqslint::history::concerns_whole_project;
use sqslint::inputs::{Inputs, Parameters};
use sqslint::{Options, Stdin};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Values that are not in the files.
#[derive(Debug, Args)]
pub(super) struct InputArgs {
    /// Judge only these environments, declared or found; `default` is the run without one (repeatable)
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "Inputs")]
    environment: Vec<String>,
    #[command(flatten)]
    variables: Variables,
    /// Set a parameter of templates, or several from a file in a format of AWS's tools: JSON, YAML, samconfig.toml
    /// (repeatable)
    #[arg(long, value_name = "NAME=VALUE|FILE", value_parser = parameters, help_heading = "Inputs")]
    parameters: Vec<Parameters>,
    /// Also read the units that staged changes touch, including deleted and renamed files
    #[arg(long, help_heading = "Inputs")]
    staged: bool,
    /// Also read what git ignores
    #[arg(long, help_heading = "Inputs")]
    no_gitignore: bool,
    /// Skip what is excluded even if it is named
    #[arg(long, help_heading = "Inputs")]
    force_exclude: bool,
}

/// Standard input in place of a file.
#[derive(Debug, Args)]
pub(super) struct StdinArgs {
    /// Read this file from standard input, and its neighbours from disk
    #[arg(long, value_name = "PATH", help_heading = "Inputs")]
    stdin_filename: Option<PathBuf>,
}

impl InputArgs {
    /// Returns the path to read if none is named.
    pub(super) fn otherwise(&self) -> Option<PathBuf> {
        let here = PathBuf::from(".");
        (!self.staged || concerns_whole_project(&here)).then_some(here)
    }

    /// Returns the options for these inputs and `config`, without paths.
    pub(super) fn options(&self, config: &ConfigArgs) -> Options {
        Options {
            inputs: Inputs {
                variables: self.variables.0.clone(),
                parameters: self.parameters.clone(),
                ..Inputs::default()
            },
            environments: self.environment.clone(),
            config: config.source(),
            staged: self.staged,
            force_exclude: self.force_exclude,
            no_gitignore: self.no_gitignore,
            ..Options::default()
        }
    }
}

// clap requires a fallible function.
#[allow(clippy::unnecessary_wraps)]
fn parameters(text: &str) -> Result<Parameters, std::convert::Infallible> {
    Ok(Parameters::from(text))
}

/// Maximum size of standard input, in bytes.
const LARGEST: u64 = 64 << 20;

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns `true` if standard input is to be read.
pub(super) fn asks_for_stdin(paths: &[PathBuf], stdin: &StdinArgs) -> bool {
    paths.iter().any(|path| is_stdin(path)) || (paths.is_empty() && stdin.stdin_filename.is_some())
}

/// Returns the paths to read, or `otherwise` without any, and the contents of standard input if requested.
pub(super) fn chosen(
    paths: &[PathBuf],
    stdin: &StdinArgs,
    otherwise: Option<PathBuf>,
) -> Result<(Vec<PathBuf>, Option<Stdin>), String> {
    let mut named = paths.to_vec();
    named.retain(|path| !is_stdin(path));
    if !asks_for_stdin(paths, stdin) {
        if stdin.stdin_filename.is_some() {
            return Err("`--stdin-filename` needs `-` among the paths".to_owned());
        }
        if named.is_empty() {
            named.extend(otherwise);
        }
        return Ok((named, None));
    }
    let mut text = String::new();
    let read = io::stdin().lock().take(LARGEST + 1).read_to_string(&mut text);
    match read {
        Ok(read) if u64::try_from(read).is_ok_and(|read| read > LARGEST) => {
            Err("standard input: it is larger than 64 MiB".to_owned())
        }
        Ok(_) => {
            let path = stdin.stdin_filename.clone();
            Ok((named, Some(Stdin { text, path })))
        }
        Err(error) => Err(format!("standard input: {error}")),
    }
}
