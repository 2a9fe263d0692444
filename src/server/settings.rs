//! Reads the initialization options and the capabilities of an editor.

use super::position::Encoding;
use crate::config::Source;
use crate::pipeline::Options;
use crate::selection::Selection;
use lsp_types::{ClientCapabilities, InitializeParams};
use serde::Deserialize;
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
    /// Returns the settings according to `params`, and errors in the options.
    pub(super) fn new(params: &InitializeParams) -> (Settings, Vec<String>) {
        let mut wrong = Vec::new();
        let wishes = params
            .initialization_options
            .clone()
            .filter(|options| !options.is_null());
        let wishes = wishes.map(serde_json::from_value::<InitializationOptions>).transpose();
        let wishes = wishes.unwrap_or_else(|error| {
            wrong.push(format!("the initialization options are not used: {error}"));
            None
        });
        let wishes = wishes.unwrap_or_default();
        let selection = Selection::new(wishes.select, wishes.ignore, false);
        let can = Capabilities(&params.capabilities);
        let settings = Settings {
            encoding: can.encoding(),
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
            related: can.relates(),
            versioned_edits: can.takes_versions(),
            progress: can.shows_progress(),
            watches: can.watches(),
            refreshes: can.refreshes(),
            rule_pages: wishes.rule_pages,
        };
        (settings, wrong)
    }
}

/// Capabilities of an editor.
struct Capabilities<'c>(&'c ClientCapabilities);

impl Capabilities<'_> {
    fn encoding(&self) -> Encoding {
        let general = self.0.general.as_ref();
        let offered = general.and_then(|general| general.position_encodings.as_deref());
        Encoding::among(offered.unwrap_or_default())
    }

    fn relates(&self) -> bool {
        let document = self.0.text_document.as_ref();
        let publish = document.and_then(|document| document.publish_diagnostics.as_ref());
        publish.and_then(|publish| publish.related_information) == Some(true)
    }

    fn takes_versions(&self) -> bool {
        let workspace = self.0.workspace.as_ref();
        let edit = workspace.and_then(|workspace| workspace.workspace_edit.as_ref());
        edit.and_then(|edit| edit.document_changes) == Some(true)
    }

    fn shows_progress(&self) -> bool {
        let window = self.0.window.as_ref();
        window.and_then(|window| window.work_done_progress) == Some(true)
    }

    fn watches(&self) -> bool {
        let workspace = self.0.workspace.as_ref();
        let watch = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        watch.and_then(|watch| watch.dynamic_registration) == Some(true)
    }

    fn refreshes(&self) -> bool {
        let workspace = self.0.workspace.as_ref();
        let diagnostic = workspace.and_then(|workspace| workspace.diagnostic.as_ref());
        diagnostic.and_then(|diagnostic| diagnostic.refresh_support) == Some(true)
    }
}
