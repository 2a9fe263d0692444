//! Terragrunt: the module that a `terragrunt.hcl` calls, with the inputs that result from the file and those it
//! includes.
//!
//! ```text
//! include "root" { path = find_in_parent_folders("root.hcl") }
//! terraform { source = "../../modules/queue" }
//! dependency "dlq" { config_path = "../dlq" }
//! inputs = { delay = 5, dead_letter_arn = dependency.dlq.outputs.arn }
//! ```
//!
//! In `infra/prod/`, below an `infra/root.hcl` with `inputs = { delay = 0, owner = "orders" }`, this becomes a [`Root`]
//! named after its directory. It calls `modules/queue` with three inputs: `delay = 5`, because the file overrides what
//! it includes; `owner = "orders"`, which only the included file sets; and a `dead_letter_arn` that refers to the queue of
//! the root in `infra/dlq`. The module is then evaluated as a root of its own, with the inputs in place of variable files.
//!
//! Terragrunt's functions for paths are in `terragrunt/functions.rs`, the outputs of dependencies in
//! `terragrunt/dependencies.rs`; everything else is Terraform's language. Environment variables and the output of
//! commands are unknown. Nothing is generated or run.

mod dependencies;
mod functions;

use super::eval::{Evaluator, Outside};
use super::module::{Module, Modules, is_code};
use super::syntax::{self, Attribute, Body, Code, ExpressionKind};
use super::value::{Unknown, Value, ValueKind};
use crate::limits;
pub use dependencies::connect;
use functions::Context;
use knowledge::{Cause, Reason};
use source::files::Files;
use source::reading::{Problem, ReadError, read};
use source::{Sources, Span};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Type of the blocks that name other roots.
const DEPENDENCY: &str = "dependency";

/// A `terragrunt.hcl` that is a root.
#[derive(Debug)]
pub struct Root {
    /// Its directory, which names the unit.
    pub directory: PathBuf,
    /// The module that it calls, if it is available.
    pub module: Option<PathBuf>,
    /// Span of the `terraform` block.
    pub call: Option<Span>,
    /// Inputs for the variables of the module.
    pub inputs: TerragruntInputs,
    /// Files that it includes.
    pub included: Vec<PathBuf>,
    /// Directories of the roots whose outputs it uses.
    pub dependencies: BTreeSet<PathBuf>,
    /// Source of a module that is not read.
    pub unread: Option<Arc<str>>,
    /// Notes on parts that are not read.
    pub notes: Vec<String>,
    /// Problems with its files.
    pub problems: Vec<Problem>,
    /// Files that could not be opened.
    pub errors: Vec<String>,
}

/// Inputs for the variables of a root's module.
#[derive(Debug, Clone, Default)]
pub struct TerragruntInputs {
    pub(crate) values: Vec<Attribute>,
    /// The reason why further inputs may exist, with its span.
    rest: Option<(Reason, Span)>,
    /// The reason why any value may be overridden, with its span: variable files take precedence over inputs.
    over: Option<(Reason, Span)>,
}

impl TerragruntInputs {
    /// Returns the input `name`.
    pub(crate) fn get(&self, name: &str) -> Option<Attribute> {
        let open =
            |(reason, span): &(Reason, Span)| known_attribute(name.into(), Value::unknown(reason.clone()), *span);
        if let Some(over) = &self.over {
            return Some(open(over));
        }
        let known = self.values.iter().find(|attribute| &*attribute.name == name).cloned();
        known.or_else(|| self.rest.as_ref().map(open))
    }

    /// Merges the inputs of a file that includes these, which take precedence.
    fn under(mut self, nearer: TerragruntInputs, deep: bool) -> TerragruntInputs {
        for attribute in nearer.values {
            match self.values.iter_mut().find(|known| known.name == attribute.name) {
                None => self.values.push(attribute),
                Some(known) => *known = if deep { merged(known, &attribute) } else { attribute },
            }
        }
        self.rest = nearer.rest.or(self.rest);
        self.over = nearer.over.or(self.over);
        self
    }
}

