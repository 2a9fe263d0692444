//! Queue policies, roles with what they are granted, keys, and permissions on functions.

use super::read::{link, text};
use super::{Lowering, Node};
use crate::conditions::Case;
use crate::graph::access::{
    Grant, Key, KeyAlias, ManagedPolicy, Permission, PolicyWriter, QueuePolicy, Role, RolePolicy,
};
use crate::graph::{Attribute, Form, Link, Target};

impl Lowering<'_, '_> {
    /// The argument `policy` of a queue.
    pub(super) fn inline_queue_policy(&mut self, node: &Node) {
        let document = self.document(node, "policy");
        if document.cases.iter().all(|case| matches!(case.value(), Some(None))) {
            return;
        }
        self.graph.access.queue_policies.push(QueuePolicy {
            resource: node.resource.clone(),
            writer: PolicyWriter::Queue,
            queue: Attribute::set("policy", own_link(node), node.resource.header),
            document: document.try_map(|document| document.ok_or_else(|| "there is no policy".into())),
        });
    }

    /// `aws_sqs_queue_policy`.
    pub(super) fn queue_policy(&mut self, node: &Node) {
        let policy = QueuePolicy {
            resource: node.resource.clone(),
            writer: PolicyWriter::Separate,
            queue: self.link(node, "queue_url"),
            document: self.required_document(node, "policy"),
        };
        self.graph.access.queue_policies.push(policy);
    }

    /// `aws_iam_role`, with the policies in it.
    pub(super) fn role(&mut self, node: &Node) {
        let name = self.optional_text(node, "name");
        self.graph.access.roles.push(Role {
            resource: node.resource.clone(),
            name,
        });
        let itself = Attribute::set("role", own_link(node), node.resource.header);
        match self.blocks(&node.block.body, &node.scope, "inline_policy") {
            Err(reason) => {
                let open = Attribute::unresolved("inline_policy", reason, node.resource.header);
                self.grant(node, &itself, Grant::Managed(open));
            }
            Ok(blocks) => {
                for nested in blocks {
                    let policy = self.argument(&nested.block.body, &nested.scope, "policy");
                    let document = self.document_of(node, "policy", policy);
                    let document = document.try_map(|document| document.ok_or_else(|| "there is no policy".into()));
                    self.grant(node, &itself, Grant::Document(document));
                }
            }
        }
        self.attachments(node, &itself, "managed_policy_arns");
    }

    /// A managed policy for each ARN in a list.
    fn attachments(&mut self, node: &Node, role: &Attribute<Link>, name: &'static str) {
        let Some((listed, span)) = self.argument(&node.block.body, &node.scope, name) else {
            return;
        };
        for Case { when, then: value } in listed.each_case() {
            let world = node.resource.when.and(&when);
            let items = match value.items() {
                _ if value.is_null() => continue,
                Some(items) => items.to_vec(),
                None => vec![value.clone()],
            };
            for item in items {
                let arn = self.attribute(name, Some((item, span)), span, &world, None, link);
                self.grant(node, role, Grant::Managed(arn));
                if let Some(policy) = self.graph.access.role_policies.last_mut() {
                    policy.when = world.clone();
                }
            }
        }
    }

    fn grant(&mut self, node: &Node, role: &Attribute<Link>, grant: Grant) {
        self.graph.access.role_policies.push(RolePolicy {
            resource: node.resource.clone(),
            span: node.resource.header,
            when: node.resource.when.clone(),
            role: role.clone(),
            grant,
        });
    }

    /// `aws_iam_role_policy`.
    pub(super) fn role_policy(&mut self, node: &Node) {
        let role = self.link(node, "role");
        let document = self.required_document(node, "policy");
        self.grant(node, &role, Grant::Document(document));
    }

    /// `aws_iam_role_policy_attachment`.
    pub(super) fn role_policy_attachment(&mut self, node: &Node) {
        let role = self.link(node, "role");
        let arn = self.link(node, "policy_arn");
        self.grant(node, &role, Grant::Managed(arn));
    }

    /// `aws_iam_policy_attachment`, to several roles.
    pub(super) fn policy_attachment(&mut self, node: &Node) {
        let name = "roles";
        let arn = self.link(node, "policy_arn");
        let Some((listed, span)) = self.argument(&node.block.body, &node.scope, name) else {
            return;
        };
        let items = listed
            .items()
            .map_or_else(|| vec![listed.clone()], |items| items.to_vec());
        for item in items {
            let role = self.attribute(name, Some((item, span)), span, &node.resource.when, None, link);
            self.grant(node, &role, Grant::Managed(arn.clone()));
        }
    }

    /// `aws_iam_policy`.
    pub(super) fn managed_policy(&mut self, node: &Node) {
        let policy = ManagedPolicy {
            resource: node.resource.clone(),
            name: self.optional_text(node, "name"),
            document: self.required_document(node, "policy"),
        };
        self.graph.access.managed_policies.push(policy);
    }

    /// `aws_kms_key`.
    pub(super) fn key(&mut self, node: &Node) {
        let policy = self.document(node, "policy");
        self.graph.access.keys.push(Key {
            resource: node.resource.clone(),
            policy,
        });
    }

    /// `aws_kms_key_policy`: the policy of a key, from a resource of its own.
    pub(super) fn key_policy(&mut self, node: &Node) {
        let key = self.link(node, "key_id");
        let policy = self.document(node, "policy");
        self.key_policies.push((key, policy));
    }

    /// Gives keys the policies that separate resources set on them.
    pub(super) fn merge_key_policies(&mut self) {
        for (key, policy) in std::mem::take(&mut self.key_policies) {
            let named = key.known().map(|link| &link.target);
            for key in &mut self.graph.access.keys {
                let is_named = matches!(named, Some(Target::Resource(address)) if *address == key.resource.address);
                if is_named {
                    key.policy = policy.clone();
                } else if named.is_none() {
                    let reason = "a separate policy may be on any key";
                    key.policy = Attribute::unresolved("policy", reason, key.resource.header);
                }
            }
        }
    }

    /// `aws_kms_alias`.
    pub(super) fn key_alias(&mut self, node: &Node) {
        let alias = KeyAlias {
            resource: node.resource.clone(),
            name: self.optional_text(node, "name"),
            key: self.link(node, "target_key_id"),
        };
        self.graph.access.key_aliases.push(alias);
    }

    /// `aws_lambda_permission`.
    pub(super) fn permission(&mut self, node: &Node) {
        let permission = Permission {
            resource: node.resource.clone(),
            function: self.link(node, "function_name"),
            principal: self.read_required(node, "principal", text),
        };
        self.graph.access.permissions.push(permission);
    }

    /// `aws_lambda_function_recursion_config`.
    pub(super) fn recursion_config(&mut self, node: &Node) {
        let function = self.link(node, "function_name");
        let setting = self.read_required(node, "recursive_loop", text);
        let Some(Target::Resource(address)) = function.known().map(|link| link.target.clone()) else {
            return;
        };
        self.recursive_loops.push((address, setting));
    }

    /// Gives functions the settings of their recursion configurations.
    pub(super) fn merge_recursion_configs(&mut self) {
        for (address, setting) in std::mem::take(&mut self.recursive_loops) {
            let named = self.graph.functions.iter_mut();
            if let Some(function) = named.into_iter().find(|function| function.resource.address == address) {
                function.recursive_loop = setting;
            }
        }
    }
}

fn own_link(node: &Node) -> Link {
    Link {
        target: Target::Resource(node.resource.address.clone()),
        form: Form::Arn,
    }
}
