//! Turns remedies into edits of files.
//!
//! This module has the parts that all syntaxes share: the check whether a file may be edited, and the replacement of
//! numbers. Each dialect writes attributes that do not exist yet. If a file cannot be edited so that only the wanted
//! value changes, the finding gets no edit and only its help.

pub(super) mod alarm;
mod commands;
mod inner;
pub(super) mod piece;
mod remark;
pub(super) mod tree;

use super::comments::{self, Syntax};
use super::{cloudformation, terraform};
use crate::diagnostic::{Change, Diagnostic, Edit, Fix, Place};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use source::{FileId, SourceFile, Sources, Span};
use std::ops::Range;
use std::path::PathBuf;

/// Directories of generated or downloaded files, which the next run of a tool overwrites.
const GENERATED: [&str; 6] = [
    ".terraform",
    ".terragrunt-cache",
    ".aws-sam",
    ".serverless",
    "cdk.out",
    "node_modules",
];

/// Texts that only CDK writes into templates.
const OF_THE_CDK: [&str; 2] = ["aws:cdk:path", "/cdk-bootstrap/"];

/// Maximum size in bytes of an edited file, far above that of files written by people.
const LARGEST: usize = 1 << 20;

/// Maximum number of bytes searched for the edits of one run. Each edit searches its file and the files of its module,
/// so a file with many findings counts once per finding. Findings beyond this limit get no edits until others are
/// fixed.
const MOST_READ: u64 = 1 << 30;

/// Share of a template's bytes that counts for one of its edits: most edits only look up nodes, and the others search
/// for a word.
const OF_TREE: u64 = 16;

/// Adds to each of `findings` the edits that fix it, if there are any.
pub fn add_fixes(findings: &mut [Diagnostic], sources: &Sources) {
    let mut read = 0_u64;
    let mut looked_through = SearchCost::new(sources);
    let mut wanted: Vec<&mut Diagnostic> = findings.iter_mut().filter(|found| found.remedy.is_some()).collect();
    let within = wanted.iter().take_while(|found| {
        read = read.saturating_add(looked_through.with(found.primary().span.file));
        read <= MOST_READ
    });
    wanted.truncate(within.count());
    // Findings are sorted by file.
    let together = |one: &&mut Diagnostic, other: &&mut Diagnostic| {
        read_together(one.primary().span.file, other.primary().span.file, sources)
    };
    let groups: Vec<&mut [&mut Diagnostic]> = wanted.chunk_by_mut(together).collect();
    groups.into_par_iter().for_each(|findings| {
        let Some(first) = findings.first().map(|found| found.primary().span.file) else {
            return;
        };
        for found in findings {
            add_fix(found, sources);
        }
        // Frees the trees of each group, so that only those of a few files are in memory at any time.
        let beside = sources.in_directory_of(first).into_iter();
        let read = beside.filter(|(id, _)| read_together(first, *id, sources));
        read.for_each(|(_, file)| file.drop_derived());
    });
    sources.all().iter().for_each(|(_, file)| file.drop_derived());
}

/// Number of bytes searched per edit, cached by module.
struct SearchCost<'s> {
    sources: &'s Sources,
    modules: FxHashMap<PathBuf, u64>,
}

impl<'s> SearchCost<'s> {
    fn new(sources: &'s Sources) -> Self {
        SearchCost {
            sources,
            modules: FxHashMap::default(),
        }
    }

    /// Returns the number of bytes searched for an edit of the file `id`.
    fn with(&mut self, id: FileId) -> u64 {
        let length = |file: &SourceFile| file.text().len() as u64;
        let file = self.sources.file(id);
        let Some(directory) = file.path().parent().filter(|_| is_of_module(&file)) else {
            return length(&file) / OF_TREE;
        };
        if let Some(known) = self.modules.get(directory) {
            return *known;
        }
        let beside = self.sources.in_directory_of(id).into_iter();
        let all = beside
            .filter(|(_, file)| is_of_module(file))
            .map(|(_, file)| length(&file))
            .sum();
        self.modules.insert(directory.to_owned(), all);
        all
    }
}

fn add_fix(found: &mut Diagnostic, sources: &Sources) {
    let Some(remedy) = &found.remedy else { return };
    let fix = |edits| Fix {
        title: remedy.change.title(),
        safety: remedy.safety,
        edits,
    };
    if commands::is_snapshot(&sources.file(place_of(&remedy.change).file)) {
        if let Some(command) = commands::command(&remedy.change, sources) {
            let help = found.help.take().map(|help| format!("{help}; ")).unwrap_or_default();
            found.help = Some(format!("{help}run `{command}`").into());
        }
        return;
    }
    found.fix = edits(&remedy.change, sources).map(|edits| Box::new(fix(edits)));
}

