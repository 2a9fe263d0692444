//! Values that checks read from the graph, each with the condition under which it holds and all it takes to point at
//! it, to spell it and to change it.
//!
//! Numbers are read within AWS's quota: one outside is judged by its range rule alone, and no other computes with it.

use super::few::Few;
use super::findings::Findings;
use super::trace::{Gap, Read};
use crate::diagnostic::{Change, Place};
use crate::graph::limits::{self, Quota, Unit};
use crate::graph::{
    Attribute, Case, Condition, EventSourceMapping, Link, Origin, PolicyFault, Queue, RedrivePolicy, Resource, Seconds,
};
use crate::rules::Cause;
use crate::source::Span;
use std::collections::BTreeSet;
use std::ops::Deref;

/// Where a value stands in the files, where it comes from, and how the user spells its attribute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Provenance<'g> {
    /// Where to point: the value, or the resource where nothing is written.
    pub(crate) span: Span,
    /// As the user spells the attribute.
    pub(crate) name: &'g str,
    /// Whether nothing is written and the default applies.
    pub(crate) is_default: bool,
    /// The steps from `span` to where the value itself stands, nearest first.
    pub(crate) origins: &'g [Origin],
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

    /// In words, to put behind the value: ` (the default)`, ` (the default of `var.visibility`)`, or nothing where it
    /// is written in place.
    pub(crate) fn provenance(&self) -> String {
        if self.is_default {
            return " (the default)".to_owned();
        }
        let computed = self.origins.iter().find(|origin| origin.computes);
        let origin = computed.or(self.origins.last());
        origin.map_or_else(String::new, |origin| format!(" ({})", origin.what))
    }

    /// Whether it is written elsewhere, and comes here by a name.
    pub(crate) fn is_handed_in(&self) -> bool {
        !self.origins.is_empty()
    }

    /// What makes nothing of an attribute that is written: "`var.redrives`, which is false".
    pub(crate) fn made_null(&self) -> Option<&'g str> {
        let origin = self.origins.first().filter(|_| self.is_default);
        origin.map(|origin| &*origin.what)
    }

    /// The attribute, for a change of it.
    fn place(&self, value: Option<i64>) -> Place {
        Place {
            header: self.header,
            name: self.name.to_owned(),
            written: (!self.is_default).then_some(self.span),
            origins: self.origins.iter().map(|origin| origin.span).collect(),
            value: value.filter(|_| !self.is_default),
        }
    }

    /// The change of another reference to a queue to its ARN. One that comes from elsewhere may serve others there.
    pub(crate) fn arn(&self) -> Option<Change> {
        self.origins.is_empty().then_some(Change::Arn(self.span))
    }

    /// The change that asks for the messages of a batch that failed, where nothing is written.
    pub(crate) fn report_failures(&self) -> Option<Change> {
        self.is_default.then(|| Change::ReportFailures(self.place(None)))
    }

    /// The change that takes the attribute away.
    pub(crate) fn removal(&self) -> Change {
        Change::Remove(self.place(None))
    }
}

impl Read for Provenance<'_> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        all.insert(self.span);
        all.extend(self.origins.iter().map(|origin| origin.span));
    }
}

/// A value that a check asked for.
#[derive(Debug, Clone)]
pub(crate) struct Known<'g, T> {
    /// The value.
    pub(crate) value: &'g T,
    /// The condition under which it is that.
    pub(crate) when: Condition,
    from: Provenance<'g>,
}

impl<'g, T> Known<'g, T> {
    /// `value`, as it is in `case` of `attribute` under the condition `when`.
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
    /// The value as a number of `unit`s, where it is one.
    pub(crate) fn number(&self, unit: Unit) -> Option<Operand<'g>> {
        Some(Operand {
            value: self.value.number()?,
            open: None,
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

impl<T> Read for Known<'_, T> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        self.from.places(all);
    }
}

/// A whole number, with or without a unit.
pub(crate) trait Number {
    /// Without it; `None` where there is none.
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

/// A number that a check computes with.
#[derive(Debug, Clone)]
pub(crate) struct Operand<'g> {
    /// The number; of an unresolved one the bound that comes nearest to what the rule requires.
    pub(crate) value: i64,
    /// What is known of an unresolved one besides.
    open: Option<Open<'g>>,
    /// What it counts.
    pub(crate) unit: Unit,
    /// The condition under which it is that.
    pub(crate) when: Condition,
    from: Provenance<'g>,
}

/// What a number is that only bounds are known of.
#[derive(Debug, Clone, Copy)]
struct Open<'g> {
    /// The bound that is farther from what the rule requires.
    far: i64,
    /// The bound that [`Operand::value`] is.
    side: Side,
    gap: Gap<'g>,
}

