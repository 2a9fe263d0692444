//! Finds the alarms, mappings and other consumers that notice messages in a dead-letter queue.
//!
//! An alarm counts even if it does not exist here: under a condition, with a `count` of zero, in another environment.
//! Its author leaves it out on purpose. A resource that may notice messages (an alarm on an unresolved name, a mapping
//! with an unresolved source) is a [`Doubt`] and leaves the queue unjudged.

use super::alarms::{NAMESPACE, is_blind, is_misspelled_namespace, reveals_backlog};
use super::{
    Alarm, AlarmMetric, Attribute, Cause, Graph, Link, Pattern, Queue, Reason, Resource, ResourceKey, State, Target,
    UnitId, Unresolved,
};
use conditions::Condition;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

/// A resource that may notice messages in a queue.
#[derive(Debug, Clone)]
pub struct Doubt {
    /// Condition under which it may.
    pub when: Condition,
    /// Reason why that is unresolved.
    pub reason: Reason,
    /// Span of the unresolved part.
    pub span: Span,
}

/// An alarm on a queue with an unresolved name.
#[derive(Debug)]
struct NamePatternDoubt {
    unit: UnitId,
    name: Pattern,
    doubt: Doubt,
}

/// Minimum number of equal letters for unresolved names of two units to count as the same name.
pub(super) const MIN_SPECIFICITY: usize = 4;

/// Filter of metrics by name.
type Counts = fn(&str) -> bool;

/// Alarms and consumers by queue. Created once per rule, because it visits every alarm.
#[derive(Debug, Default)]
pub struct Watch<'g> {
    /// Alarms on the selected metrics by queue, including those that do not exist.
    alarms: FxHashMap<ResourceKey, Vec<&'g Alarm>>,
    /// Condition under which a queue is a dead-letter queue, by queue.
    dead_letter: FxHashMap<ResourceKey, Condition>,
    /// Condition under which an alarm, a mapping or a pipe notices messages, by queue.
    noticed_when: FxHashMap<ResourceKey, Condition>,
    /// Doubts about a single queue, by queue.
    doubts: FxHashMap<ResourceKey, Vec<Doubt>>,
    /// Doubts about all queues of a unit, by unit.
    unit_doubts: FxHashMap<UnitId, Vec<Doubt>>,
    /// Doubts about queues with a matching name.
    patterned: Vec<NamePatternDoubt>,
    /// Indexes in `patterned` by the text of the pattern.
    skeletons: FxHashMap<String, Vec<usize>>,
    /// Deployments with an alarm on a metric of SQS, or with one that may be.
    alarming: FxHashSet<&'g str>,
}

impl<'g> Watch<'g> {
    /// Returns the alarms that watch `queue`, or may, in any unit.
    pub fn alarms(&self, queue: &Queue) -> &[&'g Alarm] {
        self.alarms.get(&queue.resource.key()).map_or(&[], Vec::as_slice)
    }

    /// Returns the condition under which `queue` is a dead-letter queue.
    pub fn dead_letter_when(&self, queue: &Queue) -> Condition {
        let when = self.dead_letter.get(&queue.resource.key());
        when.map_or_else(Condition::never, |when| when.and(&queue.resource.when))
    }

    /// Returns the condition under which messages in `queue` are noticed.
    pub fn noticed_when(&self, queue: &Queue) -> Condition {
        let when = self.noticed_when.get(&queue.resource.key());
        when.cloned().unwrap_or_else(Condition::never)
    }

    /// Returns the doubts about `queue`.
    pub fn doubts(&self, queue: &Queue) -> Vec<&Doubt> {
        let unit = queue.resource.unit;
        let own = self.doubts.get(&queue.resource.key()).into_iter().flatten();
        let here = self.unit_doubts.get(&unit).into_iter().flatten();
        let mut all: Vec<&Doubt> = own.chain(here).collect();
        for name in names(queue) {
            let beside = self.patterned.iter().filter(|other| other.unit == unit);
            all.extend(
                beside
                    .filter(|other| name.may_match(&other.name))
                    .map(|other| &other.doubt),
            );
            // Equal patterns of unresolved names in two stacks may be the same name.
            let same = self.skeletons.get(&name.to_string()).into_iter().flatten();
            let same = same.filter_map(|at| self.patterned.get(*at));
            all.extend(
                same.filter(|_| name.specificity() >= MIN_SPECIFICITY)
                    .map(|other| &other.doubt),
            );
        }
        all
    }

