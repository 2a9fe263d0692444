//! Explains a location: its values and links with their provenance, and the conclusions of each rule.
//!
//! `place` determines what a line is about, `reported` formats the graphs of all environments as lines, and `conclusions`
//! gathers the results of the rules. This module knows the elements of a file, but no dialect, and draws nothing.

mod conclusions;
mod range;
mod resources;
mod text;

pub use conclusions::{Concluded, Conclusion};
pub use resources::{ExplainedLine, ExplainedResource, MAX_WITH_LINKS};

use crate::frontend;
use crate::graph::Graph;
use crate::pipeline::{Options, Outcome, check};
use range::{ExplainedRange, FileElements};
use source::{Position, SourceFile, Span};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Location to explain.
#[derive(Debug, Clone, Copy)]
pub struct ExplainedLocation<'a> {
    /// File, absolute and without symbolic links.
    pub file: &'a Path,
    /// Line, counted from 1.
    pub line: usize,
    /// Column, counted from 1, to choose one of several elements on the line.
    pub column: Option<usize>,
}

/// Location with the outcome of the run.
#[derive(Debug)]
pub struct Explanation {
    /// Outcome of the run.
    pub outcome: Outcome,
    /// File; `None` if no unit contains it.
    file: Option<Arc<SourceFile>>,
    place: Option<ExplainedRange>,
    /// Resources nearest to a location that has none.
    nearest: Vec<(String, Span)>,
}

/// Runs a check with `options` and explains the location.
pub fn explain(options: &Options, requested: ExplainedLocation<'_>) -> Explanation {
    let outcome = check(&Options {
        trace: true,
        ..options.clone()
    });
    explain_outcome(outcome, requested)
}

/// Explains a location in the outcome of a traced run.
pub fn explain_outcome(outcome: Outcome, requested: ExplainedLocation<'_>) -> Explanation {
    let mut explained = Explanation {
        outcome,
        file: None,
        place: None,
        nearest: Vec::new(),
    };
    let Some(id) = explained.outcome.sources.find(requested.file) else {
        return explained;
    };
    let file = explained.outcome.sources.file(id);
    let mut seen = FileElements::in_file(explained.graphs().map(|(_, graph)| graph), id);
    conclusions::findings(&explained.outcome).for_each(|found| seen.add_labels(found, id));
    explained.place = ExplainedRange::find(&seen, &frontend::elements(id, &file), id, &file, requested);
    if explained.place.is_none() {
        explained.nearest = seen.nearest(file.line_range(requested.line.saturating_sub(1)).start);
    }
    explained.file = Some(file);
    explained
}

impl Explanation {
    /// Returns the number of lines in the file; `None` if no unit contains it.
    pub fn lines(&self) -> Option<usize> {
        let file = self.file.as_ref()?;
        // No line follows the last line break.
        Some(file.text().lines().count())
    }

    /// Formats everything known about the location below the heading `subject`, as `sqslint explain FILE:LINE` prints
    /// it; with `all`, also why rules have no finding.
    pub fn text(&self, subject: &str, all: bool) -> String {
        text::render(self, subject, all)
    }

    /// Returns the resources, values and links at the location, or of the block that contains it.
    pub fn resources(&self) -> Vec<ExplainedResource> {
        let place = self.place.as_ref();
        place.map_or_else(Vec::new, |place| {
            resources::explain_resources(&self.graphs().collect::<Vec<_>>(), place)
        })
    }

    /// Returns the conclusions of rules at the location, in the order of the catalogue.
    pub fn conclusions(&self) -> Vec<Concluded<'_>> {
        let place = self.place.as_ref();
        place.map_or_else(Vec::new, |place| conclusions::at(&self.outcome, place))
    }

    /// Returns `true` if a rule has a finding at the location.
    pub fn has_findings(&self) -> bool {
        let conclusions = self.conclusions();
        let mut all = conclusions.iter().flat_map(|one| &one.all);
        all.any(|one| matches!(one, Conclusion::Found(_)))
    }

    /// Returns the nearest resources, with their addresses, for a location that has none.
    pub fn nearest(&self) -> &[(String, Span)] {
        &self.nearest
    }

    /// Returns the number of environments, at least 1.
    pub fn environments(&self) -> usize {
        self.outcome.other_environments.len() + 1
    }

    /// Returns notes on parts of the units that are not read.
    pub fn notes(&self) -> Vec<&str> {
        let units = self.graphs().flat_map(|(_, graph)| graph.units());
        let unread = self.outcome.not_evaluated.iter().filter(|open| open.is_unread());
        let notes = units
            .flat_map(|unit| &unit.notes)
            .chain(unread.map(|open| &open.reason));
        let notes: BTreeSet<&str> = notes.map(String::as_str).collect();
        notes.into_iter().collect()
    }

    /// Returns the start of `span`, and its file if that is not the file of the location.
    pub fn position(&self, span: Span) -> (Option<Arc<SourceFile>>, Position) {
        let file = self.outcome.sources.file(span.file);
        let position = file.position(span.start as usize);
        let is_requested = self
            .file
            .as_ref()
            .is_some_and(|requested| requested.path() == file.path());
        ((!is_requested).then_some(file), position)
    }

    /// Returns the graphs of all environments with the environments' names, if any.
    fn graphs(&self) -> impl Iterator<Item = (Option<&str>, &Graph)> {
        let first = self.outcome.environment.as_deref();
        let other_environments = self.outcome.other_environments.iter();
        std::iter::once((first, &self.outcome.graph))
            .chain(other_environments.map(|(name, graph)| (Some(&**name), graph)))
    }
}
