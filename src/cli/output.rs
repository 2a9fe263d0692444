//! Writes reports to standard output, to files, and for GitHub Actions.

use super::{CheckArgs, Streams};
use clap::{Args, ValueEnum};
use source::files::{self, write};
use sqslint::diagnostic::Severity;
use sqslint::graph::Graph;
use sqslint::report::graph::Marks;
use sqslint::report::graph::topology::{Extent, topologies};
use sqslint::report::{
    Report, checkstyle, concise, github, gitlab, html, human, json, json_lines, junit, links, markdown, printable,
    sarif, statistics, summary,
};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Width of a report that does not go to a terminal.
const WIDTH: usize = 100;

/// Flags for the formats of the reports and where to write them.
#[derive(Debug, Args)]
pub(super) struct OutputArgs {
    /// Output format [default: full, with annotations in GitHub Actions]
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
    /// Count findings and unjudged resources by rule
    #[arg(long, help_heading = "Output")]
    pub(super) statistics: bool,
    #[command(flatten)]
    pub(super) color: ColorArgs,
    /// Print paths as links; auto: on terminals known to support them
    #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN", help_heading = "Output")]
    pub(super) hyperlinks: When,
}

/// Flag for colours.
#[derive(Debug, Args)]
pub(super) struct ColorArgs {
    /// Colour the output; auto: on terminals, unless `NO_COLOR` is set
    #[arg(long, help = "Colour the output; auto: on terminals, unless NO_COLOR is set", value_enum, default_value_t = When::Auto, value_name = "WHEN", help_heading = "Output")]
    color: When,
}

impl ColorArgs {
    /// Returns `true` if standard output is coloured.
    pub(super) fn is_on(&self) -> bool {
        decided(self.color, is_coloured)
    }
}

/// Format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text for people: the lines concerned, the arithmetic, the advice
    Full,
    /// A line per finding: `path:line:column: severity[rule] message`
    Concise,
    /// A single object, whose shape does not depend on the outcome
    Json,
    /// A JSON record per line, the summary last
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
    /// A comment for a pull request
    Markdown,
    /// A single self-contained page
    Html,
}

/// Condition under which to use an optional feature of terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

/// Format and path of a report that is written to a file.
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

/// Returns a path that more than one report would be written to.
pub(super) fn written_twice(requested: &OutputArgs) -> Option<&Path> {
    let mut paths = requested.reports.iter().map(|to| to.path.as_path()).enumerate();
    let twice = paths.find(|(at, path)| requested.reports.iter().take(*at).any(|other| other.path == *path));
    twice.map(|(_, path)| path)
}

/// Returns an error for the first report that may not be written to its path. Only a report of the same format is
/// replaced, so that a wrong path costs no other file.
pub(super) fn refused(requested: &OutputArgs) -> Option<String> {
    let refusal = |to: &ReportTo| {
        let why = match write::target(&to.path) {
            Ok(target) if files::is_file(&target) && !to.format.is_of(&target) => {
                "it exists and is not a report of this format".to_owned()
            }
            Ok(_) => return None,
            Err(refusal) => refusal.to_string(),
        };
        Some(format!("cannot write `{}`: {why}", to.path.display()))
    };
    requested.reports.iter().find_map(refusal)
}

impl Format {
    /// Returns `true` if the file is empty or begins like a report of this format, apart from white space.
    fn is_of(self, file: &Path) -> bool {
        const HEAD: u64 = 4 << 10;
        let Ok(mut head) = files::head(file, HEAD) else {
            return false;
        };
        head.retain(|byte| !byte.is_ascii_whitespace());
        let head = String::from_utf8_lossy(&head);
        let begins = |openings: &[&str]| openings.iter().any(|opening| head.starts_with(opening));
        let begins = match self {
            Format::Full | Format::Concise => {
                let parts = ["error[", "warning[", "info[", "notshown;`--verbose`"];
                parts.iter().any(|part| head.contains(part))
            }
            Format::Json => begins(&["{\"version\":1,\"tool\":{\"name\":\"sqslint\""]),
            Format::JsonLines => begins(&["{\"type\":\""]),
            Format::Sarif => begins(&["{\"$schema\":\"https://docs.oasis-open.org/sarif/"]),
            Format::Github => begins(&["::error", "::warning", "::notice"]),
            Format::Gitlab => begins(&["[]", "[{\"description\":"]),
            Format::Junit => begins(&["<?xmlversion=\"1.0\"encoding=\"UTF-8\"?><testsuites"]),
            Format::Checkstyle => begins(&["<?xmlversion=\"1.0\"encoding=\"UTF-8\"?><checkstyle"]),
            Format::Markdown => begins(&["##sqslint"]),
            Format::Html => begins(&["<!DOCTYPEhtml>"]) && head.contains("<title>sqslint"),
        };
        begins || head.is_empty()
    }
}

/// Success of writing the requested reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteResult {
    /// Every report was written.
    Complete,
    /// A file could not be written; the error has been reported.
    Incomplete,
}

/// Returns `true` if annotations follow the full report: in a GitHub workflow that sets no format.
fn annotates(requested: &OutputArgs) -> bool {
    requested.format.is_none() && std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true")
}

