//! Links programs in the repository to the workers that run them, by the environment variable or the name of the queue
//! that both refer to, and records what the programs state about the work on a message.
//!
//! Nothing is linked that the files do not determine: a variable that holds different queues in workers of one folder, or
//! programs of one queue that state different things.

use super::commands::{ContainerCommand, StartedWorker, WorkerKind};
use super::declared::{DeclaredConsumer, Duration, Heartbeat};
use super::workers::{Variable, Worker};
use super::{Function, Graph, Queue, Target, limits};
use handlers::{PolledQueue, PollingProgram, Programs, Renewal, StatedTime};
use rustc_hash::{FxHashMap, FxHashSet};
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
    pub(crate) fn learn_programs(&mut self, programs: &Programs, path: &dyn Fn(Span) -> String) {
        let near = self.near_open_programs_of(programs, path);
        let mut found: BTreeMap<usize, Vec<&PollingProgram>> = BTreeMap::new();
        {
            let references = self.worker_references();
            for program in &programs.known {
                let all = references.get(&program.queue).map_or(&[] as &[_], Vec::as_slice);
                for (at, ..) in nearest(all, &path(program.span), path) {
                    found.entry(*at).or_default().push(program);
                }
            }
        }
        let owned = |all: &[&PollingProgram]| all.iter().map(|one| (*one).clone()).collect();
        let mut linked: FxHashMap<usize, Vec<PollingProgram>> =
            found.iter().map(|(at, all)| (*at, owned(all))).collect();
        let address = |at: usize| self.queues()[at].resource.address.to_string();
        let mut stated = FxHashMap::default();
        let commands = self.worker_commands();
        for (at, started) in &commands {
            if started.kind == WorkerKind::Laravel && started.limit.is_some() && !found.contains_key(at) {
                let unlimited = blank(address(*at), started.span, None, Renewal::Never);
                let consumer = DeclaredConsumer {
                    max: started.limit,
                    ..unlimited
                };
                stated.insert(*at, Arc::new(consumer));
            }
        }
        for (at, programs) in found {
            if let [first, others @ ..] = programs.as_slice()
                && others.iter().all(|other| other.agrees(first))
            {
                let command = commands.get(&at).filter(|_| first.is_celery);
                let limit = command.filter(|started| started.kind == WorkerKind::Celery);
                let limit = limit.and_then(|started| started.limit);
                stated.insert(at, Arc::new(consumer(address(at), first, limit)));
            }
        }
        for (at, queue) in self.queues().iter().enumerate() {
            if let [worker] = self.worker_consumptions(queue)
                && let Some((function, program)) = &worker.polling
            {
                let mut program = program.clone();
                linked.entry(at).or_default().push(program.clone());
                if programs.is_renewed {
                    program.renewal = Renewal::Unknown;
                }
                // Messages of a dead-letter queue are only moved.
                let works = program.works_before_deletion && !self.is_dead_letter_queue(queue);
                let limit = works.then(|| run_time(&self.functions()[*function])).flatten();
                stated.insert(at, Arc::new(consumer(address(at), &program, limit)));
            }
        }
        self.stated = stated;
        self.programs = linked;
        self.near_open_programs = near;
    }

    /// Returns the workers that the commands of containers start, by the index of the queue that they poll.
    fn worker_commands(&self) -> BTreeMap<usize, StartedWorker> {
        let mut polled: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        for (at, queue) in self.queues().iter().enumerate() {
            // The worker of a queue usually may read its dead-letter queue, too.
            if !self.is_dead_letter_queue(queue) {
                for one in self.worker_consumptions(queue).iter().filter(|one| one.is_permitted) {
                    polled.entry(one.resource.key()).or_default().push(at);
                }
            }
        }
        let mut all: BTreeMap<usize, Option<StartedWorker>> = BTreeMap::new();
        for worker in self.workers() {
            let queues = polled.get(&worker.resource.key()).map_or(&[] as &[_], Vec::as_slice);
            // A command that is not always run may not be that of the worker.
            let commands = worker.commands.iter().filter(|command| command.when.is_always());
            for started in commands.filter_map(ContainerCommand::worker) {
                let is_named = |at: usize| match self.queues()[at].name.known() {
                    Some(Some(name)) => started.queues.contains(name),
                    _ => false,
                };
                let is_only = started.queues.is_empty() && queues.len() == 1;
                for at in queues.iter().filter(|&&at| is_only || is_named(at)) {
                    if started.kind == WorkerKind::Celery || worker.connects_to_sqs(&started, !is_only) {
                        let known = all.entry(*at).or_insert_with(|| Some(started.clone()));
                        let agrees = known.as_ref().is_some_and(|known| known.agrees(&started));
                        *known = known.take().filter(|_| agrees);
                    }
                }
            }
        }
        all.into_iter()
            .filter_map(|(at, started)| Some((at, started?)))
            .collect()
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

    /// Returns the queues with a worker of which, among the files that receive messages and are nearest to it, one may
    /// state times.
    fn near_open_programs_of(&self, programs: &Programs, path: &dyn Fn(Span) -> String) -> FxHashSet<usize> {
        let files: Vec<(String, bool)> = programs
            .files
            .iter()
            .map(|(span, is_open)| (path(*span), *is_open))
            .collect();
        let is_near = |worker: &str| {
            let longest = files.iter().map(|(file, _)| common(file, worker)).max();
            let mut nearest = files.iter().filter(|(file, _)| Some(common(file, worker)) == longest);
            programs.are_unread || nearest.any(|(_, is_open)| *is_open)
        };
        let queues = self.queues().iter().enumerate().filter(|(_, queue)| {
            let mut workers = self.worker_consumptions(queue).iter().filter(|one| one.is_permitted);
            workers.any(|one| is_near(&path(one.span)))
        });
        queues.map(|(at, _)| at).collect()
    }

    /// Returns `true` if code that is not linked to any queue may state times about the messages of `queue`.
    pub fn may_be_timed(&self, queue: &Queue) -> bool {
        let at = self.index_of(queue);
        at.is_some_and(|at| self.near_open_programs.contains(&at)) && self.timed(queue).next().is_none()
    }

    /// Returns the programs in the repository that poll `queue`. Those that poll a dead-letter queue only move messages.
    pub fn programs<'g>(&'g self, queue: &Queue) -> &'g [PollingProgram] {
        let at = self.index_of(queue).filter(|_| !self.is_dead_letter_queue(queue));
        at.and_then(|at| self.programs.get(&at)).map_or(&[], Vec::as_slice)
    }

    /// Returns the visibility timeout that the worker of `queue` sets with each receive, declared or not.
    pub fn received_visibility(&self, queue: &Queue) -> Option<Duration> {
        let stated = self.index_of(queue).and_then(|at| self.stated.get(&at));
        stated.and_then(|worker| worker.code.as_ref()?.visibility)
    }

    /// Returns what is known about the work on messages of `queue`: the declarations, or what the code of its workers
    /// states if no worker is declared.
    pub fn timed<'g>(&'g self, queue: &Queue) -> impl Iterator<Item = &'g DeclaredConsumer> {
        let at = self.index_of(queue);
        let stated = at.and_then(|at| self.stated.get(&at));
        let stated = stated.filter(|_| self.declared_workers(queue).next().is_none());
        self.declared(queue).iter().chain(stated).map(|one| &**one)
    }
}

