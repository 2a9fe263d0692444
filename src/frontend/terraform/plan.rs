//! Plans and states as `terraform show -json` prints them, and raw state files: read in one pass, of which only the
//! resources that matter are taken apart, and lowered as those of modules are.
//!
//! Values are Terraform's own. What is known only after apply is a link where the configuration in the plan says
//! so (`plan/references.rs`), else not known. Nothing here judges how old a plan is.

mod address;
mod arguments;
mod document;
mod places;
mod references;
mod relevance;
mod translate;

use super::eval::Evaluator;
use super::lower::Lowering;
use super::module::{Module, Modules};
use super::syntax::Block;
use super::value::{Key, ResourceId};
use crate::diagnostic::Diagnostic;
use crate::frontend::tree::Node;
use crate::frontend::{Loaded, ReadError, json, limit_reached, parse_error, read};
use crate::graph::{Unit, UnitGraph, UnitKind};
use crate::source::{FileId, Sources, Span};
use arguments::Arguments;
use document::{Change, Configured, Document, Planned, ValuesModule};
use places::Places;
use references::{Place, Resolver};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use translate::{Subject, Translator};

/// More resources than this are a bound reached.
const MAX_RESOURCES: usize = 1_000_000;

/// Reads the plan or state in `file`.
pub(super) fn load(file: &Path, sources: &Sources) -> Loaded {
    let name = sources.name_of(file);
    let mut loaded = Loaded {
        graph: UnitGraph::new(Unit {
            name: name.clone(),
            kind: UnitKind::Plan,
            notes: Vec::new(),
            call: None,
        }),
        diagnostics: Vec::new(),
        errors: Vec::new(),
    };
    let id = match read(file, sources, &name) {
        Ok(id) => id,
        Err(ReadError::Io(error)) => {
            loaded.errors.push(error);
            return loaded;
        }
        Err(ReadError::Encoding(diagnostic)) => {
            loaded.diagnostics.push(*diagnostic);
            return loaded;
        }
    };
    sources.guard(id);
    let source = sources.file(id);
    let text = Text {
        file: id,
        whole: source.text(),
    };
    let document = match text.parse() {
        Ok(document) => document,
        Err(refusal) => {
            loaded.diagnostics.push(refusal.diagnostic(sources, &name));
            return loaded;
        }
    };
    if document.planned_values.is_none() {
        loaded.graph.unit.kind = UnitKind::State;
    }
    if document.errored == Some(true) {
        loaded
            .graph
            .unit
            .notes
            .push("planning failed, so the plan is not whole".to_owned());
    }
    let unit = loaded.graph.unit.clone();
    let reader = Reader::new(text, &document, file, sources);
    loaded.graph = reader.graph(unit, sources);
    loaded
}

/// The text of the file, and places in it.
#[derive(Clone, Copy)]
struct Text<'d> {
    file: FileId,
    whole: &'d str,
}

/// Why a file is not read, and where.
struct Refusal {
    span: Span,
    message: String,
    limit: bool,
}

impl Refusal {
    fn diagnostic(&self, sources: &Sources, unit: &str) -> Diagnostic {
        let report = if self.limit { limit_reached } else { parse_error };
        report(sources, unit, self.span, &self.message)
    }
}

