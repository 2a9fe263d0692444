//! Who notices what arrives in a dead-letter queue.
//!
//! An alarm counts wherever it is declared: under a condition, with a `count` of zero, in another environment. Where its
//! author leaves it out, that is meant. What may notice and is not known to (a name that is not known, a mapping with an
//! unresolved source) is a [`Doubt`], and leaves the queue undecided.

use super::alarms::{NAMESPACE, is_blind, is_namespace_slip, is_telling};
use super::{
    Alarm, AlarmMetric, Attribute, Cause, Graph, Link, Pattern, Queue, Reason, Resource, State, Target, UnitId,
    Unresolved,
};
use crate::conditions::Condition;
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

type Key = (UnitId, Arc<str>);

/// Something that may notice what arrives in a queue.
#[derive(Debug, Clone)]
pub struct Doubt {
    /// Where it may.
    pub when: Condition,
    /// Why that is not known.
    pub reason: Reason,
    /// What is not known.
    pub span: Span,
}

/// An alarm on a queue whose name is not known whole.
#[derive(Debug)]
struct Patterned {
    unit: UnitId,
    name: Pattern,
    doubt: Doubt,
}

/// So many letters have to agree for two names in two units to be taken for one.
pub(super) const LEAST_LETTERS: usize = 4;

/// Which metrics are asked for, by name.
type Counts = fn(&str) -> bool;

/// What is known about who watches queues. Made once a rule, since it goes over every alarm.
#[derive(Debug, Default)]
pub struct Watch<'g> {
    /// By queue: alarms on the metrics asked for, those that are left out too.
    alarms: FxHashMap<Key, Vec<&'g Alarm>>,
    /// By queue: where it takes the failures of something.
    dead_letter: FxHashMap<Key, Condition>,
    /// By queue: where an alarm, a mapping or a pipe notices its messages.
    noticed: FxHashMap<Key, Condition>,
    /// What may notice messages of one queue.
    doubts: FxHashMap<Key, Vec<Doubt>>,
    /// What may notice messages of any queue in a unit.
    open: FxHashMap<UnitId, Vec<Doubt>>,
    /// What may notice messages of queues with some name.
    patterned: Vec<Patterned>,
    /// By what is known of the name, places in `patterned`.
    skeletons: FxHashMap<String, Vec<usize>>,
    /// By the outermost of nested stacks: whether any of them declares an alarm on a metric of SQS, or may.
    alarming: FxHashSet<&'g str>,
}

impl<'g> Watch<'g> {
    /// The alarms that look at `queue`, or may, wherever they are declared.
    pub fn alarms(&self, queue: &Queue) -> &[&'g Alarm] {
        self.alarms.get(&key(queue)).map_or(&[], Vec::as_slice)
    }

    /// The condition under which `queue` is a dead-letter queue.
    pub fn dead_letter_when(&self, queue: &Queue) -> Condition {
        let when = self.dead_letter.get(&key(queue));
        when.map_or_else(Condition::never, |when| when.and(&queue.resource.when))
    }

    /// The condition under which something notices what arrives in `queue`.
    pub fn noticed_when(&self, queue: &Queue) -> Condition {
        let when = self.noticed.get(&key(queue));
        when.cloned().unwrap_or_else(Condition::never)
    }

    /// What may notice it.
    pub fn doubts(&self, queue: &Queue) -> Vec<&Doubt> {
        let unit = queue.resource.unit;
        let own = self.doubts.get(&key(queue)).into_iter().flatten();
        let here = self.open.get(&unit).into_iter().flatten();
        let mut all: Vec<&Doubt> = own.chain(here).collect();
        for name in names(queue) {
            let beside = self.patterned.iter().filter(|other| other.unit == unit);
            all.extend(
                beside
                    .filter(|other| name.may_be(&other.name))
                    .map(|other| &other.doubt),
            );
            // The same unresolved name in two stacks may well be the same name.
            let same = self.skeletons.get(&name.to_string()).into_iter().flatten();
            let same = same.filter_map(|at| self.patterned.get(*at));
            all.extend(
                same.filter(|_| name.letters() >= LEAST_LETTERS)
                    .map(|other| &other.doubt),
            );
        }
        all
    }

