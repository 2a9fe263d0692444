//! Tests suppressions end to end: each case is a set of files and the expected findings as `file:line rule`, with `-`
//! before suppressed ones.

use crate::inputs::repository;
use sqslint::config::Source;
use sqslint::selection::Selection;
use sqslint::suppress::Day;
use sqslint::testing::{self, TemporaryDirectory};
use sqslint::{Options, Outcome, add_ignores, check};

/// Rule that flags a visibility timeout of zero (on line 2 of a queue's block).
const ZERO: &str = "visibility-timeout-zero";

/// Rule about the source of a function.
const SWALLOWS: &str = "handler-swallows-failures";

fn options(directory: &TemporaryDirectory) -> Options {
    Options {
        paths: vec![directory.path().to_owned()],
        selection: Selection::new(
            [ZERO, "fifo-queue-name-suffix", "redrive-policy-malformed", SWALLOWS]
                .into_iter()
                .chain(TOOL)
                .map(str::to_owned)
                .collect(),
            vec![],
            false,
        ),
        today: Day::parse("2027-03-31"),
        ..Options::default()
    }
}

const TOOL: [&str; 4] = [
    "unused-suppression",
    "expired-suppression",
    "unknown-rule-in-suppression",
    "suppression-without-reason",
];

fn shown(outcome: &Outcome) -> Vec<String> {
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let place = |found: &sqslint::diagnostic::Diagnostic| {
        let span = found.primary().span;
        let name = outcome
            .sources
            .file(span.file)
            .path()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        format!("{name}:{} {}", outcome.sources.start(span).line, found.rule)
    };
    let mut all: Vec<String> = outcome.findings.iter().map(place).collect();
    all.extend(outcome.suppressed.iter().map(|one| format!("-{}", place(&one.finding))));
    all
}

fn run(files: &[(&str, &str)]) -> Vec<String> {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    shown(&check(&options(&directory)))
}

fn terraform(text: &str) -> Vec<String> {
    run(&[("main.tf", text)])
}

