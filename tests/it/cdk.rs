//! What CDK apps were synthesised to: a recorded app with its source beside it, and templates of their size.

use crate::inputs::{check, repository};
use sqslint::Outcome;
use sqslint::testing::TemporaryDirectory;
use std::fmt::Write as _;

fn orders() -> Outcome {
    check(&repository("fixtures/cdk/orders/cdk.out"))
}

#[test]
fn a_walk_passes_over_what_is_generated_and_reads_what_is_kept() {
    let template = r#"{"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}}"#;
    let stack = |name: &str| {
        format!(
            r#""{name}": {{"type": "aws:cloudformation:stack", "properties": {{"templateFile": "{name}.template.json"}}}}"#
        )
    };
    // Not everything of a snapshot is kept.
    let manifest = format!(
        r#"{{"version": "52.0.0", "artifacts": {{{}, {}}}}}"#,
        stack("S"),
        stack("Missing")
    );
    let manifest = manifest.as_str();
    let directory = TemporaryDirectory::with_files([
        ("cdk.out/manifest.json", manifest),
        ("cdk.out/S.template.json", template),
        ("test/integ.snapshot/manifest.json", manifest),
        ("test/integ.snapshot/S.template.json", template),
    ]);
    let outcome = check(directory.path());
    let units: Vec<&str> = outcome.graph.units().iter().map(|unit| unit.name.as_str()).collect();
    assert_eq!(units.len(), 1, "{units:?}");
    assert!(units[0].ends_with("test/integ.snapshot/S.template.json"), "{units:?}");
    assert_eq!(outcome.skipped.len(), 1, "{:?}", outcome.skipped);
    assert_eq!(outcome.findings.len(), 0, "{:?}", outcome.findings);
}

#[test]
fn every_stack_of_the_app_is_read() {
    let outcome = orders();
    assert_eq!(outcome.errors, Vec::<String>::new());
    let mut queues: Vec<&str> = outcome
        .graph
        .queues()
        .iter()
        .map(|queue| queue.resource.construct.as_deref().unwrap())
        .collect();
    queues.sort_unstable();
    assert_eq!(
        queues,
        [
            "OrdersConsumers/Invoices",
            "OrdersConsumers/Reporting/Reports",
            "OrdersQueues/Orders",
            "OrdersQueues/OrdersDlq",
            "Prod/Audit/Audit",
        ]
    );
}

#[test]
fn mappings_lead_to_the_functions_behind_aliases() {
    let outcome = orders();
    let graph = &outcome.graph;
    let described = graph.mappings().iter().map(|mapping| {
        let function = mapping.function.known().unwrap();
        let function = graph.function(mapping.resource.unit, function).unwrap();
        format!(
            "{} {} × {} s, {} s",
            function.resource.construct.as_deref().unwrap(),
            mapping.batch_size.known().unwrap(),
            function.timeout.known().unwrap().0,
            mapping.window.known().unwrap().0,
        )
    });
    let mut described: Vec<String> = described.collect();
    described.sort();
    assert_eq!(
        described,
        [
            "OrdersConsumers/Bill 10 × 90 s, 0 s",
            "OrdersConsumers/Fulfil 20 × 60 s, 10 s",
            "OrdersConsumers/Reporting/Report 5 × 60 s, 0 s",
            "Prod/Audit/Record 10 × 5 s, 0 s",
        ]
    );
}

#[test]
fn messages_name_constructs_and_fingerprints_do_not() {
    let outcome = orders();
    let rule = "visibility-timeout-below-function-timeout";
    let found: Vec<_> = outcome.findings.iter().filter(|found| found.rule == rule).collect();
    assert_eq!(found.len(), 2);
    assert_eq!(
        found[0].headline,
        "`OrdersConsumers/Invoices` (`InvoicesF0222E8D`) has a visibility timeout of 30 s, \
         but `OrdersConsumers/Bill` (`BillE7713C54`) may run for 90 s, so a message may be processed twice"
    );
    // In a nested stack.
    for construct in [
        "`OrdersConsumers/Reporting/Reports` (`",
        "`OrdersConsumers/Reporting/Report` (`",
    ] {
        assert!(found[1].headline.contains(construct), "{}", found[1].headline);
    }
    assert_eq!(found[0].subject.address, "InvoicesF0222E8D");
}

/// A template as an app of `count` queues with alias, dead-letter queue and roles is synthesised to.
fn large_template(count: usize) -> String {
    let mut text = String::from("{\n \"Resources\": {\n");
    for at in 0..count {
        let separator = if at > 0 { ",\n" } else { "" };
        text.push_str(separator);
        let one = LARGE.replace("NUMBER", &at.to_string());
        text.push_str(&one);
    }
    let _ = write!(text, "\n }}\n}}\n");
    text
}

const LARGE: &str = include_str!("../../fixtures/cdk/large/group.txt");

#[test]
fn large_templates_are_read_whole() {
    let text = large_template(120);
    let directory = TemporaryDirectory::with_files([("Large.template.json", text.as_str())]);
    let outcome = check(&directory.path().join("Large.template.json"));
    assert_eq!(outcome.graph.mappings().len(), 120);
    for mapping in outcome.graph.mappings() {
        let unit = mapping.resource.unit;
        assert!(outcome.graph.queue(unit, mapping.queue.known().unwrap()).is_some());
        assert!(
            outcome
                .graph
                .function(unit, mapping.function.known().unwrap())
                .is_some()
        );
    }
    assert!(!outcome.findings.iter().any(|found| found.rule == "limit-reached"));
}
