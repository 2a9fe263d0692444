//! The trees of a run's files: whoever asks for one — a frontend, a second round of templates that depend on each other,
//! suppressions, fixes — a file is parsed once, and its tree is kept with its text until fixes are made.

use super::tree::{Node, Parsed};
use super::{json, toml, yaml};
use crate::source::{FileId, SourceFile};
use std::sync::Arc;

/// What stands in a template or what belongs to one, in YAML or JSON, whatever its name says.
pub(super) fn tree(id: FileId, file: &SourceFile) -> Arc<Parsed> {
    file.made(|text| parse(text, id))
}

/// What a tool's own file holds, which is in the language that its name says: TOML, YAML, else JSON.
pub(super) fn settings(id: FileId, file: &SourceFile) -> Arc<Parsed> {
    let ending = file.path().extension().and_then(std::ffi::OsStr::to_str);
    match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("yaml" | "yml") => tree(id, file),
        Some("toml") => file.made(|text| Strict(Arc::new(toml::parse(text, id)))).0.clone(),
        _ => file.made(|text| Strict(Arc::new(json::parse(text, id)))).0.clone(),
    }
}

/// A tree of the one language that a file may be in.
struct Strict(Arc<Parsed>);

/// As [`tree`], of a text that stands in no file of the run.
pub(super) fn parse(text: &str, id: FileId) -> Parsed {
    if !is_json(text) {
        return yaml::parse(text, id);
    }
    let parsed = json::parse(text, id);
    if parsed.errors.is_empty() {
        return parsed;
    }
    // Flow YAML begins like JSON.
    let other = yaml::parse(text, id);
    if other.errors.is_empty() { other } else { parsed }
}

/// Whether a text begins as an object or a list of JSON does.
pub(super) fn is_json(text: &str) -> bool {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    start.starts_with(['{', '['])
}

/// A tree of JSON in which every one of repeated keys stands.
pub(super) struct Repeating(Parsed);

impl Repeating {
    /// What stands in a file of Terraform's JSON, where repeated keys may each be a block.
    pub(super) fn of(id: FileId, file: &SourceFile) -> Arc<Repeating> {
        file.made(|text| Repeating(json::parse_repeating(text, id)))
    }

    /// Its only document.
    pub(super) fn root(&self) -> Option<&Node> {
        self.0.documents.first()
    }
}

impl std::ops::Deref for Repeating {
    type Target = Parsed;

    fn deref(&self) -> &Parsed {
        &self.0
    }
}