#[test]
fn terraform_comments_suppress_findings() {
    let cases: &[(&str, &[&str])] = &[
        (
            "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n",
            &["main.tf:2 visibility-timeout-zero"],
        ),
        (
            "# sqslint: ignore[visibility-timeout-zero] polled\nresource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n",
            &["-main.tf:3 visibility-timeout-zero"],
        ),
        (
            "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0 // sqslint: ignore[visibility]\n}\n",
            &["-main.tf:2 visibility-timeout-zero"],
        ),
        (
            "resource \"aws_sqs_queue\" \"q\" { /* sqslint: ignore[visibility-timeout-zero] */\n  visibility_timeout_seconds = 0\n}\n",
            &["-main.tf:2 visibility-timeout-zero"],
        ),
        // The comment applies only to the next block.
        (
            "# sqslint: ignore[visibility-timeout-zero]\nresource \"aws_sqs_queue\" \"p\" {}\nresource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n",
            &["main.tf:1 unused-suppression", "main.tf:4 visibility-timeout-zero"],
        ),
        (
            "resource \"aws_sqs_queue\" \"q\" {\n  # sqslint: ignore[fifo]\n  visibility_timeout_seconds = 0\n}\n",
            &["main.tf:3 visibility-timeout-zero"],
        ),
        // The comment is at another label: the default of the variable.
        (
            "variable \"v\" {\n  default = 0 # sqslint: ignore[visibility-timeout-zero]\n}\nresource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = var.v\n}\n",
            &["-main.tf:5 visibility-timeout-zero"],
        ),
        (
            "# about the team\n// sqslint: ignore-file[visibility-timeout-zero] so\n\nresource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n",
            &["-main.tf:5 visibility-timeout-zero"],
        ),
        (
            "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n# sqslint: ignore-file[visibility-timeout-zero] so\n",
            &["main.tf:2 visibility-timeout-zero", "main.tf:4 unused-suppression"],
        ),
        (
            "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n  name = <<-E\n  # sqslint: ignore[visibility-timeout-zero]\n  E\n}\n",
            &["main.tf:2 visibility-timeout-zero"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(&terraform(text), expected, "{text}");
        let windows = text.replace('\n', "\r\n");
        assert_eq!(&terraform(&windows), expected, "{windows:?}");
    }
}

#[test]
fn comment_on_a_module_block_covers_its_call() {
    let module = "variable \"v\" {}\nresource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n";
    let main = |comment: &str| {
        format!(
            "module \"a\" {{\n  source = \"./m\"\n  v = 0\n}}\n{comment}\nmodule \"b\" {{\n  source = \"./m\"\n  v = 0\n}}\n"
        )
    };
    let both = main("");
    assert_eq!(
        run(&[("main.tf", &both), ("m/queue.tf", module)]),
        ["queue.tf:3 visibility-timeout-zero"]
    );
    let one = main("# sqslint: ignore[visibility-timeout-zero] tried out");
    let directory = TemporaryDirectory::with_files([("main.tf", one.as_str()), ("m/queue.tf", module)]);
    let outcome = check(&options(&directory));
    assert_eq!(
        shown(&outcome),
        [
            "queue.tf:3 visibility-timeout-zero",
            "-queue.tf:3 visibility-timeout-zero"
        ]
    );
    assert_eq!(outcome.findings[0].subject.address, "module.a.aws_sqs_queue.q");
    assert_eq!(
        outcome.suppressed[0].finding.subject.address,
        "module.b.aws_sqs_queue.q"
    );
    assert_eq!(outcome.suppressed[0].reason.as_deref(), Some("tried out"));
    // A suppression in the module's file applies to every call.
    let silenced = format!("# sqslint: ignore-file[visibility]\n{module}");
    assert_eq!(
        run(&[("main.tf", &both), ("m/queue.tf", &silenced)]),
        ["-queue.tf:4 visibility-timeout-zero"]
    );
}

#[test]
fn comments_and_metadata_of_templates_suppress_findings() {
    let queue = |before: &str, after: &str, metadata: &str| {
        format!(
            "Resources:\n{before}  Q:\n    Type: AWS::SQS::Queue\n{metadata}    Properties:\n      VisibilityTimeout: 0{after}\n      QueueName: a\n"
        )
    };
    let silenced = |line: usize| vec![format!("-t.yaml:{line} visibility-timeout-zero")];
    let cases = [
        (queue("", "", ""), vec!["t.yaml:5 visibility-timeout-zero".to_owned()]),
        (
            queue("  # sqslint: ignore[visibility-timeout-zero] x\n", "", ""),
            silenced(6),
        ),
        (
            queue("", " # sqslint: ignore[visibility-timeout-zero]", ""),
            silenced(5),
        ),
        (
            queue(
                "",
                "",
                "    Metadata: {sqslint: {ignore: [{rule: visibility, reason: x}]}}\n",
            ),
            silenced(6),
        ),
        (
            format!(
                "Metadata: {{sqslint: {{ignore: [{{rule: {ZERO}}}]}}}}\n{}",
                queue("", "", "")
            ),
            silenced(6),
        ),
        (
            format!("# sqslint: ignore-file[{ZERO}]\n{}", queue("", "", "")),
            silenced(6),
        ),
        // If a misspelled key were ignored, the suppression would hold longer or for more than intended.
        (
            queue(
                "",
                "",
                "    Metadata: {sqslint: {ignore: [{rule: visibility, untill: 2027-03-31}]}}\n",
            ),
            vec![
                "t.yaml:4 unused-suppression".to_owned(),
                "t.yaml:6 visibility-timeout-zero".to_owned(),
            ],
        ),
        (
            queue("", "", "    Metadata: {sqslint: {ignored: [{rule: visibility}]}}\n"),
            vec![
                "t.yaml:4 unused-suppression".to_owned(),
                "t.yaml:6 visibility-timeout-zero".to_owned(),
            ],
        ),
        (
            queue("", "", "    Metadata: {sqslint: {ignore: [visibility]}}\n"),
            vec![
                "t.yaml:4 unused-suppression".to_owned(),
                "t.yaml:6 visibility-timeout-zero".to_owned(),
            ],
        ),
        (
            queue("", "", "    Metadata: {x: \"# sqslint: ignore[visibility]\"}\n"),
            vec!["t.yaml:6 visibility-timeout-zero".to_owned()],
        ),
        (
            queue(
                "",
                "",
                "    Metadata:\n      x: |\n        # sqslint: ignore-file[visibility]\n",
            ),
            vec!["t.yaml:8 visibility-timeout-zero".to_owned()],
        ),
    ];
    for (text, expected) in &cases {
        assert_eq!(&run(&[("t.yaml", text)]), expected, "{text}");
        assert_eq!(&run(&[("t.yaml", &text.replace('\n', "\r\n"))]), expected, "{text}");
    }
    let json = r#"{"Resources": {"Q": {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": 0},
        "Metadata": {"sqslint": {"ignore": [{"rule": "visibility-timeout-zero", "reason": "x", "until": "2027-03-31"}]}}}}}"#;
    assert_eq!(run(&[("t.json", json)]), ["-t.json:1 visibility-timeout-zero"]);
    let terraform = r#"{"resource": {"aws_sqs_queue": {"q": {"//": "sqslint: ignore[visibility-timeout-zero] x",
        "visibility_timeout_seconds": 0}}}}"#;
    assert_eq!(
        run(&[("main.tf.json", terraform)]),
        ["-main.tf.json:2 visibility-timeout-zero"]
    );
    let serverless = "service: s\nprovider: {name: aws}\nresources:\n  Resources:\n    Q:\n      Type: AWS::SQS::Queue\n      Properties:\n        VisibilityTimeout: 0 # sqslint: ignore[visibility-timeout-zero]\n";
    assert_eq!(
        run(&[("serverless.yml", serverless)]),
        ["-serverless.yml:8 visibility-timeout-zero"]
    );
}

