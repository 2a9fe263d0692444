//! Tests the table of rules and dialects: each cell needs an example that makes the rule report in that dialect, and
//! one that does not. Only the cells of `CANNOT` may be empty, each with the reason.
//!
//! The examples are those of the rules' pages, which `pages.rs` runs. If a page has no example for CDK or the
//! Serverless Framework, its templates are also run as a stack synthesized from an app, and as the resources of a
//! service. If it has no example for plans, the plan that Terraform made of its modules is run, or of modules rewritten
//! so that the values are known before apply (`fixtures/planned/`).

use crate::inputs::repository;
use crate::pages::{Example, examples, run};
use serde_json::Value;
use sqslint::Outcome;
use sqslint::graph::UnitKind;
use sqslint::rules::{Category, RULES, Rule};
use sqslint::testing::describe;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Dialect {
    Terraform,
    Plan,
    CloudFormation,
    Sam,
    Cdk,
    Serverless,
}

use Dialect::{Cdk, CloudFormation, Plan, Sam, Serverless, Terraform};

const DIALECTS: [Dialect; 6] = [Terraform, Plan, CloudFormation, Sam, Cdk, Serverless];

/// Outcome that a cell demonstrates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Expectation {
    Finding,
    Silence,
}

use Expectation::{Finding, Silence};

/// File name of the configuration, in every dialect.
const CONFIGURATION: &str = "sqslint.toml";
/// File name of a recorded plan.
const PLAN: &str = "plan.json";
/// File with a snapshot of what is deployed.
const SNAPSHOT: &str = "snapshot.json";

/// Cells that must be empty: a rule, dialects, the outcomes that are impossible there, and why.
const CANNOT: &[(&str, &[Dialect], &[Expectation], &str)] = &[
    (
        "deployed-value-differs",
        &[Plan],
        &[Finding, Silence],
        "an example with a plan is run without a snapshot; `deployed.rs` compares a plan",
    ),
    (
        "deployed-not-declared",
        &[Plan],
        &[Finding, Silence],
        "an example with a plan is run without a snapshot",
    ),
    (
        "declared-not-deployed",
        &[Plan],
        &[Finding, Silence],
        "an example with a plan is run without a snapshot",
    ),
    (
        "queue-replaced",
        &[Terraform, CloudFormation, Sam, Cdk, Serverless],
        &[Finding],
        "only a plan or an earlier commit shows a replacement; `since.rs` compares commits",
    ),
    (
        "sam-subscription-queue-implicit",
        &[Terraform, Plan, CloudFormation, Cdk, Serverless],
        &[Finding, Silence],
        "only the SAM transform creates such a queue",
    ),
    (
        "sam-subscription-enabled-ignored",
        &[Terraform, Plan, CloudFormation, Cdk, Serverless],
        &[Finding, Silence],
        "only the SAM transform drops the setting",
    ),
    (
        "event-without-queue",
        &[Terraform, Plan, CloudFormation, Sam, Cdk],
        &[Finding, Silence],
        "only the Serverless Framework deploys such an event",
    ),
    (
        "property-unknown",
        &[Plan],
        &[Finding, Silence],
        "Terraform rejects unknown arguments before it plans",
    ),
    (
        "fifo-queue-false",
        &[Terraform, Plan],
        &[Finding],
        "the provider omits `false`",
    ),
    (
        "dead-letter-queue-cross-region",
        &[CloudFormation, Sam],
        &[Finding],
        "a template does not determine its Region",
    ),
    (
        "dead-letter-queue-cross-region",
        &[Serverless],
        &[Finding],
        "the Region of a service is an option of its deployment",
    ),
    (
        "dead-letter-queue-undeclared",
        &[Plan],
        &[Finding],
        "Terraform refuses to plan it",
    ),
    (
        "event-source-mapping-source-undeclared",
        &[Plan],
        &[Finding],
        "Terraform refuses to plan it",
    ),
    (
        "dependency-cycle",
        &[Plan],
        &[Finding, Silence],
        "Terraform refuses to plan it, and a plan does not contain all references",
    ),
    (
        "created-before-permission",
        &[Plan],
        &[Finding, Silence],
        "a plan does not contain all references",
    ),
    (
        "created-before-permission",
        &[Cdk],
        &[Finding],
        "the constructs of an app order its resources",
    ),
    (
        "queue-policy-overwritten",
        &[Plan],
        &[Finding],
        "the policy of a deployed queue may come from the separate resource",
    ),
    (
        "redrive-policy-overwritten",
        &[Plan],
        &[Finding],
        "the policy of a deployed queue may come from the separate resource",
    ),
    (
        "redrive-policy-overwritten",
        &[CloudFormation, Sam, Cdk, Serverless],
        &[Finding],
        "a redrive policy is not a separate resource",
    ),
    (
        "queue-policy-version-missing",
        &[CloudFormation, Sam, Cdk, Serverless],
        &[Finding],
        "only the Terraform provider waits for the policy",
    ),
    (
        "visibility-timeout-uncoupled",
        &[Plan],
        &[Finding],
        "a plan has values, but no inputs to change",
    ),
    (
        "worker-deletes-before-work",
        &[Plan],
        &[Finding, Silence],
        "a recorded plan is run without the code of the worker",
    ),
    (
        "function-feeds-own-queue",
        &[Plan],
        &[Finding, Silence],
        "a plan does not refer to the source of a function",
    ),
    (
        "worker-swallows-failures",
        &[Plan],
        &[Finding, Silence],
        "a recorded plan is run without the code of the worker",
    ),
    (
        "countdown-exceeds-visibility-timeout",
        &[Plan],
        &[Finding, Silence],
        "a recorded plan is run without the code of the worker",
    ),
    (
        "dead-letter-queue-cross-account",
        &[CloudFormation, Sam, Serverless],
        &[Finding],
        "a template does not determine its account",
    ),
    (
        "cross-account-queue-default-key",
        &[CloudFormation, Sam, Serverless],
        &[Finding],
        "a template does not determine its account",
    ),
];

