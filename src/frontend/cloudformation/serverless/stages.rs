//! Finds the stages for which a service has values:
//!
//! ```text
//! custom:
//!   timeouts: {dev: 30, prod: 300}                         keys selected by the stage
//! params:
//!   staging: {…}                                           parameters of a stage
//! functions:
//!   work: {timeout: "${self:custom.timeouts.${sls:stage}}"}   → dev, prod, staging
//! ```

use std::collections::BTreeSet;
use trees::{Node, Value};

/// Variables that contain the stage, in the address of another variable.
const STAGE: [&str; 4] = ["sls:stage", "opt:stage", "self:provider.stage", "self:custom.stage"];

/// Returns the stages that `root` names, except `default`, which is loaded anyway.
pub(super) fn named(root: &Node, default: &str) -> Vec<String> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for section in ["params", "stages"] {
        names.extend(root.get(section).into_iter().flat_map(keys));
    }
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        match &node.value {
            Value::String(text) => {
                let selected = addresses(text).filter_map(|address| at(root, address));
                names.extend(selected.flat_map(keys));
            }
            Value::Sequence(items) => open.extend(items),
            Value::Mapping(entries) => open.extend(entries.iter().map(|entry| &entry.value)),
            _ => {}
        }
    }
    let is_other = |name: &&str| *name != default && *name != "default" && is_name(name);
    names.into_iter().filter(is_other).map(ToOwned::to_owned).collect()
}

/// Returns the addresses of objects in which the stage is a key: `custom.timeouts` in
/// `${self:custom.timeouts.${sls:stage}}`.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("${self:").filter_map(|(at, head)| {
        let rest = text.get(at + head.len()..)?;
        // Only the address is searched. Searching the rest of the text for each of many variables would take quadratic
        // time.
        let end = rest.find(|c: char| !(is_of_name(c) || c == '.'))?;
        let (address, selector) = rest.split_at_checked(end)?;
        let (address, selector) = (address.strip_suffix('.')?, selector.strip_prefix("${")?);
        let is_plain = address.split('.').all(is_name);
        (is_plain && STAGE.iter().any(|stage| selector.starts_with(stage))).then_some(address)
    })
}

fn at<'n>(root: &'n Node, address: &str) -> Option<&'n Node> {
    address.split('.').try_fold(root, |node, key| node.get(key))
}

fn keys(node: &Node) -> impl Iterator<Item = &str> {
    node.entries().unwrap_or_default().iter().map(|entry| &*entry.key)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_of_name)
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-".contains(letter)
}
