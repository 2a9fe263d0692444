//! Whether policies permit an action, as IAM judges it, as far as the files tell.
//!
//! What may permit leaves the question open: a part that is not known, a condition, a policy that nobody here has
//! written. Denials are not looked at: where something is denied that is permitted elsewhere, nothing is said.

mod gather;
mod managed;
mod matching;

use super::access::{self, Effect, Grant, ManagedPolicy, PolicyDocument, QueuePolicy, Role, RolePolicy, Statement};
use super::{Attribute, Cause, Graph, Link, Queue, Reason, Resource, State, Target, UnitId};
use crate::conditions::Condition;
use crate::source::Span;
use managed::actions_of;
pub use matching::matches;
use matching::{Match, any_case, of_anybody, of_service};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::sync::Arc;

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
    /// `None` for any queue and any key.
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

impl Permits {
    /// Nothing is permitted.
    pub fn none() -> Self {
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
    /// What roles are granted that are not known.
    open_roles: Vec<OpenGrant<'g>>,
    /// What is granted to a name that no declared role is known to have.
    unmatched_roles: Vec<OpenGrant<'g>>,
    /// By action: whether some role that is not known is granted it.
    open_actions: RefCell<FxHashMap<(String, bool), Option<(Reason, Span)>>>,
    /// Roles that something gets which is not here.
    handed_roles: FxHashSet<Key>,
    managed: FxHashMap<Key, &'g ManagedPolicy>,
    keys: FxHashMap<Key, &'g access::Key>,
    aliases: FxHashMap<Key, &'g access::KeyAlias>,
    /// By unit and name.
    alias_names: FxHashMap<Key, &'g access::KeyAlias>,
}

/// Something that is granted to a role, and it is not known to which.
#[derive(Debug)]
struct OpenGrant<'g> {
    granted: &'g RolePolicy,
    reason: Reason,
    span: Span,
}

