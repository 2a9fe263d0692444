//! Finds workers: consumers other than event source mappings and pipes, on ECS, EC2, Batch, App Runner or Kubernetes, and
//! functions whose code polls a queue.
//!
//! Of the other programs, no file states that it receives messages. Such a worker is assumed to do so if a policy of its
//! role names the queue and `sqs:ReceiveMessage`, or if its environment contains the queue and it may have that
//! permission. Wildcards prove nothing: a role that may receive from all queues hardly ever does.

use super::access::{Effect, Grant, PolicyDocument, Principal, Role, Statement};
use super::commands::ContainerCommand;
use super::permits::{On, Policies, matches};
use super::published::Publication;
use super::{Attribute, Form, Function, Graph, Link, Queue, Resource, ResourceKey, Seconds, State, Target, UnitId};
use conditions::Condition;
use handlers::{PolledQueue, PollingProgram};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Action that a consumer's role needs.
const RECEIVE: &str = "sqs:ReceiveMessage";
const SEND: &str = "sqs:SendMessage";
/// Action that protects a task from being stopped.
const PROTECT: &str = "ecs:UpdateTaskProtection";

/// Services that run programs and assume roles for them.
const HOSTS: [(&str, &str); 4] = [
    ("ecs-tasks", "ECS tasks"),
    ("ec2", "EC2 instances"),
    ("tasks.apprunner", "App Runner"),
    ("pods.eks", "pods"),
];

/// A resource that runs a program.
#[derive(Debug, Clone)]
pub struct Worker {
    /// Address, location and existence.
    pub resource: Resource,
    /// Roles, or instance profiles with roles; `None` if absent.
    pub roles: Vec<Attribute<Option<Link>>>,
    /// Environment variables.
    pub environment: Vec<Variable>,
    /// Commands of its containers that are known.
    pub commands: Vec<ContainerCommand>,
    /// Time between the signal to stop and the end of the container; `None` unless it is a task on ECS with one
    /// container.
    pub stop_timeout: Option<Attribute<Seconds>>,
    /// `true` if it runs only on Fargate, where nothing else sets that time.
    pub is_on_fargate: bool,
}

/// An environment variable of a worker.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Name; `None` if unknown.
    pub name: Option<String>,
    /// Span of the variable.
    pub span: Span,
    /// Condition under which it is set.
    pub when: Condition,
    /// Value as a link.
    pub value: Attribute<Link>,
}

/// An instance profile, which gives roles to EC2 instances.
#[derive(Debug, Clone)]
pub struct InstanceProfile {
    /// Address, location and existence.
    pub resource: Resource,
    /// Physical name; `None` if it is generated.
    pub name: Attribute<Option<String>>,
    /// Roles.
    pub roles: Vec<Attribute<Link>>,
}

/// A worker that consumes a queue.
#[derive(Debug)]
pub struct WorkerConsumption {
    /// Condition under which it does.
    pub when: Condition,
    /// Span for labels.
    pub span: Span,
    /// Worker, or its role if the worker is deployed elsewhere.
    pub resource: Resource,
    /// Sentence with the evidence: "`worker` may read the queue: its role allows it to receive from it".
    pub evidence: String,
    /// `true` if a policy permits it, `false` if it is only not known to be forbidden.
    pub is_permitted: bool,
    /// Addresses of the declared roles under which it does, and their units.
    pub roles: Vec<ResourceKey>,
    /// Role that permits it, if only programs assume that role and it may not send to the queue: a role that may do both
    /// is often that of a sender.
    pub receiver: Option<ResourceKey>,
    /// Environment variables of the worker that hold the queue; empty for a function.
    pub variables: Vec<Arc<str>>,
    /// Function, by its index, and the program in its code that polls the queue; `None` for other workers.
    pub polling: Option<(usize, PollingProgram)>,
}

impl WorkerConsumption {
    fn is_of_same(&self, other: &WorkerConsumption) -> bool {
        self.resource.key() == other.resource.key()
    }
}

/// Readings by queue.
pub(super) type WorkerConsumptions = FxHashMap<ResourceKey, Vec<WorkerConsumption>>;

impl Graph {
    /// Returns the workers that consume `queue`.
    pub fn worker_consumptions(&self, queue: &Queue) -> &[WorkerConsumption] {
        let all = self.worker_consumptions.get_or_init(|| WorkerFinder::new(self).find());
        all.get(&queue.resource.key()).map_or(&[], Vec::as_slice)
    }

