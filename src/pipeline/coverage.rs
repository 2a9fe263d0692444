//! Coverage: the queues and mappings whose main values are known.
//!
//! A mapping is judged if the visibility timeout of its queue, the timeout of its function and its batching window are
//! known; a queue if its redrive policy, its retention period and that of its dead-letter queue are. Everything else
//! that rules read is secondary: a queue with an unknown name suffix is still judged. Handlers are counted separately,
//! since most of their sources are not in the repository.
//!
//! For example, a mapping polls a declared queue and invokes `arn:aws:lambda:eu-west-1:111122223333:function:orders`,
//! which no file declares. The function's timeout is unknown, so the mapping has a gap with the cause
//! [`Cause::Elsewhere`].

use crate::diagnostic::{Coverage, CoveredHandler, Declaration, Gap, ONLY_TYPE, Step, Subject};
use crate::graph::{
    Attribute, Case, Cause, Condition, End, EventSourceMapping, Function, Graph, Link, Queue, Reason, Resource, State,
    Target, UnitId, UnitKind,
};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::collections::BTreeSet;

/// A missing value.
struct Missing {
    reason: Reason,
    span: Span,
    /// `true` if other files may declare the resource with the value.
    is_in_other_files: bool,
}

/// Returns the coverage of the units that are judged in any environment.
pub(super) fn coverage(graph: &Graph, is_judged: &dyn Fn(&str) -> bool) -> Coverage {
    let is_judged = |resource: &Resource| is_judged(&graph.unit(resource.unit).name);
    let queues = declared_queues(graph).filter(|queue| is_judged(&queue.resource));
    let mappings = graph.mappings().iter().filter(|mapping| is_judged(&mapping.resource));
    let mappings: Vec<_> = mappings
        .filter(|mapping| !polls_something_else(graph, mapping))
        .collect();
    // What a statement on a queue leaves out is acknowledged.
    let acknowledged = graph.units().iter().flat_map(|unit| &unit.acknowledged_modules);
    let acknowledged: BTreeSet<&str> = acknowledged.map(String::as_str).collect();
    let is_open = |missing: &Missing| {
        let mut quoted = missing.reason.split('`').skip(1).step_by(2);
        let is_acknowledged =
            missing.reason.cause() == Cause::MissingModule && quoted.any(|source| acknowledged.contains(source));
        !graph.is_external(missing.span) && !is_acknowledged
    };
    let queue_gaps = queues.clone().filter_map(|queue| {
        let missing = missing_of_queue(graph, queue).filter(is_open)?;
        Some(gap(graph, &queue.resource, false, missing))
    });
    let mapping_gaps = mappings.iter().filter_map(|mapping| {
        let missing = missing_of_mapping(graph, mapping).filter(is_open)?;
        Some(gap(graph, &mapping.resource, true, missing))
    });
    let is_unconsumed = |queue: &&Queue| !graph.is_consumed(queue) && !graph.is_dead_letter_queue(queue);
    let unconsumed = queues.clone().filter(is_unconsumed);
    let unconsumed = unconsumed.map(|queue| Declaration {
        unit: graph.unit(queue.resource.unit).key.to_string(),
        address: queue.resource.address.to_string(),
        header: queue.resource.header,
    });
    Coverage {
        queues: queues.count(),
        mappings: mappings.len(),
        gaps: queue_gaps.chain(mapping_gaps).collect(),
        unconsumed: unconsumed.collect(),
        handlers: graph.functions().iter().filter_map(|one| handler(graph, one)).collect(),
    }
}

/// Returns the queues that files declare.
fn declared_queues(graph: &Graph) -> impl Iterator<Item = &Queue> + Clone {
    graph.queues().iter().filter(|queue| !queue.is_external())
}

/// Resources of all environments, each counted once. Its address may contain the name of the environment, but its header
/// does not: a header has as many instances as in the environment with the most.
#[derive(Default)]
pub(super) struct Instances {
    /// Number of queues or mappings, by unit, header and whether it is a mapping.
    counts: FxHashMap<(String, Span, bool), usize>,
    /// Queues with a consumer in some environment.
    consumed: FxHashSet<(String, Span)>,
}

