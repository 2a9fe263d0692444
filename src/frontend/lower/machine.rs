//! Lowers state machines of Step Functions: finds the tasks in their definitions that send to queues, and those that
//! wait for a task token, at any depth of nesting. It ignores all other states, and computed values.

use super::read::exact;
use super::{Field, Lowering, Path, View, is_absent, own_link};
use crate::graph::delivery::{EventTarget, Sender, StateMachine, TokenTask, TokenTasks};
use crate::graph::{Attribute, Cause, Link, Reason, Resource, State};
use conditions::Condition;

/// Suffix of the resource of a task that sends a message with its token: in ARNs of the optimised integration and of
/// the SDK's, in every partition. <https://docs.aws.amazon.com/step-functions/latest/dg/connect-sqs.html>
const SENDS_TOKEN: &str = ":sqs:sendMessage.waitForTaskToken";
/// Suffixes of the resource of a task that sends a message.
const SENDS: [&str; 4] = [
    ":sqs:sendMessage",
    SENDS_TOKEN,
    ":aws-sdk:sqs:sendMessage",
    ":aws-sdk:sqs:sendMessage.waitForTaskToken",
];
/// Start of an expression in `JSONata`, whose value is known only when the task runs.
const JSONATA: &str = "{%";
/// Fields that end a waiting task; the paths exist only with `JSONPath`.
/// <https://docs.aws.amazon.com/step-functions/latest/dg/state-task.html>
const LIMITS: [&str; 4] = [
    "TimeoutSeconds",
    "TimeoutSecondsPath",
    "HeartbeatSeconds",
    "HeartbeatSecondsPath",
];
/// Maximum depth of nested states.
const MAX_DEPTH: usize = 16;

/// Tasks of a definition.
struct Tasks {
    machine: Resource,
    tokens: TokenTasks,
    sends: Vec<EventTarget>,
}

impl<V: View> Lowering<V> {
    pub(super) fn state_machine(&mut self, node: super::Node<V::Value>, definitions: &[Path], kind: Path, role: Path) {
        let written = &node.written;
        let role = self.plain(written, role, None);
        let definitions = definitions
            .iter()
            .map(|path| self.definition(written, path, &node.resource));
        let definitions: Vec<_> = definitions.collect();
        let written_one = definitions.iter().find(|definition| !is_absent(definition));
        let Some(definition) = written_one.or(definitions.first()).cloned() else {
            return;
        };
        let resource = node.resource;
        let not_read = || Cause::NotRead.because(format!("the definition of {resource} is not read"));
        let mut sends = Vec::new();
        let cases = definition.cases.map_cases(|when, sourced| {
            sourced.map(|state| match state {
                State::Set(Some((tasks, targets))) => {
                    sends.extend(targets.into_iter().map(|target| (when.clone(), target)));
                    State::Set(tasks)
                }
                State::Set(None) | State::Default(_) => State::Unresolved(not_read().into()),
                State::Unresolved(reason) => State::Unresolved(reason),
            })
        });
        for (when, target) in sends {
            let mut target = EventTarget {
                role: role.clone(),
                ..target
            };
            target.resource.when = target.resource.when.and(&when);
            self.graph.deliveries.targets.push(target);
        }
        let machine = StateMachine {
            tasks: Attribute {
                name: definition.name,
                cases,
            },
            express: self.read(written, kind, &false, |view, kind| Ok(view.text(kind)? == "EXPRESS")),
            resource,
        };
        self.graph.deliveries.machines.push(machine);
    }

    fn definition(
        &mut self,
        written: &V::Value,
        path: Path,
        resource: &Resource,
    ) -> Attribute<Option<(TokenTasks, Vec<EventTarget>)>> {
        self.policy(written, path, |this, object, _| {
            let not_json = |_| Cause::Invalid.because("its definition is not a JSON object");
            let fields = this.view.fields(&object.map_err(not_json)?)?;
            let mut found = Tasks {
                machine: resource.clone(),
                tokens: TokenTasks::default(),
                sends: Vec::new(),
            };
            // The timeout of an execution ends its waiting tasks, too.
            let endless = this.absent(&fields, "TimeoutSeconds");
            this.add_states(&fields, &Condition::always(), &endless, &mut found, 0);
            Ok((found.tokens, found.sends))
        })
    }

    /// Adds the waiting tasks among the states in `fields`, including nested ones. `unlimited` is the condition under
    /// which no enclosing timeout exists.
    fn add_states(
        &mut self,
        fields: &[Field<V::Value>],
        when: &Condition,
        unlimited: &Condition,
        tasks: &mut Tasks,
        depth: usize,
    ) {
        let states = exact(fields, "States").map(|states| self.view.fields(&states.value));
        let states = match states {
            None => return,
            Some(Ok(_)) if depth > MAX_DEPTH => Err(Cause::Limit.because("states are nested too deep")),
            Some(states) => states,
        };
        let read: Result<(), Reason> = states.and_then(|states| {
            let each = states.into_iter().map(|state| {
                let fields = self.view.fields(&state.value)?;
                self.add_state(&state, &fields, when, unlimited, tasks, depth)
            });
            // All states are read, even if one of them is unresolved.
            let results: Vec<Result<(), Reason>> = each.collect();
            results.into_iter().collect()
        });
        if let Err(reason) = read {
            tasks.tokens.opaque = Some(reason);
        }
    }

