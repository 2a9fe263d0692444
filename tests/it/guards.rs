//! Pairs of conditions on one value: what is found without the value must be what is found for some value of it.
//!
//! Each pair is judged once without a value and once for each of several values, for which no condition is left. A pair
//! that implies each other has no finding, a pair that is independent has one, and a finding without a condition is
//! found for every value.

use sqslint::testing::{describe, run_files};
use sqslint::{Outcome, rules};

fn judged(files: &[(&str, &str)]) -> Outcome {
    judged_by("visibility-timeout-below-function-timeout", files)
}

fn judged_by(rule: &str, files: &[(&str, &str)]) -> Outcome {
    let rule = rules::by_id(rule).expect("the rule exists");
    let outcome = run_files(rule, files);
    assert!(outcome.errors.is_empty(), "{}", describe(&outcome));
    outcome
}

/// Asserts that the findings of `open` are those of `closed`, the same files for each value. Returns `true` if there is
/// one.
fn agree(open: &Outcome, closed: &[Outcome], what: &str) -> bool {
    let found: Vec<bool> = closed.iter().map(|outcome| !outcome.findings.is_empty()).collect();
    let when: Vec<&Option<String>> = open.findings.iter().map(|found| &found.when).collect();
    assert_eq!(
        !when.is_empty(),
        found.contains(&true),
        "{what}: {when:?}, for each value: {found:?}"
    );
    let is_unconditional = when.iter().any(|when| when.is_none());
    assert!(
        !is_unconditional || !found.contains(&false),
        "{what}: unconditional, for each value: {found:?}"
    );
    !when.is_empty()
}

/// A variable of a module: its type, some values, and conditions on it.
struct Operand {
    kind: &'static str,
    values: &'static [&'static str],
    tests: &'static [&'static str],
}

