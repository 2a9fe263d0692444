//! Checks the variables of unresolved conditions: which expressions share one, and how it is named in findings.
//!
//! Each test has a queue with a visibility timeout of 300 s if its expression is true, and otherwise 30 s; and a
//! function with a timeout of 50 s if its own expression is true, and otherwise 5 s. Only if the two expressions are
//! independent can 30 s and 50 s occur together, which is a finding.

use sqslint::testing::run_files;
use sqslint::{Outcome, rules, testing};

/// Returns the conditions under which the function timeout exceeds the visibility timeout.
fn findings(files: &[(&str, &str)]) -> Vec<String> {
    conditions_of(&judged(files))
}

fn judged(files: &[(&str, &str)]) -> Outcome {
    let rule = rules::by_id("visibility-timeout-below-function-timeout").expect("the rule exists");
    let outcome = run_files(rule, files);
    assert!(outcome.errors.is_empty(), "{}", testing::describe(&outcome));
    outcome
}

fn conditions_of(outcome: &Outcome) -> Vec<String> {
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

/// Checks a queue with `count` that depends on `one`, and a function without `count` that depends on `other`.
fn conditions_of_finding(one: &str, other: &str) -> Vec<String> {
    conditions_of(&asked_of(one, other))
}

fn asked_of(one: &str, other: &str) -> Outcome {
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
    judged(&[("main.tf", &text)])
}

#[test]
fn equal_expressions_share_a_variable() {
    let account = "data.terraform_remote_state.account.outputs";
    let same = [
        // The same expression, with `count` and without.
        (
            format!("{account}.env == \"prod\""),
            format!("{account}.env == \"prod\""),
        ),
        (format!("{account}.discount.on"), format!("{account}.discount.on")),
        // Inside a loop over something else, whose variable is a letter of the expression.
        (
            format!("[for e in [1] : {account}.env == \"prod\"][0]"),
            format!("{account}.env == \"prod\""),
        ),
        // Different spellings of the same expression.
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
            conditions_of_finding(&one, &other).is_empty(),
            "{one} | {other}: {:?}",
            conditions_of_finding(&one, &other)
        );
        assert!(conditions_of_finding(&other, &one).is_empty(), "{other} | {one}");
    }
    // Values known per instance are not part of the expression.
    assert!(conditions_of_finding("var.names[count.index * 0] == \"a\"", "var.names[0] == \"a\"").is_empty());
}

#[test]
fn different_expressions_are_independent() {
    let different = [
        ("var.flags.a", "var.flags.b"),
        ("var.flags[\"a\"]", "var.flags.b"),
        ("var.names[0] == \"a\"", "var.names[1] == \"a\""),
        ("local.known[var.env].on", "local.known[var.other].on"),
        ("lower(var.env) == \"a\"", "lower(var.other) == \"a\""),
        ("length(var.names) == 1", "length(var.flags) == 1"),
        ("local.unknowns[0] == \"a\"", "local.unknowns[1] == \"a\""),
        (
            "data.terraform_remote_state.account.outputs.env == \"a\"",
            "data.terraform_remote_state.other.outputs.env == \"a\"",
        ),
    ];
    for (one, other) in different {
        assert_eq!(conditions_of_finding(one, other).len(), 1, "{one} | {other}");
    }
}