/// The bound of an unresolved number that comes nearest to what a rule requires of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The rule requires it to be small.
    Least,
    /// The rule requires it to be large.
    Most,
}

impl Operand<'_> {
    /// The number, or the bound that is farthest from what the rule requires.
    pub(crate) fn far(&self) -> i64 {
        self.open.map_or(self.value, |open| open.far)
    }

    /// Whether the number itself is known, and not only its bounds.
    pub(crate) fn is_known(&self) -> bool {
        self.open.is_none()
    }

    /// The same number under another condition.
    pub(crate) fn under(&self, when: Condition) -> Self {
        Operand { when, ..self.clone() }
    }

    /// With its words: `345600 s (4 days)`.
    pub(crate) fn spoken(&self) -> String {
        let number = match self.unit {
            Unit::Seconds => Seconds(self.value).spoken(),
            _ => self.value.to_string(),
        };
        match self.open.map(|open| open.side) {
            None => number,
            Some(Side::Least) => format!("at least {number}"),
            Some(Side::Most) => format!("at most {number}"),
        }
    }

    /// With its words and where it comes from: `30 s (the default)`, `345600 s (4 days, the default)`.
    pub(crate) fn shown(&self) -> String {
        let (spoken, provenance) = (self.spoken(), self.provenance());
        match (spoken.strip_suffix(')'), provenance.strip_prefix(" (")) {
            (Some(words), Some(provenance)) => format!("{words}, {provenance}"),
            _ => spoken + &provenance,
        }
    }

    /// With what it counts, and where it comes from: `1 receive (the argument of module `orders`)`.
    pub(crate) fn counted(&self, what: &str) -> String {
        format!("{} {what}{}", self.spoken(), self.provenance())
    }

    /// `said` of a number that is written somewhere; that `service`'s default applies of one that is not.
    pub(crate) fn or_default(&self, service: &str, said: String) -> String {
        if !self.is_default {
            return said;
        }
        let (name, default) = (self.name, self.spoken());
        format!("`{name}` is not set: {service}'s default of {default} applies")
    }

    /// The change that writes `value` in place of this number.
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

impl Read for Operand<'_> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        self.from.places(all);
    }

    fn unresolved(&self) -> Option<Gap<'_>> {
        Some(self.open?.gap)
    }
}

