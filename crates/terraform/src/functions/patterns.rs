//! Regular expressions: converts Go's syntax to that of the `regex` crate, which treats `\d` and `[` differently.

use super::FunctionResult;
use crate::eval::{Evaluator, TOO_MANY_STEPS};
use crate::limits;
use crate::types::Type;
use crate::value::Value;
use knowledge::Cause;
use regex::{Captures, Regex, RegexBuilder};
use std::sync::Arc;

/// Counts the work of a function, which compiles a pattern each time and reads the text once.
fn may_match(eval: &mut Evaluator, texts: &[&str]) -> Result<(), Value> {
    let length: usize = texts.iter().map(|text| text.len()).sum();
    let fits = eval.spend(256 + length / 4);
    fits.then_some(()).ok_or_else(|| Value::beyond(TOO_MANY_STEPS))
}

/// A compiled pattern.
pub(crate) struct Pattern(Regex);

/// Compiles a pattern; `None` if it is not valid.
pub(crate) fn pattern(eval: &mut Evaluator, written: &str) -> Option<Pattern> {
    may_match(eval, &[written]).ok()?;
    compile(written).ok().map(Pattern)
}

impl Pattern {
    /// Returns the ranges of its first match in `text` and of each group.
    pub(crate) fn first(&self, text: &str) -> Option<Vec<Option<(usize, usize)>>> {
        Some(ranges(&self.0.captures(text)?).collect())
    }

    /// Returns the ranges of each of its matches in `text`, each followed by those of its groups.
    pub(crate) fn with_groups(&self, text: &str) -> Vec<Option<(usize, usize)>> {
        let all = self.0.captures_iter(text);
        all.flat_map(|found| ranges(&found).collect::<Vec<_>>()).collect()
    }

    /// Returns the number of ranges of a match: its own, and that of each group.
    pub(crate) fn groups(&self) -> usize {
        self.0.captures_len()
    }

    /// Returns the ranges of its matches in `text`.
    pub(crate) fn all(&self, text: &str) -> Vec<(usize, usize)> {
        self.0
            .find_iter(text)
            .map(|found| (found.start(), found.end()))
            .collect()
    }
}

/// Returns the ranges of a match and of its groups.
fn ranges(found: &Captures<'_>) -> impl Iterator<Item = Option<(usize, usize)>> {
    found
        .iter()
        .map(|group| group.map(|group| (group.start(), group.end())))
}

/// Returns the value of a match, built from its groups.
pub(crate) fn shaped(pattern: &Pattern, group: impl Fn(usize) -> Value) -> FunctionResult {
    shape(&pattern.0, group)
}

/// Evaluates `regex`.
pub(crate) fn first_match(eval: &mut Evaluator, pattern: &Value, text: &Value) -> FunctionResult {
    let (pattern, text) = (pattern.to_text()?, text.to_text()?);
    let regex = match may_match(eval, &[&pattern, &text]).and_then(|()| compile(&pattern)) {
        Ok(regex) => regex,
        Err(refused) => return Some(refused),
    };
    let found = regex.captures(&text)?;
    captured(&regex, &found)
}

/// Evaluates `regexall`.
pub(crate) fn all_matches(eval: &mut Evaluator, pattern: &Value, text: &Value) -> FunctionResult {
    let (pattern, text) = (pattern.to_text()?, text.to_text()?);
    let regex = match may_match(eval, &[&pattern, &text]).and_then(|()| compile(&pattern)) {
        Ok(regex) => regex,
        Err(refused) => return Some(refused),
    };
    let found = regex.captures_iter(&text).take(limits::MAX_SPLIT_PIECES + 1);
    let all: Vec<Value> = found.map(|found| captured(&regex, &found)).collect::<Option<_>>()?;
    Some(if all.len() > limits::MAX_SPLIT_PIECES {
        Value::beyond("`regexall` finds more than 100000 matches")
    } else {
        Value::list_of(all, &Type::Any)
    })
}

