//! Flags keys of an event that the Serverless Framework does not know.

use super::prelude::*;
use crate::graph::UnknownKey;

pub(super) static RULE: Rule = Rule {
    id: "serverless-event-key-unknown",
    category: Category::Mapping,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "an `sqs` event has a key that the Serverless Framework does not know",
    page: include_str!("../../rules/serverless-event-key-unknown.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        if let Some((first, others)) = mapping.unknown_keys.split_first() {
            let finding = others.iter().fold(unknown(mapping, first), |finding, other| {
                finding.label(other.span, format!("`{}` has no effect either", other.key))
            });
            findings.report(&mapping.resource.when, mapping, finding);
        }
    }
}

fn unknown(mapping: &EventSourceMapping, unknown: &UnknownKey) -> Finding {
    let key = &unknown.key;
    let headline = format!(
        "{} sets `{key}`, which the Serverless Framework does not know",
        mapping.resource.shown()
    );
    let label = "the framework ignores this key, or rejects it with `configValidationMode: error`";
    let help = match unknown.nearest {
        Some(nearest) => format!("write `{nearest}` instead of `{key}`"),
        None => format!("remove `{key}`"),
    };
    Finding::new("unknown_keys", headline, unknown.span, label).help(help)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Serverless;
    use crate::testing::findings;

    fn help(event: &str) -> Vec<Option<String>> {
        let text = format!(
            "service: s\nprovider: {{name: aws}}\nfunctions:\n  work:\n    handler: a.b\n    events:\n      \
             - sqs: {event}\nresources:\n  Resources:\n    Q: {{Type: AWS::SQS::Queue}}\n"
        );
        let all = findings(&RULE, Serverless, &text).into_iter();
        all.map(|found| found.help).collect()
    }

    #[test]
    fn unknown_key_is_flagged_with_the_nearest_known_key() {
        for (key, nearest) in [
            ("maximumBatchingWindowInSeconds", "maximumBatchingWindow"),
            ("batchsize", "batchSize"),
            ("functionResponseTypes", "functionResponseType"),
            ("filterPattern", "filterPatterns"),
        ] {
            let expected = Some(format!("write `{nearest}` instead of `{key}`"));
            assert_eq!(help(&format!("{{arn: !GetAtt Q.Arn, {key}: 5}}")), [expected], "{key}");
        }
        assert_eq!(
            help("{arn: !GetAtt Q.Arn, colour: 5}"),
            [Some("remove `colour`".to_owned())]
        );
        // One event, one finding.
        assert_eq!(help("{arn: !GetAtt Q.Arn, colour: 5, batchsize: 5}").len(), 1);
    }

    #[test]
    fn known_keys_and_plain_arns_are_accepted() {
        for event in [
            "{arn: !GetAtt Q.Arn}",
            "{arn: !GetAtt Q.Arn, batchSize: 5, enabled: true, maximumBatchingWindow: 5, maximumConcurrency: 2}",
            "{arn: !GetAtt Q.Arn, functionResponseType: ReportBatchItemFailures, filterPatterns: [{body: [1]}]}",
            "!GetAtt Q.Arn",
            "{Fn::GetAtt: [Q, Arn]}",
            "arn:aws:sqs:eu-west-1:111122223333:orders",
            "${env:EVENT}",
        ] {
            assert!(help(event).is_empty(), "{event}");
        }
    }
}
