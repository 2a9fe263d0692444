//! Applies fixes to texts, and keeps the original texts for comparison.

use crate::diagnostic::{Edit, Fix};
use similar::{Algorithm, TextDiff};
use source::{FileId, Sources, Span};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Number of context lines around a change in a diff.
const CONTEXT: usize = 3;

/// File that changes.
#[derive(Debug, Clone)]
pub(super) struct Changed {
    pub(super) path: PathBuf,
    pub(super) before: String,
    pub(super) after: String,
}

/// Files that change, by path.
#[derive(Debug, Default, Clone)]
pub(super) struct Texts {
    files: BTreeMap<PathBuf, Changed>,
}

impl Texts {
    /// Returns the files whose text differs from the original.
    pub(super) fn changed(&self) -> impl Iterator<Item = &Changed> {
        self.files.values().filter(|changed| changed.before != changed.after)
    }

    /// Returns the texts to read in place of the files.
    pub(super) fn all(&self) -> Vec<(PathBuf, String)> {
        let all = self.files.values();
        all.map(|changed| (changed.path.clone(), changed.after.clone()))
            .collect()
    }

    /// Returns these texts with `fixes` applied, which must not overlap. `sources` contain the current texts.
    pub(super) fn with<'f>(&self, fixes: impl Iterator<Item = &'f Fix>, sources: &Sources) -> Texts {
        let mut texts = self.clone();
        let mut edits: Vec<&Edit> = fixes.flat_map(|fix| &fix.edits).collect();
        edits.sort_by_key(|edit| edit.span);
        // Edits are applied from the end, so that earlier spans remain valid.
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

    /// Returns a unified diff, in the form that `patch` and `git apply` accept at the root of the repository.
    pub(super) fn diff(&self, sources: &Sources) -> String {
        let mut text = String::new();
        for changed in self.changed() {
            let name = sources.name_of(&changed.path);
            // The other algorithms take minutes for several thousand changes.
            let mut diff = TextDiff::configure();
            let diff = diff.algorithm(Algorithm::Patience);
            let diff = diff.diff_lines(&changed.before, &changed.after);
            let mut unified = diff.unified_diff();
            unified
                .context_radius(CONTEXT)
                .header(&format!("a/{name}"), &format!("b/{name}"));
            text.push_str(&unified.to_string());
        }
        text
    }
}

/// Ranges that the fixes to be applied together change.
#[derive(Default)]
pub(crate) struct ReservedRanges {
    /// End of each range, by its start.
    ends: BTreeMap<(FileId, u32), u32>,
}

impl ReservedRanges {
    /// Reserves the ranges of `fix`, unless one of them overlaps or touches a reserved range. Returns whether it
    /// succeeded.
    pub(crate) fn take(&mut self, fix: &Fix) -> bool {
        let meets = |edit: &Edit| {
            let Span { file, start, end } = edit.span;
            let mut before = self.ends.range((file, 0)..=(file, end));
            before.next_back().is_some_and(|(_, taken)| *taken >= start)
        };
        if fix.edits.iter().any(meets) {
            return false;
        }
        for edit in &fix.edits {
            let end = self.ends.entry((edit.span.file, edit.span.start)).or_default();
            *end = edit.span.end.max(*end);
        }
        true
    }
}
