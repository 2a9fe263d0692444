//! Evaluates the statements of a policy document for a request.

use super::matching::{Match, matches, of_account, of_everybody, of_role, of_service, over_cases};
use super::{ByQueue, Mismatch, MismatchKind, On, Permits, Policies, Request, RequestPrincipal, SOURCE};
use crate::graph::access::{self, Effect, PolicyDocument, Principal, Statement, StatementCondition};
use crate::graph::delivery::RuleOnBus;
use crate::graph::{Cause, Link, Queue, Resource, ResourceKey, Target, UnitId};
use conditions::Condition;
use source::Span;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Number of statements from which on they are grouped by their queues.
pub(super) const MANY: usize = 16;

impl Policies<'_> {
    pub(super) fn evaluate_document(
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
        for statement in self.concerning(document, unit, request.on) {
            let when = when.and(&statement.when);
            let denial = self.answer(statement, unit, request, Effect::Deny);
            if denial != Match::No {
                permits.denial.get_or_insert(statement.span);
            }
            if denial == Match::Yes {
                permits.denied = permits.denied.or(&when);
            }
            match self.answer(statement, unit, request, Effect::Allow) {
                Match::Yes => permits.when = permits.when.or(&when),
                Match::Maybe => {
                    let reason = Cause::Derived.because(format!("a statement may allow `{}`", request.action));
                    permits.add_possible(&when, &reason, statement.span);
                }
                Match::No => permits.mismatches.extend(self.mismatch(statement, unit, request)),
            }
        }
    }

    /// Returns the condition because of which `statement`, which otherwise allows the request, never does so.
    fn mismatch(&self, statement: &Statement, unit: UnitId, request: Request<'_>) -> Option<Mismatch> {
        let mut conditions = statement.conditions.iter().flatten();
        let found = conditions.find_map(|one| self.never_holds(one, unit, request.who))?;
        (self.covers(statement, unit, request, Effect::Allow) != Match::No).then_some(found)
    }

    /// Returns the statements of `document` that may concern `on`. A role of thousands of queues may have a statement for
    /// each, so the statements of long documents are grouped by their queues once.
    fn concerning<'d>(&self, document: &'d PolicyDocument, unit: UnitId, on: Option<On<'_>>) -> Vec<&'d Statement> {
        let all = &document.statements;
        let (Some(On::Queue(queue)), MANY..) = (on, all.len()) else {
            return all.iter().collect();
        };
        let mut known = self.by_queue.borrow_mut();
        let by_queue = known
            .entry((unit, std::ptr::from_ref(document)))
            .or_insert_with(|| self.by_queue(all, unit));
        let of = |queue: Option<ResourceKey>| by_queue.get(&queue).map_or(&[][..], Vec::as_slice);
        let mut concerning = [of(None), of(Some(queue.resource.key()))].concat();
        concerning.sort_unstable();
        concerning.into_iter().filter_map(|at| all.get(at)).collect()
    }

    /// Groups the indexes of statements by the queues that their resources are, or may only be; those with other
    /// resources concern any queue.
    fn by_queue(&self, statements: &[Statement], unit: UnitId) -> ByQueue {
        let mut all = ByQueue::default();
        for (at, statement) in statements.iter().enumerate() {
            let mut queues = BTreeSet::new();
            let cases = statement.resources.iter().flat_map(|resource| resource.cases.iter());
            for case in cases {
                let links = case.value().into_iter();
                let before = queues.len();
                queues.extend(
                    links
                        .flat_map(|link| self.graph.queue_candidates(unit, link))
                        .map(|queue| Some(queue.resource.key())),
                );
                if queues.len() == before {
                    queues.insert(None);
                }
            }
            if statement.negates.resources || queues.is_empty() || queues.contains(&None) {
                queues = BTreeSet::from([None]);
            }
            for queue in queues {
                all.entry(queue).or_default().push(at);
            }
        }
        all
    }

    /// Returns whether `statement` has `effect` on the request. A condition is assumed to hold if it allows, and may not
    /// hold if it denies.
    fn answer(&self, statement: &Statement, unit: UnitId, request: Request<'_>, effect: Effect) -> Match {
        let denies = effect == Effect::Deny;
        let is_other = |one: &StatementCondition| {
            self.excludes(one, unit, request.who) || self.never_holds(one, unit, request.who).is_some()
        };
        let conditions = match &statement.conditions {
            Err(_) => Match::Maybe,
            Ok(all) if !denies && all.iter().any(is_other) => Match::No,
            Ok(all) => Match::of(!denies || all.is_empty()).or(Match::Maybe),
        };
        self.covers(statement, unit, request, effect).and(conditions)
    }

    /// Returns whether `statement` has `effect` on the request if its conditions hold.
    fn covers(&self, statement: &Statement, unit: UnitId, request: Request<'_>, effect: Effect) -> Match {
        let negated = statement.negates;
        let denies = effect == Effect::Deny;
        let actions = |actions: &Vec<String>| {
            Match::of(actions.iter().any(|action| matches(action, request.action))).not_if(negated.actions)
        };
        let who = |all: &Vec<Principal>| {
            let named = match request.who {
                RequestPrincipal::Role => return Match::Yes,
                RequestPrincipal::Service(service, _) => of_service(all, service),
                RequestPrincipal::NamedRole | RequestPrincipal::Account if denies => of_everybody(all),
                RequestPrincipal::NamedRole => of_role(all),
                RequestPrincipal::Account => of_account(all),
            };
            named.not_if(negated.principals)
        };
        over_cases(&statement.effect, denies, |written| Match::of(*written == effect))
            .and(over_cases(&statement.actions, denies, actions))
            .and(over_cases(&statement.principals, denies, who))
            .and(self.names(statement, unit, request, denies))
    }

    /// Returns `true` if `condition` holds only for other sources than the one on whose behalf the service sends.
    fn excludes(&self, condition: &StatementCondition, unit: UnitId, who: RequestPrincipal<'_>) -> bool {
        let RequestPrincipal::Service(_, Some(sender)) = who else {
            return false;
        };
        let is_other = |other: &Resource| {
            other.unit == sender.unit && other.address != sender.address && other.uncertain.is_none()
        };
        compares_source(condition)
            && condition.values.iter().all(|value| {
                let named = value.known().and_then(|link| self.graph.source(unit, link));
                named.is_some_and(is_other)
            })
    }

    /// Returns why `condition` never holds if a service sends.
    fn never_holds(&self, condition: &StatementCondition, unit: UnitId, who: RequestPrincipal<'_>) -> Option<Mismatch> {
        let RequestPrincipal::Service(service, sender) = who else {
            return None;
        };
        let first = condition.values.first().filter(|_| compares_source(condition))?;
        let service = service.split('.').next().unwrap_or_default();
        let mut kinds = condition.values.iter().map(|value| {
            let link = value.known()?;
            self.names_other_source(unit, link, service, sender)
        });
        let is_literal = condition.has_only_wildcards && condition.operator.eq_ignore_ascii_case("StringEquals");
        let kind = match kinds.next()? {
            _ if is_literal => MismatchKind::LiteralWildcard,
            Some(kind) if kinds.all(|other| other.is_some()) => kind,
            _ => return None,
        };
        Some(Mismatch {
            span: first.cases.iter().next()?.span,
            operator: condition.operator.clone(),
            kind,
        })
    }

    /// Returns why `link` cannot be the source on whose behalf `service` sends.
    fn names_other_source(
        &self,
        unit: UnitId,
        link: &Link,
        service: &str,
        sender: Option<&Resource>,
    ) -> Option<MismatchKind> {
        if self.graph.queue(unit, link).is_some() {
            return Some(MismatchKind::Queue);
        }
        if let Some(named) = self.graph.source(unit, link) {
            let of = if self.graph.topic(unit, link).is_some() {
                "sns"
            } else if named.kind.to_ascii_lowercase().contains("s3") {
                "s3"
            } else {
                "events"
            };
            return (of != service).then_some(MismatchKind::OtherService);
        }
        match link
            .service()
            .filter(|of| !of.is_empty() && !of.contains(['*', '?', '$']))?
        {
            "sqs" => Some(MismatchKind::Queue),
            "events" if service == "events" => {
                let named = link.written().rsplit(':').next()?;
                let is_plain = !named.contains(['*', '?', '$']) && named.matches('/').count() == 1;
                let rules = &self.graph.deliveries().rules_on_buses;
                let at = sender.map(Resource::key);
                let of_sender = rules.iter().find(|rule| Some(rule.resource.key()) == at);
                let is_custom = of_sender.is_some_and(RuleOnBus::is_on_custom_bus);
                (is_plain && is_custom).then_some(MismatchKind::BusMissing)
            }
            of => (of != service).then_some(MismatchKind::OtherService),
        }
    }

    /// Returns whether the resources of `statement` include the queue or the key. If `denies`, only certain matches
    /// count as such.
    fn names(&self, statement: &Statement, unit: UnitId, request: Request<'_>, denies: bool) -> Match {
        let Some(on) = request.on else {
            return Match::Yes;
        };
        if statement.resources.is_empty() {
            return Match::Maybe;
        }
        let negated = statement.negates.resources;
        let is_it = |link: &Link| match on {
            On::Queue(queue) => self.is_queue(unit, link, queue, denies),
            // In a key's policy, `*` is the key, and nothing else can be meant.
            On::Key(_) if !matches!(request.who, RequestPrincipal::Role) => Match::Yes,
            On::Key(key) => self.is_key(unit, link, key, denies),
        };
        let is_it = |resource| over_cases(resource, denies, |link| is_it(link).not_if(negated));
        let mut each = statement.resources.iter().map(is_it);
        if negated {
            each.fold(Match::Yes, Match::and)
        } else {
            each.try_fold(Match::No, |all, one| (all != Match::Yes).then(|| all.or(one)))
                .unwrap_or(Match::Yes)
        }
    }

    fn is_queue(&self, unit: UnitId, link: &Link, queue: &Queue, denies: bool) -> Match {
        let found: Vec<&Queue> = self.graph.queue_candidates(unit, link).collect();
        if found.iter().any(|found| std::ptr::eq(*found, queue)) {
            let is_certain = found.len() == 1 && !matches!(link.target, Target::External(_));
            return Match::of(is_certain || !denies).or(Match::Maybe);
        }
        match &link.target {
            _ if !found.is_empty() => Match::No,
            Target::External(written) if &**written == "*" => Match::Yes,
            Target::External(written) => named(written, link, queue).and(in_scope(written, &queue.resource, denies)),
            // A resource that is not a queue, or that the graph does not include.
            Target::Resource(_) | Target::OtherUnit { .. } | Target::Dangling(_) => Match::Maybe,
        }
    }

    /// Returns whether `link` is an ARN of `key`. The ARN of an alias permits nothing that is done with its key.
    /// <https://docs.aws.amazon.com/kms/latest/developerguide/alias-authorization.html>
    fn is_key(&self, unit: UnitId, link: &Link, key: &access::Key, denies: bool) -> Match {
        if let Some(at) = self.graph.address_key(unit, link) {
            return match self.keys.get(&at) {
                Some(known) => Match::of(std::ptr::eq(*known, key)),
                None if self.aliases.contains_key(&at) => Match::No,
                None => Match::Maybe,
            };
        }
        let Target::External(written) = &link.target else {
            return Match::Maybe;
        };
        if &**written == "*" {
            return Match::Yes;
        }
        let mut parts = written.splitn(6, ':').skip(2);
        match (parts.next(), parts.nth(2)) {
            (Some(service), Some(_)) if !service.contains('$') && !matches(service, "kms") => Match::No,
            (Some(_), Some(name)) if name.starts_with("alias/") => Match::No,
            (Some(_), Some("*" | "key/*")) => in_scope(written, &key.resource, denies),
            _ => Match::Maybe,
        }
    }
}

/// Returns `true` if the condition requires the source of the messages to be one of its values.
fn compares_source(condition: &StatementCondition) -> bool {
    let operators = ["ArnEquals", "ArnLike", "StringEquals", "StringLike"];
    condition.key.eq_ignore_ascii_case(SOURCE)
        && operators.iter().any(|one| condition.operator.eq_ignore_ascii_case(one))
        && !condition.values.is_empty()
}

/// Returns whether the Region and the account of the ARN or pattern `written` are those of `resource`. If one of them is
/// unknown, the result is yes, or maybe if the statement `denies`.
fn in_scope(written: &str, resource: &Resource, denies: bool) -> Match {
    let unknown = Match::of(!denies).or(Match::Maybe);
    let mut parts = written.split(':').skip(3);
    let matched = |pattern: Option<&str>, known: Option<&Arc<str>>| match (pattern, known) {
        (Some("*"), _) => Match::Yes,
        (Some(pattern), Some(known)) if !pattern.contains('$') => Match::of(matches(pattern, known)),
        _ => unknown,
    };
    matched(parts.next(), resource.region.as_ref()).and(matched(parts.next(), resource.account.as_ref()))
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
