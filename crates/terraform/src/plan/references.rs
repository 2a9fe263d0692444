//! Resolves the references of an argument through the configuration in a plan: module arguments, outputs, and keys of
//! instances.
//!
//! A plan lists the names in an expression and nothing else: no operators, and no values of locals. So the target is
//! unresolved if an expression refers to several resources or to a local. This module knows no values and no resource
//! types.

use super::address::{Step, steps};
use super::document::{Called, ConfigurationModule, Configured, Expression};
use crate::limits;
use crate::value::{Key, ModulePath, ResourceId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// An instance of a module.
pub(crate) struct Instance<'p> {
    pub path: Arc<ModulePath>,
    pub(crate) configuration: Option<&'p ConfigurationModule<'p>>,
    /// The calling instance and the call.
    pub(crate) caller: Option<(usize, &'p Called<'p>)>,
    /// Its name and its key, the latter with brackets.
    pub(crate) name: String,
    pub(crate) key: String,
    /// Keys and indexes of the instances it calls, by name.
    children: FxHashMap<String, Vec<(String, usize)>>,
    /// Keys and ids of its resources, by type and name, with the prefix `data.` for data sources.
    resources: FxHashMap<String, Vec<(String, Arc<ResourceId>)>>,
}

/// The possible targets of an expression.
#[derive(Debug, Clone, Default)]
pub(crate) struct Targets {
    /// Resources, with the attribute if one is written.
    pub(crate) resources: Vec<(Arc<ResourceId>, Option<String>)>,
    /// `true` if it refers to a local or something else that a plan does not contain.
    pub(crate) opaque: bool,
    /// `true` if it refers to a resource of a type that links never point to.
    pub(crate) other: bool,
}

impl Targets {
    fn opaque() -> Targets {
        Targets {
            opaque: true,
            ..Targets::default()
        }
    }

    fn add(&mut self, other: Targets) {
        self.opaque |= other.opaque;
        self.other |= other.other;
        for target in other.resources {
            if self.resources.len() < limits::MAX_PLAN_REFERENCE_TARGETS && !self.resources.contains(&target) {
                self.resources.push(target);
            }
        }
    }

    /// Returns `true` if nothing in the expression is known only after apply, so the expression is known, too.
    pub(crate) fn is_constant(&self) -> bool {
        self.resources.is_empty() && !self.opaque && !self.other
    }
}

/// The context of an expression: a block with a key.
#[derive(Clone, Copy)]
pub(crate) struct ExpressionContext<'p, 's> {
    pub(crate) instance: usize,
    /// Key of the block's instance; empty without one.
    pub(crate) key: &'s str,
    pub(crate) for_each: Option<&'s Expression<'p>>,
}

/// The instances of modules and resources of a plan.
pub(crate) struct Resolver<'p> {
    pub(crate) instances: Vec<Instance<'p>>,
    /// Types of planned resources that links never point to.
    pub(crate) aside: FxHashSet<&'p str>,
    /// Configured blocks by the memory address of their module, mode, type and name.
    blocks: FxHashMap<(usize, &'p str, &'p str, &'p str), &'p Configured<'p>>,
    /// Results for variables and outputs that were resolved already; `None` while one is being resolved.
    known: FxHashMap<(usize, bool, String), Option<Targets>>,
    depth: usize,
}

impl<'p> Resolver<'p> {
    pub(super) fn new(root: Option<&'p ConfigurationModule<'p>>) -> Self {
        let root = Instance {
            path: Arc::default(),
            configuration: root,
            caller: None,
            name: String::new(),
            key: String::new(),
            children: FxHashMap::default(),
            resources: FxHashMap::default(),
        };
        Resolver {
            instances: vec![root],
            aside: FxHashSet::default(),
            blocks: FxHashMap::default(),
            known: FxHashMap::default(),
            depth: 0,
        }
    }

    /// Returns the instance that `parent` calls as `name` with `key`, created if necessary.
    pub(crate) fn child(&mut self, parent: usize, name: &str, key: &str) -> usize {
        let known = self.instances[parent].children.get(name);
        if let Some((_, at)) = known.and_then(|known| known.iter().find(|(of, _)| of == key)) {
            return *at;
        }
        let at = self.instances.len();
        let caller = self.instances[parent]
            .configuration
            .and_then(|configuration| configuration.module_calls.get(name));
        self.instances.push(Instance {
            // The key keeps the form in which Terraform printed it.
            path: self.instances[parent]
                .path
                .step(format!("{name}{key}").into(), Key::None),
            configuration: caller.map(|called| &called.module),
            caller: caller.map(|called| (parent, called)),
            name: name.to_owned(),
            key: key.to_owned(),
            children: FxHashMap::default(),
            resources: FxHashMap::default(),
        });
        let children = self.instances[parent].children.entry(name.to_owned()).or_default();
        children.push((key.to_owned(), at));
        at
    }

