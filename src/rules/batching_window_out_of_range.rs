//! Flags batching windows that Lambda rejects.

use super::prelude::*;
use crate::graph::limits::WINDOW;
use crate::rules::shared::wrong_types::Accepts;

pub(super) static RULE: Rule = Rule {
    id: "batching-window-out-of-range",
    category: Category::Mapping,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "a mapping has a batching window that Lambda rejects",
    page: include_str!("../../rules/batching-window-out-of-range.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        let accepts = Accepts::of("Lambda", &WINDOW);
        findings.reject_types(&mapping.resource.when, mapping, "window", &mapping.window, accepts);
        for window in findings.any_numbers(&mapping.resource.when, mapping, &mapping.window, WINDOW.unit) {
            let mut when = window.when.clone();
            if window.value > WINDOW.most {
                // `fifo-batching-window` reports FIFO queues.
                for source in findings.without_notes(|findings| findings.sources(graph, mapping, &window.when)) {
                    if source.fifo {
                        findings.leave_to_rule_of(&source.when, mapping, &[&window, &source], Cause::FifoWindow);
                        when = when.and(&source.when.not());
                    }
                }
            }
            findings.require(&when, mapping, within(&window, &WINDOW), || {
                out_of_range(mapping, &window)
            });
        }
    }
}

fn out_of_range(mapping: &EventSourceMapping, window: &Operand<'_>) -> Finding {
    let (least, most) = (WINDOW.least, WINDOW.most);
    let headline = format!(
        "{} has a batching window of {} s, but Lambda accepts {least} to {most} s",
        mapping.resource.shown(),
        window.value
    );
    let label = format!("{} is outside {least} to {most} s", window.shown());
    Finding::new("window", headline, window, label)
        .help(format!("set `{}` to a value from {least} to {most}", window.name))
        .fix(window.set_to(window.value.clamp(least, most)))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    fn terraform(queue: &str, window: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn                   = {queue}
  function_name                      = "f"
  maximum_batching_window_in_seconds = {window}
}}
"#
        )
    }

    const STANDARD: &str = "\"arn:aws:sqs:eu-west-1:111122223333:q\"";

    #[test]
    fn both_ends_of_the_range_are_accepted() {
        for window in ["0", "300", "var.open", "null"] {
            check(&RULE, Terraform, &terraform(STANDARD, window));
        }
        for window in ["-1", "301"] {
            let window = format!("{window} # expect: batching-window-out-of-range");
            check(&RULE, Terraform, &terraform(STANDARD, &window));
        }
    }

    #[test]
    fn windows_of_fifo_queues_are_left_to_their_own_rule() {
        let fifo = "\"arn:aws:sqs:eu-west-1:111122223333:q.fifo\"";
        check(&RULE, Terraform, &terraform(fifo, "301"));
        check(
            &RULE,
            Terraform,
            &terraform(fifo, "-1 # expect: batching-window-out-of-range"),
        );
    }

    #[test]
    fn cloudformation_window_is_flagged() {
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: arn:aws:sqs:eu-west-1:111122223333:q
      FunctionName: f
      MaximumBatchingWindowInSeconds: 301 # expect: batching-window-out-of-range
",
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E:
          Type: SQS
          Properties:
            Queue: arn:aws:sqs:eu-west-1:111122223333:q
            MaximumBatchingWindowInSeconds: 3000 # expect: batching-window-out-of-range
",
        );
    }
}
