//! Evaluates whether policies permit an action, as IAM does, within the limits of the files.
//!
//! Parts that may permit it make the result unresolved: an unresolved part, a condition, a policy that is not among the
//! files. Denials are not evaluated: an action that is permitted and also denied counts as permitted, and is not
//! reported.

mod gather;
mod managed;
mod matching;

use super::access::{self, Effect, Grant, ManagedPolicy, PolicyDocument, QueuePolicy, Role, RolePolicy, Statement};
use super::{Attribute, Cause, Graph, Link, Queue, Reason, Resource, State, Target, UnitId};
use conditions::Condition;
use managed::actions_of;
pub use matching::matches;
use matching::{Match, any_case, of_anybody, of_service};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::cell::RefCell;
use std::sync::Arc;

/// Condition under which an action is permitted, and parts that may permit it.
#[derive(Debug, Clone)]
pub struct Permits {
    /// Condition under which it is permitted.
    pub when: Condition,
    /// Parts that may permit it, each with its condition, the reason and the span.
    pub possible: Vec<(Condition, Reason, Span)>,
    /// Evaluated policies.
    pub evaluated: Vec<Span>,
    /// Statement that denies or may deny the request. It is not evaluated.
    pub denied: Option<Span>,
}

/// A request that statements are evaluated for.
#[derive(Clone, Copy)]
struct Request<'a> {
    who: RequestPrincipal<'a>,
    action: &'a str,
    /// Queue; `None` for any queue and any key.
    queue: Option<&'a Queue>,
}

/// Principal of a request.
#[derive(Clone, Copy)]
enum RequestPrincipal<'a> {
    /// A service, in a policy with principals.
    Service(&'a str),
    /// The role to which the policy belongs.
    Role,
    /// Any principal more specific than the account.
    Anybody,
}

impl Permits {
    /// Creates a result that permits nothing.
    pub fn none() -> Self {
        Permits {
            when: Condition::never(),
            possible: Vec::new(),
            evaluated: Vec::new(),
            denied: None,
        }
    }

    fn add_possible(&mut self, when: &Condition, reason: &Reason, span: Span) {
        if when.is_possible() {
            self.possible.push((when.clone(), reason.clone(), span));
        }
    }
}

/// Policies of a project by the queue, role or key that they apply to. Created once per rule.
#[derive(Debug)]
pub struct Policies<'g> {
    graph: &'g Graph,
    /// Policies by queue, with their conditions.
    queues: FxHashMap<Key, Vec<(Condition, &'g QueuePolicy)>>,
    /// Policies of unresolved queues, by the deployment that contains them.
    unresolved_queues: FxHashMap<&'g str, Vec<(Reason, Span)>>,
    /// Grants by role, with their conditions.
    roles: FxHashMap<Key, Vec<(Condition, &'g RolePolicy)>>,
    /// Grants to unresolved roles.
    unresolved_roles: Vec<UnresolvedGrant<'g>>,
    /// Grants to physical names that no declared role is known to have.
    unmatched_roles: Vec<UnresolvedGrant<'g>>,
    /// Cached results of [`Policies::unresolved_grant`].
    unresolved_actions: RefCell<FxHashMap<(String, bool), Option<(Reason, Span)>>>,
    /// Roles that are passed to modules or nested stacks whose files are not available.
    handed_roles: FxHashSet<Key>,
    managed: FxHashMap<Key, &'g ManagedPolicy>,
    keys: FxHashMap<Key, &'g access::Key>,
    aliases: FxHashMap<Key, &'g access::KeyAlias>,
    /// Aliases by unit and name.
    alias_names: FxHashMap<Key, &'g access::KeyAlias>,
}

/// A grant to an unresolved role.
#[derive(Debug)]
struct UnresolvedGrant<'g> {
    granted: &'g RolePolicy,
    reason: Reason,
    span: Span,
}

type Key = (UnitId, Arc<str>);

impl<'g> Policies<'g> {
    /// Evaluates whether a policy of `queue` lets `service` send to it.
    pub fn send(&self, queue: &'g Queue, service: &str) -> Permits {
        let mut permits = Permits::none();
        let deployment = self.graph.deployment(queue.resource.unit);
        for (reason, span) in self.unresolved_queues.get(deployment).into_iter().flatten() {
            permits.add_possible(&Condition::always(), reason, *span);
        }
        if let Some(reason) = self.graph.reason_of_missing_code(queue) {
            permits.add_possible(&Condition::always(), &reason, queue.resource.header);
        }
        let request = Request {
            who: RequestPrincipal::Service(service),
            action: "sqs:SendMessage",
            queue: Some(queue),
        };
        for (when, policy) in self.queues.get(&key(&queue.resource)).into_iter().flatten() {
            permits.evaluated.push(policy.resource.header);
            self.evaluate(&mut permits, when, policy.resource.unit, &policy.document, request);
        }
        permits
    }

