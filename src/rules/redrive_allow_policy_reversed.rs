//! Flags redrive allow policies on a source queue that list its dead-letter queue, although the policy belongs on the
//! dead-letter queue.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "redrive-allow-policy-reversed",
    Category::Redrive,
    Severity::Error,
    "a redrive allow policy is on the source queue and names its dead-letter queue, not the reverse"
);

fn check(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    for source in graph.queues() {
        for allow in findings.known(&source.resource.when, source, &source.redrive_allow) {
            for listed in allow.value.iter().flat_map(|policy| &policy.sources) {
                for listed in findings.known(&allow.when, source, listed) {
                    let Some(dlq) = graph.queue(source.resource.unit, listed.value) else {
                        continue;
                    };
                    let leads_here = graph.sources_of(source).iter().any(|from| std::ptr::eq(*from, dlq));
                    let is_source = fact(leads_here, || format!("{dlq} sends its failures here"));
                    if findings.satisfied(&listed.when, source, is_source.depending_on(&listed)) {
                        continue;
                    }
                    for when in reversed(findings, source, dlq, &listed.when) {
                        findings.report(&when, source, finding(source, dlq, &listed));
                    }
                }
            }
        }
    }
}

/// Returns the conditions in `when` under which `dlq` is the dead-letter queue of `source`, has no redrive allow policy
/// of its own, and does not use `source` as its dead-letter queue.
fn reversed(findings: &mut Findings<'_>, source: &Queue, dlq: &Queue, when: &Condition) -> Vec<Condition> {
    let leads = |from: &Queue, to: &Queue, when: &Condition| {
        let targets = from.redrive_targets(when).into_iter();
        let those = targets.filter(|(_, link)| {
            let found = findings.graph.queue(from.resource.unit, link);
            found.is_some_and(|found| std::ptr::eq(found, to))
        });
        those.fold(Condition::never(), |all, (when, _)| all.or(&when))
    };
    if std::ptr::eq(source, dlq) {
        return Vec::new();
    }
    let both = leads(source, dlq, &when.and(&dlq.resource.when));
    let mut all = Vec::new();
    for own in findings.known(&both, dlq, &dlq.redrive_allow) {
        if own.value.is_none() {
            for redrive in findings.redrives(&own.when, dlq) {
                all.push(redrive.when.and(&leads(dlq, source, &redrive.when).not()));
            }
        }
    }
    all
}

fn finding(source: &Queue, dlq: &Queue, listed: &Known<'_, Link>) -> Finding {
    let (shown, dlq_shown) = (source.resource.shown(), dlq.resource.shown());
    let headline = format!(
        "{shown} allows its own dead-letter queue {dlq_shown} to send it failed messages, and {dlq_shown} allows no queue by name: the policy is on the wrong queue"
    );
    Finding::new(
        "redrive_allow",
        headline,
        listed,
        format!("{dlq_shown} receives failures of {shown}, not the reverse"),
    )
    .label(dlq.resource.header, "the redrive allow policy belongs here")
    .help(format!(
        "move the redrive allow policy to {dlq_shown}, with `{}` in `sourceQueueArns`",
        source.resource.arn_reference()
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    #[test]
    fn policy_on_source_that_lists_dead_letter_queue_is_flagged() {
        let other = r#"resource "aws_sqs_queue" "other" {}"#;
        queue().terraform(other).queue("permission", "byQueue").check(
            &RULE,
            "
            queue.sources               | dlq.permission | dlq.redrive_allow | dlq.redrive | finding
            [dlq.arn]                   |                |                   |             | queue.sources
            = [aws_sqs_queue.other.arn] |                |                   |             |
            [open]                      |                |                   |             |
            [dlq.arn]                   |                | open              |             |
            [dlq.arn]                   |                |                   | open        |
            [dlq.arn]                   | allowAll       |                   |             |
            ",
        );
        let table = "queue.sources | dlq.fifo | finding\n [dlq.arn] | false | queue.sources";
        queue().queue("permission", "byQueue").check(&RULE, table);
    }
}
