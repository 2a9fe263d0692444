//! Turns the resources of a root module and of what it calls into the graph of the unit.
//!
//! It goes through the instances of modules and resources; what each resource says is read by the one lowering
//! (`frontend/lower.rs`), which gets Terraform's view of it (`view.rs`) and the AWS provider's names (`names.rs`). What any
//! resource may say about queues and functions is in `uses.rs`.

mod among;
mod archive;
mod composed;
mod link;
mod names;
mod uses;
mod view;

use super::eval::{Evaluator, Member, Scope};
use super::module::{Name, Source};
use super::syntax::Block;
use super::value::Key;
use crate::conditions::Condition;
use crate::frontend::lower::{Lowering, Made, Node};
use crate::graph::{Common, Resource, UnitGraph, UnitId};
use composed::Names;
use std::sync::Arc;
use view::{Terraform, Written};

/// Whether resources of this type are something in the graph.
pub(super) fn is_of_graph(kind: &str) -> bool {
    names::kind(kind).is_some()
}

/// Adds to `graph` what the root module of `eval` and what it calls declare.
pub(super) fn lower(eval: &mut Evaluator, graph: UnitGraph) -> UnitGraph {
    let unit = graph.unit.clone();
    let mut learned = Names::default();
    let graph = pass(eval, graph, &mut learned);
    if eval.limit.is_some() || !learned.settle() {
        return graph;
    }
    pass(eval, UnitGraph::new(unit), &mut learned)
}

/// Goes through everything once. Where `names` are settled, links find them.
fn pass(eval: &mut Evaluator, graph: UnitGraph, names: &mut Names) -> UnitGraph {
    let mut lowering = Lowering::new(Terraform::new(eval, names), graph);
    // Instances are added while modules are expanded.
    let mut at = 0;
    while at < lowering.view.eval.instances.len() {
        lowering.module(at);
        at += 1;
    }
    lowering.hand_out_roles();
    let mut instances = lowering.view.eval.instances.iter();
    let unread = instances.find_map(|instance| instance.module.unread.clone());
    match unread {
        Some(reason) => lowering.finish_in_part(&reason),
        None => lowering.finish(),
    }
}

/// One instance of a resource.
struct Declared {
    resource: Resource,
    /// As [`Node::cause`].
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
                self.left_out(at, name, block);
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
                self.leave_out_call(&call.block, at);
            }
            for member in expansion.members.iter().filter(|member| member.module.is_none()) {
                self.hand_out(name, &call.block, at, member);
                self.note_absence(&call.source);
            }
        }
    }

    /// A block that has no instance: what it would be if it had one.
    fn left_out(&mut self, at: usize, name: &Name, block: &Arc<Block>) {
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
            written: Written::resource(block.clone(), Arc::new(scope), resource.when.clone()),
            resource,
            cause: None,
            made: Made::default(),
        };
        self.leave_out(kind, node);
    }

    /// Says once that some of the unit is not looked at.
    fn note_absence(&mut self, source: &Source) {
        let note = "remote modules that are neither fetched by `terraform init` nor known are not read";
        let notes = &mut self.graph.unit.notes;
        if matches!(source, Source::Away(_)) && !notes.iter().any(|known| known == note) {
            notes.push(note.to_owned());
        }
    }

    fn declared(&mut self, at: usize, (kind, name): &Name, block: &Arc<Block>, member: &Member) -> Declared {
        let region = self.view.eval.region(kind, &block.body, &member.scope).to_text();
        let account = self.view.eval.account(kind, &block.body, &member.scope).to_text();
        let instance = &self.view.eval.instances[at];
        let cause = match (&member.uncertain, &instance.uncertain) {
            (Some(_), _) => member.cause.clone(),
            (None, Some(_)) => Some(at.to_string().into()),
            (None, None) => None,
        };
        let common = Common {
            construct: None,
            kind: kind.clone(),
            uncertain: member.uncertain.clone().or_else(|| instance.uncertain.clone()),
            calls: instance.calls.clone(),
            region,
            account,
        };
        Declared {
            resource: Resource {
                unit: UnitId(0),
                address: instance
                    .path
                    .address(format_args!("{kind}.{name}{}", member.key.shown())),
                header: block.header,
                when: instance.when.and(&member.when),
                common: self.commons.one(common),
            },
            cause,
            block: block.clone(),
            scope: member.scope.clone(),
        }
    }

    fn resource(&mut self, declared: Declared) {
        self.uses(&declared);
        let Some(kind) = names::kind(&declared.resource.kind) else {
            return;
        };
        self.view.learn_name(&declared);
        let assumed = declared.resource.when.clone();
        let node = Node {
            resource: declared.resource,
            written: Written::resource(declared.block, Arc::new(declared.scope), assumed),
            cause: declared.cause,
            made: Made::default(),
        };
        self.add(kind, node);
    }
}
