//! Files of Terraform as the run reads them: each is parsed and scanned once, and what came of it is kept with its text.

use super::{Body, Problem, json, parse, scan};
use crate::frontend::parsed::Repeating;
use crate::source::{FileId, SourceFile};
use std::ops::Range;
use std::sync::Arc;

/// What a file of blocks and attributes says, in either spelling.
pub(in crate::frontend::terraform) struct Code {
    pub(in crate::frontend::terraform) body: Body,
    /// Places that could not be read.
    pub(in crate::frontend::terraform) problems: Vec<Problem>,
}

impl Code {
    /// Reads `file`, which is called `id`.
    pub(in crate::frontend::terraform) fn of(id: FileId, file: &SourceFile) -> Arc<Code> {
        file.made(|text| {
            let (body, problems) = if is_json(file) {
                json::of_tree(id, text, &Repeating::of(id, file))
            } else {
                parse(id, text)
            };
            Code { body, problems }
        })
    }

    /// Reads `file` as one that gives variables their values. In JSON nothing of it is a template.
    pub(in crate::frontend::terraform) fn of_values(id: FileId, file: &SourceFile) -> Arc<Code> {
        if !is_json(file) {
            return Code::of(id, file);
        }
        file.made(|text| {
            let (body, problems) = json::values_of_tree(id, text, &Repeating::of(id, file));
            Code { body, problems }
        })
    }

    pub(in crate::frontend::terraform) fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }
}

fn is_json(file: &SourceFile) -> bool {
    file.path().extension().is_some_and(|ending| ending == "json")
}

/// Where a file has comments, and where its elements begin and end.
pub(in crate::frontend) struct Trace {
    pub(in crate::frontend) comments: Vec<scan::Comment>,
    /// In the order of their beginnings.
    pub(in crate::frontend) elements: Vec<Range<usize>>,
}

impl Trace {
    /// Scans `file`, which is not JSON.
    pub(in crate::frontend) fn of(file: &SourceFile) -> Arc<Trace> {
        file.made(|text| {
            let (comments, elements) = scan::traced(text);
            Trace { comments, elements }
        })
    }
}
