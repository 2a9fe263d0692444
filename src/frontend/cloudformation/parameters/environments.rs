//! Environments that the files beside a template name: the tables of a SAM configuration, and files of parameters.
//!
//! ```text
//! template.yaml                       Parameters: {Timeout, Stage}
//! samconfig.toml                      [prod.deploy.parameters]       the environment `prod`
//! parameters/dev.json                 [{"ParameterKey": "Timeout", …}]   the environment `dev`
//! ```

use super::{files, parse, samconfig};
use crate::files::{Files, Kind};
use crate::frontend::{NamedEnvironment, read};
use crate::given::{Given, Parameters};
use crate::source::Sources;
use std::path::{Path, PathBuf};

/// More files are not read for one template.
const MAX_FILES: usize = 64;
/// A larger file is not looked into.
const LARGEST: u64 = 256 << 10;

/// The environments of the template at `path`, which declares `names`.
pub(in crate::frontend::cloudformation) fn of_template(
    path: &Path,
    names: &[&str],
    sources: &Sources,
) -> Vec<NamedEnvironment> {
    if names.is_empty() {
        return Vec::new();
    }
    let environment = |name: String, given: Given| NamedEnvironment {
        name,
        path: path.to_owned(),
        given,
    };
    let tables = samconfig::environments(path, sources).into_iter().map(|name| {
        let stage = Some(name.clone());
        environment(
            name,
            Given {
                stage,
                ..Given::default()
            },
        )
    });
    let mut all: Vec<NamedEnvironment> = tables.collect();
    let aside = sources.aside();
    for file in beside(path, sources.files()) {
        if is_of(&file, names, &aside) {
            let parameters = vec![Parameters::File(file.clone())];
            let given = Given {
                parameters,
                ..Given::default()
            };
            all.push(environment(name_of(&file), given));
        }
    }
    all
}

/// Files that may hold parameters, in the directory of the template and in those below it.
fn beside(path: &Path, files: &Files) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let Some(directory) = path.parent() else { return all };
    let mut directories = vec![directory.to_owned()];
    for listed in sorted(directory, files) {
        let inner = directory.join(&listed);
        if !listed.starts_with('.') && listed != "node_modules" && matches!(files.kind(&inner), Some(Kind::Directory)) {
            directories.push(inner);
        }
    }
    for directory in directories {
        for name in sorted(&directory, files) {
            let file = directory.join(&name);
            let is_document = [".json", ".yaml", ".yml"].iter().any(|end| name.ends_with(end));
            let is_small = || matches!(files.kind(&file), Some(Kind::File(bytes)) if bytes <= LARGEST);
            if is_document && file != path && all.len() < MAX_FILES && is_small() {
                all.push(file);
            }
        }
    }
    all
}

fn sorted(directory: &Path, files: &Files) -> Vec<String> {
    let listed = files.list(directory).unwrap_or_default().into_iter();
    let mut names: Vec<String> = listed.filter_map(|listed| listed.name.into_string().ok()).collect();
    names.sort();
    names
}

/// Whether the file gives values, and only to parameters among `names`.
fn is_of(file: &Path, names: &[&str], sources: &Sources) -> bool {
    let may_be = |text: &str| text.contains("ParameterKey") || text.contains("Parameters");
    let head = sources.files().head(file, LARGEST).unwrap_or_default();
    if !std::str::from_utf8(&head).is_ok_and(may_be) {
        return false;
    }
    let Ok(id) = read(file, sources, "") else {
        return false;
    };
    let parsed = parse(file, sources.file(id).text(), id);
    let given = match (parsed.documents.as_slice(), parsed.errors.is_empty()) {
        ([only], true) => files::names_in(only).unwrap_or_default(),
        _ => return false,
    };
    !given.is_empty() && given.iter().all(|name| names.contains(&&**name))
}

/// `prod` for `prod.json`, `prod.parameters.json`, `parameters-prod.json` and `prod/parameters.json`.
fn name_of(file: &Path) -> String {
    let stem = |path: &Path| {
        path.file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default()
            .to_owned()
    };
    let name = stem(file);
    let is_common = |word: &&str| {
        !matches!(
            *word,
            "parameters" | "params" | "parameter" | "param" | "config" | "template"
        )
    };
    let words: Vec<&str> = name.split(['-', '_', '.']).filter(is_common).collect();
    match (words.is_empty(), file.parent()) {
        (false, _) => words.join("-"),
        (true, Some(directory)) => stem(directory),
        (true, None) => name,
    }
}
