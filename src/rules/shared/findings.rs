//! What a check may ask and say: values of the graph with their worlds, findings, and what cannot be judged.
//!
//! It joins what is said of one resource in several worlds. What is worth saying, the rules know.

use super::operands;
use super::trace::{Judgement, Read, Trace, Verdict};
use crate::diagnostic::{Diagnostic, NotEvaluated, Place, Severity, Subject};
use crate::graph::{Attribute, Case, Condition, Graph, Origin, Resource, State, UnitId};
use crate::rules::{Rule, Settings, Value};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// A value that a check asked for, with all it needs to point at it.
#[derive(Debug)]
pub struct Known<'g, T> {
    /// The value.
    pub value: &'g T,
    /// The worlds in which it is that.
    pub world: Condition,
    /// Its case: place, origins, whether it is the default.
    pub case: &'g Case<T>,
    /// As the user spells the attribute.
    pub name: &'g str,
}

impl<T> Clone for Known<'_, T> {
    fn clone(&self) -> Self {
        Known {
            value: self.value,
            world: self.world.clone(),
            case: self.case,
            name: self.name,
        }
    }
}

impl<T> Known<'_, T> {
    /// Where to point.
    pub fn span(&self) -> Span {
        self.case.span
    }

    /// How the value came to be, to put behind it in a message: ` (the default)`,
    /// ` (the default of `var.visibility`)`, or nothing where it is written in place.
    pub fn provenance(&self) -> String {
        if self.case.is_default() {
            return " (the default)".to_owned();
        }
        self.case
            .origins
            .last()
            .map_or_else(String::new, |origin| format!(" ({})", origin.what))
    }

    /// Where the value stands in the files, or would.
    pub fn place(&self, resource: &Resource) -> Place {
        let is_written = !self.case.is_default();
        Place {
            header: resource.header,
            name: self.name.to_owned(),
            written: is_written.then_some(self.case.span),
            origins: self.case.origins.iter().map(|origin| origin.span).collect(),
            value: None,
        }
    }

    /// The place where the number is written, when that is another than [`Known::span`].
    pub fn origin(&self) -> Option<&Origin> {
        self.case.origins.last()
    }

    /// `diagnostic` with a label at [`Known::origin`], where there is one.
    pub fn show_origin(&self, diagnostic: Diagnostic) -> Diagnostic {
        operands::trace(self.origin(), self.span(), diagnostic)
    }
}

/// What a check says: its diagnostics, and what it could not judge.
#[derive(Debug)]
pub struct Findings<'g> {
    graph: &'g Graph,
    pub(super) rule: &'static Rule,
    settings: &'g Settings,
    diagnostics: Vec<Diagnostic>,
    /// Where in `diagnostics` that of a subject and attribute is, and its worlds: thousands of instances stay linear.
    said: FxHashMap<(UnitId, Subject), (usize, Condition)>,
    not_evaluated: Vec<NotEvaluated>,
    noted: FxHashSet<(Subject, String, Span)>,
    /// What the rule concludes besides, where that is wanted.
    pub(super) trace: Option<Trace>,
}

impl<'g> Findings<'g> {
    /// Nothing yet, for one rule.
    pub fn new(graph: &'g Graph, rule: &'static Rule, settings: &'g Settings) -> Self {
        Findings {
            graph,
            rule,
            settings,
            diagnostics: Vec::new(),
            said: FxHashMap::default(),
            not_evaluated: Vec::new(),
            noted: FxHashSet::default(),
            trace: None,
        }
    }

    /// Runs the rule and keeps what it concludes where it finds nothing.
    pub fn run_traced(mut self) -> (Vec<Diagnostic>, Vec<NotEvaluated>, Vec<Judgement>) {
        self.trace = Some(Trace::default());
        if let Some(check) = self.rule.check {
            check(self.graph, &mut self);
        }
        let judgements = self.trace.map(Trace::into_judgements).unwrap_or_default();
        (self.diagnostics, self.not_evaluated, judgements)
    }

    /// Runs the rule.
    pub fn run(mut self) -> (Vec<Diagnostic>, Vec<NotEvaluated>) {
        if let Some(check) = self.rule.check {
            check(self.graph, &mut self);
        }
        (self.diagnostics, self.not_evaluated)
    }

    /// The setting `name` of `rule` for `resource`, a number.
    pub(crate) fn number(&self, rule: &'static Rule, name: &'static str, resource: &Resource) -> i64 {
        match self.settings.value(rule, name, resource) {
            Some(Value::Number { value, .. }) => value,
            Some(Value::Flag(_)) | None => 0,
        }
    }

    /// The setting `name` of `rule` for `resource`, a switch.
    pub(crate) fn flag(&self, rule: &'static Rule, name: &'static str, resource: &Resource) -> bool {
        self.settings.value(rule, name, resource) == Some(Value::Flag(true))
    }

