//! Completes names of rules in suppressions and in `sqslint.toml`, where it also completes their settings.

use super::position::Lines;
use super::worker::Worker;
use crate::config::NAMES;
use crate::rules::{Catalogue, Category, Rule, Set, Value};
use crate::selection::{self, covers};
use lsp_types::{CompletionItem, CompletionItemKind, CompletionParams, Documentation, MarkupContent, MarkupKind};

/// Returns the completions at a position.
pub(super) fn at(worker: &Worker, params: &CompletionParams) -> Option<Vec<CompletionItem>> {
    let place = &params.text_document_position;
    let path = worker.path(&place.text_document.uri)?;
    let text = &worker.documents.get(&path)?.text;
    let offset = Lines::new(text, worker.settings.encoding).offset(place.position);
    let before = text.get(..offset)?;
    let name = path.file_name()?.to_str()?;
    let known = worker.projects.iter().find(|project| project.holds(&path));
    let known = known.map_or(Catalogue::BUILT_IN, |project| project.catalogue());
    if NAMES.contains(&name) {
        return in_configuration(before, known);
    }
    names_in_suppression(before).then(|| rules(known, false))
}

/// Returns `true` if `before` ends where a suppression lists rules: `sqslint: ignore[`, or `rule: ` below `sqslint:`.
fn names_in_suppression(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let directive = line.rfind("sqslint:").and_then(|at| line.get(at..));
    if let Some((head, names)) = directive.and_then(|directive| directive.split_once('[')) {
        return head.contains("ignore") && !names.contains(']');
    }
    let is_field = ["rule:", "\"rule\":", "- rule:"];
    let is_field = is_field
        .iter()
        .any(|field| line.trim_start().trim_start_matches(['{', ' ', '-']).starts_with(field));
    let near = before.rsplit('\n').take(8).any(|line| line.contains("sqslint"));
    is_field && near
}

/// Returns the completions in a configuration: rules after `[rules.`, rules, categories and sets in lists, and settings
/// with their values in the table of a rule.
fn in_configuration(before: &str, known: &Catalogue) -> Option<Vec<CompletionItem>> {
    let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
    if line.starts_with("[rules.") && !line.contains(']') {
        return Some(rules(known, false));
    }
    let table = before.rsplit('\n').find(|line| line.starts_with('['));
    let table = table.and_then(|table| table.trim_end().strip_prefix("[rules.")?.strip_suffix(']'));
    if let Some(rule) = table {
        let rule = known.by_id(rule)?;
        return match line.split_once('=') {
            Some((key, value)) => values(&rule, key.trim(), value),
            None => Some(settings(&rule)),
        };
    }
    let quoted = line.matches('"').count() % 2 == 1;
    let open = before.rfind('[').filter(|_| quoted)?;
    let key = before.get(..open)?.rsplit('\n').next()?.trim();
    let is_list = !before.get(open..)?.contains(']');
    let names_rules = ["select", "ignore"].iter().any(|name| key.starts_with(name));
    (is_list && names_rules).then(|| rules(known, true))
}

const SEVERITY: &str = "severity";
const SUPPRESSIBLE: &str = "suppressible";

/// Returns the settings of `rule`.
fn settings(rule: &Rule<'_>) -> Vec<CompletionItem> {
    let item = |name: &str, summary: &str, documentation: String| CompletionItem {
        label: name.to_owned(),
        kind: Some(CompletionItemKind::PROPERTY),
        detail: Some(summary.to_owned()),
        documentation: Some(Documentation::String(documentation)),
        ..CompletionItem::default()
    };
    let severity = format!("`{}` without it.", rule.severity);
    let mut items = vec![
        item(SEVERITY, "the severity of all findings of the rule", severity),
        item(
            SUPPRESSIBLE,
            "whether comments may suppress the rule",
            "`true` without it.".to_owned(),
        ),
    ];
    items.extend(rule.settings.iter().map(|setting| {
        let documentation = match setting.default {
            Value::Number { value, least } => format!("A whole number of at least {least}; {value} without it."),
            Value::Flag(flag) => format!("`{flag}` without it."),
        };
        item(setting.name, setting.summary, documentation)
    }));
    items
}

