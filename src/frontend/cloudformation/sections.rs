//! The sections of one template, and what a name in it means. It evaluates nothing.

use super::parameters::{Parameter, Values};
use super::project::Fragments;
use super::sam;
use super::serverless::Origins;
use super::stacks::Surroundings;
use crate::frontend::tree::{Entry, Node, Value};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Transforms of AWS that change no resource that is judged, besides the two that are understood.
const KNOWN_TRANSFORMS: [&str; 4] = [
    "AWS::CodeDeployBlueGreen",
    "AWS::Include",
    "AWS::SecretsManager",
    "AWS::ServiceCatalog",
];

/// The transform that adds loops and functions.
pub(super) const LANGUAGE_EXTENSIONS: &str = "AWS::LanguageExtensions";

/// Which language of texts the file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// CloudFormation, with or without the SAM transform.
    Template,
    /// The `resources` of a Serverless Framework service, whose `${self:…}` is not CloudFormation's.
    Serverless,
}

/// What a template declares.
pub(super) struct Sections<'t> {
    /// The scope of its variables: the unit's key, or what fragments of one template share.
    pub(super) unit: String,
    /// What other units name it by.
    pub(super) key: String,
    /// Where paths begin that name files.
    pub(super) directory: Option<PathBuf>,
    /// What lies around it, where it was read from a file.
    pub(super) surroundings: Option<&'t Surroundings<'t>>,
    /// Resources that other fragments declare, with their units; `None` where several do.
    siblings: FxHashMap<&'t str, Option<(Arc<str>, Declared<'t>)>>,
    /// The language of its texts.
    pub(super) dialect: Dialect,
    /// The resources, in the order written.
    pub(super) resources: Vec<Declared<'t>>,
    /// The place of `Globals`, whose values the SAM transform has put into the resources.
    pub(super) globals: Option<Span>,
    /// Outputs by name.
    pub(super) outputs: &'t [Entry],
    /// Where values that stand in the place of variables came from.
    pub(super) origins: Option<&'t Origins>,
    /// Whether the SAM transform runs over it.
    pub(super) is_sam: bool,
    /// Whether every name it may use is declared in it: no fragment, no macro, no loop over resources.
    pub(super) is_closed: bool,
    /// Whether the functions of `AWS::LanguageExtensions` may be used.
    pub(super) has_language_extensions: bool,
    /// A macro of the account's own that runs over the whole template.
    pub(super) account_macro: Option<String>,
    parameters: FxHashMap<&'t str, &'t Entry>,
    /// What is handed to parameters.
    values: Values,
    mappings: FxHashMap<&'t str, &'t Entry>,
    pub(super) conditions: FxHashMap<&'t str, &'t Node>,
    /// The same, in the order written.
    pub(super) conditions_in_order: Vec<&'t Entry>,
    by_id: FxHashMap<&'t str, usize>,
}

/// One resource as declared.
#[derive(Debug, Clone)]
pub(super) struct Declared<'t> {
    /// The logical id.
    pub(super) id: Arc<str>,
    /// `Metadata: aws:cdk:path`, without the step to the resource itself that every construct ends in.
    pub(super) construct: Option<Arc<str>>,
    /// The logical id's place.
    pub(super) header: Span,
    /// `AWS::SQS::Queue`.
    pub(super) kind: Arc<str>,
    /// `Metadata: aws:asset:path` of what CDK uploads for it.
    pub(super) asset: Option<&'t str>,
    /// `Properties`.
    pub(super) properties: Option<&'t Node>,
    /// `Condition`.
    pub(super) condition: Option<&'t str>,
    /// Whether a macro gets it and gives another in its place.
    pub(super) is_transformed: bool,
    /// What the SAM transform made it for, where it did.
    pub(super) made: Option<&'t Node>,
    /// What it carries of the loops that it comes of.
    pub(super) loops: &'t [Node],
}

