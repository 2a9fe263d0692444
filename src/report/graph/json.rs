//! Writes the graph as a JSON document, version 1, for tests and other tools.
//!
//! This module knows the fields of the document and their order. It knows neither rules nor how the graph was built.

use crate::graph::attributes::{Declared, Reader, Visit};
use crate::graph::delivery::{EventTarget, Pipe, Subscription};
use crate::graph::workers::WorkerConsumption;
use crate::graph::{
    Alarm, AsPlain, Attribute, Case, Condition, End, EventSourceMapping, Function, Graph, Link, Plain, Queue, Resource,
    State, Tags, UnitId,
};
use crate::report::json_text::{Each, write_pretty};
use serde::ser::{Serialize, SerializeMap, Serializer};
use source::Sources;
use std::io;

/// Writes the document, indented and with a trailing line break.
pub fn write(graph: &Graph, sources: &Sources, out: &mut dyn io::Write) -> io::Result<()> {
    write_as(graph, sources, false, out)
}

/// Writes the document for the default value of every condition: values that differ by condition have that of the
/// defaults, and resources that do not exist under the defaults are left out. Values that the defaults do not determine
/// are written as by [`write`].
#[doc(hidden)]
pub fn write_by_default(graph: &Graph, sources: &Sources, out: &mut dyn io::Write) -> io::Result<()> {
    write_as(graph, sources, true, out)
}

fn write_as(graph: &Graph, sources: &Sources, by_default: bool, out: &mut dyn io::Write) -> io::Result<()> {
    let writer = Writer {
        graph,
        sources,
        by_default,
    };
    write_pretty(out, &writer)
}

/// Key of the entry in `tags` with the reason why there may be more tags. AWS reserves the prefix, so no tag has this
/// name.
const MORE_TAGS: &str = "aws:unresolved";

/// JSON with objects that preserve the order of insertion.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Json {
    Null,
    Bool(bool),
    Number(i64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
    /// An object with names from the files.
    Named(Vec<(String, Json)>),
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(value) => serializer.serialize_i64(*value),
            Json::Text(value) => serializer.serialize_str(value),
            Json::List(values) => values.serialize(serializer),
            Json::Object(fields) => serializer.collect_map(fields.iter().map(|(name, value)| (name, value))),
            Json::Named(fields) => serializer.collect_map(fields.iter().map(|(name, value)| (name, value))),
        }
    }
}

/// Returns the reason why there may be more tags than the known ones.
fn opaque(case: &Case<Tags>) -> Option<&str> {
    match &case.state {
        State::Set(tags) | State::Default(tags) => tags.opaque.as_deref(),
        State::Unresolved(reason) => Some(reason),
    }
}

fn text(value: impl Into<String>) -> Json {
    Json::Text(value.into())
}

fn unresolved(reason: &str) -> Json {
    Json::Object(vec![("unresolved", text(reason))])
}

/// Fields of a node while it is being written.
struct Node<'w, 'g> {
    writer: &'w Writer<'g>,
    resource: &'g Resource,
    fields: Vec<(&'static str, Json)>,
    defaulted: Vec<Json>,
}

impl<'g> Node<'_, 'g> {
    fn field<T>(&mut self, name: &'static str, attribute: &'g Attribute<T>, value: impl Fn(&'g T, &Condition) -> Json) {
        let assumed = &self.resource.when;
        let json = self.writer.attribute(attribute, assumed, value);
        let cases = self.writer.cases(attribute, assumed);
        if json != Json::Null && cases.iter().any(|(_, case)| case.is_default()) {
            self.defaulted.push(text(name));
        }
        self.fields.push((name, json));
    }

    fn plain<T: AsPlain>(&mut self, name: &'static str, attribute: &'g Attribute<T>) {
        let (writer, unit) = (self.writer, self.resource.unit);
        self.field(name, attribute, |value, _| match value.plain() {
            Plain::Link(link) => writer.any_link(unit, link),
            plain => scalar(plain),
        });
    }

    /// Adds the tags, if there may be any.
    fn tags(&mut self, tags: &'g Attribute<Tags>) {
        let named = self.writer.tags(tags, &self.resource.when);
        if !named.is_empty() {
            self.fields.push(("tags", Json::Named(named)));
        }
    }

    fn finish(mut self) -> Json {
        if !self.defaulted.is_empty() {
            self.fields.push(("defaulted", Json::List(self.defaulted)));
        }
        Json::Object(self.fields)
    }
}

impl<'g> Visit<'g> for Node<'_, 'g> {
    fn attribute<T: AsPlain>(&mut self, row: &'static Declared, attribute: &'g Attribute<T>) {
        if row.is_for(Reader::Json) {
            self.plain(row.name, attribute);
        }
    }
}

struct Writer<'g> {
    graph: &'g Graph,
    sources: &'g Sources,
    by_default: bool,
}