    /// The values of `attribute` of `resource` in the worlds of `world`. A case that is unresolved there is
    /// noted as not evaluated, for this rule.
    pub fn known<'a, T>(
        &mut self,
        world: &Condition,
        resource: &Resource,
        attribute: &'a Attribute<T>,
    ) -> Vec<Known<'a, T>> {
        let mut all = Vec::new();
        for case in &attribute.cases {
            let both = world.and(&case.when);
            if !both.is_possible() {
                continue;
            }
            match &case.state {
                State::Unresolved(reason) => {
                    let cause = case.origins.last().map_or(case.span, |origin| origin.span);
                    self.open(&both, resource, case, reason.to_string(), cause);
                }
                State::Set(value) | State::Default(value) => {
                    self.judged(&Condition::always(), resource, &[case], Verdict::NotConcerned);
                    all.push(Known {
                        value,
                        world: both,
                        case,
                        name: &attribute.name,
                    });
                }
            }
        }
        all
    }

    /// Notes that `resource` could not be judged in `world`, where the rule wanted to know `read`.
    fn open(&mut self, world: &Condition, resource: &Resource, read: &dyn Read, reason: String, span: Span) {
        if self.trace.is_some() {
            let reason = reason.clone();
            self.judged(world, resource, &[read, &span], Verdict::NotEvaluated { reason, span });
        }
        let entry = NotEvaluated {
            rule: self.rule.id,
            subject: self.subject(resource, ""),
            reason,
            span,
        };
        if self.noted.insert((entry.subject.clone(), entry.reason.clone(), span)) {
            self.not_evaluated.push(entry);
        }
    }

    /// Who a diagnostic is about.
    pub fn subject(&self, resource: &Resource, attribute: &'static str) -> Subject {
        Subject {
            unit: self.graph.unit(resource.unit).name.clone(),
            address: resource.address.to_string(),
            attribute,
        }
    }

    /// A diagnostic of this rule about `resource`, pointing at `span`, not yet said: [`Findings::report`].
    pub fn diagnostic(
        &self,
        severity: Severity,
        resource: &Resource,
        attribute: &'static str,
        headline: impl Into<String>,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(
            self.rule.id,
            severity,
            self.subject(resource, attribute),
            headline,
            span,
            message,
        )
        .through(resource.calls.clone())
    }

    /// Says `diagnostic`, which holds in `world`. For a subject and attribute that has one already the worse
    /// decides (the first said among equals), the labels of both are shown, and what holds elsewhere is said at
    /// its own place. In worlds that are not possible nothing is said, and of those that are too many to tell apart
    /// only that.
    pub fn report(&mut self, world: &Condition, resource: &Resource, diagnostic: Diagnostic) {
        if !world.is_possible() {
            return;
        }
        if world.is_too_complex() {
            let reason = "its conditions are too many to tell apart".to_owned();
            let place = diagnostic.primary().span;
            self.open(world, resource, &place, reason, place);
            return;
        }
        debug_assert_eq!(
            diagnostic.remedy.as_ref().map(|remedy| remedy.safety).or(self.rule.fix),
            self.rule.fix,
            "a rule tells of its fixes"
        );
        let mut diagnostic = diagnostic.when(when(world, resource));
        if let Some((_, call)) = self.graph.unit(resource.unit).key().split_once('#') {
            diagnostic.calls = vec![format!("{call}.{}", resource.address)];
        }
        let key = (resource.unit, diagnostic.subject.clone());
        let Some((at, before)) = self.said.get_mut(&key) else {
            let at = self.diagnostics.len();
            self.said.insert(key, (at, world.clone()));
            self.diagnostics.push(diagnostic);
            return;
        };
        let earlier = &mut self.diagnostics[*at];
        if (earlier.severity, &earlier.headline) == (diagnostic.severity, &diagnostic.headline) {
            *before = before.or(world);
            earlier.when = when(before, resource);
            earlier.keep_remedy_of(&diagnostic);
            *earlier = with_labels(earlier.clone(), &diagnostic);
        } else if diagnostic.severity > earlier.severity {
            *before = world.clone();
            *earlier = beside(diagnostic, earlier);
        } else {
            *earlier = beside(earlier.clone(), &diagnostic);
        }
    }
}

/// The worlds, and whether `resource` exists at all, in words.
pub(super) fn when(world: &Condition, resource: &Resource) -> Option<String> {
    match (world.describe(), &resource.uncertain) {
        (when, None) => when,
        (None, Some(_)) => Some("it is created".to_owned()),
        (Some(when), Some(_)) => Some(format!("it is created and {when}")),
    }
}

/// `said` with the further labels of `other`.
fn with_labels(said: Diagnostic, other: &Diagnostic) -> Diagnostic {
    let labels = other.labels().iter().filter(|label| !label.primary).cloned();
    labels.fold(said, |all, label| all.label(label.span, label.message))
}

/// `said` with the further labels of `other` and, where that holds in other worlds, what it says there.
fn beside(said: Diagnostic, other: &Diagnostic) -> Diagnostic {
    let said = match &other.when {
        Some(when) if said.when != other.when => {
            said.label(other.primary().span, format!("when {when}: {}", other.headline))
        }
        _ => said,
    };
    with_labels(said, other)
}
