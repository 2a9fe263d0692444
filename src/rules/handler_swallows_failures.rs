//! Flags functions that lose the failure of a message, so that Lambda deletes it as done: they catch all and go on, or do
//! not wait for the work.

use super::prelude::*;
use crate::graph::Fact;
use crate::rules::shared::handlers::{Handled, invokes};
use crate::rules::shared::queue_types::QueueRead;

pub(super) static RULE: Rule = Rule {
    id: "handler-swallows-failures",
    category: Category::Handlers,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "the function catches every failure of a message or does not wait for it, and Lambda deletes it as done",
    page: include_str!("../../rules/handler-swallows-failures.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for handled in findings.handled(graph, mapping, &mapping.resource.when) {
            for source in findings.queues_read(graph, mapping, &handled.when) {
                let lost = unawaited(mapping, &handled, &source).or_else(|| swallowed(mapping, &handled, &source));
                if let Some(finding) = lost {
                    findings.report(&source.when, mapping, finding);
                } else {
                    let heard = fact(true, || "the handler swallows no failure".to_owned());
                    findings.satisfied(&source.when, mapping, heard);
                }
            }
        }
    }
}

fn swallowed(mapping: &EventSourceMapping, handled: &Handled<'_>, source: &QueueRead<'_>) -> Option<Finding> {
    let caught = handled.handler.swallows.as_ref()?;
    let headline = format!(
        "{} catches every failure of a message of {} and returns as if it were done: Lambda deletes the message",
        handled.function.resource.shown(),
        source.shown
    );
    let help = "throw the failure again, or return its message in `batchItemFailures`, so that SQS delivers it again";
    Some(lost(mapping, headline, caught).help(help))
}

fn unawaited(mapping: &EventSourceMapping, handled: &Handled<'_>, source: &QueueRead<'_>) -> Option<Finding> {
    let begun = handled.handler.unawaited.as_ref()?;
    let headline = format!(
        "{} does not wait for its work on the messages of {}: it returns before that is done, and Lambda deletes them, \
         failed or not",
        handled.function.resource.shown(),
        source.shown
    );
    let help = "go through the records with `for (const record of event.Records) { await … }`, or wait for all with \
                `await Promise.all(event.Records.map(…))`";
    Some(lost(mapping, headline, begun).help(help))
}