const OPERANDS: &[Operand] = &[
    Operand {
        kind: "number",
        values: &["-1", "0", "1", "2", "4", "5", "6", "9", "10"],
        tests: &[
            "var.x > 0",
            "var.x >= 1",
            "0 < var.x",
            "var.x < 1",
            "var.x == 0",
            "var.x != 0",
            "var.x == 5",
            "var.x > 4",
            "var.x <= 9 && var.x > 4",
            "!(var.x >= 10)",
            "var.x > 0 ? var.x < 6 : false",
        ],
    },
    Operand {
        kind: "list(string)",
        values: &["[]", "[\"a\"]", "[\"a\", \"b\"]", "[\"a\", \"b\", \"c\"]"],
        tests: &[
            "length(var.x) > 0",
            "length(var.x) >= 1",
            "length(var.x) != 0",
            "length(var.x) == 0",
            "length(var.x) > 1",
            "length(var.x) == 2",
            "length(toset(var.x)) > 0",
            "length(distinct(var.x)) == 0",
            "length([for e in var.x : upper(e)]) > 0",
            "length({ for e in var.x : e => e }) < 2",
            "length(reverse(var.x)) <= 2",
            "try(length(var.x), 0) > 0",
            "length(coalesce(var.x, [])) > 0",
        ],
    },
    Operand {
        kind: "list(string)",
        values: &["null", "[]", "[\"a\"]", "[\"a\", \"b\"]"],
        tests: &[
            "var.x == null",
            "var.x != null",
            "length(coalesce(var.x, [])) > 0",
            "length(coalesce(var.x, [])) == 0",
            "var.x == null ? false : length(var.x) > 0",
            "var.x != null ? length(var.x) == 1 : true",
        ],
    },
    Operand {
        kind: "map(string)",
        values: &["{}", "{ a = 1 }", "{ a = 1, b = 2 }"],
        tests: &[
            "length(var.x) > 0",
            "length(keys(var.x)) > 0",
            "length(values(var.x)) == 0",
            "length(var.x) > 1",
            "length([for k, v in var.x : v]) >= 1",
            "length(coalesce(var.x, {})) > 1",
        ],
    },
    Operand {
        kind: "any",
        values: &["[]", "[1]", "[1, 2]"],
        tests: &[
            "var.x != []",
            "var.x == []",
            "length(var.x) > 0",
            "length(var.x) == 1",
            "length(var.x) < 1",
        ],
    },
    Operand {
        kind: "list(string)",
        values: &["[]", "[\"a\"]"],
        tests: &["var.x != []", "[] == var.x"],
    },
    Operand {
        kind: "string",
        values: &["\"\"", "\"a\"", "\"b\"", "\"ab\"", "null"],
        tests: &[
            "var.x == \"a\"",
            "var.x != \"a\"",
            "var.x == \"b\"",
            "var.x == \"\"",
            "var.x != \"\"",
            "var.x == null",
            "var.x != null",
            "var.x == \"a\" || var.x == \"b\"",
            "var.x != null && var.x != \"\"",
        ],
    },
    Operand {
        kind: "string",
        values: &["\"\"", "\"a\"", "\"b\"", "\"c\"", "\"ab\""],
        tests: &[
            "contains([\"a\", \"b\"], var.x)",
            "!contains([\"a\", \"b\"], var.x)",
            "contains([\"a\"], var.x)",
            "var.x == \"a\"",
            "var.x == \"c\"",
            "contains(toset([\"b\", \"c\"]), var.x)",
            "contains([\"\"], var.x)",
        ],
    },
    Operand {
        kind: "bool",
        values: &["true", "false"],
        tests: &[
            "var.x",
            "!var.x",
            "var.x == true",
            "var.x != true",
            "var.x == false",
            "anytrue([var.x == true, false])",
            "alltrue([true, !var.x])",
            "length(compact([var.x ? \"a\" : \"\"])) > 0",
            "lookup({ a = var.x ? 1 : 2 }, \"a\", 0) == 1",
        ],
    },
    Operand {
        kind: "bool\nnullable = false",
        values: &["true", "false"],
        tests: &[
            "var.x",
            "var.x == null",
            "var.x != null",
            "var.x == null ? false : var.x",
        ],
    },
    Operand {
        kind: "number\nvalidation {\ncondition = var.x > 0\nerror_message = \"positive\"\n}",
        values: &["1", "2"],
        tests: &["var.x > 1", "var.x > 0", "var.x == null", "var.x != null"],
    },
    Operand {
        kind: "object({ v = optional(number, 30) })",
        values: &["null", "{}"],
        tests: &[
            "var.x == null",
            "var.x != null",
            "try(var.x.v, 0) > 0",
            "var.x != null ? var.x.v == 30 : true",
            "length(var.x[*]) > 0",
            "length(var.x == null ? [] : [var.x]) == 0",
            "can(var.x.v)",
        ],
    },
];

fn module(kind: &str, queue: &str, function: &str, value: Option<&str>) -> Outcome {
    let text = format!(
        "variable \"x\" {{ type = {kind} }}\n{queue}\nresource \"aws_lambda_function\" \"f\" {{ timeout = ({function}) ? 50 : 5 }}\n"
    );
    let set = value.map(|value| format!("x = {value}\n"));
    let files = [
        ("main.tf", &*text),
        ("terraform.tfvars", set.as_deref().unwrap_or_default()),
    ];
    judged(files.get(..1 + usize::from(set.is_some())).unwrap_or(&files))
}

const MAPPING: &str = "function_name = aws_lambda_function.f.arn";

#[test]
fn pairs_of_tests_of_one_variable() {
    let (mut pairs, mut reported) = (0, 0);
    for Operand { kind, values, tests } in OPERANDS {
        for one in *tests {
            for other in *tests {
                let queue = format!(
                    r#"
resource "aws_sqs_queue" "q" {{ visibility_timeout_seconds = ({one}) ? 300 : 30 }}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = aws_sqs_queue.q.arn
  {MAPPING}
}}"#
                );
                let closed: Vec<Outcome> = values
                    .iter()
                    .map(|value| module(kind, &queue, other, Some(value)))
                    .collect();
                let open = module(kind, &queue, other, None);
                reported += usize::from(agree(&open, &closed, &format!("{kind}: {one} | {other}")));
                pairs += 1;
            }
        }
    }
    assert!(
        pairs > 500 && reported > 200 && reported < pairs,
        "{reported} of {pairs}"
    );
}