    /// Evaluates whether the policy of `key`, declared in the project, permits `action` to a role without the account's
    /// own policies.
    pub fn of_key(&self, key: &'g access::Key, action: &str) -> Permits {
        let mut permits = Permits::none();
        let request = Request {
            who: RequestPrincipal::Anybody,
            action,
            queue: None,
        };
        for case in &key.policy.cases {
            match &case.state {
                State::Unresolved(unresolved) => permits.add_possible(&case.when, unresolved.reason(), case.span),
                State::Set(Some(document)) | State::Default(Some(document)) => {
                    self.evaluate_document(
                        &mut permits,
                        &case.when,
                        key.resource.unit,
                        (document, case.span),
                        request,
                    );
                }
                // KMS's default policy leaves access to the account's policies.
                State::Set(None) | State::Default(None) => {}
            }
        }
        permits
    }

    /// Returns the policies of `queue`.
    pub fn on(&self, queue: &Queue) -> &[(Condition, &'g QueuePolicy)] {
        self.queues.get(&key(&queue.resource)).map_or(&[], Vec::as_slice)
    }

    /// Evaluates whether the role at `link`, written in `unit`, may perform `action` on `queue` or, without a queue, on
    /// any key. Returns `None` if the role is not declared.
    pub fn role(&self, unit: UnitId, link: &Link, action: &str, queue: Option<&'g Queue>) -> Option<Permits> {
        let declared = self.declared(unit, link)?;
        let role = &declared.resource;
        let mut permits = Permits::none();
        let is_named = declared.name.unresolved_reason().is_none();
        if let Some((reason, span)) = self.unresolved_grant(action, !is_named) {
            permits.add_possible(&Condition::always(), &reason, span);
        }
        if self.handed_roles.contains(&key(role)) {
            let reason = "the role is passed to code that is not read and may grant it more";
            permits.add_possible(&Condition::always(), &Cause::MissingModule.because(reason), role.header);
        }
        let request = Request {
            who: RequestPrincipal::Role,
            action,
            queue,
        };
        for (when, granted) in self.roles.get(&key(role)).into_iter().flatten() {
            permits.evaluated.push(granted.span);
            self.evaluate_grant(&mut permits, when, granted, request);
        }
        // The queue's own policy may name the role.
        for (when, policy) in queue.into_iter().flat_map(|queue| self.on(queue)) {
            let request = Request {
                who: RequestPrincipal::Anybody,
                ..request
            };
            self.evaluate(&mut permits, when, policy.resource.unit, &policy.document, request);
        }
        Some(permits)
    }

    /// Returns the reason why a policy with an unresolved role may grant `action`. With `is_unnamed`, policies whose
    /// role name matches no declared role count as well.
    fn unresolved_grant(&self, action: &str, is_unnamed: bool) -> Option<(Reason, Span)> {
        let at = (action.to_owned(), is_unnamed);
        if let Some(known) = self.unresolved_actions.borrow().get(&at) {
            return known.clone();
        }
        let request = Request {
            who: RequestPrincipal::Role,
            action,
            queue: None,
        };
        let may_permit = |open: &&UnresolvedGrant<'g>| {
            let mut permits = Permits::none();
            self.evaluate_grant(&mut permits, &open.granted.when, open.granted, request);
            permits.when.is_possible() || !permits.possible.is_empty()
        };
        let unmatched = self.unmatched_roles.iter().filter(|_| is_unnamed);
        let open = self.unresolved_roles.iter().chain(unmatched).find(may_permit);
        let found = open.map(|open| (open.reason.clone(), open.span));
        self.unresolved_actions.borrow_mut().insert(at, found.clone());
        found
    }

    /// Returns `true` if there is a grant to an unresolved role, or to a name that no declared role is known to have.
    /// Such a grant concerns every role of the project.
    pub(super) fn has_unresolved_grants(&self) -> bool {
        !(self.unresolved_roles.is_empty() && self.unmatched_roles.is_empty())
    }

