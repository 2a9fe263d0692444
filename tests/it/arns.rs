//! Checks ARNs composed in templates: the colons inside `${AWS::Region}` do not separate fields.

use sqslint::rules;
use sqslint::testing::{Dialect, describe, run_files};

const COMPOSED: &str = "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:elsewhere";

fn count(rule: &str, text: &str) -> usize {
    let rule = rules::by_id(rule).expect("the rule exists");
    let found = Dialect::CloudFormation.findings(rule, text);
    let outcome = run_files(rule, &[("template.yaml", text)]);
    assert!(
        found.iter().all(|found| found.rule == rule.id),
        "{}",
        describe(&outcome)
    );
    found.len()
}

fn redrive(fifo: bool, target: &str) -> String {
    let fifo = if fifo { "FifoQueue: true, " } else { "" };
    format!(
        "Resources:\n  Q: {{Type: AWS::SQS::Queue, Properties: {{{fifo}RedrivePolicy: {{deadLetterTargetArn: !Sub \"{target}\", maxReceiveCount: 5}}}}}}\n"
    )
}

#[test]
fn queue_type_is_read_from_a_composed_arn() {
    let rule = "dead-letter-queue-type-mismatch";
    for prefix in [COMPOSED, "arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:elsewhere"] {
        assert_eq!(count(rule, &redrive(true, &format!("{prefix}.fifo"))), 0, "{prefix}");
        assert_eq!(count(rule, &redrive(true, prefix)), 1, "{prefix}");
        assert_eq!(count(rule, &redrive(false, prefix)), 0, "{prefix}");
    }
}

#[test]
fn service_is_read_from_a_composed_arn() {
    let rule = "redrive-target-not-a-queue";
    assert_eq!(count(rule, &redrive(false, COMPOSED)), 0);
    let topic = COMPOSED.replace("sqs", "sns");
    assert_eq!(count(rule, &redrive(false, &topic)), 1);
}

#[test]
fn mapping_to_a_composed_fifo_arn_has_fifo_limits() {
    let text = format!(
        "Resources:\n  M: {{Type: AWS::Lambda::EventSourceMapping, Properties: {{FunctionName: f, BatchSize: 11, EventSourceArn: !Sub \"{COMPOSED}.fifo\"}}}}\n"
    );
    assert_eq!(count("fifo-batch-size-too-large", &text), 1);
    assert_eq!(count("batch-size-without-window", &text), 0);
}