impl<'d> Text<'d> {
    fn parse(self) -> Result<Document<'d>, Refusal> {
        let refuse = |message: String| Refusal {
            span: Span::new(self.file, 0..1),
            message,
            limit: false,
        };
        let body = self.whole.strip_prefix('\u{feff}').unwrap_or(self.whole);
        let document: Document<'d> = serde_json::from_str(body).map_err(|error| self.refusal(body, &error))?;
        let major = document
            .format_version
            .as_deref()
            .map(|version| version.split('.').next().unwrap_or(""));
        match (major, document.version) {
            (Some("0" | "1"), _) | (None, Some(4)) => {}
            (Some(_), _) => {
                let version = document.format_version.as_deref().unwrap_or("");
                return Err(refuse(format!(
                    "its format version {version} is not known here; 0 and 1 are"
                )));
            }
            (None, Some(version)) => {
                return Err(refuse(format!(
                    "it is a state of version {version}, and only version 4 is read; `terraform show -json` prints it in a form that is"
                )));
            }
            (None, None) => return Err(refuse("it says no version of its format".to_owned())),
        }
        let changes = document.resource_changes.as_ref().map_or(0, Vec::len);
        let stored = document
            .resources
            .iter()
            .flatten()
            .map(|resource| resource.instances.len());
        if changes.max(stored.sum()) > MAX_RESOURCES {
            return Err(Refusal {
                limit: true,
                ..refuse("it holds more than a million resources".to_owned())
            });
        }
        Ok(document)
    }

    fn refusal(self, body: &str, error: &serde_json::Error) -> Refusal {
        let lines = body.split_inclusive('\n');
        let before: usize = lines.take(error.line().saturating_sub(1)).map(str::len).sum();
        let at = (self.whole.len() - body.len() + before + error.column().saturating_sub(1)).min(self.whole.len());
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or("it is not JSON");
        let limit = message == "recursion limit exceeded";
        Refusal {
            span: Span::new(self.file, at..at + 1),
            message: if limit {
                "modules call each other more than 60 levels deep".to_owned()
            } else {
                message.to_owned()
            },
            limit,
        }
    }

    /// Where a part that was not taken apart begins.
    fn offset(self, raw: &RawValue) -> usize {
        (raw.get().as_ptr() as usize).saturating_sub(self.whole.as_ptr() as usize)
    }

    fn span(self, raw: &RawValue) -> Span {
        let start = self.offset(raw);
        Span::new(self.file, start..start + raw.get().len())
    }

    /// A part, taken apart.
    fn node(self, raw: &RawValue) -> Option<Node> {
        json::parse_part(raw.get(), self.file, self.offset(raw)).documents.pop()
    }
}

/// One instance of a resource.
struct Resource<'p> {
    /// Its name is that of its block with the key behind it, so that each is a block of its own.
    id: Arc<ResourceId>,
    header: Span,
    values: Option<&'p RawValue>,
    sensitive: Marks<'p>,
}

/// What is sensitive.
#[derive(Clone, Copy)]
enum Marks<'p> {
    /// As a tree beside the values.
    Tree(Option<&'p RawValue>),
    /// As a list of paths.
    Paths(Option<&'p RawValue>),
}

impl Marks<'_> {
    fn tree(self) -> serde_json::Value {
        match self {
            Marks::Tree(raw) => tree(raw),
            Marks::Paths(raw) => {
                let mut marked = serde_json::Map::new();
                for path in tree(raw).as_array().into_iter().flatten() {
                    if let Some(name) = path
                        .get(0)
                        .and_then(|step| step.get("value"))
                        .and_then(|name| name.as_str())
                    {
                        marked.insert(name.to_owned(), true.into());
                    }
                }
                marked.into()
            }
        }
    }
}

/// A tree of marks; where it cannot be read, everything is marked.
fn tree(raw: Option<&RawValue>) -> serde_json::Value {
    raw.map_or(serde_json::Value::Null, |raw| {
        serde_json::from_str(raw.get()).unwrap_or(true.into())
    })
}

/// The identities that AWS gave a resource.
#[derive(Debug, Default, Deserialize)]
struct Identity<'d> {
    #[serde(borrow, default)]
    arn: Option<Cow<'d, str>>,
    #[serde(borrow, default)]
    url: Option<Cow<'d, str>>,
    #[serde(borrow, default)]
    id: Option<Cow<'d, str>>,
    #[serde(borrow, default)]
    invoke_arn: Option<Cow<'d, str>>,
    #[serde(borrow, default)]
    qualified_arn: Option<Cow<'d, str>>,
}

