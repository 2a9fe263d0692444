//! Evaluation and lowering of templates, construct by construct.

#![allow(clippy::unwrap_used)]

use super::lowered;
use crate::graph::{Attribute, Link, State, Target, UnitGraph};
use cloudformation::parameters::Values;
use cloudformation::sections::{Dialect, Sections};
use cloudformation::{Unit, UnitKind, evaluate, sam};
use knowledge::UnitKey;
use source::{Sources, Span};
use std::cell::RefCell;
use std::fmt::Debug;
use std::path::Path;
use trees::{json, yaml};

fn graph(text: &str) -> UnitGraph {
    let sources = Sources::default();
    let file = sources.add(Path::new("t"), text);
    let parsed = if text.starts_with('{') {
        json::parse(text, file)
    } else {
        yaml::parse(text, file)
    };
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let document = parsed.documents.first().unwrap();
    let document = sam::transform(document, &Values::default()).unwrap_or_else(|| document.clone());
    let sections = Sections::new(&UnitKey::new("t"), Dialect::Template, &[&document], Values::default());
    let graph = RefCell::new(None);
    let mut unit = Unit::new("t".to_owned(), UnitKind::Template, None);
    evaluate(&sections.into(), &mut unit, &|unit, template| {
        graph.replace(Some(lowered(unit, template, None)));
    });
    graph.into_inner().unwrap()
}

/// Renders the cases of an attribute: `18 when N; 360 when not N`.
fn shown<T: Debug>(attribute: &Attribute<T>) -> String {
    let cases = attribute.cases.iter().map(|case| {
        let value = match &case.state {
            State::Set(value) => format!("{value:?}"),
            State::Default(value) => format!("default {value:?}"),
            State::Unresolved(reason) => format!("unresolved: {reason}"),
        };
        match case.when.describe() {
            Some(when) => format!("{value} when {when}"),
            None => value,
        }
    });
    cases
        .collect::<Vec<_>>()
        .join("; ")
        .replace("Seconds(", "")
        .replace(')', "")
}

fn target(attribute: &Attribute<Link>) -> String {
    match &attribute.cases[0].state {
        State::Set(link) => {
            let target = match &link.target {
                Target::Resource(id) => id.to_string(),
                Target::OtherUnit { unit, address } => format!("{unit}: {address}"),
                Target::External(text) => format!("external {text}"),
                Target::Dangling(text) => format!("dangling {text}"),
            };
            format!("{target} by {:?}", link.form)
        }
        State::Default(_) => "default".to_owned(),
        State::Unresolved(reason) => format!("unresolved: {reason}"),
    }
}

const HEAD: &str = r#"
AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Env: {Type: String, Default: dev}
  Size: {Type: String, Default: small, AllowedValues: [small, large]}
  Seconds: {Type: Number, Default: 45}
  Open: {Type: Number}
  Secret: {Type: String, NoEcho: true, Default: "7"}
  Stored: {Type: "AWS::SSM::Parameter::Value<String>", Default: /a/b}
  Many: {Type: CommaDelimitedList, Default: "10, 20"}
Mappings:
  Times: {dev: {v: 20}, prod: {v: 200}}
  Sizes: {small: {v: 1}, large: {v: 2}}
Conditions:
  P: !Equals [!Ref Env, prod]
  N: !Not [!Condition P]
  Large: !Equals [!Ref Size, large]
  Both: !And [!Condition P, !Condition N]
  Always: !Equals [a, a]
  Loop: !Not [!Condition Loop]
Resources:
  F: {Type: AWS::Lambda::Function, Properties: {FunctionName: !Sub "${AWS::StackName}-f"}}
  V: {Type: AWS::Lambda::Version, Properties: {FunctionName: !Ref F}}
  A: {Type: AWS::Lambda::Alias, Properties: {FunctionName: !GetAtt F.Arn, FunctionVersion: "1", Name: live}}
  D: {Type: AWS::SQS::Queue, Properties: {QueueName: !Sub "${Env}-${Open}-d"}}
"#;

