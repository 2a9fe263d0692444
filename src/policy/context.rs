//! The graph as expressions see it: what is read is noted with its place, and links that the graph holds at one end can
//! be followed from the other.

use super::objects::{ConsumerOf, Object, SenderOf};
use super::value::{Forks, Gap, Item, Judged, List, Place, State, Value, one};
use crate::conditions::{Case, Condition, MAX_CASES};
use crate::graph::access::{PolicyDocument, QueuePolicy};
use crate::graph::{
    Alarm, Attribute, Bounds, Cause, Graph, Link, Origin, Queue, Reason, Resource, Seconds, Target, UnitId, Unresolved,
};
use crate::graph::{State as Known, attribute};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Elements of a list that are looked at, at most.
pub(super) const MAX_ITEMS: usize = 1_000;

/// Something that was read.
#[derive(Debug, Clone)]
pub(super) struct Reading<'g> {
    pub(super) span: Span,
    pub(super) origins: &'g [Origin],
    pub(super) shown: Shown<'g>,
    pub(super) is_default: bool,
}

/// What a label says of it.
#[derive(Debug, Clone)]
pub(super) enum Shown<'g> {
    /// An attribute as its author spells it, and its value.
    Value(&'g str, Text<'g>),
    /// A resource, and what it is here.
    Resource(&'g Resource, &'static str),
    /// A place that says enough by itself.
    Words(&'static str),
}

/// A value in words.
#[derive(Debug, Clone)]
pub(super) enum Text<'g> {
    Seconds(Seconds),
    Number(i64),
    Flag(bool),
    Written(&'g str),
    /// So many elements.
    Count(usize),
    None,
    Unknown,
}

/// The graph, and what of it was read.
pub(super) struct Context<'g> {
    pub(super) graph: &'g Graph,
    pub(super) environment: Option<&'g str>,
    readings: RefCell<Vec<Reading<'g>>>,
    /// Made once somebody asks.
    index: OnceCell<Index<'g>>,
}

