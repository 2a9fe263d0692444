//! Finds templates that are fragments, which a build step merges with other files.
//!
//! ```text
//! queues.yaml      Resources: {Orders: …, Policy: … !Ref Key}     a fragment: `Key` is declared next to it
//! keys.yaml        Resources: {Key: …}                            a template
//! typo.yaml        Resources: {Orders: … !GetAtt Dlqq.Arn}        a template with a dangling reference
//! ```
//!
//! A template that uses an undeclared name is a fragment if another template nearby declares the name, if fragments are
//! merged into a template in its directory or above, or if a service of the Serverless Framework there may include it.

use super::document::is_frame;
use super::project::{Document, Read};
use super::surroundings::UsedName;
use crate::limits;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Sources;
use source::files::EntryKind;
use source::reading::read_up_to;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use trees::parsed;
use trees::{Node, Parsed};

/// Extensions of the file that declares a service (`serverless.yml`).
const SERVICES: [&str; 5] = ["yml", "yaml", "json", "ts", "js"];

/// Names that a template declares, and its kind.
#[derive(Default)]
struct Declarations {
    names: FxHashSet<UsedName>,
    is_frame: bool,
    /// `true` if it has a version or a transform, which fragments rarely have.
    has_header: bool,
}

impl Declarations {
    fn of(document: &Node) -> Self {
        let section = |name: &str| document.get(name).and_then(Node::entries).unwrap_or_default();
        let values = section("Resources").iter().chain(section("Parameters"));
        let values = values.map(|entry| UsedName::Value(entry.key.clone()));
        let conditions = section("Conditions").iter();
        let conditions = conditions.map(|entry| UsedName::Condition(entry.key.clone()));
        let header = ["AWSTemplateFormatVersion", "Transform"];
        Declarations {
            names: values.chain(conditions).collect(),
            is_frame: is_frame(document),
            has_header: header.iter().any(|key| document.get(key).is_some()),
        }
    }
}

/// Templates of a run, and the files around them.
struct Neighbours<'r> {
    sources: &'r Sources,
    run: FxHashMap<&'r Path, Declarations>,
    declaring: FxHashMap<UsedName, Vec<&'r Path>>,
    /// Files that are not part of the run, by the directory in which their search began.
    others: RefCell<FxHashMap<PathBuf, Rc<Vec<(PathBuf, Arc<Declarations>)>>>>,
}

