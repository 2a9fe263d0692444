//! Parses the Serverless Framework's variables in a text: `${source(parameters):address, fallback}`. It resolves
//! nothing. `${Name}` and `${AWS::Region}` are CloudFormation's and stay text.
//! <https://github.com/serverless/serverless/blob/v3/lib/configuration/variables/parse.js>

use crate::limits;
use knowledge::{Cause, Published, Reason, Store};
use std::sync::Arc;

/// Source of our own for an output of another service: `${service-output:app/serverless.yml#Arn}`.
pub(super) const UNIT_OUTPUT: &str = "service-output";

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextPiece<'t> {
    /// Literal text.
    Text(&'t str),
    /// A variable `${…}`.
    Variable {
        /// The variable as written.
        written: &'t str,
        /// Sources; the first one with a value wins.
        sources: Vec<VariableSource<'t>>,
    },
}

/// A source of a variable's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VariableSource<'t> {
    /// A literal: `'text'`, `"text"`, a number, `true`, `false` or `null`.
    Literal {
        /// The text without quotes.
        text: &'t str,
        /// `true` if it was quoted.
        quoted: bool,
    },
    /// A named source: `self:custom.x`, `file(x.yml):key`.
    Named {
        /// The kind: `self`, `opt`, `file`.
        kind: &'t str,
        /// Parameters in parentheses.
        parameters: Vec<&'t str>,
        /// Text after the colon; may be empty.
        address: &'t str,
    },
    /// A variable as a fallback, as written.
    Nested(&'t str),
    /// Anything else.
    Malformed,
}

/// Splits `text` into pieces, or returns `None` if it contains no variable.
pub(crate) fn pieces(text: &str) -> Option<Vec<TextPiece<'_>>> {
    pieces_within(text, 0)
}

fn pieces_within(text: &str, depth: usize) -> Option<Vec<TextPiece<'_>>> {
    if depth > limits::MAX_NESTED_VARIABLES {
        return None;
    }
    let mut all = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut found = false;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find("${")).map(|open| at + open) {
        at = open + 2;
        let rest = text.get(at..).unwrap_or_default();
        let is_escaped = text.get(..open).is_some_and(|before| before.ends_with('\\'));
        if is_escaped || !begins_source(rest) {
            // Braces that are not a variable of the framework may contain one. Their end is not searched: it does not
            // matter, and searching it for each of many would take quadratic time.
            continue;
        }
        let Some(body) = closing(rest).and_then(|end| rest.get(..end)) else {
            break;
        };
        let end = at + body.len() + 1;
        all.extend(
            text.get(start..open)
                .filter(|before| !before.is_empty())
                .map(TextPiece::Text),
        );
        all.push(TextPiece::Variable {
            written: text.get(open..end).unwrap_or_default(),
            sources: sources(body),
        });
        found = true;
        (start, at) = (end, end);
    }
    all.extend(text.get(start..).filter(|rest| !rest.is_empty()).map(TextPiece::Text));
    found.then_some(all)
}

/// Returns the offset in `text` of the brace that closes the one before it.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => {}
            // An apostrophe in an address opens no string: strings begin only where a source or parameter does.
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

/// Returns `true` if `body` begins with `type:` or `type(`, and not with `AWS::`.
fn begins_source(body: &str) -> bool {
    let kind = kind_of(body);
    let rest = body.get(kind.len()..).unwrap_or_default();
    !kind.is_empty() && (rest.starts_with('(') || (rest.starts_with(':') && !rest.starts_with("::")))
}

/// Returns the word with which `text` begins.
fn kind_of(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// Parses the comma-separated sources in `body`.
fn sources(body: &str) -> Vec<VariableSource<'_>> {
    parts(body, ',').into_iter().map(|part| source(part.trim())).collect()
}

fn source(text: &str) -> VariableSource<'_> {
    for quote in ['\'', '"'] {
        let inner = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(text) = inner {
            return VariableSource::Literal { text, quoted: true };
        }
    }
    if text.starts_with("${") {
        return VariableSource::Nested(text);
    }
    if begins_source(text) {
        let kind = kind_of(text);
        let rest = text.get(kind.len()..).unwrap_or_default();
        let (parameters, rest) = match rest.strip_prefix('(') {
            Some(inner) => match parts(inner, ')').first() {
                Some(list) => (*list, inner.get(list.len() + 1..).unwrap_or_default()),
                None => return VariableSource::Malformed,
            },
            None => ("", rest),
        };
        let address = rest.trim_start().strip_prefix(':').unwrap_or_default();
        return VariableSource::Named {
            kind,
            parameters: parts(parameters, ',').into_iter().map(unquoted).collect(),
            address: unquoted(address),
        };
    }
    let is_literal = matches!(text, "true" | "false" | "null") || text.parse::<f64>().is_ok();
    if is_literal {
        VariableSource::Literal { text, quoted: false }
    } else {
        VariableSource::Malformed
    }
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inner = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"')).unwrap_or(text)
}

