//! Names of rules where rules are named: in suppressions, and in `sqslint.toml`.

use super::position::Lines;
use super::worker::Worker;
use crate::config::NAMES;
use crate::rules::{Category, RULES, Set};
use crate::selection::{self, covers};
use lsp_types::{CompletionItem, CompletionItemKind, CompletionParams, Documentation, MarkupContent, MarkupKind};

/// What may be written at a place.
pub(super) fn at(worker: &Worker, params: &CompletionParams) -> Option<Vec<CompletionItem>> {
    let place = &params.text_document_position;
    let path = worker.path(&place.text_document.uri)?;
    let text = &worker.documents.get(&path)?.text;
    let offset = Lines::new(text, worker.settings.encoding).offset(place.position);
    let before = text.get(..offset)?;
    let name = path.file_name()?.to_str()?;
    if NAMES.contains(&name) {
        return in_configuration(before);
    }
    names_in_suppression(before).then(|| rules(false))
}

/// Whether `before` ends where a suppression names rules: `sqslint: ignore[`, or `rule: ` below `sqslint:`.
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

/// What may be written in a configuration: a rule behind `[rules.`, a rule, category or set in a list of them, and a
/// setting in the table of a rule.
fn in_configuration(before: &str) -> Option<Vec<CompletionItem>> {
    let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
    if line.starts_with("[rules.") && !line.contains(']') {
        return Some(rules(false));
    }
    let table = before.rsplit('\n').find(|line| line.starts_with('['));
    let quoted = line.matches('"').count() % 2 == 1;
    if quoted {
        let open = before.rfind('[')?;
        let key = before.get(..open)?.rsplit('\n').next()?.trim();
        let is_list = !before.get(open..)?.contains(']');
        let names_rules = ["select", "ignore"].iter().any(|name| key.starts_with(name));
        return (is_list && names_rules).then(|| rules(true));
    }
    let rule = table?.trim_end().strip_prefix("[rules.")?.strip_suffix(']')?;
    let rule = RULES.iter().find(|known| known.id == rule)?;
    let common = [
        (
            "severity",
            "`error`, `warning` or `info`, for every finding of the rule",
        ),
        ("suppressible", "whether comments may silence the rule"),
    ];
    let own = rule.settings.iter().map(|setting| (setting.name, setting.summary));
    let items = common.into_iter().chain(own).map(|(name, summary)| CompletionItem {
        label: name.to_owned(),
        kind: Some(CompletionItemKind::PROPERTY),
        detail: Some(summary.to_owned()),
        ..CompletionItem::default()
    });
    Some(items.collect())
}

/// Rules and categories, and sets where those count.
fn rules(with_sets: bool) -> Vec<CompletionItem> {
    let rules = RULES.iter().map(|rule| CompletionItem {
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
        let count = RULES.iter().filter(|rule| covers(name, rule)).count();
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
    fn suppressions_name_rules_within_their_brackets() {
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
    fn configurations_name_rules_sets_and_settings() {
        let labels = |before: &str| -> Vec<String> {
            let items = in_configuration(before).unwrap_or_default().into_iter();
            items.map(|item| item.label).collect()
        };
        let has = |before: &str, label: &str| labels(before).iter().any(|known| known == label);
        assert!(has("[rules.", "visibility-timeout-too-short"));
        assert!(has("select = [\"", "pedantic"));
        assert!(has("ignore = [\n  \"redrive\",\n  \"", "visibility"));
        assert!(has("[rules.visibility-timeout-too-short]\n", "factor"));
        assert!(labels("baseline = \"").is_empty());
        assert!(labels("fail-level = ").is_empty());
    }
}