    /// Returns `true` if one of `roles` may set the scale-in protection of its tasks, or may have a policy for it.
    pub fn may_protect_tasks(&self, policies: &Policies<'_>, roles: &[ResourceKey]) -> bool {
        let protects = |document: &Attribute<PolicyDocument>| match document.known() {
            None => true,
            Some(document) => {
                document.opaque.is_some()
                    || document.statements.iter().any(|statement| {
                        let actions = statement.actions.known();
                        statement.negates.actions
                            || actions.is_none_or(|actions| actions.iter().any(|action| matches(action, PROTECT)))
                    })
            }
        };
        roles.iter().any(|(unit, role)| {
            let link = Link::to(Target::Resource(role.clone()));
            let Some(role) = policies.role_called(*unit, &link) else {
                return true;
            };
            policies
                .granted(&role.resource)
                .iter()
                .any(|(_, granted)| match &granted.grant {
                    Grant::Document(document) => protects(document),
                    Grant::Managed(link) => link.known().is_none_or(|link| {
                        let declared = policies.managed(granted.resource.unit, link);
                        declared.is_none_or(|policy| protects(&policy.document))
                    }),
                    Grant::Key => false,
                })
        })
    }

    /// Returns the functions, with their indexes, whose environment may hold a queue that no mapping or pipe polls.
    pub(crate) fn possible_pollers(&self) -> impl Iterator<Item = (usize, &Function)> {
        self.functions().iter().enumerate().filter(|(_, function)| {
            let held = |variable| self.held_queues(&function.resource, variable);
            let mut queues = function.queue_variables.iter().flat_map(held);
            queues.any(|(_, _, queue)| !self.is_read(queue))
        })
    }

    /// Returns the condition under which a reference in the code of `function` is one to `queue`.
    pub(crate) fn refers_to(&self, function: &Function, reference: &PolledQueue, queue: &Queue) -> Condition {
        match reference {
            PolledQueue::Variable(name) => {
                let of_name = |variable: &&Variable| variable.name.as_deref() == Some(&**name);
                let held = (function.queue_variables.iter().filter(of_name))
                    .flat_map(|variable| self.held_queues(&function.resource, variable));
                held.filter(|(_, _, held)| held.resource.key() == queue.resource.key())
                    .fold(Condition::never(), |all, (when, ..)| all.or(&when))
            }
            PolledQueue::Named(name) => match queue.name.known() {
                Some(Some(known)) if **known == **name => Condition::always(),
                _ => Condition::never(),
            },
        }
    }

    /// Records the programs in the code of functions that poll queues, by the index of the function.
    pub(crate) fn learn_pollers(&mut self, programs: BTreeMap<usize, Vec<PollingProgram>>) {
        self.polling = programs;
    }

    /// Returns the queues that `variable` of `resource` may hold, itself or by a parameter, each with its condition and
    /// the reference to it.
    pub fn held_queues<'g>(
        &'g self,
        resource: &Resource,
        variable: &'g Variable,
    ) -> Vec<(Condition, &'g Link, &'g Queue)> {
        let values = self.values(resource, variable).into_iter();
        let values = values.filter(|(_, _, link)| variable.may_hold(link));
        values
            .flat_map(|(when, unit, link)| {
                let queues = self.queue_candidates(unit, link);
                queues.map(move |queue| (when.clone(), link, queue))
            })
            .collect()
    }

    /// Returns the values of `variable`, or of the parameter it refers to, each with the unit that contains it.
    fn values<'g>(&'g self, resource: &Resource, variable: &'g Variable) -> Vec<(Condition, UnitId, &'g Link)> {
        let unit = resource.unit;
        let when = resource.when.and(&variable.when);
        let mut all = Vec::new();
        for (when, _, link) in variable.value.known_in(&when) {
            match self
                .parameters_of(unit)
                .iter()
                .find(|parameter| parameter.is_at(unit, link))
            {
                None => all.push((when, unit, link)),
                Some(parameter) => {
                    let values = parameter.value.known_in(&when).into_iter();
                    all.extend(values.map(|(when, _, link)| (when, parameter.resource.unit, link)));
                }
            }
        }
        all
    }

    /// Returns `true` if `queue` has a consumer: a mapping, a pipe, or a worker, found or declared.
    pub fn is_consumed(&self, queue: &Queue) -> bool {
        self.is_read(queue)
            || !self.worker_consumptions(queue).is_empty()
            || self.declared_workers(queue).next().is_some()
    }

    /// Returns the queues with a consumer.
    pub fn consumed(&self) -> impl Iterator<Item = &Queue> {
        self.queues().iter().filter(|queue| self.is_consumed(queue))
    }

    /// Returns the condition under which a worker empties the dead-letter queue `queue`. A worker that also consumes
    /// one of its source queues does not count: it would only fail again, or has a policy that names both.
    pub(super) fn emptied_when(&self, queue: &Queue) -> Condition {
        let sources: Vec<&Queue> = self.sources_of(queue).into_iter().collect();
        let reads_source = |consumption: &WorkerConsumption| {
            let mut all = sources.iter().flat_map(|source| self.worker_consumptions(source));
            all.any(|other| other.is_of_same(consumption))
        };
        let all = self.worker_consumptions(queue).iter();
        let others = all.filter(|consumption| consumption.is_permitted && !reads_source(consumption));
        let found = others.fold(Condition::never(), |all, consumption| all.or(&consumption.when));
        match self.declared_workers(queue).next() {
            Some(_) => Condition::always(),
            None => found,
        }
    }
}