    fn notice(&mut self, queue: &Queue, when: &Condition) {
        let entry = self.noticed.entry(key(queue)).or_insert_with(Condition::never);
        *entry = entry.or(when);
    }

    fn doubt(&mut self, queue: &Queue, doubt: Doubt) {
        self.doubts.entry(key(queue)).or_default().push(doubt);
    }

    /// Some queue of `unit`, or with this name, may be noticed.
    fn open(&mut self, unit: UnitId, name: Option<&Pattern>, doubt: Doubt) {
        let Some(name) = name.filter(|name| name.letters() > 0) else {
            self.open.entry(unit).or_default().push(doubt);
            return;
        };
        let same = self.skeletons.entry(name.to_string()).or_default();
        same.push(self.patterned.len());
        let name = name.clone();
        self.patterned.push(Patterned { unit, name, doubt });
    }
}

/// The names that `queue` has, as far as they are known.
fn names(queue: &Queue) -> Vec<Pattern> {
    let names = queue.name.cases.iter().filter_map(|case| match &case.state {
        State::Set(name) | State::Default(name) => name.as_deref().map(Pattern::from),
        State::Unresolved(unresolved) => Some(name_of(unresolved)),
    });
    names.collect()
}

/// What is known of a name that is not known whole.
pub(super) fn name_of(unresolved: &Unresolved) -> Pattern {
    let pattern = unresolved.pattern().cloned();
    pattern.unwrap_or_else(|| std::iter::once(None).collect())
}

