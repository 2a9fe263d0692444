//! Builds the content of a finding: words, spans and the change that fixes it. The rule, the resource and the condition
//! are added when the finding is reported.

use super::names::QueueName;
use super::operands::{Known, Operand, Provenance};
use crate::diagnostic::{Change, Diagnostic, Remedy, RuleId, Severity, Subject};
use crate::graph::{Case, Condition, EventSourceMapping, LastUsed, Origin, Origins, Queue};
use crate::rules::Rule;
use crate::rules::harm_of;
use source::Span;
use sqs_model::scenario::Scenario;
use std::cmp::Reverse;

/// Content of a finding that has not been reported yet.
#[derive(Debug)]
pub(crate) struct Finding {
    /// Severity; `None` for that of the rule.
    severity: Option<Severity>,
    is_pedantic: bool,
    /// Severity if `--since` shows that the resource is new.
    if_new: Option<Severity>,
    pub(super) attribute: &'static str,
    headline: String,
    primary: (Span, String),
    /// Span that passes its value to the primary label, and to no other.
    written: Option<Span>,
    labels: Vec<(Span, String)>,
    pub(super) calculation: Option<String>,
    scenario: Option<Scenario>,
    help: Option<String>,
    caveat: Option<&'static str>,
    fix: Option<Change>,
    pub(super) weight: Option<i64>,
}

/// Span of a value, with the steps to where the value is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LabelSpan<'a> {
    span: Span,
    origins: &'a [Origin],
    /// Input whose default decides that the value is used.
    deciding: Option<&'a Origin>,
}

impl<'a> LabelSpan<'a> {
    fn new(span: Span, origins: &'a Origins) -> Self {
        let is_elsewhere = origins.last().is_some_and(|origin| origin.span != span);
        LabelSpan {
            span,
            origins: if is_elsewhere { origins } else { &[] },
            deciding: origins.deciding(),
        }
    }
}

impl LabelSpan<'_> {
    /// Returns the span where the value is written, if it is passed on unchanged from there.
    fn passed_from(self) -> Option<Span> {
        let is_unchanged = self.origins.iter().all(|origin| !origin.computes);
        self.origins.last().filter(|_| is_unchanged).map(|origin| origin.span)
    }
}

impl From<Span> for LabelSpan<'_> {
    fn from(span: Span) -> Self {
        LabelSpan {
            span,
            origins: &[],
            deciding: None,
        }
    }
}

impl<'a> From<(Span, &'a Origins)> for LabelSpan<'a> {
    fn from((span, origins): (Span, &'a Origins)) -> Self {
        LabelSpan::new(span, origins)
    }
}

impl<'a> From<&Provenance<'a>> for LabelSpan<'a> {
    fn from(from: &Provenance<'a>) -> Self {
        LabelSpan::new(from.span, from.origins)
    }
}

impl<'a, T> From<&'a Case<T>> for LabelSpan<'a> {
    fn from(case: &'a Case<T>) -> Self {
        LabelSpan::new(case.span, &case.origins)
    }
}

impl<'a> From<&Operand<'a>> for LabelSpan<'a> {
    fn from(operand: &Operand<'a>) -> Self {
        LabelSpan::from(&**operand)
    }
}

impl<'a> From<&QueueName<'a>> for LabelSpan<'a> {
    fn from(name: &QueueName<'a>) -> Self {
        LabelSpan::from(&**name)
    }
}

impl<'a, T> From<&Known<'a, T>> for LabelSpan<'a> {
    fn from(known: &Known<'a, T>) -> Self {
        LabelSpan::from(&**known)
    }
}

/// Value that can describe itself in a label: a consumer, a function's run time.
pub(crate) trait Labeled {
    /// Returns the span and the text of the label.
    fn label(&self) -> (LabelSpan<'_>, String);
}

impl Finding {
    /// Creates a finding on `attribute` (the graph's name for it). Its primary label is `label` at `place`, the line
    /// that the user would edit.
    pub(crate) fn new<'a>(
        attribute: &'static str,
        headline: impl Into<String>,
        place: impl Into<LabelSpan<'a>>,
        label: impl Into<String>,
    ) -> Self {
        let label_span = place.into();
        let finding = Finding {
            severity: None,
            is_pedantic: false,
            if_new: None,
            attribute,
            headline: headline.into(),
            primary: (label_span.span, label.into()),
            written: label_span.passed_from(),
            labels: Vec::new(),
            calculation: None,
            scenario: None,
            help: None,
            caveat: None,
            fix: None,
            weight: None,
        };
        finding.origin(label_span)
    }

    /// Overrides the rule's severity.
    #[must_use]
    pub(crate) fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// Reports the finding of a rule that runs by default only with pedantic rules.
    #[must_use]
    pub(crate) fn pedantic(mut self) -> Self {
        self.is_pedantic = true;
        self
    }

    /// Overrides the rule's severity; a disabled mapping does no harm, so its finding is an info.
    #[must_use]
    pub(crate) fn severity_if_enabled(self, severity: Severity, mapping: &EventSourceMapping) -> Self {
        self.severity(match mapping.enabled.known() {
            Some(false) => Severity::Info,
            _ => severity,
        })
    }

    /// Makes the finding an info that is reported once per unit, unless `--since` shows that its resource is new.
    #[must_use]
    pub(crate) fn info_unless_new(mut self, severity: Severity) -> Self {
        self.if_new = Some(severity);
        self.severity(Severity::Info)
    }

