//! Tries policies on the snippets that they bring: `sqslint policy test`.
//!
//! Each snippet is a project of its own, in a directory that is gone afterwards, and is judged by the one policy.

use crate::config::Source;
use crate::files::Scratch;
use crate::pipeline::{Options, Outcome, check};
use crate::policy::{Definition, Demand, Example, Policy};
use crate::selection::Selection;
use std::io;

/// What a policy said of a snippet.
#[derive(Debug)]
pub struct Trial<'p> {
    /// The snippet.
    pub example: &'p Example,
    /// What was found in it, a line each.
    pub findings: Vec<String>,
    /// What could not be judged, a line each.
    pub not_judged: Vec<String>,
    /// What kept it from being read.
    pub errors: Vec<String>,
}

impl Trial<'_> {
    /// Whether it came out as the snippet says.
    pub fn is_as_expected(&self) -> bool {
        self.errors.is_empty()
            && self.findings.len() == self.example.findings
            && self.not_judged.len() == self.example.not_judged
    }
}

/// Tries `policy` on each of its snippets; the error is one of writing them.
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

/// A snippet that cannot be read, or holds nothing, shows nothing.
fn errors(outcome: &Outcome) -> Vec<String> {
    let unread = outcome.findings.iter().filter(|found| found.rule == "parse-error");
    let mut errors: Vec<String> = unread.map(|found| found.headline.clone()).collect();
    errors.extend(outcome.errors.iter().cloned());
    if outcome.graph.units().is_empty() && errors.is_empty() {
        errors.push("there is no configuration in it".to_owned());
    }
    errors
}

/// The policy as a line of a configuration.
fn line(definition: &Definition) -> String {
    // A string of JSON is one of TOML.
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
