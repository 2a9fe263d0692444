//! The type of the queue that a link names: FIFO or standard.

use super::few::Few;
use super::finding::{Show, Spot};
use super::findings::Findings;
use super::operands::{Known, hides_target};
use super::trace::Read;
use crate::graph::Cause;
use crate::graph::{
    Attribute, Condition, EventSourceMapping, FIFO_SUFFIX, Form, Graph, Link, Pattern, Queue, Resource, UNKNOWN_PIECE,
    UnitId, Unresolved,
};
use crate::source::Span;
use std::collections::BTreeSet;

/// A queue whose type is known.
#[derive(Debug)]
pub(crate) struct TypedQueue<'g> {
    /// The queue; `None` for one outside the project.
    pub(crate) queue: Option<&'g Queue>,
    /// The condition under which it is that one and of that type.
    pub(crate) when: Condition,
    /// Whether it is a FIFO queue.
    pub(crate) fifo: bool,
    /// How to call it in a sentence.
    pub(crate) shown: String,
    /// The queue's setting, or the link's ARN, that tells the type.
    pub(crate) span: Span,
    /// What names it.
    pub(crate) link: Span,
    /// How that names it.
    pub(crate) form: Form,
}

impl TypedQueue<'_> {
    /// In words: "`orders` is a FIFO queue".
    pub(crate) fn words(&self) -> String {
        format!("{} is {}", self.shown, kind(self.fifo))
    }
}

/// The type in words.
pub(crate) fn kind(fifo: bool) -> &'static str {
    if fifo { "a FIFO queue" } else { "a standard queue" }
}

impl Show for TypedQueue<'_> {
    fn label(&self) -> (Spot<'_>, String) {
        (self.span.into(), self.words())
    }
}

impl Read for TypedQueue<'_> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        all.extend([self.span, self.link]);
    }
}

/// What to call a queue that nothing names.
const ITS_QUEUE: &str = "its queue";

/// A queue that a mapping reads, whatever its type.
#[derive(Debug)]
pub(crate) struct QueueRead<'g> {
    /// The queue; `None` for one outside the project.
    pub(crate) queue: Option<&'g Queue>,
    /// The condition under which it does.
    pub(crate) when: Condition,
    /// How to call it in a sentence.
    pub(crate) shown: String,
    /// Whether it is a FIFO queue; `None` where that is not known.
    pub(crate) fifo: Option<bool>,
    /// Whether only the mapping's settings tell that it is a queue.
    pub(crate) is_any: bool,
}

impl QueueRead<'_> {
    /// It in a sentence that has not said that it is a queue.
    pub(crate) fn spoken(&self) -> String {
        if self.shown == ITS_QUEUE {
            return ITS_QUEUE.to_owned();
        }
        format!("the queue {}", self.shown)
    }
}

