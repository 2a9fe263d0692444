//! Reports overrides in configurations that match nothing.

use super::Run;
use super::declarations::{UnmatchedDeclaration, describe_missing};
use super::policies::Policies;
use crate::config::Override;
use crate::graph::Graph;
use source::{SourceFile, Sources};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Describes overrides that match no file or no resource, one line each.
pub(super) fn unmatched(run: &Run<'_>, graphs: &[&Graph], policies: &Policies, sources: &Sources) -> Vec<String> {
    let mut all: BTreeMap<(PathBuf, usize), (&Path, &Override)> = BTreeMap::new();
    for unit in graphs.iter().flat_map(|graph| graph.units()) {
        for (base, rules) in &policies.of(&unit.name).overrides {
            let file = rules.file.as_ref().map(|file| file.path.clone());
            let place = (file.unwrap_or_default(), rules.patterns.range.start);
            all.insert(place, (base, rules));
        }
    }
    if all.is_empty() {
        return Vec::new();
    }
    let files: Vec<Arc<SourceFile>> = sources.all().into_iter().map(|(_, file)| file).collect();
    let missing = all.into_values().filter_map(|(base, rules)| {
        let missing = missing(rules, base, &files, graphs)?;
        // The text is needed to locate the override in it.
        if let Some(file) = &rules.file {
            sources.add(&file.path, &*file.text);
        }
        Some(missing)
    });
    let missing: Vec<UnmatchedDeclaration> = missing.collect();
    describe_missing(run, sources, missing.into_iter())
}

fn missing(
    rules: &Override,
    base: &Path,
    files: &[Arc<SourceFile>],
    graphs: &[&Graph],
) -> Option<UnmatchedDeclaration> {
    let mut taken = files
        .iter()
        .filter(|file| rules.may_match_file(file.path(), base))
        .peekable();
    let kind = if taken.peek().is_none() {
        "file"
    } else if !taken.any(|file| may_declare(rules, file)) && !graphs.iter().any(|graph| has_resource(rules, graph)) {
        "resource"
    } else {
        return None;
    };
    let patterns: Vec<String> = rules.patterns.value.iter().map(|one| format!("`{one}`")).collect();
    Some(UnmatchedDeclaration {
        file: rules.file.as_ref().map(|file| file.path.clone()),
        at: rules.patterns.range.start,
        message: format!("no {kind} matches the override for {}", patterns.join(", ")),
    })
}

/// Returns `true` if `file` contains the last name of a resource pattern. It may be that of a resource whose kind is
/// not in the graph.
fn may_declare(rules: &Override, file: &SourceFile) -> bool {
    let mut names = rules.names.iter().map(|pattern| {
        let pattern = pattern.split('[').next().unwrap_or_default();
        let name = pattern.rsplit(['.', '/']).next().unwrap_or_default();
        // Wildcards match anything, so only the longest literal part is searched for.
        let parts = name.split(['*', '?', '{', '}', ',']);
        parts.max_by_key(|part| part.len()).unwrap_or_default()
    });
    rules.resources.is_none() || names.any(|name| file.text().contains(name))
}

fn has_resource(rules: &Override, graph: &Graph) -> bool {
    let globs = rules.resources.as_ref();
    globs.is_some_and(|globs| graph.resources().any(|resource| globs.is_match(&*resource.address)))
}
