//! The sections of one template, and the lookup of names in them. It evaluates nothing.

use super::parameters::{Parameter, Values};
use super::sam;
use super::serverless::{Origins, Service};
use super::stacks::Context;
use super::surroundings::Fragments;
use super::surroundings::UsedName;
use knowledge::UnitKey;
use rustc_hash::FxHashMap;
use source::{Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::{Entry, Node};

/// Known transforms and macros by the beginning of their names, with the properties of functions that they may add. They
/// change nothing else that is relevant here. Accounts choose the rest of the names of macros.
const KNOWN_MACROS: &[(&str, &[&str])] = &[
    ("AWS::CodeDeployBlueGreen", &[]),
    ("AWS::Include", &[]),
    (LANGUAGE_EXTENSIONS, &[]),
    ("AWS::SecretsManager", &[]),
    ("AWS::Serverless-", &[]),
    ("AWS::ServiceCatalog", &[]),
    ("Datadog", INSTRUMENTATION),
    ("Epsagon", INSTRUMENTATION),
    ("Lumigo", INSTRUMENTATION),
    ("NewRelic", INSTRUMENTATION),
];

/// Properties that a tracing library adds to functions.
const INSTRUMENTATION: &[&str] = &["Environment", "Handler", "Layers", "Tags", "Tracing", "TracingConfig"];

/// Keys that change what a resource is, or switch it off. A macro changes settings of the resources that it finds, so
/// it is not expected to add these. Otherwise no mapping would be judged, since `Enabled` is rarely written.
const NEVER_ADDED: [&str; 5] = [
    "CapacityProviderConfig",
    "DurableConfig",
    "Enabled",
    "FifoQueue",
    "ProvisionedPollerConfig",
];

/// Properties that make a resource a function.
const OF_FUNCTIONS: [&str; 5] = ["Code", "CodeUri", "Handler", "ImageUri", "InlineCode"];

/// Transform that adds loops and functions.
pub(crate) const LANGUAGE_EXTENSIONS: &str = "AWS::LanguageExtensions";

/// The language of texts in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// CloudFormation, with or without the SAM transform.
    Template,
    /// The `resources` of a Serverless Framework service, which may contain variables such as `${self:…}`.
    Serverless,
}

/// The declarations of a template.
pub struct Sections<'t> {
    /// Scope of its variables: the key of the unit, or the common scope of fragments of one template.
    pub(crate) scope: UnitKey,
    /// Key by which other units refer to it.
    pub key: UnitKey,
    /// Base directory of relative paths.
    pub directory: Option<PathBuf>,
    /// Context of the template, if it was read from a file.
    pub(crate) context: Option<&'t Context<'t>>,
    /// Resources of other fragments, with their units; `None` if several fragments declare the id.
    siblings: FxHashMap<&'t str, Option<(Arc<str>, Declared<'t>)>>,
    /// The language of its texts.
    pub dialect: Dialect,
    /// Resources, in the order written.
    pub resources: Vec<Declared<'t>>,
    /// The span of `Globals`, whose values the SAM transform has merged into the resources.
    pub globals: Option<Span>,
    /// Outputs by name.
    pub outputs: &'t [Entry],
    /// Provenance of values that replaced variables.
    pub(crate) origins: Option<&'t Origins>,
    /// The service of the Serverless Framework that it was compiled from.
    pub service: Option<&'t Service>,
    /// `true` if the SAM transform applies.
    pub(crate) is_sam: bool,
    /// `true` if the template declares every name that it may use: it has no fragments, macros or loops over resources.
    pub is_closed: bool,
    /// `true` if the functions of `AWS::LanguageExtensions` are available.
    pub(crate) has_language_extensions: bool,
    /// Macros that transform all resources, except those of AWS that change none relevant here.
    macros: Vec<&'t str>,
    parameters: FxHashMap<&'t str, &'t Entry>,
    /// Arguments of parameters.
    values: Values,
    mappings: FxHashMap<&'t str, &'t Entry>,
    /// Mappings in which conditions look up parameters, by parameter.
    looked_up: FxHashMap<&'t str, &'t str>,
    pub(crate) conditions: FxHashMap<&'t str, &'t Node>,
    /// The conditions in the order written.
    pub(crate) conditions_in_order: Vec<&'t Entry>,
    by_id: FxHashMap<&'t str, usize>,
}