#[test]
fn numbers_are_evaluated_case_by_case() {
    for (written, expected) in [
        ("30", "30"),
        ("\"90\"", "90"),
        ("!Ref Seconds", "45"),
        ("!Ref Open", "unresolved: parameter `Open` has no default"),
        ("!Ref Secret", "unresolved: parameter `Secret` is secret"),
        (
            "!Ref Stored",
            "unresolved: parameter `Stored` is read from the parameter store",
        ),
        ("!Ref AWS::NoValue", "default 30"),
        ("!If [P, 60, !Ref AWS::NoValue]", "60 when P; default 30 when not P"),
        ("!If [N, 18, 360]", "18 when N; 360 when not N"),
        ("!If [P, !If [N, 1, 2], 3]", "2 when P; 3 when not P"),
        ("!If [Both, 1, 2]", "2"),
        ("!If [Always, 1, 2]", "1"),
        (
            "!Ref Size",
            "unresolved: `small` is not a whole number when Size = small; \
                       unresolved: `large` is not a whole number when Size = large",
        ),
        (
            "!FindInMap [Times, !Ref Env, v]",
            "20 when Env = dev; 200 when Env = prod",
        ),
        ("!FindInMap [Times, prod, v]", "200"),
        (
            "!FindInMap [Times, test, v]",
            "unresolved: mapping `Times` has no `test`",
        ),
        (
            "!FindInMap [Sizes, !Ref Size, v]",
            "1 when Size = small; 2 when Size = large",
        ),
        (
            "!If [Large, !FindInMap [Sizes, !Ref Size, v], 9]",
            "2 when Large; 9 when not Large",
        ),
        ("!Select [1, !Ref Many]", "20"),
        ("!Select [0, [5, 6]]", "5"),
        ("!Select [9, [5, 6]]", "unresolved: the list of `Fn::Select` is shorter"),
        ("!Select [1, !Split [\",\", \"1,2\"]]", "2"),
        ("!Join [\"\", [1, !Ref Seconds]]", "145"),
        ("!Sub \"${Seconds}\"", "45"),
        ("!Sub [\"${x}0\", {x: !If [P, 1, 2]}]", "10 when P; 20 when not P"),
        ("!ImportValue x", "unresolved: no template that is read exports `x`"),
        (
            "\"{{resolve:ssm:/a}}\"",
            "unresolved: `{{resolve:…}}` values are known only at deployment",
        ),
        (
            "{Fn::Transform: {Name: X}}",
            "unresolved: the result of `Fn::Transform` is unknown",
        ),
        ("!GetAtt F.Arn", "unresolved: `F.Arn` is known only at deployment"),
        ("abc", "unresolved: `abc` is not a whole number"),
        ("[1]", "unresolved: a list or an object is not a whole number"),
    ] {
        let queue = format!("{HEAD}  Q: {{Type: AWS::SQS::Queue, Properties: {{VisibilityTimeout: {written}}}}}\n");
        let graph = graph(&queue);
        assert_eq!(shown(&graph.queues[1].visibility_timeout), expected, "{written}");
    }
}

#[test]
fn mappings_link_to_queues_and_functions() {
    for (queue, function, expected) in [
        ("!GetAtt D.Arn", "!Ref F", "D by Arn, F by Name"),
        ("{\"Fn::GetAtt\": [D, Arn]}", "!GetAtt F.Arn", "D by Arn, F by Arn"),
        ("!Sub \"${D.Arn}\"", "!Sub \"${F.Arn}:live\"", "D by Arn, F by Arn"),
        ("!Ref D", "!Ref A", "D by Url, F by Arn"),
        ("!GetAtt D.Arn", "!Ref V", "D by Arn, F by Arn"),
        (
            "!Sub \"arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${Env}-${Open}-d\"",
            "!Sub \"arn:aws:lambda:${AWS::Region}:${AWS::AccountId}:function:${AWS::StackName}-f:live\"",
            "D by Arn, F by Arn",
        ),
        (
            "!Sub \"arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:other\"",
            "{\"Fn::Join\": [\"\", [{\"Fn::Select\": [6, {\"Fn::Split\": [\":\", {Ref: V}]}]}, \":live\"]]}",
            "external arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:other by Arn, F by Name",
        ),
        (
            "!Sub \"arn:aws:sqs:eu-west-1:1:${Open}\"",
            "!GetAtt Nothing.Arn",
            "unresolved: parameter `Open` has no default, dangling Nothing.Arn by Name",
        ),
    ] {
        let text = format!(
            "{HEAD}  M: {{Type: AWS::Lambda::EventSourceMapping, Properties: {{EventSourceArn: {queue}, FunctionName: {function}}}}}\n"
        );
        let graph = graph(&text);
        let mapping = &graph.mappings[0];
        assert_eq!(
            format!("{}, {}", target(&mapping.queue), target(&mapping.function)),
            expected
        );
    }
}

#[test]
fn mappings_of_other_sources_are_ignored() {
    for source in [
        "arn:aws:kinesis:eu-west-1:1:stream/x",
        "!Sub \"arn:${AWS::Partition}:kinesis:${AWS::Region}:1:stream/x\"",
        "!ImportValue x, Topics: [t]",
    ] {
        assert!(mapping_of(source).mappings.is_empty(), "{source}");
    }
}