impl Findings<'_> {
    /// The queues that `mapping` is known to read. Its settings may prove that it is a queue where the ARN tells nothing.
    pub(crate) fn queues_read<'g>(
        &mut self,
        graph: &'g Graph,
        mapping: &EventSourceMapping,
        when: &Condition,
    ) -> Vec<QueueRead<'g>> {
        let mut all = Vec::new();
        let links = self.known_or(when, mapping, &mapping.queue, |findings, when, case, unresolved| {
            let (read, open) = any_queue(mapping, when, unresolved);
            all.extend(read);
            if open.is_possible() {
                findings.unresolved(&open, mapping.as_ref(), case, unresolved, case.cause());
            }
        });
        for link in links {
            if let Some(queue) = graph.queue(mapping.resource.unit, link.value) {
                all.push(QueueRead {
                    queue: Some(queue),
                    when: link.when.and(&queue.resource.when),
                    shown: queue.resource.shown(),
                    fifo: queue.fifo.known().copied(),
                    is_any: false,
                });
            } else if let Some(name) = link.value.external_queue_name() {
                all.push(QueueRead {
                    queue: None,
                    when: link.when,
                    shown: format!("`{name}`"),
                    fifo: Some(name.ends_with(FIFO_SUFFIX)),
                    is_any: false,
                });
            }
        }
        all.retain(|read| read.when.is_possible());
        all
    }

    /// The queues that `link`, written in `unit`, names, as far as their type is known. A queue outside the project
    /// tells its type by its name: that of a FIFO queue ends in `.fifo`, no other does.
    pub(crate) fn typed_queues<'g>(
        &mut self,
        graph: &'g Graph,
        unit: UnitId,
        link: &Known<'_, Link>,
        when: &Condition,
    ) -> Few<TypedQueue<'g>> {
        self.typed_queues_in(graph, unit, link.value, link.span, when)
    }

    /// The same of a link that is a part of a value, written at `span`.
    pub(crate) fn typed_queues_in<'g>(
        &mut self,
        graph: &'g Graph,
        unit: UnitId,
        link: &Link,
        span: Span,
        when: &Condition,
    ) -> Few<TypedQueue<'g>> {
        if let Some(queue) = graph.queue(unit, link) {
            let all = self.known(&when.and(&queue.resource.when), queue, &queue.fifo);
            let typed = all.into_iter().map(|fifo| TypedQueue {
                queue: Some(queue),
                fifo: *fifo.value,
                shown: queue.resource.shown(),
                span: fifo.span,
                link: span,
                form: link.form,
                when: fifo.when,
            });
            return typed.collect();
        }
        let typed = link.external_queue_name().map(|name| TypedQueue {
            queue: None,
            when: when.clone(),
            fifo: name.ends_with(FIFO_SUFFIX),
            shown: format!("`{name}`"),
            span,
            link: span,
            form: link.form,
        });
        typed.into_iter().collect()
    }

    /// Whether `topic`, named by `resource`, is a FIFO topic, as far as that is known.
    pub(crate) fn topic_types(
        &mut self,
        graph: &Graph,
        resource: &Resource,
        topic: &Known<'_, Link>,
    ) -> Vec<(Condition, bool)> {
        if let Some(declared) = graph.topic(resource.unit, topic.value) {
            let when = topic.when.and(&declared.resource.when);
            let types = self.known(&when, &declared.resource, &declared.fifo).into_iter();
            return types.map(|fifo| (fifo.when, *fifo.value)).collect();
        }
        let name = topic.value.external_topic_name();
        let fifo = name.map(|name| (topic.when.clone(), name.ends_with(FIFO_SUFFIX)));
        fifo.into_iter().collect()
    }

    /// The queues that `mapping` reads, as far as their type is known.
    pub(crate) fn sources<'g>(
        &mut self,
        graph: &'g Graph,
        mapping: &EventSourceMapping,
        when: &Condition,
    ) -> Few<TypedQueue<'g>> {
        let mut any = Few::new();
        let links = self.known_or(when, mapping, &mapping.queue, |findings, when, case, unresolved| {
            let (read, open) = any_queue(mapping, when, unresolved);
            if open.is_possible() {
                findings.unresolved(&open, mapping.as_ref(), case, unresolved, case.cause());
            }
            let Some(read) = read else { return };
            match read.fifo {
                Some(fifo) => any.push(TypedQueue {
                    queue: None,
                    when: read.when,
                    fifo,
                    shown: read.shown,
                    span: case.span,
                    link: case.span,
                    form: Form::Arn,
                }),
                None => findings.unresolved(&read.when, mapping.as_ref(), case, unresolved, case.cause()),
            }
        });
        let typed = links.iter();
        any.extend(typed.flat_map(|link| self.typed_queues(graph, mapping.resource.unit, link, &link.when)));
        any
    }

    /// The queues that the redrive policies of `queue` name, as far as their type is known. Nothing where a policy names
    /// none: that is a fault.
    pub(crate) fn typed_targets<'a>(
        &mut self,
        graph: &'a Graph,
        when: &Condition,
        queue: &'a Queue,
    ) -> Few<TypedQueue<'a>> {
        self.in_policies(when, queue, hides_target, |findings, when, policy| {
            findings.typed_queues_of(graph, when, queue, &policy.target)
        })
    }

    /// The queues that `attribute` of `resource` names, as far as their type is known: for one in an ARN of unknown
    /// pieces its end may tell.
    pub(crate) fn typed_queues_of<'g>(
        &mut self,
        graph: &'g Graph,
        when: &Condition,
        resource: &impl AsRef<Resource>,
        attribute: &Attribute<Link>,
    ) -> Few<TypedQueue<'g>> {
        let (resource, mut all) = (resource.as_ref(), Few::new());
        let links = self.known_or(
            when,
            resource,
            attribute,
            |findings, when, case, unresolved| match unresolved.pattern().and_then(fifo_of_arn) {
                Some((fifo, shown)) => all.push(TypedQueue {
                    queue: None,
                    when: when.clone(),
                    fifo,
                    shown,
                    span: case.span,
                    link: case.span,
                    form: Form::Arn,
                }),
                None => findings.unresolved(when, resource, case, unresolved, case.cause()),
            },
        );
        for link in links {
            all.extend(self.typed_queues(graph, resource.unit, &link, &link.when));
        }
        all
    }
}