/// Titles of a rule's examples, by cell.
type Cells = BTreeMap<(Dialect, Expectation), Vec<String>>;

/// Returns the dialect of an example, from the units that were loaded.
fn dialect(files: &[(String, String)], outcome: &Outcome) -> Dialect {
    let kinds: BTreeSet<UnitKind> = outcome.graph.units().iter().map(|unit| unit.kind).collect();
    let is_sam = files.iter().any(|(_, text)| text.contains("AWS::Serverless"));
    match kinds.first() {
        Some(UnitKind::Template) if is_sam => Sam,
        Some(UnitKind::Template) => CloudFormation,
        Some(UnitKind::CdkStack) => Cdk,
        Some(UnitKind::ServerlessService) => Serverless,
        Some(UnitKind::Plan | UnitKind::State) => Plan,
        // A snapshot is only part of an example.
        Some(UnitKind::TerraformModule | UnitKind::Snapshot) | None => Terraform,
    }
}

/// Wraps the only template of `example` into a synthesized stack and into the resources of a service. Files other than
/// the template, such as a configuration or the code of a worker, are copied.
fn carried(example: &Example) -> Vec<(Dialect, Vec<(String, String)>)> {
    let is_code = |name: &str| name.starts_with("worker.");
    let is_template = |(name, _): &&(String, String)| name != CONFIGURATION && name != SNAPSHOT && !is_code(name);
    let (templates, others): (Vec<_>, Vec<_>) = example.files.iter().partition(is_template);
    let [(_, template)] = templates.as_slice() else {
        return Vec::new();
    };
    let manifest = r#"{"version": "52.0.0", "artifacts": {"S": {"type": "aws:cloudformation:stack",
        "environment": "aws://111122223333/eu-west-1", "properties": {"templateFile": "S.template.json"}}}}"#;
    let indented: Vec<String> = template.lines().map(|line| format!("  {line}\n")).collect();
    let service = format!(
        "service: shop\nprovider:\n  name: aws\n  region: eu-west-1\nresources:\n{}",
        indented.concat()
    );
    let with = |files: &[(&str, &str)], directory: &str| {
        let files = files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        let others = others.iter();
        let others = others.map(|(name, text)| {
            let directory = if is_code(name) { "" } else { directory };
            (format!("{directory}{name}"), text.clone())
        });
        files.chain(others).collect()
    };
    vec![
        (
            Cdk,
            with(
                &[
                    // The code of an app is next to its output.
                    (".git/HEAD", ""),
                    ("cdk.out/manifest.json", manifest),
                    ("cdk.out/S.template.json", template),
                ],
                "cdk.out/",
            ),
        ),
        (Serverless, with(&[("serverless.yml", &service)], "")),
    ]
}

