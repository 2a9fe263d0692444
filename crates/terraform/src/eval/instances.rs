//! Module instances: an evaluation context for each call and key.

use super::expansion::Made;
use super::{Evaluator, Scope};
use crate::module::{Call, Module};
use crate::value::{Key, ModulePath, Value, ValueKind};
use conditions::Condition;
use knowledge::{Cause, Reason};
use rustc_hash::FxHashMap;
use source::{Sources, Span};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// An instance of a module.
#[derive(Debug)]
pub struct Instance {
    /// The module.
    pub module: Arc<Module>,
    /// Name of the call, the call, and its scope in the calling instance; `None` for the root.
    pub(crate) caller: Option<(Arc<str>, Arc<Call>, Scope)>,
    /// Prefix of the addresses of its resources.
    pub path: Arc<ModulePath>,
    /// Condition under which it exists.
    pub when: Condition,
    /// The reason why its existence is unresolved.
    pub uncertain: Option<Reason>,
    /// Headers of the calls that lead to it, outermost first.
    pub calls: Vec<Span>,
}

/// A module instance to be created.
pub(crate) struct Birth {
    pub(crate) name: Arc<str>,
    pub(crate) call: Arc<Call>,
    pub(crate) module: Arc<Module>,
    pub(crate) scope: Scope,
    pub(crate) key: Key,
    pub(crate) when: Condition,
    pub(crate) uncertain: Option<Reason>,
}

impl<'a> Evaluator<'a> {
    /// Returns an evaluator for the root module `root`.
    pub fn new(
        sources: &'a Sources,
        modules: &'a super::super::module::Modules,
        root: Arc<Module>,
        unit: &str,
    ) -> Self {
        Evaluator::of_instances(sources, modules, unit, vec![(Arc::default(), root, Vec::new())])
    }

    /// Returns an evaluator for instances without calls between them: the prefix of the addresses, the module, and the
    /// headers of the calls of each.
    pub fn of_instances(
        sources: &'a Sources,
        modules: &'a super::super::module::Modules,
        unit: &str,
        instances: Vec<(Arc<ModulePath>, Arc<Module>, Vec<Span>)>,
    ) -> Self {
        let instances = instances.into_iter().map(|(path, module, calls)| Instance {
            module,
            caller: None,
            path,
            when: Condition::always(),
            uncertain: None,
            calls,
        });
        Evaluator {
            unit: unit.into(),
            sources,
            modules,
            inputs: None,
            outside: super::Outside::default(),
            instances: instances.collect(),
            known: FxHashMap::default(),
            expansions: FxHashMap::default(),
            steps: 0,
            hashed: 0,
            depth: 0,
            place: None,
            limit: None,
            cycles: BTreeMap::new(),
            made: Made::default(),
            templates: FxHashMap::default(),
        }
    }

    /// Adds an instance and returns its index.
    pub(crate) fn instantiate(&mut self, birth: Birth) -> usize {
        let parent = &self.instances[birth.scope.module];
        let path = parent.path.step(birth.name.clone(), birth.key);
        let mut calls = parent.calls.clone();
        // All spans in a described module are those of its call already.
        if birth.module.described.is_none() {
            calls.push(birth.call.block.header);
        }
        let when = parent.when.and(&birth.when);
        let uncertain = birth.uncertain.or_else(|| parent.uncertain.clone());
        self.instances.push(Instance {
            module: birth.module,
            caller: Some((birth.name, birth.call, birth.scope)),
            path,
            when,
            uncertain,
            calls,
        });
        self.instances.len() - 1
    }

    /// Returns the reason why `name`, which the readable part of a module does not declare, is unknown.
    pub fn undeclared(&self, module: usize, name: impl fmt::Display) -> Reason {
        match &self.instances[module].module.unread {
            Some(unread) => unread.clone(),
            None if self.is_whole(module) => Reason::undeclared(name),
            None => Cause::NotRead.because(format!("`{name}` is not declared in what was read")),
        }
    }

    /// Returns `true` if everything that an instance declares was read. Plans and states contain only the relevant
    /// part, and Terragrunt may generate files in the root module.
    fn is_whole(&self, module: usize) -> bool {
        let is_root = module == 0;
        let code = &self.instances[module].module;
        self.inputs.is_some()
            && code.described.is_none()
            && !code.has_templates
            && code.errors.is_empty()
            && code.problems.is_empty()
            && !(is_root && self.outside.inputs.is_some())
    }

    /// Returns `true` if the module of an instance is known only by a description.
    pub fn is_described(&self, module: usize) -> bool {
        self.instances[module].module.described.is_some()
    }

    /// Sets the span of `value`. Within a description, the value keeps the span of the argument it came from.
    pub(crate) fn placed(&self, value: Value, span: Span, scope: &Scope) -> Value {
        match value.span {
            Some(_) if self.is_described(scope.module) => value,
            _ => value.at(span),
        }
    }

    /// Returns the scope of a module's own blocks.
    pub fn scope(&self, module: usize) -> Scope {
        Scope {
            module,
            names: if module == 0 {
                self.outside.names.clone()
            } else {
                Vec::new()
            },
            ..Scope::default()
        }
    }

    /// Converts a module to the object of its outputs; returns any other value unchanged.
    pub(crate) fn unfolded(&mut self, value: Value) -> Value {
        let ValueKind::Module(at) = value.kind else {
            return value;
        };
        let names: Vec<Arc<str>> = self.instances[at].module.outputs.keys().cloned().collect();
        let outputs = names.into_iter().map(|name| (name.clone(), self.output(at, &name)));
        let outputs = outputs.collect();
        value.with(Value::map(outputs))
    }

    /// Returns the value of the output `name` of a module instance.
    pub fn output(&mut self, module: usize, name: &Arc<str>) -> Value {
        self.once(module, super::Declaration::Output(name.clone()), |this| {
            let declared = this.instances[module].module.outputs.get(name).cloned();
            let Some(attribute) = declared.as_ref().and_then(|block| block.body.attribute("value")) else {
                return Value::error(format!("the module has no output `{name}`"));
            };
            let scope = this.scope(module);
            let mut value = this.eval(&attribute.value, &scope);
            if !this.is_described(module) {
                value.origins = value.origins.before(attribute.span, format!("the output `{name}`"));
            }
            value
        })
    }
}
