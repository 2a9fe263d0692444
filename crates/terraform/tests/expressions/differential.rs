//! Compares random expressions with the installed `terraform`: values that both know must be identical, and an
//! expression that Terraform rejects must not have a known value. Skipped if `terraform` is not installed.
//! `SQSLINT_EXPRESSIONS=20000` sets the number of expressions.

use super::{encoded, evaluate};
use needs::TERRAFORM;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use source::files::Scratch;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Default number of expressions.
const USUAL: usize = 1000;
/// Number of expressions per Terraform process.
const BATCH: usize = 500;
/// Represents an expression that Terraform rejects.
const REFUSED: &str = "(refused)";

const PRELUDE: &str = r#"
locals {
  name  = "orders"
  ports = [80, 443, 8080]
  mixed = [1, "a", true, null]
  users = [{ name = "ann", admin = true, roles = ["r", "w"] }, { name = "bob", admin = false, roles = [] }]
  conf  = { dev = { timeout = 10 }, prod = { timeout = 60, extra = [1, 2] } }
  texts = toset(["b", "a", "10", "9"])
  sizes = tomap({ a = 1, b = 2.5 })
  none  = null
}
"#;

fn pick(choices: &'static [&'static str]) -> BoxedStrategy<String> {
    proptest::sample::select(choices).prop_map(str::to_owned).boxed()
}

fn leaf() -> BoxedStrategy<String> {
    let number = prop_oneof![
        (-20_i64..20).prop_map(|n| n.to_string()),
        (0_i64..100_000, 0_usize..4).prop_map(|(n, places)| format!("{}.{:0places$}", n / 7, n % 10)),
        pick(&[
            "0",
            "1",
            "2",
            "0.1",
            "0.2",
            "1e3",
            "2.5e-3",
            "123456789012345678901234567890",
            "9007199254740993"
        ]),
    ];
    let text = prop_oneof![
        "[a-z]{0,4}".prop_map(|text| format!("\"{text}\"")),
        pick(&[
            r#""""#,
            r#""5""#,
            r#""1.50""#,
            r#""true""#,
            r#""a,b,,c""#,
            r#"" Hello wORLD ""#,
            r#""x\ny\n""#,
            r#""a\"b\\c""#,
            r#""é<&>""#,
            r#""orders.fifo""#,
            r#""arn:aws:sqs:eu-west-1:123456789012:orders""#,
            r#""10.1.2.0/16""#,
            r#""2024-02-29T13:05:09Z""#,
            r#""{\"a\": [1, 2.50], \"b\": null}""#,
        ]),
    ];
    let named = pick(&[
        "local.name",
        "local.ports",
        "local.mixed",
        "local.users",
        "local.conf",
        "local.texts",
        "local.sizes",
        "local.none",
        "local.users[0].name",
        "local.conf.prod.timeout",
        "local.users[*].name",
        "local.users.*.roles",
        "local.ports[1]",
    ]);
    prop_oneof![4 => number, 4 => text, 1 => pick(&["true", "false"]), 1 => Just("null".to_owned()), 2 => named].boxed()
}

/// Functions, by their usual number of arguments.
const ONE: &[&str] = &[
    "abs",
    "ceil",
    "floor",
    "signum",
    "lower",
    "upper",
    "title",
    "trimspace",
    "chomp",
    "strrev",
    "length",
    "flatten",
    "distinct",
    "compact",
    "keys",
    "values",
    "reverse",
    "sort",
    "sum",
    "one",
    "alltrue",
    "anytrue",
    "tostring",
    "tonumber",
    "tobool",
    "tolist",
    "toset",
    "tomap",
    "jsonencode",
    "jsondecode",
    "base64encode",
    "urlencode",
    "md5",
    "sha1",
    "sha256",
    "sha512",
    "base64sha256",
    "transpose",
    "coalescelist",
    "merge",
    "concat",
    "max",
    "min",
    "range",
    "nonsensitive",
    "yamlencode",
    "yamldecode",
    "csvdecode",
    "cidrnetmask",
    "basename",
    "dirname",
    "can",
    "try",
    "setunion",
    "base64decode",
];
const TWO: &[&str] = &[
    "max",
    "min",
    "pow",
    "log",
    "parseint",
    "trim",
    "trimprefix",
    "trimsuffix",
    "startswith",
    "endswith",
    "strcontains",
    "split",
    "join",
    "indent",
    "regex",
    "regexall",
    "format",
    "formatlist",
    "concat",
    "contains",
    "element",
    "index",
    "chunklist",
    "lookup",
    "merge",
    "zipmap",
    "setunion",
    "setintersection",
    "setsubtract",
    "setproduct",
    "coalesce",
    "coalescelist",
    "range",
    "try",
    "timeadd",
    "timecmp",
    "cidrhost",
    "uuidv5",
    "textencodebase64",
];
const THREE: &[&str] = &[
    "replace",
    "substr",
    "slice",
    "lookup",
    "range",
    "merge",
    "coalesce",
    "setproduct",
    "matchkeys",
    "join",
    "format",
    "cidrsubnet",
    "max",
    "concat",
    "try",
    "formatlist",
];