/// A declared resource.
#[derive(Debug, Clone)]
pub struct Declared<'t> {
    /// The logical id.
    pub id: Arc<str>,
    /// The `aws:cdk:path` in `Metadata`, without the final step to the resource itself.
    pub construct: Option<Arc<str>>,
    /// The span of the logical id.
    pub header: Span,
    /// The type, such as `AWS::SQS::Queue`.
    pub kind: Arc<str>,
    /// `Metadata`.
    pub metadata: Option<&'t Node>,
    /// `Properties`.
    pub properties: Option<&'t Node>,
    /// `DependsOn`.
    pub depends_on: Option<&'t Node>,
    /// `Condition`.
    pub condition: Option<&'t str>,
    /// `true` if a macro replaces it.
    pub is_transformed: bool,
    /// The purpose for which the SAM transform generated it.
    pub made: Option<&'t Node>,
    /// The record of the loops that produced it.
    pub loops: &'t [Node],
}

impl<'t> Sections<'t> {
    /// Collects the sections of `roots`: one template, or the several that a service merges.
    pub fn new(key: &UnitKey, dialect: Dialect, roots: &[&'t Node], values: Values) -> Self {
        let section = |name: &str| {
            let all = roots.iter().filter_map(move |root| root.get(name)?.entries());
            all.flatten().collect::<Vec<&'t Entry>>()
        };
        let transforms = transforms(roots);
        let resources: Vec<Declared<'t>> = section("Resources").into_iter().filter_map(Declared::read).collect();
        let is_sam = transforms.iter().any(|name| name.starts_with("AWS::Serverless"))
            || resources
                .iter()
                .any(|resource| resource.kind.starts_with("AWS::Serverless::"));
        let is_understood = |name: &&str| name.starts_with("AWS::Serverless-") || *name == LANGUAGE_EXTENSIONS;
        let has_others = transforms.iter().any(|name| !is_understood(name));
        // A macro in the section transforms all of it; an include only adds to it.
        let of_section = section("Resources")
            .into_iter()
            .filter(|entry| &*entry.key == "Fn::Transform");
        let of_section = of_section.map(|entry| entry.value.get("Name").and_then(Node::as_str).unwrap_or("?"));
        let is_relevant = |name: &&str| properties_added(name).is_none_or(|properties| !properties.is_empty());
        let declares = |name: &&str| !is_understood(name) && properties_added(name).is_none_or(<[_]>::is_empty);
        let loops = section("Resources").iter().any(|entry| entry.key.starts_with("Fn::"));
        // Resources of a registry module are referred to by names that the template does not declare.
        let modules = resources.iter().any(|resource| resource.kind.ends_with("::MODULE"));
        let versioned = roots.iter().any(|root| root.get("AWSTemplateFormatVersion").is_some());
        Sections {
            scope: key.clone(),
            key: key.clone(),
            directory: None,
            context: None,
            siblings: FxHashMap::default(),
            dialect,
            by_id: index(&section("Resources"), &resources),
            globals: roots.iter().find_map(|root| Some(root.entry("Globals")?.span())),
            outputs: roots
                .iter()
                .find_map(|root| root.get("Outputs")?.entries())
                .unwrap_or(&[]),
            origins: None,
            service: None,
            is_sam,
            is_closed: !transforms.iter().any(declares) && !loops && !modules,
            // A fragment may be merged with a file that declares the transform.
            has_language_extensions: transforms.contains(&LANGUAGE_EXTENSIONS)
                || has_others
                || (transforms.is_empty() && !versioned),
            macros: transforms
                .iter()
                .copied()
                .chain(of_section)
                .filter(is_relevant)
                .collect(),
            parameters: section("Parameters").into_iter().map(|e| (&*e.key, e)).collect(),
            values,
            mappings: section("Mappings").into_iter().map(|e| (&*e.key, e)).collect(),
            looked_up: looked_up(&section("Conditions")),
            conditions_in_order: section("Conditions"),
            conditions: section("Conditions").into_iter().map(|e| (&*e.key, &e.value)).collect(),
            resources,
        }
    }

    /// Records whether the whole file was read.
    pub(crate) fn read_in_full(mut self, is_whole: bool) -> Self {
        self.is_closed &= is_whole;
        self
    }

    /// Sets the context.
    pub(crate) fn within(mut self, around: &'t Context<'t>) -> Self {
        self.context = Some(around);
        self.directory = around.path.parent().map(Path::to_owned);
        if let Some(environment) = around.environment {
            for resource in &mut self.resources {
                let known = resource.construct.take();
                resource.construct = known.or_else(|| environment.construct(&resource.id).cloned());
            }
        }
        let is_alone = around.arguments.is_none();
        self.is_closed &= !(is_alone && around.project.is_incomplete(around.path));
        if let Some(group) = around.project.fragments_of(around.path).filter(|_| is_alone) {
            self.add_siblings(group, around.path);
        }
        self
    }

    /// Adds declarations of the other fragments, if exactly one of them declares the name.
    fn add_siblings(&mut self, group: &'t Fragments, path: &Path) {
        self.scope.clone_from(&group.scope);
        self.is_closed = false;
        let others: Vec<_> = group.members.iter().filter(|member| member.path != path).collect();
        let section = |name: &'static str| {
            let entries = others
                .iter()
                .filter_map(move |member| Some((&member.unit, member.root()?.get(name)?.entries()?)));
            let entries = entries.flat_map(|(key, entries)| entries.iter().map(move |entry| (key, entry)));
            let mut by_name: BTreeMap<&'t str, Option<(&'t Arc<str>, &'t Entry)>> = BTreeMap::new();
            for (key, entry) in entries {
                let known = by_name.entry(&entry.key);
                known.and_modify(|known| *known = None).or_insert(Some((key, entry)));
            }
            by_name
        };
        let only = |name| {
            section(name)
                .into_iter()
                .filter_map(|(name, found)| Some((name, found?.1)))
        };
        for (name, entry) in only("Parameters") {
            self.parameters.entry(name).or_insert(entry);
        }
        for (name, entry) in only("Mappings") {
            self.mappings.entry(name).or_insert(entry);
        }
        for (name, entry) in only("Conditions") {
            if !self.conditions.contains_key(name) {
                self.conditions.insert(name, &entry.value);
                self.conditions_in_order.push(entry);
            }
        }
        for (id, found) in section("Resources") {
            let declared = found.and_then(|(key, entry)| Some((key.clone(), Declared::read(entry)?)));
            self.siblings.insert(id, declared);
        }
    }

