//! Provides the interface of a check: it reads values of the graph with their conditions, states requirements, and
//! reports findings.
//!
//! `settle` decides which of several findings on one attribute is kept. The rules decide what to report.

use super::compare::Comparison;
use super::few::Few;
use super::finding::Finding;
use super::operands::Known;
use super::settings::{Settings, SettingsOf};
use super::settle::{Judge, RuleResults};
use super::trace::{ReadValue, Verdict};
use crate::diagnostic::{Diagnostic, Instance, Severity, Subject};
use crate::graph::{self, Attribute, Case, Condition, Graph, Reason, Resource, State, Unresolved};
use crate::rules::Cause;
use source::Span;

/// Collects the results of one check.
pub struct Findings<'g> {
    pub(crate) graph: &'g Graph,
    settings: &'g Settings,
    results: RuleResults<'g>,
    /// `true` while unresolved values, and values left to other rules, are not noted.
    is_quiet: bool,
    /// `true` if the rule itself reports values of the wrong type.
    judges_types: bool,
}

impl<'g> Findings<'g> {
    /// Runs `judge` on the graph. A traced run also records verdicts without a finding.
    pub(super) fn of(
        judge: &'g Judge<'g>,
        graph: &'g Graph,
        settings: &'g Settings,
        is_traced: bool,
    ) -> RuleResults<'g> {
        let mut findings = Findings {
            graph,
            settings,
            results: RuleResults::new(judge, is_traced),
            is_quiet: false,
            judges_types: false,
        };
        if let Some(check) = judge.check {
            check(&mut findings);
        }
        findings.results
    }

    /// Returns the settings that apply to `resource`.
    pub(crate) fn settings<S: SettingsOf>(&self, resource: &impl AsRef<Resource>) -> S {
        self.settings.of(resource.as_ref())
    }

    /// Returns the values of `attribute` of `resource` under the condition `when`. Unresolved ones are noted as not
    /// evaluated.
    pub(crate) fn known<'a, T>(
        &mut self,
        when: &Condition,
        resource: &impl AsRef<Resource>,
        attribute: &'a Attribute<T>,
    ) -> Few<Known<'a, T>> {
        self.known_or(when, resource, attribute, |findings, when, case, unresolved| {
            findings.unresolved(when, resource.as_ref(), case, unresolved, case.source_span());
        })
    }

    /// Like [`Findings::known`], but calls `or` for each unresolved value.
    pub(super) fn known_or<'a, T>(
        &mut self,
        when: &Condition,
        resource: &impl AsRef<Resource>,
        attribute: &'a Attribute<T>,
        mut or: impl FnMut(&mut Self, &Condition, &'a Case<T>, &'a Unresolved),
    ) -> Few<Known<'a, T>> {
        let resource = resource.as_ref();
        let mut all = Few::new();
        for case in &attribute.cases {
            let both = when.and(&case.when);
            if !both.is_possible() {
                continue;
            }
            match &case.state {
                State::Unresolved(unresolved) => or(self, &both, case, unresolved),
                State::Set(value) | State::Default(value) => {
                    self.judged(
                        &Condition::always(),
                        resource,
                        [case as &dyn ReadValue],
                        Verdict::NotConcerned,
                    );
                    all.push(Known::new(value, both, case, attribute, resource));
                }
            }
        }
        all
    }

    /// Returns the values of `attribute` under the condition `when` that have the wrong type, each with the reason. The
    /// rule that calls this reports them; from then on they are not noted as unresolved.
    pub(crate) fn wrongly_typed<'a, T>(
        &mut self,
        when: &Condition,
        attribute: &'a Attribute<T>,
    ) -> Vec<(Condition, &'a Case<T>, &'a Reason)> {
        self.judges_types = true;
        let cases = attribute.cases.iter().filter_map(|case| match &case.state {
            State::Unresolved(unresolved) if unresolved.cause() == graph::Cause::WrongType => {
                Some((when.and(&case.when), case, unresolved.reason()))
            }
            _ => None,
        });
        cases.filter(|(both, ..)| both.is_possible()).collect()
    }

    /// Runs `ask` without noting unresolved values: for values that only add detail to a finding.
    pub(crate) fn without_notes<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let was_quiet = std::mem::replace(&mut self.is_quiet, true);
        let found = ask(self);
        self.is_quiet = was_quiet;
        found
    }

    /// Requires `comparison` of `resource` under the condition `when`, and reports the finding from `broken` if it does
    /// not hold. The finding shows the arithmetic of the comparison. Returns `true` if the comparison holds or may
    /// hold.
    pub(crate) fn require(
        &mut self,
        when: &Condition,
        resource: &impl AsRef<Resource>,
        comparison: Comparison<'_>,
        broken: impl FnOnce() -> Finding,
    ) -> bool {
        if comparison.holds() {
            return self.satisfied(when, resource, comparison);
        }
        let mut finding = broken();
        finding.calculation = finding.calculation.or_else(|| comparison.calculation());
        finding.weight = finding.weight.or(Some(comparison.weight()));
        self.state(when, resource.as_ref(), finding, comparison.read());
        false
    }

    /// Returns `true` if `comparison` holds or may hold: for rules that check further values if it does not.
    pub(crate) fn satisfied(
        &mut self,
        when: &Condition,
        resource: &impl AsRef<Resource>,
        comparison: Comparison<'_>,
    ) -> bool {
        if !comparison.holds() {
            return false;
        }
        if !comparison.is_certain() {
            for (read, gap) in comparison.unresolved() {
                self.unresolved(when, gap.resource, read, gap.reason, gap.cause);
            }
        } else if self.results.is_traced() {
            let verdict = Verdict::Holds(comparison.text());
            self.judged(when, resource.as_ref(), comparison.read(), verdict);
        }
        true
    }

    /// Reports `finding` of `resource` under the condition `when`, for checks without a comparison. Reports nothing if
    /// the condition is impossible; if it is too complex, notes only that.
    pub(crate) fn report(&mut self, when: &Condition, resource: &impl AsRef<Resource>, finding: Finding) {
        self.state(when, resource.as_ref(), finding, []);
    }

    /// Leaves `resource` under the condition `when` to the rule that reports `cause`, which is visible in `read`.
    pub(crate) fn leave_to_rule_of(
        &mut self,
        when: &Condition,
        resource: &impl AsRef<Resource>,
        read: &[&dyn ReadValue],
        cause: Cause,
    ) {
        // A rule may share operands with the rule that reports the cause.
        if let Some(other) = cause.judge().filter(|other| other.id != self.results.judge.rule.id) {
            let read = read.iter().copied();
            self.judged(when, resource.as_ref(), read, Verdict::Yields(other.id.into()));
        }
    }

    /// Notes that `resource` cannot be judged under the condition `when`, because of the value at `span`.
    pub(crate) fn note_unresolved(
        &mut self,
        when: &Condition,
        resource: &impl AsRef<Resource>,
        reason: &Reason,
        span: Span,
    ) {
        if when.is_possible() {
            let resource = resource.as_ref();
            self.unresolved(when, resource, &resource.header, reason, span);
        }
    }

    /// Sets the attribute that the rule is about to judge. Verdicts on values that turn out to be unresolved then also
    /// point at this attribute.
    pub(crate) fn set_judged_attribute<T>(&mut self, attribute: &Attribute<T>) {
        self.results.set_judged_attribute(attribute);
    }

    fn state<'r>(
        &mut self,
        when: &Condition,
        resource: &Resource,
        finding: Finding,
        read: impl IntoIterator<Item = &'r dyn ReadValue>,
    ) {
        if !when.is_possible() {
            return;
        }
        let (subject, weight) = (
            self.subject(resource, finding.attribute),
            finding.weight.unwrap_or_default(),
        );
        let judge = self.results.judge;
        let mut diagnostic = finding
            .into_diagnostic(&judge.rule, judge.id.clone(), subject, &mut self.results.texts)
            .through(resource.calls.clone());
        let unit = self.graph.unit(resource.unit);
        diagnostic.remark = unit.remark();
        if unit.is_for_local_use() {
            diagnostic.severity = Severity::Info;
        }
        let key = &unit.key;
        if let Some(call) = key.calls() {
            diagnostic.calls.push(Instance {
                unit: diagnostic.subject.unit.clone(),
                root: key.root().to_owned(),
                address: format!("{call}.{}", resource.address),
            });
        }
        if self.turn_to_files(&mut diagnostic) {
            self.results.state(when, resource, diagnostic, weight, read);
        }
    }

    /// Makes the first label in the files the primary one, if that is in a statement on a queue that other files own.
    /// Returns `false` if there is no such label: the finding is for the owners of the queue.
    fn turn_to_files(&self, diagnostic: &mut Diagnostic) -> bool {
        if !self.graph.is_external(diagnostic.primary().span) {
            return true;
        }
        let mut labels = diagnostic.labels().iter().map(|label| label.span);
        let Some(span) = labels.find(|span| !self.graph.is_external(*span)) else {
            return false;
        };
        diagnostic.promote(span);
        diagnostic.written = None;
        diagnostic.remedy = None;
        diagnostic.help =
            Some("other files own the queue: change this side, ask the owners, or correct the `[[external]]`".into());
        true
    }

    fn subject(&self, resource: &Resource, attribute: &'static str) -> Subject {
        Subject {
            unit: self.graph.unit(resource.unit).name.clone(),
            address: resource.address.to_string(),
            attribute,
        }
    }

    /// Notes that `resource` could not be judged under the condition `when`, because `read` is unresolved.
    pub(super) fn unresolved(
        &mut self,
        when: &Condition,
        resource: &Resource,
        read: &dyn ReadValue,
        reason: &Reason,
        span: Span,
    ) {
        // What a statement on a queue leaves out is acknowledged.
        if self.graph.is_external(span) {
            return;
        }
        let is_said = self.judges_types && reason.cause() == graph::Cause::WrongType;
        if self.is_quiet || is_said {
            return;
        }
        if self.results.is_traced() {
            let verdict = Verdict::NotEvaluated {
                reason: reason.to_string(),
                span,
            };
            self.judged(when, resource, [read, &span], verdict);
        }
        let subject = self.subject(resource, "");
        self.results.not_evaluated(subject, reason, span);
    }

    /// Records in a traced run that `resource`, whose finding would depend on `read`, was not judged because of
    /// `reason` at `span`. Other runs do not count it as unjudged.
    pub(crate) fn not_covered(
        &mut self,
        when: &Condition,
        resource: &Resource,
        read: &[&dyn ReadValue],
        reason: &str,
        span: Span,
    ) {
        let read = read.iter().copied().chain([&span as &dyn ReadValue]);
        let reason = reason.to_owned();
        self.judged(when, resource, read, Verdict::NotEvaluated { reason, span });
    }

    /// Records a verdict in a traced run.
    fn judged<'r>(
        &mut self,
        when: &Condition,
        resource: &Resource,
        read: impl IntoIterator<Item = &'r dyn ReadValue>,
        verdict: Verdict,
    ) {
        if self.results.is_traced() && !self.is_quiet {
            let subject = self.subject(resource, "");
            self.results.judged(when, resource, subject, read, verdict);
        }
    }
}
