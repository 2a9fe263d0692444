//! Checks each rule's page: its flagged examples have exactly one finding, the others none. Also checks that rules,
//! source files and pages match.

use sqslint::Outcome;
use sqslint::diagnostic::{Safety, Severity};
use sqslint::report::graph::topology::{Extent, topologies};
use sqslint::report::graph::{Marks, text};
use sqslint::rules::{RULES, Rule, Setting, Value};
use sqslint::testing::{self, TemporaryDirectory};
use std::collections::BTreeSet;
use std::path::Path;

/// Example of a page: its heading and its files.
#[derive(Debug, Default)]
pub(crate) struct Example {
    pub(crate) title: String,
    pub(crate) flagged: bool,
    pub(crate) files: Vec<(String, String)>,
}

/// Parses the examples of a page: `###` headings under `## Flagged` and `## Not flagged`, with their code blocks.
pub(crate) fn examples(page: &str) -> Vec<Example> {
    let mut all: Vec<Example> = Vec::new();
    let mut section = "";
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        } else if let Some(title) = line.strip_prefix("### ") {
            all.push(Example {
                title: title.to_owned(),
                flagged: section == "Flagged",
                files: Vec::new(),
            });
        } else if let Some(info) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            if matches!(section, "Flagged" | "Not flagged") {
                let example = all.last_mut().expect("a fence follows a ### heading");
                example.files.push((file_name(info), body.join("\n") + "\n"));
            }
        }
    }
    all
}

fn file_name(info: &str) -> String {
    if let Some((_, name)) = info.split_once("file=") {
        return name.trim().to_owned();
    }
    match info.trim() {
        "hcl" => "main.tf".to_owned(),
        "json" => "template.json".to_owned(),
        _ => "template.yaml".to_owned(),
    }
}

/// Runs `rule` over the files of an example. Output of a tool (a plan, a CDK app) is passed by name.
pub(crate) fn run(rule: &Rule, files: &[(String, String)]) -> Outcome {
    let files = files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let directory = TemporaryDirectory::with_files(files);
    let written = ["plan.json", "cdk.out"].map(|name| directory.path().join(name));
    let named = written.iter().find(|path| path.exists());
    testing::run(rule, named.map_or(directory.path(), |path| path))
}