impl Graph {
    /// Finds the dead-letter queues and who watches them.
    pub fn dead_letter_watch(&self) -> Watch<'_> {
        let mut watch = self.alarm_watch(|metric| is_telling(metric) || is_blind(metric));
        self.find_dead_letter_queues(&mut watch);
        for mapping in self.mappings() {
            self.find_consumed_queue(&mut watch, &mapping.resource, &mapping.enabled, &mapping.queue);
        }
        for pipe in &self.deliveries().pipes {
            self.find_consumed_queue(&mut watch, &pipe.resource, &pipe.running, &pipe.source);
        }
        for queue in self.queues() {
            let when = self.emptied_when(queue);
            if when.is_possible() {
                watch.notice(queue, &when);
            }
        }
        watch
    }

    /// Finds the alarms on metrics that `counts` accepts.
    pub fn alarm_watch(&self, counts: Counts) -> Watch<'_> {
        let mut watch = Watch::default();
        for alarm in self.alarms().iter().chain(self.left_out_alarms()) {
            if let Some(reason) = &alarm.opaque {
                self.may_look(&mut watch, alarm, reason);
            }
            for metric in &alarm.metrics {
                self.find_watched_queue(&mut watch, alarm, metric, counts);
            }
        }
        for (unit, link, span) in self.left_out_calls() {
            if let Some(queue) = self.queue(*unit, link) {
                let reason = "a module that is not created here may watch it";
                watch.doubt(queue, always(Cause::Run.because(reason), *span));
            }
        }
        watch
    }

    /// Whether `unit`, or a stack that is deployed with it, declares an alarm on any queue.
    pub fn has_queue_alarms(&self, watch: &Watch<'_>, unit: UnitId) -> bool {
        watch.alarming.contains(self.deployment(unit))
    }

    /// The outermost of the nested stacks that `unit` is one of, which are deployed together.
    pub fn deployment(&self, unit: UnitId) -> &str {
        let key = self.unit(unit).key();
        key.split_once('#').map_or(key, |(outermost, _)| outermost)
    }

    /// Whether something besides its actions hears when `alarm` goes off, or may.
    pub fn is_heard(&self, alarm: &Alarm) -> bool {
        let names = || alarm.name.cases.iter().map(|case| case.value());
        self.alarm_listeners().iter().any(|listener| match &listener.names {
            None => true,
            // A generated name stands in no text.
            Some(text) => {
                names().any(|name| name.is_none_or(|name| name.as_ref().is_some_and(|name| text.contains(name))))
            }
        })
    }

    /// The alarms with a metric that names `queue`.
    pub fn alarms_on<'g>(&'g self, queue: &'g Queue) -> impl Iterator<Item = &'g Alarm> {
        self.alarms()
            .iter()
            .filter(|alarm| alarm.metrics.iter().any(|metric| self.looks_at(alarm, metric, queue)))
    }

    /// Whether `metric` of `alarm` names `queue` in some case.
    pub fn looks_at(&self, alarm: &Alarm, metric: &AlarmMetric, queue: &Queue) -> bool {
        let mut links = metric.queue.cases.iter().filter_map(|case| case.value());
        links.any(|link| {
            let mut candidates = self.queue_candidates(alarm.resource.unit, link);
            candidates.any(|found| std::ptr::eq(found, queue))
        })
    }

    /// The queues that `metric` of `alarm` names in some case.
    pub fn looked_at<'g>(&'g self, alarm: &'g Alarm, metric: &'g AlarmMetric) -> Vec<&'g Queue> {
        let links = metric.queue.cases.iter().filter_map(|case| case.value());
        links
            .flat_map(|link| self.queue_candidates(alarm.resource.unit, link))
            .collect()
    }

    fn find_dead_letter_queues(&self, watch: &mut Watch<'_>) {
        let mut add = |unit: UnitId, link: &Link, when: &Condition| {
            if let Some(queue) = self.queue(unit, link) {
                let entry = watch.dead_letter.entry(key(queue)).or_insert_with(Condition::never);
                *entry = entry.or(when);
            }
        };
        for source in self.queues() {
            for (when, link) in source.redrive_targets(&source.resource.when) {
                add(source.resource.unit, link, &when);
            }
        }
        for (unit, used) in self.dead_letter_uses() {
            for (when, _, link) in used.target.known_in(&used.when) {
                add(*unit, link, &when);
            }
        }
    }

    fn may_look<'g>(&'g self, watch: &mut Watch<'g>, alarm: &Alarm, reason: &Reason) {
        let Resource { unit, header, .. } = &alarm.resource;
        watch.alarming.insert(self.deployment(*unit));
        watch.open(*unit, None, always(reason.clone(), *header));
    }

    fn find_watched_queue<'g>(
        &'g self,
        watch: &mut Watch<'g>,
        alarm: &'g Alarm,
        metric: &'g AlarmMetric,
        counts: Counts,
    ) {
        let unit = alarm.resource.unit;
        let on_queues = asked(&metric.namespace, |name| name == NAMESPACE || is_namespace_slip(name));
        if matches!(on_queues, Answer::No) {
            return;
        }
        watch.alarming.insert(self.deployment(unit));
        let tells = asked(&metric.metric, |name| counts(name));
        let open = match (on_queues, tells) {
            (_, Answer::No) => return,
            (Answer::Open(doubt), _) | (_, Answer::Open(doubt)) => Some(doubt),
            _ => None,
        };
        for queue in self.looked_at(alarm, metric) {
            watch.alarms.entry(key(queue)).or_default().push(alarm);
            // Queues that share a name (one a Region, say): each of them may be the one.
            match &open {
                None => watch.notice(queue, &Condition::always()),
                Some(doubt) => watch.doubt(queue, doubt.clone()),
            }
        }
        for case in &metric.queue.cases {
            if let State::Unresolved(unresolved) = &case.state {
                // The queue is left out with its alarm: its `[0]` names nothing, and none of the others.
                let is_there = !alarm.is_left_out && case.when.and(&alarm.resource.when).is_possible();
                if !is_there && unresolved.reason().cause() == Cause::Invalid {
                    continue;
                }
                let doubt = always(unresolved.reason().clone(), case.span);
                watch.open(unit, unresolved.pattern(), doubt);
            }
        }
        self.find_namesakes(watch, alarm, metric);
    }

    /// A name that is known may be that of a queue whose name is not.
    fn find_namesakes<'g>(&'g self, watch: &mut Watch<'g>, alarm: &Alarm, metric: &'g AlarmMetric) {
        for case in &metric.queue.cases {
            let Some(Target::External(written)) = case.value().map(|link| &link.target) else {
                continue;
            };
            let name = Pattern::from(&**written);
            for queue in self.queues() {
                let is_here = queue.resource.unit == alarm.resource.unit;
                let mut cases = queue.name.cases.iter();
                let fits = cases.any(|case| match &case.state {
                    State::Unresolved(unresolved) => {
                        let pattern = name_of(unresolved);
                        pattern.may_be(&name) && (is_here || pattern.letters() >= LEAST_LETTERS)
                    }
                    State::Set(_) | State::Default(_) => false,
                });
                if fits {
                    let reason = "the name of the queue is not known, and an alarm names one like it";
                    watch.doubt(queue, always(Cause::Derived.because(reason), case.span));
                }
            }
        }
    }

    fn find_consumed_queue(
        &self,
        watch: &mut Watch<'_>,
        reader: &Resource,
        active: &Attribute<bool>,
        source: &Attribute<Link>,
    ) {
        let polls = when_known(active, |active| *active).and(&reader.when);
        for case in &source.cases {
            let when = polls.and(&case.when);
            match &case.state {
                State::Set(link) | State::Default(link) => {
                    let Some(queue) = self.queue(reader.unit, link) else {
                        continue;
                    };
                    watch.notice(queue, &when);
                    if let Some((case, reason)) = active.unresolved_reason() {
                        watch.doubt(queue, always(reason.reason().clone(), case.span));
                    }
                }
                // What comes from outside of the unit is no queue of the unit.
                State::Unresolved(unresolved) if comes_from_outside(unresolved.reason()) => {}
                State::Unresolved(unresolved) => {
                    let doubt = Doubt {
                        when: reader.when.and(&case.when),
                        reason: unresolved.reason().clone(),
                        span: case.span,
                    };
                    watch.open(reader.unit, None, doubt);
                }
            }
        }
    }
}

