//! Answers requests of the editor.

use super::worker::Worker;
use super::{actions, completion, hints, hover, links};
use crate::report::graph::topology::{Extent, topologies};
use crate::report::graph::{Marks, drawing, svg, text};
use lsp_server::{ErrorCode, Request};
use lsp_types::{
    DocumentDiagnosticParams, DocumentDiagnosticReport, ExecuteCommandParams, FullDocumentDiagnosticReport, Position,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport,
    Uri, WorkspaceDiagnosticParams, WorkspaceDiagnosticReport, WorkspaceDocumentDiagnosticReport,
    WorkspaceFullDocumentDiagnosticReport,
};
use rustc_hash::FxHasher;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::hash::Hasher;
use std::str::FromStr;

/// Supported requests.
pub(super) const METHODS: [&str; 9] = [
    "textDocument/codeAction",
    "textDocument/completion",
    "textDocument/definition",
    "textDocument/diagnostic",
    "textDocument/hover",
    "textDocument/inlayHint",
    "textDocument/references",
    "workspace/diagnostic",
    "workspace/executeCommand",
];

/// Supported commands: a diagram of a unit, and an explanation of a location.
pub(super) const COMMANDS: [&str; 2] = ["sqslint.graph", "sqslint.explain"];

/// Reason for rejecting a request.
struct Refusal(ErrorCode, String);

/// Answers a request.
pub(super) fn answer(worker: &mut Worker, request: Request) {
    let Request { id, method, params } = request;
    match answered(worker, &method, params) {
        Ok(result) => worker.outbox.answer(id, result),
        Err(Refusal(code, message)) => worker.outbox.refuse(id, code, &message),
    }
}

fn answered(worker: &mut Worker, method: &str, params: serde_json::Value) -> Result<serde_json::Value, Refusal> {
    let result = match method {
        "textDocument/codeAction" => value(actions::at(worker, &read(params)?)),
        "textDocument/completion" => value(completion::at(worker, &read(params)?)),
        "textDocument/definition" => value(links::definition(worker, &read(params)?)),
        "textDocument/references" => value(links::references(worker, &read(params)?)),
        "textDocument/hover" => value(hover::at(worker, &read(params)?)),
        "textDocument/inlayHint" => value(hints::within(worker, &read(params)?)),
        "textDocument/diagnostic" => value(diagnostic(worker, &read(params)?)),
        "workspace/diagnostic" => value(diagnostics(worker, &read(params)?)),
        "workspace/executeCommand" => value(command(worker, read(params)?)?),
        _ => None,
    };
    Ok(result.unwrap_or_default())
}

fn value(result: impl serde::Serialize) -> Option<serde_json::Value> {
    serde_json::to_value(result).ok()
}

fn read<T: DeserializeOwned>(params: serde_json::Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(|error| Refusal(ErrorCode::InvalidParams, error.to_string()))
}

/// Returns a hash that identifies a list of diagnostics.
fn identity(found: &[lsp_types::Diagnostic]) -> String {
    let mut hasher = FxHasher::default();
    let text = serde_json::to_string(found).unwrap_or_default();
    hasher.write(text.as_bytes());
    format!("{:016x}", hasher.finish())
}

fn diagnostic(worker: &Worker, params: &DocumentDiagnosticParams) -> DocumentDiagnosticReport {
    let path = worker.path(&params.text_document.uri);
    let found = path.map(|path| worker.found_in(&path)).unwrap_or_default();
    let identity = identity(&found);
    if params.previous_result_id.as_ref() == Some(&identity) {
        return DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id: identity },
        });
    }
    DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
        related_documents: None,
        full_document_diagnostic_report: FullDocumentDiagnosticReport {
            result_id: Some(identity),
            items: found,
        },
    })
}

fn diagnostics(worker: &Worker, params: &WorkspaceDiagnosticParams) -> WorkspaceDiagnosticReport {
    let mut found = worker.found();
    // Files whose findings have all disappeared must be reported, too.
    for previous in &params.previous_result_ids {
        if let Some(path) = worker.path(&previous.uri) {
            found.entry(path).or_default();
        }
    }
    let items = found.into_iter().filter_map(|(path, items)| {
        Some(WorkspaceDocumentDiagnosticReport::Full(
            WorkspaceFullDocumentDiagnosticReport {
                uri: worker.names.uri(&path)?,
                version: worker.names.version(&path).map(i64::from),
                full_document_diagnostic_report: FullDocumentDiagnosticReport {
                    result_id: Some(identity(&items)),
                    items,
                },
            },
        ))
    });
    WorkspaceDiagnosticReport { items: items.collect() }
}

/// Argument of a command.
#[derive(Debug, Deserialize)]
struct Subject {
    uri: String,
    position: Option<Position>,
    /// Format of a diagram: `svg`, `mermaid`, `dot` or `text`.
    format: Option<String>,
}

fn command(worker: &mut Worker, params: ExecuteCommandParams) -> Result<Option<String>, Refusal> {
    let first = params.arguments.into_iter().next().unwrap_or_default();
    let subject: Subject = read(first)?;
    let uri = Uri::from_str(&subject.uri).map_err(|error| Refusal(ErrorCode::InvalidParams, error.to_string()))?;
    match params.command.as_str() {
        "sqslint.graph" => Ok(graph(worker, &uri, subject.format.as_deref().unwrap_or("svg"))),
        "sqslint.explain" => Ok(hover::text(worker, &uri, subject.position.unwrap_or_default())),
        other => {
            let message = format!("unknown command `{other}`");
            Err(Refusal(ErrorCode::InvalidParams, message))
        }
    }
}

/// Returns a diagram of the units of a file.
fn graph(worker: &Worker, uri: &Uri, format: &str) -> Option<String> {
    let path = worker.path(uri)?;
    let outcome = worker.projects.iter().find_map(|project| project.alone(&path))?;
    let (graph, sources) = (&outcome.graph, &outcome.sources);
    let marks = Marks::new(&outcome.findings);
    let mut out = Vec::new();
    let written = match format {
        "text" => text::write(graph, sources, &marks, &mut out),
        "mermaid" => drawing::write_mermaid(&topologies(graph, &marks, Extent::Queues), &mut out),
        "dot" => drawing::write_dot(&topologies(graph, &marks, Extent::Queues), &mut out),
        _ => svg::write(&topologies(graph, &marks, Extent::Queues), &mut out),
    };
    written.ok()?;
    String::from_utf8(out).ok()
}
