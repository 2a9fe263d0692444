//! Reports to standard output, to files, and for GitHub Actions.

use super::{CheckArgs, Streams};
use clap::{Args, ValueEnum};
use sqslint::files::{self, write};
use sqslint::graph::Graph;
use sqslint::report::graph::Marks;
use sqslint::report::graph::topology::{Extent, topologies};
use sqslint::report::{
    Report, checkstyle, concise, github, gitlab, html, human, json, json_lines, junit, links, markdown, printable,
    printable_error, rdjson, sarif, statistics, summary,
};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The width of a report that goes to no terminal.
const WIDTH: usize = 100;

/// The formats of results, and their destinations.
#[derive(Debug, Args)]
pub(super) struct OutputArgs {
    /// How to print findings [default: full, with annotations in GitHub Actions]
    #[arg(
        long,
        value_enum,
        env = "SQSLINT_FORMAT",
        hide_env_values = true,
        help_heading = "Output"
    )]
    pub(super) format: Option<Format>,
    /// Also write a report to a file (repeatable)
    #[arg(long = "report", value_name = "FORMAT=PATH", value_parser = report_to, help_heading = "Output")]
    pub(super) reports: Vec<ReportTo>,
    /// Count findings, and what could not be judged, by rule
    #[arg(long, help_heading = "Output")]
    pub(super) statistics: bool,
    /// Whether to colour; auto: on terminals, unless `NO_COLOR` is set
    #[arg(long, help = "Whether to colour; auto: on terminals, unless NO_COLOR is set", value_enum, default_value_t = When::Auto, value_name = "WHEN", help_heading = "Output")]
    pub(super) color: When,
    /// Whether paths are links; auto: on terminals known to follow them
    #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN", help_heading = "Output")]
    pub(super) hyperlinks: When,
}

/// A format of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people: the places drawn, the arithmetic, what to do
    Full,
    /// A line each: `path:line:column: severity[rule] message`
    Concise,
    /// One object, of the same shape whatever the outcome
    Json,
    /// One record a line, the summary last
    JsonLines,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions, and a table in the step's summary
    Github,
    /// GitLab's Code Quality report
    Gitlab,
    /// `JUnit` XML
    #[value(help = "JUnit XML")]
    Junit,
    /// Checkstyle XML
    Checkstyle,
    /// Reviewdog's diagnostics
    Rdjson,
    /// A pull request's comment
    Markdown,
    /// One self-contained page
    Html,
}

/// Use of what only some terminals understand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

/// A report to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReportTo {
    format: Format,
    path: PathBuf,
}

fn report_to(text: &str) -> Result<ReportTo, String> {
    let Some((format, path)) = text.split_once('=').filter(|(_, path)| !path.is_empty()) else {
        return Err("expected a format and a path, as in sarif=sqslint.sarif".to_owned());
    };
    let Ok(format) = Format::from_str(format, false) else {
        let known = Format::value_variants().iter().filter_map(Format::to_possible_value);
        let names: Vec<String> = known.map(|value| value.get_name().to_owned()).collect();
        return Err(format!(
            "unknown format `{format}`; expected one of {}",
            names.join(", ")
        ));
    };
    if path == "-" {
        return Err("standard output is for `--format`; name a file".to_owned());
    }
    Ok(ReportTo {
        format,
        path: path.into(),
    })
}

/// A file that more than one report would go to.
pub(super) fn written_twice(asked: &OutputArgs) -> Option<&Path> {
    let mut paths = asked.reports.iter().map(|to| to.path.as_path()).enumerate();
    let twice = paths.find(|(at, path)| asked.reports.iter().take(*at).any(|other| other.path == *path));
    twice.map(|(_, path)| path)
}

/// The success of writing what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// All of it.
    Wholly,
    /// A file could not be written, and the user was told.
    Partly,
}

/// Writes the findings, then what there is to say about the run.
pub(super) fn write(
    report: &Report<'_>,
    graph: &Graph,
    arguments: &CheckArgs,
    streams: &mut Streams<'_>,
) -> io::Result<Written> {
    let asked = &arguments.output;
    let actions = std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true");
    // In a workflow nobody needs to ask for annotations.
    let annotates = asked.format.is_none() && actions;
    let format = asked.format.unwrap_or(Format::Full);
    let mut out = BufWriter::new(&mut *streams.out);
    if annotates {
        write_annotated(report, style(arguments), &mut out)?;
    } else {
        write_as(format, report, graph, style(arguments), &mut out)?;
    }
    out.flush()?;
    drop(out);
    for error in report.errors {
        writeln!(streams.err, "sqslint: {}", printable_error(error))?;
    }
    let mut failures: Vec<String> = Vec::new();
    for to in &asked.reports {
        if let Err(error) = save(to, report, graph) {
            failures.push(format!("cannot write `{}`: {error}", to.path.display()));
        }
    }
    if annotates || asked.format == Some(Format::Github) {
        failures.extend(append_step_summary(report).err());
    }
    for failure in &failures {
        writeln!(streams.err, "sqslint: {}", printable(failure))?;
    }
    if asked.statistics {
        streams.err.write_all(statistics::render(report).as_bytes())?;
    }
    if arguments.verbose {
        summary::write_not_evaluated(report, &mut *streams.err)?;
    }
    Ok(if failures.is_empty() {
        Written::Wholly
    } else {
        Written::Partly
    })
}