#[test]
fn invalid_expired_and_unused_suppressions_are_reported() {
    let cases: &[(&str, &[&str])] = &[
        (
            "ignore[visibility-timeout-zero until=2027-03-31]",
            &["-visibility-timeout-zero"],
        ),
        (
            "ignore[visibility-timeout-zero] the client passes until=None to its poller",
            &["-visibility-timeout-zero"],
        ),
        (
            "ignore[visibility-timeout-zero until=2027-03-30]",
            &[
                "expired-suppression: this suppression ended on 2027-03-30, and what it suppressed is reported again",
                "visibility-timeout-zero",
            ],
        ),
        (
            "ignore[fifo until=2027-03-30]",
            &[
                "expired-suppression: this suppression ended on 2027-03-30, and there is nothing left for it to suppress",
                "visibility-timeout-zero",
            ],
        ),
        (
            "ignore[visibility-timeout-zero until=2027-02-29]",
            &[
                "expired-suppression: `2027-02-29` is not a date, so this suppression has no effect",
                "visibility-timeout-zero",
            ],
        ),
        (
            "ignore[visibilty-timeout-zero]",
            &[
                "unknown-rule-in-suppression: unknown rule `visibilty-timeout-zero` in a suppression; did you mean `visibility-timeout-zero`?",
                "visibility-timeout-zero",
            ],
        ),
        (
            "ignore[all]",
            &[
                "unknown-rule-in-suppression: `all` in a suppression is not a rule but a set of rules",
                "visibility-timeout-zero",
            ],
        ),
        (
            "ignore[visibility-timeout-zero, fifo-queue-name-suffix]",
            &[
                "unused-suppression: this suppression of `fifo-queue-name-suffix` has no effect",
                "-visibility-timeout-zero",
            ],
        ),
        // Rules that are not selected do not make a suppression unused.
        (
            "ignore[visibility-timeout-zero, fifo-batching-window]",
            &["-visibility-timeout-zero"],
        ),
        (
            "ignore[visibility-timeout-zero, parse-error]",
            &[
                "unused-suppression: this suppression of `parse-error` has no effect: it cannot be suppressed in a file",
                "-visibility-timeout-zero",
            ],
        ),
        (
            "ignore[visibility-timeout-zero",
            &[
                "unused-suppression: this suppression has no effect: its bracket `[` is not closed",
                "visibility-timeout-zero",
            ],
        ),
        (
            "ignore visibility-timeout-zero",
            &[
                "unused-suppression: this suppression has no effect: it names no rule; write `ignore[rule] reason`",
                "visibility-timeout-zero",
            ],
        ),
    ];
    for (said, expected) in cases {
        let text =
            format!("# sqslint: {said}\nresource \"aws_sqs_queue\" \"q\" {{\n  visibility_timeout_seconds = 0\n}}\n");
        let directory = TemporaryDirectory::with_files([("main.tf", text.as_str())]);
        let outcome = check(&options(&directory));
        let mut seen: Vec<String> = (outcome.findings.iter())
            .map(|found| match &*found.rule {
                ZERO => found.rule.to_string(),
                rule => format!("{rule}: {}", found.headline),
            })
            .collect();
        seen.extend(outcome.suppressed.iter().map(|one| format!("-{}", one.finding.rule)));
        assert_eq!(&seen, expected, "{said}");
    }
}

