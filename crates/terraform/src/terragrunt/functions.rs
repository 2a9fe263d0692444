//! Terragrunt's functions for paths in the directory tree. Functions that depend on the environment, on AWS or on the
//! output of a command are recognized, but their values are unknown.
//! <https://terragrunt.gruntwork.io/docs/reference/built-in-functions/>

use crate::functions::files::relative;
use crate::value::Value;
use knowledge::Cause;
use source::Sources;
use source::files::Files;
use std::path::{Path, PathBuf};

/// Functions with values that are known only when Terragrunt runs.
const OF_A_RUN: [&str; 13] = [
    "get_env",
    "get_platform",
    "run_cmd",
    "get_aws_account_id",
    "get_aws_account_alias",
    "get_aws_caller_identity_arn",
    "get_aws_caller_identity_user_id",
    "get_terraform_command",
    "get_terraform_cli_args",
    "get_default_retryable_errors",
    "get_terragrunt_source_cli_flag",
    "sops_decrypt_file",
    "get_working_dir",
];

const OF_PATHS: [&str; 11] = [
    "find_in_parent_folders",
    "path_relative_to_include",
    "path_relative_from_include",
    "get_terragrunt_dir",
    "get_original_terragrunt_dir",
    "get_parent_terragrunt_dir",
    "get_repo_root",
    "get_path_from_repo_root",
    "get_path_to_repo_root",
    "read_terragrunt_config",
    "get_terraform_commands_that_need_vars",
];

/// Returns `true` if Terragrunt defines the function.
pub(crate) fn knows(name: &str) -> bool {
    OF_A_RUN.contains(&name) || OF_PATHS.contains(&name)
}

/// The directories of a configuration that is being read.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// Directory of the root, even while an included file is read.
    pub(crate) directory: PathBuf,
    /// Directory of the included file.
    pub(crate) include: Option<PathBuf>,
    files: Files,
}

impl Context {
    pub(crate) fn of(file: &Path, sources: &Sources) -> Context {
        Context {
            directory: file.parent().map(Path::to_owned).unwrap_or_default(),
            include: None,
            files: sources.files().clone(),
        }
    }

    /// Returns the context in which `file` is included by the root.
    pub(crate) fn including(&self, file: &Path) -> Context {
        Context {
            include: file.parent().map(Path::to_owned),
            ..self.clone()
        }
    }

    /// Returns `true` if a path may be read: within the repository, or anywhere without one.
    pub(crate) fn allows(&self, path: &Path) -> bool {
        let path = self.files.real(path).unwrap_or_else(|_| path.to_owned());
        self.files.repository().is_none_or(|root| path.starts_with(root))
    }

    /// Evaluates a function of Terragrunt.
    pub(super) fn call(&self, name: &str, arguments: &[Value], read: Option<&dyn Fn(&Path) -> Value>) -> Value {
        let text = |at: usize| arguments.get(at).and_then(Value::to_text);
        let shown = |path: &Path| Value::text(path.to_string_lossy().into_owned());
        let include = self.include.as_deref().unwrap_or(&self.directory);
        match name {
            "find_in_parent_folders" => {
                if let Some(unknown) = arguments.iter().find(|value| value.as_unknown().is_some()) {
                    return unknown.clone();
                }
                let wanted = text(0).unwrap_or_else(|| "terragrunt.hcl".into());
                match (self.above(&wanted), arguments.get(1)) {
                    (Some(path), _) => shown(&path),
                    (None, Some(otherwise)) => otherwise.clone(),
                    (None, None) => Value::error(format!("no directory above has a `{wanted}`")),
                }
            }
            // A label selects one of several included files.
            "path_relative_to_include" | "path_relative_from_include" | "get_parent_terragrunt_dir"
                if !arguments.is_empty() =>
            {
                Value::unknown(Cause::Unsupported.because(format!("`{name}` with a label is not read")))
            }
            "path_relative_to_include" => Value::text(relative(&self.directory, include)),
            "path_relative_from_include" => Value::text(relative(include, &self.directory)),
            "get_terragrunt_dir" | "get_original_terragrunt_dir" => shown(&self.directory),
            "get_parent_terragrunt_dir" => shown(include),
            "get_repo_root" | "get_path_from_repo_root" | "get_path_to_repo_root" => match self.files.repository() {
                None => Value::unknown(Cause::RunContext.because("there is no repository")),
                Some(root) => match name {
                    "get_repo_root" => shown(root),
                    "get_path_from_repo_root" => Value::text(relative(&self.directory, root)),
                    _ => Value::text(relative(root, &self.directory)),
                },
            },
            "read_terragrunt_config" => match (text(0), read) {
                (Some(path), Some(read)) => {
                    let path = self.directory.join(&*path);
                    match arguments.get(1) {
                        Some(otherwise) if !self.files.is_file(&path) => otherwise.clone(),
                        _ => read(&path),
                    }
                }
                _ => Value::unknown(Cause::Derived.because("the configuration that it reads is not known")),
            },
            _ => Value::unknown(Cause::RunContext.because(format!("`{name}` depends on where Terragrunt runs"))),
        }
    }

    /// Returns the nearest file or directory `wanted` above the root, within the repository.
    fn above(&self, wanted: &str) -> Option<PathBuf> {
        let mut above = self
            .directory
            .ancestors()
            .skip(1)
            .map(|directory| directory.join(wanted));
        above.find(|path| self.allows(path) && self.files.exists(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_relative() {
        let seen = |path: &str, base: &str| relative(Path::new(path), Path::new(base));
        assert_eq!(seen("/a/b/c", "/a"), "b/c");
        assert_eq!(seen("/a", "/a/b/c"), "../..");
        assert_eq!(seen("/a/b", "/a/b"), ".");
    }
}
