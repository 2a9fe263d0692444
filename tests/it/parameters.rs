//! Checks parameter values in every format that AWS tools write, and their precedence.

use crate::inputs::check_files;
use serde_json::{Value, json};
use sqslint::inputs::{Inputs, Parameters};
use sqslint::testing::{TemporaryDirectory, graph_json};
use sqslint::{Options, Outcome};

const TEMPLATE: &str = r#"AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  V: {Type: Number, Default: 30}
  Env: {Type: String, Default: dev, AllowedValues: [dev, prod]}
  L: {Type: CommaDelimitedList, Default: "1,2"}
  Secret: {Type: String, NoEcho: true, Default: "1"}
  Stored: {Type: "AWS::SSM::Parameter::Value<String>", Default: /v}
Conditions: {P: !Equals [!Ref Env, prod]}
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: !Ref V
      DelaySeconds: !If [P, 5, 6]
      MessageRetentionPeriod: !Select [1, !Ref L]
      MaximumMessageSize: !Ref Secret
      ReceiveMessageWaitTimeSeconds: !Ref Stored
      QueueName: !Sub "${AWS::Partition}-${AWS::Region}-${AWS::AccountId}"
"#;

/// Checks the template together with `files`; the arguments may name these files.
fn run(files: &[(&str, &str)], arguments: &[&str]) -> Outcome {
    let template = [("template.yaml", TEMPLATE)];
    let directory = TemporaryDirectory::with_files(template.iter().chain(files).copied());
    let parameters = arguments.iter().map(|argument| match Parameters::from(*argument) {
        Parameters::File(file) => Parameters::File(directory.path().join(file)),
        assignment @ Parameters::Assignment(_) => assignment,
    });
    sqslint::check(&Options {
        paths: vec![directory.path().join("template.yaml")],
        inputs: Inputs {
            parameters: parameters.collect(),
            ..Inputs::default()
        },
        ..Options::default()
    })
}

fn queue(outcome: &Outcome) -> Value {
    let document: Value = serde_json::from_str(&graph_json(&outcome.graph, &outcome.sources)).unwrap();
    document["queues"][0].clone()
}

/// Returns visibility timeout, delay and retention period.
fn numbers(files: &[(&str, &str)], arguments: &[&str]) -> Value {
    let outcome = run(files, arguments);
    assert_eq!(outcome.errors, Vec::<String>::new());
    let queue = queue(&outcome);
    json!([queue["visibility_timeout"], queue["delay"], queue["retention"]])
}

#[test]
fn every_parameter_format_is_accepted() {
    let forms = [
        (
            "p.json",
            r#"[{"ParameterKey": "V", "ParameterValue": "90"}, {"ParameterKey": "Env", "ParameterValue": "prod"},
                {"ParameterKey": "L", "UsePreviousValue": true}]"#,
        ),
        (
            "p.json",
            r#"{"Parameters": {"V": "90", "Env": "prod"}, "Tags": {"a": "b"}}"#,
        ),
        ("p.json", r#"["V=90", "Env=prod"]"#),
        ("p.json", r#"{"V": 90, "Env": "prod"}"#),
        ("p.yaml", "Parameters: {V: 90, Env: prod}\n"),
        (
            "p.toml",
            "[default.deploy.parameters]\nparameter_overrides = \"V=90 Env=\\\"prod\\\"\"\n",
        ),
    ];
    for form in forms {
        assert_eq!(numbers(&[form], &[form.0]), json!([90, 5, 2]), "{}", form.1);
    }
    for arguments in [
        ["V=90", "Env=prod"],
        [
            "ParameterKey=V,ParameterValue=90",
            "ParameterKey=Env,ParameterValue=prod",
        ],
    ] {
        assert_eq!(numbers(&[], &arguments), json!([90, 5, 2]));
    }
}

#[test]
fn samconfig_next_to_the_template_applies() {
    let settled = json!([77, 6, 8]);
    for text in [
        "[default.deploy.parameters]\nparameter_overrides = \"V=77 Env='dev' L=\\\"7, 8\\\"\"\n",
        "[default.deploy.parameters]\nparameter_overrides = [\"V=77\", \"Env=dev\", \"L='7,8'\"]\n",
        "[default.global.parameters]\nparameter_overrides = \"ParameterKey=V,ParameterValue=77 Env=dev L=7,8\"\n",
        "[default.deploy.parameters]\ntemplate_file = \"template.yaml\"\nparameter_overrides = \"V=77 Env=dev L=7,8\"\n\
         [default.global.parameters]\nparameter_overrides = \"V=1\"\n",
        "[default.deploy.parameters]\ntemplate_file = \".aws-sam/packaged.yaml\"\nparameter_overrides = \"V=77 Env=dev L=7,8\"\n",
    ] {
        assert_eq!(numbers(&[("samconfig.toml", text)], &[]), settled, "{text}");
    }
    let yaml = "default: {deploy: {parameters: {parameter_overrides: [V=77, Env=dev, 'L=7,8']}}}\n";
    assert_eq!(numbers(&[("samconfig.yaml", yaml)], &[]), settled);
}

#[test]
fn samconfig_for_another_environment_or_template_is_ignored() {
    let open = json!({"one_of": [{"when": "P", "value": 5}, {"when": "not P", "value": 6}]});
    for text in [
        "[prod.deploy.parameters]\nparameter_overrides = \"V=77 Env=prod\"\n",
        "[default.deploy.parameters]\ntemplate_file = \"other.yaml\"\nparameter_overrides = \"V=77 Env=prod\"\n",
    ] {
        let files = [("samconfig.toml", text), ("other.yaml", "Resources: {}\n")];
        assert_eq!(numbers(&files, &[]), json!([30, open, 2]), "{text}");
    }
}

#[test]
fn command_line_wins_and_its_last_value_applies() {
    let config = (
        "samconfig.toml",
        "[default.deploy.parameters]\nparameter_overrides = \"V=77 Env=dev\"\n",
    );
    let file = ("p.json", r#"{"V": 90}"#);
    assert_eq!(numbers(&[config, file], &["p.json"])[0], 90);
    assert_eq!(numbers(&[config, file], &["p.json", "V=91"])[0], 91);
    assert_eq!(numbers(&[config, file], &["V=91", "file://p.json"])[0], 90);
}

#[test]
fn invalid_parameter_argument_is_one_error() {
    for (argument, expected) in [
        ("X=1", "`--parameters`: no template declares `X`"),
        ("nothing.json", "no such file"),
        ("broken.json", "line 1, column"),
        ("list.json", "expected names with values"),
    ] {
        let files = [("broken.json", "{"), ("list.json", "[1]")];
        let errors = run(&files, &[argument]).errors;
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].contains(expected), "{errors:?}");
    }
}

