//! `CloudWatch` alarms and the queues they look at.

use super::read::spread;
use super::{Lowering, Named, Node, Path, View, is_absent};
use crate::conditions::{Cases, Condition};
use crate::graph::{Alarm, AlarmMetric, Attribute, Cause, Link, Sourced, State};

/// The dimension that names a queue.
const QUEUE: &str = "QueueName";

/// What a dialect calls an alarm's attributes.
pub(in crate::frontend) struct AlarmNames {
    /// Of the alarm itself, and of the metric of a query.
    pub(in crate::frontend) namespace: Path,
    pub(in crate::frontend) metric: Path,
    pub(in crate::frontend) dimensions: Dimensions,
    /// The list of queries.
    pub(in crate::frontend) queries: Path,
    /// In a query, the metric it asks for or the formula it computes.
    pub(in crate::frontend) query_metric: Path,
    pub(in crate::frontend) expression: Path,
}

/// How a metric's dimensions are written.
pub(in crate::frontend) enum Dimensions {
    /// As an object, in which this leads to the queue's name.
    Object(Path),
    /// As a list of objects.
    List { list: Path, name: Path, value: Path },
}

impl<V: View> Lowering<V> {
    pub(super) fn alarm(&mut self, node: Node<V::Written>, names: &AlarmNames) {
        let mut alarm = Alarm {
            resource: node.resource,
            metrics: Vec::new(),
            opaque: false,
        };
        let single = self.view.attribute(&node.written, names.metric);
        if !is_absent(&single) {
            alarm
                .metrics
                .push(self.metric(&node.written, names, &Condition::always()));
        }
        for query in self.view.elements(&node.written, names.queries) {
            let metrics = self.view.elements(&query.written, names.query_metric);
            alarm.opaque |= query.place.is_err() || metrics.iter().any(|metric| metric.place.is_err());
            if metrics.is_empty() {
                alarm.opaque |= self.may_name_queues(&query.written, names.expression);
            }
            for metric in metrics.iter().filter(|metric| metric.place.is_ok()) {
                let when = query.when.and(&metric.when);
                alarm.metrics.push(self.metric(&metric.written, names, &when));
            }
        }
        self.graph.alarms.push(alarm);
    }

    /// Whether a formula is, or may be, more than arithmetic: Metrics Insights and searches name queues in a language
    /// of their own.
    fn may_name_queues(&mut self, query: &V::Written, path: Path) -> bool {
        let formula = self.required(query, path, V::text);
        formula.cases.iter().any(|case| {
            let text = case.value().map(|text| text.to_ascii_uppercase());
            text.is_none_or(|text| text.contains("SELECT") || text.contains("SEARCH"))
        })
    }

    fn metric(&mut self, written: &V::Written, names: &AlarmNames, when: &Condition) -> AlarmMetric {
        let namespace = self.required(written, names.namespace, V::text);
        let metric = self.required(written, names.metric, V::text);
        let queue = self.queue_dimension(written, &names.dimensions);
        AlarmMetric {
            namespace: under(namespace, when),
            metric: under(metric, when),
            queue: under(queue, when),
        }
    }

    /// The queue that the dimension `QueueName` names, a link to nothing where there is no such dimension.
    fn queue_dimension(&mut self, metric: &V::Written, dimensions: &Dimensions) -> Attribute<Link> {
        let named = match dimensions {
            Dimensions::Object(queue) => self.view.attribute(metric, queue),
            Dimensions::List { list, name, value } => self.value_of_queue(metric, list, name, value),
        };
        let none = |_: &str| State::Default(Link::none());
        self.convert(named, none, |this, value| this.view.link(&value, Named::Queue))
    }

    /// What stands at `value` in the element of `list` in which `QueueName` stands at `name`.
    fn value_of_queue(
        &mut self,
        metric: &V::Written,
        list: Path,
        name: Path,
        value: Path,
    ) -> Attribute<Option<V::Written>> {
        let lists = self.lists(metric, list, "");
        spread(lists, |_, sourced| {
            let Sourced { state, span, origins } = sourced;
            let mut otherwise = State::Default(None);
            let items = match state {
                State::Set(items) | State::Default(items) => items.unwrap_or_default(),
                State::Unresolved(reason) => {
                    otherwise = State::Unresolved(reason);
                    Vec::new()
                }
            };
            for item in &items {
                let name = self.required(item, name, V::text);
                if name
                    .cases
                    .iter()
                    .any(|case| case.value().is_some_and(|name| name == QUEUE))
                {
                    return self.view.attribute(item, value).cases;
                }
                if name.unresolved_reason().is_some() {
                    otherwise = State::Unresolved(Cause::Derived.because("the name of a dimension is unknown").into());
                }
            }
            Cases::one(Sourced {
                state: otherwise,
                span,
                origins,
            })
        })
    }
}

/// `attribute` where `when` holds.
fn under<T>(attribute: Attribute<T>, when: &Condition) -> Attribute<T> {
    Attribute {
        cases: attribute.cases.under(when),
        ..attribute
    }
}
