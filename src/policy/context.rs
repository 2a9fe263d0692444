//! Presents the graph to expressions: records the values that they read, with their spans, and resolves links in both
//! directions, although the graph stores them at one end only.

use super::objects::{ConsumerOf, Object, SenderOf};
use super::value::{
    Evaluated, EvaluatedCases, List, ListElement, ReadingIndex, State, UnknownReason, Value, single_case,
};
use crate::graph::access::QueuePolicy;
use crate::graph::{
    Alarm, AsPlain, Attribute, Bounds, Cause, Graph, Kind, Link, Origins, Plain, Queue, Reason, Resource, Target,
    UnitId, Unresolved,
};
use crate::graph::{State as Known, attribute};
use conditions::{Case, Condition, MAX_CASES};
use rustc_hash::FxHashMap;
use source::Span;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

/// Maximum number of list elements that are examined.
pub(super) const MAX_ITEMS: usize = 1_000;

/// Value or resource that an expression read.
#[derive(Debug, Clone)]
pub(super) struct Reading<'g> {
    pub(super) span: Span,
    pub(super) origins: &'g Origins,
    pub(super) shown: LabelText<'g>,
    pub(super) is_default: bool,
}

/// Text of a label.
#[derive(Debug, Clone)]
pub(super) enum LabelText<'g> {
    /// An attribute in the user's spelling, and its value.
    Value(&'g str, ShownValue<'g>),
    /// A resource, and its role in the expression.
    Resource(&'g Resource, &'static str),
    /// A fixed description.
    Words(&'static str),
}

