//! Reads a plan or state: finds its resources and module instances, selects the relevant ones, and builds the blocks
//! that are lowered. `translate.rs` converts each resource to a block.

use super::arguments::{self, Arguments};
use super::document::{self, Change, Configured, Document, Outcome, Planned, ValuesModule};
use super::places::Places;
use super::providers::{self, Providers};
use super::references::{ExpressionContext, Resolver};
use super::relevance::{self, Relevance};
use super::translate::{self, PlannedResource, Translator};
use super::{PlannedModule, Text, address};
use crate::module::Module;
use crate::provider::REPLACED;
use crate::syntax::{Attribute, Block, ExpressionKind};
use crate::value::{Key, ResourceId};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use serde_json::value::RawValue;
use source::{Sources, Span};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use trees::{Node, Value as Json};

/// The data source that builds a policy.
const DOCUMENT: &str = "aws_iam_policy_document";

/// An instance of a resource.
struct Resource<'p> {
    /// The id. Its name consists of the name of the block and the key, so that each instance is a block of its own.
    id: Arc<ResourceId>,
    header: Span,
    /// The address as written in a plan.
    address: Option<&'p RawValue>,
    values: Option<&'p RawValue>,
    sensitive: Marks<'p>,
}

/// Marks of sensitive values.
#[derive(Clone, Copy)]
enum Marks<'p> {
    /// A tree parallel to the values.
    Tree(Option<&'p RawValue>),
    /// A list of paths.
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

/// Returns a tree of marks. If it cannot be read, everything is marked.
fn tree(raw: Option<&RawValue>) -> serde_json::Value {
    raw.map_or(serde_json::Value::Null, |raw| {
        serde_json::from_str(raw.get()).unwrap_or(true.into())
    })
}

/// Identifiers that AWS assigned to a resource.
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

/// Reads a document.
pub(crate) struct PlanReader<'p> {
    text: Text<'p>,
    relevance: Relevance,
    resolver: Resolver<'p>,
    resources: Vec<Resource<'p>>,
    /// Resources that are relevant only if they refer to a queue or a function.
    others: Vec<(&'p Planned<'p>, usize)>,
    changes: FxHashMap<&'p str, &'p Change<'p>>,
    /// Arguments of the resource blocks of the configuration, by the block's address in memory.
    arguments: FxHashMap<usize, Option<Arc<Arguments>>>,
    places: Places,
    providers: Providers,
    /// The module near the plan for each module instance, with the calls that lead to it.
    modules: Vec<Option<(Arc<Module>, Vec<Span>)>>,
}

impl<'p> PlanReader<'p> {
    pub(super) fn new(
        text: Text<'p>,
        document: &'p Document<'p>,
        file: &Path,
        sources: &Sources,
        relevance: Relevance,
    ) -> Self {
        let root = document
            .configuration
            .as_ref()
            .map(|configuration| &configuration.root_module);
        let mut reader = PlanReader {
            text,
            relevance,
            resolver: Resolver::new(root),
            resources: Vec::new(),
            others: Vec::new(),
            changes: document::changes(document),
            arguments: FxHashMap::default(),
            places: Places::find(file, root, sources),
            providers: Providers::new(document.configuration.as_ref(), Span::new(text.file, 0..1)),
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

    /// Returns the module instance with this address.
    fn instance(&mut self, address: &str) -> usize {
        let path = address::modules(address);
        path.into_iter()
            .fold(0, |parent, (name, key)| self.resolver.child(parent, name, key))
    }

    fn planned(&mut self, planned: &'p Planned<'p>, instance: usize) {
        if planned.mode != "managed" {
            return;
        }
        if !self.relevance.is_end(&planned.kind) {
            self.resolver.aside.insert(&planned.kind);
            if !relevance::is_passed_over(&planned.kind) {
                self.others.push((planned, instance));
            }
            return;
        }
        if let Some(resource) = self.resource(planned, instance) {
            self.declare(resource);
        }
    }

    fn resource(&self, planned: &'p Planned<'p>, instance: usize) -> Option<Resource<'p>> {
        let address = serde_json::from_str::<Cow<'_, str>>(planned.address.get()).ok()?;
        let prefix = self.resolver.instances[instance].path.to_string();
        let name = address
            .strip_prefix(&*prefix)?
            .strip_prefix(&*planned.kind)?
            .strip_prefix('.')?;
        Some(Resource {
            id: self.id(instance, false, &planned.kind, name),
            header: self.text.span(planned.address),
            address: Some(planned.address),
            values: planned.values,
            sensitive: Marks::Tree(planned.sensitive_values),
        })
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
            let named = || one.attributes.is_some_and(|values| relevance::names(values.get()));
            if !self.relevance.is_end(&stored.kind) && (relevance::is_passed_over(&stored.kind) || !named()) {
                continue;
            }
            self.declare(Resource {
                id: self.id(instance, false, &stored.kind, &format!("{name}{key}")),
                header,
                address: None,
                values: one.attributes,
                sensitive: Marks::Paths(one.sensitive_attributes),
            });
        }
    }

