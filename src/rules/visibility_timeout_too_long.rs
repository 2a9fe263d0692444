//! Flags visibility timeouts that delay the retry of a failed message for a long time.

use super::prelude::*;
use crate::rules::shared::advice::Advice;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = Rule {
    id: "visibility-timeout-too-long",
    category: Category::Visibility,
    severity: Severity::Info,
    set: Set::Pedantic,
    fix: None,
    summary: "the visibility timeout is far longer than the function needs, so failures are retried late",
    page: include_str!("../../rules/visibility-timeout-too-long.md"),
    settings: Longest::ALL,
    check: Some(check),
};

settings! {
    /// Thresholds above which a timeout is too long.
    struct Longest of "visibility-timeout-too-long" {
        factor: i64 = 10, at least 1, "how many times what AWS advises is too long";
        minimum: i64 = 900, at least 1, "the seconds below which nothing is too long";
    }
}

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for (queue, _) in graph.polled() {
        let Longest { factor, minimum } = findings.settings(queue);
        for visibility in findings.visibility(&queue.resource.when, queue) {
            if findings.satisfied(&visibility.when, queue, below(&visibility, minimum)) {
                continue;
            }
            let when = findings.exceeds_every_need(graph, queue, &visibility, &visibility.when, factor);
            let advice: Advice = findings.settings(queue);
            let finding = too_long(queue, &visibility, factor, advice);
            // The finding shows the function with the longest run time.
            let longest = findings.without_notes(|findings| findings.longest_run(graph, queue, &when));
            let story = longest
                .as_ref()
                .and_then(|time| scenarios::of_stop(&visibility, &time.limit));
            let finding = longest.iter().fold(finding, Finding::show).scenario(story);
            findings.report(&when, queue, finding);
        }
    }
}

fn too_long(queue: &Queue, visibility: &Operand<'_>, factor: i64, advice: Advice) -> Finding {
    let advised = advice.times("what its functions may take");
    let headline = format!(
        "{} has a visibility timeout of {}, more than {} times as long as its functions may run: a failure is retried only then",
        queue.resource.shown(),
        visibility.in_words(),
        factor.saturating_mul(advice.factor)
    );
    let label = format!("retried after {}", visibility.shown());
    Finding::new("visibility_timeout", headline, visibility, label).help(format!(
        "lower `{}` towards {advised}, plus the batching window",
        visibility.name
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    fn terraform(visibility: &str, timeout: &str, mapping: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "q" {{
  visibility_timeout_seconds = {visibility}
}}
resource "aws_lambda_function" "f" {{
  function_name = "f"
  timeout       = {timeout}
}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
  {mapping}
}}
"#
        )
    }

    const EXPECTED: &str = "# expect: visibility-timeout-too-long";

    #[test]
    fn timeout_above_ten_times_the_advice_is_flagged() {
        for (visibility, timeout, mapping) in [
            ("1800", "30", ""),
            ("899", "3", ""),
            ("var.open", "30", ""),
            ("1801", "var.open", ""),
            ("1801", "30", "enabled = false"),
            ("1801", "30", "maximum_batching_window_in_seconds = 1"),
            ("1801", "30", "maximum_batching_window_in_seconds = var.open"),
        ] {
            check(&RULE, Terraform, &terraform(visibility, timeout, mapping));
        }
        check(&RULE, Terraform, &terraform(&format!("1801 {EXPECTED}"), "30", ""));
        check(&RULE, Terraform, &terraform(&format!("900 {EXPECTED}"), "3", ""));
    }

    #[test]
    fn slowest_function_decides() {
        let other = r#"
resource "aws_lambda_function" "g" {
  function_name = "g"
  timeout       = 60
}
resource "aws_lambda_event_source_mapping" "n" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.g.arn
}
"#;
        check(&RULE, Terraform, &(terraform("1801", "30", "") + other));
    }

    #[test]
    fn cloudformation_queue_is_flagged() {
        let queue = "
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 43200 # expect: visibility-timeout-too-long
";
        let mapping = "  F:
    Type: AWS::Lambda::Function
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}
";
        check(&RULE, CloudFormation, &format!("{queue}{mapping}"));
        let event = "  F:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: 10
      Events:
        E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}
";
        check(&RULE, Sam, &format!("{queue}{event}"));
    }
}
