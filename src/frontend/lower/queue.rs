//! Lowers queues with their redrive and redrive allow policies.

use super::properties::Known;
use super::read::{dangling, exact, spread};
use super::{BareName, Lowering, Node, Path, View, is_absent};
use crate::graph::Reason;
use crate::graph::{
    Attribute, Case, Cause, Link, PolicyError, PolicyErrorKind, Queue, QueueAttributeNames, QueueAttributes,
    RedriveAllowPolicy, RedrivePolicy, Replacement, SourcedValue, State, UnitKind, Unresolved,
};
use conditions::{Cases, Condition, TooMany};
use source::Span;

/// Names of a queue's attributes, and differences of the dialect.
pub(in crate::frontend) struct QueueNames {
    pub(in crate::frontend) attributes: QueueAttributeNames,
    /// `true` if a written `false` is sent to SQS.
    pub(in crate::frontend) sends_fifo_false: bool,
    /// Argument of a queue that a plan replaces.
    pub(in crate::frontend) replaced: Option<Path>,
    pub(in crate::frontend) maximum_message_size_default: i64,
    pub(in crate::frontend) redrive: Path,
    pub(in crate::frontend) redrive_allow: Path,
    /// Paths of the tags; the first that is written is used.
    pub(in crate::frontend) tags: &'static [Path],
    /// The queue policy, if the dialect permits it in the queue.
    pub(in crate::frontend) policy: Option<Path>,
    /// All names that the dialect accepts in a queue.
    pub(in crate::frontend) known: Known,
}

impl QueueNames {
    /// Returns the names of the attributes that a dead-letter queue shares with its source: those of encryption.
    pub(in crate::frontend) fn encryption(&self) -> [Path; 3] {
        let names = &self.attributes;
        [names.key, names.key_reuse_period, names.managed_encryption]
    }
}

const TARGET: &str = "deadLetterTargetArn";
const COUNT: &str = "maxReceiveCount";
const PERMISSION: &str = "redrivePermission";
const SOURCES: &str = "sourceQueueArns";

impl<V: View> Lowering<V> {
    pub(super) fn queue(&mut self, node: Node<V::Value>, names: &QueueNames) {
        let written = &node.written;
        self.find_unknown(&node.resource, written, &names.known);
        if let Some(path) = names.policy {
            self.inline_queue_policy(&node.resource, written, path);
        }
        if let Some(cause) = node.cause {
            self.pending.causes.insert(node.resource.address.clone(), cause);
        }
        let mut attributes = QueueAttributes::read(&mut self.reading(written), &names.attributes);
        // The default of the provider is not that of SQS.
        let size = names.attributes.maximum_message_size;
        attributes.maximum_message_size = self.plain(written, size, names.maximum_message_size_default);
        let queue = Queue {
            attributes,
            sends_fifo_false: names.sends_fifo_false,
            // No author sets the attributes of a generated queue.
            visibility_timeout_set_by: (node.made.implicit.is_none())
                .then(|| self.view.set_by(written, names.attributes.visibility_timeout))
                .flatten(),
            redrive: self.redrive(written, names.redrive),
            redrive_allow: self.redrive_allow(written, names.redrive_allow),
            redrive_writers: Vec::new(),
            replaced: names.replaced.and_then(|path| self.replaced(written, path)),
            tags: self.tags(written, names.tags),
            implicit: node.made.implicit,
            resource: node.resource,
        };
        self.forget_unknown();
        self.graph.queues.push(queue);
    }

    /// Returns the replacement that a plan contains.
    fn replaced(&mut self, written: &V::Value, path: Path) -> Option<Replacement> {
        if self.graph.unit.kind != UnitKind::Plan {
            return None;
        }
        let text = self.text(written, path);
        let (_, case, attribute) = text.known_in(&Condition::always()).into_iter().next()?;
        Some(Replacement {
            attribute: attribute.as_deref()?.into(),
            change: None,
            span: case.span,
        })
    }

    /// Returns the redrive policy at `path`, with a case for each combination of faults.
    pub(super) fn redrive(&mut self, written: &V::Value, path: Path) -> Attribute<Option<Box<RedrivePolicy>>> {
        let found = self.policy(written, path, |this, object, span| {
            Ok(this.redrive_policies(object, span))
        });
        spread(found, |_, sourced| {
            let SourcedValue { state, span, origins } = sourced;
            let states = match state {
                State::Set(Some(policies)) => policies.map(|policy| State::Set(Some(Box::new(policy)))),
                State::Set(None) => Cases::one(State::Set(None)),
                State::Default(_) => Cases::one(State::Default(None)),
                State::Unresolved(reason) => Cases::one(State::Unresolved(reason)),
            };
            states.map(|state| SourcedValue {
                state,
                span,
                origins: origins.clone(),
            })
        })
    }

