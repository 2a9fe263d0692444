//! The units of a run with their configurations: read and judged once for each environment, then put together.

mod shared;
mod suppressed;

use crate::config::{Config, ConfigError, Configs, Environment};
use crate::diagnostic::{Diagnostic, NotEvaluated, Subject, Suppressed};
use crate::discover::Input;
use crate::files::Files;
use crate::frontend;
use crate::given::Given;
use crate::graph::Graph;
use crate::history::{Held, Why};
use crate::judge::{Policies, judge};
use crate::rules::{Judgement, Verdict};
use crate::source::Sources;
use crate::{Options, Outcome};
use rustc_hash::{FxHashMap, FxHashSet};
use shared::Shared;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use suppressed::Silenced;

/// Inputs that the same environments hold for.
struct Group {
    config: Arc<Config>,
    inputs: Vec<Input>,
}

/// What there is to read, by configuration.
pub(crate) struct Project {
    groups: Vec<Group>,
    /// How many inputs were left out.
    pub(crate) excluded: usize,
}

/// What there is to say, before it is asked what was known.
pub(crate) struct Found {
    /// Findings with the environments they hold in.
    pub(crate) held: Vec<Held>,
    /// How many environments there are.
    pub(crate) environments: usize,
    /// Which configuration holds for which unit.
    pub(crate) policies: Policies,
}

/// What one environment gives.
struct Judged {
    name: Option<String>,
    graph: Graph,
    findings: Vec<Diagnostic>,
    not_evaluated: Vec<NotEvaluated>,
    judgements: Vec<Judgement>,
    /// Units that were not read whole.
    broken: FxHashSet<String>,
}

impl Project {
    /// Sorts `inputs` by configuration, and leaves out those that theirs passes over.
    pub(crate) fn new(
        inputs: Vec<Input>,
        configs: &Configs,
        options: &Options,
        files: &Files,
    ) -> Result<Project, ConfigError> {
        let stdin = options.stdin.as_ref().and_then(|stdin| stdin.path.as_ref());
        let named = options.paths.iter().chain(stdin);
        let named: Vec<PathBuf> = named.filter_map(|path| files.named(path).ok()).collect();
        let mut groups: Vec<Group> = Vec::new();
        let mut excluded = 0;
        for input in inputs {
            let config = configs.of(input.path())?;
            if let Some(above) = config.excluded(input.path())
                && (options.force_exclude || !named.iter().any(|path| path.starts_with(&above)))
            {
                excluded += 1;
                continue;
            }
            let same = |group: &&mut Group| group.config.environments == config.environments;
            match groups.iter_mut().find(same) {
                Some(group) => group.inputs.push(input),
                None => groups.push(Group {
                    config,
                    inputs: vec![input],
                }),
            }
        }
        Ok(Project { groups, excluded })
    }

    /// Reads and judges every unit in every environment.
    pub(crate) fn judge(
        &self,
        options: &Options,
        configs: &Configs,
        refused: Vec<Diagnostic>,
        outcome: &mut Outcome,
    ) -> Found {
        outcome.errors.extend(self.unused_variables(&options.given));
        let mut judged = Vec::new();
        let mut policies = Policies::default();
        for name in self.environments() {
            judged.push(self.judge_in(name, options, configs, &mut policies, outcome));
        }
        // What could not be read is said in every environment.
        for found in refused {
            let unit = found.subject.unit.clone();
            let config = configs.of(&place(&unit, &outcome.sources)).unwrap_or_default();
            if options.selection.keeps_tool(found.rule, &config) {
                for one in &mut judged {
                    one.findings.push(found.clone());
                }
            }
            policies.insert_missing(&unit, config);
        }
        let silenced = if options.no_ignores {
            Silenced::default()
        } else {
            suppressed::take_out(&mut judged, options, configs, &mut policies, &outcome.sources)
        };
        outcome.suppressed = silenced.suppressed;
        let environments = judged.len();
        let mut found = Vec::new();
        let mut not_evaluated: Vec<NotEvaluated> = Vec::new();
        for (at, one) in judged.into_iter().enumerate() {
            keep_judgements(&mut outcome.judgements, one.judgements, one.name.as_ref());
            found.push((one.name.clone(), one.findings));
            if at == 0 {
                outcome.environment = one.name;
                outcome.graph = one.graph;
                not_evaluated = one.not_evaluated;
                continue;
            }
            for open in one.not_evaluated {
                if !not_evaluated.contains(&open) {
                    not_evaluated.push(open);
                }
            }
            if options.trace {
                outcome.elsewhere.extend(one.name.map(|name| (name, one.graph)));
            }
        }
        // What is wrong with a suppression is wrong in every environment.
        let everywhere: Vec<String> = found.iter().filter_map(|(name, _)| name.clone()).collect();
        let mut held = held_of(found);
        let complaints = silenced.complaints.into_iter();
        held.extend(complaints.map(|complaint| (complaint, everywhere.clone())));
        not_evaluated
            .sort_by(|a: &NotEvaluated, b| (&a.subject, a.rule, &a.reason).cmp(&(&b.subject, b.rule, &b.reason)));
        outcome.not_evaluated = not_evaluated;
        Found {
            held,
            environments,
            policies,
        }
    }

