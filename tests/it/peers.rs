//! Checks small inputs on which widely used tools are wrong, with the right answer. The comment of each case names the
//! tool and its answer.

mod unseen;

use crate::inputs::check_files;
use sqslint::Options;
use sqslint::inputs::Inputs;
use sqslint::testing::{TemporaryDirectory, describe};

const FUNCTION: &str = r#"F: {Type: AWS::Lambda::Function, Properties: {Role: "arn:aws:iam::123456789012:role/r", Code: {S3Bucket: b, S3Key: k}, Runtime: python3.13, Handler: a.b, Timeout: 60}}"#;
const QUEUE: &str = "Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 30}}";
const MAPPING: &str =
    "M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}}";

/// Changes to the plain template, the findings it must have (`rule address`, followed by ` when …` if conditional), and
/// the rules that must not report.
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
    // 1: cfn-lint reports "18 < 60", a combination that no condition allows. 2 and 3: it reports nothing.
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
fn every_spelling_of_a_function_reference_resolves() {
    // 4: cfn-lint, its v2 and cloudformation-validate report nothing.
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
fn parameter_defaults_apply() {
    verify(&Case {
        number: "5",
        head: "Parameters: {T: {Type: Number, Default: 60}, V: {Type: Number, Default: 30}}\n",
        function: "F: {Type: AWS::Lambda::Function, Properties: {Timeout: !Ref T}}",
        queue: "Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !Ref V}}",
        ..PLAIN
    });
}

#[test]
fn parameters_of_the_command_line_apply() {
    // `--parameters T=60 V=30`: cfn-lint reports nothing.
    let template = format!(
        "AWSTemplateFormatVersion: 2010-09-09\n\
         Parameters: {{T: {{Type: Number, Default: 5}}, V: {{Type: Number}}}}\n\
         Resources:\n  {}\n  {}\n  {MAPPING}\n",
        "F: {Type: AWS::Lambda::Function, Properties: {Timeout: !Ref T}}",
        "Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !Ref V}}",
    );
    let directory = TemporaryDirectory::with_files([("template.yaml", template.as_str())]);
    for (visibility, is_found) in [("V=30", true), ("V=360", false)] {
        let outcome = sqslint::check(&Options {
            paths: vec![directory.path().to_owned()],
            inputs: Inputs {
                parameters: vec!["T=60".into(), visibility.into()],
                ..Inputs::default()
            },
            ..Options::default()
        });
        let rules: Vec<&str> = outcome.findings.iter().map(|found| &*found.rule).collect();
        let both = BOTH_VISIBILITY.iter().any(|rule| rules.contains(rule));
        assert_eq!(both, is_found, "{visibility}: {}", describe(&outcome));
    }
}

#[test]
fn sam_events_are_mappings() {
    // 6: not reported by cfn-lint since 1.54.
    verify(&Case {
        number: "6",
        head: "Transform: AWS::Serverless-2016-10-31\n",
        function: "F: {Type: AWS::Serverless::Function, Properties: {Runtime: python3.13, Handler: a.b, InlineCode: x, Timeout: 60, Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn, BatchSize: 10}}}}}",
        mapping: "",
        ..PLAIN
    });
}

#[test]
fn queue_url_is_not_accepted_as_arn() {
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
fn dead_letter_queue_needs_no_redrive_policy() {
    // 16 and 17: cfn-lint-serverless demands a redrive policy for each of these. All are polled here, so the rule may
    // be silent only because they are dead-letter queues.
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
fn empty_redrive_policy_counts_as_missing() {
    verify(&Case {
        number: "18",
        queue: "Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 360, RedrivePolicy: {}}}",
        found: &["redrive-policy-missing Q"],
        silent: &["redrive-policy-malformed"],
        ..PLAIN
    });
}

#[test]
fn function_invoked_only_by_a_queue_needs_no_dead_letter_queue() {
    // 28: checkov demands a dead-letter queue of the function, which would never receive anything.
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

/// Covers section 1e of the comparison: the values that cfn-lint's rule E3505 resolves, and those that it does not.
#[test]
fn numbers_resolve_from_every_source() {
    let function = |timeout: &str| {
        format!("F: {{Type: AWS::Lambda::Function, Properties: {{Timeout: {timeout}}}}}").leak() as &'static str
    };
    let queue = |visibility: &str| {
        format!("Q: {{Type: AWS::SQS::Queue, Properties: {{VisibilityTimeout: {visibility}}}}}").leak() as &'static str
    };
    let map = "Mappings: {M: {a: {t: 60, v: 30}, b: {t: 5, v: 30}}}\nParameters: {K: {Type: String, Default: b}}\n";
    // Tools that evaluate only the default report nothing.
    verify(&Case {
        number: "map",
        head: map,
        function: function("!FindInMap [M, !Ref K, t]"),
        queue: queue("!FindInMap [M, !Ref K, v]"),
        found: &["visibility-timeout-below-function-timeout Q when K = a"],
        ..PLAIN
    });
    verify(&Case {
        number: "quoted",
        function: function("'60'"),
        queue: queue("'30'"),
        ..PLAIN
    });
    verify(&Case {
        number: "defaults",
        queue: "Q: {Type: AWS::SQS::Queue}",
        ..PLAIN
    });
    verify(&Case {
        number: "default timeout",
        function: "F: {Type: AWS::Lambda::Function, Properties: {}}",
        queue: queue("2"),
        ..PLAIN
    });
    for visibility in ["60", "100"] {
        // AWS accepts this; it only contradicts the recommendation.
        verify(&Case {
            number: "taken",
            queue: queue(visibility),
            found: &["visibility-timeout-too-short Q"],
            silent: &["visibility-timeout-below-function-timeout"],
            ..PLAIN
        });
    }
    verify(&Case {
        number: "if",
        head: PROD,
        queue: queue("!If [P, 30, 360]"),
        found: &["visibility-timeout-below-function-timeout Q when P"],
        ..PLAIN
    });
    verify(&Case {
        number: "clash",
        head: "Parameters: {A: {Type: String}, B: {Type: String}}\nConditions: {X: !Equals [!Ref A, 'on'], Y: !Equals [!Ref B, 'on']}\n",
        function: function("!If [X, 60, 5]"),
        queue: queue("!If [Y, 360, 30]"),
        found: &["visibility-timeout-below-function-timeout Q when X and not Y"],
        ..PLAIN
    });
    verify(&Case {
        number: "source",
        head: PROD,
        mapping: "M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !If [P, !GetAtt Q.Arn, !GetAtt Other.Arn], FunctionName: !Ref F}}",
        more: "Other: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 360}}",
        found: &["visibility-timeout-below-function-timeout Q when P"],
        ..PLAIN
    });
    verify(&Case {
        number: "allowed",
        head: "Parameters: {T: {Type: Number, Default: 5, AllowedValues: [5, 60]}}\n",
        function: function("!Ref T"),
        found: &["visibility-timeout-below-function-timeout Q when T = 60"],
        ..PLAIN
    });
    // 23: another tool took the parameter for 3, the default timeout.
    verify(&Case {
        number: "23",
        head: "Parameters: {T: {Type: Number, Default: 60}}\n",
        function: function("!Ref T"),
        ..PLAIN
    });
}

#[test]
fn every_spelling_of_mapping_ends_resolves() {
    let named = "F: {Type: AWS::Lambda::Function, Properties: {FunctionName: worker, Timeout: 60}}";
    let queue = "Q: {Type: AWS::SQS::Queue, Properties: {QueueName: work, VisibilityTimeout: 30}}";
    let alias = "A: {Type: AWS::Lambda::Alias, Properties: {FunctionName: !Ref F, FunctionVersion: !GetAtt V.Version, Name: live}}\n  V: {Type: AWS::Lambda::Version, Properties: {FunctionName: !Ref F}}";
    let ends = [
        ("getatt", "!GetAtt Q.Arn", "!GetAtt F.Arn"),
        ("sub", "!Sub '${Q.Arn}'", "!Ref F"),
        ("name", "!GetAtt Q.Arn", "worker"),
        (
            "arn",
            "!Sub 'arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:work'",
            "!Ref F",
        ),
        (
            "joined",
            "!Join [':', [arn:aws:sqs, !Ref AWS::Region, !Ref AWS::AccountId, work]]",
            "!Ref F",
        ),
        // 24: CDK's own rule does not recognize the alias that CDK generates.
        (
            "24",
            "!GetAtt Q.Arn",
            "!Join ['', [!Select [6, !Split [':', !Ref V]], ':live']]",
        ),
    ];
    for (number, source, function) in ends {
        let mapping = format!(
            "M: {{Type: AWS::Lambda::EventSourceMapping, Properties: {{EventSourceArn: {source}, FunctionName: {function}}}}}"
        );
        verify(&Case {
            number,
            function: named,
            queue,
            mapping: mapping.leak(),
            more: alias,
            ..PLAIN
        });
    }
}

#[test]
fn loops_create_queues() {
    // 15: cfn-lint's v2 reports `!GetAtt QueueAlpha.Arn` as an error.
    verify(&Case {
        number: "15",
        head: "Transform: AWS::LanguageExtensions\n",
        queue: "Fn::ForEach::Queues: [Name, [Alpha, Beta], {'Queue${Name}': {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 30}}}]",
        mapping: "M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt QueueAlpha.Arn, FunctionName: !Ref F}}",
        found: &["visibility-timeout-below-function-timeout QueueAlpha"],
        ..PLAIN
    });
}

#[test]
fn sam_resources_match_the_transform() {
    let event = |more: &str| format!("Events: {{E: {{Type: SQS, Properties: {{Queue: !GetAtt Q.Arn{more}}}}}}}");
    let function = |properties: &str, more: &str| {
        format!(
            "F: {{Type: AWS::Serverless::Function, Properties: {{{properties}{}}}}}",
            event(more)
        )
        .leak() as &'static str
    };
    let transform = "Transform: AWS::Serverless-2016-10-31\n";
    let list = "Transform: [AWS::LanguageExtensions, AWS::Serverless-2016-10-31]\n";
    let globals = "Transform: AWS::Serverless-2016-10-31\nGlobals: {Function: {Timeout: 60}}\n";
    let parameter = "Transform: AWS::Serverless-2016-10-31\nParameters: {T: {Type: Number, Default: 60}}\n";
    let cases = [
        ("literal", transform, function("CodeUri: src/, Timeout: 60, ", "")),
        ("list", list, function("Timeout: 60, ", "")),
        ("globals", globals, function("", "")),
        (
            "alias",
            transform,
            function("AutoPublishAlias: live, Timeout: 60, ", ""),
        ),
        ("parameter", parameter, function("Timeout: !Ref T, ", "")),
    ];
    for (number, head, function) in cases {
        verify(&Case {
            number,
            head,
            function,
            mapping: "",
            ..PLAIN
        });
    }
    verify(&Case {
        number: "explicit",
        head: transform,
        function: "F: {Type: AWS::Serverless::Function, Properties: {Timeout: 60}}",
        ..PLAIN
    });
    verify(&Case {
        number: "fifo",
        head: transform,
        function: function("Timeout: 3, ", ", BatchSize: 100"),
        queue: "Q: {Type: AWS::SQS::Queue, Properties: {FifoQueue: true}}",
        mapping: "",
        found: &["fifo-batch-size-too-large FE"],
        ..PLAIN
    });
}

#[test]
fn settings_that_aws_rejects_are_found() {
    let mapping = |more: &str| {
        format!("M: {{Type: AWS::Lambda::EventSourceMapping, Properties: {{EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F, {more}}}}}").leak() as &'static str
    };
    verify(&Case {
        number: "7",
        mapping: mapping("BatchSize: 100"),
        found: &["batch-size-without-window M"],
        ..PLAIN
    });
    verify(&Case {
        number: "8",
        queue: "Q: {Type: AWS::SQS::Queue, Properties: {FifoQueue: true}}",
        mapping: mapping("MaximumBatchingWindowInSeconds: 5"),
        found: &["fifo-batching-window M"],
        ..PLAIN
    });
}

#[test]
fn needless_failure_destination_or_redrive_policy_is_not_demanded() {
    // 19 and 20: other tools demand an on-failure destination, which Lambda does not support for queues. 21: they
    // demand a redrive policy on every dead-letter queue.
    let template = "
AWSTemplateFormatVersion: 2010-09-09
Resources:
  F: {Type: AWS::Lambda::Function, Properties: {Timeout: 10}}
  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 60, RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}}}
  D: {Type: AWS::SQS::Queue, Properties: {MessageRetentionPeriod: 1209600}}
  M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F, FunctionResponseTypes: [ReportBatchItemFailures]}}
  A:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/SQS
      MetricName: ApproximateNumberOfMessagesVisible
      Dimensions: [{Name: QueueName, Value: !GetAtt D.QueueName}]
      Statistic: Maximum
      Period: 60
      EvaluationPeriods: 1
      Threshold: 0
      AlarmActions: [arn:aws:sns:us-east-1:1:t]
      ComparisonOperator: GreaterThanThreshold