    fn declare(&mut self, resource: Resource<'p>) {
        let id = &resource.id;
        let (block, key) = parted(&id.name);
        self.resolver
            .declare(id.module, format!("{}.{block}", id.kind), key, id.clone());
        self.resources.push(resource);
    }

    fn id(&self, instance: usize, data: bool, kind: &str, name: &str) -> Arc<ResourceId> {
        let module = (instance, self.resolver.instances[instance].path.clone());
        Arc::new(ResourceId::new(module, data, (kind.into(), name.into()), Key::None))
    }

    /// Returns the instances of the modules, with the blocks of all relevant resources.
    pub(crate) fn modules(mut self) -> Vec<PlannedModule> {
        let (identities, existing) = self.identities();
        let (data, documents) = self.data_sources();
        let mut resources = std::mem::take(&mut self.resources);
        resources.extend(self.relevant_others());
        let mut modules: Vec<Module> = Vec::new();
        for (id, block) in data {
            place(&mut modules, id.module)
                .data
                .insert((id.kind.clone(), id.name.clone()), block);
        }
        for resource in resources.iter().chain(&documents) {
            if let Some(block) = self.block(resource, &identities, &existing) {
                let name = (resource.id.kind.clone(), resource.id.name.clone());
                let module = place(&mut modules, resource.id.module);
                let blocks = if resource.id.data {
                    &mut module.data
                } else {
                    &mut module.resources
                };
                blocks.insert(name, Arc::new(block));
            }
        }
        let count = self.resolver.instances.len();
        modules.resize_with(count, Module::default);
        for module in &mut modules {
            self.providers.declare(module);
        }
        modules
            .into_iter()
            .enumerate()
            .map(|(at, module)| {
                let path = self.resolver.instances[at].path.clone();
                (
                    path,
                    Arc::new(module),
                    self.beside(at).map_or_else(Vec::new, |(_, calls)| calls),
                )
            })
            .collect()
    }

