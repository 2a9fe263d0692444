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
        "{} returns which messages of {} failed, but {} does not ask: Lambda deletes them with the rest of the batch",
        handled.function.resource.shown(),
        source.shown,
        mapping.resource.shown()
    );
    // A disabled mapping loses no messages.
    let severity = match mapping.enabled.known() {
        Some(false) => Severity::Info,
        _ => Severity::Error,
    };
    let label = "without `ReportBatchItemFailures` Lambda does not read what the function returns";
    Finding::new("report_batch_item_failures", headline, reports, label)
        .severity(severity)
        .label(returned.span, &*returned.words)
        .help(format!("set `{}` to `ReportBatchItemFailures`", reports.name))
        .fix(reports.report_failures())
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::check_files;
    use crate::testing::handlers::template;

    const HANDLER: &str = "\
def handler(event, context):
    failures = []
    for record in event['Records']:
        try:
            work(record)
        except Exception:
            failures.append({'itemIdentifier': record['messageId']})
    return {'batchItemFailures': failures}
";

    /// Checks a function with this source that a queue invokes, with a marker on its event.
    fn sam(handler: &str, mark: &str) {
        let template = template("").replace("        E:\n", &format!("        E:{mark}\n"));
        check_files(&RULE, &[("template.yaml", &template), ("src/app.py", handler)]);
    }

    const FLAGGED: &str = " # expect: batch-item-failures-ignored";

    #[test]
    fn returned_failures_without_report_setting_are_flagged() {
        sam(HANDLER, FLAGGED);
    }

    #[test]
    fn function_without_batch_item_failures_is_accepted() {
        sam("def handler(event, context):\n    return {'statusCode': 200}\n", "");
    }

    #[test]
    fn comments_strings_and_other_functions_are_ignored() {
        sam(
            "# return {'batchItemFailures': []}\ndef handler(event, context):\n    '''batchItemFailures'''\n    print('batchItemFailures')\n",
            "",
        );
        sam(
            "def other(event, context):\n    return {'batchItemFailures': f()}\ndef handler(event, context):\n    pass\n",
            "",
        );
    }

    #[test]
    fn list_that_stays_empty_is_accepted() {
        sam(
            "def handler(event, context):\n    return {'batchItemFailures': []}\n",
            "",
        );
        sam(
            "def handler(event, context):\n    failures = []\n    return {'batchItemFailures': failures}\n",
            "",
        );
    }

    #[test]
    fn powertools_batch_processors_are_recognized() {
        for import in [
            "processor = BatchProcessor(event_type=EventType.SQS)\ndef handler(event, context):\n    return process_partial_response(event=event, record_handler=work, processor=processor, context=context)\n",
            "processor = BatchProcessor(event_type=EventType.SQS)\n@batch_processor(record_handler=work, processor=processor)\ndef handler(event, context):\n    return processor.response()\n",
            "processor = BatchProcessor(event_type=EventType.SQS)\n@logger.inject_lambda_context\ndef handler(event, context):\n    with processor(records=event['Records'], handler=work):\n        processor.process()\n    return processor.response()\n",
        ] {
            sam(import, FLAGGED);
        }
    }

    #[test]
    fn unparsable_source_is_not_judged() {
        sam(
            "def handler(event, context:\n    return {'batchItemFailures': f()}\n",
            "",
        );
        sam("from other import handler\n", "");
    }

    #[test]
    fn stream_records_are_ignored() {
        sam(
            "def handler(event, context):\n    return {'batchItemFailures': [{'itemIdentifier': r['dynamodb']['SequenceNumber']} for r in failed(event)]}\n",
            "",
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

    /// Returns a Terraform module that builds an archive of `source`, uploads `filename`, and has a mapping with
    /// `settings`.
    fn module(source: &str, filename: &str, settings: &str) -> String {
        format!(
            r#"
resource "aws_sqs_queue" "q" {{}}
{source}
resource "aws_lambda_function" "f" {{
  function_name = "f"
  role          = "arn:aws:iam::123456789012:role/r"
  handler       = "index.handler"
  filename      = {filename}
}}
resource "aws_lambda_event_source_mapping" "m" {{{settings}
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}}
"#
        )
    }

    /// Checks such a module together with `files`.
    fn terraform(source: &str, settings: &str, files: &[(&str, &str)]) {
        let module = module(source, "data.archive_file.code.output_path", settings);
        let mut all = vec![("infra/main.tf", module.as_str())];
        all.extend(files);
        check_files(&RULE, &all);
    }

    fn archive(arguments: &str) -> String {
        format!(
            "data \"archive_file\" \"code\" {{\n  type = \"zip\"\n  output_path = \"${{path.module}}/code.zip\"\n{arguments}\n}}"
        )
    }

    #[test]
    fn archive_of_directory_file_or_inline_text_is_read() {
        let script = ("infra/src/index.ts", SCRIPT);
        terraform(&archive("source_dir = \"${path.module}/src\""), FLAGGED, &[script]);
        terraform(
            &archive("source_file = \"${path.module}/src/index.ts\""),
            FLAGGED,
            &[script],
        );
        let inline = "source {\n  filename = \"index.js\"\n  content = <<-EOT\n    exports.handler = async (event) => ({ batchItemFailures: await failed(event) });\n  EOT\n}";
        terraform(&archive(inline), FLAGGED, &[]);
    }

    #[test]
    fn archive_is_found_by_output_path() {
        let named = archive("source_dir = \"${path.module}/src\"");
        let module = module(&named, "\"${path.module}/code.zip\"", FLAGGED);
        check_files(&RULE, &[("main.tf", &module), ("src/index.ts", SCRIPT)]);
    }

    #[test]
    fn source_path_of_registry_module_is_read() {
        for given in [
            "\"${path.module}/src\"",
            "[\"${path.module}/src\"]",
            "[{ path = \"${path.module}/src\", npm_requirements = true }]",
        ] {
            let module = format!(
                r#"
resource "aws_sqs_queue" "q" {{}}
module "f" {{
  source        = "terraform-aws-modules/lambda/aws"
  version       = "~> 8.0"
  function_name = "f"
  handler       = "index.handler"
  runtime       = "nodejs22.x"
  source_path   = {given}
}}
resource "aws_lambda_event_source_mapping" "m" {{ # expect: batch-item-failures-ignored
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = module.f.lambda_function_arn
}}
"#
            );
            check_files(&RULE, &[("main.tf", &module), ("src/index.ts", SCRIPT)]);
        }
    }

    #[test]
    fn report_setting_resolves_finding() {
        let script = ("infra/src/index.ts", SCRIPT);
        let setting = "\n  function_response_types = [\"ReportBatchItemFailures\"]";
        terraform(&archive("source_dir = \"${path.module}/src\""), setting, &[script]);
    }

    #[test]
    fn missing_source_is_not_judged() {
        terraform(&archive("source_dir = \"${path.module}/elsewhere\""), "", &[]);
    }

    #[test]
    fn inline_code_of_template_is_read() {
        let template = "\
AWSTemplateFormatVersion: 2010-09-09
Resources:
  Q:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Lambda::Function
    Properties:
      Handler: index.handler
      Runtime: nodejs22.x
      Code:
        ZipFile: |
          exports.handler = async (event) => {
            const failed = await work(event);
            return { batchItemFailures: failed };
          };
  M: # expect: batch-item-failures-ignored
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Q.Arn
      FunctionName: !Ref F
";
        check_files(&RULE, &[("template.yaml", template)]);
    }

    #[test]
    fn serverless_handler_locates_source() {
        let service = "\
service: orders
provider:
  name: aws
functions:
  fulfil:
    handler: src/index.handler
    events:
      - sqs: # expect: batch-item-failures-ignored
          arn: arn:aws:sqs:eu-west-1:123456789012:orders
";
        check_files(&RULE, &[("serverless.yml", service), ("src/index.ts", SCRIPT)]);
    }

    /// Checks a template whose function is compiled from `file` in `src`.
    fn compiled(handler: &str, file: (&str, &str)) {
        let template = template("").replace("app.handler", handler);
        let template = template.replace("        E:\n", "        E: # expect: batch-item-failures-ignored\n");
        check_files(&RULE, &[("template.yaml", &template), file]);
    }

    #[test]
    fn java_handler_class_is_found() {
        let class = "package com.example;
public class Orders {
    public SQSBatchResponse handleRequest(SQSEvent event, Context context) {
        return new SQSBatchResponse(List.of(new SQSBatchResponse.BatchItemFailure(work(event))));
    }
}
";
        for (handler, path) in [
            (
                "com.example.Orders::handleRequest",
                "src/src/main/java/com/example/Orders.java",
            ),
            ("com.example.Orders", "src/com/example/Orders.java"),
        ] {
            compiled(handler, (path, class));
        }
    }

    #[test]
    fn csharp_handler_class_is_found() {
        let class = "namespace Example.Orders;
public class Function {
    public SQSBatchResponse FunctionHandler(SQSEvent evnt) {
        return new SQSBatchResponse(new List<SQSBatchResponse.BatchItemFailure> { Work(evnt) });
    }
}
";
        let handler = "Orders::Example.Orders.Function::FunctionHandler";
        for path in ["src/Function.cs", "src/Orders/Function.cs"] {
            compiled(handler, (path, class));
        }
        compiled("Orders::Function::FunctionHandler", ("src/Function.cs", class));
    }

    #[test]
    fn go_program_is_found_in_code_directory() {
        let main = "package main
func handle(event events.SQSEvent) (events.SQSEventResponse, error) {
	return events.SQSEventResponse{BatchItemFailures: work(event)}, nil
}
func main() {
	lambda.Start(handle)
}
";
        compiled("bootstrap", ("src/main.go", main));
    }

    #[test]
    fn fix_adds_report_setting() {
        let asks = |files: &[(&str, &str)]| {
            let found = crate::testing::run_files(&RULE, files).findings;
            let edits = found
                .into_iter()
                .flat_map(|found| found.fix.expect("it can be fixed").edits);
            edits.map(|edit| edit.text).collect::<String>()
        };
        let python = ("src/app.py", HANDLER);
        assert_eq!(
            asks(&[("template.yaml", &template("BatchSize: 5")), python]),
            "            FunctionResponseTypes: [ReportBatchItemFailures]\n"
        );
        let archive = archive("source_dir = \"${path.module}/src\"");
        let module = module(&archive, "data.archive_file.code.output_path", "").replace("index.handler", "app.handler");
        assert_eq!(
            asks(&[("main.tf", &module), python]),
            "\n  function_response_types = [\"ReportBatchItemFailures\"]\n"
        );
        let service = "service: orders
provider:
  name: aws
functions:
  fulfil:
    handler: src/app.handler
    events:
      - sqs:
          arn: arn:aws:sqs:eu-west-1:123456789012:orders
";
        assert_eq!(
            asks(&[("serverless.yml", service), python]),
            "          functionResponseType: ReportBatchItemFailures\n"
        );
        // An explicit setting may be intended.
        let none = template("FunctionResponseTypes: []");
        let found = crate::testing::run_files(&RULE, &[("template.yaml", &none), python]).findings;
        assert_eq!(
            found.iter().map(|found| found.fix.is_some()).collect::<Vec<_>>(),
            [false]
        );
    }

    #[test]
    fn json_configuration_is_checked() {
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
      "handler": "app.handler",
      "filename": "${data.archive_file.code.output_path}"
    }},
    "aws_lambda_event_source_mapping": {"m": {
      "event_source_arn": "${aws_sqs_queue.q.arn}",
      "function_name": "${aws_lambda_function.f.arn}"
    }}
  }
}
"#;
        let files = [("main.tf.json", module), ("src/app.py", HANDLER)];
        let found = crate::testing::run_files(&RULE, &files).findings;
        assert_eq!(found.len(), 1);
        let edits = found
            .into_iter()
            .flat_map(|found| found.fix.expect("it can be fixed").edits);
        let text: String = edits.map(|edit| edit.text).collect();
        assert_eq!(
            text,
            ",\n      \"function_response_types\": [\"ReportBatchItemFailures\"]"
        );
    }

    #[test]
    fn compiled_and_bundled_source_is_not_read() {
        let service = "\
service: orders
provider:
  name: aws
functions:
  fulfil:
    handler: dist/index.handler
    events:
      - sqs:
          arn: arn:aws:sqs:eu-west-1:123456789012:orders
";
        let built = format!("Object.defineProperty(exports, \"__esModule\", {{ value: true }});\n{SCRIPT}");
        check_files(&RULE, &[("serverless.yml", service), ("dist/index.js", &built)]);
        let packed = SCRIPT.replace(
            "await work(record)",
            &format!("await work(record, '{}')", "x".repeat(3_000)),
        );
        check_files(&RULE, &[("serverless.yml", service), ("dist/index.js", &packed)]);
    }
}