#[test]
fn invalid_samconfig_is_reported() {
    let outcome = run(&[("samconfig.toml", "[default\n")], &[]);
    let found: Vec<&str> = outcome.findings.iter().map(|found| &*found.rule).collect();
    assert!(found.contains(&"parse-error"), "{found:?}");
}

#[test]
fn values_known_only_at_deployment_stay_unresolved() {
    let shown = |argument: &str| {
        let outcome = run(
            &[("p.json", r#"{"V": {"Fn::GetParam": ["a", "b", "c"]}}"#)],
            &[argument],
        );
        let queue = &outcome.graph.queues()[0];
        [
            format!("{:?}", queue.visibility_timeout),
            format!("{:?}", queue.delay.cases.len()),
            format!("{:?}", queue.receive_wait_time),
            format!("{:?}", queue.maximum_message_size),
        ]
    };
    assert!(shown("p.json")[0].contains("known only in the pipeline"));
    // `test` is not an allowed value of the parameter.
    assert_eq!(shown("Env=test")[1], "2");
    assert!(shown("Stored=/w")[2].contains("parameter store"));
    let secret = &shown("Secret=hunter2")[3];
    assert!(secret.contains("secret") && !secret.contains("hunter2"), "{secret}");
}

#[test]
fn region_and_account_come_from_the_inputs() {
    let directory = TemporaryDirectory::with_files([("template.yaml", TEMPLATE)]);
    let outcome = sqslint::check(&Options {
        paths: vec![directory.path().to_owned()],
        inputs: Inputs {
            region: Some("cn-north-1".to_owned()),
            account: Some("123456789012".to_owned()),
            ..Inputs::default()
        },
        ..Options::default()
    });
    assert_eq!(queue(&outcome)["name"], "aws-cn-cn-north-1-123456789012");
}

#[test]
fn repeated_key_is_reported_and_its_last_value_applies() {
    let outcome = check_files([(
        "t.yaml",
        "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n      VisibilityTimeout: 1\n      VisibilityTimeout: 2\n",
    )]);
    assert_eq!(queue(&outcome)["visibility_timeout"], 2);
    let repeated = outcome.findings.iter().find(|found| found.rule == "parse-error");
    let repeated = repeated.expect("the first value has no effect");
    let lines = repeated
        .labels()
        .iter()
        .map(|label| outcome.sources.start(label.span).line);
    assert_eq!(lines.collect::<Vec<_>>(), [5, 6]);
    assert_eq!(
        repeated.headline,
        "`t.yaml` has the key `VisibilityTimeout` twice: only the last one counts"
    );
}
