//! Finds properties that a resource does not have and that resemble one that it has.

use super::{Lowering, Path, View};
use crate::graph::{Attribute, Cause, Resource, State, UnitKind, UnknownProperty};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Words that do not distinguish one property from another.
const FILLERS: [&str; 11] = [
    "aws", "in", "lambda", "master", "message", "messages", "period", "queue", "second", "seconds", "sqs",
];
/// Maximum number of edits between a misspelled name and the property that was meant.
const MAX_EDITS: usize = 2;
/// Length from which a name may differ by [`MAX_EDITS`]; shorter names may differ by one edit.
const LONG: usize = 8;

/// The properties that a dialect accepts: the path of the parent, the name, and the whole path.
pub(in crate::frontend) type Known = LazyLock<Vec<(&'static str, &'static str, Path)>>;

/// Splits a list of paths, which are separated by spaces.
pub(in crate::frontend) fn known(paths: &'static str) -> Vec<(&'static str, &'static str, Path)> {
    let parted = paths.split(' ').map(|path| match path.rsplit_once('.') {
        Some((parent, name)) => (parent, name, path),
        None => ("", path, path),
    });
    parted.collect()
}

impl<V: View> Lowering<V> {
    /// Records the properties of `resource` that are not in `paths` but resemble one of them. Until
    /// [`forget_unknown`](Self::forget_unknown), the properties that were meant are unresolved instead of absent.
    ///
    /// A name that resembles none may be a new property of AWS, and is accepted.
    pub(super) fn find_unknown(&mut self, resource: &Resource, written: &V::Value, paths: &Known) {
        // Terraform checks the names before it plans.
        if matches!(
            self.graph.unit.kind,
            UnitKind::Plan | UnitKind::State | UnitKind::Snapshot
        ) {
            return;
        }
        let mut parents = vec![""];
        parents.extend(
            paths
                .iter()
                .map(|(parent, ..)| *parent)
                .filter(|parent| !parent.is_empty()),
        );
        parents.dedup();
        for parent in parents {
            let names = || paths.iter().filter(|(within, ..)| *within == parent);
            let is_known = |name: &str| names().any(|(_, known, _)| *known == name);
            let objects = match parent {
                "" => vec![written.clone()],
                _ if !self.view.has(written, parent) => Vec::new(),
                _ => {
                    let elements = self.view.elements(written, parent).into_iter();
                    elements
                        .filter(|one| one.place.is_ok())
                        .map(|one| one.written)
                        .collect()
                }
            };
            for object in objects {
                // Reading an attribute scans the properties, of which a resource may have thousands.
                let mut set = FxHashMap::default();
                for (name, span) in self.view.unknown(&object, is_known) {
                    let Some(meant) = nearest(&name, names().map(|(_, name, _)| *name)) else {
                        continue;
                    };
                    let is_set = *set.entry(meant).or_insert_with(|| {
                        let cases = self.view.attribute(&object, meant).cases;
                        cases.iter().any(|case| !case.is_default())
                    });
                    let path = names().find(|(_, name, _)| *name == meant).filter(|_| !is_set);
                    let unknown = UnknownProperty {
                        resource: resource.clone(),
                        name,
                        span,
                        meant: (!is_set).then_some(meant),
                        default: None,
                        is_ignored: false,
                    };
                    self.misspelled.push((path.map(|(.., path)| *path), unknown));
                }
            }
        }
    }

    /// Moves the properties that were found to the graph.
    pub(super) fn forget_unknown(&mut self) {
        let found = self.misspelled.drain(..).map(|(_, unknown)| unknown);
        self.graph.unknown_properties.extend(found);
    }

    /// Reads the attribute at `path`. It is unresolved if it is absent and a misspelled property was meant to set it.
    pub(super) fn attribute(&mut self, within: &V::Value, path: Path) -> Attribute<Option<V::Value>> {
        let found = self.view.attribute(within, path);
        match self.misspelling(path) {
            Some(unknown) => {
                let reason = Cause::Invalid.because(format!("`{}` is misspelled", unknown.name));
                found.map(|state| match state {
                    State::Default(_) => State::Unresolved(reason.clone().into()),
                    state => state,
                })
            }
            None => found,
        }
    }

    fn misspelling(&self, path: Path) -> Option<&UnknownProperty> {
        let is_within = |outer: &str, inner: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'));
        let is_it = |meant: &str| meant == path || is_within(meant, path) || meant.rsplit('.').next() == Some(path);
        let mut all = self.misspelled.iter();
        let found = all.find(|(meant, _)| meant.is_some_and(is_it));
        found.map(|(_, unknown)| unknown)
    }
}

/// Returns the name in `known` that `name` was probably meant to be: a name of the same words in another dialect or
/// case, or one with a few other letters.
pub(in crate::frontend) fn nearest(name: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let stem = stem(name);
    let edits = |known: &str| {
        let other = self::stem(known);
        let most = if stem.len().min(other.len()) < LONG {
            1
        } else {
            MAX_EDITS
        };
        let is_near = stem.len().abs_diff(other.len()) <= most;
        let edits = is_near.then(|| strsim::damerau_levenshtein(&stem, &other))?;
        // A single short word resembles too many others.
        (edits <= most && (edits == 0 || stem.len() > 4)).then_some(edits)
    };
    let near = known.filter_map(|known| Some((edits(known)?, known)));
    near.min().map(|(_, known)| known)
}

/// Returns the words of a name without fillers, in lower case, without anything between them.
fn stem(name: &str) -> String {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars().take(100) {
        if letter == '_' || letter == '-' || (letter.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
    }
    let kept = words.iter().filter(|word| !FILLERS.contains(&word.as_str()));
    let stem: String = kept
        .map(|word| match word.as_str() {
            "maximum" => "max",
            "minimum" => "min",
            word => word,
        })
        .collect();
    if stem.is_empty() { words.concat() } else { stem }
}