    fn notice(&mut self, queue: &Queue, when: &Condition) {
        let entry = self
            .noticed_when
            .entry(queue.resource.key())
            .or_insert_with(Condition::never);
        *entry = entry.or(when);
    }

    fn doubt(&mut self, queue: &Queue, doubt: Doubt) {
        self.doubts.entry(queue.resource.key()).or_default().push(doubt);
    }

    /// Adds a doubt about the queues of `unit` with a matching name, or about all of them if the name is unknown.
    fn add_doubt(&mut self, unit: UnitId, name: Option<&Pattern>, doubt: Doubt) {
        let Some(name) = name.filter(|name| name.specificity() > 0) else {
            self.unit_doubts.entry(unit).or_default().push(doubt);
            return;
        };
        let same = self.skeletons.entry(name.to_string()).or_default();
        same.push(self.patterned.len());
        let name = name.clone();
        self.patterned.push(NamePatternDoubt { unit, name, doubt });
    }
}

/// Returns the possible names of `queue`.
fn names(queue: &Queue) -> Vec<Pattern> {
    let names = queue.name.cases.iter().filter_map(|case| match &case.state {
        State::Set(name) | State::Default(name) => name.as_deref().map(Pattern::from),
        State::Unresolved(unresolved) => Some(name_of(unresolved)),
    });
    names.collect()
}

/// Returns the known pieces of an unresolved name.
pub(super) fn name_of(unresolved: &Unresolved) -> Pattern {
    let pattern = unresolved.pattern().cloned();
    pattern.unwrap_or_else(|| std::iter::once(None).collect())
}

/// Adds doubts about the `unnamed` queues, whose names are unresolved, that may have the literal name in `metric`.
fn find_namesakes(watch: &mut Watch<'_>, alarm: &Alarm, metric: &AlarmMetric, unnamed: &[(&Queue, Vec<Pattern>)]) {
    for case in &metric.queue.cases {
        let Some(Target::External(written)) = case.value().map(|link| &link.target) else {
            continue;
        };
        let name = Pattern::from(&**written);
        for (queue, patterns) in unnamed {
            let is_here = queue.resource.unit == alarm.resource.unit;
            let may_be = |of: &Pattern| of.may_match(&name) && (is_here || of.specificity() >= MIN_SPECIFICITY);
            if patterns.iter().any(may_be) {
                let reason = "the name of the queue is not known, and an alarm names one like it";
                watch.doubt(queue, always(Cause::Derived.because(reason), case.span));
            }
        }
    }
}

