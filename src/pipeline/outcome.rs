//! Outcome of a run.

use super::declarations::Missing;
use super::order::in_order;
use super::{RunContext, SharedNode};
use crate::diagnostic::{Coverage, Diagnostic, Harm, NotEvaluated, Severity, Suppressed};
use crate::graph::{Connections, Graph};
use crate::history::History;
use crate::review::{ChangedLink, line_of};
use crate::rules::{Catalogue, Judgement};
use crate::selection::FormerId;
use rustc_hash::FxHashSet;
use source::Sources;
use std::collections::{BTreeMap, BTreeSet};

/// Outcome of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// All units, linked. Without units, there was nothing to check.
    pub graph: Graph,
    /// Texts that spans refer to.
    pub sources: Sources,
    /// Findings, sorted by path, line, column and rule.
    pub findings: Vec<Diagnostic>,
    /// Suppressed findings, in the same order.
    pub suppressed: Vec<Suppressed>,
    /// Resources that could not be judged, by unit, address and rule.
    pub not_evaluated: Vec<NotEvaluated>,
    /// Queues and mappings, and those that are not judged.
    pub coverage: Coverage,
    /// Errors that prevented a part of the run: paths that do not exist, files that cannot be opened.
    pub errors: Vec<String>,
    /// Skipped directories, such as `cdk.out` and `.terraform`.
    pub skipped: Vec<String>,
    /// Units that were checked because they depend on named ones.
    pub dependents: Vec<String>,
    /// Former ids of rules in configurations, suppressions and baselines.
    pub former: Vec<FormerId>,
    /// Notes on generated files that were read or are missing, on policies that reached a limit, and on former ids.
    pub notes: Vec<String>,
    /// Number of queues in files that are not read: snapshots of a CDK app without output, and projects of Pulumi.
    pub unread_queues: usize,
    /// Environments that files name and that were checked in addition to the default values, one line each.
    pub environments: Vec<String>,
    /// Units with environments that files name, if only some environments were checked.
    pub(crate) named: FxHashSet<String>,
    /// Number of units that the configuration or the command line excludes.
    pub excluded: usize,
    /// Declared consumers that match nothing, one line each.
    pub unmatched: Vec<String>,
    /// Statements on what other files own, until those that match nothing are described.
    pub(super) unstated: Missing,
    /// Properties that relate the checked units to the rest of the project, if requested.
    pub(crate) reach: Connections,
    /// Nodes that concern the rest of the project, if requested.
    pub(crate) shared: Vec<SharedNode>,
    /// Judgements of the rules, in a traced run.
    pub judgements: Vec<Judgement>,
    /// Environment of `graph`, if there are any.
    pub environment: Option<String>,
    /// Graphs of further environments by name, in a traced run.
    pub other_environments: Vec<(String, Graph)>,
    /// Rules known to the run: the built-in ones, and the policies of its configurations.
    pub rules: Catalogue,
    /// Reasons why the run fails.
    pub failing: Failing,
    /// Findings that were left out because they were known.
    pub history: History,
    /// Links whose numbers differ from those at the earlier commit.
    pub changed: Vec<ChangedLink>,
}

/// Reasons why a run fails.
#[derive(Debug, Default, Clone)]
pub struct Failing {
    /// Numbers of findings that reach the fail level, by severity.
    pub findings: BTreeMap<Severity, usize>,
    /// Numbers of findings with a harm that fails the run.
    pub harms: BTreeMap<Harm, usize>,
    /// Fail levels that these findings reach. Units may have different ones.
    pub levels: BTreeSet<Severity>,
    /// Numbers of what was not looked at and fails the run, by kind: `resource`, `not judged`.
    pub unjudged: BTreeMap<(&'static str, &'static str), usize>,
}

impl Outcome {
    /// Returns `true` if a finding reaches the fail level or has a harm that fails the run, or an unjudged resource fails the run.
    pub fn fails(&self) -> bool {
        let Failing {
            findings,
            harms,
            unjudged,
            ..
        } = &self.failing;
        !findings.is_empty() || !harms.is_empty() || !unjudged.is_empty()
    }

    /// Sets the changed line of each finding that has a label there.
    pub(super) fn mark_changes(&mut self) {
        let changes = self.changed.iter().flat_map(ChangedLink::changes);
        let lines: FxHashSet<_> = changes.map(|change| line_of(change.span, &self.sources)).collect();
        for found in &mut self.findings {
            let mut spans = found.labels().iter().map(|label| label.span).chain(found.written);
            found.changed = spans.find(|span| lines.contains(&line_of(*span, &self.sources)));
        }
    }

    /// Returns an outcome without results, because of `errors`.
    pub(super) fn failed(context: &RunContext, mut errors: Vec<String>) -> Self {
        errors.sort();
        errors.dedup();
        Outcome {
            sources: Sources::with_files(context.files.clone(), context.working_directory.clone()),
            errors,
            ..Outcome::default()
        }
    }

    /// Returns all suppressed and known findings, in the order of findings.
    pub fn suppressed_and_known(&self) -> Vec<Suppressed> {
        let mut all = self.suppressed.clone();
        all.extend_from_slice(&self.history.known);
        in_order(&mut all, &self.sources);
        all
    }
}
