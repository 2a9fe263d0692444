//! Implements `--fix`: applies the fixes of findings to the texts, checks the result, and keeps the fixes that improve
//! it.
//!
//! No file is written until all texts are final. A fix is dropped if it breaks a file, does not resolve its finding, or
//! causes another one. If that other finding has a fix, both fixes form one fix with two parts: both are applied and
//! reported, or neither is.

mod apply;
mod whole;

use crate::diagnostic::{Diagnostic, Fix, Safety, Severity, Subject};
use crate::graph::Graph;
use crate::pipeline::{Options, Outcome, RunContext, check_here, on_own_threads};
pub(crate) use apply::ReservedRanges;
use apply::Texts;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Sources;
use source::files::write::{Change, replace_all};
use source::files::{named, real};
use std::path::PathBuf;

/// Maximum number of rounds of applying fixes and checking the result.
const ROUNDS: usize = 64;

/// Maximum number of times that fixes for newly caused findings are added to a fix.
const PARTS: usize = 8;

/// Result of fixing.
#[derive(Debug)]
pub struct Fixed {
    /// Outcome of checking the fixed texts.
    pub outcome: Outcome,
    /// Number of fixed findings, not counting those that only other fixes caused.
    pub findings: usize,
    /// Applied fixes, in order.
    pub made: Vec<MadeFix>,
    /// Descriptions of fixes that were dropped because of their effects.
    pub left: Vec<String>,
    /// Descriptions of fixes that failed although they should have worked: bugs in sqslint.
    pub broken: Vec<String>,
    texts: Texts,
}

/// Applied fix as text: `main.tf:3: visibility-timeout-too-short: set …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeFix {
    /// Fix of the original finding.
    pub first: String,
    /// Fixes of findings that the first fix would cause.
    pub others: Vec<String>,
}

impl Fixed {
    /// Returns the changes as a unified diff; empty without changes.
    pub fn diff(&self) -> String {
        self.texts.diff(&self.outcome.sources)
    }

    /// Returns the number of changed files.
    pub fn files(&self) -> usize {
        self.texts.changed().count()
    }

    /// Writes all changed files, or none of them. Returns the errors that prevented it.
    pub fn write(&self) -> Vec<String> {
        let sources = &self.outcome.sources;
        let changes = self.texts.changed().map(|changed| Change {
            path: &changed.path,
            before: &changed.before,
            after: &changed.after,
        });
        match replace_all(&changes.collect::<Vec<_>>(), sources.files()) {
            Ok(()) => Vec::new(),
            Err(failure) => {
                let shown = |path: &PathBuf| sources.shown_of(path);
                let first = format!("cannot write `{}`: {}", shown(&failure.path), failure.error);
                if failure.changed.is_empty() {
                    return vec![first + "; no file was changed"];
                }
                let kept = failure.changed.iter().map(shown);
                let kept = kept.map(|path| format!("`{path}` was changed and could not be changed back"));
                std::iter::once(first).chain(kept).collect()
            }
        }
    }
}

/// Applies the fixes up to the safety `most` for the findings of a run with `options`. Writes no file.
pub fn fix(options: &Options, most: Safety) -> Fixed {
    on_own_threads(|| {
        let outcome = check_here(options);
        let mut rounds = Rounds {
            options: options.clone(),
            most,
            roots: roots(options),
            texts: Texts::default(),
            given_up: FxHashSet::default(),
            fixed: 0,
            made: Vec::new(),
            left: Vec::new(),
            broken: Vec::new(),
        };
        let outcome = rounds.run(outcome);
        Fixed {
            outcome,
            findings: rounds.fixed,
            made: rounds.made,
            left: rounds.left,
            broken: rounds.broken,
            texts: rounds.texts,
        }
    })
}

/// Returns the repository or, without one, the named paths and the working directory.
fn roots(options: &Options) -> Vec<PathBuf> {
    let context = RunContext::of(options);
    if let Some(repository) = context.repository {
        return vec![repository];
    }
    let all = options.paths.iter().filter_map(|path| named(path).ok());
    all.chain([context.working_directory]).collect()
}

/// Fingerprint and headline of a finding, which identify it while its text changes.
type Key = (String, String);

fn key(found: &Diagnostic) -> Key {
    (found.fingerprint(), found.headline.clone())
}

/// Counts the findings by key.
fn counted(outcome: &Outcome) -> FxHashMap<Key, usize> {
    let mut counts = FxHashMap::default();
    for found in &outcome.findings {
        *counts.entry(key(found)).or_insert(0) += 1;
    }
    counts
}

