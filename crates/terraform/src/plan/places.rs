//! Locates the module that a plan was made from, if it is near the plan, so that findings point at the lines to edit.
//! Values still come from the plan.

use super::document::ConfigurationModule;
use crate::inputs::RootInputs;
use crate::module::{Module, Modules, Source, is_code, read_all};
use crate::syntax::{Block, Body};
use source::{Sources, Span};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The modules near a plan.
pub(crate) struct Places {
    modules: Modules,
    root: Option<PathBuf>,
}

impl Places {
    /// Finds the modules of the plan `file`: in its directory or the parent directory, if the root module there
    /// declares what was planned.
    pub(crate) fn find(file: &Path, planned: Option<&ConfigurationModule<'_>>, sources: &Sources) -> Places {
        let none = Places {
            modules: Modules::new(),
            root: None,
        };
        let Some(planned) = planned.filter(|module| !module.resources.is_empty() || !module.module_calls.is_empty())
        else {
            return none;
        };
        let within = |directory: &&Path| sources.repository().is_none_or(|root| directory.starts_with(root));
        for directory in file.ancestors().skip(1).take(2).filter(within) {
            let Ok(directory) = sources.files().real(directory) else {
                continue;
            };
            if !holds_terraform(&directory, sources) {
                continue;
            }
            let (modules, _) = read_all(std::slice::from_ref(&directory), &RootInputs::default(), sources);
            if modules.get(&directory).is_some_and(|module| declares(module, planned)) {
                return Places {
                    modules,
                    root: Some(directory),
                };
            }
        }
        none
    }

    /// Returns the root module.
    pub(crate) fn root(&self) -> Option<Arc<Module>> {
        self.modules.get(self.root.as_ref()?).cloned()
    }

    /// Returns the module that `module` calls as `name`, and the header of the call.
    pub(crate) fn called(&self, module: &Module, name: &str) -> Option<(Arc<Module>, Span)> {
        let call = module.calls.get(name)?;
        match &call.source {
            Source::Here(path) => Some((self.modules.get(path)?.clone(), call.block.header)),
            Source::Described(described) => Some((described.clone(), call.block.header)),
            Source::Early(_) | Source::Away(_) => None,
        }
    }
}

fn holds_terraform(directory: &Path, sources: &Sources) -> bool {
    sources.files().has_name(directory, is_code)
}

/// Returns `true` if `module` has every block that was planned. Other modules, or other versions of it, do not.
fn declares(module: &Module, planned: &ConfigurationModule<'_>) -> bool {
    let resources = planned.resources.iter().filter(|block| block.mode == "managed");
    let mut names = resources.map(|block| (Arc::from(&*block.kind), Arc::from(&*block.name)));
    names.all(|name| module.resources.contains_key(&name))
        && planned
            .module_calls
            .keys()
            .all(|name| module.calls.contains_key(&**name))
}

/// Returns the only block `name` of a body, or the content of a dynamic one, together with the whole block.
pub(crate) fn nested<'b>(body: &'b Body, name: &str) -> Option<(&'b Body, &'b Block)> {
    let of_name = |block: &&Arc<Block>| {
        &*block.kind == name
            || (&*block.kind == "dynamic" && block.labels.first().is_some_and(|label| &**label == name))
    };
    let mut found = body.blocks.iter().filter(of_name);
    let (block, None) = (found.next()?, found.next()) else {
        return None;
    };
    if &*block.kind == "dynamic" {
        let content = block.body.blocks.iter().find(|block| &*block.kind == "content")?;
        return Some((&content.body, block));
    }
    Some((&block.body, block))
}
