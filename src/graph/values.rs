//! Lists the attributes of the graph with values, spans and origins, for `sqslint explain`.

use super::{Attribute, Case, End, Graph, Link, Origin, Resource, State, Target, UnitId};
use source::Span;
use std::fmt::Display;

/// An attribute of a resource.
#[derive(Debug)]
pub struct ListedAttribute<'g> {
    /// The resource.
    pub resource: &'g Resource,
    /// Name as written.
    pub name: &'g str,
    /// Values.
    pub cases: Vec<ListedValue<'g>>,
}

/// A value under a condition.
#[derive(Debug)]
pub struct ListedValue<'g> {
    /// Condition; `None` if it always applies.
    pub when: Option<String>,
    /// Value, or the reason why it is unresolved.
    pub value: Result<String, &'g str>,
    /// `true` if the attribute is absent and its default applies.
    pub is_default: bool,
    /// Span of the value, or of the resource's header if absent.
    pub span: Span,
    /// Origins, nearest first.
    pub origins: &'g [Origin],
}

/// Lists the attributes of all resources: the most important ones, and others if they are not left to AWS.
pub fn list(graph: &Graph) -> Vec<ListedAttribute<'_>> {
    let mut lister = AttributeLister { graph, all: Vec::new() };
    lister.queues();
    lister.functions();
    lister.mappings();
    lister.alarms();
    lister.deliveries();
    lister.all
}

const NONE: &str = "none";

struct AttributeLister<'g> {
    graph: &'g Graph,
    all: Vec<ListedAttribute<'g>>,
}

impl<'g> AttributeLister<'g> {
    fn add<T>(&mut self, resource: &'g Resource, attribute: &'g Attribute<T>, show: impl Fn(&'g T) -> String) {
        let assumed = &resource.when;
        let possible = attribute
            .cases
            .iter()
            .filter(|case| assumed.is_possible_with(&case.when));
        let cases: Vec<_> = possible.map(|case| listed(case, &show)).collect();
        // An absent attribute without a default is not listed.
        let is_nothing = |case: &ListedValue<'_>| {
            case.is_default && case.value.as_deref() == Ok(NONE) && case.span == resource.header
        };
        if !cases.iter().all(is_nothing) {
            self.all.push(ListedAttribute {
                resource,
                name: &attribute.name,
                cases,
            });
        }
    }

    fn plain<T: Display>(&mut self, resource: &'g Resource, attribute: &'g Attribute<T>) {
        self.add(resource, attribute, ToString::to_string);
    }

    /// Adds an attribute only if it is written.
    fn written<T: Display>(&mut self, resource: &'g Resource, attribute: &'g Attribute<T>) {
        if !attribute.cases.iter().all(|case| case.is_default()) {
            self.plain(resource, attribute);
        }
    }

    fn optional<T: Display>(&mut self, resource: &'g Resource, attribute: &'g Attribute<Option<T>>) {
        self.add(resource, attribute, |value| {
            value.as_ref().map_or_else(|| NONE.to_owned(), ToString::to_string)
        });
    }

    fn link(&mut self, resource: &'g Resource, attribute: &'g Attribute<Link>) {
        let graph = self.graph;
        self.add(resource, attribute, |link| shown(graph, resource.unit, link));
    }

    fn optional_link(&mut self, resource: &'g Resource, attribute: &'g Attribute<Option<Link>>) {
        let graph = self.graph;
        self.add(resource, attribute, |link| {
            link.as_ref()
                .map_or_else(|| NONE.to_owned(), |link| shown(graph, resource.unit, link))
        });
    }

    fn queues(&mut self) {
        for queue in self.graph.queues() {
            let resource = &queue.resource;
            self.optional(resource, &queue.name);
            self.plain(resource, &queue.fifo);
            for seconds in [
                &queue.visibility_timeout,
                &queue.retention,
                &queue.delay,
                &queue.receive_wait_time,
            ] {
                self.plain(resource, seconds);
            }
            self.plain(resource, &queue.maximum_message_size);
            self.optional_link(resource, &queue.key);
            self.written(resource, &queue.key_reuse_period);
            self.optional(resource, &queue.managed_encryption);
            self.written(resource, &queue.content_based_deduplication);
            self.optional(resource, &queue.deduplication_scope);
            self.optional(resource, &queue.throughput_limit);
            self.add(resource, &queue.redrive, |policy| {
                policy.as_ref().map_or(NONE, |_| "a policy").to_owned()
            });
            let policies = queue.redrive.cases.iter().filter_map(|case| case.value()?.as_ref());
            for policy in policies {
                self.link(resource, &policy.target);
                self.plain(resource, &policy.max_receive_count);
            }
            let allow = queue.redrive_allow.cases.iter();
            for policy in allow.filter_map(|case| case.value()?.as_ref()) {
                self.plain(resource, &policy.permission);
                for source in &policy.sources {
                    self.link(resource, source);
                }
            }
        }
    }

