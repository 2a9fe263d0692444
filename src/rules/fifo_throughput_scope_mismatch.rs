//! Flags FIFO queues with an incompatible combination of throughput limit and deduplication scope.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "fifo-throughput-scope-mismatch",
    Category::Fifo,
    Severity::Error,
    "a FIFO queue's throughput limit and deduplication scope do not go together"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for fifo in findings.known(&queue.resource.when, queue, &queue.fifo) {
            // `fifo-attribute-on-standard-queue` reports standard queues.
            if !fifo.value {
                continue;
            }
            for limit in findings.known(&fifo.when, queue, &queue.throughput_limit) {
                for scope in findings.known(&limit.when, queue, &queue.deduplication_scope) {
                    judge(findings, queue, &limit, &scope);
                }
            }
        }
    }
}

type Setting<'g> = Known<'g, Option<String>>;

fn judge(findings: &mut Findings<'_>, queue: &Queue, limit: &Setting<'_>, scope: &Setting<'_>) {
    let is_by_group = |known: &Setting<'_>, wanted: &str| known.value.as_deref() == Some(wanted);
    let (limited, scoped) = (
        is_by_group(limit, "perMessageGroupId"),
        is_by_group(scope, "messageGroup"),
    );
    let same = fact(limited == scoped, || {
        let of = if limited {
            "each message group"
        } else {
            "the whole queue"
        };
        format!("throughput and deduplication are those of {of}")
    });
    findings.require(&scope.when, queue, same.depending_on(limit).depending_on(scope), || {
        if limited {
            refused(queue, limit, scope)
        } else {
            useless(queue, limit, scope)
        }
    });
}

fn refused(queue: &Queue, limit: &Setting<'_>, scope: &Setting<'_>) -> Finding {
    let headline = format!(
        "{queue} limits the throughput per message group, but deduplicates over the whole queue, which SQS rejects"
    );
    Finding::new(
        "throughput_limit",
        headline,
        limit,
        "requires the deduplication scope `messageGroup`",
    )
    .label(
        scope,
        format!("the deduplication scope is `queue`{}", scope.provenance()),
    )
    .help(format!(
        "set `{}` to `messageGroup`, or remove `{}`",
        scope.name, limit.name
    ))
}

fn useless(queue: &Queue, limit: &Setting<'_>, scope: &Setting<'_>) -> Finding {
    let headline = format!(
        "{queue} deduplicates per message group, but limits the throughput over the whole queue, so nothing is gained"
    );
    Finding::new("deduplication_scope", headline, scope, "a narrower deduplication")
        .severity(Severity::Info)
        .label(
            limit,
            format!("the throughput limit is `perQueue`{}", limit.provenance()),
        )
        .help(format!(
            "set `{}` to `perMessageGroupId` for high throughput, or remove `{}`",
            limit.name, scope.name
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    #[test]
    fn per_group_limit_and_scope_must_be_set_together() {
        queue().check(
            &RULE,
            "
            queue.fifo | queue.throughput_limit | queue.deduplication_scope | finding
            true       | perMessageGroupId      | messageGroup              |
            true       | null                   | null                      |
            true       | perQueue               | queue                     |
            true       | perMessageGroupId      | null                      | error queue.throughput_limit
            true       | perMessageGroupId      |                           | error queue.throughput_limit
            true       | perMessageGroupId      | queue                     | error
            true       | null                   | messageGroup              | info
            true       | perQueue               | messageGroup              | info
            true       | perMessageGroupId      | open                      |
            true       | open                   | messageGroup              |
            false      | perMessageGroupId      | null                      |
            open       | perMessageGroupId      | null                      |
            ",
        );
    }
}
