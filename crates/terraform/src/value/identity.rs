//! The identity of an unknown value, by which two uses of it are recognized as the same value.
//!
//! ```text
//! locals { env = data.terraform_remote_state.account.outputs.env }
//! resource "aws_sqs_queue" "q" {
//!   count                      = 2
//!   visibility_timeout_seconds = local.env == "prod" ? 300 : 30
//! }
//! resource "aws_lambda_function" "f" { timeout = var.settings["env"] == "prod" ? 60 : 6 }
//! ```
//!
//! `env` is unknown here, so `local.env == "prod"` becomes a condition. Both queues depend on it, and so would any
//! module that receives `local.env`. All of them refer to `0.data.terraform_remote_state.account.outputs.env`: the
//! identity that the value carries from its declaration, so their conditions are the same.
//!
//! A known value is its own identity (`count.index` is `0`). A computed value is named after its operands:
//! `lower(local.env)` is `lower(0.data…env)`. The condition of the function therefore differs: it is about
//! `0.var.settings.env`. Source text is never compared.

use super::{ResourceId, Value, ValueKind};
use crate::limits;
use crate::types::Type;
use conditions::ANY_OPERAND;
use knowledge::{Bounds, Cause, Published, Reason};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::sync::Arc;

/// Identifies an unknown value. Equal keys mean the same value wherever it is used.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Key of the element.
    pub key: Arc<str>,
    /// Keys of the values that it is computed from; `None` if it is the value of a declaration.
    pub operands: Option<Arc<[Arc<str>]>>,
    /// The reference that a user would write, if one exists: `var.settings.env`.
    pub name: Option<Arc<str>>,
    /// Bounds of the number, if it is one.
    pub bounds: Bounds,
    /// `true` if the value is not null: its variable has `nullable = false`.
    pub is_present: bool,
    /// The collection whose size this number is, or whose size this collection has.
    pub size: Option<Size>,
    /// The attribute of another unit that it is.
    pub remote: Option<Arc<RemoteAttribute>>,
    /// The name under which another unit may publish it.
    pub published: Option<Arc<Published>>,
}

/// An attribute of a resource in another unit, which only AWS knows: the ARN of its queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteAttribute {
    /// Name of the unit.
    pub unit: Arc<str>,
    /// Address of the resource in that unit.
    pub address: Arc<str>,
    /// Type of the resource.
    pub kind: Arc<str>,
    /// Name of the attribute.
    pub name: Arc<str>,
}

/// The relation of a size to the size of the collection `of`.
#[derive(Debug, Clone)]
pub struct Size {
    pub of: Arc<Identity>,
    pub relation: SizeRelation,
}

/// Relation of a size to another: that of `keys(x)`, `toset(x)` and `[for e in x : e if e.on]` of `x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SizeRelation {
    /// Equal sizes.
    Same,
    /// A size that may be less, but is 0 only if the other is.
    EmptyTogether,
    /// A size that may be less, and may be 0.
    AtMost,
}

impl Identity {
    /// Returns the identity of the declaration `name` in the module instance with index `module`.
    pub fn declared(module: usize, name: &str) -> Identity {
        Identity {
            name: (name.len() <= limits::MAX_SHOWN_NAME).then(|| name.into()),
            ..Identity::of(format!("{module}.{name}"))
        }
    }

    /// Returns the identity of an attribute of another unit.
    pub(crate) fn of_remote(attribute: RemoteAttribute) -> Identity {
        let RemoteAttribute {
            unit, address, name, ..
        } = &attribute;
        Identity {
            remote: Some(Arc::new(attribute.clone())),
            ..Identity::of(format!("{unit}: {address}.{name}"))
        }
    }

    /// Sets the name under which another unit may publish it.
    pub(crate) fn published_as(self, name: Option<Published>) -> Identity {
        Identity {
            published: name.map(Arc::new),
            ..self
        }
    }

    /// Returns the identity of the variable `name` in the module instance with index `module`.
    pub fn of_variable(module: usize, name: &str) -> Identity {
        Identity::declared(module, &format!("var.{name}"))
    }

    /// Restricts the number to `bounds`.
    pub(crate) fn bounded(self, bounds: Bounds) -> Identity {
        Identity {
            bounds: self.bounds.and(bounds),
            ..self
        }
    }

    /// Records that its size has the `relation` to that of `collection`.
    pub(crate) fn sized(self, collection: &Value, relation: SizeRelation) -> Identity {
        Identity {
            size: collection.size(relation),
            ..self
        }
    }

    /// Returns an identity without a name, distinguished by `key`.
    pub fn of(key: String) -> Identity {
        Identity {
            key: digested(key),
            operands: None,
            name: None,
            bounds: Bounds::ANY,
            is_present: false,
            size: None,
            remote: None,
            published: None,
        }
    }

