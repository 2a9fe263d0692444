//! Lists the attributes of the graph with values, spans and origins, for `sqslint explain`.

use super::attributes::{Declared, Reader, Visit};
use super::{AsPlain, Attribute, Case, End, Graph, Link, Origin, Plain, Resource, State, Target, UnitId};
use source::Span;

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

    fn plain<T: AsPlain>(&mut self, resource: &'g Resource, attribute: &'g Attribute<T>) {
        let graph = self.graph;
        self.add(resource, attribute, |value| match value.plain() {
            Plain::Link(link) => shown(graph, resource.unit, link),
            plain => plain.to_string(),
        });
    }

    fn queues(&mut self) {
        for queue in self.graph.queues() {
            let resource = &queue.resource;
            queue.attributes.visit(&mut Lister { all: self, resource });
            self.add(resource, &queue.redrive, |policy| {
                policy.as_ref().map_or(NONE, |_| "a policy").to_owned()
            });
            let policies = queue.redrive.cases.iter().filter_map(|case| case.value()?.as_ref());
            for policy in policies {
                self.plain(resource, &policy.target);
                self.plain(resource, &policy.max_receive_count);
            }
            let allow = queue.redrive_allow.cases.iter();
            for policy in allow.filter_map(|case| case.value()?.as_ref()) {
                self.plain(resource, &policy.permission);
                for source in &policy.sources {
                    self.plain(resource, source);
                }
            }
        }
    }

    fn functions(&mut self) {
        for function in self.graph.functions() {
            let resource = &function.resource;
            function.attributes.visit(&mut Lister { all: self, resource });
            for setting in function.failure_targets.iter().chain(&function.success_targets) {
                self.plain(resource, &setting.target);
            }
        }
    }

    fn mappings(&mut self) {
        for mapping in self.graph.mappings() {
            let resource = &mapping.resource;
            self.plain(resource, &mapping.queue);
            self.plain(resource, &mapping.function);
            mapping.attributes.visit(&mut Lister { all: self, resource });
        }
    }

    fn alarms(&mut self) {
        for alarm in self.graph.alarms() {
            for metric in &alarm.metrics {
                self.plain(&alarm.resource, &metric.namespace);
                self.plain(&alarm.resource, &metric.metric);
                self.plain(&alarm.resource, &metric.queue);
            }
        }
    }

    fn deliveries(&mut self) {
        let deliveries = self.graph.deliveries();
        for pipe in &deliveries.pipes {
            let resource = &pipe.resource;
            self.plain(resource, &pipe.source);
            self.plain(resource, &pipe.enrichment);
            self.plain(resource, &pipe.target);
            self.plain(resource, &pipe.batch_size);
            self.plain(resource, &pipe.window);
            self.plain(resource, &pipe.running);
        }
        for subscription in &deliveries.subscriptions {
            let resource = &subscription.resource;
            self.plain(resource, &subscription.topic);
            self.plain(resource, &subscription.protocol);
            self.plain(resource, &subscription.endpoint);
            self.plain(resource, &subscription.raw_message_delivery);
        }
        for target in &deliveries.targets {
            let resource = &target.resource;
            self.plain(resource, &target.source);
            self.plain(resource, &target.target);
            self.plain(resource, &target.dead_letter);
            self.plain(resource, &target.message_group_id);
        }
    }
}

/// Lists the declared attributes of a resource.
struct Lister<'l, 'g> {
    all: &'l mut AttributeLister<'g>,
    resource: &'g Resource,
}

impl<'g> Visit<'g> for Lister<'_, 'g> {
    fn attribute<T: AsPlain>(&mut self, row: &'static Declared, attribute: &'g Attribute<T>) {
        let is_written = || attribute.cases.iter().any(|case| !case.is_default());
        if row.name == "report_batch_item_failures" {
            // Its name is that of the list of response types.
            self.all.add(self.resource, attribute, |reports| {
                let with = if reports.plain() == Plain::Flag(true) {
                    "with"
                } else {
                    "without"
                };
                format!("{with} ReportBatchItemFailures")
            });
        } else if row.is_for(Reader::Explain) || row.is_for(Reader::ExplainWritten) && is_written() {
            self.all.plain(self.resource, attribute);
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
        End::Written("") => NONE.to_owned(),
        End::Written(written) => format!("→ {written} (not declared here)"),
    }
}