/// The content of one file.
#[derive(Debug, Default)]
struct Config {
    source: Option<(Value, Span)>,
    inputs: TerragruntInputs,
    locals: Option<Value>,
    included: Vec<PathBuf>,
    /// Its `dependency` blocks, by label.
    dependencies: Vec<(Arc<str>, Value)>,
}

/// Returns the outputs of the root in a directory, if they are known.
type Outputs<'o> = &'o dyn Fn(&Path) -> Option<Value>;

/// Reads files and collects their problems.
struct TerragruntReader<'s> {
    sources: &'s Sources,
    outputs: Outputs<'s>,
    /// Number of files read by other files.
    reads: Cell<usize>,
    problems: RefCell<Vec<Problem>>,
    errors: RefCell<Vec<String>>,
}

/// Loads `file`; `None` if it calls no module and its directory contains none, because then other files include it.
pub fn load(file: &Path, sources: &Sources) -> Option<Root> {
    let dependencies = RefCell::new(BTreeSet::new());
    let outputs = |directory: &Path| {
        dependencies.borrow_mut().insert(directory.to_owned());
        None
    };
    let root = load_with(file, sources, &outputs)?;
    Some(Root {
        dependencies: dependencies.take(),
        ..root
    })
}

/// Like [`load`], with the outputs of dependencies.
fn load_with(file: &Path, sources: &Sources, outputs: Outputs<'_>) -> Option<Root> {
    let directory = file.parent()?.to_owned();
    let reader = TerragruntReader {
        sources,
        outputs,
        reads: Cell::new(0),
        problems: RefCell::default(),
        errors: RefCell::default(),
    };
    let context = Context::of(file, sources);
    let config = reader.config(file, &context, 0);
    let mut root = Root {
        module: None,
        call: config.source.as_ref().map(|(_, span)| *span),
        inputs: config.inputs,
        included: config.included,
        dependencies: BTreeSet::new(),
        unread: None,
        notes: Vec::new(),
        problems: reader.problems.take(),
        errors: reader.errors.take(),
        directory: directory.clone(),
    };
    match &config.source {
        None if holds_module(&directory, sources) => root.module = Some(directory),
        None if root.problems.is_empty() && root.errors.is_empty() => return None,
        None => {}
        Some((value, _)) => {
            // Of a switch between a published module and one of the repository, the latter is read.
            let cases = value.each_case();
            let paths = cases.iter().filter_map(|case| {
                let path = local(&case.then.to_text()?, &directory, sources.files())?;
                context.allows(&path).then_some(path)
            });
            let mut paths: Vec<PathBuf> = paths.collect();
            paths.dedup();
            match (paths.pop(), value.to_text()) {
                (Some(path), _) if paths.is_empty() => root.module = Some(path),
                (_, Some(source)) => root.unread = Some(source),
                (_, None) => {
                    let reason = unknown_part(value).map_or("it is not a string", |unknown| &unknown.reason);
                    root.notes
                        .push(format!("the source of its module is not known: {reason}"));
                    root.unread = Some("terraform.source".into());
                }
            }
        }
    }
    Some(root)
}

/// Returns the unknown value, or the first one in a string or among cases.
fn unknown_part(value: &Value) -> Option<&Unknown> {
    match &value.kind {
        ValueKind::Template(parts) => parts.iter().find_map(unknown_part),
        ValueKind::Cases(cases) => cases.iter().find_map(|case| unknown_part(&case.then)),
        _ => value.as_unknown(),
    }
}

/// Returns the directory of a source that is a path. `//` only determines which directory Terragrunt copies.
fn local(source: &str, directory: &Path, files: &Files) -> Option<PathBuf> {
    let path = source.split('?').next().unwrap_or(source);
    let is_path = path.starts_with('.') || Path::new(path).is_absolute();
    let scheme = path.contains("::") || path.contains("://");
    if !is_path || scheme {
        return None;
    }
    let path = files.real(&directory.join(path.replace("//", "/"))).ok()?;
    files.is_directory(&path).then_some(path)
}

