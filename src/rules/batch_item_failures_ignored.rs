//! Flags mappings without `ReportBatchItemFailures` whose function returns the messages that failed.

use super::prelude::*;
use crate::graph::{Fact, Response};
use crate::rules::shared::handlers::InvokedHandler;
use crate::rules::shared::queue_types::PolledQueue;

pub(super) static RULE: Rule = rule!(
    "batch-item-failures-ignored",
    Category::Handlers,
    Severity::Error,
    "the function returns the messages that failed, and Lambda ignores that and deletes them",
    fix = Some(Safety::Safe)
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for handled in findings.handled(mapping, &mapping.resource.when) {
            let Response::Failures(returned) = &handled.handler.response else {
                continue;
            };
            for reports in findings.known(&handled.when, mapping, &mapping.report_batch_item_failures) {
                let asked = || "`ReportBatchItemFailures` is set".to_owned();
                let is_set = fact(*reports.value, asked).depending_on(&reports);
                if findings.satisfied(&reports.when, mapping, is_set) {
                    continue;
                }
                for source in findings.polled_queues(mapping, &reports.when) {
                    let finding = ignored(mapping, &handled, returned, &reports, &source);
                    findings.report(&source.when, mapping, finding);
                }
            }
        }
    }
}

fn ignored(
    mapping: &EventSourceMapping,
    handled: &InvokedHandler<'_>,
    returned: &Fact,
    reports: &Known<'_, bool>,
    source: &PolledQueue<'_>,
) -> Finding {
    let headline = format!(
        "{} returns which messages of {} failed, but {mapping} does not ask: Lambda deletes them with the rest of the batch",
        handled.function, source.shown
    );
    let label = "without `ReportBatchItemFailures` Lambda does not read what the function returns";
    Finding::new("report_batch_item_failures", headline, reports, label)
        .severity_if_enabled(Severity::Error, mapping)
        .label(returned.span, &*returned.words)
        .help(format!("set `{}` to `ReportBatchItemFailures`", reports.name))
        .fix(reports.report_failures())
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::handlers::template;
    use crate::testing::{check_file_cases, run_files};

    /// Checks a Python function that a queue invokes.
    fn check_python(table: &str) {
        check_file_cases(
            &RULE,
            &[("template.yaml", &template("")), ("src/app.py", "<handler>")],
            table,
        );
    }

    #[test]
    fn function_without_batch_item_failures_is_accepted() {
        check_python(
            "
            handler                                                                                                                                       | finding
            # return {'batchItemFailures': []}\\ndef handler(event, context):\\n    '''batchItemFailures'''\\n    print('batchItemFailures')              |
            def other(event, context):\\n    return {'batchItemFailures': f()}\\ndef handler(event, context):\\n    pass                                  |
            // Source that cannot be parsed, and that is elsewhere.
            def handler(event, context:\\n    return {'batchItemFailures': f()}                                                                           |
            from other import handler                                                                                                                     |
            // Records of a stream.
            def handler(event, context):\\n    return {'batchItemFailures': [{'itemIdentifier': r['dynamodb']['SequenceNumber']} for r in failed(event)]} |
            ",
        );
    }

    const SCRIPT: &str = "\
export const handler = async (event: SQSEvent): Promise<SQSBatchResponse> => {
  const batchItemFailures: SQSBatchItemFailure[] = [];
  for (const record of event.Records) {
    try {
      await work(record);
    } catch (error) {
      batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  }
  return { batchItemFailures };
};
";

    /// Module with an archive of the source, which the function names by its path.
    const MODULE: &str = r#"
resource "aws_sqs_queue" "q" {}
data "archive_file" "code" {
  type        = "zip"
  output_path = "${path.module}/code.zip"
  source_dir  = "${path.module}/src"
}
resource "aws_lambda_function" "f" {
  handler  = "index.handler"
  filename = "${path.module}/code.zip"
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn        = aws_sqs_queue.q.arn
  function_name           = aws_lambda_function.f.arn
}
"#;

    #[test]
    fn source_path_of_registry_module_is_read() {
        let module = r#"
resource "aws_sqs_queue" "q" {}
module "f" {
  source        = "terraform-aws-modules/lambda/aws"
  version       = "~> 8.0"
  function_name = "f"
  handler       = "index.handler"
  runtime       = "nodejs22.x"
  source_path   = <path>
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = module.f.lambda_function_arn
}
"#;
        check_file_cases(
            &RULE,
            &[("main.tf", module), ("src/index.ts", SCRIPT)],
            r#"
            path                                                       | finding
            "${path.module}/src"                                       | 1
            ["${path.module}/src"]                                     | 1
            [{ path = "${path.module}/src", npm_requirements = true }] | 1
            "#,
        );
    }

    const SERVICE: &str = "service: orders
provider:
  name: aws
functions:
  fulfil:
    handler: <handler>
    events:
      - sqs:
          arn: arn:aws:sqs:eu-west-1:123456789012:orders
";

    #[test]
    fn compiled_and_bundled_source_of_a_service_is_not_read() {
        let built = format!("Object.defineProperty(exports, \"__esModule\", {{ value: true }});\n{SCRIPT}");
        let long = "x".repeat(3_000);
        let packed = SCRIPT.replace("await work(record)", &format!("await work(record, '{long}')"));
        check_file_cases(
            &RULE,
            &[
                ("serverless.yml", SERVICE),
                ("src/index.ts", SCRIPT),
                ("dist/built.js", &built),
                ("dist/packed.js", &packed),
            ],
            "
            handler             | finding
            src/index.handler   | 1
            dist/built.handler  |
            dist/packed.handler |
            ",
        );
    }

    #[test]
    fn class_without_a_method_is_found() {
        let class = "package com.example;
public class Orders {
    public SQSBatchResponse handleRequest(SQSEvent event, Context context) {
        return new SQSBatchResponse(List.of(new SQSBatchResponse.BatchItemFailure(work(event))));
    }
}
";
        let template = template("").replace("app.handler", "com.example.Orders");
        check_file_cases(
            &RULE,
            &[("template.yaml", &template), ("src/com/example/Orders.java", class)],
            "finding\n 1",
        );
    }

    /// Returns the text that the fix of the only finding adds, if it has a fix.
    fn added(file: &str, text: &str) -> Option<String> {
        let found = run_files(&RULE, &[(file, text), ("src/index.ts", SCRIPT)]).findings;
        assert_eq!(found.len(), 1, "{text}");
        let edits = found.into_iter().find_map(|found| found.fix)?.edits;
        Some(edits.into_iter().map(|edit| edit.text).collect())
    }

    #[test]
    fn fix_adds_report_setting() {
        let sam = |settings: &str| template(settings).replace("app.handler", "index.handler");
        assert_eq!(
            added("template.yaml", &sam("BatchSize: 5")).as_deref(),
            Some("            FunctionResponseTypes: [ReportBatchItemFailures]\n")
        );
        // An explicit setting may be intended.
        assert_eq!(added("template.yaml", &sam("FunctionResponseTypes: []")), None);
        assert_eq!(
            added("main.tf", MODULE).as_deref(),
            Some("  function_response_types = [\"ReportBatchItemFailures\"]\n")
        );
        assert_eq!(
            added("serverless.yml", &SERVICE.replace("<handler>", "src/index.handler")).as_deref(),
            Some("          functionResponseType: ReportBatchItemFailures\n")
        );
        let module = r#"{
  "data": {"archive_file": {"code": {
    "type": "zip", "source_dir": "${path.module}/src", "output_path": "${path.module}/code.zip"
  }}},
  "resource": {
    "aws_sqs_queue": {"q": {}},
    "aws_lambda_function": {"f": {"handler": "index.handler", "filename": "${path.module}/code.zip"}},
    "aws_lambda_event_source_mapping": {"m": {
      "event_source_arn": "${aws_sqs_queue.q.arn}",
      "function_name": "${aws_lambda_function.f.arn}"
    }}
  }
}
"#;
        assert_eq!(
            added("main.tf.json", module).as_deref(),
            Some(",\n      \"function_response_types\": [\"ReportBatchItemFailures\"]")
        );
    }
}
