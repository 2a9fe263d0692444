//! Which units lie under the given paths. It tells files apart by name and content (`content.rs`) and parses nothing.

mod content;
mod referrers;

use content::Kind;
use ignore::{DirEntry, WalkBuilder, WalkState};
use rayon::prelude::*;
pub(crate) use referrers::{clean, is_data};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What to read as one unit. Paths are absolute and without symbolic links.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Input {
    /// A directory with Terraform files.
    TerraformModule(PathBuf),
    /// A CloudFormation or SAM template.
    Template(PathBuf),
    /// A `serverless.yml`.
    ServerlessService(PathBuf),
    /// A `terragrunt.hcl`.
    Terragrunt(PathBuf),
    /// A Terraform plan or state: JSON of `terraform show`, or a state file.
    Plan(PathBuf),
    /// A directory that a CDK app was synthesised to, told by its `manifest.json`.
    CdkApp(PathBuf),
}

impl Input {
    /// The file or directory.
    pub fn path(&self) -> &Path {
        match self {
            Input::TerraformModule(path)
            | Input::Template(path)
            | Input::ServerlessService(path)
            | Input::CdkApp(path)
            | Input::Plan(path)
            | Input::Terragrunt(path) => path,
        }
    }
}

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub struct Wanted<'a> {
    /// Files and directories that are named.
    pub paths: &'a [PathBuf],
    /// Files that have changed, absolute, there or not: they select units as named ones do, and need not.
    pub touched: &'a [PathBuf],
    /// Where units that depend on a file are looked for.
    pub repository: Option<&'a Path>,
    /// Files that git ignores are walked, too.
    pub no_gitignore: bool,
    /// A named file that is no unit is passed over.
    pub lenient: bool,
}

/// What lies under the given paths.
#[derive(Debug, Default)]
pub struct Discovery {
    /// Units, sorted, each once.
    pub inputs: Vec<Input>,
    /// Paths that do not exist, cannot be read, or were named although no unit is there.
    pub errors: Vec<String>,
    /// Directories of generated or foreign code that were passed over.
    pub skipped: Vec<String>,
}

/// Directories that are entered only when they are named: generated, downloaded, or not code.
const PASSED_OVER: [&str; 7] = [
    ".git",
    ".terraform",
    ".terragrunt-cache",
    ".aws-sam",
    ".serverless",
    "node_modules",
    "cdk.out",
];
/// What tells where a CDK app was synthesised to.
const MANIFEST: &str = "manifest.json";
/// Terragrunt's file of a unit.
const TERRAGRUNT: &str = "terragrunt.hcl";
/// SAM's file of arguments, which holds for templates beside it.
const SAMCONFIG: [&str; 3] = ["samconfig.toml", "samconfig.yaml", "samconfig.yml"];
/// CloudFormation takes 1 MB; what is far larger is read only when it is named.
const LARGEST_TEMPLATE: u64 = 16 << 20;

