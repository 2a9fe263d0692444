//! Performs the transform `AWS::Include`: the content of a local file replaces `Fn::Transform` among its siblings,
//! before anything else is evaluated. If the file does not exist or is outside the project, `Fn::Transform` stays.

use super::local;
use crate::limits;
use source::reading::{Problem, ReadError, read};
use source::{Sources, Span};
use std::borrow::Cow;
use std::path::Path;
use trees::parsed;
use trees::{Entry, Node, Value};

/// Returns `root`, the document at `path`, with its includes expanded.
pub(crate) fn included<'d>(root: &'d Node, path: &Path, sources: &Sources) -> (Cow<'d, Node>, Vec<Problem>) {
    let mut reader = Expander {
        sources,
        files: 0,
        bytes: 0,
        problems: Vec::new(),
    };
    if !mentions_include(root) {
        return (Cow::Borrowed(root), reader.problems);
    }
    let root = reader.top(root.clone(), path);
    let root = reader.node(root, path, 0);
    (Cow::Owned(root), reader.problems)
}

fn mentions_include(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => &**text == "AWS::Include",
        Value::Sequence(items) => items.iter().any(mentions_include),
        Value::Mapping(entries) => entries.iter().any(|entry| mentions_include(&entry.value)),
        _ => false,
    }
}

struct Expander<'s> {
    sources: &'s Sources,
    files: usize,
    bytes: usize,
    problems: Vec<Problem>,
}

impl Expander<'_> {
    /// Adds to the template the sections of the files that its `Transform` includes.
    fn top(&mut self, mut root: Node, path: &Path) -> Node {
        let Value::Mapping(entries) = &mut root.value else {
            return root;
        };
        let transform = entries.iter_mut().find(|entry| &*entry.key == "Transform");
        let mut found = Vec::new();
        match transform.map(|entry| &mut entry.value) {
            Some(Node {
                value: Value::Sequence(transforms),
                ..
            }) => {
                transforms.retain(|transform| match self.file(transform, path, 0) {
                    Some(file) => {
                        found.push(file);
                        false
                    }
                    None => true,
                });
            }
            Some(transform) => {
                if let Some(file) = self.file(transform, path, 0) {
                    found.push(file);
                    transform.value = Value::Sequence(Vec::new());
                }
            }
            None => {}
        }
        for entry in found.into_iter().filter_map(into_entries).flatten() {
            add_section(entries, entry);
        }
        root
    }

    /// Expands the includes in `node`, a part of the file at `path`.
    fn node(&mut self, node: Node, path: &Path, depth: usize) -> Node {
        let value = match node.value {
            Value::Sequence(items) => {
                Value::Sequence(items.into_iter().map(|item| self.node(item, path, depth)).collect())
            }
            Value::Mapping(entries) => {
                let is_alone = entries.len() == 1;
                let mut all: Vec<Entry> = Vec::with_capacity(entries.len());
                for entry in entries {
                    let file = (&*entry.key == "Fn::Transform")
                        .then(|| self.file(&entry.value, path, depth))
                        .flatten();
                    match file {
                        // A file may also contain a list or a text, which then replaces the whole mapping.
                        Some(file) if is_alone && file.entries().is_none() => return file,
                        Some(file) => {
                            let new = into_entries(file).unwrap_or_default().into_iter();
                            for entry in new {
                                if !all.iter().any(|known| known.key == entry.key) {
                                    all.push(entry);
                                }
                            }
                        }
                        None => {
                            let value = self.node(entry.value, path, depth);
                            // Keys that the template writes itself take precedence.
                            all.retain(|known| known.key != entry.key);
                            all.push(Entry { value, ..entry });
                        }
                    }
                }
                Value::Mapping(all)
            }
            other => other,
        };
        Node { value, ..node }
    }

    /// Returns the content of the file that `transform` includes, or `None` for other transforms and unread files.
    fn file(&mut self, transform: &Node, from: &Path, depth: usize) -> Option<Node> {
        if transform.get("Name").and_then(Node::as_str) != Some("AWS::Include") {
            return None;
        }
        let location = transform.get("Parameters")?.get("Location")?;
        let path = local::file(location.as_str()?, from, self.sources).ok()?;
        if depth >= limits::MAX_INCLUDE_DEPTH {
            self.limit(
                location.span,
                format!("files are included more than {} deep", limits::MAX_INCLUDE_DEPTH),
            );
            return None;
        }
        self.files += 1;
        let file = match read(&path, self.sources) {
            Ok(file) if self.files <= limits::MAX_INCLUDED_FILES => self
                .sources
                .file(file)
                .text()
                .len()
                .checked_add(self.bytes)
                .map(|bytes| (file, bytes)),
            Ok(_) | Err(ReadError::Io(_) | ReadError::Unfit(_)) => None,
        };
        let Some((file, bytes)) = file.filter(|(_, bytes)| *bytes <= limits::MAX_INCLUDED_BYTES) else {
            self.limit(location.span, "too many or too large files are included".to_owned());
            return None;
        };
        self.bytes = bytes;
        let source = self.sources.file(file);
        let parsed = parsed::tree(file, &source);
        self.problems.extend(parsed.problems());
        let document = parsed.documents.first()?;
        Some(self.node(document.clone(), &path, depth + 1))
    }

    fn limit(&mut self, span: Span, message: String) {
        self.problems.push(Problem::limit(span, message));
    }
}

fn into_entries(node: Node) -> Option<Vec<Entry>> {
    match node.value {
        Value::Mapping(entries) => Some(entries),
        _ => None,
    }
}

/// Adds a section, or merges its entries into the section of that name.
fn add_section(entries: &mut Vec<Entry>, new: Entry) {
    let Some(known) = entries.iter_mut().find(|known| known.key == new.key) else {
        entries.push(new);
        return;
    };
    if let (Value::Mapping(known), Some(new)) = (&mut known.value.value, into_entries(new.value)) {
        for entry in new {
            if !known.iter().any(|other| other.key == entry.key) {
                known.push(entry);
            }
        }
    }
}
