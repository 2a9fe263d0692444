//! Separate resources that set a policy of a queue: which queue each is for, and what becomes of the queue's own.
//!
//! One whose queue is not known makes the absent policies of all queues unresolved that it may be for. One that may
//! not exist is a policy where it does; elsewhere nothing is said to be absent.

use super::super::syntax::{Block, Body, Expression, Kind as Syntax, Step};
use super::super::value::ModulePath;
use super::{Lowering, Node};
use crate::conditions::{Cases, Condition};
use crate::graph::{Attribute, Case, Form, Link, Queue, RedriveAllowPolicy, RedrivePolicy, Sourced, State, Target};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What a separate resource sets on a queue.
pub(super) struct Separate {
    queue: Attribute<Link>,
    /// Where the queue is not known: before which addresses without keys it stands, if the text says so.
    among: Option<Arc<str>>,
    when: Condition,
    doubt: Option<Doubt>,
    policy: Policy,
}

/// Why it may not exist.
struct Doubt {
    reason: Arc<str>,
    /// As [`Node::cause`].
    cause: Option<Arc<str>>,
    /// Where it does.
    flag: Condition,
}

enum Policy {
    Redrive(Attribute<Option<Box<RedrivePolicy>>>),
    RedriveAllow(Attribute<Option<Box<RedriveAllowPolicy>>>),
}

impl Lowering<'_, '_> {
    pub(super) fn separate_redrive(&mut self, node: &Node) {
        let policy = Policy::Redrive(self.redrive(node));
        self.keep_separate(node, policy);
    }

    pub(super) fn separate_redrive_allow(&mut self, node: &Node) {
        let policy = Policy::RedriveAllow(self.redrive_allow(node));
        self.keep_separate(node, policy);
    }

    fn keep_separate(&mut self, node: &Node, policy: Policy) {
        let resource = &node.resource;
        let doubt = resource.uncertain.clone().map(|reason| Doubt {
            reason,
            cause: node.cause.clone(),
            flag: Condition::flag(format!("{}|{}", self.graph.unit.name, resource.address)),
        });
        let path = self.eval.instances[node.scope.module].path.clone();
        let separate = Separate {
            queue: self.link(node, "queue_url"),
            among: among(&node.block, &path),
            when: resource.when.clone(),
            doubt,
            policy,
        };
        self.separate.push(separate);
    }

    /// Merges the separate resources into the queues they name.
    pub(super) fn merge_separate(&mut self) {
        let queues = Places::of(&self.graph.queues);
        // The same doubt from a thousand instances is one.
        let mut doubted: FxHashSet<(bool, Option<Arc<str>>)> = FxHashSet::default();
        for separate in std::mem::take(&mut self.separate) {
            for case in &separate.queue.cases {
                let when = separate.when.and(&case.when);
                if let State::Unresolved(reason) = &case.state {
                    let redrive = matches!(separate.policy, Policy::Redrive(_));
                    if doubted.insert((redrive, separate.among.clone())) {
                        let may_be = |queue: &&mut Queue| {
                            let within = |among| is_within(&queue.resource.address, among);
                            separate.among.as_deref().is_none_or(within)
                        };
                        for queue in self.graph.queues.iter_mut().filter(may_be) {
                            match &separate.policy {
                                Policy::Redrive(_) => unsettle(&mut queue.redrive, reason, &Condition::always()),
                                Policy::RedriveAllow(_) => {
                                    unsettle(&mut queue.redrive_allow, reason, &Condition::always());
                                }
                            }
                        }
                    }
                }
                for at in case.value().map_or_else(Vec::new, |link| queues.named(link)) {
                    let Some(queue) = self.graph.queues.get_mut(at) else {
                        continue;
                    };
                    let cause = self.causes.get(&queue.resource.address);
                    // What depends on the same thing as the queue is there where the queue is.
                    let doubt = separate
                        .doubt
                        .as_ref()
                        .filter(|doubt| doubt.cause.is_none() || doubt.cause.as_ref() != cause);
                    match &separate.policy {
                        Policy::Redrive(policy) => merge(&mut queue.redrive, policy, &when, doubt),
                        Policy::RedriveAllow(policy) => merge(&mut queue.redrive_allow, policy, &when, doubt),
                    }
                }
            }
        }
    }
}

