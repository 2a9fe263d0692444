//! Turns problems with files into findings: an unclosed string is reported where it begins, placeholders of template
//! engines once per file, and a repeated key with both lines.

use crate::diagnostic::{Diagnostic, LIMIT_REACHED, PARSE_ERROR, Severity, Subject};
use source::reading::{Problem, ProblemKind};
use source::{FileId, SourceFile, Sources, Span};
use std::collections::BTreeSet;

/// Returns the findings for the problems with files of `unit`.
pub(super) fn diagnostics(
    problems: impl IntoIterator<Item = Problem>,
    sources: &Sources,
    unit: &str,
) -> Vec<Diagnostic> {
    let mut templated: BTreeSet<FileId> = BTreeSet::new();
    let mut all = Vec::new();
    for problem in problems {
        let file = sources.file(problem.span.file);
        match placeholder(&problem, &file) {
            None => all.push(diagnostic(&problem, sources, unit)),
            Some(span) if templated.insert(span.file) => {
                let message = "it contains placeholders of a template engine";
                let found = diagnostic(&Problem::invalid(span, message), sources, unit);
                all.push(found.help("check the file that the engine writes, or `exclude` this one in `sqslint.toml`"));
            }
            Some(_) => {}
        }
    }
    all
}

/// Returns the finding for a problem with a file of `unit`.
pub(super) fn diagnostic(problem: &Problem, sources: &Sources, unit: &str) -> Diagnostic {
    let file = sources.file(problem.span.file);
    let (name, subject) = (file.base_name(), Subject::whole(unit, file.name()));
    let line = |span: Span| sources.start(span).line;
    match problem.kind {
        ProblemKind::Invalid => {
            let unclosed = unclosed(problem, &file);
            let (span, message) = match unclosed {
                Some(span) => (span, "the string that begins here is not closed"),
                None => (problem.span, &*problem.message),
            };
            let headline = format!("`{name}` cannot be read: {message}");
            let found = Diagnostic::new(PARSE_ERROR, Severity::Error, subject, headline, span, message)
                .help("the rest of the project was checked; fix this line to check the rest of the file");
            match first_argument(problem, &file) {
                Some(first) => found.label(first, "it is set here"),
                None => found,
            }
        }
        ProblemKind::Limit => {
            let (message, span) = (&*problem.message, problem.span);
            let headline = format!("`{name}` is only partly read: {message}");
            Diagnostic::new(LIMIT_REACHED, Severity::Error, subject, headline, span, message)
        }
        ProblemKind::Repeated(last) => {
            let key = sources.text(problem.span);
            let headline = format!("`{name}` has the key `{key}` twice: only the last one counts");
            let label = format!("ignored, as line {} has the same key", line(last));
            Diagnostic::new(PARSE_ERROR, Severity::Warning, subject, headline, problem.span, label)
                .label(last, "this one counts")
                .help("remove one of the two")
        }
    }
}

/// Returns the placeholder of a template engine, such as `{{ name }}`, that causes `problem`.
fn placeholder(problem: &Problem, file: &SourceFile) -> Option<Span> {
    let at = problem.span.start as usize;
    let line = file.line_range(file.line_index(at));
    let text = file.text().get(line.clone())?;
    let starts = text.match_indices("{{").chain(text.match_indices("{%"));
    let mut placeholders = starts.filter_map(|(start, opening)| {
        let rest = text.get(start..)?;
        let closing = if opening == "{{" { "}}" } else { "%}" };
        let length = rest.find(closing)? + closing.len();
        // CloudFormation resolves these itself.
        (!rest.starts_with("{{resolve:")).then(|| line.start + start..line.start + start + length)
    });
    let found = placeholders.find(|range| range.start <= at && at <= range.end);
    found
        .filter(|_| problem.kind == ProblemKind::Invalid)
        .map(|range| Span::new(problem.span.file, range))
}

/// Returns the start of the string that is not closed on its line, in JSON before the problem, otherwise on its line.
fn unclosed(problem: &Problem, file: &SourceFile) -> Option<Span> {
    let at = problem.span.start as usize;
    let is_of = |ending: &str| file.path().extension().is_some_and(|own| own == ending);
    let line = file.line_range(file.line_index(at));
    let range = if is_of("json") { 0..line.end } else { line };
    if is_of("yaml") || is_of("yml") {
        return None;
    }
    let mut open = None;
    let mut bytes = file.text().get(range.clone())?.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (byte, open) {
            (b'\\', Some(_)) => _ = bytes.next(),
            (b'"', Some(_)) => open = None,
            (b'"', None) => open = Some(at),
            (b'#', None) if !is_of("json") => break,
            (b'\n', Some(_)) => break,
            _ => {}
        }
    }
    let start = range.start + open?;
    let end = file.line_range(file.line_index(start)).end;
    Some(Span::new(problem.span.file, start..end))
}

/// Returns the argument of a Terraform block that the one at `problem` repeats.
fn first_argument(problem: &Problem, file: &SourceFile) -> Option<Span> {
    if !problem.message.ends_with("already sets this argument") {
        return None;
    }
    let text = |line: usize| file.text().get(file.line_range(line));
    let name = |line: usize| text(line)?.split_once('=').map(|(name, _)| name.trim());
    let own = file.line_index(problem.span.start as usize);
    let mut above = (0..own)
        .rev()
        .take_while(|line| text(*line).is_some_and(|text| text.starts_with([' ', '\t', '\n'])));
    let first = above.find(|line| name(*line).is_some() && name(*line) == name(own))?;
    let range = file.line_range(first);
    let start = range.end - text(first)?.trim_start().len();
    Some(Span::new(
        problem.span.file,
        start..range.start + text(first)?.trim_end().len(),
    ))
}