#[test]
fn pairs_of_a_guard_and_a_test() {
    let lists = ["[]", "[\"a\"]", "[\"a\", \"b\"]"];
    let maps = ["{}", "{ a = 1 }", "{ a = 1, b = 2 }"];
    let of_size = [
        "length(var.x) > 0",
        "length(var.x) == 0",
        "length(var.x) > 1",
        "length(var.x) == 1",
    ];
    let of_number = ["var.x > 0", "var.x == 0", "var.x >= 2", "var.x == 1"];
    let guards: &[(&str, &str, &[&str], &[&str])] = &[
        ("list(string)", "for_each = toset(var.x)", &lists, &of_size),
        (
            "list(string)",
            "for_each = toset(coalesce(var.x, []))",
            &lists,
            &of_size,
        ),
        (
            "list(string)",
            "for_each = { for e in var.x : e => e }",
            &lists,
            &of_size,
        ),
        (
            "list(string)",
            "for_each = toset([for e in var.x : e if e != \"z\"])",
            &lists,
            &of_size,
        ),
        (
            "list(string)",
            "for_each = length(var.x) > 1 ? toset(var.x) : []",
            &lists,
            &of_size,
        ),
        ("list(string)", "count = length(var.x)", &lists, &of_size),
        ("list(string)", "count = length(var.x) > 0 ? 1 : 0", &lists, &of_size),
        ("set(string)", "for_each = var.x", &lists, &of_size),
        ("map(string)", "for_each = var.x", &maps, &of_size),
        ("map(string)", "for_each = toset(keys(var.x))", &maps, &of_size),
        ("number", "count = var.x", &["0", "1", "2", "3"], &of_number),
        ("number", "count = var.x > 0 ? 1 : 0", &["0", "1", "2", "3"], &of_number),
    ];
    for (kind, guard, values, tests) in guards {
        let key = if guard.starts_with("count") {
            "count.index"
        } else {
            "each.key"
        };
        let same = format!("{guard}\nevent_source_arn = aws_sqs_queue.q[{key}].arn");
        let of_queue = "for_each = aws_sqs_queue.q\nevent_source_arn = each.value.arn".to_owned();
        let of_queue = (key == "each.key").then_some(of_queue);
        for of_mapping in std::iter::once(same).chain(of_queue) {
            let queue = format!(
                r#"
resource "aws_sqs_queue" "q" {{
  {guard}
  visibility_timeout_seconds = 30
}}
resource "aws_lambda_event_source_mapping" "m" {{
  {of_mapping}
  {MAPPING}
}}"#
            );
            for test in *tests {
                let closed: Vec<Outcome> = values
                    .iter()
                    .map(|value| module(kind, &queue, test, Some(value)))
                    .collect();
                agree(
                    &module(kind, &queue, test, None),
                    &closed,
                    &format!("{kind}: {guard} | {of_mapping} | {test}"),
                );
            }
        }
    }
}

/// Asserts that no pair of `tests` has a finding without a value that no value has.
fn are_never_false(kind: &str, values: &[&str], tests: &[&str]) {
    for one in tests {
        for other in tests {
            let queue = format!(
                r#"
resource "aws_sqs_queue" "q" {{ visibility_timeout_seconds = ({one}) ? 300 : 30 }}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = aws_sqs_queue.q.arn
  {MAPPING}
}}"#
            );
            let open = module(kind, &queue, other, None);
            let mut closed = values.iter().map(|value| module(kind, &queue, other, Some(value)));
            let is_true = open.findings.is_empty() || closed.any(|outcome| !outcome.findings.is_empty());
            assert!(is_true, "{one} | {other}: {}", describe(&open));
        }
    }
}