fn mapping_of(source: &str) -> UnitGraph {
    graph(&format!(
        "{HEAD}  M: {{Type: AWS::Lambda::EventSourceMapping, Properties: {{FunctionName: f, EventSourceArn: {source}}}}}\n"
    ))
}

#[test]
fn mappings_of_queues_may_have_stream_settings() {
    for (source, expected) in [
        ("!GetAtt D.Arn, StartingPosition: LATEST", "D by Arn"),
        ("!GetAtt D.Arn, Topics: [t]", "D by Arn"),
        (
            "!ImportValue x, StartingPosition: LATEST",
            "unresolved: no template that is read exports `x`",
        ),
    ] {
        assert_eq!(target(&mapping_of(source).mappings[0].queue), expected, "{source}");
    }
}

#[test]
fn qualifiers_of_functions_are_resolved() {
    let text = |function: &str| {
        format!(
            "{HEAD}  A: {{Type: AWS::Lambda::Alias, Properties: {{FunctionName: !Ref F, Name: live}}}}
  V: {{Type: AWS::Lambda::Version, Properties: {{FunctionName: !Ref F}}}}
  M: {{Type: AWS::Lambda::EventSourceMapping, Properties: {{EventSourceArn: !GetAtt D.Arn, FunctionName: {function}}}}}\n"
        )
    };
    for (function, expected) in [
        ("!Ref F", "None"),
        ("!GetAtt F.Arn", "None"),
        ("!Ref A", "Some(\"live\""),
        ("!Ref V", "unresolved: `V` is known only at deployment"),
        ("!Sub \"${F}:blue\"", "Some(\"blue\""),
        ("!Sub \"${F.Arn}:blue\"", "Some(\"blue\""),
        ("arn:aws:lambda:eu-west-1:1:function:f", "None"),
        ("arn:aws:lambda:eu-west-1:1:function:f:3", "Some(\"3\""),
        ("1:function:f:3", "Some(\"3\""),
        (
            "!Join [\":\", [!Select [0, !Split [\":\", \"a:b\"]], live]]",
            "Some(\"live\"",
        ),
    ] {
        assert_eq!(
            shown(&graph(&text(function)).mappings[0].qualifier),
            expected,
            "{function}"
        );
    }
}

#[test]
fn redrive_policies_are_read_as_objects_and_texts() {
    for (written, expected) in [
        (
            "{deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: \"3\"}",
            "D by Arn, 3, []",
        ),
        (
            "!Sub '{\"deadLetterTargetArn\":\"${D.Arn}\",\"maxReceiveCount\":5}'",
            "D by Arn, 5, []",
        ),
        (
            "!Sub '{\"deadLetterTargetArn\":\"${D.Arn}\",\"maxReceiveCount\":${Seconds}}'",
            "D by Arn, 45, []",
        ),
        (
            "{deadLetterTargetArn: !Ref D, maxReceiveCount: 2.5}",
            "D by Url, unresolved: `2.5` is not a whole number, [CountNotInteger(\"2.5\")]",
        ),
        (
            "{deadLetterTargetArn: !GetAtt D.Arn}",
            "D by Arn, unresolved: `maxReceiveCount` is missing, [CountMissing]",
        ),
        (
            "{maxReceiveCount: 3, x: 1}",
            "unresolved: `deadLetterTargetArn` is missing, 3, [UnknownKey(\"x\"), TargetMissing]",
        ),
        (
            "nonsense",
            "unresolved: the redrive policy is malformed, unresolved: the redrive policy is malformed, [NotAnObject]",
        ),
        ("{}", "none"),
        ("!Ref AWS::NoValue", "none"),
        (
            "!Ref Stored",
            "unresolved: parameter `Stored` is read from the parameter store",
        ),
    ] {
        let queue = format!("{HEAD}  Q: {{Type: AWS::SQS::Queue, Properties: {{RedrivePolicy: {written}}}}}\n");
        let graph = graph(&queue);
        let redrive = &graph.queues[1].redrive;
        let found = match &redrive.cases[0].state {
            State::Set(Some(policy)) => {
                let faults: Vec<_> = policy.faults.iter().map(|fault| &fault.kind).collect();
                format!(
                    "{}, {}, {faults:?}",
                    target(&policy.target),
                    shown(&policy.max_receive_count)
                )
            }
            State::Set(None) | State::Default(None) => "none".to_owned(),
            State::Default(Some(_)) => "default".to_owned(),
            State::Unresolved(reason) => format!("unresolved: {reason}"),
        };
        assert_eq!(found, expected, "{written}");
    }
}

