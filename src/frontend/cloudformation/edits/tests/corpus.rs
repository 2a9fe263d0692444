//! Adds a visibility timeout to every queue of real templates, and a dead-letter queue to those without one.

use super::{absent, applied, reads};
use crate::diagnostic::{Change, MissingDeadLetterQueue};
use crate::frontend::edits::edits;
use crate::{Options, Outcome, Stdin, check};
use needs::PROJECTS;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

/// Returns the real projects, if they are available.
fn projects() -> Vec<PathBuf> {
    let Some(shared) = PROJECTS.found() else {
        return Vec::new();
    };
    let found = std::fs::read_dir(shared.join("corpus/dev")).unwrap();
    let mut all: Vec<PathBuf> = found
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    all.sort();
    all
}

/// Returns the rule and the headline of each finding.
fn findings(outcome: &Outcome) -> BTreeSet<String> {
    let stated = outcome
        .findings
        .iter()
        .map(|found| format!("{} {}", found.rule, found.headline));
    stated.collect()
}

/// Returns `true` if `after` contains every line of `before`, in order; in JSON a comma may be added, and `{}` filled.
fn keeps_lines(before: &str, after: &str) -> bool {
    let bare = |line: &str| line.trim_end().trim_end_matches(',').trim_end_matches("{}").to_owned();
    let mut lines = after.split_inclusive('\n');
    before.split_inclusive('\n').all(|line| {
        let is_json = line.contains('"');
        lines.any(|other| other == line || bare(other) == bare(line) || (is_json && bare(other) == bare(line) + "{"))
    })
}

#[test]
fn every_queue_of_real_templates_can_be_fixed() {
    let (mut requested, mut made) = (0, 0);
    for project in projects() {
        let options = Options {
            paths: vec![project.clone()],
            ..Options::default()
        };
        let before = check(&options);
        let mut known = HashMap::new();
        for queue in before.graph.queues() {
            let header = queue.resource.header;
            let file = before.sources.file(header.file);
            if queue.resource.kind.as_ref() != "AWS::SQS::Queue" {
                continue;
            }
            let fifo = queue.fifo.known() == Some(&true);
            let changes = [
                Change::Number {
                    place: absent(header, "VisibilityTimeout"),
                    value: 7200,
                },
                Change::DeadLetterQueue(MissingDeadLetterQueue {
                    header,
                    fifo,
                    max_receive_count: 5,
                    retention: 1_209_600,
                    to: None,
                }),
            ];
            for change in changes {
                requested += 1;
                let Some(edits) = edits(&change, &before.sources) else {
                    continue;
                };
                made += 1;
                let text = applied(file.text(), &edits);
                assert!(reads(&text), "{}\n{text}", file.shown());
                assert!(keeps_lines(file.text(), &text), "{}\n{text}", file.shown());
                let is_queue = matches!(change, Change::DeadLetterQueue(_));
                if std::env::var_os("SQSLINT_SHOW").is_some() {
                    let diff = similar::TextDiff::from_lines(file.text(), &text);
                    println!("{}", diff.unified_diff().header(file.shown(), file.shown()));
                }
                // A longer timeout may exceed other settings of the template.
                if !is_queue {
                    continue;
                }
                let alone = Options {
                    paths: vec![file.path().to_owned()],
                    ..Options::default()
                };
                let old = known.entry(header.file).or_insert_with(|| findings(&check(&alone)));
                let after = check(&Options {
                    stdin: Some(Stdin {
                        text,
                        path: Some(file.path().to_owned()),
                    }),
                    ..alone
                });
                let new = findings(&after);
                let worse = new.difference(old);
                // The alarm is a separate change.
                let worse = worse.filter(|stated| !stated.starts_with("dead-letter-queue-unalarmed"));
                let worse: Vec<&String> = worse.collect();
                assert!(worse.is_empty(), "{}: {worse:#?}", file.shown());
            }
        }
    }
    println!("{made} of {requested}");
}
