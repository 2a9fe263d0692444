//! What checks compute with: numbers of the graph that are known and inside their own range, with all it takes
//! to point at them. A number outside its range has a rule of its own, and no other rule computes with it.
//!
//! It decides nothing: rules compare and speak.

use crate::diagnostic::{Change, Diagnostic, Place};
use crate::graph::limits;
use crate::graph::{
    Attribute, Condition, EventSourceMapping, Link, Origin, PolicyFault, Queue, RedrivePolicy, Resource, Seconds,
};
use crate::rules::{
    Findings, Known, Read, Rule, max_receive_count_out_of_range, queue_attribute_out_of_range, redrive_policy_malformed,
};
use crate::source::Span;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// A whole number, with or without a unit.
pub(crate) trait Number: Copy {
    /// Without it.
    fn number(self) -> i64;
}

impl Number for i64 {
    fn number(self) -> i64 {
        self
    }
}

impl Number for Seconds {
    fn number(self) -> i64 {
        self.0
    }
}

/// A number that a check computes with.
#[derive(Debug, Clone)]
pub(crate) struct Operand<'g> {
    /// The number, inside its own range.
    pub(crate) value: i64,
    /// The worlds in which it is that.
    pub(crate) world: Condition,
    /// Where to point.
    pub(crate) span: Span,
    /// As the user spells the attribute.
    pub(crate) name: &'g str,
    /// Whether nothing is written and the default applies.
    pub(crate) is_default: bool,
    provenance: String,
    origins: &'g [Origin],
}

impl<'g> Operand<'g> {
    /// `value` as it was found in `known`.
    pub(crate) fn new<T>(known: &Known<'g, T>, value: i64) -> Self {
        Operand {
            value,
            world: known.world.clone(),
            span: known.span(),
            name: known.name,
            is_default: known.case.is_default(),
            provenance: known.provenance(),
            origins: &known.case.origins,
        }
    }

    /// `30 s (the default)`, `345600 s (4 days, the default)`.
    pub(crate) fn seconds(&self) -> String {
        let seconds = Seconds(self.value);
        match (seconds.in_words(), self.provenance.strip_prefix(" (")) {
            (Some(words), Some(provenance)) => format!("{seconds} ({words}, {provenance}"),
            (Some(words), None) => format!("{seconds} ({words})"),
            (None, _) => format!("{seconds}{}", self.provenance),
        }
    }

    /// `3 (the default of `var.receives`)`.
    pub(crate) fn count(&self) -> String {
        format!("{}{}", self.value, self.provenance)
    }

    /// `said` of a number that is written somewhere; that `service`'s default applies of one that is not.
    pub(crate) fn or_default(&self, said: String, service: &str) -> String {
        if self.is_default {
            format!(
                "`{}` is not set: {service}'s default of {} applies",
                self.name,
                Seconds(self.value).spoken()
            )
        } else {
            said
        }
    }

    /// `diagnostic` with the place where the number is written, when that is another than [`Operand::span`].
    pub(crate) fn trace(&self, diagnostic: Diagnostic) -> Diagnostic {
        trace(self.origins.last(), self.span, diagnostic)
    }

    /// Where the number stands in the files, or would.
    pub(crate) fn place(&self, resource: &Resource) -> Place {
        Place {
            header: resource.header,
            name: self.name.to_owned(),
            written: (!self.is_default).then_some(self.span),
            origins: self.origins.iter().map(|origin| origin.span).collect(),
            value: (!self.is_default).then_some(self.value),
        }
    }

    /// The change that writes `value` in place of this number.
    pub(crate) fn write(&self, resource: &Resource, value: i64) -> Change {
        Change::Number {
            place: self.place(resource),
            value,
        }
    }

    /// `diagnostic` with `message` as a further label at this number.
    pub(crate) fn show(&self, diagnostic: Diagnostic, message: String) -> Diagnostic {
        self.trace(diagnostic.label(self.span, message))
    }
}

impl Read for Operand<'_> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        all.insert(self.span);
        all.extend(self.origins.iter().map(|origin| origin.span));
    }
}

/// `diagnostic` with a label at `origin`, when that is another place than `span`.
pub(crate) fn trace(origin: Option<&Origin>, span: Span, diagnostic: Diagnostic) -> Diagnostic {
    match origin.filter(|origin| origin.span != span) {
        Some(origin) => diagnostic.label(origin.span, origin.shown()),
        None => diagnostic,
    }
}

