//! Flags queues that set two kinds of encryption.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "queue-encryption-conflict",
    category: Category::Queue,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "a queue asks for SSE-SQS and names a KMS key, and SQS accepts only one of them",
    page: include_str!("../../rules/queue-encryption-conflict.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
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
                        let headline = format!("{} asks for SSE-SQS and for a KMS key", queue.resource.shown());
                        Finding::new(
                            "managed_encryption",
                            headline,
                            &managed,
                            "SQS's own keys are to encrypt the queue",
                        )
                        .label(&key, "and this key is, too: SQS accepts one of them")
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
    use crate::testing::Dialect::Terraform;
    use crate::testing::findings;

    #[test]
    fn two_kinds_of_encryption_are_flagged() {
        let count = |arguments: &str| {
            let text = format!("variable \"open\" {{}}\nresource \"aws_sqs_queue\" \"q\" {{\n{arguments}\n}}\n");
            findings(&RULE, Terraform, &text).len()
        };
        assert_eq!(
            count("sqs_managed_sse_enabled = true\nkms_master_key_id = \"alias/orders\""),
            1
        );
        assert_eq!(
            count("sqs_managed_sse_enabled = false\nkms_master_key_id = \"alias/orders\""),
            0
        );
        assert_eq!(count("sqs_managed_sse_enabled = true"), 0);
        assert_eq!(count("kms_master_key_id = \"alias/orders\""), 0);
        assert_eq!(
            count("sqs_managed_sse_enabled = var.open\nkms_master_key_id = \"alias/orders\""),
            0
        );
        assert_eq!(count("sqs_managed_sse_enabled = true\nkms_master_key_id = var.open"), 0);
    }
}
