//! Queries about alarms on queues, and the single finding for a deployment without any alarm on its queues.

use super::finding::Finding;
use super::findings::Findings;
use super::operands::Known;
use crate::diagnostic::Severity;
use crate::graph::alarms::NAMESPACE;
use crate::graph::{Alarm, AlarmMetric, Condition, Queue, Watch};
use rustc_hash::FxHashMap;
use source::Span;
use std::collections::BTreeMap;

/// SQS metric that an alarm watches.
#[derive(Debug, Clone)]
pub(crate) struct QueueMetric<'g> {
    /// Alarm that watches the metric.
    pub(crate) alarm: &'g Alarm,
    /// Metric with its dimensions, statistic and period.
    pub(crate) of: &'g AlarmMetric,
    /// Name of the metric, with its condition.
    pub(crate) name: Known<'g, String>,
}

/// Queue without an alarm, and the condition under which no alarm watches it.
#[derive(Debug)]
pub(crate) struct Unwatched<'g> {
    /// Queue that is not watched.
    pub(crate) queue: &'g Queue,
    /// Condition under which it is not watched.
    pub(crate) when: Condition,
}

impl<'g> Findings<'g> {
    /// Returns the SQS metrics that `alarm` watches.
    pub(crate) fn queue_metrics<'a>(&mut self, alarm: &'a Alarm) -> Vec<QueueMetric<'a>> {
        let mut all = Vec::new();
        for of in &alarm.metrics {
            let namespaces = self.without_notes(|this| this.known(&alarm.resource.when, alarm, &of.namespace));
            for namespace in namespaces.iter().filter(|namespace| *namespace.value == NAMESPACE) {
                let names = self.known(&namespace.when, alarm, &of.metric).into_iter();
                all.extend(names.map(|name| QueueMetric { alarm, of, name }));
            }
        }
        all
    }

    /// Returns the part of `when` under which no unresolved alarm can be watching `queue`. Notes the rest as not
    /// evaluated.
    pub(crate) fn certainly_unwatched(&mut self, watch: &Watch<'_>, queue: &Queue, when: Condition) -> Condition {
        let mut left = when;
        if let Some(reason) = self.graph.reason_of_missing_alarm(queue) {
            self.note_unresolved(&left, queue, &reason, queue.resource.header);
            return Condition::never();
        }
        for doubt in watch.doubts(queue) {
            if !left.is_possible() {
                break;
            }
            self.note_unresolved(&left.and(&doubt.when), queue, &doubt.reason, doubt.span);
            left = left.and(&doubt.when.not());
        }
        left
    }

    /// Reports each queue of `all` with the diagnostic from `finding`.
    ///
    /// Alarms are often declared elsewhere. A deployment without any alarm on a queue therefore gets a single info,
    /// whose headline counts the other queues in the terms of `words`.
    pub(crate) fn report_unwatched(
        &mut self,
        watch: &Watch<'_>,
        all: Vec<Unwatched<'g>>,
        words: &Words,
        finding: impl Fn(&'g Queue) -> Finding,
    ) {
        let mut deployments: BTreeMap<&str, Vec<Unwatched<'g>>> = BTreeMap::new();
        for one in all {
            let beside = deployments
                .entry(self.graph.deployment(one.queue.resource.unit))
                .or_default();
            beside.push(one);
        }
        for queues in deployments.values() {
            let Some((first, others)) = queues.split_first() else {
                continue;
            };
            if self.graph.has_queue_alarms(watch, first.queue.resource.unit) {
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
            let advice = label_others(advice, others);
            let when = (queues.iter()).fold(Condition::never(), |all, queue| all.or(&queue.when));
            self.report(&when, first.queue, advice);
        }
    }
}

/// Phrases of the headline for a deployment without alarms: "no alarm reports messages in `a` or in 2 other dead-letter
/// queues".
#[derive(Debug)]
pub(crate) struct Words {
    /// Text preceding the first queue.
    pub(crate) start: &'static str,
    /// Preposition between `or` and the number of other queues.
    pub(crate) preposition: &'static str,
    /// Noun for one other queue.
    pub(crate) one: &'static str,
    /// Noun for several other queues.
    pub(crate) several: &'static str,
}

/// Adds a label to `finding` at each location where some of `others` are declared. Queues of a `for_each`, or of a
/// module that is called several times, share one location and therefore one label.
fn label_others(finding: Finding, others: &[Unwatched<'_>]) -> Finding {
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
