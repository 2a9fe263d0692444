//! Tests the document of a small graph, which the tests of the text format share.

use super::*;
use crate::graph::attributes::Read;
use crate::graph::{
    Case, Cause, Common, Form, QueueAttributeNames, QueueAttributes, RedrivePolicy, Seconds, SourcedValue, Tags,
    Target, Unit, UnitGraph, UnitKind,
};
use crate::testing::{graph_json, graph_json_by_default};
use conditions::Variable;
use serde_json::json;
use source::Span;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A resource without attributes.
struct Absent(Span);

impl Read for Absent {
    fn attribute<T: AsPlain + Clone>(&mut self, name: &'static str, default: T) -> Attribute<T> {
        Attribute::absent(name, default, self.0)
    }
}

/// Returns a graph with two queues, one of which is the other's dead-letter queue, and a visibility timeout that
/// depends on `Env`.
pub(in crate::report::graph) fn sample() -> (Graph, Sources) {
    let sources = Sources::new(None, PathBuf::from("/infra"));
    let file = sources.add(Path::new("/infra/main.tf"), "queue\ndlq\n");
    let env = Condition::is(
        Variable {
            order: 0,
            key: "Env".into(),
            name: "Env".into(),
            domain: None,
            default: Some("dev".into()),
            operands: None,
        },
        "prod",
    );
    let unknown = Cause::InputWithoutValue.because("`var.delay` has no value");
    let queue = |address: &str, header: Span| Queue {
        resource: Resource {
            unit: UnitId(0),
            address: address.into(),
            header,
            when: Condition::always(),
            common: Arc::new(Common::of_kind("aws_sqs_queue")),
        },
        attributes: QueueAttributes {
            visibility_timeout: Attribute::set("visibility_timeout_seconds", Seconds(30), header),
            delay: Attribute::unresolved("delay_seconds", unknown.clone(), header),
            ..QueueAttributes::read(&mut Absent(header), &QueueAttributeNames::NEUTRAL)
        },
        sends_fifo_false: false,
        visibility_timeout_set_by: None,
        tags: Attribute::absent("tags", Tags::default(), header),
        redrive: Attribute::absent("redrive_policy", None, header),
        redrive_allow: Attribute::absent("redrive_allow_policy", None, header),
        redrive_writers: Vec::new(),
        replaced: None,
        implicit: None,
    };
    let header = Span::new(file, 0..5);
    let mut source = queue("aws_sqs_queue.orders", header);
    let case = |when: Condition, seconds| Case::new(when, SourcedValue::new(State::Set(Seconds(seconds)), header));
    source.visibility_timeout.cases = vec![case(env.clone(), 300), case(env.not(), 60)].into();
    let link = Link {
        target: Target::Resource("aws_sqs_queue.dlq".into()),
        form: Form::Arn,
    };
    let policy = RedrivePolicy {
        target: Attribute::set("deadLetterTargetArn", link, header),
        max_receive_count: Attribute::set("maxReceiveCount", 5, header),
        faults: Vec::new(),
    };
    source.redrive = Attribute::set("redrive_policy", Some(Box::new(policy)), header);
    let mut dlq = queue("aws_sqs_queue.dlq", Span::new(file, 6..9));
    dlq.resource.when = env;
    let mut unit = UnitGraph::new(Unit::new(".".to_owned(), UnitKind::TerraformModule));
    unit.queues = vec![source, dlq];
    (Graph::assemble(vec![unit]), sources)
}

#[test]
fn document_is_version_1() {
    let (graph, sources) = sample();
    insta::assert_snapshot!(graph_json(&graph, &sources));
}

#[test]
fn defaults_select_one_case_each() {
    let (graph, sources) = sample();
    let document = graph_json_by_default(&graph, &sources);
    assert!(document.contains("\"visibility_timeout\": 60,"), "{document}");
    assert!(!document.contains("one_of"), "{document}");
    assert!(!document.contains("\"address\": \"aws_sqs_queue.dlq\""), "{document}");
}

