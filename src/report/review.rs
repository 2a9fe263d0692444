//! Writes what a change does to the links between queues and functions: the cause first, then the numbers before and
//! after, the runs that differ, and the findings that are new, worse or resolved.
//!
//! ```text
//! main.tf:16 raises the timeout of `fulfil` from 30 to 120 s: `orders` must go from 180 to 720 s
//! ```

use super::human::change;
use super::json_text::write_pretty;
use super::markdown::{code, inline};
use super::{Report, counted, few, printable, summary, timeline};
use crate::diagnostic::{Diagnostic, Harm};
use crate::history::History;
use crate::review::{ChangedLink, KINDS, Numbers, margin, needed};
use serde::Serialize;
use std::io;

/// Maximum size in bytes of each part of a comment, of which GitHub accepts 65,536 characters.
const MOST_BYTES: usize = 20_000;
/// Mark by which the GitHub action finds its comment.
const MARK: &str = "<!-- sqslint -->";

/// Changes since an earlier commit; the findings of the report are new or worse.
#[derive(Debug, Clone, Copy)]
pub struct Review<'a> {
    /// Commit or branch that it is compared with.
    pub since: &'a str,
    /// Links whose numbers changed.
    pub changed: &'a [ChangedLink],
    /// Findings that are worse or resolved.
    pub history: &'a History,
}

impl Review<'_> {
    /// Returns one sentence per cause: where it is, what it does, and what follows for each link.
    fn causes(&self) -> Vec<String> {
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        for link in self.changed {
            let (ends, changes) = (ends(link), link.changes());
            let consequence = link.consequence().map(|text| text + &environments(link));
            let places = changes.iter().map(|change| {
                let (file, line) = &change.place;
                format!("{file}:{line} {}", change.text)
            });
            let cause = match (&link.before, &link.now) {
                (None, _) => format!("{ends} is new"),
                (_, None) => format!("{ends} is gone"),
                _ => places.collect::<Vec<_>>().join(", and "),
            };
            match all.iter_mut().find(|(known, _)| wording(known) == wording(&cause)) {
                Some((_, consequences)) => consequences.extend(consequence),
                None if cause.is_empty() => {
                    all.push((format!("a number of {ends} is no longer known"), Vec::new()));
                }
                None => all.push((cause, consequence.into_iter().collect())),
            }
        }
        let sentences = all
            .into_iter()
            .map(|(cause, consequences)| match consequences.as_slice() {
                [] => cause,
                consequences => format!("{cause}: {}", few(consequences)),
            });
        sentences.collect()
    }

    /// Splits the findings into new and worse ones.
    fn findings<'r>(&self, report: &Report<'r>) -> [Vec<&'r Diagnostic>; 2] {
        let is_worse = |found: &&Diagnostic| self.history.worse.contains(&found.fingerprint());
        let (worse, new) = report.by_severity().into_iter().partition(is_worse);
        [new, worse]
    }

    /// Formats the counts: `1 new, 0 worse, 2 resolved`.
    fn counts(&self, report: &Report<'_>) -> String {
        let [new, worse] = self.findings(report).map(|found| Vec::len(&found));
        format!("{new} new, {worse} worse, {} resolved", self.history.resolved.len())
    }

    /// Describes a change without effect on any link.
    fn unchanged(&self, report: &Report<'_>) -> String {
        let coverage = report.coverage;
        format!(
            "no number of a link changed since `{}` ({} and {} looked at)",
            self.since,
            counted(coverage.queues, "queue"),
            counted(coverage.mappings, "mapping")
        )
    }
}

/// Returns what could not be compared, as resources without known values.
fn unknown(report: &Report<'_>) -> Vec<String> {
    let judged = summary::judged(report);
    let unjudged = judged.is_some().then(|| summary::unjudged(report));
    judged.into_iter().chain(unjudged.into_iter().flatten()).collect()
}

/// Returns the text outside of names.
fn wording(text: &str) -> Vec<&str> {
    text.split('`').step_by(2).collect()
}

fn ends(link: &ChangedLink) -> String {
    match &*link.function {
        "" => link.queue.clone(),
        function => format!("{} → {function}", link.queue),
    }
}

fn environments(link: &ChangedLink) -> String {
    match link.environments.as_slice() {
        [] => String::new(),
        names => format!(" (in {})", few(names)),
    }
}