/// Finds units: a file selects its own and those that depend on it, a directory every one below it.
pub fn discover(wanted: &Wanted<'_>) -> Discovery {
    let found = Arc::new(Mutex::new(Found::default()));
    let walk = Walk {
        no_gitignore: wanted.no_gitignore,
    };
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    for path in wanted.paths {
        let absolute = match std::fs::canonicalize(path) {
            Ok(absolute) => absolute,
            Err(error) => {
                with(&found, |found| found.errors.push(unreadable(path, &error)));
                continue;
            }
        };
        if is_assembly(&absolute) {
            with(&found, |found| {
                found.inputs.insert(Input::CdkApp(absolute));
            });
        } else if absolute.is_dir() {
            walk.units(&absolute, path, &found);
        } else {
            let named = named_file(&absolute, path);
            with(&found, |found| match named {
                Ok(input) => {
                    found.inputs.insert(input);
                }
                Err(_) if wanted.lenient => {}
                Err(message) => found.errors.push(message),
            });
            files.insert(absolute);
        }
    }
    let touched = wanted
        .touched
        .iter()
        .filter(|path| !is_passed_over(path, wanted.repository));
    for path in touched {
        let units = touched_file(path, wanted.repository);
        with(&found, |found| found.inputs.extend(units));
        files.insert(path.clone());
    }
    if let Some(repository) = wanted.repository {
        let referring = referrers::of(&files, repository, &walk);
        with(&found, |found| found.inputs.extend(referring));
    }
    let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    let candidates: Vec<(PathBuf, String)> = found.candidates.into_iter().collect();
    let read: Vec<Result<Option<Input>, String>> = candidates.par_iter().map(|(path, _)| recognise(path)).collect();
    let mut discovery = Discovery {
        errors: found.errors,
        skipped: found.skipped.into_iter().collect(),
        ..Discovery::default()
    };
    let mut inputs = found.inputs;
    for (result, (_, shown)) in read.into_iter().zip(candidates) {
        match result {
            // It is generated and may be stale, and its module, if it is here, is judged itself.
            Ok(Some(Input::Plan(_))) => discovery.skipped.push(shown),
            Ok(input) => inputs.extend(input),
            Err(message) => discovery.errors.push(message),
        }
    }
    discovery.skipped.sort();
    discovery.inputs = inputs.into_iter().collect();
    discovery
}

/// The file that a text stands for, and its unit: told by the file's name where there is one, else by the text.
pub fn stdin(text: &str, path: Option<&Path>, working_directory: &Path) -> Result<(PathBuf, Input), String> {
    if let Some(path) = path {
        let absolute = path_of_new(path)
            .ok_or_else(|| format!("`--stdin-filename {}`: its directory does not exist", path.display()))?;
        let name = name_of(&absolute);
        let module = absolute.parent().filter(|_| is_terraform(name) || is_variables(name));
        let input = match module {
            Some(directory) => Some(Input::TerraformModule(directory.to_owned())),
            None if name == TERRAGRUNT => Some(Input::Terragrunt(absolute.clone())),
            None => input_of(&absolute, text.as_bytes()),
        };
        let input = input.filter(|input| !matches!(input, Input::CdkApp(_)));
        let input = input.ok_or_else(|| format!("`--stdin-filename {}` {NO_UNIT}", path.display()))?;
        return Ok((absolute, input));
    }
    let path = working_directory.join("<stdin>");
    if let Some(input) = input_of(&path, text.as_bytes()) {
        return Ok((path, input));
    }
    if content::is_terraform(text) {
        // In a directory of its own, so that no file of the working directory is its neighbour.
        return Ok((path.join("main.tf"), Input::TerraformModule(path)));
    }
    Err(format!("standard input {NO_UNIT}; `--stdin-filename` says what it is"))
}

/// The absolute path of a file that need not exist, in a directory that does.
fn path_of_new(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(parent.join(path.file_name()?))
    })
}

/// The nearest directory, `from` or above it, that holds a `.git` directory or file.
pub fn repository_root(from: &Path) -> Option<PathBuf> {
    let from = std::fs::canonicalize(from).ok()?;
    from.ancestors()
        .find(|directory| directory.join(".git").exists())
        .map(Path::to_owned)
}

/// The files below `root` that are called one of `names`.
pub(crate) fn files_named(root: &Path, names: &[&str], no_gitignore: bool) -> Vec<PathBuf> {
    let walker = Walk { no_gitignore }.builder(root, root, &Arc::default()).build();
    let paths = walker.flatten().map(DirEntry::into_path);
    let mut files: Vec<PathBuf> = paths
        .filter(|path| names.contains(&name_of(path)) && path.is_file())
        .collect();
    files.sort();
    files
}

/// What the walks came upon. Sets, because the parallel walk has no order.
#[derive(Default)]
struct Found {
    inputs: BTreeSet<Input>,
    /// YAML and JSON whose content decides, and how people see their paths.
    candidates: BTreeMap<PathBuf, String>,
    errors: Vec<String>,
    skipped: BTreeSet<String>,
}

