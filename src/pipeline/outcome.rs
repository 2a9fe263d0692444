//! What a run found.

use super::Place;
use super::order::in_order;
use crate::diagnostic::{Diagnostic, NotEvaluated, Suppressed};
use crate::graph::{Graph, Reach};
use crate::history::History;
use crate::rules::{Catalogue, Judgement};
use crate::source::Sources;

/// What a run found.
#[derive(Debug)]
pub struct Outcome {
    /// Every unit, linked. Without units there was nothing to check.
    pub graph: Graph,
    /// The texts that spans point into.
    pub sources: Sources,
    /// Sorted by path, line, column, rule.
    pub findings: Vec<Diagnostic>,
    /// What suppressions keep from being findings, in the same order.
    pub suppressed: Vec<Suppressed>,
    /// What could not be judged, by unit, address and rule.
    pub not_evaluated: Vec<NotEvaluated>,
    /// What kept sqslint from doing its job: paths that do not exist, files that cannot be opened.
    pub errors: Vec<String>,
    /// What was passed over on the way: `cdk.out`, `.terraform`…
    pub skipped: Vec<String>,
    /// Units that nobody named, and that were checked because they depend on what was.
    pub taken_in: Vec<String>,
    /// The environments that files name and that were judged besides the default values, a line each.
    pub environments: Vec<String>,
    /// How many units the configuration, or the command line, excludes.
    pub excluded: usize,
    /// Consumers that a configuration declares and that match nothing, a line each.
    pub unmatched: Vec<String>,
    /// What was checked may have to do with the rest of the project, where that was asked for.
    pub(crate) reach: Reach,
    /// What rules concluded besides their findings, in a traced run.
    pub judgements: Vec<Judgement>,
    /// The environment that `graph` is of, where there are any.
    pub environment: Option<String>,
    /// The graphs of further environments by name, in a traced run.
    pub elsewhere: Vec<(String, Graph)>,
    /// The rules that the run knew: ours, and the policies of its configurations.
    pub rules: Catalogue,
    /// Whether a finding reaches the level that fails the run, or something that could not be judged fails it.
    pub fails: bool,
    /// What was left out because it was known before.
    pub history: History,
}

impl Outcome {
    /// Nothing was judged, because of `errors`.
    pub(super) fn failed(place: &Place, mut errors: Vec<String>) -> Self {
        errors.sort();
        errors.dedup();
        Outcome {
            graph: Graph::default(),
            sources: Sources::reading(place.files.clone(), place.working_directory.clone()),
            findings: Vec::new(),
            suppressed: Vec::new(),
            not_evaluated: Vec::new(),
            errors,
            skipped: Vec::new(),
            taken_in: Vec::new(),
            environments: Vec::new(),
            excluded: 0,
            unmatched: Vec::new(),
            reach: Reach::default(),
            judgements: Vec::new(),
            environment: None,
            elsewhere: Vec::new(),
            rules: Catalogue::default(),
            fails: false,
            history: History::default(),
        }
    }

    /// Everything that is kept from being a finding, by suppressions or because it was known before, in the order of
    /// the findings.
    pub fn silenced(&self) -> Vec<Suppressed> {
        let mut all = self.suppressed.clone();
        all.extend_from_slice(&self.history.known);
        in_order(&mut all, &self.sources);
        all
    }
}
