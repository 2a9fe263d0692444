//! Conditions that the files do not settle: which of them are one question, and what each is called.
//!
//! A queue has a visibility timeout of 300 s where its question is answered with yes, else of 30 s; a function a
//! timeout of 50 s or of 5 s where its own is. Only where these are two questions may the 30 s meet the 50 s.

use sqslint::testing::run_files;
use sqslint::{rules, testing};

/// Under which conditions the function may outlast the visibility timeout.
fn findings(files: &[(&str, &str)]) -> Vec<String> {
    let rule = rules::by_id("visibility-timeout-below-function-timeout").expect("the rule exists");
    let outcome = run_files(rule, files);
    assert!(outcome.errors.is_empty(), "{}", testing::describe(&outcome));
    let shown = |found: &sqslint::diagnostic::Diagnostic| found.when.clone().unwrap_or_default();
    outcome.findings.iter().map(shown).collect()
}

const UNKNOWN: &str = r#"
variable "env" {}
variable "other" {}
variable "flags" {}
variable "names" {}
variable "count_of" {}
data "terraform_remote_state" "account" { backend = "s3" }
data "terraform_remote_state" "other" { backend = "s3" }
locals {
  env      = data.terraform_remote_state.account.outputs.env
  lowered  = lower(var.env)
  unknowns = [lower(var.env), lower(var.other)]
  known    = { x = { on = true }, y = { on = false } }
}
"#;

/// A queue in `count` instances that asks `one`, and a function without instances that asks `other`.
fn asked(one: &str, other: &str) -> Vec<String> {
    let text = format!(
        r#"{UNKNOWN}
resource "aws_sqs_queue" "q" {{
  count                      = 2
  visibility_timeout_seconds = {one} ? 300 : 30
}}
resource "aws_lambda_function" "f" {{
  timeout = {other} ? 50 : 5
}}
resource "aws_lambda_event_source_mapping" "m" {{
  count            = 2
  event_source_arn = aws_sqs_queue.q[count.index].arn
  function_name    = aws_lambda_function.f.arn
}}
"#
    );
    findings(&[("main.tf", &text)])
}

#[test]
fn one_question_has_one_answer_wherever_it_is_asked() {
    let account = "data.terraform_remote_state.account.outputs";
    let same = [
        // With `count` and without.
        (
            format!("{account}.env == \"prod\""),
            format!("{account}.env == \"prod\""),
        ),
        (format!("{account}.discount.on"), format!("{account}.discount.on")),
        // In a loop over something else, whose variable is a letter of it.
        (
            format!("[for e in [1] : {account}.env == \"prod\"][0]"),
            format!("{account}.env == \"prod\""),
        ),
        // However it is spelled.
        (
            format!("{account}.env == \"prod\""),
            format!("\"prod\" == {account}[\"env\"]"),
        ),
        (
            format!("{account}.env != \"prod\""),
            format!("!({account}.env == \"prod\")"),
        ),
        ("local.env == \"prod\"".to_owned(), format!("{account}.env == \"prod\"")),
        ("var.count_of > 3".to_owned(), "3 < var.count_of".to_owned()),
        (
            "local.lowered == \"a\"".to_owned(),
            "lower(var.env) == \"a\"".to_owned(),
        ),
        (
            "local.unknowns[0] == \"a\"".to_owned(),
            "lower(var.env) == \"a\"".to_owned(),
        ),
        ("var.env == var.other".to_owned(), "var.other == var.env".to_owned()),
        ("tostring(var.env) == \"a\"".to_owned(), "var.env == \"a\"".to_owned()),
        ("try(var.flags.a, false)".to_owned(), "var.flags.a".to_owned()),
        (
            "length([for n in var.names : n if n != \"x\"]) > 0".to_owned(),
            "length([for m in var.names : m if m != \"x\"]) > 0".to_owned(),
        ),
        (
            "contains(var.names[*].id, \"a\")".to_owned(),
            "contains(var.names[*].id, \"a\")".to_owned(),
        ),
        ("var.env == \"a\" && true".to_owned(), "var.env == \"a\"".to_owned()),
    ];
    for (one, other) in same {
        assert!(
            asked(&one, &other).is_empty(),
            "{one} | {other}: {:?}",
            asked(&one, &other)
        );
        assert!(asked(&other, &one).is_empty(), "{other} | {one}");
    }
    // What an instance knows is no part of the question.
    assert!(asked("var.names[count.index * 0] == \"a\"", "var.names[0] == \"a\"").is_empty());
}