/// Part of a label's text that distinguishes the readings of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum LabelKey<'g> {
    Value(&'g str),
    Resource(*const Resource),
    Words(&'static str),
}

/// Value as text.
#[derive(Debug, Clone)]
pub(super) enum ShownValue<'g> {
    Plain(Plain<'g>),
    /// Number of elements.
    Count(usize),
    Unknown,
}

/// Graph with the values that were read from it.
pub(super) struct Context<'g> {
    pub(super) graph: &'g Graph,
    pub(super) environment: Option<&'g str>,
    readings: RefCell<Vec<Reading<'g>>>,
    /// Indexes of the readings by span and by what they read there.
    places: RefCell<FxHashMap<(Span, LabelKey<'g>), ReadingIndex>>,
    /// Number of values read, and not yet counted as steps.
    read: Cell<u64>,
    /// Index, created on first use.
    index: OnceCell<Index<'g>>,
}

/// Index of links by the end at which the graph does not store them.
#[derive(Default)]
struct Index<'g> {
    /// Alarms by queue, in order.
    alarms: FxHashMap<*const Queue, Vec<&'g Alarm>>,
    /// Senders by queue, with their conditions.
    senders: FxHashMap<*const Queue, Vec<(Condition, SenderOf<'g>, Span)>>,
    /// Queue policies by queue, with their conditions.
    policies: FxHashMap<*const Queue, Vec<(Condition, &'g QueuePolicy)>>,
    /// Reasons, by unit, why an alarm, a sender, a consumer or a policy may belong to any queue.
    open: FxHashMap<(UnitId, PartialList), Rc<UnknownReason>>,
}

/// List of a queue that may have more elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum PartialList {
    Alarms,
    Senders,
    Readers,
    Policies,
    Sources,
}

impl<'g> Context<'g> {
    pub(super) fn new(graph: &'g Graph, environment: Option<&'g str>) -> Self {
        Context {
            graph,
            environment,
            readings: RefCell::default(),
            places: RefCell::default(),
            read: Cell::new(0),
            index: OnceCell::new(),
        }
    }

    fn index(&self) -> &Index<'g> {
        self.index.get_or_init(|| Index::of(self.graph))
    }

    /// Returns the reason why a list of `queue` may have more elements.
    pub(super) fn reason_for_more(&self, queue: &Queue, which: PartialList) -> Option<Rc<UnknownReason>> {
        let passed = || {
            let reason = self.graph.reason_of_missing_code(queue);
            let reason = reason.filter(|_| which != PartialList::Sources)?;
            Some(UnknownReason::shared(reason, queue.resource.header))
        };
        self.index()
            .open
            .get(&(queue.resource.unit, which))
            .cloned()
            .or_else(passed)
    }

    /// Clears the readings before the next object is evaluated.
    pub(super) fn forget_readings(&self) {
        self.readings.borrow_mut().clear();
        self.places.borrow_mut().clear();
    }

    pub(super) fn reading(&self, place: ReadingIndex) -> Option<Reading<'g>> {
        self.readings.borrow().get(place as usize).cloned()
    }

    pub(super) fn note(&self, reading: Reading<'g>) -> ReadingIndex {
        self.read.set(self.read.get() + 1);
        let (mut all, mut places) = (self.readings.borrow_mut(), self.places.borrow_mut());
        *places.entry((reading.span, reading.shown.key())).or_insert_with(|| {
            let at = ReadingIndex::try_from(all.len()).unwrap_or(ReadingIndex::MAX);
            all.push(reading);
            at
        })
    }

    /// Returns the number of values read since the last call.
    pub(super) fn take_read(&self) -> u64 {
        self.read.take()
    }

    /// Records that `resource` has the role `what`.
    pub(super) fn note_resource(&self, resource: &'g Resource, what: &'static str) -> ReadingIndex {
        self.note(Reading {
            span: resource.header,
            origins: Origins::NONE,
            shown: LabelText::Resource(resource, what),
            is_default: false,
        })
    }

    /// Records something that was read at `span`, described by `words`.
    pub(super) fn note_words(&self, span: Span, words: &'static str) -> ReadingIndex {
        self.note(Reading {
            span,
            origins: Origins::NONE,
            shown: LabelText::Words(words),
            is_default: false,
        })
    }

    /// Returns the values of `attribute` under `when`, converted by `value` and `shown`.
    pub(super) fn attribute<T>(
        &self,
        attribute: &'g Attribute<T>,
        when: &Condition,
        value: impl Fn(&'g T, &Condition) -> EvaluatedCases<'g>,
        shown: impl Fn(&'g T) -> ShownValue<'g>,
        scale: i64,
    ) -> EvaluatedCases<'g> {
        let mut forks = Vec::new();
        for case in &attribute.cases {
            let both = when.and(&case.when);
            if !both.is_possible() {
                continue;
            }
            let (text, found) = match &case.state {
                Known::Set(known) | Known::Default(known) => (shown(known), value(known, &both)),
                Known::Unresolved(unresolved) => (
                    ShownValue::Unknown,
                    single_case(&both, unknown(case, unresolved, scale)),
                ),
            };
            let place = self.note(Reading {
                span: case.span,
                origins: &case.origins,
                shown: LabelText::Value(&attribute.name, text),
                is_default: case.is_default(),
            });
            let found = found
                .into_iter()
                .map(|fork| Case::new(fork.when, fork.then.after(&[place])));
            forks.extend(found);
        }
        forks
    }

    /// Returns the values of an attribute without parts. A link is a text: an address, or the reference as written.
    pub(super) fn plain<T: AsPlain>(&self, attribute: &'g Attribute<T>, when: &Condition) -> EvaluatedCases<'g> {
        let value = |value: &T, when: &Condition| single_case(when, Evaluated::known(value.plain().into()));
        let scale = if T::KIND == Kind::Seconds { 1_000 } else { 1 };
        self.attribute(attribute, when, value, |value| ShownValue::Plain(value.plain()), scale)
    }

    /// Returns the physical name of `resource`. A name that AWS or a tool generates is unknown.
    pub(super) fn name(
        &self,
        resource: &'g Resource,
        attribute: &'g Attribute<Option<String>>,
        when: &Condition,
    ) -> EvaluatedCases<'g> {
        let value = |name: &Option<String>, when: &Condition| {
            let generated = || {
                let reason = Cause::KnownAfterApply.because("its name is generated");
                Evaluated::unknown(UnknownReason::new(reason, resource.header))
            };
            let known = name.as_deref().map(|name| Evaluated::known(Value::Text(name.into())));
            single_case(when, known.unwrap_or_else(generated))
        };
        self.attribute(attribute, when, value, |name| ShownValue::Plain(name.plain()), 1)
    }

    /// Returns the object that `link` of `resource` refers to, looked up by `find`.
    pub(super) fn linked_object(
        &self,
        resource: &'g Resource,
        attribute: &'g Attribute<Link>,
        when: &Condition,
        find: impl Fn(UnitId, &Link) -> Option<Object<'g>>,
    ) -> EvaluatedCases<'g> {
        let value = |link: &Link, when: &Condition| match find(resource.unit, link) {
            Some(object) => if_exists(object, when),
            None => single_case(when, Evaluated::unknown(undeclared(link, resource.header))),
        };
        self.attribute(attribute, when, value, |link| ShownValue::Plain(link.plain()), 1)
    }

    /// Returns the queue that `link` of `resource` refers to.
    pub(super) fn linked_queue(
        &self,
        resource: &'g Resource,
        link: &'g Attribute<Link>,
        when: &Condition,
    ) -> EvaluatedCases<'g> {
        let find = |unit, link: &Link| self.graph.queue(unit, link).map(Object::Queue);
        self.linked_object(resource, link, when, find)
    }

    /// Returns the alarms that watch `queue` in some case.
    pub(super) fn alarms_on(&self, queue: &Queue) -> &[&'g Alarm] {
        self.index()
            .alarms
            .get(&std::ptr::from_ref(queue))
            .map_or(&[], Vec::as_slice)
    }

    pub(super) fn senders_to(&self, queue: &Queue) -> &[(Condition, SenderOf<'g>, Span)] {
        self.index()
            .senders
            .get(&std::ptr::from_ref(queue))
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the consumers of `queue`: enabled mappings, running pipes, and workers.
    pub(super) fn consumers(&self, queue: &'g Queue, when: &Condition) -> EvaluatedCases<'g> {
        let graph = self.graph;
        let mut items = Vec::new();
        for read in graph.consumptions(queue) {
            let consumer = ConsumerOf::Mapping(read.mapping);
            items.extend(self.running(&read.mapping.enabled, &read.when, &read.mapping.resource, consumer));
        }
        for (reads, pipe) in graph.pipes_from(queue) {
            items.extend(self.running(&pipe.running, &reads, &pipe.resource, ConsumerOf::Pipe(pipe)));
        }
        for reading in graph.worker_consumptions(queue) {
            let place = self.note_words(reading.span, "a worker reads the queue");
            let object = Object::Consumer(ConsumerOf::Worker(reading));
            items.push((reading.when.clone(), self.item(object, &reading.resource, vec![place])));
        }
        for declared in graph.declared_workers(queue) {
            let place = declared
                .span
                .map(|span| self.note_words(span, "a declared worker reads the queue"));
            let value = Evaluated::known(Value::Object(Object::Consumer(ConsumerOf::Declared)));
            let item = ListElement::certain(value.and(place.as_slice()));
            items.push((queue.resource.when.clone(), item));
        }
        list(when, items, self.reason_for_more(queue, PartialList::Readers))
    }

    /// Returns `consumer` if `runs` is true, and with a doubt if that is unknown.
    fn running(
        &self,
        runs: &'g Attribute<bool>,
        when: &Condition,
        resource: &'g Resource,
        consumer: ConsumerOf<'g>,
    ) -> Vec<(Condition, ListElement<'g>)> {
        let mut items = Vec::new();
        for fork in self.plain(runs, when) {
            let place = self.note_resource(resource, "reads the queue");
            let mut item = self.item(Object::Consumer(consumer), resource, vec![place]);
            match fork.then.state {
                State::Known(Value::Bool(true)) => {}
                State::Unknown(gap) => item.doubt = item.doubt.or(Some(gap)),
                _ => continue,
            }
            items.push((fork.when, item));
        }
        items
    }

    /// Converts `object`, which represents `resource`, to a list element.
    pub(super) fn item(&self, object: Object<'g>, resource: &Resource, read: Vec<ReadingIndex>) -> ListElement<'g> {
        let doubt = resource.uncertain.clone();
        ListElement {
            value: Evaluated {
                state: State::Known(Value::Object(object)),
                read,
            },
            doubt: doubt.map(|reason| UnknownReason::shared(reason, resource.header)),
        }
    }

    /// Returns the statements of the policies of `queue`.
    pub(super) fn statements(&self, queue: &'g Queue, when: &Condition) -> EvaluatedCases<'g> {
        let mut items = Vec::new();
        let mut open = self.reason_for_more(queue, PartialList::Policies);
        let policies = self
            .index()
            .policies
            .get(&std::ptr::from_ref(queue))
            .into_iter()
            .flatten();
        for (set, policy) in policies {
            for case in &policy.document.cases {
                let both = set.and(&case.when);
                if !when.is_possible_with(&both) {
                    continue;
                }
                let (document, reason) = match &case.state {
                    Known::Set(document) | Known::Default(document) => (Some(document), document.opaque.as_ref()),
                    Known::Unresolved(unresolved) => (None, Some(unresolved.reason())),
                };
                if let Some(reason) = reason {
                    open = open.or_else(|| Some(UnknownReason::shared(reason.clone(), case.source_span())));
                }
                for statement in document.into_iter().flat_map(|document| &document.statements) {
                    let place = self.of_statement(statement);
                    let item = self.item(Object::Statement(policy, statement), &policy.resource, vec![place]);
                    items.push((both.and(&statement.when), item));
                }
            }
        }
        list(when, items, open)
    }
}

impl<'g> Index<'g> {
    fn of(graph: &'g Graph) -> Self {
        let mut index = Index::default();
        index.fill(graph);
        index
    }

    fn fill(&mut self, graph: &'g Graph) {
        for alarm in graph.alarms() {
            for metric in &alarm.metrics {
                for queue in graph.watched_queues(alarm, metric) {
                    let alarms = self.alarms.entry(std::ptr::from_ref(queue)).or_default();
                    if !alarms.last().is_some_and(|last| std::ptr::eq(*last, alarm)) {
                        alarms.push(alarm);
                    }
                }
                self.record_unresolved_link(&alarm.resource, &metric.queue, PartialList::Alarms);
            }
            if let Some(reason) = &alarm.opaque {
                self.record_gap(&alarm.resource, reason, alarm.resource.header, PartialList::Alarms);
            }
        }
        let deliveries = graph.deliveries();
        for one in &deliveries.subscriptions {
            self.note_sender(graph, &one.resource, &one.endpoint, SenderOf::Subscription(one));
        }
        for one in &deliveries.targets {
            self.note_sender(graph, &one.resource, &one.target, SenderOf::Target(one));
        }
        for one in &deliveries.pipes {
            self.note_sender(graph, &one.resource, &one.target, SenderOf::Pipe(one));
            self.record_unresolved_link(&one.resource, &one.source, PartialList::Readers);
        }
        for mapping in graph.mappings() {
            self.record_unresolved_link(&mapping.resource, &mapping.queue, PartialList::Readers);
        }
        for queue in graph.queues() {
            for redrive in &queue.redrive.cases {
                match &redrive.state {
                    Known::Unresolved(unresolved) => {
                        self.record_gap(
                            &queue.resource,
                            unresolved.reason(),
                            redrive.source_span(),
                            PartialList::Sources,
                        );
                    }
                    Known::Set(Some(policy)) => {
                        self.record_unresolved_link(&queue.resource, &policy.target, PartialList::Sources);
                    }
                    Known::Set(None) | Known::Default(_) => {}
                }
            }
        }
        for policy in &graph.access().queue_policies {
            for (when, queue) in linked(graph, &policy.resource, &policy.queue) {
                let all = self.policies.entry(std::ptr::from_ref(queue)).or_default();
                all.push((when, policy));
            }
            self.record_unresolved_link(&policy.resource, &policy.queue, PartialList::Policies);
        }
    }

    fn note_sender(
        &mut self,
        graph: &'g Graph,
        resource: &'g Resource,
        link: &'g Attribute<Link>,
        sender: SenderOf<'g>,
    ) {
        for (when, queue) in linked(graph, resource, link) {
            let all = self.senders.entry(std::ptr::from_ref(queue)).or_default();
            all.push((when, sender, resource.header));
        }
        self.record_unresolved_link(resource, link, PartialList::Senders);
    }

    fn record_unresolved_link(&mut self, resource: &Resource, link: &Attribute<Link>, which: PartialList) {
        if let Some((case, unresolved)) = link.unresolved_reason() {
            self.record_gap(resource, unresolved.reason(), case.source_span(), which);
        }
    }

    fn record_gap(&mut self, resource: &Resource, reason: &Reason, span: Span, which: PartialList) {
        let gap = || UnknownReason::shared(reason.clone(), span);
        self.open.entry((resource.unit, which)).or_insert_with(gap);
    }
}

/// Returns the queues that `link` of `resource` refers to, with their conditions.
fn linked<'g>(graph: &'g Graph, resource: &Resource, link: &'g Attribute<Link>) -> Vec<(Condition, &'g Queue)> {
    let known = link.known_in(&resource.when).into_iter();
    let found = known.filter_map(|(when, _, link)| {
        let queue = graph.queue(resource.unit, link)?;
        let when = when.and(&queue.resource.when);
        when.is_possible().then_some((when, queue))
    });
    found.collect()
}

impl<'g> LabelText<'g> {
    fn key(&self) -> LabelKey<'g> {
        match *self {
            LabelText::Value(name, _) => LabelKey::Value(name),
            LabelText::Resource(resource, _) => LabelKey::Resource(resource),
            LabelText::Words(words) => LabelKey::Words(words),
        }
    }
}

impl From<Plain<'_>> for Value<'_> {
    fn from(plain: Plain<'_>) -> Self {
        match plain {
            Plain::None => Value::Null,
            Plain::Flag(flag) => Value::Bool(flag),
            Plain::Number(number) => Value::Int(number),
            Plain::Seconds(seconds) => Value::Duration(seconds.0.saturating_mul(1_000)),
            Plain::Text(text) => Value::Text(text.into()),
            Plain::Link(link) => Value::Text(link.written().into()),
        }
    }
}

/// Converts an unresolved value, with its bounds multiplied by `scale`.
fn unknown<'g, T>(case: &attribute::Case<T>, unresolved: &Unresolved, scale: i64) -> Evaluated<'g> {
    let bounds = unresolved.bounds();
    let scaled = |bound: Option<i64>| bound?.checked_mul(scale);
    Evaluated::unknown(UnknownReason {
        bounds: Bounds {
            least: scaled(bounds.least),
            most: scaled(bounds.most),
        },
        pattern: unresolved.pattern().cloned(),
        ..UnknownReason::new(unresolved.reason().clone(), case.source_span())
    })
}

/// Returns a gap for the target of `link`, which is declared elsewhere: it exists, but its attributes are unknown.
fn undeclared(link: &Link, span: Span) -> UnknownReason {
    let is_not_null = matches!(link.target, Target::External(_) | Target::OtherUnit { .. });
    let reason = Cause::Elsewhere.because(format!("`{}` is not declared here", link.written()));
    UnknownReason {
        is_not_null,
        ..UnknownReason::new(reason, span)
    }
}

/// Returns `object` under the condition that it exists, and null otherwise.
fn if_exists<'g>(object: Object<'g>, when: &Condition) -> EvaluatedCases<'g> {
    let Some(resource) = object.resource() else {
        return single_case(when, Evaluated::known(Value::Object(object)));
    };
    let both = when.and(&resource.when);
    let mut forks = Vec::new();
    if both.is_possible() {
        forks.push(Case::new(both, Evaluated::known(Value::Object(object))));
    }
    if !when.implies(&resource.when) {
        let without = when.and(&resource.when.not());
        if without.is_possible() {
            forks.push(Case::new(without, Evaluated::known(Value::Null)));
        }
    }
    forks
}