    /// Returns the resource `id` of another fragment, with its unit.
    pub(crate) fn sibling(&self, id: &str) -> Option<&(Arc<str>, Declared<'t>)> {
        self.siblings.get(id)?.as_ref()
    }

    /// Records that the template uses the undeclared `name`.
    pub(crate) fn note_undeclared(&self, name: UsedName) {
        if let Some(around) = self.context.filter(|around| around.arguments.is_none()) {
            around.collected.undeclared.borrow_mut().insert(name);
        }
    }

    /// Returns `true` if another file, which is not read, may contain `Globals`.
    pub fn globals_may_be_elsewhere(&self) -> bool {
        let around = self.context.filter(|around| around.arguments.is_none());
        self.globals.is_none() && around.is_some_and(|around| around.project.is_incomplete(around.path))
    }

    /// Returns the files of the run, if the template was read from one.
    pub fn sources(&self) -> Option<&Sources> {
        self.context.map(|around| around.sources)
    }

    /// Returns the name of the file, for messages that already show its path.
    pub(crate) fn base_name(&self) -> String {
        let path = self.context.and_then(|around| around.path.file_name());
        path.map_or_else(|| self.key.to_string(), |name| name.to_string_lossy().into_owned())
    }

    /// Returns the account and Region for a nested stack, which are those of its caller.
    pub(crate) fn inherited_values(&self) -> Values {
        Values {
            region: self.values.region.clone(),
            account: self.values.account.clone(),
            ..Values::default()
        }
    }

    /// Returns the name with which this stack is deployed.
    pub(crate) fn stack_name(&self) -> Option<&str> {
        self.values.stack.as_deref()
    }

    /// Returns the keys of both levels of every mapping.
    pub(crate) fn mapping_keys(&self) -> impl Iterator<Item = &'t str> {
        let mut keys: Vec<&'t str> = Vec::new();
        for top in self
            .mappings
            .values()
            .filter_map(|mapping| mapping.value.entries())
            .flatten()
        {
            keys.push(&top.key);
            keys.extend(top.value.entries().into_iter().flatten().map(|entry| &*entry.key));
        }
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter()
    }

    /// Returns the resource called `id`.
    pub fn resource(&self, id: &str) -> Option<&Declared<'t>> {
        self.by_id.get(id).and_then(|&at| self.resources.get(at))
    }

    /// Returns the parameter called `name`.
    pub fn parameter(&self, name: &str) -> Option<Parameter<'_>> {
        let entry = self.parameters.get(name)?;
        Some(Parameter::new(entry, self.values.parameters.get(name)))
    }

    /// Returns the value of a pseudo parameter, if the inputs determine it.
    pub fn pseudo_parameter(&self, name: &str) -> Option<Arc<str>> {
        let region = self.values.region.as_ref();
        let in_china = region.is_some_and(|region| region.starts_with("cn-"));
        match name {
            "AWS::Region" => region.cloned(),
            "AWS::AccountId" => self.values.account.clone(),
            "AWS::Partition" => region.map(|region| {
                let government = region.starts_with("us-gov-");
                let partition = match (in_china, government) {
                    (true, _) => "aws-cn",
                    (_, true) => "aws-us-gov",
                    _ => "aws",
                };
                partition.into()
            }),
            "AWS::URLSuffix" => region.map(|_| if in_china { "amazonaws.com.cn" } else { "amazonaws.com" }.into()),
            _ => None,
        }
    }

    /// Returns the keys one of which the parameter `name` has to be: a condition looks it up in a mapping, without a default
    /// value. CloudFormation evaluates every condition, and rejects a missing key.
    pub(crate) fn keys_required(&self, name: &str) -> Option<Arc<[Arc<str>]>> {
        let mapping = self.mappings.get(self.looked_up.get(name)?)?;
        Some(mapping.value.entries()?.iter().map(|entry| entry.key.clone()).collect())
    }

    /// Returns the names of the macros that may add any property to any resource.
    pub(crate) fn unknown_macros(&self) -> impl Iterator<Item = &'t str> {
        let names: BTreeSet<&str> = self
            .macros
            .iter()
            .copied()
            .filter(|name| properties_added(name).is_none())
            .collect();
        names.into_iter()
    }

    /// Returns the macro that may add the property `key` to the object `node`, or to a resource without properties.
    pub(crate) fn macro_that_adds(&self, key: &str, node: Option<&Node>) -> Option<&'t str> {
        let is_function = || node.is_some_and(|node| OF_FUNCTIONS.iter().any(|own| node.get(own).is_some()));
        let adds = |name: &&&str| match properties_added(name) {
            Some(properties) => properties.contains(&key) && is_function(),
            None => !NEVER_ADDED.contains(&key),
        };
        self.macros.iter().find(adds).copied()
    }

    /// Returns the mapping called `name`.
    pub(crate) fn mapping(&self, name: &str) -> Option<&'t Entry> {
        self.mappings.get(name).copied()
    }
}

