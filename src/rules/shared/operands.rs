//! Reads values of the graph for checks, each with its condition and the data needed to point at it, to spell it and to
//! change it.
//!
//! Numbers are restricted to AWS's quota. Its range rule alone reports a number outside, and no other rule computes
//! with it.

use super::few::Few;
use super::findings::Findings;
use super::trace::{ReadValue, UnknownPart};
use crate::diagnostic::{Change, Place};
use crate::graph::limits::{self, Quota, Unit};
use crate::graph::{
    Attribute, Case, Condition, EventSourceMapping, Link, Origins, PolicyErrorKind, Queue, RedrivePolicy, Resource,
    Seconds,
};
use crate::rules::Cause;
use source::Span;
use std::collections::BTreeSet;
use std::ops::Deref;

/// Location of a value, its origin, and the user's spelling of its attribute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Provenance<'g> {
    /// Span of the value, or of the resource if the attribute is absent.
    pub(crate) span: Span,
    /// Name of the attribute in the user's spelling.
    pub(crate) name: &'g str,
    /// `true` if the attribute is absent and the default applies.
    pub(crate) is_default: bool,
    /// Steps from `span` to where the value itself is written, nearest first.
    pub(crate) origins: &'g Origins,
    header: Span,
}

impl<'g> Provenance<'g> {
    pub(super) fn new<T>(case: &'g Case<T>, name: &'g str, resource: &Resource) -> Self {
        Provenance {
            span: case.span,
            name,
            is_default: case.is_default(),
            origins: &case.origins,
            header: resource.header,
        }
    }

    /// Describes the origin, as a suffix of the value: ` (the default)`, ` (the default of `var.visibility`)`, or an
    /// empty string if the value is written in place.
    pub(crate) fn provenance(&self) -> String {
        if self.is_default {
            return " (the default)".to_owned();
        }
        let computed = self.origins.iter().find(|origin| origin.computes);
        let origin = computed.or(self.origins.last());
        origin.map_or_else(String::new, |origin| format!(" ({})", origin.what))
    }

    /// Returns `true` if the value is written elsewhere and only referred to here.
    pub(crate) fn is_written_elsewhere(&self) -> bool {
        !self.origins.is_empty()
    }

    /// Returns the reason for which a written attribute has no value: "`var.redrives`, which is false".
    pub(crate) fn null_cause(&self) -> Option<&'g str> {
        let origin = self.origins.first().filter(|_| self.is_default);
        origin.map(|origin| &*origin.what)
    }

    /// Returns the attribute in the form that changes refer to.
    fn place(&self, value: Option<i64>) -> Place {
        Place {
            header: self.header,
            name: self.name.to_owned(),
            written: (!self.is_default).then_some(self.span),
            origins: self.origins.iter().map(|origin| origin.span).collect(),
            value: value.filter(|_| !self.is_default),
        }
    }

    /// Returns the change that replaces a reference to a queue by the queue's ARN. Returns `None` for a value written
    /// elsewhere, which may have other uses.
    pub(crate) fn arn(&self) -> Option<Change> {
        self.origins.is_empty().then_some(Change::Arn(self.span))
    }

    /// Returns the change that turns on partial batch responses, if the attribute is absent.
    pub(crate) fn report_failures(&self) -> Option<Change> {
        self.is_default.then(|| Change::ReportFailures(self.place(None)))
    }

    /// Returns the change that removes the attribute.
    pub(crate) fn removal(&self) -> Change {
        Change::Remove(self.place(None))
    }
}

impl ReadValue for Provenance<'_> {
    fn spans(&self, all: &mut BTreeSet<Span>) {
        all.insert(self.span);
        all.extend(self.origins.iter().map(|origin| origin.span));
    }
}

/// Known value that a check has read.
#[derive(Debug, Clone)]
pub(crate) struct Known<'g, T> {
    /// The value.
    pub(crate) value: &'g T,
    /// Condition under which the attribute has this value.
    pub(crate) when: Condition,
    from: Provenance<'g>,
}

impl<'g, T> Known<'g, T> {
    /// Creates the known `value` of `case` of `attribute`, under the condition `when`.
    pub(crate) fn new(
        value: &'g T,
        when: Condition,
        case: &'g Case<T>,
        attribute: &'g Attribute<T>,
        resource: &Resource,
    ) -> Self {
        Known {
            value,
            when,
            from: Provenance::new(case, &attribute.name, resource),
        }
    }
}

impl<'g, T: Number> Known<'g, T> {
    /// Returns the value as a number of `unit`s, if it is a number.
    pub(crate) fn number(&self, unit: Unit) -> Option<Operand<'g>> {
        Some(Operand {
            value: self.value.number()?,
            unresolved: None,
            unit,
            when: self.when.clone(),
            from: self.from,
        })
    }
}

