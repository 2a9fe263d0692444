//! Tests expressions over one small graph: their results, and the errors in invalid ones.

use super::objects::Object;
use super::value::{State, Value};
use super::{Definition, Demand, Policy, Target, check, context, eval, syntax};
use crate::diagnostic::Severity;
use crate::testing::run_files;
use conditions::Condition;

const GRAPH: &str = r#"
variable "open" {}
variable "bounded" {
  type = number
  validation {
    condition = var.bounded >= 60 && var.bounded <= 900
    error_message = "no"
  }
}
variable "stage" {}
resource "aws_sqs_queue" "orders" {
  name                       = "orders"
  visibility_timeout_seconds = var.bounded
  message_retention_seconds  = 1209600
  delay_seconds              = var.open
  tags = { owner = "shop", "cost-center" = var.open }
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "failed" {
  name = "${var.stage}-orders-failed"
}
resource "aws_lambda_function" "worker" {
  function_name = "worker"
  timeout       = 30
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.worker.arn
}
"#;

/// Evaluates `text` for `aws_sqs_queue.orders`, and returns each case with its condition.
fn judged(text: &str) -> String {
    let rule = crate::rules::by_id("visibility-timeout-zero").expect("it is a rule");
    let outcome = run_files(rule, &[("main.tf", GRAPH)]);
    let graph = &outcome.graph;
    let queue = graph
        .queues()
        .iter()
        .find(|queue| &*queue.resource.address == "aws_sqs_queue.orders");
    let queue = queue.expect("it is declared");
    let object = super::types::ObjectType::Queue;
    let code = syntax::parse(text).and_then(|expr| check::check(&expr, "queue", object));
    let code = match code {
        Ok(code) => code,
        Err(fault) => return format!("{}..{}: {}", fault.range.start, fault.range.end, fault.message),
    };
    let context = context::Context::new(graph, Some("prod"));
    let budget = eval::Budget::new(10_000);
    let mut evaluator = eval::Evaluator::new(&context, Object::Queue(queue), queue.resource.unit, &budget);
    let forks = evaluator.eval(&code, &Condition::always());
    let shown = forks.iter().map(|fork| {
        let value = match &fork.then.state {
            State::Known(Value::Bool(truth)) => truth.to_string(),
            State::Known(_) => "something else".to_owned(),
            State::Unknown(gap) => format!("unknown: {}", gap.reason),
            State::Missing => "missing".to_owned(),
        };
        match fork.when.describe() {
            Some(when) => format!("{value} when {when}"),
            None => value,
        }
    });
    shown.collect::<Vec<_>>().join("; ")
}

#[test]
fn expressions_are_true_false_or_unknown() {
    const OPEN: &str = "unknown: `var.open` has no value";
    const BOUNDED: &str = "unknown: `var.bounded` has no value";
    for (text, expected) in [
        ("queue.retention == duration(\"14d\")", "true"),
        ("queue.retention >= duration('336h1s')", "false"),
        ("queue.name.startsWith(\"ord\") && !queue.fifo", "true"),
        ("queue.name in ['a', \"orders\"]", "true"),
        ("queue.name.matches('^[a-z]+$')", "true"),
        ("size(queue.name) == 6 && queue.name.size() == 6", "true"),
        ("queue.delay == duration('0s')", OPEN),
        // The bounds of an unknown number may determine the result.
        ("queue.visibility_timeout >= duration('60s')", "true"),
        ("queue.visibility_timeout < duration('60s')", "false"),
        ("queue.visibility_timeout <= duration('59s')", "false"),
        ("queue.visibility_timeout >= duration('61s')", BOUNDED),
        ("queue.visibility_timeout == duration('59s')", "false"),
        ("queue.visibility_timeout != duration('59s')", "true"),
        ("2 * queue.visibility_timeout >= duration('2m')", "true"),
        ("queue.visibility_timeout + duration('1s') > duration('60s')", "true"),
        // Another value determines the result.
        ("queue.delay == duration('0s') && queue.fifo", "false"),
        ("queue.fifo && queue.delay == duration('0s')", "false"),
        ("queue.delay == duration('0s') || queue.name == 'orders'", "true"),
        ("queue.delay == duration('0s') || queue.fifo", OPEN),
        ("queue.fifo ? queue.delay == duration('0s') : true", "true"),
        // Links.
        ("queue.dead_letter_queue != null", "true"),
        ("queue.dead_letter_queue.retention == duration('4d')", "true"),
        ("queue.dead_letter_queue.name.endsWith('-failed')", "true"),
        ("queue.dead_letter_queue.name.endsWith('-worker')", "false"),
        (
            "queue.dead_letter_queue.name.startsWith('prod')",
            "unknown: `var.stage` has no value",
        ),
        ("queue.dead_letter_queue.sources.exists(q, q.name == 'orders')", "true"),
        ("queue.max_receive_count == 5", "true"),
        ("queue.consumers.size() == 1", "true"),
        ("queue.consumers.all(c, c.function.timeout <= duration('30s'))", "true"),
        ("queue.functions.map(f, f.timeout) == [duration('30s')]", "true"),
        (
            "queue.functions.filter(f, f.timeout > duration('30s')).size() == 0",
            "true",
        ),
        ("queue.functions.exists_one(f, f.name == 'worker')", "true"),
        ("queue.mappings[0].function.name == 'worker'", "true"),
        ("queue.mappings[1].function.name == 'worker'", "missing"),
        // A missing value is not true, unless another value determines the result.
        ("queue.dead_letter_queue.dead_letter_queue == null", "true"),
        (
            "queue.dead_letter_queue.dead_letter_queue.retention > duration('1s')",
            "missing",
        ),
        ("!(queue.tags.nobody == 'x')", "missing"),
        ("queue.tags.nobody == 'x' || queue.tags.owner == 'shop'", "true"),
        ("has(queue.tags.owner) && !has(queue.tags.nobody)", "true"),
        ("queue.tags.`cost-center` == 'x'", OPEN),
        ("queue.tags.`owner` == 'shop' && !has(queue.tags.`a.b/c d_e`)", "true"),
        ("queue.`name` == 'orders'", "true"),
        // An element whose test reads a missing value is dropped.
        ("[3, 2, 0].filter(n, 12 / n > 4) == [2]", "true"),
        ("[3, 2, 0].exists_one(n, 12 / n == 6)", "true"),
        ("[3, 0].all(n, 12 / n == 4)", "missing"),
        ("queue.tags['cost-center'] == 'x'", OPEN),
        ("'cost-center' in queue.tags && !('x' in queue.tags)", "true"),
        ("queue.tags.all(key, key.matches('^[a-z-]+$'))", "true"),
        ("size(queue.tags) == 2", "true"),
        ("unit.kind == 'terraform' && environment == 'prod'", "true"),
        // Arithmetic without a result.
        ("1 / 0 == 1", "missing"),
        ("9223372036854775807 + 1 == 0", "missing"),
        ("-9223372036854775808 < 0", "true"),
        // A duration may not exceed 10,000 years, as in CEL.
        ("duration('315576000000s') > duration('0')", "true"),
        ("duration('315576000000s') + duration('1ms') > duration('0')", "missing"),
        (
            "duration('-315576000000s') - duration('1ms') < duration('0')",
            "missing",
        ),
        ("3 * duration('200000000000s') > duration('0')", "missing"),
        ("duration(duration('90s')) == duration('1m30s')", "true"),
        ("7 % 3 == 1 && -7 / 2 == -3 && 2 + 3 * 4 == 14", "true"),
        (
            "\"\\u00e9\" == 'é' && r'\\d' == '\\\\d' && '''a'b''' == \"a'b\"",
            "true",
        ),
        (
            "int('12') == 12 && string(12) == '12' && 'A'.lowerAscii() == 'a'",
            "true",
        ),
        (
            "duration('90s').getMinutes() == 1 && string(duration('1m')) == '60s'",
            "true",
        ),
        ("[1, 2] + [3] == [1, 2, 3] && 'a' + 'b' == 'ab' // a comment", "true"),
    ] {
        assert_eq!(judged(text), expected, "{text}");
    }
}

#[test]
fn errors_are_reported_at_their_location() {
    for (text, expected) in [
        (
            "queue.retenton > duration('1d')",
            "6..14: a queue has no field `retenton`; did you mean `retention`?",
        ),
        ("que.fifo", "0..3: unknown name `que`; did you mean `queue`?"),
        (
            "function.timeout > duration('1s')",
            "0..8: unknown name `function`; this policy is for a queue",
        ),
        (
            "queue.retention >= 14",
            "0..21: a duration cannot be compared with a whole number; write durations as `duration(\"14d\")`, `duration(\"90s\")`",
        ),
        ("queue.retention", "0..15: expected a condition, found a duration"),
        (
            "queue.name.beginsWith('a')",
            "11..21: unknown function `beginsWith`; did you mean `endsWith`?",
        ),
        (
            "duration('14')==duration('1d')",
            "9..13: not a duration; write it as `\"14d\"`, `\"90s\"` or `\"1h30m\"`",
        ),
        (
            "queue.consumers.size > 1",
            "16..20: a list has no field `size`; `size(…)` counts its elements",
        ),
        ("queue.name.matches('(')", "19..22: not a valid pattern (RE2's syntax)"),
        (
            "queue.name.matches(queue.name)",
            "19..29: a pattern has to be written out, as in `matches(\"^orders-\")`",
        ),
        ("queue.fifo = true", "11..12: `=` is not an operator; `==` compares"),
        ("queue.fifo and true", "11..14: expected an operator, found `and`"),
        ("queue.fifo &&", "13..13: expected a value, the expression ends here"),
        ("1.5 > 1", "0..1: numbers are whole here"),
        (
            "queue.consumers.all(c)",
            "16..19: `all` takes a name for each element and an expression, as in `all(each, …)`",
        ),
        (
            "queue.tags == {}",
            "14..15: maps cannot be written here; the tags of a resource are one",
        ),
        (
            "has(queue)",
            "0..10: `has` takes a field, as in `has(queue.dead_letter_queue)`",
        ),
        (
            "startsWith(queue.name, 'a')",
            "0..10: write it as `text.startsWith(\"…\")`",
        ),
        ("queue.name == 'a", "14..16: the string is not closed"),
        (
            "queue.tags.`cost-center == 'x'",
            "11..24: between backquotes stands a name of letters, digits and `_.-/ `",
        ),
        ("`queue`.fifo", "0..7: expected a value, found `queue`"),
        ("queue.name.`size`()", "17..18: expected an operator, found `(`"),
        (
            "duration('315576000001s') > duration('0')",
            "9..24: not a duration; write it as `\"14d\"`, `\"90s\"` or `\"1h30m\"`",
        ),
        ("", "0..0: expected a value, the expression ends here"),
    ] {
        assert_eq!(judged(text), expected, "{text}");
    }
}

#[test]
fn hostile_expressions_end_early() {
    let nested = |open: &str, close: &str, count: usize| open.repeat(count) + "true" + &close.repeat(count);
    let refused = [
        nested("(", ")", 1_000),
        nested("[", "]", 1_000),
        nested("true ? ", " : false", 400),
        "!".repeat(4_000),
        "-".repeat(4_000) + "1",
        "[".repeat(4_000),
        vec!["true"; 600].join(" && "),
        "a".repeat(5_000),
        "queue.name.matches('(((a{1000}){1000}){1000})')".to_owned(),
        "\\ \0 \u{202e} \"\\ud800\"".to_owned(),
    ];
    for text in refused {
        let stated = judged(&text);
        assert!(stated.contains(": ") && !stated.starts_with("unknown"), "{stated}");
    }
    // Each of these would double or multiply with every further part.
    let doubled = "[\"aaaaaaaaaaaaaaaa\"]".to_owned() + &".map(x, x + x)".repeat(40) + ".size() == 1";
    assert_eq!(judged(&doubled), "true");
    let longer = "[\"aaaaaaaaaaaaaaaa\"]".to_owned() + &".map(x, x + x)".repeat(40) + "[0].size() == 1";
    assert_eq!(judged(&longer), "unknown: the policy makes too long a text");
    let lists = "[1, 2]".to_owned() + &".map(x, [1, 2])".repeat(20) + ".size() == 1";
    assert_eq!(judged(&lists), "false");
    let ten = "[1,2,3,4,5,6,7,8,9,10]";
    let loops = format!("{ten}.all(a, {ten}.all(b, {ten}.all(c, {ten}.all(d, {ten}.all(e, a + b + c + d + e > 0)))))");
    assert_eq!(judged(&loops), "unknown: the policy takes too many steps");
    assert_eq!(judged(&("!".repeat(200) + "true")), "true");
    assert_eq!(judged(&nested("(", ")", 32)), "true");
    assert!(judged(&nested("(", ")", 33)).ends_with("nests 32 levels deep at most"));
}

#[test]
fn fault_names_the_expression_that_contains_it() {
    let definition = |selects: &str, require: &str| Definition {
        id: "own".to_owned(),
        target: Target::Function,
        selects: Some(selects.to_owned()),
        demand: Demand::Require(require.to_owned()),
        message: "is wrong".to_owned(),
        severity: Severity::Warning,
        help: None,
        references: Vec::new(),
        examples: Vec::new(),
    };
    assert!(Policy::new(definition("true", "function.timeout < duration('1h')")).is_ok());
    let fault = Policy::new(definition("queue.fifo", "true")).expect_err("functions are no queues");
    assert!(fault.in_selection && fault.at == (0..5), "{fault:?}");
    let fault = Policy::new(definition("true", "function.tmeout")).expect_err("there is no such field");
    assert!(!fault.in_selection && fault.at == (9..15), "{fault:?}");
}

/// Checks that the parser does not panic on any text.
#[test]
fn any_text_is_parsed_or_rejected() {
    let words = [
        "queue",
        ".",
        "name",
        "(",
        ")",
        "[",
        "]",
        "&&",
        "||",
        "!",
        "-",
        "==",
        "<",
        "?",
        ":",
        ",",
        "\"a\"",
        "'b",
        "1",
        "0x",
        "1e9",
        "9999999999999999999999",
        "9223372036854775808",
        "in",
        "has(",
        "all(",
        "exists(",
        "map(",
        "x",
        "\\",
        "\u{1F600}",
        "r'''",
        "b\"",
        "//",
        "\n",
        "`",
        "..",
        "\"\\ud800\"",
        "\"\\xZZ\"",
        "u",
        "null",
        "é",
        "tags",
    ];
    let mut seed: u64 = 0x2545_F491_4F6C_DD1D;
    let mut next = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % u64::try_from(below).expect("it is small")).expect("it is small")
    };
    for _ in 0..5_000 {
        let count = 1 + next(24);
        let joint = if next(2) == 0 { " " } else { "" };
        let text: Vec<&str> = (0..count).map(|_| words[next(words.len())]).collect();
        let text = text.join(joint);
        if let Ok(expr) = syntax::parse(&text) {
            let _ = check::check(&expr, "queue", super::types::ObjectType::Queue);
        }
    }
}