/// A fix to try, and its finding.
struct Candidate {
    key: Key,
    /// Resource of the finding.
    subject: Subject,
    severity: Severity,
    /// Headline of the finding.
    headline: String,
    /// Location and rule, as in `queues.tf:12: visibility-timeout-too-short`.
    at: String,
    fix: Fix,
    /// Case in which the fix must not be applied.
    caveat: Option<&'static str>,
}

impl Candidate {
    fn new(found: &Diagnostic, fix: &Fix, sources: &Sources) -> Self {
        Candidate {
            key: key(found),
            subject: found.subject.clone(),
            severity: found.severity,
            headline: found.headline.clone(),
            at: place_of(found, sources),
            fix: fix.clone(),
            caveat: found.remedy.as_ref().and_then(|remedy| remedy.caveat),
        }
    }

    fn description(&self) -> String {
        let caveat = self.caveat.map(|caveat| format!(" ({caveat})")).unwrap_or_default();
        format!("{}: {}{caveat}", self.at, self.fix.title)
    }

    /// Returns `true` if the fix replaces text of a line that exists in `before`: a value that its author chose.
    fn replaces_written(&self, before: &Outcome, after: &Outcome) -> bool {
        let mut replaced = self.fix.edits.iter().filter(|edit| !edit.span.range().is_empty());
        replaced.any(|edit| {
            let file = after.sources.file(edit.span.file);
            let line = file.line_range(file.line_index(edit.span.start as usize));
            let line = file.text().get(line).unwrap_or_default();
            let known = before.sources.find(file.path()).map(|id| before.sources.file(id));
            known.is_some_and(|known| {
                known
                    .text()
                    .lines()
                    .any(|known| known == line.trim_end_matches(['\r', '\n']))
            })
        })
    }

    /// Returns `true` if fixing `other` may have caused this finding: both concern the same resource, or this headline
    /// names the other's resource.
    fn may_be_caused_by(&self, other: &Candidate) -> bool {
        let about = |one: &Candidate| (one.subject.unit.clone(), one.subject.address.clone());
        about(self) == about(other) || self.headline.contains(&format!("`{}`", other.subject.address))
    }
}

/// Fixes that are applied together, including those for the findings that they cause.
struct AppliedFixes {
    texts: Texts,
    outcome: Outcome,
    /// Fixes for findings that earlier fixes cause.
    follow_ups: Vec<Candidate>,
}

fn place_of(found: &Diagnostic, sources: &Sources) -> String {
    let span = found.primary().span;
    let (file, line) = (sources.file(span.file), sources.start(span).line);
    format!("{}:{line}: {}", file.shown(), found.rule)
}

/// Returns the findings that exist only after the fixes.
fn new<'o>(before: &'o Outcome, after: &'o Outcome) -> impl Iterator<Item = &'o Diagnostic> {
    let known: FxHashSet<String> = before.findings.iter().map(Diagnostic::fingerprint).collect();
    let all = after.findings.iter();
    all.filter(move |found| !known.contains(&found.fingerprint()))
}

/// Lists the fixes in `chosen`, each with the fixes in `brought` that it requires. A fix in `follow_ups` belongs to the
/// last preceding one that may have caused its finding.
fn listed(chosen: &[Candidate], follow_ups: &[Candidate]) -> Vec<MadeFix> {
    let all: Vec<&Candidate> = chosen.iter().chain(follow_ups).collect();
    // Index of the chosen fix that each part belongs to.
    let mut first: Vec<usize> = (0..chosen.len()).collect();
    for (at, part) in follow_ups.iter().enumerate() {
        let before = all.iter().take(chosen.len() + at).enumerate().rev();
        let parent = before
            .filter(|(_, one)| part.may_be_caused_by(one))
            .map(|(at, _)| at)
            .next();
        first.push(parent.and_then(|parent| first.get(parent).copied()).unwrap_or(0));
    }
    let list = |(at, one): (usize, &Candidate)| {
        let parts = follow_ups.iter().zip(first.iter().skip(chosen.len()));
        let of_this = parts.filter(|(_, first)| **first == at);
        MadeFix {
            first: one.description(),
            others: of_this.map(|(part, _)| part.description()).collect(),
        }
    };
    chosen.iter().enumerate().map(list).collect()
}

