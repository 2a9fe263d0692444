//! Separate resources that set attributes of others: collects them, and merges them once every resource is lowered.
//!
//! A redrive policy whose queue is unresolved makes the absent policies of all queues unresolved to which it may
//! belong. A policy that may not exist applies if it does; otherwise the queue's own policy is unresolved instead of
//! absent.

use super::{BareName, Lowering, Node, Path, View};
use crate::graph::access::PolicyDocument;
use crate::graph::delivery::Sender;
use crate::graph::{
    Attribute, Cause, FailureTarget, Form, Link, ProvisionedConcurrency, Queue, Reason, RedriveAllowPolicy,
    RedriveKind, RedrivePolicy, RedriveWriter, SourcedValue, State, Target, UnitKind,
};
use conditions::{Case, Cases, Condition};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::sync::Arc;

/// Settings that wait for the resources to which they belong.
#[derive(Default)]
pub(super) struct Pending {
    redrive: Vec<Separate>,
    /// [`Node::cause`] of queues, by address.
    pub(super) causes: FxHashMap<Arc<str>, Arc<str>>,
    /// Failure destinations, with their function.
    pub(super) failure_targets: Vec<(Attribute<Link>, FailureTarget)>,
    pub(super) success_targets: Vec<(Attribute<Link>, FailureTarget)>,
    /// Policies of keys.
    key_policies: Vec<(Attribute<Link>, Attribute<Option<PolicyDocument>>)>,
    /// Settings for recursive loops, with their function.
    recursive_loops: Vec<(Attribute<Link>, Attribute<String>)>,
    /// Provisioned concurrency of aliases and versions, with their function.
    provisioned: Vec<(Attribute<Link>, ProvisionedConcurrency)>,
    /// States of rules with separate targets, by address.
    pub(super) rules: FxHashMap<Arc<str>, Attribute<bool>>,
}

/// A separate policy for a queue.
struct Separate {
    queue: Attribute<Link>,
    /// Address of the block that an unresolved queue is in, if the text names one.
    among: Option<Arc<str>>,
    when: Condition,
    doubt: Option<Doubt>,
    policy: Policy,
    address: Arc<str>,
    header: Span,
}

/// Uncertainty about the existence of a resource.
struct Doubt {
    reason: Reason,
    /// Same key as [`Node::cause`].
    cause: Option<Arc<str>>,
    /// The condition under which it exists.
    flag: Condition,
}

enum Policy {
    Redrive(Attribute<Option<Box<RedrivePolicy>>>),
    RedriveAllow(Attribute<Option<Box<RedriveAllowPolicy>>>),
}

impl<V: View> Lowering<V> {
    pub(super) fn separate_redrive(&mut self, node: Node<V::Value>, queue: Path, policy: Path) {
        let policy = Policy::Redrive(self.redrive(&node.written, policy));
        self.keep_separate(node, queue, policy);
    }

    pub(super) fn separate_redrive_allow(&mut self, node: Node<V::Value>, queue: Path, policy: Path) {
        let policy = Policy::RedriveAllow(self.redrive_allow(&node.written, policy));
        self.keep_separate(node, queue, policy);
    }

    fn keep_separate(&mut self, node: Node<V::Value>, queue: Path, policy: Policy) {
        let doubt = node.resource.uncertain.clone().map(|reason| Doubt {
            reason,
            cause: node.cause,
            flag: Condition::flag(
                format!("{}|{}", self.graph.unit.name, node.resource.address),
                node.resource.address.clone(),
            ),
        });
        let separate = Separate {
            queue: self.link(&node.written, queue, BareName::Queue),
            among: self.view.among(&node.written, queue),
            when: node.resource.when,
            doubt,
            policy,
            address: node.resource.address,
            header: node.resource.header,
        };
        self.pending.redrive.push(separate);
    }

    /// Collects the policy of a key.
    pub(super) fn key_policy(&mut self, node: &Node<V::Value>, key: Path, policy: Path) {
        let key = self.link(&node.written, key, BareName::Queue);
        let policy = self.optional_document(&node.written, policy);
        self.pending.key_policies.push((key, policy));
    }

    /// Collects the setting for recursive loops through a function.
    pub(super) fn recursion_config(&mut self, node: &Node<V::Value>, function: Path, setting: Path) {
        let function = self.link(&node.written, function, BareName::Function);
        let setting = self.required(&node.written, setting, V::text);
        self.pending.recursive_loops.push((function, setting));
    }

    /// Collects the provisioned concurrency of an alias or version of a function. One that may not exist, or may have
    /// none, is left out.
    pub(super) fn provisioned_concurrency(&mut self, node: Node<V::Value>, function: Path, count: Path) {
        let of = self.link(&node.written, function, BareName::Function);
        let count = self.plain::<Option<i64>>(&node.written, count, None);
        for (when, case, count) in count.known_in(&node.resource.when) {
            if count.is_some() && node.resource.uncertain.is_none() {
                let resource = node.resource.address.clone();
                let setting = ProvisionedConcurrency {
                    resource,
                    span: case.span,
                    when,
                };
                self.pending.provisioned.push((of.clone(), setting));
            }
        }
    }