/// Evaluates `replace`.
pub(crate) fn replace(eval: &mut Evaluator, text: &Value, from: &Value, to: &Value) -> FunctionResult {
    let (text, from, to) = (text.to_text()?, from.to_text()?, to.to_text()?);
    Some(match may_match(eval, &[&text, &from, &to]) {
        Ok(()) => replaced(&text, &from, &to),
        Err(refused) => refused,
    })
}

fn replaced(text: &str, from: &str, to: &str) -> Value {
    let inner = from.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let copies = text.len().saturating_add(1).saturating_mul(to.len().saturating_add(1));
    if copies > 64 * limits::MAX_TEXT {
        return Value::beyond("it is a string of more than a megabyte");
    }
    let made = match inner {
        Some(pattern) => match compile(pattern) {
            Ok(regex) => regex.replace_all(text, to).into_owned(),
            Err(refused) => return refused,
        },
        None => text.replace(from, to),
    };
    if made.len() > limits::MAX_TEXT {
        return Value::beyond("it is a string of more than a megabyte");
    }
    Value::text(made)
}

/// Returns the value of a match: the whole text, its groups in order, or its groups by name.
fn captured(regex: &Regex, found: &Captures<'_>) -> FunctionResult {
    shape(regex, |at| {
        found
            .get(at)
            .map_or_else(Value::null, |part| Value::text(part.as_str()))
    })
}

fn shape(regex: &Regex, group: impl Fn(usize) -> Value) -> FunctionResult {
    let names: Vec<Option<&str>> = regex.capture_names().skip(1).collect();
    if names.is_empty() {
        return Some(group(0));
    }
    let all_named: Option<Vec<&str>> = names.iter().copied().collect();
    match all_named {
        Some(all) => {
            let entries = all.iter().zip(1..).map(|(name, at)| (Arc::from(*name), group(at)));
            Some(Value::map(entries.collect()))
        }
        // Terraform rejects a mix of named and unnamed groups.
        None if names.iter().any(Option::is_some) => None,
        None => Some(Value::list((1..=names.len()).map(group).collect())),
    }
}

fn compile(pattern: &str) -> Result<Regex, Value> {
    let translated =
        translate(pattern).ok_or_else(|| Value::unknown(Cause::Unsupported.because("a pattern is not supported")))?;
    RegexBuilder::new(&translated)
        .size_limit(limits::MAX_PATTERN_SIZE)
        .dfa_size_limit(limits::MAX_PATTERN_SIZE)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => Value::beyond("a pattern is too large"),
            _ => Value::error("a pattern is not a regular expression"),
        })
}

/// Converts `pattern` to the syntax of the crate; `None` if it uses an unsupported feature.
fn translate(pattern: &str) -> Option<String> {
    let mut translated = String::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    // Position in a character class: 0 outside, 1 right after its opening, 2 later.
    let mut class = 0;
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(escaped) => translated.push_str(&escape(escaped, class > 0)?),
                None => translated.push('\\'),
            },
            '[' if class == 0 => {
                class = 1;
                translated.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    translated.push('^');
                }
                continue;
            }
            '[' if chars.peek() == Some(&':') => {
                translated.push('[');
                for inner in chars.by_ref() {
                    translated.push(inner);
                    if inner == ']' {
                        break;
                    }
                }
            }
            '[' | '&' | '~' if class > 0 => translated.extend(['\\', c]),
            ']' if class == 1 => translated.push_str("\\]"),
            ']' if class == 2 => {
                class = 0;
                translated.push(']');
                continue;
            }
            _ => translated.push(c),
        }
        if class == 1 {
            class = 2;
        }
    }
    Some(translated)
}

fn escape(escaped: char, in_class: bool) -> Option<String> {
    let set = match escaped.to_ascii_lowercase() {
        'd' => "0-9",
        'w' => "0-9A-Za-z_",
        's' => "\\t\\n\\f\\r ",
        _ => "",
    };
    Some(match escaped {
        'd' | 'w' | 's' if in_class => set.to_owned(),
        'd' | 'w' | 's' => format!("[{set}]"),
        'D' | 'W' | 'S' => format!("[^{set}]"),
        'b' | 'B' => format!("(?-u:\\{escaped})"),
        'Q' | 'C' | 'Z' => return None,
        _ => format!("\\{escaped}"),
    })
}
