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
use trees::{Entry, Node, Value};

/// Variables that contain the stage, in the address of another variable.
const STAGE: [&str; 4] = ["sls:stage", "opt:stage", "self:provider.stage", "self:custom.stage"];

/// Maximum length in bytes of a variable that selects a stage.
const MAX_SELECTOR: usize = 256;

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
                for lookup in lookups(text) {
                    let Some(object) = at(root, lookup.address) else {
                        continue;
                    };
                    let entries = object.entries().unwrap_or_default().iter();
                    let selected = entries.filter(|entry| lookup.selects(entry, object.get(default)));
                    names.extend(selected.map(|entry| &*entry.key));
                }
            }
            Value::Sequence(items) => open.extend(items),
            Value::Mapping(entries) => open.extend(entries.iter().map(|entry| &entry.value)),
            _ => {}
        }
    }
    let is_other = |name: &&str| *name != default && *name != "default" && is_name(name);
    names.into_iter().filter(is_other).map(ToOwned::to_owned).collect()
}

/// A lookup of a value by the stage: `custom` and `timeout` in `${self:custom.${sls:stage}.timeout}`.
struct Lookup<'t> {
    /// Address of the object in which the stage is a key.
    address: &'t str,
    /// Path of the value below that key; empty for the value of the key itself.
    rest: &'t str,
}

impl Lookup<'_> {
    /// Returns `true` if `entry` can be a stage. `custom` also contains the settings of plugins, so there the lookup has
    /// to find a value, and a whole entry has to resemble the one of the default stage, `default`.
    fn selects(&self, entry: &Entry, default: Option<&Node>) -> bool {
        match (self.rest, self.address) {
            ("", "custom") => default.is_some_and(|default| keys(default).any(|key| entry.value.get(key).is_some())),
            ("", _) => true,
            (rest, _) => at(&entry.value, rest).is_some(),
        }
    }
}

/// Returns the lookups of values by the stage.
fn lookups(text: &str) -> impl Iterator<Item = Lookup<'_>> {
    text.match_indices("${self:").filter_map(|(at, head)| {
        let rest = text.get(at + head.len()..)?;
        // Only the address is searched. Searching the rest of the text for each of many variables would take quadratic
        // time.
        let end = rest.find(|c: char| !(is_of_name(c) || c == '.'))?;
        let (address, selector) = rest.split_at_checked(end)?;
        let (address, selector) = (address.strip_suffix('.')?, selector.strip_prefix("${")?);
        let is_plain = address.split('.').all(is_name);
        let is_stage = is_plain && STAGE.iter().any(|stage| selector.starts_with(stage));
        is_stage.then(|| Lookup {
            address,
            rest: path_after(selector),
        })
    })
}

/// Returns the path that follows the variable whose inner text begins at `selector`: `timeout` in
/// `sls:stage}.timeout}`.
fn path_after(selector: &str) -> &str {
    let mut depth = 1;
    let end = selector.bytes().take(MAX_SELECTOR).position(|byte| {
        depth += i32::from(byte == b'{') - i32::from(byte == b'}');
        depth == 0
    });
    let path = end
        .and_then(|end| selector.get(end + 1..))
        .and_then(|after| after.strip_prefix('.'));
    let path = path.and_then(|path| path.split(|c: char| !(is_of_name(c) || c == '.')).next());
    path.unwrap_or("")
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
