//! Reads the initialization options and the capabilities of an editor.

use super::position::Encoding;
use crate::config::Source;
use crate::pipeline::Options;
use crate::selection::Selection;
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;

/// Initialization options.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct InitializationOptions {
    /// Configuration for all units, instead of the nearest ones.
    configuration: Option<PathBuf>,
    /// Rules, categories or sets to select.
    select: Vec<String>,
    /// Rules, categories or sets to ignore.
    ignore: Vec<String>,
    /// Environments to check.
    environment: Vec<String>,
    /// `true` to show inlay hints with resolved values.
    inlay_hints: bool,
    /// `true` if the editor pulls diagnostics, so that none are published.
    pull_diagnostics: bool,
    /// Base URL of the rules' pages: `<base><rule>.md`.
    rule_pages: Option<String>,
}

/// Settings that server and editor agreed on.
// The flags are independent of each other, so an enum of states would not fit.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) encoding: Encoding,
    pub(super) options: Options,
    pub(super) inlay_hints: bool,
    pub(super) pull: bool,
    /// `true` if a diagnostic may refer to further locations.
    pub(super) related: bool,
    /// `true` if edits may name the version of their text.
    pub(super) versioned_edits: bool,
    /// `true` if progress may be shown.
    pub(super) progress: bool,
    /// `true` if the editor can be asked to watch files.
    pub(super) watches: bool,
    /// `true` if the editor can be asked to pull diagnostics again.
    pub(super) refreshes: bool,
    /// Base URL of the rules' pages in the editor, instead of the published one: `<base><rule>.md`.
    pub(super) rule_pages: Option<String>,
}

impl Settings {
    /// Returns the settings according to the parameters of `initialize`, and errors in the options.
    pub(super) fn new(params: &Value) -> (Settings, Vec<String>) {
        let mut wrong = Vec::new();
        let wishes = params.get("initializationOptions").filter(|options| !options.is_null());
        let wishes = wishes.map(InitializationOptions::deserialize).transpose();
        let wishes = wishes.unwrap_or_else(|error| {
            wrong.push(format!("the initialization options are not used: {error}"));
            None
        });
        let wishes = wishes.unwrap_or_default();
        let selection = Selection::new(wishes.select, wishes.ignore, false);
        let capability = |path: &str| params.pointer(&format!("/capabilities/{path}"));
        let can = |path: &str| capability(path) == Some(&Value::Bool(true));
        let encodings = capability("general/positionEncodings").map(Vec::deserialize);
        let settings = Settings {
            encoding: Encoding::among(&encodings.and_then(Result::ok).unwrap_or_default()),
            options: Options {
                selection,
                config: Source {
                    file: wishes.configuration,
                    ..Source::default()
                },
                environments: wishes.environment,
                allow_empty: true,
                ..Options::default()
            },
            inlay_hints: wishes.inlay_hints,
            pull: wishes.pull_diagnostics,
            related: can("textDocument/publishDiagnostics/relatedInformation"),
            versioned_edits: can("workspace/workspaceEdit/documentChanges"),
            progress: can("window/workDoneProgress"),
            watches: can("workspace/didChangeWatchedFiles/dynamicRegistration"),
            refreshes: can("workspace/diagnostics/refreshSupport"),
            rule_pages: wishes.rule_pages,
        };
        (settings, wrong)
    }
}
