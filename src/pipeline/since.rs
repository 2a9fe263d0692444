//! The findings of the tree from which a branch has come, judged as the working tree is: by the same steps, with the
//! configuration of the working tree, the same rules, and the same values, as far as they stand in files at their
//! earlier state.

use super::{Options, Place, Run, silenced};
use crate::files::{absolute, named, real};
use crate::history::{self, Known};

/// The findings at the merge base of the commit that `--since` names and `HEAD`, or why they cannot be known.
pub(super) fn before(run: &Run<'_>) -> Result<Option<Known>, Vec<String>> {
    let Some(name) = &run.options.since else {
        return Ok(None);
    };
    let known = findings_of(name, run);
    known
        .map(Some)
        .map_err(|reason| vec![format!("`--since {name}`: {reason}")])
}

fn findings_of(name: &str, run: &Run<'_>) -> Result<Known, String> {
    let root = run.place.repository.as_deref().ok_or("this is not a git repository")?;
    for path in &run.options.paths {
        if named(path).is_ok_and(|path| !path.starts_with(root)) {
            return Err(format!("`{}` lies outside of the repository", path.display()));
        }
    }
    let snapshot = history::snapshot(name, root)?;
    let place = Place {
        files: run.place.files.clone().of(snapshot.clone()),
        ..run.place.clone()
    };
    let (mut paths, mut touched) = (Vec::new(), Vec::new());
    for path in &run.options.paths {
        if place.files.named(path).is_ok() {
            paths.push(path.clone());
        } else {
            // A file that came later may belong to a unit that was there.
            touched.push(real(path).unwrap_or_else(|_| absolute(path)));
        }
    }
    let options = Options {
        paths,
        stdin: None,
        overlays: Vec::new(),
        // Files that were no units then are none of today's faults.
        allow_empty: true,
        ..run.options.clone()
    };
    let earlier = Run {
        options: &options,
        configs: run.configs,
        place: &place,
        touched,
        kept: None,
        is_abandoned: None,
    };
    // What could not be read then is no fault of today; findings that were not made are new.
    let known = silenced(&earlier).map_or_else(|_| Known::default(), |silenced| Known::of(&silenced.held));
    snapshot.incomplete().map_or(Ok(known), Err)
}
