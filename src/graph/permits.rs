//! Whether policies permit an action, as IAM judges it, as far as the files tell.
//!
//! What may permit leaves the question open: a part that is not known, a condition, a policy that nobody here has
//! written. Denials are not looked at: where something is denied that is permitted elsewhere, nothing is said.

use super::access::{
    Effect, Grant, ManagedPolicy, PolicyDocument, Principal, QueuePolicy, Role, RolePolicy, Statement,
};
use super::{Attribute, Cause, Graph, Link, Queue, Reason, Resource, State, Target, UnitId};
use crate::conditions::Condition;
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Managed policies of AWS that functions and pipes are often given, and what each permits on every queue and key.
const KNOWN_POLICIES: [(&str, &[&str]); 17] = [
    ("AdministratorAccess", &["*"]),
    ("PowerUserAccess", &["*"]),
    ("AmazonSQSFullAccess", &["sqs:*"]),
    ("AmazonSQSReadOnlyAccess", &["sqs:GetQueueAttributes"]),
    (
        "AWSLambdaSQSQueueExecutionRole",
        &["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
    ),
    ("AWSLambdaBasicExecutionRole", &[]),
    ("AWSLambdaBasicDurableExecutionRolePolicy", &[]),
    ("AWSLambdaVPCAccessExecutionRole", &[]),
    ("AWSLambdaDynamoDBExecutionRole", &[]),
    ("AWSLambdaKinesisExecutionRole", &[]),
    ("AWSXrayWriteOnlyAccess", &[]),
    ("AWSXRayDaemonWriteAccess", &[]),
    ("AmazonS3ReadOnlyAccess", &[]),
    ("AmazonS3FullAccess", &[]),
    ("AmazonDynamoDBFullAccess", &[]),
    ("AmazonSNSFullAccess", &[]),
    ("CloudWatchLogsFullAccess", &[]),
];

/// Where something is permitted, and where that is not known.
#[derive(Debug, Clone)]
pub struct Permits {
    /// Where it is.
    pub when: Condition,
    /// What may permit it.
    pub open: Vec<(Condition, Reason, Span)>,
    /// Policies that were asked and do not.
    pub asked: Vec<Span>,
}

/// What is asked of a statement.
#[derive(Clone, Copy)]
struct Asked<'a> {
    who: Who<'a>,
    action: &'a str,
    /// `None` for any key.
    queue: Option<&'a Queue>,
}

/// Who is to be permitted.
#[derive(Clone, Copy)]
enum Who<'a> {
    /// A service, in a policy that names principals.
    Service(&'a str),
    /// The role whose policy it is.
    Role,
    /// Anybody that a policy names by more than the account.
    Anybody,
}

/// Whether something matches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Match {
    Yes,
    No,
    Maybe,
}

impl Match {
    fn and(self, other: Match) -> Match {
        match (self, other) {
            (Match::No, _) | (_, Match::No) => Match::No,
            (Match::Maybe, _) | (_, Match::Maybe) => Match::Maybe,
            _ => Match::Yes,
        }
    }

    fn or(self, other: Match) -> Match {
        match (self, other) {
            (Match::Yes, _) | (_, Match::Yes) => Match::Yes,
            (Match::Maybe, _) | (_, Match::Maybe) => Match::Maybe,
            _ => Match::No,
        }
    }

    fn not_if(self, is_negated: bool) -> Match {
        match (self, is_negated) {
            (Match::Yes, true) => Match::No,
            (Match::No, true) => Match::Yes,
            (other, _) => other,
        }
    }

    fn of(holds: bool) -> Match {
        if holds { Match::Yes } else { Match::No }
    }
}

impl Permits {
    fn none() -> Self {
        Permits {
            when: Condition::never(),
            open: Vec::new(),
            asked: Vec::new(),
        }
    }

    fn may(&mut self, when: &Condition, reason: &Reason, span: Span) {
        if when.is_possible() {
            self.open.push((when.clone(), reason.clone(), span));
        }
    }
}

