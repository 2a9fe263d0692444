//! The second step: every unit read and linked, once for each environment.

use super::policies::Policies;
use super::select::{Group, Selected};
use super::{Gathered, Run};
use crate::config::Environment as Declared;
use crate::diagnostic::Diagnostic;
use crate::discover::Input;
use crate::frontend;
use crate::given::Given;
use crate::graph::Graph;
use crate::source::Sources;
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

/// The graphs of a run.
pub(super) struct Loaded {
    pub(super) gathered: Gathered,
    /// Never empty.
    pub(super) environments: Vec<Environment>,
    pub(super) policies: Policies,
}

/// What one environment gives, or the only one there is.
pub(super) struct Environment {
    pub(super) name: Option<String>,
    pub(super) graph: Graph,
    /// What could not be read.
    pub(super) findings: Vec<Diagnostic>,
    /// Units that were not read whole.
    pub(super) broken: FxHashSet<String>,
}

/// Reads what was selected.
pub(super) fn load(run: &Run<'_>, selected: Selected) -> Loaded {
    let Selected {
        mut gathered,
        groups,
        refused,
    } = selected;
    gathered.errors.extend(unused_variables(&groups, &run.options.given));
    let mut policies = Policies::default();
    let mut all = Vec::new();
    for name in environments(&groups) {
        all.push(environment(run, name, &groups, &mut policies, &mut gathered));
    }
    // What could not be read is said in every environment.
    for found in refused {
        let unit = found.subject.unit.clone();
        let config = run.configs.of(&place(&unit, &gathered.sources)).unwrap_or_default();
        if config.keeps_tool(found.rule, &run.options.selection) {
            for one in &mut all {
                one.findings.push(found.clone());
            }
        }
        policies.insert_missing(&unit, config);
    }
    Loaded {
        gathered,
        environments: all,
        policies,
    }
}

fn environment(
    run: &Run<'_>,
    name: Option<String>,
    groups: &[Group],
    policies: &mut Policies,
    gathered: &mut Gathered,
) -> Environment {
    let (mut parts, mut findings) = (Vec::new(), Vec::new());
    let mut broken = FxHashSet::default();
    for group in groups {
        let Some(given) = group.given(name.as_deref(), &run.options.given) else {
            continue;
        };
        for loaded in frontend::load(&group.inputs, &given, &gathered.sources) {
            let unit = loaded.graph.unit.name.clone();
            if !loaded.diagnostics.is_empty() {
                broken.insert(unit.clone());
            }
            let config = run.configs.of(&place(&unit, &gathered.sources));
            let config = config.unwrap_or_else(|_| group.config.clone());
            let is_kept = |found: &Diagnostic| config.keeps_tool(found.rule, &run.options.selection);
            findings.extend(loaded.diagnostics.into_iter().filter(is_kept));
            gathered.errors.extend(loaded.errors);
            policies.insert(&unit, config);
            parts.push(loaded.graph);
        }
    }
    Environment {
        name,
        graph: Graph::assemble(parts),
        findings,
        broken,
    }
}

/// What the command line gives to variables where nothing has any.
fn unused_variables(groups: &[Group], given: &Given) -> Option<String> {
    let mut inputs = groups.iter().flat_map(|group| &group.inputs).peekable();
    let takes = |input: &Input| matches!(input, Input::TerraformModule(_) | Input::Terragrunt(_));
    let is_unused = !given.variables.is_empty() && inputs.peek().is_some() && !inputs.any(takes);
    is_unused.then(|| "`--var` and `--var-file`: no Terraform module is checked that could take them".to_owned())
}

/// Every environment by name, in the order of the files; one without a name where there is none.
fn environments(groups: &[Group]) -> Vec<Option<String>> {
    let mut names: Vec<Option<String>> = Vec::new();
    for environment in groups.iter().flat_map(|group| &group.config.environments) {
        let name = Some(environment.name.clone());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        names.push(None);
    }
    names
}

impl Group {
    /// What the environment called `name` gives to this group; nothing where it has others only.
    fn given(&self, name: Option<&str>, command_line: &Given) -> Option<Given> {
        let environments: &[Declared] = &self.config.environments;
        if environments.is_empty() {
            return Some(command_line.clone());
        }
        let environment = environments
            .iter()
            .find(|environment| Some(&*environment.name) == name)?;
        Some(environment.over(command_line))
    }
}

/// Where the unit called `name` lies.
fn place(name: &str, sources: &Sources) -> PathBuf {
    let base = sources.repository().unwrap_or_else(|| sources.working_directory());
    let path: &Path = Path::new(name);
    let joined = base.join(path);
    sources.files().real(&joined).unwrap_or(joined)
}
