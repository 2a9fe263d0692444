//! Suppressions: what people write into their files so that a finding is none.
//!
//! Frontends say where suppressions stand and what they cover (`written`), `directive` reads what they say, and here
//! both meet the findings. What is wrong with a suppression is a finding itself (`complaints`). No dialect is known
//! here, and no configuration: a [`Policy`] answers for it.

mod complaints;
mod day;
mod directive;
mod written;

pub use day::Day;
pub use written::{Content, Cover, Fields, Written, directives, may_suppress};

use crate::diagnostic::{Diagnostic, RuleId, Silencer, Suppressed};
use crate::rules::{Catalogue, Rule};
use crate::selection;
use crate::source::{FileId, Sources, Span};
use directive::{Directive, Until};
use rustc_hash::FxHashMap;

/// What is decided elsewhere, and matters here.
pub trait Policy {
    /// Whether a suppression may silence `finding` at all.
    fn may_suppress(&self, finding: &Diagnostic) -> bool;
    /// Whether `rule` ran over all that the findings in `file` may come from.
    fn is_judged(&self, rule: &Rule<'_>, file: FileId) -> bool;
    /// Whether a suppression in `file` has to give a reason.
    fn wants_reason(&self, file: FileId) -> bool;
    /// The unit that a finding about `file` itself belongs to.
    fn unit_of(&self, file: FileId) -> String;
}

/// A suppression, and what became of it.
struct Suppression {
    written: Written,
    directive: Result<Directive, String>,
    /// By name: whether a finding met it.
    met: Vec<bool>,
    /// By name: whether a finding met it that may not be silenced.
    refused: Vec<bool>,
}

impl Suppression {
    fn new(written: Written) -> Self {
        let directive = match &written.content {
            Content::Text(text) => directive::parse(text),
            Content::Fields(fields) => directive::of_fields(fields),
        };
        let names = directive.as_ref().map_or(0, |directive| directive.names.len());
        Suppression {
            written,
            directive,
            met: vec![false; names],
            refused: vec![false; names],
        }
    }

    /// What it covers: for a file only where it leads.
    fn cover(&self) -> Cover {
        match &self.directive {
            Ok(directive) if directive.whole_file && self.written.leading => Cover::File,
            Ok(directive) if directive.whole_file => Cover::Nothing,
            Ok(_) => self.written.covers,
            Err(_) => Cover::Nothing,
        }
    }
}

/// One name of a suppression, by their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    suppression: usize,
    name: usize,
}

/// What the names of a file cover for one rule.
#[derive(Default)]
struct Reach {
    /// Ordered by where they begin, each with the furthest end up to it.
    places: Vec<(Span, Named, u32)>,
    file: Vec<Named>,
}

/// The suppressions of a run.
pub struct Suppressions<'r> {
    all: Vec<Suppression>,
    reach: FxHashMap<(FileId, RuleId), Reach>,
    today: Day,
    /// The rules that a suppression can name.
    rules: &'r Catalogue,
}

/// A place without extent counts where it is.
fn end_of(place: Span) -> u32 {
    place.end.max(place.start.saturating_add(1))
}

/// The rules of `known` that `name` stands for: one, or those of a category.
fn rules_of<'r>(name: &'r str, known: &'r Catalogue) -> impl Iterator<Item = Rule<'r>> {
    let of_name = move |rule: &Rule<'_>| rule.id == name || rule.category.name() == name;
    known.rules().filter(of_name)
}

impl<'r> Suppressions<'r> {
    /// What is written, on a day, of `rules`.
    pub fn new(written: Vec<Written>, today: Day, rules: &'r Catalogue) -> Self {
        let all: Vec<Suppression> = written.into_iter().map(Suppression::new).collect();
        let mut reach: FxHashMap<(FileId, RuleId), Reach> = FxHashMap::default();
        for (suppression, one) in all.iter().enumerate() {
            let said = one.directive.as_ref().map_or(&[][..], |directive| &directive.names);
            for (name, written) in said.iter().enumerate() {
                let named = Named { suppression, name };
                // What cannot be read may not be hushed up.
                for rule in rules_of(&written.text, rules).filter(|rule| !rule.is_raised()) {
                    let reach = reach.entry((one.written.span.file, rule.shared_id())).or_default();
                    match one.cover() {
                        Cover::Nothing => {}
                        Cover::Place(place) => reach.places.push((place, named, 0)),
                        Cover::File => reach.file.push(named),
                    }
                }
            }
        }
        #[allow(clippy::iter_over_hash_type)] // each is sorted by itself
        for reach in reach.values_mut() {
            reach.places.sort_by_key(|(place, named, _)| (place.start, *named));
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

    /// What is wrong with suppressions, once all findings are judged.
    pub fn complaints(&self, sources: &Sources, policy: &dyn Policy) -> Vec<Diagnostic> {
        complaints::all(self, sources, policy)
    }

    /// The names that cover a label of `finding`, or a call that it is inside of, in the order of the files.
    fn covering(&self, finding: &Diagnostic) -> Vec<Named> {
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
            // Backwards, until nothing reaches this far.
            let near = begun.iter().rev().take_while(|(.., furthest)| span.start < *furthest);
            let covers = near.filter(|(place, ..)| span.start < end_of(*place));
            found.extend(covers.map(|(_, named, _)| *named));
        }
        found.sort();
        found.dedup();
        found
    }

    /// The finding as it is suppressed, or as it stays.
    #[allow(clippy::result_large_err)] // no error, but the other case
    pub fn judge(&mut self, finding: Diagnostic, policy: &dyn Policy) -> Result<Suppressed, Diagnostic> {
        let covering = self.covering(&finding);
        if covering.is_empty() {
            return Err(finding);
        }
        if !policy.may_suppress(&finding) {
            let mut finding = finding;
            for named in covering {
                if let Some(one) = self.all.get_mut(named.suppression) {
                    one.refused[named.name] = true;
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
            one.met[named.name] = true;
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

/// Whether `name` stands for rules of `known`.
fn is_known(name: &str, known: &Catalogue) -> bool {
    rules_of(name, known).next().is_some()
}

/// The name of a rule in `known` or of a category nearest to `name`.
fn suggest<'r>(name: &str, known: &'r Catalogue) -> Option<&'r str> {
    let categories = selection::categories().map(|name: &'static str| -> &str { name });
    selection::nearest(name, known.ids().chain(categories))
}
