//! Checks links across templates: nested stacks, exports and imports.

mod fragments;

use serde_json::Value;
use sqslint::selection::Selection;
use sqslint::testing::{TemporaryDirectory, describe, graph_json};
use sqslint::{Options, Outcome, check};

/// Checks the paths `named` among `files`; returns the findings, the graph and the outcome.
fn read(files: &[(&str, &str)], named: &[&str]) -> (Vec<String>, Value, Outcome) {
    let files: Vec<_> = files.iter().copied().chain([(".git", "")]).collect();
    read_without_repository(&files, named)
}

fn read_without_repository(files: &[(&str, &str)], named: &[&str]) -> (Vec<String>, Value, Outcome) {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    let paths = named.iter().map(|name| directory.path().join(name)).collect();
    let outcome = check(&Options {
        paths,
        selection: Selection::default(),
        ..Options::default()
    });
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let found = outcome.findings.iter().map(|found| {
        let when = found
            .when
            .as_ref()
            .map_or_else(String::new, |when| format!(" when {when}"));
        let calls = match found.instances(str::to_owned).as_slice() {
            [] => String::new(),
            calls => format!(" ({})", calls.join(", ")),
        };
        format!(
            "{} {} {}{calls}{when}",
            found.rule, found.subject.unit, found.subject.address
        )
    });
    let found = found.collect();
    let graph = serde_json::from_str(&graph_json(&outcome.graph, &outcome.sources)).unwrap();
    (found, graph, outcome)
}

const BELOW: &str = "visibility-timeout-below-function-timeout";

fn findings_of(rule: &str, found: &[String]) -> Vec<String> {
    found.iter().filter(|line| line.starts_with(rule)).cloned().collect()
}

const CONSUMER: &str = "
Parameters: {Queue: {Type: String}, Seconds: {Type: Number, Default: 3}}
Resources:
  F: {Type: AWS::Lambda::Function, Properties: {Timeout: !Ref Seconds}}
  M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !Ref Queue, FunctionName: !Ref F}}
";

#[test]
fn arguments_are_passed_to_nested_stacks() {
    let parent = "
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 30}}
  Slow: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: nested/consumer.yaml, Parameters: {Queue: !GetAtt Q.Arn, Seconds: 60}}}
";
    let (found, graph, outcome) = read(&[("parent.yaml", parent), ("nested/consumer.yaml", CONSUMER)], &["."]);
    assert_eq!(
        findings_of(BELOW, &found),
        [format!("{BELOW} parent.yaml Q")],
        "{}",
        describe(&outcome)
    );
    let mapping = &graph["event_source_mappings"][0];
    assert_eq!(mapping["unit"], "nested/consumer.yaml");
    assert_eq!(
        mapping["queue"],
        serde_json::json!({"unit": "parent.yaml", "address": "Q"})
    );
    assert_eq!(
        graph["functions"].as_array().unwrap().len(),
        1,
        "it is not checked separately"
    );
}

#[test]
fn outputs_are_returned_from_nested_stacks() {
    let queues = "
Resources: {Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 30}}}
Outputs: {Arn: {Value: !GetAtt Q.Arn}, Seconds: {Value: 60}}
";
    let parent = "
Transform: AWS::Serverless-2016-10-31
Resources:
  Queues: {Type: AWS::Serverless::Application, Properties: {Location: ./queues.yaml}}
  F: {Type: AWS::Lambda::Function, Properties: {Timeout: !GetAtt Queues.Outputs.Seconds}}
  M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !Sub '${Queues.Outputs.Arn}', FunctionName: !Ref F}}
";
    let (found, _, outcome) = read(&[("parent.yaml", parent), ("queues.yaml", queues)], &["."]);
    let wanted = format!("{BELOW} queues.yaml Q (Queues.Q)");
    assert_eq!(findings_of(BELOW, &found), [wanted], "{}", describe(&outcome));
}

#[test]
fn nested_stack_is_judged_once_per_call() {
    let child = "
Parameters: {Seconds: {Type: Number, Default: 30, AllowedValues: [30, 360]}, Prod: {Type: String, Default: 'no'}}
Conditions: {IsProd: !Equals [!Ref Prod, 'yes']}
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !Ref Seconds}}
  F: {Type: AWS::Lambda::Function, Properties: {Timeout: !If [IsProd, 60, 20]}}
  M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}}
