//! `--fix`: applies the fixes of findings to the texts, judges the result, and keeps what does good.
//!
//! Nothing is written before the last text is settled: a fix that breaks a file, does not silence its rule or brings
//! another finding is left out. Where what it brings can be fixed itself, the two are one fix with two parts: both are
//! made and told, or neither is.

mod apply;
mod whole;

use crate::diagnostic::{Diagnostic, Fix, Safety, Severity, Subject};
use crate::files::write::{Change, replace_all};
use crate::files::{named, real};
use crate::pipeline::{Options, Outcome, Place, check_here, on_own_threads};
use crate::source::Sources;
pub(crate) use apply::Taken;
use apply::Texts;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::PathBuf;

/// The number of times that fixes are applied and the result is judged, at most.
const ROUNDS: usize = 64;

/// The number of times that what fixes bring is fixed with them, at most.
const PARTS: usize = 8;

/// The result of fixing.
#[derive(Debug)]
pub struct Fixed {
    /// The outcome of checking the fixed texts.
    pub outcome: Outcome,
    /// The number of findings that were fixed, without those that only other fixes would have brought.
    pub findings: usize,
    /// Fixes of several parts.
    pub chains: Vec<Chain>,
    /// Fixes that were left out because of what they do, in words.
    pub left: Vec<String>,
    /// Fixes that ought to have worked and did not: errors of sqslint's own.
    pub broken: Vec<String>,
    texts: Texts,
}

/// A fix with what it takes besides, in words: `main.tf:3: visibility-timeout-too-short: set …`. Nobody has been told of
/// the other parts before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The fix of what was found.
    pub first: String,
    /// Fixes of what it would bring.
    pub others: Vec<String>,
}

impl Fixed {
    /// The changes as a unified diff; empty if there are none.
    pub fn diff(&self) -> String {
        self.texts.diff(&self.outcome.sources)
    }

    /// The number of files that change.
    pub fn files(&self) -> usize {
        self.texts.changed().count()
    }

    /// Writes the files that change: all of them, or none. An error says what keeps them from it.
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

/// Applies what fixes there are, up to `most`, to what `options` ask for. No file is written.
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
            chains: Vec::new(),
            left: Vec::new(),
            broken: Vec::new(),
        };
        let outcome = rounds.run(outcome);
        Fixed {
            outcome,
            findings: rounds.fixed,
            chains: rounds.chains,
            left: rounds.left,
            broken: rounds.broken,
            texts: rounds.texts,
        }
    })
}

/// The repository, or without one what was named.
fn roots(options: &Options) -> Vec<PathBuf> {
    let place = Place::of(options);
    if let Some(repository) = place.repository {
        return vec![repository];
    }
    let all = options.paths.iter().filter_map(|path| named(path).ok());
    all.chain([place.working_directory]).collect()
}

/// A finding in a text that changes: what it is about, and what it says of it.
type Key = (String, String);

fn key(found: &Diagnostic) -> Key {
    (found.fingerprint(), found.headline.clone())
}

/// The number of findings with each key.
fn counted(outcome: &Outcome) -> FxHashMap<Key, usize> {
    let mut counts = FxHashMap::default();
    for found in &outcome.findings {
        *counts.entry(key(found)).or_insert(0) += 1;
    }
    counts
}

/// A fix to try, and the finding that it is for.
struct Chosen {
    key: Key,
    /// The resource that the finding is about.
    subject: Subject,
    /// What the finding says.
    headline: String,
    /// `queues.tf:12: visibility-timeout-too-short`
    at: String,
    fix: Fix,
}

impl Chosen {
    fn new(found: &Diagnostic, fix: &Fix, sources: &Sources) -> Self {
        Chosen {
            key: key(found),
            subject: found.subject.clone(),
            headline: found.headline.clone(),
            at: place_of(found, sources),
            fix: fix.clone(),
        }
    }

    fn said(&self) -> String {
        format!("{}: {}", self.at, self.fix.title)
    }

    /// Whether `other` may well bring what this is for: it is about the same resource, or this speaks of that.
    fn may_come_of(&self, other: &Chosen) -> bool {
        let about = |one: &Chosen| (one.subject.unit.clone(), one.subject.address.clone());
        about(self) == about(other) || self.headline.contains(&format!("`{}`", other.subject.address))
    }
}

