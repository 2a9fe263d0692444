//! The transform `AWS::Include`: what a local file holds takes the place of `Fn::Transform` among its siblings, before
//! anything else is read. A file that is not here, or lies outside of the project, leaves `Fn::Transform` in place.

use super::local;
use super::loops::Problems;
use crate::frontend::parsed;
use crate::frontend::tree::{Entry, Node, SyntaxError, Value};
use crate::frontend::{ReadError, read};
use crate::source::{Sources, Span};
use std::borrow::Cow;
use std::path::Path;

/// Files in files.
const MAX_DEPTH: usize = 8;
/// Files of one template together.
const MAX_FILES: usize = 200;
/// Bytes of all of them.
const MAX_BYTES: usize = 8 << 20;

/// `root`, the document at `path`, with what it includes.
pub(super) fn included<'d>(root: &'d Node, path: &Path, sources: &Sources, unit: &str) -> (Cow<'d, Node>, Problems) {
    let mut reader = Reader {
        sources,
        unit,
        files: 0,
        bytes: 0,
        problems: Problems::default(),
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

struct Reader<'s> {
    sources: &'s Sources,
    unit: &'s str,
    files: usize,
    bytes: usize,
    problems: Problems,
}

impl Reader<'_> {
    /// The template with the sections of the files that its `Transform` includes.
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

    /// `node`, which stands in the file at `path`, with what it includes.
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
                        // In the place of a list or a text stands what the file holds.
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
                            // What the template writes itself stays.
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

    /// What the file of the transform `transform` holds; `None` where it is another transform or the file is not read.
    fn file(&mut self, transform: &Node, from: &Path, depth: usize) -> Option<Node> {
        if transform.get("Name").and_then(Node::as_str) != Some("AWS::Include") {
            return None;
        }
        let location = transform.get("Parameters")?.get("Location")?;
        let path = local::file(location.as_str()?, from, self.sources).ok()?;
        if depth >= MAX_DEPTH {
            self.limit(location.span, format!("files are included more than {MAX_DEPTH} deep"));
            return None;
        }
        self.files += 1;
        let file = match read(&path, self.sources, self.unit) {
            Ok(file) if self.files <= MAX_FILES => self
                .sources
                .file(file)
                .text()
                .len()
                .checked_add(self.bytes)
                .map(|bytes| (file, bytes)),
            Ok(_) | Err(ReadError::Io(_) | ReadError::Unfit(_)) => None,
        };
        let Some((file, bytes)) = file.filter(|(_, bytes)| *bytes <= MAX_BYTES) else {
            self.limit(location.span, "too many or too large files are included".to_owned());
            return None;
        };
        self.bytes = bytes;
        let source = self.sources.file(file);
        let parsed = parsed::tree(file, &source);
        self.problems.refused.extend(parsed.errors.iter().cloned());
        self.problems.limits.extend(parsed.limits.iter().cloned());
        let document = parsed.documents.first()?;
        Some(self.node(document.clone(), &path, depth + 1))
    }

    fn limit(&mut self, span: Span, message: String) {
        self.problems.limits.push(SyntaxError { span, message });
    }
}

fn into_entries(node: Node) -> Option<Vec<Entry>> {
    match node.value {
        Value::Mapping(entries) => Some(entries),
        _ => None,
    }
}

/// Adds a section, or what it holds to the section of that name.
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
