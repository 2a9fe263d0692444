//! Provides inlay hints with resolved values: after `timeout = var.timeout`, the hint `= 90 s`.

use super::position::Lines;
use super::worker::Worker;
use crate::graph::values;
use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintParams};
use source::Span;
use std::collections::BTreeMap;

/// Returns the hints within a range of a file.
pub(super) fn within(worker: &mut Worker, params: &InlayHintParams) -> Option<Vec<InlayHint>> {
    let encoding = worker.settings.encoding;
    let path = worker.path(&params.text_document.uri)?;
    let project = worker.projects.iter_mut().find(|project| project.holds(&path))?;
    let outcome = project.look(&path)?;
    let id = outcome.sources.find(&path)?;
    let file = outcome.sources.file(id);
    let lines = Lines::of(&file, encoding);
    let range = lines.offset(params.range.start)..=lines.offset(params.range.end);
    let mut hints: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let is_here = |span: Span| span.file == id && range.contains(&(span.end as usize));
    for listed in values::list(&outcome.graph) {
        for case in &listed.cases {
            let Ok(value) = &case.value else { continue };
            let text = if case.is_default && is_visibility(listed.name) {
                format!("{} {value}, the default", listed.name)
            } else if !case.is_default && !case.origins.is_empty() {
                format!("= {value}")
            } else {
                continue;
            };
            if is_here(case.span) {
                // The hint for a default value follows the line of its resource.
                let line = file.line_range(file.line_index(case.span.end as usize));
                let end = file
                    .text()
                    .get(line.clone())
                    .map(|text| line.start + text.trim_end().len());
                let at = end.filter(|_| case.is_default).unwrap_or(case.span.end as usize);
                let known = hints.entry(at).or_default();
                if !known.contains(&text) {
                    known.push(text);
                }
            }
        }
    }
    let hints = hints.into_iter().map(|(at, texts)| InlayHint {
        position: lines.position(at),
        label: InlayHintLabel::String(texts.join(" or ")),
        kind: Some(InlayHintKind::TYPE),
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: None,
    });
    Some(hints.collect())
}

/// Returns `true` for a queue's visibility timeout in any dialect.
fn is_visibility(name: &str) -> bool {
    name.to_ascii_lowercase()
        .replace('_', "")
        .starts_with("visibilitytimeout")
}
