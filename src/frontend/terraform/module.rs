//! Modules as written: which directories hold them, which they call, and what their blocks are after override
//! files and variable files. It evaluates nothing.

use super::super::{ReadError, limit_reached, parse_error, read};
use super::registry::{self, Installed};
use super::syntax::{self, Attribute, Block, Body, Kind};
use crate::diagnostic::Diagnostic;
use crate::source::Sources;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Type and name of a resource or data source.
pub(super) type Name = (Arc<str>, Arc<str>);

/// One directory.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) directory: PathBuf,
    pub(super) variables: BTreeMap<Arc<str>, Arc<Block>>,
    pub(super) locals: BTreeMap<Arc<str>, Attribute>,
    pub(super) outputs: BTreeMap<Arc<str>, Arc<Block>>,
    pub(super) resources: BTreeMap<Name, Arc<Block>>,
    pub(super) data: BTreeMap<Name, Arc<Block>>,
    pub(super) calls: BTreeMap<Arc<str>, Arc<Call>>,
    /// What its variable files set, in Terraform's order: the last wins. With the name of the file.
    pub(super) settings: Vec<(Arc<str>, Attribute)>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) errors: Vec<String>,
    /// What of it is not read.
    pub(super) notes: Vec<String>,
    /// Of a root module: the code that `terraform init` fetched, by the names of the calls, with dots between.
    pub(super) installed: BTreeMap<Arc<str>, Installed>,
    /// Of a module that is not here, and known by a description.
    pub(super) described: Option<Described>,
}

/// Resource type, resource name and argument, to the argument of the call that gives it.
pub(super) type Spelling = BTreeMap<(Arc<str>, Arc<str>, Arc<str>), Arc<str>>;

/// What is told differently of a module whose code is not here: every place in it is a place in its call.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) spelling: Spelling,
}

impl Module {
    /// The directories of the modules that it calls, or may call.
    pub(super) fn called(&self) -> impl Iterator<Item = &PathBuf> {
        let local = self.calls.values().filter_map(|call| match &call.source {
            Source::Here(path) => Some(path),
            Source::Described(_) | Source::Away(_) => None,
        });
        local.chain(self.installed.values().map(|installed| &installed.directory))
    }
}

/// A `module` block.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) block: Arc<Block>,
    pub(super) source: Source,
}

/// Where a called module is.
#[derive(Debug)]
pub(super) enum Source {
    /// A directory that was read.
    Here(PathBuf),
    /// Somewhere else, and known by a description.
    Described(Arc<Module>),
    /// Somewhere else; why that is all that is known, as a clause.
    Away(Arc<str>),
}

/// Every module of a run by its canonical directory.
pub(super) type Modules = BTreeMap<PathBuf, Arc<Module>>;

