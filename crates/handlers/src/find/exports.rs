//! Answers one question about a file without parsing it: does it define a name, or take it from another file? A linear
//! scan of its tokens suffices, since the answer only decides which file is read next.
//!
//! ```text
//! export { handler } from "./orders";     another file: ./orders
//! exports.handler = middy(run);           this file
//! from .orders import process as handler  another file: .orders, as `process`
//! ```

use crate::read::language::Language;

/// Maximum number of tokens of a type that is read.
pub(crate) const MAX_TYPE: usize = 16;

/// Origin of a name in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Defined {
    Here,
    /// Another file, with the name in it.
    By(String, String),
    /// Files of which it takes all names; one of them may define it.
    Among(Vec<String>),
    Nowhere,
}

/// Returns the origin of `name` in `text`.
pub(crate) fn origin(text: &str, language: Language, name: &str) -> Defined {
    match language {
        Language::Python => python(text, name),
        Language::Script => script(&tokens(text), name),
        Language::Go if is_program(text) => Defined::Here,
        Language::Go => Defined::Nowhere,
        // The file has the name of the class.
        Language::Java | Language::CSharp | Language::Other(_) => Defined::Here,
    }
}

/// Returns `true` if a script may take `name` from another file.
pub(crate) fn is_from_elsewhere(tokens: &[Token<'_>], name: &str) -> bool {
    matches!(script(tokens, name), Defined::By(..) | Defined::Among(_))
}

/// Returns `true` if `text` is the main file of a program in Go.
pub(crate) fn is_program(text: &str) -> bool {
    let all = tokens(text);
    let has = |first, second| {
        all.windows(2)
            .any(|pair| *pair == [Token::Word(first), Token::Word(second)])
    };
    has("package", "main") && has("func", "main")
}

/// A token of JavaScript, TypeScript, Go or JSON with comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    Word(&'t str),
    /// A text, as written between the quotes.
    Text(&'t str),
    Sign(u8),
}

/// Splits `text` into tokens, without comments.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte >= 0x80;
    let until = |from: usize, end: &[u8]| {
        let found = memchr::memmem::find(&bytes[from..], end);
        found.map_or(bytes.len(), |found| from + found + end.len())
    };
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match (byte, bytes.get(at + 1)) {
            (b'/', Some(b'/')) => at = until(at, b"\n"),
            (b'/', Some(b'*')) => at = until(at + 2, b"*/"),
            (b'"' | b'\'' | b'`', _) => {
                let start = at + 1;
                at = start;
                // Only a template continues after the end of its line.
                while let Some(&inner) = bytes.get(at).filter(|inner| **inner != byte) {
                    if inner == b'\n' && byte != b'`' {
                        break;
                    }
                    at += if inner == b'\\' { 2 } else { 1 };
                }
                all.extend(text.get(start..at.min(bytes.len())).map(Token::Text));
                at += 1;
            }
            _ if is_word(&byte) => {
                let length = bytes[at..].iter().take_while(|byte| is_word(byte)).count();
                all.extend(text.get(at..at + length).map(Token::Word));
                at += length;
            }
            _ => {
                if !byte.is_ascii_whitespace() {
                    all.push(Token::Sign(byte));
                }
                at += 1;
            }
        }
    }
    all
}

/// Returns the imports of a script: the name here, the name there, and the file.
pub(crate) fn imports<'t>(tokens: &[Token<'t>]) -> Vec<(&'t str, &'t str, &'t str)> {
    use Token::{Sign, Text, Word};
    let mut all = Vec::new();
    for at in 0..tokens.len() {
        match &tokens[at..] {
            [Word("import"), Sign(b'{'), inner @ ..] | [Word("import"), Word("type"), Sign(b'{'), inner @ ..] => {
                if let (names, Some(from)) = clause(inner) {
                    all.extend(names.into_iter().map(|(there, here)| (here, there, from)));
                }
            }
            [Word("import"), Word(local), Word("from"), Text(from), ..] => all.push((local, "default", from)),
            // `const { run } = require("./orders")`, `const run = require("./orders").run`
            [Word("const" | "let" | "var"), Sign(b'{'), inner @ ..] => {
                let end = end_of_braces(inner);
                if let Some([Sign(b'='), value @ ..]) = inner.get(end + 1..)
                    && let Some((from, None)) = required(value)
                {
                    let names = clause(inner).0.into_iter();
                    all.extend(names.map(|(there, here)| (here, there, from)));
                }
            }
            [Word("const" | "let" | "var"), Word(local), Sign(b'='), value @ ..] => {
                all.extend(required(value).map(|(from, there)| (*local, there.unwrap_or("default"), from)));
            }
            _ => {}
        }
    }
    all
}

