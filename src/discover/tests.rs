//! Tests which units are found.
#![allow(clippy::unwrap_used)]
use super::*;
use crate::testing::TemporaryDirectory;
use source::files::repository_root;

const ASSEMBLY: &str = r#"{"version": "36.0.0", "artifacts": {}}"#;

/// A temporary directory, removed on drop.
struct Tree(TemporaryDirectory);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        Tree(TemporaryDirectory::with_files(files.iter().copied()))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the units as text, relative to the tree.
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
                Input::Snapshot(path) => ("snapshot", path),
                Input::Terragrunt(path) => ("call", path),
                Input::CdkApp(path) => ("app", path),
            };
            format!("{kind} {}", path.strip_prefix(self.path()).unwrap().display())
        });
        shown.collect()
    }
}

fn discover_all(paths: &[PathBuf]) -> Discovery {
    discover(&DiscoveryRequest::of(&Files::default(), paths))
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
fn ignored_units_are_named_without_other_units() {
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
fn cdk_app_is_read_only_if_named() {
    let json = r#"{"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}}"#;
    let tree = Tree::new(&[
        ("cdk.out/manifest.json", "{"),
        ("cdk.out/A.template.json", json),
        ("build/out/manifest.json", ASSEMBLY),
        ("build/out/B.template.json", json),
        ("extension/manifest.json", r#"{"manifest_version": 3}"#),
        ("extension/t.json", json),
    ]);
    // An assembly that is kept under another name contains templates like any other directory.
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
fn cdk_output_next_to_its_settings_is_read() {
    let json = r#"{"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}}"#;
    let tree = Tree::new(&[
        (".gitignore", "cdk.out/\n"),
        ("a/cdk.json", "{}"),
        ("a/cdk.out/manifest.json", ASSEMBLY),
        ("a/cdk.out/A.template.json", json),
        ("alone/cdk.out/manifest.json", ASSEMBLY),
        ("broken/cdk.json", "{}"),
        ("broken/cdk.out/manifest.json", "{"),
        ("never/cdk.json", "{}"),
    ]);
    assert_eq!(tree.inputs(&[""]), ["app a/cdk.out"]);
    let root = tree.path().display().to_string();
    let notes = |is_compared: bool| {
        let (files, paths) = (Files::default(), [tree.path().to_owned()]);
        let wanted = DiscoveryRequest {
            is_compared,
            ..DiscoveryRequest::of(&files, &paths)
        };
        let notes = discover(&wanted).notes.into_iter();
        notes.map(|note| note.replace(&root, ".")).collect::<Vec<_>>()
    };
    assert_eq!(
        notes(false),
        [
            "`./a/cdk.out` was read as last written by `cdk synth`",
            "the CDK app of `./broken/cdk.json` and 1 more were not checked: no readable `cdk.out`; run `cdk synth` first",
        ]
    );
    // The output is not compared, because the earlier commit does not contain it.
    assert_eq!(notes(true).len(), 1);
    // An output without a `cdk.json` next to it is read if it is named.
    assert_eq!(discover_all(&[tree.path().join("alone")]).notes, [""; 0]);
    assert_eq!(tree.inputs(&["alone/cdk.out"]), ["app alone/cdk.out"]);
}

#[test]
fn queues_in_files_that_are_not_read_are_noted() {
    let queue = "\"Type\": \"AWS::SQS::Queue\",\n";
    let tree = Tree::new(&[
        ("a/cdk.json", "{}"),
        ("a/lib/__snapshots__/orders.test.ts.snap", &queue.repeat(3)),
        ("a/test/topics.snap", "\"Type\": \"AWS::SNS::Topic\""),
        ("p/Pulumi.yaml", "name: p\nruntime: nodejs\n"),
        ("p/index.ts", "const orders = new aws.sqs.Queue(\"orders\");"),
        // Its output is read instead.
        ("b/cdk.json", "{}"),
        ("b/cdk.out/manifest.json", r#"{"version": "1", "artifacts": {}}"#),
        ("b/orders.snap", queue),
        ("code/index.ts", "new aws.sqs.Queue(\"orders\");"),
        ("s/sst.config.ts", "new sst.aws.Queue(\"orders\").subscribe(\"a.b\");"),
        ("t/cdktf.json", "{}"),
        (
            "t/main.ts",
            "new SqsQueue(this, \"a\", {}); new SqsQueue(this, \"b\", {});",
        ),
        ("u/cdktf.json", "{}"),
        ("u/main.ts", "new SqsQueue(this, \"a\", {});"),
        ("u/cdktf.out/stacks/u/cdk.tf.json", "{}"),
    ]);
    let found = discover_all(&[tree.path().to_owned()]);
    assert_eq!(found.unread_queues, 7);
    let has = |text: &str| found.notes.iter().any(|note| note.contains(text));
    assert!(
        has("3 queues are not read, in snapshots of the tests of CDK apps: `"),
        "{:?}",
        found.notes
    );
    for note in [
        "1 queue is not read, in projects of Pulumi: `",
        "1 queue is not read, in apps of SST: `",
        "2 queues are not read, in apps of CDK for Terraform: `",
    ] {
        assert!(has(note), "{:?}", found.notes);
    }
}

#[test]
fn service_in_code_is_noted() {
    let tree = Tree::new(&[
        ("a/serverless.ts", ""),
        ("a/package.json", "{}"),
        ("b/serverless.js", ""),
        ("b/serverless.yml", "service: b\n"),
        ("b/package.json", "{}"),
        ("src/serverless.ts", ""),
    ]);
    let notes = discover_all(&[tree.path().to_owned()]).notes;
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("the service of `"), "{notes:?}");
    assert!(
        notes[0].contains("a/serverless.ts` was not checked: it is code;"),
        "{notes:?}"
    );
}

#[test]
fn file_selects_its_unit() {
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
    let not_units: Vec<String> = discovery.not_units.into_iter().map(|(_, message)| message).collect();
    assert_eq!(not_units.len(), 3);
    assert!(
        not_units[0].contains("is not something sqslint can check"),
        "{not_units:?}"
    );
    assert!(not_units[1].contains("no Terraform file"), "{not_units:?}");
    assert!(not_units[2].contains("is code"), "{not_units:?}");
}

#[test]
fn large_file_is_recognised_by_its_head() {
    let filler = "# filler\n".repeat(2 << 20);
    let template = format!("AWSTemplateFormatVersion: '2010-09-09'\n{TEMPLATE}{filler}");
    let tree = Tree::new(&[("t.yaml", &template), ("other.yaml", &filler)]);
    assert_eq!(tree.inputs(&[""]), ["template t.yaml"]);
}

#[cfg(unix)]
#[test]
fn links_neither_loop_nor_leave_the_tree() {
    let outside = Tree::new(&[("t.yaml", TEMPLATE)]);
    let tree = Tree::new(&[("a/t.yaml", TEMPLATE)]);
    std::os::unix::fs::symlink(tree.path(), tree.path().join("a/loop")).unwrap();
    std::os::unix::fs::symlink(tree.path().join("a/t.yaml"), tree.path().join("same.yaml")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("t.yaml"), tree.path().join("out.yaml")).unwrap();
    assert_eq!(tree.inputs(&[""]), ["template a/t.yaml"]);
}

#[test]
fn repository_root_contains_git() {
    let tree = Tree::new(&[("r/.git", "gitdir: x"), ("r/a/b/x", "")]);
    assert_eq!(repository_root(&tree.path().join("r/a/b")), Some(tree.path().join("r")));
    assert_eq!(repository_root(&tree.path().join("r")), Some(tree.path().join("r")));
}

#[test]
fn renamed_service_is_read_if_named() {
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
fn units_that_depend_on_a_named_template_are_reported_separately() {
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
    let found = discover(&DiscoveryRequest {
        repository: Some(tree.path()),
        ..DiscoveryRequest::of(&files, &paths)
    });
    assert_eq!(found.dependents, [tree.path().join("ours.yaml")]);
    assert_eq!(found.inputs.len(), 2);
}

#[test]
fn plan_that_was_not_shown_names_the_command() {
    let messages =
        "{\"@level\":\"info\",\"@message\":\"Terraform 1.11.4\",\"@module\":\"terraform.ui\",\"type\":\"version\"}\n";
    let tofu = messages.replace("terraform.ui", "tofu.ui");
    let saved = "PK\u{3}\u{4}\u{14}\0\u{8}\0tfplan\0";
    for (text, expected) in [
        (messages, true),
        (&*tofu, true),
        (saved, true),
        ("{\"level\": \"info\", \"module\": \"terraform.ui\"}\n", false),
        ("PK\u{3}\u{4}other", false),
    ] {
        let directory = TemporaryDirectory::with_files([("plan.json", text)]);
        let by_name = named_file(
            &directory.path().join("plan.json"),
            Path::new("plan.json"),
            &Files::default(),
        );
        for error in [stdin(text, None, directory.path()).err(), by_name.err()] {
            let error = error.expect("it cannot be checked");
            assert_eq!(error.contains("terraform show -json FILE"), expected, "{error}");
        }
    }
}