/// Queues by address and by name.
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
            (Target::Elsewhere { .. } | Target::Dangling(_), _) => Vec::new(),
        }
    }
}

/// What the text of `queue_url` says of a queue that is not known: `aws_sqs_queue.q` for `aws_sqs_queue.q[…].id`.
fn among(block: &Block, path: &ModulePath) -> Option<Arc<str>> {
    let url = block.body.attribute("queue_url")?;
    let (base, steps) = root(&url.value)?;
    let named = match (base, steps.first()) {
        ("each", _) => {
            let collection = block.body.attribute("for_each")?;
            let (base, steps) = root(&collection.value)?;
            declared(base, steps.first())?
        }
        (base, first) => declared(base, first)?,
    };
    Some(format!("{}{named}", without_keys(&path.to_string())).into())
}

fn declared(base: &str, first: Option<&Step>) -> Option<String> {
    match first {
        Some(Step::Attribute(name)) if matches!(base, "aws_sqs_queue" | "module") => Some(format!("{base}.{name}")),
        _ => None,
    }
}

/// The first name of a traversal and the steps after it.
fn root(expression: &Expression) -> Option<(&str, &[Step])> {
    match &expression.kind {
        Syntax::Traversal(base, steps) => match &base.kind {
            Syntax::Variable(name) => Some((name, steps)),
            _ => None,
        },
        _ => None,
    }
}

/// Why a block may not exist, as its author wrote it: its `count` or `for_each`.
pub(super) fn meta_argument(body: &Body) -> Option<&Expression> {
    let attribute = body.attribute("count").or_else(|| body.attribute("for_each"))?;
    Some(&attribute.value)
}

fn is_within(address: &str, among: &str) -> bool {
    let address = without_keys(address);
    let rest = address.strip_prefix(among);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// An address without the keys of its instances.
fn without_keys(address: &str) -> String {
    let mut kept = String::with_capacity(address.len());
    let (mut in_key, mut quoted, mut escaped) = (false, false, false);
    for letter in address.chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' if in_key => quoted = !quoted,
            '[' if !quoted => in_key = true,
            ']' if !quoted => in_key = false,
            _ if !in_key => kept.push(letter),
            _ => {}
        }
    }
    kept
}

/// Where `when` holds, the separate policy replaces the queue's own.
fn merge<T: Clone>(
    own: &mut Attribute<Option<T>>,
    separate: &Attribute<Option<T>>,
    when: &Condition,
    doubt: Option<&Doubt>,
) {
    let replaced = doubt.map_or_else(|| when.clone(), |doubt| when.and(&doubt.flag));
    if let Some(doubt) = doubt {
        unsettle(own, &doubt.reason, when);
    }
    let replacing = separate.cases.clone().under(&replaced);
    let kept = own.cases.clone().under(&replaced.not());
    let cases: Cases<_> = replacing.into_iter().chain(kept).collect();
    if !cases.is_empty() {
        own.cases = cases;
        own.name = separate.name.clone();
    }
}

/// Makes an absent policy unresolved where `when` holds.
fn unsettle<T: Clone>(own: &mut Attribute<Option<T>>, reason: &Arc<str>, when: &Condition) {
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
            let state = State::Unresolved(reason.clone());
            cases.push(Case::new(inside, Sourced { state, ..case.then }));
        }
    }
    own.cases = cases.into();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_left_out_of_addresses() {
        assert_eq!(
            without_keys(r#"module.a["x]\"["].aws_sqs_queue.q[0]"#),
            "module.a.aws_sqs_queue.q"
        );
        assert!(is_within("module.a[0].aws_sqs_queue.q", "module.a"));
        assert!(!is_within("module.ab.aws_sqs_queue.q", "module.a"));
    }
}
