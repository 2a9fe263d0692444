//! Reads which files bundlers start from and what they build of each: webpack's entry map, and the entry points of
//! esbuild in a script or a command of `package.json`.
//!
//! ```text
//! webpack.config.js   entry: { orders: "./src/sqs/orders.ts" }, output: { filename: "[name]/index.js" }
//! package.json        "build": "esbuild src/refunds.ts --bundle --outfile=dist/refunds/index.js"
//!   dist/orders.zip, index.handler    src/sqs/orders.ts
//!   dist/refunds/index.handler        src/refunds.ts
//! ```

use super::exports::{Token, tokens};
use super::places::imported;
use crate::limits;
use crate::read::language::Language;
use source::files::{Files, clean};
use std::path::{Path, PathBuf};

/// A file that a bundler starts from, and what it builds of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bundle {
    source: PathBuf,
    /// Directory of the configuration.
    project: PathBuf,
    /// Directory of the output.
    output: PathBuf,
    /// Path in the output, without ending.
    name: PathBuf,
}

/// Returns `true` for files that may configure a bundler.
pub(crate) fn is_configuration(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_script = matches!(name.rsplit_once('.'), Some((_, "js" | "ts" | "cjs" | "mjs")));
    name == "package.json"
        || is_script
            && ["webpack", "esbuild", "build", "bundle"]
                .iter()
                .any(|start| name.starts_with(start))
}

/// Returns the bundles that the configurations at `paths` describe.
pub(crate) fn read(paths: &[PathBuf], files: &Files) -> Vec<Bundle> {
    let mut all = Vec::new();
    let mut most = limits::MAX_BUNDLERS;
    for path in paths.iter().take(limits::MAX_BUNDLERS) {
        let Some(text) = files
            .read(path, limits::MAX_TSCONFIG_SIZE)
            .ok()
            .and_then(|text| String::from_utf8(text).ok())
        else {
            continue;
        };
        let project = path.parent().unwrap_or(path);
        let tokens = tokens(&text);
        let found = if path.ends_with("package.json") {
            commands(&tokens)
        } else {
            configured(&tokens, &mut most)
        };
        for entry in found {
            // An entry point is relative to the project, with `./` or without. A script may be in a folder of it.
            let from = format!("./{}", entry.source.trim_start_matches("./"));
            let found = project.ancestors().take(2).find_map(|project| {
                let source = imported(&project.join("package.json"), &from, Language::Script, files)?;
                Some((project, source))
            });
            if let Some((project, source)) = found
                && all.len() < limits::MAX_BUNDLES
            {
                all.push(Bundle {
                    source,
                    project: project.to_owned(),
                    output: clean(&project.join(entry.output)),
                    name: entry.name.into(),
                });
            }
        }
    }
    all
}

/// Returns the only file that `whole` is built from, which has no ending: by its path, or by its end.
///
/// The end decides only for a bundle of the same directory, or of one around or below it: `apps/a/dist/orders` is not
/// what `apps/b` builds.
pub(crate) fn source_of(whole: &Path, bundles: &[Bundle], files: &Files) -> Option<PathBuf> {
    let only = |found: Vec<&Bundle>| {
        let first = &found.first()?.source;
        found.iter().all(|one| one.source == *first).then(|| first.clone())
    };
    let is_distinct = |one: &&Bundle| {
        let is_common = ["app", "handler", "index", "lambda", "main"]
            .iter()
            .any(|name| one.name == Path::new(name));
        !is_common && whole.ends_with(&one.name)
    };
    let exact: Vec<&Bundle> = bundles
        .iter()
        .filter(|one| one.output.join(&one.name) == *whole)
        .collect();
    if !exact.is_empty() {
        return only(exact);
    }
    let own = (whole.ancestors().skip(1)).find(|path| path.is_absolute() && files.is_directory(path));
    let is_related =
        |one: &&Bundle| own.is_none_or(|own| one.project.starts_with(own) || own.starts_with(&one.project));
    let ending: Vec<&Bundle> = bundles.iter().filter(is_distinct).filter(is_related).collect();
    let (near, far): (Vec<&Bundle>, Vec<&Bundle>) = ending.into_iter().partition(|one| whole.starts_with(&one.project));
    only(if near.is_empty() { far } else { near })
}

/// An entry point as written.
struct Entry {
    source: String,
    output: String,
    name: String,
}

