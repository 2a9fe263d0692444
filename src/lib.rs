//! Lints SQS queues together with what reads them, in Terraform, CloudFormation and SAM.
//!
//! [`check`] is the whole pipeline: discover → load → link → judge → sort. It prints nothing, never exits and
//! does not panic on any input; `main.rs` prints and chooses the exit code.

pub mod config;
pub mod diagnostic;
pub mod discover;
pub mod frontend;
pub mod given;
pub mod graph;
pub mod report;
pub mod rules;
pub mod selection;
pub mod source;
#[doc(hidden)]
pub mod testing;

use diagnostic::{Diagnostic, NotEvaluated};
use given::Given;
use graph::Graph;
use rayon::prelude::*;
use rules::Findings;
use selection::Selection;
use source::Sources;
use std::path::PathBuf;

/// Parsers and evaluators recurse within bounds that need more than the 2 MiB of a default thread.
const STACK_SIZE: usize = 8 << 20;

/// What to check, and with which rules.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Files and directories.
    pub paths: Vec<PathBuf>,
    /// Which rules run.
    pub selection: Selection,
    /// Values for variables and parameters.
    pub given: Given,
}

/// What a run found.
#[derive(Debug)]
pub struct Outcome {
    /// Every unit, linked. Without units there was nothing to check.
    pub graph: Graph,
    /// The texts that spans point into.
    pub sources: Sources,
    /// Sorted by path, line, column, rule.
    pub findings: Vec<Diagnostic>,
    /// What could not be judged, by unit, address and rule.
    pub not_evaluated: Vec<NotEvaluated>,
    /// What kept sqslint from doing its job: paths that do not exist, files that cannot be opened.
    pub errors: Vec<String>,
    /// What was passed over on the way: `cdk.out`, `.terraform`…
    pub skipped: Vec<String>,
}

/// Checks everything under the paths of `options`.
pub fn check(options: &Options) -> Outcome {
    match rayon::ThreadPoolBuilder::new().stack_size(STACK_SIZE).build() {
        Ok(pool) => pool.install(|| run(options)),
        // Without threads of our own the caller's must do.
        Err(_) => run(options),
    }
}

fn run(options: &Options) -> Outcome {
    let working_directory = std::env::current_dir().and_then(|path| path.canonicalize());
    let working_directory = working_directory.unwrap_or_default();
    let discovery = discover::discover(&options.paths);
    let start = options.paths.first().and_then(|path| path.canonicalize().ok());
    let repository = discover::repository_root(start.as_deref().unwrap_or(&working_directory));
    let sources = Sources::new(repository, working_directory);

    let mut errors = discovery.errors;
    let mut findings = Vec::new();
    let mut parts = Vec::new();
    for loaded in frontend::load(&discovery.inputs, &options.given, &sources) {
        errors.extend(loaded.errors);
        findings.extend(
            loaded
                .diagnostics
                .into_iter()
                .filter(|found| options.selection.keeps_tool(found.rule)),
        );
        parts.push(loaded.graph);
    }
    let graph = Graph::assemble(parts);
    let selected: Vec<_> = rules::RULES
        .iter()
        .filter(|rule| options.selection.selects(rule))
        .collect();
    let judged: Vec<_> = selected
        .par_iter()
        .map(|rule| Findings::new(&graph, rule).run())
        .collect();
    let mut not_evaluated = Vec::new();
    for (found, open) in judged {
        findings.extend(found);
        not_evaluated.extend(open);
    }
    sort(&mut findings, &sources);
    let findings = join_calls(findings);
    not_evaluated.sort_by(|a: &NotEvaluated, b| (&a.subject, a.rule, &a.reason).cmp(&(&b.subject, b.rule, &b.reason)));
    errors.sort();
    errors.dedup();
    Outcome {
        graph,
        sources,
        findings,
        not_evaluated,
        errors,
        skipped: discovery.skipped,
    }
}

fn sort(findings: &mut [Diagnostic], sources: &Sources) {
    findings.sort_by_cached_key(|found| {
        let span = found.primary().span;
        let path = sources.file(span.file).name().to_owned();
        (path, span.start, found.rule, found.subject.clone())
    });
}

/// The same finding in several instances of one block (calls of its module, keys of its `for_each`) is one
/// finding that lists them. `findings` are sorted, so the same place is adjacent.
fn join_calls(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut joined: Vec<Diagnostic> = Vec::with_capacity(findings.len());
    for found in findings {
        let place = |d: &Diagnostic| (d.rule, d.primary().span);
        let mut same_place = joined
            .iter_mut()
            .rev()
            .take_while(|earlier| place(earlier) == place(&found));
        let twin = same_place.find(|earlier| {
            (
                earlier.severity,
                earlier.subject.attribute,
                &earlier.calculation,
                &earlier.when,
                &earlier.help,
            ) == (
                found.severity,
                found.subject.attribute,
                &found.calculation,
                &found.when,
                &found.help,
            ) && earlier.primary() == found.primary()
        });
        match twin {
            None => joined.push(found),
            Some(earlier) => {
                if earlier.calls.is_empty() {
                    earlier.calls.push(earlier.subject.address.clone());
                }
                let calls = if found.calls.is_empty() {
                    vec![found.subject.address]
                } else {
                    found.calls
                };
                for call in calls {
                    if !earlier.calls.contains(&call) {
                        earlier.calls.push(call);
                    }
                }
            }
        }
    }
    joined
}
