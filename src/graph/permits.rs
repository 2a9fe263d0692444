//! Evaluates whether policies permit an action, as IAM does, within the limits of the files.
//!
//! Parts that may permit it make the result unresolved: an unresolved part, a policy that is not among the files.
//! Conditions of a statement that allows are assumed to hold, except one that names other sources than the sender. A
//! statement that denies takes precedence if it certainly applies: it has no condition, and all its parts are known.
//! Permission boundaries, session policies and policies of
//! an organization are not evaluated: they only take permissions away.

mod gather;
mod managed;
mod matching;
mod statements;

use super::access::{self, Grant, ManagedPolicy, PolicyDocument, QueuePolicy, Role, RolePolicy};
use super::{Attribute, Cause, Graph, Link, Queue, Reason, Resource, ResourceKey, State, Target, UnitId};
use conditions::Condition;
use managed::actions_of;
pub use matching::matches;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::cell::RefCell;
use std::rc::Rc;
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
    /// Condition under which a statement certainly denies it.
    pub denied: Condition,
    /// Statement that denies the request, certainly or possibly.
    pub denial: Option<Span>,
    /// Conditions of statements that would permit it otherwise, and that never hold.
    pub mismatches: Vec<Mismatch>,
}

/// A condition on the source of messages that never holds for a sender.
#[derive(Debug, Clone)]
pub struct Mismatch {
    /// Span of its first value.
    pub span: Span,
    /// Operator as written.
    pub operator: String,
    /// Reason.
    pub kind: MismatchKind,
}

/// Reasons why a condition never holds for a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MismatchKind {
    /// A queue, which is no source of messages.
    Queue,
    /// A resource of another service.
    OtherService,
    /// Wildcards that are compared literally.
    LiteralWildcard,
    /// The ARN of a rule without the name of its bus.
    BusMissing,
}

/// Resource of a request.
#[derive(Debug, Clone, Copy)]
pub enum On<'g> {
    /// A queue.
    Queue(&'g Queue),
    /// A KMS key.
    Key(&'g access::Key),
}

/// A request that statements are evaluated for.
#[derive(Clone, Copy)]
struct Request<'a> {
    who: RequestPrincipal<'a>,
    action: &'a str,
    /// Resource; `None` for any queue and any key.
    on: Option<On<'a>>,
}

/// Key of a condition that names the resource on whose behalf a service sends.
const SOURCE: &str = "aws:SourceArn";

/// Principal of a request.
#[derive(Clone, Copy)]
enum RequestPrincipal<'a> {
    /// A service, in a policy with principals, and the resource on whose behalf it sends, if that is declared.
    Service(&'a str, Option<&'a Resource>),
    /// The role to which the policy belongs.
    Role,
    /// A role, in a policy with principals that names it or everybody.
    NamedRole,
    /// The account, to which a policy with principals leaves the decision about its roles.
    Account,
}

impl Permits {
    /// Creates a result that permits nothing.
    pub fn none() -> Self {
        Permits {
            when: Condition::never(),
            possible: Vec::new(),
            evaluated: Vec::new(),
            denied: Condition::never(),
            denial: None,
            mismatches: Vec::new(),
        }
    }

    fn add_possible(&mut self, when: &Condition, reason: &Reason, span: Span) {
        if when.is_possible() {
            self.possible.push((when.clone(), reason.clone(), span));
        }
    }

    /// Returns the permissions that this or `other` gives.
    fn or(mut self, other: Permits) -> Permits {
        self.when = self.when.or(&other.when);
        self.possible.extend(other.possible);
        self.mismatches.extend(other.mismatches);
        self.with_denials(other.evaluated, &other.denied, other.denial)
    }

    /// Returns the permissions that this and `other` give together, where both have to permit the request.
    fn and(mut self, other: Permits) -> Permits {
        let may = |permits: &Permits| {
            let open = permits.possible.iter();
            open.fold(permits.when.clone(), |all, (when, ..)| all.or(when))
        };
        let (here, there) = (may(&self), may(&other));
        let when = self.when.and(&other.when);
        let possible = std::mem::take(&mut self.possible);
        for (open, rest) in [(&possible, &there), (&other.possible, &here)] {
            for (when, reason, span) in open {
                self.add_possible(&when.and(rest), reason, *span);
            }
        }
        self.when = when;
        self.with_denials(other.evaluated, &other.denied, other.denial)
    }

    fn with_denials(mut self, evaluated: Vec<Span>, denied: &Condition, denial: Option<Span>) -> Permits {
        self.evaluated.extend(evaluated);
        self.denied = self.denied.or(denied);
        self.denial = self.denial.or(denial);
        self
    }

