//! The values and links of a place in lines, one for what is the same in several environments.

use super::place::{Place, places, written};
use crate::graph::relations::relations;
use crate::graph::values::{self, ListedCase};
use crate::graph::{Graph, Resource};
use crate::source::Span;
use rustc_hash::FxHashMap;

/// So many resources of one place are told of with who links to them.
pub const MOST: usize = 10;

/// What is told of one resource.
#[derive(Debug)]
pub struct Told {
    /// The unit it is in.
    pub unit: String,
    /// Address or logical id.
    pub address: String,
    /// The construct of a CDK app that it was made from.
    pub construct: Option<String>,
    /// The type as written.
    pub kind: String,
    /// Where it is declared.
    pub header: Span,
    /// Where it exists, and why perhaps not at all.
    pub when: Vec<String>,
    /// Its values and links, then who links to it.
    pub lines: Vec<Line>,
}

/// A value or a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// `visibility_timeout_seconds = 30 s (the default)`, `read by …`.
    pub text: String,
    /// Where it is written; `None` where its attribute is absent.
    pub span: Option<Span>,
    /// Where it comes from, nearest first.
    pub origins: Vec<(String, Span)>,
    /// The environments in which it is so; none where that is all.
    pub environments: Vec<String>,
}

/// What the graphs of all environments hold there.
pub(super) fn tell(graphs: &[(Option<&str>, &Graph)], place: &Place) -> Vec<Told> {
    let mut all: Vec<Told> = Vec::new();
    let mut known: FxHashMap<(String, String), usize> = FxHashMap::default();
    for (environment, graph) in graphs {
        for (resource, mut lines, is_written_here) in lines(graph, place) {
            let key = (graph.unit(resource.unit).key().to_owned(), resource.address.to_string());
            let at = *known.entry(key).or_insert(all.len());
            // Of what only comes from here the values are enough, and of many alike the first tell it.
            if is_written_here && at < MOST {
                lines.extend(links(graph, resource));
            }
            if at == all.len() {
                all.push(told(graph, resource));
            }
            if let Some(told) = all.get_mut(at) {
                for line in lines {
                    add(&mut told.lines, line, *environment);
                }
            }
        }
    }
    for line in all.iter_mut().flat_map(|told| &mut told.lines) {
        if line.environments.len() == graphs.len() {
            line.environments.clear();
        }
    }
    all
}

fn told(graph: &Graph, resource: &Resource) -> Told {
    let when = resource.when.describe().map(|when| format!("when {when}"));
    let uncertain = resource.uncertain.as_ref();
    let uncertain = uncertain.map(|reason| format!("which may not exist, as {reason}"));
    Told {
        unit: graph.unit(resource.unit).name.clone(),
        address: resource.address.to_string(),
        construct: resource.construct.as_deref().map(str::to_owned),
        kind: resource.kind.to_string(),
        header: resource.header,
        when: when.into_iter().chain(uncertain).collect(),
        lines: Vec::new(),
    }
}

/// Adds `line`, or its environment to the same one. What differs by environment stands together.
fn add(lines: &mut Vec<Line>, mut line: Line, environment: Option<&str>) {
    let same = |known: &Line| (&known.text, known.span, &known.origins) == (&line.text, line.span, &line.origins);
    let environment = environment.map(str::to_owned);
    if let Some(known) = lines.iter_mut().find(|known| same(known)) {
        if !known.environments.iter().any(|name| Some(name) == environment.as_ref()) {
            known.environments.extend(environment);
        }
        return;
    }
    let subject = |line: &Line| line.text.split(' ').next().map(str::to_owned);
    let behind = lines.iter().rposition(|known| subject(known) == subject(&line));
    line.environments.extend(environment);
    match behind {
        Some(behind) => lines.insert(behind + 1, line),
        None => lines.push(line),
    }
}

/// The values at the place, resource by resource, each with whether any is written there; of resources that are
/// explained whole all.
fn lines<'g>(graph: &'g Graph, place: &Place) -> Vec<(&'g Resource, Vec<Line>, bool)> {
    let mut all: Vec<(&Resource, Vec<Line>, bool)> = Vec::new();
    for listed in values::list(graph) {
        let resource = listed.resource;
        let is_here = |case: &ListedCase<'_>| places(resource, case).any(|span| place.covers(span));
        let is_written = |case: &ListedCase<'_>| written(resource, case).is_some_and(|span| place.covers(span));
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

fn value(resource: &Resource, name: &str, case: &ListedCase<'_>) -> Line {
    let value = match &case.value {
        Ok(value) if value.starts_with('→') => value.clone(),
        Ok(value) if value.is_empty() => "= \"\"".to_owned(),
        Ok(value) => format!("= {value}"),
        Err(reason) => format!("is unresolved: {reason}"),
    };
    // What is written and comes to null leads somewhere.
    let default = match (case.is_default, case.origins.is_empty()) {
        (true, true) => " (the default)",
        (true, false) => " (the default, as null is written)",
        (false, _) => "",
    };
    let when = case
        .when
        .as_ref()
        .map_or_else(String::new, |when| format!(", when {when}"));
    let origins = case.origins.iter();
    Line {
        text: format!("{name} {value}{default}{when}"),
        span: written(resource, case),
        origins: origins.map(|origin| (origin.what.to_string(), origin.span)).collect(),
        environments: Vec::new(),
    }
}

/// Who links to `resource`.
fn links(graph: &Graph, resource: &Resource) -> Vec<Line> {
    let line = |relation: crate::graph::relations::Relation| {
        let when = relation.when.map_or_else(String::new, |when| format!(", when {when}"));
        Line {
            text: relation.text + &when,
            span: Some(relation.span),
            origins: Vec::new(),
            environments: Vec::new(),
        }
    };
    relations(graph, resource).into_iter().map(line).collect()
}