#[test]
fn two_questions_have_answers_of_their_own() {
    let different = [
        ("var.flags.a", "var.flags.b"),
        ("var.flags[\"a\"]", "var.flags.b"),
        ("var.names[0] == \"a\"", "var.names[1] == \"a\""),
        ("var.flags[var.env]", "var.flags[var.other]"),
        ("local.known[var.env].on", "local.known[var.other].on"),
        ("lower(var.env) == \"a\"", "upper(var.env) == \"a\""),
        ("lower(var.env) == \"a\"", "lower(var.other) == \"a\""),
        ("contains(var.names, \"a\")", "contains(var.names, \"b\")"),
        ("length(var.names) == 1", "length(var.flags) == 1"),
        ("var.count_of + 1 == 5", "var.count_of == 5"),
        ("-var.count_of == 5", "var.count_of == 5"),
        ("var.count_of > 3", "var.count_of > 4"),
        ("local.unknowns[0] == \"a\"", "local.unknowns[1] == \"a\""),
        (
            "data.terraform_remote_state.account.outputs.env == \"a\"",
            "data.terraform_remote_state.other.outputs.env == \"a\"",
        ),
        (
            "length([for n in var.names : n if n != \"x\"]) > 0",
            "length([for n in var.names : n if n != \"y\"]) > 0",
        ),
        (
            "length([for n in var.names : n if n != var.env]) > 0",
            "length([for n in var.names : n if n != var.other]) > 0",
        ),
        ("contains(var.names[*].id, \"a\")", "contains(var.names[*].arn, \"a\")"),
        ("coalesce(var.env, \"a\") == \"a\"", "var.env == \"a\""),
        ("can(var.flags.a)", "var.flags.a"),
    ];
    for (one, other) in different {
        assert_eq!(asked(one, other).len(), 1, "{one} | {other}");
    }
}

#[test]
fn answers_that_exclude_each_other_never_meet() {
    let found = asked(
        "data.terraform_remote_state.account.outputs.env != \"prod\"",
        "data.terraform_remote_state.account.outputs.env == \"dev\"",
    );
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn instances_ask_their_own_questions() {
    let text = |function: &str| {
        format!(
            r#"
variable "on" {{}}
resource "aws_sqs_queue" "q" {{
  for_each                   = toset(["a", "b"])
  visibility_timeout_seconds = var.on[each.key] ? 300 : 30
}}
resource "aws_lambda_function" "f" {{
  for_each = toset(["a", "b"])
  timeout  = var.on[each.key] ? 50 : 5
}}
resource "aws_lambda_event_source_mapping" "m" {{
  for_each         = toset(["a", "b"])
  event_source_arn = aws_sqs_queue.q[each.key].arn
  function_name    = aws_lambda_function.f[{function}].arn
}}
"#
        )
    };
    assert!(findings(&[("main.tf", &text("each.key"))]).is_empty());
    let crossed = findings(&[("main.tf", &text("each.key == \"a\" ? \"b\" : \"a\""))]);
    assert_eq!(
        crossed,
        [
            "not var.on[\"a\"] and var.on[\"b\"]",
            "not var.on[\"b\"] and var.on[\"a\"]"
        ]
    );
}

#[test]
fn a_question_goes_along_into_modules() {
    let main = |given: &str| {
        format!(
            r#"{UNKNOWN}
module "queue" {{
  source = "./queue"
  count  = 1
  large  = {given}
}}
resource "aws_lambda_function" "f" {{ timeout = local.env == "prod" ? 50 : 5 }}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = module.queue[0].arn
  function_name    = aws_lambda_function.f.arn
}}
"#
        )
    };
    let queue = r#"
