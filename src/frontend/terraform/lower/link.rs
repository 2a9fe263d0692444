//! Links: resolves a value that names a queue, a function or another resource.
//!
//! A string with an unknown Region or account still names its resource if the name is known. This module does not
//! compare names with the declarations of the project; the graph does.

use super::view::{pieced, refusal, text};
use crate::frontend::lower::delivery::API_QUEUE;
use crate::graph::{Cause, Form, Knowledge, Link, Published, Reason, Target, Unresolved};
use std::borrow::Cow;
use std::sync::Arc;
use terraform::eval::Evaluator;
use terraform::provider;
use terraform::value::{ResourceId, Value, ValueKind, joined};

/// Maximum depth of aliases of aliases, and of data sources that refer to others.
const MAX_DEPTH: usize = 8;

/// Returns the link that a value represents.
pub(super) fn link(eval: &mut Evaluator, value: &Value) -> Result<Link, Unresolved> {
    follow(eval, value, 0)
}

fn follow(eval: &mut Evaluator, value: &Value, depth: usize) -> Result<Link, Unresolved> {
    if let Some(remote) = value.remote() {
        return Ok(Link {
            target: Target::OtherUnit {
                unit: remote.unit.clone(),
                address: remote.address.clone(),
            },
            form: provider::form(&remote.kind, &remote.name).unwrap_or(Form::Name),
        });
    }
    match &value.kind {
        ValueKind::Reference(id, attribute) => reference(eval, id, attribute, depth),
        ValueKind::Text(text) => Ok(external(text)),
        ValueKind::Template(parts) => {
            let plain: Vec<Value> = parts.iter().map(|part| eval.plain(part.clone())).collect();
            match joined(plain).kind {
                ValueKind::Text(text) => Ok(external(&text)),
                ValueKind::Template(plain) => composed(eval, parts, depth)
                    .or_else(|| partly_known(eval, &plain))
                    .ok_or_else(|| pieced(&ValueKind::Template(plain).into(), refusal(value, "it is not a link"))),
                _ => Err(refusal(value, "it is not a link").into()),
            }
        }
        _ => Err(refusal(value, "it is not an ARN, a URL or a name").into()),
    }
}

/// Returns a link to a function. The ARN under which an API invokes a function is not a link to that function.
pub(super) fn function_link(eval: &mut Evaluator, value: &Value) -> Result<Link, Unresolved> {
    match &value.kind {
        ValueKind::Reference(id, attribute) if matches!(&**attribute, "invoke_arn" | "qualified_invoke_arn") => {
            let path = "lambda:path/2015-03-31/functions";
            let function = id.address();
            let written = format!("arn:aws:apigateway:${{region}}:{path}/${{{function}.arn}}/invocations");
            Ok(external(&written.into()))
        }
        _ => link(eval, value),
    }
}

fn link_to(target: Target, form: Form) -> Link {
    Link { target, form }
}

/// Returns a link to a literal ARN, URL or name, declared or not.
fn external(text: &Arc<str>) -> Link {
    let form = if text.starts_with("arn:") {
        Form::Arn
    } else if text.starts_with("https://") || text.starts_with("http://") {
        Form::Url
    } else {
        Form::Name
    };
    link_to(Target::External(text.clone()), form)
}

fn reference(eval: &mut Evaluator, id: &Arc<ResourceId>, attribute: &str, depth: usize) -> Result<Link, Unresolved> {
    let form = provider::form(&id.kind, attribute).unwrap_or(Form::Name);
    let label = (id.kind.clone(), id.name.clone());
    if eval.resource(id.module, id.data, &label).is_none() {
        let undeclared = eval.undeclared(id.module, id.address());
        let name = undeclared.undeclared_name().ok_or_else(|| undeclared.clone())?;
        return Ok(link_to(Target::Dangling(name.into()), form));
    }
    let known_later =
        || Cause::KnownAfterApply.because(format!("`{}.{attribute}` is known only after apply", id.address()));
    if depth >= MAX_DEPTH {
        return Err(known_later().into());
    }
    if id.data {
        let found = looked_up(eval, id, form, depth).or_else(|| data_source_link(id, attribute));
        return found.ok_or_else(|| looked_up_elsewhere(eval, id, form, known_later()));
    }
    if &*id.kind == "aws_lambda_alias" {
        let function = eval.configured(id, &"function_name".into());
        let link = follow(eval, &function, depth + 1)?;
        return Ok(match link.target {
            Target::Resource(_) => Link { form, ..link },
            // A name stays a name although the alias has an ARN.
            _ => link,
        });
    }
    if &*id.kind == "aws_kms_alias" && attribute.starts_with("target_key_") {
        let key = eval.configured(id, &"target_key_id".into());
        return Ok(Link {
            form,
            ..follow(eval, &key, depth + 1)?
        });
    }
    Ok(link_to(Target::Resource(id.address().clone()), form))
}