";
    let call = |name: &str, parameters: &str| {
        format!(
            "  {name}: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: child.yaml, Parameters: {{{parameters}}}}}}}\n"
        )
    };
    let calls = [
        call("A", "Prod: 'yes'"),
        call("B", "Prod: 'yes', Seconds: 360"),
        call("C", ""),
        call("D", "Prod: !Ref Stage"),
        call("E", "Prod: 'yes'"),
    ];
    let parent = format!(
        "Parameters: {{Stage: {{Type: String, AllowedValues: ['yes', 'no']}}}}\nResources:\n{}",
        calls.concat()
    );
    let (found, _, outcome) = read(&[("parent.yaml", &parent), ("child.yaml", child)], &["."]);
    let wanted = [
        format!("{BELOW} child.yaml Q (A.Q, E.Q)"),
        format!("{BELOW} child.yaml Q (D.Q) when IsProd"),
    ];
    assert_eq!(findings_of(BELOW, &found), wanted, "{}", describe(&outcome));
}

#[test]
fn conditional_nested_stack_is_correlated_with_its_caller() {
    let parent = "
Parameters: {Stage: {Type: String, AllowedValues: [prod, dev]}}
Conditions: {IsProd: !Equals [!Ref Stage, prod]}
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !If [IsProd, 60, 30]}}
  Slow:
    Type: AWS::CloudFormation::Stack
    Condition: IsProd
    Properties: {TemplateURL: consumer.yaml, Parameters: {Queue: !GetAtt Q.Arn, Seconds: 60}}
";
    let (found, _, outcome) = read(&[("parent.yaml", parent), ("consumer.yaml", CONSUMER)], &["."]);
    assert_eq!(findings_of(BELOW, &found), [""; 0], "{}", describe(&outcome));
}

/// A template deployed from a bucket is in the repository under the same path.
#[test]
fn uploaded_templates_are_found_by_the_end_of_their_url() {
    let parent = |url: &str, more: &str| {
        format!(
            "Parameters: {{Base: {{Type: String}}}}\nResources:\n  Q: {{Type: AWS::SQS::Queue, Properties: {{VisibilityTimeout: 30}}}}\n  \
             S: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: {url}, Parameters: {{Queue: !GetAtt Q.Arn, \
             Seconds: 60{more}}}}}}}\n"
        )
    };
    let found = |url: &str, more: &str| {
        let parent = parent(url, more);
        let files = [
            ("infra/parent.yaml", &*parent),
            ("infra/fragments/consumer.yaml", CONSUMER),
        ];
        findings_of(BELOW, &read(&files, &["."]).0).len()
    };
    assert_eq!(found("!Sub '${Base}/fragments/consumer.yaml'", ""), 1);
    assert_eq!(
        found("!Sub 'https://s3.amazonaws.com/b/infra/fragments/consumer.yaml'", ""),
        1
    );
    assert_eq!(
        found(
            "!Sub 'https://${Base}.s3.amazonaws.com/${Base}fragments/consumer.yaml'",
            ""
        ),
        1
    );
    assert_eq!(found("https://s3.amazonaws.com/b/fragments/consumer.yaml", ""), 1);
    // `Other` is not a parameter of the local template, so the stack uses a different one.
    assert_eq!(found("!Sub '${Base}/fragments/consumer.yaml'", ", Other: 1"), 0);
    assert_eq!(found("!Sub '${Base}/fragments/other.yaml'", ""), 0);
    // Part of the file name, or its directory, is unknown.
    assert_eq!(found("!Sub '${Base}consumer.yaml'", ""), 0);
    assert_eq!(found("https://s3.amazonaws.com/b/consumer.yaml", ""), 0);
}

#[test]
fn cycles_of_nested_stacks_are_bounded() {
    let call = |path: &str, id: &str| {
        format!(
            "Resources:\n  Q: {{Type: AWS::SQS::Queue}}\n  {id}: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: {path}}}}}\n"
        )
    };
    let (a, b) = (call("b.yaml", "B"), call("a.yaml", "A"));
    let (found, graph, _) = read(&[("a.yaml", &a), ("b.yaml", &b)], &["."]);
    assert_eq!(findings_of("limit-reached", &found), ["limit-reached b.yaml b.yaml"]);
    assert_eq!(graph["queues"].as_array().unwrap().len(), 2);
    let (found, ..) = read(&[("a.yaml", &call("a.yaml", "A"))], &["."]);
    assert_eq!(findings_of("limit-reached", &found), ["limit-reached a.yaml a.yaml"]);
}

