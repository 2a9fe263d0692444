//! Which units are found, and which are not.
#![allow(clippy::unwrap_used)]
use super::*;
use crate::files::repository_root;

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
    discover(&Wanted::of(&Files::default(), paths))
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
fn what_git_ignores_is_named_where_nothing_else_is() {
    let ignored = [
        (".gitignore", "out/\nlocal.yaml\n"),
        ("out/a/main.tf", ""),
        ("out/notes.json", "{}"),
        ("local.yaml", TEMPLATE),
    ];
    let tree = Tree::new("ignored", &ignored);
    let root = tree.0.display();
    let expected = [format!("{root}/local.yaml"), format!("{root}/out/a")];
    assert_eq!(discover_all(std::slice::from_ref(&tree.0)).skipped, expected);
    std::fs::write(tree.0.join("t.yaml"), TEMPLATE).unwrap();
    assert!(discover_all(std::slice::from_ref(&tree.0)).skipped.is_empty());
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
    let discovery = discover_all(&paths);
    let errors = discovery.errors;
    assert_eq!(errors.len(), 1);
    assert!(errors[0].ends_with("nothing`: no such file or directory"), "{errors:?}");
    let unfit: Vec<String> = discovery.unfit.into_iter().map(|(_, message)| message).collect();
    assert_eq!(unfit.len(), 3);
    assert!(unfit[0].contains("is no unit: looked for"), "{unfit:?}");
    assert!(unfit[1].contains("no Terraform file"), "{unfit:?}");
    assert!(unfit[2].contains("is code"), "{unfit:?}");
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
