//! `count` and `for_each`: which instances of a resource or a module there are, and where each exists.

use super::super::module::{Call, Module, Source};
use super::super::number::Number;
use super::super::registry;
use super::super::syntax::{Block, Body, Kind as Syntax};
use super::super::value::{Key, Kind, ResourceId, Value};
use super::instances::Birth;
use super::{Evaluator, Named, Scope};
use crate::conditions::Condition;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// More instances than this are a bound reached.
const MAX_INSTANCES: usize = 20_000;
/// Modules may call each other so deep.
const MAX_CALLS: usize = 32;

/// The instances of one block.
#[derive(Debug)]
pub(in super::super) struct Expansion {
    /// Every instance that exists in some world.
    pub(in super::super) members: Vec<Member>,
    by_key: FxHashMap<Key, usize>,
    /// What a reference to the block without key gives.
    pub(super) value: Value,
}

impl Expansion {
    /// The instance of `key`.
    pub(in super::super) fn member(&self, key: &Key) -> Option<&Member> {
        self.by_key.get(key).and_then(|at| self.members.get(*at))
    }
}

/// One instance.
#[derive(Debug, Clone)]
pub(in super::super) struct Member {
    pub(in super::super) key: Key,
    pub(in super::super) scope: Scope,
    /// Where it exists, given that its module does.
    pub(in super::super) when: Condition,
    /// Why it may not exist at all.
    pub(in super::super) uncertain: Option<Arc<str>>,
    /// The instance of a module.
    pub(in super::super) module: Option<usize>,
}

/// What `count` or `for_each` says in one world.
enum Keys {
    One,
    Count(usize),
    Each(Vec<(Arc<str>, Value)>),
    Unknown(Arc<str>),
}

