//! Environments found in code: values that the modules of a root compare its workspace or a variable with, or look up
//! by them.
//!
//! ```hcl
//! timeout  = var.env == "prod" ? 300 : 30
//! reserved = local.by_env[terraform.workspace]
//! size     = lookup({ dev = 1, prod = 10 }, var.env, 5)
//! ```
//!
//! A module that receives `var.env` as an argument selects by it, too. Variables without a default are left out: they
//! are unresolved, so every choice is checked under its condition anyway. With a default, only the default would be
//! checked.

use crate::limits;
use crate::module::{Call, Module, Modules, Source};
use crate::syntax::{BinaryOperator, Block, Body, Expression, ExpressionKind, ObjectItem, Step, TemplatePart};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// A value by which the modules choose between values for environments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Selector {
    /// `terraform.workspace`.
    Workspace,
    /// A variable: of the module that is searched, or in results of the root.
    Variable(Arc<str>),
}

/// The choices in the modules of a run. Each module is searched once, however many call it.
pub(crate) struct ModuleChoices<'m> {
    modules: &'m Modules,
    choices: BTreeMap<&'m PathBuf, OnceLock<Choices<'m>>>,
}

impl<'m> ModuleChoices<'m> {
    pub(super) fn in_modules(modules: &'m Modules) -> Self {
        let choices = modules.keys().map(|directory| (directory, OnceLock::new()));
        ModuleChoices {
            modules,
            choices: choices.collect(),
        }
    }

