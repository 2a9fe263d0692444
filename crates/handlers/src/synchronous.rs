//! Finds imported functions of a script that return no promise, by the types that TypeScript declares for their results.
//! Only the signature is read.

use super::exports::{self, Defined, Token, tokens};
use super::locate::Language;
use super::places::imported;
use crate::limits;
use rustc_hash::FxHashSet;
use source::files::Files;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Types of which a value may be a promise.
const OPEN_TYPES: [&str; 6] = ["Awaited", "Promise", "PromiseLike", "ReturnType", "any", "unknown"];

/// Returns the names of such functions among the imports of the script `text` at `path`.
pub(super) fn functions(path: &Path, text: &str, files: &Files) -> FxHashSet<Arc<str>> {
    let tokens = tokens(text);
    let imports = exports::imports(&tokens);
    let imports = imports.iter().filter(|(_, _, from)| from.starts_with('.'));
    imports
        .take(limits::MAX_IMPORTS)
        .filter(|(_, there, from)| {
            imported(path, from, Language::Script, files).is_some_and(|path| is_synchronous(path, there, files))
        })
        .map(|(here, ..)| (*here).into())
        .collect()
}

/// Returns `true` if the file at `path` exports the function `name`, or takes it from another file, without a promise.
fn is_synchronous(mut path: PathBuf, name: &str, files: &Files) -> bool {
    let mut name = name.to_owned();
    for _ in 0..limits::MAX_EXPORT_HOPS {
        let Ok(Ok(text)) = files.read(&path, limits::MAX_SOURCE_SIZE).map(String::from_utf8) else {
            return false;
        };
        match exports::origin(&text, Language::Script, &name) {
            Defined::Here => return declares_value(&tokens(&text), &name),
            Defined::By(from, there) => {
                let Some(next) = imported(&path, &from, Language::Script, files) else {
                    return false;
                };
                (path, name) = (next, there);
            }
            Defined::Among(_) | Defined::Nowhere => return false,
        }
    }
    false
}

/// Returns `true` if the function `name` is declared with the type of a result that is no promise.
fn declares_value(tokens: &[Token<'_>], name: &str) -> bool {
    use Token::{Sign, Word};
    let signature = (0..tokens.len()).find_map(|at| match &tokens[at..] {
        [Word("function"), Word(found), rest @ ..] if *found == name => {
            (at == 0 || tokens[at - 1] != Word("async")).then_some(rest)
        }
        [Word("const"), Word(found), Sign(b'='), rest @ ..] if *found == name => Some(rest),
        _ => None,
    });
    let Some([Sign(b'('), rest @ ..]) = signature else {
        return false;
    };
    let mut depth = 1;
    let end = rest.iter().position(|token| {
        match token {
            Sign(b'(') => depth += 1,
            Sign(b')') => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let Some([Sign(b':'), result @ ..]) = end.and_then(|end| rest.get(end + 1..)) else {
        return false;
    };
    // The type ends at the body or the arrow; that of an object is no promise.
    let end = result.iter().position(|token| matches!(token, Sign(b'{' | b'=')));
    let words = &result[..end.unwrap_or(0)];
    let is_open = |token: &Token<'_>| matches!(token, Word(word) if OPEN_TYPES.contains(word));
    end.is_some() && !words.iter().any(is_open) && !words.is_empty()
}
