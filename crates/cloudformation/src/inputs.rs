//! Inputs: values that are not in the templates, such as arguments of `--parameters`.

use std::path::PathBuf;

/// An argument of `--parameters`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Parameters {
    /// An assignment, `name=value`, as written.
    Assignment(String),
    /// A file in one of the formats of AWS's tools.
    File(PathBuf),
}

impl From<&str> for Parameters {
    /// Parses an argument: an assignment if it begins with a parameter name and `=`, else a file, with an optional
    /// `file://` prefix.
    fn from(text: &str) -> Self {
        let name = text.split_once('=').map(|(name, _)| name);
        let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if name.is_some_and(is_name) {
            Parameters::Assignment(text.to_owned())
        } else {
            Parameters::File(text.strip_prefix("file://").unwrap_or(text).into())
        }
    }
}

/// Inputs of all templates, or of one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Inputs {
    /// Values of parameters; later ones take precedence.
    pub parameters: Vec<Parameters>,
    /// Environment of a SAM configuration, or stage of a service; `None` for the default one.
    pub stage: Option<String>,
    /// Region of `AWS::Region`; unresolved if absent.
    pub region: Option<String>,
    /// Account of `AWS::AccountId`; unresolved if absent.
    pub account: Option<String>,
}
