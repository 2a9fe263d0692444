//! Checks `Fn::ForEach`: the resources it creates, their conditions, and the loops that are rejected.

use crate::inputs::check_files;
use sqslint::Outcome;
use sqslint::testing::graph_json;

const EXTENDED: &str = "AWSTemplateFormatVersion: '2010-09-09'\nTransform: AWS::LanguageExtensions\n";

fn run(text: &str) -> Outcome {
    check_files([("t.yaml", text)])
}

/// Lists the queues with their visibility timeout and the condition under which they exist.
fn queues(outcome: &Outcome) -> Vec<String> {
    let document: serde_json::Value = serde_json::from_str(&graph_json(&outcome.graph, &outcome.sources)).unwrap();
    let shown = document["queues"].as_array().unwrap().iter().map(|queue| {
        let place = |key: &str| {
            queue[key]
                .as_str()
                .map(|text| format!(" {key} {text}"))
                .unwrap_or_default()
        };
        format!(
            "{} {}{}{}",
            queue["address"].as_str().unwrap(),
            queue["visibility_timeout"],
            place("when"),
            place("uncertain")
        )
    });
    shown.collect()
}

fn messages(outcome: &Outcome, rule: &str) -> Vec<String> {
    let found = outcome.findings.iter().filter(|found| found.rule == rule);
    found.map(|found| found.primary().message.to_string()).collect()
}

#[test]
fn loop_requires_the_transform() {
    let body =
        "Resources:\n  Fn::ForEach::Q: [N, [a, b], {'Q${N}': {Type: AWS::SQS::Queue}}]\n  R: {Type: AWS::SQS::Queue}\n";
    for head in [
        "AWSTemplateFormatVersion: '2010-09-09'\n",
        "Transform: AWS::Serverless-2016-10-31\n",
    ] {
        let outcome = run(&format!("{head}{body}"));
        assert_eq!(
            messages(&outcome, "parse-error"),
            ["`Fn::ForEach` needs `Transform: AWS::LanguageExtensions`"]
        );
        assert_eq!(queues(&outcome), ["R 30"]);
    }
    // A fragment without a header may become part of a template that declares the transform.
    let outcome = run(body);
    assert!(messages(&outcome, "parse-error").is_empty());
    assert_eq!(queues(&outcome), ["Qa 30", "Qb 30", "R 30"]);
}

#[test]
fn malformed_loop_is_rejected() {
    for value in ["[N, [a]]", "[[N], [a], {}]", "[N, [a], x]", "{}"] {
        let outcome = run(&format!(
            "{EXTENDED}Resources:\n  Fn::ForEach::Q: {value}\n  R: {{Type: AWS::SQS::Queue}}\n"
        ));
        let expected = "`Fn::ForEach` takes an identifier, a collection and an object";
        assert_eq!(messages(&outcome, "parse-error"), [expected], "{value}");
        assert_eq!(queues(&outcome), ["R 30"], "{value}");
    }
}

#[test]
fn conditional_items_create_conditional_resources() {
    let text = format!(
        "{EXTENDED}Parameters: {{Env: {{Type: String, AllowedValues: [dev, prod]}}}}
Mappings: {{M: {{dev: {{N: [a]}}, prod: {{N: [a, b]}}}}}}
Resources:
  Fn::ForEach::Q: [N, !FindInMap [M, !Ref Env, N], {{'Q${{N}}': {{Type: AWS::SQS::Queue, Properties: {{VisibilityTimeout: 5}}}}}}]
"
    );
    assert_eq!(queues(&run(&text)), ["Qa 5", "Qb 5 when Env = prod"]);
}

#[test]
fn unresolved_items_leave_one_resource_that_may_exist() {
    let text = format!(
        "{EXTENDED}Parameters: {{Names: {{Type: CommaDelimitedList}}}}
Resources:
  Fn::ForEach::Q:
    - N
    - !Ref Names
    - 'Q${{N}}': {{Type: AWS::SQS::Queue, Properties: {{VisibilityTimeout: 5, QueueName: 'a-&{{N}}-${{B}}', DelaySeconds: !Ref N}}}}
      'M${{N}}':
        Type: AWS::Lambda::EventSourceMapping
        Properties: {{EventSourceArn: !GetAtt ['Q${{N}}', Arn], FunctionName: !Sub '${{N}}-f'}}
"
    );
    let outcome = run(&text);
    assert_eq!(queues(&outcome), ["Q${N} 5 uncertain parameter `Names` has no default"]);
    let document = graph_json(&outcome.graph, &outcome.sources);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["event_source_mappings"][0]["queue"], "Q${N}");
    assert!(document["queues"][0]["name"]["unresolved"].is_string());
}

#[test]
fn property_that_a_loop_may_add_is_unresolved() {
    let text = format!(
        "{EXTENDED}Parameters: {{Names: {{Type: CommaDelimitedList}}}}
Resources:
  Q: {{Type: AWS::SQS::Queue, Properties: {{Fn::ForEach::P: [N, !Ref Names, {{'${{N}}': 5}}]}}}}
"
    );
    assert_eq!(queues(&run(&text)), [r#"Q {"unresolved":"a loop may add it"}"#]);
}
