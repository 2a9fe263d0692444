//! Checks `sqslint.toml`: the meaning of each key, the errors and their spans, and which file applies.

use source::files::Files;
use sqslint::config::{Config, ConfigError, Configs, Source};
use sqslint::testing::TemporaryDirectory;
use std::path::Path;
use std::sync::Arc;

/// Returns the configuration that applies to `path` below `directory`.
fn config_of(directory: &TemporaryDirectory, path: &str, source: Source) -> Result<Arc<Config>, ConfigError> {
    let root = directory.path().canonicalize().expect("the directory exists");
    Configs::new(source, vec![root.clone()], &Files::new(None, vec![root.clone()])).for_path(&root.join(path))
}

fn only(text: &str) -> Result<Arc<Config>, ConfigError> {
    config_of(
        &TemporaryDirectory::with_files([("sqslint.toml", text)]),
        ".",
        Source::default(),
    )
}

/// Invalid texts, each with the part that the error points to and the message.
const REFUSED: &[(&str, &str, &str)] = &[
    ("ignroe = []", "ignroe", "unknown key `ignroe`; did you mean `ignore`?"),
    (
        "ignore = [\"redrive-polcy-missing\"]",
        "\"redrive-polcy-missing\"",
        "unknown rule `redrive-polcy-missing`; did you mean `redrive-policy-missing`?",
    ),
    (
        "[rules.visibility-timeout-to-short]",
        "visibility-timeout-to-short",
        "unknown rule `visibility-timeout-to-short`; did you mean `visibility-timeout-too-short`?",
    ),
    (
        "[rules.visibility-timeout-too-short]\nfactr = 6",
        "factr",
        "unknown setting of `visibility-timeout-too-short`: `factr`; did you mean `factor`?",
    ),
    (
        "[rules.visibility-timeout-too-short]\nfactor = 0",
        "0",
        "`factor` must be a whole number of at least 1",
    ),
    (
        "[rules.visibility-timeout-too-short]\nfactor = \"6\"",
        "\"6\"",
        "`factor` must be a whole number of at least 1",
    ),
    (
        "[rules.visibility-timeout-too-short]\nseverity = \"fatal\"",
        "\"fatal\"",
        "unknown severity `fatal`; there are `error`, `warning`, `info`",
    ),
    (
        "[rules.queue-retention-too-short]\nminimum = 59",
        "59",
        "`minimum` must be a whole number of at least 60",
    ),
    (
        "[rules.visibility-timeout-too-short]\nseverity = \"off\"",
        "\"off\"",
        "unknown severity `off`; there are `error`, `warning`, `info`; `ignore = [\"visibility-timeout-too-short\"]` turns a rule off",
    ),
    (
        "fail-level = \"warn\"",
        "\"warn\"",
        "unknown value `warn`; did you mean `warning`?",
    ),
    (
        "required-version = \">=99\"",
        "\">=99\"",
        "this file is for sqslint >=99; this is sqslint 0.1.0",
    ),
    (
        "required-version = \"new\"",
        "\"new\"",
        "not a range of versions; write it as `>=0.1`",
    ),
    (
        "exclude = [\"a[\"]",
        "\"a[\"",
        "not a valid glob: unclosed character class; missing ']'",
    ),
    (
        "[[override]]\nignore = [\"redrive\"]",
        "\"redrive\"",
        "an override needs `paths` or `resources`; what applies everywhere goes into `ignore` at the top",
    ),
    (
        "[[environment]]\nname = \"a\"\n[[environment]]\nname = \"a\"",
        "\"a\"",
        "there are two environments called `a`",
    ),
    (
        "[[consumer]]\nqueue = \"q\"\nprocessing = { max = \"280\" }",
        "\"280\"",
        "not a duration; write a number with its unit, as in `12s` or `1.5m`",
    ),
    (
        "[[consumer]]\nqueue = \"q\"\nprocessing = { p50 = \"9s\", max = \"8s\" }",
        "\"9s\"",
        "`p50` is 9 s, more than the `max` of 8 s",
    ),
    (
        "[[consumer]]\nqueue = \"q\"\nmeasured = \"May\"",
        "\"May\"",
        "not a date; write it as `2026-03-14`",
    ),
    (
        "[[consumer]]\nqueue = \"q\"\nfunction = \"f\"\nheartbeat = { every = \"1s\", extend-to = \"2s\" }",
        "\"1s\"",
        "Lambda does not renew visibility timeouts: a heartbeat is for a worker, and `function` makes this consumer a function",
    ),
    (
        "[[environment]]\nname = \"prod\"\naccount = \"1234\"",
        "\"1234\"",
        "an account has twelve digits, as in `\"123456789012\"`",
    ),
    (
        "[[environment]]\nname = \"prod\"\naccount = 123456789012",
        "123456789012",
        "expected a string, in quotes, found the number 123456789012",
    ),
    (
        "exclude = \"examples/\"",
        "\"examples/\"",
        "expected an array, as in `[\"…\"]`, found the string \"examples/\"",
    ),
    (
        "[[consumer]]\nqueue = \"q\"\nprocessing = { p99 = \"9s\", max = \"8s\", p50 = \"1s\" }",
        "\"9s\"",
        "`p99` is 9 s, more than the `max` of 8 s",
    ),
    (
        "[[consumer]]\nqueue = \"q\"\nprocessing = { p95 = \"9s\" }",
        "p95",
        "unknown key `p95`; did you mean `p99`?",
    ),
    (
        "[[consumer]]\nqueue = \"q\"\nprocessing = {}",
        "{}",
        "`processing` needs at least one of `p50`, `p99` and `max`",
    ),
    (
        "[[consumer]]\nqueue = \"q\"\nprocessing = { max = \"0s\" }",
        "\"0s\"",
        "a duration of 0; leave out what is not known",
    ),
    (
        "[[consumer]]\nqueue = \"q\"\nheartbeat = { every = \"1h\", extend-to = \"13h\" }",
        "\"13h\"",
        "SQS takes a visibility timeout of at most 12 hours (43200 s)",
    ),
    (
        "[[consumer]]\nqueue = \"q\"\nheartbeat = { every = \"1h\" }",
        "{ every = \"1h\" }",
        "the key `extend-to` is missing",
    ),
    (
        "[[consumer]]\nqueue = \"q\"\nfunction = \"f\"\nparallelism = 0",
        "0",
        "`parallelism` must be at least 1",
    ),
    ("[[consumer]]\nqueue = \" \"", "\" \"", "a consumer needs a queue"),
    (
        "[[consumer]]\nqueue = \"q\"\nfunction = \"\"",
        "\"\"",
        "name the function, or leave `function` out",
    ),
    ("[[consumer]]\nqueue = \"q\"\nmeasured = 2026-02-30", "2026-02-30", ""),
    ("[[consumer]]", "[[consumer]]", "the key `queue` is missing"),
    (
        "[rules.property-unknown]\nseverity = \"info\"\n[rules.serverless-event-key-unknown]\nseverity = \"error\"",
        "serverless-event-key-unknown",
        "`property-unknown` has two tables, one under a former name: join them",
    ),
    ("select = [", "", ""),
];

