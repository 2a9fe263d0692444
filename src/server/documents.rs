//! Manages the texts that are open in the editor, which override the files on disk.

use super::address::path_of;
use super::position::{Encoding, Lines};
use lsp_types::{TextDocumentContentChangeEvent, TextDocumentItem, Uri};
use source::files::beyond_links;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Open text.
#[derive(Debug, Clone)]
pub(super) struct Document {
    /// URI in the editor's spelling.
    pub(super) uri: Uri,
    pub(super) version: i32,
    pub(super) text: Arc<str>,
    /// `true` if it belongs to a file, saved or not.
    pub(super) is_file: bool,
}

/// Open texts, by the path under which they are checked.
#[derive(Debug, Default)]
pub(super) struct Documents {
    pub(super) open: BTreeMap<PathBuf, Document>,
    paths: BTreeMap<String, PathBuf>,
}

impl Documents {
    /// Opens a text, and returns its path.
    pub(super) fn open(&mut self, item: TextDocumentItem) -> PathBuf {
        let file = path_of(&item.uri).map(|path| beyond_links(&path));
        let is_file = file.is_some();
        let path = file.unwrap_or_else(|| nowhere(&item.uri, &item.language_id));
        self.paths.insert(item.uri.as_str().to_owned(), path.clone());
        let document = Document {
            version: item.version,
            text: item.text.into(),
            uri: item.uri,
            is_file,
        };
        self.open.insert(path.clone(), document);
        path
    }

    /// Applies `edits` in order, and returns the path if the text is open.
    pub(super) fn edit(
        &mut self,
        uri: &Uri,
        version: i32,
        edits: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
    ) -> Option<PathBuf> {
        let path = self.paths.get(uri.as_str())?;
        let document = self.open.get_mut(path)?;
        let mut text = String::from(&*document.text);
        for edit in edits {
            match edit.range {
                None => text = edit.text,
                Some(range) => {
                    let lines = Lines::new(&text, encoding);
                    let (start, end) = (lines.offset(range.start), lines.offset(range.end));
                    text.replace_range(start.min(end)..end.max(start), &edit.text);
                }
            }
        }
        document.text = text.into();
        document.version = version;
        Some(path.clone())
    }

    /// Closes a text, and returns its path if it was open.
    pub(super) fn close(&mut self, uri: &Uri) -> Option<PathBuf> {
        let path = self.paths.remove(uri.as_str())?;
        self.open.remove(&path);
        Some(path)
    }
}

/// Name of the directory for texts without a file.
const NOWHERE: &str = "<untitled>";

/// Returns a path for a text without a file. Each has its own directory, so that it has no neighbours.
fn nowhere(uri: &Uri, language: &str) -> PathBuf {
    let name: String = uri
        .as_str()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
        .collect();
    let file = match language {
        "terraform" | "hcl" | "opentofu" | "tf" => "main.tf",
        "json" => "template.json",
        _ => "template.yaml",
    };
    let here = beyond_links(Path::new("."));
    here.join(NOWHERE).join(name).join(file)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use lsp_types::{Position, Range};
    use proptest::prelude::*;
    use std::str::FromStr;

    fn opened(text: &str) -> (Documents, Uri, PathBuf) {
        let uri = Uri::from_str("untitled:a").unwrap();
        let mut documents = Documents::default();
        let path = documents.open(TextDocumentItem::new(uri.clone(), "terraform".into(), 1, text.into()));
        (documents, uri, path)
    }

    proptest! {
        #[test]
        fn no_edit_causes_a_panic(text in ".{0,30}", edits in proptest::collection::vec(((0..9_u32, 0..9_u32), (0..9_u32, 0..99_u32), ".{0,5}"), 0..9)) {
            let (mut documents, uri, path) = opened(&text);
            for (version, (start, end, text)) in (2..).zip(edits) {
                let range = Range::new(Position::new(start.0, start.1), Position::new(end.0, end.1));
                let change = TextDocumentContentChangeEvent { range: Some(range), range_length: None, text };
                documents.edit(&uri, version, vec![change], Encoding::Utf16);
            }
            prop_assert!(documents.open.contains_key(&path));
        }
    }

    #[test]
    fn edits_are_applied_in_order() {
        let (mut documents, uri, path) = opened("a𝄞c\nd");
        let change = |from: (u32, u32), to: (u32, u32), text: &str| TextDocumentContentChangeEvent {
            range: Some(Range::new(Position::new(from.0, from.1), Position::new(to.0, to.1))),
            range_length: None,
            text: text.into(),
        };
        let edits = vec![change((0, 3), (0, 4), "X"), change((0, 3), (1, 0), "")];
        documents.edit(&uri, 2, edits, Encoding::Utf16);
        assert_eq!(&*documents.open[&path].text, "a𝄞d");
        documents.close(&uri);
        assert!(documents.edit(&uri, 3, Vec::new(), Encoding::Utf16).is_none());
    }
}
