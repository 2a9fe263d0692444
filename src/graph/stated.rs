//! Links programs in the repository to the workers that run them, by the environment variable or the name of the queue
//! that both refer to, and records what the programs state about the work on a message.
//!
//! Nothing is linked that the files do not determine: a variable that holds different queues in workers of one folder, or
//! programs of one queue that state different things.

use super::declared::{DeclaredConsumer, Duration, Heartbeat};
use super::{Graph, Queue};
use handlers::{PolledQueue, PollingProgram, Renewal, StatedTime};
use rustc_hash::FxHashMap;
use source::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A worker's reference to its queue: the variable or name, the index of the queue, and the span of the worker.
type Reference<'g> = (usize, &'g Queue, Span);

impl Graph {
    /// Returns `true` if a program of the repository may be that of a worker.
    pub(crate) fn has_workers(&self) -> bool {
        self.queues()
            .iter()
            .any(|queue| self.worker_consumptions(queue).iter().any(|one| one.is_permitted))
    }

    /// Records what `programs` state about the queues that they poll. `path` returns the path of the file of a span.
    pub(crate) fn learn_programs(&mut self, programs: &[PollingProgram], path: &dyn Fn(Span) -> String) {
        let mut found: BTreeMap<usize, Vec<&PollingProgram>> = BTreeMap::new();
        {
            let references = self.worker_references();
            for program in programs {
                let all = references.get(&program.queue).map_or(&[] as &[_], Vec::as_slice);
                for (at, ..) in nearest(all, &path(program.span), path) {
                    found.entry(*at).or_default().push(program);
                }
            }
        }
        let mut stated = FxHashMap::default();
        for (at, programs) in found {
            if let [first, others @ ..] = programs.as_slice()
                && others.iter().all(|other| other.agrees(first))
            {
                let queue = self.queues()[at].resource.address.to_string();
                stated.insert(at, Arc::new(consumer(queue, first)));
            }
        }
        self.stated = stated;
    }

    /// Returns the queues that workers consume, by the variables that hold them and by their names.
    fn worker_references(&self) -> FxHashMap<PolledQueue, Vec<Reference<'_>>> {
        let mut all: FxHashMap<PolledQueue, Vec<Reference<'_>>> = FxHashMap::default();
        for (at, queue) in self.queues().iter().enumerate() {
            for worker in self.worker_consumptions(queue).iter().filter(|one| one.is_permitted) {
                for variable in &worker.variables {
                    let key = PolledQueue::Variable(variable.clone());
                    all.entry(key).or_default().push((at, queue, worker.span));
                }
                if let Some(Some(name)) = queue.name.known() {
                    let key = PolledQueue::Named(name.as_str().into());
                    all.entry(key).or_default().push((at, queue, worker.span));
                }
            }
        }
        all
    }

    /// Returns what is known about the work on messages of `queue`: the declarations, or what the code of its workers
    /// states if no worker is declared.
    pub fn timed<'g>(&'g self, queue: &Queue) -> impl Iterator<Item = &'g DeclaredConsumer> {
        let at = self.queue_index_at(queue.resource.unit, &queue.resource.address);
        let stated = at.and_then(|at| self.stated.get(&at));
        let stated = stated.filter(|_| self.declared_workers(queue).next().is_none());
        self.declared(queue).iter().chain(stated).map(|one| &**one)
    }
}

/// Returns the references of workers that are declared nearest to the program in `file`: those of the longest common
/// path, if they have one queue. Instances of one queue in several units are the same queue.
fn nearest<'r, 'g>(
    all: &'r [Reference<'g>],
    file: &str,
    path: &dyn Fn(Span) -> String,
) -> impl Iterator<Item = &'r Reference<'g>> {
    let one_queue = |all: &[&Reference<'g>]| {
        all.windows(2)
            .all(|two| two[0].1.resource.address == two[1].1.resource.address)
    };
    let mut found: Vec<&Reference<'g>> = all.iter().collect();
    if !one_queue(&found) {
        let common = |reference: &&Reference<'g>| {
            let worker = path(reference.2);
            let names = worker.split('/').zip(file.split('/'));
            names.take_while(|(one, other)| one == other).count()
        };
        let longest = found.iter().map(common).max();
        found.retain(|reference| Some(common(reference)) == longest);
    }
    if !one_queue(&found) {
        found.clear();
    }
    found.into_iter()
}

/// Converts what `program` states about the messages of `queue`.
fn consumer(queue: String, program: &PollingProgram) -> DeclaredConsumer {
    let duration = |time: StatedTime| Duration {
        milliseconds: time.milliseconds,
        span: Some(time.span),
    };
    let heartbeat = match program.renewal {
        Renewal::Heartbeat { every, extend_to } => Some(Heartbeat {
            every: duration(every),
            extend_to: duration(extend_to),
        }),
        Renewal::Never | Renewal::Unknown => None,
    };
    // Renewals at unknown times allow for any duration.
    let is_judged = !matches!(program.renewal, Renewal::Unknown);
    DeclaredConsumer {
        queue,
        span: Some(program.span),
        functions: None,
        p50: None,
        p99: None,
        max: program.longest.filter(|_| is_judged).map(duration),
        heartbeat,
        parallelism: 1,
        measured: None,
        code: Some(CodeStatement {
            visibility: program.visibility.map(duration),
            is_renewed: !matches!(program.renewal, Renewal::Never),
        }),
    }
}

/// Part of a statement that only code makes.
#[derive(Debug)]
pub struct CodeStatement {
    /// Visibility timeout that each receive sets, in place of the queue's.
    pub visibility: Option<Duration>,
    /// `true` if it renews visibility timeouts, even at unknown times.
    pub is_renewed: bool,
}
