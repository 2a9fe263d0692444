//! The syntax trees of a run's files. A frontend, a second round over templates that depend on each other, suppressions
//! and fixes all ask here, so each file is parsed once; its tree is kept with its text until fixes are made.

use super::{Node, Parsed};
use super::{json, toml, yaml};
use source::{FileId, SourceFile};
use std::sync::Arc;

/// Returns the tree of a template, or of a file that belongs to one, in YAML or JSON, whatever its extension.
pub fn tree(id: FileId, file: &SourceFile) -> Arc<Parsed> {
    file.derived(|text| parse(text, id))
}

/// Returns the tree of another tool's configuration file, in the language of its extension: TOML, YAML, else JSON.
pub fn settings(id: FileId, file: &SourceFile) -> Arc<Parsed> {
    let ending = file.path().extension().and_then(std::ffi::OsStr::to_str);
    match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("yaml" | "yml") => tree(id, file),
        Some("toml") => file.derived(|text| Strict(Arc::new(toml::parse(text, id)))).0.clone(),
        _ => file.derived(|text| Strict(Arc::new(json::parse(text, id)))).0.clone(),
    }
}

/// A tree of a file that can be in one language only.
struct Strict(Arc<Parsed>);

/// Like [`tree`], for a text that is not a file of the run.
pub fn parse(text: &str, id: FileId) -> Parsed {
    if !is_json(text) {
        return yaml::parse(text, id);
    }
    let parsed = json::parse(text, id);
    if parsed.errors.is_empty() {
        return parsed;
    }
    // YAML in flow style begins like JSON.
    let other = yaml::parse(text, id);
    if other.errors.is_empty() { other } else { parsed }
}

/// Returns `true` if a text begins like a JSON object or array.
pub fn is_json(text: &str) -> bool {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    start.starts_with(['{', '['])
}

/// A JSON tree that keeps all repeated keys.
pub struct Repeating(Parsed);

impl Repeating {
    /// Returns the tree of a file in Terraform's JSON, in which repeated keys may each be a block.
    pub fn of(id: FileId, file: &SourceFile) -> Arc<Repeating> {
        file.derived(|text| Repeating(json::parse_repeating(text, id)))
    }

    /// Returns its only document.
    pub fn root(&self) -> Option<&Node> {
        self.0.documents.first()
    }
}

impl std::ops::Deref for Repeating {
    type Target = Parsed;

    fn deref(&self) -> &Parsed {
        &self.0
    }
}
