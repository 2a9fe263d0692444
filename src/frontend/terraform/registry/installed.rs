//! What `terraform init` left beside a root module: which call has which code, by
//! `.terraform/modules/modules.json`. The code is read as that of local modules is, within the same bounds.

use super::super::super::tree::Node;
use super::super::super::{ReadError, limit_reached, parse_error, parsed, read};
use super::super::module::{Bounds, Module};
use super::address::{Address, Revision};
use super::version::Range;
use crate::files::Files;
use crate::source::Sources;
use std::path::PathBuf;
use std::sync::Arc;

/// The code of one call.
#[derive(Debug)]
pub(in super::super) struct Installed {
    /// The source that it was fetched from.
    source: Arc<str>,
    version: Option<Arc<str>>,
    pub(in super::super) directory: PathBuf,
}

impl Installed {
    /// Whether it is what a call asks for now: Terraform would refuse it otherwise until the next `init`.
    pub(in super::super) fn serves(&self, source: &str, constraint: Option<&str>) -> bool {
        let same = match (Address::read(source), Address::read(&self.source)) {
            // The manifest spells shorthands out.
            (Some(asked), Some(held)) => {
                asked.package == held.package
                    && asked.submodule == held.submodule
                    && match (&asked.revision, &held.revision) {
                        (Revision::Named(asked), Revision::Named(held)) => asked == held,
                        (Revision::Argument, Revision::Argument) | (Revision::Head, Revision::Head) => true,
                        _ => false,
                    }
            }
            (None, None) => source == &*self.source || self.source.ends_with(source),
            _ => false,
        };
        let allowed = match (constraint, &self.version) {
            (Some(constraint), Some(version)) => match (Range::read(constraint), Range::exactly(version)) {
                (Some(allowed), Some(held)) => held.newest_of(&[allowed]).is_some(),
                // Pre-releases and the like: Terraform chose it.
                _ => true,
            },
            _ => true,
        };
        same && allowed
    }
}

/// Reads the manifest beside a root module, where there is one.
pub(in super::super) fn read_installed(root: &mut Module, sources: &Sources, bounds: &Bounds) {
    let path = root.directory.join(".terraform/modules/modules.json");
    if !sources.files().is_file(&path) {
        return;
    }
    let unit = sources.name_of(&root.directory);
    let file = match read(&path, sources, &unit) {
        Ok(file) => file,
        Err(ReadError::Io(error)) => return root.errors.push(error),
        Err(ReadError::Unfit(diagnostic)) => return root.diagnostics.push(*diagnostic),
    };
    let parsed = parsed::settings(file, &sources.file(file));
    for (problems, report) in [
        (&parsed.errors, parse_error as fn(&_, &_, _, &_) -> _),
        (&parsed.limits, limit_reached),
    ] {
        let told = problems
            .iter()
            .map(|problem| report(sources, &unit, problem.span, &problem.message));
        root.diagnostics.extend(told);
    }
    for document in &parsed.documents {
        let Some(entries) = document.entry("Modules").and_then(|entry| entry.value.items()) else {
            let message = "it is not the list of modules that `terraform init` writes";
            root.diagnostics
                .push(parse_error(sources, &unit, document.span, message));
            continue;
        };
        for entry in entries {
            if let Some((key, installed)) = read_entry(entry, root, bounds, sources.files()) {
                root.installed.insert(key, installed);
            }
        }
    }
}

/// `None` for the root itself, for local modules, which their callers lead to, for what lies outside of the bounds
/// and for what is not there.
fn read_entry(entry: &Node, root: &Module, bounds: &Bounds, files: &Files) -> Option<(Arc<str>, Installed)> {
    let text = |name: &str| entry.entry(name).and_then(|entry| entry.value.as_str());
    let key = text("Key").filter(|key| !key.is_empty())?;
    let source = text("Source").filter(|source| !source.starts_with('.'))?;
    let directory = files.real(&root.directory.join(text("Dir")?)).ok()?;
    (files.is_directory(&directory) && bounds.allow(&directory)).then(|| {
        let installed = Installed {
            source: source.into(),
            version: text("Version").filter(|version| !version.is_empty()).map(Into::into),
            directory,
        };
        (key.into(), installed)
    })
}