/// Finds the workers that consume queues.
struct WorkerFinder<'g> {
    graph: &'g Graph,
    policies: Policies<'g>,
    /// Queues that the policies of a role name, by role.
    receiving: FxHashMap<ResourceKey, Vec<(Condition, &'g Queue)>>,
    consumptions: WorkerConsumptions,
}

impl<'g> WorkerFinder<'g> {
    fn new(graph: &'g Graph) -> Self {
        let is_needed = !graph.workers().is_empty() || graph.access().roles.iter().any(|role| host(role).is_some());
        let mut finder = WorkerFinder {
            graph,
            policies: graph.policies(),
            receiving: FxHashMap::default(),
            consumptions: FxHashMap::default(),
        };
        if is_needed {
            for role in &graph.access().roles {
                let named = finder.named_by(role);
                if !named.is_empty() {
                    finder.receiving.insert(role.resource.key(), named);
                }
            }
        }
        finder
    }

    fn find(mut self) -> WorkerConsumptions {
        let mut assumed: FxHashSet<ResourceKey> = FxHashSet::default();
        for worker in self.graph.workers() {
            let roles = self.roles(&worker.resource, &worker.roles);
            assumed.extend(roles.iter().filter_map(|role| Some(role.declared?.resource.key())));
            self.add_from_policies(worker, &roles);
            self.add_from_environment(worker, &roles);
        }
        // Roles of workers that are deployed elsewhere.
        for role in &self.graph.access().roles {
            if let Some(host) = host(role).filter(|_| !assumed.contains(&role.resource.key())) {
                self.by_role(role, host);
            }
        }
        self.add_from_code();
        self.consumptions
    }

    /// Returns the queues that policies of `role` name with the permission to receive, each with its condition.
    fn named_by(&self, role: &'g Role) -> Vec<(Condition, &'g Queue)> {
        let mut all = Vec::new();
        for (when, granted) in self.policies.granted(&role.resource) {
            let unit = granted.resource.unit;
            match &granted.grant {
                Grant::Document(document) => self.in_document(document, unit, when, &mut all),
                Grant::Managed(links) => {
                    for (when, _, link) in links.known_in(when) {
                        if let Some(policy) = self.policies.managed(unit, link) {
                            self.in_document(&policy.document, policy.resource.unit, &when, &mut all);
                        }
                    }
                }
                Grant::Key => {}
            }
        }
        all
    }

    fn in_document(
        &self,
        document: &Attribute<PolicyDocument>,
        unit: UnitId,
        when: &Condition,
        all: &mut Vec<(Condition, &'g Queue)>,
    ) {
        for (when, _, document) in document.known_in(when) {
            for statement in document.statements.iter().filter(|statement| receives(statement)) {
                let when = when.and(&statement.when);
                for resource in &statement.resources {
                    for (when, _, link) in resource.known_in(&when) {
                        all.extend(self.queues(unit, link).into_iter().map(|queue| (when.clone(), queue)));
                    }
                }
            }
        }
    }

    /// Returns the queues that `link`, written in `unit`, may refer to.
    fn queues(&self, unit: UnitId, link: &Link) -> Vec<&'g Queue> {
        self.graph.queue_candidates(unit, link).collect()
    }