    /// What the command line gives to variables where nothing has any.
    fn unused_variables(&self, given: &Given) -> Option<String> {
        let mut inputs = self.groups.iter().flat_map(|group| &group.inputs).peekable();
        let takes = |input: &Input| matches!(input, Input::TerraformModule(_) | Input::Terragrunt(_));
        let is_unused = !given.variables.is_empty() && inputs.peek().is_some() && !inputs.any(takes);
        is_unused.then(|| "`--var` and `--var-file`: no Terraform module is checked that could take them".to_owned())
    }

    /// Every environment by name, in the order of the files; one without a name where there is none.
    fn environments(&self) -> Vec<Option<String>> {
        let mut names: Vec<Option<String>> = Vec::new();
        for environment in self.groups.iter().flat_map(|group| &group.config.environments) {
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

    fn judge_in(
        &self,
        name: Option<String>,
        options: &Options,
        configs: &Configs,
        policies: &mut Policies,
        outcome: &mut Outcome,
    ) -> Judged {
        let (mut parts, mut findings) = (Vec::new(), Vec::new());
        let mut broken = FxHashSet::default();
        for group in &self.groups {
            let Some(given) = group.given(name.as_deref(), &options.given) else {
                continue;
            };
            for loaded in frontend::load(&group.inputs, &given, &outcome.sources) {
                let unit = loaded.graph.unit.name.clone();
                if !loaded.diagnostics.is_empty() {
                    broken.insert(unit.clone());
                }
                let config = configs
                    .of(&place(&unit, &outcome.sources))
                    .unwrap_or_else(|_| group.config.clone());
                let is_kept = |found: &Diagnostic| options.selection.keeps_tool(found.rule, &config);
                findings.extend(loaded.diagnostics.into_iter().filter(is_kept));
                outcome.errors.extend(loaded.errors);
                policies.insert(&unit, config);
                parts.push(loaded.graph);
            }
        }
        let graph = Graph::assemble(parts);
        let judged = judge(&graph, &outcome.sources, &options.selection, policies, options.trace);
        findings.extend(judged.findings);
        Judged {
            name,
            graph,
            findings,
            not_evaluated: judged.not_evaluated,
            judgements: judged.judgements,
            broken,
        }
    }
}

impl Found {
    /// Says what is new: what is not `known` before.
    pub(crate) fn conclude(self, known: Vec<Option<Why>>, options: &Options, outcome: &mut Outcome) {
        let shared = Shared::of(&outcome.graph, &self.held);
        let (mut new, mut old) = (Vec::new(), BTreeMap::<Why, Vec<Diagnostic>>::new());
        for (held, why) in self.held.into_iter().zip(known) {
            let found = placed(held, self.environments);
            if found.severity < options.min_severity {
                continue;
            }
            match why {
                Some(why) => old.entry(why).or_default().push(found),
                None => new.push(found),
            }
        }
        outcome.findings = told(new, &outcome.sources);
        frontend::add_fixes(&mut outcome.findings, &outcome.sources);
        for found in &mut outcome.findings {
            if shared.reaches_others(found, &outcome.sources) {
                found.fix = None;
            }
        }
        outcome.history.known = silenced(old, &outcome.sources);
        outcome.fails = outcome.findings.iter().any(|found| {
            let level = options.fail_level.or(self.policies.of(&found.subject.unit).fail_level);
            level.unwrap_or_default().fails(found.severity)
        });
    }
}

impl Group {
    /// What the environment called `name` gives to this group; nothing where it has others only.
    fn given(&self, name: Option<&str>, command_line: &Given) -> Option<Given> {
        let environments: &[Environment] = &self.config.environments;
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

/// Whether two environments say the same of one subject.
fn says_the_same(one: &Diagnostic, other: &Diagnostic) -> bool {
    fn said(found: &Diagnostic) -> impl PartialEq + '_ {
        let text = (&found.headline, &found.calculation, &found.help, &found.when);
        (found.rule, &found.subject, found.severity, found.primary().span, text)
    }
    said(one) == said(other)
}

/// The findings of environments, each with the names of those that it holds in.
fn held_of(found: Vec<(Option<String>, Vec<Diagnostic>)>) -> Vec<Held> {
    let mut found = found.into_iter();
    let Some((first, findings)) = found.next() else {
        return Vec::new();
    };
    let mut held = named(findings, first.as_ref());
    for (name, next) in found {
        for (found, names) in named(next, name.as_ref()) {
            match held.iter_mut().find(|(known, _)| says_the_same(known, &found)) {
                Some((known, environments)) => {
                    environments.extend(names);
                    // The same number may come from another file there.
                    known.add_labels(found.labels());
                    known.keep_remedy_of(&found);
                }
                None => held.push((found, names)),
            }
        }
    }
    held
}

/// Adds the judgements of one environment; what is judged alike in several is one that names them.
fn keep_judgements(known: &mut Vec<Judgement>, judgements: Vec<Judgement>, environment: Option<&String>) {
    let mut places: FxHashMap<(&'static str, Subject, Verdict, Option<String>), usize> = FxHashMap::default();
    let key = |one: &Judgement| (one.rule, one.subject.clone(), one.verdict.clone(), one.when.clone());
    places.extend(known.iter().enumerate().map(|(at, one)| (key(one), at)));
    for mut judgement in judgements {
        let before = places.get(&key(&judgement)).and_then(|&at| known.get_mut(at));
        if let Some(before) = before {
            before.read.extend(judgement.read);
            before.environments.extend(environment.cloned());
        } else {
            judgement.environments.extend(environment.cloned());
            known.push(judgement);
        }
    }
}

/// `found`, which says in which of `count` environments it holds, unless that is all of them.
fn placed((found, names): Held, count: usize) -> Diagnostic {
    if count > 1 && names.len() < count {
        found.in_environments(&names)
    } else {
        found
    }
}

/// The findings of environments, of which there are `count`: one that does not hold in all says in which.
fn of_environments(found: Vec<(Option<String>, Vec<Diagnostic>)>, count: usize) -> Vec<Diagnostic> {
    held_of(found).into_iter().map(|held| placed(held, count)).collect()
}

fn named(findings: Vec<Diagnostic>, environment: Option<&String>) -> Vec<Held> {
    let names: Vec<String> = environment.into_iter().cloned().collect();
    findings.into_iter().map(|found| (found, names.clone())).collect()
}

/// `findings` sorted, with those of several calls as one.
fn told(mut findings: Vec<Diagnostic>, sources: &Sources) -> Vec<Diagnostic> {
    findings.sort_by_cached_key(|found| order(found, sources));
    join_calls(findings)
}

/// One entry for what is one finding in several environments or calls and is silenced for one reason.
fn silenced(by_reason: BTreeMap<Why, Vec<Diagnostic>>, sources: &Sources) -> Vec<Suppressed> {
    let mut all = Vec::new();
    for ((by, reason), findings) in by_reason {
        all.extend(told(findings, sources).into_iter().map(|finding| Suppressed {
            finding,
            reason: reason.clone(),
            by: by.clone(),
        }));
    }
    all.sort_by_cached_key(|one| order(&one.finding, sources));
    all
}

/// What suppressions silence and what was known before, in the order of findings.
pub(crate) fn all_silenced(outcome: &Outcome) -> Vec<Suppressed> {
    let mut all = outcome.suppressed.clone();
    all.extend_from_slice(&outcome.history.known);
    all.sort_by_cached_key(|one| order(&one.finding, &outcome.sources));
    all
}

/// Path, place, rule, and what it is about.
fn order(found: &Diagnostic, sources: &Sources) -> (String, u32, &'static str, Subject) {
    let span = found.primary().span;
    let path = sources.file(span.file).name().to_owned();
    (path, span.start, found.rule, found.subject.clone())
}

/// The same finding in several instances of one block (calls of its module, keys of its `for_each`) is one
/// finding that lists them. `findings` are sorted, so the same place is adjacent.
fn join_calls(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut joined: Vec<Diagnostic> = Vec::with_capacity(findings.len());
    // Thousands of instances may share a place, each with words of its own.
    let mut twins: FxHashMap<String, usize> = FxHashMap::default();
    for found in findings {
        let said = (&found.calculation, &found.when, &found.help, found.primary());
        let key = format!(
            "{} {:?} {} {said:?}",
            found.rule, found.severity, found.subject.attribute
        );
        let next = joined.len();
        let twin = *twins.entry(key).or_insert(next);
        let twin = joined.get_mut(twin);
        match twin {
            None => joined.push(found),
            Some(earlier) => {
                if earlier.calls.is_empty() {
                    earlier.calls.push(earlier.subject.address.clone());
                }
                let calls = if found.calls.is_empty() {
                    vec![found.subject.address]
                } else {
                    found.calls
                };
                for call in calls {
                    // Sorted by address, so the same one comes again at once.
                    if earlier.calls.last() != Some(&call) {
                        earlier.calls.push(call);
                    }
                }
            }
        }
    }
    joined
}
