//! What is new since a commit, what a commit touches, and what a baseline holds: the program run in repositories made
//! in temporary directories.
#![allow(clippy::print_stderr, reason = "says why a test is skipped")]

use sqslint::testing::TemporaryDirectory;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A repository in a directory that is removed.
struct Repository(TemporaryDirectory);

impl Repository {
    /// With these files committed on `main`; `None`, with a message, where there is no git.
    fn new(files: &[(&str, &str)]) -> Option<Self> {
        if Command::new("git").arg("--version").output().is_err() {
            eprintln!("skipped: there is no git");
            return None;
        }
        let repository = Repository(TemporaryDirectory::with_files(files.iter().copied()));
        repository.git(&["init", "-q", "-b", "main"]);
        repository.commit();
        Some(repository)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn git(&self, arguments: &[&str]) {
        let output = self.command("git").args(arguments).output().expect("git is there");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {complaint}");
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    /// On a branch of its own.
    fn branch(&self) {
        self.git(&["switch", "-q", "-c", "work"]);
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("it is writable");
        std::fs::write(path, text).expect("it is writable");
    }

    fn remove(&self, name: &str) {
        std::fs::remove_file(self.path().join(name)).expect("it is there");
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path());
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@example.com"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@example.com"),
            ("SQSLINT_FORMAT", "concise"),
            ("NO_COLOR", "1"),
        ] {
            command.env(name, value);
        }
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF"] {
            command.env_remove(name);
        }
        command
    }

    fn sqslint(&self, arguments: &[&str]) -> Run {
        let output = self.command(env!("CARGO_BIN_EXE_sqslint")).args(arguments).output();
        Run::of(&output.expect("the program is built"))
    }

    fn sqslint_with(&self, arguments: &[&str], text: &str) -> Run {
        let mut command = self.command(env!("CARGO_BIN_EXE_sqslint"));
        let command = command.args(arguments).stdin(Stdio::piped());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program is built");
        let mut input = child.stdin.take().expect("it is piped");
        std::io::Write::write_all(&mut input, text.as_bytes()).expect("it is read");
        drop(input);
        Run::of(&child.wait_with_output().expect("it ends"))
    }
}

struct Run {
    code: Option<i32>,
    /// The rules of the findings, with their files.
    findings: Vec<String>,
    errors: String,
}

