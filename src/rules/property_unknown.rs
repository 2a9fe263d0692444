//! Flags misspelled properties of queues and mappings.

use super::prelude::*;
use crate::graph::UnknownProperty;

pub(super) static RULE: Rule = rule!(
    "property-unknown",
    Category::Queue,
    Severity::Error,
    "a queue or an event source mapping has a misspelled property"
);

/// Maximum number of further properties that have labels.
const MOST_LABELS: usize = 20;

fn check(findings: &mut Findings<'_>) {
    let is_same = |one: &UnknownProperty, other: &UnknownProperty| {
        (one.resource.unit, &one.resource.address) == (other.resource.unit, &other.resource.address)
    };
    for unknown in findings.graph.unknown_properties().chunk_by(is_same) {
        // One deployment, one finding: the most severe fault, and the others as labels.
        let Some(first) = unknown
            .iter()
            .max_by_key(|one| (severity(one), std::cmp::Reverse(one.span.start)))
        else {
            continue;
        };
        let others = unknown
            .iter()
            .filter(|one| !std::ptr::eq::<UnknownProperty>(*one, first));
        let labelled = others.clone().take(MOST_LABELS);
        let mut finding = labelled.fold(of(first), |finding, other| finding.label(other.span, label(other)));
        let mut further = others.skip(MOST_LABELS);
        if let Some(next) = further.next() {
            let more = match further.count() {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            finding = finding.label(next.span, label(next) + &more);
        }
        findings.report(&first.resource.when, first, finding);
    }
}

fn severity(unknown: &UnknownProperty) -> Severity {
    if unknown.is_ignored {
        Severity::Warning
    } else {
        Severity::Error
    }
}

fn of(unknown: &UnknownProperty) -> Finding {
    let (shown, name) = (unknown.resource.shown(), &unknown.name);
    let headline = format!("{shown} sets `{name}`, which does not exist");
    let help = match unknown.meant {
        Some(meant) => format!("write `{meant}` instead of `{name}`"),
        None => format!("remove `{name}`"),
    };
    let finding = Finding::new("unknown_properties", headline, unknown.span, label(unknown));
    finding.severity(severity(unknown)).help(help)
}

fn label(unknown: &UnknownProperty) -> String {
    let name = &unknown.name;
    if !unknown.is_ignored {
        return format!("`{name}` is unknown, so the deployment fails");
    }
    match (unknown.meant, &unknown.default) {
        (Some(meant), Some(default)) => {
            format!("`{name}` is ignored; without `{meant}`, the default of {default} applies")
        }
        _ => format!("`{name}` is ignored"),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::Options;
    use crate::testing::Dialect::{CloudFormation, Sam, Serverless, Terraform};
    use crate::testing::TemporaryDirectory;

    /// Returns the severity and the help of each finding.
    fn found(dialect: crate::testing::Dialect, text: &str) -> Vec<String> {
        let all = dialect.findings(&RULE, text).into_iter();
        all.map(|found| format!("{} {}", found.severity, found.help.unwrap_or_default()))
            .collect()
    }

    fn event(event: &str) -> Vec<String> {
        let text = format!(
            "service: s\nprovider: {{name: aws}}\nfunctions:\n  work:\n    handler: a.b\n    events:\n      \
             - {event}\nresources:\n  Resources:\n    Q: {{Type: AWS::SQS::Queue}}\n"
        );
        found(Serverless, &text)
    }

    #[test]
    fn misspelled_property_next_to_the_one_that_was_meant_is_to_be_removed() {
        let template = "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties: {DelaySeconds: 5, Delay: 5}\n";
        assert_eq!(found(CloudFormation, template), ["error remove `Delay`"]);
        let module = "resource \"aws_sqs_queue\" \"q\" {\n  delay_seconds = 5\n  delay = 5\n}\n";
        assert_eq!(found(Terraform, module), ["error remove `delay`"]);
    }

    #[test]
    fn nested_properties_are_flagged() {
        for (written, expected) in [
            (
                "ScalingConfig: {MaxConcurrency: 5}",
                &["error write `MaximumConcurrency` instead of `MaxConcurrency`"] as &[&str],
            ),
            ("ScalingConfig: {MaximumConcurrency: 5}", &[]),
            ("ScalingConfig: {Colour: 5}", &[]),
            ("ScalingConfig: !Ref AWS::NoValue", &[]),
            (
                "FilterCriteria: {Filter: []}",
                &["error write `Filters` instead of `Filter`"],
            ),
            (
                "DestinationConfig: {OnFailures: {Destination: a}}",
                &["error write `OnFailure` instead of `OnFailures`"],
            ),
            (
                "ProvisionedPollerConfig: {MinPollers: 5}",
                &["error write `MinimumPollers` instead of `MinPollers`"],
            ),
            (
                "ProvisionedPollerConfig: {MinimumPolers: 5}",
                &["error write `MinimumPollers` instead of `MinimumPolers`"],
            ),
        ] {
            let text = format!(
                "Resources:\n  Q: {{Type: AWS::SQS::Queue}}\n  M:\n    Type: AWS::Lambda::EventSourceMapping\n    \
                 Properties:\n      EventSourceArn: !GetAtt Q.Arn\n      FunctionName: f\n      {written}\n"
            );
            assert_eq!(found(CloudFormation, &text), expected, "{written}");
        }
        let module = "resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = \"arn:aws:sqs:eu-west-1:1:q\"\n  \
                      function_name = \"f\"\n  scaling_config {\n    max_concurrency = 5\n  }\n}\n";
        let expected = "error write `maximum_concurrency` instead of `max_concurrency`";
        assert_eq!(found(Terraform, module), [expected]);
    }

    #[test]
    fn misspelled_properties_are_flagged_with_the_one_that_was_meant() {
        for (name, meant) in [
            ("visibilty_timeout_seconds", "visibility_timeout_seconds"),
            ("visibility_timeout", "visibility_timeout_seconds"),
            ("visiblity_timout_seconds", "visibility_timeout_seconds"),
            ("VisibilityTimeout", "visibility_timeout_seconds"),
            ("message_retention_period", "message_retention_seconds"),
            ("delay", "delay_seconds"),
            ("maximum_message_size", "max_message_size"),
            ("receive_message_wait_time_seconds", "receive_wait_time_seconds"),
            ("kms_key_id", "kms_master_key_id"),
            ("redrive_polcy", "redrive_policy"),
            ("fifo", "fifo_queue"),
            ("queue_name", "name"),
        ] {
            let text = format!("resource \"aws_sqs_queue\" \"q\" {{\n  {name} = 1\n}}\n");
            let expected = format!("error write `{meant}` instead of `{name}`");
            assert_eq!(found(Terraform, &text), [expected], "{name}");
        }
        for (name, meant) in [
            ("VisibilityTimeoutSeconds", "VisibilityTimeout"),
            ("visibilityTimeout", "VisibilityTimeout"),
            ("MessageRetentionSeconds", "MessageRetentionPeriod"),
            ("MessageRetention", "MessageRetentionPeriod"),
            ("ReceiveWaitTimeSeconds", "ReceiveMessageWaitTimeSeconds"),
            ("MaxMessageSize", "MaximumMessageSize"),
            ("Name", "QueueName"),
            ("RedriveAlowPolicy", "RedriveAllowPolicy"),
        ] {
            let text = format!("Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties: {{{name}: 1}}\n");
            let expected = format!("error write `{meant}` instead of `{name}`");
            assert_eq!(found(CloudFormation, &text), [expected], "{name}");
        }
        for (name, meant) in [
            ("maximumBatchingWindowInSeconds", "maximumBatchingWindow"),
            ("batchsize", "batchSize"),
            ("functionResponseTypes", "functionResponseType"),
            ("filterPattern", "filterPatterns"),
        ] {
            let expected = format!("warning write `{meant}` instead of `{name}`");
            assert_eq!(
                event(&format!("sqs: {{arn: !GetAtt Q.Arn, {name}: 5}}")),
                [expected],
                "{name}"
            );
        }
    }

    #[test]
    fn labels_are_bounded_and_the_others_counted() {
        for (count, labels, last) in [
            (22, 22, "so the deployment fails"),
            (23, 22, "(and 1 more)"),
            (500, 22, "(and 478 more)"),
        ] {
            let names = ('a'..='z').flat_map(|one| ('a'..='z').map(move |other| format!("timeout{one}{other}")));
            let names = names.take(count);
            let properties: String = names.map(|name| format!("  visibility_{name}_seconds = 1\n")).collect();
            let text = format!("resource \"aws_sqs_queue\" \"q\" {{\n{properties}}}\n");
            let all = Terraform.findings(&RULE, &text);
            let [found] = all.as_slice() else { panic!("{all:?}") };
            assert_eq!(found.labels().len(), labels);
            let message = &found.labels()[labels - 1].message;
            assert!(message.contains(last), "{message}");
        }
    }

    #[test]
    fn mappings_and_events_are_checked() {
        let terraform = "resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = \"arn:aws:sqs:eu-west-1:1:q\"\n  \
                         function_name = \"f\"\n  batch_sizes = 5\n  dynamic \"scaling_confg\" {\n    for_each = [1]\n    content {}\n  }\n}\n";
        assert_eq!(
            found(Terraform, terraform),
            ["error write `batch_size` instead of `batch_sizes`"]
        );
        let sam = "Resources:\n  F:\n    Type: AWS::Serverless::Function\n    Properties:\n      \
                   Events:\n        E:\n          Type: SQS\n          Properties: {Queue: 'arn:aws:sqs:eu-west-1:1:q', BatchsSize: 5}\n";
        assert_eq!(found(Sam, sam), ["error write `BatchSize` instead of `BatchsSize`"]);
    }

    #[test]
    fn known_and_dissimilar_properties_are_accepted() {
        let queue = "resource \"aws_sqs_queue\" \"q\" {\n  count = 1\n  name_prefix = \"q\"\n  region = \"eu-west-1\"\n  \
                     visibility_strategy = 1\n  timeouts {}\n  lifecycle {}\n}\n";
        assert!(found(Terraform, queue).is_empty());
        let queue = "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties: {DelaySeconds: 1, NewSetting: 2, Delay: !Ref AWS::NoValue}\n";
        assert!(found(CloudFormation, queue).is_empty());
        for event in [
            "sqs: {arn: !GetAtt Q.Arn}",
            "sqs: {arn: !GetAtt Q.Arn, batchSize: 5, enabled: true, maximumBatchingWindow: 5, maximumConcurrency: 2}",
            "sqs: {arn: !GetAtt Q.Arn, functionResponseType: ReportBatchItemFailures, filterPatterns: [{body: [1]}]}",
            "sqs: {arn: !GetAtt Q.Arn, provisionedPollers: {min: 2, max: 5}}",
            "sqs: {arn: !GetAtt Q.Arn, colour: 5}",
            "sqs: arn:aws:sqs:eu-west-1:111122223333:orders",
            "sqs: ${env:EVENT}",
            "schedule: rate(1 minute)",
        ] {
            assert!(self::event(event).is_empty(), "{event}");
        }
    }

    #[test]
    fn event_with_several_unknown_keys_is_flagged_once() {
        let stream = "sqs: {arn: !GetAtt Q.Arn, startingPosition: LATEST}";
        assert_eq!(event(stream), ["warning remove `startingPosition`"]);
        let two = "sqs: {arn: !GetAtt Q.Arn, startingPosition: LATEST, batchsize: 5}";
        assert_eq!(event(two).len(), 1);
    }

    #[test]
    fn other_rules_do_not_judge_what_a_misspelled_property_was_meant_to_set() {
        for (dialect, text) in [
            (
                CloudFormation,
                "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties: {VisibilityTimeoutSeconds: 60, \
                 RedrivePolicys: {}, MessageRetention: 5}\n  F: {Type: AWS::Lambda::Function, Properties: {Timeout: 60}}\n  \
                 M:\n    Type: AWS::Lambda::EventSourceMapping\n    Properties: {EventSourceArn: !GetAtt Q.Arn, \
                 FunctionName: !Ref F, FunctionResponseType: [x], BatchsSize: 20000}\n",
            ),
            (
                Serverless,
                "service: s\nprovider: {name: aws}\nfunctions:\n  work:\n    handler: a.b\n    events:\n      \
                 - sqs: {arn: !GetAtt Q.Arn, functionResponseTypes: ReportBatchItemFailures}\nresources:\n  Resources:\n    \
                 Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 36, RedrivePolicy: \
                 {deadLetterTargetArn: 'arn:aws:sqs:eu-west-1:1:d', maxReceiveCount: 5}}}\n",
            ),
        ] {
            let (name, text) = crate::testing::file(dialect, text);
            let directory = TemporaryDirectory::with_files([(name, &*text)]);
            let outcome = crate::check(&Options {
                paths: vec![directory.path().to_owned()],
                ..Options::default()
            });
            let all: Vec<&str> = outcome.findings.iter().map(|found| &*found.rule).collect();
            assert!(
                !all.is_empty() && all.iter().all(|id| *id == "property-unknown"),
                "{dialect:?}: {all:?}"
            );
        }
    }
}
