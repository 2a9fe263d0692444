//! Queries about the processing time of one message, as teams declare it, and about the consumers that process it.

use super::compare::{Comparison, Term, above, at_least};
use super::consumers::{PollingMapping, RunTime};
use super::finding::Finding;
use super::findings::Findings;
use super::operands::Operand;
use crate::diagnostic::Severity;
use crate::graph::declared::{DeclaredConsumer, Duration};
use crate::graph::limits;
use crate::graph::{Condition, Function, Queue};

/// Statistic of a declared time, or the time of one call as the code limits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statistic {
    P50,
    P99,
    Max,
    Call,
}

/// Declared processing time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessingTime {
    pub(crate) time: Duration,
    which: Statistic,
}

impl ProcessingTime {
    fn of(declared: &DeclaredConsumer, which: Statistic) -> Option<Self> {
        let time = match which {
            Statistic::P50 => declared.p50,
            Statistic::P99 => declared.p99,
            Statistic::Max => declared.max,
            Statistic::Call => declared.call,
        };
        time.map(|time| ProcessingTime { time, which })
    }

    /// Returns the time that a single call may take.
    pub(crate) fn of_call(time: Duration) -> Self {
        ProcessingTime {
            time,
            which: Statistic::Call,
        }
    }

    /// Returns `max`, or else `p99`, or else the time of a single call.
    pub(crate) fn longest(declared: &DeclaredConsumer) -> Option<Self> {
        let mut all = [Statistic::Max, Statistic::P99, Statistic::Call].into_iter();
        all.find_map(|which| ProcessingTime::of(declared, which))
    }

    /// Returns `p50`.
    pub(crate) fn median(declared: &DeclaredConsumer) -> Option<Self> {
        ProcessingTime::of(declared, Statistic::P50)
    }

    /// Returns `p99`, or else `max`.
    pub(crate) fn slow(declared: &DeclaredConsumer) -> Option<Self> {
        ProcessingTime::of(declared, Statistic::P99).or_else(|| ProcessingTime::of(declared, Statistic::Max))
    }

    /// Compares the time with a visibility timeout. A maximum may equal it; a percentile may not, because the messages
    /// beyond it take longer.
    pub(crate) fn fits_in<'a>(self, visibility: &'a Operand<'_>) -> Comparison<'a> {
        match self.which {
            Statistic::Max | Statistic::Call => at_least(visibility, self),
            Statistic::P50 | Statistic::P99 => above(visibility, self),
        }
    }

    /// Returns the key used in the configuration.
    pub(crate) fn key(self) -> &'static str {
        match self.which {
            Statistic::P50 => "p50",
            Statistic::P99 => "p99",
            Statistic::Max | Statistic::Call => "max",
        }
    }

    /// Returns the predicate of a sentence about a consumer: "may take 280 s for a message".
    pub(crate) fn takes(self) -> String {
        let time = self.time;
        match self.which {
            Statistic::P50 => format!("takes {time} or more for half of the messages"),
            Statistic::P99 => format!("takes {time} or more for one message in a hundred"),
            Statistic::Max => format!("may take {time} for a message"),
            Statistic::Call => format!("may wait {time} for a single call"),
        }
    }

    /// Adds a label to `finding` at the declaration of the time.
    pub(crate) fn show(self, finding: Finding) -> Finding {
        let said = match self.which {
            Statistic::P50 => "half of the messages take no longer than",
            Statistic::P99 => "99 of 100 messages take no longer than",
            Statistic::Max => "no message takes longer than",
            Statistic::Call => "the call may wait",
        };
        match self.time.span {
            Some(span) => finding.label(span, format!("{said} {}", self.time)),
            None => finding,
        }
    }
}

impl From<ProcessingTime> for Term<'_> {
    fn from(work: ProcessingTime) -> Self {
        work.time.into()
    }
}

/// Consumer that processes the messages of a queue according to a declaration.
#[derive(Debug)]
pub(crate) struct DeclaredProcessor<'g> {
    /// Condition under which it processes them.
    pub(crate) when: Condition,
    /// Function and the mapping that invokes it; `None` for a worker.
    of: Option<(&'g Function, PollingMapping<'g>)>,
}

impl DeclaredProcessor<'_> {
    /// Returns the name for use in a sentence: "its worker", "`fulfil`".
    pub(crate) fn shown(&self) -> String {
        match &self.of {
            Some((function, _)) => function.resource.shown(),
            None => "its worker".to_owned(),
        }
    }

    /// Returns `true` if the consumer is a worker.
    pub(crate) fn is_worker(&self) -> bool {
        self.of.is_none()
    }

    /// Returns `severity`, or info for a function whose mapping does not poll yet.
    pub(crate) fn severity(&self, severity: Severity) -> Severity {
        self.of.as_ref().map_or(severity, |(_, poll)| poll.severity(severity))
    }

    /// Adds a label to `finding` at the mapping.
    pub(crate) fn show(&self, finding: Finding) -> Finding {
        match &self.of {
            Some((_, poll)) => finding.show(poll),
            None => finding,
        }
    }
}

impl<'g> Findings<'g> {
    /// Returns the worker of `queue`, or the functions that poll it and match `declared`.
    pub(crate) fn declared_processors(
        &mut self,
        queue: &Queue,
        declared: &DeclaredConsumer,
    ) -> Vec<DeclaredProcessor<'g>> {
        let when = &queue.resource.when;
        if declared.is_worker() {
            return vec![DeclaredProcessor {
                when: when.clone(),
                of: None,
            }];
        }
        let mut all = Vec::new();
        for poll in self.polls(when, queue) {
            for link in self.known(&poll.when, poll.mapping, &poll.mapping.function) {
                if let Some((function, when)) = self.graph.invoked(poll.mapping, link.value, &link.when)
                    && declared.is_of(function)
                {
                    let of = Some((function, poll.clone()));
                    all.push(DeclaredProcessor { when, of });
                }
            }
        }
        all
    }

    /// Returns every declaration about a function that polls a queue, with the mapping and the function's run time.
    pub(crate) fn declared_runs(&mut self) -> Vec<(&'g DeclaredConsumer, PollingMapping<'g>, RunTime<'g>)> {
        let mut all = Vec::new();
        for queue in self.graph.queues() {
            let of_functions = self
                .graph
                .declared(queue)
                .iter()
                .filter(|declared| !declared.is_worker());
            for declared in of_functions {
                for poll in self.polls(&queue.resource.when, queue) {
                    let times = self.run_times(&poll).into_iter();
                    let times = times.filter(|time| declared.is_of(time.function));
                    all.extend(times.map(|time| (&**declared, poll.clone(), time)));
                }
            }
        }
        all
    }
}

/// Returns a visibility timeout with a margin above `time`: the next full minute. Returns `None` if SQS rejects it.
pub(crate) fn with_room(time: Duration) -> Option<i64> {
    let seconds = (time.seconds_up() / 60 + 1).saturating_mul(60);
    limits::VISIBILITY_TIMEOUT.accepts(seconds).then_some(seconds)
}