/// The policies of a project, by what they are on. Made once a rule.
#[derive(Debug)]
pub struct Policies<'g> {
    graph: &'g Graph,
    /// By queue: policies on it, and where they are.
    queues: FxHashMap<Key, Vec<(Condition, &'g QueuePolicy)>>,
    /// By what is deployed together: policies on queues that are not known.
    open_queues: FxHashMap<&'g str, Vec<(Reason, Span)>>,
    /// By role: what it is granted, and where.
    roles: FxHashMap<Key, Vec<(Condition, &'g RolePolicy)>>,
    /// By what is deployed together: what roles are granted that are not known.
    open_roles: FxHashMap<&'g str, Vec<(Reason, Span)>>,
    managed: FxHashMap<Key, &'g ManagedPolicy>,
}

type Key = (UnitId, Arc<str>);

impl Graph {
    /// Every policy by what it is on.
    pub fn policies(&self) -> Policies<'_> {
        let mut policies = Policies {
            graph: self,
            queues: FxHashMap::default(),
            open_queues: FxHashMap::default(),
            roles: FxHashMap::default(),
            open_roles: FxHashMap::default(),
            managed: FxHashMap::default(),
        };
        let access = self.access();
        for policy in &access.queue_policies {
            for case in &policy.queue.cases {
                let unit = policy.resource.unit;
                match &case.state {
                    State::Set(link) | State::Default(link) => {
                        for queue in self.queue_candidates(unit, link) {
                            let when = policy.resource.when.and(&case.when);
                            policies
                                .queues
                                .entry(key(&queue.resource))
                                .or_default()
                                .push((when, policy));
                        }
                    }
                    State::Unresolved(unresolved) => {
                        let open = policies.open_queues.entry(self.deployment(unit)).or_default();
                        open.push((unresolved.reason.clone(), case.span));
                    }
                }
            }
        }
        let mut names: FxHashMap<&str, Vec<&Resource>> = FxHashMap::default();
        for role in &access.roles {
            for name in role.name.cases.iter().filter_map(|case| case.value()?.as_deref()) {
                names.entry(name).or_default().push(&role.resource);
            }
        }
        for granted in &access.role_policies {
            let unit = granted.resource.unit;
            for case in &granted.role.cases {
                let when = granted.when.and(&case.when);
                let role = case.value().and_then(|link| self.role_key(unit, link, &names));
                match (role, &case.state) {
                    (Some(role), _) => policies.roles.entry(role).or_default().push((when, granted)),
                    (None, State::Unresolved(unresolved)) => {
                        let open = policies.open_roles.entry(self.deployment(unit)).or_default();
                        open.push((unresolved.reason.clone(), case.span));
                    }
                    (None, _) => {}
                }
            }
        }
        let managed = access.managed_policies.iter();
        policies.managed = managed.map(|policy| (key(&policy.resource), policy)).collect();
        policies
    }

    /// The role that `link`, written in `unit`, names.
    fn role_key(&self, unit: UnitId, link: &Link, names: &FxHashMap<&str, Vec<&Resource>>) -> Option<Key> {
        match &link.target {
            Target::Resource(address) => Some((unit, address.clone())),
            Target::Elsewhere { unit, address } => Some((self.unit_called(unit)?, address.clone())),
            Target::External(written) => {
                let roles = names.get(written.rsplit('/').next()?)?;
                let mut here = roles.iter().filter(|role| role.unit == unit);
                match (here.next(), here.next(), roles.as_slice()) {
                    (Some(role), None, _) | (None, _, [role]) => Some(key(role)),
                    _ => None,
                }
            }
            Target::Dangling(_) => None,
        }
    }
}

impl<'g> Policies<'g> {
    /// Where a policy of `queue` lets `service` send to it.
    pub fn send(&self, queue: &'g Queue, service: &str) -> Permits {
        let mut permits = Permits::none();
        let deployment = self.graph.deployment(queue.resource.unit);
        for (reason, span) in self.open_queues.get(deployment).into_iter().flatten() {
            permits.may(&Condition::always(), reason, *span);
        }
        if let Some(reason) = self.graph.handed_out(queue) {
            permits.may(&Condition::always(), &reason, queue.resource.header);
        }
        let asked = Asked {
            who: Who::Service(service),
            action: "sqs:SendMessage",
            queue: Some(queue),
        };
        for (when, policy) in self.queues.get(&key(&queue.resource)).into_iter().flatten() {
            permits.asked.push(policy.resource.header);
            self.ask(&mut permits, when, policy.resource.unit, &policy.document, asked);
        }
        permits
    }

