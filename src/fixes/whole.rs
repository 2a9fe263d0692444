//! Checks that edited files are intact: files that parsed still parse, templates are still templates, and declarations
//! still exist. A fix that fails this check has only hidden the resource from its rule.

use super::apply::{Changed, Texts};
use crate::diagnostic::{Diagnostic, LIMIT_REACHED, PARSE_ERROR};
use crate::discover;
use crate::frontend::Outline;
use crate::graph::Graph;
use std::collections::BTreeSet;

/// Describes the fault of the first changed file that is broken.
pub(super) fn broken_file(texts: &Texts) -> Option<String> {
    texts.changed().find_map(|changed| {
        let name = changed.path.file_name().unwrap_or_default().to_string_lossy();
        Some(format!("`{name}` is broken afterwards: {}", broken(changed)?))
    })
}

fn broken(changed: &Changed) -> Option<String> {
    let Changed { path, before, after } = changed;
    if discover::input_of(path, before.as_bytes()) != discover::input_of(path, after.as_bytes()) {
        return Some("it is no longer recognised as what it was".to_owned());
    }
    Outline::of(path, before).lost_in(&Outline::of(path, after))
}

/// Describes a unit or a resource that no longer exists.
pub(super) fn vanished(before: &Graph, after: &Graph) -> Option<String> {
    let (had, has) = (everything(before), everything(after));
    let (unit, address) = had.difference(&has).next()?;
    Some(match address {
        Some(address) => format!("`{address}` of `{unit}` is not there any more"),
        None => format!("`{unit}` is not read any more"),
    })
}

/// Returns the units, and their resources by address.
fn everything(graph: &Graph) -> BTreeSet<(&str, Option<&str>)> {
    let units = graph.units().iter().map(|unit| (unit.key.as_str(), None));
    let resources = graph.resources();
    let resources = resources.map(|resource| (graph.unit(resource.unit).key.as_str(), Some(&*resource.address)));
    units.chain(resources).collect()
}

/// Returns the units and addresses of all resources that rules judge and fixes may declare.
pub(super) fn addresses(graph: &Graph) -> BTreeSet<(&str, &str)> {
    let alarms = graph.alarms().iter().map(|alarm| &alarm.resource);
    let resources = graph.resources().chain(alarms);
    resources
        .map(|resource| (&*graph.unit(resource.unit).name, &*resource.address))
        .collect()
}

/// Describes a file with more read errors than before.
pub(super) fn unread(before: &[Diagnostic], after: &[Diagnostic]) -> Option<String> {
    let faults = |all: &[Diagnostic], of: &Diagnostic| {
        let is_alike = |found: &&Diagnostic| (&found.rule, &found.subject) == (&of.rule, &of.subject);
        all.iter().filter(is_alike).count()
    };
    let of_files = |found: &&Diagnostic| [PARSE_ERROR, LIMIT_REACHED].contains(&&*found.rule);
    let worse = after
        .iter()
        .filter(of_files)
        .find(|found| faults(after, found) > faults(before, found))?;
    Some(worse.headline.clone())
}

#[cfg(test)]
mod tests;
