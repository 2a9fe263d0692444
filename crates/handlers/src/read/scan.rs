//! Searches source in languages that are not parsed for the signature of the handler: Java, Kotlin, Scala, C#, Go, Rust.
//!
//! Two things are concluded: the handler returns failed messages if its own signature names a batch response and the file
//! creates batch item failures, and never does if its signature has no result and no function gets it to wrap it.
//! Comments and strings are skipped.

use super::syntax::TextRange;
use crate::limits;
use crate::words::FAILURES;

/// Types of a response with failed messages.
pub(crate) const RESPONSES: [&str; 4] = [
    "BatchItemFailuresResponse",
    "SQSBatchResponse",
    "SQSEventResponse",
    "SqsBatchResponse",
];
/// Functions that take the handler of a program.
const STARTS: [&str; 3] = ["Start", "StartWithOptions", "service_fn"];

/// Signature of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scanned {
    /// Name of the function; `func` for one without a name.
    pub(crate) name: String,
    /// `None` if it is unknown.
    pub(crate) returns_failures: Option<bool>,
    /// `true` if the source deletes messages itself.
    pub(crate) deletes: bool,
    /// First line.
    pub(crate) at: TextRange,
}

/// Finds the handler `name`: a method (`Class::method`), or the function that the program passes to its runtime.
pub(crate) fn handler(source: &str, name: &str) -> Option<Scanned> {
    let tokens = Tokens::of(source);
    let names = match name.split_once("::") {
        Some((class, method)) => {
            tokens.is_declared(class).then_some(())?;
            vec![method]
        }
        None => tokens.started(),
    };
    // A wrapper precedes the function that it gets.
    let mut found = names.iter().rev().filter_map(|name| {
        let mut found = (0..tokens.all.len()).filter_map(|at| tokens.signature(at, name));
        let (from, end) = found.next().filter(|_| found.next().is_none())?;
        Some((*name, from, end))
    });
    let (name, from, end) = match tokens.literal() {
        Some((from, end)) if !name.contains("::") => ("func", from, end),
        _ => found.next()?,
    };
    let signature = &tokens.all[from..end];
    let response = signature.iter().find(|token| RESPONSES.contains(token)).copied();
    let response = response.or_else(|| tokens.response_as_object(signature, name));
    // `map[string]any` with the key of the response
    let is_map =
        signature.first() == Some(&"func") && result_in_go(signature, name).is_some_and(|it| it.contains(&"map"));
    let is_map = is_map && source.contains(&format!("\"{FAILURES}\""));
    let start = tokens.offset(from);
    let line = source
        .get(start..)
        .and_then(|rest| rest.lines().next())
        .unwrap_or_default();
    Some(Scanned {
        name: name.to_owned(),
        returns_failures: match response {
            // Powertools' processor creates this one.
            _ if is_map => Some(true),
            Some(kind) if kind == RESPONSES[0] || tokens.creates_failures() => Some(true),
            None if has_no_result(signature, name) && !tokens.may_wrap(signature, name) => Some(false),
            _ => None,
        },
        deletes: tokens
            .all
            .iter()
            .any(|word| *word == "SqsBatch" || word.to_ascii_lowercase().contains("deletemessage")),
        at: start..start + line.trim_end().len(),
    })
}

/// Words and punctuation of a source.
struct Tokens<'s> {
    source: &'s str,
    all: Vec<&'s str>,
}

/// Returns the words and signs of `source`, with its texts in double quotes if `with_texts` is `true`. Comments and other
/// texts are skipped.
pub(crate) fn words(source: &str, with_texts: bool) -> Vec<&str> {
    let mut all = Vec::new();
    let bytes = source.as_bytes();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let skipped = match rest {
            [b'/', b'/', ..] => length(rest, b"\n", false),
            [b'/', b'*', ..] => 2 + length(&rest[2..], b"*/", false),
            [b'"', b'"', b'"', ..] => 3 + length(&rest[3..], b"\"\"\"", false),
            [b'@', b'"', ..] => 2 + length(&rest[2..], b"\"", false),
            [b'"', ..] => {
                let length = 1 + length(&rest[1..], b"\"", true);
                all.extend(source.get(at..at + length).filter(|_| with_texts));
                length
            }
            [b'`', ..] => 1 + length(&rest[1..], b"`", false),
            // A character, and not a lifetime of Rust.
            [b'\'', b'\\', ..] => 1 + length(&rest[1..], b"'", true),
            [b'\'', _, b'\'', ..] => 3,
            [byte, ..] if byte.is_ascii_whitespace() => 1,
            _ => 0,
        };
        if skipped > 0 {
            at += skipped;
            continue;
        }
        let word = rest.iter().take_while(|byte| is_word(byte)).count();
        let length = word.max(1);
        all.push(source.get(at..at + length).unwrap_or("?"));
        at += length;
    }
    all
}

impl<'s> Tokens<'s> {
    fn of(source: &'s str) -> Self {
        Tokens {
            source,
            all: words(source, false),
        }
    }

    fn offset(&self, token: usize) -> usize {
        self.all[token].as_ptr() as usize - self.source.as_ptr() as usize
    }

