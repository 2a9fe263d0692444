//! The Serverless Framework's variables, `${source(parameters):address, fallback}`, told apart in a text. Nothing is
//! resolved here. `${Name}` and `${AWS::Region}` are CloudFormation's and stay text.
//! <https://github.com/serverless/serverless/blob/v3/lib/configuration/variables/parse.js>

use crate::graph::{Cause, Reason};

/// Variables in variables are told apart this deep.
const MAX_DEPTH: usize = 16;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Piece<'t> {
    /// As it stands.
    Text(&'t str),
    /// `${…}`.
    Variable {
        /// As written.
        written: &'t str,
        /// The first one that gives a value counts.
        sources: Vec<Source<'t>>,
    },
}

/// Where a variable may take its value from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Source<'t> {
    /// `'text'`, `"text"`, a number, `true`, `false` or `null`; quotes are left out.
    Literal {
        /// What it says.
        text: &'t str,
        /// Whether it stood in quotes.
        quoted: bool,
    },
    /// `self:custom.x`, `file(x.yml):key`.
    Named {
        /// `self`, `opt`, `file`.
        kind: &'t str,
        /// What stands in parentheses.
        parameters: Vec<&'t str>,
        /// What stands behind the colon; empty where nothing does.
        address: &'t str,
    },
    /// A variable in the place of a fallback, as written.
    Nested(&'t str),
    /// None of these.
    Malformed,
}

/// The pieces of `text`, where it holds a variable.
pub(in super::super) fn pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    pieces_within(text, 0)
}

fn pieces_within(text: &str, depth: usize) -> Option<Vec<Piece<'_>>> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut all = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut found = false;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find("${")).map(|open| at + open) {
        at = open + 2;
        let Some(body) = text.get(at..).and_then(|rest| rest.get(..closing(rest)?)) else {
            break;
        };
        let is_escaped = text.get(..open).is_some_and(|before| before.ends_with('\\'));
        if is_escaped || !begins_source(body) {
            // What stands in braces that are not ours may hold variables that are.
            continue;
        }
        let end = at + body.len() + 1;
        all.extend(
            text.get(start..open)
                .filter(|before| !before.is_empty())
                .map(Piece::Text),
        );
        all.push(Piece::Variable {
            written: text.get(open..end).unwrap_or_default(),
            sources: sources(body),
        });
        found = true;
        (start, at) = (end, end);
    }
    all.extend(text.get(start..).filter(|rest| !rest.is_empty()).map(Piece::Text));
    found.then_some(all)
}

/// Where the brace closes that was opened before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => {}
            // An apostrophe in an address opens nothing: strings stand where a source or parameter begins.
            (None, '\'' | '"') => {
                let before = text.get(..at).unwrap_or_default().trim_end();
                if before.is_empty() || before.ends_with([',', '(', ':']) {
                    quote = Some(character);
                }
            }
            (None, '{') => depth += 1,
            (None, '}') if depth == 0 => return Some(at),
            (None, '}') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

/// Whether `body` begins with `type:` or `type(`, and not with `AWS::`.
fn begins_source(body: &str) -> bool {
    let kind = kind_of(body);
    let rest = body.get(kind.len()..).unwrap_or_default();
    !kind.is_empty() && (rest.starts_with('(') || (rest.starts_with(':') && !rest.starts_with("::")))
}

/// The word that `text` begins with.
fn kind_of(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// The sources between the commas of `body`.
fn sources(body: &str) -> Vec<Source<'_>> {
    parts(body, ',').into_iter().map(|part| source(part.trim())).collect()
}

fn source(text: &str) -> Source<'_> {
    for quote in ['\'', '"'] {
        let inner = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(text) = inner {
            return Source::Literal { text, quoted: true };
        }
    }
    if text.starts_with("${") {
        return Source::Nested(text);
    }
    if begins_source(text) {
        let kind = kind_of(text);
        let rest = text.get(kind.len()..).unwrap_or_default();
        let (parameters, rest) = match rest.strip_prefix('(') {
            Some(inner) => match parts(inner, ')').first() {
                Some(list) => (*list, inner.get(list.len() + 1..).unwrap_or_default()),
                None => return Source::Malformed,
            },
            None => ("", rest),
        };
        let address = rest.trim_start().strip_prefix(':').unwrap_or_default();
        return Source::Named {
            kind,
            parameters: parts(parameters, ',').into_iter().map(unquoted).collect(),
            address: unquoted(address),
        };
    }
    let is_literal = matches!(text, "true" | "false" | "null") || text.parse::<f64>().is_ok();
    if is_literal {
        Source::Literal { text, quoted: false }
    } else {
        Source::Malformed
    }
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inner = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"')).unwrap_or(text)
}