#[test]
fn invalid_settings_are_rejected_with_their_span() {
    for (text, about, message) in REFUSED {
        let error = only(text).expect_err(text);
        if message.is_empty() {
            assert!(error.span.is_some() && !error.message.is_empty(), "{error}");
            continue;
        }
        assert_eq!(error.message, *message, "{text}");
        let span = error.span.clone().expect("it has a place");
        assert_eq!(text.get(span).expect("inside the text"), *about, "{text}");
    }
}

#[test]
fn an_error_shows_its_line() {
    let mut error = only("# team\nselect = [\"redrive\", \"visibilty\"]\n").expect_err("a slip");
    error.path = Some("sqslint.toml".into());
    let shown = "sqslint.toml:2:22: unknown rule `visibilty`; did you mean `visibility`?\n  |\n2 | select = [\"redrive\", \"visibilty\"]\n  |                      ^^^^^^^^^^^";
    assert_eq!(error.to_string(), shown);
}

#[test]
fn nearest_file_applies_without_merging() {
    let directory = TemporaryDirectory::with_files([
        ("sqslint.toml", "ignore = [\"redrive\"]"),
        ("infra/.sqslint.toml", "ignore = [\"alarms\"]"),
        ("infra/prod/main.tf", ""),
        ("other/main.tf", ""),
    ]);
    let ignored = |path: &str| {
        config_of(&directory, path, Source::default())
            .expect("it is read")
            .ignore
            .clone()
    };
    assert_eq!(ignored("infra/prod/main.tf"), ["alarms"]);
    assert_eq!(ignored("infra/prod"), ["alarms"]);
    assert_eq!(ignored("other/main.tf"), ["redrive"]);
    let isolated = Source {
        isolated: true,
        ..Source::default()
    };
    assert!(
        config_of(&directory, "other", isolated)
            .expect("nothing is read")
            .ignore
            .is_empty()
    );
}

