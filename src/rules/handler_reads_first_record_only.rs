//! Flags functions that use one record of a batch and return, so that Lambda deletes the others unread.

use super::prelude::*;
use crate::graph::Fact;
use crate::rules::shared::handlers::{InvokedHandler, invokes};
use crate::rules::shared::queue_types::PolledQueue;

pub(super) static RULE: Rule = rule!(
    "handler-reads-first-record-only",
    Category::Handlers,
    Severity::Error,
    "the function uses one record of a batch, and Lambda deletes the others unread"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for handled in findings.handled_bodies(mapping) {
            let Some(used) = &handled.handler.first_record_only else {
                let all = fact(true, || "the handler uses more than one record of a batch".to_owned());
                findings.satisfied(&handled.when, mapping, all);
                continue;
            };
            for batch in findings.batch_sizes(&handled.when, mapping) {
                for source in findings.polled_queues(mapping, &batch.when) {
                    let is_single = fact(batch.value == 1, || "batches of 1 message".to_owned()).depending_on(&batch);
                    findings.require(&source.when, mapping, is_single, || {
                        unread(mapping, &handled, used, &batch, &source)
                    });
                }
            }
        }
    }
}

fn unread(
    mapping: &EventSourceMapping,
    handled: &InvokedHandler<'_>,
    used: &Fact,
    batch: &Operand<'_>,
    source: &PolledQueue<'_>,
) -> Finding {
    let headline = format!(
        "{} uses one message of each batch from {}: Lambda deletes the others, up to {} of {}, unread",
        handled.function,
        source.shown,
        batch.value - 1,
        batch.value
    );
    let size = format!("up to {}", batch.counted("messages per batch"));
    Finding::new("records", headline, used.span, &*used.words)
        .severity_if_enabled(Severity::Error, mapping)
        .label(mapping.resource.header, invokes(mapping))
        .label(batch, size)
        .help("loop over `Records`, or set the batch size to 1")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::check_files;
    use crate::testing::handlers::template;

    const MARK: &str = "# expect: handler-reads-first-record-only";

    /// Checks a handler with this body behind a mapping with these settings.
    fn python(settings: &str, body: &str) {
        let handler = format!("def handler(event, context):\n{body}\n");
        let template = template(settings);
        check_files(&RULE, &[("template.yaml", &template), ("src/app.py", &handler)]);
    }

    #[test]
    fn batch_size_decides() {
        let first = "    ship(event['Records'][0])";
        for settings in ["", "BatchSize: 2"] {
            python(settings, &format!("{first} {MARK}"));
        }
        python("BatchSize: 1", first);
    }

    #[test]
    fn records_that_the_response_returns_are_not_unread() {
        let stopped = "    failures, stopped = [], False
    for record in event['Records']:
        if stopped:
            failures.append({'itemIdentifier': record['messageId']})
            continue
        try:
            ship(record['body'])
        except Exception:
            failures.append({'itemIdentifier': record['messageId']})
            stopped = True
    return {'batchItemFailures': failures}

def ship(body):
    raise NotImplementedError(body)";
        python("", stopped);
    }

    #[test]
    fn early_return_on_every_path_is_flagged() {
        let looped = "    for record in event['Records']:";
        python("", &format!("{looped} {MARK}\n        ship(record)\n        return"));
        python("", &format!("{looped}\n        if ship(record):\n            return"));
    }

    #[test]
    fn record_that_is_only_logged_is_used() {
        python(
            "",
            &format!("    body = event.get('Records')[0].get('body') {MARK}\n    print(body)"),
        );
        python("", "    for record in event['Records']:\n        print(record['body'])");
    }

    #[test]
    fn functions_of_other_files_may_use_the_other_records() {
        let files = |ending: &str, handler: &str, helper: &str, is_flagged: bool| {
            let handler = handler.replace("/*here*/", if is_flagged { MARK } else { "" });
            let template = template("");
            let names = [format!("src/app.{ending}"), format!("src/helper.{ending}")];
            let files = [
                ("template.yaml", &*template),
                (&names[0], &handler),
                (&names[1], helper),
            ];
            check_files(&RULE, &files);
        };
        let passed = "from helper import use\ndef handler(event, context):\n    ship(event['Records'][0]) /*here*/\n    \
                      use(event)\n";
        for (body, is_flagged) in [
            ("print(json.dumps(event))", true),
            ("return len(event['Records'])", true),
            ("store(event['Records'][0]['body'])", true),
            ("store(event)", false),
            ("for record in event['Records']:\n        store(record)", false),
            ("store(event['Records'][1])", false),
            ("return event['Records']", false),
            ("if len(event['Records']) > 1:\n        raise ValueError()", false),
        ] {
            files("py", passed, &format!("def use(event):\n    {body}\n"), is_flagged);
        }
        for (import, call, helper, is_flagged) in [
            (
                "const { parse } = require('./helper');",
                "parse(event)",
                "exports.parse = (event) => JSON.parse(event.Records[0].body);",
                true,
            ),
            (
                "import { parse } from './helper';",
                "await parse(event)",
                "export const parse = async (event) => event.Records[0];",
                true,
            ),
            (
                "import { parse } from './helper';",
                "parse(event)",
                "export const parse = (event) => event.Records.map((one) => one.body);",
                false,
            ),
            (
                "import { parse } from './helper';",
                "parse(event)",
                "export const parse = middy((event) => event.Records[0]);",
                false,
            ),
            ("import { parse } from './other';", "parse(event)", "", false),
        ] {
            let handler = format!(
                "{import}\nexports.handler = async (event) => {{\n  const order = {call}; // /*here*/\n  await ship(order);\n}};\n"
            );
            files("js", &handler, helper, is_flagged);
        }
    }

    #[test]
    fn use_of_the_other_records_is_accepted() {
        for body in [
            "    ship(event['Records'][0])\n    for record in event['Records'][1:]:\n        ship(record)",
            "    print(event['Records'][0])\n    ship_all(event)",
            "    if len(event['Records']) > 1:\n        raise ValueError()\n    ship(event['Records'][0])",
            "    print(event['Records'][0])",
        ] {
            python("", body);
        }
    }
}
