//! Flags `SqsSubscription.Enabled: false`, which the SAM transform replaces by `true`.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "sam-subscription-enabled-ignored",
    Category::PipesAndSam,
    Severity::Warning,
    "`SqsSubscription.Enabled: false` is ignored, and the mapping polls"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        if let Some(span) = mapping.ignored_disabling {
            let headline = format!("{mapping} polls although `Enabled` is `false`");
            let label = "the SAM transform writes `Enabled: true` in place of this";
            let finding = Finding::new("enabled", headline, span, label)
                .help("subscribe the queue by an `AWS::SNS::Subscription`, and read it by an event of type `SQS`");
            findings.report(&mapping.resource.when, mapping, finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Sam;

    #[test]
    fn explicit_false_is_flagged() {
        let count = |more: &str| {
            let text = format!(
                "Resources:\n  T: {{Type: AWS::SNS::Topic}}\n  Q: {{Type: AWS::SQS::Queue}}\n  F:\n    \
                 Type: AWS::Serverless::Function\n    Properties:\n      Handler: h\n      Runtime: nodejs22.x\n      \
                 CodeUri: .\n      Events:\n        E:\n          Type: SNS\n          Properties:\n            \
                 Topic: !Ref T\n            SqsSubscription:\n              QueueArn: !GetAtt Q.Arn\n              \
                 QueueUrl: !Ref Q\n{more}"
            );
            Sam.findings(&RULE, &text).len()
        };
        assert_eq!(count("              Enabled: false\n"), 1);
        assert_eq!(count("              Enabled: true\n"), 0);
        assert_eq!(count(""), 0);
    }
}