impl Serialize for Writer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let graph = self.graph;
        let deliveries = graph.deliveries();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", &1)?;
        map.serialize_entry("queues", &self.nodes(graph.queues(), |n| &n.resource, Self::queue))?;
        map.serialize_entry(
            "functions",
            &self.nodes(graph.functions(), |n| &n.resource, Self::function),
        )?;
        map.serialize_entry(
            "event_source_mappings",
            &self.nodes(graph.mappings(), |n| &n.resource, Self::mapping),
        )?;
        map.serialize_entry("alarms", &self.nodes(graph.alarms(), |n| &n.resource, Self::alarm))?;
        map.serialize_entry("pipes", &self.nodes(&deliveries.pipes, |n| &n.resource, Self::pipe))?;
        map.serialize_entry(
            "subscriptions",
            &self.nodes(&deliveries.subscriptions, |n| &n.resource, Self::subscription),
        )?;
        map.serialize_entry(
            "targets",
            &self.nodes(&deliveries.targets, |n| &n.resource, Self::target),
        )?;
        let workers = || {
            let of_queue = |queue| {
                self.graph
                    .worker_consumptions(queue)
                    .iter()
                    .map(move |worker| (queue, worker))
            };
            graph.queues().iter().flat_map(of_queue)
        };
        let exists = |one: &WorkerConsumption| !self.by_default || one.when.holds_by_default() != Some(false);
        let workers = workers().filter(|(_, worker)| exists(worker));
        let workers: Vec<Json> = workers.map(|(queue, worker)| self.worker(queue, worker)).collect();
        map.serialize_entry("consumers", &workers)?;
        map.end()
    }
}

