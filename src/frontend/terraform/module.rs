//! Modules as written: which directories hold them, which they call, and what their blocks are after override
//! files and variable files. It evaluates nothing.

mod files;
mod overrides;

use super::syntax::{Attribute, Block, Kind};
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
    /// Provider configurations, by the name of the provider and their alias.
    pub(super) providers: BTreeMap<(Arc<str>, Option<Arc<str>>), Arc<Block>>,
    /// What its variable files set, in Terraform's order: the last wins. With the name of the file.
    pub(super) settings: Vec<(Arc<str>, Attribute)>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) errors: Vec<String>,
    /// What of it is not read.
    pub(super) notes: Vec<String>,
}

/// A `module` block.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) block: Arc<Block>,
    pub(super) source: Source,
}

/// Where a called module is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A directory that was read.
    Here(PathBuf),
    /// Somewhere else; the source as written.
    Away(Arc<str>),
}

/// Every module of a run by its canonical directory.
pub(super) type Modules = BTreeMap<PathBuf, Arc<Module>>;

/// Reads the modules of `directories` and those they call.
pub(super) fn read_all(directories: &[PathBuf], sources: &Sources) -> Modules {
    let bounds = Bounds(sources.repository().map(canonical));
    let mut modules = Modules::new();
    let mut next: BTreeSet<PathBuf> = directories.iter().map(|path| canonical(path)).collect();
    while !next.is_empty() {
        let read: Vec<Arc<Module>> = next
            .par_iter()
            .map(|path| Arc::new(files::read_module(path, sources, &bounds)))
            .collect();
        next.clear();
        for module in read {
            modules.insert(module.directory.clone(), module);
        }
        for call in modules.values().flat_map(|module| module.calls.values()) {
            if let Source::Here(path) = &call.source
                && !modules.contains_key(path)
            {
                next.insert(path.clone());
            }
        }
    }
    modules
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Where called modules may lie: in the repository; anywhere where there is none.
struct Bounds(Option<PathBuf>);

impl Bounds {
    fn allow(&self, path: &Path) -> bool {
        self.0.as_ref().is_none_or(|root| path.starts_with(root))
    }
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
        ("provider", Some(name), _) => {
            module.providers.insert((name, overrides::alias(&block)), block);
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
        _ => "not a literal".into(),
    };
    if !(written.starts_with("./") || written.starts_with("../") || &*written == "." || &*written == "..") {
        return Source::Away(written);
    }
    match directory.join(&*written).canonicalize() {
        Ok(path) if path.is_dir() && bounds.allow(&path) => Source::Here(path),
        _ => Source::Away(written),
    }
}