#[test]
fn expressions_of_different_instances_are_independent() {
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
fn expression_keeps_its_variable_in_called_modules() {
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
fn condition_is_shown_as_written() {
    let shown = |question: &str| conditions_of_finding(question, "true");
    let cases = [
        (
            "anytrue([\n    # Why it is so: \"prod\" || else.\n    lower(var.env) == \"prod\", // here\n    lower(var.other) == \"a  b\", /* and\n there */\n  ])",
            "lower(var.env) != prod and lower(var.other) != a  b",
        ),
        (
            "contains(\n    var.names,\n    \"a # b\"\n  )",
            "not contains(var.names, \"a # b\")",
        ),
        ("contains(var.names, \"a|b\")", "not contains(var.names, \"a|b\")"),
        ("(var.count_of\n  > 3)", "var.count_of <= 3"),
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

/// Checks the same queue and function with the conditions of a template.
fn template(conditions: &str) -> Vec<String> {
    conditions_of(&template_of(conditions))
}

fn template_of(conditions: &str) -> Outcome {
    let text = format!(
        r"
Transform: AWS::LanguageExtensions
Parameters:
  Env: {{Type: String}}
  Other: {{Type: String}}
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
    judged(&[("template.yaml", &text)])
}

#[test]
fn template_conditions_are_distinguished_by_their_content() {
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
        (
            of("!Select [0, !Split [',', {Fn::ImportValue: a}]]"),
            of("!Select [0, !Split [',', {Fn::ImportValue: b}]]"),
        ),
        // One parameter that is compared with two values.
        (
            "!Not [!Equals [!Ref Env, prod]]".to_owned(),
            "!Not [!Equals [!Ref Env, dev]]".to_owned(),
        ),
    ];
    for (one, other) in different {
        assert_eq!(asked(&one, &other).len(), 1, "{one} | {other}");
    }
    let of_one_value = [
        (of(&long("x")), of(&long("y"))),
        (
            of("!Select [0, !Split ['a, b', {Fn::ImportValue: a}]]"),
            of("!Select [0, !Split ['a', 'b', {Fn::ImportValue: a}]]"),
        ),
        (of("!Ref Env"), of("!Select [0, !Split ['-', !Ref Env]]")),
        (of("!Ref Env"), of("!Join ['-', [!Select [0, !Split ['-', !Ref Env]]]]")),
        (
            "!Equals [!Sub '${Env}-${Other}', a-b]".to_owned(),
            "!Equals [!Ref Env, !Sub '${Other}-x']".to_owned(),
        ),
        (of("!GetAtt Settings.Env"), of("!Join ['', [x, !GetAtt Settings.Env]]")),
        ("!Equals [!Sub 'a-${Env}', !Ref Other]".to_owned(), of("!Ref Env")),
    ];
    for (one, other) in of_one_value {
        for (one, other) in [(&one, &other), (&other, &one)] {
            let outcome = template_of(&format!("  One: {one}\n  Other: {other}"));
            assert_unjudged(&outcome, &format!("{one} | {other}"));
        }
    }
}

/// Asserts that there is no finding, and that the queue is not judged because two conditions may exclude each other.
fn assert_unjudged(outcome: &Outcome, what: &str) {
    assert_eq!(conditions_of(outcome), [""; 0], "{what}");
    let reasons: Vec<&str> = outcome.not_evaluated.iter().map(|note| &*note.reason).collect();
    let is_entangled = |reason: &&str| reason.ends_with("which may exclude each other");
    assert!(
        !reasons.is_empty() && reasons.iter().all(is_entangled),
        "{what}: {reasons:?}"
    );
}

#[test]
fn no_finding_depends_on_two_entangled_conditions() {
    let pairs = [
        // One condition implies the other.
        ("var.flags != null", "var.flags.a"),
        ("can(var.flags.a)", "var.flags.a"),
        ("lower(var.env) == \"a\"", "var.env == \"a\""),
        // Equivalent.
        ("var.count_of + 1 == 5", "var.count_of == 4"),
        ("length(var.names) > 0", "var.names != tolist([])"),
        ("coalesce(var.env, \"a\") == \"a\"", "var.env == \"a\""),
        // The conditions exclude each other.
        ("-var.count_of == 5", "var.count_of == 5"),
        // The conditions may be independent.
        ("var.flags[var.env]", "var.flags[var.other]"),
        ("lower(var.env) == \"a\"", "upper(var.env) == \"a\""),
        ("contains(var.names, \"a\")", "contains(var.names, \"b\")"),
        ("contains(var.names[*].id, \"a\")", "contains(var.names[*].arn, \"a\")"),
        (
            "length([for n in var.names : n if n != \"x\"]) > 0",
            "length([for n in var.names : n if n != \"y\"]) > 0",
        ),
        (
            "length([for n in var.names : n if n != var.env]) > 0",
            "length([for n in var.names : n if n != var.other]) > 0",
        ),
        ("local.env == \"a\"", "startswith(local.env, \"a\")"),
        ("\"${var.env}-x\" == var.other", "var.env == \"a\""),
        // A third condition on the same value makes no difference.
        (
            "lower(var.env) == \"a\"",
            "var.env == \"a\" || length(var.flags) > 9 && upper(var.env) == \"b\"",
        ),
    ];
    for (one, other) in pairs {
        for (one, other) in [(one, other), (other, one)] {
            assert_unjudged(&asked_of(one, other), &format!("{one} | {other}"));
        }
    }
}

#[test]
fn findings_that_depend_on_one_of_two_entangled_conditions_are_made() {
    let pairs = [
        ("false", "var.count_of > 3", "var.count_of > 3"),
        // The finding also applies in a way that needs only `var.env`.
        (
            "var.count_of > 3",
            "var.count_of > 4 || var.env == \"a\"",
            "var.count_of <= 3 and var.env = a",
        ),
        // Different values of one variable are known to exclude each other.
        ("var.env == \"a\"", "var.env == \"b\"", "var.env = b"),
        ("var.env == \"a\"", "var.env != \"b\"", "var.env != a, b"),
    ];
    for (one, other, when) in pairs {
        assert_eq!(conditions_of_finding(one, other), [when], "{one} | {other}");
    }
    // The text of the finding is the same for both values of `var.count_of > 4`.
    let text = format!(
        r#"{UNKNOWN}
resource "aws_sqs_queue" "q" {{ visibility_timeout_seconds = var.count_of > 3 ? 300 : 30 }}
resource "aws_lambda_function" "f" {{
  timeout     = var.count_of > 4 ? 50 : 50.0
  memory_size = var.count_of > 4 ? 128 : 256
}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}}
"#
    );
    assert_eq!(findings(&[("main.tf", &text)]), ["var.count_of <= 3"]);
}

#[test]
fn guard_of_several_terms_does_not_hide_findings_on_its_resource() {
    let text = |of_queue: &str, of_dlq: &str| {
        format!(
            r#"{UNKNOWN}
resource "aws_sqs_queue" "q" {{
  count          = {of_queue} ? 1 : 0
  redrive_policy = jsonencode({{ deadLetterTargetArn = one(aws_sqs_queue.dlq[*].arn), maxReceiveCount = 1 }})
}}
resource "aws_sqs_queue" "dlq" {{
  count                     = {of_dlq} ? 1 : 0
  message_retention_seconds = 86400
}}
"#
        )
    };
    let guard = "var.names != null && length(var.names) > 0";
    let found = |rule, of_queue, of_dlq| {
        let rule = rules::by_id(rule).expect("the rule exists");
        !run_files(rule, &[("main.tf", &text(of_queue, of_dlq))])
            .findings
            .is_empty()
    };
    let (alone, of_both) = ("max-receive-count-too-low", "dead-letter-queue-retention-too-short");
    // Both resources have the same guard.
    assert!(found(alone, guard, guard));
    assert!(found(of_both, guard, guard));
    // The guards may exclude each other.
    assert!(!found(of_both, "var.names == null", "length(var.names) > 0"));
}

#[test]
fn account_is_entangled_with_all_parameters() {
    let template = |timeout: &str| {
        let text = format!(
            r"
Parameters:
  Env: {{Type: String, AllowedValues: [dev, prod]}}
  Other: {{Type: String, AllowedValues: [dev, prod]}}
Mappings:
  Visibility: {{dev: {{Seconds: 30}}, prod: {{Seconds: 300}}}}
  ByEnv: {{dev: {{Seconds: 5}}, prod: {{Seconds: 50}}}}
  ByAccount: {{'111111111111': {{Seconds: 5}}, '222222222222': {{Seconds: 50}}}}
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties: {{VisibilityTimeout: !FindInMap [Visibility, !Ref Env, Seconds]}}
  F:
    Type: AWS::Lambda::Function
    Properties: {{Timeout: {timeout}}}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {{EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}}
"
        );
        judged(&[("template.yaml", &text)])
    };
    assert_unjudged(
        &template("!FindInMap [ByAccount, !Ref AWS::AccountId, Seconds]"),
        "a template",
    );
    let independent = template("!FindInMap [ByEnv, !Ref Other, Seconds]");
    assert_eq!(conditions_of(&independent), ["Env = dev and Other = prod"]);
    assert_eq!(conditions_of(&template("50")), ["Env = dev"]);
    let module = |seconds: &str, key: &str| {
        let text = format!(
            r#"
variable "env" {{}}
data "aws_caller_identity" "current" {{}}
data "aws_region" "current" {{}}
locals {{
  visibility = {{ dev = 30, prod = 300 }}
  timeouts   = {{ "111111111111" = 5, "222222222222" = 50 }}
}}
resource "aws_sqs_queue" "q" {{ visibility_timeout_seconds = {seconds} }}
resource "aws_lambda_function" "f" {{ timeout = local.timeouts[data.{key}] }}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}}
"#
        );
        judged(&[("main.tf", &text)])
    };
    let account = "aws_caller_identity.current.account_id";
    assert_eq!(conditions_of(&module("local.visibility[var.env]", account)), [""; 0]);
    assert_eq!(
        conditions_of(&module("local.visibility[var.env]", "aws_region.current.name")).len(),
        1
    );
    assert_eq!(
        conditions_of(&module("30", account)),
        ["data.aws_caller_identity.current.account_id = 222222222222"]
    );
}

/// `${var.prefix}-orders` is unknown, but the same in the queue and in the lookup of its name.
#[test]
fn key_over_names_with_an_unset_variable_is_the_same_key() {
    let text = |key: &str| {
        format!(
            r#"
variable "prefix" {{}}
locals {{ names = {{ orders = "${{var.prefix}}-orders", mails = "${{var.prefix}}-mails" }} }}
resource "aws_sqs_queue" "q" {{
  for_each                   = local.names
  name                       = each.value
  visibility_timeout_seconds = each.key == "orders" ? 300 : 30
}}
resource "aws_lambda_function" "f" {{
  for_each = local.names
  timeout  = each.value == "${{var.prefix}}-orders" ? 50 : 5
}}
resource "aws_lambda_event_source_mapping" "m" {{
  for_each         = local.names
  event_source_arn = aws_sqs_queue.q[{key}].arn
  function_name    = aws_lambda_function.f[each.key].arn
}}
"#
        )
    };
    assert_eq!(findings(&[("main.tf", &text("each.key"))]), Vec::<String>::new());
    let crossed = text("each.key == \"orders\" ? \"mails\" : \"orders\"");
    assert_eq!(findings(&[("main.tf", &crossed)]), [""]);
}

/// A caller that sets the object may leave out the attribute.
#[test]
fn default_of_an_optional_attribute_applies_to_an_object_that_leaves_it_out() {
    let text = |default: &str| {
        format!(
            r#"
variable "queue" {{
  type = object({{ visibility = optional(number, 30) }})
  {default}
}}
resource "aws_sqs_queue" "q" {{ visibility_timeout_seconds = var.queue.visibility }}
resource "aws_lambda_function" "f" {{ timeout = 50 }}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}}
"#
        )
    };
    assert_eq!(findings(&[("main.tf", &text("default = {}"))]), [""]);
    assert_eq!(
        findings(&[("main.tf", &text("default = { visibility = 300 }"))]),
        Vec::<String>::new()
    );
    // The file that sets the object without the attribute is known, too.
    let files = [("main.tf", &*text("")), ("terraform.tfvars", "queue = {}\n")];
    assert_eq!(findings(&files), [""]);
}
