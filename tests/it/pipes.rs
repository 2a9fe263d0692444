//! Checks pipes as consumers: a running pipe consumes its source queue, like an enabled mapping. A stopped pipe does
//! not, and no rule reports if the state is unresolved.

use sqslint::rules::RULES;
use sqslint::testing::Dialect;

/// Rules about consumers of either kind, with the settings of a queue that each of them flags if it has a consumer.
const QUEUES: [(&str, &str); 4] = [
    ("redrive-policy-missing", ""),
    (
        "visibility-timeout-exceeds-retention",
        "visibility_timeout_seconds = 600\n message_retention_seconds = 600",
    ),
    (
        "retries-outlast-retention",
        "visibility_timeout_seconds = 600\n message_retention_seconds = 1800\n redrive_policy = local.policy",
    ),
    ("max-receive-count-low-for-poller", "redrive_policy = local.policy"),
];

fn stack(settings: &str, state: &str) -> String {
    format!(
        r#"
variable "state" {{}}
locals {{
  dead   = "arn:aws:sqs:eu-west-1:123456789012:dead"
  policy = jsonencode({{ deadLetterTargetArn = local.dead, maxReceiveCount = 3 }})
}}
resource "aws_sqs_queue" "orders" {{
  {settings}
}}
resource "aws_pipes_pipe" "orders" {{
  source        = aws_sqs_queue.orders.arn
  target        = "arn:aws:states:eu-west-1:123456789012:stateMachine:orders"
  desired_state = {state}
}}
"#
    )
}

#[test]
fn only_a_running_pipe_is_a_consumer() {
    for (id, settings) in QUEUES {
        let rule = RULES
            .iter()
            .find(|rule| rule.id == id)
            .expect("the rule is in the catalogue");
        let count = |state| Dialect::Terraform.findings(rule, &stack(settings, state)).len();
        assert_eq!(count("null"), 1, "{id} if the pipe runs");
        assert_eq!(count("\"STOPPED\""), 0, "{id} if the pipe is stopped");
        assert_eq!(count("var.state"), 0, "{id} if its state is unresolved");
    }
}
