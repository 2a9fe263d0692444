//! Collects the references between the resources of a template, as written: CloudFormation creates a resource after
//! those that it refers to, and after those in its `DependsOn`.

use super::view::CloudFormation;
use crate::frontend::lower::Lowering;
use crate::graph::order::{Creation, Order, Reference};
use cloudformation::document::intrinsic;
use cloudformation::sections::Declared;
use cloudformation::template::Template;
use source::Span;
use std::sync::Arc;
use trees::Node;

const CREATION: Creation = Creation {
    argument: "DependsOn",
    around: [": ", ""],
    is_repeated: false,
    composed_arn: Some("!Sub arn:${AWS::Partition}:"),
    has_events: true,
    cycle_of_queues: None,
};

impl Lowering<CloudFormation<'_, '_>> {
    /// Records the order of the resources.
    pub(super) fn order(&mut self) {
        let template = self.view.template;
        let mut order = Order::new(&CREATION);
        for declared in &template.resources {
            order.add(declared.id.clone(), true, references(template, declared));
        }
        self.graph.order = Some(order);
    }
}

fn references(template: &Template<'_>, declared: &Declared<'_>) -> Vec<Reference> {
    let mut found = References {
        template,
        is_certain: true,
        all: Vec::new(),
    };
    if let Some(node) = declared.depends_on {
        let items = node.items().unwrap_or(std::slice::from_ref(node)).iter();
        items.for_each(|item| found.add(item.as_str(), item.span));
    }
    if let Some(properties) = declared.properties {
        found.search(properties, properties.span);
    }
    found.all
}

struct References<'a, 't> {
    template: &'a Template<'t>,
    /// `false` within a branch of a condition.
    is_certain: bool,
    all: Vec<Reference>,
}

impl References<'_, '_> {
    /// Adds a reference to the resource `id`, if there is one.
    fn add(&mut self, id: Option<&str>, span: Span) {
        let id = id.and_then(|text| text.split('.').next()).unwrap_or_default();
        let is_certain = self.is_certain;
        if self.template.resource(id).is_some()
            && !self
                .all
                .iter()
                .any(|known| &*known.to == id && known.is_certain >= is_certain)
        {
            let to = Arc::from(id);
            self.all.push(Reference { to, span, is_certain });
        }
    }

    /// Searches `node`, which belongs to the property at `span`.
    fn search(&mut self, node: &Node, span: Span) {
        match intrinsic(node) {
            Some(("Ref", argument)) => self.add(argument.as_str(), span),
            Some(("Fn::GetAtt", argument)) => {
                let first = argument.items().and_then(<[Node]>::first);
                self.add(first.unwrap_or(argument).as_str(), span);
            }
            Some(("Fn::Sub", argument)) => {
                let text = argument.items().and_then(<[Node]>::first).unwrap_or(argument).as_str();
                let values = argument.items().and_then(|items| items.get(1));
                for part in text.unwrap_or_default().split("${").skip(1) {
                    let name = part.split('}').next().unwrap_or_default();
                    if values.is_none_or(|values| values.get(name).is_none()) {
                        self.add(Some(name), span);
                    }
                }
                if let Some(values) = values {
                    self.search(values, span);
                }
            }
            Some((name, argument)) => {
                let was_certain = self.is_certain;
                self.is_certain &= name != "Fn::If";
                self.children(argument, span);
                self.is_certain = was_certain;
            }
            None => self.children(node, span),
        }
    }

    fn children(&mut self, node: &Node, span: Span) {
        for entry in node.entries().unwrap_or_default() {
            self.search(&entry.value, entry.span());
        }
        for item in node.items().unwrap_or_default() {
            self.search(item, span);
        }
    }
}
