//! Checks invalid and unusual inputs under `fixtures/syntax/`: the reported errors, and that all other files are still
//! checked.

use sqslint::{rules, testing};
use std::path::Path;

/// Lists the findings of `visibility-timeout-zero` and of the pipeline for a project, each as `file:line:column rule`,
/// with the resources if there are several.
fn reported(project: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/syntax")
        .join(project);
    let rule = rules::by_id("visibility-timeout-zero").expect("the rule exists");
    let outcome = testing::run(rule, &path);
    assert!(outcome.errors.is_empty(), "{project}: {:?}", outcome.errors);
    let mut all: Vec<String> = (outcome.findings.iter())
        .map(|finding| {
            let span = finding.primary().span;
            let (file, at) = (outcome.sources.file(span.file), outcome.sources.start(span));
            let name = file.path().file_name().expect("a file has a name").to_string_lossy();
            let calls = match finding.instances(str::to_owned).as_slice() {
                several @ [_, _, ..] => format!(" for {}", several.join(", ")),
                _ => String::new(),
            };
            format!("{name}:{}:{} {}{calls}", at.line, at.column, finding.rule)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn unclosed_block_does_not_affect_other_files_of_the_module() {
    let wanted = ["orders.tf:3:3 visibility-timeout-zero", "refunds.tf:3:34 parse-error"];
    assert_eq!(reported("unclosed-block"), wanted);
}

#[test]
fn tab_in_yaml_does_not_affect_other_templates() {
    let wanted = [
        "orders.yaml:7:7 visibility-timeout-zero",
        "refunds.yaml:7:4 parse-error",
    ];
    assert_eq!(reported("tab-in-yaml"), wanted);
}

#[test]
fn last_of_repeated_keys_applies() {
    let wanted = [
        "orders.yaml:7:7 visibility-timeout-zero",
        "refunds.yaml:7:7 parse-error",
        "refunds.yaml:8:7 visibility-timeout-zero",
    ];
    assert_eq!(reported("duplicate-keys"), wanted);
}

#[test]
fn utf_16_is_reported_and_does_not_affect_other_templates() {
    let wanted = [
        "orders.yaml:7:7 visibility-timeout-zero",
        "refunds.yaml:1:1 parse-error",
    ];
    assert_eq!(reported("utf-16"), wanted);
}

#[test]
fn byte_order_mark_and_crlf_do_not_shift_locations() {
    assert_eq!(reported("mark-and-crlf"), ["orders.yaml:7:7 visibility-timeout-zero"]);
}

#[test]
fn merge_keys_are_expanded() {
    // The value is at one location in the file, so it is one finding that names both queues.
    assert_eq!(
        reported("merge-keys"),
        ["orders.yaml:7:7 visibility-timeout-zero for Orders, Refunds"]
    );
}