/// Returns the argument by which a data source finds a resource.
fn key_of(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "aws_lambda_function" | "aws_lambda_alias" => "function_name",
        "aws_sqs_queue" | "aws_iam_role" | "aws_sns_topic" => "name",
        "aws_iam_policy" => "arn",
        _ => return None,
    })
}

/// Returns the unresolved link of a data source whose name another unit may publish.
fn looked_up_elsewhere(eval: &mut Evaluator, id: &Arc<ResourceId>, form: Form, reason: Reason) -> Unresolved {
    let name = key_of(&id.kind).map(|argument| eval.configured(id, &argument.into()));
    let Some(published) = name.as_ref().and_then(|name| name.published()) else {
        return reason.into();
    };
    let published = Published {
        within: Some(form),
        ..Published::clone(published)
    };
    Unresolved::with_knowledge(reason, Knowledge::Published(Arc::new(published)))
}

/// Returns what a data source finds: a resource of the project if one has the name, otherwise an external one.
fn looked_up(eval: &mut Evaluator, id: &Arc<ResourceId>, form: Form, depth: usize) -> Option<Link> {
    let name = eval.configured(id, &key_of(&id.kind)?.into());
    let found = follow(eval, &name, depth + 1).ok()?;
    let Target::External(name) = &found.target else {
        return Some(Link { form, ..found });
    };
    if found.form != Form::Name {
        return Some(found);
    }
    let region = eval.region_of(id).to_text();
    let region = region.as_deref().unwrap_or("${region}");
    let written = match (&*id.kind, form) {
        ("aws_sqs_queue", Form::Arn) => format!("arn:aws:sqs:{region}:${{account}}:{name}"),
        ("aws_sqs_queue", Form::Url) => format!("https://sqs.{region}.amazonaws.com/${{account}}/{name}"),
        ("aws_lambda_function" | "aws_lambda_alias", Form::Arn) => {
            format!("arn:aws:lambda:{region}:${{account}}:function:{name}")
        }
        ("aws_sns_topic", Form::Arn) => format!("arn:aws:sns:{region}:${{account}}:{name}"),
        _ => return Some(found),
    };
    Some(link_to(Target::External(written.into()), form))
}

/// Returns a link to the data source itself if it finds a resource that the graph has no node for.
fn data_source_link(id: &ResourceId, attribute: &str) -> Option<Link> {
    let is_of_graph = ["aws_sqs_", "aws_lambda_", "aws_sns_", "aws_iam_", "aws_kms_"];
    let is_other = id.kind.starts_with("aws_") && !is_of_graph.iter().any(|start| id.kind.starts_with(start));
    let is_arn = attribute == "arn" || attribute.ends_with("_arn");
    (is_other && is_arn).then(|| link_to(Target::Resource(id.address().clone()), Form::Arn))
}

/// Returns the link within a composed string: `${function.arn}:live`, `arn:aws:sqs:${region}:${account}:${queue.name}`.
fn composed(eval: &mut Evaluator, parts: &[Value], depth: usize) -> Option<Link> {
    let non_empty: Vec<&Value> = parts
        .iter()
        .filter(|part| part.to_text().is_none_or(|text| !text.is_empty()))
        .collect();
    let (first, last) = (*non_empty.first()?, *non_empty.last()?);
    if let ValueKind::Reference(id, attribute) = &first.kind
        && matches!(&*id.kind, "aws_lambda_function" | "aws_lambda_alias")
        && non_empty
            .get(1)
            .and_then(|part| eval.plain((*part).clone()).to_text())
            .is_some_and(|text| text.starts_with(':'))
    {
        return reference(eval, id, attribute, depth).ok();
    }
    let before = non_empty
        .len()
        .checked_sub(2)
        .and_then(|at| non_empty.get(at)?.to_text())?;
    let mut texts = non_empty.iter().filter_map(|part| part.to_text());
    let is_api_queue = texts.any(|text| text.contains(API_QUEUE));
    if let ValueKind::Reference(id, attribute) = &last.kind
        && provider::is_name(&id.kind, attribute)
    {
        let form = match first.to_text()? {
            start if start.starts_with("arn:") && (before.ends_with(':') || before.ends_with(":role/")) => Form::Arn,
            start if start.starts_with("https://sqs.") && before.ends_with('/') => Form::Url,
            start if start.starts_with("arn:") && before.ends_with('/') && is_api_queue => Form::Url,
            _ => return None,
        };
        let link = reference(eval, id, attribute, depth).ok()?;
        return Some(Link { form, ..link });
    }
    None
}