impl<'g, T> Deref for Known<'g, T> {
    type Target = Provenance<'g>;

    fn deref(&self) -> &Provenance<'g> {
        &self.from
    }
}

impl<T> ReadValue for Known<'_, T> {
    fn spans(&self, all: &mut BTreeSet<Span>) {
        self.from.spans(all);
    }
}

/// Whole number, with or without a unit.
pub(crate) trait Number {
    /// Returns the number without its unit; `None` if it is absent.
    fn number(&self) -> Option<i64>;
}

impl Number for i64 {
    fn number(&self) -> Option<i64> {
        Some(*self)
    }
}

impl Number for Seconds {
    fn number(&self) -> Option<i64> {
        Some(self.0)
    }
}

impl<N: Number> Number for Option<N> {
    fn number(&self) -> Option<i64> {
        self.as_ref()?.number()
    }
}

/// Number that a check computes with.
#[derive(Debug, Clone)]
pub(crate) struct Operand<'g> {
    /// The number. If it is unresolved, the bound that is most favorable to the rule's requirement.
    pub(crate) value: i64,
    /// The other bound and the reason, if the number is unresolved.
    unresolved: Option<UnresolvedNumber<'g>>,
    /// Unit of the number.
    pub(crate) unit: Unit,
    /// Condition under which the number applies.
    pub(crate) when: Condition,
    from: Provenance<'g>,
}

/// Details of a number of which only bounds are known.
#[derive(Debug, Clone, Copy)]
struct UnresolvedNumber<'g> {
    /// Bound that is least favorable to the rule's requirement.
    least_favorable: i64,
    /// Side of the bound in [`Operand::value`].
    side: FavorableBound,
    gap: UnknownPart<'g>,
}

/// Bound of an unresolved number that is most favorable to a rule's requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FavorableBound {
    /// Lower bound: the rule requires a small number.
    Least,
    /// Upper bound: the rule requires a large number.
    Most,
}

impl Operand<'_> {
    /// Returns the number, or the bound that is least favorable to the rule's requirement.
    pub(crate) fn least_favorable(&self) -> i64 {
        self.unresolved.map_or(self.value, |open| open.least_favorable)
    }

    /// Returns `true` if the number itself is known, not only its bounds.
    pub(crate) fn is_known(&self) -> bool {
        self.unresolved.is_none()
    }

    /// Returns the same number under another condition.
    pub(crate) fn under(&self, when: Condition) -> Self {
        Operand { when, ..self.clone() }
    }

    /// Formats the number with its unit in words: `345600 s (4 days)`.
    pub(crate) fn in_words(&self) -> String {
        self.bounded(Seconds::with_words)
    }

    /// Formats the number with its unit, whole days and hours in words only: `4 days`.
    pub(crate) fn readable(&self) -> String {
        self.bounded(Seconds::readable)
    }

    fn bounded(&self, in_seconds: fn(Seconds) -> String) -> String {
        let number = match self.unit {
            Unit::Seconds => in_seconds(Seconds(self.value)),
            _ => self.value.to_string(),
        };
        match self.unresolved.map(|open| open.side) {
            None => number,
            Some(FavorableBound::Least) => format!("at least {number}"),
            Some(FavorableBound::Most) => format!("at most {number}"),
        }
    }

    /// Formats the number with its unit and its origin: `30 s (the default)`, `345600 s (4 days, the default)`.
    pub(crate) fn shown(&self) -> String {
        // A file that leaves the value to the default has no seconds to find.
        let words = if self.is_default {
            self.readable()
        } else {
            self.in_words()
        };
        let provenance = self.provenance();
        match (words.strip_suffix(')'), provenance.strip_prefix(" (")) {
            (Some(words), Some(provenance)) => format!("{words}, {provenance}"),
            _ => words + &provenance,
        }
    }

    /// Formats the number with a noun and its origin: `1 receive (the argument of module `orders`)`.
    pub(crate) fn counted(&self, what: &str) -> String {
        format!("{} {what}{}", self.in_words(), self.provenance())
    }

    /// Returns `said` if the attribute is written, and a sentence about the default of `service` otherwise.
    pub(crate) fn or_default(&self, service: &str, said: String) -> String {
        if !self.is_default {
            return said;
        }
        let (name, default) = (self.name, self.readable());
        format!("`{name}` is not set: {service}'s default of {default} applies")
    }

    /// Returns the change that replaces this number by `value`.
    pub(crate) fn set_to(&self, value: i64) -> Change {
        let place = self.place(Some(self.value).filter(|_| self.is_known()));
        Change::Number { place, value }
    }
}

