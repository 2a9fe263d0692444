//! Classifies the target of a link: a queue, a function, an alias of a function.

use crate::graph::{self, Cause, Form, Reason, Target};
use cloudformation::template::Template;
use cloudformation::value::Link;
use cloudformation::value::{Evaluated, Part, Reference, literal, rendered, split};
use conditions::Condition;
use std::sync::Arc;

/// Returns whether `link` points to a queue, if known.
pub(super) fn is_queue(template: &Template<'_>, link: &Link) -> Option<bool> {
    match &link.target {
        Target::External(arn) => (link.form == Form::Arn && is_of_other_service(arn)).then_some(false),
        _ => Some(&*kind(template, link)? == "AWS::SQS::Queue"),
    }
}

/// Returns `true` if a partly unresolved ARN belongs to something other than a queue.
pub(super) fn is_of_another(arn: &Evaluated<'_>) -> bool {
    let Evaluated::Text(parts) = arn else { return false };
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Unresolved { .. } | Part::Reference(_) => "${}",
    });
    is_of_other_service(&texts.collect::<String>())
}

/// Returns `true` if `link` points to a function.
pub(super) fn is_function(template: &Template<'_>, link: &Link) -> bool {
    match &link.target {
        Target::External(text) => text.starts_with("arn:aws:lambda:"),
        _ => kind(template, link)
            .is_some_and(|kind| matches!(&*kind, "AWS::Lambda::Function" | "AWS::Serverless::Function")),
    }
}

/// Returns the type of the resource that `link` points to, if known.
pub(super) fn kind(template: &Template<'_>, link: &Link) -> Option<Arc<str>> {
    match &link.target {
        Target::Resource(id) => template.resource(id).map(|resource| resource.kind.clone()),
        Target::OtherUnit { .. } => template.foreign_kind(&link.target),
        Target::External(_) | Target::Dangling(_) => None,
    }
}

/// Returns the link to the Systems Manager parameter that `value` names. Other values cannot link to it, because its
/// content may be anything.
pub(super) fn parameter(template: &Template<'_>, value: &Evaluated<'_>) -> Option<Link> {
    let Evaluated::Text(parts) = value else {
        return None;
    };
    let [Part::Reference(reference)] = parts.as_slice() else {
        return None;
    };
    let declared = template.resource(&reference.id)?;
    let is_its_name = reference.attribute.is_none() && &*declared.kind == "AWS::SSM::Parameter";
    is_its_name.then(|| Link {
        target: Target::Resource(reference.id.clone()),
        form: Form::Name,
    })
}

/// Returns the alias or version in a reference to a function.
pub(super) fn qualifier(template: &Template<'_>, value: &Evaluated<'_>) -> Result<Option<String>, Reason> {
    let Evaluated::Text(parts) = value else {
        return value.text().map(|_| None);
    };
    if let [Part::Reference(reference)] = parts.as_slice() {
        return qualifier_of(template, reference);
    }
    let segments = split(parts, ":");
    let is_arn = segments.first().is_some_and(|first| rendered(first) == "arn");
    // `arn:…:function:NAME:QUALIFIER`, `NAME:QUALIFIER`, `ACCOUNT:function:NAME:QUALIFIER`
    let at = match segments.len() {
        _ if is_arn => 7,
        0..=2 => 1,
        _ => 3,
    };
    segments.get(at).map(|segment| literal(segment)).transpose()
}

fn qualifier_of(template: &Template<'_>, reference: &Reference) -> Result<Option<String>, Reason> {
    let declared = template.resource(&reference.id);
    match declared.map(|declared| (&*declared.kind, declared)) {
        Some(("AWS::Lambda::Alias", alias)) => {
            let names = template.field(&template.properties_of(alias), "Name", &Condition::always());
            match &*names {
                [only] => only.value.text().map(Some),
                _ => Err(Cause::Unsupported.because(format!("the name of `{}` depends on a condition", reference.id))),
            }
        }
        Some(("AWS::Lambda::Function" | "AWS::Serverless::Function", _)) => Ok(None),
        _ => Err(Cause::KnownAfterApply.because(format!("`{}` is known only at deployment", reference.shown()))),
    }
}

/// Returns `true` if an ARN states a service other than SQS.
fn is_of_other_service(arn: &str) -> bool {
    let rest = arn.strip_prefix("arn:").unwrap_or_default();
    let after_partition = match rest.strip_prefix("${") {
        Some(placeholder) => placeholder.split_once("}:"),
        None => rest.split_once(':'),
    };
    let service = after_partition.and_then(|(_, rest)| rest.split(':').next());
    service.is_some_and(|service| !service.is_empty() && !service.starts_with("${") && service != "sqs")
}

impl From<Link> for graph::Link {
    fn from(Link { target, form }: Link) -> Self {
        graph::Link { target, form }
    }
}
