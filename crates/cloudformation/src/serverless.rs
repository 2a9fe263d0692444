//! The Serverless Framework: compiles a service to the template that the framework would deploy, and lowers it like any
//! other template. `functions` and `events` compile the service, its `resources` are merged over the result as the
//! framework does, and attributes then get back their names in `serverless.yml`.
//!
//! It knows the queues of the plugin Lift (`lift`), the state machines of `serverless-step-functions`, and the references
//! of `serverless-pseudo-parameters` (`pseudo`). Resources of other plugins are missing.

mod compose;
mod events;
mod functions;
mod lift;
mod names;
mod pseudo;
mod resolve;
mod stages;
mod variables;

pub use names::{BATCH_SIZE, MAXIMUM_CONCURRENCY, RESPONSE_TYPE, WINDOW};
pub(crate) use resolve::{Origins, parts};

use crate::{definitions, limits};
pub use events::{EVENT_KEYS, EventWithoutArn, UnknownKey};
use resolve::{Resolver, unresolved_reason};
use rustc_hash::{FxHashMap, FxHashSet};
use source::reading::Problem;
use source::{FileId, Sources, Span};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::{Entry, Node, Value};

/// Plugins that add no resources, or none that a queue or its consumers refer to.
const WITHOUT_RESOURCES: &str = "serverless-better-credentials serverless-deployment-bucket serverless-domain-manager \
    serverless-dotenv-plugin serverless-esbuild serverless-iam-roles-per-function serverless-localstack \
    serverless-offline serverless-offline-sqs serverless-plugin-typescript serverless-prune-plugin \
    serverless-pseudo-parameters serverless-python-requirements serverless-webpack";
/// Beginnings of the ids of resources that the framework and these plugins generate for a service as a whole.
/// <https://github.com/serverless/serverless/blob/v3/lib/plugins/aws/lib/naming.js>
const GENERATED: &str = "Alb ApiGateway CloudFront Cognito Custom EventBridge HttpApi IamRole PythonRequirements S3Bucket \
    SNSTopic Serverless Websockets";

/// The compiled service, before `resources` are merged over it.
#[derive(Debug, Default)]
struct Compiled {
    /// Resources, with unique ids.
    resources: Vec<Entry>,
    /// Indexes in `resources` by id.
    places: FxHashMap<Arc<str>, usize>,
    /// Keys and timeouts of the compiled functions by id.
    timeouts: FxHashMap<Arc<str>, (Span, Timeout)>,
    /// The authors' names of generated resources, by id.
    labels: FxHashMap<Arc<str>, String>,
    unknown_keys: Vec<UnknownKey>,
    events_without_arn: Vec<EventWithoutArn>,
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

/// The origin of a function's timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timeout {
    /// `timeout` of the function.
    Own,
    /// `provider.timeout`, with its span.
    Provider(Span),
    /// The framework's default.
    Default,
}

/// Facts about a service that the compiled template does not contain.
#[derive(Debug)]
pub struct Service {
    /// `true` if all of it was read, and no plugin may add alarms.
    pub is_whole: bool,
    /// Span of the document.
    pub span: Span,
    /// Region of the deployment, if it is written.
    pub region: Option<Arc<str>>,
    generated: FxHashSet<Arc<str>>,
    timeouts: FxHashMap<Arc<str>, (Span, Timeout)>,
    labels: FxHashMap<Arc<str>, String>,
    /// Unknown keys of `sqs` events.
    pub unknown_keys: Vec<UnknownKey>,
    /// `sqs` events that name no queue.
    pub events_without_arn: Vec<EventWithoutArn>,
}

impl Service {
    /// Returns `true` if the resource `id` comes from the service itself. `resources` spell the attributes of what they
    /// write or extend like CloudFormation.
    pub fn is_generated(&self, id: &str) -> bool {
        self.generated.contains(id)
    }

    /// Returns the author's name of the generated resource `id`: `` `worker` ``, "event `sqs: orders` of `worker`".
    pub fn label(&self, id: &str) -> Option<&str> {
        let label = self.labels.get(id).filter(|_| self.is_generated(id));
        label.map(String::as_str)
    }

    /// Returns the key of the function whose logical id is `id`, and the origin of its timeout.
    pub fn timeout(&self, id: &str) -> Option<(Span, Timeout)> {
        self.timeouts.get(id).copied()
    }
}

/// Returns the stages for which the service in `document` has values, other than the default stage.
pub(crate) fn stages(document: &Node, path: &Path, sources: &Sources) -> Vec<String> {
    let (default, _) = Resolver::new(document, path, sources).stage();
    let directory = path.parent().unwrap_or(Path::new(""));
    stages::named(document, &default, directory, sources)
}

