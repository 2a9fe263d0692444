//! Links between declared resources with both of their ends, for navigation in editors.

use crate::graph::{Attribute, Graph, Link, Resource};
use source::Span;

/// A link to a declared resource.
#[derive(Debug, Clone, Copy)]
pub(super) struct NavigationLink<'g> {
    /// Span of the link, or of the header of `by` if the link is implicit.
    pub(super) from: Span,
    /// Resource that contains the link.
    pub(super) by: &'g Resource,
    /// Resource that it refers to.
    pub(super) to: &'g Resource,
}

/// Returns all links to declared queues and functions.
pub(super) fn navigation_links(graph: &Graph) -> Vec<NavigationLink<'_>> {
    let mut all = NavigationLinks { graph, all: Vec::new() };
    for queue in graph.queues() {
        let by = &queue.resource;
        for policy in queue.redrive.cases.iter().filter_map(|case| case.value()?.as_deref()) {
            all.queue(by, &policy.target);
        }
        for policy in queue
            .redrive_allow
            .cases
            .iter()
            .filter_map(|case| case.value()?.as_deref())
        {
            policy.sources.iter().for_each(|source| all.queue(by, source));
        }
    }
    for function in graph.functions() {
        let targets = function.failure_targets.iter();
        targets.for_each(|failure| all.queue(&function.resource, &failure.target));
    }
    for mapping in graph.mappings() {
        all.queue(&mapping.resource, &mapping.queue);
        all.function(&mapping.resource, &mapping.function);
    }
    let deliveries = graph.deliveries();
    for pipe in &deliveries.pipes {
        all.queue(&pipe.resource, &pipe.source);
        all.queue(&pipe.resource, &pipe.target);
        all.function(&pipe.resource, &pipe.target);
    }
    for subscription in &deliveries.subscriptions {
        all.queue(&subscription.resource, &subscription.endpoint);
        all.function(&subscription.resource, &subscription.endpoint);
    }
    for target in &deliveries.targets {
        all.queue(&target.resource, &target.target);
        all.function(&target.resource, &target.target);
    }
    for alarm in graph.alarms() {
        for metric in &alarm.metrics {
            all.queue(&alarm.resource, &metric.queue);
        }
    }
    all.all
}

struct NavigationLinks<'g> {
    graph: &'g Graph,
    all: Vec<NavigationLink<'g>>,
}

impl<'g> NavigationLinks<'g> {
    fn queue(&mut self, by: &'g Resource, attribute: &Attribute<Link>) {
        let graph = self.graph;
        self.add(by, attribute, |link| {
            graph.queue(by.unit, link).map(|queue| &queue.resource)
        });
    }

    fn function(&mut self, by: &'g Resource, attribute: &Attribute<Link>) {
        let graph = self.graph;
        self.add(by, attribute, |link| {
            graph.function(by.unit, link).map(|function| &function.resource)
        });
    }

    fn add(&mut self, by: &'g Resource, attribute: &Attribute<Link>, end: impl Fn(&Link) -> Option<&'g Resource>) {
        for case in &attribute.cases {
            if let Some(to) = case.value().and_then(&end) {
                let from = case.span;
                self.all.push(NavigationLink { from, by, to });
            }
        }
    }
}