    /// Returns `roles` of `resource`, including those in instance profiles.
    fn roles(&self, resource: &Resource, roles: &'g [Attribute<Option<Link>>]) -> Vec<WorkerRole<'g>> {
        let unit = resource.unit;
        let mut all = Vec::new();
        for attribute in roles {
            for case in &attribute.cases {
                let when = resource.when.and(&case.when);
                match &case.state {
                    State::Set(None) | State::Default(_) => {}
                    State::Set(Some(link)) => self.role(unit, link, when, &mut all),
                    State::Unresolved(_) => all.push(WorkerRole::unknown(when)),
                }
            }
        }
        all
    }

    fn role(&self, unit: UnitId, link: &Link, when: Condition, all: &mut Vec<WorkerRole<'g>>) {
        let profiles = &self.graph.access().instance_profiles;
        let profile = profiles.iter().find(|profile| profile.is_at(unit, link));
        if let Some(profile) = profile {
            for role in &profile.roles {
                for (when, _, link) in role.known_in(&when) {
                    all.push(self.plain_role(profile.resource.unit, link, when));
                }
            }
        } else {
            all.push(self.plain_role(unit, link, when));
        }
    }

    fn plain_role(&self, unit: UnitId, link: &Link, when: Condition) -> WorkerRole<'g> {
        let declared = self.policies.role_called(unit, link);
        // A role that is declared, but was not read, may have any permission.
        let is_unread = declared.is_none() && !matches!(link.target, Target::External(_));
        WorkerRole {
            when,
            declared,
            is_unread,
        }
    }

    /// Adds the queues named by policies of the worker's roles.
    fn add_from_policies(&mut self, worker: &Worker, roles: &[WorkerRole<'g>]) {
        for role in roles {
            let Some(declared) = role.declared else { continue };
            for (when, queue) in self
                .receiving
                .get(&declared.resource.key())
                .cloned()
                .unwrap_or_default()
            {
                let shown = worker.resource.shown();
                let consumption = WorkerConsumption {
                    when: when.and(&role.when),
                    span: worker.resource.header,
                    evidence: format!("{shown} may read the queue: its role allows it to receive from it"),
                    resource: worker.resource.clone(),
                    is_permitted: true,
                    roles: vec![declared.resource.key()],
                    receiver: self.receiver(declared, queue),
                    variables: Vec::new(),
                    polling: None,
                };
                self.add(queue, consumption);
            }
        }
    }

    /// Returns the key of `role` if only programs assume it and it certainly may not send to `queue`.
    fn receiver(&self, role: &Role, queue: &'g Queue) -> Option<ResourceKey> {
        host(role)?;
        let link = Link::to(Target::Resource(role.resource.address.clone()));
        let send = self.policies.role(role.resource.unit, &link, SEND, On::Queue(queue))?;
        (!send.when.is_possible() && send.possible.is_empty()).then(|| role.resource.key())
    }

    /// Adds the queues in the worker's environment.
    fn add_from_environment(&mut self, worker: &'g Worker, roles: &[WorkerRole<'g>]) {
        for variable in &worker.environment {
            for (when, link, queue) in self.graph.held_queues(&worker.resource, variable) {
                for role in roles {
                    let when = when.and(&role.when);
                    if let Some((when, is_permitted)) = self.may_receive(role, queue, &when) {
                        let consumption = WorkerConsumption {
                            roles: role.declared.iter().map(|role| role.resource.key()).collect(),
                            ..variable.consumption(worker, link, when, is_permitted)
                        };
                        self.add(queue, consumption);
                    }
                }
            }
        }
    }

    /// Adds the queues that the code of functions polls, if nothing else does.
    fn add_from_code(&mut self) {
        for (at, programs) in &self.graph.polling {
            let function = &self.graph.functions()[*at];
            let (resource, roles) = (&function.resource, std::slice::from_ref(&function.role));
            let roles = self.roles(resource, roles).into_iter();
            let roles: Vec<ResourceKey> = roles.filter_map(|role| Some(role.declared?.resource.key())).collect();
            for variable in &function.queue_variables {
                let name = variable.name.as_deref().unwrap_or_default();
                let polls = |program: &&PollingProgram| program.queue == PolledQueue::Variable(name.into());
                let Some(program) = programs.iter().find(polls) else {
                    continue;
                };
                for (when, _, queue) in self.graph.held_queues(resource, variable) {
                    if !self.graph.is_read(queue) {
                        let consumption = WorkerConsumption {
                            when,
                            span: program.span,
                            evidence: format!("{function} receives from the queue, whose URL is in `{name}`"),
                            resource: resource.clone(),
                            is_permitted: true,
                            roles: roles.clone(),
                            receiver: None,
                            variables: Vec::new(),
                            polling: Some((*at, program.clone())),
                        };
                        self.add(queue, consumption);
                    }
                }
            }
        }
    }