type Key = (UnitId, Arc<str>);

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

    /// Where the policy of `key`, declared in the project, may permit `action` to a role by itself. What it leaves to the
    /// account's own policies it does not permit.
    pub fn of_key(&self, key: &'g access::Key, action: &str) -> Permits {
        let mut permits = Permits::none();
        let asked = Asked {
            who: Who::Anybody,
            action,
            queue: None,
        };
        for case in &key.policy.cases {
            match &case.state {
                State::Unresolved(unresolved) => permits.may(&case.when, unresolved.reason(), case.span),
                State::Set(Some(document)) | State::Default(Some(document)) => {
                    self.ask_document(
                        &mut permits,
                        &case.when,
                        key.resource.unit,
                        (document, case.span),
                        asked,
                    );
                }
                // KMS's own, which leaves it to the account's policies.
                State::Set(None) | State::Default(None) => {}
            }
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
        let declared = self.declared(unit, link)?;
        let role = &declared.resource;
        let mut permits = Permits::none();
        let is_named = declared.name.unresolved_reason().is_none();
        if let Some((reason, span)) = self.open_grant(action, !is_named) {
            permits.may(&Condition::always(), &reason, span);
        }
        if self.handed_roles.contains(&key(role)) {
            let reason = "the role is passed to something that is not here and may grant it more";
            permits.may(&Condition::always(), &Cause::ModuleNotHere.because(reason), role.header);
        }
        let asked = Asked {
            who: Who::Role,
            action,
            queue,
        };
        for (when, granted) in self.roles.get(&key(role)).into_iter().flatten() {
            permits.asked.push(granted.span);
            self.ask_grant(&mut permits, when, granted, asked);
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

    /// Why a role may be granted `action` by something of which it is not known to which role it grants it; with those
    /// that say a name which no role is known to have, where `is_unnamed`.
    fn open_grant(&self, action: &str, is_unnamed: bool) -> Option<(Reason, Span)> {
        let at = (action.to_owned(), is_unnamed);
        if let Some(known) = self.open_actions.borrow().get(&at) {
            return known.clone();
        }
        let asked = Asked {
            who: Who::Role,
            action,
            queue: None,
        };
        let may_permit = |open: &&OpenGrant<'g>| {
            let mut permits = Permits::none();
            self.ask_grant(&mut permits, &open.granted.when, open.granted, asked);
            permits.when.is_possible() || !permits.open.is_empty()
        };
        let unmatched = self.unmatched_roles.iter().filter(|_| is_unnamed);
        let open = self.open_roles.iter().chain(unmatched).find(may_permit);
        let found = open.map(|open| (open.reason.clone(), open.span));
        self.open_actions.borrow_mut().insert(at, found.clone());
        found
    }

    /// Whether anything is granted to a role that is not known, or that has a name which no declared role is known to
    /// have: it concerns every role of the project.
    pub(super) fn grants_openly(&self) -> bool {
        !(self.open_roles.is_empty() && self.unmatched_roles.is_empty())
    }

    /// The role at `link`, where it is declared in the project.
    pub fn declared_role(&self, unit: UnitId, link: &Link) -> Option<&'g Resource> {
        self.declared(unit, link).map(|role| &role.resource)
    }

    fn declared(&self, unit: UnitId, link: &Link) -> Option<&'g Role> {
        let roles = &self.graph.access().roles;
        let (unit, address) = self.graph.address_key(unit, link)?;
        let at = roles.binary_search_by(|role| (role.resource.unit, &role.resource.address).cmp(&(unit, &address)));
        at.ok().and_then(|at| roles.get(at))
    }

    fn ask_grant(&self, permits: &mut Permits, when: &Condition, granted: &RolePolicy, asked: Asked<'_>) {
        match &granted.grant {
            Grant::Document(document) => self.ask(permits, when, granted.resource.unit, document, asked),
            Grant::Managed(link) => self.ask_managed(permits, when, granted, link, asked),
        }
    }

    /// The declared role that `link` names, by its address or by the name that it has in `unit`.
    pub(super) fn role_called(&self, unit: UnitId, link: &Link) -> Option<&'g Role> {
        let Target::External(written) = &link.target else {
            return self.declared(unit, link);
        };
        let name = written.rsplit('/').next()?;
        let has_name = |role: &&Role| {
            let mut names = role.name.cases.iter().filter_map(|case| case.value()?.as_deref());
            role.resource.unit == unit && names.any(|known| known == name)
        };
        self.graph.access().roles.iter().find(has_name)
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
                    permits.may(&when, unresolved.reason(), case.span);
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
                    permits.may(&when, unresolved.reason(), case.span);
                    continue;
                }
                State::Set(document) | State::Default(document) => document,
            };
            self.ask_document(permits, &when, unit, (document, case.span), asked);
        }
    }

    fn ask_document(
        &self,
        permits: &mut Permits,
        when: &Condition,
        unit: UnitId,
        (document, span): (&PolicyDocument, Span),
        asked: Asked<'_>,
    ) {
        if let Some(reason) = &document.opaque {
            permits.may(when, reason, span);
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

    /// Whether `statement` permits what is asked. What its conditions say is taken to hold.
    fn answer(&self, statement: &Statement, unit: UnitId, asked: Asked<'_>) -> Match {
        let negated = statement.negates;
        let allows = any_case(&statement.effect, |effect| Match::of(*effect == Effect::Allow));
        let actions = any_case(&statement.actions, |actions| {
            Match::of(actions.iter().any(|action| matches(action, asked.action))).not_if(negated.actions)
        });
        let who = match asked.who {
            Who::Role => Match::Yes,
            Who::Service(service) => any_case(&statement.principals, |all| {
                of_service(all, service).not_if(negated.principals)
            }),
            Who::Anybody => any_case(&statement.principals, |all| of_anybody(all).not_if(negated.principals)),
        };
        let is_known = Match::of(statement.conditions.is_ok()).or(Match::Maybe);
        allows
            .and(actions)
            .and(who)
            .and(self.names(statement, unit, asked))
            .and(is_known)
    }

    /// Whether the queue is among what `statement` is about.
    fn names(&self, statement: &Statement, unit: UnitId, asked: Asked<'_>) -> Match {
        let Some(queue) = asked.queue else {
            return Match::Yes;
        };
        if statement.resources.is_empty() {
            return Match::Maybe;
        }
        let negated = statement.negates.resources;
        let is_queue = |resource| any_case(resource, |link| self.is_queue(unit, link, queue).not_if(negated));
        let mut each = statement.resources.iter().map(is_queue);
        if negated {
            each.fold(Match::Yes, Match::and)
        } else {
            each.try_fold(Match::No, |all, one| (all != Match::Yes).then(|| all.or(one)))
                .unwrap_or(Match::Yes)
        }
    }

    fn is_queue(&self, unit: UnitId, link: &Link, queue: &Queue) -> Match {
        let found: Vec<&Queue> = self.graph.queue_candidates(unit, link).collect();
        if found.iter().any(|found| std::ptr::eq(*found, queue)) {
            return Match::Yes;
        }
        match &link.target {
            _ if !found.is_empty() => Match::No,
            Target::External(written) if &**written == "*" => Match::Yes,
            Target::External(written) => named(written, link, queue),
            // Something that is no queue, or that the graph does not hold.
            Target::Resource(_) | Target::Elsewhere { .. } | Target::Dangling(_) => Match::Maybe,
        }
    }
}

/// Whether the ARN or pattern in `written` fits `queue`.
fn named(written: &str, link: &Link, queue: &Queue) -> Match {
    let is_other = |service: &str| !service.contains('$') && !matches(service, "sqs");
    if link.service().is_some_and(is_other) {
        return Match::No;
    }
    let last = written.rsplit(':').next().unwrap_or_default();
    let mut names = queue.name.cases.iter().map(|case| case.value());
    let fits = |name: Option<&Option<String>>| matches!(name, Some(Some(name)) if matches(last, name));
    if last == "*" || names.clone().any(fits) {
        return Match::Yes;
    }
    let is_short = written.split(':').count() < 6;
    // AWS or the tool chooses a name that is not written: a pattern may fit it.
    let may_fit = |name: Option<&Option<String>>| match name {
        None => true,
        Some(None) => last.contains(['*', '?']),
        Some(Some(_)) => false,
    };
    if is_short || last.contains("${") || names.any(may_fit) {
        Match::Maybe
    } else {
        Match::No
    }
}

fn key(resource: &Resource) -> Key {
    (resource.unit, resource.address.clone())
}

fn unknown_policy(written: &str) -> Reason {
    Cause::Elsewhere.because(format!("the policy `{written}` is not here"))
}
