//! Finds the stages for which a service has values:
//!
//! ```text
//! custom:
//!   timeouts: {dev: 30, prod: 300}                         keys selected by the stage
//! params:
//!   staging: {…}                                           parameters of a stage
//! functions:
//!   work: {timeout: "${self:custom.timeouts.${sls:stage}}"}   → dev, prod, staging
//! config/test.yml                                          a file selected by the stage
//!   memorySize: "${file(config/${sls:stage}.yml):memory}"  → test
//! ```

use crate::limits;
use crate::parameters::with_document;
use source::Sources;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use trees::{Entry, Node, Value};

/// Variables that contain the stage, in the address of another variable.
const STAGE: [&str; 4] = ["sls:stage", "opt:stage", "self:provider.stage", "self:custom.stage"];

/// Returns the stages that `root`, in `directory`, names, except `default`, which is loaded anyway.
pub(super) fn named(root: &Node, default: &str, directory: &Path, sources: &Sources) -> Vec<String> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut files: BTreeMap<StageFile<'_>, BTreeSet<&str>> = BTreeMap::new();
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
                for (file, address) in file_lookups(text) {
                    if files.len() < limits::MAX_STAGE_PATHS || files.contains_key(&file) {
                        files.entry(file).or_default().insert(address);
                    }
                }
            }
            Value::Sequence(items) => open.extend(items),
            Value::Mapping(entries) => open.extend(entries.iter().map(|entry| &entry.value)),
            _ => {}
        }
    }
    let of_files = files
        .iter()
        .flat_map(|(file, addresses)| file.stages(addresses, default, directory, sources));
    let names: BTreeSet<String> = names.into_iter().map(ToOwned::to_owned).chain(of_files).collect();
    let is_other = |name: &String| name != default && name != "default" && is_name(name);
    names.into_iter().filter(is_other).collect()
}

/// The path of a file that the stage selects: `config/` and `.yml` in `${file(config/${sls:stage}.yml):timeout}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct StageFile<'t> {
    before: &'t str,
    after: &'t str,
}

impl StageFile<'_> {
    /// Returns the stages that have a file with one of the values at `addresses`. The directory may also contain other
    /// files, so a lookup of a whole file selects those that resemble the file of the stage `default`.
    fn stages(&self, addresses: &BTreeSet<&str>, default: &str, directory: &Path, sources: &Sources) -> Vec<String> {
        let (parent, prefix) = self.before.rsplit_once('/').unwrap_or(("", self.before));
        let listed = sources.files().list(&directory.join(parent)).unwrap_or_default();
        let stages = listed.into_iter().filter_map(|listed| {
            let name = listed.name.into_string().ok()?;
            Some(name.strip_prefix(prefix)?.strip_suffix(self.after)?.to_owned())
        });
        let mut stages: Vec<String> = stages
            .filter(|stage| is_name(stage))
            .take(limits::MAX_STAGE_FILES)
            .collect();
        let usual = self.keys(default, directory, sources);
        stages.retain(|stage| {
            let path = directory.join(format!("{}{stage}{}", self.before, self.after));
            let has_value = |document: &Node| {
                let is_found = addresses.iter().any(|address| match *address {
                    "" => keys(document).any(|key| usual.contains(key)),
                    address => at(document, address).is_some(),
                });
                is_found.then_some(())
            };
            with_document(&path, sources, |_| true, has_value).is_some()
        });
        stages
    }

    /// Returns the keys in the file of `stage`.
    fn keys(&self, stage: &str, directory: &Path, sources: &Sources) -> BTreeSet<String> {
        let path = directory.join(format!("{}{stage}{}", self.before, self.after));
        let all = |document: &Node| Some(keys(document).map(ToOwned::to_owned).collect());
        with_document(&path, sources, |_| true, all).unwrap_or_default()
    }
}

/// Returns the files that the stage selects in `text`, each with the address of the value in it.
fn file_lookups(text: &str) -> impl Iterator<Item = (StageFile<'_>, &str)> {
    const HEAD: &str = "${file(";
    text.match_indices(HEAD).filter_map(|(at, _)| {
        let rest = text.get(at + HEAD.len()..)?;
        // Each search ends at the next variable, so that many variables take linear time.
        let (before, selector) = rest.split_at_checked(rest.find(['$', ')'])?)?;
        let selector = selector.strip_prefix("${")?;
        let is_stage = STAGE.iter().any(|stage| selector.starts_with(stage));
        let end = if is_stage { end_of(selector) } else { None }?;
        let rest = selector.get(end + 1..)?;
        let (after, rest) = rest.split_at_checked(rest.find(|c: char| !(is_of_name(c) || c == '.'))?)?;
        let address = rest.strip_prefix("):").map_or("", path_in);
        rest.starts_with(')').then_some((StageFile { before, after }, address))
    })
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
    let path = end_of(selector)
        .and_then(|end| selector.get(end + 1..))
        .and_then(|after| after.strip_prefix('.'));
    path.map_or("", path_in)
}

/// Returns the position of the brace that closes the variable whose inner text begins at `selector`.
fn end_of(selector: &str) -> Option<usize> {
    let mut depth = 1;
    selector.bytes().take(limits::MAX_STAGE_SELECTOR).position(|byte| {
        depth += i32::from(byte == b'{') - i32::from(byte == b'}');
        depth == 0
    })
}

/// Returns the path of keys at the start of `text`.
fn path_in(text: &str) -> &str {
    text.split(|c: char| !(is_of_name(c) || c == '.')).next().unwrap_or("")
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
