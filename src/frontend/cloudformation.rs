//! The CloudFormation and SAM frontend.

use super::Loaded;
use crate::graph::{Unit, UnitGraph, UnitKind};
use crate::source::Sources;
use std::path::Path;

/// Reads one template.
pub(super) fn load_template(path: &Path, sources: &Sources) -> Loaded {
    empty(path, sources, UnitKind::Template)
}

/// Reads the `resources` of one `serverless.yml`.
pub(super) fn load_serverless(path: &Path, sources: &Sources) -> Loaded {
    empty(path, sources, UnitKind::ServerlessService)
}

fn empty(path: &Path, sources: &Sources, kind: UnitKind) -> Loaded {
    let unit = Unit {
        name: sources.name_of(path),
        kind,
        notes: Vec::new(),
    };
    Loaded {
        graph: UnitGraph::new(unit),
        diagnostics: Vec::new(),
        errors: Vec::new(),
    }
}
