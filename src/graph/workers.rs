//! Workers: what reads a queue without an event source mapping or a pipe, on ECS, EC2, Batch, App Runner or Kubernetes.
//!
//! No file says that a program receives messages. It is taken to where a policy of its role names the queue and
//! `sqs:ReceiveMessage`, or where its environment holds the queue and that permission is not known to be absent.
//! Wildcards prove nothing: who may read every queue reads hardly any of them.

use super::access::{Effect, Grant, PolicyDocument, Principal, Role, Statement};
use super::permits::{Policies, matches};
use super::{Attribute, Form, Graph, Link, Queue, Resource, State, Target, UnitId};
use crate::conditions::Condition;
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What a role has to be allowed.
const RECEIVE: &str = "sqs:ReceiveMessage";
const SEND: &str = "sqs:SendMessage";

/// Services that run programs, and take roles for them.
const HOSTS: [(&str, &str); 4] = [
    ("ecs-tasks", "ECS tasks"),
    ("ec2", "EC2 instances"),
    ("tasks.apprunner", "App Runner"),
    ("pods.eks", "pods"),
];

/// Something that runs a program.
#[derive(Debug, Clone)]
pub struct Worker {
    /// Address, place and existence.
    pub resource: Resource,
    /// Its roles, or the instance profiles that hold them; `None` where nothing is written.
    pub roles: Vec<Attribute<Option<Link>>>,
    /// What its environment holds.
    pub environment: Vec<Variable>,
}

/// A variable of a worker's environment.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name; `None` where it is not known.
    pub name: Option<String>,
    /// Its place.
    pub span: Span,
    /// Where it is set.
    pub when: Condition,
    /// What its value is, as a link.
    pub value: Attribute<Link>,
}

/// A parameter of Systems Manager, from which environments take values.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Address, place and existence.
    pub resource: Resource,
    /// The physical name where written.
    pub name: Attribute<Option<String>>,
    /// What its value is, as a link.
    pub value: Attribute<Link>,
}

/// What hands roles to EC2 instances.
#[derive(Debug, Clone)]
pub struct InstanceProfile {
    /// Address, place and existence.
    pub resource: Resource,
    /// The physical name where written.
    pub name: Attribute<Option<String>>,
    /// Its roles.
    pub roles: Vec<Attribute<Link>>,
}

/// A worker that reads a queue.
#[derive(Debug)]
pub struct Reading {
    /// The condition under which it does.
    pub when: Condition,
    /// Where to point.
    pub span: Span,
    /// The worker, or its role where somebody else deploys the worker.
    pub resource: Resource,
    /// How one knows, as a sentence: "`worker` reads the queue: its role may receive from it".
    pub said: String,
    /// Whether a policy permits it. Else only nothing is known that forbids it.
    pub is_permitted: bool,
}

impl Reading {
    fn is_of_same(&self, other: &Reading) -> bool {
        key(&self.resource) == key(&other.resource)
    }
}

type Key = (UnitId, Arc<str>);

/// Readings by the place of their queue.
pub(super) type Readings = FxHashMap<Key, Vec<Reading>>;

impl Graph {
    /// The workers that read `queue`.
    pub fn readings(&self, queue: &Queue) -> &[Reading] {
        let all = self.all_readings.get_or_init(|| Finder::new(self).find());
        all.get(&key(&queue.resource)).map_or(&[], Vec::as_slice)
    }

    /// Whether anything reads `queue`: a mapping, a pipe, or a worker, found or declared.
    pub fn is_consumed(&self, queue: &Queue) -> bool {
        self.is_read(queue) || !self.readings(queue).is_empty() || self.declared_workers(queue).next().is_some()
    }

    /// Every queue that anything reads.
    pub fn consumed(&self) -> impl Iterator<Item = &Queue> {
        self.queues().iter().filter(|queue| self.is_consumed(queue))
    }

    /// Where a worker empties `queue`, which reads none of the queues that it takes the failures of: one that does
    /// would only fail again, or has a policy that names both.
    pub(super) fn emptied_when(&self, queue: &Queue) -> Condition {
        let sources: Vec<&Queue> = self.sources_of(queue).into_iter().collect();
        let reads_source = |reading: &Reading| {
            let mut all = sources.iter().flat_map(|source| self.readings(source));
            all.any(|other| other.is_of_same(reading))
        };
        let all = self.readings(queue).iter();
        let others = all.filter(|reading| reading.is_permitted && !reads_source(reading));
        let found = others.fold(Condition::never(), |all, reading| all.or(&reading.when));
        match self.declared_workers(queue).next() {
            Some(_) => Condition::always(),
            None => found,
        }
    }
}

