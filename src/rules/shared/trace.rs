//! What a rule concludes besides its findings: kept in a traced run, for `sqslint explain`.
//!
//! Ordinary runs keep none of it and build no text. It decides nothing: rules compare and say how that came out.

use crate::diagnostic::{RuleId, Subject};
use crate::graph::{Attribute, Case, Condition, Reason, Resource};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// How a rule judged a resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// What it requires holds: the comparison, as `6 × 60 s + 0 s = 360 s ≤ 400 s`.
    Holds(String),
    /// It has a finding, and rests on more than the labels of that show.
    Found,
    /// The rule called so speaks in its place.
    Yields(RuleId),
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
    pub rule: RuleId,
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
    /// The environments it holds in; none where there is only one.
    pub environments: Vec<String>,
}

/// A value that a rule read, by its places.
pub(crate) trait Read {
    /// Adds where it stands and where it comes from.
    fn places(&self, all: &mut BTreeSet<Span>);

    /// Why it is unresolved, if only some of it is known.
    fn unresolved(&self) -> Option<Gap<'_>> {
        None
    }
}

/// A value that is not wholly known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gap<'g> {
    /// Why.
    pub(crate) reason: &'g Reason,
    /// The place of the cause.
    pub(crate) cause: Span,
    /// Whose value it is.
    pub(crate) resource: &'g Resource,
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

/// The resource of a judgement.
#[derive(Debug, Clone)]
pub(super) struct About {
    /// Empty in an ordinary run.
    shown: String,
    uncertain: Option<Reason>,
}

impl About {
    pub(super) fn new(resource: &Resource, is_traced: bool) -> Self {
        About {
            shown: if is_traced { resource.shown() } else { String::new() },
            uncertain: resource.uncertain.clone(),
        }
    }

    /// The condition `when`, and whether the resource exists at all, in words.
    pub(super) fn when(&self, when: &Condition) -> Option<String> {
        match (when.describe(), &self.uncertain) {
            (when, None) => when,
            (None, Some(_)) => Some("it is created".to_owned()),
            (Some(when), Some(_)) => Some(format!("it is created and {when}")),
        }
    }
}

/// The judgements of one rule, each with its condition.
#[derive(Debug, Default, Clone)]
pub(super) struct Trace {
    all: Vec<(Judgement, Condition)>,
    /// Where in `all` the judgement is that says the same under another condition.
    said: FxHashMap<(Subject, Verdict), usize>,
    /// What the rule is about to judge.
    ahead: BTreeSet<Span>,
}

impl Trace {
    /// Keeps `verdict` of `rule` on `subject`, which rests on `read`.
    pub(super) fn keep(
        &mut self,
        rule: &RuleId,
        subject: &Subject,
        about: &About,
        when: &Condition,
        verdict: Verdict,
        mut read: BTreeSet<Span>,
    ) {
        let is_unresolved = matches!(verdict, Verdict::NotEvaluated { .. });
        if !when.is_possible() || (when.is_too_complex() && !is_unresolved) {
            return;
        }
        if is_unresolved {
            read.extend(&self.ahead);
        }
        let subject = Subject {
            attribute: "",
            ..subject.clone()
        };
        let at = *(self.said.entry((subject.clone(), verdict.clone()))).or_insert(self.all.len());
        if at == self.all.len() {
            let judgement = Judgement {
                rule: rule.clone(),
                subject,
                shown: about.shown.clone(),
                verdict,
                when: None,
                read: BTreeSet::new(),
                environments: Vec::new(),
            };
            self.all.push((judgement, Condition::never()));
        }
        if let Some((judgement, known)) = self.all.get_mut(at) {
            judgement.read.extend(read);
            *known = known.or(when);
            judgement.when = about.when(known);
        }
    }

    /// Sets what the rule is about to judge: what turns out to be unresolved keeps it from that.
    pub(super) fn about_to_judge<T>(&mut self, attribute: &Attribute<T>) {
        self.ahead.clear();
        attribute.cases.iter().for_each(|case| case.places(&mut self.ahead));
    }

    pub(super) fn into_judgements(self) -> Vec<Judgement> {
        self.all.into_iter().map(|(judgement, _)| judgement).collect()
    }
}