fn holds_module(directory: &Path, sources: &Sources) -> bool {
    sources.files().has_name(directory, is_code)
}

impl Config {
    /// Returns the part that other configurations see.
    fn exposed(&self) -> Value {
        let inputs = self.inputs.values.iter();
        let inputs = inputs.map(|attribute| (attribute.name.clone(), value_of(attribute)));
        Value::map(vec![
            (
                "locals".into(),
                self.locals.clone().unwrap_or_else(|| Value::map(Vec::new())),
            ),
            ("inputs".into(), Value::map(inputs.collect())),
        ])
    }
}

/// Returns the names that expressions of a configuration may use, apart from its own; `own` are its dependencies.
fn names(included: &[(Arc<str>, bool, Config)], own: Vec<(Arc<str>, Value)>) -> Vec<(Arc<str>, Value)> {
    let exposed = included.iter();
    let mut exposed: Vec<_> = exposed
        .map(|(label, _, config)| (label.clone(), config.exposed()))
        .collect();
    // A single include without a label is `include.locals`, one with a label `include.root.locals`.
    let include = match exposed.as_mut_slice() {
        [(label, only)] if label.is_empty() => only.clone(),
        _ => Value::map(exposed),
    };
    let dependencies = included.iter().flat_map(|(_, _, config)| config.dependencies.clone());
    let dependencies: Vec<_> = dependencies.chain(own).collect();
    let dependencies = if dependencies.is_empty() {
        unknown_outputs()
    } else {
        Value::map(dependencies)
    };
    let flags = Cause::RunContext.because("`feature` flags are set when Terragrunt runs");
    vec![
        ("include".into(), include),
        (DEPENDENCY.into(), dependencies),
        ("feature".into(), Value::unknown(flags)),
    ]
}

fn unknown_outputs() -> Value {
    Value::unknown(Cause::KnownAfterApply.because("outputs of a `dependency` are known only after apply"))
}

/// Returns the reason why values of inputs may come from `extra_arguments`, and its place.
fn extra_arguments(terraform: &syntax::Block) -> Option<(Reason, Span)> {
    const SETTING: [&str; 4] = ["required_var_files", "optional_var_files", "arguments", "env_vars"];
    let sets = |block: &&Arc<syntax::Block>| {
        let mut attributes = block.body.attributes.iter();
        &*block.kind == "extra_arguments" && attributes.any(|attribute| SETTING.contains(&&*attribute.name))
    };
    let extra = terraform.body.blocks.iter().find(sets)?;
    let label = extra.labels.first().cloned().unwrap_or_default();
    let reason = Cause::InputWithoutValue.because(format!("`extra_arguments` `{label}` may set it"));
    Some((reason, extra.header))
}

