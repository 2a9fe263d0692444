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
    let (module, name) = code.handler.as_deref()?.rsplit_once('.')?;
    let name = name.to_owned();
    match code.source.as_ref()? {
        CodeSource::Text(text, span) => Some(Located {
            text: text.clone(),
            languages: &[Language::Python, Language::Script],
            name,
            origin: Origin::Written(*span),
        }),
        CodeSource::Path(path) => {
            let (path, language) = file(path, module, sources.files())?;
            let bytes = sources.files().read(&path, LARGEST).ok()?;
            Some(Located {
                text: String::from_utf8(bytes).ok()?.into(),
                languages: language,
                name,
                origin: Origin::File(path),
            })
        }
    }
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
            Language::Script => module.to_owned(),
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
    }
}