impl Evaluator<'_> {
    /// The instances of a resource or data source; `None` where it is not declared.
    pub(in super::super) fn resource(
        &mut self,
        module: usize,
        data: bool,
        name: &(Arc<str>, Arc<str>),
    ) -> Option<Arc<Expansion>> {
        let declared = &self.instances[module].module;
        let blocks = if data { &declared.data } else { &declared.resources };
        let block = blocks.get(name)?.clone();
        let named = Named::Resource(data, name.0.clone(), name.1.clone());
        let prefix = self.instances[module].prefix.clone();
        Some(self.expand(module, named, &block, |_, member, unknown| {
            let data_prefix = if data { "data." } else { "" };
            let address = format!("{prefix}{data_prefix}{}.{}{}", name.0, name.1, member.key.shown());
            let id = Arc::new(ResourceId {
                module,
                data,
                kind: name.0.clone(),
                name: name.1.clone(),
                key: member.key.clone(),
                address: address.into(),
            });
            if unknown {
                Kind::AnyResource(id)
            } else {
                Kind::Resource(id)
            }
            .into()
        }))
    }

    /// The instances of a module call.
    pub(in super::super) fn call(&mut self, module: usize, name: &Arc<str>) -> Option<Arc<Expansion>> {
        let call = self.instances[module].module.calls.get(name)?.clone();
        let named = Named::Call(name.clone());
        let block = call.block.clone();
        let target = self.target(module, &call, name);
        Some(self.expand(module, named, &block, |this, member, unknown| {
            let target = match &target {
                Ok(target) => target.clone(),
                Err(reason) => return Value::unknown(reason.clone()),
            };
            let at = this.instantiate(Birth {
                name: name.clone(),
                call: call.clone(),
                module: target,
                scope: member.scope.clone(),
                key: member.key.clone(),
                when: member.when.clone(),
                uncertain: member.uncertain.clone(),
            });
            member.module = Some(at);
            if unknown { Kind::AnyModule(at) } else { Kind::Module(at) }.into()
        }))
    }

    /// The module that a call means, or why it is not evaluated.
    pub(in super::super) fn target(&mut self, module: usize, call: &Call, name: &str) -> Result<Arc<Module>, Arc<str>> {
        let found = match (&call.source, self.installed(module, call, name)) {
            (Source::Here(path), _) => self.modules.get(path).cloned(),
            (_, Some(installed)) => Some(installed),
            (Source::Described(described), None) => Some(described.clone()),
            (Source::Away(why), None) => return Err(format!("module `{name}` is not here ({why})").into()),
        };
        let bound = if self.instances[module].calls.len() >= MAX_CALLS {
            "modules call each other more than 32 levels deep"
        } else if self.instances.len() > MAX_INSTANCES {
            "there are more than 20000 instances of modules"
        } else {
            return found.ok_or_else(|| "the module is not here".into());
        };
        self.give_up(call.block.header, bound);
        Err(bound.into())
    }

    /// The code that `terraform init` fetched for a call.
    fn installed(&self, module: usize, call: &Call, name: &str) -> Option<Arc<Module>> {
        if self.instances[0].module.installed.is_empty() {
            return None;
        }
        let mut names = vec![name.to_owned()];
        let mut at = module;
        while let Some((name, _, scope)) = &self.instances[at].caller {
            names.push(name.to_string());
            at = scope.module;
        }
        names.reverse();
        let installed = self.instances[0].module.installed.get(&*names.join("."))?;
        let source = match &call.block.body.attribute("source")?.value.kind {
            Syntax::Text(source) => source.clone(),
            _ => return None,
        };
        let constraint = registry::constraint(&call.block).ok()?;
        let serves = installed.serves(&source, constraint.as_deref());
        self.modules.get(&installed.directory).filter(|_| serves).cloned()
    }

    fn expand(
        &mut self,
        module: usize,
        named: Named,
        block: &Block,
        mut make: impl FnMut(&mut Self, &mut Member, bool) -> Value,
    ) -> Arc<Expansion> {
        match self.expansions.get(&(module, named.clone())) {
            Some(Some(known)) => return known.clone(),
            Some(None) => {
                return Arc::new(Expansion {
                    members: Vec::new(),
                    by_key: FxHashMap::default(),
                    value: Value::error("it refers to itself"),
                });
            }
            None => {}
        }
        self.expansions.insert((module, named.clone()), None);
        let scope = self.scope(module);
        let worlds = self.keys(&block.body, &scope);
        let mut members: Vec<Member> = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        let mut by_key: FxHashMap<Key, usize> = FxHashMap::default();
        let mut cases = Vec::new();
        for (when, keys) in worlds {
            let mut place = |this: &mut Self, key: Key, scope: Scope, uncertain: Option<Arc<str>>| {
                if let Some(&at) = by_key.get(&key) {
                    members[at].when = members[at].when.or(&when);
                    return values[at].clone();
                }
                let unknown = uncertain.is_some();
                let mut member = Member {
                    key,
                    scope,
                    when: when.clone(),
                    uncertain,
                    module: None,
                };
                let value = make(this, &mut member, unknown);
                by_key.insert(member.key.clone(), members.len());
                members.push(member);
                values.push(value.clone());
                value
            };
            let value = match keys {
                Keys::One => place(self, Key::None, scope.clone(), None),
                Keys::Unknown(reason) => place(self, Key::None, scope.clone(), Some(reason)),
                Keys::Count(count) => Value::list(
                    (0..count)
                        .map(|index| {
                            let mut scope = scope.clone();
                            scope.index = Some(Value::count(index));
                            scope.key = format!("[{index}]").into();
                            place(self, Key::Index(index), scope, None)
                        })
                        .collect(),
                ),
                Keys::Each(entries) => Value::map(
                    entries
                        .into_iter()
                        .map(|(name, value)| {
                            let key = Key::Name(name.clone());
                            let mut scope = scope.clone();
                            scope.key = key.shown().into();
                            scope.each = Some((Value::text(name.clone()), value));
                            (name, place(self, key, scope, None))
                        })
                        .collect(),
                ),
            };
            cases.push((when, value));
        }
        // Instances of a module were made before all their worlds were known.
        for member in &members {
            if let Some(at) = member.module {
                self.instances[at].when = self.instances[module].when.and(&member.when);
            }
        }
        let expansion = Arc::new(Expansion {
            members,
            by_key,
            value: Value::cases(cases),
        });
        self.expansions.insert((module, named), Some(expansion.clone()));
        expansion
    }

    fn keys(&mut self, body: &Body, scope: &Scope) -> Vec<(Condition, Keys)> {
        if let Some(attribute) = body.attribute("count") {
            let value = self.eval(&attribute.value, scope);
            return value
                .each_case()
                .into_iter()
                .map(|(when, value)| (when, self.count(&value, attribute.span)))
                .collect();
        }
        if let Some(attribute) = body.attribute("for_each") {
            let value = self.eval(&attribute.value, scope);
            return value
                .each_case()
                .into_iter()
                .map(|(when, value)| (when, self.each(&value, attribute.span)))
                .collect();
        }
        vec![(Condition::always(), Keys::One)]
    }

    fn count(&mut self, value: &Value, span: crate::source::Span) -> Keys {
        let count = self.plain(value.clone()).to_exact().filter(Number::is_whole);
        match (count, value.as_unknown()) {
            (Some(count), _) if !count.is_negative() || count.is_zero() => {
                match count.to_i64().and_then(|count| usize::try_from(count).ok()) {
                    Some(count) if self.room(count, span) => Keys::Count(count),
                    Some(_) => Keys::Unknown("its `count` is too large".into()),
                    None => {
                        self.room(usize::MAX, span);
                        Keys::Unknown("its `count` is too large".into())
                    }
                }
            }
            (_, Some(unknown)) => Keys::Unknown(unknown.reason.clone()),
            _ => Keys::Unknown("its `count` is not known".into()),
        }
    }

    fn room(&mut self, count: usize, span: crate::source::Span) -> bool {
        let fits = count <= MAX_INSTANCES;
        if !fits {
            self.give_up(span, "there are more than 20000 instances of one block");
        }
        fits
    }

    fn each(&mut self, value: &Value, span: crate::source::Span) -> Keys {
        match &value.kind {
            Kind::Map(entries) if self.room(entries.len(), span) => Keys::Each(entries.to_vec()),
            Kind::Set(items) | Kind::List(items) if self.room(items.len(), span) => {
                let mut all = Vec::new();
                for item in items.iter() {
                    let item = self.plain(item.clone());
                    if let Some(text) = item.to_text() {
                        all.push((
                            text.clone(),
                            Value {
                                kind: Kind::Text(text),
                                ..item
                            },
                        ));
                    } else {
                        let reason = item.as_unknown().map(|unknown| unknown.reason.clone());
                        return Keys::Unknown(reason.unwrap_or_else(|| "a key of `for_each` is not known".into()));
                    }
                }
                Keys::Each(all)
            }
            Kind::Unknown(unknown) => Keys::Unknown(unknown.reason.clone()),
            _ => Keys::Unknown("its `for_each` is not known".into()),
        }
    }
}
