//! Flags functions that hide the failure of a message, so that Lambda deletes the message as processed: they catch
//! every exception and continue, or do not wait for the work.

use super::prelude::*;
use crate::graph::{Fact, Outcome};
use crate::rules::shared::handlers::{InvokedHandler, invokes};
use crate::rules::shared::queue_types::PolledQueue;

pub(super) static RULE: Rule = rule!(
    "handler-swallows-failures",
    Category::Handlers,
    Severity::Warning,
    "the function catches every failure of a message or does not wait for it, and Lambda deletes it as done"
);

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for handled in findings.handled_bodies(graph, mapping) {
            for source in findings.polled_queues(graph, mapping, &handled.when) {
                let lost = unawaited(mapping, &handled, &source).or_else(|| swallowed(mapping, &handled, &source));
                if let Some(finding) = lost {
                    findings.report(&source.when, mapping, finding);
                } else if handled.handler.outcome == Outcome::Unknown {
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
    let headline = format!(
        "{} catches every failure of a message of {} and returns as if it were done: Lambda deletes the message",
        handled.function, source.shown
    );
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

fn lost(mapping: &EventSourceMapping, headline: String, fact: &Fact) -> Finding {
    Finding::new("failures", headline, fact.span, &*fact.words)
        .severity_if_enabled(Severity::Warning, mapping)
        .label(mapping.resource.header, invokes(mapping))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::check_file_cases;
    use crate::testing::handlers::{check_python, check_script, template};

    fn python(handler: &str) {
        check_python(&RULE, handler);
    }

    /// Returns a handler whose loop has this body; each line is indented.
    fn loop_of(body: &str) -> String {
        let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
        format!("def handler(event, context):\n    for record in event['Records']:\n{body}")
    }

    fn script(handler: &str) {
        check_script(&RULE, handler);
    }

    const LOST: &str = "# expect: handler-swallows-failures";

    #[test]
    fn failures_that_are_only_logged_are_flagged() {
        for caught in [
            "except Exception as error:",
            "except:",
            "except (ValueError, BaseException):",
        ] {
            for then in [
                "print(error)",
                "logger.exception('failed %s', record['messageId'])",
                "pass",
                "continue",
            ] {
                python(&loop_of(&format!(
                    "try:\n    work(record)\n{caught} {LOST}\n    {then}"
                )));
            }
        }
    }

    #[test]
    fn failures_that_are_rethrown_or_recorded_are_accepted() {
        for then in [
            "raise",
            "raise Failed() from error",
            "failures.append(record['messageId'])",
            "failed = True",
            "queue.send_message(MessageBody=record['body'])",
            "report(error)",
            "if is_fatal(error):\n        raise",
        ] {
            let after = if then.contains("failed") {
                "\nif failed:\n    raise Failed()"
            } else {
                ""
            };
            let handled = format!("try:\n    work(record)\nexcept Exception as error:\n    {then}{after}");
            python(&loop_of(&handled));
        }
    }

    #[test]
    fn narrower_exception_is_accepted() {
        python(&loop_of(
            "try:\n    work(record)\nexcept ValueError as error:\n    print(error)",
        ));
    }

    #[test]
    fn work_outside_the_try_block_is_accepted() {
        python(&loop_of(
            "work(record)\ntry:\n    tell(record)\nexcept Exception as error:\n    print(error)",
        ));
        python(&loop_of(
            "try:\n    body = json.loads(record['body'])\nexcept Exception:\n    continue\nwork(body)",
        ));
    }

    #[test]
    fn called_function_of_the_file_is_checked() {
        let process = |end: &str| {
            format!(
                "def process(record):\n    try:\n        work(record)\n    except Exception as error:{end}\n        print(error)\n"
            )
        };
        let marked = process(&format!(" {LOST}"));
        python(&format!("{marked}\n{}", loop_of("process(record)")));
        // The caller of a function that returns a value may detect the failure.
        let answers = process("").replace("work(record)", "return work(record)");
        python(&format!(
            "{answers}\n{}",
            loop_of("if not process(record):\n    raise Failed()")
        ));
    }

    #[test]
    fn record_handler_of_batch_library_is_checked() {
        python(&format!(
            "processor = BatchProcessor(event_type=EventType.SQS)
def work_on(record):
    try:
        work(record)
    except Exception as error: {LOST}
        logger.error(error)
def handler(event, context):
    return process_partial_response(event=event, record_handler=work_on, processor=processor, context=context)
"
        ));
    }

    #[test]
    fn catch_around_the_whole_batch_is_flagged() {
        python(&format!(
            "def handler(event, context):\n    try:\n        for record in event['Records']:\n            work(record)\n    except Exception as error: {LOST}\n        print(error)\n        return {{'statusCode': 500}}\n"
        ));
        python(
            "def handler(event, context):\n    try:\n        for record in event['Records']:\n            work(record)\n    except Exception as error:\n        print(error)\n        return {'batchItemFailures': [{'itemIdentifier': r['messageId']} for r in event['Records']]}\n",
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

    #[test]
    fn unused_results_of_settled_promises_are_flagged() {
        check_scripts(
            "const ship = async (record) => { await courier.send(record.body); };
exports.handler = async (event) => {
<work>
<rest>
};
",
            "
            work                                                                                                               | rest                                              | finding
            await Promise.allSettled(event.Records.map(ship));                                                                 | console.log('done');\\nreturn { ok: true };       | work
            await Promise.allSettled(event.Records.map((record) => ship(record)));                                             | console.log('done');\\nreturn { ok: true };       | work
            await Promise.allSettled(event.Records.map(async (r) => { await ship(r); }));                                      | console.log('done');\\nreturn { ok: true };       | work
            await Promise.allSettled(event.Records.map(imported));                                                             | console.log('done');\\nreturn { ok: true };       | work
            const all = event.Records.map(ship);                                                                               | await Promise.allSettled(all);                    | rest
            await Promise.allSettled(event.Records.map(ship));                                                                 | return { batchItemFailures: [] };                 | work
            return Promise.allSettled(event.Records.map(ship));                                                                |                                                   | work
            // The code uses the results.
            const settled = await Promise.allSettled(event.Records.map(ship));                                                 | check(settled);                                   |
            // A rejection throws.
            await Promise.all(event.Records.map(ship));                                                                        |                                                   |
            // Each promise has its own rejection handler.
            await Promise.allSettled(event.Records.map(async (r) => { try { await ship(r); } catch (e) { await park(r); } })); |                                                   |
            await Promise.allSettled(event.Records.map((r) => ship(r).catch(() => park(r))));                                  |                                                   |
            // The work does not concern messages.
            await Promise.allSettled(clients.map((one) => one.close()));                                                       |                                                   |
            await Promise.allSettled(event.Records.map(ship));                                                                 | if (await isFull()) { throw new Error('later'); } |
            ",
        );
    }

    #[test]
    fn unawaited_work_is_flagged() {
        let handler = "const ship = async (record) => { await courier.send(record.body); };
const all = async (records) => { await Promise.all(records.map(ship)); };
const quick = async (record) => { counts.push(record); };
exports.handler = async (event) => {
<work>
<rest>
};
";
        check_scripts(
            handler,
            "
            work                                                                      | rest                                                            | finding
            event.Records.forEach(async (r) => { await courier.send(r); });           |                                                                 | work
            event.Records.forEach(ship);                                              |                                                                 | work
            await event.Records.forEach(ship);                                        |                                                                 | work
            event.Records.map(ship);                                                  |                                                                 | work
            const { Records } = event;                                                | Records.forEach(async (r) => {\\n  await courier.send(r);\\n}); | rest
            for (const record of event.Records) { ship(record); }                     |                                                                 | work
            try {\\nfor (const record of event.Records) {                             | ship(record);\\n}\\n} catch (e) { throw e; }                    | rest
            await Promise.all(event.Records.map(ship));                               |                                                                 |
            return Promise.all(event.Records.map(ship));                              |                                                                 |
            await all(event.Records);                                                 |                                                                 |
            const done = event.Records.map(ship);                                     | await Promise.all(done);                                        |
            for (const record of event.Records) { await ship(record); }               |                                                                 |
            const done = [];\\nfor (const r of event.Records) { done.push(ship(r)); } | await Promise.all(done);                                        |
            event.Records.forEach((r) => done.push(ship(r)));                         | await Promise.all(done);                                        |
            // The function never waits, so the work is finished when it returns.
            event.Records.forEach(quick);                                             |                                                                 |
            event.Records.forEach((r) => log(r));                                     |                                                                 |
            // The source does not show what the function does.
            for (const record of event.Records) { imported(record); }                 |                                                                 |
            // The elements are not messages.
            clients.forEach(async (c) => { await c.close(); });                       |                                                                 |
            ",
        );
        // Lambda waits until the event loop is empty.
        let with_callback = handler.replace("async (event) => {\n<work>", "(event, context, callback) => {\n<work>");
        check_scripts(
            &with_callback,
            "work | rest | finding\n event.Records.forEach(ship); | callback(null); |",
        );
    }

    #[test]
    fn unawaited_work_in_awaited_function_is_flagged() {
        script(
            "async function work(event) {
  event.Records.forEach(async (record) => { /*here*/
    await courier.send(record.body);
  });
}
exports.handler = async (event) => { await work(event); };
",
        );
    }

    #[test]
    fn comment_in_source_suppresses_finding() {
        let silenced = |comment: &str| {
            loop_of(&format!(
                "try:\n    work(record)\n{comment}except Exception as error:\n    print(error)"
            ))
        };
        python(&silenced(
            "# sqslint: ignore[handler-swallows-failures] the log is read\n",
        ));
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

    #[test]
    fn loops_callbacks_and_promises_of_scripts_are_checked() {
        script(
            "export const handler = async (event: SQSEvent) => {
  for (const record of event.Records) {
    try {
      await work(record);
    } catch (error) { /*here*/
      console.error(error);
    }
  }
};
",
        );
        script(
            "exports.handler = async ({ Records }) => {
  await Promise.all(Records.map(async (record) => {
    try {
      await work(record);
    } catch (error) { /*here*/
      logger.error('failed', { error });
    }
  }));
};
",
        );
        script(
            "exports.handler = async (event) => {
  for (const record of event.Records) {
    await work(record).catch((error) => console.error(error)); /*here*/
  }
};
",
        );
    }

    #[test]
    fn checked_results_of_map_are_accepted() {
        script(
            "exports.handler = async (event) => {
  const results = await Promise.all(event.Records.map(async (record) => {
    try {
      await work(record);
      return true;
    } catch (error) {
      console.error(error);
      return false;
    }
  }));
  if (results.includes(false)) throw new Error('some failed');
};
",
        );
    }
}