/// Reads the modules of `directories` and those they call.
pub(super) fn read_all(directories: &[PathBuf], sources: &Sources) -> Modules {
    let bounds = Bounds(sources.repository().map(canonical));
    let mut modules = Modules::new();
    let roots: BTreeSet<PathBuf> = directories.iter().map(|path| canonical(path)).collect();
    let mut next = roots.clone();
    while !next.is_empty() {
        let read: Vec<Arc<Module>> = next
            .par_iter()
            .map(|path| {
                let mut module = read_module(path, sources, &bounds);
                if roots.contains(path) {
                    registry::read_installed(&mut module, sources, &bounds);
                }
                Arc::new(module)
            })
            .collect();
        next.clear();
        for module in read {
            modules.insert(module.directory.clone(), module);
        }
        let called = modules.values().flat_map(|module| module.called());
        next.extend(called.filter(|path| !modules.contains_key(*path)).cloned());
    }
    modules
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Where called modules may lie: in the repository; anywhere where there is none.
pub(super) struct Bounds(Option<PathBuf>);

impl Bounds {
    pub(super) fn allow(&self, path: &Path) -> bool {
        self.0.as_ref().is_none_or(|root| path.starts_with(root))
    }
}

/// Whether a file's name is that of an override file.
fn is_override(name: &str) -> bool {
    name == "override.tf" || name.ends_with("_override.tf")
}

/// Whether Terraform reads a variable file without being told, and in which order.
fn settings_order(name: &str) -> Option<(u8, &str)> {
    match name {
        "terraform.tfvars" => Some((0, name)),
        _ if name.ends_with(".auto.tfvars") => Some((1, name)),
        _ => None,
    }
}

fn read_module(directory: &Path, sources: &Sources, bounds: &Bounds) -> Module {
    let mut module = Module {
        directory: directory.to_owned(),
        ..Module::default()
    };
    let unit = sources.name_of(directory);
    let mut names: Vec<String> = match std::fs::read_dir(directory) {
        Ok(entries) => entries
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .filter(|name| !name.starts_with('.') && !name.ends_with('~'))
            .collect(),
        Err(error) => {
            let shown = sources.shown_of(directory);
            module.errors.push(format!("cannot read `{shown}`: {error}"));
            return module;
        }
    };
    names.sort();
    let is_code = |name: &&String| Path::new(name).extension().is_some_and(|extension| extension == "tf");
    if names.iter().any(|name| name.ends_with(".tf.json")) {
        module.notes.push("`*.tf.json` files are not read".to_owned());
    }
    let (overrides, primary): (Vec<&String>, Vec<&String>) =
        names.iter().filter(is_code).partition(|name| is_override(name));
    let mut blocks: Vec<Arc<Block>> = Vec::new();
    for name in primary {
        let body = read_file(&directory.join(name), sources, &unit, &mut module);
        blocks.extend(body.blocks);
    }
    for name in overrides {
        let body = read_file(&directory.join(name), sources, &unit, &mut module);
        for block in body.blocks {
            override_block(&mut blocks, block);
        }
    }
    let mut settings: Vec<&String> = names.iter().filter(|name| settings_order(name).is_some()).collect();
    settings.sort_by_key(|name| settings_order(name));
    for name in settings {
        let body = read_file(&directory.join(name), sources, &unit, &mut module);
        let file: Arc<str> = name.as_str().into();
        module
            .settings
            .extend(body.attributes.into_iter().map(|attribute| (file.clone(), attribute)));
    }
    for block in blocks {
        declare(&mut module, block, bounds);
    }
    module
}

fn read_file(path: &Path, sources: &Sources, unit: &str, module: &mut Module) -> Body {
    match read(path, sources, unit) {
        Ok(file) => {
            let text = sources.file(file);
            let (body, problems) = syntax::parse(file, text.text());
            module.diagnostics.extend(problems.into_iter().map(|problem| {
                let report = if problem.limit { limit_reached } else { parse_error };
                report(sources, unit, problem.span, &problem.message)
            }));
            body
        }
        Err(ReadError::Io(error)) => {
            module.errors.push(error);
            Body::default()
        }
        Err(ReadError::Encoding(diagnostic)) => {
            module.diagnostics.push(*diagnostic);
            Body::default()
        }
    }
}

/// Merges a block of an override file into the block it overrides, attribute by attribute.
fn override_block(blocks: &mut [Arc<Block>], from: Arc<Block>) {
    if &*from.kind == "locals" {
        for attribute in &from.body.attributes {
            for block in blocks.iter_mut().filter(|block| &*block.kind == "locals") {
                if block.body.attribute(&attribute.name).is_some() {
                    override_body(&mut Arc::make_mut(block).body, &attributes_only(attribute));
                }
            }
        }
        return;
    }
    let base = blocks
        .iter_mut()
        .find(|block| block.kind == from.kind && block.labels == from.labels);
    if let Some(base) = base {
        override_body(&mut Arc::make_mut(base).body, &from.body);
    }
}

fn attributes_only(attribute: &Attribute) -> Body {
    Body {
        attributes: vec![attribute.clone()],
        blocks: Vec::new(),
    }
}

fn override_body(base: &mut Body, from: &Body) {
    for attribute in &from.attributes {
        base.attributes.retain(|old| old.name != attribute.name);
        base.attributes.push(attribute.clone());
    }
    let kind_of = |block: &Block| match &*block.kind {
        "dynamic" => block.labels.first().cloned().unwrap_or_default(),
        _ => block.kind.clone(),
    };
    let replaced: BTreeSet<Arc<str>> = from.blocks.iter().map(|block| kind_of(block)).collect();
    base.blocks.retain(|old| !replaced.contains(&kind_of(old)));
    base.blocks.extend(from.blocks.iter().cloned());
}

/// Adds a block of a description, which calls no module.
pub(super) fn declare_described(module: &mut Module, block: Arc<Block>) {
    declare(module, block, &Bounds(None));
}

fn declare(module: &mut Module, block: Arc<Block>, bounds: &Bounds) {
    let label = |at: usize| block.labels.get(at).cloned();
    match (&*block.kind, label(0), label(1)) {
        ("resource", Some(kind), Some(name)) => {
            module.resources.insert((kind, name), block);
        }
        ("data", Some(kind), Some(name)) => {
            module.data.insert((kind, name), block);
        }
        ("variable", Some(name), _) => {
            module.variables.insert(name, block);
        }
        ("output", Some(name), _) => {
            module.outputs.insert(name, block);
        }
        ("module", Some(name), _) => {
            let source = source_of(&block, &module.directory, bounds);
            module.calls.insert(name, Arc::new(Call { block, source }));
        }
        ("locals", ..) => {
            for attribute in &block.body.attributes {
                module.locals.insert(attribute.name.clone(), attribute.clone());
            }
        }
        _ => {}
    }
}

fn source_of(block: &Block, directory: &Path, bounds: &Bounds) -> Source {
    let written = match block.body.attribute("source").map(|attribute| &attribute.value.kind) {
        Some(Kind::Text(text)) => text.clone(),
        _ => return Source::Away("its source is not a literal".into()),
    };
    if !(written.starts_with("./") || written.starts_with("../") || &*written == "." || &*written == "..") {
        return registry::remote(block, &written, directory);
    }
    match directory.join(&*written).canonicalize() {
        Ok(path) if path.is_dir() && bounds.allow(&path) => Source::Here(path),
        _ => Source::Away(format!("its source is `{written}`").into()),
    }
}
