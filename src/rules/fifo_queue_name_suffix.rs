//! Flags queue names that contradict the queue's type (`.fifo` missing, or on a standard queue) or are too long.

use super::prelude::*;
use crate::graph::FIFO_SUFFIX;
use crate::graph::limits::QUEUE_NAME_LENGTH;
use crate::rules::shared::names::QueueName;

pub(super) static RULE: Rule = rule!(
    "fifo-queue-name-suffix",
    Category::Fifo,
    Severity::Error,
    "a queue's name and type disagree: FIFO names end in `.fifo`, others do not"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for name in findings.names(&queue.resource.when, queue) {
            let text = &name.text;
            for fifo in findings.known(&name.when, queue, &queue.fifo) {
                let Some(is_fifo_name) = text.ends_with(FIFO_SUFFIX) else {
                    findings.note_unknown_name(&fifo.when, &name);
                    continue;
                };
                let agrees = fact(*fifo.value == is_fifo_name, || match fifo.value {
                    true => format!("FIFO, and `{text}` ends in `{FIFO_SUFFIX}`"),
                    false => format!("standard, and `{text}` does not end in `{FIFO_SUFFIX}`"),
                });
                findings.require(
                    &fifo.when,
                    queue,
                    agrees.depending_on(&name).depending_on(&fifo),
                    || mismatch(queue, &name, &fifo),
                );
            }
            // The known pieces give a minimum length, which is enough: unknown pieces are rarely what exceeds the
            // quota.
            let length = text.min_length();
            let fits = at_most(
                Term::counted(length, Unit::Characters),
                Term::counted(QUEUE_NAME_LENGTH, Unit::Characters),
            );
            findings.require(&name.when, queue, fits.depending_on(&name), || {
                too_long(queue, &name, length)
            });
        }
    }
}

fn mismatch(queue: &Queue, name: &QueueName<'_>, fifo: &Known<'_, bool>) -> Finding {
    let (shown, text) = (queue.resource.shown(), name.text.to_string());
    let (headline, label, help) = if *fifo.value {
        (
            format!("the FIFO queue {shown} is named `{text}`, but names of FIFO queues must end in `{FIFO_SUFFIX}`"),
            format!("no `{FIFO_SUFFIX}` at the end{}", name.provenance()),
            format!("set `{}` to `{text}{FIFO_SUFFIX}`", name.name),
        )
    } else {
        let bare = text.strip_suffix(FIFO_SUFFIX).unwrap_or(&text);
        (
            format!(
                "the standard queue {shown} is named `{text}`, but only names of FIFO queues may end in `{FIFO_SUFFIX}`"
            ),
            format!("`{FIFO_SUFFIX}` at the end{}", name.provenance()),
            format!(
                "set `{}` to true for a FIFO queue, or `{}` to `{bare}` for a standard one",
                fifo.name, name.name
            ),
        )
    };
    let kind = match (fifo.is_default, fifo.value) {
        (true, _) => format!("`{}` is not set, so this is a standard queue", fifo.name),
        (false, true) => format!("this makes it a FIFO queue{}", fifo.provenance()),
        (false, false) => format!("this makes it a standard queue{}", fifo.provenance()),
    };
    Finding::new("name", headline, name, label).label(fifo, kind).help(help)
}

fn too_long(queue: &Queue, name: &QueueName<'_>, length: usize) -> Finding {
    let least = if name.text.is_known() { "" } else { "at least " };
    let characters = format!("{least}{length} characters");
    let headline = format!("the name of {queue} has {characters}, but SQS accepts at most {QUEUE_NAME_LENGTH}");
    let label = format!("{characters}{}", name.provenance());
    Finding::new("name", headline, name, label).help(format!(
        "shorten `{}` to {QUEUE_NAME_LENGTH} characters, `{FIFO_SUFFIX}` included",
        name.name
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    #[test]
    fn name_that_contradicts_type_is_flagged() {
        queue().check(
            &RULE,
            r#"
            queue.name  | queue.fifo | finding
            orders      | true       | queue.name
            orders      | "true"     | queue.name
            orders.fifo |            | queue.name
            orders.fifo | true       |
            // A generated name.
                        | true       |
            open        | true       |
            orders      | open       |
            "#,
        );
        queue()
            .queue("fifo", true)
            .check(&RULE, "queue.name_prefix | finding\n orders |");
    }

    #[test]
    fn name_above_eighty_characters_is_flagged() {
        queue().check(
            &RULE,
            "
            queue.name                                                                         | queue.fifo | finding
            qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq   |            |
            qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq  |            | queue.name
            qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq.fifo | true       | queue.name
            ",
        );
    }
}
