//! Flags state machines that send a message with a task token and wait for the token without a time limit.

use super::prelude::*;
use crate::graph::delivery::{StateMachine, TokenTask};

pub(super) static RULE: Rule = rule!(
    "task-token-without-timeout",
    Category::PipesAndSam,
    Severity::Warning,
    "a state machine waits without a limit for the token that it sent to a queue"
);

fn check(findings: &mut Findings<'_>) {
    for machine in &findings.graph.deliveries().machines {
        for tasks in findings.known(&machine.resource.when, machine, &machine.tasks) {
            if let Some(reason) = &tasks.value.opaque {
                findings.note_unresolved(&tasks.when, machine, reason, tasks.span);
            }
            for task in &tasks.value.all {
                // Express workflows with such a task are rejected, and their duration is limited.
                for express in findings.known(&tasks.when.and(&task.when), machine, &machine.express) {
                    if !*express.value {
                        judge(findings, machine, task, &express.when);
                    }
                }
            }
        }
    }
}

fn judge(findings: &mut Findings<'_>, machine: &StateMachine, task: &TokenTask, when: &Condition) {
    let limited = when.and(&task.unlimited.not());
    if limited.is_possible() {
        let words = || format!("the wait of `{}` is limited", task.state);
        findings.satisfied(&limited, machine, fact(true, words).depending_on(&task.span));
    }
    let headline = format!(
        "`{}` of {machine} sends a message with a task token and waits for an answer without a limit",
        task.state
    );
    let label = "where the message ends in a dead-letter queue, the execution waits for up to a year";
    let finding = Finding::new("definition", headline, task.span, label)
        .help("set `TimeoutSeconds` or `HeartbeatSeconds` in the state, and catch `States.Timeout`");
    findings.report(&when.and(&task.unlimited), machine, finding);
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check_file_cases, check_files};

    const SENDS: &str = "arn:aws:states:::sqs:sendMessage.waitForTaskToken";

    /// State machine with one task.
    const MACHINE: &str = r#"
variable "open" {}
data "aws_partition" "current" {}
resource "aws_sfn_state_machine" "approval" {
  <machine>
  definition = jsonencode({
    StartAt = "Ask"
    States = {
      Ask = {
        Type     = "Task"
        Resource = <resource>
        <task>
        End      = true
      }
    }
  })
}
"#;

    #[test]
    fn task_without_limit_is_flagged() {
        Terraform.check_cases(
            &RULE,
            MACHINE,
            r#"
            resource                                                                                | task                                                                       | machine           | finding
            "arn:aws:states:::sqs:sendMessage.waitForTaskToken"                                     |                                                                            |                   | resource
            "arn:aws-cn:states:::sqs:sendMessage.waitForTaskToken"                                  |                                                                            |                   | resource
            "arn:aws:states:::aws-sdk:sqs:sendMessage.waitForTaskToken"                             |                                                                            |                   | resource
            "arn:${data.aws_partition.current.partition}:states:::sqs:sendMessage.waitForTaskToken" |                                                                            |                   | resource
            "arn:aws:states:::sqs:sendMessage.waitForTaskToken"                                     | TimeoutSeconds = null                                                      |                   | resource
            "arn:aws:states:::sqs:sendMessage.waitForTaskToken"                                     | TimeoutSeconds = 3600                                                      |                   |
            "arn:aws:states:::sqs:sendMessage.waitForTaskToken"                                     | TimeoutSecondsPath = "$.timeout"                                           |                   |
            "arn:aws:states:::sqs:sendMessage.waitForTaskToken"                                     | HeartbeatSeconds = 60                                                      |                   |
            "arn:aws:states:::sqs:sendMessage.waitForTaskToken"                                     | HeartbeatSecondsPath = "$.heartbeat"                                       |                   |
            "arn:aws:states:::sqs:sendMessage.waitForTaskToken"                                     | QueryLanguage = "JSONata"\n TimeoutSeconds = "{% $states.input.timeout %}" |                   |
            "arn:aws:states:::sqs:sendMessage.waitForTaskToken"                                     | TimeoutSeconds = var.open                                                  |                   |
            // Other tasks and express workflows.
            "arn:aws:states:::sqs:sendMessage"                                                      |                                                                            |                   |
            var.open                                                                                |                                                                            |                   |
            "arn:aws:states:::sqs:sendMessage.waitForTaskToken"                                     |                                                                            | type = "EXPRESS"  |
            "arn:aws:states:::sqs:sendMessage.waitForTaskToken"                                     |                                                                            | type = var.open   |
            "arn:aws:states:::sqs:sendMessage.waitForTaskToken"                                     |                                                                            | type = "STANDARD" | resource
            "#,
        );
    }

    #[test]
    fn unresolved_definition_is_noted_and_not_judged() {
        let machine =
            "variable \"open\" {}\nresource \"aws_sfn_state_machine\" \"m\" {\n definition = <definition>\n}\n";
        Terraform.check_cases(&RULE, machine, "definition | finding\n var.open | unjudged");
    }

    #[test]
    fn heredocs_and_template_files_are_read() {
        let heredoc = r#"
resource "aws_sfn_state_machine" "approval" {
  definition = <<EOT
{"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "Resource": "<resource>", "End": true,
  "Parameters": {"QueueUrl": "${aws_sqs_queue.q.url}", "MessageBody": {"Token.$": "$$.Task.Token"}}}}}
