//! Reads `parameter_overrides` and `stack_name` from the `samconfig.toml` or `.yaml` next to a template, which
//! `sam deploy` uses by default. The configuration applies to the template that it names, or to the default template.

use super::files::Assignments;
use super::{Supplied, assignment, unquoted};
use crate::document::scalar;
use source::Sources;
use source::files::Files;
use source::reading::{Problem, ReadError, read as read_text};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::Node;
use trees::parsed;

/// File names, in the order in which SAM tries them.
const NAMES: [&str; 3] = ["samconfig.toml", "samconfig.yaml", "samconfig.yml"];
/// Environment that `sam deploy` uses by default.
pub(super) const DEFAULT: &str = "default";
/// File names of the default template.
const TEMPLATES: [&str; 3] = ["template.yaml", "template.yml", "template.json"];

/// Configuration of the deployment of a template.
#[derive(Debug, Default)]
pub(super) struct Deployment {
    pub(super) arguments: Assignments,
    pub(super) stack: Option<Arc<str>>,
}

/// Returns the configuration next to the template at `path`, and its problems.
pub(super) fn read(path: &Path, environment: Option<&str>, sources: &Sources) -> (Deployment, Vec<Problem>) {
    let none = (Deployment::default(), Vec::new());
    let (Some(directory), Some(config)) = (path.parent(), beside(path, sources.files())) else {
        return none;
    };
    // Problems are reported for one template, not for every file of the directory.
    let is_default = path
        .file_name()
        .is_some_and(|name| TEMPLATES.iter().any(|other| name == *other));
    let file = match read_text(&config, sources) {
        Ok(file) => file,
        Err(ReadError::Unfit(found)) if is_default => return (Deployment::default(), vec![found]),
        Err(ReadError::Unfit(_) | ReadError::Io(_)) => return none,
    };
    let source = sources.file(file);
    let parsed = parsed::settings(file, &source);
    let faults: Vec<Problem> = parsed.problems().filter(|_| is_default).collect();
    let Some(document) = parsed
        .documents
        .first()
        .filter(|document| applies(document, directory, path, sources.files()))
    else {
        return (Deployment::default(), faults);
    };
    let by = format!("`{}`", source.base_name()).into();
    let environment = environment.unwrap_or(DEFAULT);
    let found = overrides(document, environment);
    let stack = tables(document, environment).find_map(|table| table.get("stack_name")?.as_str());
    let deployment = Deployment {
        arguments: found.map_or_else(Vec::new, |node| assignments(node, &by)),
        stack: stack.map(Arc::from),
    };
    (deployment, faults)
}

/// Returns the path of the configuration next to the template at `path`.
fn beside(path: &Path, files: &Files) -> Option<PathBuf> {
    let directory = path.parent()?;
    let mut places = NAMES.iter().map(|name| directory.join(name));
    // A directory, or a link out of the project, is reported when it is read.
    places.find(|file| files.exists(file))
}

/// Returns the environments other than the default for which the configuration next to the template at `path` sets
/// parameters, each with the names of these.
pub(super) fn environments(path: &Path, sources: &Sources) -> Vec<(String, Vec<Arc<str>>)> {
    let names = || {
        let config = beside(path, sources.files())?;
        let file = read_text(&config, sources).ok()?;
        let parsed = parsed::settings(file, &sources.file(file));
        let document = parsed.documents.first()?;
        if !applies(document, path.parent()?, path, sources.files()) {
            return None;
        }
        let named = document.entries()?.iter().map(|entry| entry.key.to_string());
        let others = named.filter(|name| name != DEFAULT).filter_map(|name| {
            let set = assignments(overrides(document, &name)?, &Arc::default());
            Some((name, set.into_iter().map(|(name, _)| name).collect()))
        });
        Some(others.collect())
    };
    names().unwrap_or_default()
}

/// Returns the tables of parameters for a deployment of `environment`, in order of precedence.
fn tables<'d>(document: &'d Node, environment: &str) -> impl Iterator<Item = &'d Node> + use<'d> {
    let tables = document.get(environment);
    let commands = ["deploy", "global"].into_iter();
    commands.filter_map(move |command| tables?.get(command)?.get("parameters"))
}

/// Returns `parameter_overrides` of `environment`.
pub(super) fn overrides<'d>(document: &'d Node, environment: &str) -> Option<&'d Node> {
    tables(document, environment).find_map(|table| table.get("parameter_overrides"))
}

/// Returns `true` if the configuration in `directory` applies to the template at `path`.
fn applies(document: &Node, directory: &Path, path: &Path, files: &Files) -> bool {
    let build = document
        .get("default")
        .and_then(|default| default.get("build")?.get("parameters"));
    let named = tables(document, DEFAULT).chain(build).flat_map(|table| {
        let names = ["template_file", "template"].into_iter();
        names.filter_map(|name| table.get(name)?.as_str())
    });
    // A template in `.aws-sam` is build output, so it does not count as the named template.
    let sources = named.filter_map(|name| files.real(&directory.join(name)).ok());
    let made = |file: &Path| file.components().any(|part| part.as_os_str() == ".aws-sam");
    let sources: Vec<_> = sources.filter(|file| !made(file)).collect();
    if sources.is_empty() {
        let name = path.file_name().and_then(std::ffi::OsStr::to_str);
        let default = TEMPLATES.iter().find(|name| files.is_file(&directory.join(name)));
        return name.is_some() && default.copied() == name;
    }
    sources.iter().any(|file| file == path)
}

/// Parses `parameter_overrides`: one text, a list of them, or an object.
pub(super) fn assignments(node: &Node, by: &Arc<str>) -> Assignments {
    let supplied = |value: &str, place: &Node| Supplied {
        value: Ok(value.into()),
        span: Some(place.span),
        by: by.clone(),
    };
    if let Some(entries) = node.entries() {
        let each = entries.iter().filter_map(|entry| {
            let value = scalar(&entry.value)?;
            Some((entry.key.clone(), supplied(&value, &entry.value)))
        });
        return each.collect();
    }
    let items = node.items().unwrap_or(std::slice::from_ref(node));
    let mut all = Vec::new();
    for item in items {
        let Some(text) = item.as_str() else {
            all.extend(item.entries().map_or_else(Vec::new, |_| assignments(item, by)));
            continue;
        };
        for word in words(text) {
            if let Some((name, value)) = assignment(&word) {
                all.push((Arc::from(name), supplied(&unquoted(&value), item)));
            }
        }
    }
    all
}

/// Splits `text` at unquoted blanks, drops quotes, and keeps a character after a backslash.
fn words(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', _) => word.get_or_insert_default().extend(characters.next()),
            (mark, Some(open)) if mark == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (blank, None) if blank.is_whitespace() => all.extend(word.take()),
            (other, _) => word.get_or_insert_default().push(other),
        }
    }
    all.extend(word);
    all
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_keep_quoted_blanks() {
        assert_eq!(
            words(r#"A=1  B="a b" 'C'=x\ y "D=\"q\"" E="#),
            ["A=1", "B=a b", "C=x y", "D=\"q\"", "E="]
        );
    }
}
