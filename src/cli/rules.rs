//! `sqslint rules` and `sqslint explain`: what the rules say about themselves.

use super::page::{self, Look};
use super::{Exit, RulesFormat, Streams, output, wrapped};
use serde::Serialize;
use sqslint::diagnostic::Safety;
use sqslint::report::json_text::write_pretty;
use sqslint::report::printable;
use sqslint::rules::{RULES, Rule, by_id};
use sqslint::selection::{UnknownRule, check, covers, nearest};
use std::io;

/// The number of rules that are told by name.
const MOST_NAMED: usize = 10;
/// The greatest width of a page, which is prose.
const MOST_COLUMNS: usize = 100;

#[derive(Serialize)]
struct Listed {
    id: &'static str,
    category: &'static str,
    severity: String,
    set: &'static str,
    fixable: bool,
    /// The safety of its fixes; null for a rule without any.
    fix: Option<&'static str>,
    summary: &'static str,
}

pub(super) fn explain(id: &str, streams: &mut Streams<'_>) -> io::Result<Exit> {
    if let Some(rule) = by_id(id) {
        let look = Look {
            width: output::width().map_or(wrapped::WIDTH, |width| width.clamp(40, MOST_COLUMNS)),
            color: output::is_coloured(),
        };
        streams.out.write_all(page::render(rule.page, look).as_bytes())?;
        return Ok(Exit::Clean);
    }
    writeln!(streams.err, "sqslint: {}", printable(&no_rule(id)))?;
    Ok(Exit::Failed)
}

/// The reason that there is no page for `name`. A category or a set takes in rules and has none itself.
fn no_rule(name: &str) -> String {
    if check(name).is_ok() {
        let ids = RULES.iter().filter(|rule| covers(name, rule)).map(|rule| rule.id);
        let ids: Vec<&str> = ids.take(MOST_NAMED + 1).collect();
        return match ids.as_slice() {
            [] => format!("`{name}` is not a rule but a set of rules, and it is empty"),
            ids if ids.len() > MOST_NAMED => {
                format!("`{name}` is not a rule but a set of rules; `sqslint rules` lists them")
            }
            ids => format!("`{name}` is not a rule but a set of rules: {}", ids.join(", ")),
        };
    }
    let suggestion = nearest(name, RULES.iter().map(|rule| rule.id)).map(str::to_owned);
    let name = name.to_owned();
    UnknownRule { name, suggestion }.to_string()
}

pub(super) fn list(format: RulesFormat, streams: &mut Streams<'_>) -> io::Result<Exit> {
    match format {
        RulesFormat::Text => streams.out.write_all(table().as_bytes())?,
        RulesFormat::Json => {
            let all: Vec<Listed> = RULES.iter().map(|rule| listed(rule)).collect();
            write_pretty(streams.out, &all)?;
        }
        RulesFormat::Markdown => streams.out.write_all(markdown().as_bytes())?,
    }
    Ok(Exit::Clean)
}

fn listed(rule: &Rule) -> Listed {
    Listed {
        id: rule.id,
        category: rule.category.name(),
        severity: rule.severity.to_string(),
        set: rule.set.name(),
        fixable: rule.fix.is_some(),
        fix: rule.fix.map(Safety::name),
        summary: rule.summary,
    }
}

/// A line of facts for each rule, below a head, and what it flags below that line; at most 80 columns wide.
fn table() -> String {
    let ids = RULES.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    let row = |[id, severity, set, fix]: [&str; 4]| {
        let row = format!("{id:ids$}  {severity:8}  {set:8}  {fix}");
        format!("{}\n", row.trim_end())
    };
    let mut text = row(["RULE", "SEVERITY", "SET", "FIX"]);
    let mut category = None;
    for rule in RULES {
        if category.replace(rule.category) != Some(rule.category) {
            text += &format!("\n{}\n", rule.category.name());
        }
        let severity = rule.severity.to_string();
        text += &row([rule.id, &severity, rule.set.name(), rule.fix.map_or("-", Safety::name)]);
        wrapped::write(&mut text, rule.summary, (4, 4), wrapped::WIDTH);
    }
    text
}

fn markdown() -> String {
    let head = "| rule | severity | set | fix | what it flags |\n| --- | --- | --- | --- | --- |\n".to_owned();
    RULES.iter().fold(head, |text, rule| {
        let summary = rule.summary.replace('|', "\\|");
        format!(
            "{text}| [`{id}`](rules/{id}.md) | {} | {} | {} | {summary} |\n",
            rule.severity,
            rule.set.name(),
            rule.fix.map_or("", Safety::name),
            id = rule.id
        )
    })
}
