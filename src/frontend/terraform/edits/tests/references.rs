//! Tests of edits of references to queues, variables and locals.

use super::*;

#[test]
fn plain_reference_to_a_queue_becomes_its_arn() {
    let cases = [
        ("aws_sqs_queue.q.url", "aws_sqs_queue.q.arn"),
        ("aws_sqs_queue.q.id", "aws_sqs_queue.q.arn"),
        ("aws_sqs_queue.a-b[0].name", "aws_sqs_queue.a-b[0].arn"),
        ("data.aws_sqs_queue.q.url", "data.aws_sqs_queue.q.arn"),
        ("aws_sqs_queue.q[each.key].url", "aws_sqs_queue.q[each.key].arn"),
        ("aws_sqs_queue.q[\"a.b\"].url", "aws_sqs_queue.q[\"a.b\"].arn"),
        ("\"${aws_sqs_queue.q.url}\"", "\"${aws_sqs_queue.q.arn}\""),
        (
            "\"${ aws_sqs_queue.q[count.index].url }\"",
            "\"${ aws_sqs_queue.q[count.index].arn }\"",
        ),
    ];
    for (before, after) in cases {
        for key in ["", "event_source_arn = ", "\"deadLetterTargetArn\" : ", "a   ="] {
            let whole = |value: &str| format!("x {{\n  {}{value}\n}}\n", if key.is_empty() { "y = " } else { key });
            let text = whole(before).replace("\" :", "\" =");
            let module = Module::of(&[("main.tf", &text.replace("\"dead", "dead").replace("Arn\"", "Arn"))]);
            let part = format!("{}{before}", key.replace("\" :", " =").replace('"', ""));
            let expected = module.files[0].1.replace(before, after);
            assert_eq!(module.after(&Change::Arn(module.span(&part))), Some(expected), "{text}");
        }
    }
}

#[test]
fn other_expressions_are_unchanged() {
    for text in [
        "aws_sqs_queue.q.arn",
        "aws_sqs_queue.q[*].url",
        "aws_sns_topic.t.id",
        "var.on ? aws_sqs_queue.a.url : aws_sqs_queue.b.url",
        "\"${aws_sqs_queue.q.url}/x\"",
        "\"x/${aws_sqs_queue.q.url}\"",
        "var.queue_url",
        "trim(aws_sqs_queue.q.url)",
        "\"${aws_sqs_queue.a.url}${aws_sqs_queue.b.url}\"",
        "aws_sqs_queue.q",
        "module.m.aws_sqs_queue.q.url",
        "aws_sqs_queue.q.tags.name",
    ] {
        let module = Module::one(&format!("x = {text}\n"));
        assert_eq!(module.after(&Change::Arn(module.span(text))), None, "{text}");
        assert_eq!(
            module.after(&Change::Arn(module.span(&format!("x = {text}")))),
            None,
            "{text}"
        );
    }
}

#[test]
fn json_references_in_templates_are_edited() {
    let module = Module::of(&[("main.tf.json", "{\"a\": \"${aws_sqs_queue.q.url}\"}")]);
    let change = Change::Arn(module.span("\"${aws_sqs_queue.q.url}\""));
    assert_eq!(
        module.after(&change).as_deref(),
        Some("{\"a\": \"${aws_sqs_queue.q.arn}\"}")
    );
}

#[test]
fn only_use_of_a_variable_or_local_is_recognized() {
    let rest = "# var.x, local.x\nvariable \"x\" {}\ny = [var.xy, var.x-y, a.var.x, local.y]\n";
    for (text, others, expected) in [
        ("t = var.x", "", true),
        ("t = \"${var.x}\"", "", true),
        ("t = local.x", "locals {\n  x = 30\n}\n", true),
        ("var.x", "", true),
        ("t = var.x", "z = f(var.x)\n", false),
        ("t = var.x", "z = \"${var.x}s\"\n", false),
        ("t = local.x", "z = <<E\n${local.x}\nE\n", false),
        ("t = tonumber(var.x)", "", false),
        ("t = var.x * 2", "", false),
        ("t = var.x.y", "", false),
        ("t = each.value", "", false),
        ("t = each.value.x", "", false),
        ("t = 30", "", false),
        ("t = module.m.x", "", false),
        ("t", "", false),
        ("=", "", false),
    ] {
        let module = Module::of(&[
            ("main.tf", &format!("{rest}{text}\n")),
            ("other.tf", others),
            ("else/where.tf", "x = var.x\n"),
        ]);
        assert_eq!(
            is_only_use(module.span(text), &module.sources),
            expected,
            "{text} {others}"
        );
    }
    let module = Module::of(&[
        ("main.tf", "x = var.x\n"),
        ("b.tf.json", "{\"locals\": {\"a\": \"${var.x}\"}}"),
    ]);
    assert!(!is_only_use(module.span("x = var.x"), &module.sources));
}
