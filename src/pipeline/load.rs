//! Reads and links the units, once for each environment.

use super::externals;
use super::policies::Policies;
use super::select::{Group, Selected};
use super::{Outcome, Run};
use crate::config::Environment as Declared;
use crate::diagnostic::{Coverage, DEFAULT_ENVIRONMENT, Diagnostic, NotEvaluated};
use crate::discover::{self, Input};
use crate::frontend::{self, NamedEnvironment, Ties};
use crate::graph::deployed::Deployed;
use crate::graph::{Connections, Graph, UnitGraph};
use crate::inputs::{Inputs, UnitInputs, Variable};
use crate::rules::Judgement;
use rustc_hash::FxHashSet;
use source::Sources;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The graphs of a run.
pub(super) struct Loaded {
    pub(super) outcome: Outcome,
    /// Environments that apply to all units; never empty.
    pub(super) environments: Vec<Environment>,
    /// Environments that files name, to be loaded once the units that each concerns are known.
    pub(super) found: BTreeMap<String, FoundEnvironments>,
    /// The units that `found` may concern.
    pub(super) groups: Vec<Group>,
    /// Error about requested environments that do not exist.
    pub(super) unknown: Option<String>,
    /// Findings to be made in every environment.
    pub(super) everywhere: Vec<Diagnostic>,
    pub(super) policies: Policies,
    /// Deployed resources, with findings about the snapshot.
    pub(super) deployed: Option<(Deployed, Vec<Diagnostic>)>,
}

/// Graph of one environment, or of the only one.
pub(super) struct Environment {
    pub(super) name: Option<String>,
    pub(super) graph: Graph,
    /// Units that the environment applies to; `None` for all.
    pub(super) units: Option<FxHashSet<String>>,
    /// Findings about unreadable files.
    pub(super) findings: Vec<Diagnostic>,
    /// Local parts that were not read.
    pub(super) not_evaluated: Vec<NotEvaluated>,
    /// Units that could not be read completely.
    pub(super) broken: FxHashSet<String>,
    /// Relations to other units, by name.
    pub(super) ties: Vec<(String, Ties)>,
    // The rest is known after its rules have run.
    pub(super) coverage: Coverage,
    /// Judgements of the rules, in a traced run.
    pub(super) judgements: Vec<Judgement>,
    /// Number of steps that its policies took.
    pub(super) steps: u64,
}

/// Reads the selected units, without the source code of functions.
pub(super) fn load(run: &Run<'_>, selected: Selected) -> Loaded {
    let Selected {
        mut outcome,
        groups,
        refused,
    } = selected;
    outcome.errors.extend(unused_variables(&groups, &run.options.inputs));
    let sources = std::mem::take(&mut outcome.sources);
    let mut policies = Policies::default();
    let mut all = Vec::new();
    let (none, mut found) = (FoundEnvironments::default(), FoundEnvironments::default());
    for name in environments(&groups, &run.options.environments) {
        let inputs = EnvironmentInputs::of_all(name, &groups, &none);
        let loaded = environment(run, inputs, &sources, &mut policies, &mut outcome);
        all.push(loaded.0);
        found.extend(loaded.1);
    }
    let mut found = by_name(found, &mut outcome);
    let wanted = &run.options.environments;
    let unknown = unknown(wanted, &groups, &found);
    // An environment concerns only units that have it, or none at all.
    let named: FoundEnvironments = found.values().flatten().cloned().collect();
    if !wanted.is_empty() {
        let units = all.iter().flat_map(|base| with_calls(&named, &base.graph, &sources));
        outcome.named = units.collect();
    }
    let size = size(&all, &sources);
    outcome.reach.size = size.next_power_of_two();
    let mut left_out = BTreeMap::new();
    if wanted.is_empty() {
        left_out = leave_out(&mut found, most_environments(size));
    } else {
        found.retain(|name, _| wanted.contains(name));
    }
    outcome.environments = found.iter().map(|(name, own)| described(name, own, &sources)).collect();
    if let (Some(first), false) = (all.first_mut(), found.is_empty()) {
        first.name.get_or_insert_with(|| DEFAULT_ENVIRONMENT.to_owned());
    }
    let snapshot = run.options.deployed.as_ref();
    let mut wholly = BTreeMap::new();
    // A snapshot is compared with all environments, and a trace shows them, before any is judged.
    if snapshot.is_some() || run.options.keeps_graphs() || !wanted.is_empty() {
        std::mem::swap(&mut wholly, &mut found);
    }
    if !wanted.is_empty() && !wanted.iter().any(|name| name == DEFAULT_ENVIRONMENT) {
        all.retain(|base| base.name.as_deref() != Some(DEFAULT_ENVIRONMENT));
        for base in &mut all {
            base.leave_out(&outcome.named);
        }
    }
    for (name, own) in wholly {
        let mut inputs = EnvironmentInputs::of_all(Some(name), &groups, &own);
        inputs.others = if wanted.is_empty() { &none } else { &named };
        all.push(environment(run, inputs, &sources, &mut policies, &mut outcome).0);
    }
    all.sort_by_key(|one| wanted.iter().position(|name| Some(name) == one.name.as_ref()));
    let mut everywhere = Vec::new();
    for unjudged in unjudged(&left_out, &sources) {
        let config = run.configs.for_path(&unit_path(&unjudged.subject.unit, &sources));
        if config.is_ok_and(|config| config.keeps_pipeline_diagnostic(&unjudged.rule, &run.options.selection)) {
            everywhere.push(unjudged);
        }
    }
    // Unreadable files are reported in every environment.
    for found in refused {
        let unit = found.subject.unit.clone();
        let config = run.configs.for_path(&unit_path(&unit, &sources)).unwrap_or_default();
        if config.keeps_pipeline_diagnostic(&found.rule, &run.options.selection) {
            everywhere.push(found);
        }
        policies.insert_missing(&unit, config);
    }
    outcome.sources = sources;
    let deployed = snapshot.and_then(|path| deployed(run, path, &mut policies, &mut outcome));
    run.context.files.drop_read_ahead();
    Loaded {
        outcome,
        environments: all,
        found,
        groups,
        unknown,
        everywhere,
        policies,
        deployed,
    }
}

