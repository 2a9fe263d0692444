//! Reads the configurations of stacks that Sceptre deploys. Each names its template and sets its parameters:
//!
//! ```text
//! templates/queues.yaml
//! config/prod/queues.yaml     template_path: queues.yaml     parameters: {Timeout: 300}
//! ```
//!
//! Values of resolvers (`!stack_output`) and of Jinja are unresolved.
//! <https://docs.sceptre-project.org/latest/docs/stack_config.html>

use super::Supplied;
use super::environments::with_document;
use super::files::{Assignments, supplied};
use crate::document::scalar;
use knowledge::{Cause, Reason};
use source::Sources;
use source::files::clean;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::{Entry, Node};

/// Keys of a configuration: the path of the template, and the object with it.
const TEMPLATE_PATH: &str = "template_path";
const TEMPLATE: &str = "template";

/// Returns the paths that the template of the configuration `file` may have: paths are relative to the `templates` of
/// the project, or, before version 2, to the project.
pub(super) fn templates(file: &Path, project: &Path, sources: &Sources) -> Option<Vec<PathBuf>> {
    let may_be = |text: &str| text.contains(TEMPLATE_PATH) || text.contains(TEMPLATE);
    with_document(file, sources, may_be, |document| {
        let path = template(document)?;
        let bases = [project.join("templates"), project.to_owned()];
        let paths = bases.iter().map(|base| clean(&base.join(path)));
        Some(paths.map(|path| sources.files().real(&path).unwrap_or(path)).collect())
    })
}

/// Returns the path of the template that a configuration names.
fn template(document: &Node) -> Option<&str> {
    let path = document.get(TEMPLATE_PATH);
    path.or_else(|| document.get(TEMPLATE)?.get("path"))?.as_str()
}

/// Returns the parameters that a configuration sets; `None` for other documents.
pub(super) fn assignments(document: &Node, by: &Arc<str>) -> Option<Assignments> {
    template(document)?;
    let entries = document.get("parameters").and_then(Node::entries).unwrap_or_default();
    let all = entries.iter().map(|entry| (entry.key.clone(), assignment(entry, by)));
    Some(all.collect())
}

fn assignment(entry: &Entry, by: &Arc<str>) -> Supplied {
    let text = match entry.value.items() {
        Some(items) => items
            .iter()
            .map(scalar)
            .collect::<Option<Vec<_>>>()
            .map(|items| items.join(",")),
        None => scalar(&entry.value),
    };
    let unresolved = |what: &str| -> Reason { Cause::RunContext.because(format!("{what} is known only to Sceptre")) };
    let value = match text {
        Some(text) if text.contains("{{") => Err(unresolved("an expression of Jinja")),
        Some(text) => Ok(text.into()),
        None => Err(unresolved("the result of a resolver")),
    };
    supplied(value, entry.span(), by)
}

/// Returns the environment's name: the directories of a configuration below `config`, or the name of a file directly
/// in it.
pub(super) fn name_of(file: &Path, config: &Path) -> String {
    let inner = file.strip_prefix(config).unwrap_or(file);
    let directories = inner.parent().filter(|directory| !directory.as_os_str().is_empty());
    let name = directories.or(inner.file_stem().map(Path::new)).unwrap_or(inner);
    name.display().to_string()
}