#[test]
fn spans_point_into_the_authors_text() {
    let text = "Transform: AWS::Serverless-2016-10-31
Globals: {Function: {Timeout: 45}}
Parameters: {T: {Type: Number, Default: 7}}
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !Ref T, DelaySeconds: 5}}
  F: {Type: AWS::Serverless::Function, Properties: {Handler: a}}
";
    let graph = graph(text);
    let at = |span: Span| text.get(span.range()).unwrap().to_owned();
    let queue = &graph.queues[0];
    let case = &queue.visibility_timeout.cases[0];
    assert_eq!(at(queue.resource.header), "Q");
    assert_eq!(at(case.span), "VisibilityTimeout: !Ref T");
    assert_eq!(&*case.origins[0].what, "the default of parameter `T`");
    assert_eq!(at(case.origins[0].span), "Default: 7");
    assert_eq!(at(queue.delay.cases[0].span), "DelaySeconds: 5");
    assert_eq!(at(queue.retention.cases[0].span), "Q");
    let timeout = &graph.functions[0].timeout.cases[0];
    assert_eq!(
        (at(timeout.span), at(timeout.origins[0].span)),
        ("F".to_owned(), "Timeout: 45".to_owned())
    );
    assert_eq!(&*timeout.origins[0].what, "`Globals`");
}

#[test]
fn sam_events_become_generated_resources() {
    let text = "Transform: AWS::Serverless-2016-10-31
Resources:
  Q: {Type: AWS::SQS::Queue}
  F:
    Type: AWS::Serverless::Function
    Properties:
      AutoPublishAlias: live
      DeadLetterQueue: {Type: SQS, TargetArn: !GetAtt Q.Arn}
      Events:
        E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn, BatchSize: 5}}
        S: {Type: SNS, Properties: {Topic: t, SqsSubscription: true}}
        O: {Type: SNS, Properties: {Topic: t, SqsSubscription: {QueueArn: !GetAtt Q.Arn, Enabled: false}}}
        R: {Type: Schedule, Properties: {Schedule: rate(1 hour), DeadLetterConfig: {Type: SQS}}}
        B: {Type: Api, Properties: {Path: /, Method: get}}
  M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt FSQueue.Arn, FunctionName: !Ref FAliaslive}}
";
    let graph = graph(text);
    let mapping = |m: &crate::graph::EventSourceMapping| {
        let batch = shown(&m.batch_size);
        format!(
            "{} {} {} {batch}",
            m.resource.address,
            target(&m.queue),
            target(&m.function)
        )
    };
    let mappings: Vec<String> = graph.mappings.iter().map(mapping).collect();
    assert_eq!(
        mappings,
        [
            "FE Q by Arn F by Arn 5",
            "FSEventSourceMapping FSQueue by Arn F by Arn default 10",
            "FOEventSourceMapping Q by Arn F by Arn default 10",
            "M FSQueue by Arn F by Arn default 10",
        ]
    );
    assert_eq!(shown(&graph.mappings[2].enabled), "default true");
    let queues: Vec<&str> = graph.queues.iter().map(|queue| &*queue.resource.address).collect();
    assert_eq!(queues, ["Q", "FSQueue", "FRQueue"]);
    let invocations: Vec<&str> = graph
        .invocations
        .iter()
        .filter(|invocation| !invocation.waits)
        .map(|invocation| &*invocation.resource)
        .collect();
    assert_eq!(invocations, ["FR", "FRPermission", "FBPermission"]);
    let uses: Vec<String> = graph.dead_letter_uses.iter().map(|used| target(&used.target)).collect();
    assert_eq!(uses, ["Q by Arn", "FRQueue by Arn"]);
}

#[test]
fn references_of_other_resources_are_recorded() {
    let text = format!(
        "{HEAD}  S: {{Type: AWS::SNS::Subscription, Properties: {{Endpoint: !GetAtt F.Arn, RedrivePolicy: {{deadLetterTargetArn: !GetAtt D.Arn}}}}}}
  I: {{Type: AWS::Lambda::EventInvokeConfig, Properties: {{FunctionName: !Ref F, DestinationConfig: {{OnFailure: {{Destination: !GetAtt D.Arn}}}}}}}}
  N: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: x, Parameters: {{Queue: !GetAtt D.QueueName}}}}}}