fn write_as(
    format: Format,
    report: &Report<'_>,
    graph: &Graph,
    style: human::Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let drawings = || topologies(graph, &Marks::new(report.findings), Extent::Queues);
    match format {
        Format::Full => human::write(report, style, out),
        Format::Concise => concise::write(report, style.links, out),
        Format::Json => json::write(report, out),
        Format::JsonLines => json_lines::write(report, out),
        Format::Sarif => sarif::write(report, out),
        Format::Github => github::write(report, out),
        Format::Gitlab => gitlab::write(report, out),
        Format::Junit => junit::write(report, out),
        Format::Checkstyle => checkstyle::write(report, out),
        Format::Rdjson => rdjson::write(report, out),
        Format::Markdown => markdown::write(report, &drawings(), out),
        Format::Html => html::write(report, &drawings(), &origin(report), out),
    }
}

/// What a page says of where it comes from.
fn origin(report: &Report<'_>) -> html::Origin {
    let here = std::env::current_dir().ok();
    let root = report.sources.repository().map(Path::to_owned).or(here);
    let project = root.as_deref().and_then(Path::file_name);
    html::Origin {
        project: project.map(|name| name.to_string_lossy().into_owned()),
        commit: report.sources.repository().and_then(sqslint::history::head),
        day: sqslint::suppress::Day::today().to_string(),
    }
}

/// The full report, in which no line is taken for a command, and then the commands.
fn write_annotated(report: &Report<'_>, style: human::Style, out: &mut dyn Write) -> io::Result<()> {
    // Nobody who writes a file can know it beforehand.
    let token = format!("sqslint-{:016x}", RandomState::new().hash_one(std::process::id()));
    writeln!(out, "::stop-commands::{token}")?;
    human::write(report, style, out)?;
    writeln!(out, "::{token}::")?;
    github::write(report, out)
}

/// A report takes the place of no file that it reports on.
fn save(to: &ReportTo, report: &Report<'_>, graph: &Graph) -> Result<(), String> {
    if files::real(&to.path).is_ok_and(|real| report.sources.find(&real).is_some()) {
        return Err("it is one of the files that are checked".to_owned());
    }
    let mut fill = |file: &mut dyn Write| write_as(to.format, report, graph, PLAIN, file);
    write::save_by(&to.path, &mut fill).map_err(|refusal| refusal.to_string())
}

fn append_step_summary(report: &Report<'_>) -> Result<(), String> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let text = github::step_summary(report);
    write::append(Path::new(&path), &text).map_err(|error| format!("cannot write the step's summary: {error}"))
}

/// The look of a report in a file.
const PLAIN: human::Style = human::Style {
    width: WIDTH,
    color: false,
    unicode: true,
    graphics: true,
    links: false,
    infos: true,
};

/// The look of a report on the terminal, or where output goes instead.
fn style(arguments: &CheckArgs) -> human::Style {
    let asked = &arguments.output;
    let stdout = io::stdout();
    human::Style {
        width: width().unwrap_or(WIDTH),
        color: decided(asked.color, is_coloured),
        unicode: shows_unicode(),
        graphics: std::env::var_os("NO_GRAPHICS").is_none_or(|value| value.is_empty() || value == "0"),
        links: decided(asked.hyperlinks, || {
            stdout.is_terminal() && links::are_supported(|name| std::env::var(name).ok())
        }),
        infos: arguments.shows_infos(),
    }
}

/// The width of the terminal that standard output is.
pub(super) fn width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// Whether standard output is coloured where no flag says.
pub(super) fn is_coloured() -> bool {
    let stdout = io::stdout();
    anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never && forced_or_terminal(&stdout)
}

fn decided(asked: When, by_itself: impl FnOnce() -> bool) -> bool {
    match asked {
        When::Always => true,
        When::Never => false,
        When::Auto => by_itself(),
    }
}

/// `CLICOLOR_FORCE` colours pipes too.
fn forced_or_terminal(stdout: &io::Stdout) -> bool {
    let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    forced || stdout.is_terminal()
}

/// Returns true if the locale uses UTF-8; Windows terminals have for long.
fn shows_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty());
    cfg!(windows)
        || locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        })
}