#[test]
fn finding_after_expiry_points_to_the_suppression() {
    let text = "# sqslint: ignore[visibility until=2020-01-01]\nresource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n";
    let directory = TemporaryDirectory::with_files([("main.tf", text)]);
    let outcome = check(&options(&directory));
    let back = outcome.findings.iter().find(|found| found.rule == ZERO).unwrap();
    let labels: Vec<&str> = back.labels().iter().map(|label| &*label.message).collect();
    assert!(labels.contains(&"it was suppressed until 2020-01-01"), "{labels:?}");
}

#[test]
fn suppression_is_not_unused_if_a_file_is_broken() {
    let unresolved = "variable \"v\" {}\n# sqslint: ignore[visibility-timeout-zero, fifo-queue-name-suffix]\nresource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = var.v\n}\n";
    assert_eq!(terraform(unresolved), ["main.tf:2 unused-suppression"]);
    let whole = "# sqslint: ignore[visibility-timeout-zero]\nresource \"aws_sqs_queue\" \"q\" {}\n";
    assert_eq!(terraform(whole), ["main.tf:1 unused-suppression"]);
    let seen = run(&[("main.tf", whole), ("broken.tf", "resource {{{\n")]);
    assert!(!seen.iter().any(|line| line.contains("unused")), "{seen:?}");
}

#[test]
fn configuration_restricts_suppressions() {
    let queue = "# sqslint: ignore[visibility-timeout-zero]\nresource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n";
    let cases: &[(&str, &[&str])] = &[
        (
            "require-reason = true",
            &[
                "main.tf:1 suppression-without-reason",
                "-main.tf:3 visibility-timeout-zero",
            ],
        ),
        (
            "[rules.visibility-timeout-zero]\nsuppressible = false",
            &["main.tf:1 unused-suppression", "main.tf:3 visibility-timeout-zero"],
        ),
    ];
    for (config, expected) in cases {
        assert_eq!(
            &run(&[("main.tf", queue), ("sqslint.toml", config)]),
            expected,
            "{config}"
        );
    }
    let severity = "[rules.unused-suppression]\nseverity = \"error\"";
    let directory = TemporaryDirectory::with_files([
        (
            "main.tf",
            "# sqslint: ignore[visibility-timeout-zero]\nresource \"aws_sqs_queue\" \"q\" {}\n",
        ),
        ("sqslint.toml", severity),
    ]);
    let outcome = check(&options(&directory));
    assert_eq!(outcome.findings[0].severity.name(), "error");
    let isolated = Options {
        no_ignores: true,
        config: Source {
            isolated: true,
            ..Source::default()
        },
        ..options(&directory)
    };
    assert!(check(&isolated).findings.is_empty());
}

#[test]
fn environments_share_their_suppressions() {
    let config = "[[environment]]\nname = \"a\"\nvar-files = [\"a.tfvars\"]\n[[environment]]\nname = \"b\"\nvar-files = [\"b.tfvars\"]\n";
    let main = "variable \"v\" {}\nresource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = var.v # sqslint: ignore[visibility-timeout-zero]\n}\n";
    let seen = run(&[
        ("main.tf", main),
        ("sqslint.toml", config),
        ("a.tfvars", "v = 0\n"),
        ("b.tfvars", "v = 9\n"),
    ]);
    assert_eq!(seen, ["-main.tf:3 visibility-timeout-zero"]);
    let plain = main.replace(" # sqslint: ignore[visibility-timeout-zero]", "");
    let silenced = "v = 0 # sqslint: ignore[visibility-timeout-zero] test\n";
    let seen = run(&[
        ("main.tf", &plain),
        ("sqslint.toml", config),
        ("a.tfvars", silenced),
        ("b.tfvars", "v = 0\n"),
    ]);
    assert_eq!(
        seen,
        [
            "main.tf:3 visibility-timeout-zero",
            "-main.tf:3 visibility-timeout-zero"
        ]
    );
}

