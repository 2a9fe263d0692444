//! Which units are found, and which are not.
#![allow(clippy::unwrap_used)]
use super::*;
use crate::files::repository_root;
use crate::testing::TemporaryDirectory;

/// A directory of its own, removed in the end.
struct Tree(TemporaryDirectory);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        Tree(TemporaryDirectory::with_files(files.iter().copied()))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Units as text, relative to the tree.
    fn inputs(&self, paths: &[&str]) -> Vec<String> {
        let paths: Vec<_> = paths.iter().map(|path| self.path().join(path)).collect();
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
            format!("{kind} {}", path.strip_prefix(self.path()).unwrap().display())
        });
        shown.collect()
    }
}

fn discover_all(paths: &[PathBuf]) -> Discovery {
    discover(&Wanted::of(&Files::default(), paths))
}

const TEMPLATE: &str = "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n";

#[test]
fn directories_are_walked() {
    let tree = Tree::new(&[
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
    ]);
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
    let skipped = discover_all(&[tree.path().to_owned()]).skipped;
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
    let tree = Tree::new(&ignored);
    let root = tree.path().display();
    let expected = [format!("{root}/local.yaml"), format!("{root}/out/a")];
    assert_eq!(discover_all(&[tree.path().to_owned()]).skipped, expected);
    std::fs::write(tree.path().join("t.yaml"), TEMPLATE).unwrap();
    assert!(discover_all(&[tree.path().to_owned()]).skipped.is_empty());
}

#[test]
fn an_app_is_read_where_it_is_named() {
    const ASSEMBLY: &str = r#"{"version": "36.0.0", "artifacts": {}}"#;
    let json = r#"{"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}}"#;
    let tree = Tree::new(&[
        ("cdk.out/manifest.json", "{"),
        ("cdk.out/A.template.json", json),
        ("build/out/manifest.json", ASSEMBLY),
        ("build/out/B.template.json", json),
        ("extension/manifest.json", r#"{"manifest_version": 3}"#),
        ("extension/t.json", json),
    ]);
    // An assembly that is kept under another name holds templates like any other directory.
    assert_eq!(
        tree.inputs(&[""]),
        ["template build/out/B.template.json", "template extension/t.json"]
    );
    assert_eq!(discover_all(&[tree.path().to_owned()]).skipped.len(), 1);
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
    let tree = Tree::new(&[
        ("m/main.tf", ""),
        ("m/x.tfvars", ""),
        ("t.yaml", TEMPLATE),
        ("other.yaml", "a: 1\n"),
        ("v/x.tfvars", ""),
        ("serverless.ts", "module.exports = {};"),
    ]);
    assert_eq!(
        tree.inputs(&["m/main.tf", "m/x.tfvars", "t.yaml"]),
        ["module m", "template t.yaml"]
    );
    let paths = ["other.yaml", "nothing", "v/x.tfvars", "serverless.ts"].map(|path| tree.path().join(path));
    let discovery = discover_all(&paths);
    let errors = discovery.errors;
    assert_eq!(errors.len(), 1);
    assert!(errors[0].ends_with("nothing`: no such file or directory"), "{errors:?}");
    let unfit: Vec<String> = discovery.unfit.into_iter().map(|(_, message)| message).collect();
    assert_eq!(unfit.len(), 3);
    assert!(unfit[0].contains("is not something sqslint can check"), "{unfit:?}");
    assert!(unfit[1].contains("no Terraform file"), "{unfit:?}");
    assert!(unfit[2].contains("is code"), "{unfit:?}");
}

#[test]
fn a_large_file_is_told_by_its_head() {
    let filler = "# filler\n".repeat(2 << 20);
    let template = format!("AWSTemplateFormatVersion: '2010-09-09'\n{TEMPLATE}{filler}");
    let tree = Tree::new(&[("t.yaml", &template), ("other.yaml", &filler)]);
    assert_eq!(tree.inputs(&[""]), ["template t.yaml"]);
}

#[cfg(unix)]
#[test]
fn links_do_not_loop_or_lead_out() {
    let outside = Tree::new(&[("t.yaml", TEMPLATE)]);
    let tree = Tree::new(&[("a/t.yaml", TEMPLATE)]);
    std::os::unix::fs::symlink(tree.path(), tree.path().join("a/loop")).unwrap();
    std::os::unix::fs::symlink(tree.path().join("a/t.yaml"), tree.path().join("same.yaml")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("t.yaml"), tree.path().join("out.yaml")).unwrap();
    assert_eq!(tree.inputs(&[""]), ["template a/t.yaml"]);
}

#[test]
fn the_repository_root_holds_git() {
    let tree = Tree::new(&[("r/.git", "gitdir: x"), ("r/a/b/x", "")]);
    assert_eq!(repository_root(&tree.path().join("r/a/b")), Some(tree.path().join("r")));
    assert_eq!(repository_root(&tree.path().join("r")), Some(tree.path().join("r")));
}

#[test]
fn a_service_under_another_name_is_read_where_it_is_named() {
    let tree = Tree::new(&[
        ("serverless.example.yml", "service: x\nfunctions: {}\n"),
        ("serverless-notes.yml", "nothing: here\n"),
    ]);
    assert_eq!(
        tree.inputs(&["serverless.example.yml"]),
        ["service serverless.example.yml"]
    );
    assert!(
        discover_all(&[tree.path().join("serverless-notes.yml")])
            .inputs
            .is_empty()
    );
}

#[test]
fn what_depends_on_a_named_template_is_told_apart() {
    let exporting = "Resources: {Q: {Type: AWS::SQS::Queue}}\nOutputs: {A: {Value: x, Export: {Name: orders-arn}}}\n";
    let importing = |name: &str| format!("Resources: {{Q: {{Type: AWS::SQS::Queue}}}}\nX: !ImportValue {name}\n");
    let (ours, other) = (importing("orders-arn"), importing("orders-arn-of-others"));
    let tree = Tree::new(&[
        (".git/HEAD", ""),
        ("one.yaml", exporting),
        ("ours.yaml", ours.as_str()),
        ("other.yaml", other.as_str()),
    ]);
    let files = Files::default();
    let paths = [tree.path().join("one.yaml")];
    let found = discover(&Wanted {
        repository: Some(tree.path()),
        ..Wanted::of(&files, &paths)
    });
    assert_eq!(found.taken_in, [tree.path().join("ours.yaml")]);
    assert_eq!(found.inputs.len(), 2);
}