fn with(found: &Mutex<Found>, change: impl FnOnce(&mut Found)) {
    change(&mut found.lock().unwrap_or_else(PoisonError::into_inner));
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    if error.kind() == std::io::ErrorKind::NotFound {
        format!("`{}`: no such file or directory", path.display())
    } else {
        format!("`{}`: {error}", path.display())
    }
}

/// Whether a CDK app was synthesised to `directory`. A manifest in a `cdk.out` is one whatever it holds, so that
/// what is wrong with it is told.
fn is_assembly(directory: &Path) -> bool {
    let manifest = directory.join(MANIFEST);
    let readable = std::fs::metadata(&manifest).is_ok_and(|file| file.is_file() && file.len() <= LARGEST_TEMPLATE);
    readable
        && (name_of(directory) == "cdk.out"
            || std::fs::read(&manifest).is_ok_and(|bytes| content::kind(MANIFEST, &bytes) == Some(Kind::CloudAssembly)))
}

/// The units that a changed file belongs to.
fn touched_file(file: &Path, repository: Option<&Path>) -> Vec<Input> {
    let name = name_of(file);
    if is_variables(name) {
        // Variables of environments commonly lie below the module they are for.
        let above = file
            .ancestors()
            .skip(1)
            .take_while(|above| repository.is_none_or(|root| above.starts_with(root)));
        let module = above.into_iter().find(|above| holds_terraform(above));
        return module
            .map(|module| Input::TerraformModule(module.to_owned()))
            .into_iter()
            .collect();
    }
    if is_terraform(name) {
        let directory = file.parent().filter(|directory| holds_terraform(directory));
        return directory
            .map(|directory| Input::TerraformModule(directory.to_owned()))
            .into_iter()
            .collect();
    }
    if SAMCONFIG.contains(&name) {
        return file.parent().map_or_else(Vec::new, templates_in);
    }
    if !file.is_file() || !(may_be_template(name) || name == TERRAGRUNT) {
        return Vec::new();
    }
    // Generated plans and clouds are judged where they are named.
    let input = named_file(file, file).ok();
    input
        .into_iter()
        .filter(|input| !matches!(input, Input::Plan(_) | Input::CdkApp(_)))
        .collect()
}

/// The templates in `directory`, and not below it.
fn templates_in(directory: &Path) -> Vec<Input> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let files = entries
        .map(|entry| entry.path())
        .filter(|file| may_be_template(name_of(file)) && file.is_file());
    let inputs = files.filter_map(|file| recognise(&file).ok().flatten());
    inputs.filter(|input| matches!(input, Input::Template(_))).collect()
}

/// Whether a walk from the root of the repository would not come to it.
fn is_passed_over(path: &Path, repository: Option<&Path>) -> bool {
    let below = repository.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    let mut names = below.components().filter_map(|part| part.as_os_str().to_str());
    names.any(|name| PASSED_OVER.contains(&name))
}

/// The unit of a file that was named.
fn named_file(file: &Path, shown: &Path) -> Result<Input, String> {
    let name = name_of(file);
    let directory = file.parent().filter(|_| is_terraform(name) || is_variables(name));
    if let Some(directory) = directory {
        if is_terraform(name) || holds_terraform(directory) {
            return Ok(Input::TerraformModule(directory.to_owned()));
        }
        return Err(format!(
            "`{}`: no Terraform file (`*.tf`, `*.tofu`) stands beside it",
            shown.display()
        ));
    }
    if let Some(("serverless", "ts" | "js" | "mjs" | "cjs")) = name.rsplit_once('.') {
        return Err(format!(
            "`{}` is code, which sqslint does not run; package the service and name the template in `.serverless`",
            shown.display()
        ));
    }
    if name == TERRAGRUNT {
        return Ok(Input::Terragrunt(file.to_owned()));
    }
    if content::is_plan(&head(file).map_err(|error| unreadable(shown, &error))?) {
        return Ok(Input::Plan(file.to_owned()));
    }
    let bytes = std::fs::read(file).map_err(|error| unreadable(shown, &error))?;
    input_of(file, &bytes).ok_or_else(|| format!("`{}` {NO_UNIT}", shown.display()))
}