impl Findings<'_> {
    /// The numbers of `attribute` under the condition `when` that AWS accepts. Unresolved ones are noted, and those
    /// that it does not accept are left to their range rule.
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

    /// As [`Findings::numbers`], and the unresolved ones as far as bounds are known: those that are written, and within
    /// them those of the `quota`. `side` is the bound that comes nearest to what the rule requires, which is unresolved
    /// only where neither bound decides ([`Findings::require`]).
    pub(crate) fn bounded_numbers<'a, T: Number>(
        &mut self,
        when: &Condition,
        resource: &'a impl AsRef<Resource>,
        attribute: &'a Attribute<T>,
        quota: &'static Quota,
        side: Side,
    ) -> Few<Operand<'a>> {
        let all = self.any_bounded_numbers(when, resource, attribute, quota, side);
        self.accepted(resource, quota, all)
    }

    /// The same, in or out of range.
    pub(crate) fn any_bounded_numbers<'a, T: Number>(
        &mut self,
        when: &Condition,
        resource: &'a impl AsRef<Resource>,
        attribute: &'a Attribute<T>,
        quota: &'static Quota,
        side: Side,
    ) -> Few<Operand<'a>> {
        let mut bounded = Few::new();
        let known = self.known_or(when, resource, attribute, |_, when, case, unresolved| {
            let bounds = unresolved.bounds();
            let least = bounds.least.map_or(quota.least, |least| least.max(quota.least));
            let most = bounds.most.map_or(quota.most, |most| most.min(quota.most));
            let (value, far) = match side {
                Side::Least => (least, most),
                Side::Most => (most, least),
            };
            // Bounds outside of the quota are those of a number that its range rule judges, once it is known.
            if least > most {
                return;
            }
            bounded.push(Operand {
                value,
                open: Some(Open {
                    far,
                    side,
                    gap: Gap {
                        reason: unresolved.reason(),
                        cause: case.cause(),
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

    /// The numbers of `attribute` under the condition `when`, in or out of range.
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

    /// Those of `all` that AWS accepts. The others are left to the rule on their range.
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
                self.leave(&one.when, resource, &[one], Cause::OutOfRange(quota));
            }
            is_accepted
        });
        inside
    }

    /// Visibility timeouts of `queue`.
    pub(crate) fn visibility<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Operand<'a>> {
        self.numbers(when, queue, &queue.visibility_timeout, &limits::VISIBILITY_TIMEOUT)
    }

    /// The same, and the most that unresolved ones may be ([`Findings::bounded_numbers`]).
    pub(crate) fn most_visibility<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Operand<'a>> {
        let quota = &limits::VISIBILITY_TIMEOUT;
        self.bounded_numbers(when, queue, &queue.visibility_timeout, quota, Side::Most)
    }

    /// Retention periods of `queue`.
    pub(crate) fn retention<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Operand<'a>> {
        self.numbers(when, queue, &queue.retention, &limits::RETENTION)
    }

    /// The same, and the least that unresolved ones may be ([`Findings::bounded_numbers`]).
    pub(crate) fn least_retention<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Operand<'a>> {
        self.bounded_numbers(when, queue, &queue.retention, &limits::RETENTION, Side::Least)
    }

    /// Delivery delays of `queue`.
    pub(crate) fn delay<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Operand<'a>> {
        self.numbers(when, queue, &queue.delay, &limits::DELAY)
    }

    /// Batching windows of `mapping`, and the least that unresolved ones may be ([`Findings::bounded_numbers`]).
    pub(crate) fn least_window<'a>(&mut self, when: &Condition, mapping: &'a EventSourceMapping) -> Few<Operand<'a>> {
        self.bounded_numbers(when, mapping, &mapping.window, &limits::WINDOW, Side::Least)
    }

    /// Batch sizes of `mapping`, in or out of range: what is in it, the type of the queue decides.
    pub(crate) fn batch_sizes<'a>(&mut self, when: &Condition, mapping: &'a EventSourceMapping) -> Few<Operand<'a>> {
        self.any_numbers(when, mapping, &mapping.batch_size, Unit::Messages)
    }

    /// Redrive policies of `queue`, `None` where it has none.
    pub(crate) fn redrives<'a>(
        &mut self,
        when: &Condition,
        queue: &'a Queue,
    ) -> Few<Known<'a, Option<Box<RedrivePolicy>>>> {
        self.known(when, queue, &queue.redrive)
    }

    /// Receive counts of the redrive policies of `queue`, in or out of range. Nothing where the policy holds no whole
    /// number: that is a fault, and faults have rules of their own.
    pub(crate) fn any_receive_counts<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Operand<'a>> {
        self.in_policies(when, queue, hides_count, |findings, when, policy| {
            findings.any_numbers(when, queue, &policy.max_receive_count, Unit::Receives)
        })
    }

    /// Receive counts of the redrive policies of `queue`.
    pub(crate) fn receive_counts<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Operand<'a>> {
        let all = self.any_receive_counts(when, queue);
        self.accepted(queue, &limits::MAX_RECEIVE_COUNT, all)
    }

    /// Targets of the redrive policies of `queue`. Nothing where a policy names none: that is a fault.
    pub(crate) fn redrive_targets<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Few<Known<'a, Link>> {
        self.in_policies(when, queue, hides_target, |findings, when, policy| {
            findings.known(when, queue, &policy.target)
        })
    }

    /// What `read` finds in the redrive policies of `queue`, but for those with a fault that hides it.
    pub(super) fn in_policies<'a, T>(
        &mut self,
        when: &Condition,
        queue: &'a Queue,
        hides: fn(&PolicyFault) -> bool,
        mut read: impl FnMut(&mut Self, &Condition, &'a RedrivePolicy) -> Few<T>,
    ) -> Few<T> {
        let mut all = Few::new();
        for redrive in self.redrives(when, queue) {
            let Some(policy) = redrive.value else { continue };
            match policy.faults.iter().find(|fault| hides(&fault.kind)) {
                Some(fault) => {
                    let cause = match fault.kind {
                        PolicyFault::CountNotInteger(_) => Cause::OutOfRange(&limits::MAX_RECEIVE_COUNT),
                        _ => Cause::MalformedPolicy,
                    };
                    self.leave(&redrive.when, queue, &[&redrive, &fault.span], cause);
                }
                None => all.extend(read(self, &redrive.when, policy)),
            }
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

pub(super) fn hides_target(fault: &PolicyFault) -> bool {
    matches!(fault, PolicyFault::NotAnObject | PolicyFault::TargetMissing)
}