EOT
}
resource "aws_sqs_queue" "q" {}
"#;
        Terraform.check_cases(&RULE, heredoc, &format!("resource | finding\n {SENDS} | 1"));
        let definition = format!(
            "{{\"States\": {{\"Ask\": {{\"Resource\": \"{SENDS}\", \"Parameters\": {{\"QueueUrl\": \"${{url}}\"}}}}}}}}"
        );
        let main = r#"
resource "aws_sqs_queue" "q" {}
resource "aws_sfn_state_machine" "approval" {
  definition = templatefile("${path.module}/ask.asl.json", { url = aws_sqs_queue.q.url }) # expect: task-token-without-timeout
}
"#;
        check_files(&RULE, &[("main.tf", main), ("ask.asl.json", &definition)]);
    }

    #[test]
    fn nested_states_and_conditional_limits_are_read() {
        CloudFormation.check_cases(
            &RULE,
            "
Parameters:
  Stage: {Type: String}
Conditions:
  Prod: !Equals [!Ref Stage, prod]
Resources:
  Machine:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      Definition:
        <machine>
        StartAt: Both
        States:
          Both:
            Type: Parallel
            Branches:
              - StartAt: Each
                States:
                  Each:
                    Type: Map
                    ItemProcessor:
                      StartAt: Ask
                      States:
                        Ask:
                          Type: Task
                          <task>
                          Resource: <resource>
",
            "
            resource                                                             | task                                               | machine             | finding  | when
            !Sub arn:${AWS::Partition}:states:::sqs:sendMessage.waitForTaskToken |                                                    |                     | resource |
            !Sub arn:${AWS::Partition}:states:::sqs:sendMessage.waitForTaskToken | HeartbeatSeconds: 60                               |                     |          |
            !Sub arn:${AWS::Partition}:states:::sqs:sendMessage.waitForTaskToken |                                                    | TimeoutSeconds: 600 |          |
            !Sub arn:${AWS::Partition}:states:::sqs:sendMessage.waitForTaskToken | TimeoutSeconds: !If [Prod, 600, !Ref AWS::NoValue] |                     | resource | not Prod
            ",
        );
    }

    #[test]
    fn definition_string_with_substitutions_is_read() {
        let template = format!(
            "
Resources:
  Queue:
    Type: AWS::SQS::Queue
  Machine:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      DefinitionString: <sub> '{{\"States\": {{\"Ask\": {{\"Resource\": \"{SENDS}\", \"Parameters\": {{\"QueueUrl\": \"${{Queue}}\"}}}}}}}}'
"
        );
        CloudFormation.check_cases(&RULE, &template, "sub | finding\n !Sub | sub\n | sub");
    }

    #[test]
    fn sam_definition_file_is_read() {
        let template = "Transform: AWS::Serverless-2016-10-31
Resources:
  Machine:
    Type: AWS::Serverless::StateMachine
    Properties:
      DefinitionUri: states/ask.asl.yaml
      DefinitionSubstitutions: {QueueUrl: !Ref Queue}
  Queue:
    Type: AWS::SQS::Queue
";
        let states = "<comment>
StartAt: Ask
States:
  Ask:
    Type: Task
    Resource: <resource>
    End: true
";
        check_file_cases(
            &RULE,
            &[("template.yaml", template), ("states/ask.asl.yaml", states)],
            "
            resource                                          | comment                                | finding
            arn:aws:states:::sqs:sendMessage.waitForTaskToken |                                        | resource
            arn:aws:states:::sqs:sendMessage                  |                                        |
            // A text is not an intrinsic function, however it looks.
            arn:aws:states:::sqs:sendMessage.waitForTaskToken | Comment: 'Attention: !Ref and Fn::Sub' | resource
            arn:aws:states:::sqs:sendMessage.waitForTaskToken | Comment: {Ref: Queue}                  |
            arn:aws:states:::sqs:sendMessage.waitForTaskToken | Comment: !Ref Queue                    |
            arn:aws:states:::sqs:sendMessage.waitForTaskToken | Comment: {a: [{Fn::Sub: x}]}           |
            ",
        );
        // The file is missing.
        check_file_cases(&RULE, &[("template.yaml", template)], "finding\n unjudged");
    }

    #[test]
    fn inline_sam_definition_is_read() {
        Sam.check_cases(
            &RULE,
            "
Resources:
  Machine:
    Type: AWS::Serverless::StateMachine
    Properties:
      <type>
      Definition:
        StartAt: Ask
        States:
          Ask:
            Type: Task
            Resource: <resource>
",
            "
            resource                                          | type          | finding
            arn:aws:states:::sqs:sendMessage.waitForTaskToken |               | resource
            arn:aws:states:::sqs:sendMessage.waitForTaskToken | Type: EXPRESS |
            ",
        );
    }
}
