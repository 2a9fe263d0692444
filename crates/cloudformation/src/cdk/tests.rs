//! Reading of manifests.

#![allow(clippy::unwrap_used)]

use super::{App, Environment, read_app};
use source::Sources;
use source::files::Scratch;

/// Returns the templates of an app, and the problems of its manifests.
fn read(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let directory = Scratch::with_files(files.iter().copied()).unwrap();
    let root = directory.path().canonicalize().unwrap();
    let sources = Sources::new(None, root.clone());
    let App { stacks, broken } = read_app(&root.join("cdk.out"), &sources);
    let shown = stacks.iter().map(|(path, environment)| {
        let known = |part: &Option<String>| part.clone().unwrap_or_else(|| "?".to_owned());
        let (account, region) = (known(&environment.account), known(&environment.region));
        format!("{} {account} {region}", sources.shown_of(path))
    });
    let problems = broken.iter().flat_map(|unit| {
        let found = unit.problems.iter().map(|problem| problem.message.clone());
        found.chain(unit.errors.clone())
    });
    (shown.collect(), problems.collect())
}

const STACK: &str = r#"{"Resources": {}}"#;

#[test]
fn stacks_stages_and_nested_stacks_are_found() {
    let manifest = r#"{"version": "1", "artifacts": {
        "Tree": {"type": "cdk:tree", "properties": {"file": "tree.json"}},
        "A.assets": {"type": "cdk:asset-manifest", "properties": {"file": "A.assets.json"}},
        "A": {"type": "aws:cloudformation:stack", "environment": "aws://1/eu-west-1",
              "dependencies": ["A.assets"], "properties": {"templateFile": "A.template.json"}},
        "S": {"type": "cdk:cloud-assembly", "properties": {"directoryName": "assembly-S"}}}}"#;
    let stage = r#"{"version": "1", "artifacts": {
        "B": {"type": "aws:cloudformation:stack", "environment": "aws://unknown-account/unknown-region",
              "properties": {"templateFile": "B.template.json"}}}}"#;
    let assets = r#"{"files": {
        "1": {"source": {"path": "N.nested.template.json"}}, "2": {"source": {"path": "asset.code"}},
        "3": {"source": {"path": "../../etc/x.template.json"}}}}"#;
    let (stacks, problems) = read(&[
        ("cdk.out/manifest.json", manifest),
        ("cdk.out/A.template.json", STACK),
        ("cdk.out/A.assets.json", assets),
        ("cdk.out/N.nested.template.json", STACK),
        ("cdk.out/unused.template.json", STACK),
        ("cdk.out/assembly-S/manifest.json", stage),
        ("cdk.out/assembly-S/B.template.json", STACK),
    ]);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(
        stacks,
        [
            "cdk.out/A.template.json 1 eu-west-1",
            "cdk.out/N.nested.template.json 1 eu-west-1",
            "cdk.out/assembly-S/B.template.json ? ?"
        ]
    );
}

#[test]
fn template_may_have_a_name_in_another_case() {
    let manifest = r#"{"version": "1", "artifacts": {
        "Dev": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "Orders-dev.template.json"}},
        "Prod": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "Orders-prod.template.json"}}}}"#;
    let (stacks, problems) = read(&[
        ("cdk.out/manifest.json", manifest),
        ("cdk.out/Orders-Dev.template.json", STACK),
        ("cdk.out/ORDERS-prod.template.json", STACK),
        ("cdk.out/orders-PROD.template.json", STACK),
    ]);
    assert_eq!(stacks, ["cdk.out/Orders-Dev.template.json ? ?"]);
    assert_eq!(
        problems,
        ["`Orders-prod.template.json` is not there"],
        "two have that name"
    );
}

#[test]
fn files_outside_the_app_are_not_read() {
    let manifest = r#"{"version": "1", "artifacts": {
        "Up": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "../secret.json"}},
        "Gone": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "gone.json"}},
        "Empty": {"type": "aws:cloudformation:stack", "properties": {}},
        "Self": {"type": "cdk:cloud-assembly", "properties": {"directoryName": "."}},
        "Out": {"type": "cdk:cloud-assembly", "properties": {"directoryName": ".."}}}}"#;
    let (stacks, problems) = read(&[("cdk.out/manifest.json", manifest), ("secret.json", STACK)]);
    assert_eq!(stacks, Vec::<String>::new());
    assert_eq!(
        problems,
        [
            "`../secret.json` lies outside the app and is not read",
            "`gone.json` is not there",
            "an artifact of type `aws:cloudformation:stack` has no `templateFile`",
            "`..` lies outside the app and is not read",
        ]
    );
}

#[test]
fn malformed_manifests_are_reported() {
    for (text, expected) in [
        ("{", "unterminated object"),
        ("[]", "has no `artifacts`"),
        (r#"{"artifacts": 3}"#, "has no `artifacts`"),
        ("", "empty"),
    ] {
        let (stacks, problems) = read(&[("cdk.out/manifest.json", text)]);
        assert_eq!(stacks, Vec::<String>::new(), "{text}");
        assert!(
            problems.iter().any(|problem| problem.contains(expected)),
            "{text}: {problems:?}"
        );
    }
}

#[test]
fn environments_are_parsed() {
    let parts = |text| {
        let Environment { account, region, .. } = Environment::parse(text);
        (account, region)
    };
    let both = (Some("123".to_owned()), Some("eu-west-1".to_owned()));
    assert_eq!(parts("aws://123/eu-west-1"), both);
    assert_eq!(parts("aws://unknown-account/eu-west-1"), (None, both.1));
    assert_eq!(parts(""), (None, None));
}
