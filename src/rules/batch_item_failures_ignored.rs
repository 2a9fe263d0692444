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

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for handled in findings.handled(graph, mapping, &mapping.resource.when) {
            let Response::Failures(returned) = &handled.handler.response else {
                continue;
            };
            for reports in findings.known(&handled.when, mapping, &mapping.report_batch_item_failures) {
                let asked = || "`ReportBatchItemFailures` is set".to_owned();
                let is_set = fact(*reports.value, asked).depending_on(&reports);
                if findings.satisfied(&reports.when, mapping, is_set) {
                    continue;
                }
                for source in findings.polled_queues(graph, mapping, &reports.when) {
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
    use crate::testing::{check_file_cases, check_files, run_files};

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
            def handler(event, context):\\n    return {'statusCode': 200}                                                                                 |
            # return {'batchItemFailures': []}\\ndef handler(event, context):\\n    '''batchItemFailures'''\\n    print('batchItemFailures')              |
            def other(event, context):\\n    return {'batchItemFailures': f()}\\ndef handler(event, context):\\n    pass                                  |
            // A list that stays empty.
            def handler(event, context):\\n    return {'batchItemFailures': []}                                                                           |
            def handler(event, context):\\n    failures = []\\n    return {'batchItemFailures': failures}                                                 |
            // Source that cannot be parsed, and that is elsewhere.
            def handler(event, context:\\n    return {'batchItemFailures': f()}                                                                           |
            from other import handler                                                                                                                     |
            // Records of a stream.
            def handler(event, context):\\n    return {'batchItemFailures': [{'itemIdentifier': r['dynamodb']['SequenceNumber']} for r in failed(event)]} |
            ",
        );
    }

    #[test]
    fn powertools_batch_processors_are_recognized() {
        let processor = "processor = BatchProcessor(event_type=EventType.SQS)\n<handler>";
        check_file_cases(
            &RULE,
            &[("template.yaml", &template("")), ("src/app.py", processor)],
            "
            handler                                                                                                                                                                                    | finding
            def handler(event, context):\\n    return process_partial_response(event=event, record_handler=work, processor=processor, context=context)                                                 | 1
            @batch_processor(record_handler=work, processor=processor)\\ndef handler(event, context):\\n    return processor.response()                                                                | 1
            @logger.inject_lambda_context\\ndef handler(event, context):\\n    with processor(records=event['Records'], handler=work):\\n        processor.process()\\n    return processor.response() | 1
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

    /// Module that builds an archive of the source.
    const MODULE: &str = r#"
resource "aws_sqs_queue" "q" {}
data "archive_file" "code" {
  type        = "zip"
  output_path = "${path.module}/code.zip"
  <archive>
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::123456789012:role/r"
  handler       = "index.handler"
  filename      = <filename>
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn        = aws_sqs_queue.q.arn
  function_name           = aws_lambda_function.f.arn
  function_response_types = <types>
}
"#;

    #[test]
    fn archive_of_directory_file_or_inline_text_is_read() {
        check_file_cases(
            &RULE,
            &[("infra/main.tf", MODULE), ("infra/src/index.ts", SCRIPT)],
            r#"
            archive                                                                                                                                          | filename                           | types                       | finding
            source_dir = "${path.module}/src"                                                                                                                | data.archive_file.code.output_path | null                        | types
            source_file = "${path.module}/src/index.ts"                                                                                                      | data.archive_file.code.output_path | null                        | types
            source {\n filename = "index.js"\n content = <<-EOT\n exports.handler = async (event) => ({ batchItemFailures: await failed(event) });\n EOT\n } | data.archive_file.code.output_path | null                        | types
            // The archive is found by its path.
            source_dir = "${path.module}/src"                                                                                                                | "${path.module}/code.zip"          | null                        | types
            source_dir = "${path.module}/src"                                                                                                                | data.archive_file.code.output_path | ["ReportBatchItemFailures"] |
            "#,
        );
    }

    #[test]
    fn missing_source_is_not_judged() {
        check_file_cases(
            &RULE,
            &[("main.tf", MODULE)],
            r#"
            archive                                 | filename                           | types | finding
            source_dir = "${path.module}/elsewhere" | data.archive_file.code.output_path | null  |
            "#,
        );
    }

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

    /// Checks a template whose function is compiled from `source` in each of the files.
    fn compiled(source: &str, files: &[(&str, &str)]) {
        for (handler, path) in files {
            let template = template("").replace("app.handler", handler);
            let template = template.replace("        E:\n", "        E: # expect: batch-item-failures-ignored\n");
            check_files(&RULE, &[("template.yaml", &template), (path, source)]);
        }
    }

    #[test]
    fn handler_in_java_is_found() {
        let class = "package com.example;
public class Orders {
    public SQSBatchResponse handleRequest(SQSEvent event, Context context) {
        return new SQSBatchResponse(List.of(new SQSBatchResponse.BatchItemFailure(work(event))));
    }
}
";
        let nested = "src/src/main/java/com/example/Orders.java";
        let direct = "src/com/example/Orders.java";
        compiled(
            class,
            &[
                ("com.example.Orders::handleRequest", nested),
                ("com.example.Orders", direct),
            ],
        );
    }

    #[test]
    fn handler_in_csharp_is_found() {
        let class = "namespace Example.Orders;
public class Function {
    public SQSBatchResponse FunctionHandler(SQSEvent evnt) {
        return new SQSBatchResponse(new List<SQSBatchResponse.BatchItemFailure> { Work(evnt) });
    }
}
";
        let handler = "Orders::Example.Orders.Function::FunctionHandler";
        compiled(
            class,
            &[
                (handler, "src/Function.cs"),
                (handler, "src/Orders/Function.cs"),
                ("Orders::Function::FunctionHandler", "src/Function.cs"),
            ],
        );
    }

    #[test]
    fn handler_in_go_is_found() {
        let main = "package main
func handle(event events.SQSEvent) (events.SQSEventResponse, error) {
	return events.SQSEventResponse{BatchItemFailures: work(event)}, nil
}
func main() {
	lambda.Start(handle)
}
";
        compiled(main, &[("bootstrap", "src/main.go")]);
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
        let module = MODULE
            .replace("<archive>", "source_dir = \"${path.module}/src\"")
            .replace("<filename>", "data.archive_file.code.output_path")
            .replace("  function_response_types = <types>\n", "");
        assert_eq!(
            added("main.tf", &module).as_deref(),
            Some("  function_response_types = [\"ReportBatchItemFailures\"]\n")
        );
        assert_eq!(
            added("serverless.yml", &SERVICE.replace("<handler>", "src/index.handler")).as_deref(),
            Some("          functionResponseType: ReportBatchItemFailures\n")
        );
        let module = r#"{
  "data": {"archive_file": {"code": {
    "type": "zip",
    "source_dir": "${path.module}/src",
    "output_path": "${path.module}/code.zip"
  }}},
  "resource": {
    "aws_sqs_queue": {"q": {}},
    "aws_lambda_function": {"f": {
      "function_name": "f",
      "role": "arn:aws:iam::123456789012:role/r",
      "handler": "index.handler",
      "filename": "${data.archive_file.code.output_path}"
    }},
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