impl<'t> Sections<'t> {
    /// The sections of `roots`: one template, or the several that a service merges.
    pub(super) fn new(unit: &str, dialect: Dialect, roots: &[&'t Node], values: Values) -> Self {
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
        let is_understood = |name: &&&str| name.starts_with("AWS::Serverless-") || **name == LANGUAGE_EXTENSIONS;
        let macros: Vec<&&str> = transforms.iter().filter(|name| !is_understood(name)).collect();
        let changes = |name: &&&&str| !KNOWN_TRANSFORMS.iter().any(|known| name.starts_with(known));
        let loops = section("Resources").iter().any(|entry| entry.key.starts_with("Fn::"));
        // What a module of the registry declares is referred to by names of its own.
        let modules = resources.iter().any(|resource| resource.kind.ends_with("::MODULE"));
        let versioned = roots.iter().any(|root| root.get("AWSTemplateFormatVersion").is_some());
        // A part of a template says neither.
        let is_whole = versioned || transforms.iter().any(|name| name.starts_with("AWS::Serverless-"));
        Sections {
            unit: unit.to_owned(),
            key: unit.to_owned(),
            directory: None,
            surroundings: None,
            siblings: FxHashMap::default(),
            dialect,
            by_id: index(&section("Resources"), &resources),
            globals: roots.iter().find_map(|root| Some(root.entry("Globals")?.span())),
            outputs: roots
                .iter()
                .find_map(|root| root.get("Outputs")?.entries())
                .unwrap_or(&[]),
            origins: None,
            is_sam,
            is_closed: is_whole && macros.is_empty() && !loops && !modules && dialect == Dialect::Template,
            // What is merged with another file may have the transform there.
            has_language_extensions: transforms.contains(&LANGUAGE_EXTENSIONS)
                || !macros.is_empty()
                || (transforms.is_empty() && !versioned),
            account_macro: macros.iter().find(changes).map(|name| (**name).to_owned()),
            parameters: section("Parameters").into_iter().map(|e| (&*e.key, e)).collect(),
            values,
            mappings: section("Mappings").into_iter().map(|e| (&*e.key, e)).collect(),
            conditions_in_order: section("Conditions"),
            conditions: section("Conditions").into_iter().map(|e| (&*e.key, &e.value)).collect(),
            resources,
        }
    }

    /// The same template, of which some may not have been read where `is_whole` is not set.
    pub(super) fn read_in_full(mut self, is_whole: bool) -> Self {
        self.is_closed &= is_whole;
        self
    }

    /// The same template as the unit `key`, among others.
    pub(super) fn within(mut self, around: &'t Surroundings<'t>, key: &str) -> Self {
        key.clone_into(&mut self.key);
        self.surroundings = Some(around);
        self.directory = around.path.parent().map(Path::to_owned);
        if let Some(environment) = around.environment {
            for resource in &mut self.resources {
                let known = resource.construct.take();
                resource.construct = known.or_else(|| environment.construct(&resource.id).cloned());
            }
        }
        let is_alone = around.arguments.is_none();
        if let Some(group) = around.project.fragments_of(around.path).filter(|_| is_alone) {
            self.add_siblings(group, around.path);
        }
        self
    }

    /// Adds what the other fragments declare, where exactly one does.
    fn add_siblings(&mut self, group: &'t Fragments, path: &Path) {
        self.unit.clone_from(&group.scope);
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

    /// The resource called `id` that another fragment declares, with its unit.
    pub(super) fn sibling(&self, id: &str) -> Option<&(Arc<str>, Declared<'t>)> {
        self.siblings.get(id)?.as_ref()
    }

    /// Notes that a name is used which is not declared here.
    pub(super) fn note_undeclared(&self) {
        if let Some(around) = self.surroundings.filter(|around| around.arguments.is_none()) {
            around.met.is_fragment.set(true);
        }
    }

    /// Whether `Globals` may stand in a file that is not here.
    pub(super) fn globals_may_be_elsewhere(&self) -> bool {
        let around = self.surroundings.filter(|around| around.arguments.is_none());
        self.globals.is_none() && around.is_some_and(|around| around.project.is_incomplete(around.path))
    }

    /// The name of the file, for messages that stand beside its path.
    pub(super) fn base_name(&self) -> String {
        let path = self.surroundings.and_then(|around| around.path.file_name());
        path.map_or_else(|| self.key.clone(), |name| name.to_string_lossy().into_owned())
    }

    /// The key of the unit that a call by the resource `id` makes.
    pub(super) fn key_of_call(&self, id: &str) -> Arc<str> {
        let between = if self.key.contains('#') { '.' } else { '#' };
        format!("{}{between}{id}", self.key).into()
    }

    /// Where a nested stack is deployed: where its caller is.
    pub(super) fn surroundings_values(&self) -> Values {
        Values {
            region: self.values.region.clone(),
            account: self.values.account.clone(),
            ..Values::default()
        }
    }

    /// Every key of every mapping, top and second.
    pub(super) fn mapping_keys(&self) -> impl Iterator<Item = &'t str> {
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

    /// The resource called `id`.
    pub(super) fn resource(&self, id: &str) -> Option<&Declared<'t>> {
        self.by_id.get(id).and_then(|&at| self.resources.get(at))
    }

    /// The parameter called `name`.
    pub(super) fn parameter(&self, name: &str) -> Option<Parameter<'_>> {
        let entry = self.parameters.get(name)?;
        Some(Parameter::new(entry, self.values.parameters.get(name)))
    }

    /// `AWS::Region` or `AWS::AccountId`, where they are given.
    pub(super) fn pseudo_parameter(&self, name: &str) -> Option<Arc<str>> {
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

    /// The mapping called `name`.
    pub(super) fn mapping(&self, name: &str) -> Option<&'t Entry> {
        self.mappings.get(name).copied()
    }
}

/// The transforms that the template declares.
pub(super) fn transforms<'t>(roots: &[&'t Node]) -> Vec<&'t str> {
    let all = roots.iter().filter_map(|root| root.get("Transform"));
    let all = all.flat_map(|node| node.items().unwrap_or(std::slice::from_ref(node)));
    // One with parameters is an object.
    let names = all.map(|node| node.as_str().or_else(|| node.get("Name")?.as_str()));
    names.map(|name| name.unwrap_or("?")).collect()
}

/// Places in `resources` by logical id, with keys that live as long as the tree.
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
            asset: entry
                .value
                .get("Metadata")
                .and_then(|metadata| metadata.get("aws:asset:path")?.as_str()),
            properties: entry.value.get("Properties"),
            condition: entry.value.get("Condition").and_then(Node::as_str),
            is_transformed: super::eval::is_transformed(&entry.value),
            made: entry.value.get(sam::MADE),
            loops: super::loops::marks(&entry.value),
        })
    }
}

/// The construct that a resource stands for, where a CDK app says so.
fn construct(resource: &Node) -> Option<Arc<str>> {
    let path = resource.get("Metadata")?.get("aws:cdk:path")?.as_str()?;
    Some(path.strip_suffix("/Resource").unwrap_or(path).into())
}

/// A scalar as CloudFormation writes it out.
pub(super) fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        Value::Bool(value) => Some(value.to_string()),
        Value::Integer(value) => Some(value.to_string()),
        Value::Float(value) => Some(value.to_string()),
        Value::String(text) => Some(text.to_string()),
        Value::Null | Value::Sequence(_) | Value::Mapping(_) => None,
    }
}