#[test]
fn extend_appends_lists_and_overrides_values() {
    let directory = TemporaryDirectory::with_files([
        (
            "base.toml",
            "select = [\"all\"]\nignore = [\"redrive\"]\nfail-level = \"error\"\nrequire-reason = true\n\
             [rules.visibility-timeout-too-short]\nfactor = 8\nseverity = \"error\"",
        ),
        (
            "sqslint.toml",
            "extend = \"base.toml\"\nignore = [\"alarms\"]\nfail-level = \"info\"\n\
             [rules.visibility-timeout-too-short]\nfactor = 7",
        ),
    ]);
    let config = config_of(&directory, ".", Source::default()).expect("it is read");
    assert_eq!(config.select.as_deref(), Some(&["all".to_owned()][..]));
    assert_eq!(config.ignore, ["redrive", "alarms"]);
    assert!(config.require_reason);
    assert_eq!(config.files.len(), 2);
    insta::assert_debug_snapshot!((config.fail_level, &config.rules), @r#"
    (
        Some(
            At(
                Info,
            ),
        ),
        {
            "visibility-timeout-too-short": RuleSettings {
                severity: Some(
                    Error,
                ),
                suppressible: None,
                values: {
                    "factor": Number {
                        value: 7,
                        least: 1,
                    },
                },
            },
        },
    )
    "#);
}

#[test]
fn extend_errors_point_to_the_extend_line() {
    let directory = TemporaryDirectory::with_files([
        ("sqslint.toml", "ignore = []\nextend = \"sqslint.toml\""),
        ("a/sqslint.toml", "extend = \"missing.toml\""),
    ]);
    for (path, line, what) in [(".", 2, "`extend` comes back to this file"), ("a", 1, "no such file")] {
        let error = config_of(&directory, path, Source::default()).expect_err("it cannot be read");
        assert!(error.message.ends_with(what), "{error}");
        assert_eq!(error.position().map(|(line, _)| line), Some(line));
    }
}

/// Creates files that each extend the next one; the last has the text `last`.
fn chain(length: usize, last: &str) -> TemporaryDirectory {
    let extends = (1..length).map(|at| (at, format!("extend = \"{at}.toml\"")));
    let texts: Vec<(usize, String)> = extends.chain([(length, last.to_owned())]).collect();
    let files: Vec<(String, String)> = texts
        .into_iter()
        .map(|(at, text)| match at {
            1 => ("sqslint.toml".to_owned(), text),
            _ => (format!("{}.toml", at - 1), text),
        })
        .collect();
    TemporaryDirectory::with_files(files.iter().map(|(name, text)| (&**name, &**text)))
}

#[test]
fn extend_chain_is_limited_to_sixteen_files() {
    let most = chain(16, "ignore = [\"redrive\"]");
    let config = config_of(&most, ".", Source::default()).expect("it is read");
    assert_eq!(
        (config.files.len(), config.ignore.as_slice()),
        (16, &["redrive".to_owned()][..])
    );

    let more = chain(17, "ignore = [\"redrive\"]");
    let error = config_of(&more, ".", Source::default()).expect_err("it is refused");
    assert!(
        error
            .message
            .ends_with("16.toml`: more than 16 files extend one another"),
        "{error}"
    );
    assert!(
        error.to_string().contains("15.toml"),
        "it points to the last `extend`: {error}"
    );

    for length in [1, 15, 16] {
        let cycle = chain(length, "extend = \"sqslint.toml\"");
        let error = config_of(&cycle, ".", Source::default()).expect_err("it is refused");
        assert!(
            error
                .message
                .ends_with("sqslint.toml`: `extend` comes back to this file"),
            "{error}"
        );
    }
}

#[test]
fn command_line_settings_win() {
    let directory =
        TemporaryDirectory::with_files([("sqslint.toml", "fail-level = \"error\"\nignore = [\"redrive\"]")]);
    let source = Source {
        lines: vec!["fail-level = \"never\"".to_owned(), "ignore = [\"alarms\"]".to_owned()],
        ..Source::default()
    };
    let config = config_of(&directory, ".", source).expect("it is read");
    assert_eq!(config.fail_level, Some(sqslint::config::FailLevel::Never));
    assert_eq!(config.ignore, ["redrive", "alarms"]);
}

#[test]
fn globs_are_relative_to_the_configuration() {
    let directory = TemporaryDirectory::with_files([(
        "infra/sqslint.toml",
        "exclude = [\"examples/\", \"*.json\"]\n\
         [[override]]\npaths = [\"sandbox/**\"]\nignore = [\"redrive\"]\n\
         [[override]]\nresources = [\"module.q[\\\"a\\\"].*\"]\nignore = [\"redrive-policy-missing\"]",
    )]);
    let config = config_of(&directory, "infra", Source::default()).expect("it is read");
    let root = directory.path().canonicalize().expect("the directory exists");
    let at = |path: &str| root.join(path);
    assert!(config.excluded(&at("infra/examples/a/main.tf")).is_some());
    assert!(config.excluded(&at("examples/a/main.tf")).is_none());
    assert!(config.excluded(&at("infra/plan.json")).is_some());
    let rule = sqslint::rules::by_id("redrive-policy-missing").expect("a rule");
    let silenced = |path: &str, address: &str| config.ignoring_override(rule, Path::new(&at(path)), address).is_some();
    assert!(silenced("infra/sandbox/a.tf", "aws_sqs_queue.q"));
    assert!(!silenced("infra/prod/a.tf", "aws_sqs_queue.q"));
    assert!(silenced("infra/prod/a.tf", "module.q[\"a\"].aws_sqs_queue.q"));
    assert!(!silenced("infra/prod/a.tf", "module.q[\"b\"].aws_sqs_queue.q"));
}

/// Returns the lines that a run over `path` reports about declared consumers that match nothing.
fn unmatched(consumers: &str, path: &str) -> Vec<String> {
    let queues = "
        resource \"aws_sqs_queue\" \"orders\" {
          for_each = toset([\"created\", \"paid\"])
          name     = \"orders-${each.key}\"
        }
    ";
    let directory = TemporaryDirectory::with_files([
        ("infra/main.tf", queues),
        ("other/main.tf", ""),
        ("sqslint.toml", consumers),
    ]);
    let outcome = sqslint::check(&sqslint::Options {
        paths: vec![directory.path().join(path)],
        ..sqslint::Options::default()
    });
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let names = outcome.unmatched.iter();
    names
        .map(|line| line.rsplit_once('/').map_or(&**line, |(_, line)| line).to_owned())
        .collect()
}

#[test]
fn consumers_match_queues_by_address_or_name() {
    for name in [
        "aws_sqs_queue.orders",
        "aws_sqs_queue.orders[\\\"paid\\\"]",
        "aws_sqs_queue.*",
        "orders-paid",
        "orders-*",
    ] {
        let lines = unmatched(&format!("[[consumer]]\nqueue = \"{name}\""), ".");
        assert!(lines.is_empty(), "{name}: {lines:?}");
    }
}

#[test]
fn unmatched_consumers_are_reported_only_for_complete_runs() {
    let consumers = "[[consumer]]\nqueue = \"orders-piad\"";
    let said = ["sqslint.toml:2:9: no queue matches the consumer `orders-piad`; did you mean `orders-paid`?"];
    assert_eq!(unmatched(consumers, "."), said);
    assert!(unmatched(consumers, "infra").is_empty());
    assert!(unmatched(consumers, "infra/main.tf").is_empty());
    let function = "[[consumer]]\nqueue = \"orders-paid\"\nfunction = \"fulfil\"";
    let said = ["sqslint.toml:3:12: no function that reads `orders-paid` matches the consumer's `fulfil`"];
    assert_eq!(unmatched(function, "."), said);
}
