//! Detects blocks that define several resources, as those in modules and templates with several callers do. A fix of
//! such a block changes all of its resources, so it is dropped if one of them lacks the finding or has it suppressed.

use crate::diagnostic::{Change, Diagnostic, Edit, RuleId, Safety, Subject};
use crate::graph::Graph;
use crate::history::FindingInEnvironments;
use rustc_hash::{FxHashMap, FxHashSet};
use source::{FileId, SourceFile, Sources, Span};
use std::path::Path;

/// A place in which a block creates a resource.
#[derive(PartialEq, Eq, Hash)]
struct Instance {
    unit: String,
    /// Nested stacks from the root to the unit, empty for a root.
    stacks: String,
    /// Module calls that contain the resource, outermost first.
    calls: Vec<Span>,
}

/// Blocks that define several resources, not all of which have the same finding.
pub(super) struct Shared {
    /// Calls that contain the resources without the finding, by rule and header of the block.
    without: FxHashMap<(RuleId, Span), Vec<Vec<Span>>>,
}

impl Shared {
    pub(super) fn of(graph: &Graph, located: &[FindingInEnvironments]) -> Self {
        // Most blocks define a single resource.
        let (mut once, mut several) = (FxHashSet::default(), FxHashSet::default());
        for resource in graph.resources() {
            if !once.insert(resource.header) {
                several.insert(resource.header);
            }
        }
        drop(once);
        let mut instances: FxHashMap<Span, FxHashSet<Instance>> = FxHashMap::default();
        for resource in graph.resources().filter(|resource| several.contains(&resource.header)) {
            let unit = graph.unit(resource.unit);
            let instance = Instance {
                unit: unit.name.clone(),
                stacks: unit.key.calls().unwrap_or_default().to_owned(),
                calls: resource.calls.clone(),
            };
            instances.entry(resource.header).or_default().insert(instance);
        }
        let mut with: FxHashMap<(RuleId, Span), FxHashSet<Instance>> = FxHashMap::default();
        for (found, _) in located {
            if let Some(header) = header(found).filter(|header| instances.contains_key(header)) {
                let Subject { unit, address, .. } = &found.subject;
                // In a template with callers, the prefix names the call for which it was judged.
                let call = found
                    .calls
                    .first()
                    .and_then(|call| call.address.strip_suffix(address.as_str()));
                let instance = Instance {
                    unit: unit.clone(),
                    stacks: call.and_then(|call| call.strip_suffix('.')).unwrap_or("").to_owned(),
                    calls: found.through.clone(),
                };
                with.entry((found.rule.clone(), header)).or_default().insert(instance);
            }
        }
        let without = with.into_iter().filter_map(|((rule, header), with)| {
            let others = instances.get(&header).into_iter().flatten();
            let others = others.filter(|instance| !with.contains(instance));
            let calls: Vec<Vec<Span>> = others.map(|instance| instance.calls.clone()).collect();
            (!calls.is_empty()).then_some(((rule, header), calls))
        });
        Shared {
            without: without.collect(),
        }
    }

    /// Returns `true` if the fix of `found` changes a resource that does not have the finding.
    pub(super) fn reaches_others(&self, found: &Diagnostic, sources: &Sources) -> bool {
        let Some(fix) = found.fix.as_deref().filter(|fix| fix.safety == Safety::Unsafe) else {
            return false;
        };
        let Some(header) = header(found) else { return false };
        let mut others = self.without.get(&(found.rule.clone(), header)).into_iter().flatten();
        others.any(|calls| {
            let mut edits = fix.edits.iter();
            edits.any(|edit| reaches(edit, header, &found.through, calls, sources))
        })
    }
}

/// Files of modules with the roots that use them.
pub(super) struct SharedFiles<'g>(FxHashMap<FileId, FxHashSet<&'g str>>);

impl<'g> SharedFiles<'g> {
    pub(super) fn of(graph: &'g Graph) -> Self {
        let mut roots: FxHashMap<FileId, FxHashSet<&str>> = FxHashMap::default();
        for resource in graph.resources() {
            let name = &graph.unit(resource.unit).name;
            roots.entry(resource.header.file).or_default().insert(name);
        }
        roots.retain(|_, roots| roots.len() > 1);
        SharedFiles(roots)
    }

    /// Returns `true` if `found` is in a file that several roots use, and no label is in the directory of its own.
    pub(super) fn hide_root_of(&self, found: &Diagnostic, sources: &Sources) -> bool {
        let root = Path::new(found.subject.unit.trim_start_matches("./"));
        let is_in_root = |file: FileId| {
            let file = sources.file(file);
            let directory = Path::new(file.name()).parent();
            directory.is_some_and(|directory| directory == root || directory.join(".") == root)
        };
        let mut files = found.labels().iter().map(|label| label.span.file);
        found.calls.is_empty() && self.0.contains_key(&found.primary().span.file) && !files.any(is_in_root)
    }
}

/// Returns the header of the block that a fix of `found` changes. For alarms, the rule checks the affected queues
/// itself.
fn header(found: &Diagnostic) -> Option<Span> {
    match &found.remedy.as_ref()?.change {
        Change::Number { place, .. } | Change::Remove(place) | Change::ReportFailures(place) => Some(place.header),
        Change::DeadLetterQueue(queue) => Some(queue.header),
        Change::Unquote(_)
        | Change::Arn(_)
        | Change::After(..)
        | Change::Reference(..)
        | Change::Alarm(_)
        | Change::Dimension { .. }
        | Change::Word { .. }
        | Change::Suppression { .. } => None,
    }
}

/// Returns `true` if an edit for the resource within `calls` also changes the resource of the same block within
/// `others`.
fn reaches(edit: &Edit, header: Span, calls: &[Span], others: &[Span], sources: &Sources) -> bool {
    let is_beside = |span: Span| {
        let (one, other) = (sources.file(edit.span.file), sources.file(span.file));
        home(&one) == home(&other)
    };
    if is_beside(header) {
        return true;
    }
    // An edit at the call of a module affects all calls that pass through it.
    let through = (0..calls.len())
        .rev()
        .find(|&at| calls.get(at).is_some_and(|call| is_beside(*call)));
    through
        .and_then(|at| calls.get(at..))
        .is_some_and(|through| others.ends_with(through))
}

/// Makes the argument of a call the primary place of a finding, if that is what sets the value: a shared module stays
/// as it is, and the caller changes.
pub(super) fn point_at_argument(found: &mut Diagnostic, sources: &Sources) {
    let Some(written) = found.written else { return };
    let files = [written, found.primary().span].map(|span| sources.file(span.file));
    let (there, here) = (home(&files[0]), home(&files[1]));
    let mut calls = found.through.iter().map(|call| sources.file(call.file));
    let mut templates = found.calls.iter().map(|instance| instance.root.as_str());
    let is_of_caller = calls.any(|caller| home(&caller) == there) || templates.any(|root| root == files[0].name());
    // A value within a collection, or from a function, has its line elsewhere.
    let is_literal = !sources.text(written).contains(['(', '[', '{']);
    if is_literal && there != here && is_of_caller {
        found.promote(written);
    }
}

/// Returns the module directory or the template that a file belongs to.
fn home(file: &SourceFile) -> &Path {
    let path = file.path();
    let is_template = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let module = path.parent().filter(|_| !is_template);
    module.unwrap_or(path)
}
