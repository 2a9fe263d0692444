//! Locates the file with a function's handler, within the bounds of the project, and the handler's name in it.

use crate::graph::{Code, CodeSource};
use source::files::Files;
use source::{Sources, Span};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    /// JavaScript and TypeScript.
    Script,
    Java,
    CSharp,
    Go,
}

/// Extensions that runtimes and bundlers look for, those of hand-written files first.
const ENDINGS: [(&str, Language); 7] = [
    ("py", Language::Python),
    ("ts", Language::Script),
    ("mts", Language::Script),
    ("cts", Language::Script),
    ("mjs", Language::Script),
    ("js", Language::Script),
    ("cjs", Language::Script),
];

/// Source directories of Java's build tools.
const JAVA: [&str; 3] = ["src/main/java", "app/src/main/java", ""];

/// Maximum size of a file in bytes. Larger files are not read.
const LARGEST: u64 = 512 << 10;

/// Result of locating a source.
pub(super) enum FoundSource {
    /// Readable source.
    Source(Located),
    /// Unreadable file, with the reason.
    Unreadable(PathBuf, String),
}

/// Source file or text with a handler.
pub(super) struct Located {
    pub(super) text: Arc<str>,
    /// Languages that it may be written in.
    pub(super) languages: &'static [Language],
    /// Name of the entry point.
    pub(super) name: String,
    pub(super) origin: Origin,
}

/// Origin of the text.
pub(super) enum Origin {
    /// A file, by its real path.
    File(PathBuf),
    /// Inline code in the configuration, at this span.
    Written(Span),
}

/// Finds the source of a function.
pub(super) fn locate(code: &Code, sources: &Sources) -> Option<FoundSource> {
    let handler = code.handler.as_deref()?;
    if let CodeSource::Path(path) = code.source.as_ref()?
        && let Some(found) = compiled(path, handler, sources)
    {
        return Some(found);
    }
    let (module, name) = handler.rsplit_once('.')?;
    let name = name.to_owned();
    match code.source.as_ref()? {
        CodeSource::Text(text, span) => Some(FoundSource::Source(Located {
            text: text.clone(),
            languages: &[Language::Python, Language::Script],
            name,
            origin: Origin::Written(*span),
        })),
        CodeSource::Path(path) => {
            let (path, languages) = file(path, module, sources.files())?;
            Some(read_file(path, languages, name, sources))
        }
    }
}

fn read_file(path: PathBuf, languages: &'static [Language], name: String, sources: &Sources) -> FoundSource {
    let bytes = match sources.files().read(&path, LARGEST) {
        Ok(bytes) => bytes,
        Err(refusal) => return FoundSource::Unreadable(path, refusal.to_string()),
    };
    let Ok(text) = String::from_utf8(bytes) else {
        return FoundSource::Unreadable(path, "it is not UTF-8".to_owned());
    };
    FoundSource::Source(Located {
        text: text.into(),
        languages,
        name,
        origin: Origin::File(path),
    })
}

/// Finds the source of a compiled program: a Java class by name (`com.example.App::handleRequest`), a C# class
/// (`App::Example.Function::FunctionHandler`), or `main.go` if the handler is the name of a program.
fn compiled(path: &Path, handler: &str, sources: &Sources) -> Option<FoundSource> {
    let files = sources.files();
    let directory = files.find(path).ok().filter(|found| files.is_directory(found))?;
    if !handler.contains(['.', ':', '/']) {
        let main = files.find(&directory.join("main.go")).ok()?;
        return Some(read_file(main, &[Language::Go], "main".to_owned(), sources));
    }
    if let [_, class, method] = handler.split("::").collect::<Vec<_>>().as_slice() {
        return csharp(&directory, class, method, files)
            .map(|(path, name)| read_file(path, &[Language::CSharp], name, sources));
    }
    let (class, method) = handler.split_once("::").unwrap_or((handler, "handleRequest"));
    let name = format!("{}.java", class.replace('.', "/"));
    let mut places = JAVA.iter().map(|place| directory.join(place).join(&name));
    let found = places.find(|place| files.is_file(place))?;
    let found = files.find(&found).ok()?;
    let class = class.rsplit('.').next().unwrap_or(class);
    let name = format!("{class}::{method}");
    Some(read_file(found, &[Language::Java], name, sources))
}

/// Finds the file of a C# class by name (`Assembly::Namespace.Class::Method`): the file with the name of the class,
/// next to the project file or in a subdirectory with the name of the last part of the namespace.
fn csharp(directory: &Path, class: &str, method: &str, files: &Files) -> Option<(PathBuf, String)> {
    let (namespace, class) = class.rsplit_once('.').unwrap_or(("", class));
    let name = format!("{class}.cs");
    let last = namespace.rsplit('.').next().unwrap_or_default();
    let mut places = ["", last].into_iter().map(|place| directory.join(place).join(&name));
    let found = places.find(|place| files.is_file(place))?;
    Some((files.find(&found).ok()?, format!("{class}::{method}")))
}

/// Finds the file of `module` at or below `path`.
fn file(path: &Path, module: &str, files: &Files) -> Option<(PathBuf, &'static [Language])> {
    let found = files.find(path).ok()?;
    if files.is_file(&found) {
        // The file itself, which becomes an archive with that one file at its top.
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
