//! What a rule concludes besides its findings: kept in a traced run, for `sqslint explain`.
//!
//! Ordinary runs keep none of it and build no text. It decides nothing: rules compare and say how that came out.

use super::findings::{Findings, Known, when};
use crate::diagnostic::Subject;
use crate::graph::{Attribute, Case, Condition, Resource};
use crate::rules::Rule;
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// How a rule judged a resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// What it compared is as it wants it: the comparison, as `6 × 60 s + 0 s = 360 s ≤ 400 s`.
    Holds(String),
    /// It has a finding, and rests on more than the labels of that show.
    Found,
    /// The rule called so speaks in its place.
    Yields(&'static str),
    /// It has a finding that the configuration ignores there.
    Ignored {
        /// The finding.
        headline: String,
        /// Why, where the configuration says so.
        reason: Option<String>,
    },
    /// It could not tell, and why.
    NotEvaluated {
        /// As a clause: "`var.x` has no value".
        reason: String,
        /// The cause's place.
        span: Span,
    },
    /// It read a value and had nothing to compare it with.
    NotConcerned,
}

/// A verdict, and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Id of the rule.
    pub rule: &'static str,
    /// The resource.
    pub subject: Subject,
    /// How to call it in a sentence.
    pub shown: String,
    /// How it came out.
    pub verdict: Verdict,
    /// The condition under which it did, where there is one.
    pub when: Option<String>,
    /// Where the values stand that the rule read, and where they come from.
    pub read: BTreeSet<Span>,
    /// The environments it holds in; none where there is only one world.
    pub environments: Vec<String>,
}

/// A value that a rule read, by its places.
pub trait Read {
    /// Adds where it stands and where it comes from.
    fn places(&self, all: &mut BTreeSet<Span>);
}

impl Read for Span {
    fn places(&self, all: &mut BTreeSet<Span>) {
        all.insert(*self);
    }
}

impl<T> Read for Case<T> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        all.insert(self.span);
        all.extend(self.origins.iter().map(|origin| origin.span));
    }
}

impl<T> Read for Attribute<T> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        self.cases.iter().for_each(|case| case.places(all));
    }
}

impl<T> Read for Known<'_, T> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        self.case.places(all);
    }
}

/// The judgements of one rule, each with its worlds.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    all: Vec<(Judgement, Condition)>,
    /// Where in `all` the judgement is that says the same elsewhere.
    said: FxHashMap<(Subject, Verdict), usize>,
    /// What the rule is about to judge.
    ahead: BTreeSet<Span>,
}

impl Trace {
    fn keep(&mut self, judgement: Judgement, world: &Condition, resource: &Resource) {
        let key = (judgement.subject.clone(), judgement.verdict.clone());
        let at = *self.said.entry(key).or_insert(self.all.len());
        if at == self.all.len() {
            self.all.push((judgement.clone(), Condition::never()));
        }
        if let Some((known, worlds)) = self.all.get_mut(at) {
            known.read.extend(judgement.read);
            *worlds = worlds.or(world);
            known.when = when(worlds, resource);
        }
    }

    pub(crate) fn into_judgements(self) -> Vec<Judgement> {
        self.all.into_iter().map(|(judgement, _)| judgement).collect()
    }
}

impl Findings<'_> {
    /// Says that what the rule compares is as it wants it in `world`: `read` are the values, `comparison` tells how
    /// they compare, the smaller one first.
    pub fn holds(
        &mut self,
        world: &Condition,
        resource: &Resource,
        read: &[&dyn Read],
        comparison: impl FnOnce() -> String,
    ) {
        if self.trace.is_some() {
            self.judged(world, resource, read, Verdict::Holds(comparison()));
        }
    }

    /// Says that the finding of `resource` in `world` rests on `read`, whatever its labels show.
    pub fn found(&mut self, world: &Condition, resource: &Resource, read: &[&dyn Read]) {
        self.judged(world, resource, read, Verdict::Found);
    }

    /// Says that in `world` it is for the rule `other` to speak.
    pub fn yields(&mut self, world: &Condition, resource: &Resource, read: &[&dyn Read], other: &'static Rule) {
        // A rule may share the operands of the one that judges them.
        if other.id != self.rule.id {
            self.judged(world, resource, read, Verdict::Yields(other.id));
        }
    }

    /// Says that it is `attribute` that the rule is about to judge: what turns out to be unresolved keeps it from that.
    pub fn about_to_judge<T>(&mut self, attribute: &Attribute<T>) {
        if let Some(trace) = &mut self.trace {
            trace.ahead.clear();
            attribute.places(&mut trace.ahead);
        }
    }

    /// Keeps a verdict, in a traced run.
    pub(crate) fn judged(&mut self, world: &Condition, resource: &Resource, read: &[&dyn Read], verdict: Verdict) {
        let is_open = matches!(verdict, Verdict::NotEvaluated { .. });
        if self.trace.is_none() || !world.is_possible() || (world.is_too_complex() && !is_open) {
            return;
        }
        let mut places = BTreeSet::new();
        for value in read {
            value.places(&mut places);
        }
        let mut judgement = Judgement {
            rule: self.rule.id,
            subject: self.subject(resource, ""),
            shown: resource.shown(),
            verdict,
            when: None,
            read: places,
            environments: Vec::new(),
        };
        let Some(trace) = &mut self.trace else { return };
        if is_open {
            judgement.read.extend(&trace.ahead);
        }
        trace.keep(judgement, world, resource);
    }
}
