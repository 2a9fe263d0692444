//! Determines what a line is about: the values that begin on it, or else the block that contains it.

use super::ExplainedLocation;
use crate::diagnostic::Diagnostic;
use crate::graph::values::{self, ListedValue};
use crate::graph::{Graph, Resource};
use source::{FileId, SourceFile, Span};
use std::collections::BTreeSet;

/// Elements of the graphs that are in one file.
#[derive(Debug, Default)]
pub(super) struct FileElements {
    /// Headers of resources, with their addresses.
    headers: BTreeSet<(Span, String)>,
    /// Headers of calls that contain resources.
    calls: BTreeSet<Span>,
    /// Spans and origins of values, and labels of findings.
    values: BTreeSet<Span>,
}

impl FileElements {
    pub(super) fn in_file<'g>(graphs: impl Iterator<Item = &'g Graph>, file: FileId) -> FileElements {
        let mut seen = FileElements::default();
        for graph in graphs {
            for listed in values::list(graph) {
                let resource = listed.resource;
                if resource.header.file == file {
                    seen.headers.insert((resource.header, resource.address.to_string()));
                }
                seen.calls.extend(&resource.calls);
                for case in &listed.cases {
                    seen.values.extend(places(resource, case));
                }
            }
        }
        seen.calls.retain(|span| span.file == file);
        seen.values.retain(|span| span.file == file);
        seen
    }

    /// Adds the labels of `found`, which may mark resources that have no values in the graph.
    pub(super) fn add_labels(&mut self, found: &Diagnostic, file: FileId) {
        let spans = found.labels().iter().map(|label| label.span);
        self.values.extend(spans.filter(|span| span.file == file));
    }

    /// Returns the closest resources on both sides of `offset`.
    pub(super) fn nearest(&self, offset: usize) -> Vec<(String, Span)> {
        let is_before = |(span, _): &&(Span, String)| (span.start as usize) < offset;
        let before = self.headers.iter().rev().find(is_before);
        let following = self.headers.iter().find(|header| !is_before(header));
        let both = before.into_iter().chain(following);
        both.map(|(span, address)| (address.clone(), *span)).collect()
    }

    /// Returns `true` if a resource or a call begins in `range`.
    fn heads(&self, range: &std::ops::Range<u32>) -> bool {
        let headers = self.headers.iter().map(|(span, _)| span);
        headers.chain(&self.calls).any(|span| range.contains(&span.start))
    }
}

/// Returns the span of a value, or `None` if its attribute is absent.
pub(super) fn written(resource: &Resource, case: &ListedValue<'_>) -> Option<Span> {
    Some(case.span).filter(|span| *span != resource.header)
}

/// Returns the span of a value and those of its origins.
pub(super) fn places<'c>(resource: &Resource, case: &'c ListedValue<'_>) -> impl Iterator<Item = Span> + 'c {
    let origins = case.origins.iter().map(|origin| origin.span);
    written(resource, case).into_iter().chain(origins)
}

/// Range to explain, with everything that begins in it.
#[derive(Debug)]
pub(super) struct ExplainedRange {
    file: FileId,
    range: std::ops::Range<u32>,
    /// Offset that spans must contain, if a column was requested.
    offset: Option<u32>,
    /// `true` if resources that begin in the range are explained completely.
    pub(super) is_block: bool,
}

impl ExplainedRange {
    /// Returns the range that the line is about, if any.
    pub(super) fn find(
        seen: &FileElements,
        elements: &[Span],
        id: FileId,
        file: &SourceFile,
        requested: ExplainedLocation<'_>,
    ) -> Option<ExplainedRange> {
        let bytes = file.line_range(requested.line.checked_sub(1)?);
        let text = file.text().get(bytes.clone())?;
        let line = Span::new(id, bytes.clone());
        let line = line.start..line.end;
        let place = |range, offset, is_block| ExplainedRange {
            file: id,
            range,
            offset,
            is_block,
        };
        let column = requested.column.and_then(|column| {
            let (at, _) = text.char_indices().nth(column.checked_sub(1)?)?;
            Some(Span::new(id, bytes.start + at..bytes.end).start)
        });
        if column.is_some() {
            let at_column = place(line.clone(), column, false);
            if seen.values.iter().any(|span| at_column.covers(*span)) {
                return Some(at_column);
            }
        }
        let blank = text.find(|c: char| !c.is_whitespace()).unwrap_or(0);
        let offset = column.unwrap_or(Span::new(id, bytes.start + blank..bytes.end).start);
        if seen.heads(&line) {
            let around = |span: &&Span| column.is_none_or(|column| span.start <= column && column < span.end);
            let here = elements.iter().filter(|span| line.contains(&span.start));
            let mut blocks = here
                .filter(|span| seen.heads(&(span.start..span.start + 1)))
                .filter(around);
            // Of nested blocks, the inner one is chosen only if a column was requested.
            let block = if column.is_some() {
                blocks.next_back()
            } else {
                blocks.next()
            };
            let range = block.map_or(line, |block| block.start..block.end);
            return Some(place(range, None, true));
        }
        let on_line = place(line, None, false);
        if seen.values.iter().any(|span| on_line.covers(*span)) {
            return Some(on_line);
        }
        let around = || {
            let holds = |span: &&Span| span.start <= offset && offset < span.end;
            elements.iter().rev().filter(holds)
        };
        if let Some(block) = around().find(|span| seen.heads(&(span.start..span.start + 1))) {
            return Some(place(block.start..block.end, None, true));
        }
        let mut plain = around().map(|span| place(span.start..span.end, None, false));
        plain.find(|place| !seen.heads(&place.range) && seen.values.iter().any(|span| place.covers(*span)))
    }

    /// Returns `true` if `span` begins in the range.
    pub(super) fn covers(&self, span: Span) -> bool {
        let holds = |offset| span.start <= offset && offset < span.end;
        span.file == self.file && self.range.contains(&span.start) && self.offset.is_none_or(holds)
    }

    /// Returns `true` if `resource` is explained completely: it, or a call that contains it, begins in the range.
    pub(super) fn heads(&self, resource: &Resource) -> bool {
        let mut headers = std::iter::once(&resource.header).chain(&resource.calls);
        self.is_block && headers.any(|header| self.covers(*header))
    }
}
