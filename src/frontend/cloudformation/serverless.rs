//! The Serverless Framework: compiles a service to the template that the framework would deploy, and lowers it like any
//! other template. `functions` and `events` compile the service, its `resources` are merged over the result as the
//! framework does, and attributes then get back their names in `serverless.yml`.
//!
//! It knows the queues of the plugin Lift (`lift`) and the references of the plugin `serverless-pseudo-parameters`
//! (`pseudo`). Resources of other plugins are missing.

mod events;
mod functions;
mod lift;
mod names;
mod pseudo;
mod resolve;
mod stages;
#[cfg(test)]
mod tests;
mod variables;

pub(super) use resolve::{Origins, parts};

use super::lower;
use super::parameters::Values;
use super::sections::{Dialect, Sections};
use crate::frontend::lower::unread::expose_roles;
use crate::graph::{
    Attribute, Cause, EventSourceMapping, Form, Function, Invocation, Link, Origin, Seconds, Target, UnitGraph,
    UnknownKey,
};
use resolve::{Resolver, unresolved_reason};
use rustc_hash::{FxHashMap, FxHashSet};
use source::reading::Problem;
use source::{FileId, Sources, Span};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::{Entry, Node, Value};

/// Setting of an `sqs` event: the batch size.
pub(super) const BATCH_SIZE: &str = "batchSize";
/// Setting of an `sqs` event: the batching window.
pub(super) const WINDOW: &str = "maximumBatchingWindow";
/// Setting of an `sqs` event: the response type, a single value.
pub(super) const RESPONSE_TYPE: &str = "functionResponseType";
/// Setting of an `sqs` event: the filters.
const FILTERS: &str = "filterPatterns";
/// Setting of an `sqs` event: the maximum concurrency.
const MAXIMUM_CONCURRENCY: &str = "maximumConcurrency";

/// Maximum depth of merges, the maximum depth of a document.
const MAX_DEPTH: usize = 128;
/// Timeout of a function if neither the function nor the provider sets one.
/// <https://github.com/serverless/serverless/blob/v3/lib/plugins/aws/package/compile/functions.js>
const FUNCTION_TIMEOUT_DEFAULT: Seconds = Seconds(6);

/// The compiled service, before `resources` are merged over it.
#[derive(Debug, Default)]
struct Compiled {
    /// Resources, with unique ids.
    resources: Vec<Entry>,
    /// Indexes in `resources` by id.
    places: FxHashMap<Arc<str>, usize>,
    /// Compiled functions by id.
    functions: FxHashMap<Arc<str>, CompiledFunction>,
    /// Unknown keys of `sqs` events by the id of the mapping.
    unknown_keys: FxHashMap<Arc<str>, Vec<UnknownKey>>,
    /// Unread parts of the service, as notes on the unit.
    notes: Vec<String>,
}

impl Compiled {
    /// Adds a resource; it replaces an earlier one with the same id.
    fn put(&mut self, resource: Entry) {
        let next = self.resources.len();
        let at = *self.places.entry(resource.key.clone()).or_insert(next);
        match self.resources.get_mut(at) {
            Some(known) => *known = resource,
            None => self.resources.push(resource),
        }
    }
}

/// A compiled function.
#[derive(Debug)]
struct CompiledFunction {
    /// The key, which is the span of absent attributes.
    header: Span,
    timeout: Timeout,
}

/// The origin of a function's timeout.
#[derive(Debug)]
enum Timeout {
    Own,
    /// `provider.timeout`, with its span.
    Provider(Span),
    Default,
}

/// Returns the stages for which the service in `document` has values, other than the default stage.
pub(super) fn stages(document: &Node, path: &Path, sources: &Sources) -> Vec<String> {
    let (default, _) = Resolver::new(document, path, sources).stage();
    stages::named(document, &default)
}