impl Instances {
    /// Adds the resources of an environment in the units that any environment judges.
    pub(super) fn add(&mut self, graph: &Graph, is_judged: &dyn Fn(&str) -> bool) {
        let key = |resource: &Resource| (graph.unit(resource.unit).key.to_string(), resource.header);
        let mut counts: FxHashMap<(String, Span, bool), usize> = FxHashMap::default();
        let mut count = |resource: &Resource, is_mapping: bool| {
            if !is_judged(&graph.unit(resource.unit).name) {
                return;
            }
            let (unit, header) = key(resource);
            *counts.entry((unit, header, is_mapping)).or_default() += 1;
        };
        declared_queues(graph).for_each(|queue| count(&queue.resource, false));
        let mappings = graph.mappings().iter();
        let mappings = mappings.filter(|mapping| !polls_something_else(graph, mapping));
        mappings.for_each(|mapping| count(&mapping.resource, true));
        #[expect(clippy::iter_over_hash_type, reason = "a maximum does not depend on the order")]
        for (key, count) in counts {
            let most = self.counts.entry(key).or_default();
            *most = count.max(*most);
        }
        self.consumed.extend(graph.consumed().map(|queue| key(&queue.resource)));
    }

    /// Adds the coverage `other` of an environment to `all`. A resource is judged only if it is judged in each
    /// environment of its unit, and has a consumer if it has one in any.
    pub(super) fn merge(&self, all: &mut Coverage, other: Coverage) {
        let known: BTreeSet<_> = all.gaps.iter().map(Gap::resource).collect();
        let gaps: Vec<Gap> = other
            .gaps
            .into_iter()
            .filter(|gap| !known.contains(&gap.resource()))
            .collect();
        all.gaps.extend(gaps);
        let new = |one: &Declaration| all.unconsumed.iter().all(|known| known.header != one.header);
        let unconsumed: Vec<Declaration> = other.unconsumed.into_iter().filter(new).collect();
        all.unconsumed.extend(unconsumed);
    }

    /// Counts the resources of all environments, and removes what an environment repeats.
    pub(super) fn settle(mut self, all: &mut Coverage) {
        let count = |is_mapping| {
            self.counts
                .iter()
                .filter(move |((.., mapping), _)| *mapping == is_mapping)
        };
        all.queues = count(false).map(|(_, count)| count).sum();
        all.mappings = count(true).map(|(_, count)| count).sum();
        all.gaps.retain(|gap| {
            let unit = gap.call.as_ref().unwrap_or(&gap.subject.unit);
            let left = self.counts.get_mut(&(unit.clone(), gap.header, gap.is_mapping));
            left.is_none_or(|left| std::mem::replace(left, left.saturating_sub(1)) > 0)
        });
        (all.unconsumed).retain(|one| !self.consumed.contains(&(one.unit.clone(), one.header)));
    }
}

/// Returns the handler of a function that a queue invokes.
fn handler(graph: &Graph, function: &Function) -> Option<CoveredHandler> {
    let (read, gap) = match &function.handler {
        Ok(handler) => {
            let read = Ok((handler.name.to_string(), handler.place));
            (read, (!handler.has_body).then_some(ONLY_TYPE))
        }
        Err(unread) => (Err(unread.words()?.to_string()), Some(unread.kind())),
    };
    Some(CoveredHandler {
        function: Subject::whole(&*graph.unit(function.resource.unit).name, &*function.resource.address),
        span: function.resource.header,
        read,
        gap,
    })
}

fn gap(graph: &Graph, resource: &Resource, is_mapping: bool, missing: Missing) -> Gap {
    let Missing { reason, span, .. } = missing;
    let unit = graph.unit(resource.unit);
    let is_terraform = unit.kind == UnitKind::TerraformModule;
    let step = match reason.cause() {
        Cause::InputWithoutValue => Some(Step::SetInput),
        Cause::KnownAfterApply => is_terraform.then_some(Step::CheckPlan),
        Cause::MissingModule => (!unit.unread_modules.is_empty()).then_some(Step::FetchModules),
        Cause::Elsewhere => missing.is_in_other_files.then_some(Step::AddFiles),
        Cause::NotRead => Some(Step::CorrectFile),
        _ => None,
    };
    Gap {
        subject: Subject::whole(unit.name.clone(), resource.address.to_string()),
        call: (unit.key.as_str() != unit.name).then(|| unit.key.to_string()),
        header: resource.header,
        is_mapping,
        cause: reason.cause().name(),
        reason: reason.to_string(),
        step,
        span,
    }
}

