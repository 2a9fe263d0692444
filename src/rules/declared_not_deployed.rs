//! Flags declared queues that an account does not have.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "declared-not-deployed",
    Category::Deployed,
    Severity::Info,
    "a declared queue does not exist in the account",
    set = Set::Pedantic
);

fn check(findings: &mut Findings<'_>) {
    for (queue, name) in findings.graph.undeployed() {
        let headline = format!("{queue} is declared, and the snapshot has no queue `{name}`");
        let finding = Finding::new("name", headline, queue.resource.header, "not in the snapshot")
            .help("deploy it, or take the snapshot in the account and Region to which it is deployed");
        findings.report(&queue.resource.when, queue, finding);
    }
}
