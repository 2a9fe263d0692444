//! Records the verdicts of rules that are not findings, in a traced run, for `sqslint explain`.
//!
//! Ordinary runs record nothing and build no text. This module decides nothing: rules compare and provide the verdicts.

use crate::diagnostic::{RuleId, Subject};
use crate::graph::{Attribute, Case, Condition, Reason, Resource};
use rustc_hash::FxHashMap;
use source::Span;
use std::collections::BTreeSet;

/// Result of a rule for a resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The requirement holds; the comparison, as `6 × 60 s + 0 s = 360 s ≤ 400 s`.
    Holds(String),
    /// The rule has a finding, which depends on more values than its labels show.
    Found,
    /// The rule with this id replaces the finding.
    Yields(RuleId),
    /// The rule has a finding that the configuration ignores for this resource.
    Ignored {
        /// Headline of the finding.
        headline: String,
        /// Reason from the configuration, if it has one.
        reason: Option<String>,
    },
    /// The rule could not evaluate the resource.
    NotEvaluated {
        /// Reason as a clause: "`var.x` has no value".
        reason: String,
        /// Span of the cause.
        span: Span,
    },
    /// The rule read a value but had nothing to compare it with.
    NotConcerned,
}

/// Verdict, and the values that it depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Id of the rule.
    pub rule: RuleId,
    /// Resource that was judged.
    pub subject: Subject,
    /// Name of the resource for use in a sentence.
    pub shown: String,
    /// Result of the rule.
    pub verdict: Verdict,
    /// Condition under which the verdict applies; `None` if it always applies.
    pub when: Option<String>,
    /// Spans of the values that the rule read, and of their origins.
    pub read: BTreeSet<Span>,
    /// Environments in which the verdict applies; empty if there is only one.
    pub environments: Vec<String>,
}

/// Value that a rule read, identified by its spans.
pub(crate) trait ReadValue {
    /// Adds the span of the value and those of its origins.
    fn spans(&self, all: &mut BTreeSet<Span>);

    /// Returns the gap if the value is only partly known.
    fn unresolved(&self) -> Option<UnknownPart<'_>> {
        None
    }
}

/// Unknown part of a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnknownPart<'g> {
    /// Reason for which it is unknown.
    pub(crate) reason: &'g Reason,
    /// Span of the cause.
    pub(crate) cause: Span,
    /// Resource that the value belongs to.
    pub(crate) resource: &'g Resource,
}

impl ReadValue for Span {
    fn spans(&self, all: &mut BTreeSet<Span>) {
        all.insert(*self);
    }
}

impl<T> ReadValue for Case<T> {
    fn spans(&self, all: &mut BTreeSet<Span>) {
        all.insert(self.span);
        all.extend(self.origins.iter().map(|origin| origin.span));
    }
}

/// Resource of a judgement.
#[derive(Debug, Clone)]
pub(super) struct JudgedResource {
    /// Name for use in a sentence; empty in an ordinary run.
    shown: String,
    uncertain: Option<Reason>,
}

impl JudgedResource {
    pub(super) fn new(resource: &Resource, is_traced: bool) -> Self {
        JudgedResource {
            shown: if is_traced { resource.shown() } else { String::new() },
            uncertain: resource.uncertain.clone(),
        }
    }

    /// Describes the condition `when`, and whether the resource's existence is uncertain.
    pub(super) fn when(&self, when: &Condition) -> Option<String> {
        match (when.describe(), &self.uncertain) {
            (when, None) => when,
            (None, Some(_)) => Some("it is created".to_owned()),
            (Some(when), Some(_)) => Some(format!("it is created and {when}")),
        }
    }
}

/// Judgements of one rule, each with its condition.
#[derive(Debug, Default, Clone)]
pub(super) struct Trace {
    all: Vec<(Judgement, Condition)>,
    /// Indexes into `all` by subject and verdict, which merge judgements that differ only in their condition.
    indexes: FxHashMap<(Subject, Verdict), usize>,
    /// Spans of the attribute that the rule is about to judge.
    judged_attribute: BTreeSet<Span>,
}

impl Trace {
    /// Records `verdict` of `rule` on `subject`, which depends on `read`.
    pub(super) fn keep(
        &mut self,
        rule: &RuleId,
        subject: &Subject,
        about: &JudgedResource,
        when: &Condition,
        verdict: Verdict,
        mut read: BTreeSet<Span>,
    ) {
        let is_unresolved = matches!(verdict, Verdict::NotEvaluated { .. });
        if !when.is_possible() || (when.is_too_complex() && !is_unresolved) {
            return;
        }
        if is_unresolved {
            read.extend(&self.judged_attribute);
        }
        let subject = Subject {
            attribute: "",
            ..subject.clone()
        };
        let at = *(self.indexes.entry((subject.clone(), verdict.clone()))).or_insert(self.all.len());
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

    /// Sets the attribute that the rule is about to judge. Verdicts on values that turn out to be unresolved then also
    /// point at this attribute.
    pub(super) fn set_judged_attribute<T>(&mut self, attribute: &Attribute<T>) {
        self.judged_attribute.clear();
        attribute
            .cases
            .iter()
            .for_each(|case| case.spans(&mut self.judged_attribute));
    }

    pub(super) fn into_judgements(self) -> Vec<Judgement> {
        self.all.into_iter().map(|(judgement, _)| judgement).collect()
    }
}