impl Graph {
    /// Finds the dead-letter queues and the resources that notice messages in them.
    pub fn dead_letter_watch(&self) -> Watch<'_> {
        let mut watch = self.alarm_watch(|metric| reveals_backlog(metric) || is_blind(metric));
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
        let unnamed = self.queues().iter().map(|queue| {
            let open = queue.name.cases.iter().filter_map(|case| match &case.state {
                State::Unresolved(unresolved) => Some(name_of(unresolved)),
                State::Set(_) | State::Default(_) => None,
            });
            (queue, open.collect::<Vec<_>>())
        });
        let unnamed: Vec<(&Queue, Vec<Pattern>)> = unnamed.filter(|(_, names)| !names.is_empty()).collect();
        for alarm in self.alarms().iter().chain(self.nonexistent_alarms()) {
            if let Some(reason) = &alarm.opaque {
                self.add_doubts_of_alarm(&mut watch, alarm, reason);
            }
            for metric in &alarm.metrics {
                self.find_watched_queue(&mut watch, alarm, metric, counts, &unnamed);
            }
        }
        for (unit, link, span) in self.uninstantiated_calls() {
            if let Some(queue) = self.queue(*unit, link) {
                let reason = "a module that is not created here may watch it";
                watch.doubt(queue, always(Cause::RunContext.because(reason), *span));
            }
        }
        watch
    }

    /// Returns `true` if `unit`, or a stack deployed with it, declares an alarm on any queue.
    pub fn has_queue_alarms(&self, watch: &Watch<'_>, unit: UnitId) -> bool {
        watch.alarming.contains(self.deployment(unit))
    }

    /// Returns the outermost of the nested stacks that include `unit` and are deployed together.
    pub fn deployment(&self, unit: UnitId) -> &str {
        self.unit(unit).key.root()
    }

    /// Returns `true` if `alarm` has, or may have, a subscriber other than its actions.
    pub fn has_subscriber(&self, alarm: &Alarm) -> bool {
        let names = || alarm.name.cases.iter().map(|case| case.value());
        self.alarm_subscribers()
            .iter()
            .any(|subscriber| match &subscriber.names {
                None => true,
                // A generated name cannot be in a text.
                Some(text) => {
                    names().any(|name| name.is_none_or(|name| name.as_ref().is_some_and(|name| text.contains(name))))
                }
            })
    }

    /// Returns the alarms with a metric of `queue`.
    pub fn alarms_on<'g>(&'g self, queue: &'g Queue) -> impl Iterator<Item = &'g Alarm> {
        self.alarms()
            .iter()
            .filter(|alarm| alarm.metrics.iter().any(|metric| self.watches(alarm, metric, queue)))
    }

    /// Returns `true` if `metric` of `alarm` is a metric of `queue` in some case.
    pub fn watches(&self, alarm: &Alarm, metric: &AlarmMetric, queue: &Queue) -> bool {
        let mut links = metric.queue.cases.iter().filter_map(|case| case.value());
        links.any(|link| {
            let mut candidates = self.queue_candidates(alarm.resource.unit, link);
            candidates.any(|found| std::ptr::eq(found, queue))
        })
    }

    /// Returns the queues of `metric` of `alarm`, over all cases.
    pub fn watched_queues<'g>(&'g self, alarm: &'g Alarm, metric: &'g AlarmMetric) -> Vec<&'g Queue> {
        let links = metric.queue.cases.iter().filter_map(|case| case.value());
        links
            .flat_map(|link| self.queue_candidates(alarm.resource.unit, link))
            .collect()
    }

    /// Returns the only queue whose name is exactly that of `alarm`, if `metric` names no queue: the alarm is broken and
    /// meant for it.
    pub fn namesake<'g>(&'g self, alarm: &Alarm, metric: &AlarmMetric) -> Option<&'g Queue> {
        let name = alarm.name.known()?.as_ref().filter(|_| metric.names_no_queue())?;
        let is_it = |queue: &&Queue| queue.name.known().is_some_and(|known| known.as_ref() == Some(name));
        let mut named = self
            .queues()
            .iter()
            .filter(|queue| queue.resource.unit == alarm.resource.unit)
            .filter(is_it);
        named.next().filter(|_| named.next().is_none())
    }

    fn find_dead_letter_queues(&self, watch: &mut Watch<'_>) {
        let mut add = |unit: UnitId, link: &Link, when: &Condition| {
            if let Some(queue) = self.queue(unit, link) {
                let entry = watch
                    .dead_letter
                    .entry(queue.resource.key())
                    .or_insert_with(Condition::never);
                *entry = entry.or(when);
            }
        };
        for source in self.queues() {
            for (when, link) in source.redrive_targets(&source.resource.when) {
                add(source.resource.unit, link, &when);
            }
        }
        // Lambda sends only failures of asynchronous invocations there.
        let mut settings: FxHashMap<Span, bool> = FxHashMap::default();
        for function in self.functions() {
            let is_invoked = !self.asynchronous_invocations_of(function).is_empty();
            for setting in &function.failure_targets {
                *settings.entry(setting.span).or_default() |= is_invoked;
            }
        }
        let uses = self.dead_letter_uses().iter();
        for (unit, used) in uses.filter(|(_, used)| settings.get(&used.span) != Some(&false)) {
            for (when, _, link) in used.target.known_in(&used.when) {
                add(*unit, link, &when);
            }
        }
    }

    fn add_doubts_of_alarm<'g>(&'g self, watch: &mut Watch<'g>, alarm: &Alarm, reason: &Reason) {
        let Resource { unit, header, .. } = &alarm.resource;
        watch.alarming.insert(self.deployment(*unit));
        watch.add_doubt(*unit, None, always(reason.clone(), *header));
    }

    fn find_watched_queue<'g>(
        &'g self,
        watch: &mut Watch<'g>,
        alarm: &'g Alarm,
        metric: &'g AlarmMetric,
        counts: Counts,
        unnamed: &[(&'g Queue, Vec<Pattern>)],
    ) {
        let unit = alarm.resource.unit;
        let on_queues = any_case(&metric.namespace, |name| {
            name == NAMESPACE || is_misspelled_namespace(name)
        });
        if matches!(on_queues, AnyCase::No) {
            return;
        }
        if !alarm.only_scales() {
            watch.alarming.insert(self.deployment(unit));
        }
        let tells = any_case(&metric.metric, |name| counts(name));
        let open = match (on_queues, tells) {
            (_, AnyCase::No) => return,
            (AnyCase::Unresolved(doubt), _) | (_, AnyCase::Unresolved(doubt)) => Some(doubt),
            _ => None,
        };
        // Another rule reports an alarm that names no queue.
        let meant = self.namesake(alarm, metric);
        for queue in self.watched_queues(alarm, metric).into_iter().chain(meant) {
            watch.alarms.entry(queue.resource.key()).or_default().push(alarm);
            // Queues that share a name (for example one per Region): each of them may be the one.
            match &open {
                None => watch.notice(queue, &Condition::always()),
                Some(doubt) => watch.doubt(queue, doubt.clone()),
            }
        }
        for case in &metric.queue.cases {
            if let State::Unresolved(unresolved) = &case.state {
                // The queue does not exist if its alarm does not: a reference to its `[0]` fails, and means no other
                // queue.
                let is_there = !alarm.is_nonexistent && case.when.and(&alarm.resource.when).is_possible();
                if !is_there && unresolved.reason().cause() == Cause::Invalid {
                    continue;
                }
                let doubt = always(unresolved.reason().clone(), case.span);
                watch.add_doubt(unit, unresolved.pattern(), doubt);
            }
        }
        find_namesakes(watch, alarm, metric, unnamed);
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
                // A source from outside of the unit is not a queue of the unit.
                State::Unresolved(unresolved) if comes_from_outside(unresolved.reason()) => {}
                State::Unresolved(unresolved) => {
                    let doubt = Doubt {
                        when: reader.when.and(&case.when),
                        reason: unresolved.reason().clone(),
                        span: case.span,
                    };
                    watch.add_doubt(reader.unit, None, doubt);
                }
            }
        }
    }
}

