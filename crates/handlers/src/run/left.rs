//! Records that a handler never reaches, because it leaves its loop over the records early:
//!
//! ```python
//! for record in event["Records"]:
//!     order = json.loads(record["body"])
//!     if order["kind"] != "paid":
//!         return  # the records after this one are deleted unprocessed
//!     try:
//!         ship(order)
//!     except Exception:
//!         return {"batchItemFailures": [{"itemIdentifier": record["messageId"]}]}  # and here, too
//! ```

use super::machine::Machine;
use super::scenario::Path;
use super::values::{Flow, Mask, Object, Value, bit};
use crate::facts::{Defect, Outcome};
use crate::read::syntax::TextRange;
use crate::words::FAILURES;

/// Progress of a run through the records.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Progress {
    /// Records that a loop or a function for each of them has reached.
    pub(super) reached: Mask,
    /// Records that a loop was left before.
    left: Mask,
    /// Code that left it.
    at: Option<TextRange>,
    /// `true` if a failure left it, and not a statement.
    is_raised: bool,
    /// Last `return` or `break`.
    pub(super) exit: Option<TextRange>,
    /// Records that the last chosen condition depends on.
    pub(super) decided: Mask,
    /// `true` if the code left the loop because of a record.
    is_decided: bool,
    /// `true` if a loop whose test is unknown may have gone on.
    pub(super) is_open: bool,
    /// `true` if the records were sorted, so that those after the current one may need no work.
    pub(super) is_sorted: bool,
}

impl Machine<'_> {
    /// Notes that the code gets a record, or a value of it.
    pub(super) fn reach(&mut self, mask: Mask) {
        self.run.progress.reached |= mask;
        self.run.progress.left &= !mask;
    }

    /// Notes the records that a loop does not reach which ends with `flow` after the items `done`.
    pub(super) fn leave_loop(&mut self, flow: &Flow, done: &[Value], rest: &[Value]) {
        if self.is_loading || matches!(flow, Flow::Continue(_) | Flow::Stop | Flow::Endless | Flow::Exit) {
            return;
        }
        let others = self.masks(rest) & !self.masks(done) & !self.current;
        let batch = self.known_items(self.records).len();
        let all = (0..batch).fold(0, |all, record| all | bit(record));
        let progress = &mut self.run.progress;
        let unreached = if progress.reached == 0 {
            0
        } else {
            all & !progress.reached
        };
        if others | unreached == 0 {
            return;
        }
        progress.left |= others | unreached;
        progress.is_raised = matches!(flow, Flow::Raise(_));
        progress.is_decided = progress.decided != 0;
        progress.at = match &self.run.failed {
            Some(failed) if progress.is_raised => Some(failed.call.at.clone()),
            _ => progress.exit.clone(),
        };
    }

    /// Returns the records that a response names, or `None` if they are unknown.
    pub(super) fn named_by(&self, response: &Value) -> Option<Mask> {
        let id = match response {
            Value::Null | Value::Nil | Value::Bool(_) | Value::Text(_) | Value::Number(_) | Value::List(_) => {
                return Some(0);
            }
            Value::Object(id) => *id,
            _ => return None,
        };
        let entries = self.known_entries(response)?;
        let list = match self.entry(id, FAILURES) {
            None | Some(Value::Null) if entries.iter().all(|(key, _)| key.is_some()) => return Some(0),
            Some(Value::List(list)) => list,
            _ => return None,
        };
        let Object::List { items, is_open: false } = &self.heap[list] else {
            return None;
        };
        items.iter().try_fold(0, |all, item| match item {
            Value::Object(item) => match self.entry(*item, "itemIdentifier") {
                Some(Value::MessageId(record)) => Some(all | bit(record)),
                _ => None,
            },
            _ => None,
        })
    }
}

impl Path<'_> {
    /// Returns `true` if records are deleted that the path never reached.
    fn leaves_records(&self) -> bool {
        let run = &self.run;
        let left = run.progress.left & !run.used;
        self.has_returned
            && !run.progress.is_sorted
            && !run.is_uncertain
            && self.named.is_some_and(|named| left & !named != 0)
    }

    /// Returns `true` if the handler raises an exception or reports a message although no work has failed.
    pub(super) fn rejects(&self) -> bool {
        let names_some = self.named.is_some_and(|named| named != 0);
        self.run.failed.is_none() && !self.run.is_uncertain && (!self.has_returned || names_some)
    }

    fn ends_without_failure(&self) -> bool {
        self.has_returned && self.run.failed.is_none()
    }
}

/// Returns where paths leave records unprocessed: after one that failed and is reported, or after one that they skip.
pub(super) fn left(paths: &[Path<'_>]) -> Vec<(Defect, TextRange)> {
    let site = |path: &Path<'_>| path.run.failed.map(|failed| failed.site);
    let reported = || paths.iter().filter(|path| path.outcome == Some(Outcome::Reported));
    let stops = |path: &&Path<'_>| {
        let mut same = reported().filter(|other| site(other) == site(path));
        same.all(Path::leaves_records)
    };
    let goes_on = |path: &Path<'_>| path.ends_without_failure() && path.run.progress.left == 0;
    let skips = |path: &&Path<'_>| {
        let progress = &path.run.progress;
        let is_lost = path.outcome == Some(Outcome::Deleted);
        path.leaves_records() && !progress.is_raised && (path.ends_without_failure() && progress.is_decided || is_lost)
    };
    let at = |path: &Path<'_>| path.run.progress.at.clone();
    let is_partial = paths.iter().any(goes_on);
    let skipped = paths.iter().filter(skips).min_by_key(|path| path.run.failed.is_some());
    let skipped = skipped.filter(|_| is_partial);
    // A message that the code itself rejects is named like one whose work fails.
    let names_some = |path: &&Path<'_>| path.named.is_some_and(|named| named != 0);
    let unnamed = reported().find(stops).or(skipped.filter(names_some)).and_then(at);
    let skipped = skipped.filter(|path| !names_some(path)).and_then(at);
    let unnamed = unnamed.map(|at| (Defect::UnnamedRest, at));
    unnamed
        .into_iter()
        .chain(skipped.map(|at| (Defect::SkippedRest, at)))
        .collect()
}
