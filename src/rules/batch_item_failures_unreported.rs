//! Flags mappings that cannot say which messages of a batch failed.

use super::{Category, Findings, Known, Rule, Set};
use crate::batches::BatchSource;
use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::limits::BATCH_SIZE;
use crate::graph::{EventSourceMapping, Graph};

pub(super) static RULE: Rule = Rule {
    id: "batch-item-failures-unreported",
    category: Category::Mapping,
    severity: Severity::Warning,
    set: Set::Default,
    summary: "one failed message returns its whole batch, and finished messages run again",
    page: include_str!("../../rules/batch-item-failures-unreported.md"),
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        let resource = &mapping.resource;
        for reports in findings.known(&resource.when, resource, &mapping.report_batch_item_failures) {
            if *reports.value {
                continue;
            }
            for batch in findings.known(&reports.world, resource, &mapping.batch_size) {
                // A batch of one is returned whole by nature; sizes that no queue may have are
                // `batch-size-out-of-range`.
                if *batch.value <= 1 || !BATCH_SIZE.contains(batch.value) {
                    continue;
                }
                for source in findings.batch_sources(graph, mapping, &batch.world) {
                    let diagnostic = unreported(findings, mapping, &reports, &batch, &source);
                    findings.report(&source.world, resource, diagnostic);
                }
            }
        }
    }
}

fn unreported(
    findings: &Findings<'_>,
    mapping: &EventSourceMapping,
    reports: &Known<'_, bool>,
    batch: &Known<'_, i64>,
    source: &BatchSource,
) -> Diagnostic {
    let headline = format!(
        "one failed message from {} sends a whole batch of up to {} back, since {} does not report which failed",
        source.shown,
        batch.value,
        mapping.resource.shown()
    );
    let label = if reports.case.is_default() {
        format!("no `{}`: a batch succeeds or fails as a whole", reports.name)
    } else {
        "without `ReportBatchItemFailures` a batch succeeds or fails as a whole".to_owned()
    };
    let diagnostic = findings.diagnostic(
        Severity::Warning,
        &mapping.resource,
        "report_batch_item_failures",
        headline,
        reports.span(),
        label,
    );
    let diagnostic = reports.show_origin(diagnostic);
    let size = format!("up to {} messages a batch{}", batch.value, batch.provenance());
    let order = if source.fifo {
        ", and on this FIFO queue stop at the first failure and report the rest of the batch too"
    } else {
        ""
    };
    batch.show_origin(diagnostic.label(batch.span(), size)).help(format!(
        "set `{}` to `ReportBatchItemFailures` and return `batchItemFailures` from the function{order}",
        reports.name
    ))
}
