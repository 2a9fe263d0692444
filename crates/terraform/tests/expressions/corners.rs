//! Corner cases of the language, each with the result of `terraform console` 1.11.

use super::*;

/// Represents an expression that Terraform rejects.
const REFUSED: &str = "(refused)";

/// Evaluates each row in a module with `files`. An expression that Terraform rejects must be an error, not merely
/// unknown.
fn corners(files: &[(&str, &str)], rows: &[(&str, &str)]) {
    let values = evaluate_in(files, rows.iter().map(|(text, _)| (*text).to_owned()).collect());
    let mut wrong = String::new();
    for ((text, expected), value) in rows.iter().zip(&values) {
        let shown = match encoded(value) {
            _ if value.is_refused() => REFUSED.to_owned(),
            Some(shown) => shown,
            None => shown(value),
        };
        if shown != *expected {
            writeln!(wrong, "{text}\n  is       {shown}\n  is not   {expected}").unwrap();
        }
    }
    assert_eq!(wrong, "");
}

#[test]
fn compact_is_unknown_if_an_element_may_be_empty() {
    let files = [(
        "main.tf",
        "variable \"unset\" {}\nresource \"terraform_data\" \"x\" {}\n",
    )];
    let rows = [
        ("length(compact([var.unset]))", "? `var.unset` has no value"),
        ("length(compact([\"a\", var.unset]))", "? `var.unset` has no value"),
        (
            "length(compact([\"${var.unset}${var.unset}\"]))",
            "? an argument of `compact` is not known",
        ),
        ("length(compact([\"a\", \"\", null]))", "1"),
        // Terraform does not know that these are not empty.
        ("length(compact([\"a-${var.unset}\", \"\"]))", "1"),
        ("length(compact([terraform_data.x.id, \"\"]))", "1"),
    ];
    corners(&files, &rows);
}

