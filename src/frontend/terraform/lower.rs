//! Turns the resources of a root module and of what it calls into the graph of the unit.
//!
//! It knows the AWS provider's resource types and arguments, and no rule. Each kind of node has a file; what any
//! resource may say about queues and functions is in `lower/uses.rs`.

mod access;
mod alarm;
mod delivery;
mod document;
mod function;
mod link;
mod mapping;
mod queue;
mod read;
mod separate;
mod uses;

use super::eval::{Evaluator, Member};
use super::module::Source;
use super::syntax::Block;
use super::value::Value;
use crate::graph::access::PolicyDocument;
use crate::graph::{Attribute, FailureTarget, Link, Resource, UnitGraph, UnitId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Lowers one unit.
pub(super) struct Lowering<'a, 'e> {
    pub(super) eval: &'e mut Evaluator<'a>,
    pub(super) graph: UnitGraph,
    /// Separate resources that set an attribute of a queue.
    separate: Vec<separate::Separate>,
    /// [`Node::cause`] of queues, by address.
    causes: FxHashMap<Arc<str>, Arc<str>>,
    /// Destinations of failures, with the function they are for.
    invoke_targets: Vec<(Attribute<Link>, FailureTarget)>,
    /// Policies that separate resources set on keys.
    key_policies: Vec<(Attribute<Link>, Attribute<Option<PolicyDocument>>)>,
    /// What separate resources say about loops, with the function they say it of.
    recursive_loops: Vec<(Arc<str>, Attribute<String>)>,
}

/// One instance of a resource.
struct Node {
    resource: Resource,
    /// What its existence depends on, where that is not known: resources of one cause exist together.
    cause: Option<Arc<str>>,
    block: Arc<Block>,
    scope: super::eval::Scope,
}

impl<'a, 'e> Lowering<'a, 'e> {
    pub(super) fn new(eval: &'e mut Evaluator<'a>, graph: UnitGraph) -> Self {
        Lowering {
            eval,
            graph,
            separate: Vec::new(),
            causes: FxHashMap::default(),
            invoke_targets: Vec::new(),
            key_policies: Vec::new(),
            recursive_loops: Vec::new(),
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
        self.merge_key_policies();
        self.merge_recursion_configs();
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
        let region = self.eval.region(kind, &block.body, &member.scope).to_text();
        let instance = &self.eval.instances[at];
        let argument = separate::meta_argument(&block.body).filter(|_| member.uncertain.is_some());
        let cause = match (argument, &instance.uncertain) {
            (Some(argument), _) => Some(format!("{at}|{}", self.eval.asked(argument, &member.scope)).into()),
            (None, Some(_)) => Some(at.to_string().into()),
            (None, None) => None,
        };
        Node {
            resource: Resource {
                unit: UnitId(0),
                address: instance
                    .path
                    .address(format_args!("{kind}.{name}{}", member.key.shown())),
                construct: None,
                kind: kind.clone(),
                header: block.header,
                when: instance.when.and(&member.when),
                uncertain: member.uncertain.clone().or_else(|| instance.uncertain.clone()),
                calls: instance.calls.clone(),
                region,
            },
            cause,
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
            kind => {
                self.other(node);
                self.delivery_or_access(kind, node);
            }
        }
    }

    /// What delivers to queues, and who may.
    fn delivery_or_access(&mut self, kind: &str, node: &Node) {
        match kind {
            "aws_pipes_pipe" => self.pipe(node),
            "aws_sns_topic" => self.topic(node),
            "aws_sns_topic_subscription" => self.subscription(node),
            "aws_cloudwatch_event_target" => self.rule_target(node),
            "aws_scheduler_schedule" => self.schedule(node),
            "aws_s3_bucket_notification" => self.bucket_notification(node),
            "aws_sqs_queue_policy" => self.queue_policy(node),
            "aws_iam_role" => self.role(node),
            "aws_iam_role_policy" => self.role_policy(node),
            "aws_iam_role_policy_attachment" => self.role_policy_attachment(node),
            "aws_iam_policy_attachment" => self.policy_attachment(node),
            "aws_iam_policy" => self.managed_policy(node),
            "aws_kms_key" => self.key(node),
            "aws_kms_key_policy" => self.key_policy(node),
            "aws_kms_alias" => self.key_alias(node),
            "aws_lambda_permission" => self.permission(node),
            "aws_lambda_function_recursion_config" => self.recursion_config(node),
            "aws_lambda_function_event_invoke_config" => self.invoke_config(node),
            _ => {}
        }
    }
}

/// A value that is not there.
fn missing(reason: &str) -> Value {
    Value::unknown(reason)
}
