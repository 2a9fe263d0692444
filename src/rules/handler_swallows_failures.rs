//! Flags functions that hide the failure of a message, so that Lambda deletes the message as processed: they catch
//! every exception and continue, or do not wait for the work.

use super::prelude::*;
use crate::graph::{Defect, Fact, Outcome};
use crate::rules::shared::handlers::{InvokedHandler, invokes};
use crate::rules::shared::queue_types::PolledQueue;

pub(super) static RULE: Rule = rule!(
    "handler-swallows-failures",
    Category::Handlers,
    Severity::Warning,
    "the function catches every failure of a message or does not wait for it, and Lambda deletes it as done"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for handled in findings.handled_bodies(mapping) {
            let sizes = findings.without_notes(|findings| findings.batch_sizes(&handled.when, mapping));
            let may_be_alone = sizes.is_empty() || sizes.iter().any(|size| size.value == 1);
            let is_retried = may_be_alone && handled.handler.outcome_alone != handled.handler.outcome;
            for source in findings.polled_queues(mapping, &handled.when) {
                let lost = unawaited(mapping, &handled, &source).or_else(|| swallowed(mapping, &handled, &source));
                let emptied = handled.handler.defect(Defect::EmptiedFullBatch);
                let lost = lost
                    .filter(|_| !is_retried)
                    .or_else(|| never_run(mapping, &handled, &source));
                let lost = lost.or_else(|| emptied.map(|caught| emptied_batch(mapping, &handled, &source, caught)));
                if let Some(finding) = lost {
                    findings.report(&source.when, mapping, finding);
                } else if handled.handler.outcome == Outcome::Unknown || is_retried {
                    let reason = "what becomes of a message that fails is not known, or not the same on all paths";
                    findings.not_read(mapping, handled.function, &source.when, reason);
                } else {
                    let heard = fact(true, || "the handler swallows no failure".to_owned());
                    findings.satisfied(&source.when, mapping, heard);
                }
            }
        }
    }
}

fn swallowed(mapping: &EventSourceMapping, handled: &InvokedHandler<'_>, source: &PolledQueue<'_>) -> Option<Finding> {
    let caught = handled.handler.swallowed_failure.as_ref()?;
    let headline = match &handled.handler.caught_call {
        Some(call) => format!(
            "{} catches a failure of `{}` and returns as if the message of {} were done: Lambda deletes the message",
            handled.function, call.words, source.shown
        ),
        None => format!(
            "{} catches every failure of a message of {} and returns as if it were done: Lambda deletes the message",
            handled.function, source.shown
        ),
    };
    let help = "throw the failure again, or return its message in `batchItemFailures`, so that SQS delivers it again";
    Some(lost(mapping, headline, caught).help(help))
}

fn unawaited(mapping: &EventSourceMapping, handled: &InvokedHandler<'_>, source: &PolledQueue<'_>) -> Option<Finding> {
    let begun = handled.handler.unawaited.as_ref()?;
    let headline = format!(
        "{} does not wait for its work on the messages of {}: it returns before that is done, and Lambda deletes them, \
         failed or not",
        handled.function, source.shown
    );
    let help = "go through the records with `for (const record of event.Records) { await … }`, or wait for all with \
                `await Promise.all(event.Records.map(…))`";
    Some(lost(mapping, headline, begun).help(help))
}

fn never_run(mapping: &EventSourceMapping, handled: &InvokedHandler<'_>, source: &PolledQueue<'_>) -> Option<Finding> {
    let created = handled.handler.defect(Defect::NeverRun)?;
    let headline = format!(
        "{} creates a generator for its work on the messages of {} and never runs it: Lambda deletes them unprocessed",
        handled.function, source.shown
    );
    Some(
        lost(mapping, headline, created)
            .help("go through the generator in a loop, or do the work in a function without `yield`"),
    )
}

fn emptied_batch(
    mapping: &EventSourceMapping,
    handled: &InvokedHandler<'_>,
    source: &PolledQueue<'_>,
    caught: &Fact,
) -> Finding {
    let headline = format!(
        "{} catches the error that all messages of a batch of {} failed and returns the empty response of the \
         processor: Lambda deletes all of them",
        handled.function, source.shown
    );
    lost(mapping, headline, caught).help(
        "let the error propagate, or set `throwOnFullBatchFailure: false` (TypeScript) or \
         `raise_on_entire_batch_failure=False` (Python)",
    )
}

