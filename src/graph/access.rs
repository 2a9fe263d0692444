//! Access: queue policies, roles with their policies, keys, and permissions on functions.
//!
//! It stores documents as they were understood. The rules decide whether an action is allowed.

use super::nodes::append_sorted;
use super::workers::InstanceProfile;
use super::{Attribute, Link, Resource, UnitId};
use crate::graph::Reason;
use conditions::Condition;
use source::Span;

/// Effect of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// `Allow`.
    Allow,
    /// `Deny`.
    Deny,
}

/// A principal of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// `AWS`, `Service`, `Federated`, `CanonicalUser`, or `*` for everyone.
    pub kind: String,
    /// `sns.amazonaws.com`, an account, an ARN, `*`; `None` if unknown.
    pub id: Option<String>,
}

/// A condition of a statement: an operator on a key.
#[derive(Debug, Clone)]
pub struct StatementCondition {
    /// `ArnEquals`, `StringLike`…
    pub operator: String,
    /// `aws:SourceArn`, as written.
    pub key: String,
    /// Values that the key is compared with.
    pub values: Vec<Attribute<Link>>,
    /// `true` if each value contains `*` or `?`.
    pub has_only_wildcards: bool,
}

impl StatementCondition {
    /// Returns `true` if the condition compares with no value and therefore never holds. A negated operator
    /// (`StringNotEquals`) holds for each key without a value to exclude.
    /// <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-logic-multiple-context-keys-or-values.html>
    pub fn never_holds(&self) -> bool {
        let operator = self.operator.to_ascii_lowercase();
        self.values.is_empty() && !operator.contains("not") && !operator.starts_with("forallvalues:")
    }
}

/// A statement of a policy document.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Span of the statement.
    pub span: Span,
    /// Condition under which the document contains it.
    pub when: Condition,
    /// Effect.
    pub effect: Attribute<Effect>,
    /// Principals; empty in a document without principals (the policy of a role).
    pub principals: Attribute<Vec<Principal>>,
    /// Actions as written, with wildcards.
    pub actions: Attribute<Vec<String>>,
    /// Resources.
    pub resources: Vec<Attribute<Link>>,
    /// Conditions, or the reason why they are unknown.
    pub conditions: Result<Vec<StatementCondition>, Reason>,
    /// Negated parts.
    pub negates: Negates,
}

/// Parts of a statement that list exceptions: `NotPrincipal`, `NotAction`, `NotResource`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Negates {
    /// `NotPrincipal`.
    pub principals: bool,
    /// `NotAction`.
    pub actions: bool,
    /// `NotResource`.
    pub resources: bool,
}

/// A policy document.
#[derive(Debug, Clone)]
pub struct PolicyDocument {
    /// `Version`; `None` if absent.
    pub version: Attribute<Option<String>>,
    /// Known statements.
    pub statements: Vec<Statement>,
    /// Reason why there may be unknown statements.
    pub opaque: Option<Reason>,
}

/// Writers of a queue's policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyWriter {
    /// An argument of the queue.
    Queue,
    /// A separate resource.
    Separate,
    /// The SAM transform.
    Transform,
}

/// A policy of a queue.
#[derive(Debug, Clone)]
pub struct QueuePolicy {
    /// Resource that writes it.
    pub resource: Resource,
    /// Kind of writer.
    pub writer: PolicyWriter,
    /// The queue.
    pub queue: Attribute<Link>,
    /// Its document.
    pub document: Attribute<PolicyDocument>,
    /// `true` if the tool waits until SQS returns the written policy.
    pub is_awaited: bool,
}

impl QueuePolicy {
    /// Returns the statement at this index as a resource, so that each has its own findings.
    pub fn statement(&self, at: usize) -> Resource {
        let mut resource = self.resource.clone();
        if at > 0 {
            resource.address = format!("{}.Statement[{at}]", resource.address).into();
        }
        resource
    }
}

/// A grant to a role.
#[derive(Debug, Clone)]
pub enum Grant {
    /// An inline document.
    Document(Attribute<PolicyDocument>),
    /// A managed policy, by ARN or by the resource that declares it.
    Managed(Attribute<Link>),
    /// Permission to use a key, which needs no policy.
    Key,
}

