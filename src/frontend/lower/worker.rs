//! Lowers resources that run programs, which may poll queues: their roles and environment variables.

use super::{BareName, Lowering, Node, Path, View};
use crate::graph::State;
use crate::graph::commands::ContainerCommand;
use crate::graph::limits::STOP_TIMEOUT_DEFAULT;
use crate::graph::workers::{InstanceProfile, Variable, Worker};
use conditions::Condition;

/// Names of the attributes of a resource that runs programs.
pub(in crate::frontend) struct WorkerNames {
    /// Its role, or its instance profile; several paths if the dialect has several spellings.
    pub(in crate::frontend) roles: &'static [Path],
    /// The containers, or the one container, which some dialects accept as a text of JSON.
    pub(in crate::frontend) containers: Option<Path>,
    /// The time between the signal to stop and the end of a container.
    pub(in crate::frontend) stop_timeout: Option<Path>,
    /// The lists of words that a container runs, in this order.
    pub(in crate::frontend) commands: &'static [Path],
    /// The launch types that the resource is compatible with.
    pub(in crate::frontend) launch_types: Option<Path>,
    /// The role of a container.
    pub(in crate::frontend) container_role: Option<Path>,
    /// The environment variables, within a container if the resource has any.
    pub(in crate::frontend) environments: &'static [EnvironmentNames],
}

/// Spelling of environment variables.
pub(in crate::frontend) enum EnvironmentNames {
    /// A list of objects, and the name and the value in each.
    Pairs(Path, Path, Path),
    /// An object with a key for each variable.
    Object(Path),
}

impl<V: View> Lowering<V> {
    pub(super) fn worker(&mut self, node: Node<V::Value>, names: &WorkerNames) {
        let roles = names.roles.iter().map(|path| self.plain(&node.written, path, None));
        let mut worker = Worker {
            roles: roles.collect(),
            environment: Vec::new(),
            commands: Vec::new(),
            stop_timeout: None,
            is_on_fargate: names
                .launch_types
                .is_some_and(|path| self.has_only_fargate(&node.written, path)),
            resource: node.resource,
        };
        match names.containers {
            None => worker.environment = self.environment(&node.written, &Condition::always(), names.environments),
            Some(path) => {
                let mut stop_timeouts = Vec::new();
                for case in self.view.attribute(&node.written, path).cases {
                    let State::Set(Some(written)) = case.then.state else {
                        continue;
                    };
                    let Some(containers) = self.view.decoded(&written) else {
                        continue;
                    };
                    for container in self.view.elements(&containers, "") {
                        let when = case.when.and(&container.when);
                        let variables = self.environment(&container.written, &when, names.environments);
                        worker.environment.extend(variables);
                        worker
                            .commands
                            .extend(self.command(&container.written, &when, names.commands));
                        let stop = names.stop_timeout.into_iter();
                        stop_timeouts
                            .extend(stop.map(|path| self.plain(&container.written, path, STOP_TIMEOUT_DEFAULT)));
                        let role = names.container_role;
                        worker
                            .roles
                            .extend(role.map(|path| self.plain(&container.written, path, None)));
                    }
                }
                if stop_timeouts.len() == 1 {
                    worker.stop_timeout = stop_timeouts.pop();
                }
            }
        }
        self.graph.workers.push(worker);
    }

    /// Returns the command of a container if it is known.
    fn command(&mut self, container: &V::Value, when: &Condition, paths: &[Path]) -> Option<ContainerCommand> {
        let (mut words, mut span) = (Vec::new(), None);
        for path in paths {
            for word in self.view.elements(container, path) {
                if word.place.is_err() || !word.when.is_always() {
                    return None;
                }
                words.push(self.view.text(&word.written).ok()?);
                span = Some(word.span);
            }
        }
        let when = when.clone();
        span.map(|span| ContainerCommand { when, span, words })
    }

    /// Returns `true` if the list at `path` is known and contains only `FARGATE`.
    fn has_only_fargate(&mut self, within: &V::Value, path: Path) -> bool {
        let types = self.view.elements(within, path);
        let mut is_fargate = |written: &V::Value| self.view.text(written).is_ok_and(|text| text == "FARGATE");
        !types.is_empty() && types.iter().all(|one| one.place.is_ok() && is_fargate(&one.written))
    }

    /// Returns the environment variables in `part`.
    pub(super) fn environment(
        &mut self,
        part: &V::Value,
        when: &Condition,
        names: &[EnvironmentNames],
    ) -> Vec<Variable> {
        let mut all = Vec::new();
        for written in names {
            match written {
                EnvironmentNames::Pairs(list, name, value) => {
                    for pair in self.view.elements(part, list) {
                        let key = self.text(&pair.written, name);
                        all.push(Variable {
                            name: key.known().cloned().flatten(),
                            span: pair.span,
                            when: when.and(&pair.when),
                            value: self.link(&pair.written, value, BareName::Parameter),
                        });
                    }
                }
                EnvironmentNames::Object(path) => {
                    for case in self.view.attribute(part, path).cases {
                        let State::Set(Some(object)) = case.then.state else {
                            continue;
                        };
                        for field in self.view.fields(&object).unwrap_or_default() {
                            all.push(Variable {
                                name: Some(field.key.to_string()),
                                span: field.span,
                                when: when.and(&case.when),
                                value: self.link_of(field.key.clone(), &field.value),
                            });
                        }
                    }
                }
            }
        }
        all
    }

    pub(super) fn instance_profile(&mut self, node: Node<V::Value>, name: Path, roles: Path) {
        let elements = self.view.elements(&node.written, roles).into_iter();
        let roles = elements.map(|role| self.link_of(roles, &role.written));
        let profile = InstanceProfile {
            roles: roles.collect(),
            name: self.text(&node.written, name),
            resource: node.resource,
        };
        self.graph.access.instance_profiles.push(profile);
    }
}