    /// Merges separate settings into the resources to which they belong.
    pub(super) fn merge(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        self.merge_redrive(pending.redrive, &pending.causes);
        let functions = self.graph.functions.iter().enumerate();
        let functions: FxHashMap<Arc<str>, usize> = functions
            .map(|(at, function)| (function.resource.address.clone(), at))
            .collect();
        let mut named = |link: &Link| match &link.target {
            Target::Resource(address) => functions.get(address).copied(),
            _ => None,
        };
        let failures = pending.failure_targets.into_iter().map(|setting| (true, setting));
        let successes = pending.success_targets.into_iter().map(|setting| (false, setting));
        for (of_failures, (function, target)) in failures.chain(successes) {
            for (when, _, link) in function.known_in(&Condition::always()) {
                if let Some(function) = named(link).and_then(|at| self.graph.functions.get_mut(at)) {
                    let when = target.when.and(&when);
                    let target = FailureTarget { when, ..target.clone() };
                    if of_failures {
                        function.failure_targets.push(target);
                    } else {
                        function.success_targets.push(target);
                    }
                }
            }
        }
        let functions = self.graph.functions.iter().enumerate();
        let functions = functions.filter_map(|(at, function)| Some((function.name.known()?.clone()?, at)));
        let by_name: FxHashMap<String, usize> = functions.filter(|_| !pending.provisioned.is_empty()).collect();
        for (function, setting) in pending.provisioned {
            let of_name = |link: &Link| by_name.get(link.external_function_name()?).copied();
            let at = function.known().and_then(|link| named(link).or_else(|| of_name(link)));
            if let Some(function) = at.and_then(|at| self.graph.functions.get_mut(at)) {
                function.provisioned.push(setting);
            }
        }
        for (function, setting) in pending.recursive_loops {
            let at = function.known().and_then(&mut named);
            if let Some(function) = at.and_then(|at| self.graph.functions.get_mut(at)) {
                function.recursive_loop = setting;
            }
        }
        for (key, policy) in pending.key_policies {
            let named = key.known().map(|link| &link.target);
            for key in &mut self.graph.access.keys {
                let is_named = matches!(named, Some(Target::Resource(address)) if *address == key.resource.address);
                if is_named {
                    key.policy = policy.clone();
                } else if named.is_none() {
                    let reason = Cause::KnownAfterApply.because("a separate policy may be on any key");
                    key.policy = Attribute::unresolved("policy", reason, key.resource.header);
                }
            }
        }
        for target in &mut self.graph.deliveries.targets {
            if let (Sender::Rule, Some(Target::Resource(rule))) =
                (target.sender, target.source.known().map(|l| &l.target))
                && let Some(enabled) = pending.rules.get(rule)
            {
                target.enabled = enabled.clone();
            }
        }
    }

    /// Merges separate redrive policies into their queues.
    fn merge_redrive(&mut self, all: Vec<Separate>, causes: &FxHashMap<Arc<str>, Arc<str>>) {
        let queues = Places::of(&self.graph.queues);
        let is_deployed = matches!(self.graph.unit.kind, UnitKind::Plan | UnitKind::State);
        // Equal uncertainties, as from a thousand instances, are merged once.
        let mut doubted: FxHashSet<(bool, Option<Arc<str>>)> = FxHashSet::default();
        for separate in all {
            for case in &separate.queue.cases {
                let when = separate.when.and(&case.when);
                if let State::Unresolved(reason) = &case.state {
                    let redrive = matches!(separate.policy, Policy::Redrive(_));
                    if doubted.insert((redrive, separate.among.clone())) {
                        let may_be = |queue: &&mut Queue| {
                            let within = |among: &str| V::is_among(&queue.resource.address, among);
                            separate.among.as_deref().is_none_or(within)
                        };
                        for queue in self.graph.queues.iter_mut().filter(may_be) {
                            match &separate.policy {
                                Policy::Redrive(_) => make_unresolved(&mut queue.redrive, reason, &Condition::always()),
                                Policy::RedriveAllow(_) => {
                                    make_unresolved(&mut queue.redrive_allow, reason, &Condition::always());
                                }
                            }
                        }
                    }
                }
                let named = case.value().map_or_else(Vec::new, |link| queues.named(link));
                let is_one = named.len() == 1;
                for at in named {
                    let Some(queue) = self.graph.queues.get_mut(at) else {
                        continue;
                    };
                    let cause = causes.get(&queue.resource.address);
                    // A policy with the same cause as the queue exists whenever the queue does.
                    let doubt = separate
                        .doubt
                        .as_ref()
                        .filter(|doubt| doubt.cause.is_none() || doubt.cause.as_ref() != cause);
                    // One policy belongs to one of the instances that the queue represents.
                    if let (Some(reason), None) = (&queue.resource.uncertain, &separate.doubt) {
                        let reason = reason.clone();
                        match &separate.policy {
                            Policy::Redrive(_) => make_unresolved(&mut queue.redrive, &reason, &when),
                            Policy::RedriveAllow(_) => make_unresolved(&mut queue.redrive_allow, &reason, &when),
                        }
                        continue;
                    }
                    if is_one {
                        note_writers(queue, &separate, &when, doubt, is_deployed);
                    }
                    match &separate.policy {
                        Policy::Redrive(policy) => merge(&mut queue.redrive, policy, &when, doubt),
                        Policy::RedriveAllow(policy) => merge(&mut queue.redrive_allow, policy, &when, doubt),
                    }
                }
            }
        }
    }
}

