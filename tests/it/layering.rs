//! Who may import whom. The lists of `table.rs` are held against every path that the sources write outside of tests: a
//! module that is not in them is refused, an import that they do not name is refused, and so is a debt that is paid but
//! still listed.

mod graph;
mod modules;
mod names;
mod table;

use crate::inputs::repository;
use graph::knots;
use modules::{Modules, Reference};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use table::{DISK, MAY_IMPORT, WRAPPED};

static MODULES: LazyLock<Modules> = LazyLock::new(Modules::read);

/// A module by its name: `graph::arn`, or `lib` and `main` for the roots.
fn name(module: &[String]) -> String {
    match module {
        [root] if root == "crate" => "lib".to_owned(),
        [root] => root.clone(),
        [_, rest @ ..] => rest.join("::"),
        [] => String::new(),
    }
}

/// Whether `path` is `start` or something below it.
fn is_below(path: &str, start: &str) -> bool {
    path.strip_prefix(start)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The row for a module, and the module that it stands for: itself or one that it is below.
struct Row {
    pattern: &'static str,
    module: String,
    may: &'static str,
}

impl Row {
    /// The most particular row; `None` where the module, or one that it is below, has none though those beside it do.
    fn of(module: &str) -> Option<Row> {
        let segments: Vec<&str> = module.split("::").collect();
        let lengths = (1..=segments.len()).rev();
        let start = |length: usize| segments[..length].join("::");
        let row = lengths.into_iter().find_map(|length| row_at(&start(length)))?;
        let depth = row.module.split("::").count();
        let has_rows_below = MAY_IMPORT
            .iter()
            .any(|(pattern, _)| *pattern != row.pattern && is_below(pattern, &row.module));
        (depth == segments.len() || !has_rows_below).then_some(row)
    }

    fn allows(&self, import: &Reference) -> bool {
        let (target, path) = (name(&import.module), name(&import.path));
        let Some(row) = Row::of(&target) else {
            return false;
        };
        let parent = row.module.rsplit_once("::").map(|(parent, _)| parent);
        let is_allowed = |may: &str| match may.strip_suffix("::*") {
            Some(above) => parent == Some(above),
            None => may == "*" || may == row.module || (is_item(may) && is_below(&path, may)),
        };
        row.module == self.module || self.may.split(' ').any(is_allowed)
    }
}

/// Whether a permission is for a type or a constant alone.
fn is_item(may: &str) -> bool {
    let last = may.rsplit("::").next();
    last.is_some_and(|last| last.starts_with(char::is_uppercase))
}

/// The row for exactly this module: the literal one, or one with `*`.
fn row_at(module: &str) -> Option<Row> {
    let parent = module.rsplit_once("::").map(|(parent, _)| format!("{parent}::*"));
    let row = |wanted: &str| MAY_IMPORT.iter().find(|(pattern, _)| *pattern == wanted);
    let (pattern, may) = row(module).or_else(|| row(&parent?))?;
    Some(Row {
        pattern,
        module: module.to_owned(),
        may,
    })
}

/// Imports that no row allows, as `from -> to`, and the paths.
fn forbidden() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for import in MODULES.references() {
        let ends = (Row::of(&name(&import.from)), Row::of(&name(&import.module)));
        if let (Some(from), Some(to)) = ends
            && !from.allows(&import)
        {
            let path = import.path.join("::");
            all.insert(format!(
                "{} -> {}: {} names {path}",
                from.module,
                to.module,
                name(&import.from)
            ));
        }
    }
    all
}

#[test]
fn every_module_has_its_row_and_every_row_its_module() {
    let names: BTreeSet<String> = MODULES.names().map(|module| name(module)).collect();
    let unknown: Vec<_> = names.iter().filter(|name| Row::of(name).is_none()).collect();
    assert!(unknown.is_empty(), "not in MAY_IMPORT: {unknown:?}");
    let rows = MAY_IMPORT.iter().map(|(pattern, _)| pattern);
    let gone: Vec<_> = rows
        .filter(|pattern| !pattern.ends_with('*') && !names.contains(**pattern))
        .collect();
    assert!(gone.is_empty(), "no such module: {gone:?}");
}

#[test]
fn modules_import_what_their_row_allows() {
    let forbidden: Vec<String> = forbidden().into_iter().collect();
    let lines = forbidden.join("\n");
    assert!(forbidden.is_empty(), "MAY_IMPORT does not allow this:\n{lines}");
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let top = |module: &[String]| {
        let name = name(module);
        name.split("::").next().unwrap_or_default().to_owned()
    };
    let imports = MODULES.references().into_iter();
    let edges = imports.map(|import| (top(&import.from), top(&import.module))).collect();
    let knots = knots(&edges);
    assert!(knots.is_empty(), "{knots:#?}");
}

/// `std::fs` and its like, and the methods of paths that ask the disk.
fn touches_disk(paths: &[names::Path], bare_calls: &[String]) -> bool {
    let is_of_disk = |path: &names::Path| {
        let path = path.join("::");
        let starts = ["std::fs", "std::env::temp_dir", "ignore", "tempfile"];
        starts.iter().any(|start| is_below(&path, start))
            || path.strip_prefix("std::path::Path::").is_some_and(asks_disk)
    };
    paths.iter().any(is_of_disk) || bare_calls.iter().any(|method| asks_disk(method))
}

/// Methods of `Path` that do not only look at its text.
fn asks_disk(method: &str) -> bool {
    matches!(
        method,
        "canonicalize"
            | "exists"
            | "is_dir"
            | "is_file"
            | "is_symlink"
            | "metadata"
            | "read_dir"
            | "read_link"
            | "symlink_metadata"
            | "try_exists"
    )
}

#[test]
fn files_alone_touches_the_disk() {
    let users = MODULES
        .foreign()
        .filter(|(_, paths, bare_calls)| touches_disk(paths, bare_calls))
        .map(|(module, _, _)| name(module));
    let users = users.filter(|user| !DISK.iter().any(|may| is_below(user, may)));
    let users: Vec<String> = users.collect();
    assert!(users.is_empty(), "`files` does this for {users:#?}");
}

#[test]
fn types_of_parsers_stay_where_they_are_wrapped() {
    for (module, paths, _) in MODULES.foreign() {
        let module = name(module);
        for (wrapped, only) in WRAPPED {
            let names_it = paths
                .iter()
                .any(|path| path.first().is_some_and(|first| first == wrapped));
            assert!(
                !names_it || only.split(' ').any(|only| is_below(&module, only)) || module == "main",
                "{module} names {wrapped}, which is for {only}"
            );
        }
    }
}

/// What is not reached is not held to anything.
#[test]
fn every_file_is_reached() {
    let all = modules::rust_files(&repository("src"));
    let lost: Vec<_> = all.iter().filter(|file| !MODULES.files.contains(file)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}