    /// Registers an instance of a resource.
    pub(crate) fn declare(&mut self, instance: usize, label: String, key: &str, id: Arc<ResourceId>) {
        let known = self.instances[instance].resources.entry(label);
        let known = known.or_insert_with(|| Vec::with_capacity(1)); // most blocks have one instance
        known.push((key.to_owned(), id));
    }

    /// Returns the block of a resource or data source in the configuration.
    pub(crate) fn block(
        &mut self,
        instance: usize,
        is_data: bool,
        kind: &str,
        name: &str,
    ) -> Option<&'p Configured<'p>> {
        let configuration = self.instances.get(instance)?.configuration?;
        let at = std::ptr::from_ref(configuration) as usize;
        if !self.blocks.contains_key(&(at, "", "", "")) {
            let first = configuration.resources.first()?;
            self.blocks.insert((at, "", "", ""), first);
            for block in &configuration.resources {
                self.blocks.insert((at, &block.mode, &block.kind, &block.name), block);
            }
        }
        let mode = if is_data { "data" } else { "managed" };
        self.blocks.get(&(at, mode, kind, name)).copied()
    }

    /// Returns the targets of `references` at `place`.
    pub(crate) fn resolve<'r>(
        &mut self,
        references: impl Iterator<Item = &'r str>,
        place: ExpressionContext<'p, '_>,
    ) -> Targets {
        if self.depth >= limits::MAX_PLAN_REFERENCE_DEPTH {
            return Targets::opaque();
        }
        self.depth += 1;
        let references = most_specific(references.collect());
        let of_key = |reference: &&str| matches!(head(reference), "each" | "count");
        let by_key = references.iter().any(of_key);
        let mut others = references
            .iter()
            .filter(|reference| !of_key(reference) && !matches!(head(reference), "path" | "terraform" | "self"));
        // `queues[each.key]` lists `queues` and `each.key`. With a third name, the key may be a different one.
        let narrowed = match (others.next(), others.next()) {
            (Some(_), None) if by_key => Some(place.key),
            _ => None,
        };
        let mut found = Targets::default();
        for reference in references {
            let parts = steps(reference);
            found.add(self.reference(&parts, place, narrowed.filter(|key| !key.is_empty())));
        }
        self.depth -= 1;
        found
    }

    fn reference(&mut self, parts: &[Step<'_>], place: ExpressionContext<'p, '_>, narrowed: Option<&str>) -> Targets {
        let instance = place.instance;
        match parts {
            [Step::Name("path" | "terraform" | "self" | "count"), ..] | [Step::Name("each"), Step::Name("key"), ..] => {
                Targets::default()
            }
            [Step::Name("each"), Step::Name("value"), rest @ ..] => self.each_value(rest, place),
            [Step::Name("var"), Step::Name(name), ..] => self.variable(instance, name),
            [Step::Name("module"), Step::Name(name), rest @ ..] => self.module(instance, name, rest, narrowed),
            [Step::Name("data"), Step::Name(kind), Step::Name(name), rest @ ..] => {
                self.resource(instance, &format!("data.{kind}.{name}"), rest, narrowed)
            }
            [Step::Name(kind), Step::Name(name), rest @ ..] if kind.contains('_') => {
                self.resource(instance, &format!("{kind}.{name}"), rest, narrowed)
            }
            _ => Targets::opaque(),
        }
    }

    /// Resolves `each.value` if `for_each` iterates over resources: to the one with the same key.
    fn each_value(&mut self, rest: &[Step<'_>], place: ExpressionContext<'p, '_>) -> Targets {
        let Some(for_each) = place.for_each else {
            return Targets::opaque();
        };
        let references: Vec<String> = for_each.references.iter().map(ToString::to_string).collect();
        let chain = references.iter().map(String::as_str).chain(["each.key"]);
        let outer = ExpressionContext {
            for_each: None,
            ..place
        };
        let mut found = self.resolve(chain, outer);
        let attribute = rest.iter().find_map(|step| step.name());
        for (_, of) in &mut found.resources {
            *of = of.take().or_else(|| attribute.map(str::to_owned));
        }
        found
    }

    fn variable(&mut self, instance: usize, name: &str) -> Targets {
        // The values of the root's variables are known when a plan is made.
        let Some((parent, called)) = self.instances[instance].caller else {
            return Targets::default();
        };
        let Some(argument) = called.expressions.get(name) else {
            return Targets::default();
        };
        self.once((instance, false, name.to_owned()), |this| {
            let Ok(argument) = serde_json::from_str::<Expression<'_>>(argument.get()) else {
                return Targets::opaque();
            };
            let key = this.instances[instance].key.clone();
            let place = ExpressionContext {
                instance: parent,
                key: &key,
                for_each: called.for_each_expression.as_ref(),
            };
            this.resolve(argument.references.iter().map(|reference| &**reference), place)
        })
    }

    fn module(&mut self, instance: usize, name: &str, rest: &[Step<'_>], narrowed: Option<&str>) -> Targets {
        let declared = self.instances[instance]
            .configuration
            .and_then(|configuration| configuration.module_calls.get(name));
        if declared.is_none() {
            return Targets::opaque();
        }
        let (key, rest) = match rest {
            [Step::Key(key), rest @ ..] => (Some(*key), rest),
            _ => (None, rest),
        };
        let output = rest.iter().find_map(|step| step.name());
        let known = self.instances[instance].children.get(name).cloned().unwrap_or_default();
        let chosen: Vec<usize> = match key.or_else(|| narrowed.filter(|key| known.iter().any(|(of, _)| of == key))) {
            Some(key) => vec![self.child(instance, name, key)],
            // The planned values do not include modules without resources.
            None if known.is_empty() => vec![self.child(instance, name, "")],
            None => known
                .iter()
                .map(|(_, at)| *at)
                .take(limits::MAX_PLAN_REFERENCE_TARGETS)
                .collect(),
        };
        let mut found = Targets::default();
        found.opaque |= chosen.len() == limits::MAX_PLAN_REFERENCE_TARGETS;
        for child in chosen {
            found.add(self.output(child, output));
        }
        found
    }

    /// Resolves an output, or all outputs if none is specified.
    fn output(&mut self, instance: usize, name: Option<&str>) -> Targets {
        let Some(configuration) = self.instances[instance].configuration else {
            return Targets::opaque();
        };
        let wanted = |(of, _): &(&'p std::borrow::Cow<'p, str>, &'p super::document::Output<'p>)| {
            name.is_none_or(|name| ***of == *name)
        };
        let outputs: Vec<_> = configuration.outputs.iter().filter(wanted).collect();
        if outputs.is_empty() {
            return Targets::opaque();
        }
        let mut found = Targets::default();
        for (name, output) in outputs {
            let Some(expression) = &output.expression else { continue };
            found.add(self.once((instance, true, name.to_string()), |this| {
                let place = ExpressionContext {
                    instance,
                    key: "",
                    for_each: None,
                };
                this.resolve(expression.references.iter().map(|reference| &**reference), place)
            }));
        }
        found
    }

    fn resource(&mut self, instance: usize, label: &str, rest: &[Step<'_>], narrowed: Option<&str>) -> Targets {
        let Some(known) = self.instances[instance].resources.get(label) else {
            // Either no instance is planned, or it is a data source that was read already, or links never point to its
            // type.
            return Targets {
                other: self.aside.contains(label.split('.').next().unwrap_or("")),
                ..Targets::default()
            };
        };
        let (key, rest) = match rest {
            [Step::Key(key), rest @ ..] => (Some(*key), rest),
            _ => (None, rest),
        };
        let attribute = rest.iter().find_map(|step| step.name()).map(str::to_owned);
        let of_key = |key: &str| known.iter().find(|(of, _)| of == key);
        let chosen: Vec<_> = match (key, narrowed.and_then(of_key)) {
            (Some(key), _) => of_key(key).into_iter().collect(),
            (None, Some(one)) => vec![one],
            (None, None) => known.iter().take(limits::MAX_PLAN_REFERENCE_TARGETS).collect(),
        };
        let targets = chosen.into_iter().map(|(_, id)| (id.clone(), attribute.clone()));
        Targets {
            resources: targets.collect(),
            ..Targets::default()
        }
    }

    fn once(&mut self, of: (usize, bool, String), find: impl FnOnce(&mut Self) -> Targets) -> Targets {
        match self.known.get(&of) {
            Some(Some(found)) => return found.clone(),
            Some(None) => return Targets::opaque(),
            None => {}
        }
        self.known.insert(of.clone(), None);
        let found = find(self);
        self.known.insert(of, Some(found.clone()));
        found
    }
}

fn head(reference: &str) -> &str {
    reference.split(['.', '[']).next().unwrap_or("")
}

/// Removes `q` if `q.arn` is listed as well: Terraform lists both.
fn most_specific(mut references: Vec<&str>) -> Vec<&str> {
    references.sort_unstable();
    references.dedup();
    let mut kept: Vec<&str> = Vec::with_capacity(references.len());
    // In reverse order, the extensions of a reference directly precede it.
    for reference in references.into_iter().rev() {
        let stated = kept
            .iter()
            .rev()
            .take_while(|before| before.starts_with(reference))
            .any(|before| {
                before
                    .get(reference.len()..)
                    .is_some_and(|rest| rest.starts_with(['.', '[']))
            });
        if !stated {
            kept.push(reference);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_other_references_are_removed() {
        let all = vec![
            "a_b.c.arn",
            "a_b.c",
            "a_b.c",
            "a_b.cd",
            "each.key",
            "a_b.c[0].id",
            "a_b.c[0]",
        ];
        assert_eq!(most_specific(all), ["each.key", "a_b.cd", "a_b.c[0].id", "a_b.c.arn"]);
    }
}
