//! Who may do what: policies of queues, roles and what they are granted, keys, and permissions on functions.

use super::delivery::own_link;
use super::elements::Element;
use super::{Lowering, Properties, attribute};
use crate::frontend::cloudformation::value::{Evaluated, always};
use crate::graph::access::{
    Grant, Key, KeyAlias, ManagedPolicy, Permission, PolicyWriter, QueuePolicy, Role, RolePolicy,
};
use crate::graph::{Attribute, Link, Resource, State};
use crate::source::Span;

impl<'t> Lowering<'_, 't> {
    /// `AWS::SQS::QueuePolicy`, which sets the policy of each of its `Queues`, and `AWS::SQS::QueueInlinePolicy`, which
    /// has one.
    pub(super) fn queue_policy(&mut self, resource: &Resource, properties: &Properties<'t>, is_made: bool) {
        let document = self.document(properties, "PolicyDocument");
        let writer = if is_made {
            PolicyWriter::Transform
        } else {
            PolicyWriter::Separate
        };
        let one = match &*resource.kind {
            "AWS::SQS::QueueInlinePolicy" => "Queue",
            _ => "Queues",
        };
        for element in self.elements(properties, &[one]) {
            let mut resource = resource.clone();
            resource.when = resource.when.and(&element.when);
            self.graph.access.queue_policies.push(QueuePolicy {
                resource,
                writer,
                queue: self.element_link(one, &element),
                document: document.clone(),
            });
        }
    }

    /// What an element that is a single value points to.
    fn element_link(&self, name: &'static str, element: &Element<'t>) -> Attribute<Link> {
        let outcomes = always(element.value.clone(), element.span);
        let absent = State::Unresolved("nothing is written".into());
        attribute(name, outcomes, element.span, &absent, |value| self.template.link(value))
    }

    /// `AWS::IAM::Role`, with the policies written in it and attached by it.
    pub(super) fn role(&mut self, resource: Resource, properties: &Properties<'t>) {
        let own = |span: Span| Attribute::set("Role", own_link(&resource), span);
        for element in self.elements(properties, &["Policies"]) {
            let inner = self.inner(&element, properties);
            let grant = Grant::Document(match &element.value {
                Evaluated::Unresolved(reason) => Attribute::unresolved("PolicyDocument", reason.clone(), element.span),
                _ => self.document(&inner, "PolicyDocument"),
            });
            self.grant(&resource, &element, own(element.span), grant);
        }
        for element in self.elements(properties, &["ManagedPolicyArns"]) {
            let grant = Grant::Managed(self.element_link("ManagedPolicyArns", &element));
            self.grant(&resource, &element, own(element.span), grant);
        }
        let role = Role {
            name: self.name(properties, &["RoleName"]),
            resource,
        };
        self.graph.access.roles.push(role);
    }

    fn grant(&mut self, resource: &Resource, element: &Element<'t>, role: Attribute<Link>, grant: Grant) {
        self.graph.access.role_policies.push(RolePolicy {
            resource: resource.clone(),
            span: element.span,
            when: resource.when.and(&element.when),
            role,
            grant,
        });
    }

    /// `AWS::IAM::Policy` and `AWS::IAM::RolePolicy`: a document of their own for each of their roles.
    pub(super) fn role_policy(&mut self, resource: &Resource, properties: &Properties<'t>) {
        let document = self.document(properties, "PolicyDocument");
        let roles = match &*resource.kind {
            "AWS::IAM::RolePolicy" => "RoleName",
            _ => "Roles",
        };
        for element in self.elements(properties, &[roles]) {
            let role = self.element_link(roles, &element);
            self.grant(resource, &element, role, Grant::Document(document.clone()));
        }
    }

    /// `AWS::IAM::ManagedPolicy`, with the roles that it is attached to by itself.
    pub(super) fn managed_policy(&mut self, resource: Resource, properties: &Properties<'t>) {
        for element in self.elements(properties, &["Roles"]) {
            let role = self.element_link("Roles", &element);
            let itself = Attribute::set("ManagedPolicyArns", own_link(&resource), element.span);
            self.grant(&resource, &element, role, Grant::Managed(itself));
        }
        let policy = ManagedPolicy {
            name: self.name(properties, &["ManagedPolicyName"]),
            document: self.document(properties, "PolicyDocument"),
            resource,
        };
        self.graph.access.managed_policies.push(policy);
    }

    /// `AWS::KMS::Key` and `AWS::KMS::ReplicaKey`.
    pub(super) fn key(&mut self, resource: Resource, properties: &Properties<'t>) {
        let key = Key {
            policy: self.optional_document(properties, "KeyPolicy"),
            resource,
        };
        self.graph.access.keys.push(key);
    }

    /// `AWS::KMS::Alias`.
    pub(super) fn key_alias(&mut self, resource: Resource, properties: &Properties<'t>) {
        let alias = KeyAlias {
            name: self.name(properties, &["AliasName"]),
            key: self.link(properties, &["TargetKeyId"]),
            resource,
        };
        self.graph.access.key_aliases.push(alias);
    }

    /// `AWS::Lambda::Permission`.
    pub(super) fn permission(&mut self, resource: Resource, properties: &Properties<'t>) {
        let missing = State::Unresolved("`Principal` is missing".into());
        let permission = Permission {
            function: self.link(properties, &["FunctionName"]),
            principal: self.attribute(properties, &["Principal"], &missing, Evaluated::text),
            resource,
        };
        self.graph.access.permissions.push(permission);
    }
}
