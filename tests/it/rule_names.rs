//! Checks that pages, comments and messages name only existing rules: each word that begins like a rule id must be one.

use crate::inputs::{entries, repository};
use sqslint::rules::{FORMER, RULES};
use std::collections::BTreeSet;
use std::path::Path;

/// Words that begin like a rule id but are not one: a misspelling in a test, the suffix of a queue name, a part of ARNs.
const NO_RULES: [&str; 5] = [
    "queue-name-has-a-stage",
    "redrive-policy-mising",
    "dead-letter-queue",
    "event-source-mapping",
    "queue-age-is-watched",
];

/// Returns the first two words of an id.
fn beginning(id: &str) -> &str {
    id.match_indices('-').nth(1).map_or(id, |(end, _)| &id[..end])
}

/// Returns the words of `text` that may be rule ids: three or more lowercase words joined by hyphens.
fn candidates(text: &str) -> impl Iterator<Item = &str> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let words = text
        .split(move |c: char| !is_inside(c))
        .map(|word| word.trim_end_matches('.'));
    words.filter(|word| {
        let parts: Vec<&str> = word.split('-').collect();
        let is_plain = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase());
        parts.len() > 2 && parts.iter().all(is_plain)
    })
}

fn texts(path: &Path, all: &mut Vec<(String, String)>) {
    if path.is_dir() {
        for entry in entries(path) {
            texts(&entry, all);
        }
    } else if let Ok(text) = std::fs::read_to_string(path) {
        all.push((path.display().to_string(), text));
    }
}

#[test]
fn words_that_look_like_rule_ids_are_rule_ids() {
    let mut known: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    let beginnings: BTreeSet<&str> = known.iter().map(|id| beginning(id)).collect();
    known.extend(FORMER.iter().map(|(former, _)| *former));
    let mut all = Vec::new();
    for place in [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "README.md",
        "docs",
        "rules",
        "sqslint.schema.json",
        "src",
    ] {
        texts(&repository(place), &mut all);
    }
    let mut unknown = BTreeSet::new();
    for (file, text) in &all {
        for word in candidates(text) {
            let reads_like_one = beginnings.contains(beginning(word));
            if reads_like_one && !known.contains(word) && !NO_RULES.contains(&word) {
                unknown.insert(format!("{file}: {word}"));
            }
        }
    }
    assert!(unknown.is_empty(), "no such rules: {unknown:#?}");
}

#[test]
fn candidates_are_found_in_prose() {
    let text = "`sqslint explain redrive-policy-missing`, see rules/redrive-policy-missing.md and a-b-c.";
    assert_eq!(
        candidates(text).collect::<Vec<_>>(),
        ["redrive-policy-missing", "a-b-c"]
    );
}