/// Returns the fragments among `reads`, and the templates into which fragments are merged.
pub(crate) fn incomplete<T>(reads: &[Read<'_, T>], sources: &Sources) -> BTreeSet<PathBuf> {
    let templates = || {
        reads
            .iter()
            .filter(|(_, document, _)| matches!(document, Document::Template))
    };
    let mut all: BTreeSet<PathBuf> = templates()
        .filter(|(.., read)| read.is_frame)
        .map(|(path, ..)| path.to_path_buf())
        .collect();
    let open: Vec<_> = templates().filter(|(.., read)| !read.undeclared.is_empty()).collect();
    if open.is_empty() {
        return all;
    }
    let run = templates().filter_map(|(path, ..)| Some((*path, declarations(path, sources)?)));
    let mut neighbours = Neighbours {
        sources,
        run: run.collect(),
        declaring: FxHashMap::default(),
        others: RefCell::default(),
    };
    for (path, ..) in templates() {
        for name in neighbours.run.get(path).iter().flat_map(|known| &known.names) {
            neighbours.declaring.entry(name.clone()).or_default().push(path);
        }
    }
    let fragments = open
        .into_iter()
        .filter(|(path, _, read)| neighbours.complete(path, &read.undeclared));
    all.extend(fragments.map(|(path, ..)| path.to_path_buf()));
    all
}

fn declarations(path: &Path, sources: &Sources) -> Option<Declarations> {
    let file = read_up_to(limits::MAX_TEMPLATE_SIZE, path, sources).ok()?;
    let parsed: Arc<Parsed> = parsed::tree(file, &sources.file(file));
    parsed.documents.first().map(Declarations::of)
}

impl Neighbours<'_> {
    /// Returns `true` if another file may declare one of the `undeclared` names of the template at `path`.
    fn complete(&self, path: &Path, undeclared: &BTreeSet<UsedName>) -> bool {
        let Some(directory) = path.parent() else { return false };
        let has_header = self.run.get(path).is_some_and(|own| own.has_header);
        // A file with a header is rarely a fragment, so only declarations in its own directory and below count.
        let around = if has_header {
            directory
        } else {
            directory.parent().unwrap_or(directory)
        };
        let declare = |other: &Path| other != path && other.starts_with(around);
        let in_run = undeclared.iter().filter_map(|name| self.declaring.get(name)).flatten();
        let frames = self.run.iter().filter(|(_, known)| known.is_frame);
        let contains = |frame: &Path| frame != path && frame.parent().is_some_and(|above| path.starts_with(above));
        in_run.into_iter().any(|other| declare(other))
            || frames.into_iter().any(|(frame, _)| contains(frame))
            || (!has_header && self.is_of_service(directory))
            || self.others_around(directory).iter().any(|(other, known)| {
                (known.is_frame && contains(other))
                    || (declare(other) && undeclared.iter().any(|name| known.names.contains(name)))
            })
    }

    /// Returns `true` if `directory` or one above it, within the project, has the file of a service.
    fn is_of_service(&self, directory: &Path) -> bool {
        let files = self.sources.files();
        let mut above = directory.ancestors().take_while(|above| files.contains(above));
        above.any(|above| {
            SERVICES
                .iter()
                .any(|end| files.is_file(&above.join("serverless").with_extension(end)))
        })
    }

    /// Returns the templates around `directory` that are not part of the run, since a hook passes only changed files.
    fn others_around(&self, directory: &Path) -> Rc<Vec<(PathBuf, Arc<Declarations>)>> {
        let files = self.sources.files();
        let start = directory
            .parent()
            .filter(|parent| files.contains(parent))
            .unwrap_or(directory);
        if let Some(known) = self.others.borrow().get(start) {
            return known.clone();
        }
        let mut found = Vec::new();
        let mut directories = vec![(start.to_owned(), 0)];
        let mut at = 0;
        while let Some((next, depth)) = directories.get(at).cloned() {
            at += 1;
            let mut listed = files.list(&next).unwrap_or_default();
            listed.sort_by(|one, other| one.name.cmp(&other.name));
            for one in listed {
                let path = next.join(&one.name);
                let name = one.name.to_string_lossy();
                match one.kind {
                    EntryKind::Directory
                        if depth < limits::MAX_NEIGHBOUR_DEPTH && !name.starts_with('.') && name != "node_modules" =>
                    {
                        directories.push((path, depth + 1));
                    }
                    EntryKind::File(_) if is_document(&name) && !self.run.contains_key(&*path) => found.push(path),
                    _ => {}
                }
            }
            if found.len() > limits::MAX_NEIGHBOURS {
                break;
            }
        }
        let found = found.into_iter().take(limits::MAX_NEIGHBOURS);
        let found = found.map(|path| {
            // Templates have neighbours in common, and an edit of one changes none of them.
            let known = self.sources.shared(&path, |sources| {
                let aside = sources.separate();
                let is_read = sources.find_read(&path).is_some();
                declarations(&path, if is_read { sources } else { &aside }).unwrap_or_default()
            });
            (path, known)
        });
        let found = Rc::new(found.collect::<Vec<_>>());
        self.others.borrow_mut().insert(start.to_owned(), found.clone());
        found
    }
}

fn is_document(name: &str) -> bool {
    [".yaml", ".yml", ".json", ".template"]
        .iter()
        .any(|end| name.ends_with(end))
}