/// Takes a document apart.
struct Reader<'p> {
    text: Text<'p>,
    resolver: Resolver<'p>,
    resources: Vec<Resource<'p>>,
    changes: FxHashMap<&'p str, &'p Change<'p>>,
    /// Resource blocks of the configuration by their place in memory: their arguments.
    arguments: FxHashMap<usize, Option<Arc<Arguments>>>,
    places: Places,
    /// By instance of a module: the module beside the plan, and the calls it comes through.
    modules: Vec<Option<(Arc<Module>, Vec<Span>)>>,
}

impl<'p> Reader<'p> {
    fn new(text: Text<'p>, document: &'p Document<'p>, file: &Path, sources: &Sources) -> Self {
        let root = document
            .configuration
            .as_ref()
            .map(|configuration| &configuration.root_module);
        let mut reader = Reader {
            text,
            resolver: Resolver::new(root),
            resources: Vec::new(),
            changes: document::changes(document),
            arguments: FxHashMap::default(),
            places: Places::find(file, root, sources),
            modules: Vec::new(),
        };
        let values = document.planned_values.as_ref().or(document.values.as_ref());
        if let Some(root) = values.and_then(|values| values.root_module.as_ref()) {
            reader.module(root, 0);
        }
        for stored in document.resources.iter().flatten() {
            reader.stored(stored);
        }
        reader
    }

    fn module(&mut self, module: &'p ValuesModule<'p>, instance: usize) {
        for planned in &module.resources {
            self.planned(planned, instance);
        }
        for child in &module.child_modules {
            let at = self.instance(&child.address);
            self.module(child, at);
        }
    }

    /// The instance of a module by its address.
    fn instance(&mut self, address: &str) -> usize {
        let path = address::modules(address);
        path.into_iter()
            .fold(0, |parent, (name, key)| self.resolver.child(parent, name, key))
    }