    /// The policies on `queue`.
    pub fn on(&self, queue: &Queue) -> &[(Condition, &'g QueuePolicy)] {
        self.queues.get(&key(&queue.resource)).map_or(&[], Vec::as_slice)
    }

    /// Where the role at `link`, written in `unit`, may do `action` on `queue`; on any key where there is no queue.
    /// `None` where the role is not declared.
    pub fn role(&self, unit: UnitId, link: &Link, action: &str, queue: Option<&'g Queue>) -> Option<Permits> {
        let role = self.declared_role(unit, link)?;
        let mut permits = Permits::none();
        for (reason, span) in self
            .open_roles
            .get(self.graph.deployment(role.unit))
            .into_iter()
            .flatten()
        {
            permits.may(&Condition::always(), reason, *span);
        }
        if self.graph.is_role_handed_out(role) {
            let reason = "the role is passed to a module that is not here and may grant it more";
            permits.may(&Condition::always(), &Cause::ModuleNotHere.because(reason), role.header);
        }
        let asked = Asked {
            who: Who::Role,
            action,
            queue,
        };
        for (when, granted) in self.roles.get(&key(role)).into_iter().flatten() {
            permits.asked.push(granted.span);
            match &granted.grant {
                Grant::Document(document) => self.ask(&mut permits, when, granted.resource.unit, document, asked),
                Grant::Managed(link) => self.ask_managed(&mut permits, when, granted, link, asked),
            }
        }
        // The queue's own policy may name the role.
        for (when, policy) in queue.into_iter().flat_map(|queue| self.on(queue)) {
            let asked = Asked {
                who: Who::Anybody,
                ..asked
            };
            self.ask(&mut permits, when, policy.resource.unit, &policy.document, asked);
        }
        Some(permits)
    }

    /// The role at `link`, where it is declared in the project.
    pub fn declared_role(&self, unit: UnitId, link: &Link) -> Option<&'g Resource> {
        let roles = &self.graph.access().roles;
        let (unit, address) = match &link.target {
            Target::Resource(address) => (unit, address),
            Target::Elsewhere { unit, address } => (self.graph.unit_called(unit)?, address),
            Target::External(_) | Target::Dangling(_) => return None,
        };
        let at = roles.binary_search_by(|role| (role.resource.unit, &role.resource.address).cmp(&(unit, address)));
        at.ok().and_then(|at| roles.get(at)).map(|role| &role.resource)
    }

