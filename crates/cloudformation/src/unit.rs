//! Units: what is deployed by itself, with what its files say apart from resources.

use crate::inputs::Inputs;
use knowledge::UnitKey;
use source::Span;
use source::reading::Problem;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Kinds of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitKind {
    /// A template, of CloudFormation or SAM.
    Template,
    /// A template that a CDK app deploys.
    CdkStack,
    /// A service of the Serverless Framework.
    ServerlessService,
    /// A snapshot of what an account has deployed.
    Snapshot,
}

/// A template, or one call of a nested one.
#[derive(Debug, Clone)]
pub struct Unit {
    /// Name of its file.
    pub name: String,
    /// Kind of its file.
    pub kind: UnitKind,
    /// Key by which links from other units name it.
    pub key: UnitKey,
    /// Parts that were not read, and peculiarities, for its reader.
    pub notes: Vec<String>,
    /// Problems with its files.
    pub problems: Vec<Problem>,
    /// Files that could not be opened, with the reason.
    pub errors: Vec<String>,
    /// Nested stacks whose templates were not read.
    pub unread: Vec<UnreadStack>,
    /// Environments named by files next to it.
    pub environments: Vec<NamedInputs>,
    /// Environments whose files cannot be read, with the reasons.
    pub unread_environments: Vec<(String, Problem)>,
    /// Names of the parameters that their files set.
    pub set: BTreeSet<Arc<str>>,
    /// Relations to other units, other than the files that it reads.
    pub ties: Ties,
    /// Time at which a snapshot was taken, as written.
    pub taken: Option<Arc<str>>,
}

impl Unit {
    /// Creates a unit without contents.
    pub fn new(name: String, kind: UnitKind, call: Option<UnitKey>) -> Self {
        Unit {
            key: call.unwrap_or_else(|| UnitKey::new(name.as_str())),
            name,
            kind,
            notes: Vec::new(),
            problems: Vec::new(),
            errors: Vec::new(),
            unread: Vec::new(),
            environments: Vec::new(),
            unread_environments: Vec::new(),
            set: BTreeSet::new(),
            ties: Ties::default(),
            taken: None,
        }
    }
}

/// A nested stack whose template was not read, or a resource that a snapshot does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadStack {
    /// Name of the file that declares it.
    pub unit: String,
    /// Its logical id, or its id in the snapshot.
    pub id: Arc<str>,
    /// Reason, as a clause.
    pub reason: Arc<str>,
    /// Span of its logical id, or of its entry in the snapshot.
    pub span: Span,
}

/// An environment that files name for a unit: a table of a SAM configuration, a parameter file, a stage.
#[derive(Debug, Clone)]
pub struct NamedInputs {
    /// Name in those files.
    pub name: String,
    /// File of the unit.
    pub path: PathBuf,
    /// Inputs of the environment.
    pub inputs: Inputs,
}

/// Relations of a unit to others, other than the files that it reads.
#[derive(Debug, Clone, Default)]
pub struct Ties {
    /// Names of exports.
    pub exports: Vec<String>,
    /// Names of imports.
    pub imports: Vec<String>,
    /// Directory whose templates may all be merged with this one.
    pub below: Option<PathBuf>,
}
