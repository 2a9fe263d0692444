//! Paths that belong together: a build output and its source, an import and the file that it names.

use super::exports::{Token, tokens};
use super::search::OUTPUTS;
use crate::limits;
use crate::read::language::Language;
use source::files::{Files, clean};
use std::path::{Component, Path, PathBuf};

/// A build output.
pub(crate) struct Output {
    /// Directory of the project that it is built from, if the output has a well-known name.
    pub(crate) project: Option<PathBuf>,
    /// Possible paths of the source, most likely first.
    pub(crate) sources: Vec<PathBuf>,
}

/// Returns the source of `path` if it is in a build output: the `outDir` of the nearest `tsconfig.json`, or a directory
/// with a well-known name.
pub(crate) fn output(path: &Path, files: &Files) -> Option<Output> {
    let bound = files
        .bounds()
        .find(|bound| path.starts_with(bound))
        .unwrap_or(Path::new("/"));
    let above = path.ancestors().skip(1).take_while(|above| above.starts_with(bound));
    let mut sources = Vec::new();
    if let Some(config) = above
        .map(|above| above.join("tsconfig.json"))
        .find(|config| files.is_file(config))
    {
        let config = Compiler::read(&config, files);
        if let Some(rest) = config.output.as_ref().and_then(|output| path.strip_prefix(output).ok()) {
            sources.extend(config.root.iter().map(|root| root.join(rest)));
            sources.extend(["src", ""].map(|root| config.directory.join(root).join(rest)));
        }
    }
    let below = path.strip_prefix(bound).unwrap_or(path);
    let mut parts = below.components();
    let mut project = bound.to_owned();
    let is_output = |part: &Component<'_>| part.as_os_str().to_str().is_some_and(|name| OUTPUTS.contains(name));
    let found = loop {
        match parts.next() {
            Some(part) if is_output(&part) => break Some(parts.as_path()),
            Some(part) => project.push(part),
            None => break None,
        }
    };
    if let Some(rest) = found {
        sources.extend(["src", ""].map(|root| project.join(root).join(rest)));
    }
    (found.is_some() || !sources.is_empty()).then(|| Output {
        project: found.map(|_| project),
        sources,
    })
}

/// Settings of the TypeScript compiler.
#[derive(Default)]
struct Compiler {
    directory: PathBuf,
    /// `outDir`.
    output: Option<PathBuf>,
    /// `rootDir`.
    root: Option<PathBuf>,
    /// `paths`: a pattern with the paths that it stands for.
    aliases: Vec<(String, Vec<PathBuf>)>,
}

impl Compiler {
    /// Reads a `tsconfig.json` and the files that it extends. The nearest value applies.
    fn read(path: &Path, files: &Files) -> Self {
        let mut config = Compiler {
            directory: path.parent().unwrap_or(path).to_owned(),
            ..Compiler::default()
        };
        let mut next = Some(path.to_owned());
        for _ in 0..limits::MAX_TSCONFIG_EXTENDS {
            let Some(path) = next.take() else { break };
            let Ok(Ok(text)) = files.read(&path, limits::MAX_TSCONFIG_SIZE).map(String::from_utf8) else {
                break;
            };
            let directory = path.parent().unwrap_or(&path);
            let tokens = tokens(&text);
            let value = |key: &str| {
                let mut found = tokens.windows(3).filter_map(|three| match three {
                    [Token::Text(known), Token::Sign(b':'), Token::Text(value)] if *known == key => Some(*value),
                    _ => None,
                });
                found.next()
            };
            let absolute = |value: &str| clean(&directory.join(value));
            config.output = config.output.or_else(|| value("outDir").map(absolute));
            config.root = config.root.or_else(|| value("rootDir").map(absolute));
            if config.aliases.is_empty() {
                let base = value("baseUrl").map_or_else(|| directory.to_owned(), absolute);
                config.aliases = aliases(&tokens, &base);
            }
            next = value("extends").filter(|value| value.starts_with('.')).map(|value| {
                let path = absolute(value);
                if path.extension().is_some() {
                    path
                } else {
                    path.with_extension("json")
                }
            });
        }
        config
    }
}

