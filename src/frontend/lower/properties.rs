//! Finds properties that a resource does not have and that resemble one that it has.

use super::{Lowering, Path, View};
use crate::graph::{Attribute, Cause, Resource, State, UnitKind, UnknownProperty};
use rustc_hash::FxHashMap;

/// Words that do not distinguish one property from another.
const FILLERS: [&str; 11] = [
    "aws", "in", "lambda", "master", "message", "messages", "period", "queue", "second", "seconds", "sqs",
];
/// Maximum number of edits between a misspelled name and the property that was meant.
const MAX_EDITS: usize = 2;
/// Length from which a name may differ by [`MAX_EDITS`]; shorter names may differ by one edit.
const LONG: usize = 8;

impl<V: View> Lowering<V> {
    /// Records the properties of `resource` that are not in `known` but resemble one of them. Until
    /// [`forget_unknown`](Self::forget_unknown), the properties that were meant are unresolved instead of absent.
    ///
    /// A name that resembles none may be a new property of AWS, and is accepted.
    pub(super) fn find_unknown(&mut self, resource: &Resource, written: &V::Value, known: &'static str) {
        // Terraform checks the names before it plans.
        if matches!(
            self.graph.unit.kind,
            UnitKind::Plan | UnitKind::State | UnitKind::Snapshot
        ) {
            return;
        }
        let is_known = |name: &str| known.split(' ').any(|known| known == name);
        // Reading an attribute scans the properties, of which a resource may have thousands.
        let mut set = FxHashMap::default();
        for (name, span) in self.view.unknown(written, is_known) {
            if let Some(meant) = nearest(&name, known.split(' ')) {
                let is_set = *set.entry(meant).or_insert_with(|| {
                    let cases = self.view.attribute(written, meant).cases;
                    cases.iter().any(|case| !case.is_default())
                });
                self.misspelled.push(UnknownProperty {
                    resource: resource.clone(),
                    name,
                    span,
                    meant: (!is_set).then_some(meant),
                    default: None,
                    is_ignored: false,
                });
            }
        }
    }

    /// Moves the properties that were found to the graph.
    pub(super) fn forget_unknown(&mut self) {
        self.graph.unknown_properties.append(&mut self.misspelled);
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
        let first = path.split('.').next();
        self.misspelled.iter().find(|unknown| unknown.meant == first)
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
        .map(|word| if word == "maximum" { "max" } else { word.as_str() })
        .collect();
    if stem.is_empty() { words.concat() } else { stem }
}