impl TerragruntReader<'_> {
    /// Returns the content of `file`, merged with the files it includes.
    fn config(&self, file: &Path, context: &Context, depth: usize) -> Config {
        let Some(body) = self.body(file) else {
            return Config::default();
        };
        let mut included: Vec<(Arc<str>, bool, Config)> = Vec::new();
        let mut paths = Vec::new();
        let mut context = context.clone();
        let blocks = body.blocks.iter().filter(|block| &*block.kind == "include");
        for block in blocks.filter(|_| depth == 0) {
            let unknown = Evaluation::new(self.sources, &Body::default(), &context, Vec::new());
            let text = |name: &str| unknown.text(block.body.attribute(name));
            let Some(path) = text("path").map(PathBuf::from) else {
                // The included file may set any input, so no variable of the module is certain to have its default.
                let config = Config {
                    inputs: TerragruntInputs {
                        rest: Some((
                            Cause::NotRead.because("a file that `terragrunt.hcl` includes is not known"),
                            block.header,
                        )),
                        ..TerragruntInputs::default()
                    },
                    ..Config::default()
                };
                included.push(("".into(), false, config));
                continue;
            };
            let strategy = text("merge_strategy");
            let path = context.directory.join(path);
            let path = self.sources.files().real(&path).unwrap_or(path);
            let inner = context.including(&path);
            if context.include.is_none() {
                context.include.clone_from(&inner.include);
            }
            let mut config = self.config(&path, &inner, depth + 1);
            paths.push(path);
            if strategy.as_deref() == Some("no_merge") {
                config.inputs = TerragruntInputs::default();
                config.source = None;
            }
            let label = block.labels.first().cloned().unwrap_or_default();
            included.push((label, strategy.as_deref() == Some("deep"), config));
        }
        let mut own = self.own(&body, &context, &included, depth);
        own.included = paths;
        // A later include overrides earlier ones, and the file itself overrides all of them.
        for (_, deep, config) in included.into_iter().rev() {
            own.inputs = config.inputs.under(own.inputs, deep);
            own.source = own.source.or(config.source);
        }
        own
    }

    /// Evaluates the blocks of the file itself.
    fn own(&self, body: &Body, context: &Context, included: &[(Arc<str>, bool, Config)], depth: usize) -> Config {
        let read_other = |path: &Path| {
            let path = self.sources.files().real(path).unwrap_or_else(|_| path.to_owned());
            self.other(&path, context, depth)
        };
        let dependencies = self.dependencies(body, context);
        let evaluation = Evaluation {
            read_other: Some(&read_other),
            ..Evaluation::new(self.sources, body, context, names(included, dependencies.clone()))
        };
        let mut config = Config {
            locals: Some(evaluation.locals()),
            dependencies,
            ..Config::default()
        };
        let mut over = None;
        for block in body.blocks.iter().filter(|block| &*block.kind == "terraform") {
            if let Some(attribute) = block.body.attribute("source") {
                config.source = Some((evaluation.value(attribute), block.header));
            }
            over = extra_arguments(block).or(over);
        }
        if let Some(attribute) = body.attribute("inputs") {
            config.inputs = inputs_of(evaluation.value(attribute), attribute.span);
        }
        config.inputs.over = over;
        config
    }

    /// Returns the values of the `dependency` blocks in `body`.
    fn dependencies(&self, body: &Body, context: &Context) -> Vec<(Arc<str>, Value)> {
        let evaluation = Evaluation::new(self.sources, body, context, Vec::new());
        let blocks = body.blocks.iter().filter(|block| &*block.kind == DEPENDENCY);
        let values = blocks.filter_map(|block| {
            let label = block.labels.first()?.clone();
            let path = evaluation.text(block.body.attribute("config_path"));
            let path = path.and_then(|path| self.sources.files().real(&context.directory.join(path)).ok());
            let path = path.filter(|path| context.allows(path) && block.body.attribute("skip_outputs").is_none());
            let outputs = path
                .and_then(|path| (self.outputs)(&path))
                .unwrap_or_else(unknown_outputs);
            Some((label, Value::map(vec![("outputs".into(), outputs)])))
        });
        values.collect()
    }

    /// Returns what `read_terragrunt_config` yields for the file at `path`.
    fn other(&self, path: &Path, context: &Context, depth: usize) -> Value {
        if depth >= limits::MAX_TERRAGRUNT_DEPTH || !context.allows(path) {
            return Value::unknown(Cause::MissingModule.because("a configuration that it reads was not found"));
        }
        if self.reads.get() >= limits::MAX_TERRAGRUNT_READS {
            return Value::unknown(Cause::Limit.because(format!(
                "more than {} configurations are read",
                limits::MAX_TERRAGRUNT_READS
            )));
        }
        self.reads.set(self.reads.get() + 1);
        self.config(path, &Context::of(path, self.sources), depth + 1).exposed()
    }

    fn body(&self, file: &Path) -> Option<Body> {
        match read(file, self.sources) {
            Ok(id) => {
                let code = Code::of(id, &self.sources.file(id));
                let problems = code.problems.iter().cloned().map(Problem::from);
                self.problems.borrow_mut().extend(problems);
                Some(code.body.clone())
            }
            Err(ReadError::Io(error)) => {
                self.errors.borrow_mut().push(error);
                None
            }
            Err(ReadError::Unfit(problem)) => {
                self.problems.borrow_mut().push(problem);
                None
            }
        }
    }
}