#[test]
fn examples_match_their_section() {
    let mut wrong = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.check.is_some()) {
        for example in examples(rule.page) {
            let outcome = run(rule, &example.files);
            let expected = usize::from(example.flagged);
            if outcome.findings.len() != expected || outcome.graph.units().is_empty() || !outcome.errors.is_empty() {
                let seen = testing::describe(&outcome);
                wrong.push(format!("{}: {}: expected {expected}\n{seen}", rule.id, example.title));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks that a picture shows the error of each flagged example, on a box or an arrow, and so does the graph as text.
#[test]
fn every_error_is_in_every_picture() {
    let mut hidden = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.severity == Severity::Error) {
        for example in examples(rule.page).into_iter().filter(|example| example.flagged) {
            let outcome = run(rule, &example.files);
            // Some findings of the rule are only warnings.
            if outcome.findings.iter().all(|found| found.severity < Severity::Error) {
                continue;
            }
            let marks = Marks::new(&outcome.findings);
            let drawings = topologies(&outcome.graph, &marks, Extent::Queues);
            let boxes = drawings.iter().flat_map(|one| one.nodes.iter().map(|node| node.worst));
            let arrows = drawings.iter().flat_map(|one| one.edges.iter().map(|edge| edge.worst));
            let is_drawn = boxes.chain(arrows).any(|worst| worst == Some(Severity::Error));
            let mut text = Vec::new();
            text::write(&outcome.graph, &outcome.sources, &marks, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            if !is_drawn || !text.contains(&format!("! error[{}]", rule.id)) {
                hidden.push(format!("{}: {}", rule.id, example.title));
            }
        }
    }
    assert!(hidden.is_empty(), "{}", hidden.join("\n"));
}

#[test]
fn pages_have_all_sections() {
    let sections = ["How to fix it", "When it stays silent", "References"];
    for rule in RULES {
        assert!(rule.page.starts_with(&format!("# {}\n", rule.id)), "{}", rule.id);
        for section in sections {
            assert!(
                rule.page.contains(&format!("\n## {section}\n")),
                "{}: {section}",
                rule.id
            );
        }
        let examples = examples(rule.page);
        let both = examples.iter().any(|e| e.flagged) && examples.iter().any(|e| !e.flagged);
        assert!(both || rule.check.is_none(), "{}: both kinds of examples", rule.id);
    }
}

#[test]
fn pages_mention_fixes() {
    for rule in RULES {
        let how = rule
            .page
            .split("\n## ")
            .find(|section| section.starts_with("How to fix it"))
            .unwrap_or_default();
        let told = ["`sqslint check --fix --unsafe-fixes`", "`sqslint check --fix`"].map(|flags| how.contains(flags));
        let expected = [Some(Safety::Unsafe), Some(Safety::Safe)].map(|safety| rule.fix == safety);
        assert_eq!(told, expected, "{}", rule.id);
    }
}

#[test]
fn rules_with_a_fix_fix_an_example() {
    for rule in RULES.iter().filter(|rule| rule.check.is_some()) {
        let flagged = examples(rule.page).into_iter().filter(|example| example.flagged);
        let mut found = flagged.flat_map(|example| run(rule, &example.files).findings);
        assert_eq!(
            found.any(|found| found.fix.is_some()),
            rule.fix.is_some(),
            "{}",
            rule.id
        );
    }
}

/// Returns `page` with the settings of `rule` in their own section, after "How to fix it".
fn with_settings(rule: &Rule, page: &str) -> String {
    let (head, tail) = page.split_once("## When it stays silent").expect("each page has it");
    let head = head.split("## Settings\n").next().unwrap_or(head);
    let row = |setting: &Setting| {
        let least = match setting.default {
            Value::Number { least, .. } => format!(", at least {least}"),
            Value::Flag(_) => String::new(),
        };
        format!(
            "| `{}` | {}{least} | {} |\n",
            setting.name, setting.default, setting.summary
        )
    };
    let rows: String = rule.settings.iter().map(row).collect();
    let section = if rows.is_empty() {
        String::new()
    } else {
        format!(
            "## Settings\n\nIn `[rules.{}]` of `sqslint.toml`:\n\n| setting | default | what it sets |\n\
             | --- | --- | --- |\n{rows}\n",
            rule.id
        )
    };
    format!("{head}{section}## When it stays silent{tail}")
}

#[test]
fn pages_list_the_settings() {
    for rule in RULES {
        let expected = with_settings(rule, rule.page);
        if std::env::var_os("UPDATE").is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("rules/{}.md", rule.id));
            std::fs::write(path, &expected).expect("the page is writable");
        } else {
            assert_eq!(rule.page, expected, "UPDATE=1 rewrites the section");
        }
    }
}

#[test]
fn rules_sources_and_pages_match() {
    let names = |directory: &str, ending: &str| -> BTreeSet<String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
        let files = std::fs::read_dir(path).expect("the directory exists");
        let names = files.map(|file| file.expect("it can be read").file_name().into_string().expect("UTF-8"));
        names
            .filter_map(|name| Some(name.strip_suffix(ending)?.replace('_', "-")))
            .collect()
    };
    let ids: BTreeSet<String> = RULES.iter().map(|rule: &&Rule| rule.id.to_owned()).collect();
    assert_eq!(ids.len(), RULES.len(), "ids are unique");
    assert_eq!(ids, names("src/rules", ".rs"));
    assert_eq!(ids, names("rules", ".md"));
}

/// Lists the rules of other tools, as the tools themselves do: tool and id.
fn foreign() -> BTreeSet<(&'static str, &'static str)> {
    let lines = include_str!("foreign_rules.txt").lines();
    let ids = lines.filter(|line| !line.starts_with('#'));
    ids.map(|line| line.split_once(' ').expect("a tool and an id"))
        .collect()
}

#[test]
fn rules_of_other_tools_exist() {
    let foreign = foreign();
    let named =
        regex::Regex::new(r"\b(cfn-lint|checkov|cdk-nag|serverless-rules)(?:'s)?((?:(?:,| and)? `[^`]+`)+)").unwrap();
    let shaped =
        regex::Regex::new(r"\b(?:[EWI][0-9]{4}|[EW]S[0-9]{4}|CKV2?_[A-Z]+_[0-9]+|AwsSolutions-\w+)\b").unwrap();
    let mut known_on_pages = 0;
    for rule in RULES {
        let (prose, references) = rule.page.rsplit_once("\n## References\n").unwrap_or((rule.page, ""));
        let text = references.split_whitespace().collect::<Vec<_>>().join(" ");
        for found in named.captures_iter(&text) {
            for id in found[2].split('`').skip(1).step_by(2) {
                assert!(
                    foreign.contains(&(&found[1], id)),
                    "{}: {} has no `{id}`",
                    rule.id,
                    &found[1]
                );
                known_on_pages += 1;
            }
        }
        for id in shaped.find_iter(prose).chain(shaped.find_iter(references)) {
            let exists = foreign.iter().any(|(_, known)| *known == id.as_str());
            assert!(exists, "{}: no tool has `{}`", rule.id, id.as_str());
        }
    }
    assert!(known_on_pages > 30, "{known_on_pages}");
}