fn lost(mapping: &EventSourceMapping, headline: String, fact: &Fact) -> Finding {
    // A mapping that is switched off loses nothing until it is switched on.
    let severity = match mapping.enabled.known() {
        Some(false) => Severity::Info,
        _ => Severity::Warning,
    };
    Finding::new("failures", headline, fact.span, &*fact.words)
        .severity(severity)
        .label(mapping.resource.header, invokes(mapping))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::handlers::{check_python, check_script};

    fn python(handler: &str) {
        check_python(&RULE, handler);
    }

    /// A handler whose loop has this body; each line is indented.
    fn loop_of(body: &str) -> String {
        let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
        format!("def handler(event, context):\n    for record in event['Records']:\n{body}")
    }

    fn script(handler: &str) {
        check_script(&RULE, handler);
    }

    const LOST: &str = "# expect: handler-swallows-failures";

    #[test]
    fn what_only_the_log_hears_of_is_lost() {
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
    fn what_is_known_of_later_is_not() {
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
    fn a_narrower_exception_is_a_decision() {
        python(&loop_of(
            "try:\n    work(record)\nexcept ValueError as error:\n    print(error)",
        ));
    }

    #[test]
    fn work_beside_it_may_be_what_counts() {
        python(&loop_of(
            "work(record)\ntry:\n    tell(record)\nexcept Exception as error:\n    print(error)",
        ));
        python(&loop_of(
            "try:\n    body = json.loads(record['body'])\nexcept Exception:\n    continue\nwork(body)",
        ));
    }

    #[test]
    fn a_function_of_the_file_is_followed() {
        let process = |end: &str| {
            format!(
                "def process(record):\n    try:\n        work(record)\n    except Exception as error:{end}\n        print(error)\n"
            )
        };
        let marked = process(&format!(" {LOST}"));
        python(&format!("{marked}\n{}", loop_of("process(record)")));
        // Whoever looks at what it returns may know.
        let answers = process("").replace("work(record)", "return work(record)");
        python(&format!(
            "{answers}\n{}",
            loop_of("if not process(record):\n    raise Failed()")
        ));
    }

    #[test]
    fn the_handler_of_a_library_is_called_for_each_record() {
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
    fn a_catch_around_the_whole_batch_loses_all_of_it() {
        python(&format!(
            "def handler(event, context):\n    try:\n        for record in event['Records']:\n            work(record)\n    except Exception as error: {LOST}\n        print(error)\n        return {{'statusCode': 500}}\n"
        ));
        python(
            "def handler(event, context):\n    try:\n        for record in event['Records']:\n            work(record)\n    except Exception as error:\n        print(error)\n        return {'batchItemFailures': [{'itemIdentifier': r['messageId']} for r in event['Records']]}\n",
        );
    }

    #[test]
    fn promises_that_are_settled_and_never_looked_at_lose_what_was_rejected() {
        let of = |work: &str, behind: &str| {
            script(&format!(
                "const ship = async (record) => {{ await courier.send(record.body); }};
exports.handler = async (event) => {{
{work}
{behind}
}};
"
            ));
        };
        for each in [
            "ship",
            "(record) => ship(record)",
            "async (r) => { await ship(r); }",
            "imported",
        ] {
            let work = format!("await Promise.allSettled(event.Records.map({each})); /*here*/");
            of(&work, "console.log('done');\nreturn { ok: true };");
        }
        of(
            "const all = event.Records.map(ship);\nawait Promise.allSettled(all); /*here*/",
            "",
        );
        let all = "await Promise.allSettled(event.Records.map(ship));";
        for (work, behind) in [
            // Somebody looks at it.
            (
                "const settled = await Promise.allSettled(event.Records.map(ship));",
                "check(settled);",
            ),
            ("return Promise.allSettled(event.Records.map(ship));", ""),
            // One that fails throws.
            ("await Promise.all(event.Records.map(ship));", ""),
            // Each has its own way.
            (
                "await Promise.allSettled(event.Records.map(async (r) => { try { await ship(r); } catch (e) { await park(r); } }));",
                "",
            ),
            (
                "await Promise.allSettled(event.Records.map((r) => ship(r).catch(() => park(r))));",
                "",
            ),
            // It is no work on messages.
            ("await Promise.allSettled(clients.map((one) => one.close()));", ""),
            (all, "if (await isFull()) { throw new Error('later'); }"),
            (all, "return { batchItemFailures: [] };"),
        ] {
            of(work, behind);
        }
    }

    #[test]
    fn work_that_nothing_waits_for_is_lost() {
        let of = |head: &str, work: &str| {
            script(&format!(
                "const ship = async (record) => {{ await courier.send(record.body); }};
const all = async (records) => {{ await Promise.all(records.map(ship)); }};
const quick = async (record) => {{ counts.push(record); }};
exports.handler = {head} {{
{work}
}};
"
            ));
        };
        for work in [
            "event.Records.forEach(async (r) => { await courier.send(r); }); /*here*/",
            "event.Records.forEach(ship); /*here*/",
            "await event.Records.forEach(ship); /*here*/",
            "event.Records.map(ship); /*here*/",
            "const { Records } = event;\nRecords.forEach(async (r) => { /*here*/\n  await courier.send(r);\n});",
            "for (const record of event.Records) { ship(record); } /*here*/",
            "try {\nfor (const record of event.Records) {\nship(record); /*here*/\n}\n} catch (e) { throw e; }",
        ] {
            of("async (event) =>", work);
        }
        for (head, work) in [
            ("async (event) =>", "await Promise.all(event.Records.map(ship));"),
            ("async (event) =>", "return Promise.all(event.Records.map(ship));"),
            ("async (event) =>", "await all(event.Records);"),
            (
                "async (event) =>",
                "const done = event.Records.map(ship);\nawait Promise.all(done);",
            ),
            (
                "async (event) =>",
                "for (const record of event.Records) { await ship(record); }",
            ),
            (
                "async (event) =>",
                "const done = [];\nfor (const r of event.Records) { done.push(ship(r)); }\nawait Promise.all(done);",
            ),
            (
                "async (event) =>",
                "event.Records.forEach((r) => done.push(ship(r)));\nawait Promise.all(done);",
            ),
            // It never waits, so it is done when it returns.
            ("async (event) =>", "event.Records.forEach(quick);"),
            ("async (event) =>", "event.Records.forEach((r) => log(r));"),
            // Nobody here knows what it does.
            (
                "async (event) =>",
                "for (const record of event.Records) { imported(record); }",
            ),
            // These are no messages.
            (
                "async (event) =>",
                "clients.forEach(async (c) => { await c.close(); });",
            ),
            // Lambda waits until nothing is left to do.
            (
                "(event, context, callback) =>",
                "event.Records.forEach(ship);\ncallback(null);",
            ),
        ] {
            of(head, work);
        }
    }

    #[test]
    fn it_is_found_behind_calls_that_are_waited_for() {
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
    fn a_comment_in_the_source_silences_it() {
        let silenced = |comment: &str| {
            loop_of(&format!(
                "try:\n    work(record)\n{comment}except Exception as error:\n    print(error)"
            ))
        };
        python(&silenced(
            "# sqslint: ignore[handler-swallows-failures] the log is read\n",
        ));
        let script_with = |end: &str, before: &str| {
            format!(
                "exports.handler = async (event) => {{
  for (const record of event.Records) {{
    try {{
      await work(record);
    {before}}} catch (error) {{ {end}
      console.error(error);
    }}
  }}
}};
"
            )
        };
        script(&script_with(
            "// sqslint: ignore[handler-swallows-failures] the log is read",
            "",
        ));
        script(&script_with(
            "",
            "// sqslint: ignore[handler-swallows-failures] the log is read\n    ",
        ));
        script(&script_with(
            "/*here*/",
            "// sqslint: ignore[redrive-policy-missing] another rule\n    ",
        ));
    }

    #[test]
    fn scripts_have_loops_callbacks_and_promises() {
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
    fn what_a_map_returns_may_be_looked_at() {
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
