//! Writes the graph as indented text, unit by unit, for people and for snapshots.
//!
//! The text contains the same information as [`json`](super::json), except that locations are reduced to the line.

use super::{Marks, duration};
use crate::graph::{
    Alarm, Attribute, Condition, End, EventSourceMapping, Function, Graph, Link, Queue, RedrivePolicy, Resource, State,
    UnitId, UnitKind,
};
use crate::report::printable;
use source::Sources;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

/// Writes the whole graph, each resource with its findings. Without units, writes nothing.
pub fn write(graph: &Graph, sources: &Sources, marks: &Marks<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    for (at, unit) in graph.units().iter().enumerate() {
        let kind = match unit.kind {
            UnitKind::TerraformModule => "Terraform module",
            UnitKind::Template => "template",
            UnitKind::CdkStack => "CDK stack",
            UnitKind::ServerlessService => "Serverless Framework service",
            UnitKind::Plan => "Terraform plan",
            UnitKind::State => "Terraform state",
            UnitKind::Snapshot => "snapshot",
        };
        let call =
            (unit.key.calls()).map_or_else(String::new, |call| format!(", called by {} as {call}", unit.key.root()));
        let mut writer = Writer {
            graph,
            sources,
            marks,
            text: String::new(),
            written: BTreeSet::new(),
        };
        writer.line(0, &format!("{kind} {}{call}", unit.name));
        writer.unit(UnitId(u32::try_from(at).unwrap_or(u32::MAX)));
        out.write_all(writer.text.as_bytes())?;
    }
    Ok(())
}

/// Formatter of one unit as text.
struct Writer<'g> {
    graph: &'g Graph,
    sources: &'g Sources,
    marks: &'g Marks<'g>,
    text: String,
    /// Addresses that the text contains.
    written: BTreeSet<&'g str>,
}

impl<'g> Writer<'g> {
    fn unit(&mut self, unit: UnitId) {
        let graph = self.graph;
        for queue in graph.queues().iter().filter(|n| n.resource.unit == unit) {
            self.queue(queue);
        }
        for function in graph.functions().iter().filter(|n| n.resource.unit == unit) {
            self.function(function);
        }
        for mapping in graph.mappings().iter().filter(|n| n.resource.unit == unit) {
            self.mapping(mapping);
        }
        for alarm in graph.alarms().iter().filter(|n| n.resource.unit == unit) {
            self.alarm(alarm);
        }
        let name = &*graph.unit(unit).name;
        let marks = self.marks;
        for address in marks.addresses(name) {
            if !self.written.contains(address) {
                self.line(1, address);
                self.marks(name, address);
            }
        }
    }

    /// Writes the findings of a resource.
    fn marks(&mut self, unit: &str, address: &str) {
        for mark in self.marks.of(unit, address) {
            self.line(2, &format!("! {mark}"));
        }
    }

    fn queue(&mut self, queue: &'g Queue) {
        let assumed = &queue.resource.when;
        self.header("queue", &queue.resource);
        let values = [
            field("name", &queue.name, assumed, optional),
            field("FIFO", &queue.fifo, assumed, yes_or_no),
            field("visibility timeout", &queue.visibility_timeout, assumed, duration),
            field("retention", &queue.retention, assumed, duration),
            field("delay", &queue.delay, assumed, duration),
        ];
        self.line(2, &values.join(", "));
        let unit = queue.resource.unit;
        let redrive = values_of(&queue.redrive, assumed, |policy| {
            policy
                .as_ref()
                .map_or_else(String::new, |policy| self.redrive(unit, policy))
        });
        for policy in redrive.iter().filter(|policy| !policy.is_empty()) {
            self.line(2, &format!("→ {policy}"));
        }
        for reading in self.graph.worker_consumptions(queue) {
            self.line(2, &format!("→ worker {reading}"));
        }
    }

    fn redrive(&self, unit: UnitId, policy: &RedrivePolicy) -> String {
        let always = Condition::always();
        let target = values_of(&policy.target, &always, |link| self.queue_link(unit, link)).join(" or ");
        let count = values_of(&policy.max_receive_count, &always, ToString::to_string).join(" or ");
        format!("dead-letter queue {target}, maximum receive count {count}")
    }

    fn function(&mut self, function: &'g Function) {
        let assumed = &function.resource.when;
        self.header("function", &function.resource);
        let values = [
            field("name", &function.name, assumed, optional),
            field("timeout", &function.timeout, assumed, duration),
            field(
                "reserved concurrency",
                &function.reserved_concurrency,
                assumed,
                optional,
            ),
        ];
        self.line(2, &values.join(", "));
        let handler = match &function.handler {
            Ok(handler) => {
                let file = self.sources.file(handler.place.file);
                let line = file.position(handler.place.start as usize).line;
                Some(format!("handler `{}` at {}:{line}", handler.name, file.shown()))
            }
            Err(unread) => unread.words().map(ToString::to_string),
        };
        if let Some(handler) = handler {
            self.line(2, &handler);
        }
    }

