//! The file that a function's handler lies in, inside the bounds of the project, and its name there.

use super::parse::LARGEST;
use crate::files::Files;
use crate::graph::{Code, CodeSource};
use crate::source::{Sources, Span};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// In which language a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    /// JavaScript and TypeScript.
    Script,
    Java,
    CSharp,
    Go,
}

/// The endings that runtimes and bundlers look for, what is written by hand first.
const ENDINGS: [(&str, Language); 7] = [
    ("py", Language::Python),
    ("ts", Language::Script),
    ("mts", Language::Script),
    ("cts", Language::Script),
    ("mjs", Language::Script),
    ("js", Language::Script),
    ("cjs", Language::Script),
];

/// Where build tools of Java look for sources.
const JAVA: [&str; 3] = ["src/main/java", "app/src/main/java", ""];

/// The source that a handler lies in.
pub(super) struct Located {
    pub(super) text: Arc<str>,
    /// The languages that it may be written in.
    pub(super) languages: &'static [Language],
    /// What Lambda calls in it.
    pub(super) name: String,
    pub(super) origin: Origin,
}

/// Where the text comes from.
pub(super) enum Origin {
    /// A file, by its real path.
    File(PathBuf),
    /// It is written in the configuration, at this place.
    Written(Span),
}

/// Finds the source of a function.
pub(super) fn locate(code: &Code, sources: &Sources) -> Option<Located> {
    let handler = code.handler.as_deref()?;
    if let CodeSource::Path(path) = code.source.as_ref()?
        && let Some(found) = compiled(path, handler, sources)
    {
        return Some(found);
    }
    let (module, name) = handler.rsplit_once('.')?;
    let name = name.to_owned();
    match code.source.as_ref()? {
        CodeSource::Text(text, span) => Some(Located {
            text: text.clone(),
            languages: &[Language::Python, Language::Script],
            name,
            origin: Origin::Written(*span),
        }),
        CodeSource::Path(path) => {
            let (path, languages) = file(path, module, sources.files())?;
            opened(path, languages, name, sources)
        }
    }
}

fn opened(path: PathBuf, languages: &'static [Language], name: String, sources: &Sources) -> Option<Located> {
    let bytes = sources.files().read(&path, LARGEST).ok()?;
    Some(Located {
        text: String::from_utf8(bytes).ok()?.into(),
        languages,
        name,
        origin: Origin::File(path),
    })
}

/// The source of what is compiled: a class of Java by its name (`com.example.App::handleRequest`) or of C#
/// (`App::Example.Function::FunctionHandler`), or `main.go` where the handler is the name of a program.
fn compiled(path: &Path, handler: &str, sources: &Sources) -> Option<Located> {
    let files = sources.files();
    let directory = files.find(path).ok().filter(|found| files.is_directory(found))?;
    if !handler.contains(['.', ':', '/']) {
        let main = files.find(&directory.join("main.go")).ok()?;
        return opened(main, &[Language::Go], "main".to_owned(), sources);
    }
    if let [_, class, method] = handler.split("::").collect::<Vec<_>>().as_slice() {
        return csharp(&directory, class, method, files)
            .and_then(|(path, name)| opened(path, &[Language::CSharp], name, sources));
    }
    let (class, method) = handler.split_once("::").unwrap_or((handler, "handleRequest"));
    let name = format!("{}.java", class.replace('.', "/"));
    let mut places = JAVA.iter().map(|place| directory.join(place).join(&name));
    let found = places.find(|place| files.is_file(place))?;
    let found = files.find(&found).ok()?;
    let class = class.rsplit('.').next().unwrap_or(class);
    opened(found, &[Language::Java], format!("{class}::{method}"), sources)
}

/// The file of a class of C# by its name (`Assembly::Namespace.Class::Method`): by the usual name, beside the project's
/// file, or below it in a directory that is called as the last part of the namespace.
fn csharp(directory: &Path, class: &str, method: &str, files: &Files) -> Option<(PathBuf, String)> {
    let (namespace, class) = class.rsplit_once('.').unwrap_or(("", class));
    let name = format!("{class}.cs");
    let last = namespace.rsplit('.').next().unwrap_or_default();
    let mut places = ["", last].into_iter().map(|place| directory.join(place).join(&name));
    let found = places.find(|place| files.is_file(place))?;
    Some((files.find(&found).ok()?, format!("{class}::{method}")))
}

/// The file of `module` at or below `path`.
fn file(path: &Path, module: &str, files: &Files) -> Option<(PathBuf, &'static [Language])> {
    let found = files.find(path).ok()?;
    if files.is_file(&found) {
        // An archive of one file, which lies at its top.
        let stem = found.file_stem()?.to_str()?;
        let ending = found.extension()?.to_str()?;
        let (_, language) = ENDINGS.iter().find(|(known, _)| *known == ending)?;
        return (stem == module).then(|| (found.clone(), languages(*language)));
    }
    let module = module.trim_start_matches("./");
    for (ending, language) in ENDINGS {
        let name = match language {
            // `package.module.handler`
            Language::Python => module.replace('.', "/"),
            _ => module.to_owned(),
        };
        let candidate = found.join(format!("{name}.{ending}"));
        if files.is_file(&candidate) {
            let real = files.find(&candidate).ok()?;
            return Some((real, languages(language)));
        }
    }
    None
}

fn languages(language: Language) -> &'static [Language] {
    match language {
        Language::Python => &[Language::Python],
        Language::Script => &[Language::Script],
        Language::Java => &[Language::Java],
        Language::CSharp => &[Language::CSharp],
        Language::Go => &[Language::Go],
    }
}
