//! Flags mappings and pipes whose source is not declared or is not a valid event source.

use super::prelude::*;
use crate::graph::{Attribute, Resource, Target};

pub(super) static RULE: Rule = rule!(
    "event-source-mapping-source-undeclared",
    Category::Mapping,
    Severity::Error,
    "a mapping or pipe reads something that is not declared, or that it cannot read"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        judge(findings, &mapping.resource, "queue", &mapping.queue);
    }
    for pipe in &findings.graph.deliveries().pipes {
        judge(findings, &pipe.resource, "source", &pipe.source);
    }
}

fn judge(findings: &mut Findings<'_>, reader: &Resource, attribute: &'static str, source: &Attribute<Link>) {
    for source in findings.known(&reader.when, reader, source) {
        let finding = match wrong(findings.graph, reader, source.value) {
            Some(Wrong::Undeclared(name)) => undeclared(reader, attribute, &source, &name),
            Some(Wrong::Unreadable(what)) => unreadable(reader, attribute, &source, &what),
            None => {
                let is_source = fact(true, || format!("`{}` names something that can be read", source.name));
                findings.satisfied(&source.when, reader, is_source.depending_on(&source));
                continue;
            }
        };
        findings.report(&source.when, reader, finding);
    }
}

/// Fault of a source.
enum Wrong {
    /// The reference is dangling; its text.
    Undeclared(String),
    /// Neither a mapping nor a pipe can poll it; its description.
    Unreadable(String),
}

fn wrong(graph: &Graph, reader: &Resource, link: &Link) -> Option<Wrong> {
    if let Target::Dangling(name) = &link.target {
        return Some(Wrong::Undeclared(name.to_string()));
    }
    if let Some(kind) = graph.type_if_not_queue(reader.unit, link) {
        return Some(Wrong::Unreadable(format!("a resource of the type `{kind}`")));
    }
    let service = link.service().filter(|_| link.is_never_a_source())?;
    Some(Wrong::Unreadable(format!("an ARN of `{service}`")))
}

fn undeclared(reader: &Resource, attribute: &'static str, source: &Known<'_, Link>, name: &str) -> Finding {
    let headline = format!("{} reads `{name}`, which is not declared", reader.shown());
    let label = format!("`{name}` is not declared, so the deployment fails");
    Finding::new(attribute, headline, source, label).help(format!(
        "declare `{name}`, or set `{}` to the ARN of a queue that exists",
        source.name
    ))
}

fn unreadable(reader: &Resource, attribute: &'static str, source: &Known<'_, Link>, what: &str) -> Finding {
    let headline = format!("{} reads {what}, which is no source of messages", reader.shown());
    Finding::new(attribute, headline, source, format!("{what}, and no queue")).help(format!(
        "set `{}` to the ARN of a queue, and let it receive the messages",
        source.name
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::run_files;

    const MODULE: &str = r#"
variable "open" {}
resource "aws_sqs_queue" "q" {}
resource "aws_sqs_queue" "none" {
  count = 0
}
resource "aws_kinesis_stream" "s" {}
resource "aws_sns_topic" "t" {}
module "away" {
  source = "example.com/queues"
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = <source>
  function_name    = "f"
}
"#;

    #[test]
    fn undeclared_and_unsupported_sources_are_flagged() {
        Terraform.check_cases(
            &RULE,
            MODULE,
            r#"
            source                                                    | finding | headline
            aws_sqs_queue.q.arn                                       |         |
            aws_sqs_queue.none[0].arn                                 |         |
            aws_kinesis_stream.s.arn                                  |         |
            "arn:aws:sqs:eu-west-1:111122223333:q"                    |         |
            "arn:aws:kinesis:eu-west-1:111122223333:stream/s"         |         |
            var.open                                                  |         |
            module.away.queue_arn                                     |         |
            var.open ? aws_sqs_queue.q.arn : aws_kinesis_stream.s.arn |         |
            aws_sqs_queue.gone.arn                                    | source  |
            aws_sqs_queue.gone[0].arn                                 | source  |
            aws_sqs_queue.gone["orders"].arn                          | source  |
            data.aws_sqs_queue.gone.arn                               | source  |
            module.gone.queue_arn                                     | source  |
            local.gone                                                | source  |
            var.gone                                                  | source  |
            var.open ? aws_sqs_queue.q.arn : aws_sqs_queue.gone.arn   | source  |
            "arn:aws:sns:eu-west-1:111122223333:t"                    | source  |
            aws_sns_topic.t.arn                                       | source  | `aws_lambda_event_source_mapping.m` reads a resource of the type `aws_sns_topic`, which is no source of messages
            "#,
        );
    }

    #[test]
    fn incomplete_module_is_not_judged() {
        let gone = MODULE.replace("<source>", "aws_sqs_queue.gone.arn");
        let half = format!("{gone}resource \"aws_sqs_queue\" \"half");
        for (files, expected) in [
            ([("main.tf", &*half), ("other.tf", "")], 0),
            ([("main.tf", &*gone), ("queues.tf", "resource {")], 0),
            (
                [("main.tf", &*gone), ("terragrunt.hcl", "inputs = { open = \"a\" }\n")],
                0,
            ),
            // A template of a file of the module.
            ([("main.tf", &*gone), ("queues.tf.j2", "")], 0),
            ([("main.tf", &*gone), ("queues.tf.bak", "")], 1),
        ] {
            let found = run_files(&RULE, &files).findings;
            let count = found.iter().filter(|found| found.rule == RULE.id).count();
            assert_eq!(count, expected, "{:?}: {found:?}", files[1]);
        }
    }

    const TEMPLATE: &str = "
Parameters:
  Open: {Type: String}
Resources:
  Q:
    Type: AWS::SQS::Queue
  S:
    Type: AWS::Kinesis::Stream
  T:
    Type: AWS::SNS::Topic
  Custom:
    Type: Custom::Queue
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: <source>
      FunctionName: f
";

    #[test]
    fn undeclared_references_in_template_are_flagged() {
        for dialect in [CloudFormation, Sam] {
            dialect.check_cases(
                &RULE,
                TEMPLATE,
                "
                source             | finding
                !GetAtt Q.Arn      |
                !GetAtt S.Arn      |
                !GetAtt Custom.Arn |
                !Ref Open          |
                !ImportValue queue |
                !GetAtt Gone.Arn   | source
                !Sub '${Gone.Arn}' | source
                !Ref T             | source
                ",
            );
        }
    }

    #[test]
    fn incomplete_template_is_not_judged() {
        let template = TEMPLATE.replace("<source>", "!GetAtt Gone.Arn");
        let versioned = |next: &str| format!("AWSTemplateFormatVersion: 2010-09-09\n{next}{template}");
        let resources = |first: &str| versioned("").replace("Resources:\n", &format!("Resources:\n  {first}\n"));
        for (text, expected) in [
            // The version line is optional: without it, a template is whole.
            (template.clone(), 1),
            (versioned("Transform: Count\n"), 0),
            (versioned("") + "  Broken: [\n", 0),
            (resources("Go: {Type: Acme::Queues::Queue::MODULE}"), 0),
            (
                resources("Fn::Transform: {Name: AWS::Include, Parameters: {Location: s3://bucket/queues.yaml}}"),
                0,
            ),
        ] {
            let found = run_files(&RULE, &[("template.yaml", &text)]).findings;
            let count = found.iter().filter(|found| found.rule == RULE.id).count();
            assert_eq!(count, expected, "{text}");
        }
    }
}