impl<'g> Deref for Operand<'g> {
    type Target = Provenance<'g>;

    fn deref(&self) -> &Provenance<'g> {
        &self.from
    }
}

impl ReadValue for Operand<'_> {
    fn spans(&self, all: &mut BTreeSet<Span>) {
        self.from.spans(all);
    }

    fn unresolved(&self) -> Option<UnknownPart<'_>> {
        Some(self.unresolved?.gap)
    }
}

impl Findings<'_> {
    /// Returns the numbers of `attribute` under the condition `when` that AWS accepts. Unresolved ones are noted, and
    /// out-of-range ones are left to their range rule.
    pub(crate) fn numbers<'a, T: Number>(
        &mut self,
        when: &Condition,
        resource: &impl AsRef<Resource>,
        attribute: &'a Attribute<T>,
        quota: &'static Quota,
    ) -> Few<Operand<'a>> {
        let all = self.any_numbers(when, resource, attribute, quota.unit);
        self.accepted(resource, quota, all)
    }

    /// Like [`Findings::numbers`], but includes unresolved numbers with their bounds: the written bounds, limited by
    /// the `quota`. `side` is the bound that is most favorable to the rule's requirement. A requirement on such a
    /// number is unresolved only if its bounds give different results ([`Findings::require`]).
    pub(crate) fn bounded_numbers<'a, T: Number>(
        &mut self,
        when: &Condition,
        resource: &'a impl AsRef<Resource>,
        attribute: &'a Attribute<T>,
        quota: &'static Quota,
        side: FavorableBound,
    ) -> Few<Operand<'a>> {
        let all = self.any_bounded_numbers(when, resource, attribute, quota, side);
        self.accepted(resource, quota, all)
    }

    /// Like [`Findings::bounded_numbers`], including out-of-range numbers.
    pub(crate) fn any_bounded_numbers<'a, T: Number>(
        &mut self,
        when: &Condition,
        resource: &'a impl AsRef<Resource>,
        attribute: &'a Attribute<T>,
        quota: &'static Quota,
        side: FavorableBound,
    ) -> Few<Operand<'a>> {
        let mut bounded = Few::new();
        let known = self.known_or(when, resource, attribute, |_, when, case, unresolved| {
            let bounds = unresolved.bounds();
            let least = bounds.least.map_or(quota.least, |least| least.max(quota.least));
            let most = bounds.most.map_or(quota.most, |most| most.min(quota.most));
            let (value, least_favorable) = match side {
                FavorableBound::Least => (least, most),
                FavorableBound::Most => (most, least),
            };
            // If all bounds are outside the quota, the range rule reports the number once it is known.
            if least > most {
                return;
            }
            bounded.push(Operand {
                value,
                unresolved: Some(UnresolvedNumber {
                    least_favorable,
                    side,
                    gap: UnknownPart {
                        reason: unresolved.reason(),
                        cause: case.source_span(),
                        resource: resource.as_ref(),
                    },
                }),
                unit: quota.unit,
                when: when.clone(),
                from: Provenance::new(case, &attribute.name, resource.as_ref()),
            });
        });
        let known = known.iter().filter_map(|known| known.number(quota.unit));
        known.chain(bounded).collect()
    }

    /// Returns the numbers of `attribute` under the condition `when`, including out-of-range ones.
    pub(crate) fn any_numbers<'a, T: Number>(
        &mut self,
        when: &Condition,
        resource: &impl AsRef<Resource>,
        attribute: &'a Attribute<T>,
        unit: Unit,
    ) -> Few<Operand<'a>> {
        let known = self.known(when, resource, attribute);
        known.iter().filter_map(|known| known.number(unit)).collect()
    }

    /// Returns the numbers of `all` that AWS accepts. The others are left to their range rule.
    fn accepted<'a>(
        &mut self,
        resource: &impl AsRef<Resource>,
        quota: &'static Quota,
        all: Few<Operand<'a>>,
    ) -> Few<Operand<'a>> {
        let mut inside = all;
        inside.retain(|one| {
            let is_accepted = quota.accepts(one.value);
            if !is_accepted {
                self.leave_to_rule_of(&one.when, resource, &[one], Cause::OutOfRange(quota));
            }
            is_accepted
        });
        inside
    }

    /// Returns the visibility timeouts of `queue`.
    pub(crate) fn visibility<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Operand<'a>> {
        self.numbers(when, queue, &queue.visibility_timeout, &limits::VISIBILITY_TIMEOUT)
    }

    /// Like [`Findings::visibility`], with the upper bounds of unresolved ones ([`Findings::bounded_numbers`]).
    pub(crate) fn most_visibility<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Operand<'a>> {
        let quota = &limits::VISIBILITY_TIMEOUT;
        self.bounded_numbers(when, queue, &queue.visibility_timeout, quota, FavorableBound::Most)
    }

    /// Returns the retention periods of `queue`.
    pub(crate) fn retention<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Operand<'a>> {
        self.numbers(when, queue, &queue.retention, &limits::RETENTION)
    }

    /// Like [`Findings::retention`], with the lower bounds of unresolved ones ([`Findings::bounded_numbers`]).
    pub(crate) fn least_retention<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Operand<'a>> {
        self.bounded_numbers(when, queue, &queue.retention, &limits::RETENTION, FavorableBound::Least)
    }

    /// Returns the delivery delays of `queue`.
    pub(crate) fn delay<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Operand<'a>> {
        self.numbers(when, queue, &queue.delay, &limits::DELAY)
    }

    /// Returns the batching windows of `mapping`, with the lower bounds of unresolved ones
    /// ([`Findings::bounded_numbers`]).
    pub(crate) fn least_window<'a>(&mut self, when: &Condition, mapping: &'a EventSourceMapping) -> Few<Operand<'a>> {
        self.bounded_numbers(when, mapping, &mapping.window, &limits::WINDOW, FavorableBound::Least)
    }

    /// Returns the batch sizes of `mapping`, including out-of-range ones: the valid range depends on the type of the
    /// queue.
    pub(crate) fn batch_sizes<'a>(&mut self, when: &Condition, mapping: &'a EventSourceMapping) -> Few<Operand<'a>> {
        self.any_numbers(when, mapping, &mapping.batch_size, Unit::Messages)
    }

    /// Returns the redrive policies of `queue`; the value is `None` if it has no policy.
    pub(crate) fn redrives<'a>(
        &mut self,
        when: &Condition,
        queue: &'a Queue,
    ) -> Few<Known<'a, Option<Box<RedrivePolicy>>>> {
        self.known(when, queue, &queue.redrive)
    }

    /// Returns the receive counts of the redrive policies of `queue`, including out-of-range ones. Skips policies
    /// without a whole number, which other rules report.
    pub(crate) fn any_receive_counts<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Operand<'a>> {
        self.read_redrive_policies(when, queue, hides_count, |findings, when, policy| {
            findings.any_numbers(when, queue, &policy.max_receive_count, Unit::Receives)
        })
    }

    /// Returns the receive counts of the redrive policies of `queue`.
    pub(crate) fn receive_counts<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Operand<'a>> {
        let all = self.any_receive_counts(when, queue);
        self.accepted(queue, &limits::MAX_RECEIVE_COUNT, all)
    }

    /// Returns the targets of the redrive policies of `queue`. Skips policies without a target, which another rule
    /// reports.
    pub(crate) fn redrive_targets<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Known<'a, Link>> {
        self.read_redrive_policies(when, queue, hides_target, |findings, when, policy| {
            findings.known(when, queue, &policy.target)
        })
    }

    /// Applies `read` to the redrive policies of `queue`, except those with a fault for which `hides` returns `true`.
    pub(super) fn read_redrive_policies<'a, T>(
        &mut self,
        when: &Condition,
        queue: &'a Queue,
        hides: fn(&PolicyErrorKind) -> bool,
        mut read: impl FnMut(&mut Self, &Condition, &'a RedrivePolicy) -> Few<T>,
    ) -> Few<T> {
        let mut all = Few::new();
        for redrive in self.redrives(when, queue) {
            let Some(policy) = redrive.value else { continue };
            match policy.faults.iter().find(|fault| hides(&fault.kind)) {
                Some(fault) => {
                    let cause = match fault.kind {
                        PolicyErrorKind::CountNotInteger(_) => Cause::OutOfRange(&limits::MAX_RECEIVE_COUNT),
                        _ => Cause::MalformedPolicy,
                    };
                    self.leave_to_rule_of(&redrive.when, queue, &[&redrive, &fault.span], cause);
                }
                None => all.extend(read(self, &redrive.when, policy)),
            }
        }
        all
    }
}

fn hides_count(fault: &PolicyErrorKind) -> bool {
    match fault {
        PolicyErrorKind::NotAnObject | PolicyErrorKind::CountMissing | PolicyErrorKind::CountNotInteger(_) => true,
        PolicyErrorKind::UnknownKey(_)
        | PolicyErrorKind::TargetMissing
        | PolicyErrorKind::CountQuoted(_)
        | PolicyErrorKind::CountConverted(_) => false,
    }
}

pub(super) fn hides_target(fault: &PolicyErrorKind) -> bool {
    matches!(fault, PolicyErrorKind::NotAnObject | PolicyErrorKind::TargetMissing)
}
