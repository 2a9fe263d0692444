//! Flags responses with failed messages in a form that Lambda does not accept.

use super::prelude::*;
use crate::graph::Fact;
use crate::rules::shared::handlers::{InvokedHandler, invokes};

pub(super) static RULE: Rule = rule!(
    "batch-item-failures-malformed",
    Category::Handlers,
    Severity::Warning,
    "the function names failed messages in a form that Lambda rejects, and every message is processed again"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for handled in findings.handled_bodies(mapping) {
            let handler = handled.handler;
            let returned = handler
                .malformed_response
                .as_ref()
                .or(handler.misplaced_failures.as_ref());
            let Some(returned) = returned else {
                let accepted = fact(true, || "no malformed response was found".to_owned());
                findings.satisfied(&handled.when, mapping, accepted);
                continue;
            };
            for reports in findings.known(&handled.when, mapping, &mapping.report_batch_item_failures) {
                // `batch-item-failures-ignored` reports mappings without the setting.
                if *reports.value {
                    findings.report(&reports.when, mapping, malformed(mapping, &handled, returned));
                }
            }
        }
    }
}

fn malformed(mapping: &EventSourceMapping, handled: &InvokedHandler<'_>, returned: &Fact) -> Finding {
    let headline = if handled.handler.malformed_response.is_some() {
        format!(
            "{} names failed messages in a form that Lambda does not accept: every message of the batch is processed again",
            handled.function
        )
    } else {
        format!(
            "{} names failed messages where Lambda does not look for them: it deletes them as processed",
            handled.function
        )
    };
    Finding::new("response", headline, returned.span, &*returned.words)
        .severity_if_enabled(Severity::Warning, mapping)
        .label(mapping.resource.header, invokes(mapping))
        .help("return an object, not JSON: `{\"batchItemFailures\": [{\"itemIdentifier\": messageId}]}`")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::check_files;
    use crate::testing::handlers::template;

    /// Checks a handler that adds `item` for a failed message and returns `response`.
    fn script(settings: &str, item: &str, response: &str, mark: &str) {
        let handler = format!(
            "exports.handler = async (event) => {{
  const failures = [];
  for (const record of event.Records) {{
    try {{ await ship(record); }} catch {{ failures.push({item}); }}
  }}
  return {response}; {mark}
}};
"
        );
        let template = template(settings);
        check_files(&RULE, &[("template.yaml", &template), ("src/app.js", &handler)]);
    }

    const REPORTS: &str = "FunctionResponseTypes: [ReportBatchItemFailures]";
    const MARK: &str = "// # expect: batch-item-failures-malformed";
    const RESPONSE: &str = "{ batchItemFailures: failures }";

    #[test]
    fn items_without_identifier_are_flagged() {
        let handle = "{ itemIdentifier: record.receiptHandle }";
        for item in ["record.messageId", "{ id: record.messageId }", "'m'", handle] {
            script(REPORTS, item, RESPONSE, MARK);
        }
        for item in [
            "{ itemIdentifier: record.messageId }",
            "failureOf(record)",
            "{ ...failureOf(record) }",
            "{ [key]: record.messageId }",
        ] {
            script(REPORTS, item, RESPONSE, "");
        }
    }

    #[test]
    fn json_is_flagged() {
        let item = "{ itemIdentifier: record.messageId }";
        let json = "JSON.stringify({ batchItemFailures: failures })";
        script(REPORTS, item, json, MARK);
        script(REPORTS, item, "JSON.stringify({ failures })", "");
    }

    #[test]
    fn mapping_without_report_setting_is_ignored() {
        script("", "record.messageId", RESPONSE, "");
    }
}