/// Fills `graph` from the service in `document`, deployed to `stage` or to its default stage. Also returns the other
/// files that declare its resources.
pub(super) fn fill(
    graph: &mut UnitGraph,
    document: &Node,
    values: Values,
    stage: Option<&str>,
    path: &Path,
    sources: &Sources,
) -> (Vec<Problem>, BTreeSet<PathBuf>) {
    let unit = graph.unit.name.clone();
    let mut resolver = Resolver::new(document, path, sources).for_stage(stage);
    let mut compiled = functions::compile(&mut resolver, document);
    let mut parts = Vec::new();
    if let Some(written) = document.get("resources") {
        match resolver.section(&["resources"]) {
            Some(node) => match node.value {
                Value::Sequence(items) => parts.extend(items),
                value => parts.push(Node { value, ..node }),
            },
            None => parts.push(written.clone()),
        }
    }
    for part in parts.iter().filter(|part| part.entries().is_none()) {
        let reason = part.as_str().and_then(unresolved_reason);
        compiled
            .notes
            .extend(reason.map(|reason| format!("part of its `resources` is not read: {reason}")));
    }
    let mut lost = Vec::new();
    for part in &mut parts {
        keep_readable(part, &mut lost);
    }
    compiled.notes.append(&mut lost);
    let plugins = plugins(&mut resolver);
    let is_whole = compiled.notes.is_empty() && !plugins.iter().any(|name| may_watch(name));
    let generated = std::mem::take(&mut compiled.places);
    let written = written_ids(&parts);
    let files = declaring_files(&parts, document.span.file, sources);
    let mut root = merged(std::mem::take(&mut compiled.resources), parts, document.span);
    if plugins.iter().any(|name| name.contains(pseudo::PLUGIN)) {
        let references = resolver.text(&["custom", "pseudoParameters", "allowReferences"]);
        pseudo::substitute(&mut root, references.is_none_or(|(text, _)| text != "false"));
    }
    graph.unit.notes.append(&mut compiled.notes);
    let mut sections = Sections::new(&unit, Dialect::Serverless, &[&root], values);
    sections.origins = Some(&resolver.origins);
    sections.directory = path.parent().map(Path::to_owned);
    let limits = lower(&sections.into(), graph);
    // `resources` spell the attributes of a generated resource like CloudFormation.
    let is_ours = |id: &Arc<str>| generated.contains_key(id) && !written.contains(id);
    respell(graph, &mut compiled, is_ours);
    if !is_whole {
        // An unread part may watch or poll any queue.
        let all = graph.queues.iter().map(|queue| Link {
            target: Target::Resource(queue.resource.address.clone()),
            form: Form::Arn,
        });
        graph.passed_to_missing_code.extend(all);
        expose_roles(graph);
    }
    if let Some(note) = graph.unit.notes.first() {
        // An unread part may also invoke the functions.
        graph.invocations.push(Invocation {
            resource: "resources".into(),
            span: document.span,
            function: Attribute::unresolved("function", Cause::NotRead.because(note.as_str()), document.span),
        });
    }
    (resolver.problems.into_iter().chain(limits).collect(), files)
}

/// Removes from a part of `resources` the variables without a value, which would otherwise replace generated resources.
/// The reasons are added to `notes`.
fn keep_readable(part: &mut Node, notes: &mut Vec<String>) {
    let mut keep = |entry: &Entry| {
        let reason = entry.value.as_str().and_then(unresolved_reason);
        let note = reason.map(|reason| format!("`{}` of its `resources` is not read: {reason}", entry.key));
        let is_read = note.is_none();
        notes.extend(note);
        is_read
    };
    let Value::Mapping(sections) = &mut part.value else {
        return;
    };
    sections.retain(|section| !matches!(&*section.key, "Resources" | "extensions") || keep(section));
    for section in sections
        .iter_mut()
        .filter(|section| matches!(&*section.key, "Resources" | "extensions"))
    {
        if let Value::Mapping(entries) = &mut section.value.value {
            entries.retain(&mut keep);
        }
    }
}

