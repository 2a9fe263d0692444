//! Tests policies on their own snippets, for `sqslint policy test`.
//!
//! Each snippet becomes a project in a temporary directory, which is checked with that policy only.

use crate::config::Source;
use crate::diagnostic::PARSE_ERROR;
use crate::pipeline::{Options, Outcome, check};
use crate::policy::{Definition, Demand, Example, Policy};
use crate::selection::Selection;
use source::files::Scratch;
use std::io;

/// Results of a policy on a snippet.
#[derive(Debug)]
pub struct Trial<'p> {
    /// The snippet.
    pub example: &'p Example,
    /// Findings, one line each.
    pub findings: Vec<String>,
    /// Unjudged resources, one line each.
    pub not_judged: Vec<String>,
    /// Errors that prevented the check.
    pub errors: Vec<String>,
}

impl Trial<'_> {
    /// Returns `true` if the results are those that the snippet expects.
    pub fn is_as_expected(&self) -> bool {
        self.errors.is_empty()
            && self.findings.len() == self.example.findings
            && self.not_judged.len() == self.example.not_judged
    }
}

/// Tests `policy` on each of its snippets. An error means that a snippet could not be written to disk.
pub fn try_policy(policy: &Policy) -> io::Result<Vec<Trial<'_>>> {
    let examples = policy.definition().examples.iter();
    examples.map(|example| try_example(policy, example)).collect()
}

fn try_example<'p>(policy: &'p Policy, example: &'p Example) -> io::Result<Trial<'p>> {
    let files = example.files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let scratch = Scratch::with_files(files)?;
    let outcome = check(&Options {
        paths: vec![scratch.path().to_owned()],
        selection: Selection::only(&policy.rule()),
        config: Source {
            lines: vec![line(policy.definition())],
            isolated: true,
            ..Source::default()
        },
        ..Options::default()
    });
    Ok(Trial {
        example,
        findings: outcome.findings.iter().map(|found| found.headline.clone()).collect(),
        not_judged: (outcome.not_evaluated.iter())
            .map(|open| format!("`{}`: {}", open.subject.address, open.reason))
            .collect(),
        errors: errors(&outcome),
    })
}

/// Returns the errors in a snippet, which is also invalid if it contains no units.
fn errors(outcome: &Outcome) -> Vec<String> {
    let unread = outcome.findings.iter().filter(|found| found.rule == PARSE_ERROR);
    let mut errors: Vec<String> = unread.map(|found| found.headline.clone()).collect();
    errors.extend(outcome.errors.iter().cloned());
    if outcome.graph.units().is_empty() && errors.is_empty() {
        errors.push("there is no configuration in it".to_owned());
    }
    errors
}

/// Formats the policy as a line of a configuration.
fn line(definition: &Definition) -> String {
    // Strings in JSON are valid in TOML.
    let quoted = |text: &str| serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F");
    let (key, text) = match &definition.demand {
        Demand::Require(text) => ("require", text),
        Demand::Forbid(text) => ("forbid", text),
    };
    let mut fields = vec![
        format!("id = {}", quoted(&definition.id)),
        format!("for = {}", quoted(definition.target.name())),
        format!("{key} = {}", quoted(text)),
        format!("message = {}", quoted(&definition.message)),
    ];
    fields.extend(
        definition
            .selects
            .as_ref()
            .map(|text| format!("where = {}", quoted(text))),
    );
    format!("policy = [{{ {} }}]", fields.join(", "))
}
