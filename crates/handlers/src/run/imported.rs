//! Facts about functions that a source imports from other files: whether they return a promise, by the type that
//! TypeScript declares for the result or else by the returned values, and which records of an event they use.

use super::machine::Machine;
use super::scenario;
use super::values::Mask;
use crate::find::exports::{self, Defined, Token, tokens};
use crate::find::locate::{FoundSource, Located, Origin, read_source};
use crate::find::places::imported;
use crate::limits;
use crate::poll;
use crate::poll::constants::Constants;
use crate::read::language::{Language, language_of};
use crate::read::syntax::{Expression, Module, Statement, StatementKind, Term};
use crate::read::{python, script};
use crate::words::is_harmless;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Sources;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Types of which a value may be a promise.
const OPEN_TYPES: [&str; 6] = ["Awaited", "Promise", "PromiseLike", "ReturnType", "any", "unknown"];

/// Packages whose functions return no promise.
const PACKAGES: [&str; 7] = [
    "crypto",
    "date-fns",
    "date-fns-tz",
    "lodash",
    "node:crypto",
    "ulid",
    "uuid",
];

/// Returns the imports of the script `text` at `path` of which it is known whether they return a promise.
pub(crate) fn promises(path: &Path, text: &str, sources: &Sources) -> FxHashMap<Arc<str>, bool> {
    let tokens = tokens(text);
    let imports = exports::imports(&tokens).into_iter();
    let is_synchronous = |from: &str| PACKAGES.contains(&from.split('/').next().unwrap_or_default());
    let (packages, files): (Vec<_>, Vec<_>) = imports
        .filter(|(_, _, from)| from.starts_with('.') || is_synchronous(from))
        .take(limits::MAX_IMPORTS)
        .partition(|(_, _, from)| is_synchronous(from));
    let mut all: FxHashMap<Arc<str>, bool> = packages.into_iter().map(|(here, ..)| (here.into(), false)).collect();
    let files = files.into_iter().filter_map(|(here, there, from)| {
        let path = imported(path, from, Language::Script, sources.files())?;
        Some((here, there.to_owned(), path))
    });
    for (text, names) in by_file(files, sources) {
        let tokens = self::tokens(&text);
        let module = script::read(&text).ok();
        let results = module.as_ref().map(Results::of);
        let is_promise = |name: &str| {
            if declares_value(&tokens, name) {
                return Some(false);
            }
            results.as_ref().and_then(|results| results.are_promises(name))
        };
        let known = names
            .into_iter()
            .filter_map(|(here, there)| Some((here.into(), is_promise(&there)?)));
        all.extend(known);
    }
    all
}

/// Returns the records that the imported functions use, or return, of the event that the source `text` at `path` passes
/// to them; without those of which this is unknown.
pub(crate) fn records_used(path: &Path, text: &str, sources: &Sources) -> FxHashMap<Arc<str>, Mask> {
    let Some(language) = language_of(path) else {
        return FxHashMap::default();
    };
    let names = text.match_indices("(event").map(|(at, _)| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        text[..at].rsplit(|c| !is_part(c)).next().unwrap_or_default()
    });
    let names: FxHashSet<&str> = names
        .filter(|name| !name.is_empty())
        .take(limits::MAX_IMPORTS)
        .collect();
    let tokens = if language == Language::Script {
        tokens(text)
    } else {
        Vec::new()
    };
    let imports = exports::imports(&tokens);
    let files = names.into_iter().filter_map(|name| {
        let (from, there) = origin(text, language, name, &imports)?;
        Some((name, there, imported(path, &from, language, sources.files())?))
    });
    let mut all = FxHashMap::default();
    for (text, names) in by_file(files, sources) {
        let module = match language {
            Language::Python => python::read(&text),
            _ => script::read(&text),
        };
        let Ok(module) = module else { continue };
        let loaded = Machine::load(&module);
        let used = |(here, there): (&str, String)| Some((here.into(), scenario::records_used(&loaded, &there)?));
        all.extend(names.into_iter().filter_map(used));
    }
    all
}

