//! Determines the type of the queue that a link refers to: FIFO or standard.

use super::few::Few;
use super::finding::{LabelSpan, Labeled};
use super::findings::Findings;
use super::operands::{Known, hides_target};
use super::trace::ReadValue;
use crate::graph::Cause;
use crate::graph::{
    Attribute, Condition, EventSourceMapping, FIFO_SUFFIX, Form, Link, Pattern, Queue, Resource, UNKNOWN_PIECE, UnitId,
    Unresolved,
};
use source::Span;
use std::collections::BTreeSet;

/// Queue whose type is known.
#[derive(Debug)]
pub(crate) struct TypedQueue<'g> {
    /// The queue; `None` if it is external.
    pub(crate) queue: Option<&'g Queue>,
    /// Condition under which the link refers to this queue, and the queue has this type.
    pub(crate) when: Condition,
    /// `true` for a FIFO queue.
    pub(crate) fifo: bool,
    /// Name for use in a sentence.
    pub(crate) shown: String,
    /// Span that determines the type: the queue's setting, or the ARN in the link.
    pub(crate) span: Span,
    /// Span of the reference to the queue.
    pub(crate) link: Span,
    /// Form of the reference.
    pub(crate) form: Form,
}

impl TypedQueue<'_> {
    /// Returns a queue that is declared elsewhere, which the ARN at `span` names.
    fn elsewhere(when: Condition, fifo: bool, shown: String, span: Span) -> Self {
        TypedQueue {
            queue: None,
            when,
            fifo,
            shown,
            span,
            link: span,
            form: Form::Arn,
        }
    }

    /// Describes the queue: "`orders` is a FIFO queue".
    pub(crate) fn words(&self) -> String {
        format!("{} is {}", self.shown, kind(self.fifo))
    }
}

/// Returns the type in words.
pub(crate) fn kind(fifo: bool) -> &'static str {
    if fifo { "a FIFO queue" } else { "a standard queue" }
}

impl Labeled for TypedQueue<'_> {
    fn label(&self) -> (LabelSpan<'_>, String) {
        (self.span.into(), self.words())
    }
}

impl ReadValue for TypedQueue<'_> {
    fn spans(&self, all: &mut BTreeSet<Span>) {
        all.extend([self.span, self.link]);
    }
}

/// Phrase for a queue whose name is unknown.
const ITS_QUEUE: &str = "its queue";

/// Queue that a mapping polls, of a known or unknown type.
#[derive(Debug)]
pub(crate) struct PolledQueue<'g> {
    /// The queue; `None` if it is external.
    pub(crate) queue: Option<&'g Queue>,
    /// Condition under which the mapping polls the queue.
    pub(crate) when: Condition,
    /// Name for use in a sentence.
    pub(crate) shown: String,
    /// `true` for a FIFO queue; `None` if unknown.
    pub(crate) fifo: Option<bool>,
    /// `true` if the link is unresolved, so that only the end of the ARN or the mapping's settings identify the source
    /// as a queue.
    pub(crate) is_unresolved: bool,
}

impl PolledQueue<'_> {
    /// Returns the name for a sentence in which "queue" has not been mentioned.
    pub(crate) fn introduced(&self) -> String {
        if self.shown == ITS_QUEUE {
            return ITS_QUEUE.to_owned();
        }
        format!("the queue {}", self.shown)
    }
}

