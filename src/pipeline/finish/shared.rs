//! Blocks that stand for several resources, as those of a module or template that is called often do. A fix of one changes all of
//! them, so there is none where another has not the same finding, or is told to keep what it has.

use crate::diagnostic::{Change, Diagnostic, Edit, RuleId, Safety, Subject};
use crate::graph::Graph;
use crate::history::Held;
use crate::source::{SourceFile, Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;

/// A unit by name and call, and the calls in it that lead to a resource, outermost first.
type Instance = (String, Vec<Span>);

/// Of the blocks that stand for several resources, those of which not all have the same finding.
pub(super) struct Shared {
    /// The calls that lead to the resources without the finding, by its rule and the block's header.
    without: FxHashMap<(RuleId, Span), Vec<Vec<Span>>>,
}

impl Shared {
    pub(super) fn of(graph: &Graph, held: &[Held]) -> Self {
        let resources = || {
            let functions = graph.functions().iter().map(|function| &function.resource);
            let mappings = graph.mappings().iter().map(|mapping| &mapping.resource);
            let queues = graph.queues().iter().map(|queue| &queue.resource);
            queues.chain(functions).chain(mappings)
        };
        // Most stand for one.
        let (mut once, mut several) = (FxHashSet::default(), FxHashSet::default());
        for resource in resources() {
            if !once.insert(resource.header) {
                several.insert(resource.header);
            }
        }
        drop(once);
        let mut instances: FxHashMap<Span, FxHashSet<Instance>> = FxHashMap::default();
        for resource in resources().filter(|resource| several.contains(&resource.header)) {
            let unit = graph.unit(resource.unit);
            let call = unit.key().split_once('#').map_or("", |(_, call)| call);
            let instance = (instance_of(&unit.name, call), resource.calls.clone());
            instances.entry(resource.header).or_default().insert(instance);
        }
        let mut with: FxHashMap<(RuleId, Span), FxHashSet<Instance>> = FxHashMap::default();
        for (found, _) in held {
            if let Some(header) = header(found).filter(|header| instances.contains_key(header)) {
                let Subject { unit, address, .. } = &found.subject;
                // Of a template that others call, this says for which call it was judged.
                let call = found.calls.first().and_then(|call| call.strip_suffix(address.as_str()));
                let call = call.and_then(|call| call.strip_suffix('.')).unwrap_or("");
                let instance = (instance_of(unit, call), found.through.clone());
                with.entry((found.rule.clone(), header)).or_default().insert(instance);
            }
        }
        let without = with.into_iter().filter_map(|((rule, header), with)| {
            let others = instances.get(&header).into_iter().flatten();
            let others = others.filter(|instance| !with.contains(instance));
            let calls: Vec<Vec<Span>> = others.map(|(_, calls)| calls.clone()).collect();
            (!calls.is_empty()).then_some(((rule, header), calls))
        });
        Shared {
            without: without.collect(),
        }
    }

    /// Whether the fix of `found` changes a resource that has not the same finding.
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

fn instance_of(unit: &str, call: &str) -> String {
    format!("{unit}#{call}")
}

/// The block that a fix of `found` is for. Which queues an alarm is for, its rule sees to.
fn header(found: &Diagnostic) -> Option<Span> {
    match &found.remedy.as_ref()?.change {
        Change::Number { place, .. } | Change::Remove(place) | Change::ReportFailures(place) => Some(place.header),
        Change::DeadLetterQueue(queue) => Some(queue.header),
        Change::Unquote(_) | Change::Arn(_) | Change::Alarm(_) | Change::Suppression { .. } => None,
    }
}

/// Whether an edit that is made for the resource that `calls` lead to changes that of the same block that `others`
/// lead to.
fn reaches(edit: &Edit, header: Span, calls: &[Span], others: &[Span], sources: &Sources) -> bool {
    let is_beside = |span: Span| {
        let (one, other) = (sources.file(edit.span.file), sources.file(span.file));
        home(&one) == home(&other)
    };
    if is_beside(header) {
        return true;
    }
    // Of what is written where a module is called, those calls have a share that go through it.
    let through = (0..calls.len())
        .rev()
        .find(|&at| calls.get(at).is_some_and(|call| is_beside(*call)));
    through
        .and_then(|at| calls.get(at..))
        .is_some_and(|through| others.ends_with(through))
}

/// The module, or the template.
fn home(file: &SourceFile) -> &Path {
    let path = file.path();
    let is_template = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let module = path.parent().filter(|_| !is_template);
    module.unwrap_or(path)
}