#[test]
fn mutually_dependent_stacks_are_unresolved() {
    let parent = "
Resources:
  A: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: child.yaml, Parameters: {In: !GetAtt B.Outputs.Out}}}
  B: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: child.yaml, Parameters: {In: !GetAtt A.Outputs.Out}}}
";
    let child = "
Parameters: {In: {Type: Number}}
Resources: {Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !Ref In}}}
Outputs: {Out: {Value: !Ref In}}
";
    let (_, graph, _) = read(&[("parent.yaml", parent), ("child.yaml", child)], &["."]);
    for queue in graph["queues"].as_array().unwrap() {
        assert!(queue["visibility_timeout"]["unresolved"].is_string(), "{queue}");
    }
}

const CHILD: &str = "Resources: {Q: {Type: AWS::SQS::Queue}}\nOutputs: {Seconds: {Value: 5}}\n";

/// Returns templates that deploy the one at `location`: as a nested stack, and as an application of SAM.
fn deploying(location: &str) -> [String; 2] {
    let stack = format!("AWS::CloudFormation::Stack, Properties: {{TemplateURL: {location}}}");
    let application = format!("AWS::Serverless::Application, Properties: {{Location: {location}}}");
    [stack, application].map(|nested| {
        format!(
            "Transform: AWS::Serverless-2016-10-31
Resources:
  S: {{Type: {nested}}}
  F: {{Type: AWS::Lambda::Function, Properties: {{Timeout: !GetAtt S.Outputs.Seconds}}}}
"
        )
    })
}

/// Returns the reasons of all parts that were not read.
fn unread(outcome: &Outcome) -> Vec<&str> {
    let open = outcome.not_evaluated.iter().filter(|open| open.rule == "parse-error");
    open.map(|open| &*open.reason).collect()
}

#[test]
fn local_templates_that_are_not_read_are_reported() {
    let cases = [
        (
            "https://s3.amazonaws.com/b/child.yaml",
            "no file matches the end of its URL, `b/child.yaml`",
        ),
        ("!Ref Elsewhere", "these files do not determine its URL"),
        ("missing.yaml", "there is no file `missing.yaml`"),
        ("../missing.yaml", "there is no file `../missing.yaml`"),
        // The template itself is not the one that it deploys.
        ("lambda/parent.yaml", "there is no file `lambda/parent.yaml`"),
        ("node_modules", "there is no file `node_modules`"),
        ("/etc/hostname", "`/etc/hostname` is outside the project"),
        (
            "!If [Prod, a.yaml, b.yaml]",
            "a condition chooses among `a.yaml`, `b.yaml`",
        ),
    ];
    for (location, reason) in cases {
        for parent in deploying(location) {
            let parent =
                format!("{parent}Parameters: {{P: {{Type: String}}}}\nConditions: {{Prod: !Equals [!Ref P, p]}}\n");
            let files = [("parent.yaml", &*parent), ("node_modules/m/child.yaml", CHILD)];
            let (_, graph, outcome) = read(&files, &["parent.yaml"]);
            let reason = format!("the template of `S` is not read: {reason}");
            assert_eq!(unread(&outcome), [reason], "{location}");
            assert_eq!(outcome.graph.units()[0].notes, [""; 0], "{location}");
            assert!(graph["functions"][0]["timeout"]["unresolved"].is_string(), "{location}");
            assert_eq!(graph["queues"].as_array().unwrap().len(), 0, "{location}");
        }
    }
}

#[test]
fn templates_in_ignored_directories_are_read_if_a_stack_deploys_them() {
    let places = [
        ("./node_modules/m/child.yaml", "node_modules/m/child.yaml"),
        ("build/child.yaml", "build/child.yaml"),
        (".aws-sam/child.yaml", ".aws-sam/child.yaml"),
    ];
    for (location, place) in places {
        for parent in deploying(location) {
            for reader in [read, read_without_repository] {
                let files = [(".gitignore", "build/\n"), ("parent.yaml", &*parent), (place, CHILD)];
                let (_, graph, outcome) = reader(&files, &["."]);
                assert_eq!(unread(&outcome), [""; 0], "{location}");
                assert_eq!(graph["functions"][0]["timeout"], 5, "{location}");
                assert_eq!(graph["queues"].as_array().unwrap().len(), 1, "{location}");
            }
        }
    }
}

