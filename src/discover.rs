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