/// What is said of a file that is nothing that can be checked.
const NO_UNIT: &str = "is no unit: looked for Terraform (`*.tf`, `*.tofu`, `terragrunt.hcl`; `terraform show -json` of a \
    plan or state, a state file), a template (`AWSTemplateFormatVersion`, `Transform`, or `Resources` with an `AWS::` \
    type) and a `serverless.yml` (`service`, `provider` or `functions`)";

fn input_of(file: &Path, bytes: &[u8]) -> Option<Input> {
    match content::kind(name_of(file), bytes)? {
        Kind::Template => Some(Input::Template(file.to_owned())),
        Kind::Serverless => Some(Input::ServerlessService(file.to_owned())),
        Kind::Plan => Some(Input::Plan(file.to_owned())),
        Kind::CloudAssembly => file.parent().map(|directory| Input::CdkApp(directory.to_owned())),
    }
}

/// The first bytes of a file.
fn head(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let room = u64::try_from(content::HEAD).unwrap_or(u64::MAX);
    std::fs::File::open(file)?.take(room).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn recognise(file: &Path) -> Result<Option<Input>, String> {
    let size = std::fs::metadata(file).map_err(|error| unreadable(file, &error))?.len();
    if size > LARGEST_TEMPLATE || is_state(name_of(file)) {
        let head = head(file).map_err(|error| unreadable(file, &error))?;
        let plan = content::is_plan(&head).then(|| Input::Plan(file.to_owned()));
        return Ok(plan.or_else(|| input_of(file, &head)));
    }
    let bytes = std::fs::read(file).map_err(|error| unreadable(file, &error))?;
    // The templates of an assembly are found by themselves; its manifest leads to them where it is named.
    Ok(input_of(file, &bytes).filter(|input| !matches!(input, Input::CdkApp(_))))
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or("")
}

fn is_terraform(name: &str) -> bool {
    [".tf", ".tf.json", ".tofu", ".tofu.json"]
        .iter()
        .any(|end| name.ends_with(end))
}

fn is_variables(name: &str) -> bool {
    [".tfvars", ".tfvars.json"].iter().any(|end| name.ends_with(end))
}

fn is_state(name: &str) -> bool {
    name.ends_with(".tfstate")
}

fn may_be_template(name: &str) -> bool {
    [".yaml", ".yml", ".json", ".template"]
        .iter()
        .any(|end| name.ends_with(end))
        && !is_variables(name)
}

fn holds_terraform(directory: &Path) -> bool {
    std::fs::read_dir(directory).is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.file_name().to_str().is_some_and(is_terraform))
    })
}

/// How directories are walked.
struct Walk {
    no_gitignore: bool,
}

impl Walk {
    /// Walks a directory. Symbolic links to directories are not followed, so there are no loops.
    fn units(&self, root: &Path, shown: &Path, found: &Arc<Mutex<Found>>) {
        // A link may lead to another file of the tree, not out of it.
        let bounds = repository_root(root).unwrap_or_else(|| root.to_owned());
        let walker = self.builder(root, shown, found).build_parallel();
        walker.run(|| {
            Box::new(|result| {
                match result {
                    Ok(entry) => take(&entry, &bounds, |path| shown_below(shown, root, path), found),
                    Err(error) => with(found, |found| found.errors.push(error.to_string())),
                }
                WalkState::Continue
            })
        });
    }

    fn builder(&self, root: &Path, shown: &Path, found: &Arc<Mutex<Found>>) -> WalkBuilder {
        let (root_of_filter, shown_of_filter) = (root.to_owned(), shown.to_owned());
        let noted = Arc::clone(found);
        let mut builder = WalkBuilder::new(root);
        builder
            .hidden(false)
            .ignore(false)
            .parents(!self.no_gitignore)
            .git_ignore(!self.no_gitignore)
            .git_exclude(!self.no_gitignore)
            .git_global(false)
            .require_git(false)
            .filter_entry(move |entry| {
                // An assembly under another name than `cdk.out` is kept on purpose: its templates count as any others.
                let is_inner = entry.depth() > 0 && entry.file_type().is_some_and(|kind| kind.is_dir());
                let pass = is_inner && PASSED_OVER.contains(&name_of(entry.path()));
                if pass && name_of(entry.path()) != ".git" {
                    let path = shown_below(&shown_of_filter, &root_of_filter, entry.path());
                    with(&noted, |found| {
                        found.skipped.insert(path);
                    });
                }
                !pass
            });
        builder
    }
}