/// Returns the function whose result a script exports as `name`, with its file: `export const name = create(parts)`.
pub(crate) fn factory(text: &str, name: &str) -> Option<(String, String)> {
    let tokens = tokens(text);
    match assigned(&tokens, &imports(&tokens), name, true)? {
        (from, there, true) => Some((from.to_owned(), there.to_owned())),
        _ => None,
    }
}

/// Returns the import that a script exports as `name`, or assigns to that variable: the file, the name there, and
/// whether the import is called.
fn assigned<'t>(
    tokens: &[Token<'t>],
    imports: &[(&'t str, &'t str, &'t str)],
    name: &str,
    is_exported: bool,
) -> Option<(&'t str, &'t str, bool)> {
    use Token::{Sign, Word};
    let declared = (0..tokens.len()).find_map(|at| match &tokens[at..] {
        [Word("export"), Word("const" | "let" | "var"), Word(found), ..]
        | [Word("exports"), Sign(b'.'), Word(found), Sign(b'='), ..]
            if *found == name =>
        {
            tokens.get(at + 3..)
        }
        [Word("const" | "let" | "var"), Word(found), rest @ ..] if !is_exported && *found == name => {
            (!is_assigned_again(rest, name)).then_some(rest)
        }
        _ => None,
    })?;
    // A type may precede the value.
    let value = declared.iter().take(MAX_TYPE).position(|token| *token == Sign(b'='))?;
    let [Word(local), after @ ..] = &declared[value + 1..] else {
        return None;
    };
    let (_, there, from) = imports.iter().find(|(here, ..)| here == local)?;
    let is_end = |next: Option<&Token<'_>>| matches!(next, None | Some(Sign(b';') | Word(_)));
    if after.first() != Some(&Sign(b'(')) {
        return is_end(after.first()).then_some((from, there, false));
    }
    let rest = after_parentheses(after)?;
    is_end(rest.first()).then_some((from, there, true))
}

/// Returns `true` if a variable is assigned in the tokens after its declaration.
fn is_assigned_again(after: &[Token<'_>], name: &str) -> bool {
    let mut pairs = after.windows(2);
    pairs.any(|pair| *pair == [Token::Word(name), Token::Sign(b'=')])
}

/// Returns the tokens after the parentheses that `tokens` begin with.
pub(crate) fn after_parentheses<'a, 't>(tokens: &'a [Token<'t>]) -> Option<&'a [Token<'t>]> {
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        match token {
            Token::Sign(b'(') => depth += 1,
            Token::Sign(b')') => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    tokens.get(end + 1..)
}

fn script(tokens: &[Token<'_>], name: &str) -> Defined {
    use Token::{Sign, Text, Word};
    let mut all_of = Vec::new();
    let mut is_here = false;
    let imports = imports(tokens);
    if let Some((from, there, false)) = assigned(tokens, &imports, name, true) {
        return Defined::By(from.to_owned(), there.to_owned());
    }
    for at in 0..tokens.len() {
        let rest = &tokens[at..];
        match rest {
            [Word("export"), Sign(b'{'), inner @ ..] => {
                let (names, from) = clause(inner);
                if let Some((there, _)) = names.into_iter().find(|(_, here)| *here == name) {
                    // Without a file, it may be an import.
                    let imported = imports.iter().find(|(local, ..)| from.is_none() && *local == there);
                    let imported = imported.map(|(_, there, from)| (*from, *there, false));
                    let imported = imported.or_else(|| assigned(tokens, &imports, there, false));
                    let imported = imported.and_then(|(from, there, called)| (!called).then_some((from, there)));
                    let origin = from.map(|from| (from, there)).or(imported);
                    return origin.map_or(Defined::Here, |(from, there)| {
                        Defined::By(from.to_owned(), there.to_owned())
                    });
                }
            }
            [Word("export"), Sign(b'*'), Word("from"), Text(from), ..] => all_of.push((*from).to_owned()),
            // `module.exports = require("./orders")`
            [Word("exports"), Sign(b'='), value @ ..] if let Some((from, None)) = required(value) => {
                all_of.push(from.to_owned());
            }
            // `exports.handler = require("./orders").run`
            [Word("exports"), Sign(b'.'), Word(here), Sign(b'='), value @ ..] if here == &name => {
                return match required(value) {
                    Some((from, Some(there))) => Defined::By(from.to_owned(), there.to_owned()),
                    _ => Defined::Here,
                };
            }
            [Word("export"), Word("default"), ..] if name == "default" => return Defined::Here,
            [Word("exports"), Sign(b'='), Sign(b'{'), inner @ ..] => {
                is_here |= inner[..end_of_braces(inner)].contains(&Word(name));
            }
            [Word("export"), declared @ ..] if declared.iter().take(4).any(|token| *token == Word(name)) => {
                is_here |= declares(declared, name);
            }
            _ => {}
        }
    }
    match (is_here, all_of.is_empty()) {
        (true, _) => Defined::Here,
        (false, false) => Defined::Among(all_of),
        (false, true) => Defined::Nowhere,
    }
}

/// Reads `require("./orders").run`: the file, and the name in it if there is one.
fn required<'t>(value: &[Token<'t>]) -> Option<(&'t str, Option<&'t str>)> {
    use Token::{Sign, Text, Word};
    match value {
        [
            Word("require"),
            Sign(b'('),
            Text(from),
            Sign(b')'),
            Sign(b'.'),
            Word(there),
            ..,
        ] => Some((from, Some(there))),
        [Word("require"), Sign(b'('), Text(from), Sign(b')'), ..] => Some((from, None)),
        _ => None,
    }
}

/// Returns `true` if the declaration after `export` declares `name`.
fn declares(declared: &[Token<'_>], name: &str) -> bool {
    let kinds = ["async", "class", "const", "function", "let", "var", "abstract"];
    let mut tokens = declared
        .iter()
        .skip_while(|token| matches!(token, Token::Word(word) if kinds.contains(word)) || **token == Token::Sign(b'*'));
    tokens.next() == Some(&Token::Word(name))
}

/// Returns the number of tokens before the next brace. An opening one ends a list of names, too: otherwise a file of
/// `export {` would be read to its end for each of them.
fn end_of_braces(inner: &[Token<'_>]) -> usize {
    let is_brace = |token: &Token<'_>| matches!(token, Token::Sign(b'{' | b'}'));
    inner.iter().position(is_brace).unwrap_or(inner.len())
}

/// Reads `a, b as c } from "./x"`: the names there and here, and the other file.
fn clause<'t>(inner: &[Token<'t>]) -> (Vec<(&'t str, &'t str)>, Option<&'t str>) {
    let end = end_of_braces(inner);
    let parts = inner[..end].split(|token| *token == Token::Sign(b','));
    let names = parts.filter_map(|part| match part {
        [Token::Word(name)] => Some((*name, *name)),
        [
            Token::Word(there),
            Token::Word("as") | Token::Sign(b':'),
            Token::Word(here),
        ] => Some((*there, *here)),
        _ => None,
    });
    let from = match inner.get(end + 1..) {
        Some([Token::Word("from"), Token::Text(from), ..]) => Some(*from),
        _ => None,
    };
    (names.collect(), from)
}

/// Searches the statements of a module in Python that are not indented. The last one that binds the name decides.
fn python(text: &str, name: &str) -> Defined {
    let mut found = Defined::Nowhere;
    let mut all_of = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some((from, imported)) = line.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
            let mut imported = imported.split('#').next().unwrap_or_default().trim().to_owned();
            if imported.starts_with('(') {
                let mut is_open = !imported.contains(')');
                while is_open && let Some(line) = lines.next() {
                    let line = line.split('#').next().unwrap_or_default().trim();
                    is_open = !line.contains(')');
                    imported.push_str(line);
                }
            }
            for one in imported.trim_matches(['(', ')', ' ']).split(',').map(str::trim) {
                let (there, here) = one.split_once(" as ").unwrap_or((one, one));
                if one == "*" {
                    all_of.push(from.trim().to_owned());
                } else if here.trim() == name {
                    found = Defined::By(from.trim().to_owned(), there.trim().to_owned());
                }
            }
            continue;
        }
        let declared = ["async def ", "def ", "class ", ""]
            .iter()
            .find_map(|kind| line.strip_prefix(kind));
        let rest = declared.and_then(|rest| rest.strip_prefix(name)).map(str::trim_start);
        // `run = run` only shows that an import is used.
        let is_itself = |rest: &str| rest.strip_prefix('=').is_some_and(|value| value.trim() == name);
        let is_bound = |rest: &str| rest.starts_with(['(', ':', '=']) && !rest.starts_with("==");
        if rest.is_some_and(|rest| is_bound(rest) && !is_itself(rest)) {
            found = Defined::Here;
        }
    }
    match found {
        Defined::Nowhere if !all_of.is_empty() => Defined::Among(all_of),
        found => found,
    }
}
