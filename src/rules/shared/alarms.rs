//! Alarms on queues, and the one piece of advice for a deployment that has none.

use super::finding::Finding;
use super::findings::Findings;
use super::operands::Known;
use crate::diagnostic::Severity;
use crate::graph::alarms::NAMESPACE;
use crate::graph::{Alarm, AlarmMetric, Condition, Graph, Queue, Watch};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A metric of SQS that an alarm looks at.
#[derive(Debug)]
pub(crate) struct QueueMetric<'g> {
    /// What looks at it.
    pub(crate) alarm: &'g Alarm,
    /// With its dimensions, statistic and period.
    pub(crate) of: &'g AlarmMetric,
    /// Its name, and the condition under which it is that.
    pub(crate) name: Known<'g, String>,
}

/// A queue, and the condition under which nobody watches it.
#[derive(Debug)]
pub(crate) struct Unwatched<'g> {
    /// The queue.
    pub(crate) queue: &'g Queue,
    /// The condition.
    pub(crate) when: Condition,
}

impl Findings<'_> {
    /// The metrics of SQS that `alarm` looks at.
    pub(crate) fn queue_metrics<'g>(&mut self, alarm: &'g Alarm) -> Vec<QueueMetric<'g>> {
        let mut all = Vec::new();
        for of in &alarm.metrics {
            let namespaces = self.quietly(|this| this.known(&alarm.resource.when, alarm, &of.namespace));
            for namespace in namespaces.iter().filter(|namespace| *namespace.value == NAMESPACE) {
                let names = self.known(&namespace.when, alarm, &of.metric).into_iter();
                all.extend(names.map(|name| QueueMetric { alarm, of, name }));
            }
        }
        all
    }

    /// The condition in `when` under which nothing that is not known may watch `queue`; the rest is noted.
    pub(crate) fn without_doubt(
        &mut self,
        graph: &Graph,
        watch: &Watch<'_>,
        queue: &Queue,
        when: Condition,
    ) -> Condition {
        let mut left = when;
        if let Some(reason) = graph.handed_out(queue) {
            self.unsettled(&left, queue, &reason, queue.resource.header);
            return Condition::never();
        }
        for doubt in watch.doubts(queue) {
            if !left.is_possible() {
                break;
            }
            self.unsettled(&left.and(&doubt.when), queue, &doubt.reason, doubt.span);
            left = left.and(&doubt.when.not());
        }
        left
    }

    /// Reports `all`, each as `finding` says. Alarms often live elsewhere, so what is deployed together without one
    /// alarm on any queue gets one piece of advice, in whose headline `words` are what the others are.
    pub(crate) fn report_unwatched<'g>(
        &mut self,
        graph: &'g Graph,
        watch: &Watch<'_>,
        all: Vec<Unwatched<'g>>,
        words: &Words,
        finding: impl Fn(&'g Queue) -> Finding,
    ) {
        let mut deployments: BTreeMap<&str, Vec<Unwatched<'g>>> = BTreeMap::new();
        for one in all {
            let beside = deployments
                .entry(graph.deployment(one.queue.resource.unit))
                .or_default();
            beside.push(one);
        }
        for queues in deployments.values() {
            let Some((first, others)) = queues.split_first() else {
                continue;
            };
            if graph.has_queue_alarms(watch, first.queue.resource.unit) {
                for Unwatched { queue, when } in queues {
                    self.report(when, *queue, finding(queue));
                }
                continue;
            }
            let mut advice = finding(first.queue).severity(Severity::Info);
            if !others.is_empty() {
                let (shown, count) = (first.queue.resource.shown(), others.len());
                let noun = if count == 1 { words.one } else { words.several };
                advice = advice.headline(format!(
                    "{} {shown} or {} {count} other {noun}",
                    words.start, words.preposition
                ));
            }
            let advice = mention(advice, others);
            let when = (queues.iter()).fold(Condition::never(), |all, queue| all.or(&queue.when));
            self.report(&when, first.queue, advice);
        }
    }
}

/// The words of a piece of advice: "no alarm reports messages in `a` or in 2 other dead-letter queues".
#[derive(Debug)]
pub(crate) struct Words {
    /// Before the first queue.
    pub(crate) start: &'static str,
    /// Between `or` and the others.
    pub(crate) preposition: &'static str,
    /// One of the others.
    pub(crate) one: &'static str,
    /// Several of them.
    pub(crate) several: &'static str,
}

/// `finding` with a label at each place where some of `others` are declared: queues of a `for_each` and of a module
/// that is called often share theirs.
fn mention(finding: Finding, others: &[Unwatched<'_>]) -> Finding {
    let mut places: Vec<(Span, String, usize)> = Vec::new();
    let mut known: FxHashMap<Span, usize> = FxHashMap::default();
    for resource in others.iter().map(|other| &other.queue.resource) {
        let at = *known.entry(resource.header).or_insert(places.len());
        match places.get_mut(at) {
            Some((_, _, count)) => *count += 1,
            None => places.push((resource.header, resource.shown(), 1)),
        }
    }
    places.into_iter().fold(finding, |finding, (span, shown, count)| {
        let label = match count {
            1 => format!("nor in {shown}"),
            _ => format!("nor in {shown} and {} more declared here", count - 1),
        };
        finding.label(span, label)
    })
}