    /// Sets the `operands` that it is computed from.
    pub(crate) fn on(self, mut operands: Vec<Arc<str>>) -> Identity {
        operands.sort();
        operands.dedup();
        if operands.len() > limits::MAX_IDENTITY_OPERANDS {
            operands = vec![ANY_OPERAND.into()];
        }
        Identity {
            operands: Some(operands.into()),
            ..self
        }
    }

    /// Returns the identity of the result of `operation` on `operands`; `None` if an operand has no identity.
    pub fn computed<'v>(operation: &str, operands: impl IntoIterator<Item = &'v Value>) -> Option<Identity> {
        let mut key = format!("{operation}(");
        let (mut all, mut published) = (Vec::new(), None);
        for operand in operands {
            let _ = write!(key, "{},", operand.identity()?);
            operand.operands(&mut all);
            // A decoded text, a map from the names of parameters to their values, and any of these values.
            match (operation, operand.published()) {
                ("jsondecode" | "zipmap", of_operand) => published = of_operand.cloned(),
                ("index", Some(all)) if all.name.is_empty() => published = Some(all.clone()),
                _ => {}
            }
        }
        Some(Identity {
            published,
            ..Identity::of(key + ")").on(all)
        })
    }

    /// Returns the identity of the element `element`, which is written as `.name`, `["name"]` or `[0]` (`written`).
    pub(crate) fn element(&self, element: &str, written: &str) -> Identity {
        let name = self.name.as_ref().map(|name| format!("{name}{written}"));
        let key = format!("{}.{element:?}", self.key);
        let operands = match &self.operands {
            // A digest does not begin with the key of the whole value, by which the two would be recognized as
            // entangled.
            None if key.len() > limits::MAX_IDENTITY_KEY => Some(Arc::from([self.key.clone()])),
            operands => operands.clone(),
        };
        let published = self.published.as_ref();
        Identity {
            operands,
            name: name.filter(|name| name.len() <= limits::MAX_SHOWN_NAME).map(Arc::from),
            published: published.map(|whole| Arc::new(whole.element(element))),
            ..Identity::of(key)
        }
    }
}

impl Value {
    /// Returns the bounds of the number; for a known number, that number itself.
    pub fn bounds(&self) -> Bounds {
        match &self.kind {
            ValueKind::Unknown(unknown) => unknown
                .identity
                .as_ref()
                .map_or(Bounds::ANY, |identity| identity.bounds),
            _ => self.to_whole().map_or(Bounds::ANY, Bounds::from),
        }
    }

    /// Returns the collection from whose size a size follows that has the `relation` to that of this one; `None` if it has
    /// no name. A text has another size than the collections.
    fn size(&self, relation: SizeRelation) -> Option<Size> {
        let of = self.as_unknown()?.identity.as_ref()?;
        let size = of.size.clone().or_else(|| {
            let is_text = self.declared.as_deref() == Some(&Type::Text);
            (of.name.is_some() && !is_text).then(|| Size {
                of: of.clone(),
                relation,
            })
        })?;
        let relation = size.relation.max(relation);
        Some(Size { relation, ..size })
    }

    /// Returns the collection that has an element if this one does.
    pub fn source(&self) -> Option<Arc<Identity>> {
        Some(self.size(SizeRelation::Same)?.of)
    }

    /// Returns the attribute of another unit that this value is.
    pub fn remote(&self) -> Option<&RemoteAttribute> {
        self.as_unknown()?.identity.as_ref()?.remote.as_deref()
    }

    /// Returns the name under which another unit may publish this value.
    pub fn published(&self) -> Option<&Arc<Published>> {
        self.as_unknown()?.identity.as_ref()?.published.as_ref()
    }

    /// Returns a key that is equal for equal values, known or not; `None` if the value has no identity.
    pub fn identity(&self) -> Option<Arc<str>> {
        let mut text = String::new();
        self.identify(&mut text)?;
        Some(digested(text))
    }

    /// Adds to `all` the keys of the values that it is computed from.
    pub fn operands(&self, all: &mut Vec<Arc<str>>) {
        match &self.kind {
            ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Template(items) => {
                items.iter().for_each(|item| item.operands(all));
            }
            ValueKind::Map(entries) => entries.iter().for_each(|(_, value)| value.operands(all)),
            ValueKind::Encoded(inner) | ValueKind::Rendered(inner) => inner.operands(all),
            ValueKind::Reference(..) | ValueKind::Resource(_) | ValueKind::AnyResource(_) => {
                all.extend(self.identity());
            }
            ValueKind::Unknown(unknown) => {
                let operands = |identity: &Identity| match &identity.operands {
                    Some(operands) => operands.to_vec(),
                    None => vec![identity.key.clone()],
                };
                all.extend(unknown.identity.as_deref().map(operands).unwrap_or_default());
            }
            ValueKind::Null | ValueKind::Bool(_) | ValueKind::Number(_) | ValueKind::Text(_) => {}
            ValueKind::Module(_) | ValueKind::AnyModule(_) => {}
            // The conditions are not values.
            ValueKind::Cases(_) => all.push(ANY_OPERAND.into()),
        }
    }