/// Returns `true` if every source of `mapping` is known to be no queue, such as a stream.
fn polls_something_else(graph: &Graph, mapping: &EventSourceMapping) -> bool {
    let unit = mapping.resource.unit;
    let is_other = |link: &Link| graph.type_if_not_queue(unit, link).is_some() || link.is_never_a_source();
    let mut cases = mapping.queue.cases.iter();
    cases.all(|case| case.value().is_some_and(is_other))
}

fn missing_of_mapping(graph: &Graph, mapping: &EventSourceMapping) -> Option<Missing> {
    let (unit, when) = (mapping.resource.unit, &mapping.resource.when);
    missing_in(&mapping.queue, when)
        .or_else(|| {
            missing_target(graph, &mapping.queue, unit, when, "queue", |link, when| {
                let queue = graph.queue(unit, link)?;
                Some(missing_in(&queue.visibility_timeout, &when.and(&queue.resource.when)))
            })
        })
        .or_else(|| missing_in(&mapping.function, when))
        .or_else(|| {
            missing_target(graph, &mapping.function, unit, when, "function", |link, when| {
                let function = graph.function(unit, link)?;
                Some(missing_in(&function.timeout, &when.and(&function.resource.when)))
            })
        })
        .or_else(|| missing_in(&mapping.window, when))
}

fn missing_of_queue(graph: &Graph, queue: &Queue) -> Option<Missing> {
    let (unit, when) = (queue.resource.unit, &queue.resource.when);
    missing_in(&queue.redrive, when)
        .or_else(|| missing_in(&queue.retention, when))
        .or_else(|| {
            let policies = queue.redrive.known_in(when).into_iter();
            let mut policies = policies.filter_map(|(when, _, policy)| Some((when, policy.as_deref()?)));
            policies.find_map(|(when, policy)| {
                missing_in(&policy.target, &when).or_else(|| {
                    missing_target(graph, &policy.target, unit, &when, "dead-letter queue", |link, when| {
                        let queue = graph.queue(unit, link)?;
                        Some(missing_in(&queue.retention, &when.and(&queue.resource.when)))
                    })
                })
            })
        })
}

/// Returns the first gap of the resources that `links` refer to under `when`. `gap` returns `None` for a link to a
/// resource that is not declared, which is a gap unless a rule reports the link itself.
fn missing_target(
    graph: &Graph,
    links: &Attribute<Link>,
    unit: UnitId,
    when: &Condition,
    what: &str,
    gap: impl Fn(&Link, &Condition) -> Option<Option<Missing>>,
) -> Option<Missing> {
    links.known_in(when).into_iter().find_map(|(when, case, link)| {
        gap(link, &when).unwrap_or_else(|| missing_elsewhere(graph, case, unit, link, what))
    })
}

fn missing_elsewhere(graph: &Graph, case: &Case<Link>, unit: UnitId, link: &Link, what: &str) -> Option<Missing> {
    let is_wrong = matches!(link.target, Target::Dangling(_)) || graph.type_if_not_queue(unit, link).is_some();
    let End::Written(written) = graph.end(unit, link, None) else {
        return None;
    };
    (!is_wrong).then(|| {
        let reason = Cause::Elsewhere.because(format!("the {what} `{written}` is declared elsewhere"));
        Missing {
            reason,
            span: case.span,
            is_in_other_files: true,
        }
    })
}

/// Returns the reason of the first case of `attribute` that is unresolved and possible under `when`. An invalid value
/// is not missing: rules report it.
fn missing_in<T>(attribute: &Attribute<T>, when: &Condition) -> Option<Missing> {
    attribute.cases.iter().find_map(|case| match &case.state {
        State::Unresolved(why) if !is_reported(why.cause()) && when.and(&case.when).is_possible() => Some(Missing {
            reason: why.reason().clone(),
            span: case.source_span(),
            is_in_other_files: false,
        }),
        _ => None,
    })
}

/// Returns `true` if rules report values that are unresolved because of `cause`.
fn is_reported(cause: Cause) -> bool {
    matches!(cause, Cause::Invalid | Cause::Undeclared | Cause::WrongType)
}