/// Reads `"paths": {"@app/*": ["src/*"]}`.
fn aliases(tokens: &[Token<'_>], base: &Path) -> Vec<(String, Vec<PathBuf>)> {
    let start = [Token::Text("paths"), Token::Sign(b':'), Token::Sign(b'{')];
    let Some(at) = tokens.windows(3).position(|three| *three == start) else {
        return Vec::new();
    };
    let mut all: Vec<(String, Vec<PathBuf>)> = Vec::new();
    let mut rest = tokens[at + 3..].iter().peekable();
    while let Some(token) = rest.next().filter(|token| **token != Token::Sign(b'}')) {
        let Token::Text(text) = token else { continue };
        if rest.peek() == Some(&&Token::Sign(b':')) {
            all.push(((*text).to_owned(), Vec::new()));
        } else if let Some((_, paths)) = all.last_mut() {
            paths.push(clean(&base.join(text)));
        }
    }
    all
}

/// Returns the file that `from` names in an import of the file at `path`.
pub(crate) fn imported(path: &Path, from: &str, language: Language, files: &Files) -> Option<PathBuf> {
    let directory = path.parent()?;
    if language == Language::Python {
        let dots = from.bytes().take_while(|byte| *byte == b'.').count();
        let rest = from[dots..].replace('.', "/");
        let python = |base: &Path| {
            let plain = base.join(format!("{rest}.py"));
            beside(&plain, files).or_else(|| beside(&base.join(&rest).join("__init__.py"), files))
        };
        return match dots {
            // An absolute import is below the code of the function, which contains the file.
            0 => directory
                .ancestors()
                .take(limits::MAX_TSCONFIG_EXTENDS)
                .find_map(python),
            _ => python(directory.ancestors().nth(dots - 1)?),
        };
    }
    if from.starts_with('.') {
        return script(&clean(&directory.join(from)), files);
    }
    let bound = files.bounds().find(|bound| path.starts_with(bound));
    let above = directory
        .ancestors()
        .take_while(|above| bound.is_none_or(|bound| above.starts_with(bound)));
    let config = above
        .map(|above| above.join("tsconfig.json"))
        .find(|config| files.is_file(config))?;
    let aliases = Compiler::read(&config, files).aliases;
    aliases.iter().find_map(|(pattern, paths)| {
        let rest = match pattern.split_once('*') {
            Some((before, after)) => from.strip_prefix(before)?.strip_suffix(after)?,
            None => (pattern == from).then_some("")?,
        };
        let named = |path: &PathBuf| PathBuf::from(path.to_string_lossy().replacen('*', rest, 1));
        paths.iter().map(named).find_map(|path| script(&path, files))
    })
}

/// Returns the file that `path` names in an import: with an extension, without one, or a directory.
fn script(path: &Path, files: &Files) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    // TypeScript imports `./orders.js` if the file is `orders.ts`.
    let stem = name
        .strip_suffix(".js")
        .or_else(|| name.strip_suffix(".mjs"))
        .unwrap_or(name);
    let endings = [".ts", ".mts", ".js", ".mjs", ".cjs", "/index.ts", "/index.js"];
    let named = endings
        .iter()
        .map(|ending| path.with_file_name(format!("{stem}{ending}")));
    let mut named = named.chain([path.to_owned()]);
    named.find_map(|path| beside(&path, files).filter(|path| crate::read::language::language_of(path).is_some()))
}

/// Returns the real path of the file at `path`, or of the only one whose name differs from it in case.
pub(crate) fn beside(path: &Path, files: &Files) -> Option<PathBuf> {
    if files.is_file(path) {
        return files.find(path).ok();
    }
    let name = path.file_name()?.to_str()?;
    let directory = path.parent()?;
    let listed = files.list(directory).ok()?;
    let mut same = listed
        .iter()
        .filter_map(|one| one.name.to_str())
        .filter(|one| one.eq_ignore_ascii_case(name));
    let only = same.next().filter(|_| same.next().is_none())?;
    let found = directory.join(only);
    if files.is_file(&found) {
        files.find(&found).ok()
    } else {
        None
    }
}