#[test]
fn characters_are_counted_as_in_terraform() {
    let rows = [
        (r#"length("e\u0301")"#, "1"),
        (r#"length("👨‍👩‍👧")"#, "1"),
        (r#"length("日本語")"#, "3"),
        (r#"length("🇩🇪")"#, "1"),
        (r#"length("\u1100\u1161\u11a8")"#, "1"),
        (r#"length("ᄀ각ᆨ")"#, "1"),
        (r#"length("नमस्ते")"#, "4"),
        (r#"substr("नमस्ते", 2, 1)"#, r#""स्""#),
        (r#"strrev("नमस्ते")"#, r#""तेस्मन""#),
        (r#"length("ক্ষ")"#, "2"),
        (r#"length("ક્રાતી")"#, "3"),
        (r#"length("ไทย")"#, "3"),
        (r#"length("\u0e01\u0e33")"#, "1"),
        (r#"length("សួស្តី")"#, "3"),
        (r#"length("မြန်မာ")"#, "4"),
        (r#"length("a\u0308\u0323")"#, "1"),
        (r#"length("\u00ad")"#, "1"),
        (r#"length("\r\n")"#, "1"),
        (r#"length("\t\n\u0001")"#, "3"),
        (r#"length("a\u200db")"#, "2"),
        (r#"length("\u0301")"#, "1"),
        (r#"length("\u0600b")"#, "1"),
        (r#"length("🏳️‍🌈")"#, "1"),
        (r#"length("👩🏽‍🚀x")"#, "2"),
        (r#"length("1️⃣")"#, "1"),
        (r#"length("“quoted”…")"#, "9"),
        (r#"length("한국어")"#, "3"),
        (r#"length("שלום")"#, "4"),
        (r#"length("مرحبا")"#, "5"),
        (r#"substr("e\u0301bc", 0, 2)"#, r#""éb""#),
        (r#"substr("👨‍👩‍👧bc", 1, 1)"#, r#""b""#),
        (r#"strrev("e\u0301x")"#, r#""xé""#),
        (r#"format("%5s|", "é")"#, r#""    é|""#),
        (r#"format("%-5s|", "日本")"#, r#""日本   |""#),
        (r#"format("%.2s|", "日本語")"#, r#""日本|""#),
        (r#"format("%5s|", "e\u0301")"#, r#""    é|""#),
        (r#"format("%-4s|", "👍🏽")"#, r#""👍🏽   |""#),
        (r#"format("%3v|", "é")"#, r#""  é|""#),
        (r#"upper("ß")"#, r#""ß""#),
        (r#"upper("\u0149")"#, r#""ŉ""#),
        (r#"lower("\u0130x")"#, r#""ix""#),
        (r#"lower("ΟΔΟΣ")"#, r#""οδοσ""#),
        (r#"upper("ﬃ")"#, r#""ﬃ""#),
        (r#"title("o'neil a-b a_b a.b 1a")"#, r#""O'Neil A-B A_b A.B 1a""#),
        (r#"title("日本 élan")"#, r#""日本 Élan""#),
    ];
    corners(&[], &rows);
}

#[test]
fn strings_are_normalized() {
    let rows = [
        (r#""e\u0301" == "\u00e9""#, "true"),
        (r#"split("", "A\u030ax")"#, r#"["Å","x"]"#),
        (r#"{ "A\u030a" = 1 }["\u00c5"]"#, "1"),
        (r#"jsondecode("\"A\\u030a\"") == "\u00c5""#, "true"),
        ("\"A\u{30a}\" == \"\u{c5}\"", "true"),
        (r#"format("%s\u030a", "A") == "\u00c5""#, "true"),
    ];
    corners(&[], &rows);
}

#[test]
fn numbers_and_keys_are_parsed_in_every_notation() {
    let huge = format!("1{}", "0".repeat(500));
    let rows = [
        ("1e+3", "1000"),
        ("1E+3", "1000"),
        ("1.5e+2", "150"),
        ("1e+500", huge.as_str()),
        ("1e500", huge.as_str()),
        ("1e400 == 1e+400", "true"),
        ("[1e400 > 1e399, \"1e400\"]", r#"[true,"1e400"]"#),
        ("(- 2)", "-2"),
        ("- 2", "-2"),
        ("[- 2, 1]", "[-2,1]"),
        ("1 - - 2", "3"),
        ("- - 2", "2"),
        ("2*- 3", "-6"),
        ("max(- 2, 1)", "1"),
        ("{ for k in [\"x\"] : k => - 1 }", r#"{"x":-1}"#),
        ("(! true)", "false"),
        ("!!true", "true"),
        ("{null = 1}", r#"{"null":1}"#),
        ("{true = 1}", r#"{"true":1}"#),
        ("{(true) = 1}", r#"{"true":1}"#),
        ("{1.50 = 2}", r#"{"1.5":2}"#),
        ("{(null) = 1}", REFUSED),
        ("parseint(\"z\", 37)", "35"),
        ("parseint(\"A\", 37)", "36"),
        ("parseint(\"a\", 37)", "10"),
        ("parseint(\"Z\", 37)", REFUSED),
        ("parseint(\"Z\", 62)", "61"),
        ("parseint(\"zZ9\", 62)", "138331"),
        ("parseint(\"-zz\", 62)", "-2205"),
        ("parseint(\"Z\", 36)", "35"),
        ("parseint(\"1\", 63)", REFUSED),
        ("parseint(\"_1\", 10)", REFUSED),
    ];
    corners(&[], &rows);
}

#[test]
fn functions_handle_edge_cases() {
    let rows = [
        (r#"format("%.2q", "abcdef")"#, r#""\"ab\"""#),
        (r#"format("%.4q", "a\"bc")"#, r#""\"a\\\"bc\"""#),
        (r#"format("%8.3q|", "äöü")"#, r#""   \"äöü\"|""#),
        (r#"format("%.0s", "ab")"#, r#""ab""#),
        (r#"format("%.0q", "ab")"#, r#""\"ab\"""#),
        (r#"format("%05s", "ab")"#, r#""000ab""#),
        (r#"format("%v", tostring(null))"#, r#""null""#),
        (r#"format("%v", tonumber(null))"#, r#""null""#),
        (r#"format("%s", tostring(null))"#, REFUSED),
        (r#"format("%d", tonumber(null))"#, REFUSED),
        (r#"formatlist("%v", [null, 1])"#, r#"["null","1"]"#),
        (r#"formatlist("%s", [null])"#, REFUSED),
        (r#"cidrsubnet("::ffff:10.0.0.0/104", 8, 1)"#, r#""10.1.0.0/16""#),
        (r#"cidrsubnet("::ffff:0:0/96", 8, 1)"#, r#""1.0.0.0/8""#),
        (r#"cidrsubnet("::ffff:10.0.0.0/120", 4, 1)"#, r#""10.0.0.16/28""#),
        (r#"cidrsubnet("::ffff:10.0.0.0/90", 8, 1)"#, r#""::ffc0:4000:0/98""#),
        (
            r#"cidrnetmask("::ffff:10.0.0.0/120")"#,
            r#""ffff:ffff:ffff:ffff:ffff:ffff:ffff:ff00""#,
        ),
        (r#"cidrsubnets("::ffff:10.0.0.0/104", 4, 4)"#, REFUSED),
        (r#"cidrhost("::ffff:10.0.0.0/90", 3)"#, r#""::ffc0:0:3""#),
        (
            r#"cidrhost("::ffff:10.0.0.0/104", 3)"#,
            "? hosts of a range of IPv4 addresses in IPv6 are not supported",
        ),
        (r#"setunion([1], ["a"])"#, r#"["1","a"]"#),
        (r#"setunion([true], ["a"])"#, r#"["a","true"]"#),
        (r"setunion([1], [true])", REFUSED),
        (r"setunion([1], [[2]])", REFUSED),
        (r#"setunion([], ["a"])"#, r#"["a"]"#),
        (r"setunion([1], [null])", "[1,null]"),
        (r#"setunion([{ a = 1 }], [{ a = "x" }])"#, r#"[{"a":"1"},{"a":"x"}]"#),
        (r#"setintersection([1], ["1"])"#, r#"["1"]"#),
        (r#"setsubtract([1, 2], ["1"])"#, r#"["2"]"#),
        (r"setsubtract([1, 2], [true])", REFUSED),
        (r"merge({ a = 1 }, tostring(null))", REFUSED),
        (r"merge({ a = 1 }, tonumber(null))", REFUSED),
        (r"merge({ a = 1 }, null)", r#"{"a":1}"#),
        (r"merge({ a = 1 }, tomap(null))", r#"{"a":1}"#),
        (r"merge(null)", "{}"),
        (r"merge()", "{}"),
        (r"merge({ a = 1 }, [])", REFUSED),
        (
            r#"zipmap([for k in ["b", "a"] : k], [for k in ["b", "a"] : "${k}x"])"#,
            r#"{"a":"ax","b":"bx"}"#,
        ),
        (r#"values({ for k in ["b", "a"] : k => "${k}x" })[0]"#, r#""ax""#),
        (r#"sort(["b", "a", "ä", "Z"])"#, r#"["Z","a","b","ä"]"#),
        (r#"cidrhost("192.068.010.0/024", 7)"#, r#""192.68.10.7""#),
        (r#"cidrsubnet("010.020.0.0/16", 8, 2)"#, r#""10.20.2.0/24""#),
        (r#"cidrhost("00fd::0/0064", 2)"#, r#""fd::2""#),
        (r#"cidrnetmask("008.0.0.0/13")"#, r#""255.248.0.0""#),
        (r#"cidrhost("1.2.3.0400/24", 1)"#, REFUSED),
        (r#"cidrhost("1.2..3/24", 1)"#, REFUSED),
        (r"one([timestamp(), 1])", REFUSED),
        (r#"alltrue([timestamp() == "", false])"#, "false"),
        (r#"anytrue([timestamp() == "", "true"])"#, "true"),
        (r"pow(-8, 0.5)", REFUSED),
        (r"pow(-2, 3)", "-8"),
        (r"ephemeralasnull(1)", "1"),
    ];
    corners(&[], &rows);
}

#[test]
fn coalescelist_rejects_nulls_and_sets() {
    let prelude = "variable \"none\" {\n  type    = list(string)\n  default = null\n}\n";
    let rows = [
        (r#"coalescelist(var.none, ["x"])"#, r#"["x"]"#),
        (r"coalescelist([], [7])", "[7]"),
        (r"coalescelist(var.none, [])", REFUSED),
        (r#"coalescelist(null, ["x"])"#, REFUSED),
        (r#"coalescelist(toset(["x"]), ["y"])"#, REFUSED),
        (r#"coalescelist(["x"], toset(["y"]))"#, REFUSED),
    ];
    corners(&[("main.tf", prelude)], &rows);
}

#[test]
fn empty_collections_keep_their_element_type() {
    let prelude = r#"
variable "texts" {
  type    = list(string)
  default = []
}
variable "numbers" {
  type    = list(number)
  default = []
}
variable "names" {
  type    = set(string)
  default = []
}
variable "none" {
  type    = map(string)
  default = null
}
"#;
    let rows = [
        ("tolist([]) == var.texts", "false"),
        ("var.texts == var.numbers", "false"),
        ("slice(tolist([1]), 0, 0) == var.numbers", "true"),
        ("slice(tolist([1]), 0, 0) == var.texts", "false"),
        ("distinct(var.texts) == var.texts", "true"),
        (
            r#"matchkeys(tolist(["a"]), tolist(["b"]), tolist(["c"])) == var.texts"#,
            "true",
        ),
        ("toset(var.texts) == var.names", "true"),
        ("toset(var.numbers) == var.names", "false"),
        (r#"setintersection(toset(["a"]), var.names) == var.names"#, "true"),
        ("setunion(toset([1]), var.names)", r#"["1"]"#),
        ("setsubtract(toset([1]), var.names)", r#"["1"]"#),
        ("setunion([1], [])", "[1]"),
        (
            r#"setproduct(var.texts, var.numbers) == setproduct(tolist(["a"]), var.numbers)"#,
            "true",
        ),
        (
            "setproduct(var.texts, var.numbers) == setproduct(var.numbers, var.texts)",
            "false",
        ),
        (r#"csvdecode("a,b") == csvdecode("a,b\n")"#, "true"),
        (r#"csvdecode("a,b") == csvdecode("a")"#, "false"),
        (r#"merge(tomap({ a = "x" }), var.none) == tomap({ a = "x" })"#, "true"),
        (r#"merge(tomap({ a = "x" }), null) == tomap({ a = "x" })"#, "false"),
        (r#"merge(tomap({ a = "x" }), null) == { a = "x" }"#, "true"),
    ];
    corners(&[("main.tf", prelude)], &rows);
}

#[test]
fn keys_and_conditions_of_wrong_types_are_rejected() {
    let prelude = "locals {\n  key = { name = \"k\" }\n}\n";
    let rows = [
        ("{ local.key.name = 1 }", REFUSED),
        (r#"{ local.key["name"] = 1 }"#, REFUSED),
        ("{ (local.key.name) = 1 }", r#"{"k":1}"#),
        (r#"{ "${local.key.name}" = 1 }"#, r#"{"k":1}"#),
        (r#"{ local.key[lower("NAME")] = 1 }"#, r#"{"k":1}"#),
        (r#"{ upper("k") = 1 }"#, r#"{"K":1}"#),
        ("{ [] = 1 }", REFUSED),
        (r#"{ for v in ["a"] : [v] => v }"#, REFUSED),
        (r#"{ for v in ["a"] : null => v }"#, REFUSED),
        ("[for v in [7] : v if v]", REFUSED),
        ("[for v in [7] : v if null]", REFUSED),
        (r"[for v in [7] : v if v.x]", REFUSED),
        (r#"[for v in [7] : v if "true"]"#, "[7]"),
    ];
    corners(&[("main.tf", prelude)], &rows);
}

#[test]
fn splats_evaluate_as_in_terraform() {
    let prelude = r#"
locals {
  l = [{ a = [1, 2] }, { a = [3, 4] }]
  s = [["x", "y"], ["z", "w"]]
}
"#;
    let rows = [
        ("local.l.*.a.0", "[1,3]"),
        ("local.l.*.a[0]", "[1,2]"),
        ("local.l.*.a.0[1]", "3"),
        ("local.s.*.0", r#"["x","z"]"#),
        ("local.s.*[0]", r#"["x","y"]"#),
        ("local.l[*].a.0", "[1,3]"),
        ("local.l[*].a[0]", "[1,3]"),
        ("local.s.*[*]", r#"[["x","y"],["z","w"]]"#),
        ("local.s[*].*", r#"[["x","y"],["z","w"]]"#),
        ("local.s.0[0]", r#""x""#),
        ("local.s.0.0", REFUSED),
        ("local.l.*.a.0.0", REFUSED),
        ("local.s[*].0.0", REFUSED),
        (r#"tolist([{ a = "x" }, { a = "y" }])[*].a[*]"#, r#"[["x"],["y"]]"#),
        // Terraform 1.11 crashes; later versions report that a list has elements of one type.
        (r#"tolist([{ a = null }, { a = "y" }])[*].a[*]"#, REFUSED),
        ("local.s.*.*", REFUSED),
        ("local.l.*.a.*", REFUSED),
    ];
    corners(&[("main.tf", prelude)], &rows);
}

#[test]
fn only_template_files_keep_the_type_of_a_single_value() {
    let files = [
        (
            "main.tf",
            "locals {\n  hi   = \"hi $${name}\"\n  lone = \"$${val}\"\n  flag = true\n  size = 5\n}\n",
        ),
        ("lone.tftpl", "${val}"),
        ("line.tftpl", "${val}\n"),
        ("if.tftpl", "%{ if true }${val}%{ endif }"),
    ];
    let rows = [
        (r#"templatefile("lone.tftpl", { val = 5 })"#, "5"),
        (r#"templatefile("lone.tftpl", { val = 5 }) + 1"#, "6"),
        (r#"templatefile("lone.tftpl", { val = true })"#, "true"),
        (r#"templatefile("lone.tftpl", { val = [1, 2] })"#, "[1,2]"),
        (r#"templatefile("lone.tftpl", { val = { a = 1 } })"#, r#"{"a":1}"#),
        (r#"templatefile("lone.tftpl", { val = null })"#, REFUSED),
        (r#"templatefile("line.tftpl", { val = 5 })"#, r#""5\n""#),
        (r#"templatefile("if.tftpl", { val = 5 })"#, r#""5""#),
        (r#"templatestring(local.hi, { name = "x" })"#, r#""hi x""#),
        (r"templatestring(local.lone, { val = 5 })", r#""5""#),
        (r"templatestring(local.lone, { val = true })", r#""true""#),
        (r"templatestring(local.lone, { val = [1] })", REFUSED),
        (r"templatestring(local.hi, {})", REFUSED),
        (r"templatestring(local.flag, {})", REFUSED),
        (r"templatestring(local.size, {})", REFUSED),
        (r#"templatestring("a", {})"#, REFUSED),
    ];
    corners(&files, &rows);
}

#[test]
fn functions_split_the_arns_of_resources() {
    let prelude = r#"
variable "name" {}
provider "aws" {
  region = "eu-west-1"
}
provider "aws" {
  alias = "other"
}
resource "aws_sqs_queue" "q" {
  name = "orders"
}
resource "aws_sqs_queue" "open" {
  name     = var.name
  provider = aws.other
}
resource "aws_lambda_function" "f" {
  function_name = "Worker"
}
"#;
    let account = "\"? the account of `aws_sqs_queue.q` is known only after apply\"";
    let unsettled = "? `aws_sqs_queue.q.arn` is known only after apply";
    let refused = "? `aws_sqs_queue.open.arn` is known only after apply";
    let rows = [
        (
            r#"element(split(":", aws_lambda_function.f.arn), 6)"#,
            "<aws_lambda_function.f.function_name>",
        ),
        (r#"split(":", aws_sqs_queue.q.arn)[3]"#, r#""eu-west-1""#),
        (r#"split(":", aws_sqs_queue.q.arn)[4]"#, account),
        (r#"split(":", "${aws_lambda_function.f.arn}:live")[7]"#, r#""live""#),
        (r#"length(split(":", aws_sqs_queue.open.arn))"#, "6"),
        (r"lower(aws_sqs_queue.q.arn)", "<aws_sqs_queue.q.arn>"),
        (r"lower(aws_sqs_queue.open.arn)", refused),
        (r"sort([aws_sqs_queue.q.arn])[0]", "<aws_sqs_queue.q.arn>"),
        (r#"regex("[^:]+$", aws_sqs_queue.q.arn)"#, "<aws_sqs_queue.q.name>"),
        (
            r#"regex("([^:]+)$", aws_sqs_queue.open.arn)[0]"#,
            "<aws_sqs_queue.open.name>",
        ),
        (
            r#"regex("^arn:(?P<p>[^:]+):.*:(?P<n>[^:]+)$", aws_sqs_queue.q.arn).p"#,
            r#""aws""#,
        ),
        (r#"regex("[0-9]{12}", aws_sqs_queue.q.arn)"#, unsettled),
        (r#"length(regexall(".*:sqs:.*", aws_sqs_queue.open.arn))"#, "1"),
        (r#"length(regexall(".*:kinesis:.*", aws_sqs_queue.open.arn))"#, "0"),
        (
            r#"regexall("([^:]+)$", aws_sqs_queue.q.arn)[0][0]"#,
            "<aws_sqs_queue.q.name>",
        ),
        (r#"length(regexall(":", aws_sqs_queue.open.arn))"#, "5"),
        // These may match a name or a Region that is not among the samples.
        (r#"regexall(":kinesis:?", aws_sqs_queue.open.arn)"#, refused),
        (r#"regexall("kinesis", aws_sqs_queue.open.arn)"#, refused),
        (r#"regexall("1", aws_sqs_queue.open.arn)"#, refused),
        // The pattern names a Region that is not among the samples.
        (r#"regex("us-west-2:(.*)", aws_sqs_queue.open.arn)"#, refused),
        (
            r#"replace(aws_sqs_queue.q.arn, "/^.*:/", "")"#,
            "<aws_sqs_queue.q.name>",
        ),
        (
            r#"endswith(replace(aws_sqs_queue.q.arn, "/:[^:]*$/", ":other"), ":other")"#,
            "true",
        ),
        (
            r"provider::aws::arn_parse(aws_sqs_queue.q.arn).resource",
            "<aws_sqs_queue.q.name>",
        ),
        (
            r#"provider::aws::arn_parse("arn:aws:sqs:eu-west-1:1:orders").account_id"#,
            r#""1""#,
        ),
        (r#"provider::aws::arn_parse("arn:aws")"#, REFUSED),
        (
            r#"provider::aws::arn_build("aws", "sqs", "eu-west-1", "1", "orders")"#,
            r#""arn:aws:sqs:eu-west-1:1:orders""#,
        ),
    ];
    corners(&[("main.tf", prelude)], &rows);
}

#[test]
fn outputs_of_a_local_state_are_read() {
    let files = [
        (
            "main.tf",
            "data \"terraform_remote_state\" \"q\" {\n  backend = \"local\"\n  config = {\n    path = \"q.tfstate\"\n  }\n}\ndata \"terraform_remote_state\" \"s\" {\n  backend = \"s3\"\n}\n",
        ),
        (
            "q.tfstate",
            r#"{"version": 4, "outputs": {"timeout": {"value": 90, "type": "number"}, "key": {"value": "x", "type": "string", "sensitive": true}}}"#,
        ),
    ];
    let rows = [
        ("data.terraform_remote_state.q.outputs.timeout", "90"),
        (
            "data.terraform_remote_state.q.outputs.key",
            "? the output `key` is sensitive",
        ),
        ("data.terraform_remote_state.q.outputs.none", REFUSED),
        (
            "data.terraform_remote_state.s.outputs.timeout",
            "? the state of `data.terraform_remote_state.s` is not in the project",
        ),
    ];
    corners(&files, &rows);
}

#[test]
fn issensitive_follows_declarations() {
    let files = [(
        "main.tf",
        "variable \"s\" {\n  default = 30\n  sensitive = true\n}\nvariable \"p\" {\n  default = 30\n}\n\
         variable \"o\" {\n  default = { a = 1 }\n  sensitive = true\n}\n\
         locals {\n  s = var.s\n  p = \"x-${var.p}\"\n  t = [var.s]\n  loop = local.loop\n}\n",
    )];
    let rows = [
        ("issensitive(var.s)", "true"),
        ("issensitive(var.p)", "false"),
        ("issensitive(var.o.a)", "true"),
        ("issensitive(local.s)", "true"),
        ("issensitive(local.p)", "false"),
        ("issensitive(local.t)", "false"),
        ("issensitive(sensitive(1))", "true"),
        ("issensitive(nonsensitive(var.s))", "false"),
        ("issensitive(issensitive(var.s))", "false"),
        ("issensitive(\"${var.s}\")", "true"),
        ("issensitive(-var.s)", "true"),
        ("issensitive(var.s + 1)", "true"),
        ("issensitive(var.s > 1 ? 1 : 2)", "true"),
        ("issensitive([var.s])", "false"),
        ("issensitive({ a = var.s })", "false"),
        ("issensitive(null)", "false"),
        ("issensitive(upper(\"x\"))", "false"),
        ("issensitive(length([1]))", "false"),
        ("issensitive(1, 2)", REFUSED),
        ("issensitive()", REFUSED),
        // Declarations determine neither which marks pass through a function nor which a provider sets.
        (
            "issensitive(length([var.s]))",
            "? the function `issensitive` is not supported yet",
        ),
        ("issensitive(local.loop)", "? a value refers to itself"),
    ];
    corners(&files, &rows);
}

/// The files that `terraform init` installs below a module can easily be this large. Everything else in the module must
/// stay known.
#[test]
fn digests_of_too_many_bytes_are_unknown() {
    let large = "x".repeat(1_000_000);
    let names: Vec<String> = (0..18).map(|at| format!("{at}.bin")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), large.as_str())).collect();
    let rows = [
        (r#"filemd5("0.bin")"#, r#""ec78dbd963d2fc01e51176ed4dec299e""#),
        (
            r#"[for f in fileset(path.module, "*.bin") : filesha1(f)][17]"#,
            "? the files that are hashed have more than 16 megabytes",
        ),
        ("1 + 1", "2"),
    ];
    corners(&files, &rows);
}