/// Returns the cells of a link's row: visibility timeout, function timeout, window, needed value, margin, and the other
/// numbers that changed.
fn cells(link: &ChangedLink) -> [String; 6] {
    let cell = |of: &dyn Fn(&Numbers) -> Option<i64>, unit: &str| {
        let [was, is] = [&link.before, &link.now].map(|numbers| numbers.as_ref().and_then(of));
        let shown = |number: Option<i64>| number.map_or("?".to_owned(), |number| number.to_string().replace('-', "−"));
        match (&link.before, &link.now) {
            (Some(_), Some(_)) if was != is => format!("{} → {}{unit}", shown(was), shown(is)),
            (None, _) | (Some(_), Some(_)) if is.is_none() => "–".to_owned(),
            (_, Some(_)) => shown(is) + unit,
            (_, None) => shown(was) + unit,
        }
    };
    let number = |at: usize| move |numbers: &Numbers| Some(numbers[at].as_ref()?.value);
    let others = (3..KINDS.len()).filter_map(|at| {
        let shown = cell(&number(at), KINDS[at].1);
        shown.contains('→').then(|| format!("{} {shown}", KINDS[at].0))
    });
    [
        cell(&number(0), " s"),
        cell(&number(1), " s"),
        cell(&number(2), " s"),
        cell(&needed, " s"),
        cell(&margin, " s"),
        others.collect::<Vec<_>>().join(", "),
    ]
}

/// Formats the edit that fixes `found`, as removed and added lines.
fn patch(report: &Report<'_>, found: &Diagnostic) -> Option<String> {
    let [edit] = found.fix.as_deref()?.edits.as_slice() else {
        return None;
    };
    let file = report.sources.file(edit.span.file);
    let (gone, new) = change::of(edit, &file).filter(|_| !file.is_guarded())?;
    let line = file.position(edit.span.start as usize).line;
    let lines = gone.iter().map(|line| format!("- {line}\n"));
    let lines: String = lines.chain(new.iter().map(|line| format!("+ {line}\n"))).collect();
    Some(format!(
        "# {}:{line}\n{}",
        printable(file.name()),
        lines.lines().map(|line| printable(line) + "\n").collect::<String>()
    ))
}

/// Formats the review for a terminal.
pub fn text(report: &Report<'_>, review: &Review<'_>) -> String {
    let mut text = String::new();
    for cause in review.causes() {
        text += &format!("{}\n", printable(&cause));
    }
    if review.changed.is_empty() {
        text += &format!("{}\n", printable(&review.unchanged(report)));
    }
    for link in review.changed {
        let [visibility, timeout, window, needed, margin, others] = cells(link);
        text += &format!("\n{}{}\n", printable(&ends(link)), printable(&environments(link)));
        if !link.function.is_empty() {
            text += &format!("  visibility timeout {visibility}, function timeout {timeout}, window {window}\n");
            text += &format!("  needed {needed}, margin {margin}\n");
        } else if visibility.contains('→') {
            text += &format!("  visibility timeout {visibility}\n");
        }
        if !others.is_empty() {
            text += &format!("  {others}\n");
        }
        for (name, run) in ["before", "after "].iter().zip(link.timelines().iter().flatten()) {
            text += &format!("  {name}: {}\n", timeline::on_a_line(run));
        }
    }
    let [new, worse] = review.findings(report);
    text += &format!("\n{}\n", review.counts(report));
    for (name, findings) in [("new", new), ("worse", worse)] {
        for found in findings {
            let place = super::markdown::place(report, found);
            let headline = printable(&found.headline);
            text += &format!("{name}: {place}: {}[{}] {headline}\n", found.severity, found.rule);
            for line in patch(report, found).iter().flat_map(|patch| patch.lines()) {
                text += &format!("  {line}\n");
            }
        }
    }
    for one in &review.history.resolved {
        text += &format!("resolved: {}[{}] {}\n", one.severity, one.rule, printable(&one.message));
    }
    for line in unknown(report) {
        text += &format!("{}\n", printable(&line));
    }
    text
}

