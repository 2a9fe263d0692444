//! Surprising results of Terraform's evaluation, one per row, with the values of Terraform 1.11; also files and policy
//! documents.

use super::*;
use terraform::types::{self, Type};

fn table(prelude: &str, rows: &[(&str, &str)]) {
    let values = evaluate(prelude, rows.iter().map(|(text, _)| (*text).to_owned()).collect());
    let mut wrong = String::new();
    for ((text, expected), value) in rows.iter().zip(&values) {
        let shown = encoded(value).unwrap_or_else(|| shown(value));
        if shown != *expected {
            writeln!(wrong, "{text}\n  is       {shown}\n  is not   {expected}").unwrap();
        }
    }
    assert_eq!(wrong, "");
}

#[test]
fn surprising_results_are_those_of_terraform() {
    let prelude = r#"
variable "nothing" { default = null }
variable "sized" {
  type    = object({ size = optional(number, 10) })
  default = { size = null, extra = 1 }
}
variable "open" {}
resource "aws_sqs_queue" "q" { name = "orders" }
"#;
    let rows = [
        ("resource.aws_sqs_queue.q.arn == aws_sqs_queue.q.arn", "true"),
        ("[for resource in [{ a = { b = 1 } }] : resource.a.b]", "[1]"),
        // Terraform itself does not know any part of it before apply.
        (
            "jsondecode(jsonencode({ a = aws_sqs_queue.q.arn, maxReceiveCount = 5 })).maxReceiveCount",
            "5",
        ),
        ("var.nothing", "null"),
        ("var.sized", "{\"size\":10}"),
        ("\"5\" == 5", "false"),
        ("tolist([1]) == [1]", "false"),
        ("contains([\"1\"], 1)", "false"),
        ("\"10\" > \"9\"", "true"),
        ("true ? [1] : [\"a\"]", "[\"1\"]"),
        ("true ? { a = 1 } : { b = \"x\" }", "{\"a\":\"1\"}"),
        ("true ? 5 : tonumber(\"x\")", "5"),
        ("false ? frobnicate() : 5", "5"),
        ("var.open || true", "true"),
        ("false && var.open", "false"),
        // Terraform 1.12 does not evaluate the other operand, and earlier versions reject the whole expression.
        ("var.nothing != null && var.nothing.size > 1", "false"),
        ("var.nothing == null || var.nothing.size > 1", "true"),
        (
            "true && length([for a in var.nothing.all : a]) > 0",
            "? it has no attribute `all`",
        ),
        ("var.open ? 5 : 5", "5"),
        ("length(var.open ? [1, 2] : [3, 4])", "2"),
        ("timestamp() == null", "false"),
        ("try(var.open, 1)", "? `var.open` has no value"),
        ("can(var.open)", "? `var.open` has no value"),
        (
            "try(local.undeclared, 1)",
            "? `local.undeclared` is not declared in what was read",
        ),
        ("try(null, 5)", "null"),
        ("1 / 0 > 1", "true"),
        ("5 % 0", "5"),
        ("{ a = 1, a = 2 }", "{\"a\":2}"),
        ("\"${5}\" == 5", "true"),
        ("range(3, 0)", "[3,2,1]"),
        ("format(\"%s\", null)", "\"? `format` does not know how to show null\""),
        ("toset([\"10\", \"2\", \"9\"])", "[\"10\",\"2\",\"9\"]"),
        ("[for v in toset([10, 2, 9]) : v]", "[2,9,10]"),
        ("length(range(1e9))", "? `range` refuses its arguments"),
        ("1.1 * 1.1", &format!("1.21{}1", "0".repeat(151))),
        ("jsonencode(9007199254740993)", "\"9007199254740993\""),
        ("{ a = var.open, b = 2 }.b", "2"),
        ("length([var.open, 2])", "2"),
        ("self.arn", "? `self.arn` is not known here"),
        (
            "provider::aws::arn_parse(\"x\")",
            "? `provider::aws::arn_parse` refuses its arguments",
        ),
    ];
    let rows: Vec<(&str, &str)> = rows.iter().map(|(text, expected)| (*text, &**expected)).collect();
    table(prelude, &rows);
}