/// Reads the objects with `entry` or `entryPoints` in a script, `most` at most: each is searched for its braces.
fn configured(tokens: &[Token<'_>], most: &mut usize) -> Vec<Entry> {
    let mut all = Vec::new();
    for at in 0..tokens.len() {
        let (Token::Word(key) | Token::Text(key)) = tokens[at] else {
            continue;
        };
        // `const entries = { … }; return { entry: entries }`: the output is described elsewhere in the file.
        let is_variable = matches!(key, "entries" | "entry" | "entryPoints")
            && tokens.get(at + 1) == Some(&Token::Sign(b'='))
            && tokens.get(at + 2) == Some(&Token::Sign(b'{'));
        let is_setting = matches!(key, "entry" | "entryPoints") && tokens.get(at + 1) == Some(&Token::Sign(b':'));
        if !is_variable && !is_setting {
            continue;
        }
        let Some(left) = most.checked_sub(1) else { break };
        *most = left;
        let settings = if is_variable { tokens } else { around(tokens, at) };
        let value = &tokens[at + 2..];
        let entries = match value.first() {
            Some(Token::Sign(b'{')) => pairs(inside(value)),
            Some(Token::Sign(b'[')) if key == "entryPoints" => listed(inside(value)),
            Some(Token::Text(source)) => match value_of(settings, "name").filter(|_| !has(settings, "output")) {
                // An element of the script's own list: `{ name: "orders", entry: "src/orders.ts" }`.
                Some(name) => [name.clone(), format!("{name}/index")]
                    .map(|name| (Some(name), (*source).to_owned()))
                    .into(),
                None => vec![(Some("main".to_owned()), (*source).to_owned())],
            },
            _ => continue,
        };
        if key == "entry" || key == "entries" {
            let output = value_of(settings, "path").unwrap_or_else(|| "dist".to_owned());
            let name = value_of(settings, "filename").unwrap_or_else(|| "[name].js".to_owned());
            all.extend(entries.into_iter().filter_map(|(entry, source)| {
                let name = without_ending(&name.replace("[name]", &entry?));
                (!name.contains('[')).then_some(Entry {
                    source,
                    output: output.clone(),
                    name,
                })
            }));
        } else {
            let setting = |key| value_of(settings, key);
            all.extend(outputs(
                entries,
                setting("outdir"),
                setting("outfile"),
                setting("outbase"),
            ));
        }
        if all.len() > limits::MAX_BUNDLES {
            break;
        }
    }
    all
}

/// Reads the commands of esbuild in the scripts of a `package.json`.
fn commands(tokens: &[Token<'_>]) -> Vec<Entry> {
    let mut all = Vec::new();
    for token in tokens {
        let Token::Text(text) = token else { continue };
        for command in text.split(['&', ';', '|']) {
            let mut words = command
                .split_whitespace()
                .map(|word| word.trim_matches(['\\', '"', '\'']));
            if !words.any(|word| word == "esbuild") {
                continue;
            }
            let (mut entries, mut settings) = (Vec::new(), [None, None, None]);
            for word in words {
                match word.strip_prefix("--") {
                    Some(option) => {
                        for (at, key) in ["outdir=", "outfile=", "outbase="].iter().enumerate() {
                            settings[at] = option.strip_prefix(key).map(str::to_owned).or(settings[at].take());
                        }
                    }
                    None => entries.push(match word.split_once('=') {
                        Some((name, source)) => (Some(name.to_owned()), source.to_owned()),
                        None => (None, word.to_owned()),
                    }),
                }
            }
            let [directory, file, base] = settings;
            all.extend(outputs(entries, directory, file, base));
        }
    }
    all
}

/// Returns what esbuild builds of its entry points: their paths below their common directory, in the output directory.
fn outputs(
    mut entries: Vec<(Option<String>, String)>,
    directory: Option<String>,
    file: Option<String>,
    base: Option<String>,
) -> Vec<Entry> {
    entries.retain(|(_, source)| !source.contains('*'));
    let plain = |path: &str| PathBuf::from(path.trim_start_matches("./"));
    let parents = entries
        .iter()
        .map(|(_, source)| plain(source).parent().map(Path::to_owned).unwrap_or_default());
    let common = parents.reduce(|common, one| {
        let same = common
            .components()
            .zip(one.components())
            .take_while(|(left, right)| left == right);
        same.map(|(left, _)| left).collect()
    });
    let base = base.map(|base| plain(&base)).or(common).unwrap_or_default();
    let entries = entries.into_iter().filter_map(|(name, source)| {
        let (output, name) = match (&file, &directory) {
            (Some(file), _) => (String::new(), without_ending(file.trim_start_matches("./"))),
            (None, Some(directory)) => {
                let own = || Some(plain(&source).strip_prefix(&base).ok()?.to_str()?.to_owned());
                (
                    directory.clone(),
                    name.or_else(|| own().map(|own| without_ending(&own)))?,
                )
            }
            (None, None) => return None,
        };
        Some(Entry { source, output, name })
    });
    entries.collect()
}

/// Removes the extension of a script.
fn without_ending(name: &str) -> String {
    let endings = [".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx"];
    let plain = endings.iter().find_map(|ending| name.strip_suffix(ending));
    plain.unwrap_or(name).to_owned()
}

/// Returns the tokens of the object that contains the one at `at`, from its brace on.
fn around<'a, 't>(tokens: &'a [Token<'t>], at: usize) -> &'a [Token<'t>] {
    let mut depth = 0;
    let open = tokens[..at].iter().rposition(|token| {
        match token {
            Token::Sign(b'}') => depth += 1,
            Token::Sign(b'{') => depth -= 1,
            _ => {}
        }
        depth < 0
    });
    inside(&tokens[open.unwrap_or(0)..])
}

