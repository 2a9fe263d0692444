//! Names composed from unknown values, and links to the resources that have them.
//!
//! ```hcl
//! resource "aws_sqs_queue" "orders" { name = "${var.stage}-orders" }
//! resource "aws_lambda_event_source_mapping" "orders" {
//!   event_source_arn = "arn:aws:sqs:${var.region}:${var.account}:${var.stage}-orders"
//! }
//! ```
//!
//! The name of the queue is unknown, but it has an identity (`value/identity.rs`): the value of `var.stage` followed by
//! `-orders`. The last segment of the ARN has the same identity, so the ARN refers to the queue whatever the stage is.
//!
//! A link can precede the resource that it refers to, so a unit is lowered in up to two passes (`lower.rs`):
//!
//! 1. The first pass learns the composed name of `orders` ([`Terraform::learn_name`]). The mapping looks up the name in
//!    its ARN, which is recorded as requested and not found ([`Names::find`]).
//! 2. [`Names::settle`] ends the learning. A requested name belongs to a resource, so a second pass is needed; without
//!    such a name, the result of the first pass is final.
//! 3. The second pass lowers everything again, and the mapping's link is resolved to `aws_sqs_queue.orders`.
//!
//! If two resources have the same composed name, links to it stay unresolved.

use super::Declared;
use super::view::Terraform;
use crate::frontend::lower::BareName;
use crate::graph::{Form, Link, Target};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use terraform::value::{Value, ValueKind, joined};

/// The resources with composed names, and the names that links look up. They are collected in one pass and resolved in
/// another.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: FxHashMap<NameKey, Option<Arc<str>>>,
    requested: FxHashSet<NameKey>,
    is_settled: bool,
}

/// The type of a named resource, and the identity of its name.
type NameKey = (BareName, Arc<str>);

impl Names {
    /// Returns the address of the only resource that is called `name`. During the first pass, records the request
    /// instead.
    fn find(&mut self, kind: BareName, name: &Value) -> Option<Arc<str>> {
        let called = (kind, name.identity()?);
        if self.is_settled {
            return self.known.get(&called)?.clone();
        }
        self.requested.insert(called);
        None
    }

    /// Returns `true` if a resource is called `name`.
    pub(super) fn has(&mut self, name: &Value) -> bool {
        [BareName::Queue, BareName::Function]
            .into_iter()
            .any(|kind| self.find(kind, name).is_some())
    }

    /// Ends the learning. Returns `true` if a requested name belongs to a resource, so that another pass would resolve
    /// more links.
    pub(super) fn settle(&mut self) -> bool {
        self.is_settled = true;
        let is_known = |called: &NameKey| matches!(self.known.get(called), Some(Some(_)));
        self.requested.iter().any(is_known)
    }

    fn learn(&mut self, called: NameKey, address: &Arc<str>) {
        let known = self.known.entry(called).or_insert_with(|| Some(address.clone()));
        // Two resources with the same name cannot be distinguished.
        if known.as_ref() != Some(address) {
            *known = None;
        }
    }
}

impl Terraform<'_, '_> {
    /// Learns the name of a queue or a function if a part of it is unknown.
    pub(super) fn learn_name(&mut self, declared: &Declared) {
        let (kind, argument) = match &*declared.resource.kind {
            "aws_sqs_queue" => (BareName::Queue, "name"),
            "aws_lambda_function" => (BareName::Function, "function_name"),
            _ => return,
        };
        let Some(attribute) = declared
            .block
            .body
            .attribute(argument)
            .filter(|_| !self.names.is_settled)
        else {
            return;
        };
        let value = self.eval.eval(&attribute.value, &declared.scope);
        for case in value.each_case() {
            let name = self.eval.plain(case.then);
            let is_open = matches!(name.kind, ValueKind::Template(_) | ValueKind::Unknown(_));
            if let Some(identity) = name.identity().filter(|_| is_open) {
                self.names.learn((kind, identity), &declared.resource.address);
            }
        }
    }

    /// Resolves a string with unknown parts to the resource that has the name in it.
    pub(super) fn composed(&mut self, value: &Value, named: BareName) -> Option<Link> {
        let plain = self.eval.plain(value.clone());
        let (form, named, name) = match &plain.kind {
            ValueKind::Template(parts) => named_in(parts, named),
            _ => None,
        }
        .unwrap_or((Form::Name, named, plain));
        let address = self.names.find(named, &name)?;
        Some(Link {
            target: Target::Resource(address),
            form,
        })
    }
}

/// Returns the name at the end of an ARN or of a queue URL.
fn named_in(parts: &[Value], named: BareName) -> Option<(Form, BareName, Value)> {
    let start = parts.first()?.to_text()?;
    let (form, separator) = match () {
        () if start.starts_with("arn:") => (Form::Arn, ':'),
        () if start.starts_with("https://") => (Form::Url, '/'),
        () => return None,
    };
    let segments = segments(parts, separator);
    let text = |at: usize| segments.get(at).and_then(Value::to_text);
    let (named, at) = match (form, text(2).as_deref()) {
        (Form::Arn, Some("sqs")) => (BareName::Queue, 5),
        (Form::Arn, Some("lambda")) => (BareName::Function, 6),
        (Form::Url, _) => (named, 4),
        _ => return None,
    };
    let name = segments.get(at).filter(|_| segments.len() == at + 1)?;
    Some((form, named, name.clone()))
}

/// Splits a template at the separators in its known parts.
fn segments(parts: &[Value], separator: char) -> Vec<Value> {
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for part in parts {
        let Some(text) = part.to_text() else {
            all.last_mut().into_iter().for_each(|last| last.push(part.clone()));
            continue;
        };
        for (at, piece) in text.split(separator).enumerate() {
            if at > 0 {
                all.push(Vec::new());
            }
            let piece = Value::text(piece);
            all.last_mut().into_iter().for_each(|last| last.push(piece.clone()));
        }
    }
    all.into_iter().map(joined).collect()
}