/// A service as the template that the framework deploys.
pub(crate) struct ServiceTemplate {
    pub(crate) root: Node,
    pub(crate) service: Service,
    /// Provenance of the values of its variables.
    pub(crate) origins: Origins,
    /// Name of the stack, if known.
    pub(crate) stack: Option<Arc<str>>,
    /// `true` if it declares every resource that the framework deploys.
    pub(crate) is_closed: bool,
    /// Other files that declare its resources.
    pub(crate) files: BTreeSet<PathBuf>,
    pub(crate) notes: Vec<String>,
    pub(crate) problems: Vec<Problem>,
}

/// Compiles the service in `document`, deployed to `stage` or to its default stage.
pub(crate) fn compile(document: &Node, stage: Option<&str>, path: &Path, sources: &Sources) -> ServiceTemplate {
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
    let is_read = compiled.notes.is_empty();
    let is_whole = is_read && !plugins.iter().any(|name| may_watch(name));
    let generated = std::mem::take(&mut compiled.places);
    let written = written_ids(&parts);
    let files = declaring_files(&parts, document.span.file, sources);
    let mut root = merged(std::mem::take(&mut compiled.resources), parts, document.span);
    if plugins.iter().any(|name| name.contains(pseudo::PLUGIN)) {
        let references = resolver.text(&["custom", "pseudoParameters", "allowReferences"]);
        pseudo::substitute(&mut root, references.is_none_or(|(text, _)| text != "false"));
    }
    let root = definitions::substituted(Cow::Owned(root)).into_owned();
    let service = Service {
        is_whole,
        span: document.span,
        region: known_text(&mut resolver, &["provider", "region"]).map(Arc::from),
        generated: generated.into_keys().filter(|id| !written.contains(id)).collect(),
        timeouts: compiled.timeouts,
        labels: compiled.labels,
        unknown_keys: compiled.unknown_keys,
        events_without_arn: compiled.events_without_arn,
    };
    let is_harmless = |name: &String| WITHOUT_RESOURCES.split(' ').any(|known| known == name);
    ServiceTemplate {
        root,
        service,
        stack: stack_name(&mut resolver).map(Arc::from),
        is_closed: is_read && plugins.iter().all(is_harmless),
        files,
        notes: compiled.notes,
        origins: resolver.origins,
        problems: resolver.problems,
    }
}

/// Returns the text at `path` if all of it is known.
fn known_text(resolver: &mut Resolver<'_>, path: &[&str]) -> Option<String> {
    let (text, _) = resolver.text(path)?;
    (!text.contains("${")).then_some(text)
}

/// Returns the name of the stack that the framework deploys.
fn stack_name(resolver: &mut Resolver<'_>) -> Option<String> {
    let own = known_text(resolver, &["provider", "stackName"]);
    own.or_else(|| {
        let service = known_text(resolver, &["service", "name"]).or_else(|| known_text(resolver, &["service"]))?;
        let (stage, _) = resolver.stage();
        (!stage.contains("${")).then(|| format!("{service}-{stage}"))
    })
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

/// Returns `true` if the framework may generate the resource `id` itself, for a function or for the service.
pub(crate) fn may_generate(id: &str, functions: &mut dyn Iterator<Item = &str>) -> bool {
    let of_function = functions.filter_map(|function| function.strip_suffix(names::FUNCTION));
    let mut prefixes = GENERATED.split(' ').chain(of_function);
    prefixes.any(|prefix| id.starts_with(prefix))
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
        (Value::Mapping(entries), Value::Mapping(new)) if depth < limits::MAX_MERGE_DEPTH => {
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
            Some(known) if &*attribute.key == "Properties" => {
                merge(&mut known.value, attribute.value, limits::MAX_MERGE_DEPTH - 1);
            }
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
    Entry::new(key, value.span, value)
}

/// Returns a property of the service under its name in CloudFormation.
fn renamed(key: &str, entry: &Entry) -> Entry {
    Entry {
        key: key.into(),
        ..entry.clone()
    }
}

fn mapping(at: Span, entries: Vec<Entry>) -> Node {
    Node::new(at, Value::Mapping(entries))
}

fn list(at: Span, items: Vec<Node>) -> Node {
    Node::new(at, Value::Sequence(items))
}

fn text(at: Span, text: impl Into<Arc<str>>) -> Node {
    Node::new(at, Value::String(text.into()))
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