impl Run {
    fn of(output: &Output) -> Self {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let findings = text.lines().filter_map(|line| {
            let (place, rest) = line.split_once(": ")?;
            let file = place.split(':').next()?;
            let rule = rest.split_once('[')?.1.split_once(']')?.0;
            Some(format!("{file} {rule}"))
        });
        Run {
            code: output.status.code(),
            findings: findings.collect(),
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    #[track_caller]
    fn is(&self, code: i32, findings: &[&str]) -> &Self {
        assert_eq!(self.findings, findings, "{}", self.errors);
        assert_eq!(self.code, Some(code), "{}", self.errors);
        self
    }

    #[track_caller]
    fn says(&self, text: &str) -> &Self {
        assert!(self.errors.contains(text), "`{text}` is not in:\n{}", self.errors);
        self
    }
}

const VISIBILITY: &str = "--select=visibility-timeout-below-function-timeout";
const REDRIVE: &str = "--select=redrive-policy-missing";

/// A queue with its own numbers, a function with that of a variable, and what stands between them.
const QUEUE: &str = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 60\n}\n";
const FUNCTION: &str = "variable \"timeout\" {}\n\
    resource \"aws_lambda_function\" \"f\" {\n  timeout = var.timeout\n}\n\
    resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = aws_sqs_queue.q.arn\n  \
    function_name = aws_lambda_function.f.arn\n}\n";

const OLD_QUEUE: &str = "resource \"aws_sqs_queue\" \"old\" {\n  visibility_timeout_seconds = 10\n}\n\
    resource \"aws_lambda_event_source_mapping\" \"old\" {\n  event_source_arn = aws_sqs_queue.old.arn\n  \
    function_name = aws_lambda_function.f.arn\n}\n";

#[test]
fn what_only_moves_is_not_new() {
    let files = [
        ("queue.tf", QUEUE),
        ("main.tf", FUNCTION),
        ("old.tf", OLD_QUEUE),
        ("terraform.tfvars", "timeout = 50\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    repository.branch();
    repository.remove("old.tf");
    repository.write(
        "main.tf",
        &format!("# moved\n\n{}\n{FUNCTION}", OLD_QUEUE.replace("  ", "\t\t")),
    );
    repository.commit();
    repository
        .sqslint(&["check", VISIBILITY])
        .is(1, &["main.tf visibility-timeout-below-function-timeout"]);
    let run = repository.sqslint(&["check", VISIBILITY, "--since", "main"]);
    run.is(0, &[]).says("1 more not new since `main`");
}

#[test]
fn a_number_raised_in_a_variable_file_is_new() {
    let files = [
        ("queue.tf", QUEUE),
        ("main.tf", FUNCTION),
        ("old.tf", OLD_QUEUE),
        ("terraform.tfvars", "timeout = 50\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    repository.branch();
    repository.write("terraform.tfvars", "timeout = 90\n");
    let new = ["queue.tf visibility-timeout-below-function-timeout"];
    repository
        .sqslint(&["check", VISIBILITY, "--since", "main"])
        .is(1, &new);
    // Neither do later commits on the other branch matter, nor from where it is looked.
    repository.commit();
    repository.git(&["switch", "-q", "main"]);
    repository.write("terraform.tfvars", "timeout = 95\n");
    repository.commit();
    repository.git(&["switch", "-q", "work"]);
    repository
        .sqslint(&["check", VISIBILITY, "--since", "main", "queue.tf"])
        .is(1, &new);
}

#[test]
fn values_of_the_command_line_and_of_environments_have_a_history_too() {
    let settings = "[[environment]]\nname = \"prod\"\nvar-files = [\"env/prod.tfvars\"]\n";
    let files = [
        ("queue.tf", QUEUE),
        ("main.tf", FUNCTION),
        ("env/prod.tfvars", "timeout = 50\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    repository.branch();
    repository.write("env/prod.tfvars", "timeout = 90\n");
    let new = ["queue.tf visibility-timeout-below-function-timeout"];
    let since = ["check", VISIBILITY, "--since", "main"];
    repository
        .sqslint(&[&since[..], &["--var-file", "env/prod.tfvars"]].concat())
        .is(1, &new);
    // The configuration is that of the working tree, on both sides.
    repository.write("sqslint.toml", settings);
    repository.sqslint(&since).is(1, &new);
    repository.write("env/prod.tfvars", "timeout = 50\n");
    repository.write("queue.tf", &QUEUE.replace("60", "40"));
    repository.commit();
    repository.sqslint(&["check", VISIBILITY, "--since", "HEAD"]).is(0, &[]);
}

#[test]
fn a_deleted_redrive_policy_is_new() {
    let policy = "resource \"aws_sqs_queue_redrive_policy\" \"q\" {\n  queue_url = aws_sqs_queue.q.id\n  redrive_policy = \
        jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })\n}\n\
        resource \"aws_sqs_queue\" \"d\" {}\n";
    let files = [("queue.tf", QUEUE), ("main.tf", FUNCTION), ("redrive.tf", policy)];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    repository.sqslint(&["check", REDRIVE, "--since", "main"]).is(0, &[]);
    repository.remove("redrive.tf");
    repository
        .sqslint(&["check", REDRIVE, "--since", "main"])
        .is(1, &["queue.tf redrive-policy-missing"]);
    // And by a hook, which is handed no name of a deleted file.
    repository.git(&["add", "-A"]);
    let hook = ["check", REDRIVE, "--staged", "--force-exclude", "--allow-empty"];
    repository.sqslint(&hook).is(1, &["queue.tf redrive-policy-missing"]);
}

#[test]
fn what_cannot_be_compared_is_a_failure() {
    let files = [("queue.tf", QUEUE), ("main.tf", FUNCTION)];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    let run = repository.sqslint(&["check", "--since", "nowhere"]);
    run.is(2, &[])
        .says("`--since nowhere`: there is no such commit or branch here");
    repository
        .sqslint(&["check", "--since=--upload-pack=x"])
        .is(2, &[])
        .says("no such commit");
    repository.git(&["switch", "-q", "--orphan", "other"]);
    repository.write("queue.tf", QUEUE);
    repository.commit();
    repository
        .sqslint(&["check", "--since", "main"])
        .is(2, &[])
        .says("no commit in common");
    let plain = Repository(TemporaryDirectory::with_files([("queue.tf", QUEUE)]));
    plain
        .sqslint(&["check", "--since", "main"])
        .is(2, &[])
        .says("this is not a git repository");
    plain
        .sqslint(&["check", "--staged"])
        .is(2, &[])
        .says("this is not a git repository");
    plain.git(&["init", "-q"]);
    plain
        .sqslint(&["check", "--since", "main"])
        .is(2, &[])
        .says("there is no commit yet");
}

#[test]
fn a_shallow_clone_says_what_to_fetch() {
    let Some(repository) = Repository::new(&[("queue.tf", QUEUE)]) else {
        return;
    };
    repository.commit();
    repository.branch();
    repository.commit();
    let clone = Repository(TemporaryDirectory::with_files([]));
    let from = format!("file://{}", repository.path().display());
    clone.git(&[
        "clone",
        "-q",
        "--depth",
        "1",
        "--branch",
        "work",
        "--no-single-branch",
        &from,
        "c",
    ]);
    let run = |name: &str| clone.sqslint(&["check", "c", "--since", name]);
    run("origin/main").is(2, &[]).says("fetch-depth: 0");
    run("v1").is(2, &[]).says("fetch-depth: 0");
}

#[test]
fn what_a_partial_clone_lacks_is_told() {
    let Some(repository) = Repository::new(&[("queue.tf", QUEUE)]) else {
        return;
    };
    repository.git(&["config", "uploadpack.allowFilter", "true"]);
    repository.branch();
    repository.write("queue.tf", OLD_QUEUE);
    repository.commit();
    let clone = Repository(TemporaryDirectory::with_files([]));
    let from = format!("file://{}", repository.path().display());
    clone.git(&["clone", "-q", "--filter=blob:none", "--branch", "work", &from, "c"]);
    let run = clone.sqslint(&["check", "c", "--since", "origin/main"]);
    assert_eq!(run.code, Some(2), "{}", run.errors);
}

#[test]
fn submodules_are_compared_at_their_own_commits() {
    let whole = format!("{OLD_QUEUE}{}", FUNCTION.replace("var.timeout", "50"));
    let (Some(inner), Some(outer)) = (
        Repository::new(&[("main.tf", &whole)]),
        Repository::new(&[("queue.tf", QUEUE)]),
    ) else {
        return;
    };
    let from = inner.path().display().to_string();
    outer.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        &from,
        "sub",
    ]);
    outer.commit();
    let check = ["check", VISIBILITY, ".", "--since", "main"];
    outer.sqslint(&check).is(0, &[]).says("1 more not new");
    outer.write("sub/more.tf", &OLD_QUEUE.replace("old", "more"));
    outer
        .sqslint(&check)
        .is(1, &["sub/more.tf visibility-timeout-below-function-timeout"]);
}

#[test]
fn odd_names_and_modules_and_settings_of_the_repository_do_no_harm() {
    let files = [
        (
            "modules/q/queue.tf",
            "variable \"seconds\" {}\nresource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = var.seconds\n}\noutput \"arn\" {\n  value = aws_sqs_queue.q.arn\n}\n",
        ),
        (
            "live/ä b/main.tf",
            "module \"q\" {\n  source = \"../../modules/q\"\n  seconds = 60\n}\nresource \"aws_lambda_function\" \"f\" {\n  timeout = 50\n}\nresource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = module.q.arn\n  function_name = aws_lambda_function.f.arn\n}\n",
        ),
        #[cfg(unix)]
        ("live/new\nline.yaml", "a: b\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    let harm = repository.path().join("harm");
    let program = format!("touch {}", harm.display());
    for name in [
        "core.fsmonitor",
        "core.sshCommand",
        "diff.external",
        "filter.x.smudge",
        "filter.x.clean",
        "core.pager",
    ] {
        repository.git(&["config", name, &program]);
    }
    repository.write(".git/info/attributes", "* filter=x\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc", repository.path().join("link")).expect("it is writable");
    let module = repository.path().join("modules/q/queue.tf");
    let text = std::fs::read_to_string(&module).expect("it is there");
    std::fs::write(&module, text.replace("= var.seconds", "= var.seconds - 20")).expect("it is writable");
    let new = ["modules/q/queue.tf visibility-timeout-below-function-timeout"];
    repository
        .sqslint(&["check", VISIBILITY, "--since", "main"])
        .is(1, &new);
    // The called module's file is named, and its caller is judged.
    repository
        .sqslint(&["check", VISIBILITY, "modules/q/queue.tf"])
        .is(1, &new);
    assert!(!harm.exists(), "a program of the repository's configuration was run");
}

#[test]
fn nothing_is_left_behind() {
    let Some(repository) = Repository::new(&[("queue.tf", QUEUE)]) else {
        return;
    };
    let place = TemporaryDirectory::with_files([]);
    let mut command = repository.command(env!("CARGO_BIN_EXE_sqslint"));
    command.env("TMPDIR", place.path()).args(["check", "--since", "main"]);
    assert_eq!(command.output().expect("the program is built").status.code(), Some(0));
    let left = std::fs::read_dir(place.path()).expect("it is there").count();
    assert_eq!(left, 0);
}

#[test]
fn staged_files_select_their_units_and_those_that_depend_on_them() {
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
    // What is not staged is not touched.
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

/// Two modules that take too long, each with its own numbers.
fn two_modules() -> [(&'static str, String); 2] {
    let whole = format!("{OLD_QUEUE}{}", FUNCTION.replace("var.timeout", "50"));
    [("a/main.tf", whole.clone()), ("b/main.tf", whole)]
}

/// What a hook finds in a repository of the two modules and `files` after `change`.
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
fn a_configuration_touches_what_it_holds_for() {
    let ignore = "ignore = [\"visibility\"]\n";
    let text = |text: &'static str| move |repository: &Repository| repository.write("sqslint.toml", text);
    hook_finds(&[], text("fail-level = \"error\"\n"), &["a", "b"]);
    hook_finds(&[("sqslint.toml", ignore)], text(""), &["a", "b"]);
    hook_finds(
        &[("sqslint.toml", ignore)],
        |repository| repository.remove("sqslint.toml"),
        &["a", "b"],
    );
    // A nearer one holds in its place.
    hook_finds(&[("a/sqslint.toml", "")], text("fail-level = \"error\"\n"), &["b"]);
    hook_finds(
        &[("a/.sqslint.toml", ignore)],
        |repository| repository.remove("a/.sqslint.toml"),
        &["a"],
    );
    // What is excluded stays so.
    hook_finds(&[], text("exclude = [\"a\"]\n"), &["b"]);
}

#[test]
fn what_a_configuration_extends_touches_what_that_holds_for() {
    let files = [
        ("a/sqslint.toml", "extend = \"../team/base.toml\"\n"),
        ("team/base.toml", ""),
    ];
    let change = |repository: &Repository| repository.write("team/base.toml", "fail-level = \"error\"\n");
    hook_finds(&files, change, &["a"]);
}

#[test]
fn a_baseline_touches_what_it_holds_for() {
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
fn a_file_of_an_environment_touches_what_that_holds_for() {
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
fn a_file_of_an_environment_has_a_history_where_it_is_named() {
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
fn arguments_of_sam_touch_the_templates_beside_them() {
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
fn a_push_is_judged_by_its_range() {
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
        Run::of(&output.expect("the program is built"))
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
fn a_hook_in_a_repository_without_commits_judges_everything_that_is_staged() {
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
fn a_real_hook_sees_its_own_index() {
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
    // Nothing is in the index before; `commit -a` makes another one for the hook.
    let mut command = repository.command("git");
    let output = command
        .args(["commit", "-q", "-a", "-m", "x"])
        .output()
        .expect("git is there");
    let run = Run::of(&output);
    assert!(!output.status.success());
    assert!(run.errors.contains("1 error in 1 module"), "{}", run.errors);
}

#[test]
fn a_baseline_holds_what_was_found() {
    let files = [
        ("queue.tf", OLD_QUEUE),
        ("main.tf", FUNCTION),
        ("terraform.tfvars", "timeout = 50\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    let check = ["check", VISIBILITY];
    let old = "queue.tf visibility-timeout-below-function-timeout";
    repository.sqslint(&["baseline", "create"]).is(0, &[]);
    repository.sqslint(&check).is(0, &[]).says("1 more in the baseline");
    repository
        .sqslint(&[&check[..], &["--no-baseline"]].concat())
        .is(1, &[old]);
    repository
        .sqslint(&["baseline", "create"])
        .is(2, &[])
        .says("is there already");
    // Moved and reformatted, it is the same; a second one is new.
    repository.write("queue.tf", &format!("\n\n{}", OLD_QUEUE.replace("= 10", "=   20")));
    repository.sqslint(&check).is(0, &[]);
    repository.write("more.tf", &OLD_QUEUE.replace("old", "more"));
    repository
        .sqslint(&check)
        .is(1, &["more.tf visibility-timeout-below-function-timeout"]);
    // A reason stays.
    let file = repository.path().join(".sqslint-baseline.json");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let marked = text.replacen("\n    }", ",\n      \"reason\": \"we know\"\n    }", 1);
    std::fs::write(&file, marked).expect("it is writable");
    repository.sqslint(&["baseline", "update"]).is(0, &[]);
    repository.sqslint(&check).is(0, &[]).says("2 more in the baseline");
    assert!(std::fs::read_to_string(&file).expect("it is there").contains("we know"));
    // What is gone is told, and goes.
    repository.remove("queue.tf");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let stale = repository.sqslint(&check);
    stale
        .is(0, &[])
        .says("1 entry is stale in `.sqslint-baseline.json`; `sqslint baseline prune`");
    repository.sqslint(&["baseline", "prune"]).is(0, &[]);
    let pruned = std::fs::read_to_string(&file).expect("it is there");
    assert!(pruned.len() < text.len());
    assert!(!repository.sqslint(&check).is(0, &[]).errors.contains("stale"));
    repository.sqslint(&["baseline", "update"]).is(0, &[]);
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), pruned);
}

#[test]
fn a_part_of_the_rules_or_of_the_files_makes_no_entry_stale() {
    let files = [
        ("a/queue.tf", OLD_QUEUE),
        ("a/main.tf", FUNCTION),
        ("a/terraform.tfvars", "timeout = 50\n"),
        ("b/queue.tf", QUEUE),
        ("sqslint.toml", "baseline = \"known.json\"\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    let run = repository.sqslint(&["check", VISIBILITY, "a"]);
    run.is(2, &["a/queue.tf visibility-timeout-below-function-timeout"])
        .says("there is no baseline");
    repository.sqslint(&["baseline", "create"]).is(0, &[]);
    assert!(repository.path().join("known.json").is_file());
    for part in [&["check", REDRIVE][..], &["check", "b"], &["check", "b/queue.tf"]] {
        let run = repository.sqslint(part);
        assert!(!run.is(0, &[]).errors.contains("stale"), "{part:?}: {}", run.errors);
    }
    std::fs::remove_dir_all(repository.path().join("a")).expect("it is there");
    assert!(!repository.sqslint(&["check", "b"]).errors.contains("stale"));
    repository.sqslint(&["check", VISIBILITY]).is(0, &[]).says("stale");
}

#[test]
fn a_broken_baseline_is_a_failure_with_its_place() {
    let files = [
        ("queue.tf", QUEUE),
        ("b.json", "{\"version\": 1,\n  \"entries\": [{]}\n"),
        ("c.json", "{\"version\": 9, \"entries\": []}"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    let run = |file: &str| repository.sqslint(&["check", VISIBILITY, "--baseline", file, "queue.tf"]);
    run("b.json").is(2, &[]).says("b.json:2:16: not a baseline");
    run("c.json").is(2, &[]).says("version 9");
    run("d.json").is(2, &[]).says("there is no baseline");
}

#[test]
fn what_cannot_be_parsed_is_in_no_baseline() {
    let Some(repository) = Repository::new(&[("queue.tf", "resource {{")]) else {
        return;
    };
    repository.sqslint(&["baseline", "create"]).is(0, &[]);
    repository.sqslint(&["check"]).is(1, &["queue.tf parse-error"]);
    repository
        .sqslint(&["check", "--since", "main"])
        .is(1, &["queue.tf parse-error"]);
}

#[test]
fn a_buffer_is_judged_among_its_neighbours() {
    let files = [
        ("queue.tf", QUEUE),
        ("main.tf", FUNCTION),
        ("terraform.tfvars", "timeout = 50\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    let buffer =
        |name: &str, text: &str| repository.sqslint_with(&["check", VISIBILITY, "--stdin-filename", name, "-"], text);
    buffer("queue.tf", QUEUE).is(0, &[]);
    buffer("queue.tf", &QUEUE.replace("60", "40")).is(1, &["queue.tf visibility-timeout-below-function-timeout"]);
    buffer("terraform.tfvars", "timeout = 90\n").is(1, &["queue.tf visibility-timeout-below-function-timeout"]);
    // A file that is not saved yet.
    buffer("new.tf", OLD_QUEUE).is(1, &["new.tf visibility-timeout-below-function-timeout"]);
    buffer("nowhere/new.tf", OLD_QUEUE)
        .is(2, &[])
        .says("its directory does not exist");
    buffer("notes.md", "x").is(2, &[]).says("is no unit");
    repository
        .sqslint(&["check", "--stdin-filename", "queue.tf", "."])
        .is(2, &[])
        .says("needs `-`");
}

#[test]
fn a_text_without_a_name_is_told_by_its_content() {
    let Some(repository) = Repository::new(&[("queue.tf", QUEUE)]) else {
        return;
    };
    let run = |text: &str| repository.sqslint_with(&["check", VISIBILITY, "-"], text);
    let whole = format!("{OLD_QUEUE}{}", FUNCTION.replace("var.timeout", "50"));
    run(&whole).is(1, &["<stdin>/main.tf visibility-timeout-below-function-timeout"]);
    run("Resources:\n  Q:\n    Type: AWS::SQS::Queue\n").is(0, &[]);
    run("hello\n").is(2, &[]).says("standard input is no unit");
}

#[test]
fn what_git_ignores_is_checked_where_that_is_asked_for() {
    let whole = format!("{OLD_QUEUE}{}", FUNCTION.replace("var.timeout", "50"));
    let files = [
        ("out/main.tf", whole.as_str()),
        (".gitignore", "out/\n"),
        ("queue.tf", QUEUE),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    repository.sqslint(&["check", VISIBILITY]).is(0, &[]);
    repository
        .sqslint(&["check", VISIBILITY, "--no-gitignore"])
        .is(1, &["out/main.tf visibility-timeout-below-function-timeout"]);
}

#[test]
fn a_hook_that_hands_over_every_changed_file_is_no_failure() {
    let Some(repository) = Repository::new(&[("notes.json", "{}"), ("prod.tfvars", "a = 1\n")]) else {
        return;
    };
    repository
        .sqslint(&["check", "notes.json"])
        .is(2, &[])
        .says("is no unit");
    repository
        .sqslint(&["check", "--allow-empty", "notes.json", "prod.tfvars"])
        .is(0, &[]);
}

#[test]
fn what_is_known_is_shown_on_request() {
    let queue = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n";
    let Some(repository) = Repository::new(&[("main.tf", queue)]) else {
        return;
    };
    repository.branch();
    let shown = |arguments: &[&str]| -> serde_json::Value {
        let mut command = repository.command(env!("CARGO_BIN_EXE_sqslint"));
        let check = [
            "check",
            "--select",
            "visibility",
            "--format",
            "json",
            "--show-suppressed",
        ];
        let output = command
            .args(check)
            .args(arguments)
            .output()
            .expect("the program is built");
        serde_json::from_slice(&output.stdout).expect("it is JSON")
    };
    let since = shown(&["--since", "main"]);
    assert_eq!(since["suppressed"][0]["since"], "main");
    assert_eq!(since["suppressed"][0]["baseline"], serde_json::Value::Null);
    repository.sqslint(&["baseline", "create"]).is(0, &[]);
    let path = repository.path().join(".sqslint-baseline.json");
    let entry = std::fs::read_to_string(&path).expect("it is written");
    let with_reason = entry.replace("\"fingerprint\"", "\"reason\": \"polled by hand\", \"fingerprint\"");
    std::fs::write(path, with_reason).expect("it is writable");
    // What is in both is said of the file that somebody looks after.
    let baseline = shown(&["--since", "main"]);
    assert_eq!(baseline["suppressed"].as_array().map(Vec::len), Some(1), "{baseline}");
    assert_eq!(baseline["suppressed"][0]["baseline"], ".sqslint-baseline.json");
    assert_eq!(baseline["suppressed"][0]["reason"], "polled by hand");
    assert_eq!(baseline["suppressed"][0]["suppression"], serde_json::Value::Null);
    repository
        .sqslint(&["check", "--select", "visibility"])
        .is(0, &[])
        .says("1 more in the baseline");
}