/// Returns the names of the service's plugins.
fn plugins(resolver: &mut Resolver<'_>) -> Vec<String> {
    let plugins = resolver.section(&["plugins"]);
    let all = plugins
        .as_ref()
        .map(|plugins| plugins.get("modules").unwrap_or(plugins));
    let names = all.and_then(Node::items).unwrap_or_default().iter();
    names.filter_map(Node::as_str).map(str::to_owned).collect()
}

/// Returns `true` if the name of a plugin suggests that it adds alarms.
fn may_watch(plugin: &str) -> bool {
    ["alarm", "alert", "watch", "monitor"]
        .iter()
        .any(|word| plugin.contains(word))
}

/// Returns the logical ids that `resources` declare or extend.
fn written_ids(parts: &[Node]) -> FxHashSet<Arc<str>> {
    let sections = parts
        .iter()
        .flat_map(|part| ["Resources", "extensions"].map(|key| part.get(key)));
    let entries = sections.flatten().filter_map(Node::entries).flatten();
    entries.map(|entry| entry.key.clone()).collect()
}

/// Returns the files other than `own` in which `resources` declare a resource. They are not units of their own.
fn declaring_files(parts: &[Node], own: FileId, sources: &Sources) -> BTreeSet<PathBuf> {
    let entries = parts
        .iter()
        .filter_map(|part| part.get("Resources")?.entries())
        .flatten();
    let files = entries.map(|entry| entry.key_span.file).filter(|file| *file != own);
    let files: BTreeSet<FileId> = files.collect();
    files
        .into_iter()
        .map(|file| sources.file(file).path().to_owned())
        .collect()
}

/// Merges the generated resources, `resources` and the `extensions` of both into one template.
fn merged(generated: Vec<Entry>, parts: Vec<Node>, at: Span) -> Node {
    let mut root = mapping(at, vec![set("Resources", mapping(at, generated))]);
    let mut extensions = Vec::new();
    for part in parts {
        let Value::Mapping(mut entries) = part.value else {
            continue;
        };
        if let Some(found) = entries.iter().position(|entry| &*entry.key == "extensions")
            && let Value::Mapping(own) = entries.remove(found).value.value
        {
            extensions.extend(own);
        }
        merge(&mut root, mapping(part.span, entries), 0);
    }
    let resources = child(&mut root, "Resources");
    if let Some(Value::Mapping(resources)) = resources.map(|node| &mut node.value) {
        for extension in extensions {
            let extended = resources.iter_mut().find(|resource| resource.key == extension.key);
            if let Some(resource) = extended {
                extend(&mut resource.value, extension.value);
            }
        }
    }
    root
}

/// Merges `over` into `node`: objects are merged, all other values are replaced.
fn merge(node: &mut Node, over: Node, depth: usize) {
    match (&mut node.value, over.value) {
        (Value::Mapping(entries), Value::Mapping(new)) if depth < MAX_DEPTH => {
            let mut places: FxHashMap<Arc<str>, usize> = entries
                .iter()
                .enumerate()
                .map(|(at, entry)| (entry.key.clone(), at))
                .collect();
            for entry in new {
                if let Some(known) = places.get(&entry.key).and_then(|&at| entries.get_mut(at)) {
                    known.key_span = entry.key_span;
                    merge(&mut known.value, entry.value, depth + 1);
                } else {
                    places.insert(entry.key.clone(), entries.len());
                    entries.push(entry);
                }
            }
        }
        (_, value) => {
            *node = Node { span: over.span, value };
        }
    }
}

/// Applies `extensions` to a resource: attributes are replaced, single properties are set.
fn extend(resource: &mut Node, extension: Node) {
    let (Value::Mapping(attributes), Value::Mapping(new)) = (&mut resource.value, extension.value) else {
        return;
    };
    for attribute in new {
        match attributes.iter_mut().find(|known| known.key == attribute.key) {
            Some(known) if &*attribute.key == "Properties" => merge(&mut known.value, attribute.value, MAX_DEPTH - 1),
            Some(known) => *known = attribute,
            None => attributes.push(attribute),
        }
    }
}