struct Rounds {
    options: Options,
    most: Safety,
    /// Directories to which edits are limited.
    roots: Vec<PathBuf>,
    texts: Texts,
    /// Fixes that failed when tried alone.
    given_up: FxHashSet<Key>,
    fixed: usize,
    made: Vec<MadeFix>,
    left: Vec<String>,
    broken: Vec<String>,
}

/// Reason for reverting fixes.
enum Failure {
    /// The findings remain, or a file is broken.
    Broken(String),
    /// The fixes cause another finding.
    Worse(String),
}

impl Rounds {
    /// Applies fixes until none remains, and returns the outcome.
    fn run(&mut self, first: Outcome) -> Outcome {
        let mut outcome = first;
        // After a failure, fewer fixes are tried together, until the failing one is isolated.
        let mut together = usize::MAX;
        for _ in 0..ROUNDS {
            let chosen: Vec<Candidate> = self.chosen(&outcome, together);
            if chosen.is_empty() {
                break;
            }
            match (self.tried(&chosen, &outcome), chosen.as_slice()) {
                (Ok(made), _) => {
                    self.fixed += chosen.len();
                    self.made.extend(listed(&chosen, &made.follow_ups));
                    self.texts = made.texts;
                    outcome = made.outcome;
                }
                (Err(failure), [one]) => {
                    self.given_up.insert(one.key.clone());
                    together = usize::MAX;
                    match failure {
                        Failure::Broken(why) => self
                            .broken
                            .push(format!("internal error: {}: {why}", one.description())),
                        Failure::Worse(why) => self.left.push(format!("{}: {why}", one.description())),
                    }
                }
                (Err(_), several) => together = several.len() / 2,
            }
        }
        let untried = self.chosen(&outcome, usize::MAX).len();
        if untried > 0 {
            let why =
                "too many other fixes would bring new findings; run again, or fix one rule at a time with `--select`";
            self.left.push(format!("{untried} more that may be fixable: {why}"));
        }
        outcome
    }

    /// Applies the chosen fixes together with those for the findings that they cause.
    fn tried(&self, chosen: &[Candidate], before: &Outcome) -> Result<AppliedFixes, Failure> {
        let (texts, outcome) = self.applied(&self.texts, chosen, before)?;
        let mut made = AppliedFixes {
            texts,
            outcome,
            follow_ups: Vec::new(),
        };
        for _ in 0..PARTS {
            let next = self.follow_ups(chosen, before, &made.outcome);
            if next.is_empty() {
                return Ok(made);
            }
            if let Some(part) = next.iter().find(|part| part.replaces_written(before, &made.outcome)) {
                let why = "which would change a value that the finding does not name";
                return Err(Failure::Worse(format!("it takes {}, {why}", part.description())));
            }
            let step = self.applied(&made.texts, &next, &made.outcome);
            let (texts, outcome) = step.map_err(|failure| match failure {
                // The part would not exist without the chosen fixes, so they are to blame.
                Failure::Broken(why) | Failure::Worse(why) => {
                    let parts: Vec<String> = next.iter().map(Candidate::description).collect();
                    Failure::Worse(format!("it takes {}, and {why}", parts.join(" and ")))
                }
            })?;
            made.follow_ups.extend(next);
            (made.texts, made.outcome) = (texts, outcome);
        }
        Err(Failure::Worse(format!("it would take more than {PARTS} others")))
    }

    /// Returns `true` if the finding `new` must be fixed as well for the fixes in `chosen` to be applied. Hidden infos
    /// need no fix, and no info does if all of `chosen` are safe fixes of warnings or errors.
    fn matters(&self, new: &Diagnostic, chosen: &[Candidate]) -> bool {
        let is_safe = |one: &Candidate| one.severity > Severity::Info && one.fix.safety == Safety::Safe;
        new.severity > Severity::Info || (new.severity >= self.options.edit_severity && !chosen.iter().all(is_safe))
    }

    /// Returns fixes of the new findings that the fixes in `chosen` cause.
    fn follow_ups(&self, chosen: &[Candidate], before: &Outcome, after: &Outcome) -> Vec<Candidate> {
        let mut taken = ReservedRanges::default();
        let new = new(before, after).filter(|found| self.matters(found, chosen));
        let fixes = new.filter_map(|found| Some((found, self.may_fix(found, &after.sources)?)));
        fixes
            .filter(|(_, fix)| taken.take(fix))
            .map(|(found, fix)| Candidate::new(found, fix, &after.sources))
            .collect()
    }