#[test]
fn template_above_the_named_directory_is_read_without_a_repository() {
    for parent in deploying("../shared/child.yaml") {
        let files = [("app/parent.yaml", &*parent), ("shared/child.yaml", CHILD)];
        let (_, graph, outcome) = read_without_repository(&files, &["app"]);
        assert_eq!(unread(&outcome), [""; 0]);
        assert_eq!(graph["queues"].as_array().unwrap().len(), 1);
        // Other files there are not templates, and the report contains none of their text.
        let files = [
            ("app/parent.yaml", &*parent),
            ("shared/child.yaml", "password: [secret\n"),
        ];
        let (found, _, outcome) = read_without_repository(&files, &["app"]);
        assert_eq!(found, [""; 0]);
        assert_eq!(
            unread(&outcome),
            ["the template of `S` is not read: the file is not a template"]
        );
    }
}

#[test]
fn imports_resolve_to_exports() {
    let queues = "
Parameters: {Env: {Type: String, AllowedValues: [dev, prod]}}
Resources: {Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !If [IsProd, 30, 90]}}}
Conditions: {IsProd: !Equals [!Ref Env, prod]}
Outputs:
  Arn: {Value: !GetAtt Q.Arn, Export: {Name: !Sub '${Env}-${AWS::Region}-queue'}}
  Seconds: {Value: 60, Export: {Name: seconds}}
";
    let consumer = "
Parameters: {Env: {Type: String, AllowedValues: [dev, prod]}}
Resources:
  F: {Type: AWS::Lambda::Function, Properties: {Timeout: !ImportValue seconds}}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: {'Fn::ImportValue': !Sub '${Env}-${AWS::Region}-queue'}
      FunctionName: !Ref F
";
    let (found, graph, outcome) = read(&[("queues.yaml", queues), ("sub/consumer.yaml", consumer)], &["."]);
    // `Env` of one stack equals that of the other, because the import has the name of the export.
    assert_eq!(
        findings_of(BELOW, &found),
        [format!("{BELOW} queues.yaml Q when IsProd and Env = prod")],
        "{}",
        describe(&outcome)
    );
    assert_eq!(graph["functions"][0]["timeout"], 60);
}

#[test]
fn ambiguous_or_unknown_export_is_not_imported() {
    let export = |value: &str| {
        format!(
            "Resources: {{Q: {{Type: AWS::SQS::Queue}}}}\nOutputs: {{O: {{Value: {value}, Export: {{Name: !Sub '${{AWS::StackName}}-x'}}}}}}\n"
        )
    };
    let same = |value: &str| {
        format!(
            "Resources: {{Q: {{Type: AWS::SQS::Queue}}}}\nOutputs: {{O: {{Value: {value}, Export: {{Name: twice}}}}}}\n"
        )
    };
    for name in ["!Sub '${AWS::StackName}-x'", "twice", "nowhere"] {
        let importer = format!(
            "Resources: {{F: {{Type: AWS::Lambda::Function, Properties: {{Timeout: {{'Fn::ImportValue': {name}}}}}}}}}\n"
        );
        let files = [
            ("a.yaml", export("5")),
            ("b.yaml", same("6")),
            ("c.yaml", same("7")),
            ("i.yaml", importer),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let (_, graph, _) = read(&files, &["."]);
        assert!(
            graph["functions"][0]["timeout"]["unresolved"].is_string(),
            "{name}: {graph}"
        );
    }
}

/// If one template is named, the output lists the other templates that were checked with it, and no unrelated one.
#[test]
fn templates_checked_in_addition_are_listed() {
    let queues =
        "Resources: {Q: {Type: AWS::SQS::Queue}}\nOutputs: {O: {Value: !GetAtt Q.Arn, Export: {Name: orders-queue}}}\n";
    let importer = |name: &str| {
        format!(
            "Resources:\n  M:\n    Type: AWS::Lambda::EventSourceMapping\n    Properties: {{EventSourceArn: !ImportValue {name}, FunctionName: f}}\n"
        )
    };
    let (ours, other) = (importer("orders-queue"), importer("orders-queue-dlq"));
    let directory = TemporaryDirectory::with_files([
        (".git", ""),
        ("queues.yaml", queues),
        ("a/ours.yaml", &ours),
        ("b/other.yaml", &other),
    ]);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_sqslint"))
        .args(["check", "queues.yaml", "--format", "concise"])
        .current_dir(directory.path())
        .output()
        .expect("the program is built");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let note = "in 2 templates; `a/ours.yaml` was checked, too: it depends on what was named";
    assert!(told.contains(note), "{told}");
}

#[test]
fn list_of_arns_may_be_exported_as_one_string() {
    let a = "
Resources: {Q: {Type: AWS::SQS::Queue}, P: {Type: AWS::SQS::Queue}}
Outputs: {O: {Value: !Join [',', [!GetAtt Q.Arn, !GetAtt P.Arn]], Export: {Name: both}}}
";
    let b = "
Resources:
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !Select [1, !Split [',', !ImportValue both]], FunctionName: !Ref F}
  F: {Type: AWS::Lambda::Function}
";
    let (_, graph, _) = read(&[("a.yaml", a), ("b.yaml", b)], &["."]);
    let queue = serde_json::json!({"unit": "a.yaml", "address": "P"});
    assert_eq!(graph["event_source_mappings"][0]["queue"], queue);
}

