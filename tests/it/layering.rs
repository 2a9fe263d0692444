//! Checks which module imports which. The lists of `table.rs` are compared with every path in the sources outside
//! tests: a module that is not listed is an error, and so is an import that its row does not allow.

mod graph;
mod modules;
mod names;
mod table;

use crate::inputs::repository;
use graph::cycles;
use modules::{Modules, Reference};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use table::{CYCLES_OF_TEMPLATES, DISK, MAY_IMPORT, WRAPPED};

static MODULES: LazyLock<Modules> = LazyLock::new(Modules::read);

/// Returns the name of a module: `graph::arn`, `conditions::cases` for one of another crate, `lib` and `main` for the
/// roots.
fn name(module: &[String]) -> String {
    match module {
        [root] if root == "crate" => "lib".to_owned(),
        [root] => root.clone(),
        [root, rest @ ..] if root == "crate" || root == "main" => rest.join("::"),
        path => path.join("::"),
    }
}

/// Returns `true` if `path` is `start` or below it.
fn is_below(path: &str, start: &str) -> bool {
    path.strip_prefix(start)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Row of the table, and the module it applies to: the module itself or one above it.
struct Row {
    pattern: &'static str,
    module: String,
    may: &'static str,
}

impl Row {
    /// Returns the most specific row for `module`. Returns `None` if the nearest row is that of a parent that has rows
    /// for other children.
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

/// Returns `true` if a permission is for one type or constant.
fn is_item(may: &str) -> bool {
    let last = may.rsplit("::").next();
    last.is_some_and(|last| last.starts_with(char::is_uppercase))
}

/// Returns the row for exactly this module: the literal one, or one with `*`.
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

/// Lists the imports that no row allows, as `from -> to`, with the paths.
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
fn every_module_has_a_row_and_every_row_a_module() {
    let names: BTreeSet<String> = MODULES.names().map(|module| name(module)).collect();
    let unknown: Vec<_> = names.iter().filter(|name| Row::of(name).is_none()).collect();
    assert!(unknown.is_empty(), "not in MAY_IMPORT: {unknown:?}");
    let rows = MAY_IMPORT.iter().map(|(pattern, _)| pattern);
    let gone: Vec<_> = rows
        .filter(|pattern| !pattern.ends_with('*') && !names.contains(**pattern))
        .collect();
    assert!(gone.is_empty(), "these modules do not exist: {gone:?}");
}

#[test]
fn modules_import_only_what_their_row_allows() {
    let forbidden: Vec<String> = forbidden().into_iter().collect();
    let lines = forbidden.join("\n");
    assert!(forbidden.is_empty(), "MAY_IMPORT does not allow this:\n{lines}");
}

#[test]
fn imports_have_no_cycles() {
    let top = |module: &[String]| {
        let name = name(module);
        name.split("::").next().unwrap_or_default().to_owned()
    };
    let imports = MODULES.references().into_iter();
    let edges = imports.map(|import| (top(&import.from), top(&import.module))).collect();
    let cycles = cycles(&edges);
    assert!(cycles.is_empty(), "{cycles:#?}");
}

#[test]
fn modules_of_templates_have_two_small_cycles() {
    let module = |path: &[String]| {
        let name = name(path);
        let mut parts = name.strip_prefix("cloudformation::")?.split("::");
        parts.next().map(str::to_owned)
    };
    let imports = MODULES.references().into_iter();
    let edges = imports.filter_map(|import| Some((module(&import.from)?, module(&import.module)?)));
    let found: Vec<String> = (cycles(&edges.collect()).iter()).map(|cycle| cycle.join(" ")).collect();
    assert_eq!(found, CYCLES_OF_TEMPLATES);
}

/// Returns `true` if a module uses `std::fs` or similar, or methods of paths that access the disk.
fn uses_disk(paths: &[names::Path], bare_calls: &[String]) -> bool {
    let is_of_disk = |path: &names::Path| {
        let path = path.join("::");
        let starts = ["std::fs", "std::env::temp_dir", "ignore", "tempfile"];
        starts.iter().any(|start| is_below(&path, start))
            || path.strip_prefix("std::path::Path::").is_some_and(accesses_disk)
    };
    paths.iter().any(is_of_disk) || bare_calls.iter().any(|method| accesses_disk(method))
}

/// Returns `true` for methods of `Path` that access the disk.
fn accesses_disk(method: &str) -> bool {
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
fn only_files_accesses_the_disk() {
    let users = MODULES
        .foreign()
        .filter(|(_, paths, bare_calls)| uses_disk(paths, bare_calls))
        .map(|(module, _, _)| name(module));
    let users = users.filter(|user| !DISK.iter().any(|may| is_below(user, may)));
    let users: Vec<String> = users.collect();
    assert!(users.is_empty(), "`files` does this for {users:#?}");
}

#[test]
fn wrapped_crates_are_used_only_by_their_wrappers() {
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

/// A file that no `mod` item includes would not be checked at all.
#[test]
fn every_source_file_is_checked() {
    let mut all = modules::rust_files(&repository("src"));
    for package in crate::inputs::directories(&repository("crates")) {
        all.extend(modules::rust_files(&package.join("src")));
    }
    let lost: Vec<_> = all.iter().filter(|file| !MODULES.files.contains(file)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}
