//! Expands `count` and `for_each`: the instances of a resource or a module, and the condition under which each exists.
//!
//! ```text
//! variable "large" { type = bool }                            # no value
//! resource "aws_sqs_queue" "q" { count = var.large ? 3 : 1 }
//! ```
//!
//! 1. [`Evaluator::keys`] evaluates `count`, which has two cases, and turns each into keys: `Count(3)` under the
//!    condition `var.large`, `Count(1)` under its negation.
//! 2. [`Evaluator::expand`] creates the members of the first case: `q[0]`, `q[1]` and `q[2]`, each under `var.large`.
//! 3. The second case needs `q[0]` again. The member exists already, so only its condition is widened, to `var.large`
//!    or not `var.large`: `q[0]` always exists, the others only under `var.large`.
//! 4. A reference to `aws_sqs_queue.q` has two cases, too: a list of three resources or of one.
//!
//! If `count` is unknown as a whole, a single member without a key represents all instances. It has the reason
//! ([`Member::uncertain`]), and references to it are [`ValueKind::AnyResource`]. If `count` is 0, the block has no members
//! and references are an empty list; with `enabled = false` they are null.

use super::instances::Birth;
use super::{Declaration, Evaluator, Scope};
use crate::limits;
use crate::module::{Call, Module, Source};
use crate::number::Number;
use crate::registry;
use crate::syntax::{Attribute, Block, Body, ExpressionKind};
use crate::value::{Identity, Key, ResourceId, Value, ValueKind};
use conditions::{Case, Cases, Condition};
use knowledge::{Cause, Reason};
use rustc_hash::FxHashMap;
use source::Span;
use std::path::PathBuf;
use std::sync::Arc;

/// Types whose instances exist only if their unknown collection is not empty: queues, consumers and senders. Other
/// resources, such as a policy or an alarm, cure findings: nothing is reported because they would be missing if a
/// collection without a value were empty.
const NARROWED: [&str; 11] = [
    "aws_cloudwatch_event_target",
    "aws_ecs_service",
    "aws_ecs_task_definition",
    "aws_lambda_event_source_mapping",
    "aws_lambda_function",
    "aws_pipes_pipe",
    "aws_s3_bucket_notification",
    "aws_scheduler_schedule",
    "aws_sns_topic",
    "aws_sns_topic_subscription",
    "aws_sqs_queue",
];

/// Counts the instances of a unit, because each of them is or may become a node of the graph with an address.
#[derive(Default)]
pub(crate) struct Made {
    blocks: usize,
    excess: usize,
}

impl Made {
    /// Counts `more` instances in a module or block with an address of `length` bytes. Returns the bound that this
    /// would exceed, if any.
    fn add(&mut self, more: usize, length: usize) -> Result<(), &'static str> {
        let excess = length
            .saturating_sub(limits::ORDINARY_ADDRESS_LENGTH)
            .saturating_mul(more);
        if self.blocks.saturating_add(more) > limits::MAX_EXPANDED_BLOCKS {
            return Err("there are more than 100000 instances of resources and modules");
        }
        if self.excess.saturating_add(excess) > limits::MAX_EXCESS_OF_ADDRESSES {
            return Err("the addresses of its instances are longer than 8 megabytes");
        }
        self.blocks += more;
        self.excess += excess;
        Ok(())
    }
}

/// The instances of a block.
#[derive(Debug)]
pub struct Expansion {
    /// Every instance that exists under some condition.
    pub members: Vec<Member>,
    by_key: Indexes,
    /// The value of a reference to the block without a key.
    pub(crate) value: Value,
}

impl Expansion {
    /// Returns the instance with the key `key`.
    pub(crate) fn member(&self, key: &Key) -> Option<&Member> {
        self.members.get(index(&self.members, &self.by_key, key)?)
    }
}

/// Indexes of members by their keys, without the first: nearly every block has only one.
type Indexes = FxHashMap<Key, usize>;

fn index(members: &[Member], by_key: &Indexes, key: &Key) -> Option<usize> {
    match members.first() {
        Some(first) if first.key == *key => Some(0),
        _ => by_key.get(key).copied(),
    }
}

/// An instance of a block.
#[derive(Debug, Clone)]
pub struct Member {
    /// Key of the instance.
    pub key: Key,
    /// Scope of its expressions.
    pub scope: Scope,
    /// Condition under which it exists if its module does.
    pub when: Condition,
    /// The reason why its existence is unresolved.
    pub uncertain: Option<Reason>,
    /// Identity of the value that its existence depends on. Members with the same cause exist together.
    pub cause: Option<Arc<str>>,
    /// Index of the module instance, if the block is a call.
    pub module: Option<usize>,
}