impl<'g> Writer<'g> {
    /// Returns the existing `nodes`, each converted when it is written.
    fn nodes<'a, T: 'g, N: IntoIterator<Item = &'g T> + Copy>(
        &'a self,
        nodes: N,
        resource: fn(&T) -> &Resource,
        node: fn(&'a Self, &'g T) -> Json,
    ) -> impl Serialize + use<'a, 'g, T, N> {
        let exists = move |n: &&T| !self.by_default || resource(n).when.holds_by_default() != Some(false);
        Each(move || nodes.into_iter().filter(exists).map(move |n| node(self, n)))
    }

    fn queue(&self, queue: &'g Queue) -> Json {
        let mut node = self.node(&queue.resource);
        queue.attributes.visit(&mut node);
        node.field("delay", &queue.delay, plain);
        let unit = queue.resource.unit;
        node.field("redrive", &queue.redrive, |policy, assumed| {
            policy.as_ref().map_or(Json::Null, |policy| {
                let count = &policy.max_receive_count;
                Json::Object(vec![
                    (
                        "target",
                        self.attribute(&policy.target, assumed, |link, _| self.queue_link(unit, link)),
                    ),
                    ("max_receive_count", self.attribute(count, assumed, plain)),
                ])
            })
        });
        node.tags(&queue.tags);
        node.finish()
    }

    fn function(&self, function: &'g Function) -> Json {
        let mut node = self.node(&function.resource);
        function.attributes.visit(&mut node);
        if let Ok(handler) = &function.handler {
            let file = self.sources.file(handler.place.file);
            let line = file.position(handler.place.start as usize).line;
            let fields = vec![
                ("name", text(&*handler.name)),
                ("file", text(file.shown())),
                ("line", Json::Number(line.into())),
            ];
            node.fields.push(("handler", Json::Object(fields)));
        }
        node.tags(&function.tags);
        node.finish()
    }

    fn mapping(&self, mapping: &'g EventSourceMapping) -> Json {
        let unit = mapping.resource.unit;
        let mut node = self.node(&mapping.resource);
        node.field("queue", &mapping.queue, |link, _| self.queue_link(unit, link));
        node.field("function", &mapping.function, |link, _| {
            let found = self.graph.function(unit, link).map(|function| &function.resource);
            self.link(unit, link, found)
        });
        mapping.attributes.visit(&mut node);
        node.finish()
    }

    fn alarm(&self, alarm: &'g Alarm) -> Json {
        let assumed = &alarm.resource.when;
        let unit = alarm.resource.unit;
        let metrics = alarm.metrics.iter().map(|metric| {
            Json::Object(vec![
                ("namespace", self.attribute(&metric.namespace, assumed, plain)),
                ("metric", self.attribute(&metric.metric, assumed, plain)),
                (
                    "queue",
                    self.attribute(&metric.queue, assumed, |link, _| self.queue_link(unit, link)),
                ),
            ])
        });
        let metrics = Json::List(metrics.collect());
        let mut node = self.node(&alarm.resource);
        node.fields.push(("metrics", metrics));
        node.finish()
    }

    /// Returns the tags by key, with null for conditions under which a tag is absent. If there may be more tags, a last
    /// entry states the reason.
    fn tags(&self, tags: &'g Attribute<Tags>, assumed: &Condition) -> Vec<(String, Json)> {
        let cases = self.cases(tags, assumed);
        let known = |case: &'g Case<Tags>| case.value().map_or(&[][..], |tags| &tags.entries);
        let mut named: Vec<(String, Json)> = Vec::new();
        for tag in cases.iter().flat_map(|(_, case)| known(case)) {
            if named.iter().all(|(key, _)| *key != *tag.key()) {
                let values = cases.iter().flat_map(|(_, case)| self.tag(tag.key(), case, assumed));
                named.push((tag.key().to_owned(), self.in_cases(values.collect())));
            }
        }
        let more = cases.iter().find_map(|(_, case)| opaque(case));
        named.extend(more.map(|reason| (MORE_TAGS.to_owned(), unresolved(reason))));
        named
    }

    /// Returns the values of the tag `key` under the condition of `case`.
    fn tag(&self, key: &str, case: &'g Case<Tags>, assumed: &Condition) -> Vec<(Condition, Json)> {
        let mut left = case.when.clone();
        let mut values = Vec::new();
        let entries = case.value().map_or(&[][..], |tags| &tags.entries);
        for tag in entries.iter().filter(|tag| *tag.key() == *key) {
            let when = left.and(&tag.when);
            if assumed.is_possible_with(&when) {
                let value = self.attribute(&tag.value, &assumed.and(&when), plain);
                left = left.and(&tag.when.not());
                values.push((when, value));
            }
        }
        if assumed.is_possible_with(&left) {
            values.push((left, opaque(case).map_or(Json::Null, unresolved)));
        }
        values
    }

    /// Returns a single value, or one for each condition.
    fn in_cases(&self, mut values: Vec<(Condition, Json)>) -> Json {
        if self.by_default {
            values.retain(|(when, _)| when.holds_by_default() != Some(false));
            if let Some(at) = values.iter().position(|(when, _)| self.holds(when)) {
                return values.swap_remove(at).1;
            }
        }
        let all_equal = values.windows(2).all(|pair| match pair {
            [(_, one), (_, other)] => one == other,
            _ => true,
        });
        match values.pop() {
            None => unresolved("it has no value under the conditions in which it exists"),
            Some((_, only)) if all_equal => only,
            Some(last) => {
                values.push(last);
                let named = values.into_iter().map(|(when, value)| {
                    let when = when.describe().unwrap_or_else(|| "always".to_owned());
                    Json::Object(vec![("when", text(when)), ("value", value)])
                });
                Json::Object(vec![("one_of", Json::List(named.collect()))])
            }
        }
    }

    /// Starts a node with the fields that all nodes share.
    fn node(&self, resource: &'g Resource) -> Node<'_, 'g> {
        self.node_under(&resource.when, resource)
    }

    fn node_under(&self, when: &Condition, resource: &'g Resource) -> Node<'_, 'g> {
        let file = self.sources.file(resource.header.file);
        let line = self.sources.start(resource.header).line;
        let mut fields = vec![
            ("address", text(&*resource.address)),
            ("unit", text(&self.graph.unit(resource.unit).name)),
            ("file", text(file.name())),
            ("line", Json::Number(line.into())),
        ];
        if let Some(when) = when.describe().filter(|_| !self.holds(when)) {
            fields.push(("when", text(when)));
        }
        if let Some(reason) = &resource.uncertain {
            fields.push(("uncertain", text(&**reason)));
        }
        Node {
            writer: self,
            resource,
            fields,
            defaulted: Vec::new(),
        }
    }

    /// Returns `true` if the document is for the defaults, and `when` is true under them.
    fn holds(&self, when: &Condition) -> bool {
        self.by_default && when.holds_by_default() == Some(true)
    }

    /// Returns the possible cases of `attribute` under `assumed`.
    fn cases<'a, T>(&self, attribute: &'a Attribute<T>, assumed: &Condition) -> Vec<(Condition, &'a Case<T>)> {
        let with_world = |case: &'a Case<T>| (assumed.and(&case.when), case);
        let mut cases: Vec<_> = attribute.cases.iter().map(with_world).collect();
        cases.retain(|(both, _)| both.is_possible());
        if self.by_default {
            if let Some((both, case)) = cases.iter().find(|(_, case)| self.holds(&case.when)) {
                return vec![(both.clone(), case)];
            }
            cases.retain(|(_, case)| case.when.holds_by_default() != Some(false));
        }
        cases
    }

    /// Returns a single value, or one for each condition.
    fn attribute<'a, T>(
        &self,
        attribute: &'a Attribute<T>,
        assumed: &Condition,
        value: impl Fn(&'a T, &Condition) -> Json,
    ) -> Json {
        let cases = self.cases(attribute, assumed);
        let shown = cases.iter().map(|(both, case)| match &case.state {
            State::Set(known) | State::Default(known) => (case.when.clone(), value(known, both)),
            State::Unresolved(reason) => (case.when.clone(), unresolved(reason)),
        });
        self.in_cases(shown.collect())
    }

    fn worker(&self, queue: &Queue, worker: &'g WorkerConsumption) -> Json {
        let mut node = self.node_under(&worker.when, &worker.resource);
        let of = &queue.resource;
        let queue = if of.unit == worker.resource.unit {
            text(&*of.address)
        } else {
            let unit = &*self.graph.unit(of.unit).name;
            Json::Object(vec![("unit", text(unit)), ("address", text(&*of.address))])
        };
        let rest = [
            ("kind", text("worker")),
            ("queue", queue),
            ("evidence", text(&worker.evidence)),
        ];
        node.fields.extend(rest);
        node.finish()
    }

    fn pipe(&self, pipe: &'g Pipe) -> Json {
        let unit = pipe.resource.unit;
        let mut node = self.node(&pipe.resource);
        node.field("source", &pipe.source, |link, _| self.any_link(unit, link));
        node.field("enrichment", &pipe.enrichment, |link, _| self.optional_link(unit, link));
        node.field("target", &pipe.target, |link, _| self.any_link(unit, link));
        node.field("batch_size", &pipe.batch_size, plain);
        node.field("window", &pipe.window, plain);
        node.field("running", &pipe.running, plain);
        node.finish()
    }

    fn subscription(&self, subscription: &'g Subscription) -> Json {
        let unit = subscription.resource.unit;
        let mut node = self.node(&subscription.resource);
        node.field("topic", &subscription.topic, |link, _| self.any_link(unit, link));
        node.field("protocol", &subscription.protocol, plain);
        node.field("endpoint", &subscription.endpoint, |link, _| self.any_link(unit, link));
        let raw = &subscription.raw_message_delivery;
        node.field("raw_message_delivery", raw, plain);
        node.field("dead_letter", &subscription.redrive, |policy, assumed| {
            let target = policy.as_ref().map(|policy| &policy.target);
            target.map_or(Json::Null, |target| {
                self.attribute(target, assumed, |link, _| self.any_link(unit, link))
            })
        });
        node.finish()
    }

    fn target(&self, target: &'g EventTarget) -> Json {
        let unit = target.resource.unit;
        let mut node = self.node(&target.resource);
        let sender = target.sender.name();
        node.fields.push(("sender", text(sender)));
        node.field("source", &target.source, |link, _| self.any_link(unit, link));
        node.field("target", &target.target, |link, _| self.any_link(unit, link));
        node.field("dead_letter", &target.dead_letter, |link, _| {
            self.optional_link(unit, link)
        });
        node.field("message_group_id", &target.message_group_id, plain);
        node.field("enabled", &target.enabled, plain);
        node.finish()
    }

    /// Returns a link to a queue, a function or anything else.
    fn any_link(&self, unit: UnitId, link: &'g Link) -> Json {
        let queue = self.graph.queue(unit, link).map(|queue| &queue.resource);
        let function = || self.graph.function(unit, link).map(|function| &function.resource);
        self.link(unit, link, queue.or_else(function))
    }

    #[expect(clippy::ref_option, reason = "formatters receive every value by reference")]
    fn optional_link(&self, unit: UnitId, link: &'g Option<Link>) -> Json {
        link.as_ref().map_or(Json::Null, |link| self.any_link(unit, link))
    }

    fn queue_link(&self, unit: UnitId, link: &'g Link) -> Json {
        let found = self.graph.queue(unit, link).map(|queue| &queue.resource);
        self.link(unit, link, found)
    }

    fn link(&self, unit: UnitId, link: &'g Link, found: Option<&'g Resource>) -> Json {
        match self.graph.end(unit, link, found) {
            End::Address(written) | End::Written(written) => text(written),
            End::Elsewhere { unit, address } => Json::Object(vec![("unit", text(unit)), ("address", text(address))]),
        }
    }
}

fn plain<T: AsPlain>(value: &T, _: &Condition) -> Json {
    scalar(value.plain())
}

fn scalar(plain: Plain<'_>) -> Json {
    match plain {
        Plain::None => Json::Null,
        Plain::Flag(flag) => Json::Bool(flag),
        Plain::Number(number) => Json::Number(number),
        Plain::Seconds(seconds) => Json::Number(seconds.0),
        Plain::Text(written) => text(written),
        Plain::Link(link) => text(link.written()),
    }
}

#[cfg(test)]
pub(super) mod tests;
