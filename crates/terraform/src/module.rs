//! Modules as written: their directories, the modules they call, and their blocks after merging override and variable
//! files. This module evaluates nothing.

mod early;
mod files;
mod overrides;

use super::inputs::RootInputs;
use super::registry::{self, Installed};
use super::syntax::{Attribute, Block, ExpressionKind, Problem};
pub use files::is_code;
use knowledge::Reason;
use rayon::prelude::*;
use source::files::Files;
use source::{Dependencies, Sources, reading};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Type and name of a resource or data source.
pub type Name = (Arc<str>, Arc<str>);

/// A module: the configuration in one directory.
#[derive(Debug, Default)]
pub struct Module {
    /// Canonical path of the directory.
    pub directory: PathBuf,
    /// `variable` blocks by name.
    pub variables: BTreeMap<Arc<str>, Arc<Block>>,
    /// Local values by name.
    pub locals: BTreeMap<Arc<str>, Attribute>,
    /// `output` blocks by name.
    pub outputs: BTreeMap<Arc<str>, Arc<Block>>,
    /// `resource` blocks.
    pub resources: BTreeMap<Name, Arc<Block>>,
    /// `data` blocks.
    pub data: BTreeMap<Name, Arc<Block>>,
    /// `module` blocks by name.
    pub calls: BTreeMap<Arc<str>, Arc<Call>>,
    /// Provider configurations, by the name of the provider and their alias.
    pub providers: BTreeMap<(Arc<str>, Option<Arc<str>>), Arc<Block>>,
    /// `backend` or `cloud` block, if it has one.
    pub backend: Option<Arc<Block>>,
    /// Values set by its variable files, with the names of the files, in Terraform's order: the last wins.
    pub settings: Vec<(Arc<str>, Attribute)>,
    /// Problems with its files.
    pub problems: Vec<reading::Problem>,
    /// Problems with Terraform 0.11 syntax, kept until it is known whether the module is written for that version.
    pub old: Vec<Problem>,
    /// Files that could not be opened.
    pub errors: Vec<String>,
    /// Notes on parts of the module that are not read.
    pub notes: Vec<String>,
    /// The reason why undeclared names may still be declared: a part of a file cannot be read.
    pub unread: Option<Reason>,
    /// `true` if the directory contains a template from which another program may generate a file.
    pub has_templates: bool,
    /// Code that `terraform init` fetched, by the names of the calls joined with dots. Set only in root modules.
    pub installed: BTreeMap<Arc<str>, Installed>,
    /// Set if the module is not available and known only by a description. All spans in it point to its call.
    pub described: Option<Spelling>,
}

/// Maps resource type, resource name and argument to the argument of the call that sets it.
pub type Spelling = BTreeMap<(Arc<str>, Arc<str>, Arc<str>), Arc<str>>;

impl Module {
    /// Returns `true` if the module is not usable as a root: it configures no provider, no variable file is next to it,
    /// and it requires values or is one of several below `modules`.
    pub fn expects_call(&self) -> bool {
        let requires = |block: &Arc<Block>| block.body.attribute("default").is_none();
        let is_library = self
            .directory
            .parent()
            .is_some_and(|parent| parent.ends_with("modules"));
        let has_inputs = !self.providers.is_empty() || !self.settings.is_empty();
        !has_inputs && (is_library || self.variables.values().any(requires))
    }

    /// Returns the directories of the modules that it calls or may call.
    pub fn called(&self) -> impl Iterator<Item = &PathBuf> {
        let own = self.calls.values().flat_map(|call| match &call.source {
            Source::Here(path) => std::slice::from_ref(path),
            Source::Early(paths) => paths,
            Source::Described(_) | Source::Away(_) => &[],
        });
        own.chain(self.installed.values().map(|installed| &installed.directory))
    }
}

/// A `module` block.
#[derive(Debug)]
pub struct Call {
    /// The block.
    pub block: Arc<Block>,
    /// The called module.
    pub source: Source,
}

/// The location of a called module.
#[derive(Debug)]
pub enum Source {
    /// A directory that was read.
    Here(PathBuf),
    /// Candidate directories: the source is an expression, which `OpenTofu` evaluates before it reads modules.
    Early(Vec<PathBuf>),
    /// A remote module that is known by a description.
    Described(Arc<Module>),
    /// A remote module about which nothing is known, with the reason as a clause.
    Away(Arc<str>),
}

/// The modules of a run, by canonical directory.
pub type Modules = BTreeMap<PathBuf, Arc<Module>>;

/// Reads the modules in `directories` and those they call. Also returns the files that each of them depends on.
pub fn read_all(
    directories: &[PathBuf],
    given: &RootInputs,
    sources: &Sources,
) -> (Modules, BTreeMap<PathBuf, Arc<Dependencies>>) {
    let (mut modules, mut noted) = (Modules::new(), BTreeMap::new());
    let roots: BTreeSet<PathBuf> = directories.iter().map(|path| canonical(path, sources)).collect();
    let mut next = roots.clone();
    while !next.is_empty() {
        let read: Vec<(Arc<Arc<Module>>, Arc<Dependencies>)> = next
            .par_iter()
            .map(|path| {
                let is_root = roots.contains(path);
                sources.cached(path, (is_root, given.fingerprint), |sources| {
                    read_one(path, is_root, given, sources)
                })
            })
            .collect();
        next.clear();
        for (module, of_module) in read {
            noted.insert(module.directory.clone(), of_module);
            modules.insert(module.directory.clone(), Arc::unwrap_or_clone(module));
        }
        let called = modules.values().flat_map(|module| module.called());
        next.extend(called.filter(|path| !modules.contains_key(*path)).cloned());
    }
    (modules, noted)
}

