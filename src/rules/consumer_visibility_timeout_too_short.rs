//! Flags queues whose messages become visible again while the declared consumer is still processing them.

use super::prelude::*;
use crate::graph::declared::{DeclaredConsumer, Duration};
use crate::rules::shared::scenarios;
use crate::rules::shared::work::{DeclaredProcessor, ProcessingTime, with_room};
use source::Span;

/// Multiple of the median that some teams start with; AWS recommends no number.
const MEDIANS: i64 = 2;

pub(super) static RULE: Rule = rule!(
    "consumer-visibility-timeout-too-short",
    Category::Consumers,
    Severity::Warning,
    "a declared consumer takes longer for a message than the visibility timeout",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        findings.set_judged_attribute(&queue.visibility_timeout);
        let unrenewed = findings.graph.timed(queue).filter(|one| one.heartbeat.is_none());
        for declared in unrenewed {
            let received = findings.graph.received_visibility(queue);
            if let Some(visibility) = received.filter(|_| declared.is_worker()) {
                judge_receive(findings, queue, visibility, declared);
                continue;
            }
            let batch = Batch::of(findings.graph, queue, declared);
            for processor in findings.declared_processors(queue, declared) {
                for visibility in findings.most_visibility(&processor.when, queue) {
                    if let Some(work) = ProcessingTime::longest(declared) {
                        let when = &visibility.when;
                        let fits = findings.require(when, queue, work.fits_in(&visibility), || {
                            show_code(declared, too_short(queue, &processor, &visibility, work))
                        });
                        if let Some(batch) = batch.as_ref().filter(|_| fits) {
                            findings.require(when, queue, at_least(&visibility, batch.time()), || {
                                let headline = batch.headline(&format!(
                                    "{queue} has a visibility timeout of {}",
                                    visibility.in_words()
                                ));
                                let label = format!("the message becomes visible again after {}", visibility.shown());
                                let label = visibility.or_default("SQS", label);
                                let finding = Finding::new("visibility_timeout", headline, &visibility, label);
                                batch.show(finding)
                            });
                        }
                    } else if let Some(work) = ProcessingTime::median(declared) {
                        let needed = MEDIANS * Term::from(work);
                        findings.require(&visibility.when, queue, at_least(&visibility, needed), || {
                            short_of_medians(queue, &processor, &visibility, work)
                        });
                    }
                }
            }
        }
    }
}

/// Judges a worker whose receives set a visibility timeout of their own.
fn judge_receive(findings: &mut Findings<'_>, queue: &Queue, visibility: Duration, worker: &DeclaredConsumer) {
    let Some(work) = ProcessingTime::longest(worker) else {
        return;
    };
    let hides = |finding: Finding| {
        let hides = format!("hides a received message for {visibility}");
        visibility
            .span
            .into_iter()
            .fold(finding, |all, span| all.label(span, &*hides))
    };
    let when = &queue.resource.when;
    let fits = findings.require(when, queue, at_least(visibility, work), || {
        let headline = format!(
            "the worker of {queue} receives messages with a visibility timeout of {visibility}, but {}, so a second worker gets \
             the message while the first still works on it",
            work.takes()
        );
        let finding = Finding::new("visibility_timeout", headline, queue.resource.header, "the queue of that worker");
        show_code(worker, work.show(hides(finding)))
            .help("set a longer visibility timeout in the worker, or let it renew the timeout while the work goes on")
    });
    if let Some(batch) = Batch::of(findings.graph, queue, worker).filter(|_| fits) {
        findings.require(when, queue, at_least(visibility, batch.time()), || {
            let subject = format!("the worker of {queue} receives messages with a visibility timeout of {visibility}");
            let header = queue.resource.header;
            let finding = Finding::new(
                "visibility_timeout",
                batch.headline(&subject),
                header,
                "the queue of that worker",
            );
            batch.show(hides(finding))
        });
    }
}

/// Messages that a worker receives together and works on one after the other, with the declared time of each.
struct Batch {
    /// Number of messages, divided by the declared parallelism.
    rounds: i64,
    received: (i64, Span),
    work: ProcessingTime,
}

impl Batch {
    fn of(graph: &Graph, queue: &Queue, declared: &DeclaredConsumer) -> Option<Self> {
        let [program] = graph.programs(queue) else { return None };
        let work = ProcessingTime::slow(declared).or_else(|| ProcessingTime::median(declared))?;
        // A limit in code says little about ten messages.
        let received = program
            .together
            .filter(|_| declared.is_worker() && declared.code.is_none())?;
        let parallelism = declared.parallelism.max(1);
        Some(Batch {
            rounds: (received.0 + parallelism - 1) / parallelism,
            received,
            work,
        })
    }