/// Returns the number of directories that two paths have in common.
fn common(one: &str, other: &str) -> usize {
    let names = one.split('/').zip(other.split('/'));
    names.take_while(|(one, other)| one == other).count()
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
        let common = |reference: &&Reference<'g>| common(&path(reference.2), file);
        let longest = found.iter().map(common).max();
        found.retain(|reference| Some(common(reference)) == longest);
    }
    if !one_queue(&found) {
        found.clear();
    }
    found.into_iter()
}

impl Worker {
    /// Returns `true` if a worker of Laravel polls SQS: its connection is called so, in the command or in the environment,
    /// or the command names the queue.
    fn connects_to_sqs(&self, started: &StartedWorker, is_named: bool) -> bool {
        let is_sqs = |connection: &str| matches!(connection, "sqs" | "sqs-fifo");
        let is_set = |variable: &Variable| {
            let is_connection = matches!(variable.name.as_deref(), Some("QUEUE_CONNECTION" | "QUEUE_DRIVER"));
            let text = variable.value.known().map(|link| &link.target);
            is_connection && matches!(text, Some(Target::External(text)) if is_sqs(text))
        };
        match started.argument.as_deref() {
            Some(connection) => is_sqs(connection),
            None => is_named || self.environment.iter().any(is_set),
        }
    }
}

/// Returns the timeout of `function`, if it is the same in all cases and Lambda accepts it.
fn run_time(function: &Function) -> Option<Duration> {
    let seconds = function.timeout.known()?.0;
    limits::FUNCTION_TIMEOUT.accepts(seconds).then(|| Duration {
        milliseconds: seconds * 1000,
        span: function.timeout.cases.first().map(|case| case.span),
    })
}

/// Converts what `program` states about the messages of `queue`; its command may set another `limit`.
fn consumer(queue: String, program: &PollingProgram, limit: Option<Duration>) -> DeclaredConsumer {
    let duration = Duration::from;
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
        max: limit.or(program.longest.map(duration)).filter(|_| is_judged),
        call: program.wait.map(duration).filter(|_| is_judged),
        heartbeat,
        ..blank(queue, program.span, program.visibility.map(duration), program.renewal)
    }
}

impl From<StatedTime> for Duration {
    fn from(time: StatedTime) -> Self {
        Duration {
            milliseconds: time.milliseconds,
            span: Some(time.span),
        }
    }
}

/// Returns a statement of code at `span` without times.
fn blank(queue: String, span: Span, visibility: Option<Duration>, renewal: Renewal) -> DeclaredConsumer {
    DeclaredConsumer {
        queue,
        span: Some(span),
        functions: None,
        p50: None,
        p99: None,
        max: None,
        call: None,
        heartbeat: None,
        parallelism: 1,
        measured: None,
        code: Some(CodeStatement {
            visibility,
            is_renewed: !matches!(renewal, Renewal::Never),
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
