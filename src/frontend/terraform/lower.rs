//! Turns the resources of a root module and of what it calls into the graph of the unit.
//!
//! It knows the AWS provider's resource types and arguments, and no rule. Each kind of node has a file; what any
//! resource may say about queues and functions is in `lower/uses.rs`.

mod alarm;
mod function;
mod mapping;
mod queue;
mod read;
mod uses;

use super::eval::{Evaluator, Member};
use super::module::Source;
use super::syntax::Block;
use super::value::Value;
use crate::graph::{
    Attribute, Condition, FailureTarget, Link, RedriveAllowPolicy, RedrivePolicy, Resource, UnitGraph, UnitId,
};
use std::sync::Arc;

/// Lowers one unit.
pub(super) struct Lowering<'a, 'e> {
    pub(super) eval: &'e mut Evaluator<'a>,
    pub(super) graph: UnitGraph,
    /// Separate resources that set an attribute of a queue.
    separate: Vec<Separate>,
    /// Destinations of failures, with the function they are for.
    invoke_targets: Vec<(Attribute<Link>, FailureTarget)>,
}

/// One instance of a resource.
struct Node {
    resource: Resource,
    block: Arc<Block>,
    scope: super::eval::Scope,
}

/// What a separate resource sets on a queue.
struct Separate {
    queue: Attribute<Link>,
    when: Condition,
    policy: Policy,
}

enum Policy {
    Redrive(Attribute<Option<RedrivePolicy>>),
    RedriveAllow(Attribute<Option<RedriveAllowPolicy>>),
}

impl<'a, 'e> Lowering<'a, 'e> {
    pub(super) fn new(eval: &'e mut Evaluator<'a>, graph: UnitGraph) -> Self {
        Lowering {
            eval,
            graph,
            separate: Vec::new(),
            invoke_targets: Vec::new(),
        }
    }

    /// Lowers the root module and what it calls.
    pub(super) fn run(mut self) -> UnitGraph {
        // Instances are added while modules are expanded.
        let mut at = 0;
        while at < self.eval.instances.len() {
            self.module(at);
            at += 1;
        }
        self.merge_separate();
        self.merge_invoke_configs();
        self.graph
    }

    fn module(&mut self, at: usize) {
        let module = self.eval.instances[at].module.clone();
        for (name, block) in &module.resources {
            let Some(expansion) = self.eval.resource(at, false, name) else {
                continue;
            };
            for member in &expansion.members {
                let node = self.node(at, name, block, member);
                if node.resource.when.is_possible() {
                    self.resource(&node);
                }
            }
        }
        for (name, call) in &module.calls {
            let Some(expansion) = self.eval.call(at, name) else {
                continue;
            };
            for member in expansion.members.iter().filter(|member| member.module.is_none()) {
                self.hand_out(name, &call.block, at, member);
                self.note_absence(&call.source);
            }
        }
    }

    /// Says once that some of the unit is not looked at.
    fn note_absence(&mut self, source: &Source) {
        let note = "remote modules that are neither fetched by `terraform init` nor known are not read";
        let notes = &mut self.graph.unit.notes;
        if matches!(source, Source::Away(_)) && !notes.iter().any(|known| known == note) {
            notes.push(note.to_owned());
        }
    }

    fn node(&mut self, at: usize, (kind, name): &super::module::Name, block: &Arc<Block>, member: &Member) -> Node {
        let instance = &self.eval.instances[at];
        Node {
            resource: Resource {
                unit: UnitId(0),
                address: format!("{}{kind}.{name}{}", instance.prefix, member.key.shown()).into(),
                kind: kind.clone(),
                header: block.header,
                when: instance.when.and(&member.when),
                uncertain: member.uncertain.clone().or_else(|| instance.uncertain.clone()),
                calls: instance.calls.clone(),
            },
            block: block.clone(),
            scope: member.scope.clone(),
        }
    }

    fn resource(&mut self, node: &Node) {
        match &*node.resource.kind {
            "aws_sqs_queue" => self.queue(node),
            "aws_sqs_queue_redrive_policy" => self.separate_redrive(node),
            "aws_sqs_queue_redrive_allow_policy" => self.separate_redrive_allow(node),
            "aws_lambda_function" => self.function(node),
            "aws_lambda_event_source_mapping" => self.mapping(node),
            "aws_cloudwatch_metric_alarm" => self.alarm(node),
            _ => self.other(node),
        }
    }
}

/// A value that is not there.
fn missing(reason: &str) -> Value {
    Value::unknown(reason)
}
