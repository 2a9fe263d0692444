//! What a value is that is not known: its identity, by which it is met again.
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
//! Nobody knows `env` here, so whether it is `prod` is a question. It is asked in each of two queues, and would be in
//! any module that is given `local.env`: always about `0.data.terraform_remote_state.account.outputs.env`, which is
//! the identity that the value took along from where it is declared. What is known is itself (`count.index` is `0`), and
//! what is computed from both is named after both: `lower(local.env)` is `lower(0.data…env)`. So the second question,
//! about `0.var.settings.env`, is another one, and no text of the configuration has to be compared.

use super::{Kind, ResourceId, Value};
use crate::graph::{Bounds, Cause, Reason};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::sync::Arc;

/// Longer identities are known by a digest: each may be a part of the next.
const MAX_KEY: usize = 200;
/// Longer names are not shown.
const MAX_NAME: usize = 100;

/// What an unknown value is the value of. Equal keys are the same thing, wherever and however it is met.
#[derive(Debug, Clone)]
pub(in super::super) struct Identity {
    pub(in super::super) key: Arc<str>,
    /// The reference that a user would write for it, where there is one: `var.settings.env`.
    pub(in super::super) name: Option<Arc<str>>,
    /// The numbers that it may be.
    pub(in super::super) bounds: Bounds,
}

impl Identity {
    /// Something that is declared: `name` in the module whose place among the instances is `module`.
    pub(in super::super) fn declared(module: usize, name: &str) -> Identity {
        Identity {
            key: digested(format!("{module}.{name}")),
            name: (name.len() <= MAX_NAME).then(|| name.into()),
            bounds: Bounds::ANY,
        }
    }

    /// The variable `name` of the module whose place among the instances is `module`.
    pub(in super::super) fn of_variable(module: usize, name: &str) -> Identity {
        Identity::declared(module, &format!("var.{name}"))
    }

    /// The same, which may be the numbers within `bounds` only.
    pub(in super::super) fn bounded(self, bounds: Bounds) -> Identity {
        Identity {
            bounds: self.bounds.and(bounds),
            ..self
        }
    }

    /// Something else, told apart by `key`, that has no name.
    pub(in super::super) fn of(key: String) -> Identity {
        Identity {
            key: digested(key),
            name: None,
            bounds: Bounds::ANY,
        }
    }

    /// What `operation` makes of `operands`; `None` where one of them has no identity.
    pub(in super::super) fn computed<'v>(
        operation: &str,
        operands: impl IntoIterator<Item = &'v Value>,
    ) -> Option<Identity> {
        let mut key = format!("{operation}(");
        for operand in operands {
            let _ = write!(key, "{},", operand.identity()?);
        }
        Some(Identity::of(key + ")"))
    }

    /// The element `key` of it, which `written` (`.name`, `["name"]`, `[0]`) says.
    pub(in super::super) fn element(&self, key: &str, written: &str) -> Identity {
        let name = self.name.as_ref().map(|name| format!("{name}{written}"));
        Identity {
            key: digested(format!("{}.{key:?}", self.key)),
            name: name.filter(|name| name.len() <= MAX_NAME).map(Arc::from),
            bounds: Bounds::ANY,
        }
    }
}

impl Value {
    /// The numbers that it may be, where it is known or not.
    pub(in super::super) fn bounds(&self) -> Bounds {
        match &self.kind {
            Kind::Unknown(unknown) => unknown
                .identity
                .as_ref()
                .map_or(Bounds::ANY, |identity| identity.bounds),
            _ => self.to_whole().map_or(Bounds::ANY, Bounds::from),
        }
    }

