//! Lowers `CloudWatch` alarms with the queues they watch, monitors of other vendors, and listeners of alarms.

use super::read::spread;
use super::{BareName, Lowering, Node, Path, View, is_absent};
use crate::graph::alarms::DIMENSION;
use crate::graph::{
    Alarm, AlarmMetric, AlarmSubscriber, Attribute, Cause, Dimension, Link, Reason, Resource, SourcedValue, State,
};
use conditions::{Cases, Condition};

/// Source of alarm events.
const ALARM_EVENTS: &str = "aws.cloudwatch";
/// Prefix of SQS metrics in monitors of another vendor.
const VENDOR_METRICS: &str = "aws.sqs.";

/// Names of an alarm's attributes.
pub(in crate::frontend) struct AlarmNames {
    pub(in crate::frontend) name: Path,
    pub(in crate::frontend) metric: MetricNames,
    /// The list of queries.
    pub(in crate::frontend) queries: Path,
    /// The metric of a query; a query without one has a formula.
    pub(in crate::frontend) query_metric: Path,
    pub(in crate::frontend) metric_of_query: MetricNames,
    pub(in crate::frontend) expression: Path,
    pub(in crate::frontend) threshold: Path,
    pub(in crate::frontend) comparison: Path,
    pub(in crate::frontend) evaluation_periods: Path,
    pub(in crate::frontend) datapoints: Path,
    pub(in crate::frontend) missing_data: Path,
    pub(in crate::frontend) actions: Path,
    pub(in crate::frontend) actions_enabled: Path,
}

/// Names of the attributes of a metric, in an alarm or in a query.
pub(in crate::frontend) struct MetricNames {
    pub(in crate::frontend) namespace: Path,
    pub(in crate::frontend) metric: Path,
    pub(in crate::frontend) dimensions: Dimensions,
    pub(in crate::frontend) statistic: Path,
    pub(in crate::frontend) period: Path,
}

/// Spelling of a metric's dimensions.
pub(in crate::frontend) enum Dimensions {
    /// An object, and the queue's name in it.
    Object(Path, Path),
    /// A list of objects, and the name and the value in each.
    List(Path, Path, Path),
}

impl<V: View> Lowering<V> {
    pub(super) fn alarm(&mut self, node: Node<V::Value>, names: &AlarmNames) {
        let written = &node.written;
        let mut opaque = None;
        let mut metrics = Vec::new();
        if !is_absent(&self.view.attribute(written, names.metric.metric)) {
            metrics.push(self.metric(written, &names.metric, &Condition::always()));
        }
        let queries = self.view.elements(written, names.queries);
        let mut has_queries = queries.len() > 1;
        for query in queries {
            let found = self.view.elements(&query.written, names.query_metric);
            has_queries |= found.len() != 1 || query.place.is_err();
            opaque = opaque.or(query.place.err());
            if found.is_empty() {
                opaque = opaque.or_else(|| self.names_queues(&query.written, names.expression));
            }
            for metric in found {
                match metric.place {
                    Ok(_) => {
                        let when = query.when.and(&metric.when);
                        metrics.push(self.metric(&metric.written, &names.metric_of_query, &when));
                    }
                    Err(reason) => opaque = opaque.or(Some(reason)),
                }
            }
        }
        let alarm = Alarm {
            name: self.text(written, names.name),
            metrics,
            has_queries,
            opaque,
            threshold: self.optional(written, names.threshold, V::integer),
            comparison: self.text(written, names.comparison),
            evaluation_periods: self.optional(written, names.evaluation_periods, V::integer),
            datapoints: self.optional(written, names.datapoints, V::integer),
            missing_data: self.text(written, names.missing_data),
            has_actions: self.has_elements(written, names.actions),
            actions: self.actions(written, names.actions),
            actions_enabled: self.plain(written, names.actions_enabled, true),
            is_nonexistent: false,
            resource: node.resource,
        };
        self.graph.alarms.push(alarm);
    }

