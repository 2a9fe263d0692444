//! Suppressions as files spell them: in comments where a syntax has them, else in entries that nobody else reads.
//!
//! It knows where one may stand and what it covers, by the syntax of the file alone; what one says, and whether it
//! silences anything, is not known here. Files are looked at once, whoever reads them for what else.

mod insert;
mod json;
mod remove;
mod source;
pub(super) mod tree;

use super::parsed::{self, Repeating};
use super::terraform::Trace;
use crate::source::{FileId, SourceFile, Sources, Span};
use crate::suppress::{Content, Cover, Written, directives, may_suppress};
pub use insert::insertions;
use rayon::prelude::*;
pub(super) use remove::removal;

/// In which syntax a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Hcl,
    TerraformJson,
    /// A template, in YAML or JSON, or what belongs to one.
    Tree,
    /// The source of a function, whose comments begin with this.
    Source(&'static str),
}

/// How the names of files end that hold the source of functions, and how comments begin there.
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
    /// By the name of the file.
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

/// Every suppression in the files that were read, in the order of the files.
pub fn suppressions(sources: &Sources) -> Vec<Written> {
    let files = sources.all();
    let speaking: Vec<_> = files
        .into_par_iter()
        .filter(|(_, file)| !file.is_guarded() && may_suppress(file.text()))
        .collect();
    let mut found: Vec<Written> = speaking
        .par_iter()
        .flat_map_iter(|(id, file)| file.made(|_| Found(of_file(*id, file))).0.clone())
        .collect();
    found.sort_by_key(|written| (written.span.file, written.span.start));
    found
}

/// Blocks, arguments, entries and items of a file, each where it stands.
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

/// What stands in one file.
struct Found(Vec<Written>);

fn of_file(id: FileId, file: &SourceFile) -> Vec<Written> {
    let written = match Syntax::of(file.name()) {
        Some(Syntax::Hcl) => hcl(id, file),
        Some(Syntax::TerraformJson) => json::suppressions(&Repeating::of(id, file)),
        Some(Syntax::Tree) => tree::suppressions(&parsed::tree(id, file), file.text()),
        Some(Syntax::Source(mark)) => source::suppressions(id, file.text(), mark),
        None => Vec::new(),
    };
    file.let_go();
    written
}

fn hcl(id: FileId, file: &SourceFile) -> Vec<Written> {
    let mut found = Vec::new();
    for comment in &Trace::of(file).comments {
        let cover = comment.about.clone().map(|range| Span::new(id, range));
        let span = Span::new(id, comment.range.clone());
        found.extend(in_comment(file.text(), span, cover, comment.leading));
    }
    found
}

/// What the comment at `span`, which is about what `cover` covers, says to sqslint.
fn in_comment(text: &str, span: Span, cover: Option<Span>, leading: bool) -> Vec<Written> {
    let comment = text.get(span.range()).unwrap_or("");
    let found = directives(comment).into_iter().map(|(at, said)| {
        let start = span.start as usize + at;
        Written {
            span: Span::new(span.file, start..start + said.len()),
            content: Content::Text(said.to_owned()),
            covers: cover.map_or(Cover::Nothing, Cover::Place),
            leading,
        }
    });
    found.collect()
}

#[cfg(test)]
mod tests;