    /// What it is: equal for values that are the same, known or not. `None` where that cannot be said.
    pub(in super::super) fn identity(&self) -> Option<Arc<str>> {
        let mut text = String::new();
        self.identify(&mut text)?;
        Some(digested(text))
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
            Kind::List(items) => return all("list(", &mut items.iter()),
            Kind::Set(items) => return all("set(", &mut items.iter()),
            Kind::Template(parts) => return all("text(", &mut parts.iter()),
            Kind::Encoded(inner) => return all("json(", &mut std::iter::once(&**inner)),
            Kind::Rendered(inner) => return all("rendered(", &mut std::iter::once(&**inner)),
            Kind::Map(entries) => {
                for (key, value) in entries.iter() {
                    let _ = write!(text, "{key:?}={},", value.identity()?);
                }
            }
            Kind::Null => text.push_str("null"),
            Kind::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Kind::Number(number) => text.push_str(&number.to_string()),
            Kind::Text(inner) => {
                let _ = write!(text, "{inner:?}");
            }
            Kind::Reference(id, attribute) => {
                let _ = write!(text, "{}.{attribute:?}", id.key());
            }
            Kind::Resource(id) | Kind::AnyResource(id) => text.push_str(&id.key()),
            Kind::Module(at) | Kind::AnyModule(at) => {
                let _ = write!(text, "{at}.module");
            }
            Kind::Unknown(unknown) => text.push_str(&unknown.identity.as_ref()?.key),
            Kind::Cases(_) => return None,
        }
        Some(())
    }

    /// The same, where it is not known: one of the numbers within `bounds`, and what `otherwise` says where it is nothing
    /// else yet.
    pub(in super::super) fn bounded(mut self, bounds: Bounds, otherwise: impl FnOnce() -> Identity) -> Value {
        if let Kind::Unknown(unknown) = &mut self.kind
            && !unknown.error
            && bounds.is_bounded()
        {
            let identity = unknown.identity.as_deref().cloned().unwrap_or_else(otherwise);
            unknown.identity = Some(Arc::new(identity.bounded(bounds)));
        }
        self
    }

    /// The same as `identity`, where it is not known and no error.
    pub(in super::super) fn identified(mut self, identity: impl FnOnce() -> Option<Identity>) -> Value {
        if let Kind::Unknown(unknown) = &mut self.kind
            && !unknown.error
        {
            unknown.identity = identity().map(Arc::new);
        }
        self
    }

    /// The same as `identity`, where it is not known and is nothing else yet.
    pub(in super::super) fn otherwise_identified(self, identity: impl FnOnce() -> Option<Identity>) -> Value {
        match self.as_unknown() {
            Some(unknown) if unknown.identity.is_none() => self.identified(identity),
            _ => self,
        }
    }
}

impl ResourceId {
    /// Tells it from any other resource of its unit.
    fn key(&self) -> String {
        let of_data = if self.data { "data." } else { "" };
        format!(
            "{}.{of_data}{}.{}{}",
            self.module,
            self.kind,
            self.name,
            self.key.shown()
        )
    }

    /// What its attribute `name` is, where that is not known.
    pub(in super::super) fn attribute(&self, name: &str) -> Identity {
        let of_data = if self.data { "data." } else { "" };
        let resource = format!("{of_data}{}.{}{}", self.kind, self.name, self.key.shown());
        Identity::declared(self.module, &resource).element(name, &format!(".{name}"))
    }
}

fn digested(key: String) -> Arc<str> {
    if key.len() <= MAX_KEY {
        return key.into();
    }
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(key.as_bytes()) {
        let _ = write!(text, "{byte:02x}");
    }
    text.into()
}

/// Why a value is not known.
#[derive(Debug, Clone)]
pub(in super::super) struct Unknown {
    pub(in super::super) reason: Reason,
    pub(in super::super) identity: Option<Arc<Identity>>,
    /// Whether Terraform would refuse the expression (which `try` and `can` notice).
    pub(in super::super) error: bool,
}

impl Unknown {
    /// Whether a bound of ours keeps it from being known, of which users are told.
    pub(in super::super) fn is_bound(&self) -> bool {
        self.reason.cause() == Cause::Limit
    }
}