/// Evaluates the expressions of one file.
struct Evaluation<'c> {
    sources: &'c Sources,
    context: &'c Context,
    names: Vec<(Arc<str>, Value)>,
    module: Arc<Module>,
    read_other: Option<&'c dyn Fn(&Path) -> Value>,
}

impl<'c> Evaluation<'c> {
    fn new(sources: &'c Sources, body: &Body, context: &'c Context, names: Vec<(Arc<str>, Value)>) -> Self {
        let mut module = Module {
            directory: context.directory.clone(),
            ..Module::default()
        };
        for block in body.blocks.iter().filter(|block| &*block.kind == "locals") {
            for attribute in &block.body.attributes {
                module.locals.insert(attribute.name.clone(), attribute.clone());
            }
        }
        Evaluation {
            sources,
            context,
            names,
            module: Arc::new(module),
            read_other: None,
        }
    }

    fn value(&self, attribute: &Attribute) -> Value {
        let none = Modules::new();
        let call = |name: &str, arguments: &[Value]| self.context.call(name, arguments, self.read_other);
        let mut evaluator = Evaluator::new(self.sources, &none, self.module.clone(), "");
        evaluator.outside = Outside {
            functions: Some((functions::knows, &call)),
            names: self.names.clone(),
            inputs: None,
            unset: None,
        };
        let scope = evaluator.scope(0);
        evaluator.eval(&attribute.value, &scope)
    }

    fn text(&self, attribute: Option<&Attribute>) -> Option<String> {
        Some(self.value(attribute?).to_text()?.to_string())
    }

    fn locals(&self) -> Value {
        let locals = self.module.locals.values();
        Value::map(
            locals
                .map(|attribute| (attribute.name.clone(), self.value(attribute)))
                .collect(),
        )
    }
}

/// Returns the entries of `inputs`.
fn inputs_of(value: Value, span: Span) -> TerragruntInputs {
    let Some(entries) = value.entries() else {
        return TerragruntInputs {
            rest: Some((value.reason_or("the `inputs` are not known"), span)),
            ..TerragruntInputs::default()
        };
    };
    let values = entries.iter().map(|(name, value)| {
        let place = value.span.unwrap_or(span);
        known_attribute(name.clone(), value.clone(), place)
    });
    TerragruntInputs {
        values: values.collect(),
        ..TerragruntInputs::default()
    }
}

fn known_attribute(name: Arc<str>, value: Value, span: Span) -> Attribute {
    Attribute::known(name, ExpressionKind::Known(Box::new(value)), span)
}

fn value_of(attribute: &Attribute) -> Value {
    match &attribute.value.kind {
        ExpressionKind::Known(value) => (**value).clone(),
        _ => Value::unknown(Cause::Derived.because("it is not known")),
    }
}

/// Merges maps entry by entry and concatenates lists. Of other values, the nearer one wins.
fn merged(further: &Attribute, nearer: &Attribute) -> Attribute {
    let value = deep(value_of(further), value_of(nearer), 0);
    known_attribute(nearer.name.clone(), value, nearer.span)
}

fn deep(further: Value, nearer: Value, depth: usize) -> Value {
    if depth > 24 {
        return nearer;
    }
    match (&further.kind, &nearer.kind) {
        (ValueKind::Map(far), ValueKind::Map(near)) => {
            let mut all: Vec<(Arc<str>, Value)> = far.to_vec();
            for (key, value) in near.iter() {
                match all.iter_mut().find(|(known, _)| known == key) {
                    Some((_, known)) => *known = deep(known.clone(), value.clone(), depth + 1),
                    None => all.push((key.clone(), value.clone())),
                }
            }
            Value {
                kind: Value::map(all).kind,
                ..nearer
            }
        }
        (ValueKind::List(far), ValueKind::List(near)) => {
            let all = far.iter().chain(near.iter()).cloned();
            Value {
                kind: Value::list(all.collect()).kind,
                ..nearer
            }
        }
        _ => nearer,
    }
}
