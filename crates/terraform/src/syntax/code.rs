//! Cached syntax trees of Terraform files: each file is parsed and scanned once, and the result is kept with its text.

use super::{Body, Problem, json, parse, scan};
use source::{FileId, SourceFile};
use std::ops::Range;
use std::sync::Arc;
use trees::parsed::Repeating;

/// The parsed content of a file with blocks and attributes, in native or JSON syntax.
pub struct Code {
    /// Content of the file.
    pub body: Body,
    /// Parts that could not be read.
    pub problems: Vec<Problem>,
}

impl Code {
    /// Parses `file`, which has the id `id`.
    pub fn of(id: FileId, file: &SourceFile) -> Arc<Code> {
        file.derived(|text| {
            let (body, problems) = if is_json(file) {
                json::of_tree(id, text, &Repeating::of(id, file))
            } else {
                parse(id, text)
            };
            Code { body, problems }
        })
    }

    /// Parses `file` as a variable file. In JSON, its strings are not templates.
    pub fn of_values(id: FileId, file: &SourceFile) -> Arc<Code> {
        if !is_json(file) {
            return Code::of(id, file);
        }
        file.derived(|text| {
            let (body, problems) = json::values_of_tree(id, text, &Repeating::of(id, file));
            Code { body, problems }
        })
    }

    /// Returns `true` if the whole file could be read.
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }
}

fn is_json(file: &SourceFile) -> bool {
    file.path().extension().is_some_and(|ending| ending == "json")
}

/// The comments of a file, and the ranges of its elements.
pub struct Trace {
    /// Comments in the order written.
    pub comments: Vec<scan::Comment>,
    /// Ranges in the order of their starts.
    pub elements: Vec<Range<usize>>,
}

impl Trace {
    /// Scans `file`, which is in native syntax.
    pub fn of(file: &SourceFile) -> Arc<Trace> {
        file.derived(|text| {
            let (comments, elements) = scan::traced(text);
            Trace { comments, elements }
        })
    }
}