#[test]
fn imported_value_may_be_exported_again() {
    let a = "Resources: {Q: {Type: AWS::SQS::Queue}}\nOutputs: {O: {Value: 7, Export: {Name: a}}}\n";
    let b = "Resources: {Q: {Type: AWS::SQS::Queue}}\nOutputs: {O: {Value: !ImportValue a, Export: {Name: b}}}\n";
    let c = "Resources: {F: {Type: AWS::Lambda::Function, Properties: {Timeout: !ImportValue b}}}\n";
    let (_, graph, _) = read(&[("a.yaml", a), ("b.yaml", b), ("c.yaml", c)], &["."]);
    assert_eq!(graph["functions"][0]["timeout"], 7);
}

#[test]
fn sibling_stacks_share_exports_named_by_a_common_argument() {
    let parent = "AWSTemplateFormatVersion: 2010-09-09
Resources:
  Queues:
    Type: AWS::CloudFormation::Stack
    Properties: {TemplateURL: ./queues.yaml, Parameters: {Shop: !Ref AWS::StackName}}
  Workers:
    Type: AWS::CloudFormation::Stack
    Properties: {TemplateURL: ./workers.yaml, Parameters: {Shop: !Ref AWS::StackName}}
";
    let queues = "AWSTemplateFormatVersion: 2010-09-09
Parameters: {Shop: {Type: String}}
Resources:
  Orders: {Type: AWS::SQS::Queue}
Outputs:
  Arn: {Value: !GetAtt Orders.Arn, Export: {Name: !Sub '${Shop}-orders'}}
";
    let workers = "AWSTemplateFormatVersion: 2010-09-09
Parameters: {Shop: {Type: String}}
Resources:
  Worker: {Type: AWS::Lambda::Function, Properties: {Timeout: 60}}
  Mapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: {'Fn::ImportValue': !Sub '${Shop}-orders'}, FunctionName: !Ref Worker}
";
    let directory = TemporaryDirectory::with_files([
        ("parent.yaml", parent),
        ("queues.yaml", queues),
        ("workers.yaml", workers),
    ]);
    let outcome = check(&Options {
        paths: vec![directory.path().to_owned()],
        ..Options::default()
    });
    let graph = &outcome.graph;
    let mapping = &graph.mappings()[0];
    let queue = mapping
        .queue
        .known()
        .and_then(|link| graph.queue(mapping.resource.unit, link));
    assert_eq!(queue.map(|queue| &*queue.resource.address), Some("Orders"));
}