variable "large" {}
resource "aws_sqs_queue" "q" { visibility_timeout_seconds = var.large == "prod" ? 300 : 30 }
output "arn" { value = aws_sqs_queue.q.arn }
"#;
    let asked = |given: &str| findings(&[("main.tf", &main(given)), ("queue/main.tf", queue)]);
    assert!(asked("local.env").is_empty());
    assert_eq!(asked("var.env").len(), 1);
}

#[test]
fn a_question_is_shown_as_it_is_written() {
    let shown = |question: &str| asked(question, "true");
    let cases = [
        (
            "anytrue([\n    # Why it is so: \"prod\" || else.\n    lower(var.env) == \"prod\", // here\n    lower(var.other) == \"a  b\", /* and\n there */\n  ])",
            "not anytrue([lower(var.env) == \"prod\", lower(var.other) == \"a  b\",])",
        ),
        (
            "contains(\n    var.names,\n    \"a # b\"\n  )",
            "not contains(var.names, \"a # b\")",
        ),
        ("contains(var.names, \"a|b\")", "not contains(var.names, \"a|b\")"),
        ("(var.count_of\n  > 3)", "not var.count_of > 3"),
        ("var.flags[\"a-b\"]", "not var.flags[\"a-b\"]"),
        (
            "(data.terraform_remote_state.account.outputs.env # ours\n    == \"prod\")",
            "data.terraform_remote_state.account.outputs.env != prod",
        ),
    ];
    for (question, expected) in cases {
        assert_eq!(shown(question), [expected], "{question}");
    }
}

/// The same with conditions of a template.
fn template(conditions: &str) -> Vec<String> {
    let text = format!(
        r"
Transform: AWS::LanguageExtensions
Parameters:
  Env: {{Type: String}}
Conditions:
{conditions}
Resources:
  Settings: {{Type: Custom::Settings}}
  Q:
    Type: AWS::SQS::Queue
    Properties: {{VisibilityTimeout: !If [One, 300, 30]}}
  F:
    Type: AWS::Lambda::Function
    Properties: {{Timeout: !If [Other, 50, 5]}}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {{EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}}
"
    );
    findings(&[("template.yaml", &text)])
}

#[test]
fn conditions_of_templates_are_told_apart_by_what_they_say() {
    let long = |end: &str| {
        format!(
            "!Join ['', [!GetAtt Settings.Env, {}{end}]]",
            "a-long-text, ".repeat(60)
        )
    };
    let asked = |one: &str, other: &str| template(&format!("  One: {one}\n  Other: {other}"));
    let of = |expression: &str| format!("!Equals [{expression}, prod]");
    let same = [
        (of("!GetAtt Settings.Env"), of("{Fn::GetAtt: [Settings, Env]}")),
        (
            of("!GetAtt Settings.Env"),
            "!Equals [prod, !Sub '${Settings.Env}']".to_owned(),
        ),
        (of("!Ref Env"), of("{Ref: Env}")),
        (of("!Ref Env"), of("!Sub '${Env}'")),
        (of(&long("x")), of(&long("x"))),
        (
            of("!Select [0, !Split [',', {Fn::ImportValue: a}]]"),
            of("{Fn::Select: [0, {Fn::Split: [',', !ImportValue a]}]}"),
        ),
    ];
    for (one, other) in same {
        assert!(asked(&one, &other).is_empty(), "{one} | {other}");
    }
    let different = [
        (of("!GetAtt Settings.Env"), of("!GetAtt Settings.Size")),
        (of(&long("x")), of(&long("y"))),
        (
            of("!Select [0, !Split ['a, b', {Fn::ImportValue: a}]]"),
            of("!Select [0, !Split ['a', 'b', {Fn::ImportValue: a}]]"),
        ),
    ];
    for (one, other) in different {
        assert_eq!(asked(&one, &other).len(), 1, "{one} | {other}");
    }
}
