//! Broken and odd inputs under `fixtures/syntax/`: what is said of each, and that the rest is still judged.

use sqslint::{rules, testing};
use std::path::Path;

/// What `visibility-timeout-zero` and the pipeline report for a project, each as `file:line:column rule`, and for what if that is several.
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
            let calls = match finding.calls.as_slice() {
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
fn an_unclosed_block_leaves_the_other_file_of_the_module() {
    let wanted = ["orders.tf:3:3 visibility-timeout-zero", "refunds.tf:3:34 parse-error"];
    assert_eq!(reported("unclosed-block"), wanted);
}

#[test]
fn a_tab_leaves_the_other_template() {
    let wanted = [
        "orders.yaml:7:7 visibility-timeout-zero",
        "refunds.yaml:7:4 parse-error",
    ];
    assert_eq!(reported("tab-in-yaml"), wanted);
}

#[test]
fn the_last_of_repeated_keys_counts() {
    let wanted = [
        "orders.yaml:7:7 visibility-timeout-zero",
        "refunds.yaml:8:7 visibility-timeout-zero",
    ];
    assert_eq!(reported("duplicate-keys"), wanted);
}

#[test]
fn utf_16_is_named_and_leaves_the_other_template() {
    let wanted = [
        "orders.yaml:7:7 visibility-timeout-zero",
        "refunds.yaml:1:1 parse-error",
    ];
    assert_eq!(reported("utf-16"), wanted);
}

#[test]
fn a_byte_order_mark_and_crlf_shift_nothing() {
    assert_eq!(reported("mark-and-crlf"), ["orders.yaml:7:7 visibility-timeout-zero"]);
}

#[test]
fn merge_keys_bring_their_values() {
    // One place in the file is one finding, which names both queues.
    assert_eq!(
        reported("merge-keys"),
        ["orders.yaml:7:7 visibility-timeout-zero for Orders, Refunds"]
    );
}