/// An IAM role.
#[derive(Debug, Clone)]
pub struct Role {
    /// Address, location and existence.
    pub resource: Resource,
    /// Physical name; `None` if it is generated.
    pub name: Attribute<Option<String>>,
    /// Trust policy; `None` if absent.
    pub trust: Attribute<Option<PolicyDocument>>,
}

/// A policy of a role: inline, or attached by the role or by a separate resource.
#[derive(Debug, Clone)]
pub struct RolePolicy {
    /// Resource that grants it. Several policies may have the same.
    pub resource: Resource,
    /// Span of the policy.
    pub span: Span,
    /// Condition under which it applies.
    pub when: Condition,
    /// Role; unresolved represents any role of the unit.
    pub role: Attribute<Link>,
    /// The grant.
    pub grant: Grant,
}

impl RolePolicy {
    /// Returns `true` for a grant on a key.
    pub(super) fn is_of_key(&self) -> bool {
        matches!(self.grant, Grant::Key)
    }
}

/// A managed policy that the project declares.
#[derive(Debug, Clone)]
pub struct ManagedPolicy {
    /// Address, location and existence.
    pub resource: Resource,
    /// Physical name; `None` if it is generated.
    pub name: Attribute<Option<String>>,
    /// Its document.
    pub document: Attribute<PolicyDocument>,
}

/// A KMS key.
#[derive(Debug, Clone)]
pub struct Key {
    /// Address, location and existence.
    pub resource: Resource,
    /// Key policy; `None` for the default policy of KMS, which leaves access to IAM.
    pub policy: Attribute<Option<PolicyDocument>>,
}

/// An alias of a key.
#[derive(Debug, Clone)]
pub struct KeyAlias {
    /// Address, location and existence.
    pub resource: Resource,
    /// `alias/orders`; `None` if it is generated.
    pub name: Attribute<Option<String>>,
    /// The key.
    pub key: Attribute<Link>,
}

/// A statement of a function's resource policy: `AWS::Lambda::Permission`, `aws_lambda_permission`.
#[derive(Debug, Clone)]
pub struct Permission {
    /// Address, location and existence.
    pub resource: Resource,
    /// The function.
    pub function: Attribute<Link>,
    /// Principal that may invoke it.
    pub principal: Attribute<String>,
}

/// Policies, roles and keys of a unit or of a project.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// Policies of queues.
    pub queue_policies: Vec<QueuePolicy>,
    /// Roles.
    pub roles: Vec<Role>,
    /// Instance profiles, which give roles to instances.
    pub instance_profiles: Vec<InstanceProfile>,
    /// Grants to roles.
    pub role_policies: Vec<RolePolicy>,
    /// Managed policies that the project declares.
    pub managed_policies: Vec<ManagedPolicy>,
    /// Keys.
    pub keys: Vec<Key>,
    /// Aliases of keys.
    pub key_aliases: Vec<KeyAlias>,
    /// Permissions on functions.
    pub permissions: Vec<Permission>,
}

impl Access {
    /// Adds the contents of `other`, which belong to `unit`.
    pub(super) fn append(&mut self, other: Access, unit: UnitId) {
        append_sorted(&mut self.queue_policies, other.queue_policies, unit);
        append_sorted(&mut self.roles, other.roles, unit);
        append_sorted(&mut self.instance_profiles, other.instance_profiles, unit);
        append_sorted(&mut self.role_policies, other.role_policies, unit);
        append_sorted(&mut self.managed_policies, other.managed_policies, unit);
        append_sorted(&mut self.keys, other.keys, unit);
        append_sorted(&mut self.key_aliases, other.key_aliases, unit);
        append_sorted(&mut self.permissions, other.permissions, unit);
    }

    /// Releases the spare capacity of the longest lists.
    pub(super) fn trim(&mut self) {
        self.queue_policies.shrink_to_fit();
        self.roles.shrink_to_fit();
        self.role_policies.shrink_to_fit();
    }
}
