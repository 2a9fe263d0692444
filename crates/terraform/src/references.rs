//! References between the declarations of a configuration, as written: the order in which Terraform creates resources
//! follows from them. Nothing is evaluated, since a reference counts whether its value is used or not.

use crate::eval::Evaluator;
use crate::module::{Call, Module};
use crate::syntax::{Attribute, Block, Body, Expression, ExpressionKind, Step};
use crate::value::ModulePath;
use source::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum depth to which expressions and blocks are searched.
const MAX_DEPTH: usize = 64;

/// A declaration and its references to others.
#[derive(Debug)]
pub struct Referring {
    /// `true` for a resource or a data source.
    pub is_resource: bool,
    /// `false` if it may not refer to all of them: the call of a module that is not read.
    pub is_certain: bool,
    /// Addresses of other declarations, without keys of instances, each with the span of the argument.
    pub references: Vec<(Arc<str>, Span)>,
}

impl Referring {
    fn passing(references: Vec<(Arc<str>, Span)>) -> Self {
        Referring {
            is_resource: false,
            is_certain: true,
            references,
        }
    }
}

/// References of a configuration.
struct References<'e> {
    /// Modules by the prefix of their addresses, without keys.
    modules: BTreeMap<String, &'e Module>,
    all: BTreeMap<Arc<str>, Referring>,
}

/// A module, by the prefix of its addresses.
#[derive(Clone, Copy)]
struct In<'e> {
    prefix: &'e str,
    module: &'e Module,
}

impl Evaluator<'_> {
    /// Returns the declarations of all modules that are called, by address without keys of instances.
    pub fn references(&self) -> BTreeMap<Arc<str>, Referring> {
        let mut callers = BTreeMap::new();
        let mut modules = BTreeMap::new();
        // A description of a module does not contain its order.
        for instance in self
            .instances
            .iter()
            .filter(|instance| instance.module.described.is_none())
        {
            let prefix = prefix(&instance.path);
            let caller = instance.caller.as_ref();
            let caller = caller.and_then(|(name, call, scope)| Some((name, call, self.instances.get(scope.module)?)));
            callers.entry(prefix.clone()).or_insert(caller);
            modules.entry(prefix).or_insert(&*instance.module);
        }
        let mut references = References {
            modules: modules.clone(),
            all: BTreeMap::new(),
        };
        for (prefix, module) in &modules {
            let within = In { prefix, module };
            let caller = callers.get(prefix).copied().flatten();
            references.module(within, caller.is_some());
            let Some((name, call, parent)) = caller else { continue };
            let above = self::prefix(&parent.path);
            let outside = In {
                prefix: &above,
                module: &parent.module,
            };
            references.call(name, call, within, outside);
        }
        references.all
    }
}

/// Returns the prefix of addresses in the module at `path`, without keys.
fn prefix(path: &ModulePath) -> String {
    path.names().iter().map(|name| format!("module.{name}.")).collect()
}

impl<'e> References<'e> {
    fn module(&mut self, within: In<'e>, is_called: bool) {
        let In { prefix, module } = within;
        for (of, resources) in [("", &module.resources), ("data.", &module.data)] {
            for ((kind, name), block) in resources {
                let address = format!("{prefix}{of}{kind}.{name}");
                self.add(
                    address.clone(),
                    true,
                    within,
                    block.body.attributes.iter(),
                    &block.body.blocks,
                );
                if let Some(declared) = self.all.get_mut(&*address).filter(|_| is_called) {
                    declared.references.push((format!("{prefix}call").into(), block.header));
                }
            }
        }
        for (name, local) in &module.locals {
            self.add(
                format!("{prefix}local.{name}"),
                false,
                within,
                std::iter::once(local),
                &[],
            );
        }
        for (name, output) in &module.outputs {
            self.add(
                format!("{prefix}output.{name}"),
                false,
                within,
                output.body.attributes.iter(),
                &[],
            );
        }
        for (name, call) in &module.calls {
            // A module that is not read may use any of its arguments.
            if !self.modules.contains_key(&format!("{prefix}module.{name}.")) {
                let (address, body) = (format!("{prefix}module.{name}"), &call.block.body);
                self.add(address.clone(), false, within, body.attributes.iter(), &body.blocks);
                self.all.entry(address.into()).and_modify(|one| one.is_certain = false);
            }
        }
    }

