//! Flags queues that set two kinds of encryption.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "queue-encryption-conflict",
    Category::Queue,
    Severity::Error,
    "a queue asks for SSE-SQS and names a KMS key, and SQS accepts only one of them"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for key in findings.known(&queue.resource.when, queue, &queue.key) {
            if key.value.is_none() {
                continue;
            }
            for managed in findings.known(&key.when, queue, &queue.managed_encryption) {
                let is_one = fact(*managed.value != Some(true), || format!("`{}` alone is set", key.name));
                findings.require(
                    &managed.when,
                    queue,
                    is_one.depending_on(&key).depending_on(&managed),
                    || {
                        let headline = format!("{queue} asks for SSE-SQS and for a KMS key");
                        Finding::new(
                            "managed_encryption",
                            headline,
                            &managed,
                            "encryption with SQS's own keys is on",
                        )
                        .label(&key, "and a KMS key is set: SQS accepts only one of them")
                        .help(format!("remove `{}` to use the key, or `{}`", managed.name, key.name))
                    },
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    #[test]
    fn two_kinds_of_encryption_are_flagged() {
        queue().check(
            &RULE,
            "
            queue.managed_encryption | queue.key    | finding
            true                     | alias/orders | 1
            false                    | alias/orders |
            true                     |              |
                                     | alias/orders |
            open                     | alias/orders |
            true                     | open         |
            ",
        );
    }
}
