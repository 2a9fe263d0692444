//! Plans and states as `terraform show -json` prints them, and raw state files. A file is read in one pass; only the
//! relevant resources are parsed fully, and become blocks like those of modules.
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

use super::module::Module;
use super::value::ModulePath;
use crate::limits;
use document::Document;
use reader::PlanReader;
use relevance::Relevance;
use serde_json::value::RawValue;
use source::reading::{Problem, ReadError, read_up_to};
use source::{FileId, Sources, Span};
use std::path::Path;
use std::sync::Arc;
use trees::Node;
use trees::json;

/// A plan or state that was read.
#[derive(Debug, Default)]
pub struct Plan {
    /// `true` if it is a state.
    pub is_state: bool,
    /// `true` if planning failed, so that resources may be absent.
    pub is_partial: bool,
    /// Instances of its modules, the root first; empty if it could not be read.
    pub instances: Vec<PlannedModule>,
    /// Reasons why it could not be read.
    pub problems: Vec<Problem>,
    /// The file could not be opened.
    pub errors: Vec<String>,
}

/// An instance of a module in a plan: its path, its blocks, and the spans of the calls that lead to it.
pub type PlannedModule = (Arc<ModulePath>, Arc<Module>, Vec<Span>);

/// Reads the plan or state in `file`. All resources whose type `is_relevant` are read, and others only if they refer to
/// them.
pub fn read(file: &Path, sources: &Sources, is_relevant: fn(&str) -> bool) -> Plan {
    let mut plan = Plan::default();
    let id = match read_up_to(limits::MAX_PLAN_SIZE, file, sources) {
        Ok(id) => id,
        Err(ReadError::Io(error)) => {
            plan.errors.push(error);
            return plan;
        }
        Err(ReadError::Unfit(problem)) => {
            plan.problems.push(problem);
            return plan;
        }
    };
    sources.guard(id);
    let source = sources.file(id);
    let text = Text {
        file: id,
        whole: source.text(),
    };
    match text.parse() {
        Ok(document) => {
            plan.is_state = document.planned_values.is_none();
            plan.is_partial = document.errored == Some(true);
            let relevance = Relevance { is_relevant };
            plan.instances = PlanReader::new(text, &document, file, sources, relevance).modules();
        }
        Err(problem) => plan.problems.push(problem),
    }
    plan
}

/// The text of the file, with its id for spans.
#[derive(Clone, Copy)]
struct Text<'d> {
    file: FileId,
    whole: &'d str,
}

impl<'d> Text<'d> {
    fn parse(self) -> Result<Document<'d>, Problem> {
        let at = Span::new(self.file, 0..1);
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
                let message = format!("its format version {version} is not supported; 0 and 1 are");
                return Err(Problem::invalid(at, message));
            }
            (None, Some(version)) => {
                let message = format!(
                    "it is a state of version {version}, and only version 4 is read; `terraform show -json` prints it in a form that is"
                );
                return Err(Problem::invalid(at, message));
            }
            (None, None) => return Err(Problem::invalid(at, "it does not tell the version of its format")),
        }
        let changes = document.resource_changes.as_ref().map_or(0, Vec::len);
        let stored = document
            .resources
            .iter()
            .flatten()
            .map(|resource| resource.instances.len());
        if changes.max(stored.sum()) > limits::MAX_PLAN_RESOURCES {
            return Err(Problem::limit(at, "it holds more than a million resources"));
        }
        Ok(document)
    }

    fn refusal(self, body: &str, error: &serde_json::Error) -> Problem {
        let lines = body.split_inclusive('\n');
        let before: usize = lines.take(error.line().saturating_sub(1)).map(str::len).sum();
        let at = (self.whole.len() - body.len() + before + error.column().saturating_sub(1)).min(self.whole.len());
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or("it is not JSON");
        let span = Span::new(self.file, at..at + 1);
        if message == "recursion limit exceeded" {
            return Problem::limit(span, "modules call each other more than 60 levels deep");
        }
        Problem::invalid(span, message)
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
