//! What an editor asks for at the start, and what it can do.

use super::position::Encoding;
use crate::config::Source;
use crate::pipeline::Options;
use crate::selection::Selection;
use lsp_types::{ClientCapabilities, InitializeParams};
use serde::Deserialize;
use std::path::PathBuf;

/// Initialization options, as an editor writes them.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Wishes {
    /// A configuration for everything, in place of the nearest one.
    configuration: Option<PathBuf>,
    /// Rules, categories, sets.
    select: Vec<String>,
    /// Likewise.
    ignore: Vec<String>,
    /// Only these environments are judged.
    environment: Vec<String>,
    /// Whether values are shown beside what refers to them.
    inlay_hints: bool,
    /// Whether the editor asks for diagnostics, and none are sent unasked.
    pull_diagnostics: bool,
    /// Where the pages of rules are: `<this><rule>.md`.
    rule_pages: Option<String>,
}

/// What server and editor agreed on.
// Facts that hold or not, each by itself, are no state machine.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) encoding: Encoding,
    pub(super) options: Options,
    pub(super) inlay_hints: bool,
    pub(super) pull: bool,
    /// Whether a diagnostic may point to further places.
    pub(super) related: bool,
    /// Whether edits may name the version of the text they are for.
    pub(super) versioned_edits: bool,
    /// Whether progress may be shown.
    pub(super) progress: bool,
    /// Whether the editor can be asked to watch files.
    pub(super) watches: bool,
    /// Whether the editor can be asked to pull diagnostics again.
    pub(super) refreshes: bool,
    /// Where the editor has the pages of rules, in place of the addresses that are published: `<this><rule>.md`.
    pub(super) rule_pages: Option<String>,
}

impl Settings {
    /// What `params` ask for, and what is wrong with that.
    pub(super) fn new(params: &InitializeParams) -> (Settings, Vec<String>) {
        let mut wrong = Vec::new();
        let wishes = params
            .initialization_options
            .clone()
            .filter(|options| !options.is_null());
        let wishes = wishes.map(serde_json::from_value::<Wishes>).transpose();
        let wishes = wishes.unwrap_or_else(|error| {
            wrong.push(format!("the initialization options are not used: {error}"));
            None
        });
        let wishes = wishes.unwrap_or_default();
        let selection = Selection::new(wishes.select, wishes.ignore, false);
        let can = Can(&params.capabilities);
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

/// What an editor can do.
struct Can<'c>(&'c ClientCapabilities);

impl Can<'_> {
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