impl<'g> Findings<'g> {
    /// Returns the queues that `mapping` is known to poll. If the ARN does not identify the service, the mapping's
    /// settings may prove that its source is a queue.
    pub(crate) fn polled_queues(&mut self, mapping: &EventSourceMapping, when: &Condition) -> Vec<PolledQueue<'g>> {
        let mut all = Vec::new();
        let links = self.known_or(when, mapping, &mapping.queue, |findings, when, case, unresolved| {
            let (read, open) = unresolved_queue(mapping, when, unresolved);
            all.extend(read);
            if open.is_possible() {
                findings.unresolved(&open, mapping.as_ref(), case, unresolved, case.source_span());
            }
        });
        for link in links {
            if let Some(queue) = self.graph.queue(mapping.resource.unit, link.value) {
                all.push(PolledQueue {
                    queue: Some(queue),
                    when: link.when.and(&queue.resource.when),
                    shown: queue.resource.shown(),
                    fifo: queue.fifo.known().copied(),
                    is_unresolved: false,
                });
            } else if let Some(name) = link.value.external_queue_name() {
                all.push(PolledQueue {
                    queue: None,
                    when: link.when,
                    shown: format!("`{name}`"),
                    fifo: Some(name.ends_with(FIFO_SUFFIX)),
                    is_unresolved: false,
                });
            }
        }
        all.retain(|read| read.when.is_possible());
        all
    }

    /// Returns the queues that `link`, written in `unit`, refers to, if their type is known. The type of an external
    /// queue follows from its name: the names of FIFO queues, and only those, end in `.fifo`.
    pub(crate) fn typed_queues(
        &mut self,
        unit: UnitId,
        link: &Known<'_, Link>,
        when: &Condition,
    ) -> Few<TypedQueue<'g>> {
        self.typed_queues_in(unit, link.value, link.span, when)
    }

    /// Like [`Findings::typed_queues`], for a link that is part of a value, written at `span`.
    pub(crate) fn typed_queues_in(
        &mut self,
        unit: UnitId,
        link: &Link,
        span: Span,
        when: &Condition,
    ) -> Few<TypedQueue<'g>> {
        if let Some(queue) = self.graph.queue(unit, link) {
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
            form: link.form,
            ..TypedQueue::elsewhere(when.clone(), name.ends_with(FIFO_SUFFIX), format!("`{name}`"), span)
        });
        typed.into_iter().collect()
    }

    /// Returns for each condition whether `topic`, which `resource` refers to, is a FIFO topic, if that is known.
    pub(crate) fn topic_types(&mut self, resource: &Resource, topic: &Known<'_, Link>) -> Vec<(Condition, bool)> {
        if let Some(declared) = self.graph.topic(resource.unit, topic.value) {
            let when = topic.when.and(&declared.resource.when);
            let types = self.known(&when, &declared.resource, &declared.fifo).into_iter();
            return types.map(|fifo| (fifo.when, *fifo.value)).collect();
        }
        let name = topic.value.external_topic_name();
        let fifo = name.map(|name| (topic.when.clone(), name.ends_with(FIFO_SUFFIX)));
        fifo.into_iter().collect()
    }

    /// Returns the queues that `mapping` polls, if their type is known.
    pub(crate) fn sources(&mut self, mapping: &EventSourceMapping, when: &Condition) -> Few<TypedQueue<'g>> {
        let mut any = Few::new();
        let links = self.known_or(when, mapping, &mapping.queue, |findings, when, case, unresolved| {
            let (read, open) = unresolved_queue(mapping, when, unresolved);
            if open.is_possible() {
                findings.unresolved(&open, mapping.as_ref(), case, unresolved, case.source_span());
            }
            let Some(read) = read else { return };
            match read.fifo {
                Some(fifo) => any.push(TypedQueue::elsewhere(read.when, fifo, read.shown, case.span)),
                None => findings.unresolved(&read.when, mapping.as_ref(), case, unresolved, case.source_span()),
            }
        });
        let typed = links.iter();
        any.extend(typed.flat_map(|link| self.typed_queues(mapping.resource.unit, link, &link.when)));
        any
    }

    /// Returns the queues that the redrive policies of `queue` refer to, if their type is known. Skips policies without
    /// a target, which another rule reports.
    pub(crate) fn typed_targets(&mut self, when: &Condition, queue: &Queue) -> Few<TypedQueue<'g>> {
        self.read_redrive_policies(when, queue, hides_target, |findings, when, policy| {
            findings.typed_queues_of(when, queue, &policy.target)
        })
    }

    /// Returns the queues that `attribute` of `resource` refers to, if their type is known. The end of a partly unknown
    /// ARN may determine it.
    pub(crate) fn typed_queues_of(
        &mut self,
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
                Some((fifo, shown)) => all.push(TypedQueue::elsewhere(when.clone(), fifo, shown, case.span)),
                None => findings.unresolved(when, resource, case, unresolved, case.source_span()),
            },
        );
        for link in links {
            all.extend(self.typed_queues(resource.unit, &link, &link.when));
        }
        all
    }
}

/// Returns, for a partly unknown ARN of a queue, whether that is a FIFO queue, and the name in the ARN.
fn fifo_of_arn(arn: &Pattern) -> Option<(bool, String)> {
    let is_a_queue = names_a_queue(arn) == Some(true);
    Some((arn.ends_with(FIFO_SUFFIX).filter(|_| is_a_queue)?, name_in(arn)?))
}

/// Returns the queue that `mapping` polls although its source is `unresolved` under the condition `when`, if the end of
/// the ARN or the mapping's settings identify it as a queue. Also returns the condition under which nothing identifies
/// it.
fn unresolved_queue(
    mapping: &EventSourceMapping,
    when: &Condition,
    unresolved: &Unresolved,
) -> (Option<PolledQueue<'static>>, Condition) {
    let cause = unresolved.reason().cause();
    let pattern = unresolved
        .pattern()
        .filter(|_| is_external_or_input(cause) || cause == Cause::Derived);
    let ends_in_fifo = pattern.and_then(|arn| arn.ends_with(FIFO_SUFFIX));
    let proved = match pattern.and_then(names_a_queue) {
        Some(true) => Condition::always(),
        // Among the event sources of Lambda, only FIFO queues have names with this suffix.
        _ if ends_in_fifo == Some(true) => Condition::always(),
        None if is_external_or_input(cause) => mapping.polls_a_queue_when.clone(),
        _ => Condition::never(),
    };
    let read = when.and(&proved);
    let open = when.and(&proved.not());
    let read = read.is_possible().then(|| PolledQueue {
        queue: None,
        when: read,
        shown: pattern.and_then(name_in).unwrap_or_else(|| ITS_QUEUE.to_owned()),
        fifo: ends_in_fifo,
        is_unresolved: true,
    });
    (read, open)
}

/// Returns whether a partly unknown ARN is that of a queue; `None` if its service is unknown.
fn names_a_queue(arn: &Pattern) -> Option<bool> {
    let shown = arn.to_string();
    let mut parts = shown.strip_prefix("arn:")?.split(':').skip(1);
    let (service, _) = parts.next().zip(parts.next())?;
    (!service.contains(UNKNOWN_PIECE)).then(|| service == "sqs")
}

/// Returns the name in a partly unknown ARN, if a piece of the name is known.
fn name_in(arn: &Pattern) -> Option<String> {
    let shown = arn.to_string();
    let (_, name) = shown.rsplit_once(':').filter(|(_, name)| *name != UNKNOWN_PIECE)?;
    Some(format!("`{name}`"))
}

/// Returns `true` if an ARN is an input or an external value, not a dangling or unreadable reference.
fn is_external_or_input(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::InputWithoutValue | Cause::MissingModule | Cause::KnownAfterApply | Cause::Elsewhere | Cause::RunContext
    )
}
