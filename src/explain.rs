//! What is known of one place: the values and links there with the way they came, and what each rule made of them.
//!
//! `place` finds what a line is about, `told` puts the graphs of all environments into lines, `conclusions` gathers
//! what rules said. No dialect is known here but through the elements of a file, and nothing is drawn.

mod conclusions;
mod place;
mod text;
mod told;

pub use conclusions::{Concluded, Conclusion};
pub use told::{Line, MOST, Told};

use crate::frontend;
use crate::graph::Graph;
use crate::pipeline::{Options, Outcome, check};
use crate::source::{Position, SourceFile, Span};
use place::{Place, Seen};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// A place to explain.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The file, absolute and without symbolic links.
    pub file: &'a Path,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, where several things stand on the line.
    pub column: Option<usize>,
}

/// A place, and what the run said.
#[derive(Debug)]
pub struct Explained {
    /// The run.
    pub outcome: Outcome,
    /// The file; `None` where no unit that was read has it.
    file: Option<Arc<SourceFile>>,
    place: Option<Place>,
    /// Resources around a place that has nothing.
    nearest: Vec<(String, Span)>,
}

/// Checks `options` and looks at the place.
pub fn explain(options: &Options, asked: Asked<'_>) -> Explained {
    let outcome = check(&Options {
        trace: true,
        ..options.clone()
    });
    look(outcome, asked)
}

/// Looks at a place in what a traced run gave.
pub fn look(outcome: Outcome, asked: Asked<'_>) -> Explained {
    let mut explained = Explained {
        outcome,
        file: None,
        place: None,
        nearest: Vec::new(),
    };
    let Some(id) = explained.outcome.sources.find(asked.file) else {
        return explained;
    };
    let file = explained.outcome.sources.file(id);
    let seen = Seen::in_file(explained.graphs().map(|(_, graph)| graph), id);
    explained.place = Place::find(&seen, &frontend::elements(id, &file), id, &file, asked);
    if explained.place.is_none() {
        explained.nearest = seen.nearest(file.line_range(asked.line.saturating_sub(1)).start);
    }
    explained.file = Some(file);
    explained
}

impl Explained {
    /// How many lines the file has; `None` where no unit that was read has it.
    pub fn lines(&self) -> Option<usize> {
        let file = self.file.as_ref()?;
        // Behind the last line break there is no line.
        Some(file.text().lines().count())
    }

    /// Everything that is known of the place, below a line that says which it is: what `sqslint explain FILE:LINE`
    /// prints.
    pub fn text(&self, subject: &str) -> String {
        text::render(self, subject)
    }

    /// What stands at the place, or what it is in the middle of.
    pub fn told(&self) -> Vec<Told> {
        let place = self.place.as_ref();
        place.map_or_else(Vec::new, |place| told::tell(&self.graphs().collect::<Vec<_>>(), place))
    }

    /// What rules concluded there, in the order of the catalogue.
    pub fn conclusions(&self) -> Vec<Concluded<'_>> {
        let place = self.place.as_ref();
        place.map_or_else(Vec::new, |place| conclusions::at(&self.outcome, place))
    }

    /// The resources before and behind a place that has nothing, by address.
    pub fn nearest(&self) -> &[(String, Span)] {
        &self.nearest
    }

    /// How many environments there are, or one.
    pub fn environments(&self) -> usize {
        self.outcome.elsewhere.len() + 1
    }

    /// What is not read of the units.
    pub fn notes(&self) -> Vec<&str> {
        let notes = self
            .graphs()
            .flat_map(|(_, graph)| graph.units())
            .flat_map(|unit| &unit.notes);
        let notes: BTreeSet<&str> = notes.map(String::as_str).collect();
        notes.into_iter().collect()
    }

    /// Where `span` begins, and the file in which, if that is another than the one asked about.
    pub fn position(&self, span: Span) -> (Option<Arc<SourceFile>>, Position) {
        let file = self.outcome.sources.file(span.file);
        let position = file.position(span.start as usize);
        let is_asked = self.file.as_ref().is_some_and(|asked| asked.path() == file.path());
        ((!is_asked).then_some(file), position)
    }

    /// Every environment's graph with its name, where it has one.
    fn graphs(&self) -> impl Iterator<Item = (Option<&str>, &Graph)> {
        let first = self.outcome.environment.as_deref();
        let elsewhere = self.outcome.elsewhere.iter();
        std::iter::once((first, &self.outcome.graph)).chain(elsewhere.map(|(name, graph)| (Some(&**name), graph)))
    }
}