    /// Returns the condition under which `role` may receive from `queue`, which its worker's environment contains, and
    /// `true` if a policy permits it.
    fn may_receive(&self, role: &WorkerRole<'g>, queue: &'g Queue, when: &Condition) -> Option<(Condition, bool)> {
        // If the queue has a mapping, a worker with the queue in its environment more likely sends to it.
        let is_alone = !self.graph.is_read(queue);
        let Some(declared) = role.declared else {
            return (is_alone && !role.is_unread).then(|| (when.clone(), false));
        };
        let link = Link::to(Target::Resource(declared.resource.address.clone()));
        let ask = |action| {
            self.policies
                .role(declared.resource.unit, &link, action, On::Queue(queue))
        };
        let receive = ask(RECEIVE)?;
        let permitted = when.and(&receive.when);
        if permitted.is_possible() {
            return Some((permitted, true));
        }
        let sends = || ask(SEND).is_some_and(|send| when.is_possible_with(&send.when));
        let may = receive
            .possible
            .iter()
            .fold(Condition::never(), |all, (open, ..)| all.or(open));
        let may = may.and(when);
        (is_alone && may.is_possible() && !sends()).then_some((may, false))
    }

    /// Adds the queues named by policies of `role`, which programs on `host` assume.
    fn by_role(&mut self, role: &Role, host: &str) {
        for (when, queue) in self.receiving.get(&role.resource.key()).cloned().unwrap_or_default() {
            let shown = role.resource.shown();
            let consumption = WorkerConsumption {
                when: when.and(&role.resource.when),
                span: role.resource.header,
                evidence: format!("{shown} lets {host} receive from the queue"),
                resource: role.resource.clone(),
                is_permitted: true,
                roles: vec![role.resource.key()],
                receiver: self.receiver(role, queue),
                variables: Vec::new(),
                polling: None,
            };
            self.add(queue, consumption);
        }
    }

    /// Adds a reading of `queue`. Several readings of one worker become one, under any of their conditions.
    fn add(&mut self, queue: &Queue, consumption: WorkerConsumption) {
        let when = consumption.when.and(&queue.resource.when);
        if !when.is_possible() {
            return;
        }
        let all = self.consumptions.entry(queue.resource.key()).or_default();
        match all.iter_mut().find(|known| known.is_of_same(&consumption)) {
            Some(known) => {
                known.when = known.when.or(&when);
                let other = consumption.roles.into_iter().filter(|role| !known.roles.contains(role));
                let other: Vec<ResourceKey> = other.collect();
                known.roles.extend(other);
                known.variables.extend(consumption.variables);
            }
            None => all.push(WorkerConsumption { when, ..consumption }),
        }
    }
}

/// A role of a worker.
struct WorkerRole<'g> {
    when: Condition,
    /// The role, if the project declares it.
    declared: Option<&'g Role>,
    /// `true` if the project declares it but it was not read.
    is_unread: bool,
}

impl WorkerRole<'_> {
    fn unknown(when: Condition) -> Self {
        WorkerRole {
            when,
            declared: None,
            is_unread: false,
        }
    }
}

impl Variable {
    /// Returns `true` if one of its values may refer to a queue.
    pub(crate) fn may_hold_queue(&self) -> bool {
        let mut links = self.value.cases.iter().filter_map(|case| case.value());
        links.any(|link| self.may_hold(link))
    }

    /// Returns `true` if its value `link` may refer to a queue. A plain word equal to a queue's name may be any other
    /// name.
    fn may_hold(&self, link: &Link) -> bool {
        if link.form != Form::Name || !matches!(link.target, Target::External(_)) {
            return true;
        }
        let name = self.name.as_deref().unwrap_or_default().to_ascii_lowercase();
        name.contains("queue") || name.contains("sqs")
    }