    fn identify(&self, text: &mut String) -> Option<()> {
        let mut all = |open: &str, values: &mut dyn Iterator<Item = &Value>| {
            text.push_str(open);
            for value in values {
                let _ = write!(text, "{},", value.identity()?);
            }
            text.push(')');
            Some(())
        };
        match &self.kind {
            ValueKind::List(items) => return all("list(", &mut items.iter()),
            ValueKind::Set(items) => return all("set(", &mut items.iter()),
            ValueKind::Template(parts) => return all("text(", &mut parts.iter()),
            ValueKind::Encoded(inner) => return all("json(", &mut std::iter::once(&**inner)),
            ValueKind::Rendered(inner) => return all("rendered(", &mut std::iter::once(&**inner)),
            ValueKind::Map(entries) => {
                for (key, value) in entries.iter() {
                    let _ = write!(text, "{key:?}={},", value.identity()?);
                }
            }
            ValueKind::Null => text.push_str("null"),
            ValueKind::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            ValueKind::Number(number) => text.push_str(&number.to_string()),
            ValueKind::Text(inner) => {
                let _ = write!(text, "{inner:?}");
            }
            ValueKind::Reference(id, attribute) => {
                let _ = write!(text, "{}.{attribute:?}", id.key());
            }
            ValueKind::Resource(id) | ValueKind::AnyResource(id) => text.push_str(&id.key()),
            ValueKind::Module(at) | ValueKind::AnyModule(at) => {
                let _ = write!(text, "{at}.module");
            }
            ValueKind::Unknown(unknown) => text.push_str(&unknown.identity.as_ref()?.key),
            ValueKind::Cases(_) => return None,
        }
        Some(())
    }

    /// Restricts an unknown number to `bounds`, and marks an unknown value as not null if `is_present`. It receives the
    /// identity `otherwise` if it has none yet.
    pub(crate) fn restricted(
        mut self,
        bounds: Bounds,
        is_present: bool,
        otherwise: impl FnOnce() -> Identity,
    ) -> Value {
        if let ValueKind::Unknown(unknown) = &mut self.kind
            && !unknown.error
            && (is_present || bounds.is_bounded())
        {
            let identity = unknown.identity.as_deref().cloned().unwrap_or_else(otherwise);
            unknown.identity = Some(Arc::new(Identity {
                is_present: is_present || identity.is_present,
                ..identity.bounded(bounds)
            }));
        }
        self
    }

    /// Sets the identity of an unknown value that is not an error.
    pub(crate) fn identified(mut self, identity: impl FnOnce() -> Option<Identity>) -> Value {
        if let ValueKind::Unknown(unknown) = &mut self.kind
            && !unknown.error
        {
            unknown.identity = identity().map(Arc::new);
        }
        self
    }

    /// Sets the identity of an unknown value that has none yet.
    pub(crate) fn otherwise_identified(self, identity: impl FnOnce() -> Option<Identity>) -> Value {
        match self.as_unknown() {
            Some(unknown) if unknown.identity.is_none() => self.identified(identity),
            _ => self,
        }
    }
}

impl ResourceId {
    /// Returns a key that is unique among the resources of the unit.
    fn key(&self) -> String {
        format!("{}.{}", self.module, self.local_address())
    }

    /// Returns the identity of the unknown attribute `name`.
    pub fn attribute(&self, name: &str) -> Identity {
        let identity = Identity::declared(self.module, &self.local_address()).element(name, &format!(".{name}"));
        match &*self.kind {
            // The account may depend on any variable: a run with `env = "prod"` uses the account of production.
            "aws_caller_identity" => identity.on(vec![ANY_OPERAND.into()]),
            _ => identity,
        }
    }
}

fn digested(key: String) -> Arc<str> {
    if key.len() <= limits::MAX_IDENTITY_KEY {
        return key.into();
    }
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(key.as_bytes()) {
        let _ = write!(text, "{byte:02x}");
    }
    text.into()
}

/// An unknown value: the reason, and its identity.
#[derive(Debug, Clone)]
pub struct Unknown {
    /// Reason why it is unknown.
    pub reason: Reason,
    /// Name by which equal unknown values are recognized.
    pub identity: Option<Arc<Identity>>,
    /// `true` if Terraform would reject the expression (`try` and `can` catch that).
    pub error: bool,
}

impl Unknown {
    /// Returns `true` if the value is unknown because a bound of sqslint was reached. Those are reported to the user.
    pub fn is_bound(&self) -> bool {
        self.reason.cause() == Cause::Limit
    }
}
