//! Lowers the resources of a root module and of the modules it calls to the graph of the unit.
//!
//! This module iterates over the instances of modules and resources. The dialect-independent lowering
//! (`frontend/lower.rs`) reads each resource through Terraform's view (`view.rs`) with the AWS provider's names
//! (`names.rs`). References to queues and functions from any other resource are in `uses.rs`.

mod among;
mod archive;
mod composed;
mod link;
mod names;
mod published;
mod uses;
mod view;

use crate::frontend::lower::{Lowering, Made, Node, NodeKind};
use crate::graph::order::{Creation, Order, Reference};
use crate::graph::{Common, Resource, UnitGraph, UnitId, UnitKind};
use composed::Names;
use conditions::Condition;
pub(super) use names::kind;
use std::sync::Arc;
use terraform::eval::{Evaluator, Member, Scope};
use terraform::module::{Call, Name, Source};
use terraform::syntax::{Block, Body, Expression, ExpressionKind};
use terraform::value::Key;
use view::{ConfigurationPart, Terraform};

/// Returns `true` if resources of this type become nodes of the graph.
pub(super) fn is_of_graph(kind: &str) -> bool {
    names::kind(kind).is_some() || kind.starts_with("awscc_")
}

/// Adds the declarations of the root module of `eval`, and of the modules it calls, to `graph`. A second pass follows
/// if names were learned in the first that references can be resolved with.
pub(super) fn lower(eval: &mut Evaluator, graph: UnitGraph) -> UnitGraph {
    let unit = graph.unit.clone();
    let mut learned = Names::default();
    let graph = pass(eval, graph, &mut learned);
    // After a limit was reached, a second pass would only reach it again.
    let mut graph = if eval.limit.is_some() || !learned.settle() {
        graph
    } else {
        pass(eval, UnitGraph::new(unit), &mut learned)
    };
    graph.order = order(eval, &graph);
    graph
}

/// The provider repeats a request that fails because a permission is missing, for some minutes.
const CREATION: Creation = Creation {
    argument: "depends_on",
    around: [" = [", "]"],
    is_repeated: true,
    composed_arn: None,
    has_events: false,
    cycle_of_queues: Some(
        "set `redrive_allow_policy` with an `aws_sqs_queue_redrive_allow_policy`, which is created after both queues",
    ),
};

/// Returns the order of the resources, unless a plan or a state contains them without their references.
fn order(eval: &Evaluator, graph: &UnitGraph) -> Option<Order> {
    let is_whole = eval.instances.iter().all(|instance| instance.module.unread.is_none());
    if graph.unit.kind != UnitKind::TerraformModule || graph.queues.is_empty() || !is_whole {
        return None;
    }
    let mut order = Order::new(&CREATION);
    for (address, declared) in eval.references() {
        let reference = |(to, span)| Reference {
            to,
            span,
            is_certain: declared.is_certain,
        };
        order.add(
            address,
            declared.is_resource,
            declared.references.into_iter().map(reference).collect(),
        );
    }
    Some(order)
}

/// Lowers everything once. Links use `names` once they are settled.
fn pass(eval: &mut Evaluator, graph: UnitGraph, names: &mut Names) -> UnitGraph {
    let mut lowering = Lowering::new(Terraform::new(eval, names), graph);
    // Expanding a module adds instances during the iteration.
    let mut at = 0;
    while at < lowering.view.eval.instances.len() {
        lowering.module(at);
        at += 1;
    }
    lowering.expose_outputs();
    lowering.publish_outputs();
    let mut instances = lowering.view.eval.instances.iter();
    let unread = instances.find_map(|instance| instance.module.unread.clone());
    match unread {
        Some(reason) => lowering.finish_in_part(&reason),
        None => lowering.finish(),
    }
}

/// Returns the names in `ignore_changes` of the `lifecycle` block.
fn ignored(body: &Body) -> Vec<Arc<str>> {
    let lifecycle = body.blocks.iter().filter(|block| &*block.kind == "lifecycle");
    let lists = lifecycle.filter_map(|block| block.body.attribute("ignore_changes"));
    let items = lists.flat_map(|list| match &list.value.kind {
        ExpressionKind::Tuple(items) => items.as_slice(),
        _ => std::slice::from_ref(&*list.value),
    });
    let names = items.filter_map(|item| match &item.kind {
        ExpressionKind::Traversal(base, _) => name_of(base),
        _ => name_of(item),
    });
    let mut names: Vec<Arc<str>> = names.collect();
    // An attribute in a block is called by its own name.
    if let Some((block, name)) = names::MAPPING.attributes.maximum_concurrency.split_once('.')
        && names.iter().any(|ignored| &**ignored == block)
    {
        names.push(name.into());
    }
    names
}

/// Returns `true` if a word of the name of a module is that of a queue: `terraform-aws-sqs`, `order_queues`.
pub(super) fn names_queue(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| matches!(&*word.to_ascii_lowercase(), "sqs" | "queue" | "queues" | "dlq" | "dlqs"))
}

fn is_queue_type(kind: &str) -> bool {
    matches!(names::kind(kind), Some(NodeKind::Queue(_)))
}

/// Returns the name that an expression consists of; in JSON, it is a string.
fn name_of(expression: &Expression) -> Option<Arc<str>> {
    match &expression.kind {
        ExpressionKind::Variable(name) | ExpressionKind::Text(name) => Some(name.clone()),
        _ => None,
    }
}