/// Whether an ARN of unknown pieces is that of a FIFO queue, and the name in it.
fn fifo_of_arn(arn: &Pattern) -> Option<(bool, String)> {
    let is_a_queue = names_a_queue(arn) == Some(true);
    Some((arn.ends_with(FIFO_SUFFIX).filter(|_| is_a_queue)?, name_in(arn)?))
}

/// The queue that `mapping` reads where its source is `unresolved` under the condition `when`, as far as the end of the
/// ARN or the mapping's settings tell that it is one, and the condition under which nothing tells.
fn any_queue(
    mapping: &EventSourceMapping,
    when: &Condition,
    unresolved: &Unresolved,
) -> (Option<QueueRead<'static>>, Condition) {
    let cause = unresolved.reason().cause();
    let pattern = unresolved
        .pattern()
        .filter(|_| is_given(cause) || cause == Cause::Derived);
    let ends_in_fifo = pattern.and_then(|arn| arn.ends_with(FIFO_SUFFIX));
    let proved = match pattern.and_then(names_a_queue) {
        Some(true) => Condition::always(),
        // No other source that Lambda reads has a name like that.
        _ if ends_in_fifo == Some(true) => Condition::always(),
        None if is_given(cause) => mapping.is_of_a_queue.clone(),
        _ => Condition::never(),
    };
    let read = when.and(&proved);
    let open = when.and(&proved.not());
    let read = read.is_possible().then(|| QueueRead {
        queue: None,
        when: read,
        shown: pattern.and_then(name_in).unwrap_or_else(|| ITS_QUEUE.to_owned()),
        fifo: ends_in_fifo,
        is_any: true,
    });
    (read, open)
}

/// Whether an ARN of unknown pieces is that of a queue, where it tells the service.
fn names_a_queue(arn: &Pattern) -> Option<bool> {
    let shown = arn.to_string();
    let mut parts = shown.strip_prefix("arn:")?.split(':').skip(1);
    let (service, _) = parts.next().zip(parts.next())?;
    (!service.contains(UNKNOWN_PIECE)).then(|| service == "sqs")
}

/// The name in an ARN of unknown pieces, where something of it is known.
fn name_in(arn: &Pattern) -> Option<String> {
    let shown = arn.to_string();
    let (_, name) = shown.rsplit_once(':').filter(|(_, name)| *name != UNKNOWN_PIECE)?;
    Some(format!("`{name}`"))
}

/// Whether an ARN is one that somebody gives, and not a reference that leads to nothing or cannot be read.
fn is_given(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::InputWithoutValue | Cause::ModuleNotHere | Cause::KnownAfterApply | Cause::Elsewhere | Cause::Run
    )
}