#[test]
fn pairs_of_conversions_are_never_false() {
    let of_number = ["var.x > 0", "var.x == 1", "tostring(var.x) == \"1\"", "var.x < 5"];
    are_never_false("number", &["-1", "0", "1", "2", "5"], &of_number);
    let of_text = [
        "var.x == \"1\"",
        "tonumber(var.x) > 0",
        "tonumber(var.x) == 1",
        "var.x != \"0\"",
    ];
    are_never_false("string", &["\"-1\"", "\"0\"", "\"1\"", "\"2\""], &of_text);
    let of_bool = ["var.x", "tostring(var.x) == \"true\"", "!var.x"];
    are_never_false("bool", &["true", "false"], &of_bool);
}

#[test]
fn pairs_of_conditions_within_collections_are_never_false() {
    let tests = [
        "var.x",
        "[var.x ? 1 : 2] == [1]",
        "contains([var.x ? \"a\" : \"b\"], \"a\")",
        "jsonencode({ a = var.x ? 1 : 2 }) == jsonencode({ a = 1 })",
        "keys({ (var.x ? \"a\" : \"b\") = 1 })[0] == \"a\"",
        "length([for e in [var.x ? \"a\" : \"\"] : e if e != \"\"]) == 1",
        "length(flatten([var.x ? [\"a\"] : [], []])) > 0",
        "length(toset([var.x ? \"a\" : \"b\", \"a\"])) == 1",
        "sum([var.x ? 1 : 0, 1]) > 1",
    ];
    are_never_false("bool", &["true", "false"], &tests);
}

#[test]
fn pairs_of_a_sender_and_a_policy() {
    let lists = ["[]", "[\"a\"]", "[\"a\", \"b\"]"];
    for sender in ["for_each = toset(var.x)", "count = length(var.x)"] {
        for (policy, is_reported) in [
            ("for_each = toset(var.x)", false),
            ("count = length(var.x) > 0 ? 1 : 0", false),
            ("count = length(var.x) == 0 ? 0 : 1", false),
            ("count = length(var.x) > 1 ? 1 : 0", true),
            ("count = length(var.x) == 0 ? 1 : 0", true),
        ] {
            let text = format!(
                r#"
variable "x" {{ type = list(string) }}
resource "aws_sns_topic" "t" {{}}
resource "aws_sqs_queue" "q" {{}}
resource "aws_sns_topic_subscription" "s" {{
  {sender}
  topic_arn = aws_sns_topic.t.arn
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.q.arn
}}
resource "aws_sqs_queue_policy" "p" {{
  {policy}
  queue_url = aws_sqs_queue.q.id
  policy    = jsonencode({{ Statement = [{{
    Effect    = "Allow"
    Action    = "sqs:SendMessage"
    Principal = {{ Service = "sns.amazonaws.com" }}
    Resource  = aws_sqs_queue.q.arn
  }}] }})
}}"#
            );
            let judge = |value: Option<&str>| {
                let set = value.map(|value| format!("x = {value}\n")).unwrap_or_default();
                let files = [("main.tf", &*text), ("terraform.tfvars", &*set)];
                judged_by("queue-policy-missing-for-producer", &files)
            };
            let closed: Vec<Outcome> = lists.iter().map(|value| judge(Some(value))).collect();
            let what = format!("{sender} | {policy}");
            assert_eq!(agree(&judge(None), &closed, &what), is_reported, "{what}");
        }
    }
}

#[test]
fn guards_on_a_partly_known_text() {
    for (text, is_decided) in [
        ("\"orders-${var.x}\"", true),
        ("\"${var.x}${var.x}\"", false),
        ("aws_sqs_queue.q.name", true),
        ("aws_sqs_queue.q.arn", true),
        ("var.x", false),
    ] {
        for test in ["length(T) > 0", "T != \"\"", "!(\"\" == T)", "length(T) >= 1"] {
            let queue = format!(
                r#"
resource "aws_sqs_queue" "q" {{
  name                       = "orders-${{var.x}}"
  visibility_timeout_seconds = 30
}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = aws_sqs_queue.q.arn
  {MAPPING}
}}"#
            );
            let outcome = module("string", &queue, &test.replace('T', text), None);
            let when: Vec<bool> = outcome.findings.iter().map(|found| found.when.is_none()).collect();
            assert_eq!(when, [is_decided], "{test} of {text}");
        }
    }
}

