//! Inputs: values that are not in the files, such as variables and parameters on the command line.
//!
//! This module only carries the values. Each frontend applies them with its tool's order of precedence, and no value
//! comes from the environment of the process.

pub use cloudformation::inputs::Parameters;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
pub use terraform::inputs::Variable;

/// Inputs of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Inputs {
    /// Values for root modules of Terraform; later ones take precedence.
    pub variables: Vec<Variable>,
    /// Values for templates; later ones take precedence.
    pub parameters: Vec<Parameters>,
    /// Environment of a SAM configuration, or stage of a service; `None` for the default one.
    pub stage: Option<String>,
    /// Value of `terraform.workspace`; `None` for `default`.
    pub workspace: Option<String>,
    /// `true` if the workspace is one of several, without a way to know which. Used without `workspace`.
    pub is_workspace_unresolved: bool,
    /// Region of `AWS::Region` and of providers that do not set one; unresolved if absent.
    pub region: Option<String>,
    /// Account of `AWS::AccountId` and of the caller; unresolved if absent.
    pub account: Option<String>,
    /// Local directories of modules, each with a pattern of their sources.
    pub modules: Vec<(String, PathBuf)>,
}

/// Inputs of a run, with different ones for individual units.
#[derive(Debug, Clone, Default)]
pub struct UnitInputs {
    /// Inputs of all units that have none of their own.
    pub all: Inputs,
    /// Inputs of individual units, by the file or directory of the unit.
    pub own: BTreeMap<PathBuf, Inputs>,
    /// `true` if the environments apply that the files name.
    pub finds_environments: bool,
}

impl From<terraform::inputs::Inputs> for Inputs {
    fn from(inputs: terraform::inputs::Inputs) -> Self {
        Inputs {
            variables: inputs.variables,
            workspace: inputs.workspace,
            is_workspace_unresolved: inputs.is_workspace_unresolved,
            region: inputs.region,
            account: inputs.account,
            ..Inputs::default()
        }
    }
}

impl From<cloudformation::inputs::Inputs> for Inputs {
    fn from(inputs: cloudformation::inputs::Inputs) -> Self {
        Inputs {
            parameters: inputs.parameters,
            stage: inputs.stage,
            region: inputs.region,
            account: inputs.account,
            ..Inputs::default()
        }
    }
}

impl From<Inputs> for UnitInputs {
    fn from(all: Inputs) -> Self {
        UnitInputs {
            all,
            own: BTreeMap::new(),
            finds_environments: false,
        }
    }
}

impl Inputs {
    /// Returns these inputs with those of `other`, which take precedence.
    #[must_use]
    pub fn overridden_by(&self, other: &Inputs) -> Inputs {
        let either = |first: &Option<String>, then: &Option<String>| then.clone().or_else(|| first.clone());
        Inputs {
            variables: self.variables.iter().chain(&other.variables).cloned().collect(),
            parameters: self.parameters.iter().chain(&other.parameters).cloned().collect(),
            stage: either(&self.stage, &other.stage),
            workspace: either(&self.workspace, &other.workspace),
            is_workspace_unresolved: self.is_workspace_unresolved || other.is_workspace_unresolved,
            region: either(&self.region, &other.region),
            account: either(&self.account, &other.account),
            modules: self.modules.iter().chain(&other.modules).cloned().collect(),
        }
    }

    /// Returns those that Terraform receives.
    pub(crate) fn of_terraform(&self) -> terraform::inputs::Inputs {
        terraform::inputs::Inputs {
            variables: self.variables.clone(),
            workspace: self.workspace.clone(),
            is_workspace_unresolved: self.is_workspace_unresolved,
            region: self.region.clone(),
            account: self.account.clone(),
            modules: self.modules.clone(),
        }
    }

    /// Returns those that templates receive.
    pub(crate) fn of_cloudformation(&self) -> cloudformation::inputs::Inputs {
        cloudformation::inputs::Inputs {
            parameters: self.parameters.clone(),
            stage: self.stage.clone(),
            region: self.region.clone(),
            account: self.account.clone(),
        }
    }

    /// Returns these inputs with the paths of their files mapped by `place`.
    #[must_use]
    pub fn with_files(&self, place: impl Fn(&Path) -> PathBuf) -> Self {
        let mut inputs = self.clone();
        for variable in &mut inputs.variables {
            if let Variable::File(path) = variable {
                *path = place(path);
            }
        }
        for parameters in &mut inputs.parameters {
            if let Parameters::File(path) = parameters {
                *path = place(path);
            }
        }
        inputs
    }

    /// Returns the files that values are read from.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let variables = self.variables.iter().filter_map(|variable| match variable {
            Variable::File(path) => Some(path.as_path()),
            Variable::Assignment(_) => None,
        });
        let parameters = self.parameters.iter().filter_map(|parameters| match parameters {
            Parameters::File(path) => Some(path.as_path()),
            Parameters::Assignment(_) => None,
        });
        variables.chain(parameters)
    }
}
