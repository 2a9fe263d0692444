//! Checks what `sqslint review` and `check --since` say of a change.

use super::repository::Repository;

const MAIN: &str = r#"
resource "aws_sqs_queue" "orders" {
  visibility_timeout_seconds = <visibility>
}
resource "aws_lambda_function" "fulfil" {
  timeout = <timeout>
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn                   = aws_sqs_queue.orders.arn
  function_name                      = aws_lambda_function.fulfil.arn
  maximum_batching_window_in_seconds = <window>
}
variable "timeout" {
  default = 30
}
"#;

fn main(visibility: &str, timeout: &str, window: &str) -> String {
    let text = MAIN.replace("<visibility>", visibility).replace("<timeout>", timeout);
    text.replace("<window>", window)
}

/// Returns what `review` prints for the change from `before` to `after` in `main.tf`.
fn reviewed(before: &str, after: &str, format: &str) -> Option<String> {
    let repository = Repository::new(&[("main.tf", before)])?;
    repository.branch();
    repository.write("main.tf", after);
    repository.commit();
    let arguments = ["review", "--since", "main", "--format", format];
    let output = repository
        .command(env!("CARGO_BIN_EXE_sqslint"))
        .args(arguments)
        .output();
    let output = output.expect("the program is built");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn cause_comes_first_with_its_line_and_consequence() {
    let raised = "main.tf:6 raises the timeout of `aws_lambda_function.fulfil` from 30 to 120 s: ";
    let queue = "`aws_sqs_queue.orders`";
    for (before, after, first) in [
        (
            main("180", "30", "0"),
            main("180", "120", "0"),
            format!("{raised}{queue} must go from 180 to 720 s"),
        ),
        // Still enough, with a smaller margin.
        (
            main("900", "30", "0"),
            main("900", "120", "0"),
            format!("{raised}{queue} keeps 180 s of the 720 s that it had to spare"),
        ),
        (
            main("720", "30", "0"),
            main("720", "120", "0"),
            format!("{raised}{queue} keeps 0 s of the 540 s that it had to spare"),
        ),
        (
            main("180", "30", "0"),
            main("180", "30", "60"),
            format!(
                "main.tf:11 raises the batching window of {queue} from 0 to 60 s: {queue} must go from 180 to 240 s"
            ),
        ),
        (
            main("100", "30", "0"),
            main("180", "30", "0"),
            format!(
                "main.tf:3 raises the visibility timeout of {queue} from 100 to 180 s: {queue} now has the 180 s that it needs"
            ),
        ),
        // A value that is not known any more is not shown as unchanged.
        (
            main("180", "30", "0"),
            main("180", "var.open", "0"),
            format!("a number of {queue} → `aws_lambda_function.fulfil` is no longer known"),
        ),
        (
            main("180", "30", "0"),
            main("180", "30", "0") + "\n",
            "no number of a link changed since `main` (1 queue and 1 mapping looked at)".to_owned(),
        ),
    ] {
        let Some(text) = reviewed(&before, &after, "text") else {
            return;
        };
        assert_eq!(text.lines().next(), Some(&*first), "{text}");
    }
}

#[test]
fn numbers_findings_and_timelines_are_compared() {
    let (before, after) = (main("180", "30", "0"), main("180", "120", "0"));
    let Some(text) = reviewed(&before, &after, "markdown") else {
        return;
    };
    for part in [
        "<!-- sqslint -->\n## sqslint\n\n**1 new, 0 worse, ",
        "| `aws_sqs_queue.orders` → `aws_lambda_function.fulfil` | 180 s | 30 → 120 s | 0 s | 180 → 720 s | 0 → −540 s |  |",
        "```text\nbefore\n",
        "- visibility_timeout_seconds = 180\n+ visibility_timeout_seconds = 720\n",
        "| warning | `visibility-timeout-too-short` | duplicates | `main.tf:3` |",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let json = reviewed(&before, &after, "json").unwrap_or_default();
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["links"][0]["before"]["margin"], 0);
    assert_eq!(json["links"][0]["after"]["margin"], -540);
    assert_eq!(json["resolved"].as_array().map(Vec::len), Some(0), "{json}");
}

#[test]
fn environment_of_a_changed_file_is_named() {
    let root = main("180", "var.timeout", "0");
    let files = [
        ("main.tf", &*root),
        ("env/dev.tfvars", "timeout = 30\n"),
        ("env/prod.tfvars", "timeout = 30\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    repository.branch();
    repository.write("env/prod.tfvars", "timeout = 60\n");
    repository.commit();
    let output = repository
        .command(env!("CARGO_BIN_EXE_sqslint"))
        .args(["review", "--since", "main"])
        .output();
    let text = String::from_utf8_lossy(&output.expect("the program is built").stdout).into_owned();
    let first = "env/prod.tfvars:1 raises the timeout of `aws_lambda_function.fulfil` from 30 to 60 s: \
                 `aws_sqs_queue.orders` must go from 180 to 360 s (in prod)";
    assert_eq!(text.lines().next(), Some(first), "{text}");
}

#[test]
fn annotation_of_a_new_finding_is_at_the_changed_line() {
    let Some(repository) = Repository::new(&[("main.tf", &main("180", "30", "0"))]) else {
        return;
    };
    repository.branch();
    repository.write("main.tf", &main("180", "120", "0"));
    repository.commit();
    let lines = |arguments: &[&str]| {
        let output = repository
            .command(env!("CARGO_BIN_EXE_sqslint"))
            .args(arguments)
            .output();
        String::from_utf8_lossy(&output.expect("the program is built").stdout).into_owned()
    };
    let rule = "--select=visibility-timeout-too-short";
    let since = lines(&["check", rule, "--format=github", "--since=main"]);
    assert!(since.starts_with("::warning file=main.tf,line=6,"), "{since}");
    let whole = lines(&["check", rule, "--format=github"]);
    assert!(whole.starts_with("::warning file=main.tf,line=3,"), "{whole}");
}

#[test]
fn finding_that_became_more_severe_is_worse_and_not_resolved() {
    // Below six timeouts it is a warning, below one an error of another rule; a batch that waits in between is neither.
    let queue = |count: &str| {
        format!(
            "resource \"aws_sqs_queue\" \"q\" {{\n  message_retention_seconds = {count}\n  redrive_policy = jsonencode({{\n    deadLetterTargetArn \
             = aws_sqs_queue.d.arn\n    maxReceiveCount = 5\n  }})\n  visibility_timeout_seconds = 60\n}}\nresource \"aws_sqs_queue\" \"d\" \
             {{\n  message_retention_seconds = 300\n}}\n"
        )
    };
    let Some(repository) = Repository::new(&[("main.tf", &queue("300"))]) else {
        return;
    };
    repository.branch();
    repository.write("main.tf", &queue("86400"));
    repository.commit();
    let rule = "--select=dead-letter-queue-retention-too-short";
    repository
        .sqslint(&["check", "--format=concise", rule, "--since=main"])
        .is(1, &["main.tf dead-letter-queue-retention-too-short"]);
    let arguments = ["check", rule, "--format=markdown", "--since=main"];
    let output = repository
        .command(env!("CARGO_BIN_EXE_sqslint"))
        .args(arguments)
        .output();
    let text = String::from_utf8_lossy(&output.expect("the program is built").stdout).into_owned();
    assert!(text.contains("**0 new, 1 worse, 0 resolved**"), "{text}");
}
