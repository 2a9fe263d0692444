//! The declarations of a Terraform file, and the number of its syntax errors.

use super::{Body, Problem, json, parse};
use source::FileId;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Returns the number of errors in a file, and its declarations: blocks with their labels, and top-level names.
pub fn outline(file: FileId, text: &str, is_json: bool) -> (usize, BTreeSet<String>) {
    let (body, problems): (Body, Vec<Problem>) = if is_json {
        json::parse(file, text)
    } else {
        parse(file, text)
    };
    let blocks = body.blocks.iter().map(|block| {
        let labels = block.labels.iter().map(|label| format!(".{label}"));
        block.kind.to_string() + &labels.collect::<String>()
    });
    let names = body.attributes.iter().map(|attribute| attribute.name.to_string());
    let declared = blocks.chain(names).collect();
    (problems.len() + repeated(&body), declared)
}

/// Returns the number of arguments with a repeated name.
fn repeated(body: &Body) -> usize {
    let names: BTreeSet<&Arc<str>> = body.attributes.iter().map(|attribute| &attribute.name).collect();
    let below = body.blocks.iter().map(|block| repeated(&block.body));
    body.attributes.len() - names.len() + below.sum::<usize>()
}