fn call(inner: &BoxedStrategy<String>) -> BoxedStrategy<String> {
    let any = inner.clone();
    prop_oneof![
        3 => (pick(ONE), any.clone()).prop_map(|(name, a)| format!("{name}({a})")),
        3 => (pick(TWO), any.clone(), any.clone()).prop_map(|(name, a, b)| format!("{name}({a}, {b})")),
        2 => (pick(THREE), any.clone(), any.clone(), any.clone())
            .prop_map(|(name, a, b, c)| format!("{name}({a}, {b}, {c})")),
        1 => (pick(&["max", "concat", "merge", "coalesce", "setunion", "format"]), any)
            .prop_map(|(name, a)| format!("{name}([{a}, {a}]...)")),
    ]
    .boxed()
}

/// Generates calls with suitable arguments, because random ones rarely fit.
fn fitting(inner: &BoxedStrategy<String>) -> BoxedStrategy<String> {
    let any = inner.clone();
    let verbs = pick(&[
        "%s", "%d", "%v", "%q", "%#v", "%5d|", "%-6s|", "%05.1f", "%.2f", "%e", "%g", "%x", "%t", "%+d", "%%", "%8.3f",
        "%G", "%b", "%o", "%[1]s",
    ]);
    let patterns = pick(&[
        "[a-z]+",
        "([a-z]+)([0-9]*)",
        "^(?P<first>.)",
        "[^\\\\W\\\\d]",
        "o",
        "(?i)H",
        "\\\\s+",
        "a|b",
        "(x)?",
        ".*",
    ]);
    let whole = (-3_i64..9).prop_map(|n| n.to_string());
    let dates = pick(&[
        "YYYY-MM-DD'T'hh:mm:ssZ",
        "DD MMM YY, EEEE h:mm aa",
        "EEE HH AA ZZZ",
        "M/D/YY",
        "'it''s' ZZZZZ",
    ]);
    prop_oneof![
        (verbs, any.clone()).prop_map(|(verb, a)| format!("format(\"<{verb}>\", {a})")),
        (patterns.clone(), any.clone()).prop_map(|(p, a)| format!("regexall(\"{p}\", {a})")),
        (patterns, any.clone()).prop_map(|(p, a)| format!("replace({a}, \"/{p}/\", \"<$1>\")")),
        (any.clone(), whole.clone(), whole.clone()).prop_map(|(a, n, m)| format!("substr({a}, {n}, {m})")),
        (any.clone(), whole.clone()).prop_map(|(a, n)| format!("element({a}, {n})")),
        (any.clone(), whole.clone(), whole.clone()).prop_map(|(a, n, m)| format!("slice({a}, {n}, {m})")),
        (whole.clone(), whole.clone()).prop_map(|(n, m)| format!("range({n}, {m})")),
        (any.clone(), whole.clone()).prop_map(|(a, n)| format!("({a})[{n}]")),
        (dates, whole.clone())
            .prop_map(|(p, n)| format!("formatdate(\"{p}\", timeadd(\"2024-02-29T13:05:09+02:00\", \"{n}h30m\"))")),
        (0..9, 0..9).prop_map(|(n, m)| format!("cidrsubnet(\"10.1.2.0/20\", {n}, {m})")),
        (0..9, 0..9).prop_map(|(n, m)| format!("cidrsubnets(\"fd00::/48\", {n}, {m})")),
        any.clone().prop_map(|a| format!("jsondecode(jsonencode({a}))")),
        any.prop_map(|a| format!("tolist([{a}, {a}])")),
    ]
    .boxed()
}