/// Returns `true` if edits of one file read the other, too: they are the same file, or in one module.
fn read_together(one: FileId, other: FileId, sources: &Sources) -> bool {
    if one == other {
        return true;
    }
    let (one, other) = (sources.file(one), sources.file(other));
    one.path().parent() == other.path().parent() && is_of_module(&one) && is_of_module(&other)
}

fn is_of_module(file: &SourceFile) -> bool {
    matches!(Syntax::of(file.name()), Some(Syntax::Hcl | Syntax::TerraformJson))
}

/// Returns the edits that make `change`, sorted by span, or `None` if no edit does exactly that.
pub(super) fn edits(change: &Change, sources: &Sources) -> Option<Vec<Edit>> {
    let mut edits = match change {
        Change::Number { place, value } => number(place, *value, sources),
        Change::Unquote(span) => unquoted(*span, sources).map(|edit| vec![edit]),
        Change::Suppression { at, name } => comments::removal(*at, name.as_deref(), sources).map(|edit| vec![edit]),
        Change::Remove(_)
        | Change::ReportFailures(_)
        | Change::Arn(_)
        | Change::After(..)
        | Change::Reference(..)
        | Change::Alarm(_)
        | Change::Dimension { .. } => in_dialect(change, sources),
        Change::DeadLetterQueue(queue) => {
            let mut edits = in_dialect(change, sources)?;
            let place = queue.to.as_ref().and_then(|to| to.retention.as_ref());
            if let Some(place) = place {
                edits.extend(number(place, queue.retention, sources)?);
            }
            Some(edits)
        }
        Change::Word { at, wrong, right } => respelled(*at, wrong, right, sources).map(|edit| vec![edit]),
    }?;
    edits.extend(terraform::realigned(&edits, sources));
    edits.sort_by_key(|edit| edit.span);
    let editable = edits.iter().all(|edit| may_edit(&sources.file(edit.span.file)));
    (editable && !edits.is_empty()).then_some(edits)
}

/// Returns the place of a change.
fn place_of(change: &Change) -> Span {
    match change {
        Change::Number { place, .. } | Change::Remove(place) | Change::ReportFailures(place) => {
            place.written.unwrap_or(place.header)
        }
        Change::DeadLetterQueue(queue) => queue.header,
        Change::Arn(span)
        | Change::After(span, _)
        | Change::Reference(span, _)
        | Change::Alarm(span)
        | Change::Dimension { alarm: span, .. }
        | Change::Unquote(span)
        | Change::Word { at: span, .. }
        | Change::Suppression { at: span, .. } => *span,
    }
}

/// Returns the edits of changes that depend on the dialect.
fn in_dialect(change: &Change, sources: &Sources) -> Option<Vec<Edit>> {
    let file = sources.file(place_of(change).file);
    if !may_edit(&file) {
        return None;
    }
    match Syntax::of(file.name())? {
        Syntax::Hcl | Syntax::TerraformJson => terraform::edits(change, sources),
        Syntax::Tree => cloudformation::edits(change, sources),
        Syntax::Source(_) => None,
    }
}

/// Returns `true` if a person wrote the file, for this project. Its text is searched once, and not at all if it is
/// large.
fn may_edit(file: &SourceFile) -> bool {
    let mut parts = file.path().components();
    let is_generated = parts.any(|part| GENERATED.iter().any(|name| part.as_os_str() == *name));
    let by_hand = |text: &str| ByHand(file.is_exact() && !OF_THE_CDK.iter().any(|mark| text.contains(mark)));
    !file.is_guarded() && !is_generated && file.text().len() <= LARGEST && file.derived(by_hand).0
}

/// `true` if a person wrote the file, and not a tool.
struct ByHand(bool);

fn number(place: &Place, value: i64, sources: &Sources) -> Option<Vec<Edit>> {
    // A number set inside a Terraform module that is not available has the span of the call's header.
    let is_hcl = Syntax::of(sources.file(place.header.file).name()) == Some(Syntax::Hcl);
    let is_elsewhere = |written: &Span| is_hcl && *written == place.header;
    let Some(written) = place.written.filter(|written| !is_elsewhere(written)) else {
        let written = None;
        let place = Place {
            written,
            ..place.clone()
        };
        return in_dialect(&Change::Number { place, value }, sources);
    };
    let last = place.origins.last().copied().unwrap_or(written);
    // This must precede reading: a plan may have a hundred megabytes.
    if !may_edit(&sources.file(last.file)) {
        return None;
    }
    let text = sources.text(last);
    let value_there = place.value?;
    let digits = literal(&text, value_there).or_else(|| inner::number_of(&text, &place.name, value_there))?;
    // Every step of the provenance must pass the number on unchanged, and to no other place.
    let through = std::iter::once(written).chain(place.origins.iter().copied());
    let through: Vec<Span> = through.take_while(|span| *span != last).collect();
    if !through.iter().all(|span| is_only_use(*span, sources)) || !stands_once(last, sources) {
        return None;
    }
    let start = last.start as usize;
    let span = Span::new(last.file, start + digits.start..start + digits.end);
    let file = sources.file(last.file);
    if remark::is_explained(file.text(), span) {
        return None;
    }
    let is_tree = Syntax::of(file.name()) == Some(Syntax::Tree);
    let remark = is_tree.then(|| remark::edits(file.text(), span, value)).flatten();
    let mut edits = Vec::from_iter(remark);
    edits.push(Edit::new(span, value.to_string()));
    Some(edits)
}