/// Returns the values for `key` in the table of `rule`, given the text `written` so far.
fn values(rule: &Rule<'_>, key: &str, written: &str) -> Option<Vec<CompletionItem>> {
    const FLAGS: [&str; 2] = ["true", "false"];
    let setting = rule.settings.iter().find(|setting| setting.name == key);
    let (values, default) = match (key, setting.map(|setting| setting.default)) {
        (SEVERITY, _) => {
            let names = ["error", "warning", "info"].map(|name| format!("\"{name}\""));
            (names.to_vec(), format!("\"{}\"", rule.severity))
        }
        (SUPPRESSIBLE, _) => (FLAGS.map(str::to_owned).to_vec(), "true".to_owned()),
        (_, Some(Value::Flag(flag))) => (FLAGS.map(str::to_owned).to_vec(), flag.to_string()),
        (_, Some(Value::Number { value, .. })) => (vec![value.to_string()], value.to_string()),
        (_, None) => return None,
    };
    let is_quoted = written.contains('"');
    let items = values.into_iter().map(|value| CompletionItem {
        detail: (value == default).then(|| "the default".to_owned()),
        label: if is_quoted {
            value.trim_matches('"').to_owned()
        } else {
            value
        },
        kind: Some(CompletionItemKind::VALUE),
        ..CompletionItem::default()
    });
    Some(items.collect())
}

/// Returns rules and categories, and optionally sets.
fn rules(known: &Catalogue, with_sets: bool) -> Vec<CompletionItem> {
    let rules = known.rules().map(|rule| CompletionItem {
        label: rule.id.to_owned(),
        kind: Some(CompletionItemKind::VALUE),
        detail: Some(rule.summary.to_owned()),
        documentation: Some(Documentation::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: rule.page.split("\n## ").next().unwrap_or_default().to_owned(),
        })),
        ..CompletionItem::default()
    });
    let tool = Category::Tool.name();
    let sets = ["all", Set::Default.name(), Set::Pedantic.name()]
        .into_iter()
        .chain(selection::categories());
    let is_set = |name: &&str| ["all", "default", "pedantic"].contains(name);
    let sets = sets.filter(|name| with_sets || !(is_set(name) || *name == tool));
    let sets = sets.map(|name| {
        let count = known.rules().filter(|rule| covers(name, rule)).count();
        CompletionItem {
            label: name.to_owned(),
            kind: Some(CompletionItemKind::ENUM),
            detail: Some(format!("{count} rules")),
            sort_text: Some(format!("~{name}")),
            ..CompletionItem::default()
        }
    });
    rules.chain(sets).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_completed_within_suppression_brackets() {
        for (before, expected) in [
            ("# sqslint: ignore[", true),
            ("a = 1 // sqslint: ignore[visibility-timeout-zero, ", true),
            ("# sqslint: ignore-file[", true),
            ("# sqslint: ignore[a] ", false),
            ("# sqslint: ", false),
            ("Metadata:\n  sqslint:\n    ignore:\n      - rule: ", true),
            ("rule: ", false),
            ("a[", false),
        ] {
            assert_eq!(names_in_suppression(before), expected, "{before}");
        }
    }

    #[test]
    fn rules_sets_and_settings_are_completed_in_configurations() {
        let labels = |before: &str| -> Vec<String> {
            let items = in_configuration(before, Catalogue::BUILT_IN)
                .unwrap_or_default()
                .into_iter();
            items.map(|item| item.label).collect()
        };
        let has = |before: &str, label: &str| labels(before).iter().any(|known| known == label);
        assert!(has("[rules.", "visibility-timeout-too-short"));
        assert!(has("select = [\"", "pedantic"));
        assert!(has("ignore = [\n  \"redrive\",\n  \"", "visibility"));
        assert!(has("[rules.visibility-timeout-too-short]\n", "factor"));
        let table = "[rules.visibility-timeout-too-short]\n";
        for (line, expected) in [
            ("severity = ", vec!["\"error\"", "\"warning\"", "\"info\""]),
            ("severity = \"", vec!["error", "warning", "info"]),
            ("factor = ", vec!["6"]),
            ("count-window = ", vec!["true", "false"]),
            ("suppressible = t", vec!["true", "false"]),
            ("facter = ", vec![]),
        ] {
            assert_eq!(labels(&format!("{table}{line}")), expected, "{line}");
        }
        assert!(labels("[rules.own-policy]\n").is_empty(), "there is none");
        assert!(labels("[rules.visibility-timeout-too-short]\nfactor = 3\n\n[[override]]\n").is_empty());
        assert!(labels("baseline = \"").is_empty());
        assert!(labels("fail-level = ").is_empty());
    }
}
