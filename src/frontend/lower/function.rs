//! Lowers Lambda functions, and the destinations of failed asynchronous invocations.

use super::code::CodeNames;
use super::worker::EnvironmentNames;
use super::{BareName, Lowering, Node, Path, View, is_absent, last};
use crate::graph::workers::Variable;
use crate::graph::{
    Attribute, CodeSource, DeadLetterUse, FailureTarget, Function, FunctionAttributeNames, FunctionAttributes,
    FunctionSettings, Link, Owner, SourcedValue, State, Unread, limits,
};
use conditions::{Case, Cases, Condition};

/// Names of a function's attributes.
pub(in crate::frontend) struct FunctionNames {
    pub(in crate::frontend) attributes: FunctionAttributeNames,
    pub(in crate::frontend) durable: Path,
    pub(in crate::frontend) failures: &'static [FailureNames],
    /// Paths of the tags; the first that is written is used.
    pub(in crate::frontend) tags: &'static [Path],
    pub(in crate::frontend) runtime: Path,
    pub(in crate::frontend) memory: Path,
    pub(in crate::frontend) architectures: Path,
    pub(in crate::frontend) layers: Path,
    /// The map of environment variables.
    pub(in crate::frontend) environment: Path,
    pub(in crate::frontend) code: CodeNames,
}

/// Names of the attributes of a failure destination.
pub(in crate::frontend) struct FailureNames {
    pub(in crate::frontend) name: &'static str,
    /// The whole setting, for its span.
    pub(in crate::frontend) setting: Path,
    pub(in crate::frontend) target: Path,
}

/// Names of the attributes of a configuration of asynchronous invocations.
pub(in crate::frontend) struct InvokeConfigNames {
    pub(in crate::frontend) function: Path,
    pub(in crate::frontend) failure: FailureNames,
    pub(in crate::frontend) success: FailureNames,
}

/// Arguments of the package. If Terraform ignores their changes, something else deploys the code.
const PACKAGE: [&str; 6] = [
    "all",
    "filename",
    "image_uri",
    "s3_key",
    "s3_object_version",
    "source_code_hash",
];

/// Returns `true` for code that is replaced by what is deployed later: text in the configuration, or a file with such a
/// name.
fn is_placeholder(source: &CodeSource) -> bool {
    match source {
        CodeSource::Text(..) => true,
        CodeSource::Path(path) => {
            let path = path.to_string_lossy();
            ["placeholder", "dummy"].iter().any(|word| path.contains(word))
        }
        CodeSource::Package(_) | CodeSource::Elsewhere => false,
    }
}

impl<V: View> Lowering<V> {
    pub(super) fn function(&mut self, node: Node<V::Value>, names: &FunctionNames) {
        let written = &node.written;
        let mut failure_targets = Vec::new();
        for failure in names.failures {
            failure_targets.extend(self.failure_target(&node, failure, Owner::Function));
        }
        let settings = self.function_settings(written, names);
        let runtime = settings.as_ref().and_then(|settings| settings.runtime.known()?.clone());
        let mut attributes = FunctionAttributes::read(&mut self.reading(written), &names.attributes);
        attributes.managed_instances = self.read(written, names.attributes.managed_instances, &false, |_, _| Ok(true));
        // A negative number means "no reservation" in Terraform; Lambda itself accepts none.
        attributes.reserved_concurrency = attributes.reserved_concurrency.map(|state| match state {
            State::Set(Some(count)) if count < 0 => State::Set(None),
            other => other,
        });
        if !is_absent(&self.view.attribute(written, names.durable)) {
            attributes.durable_execution_timeout = attributes.durable_execution_timeout.map(|state| match state {
                State::Default(_) => {
                    State::Unresolved(V::missing(last(names.attributes.durable_execution_timeout)).into())
                }
                other => other,
            });
        }
        let name = &attributes.name;
        // The name, and the labels in the address: `module.router.aws_lambda_function.this[0]`.
        let end = name.unresolved_reason().and_then(|(_, unresolved)| {
            let end = unresolved.pattern()?.tail().strip_prefix(['-', '_']);
            end.map(str::to_owned)
        });
        let known = name.known().cloned().flatten().or(end);
        let address = node.resource.address.to_string();
        let labels = address.split('.').rev().step_by(2).take(2);
        let labels = labels.map(|label| label.split('[').next().unwrap_or(label).to_owned());
        let called: Vec<String> = known.into_iter().chain(labels).collect();
        let package = called.first().cloned().unwrap_or_default();
        let mut code = self.code(written, &names.code, runtime, called);
        if node.resource.ignored.iter().any(|name| PACKAGE.contains(&&**name))
            && code.source.as_ref().is_some_and(is_placeholder)
        {
            code.source = Some(CodeSource::Package(package));
        }
        let function = Function {
            attributes,
            timeout_set_by: self.view.set_by(written, names.attributes.timeout),
            provisioned: Vec::new(),
            failure_targets,
            success_targets: Vec::new(),
            tags: self.tags(written, names.tags),
            queue_variables: self.queue_variables(written, names.environment),
            settings,
            code,
            handler: Err(Unread::NotSearched),
            resource: node.resource,
        };
        self.graph.functions.push(function);
    }