/// `text` between the `delimiter`s that stand in no braces, parentheses or quotes.
fn parts(text: &str, delimiter: char) -> Vec<&str> {
    let mut all = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    let mut quote = None;
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => {}
            (None, _) if character == delimiter && depth == 0 => {
                all.extend(text.get(start..at));
                start = at + character.len_utf8();
            }
            (None, '\'' | '"') => quote = Some(character),
            (None, '{' | '(') => depth += 1,
            (None, '}' | ')') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
    }
    all.extend(text.get(start..));
    all
}

/// Why a variable that was left in place has no value, from the first of its sources.
pub(in super::super) fn reason(written: &str, sources: &[Source<'_>]) -> Reason {
    let (cause, why) = match sources.first() {
        Some(Source::Named { kind, parameters, .. }) => match *kind {
            "env" => (Cause::Run, "is read from the environment of a deployment"),
            "ssm" => (Cause::Elsewhere, "is read from the parameter store"),
            "s3" => (Cause::Elsewhere, "is read from a bucket"),
            "cf" => (Cause::Elsewhere, "is an output of a deployed stack"),
            "aws" | "sls" => (Cause::KnownAfterApply, "is known only when the service is deployed"),
            "opt" | "param" => (Cause::InputWithoutValue, "is set when the service is deployed"),
            "file" if parameters.first().is_some_and(|path| is_code(path)) => {
                (Cause::Unsupported, "is computed by code")
            }
            "file" => (Cause::Elsewhere, "is not in the project"),
            "self" => (Cause::InputWithoutValue, "is not set in the service"),
            _ => (Cause::Unsupported, "is known only to a plugin"),
        },
        _ => (Cause::Invalid, "is not a variable of the Serverless Framework"),
    };
    cause.because(format!("`{written}` {why}"))
}

/// Whether the framework would run the file.
pub(super) fn is_code(path: &str) -> bool {
    [".js", ".cjs", ".mjs", ".ts"].iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn named<'t>(kind: &'t str, parameters: &[&'t str], address: &'t str) -> Source<'t> {
        Source::Named {
            kind,
            parameters: parameters.to_vec(),
            address,
        }
    }

    fn only(text: &str) -> Vec<Source<'_>> {
        match pieces(text).unwrap().as_slice() {
            [Piece::Variable { written, sources }] if *written == text => sources.clone(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn sources_are_told_apart() {
        let quoted = |text| Source::Literal { text, quoted: true };
        let bare = |text| Source::Literal { text, quoted: false };
        for (text, expected) in [
            ("${self:custom.x}", vec![named("self", &[""], "custom.x")]),
            ("${opt:stage, 'dev'}", vec![named("opt", &[""], "stage"), quoted("dev")]),
            ("${opt:n,5}", vec![named("opt", &[""], "n"), bare("5")]),
            (
                "${opt:stage, self:provider.stage, \"a, b\"}",
                vec![
                    named("opt", &[""], "stage"),
                    named("self", &[""], "provider.stage"),
                    quoted("a, b"),
                ],
            ),
            (
                "${opt:stage, ${self:custom.stage}}",
                vec![named("opt", &[""], "stage"), Source::Nested("${self:custom.stage}")],
            ),
            (
                "${self:custom.${opt:stage, 'dev'}.x}",
                vec![named("self", &[""], "custom.${opt:stage, 'dev'}.x")],
            ),
            ("${file(a.yml):b.c}", vec![named("file", &["a.yml"], "b.c")]),
            (
                "${file(./a.${sls:stage}.yml)}",
                vec![named("file", &["./a.${sls:stage}.yml"], "")],
            ),
            ("${strToBool('true')}", vec![named("strToBool", &["true"], "")]),
            (
                "${cf(eu-west-1):stack.Out}",
                vec![named("cf", &["eu-west-1"], "stack.Out")],
            ),
            ("${self:}", vec![named("self", &[""], "")]),
            ("${opt:x, y}", vec![named("opt", &[""], "x"), Source::Malformed]),
        ] {
            assert_eq!(only(text), expected, "{text}");
        }
    }

    #[test]
    fn other_braces_are_text() {
        for text in [
            "plain",
            "${AWS::Region}",
            "${Queue.Arn}",
            "${",
            "${}",
            "${self:x",
            "\\${self:x}",
            "$${x}",
        ] {
            assert_eq!(pieces(text), None, "{text}");
        }
        let text = "arn:${AWS::Partition}:${self:service}-q";
        let all = pieces(text).unwrap();
        assert_eq!(all.len(), 3, "{all:?}");
        assert_eq!(all[0], Piece::Text("arn:${AWS::Partition}:"));
        assert_eq!(all[2], Piece::Text("-q"));
    }

    #[test]
    fn nothing_is_sliced_inside_a_character() {
        for text in ["${self:ä", "ä${opt:ö, 'ü'}ß", "${file(ä", "${ä:}", "${self:'}"] {
            pieces(text);
        }
    }
}
