//! The order of findings, and one finding in place of those that only repeat it: in several instances of one block.

use crate::diagnostic::{Diagnostic, RuleId, Subject, Suppressed};
use crate::history::Why;
use crate::source::{FileId, SourceFile, Sources};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

/// `findings` sorted, with those of several calls as one.
pub(super) fn without_repeats(mut findings: Vec<Diagnostic>, sources: &Sources) -> Vec<Diagnostic> {
    sort(&mut findings, |found| found, sources);
    join_calls(findings)
}

/// One entry for what is one finding in several environments or calls and is silenced for one reason.
pub(super) fn with_reasons(by_reason: BTreeMap<Why, Vec<Diagnostic>>, sources: &Sources) -> Vec<Suppressed> {
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

/// Sorts what is kept from being a finding as findings are.
pub(super) fn in_order(all: &mut [Suppressed], sources: &Sources) {
    sort(all, |one| &one.finding, sources);
}

/// The files that findings are in.
type Files = FxHashMap<FileId, Arc<SourceFile>>;

fn sort<T>(all: &mut [T], found: impl Fn(&T) -> &Diagnostic, sources: &Sources) {
    let mut files = Files::default();
    for id in all.iter().map(|one| found(one).primary().span.file) {
        files.entry(id).or_insert_with(|| sources.file(id));
    }
    all.sort_by(|one, other| order(found(one), &files).cmp(&order(found(other), &files)));
}

/// Path, place, rule, and what it is about.
fn order<'a>(found: &'a Diagnostic, files: &'a Files) -> (Option<&'a str>, u32, &'a RuleId, &'a Subject) {
    let span = found.primary().span;
    let path = files.get(&span.file).map(|file| file.name());
    (path, span.start, &found.rule, &found.subject)
}

/// The same finding in several instances of one block (calls of its module, keys of its `for_each`) is one
/// finding that lists them. `findings` are sorted, so the same place is adjacent.
fn join_calls(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut joined: Vec<Diagnostic> = Vec::with_capacity(findings.len());
    // Thousands of instances may share a place, each with words of its own.
    let mut twins: FxHashMap<u64, usize> = FxHashMap::default();
    for found in findings {
        let next = joined.len();
        let twin = *twins.entry(FxBuildHasher.hash_one(words(&found))).or_insert(next);
        let twin = joined.get_mut(twin);
        match twin.filter(|earlier| words(earlier) == words(&found)) {
            None => joined.push(found),
            Some(earlier) => {
                if earlier.calls.is_empty() {
                    earlier.calls.push(earlier.subject.address.clone());
                }
                let calls = if found.calls.is_empty() {
                    vec![found.subject.address]
                } else {
                    found.calls
                };
                for call in calls {
                    // Sorted by address, so the same one comes again at once.
                    if earlier.calls.last() != Some(&call) {
                        earlier.calls.push(call);
                    }
                }
            }
        }
    }
    joined
}

/// What two findings share that differ in nothing but whom they are about.
fn words(found: &Diagnostic) -> impl Hash + PartialEq + '_ {
    let text = (&found.calculation, &found.when, &found.help);
    let place = (found.primary().span, &found.primary().message);
    (&found.rule, found.severity, found.subject.attribute, text, place)
}