/// An instance of a resource.
struct Declared {
    resource: Resource,
    /// The cause, as in [`Node::cause`].
    cause: Option<Arc<str>>,
    block: Arc<Block>,
    scope: Scope,
}

impl Lowering<Terraform<'_, '_>> {
    fn module(&mut self, at: usize) {
        let module = self.view.eval.instances[at].module.clone();
        for (name, block) in &module.resources {
            let Some(expansion) = self.view.eval.resource(at, false, name) else {
                continue;
            };
            if expansion.members.is_empty() {
                self.record_disabled(at, name, block);
            }
            for member in &expansion.members {
                let declared = self.declared(at, name, block, member);
                if declared.resource.when.is_possible() {
                    self.resource(declared);
                }
            }
        }
        for (name, call) in &module.calls {
            let Some(expansion) = self.view.eval.call(at, name) else {
                continue;
            };
            if expansion.members.is_empty() {
                self.record_disabled_call(call, at);
            }
            let mut unread = expansion.members.iter().filter(|member| member.module.is_none());
            let mut receives_queue = false;
            for member in unread.clone() {
                receives_queue |= self.record_passed_links(name, &call.block, at, member);
            }
            if unread.next().is_some() {
                self.note_unread(name, call, receives_queue);
            }
        }
    }

    /// Counts queues that the default of `variable` leaves out.
    fn note_switched_off(&mut self, variable: Arc<str>, queues: usize) {
        if queues > 0 {
            *self.graph.switched_off.entry(variable).or_default() += queues;
        }
    }

    /// Records a block without instances as the alarm that it would be if it had one.
    /// A queue is counted by the variable that leaves it out.
    fn record_disabled(&mut self, at: usize, name: &Name, block: &Arc<Block>) {
        if is_queue_type(&name.0)
            && let Some(variable) = self.view.eval.switch(block, at)
        {
            self.note_switched_off(variable, 1);
        }
        let Some(kind) = names::kind(&name.0).filter(|kind| kind.watches()) else {
            return;
        };
        let member = Member {
            key: Key::None,
            scope: self.view.eval.scope(at),
            when: Condition::always(),
            uncertain: None,
            cause: None,
            module: None,
        };
        let Declared { resource, scope, .. } = self.declared(at, name, block, &member);
        let node = Node {
            written: ConfigurationPart::resource(block.clone(), Arc::new(scope), resource.when.clone()),
            resource,
            cause: None,
            made: Made::default(),
        };
        let before = self.graph.nonexistent_alarms.len();
        self.leave_out(kind, node);
        if self.view.eval.has_default_elements(block, at) {
            // The caller names no queue to watch, as it would in the elements.
            let mut left_out = self.graph.nonexistent_alarms.split_off(before);
            left_out.retain(|alarm| alarm.metrics.iter().any(|metric| metric.queue.known().is_some()));
            self.graph.nonexistent_alarms.append(&mut left_out);
        }
    }

    /// Counts `call` if it calls a module that is not read.
    fn note_unread(&mut self, name: &str, call: &Call, receives_queue: bool) {
        if !matches!(call.source, Source::Away(_)) {
            return;
        }
        let source = match call.block.body.attribute("source").map(|source| &source.value.kind) {
            Some(ExpressionKind::Text(source)) => source.to_string(),
            _ => format!("module.{name}"),
        };
        let is_of_queue = receives_queue || names_queue(name) || names_queue(&source);
        self.graph.unit.note_unread(&source, is_of_queue);
    }

    fn declared(&mut self, at: usize, (kind, name): &Name, block: &Arc<Block>, member: &Member) -> Declared {
        let region = self.view.eval.region(kind, &block.body, &member.scope).to_text();
        let account = self.view.eval.account(kind, &block.body, &member.scope).to_text();
        let mut placement = self.view.eval.provider_key(kind, &block.body, &member.scope);
        let instance = &self.view.eval.instances[at];
        let address = instance
            .path
            .address(format_args!("{kind}.{name}{}", member.key.shown()));
        if region.is_none() && block.body.attribute("region").is_some() {
            placement = Some(address.to_string());
        }
        let cause = match (&member.uncertain, &instance.uncertain) {
            (Some(_), _) => member.cause.clone(),
            (None, Some(_)) => Some(at.to_string().into()),
            (None, None) => None,
        };
        let common = Common {
            construct: None,
            label: None,
            kind: kind.clone(),
            uncertain: member.uncertain.clone().or_else(|| instance.uncertain.clone()),
            calls: instance.calls.clone(),
            region,
            account,
            placement: placement.map(Arc::from),
            ignored: ignored(&block.body),
        };
        Declared {
            resource: Resource {
                unit: UnitId(0),
                address,
                header: block.header,
                when: instance.when.and(&member.when),
                common: self.commons.shared(common),
            },
            cause,
            block: block.clone(),
            scope: member.scope.clone(),
        }
    }

    fn resource(&mut self, declared: Declared) {
        self.uses(&declared);
        let Some(kind) = names::kind(&declared.resource.kind) else {
            let Resource { common, header, .. } = &declared.resource;
            self.graph.note_unread_kind(&common.kind, *header);
            return;
        };
        self.view.learn_name(&declared);
        let assumed = declared.resource.when.clone();
        let node = Node {
            resource: declared.resource,
            written: ConfigurationPart::resource(declared.block, Arc::new(declared.scope), assumed),
            cause: declared.cause,
            made: Made::default(),
        };
        self.add(kind, node);
    }
}