fn child<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    match &mut node.value {
        Value::Mapping(entries) => entries
            .iter_mut()
            .find(|entry| &*entry.key == key)
            .map(|entry| &mut entry.value),
        _ => None,
    }
}

/// Returns a property that has no key of its own in the service.
fn set(key: &str, value: Node) -> Entry {
    Entry {
        key: key.into(),
        key_span: value.span,
        value,
    }
}

/// Returns a property of the service under its name in CloudFormation.
fn renamed(key: &str, entry: &Entry) -> Entry {
    Entry {
        key: key.into(),
        ..entry.clone()
    }
}

fn mapping(at: Span, entries: Vec<Entry>) -> Node {
    Node {
        span: at,
        value: Value::Mapping(entries),
    }
}

fn list(at: Span, items: Vec<Node>) -> Node {
    Node {
        span: at,
        value: Value::Sequence(items),
    }
}

fn text(at: Span, text: impl Into<Arc<str>>) -> Node {
    Node {
        span: at,
        value: Value::String(text.into()),
    }
}

/// Returns a resource with the given properties, at `header`.
fn resource(id: impl Into<Arc<str>>, kind: &str, header: Span, properties: Vec<Entry>) -> Entry {
    let properties = mapping(header, properties);
    Entry {
        key: id.into(),
        key_span: header,
        value: mapping(
            header,
            vec![set("Type", text(header, kind)), set("Properties", properties)],
        ),
    }
}

/// Renames the attributes of generated resources to their spelling in the service, and sets the framework's defaults.
fn respell(graph: &mut UnitGraph, all: &mut Compiled, is_ours: impl Fn(&Arc<str>) -> bool) {
    for function in &mut graph.functions {
        let id = &function.resource.address;
        if let Some(compiled) = all.functions.get(id).filter(|_| is_ours(id)) {
            respell_function(function, compiled);
        }
    }
    for mapping in &mut graph.mappings {
        if is_ours(&mapping.resource.address) {
            respell_mapping(mapping);
            mapping.unknown_keys = all.unknown_keys.remove(&mapping.resource.address).unwrap_or_default();
        }
    }
}

fn respell_function(function: &mut Function, compiled: &CompiledFunction) {
    match compiled.timeout {
        Timeout::Own => function.timeout.name = "timeout".into(),
        Timeout::Provider(span) => {
            function.timeout.name = "timeout".into();
            for case in &mut function.timeout.cases {
                case.span = compiled.header;
                let origin = Origin {
                    span,
                    what: "`provider.timeout`".into(),
                    computes: false,
                };
                let earlier = case.origins.iter().cloned();
                case.origins = std::iter::once(origin).chain(earlier).collect::<Vec<_>>().into();
            }
        }
        Timeout::Default => {
            function.timeout = Attribute::absent("timeout", FUNCTION_TIMEOUT_DEFAULT, compiled.header);
        }
    }
    function.name.name = "name".into();
    function.reserved_concurrency.name = "reservedConcurrency".into();
    for target in &mut function.failure_targets {
        target.name = match &*target.name {
            "DeadLetterConfig" => "onError".into(),
            "OnFailure" => "destinations.onFailure".into(),
            _ => continue,
        };
    }
}

fn respell_mapping(mapping: &mut EventSourceMapping) {
    mapping.queue.name = "arn".into();
    mapping.batch_size.name = BATCH_SIZE.into();
    mapping.window.name = WINDOW.into();
    mapping.report_batch_item_failures.name = RESPONSE_TYPE.into();
    mapping.maximum_concurrency.name = MAXIMUM_CONCURRENCY.into();
    mapping.enabled.name = "enabled".into();
}
