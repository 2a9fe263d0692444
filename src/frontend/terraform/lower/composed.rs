//! Names that are put together from something unknown, and links to the resources that have them.
//!
//! ```hcl
//! resource "aws_sqs_queue" "orders" { name = "${var.stage}-orders" }
//! resource "aws_lambda_event_source_mapping" "orders" {
//!   event_source_arn = "arn:aws:sqs:${var.region}:${var.account}:${var.stage}-orders"
//! }
//! ```
//!
//! Nobody knows the name of the queue, but it is what `var.stage` is, followed by `-orders`. The ARN ends in the same, so
//! the two are one, whatever the stage is. Names are compared by their identity (`value/identity.rs`).

use super::super::value::{Kind, Value, joined};
use super::Declared;
use super::view::Terraform;
use crate::frontend::lower::Named;
use crate::graph::{Form, Link, Target};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The resources that have such names, and which names are asked for. They are learned in one pass over everything, and
/// found in another.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: FxHashMap<Called, Option<Arc<str>>>,
    asked: FxHashSet<Called>,
    is_settled: bool,
}

/// What kind of thing has a name, and the identity of that.
type Called = (Named, Arc<str>);

impl Names {
    /// The one resource that is called `name`.
    fn find(&mut self, kind: Named, name: &Value) -> Option<Arc<str>> {
        let called = (kind, name.identity()?);
        if self.is_settled {
            return self.known.get(&called)?.clone();
        }
        self.asked.insert(called);
        None
    }

    /// Whether any resource is called `name`.
    pub(super) fn has(&mut self, name: &Value) -> bool {
        [Named::Queue, Named::Function]
            .into_iter()
            .any(|kind| self.find(kind, name).is_some())
    }

    /// Ends the learning; whether a name was asked for that a resource has.
    pub(super) fn settle(&mut self) -> bool {
        self.is_settled = true;
        let is_known = |called: &Called| matches!(self.known.get(called), Some(Some(_)));
        self.asked.iter().any(is_known)
    }

    fn learn(&mut self, called: Called, address: &Arc<str>) {
        let known = self.known.entry(called).or_insert_with(|| Some(address.clone()));
        // Two of one name cannot be told apart.
        if known.as_ref() != Some(address) {
            *known = None;
        }
    }
}

impl Terraform<'_, '_> {
    /// Learns the name of a queue or a function, if something in it is unknown.
    pub(super) fn learn_name(&mut self, declared: &Declared) {
        let (kind, argument) = match &*declared.resource.kind {
            "aws_sqs_queue" => (Named::Queue, "name"),
            "aws_lambda_function" => (Named::Function, "function_name"),
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
            let is_open = matches!(name.kind, Kind::Template(_) | Kind::Unknown(_));
            if let Some(identity) = name.identity().filter(|_| is_open) {
                self.names.learn((kind, identity), &declared.resource.address);
            }
        }
    }

    /// A link in a string of unknown pieces, whose name is that of a resource.
    pub(super) fn composed(&mut self, value: &Value, named: Named) -> Option<Link> {
        let plain = self.eval.plain(value.clone());
        let (form, named, name) = match &plain.kind {
            Kind::Template(parts) => named_in(parts, named),
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

/// The name at the end of an ARN or of the URL of a queue.
fn named_in(parts: &[Value], named: Named) -> Option<(Form, Named, Value)> {
    let start = parts.first()?.to_text()?;
    let (form, separator) = match () {
        () if start.starts_with("arn:") => (Form::Arn, ':'),
        () if start.starts_with("https://") => (Form::Url, '/'),
        () => return None,
    };
    let segments = segments(parts, separator);
    let text = |at: usize| segments.get(at).and_then(Value::to_text);
    let (named, at) = match (form, text(2).as_deref()) {
        (Form::Arn, Some("sqs")) => (Named::Queue, 5),
        (Form::Arn, Some("lambda")) => (Named::Function, 6),
        (Form::Url, _) => (named, 4),
        _ => return None,
    };
    let name = segments.get(at).filter(|_| segments.len() == at + 1)?;
    Some((form, named, name.clone()))
}

/// What lies between the separators that are known to be there.
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
