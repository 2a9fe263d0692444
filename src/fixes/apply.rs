//! Texts with fixes applied to them, beside what they were.

use crate::diagnostic::{Edit, Fix};
use crate::source::{FileId, Sources, Span};
use similar::{Algorithm, TextDiff};
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

    /// The texts to read instead of the files.
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

    /// A unified diff, as `patch` and `git apply` take it at the root of the repository.
    pub(super) fn diff(&self, sources: &Sources) -> String {
        let mut text = String::new();
        for changed in self.changed() {
            let name = sources.name_of(&changed.path);
            // The others take minutes for some thousand changes.
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

/// The places that fixes change which are to be applied together.
#[derive(Default)]
pub(crate) struct Taken {
    /// The end of each place, by its start.
    ends: BTreeMap<(FileId, u32), u32>,
}

impl Taken {
    /// Takes the places of `fix`, unless one of them meets another's: the same bytes, or bytes beside them.
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