    /// Applies the chosen fixes to `texts` and checks the result.
    fn applied(&self, texts: &Texts, chosen: &[Candidate], before: &Outcome) -> Result<(Texts, Outcome), Failure> {
        let texts = texts.with(chosen.iter().map(|one| &one.fix), &before.sources);
        if let Some(why) = whole::broken_file(&texts) {
            return Err(Failure::Broken(why));
        }
        let after = check_here(&Options {
            overlays: texts.all(),
            ..self.options.clone()
        });
        match self.failure(chosen, before, &after) {
            Some(failure) => Err(failure),
            None => Ok((texts, after)),
        }
    }

    /// Returns fixes that can be applied together, at most `together`.
    fn chosen(&self, outcome: &Outcome, together: usize) -> Vec<Candidate> {
        let mut chosen: Vec<Candidate> = Vec::new();
        let mut taken = ReservedRanges::default();
        for found in &outcome.findings {
            if chosen.len() >= together {
                break;
            }
            let Some(fix) = self.may_fix(found, &outcome.sources) else {
                continue;
            };
            if taken.take(fix) {
                chosen.push(Candidate::new(found, fix, &outcome.sources));
            }
        }
        chosen
    }

    /// Returns the fix of `found` if the run accepts its safety and severity, and all edited files belong to the
    /// project.
    fn may_fix<'f>(&self, found: &'f Diagnostic, sources: &Sources) -> Option<&'f Fix> {
        let is_requested = |fix: &&Fix| fix.safety <= self.most && found.severity >= self.options.edit_severity;
        let fix = found.fix.as_deref().filter(is_requested)?;
        let is_ours = |fix: &Fix| {
            let mut files = fix.edits.iter().map(|edit| sources.file(edit.span.file));
            files.all(|file| {
                // A link may point outside the project.
                let real = real(file.path());
                real.is_ok_and(|real| self.roots.iter().any(|root| real.starts_with(root)))
            })
        };
        (is_ours(fix) && !self.given_up.contains(&key(found))).then_some(fix)
    }

    fn failure(&self, chosen: &[Candidate], before: &Outcome, after: &Outcome) -> Option<Failure> {
        let unread = whole::unread(&before.findings, &after.findings);
        if let Some(why) = unread.or_else(|| whole::vanished(&before.graph, &after.graph)) {
            return Some(Failure::Broken(why));
        }
        // Two suppressions in one file may have findings with the same words.
        let (had, has) = (counted(before), counted(after));
        let count = |all: &FxHashMap<Key, usize>, key: &Key| all.get(key).copied().unwrap_or(0);
        let is_left = |one: &Candidate| {
            let fixed = chosen.iter().filter(|other| other.key == one.key).count();
            count(&has, &one.key) + fixed > count(&had, &one.key)
        };
        if chosen.iter().any(is_left) {
            return Some(Failure::Broken("the finding is still there afterwards".to_owned()));
        }
        // Findings on a resource that a fix declares do not prevent the fix: a dead-letter queue without an alarm is
        // better than no dead-letter queue, and the finding remains.
        let there = whole::addresses(&before.graph);
        let is_there = |found: &Diagnostic| there.contains(&(&*found.subject.unit, &*found.subject.address));
        // Likewise for a queue that becomes a dead-letter queue.
        let (were, are) = (dead_letter_queues(&before.graph), dead_letter_queues(&after.graph));
        let becomes = |found: &Diagnostic| {
            let address = (&*found.subject.unit, &*found.subject.address);
            are.contains(&address) && !were.contains(&address)
        };
        let is_left = |found: &Diagnostic| found.severity < Severity::Error && (!is_there(found) || becomes(found));
        let mut new = new(before, after).filter(|found| self.matters(found, chosen));
        let worse = new.find(|found| !is_left(found) && self.may_fix(found, &after.sources).is_none())?;
        Some(Failure::Worse(format!(
            "it would bring `{}`: {}",
            worse.rule, worse.headline
        )))
    }
}

/// Returns the units and addresses of the dead-letter queues of queues.
fn dead_letter_queues(graph: &Graph) -> FxHashSet<(&str, &str)> {
    let queues = graph
        .queues()
        .iter()
        .filter(|queue| !graph.sources_of(queue).is_empty());
    queues
        .map(|queue| (&*graph.unit(queue.resource.unit).name, &*queue.resource.address))
        .collect()
}

#[cfg(test)]
mod tests;