/// Fixes that are made together, with those of what they bring.
struct Made {
    texts: Texts,
    outcome: Outcome,
    /// Fixes of what those before them bring.
    brought: Vec<Chosen>,
}

fn place_of(found: &Diagnostic, sources: &Sources) -> String {
    let span = found.primary().span;
    let (file, line) = (sources.file(span.file), sources.start(span).line);
    format!("{}:{line}: {}", file.shown(), found.rule)
}

/// What is found after fixes and was not before.
fn new<'o>(before: &'o Outcome, after: &'o Outcome) -> impl Iterator<Item = &'o Diagnostic> {
    let known: FxHashSet<String> = before.findings.iter().map(Diagnostic::fingerprint).collect();
    let all = after.findings.iter();
    all.filter(move |found| !known.contains(&found.fingerprint()))
}

/// The fixes of `chosen` that take others, with those: each part with the last before it that may bring it.
fn chains(chosen: &[Chosen], brought: &[Chosen]) -> Vec<Chain> {
    let all: Vec<&Chosen> = chosen.iter().chain(brought).collect();
    // By part its first, which is among the chosen.
    let mut first: Vec<usize> = (0..chosen.len()).collect();
    for (at, part) in brought.iter().enumerate() {
        let before = all.iter().take(chosen.len() + at).enumerate().rev();
        let parent = before.filter(|(_, one)| part.may_come_of(one)).map(|(at, _)| at).next();
        first.push(parent.and_then(|parent| first.get(parent).copied()).unwrap_or(0));
    }
    let chain = |(at, one): (usize, &Chosen)| {
        let parts = brought.iter().zip(first.iter().skip(chosen.len()));
        let others: Vec<String> = parts
            .filter(|(_, first)| **first == at)
            .map(|(part, _)| part.said())
            .collect();
        let first = one.said();
        (!others.is_empty()).then_some(Chain { first, others })
    };
    chosen.iter().enumerate().filter_map(chain).collect()
}

struct Rounds {
    options: Options,
    most: Safety,
    /// Only files below these are edited.
    roots: Vec<PathBuf>,
    texts: Texts,
    /// Fixes that were tried alone and failed.
    given_up: FxHashSet<Key>,
    fixed: usize,
    chains: Vec<Chain>,
    left: Vec<String>,
    broken: Vec<String>,
}

/// The reason that fixes are taken back.
enum Failure {
    /// Their findings are still there, or a file is broken.
    Broken(String),
    /// Another finding comes of them.
    Worse(String),
}

