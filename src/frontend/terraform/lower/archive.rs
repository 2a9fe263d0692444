//! Archives that a configuration builds itself (`archive_file`), and the one that a function is deployed from.

use super::super::eval::{Evaluator, Scope};
use super::super::syntax::{Block, Expression, Step};
use super::among::root;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Type of the data source and, formerly, of a resource.
const ARCHIVE: &str = "archive_file";

/// The block of an archive, and the scope of its arguments.
type Declared = (Arc<Block>, Arc<Scope>);

/// The archives of each module instance, by the path that they are written to.
#[derive(Default)]
pub(super) struct Archives {
    by_path: FxHashMap<usize, FxHashMap<Arc<str>, Declared>>,
}

impl Archives {
    /// Returns the archive that the function `block` is deployed from: the one that its `filename` refers to, or one
    /// that is written to the same path in this module or the root module.
    pub(super) fn find(&mut self, eval: &mut Evaluator, block: &Block, scope: &Scope) -> Option<Declared> {
        let filename = block.body.attribute("filename")?.clone();
        if let Some(found) = referred(&filename.value).and_then(|(data, name)| only(eval, scope.module, data, &name)) {
            return Some(found);
        }
        let path = eval.eval(&filename.value, scope).to_text()?;
        [scope.module, 0].into_iter().find_map(|module| {
            let known = self.by_path.entry(module).or_insert_with(|| all(eval, module));
            known.get(&path).cloned()
        })
    }
}

/// Returns the archive that an expression names, and whether that is a data source:
/// `data.archive_file.code.output_path`.
fn referred(expression: &Expression) -> Option<(bool, Arc<str>)> {
    let (base, steps) = root(expression)?;
    let (data, steps) = match (base, steps) {
        ("data", [Step::Attribute(kind), rest @ ..]) if &**kind == ARCHIVE => (true, rest),
        (ARCHIVE, rest) => (false, rest),
        _ => return None,
    };
    match steps {
        [Step::Attribute(name), Step::Attribute(_)] => Some((data, name.clone())),
        _ => None,
    }
}

/// Returns the archive `name` if it has exactly one instance.
fn only(eval: &mut Evaluator, module: usize, data: bool, name: &Arc<str>) -> Option<Declared> {
    let mut all = members(eval, module, data, name);
    all.pop().filter(|_| all.is_empty())
}

fn members(eval: &mut Evaluator, module: usize, data: bool, name: &Arc<str>) -> Vec<Declared> {
    let label = (Arc::from(ARCHIVE), name.clone());
    let declared = &eval.instances[module].module;
    let blocks = if data { &declared.data } else { &declared.resources };
    let Some(block) = blocks.get(&label).cloned() else {
        return Vec::new();
    };
    let Some(expansion) = eval.resource(module, data, &label) else {
        return Vec::new();
    };
    let members = expansion.members.iter();
    members
        .map(|member| (block.clone(), Arc::new(member.scope.clone())))
        .collect()
}

/// Returns every archive of a module that has a known path.
fn all(eval: &mut Evaluator, module: usize) -> FxHashMap<Arc<str>, Declared> {
    let declared = &eval.instances[module].module;
    let names = |blocks: Vec<&(Arc<str>, Arc<str>)>| -> Vec<Arc<str>> {
        let archives = blocks.into_iter().filter(|(kind, _)| &**kind == ARCHIVE);
        archives.map(|(_, name)| name.clone()).collect()
    };
    let of_data = names(declared.data.keys().collect());
    let of_resources = names(declared.resources.keys().collect());
    let mut found = FxHashMap::default();
    let each = of_data.iter().map(|name| (true, name));
    for (data, name) in each.chain(of_resources.iter().map(|name| (false, name))) {
        for (block, scope) in members(eval, module, data, name) {
            let Some(path) = block.body.attribute("output_path").cloned() else {
                continue;
            };
            if let Some(path) = eval.eval(&path.value, &scope).to_text() {
                found.insert(path, (block, scope));
            }
        }
    }
    found
}