    fn consumption(&self, worker: &Worker, link: &Link, when: Condition, is_permitted: bool) -> WorkerConsumption {
        let shown = worker.resource.shown();
        let what = match link.form {
            Form::Arn => "ARN",
            Form::Url => "URL",
            Form::Name => "name",
        };
        let holds = match &self.name {
            Some(name) => format!("`{name}` holds its {what}"),
            None => format!("its environment holds the {what}"),
        };
        let (reads, may) = if is_permitted {
            ("reads", "and its role may receive from it")
        } else {
            ("may read", "and its role may allow it to receive")
        };
        WorkerConsumption {
            when,
            span: self.span,
            evidence: format!("{shown} {reads} the queue: {holds}, {may}"),
            resource: worker.resource.clone(),
            is_permitted,
            roles: Vec::new(),
            receiver: None,
            variables: self.name.iter().map(|name| name.as_str().into()).collect(),
            polling: None,
        }
    }
}

/// Returns `true` if `link`, written in `unit`, refers to `resource`, by its address or, within its unit, by its name.
fn names_resource(resource: &Resource, name: &Attribute<Option<String>>, unit: UnitId, link: &Link) -> bool {
    match &link.target {
        Target::Resource(address) => (unit, address) == (resource.unit, &resource.address),
        Target::External(written) => {
            let mut names = name.cases.iter().filter_map(|case| case.value()?.as_deref());
            let written = written.rsplit(':').next().unwrap_or(written);
            let is_it = |known: &str| {
                let before = written.strip_suffix(known.trim_start_matches('/'));
                before.is_some_and(|before| {
                    matches!(before, "" | "/" | "parameter/") || before.starts_with("instance-profile/")
                })
            };
            unit == resource.unit && names.any(|known| !known.is_empty() && is_it(known))
        }
        Target::OtherUnit { .. } | Target::Dangling(_) => false,
    }
}

impl InstanceProfile {
    fn is_at(&self, unit: UnitId, link: &Link) -> bool {
        names_resource(&self.resource, &self.name, unit, link)
    }
}

impl Publication {
    fn is_at(&self, unit: UnitId, link: &Link) -> bool {
        names_resource(&self.resource, &self.name, unit, link)
    }
}

/// Returns `true` if `statement` allows to receive explicitly. `sqs:*` does not count: it is also written for senders.
fn receives(statement: &Statement) -> bool {
    let is_of_receive = |action: &String| {
        let verb = action.split_once(':').map_or("", |(_, verb)| verb);
        verb.len() > 1 && matches(action, RECEIVE)
    };
    let negates = &statement.negates;
    statement.effect.known() == Some(&Effect::Allow)
        && !negates.actions
        && !negates.resources
        && statement
            .actions
            .known()
            .is_some_and(|actions| actions.iter().any(is_of_receive))
}

/// Returns the service that runs the programs that assume `role`; `None` if a function, a pipe or a person may assume
/// it.
fn host(role: &Role) -> Option<&'static str> {
    let document = role.trust.known()?.as_ref()?;
    let hosts = document.statements.iter().map(host_of);
    let hosts: Option<Vec<&'static str>> = hosts.collect();
    hosts?.first().copied().filter(|_| document.opaque.is_none())
}

fn host_of(statement: &Statement) -> Option<&'static str> {
    let principals = statement.principals.known()?;
    let hosts: Option<Vec<&'static str>> = principals
        .iter()
        .map(|principal| match principal.kind.as_str() {
            "Service" => service(principal),
            "Federated" => is_of_service_account(statement, principal).then_some("the pods of a service account"),
            _ => None,
        })
        .collect();
    hosts?.first().copied()
}

fn service(principal: &Principal) -> Option<&'static str> {
    let id = principal.id.as_deref()?;
    let name = id.split_once(".amazonaws.com").map_or(id, |(name, _)| name);
    let host = HOSTS.iter().find(|(known, _)| *known == name);
    host.map(|(_, shown)| *shown)
}

/// Returns `true` if `principal` is the identity provider of a cluster, or may be one and the conditions do not
/// contradict.
fn is_of_service_account(statement: &Statement, principal: &Principal) -> bool {
    let names_account = |value: &Attribute<Link>| {
        let mut links = value.cases.iter().filter_map(|case| case.value());
        links.any(|link| matches!(&link.target, Target::External(text) if text.starts_with("system:serviceaccount:")))
    };
    match (&principal.id, &statement.conditions) {
        (Some(id), _) if id.contains("oidc.eks.") => true,
        // The provider's URL is a part of the keys, and known only after apply: `${module.eks.oidc_provider}:sub`.
        (None, Err(_)) => true,
        (_, Ok(conditions)) => conditions
            .iter()
            .flat_map(|condition| &condition.values)
            .any(names_account),
        (Some(_), Err(_)) => false,
    }
}