    fn time(&self) -> Term<'static> {
        self.rounds * Term::from(self.work)
    }

    fn headline(&self, subject: &str) -> String {
        format!(
            "{subject}, but the worker receives up to {} messages together and works on one after the other, so the last one \
             reappears before its turn ends",
            self.received.0
        )
    }

    fn show(&self, finding: Finding) -> Finding {
        let received = format!("receives up to {} messages together", self.received.0);
        self.work
            .show(finding.label(self.received.1, received))
            .help("receive fewer messages, work on them at the same time, or set a longer visibility timeout")
    }
}

fn too_short(
    queue: &Queue,
    processor: &DeclaredProcessor<'_>,
    visibility: &Operand<'_>,
    work: ProcessingTime,
) -> Finding {
    let harm = if processor.is_worker() {
        "so a second worker gets the message while the first still works on it"
    } else {
        "so a message may be processed twice"
    };
    let finding = found(queue, processor, visibility, work, harm)
        .severity(processor.severity(Severity::Warning))
        .scenario(scenarios::of_work(visibility, work));
    let (name, room) = (visibility.name, with_room(work.time));
    let set = match room {
        Some(seconds) => format!("set `{name}` to {seconds} or more"),
        None => format!("no `{name}` is as long"),
    };
    let renew = if processor.is_worker() {
        ", or renew it while the work goes on (`ChangeMessageVisibility`) and declare that as `heartbeat`"
    } else {
        ""
    };
    let change = room
        .filter(|_| visibility.is_known())
        .map(|room| visibility.set_to(room));
    finding.help(format!("{set}{renew}")).fix(change)
}

fn short_of_medians(
    queue: &Queue,
    processor: &DeclaredProcessor<'_>,
    visibility: &Operand<'_>,
    work: ProcessingTime,
) -> Finding {
    let harm = "which leaves little room for slower ones";
    found(queue, processor, visibility, work, harm)
        .severity(Severity::Info)
        .help(format!(
            "measure how long the slowest messages take and declare that as `p99` or `max`; until then, twice the median \
             is a start for `{}`",
            visibility.name
        ))
}

/// Adds a label to `finding` at the code that states the time.
fn show_code(declared: &DeclaredConsumer, finding: Finding) -> Finding {
    match declared.span.filter(|_| declared.code.is_some()) {
        Some(span) => finding.label(span, "the worker receives the messages here"),
        None => finding,
    }
}