/// Tests expressions that Terraform 1.11 rejects and later versions accept. Configurations that contain them run with a
/// later version, but a `try` around them may be there for earlier ones.
#[test]
fn differences_between_versions_matter_only_within_try() {
    let prelude = "locals {\n  none = null\n}\n";
    let versions = "? versions of Terraform differ about an error on the right side";
    let rows = [
        ("local.none != null && local.none.size > 3", "false"),
        ("local.none == null || local.none.size > 3", "true"),
        ("local.none == null || upper(5, 6)", "true"),
        ("try(local.none != null && local.none.size > 3, 7)", versions),
        ("can(local.none == null || local.none.size > 3)", versions),
        ("try([for v in [1] : false && v.x], 7)[0]", versions),
        (
            "local.none == null && local.none.size > 3",
            "? it has no attribute `size`",
        ),
        ("try(local.none == null && local.none.size > 3, 7)", "7"),
        ("try(local.none.size > 3 && false, 7)", "7"),
        ("false && \"x\"", "? it is not a boolean"),
        ("try(true || [], 7)", "7"),
        (r#"element(["a", "b", "c"], -2)"#, r#""b""#),
        (r#"element(["a", "b", "c"], -3)"#, r#""a""#),
        (
            r#"try(element(["a", "b", "c"], -2), "x")"#,
            "? versions of Terraform differ about an index below zero",
        ),
        (r#"try(element(tolist(["a", "b", "c"]), -2), "x")"#, r#""b""#),
    ];
    table(prelude, &rows);
}

#[test]
fn ephemeralasnull_is_unknown_if_a_variable_is_ephemeral() {
    let prelude = "variable \"token\" {\n  ephemeral = true\n  default   = \"x\"\n}\n";
    let rows = [
        ("ephemeralasnull(var.token)", "? which values are ephemeral is not told"),
        ("var.token", "\"x\""),
    ];
    table(prelude, &rows);
}

#[test]
fn heredocs_evaluate_as_in_terraform() {
    let rows = [
        ("<<EOT\n%{ if true ~}\n   foo\n%{ endif ~}\nEOT\n", r#""   foo\n""#),
        (
            "<<-EOT\n    x\n      %{ for v in [\"p\",\"q\"] ~}\n      - ${v}\n      %{ endfor ~}\n    y  ${~ \"z\" ~}   \n       w\n  EOT\n",
            r#""x\n        - p\n        - q\n      yz       w\n""#,
        ),
        (
            "<<-EOT\n    ${\"a\"}\n      b\n\ttab\n  EOT\n",
            r#""   a\n     b\ntab\n""#,
        ),
        ("<<-EOT\n  a\n\n      b\n   EOT\n", r#""a\n\n    b\n""#),
        (
            "<<-EOT\n    $${x} %%{y} \\n \"q\"\n    ${jsonencode({\n      a = 1\n    })}\n  EOT\n",
            r#""${x} %{y} \\n \"q\"\n{\"a\":1}\n""#,
        ),
        ("<<EOT\nEOT\n", r#""""#),
        ("<<-EOT\n    a\n   ${\"b\"}\n      c\n  EOT\n", r#"" a\nb\n   c\n""#),
        ("\"a \\n  ${~ \"x\" ~} \\n b\"", r#""axb""#),
        ("\"%{ if false }x%{ else ~} y %{~ endif } z\"", r#""y z""#),
        ("\"%{~ for x in [1,2] ~} ${x} %{~ endfor ~}  t\"", r#""12t""#),
    ];
    table("", &rows);
}

#[test]
fn yaml_is_decoded_as_in_terraform() {
    let texts = [
        ("a: 5.", "5"),
        ("a: 1e+3", "1000"),
        ("a: -.5", "-0.5"),
        ("a: 1e", "\"1e\""),
        ("a: 0xG", "\"0xG\""),
        ("a: 0x20", "32"),
        ("a: -0x1F", "\"-0x1F\""),
        ("a: 0o12", "10"),
        ("a: 0b11", "\"0b11\""),
        ("a: -012", "-12"),
        ("a: 1_000", "\"1_000\""),
        ("a: 1.2.3", "\"1.2.3\""),
        ("a: 10.0.0.0/16", "\"10.0.0.0/16\""),
        ("a: 12:30", "\"12:30\""),
        ("a: 2020-01-01", "\"2020-01-01T00:00:00Z\""),
        ("a: y", "true"),
        ("a: N", "false"),
        ("a: !!str 12", "\"12\""),
        // The value is known only if CloudFormation's interpretation is the same.
        ("x: &v 012\na: *v", "? a part of the YAML is not supported"),
        ("x: &v 12\na: *v", "12"),
        ("x: &v '012'\na: *v", "\"012\""),
        ("x: {y: &v 7, z: 8}\na: *v", "7"),
        ("d: &d {b: 1}\na:\n  <<: *d\n  c: 2", "{\"b\":1,\"c\":2}"),
        (
            "a: {on: 1, 012: 2, 1.50: 3, \"yes\": 4}",
            "{\"1.5\":3,\"12\":2,\"true\":1,\"yes\":4}",
        ),
        ("a: 1\na: 2", "2"),
        ("t: !foo 3\na: 1", "1"),
        ("t: 2001-12-14t21:59:43\na: 1", "1"),
        ("a: 2001-12-14 21:59:43", "? a part of the YAML is not supported"),
    ];
    let rows: Vec<(String, &str)> = texts
        .iter()
        .map(|(text, expected)| (format!("yamldecode({}).a", serde_json::Value::from(*text)), *expected))
        .collect();
    let rows: Vec<(&str, &str)> = rows.iter().map(|(text, expected)| (text.as_str(), *expected)).collect();
    table("", &rows);
}

#[test]
fn partly_known_strings_keep_their_unknown_parts() {
    let prelude = r#"
variable "open" {}
variable "none" { default = {} }
resource "aws_sqs_queue" "q" { name_prefix = "orders" }
resource "random_pet" "p" {}
"#;
    let rows = [
        ("chomp(\"${aws_sqs_queue.q.arn}\\n\") == aws_sqs_queue.q.arn", "true"),
        ("trimspace(\" ${aws_sqs_queue.q.arn} \") == aws_sqs_queue.q.arn", "true"),
        ("trimspace(aws_sqs_queue.q.arn) == aws_sqs_queue.q.arn", "true"),
        (
            "replace(\"ARN\", \"ARN\", aws_sqs_queue.q.arn) == aws_sqs_queue.q.arn",
            "true",
        ),
        (
            "jsondecode(format(\"{\\\"a\\\":%q}\", aws_sqs_queue.q.arn)).a == aws_sqs_queue.q.arn",
            "true",
        ),
        (
            "endswith(trimsuffix(\"${random_pet.p.id}-q.fifo\", \".fifo\"), \"-q\")",
            "true",
        ),
        (
            "startswith(trimprefix(\"a-b-${random_pet.p.id}\", \"a-\"), \"b-\")",
            "true",
        ),
        (
            "jsondecode(\"{\\\"a\\\":${jsonencode(aws_sqs_queue.q.arn)}}\").a == aws_sqs_queue.q.arn",
            "true",
        ),
        ("endswith(format(\"%s-%s.fifo\", var.open, \"q\"), \"-q.fifo\")", "true"),
        ("try(jsonencode({ a = var.none.x, b = aws_sqs_queue.q.arn }), 5)", "5"),
        ("try(\"${aws_sqs_queue.q.arn}${var.none.x}\", 5)", "5"),
        (
            "split(\",\", join(\",\", [aws_sqs_queue.q.arn, \"x\"]))[0] == aws_sqs_queue.q.arn",
            "true",
        ),
        (
            "trimsuffix(random_pet.p.id, \"x\")",
            "? `random_pet.p.id` is known only after apply",
        ),
        (
            "try(merge(aws_sqs_queue.q, { a = 1 }).name, 5)",
            "? an argument of `merge` is known only after apply",
        ),
        (
            "try(keys(aws_sqs_queue.q), 5)",
            "? an argument of `keys` is known only after apply",
        ),
    ];
    table(prelude, &rows);
}

#[test]
fn types_unify_as_in_terraform() {
    let tuple = |items: &[Type]| Type::Tuple(items.to_vec().into());
    let list = |element: Type| Type::List(element.into());
    let cases = [
        (vec![Type::Number, Type::Text], Some(Type::Text)),
        (vec![Type::Number, Type::Bool], None),
        (vec![Type::Number, Type::Bool, Type::Text], Some(Type::Text)),
        (
            vec![tuple(&[Type::Number]), tuple(&[Type::Text, Type::Bool])],
            Some(list(Type::Text)),
        ),
        (vec![tuple(&[]), tuple(&[Type::Number])], Some(list(Type::Number))),
        (
            vec![list(Type::Number), Type::Set(Type::Number.into())],
            Some(list(Type::Number)),
        ),
    ];
    for (kinds, expected) in cases {
        assert_eq!(types::unify(&kinds), expected, "{kinds:?}");
    }
}

#[test]
fn only_files_inside_the_project_are_read() {
    let outside = Scratch::with_files([("secret.txt", "hush")]).unwrap();
    let files = [
        ("repo/main.tf", "module \"m\" {\n  source = \"./m\"\n}\n"),
        (
            "repo/m/main.tf",
            "output \"own\" {\n  value = file(\"${path.module}/own.txt\")\n}\n",
        ),
        ("repo/m/own.txt", "own"),
        ("repo/a.txt", "abc"),
        ("repo/sub/b.json", "{\"n\": 3}"),
        (
            "repo/t.tftpl",
            "%{ for n in names ~}\n- ${n}\n%{ endfor ~}\n${local.none}",
        ),
        ("repo/u.tftpl", "%{ for n in names ~}\n- ${n}\n%{ endfor ~}\n"),
        ("beside.txt", "beside"),
    ];
    let scratch = Scratch::with_files(files).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path().join("secret.txt"), scratch.path().join("repo/link.txt")).unwrap();
    let expressions = [
        ("file(\"a.txt\")", "\"abc\""),
        ("jsondecode(file(\"${path.root}/sub/b.json\")).n", "3"),
        ("module.m.own", "\"own\""),
        (
            "fileset(path.module, \"**/*.{txt,json}\")",
            "? `fileset` meets a symbolic link",
        ),
        ("fileset(\"sub\", \"*.json\")", "[\"b.json\"]"),
        ("filemd5(\"a.txt\")", "\"900150983cd24fb0d6963f7d28e17f72\""),
        (
            "templatefile(\"u.tftpl\", { names = [\"x\", \"y\"] })",
            "\"- x\\n- y\\n\"",
        ),
        (
            "templatefile(\"t.tftpl\", { names = [] })",
            "? the template is not passed `local`",
        ),
        ("fileexists(\"nope\")", "false"),
        ("file(\"nope\")", "? there is no file `nope`"),
        ("file(\"../beside.txt\")", "? `../beside.txt` is outside the project"),
        ("file(\"/etc/passwd\")", "? `/etc/passwd` is outside the project"),
        ("fileexists(\"/etc/passwd\")", "? `/etc/passwd` is outside the project"),
        ("file(\"link.txt\")", "? `link.txt` is outside the project"),
    ];
    let expressions: Vec<(&str, &str)> = expressions.to_vec();
    let root = scratch.path().join("repo");
    let work = {
        let expressions: Vec<String> = expressions.iter().map(|(text, _)| (*text).to_owned()).collect();
        move || evaluate_at(&root, expressions)
    };
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(work).unwrap();
    let values = thread.join().unwrap();
    for ((text, expected), value) in expressions.iter().zip(&values) {
        if cfg!(unix) || !text.contains("link") {
            assert_eq!(encoded(value).unwrap_or_else(|| shown(value)), *expected, "{text}");
        }
    }
}

#[test]
fn policy_documents_are_built_as_by_the_provider() {
    let prelude = r#"
variable "open" {}
resource "aws_sqs_queue" "q" { name = "orders" }
data "aws_iam_policy_document" "base" {
  policy_id = "base"
  statement {
    sid       = "one"
    actions   = ["sqs:SendMessage"]
    resources = ["*"]
  }
  statement { actions = ["a:b", "c:d", "a:b"] }
}
data "aws_iam_policy_document" "full" {
  source_policy_documents   = [data.aws_iam_policy_document.base.json]
  override_policy_documents = [jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "two", Effect = "Deny" }] })]
  policy_id                 = "id"
  statement {
    sid       = "one"
    effect    = "Deny"
    not_actions = ["x:y"]
    resources = [aws_sqs_queue.q.arn]
    principals {
      type        = "Service"
      identifiers = ["a.amazonaws.com", "b.amazonaws.com"]
    }
    principals {
      type        = "AWS"
      identifiers = ["*"]
    }
    condition {
      test     = "ArnEquals"
      variable = "aws:SourceArn"
      values   = ["&{aws:x}"]
    }
  }
  statement { sid = "two" }
  dynamic "statement" {
    for_each = ["p", "q"]
    content {
      actions = ["sqs:${statement.value}"]
      principals {
        type        = "*"
        identifiers = ["*"]
      }
    }
  }
}
data "aws_iam_policy_document" "part" {
  source_policy_documents = [var.open]
  statement { actions = ["a:b"] }
}
"#;
    let rows = [
        (
            "jsondecode(data.aws_iam_policy_document.base.json).Statement",
            r#"[{"Action":"sqs:SendMessage","Effect":"Allow","Resource":"*","Sid":"one"},{"Action":["c:d","a:b"],"Effect":"Allow"}]"#,
        ),
        ("jsondecode(data.aws_iam_policy_document.full.json).Id", "\"id\""),
        (
            "jsondecode(data.aws_iam_policy_document.full.json).Version",
            "\"2012-10-17\"",
        ),
        (
            "[for s in jsondecode(data.aws_iam_policy_document.full.json).Statement : try(s.Sid, s.Action, 0)]",
            r#"["one",["c:d","a:b"],"two","sqs:p","sqs:q"]"#,
        ),
        (
            "{ for k, v in jsondecode(data.aws_iam_policy_document.full.json).Statement[0] : k => v if k != \"Resource\" }",
            r#"{"Condition":{"ArnEquals":{"aws:SourceArn":"${aws:x}"}},"Effect":"Deny","NotAction":"x:y","Principal":{"AWS":"*","Service":["b.amazonaws.com","a.amazonaws.com"]},"Sid":"one"}"#,
        ),
        (
            "jsondecode(data.aws_iam_policy_document.full.minified_json).Statement[0].Resource",
            "<aws_sqs_queue.q.arn>",
        ),
        (
            "jsondecode(data.aws_iam_policy_document.full.json).Statement[2]",
            r#"{"Effect":"Deny","Sid":"two"}"#,
        ),
        (
            "jsondecode(data.aws_iam_policy_document.full.json).Statement[3].Principal",
            "\"*\"",
        ),
        (
            "jsondecode(data.aws_iam_policy_document.part.json).Statement[1].Action",
            "\"a:b\"",
        ),
        (
            "jsondecode(data.aws_iam_policy_document.part.json).Statement[0]",
            "? `var.open` has no value",
        ),
        (
            "length(data.aws_iam_policy_document.base.json)",
            "? an argument of `length` is known only after apply",
        ),
    ];
    table(prelude, &rows);
}
