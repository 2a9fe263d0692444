//! The modules of the library, of the program and of the crates of the workspace, found by their `mod` items, and the
//! modules that their paths refer to.

use super::names::{Names, Path};
use crate::inputs::repository;
use std::collections::BTreeMap;
use std::path::{Path as FilePath, PathBuf};

/// Maximum number of imports to follow. Code that compiles has no cycle, but globs give many paths.
const DEPTH: usize = 6;

/// Every module that is not for tests alone. Paths of the library begin with `crate`, those of the program with
/// `main`, and those of another crate of the workspace with its name.
pub(super) struct Modules {
    modules: BTreeMap<Path, Names>,
    /// Every file that a `mod` item includes, with those for tests.
    pub(super) files: Vec<PathBuf>,
}

/// Resolved path in a module.
pub(super) struct Reference {
    /// Module that contains the path.
    pub(super) from: Path,
    /// Longest part of the path that is a module.
    pub(super) module: Path,
    /// Complete path, with the item in the module.
    pub(super) path: Path,
}

impl Modules {
    /// Reads the modules below `src/lib.rs`, `src/main.rs` and `crates/*/src/lib.rs`.
    pub(super) fn read() -> Self {
        let mut all = Modules {
            modules: BTreeMap::new(),
            files: Vec::new(),
        };
        let source = repository("src");
        all.read_file(vec!["crate".to_owned()], &source.join("lib.rs"), &source);
        all.read_file(vec!["main".to_owned()], &source.join("main.rs"), &source);
        for package in crate::inputs::directories(&repository("crates")) {
            let name = crate::inputs::name(&package).replace('-', "_");
            let source = package.join("src");
            all.read_file(vec![name], &source.join("lib.rs"), &source);
        }
        all
    }

    /// Reads the module in `file`, whose submodules are in `directory`.
    fn read_file(&mut self, at: Path, file: &FilePath, directory: &FilePath) {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.files.push(file.to_owned());
        self.add(at, Names::of(&parsed.items), directory);
    }

    fn add(&mut self, at: Path, mut names: Names, directory: &FilePath) {
        for (name, inner) in std::mem::take(&mut names.inner) {
            self.add(joined(&at, &name), inner, &directory.join(&name));
        }
        for name in &names.files {
            let file = directory.join(format!("{name}.rs"));
            self.read_file(joined(&at, name), &file, &directory.join(name));
        }
        for name in &names.tests {
            self.find_tests(&directory.join(format!("{name}.rs")));
        }
        self.modules.insert(at, names);
    }

    /// Adds the files of a test module, which is a file or has submodules.
    fn find_tests(&mut self, file: &FilePath) {
        if file.is_file() {
            self.files.push(file.to_owned());
        }
        let below = file.with_extension("");
        if below.is_dir() {
            self.files.extend(rust_files(&below));
        }
    }

    /// Lists every module.
    pub(super) fn names(&self) -> impl Iterator<Item = &Path> {
        self.modules.keys()
    }

    /// Lists the paths to items of this package, with the modules that contain them. An import of a module itself is
    /// omitted, because the items used from it have paths of their own.
    pub(super) fn references(&self) -> Vec<Reference> {
        let mut all = Vec::new();
        for (from, names) in &self.modules {
            for path in names.paths.iter().filter_map(|path| self.resolve(from, path, DEPTH)) {
                let known = (1..=path.len()).rev().map(|length| path[..length].to_vec());
                let module = known.into_iter().find(|start| self.modules.contains_key(start));
                if let Some(module) = module.filter(|module| *module != path) {
                    all.push(Reference {
                        from: from.clone(),
                        module,
                        path,
                    });
                }
            }
        }
        all
    }

    /// Lists each module with its paths into other crates, and the methods it calls without arguments.
    pub(super) fn foreign(&self) -> impl Iterator<Item = (&Path, Vec<Path>, &[String])> {
        self.modules.iter().map(|(from, names)| {
            let resolved = names.paths.iter().map(|path| {
                let resolved = self.resolve(from, path, DEPTH);
                resolved.unwrap_or_else(|| path.clone())
            });
            let foreign = resolved.filter(|path| !self.modules.contains_key(&path[..1]));
            (from, foreign.collect(), &*names.bare_calls)
        })
    }

    /// Resolves a path in the module `at` to an absolute one; `None` if its first name is unknown.
    fn resolve(&self, at: &[String], path: &[String], depth: usize) -> Option<Path> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => at[..1].to_vec(),
            "self" => at.to_vec(),
            "super" => {
                let supers = 1 + rest.iter().take_while(|segment| *segment == "super").count();
                let start = at.get(..at.len().checked_sub(supers)?)?.to_vec();
                return Some([start, path[supers..].to_vec()].concat());
            }
            // The program refers to the library by its crate name.
            "sqslint" if at[0] == "main" => vec!["crate".to_owned()],
            name => self.lookup(at, name, depth)?,
        };
        Some([start, rest.to_vec()].concat())
    }

    /// Resolves a single name in a module: a submodule, or a name that is imported.
    fn lookup(&self, at: &[String], name: &str, depth: usize) -> Option<Path> {
        let depth = depth.checked_sub(1)?;
        let own = joined(at, name);
        if self.modules.contains_key(&own) {
            return Some(own);
        }
        let names = self.modules.get(at)?;
        if let Some(path) = names.aliases.get(name) {
            // `use regex::regex` does not import itself; other crates stay unresolved.
            let is_itself = path.first().is_some_and(|first| first == name);
            let resolved = if is_itself { None } else { self.resolve(at, path, depth) };
            return Some(resolved.unwrap_or_else(|| path.clone()));
        }
        let globs = names.globs.iter().filter_map(|glob| self.resolve(at, glob, depth));
        let mut from_globs = globs.filter_map(|module| self.lookup(&module, name, depth));
        from_globs.next().or_else(|| self.crate_called(name))
    }

    /// Returns the root of the workspace's crate `name`.
    fn crate_called(&self, name: &str) -> Option<Path> {
        let root = vec![name.to_owned()];
        let is_crate = !matches!(name, "crate" | "main") && self.modules.contains_key(&root);
        is_crate.then_some(root)
    }
}

fn joined(start: &[String], name: &str) -> Path {
    [start, &[name.to_owned()]].concat()
}

/// Lists every Rust file below a directory.
pub(super) fn rust_files(directory: &FilePath) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in crate::inputs::entries(directory) {
        if path.is_dir() {
            all.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(path);
        }
    }
    all
}