/// Reads the snapshot at `path`, or records why it cannot be read.
fn deployed(
    run: &Run<'_>,
    path: &Path,
    policies: &mut Policies,
    outcome: &mut Outcome,
) -> Option<(Deployed, Vec<Diagnostic>)> {
    let input = match discover::snapshot(path, &run.context.files) {
        Ok(input) => input,
        Err(error) => {
            outcome.errors.push(format!("`--deployed`: {error}"));
            return None;
        }
    };
    let (mut parts, mut problems, mut taken, mut is_complete) = (Vec::new(), Vec::new(), None, true);
    let config = run.configs.for_path(input.path()).unwrap_or_default();
    for loaded in frontend::load(std::slice::from_ref(&input), &UnitInputs::default(), &outcome.sources) {
        policies.insert(&loaded.graph.unit.name, config.clone());
        problems.extend(loaded.diagnostics);
        outcome.errors.extend(loaded.errors);
        taken = taken.or(loaded.taken);
        is_complete &= loaded.not_evaluated.is_empty();
        parts.push(loaded.graph);
    }
    Some((Deployed::new(Graph::assemble(parts), taken, is_complete), problems))
}

/// Inputs of units in environments that their own files name.
pub(super) type FoundEnvironments = Vec<NamedEnvironment>;

/// Maximum number of environments that are judged in addition to the default values.
const MAX_ENVIRONMENTS: usize = 200;
/// Number of environments that are judged even in the largest project.
const MIN_ENVIRONMENTS: usize = 12;
/// Maximum size of a project times the number of its environments, in bytes. A run of this size takes half a minute and
/// about as much memory.
const MAX_SIZE: usize = 1 << 30;
/// Approximate memory in bytes of a queue, function or mapping with its values and findings.
const NODE_SIZE: usize = 2 << 10;

/// An environment to be loaded.
pub(super) struct EnvironmentInputs<'e> {
    pub(super) name: Option<String>,
    pub(super) groups: &'e [Group],
    /// Inputs of individual units. All others have those that their configuration declares for the environment. If this
    /// is not empty, the environment applies to these units only.
    pub(super) own: &'e FoundEnvironments,
    /// All environments, if this one also applies to the units that have none.
    pub(super) others: &'e FoundEnvironments,
    /// Parts of units that are not loaded.
    pub(super) context: Vec<UnitGraph>,
}

