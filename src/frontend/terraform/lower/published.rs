//! Publishes the outputs of a root module, which other units read from its state.

use super::view::{ConfigurationPart, Terraform};
use crate::frontend::lower::Lowering;
use crate::graph::{Attribute, Common, Resource, Store, UnitId, UnitKind};
use conditions::Condition;
use source::Span;
use std::sync::Arc;
use terraform::value::{Value, ValueKind};

/// Maximum number of values in the outputs of a unit, and their maximum nesting.
const MAX_VALUES: usize = 1000;
const MAX_DEPTH: usize = 6;
/// Attributes of a resource in an output that link to it.
const LINKS: [&str; 5] = ["arn", "function_name", "id", "name", "url"];

impl Lowering<Terraform<'_, '_>> {
    pub(super) fn publish_outputs(&mut self) {
        let outputs = self.view.eval.instances[0].module.outputs.clone();
        if self.graph.unit.kind != UnitKind::TerraformModule || outputs.is_empty() {
            return;
        }
        let Some(state) = self.view.eval.own_state() else {
            return;
        };
        for (name, block) in &outputs {
            let value = self.view.eval.output(0, name);
            self.publish_value(&format!("{state}#{name}"), &value, block.header, &Condition::always());
        }
    }

    /// Publishes `value` and the values in it, which are called `name`.
    fn publish_value(&mut self, name: &str, value: &Value, header: Span, when: &Condition) {
        for case in value.each_case() {
            let when = when.and(&case.when);
            let inner = self.elements_of(&case.then);
            let is_deep = name.split('#').count() > MAX_DEPTH || self.graph.publications.len() > MAX_VALUES;
            for (key, element) in inner.into_iter().filter(|_| !is_deep) {
                self.publish_value(&format!("{name}#{key}"), &element, header, &when);
            }
            let is_link = matches!(
                case.then.kind,
                ValueKind::Text(_) | ValueKind::Template(_) | ValueKind::Reference(..) | ValueKind::Unknown(_)
            );
            if is_link {
                let resource = Resource {
                    unit: UnitId(0),
                    address: format!("output.{name}").into(),
                    header,
                    when: when.clone(),
                    common: Arc::new(Common::of_kind("output")),
                };
                let value = self.link_of("value", &ConfigurationPart::value(case.then, header, when));
                let name = Attribute::set("name", Some(name.to_owned()), header);
                self.publish(resource, Store::StateOutput, name, value);
            }
        }
    }

    /// Returns the elements of a collection, the outputs of a module, and the links of a resource.
    fn elements_of(&mut self, value: &Value) -> Vec<(Arc<str>, Value)> {
        let eval = &mut *self.view.eval;
        match &value.kind {
            ValueKind::Map(entries) => entries.to_vec(),
            ValueKind::List(items) => {
                let items = items.iter().enumerate();
                items.map(|(at, item)| (at.to_string().into(), item.clone())).collect()
            }
            ValueKind::Module(at) => {
                let names: Vec<Arc<str>> = eval.instances[*at].module.outputs.keys().cloned().collect();
                let outputs = names.into_iter().map(|name| (name.clone(), eval.output(*at, &name)));
                outputs.collect()
            }
            ValueKind::Resource(id) => {
                let links = LINKS
                    .iter()
                    .filter(|name| terraform::provider::form(&id.kind, name).is_some());
                links
                    .map(|name| {
                        (
                            Arc::from(*name),
                            ValueKind::Reference(id.clone(), Arc::from(*name)).into(),
                        )
                    })
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}