#[test]
fn ten_thousand_comments_take_linear_time() {
    let one = "# sqslint: ignore[visibility-timeout-zero, nonsense-x] x\n";
    let many = format!(
        "{}resource \"aws_sqs_queue\" \"q\" {{\n  visibility_timeout_seconds = 0\n}}\n",
        one.repeat(10_000)
    );
    let start = std::time::Instant::now();
    let seen = terraform(&many);
    assert_eq!(seen.len(), 10_001);
    let yaml = format!(
        "Resources:\n{}  Q:\n    Type: AWS::SQS::Queue\n    Properties: {{VisibilityTimeout: 0}}\n",
        format!("  {one}").repeat(10_000)
    );
    assert_eq!(run(&[("t.yaml", &yaml)]).len(), 10_001);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// Applies `--add-ignore`, requires that every finding is suppressed, and returns the texts.
fn with_ignores(files: &[(&str, &str)]) -> Vec<String> {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    let options = options(&directory);
    let before = check(&options);
    assert!(!before.findings.is_empty());
    let added = add_ignores(&options, &before, "known since\nMay");
    assert_eq!((&added.refused, &added.errors), (&vec![], &vec![]));
    assert_eq!(
        shown(&check(&options))
            .iter()
            .filter(|line| !line.starts_with('-'))
            .count(),
        0
    );
    let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    files.iter().map(|(name, _)| read(name)).collect()
}

/// Requires that `--add-ignore` adds exactly the texts between `«` and `»`, and that every finding is suppressed, with
/// either kind of line ending and with a byte order mark.
fn check_added(name: &str, expected: &str) {
    let mut original = String::new();
    let mut written = String::new();
    for part in expected.split('«') {
        let (added, rest) = part.split_once('»').unwrap_or(("", part));
        written.push_str(added);
        written.push_str(rest);
        original.push_str(rest);
    }
    assert_eq!(with_ignores(&[(name, &original)]), [written.clone()], "{name}");
    let windows = |text: &str| text.replace('\n', "\r\n");
    assert_eq!(
        with_ignores(&[(name, &windows(&original))]),
        [windows(&written)],
        "{name}"
    );
    let marked = format!("\u{feff}{original}");
    assert_eq!(
        with_ignores(&[(name, &marked)]),
        [format!("\u{feff}{written}")],
        "{name}"
    );
}

#[test]
fn suppressions_are_added_in_the_format_of_the_file() {
    check_added(
        "main.tf",
        "«# sqslint: ignore[fifo-queue-name-suffix, visibility-timeout-zero] known since May\n»resource \"aws_sqs_queue\" \"q\" {
  name                       = \"a\" # the name
  fifo_queue                 = true
  visibility_timeout_seconds = 0
}

module \"m\" { source = \"./m\" }
locals {
  a = 1
  b = 0
}
resource \"aws_sqs_queue\" \"p\" {
  visibility_timeout_seconds = 30
}
«# sqslint: ignore[visibility-timeout-zero] known since May\n»resource \"aws_sqs_queue\" \"r\" { visibility_timeout_seconds = 0 }",
    );
    check_added(
        "template.yaml",
        "Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
«      # sqslint: ignore[visibility-timeout-zero] known since May\n»      VisibilityTimeout: 0
      Tags:
        - Key: a
          Value: b
  P:
    Type: AWS::SQS::Queue
«    # sqslint: ignore[visibility-timeout-zero] known since May\n»    Properties: {VisibilityTimeout: 0}
",
    );
    check_added(
        "template.json",
        "{
  \"Resources\": {
    \"Q\": {
      «\"Metadata\": {\"sqslint\": {\"ignore\": [{\"rule\": \"visibility-timeout-zero\", \"reason\": \"known since May\"}]}},
      »\"Type\": \"AWS::SQS::Queue\",
      \"Properties\": {\"VisibilityTimeout\": 0}
    },
    \"P\": {«\"Metadata\": {\"sqslint\": {\"ignore\": [{\"rule\": \"visibility-timeout-zero\", \"reason\": \"known since May\"}]}}, »\"Type\": \"AWS::SQS::Queue\", \"Properties\": {\"VisibilityTimeout\": 0}},
    \"O\": {\"Metadata\": {«\"sqslint\": {\"ignore\": [{\"rule\": \"visibility-timeout-zero\", \"reason\": \"known since May\"}]}, »\"a\": 1}, \"Type\": \"AWS::SQS::Queue\", \"Properties\": {\"VisibilityTimeout\": 0}},
    \"N\": {\"Metadata\": {\"sqslint\": {\"ignore\": [«{\"rule\": \"visibility-timeout-zero\", \"reason\": \"known since May\"}»]}}, \"Type\": \"AWS::SQS::Queue\", \"Properties\": {\"VisibilityTimeout\": 0}}
  }
}
",
    );
    check_added(
        "main.tf.json",
        "{
  \"resource\": {
    \"aws_sqs_queue\": {
      \"q\": {
        «\"//\": \"sqslint: ignore[visibility-timeout-zero] known since May\",
        »\"visibility_timeout_seconds\": 0
      },
      \"p\": [{\"//\": «[»\"a note\"«, \"sqslint: ignore[visibility-timeout-zero] known since May\"]», \"visibility_timeout_seconds\": 0}]
    }
  }
}
",
    );
}