/// Returns the recorded plans for examples of `rule`, and whether each one must be flagged.
fn planned(rule: &Rule) -> Vec<(Expectation, String)> {
    let path = repository("fixtures/planned").join(format!("{}.json", rule.id));
    let Ok(text) = std::fs::read_to_string(path) else {
        return Vec::new();
    };
    let recorded: Value = serde_json::from_str(&text).unwrap();
    let shown = [("flagged", Finding), ("silent", Silence)];
    let plans = shown.into_iter().filter_map(|(key, shown)| {
        let plan = recorded.get(key)?;
        Some((shown, plan.to_string()))
    });
    plans.collect()
}

fn cannot(rule: &Rule, dialect: Dialect, shown: Expectation) -> bool {
    // A plan does not refer to the source of a function.
    if rule.category == Category::Handlers && dialect == Plan {
        return true;
    }
    CANNOT
        .iter()
        .any(|(id, dialects, what, _)| *id == rule.id && dialects.contains(&dialect) && what.contains(&shown))
}

/// Returns the cells of `rule`, and adds a line to `wrong` for each example with an unexpected result in another
/// dialect.
fn cells(rule: &Rule, wrong: &mut Vec<String>) -> Cells {
    let mut cells = Cells::new();
    let mut templates = Vec::new();
    // A recorded plan is checked with the configuration of the example that it was made from.
    let mut configurations = BTreeMap::new();
    for example in examples(rule.page) {
        let shown = if example.flagged { Finding } else { Silence };
        let of = dialect(&example.files, &run(rule, &example.files));
        if of == CloudFormation {
            templates.push((shown, carried(&example), example.title.clone()));
        }
        if of == Terraform {
            let is_configuration = |(name, _): &&(String, String)| name == CONFIGURATION;
            let files: Vec<(String, String)> = example.files.iter().filter(is_configuration).cloned().collect();
            configurations.entry(shown).or_insert(files);
        }
        cells.entry((of, shown)).or_default().push(example.title);
    }
    let own: BTreeSet<(Dialect, Expectation)> = cells.keys().copied().collect();
    let mut more: Vec<(Dialect, Expectation, Vec<(String, String)>, String)> = Vec::new();
    for (shown, carried, title) in templates {
        more.extend(carried.into_iter().map(|(of, files)| (of, shown, files, title.clone())));
    }
    for (shown, plan) in planned(rule) {
        let mut files = configurations.get(&shown).cloned().unwrap_or_default();
        files.push((PLAN.to_owned(), plan));
        more.push((Plan, shown, files, "recorded plan".to_owned()));
    }
    for (of, shown, files, title) in more {
        if own.contains(&(of, shown)) || cannot(rule, of, shown) {
            continue;
        }
        let outcome = run(rule, &files);
        let expected = usize::from(shown == Finding);
        if outcome.findings.len() != expected || dialect(&files, &outcome) != of {
            let seen = describe(&outcome);
            wrong.push(format!("{}: `{title}` in {of:?}: expected {expected}\n{seen}", rule.id));
        }
        cells.entry((of, shown)).or_default().push(title);
    }
    cells
}

#[test]
fn every_possible_cell_has_an_example() {
    let (mut wrong, mut empty) = (Vec::new(), Vec::new());
    for rule in RULES.iter().filter(|rule| rule.check.is_some()) {
        let cells = cells(rule, &mut wrong);
        for dialect in DIALECTS {
            for shown in [Finding, Silence] {
                let is_there = cells.contains_key(&(dialect, shown));
                match (is_there, cannot(rule, dialect, shown)) {
                    (false, false) => empty.push(format!("{}: {shown:?} in {dialect:?}", rule.id)),
                    (true, true) => wrong.push(format!("{}: {dialect:?} can show it ({shown:?})", rule.id)),
                    _ => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        empty.is_empty(),
        "no example shows these; add one to the rule's page under `## Flagged` or `## Not flagged` (for plans, \
         record what Terraform plans of one in fixtures/planned/), or add the reason why the dialect cannot to CANNOT:\n{}",
        empty.join("\n")
    );
}

#[test]
fn impossible_cells_name_existing_rules() {
    for (id, dialects, shown, why) in CANNOT {
        assert!(RULES.iter().any(|rule| rule.id == *id), "{id}");
        assert!(!dialects.is_empty() && !shown.is_empty() && !why.is_empty(), "{id}");
    }
}