    fn planned(&mut self, planned: &'p Planned<'p>, instance: usize) {
        let Ok(address) = serde_json::from_str::<Cow<'_, str>>(planned.address.get()) else {
            return;
        };
        let prefix = &self.resolver.instances[instance].prefix;
        let name = address
            .strip_prefix(&**prefix)
            .and_then(|rest| rest.strip_prefix(&*planned.kind));
        if planned.mode != "managed" {
            return;
        }
        if let Some(name) = name.and_then(|rest| rest.strip_prefix('.')) {
            let header = self.text.span(planned.address);
            let sensitive = Marks::Tree(planned.sensitive_values);
            self.keep(instance, (&planned.kind, name), planned.values, sensitive, header);
        }
    }

    fn stored(&mut self, stored: &'p document::Stored<'p>) {
        let Ok(name) = serde_json::from_str::<Cow<'_, str>>(stored.name.get()) else {
            return;
        };
        if stored.mode != "managed" {
            return;
        }
        let instance = self.instance(stored.module.as_deref().unwrap_or(""));
        for one in stored.instances.iter().filter(|one| one.deposed.is_none()) {
            let (key, header) = match one.index_key {
                Some(key) => (format!("[{}]", key.get()), self.text.span(key)),
                None => (String::new(), self.text.span(stored.name)),
            };
            let sensitive = Marks::Paths(one.sensitive_attributes);
            self.keep(
                instance,
                (&stored.kind, &format!("{name}{key}")),
                one.attributes,
                sensitive,
                header,
            );
        }
    }

    fn keep(
        &mut self,
        instance: usize,
        (kind, name): (&str, &str),
        values: Option<&'p RawValue>,
        sensitive: Marks<'p>,
        header: Span,
    ) {
        let id = self.id(instance, false, kind, name);
        let (block, key) = parted(name);
        self.resolver
            .declare(instance, format!("{kind}.{block}"), key, id.clone());
        self.resources.push(Resource {
            id,
            header,
            values,
            sensitive,
        });
    }

    fn id(&self, instance: usize, data: bool, kind: &str, name: &str) -> Arc<ResourceId> {
        let of_data = if data { "data." } else { "" };
        let address = format!("{}{of_data}{kind}.{name}", self.resolver.instances[instance].prefix);
        Arc::new(ResourceId {
            module: instance,
            data,
            kind: kind.into(),
            name: name.into(),
            key: Key::None,
            address: address.into(),
        })
    }

    /// The graph of everything that matters.
    fn graph(mut self, unit: Unit, sources: &Sources) -> UnitGraph {
        let (identities, existing) = self.identities();
        let data = self.data_sources();
        let resources = std::mem::take(&mut self.resources);
        let mut modules: Vec<Module> = Vec::new();
        for (id, block) in data {
            place(&mut modules, id.module)
                .data
                .insert((id.kind.clone(), id.name.clone()), block);
        }
        for resource in &resources {
            if let Some(block) = self.block(resource, &identities, &existing) {
                let name = (resource.id.kind.clone(), resource.id.name.clone());
                place(&mut modules, resource.id.module)
                    .resources
                    .insert(name, Arc::new(block));
            }
        }
        let count = self.resolver.instances.len();
        modules.resize_with(count, Module::default);
        let instances: Vec<_> = modules
            .into_iter()
            .enumerate()
            .map(|(at, module)| {
                let prefix = self.resolver.instances[at].prefix.as_str().into();
                (
                    prefix,
                    Arc::new(module),
                    self.beside(at).map_or_else(Vec::new, |(_, calls)| calls),
                )
            })
            .collect();
        let none = Modules::new();
        let mut evaluator = Evaluator::of_instances(sources, &none, &unit.name, instances);
        Lowering::new(&mut evaluator, UnitGraph::new(unit)).run()
    }

    /// Resources by the ARNs and URLs they have already, those left out that two have; and which have any.
    fn identities(&self) -> (translate::Identities, FxHashSet<Arc<str>>) {
        let mut known = translate::Identities::default();
        let mut existing = FxHashSet::default();
        let mut twice: FxHashSet<Arc<str>> = FxHashSet::default();
        for resource in self
            .resources
            .iter()
            .filter(|resource| relevance::is_node(&resource.id.kind))
        {
            let Some(identity) = resource
                .values
                .and_then(|raw| serde_json::from_str::<Identity<'_>>(raw.get()).ok())
            else {
                continue;
            };
            if identity.arn.is_some() {
                existing.insert(resource.id.address.clone());
            }
            let all = [
                (identity.arn, "arn"),
                (identity.url, "url"),
                (identity.id, "id"),
                (identity.qualified_arn, "qualified_arn"),
                (identity.invoke_arn, "invoke_arn"),
            ];
            for (text, attribute) in all {
                let Some(text) = text.filter(|text| text.starts_with("arn:") || text.starts_with("https://")) else {
                    continue;
                };
                match known.get(&*text) {
                    Some((other, _)) if *other == resource.id => {}
                    Some(_) => {
                        twice.insert(text.as_ref().into());
                    }
                    None => {
                        known.insert(text.as_ref().into(), (resource.id.clone(), attribute.into()));
                    }
                }
            }
        }
        known.retain(|text, _| !twice.contains(text));
        (known, existing)
    }

    /// Queues and functions that are looked up during apply, with the names they are looked up by.
    fn data_sources(&mut self) -> Vec<(Arc<ResourceId>, Arc<Block>)> {
        let mut changes: Vec<&'p Change<'p>> = self.changes.values().copied().collect();
        changes.retain(|change| change.mode == "data");
        changes.sort_by(|a, b| a.address.cmp(&b.address));
        let mut all = Vec::new();
        for change in changes {
            let instance = self.instance(&change.address);
            let prefix = &self.resolver.instances[instance].prefix;
            let rest = change
                .address
                .strip_prefix(&**prefix)
                .and_then(|rest| rest.strip_prefix("data."));
            let Some((kind, name)) = rest.and_then(|rest| rest.split_once('.')) else {
                continue;
            };
            let id = self.id(instance, true, kind, name);
            let (block, key) = parted(name);
            self.resolver
                .declare(instance, format!("data.{kind}.{block}"), key, id.clone());
            let after = change.change.after.and_then(|raw| self.text.node(raw));
            if let (true, Some(after)) = (matches!(kind, "aws_sqs_queue" | "aws_lambda_function"), after) {
                all.push((id, Arc::new(translate::literals(&after))));
            }
        }
        all
    }

    /// The block of a resource, where it matters.
    fn block(
        &mut self,
        resource: &Resource<'p>,
        identities: &translate::Identities,
        existing: &FxHashSet<Arc<str>>,
    ) -> Option<Block> {
        let id = &resource.id;
        let values = resource.values?;
        let (name, key) = parted(&id.name);
        let configured = self.resolver.block(id.module, "managed", &id.kind, name);
        let arguments = configured.and_then(|block| self.arguments(block));
        let place = Place {
            instance: id.module,
            key,
            for_each: configured.and_then(|block| block.for_each_expression.as_ref()),
        };
        let change = self.changes.get(&*id.address);
        let unknown = change.and_then(|change| change.change.after_unknown);
        let mut unknown_tree = None;
        if !relevance::is_node(&id.kind) {
            if relevance::is_passed_over(&id.kind) {
                return None;
            }
            let tree = unknown_tree.insert(match &arguments {
                Some(arguments) if relevance::may_link(arguments) => tree(unknown),
                _ => serde_json::Value::Null,
            });
            let links = arguments
                .as_ref()
                .is_some_and(|arguments| relevance::links(&mut self.resolver, place, arguments, tree));
            if !links && !relevance::names(values.get()) {
                return None;
            }
        }
        let unknown = match unknown_tree {
            Some(tree) if !tree.is_null() => tree,
            _ => tree(unknown),
        };
        let beside = self.beside(id.module);
        let written = beside
            .as_ref()
            .and_then(|(module, _)| module.resources.get(&(id.kind.clone(), name.into())));
        let subject = Subject {
            id,
            header: resource.header,
            source: written.map(|block| &**block),
            arguments: arguments.as_deref(),
        };
        let node = self.text.node(values)?;
        let mut translator = Translator {
            resolver: &mut self.resolver,
            identities,
            existing,
        };
        Some(translator.block(&subject, place, &node, &unknown, &resource.sensitive.tree()))
    }

    fn arguments(&mut self, block: &'p Configured<'p>) -> Option<Arc<Arguments>> {
        let at = std::ptr::from_ref(block) as usize;
        let parse = || {
            Some(Arc::new(arguments::parse(
                block.expressions.map_or("{}", RawValue::get),
            )?))
        };
        self.arguments.entry(at).or_insert_with(parse).clone()
    }

    /// The module beside the plan that `instance` is one of, and the calls it comes through.
    fn beside(&mut self, instance: usize) -> Option<(Arc<Module>, Vec<Span>)> {
        // Callers come before what they call.
        while self.modules.len() <= instance {
            let of = &self.resolver.instances[self.modules.len()];
            let found = match of.caller {
                None if self.modules.is_empty() => self.places.root().map(|module| (module, Vec::new())),
                None => None,
                Some((caller, _)) => self.modules[caller].as_ref().and_then(|(module, calls)| {
                    let (called, header) = self.places.called(module, &of.name)?;
                    Some((called, calls.iter().copied().chain([header]).collect()))
                }),
            };
            self.modules.push(found);
        }
        self.modules[instance].clone()
    }
}

/// The module of an instance, made where there is none yet.
fn place(modules: &mut Vec<Module>, instance: usize) -> &mut Module {
    if modules.len() <= instance {
        modules.resize_with(instance + 1, Module::default);
    }
    &mut modules[instance]
}

/// A name and the key behind it.
fn parted(name: &str) -> (&str, &str) {
    name.split_at(name.find('[').unwrap_or(name.len()))
}
