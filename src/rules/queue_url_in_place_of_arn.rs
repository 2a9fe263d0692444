//! Flags mappings whose source is a queue's URL or name, where Lambda takes an ARN.

use super::{Category, Findings, Known, Rule, Set};
use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::{EventSourceMapping, Form, Graph, Link, Queue, Target};

pub(super) static RULE: Rule = Rule {
    id: "queue-url-in-place-of-arn",
    category: Category::Queue,
    severity: Severity::Error,
    set: Set::Default,
    summary: "a queue's URL or name stands where AWS takes its ARN",
    page: include_str!("../../rules/queue-url-in-place-of-arn.md"),
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for source in findings.known(&mapping.resource.when, &mapping.resource, &mapping.queue) {
            let queue = graph.queue(mapping.resource.unit, source.value);
            // A reference to something that is no queue may well give an ARN.
            let is_queue = queue.is_some() || is_url(source.value);
            if source.value.form != Form::Arn && is_queue {
                let diagnostic = no_arn(findings, mapping, &source, queue);
                findings.report(&source.world, &mapping.resource, diagnostic);
            }
        }
    }
}

fn is_url(link: &Link) -> bool {
    matches!(&link.target, Target::External(written) if link.form == Form::Url && written.starts_with("https://"))
}

fn no_arn(
    findings: &Findings<'_>,
    mapping: &EventSourceMapping,
    source: &Known<'_, Link>,
    queue: Option<&Queue>,
) -> Diagnostic {
    let form = if source.value.form == Form::Url { "URL" } else { "name" };
    let shown = queue.map_or_else(|| "a queue".to_owned(), |queue| queue.resource.shown());
    let headline = format!(
        "{} takes the {form} of {shown} for its source, and Lambda wants the ARN",
        mapping.resource.shown()
    );
    let label = format!("this is the queue's {form}{}", source.provenance());
    let diagnostic = findings.diagnostic(
        Severity::Error,
        &mapping.resource,
        "queue",
        headline,
        source.span(),
        label,
    );
    let diagnostic = source.show_origin(diagnostic);
    match queue {
        Some(queue) => diagnostic
            .label(queue.resource.header, format!("{shown} is declared here"))
            .help(format!("set `{}` to `{}`", source.name, queue.resource.arn_reference())),
        None => diagnostic.help(format!(
            "set `{}` to the queue's ARN: `arn:aws:sqs:<region>:<account>:<name>`",
            source.name
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check, findings};

    #[test]
    fn urls_and_names_are_no_arns() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "orders"
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.id # expect: queue-url-in-place-of-arn
  function_name = "f"
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "orders"
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.url # expect: queue-url-in-place-of-arn
  function_name = "f"
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "orders"
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.name # expect: queue-url-in-place-of-arn
  function_name = "f"
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "orders"
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = "https://sqs.eu-west-1.amazonaws.com/111122223333/elsewhere" # expect: queue-url-in-place-of-arn
  function_name = "f"
}
"#,
        );
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !Ref Q # expect: queue-url-in-place-of-arn
      FunctionName: f
",
        );
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Q.QueueName # expect: queue-url-in-place-of-arn
      FunctionName: f
",
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E:
          Type: SQS
          Properties:
            Queue: !Ref Q # expect: queue-url-in-place-of-arn
",
        );
    }

    #[test]
    fn arns_and_what_is_not_known_are_left_alone() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "orders"
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "orders"
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = "arn:aws:sqs:eu-west-1:111122223333:orders"
  function_name = "f"
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
variable "x" {}
resource "aws_sqs_queue" "q" {
  name = "orders"
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = var.x
  function_name = "f"
}
"#,
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E:
          Type: SQS
          Properties:
            Queue: !GetAtt Q.Arn
",
        );
    }

    #[test]
    fn spells_the_arn_as_the_user_would() {
        let found = findings(
            &RULE,
            Sam,
            "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n  M:\n    Type: AWS::Lambda::EventSourceMapping\n    Properties:\n      EventSourceArn: !Ref Q\n      FunctionName: f\n",
        );
        let help = found.first().and_then(|found| found.help.as_deref());
        assert_eq!(help, Some("set `EventSourceArn` to `!GetAtt Q.Arn`"));
    }
}