/// How people see `path` below `root`, which they see as `shown`.
fn shown_below(shown: &Path, root: &Path, path: &Path) -> String {
    shown
        .join(path.strip_prefix(root).unwrap_or(path))
        .display()
        .to_string()
}

fn take(entry: &DirEntry, bounds: &Path, shown: impl Fn(&Path) -> String, found: &Mutex<Found>) {
    let (path, name) = (entry.path(), name_of(entry.path()));
    let terraform = is_terraform(name);
    let terragrunt = name == TERRAGRUNT;
    if !(terraform || terragrunt || may_be_template(name) || is_state(name)) {
        return;
    }
    let kind = entry.file_type();
    let linked = kind.is_some_and(|kind| kind.is_symlink());
    if !linked && !kind.is_some_and(|kind| kind.is_file()) {
        return;
    }
    if terraform || (terragrunt && !linked) {
        if let Some(directory) = path.parent() {
            let input = if terragrunt {
                Input::Terragrunt(path.to_owned())
            } else {
                Input::TerraformModule(directory.to_owned())
            };
            with(found, |found| {
                found.inputs.insert(input);
            });
        }
        return;
    }
    let file = if linked {
        std::fs::canonicalize(path).ok()
    } else {
        Some(path.to_owned())
    };
    if let Some(file) = file.filter(|file| !linked || (file.starts_with(bounds) && file.is_file())) {
        with(found, |found| {
            found.candidates.insert(file, shown(path));
        });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A directory of its own, removed in the end.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("sqslint-discover-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&root);
            for (path, text) in files {
                let path = root.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Tree(std::fs::canonicalize(root).unwrap())
        }

        /// Units as text, relative to the tree.
        fn inputs(&self, paths: &[&str]) -> Vec<String> {
            let paths: Vec<_> = paths.iter().map(|path| self.0.join(path)).collect();
            let discovery = discover_all(&paths);
            assert_eq!(discovery.errors, Vec::<String>::new());
            let shown = discovery.inputs.iter().map(|input| {
                let (kind, path) = match input {
                    Input::TerraformModule(path) => ("module", path),
                    Input::Template(path) => ("template", path),
                    Input::ServerlessService(path) => ("service", path),
                    Input::Plan(path) => ("plan", path),
                    Input::Terragrunt(path) => ("call", path),
                    Input::CdkApp(path) => ("app", path),
                };
                format!("{kind} {}", path.strip_prefix(&self.0).unwrap().display())
            });
            shown.collect()
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn discover_all(paths: &[PathBuf]) -> Discovery {
        discover(&Wanted {
            paths,
            ..Wanted::default()
        })
    }

    const TEMPLATE: &str = "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n";

    #[test]
    fn directories_are_walked() {
        let tree = Tree::new(
            "walk",
            &[
                ("main.tf", ""),
                ("modules/q/main.tofu", ""),
                ("a/t.yaml", TEMPLATE),
                (".hidden/t.yml", TEMPLATE),
                (
                    "cdk.out/t.template.json",
                    r#"{"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}}"#,
                ),
                ("node_modules/x/t.yaml", TEMPLATE),
                ("ignored/t.yaml", TEMPLATE),
                (".gitignore", "ignored/\n"),
                ("sls/serverless.yml", "service: x\n"),
                ("package.json", r#"{"name": "Resources"}"#),
                ("main.tfvars.json", "{}"),
            ],
        );
        assert_eq!(
            tree.inputs(&[""]),
            [
                "module ",
                "module modules/q",
                "template .hidden/t.yml",
                "template a/t.yaml",
                "service sls/serverless.yml"
            ]
        );
        let skipped = discover_all(std::slice::from_ref(&tree.0)).skipped;
        assert_eq!(skipped.len(), 2, "{skipped:?}");
        assert_eq!(tree.inputs(&["cdk.out"]), ["template cdk.out/t.template.json"]);
        assert_eq!(
            tree.inputs(&["ignored", "a/t.yaml", "a"]),
            ["template a/t.yaml", "template ignored/t.yaml"]
        );
    }

    #[test]
    fn an_app_is_read_where_it_is_named() {
        const ASSEMBLY: &str = r#"{"version": "36.0.0", "artifacts": {}}"#;
        let json = r#"{"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}}"#;
        let tree = Tree::new(
            "app",
            &[
                ("cdk.out/manifest.json", "{"),
                ("cdk.out/A.template.json", json),
                ("build/out/manifest.json", ASSEMBLY),
                ("build/out/B.template.json", json),
                ("extension/manifest.json", r#"{"manifest_version": 3}"#),
                ("extension/t.json", json),
            ],
        );
        // An assembly that is kept under another name holds templates like any other directory.
        assert_eq!(
            tree.inputs(&[""]),
            ["template build/out/B.template.json", "template extension/t.json"]
        );
        assert_eq!(discover_all(std::slice::from_ref(&tree.0)).skipped.len(), 1);
        assert_eq!(
            tree.inputs(&["cdk.out", "build/out/manifest.json"]),
            ["app build/out", "app cdk.out"]
        );
        assert_eq!(
            tree.inputs(&["cdk.out/A.template.json"]),
            ["template cdk.out/A.template.json"]
        );
    }

    #[test]
    fn a_file_selects_its_unit() {
        let tree = Tree::new(
            "file",
            &[
                ("m/main.tf", ""),
                ("m/x.tfvars", ""),
                ("t.yaml", TEMPLATE),
                ("other.yaml", "a: 1\n"),
                ("v/x.tfvars", ""),
                ("serverless.ts", "module.exports = {};"),
            ],
        );
        assert_eq!(
            tree.inputs(&["m/main.tf", "m/x.tfvars", "t.yaml"]),
            ["module m", "template t.yaml"]
        );
        let paths = ["other.yaml", "nothing", "v/x.tfvars", "serverless.ts"].map(|path| tree.0.join(path));
        let errors = discover_all(&paths).errors;
        assert_eq!(errors.len(), 4);
        assert!(errors[0].contains("is no unit: looked for"), "{errors:?}");
        assert!(errors[1].ends_with("nothing`: no such file or directory"), "{errors:?}");
        assert!(errors[2].contains("no Terraform file"), "{errors:?}");
        assert!(errors[3].contains("is code"), "{errors:?}");
    }

    #[test]
    fn a_large_file_is_told_by_its_head() {
        let filler = "# filler\n".repeat(2 << 20);
        let template = format!("AWSTemplateFormatVersion: '2010-09-09'\n{TEMPLATE}{filler}");
        let tree = Tree::new("large", &[("t.yaml", &template), ("other.yaml", &filler)]);
        assert_eq!(tree.inputs(&[""]), ["template t.yaml"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_loop_or_lead_out() {
        let outside = Tree::new("outside", &[("t.yaml", TEMPLATE)]);
        let tree = Tree::new("links", &[("a/t.yaml", TEMPLATE)]);
        std::os::unix::fs::symlink(&tree.0, tree.0.join("a/loop")).unwrap();
        std::os::unix::fs::symlink(tree.0.join("a/t.yaml"), tree.0.join("same.yaml")).unwrap();
        std::os::unix::fs::symlink(outside.0.join("t.yaml"), tree.0.join("out.yaml")).unwrap();
        assert_eq!(tree.inputs(&[""]), ["template a/t.yaml"]);
    }

    #[test]
    fn the_repository_root_holds_git() {
        let tree = Tree::new("root", &[("r/.git", "gitdir: x"), ("r/a/b/x", "")]);
        assert_eq!(repository_root(&tree.0.join("r/a/b")), Some(tree.0.join("r")));
        assert_eq!(repository_root(&tree.0.join("r")), Some(tree.0.join("r")));
    }
}