#[test]
fn unsuppressible_findings_are_listed_as_refused() {
    let queue = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n";
    let config = "[rules.visibility-timeout-zero]\nsuppressible = false";
    let directory = TemporaryDirectory::with_files([("main.tf", queue), ("sqslint.toml", config), ("b.tf", "a {{{\n")]);
    let options = options(&directory);
    let before = check(&options);
    let added = add_ignores(&options, &before, "x");
    assert_eq!(
        (added.findings, added.files, added.refused.len()),
        (0, 0, before.findings.len())
    );
    assert_eq!(
        std::fs::read_to_string(directory.path().join("main.tf")).unwrap(),
        queue
    );
}

#[test]
fn finding_in_a_fetched_module_is_suppressed_at_its_call() {
    let module = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n";
    let manifest = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"git::https://example.com/m","Dir":".terraform/modules/m"}]}"#;
    let main = "module \"m\" {\n  source = \"git::https://example.com/m\"\n}\n";
    let written = with_ignores(&[
        ("main.tf", main),
        (".terraform/modules/modules.json", manifest),
        (".terraform/modules/m/main.tf", module),
    ]);
    let expected = format!("# sqslint: ignore[visibility-timeout-zero] known since May\n{main}");
    assert_eq!(written, [expected.as_str(), manifest, module]);
}

/// Reads every text file below a directory of fixtures.
fn fixture(name: &str) -> Vec<(String, String)> {
    let root = repository("fixtures").join(name);
    let mut next = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(directory) = next.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                next.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
                files.push((name, text));
            }
        }
    }
    files
}

#[test]
fn add_ignore_suppresses_all_findings_of_a_project() {
    for (name, path) in [("stacks", ""), ("plans/orders", "plan.json")] {
        let files = fixture(name);
        let borrowed = files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let directory = TemporaryDirectory::with_files(borrowed);
        let options = Options {
            paths: vec![directory.path().join(path)],
            ..Options::default()
        };
        let before = check(&options);
        let added = add_ignores(&options, &before, "known");
        assert!(added.files > 0 && added.findings > 0, "{name}: {added:?}");
        assert_eq!((&added.refused, &added.errors), (&vec![], &vec![]), "{name}");
        let after = check(&options);
        assert!(after.findings.is_empty(), "{name}: {}", testing::describe(&after));
        // JSON files have no comments, and the table of planted defects contains suppressions itself.
        let is_edited = |file: &str| {
            file.strip_suffix(".json")
                .or(file.strip_suffix("planted.toml"))
                .is_none()
        };
        for (file, text) in files.iter().filter(|(file, _)| is_edited(file)) {
            let written = std::fs::read_to_string(directory.path().join(file)).unwrap();
            let lines = written.split_inclusive('\n');
            let kept: String = lines.filter(|line| !line.contains("# sqslint: ignore[")).collect();
            assert_eq!(&kept, text, "{file}");
        }
    }
}

#[test]
fn comment_in_function_source_suppresses_and_may_be_unused() {
    let template = testing::handlers::template("");
    let handler = "def handler(event, context):
    for record in event['Records']:
        try:
            work(record)
        except Exception:  # sqslint: ignore[handler-swallows-failures] known
            pass
";
    let files = |handler| run(&[("template.yaml", &template), ("src/app.py", handler)]);
    assert_eq!(files(handler), ["-app.py:5 handler-swallows-failures"]);
    assert_eq!(
        files(&handler.replace("pass", "raise")),
        ["app.py:5 unused-suppression"]
    );
}
