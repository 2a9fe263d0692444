//! Arguments where nothing is written.

use super::*;

const HEADER: &str = "resource \"aws_sqs_queue\" \"q\"";

/// The file with `name = 360` added to the queue.
fn with(text: &str, name: &str) -> Option<String> {
    let module = Module::one(text);
    let place = absent(module.span(HEADER), name);
    module.after(&Change::Number { place, value: 360 })
}

/// Asserts what the body of the queue becomes when `name` is added.
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
fn it_joins_a_group_that_it_fits_into() {
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
fn it_stands_apart_where_it_would_move_others() {
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
fn after_brackets_and_heredocs() {
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
fn where_nothing_is_aligned_it_is_not_either() {
    becomes(
        "delay_seconds",
        "{\n\tname = \"a\"\n\tfifo_queue = true\n}",
        "{\n\tname = \"a\"\n\tfifo_queue = true\n\tdelay_seconds = 360\n}",
    );
}

#[test]
fn blocks_on_one_line_are_opened() {
    becomes("delay_seconds", "{}", "{\n  delay_seconds = 360\n}");
    becomes("delay_seconds", "{ }", "{\n  delay_seconds = 360\n}");
    becomes(
        "delay_seconds",
        "{ name = \"a = b\" }",
        "{\n  name          = \"a = b\"\n  delay_seconds = 360\n}",
    );
}

#[test]
fn blocks_without_arguments_get_their_first() {
    becomes("delay_seconds", "{\n}", "{\n  delay_seconds = 360\n}");
    becomes("delay_seconds", "{\n  # why\n}", "{\n  # why\n  delay_seconds = 360\n}");
    becomes(
        "delay_seconds",
        "{ # why\n  lifecycle {\n    prevent_destroy = true\n  }\n}",
        "{ # why\n  delay_seconds = 360\n\n  lifecycle {\n    prevent_destroy = true\n  }\n}",
    );
}

#[test]
fn what_is_there_or_belongs_elsewhere_is_refused() {
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
fn comments_that_were_aligned_are_again() {
    becomes(
        "delay_seconds",
        "{\n  name = 1    # a\n  lifecycle { # b\n  }\n}",
        "{\n  name = 1 # a\n\n  delay_seconds = 360\n\n  lifecycle { # b\n  }\n}",
    );
}

#[test]
fn another_number_moves_the_comments_beside_it() {
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
fn a_module_that_is_not_here_is_handed_the_number() {
    let call = |source: &str| {
        format!("module \"m\" {{\n  source  = \"{source}\"\n  version = \"4.2.1\"\n\n  name = \"a\"\n}}\n")
    };
    let with = |text: &str, name: &str| {
        let module = Module::one(text);
        let header = module.span("module \"m\"");
        // The module sets something else, at no place of its own.
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
