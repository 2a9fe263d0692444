//! Harm of each rule, for findings without a timeline. Rules about hygiene, alarms and what AWS rejects have none.

use crate::diagnostic::Harm::{self, Duplicates, Loss, Stuck};

/// Rules by harm.
const HARMS: [(Harm, &[&str]); 3] = [
    (
        Loss,
        &[
            "async-failure-target-fifo",
            "batch-item-failures-ignored",
            "batch-item-failures-incomplete",
            "claim-never-released",
            "dead-letter-policy-missing",
            "dead-letter-queue-retention-too-short",
            "event-target-dead-letter-missing",
            "fifo-dead-letter-queue-retention-short",
            "fifo-target-without-message-group",
            "filter-discards-messages",
            "filter-key-unsupported",
            "filter-misses-sns-envelope",
            "function-dead-letter-config-ineffective",
            "handler-reads-first-record-only",
            "handler-skips-remaining-records",
            "handler-swallows-failures",
            "max-receive-count-low-for-poller",
            "max-receive-count-too-low",
            "producer-role-missing-key-permission",
            "queue-competing-consumers",
            "queue-competing-filters",
            "queue-delay-exceeds-retention",
            "queue-key-blocks-service",
            "queue-policy-missing-for-producer",
            "queue-policy-never-matches",
            "queue-policy-overwritten",
            "queue-policy-targets-arn",
            "queue-replaced",
            "queue-retention-too-short",
            "queue-without-redrive-policy",
            "redrive-policy-missing",
            "redrive-policy-overwritten",
            "retries-outlast-retention",
            "sam-subscription-queue-implicit",
            "sns-redrive-policy-invalid",
            "sns-subscription-dead-letter-missing",
            "target-role-missing-send-permission",
            "visibility-timeout-exceeds-retention",
            "worker-deletes-before-work",
            "worker-swallows-failures",
        ],
    ),
    (
        Duplicates,
        &[
            "batch-exceeds-function-timeout",
            "batch-item-failures-malformed",
            "batch-item-failures-never-returned",
            "batch-item-failures-unreported",
            "body-parsed-outside-try",
            "check-then-act",
            "consumer-heartbeat-too-slow",
            "consumer-processing-exceeds-maximum",
            "consumer-visibility-timeout-too-short",
            "countdown-exceeds-visibility-timeout",
            "durable-execution-exceeds-poller-limit",
            "execution-not-idempotent",
            "fifo-target-without-deduplication",
            "function-timeout-defaulted",
            "handler-polls-own-queue",
            "handler-without-time-budget",
            "idempotency-without-deadline",
            "latency-budget-exceeds-function-timeout",
            "pipe-visibility-timeout-too-short",
            "visibility-timeout-below-function-timeout",
            "visibility-timeout-below-window",
            "visibility-timeout-defaulted",
            "visibility-timeout-too-short",
            "visibility-timeout-uncoupled",
            "visibility-timeout-zero",
            "worker-stopped-mid-message",
            "worker-time-undeclared",
        ],
    ),
    (
        Stuck,
        &[
            "consumer-recovery-slow",
            "cross-account-queue-default-key",
            "dead-letter-queue-cycle",
            "dead-letter-queue-reprocessed",
            "failure-target-is-source-queue",
            "fifo-group-blocked-too-long",
            "function-feeds-own-queue",
            "function-role-missing-kms-decrypt",
            "function-role-missing-queue-permission",
            "handler-function-missing",
            "in-flight-limit-at-risk",
            "max-receive-count-too-high",
            "maximum-concurrency-exceeds-reserved",
            "pipe-role-missing-queue-permission",
            "record-key-unknown",
            "redrive-allow-policy-excludes-source",
            "redrive-allow-policy-reversed",
            "reserved-concurrency-too-low",
            "reserved-concurrency-zero",
            "s3-test-event-unhandled",
            "sns-envelope-mismatch",
            "task-token-without-timeout",
            "visibility-timeout-too-long",
            "worker-role-missing-queue-permission",
        ],
    ),
];

/// Returns the harm of findings of the rule `id`.
pub fn harm_of(id: &str) -> Option<Harm> {
    let found = HARMS.iter().find(|(_, rules)| rules.contains(&id));
    found.map(|(harm, _)| *harm)
}

#[cfg(test)]
mod tests {
    use super::HARMS;
    use crate::rules::by_id;
    use std::collections::BTreeSet;

    #[test]
    fn each_rule_is_listed_once_under_its_present_id() {
        let mut seen = BTreeSet::new();
        for id in HARMS.iter().flat_map(|(_, rules)| *rules) {
            assert!(by_id(id).is_some_and(|rule| rule.id == *id), "{id}");
            assert!(seen.insert(id), "{id} is listed twice");
        }
    }
}