/// Words of code that handles exceptions.
const CATCHES: [&str; 4] = ["except", "return_exceptions", "suppress", "Thread"];

/// Returns the files of the repository that the module at `path` imports, as written there, if their functions may handle
/// the failures of their calls: those with other imports or words of such code, and all scripts, which may not wait for a
/// promise.
pub(crate) fn own(path: &Path, module: &Module, sources: &Sources) -> FxHashSet<Arc<str>> {
    let Some(language) = language_of(path) else {
        return FxHashSet::default();
    };
    let files = sources.files();
    let is_file = |word: &&Arc<str>| word.starts_with("./") || word.starts_with("../");
    let required = module.words.iter().filter(is_file);
    let mut all: Vec<&Arc<str>> = required.chain(module.imports.values()).collect();
    all.sort_unstable();
    all.dedup();
    let may_catch = |path: &PathBuf| {
        let read = files.read(path, limits::MAX_SOURCE_SIZE);
        let Ok(text) = read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) else {
            return true;
        };
        let imports = text.lines().filter_map(|line| {
            let rest = line.strip_prefix("from ").or_else(|| line.strip_prefix("import "))?;
            rest.split([' ', ',']).next()
        });
        let mut imports = imports.take(limits::MAX_IMPORTS);
        module.is_script
            || CATCHES.iter().any(|word| text.contains(word))
            || imports.any(|from| imported(path, from, language, files).is_some())
    };
    let own = all.into_iter().take(limits::MAX_IMPORTS);
    let own = own.filter(|from| imported(path, from, language, files).is_some_and(|path| may_catch(&path)));
    own.cloned().collect()
}

/// Returns the file that the import `name` is from, and the name there.
fn origin(text: &str, language: Language, name: &str, imports: &[(&str, &str, &str)]) -> Option<(String, String)> {
    if let Defined::By(from, there) = exports::origin(text, language, name) {
        return Some((from, there));
    }
    let (_, there, from) = imports.iter().find(|(here, ..)| *here == name)?;
    Some(((*from).to_owned(), (*there).to_owned()))
}

/// Returns the source of the function that another source imports as `name`.
pub(crate) fn function(by: &Located, name: &str, sources: &Sources) -> Option<Located> {
    let language = by.languages.first()?;
    let tokens = tokens(&by.text);
    let (from, there) = origin(&by.text, *language, name, &exports::imports(&tokens))?;
    by.imported(&from, there, sources)
}

