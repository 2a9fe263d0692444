//! Plans and states as `terraform show -json` prints them, and raw state files. A file is read in one pass; only the
//! relevant resources are parsed fully and lowered like those of modules.
//!
//! Values are those that Terraform computed. A value that is known only after apply becomes a link if the configuration
//! in the plan determines it (`plan/references.rs`), and is unknown otherwise. The age of a plan is not considered.

mod address;
mod arguments;
mod document;
mod places;
mod providers;
mod reader;
mod references;
mod relevance;
mod translate;

use crate::diagnostic::Diagnostic;
use crate::frontend::{LARGEST_PLAN, Loaded, ReadError, limit_reached, parse_error, read_up_to};
use crate::graph::{Unit, UnitKind};
use document::Document;
use reader::PlanReader;
use serde_json::value::RawValue;
use source::{FileId, Sources, Span};
use std::path::Path;
use trees::Node;
use trees::json;

/// Maximum number of resources.
const MAX_RESOURCES: usize = 1_000_000;

/// Loads the plan or state in `file`.
pub(super) fn load(file: &Path, sources: &Sources) -> Loaded {
    let name = sources.name_of(file);
    let mut loaded = Loaded::new(Unit {
        name: name.clone(),
        kind: UnitKind::Plan,
        notes: Vec::new(),
        unread_modules: std::collections::BTreeMap::new(),
        call: None,
    });
    let id = match read_up_to(LARGEST_PLAN, file, sources, &name) {
        Ok(id) => id,
        Err(ReadError::Io(error)) => {
            loaded.errors.push(error);
            return loaded;
        }
        Err(ReadError::Unfit(diagnostic)) => {
            loaded.diagnostics.push(*diagnostic);
            return loaded;
        }
    };
    sources.guard(id);
    let source = sources.file(id);
    let text = Text {
        file: id,
        whole: source.text(),
    };
    let document = match text.parse() {
        Ok(document) => document,
        Err(refusal) => {
            loaded.diagnostics.push(refusal.diagnostic(sources, &name));
            return loaded;
        }
    };
    if document.planned_values.is_none() {
        loaded.graph.unit.kind = UnitKind::State;
    }
    if document.errored == Some(true) {
        loaded
            .graph
            .unit
            .notes
            .push("planning failed, so the plan is not whole".to_owned());
    }
    let unit = loaded.graph.unit.clone();
    let reader = PlanReader::new(text, &document, file, sources);
    loaded.graph = reader.graph(unit, sources);
    loaded
}

/// The text of the file, with its id for spans.
#[derive(Clone, Copy)]
struct Text<'d> {
    file: FileId,
    whole: &'d str,
}

/// The reason why a file cannot be read, with its span.
struct Refusal {
    span: Span,
    message: String,
    limit: bool,
}

impl Refusal {
    fn diagnostic(&self, sources: &Sources, unit: &str) -> Diagnostic {
        let report = if self.limit { limit_reached } else { parse_error };
        report(sources, unit, self.span, &self.message)
    }
}

impl<'d> Text<'d> {
    fn parse(self) -> Result<Document<'d>, Refusal> {
        let refuse = |message: String| Refusal {
            span: Span::new(self.file, 0..1),
            message,
            limit: false,
        };
        let body = self.whole.strip_prefix('\u{feff}').unwrap_or(self.whole);
        let document: Document<'d> = serde_json::from_str(body).map_err(|error| self.refusal(body, &error))?;
        let major = document
            .format_version
            .as_deref()
            .map(|version| version.split('.').next().unwrap_or(""));
        match (major, document.version) {
            (Some("0" | "1"), _) | (None, Some(4)) => {}
            (Some(_), _) => {
                let version = document.format_version.as_deref().unwrap_or("");
                return Err(refuse(format!(
                    "its format version {version} is not supported; 0 and 1 are"
                )));
            }
            (None, Some(version)) => {
                return Err(refuse(format!(
                    "it is a state of version {version}, and only version 4 is read; `terraform show -json` prints it in a form that is"
                )));
            }
            (None, None) => return Err(refuse("it does not tell the version of its format".to_owned())),
        }
        let changes = document.resource_changes.as_ref().map_or(0, Vec::len);
        let stored = document
            .resources
            .iter()
            .flatten()
            .map(|resource| resource.instances.len());
        if changes.max(stored.sum()) > MAX_RESOURCES {
            return Err(Refusal {
                limit: true,
                ..refuse("it holds more than a million resources".to_owned())
            });
        }
        Ok(document)
    }

    fn refusal(self, body: &str, error: &serde_json::Error) -> Refusal {
        let lines = body.split_inclusive('\n');
        let before: usize = lines.take(error.line().saturating_sub(1)).map(str::len).sum();
        let at = (self.whole.len() - body.len() + before + error.column().saturating_sub(1)).min(self.whole.len());
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or("it is not JSON");
        let limit = message == "recursion limit exceeded";
        Refusal {
            span: Span::new(self.file, at..at + 1),
            message: if limit {
                "modules call each other more than 60 levels deep".to_owned()
            } else {
                message.to_owned()
            },
            limit,
        }
    }

    /// Returns the offset of a part that was not parsed.
    fn offset(self, raw: &RawValue) -> usize {
        (raw.get().as_ptr() as usize).saturating_sub(self.whole.as_ptr() as usize)
    }

    fn span(self, raw: &RawValue) -> Span {
        let start = self.offset(raw);
        Span::new(self.file, start..start + raw.get().len())
    }

    /// Parses a part.
    fn node(self, raw: &RawValue) -> Option<Node> {
        json::parse_part(raw.get(), self.file, self.offset(raw)).documents.pop()
    }
}
