//! Queues that no file declares, of which a team states what it knows.
//!
//! Such a queue becomes a node of each unit that refers to it. What is not stated is unresolved, and like a queue that
//! is passed to code that is not read, it may have policies, alarms and consumers elsewhere.

use super::arn::{account, physical_name, region};
use super::attributes::Read;
use super::{
    AsPlain, Attribute, Case, Cause, Common, Condition, FIFO_SUFFIX, Form, Graph, Link, Name, Queue,
    QueueAttributeNames, QueueAttributes, RedrivePolicy, Resource, Seconds, State, Target, UnitGraph, UnitId,
};
use source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Type of the node of a stated queue.
const KIND: &str = "[[external]]";

/// Stated attributes of a queue; `None` for those that are not stated.
#[derive(Debug, Clone)]
pub struct ExternalQueue {
    /// Span of the queue's name.
    pub span: Span,
    /// Visibility timeout.
    pub visibility_timeout: Option<Attribute<Seconds>>,
    /// Retention period.
    pub retention: Option<Attribute<Seconds>>,
    /// `true` for a FIFO queue.
    pub fifo: Option<Attribute<bool>>,
    /// Target of the redrive policy; `None` if it has no policy.
    pub redrive: Option<(Option<Attribute<Link>>, Span)>,
}

/// Returns an attribute that is not stated.
pub fn unstated<T>(name: impl Into<Name>, span: Span) -> Attribute<T> {
    Attribute::unresolved(
        name,
        Cause::Elsewhere.because("its `[[external]]` does not state it"),
        span,
    )
}

impl UnitGraph {
    /// Adds a node for each queue that links of the unit name and that `state` knows by its ARN, URL or name, and by its
    /// name alone.
    pub fn add_external_queues(&mut self, state: impl Fn(&str, &str) -> Option<ExternalQueue>) {
        let mut found: BTreeMap<String, (Link, Option<ExternalQueue>)> = BTreeMap::new();
        for case in self
            .queue_links()
            .into_iter()
            .flat_map(|attribute| &mut attribute.cases)
        {
            let named = named(case).and_then(|link| Some((physical_name(link.written(), link.form)?.to_owned(), link)));
            let Some((name, link)) = named else { continue };
            let external = state(link.written(), &name);
            let known = found.entry(name).or_insert_with(|| (link.clone(), None));
            if known.1.is_none() {
                *known = (link, external);
            }
            if known.1.is_some() && case.value().is_none() {
                case.state = State::Set(known.0.clone());
            }
        }
        for (name, (link, external)) in found {
            if let Some(external) = external {
                self.queues.push(node(name, &link, external));
                self.passed_to_missing_code.push(link);
            }
        }
    }

    /// Returns the links to queues.
    pub(super) fn queue_links(&mut self) -> Vec<&mut Attribute<Link>> {
        let policies = self.queues.iter_mut().flat_map(|queue| &mut queue.redrive.cases);
        let policies = policies.filter_map(|case| Some(&mut case.value_mut()?.as_mut()?.target));
        let metrics = self.alarms.iter_mut().flat_map(|alarm| &mut alarm.metrics);
        let deliveries = &mut self.deliveries;
        let pipes = deliveries.pipes.iter_mut();
        (self.mappings.iter_mut().map(|mapping| &mut mapping.queue))
            .chain(policies)
            .chain(metrics.map(|metric| &mut metric.queue))
            .chain(pipes.flat_map(|pipe| [&mut pipe.source, &mut pipe.target]))
            .chain(deliveries.subscriptions.iter_mut().map(|one| &mut one.endpoint))
            .chain(deliveries.targets.iter_mut().map(|one| &mut one.target))
            .chain(self.dead_letter_uses.iter_mut().map(|used| &mut used.target))
            .collect()
    }
}

/// Returns the link of `case` to something that the unit does not declare; for a partly known ARN, by the name in it.
fn named(case: &Case<Link>) -> Option<Link> {
    let State::Unresolved(unresolved) = &case.state else {
        let is_external = |link: &&Link| matches!(link.target, Target::External(_));
        return case.value().filter(is_external).cloned();
    };
    let name = unresolved.pattern()?.tail().rsplit_once(':')?.1;
    let target = Target::External(name.into());
    (!name.is_empty()).then_some(Link {
        target,
        form: Form::Name,
    })
}