fn read_one(path: &Path, is_root: bool, given: &RootInputs, sources: &Sources) -> Arc<Module> {
    let bounds = AllowedDirectory(sources.files().clone());
    sources.add_dependencies(&given.noted);
    let mut module = files::read_module(path, sources, &bounds);
    for call in module.calls.values_mut() {
        if let Some(source) = local_source(call, given, &bounds) {
            let block = call.block.clone();
            *call = Arc::new(Call { block, source });
        }
    }
    if is_root {
        registry::read_installed(&mut module, sources, &bounds);
    }
    early::resolve_sources(Arc::new(module), given, sources, &bounds)
}

/// Returns the local directory that the inputs name for the remote module that `call` calls.
fn local_source(call: &Call, given: &RootInputs, bounds: &AllowedDirectory) -> Option<Source> {
    let ExpressionKind::Text(written) = &call.block.body.attribute("source")?.value.kind else {
        return None;
    };
    let mut modules = given.typed.modules.iter().filter(|_| !is_local(written));
    let (_, path) = modules.find(|(pattern, _)| matches(pattern, written))?;
    let path = bounds.0.real(path).ok()?;
    (bounds.0.is_directory(&path) && bounds.allow(&path)).then_some(Source::Here(path))
}

/// Returns `true` if `text` matches the pattern, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let mut between: Vec<&str> = rest.split('*').collect();
    let last = between.pop().unwrap_or_default();
    let rest = text.strip_prefix(start);
    let rest = between
        .iter()
        .try_fold(rest, |text, part| Some(text?.split_once(part).map(|(_, after)| after)));
    rest.flatten().is_some_and(|text| text.ends_with(last))
}

/// Returns `root` and the modules that it calls, directly or through others, each once.
pub fn reached<'m>(root: &'m Module, modules: &'m Modules) -> Vec<&'m Module> {
    let mut known: BTreeSet<&PathBuf> = BTreeSet::from([&root.directory]);
    let mut all = vec![root];
    let mut at = 0;
    while let Some(module) = all.get(at).copied() {
        at += 1;
        for path in module.called() {
            if let Some(called) = modules.get(path)
                && known.insert(&called.directory)
            {
                all.push(called);
            }
        }
    }
    all
}

fn canonical(path: &Path, sources: &Sources) -> PathBuf {
    sources.files().real(path).unwrap_or_else(|_| path.to_owned())
}

/// Restricts called modules to the repository, if there is one.
pub struct AllowedDirectory(Files);

impl AllowedDirectory {
    /// Returns `true` if modules at `path` may be read.
    pub fn allow(&self, path: &Path) -> bool {
        self.0.repository().is_none_or(|root| path.starts_with(root))
    }
}

/// Adds a block of a description, which calls no modules.
pub fn declare_described(module: &mut Module, block: Arc<Block>) {
    declare(module, block, &AllowedDirectory(Files::default()));
}

fn declare(module: &mut Module, block: Arc<Block>, bounds: &AllowedDirectory) {
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
        ("provider", Some(name), _) => {
            module.providers.insert((name, overrides::alias(&block)), block);
        }
        ("terraform", ..) => {
            let mut settings = block.body.blocks.iter();
            let backend = settings.find(|block| matches!(&*block.kind, "backend" | "cloud"));
            module.backend = backend.cloned().or(module.backend.take());
        }
        ("locals", ..) => {
            for attribute in &block.body.attributes {
                module.locals.insert(attribute.name.clone(), attribute.clone());
            }
        }
        _ => {}
    }
}

fn source_of(block: &Block, directory: &Path, bounds: &AllowedDirectory) -> Source {
    let written = match block.body.attribute("source").map(|attribute| &attribute.value.kind) {
        Some(ExpressionKind::Text(text)) => text.clone(),
        _ => return Source::Away("its source is not a literal".into()),
    };
    if !is_local(&written) {
        return registry::remote(block, &written, directory);
    }
    match bounds.0.real(&directory.join(&*written)) {
        Ok(path) if bounds.0.is_directory(&path) && bounds.allow(&path) => Source::Here(path),
        _ => Source::Away(format!("its source is `{written}`").into()),
    }
}

/// Returns `true` if a source is the path of a directory.
fn is_local(source: &str) -> bool {
    source.starts_with("./") || source.starts_with("../") || source == "." || source == ".."
}

/// Returns `true` if the `required_version` in one of `blocks` allows only versions of Terraform before 0.12.
pub fn is_pinned_before_012<'b>(blocks: impl Iterator<Item = &'b Arc<Block>>) -> bool {
    let settings = blocks.filter(|block| &*block.kind == "terraform");
    let mut constraints = settings.filter_map(|block| match &block.body.attribute("required_version")?.value.kind {
        ExpressionKind::Text(constraint) => Some(constraint.clone()),
        _ => None,
    });
    constraints.any(|constraint| registry::ends_before(&constraint, [0, 12, 0]))
}
