//! Parses `--var` and `--var-file`, whose order on the command line is their order of precedence, as in Terraform. This
//! module reads no file.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use sqslint::inputs::Variable;
use std::path::PathBuf;

const VALUE: &str = "var";
const FILE: &str = "var_file";

/// Values for variables, in the order of the command line.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables(pub(super) Vec<Variable>);

impl FromArgMatches for Variables {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut found: Vec<(usize, Variable)> = Vec::new();
        let places = matches.indices_of(VALUE).into_iter().flatten();
        let values = matches.get_many::<String>(VALUE).into_iter().flatten();
        found.extend(places.zip(values.cloned().map(Variable::Assignment)));
        let places = matches.indices_of(FILE).into_iter().flatten();
        let files = matches.get_many::<PathBuf>(FILE).into_iter().flatten();
        found.extend(places.zip(files.cloned().map(Variable::File)));
        found.sort_by_key(|(place, _)| *place);
        Ok(Variables(found.into_iter().map(|(_, variable)| variable).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Variables::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Variables {
    fn augment_args(command: Command) -> Command {
        let value = Arg::new(VALUE)
            .long("var")
            .value_name("NAME=VALUE")
            .help("Set a variable of Terraform root modules (repeatable)")
            .action(ArgAction::Append)
            .help_heading("Inputs");
        let file = Arg::new(FILE)
            .long("var-file")
            .value_name("FILE")
            .help("Set variables from a file: *.tfvars, *.tfvars.json (repeatable)")
            .value_parser(value_parser!(PathBuf))
            .action(ArgAction::Append)
            .help_heading("Inputs");
        command.arg(value).arg(file)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Variables::augment_args(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        variables: Variables,
    }

    #[test]
    fn order_on_the_command_line_is_kept() {
        let line = ["x", "--var", "a=1", "--var-file", "f", "--var=b=2=3", "--var-file=g"];
        let assigned = |text: &str| Variable::Assignment(text.to_owned());
        assert_eq!(
            Line::parse_from(line).variables.0,
            [
                assigned("a=1"),
                Variable::File("f".into()),
                assigned("b=2=3"),
                Variable::File("g".into())
            ]
        );
    }
}
