//! Archives that a configuration builds itself (`archive_file`), objects in buckets, and those that a function is
//! deployed from.

use rustc_hash::FxHashMap;
use std::sync::Arc;
use terraform::eval::{Evaluator, Scope};
use terraform::syntax::{Block, Expression, Step};

/// Type of an archive, a data source and formerly a resource.
const ARCHIVE: &str = "archive_file";

/// Types of an object in a bucket.
const OBJECTS: [&str; 2] = ["aws_s3_object", "aws_s3_bucket_object"];

/// The block of an archive or object, and the scope of its arguments.
type Declared = (Arc<Block>, Arc<Scope>);

/// The archives and objects of each module instance, by the path or key that they are written to.
#[derive(Default)]
pub(super) struct Archives {
    by_path: FxHashMap<(usize, Written), FxHashMap<Arc<str>, Declared>>,
}

/// Origin of the code that a function is deployed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Written {
    Archive,
    Object,
}

impl Written {
    fn kinds(self) -> &'static [&'static str] {
        match self {
            Written::Archive => &[ARCHIVE],
            Written::Object => &OBJECTS,
        }
    }

    /// Returns the argument with the path or key that it is written to.
    fn name(self) -> &'static str {
        match self {
            Written::Archive => "output_path",
            Written::Object => "key",
        }
    }
}

impl Archives {
    /// Returns the archive that the function `block` is deployed from, or the object if the configuration does not
    /// create the archive in it.
    pub(super) fn find(&mut self, eval: &mut Evaluator, block: &Block, scope: &Scope) -> Option<Declared> {
        if let Some(found) = self.named(eval, block, scope, "filename", Written::Archive) {
            return Some(found);
        }
        let (object, scope) = self.named(eval, block, scope, "s3_key", Written::Object)?;
        let archive = self.named(eval, &object, &scope, "source", Written::Archive);
        Some(archive.unwrap_or((object, scope)))
    }

    /// Returns the archive or object that the argument `name` of `block` refers to, or one that is written to the same
    /// path in this module or the root module.
    fn named(
        &mut self,
        eval: &mut Evaluator,
        block: &Block,
        scope: &Scope,
        name: &str,
        what: Written,
    ) -> Option<Declared> {
        let written = block.body.attribute(name)?.clone();
        if let Some((data, kind, name)) = referred(&written.value, what)
            && let Some(found) = only(eval, scope.module, data, kind, &name)
        {
            return Some(found);
        }
        let path = eval.eval(&written.value, scope).to_text()?;
        [scope.module, 0].into_iter().find_map(|module| {
            let known = self
                .by_path
                .entry((module, what))
                .or_insert_with(|| all(eval, module, what));
            known.get(&path).cloned()
        })
    }
}

/// Returns the archive or object that an expression names, and whether that is a data source:
/// `data.archive_file.code.output_path`.
fn referred(expression: &Expression, what: Written) -> Option<(bool, &'static str, Arc<str>)> {
    let (base, steps) = expression.path()?;
    let known = |name: &str| what.kinds().iter().find(|kind| **kind == name).copied();
    let (data, kind, steps) = match (base, steps) {
        ("data", [Step::Attribute(kind), rest @ ..]) => (true, known(kind)?, rest),
        (kind, rest) => (false, known(kind)?, rest),
    };
    match steps {
        [Step::Attribute(name), Step::Attribute(_)] => Some((data, kind, name.clone())),
        _ => None,
    }
}

/// Returns the archive or object `name` if it has exactly one instance.
fn only(eval: &mut Evaluator, module: usize, data: bool, kind: &'static str, name: &Arc<str>) -> Option<Declared> {
    let mut all = members(eval, module, data, kind, name);
    all.pop().filter(|_| all.is_empty())
}

fn members(eval: &mut Evaluator, module: usize, data: bool, kind: &str, name: &Arc<str>) -> Vec<Declared> {
    let label = (Arc::from(kind), name.clone());
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

/// Returns every archive or object of a module that has a known path or key.
fn all(eval: &mut Evaluator, module: usize, what: Written) -> FxHashMap<Arc<str>, Declared> {
    let declared = &eval.instances[module].module;
    let names = |data: bool, blocks: Vec<&(Arc<str>, Arc<str>)>| -> Vec<(bool, (Arc<str>, Arc<str>))> {
        let wanted = blocks.into_iter().filter(|(kind, _)| what.kinds().contains(&&**kind));
        wanted.map(|label| (data, label.clone())).collect()
    };
    let mut labels = names(true, declared.data.keys().collect());
    labels.extend(names(false, declared.resources.keys().collect()));
    let mut found = FxHashMap::default();
    for (data, (kind, name)) in labels {
        for (block, scope) in members(eval, module, data, &kind, &name) {
            let Some(path) = block.body.attribute(what.name()).cloned() else {
                continue;
            };
            if let Some(path) = eval.eval(&path.value, &scope).to_text() {
                found.insert(path, (block, scope));
            }
        }
    }
    found
}
