//! Lowers the resources of a template into the graph.
//!
//! The common lowering (`frontend/lower.rs`) reads each resource through the template's view (`view.rs`) and
//! CloudFormation's names (`names.rs`). `reference.rs` handles references between resources, which any resource may
//! have.

mod json_text;
mod names;
mod order;
mod published;
mod reference;
mod target;
mod view;

use crate::frontend::lower::{Lowering, Made, Node};
use crate::graph::{Common, Implicit, Resource, UnitGraph, UnitId};
use cloudformation::sam;
use cloudformation::sections::Declared;
use cloudformation::template::Template;
use conditions::Condition;
pub(super) use names::kind;
use std::sync::Arc;
use view::{BuildSettings, CloudFormation, TemplateValue};

/// Lowers the resources of `template` into `graph`.
pub(super) fn lower(template: &Template<'_>, graph: UnitGraph) -> UnitGraph {
    let mut lowering = Lowering::new(CloudFormation { template }, graph);
    for declared in &template.resources {
        lowering.declared(declared);
    }
    for declared in &template.resources {
        lowering.references(declared);
    }
    lowering.exports();
    lowering.publish_outputs();
    lowering.order();
    lowering.finish()
}

impl<'t> Lowering<CloudFormation<'_, 't>> {
    fn declared(&mut self, declared: &Declared<'t>) {
        let template = self.view.template;
        let Some(kind) = names::kind(&declared.kind) else {
            if declared.made.is_none() && self.resource(declared).when.is_possible() {
                self.graph.note_unread_kind(&declared.kind, declared.header);
            }
            return;
        };
        let mut resource = self.resource(declared);
        let is_left_out = !resource.when.is_possible();
        if is_left_out && !kind.watches() {
            return;
        }
        if is_left_out {
            // Its properties are evaluated as if it were deployed.
            resource.when = Condition::always();
        }
        let is_sam = &*declared.kind == "AWS::Serverless::Function";
        let may_have_globals = is_sam && template.globals_may_be_elsewhere();
        let own = template.properties_of(declared);
        let assumed = resource.when.clone();
        let node = Node {
            written: TemplateValue::resource(own, declared.header, assumed, may_have_globals).with_build(
                BuildSettings {
                    metadata: declared.metadata,
                    is_sam,
                },
            ),
            resource,
            cause: None,
            made: Made {
                by_transform: declared.made.is_some(),
                implicit: sam::implicit(declared.made).map(|purpose| match purpose {
                    sam::Implicit::Subscription => Implicit::Subscription,
                    sam::Implicit::Destination => Implicit::Destination,
                }),
                is_of_stream: sam::is_of_stream(declared.made),
                ignored_disabling: sam::ignored_disabling(declared.made),
            },
        };
        if is_left_out {
            self.leave_out(kind, node);
        } else {
            self.add(kind, node);
        }
    }

    /// Returns the author's name of a generated resource.
    fn label(&self, declared: &Declared<'t>) -> Option<Arc<str>> {
        let template = self.view.template;
        if let Some(service) = template.service {
            return service.label(&declared.id).map(Arc::from);
        }
        // The transform appends the key of an event to the id of its function.
        let written = template.sources()?.text(declared.header);
        let event = written.trim_matches(['"', '\'']);
        declared
            .made
            .filter(|_| &*declared.kind == "AWS::Lambda::EventSourceMapping")?;
        let id = declared.id.strip_suffix("EventSourceMapping").unwrap_or(&declared.id);
        let owner = id
            .strip_suffix(event)
            .filter(|owner| !owner.is_empty() && !event.is_empty())?;
        Some(format!("event `{event}` of `{owner}`").into())
    }

    fn resource(&mut self, declared: &Declared<'t>) -> Resource {
        let (when, uncertain) = self.view.template.existence(declared);
        let common = Common {
            construct: declared.construct.clone(),
            label: self.label(declared),
            uncertain,
            region: self.view.template.pseudo_parameter("AWS::Region"),
            account: self.view.template.pseudo_parameter("AWS::AccountId"),
            ..Common::of_kind(declared.kind.clone())
        };
        Resource {
            unit: UnitId(0),
            address: declared.id.clone(),
            header: declared.header,
            when: self.view.template.deployed(&when),
            common: self.commons.shared(common),
        }
    }
}
