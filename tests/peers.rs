//! Small inputs on which tools in wide use are wrong, with the right answer. The comment of each case says
//! which tool, and what it says.

use sqslint::selection::Selection;
use sqslint::testing::{TemporaryDirectory, describe};
use sqslint::{Options, check};

const FUNCTION: &str = r#"F: {Type: AWS::Lambda::Function, Properties: {Role: "arn:aws:iam::123456789012:role/r", Code: {S3Bucket: b, S3Key: k}, Runtime: python3.13, Handler: a.b, Timeout: 60}}"#;
const QUEUE: &str = "Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 30}}";
const MAPPING: &str =
    "M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}}";

/// One case: what changes, which findings (`rule address`, with ` when …` where conditional) it must have, and
/// which rules must be silent.
struct Case {
    number: &'static str,
    head: &'static str,
    function: &'static str,
    queue: &'static str,
    mapping: &'static str,
    more: &'static str,
    found: &'static [&'static str],
    silent: &'static [&'static str],
}

const PLAIN: Case = Case {
    number: "head",
    head: "",
    function: FUNCTION,
    queue: QUEUE,
    mapping: MAPPING,
    more: "",
    found: &["visibility-timeout-below-function-timeout Q"],
    silent: &["visibility-timeout-too-short"],
};

const PROD: &str = "Parameters: {E: {Type: String}}\nConditions: {P: !Equals [!Ref E, prod], N: !Not [!Condition P]}\n";
const BOTH_VISIBILITY: &[&str] = &[
    "visibility-timeout-below-function-timeout",
    "visibility-timeout-too-short",
];

#[test]
fn conditions_are_judged_jointly() {
    // 1: cfn-lint reports "18 < 60", which no world has. 2 and 3: it is silent.
    verify(&Case {
        number: "1",
        head: PROD,
        function: "F: {Type: AWS::Lambda::Function, Properties: {Timeout: !If [P, 60, 3]}}",
        queue: "Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !If [N, 18, 360]}}",
        found: &[],
        silent: BOTH_VISIBILITY,
        ..PLAIN
    });
    verify(&Case {
        number: "2",
        head: PROD,
        function: "F: {Type: AWS::Lambda::Function, Properties: {Timeout: !If [P, 60, 3]}}",
        queue: "Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !If [P, 360, 2]}}",
        found: &["visibility-timeout-below-function-timeout Q when not P"],
        ..PLAIN
    });
    verify(&Case {
        number: "3",
        head: PROD,
        queue: "Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !If [P, !Ref AWS::NoValue, 360]}}",
        found: &["visibility-timeout-below-function-timeout Q when P"],
        ..PLAIN
    });
}

