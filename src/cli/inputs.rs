//! What is read: files and directories, standard input, and values for variables and parameters.

use super::CheckArgs;
use super::variables::Variables;
use clap::Args;
use sqslint::Stdin;
use sqslint::given::{Given, Parameters};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Values that do not stand in the files.
#[derive(Debug, Args)]
pub(super) struct InputArgs {
    #[command(flatten)]
    variables: Variables,
    /// Set a parameter of templates, or several from a file as AWS's tools write it: JSON, YAML, samconfig.toml
    /// (repeatable)
    #[arg(long, value_name = "NAME=VALUE|FILE", value_parser = parameters, help_heading = "Inputs")]
    parameters: Vec<Parameters>,
}

impl InputArgs {
    /// As the library takes it.
    pub(super) fn given(&self) -> Given {
        Given {
            variables: self.variables.0.clone(),
            parameters: self.parameters.clone(),
            ..Given::default()
        }
    }
}

// clap wants a function that can fail.
#[allow(clippy::unnecessary_wraps)]
fn parameters(text: &str) -> Result<Parameters, std::convert::Infallible> {
    Ok(Parameters::from(text))
}

/// The largest text that is read from standard input.
const LARGEST: u64 = 64 << 20;

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether standard input is to be read.
pub(super) fn asks_for_stdin(arguments: &CheckArgs) -> bool {
    let paths = &arguments.paths;
    paths.iter().any(|path| is_stdin(path)) || (paths.is_empty() && arguments.stdin_filename.is_some())
}

/// What is to be read: the paths, and standard input where it is asked for.
pub(super) fn chosen(arguments: &CheckArgs) -> Result<(Vec<PathBuf>, Option<Stdin>), String> {
    let mut paths = arguments.paths.clone();
    paths.retain(|path| !is_stdin(path));
    if !asks_for_stdin(arguments) {
        if arguments.stdin_filename.is_some() {
            return Err("`--stdin-filename` needs `-` among the paths".to_owned());
        }
        if paths.is_empty() && !arguments.staged {
            paths.push(PathBuf::from("."));
        }
        return Ok((paths, None));
    }
    let mut text = String::new();
    let read = io::stdin().lock().take(LARGEST + 1).read_to_string(&mut text);
    match read {
        Ok(read) if u64::try_from(read).is_ok_and(|read| read > LARGEST) => {
            Err("standard input: it is larger than 64 MiB".to_owned())
        }
        Ok(_) => {
            let path = arguments.stdin_filename.clone();
            Ok((paths, Some(Stdin { text, path })))
        }
        Err(error) => Err(format!("standard input: {error}")),
    }
}
