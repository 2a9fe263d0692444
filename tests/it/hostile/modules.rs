//! Checks Terraform that would grow, nest or call itself endlessly, and that the work grows linearly with the number of
//! instances.

use super::on_large_stack;
use crate::inputs::{check, check_files};
use source::Sources;
use sqslint::discover::Input;
use sqslint::frontend;
use sqslint::testing::TemporaryDirectory;

#[test]
fn deeply_nested_modules_reach_the_limit() {
    on_large_stack(|| {
        let depth = 5000;
        let text = format!(
            r#"{{"format_version":"1.2","terraform_version":"1","planned_values":{{"root_module":{}{}}}}}"#,
            r#"{"address":"module.a","child_modules":["#.repeat(depth),
            "]}".repeat(depth)
        );
        let directory = TemporaryDirectory::with_files([("plan.json", &*text)]);
        let outcome = check(&directory.path().join("plan.json"));
        let rules: Vec<_> = outcome.findings.iter().map(|found| &*found.rule).collect();
        assert_eq!(rules, ["limit-reached"]);
    });
}

/// Configurations whose values would grow endlessly, each with a description.
#[allow(clippy::too_many_lines, reason = "a list")]
fn growing() -> Vec<(&'static str, String)> {
    let chain = |count: usize, step: &dyn Fn(usize) -> String| (1..count).map(step).collect::<String>();
    let locals = |first: &str, steps: String, last: &str| {
        format!(
            "locals {{\n  x0 = {first}\n{steps}}}\nresource \"aws_sqs_queue\" \"q\" {{\n  name = jsonencode({last})\n}}\n"
        )
    };
    let ranges = "range(1024)";
    vec![
        (
            "texts that double",
            locals(
                "\"xxxxxxxx\"",
                chain(60, &|at| {
                    format!("  x{at} = \"${{local.x{p}}}${{local.x{p}}}\"\n", p = at - 1)
                }),
                "local.x59",
            ),
        ),
        (
            "lists that double",
            locals(
                "[1]",
                chain(60, &|at| format!("  x{at} = [local.x{p}, local.x{p}]\n", p = at - 1)),
                "local.x59",
            ),
        ),
        (
            "lists joined to themselves",
            locals(
                "[1]",
                chain(60, &|at| {
                    format!("  x{at} = concat(local.x{p}, local.x{p})\n", p = at - 1)
                }),
                "local.x59",
            ),
        ),
        (
            "encodings of encodings",
            locals(
                "\"<>\"",
                chain(60, &|at| format!("  x{at} = upper(jsonencode(local.x{}))\n", at - 1)),
                "local.x59",
            ),
        ),
        (
            "replacements",
            locals(
                "\"aaaa\"",
                chain(40, &|at| {
                    format!("  x{at} = replace(local.x{}, \"a\", \"aaaa\")\n", at - 1)
                }),
                "local.x39",
            ),
        ),
        (
            "a deep list",
            locals(
                "[]",
                chain(2000, &|at| format!("  x{at} = [local.x{}]\n", at - 1))
                    + &chain(2000, &|at| format!("  y{at} = length(local.x{at})\n")),
                "[local.x250, local.x500, local.x1999]",
            ),
        ),
        (
            "loops in loops",
            locals(
                &format!("[for a in {ranges} : [for b in {ranges} : [for c in {ranges} : a]]]"),
                String::new(),
                "local.x0",
            ),
        ),
        (
            "a product",
            locals(
                &format!("setproduct({ranges}, {ranges}, {ranges})"),
                String::new(),
                "local.x0",
            ),
        ),
        (
            "loops in templates",
            locals(
                &format!(
                    "\"%{{ for a in {ranges} }}%{{ for b in {ranges} }}%{{ for c in {ranges} }}x%{{ endfor }}%{{ endfor }}%{{ endfor }}\""
                ),
                String::new(),
                "local.x0",
            ),
        ),
        (
            "a cycle",
            locals("local.x1", "  x1 = local.x0\n".to_owned(), "local.x0"),
        ),
        (
            "a chain",
            locals(
                "1",
                chain(3000, &|at| format!("  x{at} = local.x{} + 1\n", at - 1)),
                "local.x2999",
            ),
        ),
        (
            "long numbers",
            locals(
                &format!("[for a in {ranges} : [for b in {ranges} : \"${{1e-500 * 3}}\"]]"),
                String::new(),
                "local.x0",
            ),
        ),
        (
            "patterns",
            locals(
                &format!(
                    "[for a in {ranges} : [for b in {ranges} : regexall(\"(a*)*b\", \"{}\")]]",
                    "a".repeat(2000)
                ),
                String::new(),
                "local.x0",
            ),
        ),
    ]
}