    fn get(&self, at: usize) -> &'s str {
        self.all.get(at).copied().unwrap_or_default()
    }

    /// Returns `true` if the source declares the class.
    fn is_declared(&self, class: &str) -> bool {
        let mut pairs = self.all.windows(2);
        pairs.any(|pair| matches!(pair, ["class" | "object" | "record" | "struct", name] if *name == class))
    }

    /// Returns the names in what the program passes to its runtime: `Start(wrap(handle, nil))`.
    fn started(&self) -> Vec<&'s str> {
        let mut calls = self.all.windows(2);
        let Some(at) = calls.position(|pair| STARTS.contains(&pair[0]) && pair[1] == "(") else {
            return Vec::new();
        };
        let mut depth = 0;
        let is_inside = |token: &&str| {
            depth += i32::from(*token == "(") - i32::from(*token == ")");
            depth > 0
        };
        let arguments = self.all[at + 1..].iter().copied().take(limits::MAX_START_LENGTH);
        arguments.take_while(is_inside).collect()
    }

    /// Returns `true` if a program in Go may pass something else than the function `name` to its runtime.
    fn may_wrap(&self, signature: &[&str], name: &str) -> bool {
        if signature.first() != Some(&"func") {
            return false;
        }
        let starts = self
            .all
            .windows(4)
            .filter(|part| STARTS.contains(&part[2]) && part[3] == "(");
        let is_only = starts.map(|part| part[..2] == ["lambda", "."]).eq([true]);
        let is_alone = name == "func" || self.started().iter().filter(|token| **token == "(").count() == 1;
        !(is_only && is_alone && signature.contains(&"SQSEvent"))
    }

    /// Returns the signature of a function that is written where the program passes it: `Start(func(…) error {`.
    fn literal(&self) -> Option<(usize, usize)> {
        let mut starts = self.all.windows(3);
        let from = 2 + starts.position(|part| STARTS.contains(&part[0]) && part[1..] == ["(", "func"])?;
        let end = self.all[from..].iter().take(limits::MAX_SIGNATURE_LENGTH);
        Some((from, from + end.clone().position(|token| *token == "{")?))
    }

    /// Returns the range of tokens of the signature, if the token declares the function `name`.
    fn signature(&self, at: usize, name: &str) -> Option<(usize, usize)> {
        if self.all[at] != name || !matches!(self.get(at + 1), "(" | "[" | "<") {
            return None;
        }
        let first = at.saturating_sub(limits::MAX_SIGNATURE_LENGTH);
        // Statements of Go end without a sign.
        let before = self.all[first..at]
            .iter()
            .rposition(|token| matches!(*token, ";" | "{" | "}" | "func"));
        let mut from = before.map_or(first, |before| first + before + 1);
        let is_function_of_go = from > 0 && self.get(from - 1) == "func";
        from -= usize::from(is_function_of_go);
        // Annotations are not part of it, since their line may be another one.
        while from < at && self.get(from) == "@" {
            from += 2;
            if from < at && self.get(from) == "(" {
                from += self.all[from..at]
                    .iter()
                    .position(|token| *token == ")")
                    .map_or(0, |end| end + 1);
            }
        }
        let is_call = |token: &&str| matches!(*token, "=" | "return" | "new" | "(" | "." | ",");
        if from >= at || !is_function_of_go && self.all[from..at].iter().rev().take(2).any(is_call) {
            return None;
        }
        let end = self.all[at..]
            .iter()
            .take(limits::MAX_SIGNATURE_LENGTH)
            .position(|token| matches!(*token, "{" | ";" | "="))?;
        let is_declared = self.get(at + end) != ";" && !self.all[from..at].contains(&"return");
        is_declared.then_some((from, at + end))
    }

    /// Returns the type of a response that the source returns somewhere, if the signature has the type of any object.
    fn response_as_object(&self, signature: &[&str], name: &str) -> Option<&'s str> {
        let is_open = signature.windows(2).any(|pair| *pair == ["Object", name]);
        let mut returned = self.all.windows(3).filter_map(|part| match part {
            ["return", "new", made] if RESPONSES.contains(made) => Some(*made),
            _ => None,
        });
        returned.next().filter(|_| is_open)
    }

    /// Returns `true` if the source creates a failure of a message.
    fn creates_failures(&self) -> bool {
        let is_made = |at: usize| {
            let (word, next, after) = (self.get(at), self.get(at + 1), self.get(at + 2));
            let is_failure = word.ends_with("BatchItemFailure") || word.ends_with("atchItemFailures");
            // `new List<BatchItemFailure> { … }`
            let is_list = next == ">" && matches!(after, "(" | "{");
            word.starts_with("BatchMessageHandler") || is_failure && (is_list || matches!(next, "(" | "{" | ":" | "."))
        };
        (0..self.all.len()).any(is_made)
    }
}

/// Returns `true` if the result of the function `name` is nothing, or only an error.
fn has_no_result(signature: &[&str], name: &str) -> bool {
    if signature.first() == Some(&"func") {
        return matches!(result_in_go(signature, name), Some([] | ["error"]));
    }
    let Some(at) = signature.iter().position(|token| *token == name) else {
        return false;
    };
    // A stream contains the response.
    let is_nothing = at > 0 && matches!(signature[at - 1], "Task" | "Void" | "void");
    is_nothing && !signature.contains(&"OutputStream")
}

/// Returns the tokens after the parameters of a function in Go.
fn result_in_go<'a, 's>(signature: &'a [&'s str], name: &str) -> Option<&'a [&'s str]> {
    let at = signature.iter().position(|token| *token == name)?;
    let mut depth = 0;
    let end = signature[at + 1..].iter().position(|token| {
        depth += i32::from(*token == "(") - i32::from(*token == ")");
        depth == 0
    })?;
    signature.get(at + end + 2..)
}

/// Returns the number of bytes up to the end of `end`.
fn length(rest: &[u8], end: &[u8], has_escapes: bool) -> usize {
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(end) {
            return at + end.len();
        }
        at += if has_escapes && rest[at] == b'\\' { 2 } else { 1 };
    }
    rest.len()
}