    /// Lets denials take precedence.
    fn settled(mut self) -> Permits {
        if self.denied.is_possible() {
            let rest = self.denied.not();
            self.when = self.when.and(&rest);
            for (when, ..) in &mut self.possible {
                *when = when.and(&rest);
            }
            self.possible.retain(|(when, ..)| when.is_possible());
        }
        self
    }

    /// Treats denials of a policy that may not apply as possible ones.
    fn without_certain_denials(&mut self) {
        self.denied = Condition::never();
    }
}

/// Policies of a project by the queue, role or key that they apply to. Created once per rule.
#[derive(Debug)]
pub struct Policies<'g> {
    graph: &'g Graph,
    /// Policies by queue, with their conditions.
    queues: FxHashMap<ResourceKey, Vec<(Condition, &'g QueuePolicy)>>,
    /// Policies of unresolved queues, by the deployment that contains them.
    unresolved_queues: FxHashMap<&'g str, Vec<(Reason, Span)>>,
    /// Grants by role, with their conditions.
    roles: FxHashMap<ResourceKey, Vec<(Condition, &'g RolePolicy)>>,
    /// Grants to unresolved roles.
    unresolved_roles: Vec<UnresolvedGrant<'g>>,
    /// Grants to physical names that no declared role is known to have.
    unmatched_roles: Vec<UnresolvedGrant<'g>>,
    /// Statements of long documents, by unit and document.
    by_queue: RefCell<FxHashMap<(UnitId, *const PolicyDocument), ByQueue>>,
    /// Cached results of [`Policies::send`].
    sends: RefCell<FxHashMap<(ResourceKey, String, Option<ResourceKey>), Rc<Permits>>>,
    /// Roles by unit and physical name.
    role_names: FxHashMap<(UnitId, &'g str), &'g Role>,
    /// Cached results of [`Policies::unresolved_grant`].
    unresolved_actions: RefCell<FxHashMap<(String, bool), Option<(Reason, Span)>>>,
    /// Roles that are passed to modules or nested stacks whose files are not available.
    passed_roles: FxHashSet<ResourceKey>,
    managed: FxHashMap<ResourceKey, &'g ManagedPolicy>,
    keys: FxHashMap<ResourceKey, &'g access::Key>,
    aliases: FxHashMap<ResourceKey, &'g access::KeyAlias>,
    /// Aliases by unit and name.
    alias_names: FxHashMap<ResourceKey, &'g access::KeyAlias>,
}

/// A grant to an unresolved role.
#[derive(Debug)]
struct UnresolvedGrant<'g> {
    granted: &'g RolePolicy,
    reason: Reason,
    span: Span,
}

/// Indexes of statements by the queue that they concern; `None` for any queue.
type ByQueue = FxHashMap<Option<ResourceKey>, Vec<usize>>;

impl<'g> Policies<'g> {
    /// Evaluates whether a policy of `queue` lets `service` send to it on behalf of `source`. Thousands of topics may
    /// send to one queue, so the result is cached, and the source matters only to policies that name few.
    pub fn send(&self, queue: &'g Queue, service: &str, source: Option<&Resource>) -> Rc<Permits> {
        let source = source.filter(|source| source.uncertain.is_none() && self.names_few_sources(queue));
        let at = (queue.resource.key(), service.to_owned(), source.map(Resource::key));
        if let Some(known) = self.sends.borrow().get(&at) {
            return known.clone();
        }
        let permits = Rc::new(self.evaluate_send(queue, service, source));
        self.sends.borrow_mut().insert(at, permits.clone());
        permits
    }

    /// Returns `true` if one of the policies of `queue` names sources, and all that may apply to it are few and short.
    fn names_few_sources(&self, queue: &Queue) -> bool {
        let deployment = self.graph.deployment(queue.resource.unit);
        let unresolved = self.unresolved_queues.get(deployment).map_or(0, Vec::len);
        let documents = self.on(queue).iter().flat_map(|(_, policy)| &policy.document.cases);
        let statements = documents
            .filter_map(|case| case.value())
            .flat_map(|one| &one.statements);
        let statements: Vec<_> = statements.take(statements::MANY + 1).collect();
        let conditions = || statements.iter().flat_map(|one| one.conditions.iter().flatten());
        let lengths = conditions().map(|condition| condition.values.len());
        let longest = lengths
            .chain([statements.len(), self.on(queue).len(), unresolved])
            .max();
        longest.is_some_and(|longest| longest <= statements::MANY)
            && conditions().any(|condition| condition.key.eq_ignore_ascii_case(SOURCE))
    }

    fn evaluate_send(&self, queue: &'g Queue, service: &str, source: Option<&Resource>) -> Permits {
        let mut permits = Permits::none();
        let deployment = self.graph.deployment(queue.resource.unit);
        for (reason, span) in self.unresolved_queues.get(deployment).into_iter().flatten() {
            permits.add_possible(&Condition::always(), reason, *span);
        }
        if let Some(reason) = self.graph.reason_of_missing_code(queue) {
            permits.add_possible(&self.has_own_policy(queue).not(), &reason, queue.resource.header);
        }
        let request = Request {
            who: RequestPrincipal::Service(service, source),
            action: "sqs:SendMessage",
            on: Some(On::Queue(queue)),
        };
        permits.or(self.of_queue(queue, request)).settled()
    }

    /// Returns the condition under which its own unit gives `queue` a policy. It can have no other one then: a queue has
    /// one policy, and a second would replace it.
    fn has_own_policy(&self, queue: &Queue) -> Condition {
        let unit = queue.resource.unit;
        let own = |policy: &QueuePolicy| policy.resource.unit == unit && policy.resource.uncertain.is_none();
        let own = self.on(queue).iter().filter(|(_, policy)| own(policy));
        own.fold(Condition::never(), |all, (when, _)| all.or(when))
    }

    /// Evaluates the policies of `queue`.
    fn of_queue(&self, queue: &Queue, request: Request<'_>) -> Permits {
        let mut all = Permits::none();
        for (when, policy) in self.on(queue) {
            let mut permits = Permits::none();
            permits.evaluated.push(policy.resource.header);
            self.evaluate(&mut permits, when, policy.resource.unit, &policy.document, request);
            let is_certain = |link: &Link| !matches!(link.target, Target::External(_));
            if !policy.queue.known().is_some_and(is_certain) || policy.resource.uncertain.is_some() {
                permits.without_certain_denials();
            }
            all = all.or(permits);
        }
        all
    }

    /// Evaluates whether the policy of `key` lets `service` perform `action` with it.
    pub fn use_of_key(&self, key: &'g access::Key, service: &str, action: &str) -> Permits {
        let request = Request {
            who: RequestPrincipal::Service(service, None),
            action,
            on: Some(On::Key(key)),
        };
        self.of_key(key, request).settled()
    }

    /// Evaluates the policy of `key`. KMS's default policy leaves access to the account's policies.
    fn of_key(&self, key: &access::Key, request: Request<'_>) -> Permits {
        let mut permits = Permits::none();
        for case in &key.policy.cases {
            match &case.state {
                State::Unresolved(unresolved) => permits.add_possible(&case.when, unresolved.reason(), case.span),
                State::Set(Some(document)) | State::Default(Some(document)) => {
                    let unit = key.resource.unit;
                    self.evaluate_document(&mut permits, &case.when, unit, (document, case.span), request);
                }
                State::Set(None) | State::Default(None) => {
                    if matches!(request.who, RequestPrincipal::Account) {
                        permits.when = permits.when.or(&case.when);
                    }
                }
            }
        }
        permits
    }

    /// Returns the policies of `queue`.
    pub fn on(&self, queue: &Queue) -> &[(Condition, &'g QueuePolicy)] {
        self.queues.get(&queue.resource.key()).map_or(&[], Vec::as_slice)
    }

    /// Evaluates whether the role at `link`, written in `unit`, may perform `action` on a queue or with a key. Returns
    /// `None` if the role is not declared.
    pub fn role(&self, unit: UnitId, link: &Link, action: &str, on: On<'g>) -> Option<Permits> {
        self.role_by(unit, link, action, on, &|_| true)
    }

    /// Like [`Policies::role`], with only those policies of the role that `counts` accepts.
    pub fn role_by(
        &self,
        unit: UnitId,
        link: &Link,
        action: &str,
        on: On<'g>,
        counts: &dyn Fn(&RolePolicy) -> bool,
    ) -> Option<Permits> {
        let declared = self.declared(unit, link)?;
        let own = self.identity(declared, action, on, counts);
        let request = |who| Request {
            who,
            action,
            on: Some(on),
        };
        let permits = match on {
            On::Queue(queue) => {
                let role = &declared.resource;
                let is_foreign = |(here, there): (&Arc<str>, &Arc<str>)| here != there;
                if role
                    .account
                    .as_ref()
                    .zip(queue.resource.account.as_ref())
                    .is_some_and(is_foreign)
                {
                    // Another account has to permit it, to the role or to its whole account.
                    let named = self.of_queue(queue, request(RequestPrincipal::NamedRole));
                    own.and(named.or(self.of_queue(queue, request(RequestPrincipal::Account))))
                } else {
                    own.or(self.of_queue(queue, request(RequestPrincipal::NamedRole)))
                }
            }
            // Policies of roles apply only if the key's policy leaves the decision to the account; grants always do.
            On::Key(key) => {
                let left = self.of_key(key, request(RequestPrincipal::Account));
                let mut named = self.of_key(key, request(RequestPrincipal::NamedRole));
                for (when, _) in self
                    .granted(&declared.resource)
                    .iter()
                    .filter(|(_, all)| all.is_of_key())
                {
                    named.when = named.when.or(when);
                }
                own.and(left).or(named)
            }
        };
        Some(permits.settled())
    }

    /// Like [`Policies::role`], but `service` may also perform the action itself, if a policy of the queue or the key
    /// lets it.
    pub fn role_or_service(
        &self,
        unit: UnitId,
        link: &Link,
        service: Option<&str>,
        action: &str,
        on: On<'g>,
    ) -> Option<Permits> {
        let role = self.role(unit, link, action, on)?;
        Some(match (service, on) {
            (None, _) => role,
            (Some(service), On::Queue(queue)) => role.or((*self.send(queue, service, None)).clone()),
            (Some(service), On::Key(key)) => role.or(self.use_of_key(key, service, action)),
        })
    }

    /// Evaluates the policies of `role`.
    fn identity(&self, declared: &Role, action: &str, on: On<'_>, counts: &dyn Fn(&RolePolicy) -> bool) -> Permits {
        let role = &declared.resource;
        let mut all = Permits::none();
        let is_named = declared.name.unresolved_reason().is_none();
        if let Some((reason, span)) = self.unresolved_grant(action, !is_named) {
            all.add_possible(&Condition::always(), &reason, span);
        }
        if self.passed_roles.contains(&role.key()) {
            let reason = "the role is passed to code that is not read and may grant it more";
            all.add_possible(&Condition::always(), &Cause::MissingModule.because(reason), role.header);
        }
        let request = Request {
            who: RequestPrincipal::Role,
            action,
            on: Some(on),
        };
        for (when, granted) in self.granted(role).iter().filter(|(_, granted)| counts(granted)) {
            let mut permits = Permits::none();
            permits.evaluated.push(granted.span);
            self.evaluate_grant(&mut permits, when, granted, request);
            // A role of the same name may be another one.
            let is_certain = |link: &Link| !matches!(link.target, Target::External(_));
            if !granted.role.known().is_some_and(is_certain) || granted.resource.uncertain.is_some() {
                permits.without_certain_denials();
            }
            all = all.or(permits);
        }
        all
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
            on: None,
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

    /// Returns the grants to an unresolved role, or to a name that no declared role is known to have, without other roles.
    /// They concern every role of the project.
    pub(super) fn unresolved_grants(&self) -> impl Iterator<Item = RolePolicy> {
        let open = self.unresolved_roles.iter().chain(&self.unmatched_roles);
        open.map(|open| {
            let mut granted = open.granted.clone();
            let cases = granted.role.cases.into_iter();
            granted.role.cases = cases.filter(|case| case.span == open.span).collect();
            granted
        })
    }

    /// Returns the role at `link` if the project declares it.
    pub fn declared_role(&self, unit: UnitId, link: &Link) -> Option<&'g Resource> {
        self.declared(unit, link).map(|role| &role.resource)
    }

    fn declared(&self, unit: UnitId, link: &Link) -> Option<&'g Role> {
        if let Target::External(written) = &link.target {
            let is_role = !written.starts_with("arn:") || written.contains(":role/");
            let named = self
                .role_names
                .get(&(unit, written.rsplit('/').next()?))
                .copied()
                .filter(|_| is_role);
            return named.filter(|role| {
                let accounts = role.resource.account.as_deref().zip(link.account());
                accounts.is_none_or(|(own, written)| own == written)
            });
        }
        let roles = &self.graph.access().roles;
        let (unit, address) = self.graph.address_key(unit, link)?;
        let at = roles.binary_search_by(|role| (role.resource.unit, &role.resource.address).cmp(&(unit, &address)));
        at.ok().and_then(|at| roles.get(at))
    }

    fn evaluate_grant(&self, permits: &mut Permits, when: &Condition, granted: &RolePolicy, request: Request<'_>) {
        match &granted.grant {
            Grant::Document(document) => self.evaluate(permits, when, granted.resource.unit, document, request),
            Grant::Managed(link) => self.evaluate_managed(permits, when, granted, link, request),
            // Its operations are not evaluated.
            Grant::Key if request.action.starts_with("kms:") => permits.when = permits.when.or(when),
            Grant::Key => {}
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
    pub fn granted(&self, role: &Resource) -> &[(Condition, &'g RolePolicy)] {
        self.roles.get(&role.key()).map_or(&[], Vec::as_slice)
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
}

fn unknown_policy(written: &str) -> Reason {
    Cause::Elsewhere.because(format!("the policy `{written}` is not declared here"))
}