#[test]
fn growing_values_are_bounded_and_reported() {
    on_large_stack(|| {
        for (what, text) in growing() {
            let directory = TemporaryDirectory::with_files([("main.tf", text.as_str())]);
            let directory = directory.path().canonicalize().expect("it exists");
            let sources = Sources::new(None, directory.clone());
            let begun = std::time::Instant::now();
            let input = [Input::TerraformModule(directory.clone())];
            let parts = frontend::load(&input, &sqslint::inputs::UnitInputs::default(), &sources);
            let took = begun.elapsed();
            let told = parts
                .iter()
                .flat_map(|part| &part.diagnostics)
                .any(|diagnostic| diagnostic.rule == "limit-reached");
            assert!(told, "{what}: no limit is reported");
            // This is generous for a debug build on a busy machine; without a bound it would be hours.
            assert!(took.as_secs() < 60, "{what} took {took:?}");
            eprintln!("{what}: {took:?}");
        }
    });
}

#[test]
fn chain_of_modules_is_followed_and_recursion_is_reported() {
    let mut files = vec![(
        "main.tf".to_owned(),
        "module \"m\" {\n  source = \"./m0\"\n  wait = 7\n}\n".to_owned(),
    )];
    for at in 0..30 {
        let next = format!(
            "module \"m\" {{\n  source = \"../m{}\"\n  wait = var.wait + 1\n}}\n",
            at + 1
        );
        let own = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = var.wait\n}\n".to_owned();
        let body = if at < 29 { next } else { own };
        files.push((format!("m{at}/main.tf"), format!("variable \"wait\" {{}}\n{body}")));
    }
    files.push((
        "again/main.tf".to_owned(),
        "module \"again\" {\n  source = \"./\"\n}\n".to_owned(),
    ));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let outcome = check_files(files);
    let known = outcome
        .graph
        .queues()
        .iter()
        .filter_map(|queue| queue.visibility_timeout.known());
    assert_eq!(known.map(|seconds| seconds.0).collect::<Vec<_>>(), [36]);
    assert!(outcome.findings.iter().any(|found| found.rule == "limit-reached"));
}

#[test]
fn mutually_reading_configurations_terminate() {
    let reads = |other: &str| {
        let read = |at: usize| format!("  c{at} = read_terragrunt_config(\"{other}\")\n");
        format!("locals {{\n{}}}\n", (0..20).map(read).collect::<String>())
    };
    let root = format!("{}terraform {{\n  source = \".\"\n}}\n", reads("./a.hcl"));
    let files = [
        ("terragrunt.hcl", root),
        ("a.hcl", reads("./b.hcl")),
        ("b.hcl", reads("./a.hcl")),
        ("main.tf", "resource \"aws_sqs_queue\" \"q\" {}\n".to_owned()),
    ];
    let directory = TemporaryDirectory::with_files(files.each_ref().map(|(name, text)| (*name, text.as_str())));
    let begun = std::time::Instant::now();
    let outcome = check(directory.path());
    let took = begun.elapsed();
    assert_eq!(outcome.graph.queues().len(), 1);
    // Without a bound, there would be twenty to the power of eight reads.
    assert!(took.as_secs() < 60, "{took:?}");
}
