//! References to queues, variables and locals in source text.
//!
//! They are parsed from the text at a span only, and anything more complex than a reference is ignored. The same code
//! serves native and JSON syntax, because JSON writes a reference as a template.

use super::document::module_of;
use crate::diagnostic::Edit;
use crate::frontend::comments::Syntax;
use source::{SourceFile, Sources, Span};
use std::ops::Range;
use std::sync::Arc;
use terraform::syntax::Trace;

/// Attributes of a queue that are mistaken for its ARN.
const NO_ARN: [&str; 3] = ["id", "name", "url"];

/// Returns the edit that replaces a reference to a queue at `span` by one to its ARN.
pub(super) fn to_arn(span: Span, sources: &Sources) -> Option<Edit> {
    let text = sources.text(span);
    let within = value(&text)?;
    let reference = text.get(within.clone())?;
    let of_queue = reference.strip_prefix("data.").unwrap_or(reference);
    let rest = of_queue.strip_prefix("aws_sqs_queue.")?;
    let (instance, attribute) = rest.rsplit_once('.')?;
    let is_plain = NO_ARN.contains(&attribute) && is_instance(instance);
    let end = span.start as usize + within.end;
    is_plain.then(|| Edit::new(Span::new(span.file, end - attribute.len()..end), "arn"))
}

/// Returns `true` if the text at `span` is the only reference to a variable or local in the module.
pub(super) fn is_only_use(span: Span, sources: &Sources) -> bool {
    let text = sources.text(span);
    let reference = value(&text).and_then(|within| text.get(within)).unwrap_or("");
    let Some((root, name)) = reference.split_once('.') else {
        return false;
    };
    if !matches!(root, "var" | "local") || !is_name(name) {
        return false;
    }
    let files = module_of(span.file, sources);
    let uses = files.iter().map(|(_, file)| match Syntax::of(file.name()) {
        Some(Syntax::Hcl) => uses(&without_comments(file).0, reference),
        _ => uses(file.text(), reference),
    });
    uses.sum::<usize>() == 1
}

/// Returns the number of times that `reference` occurs in `text` as whole words.
pub(super) fn uses(text: &str, reference: &str) -> usize {
    let found = text.match_indices(reference).filter(|(at, _)| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + reference.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(|c| is_of_name(c) || c == '.') && !after.is_some_and(is_of_name)
    });
    found.count()
}

/// Source text without its comments.
struct Bare(String);

fn without_comments(file: &SourceFile) -> Arc<Bare> {
    file.derived(|text| {
        let mut code = String::with_capacity(text.len());
        let mut from = 0;
        for comment in Trace::of(file).comments.iter().map(|comment| &comment.range) {
            code.push_str(text.get(from..comment.start).unwrap_or(""));
            code.push('\n');
            from = comment.end;
        }
        Bare(code + text.get(from..).unwrap_or(""))
    })
}

/// Returns the range of the value in `text`, which may begin with a key. If the value is a template with only one
/// interpolation, the delimiters are excluded.
fn value(text: &str) -> Option<Range<usize>> {
    let mut start = text.len() - after_key(text).trim_start().len();
    let mut end = text.trim_end().len();
    let bare = text.get(start..end)?;
    if let Some(template) = bare.strip_prefix("\"${").and_then(|rest| rest.strip_suffix("}\"")) {
        start += 3 + (template.len() - template.trim_start().len());
        end -= 2 + (template.len() - template.trim_end().len());
    }
    (start < end).then_some(start..end)
}

/// Returns the part of `text` after a key with `=` or `:`; all of it without a key.
fn after_key(text: &str) -> &str {
    let trimmed = text.trim_start();
    let quoted = trimmed.strip_prefix('"');
    let name = quoted.unwrap_or(trimmed);
    let mut rest = name.trim_start_matches(is_of_name);
    if quoted.is_some() {
        let Some(closed) = rest.strip_prefix('"') else {
            return text;
        };
        rest = closed;
    }
    rest.trim_start().strip_prefix(['=', ':']).unwrap_or(text)
}

/// Returns `true` if `text` is a name, optionally followed by an index without nested brackets.
fn is_instance(text: &str) -> bool {
    let Some((name, index)) = text.split_once('[') else {
        return is_name(text);
    };
    let index = index.strip_suffix(']').unwrap_or("");
    let is_plain = !index.is_empty() && !index.contains(['[', ']', '*', '\n', '$', '{', '(']);
    is_name(name) && is_plain
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_alphabetic() || c == '_') && letters.all(is_of_name)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}