    /// Returns the targets of the actions at `path`, or `None` if they are absent.
    fn actions(&mut self, written: &V::Value, path: Path) -> Option<Box<Attribute<Vec<Attribute<Link>>>>> {
        let actions = self.each(written, [path, "", ""], |view, value| view.link(value, BareName::Queue));
        (!is_absent(&actions)).then(|| Box::new(actions))
    }

    /// Returns whether the list at `path` has any element.
    fn has_elements(&mut self, written: &V::Value, path: Path) -> Attribute<bool> {
        let lists = self.lists(written, path, "");
        let absent = |_: &str| State::Default(false);
        self.convert(lists, absent, |this, items| {
            let texts = items
                .iter()
                .map(|item| this.view.link(item, BareName::Queue).map(|link| link != Link::none()));
            // An unresolved element may be absent.
            texts
                .reduce(|all, one| match (all, one) {
                    (Ok(true), _) | (_, Ok(true)) => Ok(true),
                    (Err(reason), _) | (_, Err(reason)) => Err(reason),
                    _ => Ok(false),
                })
                .unwrap_or(Ok(false))
        })
    }

    /// Returns a reason if a formula is, or may be, more than arithmetic: Metrics Insights and searches select queues
    /// in their own language.
    fn names_queues(&mut self, query: &V::Value, path: Path) -> Option<Reason> {
        let formula = self.required(query, path, V::text);
        formula.cases.iter().find_map(|case| match &case.state {
            State::Unresolved(unresolved) => Some(unresolved.reason().clone()),
            State::Set(text) | State::Default(text) => {
                let text = text.to_ascii_uppercase();
                let is_query = text.contains("SELECT") || text.contains("SEARCH");
                is_query.then(|| Cause::Unsupported.because("it may look at any queue in a query or search"))
            }
        })
    }

    fn metric(&mut self, written: &V::Value, names: &MetricNames, when: &Condition) -> AlarmMetric {
        let dimension = match names.dimensions {
            Dimensions::Object(_, queue) => self.view.attribute(written, queue),
            Dimensions::List(list, name, value) => self.value_of_queue(written, [list, name, value]),
        };
        let none = |_: &str| State::Default(Link::none());
        let queue = self.convert(dimension, none, |this, value| this.view.link(&value, BareName::Queue));
        AlarmMetric {
            namespace: under(self.required(written, names.namespace, V::text), when),
            metric: under(self.required(written, names.metric, V::text), when),
            queue: under(queue, when),
            other_dimensions: self.other_dimensions(written, &names.dimensions, when),
            statistic: under(self.text(written, names.statistic), when),
            period: under(self.optional(written, names.period, V::integer), when),
        }
    }

    /// Returns the known dimensions other than that of the queue.
    fn other_dimensions(&mut self, metric: &V::Value, dimensions: &Dimensions, when: &Condition) -> Vec<Dimension> {
        let all: Vec<Dimension> = match dimensions {
            Dimensions::Object(object, _) => {
                let found = self.view.attribute(metric, object);
                let objects = found.cases.into_iter().filter_map(|case| match case.then.state {
                    State::Set(object) => Some((case.when, object?)),
                    _ => None,
                });
                let fields = objects.flat_map(|(when, object)| {
                    let fields = self.view.fields(&object).unwrap_or_default();
                    fields.into_iter().map(move |field| Dimension {
                        name: field.key,
                        span: field.span,
                        when: when.clone(),
                    })
                });
                fields.collect()
            }
            Dimensions::List(list, name, _) => {
                let elements = self.view.elements(metric, list).into_iter();
                let named = elements.flat_map(|element| {
                    let names = self.text(&element.written, name);
                    let known = names.known_in(&element.when);
                    let known = known.into_iter().filter_map(|(when, case, name)| {
                        Some(Dimension {
                            name: name.as_deref()?.into(),
                            span: case.span,
                            when,
                        })
                    });
                    known.collect::<Vec<_>>()
                });
                named.collect()
            }
        };
        let others = all.into_iter().filter(|dimension| &*dimension.name != DIMENSION);
        let others = others.map(|dimension| Dimension {
            when: dimension.when.and(when),
            ..dimension
        });
        others.filter(|dimension| dimension.when.is_possible()).collect()
    }