#[test]
fn tags_are_listed_by_key() {
    let (graph, sources) = sample();
    assert!(!graph_json(&graph, &sources).contains("tags"), "there are none");
    for (files, of, expected) in [
        (
            r#"
variable "who" {}
variable "prod" { type = bool }
provider "aws" {
  default_tags {
    tags = { team = "shop", owner = "nobody" }
  }
}
resource "aws_sqs_queue" "q" {
  tags = { owner = "ann", "cost-center" = var.who, stage = var.prod ? "prod" : "dev" }
}
"#,
            "queues",
            json!({
                "owner": "ann", "cost-center": { "unresolved": "`var.who` has no value" }, "team": "shop",
                "stage": { "one_of": [
                    { "when": "var.prod", "value": "prod" }, { "when": "not var.prod", "value": "dev" },
                ] },
            }),
        ),
        (
            r#"
variable "more" {}
variable "prod" { type = bool }
provider "aws" {
  default_tags {
    tags = var.more
  }
}
resource "aws_lambda_function" "f" {
  tags = var.prod ? { owner = "ann", tier = "1" } : { owner = "bob" }
}
"#,
            "functions",
            json!({
                "owner": { "one_of": [
                    { "when": "var.prod", "value": "ann" }, { "when": "not var.prod", "value": "bob" },
                ] },
                "tier": { "one_of": [
                    { "when": "var.prod", "value": "1" },
                    { "when": "not var.prod", "value": { "unresolved": "`var.more` has no value" } },
                ] },
                "aws:unresolved": { "unresolved": "`var.more` has no value" },
            }),
        ),
        (
            "variable \"all\" {}\nresource \"aws_sqs_queue\" \"q\" {\n  tags = var.all\n}\n",
            "queues",
            json!({ "aws:unresolved": { "unresolved": "`var.all` has no value" } }),
        ),
    ] {
        let rule = crate::rules::by_id("visibility-timeout-zero").expect("it is a rule");
        let outcome = crate::testing::run_files(rule, &[("main.tf", files)]);
        let document = graph_json(&outcome.graph, &outcome.sources);
        let document: serde_json::Value = serde_json::from_str(&document).expect("it is JSON");
        assert_eq!(document[of][0]["tags"], expected);
    }
}

#[test]
fn conditionally_absent_tag_is_null() {
    let text = "
Parameters: {Stage: {Type: String, AllowedValues: [dev, prod], Default: dev}}
Conditions: {IsProd: !Equals [!Ref Stage, prod]}
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      Tags: [!If [IsProd, {Key: owner, Value: ann}, !Ref AWS::NoValue], {Key: team, Value: shop}]
";
    let rule = crate::rules::by_id("visibility-timeout-zero").expect("it is a rule");
    let outcome = crate::testing::run_files(rule, &[("template.yaml", text)]);
    let tags = |document: String| {
        let document: serde_json::Value = serde_json::from_str(&document).expect("it is JSON");
        document["queues"][0]["tags"].clone()
    };
    let owner = json!({ "one_of": [{ "when": "IsProd", "value": "ann" }, { "when": "not IsProd", "value": null }] });
    let each = tags(graph_json(&outcome.graph, &outcome.sources));
    assert_eq!(each, json!({ "owner": owner, "team": "shop" }));
    let by_default = tags(graph_json_by_default(&outcome.graph, &outcome.sources));
    assert_eq!(by_default, json!({ "owner": null, "team": "shop" }));
}

#[test]
fn workers_are_listed_as_consumers() {
    let worker = r#"
resource "aws_sqs_queue" "jobs" {}
resource "aws_iam_role" "task" {
  assume_role_policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ecs-tasks.amazonaws.com" } }] })
}
resource "aws_iam_role_policy" "task" {
  role   = aws_iam_role.task.id
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = ["sqs:ReceiveMessage", "sqs:DeleteMessage"], Resource = aws_sqs_queue.jobs.arn }] })
}
resource "aws_ecs_task_definition" "worker" {
  family                = "worker"
  task_role_arn         = aws_iam_role.task.arn
  container_definitions = jsonencode([{ name = "w", image = "w" }])
}
"#;
    let rule = crate::rules::by_id("visibility-timeout-zero").expect("it is a rule");
    let outcome = crate::testing::run_files(rule, &[("main.tf", worker)]);
    let document = graph_json(&outcome.graph, &outcome.sources);
    let document: serde_json::Value = serde_json::from_str(&document).expect("it is JSON");
    let [worker] = document["consumers"].as_array().map_or(&[][..], Vec::as_slice) else {
        panic!("{}", document["consumers"]);
    };
    assert_eq!(
        (&worker["address"], &worker["queue"], &worker["kind"]),
        (
            &"aws_ecs_task_definition.worker".into(),
            &"aws_sqs_queue.jobs".into(),
            &"worker".into()
        )
    );
}
