//! The modules of the library and of the program, from their `mod` items on, and where the paths in them lead.

use super::names::{Names, Path};
use crate::inputs::repository;
use std::collections::BTreeMap;
use std::path::{Path as FilePath, PathBuf};

/// Imports of imports that are followed; code that compiles has no circle, but globs make many ways.
const DEPTH: usize = 6;

/// Every module that is not for tests alone. Paths of the library begin with `crate`, those of the program with
/// `main`.
pub(super) struct Modules {
    modules: BTreeMap<Path, Names>,
    /// Every file that a `mod` leads to, tests among them.
    pub(super) files: Vec<PathBuf>,
}

/// A path that a module names, resolved.
pub(super) struct Reference {
    /// The module that names it.
    pub(super) from: Path,
    /// As far as modules go.
    pub(super) module: Path,
    /// With the item in the module.
    pub(super) path: Path,
}

impl Modules {
    /// Those below `src/lib.rs` and `src/main.rs`.
    pub(super) fn read() -> Self {
        let mut all = Modules {
            modules: BTreeMap::new(),
            files: Vec::new(),
        };
        let source = repository("src");
        all.read_file(vec!["crate".to_owned()], &source.join("lib.rs"), &source);
        all.read_file(vec!["main".to_owned()], &source.join("main.rs"), &source);
        all
    }

    /// The module at `file`, whose own modules lie in `directory`.
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

    /// The files of a module that only tests have, in a file of its own or in braces.
    fn find_tests(&mut self, file: &FilePath) {
        if file.is_file() {
            self.files.push(file.to_owned());
        }
        let below = file.with_extension("");
        if below.is_dir() {
            self.files.extend(rust_files(&below));
        }
    }

    /// Every module.
    pub(super) fn names(&self) -> impl Iterator<Item = &Path> {
        self.modules.keys()
    }

    /// Paths to items of this package, by the modules that name them. The import of a module alone is none: what is
    /// used of it is named elsewhere.
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

    /// Each module with the paths of other crates that it names, and the methods that it calls without arguments.
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

    /// A path as `at` reads it, from its crate on; `None` where its first name comes from nowhere known.
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
            // The program names the library as others do.
            "sqslint" if at[0] == "main" => vec!["crate".to_owned()],
            name => self.lookup(at, name, depth)?,
        };
        Some([start, rest.to_vec()].concat())
    }

    /// What a bare name stands for in a module: one of its own modules, or what an import brings.
    fn lookup(&self, at: &[String], name: &str, depth: usize) -> Option<Path> {
        let depth = depth.checked_sub(1)?;
        let own = joined(at, name);
        if self.modules.contains_key(&own) {
            return Some(own);
        }
        let names = self.modules.get(at)?;
        if let Some(path) = names.aliases.get(name) {
            // `use regex::regex` does not import itself; other crates stay as they are.
            let is_itself = path.first().is_some_and(|first| first == name);
            let resolved = if is_itself { None } else { self.resolve(at, path, depth) };
            return Some(resolved.unwrap_or_else(|| path.clone()));
        }
        let globs = names.globs.iter().filter_map(|glob| self.resolve(at, glob, depth));
        globs.into_iter().find_map(|module| self.lookup(&module, name, depth))
    }
}

fn joined(start: &[String], name: &str) -> Path {
    [start, &[name.to_owned()]].concat()
}

/// Every file of Rust below a directory.
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