    /// Replaces the headline, for a finding that covers several resources.
    #[must_use]
    pub(crate) fn headline(mut self, headline: String) -> Self {
        self.headline = headline;
        self
    }

    /// Adds a label, and one at the origin of the value.
    #[must_use]
    pub(crate) fn label<'a>(mut self, place: impl Into<LabelSpan<'a>>, label: impl Into<String>) -> Self {
        let label_span = place.into();
        self.labels.push((label_span.span, label.into()));
        self.origin(label_span)
    }

    /// Adds a label if `queue` is FIFO under `when`: its type does not prevent a second delivery.
    #[must_use]
    pub(crate) fn although_fifo(self, queue: &Queue, when: &Condition) -> Self {
        let fifo = queue.fifo.known_in(when);
        let Some((_, case, _)) = fifo.iter().find(|(_, _, fifo)| **fifo) else {
            return self;
        };
        let message = "exactly-once covers sending only: a FIFO queue, too, delivers a message again when its visibility timeout ends";
        self.label(case.span, message)
    }

    /// Adds a label at the origin of a value. Each origin gets only one label: two values may come from one entry of a
    /// map.
    fn origin(mut self, label_span: LabelSpan<'_>) -> Self {
        let from = label_span.origins.last().zip(Origin::shown(label_span.origins));
        let is_computed = label_span.origins.iter().any(|origin| origin.computes);
        let said = &self.labels;
        let is_new = |origin: &Origin| is_computed || said.iter().all(|(span, _)| *span != origin.span);
        if from
            .as_ref()
            .is_some_and(|(origin, _)| self.written == Some(origin.span) && !said.is_empty())
        {
            // Two values of the finding come from there, so a change of it would move both.
            self.written = None;
        }
        let from = from.filter(|(origin, _)| is_new(origin));
        self.labels.extend(from.map(|(origin, shown)| (origin.span, shown)));
        let deciding = label_span
            .deciding
            .map(|default| (default.span, format!("with {}", default.what)));
        self.labels.extend(deciding);
        self
    }

    /// Adds the label of `shown`.
    #[must_use]
    pub(crate) fn show(self, shown: &impl Labeled) -> Self {
        let (place, label) = shown.label();
        self.label(place, label)
    }

    /// Sets the arithmetic, if it differs from that of the comparison.
    #[must_use]
    pub(crate) fn calculation(mut self, calculation: impl Into<Option<String>>) -> Self {
        self.calculation = calculation.into();
        self
    }

    /// Sets the simulation that illustrates the finding.
    #[must_use]
    pub(crate) fn scenario(mut self, scenario: impl Into<Option<Scenario>>) -> Self {
        self.scenario = scenario.into();
        self
    }

    /// Sets the help text, which uses the user's spelling.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Appends to the help when not to apply the fix. A report that shows the fix instead of the help shows it, too.
    #[must_use]
    pub(crate) fn caveat(mut self, caveat: &'static str) -> Self {
        self.help = self.help.map(|help| format!("{help}; {caveat}"));
        self.caveat = Some(caveat);
        self
    }

    /// Sets the change that fixes the finding. The rule's static defines how safe it is.
    #[must_use]
    pub(crate) fn fix(mut self, change: impl Into<Option<Change>>) -> Self {
        self.fix = change.into();
        self
    }

    /// Sets the weight: of the findings on one attribute, the one with the greatest weight is kept, and the others
    /// become its labels. Comparisons set it automatically.
    #[must_use]
    pub(crate) fn weight(mut self, weight: i64) -> Self {
        self.weight = Some(weight);
        self
    }

    /// Returns the most severe finding, the first among equals, with the spans of the others as its labels.
    pub(crate) fn worst(mut all: Vec<Finding>) -> Option<Finding> {
        // `None` is the severity of the rule, which is the highest that it reports.
        all.sort_by_key(|finding| Reverse(finding.severity.unwrap_or(Severity::Error)));
        let mut all = all.into_iter();
        let first = all.next()?;
        Some(all.fold(first, |worst, other| worst.label(other.primary.0, other.primary.1)))
    }

    /// Converts the finding to a diagnostic of `rule` on `subject`.
    pub(super) fn into_diagnostic(
        self,
        rule: &Rule<'_>,
        id: RuleId,
        subject: Subject,
        texts: &mut LastUsed<str>,
    ) -> Diagnostic {
        let severity = self.severity.unwrap_or(rule.severity);
        let (place, message) = self.primary;
        let mut diagnostic = Diagnostic::new(id, severity, subject, self.headline, place, texts.shared(message));
        for (place, message) in self.labels {
            diagnostic = diagnostic.label(place, texts.shared(message));
        }
        diagnostic.calculation = self.calculation.map(|text| texts.shared(text));
        diagnostic.usual_harm = harm_of(rule.id);
        diagnostic.is_pedantic = self.is_pedantic;
        diagnostic.if_new = self.if_new;
        diagnostic.written = self.written;
        diagnostic.scenario = self.scenario.map(Box::new);
        diagnostic.help = self.help.map(|text| texts.shared(text));
        debug_assert!(
            self.fix.is_none() || rule.fix.is_some(),
            "{} says that it has fixes",
            rule.id
        );
        let caveat = self.caveat;
        let remedy = |(change, safety)| Remedy { change, safety, caveat };
        diagnostic = diagnostic.remedy(self.fix.zip(rule.fix).map(remedy));
        diagnostic.shrink_to_fit();
        diagnostic
    }
}