    /// The declared role that `link` names, by its address or by the name that it has in `unit`.
    pub(super) fn role_called(&self, unit: UnitId, link: &Link) -> Option<&'g Role> {
        let roles = &self.graph.access().roles;
        let found = match &link.target {
            Target::External(written) => {
                let name = written.rsplit('/').next()?;
                let has_name = |role: &&Role| {
                    let mut names = role.name.cases.iter().filter_map(|case| case.value()?.as_deref());
                    role.resource.unit == unit && names.any(|known| known == name)
                };
                return roles.iter().find(has_name);
            }
            _ => self.declared_role(unit, link)?,
        };
        roles.iter().find(|role| std::ptr::eq(&raw const role.resource, found))
    }

    /// What `role` is granted, each with where it is.
    pub(super) fn granted(&self, role: &Resource) -> &[(Condition, &'g RolePolicy)] {
        self.roles.get(&key(role)).map_or(&[], Vec::as_slice)
    }

    /// The managed policy that `link`, written in `unit`, names, where the project declares it.
    pub(super) fn managed(&self, unit: UnitId, link: &Link) -> Option<&'g ManagedPolicy> {
        let Target::Resource(address) = &link.target else {
            return None;
        };
        self.managed.get(&(unit, address.clone())).copied()
    }

    fn ask_managed(
        &self,
        permits: &mut Permits,
        when: &Condition,
        granted: &RolePolicy,
        link: &Attribute<Link>,
        asked: Asked<'_>,
    ) {
        for case in &link.cases {
            let when = when.and(&case.when);
            let named = match &case.state {
                State::Unresolved(unresolved) => {
                    permits.may(&when, &unresolved.reason, case.span);
                    continue;
                }
                State::Set(link) | State::Default(link) => link,
            };
            match &named.target {
                Target::Resource(address) => match self.managed.get(&(granted.resource.unit, address.clone())) {
                    Some(policy) => self.ask(permits, &when, granted.resource.unit, &policy.document, asked),
                    None => permits.may(&when, &unknown_policy(address), case.span),
                },
                Target::External(arn) => match actions_of(arn) {
                    Some(actions) if actions.iter().any(|action| matches(action, asked.action)) => {
                        permits.when = permits.when.or(&when);
                    }
                    Some(_) => {}
                    None => permits.may(&when, &unknown_policy(arn), case.span),
                },
                Target::Elsewhere { address, .. } | Target::Dangling(address) => {
                    permits.may(&when, &unknown_policy(address), case.span);
                }
            }
        }
    }

    fn ask(
        &self,
        permits: &mut Permits,
        when: &Condition,
        unit: UnitId,
        document: &Attribute<PolicyDocument>,
        asked: Asked<'_>,
    ) {
        for case in &document.cases {
            let when = when.and(&case.when);
            let document = match &case.state {
                State::Unresolved(unresolved) => {
                    permits.may(&when, &unresolved.reason, case.span);
                    continue;
                }
                State::Set(document) | State::Default(document) => document,
            };
            if let Some(reason) = &document.opaque {
                permits.may(&when, reason, case.span);
            }
            for statement in &document.statements {
                let when = when.and(&statement.when);
                match self.answer(statement, unit, asked) {
                    Match::Yes => permits.when = permits.when.or(&when),
                    Match::Maybe => {
                        let reason = Cause::Derived.because("a statement of a policy may permit it");
                        permits.may(&when, &reason, statement.span);
                    }
                    Match::No => {}
                }
            }
        }
    }

    /// Whether `statement` permits what is asked. What its conditions say is taken to hold.
    fn answer(&self, statement: &Statement, unit: UnitId, asked: Asked<'_>) -> Match {
        let allows = any_case(&statement.effect, |effect| Match::of(*effect == Effect::Allow));
        let negated = statement.negates;
        let actions = any_case(&statement.actions, |actions| {
            Match::of(actions.iter().any(|action| matches(action, asked.action)))
        });
        let who = match asked.who {
            Who::Role => Match::Yes,
            Who::Service(service) => {
                any_case(&statement.principals, |all| of_service(all, service)).not_if(negated.principals)
            }
            Who::Anybody => any_case(&statement.principals, |all| of_anybody(all)).not_if(negated.principals),
        };
        let is_known = Match::of(statement.conditions.is_ok()).or(Match::Maybe);
        allows
            .and(actions.not_if(negated.actions))
            .and(who)
            .and(self.names(statement, unit, asked).not_if(negated.resources))
            .and(is_known)
    }

    /// Whether the resources of `statement` are, or hold, the queue.
    fn names(&self, statement: &Statement, unit: UnitId, asked: Asked<'_>) -> Match {
        let Some(queue) = asked.queue else {
            return Match::Yes; // Any key.
        };
        if statement.resources.is_empty() {
            return Match::Maybe;
        }
        let each = statement.resources.iter();
        each.fold(Match::No, |all, resource| {
            all.or(any_case(resource, |link| self.is_queue(unit, link, queue)))
        })
    }

    fn is_queue(&self, unit: UnitId, link: &Link, queue: &Queue) -> Match {
        let found: Vec<&Queue> = self.graph.queue_candidates(unit, link).collect();
        if found.iter().any(|found| std::ptr::eq(*found, queue)) {
            return Match::Yes;
        }
        match &link.target {
            _ if !found.is_empty() => Match::No,
            Target::External(written) if &**written == "*" => Match::Yes,
            Target::External(written) => {
                let last = written.rsplit(':').next().unwrap_or_default();
                let mut names = queue.name.cases.iter().filter_map(|case| case.value()?.as_deref());
                let is_open = queue.name.unresolved_reason().is_some() || written.contains("${");
                match names.any(|name| matches(last, name)) {
                    true => Match::Yes,
                    false if is_open || written.contains(['*', '?']) => Match::Maybe,
                    false => Match::No,
                }
            }
            // Something that is no queue, or that the graph does not hold.
            Target::Resource(_) | Target::Elsewhere { .. } | Target::Dangling(_) => Match::Maybe,
        }
    }
}

