//! Outputs of the roots that `dependency` blocks name.
//!
//! ```text
//! live/queue/terragrunt.hcl    module with `output "arn" { value = aws_sqs_queue.q.arn }`
//! live/worker/terragrunt.hcl   inputs = { queue_arn = dependency.queue.outputs.arn }
//! ```
//!
//! [`connect`] evaluates the outputs of `live/queue` first. Numbers and strings are passed on as they are. An ARN is
//! unknown, but it carries the unit, the address and the attribute ([`RemoteAttribute`]), so that a user of the value
//! can link it to the queue.

use super::{Root, load_with};
use crate::eval::Evaluator;
use crate::inputs::RootInputs;
use crate::limits;
use crate::module::Modules;

use crate::value::{Identity, RemoteAttribute, Value, ValueKind, joined};
use knowledge::Cause;
use rustc_hash::FxHashMap;
use source::Sources;
use std::path::{Path, PathBuf};

/// Roots of a run while they are connected.
struct Connecting<'a> {
    roots: Vec<(PathBuf, Root)>,
    by_directory: FxHashMap<PathBuf, usize>,
    /// Outputs by root; `None` while they are evaluated, and if they are not known.
    outputs: FxHashMap<usize, Option<Value>>,
    modules: &'a Modules,
    inputs: &'a RootInputs,
    sources: &'a Sources,
}

/// Sets the inputs of `roots`, each with its file, that come from outputs of others among them.
pub fn connect(
    roots: Vec<(PathBuf, Root)>,
    modules: &Modules,
    inputs: &RootInputs,
    sources: &Sources,
) -> Vec<(PathBuf, Root)> {
    let by_directory = roots.iter().enumerate();
    let mut connecting = Connecting {
        by_directory: by_directory
            .map(|(at, (_, root))| (root.directory.clone(), at))
            .collect(),
        outputs: FxHashMap::default(),
        roots,
        modules,
        inputs,
        sources,
    };
    for at in 0..connecting.roots.len() {
        connecting.set_inputs(at, 0);
    }
    connecting.roots
}

impl Connecting<'_> {
    /// Sets the inputs of the root `at`, which is at the end of a chain of `depth` dependencies.
    fn set_inputs(&mut self, at: usize, depth: usize) {
        let dependencies = std::mem::take(&mut self.roots[at].1.dependencies);
        let known: FxHashMap<PathBuf, Value> = dependencies
            .into_iter()
            .filter_map(|directory| {
                let dependency = *self.by_directory.get(&directory)?;
                Some((directory, self.outputs_of(dependency, depth + 1)?))
            })
            .collect();
        if known.is_empty() {
            return;
        }
        let outputs = |directory: &Path| known.get(directory).cloned();
        if let Some(root) = load_with(&self.roots[at].0, self.sources, &outputs) {
            self.roots[at].1.inputs = root.inputs;
        }
    }

    fn outputs_of(&mut self, at: usize, depth: usize) -> Option<Value> {
        if let Some(known) = self.outputs.get(&at) {
            return known.clone();
        }
        if depth > limits::MAX_DEPENDENCY_CHAIN {
            return None;
        }
        // Roots that depend on each other have no outputs.
        self.outputs.insert(at, None);
        self.set_inputs(at, depth);
        let outputs = self.evaluated(at);
        self.outputs.insert(at, outputs.clone());
        outputs
    }

    fn evaluated(&self, at: usize) -> Option<Value> {
        let root = &self.roots[at].1;
        let module = self.modules.get(root.module.as_ref()?)?;
        let unit = self.sources.name_of(&root.directory);
        let mut evaluator = Evaluator::new(self.sources, self.modules, module.clone(), &unit);
        evaluator.inputs = Some(self.inputs);
        evaluator.outside.inputs = Some(&root.inputs);
        let outputs = module.outputs.keys().map(|name| {
            let value = evaluator.output(0, name);
            (name.clone(), passed_on(&mut evaluator, value, &unit))
        });
        Some(Value::map(outputs.collect()))
    }
}

/// Returns an output of `unit` as other units see it.
fn passed_on(evaluator: &mut Evaluator<'_>, value: Value, unit: &str) -> Value {
    let value = evaluator.plain(value);
    let mut all = |values: &[Value]| -> Vec<Value> {
        let values = values.iter().cloned();
        values.map(|value| passed_on(evaluator, value, unit)).collect()
    };
    let kind = match &value.kind {
        ValueKind::Null | ValueKind::Bool(_) | ValueKind::Number(_) | ValueKind::Text(_) => return value,
        ValueKind::List(items) => ValueKind::List(all(items).into()),
        ValueKind::Set(items) => ValueKind::Set(all(items).into()),
        ValueKind::Template(parts) => joined(all(parts)).kind,
        ValueKind::Map(entries) => {
            let entries = entries.iter().cloned();
            let entries = entries.map(|(key, value)| (key, passed_on(evaluator, value, unit)));
            Value::map(entries.collect()).kind
        }
        ValueKind::Reference(id, name) if !id.data => {
            let reason = Cause::KnownAfterApply.because(format!("`{}.{name}` is known only after apply", id.address()));
            let attribute = RemoteAttribute {
                unit: unit.into(),
                address: id.address().clone(),
                kind: id.kind.clone(),
                name: name.clone(),
            };
            Value::unknown(reason)
                .identified(|| Some(Identity::of_remote(attribute)))
                .kind
        }
        ValueKind::Unknown(unknown) => {
            // Its key is one of that unit.
            let identity = unknown.identity.as_ref();
            let identity = identity.map(|identity| Identity::of(format!("{unit}: {}", identity.key)));
            Value::unknown(unknown.reason.clone()).identified(|| identity).kind
        }
        _ => Value::unknown(Cause::Derived.because(format!("an output of `{unit}` is not known"))).kind,
    };
    Value { kind, ..value }
}
