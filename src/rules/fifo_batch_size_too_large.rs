//! Flags mappings that ask a FIFO queue for more messages a batch than FIFO allows.

use super::{Category, Findings, Known, Rule, Set};
use crate::batches::BatchSource;
use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::limits::BATCH_SIZE_WITHOUT_WINDOW as FIFO_BATCH_SIZE;
use crate::graph::{EventSourceMapping, Graph};

pub(super) static RULE: Rule = Rule {
    id: "fifo-batch-size-too-large",
    category: Category::Mapping,
    severity: Severity::Error,
    set: Set::Default,
    summary: "a mapping on a FIFO queue asks for more than 10 messages a batch",
    page: include_str!("../../rules/fifo-batch-size-too-large.md"),
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for batch in findings.known(&mapping.resource.when, &mapping.resource, &mapping.batch_size) {
            // No upper bound: `batch-size-out-of-range` leaves FIFO queues to this rule.
            if *batch.value <= FIFO_BATCH_SIZE {
                continue;
            }
            for source in findings.batch_sources(graph, mapping, &batch.world) {
                if source.fifo {
                    let diagnostic = too_large(findings, mapping, &batch, &source);
                    findings.report(&source.world, &mapping.resource, diagnostic);
                }
            }
        }
    }
}

fn too_large(
    findings: &Findings<'_>,
    mapping: &EventSourceMapping,
    batch: &Known<'_, i64>,
    source: &BatchSource,
) -> Diagnostic {
    let headline = format!(
        "{} asks the FIFO queue {} for batches of {} messages, and FIFO allows {FIFO_BATCH_SIZE}",
        mapping.resource.shown(),
        source.shown,
        batch.value
    );
    let diagnostic = findings.diagnostic(
        Severity::Error,
        &mapping.resource,
        "batch_size",
        headline,
        batch.span(),
        format!(
            "{}{} is above {FIFO_BATCH_SIZE}, so Lambda refuses the mapping",
            batch.value,
            batch.provenance()
        ),
    );
    source
        .show(batch.show_origin(diagnostic))
        .help(format!("set `{}` to {FIFO_BATCH_SIZE} or less", batch.name))
}