/// Returns the lowest severity that any report of the run shows.
pub(super) fn least_printed(arguments: &CheckArgs) -> Severity {
    let requested = &arguments.output;
    // Only the full report on standard output hides infos.
    let is_full =
        matches!(requested.format, None | Some(Format::Full)) && !annotates(requested) && requested.reports.is_empty();
    if is_full && !arguments.shows_infos() {
        Severity::Warning
    } else {
        Severity::Info
    }
}

/// Writes the findings, then the notes on the run.
pub(super) fn write(
    report: &Report<'_>,
    graph: &Graph,
    arguments: &CheckArgs,
    streams: &mut Streams<'_>,
) -> io::Result<WriteResult> {
    let requested = &arguments.output;
    let annotates = annotates(requested);
    let format = requested.format.unwrap_or(Format::Full);
    let mut out = BufWriter::new(&mut *streams.out);
    if annotates {
        write_annotated(report, style(arguments), &mut out)?;
    } else {
        write_as(format, report, graph, style(arguments), &mut out)?;
    }
    out.flush()?;
    drop(out);
    streams.tell_errors(report.errors)?;
    let mut failures: Vec<String> = Vec::new();
    for to in &requested.reports {
        if let Err(error) = save(to, report, graph) {
            failures.push(format!("cannot write `{}`: {error}", to.path.display()));
        }
    }
    if annotates || requested.format == Some(Format::Github) {
        failures.extend(append_step_summary(report).err());
    }
    for failure in &failures {
        writeln!(streams.err, "sqslint: {}", printable(failure))?;
    }
    if requested.statistics {
        streams.err.write_all(statistics::render(report).as_bytes())?;
    }
    if arguments.verbose {
        summary::write_not_evaluated(report, &mut *streams.err)?;
    }
    Ok(if failures.is_empty() {
        WriteResult::Complete
    } else {
        WriteResult::Incomplete
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
        Format::JsonLines => json_lines::write(report, &origin(report), out),
        Format::Sarif => sarif::write(report, out),
        Format::Github => github::write(report, out),
        Format::Gitlab => gitlab::write(report, out),
        Format::Junit => junit::write(report, out),
        Format::Checkstyle => checkstyle::write(report, out),
        Format::Markdown => markdown::write(report, &drawings(), out),
        Format::Html => html::write(report, &drawings(), &origin(report), out),
    }
}

/// Returns the origin that an HTML page and JSON records state. It is the same in every clone, and on every day.
fn origin(report: &Report<'_>) -> html::Origin {
    let root = report.sources.repository();
    html::Origin {
        repository: root.and_then(sqslint::history::repository_name),
        commit: root.and_then(sqslint::history::head),
    }
}

/// Writes the full report in a form that GitHub does not interpret as workflow commands, and then the actual commands.
fn write_annotated(report: &Report<'_>, style: human::Style, out: &mut dyn Write) -> io::Result<()> {
    // A random token, which the author of a linted file cannot predict.
    let token = format!("sqslint-{:016x}", RandomState::new().hash_one("sqslint"));
    writeln!(out, "::stop-commands::{token}")?;
    human::write(report, style, out)?;
    writeln!(out, "::{token}::")?;
    github::write(report, out)
}

/// Saves a report to a file, unless that file is one of those being checked.
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

/// Style of a report in a file.
const PLAIN: human::Style = human::Style {
    width: WIDTH,
    color: false,
    unicode: true,
    graphics: true,
    links: false,
    infos: true,
};

/// Returns the style of a report on standard output.
fn style(arguments: &CheckArgs) -> human::Style {
    let requested = &arguments.output;
    let stdout = io::stdout();
    human::Style {
        width: width().unwrap_or(WIDTH),
        color: requested.color.is_on(),
        unicode: shows_unicode(),
        graphics: std::env::var_os("NO_GRAPHICS").is_none_or(|value| value.is_empty() || value == "0"),
        links: decided(requested.hyperlinks, || {
            stdout.is_terminal() && links::are_supported(|name| std::env::var(name).ok())
        }),
        infos: arguments.shows_infos(),
    }
}

/// Returns the width of the terminal, if standard output is one.
pub(super) fn width() -> Option<usize> {
    terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0))
}

#[cfg(not(target_family = "wasm"))]
pub(super) use terminal_size::terminal_size_of;

/// Returns the size of a terminal. WebAssembly cannot query it, so its launcher sets `COLUMNS`.
#[cfg(target_family = "wasm")]
pub(super) fn terminal_size_of(stream: impl IsTerminal) -> Option<(terminal_size::Width, ())> {
    let columns = std::env::var("COLUMNS").ok().filter(|_| stream.is_terminal())?;
    Some((terminal_size::Width(columns.parse().ok()?), ()))
}

/// Returns `true` if standard output is coloured by default.
fn is_coloured() -> bool {
    let stdout = io::stdout();
    anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never && forced_or_terminal(&stdout)
}

fn decided(requested: When, by_itself: impl FnOnce() -> bool) -> bool {
    match requested {
        When::Always => true,
        When::Never => false,
        When::Auto => by_itself(),
    }
}

/// Returns `true` for a terminal, or if `CLICOLOR_FORCE` requests colours in pipes, too.
fn forced_or_terminal(stdout: &io::Stdout) -> bool {
    let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    forced || stdout.is_terminal()
}

/// Returns `true` if the locale uses UTF-8. Windows terminals always support it.
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