fn found(
    queue: &Queue,
    processor: &DeclaredProcessor<'_>,
    visibility: &Operand<'_>,
    work: ProcessingTime,
    harm: &str,
) -> Finding {
    let headline = format!(
        "{queue} has a visibility timeout of {}, but {} {}, {harm}",
        visibility.in_words(),
        processor.shown(),
        work.takes()
    );
    let becomes_visible = format!("the message becomes visible again after {}", visibility.shown());
    let label = visibility.or_default("SQS", becomes_visible);
    let finding = Finding::new("visibility_timeout", headline, visibility, label);
    processor.show(work.show(finding))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::Outcome;
    use crate::testing::{check_file_cases, queue, run_files};

    #[test]
    fn processing_time_above_timeout_is_flagged() {
        queue().queue("name", "orders").queue("visibility_timeout", 60).check(
            &RULE,
            r#"
            consumer                                                                       | finding
            processing = { max = "60s" }                                                   |
            processing = { p99 = "59999ms" }                                               |
            // One message in a hundred takes longer.
            processing = { p99 = "60s" }                                                   | warning
            processing = { p99 = "60s", max = "60s" }                                      |
            processing = { max = "60001ms" }                                               | warning
            processing = { max = "61s" }                                                   | warning
            processing = { max = "2m" }                                                    | warning
            processing = { p50 = "1s", p99 = "61s" }                                       | warning
            processing = { p99 = "61s", max = "62s" }                                      | warning
            processing = { p50 = "30s" }                                                   |
            processing = { p50 = "31s" }                                                   | info
            processing = { p50 = "31s", p99 = "59s" }                                      |
            processing = { max = "90s" }\nheartbeat = { every = "20s", extend-to = "60s" } |
            "#,
        );
        queue()
            .queue("visibility_timeout", 60)
            .check(&RULE, "consumer | finding\n # No times. |");
    }

    #[test]
    fn milliseconds_are_compared_with_seconds() {
        queue().check(
            &RULE,
            r#"
            consumer                         | queue.visibility_timeout | finding  | headline
            processing = { max = "30500ms" } |                          | 1        | …may take 30500 ms…
            processing = { max = "29500ms" } |                          |          |
            processing = { max = "2m" }      | 60                       | 1        | …may take 120 s…
            // Another rule reports it.
            processing = { max = "9s" }      | 0                        |          |
            processing = { max = "9s" }      | open                     | unjudged |
            "#,
        );
    }

    fn declared(text: &str, settings: &str) -> Outcome {
        let settings = format!("[[consumer]]\nqueue = \"orders\"\n{settings}\n");
        run_files(&RULE, &[("main.tf", text), ("sqslint.toml", &settings)])
    }

    #[test]
    fn finding_shows_both_values_and_help() {
        let text = "resource \"aws_sqs_queue\" \"orders\" {\n  name = \"orders\"\n}\n";
        let outcome = declared(text, "processing = { max = \"280s\" }");
        let found = &outcome.findings[0];
        assert_eq!(
            found.headline,
            "`aws_sqs_queue.orders` has a visibility timeout of 30 s, but its worker may take 280 s for a message, so a second \
             worker gets the message while the first still works on it"
        );
        let labels = found.labels().iter().map(|label| {
            let file = outcome.sources.file(label.span.file);
            format!("{} {}", file.base_name(), label.message)
        });
        let labels: Vec<String> = labels.collect();
        assert_eq!(
            labels,
            [
                "main.tf `visibility_timeout_seconds` is not set: SQS's default of 30 s applies",
                "sqslint.toml no message takes longer than 280 s"
            ]
        );
        assert!(found.help.as_ref().is_some_and(|help| help.contains("to 300 or more")));
        assert!(found.fix.is_some());
    }

    #[test]
    fn declared_function_must_poll_the_queue() {
        let text = r#"
resource "aws_sqs_queue" "orders" {
  name                       = "orders"
  visibility_timeout_seconds = <visibility>
}
resource "aws_lambda_function" "fulfil" {
  function_name = "fulfil-order"
  timeout       = 60
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.fulfil.arn
}
"#;
        for (visibility, function, max, expected, unmatched) in [
            ("60", "fulfil-order", "90s", 1, 0),
            ("60", "aws_lambda_function.fulfil", "90s", 1, 0),
            ("60", "fulfil*", "90s", 1, 0),
            ("60", "bill", "90s", 0, 1),
            // Another rule reports a timeout below that of the function.
            ("45", "fulfil-order", "59s", 0, 0),
            ("60", "fulfil-order", "59s", 0, 0),
        ] {
            let settings = format!("function = \"{function}\"\nprocessing = {{ max = \"{max}\" }}");
            let outcome = declared(&text.replace("<visibility>", visibility), &settings);
            let counts = (outcome.findings.len(), outcome.unmatched.len());
            assert_eq!(counts, (expected, unmatched), "{visibility} {function} {max}");
        }
    }

    #[test]
    fn pattern_of_source_queues_omits_their_dead_letter_queues() {
        let text = r#"
resource "aws_sqs_queue" "orders" {
  name                       = "orders"
  visibility_timeout_seconds = 300
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "failed" {
  name = "orders-dlq"
}
"#;
        let settings = "[[consumer]]\nqueue = \"<pattern>\"\nprocessing = { max = \"90s\" }\n";
        check_file_cases(
            &RULE,
            &[("main.tf", text), ("sqslint.toml", settings)],
            "
            pattern              | finding
            orders*              |
            orders               |
            *                    |
            orders-dlq           | 1
            aws_sqs_queue.failed | 1
            *-dlq                | 1
            ",
        );
    }

    #[test]
    fn bounds_decide() {
        let bounded = r#"
variable "seconds" {
  type = number
  validation {
    condition     = var.seconds <= 60
    error_message = "at most 60"
  }
}
resource "aws_sqs_queue" "orders" {
  name                       = "orders"
  visibility_timeout_seconds = var.seconds
}
"#;
        let settings = "[[consumer]]\nqueue = \"orders\"\nprocessing = { max = \"<max>\" }\n";
        check_file_cases(
            &RULE,
            &[("main.tf", bounded), ("sqslint.toml", settings)],
            "max | finding\n 61s | 1\n 60s |",
        );
    }
}