    fn functions(&mut self) {
        for function in self.graph.functions() {
            let resource = &function.resource;
            self.optional(resource, &function.name);
            self.plain(resource, &function.timeout);
            self.optional(resource, &function.durable_execution_timeout);
            self.written(resource, &function.managed_instances);
            self.optional(resource, &function.reserved_concurrency);
            self.optional(resource, &function.tenant_isolation);
            self.optional_link(resource, &function.role);
            for setting in function.failure_targets.iter().chain(&function.success_targets) {
                self.link(resource, &setting.target);
            }
        }
    }

    fn mappings(&mut self) {
        for mapping in self.graph.mappings() {
            let resource = &mapping.resource;
            self.link(resource, &mapping.queue);
            self.link(resource, &mapping.function);
            self.plain(resource, &mapping.batch_size);
            self.plain(resource, &mapping.window);
            self.add(resource, &mapping.report_batch_item_failures, |reports| {
                let with = if *reports { "with" } else { "without" };
                format!("{with} ReportBatchItemFailures")
            });
            self.optional(resource, &mapping.maximum_concurrency);
            self.plain(resource, &mapping.enabled);
            self.optional_link(resource, &mapping.failure_destination);
        }
    }

    fn alarms(&mut self) {
        for alarm in self.graph.alarms() {
            for metric in &alarm.metrics {
                self.plain(&alarm.resource, &metric.namespace);
                self.plain(&alarm.resource, &metric.metric);
                self.link(&alarm.resource, &metric.queue);
            }
        }
    }

    fn deliveries(&mut self) {
        let deliveries = self.graph.deliveries();
        for pipe in &deliveries.pipes {
            let resource = &pipe.resource;
            self.link(resource, &pipe.source);
            self.optional_link(resource, &pipe.enrichment);
            self.link(resource, &pipe.target);
            self.plain(resource, &pipe.batch_size);
            self.plain(resource, &pipe.window);
            self.plain(resource, &pipe.running);
        }
        for subscription in &deliveries.subscriptions {
            let resource = &subscription.resource;
            self.link(resource, &subscription.topic);
            self.plain(resource, &subscription.protocol);
            self.link(resource, &subscription.endpoint);
            self.plain(resource, &subscription.raw_message_delivery);
        }
        for target in &deliveries.targets {
            let resource = &target.resource;
            self.link(resource, &target.source);
            self.link(resource, &target.target);
            self.optional_link(resource, &target.dead_letter);
            self.optional(resource, &target.message_group_id);
        }
    }
}

fn listed<'g, T>(case: &'g Case<T>, show: impl Fn(&'g T) -> String) -> ListedValue<'g> {
    ListedValue {
        when: case.when.describe(),
        value: match &case.state {
            State::Set(value) | State::Default(value) => Ok(show(value)),
            State::Unresolved(reason) => Err(reason),
        },
        is_default: case.is_default(),
        span: case.span,
        origins: &case.origins,
    }
}

/// Formats the target of a link, with its unit if that is a different one.
fn shown(graph: &Graph, unit: UnitId, link: &Link) -> String {
    let queue = graph.queue(unit, link).map(|queue| &queue.resource);
    let function = || graph.function(unit, link).map(|function| &function.resource);
    match graph.end(unit, link, queue.or_else(function)) {
        End::Address(address) => format!("→ {address}"),
        End::Elsewhere { unit, address } => format!("→ {address} in {unit}"),
        // It may be declared as a resource that the graph does not include.
        End::Written(written) if matches!(link.target, Target::Resource(_)) => format!("→ {written}"),
        End::Written(written) => format!("→ {written} (not declared here)"),
    }
}
