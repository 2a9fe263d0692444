//! Tests of edits that insert absent arguments.

use super::*;

const HEADER: &str = "resource \"aws_sqs_queue\" \"q\"";

/// Returns the file after `name = 360` was added to the queue.
fn with(text: &str, name: &str) -> Option<String> {
    let module = Module::one(text);
    let place = absent(module.span(HEADER), name);
    module.after(&Change::Number { place, value: 360 })
}

/// Asserts that adding `name` changes the body of the queue from `before` to `after`.
fn becomes(name: &str, before: &str, after: &str) {
    for line_break in ["\n", "\r\n"] {
        let whole = |body: &str| format!("{HEADER} {body}\noutput \"o\" {{\n}}\n").replace('\n', line_break);
        assert_eq!(
            with(&whole(before), name).as_deref(),
            Some(whole(after).as_str()),
            "{before}"
        );
    }
}

#[test]
fn argument_joins_an_aligned_group_that_it_fits_into() {
    becomes(
        "delay_seconds",
        "{\n  name                       = \"a\"\n  visibility_timeout_seconds = 30 # why\n\n  tags = {\n    a = 1\n  }\n}",
        "{\n  name                       = \"a\"\n  visibility_timeout_seconds = 30 # why\n  delay_seconds              = 360\n\n  tags = {\n    a = 1\n  }\n}",
    );
    becomes(
        "delay_seconds",
        "{\n  fifo_queue_a  = 1\n  tags = {\n    a = 1\n  }\n}",
        "{\n  fifo_queue_a  = 1\n  delay_seconds = 360\n  tags = {\n    a = 1\n  }\n}",
    );
}

#[test]
fn argument_is_separated_if_it_would_move_others() {
    becomes(
        "delay_seconds",
        "{\n  name = \"a\"\n}",
        "{\n  name = \"a\"\n\n  delay_seconds = 360\n}",
    );
    becomes(
        "delay_seconds",
        "{\n  name = \"a\" # why\n  # the end\n}",
        "{\n  name = \"a\" # why\n\n  delay_seconds = 360\n\n  # the end\n}",
    );
    becomes(
        "delay_seconds",
        "{\n  name = \"a\"\n  lifecycle {\n    prevent_destroy = true\n  }\n}",
        "{\n  name = \"a\"\n\n  delay_seconds = 360\n\n  lifecycle {\n    prevent_destroy = true\n  }\n}",
    );
    becomes(
        "delay_seconds",
        "{\n  name = \"a\"\n\n  lifecycle {\n    prevent_destroy = true\n  }\n}",
        "{\n  name = \"a\"\n\n  delay_seconds = 360\n\n  lifecycle {\n    prevent_destroy = true\n  }\n}",
    );
}

#[test]
fn argument_follows_brackets_and_heredocs() {
    becomes(
        "delay_seconds",
        "{\n  name = \"a\"\n  tags = {\n    a = 1\n  }\n}",
        "{\n  name = \"a\"\n  tags = {\n    a = 1\n  }\n  delay_seconds = 360\n}",
    );
    becomes(
        "delay_seconds",
        "{\n  name   = \"a\"\n  policy = <<EOT\nname = x # no\n}\nEOT\n}",
        "{\n  name   = \"a\"\n  policy = <<EOT\nname = x # no\n}\nEOT\n\n  delay_seconds = 360\n}",
    );
    becomes(
        "delay_seconds",
        "{\n  name = (\n    \"a\"\n  ) # c\n\n  # end\n}",
        "{\n  name = (\n    \"a\"\n  ) # c\n\n  delay_seconds = 360\n\n  # end\n}",
    );
}

#[test]
fn unaligned_blocks_stay_unaligned() {
    becomes(
        "delay_seconds",
        "{\n\tname = \"a\"\n\tfifo_queue = true\n}",
        "{\n\tname = \"a\"\n\tfifo_queue = true\n\tdelay_seconds = 360\n}",
    );
}

