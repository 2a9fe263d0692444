//! Flags declared processing times that were measured long ago.

use super::prelude::*;
use crate::graph::declared::{DeclaredConsumer, Measured};

settings! {
    /// Maximum age of a measurement.
    struct Freshness of "latency-budget-stale" {
        max_age: i64 = 180, at least 1, "after how many days a measurement is old";
    }
}

pub(super) static RULE: Rule = rule!(
    "latency-budget-stale",
    Category::Consumers,
    Severity::Info,
    "the declared time for a message was measured long ago",
    settings = Freshness::ALL
);

fn check(findings: &mut Findings<'_>) {
    // A declaration may match many queues and is reported once.
    let mut told: Vec<*const DeclaredConsumer> = Vec::new();
    for queue in findings.graph.queues() {
        let Freshness { max_age } = findings.settings(queue);
        for declared in findings.graph.declared(queue) {
            let Some(measured) = &declared.measured else { continue };
            let this = std::ptr::from_ref(&**declared);
            if told.contains(&this) {
                continue;
            }
            told.push(this);
            let is_fresh = fact(measured.age <= max_age, || {
                format!("{} days since {} ≤ {max_age} days", measured.age, measured.day)
            });
            findings.require(&queue.resource.when, queue, is_fresh, || {
                stale(queue, declared, measured)
            });
        }
    }
}

fn stale(queue: &Queue, declared: &DeclaredConsumer, measured: &Measured) -> Finding {
    let headline = format!(
        "the times of the consumer `{}` were measured {} days ago",
        declared.queue, measured.age
    );
    let header = queue.resource.header;
    let finding = Finding::new("consumer", headline, header, "the timeouts of this queue rest on them");
    let finding = measured
        .span
        .into_iter()
        .fold(finding, |all, span| all.label(span, "measured then"));
    finding.help(
        "measure again, and set `measured` to the day of it: work grows a step at a time, and timeouts stay behind",
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::run_files;

    /// Returns the headlines; in tests, the current date is 2026-09-01.
    fn found(queue: &str, says: &str, more: &str) -> Vec<String> {
        let text = "resource \"aws_sqs_queue\" \"a\" {}\nresource \"aws_sqs_queue\" \"b\" {}\n";
        let settings = format!("[[consumer]]\nqueue = \"{queue}\"\n{says}\n{more}\n");
        let outcome = run_files(&RULE, &[("main.tf", text), ("sqslint.toml", &settings)]);
        assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
        outcome.findings.iter().map(|found| found.headline.clone()).collect()
    }

    #[test]
    fn measurement_older_than_180_days_is_flagged() {
        assert!(found("*.a", "measured = 2026-03-05", "").is_empty());
        assert_eq!(
            found("*.a", "measured = 2026-03-04", ""),
            ["the times of the consumer `*.a` were measured 181 days ago"]
        );
        assert_eq!(found("*.a", "measured = \"2026-03-04\"", "").len(), 1);
        assert!(found("*.a", "measured = 2027-01-01", "").is_empty());
        assert!(found("*.a", "processing = { max = \"1s\" }", "").is_empty());
    }

    #[test]
    fn maximum_age_can_be_set() {
        let settings = "[rules.latency-budget-stale]\nmax-age = 30";
        assert!(found("*.a", "measured = 2026-08-02", settings).is_empty());
        assert_eq!(found("*.a", "measured = 2026-08-01", settings).len(), 1);
    }

    #[test]
    fn declaration_for_two_queues_is_reported_once() {
        assert_eq!(found("aws_sqs_queue.*", "measured = 2020-01-01", "").len(), 1);
    }
}
