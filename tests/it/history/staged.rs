//! Checks which units a commit changes, and hooks that check only those.

use super::repository::{FUNCTION, OLD_QUEUE, ProgramOutput, QUEUE, Repository, VISIBILITY};

#[test]
fn staged_files_select_their_units_and_dependents() {
    let template = "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties: {VisibilityTimeout: 10}\n  F:\n    \
        Type: AWS::Lambda::Function\n    Properties: {Timeout: 50}\n  M:\n    Type: AWS::Lambda::EventSourceMapping\n    \
        Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}\n";
    let files = [
        ("a/queue.tf", OLD_QUEUE),
        ("a/main.tf", FUNCTION),
        ("a/terraform.tfvars", "timeout = 50\n"),
        ("b/template.yaml", template),
        ("README.md", "x\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    let staged = ["check", VISIBILITY, "--staged"];
    let hook = [&staged[..], &["--force-exclude", "--allow-empty"]].concat();
    repository
        .sqslint(&staged)
        .is(3, &[])
        .says("what is staged touches no Terraform module");
    repository.write("README.md", "y\n");
    repository.git(&["add", "-A"]);
    repository.sqslint(&[&hook[..], &["README.md"]].concat()).is(0, &[]);
    // Changes that are not staged do not count.
    repository.write("b/template.yaml", &template.replace("50", "60"));
    repository.sqslint(&hook).is(0, &[]);
    repository.git(&["add", "b"]);
    let b = ["b/template.yaml visibility-timeout-below-function-timeout"];
    repository.sqslint(&hook).is(1, &b);
    repository
        .sqslint(&[&hook[..], &["README.md", "b/template.yaml"]].concat())
        .is(1, &b);
    repository.commit();
    repository.git(&["mv", "a/queue.tf", "a/queues.tf"]);
    repository
        .sqslint(&hook)
        .is(1, &["a/queues.tf visibility-timeout-below-function-timeout"]);
}

/// Two modules, each with a finding of its own.
fn two_modules() -> [(&'static str, String); 2] {
    let whole = format!("{OLD_QUEUE}{}", FUNCTION.replace("var.timeout", "50"));
    [("a/main.tf", whole.clone()), ("b/main.tf", whole)]
}

/// Requires that a hook finds `modules`, in a repository of the two modules and `files`, after `change`.
#[track_caller]
fn hook_finds(files: &[(&str, &str)], change: impl FnOnce(&Repository), modules: &[&str]) {
    let own = two_modules();
    let mut all: Vec<(&str, &str)> = own.iter().map(|(name, text)| (*name, text.as_str())).collect();
    all.extend(files);
    let Some(repository) = Repository::new(&all) else {
        return;
    };
    change(&repository);
    repository.git(&["add", "-A"]);
    let run = repository.sqslint(&["check", VISIBILITY, "--staged", "--force-exclude", "--allow-empty"]);
    let found: Vec<String> = modules
        .iter()
        .map(|module| format!("{module}/main.tf visibility-timeout-below-function-timeout"))
        .collect();
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    run.is(i32::from(!found.is_empty()), &found);
}

#[test]
fn staged_configuration_selects_its_units() {
    let ignore = "ignore = [\"visibility\"]\n";
    let text = |text: &'static str| move |repository: &Repository| repository.write("sqslint.toml", text);
    hook_finds(&[], text("fail-level = \"error\"\n"), &["a", "b"]);
    hook_finds(&[("sqslint.toml", ignore)], text(""), &["a", "b"]);
    hook_finds(
        &[("sqslint.toml", ignore)],
        |repository| repository.remove("sqslint.toml"),
        &["a", "b"],
    );
    // A nearer configuration applies instead.
    hook_finds(&[("a/sqslint.toml", "")], text("fail-level = \"error\"\n"), &["b"]);
    hook_finds(
        &[("a/.sqslint.toml", ignore)],
        |repository| repository.remove("a/.sqslint.toml"),
        &["a"],
    );
    // Excluded units remain excluded.
    hook_finds(&[], text("exclude = [\"a\"]\n"), &["b"]);
}

#[test]
fn staged_base_configuration_selects_the_units_of_its_extenders() {
    let files = [
        ("a/sqslint.toml", "extend = \"../team/base.toml\"\n"),
        ("team/base.toml", ""),
    ];
    let change = |repository: &Repository| repository.write("team/base.toml", "fail-level = \"error\"\n");
    hook_finds(&files, change, &["a"]);
}

#[test]
fn staged_baseline_selects_its_units() {
    let empty = "{\"version\": 1, \"entries\": []}\n";
    let default = [(".sqslint-baseline.json", empty)];
    hook_finds(
        &default,
        |repository| repository.write(".sqslint-baseline.json", &empty.replace(", ", ",  ")),
        &["a", "b"],
    );
    hook_finds(
        &default,
        |repository| repository.remove(".sqslint-baseline.json"),
        &["a", "b"],
    );
    let own = [
        ("a/sqslint.toml", "baseline = \"../known.json\"\n"),
        ("known.json", empty),
    ];
    hook_finds(
        &own,
        |repository| repository.write("known.json", &empty.replace(", ", ",  ")),
        &["a"],
    );
}

#[test]
fn staged_file_of_an_environment_selects_its_units() {
    let settings = "[[environment]]\nname = \"prod\"\nvar-files = [\"../env/prod.tfvars\"]\n\
        [[environment]]\nname = \"test\"\nparameters = \"../env/test.json\"\n";
    let files = [
        ("a/sqslint.toml", settings),
        ("env/prod.tfvars", "x = 1\n"),
        ("env/test.json", "{}\n"),
    ];
    hook_finds(
        &files,
        |repository| repository.write("env/prod.tfvars", "x = 2\n"),
        &["a"],
    );
    hook_finds(&files, |repository| repository.write("env/test.json", "{ }\n"), &["a"]);
    hook_finds(&files, |repository| repository.write("env/other.json", "{ }\n"), &[]);
}

#[test]
fn named_file_of_an_environment_is_compared_with_since() {
    let own = two_modules();
    let [(name, text), _] = &own;
    let files = [
        (*name, text.as_str()),
        (
            "a/sqslint.toml",
            "[[environment]]\nname = \"prod\"\nvar-files = [\"../env/prod.tfvars\"]\n",
        ),
        ("env/prod.tfvars", "x = 1\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    repository.branch();
    repository.write("env/prod.tfvars", "x = 2\n");
    let check = ["check", VISIBILITY, "--allow-empty", "env/prod.tfvars"];
    repository
        .sqslint(&check)
        .is(1, &["a/main.tf visibility-timeout-below-function-timeout"]);
    let run = repository.sqslint(&[&check[..], &["--since", "main"]].concat());
    run.is(0, &[]).says("1 more not new since `main`");
}

#[test]
fn staged_samconfig_selects_the_templates_next_to_it() {
    let template = "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties: {VisibilityTimeout: 10}\n  F:\n    \
        Type: AWS::Lambda::Function\n    Properties: {Timeout: 50}\n  M:\n    Type: AWS::Lambda::EventSourceMapping\n    \
        Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}\n";
    let files = [
        ("app/orders.yaml", template),
        ("other/template.yaml", template),
        ("app/samconfig.toml", ""),
        ("app/samconfig.yaml", "version: 0.1\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    for (name, text) in [
        ("app/samconfig.toml", "version = 0.1\n"),
        ("app/samconfig.yaml", "version: 0.2\n"),
    ] {
        repository.write(name, text);
        repository.git(&["add", "-A"]);
        let run = repository.sqslint(&["check", VISIBILITY, "--staged", "--allow-empty"]);
        run.is(1, &["app/orders.yaml visibility-timeout-below-function-timeout"]);
        repository.commit();
    }
}

#[test]
fn push_checks_its_commit_range() {
    let files = [
        ("queue.tf", OLD_QUEUE),
        ("main.tf", FUNCTION),
        ("terraform.tfvars", "timeout = 50\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    repository.write("other.txt", "x");
    repository.commit();
    let run = |from: &str, to: &str| {
        let mut command = repository.command(env!("CARGO_BIN_EXE_sqslint"));
        command.env("PRE_COMMIT_FROM_REF", from).env("PRE_COMMIT_TO_REF", to);
        let output = command
            .args(["check", VISIBILITY, "--staged", "--allow-empty"])
            .output();
        ProgramOutput::of(&output.expect("the program is built"))
    };
    run("HEAD~1", "HEAD").is(0, &[]);
    repository.write("terraform.tfvars", "timeout = 51\n");
    repository.commit();
    run("HEAD~1", "HEAD").is(1, &["queue.tf visibility-timeout-below-function-timeout"]);
    run("nowhere", "HEAD")
        .is(2, &[])
        .says("`nowhere`, which pre-commit names, is no commit here");
}

#[test]
fn first_commit_checks_all_staged_files() {
    let Some(repository) = Repository::new(&[]) else { return };
    repository.git(&["switch", "-q", "--orphan", "first"]);
    repository.write("main.tf", FUNCTION);
    repository.write("queue.tf", OLD_QUEUE);
    repository.write("terraform.tfvars", "timeout = 50\n");
    repository.git(&["add", "-A"]);
    repository
        .sqslint(&["check", VISIBILITY, "--staged"])
        .is(1, &["queue.tf visibility-timeout-below-function-timeout"]);
}

#[test]
fn git_hook_uses_the_index_of_the_commit() {
    let files = [
        ("queue.tf", QUEUE),
        ("main.tf", FUNCTION),
        ("terraform.tfvars", "timeout = 50\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    let hook = repository.path().join(".git/hooks/pre-commit");
    let program = env!("CARGO_BIN_EXE_sqslint");
    let text = format!("#!/bin/sh\nexec '{program}' check {VISIBILITY} --staged --allow-empty\n");
    std::fs::create_dir_all(hook.parent().expect("it has one")).expect("it is writable");
    std::fs::write(&hook, text).expect("it is writable");
    #[cfg(unix)]
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it is ours");
    repository.write("terraform.tfvars", "timeout = 90\n");
    // The index has no changes before; `commit -a` creates a separate index for the hook.
    let mut command = repository.command("git");
    let output = command
        .args(["commit", "-q", "-a", "-m", "x"])
        .output()
        .expect("git is there");
    let run = ProgramOutput::of(&output);
    assert!(!output.status.success());
    assert!(run.errors.contains("1 error in 1 module"), "{}", run.errors);
}

#[test]
fn hook_with_unsupported_files_succeeds() {
    let Some(repository) = Repository::new(&[("notes.json", "{}"), ("prod.tfvars", "a = 1\n")]) else {
        return;
    };
    repository
        .sqslint(&["check", "notes.json"])
        .is(2, &[])
        .says("is not something sqslint can check");
    repository
        .sqslint(&["check", "--allow-empty", "notes.json", "prod.tfvars"])
        .is(0, &[]);
}