/// Returns the mapping in which `conditions` look up each parameter without a default value.
fn looked_up<'t>(conditions: &[&'t Entry]) -> FxHashMap<&'t str, &'t str> {
    let mut all = FxHashMap::default();
    let mut open: Vec<&Node> = conditions.iter().map(|entry| &entry.value).collect();
    while let Some(node) = open.pop() {
        open.extend(node.items().unwrap_or_default());
        for entry in node.entries().unwrap_or_default() {
            open.push(&entry.value);
            if &*entry.key == "Fn::FindInMap"
                && let Some([mapping, first, _]) = entry.value.items()
                && let (Some(mapping), Some(name)) = (mapping.as_str(), first.get("Ref").and_then(Node::as_str))
            {
                all.insert(name, mapping);
            }
        }
    }
    all
}

/// Returns the properties of functions that a known macro may add; `None` for an unknown macro, which may add any
/// property to any resource.
fn properties_added(name: &str) -> Option<&'static [&'static str]> {
    let letters = |name: &str| name.to_ascii_lowercase().replace(['-', '_'], "");
    let begins = |prefix: &str| letters(name).starts_with(&letters(prefix));
    let row = KNOWN_MACROS.iter().find(|(prefix, _)| begins(prefix));
    row.map(|(_, properties)| *properties)
}

/// Returns the transforms that the template declares.
pub(crate) fn transforms<'t>(roots: &[&'t Node]) -> Vec<&'t str> {
    let all = roots.iter().filter_map(|root| root.get("Transform"));
    let all = all.flat_map(|node| node.items().unwrap_or(std::slice::from_ref(node)));
    // A transform with parameters is an object.
    let names = all.map(|node| node.as_str().or_else(|| node.get("Name")?.as_str()));
    names.map(|name| name.unwrap_or("?")).collect()
}

/// Returns indexes in `resources` by logical id, with keys that live as long as the tree.
fn index<'t>(entries: &[&'t Entry], resources: &[Declared<'t>]) -> FxHashMap<&'t str, usize> {
    let keys: FxHashMap<&str, &'t str> = entries.iter().map(|entry| (&*entry.key, &*entry.key)).collect();
    let all = resources.iter().enumerate();
    all.filter_map(|(at, resource)| Some((*keys.get(&*resource.id)?, at)))
        .collect()
}

impl<'t> Declared<'t> {
    fn read(entry: &'t Entry) -> Option<Self> {
        let kind = entry.value.get("Type")?.as_str()?;
        Some(Declared {
            id: entry.key.clone(),
            construct: construct(&entry.value),
            header: entry.key_span,
            kind: kind.into(),
            metadata: entry.value.get("Metadata"),
            properties: entry.value.get("Properties"),
            depends_on: entry.value.get("DependsOn"),
            condition: entry.value.get("Condition").and_then(Node::as_str),
            is_transformed: super::document::is_transformed(&entry.value),
            made: entry.value.get(sam::MADE),
            loops: super::document::marks(&entry.value),
        })
    }
}

/// Returns the construct of a resource in a CDK app.
fn construct(resource: &Node) -> Option<Arc<str>> {
    let path = resource.get("Metadata")?.get("aws:cdk:path")?.as_str()?;
    Some(path.strip_suffix("/Resource").unwrap_or(path).into())
}
