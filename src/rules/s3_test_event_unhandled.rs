//! Flags handlers that fail on the test event which S3 sends to a queue.

use super::prelude::*;
use crate::graph::delivery::{EventTarget, Sender};
use crate::graph::{KeyRead, Outcome};
use crate::rules::shared::handlers::{InvokedHandler, invokes};

pub(super) static RULE: Rule = rule!(
    "s3-test-event-unhandled",
    Category::Handlers,
    Severity::Warning,
    "the function fails on the test event that S3 sends whenever a notification is created or changed"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for handled in findings.handled_bodies(mapping) {
            let Some(read) = &handled.handler.reads.events else {
                let met = fact(true, || "no read of `Records` that may fail was found".to_owned());
                findings.satisfied(&handled.when, mapping, met);
                continue;
            };
            for source in findings.polled_queues(mapping, &handled.when) {
                if let Some(queue) = source.queue
                    && let Some((when, target)) = notification(findings.graph, queue, &source.when)
                {
                    findings.report(&when, mapping, unhandled(mapping, &handled, read, queue, target));
                }
            }
        }
    }
}

/// Returns the first notification of a bucket that sends to `queue`, with its condition.
fn notification<'g>(graph: &'g Graph, queue: &Queue, when: &Condition) -> Option<(Condition, &'g EventTarget)> {
    let mut of_buckets = graph.deliveries().targets.iter();
    of_buckets.find_map(|target| {
        let mut links = target.target.known_in(&target.resource.when.and(when)).into_iter();
        let found = links.find(|(_, _, link)| {
            let found = graph.queue(target.resource.unit, link);
            target.sender == Sender::Bucket && found.is_some_and(|found| std::ptr::eq(found, queue))
        });
        found.map(|(assumed, ..)| (assumed, target))
    })
}

fn unhandled(
    mapping: &EventSourceMapping,
    handled: &InvokedHandler<'_>,
    read: &KeyRead,
    queue: &Queue,
    target: &EventTarget,
) -> Finding {
    let is_partial =
        handled.handler.outcome == Outcome::Reported && mapping.report_batch_item_failures.known() == Some(&true);
    let (severity, then) = if is_partial {
        (
            Severity::Info,
            "it is retried until it is deleted or moved to the dead-letter queue",
        )
    } else {
        (
            Severity::Warning,
            "the events of its batch are retried with it, up to the dead-letter queue",
        )
    };
    let headline = format!(
        "{} fails on S3's test event, which has no `Records` and is sent to {queue} with each change of the notification: {then}",
        handled.function
    );
    Finding::new("records", headline, read.span, "a test event has no `Records`")
        .severity_if_enabled(severity, mapping)
        .label(mapping.resource.header, invokes(mapping))
        .label(target.resource.header, "S3 sends here")
        .help("skip a body without `Records`")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::check_files;

    const BUCKET: &str = "  B:
    Type: AWS::S3::Bucket
    Properties: {NotificationConfiguration: {QueueConfigurations: [{Event: 's3:ObjectCreated:*', Queue: !GetAtt Q.Arn}]}}
";

    fn check(ending: &str, handler: &str, bucket: &str) {
        let template = crate::testing::handlers::template("");
        let marked = handler.replace(
            "/*!*/",
            if ending == "py" {
                "# expect: s3-test-event-unhandled"
            } else {
                "// # expect: s3-test-event-unhandled"
            },
        );
        let name = format!("src/app.{ending}");
        check_files(
            &RULE,
            &[("template.yaml", &format!("{template}{bucket}")), (&name, &marked)],
        );
    }

    #[test]
    fn records_without_a_default_are_flagged_in_python() {
        let python = |body: &str| {
            let handler = format!("def handler(event, context):\n    for record in event['Records']:\n{body}\n");
            check("py", &handler, BUCKET);
            check("py", &handler.replace("/*!*/", ""), "");
        };
        python("        for one in json.loads(record['body'])['Records']: /*!*/\n            ship(one)");
        python(
            "        body = json.loads(record['body'])\n        for one in body.get('Records'): /*!*/\n            ship(one)",
        );
        python("        ship(json.loads(record['body'])['Records'][0]['s3']) /*!*/");
        python(
            "        work(json.loads(record['body']))\n\ndef work(body):\n    ship([one['s3'] for one in body['Records']]) /*!*/",
        );
        python(
            "        try:\n            ship(json.loads(record['body'])['Records']) /*!*/\n        except Exception:\n            raise RuntimeError()",
        );
        python("        for one in json.loads(record['body']).get('Records', []):\n            ship(one)");
        python(
            "        body = json.loads(record['body'])\n        if 'Records' not in body:\n            continue\n        ship(body['Records'])",
        );
        python(
            "        body = json.loads(record['body'])\n        if body.get('Event') == 's3:TestEvent':\n            continue\n        ship(body['Records'])",
        );
        python(
            "        if 's3:TestEvent' in record['body']:\n            continue\n        ship(json.loads(record['body'])['Records'])",
        );
        python(
            "        body = json.loads(record['body'])\n        if is_test(body):\n            continue\n        ship(body['Records'])",
        );
        python(
            "        try:\n            all = json.loads(record['body'])['Records']\n        except KeyError:\n            continue\n        ship(all)",
        );
        python(
            "        try:\n            body = json.loads(record['body'])\n            all = body['Records']\n        except (KeyError, ValueError):\n            continue\n        for one in all:\n            ship(one)",
        );
        // The test event is deleted like any other.
        python(
            "        try:\n            ship(json.loads(record['body'])['Records'])\n        except Exception as error:\n            print(error)",
        );
    }

    #[test]
    fn records_without_a_default_are_flagged_in_javascript() {
        let script = |body: &str| {
            let handler = format!(
                "exports.handler = async (event) => {{\n  for (const record of event.Records) {{\n{body}\n  }}\n}};\n"
            );
            check("js", &handler, BUCKET);
        };
        script("    for (const one of JSON.parse(record.body).Records) { /*!*/\n      await ship(one);\n    }");
        script(
            "    const { Records } = JSON.parse(record.body);\n    await Promise.all(Records.map((one) => ship(one))); /*!*/",
        );
        script("    const body = JSON.parse(record.body);\n    await ship(body.Records[0].s3); /*!*/");
        script("    const body = JSON.parse(record.body);\n    await ship(body.Records?.[0]?.s3);");
        script("    const body = JSON.parse(record.body);\n    for (const one of body.Records ?? []) await ship(one);");
        script(
            "    const { Records = [] } = JSON.parse(record.body);\n    for (const one of Records) await ship(one);",
        );
        script(
            "    const body = JSON.parse(record.body);\n    if (!body.Records) continue;\n    for (const one of body.Records) await ship(one);",
        );
        script(
            "    const body = JSON.parse(record.body);\n    if (!Array.isArray(body.Records)) continue;\n    for (const one of body.Records) await ship(one);",
        );
        script(
            "    const body = JSON.parse(record.body);\n    if (body.Event) continue;\n    for (const one of body.Records) await ship(one);",
        );
    }
}
