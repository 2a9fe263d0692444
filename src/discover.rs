//! Which units lie under the given paths. It tells files apart by name and content and parses nothing.

use std::path::PathBuf;

/// What to read as one unit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Input {
    /// A directory with Terraform files.
    TerraformModule(PathBuf),
    /// A CloudFormation or SAM template.
    Template(PathBuf),
    /// A `serverless.yml`.
    ServerlessService(PathBuf),
}

/// What lies under the given paths.
#[derive(Debug, Default)]
pub struct Discovery {
    /// Units, sorted.
    pub inputs: Vec<Input>,
    /// Paths that do not exist or cannot be read.
    pub errors: Vec<String>,
    /// What was passed over.
    pub skipped: Vec<String>,
}

/// Finds units.
pub fn discover(_paths: &[PathBuf]) -> Discovery {
    Discovery::default()
}

/// The nearest directory with a `.git`.
pub fn repository_root(_from: &std::path::Path) -> Option<PathBuf> {
    None
}
