//! Renders `sqslint man`: one page for the program and all its commands, generated from the definition of the command
//! line.

use super::Cli;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::io::{self, Write};

/// Sections that cannot be generated from the definition of the command line.
const REST: &str = r#".SH "EXIT STATUS"
.TP
0
nothing at or above the fail level
.TP
1
at least one finding at or above it
.TP
2
sqslint could not do its job
.TP
3
nothing to check
.SH ENVIRONMENT
.TP
SQSLINT_FORMAT
a format instead of \-\-format
.TP
SQSLINT_CONFIG
a file, or one key, instead of \-\-config
.TP
NO_COLOR, CLICOLOR_FORCE
never colour; colour in pipes, too
.TP
NO_GRAPHICS
prose instead of drawings
.TP
SOURCE_DATE_EPOCH
the day that the ends of suppressions are compared with
.SH FILES
.TP
sqslint.toml, .sqslint.toml
settings; the nearest one above a file applies to it
.TP
\&.sqslint-baseline.json
known findings, at the root of the repository
"#;

/// Writes the page as roff.
pub(super) fn render(out: &mut dyn Write) -> io::Result<()> {
    let mut command = Cli::command();
    command.build();
    let page = Man::new(command.clone());
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    for command in command.get_subcommands() {
        parts(command, out)?;
    }
    out.write_all(REST.as_bytes())?;
    page.render_version_section(out)
}

/// Writes a section for `command`, or one for each of its subcommands.
fn parts(command: &Command, out: &mut dyn Write) -> io::Result<()> {
    if command.get_name() == "help" {
        return Ok(());
    }
    if command.has_subcommands() {
        return command.get_subcommands().try_for_each(|one| parts(one, out));
    }
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_uppercase();
    writeln!(out, ".SH \"{name}\"")?;
    // Flags that every command has are not repeated in each section.
    let mut own = command.clone();
    for flag in ["help", "version"] {
        if own.get_arguments().any(|argument| argument.get_id() == flag) {
            own = own.mut_arg(flag, |argument| argument.hide(true));
        }
    }
    let part = Man::new(own);
    let mut text = Vec::new();
    part.render_description_section(&mut text)?;
    part.render_synopsis_section(&mut text)?;
    part.render_options_section(&mut text)?;
    let text = String::from_utf8_lossy(&text).replace(".SH DESCRIPTION\n", "");
    out.write_all(text.replace(".SH ", ".SS ").as_bytes())
}
