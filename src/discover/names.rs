//! Classifies files by their names.

use source::files::Files;
use std::path::Path;

/// File name of a Terragrunt unit.
pub(super) const TERRAGRUNT: &str = "terragrunt.hcl";

/// File names of SAM configurations, which apply to templates in the same directory.
pub(super) const SAMCONFIG: [&str; 3] = ["samconfig.toml", "samconfig.yaml", "samconfig.yml"];

/// File names of Serverless Framework services in YAML.
pub(super) const SERVICES: [&str; 2] = ["serverless.yml", "serverless.yaml"];

/// Returns `true` for the name of a Serverless Framework service in code.
pub(super) fn is_service_in_code(name: &str) -> bool {
    matches!(name.rsplit_once('.'), Some(("serverless", "ts" | "js" | "mjs" | "cjs")))
}

pub(super) fn name_of(path: &Path) -> &str {
    path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or("")
}

/// Returns `true` for the name of a file of a Terraform module.
pub(crate) fn is_terraform(name: &str) -> bool {
    [".tf", ".tf.json", ".tofu", ".tofu.json"]
        .iter()
        .any(|end| name.ends_with(end))
}

pub(super) fn is_variables(name: &str) -> bool {
    [".tfvars", ".tfvars.json"].iter().any(|end| name.ends_with(end))
}

pub(super) fn is_state(name: &str) -> bool {
    name.ends_with(".tfstate")
}

pub(super) fn may_be_template(name: &str) -> bool {
    [".yaml", ".yml", ".json", ".template"]
        .iter()
        .any(|end| name.ends_with(end))
        && !is_variables(name)
}

pub(super) fn holds_terraform(directory: &Path, files: &Files) -> bool {
    files.has_name(directory, is_terraform)
}
