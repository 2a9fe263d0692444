//! Flags functions whose timeout is not above the declared time of their slowest messages, or above the time limit of a
//! call in their code.

use super::prelude::*;
use crate::rules::shared::consumers::{PollingMapping, RunTime, default_timeout_of};
use crate::rules::shared::work::ProcessingTime;

pub(super) static RULE: Rule = rule!(
    "latency-budget-exceeds-function-timeout",
    Category::Consumers,
    Severity::Warning,
    "a message takes as long as the function may run, or longer, by its declared time"
);

fn check(findings: &mut Findings<'_>) {
    check_calls(findings);
    for (declared, poll, time) in findings.declared_runs() {
        let Some(work) = ProcessingTime::longest(declared) else {
            continue;
        };
        let fits = below(work, &time.limit).depending_on(&time).depending_on(&poll);
        findings.require(&time.limit.when, time.function, fits, || {
            exceeds(&poll, &time, work).scenario(crate::rules::shared::scenarios::of_batch(
                findings.graph,
                &poll,
                &time.limit,
                [1, 1],
                work,
            ))
        });
    }
}

/// Judges the time limits of calls in the code of the functions that poll a queue.
fn check_calls(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for poll in findings.without_notes(|findings| findings.polls(&queue.resource.when, queue)) {
            for time in findings.without_notes(|findings| findings.run_times(&poll)) {
                let wait = time.function.handler.as_ref().ok().and_then(|handler| handler.wait);
                let Some(wait) = wait.filter(|_| !time.durable) else {
                    continue;
                };
                let work = ProcessingTime::of_call(wait.into());
                let fits = below(work, &time.limit).depending_on(&time).depending_on(&poll);
                findings.require(&time.limit.when, time.function, fits, || outlives(&poll, &time, work));
            }
        }
    }
}

fn outlives(poll: &PollingMapping<'_>, time: &RunTime<'_>, work: ProcessingTime) -> Finding {
    let (function, limit) = (time.function.resource.shown(), &time.limit);
    let headline = format!(
        "{function} {}, but is stopped after {}, so a slow answer ends the invocation before the code can handle it",
        work.takes(),
        limit.in_words()
    );
    let ends = limit.or_default(default_timeout_of(limit), format!("stopped after {}", limit.shown()));
    let finding = Finding::new("timeout", headline, limit, ends)
        .severity(poll.severity(Severity::Warning))
        .show(poll);
    work.show(finding).help(format!(
        "give the call a time limit well below {}, or raise `{}` and the queue's visibility timeout with it",
        limit.shown(),
        limit.name
    ))
}

fn exceeds(poll: &PollingMapping<'_>, time: &RunTime<'_>, work: ProcessingTime) -> Finding {
    let (function, limit) = (time.function.resource.shown(), &time.limit);
    let headline = format!(
        "{function} {}, but is stopped after {}, so its slowest messages are never finished and are retried until they are \
         moved or expire",
        work.takes(),
        limit.in_words()
    );
    let ends = limit.or_default(default_timeout_of(limit), format!("stopped after {}", limit.shown()));
    let finding = Finding::new("timeout", headline, limit, ends)
        .severity(poll.severity(Severity::Warning))
        .show(poll);
    work.show(finding).help(format!(
        "raise `{}` well above {}, and the queue's visibility timeout with it",
        limit.name, work.time
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{check_file_cases, stack};

    const CODE: &str = "def handler(event, context):\n    for record in event[\"Records\"]:\n        <call>\n";

    #[test]
    fn time_limit_of_a_call_must_be_below_the_timeout() {
        let terraform = r#"
resource "aws_sqs_queue" "q" {}
data "archive_file" "f" {
  type        = "zip"
  source_dir  = "${path.module}/src"
  output_path = "f.zip"
}
resource "aws_lambda_function" "f" {
  runtime  = "python3.13"
  handler  = "app.handler"
  filename = data.archive_file.f.output_path
  timeout  = <timeout>
}
variable "open" {}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}
"#;
        check_file_cases(
            &RULE,
            &[("main.tf", terraform), ("src/app.py", CODE)],
            "
            timeout  | call                                                   | finding
            30       | requests.post(u, record, timeout=60)                   | warning
            60       | requests.post(u, record, timeout=60)                   | warning
            61       | requests.post(u, record, timeout=60)                   |
            var.open | requests.post(u, record, timeout=60)                   |
            30       | requests.post(u, record)                               |
            30       | requests.post(u, record, timeout=limit)                |
            30       | requests.post(u, record, timeout=left(context) - 5)    |
            ",
        );
        let template = "
Resources:
  Q: {Type: AWS::SQS::Queue}
  F: {Type: AWS::Lambda::Function, Properties: {Runtime: python3.13, Handler: app.handler, Timeout: 30, Code: src/}}
  M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}}
";
        let sam = "
Transform: AWS::Serverless-2016-10-31
Resources:
  Q: {Type: AWS::SQS::Queue}
  F:
    Type: AWS::Serverless::Function
    Properties:
      {Runtime: python3.13, Handler: app.handler, Timeout: 30, CodeUri: src/,
      Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}}}
";
        let service = "
service: s
provider: {name: aws, runtime: python3.13}
functions:
  f: {handler: src/app.handler, timeout: 30, events: [{sqs: {arn: !GetAtt Q.Arn}}]}
resources: {Resources: {Q: {Type: AWS::SQS::Queue}}}
";
        for (file, text) in [
            ("template.yaml", template),
            ("template.yaml", sam),
            ("serverless.yml", service),
        ] {
            check_file_cases(
                &RULE,
                &[(file, text), ("src/app.py", CODE)],
                "
                call                                 | finding
                requests.post(u, record, timeout=60) | warning
                requests.post(u, record, timeout=20) |
                ",
            );
        }
    }

    #[test]
    fn slowest_message_must_take_less_than_the_timeout() {
        stack().check(
            &RULE,
            r#"
            function.timeout | mapping.enabled | consumer                                 | finding
            60               |                 | processing = { max = "60s" }             | warning
            60               |                 | processing = { max = "59999ms" }         |
            60               |                 | processing = { max = "59s" }             |
            60               |                 | processing = { p99 = "60s" }             | warning
            60               |                 | processing = { p99 = "60s", max = "2m" } | warning
            60               |                 | processing = { p50 = "60s" }             |
            60               | false           | processing = { max = "60s" }             | info
            open             |                 | processing = { max = "60s" }             |
            "#,
        );
    }
}
