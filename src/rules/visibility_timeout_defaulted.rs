//! Flags queues whose default visibility timeout is sufficient only until the function's timeout is raised.

use super::prelude::*;
use crate::rules::shared::advice::Advice;
use crate::rules::shared::consumers::{PollingMapping, RunTime};

pub(super) static RULE: Rule = Rule {
    id: "visibility-timeout-defaulted",
    category: Category::Visibility,
    severity: Severity::Info,
    set: Set::Pedantic,
    fix: None,
    summary: "the visibility timeout is left to its default, and is enough by accident",
    page: include_str!("../../rules/visibility-timeout-defaulted.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for (queue, _) in graph.polled() {
        let advice: Advice = findings.settings(queue);
        for visibility in findings.visibility(&queue.resource.when, queue) {
            let is_written =
                fact(!visibility.is_default, || format!("`{}` is set", visibility.name)).depending_on(&visibility);
            if findings.satisfied(&visibility.when, queue, is_written) {
                continue;
            }
            for poll in findings.polls(graph, &visibility.when, queue) {
                if !poll.enabled {
                    continue;
                }
                for time in findings.run_times(graph, &poll) {
                    let window = &poll.mapping.window;
                    for window in findings.numbers(&time.limit.when, poll.mapping, window, &limits::WINDOW) {
                        let needed = advice.needed(&time.limit, &window).value;
                        // `visibility-timeout-too-short` reports an insufficient timeout.
                        if needed <= visibility.value {
                            findings.report(&window.when, queue, defaulted(queue, &visibility, &poll, &time, needed));
                        }
                    }
                }
            }
        }
    }
}

fn defaulted(
    queue: &Queue,
    visibility: &Operand<'_>,
    poll: &PollingMapping<'_>,
    time: &RunTime<'_>,
    needed: i64,
) -> Finding {
    let headline = format!(
        "{} leaves its visibility timeout to the default of {} s; {} needs {needed} s, so a longer function timeout makes it too short",
        queue.resource.shown(),
        visibility.value,
        time.function.resource.shown()
    );
    let label = format!("`{}` is not set", visibility.name);
    Finding::new("visibility_timeout", headline, visibility, label)
        .show(time)
        .show(poll)
        .help(format!(
            "set `{}` beside the function's timeout, computed from it",
            visibility.name
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    fn terraform(header: &str, visibility: &str, timeout: &str, mapping: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "q" {{ {header}
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

    const EXPECTED: &str = "# expect: visibility-timeout-defaulted";

    #[test]
    fn sufficient_default_timeout_is_flagged() {
        check(&RULE, Terraform, &terraform("", &format!("null {EXPECTED}"), "5", ""));
        let absent = terraform(EXPECTED, "null", "5", "").replace("visibility_timeout_seconds = null", "");
        check(&RULE, Terraform, &absent);
        for (visibility, timeout, mapping) in [
            ("30", "5", ""),
            ("null", "6", ""),
            ("null", "var.open", ""),
            ("var.open", "5", ""),
            ("null", "5", "enabled = false"),
        ] {
            check(&RULE, Terraform, &terraform("", visibility, timeout, mapping));
        }
    }

    #[test]
    fn cloudformation_queue_is_flagged() {
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q: # expect: visibility-timeout-defaulted
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Lambda::Function
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}
",
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  Q: # expect: visibility-timeout-defaulted
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: 3
      Events:
        E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}
",
        );
    }
}
