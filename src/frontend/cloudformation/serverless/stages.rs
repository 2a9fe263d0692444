//! The stages that a service has values for:
//!
//! ```text
//! custom:
//!   timeouts: {dev: 30, prod: 300}                         keys that a stage selects
//! params:
//!   staging: {…}                                           parameters of a stage
//! functions:
//!   work: {timeout: "${self:custom.timeouts.${sls:stage}}"}   → dev, prod, staging
//! ```

use crate::frontend::tree::{Node, Value};
use std::collections::BTreeSet;

/// What stands for the stage in the address of a variable.
const STAGE: [&str; 4] = ["sls:stage", "opt:stage", "self:provider.stage", "self:custom.stage"];

/// The stages that `root` names besides `default`, which it is read for anyway.
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

/// The addresses of what a stage selects from: `custom.timeouts` of `${self:custom.timeouts.${sls:stage}}`.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("${self:").filter_map(|(at, head)| {
        let (address, selector) = text.get(at + head.len()..)?.split_once(".${")?;
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
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}