/// Formats the review as a comment on a pull request. It is empty if nothing changed.
pub fn markdown(report: &Report<'_>, review: &Review<'_>) -> String {
    let [new, worse] = review.findings(report);
    let resolved = &review.history.resolved;
    if review.changed.is_empty() && new.is_empty() && worse.is_empty() && resolved.is_empty() {
        return String::new();
    }
    let mut text = format!("{MARK}\n## sqslint\n\n**{}**\n\n", review.counts(report));
    add(
        &mut text,
        "",
        review.causes().iter().map(|cause| format!("- {}\n", inline(cause))),
    );
    if review.changed.is_empty() {
        text += &format!("{}\n", inline(&review.unchanged(report)));
    } else {
        text += "\n| link | visibility timeout | function timeout | window | needed | margin | also |\n";
        let rows = review.changed.iter().map(|link| {
            let cells = cells(link).map(|cell| inline(&cell)).join(" | ");
            format!("| {}{} | {cells} |\n", inline(&ends(link)), inline(&environments(link)))
        });
        add(&mut text, "| --- | --- | --- | --- | --- | --- | --- |\n", rows);
    }
    let runs = review.changed.iter().filter_map(|link| Some((link, link.timelines()?)));
    let runs = runs.map(|(link, [before, after])| {
        let (before, after) = (timeline::in_lines(&before), timeline::in_lines(&after));
        format!(
            "\n{}\n\n```text\nbefore\n{before}after\n{after}```\n",
            inline(&ends(link))
        )
    });
    add(&mut text, "", runs);
    for (name, findings) in [("New", new), ("Worse", worse)] {
        let rows = findings.iter().map(|found| {
            let harm = found.harm().map_or("", Harm::name);
            let place = code(&super::markdown::place(report, found));
            format!(
                "| {} | {} | {harm} | {place} | {} |\n",
                found.severity,
                code(&found.rule),
                inline(&found.headline)
            )
        });
        if !findings.is_empty() {
            text += &format!("\n<details open><summary>{name}: {}</summary>\n\n", findings.len());
            let head = "| severity | rule | harm | place | finding |\n| --- | --- | --- | --- | --- |\n";
            add(&mut text, head, rows);
            let patches = findings.iter().filter_map(|found| patch(report, found));
            add(
                &mut text,
                "",
                patches.map(|patch| format!("\n```diff\n{}```\n", patch.replace('`', "'"))),
            );
            text += "\n</details>\n";
        }
    }
    if !resolved.is_empty() {
        text += &format!("\n<details><summary>Resolved: {}</summary>\n\n", resolved.len());
        let rows = resolved
            .iter()
            .map(|one| format!("- {} {}: {}\n", one.severity, code(&one.rule), inline(&one.message)));
        add(&mut text, "", rows);
        text += "\n</details>\n";
    }
    let unknown = unknown(report);
    if !unknown.is_empty() {
        text += &format!("\n{}\n", inline(&unknown.join("; ")));
    }
    text
}

/// Adds `head` and as many rows as fit, and counts the others.
fn add(text: &mut String, head: &str, rows: impl Iterator<Item = String>) {
    *text += head;
    let end = text.len() + MOST_BYTES / 2;
    let mut left_out = 0;
    for row in rows {
        if left_out > 0 || text.len() + row.len() > end {
            left_out += 1;
        } else {
            *text += &row;
        }
    }
    if left_out > 0 {
        *text += &format!("\nand {left_out} more\n");
    }
}

/// A review in JSON.
#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    since: &'a str,
    causes: Vec<String>,
    links: Vec<ShownLink<'a>>,
    new: Vec<super::json::Finding<'a>>,
    worse: Vec<super::json::Finding<'a>>,
    resolved: Vec<ShownResolved<'a>>,
    not_judged: Vec<String>,
}

#[derive(Serialize)]
struct ShownLink<'a> {
    unit: &'a str,
    queue: &'a str,
    function: Option<&'a str>,
    environments: &'a [String],
    consequence: Option<String>,
    before: Option<ShownNumbers>,
    after: Option<ShownNumbers>,
}

#[derive(Serialize)]
struct ShownNumbers {
    visibility_timeout: Option<i64>,
    function_timeout: Option<i64>,
    batching_window: Option<i64>,
    batch_size: Option<i64>,
    maximum_concurrency: Option<i64>,
    max_receive_count: Option<i64>,
    retention_period: Option<i64>,
    delay: Option<i64>,
    needed: Option<i64>,
    margin: Option<i64>,
}

#[derive(Serialize)]
struct ShownResolved<'a> {
    rule: &'a str,
    severity: &'static str,
    message: &'a str,
}

fn shown(numbers: &Numbers) -> ShownNumbers {
    let [
        visibility_timeout,
        function_timeout,
        batching_window,
        batch_size,
        maximum_concurrency,
        max_receive_count,
        retention_period,
        delay,
    ] = numbers
        .each_ref()
        .map(|number| number.as_ref().map(|number| number.value));
    ShownNumbers {
        visibility_timeout,
        function_timeout,
        batching_window,
        batch_size,
        maximum_concurrency,
        max_receive_count,
        retention_period,
        delay,
        needed: needed(numbers),
        margin: margin(numbers),
    }
}

/// Writes the review as JSON.
pub fn json(report: &Report<'_>, review: &Review<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let links = review.changed.iter().map(|link| ShownLink {
        unit: &link.unit,
        queue: &link.queue,
        function: Some(&*link.function).filter(|name| !name.is_empty()),
        environments: &link.environments,
        consequence: link.consequence(),
        before: link.before.as_ref().map(shown),
        after: link.now.as_ref().map(shown),
    });
    let [new, worse] = review.findings(report);
    let shown = |all: Vec<_>| {
        all.into_iter()
            .map(|found| super::json::finding(found, report.sources))
            .collect()
    };
    let resolved = review.history.resolved.iter().map(|one| ShownResolved {
        rule: &one.rule,
        severity: one.severity.name(),
        message: &one.message,
    });
    let document = Document {
        version: 1,
        since: review.since,
        causes: review.causes(),
        links: links.collect(),
        new: shown(new),
        worse: shown(worse),
        resolved: resolved.collect(),
        not_judged: unknown(report),
    };
    write_pretty(out, &document)
}