impl Findings<'_> {
    /// The numbers of `attribute` inside `range`, in the worlds of `world`; unresolved ones are noted, and those
    /// outside are for `other` to judge, where there is such a rule.
    pub(crate) fn numbers<'a, T: Number>(
        &mut self,
        world: &Condition,
        resource: &Resource,
        attribute: &'a Attribute<T>,
        range: &RangeInclusive<i64>,
        other: Option<&'static Rule>,
    ) -> Vec<Operand<'a>> {
        let known = self.known(world, resource, attribute);
        let operands = known.iter().map(|known| Operand::new(known, known.value.number()));
        let (inside, outside): (Vec<_>, Vec<_>) = operands.partition(|operand| range.contains(&operand.value));
        if let Some(other) = other {
            for operand in outside {
                self.yields(&operand.world, resource, &[&operand], other);
            }
        }
        inside
    }

    /// Visibility timeouts of `queue`.
    pub(crate) fn visibility<'a>(&mut self, world: &Condition, queue: &'a Queue) -> Vec<Operand<'a>> {
        let (range, other) = (&limits::VISIBILITY_TIMEOUT, Some(&queue_attribute_out_of_range::RULE));
        self.numbers(world, &queue.resource, &queue.visibility_timeout, range, other)
    }

    /// Retention periods of `queue`.
    pub(crate) fn retention<'a>(&mut self, world: &Condition, queue: &'a Queue) -> Vec<Operand<'a>> {
        let (range, other) = (&limits::RETENTION, Some(&queue_attribute_out_of_range::RULE));
        self.numbers(world, &queue.resource, &queue.retention, range, other)
    }

    /// Delivery delays of `queue`.
    pub(crate) fn delay<'a>(&mut self, world: &Condition, queue: &'a Queue) -> Vec<Operand<'a>> {
        let (range, other) = (&limits::DELAY, Some(&queue_attribute_out_of_range::RULE));
        self.numbers(world, &queue.resource, &queue.delay, range, other)
    }

    /// Batching windows of `mapping`.
    pub(crate) fn window<'a>(&mut self, world: &Condition, mapping: &'a EventSourceMapping) -> Vec<Operand<'a>> {
        self.numbers(world, &mapping.resource, &mapping.window, &limits::WINDOW, None)
    }

    /// Redrive policies of `queue`, `None` where it has none.
    pub(crate) fn redrives<'a>(
        &mut self,
        world: &Condition,
        queue: &'a Queue,
    ) -> Vec<Known<'a, Option<Box<RedrivePolicy>>>> {
        self.known(world, &queue.resource, &queue.redrive)
    }

    /// Receive counts of the redrive policies of `queue`, whatever their range. Nothing where the policy holds no
    /// whole number: that is a fault, and faults have rules of their own.
    pub(crate) fn any_receive_counts<'a>(&mut self, world: &Condition, queue: &'a Queue) -> Vec<Operand<'a>> {
        let mut all = Vec::new();
        for known in self.redrives(world, queue) {
            let Some(policy) = known.value else { continue };
            if let Some(fault) = policy.faults.iter().find(|fault| hides_count(&fault.kind)) {
                let other = match fault.kind {
                    PolicyFault::CountNotInteger(_) => &max_receive_count_out_of_range::RULE,
                    _ => &redrive_policy_malformed::RULE,
                };
                self.yields(&known.world, &queue.resource, &[&known, &fault.span], other);
                continue;
            }
            let counts = self.known(&known.world, &queue.resource, &policy.max_receive_count);
            all.extend(counts.iter().map(|count| Operand::new(count, *count.value)));
        }
        all
    }

    /// Receive counts of the redrive policies of `queue`, inside their range.
    pub(crate) fn receive_counts<'a>(&mut self, world: &Condition, queue: &'a Queue) -> Vec<Operand<'a>> {
        let all = self.any_receive_counts(world, queue);
        let is_inside = |count: &Operand<'_>| limits::MAX_RECEIVE_COUNT.contains(&count.value);
        let (inside, outside): (Vec<_>, Vec<_>) = all.into_iter().partition(is_inside);
        for count in outside {
            let other = &max_receive_count_out_of_range::RULE;
            self.yields(&count.world, &queue.resource, &[&count], other);
        }
        inside
    }

    /// Targets of the redrive policies of `queue`. Nothing where a policy names none: that is a fault.
    pub(crate) fn redrive_targets<'a>(&mut self, world: &Condition, queue: &'a Queue) -> Vec<Known<'a, Link>> {
        let mut all = Vec::new();
        for known in self.redrives(world, queue) {
            let Some(policy) = known.value else { continue };
            if let Some(fault) = policy.faults.iter().find(|fault| hides_target(&fault.kind)) {
                let other = &redrive_policy_malformed::RULE;
                self.yields(&known.world, &queue.resource, &[&known, &fault.span], other);
                continue;
            }
            all.extend(self.known(&known.world, &queue.resource, &policy.target));
        }
        all
    }
}

fn hides_count(fault: &PolicyFault) -> bool {
    match fault {
        PolicyFault::NotAnObject | PolicyFault::CountMissing | PolicyFault::CountNotInteger(_) => true,
        PolicyFault::UnknownKey(_) | PolicyFault::TargetMissing | PolicyFault::CountQuoted(_) => false,
    }
}

fn hides_target(fault: &PolicyFault) -> bool {
    matches!(fault, PolicyFault::NotAnObject | PolicyFault::TargetMissing)
}
