//! Errors in policies.

use super::KEEPS;
use sqslint::Options;
use sqslint::testing::TemporaryDirectory;

/// Returns the error for a configuration with the content `text`.
fn refusal(text: &str) -> String {
    let directory = TemporaryDirectory::with_files([("sqslint.toml", text), ("main.tf", "")]);
    let outcome = sqslint::check(&Options {
        paths: vec![directory.path().to_owned()],
        ..Options::default()
    });
    let [error] = outcome.errors.as_slice() else {
        panic!("{:?}", outcome.errors)
    };
    error
        .split_once("sqslint.toml:")
        .map_or(error.clone(), |(_, rest)| rest.lines().next().unwrap_or("").to_owned())
}

#[test]
fn unknown_name_is_underlined_at_its_key() {
    let text = "# [rules.tpyo]\nignore = []\n[rules.tpyo]\nseverity = \"eror\"\n";
    let said = refusal(text);
    assert!(said.starts_with("3:8: "), "{said}");
}

#[test]
fn policy_file_replaces_the_policy_of_a_pack() {
    let policy =
        "[[policy]]\nid = \"queue-has-an-owner\"\nfor = \"queue\"\nrequire = \"true\"\nmessage = \"is refused\"\n";
    let check = |files: &[(&str, &str)]| {
        let directory = TemporaryDirectory::with_files(files.iter().copied());
        let outcome = sqslint::check(&Options {
            paths: vec![directory.path().to_owned()],
            ..Options::default()
        });
        let own = outcome
            .findings
            .iter()
            .filter(|found| &*found.rule == "queue-has-an-owner");
        (own.count(), outcome.errors)
    };
    let queue = ("main.tf", "resource \"aws_sqs_queue\" \"q\" {}\n");
    let config = "packs = [\"ownership\"]\n";
    assert_eq!(check(&[queue, ("sqslint.toml", config)]), (1, Vec::new()));
    let with_files = format!("{config}policies = [\"rules/*.toml\"]\n");
    let config = ("sqslint.toml", with_files.as_str());
    assert_eq!(check(&[queue, config, ("rules/own.toml", policy)]), (0, Vec::new()));
    let (_, errors) = check(&[queue, config, ("rules/a.toml", policy), ("rules/own.toml", policy)]);
    let [error] = errors.as_slice() else {
        panic!("{errors:?}")
    };
    assert!(
        error.contains("there are two policies called `queue-has-an-owner`"),
        "{error}"
    );
}

#[test]
fn typo_in_a_policy_is_reported_with_its_span() {
    for (from, to, expected) in [
        (
            "queue.retention",
            "queue.retenton",
            "6:18: a queue has no field `retenton`; did you mean `retention`?",
        ),
        (
            "'queue.name",
            "'que.name",
            "5:10: unknown name `que`; did you mean `queue`?",
        ),
        (
            "duration(\"14d\")",
            "14",
            "6:12: a duration cannot be compared with a whole number; write durations as `duration(\"14d\")`, `duration(\"90s\")`",
        ),
        (
            "for = \"queue\"",
            "for = \"queu\"",
            "4:7: unknown value `queu`; did you mean `queue`?",
        ),
        (
            "require",
            "requires",
            "6:1: unknown key `requires`; did you mean `require`?",
        ),
        (
            "orders-keep-fourteen-days",
            "fifo-queue-false",
            "3:6: `fifo-queue-false` is already the name of a rule, a category or a set",
        ),
        (
            "orders-keep-fourteen-days",
            "Orders",
            "3:6: an id is in kebab-case, as in `orders-keep-fourteen-days`, of 64 characters at most",
        ),
        (
            "message = \"order queues keep messages for 14 days\"",
            "message = \"\"",
            "7:11: say what is wrong where the policy is not met",
        ),
    ] {
        assert_eq!(refusal(&KEEPS.replace(from, to)), expected, "{to}");
    }
    assert_eq!(
        refusal(&format!("ignore = [\"orders-keep-fourten-days\"]{KEEPS}")),
        "1:11: unknown rule `orders-keep-fourten-days`; did you mean `orders-keep-fourteen-days`?"
    );
    assert!(refusal("policies = [\"policies/*.toml\"]").ends_with("no file matches `policies/*.toml`"));
    for outside in ["../policies/*.toml", "a/../../policies.toml", "/etc/policies/*.toml"] {
        assert_eq!(
            refusal(&format!("policies = [\"{outside}\"]")),
            "1:13: policies lie below the directory of this file; `extend` takes over those of a configuration elsewhere"
        );
    }
    let hostile = KEEPS.replace("queue.retention >=", &("(".repeat(1_000) + "queue.retention >="));
    assert!(refusal(&hostile).contains("nests 32 levels deep at most"));
}