/// A nested SAM template must be transformed like one at the top level.
#[test]
fn nested_templates_are_transformed() {
    let parent = "AWSTemplateFormatVersion: 2010-09-09
Transform: AWS::Serverless-2016-10-31
Resources:
  Source: {Type: AWS::DynamoDB::Table}
  Child:
    Type: AWS::Serverless::Application
    Properties: {Location: ./child.yaml, Parameters: {Stream: !GetAtt Source.StreamArn}}
";
    let child = "Transform: AWS::Serverless-2016-10-31
Parameters: {Stream: {Type: String}}
Globals: {Function: {Timeout: 60}}
Resources:
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        Order: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}
        Change:
          Type: DynamoDB
          Properties:
            Stream: !Ref Stream
            StartingPosition: LATEST
            DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt Failed.Arn}}
  Orders: {Type: AWS::SQS::Queue}
  Failed: {Type: AWS::SQS::Queue}
";
    let (found, graph, _) = read(&[("template.yaml", parent), ("child.yaml", child)], &["template.yaml"]);
    assert_eq!(findings_of(BELOW, &found).len(), 1, "{found:?}");
    assert_eq!(findings_of("dead-letter-queue-unalarmed", &found).len(), 1, "{found:?}");
    assert_eq!(graph["event_source_mappings"].as_array().map(Vec::len), Some(1));
}

#[test]
fn export_is_found_by_the_name_of_a_nested_stack() {
    let queue = "
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 30}}
Outputs:
  Stack: {Value: !Ref AWS::StackName}
  Arn: {Value: !GetAtt Q.Arn, Export: {Name: !Sub '${AWS::StackName}-Arn'}}
";
    let worker = "
Parameters: {Q: {Type: String}}
Resources:
  F: {Type: AWS::Lambda::Function, Properties: {Timeout: 60}}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: {Fn::ImportValue: !Sub '${Q}-Arn'}, FunctionName: !Ref F}
";
    let parent = |arguments: &str| {
        format!(
            "
Resources:
  Queue: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: queue.yaml}}}}
  Other: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: queue.yaml}}}}
  Worker: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: worker.yaml, Parameters: {arguments}}}}}
"
        )
    };
    let below = |arguments: &str| {
        let parent = parent(arguments);
        let files = [
            ("parent.yaml", &*parent),
            ("queue.yaml", queue),
            ("worker.yaml", worker),
        ];
        findings_of(BELOW, &read(&files, &[""]).0)
    };
    assert_eq!(below("{Q: !GetAtt Queue.Outputs.Stack}").len(), 1);
    assert_eq!(below("{Q: orders}"), [""; 0]);
    // Another stack does not join a template that is named alone.
    let other = worker.replace("Q: {Type: String}", "Q: {Type: String, Default: x}");
    let files = [("queue.yaml", queue), ("worker.yaml", &*other)];
    assert_eq!(findings_of(BELOW, &read(&files, &[""]).0), [""; 0]);
}

#[test]
fn export_is_found_by_the_name_of_a_stack_in_samconfig() {
    let queue = "
Parameters: {Seconds: {Type: Number, Default: 40}}
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !Ref Seconds}}
Outputs:
  Arn: {Value: !GetAtt Q.Arn, Export: {Name: !Sub '${AWS::StackName}-Arn'}}
";
    let worker = "
Parameters: {Q: {Type: String, Default: orders}}
Resources:
  F: {Type: AWS::Lambda::Function, Properties: {Timeout: 60}}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: {Fn::ImportValue: !Sub '${Q}-Arn'}, FunctionName: !Ref F}
";
    let below = |ours: &str| {
        let files = [
            ("a/template.yaml", queue),
            ("a/samconfig.toml", ours),
            ("b/template.yaml", worker),
        ];
        findings_of(BELOW, &read(&files, &[""]).0)
    };
    let set = |environment: &str, settings: &str| {
        format!("[{environment}.deploy.parameters]\n{settings}\nparameter_overrides = \"Seconds=50\"\n")
    };
    let named = "stack_name = 'orders'";
    assert_eq!(below(&set("default", named)).len(), 1);
    assert_eq!(below(&set("default", "")), [""; 0]);
    assert_eq!(below(&set("dev", named)).len(), 1);
}

#[test]
fn name_of_an_imported_queue_is_a_part_of_its_arn() {
    let queues = "
Resources:
  D: {Type: AWS::SQS::Queue}
  Q: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}}}
Outputs:
  Arn: {Value: !GetAtt D.Arn, Export: {Name: dlq-arn}}
";
    let alarms = "
