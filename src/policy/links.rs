//! Implements fields that refer to other objects.

use super::context::{Context, PartialList, ShownValue, list};
use super::objects::Object;
use super::value::{Evaluated, EvaluatedCases, ListElement, State, UnknownReason, Value, single_case};
use crate::graph::access::{Principal, QueuePolicy, Statement, StatementCondition};
use crate::graph::delivery::{Pipe, Topic};
use crate::graph::{Alarm, AsPlain, Attribute, Cause, EventSourceMapping, Function, Plain, Queue, RedrivePolicy};
use conditions::{Case, Condition};
use std::rc::Rc;

impl<'g> Context<'g> {
    /// Applies `read` to the redrive policy of `queue`; returns null without one.
    fn in_redrive(
        &self,
        queue: &'g Queue,
        when: &Condition,
        read: impl Fn(&'g RedrivePolicy, &Condition) -> EvaluatedCases<'g>,
    ) -> EvaluatedCases<'g> {
        let value = |policy: &'g Option<Box<RedrivePolicy>>, when: &Condition| match policy {
            Some(policy) => read(policy, when),
            None => single_case(when, Evaluated::known(Value::Null)),
        };
        let shown = |policy: &'g Option<Box<RedrivePolicy>>| match policy {
            Some(_) => ShownValue::Plain(Plain::Text("a policy")),
            None => ShownValue::Plain(Plain::None),
        };
        self.attribute(&queue.redrive, when, value, shown, 1)
    }

    pub(super) fn max_receive_count(&self, queue: &'g Queue, when: &Condition) -> EvaluatedCases<'g> {
        self.in_redrive(queue, when, |policy, when| self.plain(&policy.max_receive_count, when))
    }

    pub(super) fn dead_letter_queue(&self, queue: &'g Queue, when: &Condition) -> EvaluatedCases<'g> {
        self.in_redrive(queue, when, |policy, when| {
            self.linked_queue(&queue.resource, &policy.target, when)
        })
    }

    /// Converts each of `found`, which are resources with the role `what`, to a list element.
    fn resources<T>(
        &self,
        found: impl IntoIterator<Item = (Condition, T)>,
        what: &'static str,
        object: impl Fn(T) -> Object<'g>,
    ) -> Vec<(Condition, ListElement<'g>)> {
        let items = found.into_iter().filter_map(|(when, one)| {
            let object = object(one);
            let resource = object.resource()?;
            let place = self.note_resource(resource, what);
            Some((when, self.item(object, resource, vec![place])))
        });
        items.collect()
    }

    /// Returns the source queues of `queue`, each with its condition.
    fn redriving(&self, queue: &'g Queue) -> Vec<(Condition, &'g Queue)> {
        let mut found: Vec<(Condition, &'g Queue)> = Vec::new();
        for source in self.graph.sources_of(queue) {
            let mut names = Condition::never();
            for (when, link) in source.redrive_targets(&source.resource.when) {
                let target = self.graph.queue(source.resource.unit, link);
                if target.is_some_and(|target| std::ptr::eq(target, queue)) {
                    names = names.or(&when);
                }
            }
            found.push((names, source));
        }
        found
    }

    pub(super) fn sources(&self, queue: &'g Queue, when: &Condition) -> EvaluatedCases<'g> {
        let items = self.resources(
            self.redriving(queue),
            "names it as its dead-letter queue",
            Object::Queue,
        );
        list(when, items, self.reason_for_more(queue, PartialList::Sources))
    }

    /// Returns the part of `when` under which `queue` is a dead-letter queue.
    pub(super) fn dead_letter_when(&self, queue: &'g Queue, when: &Condition) -> Condition {
        let mut named = Condition::never();
        for (own, _) in self.redriving(queue) {
            named = named.or(&own);
        }
        for used in self.graph.dead_letter_uses_of(queue) {
            named = named.or(&used.when);
        }
        when.and(&named)
    }

    pub(super) fn is_dead_letter_queue(&self, queue: &'g Queue, when: &Condition) -> EvaluatedCases<'g> {
        let yes = self.dead_letter_when(queue, when);
        let no = when.and(&yes.not());
        let mut forks = Vec::new();
        if yes.is_possible() {
            forks.push(Case::new(yes, Evaluated::known(Value::Bool(true))));
        }
        if no.is_possible() {
            let judged = match self.reason_for_more(queue, PartialList::Sources) {
                Some(gap) => Evaluated::unknown(UnknownReason::clone(&gap)),
                None => Evaluated::known(Value::Bool(false)),
            };
            forks.push(Case::new(no, judged));
        }
        forks
    }

    /// Returns the mappings that poll `queue`, each once.
    fn reading_mappings(&self, queue: &'g Queue) -> Vec<(Condition, &'g EventSourceMapping)> {
        let mut found: Vec<(Condition, &'g EventSourceMapping)> = Vec::new();
        for read in self.graph.consumptions(queue) {
            match found.last_mut().filter(|(_, last)| std::ptr::eq(*last, read.mapping)) {
                Some((when, _)) => *when = when.or(&read.when),
                None => found.push((read.when, read.mapping)),
            }
        }
        found
    }

    pub(super) fn mappings_of_queue(&self, queue: &'g Queue, when: &Condition) -> EvaluatedCases<'g> {
        let items = self.resources(self.reading_mappings(queue), "reads the queue", Object::Mapping);
        list(when, items, self.reason_for_more(queue, PartialList::Readers))
    }

    pub(super) fn functions_of_queue(&self, queue: &'g Queue, when: &Condition) -> EvaluatedCases<'g> {
        let mut found: Vec<(Condition, &'g Function)> = Vec::new();
        let mut open = self.reason_for_more(queue, PartialList::Readers);
        for (reads, mapping) in self.reading_mappings(queue) {
            for (when, case, link) in mapping.function.known_in(&reads) {
                let function = self.graph.function(mapping.resource.unit, link);
                if let Some(function) = function {
                    add(&mut found, when.and(&function.resource.when), function);
                } else {
                    let reason = Cause::Elsewhere.because(format!("`{}` is not declared here", link.written()));
                    open = open.or_else(|| Some(UnknownReason::shared(reason, case.span)));
                }
            }
            open = open.or_else(|| unresolved(&mapping.function));
        }
        let items = self.resources(found, "processes its messages", Object::Function);
        list(when, items, open)
    }

    pub(super) fn mappings_of_function(&self, function: &'g Function, when: &Condition) -> EvaluatedCases<'g> {
        let mut found = Vec::new();
        for (when, mapping) in self.graph.mappings_of(function) {
            add(&mut found, when, mapping);
        }
        let items = self.resources(found, "invokes the function", Object::Mapping);
        list(when, items, self.open_mapping(function))
    }

    /// Returns the reason why another mapping of the unit may invoke `function`.
    fn open_mapping(&self, function: &Function) -> Option<Rc<UnknownReason>> {
        let mut mappings = self.graph.mappings().iter();
        mappings.find_map(|mapping| {
            let is_beside = mapping.resource.unit == function.resource.unit;
            unresolved(&mapping.function).filter(|_| is_beside)
        })
    }

    pub(super) fn queues_of_function(&self, function: &'g Function, when: &Condition) -> EvaluatedCases<'g> {
        let mut found: Vec<(Condition, &'g Queue)> = Vec::new();
        let mut open = self.open_mapping(function);
        for (invokes, mapping) in self.graph.mappings_of(function) {
            for (when, _, link) in mapping.queue.known_in(&invokes) {
                if let Some(queue) = self.graph.queue(mapping.resource.unit, link) {
                    add(&mut found, when.and(&queue.resource.when), queue);
                }
            }
            open = open.or_else(|| unresolved(&mapping.queue));
        }
        list(
            when,
            self.resources(found, "is read for the function", Object::Queue),
            open,
        )
    }

    pub(super) fn senders(&self, queue: &'g Queue, when: &Condition) -> EvaluatedCases<'g> {
        let found = self
            .senders_to(queue)
            .iter()
            .map(|(sends, sender, _)| (sends.clone(), *sender));
        let items = self.resources(found, "sends to the queue", Object::Sender);
        list(when, items, self.reason_for_more(queue, PartialList::Senders))
    }

    pub(super) fn alarms(&self, queue: &'g Queue, when: &Condition) -> EvaluatedCases<'g> {
        let found = self.alarms_on(queue).iter();
        let found = found.map(|alarm| (alarm.resource.when.clone(), *alarm));
        let items = self.resources(found, "watches the queue", Object::Alarm);
        list(when, items, self.reason_for_more(queue, PartialList::Alarms))
    }

    pub(super) fn metrics(&self, alarm: &'g Alarm, when: &Condition) -> EvaluatedCases<'g> {
        let items = alarm.metrics.iter().map(|metric| {
            let value = Evaluated::known(Value::Object(Object::Metric(alarm, metric)));
            (when.clone(), ListElement::certain(value))
        });
        list(when, items.collect(), opaque(alarm))
    }

    pub(super) fn queues_of_alarm(&self, alarm: &'g Alarm, when: &Condition) -> EvaluatedCases<'g> {
        let mut found: Vec<(Condition, &'g Queue)> = Vec::new();
        let mut open = opaque(alarm);
        for metric in &alarm.metrics {
            for (when, _, link) in metric.queue.known_in(&alarm.resource.when) {
                if let Some(queue) = self.graph.queue(alarm.resource.unit, link) {
                    add(&mut found, when.and(&queue.resource.when), queue);
                }
            }
            open = open.or_else(|| unresolved(&metric.queue));
        }
        list(
            when,
            self.resources(found, "is watched by the alarm", Object::Queue),
            open,
        )
    }

    pub(super) fn queues_of_topic(&self, topic: &'g Topic, when: &Condition) -> EvaluatedCases<'g> {
        let mut found: Vec<(Condition, &'g Queue)> = Vec::new();
        let mut open = None;
        for one in &self.graph.deliveries().subscriptions {
            let unit = one.resource.unit;
            for (when, _, link) in one.topic.known_in(&one.resource.when) {
                let is_it = self
                    .graph
                    .topic(unit, link)
                    .is_some_and(|other| std::ptr::eq(other, topic));
                if !is_it {
                    continue;
                }
                for (when, _, link) in one.endpoint.known_in(&when) {
                    if let Some(queue) = self.graph.queue(unit, link) {
                        add(&mut found, when.and(&queue.resource.when), queue);
                    }
                }
            }
            let is_beside = unit == topic.resource.unit;
            open = open.or_else(|| unresolved(&one.topic).filter(|_| is_beside));
        }
        list(
            when,
            self.resources(found, "is subscribed to the topic", Object::Queue),
            open,
        )
    }

    /// Returns the queue that `pipe` polls, or null if its source is not a queue.
    pub(super) fn source_of_pipe(&self, pipe: &'g Pipe, when: &Condition) -> EvaluatedCases<'g> {
        let unit = pipe.resource.unit;
        let forks = self.linked_queue(&pipe.resource, &pipe.source, when);
        let sources = pipe.source.known_in(when);
        let is_other = |when: &Condition| {
            let mut links = sources.iter().filter(|(own, ..)| own.is_possible_with(when));
            links.any(|(_, _, link)| self.graph.type_if_not_queue(unit, link).is_some() || link.is_never_a_source())
        };
        let null_if_other = |mut fork: Case<Evaluated<'g>>| {
            if fork.then.state.is_unknown() && is_other(&fork.when) {
                fork.then.state = State::Known(Value::Null);
            }
            fork
        };
        forks.into_iter().map(null_if_other).collect()
    }

    pub(super) fn principals(&self, statement: &'g Statement, when: &Condition) -> EvaluatedCases<'g> {
        let value = |all: &'g Vec<Principal>, when: &Condition| {
            let mut open = None;
            let mut items = Vec::new();
            if statement.negates.principals {
                let reason = Cause::Unsupported.because("`NotPrincipal` names everybody else");
                open = Some(UnknownReason::shared(reason, statement.span));
            }
            for principal in all {
                if let Some(id) = &principal.id {
                    let value = Evaluated::known(Value::Text(id.as_str().into()));
                    items.push((when.clone(), ListElement::certain(value)));
                } else {
                    let reason = Cause::Derived.because("a principal is not known");
                    open = Some(UnknownReason::shared(reason, statement.span));
                }
            }
            list(when, items, open)
        };
        let shown = |all: &'g Vec<Principal>| match all.as_slice() {
            [only] => (only.id.as_deref()).map_or(ShownValue::Unknown, |id| ShownValue::Plain(Plain::Text(id))),
            all => ShownValue::Count(all.len()),
        };
        self.attribute(&statement.principals, when, value, shown, 1)
    }

    /// Returns the list of what `of` makes of each comparison in the conditions of `statement`.
    pub(super) fn conditions(
        &self,
        (policy, statement): (&'g QueuePolicy, &'g Statement),
        when: &Condition,
        of: impl Fn(&'g StatementCondition) -> Value<'g>,
    ) -> EvaluatedCases<'g> {
        let place = self.of_statement(statement);
        in_conditions(policy, statement, when, |all| {
            let items = all.iter().map(|one| {
                let value = Evaluated::known(of(one)).and(&[place]);
                (when.clone(), ListElement::certain(value))
            });
            list(when, items.collect(), None)
        })
    }

    /// Returns the list of the elements of `attribute`.
    pub(super) fn values<T: AsPlain>(
        &self,
        attribute: &'g Attribute<Vec<Attribute<T>>>,
        when: &Condition,
    ) -> EvaluatedCases<'g> {
        let value = |all: &'g Vec<Attribute<T>>, when: &Condition| self.each_value(all, when);
        self.attribute(attribute, when, value, |all| ShownValue::Count(all.len()), 1)
    }

    /// Returns a list of the values of `all`. An unknown one is an unknown element.
    pub(super) fn each_value<T: AsPlain>(&self, all: &'g [Attribute<T>], when: &Condition) -> EvaluatedCases<'g> {
        let forks = all.iter().flat_map(|one| self.plain(one, when));
        let items = forks.map(|fork| (fork.when, ListElement::certain(fork.then)));
        list(when, items.collect(), None)
    }

    /// Returns the architectures of `function`, with Lambda's default.
    pub(super) fn architectures(&self, function: &'g Function, when: &Condition) -> EvaluatedCases<'g> {
        let default = |when: &Condition| {
            let value = Evaluated::known(Value::Text("x86_64".into()));
            list(when, vec![(when.clone(), ListElement::certain(value))], None)
        };
        let Some(settings) = &function.settings else {
            return default(when);
        };
        let value = |all: &'g Vec<Attribute<String>>, when: &Condition| {
            if all.is_empty() {
                default(when)
            } else {
                self.each_value(all, when)
            }
        };
        let shown = |all: &'g Vec<Attribute<String>>| ShownValue::Count(all.len());
        self.attribute(&settings.architectures, when, value, shown, 1)
    }

    /// Returns the targets of failed asynchronous invocations of `function`.
    pub(super) fn failure_targets(&self, function: &'g Function, when: &Condition) -> EvaluatedCases<'g> {
        let forks = function.failure_targets.iter().flat_map(|target| {
            let set = when.and(&target.when);
            let forks = if set.is_possible() {
                self.plain(&target.target, &set)
            } else {
                Vec::new()
            };
            forks.into_iter()
        });
        let items = forks.map(|fork| (fork.when, ListElement::certain(fork.then)));
        list(when, items.collect(), None)
    }

    /// Returns the declarations about `queue`.
    pub(super) fn declarations(&self, queue: &'g Queue, when: &Condition) -> EvaluatedCases<'g> {
        let items = self.graph.declared(queue).iter().map(|declared| {
            let place = declared.span.map(|span| self.note_words(span, "this declaration"));
            let value = Evaluated::known(Value::Object(Object::Declaration(declared))).and(place.as_slice());
            (when.clone(), ListElement::certain(value))
        });
        list(when, items.collect(), None)
    }

    pub(super) fn source_arns(
        &self,
        policy: &'g QueuePolicy,
        statement: &'g Statement,
        when: &Condition,
    ) -> EvaluatedCases<'g> {
        in_conditions(policy, statement, when, |all| {
            let sources = all.iter().filter(|one| one.key.eq_ignore_ascii_case("aws:SourceArn"));
            let (mut items, mut open) = (Vec::new(), None);
            for fork in sources
                .flat_map(|one| &one.values)
                .flat_map(|value| self.plain(value, when))
            {
                match &fork.then.state {
                    State::Unknown(gap) => open = Some(gap.clone()),
                    _ => items.push((fork.when, ListElement::certain(fork.then))),
                }
            }
            list(when, items, open)
        })
    }

    pub(super) fn of_statement(&self, statement: &Statement) -> u32 {
        self.note_words(statement.span, "this statement of its policy")
    }
}

/// Applies `read` to the comparisons in the conditions of `statement`, if they are known.
fn in_conditions<'g>(
    policy: &'g QueuePolicy,
    statement: &'g Statement,
    when: &Condition,
    read: impl Fn(&'g [StatementCondition]) -> EvaluatedCases<'g>,
) -> EvaluatedCases<'g> {
    match &statement.conditions {
        Ok(all) => read(all),
        Err(reason) => {
            let unknown = UnknownReason::new(reason.clone(), policy.resource.header);
            single_case(when, Evaluated::unknown(unknown))
        }
    }
}

/// Adds `one`, or merges its condition if it was added before.
fn add<'g, T>(found: &mut Vec<(Condition, &'g T)>, when: Condition, one: &'g T) {
    if !when.is_possible() {
        return;
    }
    match found.iter_mut().find(|(_, known)| std::ptr::eq(*known, one)) {
        Some((known, _)) => *known = known.or(&when),
        None => found.push((when, one)),
    }
}

/// Returns the reason why an attribute is not known in some case.
fn unresolved<T>(attribute: &Attribute<T>) -> Option<Rc<UnknownReason>> {
    let (case, unresolved) = attribute.unresolved_reason()?;
    let reason = unresolved.reason().clone();
    Some(UnknownReason::shared(reason, case.source_span()))
}

/// Returns the reason why `alarm` may watch further metrics.
fn opaque(alarm: &Alarm) -> Option<Rc<UnknownReason>> {
    let reason = alarm.opaque.as_ref()?;
    Some(UnknownReason::shared(reason.clone(), alarm.resource.header))
}