/// Returns the lists of existing `items` under `when`, one for each combination of their conditions.
pub(super) fn list<'g>(
    when: &Condition,
    items: Vec<(Condition, ListElement<'g>)>,
    open: Option<Rc<UnknownReason>>,
) -> EvaluatedCases<'g> {
    let mut lists = vec![Case::new(
        when.clone(),
        List {
            items: Vec::new(),
            incomplete: open,
        },
    )];
    for (at, (own, item)) in items.into_iter().enumerate() {
        let mut next = Vec::with_capacity(lists.len());
        for mut list in lists {
            if at >= MAX_ITEMS {
                let reason = Cause::Limit.because(format!("a list has more than {MAX_ITEMS} elements"));
                let gap = || UnknownReason::shared(reason, None);
                list.then.incomplete.get_or_insert_with(gap);
                next.push(list);
            } else if list.when.implies(&own) {
                list.then.items.push(item.clone());
                next.push(list);
            } else {
                let with = list.when.and(&own);
                if with.is_possible() {
                    let mut then = list.then.clone();
                    then.items.push(item.clone());
                    next.push(Case::new(with, then));
                }
                let without = list.when.and(&own.not());
                if without.is_possible() {
                    next.push(Case::new(without, list.then));
                }
            }
        }
        lists = next;
        if lists.len() > MAX_CASES {
            return single_case(when, too_many_cases());
        }
    }
    lists
        .into_iter()
        .map(|list| {
            let read: Vec<ReadingIndex> = list
                .then
                .items
                .iter()
                .flat_map(|item| item.value.read.clone())
                .collect();
            let value = Evaluated::known(Value::List(Rc::new(list.then)));
            Case::new(list.when, value.and(&read))
        })
        .collect()
}

/// Returns an unknown value in place of too many cases.
pub(super) fn too_many_cases<'g>() -> Evaluated<'g> {
    let reason = Cause::Limit.because("its conditions are too complex to tell apart");
    Evaluated::unknown(UnknownReason::new(reason, None))
}
