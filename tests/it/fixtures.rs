//! Checks that each stack under `fixtures/<rule-id>/<dialect>/` does what its name says: `invalid-…` has findings of
//! the rule, `valid-…` has none.

use crate::inputs::{directories, name, repository};
use sqslint::rules::Verdict;
use sqslint::selection::Selection;
use sqslint::suppress::Day;
use sqslint::{Options, rules, testing};
use std::collections::BTreeSet;

#[test]
fn fixtures_match_their_names() {
    let root = repository("fixtures");
    let mut wrong = Vec::new();
    for of_rule in directories(&root) {
        let Some(rule) = rules::by_id(name(&of_rule)) else {
            assert!(
                matches!(
                    name(&of_rule),
                    "cdk"
                        | "configurations"
                        | "planned"
                        | "plans"
                        | "remote-modules"
                        | "sam"
                        | "serverless"
                        | "stacks"
                        | "syntax"
                        | "templates"
                ),
                "{} is not a rule",
                name(&of_rule)
            );
            continue;
        };
        for stack in directories(&of_rule).iter().flat_map(|dialect| directories(dialect)) {
            let outcome = testing::run(rule, &stack);
            let flagged = outcome.findings.iter().filter(|found| found.rule == rule.id).count();
            let right = match name(&stack) {
                valid if valid.starts_with("valid-") => flagged == 0,
                invalid if invalid.starts_with("invalid-") => flagged > 0,
                other => panic!("{other}: a stack is called valid-… or invalid-…"),
            };
            if !right || outcome.graph.units().is_empty() {
                wrong.push(format!("{}\n{}", stack.display(), testing::describe(&outcome)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rules about the code of workers.
const OF_WORKER_CODE: [&str; 3] = [
    "countdown-exceeds-visibility-timeout",
    "worker-deletes-before-work",
    "worker-swallows-failures",
];

/// `sqslint explain` also shows rules that hold, so every rule must record that.
#[test]
fn every_rule_records_where_it_holds() {
    let outcome = sqslint::check(&Options {
        paths: vec![repository("fixtures")],
        trace: true,
        // Measured processing times become outdated, so the date is fixed.
        today: Day::parse("2026-06-01"),
        selection: Selection::new(Vec::new(), Vec::new(), true),
        ..Options::default()
    });
    let holds = outcome.judgements.iter();
    let holds: BTreeSet<&str> = holds
        .filter(|judged| matches!(&judged.verdict, Verdict::Holds(_)))
        .map(|judged| &*judged.rule)
        .collect();
    let silent = rules::RULES
        .iter()
        .filter(|rule| rule.check.is_some() && !holds.contains(rule.id))
        // These resources, made by the SAM transform, are wrong wherever they exist.
        .filter(|rule| !rule.id.starts_with("sam-subscription-"))
        // The fixtures have no snapshot; `deployed.rs` has.
        .filter(|rule| rule.category != rules::Category::Deployed)
        // The fixtures have no code of workers; `worker_code.rs` has.
        .filter(|rule| !OF_WORKER_CODE.contains(&rule.id))
        // The graph has only the unknown properties, and only the events without a queue.
        .filter(|rule| !["property-unknown", "event-without-queue"].contains(&rule.id));
    let silent: Vec<&str> = silent.map(|rule| rule.id).collect();
    assert!(silent.is_empty(), "{silent:?}");
}
