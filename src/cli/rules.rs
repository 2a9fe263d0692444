//! Runs `sqslint rules` and `sqslint explain RULE`, which print the documentation of rules.

use super::config::{ConfigArgs, with_config};
use super::page::{self, PageStyle};
use super::{Exit, RulesFormat, Streams, output};
use serde::Serialize;
use sqslint::diagnostic::{Harm, Safety};
use sqslint::report::json_text::write_pretty;
use sqslint::report::printable;
use sqslint::report::wrapped;
use sqslint::rules::{Catalogue, Rule, by_id, harm_of};
use sqslint::selection::{UnknownRule, covers, is_known, near};
use std::io;
use std::path::Path;

/// Maximum number of rules that a message lists by id.
const MOST_NAMED: usize = 10;
/// Maximum width of a page, which is prose.
const MOST_COLUMNS: usize = 100;

#[derive(Serialize)]
struct Listed<'r> {
    id: &'r str,
    category: &'static str,
    severity: String,
    set: &'static str,
    fixable: bool,
    /// Harm of its findings, unless their timeline shows another.
    harm: Option<&'static str>,
    /// Safety of its fixes; `null` for a rule without fixes.
    fix: Option<&'static str>,
    summary: &'r str,
}

pub(super) fn explain(id: &str, config: &ConfigArgs, color: bool, streams: &mut Streams<'_>) -> io::Result<Exit> {
    if let Some(rule) = by_id(id) {
        return print_page(rule, color, streams);
    }
    with_config(Path::new("."), config, streams, |config, streams| {
        let catalogue = config.catalogue();
        if let Some(policy) = catalogue.by_id(id) {
            return print_page(&policy, color, streams);
        }
        streams.refuse(&no_rule(id, &catalogue))
    })
}

/// Prints the page of `rule`.
fn print_page(rule: &Rule<'_>, color: bool, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let look = PageStyle {
        width: output::width().map_or(wrapped::WIDTH, |width| width.clamp(40, MOST_COLUMNS)),
        color,
    };
    // The page of a policy is text from the repository and may contain control characters.
    let page: String = rule.page.lines().map(|line| printable(line) + "\n").collect();
    streams.out.write_all(page::render(&page, look).as_bytes())?;
    Ok(Exit::Clean)
}

/// Explains why `name` has no page. A category or a set contains rules, but has no page.
fn no_rule(name: &str, known: &Catalogue) -> String {
    if is_known(name, known) {
        let ids = known.rules().filter(|rule| covers(name, rule)).map(|rule| rule.id);
        let ids: Vec<&str> = ids.take(MOST_NAMED + 1).collect();
        return match ids.as_slice() {
            [] => format!("`{name}` is not a rule but a set of rules, and it is empty"),
            ids if ids.len() > MOST_NAMED => {
                format!("`{name}` is not a rule but a set of rules; `sqslint rules` lists them")
            }
            ids => format!("`{name}` is not a rule but a set of rules: {}", ids.join(", ")),
        };
    }
    let near = near(name, || known.ids());
    let name = name.to_owned();
    UnknownRule { name, near }.to_string()
}

pub(super) fn list(
    format: RulesFormat,
    config: &ConfigArgs,
    color: bool,
    streams: &mut Streams<'_>,
) -> io::Result<Exit> {
    with_config(Path::new("."), config, streams, |config, streams| {
        let known = config.catalogue();
        match format {
            RulesFormat::Text => streams.out.write_all(page::painted(table(&known), color).as_bytes())?,
            RulesFormat::Json => {
                let all: Vec<Listed<'_>> = known.rules().map(listed).collect();
                write_pretty(streams.out, &all)?;
            }
            RulesFormat::Markdown => streams.out.write_all(markdown(&known).as_bytes())?,
        }
        Ok(Exit::Clean)
    })
}

fn listed(rule: Rule<'_>) -> Listed<'_> {
    Listed {
        id: rule.id,
        category: rule.category.name(),
        severity: rule.severity.to_string(),
        set: rule.set.name(),
        fixable: rule.fix.is_some(),
        harm: harm_of(rule.id).map(Harm::name),
        fix: rule.fix.map(Safety::name),
        summary: rule.summary,
    }
}

/// Formats two lines per rule, below a header: its properties, and a summary of what it flags; at most 80 columns wide.
fn table(known: &Catalogue) -> String {
    let ids = known.ids().map(str::len).max().unwrap_or(0);
    let row = |[id, severity, set, fix, harm]: [&str; 5]| {
        let row = format!("{id:ids$}  {severity:8}  {set:8}  {fix:6}  {harm}");
        format!("{}\n", row.trim_end())
    };
    let mut text = row(["RULE", "SEVERITY", "SET", "FIX", "HARM"]);
    let mut category = None;
    for rule in known.rules() {
        if category.replace(rule.category) != Some(rule.category) {
            text += &format!("\n{}\n", rule.category.name());
        }
        let severity = rule.severity.to_string();
        let fix = rule.fix.map_or("-", Safety::name);
        let harm = harm_of(rule.id).map_or("-", Harm::name);
        text += &row([rule.id, &severity, rule.set.name(), fix, harm]);
        wrapped::write(&mut text, &printable(rule.summary), (4, 4), wrapped::WIDTH);
    }
    text
}

fn markdown(known: &Catalogue) -> String {
    let head = "| rule | severity | set | fix | what it flags |\n| --- | --- | --- | --- | --- |\n".to_owned();
    known.rules().fold(head, |text, rule| {
        let summary = printable(rule.summary).replace('|', "\\|");
        let id = rule.id;
        let named = match by_id(id) {
            Some(_) => format!("[`{id}`](rules/{id}.md)"),
            None => format!("`{id}`"),
        };
        format!(
            "{text}| {named} | {} | {} | {} | {summary} |\n",
            rule.severity,
            rule.set.name(),
            rule.fix.map_or("", Safety::name),
        )
    })
}