";
    let outcome = check_files([("template.yaml", template)]);
    assert!(outcome.findings.is_empty(), "{}", describe(&outcome));
    // 22: dead-letter queues of other services.
    let uses = [
        "S: {Type: AWS::SNS::Subscription, Properties: {Protocol: sqs, TopicArn: arn:aws:sns:us-east-1:1:t, Endpoint: !GetAtt Q.Arn, RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn}}}",
        "S: {Type: AWS::Events::Rule, Properties: {ScheduleExpression: rate(1 day), Targets: [{Id: a, Arn: !GetAtt Q.Arn, DeadLetterConfig: {Arn: !GetAtt D.Arn}}]}}",
        "S: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: arn:aws:kinesis:us-east-1:1:stream/s, FunctionName: !Ref F, StartingPosition: LATEST, DestinationConfig: {OnFailure: {Destination: !GetAtt D.Arn}}}}",
    ];
    for more in uses {
        verify(&Case {
            number: "22",
            queue: "D: {Type: AWS::SQS::Queue}\n  Q: {Type: AWS::SQS::Queue}",
            mapping: "M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt D.Arn, FunctionName: !Ref F}}",
            more,
            found: &[],
            silent: &["redrive-policy-missing"],
            ..PLAIN
        });
    }
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
    let outcome = check_files([("template.yaml", text.as_str())]);
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
        assert!(!speaks, "case {}: {rule} reports\n{}", case.number, describe(&outcome));
    }
}
