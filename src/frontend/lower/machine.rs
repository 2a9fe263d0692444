//! Lowers state machines of Step Functions: finds the tasks in their definitions that wait for a task token, at any
//! depth of nesting. It ignores all other states, and computed values.

use super::read::exact;
use super::{Field, Lowering, Path, View, is_absent};
use crate::graph::delivery::{StateMachine, TokenTask, TokenTasks};
use crate::graph::{Attribute, Cause, Reason, State};
use conditions::Condition;

/// Suffix of the resource of a task that sends a message with its token: in ARNs of the optimised integration and of
/// the SDK's, in every partition. <https://docs.aws.amazon.com/step-functions/latest/dg/connect-sqs.html>
const SENDS_TOKEN: &str = ":sqs:sendMessage.waitForTaskToken";
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

impl<V: View> Lowering<V> {
    pub(super) fn state_machine(&mut self, node: super::Node<V::Value>, definitions: &[Path], kind: Path) {
        let written = &node.written;
        let definitions = definitions.iter().map(|path| self.definition(written, path));
        let definitions: Vec<_> = definitions.collect();
        let written_one = definitions.iter().find(|definition| !is_absent(definition));
        let Some(definition) = written_one.or(definitions.first()).cloned() else {
            return;
        };
        let resource = node.resource;
        let not_read = || Cause::NotRead.because(format!("the definition of {resource} is not read"));
        let machine = StateMachine {
            tasks: definition.map(|state| match state {
                State::Set(Some(tasks)) => State::Set(tasks),
                State::Set(None) | State::Default(_) => State::Unresolved(not_read().into()),
                State::Unresolved(reason) => State::Unresolved(reason),
            }),
            express: self.read(written, kind, &false, |view, kind| Ok(view.text(kind)? == "EXPRESS")),
            resource,
        };
        self.graph.deliveries.machines.push(machine);
    }

    fn definition(&mut self, written: &V::Value, path: Path) -> Attribute<Option<TokenTasks>> {
        self.policy(written, path, |this, object, _| {
            let not_json = |_| Cause::Invalid.because("its definition is not a JSON object");
            let fields = this.view.fields(&object.map_err(not_json)?)?;
            let mut tasks = TokenTasks::default();
            // The timeout of an execution ends its waiting tasks, too.
            let endless = this.absent(&fields, "TimeoutSeconds");
            this.add_states(&fields, &Condition::always(), &endless, &mut tasks, 0);
            Ok(tasks)
        })
    }

    /// Adds the waiting tasks among the states in `fields`, including nested ones. `unlimited` is the condition under
    /// which no enclosing timeout exists.
    fn add_states(
        &mut self,
        fields: &[Field<V::Value>],
        when: &Condition,
        unlimited: &Condition,
        tasks: &mut TokenTasks,
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
            tasks.opaque = Some(reason);
        }
    }

    fn add_state(
        &mut self,
        state: &Field<V::Value>,
        fields: &[Field<V::Value>],
        when: &Condition,
        unlimited: &Condition,
        tasks: &mut TokenTasks,
        depth: usize,
    ) -> Result<(), Reason> {
        if let Some(resource) = exact(fields, "Resource") {
            let sends = when.and(&self.sends_token(resource));
            let unlimited = LIMITS.iter().fold(unlimited.clone(), |all, limit| {
                let absent = self.absent(fields, limit);
                all.and(&absent)
            });
            if sends.is_possible() {
                tasks.all.push(TokenTask {
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

    /// Returns the condition under which a task sends a message with its token.
    fn sends_token(&mut self, resource: &Field<V::Value>) -> Condition {
        let found = self.view.attribute(&resource.value, "");
        let mut all = Condition::never();
        for case in &found.cases {
            let Some(Some(value)) = case.value() else { continue };
            let sends = match self.view.text(value) {
                Ok(text) => text.ends_with(SENDS_TOKEN),
                // The partition may be unresolved.
                Err(unresolved) => unresolved.pattern().and_then(|known| known.ends_with(SENDS_TOKEN)) == Some(true),
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
