//! Flags handlers that process a batch without checking whether enough time is left for the next message.

use super::prelude::*;
use crate::graph::{Fact, Response};
use crate::rules::shared::handlers::{InvokedHandler, invokes};

pub(super) static RULE: Rule = rule!(
    "handler-without-time-budget",
    Category::Handlers,
    Severity::Info,
    "the function works through a batch without a look at the time left, and a timeout returns all of it",
    set = Set::Pedantic
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for handled in findings.handled_bodies(mapping) {
            let (Some(looped), Response::Failures(_)) =
                (&handled.handler.unchecked_time_left, &handled.handler.response)
            else {
                let timed = fact(true, || "the handler is not stopped with records half done".to_owned());
                findings.satisfied(&handled.when, mapping, timed);
                continue;
            };
            for reports in findings.known(&handled.when, mapping, &mapping.report_batch_item_failures) {
                for batch in findings.batch_sizes(&reports.when, mapping) {
                    let whole = fact(batch.value == 1 || !*reports.value, || {
                        "the batch comes back as a whole in any case".to_owned()
                    });
                    let whole = whole.depending_on(&batch).depending_on(&reports);
                    findings.require(&batch.when, mapping, whole, || {
                        untimed(mapping, &handled, looped, &batch)
                    });
                }
            }
        }
    }
}

fn untimed(mapping: &EventSourceMapping, handled: &InvokedHandler<'_>, looped: &Fact, batch: &Operand<'_>) -> Finding {
    let then = if handled.handler.unreleased_claim.is_some() {
        "after a timeout all of them are delivered again, and those with a claim are skipped"
    } else {
        "after a timeout all of them are delivered again, those that are done included"
    };
    let headline = format!(
        "{} works through up to {} messages and never asks for the time left: {then}",
        handled.function, batch.value
    );
    let size = format!("up to {}", batch.counted("messages per batch"));
    Finding::new("time", headline, looped.span, &*looped.words)
        .label(mapping.resource.header, invokes(mapping))
        .label(batch, size)
        .help(
            "before each message, compare the time left (`get_remaining_time_in_millis`, `getRemainingTimeInMillis`) with \
             what one takes, and return the rest in `batchItemFailures`",
        )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::handlers::template;
    use crate::testing::{check_file_cases, check_files};

    fn handler(work: &str, end: &str) -> String {
        format!(
            "exports.handler = async (event, context) => {{
  const batchItemFailures = [];
  for (const record of event.Records) {{ {end}
    try {{
      {work}
    }} catch (error) {{
      batchItemFailures.push({{ itemIdentifier: record.messageId }});
    }}
  }}
  return {{ batchItemFailures }};
}};
"
        )
    }

    fn batch(size: u32, handler: &str) {
        let asks = format!("BatchSize: {size}\n            FunctionResponseTypes: [ReportBatchItemFailures]");
        check_files(&RULE, &[("template.yaml", &template(&asks)), ("src/app.js", handler)]);
    }

    const FLAGGED: &str = "// # expect: handler-without-time-budget";

    #[test]
    fn awaiting_loop_without_time_check_is_flagged() {
        batch(2, &handler("await ship(record);", FLAGGED));
        batch(
            2,
            &handler(
                "if (context.getRemainingTimeInMillis() < 1000) throw new Error(); await ship(record);",
                "",
            ),
        );
    }

    #[test]
    fn loop_without_await_is_accepted() {
        batch(2, &handler("count(record);", ""));
    }

    /// Its source is unknown, but a queue has no starting position.
    #[test]
    fn mapping_of_a_stream_is_ignored() {
        let template = "Transform: AWS::Serverless-2016-10-31
Parameters: {Source: {Type: String}}
Resources:
  F: {Type: AWS::Serverless::Function, Properties: {CodeUri: src/, Handler: app.handler}}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !Ref Source
      FunctionName: !Ref F
      FunctionResponseTypes: [ReportBatchItemFailures]
      <setting>
";
        let handler = handler("await ship(record);", "");
        check_file_cases(
            &RULE,
            &[("template.yaml", template), ("src/app.js", &handler)],
            "
            setting                  | finding
            BatchSize: 10            | 1
            StartingPosition: LATEST |
            ",
        );
    }

    #[test]
    fn batch_of_one_is_accepted() {
        batch(1, &handler("await ship(record);", ""));
    }
}
