//! Suppressions: comments and metadata that hide findings.
//!
//! Frontends find suppressions and what they cover (`written`), `directive` parses them, and this module applies them
//! to the findings. Faults of suppressions are findings themselves (`complaints`). This module knows no dialect and no
//! configuration; it queries them through a [`Policy`].

mod complaints;
mod day;
mod directive;
mod written;

pub use day::Day;
pub use directive::sets_an_end;
pub(crate) use written::MARKER;
pub use written::{Content, Coverage, RawSuppression, SuppressionFields, directives, may_suppress};

use crate::diagnostic::{Diagnostic, RuleId, Silencer, Suppressed};
use crate::rules::{Catalogue, Rule};
use crate::selection::{self, FormerId, current};
use directive::{Directive, Until};
use rustc_hash::FxHashMap;
use source::{FileId, Sources, Span};

/// Decisions of other modules that affect suppressions.
pub trait Policy {
    /// Returns `true` if `finding` may be suppressed at all.
    fn may_suppress(&self, finding: &Diagnostic) -> bool;
    /// Returns `true` if `rule` ran on everything that may cause findings in `file`.
    fn is_judged(&self, rule: &Rule<'_>, file: FileId) -> bool;
    /// Returns `true` if suppressions in `file` must give a reason.
    fn wants_reason(&self, file: FileId) -> bool;
    /// Returns the unit of findings about `file` itself.
    fn unit_of(&self, file: FileId) -> String;
}

/// Suppression with its effects.
struct Suppression {
    written: RawSuppression,
    directive: Result<Directive, String>,
    /// Flag for each name, `true` if it matched a finding.
    used: Vec<bool>,
    /// Flag for each name, `true` if it matched a finding that must not be suppressed.
    forbidden: Vec<bool>,
}

impl Suppression {
    fn new(written: RawSuppression) -> Self {
        let directive = match &written.content {
            Content::Text(text) => directive::parse(text),
            Content::Fields(fields) => directive::of_fields(fields),
        };
        let names = directive.as_ref().map_or(0, |directive| directive.names.len());
        Suppression {
            written,
            directive,
            used: vec![false; names],
            forbidden: vec![false; names],
        }
    }

    /// Returns what the suppression covers. It covers a file only at the start of that file.
    fn cover(&self) -> Coverage {
        match &self.directive {
            Ok(directive) if directive.whole_file && self.written.leading => Coverage::File,
            Ok(directive) if directive.whole_file => Coverage::Nothing,
            Ok(_) => self.written.covers,
            Err(_) => Coverage::Nothing,
        }
    }
}

/// Name in a suppression, as two indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct NameIndex {
    suppression: usize,
    name: usize,
}

/// Coverage of a file for one rule.
#[derive(Default)]
struct RuleCoverage {
    /// Covered spans, sorted by start, each with the furthest end up to it.
    places: Vec<(Span, NameIndex, u32)>,
    file: Vec<NameIndex>,
}

/// Suppressions of a run.
pub struct Suppressions<'r> {
    all: Vec<Suppression>,
    reach: FxHashMap<(FileId, RuleId), RuleCoverage>,
    today: Day,
    /// Rules that a suppression can name.
    rules: &'r Catalogue,
}

/// Returns the end of a span, which covers at least its start.
fn end_of(place: Span) -> u32 {
    place.end.max(place.start.saturating_add(1))
}

/// Returns the rules of `known` that `name` refers to: a single rule, or those of a category.
fn rules_of<'r>(name: &'r str, known: &'r Catalogue) -> impl Iterator<Item = Rule<'r>> {
    let name = current(name);
    let of_name = move |rule: &Rule<'_>| rule.id == name || rule.category.name() == name;
    known.rules().filter(of_name)
}

impl<'r> Suppressions<'r> {
    /// Creates the suppressions of a run on the day `today`, which may name `rules`.
    pub fn new(written: Vec<RawSuppression>, today: Day, rules: &'r Catalogue) -> Self {
        let all: Vec<Suppression> = written.into_iter().map(Suppression::new).collect();
        let mut reach: FxHashMap<(FileId, RuleId), RuleCoverage> = FxHashMap::default();
        for (suppression, one) in all.iter().enumerate() {
            let names = one.directive.as_ref().map_or(&[][..], |directive| &directive.names);
            for (name, written) in names.iter().enumerate() {
                let index = NameIndex { suppression, name };
                // Findings about unreadable files must not be suppressed.
                for rule in rules_of(&written.text, rules).filter(|rule| !rule.is_raised()) {
                    let reach = reach.entry((one.written.span.file, rule.shared_id())).or_default();
                    match one.cover() {
                        Coverage::Nothing => {}
                        Coverage::Span(place) => reach.places.push((place, index, 0)),
                        Coverage::File => reach.file.push(index),
                    }
                }
            }
        }
        #[allow(clippy::iter_over_hash_type)] // each list is sorted independently
        for reach in reach.values_mut() {
            reach.places.sort_by_key(|(place, index, _)| (place.start, *index));
            let mut furthest = 0;
            for (place, _, end) in &mut reach.places {
                furthest = furthest.max(end_of(*place));
                *end = furthest;
            }
        }
        Suppressions {
            all,
            reach,
            today,
            rules,
        }
    }

