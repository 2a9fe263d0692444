//! How long the work on one message takes, as teams declare it, and who does it.

use super::compare::Term;
use super::consumers::{Poll, RunTime};
use super::finding::Finding;
use super::findings::Findings;
use crate::diagnostic::Severity;
use crate::graph::declared::{DeclaredConsumer, Duration};
use crate::graph::limits;
use crate::graph::{Condition, Function, Graph, Queue};

/// Which of the declared times one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    P50,
    P99,
    Max,
}

/// A declared time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    pub(crate) time: Duration,
    which: Which,
}

impl Work {
    fn of(declared: &DeclaredConsumer, which: Which) -> Option<Self> {
        let time = match which {
            Which::P50 => declared.p50,
            Which::P99 => declared.p99,
            Which::Max => declared.max,
        };
        time.map(|time| Work { time, which })
    }

    /// `max`, or else `p99`.
    pub(crate) fn longest(declared: &DeclaredConsumer) -> Option<Self> {
        Work::of(declared, Which::Max).or_else(|| Work::of(declared, Which::P99))
    }

    /// `p50`.
    pub(crate) fn median(declared: &DeclaredConsumer) -> Option<Self> {
        Work::of(declared, Which::P50)
    }

    /// `p99`, or else `max`.
    pub(crate) fn slow(declared: &DeclaredConsumer) -> Option<Self> {
        Work::of(declared, Which::P99).or_else(|| Work::of(declared, Which::Max))
    }

    /// As a configuration spells it.
    pub(crate) fn key(self) -> &'static str {
        match self.which {
            Which::P50 => "p50",
            Which::P99 => "p99",
            Which::Max => "max",
        }
    }

    /// What somebody does in that time: "may take 280 s for a message".
    pub(crate) fn takes(self) -> String {
        let time = self.time;
        match self.which {
            Which::P50 => format!("takes {time} or more for half of the messages"),
            Which::P99 => format!("takes {time} or more for one message in a hundred"),
            Which::Max => format!("may take {time} for a message"),
        }
    }

    /// `finding` with a label where the time is declared.
    pub(crate) fn show(self, finding: Finding) -> Finding {
        let said = match self.which {
            Which::P50 => "half of the messages take no longer than",
            Which::P99 => "99 of 100 messages take no longer than",
            Which::Max => "no message takes longer than",
        };
        match self.time.span {
            Some(span) => finding.label(span, format!("{said} {}", self.time)),
            None => finding,
        }
    }
}

impl From<Work> for Term<'_> {
    fn from(work: Work) -> Self {
        work.time.into()
    }
}

/// Who works on the messages of a queue, as a declaration has it.
#[derive(Debug)]
pub(crate) struct Doer<'g> {
    /// The condition under which it does.
    pub(crate) when: Condition,
    /// The function, and the mapping that invokes it; `None` for a worker.
    of: Option<(&'g Function, Poll<'g>)>,
}

impl Doer<'_> {
    /// In a sentence: "its worker", "`fulfil`".
    pub(crate) fn shown(&self) -> String {
        match &self.of {
            Some((function, _)) => function.resource.shown(),
            None => "its worker".to_owned(),
        }
    }

    /// Whether it is a worker.
    pub(crate) fn is_worker(&self) -> bool {
        self.of.is_none()
    }

    /// `severity`, but advice for a function whose mapping does not poll yet.
    pub(crate) fn severity(&self, severity: Severity) -> Severity {
        self.of.as_ref().map_or(severity, |(_, poll)| poll.severity(severity))
    }

    /// `finding` with a label at the mapping.
    pub(crate) fn show(&self, finding: Finding) -> Finding {
        match &self.of {
            Some((_, poll)) => finding.show(poll),
            None => finding,
        }
    }
}

impl Findings<'_> {
    /// The worker of `queue`, or the functions that read it and that `declared` is about.
    pub(crate) fn doers<'g>(
        &mut self,
        graph: &'g Graph,
        queue: &'g Queue,
        declared: &DeclaredConsumer,
    ) -> Vec<Doer<'g>> {
        let when = &queue.resource.when;
        if declared.is_worker() {
            return vec![Doer {
                when: when.clone(),
                of: None,
            }];
        }
        let mut all = Vec::new();
        for poll in self.polls(graph, when, queue) {
            for link in self.known(&poll.when, poll.mapping, &poll.mapping.function) {
                if let Some((function, when)) = graph.invoked(poll.mapping, link.value, &link.when)
                    && declared.is_of(function)
                {
                    let of = Some((function, poll.clone()));
                    all.push(Doer { when, of });
                }
            }
        }
        all
    }

    /// Every declaration about a function that reads a queue, with the mapping and how long the function may run.
    pub(crate) fn declared_runs<'g>(&mut self, graph: &'g Graph) -> Vec<(&'g DeclaredConsumer, Poll<'g>, RunTime<'g>)> {
        let mut all = Vec::new();
        for queue in graph.queues() {
            let of_functions = graph.declared(queue).iter().filter(|declared| !declared.is_worker());
            for declared in of_functions {
                for poll in self.polls(graph, &queue.resource.when, queue) {
                    let times = self.run_times(graph, &poll).into_iter();
                    let times = times.filter(|time| declared.is_of(time.function));
                    all.extend(times.map(|time| (&**declared, poll.clone(), time)));
                }
            }
        }
        all
    }
}

/// A visibility timeout with some room above `time`: the next full minute. `None` where SQS does not take it.
pub(crate) fn with_room(time: Duration) -> Option<i64> {
    let seconds = (time.seconds_up() / 60 + 1).saturating_mul(60);
    limits::VISIBILITY_TIMEOUT.accepts(seconds).then_some(seconds)
}
