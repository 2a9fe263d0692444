//! Who may do what: queue policies, roles with their policies, keys, and permissions on functions.
//!
//! It holds documents as they were understood. Whether an action is allowed is for the rules that ask.

use super::lookup::take;
use super::workers::InstanceProfile;
use super::{Attribute, Link, Resource, UnitId};
use crate::conditions::Condition;
use crate::graph::Reason;
use crate::source::Span;

/// Whether a statement allows or denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// `Allow`.
    Allow,
    /// `Deny`.
    Deny,
}

/// One principal of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// `AWS`, `Service`, `Federated`, `CanonicalUser`; `*` for everybody.
    pub kind: String,
    /// `sns.amazonaws.com`, an account, an ARN, `*`; `None` where it is not known.
    pub id: Option<String>,
}

/// One condition of a statement: an operator on a key.
#[derive(Debug, Clone)]
pub struct StatementCondition {
    /// `ArnEquals`, `StringLike`…
    pub operator: String,
    /// `aws:SourceArn`, in the author's letters.
    pub key: String,
    /// What it is compared with.
    pub values: Vec<Attribute<Link>>,
}

/// One statement of a policy document.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Its place.
    pub span: Span,
    /// Where it stands in the document.
    pub when: Condition,
    /// Whether it allows or denies.
    pub effect: Attribute<Effect>,
    /// To whom; empty where the document has no principals (a role's policy).
    pub principals: Attribute<Vec<Principal>>,
    /// What; in the author's letters, with wildcards.
    pub actions: Attribute<Vec<String>>,
    /// On what.
    pub resources: Vec<Attribute<Link>>,
    /// Under which conditions; `Err` says why they are not known.
    pub conditions: Result<Vec<StatementCondition>, Reason>,
    /// Which parts it negates.
    pub negates: Negates,
}

/// The parts of a statement that name what it is not about: `NotPrincipal`, `NotAction`, `NotResource`.
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
    /// `Version`, `None` where it is not written.
    pub version: Attribute<Option<String>>,
    /// What is known of its statements.
    pub statements: Vec<Statement>,
    /// Why some statements may not be known.
    pub opaque: Option<Reason>,
}

/// What sets the policy of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyWriter {
    /// An argument of the queue.
    Queue,
    /// A resource of its own.
    Separate,
    /// The SAM transform.
    Transform,
}

/// A policy on one queue.
#[derive(Debug, Clone)]
pub struct QueuePolicy {
    /// The resource that sets it.
    pub resource: Resource,
    /// What sets it.
    pub writer: PolicyWriter,
    /// The queue.
    pub queue: Attribute<Link>,
    /// What it says.
    pub document: Attribute<PolicyDocument>,
    /// Whether the tool waits until SQS answers with the policy that was written.
    pub is_awaited: bool,
}

/// What is granted to a role.
#[derive(Debug, Clone)]
pub enum Grant {
    /// A document of its own.
    Document(Attribute<PolicyDocument>),
    /// A managed policy, by ARN or by the resource that declares it.
    Managed(Attribute<Link>),
}

/// An IAM role.
#[derive(Debug, Clone)]
pub struct Role {
    /// Address, place and existence.
    pub resource: Resource,
    /// The physical name where written.
    pub name: Attribute<Option<String>>,
    /// Who may take it; `None` where nothing is written.
    pub trust: Attribute<Option<PolicyDocument>>,
}

/// One policy of one role: inline, or attached by the role or by a resource of its own.
#[derive(Debug, Clone)]
pub struct RolePolicy {
    /// The resource that says so; several policies may have the same.
    pub resource: Resource,
    /// Its place.
    pub span: Span,
    /// Where it holds.
    pub when: Condition,
    /// The role; unresolved stands for any role of the unit.
    pub role: Attribute<Link>,
    /// What is granted.
    pub grant: Grant,
}

/// A managed policy that the project declares.
#[derive(Debug, Clone)]
pub struct ManagedPolicy {
    /// Address, place and existence.
    pub resource: Resource,
    /// The physical name where written.
    pub name: Attribute<Option<String>>,
    /// What it says.
    pub document: Attribute<PolicyDocument>,
}

/// A KMS key.
#[derive(Debug, Clone)]
pub struct Key {
    /// Address, place and existence.
    pub resource: Resource,
    /// Its key policy; `None` is KMS's own, which leaves access to IAM.
    pub policy: Attribute<Option<PolicyDocument>>,
}

/// Another name of a key.
#[derive(Debug, Clone)]
pub struct KeyAlias {
    /// Address, place and existence.
    pub resource: Resource,
    /// `alias/orders`; `None` where it is generated.
    pub name: Attribute<Option<String>>,
    /// The key.
    pub key: Attribute<Link>,
}

/// A statement of a function's own policy: `AWS::Lambda::Permission`, `aws_lambda_permission`.
#[derive(Debug, Clone)]
pub struct Permission {
    /// Address, place and existence.
    pub resource: Resource,
    /// The function.
    pub function: Attribute<Link>,
    /// Who may invoke it.
    pub principal: Attribute<String>,
}

/// Policies, roles and keys of a unit, or of a project.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// Policies on queues.
    pub queue_policies: Vec<QueuePolicy>,
    /// Roles.
    pub roles: Vec<Role>,
    /// What hands roles to instances.
    pub instance_profiles: Vec<InstanceProfile>,
    /// What roles are granted.
    pub role_policies: Vec<RolePolicy>,
    /// Managed policies that the project declares.
    pub managed_policies: Vec<ManagedPolicy>,
    /// Keys.
    pub keys: Vec<Key>,
    /// Names of keys.
    pub key_aliases: Vec<KeyAlias>,
    /// Permissions on functions.
    pub permissions: Vec<Permission>,
}

impl Access {
    /// Takes over what `other` holds, as of `unit`.
    pub(super) fn absorb(&mut self, other: Access, unit: UnitId) {
        take(&mut self.queue_policies, other.queue_policies, unit, |node| {
            &mut node.resource
        });
        take(&mut self.roles, other.roles, unit, |node| &mut node.resource);
        take(&mut self.instance_profiles, other.instance_profiles, unit, |node| {
            &mut node.resource
        });
        take(&mut self.role_policies, other.role_policies, unit, |node| {
            &mut node.resource
        });
        take(&mut self.managed_policies, other.managed_policies, unit, |node| {
            &mut node.resource
        });
        take(&mut self.keys, other.keys, unit, |node| &mut node.resource);
        take(&mut self.key_aliases, other.key_aliases, unit, |node| {
            &mut node.resource
        });
        take(&mut self.permissions, other.permissions, unit, |node| {
            &mut node.resource
        });
    }

    /// Gives back the room that was reserved for more of what there is much of.
    pub(super) fn trim(&mut self) {
        self.queue_policies.shrink_to_fit();
        self.roles.shrink_to_fit();
        self.role_policies.shrink_to_fit();
    }
}
