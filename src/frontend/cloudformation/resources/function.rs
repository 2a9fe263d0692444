//! `AWS::Lambda::Function` and SAM's function, and where failed asynchronous invocations go.

use super::{Lowering, Properties, integer};
use crate::conditions::Condition;
use crate::frontend::cloudformation::template::Declared;
use crate::frontend::cloudformation::value::{Evaluated, Outcomes};
use crate::graph::{Attribute, DeadLetterUse, FailureTarget, Function, Link, Resource, Seconds, State, Target, limits};
use std::sync::Arc;

impl<'t> Lowering<'_, 't> {
    pub(super) fn function(&mut self, resource: Resource, properties: &Properties<'t>) {
        let by = resource.address.clone();
        let mut function = self.plain_function(resource, properties);
        for setting in ["DeadLetterConfig", "DeadLetterQueue"] {
            if !self.is_written(properties, setting) {
                continue;
            }
            let target = self.failure_target(properties, setting, &[setting, "TargetArn"]);
            function.failure_targets.extend(self.used_by(&by, target));
        }
        self.graph.functions.push(function);
    }

    fn plain_function(&self, resource: Resource, properties: &Properties<'t>) -> Function {
        let is_durable = self.get(properties, &["DurableConfig"]);
        let is_durable = is_durable
            .iter()
            .any(|outcome| !matches!(outcome.value, Evaluated::Absent));
        let unknown = State::Unresolved("`DurableConfig` has no `ExecutionTimeout`".into());
        let absent = if is_durable { unknown } else { State::Default(None) };
        Function {
            name: self.name(properties, &["FunctionName"]),
            timeout: self.attribute(
                properties,
                &["Timeout"],
                &self.unwritten(&resource, "Timeout", limits::FUNCTION_TIMEOUT_DEFAULT),
                |value| integer(value).map(Seconds),
            ),
            reserved_concurrency: self.attribute(
                properties,
                &["ReservedConcurrentExecutions"],
                &self.unwritten(&resource, "ReservedConcurrentExecutions", None),
                |value| integer(value).map(Some),
            ),
            managed_instances: self.attribute(
                properties,
                &["CapacityProviderConfig"],
                &State::Default(false),
                |value| match value {
                    Evaluated::Unresolved(reason) => Err(reason.clone()),
                    _ => Ok(true),
                },
            ),
            durable_execution_timeout: self.attribute(
                properties,
                &["DurableConfig", "ExecutionTimeout"],
                &absent,
                |value| integer(value).map(|seconds| Some(Seconds(seconds))),
            ),
            failure_targets: Vec::new(),
            role: self.optional_link(properties, &["Role"]),
            recursive_loop: self.attribute(
                properties,
                &["RecursiveLoop"],
                &State::Default("Terminate".to_owned()),
                Evaluated::text,
            ),
            resource,
        }
    }

    /// What the setting `key` is that the function `resource` does not have.
    fn unwritten<T>(&self, resource: &Resource, key: &str, default: T) -> State<T> {
        if self.template.globals_may_be_elsewhere() && &*resource.kind == "AWS::Serverless::Function" {
            return State::Unresolved(format!("`Globals` in a file that was not read may set `{key}`").into());
        }
        State::Default(default)
    }

    /// The setting at `path`, in the worlds where it is written.
    fn failure_target(
        &self,
        properties: &Properties<'t>,
        name: &'static str,
        path: &[&'static str],
    ) -> Option<FailureTarget> {
        let outcomes = self.get(properties, path).into_iter();
        let written: Outcomes<'t> = outcomes
            .filter(|outcome| !matches!(outcome.value, Evaluated::Absent))
            .collect();
        let when = written
            .iter()
            .fold(Condition::never(), |either, outcome| either.or(&outcome.when));
        let whole = self.get(properties, path.get(..1).unwrap_or_default());
        let span = whole
            .first()
            .map(|outcome| outcome.span)
            .or(written.first().map(|outcome| outcome.span))?;
        if written.is_empty() {
            return None;
        }
        let absent = State::Unresolved("it is missing".into());
        let key = path.last().copied().unwrap_or_default();
        Some(FailureTarget {
            name: name.into(),
            span,
            when: properties.world.and(&when),
            target: super::attribute(key, written, properties.header, &absent, |value| {
                self.template.link(value)
            }),
        })
    }

    /// Notes what `target` points to as a dead-letter queue, and gives it back.
    fn used_by(&mut self, by: &Arc<str>, target: Option<FailureTarget>) -> Option<FailureTarget> {
        let target = target?;
        self.graph.dead_letter_uses.push(DeadLetterUse {
            by: by.clone(),
            span: target.span,
            target: target.target.clone(),
            when: target.when.clone(),
        });
        Some(target)
    }

    /// `AWS::Lambda::EventInvokeConfig`: the failure destination belongs to the function that it names.
    pub(super) fn invoke_config(&mut self, declared: &Declared<'t>) {
        let resource = self.resource(declared);
        if !resource.when.is_possible() {
            return;
        }
        let properties = self.properties(declared, &resource.when);
        let path = ["DestinationConfig", "OnFailure", "Destination"];
        let target = self.failure_target(&properties, "OnFailure", &path);
        let Some(target) = self.used_by(&resource.address, target) else {
            return;
        };
        let function: Attribute<Link> = self.link(&properties, &["FunctionName"]);
        let Some(Target::Resource(address)) = function.known().map(|link| &link.target) else {
            return;
        };
        if let Some(function) = self.graph.functions.iter_mut().find(|f| f.resource.address == *address) {
            function.failure_targets.push(target);
        }
    }
}
