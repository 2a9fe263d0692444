//! A template that is generated from others, and committed next to them, repeats no finding.

use crate::inputs::check_files;
use sqslint::diagnostic::Severity;
use sqslint::testing::TemporaryDirectory;
use sqslint::{Options, check};

const QUEUE: &str = "  Orders:\n    Type: AWS::SQS::Queue\n    Properties: {VisibilityTimeout: 43201}\n";
const TOPIC: &str = "  Mails:\n    Type: AWS::SQS::Queue\n    Properties: {VisibilityTimeout: 0}\n";
const FIXED: &str = "  Orders:\n    Type: AWS::SQS::Queue\n    Properties: {VisibilityTimeout: 50000}\n";
const OWN: &str = "  Own: {Type: AWS::SQS::Queue}\n";
const RULES: [&str; 2] = ["queue-attribute-out-of-range", "visibility-timeout-zero"];

/// Returns the files of the findings on visibility timeouts, each with the number of its labels.
fn found(files: &[(&str, &[&str])]) -> Vec<String> {
    let texts: Vec<(&str, String)> = files
        .iter()
        .map(|(name, parts)| (*name, format!("Resources:\n{}", parts.concat())))
        .collect();
    let folder = TemporaryDirectory::with_files(texts.iter().map(|(name, text)| (*name, text.as_str())));
    let outcome = check(&Options {
        paths: vec![folder.path().to_owned()],
        ..Options::default()
    });
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let found = outcome.findings.iter().filter(|found| RULES.contains(&&*found.rule));
    found
        .map(|found| {
            let file = outcome.sources.file(found.primary().span.file);
            let path = file.path().strip_prefix(folder.path()).expect("it is in the folder");
            format!("{} {} {}", path.display(), found.subject.address, found.labels().len())
        })
        .collect()
}

#[test]
fn combined_template_repeats_no_finding_of_its_sources() {
    let sources: [(&str, &[&str]); 2] = [("mails.yaml", &[TOPIC]), ("queues.yaml", &[QUEUE])];
    let all = |name: &'static str, parts: &'static [&'static str]| found(&[sources[0], sources[1], (name, parts)]);
    let once = ["mails.yaml Mails 2", "queues.yaml Orders 2"];
    assert_eq!(all("all.yaml", &[QUEUE, TOPIC]), once);
    let below: [(&str, &[&str]); 3] = [
        ("src/async/mails/queue.yaml", &[TOPIC]),
        ("src/orders.yaml", &[QUEUE]),
        ("all.yaml", &[QUEUE, TOPIC]),
    ];
    let once_below = ["src/async/mails/queue.yaml Mails 2", "src/orders.yaml Orders 2"];
    assert_eq!(found(&below), once_below);
    // A template elsewhere, one of another stack, and one with a resource of its own.
    assert_eq!(all("other/all.yaml", &[QUEUE, TOPIC]).len(), 4);
    assert_eq!(all("queues-prod.yaml", &[QUEUE]).len(), 3);
    assert_eq!(all("all.yaml", &[QUEUE, TOPIC, OWN]).len(), 4);
}

#[test]
fn combined_template_decides_the_severity() {
    let queues = "Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties: {RedrivePolicy: {deadLetterTargetArn: !GetAtt OrdersDlq.Arn, maxReceiveCount: 5}}
  OrdersDlq: {Type: AWS::SQS::Queue, Properties: {MessageRetentionPeriod: 1209600}}
";
    let alarms = "Resources:
  Mails: {Type: AWS::SQS::Queue}
  MailsAreLate:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/SQS
      MetricName: ApproximateAgeOfOldestMessage
      Dimensions: [{Name: QueueName, Value: !GetAtt Mails.QueueName}]
      AlarmActions: [arn:aws:sns:eu-west-1:123456789012:late]
";
    let all = format!("{queues}{}", alarms.replace("Resources:\n", ""));
    let files = [("queues.yaml", queues), ("alarms.yaml", alarms), ("all.yaml", &all)];
    let severities = |count: usize| {
        let outcome = check_files(files[..count].iter().copied());
        let found = outcome.findings.iter();
        let found = found.filter(|found| found.rule == "dead-letter-queue-unalarmed");
        found.map(|found| found.severity).collect::<Vec<_>>()
    };
    assert_eq!(severities(2), [Severity::Info]);
    assert_eq!(severities(3), [Severity::Warning]);
}

#[test]
fn combined_template_keeps_the_findings_that_differ() {
    let all = found(&[
        ("mails.yaml", &[TOPIC]),
        ("queues.yaml", &[QUEUE]),
        ("all.yaml", &[FIXED, TOPIC]),
    ]);
    assert_eq!(all, ["all.yaml Orders 1", "mails.yaml Mails 2", "queues.yaml Orders 1"]);
}

#[test]
fn packaged_template_repeats_no_finding_of_its_source() {
    let source: (&str, &[&str]) = ("template.yaml", &[QUEUE, TOPIC]);
    let once = ["template.yaml Orders 2", "template.yaml Mails 2"];
    for name in [
        "packaged.yaml",
        "template-packaged.yml",
        "orders_packaged.yaml",
        "output.yaml",
    ] {
        assert_eq!(found(&[source, (name, &[QUEUE, TOPIC])]), once, "{name}");
    }
    for name in ["prod.yaml", "unpackaged.yaml", "other/packaged.yaml"] {
        assert_eq!(found(&[source, (name, &[QUEUE, TOPIC])]).len(), 4, "{name}");
    }
}

#[test]
fn packaged_template_may_be_older_than_its_source() {
    let with = |packaged: &[&str]| found(&[("template.yaml", &[QUEUE, TOPIC]), ("packaged.yaml", packaged)]);
    assert_eq!(with(&[QUEUE]), ["template.yaml Orders 2", "template.yaml Mails 1"]);
    assert_eq!(with(&[QUEUE, OWN]), ["template.yaml Orders 2", "template.yaml Mails 1"]);
    assert_eq!(
        with(&[FIXED, TOPIC]),
        [
            "packaged.yaml Orders 1",
            "template.yaml Orders 1",
            "template.yaml Mails 2"
        ]
    );
    // Another stack: less than half of its resources are in the template.
    let other = "  A: {Type: AWS::SQS::Queue}\n  B: {Type: AWS::SQS::Queue}\n";
    assert_eq!(with(&[QUEUE, other]).len(), 3);
}