/// Splits `text` at each `delimiter` outside braces, parentheses and quotes.
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

/// Returns the reason why a variable has no value, by the first of its sources.
pub(crate) fn reason(written: &str, sources: &[VariableSource<'_>]) -> Reason {
    let (cause, why) = match sources.first() {
        Some(VariableSource::Named { kind, parameters, .. }) => match *kind {
            "env" => (Cause::RunContext, "is read from the environment of a deployment"),
            "ssm" => (Cause::Elsewhere, "is read from the parameter store"),
            "s3" => (Cause::Elsewhere, "is read from a bucket"),
            "cf" | UNIT_OUTPUT => (Cause::Elsewhere, "is an output of a deployed stack"),
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

/// Returns `true` if a source reads values that other units publish.
pub(super) fn is_published(kind: &str) -> bool {
    matches!(kind.split('.').next(), Some("ssm" | "cf" | UNIT_OUTPUT))
}

/// Returns the value of another unit that a variable reads: `ssm:/jobs/arn`, `ssm(eu-west-1):/jobs/arn~true`,
/// `cf:stack.Output`, `cf(eu-west-1):stack.Output`. A variable with a fallback may have either value.
pub(super) fn published(sources: &[VariableSource<'_>]) -> Option<Arc<Published>> {
    let [
        VariableSource::Named {
            kind,
            parameters,
            address,
        },
    ] = sources
    else {
        return None;
    };
    // An older spelling is `cf.eu-west-1:stack.Output`.
    let (kind, old) = kind.split_once('.').unwrap_or((kind, ""));
    let is_region = |text: &&&str| text.bytes().filter(|byte| *byte == b'-').count() >= 2;
    let region = parameters.iter().chain([&old]).find(is_region);
    let published = match kind {
        "ssm" => {
            let name = address.split('~').next().unwrap_or(address);
            match name.strip_prefix("/aws/reference/secretsmanager/") {
                Some(secret) => Published::new(Store::Secret, secret),
                None => Published::new(Store::Parameter, name),
            }
        }
        "cf" => {
            let (stack, output) = address.split_once('.')?;
            Published::new(Store::StackOutput, format!("{stack}#{output}"))
        }
        UNIT_OUTPUT => Published::new(Store::StackOutput, *address),
        _ => return None,
    };
    let is_known = !published.name.is_empty() && !published.name.contains("${");
    is_known.then(|| {
        Arc::new(Published {
            region: region.map(|region| Arc::from(*region)),
            ..published
        })
    })
}

/// Returns `true` if the framework would run the file.
pub(super) fn is_code(path: &str) -> bool {
    [".js", ".cjs", ".mjs", ".ts"].iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn named<'t>(kind: &'t str, parameters: &[&'t str], address: &'t str) -> VariableSource<'t> {
        VariableSource::Named {
            kind,
            parameters: parameters.to_vec(),
            address,
        }
    }

    fn only(text: &str) -> Vec<VariableSource<'_>> {
        match pieces(text).unwrap().as_slice() {
            [TextPiece::Variable { written, sources }] if *written == text => sources.clone(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn sources_are_parsed() {
        let quoted = |text| VariableSource::Literal { text, quoted: true };
        let bare = |text| VariableSource::Literal { text, quoted: false };
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
                vec![
                    named("opt", &[""], "stage"),
                    VariableSource::Nested("${self:custom.stage}"),
                ],
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
            ("${opt:x, y}", vec![named("opt", &[""], "x"), VariableSource::Malformed]),
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
        assert_eq!(all[0], TextPiece::Text("arn:${AWS::Partition}:"));
        assert_eq!(all[2], TextPiece::Text("-q"));
    }

    #[test]
    fn non_ascii_text_does_not_panic() {
        for text in ["${self:ä", "ä${opt:ö, 'ü'}ß", "${file(ä", "${ä:}", "${self:'}"] {
            pieces(text);
        }
    }
}