"
    );
    let graph = graph(&text);
    let by: Vec<&str> = graph.dead_letter_uses.iter().map(|used| &*used.resource).collect();
    assert_eq!(by, ["I", "S"]);
    assert_eq!(
        graph.invocations.iter().map(|i| &*i.resource).collect::<Vec<_>>(),
        ["S"]
    );
    assert_eq!(graph.passed_to_missing_code.len(), 1);
    assert_eq!(&*graph.functions[0].failure_targets[0].name, "OnFailure");
}

#[test]
fn json_and_yaml_have_equal_graphs() {
    let json = r#"{"Resources": {"Q": {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": "90",
        "RedrivePolicy": {"deadLetterTargetArn": {"Fn::GetAtt": ["D", "Arn"]}, "maxReceiveCount": 3}}},
        "D": {"Type": "AWS::SQS::Queue"}}}"#;
    let yaml = "Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 90, RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: '3'}}}
  D: {Type: AWS::SQS::Queue}
";
    let show = |graph: UnitGraph| {
        let queue = &graph.queues[0];
        let policy = queue.redrive.known().unwrap().clone().unwrap();
        (
            shown(&queue.visibility_timeout),
            target(&policy.target),
            shown(&policy.max_receive_count),
        )
    };
    assert_eq!(show(graph(json)), show(graph(yaml)));
}

#[test]
fn malformed_templates_do_not_panic() {
    for text in [
        "Resources: {F: {Type: AWS::Serverless::Function, Properties: [1], Connectors: 5}}\nGlobals: 5\n",
        "Resources: {F: {Type: AWS::Serverless::Function}}\nGlobals: {Function: [1], Api: {A: 1}}\n",
        "Resources: {F: {Type: AWS::Serverless::Function, IgnoreGlobals: {A: 1}, Properties: {Events: [1], Policies: {}, Role: !If [], AutoPublishAlias: [1]}}}\nGlobals: {Function: {Timeout: 3}}\n",
        "Resources: {F: {Type: AWS::Serverless::Function, Properties: {Policies: [5, null, [], {}, {A: 1}, !If [C, {}, 5], {Statement: !If [C]}], EventInvokeConfig: {DestinationConfig: {OnFailure: 5, OnSuccess: {Type: SQS, Destination: !If [C, !Ref AWS::NoValue, !Ref AWS::NoValue]}}}}}}\n",
        "Resources: {F: {Type: AWS::Serverless::Function, Properties: {Events: {A: 5, B: {Type: SNS, Properties: {SqsSubscription: [1]}}, C: {Type: S3, Properties: {Bucket: !Ref F}}, D: {Type: Schedule, Properties: {DeadLetterConfig: {Type: SQS, QueueLogicalId: F}}}, E: {Type: SNS, Properties: {SqsSubscription: true, Topic: !GetAtt [F]}}}}}}\n",
        "Resources: {C: {Type: AWS::Serverless::Connector, Properties: {Source: {Id: C}, Destination: [5, {Id: C}, {Type: AWS::SQS::Queue}], Permissions: 5}}, S: {Type: AWS::Serverless::StateMachine, Properties: {Events: {E: {Type: X}}, Role: !Ref S}}}\n",
        "Resources: {P: {Type: AWS::SQS::QueuePolicy, Properties: {Queues: 5, PolicyDocument: {Statement: [5, [1], {Action: {A: 1}, Principal: [1], Condition: 5, Resource: {A: [1]}}]}}}, R: {Type: AWS::IAM::Role, Properties: {Policies: {A: 1}, ManagedPolicyArns: [[1], {}]}}, T: {Type: AWS::Events::Rule, Properties: {Targets: [5, {Arn: [1]}]}}}\n",
        "Resources: 5\n",
        "Resources: {Q: 5, R: {Type: [1]}, S: {Type: AWS::SQS::Queue, Properties: [1]}}\n",
        "Resources: {Q: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: [1], VisibilityTimeout: {Ref: [1]}}}}\n",
        "Resources: {Q: {Type: AWS::SQS::Queue, Condition: X, Properties: {DelaySeconds: !If [X]}}}\n",
        "Conditions: {A: !And [], B: !Equals [1], C: 5}\nResources: {Q: {Type: AWS::SQS::Queue, Condition: B}}\n",
        "Resources: {A: {Type: AWS::Lambda::Alias, Properties: {FunctionName: !Ref A}}, M: {Type: AWS::Lambda::EventSourceMapping, Properties: {FunctionName: !Ref A}}}\n",
        "Resources: {A: {Type: AWS::CloudWatch::Alarm, Properties: {Metrics: 5, MetricName: {a: b}, Dimensions: {x: y}}}}\n",
        "Resources: {Q: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: !Sub '${', QueueName: !Sub '${}${!}${a.b}'}}}\n",
    ] {
        let _ = graph(text);
    }
}