#[test]
fn pairs_of_conditions_of_a_template() {
    let tests = [
        "!Equals [!Ref E, dev]",
        "!Not [!Equals [dev, !Ref E]]",
        "!Equals [!Ref E, prod]",
        "!Or [!Equals [!Ref E, prod], !Equals [!Ref E, test]]",
        "!Equals [!Sub '${E}-x', prod-x]",
        "!Equals [!Join ['-', [!Ref E, x]], test-x]",
        "!Equals [!FindInMap [M, !Ref E, Tier], high]",
        "!Not [!Equals [!FindInMap [M, !Ref E, Tier], low]]",
        "!Equals [!FindInMap [M, !Ref E, Name], !Ref E]",
        "!And [!Equals [!FindInMap [M, !Ref E, Tier], high], !Not [!Equals [!Ref E, prod]]]",
    ];
    let template = |one: &str, other: &str, allowed: &str| {
        let text = format!(
            r"
Parameters:
  E: {{Type: String{allowed}}}
Mappings:
  M:
    dev: {{Tier: low, Name: dev}}
    test: {{Tier: high, Name: x}}
    prod: {{Tier: high, Name: prod}}
Conditions:
  One: {one}
  Other: {other}
Resources:
  Q: {{Type: AWS::SQS::Queue, Properties: {{VisibilityTimeout: !If [One, 300, 30]}}}}
  F: {{Type: AWS::Lambda::Function, Properties: {{Timeout: !If [Other, 50, 5]}}}}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {{EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}}
"
        );
        judged(&[("template.yaml", &text)])
    };
    let values = ["dev", "test", "prod"];
    for allowed in ["", ", AllowedValues: [dev, test, prod]", ", AllowedValues: [dev, prod]"] {
        for one in tests {
            for other in tests {
                let is_free = allowed.is_empty() && !one.contains("FindInMap") && !other.contains("FindInMap");
                let listed = values
                    .iter()
                    .filter(|value| allowed.is_empty() || allowed.contains(*value))
                    .chain(is_free.then_some(&"qa"));
                let closed: Vec<Outcome> = listed
                    .map(|value| template(one, other, &format!(", AllowedValues: [{value}]")))
                    .collect();
                agree(
                    &template(one, other, allowed),
                    &closed,
                    &format!("{allowed} {one} | {other}"),
                );
            }
        }
    }
}

/// Blocks whose instances have the keys `var.one` and `var.other`.
const KEYED_BLOCKS: &str = r#"
resource "aws_sqs_queue" "q" {
  for_each = toset([var.one, var.other])
  name     = each.key
}
resource "aws_lambda_function" "f" {
  for_each                       = toset([var.one, var.other])
  function_name                  = each.key
  reserved_concurrent_executions = 20
}
resource "aws_sqs_queue" "d" {}
resource "aws_sqs_queue" "e" {}
"#;