#[test]
fn one_line_blocks_are_expanded() {
    becomes("delay_seconds", "{}", "{\n  delay_seconds = 360\n}");
    becomes("delay_seconds", "{ }", "{\n  delay_seconds = 360\n}");
    becomes(
        "delay_seconds",
        "{ name = \"a = b\" }",
        "{\n  name          = \"a = b\"\n  delay_seconds = 360\n}",
    );
}

#[test]
fn first_argument_of_a_block_is_inserted() {
    becomes("delay_seconds", "{\n}", "{\n  delay_seconds = 360\n}");
    becomes("delay_seconds", "{\n  # why\n}", "{\n  # why\n  delay_seconds = 360\n}");
    becomes(
        "delay_seconds",
        "{ # why\n  lifecycle {\n    prevent_destroy = true\n  }\n}",
        "{ # why\n  delay_seconds = 360\n\n  lifecycle {\n    prevent_destroy = true\n  }\n}",
    );
}

#[test]
fn present_and_foreign_arguments_are_not_inserted() {
    let queue = |body: &str| format!("{HEADER} {{\n{body}\n}}\n");
    assert_eq!(with(&queue("  delay_seconds = null"), "delay_seconds"), None);
    assert_eq!(with(&queue("  name = \"a\""), "timeout"), None);
    assert_eq!(with(&queue("  name = = \"a\""), "delay_seconds"), None);
    let called = format!("module \"m\" {{\n}}\n{}", queue(""));
    let module = Module::one(&called);
    let place = absent(module.span("module \"m\""), "delay_seconds");
    assert_eq!(module.after(&Change::Number { place, value: 1 }), None);
    let text = queue("");
    let module = Module::of(&[("main.tf", &text), ("main_override.tf", &text)]);
    let place = absent(module.span(HEADER), "delay_seconds");
    assert_eq!(module.after(&Change::Number { place, value: 1 }), None);
}

#[test]
fn aligned_comments_stay_aligned() {
    becomes(
        "delay_seconds",
        "{\n  name = 1    # a\n  lifecycle { # b\n  }\n}",
        "{\n  name = 1 # a\n\n  delay_seconds = 360\n\n  lifecycle { # b\n  }\n}",
    );
}

#[test]
fn changed_number_realigns_adjacent_comments() {
    let text = |lines: &str| format!("{HEADER} {{\n  name          = \"a\"\n{lines}}}\n");
    for (before, after) in [
        (
            "  delay_seconds = 30  # a\n  b             = 100 # b\n",
            "  delay_seconds = 3600 # a\n  b             = 100  # b\n",
        ),
        ("  delay_seconds = 30 # a\n", "  delay_seconds = 3600 # a\n"),
        (
            "  delay_seconds = 30    # a\n  b             = 100 # b\n",
            "  delay_seconds = 3600    # a\n  b             = 100 # b\n",
        ),
    ] {
        let module = Module::one(&text(before));
        let place = Place {
            written: Some(module.span("delay_seconds = 30")),
            value: Some(30),
            ..absent(module.span(HEADER), "delay_seconds")
        };
        let after_change = module.after(&Change::Number { place, value: 3600 });
        assert_eq!(after_change, Some(text(after)));
    }
}

#[test]
fn number_is_passed_to_a_described_module() {
    let call = |source: &str| {
        format!("module \"m\" {{\n  source  = \"{source}\"\n  version = \"4.2.1\"\n\n  name = \"a\"\n}}\n")
    };
    let with = |text: &str, name: &str| {
        let module = Module::one(text);
        let header = module.span("module \"m\"");
        // The described module sets a value, which has no span except that of the call.
        let place = Place {
            written: Some(header),
            origins: vec![header],
            value: Some(30),
            ..absent(header, name)
        };
        module.after(&Change::Number { place, value: 360 })
    };
    let known = call("terraform-aws-modules/sqs/aws");
    assert_eq!(
        with(&known, "visibility_timeout_seconds"),
        Some(known.replace("\n}", "\n\n  visibility_timeout_seconds = 360\n}"))
    );
    assert_eq!(with(&known, "visibility_timeout"), None);
    assert_eq!(with(&call("./m"), "visibility_timeout_seconds"), None);
}
