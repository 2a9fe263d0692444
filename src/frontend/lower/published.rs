//! Lowers what a unit publishes for others: parameters and secrets, whose text may be JSON with several values.

use super::{BareName, Lowering, Node, Path, View};
use crate::graph::published::Publication;
use crate::graph::{Attribute, Link, Resource, State, Store};

/// Maximum number of keys of a published object.
const MAX_KEYS: usize = 256;

impl<V: View> Lowering<V> {
    pub(super) fn publication(&mut self, node: Node<V::Value>, store: Store, name: Path, values: &[Path]) {
        let value = values.iter().find(|value| self.view.has(&node.written, value));
        let Some(value) = value.or(values.first()) else { return };
        let name = self.optional(&node.written, name, V::published_name);
        for case in self.view.attribute(&node.written, value).cases {
            if let State::Set(Some(written)) = case.then.state {
                let resource = Resource {
                    when: node.resource.when.and(&case.when),
                    ..node.resource.clone()
                };
                self.publish_keys(&resource, store, &name, &written);
            }
        }
        let value = self.link(&node.written, value, BareName::Queue);
        self.publish(node.resource, store, name, value);
    }

    /// Adds the entries of an object in JSON.
    fn publish_keys(&mut self, resource: &Resource, store: Store, name: &Attribute<Option<String>>, text: &V::Value) {
        let Some(object) = self.view.decoded(text) else {
            return;
        };
        for field in self.view.fields(&object).unwrap_or_default().into_iter().take(MAX_KEYS) {
            let value = self.link_of(field.key.clone(), &field.value);
            let name = name
                .clone()
                .try_map(|name| Ok(name.map(|name| format!("{name}#{}", field.key))));
            self.publish(resource.clone(), store, name, value);
        }
    }

    /// Adds a value that other units may read.
    pub(in crate::frontend) fn publish(
        &mut self,
        resource: Resource,
        store: Store,
        name: Attribute<Option<String>>,
        value: Attribute<Link>,
    ) {
        self.graph.publications.push(Publication {
            resource,
            store,
            name,
            value,
        });
    }
}