fn node(name: String, link: &Link, external: ExternalQueue) -> Queue {
    let (header, written) = (external.span, link.written());
    let common = Common {
        region: region(written, link.form).map(Into::into),
        account: account(written, link.form).map(Into::into),
        ..Common::of_kind(KIND)
    };
    let redrive = external.redrive.map(|(target, span)| {
        let policy = target.map(|target| RedrivePolicy {
            target,
            max_receive_count: unstated("maxReceiveCount", span),
            faults: Vec::new(),
        });
        Attribute::set("dead-letter", policy.map(Box::new), span)
    });
    let is_fifo = name.ends_with(FIFO_SUFFIX);
    let attributes = QueueAttributes {
        name: Attribute::set("queue", Some(name), header),
        fifo: external.fifo.unwrap_or_else(|| Attribute::set("fifo", is_fifo, header)),
        visibility_timeout: (external.visibility_timeout).unwrap_or_else(|| unstated("visibility-timeout", header)),
        retention: external.retention.unwrap_or_else(|| unstated("retention", header)),
        ..QueueAttributes::read(&mut Unstated(header), &QueueAttributeNames::NEUTRAL)
    };
    Queue {
        resource: Resource {
            unit: UnitId(0),
            address: written.into(),
            header,
            when: Condition::always(),
            common: Arc::new(common),
        },
        attributes,
        sends_fifo_false: false,
        visibility_timeout_set_by: None,
        redrive: redrive.unwrap_or_else(|| unstated("dead-letter", header)),
        redrive_allow: unstated("redrive allow policy", header),
        redrive_writers: Vec::new(),
        replaced: None,
        tags: unstated("tags", header),
        implicit: None,
    }
}

/// Attributes that are not stated.
struct Unstated(Span);

impl Read for Unstated {
    fn attribute<T: AsPlain + Clone>(&mut self, name: &'static str, _: T) -> Attribute<T> {
        unstated(Arc::new(name.replace('_', " ")), self.0)
    }
}

impl Queue {
    /// Returns `true` if no file declares it and a configuration states what is known of it.
    pub fn is_external(&self) -> bool {
        &*self.resource.kind == KIND
    }
}

impl Graph {
    /// Returns the spans of all statements on queues that no file declares.
    pub(super) fn find_external_spans(&self) -> BTreeSet<Span> {
        let external = self.queues().iter().filter(|queue| queue.is_external());
        let spans = external.flat_map(|queue| {
            let times = [&queue.visibility_timeout, &queue.retention].map(|time| time.cases[0].span);
            let [visibility, retention] = times;
            let (fifo, redrive) = (queue.fifo.cases[0].span, queue.redrive.cases[0].span);
            [queue.resource.header, visibility, retention, fifo, redrive]
        });
        spans.collect()
    }

    /// Returns the ARNs, URLs and names of queues that mappings and pipes poll and that nothing declares, each with the
    /// span of a reference.
    pub fn undeclared_queues(&self) -> BTreeMap<String, Span> {
        let mappings = self
            .mappings()
            .iter()
            .map(|mapping| (mapping.resource.unit, &mapping.queue));
        let pipes = self
            .deliveries()
            .pipes
            .iter()
            .map(|pipe| (pipe.resource.unit, &pipe.source));
        let links = mappings
            .chain(pipes)
            .flat_map(|(unit, link)| link.cases.iter().map(move |case| (unit, case)));
        let undeclared = links.filter_map(|(unit, case)| {
            let link = case.value()?;
            let is_queue = matches!(link.target, Target::External(_)) && !link.is_never_a_source();
            let is_undeclared = is_queue && !link.is_placeholder() && self.queue(unit, link).is_none();
            is_undeclared.then(|| (link.written().to_owned(), case.span))
        });
        undeclared.collect()
    }
}
