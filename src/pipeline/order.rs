//! Sorts findings, and joins those that repeat a finding for several instances of one block.

use crate::diagnostic::{Diagnostic, Instance, RuleId, Subject, Suppressed};
use crate::history::KnownBecause;
use rustc_hash::{FxBuildHasher, FxHashMap};
use source::{FileId, SourceFile, Sources};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

/// Sorts `findings`, and joins those of several calls.
pub(super) fn without_repeats(mut findings: Vec<Diagnostic>, sources: &Sources) -> Vec<Diagnostic> {
    sort(&mut findings, |found| found, sources);
    join_calls(findings)
}

/// Joins suppressed findings that occur in several environments or calls and have the same reason.
pub(super) fn with_reasons(by_reason: BTreeMap<KnownBecause, Vec<Diagnostic>>, sources: &Sources) -> Vec<Suppressed> {
    let mut all = Vec::new();
    for ((by, reason), findings) in by_reason {
        all.extend(
            without_repeats(findings, sources)
                .into_iter()
                .map(|finding| Suppressed {
                    finding,
                    reason: reason.clone(),
                    by: by.clone(),
                }),
        );
    }
    in_order(&mut all, sources);
    all
}

/// Sorts suppressed findings in the order of findings.
pub(super) fn in_order(all: &mut [Suppressed], sources: &Sources) {
    sort(all, |one| &one.finding, sources);
}

/// Sorts findings by the position of their primary labels.
pub(super) fn by_position(findings: &mut [Diagnostic], sources: &Sources) {
    sort(findings, |found| found, sources);
}

/// Files that contain findings.
type Files = FxHashMap<FileId, Arc<SourceFile>>;

fn sort<T>(all: &mut [T], found: impl Fn(&T) -> &Diagnostic, sources: &Sources) {
    let mut files = Files::default();
    for id in all.iter().map(|one| found(one).primary().span.file) {
        files.entry(id).or_insert_with(|| sources.file(id));
    }
    all.sort_by(|one, other| order(found(one), &files).cmp(&order(found(other), &files)));
}

/// Returns the sort key: path, position, rule, subject.
fn order<'a>(found: &'a Diagnostic, files: &'a Files) -> (Option<&'a str>, u32, &'a RuleId, &'a Subject) {
    let span = found.primary().span;
    let path = files.get(&span.file).map(|file| file.name());
    (path, span.start, &found.rule, &found.subject)
}

/// Joins equal findings on several instances of one block (calls of its module, keys of its `for_each`) into one
/// finding that lists them. `findings` are sorted, so findings at the same position are adjacent.
fn join_calls(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut joined: Vec<Diagnostic> = Vec::with_capacity(findings.len());
    // A map, because thousands of instances may share a position, each with its own wording.
    let mut twins: FxHashMap<u64, usize> = FxHashMap::default();
    for found in findings {
        let next = joined.len();
        let twin = *twins.entry(FxBuildHasher.hash_one(words(&found))).or_insert(next);
        let twin = joined.get_mut(twin);
        match twin.filter(|earlier| words(earlier) == words(&found) && !differ_in_keys(earlier, &found)) {
            None => joined.push(found),
            Some(earlier) => {
                if earlier.calls.is_empty() {
                    earlier.calls.push(itself(&earlier.subject));
                }
                let calls = if found.calls.is_empty() {
                    vec![itself(&found.subject)]
                } else {
                    found.calls
                };
                for call in calls {
                    // Findings are sorted by unit and address, so repetitions are adjacent.
                    if earlier.calls.last() != Some(&call) {
                        earlier.calls.push(call);
                    }
                }
            }
        }
    }
    joined
}

/// Returns the resource of a finding as the only instance of its block.
fn itself(subject: &Subject) -> Instance {
    Instance {
        unit: subject.unit.clone(),
        root: subject.unit.clone(),
        address: subject.address.clone(),
    }
}

/// Returns the parts that findings share if they differ only in their resource. Values that are written in different
/// calls need different edits.
fn words(found: &Diagnostic) -> impl Hash + PartialEq + '_ {
    let help = found.help.as_deref().map(without_keys);
    let text = (&found.calculation, &found.when, help);
    let place = (
        found.primary().span,
        without_keys(&found.primary().message),
        found.written,
    );
    (&found.rule, found.severity, found.subject.attribute, text, place)
}

/// Returns `true` if two findings on one resource are about different instances of another.
fn differ_in_keys(one: &Diagnostic, other: &Diagnostic) -> bool {
    one.subject == other.subject && (&one.help, &one.primary().message) != (&other.help, &other.primary().message)
}

/// Returns `text` without the keys of instances: `queues["orders"]` and `queues[0]` become `queues`.
fn without_keys(text: &str) -> Cow<'_, str> {
    let mut parts = text.split('[');
    let mut kept = Cow::Borrowed(parts.next().unwrap_or_default());
    for part in parts {
        let key = part.strip_prefix('"').and_then(|rest| rest.split_once("\"]"));
        let key = key.or_else(|| {
            part.split_once(']')
                .filter(|(key, _)| key.bytes().all(|b| b.is_ascii_digit()))
        });
        if let Some((_, rest)) = key {
            kept += rest;
        } else {
            kept += "[";
            kept += part;
        }
    }
    kept
}