fn compound(inner: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let any = inner.clone();
    let operators = pick(&["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"]);
    let condition = prop_oneof![pick(&["true", "false", "1 < 2", "\"true\""]), any.clone()];
    let key = pick(&["a", "b", "\"c d\"", "(local.name)", "1"]);
    let collection = prop_oneof![
        any.clone(),
        pick(&[
            "local.users",
            "local.ports",
            "local.conf",
            "local.texts",
            "local.sizes",
            "[1, \"a\"]"
        ]),
    ];
    prop_oneof![
        4 => (any.clone(), operators, any.clone()).prop_map(|(a, operator, b)| format!("({a} {operator} {b})")),
        1 => any.clone().prop_map(|a| format!("!{a}")),
        1 => any.clone().prop_map(|a| format!("-{a}")),
        3 => (condition, any.clone(), any.clone()).prop_map(|(c, a, b)| format!("({c} ? {a} : {b})")),
        3 => proptest::collection::vec(any.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
        3 => proptest::collection::vec((key, any.clone()), 0..4).prop_map(|entries| {
            let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            format!("{{ {} }}", entries.join(", "))
        }),
        1 => (collection.clone(), any.clone()).prop_map(|(list, a)| format!("[for k, v in {list} : [k, v, {a}]]")),
        1 => collection.clone().prop_map(|list| format!("[for v in {list} : v if v != \"a\"]")),
        1 => collection.clone().prop_map(|list| format!("{{ for k, v in {list} : \"x${{k}}\" => v }}")),
        1 => collection.clone().prop_map(|list| format!("{{ for k, v in {list} : length(jsonencode(v)) => k... }}")),
        1 => collection.clone().prop_map(|list| format!("({list})[*]")),
        1 => (any.clone(), any.clone()).prop_map(|(a, b)| format!("\"p-${{{a}}} ${{~ {b} ~}} s\"")),
        1 => (any.clone(), any.clone())
            .prop_map(|(c, a)| format!("\"x %{{~ if {c} ~}} yes ${{{a}}} %{{ else }} no %{{~ endif }} y\"")),
        1 => collection.prop_map(|list| format!("\"%{{ for k, v in {list} ~}} ${{k}} %{{ endfor }}\"")),
        5 => call(&inner),
        4 => fitting(&inner),
    ]
    .boxed()
}

fn expressions(count: usize, seed: u64) -> Vec<String> {
    let strategy = leaf().prop_recursive(4, 24, 3, |inner| compound(inner.boxed()));
    let mut bytes = [7; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    (0..count)
        .map(|_| {
            strategy
                .new_tree(&mut runner)
                .expect("every strategy gives a value")
                .current()
        })
        .collect()
}

fn terraform(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let output = Command::new("terraform")
        .args(arguments)
        .current_dir(folder)
        .env("CHECKPOINT_DISABLE", "1")
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_str(&text).unwrap_or_default()
}

/// Returns the value that Terraform plans for each expression; `None` if it is known only after apply.
fn answers(folder: &Path, expressions: &[String]) -> Vec<Option<String>> {
    let mut questions = String::new();
    for (at, expression) in expressions.iter().enumerate() {
        let requested = format!("try(jsonencode({expression}), \"{REFUSED}\")");
        writeln!(questions, "output \"e{at}\" {{\n  value = {requested}\n}}").unwrap();
    }
    std::fs::write(folder.join("questions.tf"), questions).unwrap();
    terraform(
        folder,
        &[
            "plan",
            "-input=false",
            "-lock=false",
            "-refresh=false",
            "-no-color",
            "-out=plan",
        ],
    );
    let plan = terraform(folder, &["show", "-json", "plan"]);
    (0..expressions.len())
        .map(|at| {
            let answer = &plan["planned_values"]["outputs"][format!("e{at}")]["value"];
            answer.as_str().map(str::to_owned)
        })
        .collect()
}

#[test]
fn random_expressions_evaluate_as_in_terraform() {
    if !TERRAFORM.is_available() {
        return;
    }
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let count = variable("SQSLINT_EXPRESSIONS").unwrap_or(USUAL);
    let seed = variable("SQSLINT_SEED").unwrap_or(1);
    let expressions = expressions(count, seed as u64);
    let scratch = Scratch::with_files([("main.tf", PRELUDE)]).unwrap();
    let (mut wrong, mut open, mut valued) = (String::new(), String::new(), 0);
    for batch in expressions.chunks(BATCH) {
        let theirs = answers(scratch.path(), batch);
        // Wrapped in `try` as on the other side, because versions of Terraform differ there.
        let mine = evaluate(PRELUDE, batch.iter().map(|text| format!("try({text})")).collect());
        for ((expression, theirs), value) in batch.iter().zip(theirs).zip(&mine) {
            // Terraform 1.11 gives up as soon as a part is unknown, so more may be known here.
            let Some(theirs) = theirs else {
                continue;
            };
            valued += usize::from(theirs != REFUSED);
            match encoded(value) {
                Some(mine) if mine == theirs => {}
                Some(mine) => writeln!(wrong, "{expression}\n    {mine}\n    {theirs}").unwrap(),
                None if theirs != REFUSED => writeln!(open, "{expression}\n    {}", super::shown(value)).unwrap(),
                None => {}
            }
        }
    }
    let unknown = open.lines().count() / 2;
    eprintln!("{count} expressions, {valued} with a value, {unknown} of them not known here:\n{open}");
    assert_eq!(wrong, "");
    assert!(unknown * 100 <= valued * 3, "too many are not known");
}
