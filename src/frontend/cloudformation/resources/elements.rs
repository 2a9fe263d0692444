//! Lists of objects in a property, such as the targets of a rule: one by one, each in the worlds where it stands.
//! It knows no resource type.

use super::{Lowering, Properties};
use crate::conditions::Condition;
use crate::frontend::cloudformation::value::{Evaluated, always};
use crate::graph::Resource;
use crate::source::Span;

/// One element of a list, in some worlds.
pub(super) struct Element<'t> {
    /// Its place in the list as written, from 0.
    pub(super) index: usize,
    /// The worlds.
    pub(super) when: Condition,
    /// What it comes to; unresolved also where the whole list is.
    pub(super) value: Evaluated<'t>,
    /// Where it is written.
    pub(super) span: Span,
}

impl<'t> Lowering<'_, 't> {
    /// The elements of the list at `path`, those that are absent left out. A single value counts as a list of it.
    pub(super) fn elements(&self, properties: &Properties<'t>, path: &[&'static str]) -> Vec<Element<'t>> {
        let mut all = Vec::new();
        for outcome in self.get(properties, path) {
            let world = properties.world.and(&outcome.when);
            let element = |index, value, span, when| Element {
                index,
                when,
                value,
                span,
            };
            let items = match &outcome.value {
                Evaluated::Absent => continue,
                Evaluated::Tree(node) => node.items(),
                Evaluated::Items(items) => {
                    let texts = items.iter().cloned().map(Evaluated::Text).enumerate();
                    all.extend(texts.map(|(index, text)| element(index, text, outcome.span, outcome.when.clone())));
                    continue;
                }
                Evaluated::Text(_) | Evaluated::Unresolved(_) => None,
            };
            let Some(items) = items else {
                all.push(element(0, outcome.then.value, outcome.then.span, outcome.when));
                continue;
            };
            for (index, item) in items.iter().enumerate() {
                for found in self.template.eval(item, item.span, &world) {
                    if !matches!(found.value, Evaluated::Absent) {
                        let when = outcome.when.and(&found.when);
                        all.push(element(index, found.then.value, found.then.span, when));
                    }
                }
            }
        }
        all
    }

    /// The properties of an element that is an object.
    pub(super) fn inner(&self, element: &Element<'t>, outer: &Properties<'t>) -> Properties<'t> {
        Properties {
            own: always(element.value.clone(), element.span),
            header: first_key(&element.value).unwrap_or(outer.header),
            world: outer.world.and(&element.when),
        }
    }
}

impl Element<'_> {
    /// The node that stands for it, as a part of `resource`: `Rule.Targets[0]`.
    pub(super) fn resource(&self, resource: &Resource, list: &str) -> Resource {
        Resource {
            address: format!("{}.{list}[{}]", resource.address, self.index).into(),
            header: first_key(&self.value).unwrap_or(resource.header),
            when: resource.when.and(&self.when),
            ..resource.clone()
        }
    }
}

/// Where an object begins.
fn first_key(value: &Evaluated<'_>) -> Option<Span> {
    match value {
        Evaluated::Tree(node) => Some(node.entries()?.first()?.key_span),
        _ => None,
    }
}