fn key(resource: &Resource) -> Key {
    (resource.unit, resource.address.clone())
}

fn unknown_policy(written: &str) -> Reason {
    Cause::Elsewhere.because(format!("the policy `{written}` is not here"))
}

/// What a managed policy of AWS permits on queues and keys, where it is known.
fn actions_of(arn: &str) -> Option<&'static [&'static str]> {
    let (_, path) = arn.split_once(":aws:policy/")?;
    let name = path.rsplit('/').next()?;
    let known = KNOWN_POLICIES.iter().find(|(known, _)| *known == name);
    known.map(|(_, actions)| *actions)
}

/// The best answer of any case; what is not known may be anything.
fn any_case<T>(attribute: &Attribute<T>, answer: impl Fn(&T) -> Match) -> Match {
    let cases = attribute.cases.iter();
    cases.fold(Match::No, |all, case| {
        all.or(case.value().map_or(Match::Maybe, &answer))
    })
}

fn of_service(principals: &[Principal], service: &str) -> Match {
    if principals.is_empty() {
        return Match::Maybe;
    }
    let start = service.split('.').next().unwrap_or_default();
    principals.iter().fold(Match::No, |all, principal| {
        all.or(match (principal.kind.as_str(), principal.id.as_deref()) {
            ("*", _) | ("AWS", Some("*")) => Match::Yes,
            // Some Regions have principals of their own: `sns.cn-north-1.amazonaws.com.cn`.
            ("Service", Some(id)) => Match::of(id.split('.').next() == Some(start)),
            ("Service", None) => Match::Maybe,
            _ => Match::No,
        })
    })
}

/// Whether a policy names somebody by more than the account, which leaves it to the account's own policies.
fn of_anybody(principals: &[Principal]) -> Match {
    let is_account = |id: &str| id.ends_with(":root") || id.bytes().all(|byte| byte.is_ascii_digit());
    let mut people = principals
        .iter()
        .filter(|principal| matches!(principal.kind.as_str(), "*" | "AWS"));
    if people.any(|principal| !principal.id.as_deref().is_some_and(is_account)) {
        Match::Maybe
    } else {
        Match::No
    }
}

/// Whether `pattern`, with `*` and `?`, matches `text`, whatever their case.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut of, mut star): (usize, usize, Option<(usize, usize)>) = (0, 0, None);
    while of < text.len() {
        match (pattern.get(at), text.get(of)) {
            (Some(b'*'), _) => {
                star = Some((at, of));
                at += 1;
            }
            (Some(letter), Some(other)) if *letter == b'?' || letter.eq_ignore_ascii_case(other) => {
                at += 1;
                of += 1;
            }
            _ => match star {
                Some((behind, from)) => {
                    at = behind + 1;
                    of = from + 1;
                    star = Some((behind, of));
                }
                None => return false,
            },
        }
    }
    pattern
        .get(at..)
        .is_some_and(|rest| rest.iter().all(|letter| *letter == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_as_iam_does() {
        for (pattern, text, expected) in [
            ("sqs:SendMessage", "sqs:SendMessage", true),
            ("SQS:sendmessage", "sqs:SendMessage", true),
            ("sqs:*", "sqs:SendMessage", true),
            ("*", "sqs:SendMessage", true),
            ("sqs:Send*", "sqs:SendMessage", true),
            ("sqs:Send", "sqs:SendMessage", false),
            ("sqs:Send?essage", "sqs:SendMessage", true),
            ("*Message", "sqs:SendMessage", true),
            ("sqs:*Batch", "sqs:SendMessage", false),
            ("", "sqs:SendMessage", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