    /// Returns findings about suppressions, after all findings were judged.
    pub fn complaints(&self, sources: &Sources, policy: &dyn Policy) -> Vec<Diagnostic> {
        complaints::all(self, sources, policy)
    }

    /// Returns the former ids of rules that suppressions name.
    pub(crate) fn former_ids(&self, sources: &Sources) -> Vec<FormerId> {
        let of = |one: &Suppression| {
            let names = one.directive.as_ref().map_or(&[][..], |directive| &directive.names);
            let file = sources.file(one.written.span.file);
            let from = Some(one.written.span.start as usize);
            let ids = names
                .iter()
                .filter_map(|name| FormerId::of(file.path(), from, &name.text));
            ids.collect::<Vec<_>>()
        };
        self.all.iter().flat_map(of).collect()
    }

    /// Returns the names that cover a label of `finding` or a call that contains it, in the order of the files.
    fn covering(&self, finding: &Diagnostic) -> Vec<NameIndex> {
        let mut found = Vec::new();
        let places = finding.labels().iter().map(|label| (label.span, true));
        let calls = finding.through.iter().map(|header| (*header, false));
        for (span, is_label) in places.chain(calls) {
            let Some(reach) = self.reach.get(&(span.file, finding.rule.clone())) else {
                continue;
            };
            if is_label {
                found.extend(&reach.file);
            }
            let begun = reach.places.partition_point(|(place, ..)| place.start <= span.start);
            let begun = reach.places.get(..begun).unwrap_or_default();
            // Search backwards, until no span reaches this position.
            let near = begun.iter().rev().take_while(|(.., furthest)| span.start < *furthest);
            let covers = near.filter(|(place, ..)| span.start < end_of(*place));
            found.extend(covers.map(|(_, named, _)| *named));
        }
        found.sort();
        found.dedup();
        found
    }

    /// Returns the finding as suppressed if a suppression covers it, and as an error otherwise.
    #[allow(clippy::result_large_err)] // the error is the other outcome, not a failure
    pub fn judge(&mut self, finding: Diagnostic, policy: &dyn Policy) -> Result<Suppressed, Diagnostic> {
        let covering = self.covering(&finding);
        if covering.is_empty() {
            return Err(finding);
        }
        if !policy.may_suppress(&finding) {
            let mut finding = finding;
            for named in covering {
                if let Some(one) = self.all.get_mut(named.suppression) {
                    one.forbidden[named.name] = true;
                    finding = finding.label(
                        one.written.span,
                        "the configuration does not allow this rule to be suppressed here",
                    );
                }
            }
            return Err(finding);
        }
        let mut by = None;
        let mut finding = finding;
        for named in covering {
            let today = self.today;
            let Some(one) = self.all.get_mut(named.suppression) else {
                continue;
            };
            let Ok(directive) = &one.directive else { continue };
            one.used[named.name] = true;
            match directive.until {
                Until::Malformed(_) => {}
                Until::Day(day) if day < today => {
                    finding = finding.label(one.written.span, format!("it was suppressed until {day}"));
                }
                Until::Day(_) | Until::Forever => {
                    by = by.or_else(|| Some((Silencer::Suppression(one.written.span), directive.reason.clone())));
                }
            }
        }
        match by {
            Some((by, reason)) => Ok(Suppressed { finding, reason, by }),
            None => Err(finding),
        }
    }
}

/// Returns `true` if `name` refers to rules of `known`.
fn is_known(name: &str, known: &Catalogue) -> bool {
    rules_of(name, known).next().is_some()
}

/// Returns the most similar name of a rule in `known` or of a category.
fn suggest<'r>(name: &str, known: &'r Catalogue) -> Option<&'r str> {
    let categories = selection::categories().map(|name: &'static str| -> &str { name });
    selection::nearest(name, known.ids().chain(categories))
}
