//! What a check asks and says: values of the graph with their conditions, what it requires of them, and findings.
//!
//! Which of several findings on one attribute speaks, `settle` decides; what is worth saying, the rules know.

use super::compare::Comparison;
use super::few::Few;
use super::finding::Finding;
use super::operands::Known;
use super::settings::{Settings, SettingsOf};
use super::settle::{Judge, Said};
use super::trace::{Read, Verdict};
use crate::diagnostic::Subject;
use crate::graph::{self, Attribute, Case, Condition, Graph, Reason, Resource, State, Unresolved};
use crate::rules::Cause;
use crate::source::Span;

/// What a check says of the resources of a graph.
#[derive(Debug)]
pub struct Findings<'g> {
    graph: &'g Graph,
    settings: &'g Settings,
    said: Said<'g>,
    /// Whether what is unresolved or left to others goes without saying.
    is_quiet: bool,
    /// Whether the rule says itself what has the wrong type.
    judges_types: bool,
}

impl<'g> Findings<'g> {
    /// What `rule` says. A traced run also keeps what it concludes where it finds nothing.
    pub(super) fn of(judge: Judge<'g>, graph: &'g Graph, settings: &'g Settings, is_traced: bool) -> Said<'g> {
        let mut findings = Findings {
            graph,
            settings,
            said: Said::new(judge.rule, is_traced),
            is_quiet: false,
            judges_types: false,
        };
        if let Some(check) = judge.check {
            check(graph, &mut findings);
        }
        findings.said
    }

    /// The settings that hold for `resource`.
    pub(crate) fn settings<S: SettingsOf>(&self, resource: &impl AsRef<Resource>) -> S {
        self.settings.of(resource.as_ref())
    }

    /// The values of `attribute` of `resource` under the condition `when`. One that is unresolved there is noted: the
    /// rule could not be evaluated.
    pub(crate) fn known<'a, T>(
        &mut self,
        when: &Condition,
        resource: &impl AsRef<Resource>,
        attribute: &'a Attribute<T>,
    ) -> Few<Known<'a, T>> {
        self.known_or(when, resource, attribute, |findings, when, case, unresolved| {
            findings.unresolved(when, resource.as_ref(), case, unresolved, case.cause());
        })
    }

    /// The same, with `or` for each one that is unresolved.
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
                        [case as &dyn Read],
                        Verdict::NotConcerned,
                    );
                    all.push(Known::new(value, both, case, attribute, resource));
                }
            }
        }
        all
    }

    /// The values of `attribute` under the condition `when` that have another type than it, with what is wrong with
    /// each: for the rule that judges them, which no longer notes that they are unresolved.
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

    /// What `ask` finds, without a note of what is unresolved: for values that only make a finding more exact.
    pub(crate) fn quietly<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let was_quiet = std::mem::replace(&mut self.is_quiet, true);
        let found = ask(self);
        self.is_quiet = was_quiet;
        found
    }

    /// Requires `comparison` of `resource` under the condition `when`, and reports the finding that `broken` makes
    /// where it does not hold. The arithmetic of the comparison becomes that of the finding. Returns whether it holds, or
    /// may hold.
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

    /// Whether `comparison` holds, or may hold, for a rule that has more to ask where it does not.
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
        } else if self.said.is_traced() {
            let verdict = Verdict::Holds(comparison.text());
            self.judged(when, resource.as_ref(), comparison.read(), verdict);
        }
        true
    }

    /// Reports `finding` of `resource` under the condition `when`, where no comparison decides. Under a condition that
    /// is not possible nothing is said, and under one that is too complex only that.
    pub(crate) fn report(&mut self, when: &Condition, resource: &impl AsRef<Resource>, finding: Finding) {
        self.state(when, resource.as_ref(), finding, []);
    }

    /// Leaves `resource` under the condition `when` to the rule that judges `cause`, which shows in `read`.
    pub(crate) fn leave(
        &mut self,
        when: &Condition,
        resource: &impl AsRef<Resource>,
        read: &[&dyn Read],
        cause: Cause,
    ) {
        // A rule may share the operands of the one that judges them.
        if let Some(other) = cause.judge().filter(|other| other.id != self.said.rule.id) {
            let read = read.iter().copied();
            self.judged(when, resource.as_ref(), read, Verdict::Yields(other.id.into()));
        }
    }

    /// Notes that `resource` cannot be judged under the condition `when`, because of what is written at `span`.
    pub(crate) fn unsettled(&mut self, when: &Condition, resource: &impl AsRef<Resource>, reason: &Reason, span: Span) {
        if when.is_possible() {
            let resource = resource.as_ref();
            self.unresolved(when, resource, &resource.header, reason, span);
        }
    }

    /// Says that it is `attribute` that the rule is about to judge: what turns out to be unresolved keeps it from that.
    pub(crate) fn about_to_judge<T>(&mut self, attribute: &Attribute<T>) {
        self.said.about_to_judge(attribute);
    }

    fn state<'r>(
        &mut self,
        when: &Condition,
        resource: &Resource,
        finding: Finding,
        read: impl IntoIterator<Item = &'r dyn Read>,
    ) {
        if !when.is_possible() {
            return;
        }
        let (subject, weight) = (
            self.subject(resource, finding.attribute),
            finding.weight.unwrap_or_default(),
        );
        let mut diagnostic = finding
            .into_diagnostic(&self.said.rule, self.said.id(), subject)
            .through(resource.calls.clone());
        if let Some((_, call)) = self.graph.unit(resource.unit).key().split_once('#') {
            diagnostic.calls = vec![format!("{call}.{}", resource.address)];
        }
        self.said.state(when, resource, diagnostic, weight, read);
    }

    fn subject(&self, resource: &Resource, attribute: &'static str) -> Subject {
        Subject {
            unit: self.graph.unit(resource.unit).name.clone(),
            address: resource.address.to_string(),
            attribute,
        }
    }

    /// Notes that `resource` could not be judged under the condition `when`, where the rule wanted to know `read`.
    pub(super) fn unresolved(
        &mut self,
        when: &Condition,
        resource: &Resource,
        read: &dyn Read,
        reason: &Reason,
        span: Span,
    ) {
        let is_said = self.judges_types && reason.cause() == graph::Cause::WrongType;
        if self.is_quiet || is_said {
            return;
        }
        if self.said.is_traced() {
            let verdict = Verdict::NotEvaluated {
                reason: reason.to_string(),
                span,
            };
            self.judged(when, resource, [read, &span], verdict);
        }
        let subject = self.subject(resource, "");
        self.said.not_evaluated(subject, reason, span);
    }

    /// Keeps a verdict, in a traced run.
    fn judged<'r>(
        &mut self,
        when: &Condition,
        resource: &Resource,
        read: impl IntoIterator<Item = &'r dyn Read>,
        verdict: Verdict,
    ) {
        if self.said.is_traced() && !self.is_quiet {
            let subject = self.subject(resource, "");
            self.said.judged(when, resource, subject, read, verdict);
        }
    }
}