    /// Returns the cases of a redrive policy in which a key is present or absent: a missing key is a fault only in
    /// those cases.
    fn redrive_policies(&mut self, object: Result<V::Value, Reason>, span: Span) -> Cases<RedrivePolicy> {
        let Ok(fields) = object.and_then(|object| self.view.fields(&object)) else {
            return Cases::one(malformed(span));
        };
        let target = self.entry(exact(&fields, TARGET), TARGET, span);
        let count = self.entry(exact(&fields, COUNT), COUNT, span);
        let others = fields.iter().filter(|field| ![TARGET, COUNT].contains(&&*field.key));
        let others: Vec<_> = others
            .map(|field| (field, self.view.attribute(&field.value, "")))
            .collect();
        let is_odd = |case: &Case<Option<V::Value>>| matches!(case.value(), Some(None));
        let mut separated: Vec<Cases<()>> = Vec::new();
        let mut tell_apart = |of: &Attribute<Option<V::Value>>, is_odd: bool| {
            if is_odd && of.cases.len() > 1 {
                separated.push(of.cases.clone().map(|_| ()));
            }
        };
        tell_apart(&target, target.cases.iter().any(is_odd));
        let mut is_no_count = |case: &Case<Option<V::Value>>| match case.value() {
            Some(Some(value)) => self.view.count_fault(value).is_some(),
            _ => is_odd(case),
        };
        tell_apart(&count, count.cases.iter().any(&mut is_no_count));
        for (_, value) in &others {
            tell_apart(value, value.cases.iter().any(is_odd));
        }
        let always = Condition::always();
        let alternatives = Cases::product(separated, &always).unwrap_or_else(|TooMany| Cases::one(Vec::new()));
        alternatives.map_cases(|when, _| {
            let is_there = |value: &Attribute<Option<V::Value>>| {
                let mut written = value.cases.iter().filter(|case| !case.is_default());
                written.any(|case| case.when.is_possible_with(when))
            };
            let unknown = others
                .iter()
                .filter(|(_, value)| is_there(value))
                .map(|(field, _)| PolicyError {
                    kind: PolicyErrorKind::UnknownKey(field.key.to_string()),
                    span: field.span,
                });
            let faults = unknown.collect();
            self.redrive_policy(restrict(&target, when), restrict(&count, when), span, faults)
        })
    }

    fn redrive_policy(
        &mut self,
        target: Attribute<Option<V::Value>>,
        count: Attribute<Option<V::Value>>,
        span: Span,
        mut faults: Vec<PolicyError>,
    ) -> RedrivePolicy {
        for (key, kind) in [
            (&target, PolicyErrorKind::TargetMissing),
            (&count, PolicyErrorKind::CountMissing),
        ] {
            if is_absent(key) {
                faults.push(PolicyError { kind, span });
            }
        }
        for case in &count.cases {
            let kind = case.value().and_then(|value| self.view.count_fault(value.as_ref()?));
            let fault = kind.map(|kind| PolicyError { kind, span: case.span });
            faults.extend(fault.filter(|fault| !faults.contains(fault)));
        }
        RedrivePolicy {
            target: dangling(self.convert(target, is_missing, Self::redrive_target)),
            max_receive_count: self.convert(count, is_missing, |this, value| this.view.integer(&value)),
            faults,
        }
    }

    /// Resolves the target of a redrive policy, and records declared resources that are not queues.
    fn redrive_target(&mut self, value: V::Value) -> Result<Link, Unresolved> {
        let link = self.view.link(&value, BareName::Queue)?;
        if self.view.is_queue(&value) == Some(false) {
            self.note_no_queue(&value, &link);
        }
        Ok(link)
    }

    pub(super) fn redrive_allow(
        &mut self,
        written: &V::Value,
        path: Path,
    ) -> Attribute<Option<Box<RedriveAllowPolicy>>> {
        self.policy(written, path, |this, object, span| {
            let fields = this.view.fields(&object?)?;
            let permission = this.entry(exact(&fields, PERMISSION), PERMISSION, span);
            let listed = exact(&fields, SOURCES).map(|field| &field.value);
            let sources = listed.map(|list| this.links(list, "", &SOURCES.into()));
            let mut null_sources = Vec::new();
            if let Some(list) = listed.filter(|_| V::SENDS_NULL) {
                let cases = this.view.attribute(list, "").cases.into_iter();
                let nulls = cases.filter(|case| case.is_default());
                null_sources.extend(nulls.map(|case| (case.when.clone(), case.span)));
            }
            let default = |_: &str| State::Default("allowAll".to_owned());
            Ok(Box::new(RedriveAllowPolicy {
                permission: this.convert(permission, default, |this, value| this.view.text(&value)),
                sources: sources.unwrap_or_default(),
                null_sources,
            }))
        })
    }
}

/// Returns the state of a required key of a policy that is absent.
pub(super) fn is_missing<T>(key: &str) -> State<T> {
    State::Unresolved(Cause::Invalid.because(format!("`{key}` is missing")).into())
}

fn malformed(span: Span) -> RedrivePolicy {
    let unknown = || Cause::Invalid.because("the redrive policy is malformed");
    RedrivePolicy {
        target: Attribute::unresolved(TARGET, unknown(), span),
        max_receive_count: Attribute::unresolved(COUNT, unknown(), span),
        faults: vec![PolicyError {
            kind: PolicyErrorKind::NotAnObject,
            span,
        }],
    }
}

/// Restricts `attribute` to the condition `when`.
fn restrict<T: Clone>(attribute: &Attribute<T>, when: &Condition) -> Attribute<T> {
    Attribute {
        name: attribute.name.clone(),
        cases: attribute.cases.clone().restrict(when),
    }
}
