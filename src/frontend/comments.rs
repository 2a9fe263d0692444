//! Finds suppressions in files: in comments if the syntax has them, else in entries that other tools ignore.
//!
//! This module knows where a suppression may be written and what it covers, by the syntax of the file alone. It knows
//! neither its content nor whether it suppresses a finding. Each file is searched once per run.

mod code;
mod insert;
mod json;
mod remove;
pub(super) mod tree;

use super::terraform::Trace;
use crate::suppress::{Content, Coverage, RawSuppression, directives, may_suppress};
pub use insert::insertions;
use rayon::prelude::*;
pub(super) use remove::removal;
use source::{FileId, SourceFile, Sources, Span};
use trees::parsed::{self, Repeating};

/// The syntax of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Hcl,
    TerraformJson,
    /// A template, in YAML or JSON, or a file that belongs to one.
    Tree,
    /// The source of a function, with the mark that begins its comments.
    Source(&'static str),
}

/// Extensions of files with the source of functions, and the mark that begins their comments.
const SOURCES: [(&str, &str); 10] = [
    (".cjs", "//"),
    (".cs", "//"),
    (".cts", "//"),
    (".go", "//"),
    (".java", "//"),
    (".js", "//"),
    (".mjs", "//"),
    (".mts", "//"),
    (".py", "#"),
    (".ts", "//"),
];

impl Syntax {
    /// Returns the syntax of the file called `name`.
    pub(super) fn of(name: &str) -> Option<Syntax> {
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if ends(&[".tf", ".tofu", ".hcl", ".tfvars"]) {
            Some(Syntax::Hcl)
        } else if ends(&[".tf.json", ".tofu.json"]) {
            Some(Syntax::TerraformJson)
        } else if ends(&[".toml", ".tfvars.json", ".tfstate"]) {
            None
        } else {
            let source = SOURCES.iter().find(|(ending, _)| name.ends_with(ending));
            Some(source.map_or(Syntax::Tree, |(_, mark)| Syntax::Source(mark)))
        }
    }
}

/// Returns every suppression in the files of the run, in the order of the files.
pub fn suppressions(sources: &Sources) -> Vec<RawSuppression> {
    let files = sources.all();
    let speaking: Vec<_> = files
        .into_par_iter()
        .filter(|(_, file)| !file.is_guarded() && may_suppress(file.text()))
        .collect();
    let mut found: Vec<RawSuppression> = speaking
        .par_iter()
        .flat_map_iter(|(id, file)| file.derived(|_| FileSuppressions(of_file(*id, file))).0.clone())
        .collect();
    found.sort_by_key(|written| (written.span.file, written.span.start));
    found
}

/// Returns the spans of the blocks, arguments, entries and items of a file.
pub fn elements(id: FileId, file: &SourceFile) -> Vec<Span> {
    match Syntax::of(file.name()) {
        Some(Syntax::Hcl) => {
            let trace = Trace::of(file);
            let elements = trace.elements.iter();
            elements.map(|range| Span::new(id, range.clone())).collect()
        }
        Some(Syntax::TerraformJson) => tree::elements(&Repeating::of(id, file)),
        Some(Syntax::Tree) => tree::elements(&parsed::tree(id, file)),
        Some(Syntax::Source(_)) | None => Vec::new(),
    }
}

/// Cached suppressions of one file.
struct FileSuppressions(Vec<RawSuppression>);

fn of_file(id: FileId, file: &SourceFile) -> Vec<RawSuppression> {
    let written = match Syntax::of(file.name()) {
        Some(Syntax::Hcl) => hcl(id, file),
        Some(Syntax::TerraformJson) => json::suppressions(&Repeating::of(id, file)),
        Some(Syntax::Tree) => tree::suppressions(&parsed::tree(id, file), file.text()),
        Some(Syntax::Source(mark)) => code::suppressions(id, file.text(), mark),
        None => Vec::new(),
    };
    file.drop_derived_if_large();
    written
}

fn hcl(id: FileId, file: &SourceFile) -> Vec<RawSuppression> {
    let mut found = Vec::new();
    for comment in &Trace::of(file).comments {
        let cover = comment.about.clone().map(|range| Span::new(id, range));
        let span = Span::new(id, comment.range.clone());
        found.extend(in_comment(file.text(), span, cover, comment.leading));
    }
    found
}

/// Returns the suppressions in the comment at `span`, which is about `cover`.
fn in_comment(text: &str, span: Span, cover: Option<Span>, leading: bool) -> Vec<RawSuppression> {
    let comment = text.get(span.range()).unwrap_or("");
    let found = directives(comment).into_iter().map(|(at, stated)| {
        let start = span.start as usize + at;
        RawSuppression {
            span: Span::new(span.file, start..start + stated.len()),
            content: Content::Text(stated.to_owned()),
            covers: cover.map_or(Coverage::Nothing, Coverage::Span),
            leading,
        }
    });
    found.collect()
}

#[cfg(test)]
mod tests;