/// Returns a link to an ARN or URL in which only the partition, the Region or the account is unknown.
fn partly_known(eval: &Evaluator, parts: &[Value]) -> Option<Link> {
    let start = parts.first()?.to_text()?;
    let (form, separator, resource_at) = match start {
        start if start.starts_with("arn:") => (Form::Arn, ':', 5),
        start if start.starts_with("https://sqs.") => (Form::Url, '/', 4),
        _ => return None,
    };
    let mut written = String::new();
    let mut segment = 0;
    let mut known_service = false;
    for part in parts {
        match part.to_text() {
            Some(text) => {
                for letter in text.chars() {
                    if letter == separator {
                        segment += 1;
                    }
                    known_service |= segment == 2 && letter != separator;
                    written.push(letter);
                }
            }
            // The account in the URI of an API.
            None if form == Form::Arn && written.ends_with(API_QUEUE) => written.push_str(&placeholder(eval, part)),
            // The service and the name must be known.
            None if segment >= resource_at || (form == Form::Arn && segment == 2) => return None,
            None => written.push_str(&placeholder(eval, part)),
        }
    }
    let whole = segment >= resource_at && known_service && !written.ends_with(separator);
    whole.then(|| link_to(Target::External(written.into()), form))
}

/// Returns a placeholder for an unknown part: its source text, unless that contains special characters.
fn placeholder(eval: &Evaluator, part: &Value) -> String {
    let text = part.span.map(|span| eval.shown(span));
    let text = text.filter(|text| !text.contains(['{', '}', '$', '"', ':', '/']));
    format!("${{{}}}", text.as_deref().unwrap_or("…"))
}

/// Returns the alias or version in a reference to a function.
pub(super) fn qualifier(eval: &mut Evaluator, value: &Value) -> Result<Option<String>, Unresolved> {
    match &value.kind {
        ValueKind::Reference(id, _) if &*id.kind == "aws_lambda_alias" => Ok(Some(id.address().to_string())),
        ValueKind::Reference(id, attribute) if &**attribute == "qualified_arn" => {
            Ok(Some(format!("{}.{attribute}", id.address())))
        }
        ValueKind::Reference(..) => Ok(None),
        ValueKind::Template(parts) if is_qualified(parts) => {
            let rest = parts
                .iter()
                .skip(1)
                .filter_map(|part| eval.plain(part.clone()).to_text());
            Ok(rest
                .map(|text| text.to_string())
                .collect::<String>()
                .strip_prefix(':')
                .map(str::to_owned))
        }
        _ => {
            let written = text(eval, value)?;
            let mut parts = written.split(':');
            // The formats are `name:qualifier` and `…:function:name:qualifier`.
            let qualifier = if written.starts_with("arn:") {
                parts.nth(7)
            } else {
                parts.nth(1)
            };
            Ok(qualifier.map(str::to_owned))
        }
    }
}

/// Returns `true` for `${function.arn}:live`, with known text after the reference.
fn is_qualified(parts: &[Value]) -> bool {
    let is_function =
        |part: &Value| matches!(&part.kind, ValueKind::Reference(id, _) if &*id.kind == "aws_lambda_function");
    parts.first().is_some_and(is_function) && parts.iter().skip(1).all(|part| part.to_text().is_some())
}

/// Returns the service of an ARN or of a referenced resource.
pub(super) fn service(value: &Value) -> Option<Cow<'static, str>> {
    match &value.kind {
        ValueKind::Reference(id, _) => service_of_kind(&id.kind),
        ValueKind::Unknown(_) => service_of_kind(&value.remote()?.kind),
        ValueKind::Text(text) => service_of(text).map(|service| service.to_owned().into()),
        ValueKind::Template(parts) => {
            // In `arn:${local.partition}:kinesis:…`, the unknown part does not contain a colon.
            let texts = parts.iter().map(Value::to_text);
            let text: String = texts.map(|text| text.as_deref().unwrap_or("${}").to_owned()).collect();
            service_of(&text).map(|service| service.to_owned().into())
        }
        _ => None,
    }
}

fn service_of_kind(kind: &str) -> Option<Cow<'static, str>> {
    match kind {
        "aws_sqs_queue" | "awscc_sqs_queue" => Some("sqs".into()),
        _ => (kind.starts_with("aws_") || kind.starts_with("awscc_")).then_some("other".into()),
    }
}

fn service_of(arn: &str) -> Option<&str> {
    let service = arn.strip_prefix("arn:")?.split(':').nth(1)?;
    (!service.is_empty() && !service.contains("${")).then_some(service)
}