fn comes_from_outside(reason: &Reason) -> bool {
    match reason.cause() {
        Cause::InputWithoutValue | Cause::MissingModule | Cause::Elsewhere | Cause::RunContext | Cause::Secret => true,
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

fn always(reason: Reason, span: Span) -> Doubt {
    Doubt {
        when: Condition::always(),
        reason,
        span,
    }
}

/// Result of the question whether an attribute has a wanted value in any case.
enum AnyCase {
    Yes,
    No,
    /// An unresolved case may have one; the doubt has the reason.
    Unresolved(Doubt),
}

fn any_case<T>(attribute: &Attribute<T>, wanted: impl Fn(&T) -> bool) -> AnyCase {
    if attribute.cases.iter().any(|case| case.value().is_some_and(&wanted)) {
        return AnyCase::Yes;
    }
    let unresolved = attribute.unresolved_reason();
    unresolved.map_or(AnyCase::No, |(case, reason)| {
        AnyCase::Unresolved(always(reason.reason().clone(), case.span))
    })
}

/// Returns the condition under which `attribute` has a wanted value.
fn when_known<T>(attribute: &Attribute<T>, wanted: impl Fn(&T) -> bool) -> Condition {
    let cases = attribute.cases.iter().filter(|case| case.value().is_some_and(&wanted));
    cases.fold(Condition::never(), |all, case| all.or(&case.when))
}