    fn add_state(
        &mut self,
        state: &Field<V::Value>,
        fields: &[Field<V::Value>],
        when: &Condition,
        unlimited: &Condition,
        tasks: &mut Tasks,
        depth: usize,
    ) -> Result<(), Reason> {
        if let Some(resource) = exact(fields, "Resource") {
            let any = when.and(&self.ends_with(resource, &SENDS));
            if any.is_possible() {
                self.add_send(state, fields, &any, tasks);
            }
            let sends = when.and(&self.ends_with(resource, &[SENDS_TOKEN]));
            let unlimited = LIMITS.iter().fold(unlimited.clone(), |all, limit| {
                let absent = self.absent(fields, limit);
                all.and(&absent)
            });
            if sends.is_possible() {
                tasks.tokens.all.push(TokenTask {
                    state: state.key.clone(),
                    span: resource.span,
                    when: sends,
                    unlimited,
                });
            }
        }
        for inner in ["Iterator", "ItemProcessor"] {
            if let Some(inner) = exact(fields, inner) {
                let fields = self.view.fields(&inner.value)?;
                let unlimited = unlimited.and(&self.absent(&fields, "TimeoutSeconds"));
                self.add_states(&fields, when, &unlimited, tasks, depth + 1);
            }
        }
        let branches = exact(fields, "Branches").map(|branches| self.view.elements(&branches.value, ""));
        for branch in branches.into_iter().flatten() {
            let fields = self.view.fields(&branch.written)?;
            self.add_states(&fields, &when.and(&branch.when), unlimited, tasks, depth + 1);
        }
        Ok(())
    }

    /// Adds the task `state`, which sends a message under the condition `when`.
    fn add_send(&mut self, state: &Field<V::Value>, fields: &[Field<V::Value>], when: &Condition, tasks: &mut Tasks) {
        let Some(parameters) = exact(fields, "Parameters").or_else(|| exact(fields, "Arguments")) else {
            return;
        };
        let Ok(parameters) = self.view.fields(&parameters.value) else {
            return;
        };
        let Some(queue) = exact(&parameters, "QueueUrl") else {
            return;
        };
        let dynamic = || Cause::RunContext.because("its value is known only when the task runs");
        let target = self.link_of("QueueUrl", &queue.value).try_map(|link: Link| {
            if link.written().contains(JSONATA) {
                return Err(dynamic().into());
            }
            Ok(link)
        });
        let resource = Resource {
            address: format!("{}.{}", tasks.machine.address, state.key).into(),
            header: state.span,
            when: tasks.machine.when.and(when),
            ..tasks.machine.clone()
        };
        let source = Attribute::set("state machine", own_link(&tasks.machine), state.span);
        let mut send = EventTarget {
            uses_url: true,
            ..EventTarget::plain(resource, Sender::Task, source, target)
        };
        for parameter in &parameters {
            let text = |of: &'static str| Attribute::set(of, Some(String::new()), parameter.span);
            match &*parameter.key {
                "MessageGroupId" | "MessageGroupId.$" => send.message_group_id = text("MessageGroupId"),
                "MessageDeduplicationId" | "MessageDeduplicationId.$" => {
                    send.deduplication_id = text("MessageDeduplicationId");
                }
                "DelaySeconds" => {
                    let delay = self.entry(Some(parameter), "DelaySeconds", parameter.span);
                    let absent = |_: &str| State::Default(None);
                    send.delay = self.convert(delay, absent, |this, value| this.view.integer(&value).map(Some));
                }
                "DelaySeconds.$" => send.delay = Attribute::unresolved("DelaySeconds", dynamic(), parameter.span),
                _ => {}
            }
        }
        tasks.sends.push(send);
    }

    /// Returns the condition under which the resource of a task ends with one of `suffixes`.
    fn ends_with(&mut self, resource: &Field<V::Value>, suffixes: &[&str]) -> Condition {
        let found = self.view.attribute(&resource.value, "");
        let mut all = Condition::never();
        for case in &found.cases {
            let Some(Some(value)) = case.value() else { continue };
            let sends = match self.view.text(value) {
                Ok(text) => suffixes.iter().any(|suffix| text.ends_with(suffix)),
                // The partition may be unresolved.
                Err(unresolved) => unresolved
                    .pattern()
                    .is_some_and(|known| suffixes.iter().any(|suffix| known.ends_with(suffix) == Some(true))),
            };
            if sends {
                all = all.or(&case.when);
            }
        }
        all
    }

    /// Returns the condition under which `key` is absent. An unresolved value may be present.
    fn absent(&mut self, fields: &[Field<V::Value>], key: &str) -> Condition {
        let Some(field) = exact(fields, key) else {
            return Condition::always();
        };
        let found = self.view.attribute(&field.value, "");
        let absent = found.cases.iter().filter(|case| case.is_default());
        absent.fold(Condition::never(), |all, case| all.or(&case.when))
    }
}