    /// Adds the call `name` of the module `within`: its arguments, all of its outputs, and everything in it.
    fn call(&mut self, name: &str, call: &Call, within: In<'_>, outside: In<'_>) {
        let In { prefix, module } = within;
        let body = &call.block.body;
        for passed in body
            .attributes
            .iter()
            .filter(|one| module.variables.contains_key(&one.name))
        {
            self.add(
                format!("{prefix}var.{}", passed.name),
                false,
                outside,
                std::iter::once(passed),
                &[],
            );
        }
        // Everything in the module is created after what decides how often it is called.
        let meta = |one: &&Attribute| matches!(&*one.name, "depends_on" | "count" | "for_each");
        self.add(
            format!("{prefix}call"),
            false,
            outside,
            body.attributes.iter().filter(meta),
            &[],
        );
        let span = call.block.header;
        let above = outside.prefix;
        if !above.is_empty() {
            let outer = (format!("{above}call").into(), span);
            self.all
                .entry(format!("{prefix}call").into())
                .and_modify(|one| one.references.push(outer));
        }
        let outputs = module.outputs.keys().map(|output| format!("{prefix}output.{output}"));
        let outputs = outputs.map(|to| (to.into(), span)).collect();
        self.all
            .insert(format!("{above}module.{name}").into(), Referring::passing(outputs));
        let nested = module.calls.keys().map(|call| {
            let inner = format!("{prefix}module.{call}");
            if self.modules.contains_key(&format!("{inner}.")) {
                format!("{inner}.all")
            } else {
                inner
            }
        });
        let own = self.all.range(Arc::from(prefix)..).map(|(key, _)| key.to_string());
        let own = own.take_while(|key| key.starts_with(prefix));
        let inside = nested.chain(own).map(|to| (to.into(), span)).collect();
        self.all
            .insert(format!("{prefix}all").into(), Referring::passing(inside));
    }

    /// Adds the declaration at `address` with the references in its arguments and nested blocks.
    fn add<'b>(
        &mut self,
        address: String,
        is_resource: bool,
        within: In<'_>,
        attributes: impl Iterator<Item = &'b Attribute>,
        blocks: &[Arc<Block>],
    ) {
        let mut references = Vec::new();
        for attribute in attributes {
            self.of_attribute(within, attribute, &mut references);
        }
        for block in blocks {
            self.of_body(within, &block.body, 0, &mut references);
        }
        references.dedup_by(|one, other| one.0 == other.0);
        let declaration = Referring {
            is_resource,
            ..Referring::passing(references)
        };
        self.all.insert(address.into(), declaration);
    }

    fn of_body(&self, within: In<'_>, body: &Body, depth: usize, found: &mut Vec<(Arc<str>, Span)>) {
        if depth < MAX_DEPTH {
            body.attributes
                .iter()
                .for_each(|one| self.of_attribute(within, one, found));
            body.blocks
                .iter()
                .for_each(|block| self.of_body(within, &block.body, depth + 1, found));
        }
    }

    fn of_attribute(&self, within: In<'_>, attribute: &Attribute, found: &mut Vec<(Arc<str>, Span)>) {
        if matches!(&*attribute.name, "ignore_changes" | "provider" | "providers") {
            return;
        }
        if let (ExpressionKind::Tuple(items), "depends_on") = (&attribute.value.kind, &*attribute.name) {
            // In JSON syntax, its references are strings.
            for item in items {
                let names: Vec<&str> = match (&item.kind, item.path()) {
                    (ExpressionKind::Text(text), _) => text.split('.').collect(),
                    (_, Some(("module", [Step::Attribute(call), ..]))) => vec!["module", call],
                    _ => continue,
                };
                // A dependency on a module is one on everything in it.
                let all = match names.as_slice() {
                    ["module", call, ..] => Some(format!("{}module.{call}.all", within.prefix).into()),
                    names => self.declared(within, names),
                };
                found.extend(all.map(|to| (to, attribute.span)));
            }
        }
        self.of_expression(within, &attribute.value, attribute.span, 0, found);
    }

    fn of_expression(
        &self,
        within: In<'_>,
        value: &Expression,
        span: Span,
        depth: usize,
        found: &mut Vec<(Arc<str>, Span)>,
    ) {
        if depth >= MAX_DEPTH {
            return;
        }
        if let Some((base, steps)) = value.path() {
            let names = steps.iter().filter_map(|step| match step {
                Step::Attribute(name) => Some(&**name),
                _ => None,
            });
            let names: Vec<&str> = std::iter::once(base).chain(names).collect();
            found.extend(self.declared(within, &names).map(|to| (to, span)));
        }
        value.for_each_child(&mut |child| self.of_expression(within, child, span, depth + 1, found));
    }

    /// Returns the address of the declaration that a reference names.
    fn declared(&self, within: In<'_>, names: &[&str]) -> Option<Arc<str>> {
        let In { prefix, module } = within;
        let names = match names {
            ["resource", rest @ ..] => rest,
            all => all,
        };
        let is_declared =
            |of: &BTreeMap<_, _>, kind: &str, name: &str| of.contains_key(&(Arc::from(kind), Arc::from(name)));
        let local = match names {
            ["var", name, ..] => format!("var.{name}"),
            ["local", name, ..] => format!("local.{name}"),
            ["module", call, rest @ ..] => {
                let inner = self.modules.get(&format!("{prefix}module.{call}."));
                match (inner, rest.first()) {
                    (Some(inner), Some(output)) if inner.outputs.contains_key(*output) => {
                        format!("module.{call}.output.{output}")
                    }
                    _ => format!("module.{call}"),
                }
            }
            ["data", kind, name, ..] if is_declared(&module.data, kind, name) => format!("data.{kind}.{name}"),
            [kind, name, ..] if is_declared(&module.resources, kind, name) => format!("{kind}.{name}"),
            _ => return None,
        };
        Some(format!("{prefix}{local}").into())
    }
}