impl<'e> EnvironmentInputs<'e> {
    fn of_all(name: Option<String>, groups: &'e [Group], own: &'e FoundEnvironments) -> Self {
        EnvironmentInputs {
            name,
            groups,
            own,
            others: NONE,
            context: Vec::new(),
        }
    }
}

/// No environments.
pub(super) static NONE: &FoundEnvironments = &Vec::new();

impl Environment {
    /// Removes the units `others`, which have other environments.
    fn leave_out(&mut self, others: &FxHashSet<String>) {
        if !others.is_empty() {
            self.limit_to(&units_except(others, &self.graph));
        }
    }

    /// Limits the environment to `units`.
    fn limit_to(&mut self, units: &FxHashSet<String>) {
        self.findings.retain(|found| units.contains(&found.subject.unit));
        self.not_evaluated.retain(|open| units.contains(&open.subject.unit));
        self.units = Some(units.clone());
    }
}

fn units_except(others: &FxHashSet<String>, graph: &Graph) -> FxHashSet<String> {
    let units = graph.units().iter().map(|unit| &unit.name);
    units.filter(|unit| !others.contains(*unit)).cloned().collect()
}

/// Loads one environment. Also returns the environments that files name for its units.
pub(super) fn environment(
    run: &Run<'_>,
    inputs: EnvironmentInputs<'_>,
    sources: &Sources,
    policies: &mut Policies,
    outcome: &mut Outcome,
) -> (Environment, FoundEnvironments) {
    let EnvironmentInputs {
        name,
        groups,
        own,
        others,
        context,
    } = inputs;
    let (mut parts, mut findings, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let (mut not_evaluated, mut ties) = (Vec::new(), Vec::new());
    let mut broken = FxHashSet::default();
    for group in groups {
        let declared = if own.is_empty() { name.as_deref() } else { None };
        let Some(mut all) = group.inputs_of(declared, &run.options.inputs) else {
            continue;
        };
        all.modules = group.config.local_modules();
        let own = own.iter();
        let unit_inputs = UnitInputs {
            own: own
                .map(|one| (one.path.clone(), one.inputs.overridden_by(&all)))
                .collect(),
            all,
            finds_environments: group.uses_found_environments(run),
        };
        for loaded in frontend::load(&group.inputs, &unit_inputs, sources) {
            let unit = loaded.graph.unit.name.clone();
            if !loaded.diagnostics.is_empty() {
                broken.insert(unit.clone());
            }
            let config = run.configs.for_path(&unit_path(&unit, sources));
            let config = config.unwrap_or_else(|_| group.config.clone());
            let is_kept = |found: &Diagnostic| config.keeps_pipeline_diagnostic(&found.rule, &run.options.selection);
            findings.extend(loaded.diagnostics.into_iter().filter(is_kept));
            let is_kept = |open: &NotEvaluated| config.keeps_pipeline_diagnostic(&open.rule, &run.options.selection);
            for open in loaded.not_evaluated.into_iter().filter(is_kept) {
                // Several templates may call the one that contains it.
                if !not_evaluated.contains(&open) {
                    not_evaluated.push(open);
                }
            }
            outcome.errors.extend(loaded.errors);
            loaded.ties.add_to(&mut outcome.reach);
            ties.push((unit.clone(), loaded.ties));
            if group.uses_found_environments(run) {
                found.extend(loaded.environments);
            }
            policies.insert(&unit, config);
            parts.push(loaded.graph);
        }
    }
    let outside = run.session.outside(name.as_ref());
    if !(context.is_empty() && outside.is_empty()) {
        parts.extend(context.into_iter().chain(outside));
        parts.sort_by(|one, other| one.unit.name.cmp(&other.unit.name));
    }
    externals::apply(&mut parts, policies, sources, &mut outcome.unstated);
    // What a named environment concerns depends on the names that rules look up.
    let graph = if run.options.notes_reach || !(found.is_empty() && own.is_empty()) {
        Graph::assemble_recording_lookups(parts)
    } else {
        Graph::assemble(parts)
    };
    let mut units = with_calls(own, &graph, sources);
    if !others.is_empty() {
        units.extend(units_except(&with_calls(others, &graph, sources), &graph));
    }
    let mut environment = Environment {
        name,
        graph,
        units: None,
        findings,
        not_evaluated,
        broken,
        ties,
        coverage: Coverage::default(),
        judgements: Vec::new(),
        steps: 0,
    };
    if !own.is_empty() {
        environment.limit_to(&units);
    }
    (environment, found)
}

impl Ties {
    /// Adds these relations to the connections of a unit.
    pub(super) fn add_to(&self, reach: &mut Connections) {
        self.exports.iter().for_each(|name| reach.declare("export", name));
        self.imports.iter().for_each(|name| reach.seek("export", name));
        reach.below.extend(self.below.clone());
    }
}

/// Returns the names of the units in `own`, and of those that they call.
fn with_calls(own: &FoundEnvironments, graph: &Graph, sources: &Sources) -> FxHashSet<String> {
    let named: FxHashSet<String> = own.iter().map(|one| sources.name_of(&one.path)).collect();
    let units = (graph.units().iter()).filter(|unit| named.contains(unit.key.root()));
    units.map(|unit| unit.name.clone()).collect()
}

/// Formats ``environment `prod`: `infra` with `infra/env/prod.tfvars` ``.
fn described(name: &str, own: &FoundEnvironments, sources: &Sources) -> String {
    let units = own.iter().map(|one| {
        let files: Vec<String> = (one.inputs.files())
            .map(|file| format!("`{}`", sources.shown_of(file)))
            .chain(one.inputs.stage.iter().map(|stage| format!("`[{stage}]`")))
            .chain(one.inputs.variables.iter().filter_map(assigned))
            .chain(
                one.inputs
                    .workspace
                    .iter()
                    .map(|name| format!("the workspace `{name}`")),
            )
            .collect();
        format!("`{}` with {}", sources.shown_of(&one.path), files.join(", "))
    });
    format!("environment `{name}`: {}", units.collect::<Vec<_>>().join("; "))
}

/// Formats an assignment such as `` `env = prod` ``; returns `None` for values from files.
fn assigned(variable: &Variable) -> Option<String> {
    let Variable::Assignment(text) = variable else {
        return None;
    };
    let (name, value) = text.split_once('=')?;
    Some(format!("`{name} = {value}`"))
}

/// Groups inputs by the name of the environment. If several files of one name belong to a unit, their inputs are
/// merged.
fn by_name(found: FoundEnvironments, outcome: &mut Outcome) -> BTreeMap<String, FoundEnvironments> {
    let mut all: BTreeMap<String, FoundEnvironments> = BTreeMap::new();
    outcome
        .reach
        .environments
        .extend(found.iter().map(|one| one.name.clone()));
    for one in found {
        let named = all.entry(one.name.clone()).or_default();
        match named.iter_mut().find(|known| known.path == one.path) {
            Some(known) => known.inputs = known.inputs.overridden_by(&one.inputs),
            None => named.push(one),
        }
    }
    all
}

/// Returns the approximate memory of a project that was loaded as `judged` with the default values.
fn size(judged: &[Environment], sources: &Sources) -> usize {
    let text: usize = sources.all().iter().map(|(_, file)| file.text().len()).sum();
    let nodes = |graph: &Graph| graph.queues().len() + graph.functions().len() + graph.mappings().len();
    let nodes: usize = judged.iter().map(|one| nodes(&one.graph)).max().unwrap_or_default();
    text + NODE_SIZE * nodes
}

/// Returns the number of environments to judge in a project of a size. It depends on nothing else, so that every machine
/// judges the same environments.
pub(crate) fn most_environments(size: usize) -> usize {
    (MAX_SIZE / size.max(1)).clamp(MIN_ENVIRONMENTS, MAX_ENVIRONMENTS)
}

/// Removes all but the `most` important environments from `all`, and returns the removed ones.
fn leave_out(all: &mut BTreeMap<String, FoundEnvironments>, most: usize) -> BTreeMap<String, FoundEnvironments> {
    let mut names: Vec<String> = all.keys().cloned().collect();
    names.sort_by_key(|name| importance(name));
    let left_out = names.into_iter().skip(most);
    left_out.filter_map(|name| all.remove_entry(&name)).collect()
}

/// Returns the rank of an environment by its name: production is first, then staging, then other names, and last the
/// values of a variable whose name does not suggest environments (`size=large`).
fn importance(name: &str) -> u8 {
    let name = name.to_lowercase();
    let starts = |beginnings: &[&str]| {
        let mut words = name.split(|c: char| !c.is_alphanumeric());
        words.any(|word| beginnings.iter().any(|beginning| word.starts_with(beginning)))
    };
    match () {
        () if name.contains('=') => 3,
        () if starts(&["nonprod", "non", "preprod", "pre", "stag", "stg"]) => 1,
        () if starts(&["prod", "prd", "live"]) => 0,
        () => 2,
    }
}

/// Returns a diagnostic for each unit with environments in `left_out`.
fn unjudged(left_out: &BTreeMap<String, FoundEnvironments>, sources: &Sources) -> Vec<Diagnostic> {
    let mut units: BTreeMap<&PathBuf, Vec<(&str, &Inputs)>> = BTreeMap::new();
    for (name, own) in left_out {
        for one in own {
            units.entry(&one.path).or_default().push((name, &one.inputs));
        }
    }
    let units = units.into_iter();
    units
        .map(|(path, all)| {
            let file = all.iter().find_map(|(_, inputs)| inputs.files().next());
            let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
            frontend::unjudged_environments(path, file, &names, sources)
        })
        .collect()
}

/// Returns an error if the command line sets variables, but no unit has variables.
fn unused_variables(groups: &[Group], inputs: &Inputs) -> Option<String> {
    let mut units = groups.iter().flat_map(|group| &group.inputs).peekable();
    let takes = |input: &Input| matches!(input, Input::TerraformModule(_) | Input::Terragrunt(_));
    let is_unused = !inputs.variables.is_empty() && units.peek().is_some() && !units.any(takes);
    is_unused.then(|| "`--var` and `--var-file`: no Terraform module is checked that could take them".to_owned())
}

/// Returns an error if one of the `wanted` environments does not exist.
fn unknown(wanted: &[String], groups: &[Group], found: &BTreeMap<String, FoundEnvironments>) -> Option<String> {
    const NAMED: usize = 50;
    let declared = groups.iter().flat_map(|group| &group.config.environments);
    let mut known: BTreeSet<&str> = declared.map(|environment| &*environment.name).collect();
    known.extend(found.keys().map(String::as_str));
    if groups.iter().any(|group| group.config.environments.is_empty()) {
        known.insert(DEFAULT_ENVIRONMENT);
    }
    let unknown = wanted.iter().find(|name| !known.contains(name.as_str()))?;
    let listed: Vec<String> = known.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let more = match known.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let listed = listed.join(", ");
    (!known.is_empty())
        .then(|| format!("`--environment`: there is no environment `{unknown}`; there are {listed}{more}"))
}

/// Returns the names of all environments in the order of the files, limited to `only` unless that is empty; a single
/// `None` if there are no environments.
fn environments(groups: &[Group], only: &[String]) -> Vec<Option<String>> {
    let mut names: Vec<Option<String>> = Vec::new();
    for environment in groups.iter().flat_map(|group| &group.config.environments) {
        let name = Some(environment.name.clone());
        let is_wanted = only.is_empty() || only.contains(&environment.name);
        if is_wanted && !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        names.push(None);
    }
    names
}

impl Group {
    /// Returns the inputs of this group in the environment `name`; `None` if the group declares other environments
    /// only.
    fn inputs_of(&self, name: Option<&str>, command_line: &Inputs) -> Option<Inputs> {
        let environments: &[Declared] = &self.config.environments;
        if environments.is_empty() {
            return Some(command_line.clone());
        }
        let environment = environments
            .iter()
            .find(|environment| Some(&*environment.name) == name)?;
        Some(environment.inputs.overridden_by(command_line))
    }

    /// Returns `true` if environments that the files themselves name apply: no environments are declared, and the
    /// command line requests one, or sets no values and the configuration does not exclude them.
    fn uses_found_environments(&self, run: &Run<'_>) -> bool {
        let inputs = &run.options.inputs;
        let is_given = inputs.stage.is_some()
            || inputs.workspace.is_some()
            || !(inputs.variables.is_empty() && inputs.parameters.is_empty());
        let applies = !(self.config.default_environment_only || is_given) || !run.options.environments.is_empty();
        self.config.environments.is_empty() && applies
    }
}

/// Returns the path of the unit `name`.
pub(super) fn unit_path(name: &str, sources: &Sources) -> PathBuf {
    let base = sources.repository().unwrap_or_else(|| sources.working_directory());
    let path: &Path = Path::new(name);
    let joined = base.join(path);
    sources.files().real(&joined).unwrap_or(joined)
}