/// Returns the tokens between the bracket that `tokens` begin with and the one that closes it.
fn inside<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        match token {
            Token::Sign(b'{' | b'[' | b'(') => depth += 1,
            Token::Sign(b'}' | b']' | b')') => depth -= 1,
            _ => {}
        }
        depth <= 0
    });
    tokens.get(1..end.unwrap_or(tokens.len())).unwrap_or_default()
}

/// Splits tokens at the commas outside of brackets.
fn parts<'a, 't>(tokens: &'a [Token<'t>]) -> Vec<&'a [Token<'t>]> {
    let mut depth = 0;
    let parts = tokens.split(|token| {
        match token {
            Token::Sign(b'{' | b'[' | b'(') => depth += 1,
            Token::Sign(b'}' | b']' | b')') => depth -= 1,
            _ => {}
        }
        depth == 0 && *token == Token::Sign(b',')
    });
    parts.collect()
}

/// Returns the path that a value names: a text, the last one of a list, or the texts that `path.resolve` joins.
fn path_in(value: &[Token<'_>]) -> Option<String> {
    let mut texts = value.iter().filter_map(|token| match token {
        Token::Text(text) => Some(*text),
        _ => None,
    });
    match value.first()? {
        Token::Word(_) => {
            let joined = texts.collect::<Vec<_>>().join("/");
            (!joined.is_empty()).then_some(joined)
        }
        _ => texts.next_back().map(str::to_owned),
    }
}

/// Returns the keys and paths of an object.
fn pairs(tokens: &[Token<'_>]) -> Vec<(Option<String>, String)> {
    let pair = |part: &[Token<'_>]| match part {
        [Token::Word(key) | Token::Text(key), Token::Sign(b':'), value @ ..] => {
            Some((Some((*key).to_owned()), path_in(value)?))
        }
        _ => None,
    };
    parts(tokens).into_iter().filter_map(pair).collect()
}

/// Returns the paths in a list, or its objects with `in` and `out`.
fn listed(tokens: &[Token<'_>]) -> Vec<(Option<String>, String)> {
    let entry = |part: &[Token<'_>]| match part {
        [Token::Sign(b'{'), ..] => {
            let pairs = pairs(inside(part));
            let value = |name: &str| {
                pairs
                    .iter()
                    .find(|(key, _)| key.as_deref() == Some(name))
                    .map(|(_, value)| value.clone())
            };
            Some((value("out"), value("in")?))
        }
        part => Some((None, path_in(part)?)),
    };
    parts(tokens).into_iter().filter_map(entry).collect()
}

/// Returns the position of `key` in an object, or in an object within it.
fn position(tokens: &[Token<'_>], key: &str) -> Option<usize> {
    tokens
        .windows(2)
        .position(|pair| pair[1] == Token::Sign(b':') && (pair[0] == Token::Word(key) || pair[0] == Token::Text(key)))
}

fn has(tokens: &[Token<'_>], key: &str) -> bool {
    position(tokens, key).is_some()
}

/// Returns the path that `key` has in an object, or in an object within it.
fn value_of(tokens: &[Token<'_>], key: &str) -> Option<String> {
    path_in(parts(&tokens[position(tokens, key)? + 2..]).first()?)
}

#[cfg(test)]
mod tests {
    use super::{Entry, commands, configured};
    use crate::find::exports::tokens;

    fn shown(entries: Vec<Entry>) -> Vec<String> {
        let shown = |one: Entry| format!("{} -> {}/{}", one.source, one.output, one.name);
        entries.into_iter().map(shown).collect()
    }

    #[test]
    fn entries_of_webpack_are_read() {
        for (text, expected) in [
            (
                "module.exports = { entry: { a: './src/a.ts', 'b-c': ['./p.js', './src/b.ts'] }, output: { filename: '[name]/index.js' } }",
                vec!["./src/a.ts -> dist/a/index", "./src/b.ts -> dist/b-c/index"],
            ),
            (
                "export default { output: { path: path.resolve(__dirname, 'out'), filename: '[name].js' }, entry: { a: path.join('src', 'a.ts') } }",
                vec!["src/a.ts -> out/a"],
            ),
            (
                "module.exports = { entry: './src/a.ts' }",
                vec!["./src/a.ts -> dist/main"],
            ),
            (
                "module.exports = [{ entry: { a: './a' }, output: { path: 'x' } }, { entry: { b: './b' }, output: { path: 'y' } }]",
                vec!["./a -> x/a", "./b -> y/b"],
            ),
            (
                "module.exports = { entry: { a: './a.ts' }, output: { filename: '[name].[contenthash].js' } }",
                vec![],
            ),
            (
                "for (const one of [{ name: 'a', entry: 'src/a/app.ts' }, { entry: 'src/b.ts', name: 'b' }]) build(one)",
                vec![
                    "src/a/app.ts -> dist/a",
                    "src/a/app.ts -> dist/a/index",
                    "src/b.ts -> dist/b",
                    "src/b.ts -> dist/b/index",
                ],
            ),
            (
                "module.exports = { name: 'a', entry: './src/a.ts', output: { filename: 'x.js' } }",
                vec!["./src/a.ts -> dist/x"],
            ),
            (
                "const pick = (env) => { const entries = { a: './src/a.ts' }; return env.only ? { [env.only]: entries[env.only] } : entries };\nmodule.exports = (env) => ({ entry: pick(env), output: { filename: '[name].js', path: path.join(__dirname, 'out') } })",
                vec!["./src/a.ts -> out/a"],
            ),
            ("module.exports = { entry: glob.sync('src/*.ts') }", vec![]),
            ("entry: {{{[[", vec![]),
        ] {
            assert_eq!(shown(configured(&tokens(text), &mut 9)), expected, "{text}");
        }
    }

    #[test]
    fn entry_points_of_esbuild_are_read() {
        for (text, expected) in [
            (
                "build({ entryPoints: ['src/a/x.ts', 'src/b/y.ts'], outdir: 'dist' })",
                vec!["src/a/x.ts -> dist/a/x", "src/b/y.ts -> dist/b/y"],
            ),
            (
                "build({ entryPoints: { a: 'src/x.ts' }, outdir: 'dist' })",
                vec!["src/x.ts -> dist/a"],
            ),
            (
                "build({ entryPoints: [{ in: 'src/x.ts', out: 'a/index' }], outdir: 'dist' })",
                vec!["src/x.ts -> dist/a/index"],
            ),
            (
                "build({ entryPoints: ['./src/x.ts'], outfile: './dist/a/index.mjs' })",
                vec!["./src/x.ts -> /dist/a/index"],
            ),
            ("build({ entryPoints: ['src/*.ts'], outdir: 'dist' })", vec![]),
            ("build({ entryPoints: ['src/x.ts'] })", vec![]),
        ] {
            assert_eq!(shown(configured(&tokens(text), &mut 9)), expected, "{text}");
        }
        let package = r#"{"scripts": {"build": "rm -rf dist && npx esbuild src/a.ts --bundle --outfile=dist/a/index.js && esbuild \"src/b.ts\" c=src/x.ts --outdir=out"}}"#;
        assert_eq!(
            shown(commands(&tokens(package))),
            ["src/a.ts -> /dist/a/index", "src/b.ts -> out/b", "src/x.ts -> out/c"]
        );
    }
}