/// Links from the end that the graph does not hold.
#[derive(Default)]
struct Index<'g> {
    /// By queue: alarms, in their order.
    alarms: FxHashMap<*const Queue, Vec<&'g Alarm>>,
    /// By queue: what sends to it, with the condition.
    senders: FxHashMap<*const Queue, Vec<(Condition, SenderOf<'g>, Span)>>,
    /// By queue: its policies, with the condition.
    policies: FxHashMap<*const Queue, Vec<(Condition, &'g QueuePolicy)>>,
    /// By unit: why an alarm, a sender, a reader or a policy may be that of any queue.
    open: FxHashMap<(UnitId, Open), Rc<Gap>>,
}

/// A list of a queue that may have more elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Open {
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
            index: OnceCell::new(),
        }
    }

    fn index(&self) -> &Index<'g> {
        self.index.get_or_init(|| Index::of(self.graph))
    }

    /// Why a list of `queue` may have more elements.
    pub(super) fn open(&self, queue: &Queue, which: Open) -> Option<Rc<Gap>> {
        let handed = || {
            let reason = self.graph.handed_out(queue).filter(|_| which != Open::Sources)?;
            Some(Rc::new(Gap::new(reason, queue.resource.header)))
        };
        self.index()
            .open
            .get(&(queue.resource.unit, which))
            .cloned()
            .or_else(handed)
    }

    /// Forgets what was read, before another object is judged.
    pub(super) fn forget(&self) {
        self.readings.borrow_mut().clear();
    }

    pub(super) fn reading(&self, place: Place) -> Option<Reading<'g>> {
        self.readings.borrow().get(place as usize).cloned()
    }

    pub(super) fn note(&self, reading: Reading<'g>) -> Place {
        let mut all = self.readings.borrow_mut();
        let same = |known: &Reading<'g>| known.span == reading.span && known.shown.is_same(&reading.shown);
        // One value is read again and again within one expression, and few are.
        let at = all.iter().take(MAX_ITEMS).position(same).unwrap_or_else(|| {
            all.push(reading);
            all.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    /// A note that `resource` is `what`.
    pub(super) fn note_resource(&self, resource: &'g Resource, what: &'static str) -> Place {
        self.note(Reading {
            span: resource.header,
            origins: &[],
            shown: Shown::Resource(resource, what),
            is_default: false,
        })
    }

    /// The values of `attribute` where `when` holds, as `value` and `shown` make them of what is known.
    pub(super) fn attribute<T>(
        &self,
        attribute: &'g Attribute<T>,
        when: &Condition,
        value: impl Fn(&'g T, &Condition) -> Forks<'g>,
        shown: impl Fn(&'g T) -> Text<'g>,
        scale: i64,
    ) -> Forks<'g> {
        let mut forks = Vec::new();
        for case in &attribute.cases {
            let both = when.and(&case.when);
            if !both.is_possible() {
                continue;
            }
            let (text, found) = match &case.state {
                Known::Set(known) | Known::Default(known) => (shown(known), value(known, &both)),
                Known::Unresolved(unresolved) => (Text::Unknown, one(&both, unknown(case, unresolved, scale))),
            };
            let place = self.note(Reading {
                span: case.span,
                origins: &case.origins,
                shown: Shown::Value(&attribute.name, text),
                is_default: case.is_default(),
            });
            let found = found
                .into_iter()
                .map(|fork| Case::new(fork.when, fork.then.after(&[place])));
            forks.extend(found);
        }
        forks
    }

    pub(super) fn seconds(&self, attribute: &'g Attribute<Seconds>, when: &Condition) -> Forks<'g> {
        let value = |seconds: &Seconds, when: &Condition| one(when, Judged::known(duration(*seconds)));
        self.attribute(attribute, when, value, |seconds| Text::Seconds(*seconds), 1_000)
    }

    pub(super) fn optional_seconds(&self, attribute: &'g Attribute<Option<Seconds>>, when: &Condition) -> Forks<'g> {
        let value = |seconds: &Option<Seconds>, when: &Condition| {
            one(when, Judged::known(seconds.map_or(Value::Null, duration)))
        };
        self.attribute(
            attribute,
            when,
            value,
            |seconds| seconds.map_or(Text::None, Text::Seconds),
            1_000,
        )
    }

    pub(super) fn number(&self, attribute: &'g Attribute<i64>, when: &Condition) -> Forks<'g> {
        let value = |number: &i64, when: &Condition| one(when, Judged::known(Value::Int(*number)));
        self.attribute(attribute, when, value, |number| Text::Number(*number), 1)
    }

    pub(super) fn optional_number(&self, attribute: &'g Attribute<Option<i64>>, when: &Condition) -> Forks<'g> {
        let value =
            |number: &Option<i64>, when: &Condition| one(when, Judged::known(number.map_or(Value::Null, Value::Int)));
        self.attribute(
            attribute,
            when,
            value,
            |number| number.map_or(Text::None, Text::Number),
            1,
        )
    }

    pub(super) fn flag(&self, attribute: &'g Attribute<bool>, when: &Condition) -> Forks<'g> {
        let value = |flag: &bool, when: &Condition| one(when, Judged::known(Value::Bool(*flag)));
        self.attribute(attribute, when, value, |flag| Text::Flag(*flag), 1)
    }

    pub(super) fn optional_flag(&self, attribute: &'g Attribute<Option<bool>>, when: &Condition) -> Forks<'g> {
        let value =
            |flag: &Option<bool>, when: &Condition| one(when, Judged::known(flag.map_or(Value::Null, Value::Bool)));
        self.attribute(attribute, when, value, |flag| flag.map_or(Text::None, Text::Flag), 1)
    }

    pub(super) fn text(&self, attribute: &'g Attribute<String>, when: &Condition) -> Forks<'g> {
        let value = |text: &String, when: &Condition| one(when, Judged::known(Value::Text(text.as_str().into())));
        self.attribute(attribute, when, value, |text| Text::Written(text), 1)
    }

    pub(super) fn optional_text(&self, attribute: &'g Attribute<Option<String>>, when: &Condition) -> Forks<'g> {
        let value = |text: &Option<String>, when: &Condition| {
            let value = text.as_deref().map_or(Value::Null, |text| Value::Text(text.into()));
            one(when, Judged::known(value))
        };
        let shown = |text: &'g Option<String>| text.as_deref().map_or(Text::None, Text::Written);
        self.attribute(attribute, when, value, shown, 1)
    }

    /// The physical name of `resource`: what AWS or a tool chooses is not known.
    pub(super) fn name(
        &self,
        resource: &'g Resource,
        attribute: &'g Attribute<Option<String>>,
        when: &Condition,
    ) -> Forks<'g> {
        let value = |name: &Option<String>, when: &Condition| {
            let generated = || {
                let reason = Cause::KnownAfterApply.because("its name is generated");
                Judged::unknown(Gap::new(reason, resource.header))
            };
            let known = name.as_deref().map(|name| Judged::known(Value::Text(name.into())));
            one(when, known.unwrap_or_else(generated))
        };
        let shown = |text: &'g Option<String>| text.as_deref().map_or(Text::None, Text::Written);
        self.attribute(attribute, when, value, shown, 1)
    }

    /// What `link` names, as a text: an address, or what is written.
    pub(super) fn link_text(&self, attribute: &'g Attribute<Link>, when: &Condition) -> Forks<'g> {
        let value = |link: &Link, when: &Condition| one(when, Judged::known(Value::Text(link.written().into())));
        self.attribute(attribute, when, value, |link| Text::Written(link.written()), 1)
    }

    pub(super) fn optional_link_text(&self, attribute: &'g Attribute<Option<Link>>, when: &Condition) -> Forks<'g> {
        let value = |link: &Option<Link>, when: &Condition| {
            let value = link
                .as_ref()
                .map_or(Value::Null, |link| Value::Text(link.written().into()));
            one(when, Judged::known(value))
        };
        let shown = |link: &'g Option<Link>| link.as_ref().map_or(Text::None, |link| Text::Written(link.written()));
        self.attribute(attribute, when, value, shown, 1)
    }

    /// The object that `link` of `resource` leads to, as `find` finds it.
    pub(super) fn linked_object(
        &self,
        resource: &'g Resource,
        attribute: &'g Attribute<Link>,
        when: &Condition,
        find: impl Fn(UnitId, &Link) -> Option<Object<'g>>,
    ) -> Forks<'g> {
        let value = |link: &Link, when: &Condition| match find(resource.unit, link) {
            Some(object) => there(object, when),
            None => one(when, Judged::unknown(undeclared(link, resource.header))),
        };
        self.attribute(attribute, when, value, |link| Text::Written(link.written()), 1)
    }

    /// The alarms that look at `queue` in some case.
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

    /// What reads `queue`: mappings that are enabled, pipes that run, workers.
    pub(super) fn consumers(&self, queue: &'g Queue, when: &Condition) -> Forks<'g> {
        let graph = self.graph;
        let mut items = Vec::new();
        for read in graph.consumptions(queue) {
            let (mapping, resource) = (read.mapping, &read.mapping.resource);
            self.running(
                &mapping.enabled,
                &read.when,
                resource,
                ConsumerOf::Mapping(mapping),
                &mut items,
            );
        }
        for (reads, pipe) in graph.pipes_from(queue) {
            self.running(
                &pipe.running,
                &reads,
                &pipe.resource,
                ConsumerOf::Pipe(pipe),
                &mut items,
            );
        }
        for reading in graph.readings(queue) {
            let place = self.note(Reading {
                span: reading.span,
                origins: &[],
                shown: Shown::Words("a worker reads the queue"),
                is_default: false,
            });
            let item = self.item(
                Object::Consumer(ConsumerOf::Worker(reading)),
                &reading.resource,
                vec![place],
            );
            items.push((reading.when.clone(), item));
        }
        for declared in graph.declared_workers(queue) {
            let place = declared.span.map(|span| {
                self.note(Reading {
                    span,
                    origins: &[],
                    shown: Shown::Words("a declared worker reads the queue"),
                    is_default: false,
                })
            });
            let value = Judged::known(Value::Object(Object::Consumer(ConsumerOf::Declared)));
            let item = Item {
                value: value.and(place.as_slice()),
                doubt: None,
            };
            items.push((queue.resource.when.clone(), item));
        }
        list(when, items, self.open(queue, Open::Readers))
    }

    /// Adds `consumer` where `runs` says that it does, and with a doubt where that is not known.
    fn running(
        &self,
        runs: &'g Attribute<bool>,
        when: &Condition,
        resource: &'g Resource,
        consumer: ConsumerOf<'g>,
        items: &mut Vec<(Condition, Item<'g>)>,
    ) {
        for fork in self.flag(runs, when) {
            let place = self.note_resource(resource, "reads the queue");
            let mut item = self.item(Object::Consumer(consumer), resource, vec![place]);
            match fork.then.state {
                State::Known(Value::Bool(true)) => {}
                State::Unknown(gap) => item.doubt = item.doubt.or(Some(gap)),
                _ => continue,
            }
            items.push((fork.when, item));
        }
    }

    /// `object` as an element of a list, which stands for `resource`.
    pub(super) fn item(&self, object: Object<'g>, resource: &Resource, read: Vec<Place>) -> Item<'g> {
        let doubt = resource.uncertain.clone();
        Item {
            value: Judged {
                state: State::Known(Value::Object(object)),
                read,
            },
            doubt: doubt.map(|reason| Rc::new(Gap::new(reason, resource.header))),
        }
    }

    /// The statements of the policies of `queue`.
    pub(super) fn statements(&self, queue: &'g Queue, when: &Condition) -> Forks<'g> {
        let mut items = Vec::new();
        let mut open = self.open(queue, Open::Policies);
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
                let document: &'g PolicyDocument = match &case.state {
                    Known::Set(document) | Known::Default(document) => document,
                    Known::Unresolved(unresolved) => {
                        open = open.or_else(|| Some(Rc::new(Gap::new(unresolved.reason().clone(), case.cause()))));
                        continue;
                    }
                };
                if let Some(reason) = &document.opaque {
                    open = open.or_else(|| Some(Rc::new(Gap::new(reason.clone(), case.cause()))));
                }
                for statement in &document.statements {
                    let place = self.note(Reading {
                        span: statement.span,
                        origins: &[],
                        shown: Shown::Words("this statement of its policy"),
                        is_default: false,
                    });
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
                for queue in graph.looked_at(alarm, metric) {
                    let alarms = self.alarms.entry(std::ptr::from_ref(queue)).or_default();
                    if !alarms.last().is_some_and(|last| std::ptr::eq(*last, alarm)) {
                        alarms.push(alarm);
                    }
                }
                self.note_open(&alarm.resource, &metric.queue, Open::Alarms);
            }
            if let Some(reason) = &alarm.opaque {
                self.leave_open(&alarm.resource, reason, alarm.resource.header, Open::Alarms);
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
            self.note_open(&one.resource, &one.source, Open::Readers);
        }
        for mapping in graph.mappings() {
            self.note_open(&mapping.resource, &mapping.queue, Open::Readers);
        }
        for queue in graph.queues() {
            for redrive in &queue.redrive.cases {
                match &redrive.state {
                    Known::Unresolved(unresolved) => {
                        self.leave_open(&queue.resource, unresolved.reason(), redrive.cause(), Open::Sources);
                    }
                    Known::Set(Some(policy)) => self.note_open(&queue.resource, &policy.target, Open::Sources),
                    Known::Set(None) | Known::Default(_) => {}
                }
            }
        }
        for policy in &graph.access().queue_policies {
            for (when, queue) in linked(graph, &policy.resource, &policy.queue) {
                let all = self.policies.entry(std::ptr::from_ref(queue)).or_default();
                all.push((when, policy));
            }
            self.note_open(&policy.resource, &policy.queue, Open::Policies);
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
        self.note_open(resource, link, Open::Senders);
    }

    fn note_open(&mut self, resource: &Resource, link: &Attribute<Link>, which: Open) {
        if let Some((case, unresolved)) = link.unresolved_reason() {
            self.leave_open(resource, unresolved.reason(), case.cause(), which);
        }
    }

    fn leave_open(&mut self, resource: &Resource, reason: &Reason, span: Span, which: Open) {
        let gap = || Rc::new(Gap::new(reason.clone(), span));
        self.open.entry((resource.unit, which)).or_insert_with(gap);
    }
}

/// The queues that `link` of `resource` leads to, each with the condition.
fn linked<'g>(graph: &'g Graph, resource: &Resource, link: &'g Attribute<Link>) -> Vec<(Condition, &'g Queue)> {
    let known = link.known_in(&resource.when).into_iter();
    let found = known.filter_map(|(when, _, link)| {
        let queue = graph.queue(resource.unit, link)?;
        let when = when.and(&queue.resource.when);
        when.is_possible().then_some((when, queue))
    });
    found.collect()
}

impl Shown<'_> {
    fn is_same(&self, other: &Shown<'_>) -> bool {
        match (self, other) {
            (Shown::Value(one, _), Shown::Value(other, _)) => one == other,
            (Shown::Resource(one, _), Shown::Resource(other, _)) => std::ptr::eq(*one, *other),
            (Shown::Words(one), Shown::Words(other)) => one == other,
            _ => false,
        }
    }
}

fn duration(seconds: Seconds) -> Value<'static> {
    Value::Duration(seconds.0.saturating_mul(1_000))
}

/// What is known of an unresolved value, whose numbers are to be multiplied by `scale`.
fn unknown<'g, T>(case: &attribute::Case<T>, unresolved: &Unresolved, scale: i64) -> Judged<'g> {
    let bounds = unresolved.bounds();
    let scaled = |bound: Option<i64>| bound?.checked_mul(scale);
    Judged::unknown(Gap {
        bounds: Bounds {
            least: scaled(bounds.least),
            most: scaled(bounds.most),
        },
        pattern: unresolved.pattern().cloned(),
        ..Gap::new(unresolved.reason().clone(), case.cause())
    })
}

/// That what `link` leads to is declared elsewhere: it is there, and nothing is known of it.
fn undeclared(link: &Link, span: Span) -> Gap {
    let is_there = matches!(link.target, Target::External(_) | Target::Elsewhere { .. });
    let reason = Cause::Elsewhere.because(format!("`{}` is not declared here", link.written()));
    Gap {
        is_there,
        ..Gap::new(reason, span)
    }
}

/// `object` where it exists, null where it does not.
fn there<'g>(object: Object<'g>, when: &Condition) -> Forks<'g> {
    let Some(resource) = object.resource() else {
        return one(when, Judged::known(Value::Object(object)));
    };
    let both = when.and(&resource.when);
    let mut forks = Vec::new();
    if both.is_possible() {
        forks.push(Case::new(both, Judged::known(Value::Object(object))));
    }
    if !when.implies(&resource.when) {
        let without = when.and(&resource.when.not());
        if without.is_possible() {
            forks.push(Case::new(without, Judged::known(Value::Null)));
        }
    }
    forks
}

/// A list of those of `items` that are there, told apart by their conditions where `when` holds.
pub(super) fn list<'g>(when: &Condition, items: Vec<(Condition, Item<'g>)>, open: Option<Rc<Gap>>) -> Forks<'g> {
    let mut lists = vec![Case::new(
        when.clone(),
        List {
            items: Vec::new(),
            open,
        },
    )];
    for (at, (own, item)) in items.into_iter().enumerate() {
        let mut next = Vec::with_capacity(lists.len());
        for mut list in lists {
            if at >= MAX_ITEMS {
                let reason = Cause::Limit.because(format!("a list has more than {MAX_ITEMS} elements"));
                let gap = || Rc::new(Gap::new(reason, None));
                list.then.open.get_or_insert_with(gap);
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
            return one(when, too_many_cases());
        }
    }
    lists
        .into_iter()
        .map(|list| {
            let read: Vec<Place> = list
                .then
                .items
                .iter()
                .flat_map(|item| item.value.read.clone())
                .collect();
            let value = Judged::known(Value::List(Rc::new(list.then)));
            Case::new(list.when, value.and(&read))
        })
        .collect()
}

/// In place of more cases than anybody can tell apart.
pub(super) fn too_many_cases<'g>() -> Judged<'g> {
    let reason = Cause::Limit.because("its conditions are too complex to tell apart");
    Judged::unknown(Gap::new(reason, None))
}