/// Returns the texts of the files that define imported functions, each with the names here and there. A file is parsed
/// once, even if much is imported from it.
fn by_file<'t>(
    imports: impl Iterator<Item = (&'t str, String, PathBuf)>,
    sources: &Sources,
) -> Vec<(Arc<str>, Vec<(&'t str, String)>)> {
    let mut all: BTreeMap<Origin, (Arc<str>, Vec<(&str, String)>)> = BTreeMap::new();
    let mut by_path: BTreeMap<PathBuf, Vec<(&str, String)>> = BTreeMap::new();
    for (here, there, path) in imports {
        by_path.entry(path).or_default().push((here, there));
    }
    for (path, mut names) in by_path {
        while let Some((here, there)) = names.pop() {
            let FoundSource::Source(found) = read_source(path.clone(), there, sources) else {
                continue;
            };
            let is_own = found.origin == Origin::File(path.clone()) && found.languages == [Language::Script];
            let (text, of_file) = all.entry(found.origin).or_insert_with(|| (found.text, Vec::new()));
            of_file.push((here, found.name));
            if is_own {
                // The other names that the file defines are not searched for one by one.
                let tokens = tokens(text);
                of_file.extend(names.extract_if(.., |(_, there)| !exports::is_from_elsewhere(&tokens, there)));
            }
        }
    }
    all.into_values().collect()
}

/// Returns `true` if the function `name` is declared with the type of a result that is no promise.
pub(crate) fn declares_value(tokens: &[Token<'_>], name: &str) -> bool {
    use Token::{Sign, Word};
    let signature = (0..tokens.len()).find_map(|at| match &tokens[at..] {
        [Word("function"), Word(found), rest @ ..] if *found == name => {
            (at == 0 || tokens[at - 1] != Word("async")).then_some(rest)
        }
        [Word("const"), Word(found), Sign(b'='), rest @ ..] if *found == name => Some(rest),
        _ => None,
    });
    let parameters = signature.filter(|rest| rest.first() == Some(&Sign(b'(')));
    let Some([Sign(b':'), result @ ..]) = parameters.and_then(exports::after_parentheses) else {
        return false;
    };
    // The type ends at the body or the arrow; that of an object is no promise.
    let is_end = |token: &Token<'_>| matches!(token, Sign(b'{' | b'='));
    let end = result.iter().take(exports::MAX_TYPE).position(is_end);
    let words = &result[..end.unwrap_or(0)];
    let is_open = |token: &Token<'_>| matches!(token, Word(word) if is_open_type(tokens, word));
    end.is_some() && !words.iter().any(is_open) && !words.is_empty()
}

/// Returns `true` if a value of the type `name` may be a promise, by its name or its declaration in `tokens`.
fn is_open_type(tokens: &[Token<'_>], name: &str) -> bool {
    use Token::{Sign, Word};
    let is_end = |token: &Token<'_>| {
        matches!(
            token,
            Sign(b';' | b'{') | Word("class" | "const" | "export" | "function" | "interface" | "type")
        )
    };
    let is_open = |token: &Token<'_>| matches!(token, Word(word) if OPEN_TYPES.contains(word));
    let declares_open = |at: usize| match &tokens[at..] {
        [Word("type" | "interface"), Word(found), rest @ ..] if *found == name => {
            rest.iter().take_while(|token| !is_end(token)).any(is_open)
        }
        _ => false,
    };
    OPEN_TYPES.contains(&name) || (0..tokens.len()).any(declares_open)
}

/// Results of the functions in a script.
struct Results<'m> {
    loaded: Machine<'m>,
    constants: Constants<'m>,
}

impl<'m> Results<'m> {
    fn of(module: &'m Module) -> Self {
        Results {
            loaded: Machine::load(module),
            constants: poll::constants(module),
        }
    }

    /// Returns whether the function `name` returns promises, or `None` if this is unknown.
    fn are_promises(&self, name: &str) -> Option<bool> {
        let function = scenario::function(&self.loaded, name)?;
        let mut returned = Vec::new();
        add_returned(&function.body, &mut returned);
        let is_plain = |value: &&Expression| is_plain(value, &self.constants, 0);
        let is_value = !function.is_async && returned.iter().all(is_plain);
        (!function.is_generator && (function.is_async || is_value)).then_some(function.is_async)
    }
}

/// Adds the values that a function with this body returns.
fn add_returned<'m>(body: &'m [Statement], returned: &mut Vec<&'m Expression>) {
    for statement in body {
        match &statement.kind {
            StatementKind::Return(value) => returned.extend(value),
            _ => statement
                .bodies()
                .into_iter()
                .for_each(|body| add_returned(body, returned)),
        }
    }
}

/// Returns `true` if `value` is certainly no promise.
fn is_plain(value: &Expression, constants: &Constants<'_>, depth: usize) -> bool {
    if depth > limits::MAX_CONSTANT_HOPS {
        return false;
    }
    let is_plain = |value: &Expression| is_plain(value, constants, depth + 1);
    match &value.kind {
        Term::Text(_)
        | Term::Number(_)
        | Term::Bool(_)
        | Term::Null
        | Term::Nil
        | Term::Object(_)
        | Term::List(_)
        | Term::Not(_)
        | Term::Binary(..) => true,
        Term::If(parts) => is_plain(&parts[1]) && is_plain(&parts[2]),
        Term::Logic(_, parts) => parts.iter().all(is_plain),
        // `get` may be a request.
        Term::Call { callee, is_new, .. } if !is_new => {
            is_harmless(callee) && !matches!(callee.last_name(), Some("get" | "sleep"))
        }
        Term::Name(name) => constants.value(name).is_some_and(is_plain),
        _ => false,
    }
}
