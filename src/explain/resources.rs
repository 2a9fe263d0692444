//! Formats the values and links at a location, merging lines that several environments share.

use super::range::{ExplainedRange, places, written};
use crate::graph::relations::relations;
use crate::graph::values::{self, ListedValue};
use crate::graph::{Graph, Resource};
use knowledge::UnitKey;
use rustc_hash::FxHashMap;
use source::Span;

/// Maximum number of resources whose incoming links are listed.
pub const MAX_WITH_LINKS: usize = 10;

/// Explanation of one resource.
#[derive(Debug)]
pub struct ExplainedResource {
    /// Unit that declares the resource.
    pub unit: String,
    /// Address or logical id.
    pub address: String,
    /// CDK construct that generated the resource.
    pub construct: Option<String>,
    /// Resource type, as written.
    pub kind: String,
    /// Span of the declaration's header.
    pub header: Span,
    /// Conditions under which the resource exists, and reasons why it may not exist.
    pub when: Vec<String>,
    /// Values and outgoing links, followed by incoming links.
    pub lines: Vec<ExplainedLine>,
}

/// A value or a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedLine {
    /// Text, such as `visibility_timeout_seconds = 30 s (the default)` or `read by …`.
    pub text: String,
    /// Span of the value; `None` if its attribute is absent.
    pub span: Option<Span>,
    /// Origins of the value, nearest first.
    pub origins: Vec<(String, Span)>,
    /// Environments that the line applies to; empty if it applies to all.
    pub environments: Vec<String>,
}

/// Returns the explanations of the resources at `place` in the graphs of all environments.
pub(super) fn explain_resources(graphs: &[(Option<&str>, &Graph)], place: &ExplainedRange) -> Vec<ExplainedResource> {
    let mut all: Vec<ExplainedResource> = Vec::new();
    let mut known: FxHashMap<(UnitKey, String), usize> = FxHashMap::default();
    for (environment, graph) in graphs {
        for (resource, mut lines, is_written_here) in lines(graph, place) {
            let key = (graph.unit(resource.unit).key.clone(), resource.address.to_string());
            let at = *known.entry(key).or_insert(all.len());
            // Incoming links are listed only for resources declared here, and only for the first of many.
            if is_written_here && at < MAX_WITH_LINKS {
                lines.extend(links(graph, resource));
            }
            if at == all.len() {
                all.push(explain_resource(graph, resource));
            }
            if let Some(reported) = all.get_mut(at) {
                for line in lines {
                    add(&mut reported.lines, line, *environment);
                }
            }
        }
    }
    for line in all.iter_mut().flat_map(|reported| &mut reported.lines) {
        if line.environments.len() == graphs.len() {
            line.environments.clear();
        }
    }
    all
}

fn explain_resource(graph: &Graph, resource: &Resource) -> ExplainedResource {
    let when = resource.when.describe().map(|when| format!("only if {when}"));
    let uncertain = resource.uncertain.as_ref();
    let uncertain = uncertain.map(|reason| format!("which may not exist, as {reason}"));
    ExplainedResource {
        unit: graph.unit(resource.unit).name.clone(),
        address: resource.address.to_string(),
        construct: resource.construct.as_deref().map(str::to_owned),
        kind: resource.kind.to_string(),
        header: resource.header,
        when: when.into_iter().chain(uncertain).collect(),
        lines: Vec::new(),
    }
}

/// Adds `line`, or its environment to an equal line. Lines that differ by environment are kept together.
fn add(lines: &mut Vec<ExplainedLine>, mut line: ExplainedLine, environment: Option<&str>) {
    let same =
        |known: &ExplainedLine| (&known.text, known.span, &known.origins) == (&line.text, line.span, &line.origins);
    let environment = environment.map(str::to_owned);
    if let Some(known) = lines.iter_mut().find(|known| same(known)) {
        if !known.environments.iter().any(|name| Some(name) == environment.as_ref()) {
            known.environments.extend(environment);
        }
        return;
    }
    let subject = |line: &ExplainedLine| line.text.split(' ').next().map(str::to_owned);
    let following = lines.iter().rposition(|known| subject(known) == subject(&line));
    line.environments.extend(environment);
    match following {
        Some(following) => lines.insert(following + 1, line),
        None => lines.push(line),
    }
}

/// Returns the values at the location, by resource, and whether any of them is written there. Resources that are
/// explained completely include all their values.
fn lines<'g>(graph: &'g Graph, place: &ExplainedRange) -> Vec<(&'g Resource, Vec<ExplainedLine>, bool)> {
    let mut all: Vec<(&Resource, Vec<ExplainedLine>, bool)> = Vec::new();
    for listed in values::list(graph) {
        let resource = listed.resource;
        let is_here = |case: &ListedValue<'_>| places(resource, case).any(|span| place.covers(span));
        let is_written = |case: &ListedValue<'_>| written(resource, case).is_some_and(|span| place.covers(span));
        let is_whole = place.heads(resource);
        if !is_whole && !listed.cases.iter().any(is_here) {
            continue;
        }
        if !all.last().is_some_and(|(last, ..)| std::ptr::eq(*last, resource)) {
            all.push((resource, Vec::new(), is_whole));
        }
        if let Some((_, lines, is_written_here)) = all.last_mut() {
            *is_written_here |= listed.cases.iter().any(is_written);
            lines.extend(listed.cases.iter().map(|case| value(resource, listed.name, case)));
        }
    }
    all
}

fn value(resource: &Resource, name: &str, case: &ListedValue<'_>) -> ExplainedLine {
    let value = match &case.value {
        Ok(value) if value.starts_with('→') => value.clone(),
        Ok(value) if value.is_empty() => "= \"\"".to_owned(),
        Ok(value) => format!("= {value}"),
        Err(reason) => format!("is unresolved: {reason}"),
    };
    // A value with origins that evaluates to null is written, not absent.
    let default = match (case.is_default, case.origins.is_empty()) {
        (true, true) => " (the default)",
        (true, false) => " (the default, as null is written)",
        (false, _) => "",
    };
    let when = case
        .when
        .as_ref()
        .map_or_else(String::new, |when| format!(", only if {when}"));
    let origins = case.origins.iter();
    ExplainedLine {
        text: format!("{name} {value}{default}{when}"),
        span: written(resource, case),
        origins: origins.map(|origin| (origin.what.to_string(), origin.span)).collect(),
        environments: Vec::new(),
    }
}

/// Returns the links to `resource`.
fn links(graph: &Graph, resource: &Resource) -> Vec<ExplainedLine> {
    let line = |relation: crate::graph::relations::Relation| {
        let when = relation
            .when
            .map_or_else(String::new, |when| format!(", only if {when}"));
        ExplainedLine {
            text: relation.text + &when,
            span: Some(relation.span),
            origins: Vec::new(),
            environments: Vec::new(),
        }
    };
    relations(graph, resource).into_iter().map(line).collect()
}
