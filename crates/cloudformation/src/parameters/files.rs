//! Parses parameter files in the formats of AWS tools: the lists of `aws cloudformation create-stack` and `deploy`, the
//! object of `CodePipeline`, a plain object, and a SAM configuration.

use super::{Supplied, assignment, samconfig, sceptre};
use crate::document::scalar;
use knowledge::{Cause, Reason};
use source::reading::{ReadError, read as read_text};
use source::{Sources, Span};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use trees::parsed;
use trees::{Entry, Node, SyntaxError, Value};

/// Arguments by parameter, in the order written.
pub(super) type Assignments = Vec<(Arc<str>, Supplied)>;

/// Reads a file of `--parameters`, or returns a message for the user.
pub(super) fn read(path: &Path, sources: &Sources) -> Result<Assignments, String> {
    let shown = sources.shown_of(path);
    let absolute = sources
        .files()
        .named(path)
        .map_err(|refusal| format!("`--parameters {shown}`: {refusal}"))?;
    let file = read_text(&absolute, sources).map_err(|error| match error {
        ReadError::Io(message) => format!("`--parameters`: {message}"),
        ReadError::Unfit(found) => format!("`--parameters {shown}`: {}", found.message),
    })?;
    let source = sources.file(file);
    let fault = |problem: &SyntaxError| {
        let place = sources.start(problem.span);
        format!(
            "`--parameters {shown}`: line {}, column {}: {}",
            place.line, place.column, problem.message
        )
    };
    let parsed = parsed::settings(file, &source);
    if let Some(problem) = parsed.errors.first().or(parsed.limits.first()) {
        return Err(fault(problem));
    }
    let by: Arc<str> = format!("`{}`", source.base_name()).into();
    let Some(document) = parsed.documents.first() else {
        return Ok(Vec::new());
    };
    if absolute.extension().is_some_and(|ending| ending == "toml") {
        let overrides = samconfig::overrides(document, samconfig::DEFAULT);
        return Ok(overrides.map_or_else(Vec::new, |node| samconfig::assignments(node, &by)));
    }
    if let Some(found) = sceptre::assignments(document, &by) {
        return Ok(found);
    }
    assignments(document, &by).map_err(|problem| fault(&problem))
}

/// Returns the names of the parameters that a document sets, if its format is one that only parameter files have.
pub(super) fn names_in(document: &Node) -> Option<BTreeSet<Arc<str>>> {
    let is_form = match &document.value {
        Value::Sequence(items) => items.iter().all(|item| item.get("ParameterKey").is_some()),
        Value::Mapping(entries) => {
            let is_other = |entry: &Entry| !matches!(&*entry.key, "Parameters" | "Tags" | "StackPolicy");
            document.get("Parameters").and_then(Node::entries).is_some() && !entries.iter().any(is_other)
        }
        _ => false,
    };
    let found = assignments(document, &"".into()).ok().filter(|_| is_form)?;
    Some(found.into_iter().map(|(name, _)| name).collect())
}

/// Parses a document in any of the formats.
fn assignments(document: &Node, by: &Arc<str>) -> Result<Assignments, SyntaxError> {
    match &document.value {
        Value::Null => Ok(Vec::new()),
        Value::Sequence(items) => {
            let mut all = Vec::new();
            for item in items {
                all.extend(listed(item, by)?);
            }
            Ok(all)
        }
        Value::Mapping(_) => {
            let inner = document.get("Parameters").filter(|inner| inner.entries().is_some());
            let entries = inner.unwrap_or(document).entries().unwrap_or_default();
            let each = entries.iter().map(|entry| {
                let value = value_of(&entry.value)?;
                Ok((entry.key.clone(), supplied(value, entry.span(), by)))
            });
            each.collect()
        }
        _ => Err(refused(document)),
    }
}

/// Parses `{"ParameterKey": …, "ParameterValue": …}`, or `"Name=value"`.
fn listed(item: &Node, by: &Arc<str>) -> Result<Option<(Arc<str>, Supplied)>, SyntaxError> {
    if let Some(text) = item.as_str() {
        let (name, value) = assignment(text).ok_or_else(|| refused(item))?;
        return Ok(Some((name.into(), supplied(Ok(value.into()), item.span, by))));
    }
    let name = item
        .get("ParameterKey")
        .and_then(Node::as_str)
        .ok_or_else(|| refused(item))?;
    if let Some(entry) = item.entry("ParameterValue") {
        let value = value_of(&entry.value)?;
        return Ok(Some((name.into(), supplied(value, entry.span(), by))));
    }
    // The files do not contain the value of the deployed stack.
    let previous = item.get("UsePreviousValue").and_then(scalar);
    if previous.is_some_and(|text| text.eq_ignore_ascii_case("true")) {
        Ok(None)
    } else {
        Err(refused(item))
    }
}

pub(super) fn supplied(value: Result<Arc<str>, Reason>, span: Span, by: &Arc<str>) -> Supplied {
    Supplied {
        value,
        span: Some(span),
        by: by.clone(),
    }
}

/// Parses a scalar, a list of scalars, which is joined by commas, or a function of the pipeline.
fn value_of(node: &Node) -> Result<Result<Arc<str>, Reason>, SyntaxError> {
    if let Some(items) = node.items() {
        let texts: Option<Vec<String>> = items.iter().map(scalar).collect();
        return texts
            .map(|texts| Ok(texts.join(",").into()))
            .ok_or_else(|| refused(node));
    }
    match node.entries() {
        Some([entry]) if entry.key.starts_with("Fn::") => Ok(Err(
            Cause::RunContext.because(format!("`{}` is known only in the pipeline", entry.key))
        )),
        Some(_) => Err(refused(node)),
        None => scalar(node).map(|text| Ok(text.into())).ok_or_else(|| refused(node)),
    }
}

fn refused(node: &Node) -> SyntaxError {
    SyntaxError {
        span: node.span,
        message: "expected names with values: a list of `ParameterKey` and `ParameterValue`, a list of `Name=value`, \
                  or an object"
            .to_owned(),
    }
}