/// Finds who reads what.
struct Finder<'g> {
    graph: &'g Graph,
    policies: Policies<'g>,
    /// By role: the queues that its policies name.
    receiving: FxHashMap<Key, Vec<(Condition, &'g Queue)>>,
    readings: Readings,
}

impl<'g> Finder<'g> {
    fn new(graph: &'g Graph) -> Self {
        let is_needed = !graph.workers().is_empty() || graph.access().roles.iter().any(|role| host(role).is_some());
        let mut finder = Finder {
            graph,
            policies: graph.policies(),
            receiving: FxHashMap::default(),
            readings: FxHashMap::default(),
        };
        if is_needed {
            for role in &graph.access().roles {
                let named = finder.named_by(role);
                if !named.is_empty() {
                    finder.receiving.insert(key(&role.resource), named);
                }
            }
        }
        finder
    }

    fn find(mut self) -> Readings {
        let mut taken: FxHashSet<Key> = FxHashSet::default();
        for worker in self.graph.workers() {
            let roles = self.roles(worker);
            taken.extend(roles.iter().filter_map(|role| Some(key(&role.declared?.resource))));
            self.permitted(worker, &roles);
            self.given(worker, &roles);
        }
        // A role whose worker is deployed by somebody else.
        for role in &self.graph.access().roles {
            if let Some(host) = host(role).filter(|_| !taken.contains(&key(&role.resource))) {
                self.by_role(role, host);
            }
        }
        self.readings
    }

    /// The queues that policies of `role` name with the permission to receive, each with where they do.
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