    /// Returns the resources by their existing ARNs and URLs, without those that two resources share; and the addresses
    /// of the resources that have an ARN.
    fn identities(&self) -> (translate::Identities, FxHashSet<Arc<str>>) {
        let mut known = translate::Identities::default();
        let mut existing = FxHashSet::default();
        let mut twice: FxHashSet<Arc<str>> = FxHashSet::default();
        for resource in self
            .resources
            .iter()
            .filter(|resource| self.relevance.is_node(&resource.id.kind))
        {
            let Some(identity) = resource
                .values
                .and_then(|raw| serde_json::from_str::<Identity<'_>>(raw.get()).ok())
            else {
                continue;
            };
            if identity.arn.is_some() {
                existing.insert(resource.id.address().clone());
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

    /// Returns the queues and functions that are looked up during apply, with the names for the lookup; and the
    /// policies that are built then.
    fn data_sources(&mut self) -> (Vec<(Arc<ResourceId>, Arc<Block>)>, Vec<Resource<'p>>) {
        let mut changes: Vec<&'p Change<'p>> = self.changes.values().copied().collect();
        changes.retain(|change| change.mode == "data");
        changes.sort_by_key(|change| change.address.get());
        let (mut all, mut documents) = (Vec::new(), Vec::new());
        for change in changes {
            let Ok(address) = serde_json::from_str::<Cow<'_, str>>(change.address.get()) else {
                continue;
            };
            let instance = self.instance(&address);
            let prefix = self.resolver.instances[instance].path.to_string();
            let rest = address
                .strip_prefix(&*prefix)
                .and_then(|rest| rest.strip_prefix("data."));
            let Some((kind, name)) = rest.and_then(|rest| rest.split_once('.')) else {
                continue;
            };
            let id = self.id(instance, true, kind, name);
            let (block, key) = parted(name);
            self.resolver
                .declare(instance, format!("data.{kind}.{block}"), key, id.clone());
            if kind == DOCUMENT {
                documents.push(Resource {
                    id,
                    header: self.text.span(change.address),
                    address: Some(change.address),
                    values: change.outcome.after,
                    sensitive: Marks::Tree(change.outcome.after_sensitive),
                });
                continue;
            }
            let after = change.outcome.after.and_then(|raw| self.text.node(raw));
            if let (true, Some(after)) = (matches!(kind, "aws_sqs_queue" | "aws_lambda_function"), after) {
                all.push((id, Arc::new(translate::literals(&after))));
            }
        }
        (all, documents)
    }

    /// Returns the resources that are not nodes of the graph but refer to a queue or a function.
    fn relevant_others(&mut self) -> Vec<Resource<'p>> {
        let mut all = Vec::new();
        for (planned, instance) in std::mem::take(&mut self.others) {
            let named = planned.values.is_some_and(|values| relevance::names(values.get()));
            if named || self.links(planned, instance) {
                all.extend(self.resource(planned, instance));
            }
        }
        all
    }

    /// Returns `true` if a value of a resource that is known only after apply may be a queue or a function.
    fn links(&mut self, planned: &'p Planned<'p>, instance: usize) -> bool {
        let Ok(name) = serde_json::from_str::<Cow<'_, str>>(planned.name.get()) else {
            return false;
        };
        let Some(block) = self.resolver.block(instance, false, &planned.kind, &name) else {
            return false;
        };
        let Some(arguments) = self.arguments(block) else {
            return false;
        };
        // A specific key would only narrow down the targets.
        let place = ExpressionContext {
            instance,
            key: "",
            for_each: block.for_each_expression.as_ref(),
        };
        if !relevance::reaches(&mut self.resolver, place, &arguments) {
            return false;
        }
        let change = self.changes.get(planned.address.get());
        let unknown = tree(change.and_then(|change| change.outcome.after_unknown));
        relevance::links(&mut self.resolver, place, &arguments, &unknown)
    }

    /// Returns the block of a resource that has values.
    fn block(
        &mut self,
        resource: &Resource<'p>,
        identities: &translate::Identities,
        existing: &FxHashSet<Arc<str>>,
    ) -> Option<Block> {
        let id = &resource.id;
        let (name, key) = parted(&id.name);
        let configured = self.resolver.block(id.module, id.data, &id.kind, name);
        let arguments = configured.and_then(|block| self.arguments(block));
        let place = ExpressionContext {
            instance: id.module,
            key,
            for_each: configured.and_then(|block| block.for_each_expression.as_ref()),
        };
        let change = resource
            .address
            .and_then(|address| self.changes.get(address.get()).copied());
        let unknown = tree(change.and_then(|change| change.outcome.after_unknown));
        let beside = self.beside(id.module);
        let written = beside.as_ref().and_then(|(module, _)| {
            let blocks = if id.data { &module.data } else { &module.resources };
            blocks.get(&(id.kind.clone(), name.into()))
        });
        let subject = PlannedResource {
            id,
            header: resource.header,
            source: written.map(|block| &**block),
            arguments: arguments.as_deref(),
        };
        let node = match (resource.values, change) {
            (Some(values), _) => self.text.node(values)?,
            // None of its values is known before apply.
            (None, Some(_)) => Node {
                value: Json::Mapping(Vec::new()),
                span: resource.header,
            },
            (None, None) => return None,
        };
        let mut translator = Translator {
            resolver: &mut self.resolver,
            identities,
            existing,
        };
        let mut block = translator.block(&subject, place, &node, &unknown, &resource.sensitive.tree());
        let provider = configured.and_then(|block| block.provider_config_key.as_deref());
        let attributes = &mut block.body.attributes;
        attributes.extend(provider.map(|key| providers::choice(key, resource.header)));
        let replaced = change
            .filter(|_| &*id.kind == "aws_sqs_queue")
            .and_then(|change| replaced(&change.outcome));
        if let Some(cause) = replaced {
            let known = attributes.iter().find(|attribute| *attribute.name == *cause);
            let span = known.map_or(resource.header, |attribute| attribute.span);
            attributes.push(Attribute::known(REPLACED, ExpressionKind::Text(cause.into()), span));
        }
        attributes.shrink_to_fit();
        Some(block)
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

    /// Returns the module near the plan that `instance` is an instance of, and the calls that lead to it.
    fn beside(&mut self, instance: usize) -> Option<(Arc<Module>, Vec<Span>)> {
        // Callers precede the instances they call.
        while self.modules.len() <= instance {
            let of = &self.resolver.instances[self.modules.len()];
            let found = match of.caller {
                None if self.modules.is_empty() => self.places.root().map(|module| (module, Vec::new())),
                None => None,
                Some((caller, _)) => self.modules[caller].as_ref().and_then(|(module, calls)| {
                    let (inner, header) = self.places.called(module, &of.name)?;
                    Some((inner, calls.iter().copied().chain([header]).collect()))
                }),
            };
            self.modules.push(found);
        }
        self.modules[instance].clone()
    }
}

/// Returns the attribute whose change makes the plan replace a resource; an empty name if the plan names none.
fn replaced(outcome: &Outcome<'_>) -> Option<String> {
    let actions: Vec<String> = serde_json::from_str(outcome.actions?.get()).ok()?;
    let has = |name: &str| actions.iter().any(|action| action == name);
    if !(has("create") && has("delete")) {
        return None;
    }
    let paths = tree(outcome.replace_paths);
    let first = paths
        .get(0)
        .and_then(|path| path.get(0))
        .and_then(serde_json::Value::as_str);
    Some(first.unwrap_or_default().to_owned())
}

/// Returns the module of an instance, created if necessary.
fn place(modules: &mut Vec<Module>, instance: usize) -> &mut Module {
    if modules.len() <= instance {
        modules.resize_with(instance + 1, Module::default);
    }
    &mut modules[instance]
}

/// Splits a name from the key that follows it.
fn parted(name: &str) -> (&str, &str) {
    name.split_at(name.find('[').unwrap_or(name.len()))
}
