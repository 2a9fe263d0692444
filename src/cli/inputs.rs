//! What is given beside files and directories: values for variables and parameters.

use super::variables::Variables;
use clap::Args;
use sqslint::given::{Given, Parameters};

/// Values that do not stand in the files.
#[derive(Debug, Args)]
pub(super) struct InputArgs {
    #[command(flatten)]
    variables: Variables,
    /// Give a template's parameter a value, or several by a file as AWS's tools write it (JSON, YAML, samconfig.toml)
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