    fn mapping(&mut self, mapping: &'g EventSourceMapping) {
        let assumed = &mapping.resource.when;
        let unit = mapping.resource.unit;
        self.header("mapping", &mapping.resource);
        let queue = values_of(&mapping.queue, assumed, |link| self.queue_link(unit, link)).join(" or ");
        let function = values_of(&mapping.function, assumed, |link| {
            let found = self.graph.function(unit, link).map(|function| &function.resource);
            self.link(unit, link, found)
        });
        self.line(2, &format!("{queue} → {}", function.join(" or ")));
        let values = [
            field("batch size", &mapping.batch_size, assumed, ToString::to_string),
            field("window", &mapping.window, assumed, duration),
            field(
                "partial batch response",
                &mapping.report_batch_item_failures,
                assumed,
                yes_or_no,
            ),
            field("maximum concurrency", &mapping.maximum_concurrency, assumed, optional),
            field("enabled", &mapping.enabled, assumed, yes_or_no),
        ];
        self.line(2, &values.join(", "));
    }

    fn alarm(&mut self, alarm: &'g Alarm) {
        let assumed = &alarm.resource.when;
        let unit = alarm.resource.unit;
        self.header("alarm", &alarm.resource);
        let mut lines = BTreeSet::new();
        for metric in &alarm.metrics {
            let namespace = values_of(&metric.namespace, assumed, Clone::clone).join(" or ");
            let name = values_of(&metric.metric, assumed, Clone::clone).join(" or ");
            let queue = values_of(&metric.queue, assumed, |link| self.queue_link(unit, link)).join(" or ");
            // Metrics that do not concern SQS have no queue.
            let queue = if queue == NO_LINK {
                String::new()
            } else {
                format!(" of {queue}")
            };
            lines.insert(format!("{namespace} {name}{queue}"));
        }
        for line in lines {
            self.line(2, &line);
        }
    }

    fn header(&mut self, kind: &str, resource: &'g Resource) {
        let line = self.sources.start(resource.header).line;
        let file = self.sources.file(resource.header.file);
        let mut text = format!("{kind} {} ({}:{line})", resource.address, file.name());
        if let Some(when) = resource.when.describe() {
            // Writing to a string cannot fail.
            let _ = write!(text, ", when {when}");
        }
        if let Some(reason) = &resource.uncertain {
            let _ = write!(text, ", may not exist: {reason}");
        }
        self.line(1, &text);
        self.written.insert(&resource.address);
        self.marks(&self.graph.unit(resource.unit).name, &resource.address);
    }

    fn queue_link(&self, unit: UnitId, link: &Link) -> String {
        let found = self.graph.queue(unit, link).map(|queue| &queue.resource);
        self.link(unit, link, found)
    }

    fn link(&self, unit: UnitId, link: &Link, found: Option<&Resource>) -> String {
        match self.graph.end(unit, link, found) {
            End::Address(address) => address.to_owned(),
            End::Elsewhere { unit, address } => format!("{address} in {unit}"),
            End::Written(written) => format!("`{written}`"),
        }
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.text.push_str(&"  ".repeat(depth));
        self.text.push_str(&printable(text));
        self.text.push('\n');
    }
}

/// Formats an attribute with its name: `retention 345600 s (default)`.
fn field<T>(name: &str, attribute: &Attribute<T>, assumed: &Condition, show: impl Fn(&T) -> String) -> String {
    format!("{name} {}", values_of(attribute, assumed, show).join(" or "))
}

/// Formats each value of `attribute` under `assumed`, with conditions if there are several.
fn values_of<T>(attribute: &Attribute<T>, assumed: &Condition, show: impl Fn(&T) -> String) -> Vec<String> {
    let mut cases: Vec<_> = attribute.cases.iter().collect();
    cases.retain(|case| assumed.is_possible_with(&case.when));
    let several = cases.len() > 1;
    let shown = cases.into_iter().map(|case| {
        let value = match &case.state {
            State::Set(value) => show(value),
            State::Default(value) => match show(value) {
                // "none (default)" and an absent policy are shortened to "none".
                plain if plain == NONE || plain.is_empty() => plain,
                value => format!("{value} (default)"),
            },
            State::Unresolved(reason) => format!("unresolved ({reason})"),
        };
        match case.when.describe().filter(|_| several && !value.is_empty()) {
            Some(when) => format!("{value} when {when}"),
            None => value,
        }
    });
    shown.collect()
}

const NONE: &str = "none";
/// Link that is absent.
const NO_LINK: &str = "`` (default)";

#[expect(clippy::ref_option, reason = "formatters receive every value by reference")]
fn optional<T: ToString>(value: &Option<T>) -> String {
    value.as_ref().map_or_else(|| NONE.to_owned(), ToString::to_string)
}

fn yes_or_no(value: &bool) -> String {
    if *value { "yes" } else { "no" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::written;

    #[test]
    fn unit_is_written_as_text() {
        let (graph, sources) = crate::report::graph::json::tests::sample();
        insta::assert_snapshot!(written(|out| write(&graph, &sources, &Marks::default(), out)));
    }
}