/// Rules, with links of such instances that cause a finding if both keys are equal.
const LINKS_WITH_KEYS: &[(&str, &str)] = &[
    (
        "event-source-mapping-duplicate",
        r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q[var.one].arn
  function_name    = "f"
}
resource "aws_lambda_event_source_mapping" "n" {
  event_source_arn = aws_sqs_queue.q[var.other].arn
  function_name    = "f"
}"#,
    ),
    (
        "queue-competing-consumers",
        r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q[var.one].arn
  function_name    = "f"
}
resource "aws_lambda_event_source_mapping" "n" {
  event_source_arn = aws_sqs_queue.q[var.other].arn
  function_name    = "g"
}"#,
    ),
    (
        "queue-policy-overwritten",
        r#"
resource "aws_sqs_queue_policy" "p" {
  queue_url = aws_sqs_queue.q[var.one].id
  policy    = "{}"
}
resource "aws_sqs_queue_policy" "r" {
  queue_url = aws_sqs_queue.q[var.other].id
  policy    = "{}"
}"#,
    ),
    (
        "redrive-policy-overwritten",
        r#"
resource "aws_sqs_queue_redrive_policy" "p" {
  queue_url      = aws_sqs_queue.q[var.one].id
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue_redrive_policy" "r" {
  queue_url      = aws_sqs_queue.q[var.other].id
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.e.arn, maxReceiveCount = 5 })
}"#,
    ),
    (
        "dead-letter-queue-cycle",
        r#"
resource "aws_sqs_queue_redrive_policy" "p" {
  queue_url      = aws_sqs_queue.q[var.one].id
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.q[var.other].arn, maxReceiveCount = 5 })
}"#,
    ),
    (
        "redrive-allow-policy-excludes-source",
        r#"
resource "aws_sqs_queue_redrive_allow_policy" "p" {
  queue_url            = aws_sqs_queue.q[var.one].id
  redrive_allow_policy = jsonencode({ redrivePermission = "denyAll" })
}
resource "aws_sqs_queue_redrive_policy" "p" {
  queue_url      = aws_sqs_queue.d.id
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.q[var.other].arn, maxReceiveCount = 5 })
}"#,
    ),
    (
        "dead-letter-queue-reprocessed",
        r#"
resource "aws_sqs_queue_redrive_policy" "p" {
  queue_url      = aws_sqs_queue.d.id
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.q[var.one].arn, maxReceiveCount = 5 })
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.d.arn
  function_name    = aws_lambda_function.f[var.one].arn
}
resource "aws_lambda_event_source_mapping" "n" {
  event_source_arn = aws_sqs_queue.q[var.one].arn
  function_name    = aws_lambda_function.f[var.other].arn
}"#,
    ),
    (
        "failure-target-is-source-queue",
        r#"
resource "aws_lambda_function" "g" {
  function_name = "g"
  dead_letter_config {
    target_arn = aws_sqs_queue.q[var.one].arn
  }
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q[var.other].arn
  function_name    = aws_lambda_function.g.arn
}"#,
    ),
    (
        "maximum-concurrency-exceeds-reserved",
        r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.d.arn
  function_name    = aws_lambda_function.f[var.one].arn
  scaling_config {
    maximum_concurrency = 15
  }
}
resource "aws_lambda_event_source_mapping" "n" {
  event_source_arn = aws_sqs_queue.e.arn
  function_name    = aws_lambda_function.f[var.other].arn
  scaling_config {
    maximum_concurrency = 15
  }
}"#,
    ),
    (
        "filter-misses-sns-envelope",
        r#"
resource "aws_sns_topic_subscription" "s" {
  topic_arn = "arn:aws:sns:eu-west-1:111122223333:t"
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.q[var.one].arn
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q[var.other].arn
  function_name    = "f"
  filter_criteria {
    filter {
      pattern = jsonencode({ body = { kind = ["a"] } })
    }
  }
}"#,
    ),
];

/// Instances of a block are one node if their keys are unresolved, but links with other keys lead to other instances.
#[test]
fn instances_with_unresolved_keys_are_different() {
    for (rule, blocks) in LINKS_WITH_KEYS {
        let found = |values: [&str; 2], blocks: &str| {
            let variables = format!(
                "variable \"one\" {{{}}}\nvariable \"other\" {{{}}}\n",
                values[0], values[1]
            );
            let outcome = judged_by(rule, &[("main.tf", &format!("{variables}{KEYED_BLOCKS}{blocks}"))]);
            outcome.findings.len()
        };
        let known = ["default = \"a\"", "default = \"b\""];
        assert_eq!(found(["", ""], blocks), 0, "{rule}");
        assert_eq!(found(known, blocks), 0, "{rule}");
        assert_eq!(found(known, &blocks.replace("var.other", "var.one")), 1, "{rule}");
    }
}
