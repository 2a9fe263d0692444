//! What the name of a file says about it.

use std::path::Path;

/// Terragrunt's file of a unit.
pub(super) const TERRAGRUNT: &str = "terragrunt.hcl";

/// SAM's file of arguments, which holds for templates beside it.
pub(super) const SAMCONFIG: [&str; 3] = ["samconfig.toml", "samconfig.yaml", "samconfig.yml"];

pub(super) fn name_of(path: &Path) -> &str {
    path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or("")
}

pub(super) fn is_terraform(name: &str) -> bool {
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

pub(super) fn holds_terraform(directory: &Path) -> bool {
    std::fs::read_dir(directory).is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.file_name().to_str().is_some_and(is_terraform))
    })
}
