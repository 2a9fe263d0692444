//! Maps files to the URIs by which the editor knows them.

use super::address::uri_of;
use super::documents::Document;
use lsp_types::Uri;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// URIs by which the editor knows files: that of the open text, or one below the folder in the editor's spelling.
#[derive(Debug, Default, Clone)]
pub(super) struct Names {
    open: BTreeMap<PathBuf, (Uri, i32)>,
    /// Real paths of folders, with the editor's spelling.
    folders: Vec<(PathBuf, PathBuf)>,
}

impl Names {
    pub(super) fn new(documents: &BTreeMap<PathBuf, Document>, folders: Vec<(PathBuf, PathBuf)>) -> Self {
        let open = documents.iter();
        Names {
            open: open
                .map(|(path, document)| (path.clone(), (document.uri.clone(), document.version)))
                .collect(),
            folders,
        }
    }

    /// Returns the URI of the file at the real path `path`.
    pub(super) fn uri(&self, path: &Path) -> Option<Uri> {
        if let Some((uri, _)) = self.open.get(path) {
            return Some(uri.clone());
        }
        let mut folders = self.folders.iter();
        let spelt = folders.find_map(|(real, spelt)| Some(spelt.join(path.strip_prefix(real).ok()?)));
        uri_of(spelt.as_deref().unwrap_or(path))
    }

    /// Returns the version of the open text.
    pub(super) fn version(&self, path: &Path) -> Option<i32> {
        self.open.get(path).map(|(_, version)| *version)
    }
}