fn comes_from_outside(reason: &Reason) -> bool {
    match reason.cause() {
        Cause::InputWithoutValue | Cause::ModuleNotHere | Cause::Elsewhere | Cause::Run | Cause::Secret => true,
        Cause::KnownAfterApply
        | Cause::Limit
        | Cause::Unsupported
        | Cause::Invalid
        | Cause::WrongType
        | Cause::NotRead
        | Cause::Undeclared
        | Cause::Derived => false,
    }
}

fn key(queue: &Queue) -> Key {
    (queue.resource.unit, queue.resource.address.clone())
}

fn always(reason: Reason, span: Span) -> Doubt {
    Doubt {
        when: Condition::always(),
        reason,
        span,
    }
}

/// Whether an attribute has a wanted value in any case.
enum Answer {
    Yes,
    No,
    /// It may, and why that is not known.
    Open(Doubt),
}

fn asked<T>(attribute: &Attribute<T>, wanted: impl Fn(&T) -> bool) -> Answer {
    if attribute.cases.iter().any(|case| case.value().is_some_and(&wanted)) {
        return Answer::Yes;
    }
    let unresolved = attribute.unresolved_reason();
    unresolved.map_or(Answer::No, |(case, reason)| {
        Answer::Open(always(reason.reason().clone(), case.span))
    })
}

/// Where `attribute` has a wanted value.
fn when_known<T>(attribute: &Attribute<T>, wanted: impl Fn(&T) -> bool) -> Condition {
    let cases = attribute.cases.iter().filter(|case| case.value().is_some_and(&wanted));
    cases.fold(Condition::never(), |all, case| all.or(&case.when))
}