    fn choices_of(&self, module: &'m Module) -> Option<&Choices<'m>> {
        let known = self.choices.get(&module.directory)?;
        Some(known.get_or_init(|| Choices::of(module)))
    }

    /// Returns the values that the modules mention for each selector of `root`, other than the default.
    pub(crate) fn values(&self, root: &'m Module) -> SelectorValues {
        let own = root.variables.keys();
        let passed = own
            .map(|name| (name.clone(), Selector::Variable(name.clone())))
            .collect();
        let mut search = Search {
            written: self,
            found: BTreeMap::new(),
            seen: BTreeSet::new(),
        };
        search.look(root, &passed, 0);
        let mut found = search.found;
        found.retain(|selector, values: &mut BTreeSet<Arc<str>>| restrict_to_allowed(root, selector, values));
        found
    }
}

/// Restricts `values` to those that differ from the default and that the variable's validation allows. Returns `true`
/// if some remain.
fn restrict_to_allowed(root: &Module, selector: &Selector, values: &mut BTreeSet<Arc<str>>) -> bool {
    let default = match selector {
        Selector::Workspace => Some(Arc::from("default")),
        Selector::Variable(name) => {
            let Some(block) = root.variables.get(name) else {
                return false;
            };
            if let Some(allowed) = allowed(name, block) {
                *values = allowed;
            }
            let default = block.body.attribute("default").and_then(|default| text(&default.value));
            if default.is_none() {
                return false;
            }
            default
        }
    };
    values.retain(|value| Some(value) != default.as_ref() && !value.is_empty());
    !values.is_empty()
}

/// Returns the list in a `validation` of the variable `name` with the condition `contains([…], var.name)`.
fn allowed(name: &str, block: &Block) -> Option<BTreeSet<Arc<str>>> {
    let validations = block.body.blocks.iter().filter(|block| &*block.kind == "validation");
    let mut conditions = validations.filter_map(|block| block.body.attribute("condition"));
    conditions.find_map(|condition| {
        let ExpressionKind::Call {
            name: function,
            arguments,
            ..
        } = &condition.value.kind
        else {
            return None;
        };
        let [list, value] = arguments.as_slice() else {
            return None;
        };
        let is_it =
            traversed(value).is_some_and(|(first, second, rest)| first == "var" && second == name && rest.is_empty());
        (function.as_ref() == "contains" && is_it).then(|| texts(list))?
    })
}

/// The variables of a module that receive a selector of the root unchanged.
type PassedSelectors = BTreeMap<Arc<str>, Selector>;

/// The values that the modules mention for each selector.
pub(crate) type SelectorValues = BTreeMap<Selector, BTreeSet<Arc<str>>>;

/// A search through the modules of one root.
struct Search<'w, 'm> {
    written: &'w ModuleChoices<'m>,
    found: SelectorValues,
    /// Modules that were searched, each with the selectors it receives: a thousand calls may be alike.
    seen: BTreeSet<(&'m PathBuf, PassedSelectors)>,
}

impl<'m> Search<'_, 'm> {
    /// Adds the values in `module`, whose variables receive `passed`, and in the modules that it calls.
    fn look(&mut self, module: &'m Module, passed: &PassedSelectors, depth: usize) {
        let Some(choices) = self.written.choices_of(module) else {
            return;
        };
        for choice in &choices.all {
            let mut selectors = choice.iter();
            let known = selectors.find_map(|(own, values)| Some((of_root(own, passed)?, values)));
            if let Some((selector, values)) = known {
                self.found.entry(selector).or_default().extend(values.iter().cloned());
            }
        }
        if depth == limits::MAX_SELECTOR_CALL_DEPTH {
            return;
        }
        for (path, arguments) in &choices.calls {
            let Some(called) = self.written.modules.get(*path) else {
                continue;
            };
            let arguments = arguments.iter();
            let passed: PassedSelectors = arguments
                .filter_map(|(name, own)| Some((name.clone(), of_root(own, passed)?)))
                .collect();
            if self.seen.len() < limits::MAX_SELECTOR_CALLS && self.seen.insert((path, passed.clone())) {
                self.look(called, &passed, depth + 1);
            }
        }
    }
}

/// Returns the selector of the root that a selector of a module is, if the module's variables receive `passed`.
fn of_root(own: &Selector, passed: &PassedSelectors) -> Option<Selector> {
    match own {
        Selector::Workspace => Some(Selector::Workspace),
        Selector::Variable(name) => passed.get(name).cloned(),
    }
}

/// The choices in one module, independent of its callers.
struct Choices<'m> {
    /// Selectors of each choice, with the values it mentions. If a choice has several, the first that is a selector of
    /// the root counts.
    all: BTreeSet<Vec<Choice>>,
    /// The modules that it calls, with the arguments that are selectors.
    calls: Vec<(&'m PathBuf, Vec<(Arc<str>, Selector)>)>,
}

/// A selector of a module, and the values mentioned for it.
type Choice = (Selector, BTreeSet<Arc<str>>);

impl<'m> Choices<'m> {
    fn of(module: &'m Module) -> Self {
        let within = ChoiceCollector(module);
        let mut all = BTreeSet::new();
        let locals = module.locals.values();
        locals.for_each(|local| within.expression(&local.value, &mut all));
        let blocks = module.resources.values().chain(module.data.values());
        let blocks = blocks.chain(module.outputs.values()).chain(module.providers.values());
        let called = module.calls.values().map(|call| &call.block);
        blocks
            .chain(called)
            .for_each(|block| within.body(&block.body, &mut all));
        let calls = module.calls.iter().filter_map(|(name, call)| {
            let arguments = call.block.body.attributes.iter();
            let selectors = arguments.filter_map(|argument| {
                let selector = within.selector(&argument.value, 0)?;
                Some((argument.name.clone(), selector))
            });
            Some((called_by(module, name, call)?, selectors.collect()))
        });
        Choices {
            calls: calls.collect(),
            all,
        }
    }
}

fn called_by<'m>(module: &'m Module, name: &str, call: &'m Call) -> Option<&'m PathBuf> {
    match &call.source {
        Source::Here(path) => Some(path),
        _ => module.installed.get(name).map(|installed| &installed.directory),
    }
}

struct ChoiceCollector<'m>(&'m Module);

