//! References as they are written: to a queue, to a variable or a local.
//!
//! They are read from the text at a place alone, and whatever is more than a reference is none. The same holds for
//! both spellings of Terraform, since JSON writes a reference as a template.

use super::super::super::comments::Syntax;
use super::super::syntax::Trace;
use super::document::module_of;
use crate::diagnostic::Edit;
use crate::source::{SourceFile, Sources, Span};
use std::ops::Range;
use std::sync::Arc;

/// What of a queue is taken for its ARN.
const NO_ARN: [&str; 3] = ["id", "name", "url"];

/// The edit that makes a reference to the ARN of that to a queue at `span`.
pub(super) fn to_arn(span: Span, sources: &Sources) -> Option<Edit> {
    let text = sources.text(span);
    let within = value(&text)?;
    let reference = text.get(within.clone())?;
    let of_queue = reference.strip_prefix("data.").unwrap_or(reference);
    let rest = of_queue.strip_prefix("aws_sqs_queue.")?;
    let (instance, attribute) = rest.rsplit_once('.')?;
    let is_plain = NO_ARN.contains(&attribute) && is_instance(instance);
    let end = span.start as usize + within.end;
    is_plain.then(|| Edit {
        span: Span::new(span.file, end - attribute.len()..end),
        text: "arn".to_owned(),
    })
}

/// Whether a variable or a local stands at `span`, and nowhere else in the module.
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

/// How often `reference` stands in `text` as words.
pub(super) fn uses(text: &str, reference: &str) -> usize {
    let found = text.match_indices(reference).filter(|(at, _)| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + reference.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(|c| is_of_name(c) || c == '.') && !after.is_some_and(is_of_name)
    });
    found.count()
}

/// A text of code without its comments.
struct Bare(String);

fn without_comments(file: &SourceFile) -> Arc<Bare> {
    file.made(|text| {
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

/// Where the value stands in `text`, which may have a key before it, without the signs of a template that is nothing
/// but this value.
fn value(text: &str) -> Option<Range<usize>> {
    let mut start = text.len() - behind_key(text).trim_start().len();
    let mut end = text.trim_end().len();
    let bare = text.get(start..end)?;
    if let Some(template) = bare.strip_prefix("\"${").and_then(|rest| rest.strip_suffix("}\"")) {
        start += 3 + (template.len() - template.trim_start().len());
        end -= 2 + (template.len() - template.trim_end().len());
    }
    (start < end).then_some(start..end)
}

/// What of `text` stands behind a key with `=` or `:`; all of it where there is none.
fn behind_key(text: &str) -> &str {
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

/// Whether `text` is a name, with or without an index behind it that has no brackets in itself.
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
