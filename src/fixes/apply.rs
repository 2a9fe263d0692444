//! Texts with fixes applied to them, beside what they were.

use crate::diagnostic::{Edit, Fix};
use crate::source::Sources;
use similar::TextDiff;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Lines around a change in a diff.
const CONTEXT: usize = 3;

/// A file that changes.
#[derive(Debug, Clone)]
pub(super) struct Changed {
    pub(super) path: PathBuf,
    pub(super) before: String,
    pub(super) after: String,
}

/// Every file that changes, by path.
#[derive(Debug, Default, Clone)]
pub(super) struct Texts {
    files: BTreeMap<PathBuf, Changed>,
}

impl Texts {
    /// Those files whose text is another now.
    pub(super) fn changed(&self) -> impl Iterator<Item = &Changed> {
        self.files.values().filter(|changed| changed.before != changed.after)
    }

    /// What to read in place of the files.
    pub(super) fn all(&self) -> Vec<(PathBuf, String)> {
        let all = self.files.values();
        all.map(|changed| (changed.path.clone(), changed.after.clone()))
            .collect()
    }

    /// These texts with `fixes` applied, no two of which overlap; `sources` hold what they are now.
    pub(super) fn with<'f>(&self, fixes: impl Iterator<Item = &'f Fix>, sources: &Sources) -> Texts {
        let mut texts = self.clone();
        let mut edits: Vec<&Edit> = fixes.flat_map(|fix| &fix.edits).collect();
        edits.sort_by_key(|edit| edit.span);
        // From behind, so that the places before stay what they are.
        for edit in edits.into_iter().rev() {
            let file = sources.file(edit.span.file);
            let changed = texts.files.entry(file.path().to_owned()).or_insert_with(|| Changed {
                path: file.path().to_owned(),
                before: file.text().to_owned(),
                after: file.text().to_owned(),
            });
            edit.apply(&mut changed.after);
        }
        texts
    }

    /// A unified diff, as `patch` and `git apply` take it.
    pub(super) fn diff(&self, sources: &Sources) -> String {
        let mut text = String::new();
        for changed in self.changed() {
            let name = sources.shown_of(&changed.path);
            let diff = TextDiff::from_lines(&changed.before, &changed.after);
            let mut unified = diff.unified_diff();
            unified
                .context_radius(CONTEXT)
                .header(&format!("a/{name}"), &format!("b/{name}"));
            text.push_str(&unified.to_string());
        }
        text
    }
}

/// Whether two fixes cannot be applied together: they change the same bytes, or insert at the same place.
pub(super) fn overlap(one: &Fix, other: &Fix) -> bool {
    let meets = |a: &Edit, b: &Edit| {
        let (a, b) = (a.span, b.span);
        a.file == b.file
            && (a.start < b.end && b.start < a.end || a.start == b.start || a.end == b.start || b.end == a.start)
    };
    one.edits
        .iter()
        .any(|edit| other.edits.iter().any(|that| meets(edit, that)))
}
