//! Tests of edits that remove arguments.

use super::*;

const HEADER: &str = "resource \"aws_lambda_event_source_mapping\" \"m\"";
const NAME: &str = "maximum_batching_window_in_seconds";

/// Returns the file without the window of the mapping, which is written as `argument`.
fn without(text: &str, argument: &str) -> Option<String> {
    let module = Module::one(text);
    let place = Place {
        written: Some(module.span(argument)),
        value: Some(5),
        ..absent(module.span(HEADER), NAME)
    };
    module.after(&Change::Remove(place))
}

/// Asserts that removing the window changes the body of the mapping from `before` to `after`.
fn becomes(argument: &str, before: &str, after: &str) {
    for line_break in ["\n", "\r\n"] {
        let whole = |body: &str| format!("{HEADER} {body}\n").replace('\n', line_break);
        assert_eq!(
            without(&whole(before), argument).as_deref(),
            Some(whole(after).as_str()),
            "{before}"
        );
    }
}

#[test]
fn line_is_removed_with_its_comment() {
    let argument = "maximum_batching_window_in_seconds = 5";
    becomes(
        argument,
        "{\n  batch_size = 1\n\n  maximum_batching_window_in_seconds = 5 # why\n\n  tags = {\n  }\n}",
        "{\n  batch_size = 1\n\n  tags = {\n  }\n}",
    );
    becomes(
        argument,
        "{\n  batch_size = 1\n\n  maximum_batching_window_in_seconds = 5\n}",
        "{\n  batch_size = 1\n}",
    );
    becomes(
        argument,
        "{\n  maximum_batching_window_in_seconds = 5\n\n  batch_size = 1\n}",
        "{\n  batch_size = 1\n}",
    );
    becomes(argument, "{ maximum_batching_window_in_seconds = 5 }", "{}");
}

#[test]
fn remaining_arguments_are_realigned() {
    becomes(
        "maximum_batching_window_in_seconds = 5",
        "{\n  batch_size                         = 1 # a\n  maximum_batching_window_in_seconds = 5\n  \
         a                                  = \"b\"\n}",
        "{\n  batch_size = 1 # a\n  a          = \"b\"\n}",
    );
    becomes(
        "maximum_batching_window_in_seconds = 5",
        "{\n  a                                  = 1  # a\n  maximum_batching_window_in_seconds = 50 # b\n  \
         bc                                 = 2  # c\n}"
            .replace("= 50", "= 5")
            .replace("1  #", "1 #")
            .replace("2  #", "2 #")
            .as_str(),
        "{\n  a  = 1 # a\n  bc = 2 # c\n}",
    );
    becomes(
        "maximum_batching_window_in_seconds = 555",
        "{\n  a                                  = 1   # a\n  maximum_batching_window_in_seconds = 555 # b\n  \
         bc                                 = 22  # c\n}",
        "{\n  a  = 1  # a\n  bc = 22 # c\n}",
    );
}

#[test]
fn unaligned_arguments_are_unchanged() {
    becomes(
        "maximum_batching_window_in_seconds = 5",
        "{\n    batch_size   = 1\n    maximum_batching_window_in_seconds = 5\n    a = 2\n}",
        "{\n    batch_size   = 1\n    a = 2\n}",
    );
}

#[test]
fn computed_arguments_are_not_removed() {
    let argument = "maximum_batching_window_in_seconds = var.x";
    assert_eq!(without(&format!("{HEADER} {{\n  {argument}\n}}\n"), argument), None);
    let of_module = "maximum_batching_window_in_seconds = 5";
    let module = Module::one(&format!("module \"m\" {{\n  {of_module}\n}}\n"));
    let place = Place {
        written: Some(module.span(of_module)),
        ..absent(module.span("module \"m\""), NAME)
    };
    assert_eq!(module.after(&Change::Remove(place)), None);
}