/// The keys that `count` or `for_each` yields in one case.
enum Keys {
    One,
    /// The block is disabled.
    None,
    Count(usize),
    Each(Vec<(Arc<str>, Value)>),
    /// The keys are unknown, for this reason. In a `for_each` over the instances of another block, each element is one
    /// of them.
    Unknown(Reason, Option<Value>),
}

/// The members of a block while it is expanded, with the values of references to them.
#[derive(Default)]
struct Members {
    list: Vec<Member>,
    values: Vec<Value>,
    by_key: Indexes,
}

impl Members {
    /// Adds `member`, and returns the value of a reference to it. `count = var.large ? 3 : 1` has its first instance in
    /// both cases: one member that exists in either.
    fn place(&mut self, mut member: Member, make: impl FnOnce(&mut Member, bool) -> Value) -> Value {
        if let Some(at) = index(&self.list, &self.by_key, &member.key) {
            self.list[at].when = self.list[at].when.or(&member.when);
            return self.values[at].clone();
        }
        let unknown = member.uncertain.is_some();
        let value = make(&mut member, unknown);
        if !self.list.is_empty() {
            self.by_key.insert(member.key.clone(), self.list.len());
        }
        self.list.push(member);
        self.values.push(value.clone());
        value
    }
}

impl Evaluator<'_> {
    /// Returns the instances of a resource or data source; `None` if it is not declared.
    pub fn resource(&mut self, module: usize, data: bool, name: &(Arc<str>, Arc<str>)) -> Option<Arc<Expansion>> {
        let declared = &self.instances[module].module;
        let blocks = if data { &declared.data } else { &declared.resources };
        let block = blocks.get(name)?.clone();
        let named = Declaration::Resource(data, name.0.clone(), name.1.clone());
        let path = self.instances[module].path.clone();
        let make = |member: &Member, unknown| {
            let place = (module, path.clone());
            let id = Arc::new(ResourceId::new(place, data, name.clone(), member.key.clone()));
            let kind = if unknown {
                ValueKind::AnyResource
            } else {
                ValueKind::Resource
            };
            kind(id).into()
        };
        if expands(&block.body) {
            return Some(self.expand(module, named, &block, |_, member, unknown| make(member, unknown)));
        }
        // A single instance is not stored, because a plan has tens of thousands.
        let only = Member {
            key: Key::None,
            scope: self.scope(module),
            when: Condition::always(),
            uncertain: None,
            cause: None,
            module: None,
        };
        Some(Arc::new(Expansion {
            value: make(&only, false),
            members: vec![only],
            by_key: Indexes::default(),
        }))
    }

    /// Returns the instances of a module call.
    pub fn call(&mut self, module: usize, name: &Arc<str>) -> Option<Arc<Expansion>> {
        let call = self.instances[module].module.calls.get(name)?.clone();
        let named = Declaration::Call(name.clone());
        let block = call.block.clone();
        let target = self.target(module, &call, name);
        Some(self.expand(module, named, &block, |this, member, unknown| {
            let target = match &target {
                Ok(target) => target.clone(),
                Err(reason) => {
                    let name = format!("module.{name}{}", member.key.shown());
                    return Value::unknown(reason.clone()).identified(|| Some(Identity::declared(module, &name)));
                }
            };
            // Each instance of a module repeats all of its blocks.
            let blocks = target.resources.len() + target.calls.len();
            let length = this.instances[module].path.length() + member.key.length();
            if let Err(bound) = this.made.add(blocks, length) {
                return this.give_up(call.block.header, bound);
            }
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
            if unknown {
                ValueKind::AnyModule(at)
            } else {
                ValueKind::Module(at)
            }
            .into()
        }))
    }

    /// Returns the module that a call refers to, or the reason why it is not evaluated.
    pub(crate) fn target(&mut self, module: usize, call: &Call, name: &str) -> Result<Arc<Module>, Reason> {
        let found = match (&call.source, self.installed(module, call, name)) {
            (Source::Here(path), _) => self.modules.get(path).cloned(),
            (_, Some(installed)) => Some(installed),
            (Source::Early(paths), _) => Some(
                self.early(module, call, paths)
                    .map_err(|why| Cause::MissingModule.because(format!("module `{name}` is not read ({why})")))?,
            ),
            (Source::Described(described), None) => Some(described.clone()),
            (Source::Away(why), None) => {
                return Err(Cause::MissingModule.because(format!("module `{name}` is not read ({why})")));
            }
        };
        let circle = found.as_ref().and_then(|found| self.call_cycle(module, found, name));
        if let Some(circle) = circle {
            self.cycles.insert(call.block.header, circle.clone());
            return Err(Cause::Invalid.because(circle));
        }
        let bound = if self.instances[module].calls.len() >= limits::MAX_CALL_DEPTH {
            "modules call each other more than 32 levels deep"
        } else if self.instances.len() > limits::MAX_INSTANCES {
            "there are more than 20000 instances of modules"
        } else {
            return found
                .ok_or_else(|| Cause::MissingModule.because("the module is not read: its directory does not exist"));
        };
        self.give_up(call.block.header, bound);
        Err(Cause::Limit.because(bound))
    }

    /// Evaluates the source of a call, and returns the module in the one of `paths` that it refers to.
    fn early(&mut self, module: usize, call: &Call, paths: &[PathBuf]) -> Result<Arc<Module>, String> {
        let Some(source) = call.block.body.attribute("source") else {
            return Err("it has no source".to_owned());
        };
        let scope = self.scope(module);
        let Some(written) = self.eval(&source.value, &scope).to_text() else {
            return Err("its source is not known".to_owned());
        };
        let directory = self.instances[module].module.directory.join(&*written);
        let real = self.sources.files().real(&directory).unwrap_or(directory);
        let found = paths.contains(&real).then(|| self.modules.get(&real)).flatten();
        found.cloned().ok_or_else(|| format!("its source is `{written}`"))
    }

    /// Describes the cycle if `found` already contains `module`, which calls it as `name`. Each call would create the
    /// next one endlessly, independent of its `count`, so Terraform rejects cycles before it evaluates anything.
    fn call_cycle(&self, module: usize, found: &Arc<Module>, name: &str) -> Option<Arc<str>> {
        let mut between: Vec<String> = Vec::new();
        let mut at = module;
        while !Arc::ptr_eq(&self.instances[at].module, found) {
            let (name, _, scope) = self.instances[at].caller.as_ref()?;
            between.push(format!("`{name}`"));
            at = scope.module;
        }
        between.reverse();
        Some(match between.as_slice() {
            [] => format!("module `{name}` calls itself").into(),
            [one] => format!("module `{name}` calls itself through module {one}").into(),
            [more @ .., last] => format!(
                "module `{name}` calls itself through modules {} and {last}",
                more.join(", ")
            )
            .into(),
        })
    }

    /// Returns the code that `terraform init` fetched for a call.
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
            ExpressionKind::Text(source) => source.clone(),
            _ => return None,
        };
        let constraint = registry::constraint(&call.block).ok()?;
        let serves = installed.serves(&source, constraint.as_deref());
        self.modules.get(&installed.directory).filter(|_| serves).cloned()
    }

    fn expand(
        &mut self,
        module: usize,
        named: Declaration,
        block: &Block,
        mut make: impl FnMut(&mut Self, &mut Member, bool) -> Value,
    ) -> Arc<Expansion> {
        match self.expansions.get(&(module, named.clone())) {
            Some(Some(known)) => return known.clone(),
            Some(None) => {
                return Arc::new(Expansion {
                    members: Vec::new(),
                    by_key: Indexes::default(),
                    value: Value::error("it refers to itself"),
                });
            }
            None => {}
        }
        // Marks the expansion as in progress: `count = length(aws_sqs_queue.q)` in `q` itself would never end.
        self.expansions.insert((module, named.clone()), None);
        let scope = self.scope(module);
        // Step 1: the keys in each case of `count` or `for_each`.
        let is_narrowed = matches!(&named, Declaration::Resource(false, kind, _) if NARROWED.contains(&&**kind));
        let cases_of_keys = self.keys(&block.body, &scope, is_narrowed);
        // Steps 2 and 3: create the members of each case, or widen the conditions of those that exist.
        let mut created = Members {
            list: Vec::with_capacity(1),
            ..Members::default()
        };
        let mut cases = Vec::new();
        for Case {
            when,
            then: (keys, cause),
        } in cases_of_keys
        {
            let value = self.members_of(keys, &scope, &mut |this, key, scope, uncertain| {
                let member = Member {
                    key,
                    scope,
                    when: when.clone(),
                    cause: uncertain.as_ref().and_then(|_| cause.clone()),
                    uncertain,
                    module: None,
                };
                created.place(member, |member, unknown| make(this, member, unknown))
            });
            // Step 4: the value of a reference in this case. Only a default may leave no instance.
            let number = ["count", "for_each"].iter().find_map(|name| block.body.attribute(name));
            let value = match number.filter(|_| value.is_empty()) {
                Some(number) => value.decided_by([&self.eval(&number.value, &scope)]),
                None => value,
            };
            cases.push(Case::new(when, value));
        }
        let Members {
            list: members, by_key, ..
        } = created;
        // Module instances were created before all their conditions were known: step 3 may have widened them.
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

    /// Passes each key of one case, with the scope of its member, to `place`. Returns the value of a reference to all of
    /// them.
    fn members_of(
        &mut self,
        keys: Keys,
        scope: &Scope,
        place: &mut dyn FnMut(&mut Self, Key, Scope, Option<Reason>) -> Value,
    ) -> Value {
        match keys {
            Keys::One => place(self, Key::None, scope.clone(), None),
            Keys::None => Value::null(),
            Keys::Unknown(reason, element) => {
                let mut scope = scope.clone();
                if let Some(element) = element {
                    scope.each = Some(Arc::new((Value::unknown(reason.clone()), element)));
                }
                place(self, Key::None, scope, Some(reason))
            }
            Keys::Count(count) => {
                let members = (0..count).map(|index| {
                    let mut scope = scope.clone();
                    scope.index = Some(index);
                    scope.key = Key::Index(index);
                    place(self, Key::Index(index), scope, None)
                });
                Value::list(members.collect())
            }
            Keys::Each(entries) => {
                let members = entries.into_iter().map(|(name, value)| {
                    let key = Key::Name(name.clone());
                    let mut scope = scope.clone();
                    scope.key = key.clone();
                    scope.each = Some(Arc::new((Value::text(name.clone()), value)));
                    (name, place(self, key, scope, None))
                });
                Value::map(members.collect())
            }
        }
    }

    /// Returns the keys that `count` or `for_each` yields in each case, with the identity of the value they come from.
    /// If `is_narrowed`, a block with unknown keys has no instance where its collection is empty.
    fn keys(&mut self, body: &Body, scope: &Scope, is_narrowed: bool) -> Cases<(Keys, Option<Arc<str>>)> {
        type Read<'a> = fn(&mut Evaluator<'a>, &Value, usize, Span) -> Keys;
        let count = body
            .attribute("count")
            .map(|attribute| (attribute, Self::count as Read<'_>));
        let each = || Some((body.attribute("for_each")?, Self::each as Read<'_>));
        let enabled = || Some((enabled(body)?, Self::enabled as Read<'_>));
        let is_count = count.is_some();
        let Some((attribute, read)) = count.or_else(each).or_else(enabled) else {
            return Cases::one((Keys::One, None));
        };
        let value = self.eval(&attribute.value, scope);
        let all = value.each_case().into_iter().flat_map(|Case { when, then: value }| {
            let keys = read(self, &value, scope.module, attribute.span);
            let of_other = self.existence(&value);
            let some = match (&keys, &of_other) {
                (Keys::Unknown(..), Some((when, _))) => Some(when.clone()),
                (Keys::Unknown(..), None) if is_narrowed => self.has_instances(&value, is_count, attribute.value.span),
                _ => None,
            };
            let some = some.unwrap_or_else(Condition::always);
            let cause = of_other.map_or_else(|| value.identity(), |(_, cause)| cause);
            let keys = (keys, cause);
            let none = if is_count {
                Keys::Count(0)
            } else {
                Keys::Each(Vec::new())
            };
            let cases = [
                Case::new(when.and(&some), keys),
                Case::new(when.and(&some.not()), (none, None)),
            ];
            cases.into_iter().filter(|case| case.when.is_possible())
        });
        all.collect()
    }

    /// Returns when the block exists that `value` refers to if its instances are not known, and the cause of that.
    fn existence(&mut self, value: &Value) -> Option<(Condition, Option<Arc<str>>)> {
        match &value.kind {
            ValueKind::AnyResource(id) => {
                let expansion = self.resource(id.module, id.data, &(id.kind.clone(), id.name.clone()))?;
                let member = expansion.members.first()?;
                Some((member.when.clone(), member.cause.clone()))
            }
            ValueKind::AnyModule(at) => Some((self.instances[*at].when.clone(), Some(at.to_string().into()))),
            _ => None,
        }
    }

    /// Evaluates `enabled` of a `lifecycle` block, which `OpenTofu` supports.
    fn enabled(&mut self, value: &Value, _: usize, _: Span) -> Keys {
        match (self.plain(value.clone()).to_bool(), value.as_unknown()) {
            (Some(true), _) => Keys::One,
            (Some(false), _) => Keys::None,
            (None, Some(unknown)) => unknown_keys(unknown.reason.clone()),
            (None, None) => unknown_keys(Cause::Invalid.because("its `enabled` is not a boolean")),
        }
    }

    fn count(&mut self, value: &Value, module: usize, span: Span) -> Keys {
        let count = self.plain(value.clone()).to_exact().filter(Number::is_whole);
        match count {
            Some(count) if !count.is_negative() || count.is_zero() => {
                let count = count.to_i64().and_then(|count| usize::try_from(count).ok());
                // A count that does not fit exceeds the bound, which is reported below.
                let count = count.unwrap_or(usize::MAX);
                if self.room(count, &Key::Index(count), module, span) {
                    Keys::Count(count)
                } else {
                    unknown_keys(Cause::Limit.because("its `count` is too large"))
                }
            }
            _ => unknown_keys(value.reason_or("its `count` is not known")),
        }
    }

    /// Counts `count` instances of a block in `module`, the longest key of which is `longest`. Returns `true` if they
    /// fit.
    fn room(&mut self, count: usize, longest: &Key, module: usize, span: Span) -> bool {
        let length = self.instances[module].path.length() + longest.length();
        let bound = if count > limits::MAX_INSTANCES {
            "there are more than 20000 instances of one block"
        } else {
            match self.made.add(count, length) {
                Ok(()) => return true,
                Err(bound) => bound,
            }
        };
        self.give_up(span, bound);
        false
    }

    fn each(&mut self, value: &Value, module: usize, span: Span) -> Keys {
        // The bound is checked before any instance is created. Unknown keys are not counted, because a single one makes
        // the whole `for_each` unknown below.
        let keys: Vec<Arc<str>> = match &value.kind {
            ValueKind::Map(entries) => entries.iter().map(|(key, _)| key.clone()).collect(),
            ValueKind::Set(items) | ValueKind::List(items) => items.iter().filter_map(Value::to_text).collect(),
            _ => Vec::new(),
        };
        let longest = keys.iter().max_by_key(|key| key.len());
        let longest = longest.map_or(Key::None, |key| Key::Name(key.clone()));
        if !self.room(keys.len(), &longest, module, span) {
            return unknown_keys(Cause::Limit.because("its `for_each` is too large"));
        }
        match &value.kind {
            ValueKind::Map(entries) => {
                let elements = entries.iter().map(|(key, found)| (key.clone(), value.element(found)));
                Keys::Each(elements.collect())
            }
            ValueKind::Set(items) | ValueKind::List(items) => {
                let mut all = Vec::new();
                for item in items.iter() {
                    let item = self.plain(value.element(item));
                    if let Some(text) = item.to_text() {
                        all.push((
                            text.clone(),
                            Value {
                                kind: ValueKind::Text(text),
                                ..item
                            },
                        ));
                    } else {
                        return unknown_keys(item.reason_or("a key of `for_each` is not known"));
                    }
                }
                Keys::Each(all)
            }
            ValueKind::AnyResource(_) | ValueKind::AnyModule(_) => {
                let reason = Cause::Derived.because("the instances of its `for_each` are not known");
                Keys::Unknown(reason, Some(value.clone()))
            }
            _ => unknown_keys(value.reason_or("its `for_each` is not known")),
        }
    }
}

fn unknown_keys(reason: Reason) -> Keys {
    Keys::Unknown(reason, None)
}

/// Returns `true` if the number of instances depends on an argument.
fn expands(body: &Body) -> bool {
    body.attribute("count").is_some() || body.attribute("for_each").is_some() || enabled(body).is_some()
}

/// Returns `enabled` of the `lifecycle` block.
fn enabled(body: &Body) -> Option<&Attribute> {
    let lifecycle = body.blocks.iter().find(|block| &*block.kind == "lifecycle")?;
    let mut attributes = lifecycle.body.attributes.iter();
    attributes.find(|attribute| &*attribute.name == "enabled")
}
