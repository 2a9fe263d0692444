//! Follows links between queues, mappings, functions, dead-letter queues and other references to queues.

use super::navigation::{NavigationLink, navigation_links};
use super::position::{Lines, range_of};
use super::worker::Worker;
use crate::frontend;
use crate::graph::Resource;
use crate::pipeline::Outcome;
use lsp_types::{GotoDefinitionParams, GotoDefinitionResponse, Location, Position, ReferenceParams};
use source::{FileId, Span};
use std::collections::BTreeSet;
use std::path::Path;

/// Returns the target of the link at a position. For a resource, returns the targets of its links or, without any, the
/// resources that refer to it.
pub(super) fn definition(worker: &mut Worker, params: &GotoDefinitionParams) -> Option<GotoDefinitionResponse> {
    let place = &params.text_document_position_params;
    let path = worker.path(&place.text_document.uri)?;
    let found = at(worker, &path, place.position, |jumps, here| {
        let leads: Vec<Span> = here.nearest(jumps).map(|jump| jump.to.header).collect();
        if !leads.is_empty() {
            return leads;
        }
        let out: Vec<Span> = jumps
            .iter()
            .filter(|jump| here.is_in(jump.by))
            .map(|jump| jump.to.header)
            .collect();
        if !out.is_empty() {
            return out;
        }
        jumps
            .iter()
            .filter(|jump| here.is_in(jump.to))
            .map(|jump| jump.by.header)
            .collect()
    })?;
    Some(GotoDefinitionResponse::Array(found))
}

/// Returns the references to the resource at a position, or to the target of the link there.
pub(super) fn references(worker: &mut Worker, params: &ReferenceParams) -> Option<Vec<Location>> {
    let place = &params.text_document_position;
    let path = worker.path(&place.text_document.uri)?;
    let with_itself = params.context.include_declaration;
    at(worker, &path, place.position, |jumps, here| {
        let led: Vec<&Resource> = here.nearest(jumps).map(|jump| jump.to).collect();
        let is_meant = |resource: &Resource| {
            let is_led_to = led.iter().any(|one| std::ptr::eq(*one, resource));
            is_led_to || (led.is_empty() && here.is_in(resource))
        };
        let mut all: Vec<Span> = Vec::new();
        for jump in jumps.iter().filter(|jump| is_meant(jump.to)) {
            all.push(jump.from);
            all.extend(with_itself.then_some(jump.to.header));
        }
        all
    })
}

/// Position with the blocks that contain it.
struct Here {
    file: FileId,
    offset: u32,
    /// Blocks that contain the position.
    blocks: Vec<Span>,
}

impl Here {
    fn covers(&self, span: Span) -> bool {
        span.file == self.file && span.start <= self.offset && self.offset <= span.end
    }

    /// Returns the links written at the position, and only the shortest of several nested ones.
    fn nearest<'j, 'g>(&self, jumps: &'j [NavigationLink<'g>]) -> impl Iterator<Item = &'j NavigationLink<'g>> {
        let here = || {
            jumps
                .iter()
                .filter(|jump| self.covers(jump.from) && jump.from != jump.by.header)
        };
        let length = |span: Span| span.end - span.start;
        let least = here().map(|jump| length(jump.from)).min();
        here()
            .filter(move |jump| Some(length(jump.from)) == least)
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// Returns `true` if the position is in the block that declares `resource`.
    fn is_in(&self, resource: &Resource) -> bool {
        let header = resource.header;
        self.covers(header)
            || self
                .blocks
                .iter()
                .any(|block| block.contains(header) && block.start == header.start)
    }
}

fn at(
    worker: &mut Worker,
    path: &Path,
    position: Position,
    find: impl Fn(&[NavigationLink<'_>], &Here) -> Vec<Span>,
) -> Option<Vec<Location>> {
    let (encoding, names) = (worker.settings.encoding, worker.names.clone());
    let project = worker.projects.iter_mut().find(|project| project.holds(path))?;
    let outcome: &Outcome = project.look(path)?;
    let sources = &outcome.sources;
    let id = sources.find(path)?;
    let file = sources.file(id);
    let offset = Lines::of(&file, encoding).offset(position);
    let offset = u32::try_from(offset).ok()?;
    let mut blocks = frontend::elements(id, &file);
    blocks.retain(|block| block.start <= offset && offset < block.end);
    let here = Here {
        file: id,
        offset,
        blocks,
    };
    let other_environments = outcome.other_environments.iter().map(|(_, graph)| graph);
    let mut spans: BTreeSet<Span> = BTreeSet::new();
    for graph in std::iter::once(&outcome.graph).chain(other_environments) {
        spans.extend(find(&navigation_links(graph), &here));
    }
    let locations = spans.into_iter().filter_map(|span| {
        let file = sources.file(span.file);
        Some(Location::new(names.uri(file.path())?, range_of(&file, span, encoding)))
    });
    Some(locations.collect())
}
