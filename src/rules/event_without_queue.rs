//! Flags events of functions that should name a queue and name none.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "event-without-queue",
    Category::Mapping,
    Severity::Error,
    "an `sqs` event of a function names no queue, so the function polls none"
);

fn check(findings: &mut Findings<'_>) {
    for event in findings.graph.events_without_queue() {
        let shown = event.resource.shown();
        let finding = if event.is_skipped {
            let headline = format!("{shown} has an `sqs` event without a value, so it polls no queue");
            let finding = Finding::new(
                "events_without_queue",
                headline,
                event.span,
                "an event without a value is skipped",
            );
            let misplaced = event.misplaced.iter().take(MOST_LABELS);
            let finding = misplaced.fold(finding, |finding, (name, span)| {
                finding.label(*span, format!("`{name}` is next to `sqs` instead of inside it"))
            });
            finding
                .severity(Severity::Warning)
                .help("set `arn` inside `sqs`, indented further than `sqs` itself")
        } else {
            let headline = format!("{shown} has an `sqs` event without an ARN");
            let label = "the deployment fails on an event without `arn`";
            Finding::new("events_without_queue", headline, event.span, label).help("set `arn` to the ARN of the queue")
        };
        findings.report(&event.resource.when, event, finding);
    }
}

/// Maximum number of misplaced keys that have labels.
const MOST_LABELS: usize = 20;

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Serverless;

    #[test]
    fn events_without_a_value_or_an_arn_are_flagged() {
        let skipped = "warning set `arn` inside `sqs`, indented further than `sqs` itself";
        let fails = "error set `arn` to the ARN of the queue";
        for (event, labels, expected) in [
            ("sqs: null", 1, Some(skipped)),
            ("sqs:", 1, Some(skipped)),
            (
                "sqs:\n        arn: !GetAtt Q.Arn\n        batchSize: 5",
                3,
                Some(skipped),
            ),
            ("sqs: {batchSize: 5}", 1, Some(fails)),
            ("sqs: !GetAtt Q.Arn", 1, Some(fails)),
            ("sqs: {arn: null, batchSize: 5}", 1, Some(fails)),
            ("sqs: {arn: !GetAtt Q.Arn}", 0, None),
            ("sqs: arn:aws:sqs:eu-west-1:111122223333:orders", 0, None),
            ("sqs: ${env:EVENT}", 0, None),
            ("schedule: rate(1 minute)", 0, None),
        ] {
            let text = format!(
                "service: s\nprovider: {{name: aws}}\nfunctions:\n  work:\n    handler: a.b\n    events:\n      \
                 - {event}\nresources:\n  Resources:\n    Q: {{Type: AWS::SQS::Queue}}\n"
            );
            let found = Serverless.findings(&RULE, &text);
            let said = found
                .first()
                .map(|one| format!("{} {}", one.severity, one.help.as_deref().unwrap_or_default()));
            assert_eq!(said.as_deref(), expected, "{event}");
            assert_eq!(found.first().map_or(0, |one| one.labels().len()), labels, "{event}");
            assert!(found.len() < 2, "{event}");
        }
    }
}
