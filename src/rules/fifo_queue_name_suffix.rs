//! Flags queue names that do not fit the queue's type: `.fifo` missing, `.fifo` too much, or too long.

use super::{Category, Findings, Known, Rule, Set};
use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::limits::QUEUE_NAME_LENGTH;
use crate::graph::{Graph, Queue};

pub(super) static RULE: Rule = Rule {
    id: "fifo-queue-name-suffix",
    category: Category::Fifo,
    severity: Severity::Error,
    set: Set::Default,
    summary: "a queue's name and type disagree: FIFO names end in `.fifo`, others do not",
    page: include_str!("../../rules/fifo-queue-name-suffix.md"),
    check: Some(check),
};

const SUFFIX: &str = ".fifo";

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
        for name in findings.known(&queue.resource.when, &queue.resource, &queue.name) {
            // A generated name always fits.
            let Some(text) = name.value.as_deref().filter(|text| !text.is_empty()) else {
                continue;
            };
            for fifo in findings.known(&name.world, &queue.resource, &queue.fifo) {
                if *fifo.value != text.ends_with(SUFFIX) {
                    let diagnostic = mismatch(findings, queue, &name, text, &fifo);
                    findings.report(&fifo.world, &queue.resource, diagnostic);
                }
            }
            if QUEUE_NAME_LENGTH < text.chars().count() {
                let diagnostic = too_long(findings, queue, &name, text);
                findings.report(&name.world, &queue.resource, diagnostic);
            }
        }
    }
}

fn mismatch(
    findings: &Findings<'_>,
    queue: &Queue,
    name: &Known<'_, Option<String>>,
    text: &str,
    fifo: &Known<'_, bool>,
) -> Diagnostic {
    let shown = queue.resource.shown();
    let (headline, label, help) = if *fifo.value {
        (
            format!("the FIFO queue {shown} is called `{text}`, and names of FIFO queues end in `{SUFFIX}`"),
            format!("no `{SUFFIX}` at the end{}", name.provenance()),
            format!("set `{}` to `{text}{SUFFIX}`", name.name),
        )
    } else {
        let bare = text.strip_suffix(SUFFIX).unwrap_or(text);
        (
            format!("the standard queue {shown} is called `{text}`, and only FIFO queues may end in `{SUFFIX}`"),
            format!("`{SUFFIX}` at the end{}", name.provenance()),
            format!(
                "set `{}` to true for a FIFO queue, or `{}` to `{bare}` for a standard one",
                fifo.name, name.name
            ),
        )
    };
    let diagnostic = findings.diagnostic(Severity::Error, &queue.resource, "name", headline, name.span(), label);
    let diagnostic = name.show_origin(diagnostic);
    let kind = match (fifo.case.is_default(), fifo.value) {
        (true, _) => format!("`{}` is not set, so this is a standard queue", fifo.name),
        (false, true) => format!("this makes it a FIFO queue{}", fifo.provenance()),
        (false, false) => format!("this makes it a standard queue{}", fifo.provenance()),
    };
    fifo.show_origin(diagnostic.label(fifo.span(), kind)).help(help)
}

fn too_long(findings: &Findings<'_>, queue: &Queue, name: &Known<'_, Option<String>>, text: &str) -> Diagnostic {
    let length = text.chars().count();
    let headline = format!(
        "the name of {} has {length} characters, and SQS takes {QUEUE_NAME_LENGTH}",
        queue.resource.shown()
    );
    let label = format!("{length} characters{}", name.provenance());
    let diagnostic = findings.diagnostic(Severity::Error, &queue.resource, "name", headline, name.span(), label);
    name.show_origin(diagnostic).help(format!(
        "shorten `{}` to {QUEUE_NAME_LENGTH} characters, `{SUFFIX}` included",
        name.name
    ))
}
