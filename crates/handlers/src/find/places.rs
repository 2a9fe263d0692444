//! Paths that belong together: a build output and its source, an import and the file that it names.

use super::exports::{Token, tokens};
use super::search::{OUTPUTS, plain_name};
use crate::limits;
use crate::read::language::Language;
use source::files::{EntryKind, Files, clean};
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
            // An absolute import is below the code of the function, which contains the file, or in a layer.
            0 => directory
                .ancestors()
                .take(limits::MAX_TSCONFIG_EXTENDS)
                .find_map(python)
                .or_else(|| {
                    layered(directory, files, &|base| {
                        python(&base.join("python")).or_else(|| python(base))
                    })
                }),
            _ => python(directory.ancestors().nth(dots - 1)?),
        };
    }
    if from.starts_with('.') {
        return script(&clean(&directory.join(from)), files);
    }
    if let Some(rest) = from.strip_prefix("/opt/") {
        return layered(directory, files, &|base| script(&base.join(rest), files));
    }
    let above = || directory.ancestors().take_while(|above| files.contains(above));
    let config = above().map(|above| above.join("tsconfig.json"));
    let aliases = config.filter(|config| files.is_file(config)).take(1);
    let aliases = aliases.flat_map(|config| Compiler::read(&config, files).aliases);
    let found = aliases.into_iter().find_map(|(pattern, paths)| {
        let rest = match pattern.split_once('*') {
            Some((before, after)) => from.strip_prefix(before)?.strip_suffix(after)?,
            None => (pattern == from).then_some("")?,
        };
        let named = |path: &PathBuf| PathBuf::from(path.to_string_lossy().replacen('*', rest, 1));
        paths.iter().map(named).find_map(|path| script(&path, files))
    });
    found.or_else(|| above().find_map(|root| workspace(root, from, files)))
}

/// Returns the only file that `find` finds in a layer: in a directory next to one above, or in one of its own directories.
fn layered(directory: &Path, files: &Files, find: &dyn Fn(&Path) -> Option<PathBuf>) -> Option<PathBuf> {
    let children = |path: &Path, part: &str| -> Vec<PathBuf> {
        let listed = files.list(path).ok().into_iter().flatten();
        let is_named = |name: &str| name.to_ascii_lowercase().contains(part);
        let named = listed.filter(|one| one.kind == EntryKind::Directory && one.name.to_str().is_some_and(is_named));
        named
            .map(|one| path.join(&one.name))
            .take(limits::MAX_WORKSPACES)
            .collect()
    };
    let above = directory.ancestors().take_while(|above| files.contains(above));
    let layers: Vec<PathBuf> = above
        .take(limits::MAX_IMPORTS)
        .flat_map(|path| children(path, "layer"))
        .collect();
    let all = layers
        .iter()
        .flat_map(|layer| std::iter::once(layer.clone()).chain(children(layer, "")));
    let mut found: Vec<PathBuf> = all
        .take(limits::MAX_WORKSPACES)
        .filter_map(|base| find(&base))
        .collect();
    found.sort();
    found.dedup();
    found.pop().filter(|_| found.is_empty())
}

/// Returns the file that `from` names in the package of a workspace of the project at `root`, whose directory has the name
/// of the package, as is usual: other packages would have to be read for each import.
fn workspace(root: &Path, from: &str, files: &Files) -> Option<PathBuf> {
    let text = |path: PathBuf| String::from_utf8(files.read(&path, limits::MAX_TSCONFIG_SIZE).ok()?).ok();
    let package = text(root.join("package.json"))?;
    let mut patterns = Vec::new();
    let tokens = tokens(&package);
    let at = tokens.iter().position(|token| *token == Token::Text("workspaces"));
    let listed = tokens[at.unwrap_or(tokens.len())..]
        .iter()
        .skip_while(|token| **token != Token::Sign(b'['));
    patterns.extend(
        listed
            .take_while(|token| **token != Token::Sign(b']'))
            .filter_map(|token| match token {
                Token::Text(pattern) => Some((*pattern).to_owned()),
                _ => None,
            }),
    );
    let pnpm = text(root.join("pnpm-workspace.yaml")).unwrap_or_default();
    let items = pnpm.lines().filter_map(|line| line.trim().strip_prefix("- "));
    patterns.extend(items.map(|item| item.trim().trim_matches(['"', '\'']).to_owned()));
    let own = from
        .strip_prefix('@')
        .map_or(from, |scoped| scoped.split_once('/').map_or("", |(_, own)| own));
    let own = plain_name(own.split('/').next().unwrap_or(own));
    let directories = patterns.iter().take(limits::MAX_IMPORTS).flat_map(|pattern| {
        match pattern.trim_end_matches('/').split_once("/*") {
            Some((parent, _)) => {
                let listed = files.list(&root.join(parent)).ok().into_iter().flatten();
                listed.map(|one| root.join(parent).join(&one.name)).collect()
            }
            None => vec![root.join(pattern)],
        }
    });
    let is_named = |path: &PathBuf| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| plain_name(name) == own)
    };
    let mut directories = directories.take(limits::MAX_NAME_CANDIDATES).filter(is_named);
    directories.find_map(|directory| {
        let own = text(directory.join("package.json"))?;
        let tokens = self::tokens(&own);
        let value = |key: &str| {
            tokens.windows(3).find_map(|three| match three {
                [Token::Text(known), Token::Sign(b':'), Token::Text(value)] if *known == key => Some(*value),
                _ => None,
            })
        };
        let rest = from.strip_prefix(value("name")?)?;
        let below = |path: &str| script(&clean(&directory.join(path)), files);
        match rest.strip_prefix('/') {
            Some(rest) => below(rest).or_else(|| below(&format!("src/{rest}"))),
            None if rest.is_empty() => {
                let sources = ["source", "src/index", "index", "module", "main"];
                sources.iter().find_map(|key| below(value(key).unwrap_or(key)))
            }
            None => None,
        }
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