/// Returns `true` if only a reference is written at `span`, and it is the only one to its target.
fn is_only_use(span: Span, sources: &Sources) -> bool {
    match Syntax::of(sources.file(span.file).name()) {
        Some(Syntax::Hcl | Syntax::TerraformJson) => terraform::is_only_use(span, sources),
        Some(Syntax::Tree) => cloudformation::is_only_use(span, sources),
        Some(Syntax::Source(_)) | None => false,
    }
}

/// Returns `true` if the text at `span` belongs to a single resource; an alias or a loop may repeat it.
fn stands_once(span: Span, sources: &Sources) -> bool {
    match Syntax::of(sources.file(span.file).name()) {
        Some(Syntax::Tree) => cloudformation::stands_once(span, sources),
        Some(Syntax::Hcl | Syntax::TerraformJson | Syntax::Source(_)) | None => true,
    }
}

/// Returns the range of the digits of `value`, if `text` is that number, with or without quotes and a key before it.
fn literal(text: &str, value: i64) -> Option<Range<usize>> {
    let trimmed = text.trim_end();
    let bare = trimmed.strip_suffix(['"', '\'']).unwrap_or(trimmed);
    // An escaped quote, in JSON inside a JSON string.
    let bare = bare.strip_suffix('\\').unwrap_or(bare);
    let start = bare
        .rfind(|c: char| !c.is_ascii_digit() && c != '-')
        .map_or(0, |at| at + 1);
    let digits = bare.get(start..)?;
    let before = text.get(..start)?.trim_end_matches(['"', '\'', '\\']).trim_end();
    let is_key = before.is_empty() || before.ends_with([':', '=']) && !before.contains(['\n', '?', '{', '(', '[']);
    (is_key && digits.parse() == Ok(value)).then_some(start..bare.len())
}

/// Returns `true` if tags contain a `Name`, which is that of a single resource.
pub(super) fn contain_name(tags: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    tags.split("Name")
        .zip(tags.split("Name").skip(1))
        .any(|(before, after)| !before.ends_with(is_part) && !after.starts_with(is_part))
}

/// Replaces the only occurrence of `wrong` in the literal at `at`.
fn respelled(at: Span, wrong: &str, right: &str, sources: &Sources) -> Option<Edit> {
    let text = sources.text(at);
    let (before, after) = text.split_once(wrong)?;
    let is_word = !before.ends_with(char::is_alphanumeric) && !after.contains(char::is_alphanumeric);
    let start = at.start as usize + before.len();
    is_word.then(|| Edit::new(Span::new(at.file, start..start + wrong.len()), right))
}

/// Removes the quotes from a whole number at the end of `span`.
fn unquoted(span: Span, sources: &Sources) -> Option<Edit> {
    let text = sources.text(span);
    let (whole, digits) = quoted(&text).or_else(|| inner::quoted_number(&text))?;
    let start = span.start as usize;
    Some(Edit::new(
        Span::new(span.file, start + whole.start..start + whole.end),
        text.get(digits)?.to_owned(),
    ))
}

/// Returns the ranges of a quoted whole number at the end of `text`, with and without the quotes.
fn quoted(text: &str) -> Option<(Range<usize>, Range<usize>)> {
    let trimmed = text.trim_end();
    let quote = ["\\\"", "\"", "'"].into_iter().find(|quote| trimmed.ends_with(quote))?;
    let inner = trimmed.strip_suffix(quote)?;
    let open = inner.rfind(quote)?;
    let digits = open + quote.len()..inner.len();
    inner.get(digits.clone())?.parse::<i64>().ok()?;
    Some((open..trimmed.len(), digits))
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn only_equal_numbers_are_literals() {
        let digits = |text: &str| literal(text, 30).and_then(|range| text.get(range).map(str::to_owned));
        for text in [
            "30",
            "\"30\"",
            "timeout = 30",
            "timeout=30",
            "Timeout: '30'",
            "\\\"a\\\": \\\"30\\\"",
            "x: 30",
        ] {
            assert_eq!(digits(text).as_deref(), Some("30"), "{text}");
        }
        for text in [
            "31",
            "130",
            "3 * 30",
            "x ? 1 : 30",
            "a = -30",
            "30 s",
            "var.x30",
            "f(a = 30",
            "1.30",
            "",
        ] {
            assert_eq!(digits(text), None, "{text}");
        }
    }
}
