//! What a rule says of a resource: the words, the places and the change that fixes it. Whose finding it is, and under
//! which condition, is added where it is reported.

use super::names::QueueName;
use super::operands::{Known, Operand, Provenance};
use crate::diagnostic::{Change, Diagnostic, Remedy, RuleId, Severity, Subject};
use crate::graph::{Case, Origin};
use crate::model::scenario::Scenario;
use crate::rules::Rule;
use crate::source::Span;
use std::cmp::Reverse;

/// A finding in the making.
#[derive(Debug)]
pub(crate) struct Finding {
    /// `None` is the severity of the rule.
    severity: Option<Severity>,
    pub(super) attribute: &'static str,
    headline: String,
    primary: (Span, String),
    labels: Vec<(Span, String)>,
    pub(super) calculation: Option<String>,
    scenario: Option<Scenario>,
    help: Option<String>,
    fix: Option<Change>,
    pub(super) weight: Option<i64>,
}

/// A place, and the one where its value comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot<'a> {
    span: Span,
    origins: &'a [Origin],
}

impl<'a> Spot<'a> {
    fn new(span: Span, origins: &'a [Origin]) -> Self {
        let is_elsewhere = origins.last().is_some_and(|origin| origin.span != span);
        Spot {
            span,
            origins: if is_elsewhere { origins } else { &[] },
        }
    }
}

impl From<Span> for Spot<'_> {
    fn from(span: Span) -> Self {
        Spot { span, origins: &[] }
    }
}

impl<'a> From<(Span, &'a [Origin])> for Spot<'a> {
    fn from((span, origins): (Span, &'a [Origin])) -> Self {
        Spot::new(span, origins)
    }
}

impl<'a> From<&Provenance<'a>> for Spot<'a> {
    fn from(from: &Provenance<'a>) -> Self {
        Spot::new(from.span, from.origins)
    }
}

impl<'a, T> From<&'a Case<T>> for Spot<'a> {
    fn from(case: &'a Case<T>) -> Self {
        Spot::new(case.span, &case.origins)
    }
}

impl<'a> From<&Operand<'a>> for Spot<'a> {
    fn from(operand: &Operand<'a>) -> Self {
        Spot::from(&**operand)
    }
}

impl<'a> From<&QueueName<'a>> for Spot<'a> {
    fn from(name: &QueueName<'a>) -> Self {
        Spot::from(&**name)
    }
}

impl<'a, T> From<&Known<'a, T>> for Spot<'a> {
    fn from(known: &Known<'a, T>) -> Self {
        Spot::from(&**known)
    }
}

/// Something that a label shows: a consumer, a function's run time.
pub(crate) trait Show {
    /// Its place and what to say there.
    fn label(&self) -> (Spot<'_>, String);
}

impl Finding {
    /// A finding on `attribute`, in the graph's words, whose primary label is `label` at `place`: the line that the
    /// user would edit.
    pub(crate) fn new<'a>(
        attribute: &'static str,
        headline: impl Into<String>,
        place: impl Into<Spot<'a>>,
        label: impl Into<String>,
    ) -> Self {
        let spot = place.into();
        let finding = Finding {
            severity: None,
            attribute,
            headline: headline.into(),
            primary: (spot.span, label.into()),
            labels: Vec::new(),
            calculation: None,
            scenario: None,
            help: None,
            fix: None,
            weight: None,
        };
        finding.origin(spot)
    }

    /// Sets a severity other than the rule's.
    #[must_use]
    pub(crate) fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// Sets another headline, for a finding that speaks for several.
    #[must_use]
    pub(crate) fn headline(mut self, headline: String) -> Self {
        self.headline = headline;
        self
    }

    /// Adds a label, and one where the value comes from.
    #[must_use]
    pub(crate) fn label<'a>(mut self, place: impl Into<Spot<'a>>, label: impl Into<String>) -> Self {
        let spot = place.into();
        self.labels.push((spot.span, label.into()));
        self.origin(spot)
    }

    /// Where a value comes from is said once a place: two may come from one entry of a map.
    fn origin(mut self, spot: Spot<'_>) -> Self {
        let from = spot.origins.last().zip(Origin::shown(spot.origins));
        let is_computed = spot.origins.iter().any(|origin| origin.computes);
        let said = &self.labels;
        let is_new = |origin: &Origin| is_computed || said.iter().all(|(span, _)| *span != origin.span);
        let from = from.filter(|(origin, _)| is_new(origin));
        self.labels.extend(from.map(|(origin, shown)| (origin.span, shown)));
        self
    }

    /// Adds the label of `shown`.
    #[must_use]
    pub(crate) fn show(self, shown: &impl Show) -> Self {
        let (place, label) = shown.label();
        self.label(place, label)
    }

    /// Sets the arithmetic, where it is another than that of the comparison.
    #[must_use]
    pub(crate) fn calculation(mut self, calculation: impl Into<Option<String>>) -> Self {
        self.calculation = calculation.into();
        self
    }

    /// Sets the run of the model that shows what happens.
    #[must_use]
    pub(crate) fn shows(mut self, scenario: impl Into<Option<Scenario>>) -> Self {
        self.scenario = scenario.into();
        self
    }

    /// Sets what to do, in the user's spelling.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the change that fixes it. How safe that is, the rule's static says.
    #[must_use]
    pub(crate) fn fix(mut self, change: impl Into<Option<Change>>) -> Self {
        self.fix = change.into();
        self
    }

    /// Sets how much is wrong: of the findings on one attribute the one with the greatest weight speaks, and the
    /// others become its labels. A comparison sets it by itself.
    #[must_use]
    pub(crate) fn weight(mut self, weight: i64) -> Self {
        self.weight = Some(weight);
        self
    }

    /// The worst of several, the first among equals, with the places of the others as its labels.
    pub(crate) fn worst(mut all: Vec<Finding>) -> Option<Finding> {
        // No severity is that of the rule, which is the highest it states.
        all.sort_by_key(|finding| Reverse(finding.severity.unwrap_or(Severity::Error)));
        let mut all = all.into_iter();
        let first = all.next()?;
        Some(all.fold(first, |worst, other| worst.label(other.primary.0, other.primary.1)))
    }

    /// The same as a finding of `rule` on `subject`.
    pub(super) fn into_diagnostic(self, rule: &Rule<'_>, id: RuleId, subject: Subject) -> Diagnostic {
        let severity = self.severity.unwrap_or(rule.severity);
        let (place, message) = self.primary;
        let first = Diagnostic::new(id, severity, subject, self.headline, place, message);
        let mut diagnostic = (self.labels.into_iter()).fold(first, |all, (place, message)| all.label(place, message));
        diagnostic.calculation = self.calculation;
        diagnostic.scenario = self.scenario.map(Box::new);
        diagnostic.help = self.help;
        debug_assert!(
            self.fix.is_none() || rule.fix.is_some(),
            "{} says that it has fixes",
            rule.id
        );
        let remedy = |(change, safety)| Remedy { change, safety };
        diagnostic.remedy(self.fix.zip(rule.fix).map(remedy))
    }
}
