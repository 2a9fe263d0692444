//! Plants a defect of every rule into a sound stack. `fixtures/stacks/sound/` has a folder per stack and
//! `planted.toml`, which lists one edit per rule. An unchanged stack has only the findings that its comments name
//! (`sound: <rule> <address>`); a stack with an edit has a finding of the edit's rule, and otherwise only those that
//! its row allows. `fixtures/stacks/workers/` does the same for workers, with one stack in each of two dialects.

use crate::inputs::{directories, entries, name, repository};
use serde::Deserialize;
use sqslint::rules::{Category, RULES};
use sqslint::selection::Selection;
use sqslint::suppress::Day;
use sqslint::testing::{TemporaryDirectory, describe};
use sqslint::{Options, Outcome};
use std::collections::BTreeSet;
use std::path::Path;

/// Prefix of a rule and an address in a comment of a stack.
const MARK: &str = "sound: ";

#[derive(Deserialize)]
struct Table {
    planted: Vec<Planted>,
}

/// Defect to plant, and its expected findings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Planted {
    /// Rule that must find it.
    rule: String,
    stack: String,
    file: String,
    /// Text that occurs once in the file, and its replacement.
    old: String,
    new: String,
    /// Other rules that may report as well.
    #[serde(default)]
    also: Vec<String>,
    /// Rules that a comment names and that no longer report.
    #[serde(default)]
    gone: Vec<String>,
}

const SOUND: &str = "fixtures/stacks/sound";
const WORKERS: &str = "fixtures/stacks/workers";

fn planted(root: &Path) -> Vec<Planted> {
    let text = std::fs::read_to_string(root.join("planted.toml")).unwrap();
    toml::from_str::<Table>(&text).unwrap().planted
}

/// Reads the files of a stack, by relative path.
fn files(stack: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut directories = vec![stack.to_owned()];
    while let Some(directory) = directories.pop() {
        for path in entries(&directory) {
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let shown = path.strip_prefix(stack).unwrap().display().to_string();
            all.push((shown, std::fs::read_to_string(&path).unwrap()));
        }
    }
    all
}

/// Checks a stack with all rules.
fn check(stack: &Path) -> Outcome {
    // The output of a CDK app is only checked when named.
    let synthesised = stack.join("cdk.out");
    let path = if synthesised.is_dir() {
        synthesised
    } else {
        stack.to_owned()
    };
    sqslint::check(&Options {
        paths: vec![path],
        selection: Selection::new(Vec::new(), Vec::new(), true),
        // Measured processing times become outdated, so the date is fixed.
        today: Day::parse("2026-06-01"),
        ..Options::default()
    })
}

/// Findings by rule and address.
type Found = BTreeSet<(String, String)>;

fn found(outcome: &Outcome) -> Found {
    let all = outcome.findings.iter();
    all.map(|found| (found.rule.to_string(), found.subject.address.clone()))
        .collect()
}

/// Returns the findings that the comments of a stack name.
fn named(files: &[(String, String)]) -> Found {
    let lines = files.iter().flat_map(|(_, text)| text.lines());
    let marked = lines.filter_map(|line| line.split_once(MARK));
    let names = marked.filter_map(|(_, rest)| {
        let mut words = rest.split([' ', '"']).map(str::to_owned);
        Some((words.next()?, words.next()?))
    });
    names.collect()
}

#[test]
fn sound_stacks_have_only_the_named_findings() {
    let [sound, workers] = [SOUND, WORKERS].map(|root| directories(&repository(root)));
    assert_eq!((sound.len(), workers.len()), (12, 2));
    for stack in sound.into_iter().chain(workers) {
        let outcome = check(&stack);
        assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
        assert!(outcome.graph.queues().len() >= 3, "{}", stack.display());
        assert_eq!(
            found(&outcome),
            named(&files(&stack)),
            "{}\n{}",
            stack.display(),
            describe(&outcome)
        );
    }
}

#[test]
fn planted_defects_are_found() {
    let mut wrong = Vec::new();
    for root in [SOUND, WORKERS].map(repository) {
        for defect in planted(&root) {
            wrong.extend(plant(&root, &defect));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Plants `defect` and describes the difference from the expected findings, if any.
fn plant(root: &Path, defect: &Planted) -> Option<String> {
    let mut files = files(&root.join(&defect.stack));
    let named = named(&files);
    let (file, text) = files.iter_mut().find(|(file, _)| *file == defect.file).unwrap();
    let times = text.matches(&defect.old).count();
    assert_eq!(times, 1, "{}: {:?} in {file}", defect.rule, defect.old);
    *text = text.replacen(&defect.old, &defect.new, 1);
    let files = files.iter().map(|(file, text)| (file.as_str(), text.as_str()));
    let directory = TemporaryDirectory::with_files(files);
    let outcome = check(directory.path());
    let found = found(&outcome);
    let new: BTreeSet<&str> = found.difference(&named).map(|(rule, _)| rule.as_str()).collect();
    let gone: BTreeSet<&str> = named.difference(&found).map(|(rule, _)| rule.as_str()).collect();
    let allowed = |rule: &str| rule == defect.rule || defect.also.iter().any(|other| other == rule);
    let is_right = new.contains(defect.rule.as_str())
        && new.iter().all(|rule| allowed(rule))
        && gone.iter().all(|rule| defect.gone.iter().any(|other| other == rule));
    // A row must not allow more than happens.
    let is_exact = defect.also.iter().all(|rule| new.contains(rule.as_str()));
    (!is_right || !is_exact).then(|| {
        format!(
            "{} in {}: new {new:?}, gone {gone:?}, allowed {:?}\n{}",
            defect.rule,
            defect.stack,
            defect.also,
            describe(&outcome)
        )
    })
}

/// Rules on resources that no sound stack has. The examples of their pages contain the defect.
const NOT_IN_STACKS: [&str; 4] = [
    "countdown-exceeds-visibility-timeout",
    "fifo-message-delay",
    "producer-role-missing-key-permission",
    // A stack has neither a plan nor an earlier commit; `history/since.rs` has.
    "queue-replaced",
];

#[test]
fn every_rule_and_every_stack_has_a_planted_defect() {
    let root = repository(SOUND);
    let rules: BTreeSet<String> = planted(&root).into_iter().map(|defect| defect.rule).collect();
    // A stack has no snapshot of what is deployed; `deployed.rs` has.
    let planted_here = RULES.iter().filter(|rule| rule.category != Category::Deployed);
    let planted_here = planted_here.filter(|rule| !NOT_IN_STACKS.contains(&rule.id));
    let known: BTreeSet<String> = planted_here.map(|rule| rule.id.to_owned()).collect();
    let missing: Vec<_> = known.difference(&rules).collect();
    assert!(
        missing.is_empty(),
        "no defect is planted for {missing:?}: add a row for each to fixtures/stacks/sound/planted.toml"
    );
    assert!(rules.is_subset(&known), "{:?}", rules.difference(&known));
    let used: BTreeSet<String> = planted(&root).into_iter().map(|defect| defect.stack).collect();
    for stack in directories(&root) {
        assert!(
            used.contains(name(&stack)),
            "nothing is planted into {}",
            stack.display()
        );
    }
}