    /// The queues that `link`, written in `unit`, names.
    fn queues(&self, unit: UnitId, link: &Link) -> Vec<&'g Queue> {
        self.graph.queue_candidates(unit, link).collect()
    }

    /// The roles of `worker`, through instance profiles.
    fn roles(&self, worker: &'g Worker) -> Vec<WorkerRole<'g>> {
        let unit = worker.resource.unit;
        let mut all = Vec::new();
        for attribute in &worker.roles {
            for case in &attribute.cases {
                let when = worker.resource.when.and(&case.when);
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
        // A role that is declared and not read may be allowed anything or nothing.
        let is_unread = declared.is_none() && !matches!(link.target, Target::External(_));
        WorkerRole {
            when,
            declared,
            is_unread,
        }
    }

    /// Adds the queues that policies name which the worker's roles have.
    fn permitted(&mut self, worker: &Worker, roles: &[WorkerRole<'g>]) {
        for role in roles {
            let Some(declared) = role.declared else { continue };
            for (when, queue) in self
                .receiving
                .get(&key(&declared.resource))
                .cloned()
                .unwrap_or_default()
            {
                let shown = worker.resource.shown();
                let reading = Reading {
                    when: when.and(&role.when),
                    span: worker.resource.header,
                    said: format!("{shown} reads the queue: its role may receive from it"),
                    resource: worker.resource.clone(),
                    is_permitted: true,
                };
                self.add(queue, reading);
            }
        }
    }

    /// Adds the queues that the worker's environment holds.
    fn given(&mut self, worker: &'g Worker, roles: &[WorkerRole<'g>]) {
        for variable in &worker.environment {
            for (when, unit, link) in self.values(worker, variable) {
                if !variable.may_hold(link) {
                    continue;
                }
                for queue in self.queues(unit, link) {
                    for role in roles {
                        let when = when.and(&role.when);
                        if let Some((when, is_permitted)) = self.may_receive(role, queue, &when) {
                            let reading = variable.reading(worker, link, when, is_permitted);
                            self.add(queue, reading);
                        }
                    }
                }
            }
        }
    }

    /// What `variable` holds, through parameters, and in which unit that is written.
    fn values(&self, worker: &Worker, variable: &'g Variable) -> Vec<(Condition, UnitId, &'g Link)> {
        let unit = worker.resource.unit;
        let when = worker.resource.when.and(&variable.when);
        let mut all = Vec::new();
        for (when, _, link) in variable.value.known_in(&when) {
            match self
                .graph
                .parameters()
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

    /// Where `role` may receive from `queue`, which its worker is given, and whether a policy says so.
    fn may_receive(&self, role: &WorkerRole<'g>, queue: &'g Queue, when: &Condition) -> Option<(Condition, bool)> {
        // Beside a mapping, a worker that is given the queue rather sends to it.
        let is_alone = !self.graph.is_read(queue);
        let Some(declared) = role.declared else {
            return (is_alone && !role.is_unread).then(|| (when.clone(), false));
        };
        let link = Link::to(Target::Resource(declared.resource.address.clone()));
        let ask = |action| self.policies.role(declared.resource.unit, &link, action, Some(queue));
        let receive = ask(RECEIVE)?;
        let permitted = when.and(&receive.when);
        if permitted.is_possible() {
            return Some((permitted, true));
        }
        let sends = || ask(SEND).is_some_and(|send| when.is_possible_with(&send.when));
        let may = receive
            .open
            .iter()
            .fold(Condition::never(), |all, (open, ..)| all.or(open));
        let may = may.and(when);
        (is_alone && may.is_possible() && !sends()).then_some((may, false))
    }

    /// Adds the queues that policies of `role` name, which programs of `host` take.
    fn by_role(&mut self, role: &Role, host: &str) {
        for (when, queue) in self.receiving.get(&key(&role.resource)).cloned().unwrap_or_default() {
            let shown = role.resource.shown();
            let reading = Reading {
                when: when.and(&role.resource.when),
                span: role.resource.header,
                said: format!("{shown} lets {host} receive from the queue"),
                resource: role.resource.clone(),
                is_permitted: true,
            };
            self.add(queue, reading);
        }
    }

    /// Adds `reading` of `queue`; of one worker the first counts, under all of its conditions.
    fn add(&mut self, queue: &Queue, reading: Reading) {
        let when = reading.when.and(&queue.resource.when);
        if !when.is_possible() {
            return;
        }
        let all = self.readings.entry(key(&queue.resource)).or_default();
        match all.iter_mut().find(|known| known.is_of_same(&reading)) {
            Some(known) => known.when = known.when.or(&when),
            None => all.push(Reading { when, ..reading }),
        }
    }
}

/// A role of a worker.
struct WorkerRole<'g> {
    when: Condition,
    /// The role, where the project declares it.
    declared: Option<&'g Role>,
    /// Whether the project declares it, and it is not read.
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
    /// Whether `link`, its value, may be meant as a queue: a word that is the name of a queue may be any other name.
    fn may_hold(&self, link: &Link) -> bool {
        if link.form != Form::Name || !matches!(link.target, Target::External(_)) {
            return true;
        }
        let name = self.name.as_deref().unwrap_or_default().to_ascii_lowercase();
        name.contains("queue") || name.contains("sqs")
    }

    fn reading(&self, worker: &Worker, link: &Link, when: Condition, is_permitted: bool) -> Reading {
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
            ("may read", "and nothing says that its role may not receive from it")
        };
        Reading {
            when,
            span: self.span,
            said: format!("{shown} {reads} the queue: {holds}, {may}"),
            resource: worker.resource.clone(),
            is_permitted,
        }
    }
}

fn key(resource: &Resource) -> Key {
    (resource.unit, resource.address.clone())
}

/// Whether `link`, written in `unit`, names `resource`, by its address or in its unit by its name.
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
        Target::Elsewhere { .. } | Target::Dangling(_) => false,
    }
}

impl InstanceProfile {
    fn is_at(&self, unit: UnitId, link: &Link) -> bool {
        names_resource(&self.resource, &self.name, unit, link)
    }
}

impl Parameter {
    fn is_at(&self, unit: UnitId, link: &Link) -> bool {
        names_resource(&self.resource, &self.name, unit, link)
    }
}

/// Whether `statement` allows to receive, by that name: `sqs:*` is written for those who send, too.
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

/// What runs the programs that take `role`; `None` where a function, a pipe or a person may take it.
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

/// Whether `principal` is the identity provider of a cluster, or may be one and nothing else is said.
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
