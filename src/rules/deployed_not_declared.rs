//! Flags queues and mappings of an account that no unit declares.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "deployed-not-declared",
    Category::Deployed,
    Severity::Info,
    "a queue or mapping in the account is not in the code",
    set = Set::Pedantic
);

fn check(findings: &mut Findings<'_>) {
    for resource in findings.graph.undeclared() {
        let headline = format!("{resource} is deployed, and no checked file declares it");
        let finding = Finding::new("", headline, resource.header, "in the account")
            .help("import it into the code, delete it, or check the files that declare it, too");
        findings.report(&resource.when, &resource, finding);
    }
}