/// Records that `separate` sets a policy on `queue` under `when`, and before the first such record also that the queue
/// has its own. Deployed units are excluded: there a queue contains the policies that separate resources set.
fn note_writers(queue: &mut Queue, separate: &Separate, when: &Condition, doubt: Option<&Doubt>, is_deployed: bool) {
    let kind = match separate.policy {
        Policy::Redrive(_) => RedriveKind::Policy,
        Policy::RedriveAllow(_) => RedriveKind::AllowPolicy,
    };
    if !is_deployed && queue.redrive_writers.iter().all(|writer| writer.kind != kind) {
        let own = match kind {
            RedriveKind::Policy => own_writers(kind, &queue.redrive),
            RedriveKind::AllowPolicy => own_writers(kind, &queue.redrive_allow),
        };
        queue.redrive_writers.extend(own);
    }
    queue.redrive_writers.push(RedriveWriter {
        kind,
        resource: Some(separate.address.clone()),
        span: separate.header,
        when: when.clone(),
        doubt: doubt.map(|doubt| doubt.reason.clone()),
    });
}

/// Returns the cases in which a queue has its own policy.
fn own_writers<T>(kind: RedriveKind, own: &Attribute<Option<T>>) -> Vec<RedriveWriter> {
    let cases = own.cases.iter().filter(|case| !matches!(case.value(), Some(None)));
    let writers = cases.map(|case| RedriveWriter {
        kind,
        resource: None,
        span: case.span,
        when: case.when.clone(),
        doubt: match &case.state {
            State::Unresolved(unresolved) => Some(unresolved.reason().clone()),
            State::Set(_) | State::Default(_) => None,
        },
    });
    writers.collect()
}

/// Indexes of queues by address and by name.
struct Places {
    by_address: FxHashMap<Arc<str>, usize>,
    by_name: FxHashMap<String, Vec<usize>>,
}

impl Places {
    fn of(queues: &[Queue]) -> Places {
        let mut places = Places {
            by_address: FxHashMap::default(),
            by_name: FxHashMap::default(),
        };
        for (at, queue) in queues.iter().enumerate() {
            places.by_address.insert(queue.resource.address.clone(), at);
            if let Some(Some(name)) = queue.name.known() {
                places.by_name.entry(name.clone()).or_default().push(at);
            }
        }
        places
    }

    fn named(&self, link: &Link) -> Vec<usize> {
        match (&link.target, link.form) {
            (Target::Resource(address), _) => self.by_address.get(address).copied().into_iter().collect(),
            (Target::External(written), Form::Url | Form::Arn | Form::Name) => {
                let last = written.rsplit(['/', ':']).next().unwrap_or("");
                self.by_name.get(last).cloned().unwrap_or_default()
            }
            (Target::OtherUnit { .. } | Target::Dangling(_), _) => Vec::new(),
        }
    }
}

/// Replaces the queue's own policy by the separate one under `when`.
fn merge<T: Clone>(
    own: &mut Attribute<Option<T>>,
    separate: &Attribute<Option<T>>,
    when: &Condition,
    doubt: Option<&Doubt>,
) {
    let replaced = doubt.map_or_else(|| when.clone(), |doubt| when.and(&doubt.flag));
    if let Some(doubt) = doubt {
        make_unresolved(own, &doubt.reason, when);
    }
    let replacing = separate.cases.clone().under(&replaced);
    let kept = own.cases.clone().under(&replaced.not());
    let cases: Cases<_> = replacing.into_iter().chain(kept).collect();
    if !cases.is_empty() {
        own.cases = cases;
        own.name = separate.name.clone();
    }
}

/// Makes an absent policy unresolved under `when`.
pub(super) fn make_unresolved<T: Clone>(own: &mut Attribute<Option<T>>, reason: &Reason, when: &Condition) {
    let mut cases = Vec::with_capacity(own.cases.len());
    for case in own.cases.iter().cloned() {
        if !matches!(case.state, State::Default(None)) {
            cases.push(case);
            continue;
        }
        let (inside, outside) = (case.when.and(when), case.when.and(&when.not()));
        if outside.is_possible() {
            cases.push(Case::new(outside, case.then.clone()));
        }
        if inside.is_possible() {
            let state = State::Unresolved(reason.clone().into());
            cases.push(Case::new(inside, SourcedValue { state, ..case.then }));
        }
    }
    own.cases = cases.into();
}
