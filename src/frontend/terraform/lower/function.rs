//! Lambda functions.

use super::read::{Refusal, integer, link, seconds};
use super::{Lowering, Node};
use crate::conditions::Condition;
use crate::graph::{Attribute, FailureTarget, Function, Link, limits};

impl Lowering<'_, '_> {
    pub(super) fn function(&mut self, node: &Node) {
        let name = self.optional_text(node, "function_name");
        // The provider's −1 is "no reservation".
        let reserved = self.read(node, "reserved_concurrent_executions", None, |eval, value| {
            integer(eval, value).map(|count| Some(count).filter(|count| *count >= 0))
        });
        let function = Function {
            resource: node.resource.clone(),
            name,
            timeout: self.read(node, "timeout", limits::FUNCTION_TIMEOUT_DEFAULT, seconds),
            reserved_concurrency: reserved,
            managed_instances: self.has_block(node, "capacity_provider_config"),
            durable_execution_timeout: self.read_nested(
                node,
                &["durable_config"],
                "execution_timeout",
                None,
                |eval, value| seconds(eval, value).map(Some),
            ),
            failure_targets: self.failure_targets(node, "dead_letter_config", "target_arn"),
            role: self.optional_link(node, "role"),
            // Set by `aws_lambda_function_recursion_config`.
            recursive_loop: Attribute::absent("recursive_loop", "Terminate".to_owned(), node.resource.header),
        };
        self.graph.functions.push(function);
        self.failures(node);
    }

    /// Whether the resource has a block `name`.
    fn has_block(&mut self, node: &Node, name: &'static str) -> Attribute<bool> {
        match self.blocks(&node.block.body, &node.scope, name) {
            Err(reason) => Attribute::unresolved(name, reason, node.resource.header),
            Ok(blocks) => {
                let absent = Attribute::absent(name, false, node.resource.header);
                let Some(first) = blocks.first() else {
                    return absent;
                };
                let mut attribute = Attribute::set(name, true, first.span);
                // Dynamic blocks may make one in several worlds.
                let present = blocks
                    .iter()
                    .skip(1)
                    .fold(first.when.clone(), |when, nested| when.or(&nested.when));
                let otherwise = present.not();
                if otherwise.is_possible() {
                    attribute.cases = attribute.cases.into_iter().chain(absent.cases).collect();
                    for (case, when) in attribute.cases.iter_mut().zip([present, otherwise]) {
                        case.when = when;
                    }
                }
                attribute
            }
        }
    }

    fn failure_targets(&mut self, node: &Node, block: &str, argument: &'static str) -> Vec<FailureTarget> {
        let name: Refusal = block.into();
        match self.blocks(&node.block.body, &node.scope, block) {
            Err(reason) => vec![FailureTarget {
                name,
                span: node.resource.header,
                when: node.resource.when.clone(),
                target: Attribute::unresolved(argument, reason, node.resource.header),
            }],
            Ok(blocks) => blocks
                .into_iter()
                .map(|nested| {
                    let when = node.resource.when.and(&nested.when);
                    FailureTarget {
                        name: name.clone(),
                        span: nested.span,
                        target: self.nested_link(&nested, argument, &when),
                        when,
                    }
                })
                .collect(),
        }
    }

    fn nested_link(
        &mut self,
        nested: &super::read::Nested,
        argument: &'static str,
        when: &Condition,
    ) -> Attribute<Link> {
        let value = self.argument(&nested.block.body, &nested.scope, argument);
        self.attribute(argument, value, nested.span, when, None, link)
    }

    /// The destination of a function's asynchronous failures, set by a resource of its own.
    pub(super) fn invoke_config(&mut self, node: &Node) {
        let function = self.link(node, "function_name");
        let Ok(configs) = self.blocks(&node.block.body, &node.scope, "destination_config") else {
            return;
        };
        for config in configs {
            let Ok(failures) = self.blocks(&config.block.body, &config.scope, "on_failure") else {
                continue;
            };
            for nested in failures {
                let when = node.resource.when.and(&config.when).and(&nested.when);
                let target = FailureTarget {
                    name: "on_failure".into(),
                    span: nested.span,
                    target: self.nested_link(&nested, "destination", &when),
                    when,
                };
                self.invoke_targets.push((function.clone(), target));
            }
        }
    }

    /// Gives the functions the destinations that name them.
    pub(super) fn merge_invoke_configs(&mut self) {
        use crate::graph::Target;
        for (function, target) in std::mem::take(&mut self.invoke_targets) {
            for case in &function.cases {
                let Some(Target::Resource(address)) = case.value().map(|link| &link.target) else {
                    continue;
                };
                let named = self
                    .graph
                    .functions
                    .iter_mut()
                    .find(|function| function.resource.address == *address);
                if let Some(named) = named {
                    let mut target = target.clone();
                    target.when = target.when.and(&case.when);
                    named.failure_targets.push(target);
                }
            }
        }
    }
}