    /// Returns the attribute `value` in the element of `list` whose attribute `name` is `QueueName`.
    fn value_of_queue(&mut self, metric: &V::Value, [list, name, value]: [Path; 3]) -> Attribute<Option<V::Value>> {
        let lists = self.lists(metric, list, "");
        spread(lists, |_, sourced| {
            let SourcedValue { state, span, origins } = sourced;
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
                    .any(|case| case.value().is_some_and(|name| name == DIMENSION))
                {
                    return self.view.attribute(item, value).cases;
                }
                if name.unresolved_reason().is_some() {
                    otherwise = State::Unresolved(Cause::Derived.because("the name of a dimension is unknown").into());
                }
            }
            Cases::one(SourcedValue {
                state: otherwise,
                span,
                origins,
            })
        })
    }

    /// Lowers a monitor of another vendor, which counts as an alarm on any queue if it watches SQS, or may.
    pub(super) fn monitor(&mut self, node: Node<V::Value>, query: Path) {
        let query = self.required(&node.written, query, V::text);
        let reason = query.cases.iter().find_map(|case| match &case.state {
            State::Unresolved(unresolved) => Some(unresolved.reason().clone()),
            State::Set(text) | State::Default(text) => text
                .contains(VENDOR_METRICS)
                .then(|| Cause::Unsupported.because("a monitor of another vendor looks at queues")),
        });
        if reason.is_some() {
            self.graph.alarms.push(watching_anything(node.resource, reason));
        }
    }

    /// Lowers a composite alarm, which listens to the alarms that its rule names.
    pub(super) fn composite_alarm(&mut self, node: Node<V::Value>, rule: Path) {
        let rule = self.required(&node.written, rule, V::text);
        self.graph.alarm_subscribers.push(AlarmSubscriber {
            resource: node.resource,
            names: rule.known().cloned(),
        });
    }

    /// Adds a rule as a listener of every alarm if its pattern matches events of alarms, or may.
    pub(super) fn rule_on_alarms(&mut self, resource: &Resource, written: &V::Value, pattern: Path) {
        let takes = self.policy(written, pattern, |this, object, _| {
            let fields = this.view.fields(&object?)?;
            let Some(source) = fields.iter().find(|field| &*field.key == "source") else {
                return Ok(true);
            };
            let sources = this.view.elements(&source.value, "");
            let texts: Vec<_> = sources.iter().map(|source| this.view.text(&source.written)).collect();
            Ok(texts
                .iter()
                .any(|text| text.as_ref().map_or(true, |text| text == ALARM_EVENTS)))
        });
        let is_open = takes.unresolved_reason().is_some();
        if is_open || takes.cases.iter().any(|case| matches!(case.value(), Some(Some(true)))) {
            self.graph.alarm_subscribers.push(AlarmSubscriber {
                resource: resource.clone(),
                names: None,
            });
        }
    }
}

/// Returns an alarm that may watch any queue of its unit.
fn watching_anything(resource: Resource, opaque: Option<Reason>) -> Alarm {
    let header = resource.header;
    Alarm {
        name: Attribute::absent("name", None, header),
        metrics: Vec::new(),
        has_queries: true,
        opaque,
        threshold: Attribute::absent("threshold", None, header),
        comparison: Attribute::absent("comparison", None, header),
        evaluation_periods: Attribute::absent("periods", None, header),
        datapoints: Attribute::absent("datapoints", None, header),
        missing_data: Attribute::absent("missing data", None, header),
        has_actions: Attribute::absent("actions", true, header),
        actions: None,
        actions_enabled: Attribute::absent("actions", true, header),
        is_nonexistent: false,
        resource,
    }
}

/// Restricts `attribute` to the condition `when`.
fn under<T>(attribute: Attribute<T>, when: &Condition) -> Attribute<T> {
    Attribute {
        cases: attribute.cases.under(when),
        ..attribute
    }
}