fn lost(mapping: &EventSourceMapping, headline: String, fact: &Fact) -> Finding {
    Finding::new("failures", headline, fact.span, &*fact.words)
        .severity_if_enabled(Severity::Warning, mapping)
        .label(mapping.resource.header, invokes(mapping))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::check_file_cases;
    use crate::testing::handlers::{check_python, template};

    #[test]
    fn imported_function_without_types_returns_a_promise_or_a_value() {
        let handler = "const { parse } = require('./parse');
exports.handler = async (event) => {
  for (const record of event.Records) {
    try {
      parse(record.body);
      await ship(record);
    } catch (error) {
      console.log(error);
    }
  }
};
";
        let check = |file: &str, table: &str| {
            let files = [
                ("template.yaml", &*template("")),
                ("src/app.js", handler),
                (file, "<parse>"),
            ];
            check_file_cases(&RULE, &files, table);
        };
        check(
            "src/parse.js",
            "
            parse                                                                         | finding
            exports.parse = (body) => JSON.parse(body);                                   | 1
            exports.parse = (body) => { if (!body) return null; return { order: body }; } | 1
            exports.parse = (body) => { const order = JSON.parse(body); return order; }   | 1
            module.exports = { parse(body) { for (const one of body) console.log(one); } } | 1
            exports.parse = (body) => { const order = read(body); return order; }         |
            exports.parse = (body) => { let order = null; order = read(body); return order; } |
            exports.parse = (body) => read(body);                                         |
            exports.parse = (body) => new Promise(read);                                  |
            exports.parse = async (body) => JSON.parse(body);                             |
            exports.parse = wrap((body) => JSON.parse(body));                             |
            exports.other = (body) => JSON.parse(body);                                   |
            ",
        );
        check(
            "src/parse.ts",
            "
            parse                                                                                            | finding
            export function parse(body: string): Order { return read(body); }                                | 1
            type Read = Order;\\nexport function parse(body: string): Read { return read(body); }             | 1
            export function parse(body: string): Promise<Order> { return read(body); }                       |
            type Read = Promise<Order>;\\nexport function parse(body: string): Read { return read(body); }    |
            interface Read extends Promise<Order> {}\\nexport const parse = (body: string): Read => read(body); |
            ",
        );
    }

    #[test]
    fn response_after_the_error_of_a_full_batch_is_empty_in_known_versions() {
        let template = template("FunctionResponseTypes: [ReportBatchItemFailures]");
        let check = |source: (&str, &str), file: &str, table: &str| {
            let files = [("template.yaml", &*template), source, (file, "<version>")];
            check_file_cases(&RULE, &files, table);
        };
        let script = "import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
const processor = new BatchProcessor(EventType.SQS);
export const handler = async (event, context) => {
  try {
    return await processPartialResponse(event, async (record) => { await fetch(record.body); }, processor, { context });
  } catch (error) {
    return processor.response();
  }
};
";
        check(
            ("src/app.ts", script),
            "src/package.json",
            r#"
            version                                                  | finding
            {"dependencies": {"@aws-lambda-powertools/batch": "2.29.0"}}  | 1
            {"dependencies": {"@aws-lambda-powertools/batch": "~2.34.0"}} | 1
            {"dependencies": {"@aws-lambda-powertools/batch": "^2.29.0"}} |
            {"dependencies": {"@aws-lambda-powertools/batch": "2.36.0"}}  |
            {"dependencies": {"other": "2.29.0"}}                         |
            "#,
        );
        let never = script.replace("{ context }", "{ context, throwOnFullBatchFailure: false }");
        let thrown = script.replace("return processor.response();", "throw error;");
        for accepted in [never, thrown] {
            check(
                ("src/app.ts", &accepted),
                "src/package.json",
                r#"
                version                                                  | finding
                {"dependencies": {"@aws-lambda-powertools/batch": "2.29.0"}}  |
                "#,
            );
        }
        let python =
            "from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
processor = BatchProcessor(event_type=EventType.SQS)
def handler(event, context):
    try:
        return process_partial_response(event=event, record_handler=ship, processor=processor, context=context)
    except Exception as error:
        print(error)
        return processor.response()
def ship(record):
    requests.post('https://ship.example', data=record.body)
";
        check(
            ("src/app.py", python),
            "src/requirements.txt",
            "
            version                           | finding
            aws-lambda-powertools==3.2.0      | 1
            aws_lambda_powertools[all]==2.9.1 | 1
            aws-lambda-powertools>=2.0        |
            requests==2.0.0                   |
            ",
        );
    }

    /// Checks a TypeScript function for each row of the table in its holes.
    fn check_scripts(handler: &str, table: &str) {
        check_file_cases(
            &RULE,
            &[("template.yaml", &template("")), ("src/app.ts", handler)],
            table,
        );
    }

    /// `tests/handlers` has more handlers that lose a message, and those that do not.
    #[test]
    fn finding_is_at_the_code_that_loses_the_failure() {
        check_python(
            &RULE,
            "\
def process(record):
    try:
        work(record)
    except Exception as error: # expect: handler-swallows-failures
        print(error)
def handler(event, context):
    for record in event['Records']:
        process(record)
",
        );
        check_scripts(
            "const ship = async (record) => { await courier.send(record.body); };
exports.handler = async (event) => {
<work>
<rest>
};
",
            "
            work                                                                           | rest                                                            | finding
            for (const record of event.Records) { try { await work(record);                | } catch (error) { console.error(error); } }                     | rest
            await Promise.all(event.Records.map(async (r) => { try { await work(r);        | } catch (error) { logger.error('failed', { error }); } }));     | rest
            for (const r of event.Records) { await work(r).catch((e) => console.error(e)); | }                                                               | work
            await Promise.allSettled(event.Records.map(ship));                             | return { batchItemFailures: [] };                               | work
            const all = event.Records.map(ship);                                           | await Promise.allSettled(all);                                  | rest
            return Promise.allSettled(event.Records.map(ship));                            |                                                                 | work
            await event.Records.forEach(ship);                                             |                                                                 | work
            const { Records } = event;                                                     | Records.forEach(async (r) => {\\n  await courier.send(r);\\n}); | rest
            const all = async (records) => { records.forEach(ship); };                     | await all(event.Records);                                       | work
            try {\\nfor (const record of event.Records) {                                  | ship(record);\\n}\\n} catch (e) { throw e; }                    | rest
            ",
        );
    }

    #[test]
    fn work_that_cannot_fail_unseen_is_accepted() {
        check_scripts(
            "const ship = async (record) => { await courier.send(record.body); };
const quick = async (record) => { counts.push(record); };
exports.handler = async (event) => {
<work>
};
",
            "
            work                                                                                                               | finding
            // The code uses the results.
            const settled = await Promise.allSettled(event.Records.map(ship));\\ncheck(settled);                               |
            await Promise.allSettled(event.Records.map(ship));\\nif (await isFull()) { throw new Error('later'); }             |
            // Each promise has its own rejection handler.
            await Promise.allSettled(event.Records.map(async (r) => { try { await ship(r); } catch (e) { await park(r); } })); |
            await Promise.allSettled(event.Records.map((r) => ship(r).catch(() => park(r))));                                  |
            // The work does not concern messages.
            await Promise.allSettled(clients.map((one) => one.close()));                                                       |
            clients.forEach(async (c) => { await c.close(); });                                                                |
            // The function never waits, so the work is finished when it returns.
            event.Records.forEach(quick);                                                                                      |
            event.Records.forEach((r) => log(r));                                                                              |
            ",
        );
    }

    #[test]
    fn constant_key_of_the_response_is_read() {
        for key in ["'batchItemFailures'", "os.environ['KEY']"] {
            check_python(
                &RULE,
                &format!(
                    "KEY = {key}
def handler(event, context):
    failures = []
    for record in event['Records']:
        try:
            ship(record)
        except Exception:
            failures.append({{'itemIdentifier': record['messageId']}})
    return {{KEY: failures}}
"
                ),
            );
        }
    }

    #[test]
    fn comment_in_source_suppresses_finding() {
        check_python(
            &RULE,
            "\
def handler(event, context):
    for record in event['Records']:
        try:
            work(record)
        # sqslint: ignore[handler-swallows-failures] the log is read
        except Exception as error:
            print(error)
",
        );
        check_scripts(
            "exports.handler = async (event) => {
  for (const record of event.Records) {
    try {
      await work(record);
      <before>
    } catch (error) { <end>
      console.error(error);
    }
  }
};
",
            "
            finding | before                                                        | end
                    |                                                               | // sqslint: ignore[handler-swallows-failures] the log is read
                    | // sqslint: ignore[handler-swallows-failures] the log is read |
            end     | // sqslint: ignore[redrive-policy-missing] another rule       |
            ",
        );
    }
}