Resources:
  A:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/SQS
      MetricName: ApproximateNumberOfMessagesVisible
      Dimensions: [{Name: QueueName, Value: !Select [5, !Split [':', !ImportValue NAME]]}]
      Threshold: 1
      ComparisonOperator: GreaterThanOrEqualToThreshold
      AlarmActions: [arn:aws:sns:eu-west-1:111122223333:t]
";
    for (name, expected) in [("dlq-arn", 0), ("other-arn", 1)] {
        let alarms = alarms.replace("NAME", name);
        let (found, _, outcome) = read(&[("queues.yaml", queues), ("alarms.yaml", &alarms)], &[""]);
        let unalarmed = findings_of("dead-letter-queue-unalarmed", &found);
        let open = outcome
            .not_evaluated
            .iter()
            .any(|open| open.rule == "dead-letter-queue-unalarmed");
        assert_eq!(
            unalarmed.len() + usize::from(open),
            expected,
            "{name} {}",
            describe(&outcome)
        );
    }
}

#[test]
fn template_in_a_build_directory_is_found_by_the_end_of_its_path() {
    let parent = "
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 30}}
  Slow: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: LOCATION, Parameters: {Queue: !GetAtt Q.Arn, Seconds: 60}}}
";
    for (url, expected) in [
        ("nested/consumer.yaml", 1),
        ("build/nested/consumer.yaml", 1),
        ("./.build/out/nested/consumer.yaml", 1),
        ("../dist/nested/consumer.yaml", 1),
        ("build/consumer.yaml", 0),
    ] {
        let parent = parent.replace("LOCATION", url);
        let files = [("app/parent.yaml", &*parent), ("app/nested/consumer.yaml", CONSUMER)];
        let found = findings_of(BELOW, &read(&files, &["app/parent.yaml"]).0);
        assert_eq!(found.len(), expected, "{url}: {found:?}");
    }
}

/// Every importer with a parameter for the other stack's name shares `${…}-Arn` with every exporter.
#[test]
fn importer_with_a_generic_suffix_does_not_join_a_template_that_is_named_alone() {
    let exporter = "
Resources: {Q: {Type: AWS::SQS::Queue}}
Outputs: {Arn: {Value: !GetAtt Q.Arn, Export: {Name: !Sub '${AWS::StackName}-Arn'}}}
";
    let importer = |name: &str| {
        format!(
            "
Parameters: {{Stack: {{Type: String}}}}
Resources:
  F: {{Type: AWS::Lambda::Function, Properties: {{Timeout: 60}}}}
  M: {{Type: AWS::Lambda::EventSourceMapping, Properties: {{FunctionName: !Ref F, EventSourceArn: !ImportValue {{'Fn::Sub': '{name}'}}}}}}
"
        )
    };
    let (generic, specific) = (importer("${Stack}-Arn"), importer("orders-Arn"));
    let deployed = generic.replace("Type: String", "Type: String, Default: orders");
    let other = generic.replace("Type: String", "Type: String, Default: others");
    for (importer, alone, in_stack) in [(&generic, 1, 1), (&specific, 1, 2), (&deployed, 1, 2), (&other, 1, 1)] {
        // A longer suffix is as generic as a short one.
        for suffix in ["Arn", "RoleName", "OrdersQueueArn"] {
            let exporter = exporter.replace("-Arn", &format!("-{suffix}"));
            let importer = importer.replace("-Arn", &format!("-{suffix}"));
            let files = [
                ("queue/template.yaml", &*exporter),
                ("worker.yaml", &*importer),
                (
                    "queue/samconfig.toml",
                    "[default.deploy.parameters]\nstack_name = \"orders\"\n",
                ),
            ];
            let (_, _, outcome) = read(&files, &["queue/template.yaml"]);
            assert_eq!(outcome.graph.units().len(), in_stack, "{importer}");
            let (_, _, outcome) = read(&files[..2], &["queue/template.yaml"]);
            assert_eq!(outcome.graph.units().len(), alone, "{importer}");
        }
    }
    let named = exporter.replace("!Sub '${AWS::StackName}-Arn'", "orders-Arn");
    let (_, _, outcome) = read(&[("queue.yaml", &named), ("worker.yaml", &specific)], &["queue.yaml"]);
    assert_eq!(outcome.graph.units().len(), 2, "an importer of the name joins it");
}
