//! Lowers permissions: policies of queues, roles and their policies, keys, and permissions on functions.

use super::{BareName, Element, Lowering, Node, Path, View, last, own_link};
use crate::graph::access::{
    Grant, Key, KeyAlias, ManagedPolicy, Permission, PolicyWriter, QueuePolicy, Role, RolePolicy,
};
use crate::graph::{Attribute, Link, Resource};
use conditions::{Cases, Condition};
use source::Span;

/// Names of a role's attributes.
pub(in crate::frontend) struct RoleNames {
    pub(in crate::frontend) name: Path,
    /// Inline policies, and the document of each.
    pub(in crate::frontend) policies: Path,
    pub(in crate::frontend) document: Path,
    /// ARNs of attached policies.
    pub(in crate::frontend) managed: Path,
    /// The trust policy.
    pub(in crate::frontend) trust: Path,
}

/// Kind of grant.
#[derive(Clone, Copy)]
pub(in crate::frontend) enum Granted {
    Document(Path),
    /// The ARN of a policy, or of several.
    Managed(Path),
    /// Permission to use a key, which needs no policy.
    Key,
}

/// Names of a managed policy's attributes.
pub(in crate::frontend) struct ManagedPolicyNames {
    pub(in crate::frontend) name: Path,
    pub(in crate::frontend) document: Path,
    /// Roles to which the policy attaches itself.
    pub(in crate::frontend) roles: Option<Path>,
}

impl<V: View> Lowering<V> {
    /// Lowers the policy written in a queue.
    pub(super) fn inline_queue_policy(&mut self, resource: &Resource, written: &V::Value, path: Path) {
        let Attribute { name, cases } = self.optional_document(written, path);
        let there: Cases<_> = cases
            .into_iter()
            .filter(|case| !matches!(case.value(), Some(None)))
            .collect();
        let when = there.iter().fold(Condition::never(), |all, case| all.or(&case.when));
        if there.is_empty() {
            return;
        }
        let document = Attribute {
            name: name.clone(),
            cases: there,
        };
        self.graph.access.queue_policies.push(QueuePolicy {
            resource: Resource {
                when: resource.when.and(&when),
                ..resource.clone()
            },
            writer: PolicyWriter::Queue,
            queue: Attribute::set(name.clone(), own_link(resource), resource.header),
            document: document.try_map(|document| document.ok_or_else(|| V::missing(&name).into())),
            is_awaited: V::AWAITS_QUEUE_POLICIES,
        });
    }

    pub(super) fn queue_policy(&mut self, node: &Node<V::Value>, queues: Path, document: Path) {
        let document = self.document(&node.written, document);
        let writer = if node.made.by_transform {
            PolicyWriter::Transform
        } else {
            PolicyWriter::Separate
        };
        for queue in self.view.elements(&node.written, queues) {
            let policy = QueuePolicy {
                resource: Resource {
                    when: node.resource.when.and(&queue.when),
                    ..node.resource.clone()
                },
                writer,
                queue: self.link_of(last(queues), &queue.written),
                document: document.clone(),
                is_awaited: V::AWAITS_QUEUE_POLICIES,
            };
            self.graph.access.queue_policies.push(policy);
        }
    }

    /// Lowers a role with its inline and attached policies.
    pub(super) fn role(&mut self, node: Node<V::Value>, names: &RoleNames) {
        let itself = |span| Attribute::set("role", own_link(&node.resource), span);
        for policy in self.view.elements(&node.written, names.policies) {
            let grant = Grant::Document(self.document(&policy.written, names.document));
            self.grant(&node.resource, policy.span, &policy.when, itself(policy.span), grant);
        }
        for policy in self.view.elements(&node.written, names.managed) {
            let grant = Grant::Managed(self.link_of(last(names.managed), &policy.written));
            self.grant(&node.resource, policy.span, &policy.when, itself(policy.span), grant);
        }
        let role = Role {
            name: self.text(&node.written, names.name),
            trust: self.optional_document(&node.written, names.trust),
            resource: node.resource,
        };
        self.graph.access.roles.push(role);
    }

    fn grant(&mut self, resource: &Resource, span: Span, when: &Condition, role: Attribute<Link>, grant: Grant) {
        self.graph.access.role_policies.push(RolePolicy {
            resource: resource.clone(),
            span,
            when: resource.when.and(when),
            role,
            grant,
        });
    }

    /// Lowers a separate resource that grants something to roles.
    pub(super) fn role_policy(&mut self, node: &Node<V::Value>, roles: Path, granted: Granted) {
        let always = Condition::always();
        let grants: Vec<(Condition, Grant)> = match granted {
            Granted::Document(path) => vec![(always, Grant::Document(self.document(&node.written, path)))],
            Granted::Managed(path) => {
                let policies = self.view.elements(&node.written, path).into_iter();
                let grant = |policy: Element<V::Value>| {
                    (policy.when, Grant::Managed(self.link_of(last(path), &policy.written)))
                };
                policies.map(grant).collect()
            }
            Granted::Key => vec![(always, Grant::Key)],
        };
        for role in self.view.elements(&node.written, roles) {
            let link = self.link_of(last(roles), &role.written);
            for (when, grant) in &grants {
                let when = role.when.and(when);
                self.grant(&node.resource, role.span, &when, link.clone(), grant.clone());
            }
        }
    }

    /// Lowers a managed policy, with the roles to which it attaches itself.
    pub(super) fn managed_policy(&mut self, node: Node<V::Value>, names: &ManagedPolicyNames) {
        let roles = names.roles.map(|roles| self.view.elements(&node.written, roles));
        for role in roles.into_iter().flatten() {
            let itself = Attribute::set("policy", own_link(&node.resource), role.span);
            let link = self.link_of("roles", &role.written);
            self.grant(&node.resource, role.span, &role.when, link, Grant::Managed(itself));
        }
        let policy = ManagedPolicy {
            name: self.text(&node.written, names.name),
            document: self.document(&node.written, names.document),
            resource: node.resource,
        };
        self.graph.access.managed_policies.push(policy);
    }

    pub(super) fn key(&mut self, node: Node<V::Value>, policy: Path) {
        let key = Key {
            policy: self.optional_document(&node.written, policy),
            resource: node.resource,
        };
        self.graph.access.keys.push(key);
    }

    pub(super) fn key_alias(&mut self, node: Node<V::Value>, name: Path, key: Path) {
        let alias = KeyAlias {
            name: self.text(&node.written, name),
            key: self.link(&node.written, key, BareName::Queue),
            resource: node.resource,
        };
        self.graph.access.key_aliases.push(alias);
    }

    pub(super) fn permission(&mut self, node: Node<V::Value>, function: Path, principal: Path) {
        let permission = Permission {
            function: self.link(&node.written, function, BareName::Function),
            principal: self.required(&node.written, principal, V::text),
            resource: node.resource,
        };
        self.graph.access.permissions.push(permission);
    }
}
