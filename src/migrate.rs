//! Implements `sqslint config migrate`: replaces former ids of rules in configurations, suppressions and baselines.

use crate::history::Action;
use crate::pipeline::{Options, RunContext, write_baseline};
use crate::selection::FormerId;
use source::files::write::{Change, replace_all};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Maximum size of a file that contains ids, in bytes.
const MAX_SIZE: u64 = 64 << 20;

/// Replaces the former ids in everything that a check under the paths of `options` reads. Returns the changed files for
/// display, or the errors.
pub fn migrate(options: &Options) -> Result<Vec<String>, Vec<String>> {
    let (outcome, baselines) = write_baseline(options, Action::Migrate);
    if !outcome.errors.is_empty() {
        return Err(outcome.errors);
    }
    let files = RunContext::of(options).files;
    let shown = |path: &Path| outcome.sources.shown_of(path);
    let mut by_file: BTreeMap<&Path, BTreeSet<(usize, &FormerId)>> = BTreeMap::new();
    for former in &outcome.former {
        if let Some(from) = former.from {
            by_file.entry(&former.path).or_default().insert((from, former));
        }
    }
    let mut texts: Vec<(PathBuf, String, String)> = Vec::new();
    for (path, ids) in by_file {
        let read = files.read(path, MAX_SIZE).map_err(|refusal| refusal.to_string());
        let text = read.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned()));
        let before = text.map_err(|error| vec![format!("cannot read `{}`: {error}", shown(path))])?;
        let mut after = before.clone();
        // From the end, so that earlier offsets stay valid.
        for (from, former) in ids.into_iter().rev() {
            if let Some(start) = place_of(&former.written, from, &after) {
                after.replace_range(start..start + former.written.len(), former.current());
            }
        }
        texts.push((path.to_owned(), before, after));
    }
    let changes = texts.iter().map(|(path, before, after)| Change { path, before, after });
    replace_all(&changes.collect::<Vec<_>>(), &files)
        .map_err(|failure| vec![format!("cannot write `{}`: {}", shown(&failure.path), failure.error)])?;
    let baselines = baselines.into_iter().map(|written| written.file);
    Ok(texts.iter().map(|(path, ..)| shown(path)).chain(baselines).collect())
}

/// Returns the place of `id` in `text` from `from` on, where metadata may contain it in a reason as well: as a value of
/// its own, `rule: id` or `[id, other]`.
fn place_of(id: &str, from: usize, text: &str) -> Option<usize> {
    let after = text.get(from..)?;
    let is_value = |&(at, _): &(usize, &str)| {
        let (before, rest) = (after.get(..at).unwrap_or(""), after.get(at + id.len()..).unwrap_or(""));
        let before = before.trim_end_matches([' ', '"', '\'']);
        let rest = rest.trim_start_matches(['"', '\'']).trim_start_matches(' ');
        (before.is_empty() || before.ends_with([':', '=', '[', ',', '-', '\n']))
            && (rest.is_empty() || rest.starts_with([',', ']', '}', '\r', '\n', '#']))
    };
    let mut places = after.match_indices(id);
    let first = places.clone().next()?.0;
    // A comment or a configuration states the exact place.
    let is_exact = after
        .get(..first)
        .is_some_and(|before| matches!(before, "" | "\"" | "'"));
    let found = if is_exact {
        Some(first)
    } else {
        places.find(is_value).map(|(at, _)| at)
    };
    Some(from + found.unwrap_or(first))
}