    /// Returns the environment variables at `path` that may hold a queue.
    fn queue_variables(&mut self, written: &V::Value, path: Path) -> Vec<Variable> {
        let mut all = self.environment(written, &Condition::always(), &[EnvironmentNames::Object(path)]);
        all.retain(Variable::may_hold_queue);
        all
    }

    /// Returns the attributes that only policies read, or `None` if all are absent.
    fn function_settings(&mut self, written: &V::Value, names: &FunctionNames) -> Option<Box<FunctionSettings>> {
        let link = |view: &mut V, value: &V::Value| view.link(value, BareName::Queue);
        let settings = FunctionSettings {
            runtime: self.text(written, names.runtime),
            memory: self.plain(written, names.memory, limits::MEMORY_DEFAULT),
            architectures: self.each(written, [names.architectures, "", ""], V::text),
            layers: self.each(written, [names.layers, "", ""], link),
            environment: self.map(written, names.environment),
        };
        let is_absent = is_absent(&settings.runtime)
            && is_absent(&settings.memory)
            && is_absent(&settings.architectures)
            && is_absent(&settings.layers)
            && is_absent(&settings.environment);
        (!is_absent).then(|| Box::new(settings))
    }

    /// Lowers a failure destination; a queue that it names is a dead-letter queue.
    fn failure_target(&mut self, node: &Node<V::Value>, names: &FailureNames, owner: Owner) -> Option<FailureTarget> {
        let target = self.destination(node, names)?;
        self.graph.dead_letter_uses.push(DeadLetterUse {
            resource: node.resource.address.clone(),
            owner,
            span: target.span,
            target: target.target.clone(),
            when: target.when.clone(),
        });
        Some(target)
    }

    /// Lowers a destination, with the conditions under which it is written.
    fn destination(&mut self, node: &Node<V::Value>, names: &FailureNames) -> Option<FailureTarget> {
        let (written, setting) = (&node.written, names.setting);
        if !self.view.has(written, setting.split('.').next().unwrap_or(setting)) {
            return None;
        }
        let whole = self.view.attribute(written, names.setting);
        let span = whole.cases.iter().find(|case| !case.is_default())?.span;
        let target = self.plain(written, names.target, None);
        let set = target.cases.into_iter().filter_map(|case| {
            let SourcedValue { state, span, origins } = case.then;
            let state = match state {
                State::Set(link) => State::Set(link?),
                State::Default(_) => return None,
                State::Unresolved(reason) => State::Unresolved(reason),
            };
            Some(Case::new(case.when, SourcedValue { state, span, origins }))
        });
        let set: Cases<SourcedValue<Link>> = set.collect();
        let when = set.iter().fold(Condition::never(), |all, case| all.or(&case.when));
        if set.is_empty() {
            return None;
        }
        Some(FailureTarget {
            name: names.name.into(),
            span,
            when: node.resource.when.and(&when),
            target: Attribute {
                name: target.name,
                cases: set,
            },
        })
    }

    /// Lowers a separate resource with the destinations of a function.
    pub(super) fn invoke_config(&mut self, node: Node<V::Value>, names: &InvokeConfigNames) {
        if let Some(target) = self.failure_target(&node, &names.failure, Owner::Other) {
            let function = self.link(&node.written, names.function, BareName::Function);
            self.pending.failure_targets.push((function, target));
        }
        if let Some(target) = self.destination(&node, &names.success) {
            let function = self.link(&node.written, names.function, BareName::Function);
            self.pending.success_targets.push((function, target));
        }
    }
}
