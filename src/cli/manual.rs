//! `sqslint man`: one page for the program and its commands, from what the command line knows of itself.

use super::Cli;
use clap::CommandFactory;
use clap_mangen::Man;
use std::io::{self, Write};

/// Writes the page as roff.
pub(super) fn render(out: &mut dyn Write) -> io::Result<()> {
    let mut command = Cli::command();
    command.build();
    let page = Man::new(command.clone());
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = command.get_name().to_uppercase();
        writeln!(out, ".SH \"SQSLINT {name}\"")?;
        let part = Man::new(command.clone());
        part.render_synopsis_section(out)?;
        part.render_description_section(out)?;
        part.render_options_section(out)?;
    }
    writeln!(out, ".SH \"EXIT STATUS\"")?;
    let codes = [
        ("0", "nothing at or above the fail level"),
        ("1", "at least one finding at or above it"),
        ("2", "sqslint could not do its job"),
        ("3", "nothing to check"),
    ];
    for (code, meaning) in codes {
        writeln!(out, ".TP\n{code}\n{meaning}")?;
    }
    page.render_version_section(out)
}