#[test]
fn functions_are_found_however_they_are_named() {
    // 4: cfn-lint, its v2 and cloudformation-validate are silent.
    let spelled = [
        ("4 sub", r#"FunctionName: !Sub "${F.Arn}""#),
        ("4 sub ref", r#"FunctionName: !Sub "${F}""#),
        ("4 alias", "FunctionName: !Ref A"),
    ];
    for (number, name) in spelled {
        let mapping = MAPPING.replace("FunctionName: !Ref F", name);
        verify(&Case {
            number,
            mapping: mapping.leak(),
            more: "A: {Type: AWS::Lambda::Alias, Properties: {FunctionName: !Ref F, FunctionVersion: \"1\", Name: live}}",
            ..PLAIN
        });
    }
}

#[test]
fn parameter_defaults_count() {
    verify(&Case {
        number: "5",
        head: "Parameters: {T: {Type: Number, Default: 60}, V: {Type: Number, Default: 30}}\n",
        function: "F: {Type: AWS::Lambda::Function, Properties: {Timeout: !Ref T}}",
        queue: "Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !Ref V}}",
        ..PLAIN
    });
}

#[test]
fn sam_events_are_mappings() {
    // 6: silent in cfn-lint since 1.54.
    verify(&Case {
        number: "6",
        head: "Transform: AWS::Serverless-2016-10-31\n",
        function: "F: {Type: AWS::Serverless::Function, Properties: {Runtime: python3.13, Handler: a.b, InlineCode: x, Timeout: 60, Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn, BatchSize: 10}}}}}",
        mapping: "",
        ..PLAIN
    });
}

#[test]
fn a_url_is_no_arn() {
    verify(&Case {
        number: "10 source",
        mapping: "M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !Ref Q, FunctionName: !Ref F}}",
        found: &[
            "queue-url-in-place-of-arn M",
            "visibility-timeout-below-function-timeout Q",
        ],
        ..PLAIN
    });
    verify(&Case {
        number: "10 target",
        queue: "Q: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: {deadLetterTargetArn: !Ref D, maxReceiveCount: 5}}}",
        more: "D: {Type: AWS::SQS::Queue}",
        found: &["redrive-policy-malformed Q"],
        ..PLAIN
    });
}

#[test]
fn receive_counts_have_a_range_and_no_default() {
    let cases = [
        ("11 zero", ", maxReceiveCount: 0", "max-receive-count-out-of-range Q"),
        (
            "11 large",
            ", maxReceiveCount: 5000",
            "max-receive-count-out-of-range Q",
        ),
        ("11 absent", "", "redrive-policy-malformed Q"),
    ];
    for (number, count, found) in cases {
        let queue = format!(
            "Q: {{Type: AWS::SQS::Queue, Properties: {{RedrivePolicy: {{deadLetterTargetArn: !GetAtt D.Arn{count}}}}}}}"
        );
        verify(&Case {
            number,
            queue: queue.leak(),
            more: "D: {Type: AWS::SQS::Queue}",
            found: vec![found].leak(),
            silent: &["max-receive-count-too-low", "retries-outlast-retention"],
            ..PLAIN
        });
    }
}

#[test]
fn queue_types_must_agree() {
    verify(&Case {
        number: "12",
        queue: r#"Q: {Type: AWS::SQS::Queue, Properties: {FifoQueue: true, RedrivePolicy: {deadLetterTargetArn: !Sub "${D.Arn}", maxReceiveCount: 5}}}"#,
        more: "D: {Type: AWS::SQS::Queue}",
        found: &["dead-letter-queue-type-mismatch Q"],
        ..PLAIN
    });
    verify(&Case {
        number: "13 name",
        queue: "Q: {Type: AWS::SQS::Queue, Properties: {QueueName: a.fifo}}",
        found: &["fifo-queue-name-suffix Q"],
        ..PLAIN
    });
    verify(&Case {
        number: "13 false",
        queue: "Q: {Type: AWS::SQS::Queue, Properties: {FifoQueue: false}}",
        found: &["fifo-queue-false Q"],
        ..PLAIN
    });
}

#[test]
fn a_dead_letter_queue_needs_none() {
    // 16 and 17: cfn-lint-serverless demands one of each of these; all are consumed here, so that only their
    // being dead-letter queues can silence the rule.
    let consumed =
        "M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt D.Arn, FunctionName: !Ref F}}";
    let uses = [
        (
            "16 getatt",
            "S: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 3}}}",
        ),
        (
            "16 list",
            "S: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: {deadLetterTargetArn: {Fn::GetAtt: [D, Arn]}, maxReceiveCount: 3}}}",
        ),
        (
            "16 sub",
            r#"S: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: {deadLetterTargetArn: !Sub "${D.Arn}", maxReceiveCount: 3}}}"#,
        ),
        (
            "16 text",
            r#"S: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: !Sub '{"deadLetterTargetArn":"${D.Arn}","maxReceiveCount":3}'}}"#,
        ),
        (
            "17 function",
            "G: {Type: AWS::Lambda::Function, Properties: {DeadLetterConfig: {TargetArn: !GetAtt D.Arn}}}",
        ),
        (
            "17 subscription",
            "S: {Type: AWS::SNS::Subscription, Properties: {Protocol: lambda, TopicArn: arn:aws:sns:us-east-1:1:t, Endpoint: !GetAtt F.Arn, RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn}}}",
        ),
        (
            "17 rule",
            "R: {Type: AWS::Events::Rule, Properties: {ScheduleExpression: rate(1 day), Targets: [{Id: a, Arn: !GetAtt F.Arn, DeadLetterConfig: {Arn: !GetAtt D.Arn}}]}}",
        ),
        ("17 allow", ""),
    ];
    for (number, more) in uses {
        let allow = if more.is_empty() {
            ", Properties: {RedriveAllowPolicy: {redrivePermission: allowAll}}"
        } else {
            ""
        };
        let queue = format!("D: {{Type: AWS::SQS::Queue{allow}}}");
        verify(&Case {
            number,
            queue: queue.leak(),
            mapping: consumed,
            more,
            found: &[],
            silent: &["redrive-policy-missing"],
            ..PLAIN
        });
    }
}

#[test]
fn an_empty_redrive_policy_is_none() {
    verify(&Case {
        number: "18",
        queue: "Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 360, RedrivePolicy: {}}}",
        found: &["redrive-policy-missing Q"],
        silent: &["redrive-policy-malformed"],
        ..PLAIN
    });
}

#[test]
fn a_function_that_only_a_queue_invokes_needs_no_dead_letter_queue() {
    // 28: checkov demands one, which would never receive anything.
    verify(&Case {
        number: "28",
        found: &[
            "visibility-timeout-below-function-timeout Q",
            "redrive-policy-missing Q",
        ],
        silent: &["function-dead-letter-config-ineffective"],
        ..PLAIN
    });
    verify(&Case {
        number: "28 with one",
        function: "F: {Type: AWS::Lambda::Function, Properties: {DeadLetterConfig: {TargetArn: !GetAtt D.Arn}}}",
        more: "D: {Type: AWS::SQS::Queue}",
        found: &["function-dead-letter-config-ineffective F"],
        silent: &[],
        ..PLAIN
    });
}

fn verify(case: &Case) {
    let resources = [case.function, case.queue, case.mapping, case.more];
    let lines: Vec<String> = resources
        .iter()
        .filter(|r| !r.is_empty())
        .map(|r| format!("  {r}\n"))
        .collect();
    let text = format!(
        "AWSTemplateFormatVersion: \"2010-09-09\"\n{}Resources:\n{}",
        case.head,
        lines.concat()
    );
    let directory = TemporaryDirectory::with_files([("template.yaml", text.as_str())]);
    let outcome = check(&Options {
        paths: vec![directory.path().to_owned()],
        selection: Selection::default(),
        ..Options::default()
    });
    let seen: Vec<String> = outcome
        .findings
        .iter()
        .map(|found| {
            let when = found
                .when
                .as_ref()
                .map_or(String::new(), |when| format!(" when {when}"));
            format!("{} {}{when}", found.rule, found.subject.address)
        })
        .collect();
    for wanted in case.found {
        assert!(
            seen.iter().any(|s| s == wanted),
            "case {}: no {wanted}\n{}",
            case.number,
            describe(&outcome)
        );
    }
    for rule in case.silent.iter().chain(&["parse-error"]) {
        let speaks = outcome.findings.iter().any(|found| found.rule == *rule);
        assert!(!speaks, "case {}: {rule} speaks\n{}", case.number, describe(&outcome));
    }
}
