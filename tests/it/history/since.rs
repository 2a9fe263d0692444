//! Checks findings that are new since a commit.

use super::repository::{FUNCTION, OLD_QUEUE, QUEUE, REDRIVE, Repository, VISIBILITY};
use sqslint::testing::TemporaryDirectory;

#[test]
fn moved_finding_is_not_new() {
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
fn queue_with_another_name_or_type_is_replaced() {
    let terraform = |queue: &str, mapping: &str| {
        format!(
            "variable \"open\" {{}}\nresource \"aws_sqs_queue\" \"q\" {{\n  {queue}\n}}\nresource \"aws_lambda_event_source_mapping\" \"m\" \
             {{\n  event_source_arn = {mapping}\n  function_name = \"f\"\n}}\n"
        )
    };
    let template = |queue: &str, mapping: &str| {
        format!(
            "Resources:\n  Q: {{Type: AWS::SQS::Queue, Properties: {{{queue}}}}}\n  M:\n    Type: AWS::Lambda::EventSourceMapping\n    \
             Properties: {{EventSourceArn: {mapping}, FunctionName: f}}\n"
        )
    };
    let (consumed, other) = ("aws_sqs_queue.q.arn", "\"arn:aws:sqs:eu-west-1:111122223333:other\"");
    for (file, before, after, is_replaced) in [
        (
            "main.tf",
            terraform("name = \"a\"", consumed),
            terraform("name = \"b\"", consumed),
            true,
        ),
        (
            "main.tf",
            terraform("name = \"a\"", consumed),
            terraform("", consumed),
            true,
        ),
        (
            "main.tf",
            terraform("", consumed),
            terraform("fifo_queue = true", consumed),
            true,
        ),
        (
            "main.tf",
            terraform("name = \"a\"", consumed),
            terraform("name = \"a\"\ndelay_seconds = 5", consumed),
            false,
        ),
        (
            "main.tf",
            terraform("name = \"a\"", consumed),
            terraform("name = var.open", consumed),
            false,
        ),
        (
            "main.tf",
            terraform("name = \"a\"", other),
            terraform("name = \"b\"", other),
            false,
        ),
        ("main.tf", String::new(), terraform("name = \"b\"", consumed), false),
        (
            "t.yaml",
            template("QueueName: a", "!GetAtt Q.Arn"),
            template("QueueName: b", "!GetAtt Q.Arn"),
            true,
        ),
        (
            "t.yaml",
            template("QueueName: a", "!GetAtt Q.Arn"),
            template("QueueName: a, DelaySeconds: 5", "!GetAtt Q.Arn"),
            false,
        ),
    ] {
        let Some(repository) = Repository::new(&[(file, &before)]) else {
            return;
        };
        repository.branch();
        repository.write(file, &after);
        let new = format!("{file} queue-replaced");
        let new: &[&str] = if is_replaced { &[&new] } else { &[] };
        let run = repository.sqslint(&["check", "--select", "queue-replaced", "--since", "main"]);
        run.is(i32::from(is_replaced), new);
        repository.sqslint(&["check", "--select", "queue-replaced"]).is(0, &[]);
    }
}

#[test]
fn finding_from_a_changed_variable_file_is_new() {
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
    // Later commits on the other branch do not matter, nor does the path that is checked.
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
fn variable_files_of_inputs_and_environments_are_compared() {
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
    // Both sides use the configuration of the working tree.
    repository.write("sqslint.toml", settings);
    repository.sqslint(&since).is(1, &new);
    repository.write("env/prod.tfvars", "timeout = 50\n");
    repository.write("queue.tf", &QUEUE.replace("60", "40"));
    repository.commit();
    repository.sqslint(&["check", VISIBILITY, "--since", "HEAD"]).is(0, &[]);
}

#[test]
fn finding_from_a_deleted_file_is_new() {
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
    // A hook must report it as well, although it receives no name of the deleted file.
    repository.git(&["add", "-A"]);
    let hook = ["check", REDRIVE, "--staged", "--force-exclude", "--allow-empty"];
    repository.sqslint(&hook).is(1, &["queue.tf redrive-policy-missing"]);
}

#[test]
fn impossible_comparison_is_an_error() {
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
fn error_in_a_shallow_clone_suggests_what_to_fetch() {
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
fn missing_objects_in_a_partial_clone_are_an_error() {
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
fn unusual_names_and_repository_settings_are_harmless() {
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
    // The file of a called module is named, so its caller is checked.
    repository
        .sqslint(&["check", VISIBILITY, "modules/q/queue.tf"])
        .is(1, &new);
    assert!(!harm.exists(), "a program of the repository's configuration was run");
}

#[test]
fn temporary_files_are_removed() {
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
fn function_source_is_compared() {
    let template = "Transform: AWS::Serverless-2016-10-31
Resources:
  Q:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: src/
      Handler: app.handler
      Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}}
";
    let quiet = "def handler(event, context):\n    work(event)\n";
    let reporting = "def handler(event, context):\n    return {'batchItemFailures': work(event)}\n";
    let Some(repository) = Repository::new(&[("template.yaml", template), ("src/app.py", quiet)]) else {
        return;
    };
    repository.branch();
    let select = "--select=batch-item-failures-ignored";
    repository.sqslint(&["check", select, "--since", "main"]).is(0, &[]);
    repository.write("src/app.py", reporting);
    repository
        .sqslint(&["check", select, "--since", "main"])
        .is(1, &["template.yaml batch-item-failures-ignored"]);
    repository.commit();
    repository.sqslint(&["check", select, "--since", "work"]).is(0, &[]);
}

#[test]
fn race_of_a_new_mapping_is_a_warning() {
    const RULE: &str = "--select=created-before-permission";
    let roles = "resource \"aws_iam_role\" \"r\" {}\n\
        resource \"aws_iam_role_policy\" \"p\" {\n  role = aws_iam_role.r.id\n  policy = \
        jsonencode({ Statement = [{ Effect = \"Allow\", Action = \"sqs:*\", Resource = \"*\" }] })\n}\n\
        resource \"aws_sqs_queue\" \"q\" {}\n\
        resource \"aws_lambda_function\" \"f\" {\n  function_name = \"f\"\n  role = aws_iam_role.r.arn\n}\n";
    let mapping = |name: &str| {
        format!(
            "resource \"aws_lambda_event_source_mapping\" \"{name}\" {{\n  event_source_arn = aws_sqs_queue.q.arn\n  \
            function_name = aws_lambda_function.f.arn\n}}\n"
        )
    };
    let old = ["a", "b"].map(mapping).concat();
    let Some(repository) = Repository::new(&[("main.tf", roles), ("old.tf", &old)]) else {
        return;
    };
    repository.branch();
    // Existing mappings are an info, once per unit, and do not fail the run.
    let run = repository.sqslint(&["check", RULE, "--min-severity", "info"]);
    run.is(0, &["old.tf created-before-permission"]);
    repository.write("new.tf", &mapping("c"));
    repository.commit();
    let run = repository.sqslint(&["check", RULE, "--since", "main"]);
    run.is(1, &["new.tf created-before-permission"]);
}