impl ChoiceCollector<'_> {
    fn body(&self, body: &Body, found: &mut BTreeSet<Vec<Choice>>) {
        body.attributes
            .iter()
            .for_each(|one| self.expression(&one.value, found));
        body.blocks.iter().for_each(|block| self.body(&block.body, found));
    }

    /// Adds the choices in `expression` and its subexpressions.
    fn expression(&self, expression: &Expression, found: &mut BTreeSet<Vec<Choice>>) {
        let choice = self.selects(expression);
        if !choice.is_empty() {
            found.insert(choice);
        }
        expression.for_each_child(&mut |child| self.expression(child, found));
    }

    /// Returns the selectors that `expression` itself chooses by, with the values it mentions.
    fn selects(&self, expression: &Expression) -> Vec<Choice> {
        let compared = |one: &Expression, other: &Expression| {
            let value = text(other)?;
            Some((self.selector(one, 0)?, BTreeSet::from([value])))
        };
        match &expression.kind {
            ExpressionKind::Binary(BinaryOperator::Eq | BinaryOperator::NotEq, operands) => {
                let [left, right] = &**operands;
                compared(left, right)
                    .or_else(|| compared(right, left))
                    .into_iter()
                    .collect()
            }
            ExpressionKind::Call { name, arguments, .. } => {
                let choice = match (&**name, arguments.as_slice()) {
                    ("lookup", [map, key, ..]) => self.selector(key, 0).zip(self.keys(map, &[], 0)),
                    ("contains", [list, value]) => self.selector(value, 0).zip(texts(list)),
                    _ => None,
                };
                choice.into_iter().collect()
            }
            ExpressionKind::Traversal(base, steps) => {
                let choices = steps.iter().enumerate().filter_map(|(at, step)| match step {
                    Step::Index(key) => self.selector(key, 0).zip(self.keys(base, steps.get(..at)?, 0)),
                    _ => None,
                });
                choices.collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the selector that `expression` refers to, directly or through locals.
    fn selector(&self, expression: &Expression, aliases: usize) -> Option<Selector> {
        let (first, second, rest) = traversed(expression)?;
        match first {
            _ if !rest.is_empty() => None,
            "terraform" => (second == "workspace").then_some(Selector::Workspace),
            "var" => Some(Selector::Variable(second.into())),
            "local" if aliases < limits::MAX_SELECTOR_ALIASES => {
                let local = self.0.locals.get(second)?;
                self.selector(&local.value, aliases + 1)
            }
            _ => None,
        }
    }

    /// Returns the keys of the object that `base` yields after `steps`.
    fn keys(&self, base: &Expression, steps: &[Step], aliases: usize) -> Option<BTreeSet<Arc<str>>> {
        match &base.kind {
            ExpressionKind::Object(items) => match steps.split_first() {
                None => items.iter().map(key).collect(),
                Some((Step::Attribute(name), steps)) => {
                    let item = items.iter().find(|item| key(item).as_ref() == Some(name))?;
                    self.keys(&item.value, steps, aliases)
                }
                Some(_) => None,
            },
            ExpressionKind::Traversal(inner, own) => {
                let all: Vec<Step> = own.iter().chain(steps).cloned().collect();
                self.keys(inner, &all, aliases)
            }
            ExpressionKind::Variable(first) if aliases < limits::MAX_SELECTOR_ALIASES => {
                let (Step::Attribute(name), steps) = steps.split_first()? else {
                    return None;
                };
                let value = match &**first {
                    "local" => &self.0.locals.get(name)?.value,
                    "var" => &self.0.variables.get(name)?.body.attribute("default")?.value,
                    _ => return None,
                };
                self.keys(value, steps, aliases + 1)
            }
            _ => None,
        }
    }
}

/// Returns the first two names of a traversal, and the remaining steps.
fn traversed(expression: &Expression) -> Option<(&str, &str, &[Step])> {
    let (first, steps) = expression.path()?;
    let (Step::Attribute(second), rest) = steps.split_first()? else {
        return None;
    };
    Some((first, second, rest))
}

fn text(expression: &Expression) -> Option<Arc<str>> {
    match &expression.kind {
        ExpressionKind::Text(text) => Some(text.clone()),
        ExpressionKind::Template(parts) => match parts.as_slice() {
            [TemplatePart::Literal(text)] => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the key of an item if it is a literal.
fn key(item: &ObjectItem) -> Option<Arc<str>> {
    match &item.key.kind {
        ExpressionKind::Variable(name) => Some(name.clone()),
        _ => text(&item.key),
    }
}

/// Returns the strings of a list.
fn texts(list: &Expression) -> Option<BTreeSet<Arc<str>>> {
    match &list.kind {
        ExpressionKind::Tuple(items) => items.iter().map(text).collect(),
        ExpressionKind::Call { name, arguments, .. } if matches!(&**name, "toset" | "tolist") => {
            texts(arguments.first()?)
        }
        _ => None,
    }
}