impl Rounds {
    /// The outcome once nothing is left to fix.
    fn run(&mut self, first: Outcome) -> Outcome {
        let mut outcome = first;
        // After a failure fewer are tried together, down to the one that is to blame.
        let mut together = usize::MAX;
        for _ in 0..ROUNDS {
            let chosen: Vec<Chosen> = self.chosen(&outcome, together);
            if chosen.is_empty() {
                break;
            }
            match (self.tried(&chosen, &outcome), chosen.as_slice()) {
                (Ok(made), _) => {
                    self.fixed += chosen.len();
                    self.chains.extend(chains(&chosen, &made.brought));
                    self.texts = made.texts;
                    outcome = made.outcome;
                }
                (Err(failure), [one]) => {
                    self.given_up.insert(one.key.clone());
                    together = usize::MAX;
                    match failure {
                        Failure::Broken(why) => self.broken.push(format!("internal error: {}: {why}", one.said())),
                        Failure::Worse(why) => self.left.push(format!("{}: {why}", one.said())),
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

    /// The chosen fixes, with those of what they bring.
    fn tried(&self, chosen: &[Chosen], before: &Outcome) -> Result<Made, Failure> {
        let (texts, outcome) = self.applied(&self.texts, chosen, before)?;
        let mut made = Made {
            texts,
            outcome,
            brought: Vec::new(),
        };
        for _ in 0..PARTS {
            let next = self.brought(before, &made.outcome);
            if next.is_empty() {
                return Ok(made);
            }
            let step = self.applied(&made.texts, &next, &made.outcome);
            let (texts, outcome) = step.map_err(|failure| match failure {
                // The part is not to blame: it would not be there.
                Failure::Broken(why) | Failure::Worse(why) => {
                    let parts: Vec<String> = next.iter().map(Chosen::said).collect();
                    Failure::Worse(format!("it takes {}, and {why}", parts.join(" and ")))
                }
            })?;
            made.brought.extend(next);
            (made.texts, made.outcome) = (texts, outcome);
        }
        Err(Failure::Worse(format!("it would take more than {PARTS} others")))
    }

    /// Fixes of what was not found before.
    fn brought(&self, before: &Outcome, after: &Outcome) -> Vec<Chosen> {
        let mut taken = Taken::default();
        let fixes = new(before, after).filter_map(|found| Some((found, self.may_fix(found, &after.sources)?)));
        fixes
            .filter(|(_, fix)| taken.take(fix))
            .map(|(found, fix)| Chosen::new(found, fix, &after.sources))
            .collect()
    }

    /// `texts` with the chosen fixes applied, and what they are found to say.
    fn applied(&self, texts: &Texts, chosen: &[Chosen], before: &Outcome) -> Result<(Texts, Outcome), Failure> {
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

    /// Fixes that can be applied together, at most `together`.
    fn chosen(&self, outcome: &Outcome, together: usize) -> Vec<Chosen> {
        let mut chosen: Vec<Chosen> = Vec::new();
        let mut taken = Taken::default();
        for found in &outcome.findings {
            if chosen.len() >= together {
                break;
            }
            let Some(fix) = self.may_fix(found, &outcome.sources) else {
                continue;
            };
            if taken.take(fix) {
                chosen.push(Chosen::new(found, fix, &outcome.sources));
            }
        }
        chosen
    }

    /// The fix of `found`, if it is asked for, and its files lie in the project.
    fn may_fix<'f>(&self, found: &'f Diagnostic, sources: &Sources) -> Option<&'f Fix> {
        let fix = found.fix.as_deref().filter(|fix| fix.safety <= self.most)?;
        let is_ours = |fix: &Fix| {
            let mut files = fix.edits.iter().map(|edit| sources.file(edit.span.file));
            files.all(|file| {
                // A link may lead out of the project.
                let real = real(file.path());
                real.is_ok_and(|real| self.roots.iter().any(|root| real.starts_with(root)))
            })
        };
        (is_ours(fix) && !self.given_up.contains(&key(found))).then_some(fix)
    }

    fn failure(&self, chosen: &[Chosen], before: &Outcome, after: &Outcome) -> Option<Failure> {
        let unread = whole::unread(&before.findings, &after.findings);
        if let Some(why) = unread.or_else(|| whole::vanished(&before.graph, &after.graph)) {
            return Some(Failure::Broken(why));
        }
        // Two suppressions of one file may be told of in the same words.
        let (had, has) = (counted(before), counted(after));
        let count = |all: &FxHashMap<Key, usize>, key: &Key| all.get(key).copied().unwrap_or(0);
        let is_left = |one: &Chosen| {
            let fixed = chosen.iter().filter(|other| other.key == one.key).count();
            count(&has, &one.key) + fixed > count(&had, &one.key)
        };
        if chosen.iter().any(is_left) {
            return Some(Failure::Broken("the finding is still there afterwards".to_owned()));
        }
        // What is still to be done for a resource that a fix declares is no reason to do without it: a dead-letter
        // queue that nobody watches is better than none, and the finding stays.
        let there = whole::addresses(&before.graph);
        let is_there = |found: &Diagnostic| there.contains(&(&*found.subject.unit, &*found.subject.address));
        let is_left = |found: &Diagnostic| found.severity < Severity::Error && !is_there(found);
        let mut new = new(before, after);
        let worse = new.find(|found| !is_left(found) && self.may_fix(found, &after.sources).is_none())?;
        Some(Failure::Worse(format!(
            "it would bring `{}`: {}",
            worse.rule, worse.headline
        )))
    }
}

#[cfg(test)]
mod tests;