    /// Returns the role at `link` if the project declares it.
    pub fn declared_role(&self, unit: UnitId, link: &Link) -> Option<&'g Resource> {
        self.declared(unit, link).map(|role| &role.resource)
    }

    fn declared(&self, unit: UnitId, link: &Link) -> Option<&'g Role> {
        let roles = &self.graph.access().roles;
        let (unit, address) = self.graph.address_key(unit, link)?;
        let at = roles.binary_search_by(|role| (role.resource.unit, &role.resource.address).cmp(&(unit, &address)));
        at.ok().and_then(|at| roles.get(at))
    }

    fn evaluate_grant(&self, permits: &mut Permits, when: &Condition, granted: &RolePolicy, request: Request<'_>) {
        match &granted.grant {
            Grant::Document(document) => self.evaluate(permits, when, granted.resource.unit, document, request),
            Grant::Managed(link) => self.evaluate_managed(permits, when, granted, link, request),
        }
    }

    /// Returns the declared role that `link` refers to by its address or, within `unit`, by its name.
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

    /// Returns the grants to `role`, each with its condition.
    pub(super) fn granted(&self, role: &Resource) -> &[(Condition, &'g RolePolicy)] {
        self.roles.get(&key(role)).map_or(&[], Vec::as_slice)
    }

    /// Returns the managed policy that `link`, written in `unit`, refers to, if the project declares it.
    pub(super) fn managed(&self, unit: UnitId, link: &Link) -> Option<&'g ManagedPolicy> {
        let Target::Resource(address) = &link.target else {
            return None;
        };
        self.managed.get(&(unit, address.clone())).copied()
    }

    fn evaluate_managed(
        &self,
        permits: &mut Permits,
        when: &Condition,
        granted: &RolePolicy,
        link: &Attribute<Link>,
        request: Request<'_>,
    ) {
        for case in &link.cases {
            let when = when.and(&case.when);
            let named = match &case.state {
                State::Unresolved(unresolved) => {
                    permits.add_possible(&when, unresolved.reason(), case.span);
                    continue;
                }
                State::Set(link) | State::Default(link) => link,
            };
            match &named.target {
                Target::Resource(address) => match self.managed.get(&(granted.resource.unit, address.clone())) {
                    Some(policy) => self.evaluate(permits, &when, granted.resource.unit, &policy.document, request),
                    None => permits.add_possible(&when, &unknown_policy(address), case.span),
                },
                Target::External(arn) => match actions_of(arn) {
                    Some(actions) if actions.iter().any(|action| matches(action, request.action)) => {
                        permits.when = permits.when.or(&when);
                    }
                    Some(_) => {}
                    None => permits.add_possible(&when, &unknown_policy(arn), case.span),
                },
                Target::OtherUnit { address, .. } | Target::Dangling(address) => {
                    permits.add_possible(&when, &unknown_policy(address), case.span);
                }
            }
        }
    }

    fn evaluate(
        &self,
        permits: &mut Permits,
        when: &Condition,
        unit: UnitId,
        document: &Attribute<PolicyDocument>,
        request: Request<'_>,
    ) {
        for case in &document.cases {
            let when = when.and(&case.when);
            let document = match &case.state {
                State::Unresolved(unresolved) => {
                    permits.add_possible(&when, unresolved.reason(), case.span);
                    continue;
                }
                State::Set(document) | State::Default(document) => document,
            };
            self.evaluate_document(permits, &when, unit, (document, case.span), request);
        }
    }

    fn evaluate_document(
        &self,
        permits: &mut Permits,
        when: &Condition,
        unit: UnitId,
        (document, span): (&PolicyDocument, Span),
        request: Request<'_>,
    ) {
        if let Some(reason) = &document.opaque {
            permits.add_possible(when, reason, span);
        }
        for statement in &document.statements {
            let when = when.and(&statement.when);
            if self.answer(statement, unit, request, Effect::Deny) != Match::No {
                permits.denied.get_or_insert(statement.span);
            }
            match self.answer(statement, unit, request, Effect::Allow) {
                Match::Yes => permits.when = permits.when.or(&when),
                Match::Maybe => {
                    let reason = Cause::Derived.because("a statement of a policy may permit it");
                    permits.add_possible(&when, &reason, statement.span);
                }
                Match::No => {}
            }
        }
    }

    /// Returns whether `statement` has `effect` on the request, on the assumption that its conditions hold.
    fn answer(&self, statement: &Statement, unit: UnitId, request: Request<'_>, effect: Effect) -> Match {
        let negated = statement.negates;
        let has_effect = any_case(&statement.effect, |written| Match::of(*written == effect));
        let actions = any_case(&statement.actions, |actions| {
            Match::of(actions.iter().any(|action| matches(action, request.action))).not_if(negated.actions)
        });
        let who = match request.who {
            RequestPrincipal::Role => Match::Yes,
            RequestPrincipal::Service(service) => any_case(&statement.principals, |all| {
                of_service(all, service).not_if(negated.principals)
            }),
            RequestPrincipal::Anybody => {
                any_case(&statement.principals, |all| of_anybody(all).not_if(negated.principals))
            }
        };
        let is_known = Match::of(statement.conditions.is_ok()).or(Match::Maybe);
        has_effect
            .and(actions)
            .and(who)
            .and(self.names(statement, unit, request))
            .and(is_known)
    }

    /// Returns whether the resources of `statement` include the queue.
    fn names(&self, statement: &Statement, unit: UnitId, request: Request<'_>) -> Match {
        let Some(queue) = request.queue else {
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
            // A resource that is not a queue, or that the graph does not include.
            Target::Resource(_) | Target::OtherUnit { .. } | Target::Dangling(_) => Match::Maybe,
        }
    }
}

/// Returns whether the ARN or pattern in `written` matches `queue`.
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
    // An unwritten name is chosen by AWS or the tool, so a pattern may match it.
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
    Cause::Elsewhere.because(format!("the policy `{written}` is not declared here"))
}
