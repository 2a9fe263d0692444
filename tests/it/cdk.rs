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

/// An app whose stacks read each other's outputs by name, whose nested stack is found by the hash of its template, and
/// whose constructs are named beside the templates.
fn weakly_linked(consumer: &str) -> Outcome {
    let hash = "0123456789abcdef".repeat(4);
    let manifest = r#"{"version": "52.0.0", "artifacts": {
        "Queues": {"type": "aws:cloudformation:stack", "environment": "aws://1/eu-west-1",
            "properties": {"templateFile": "Queues.template.json", "stackName": "shop-queues"},
            "additionalMetadataFile": "Queues.metadata.json"},
        "Consumers.assets": {"type": "cdk:asset-manifest", "properties": {"file": "Consumers.assets.json"}},
        "Consumers": {"type": "aws:cloudformation:stack", "environment": "aws://1/eu-west-1",
            "dependencies": ["Consumers.assets"], "properties": {"templateFile": "Consumers.template.json"},
            "metadata": {"/Consumers/Worker/Resource": [{"type": "aws:cdk:logicalId", "data": "Worker"}]}}}}"#;
    let metadata = r#"{"/Queues/Orders/Resource": [{"type": "aws:cdk:logicalId", "data": "Orders"}]}"#;
    let queues = r#"{"Resources": {"Orders": {"Type": "AWS::SQS::Queue"}},
        "Outputs": {"OrdersArn": {"Value": {"Fn::GetAtt": ["Orders", "Arn"]}}}}"#;
    let assets = format!(r#"{{"files": {{"{hash}": {{"source": {{"path": "Inner.nested.template.json"}}}}}}}}"#);
    let nested = r#"{"Resources": {"Inner": {"Type": "AWS::SQS::Queue"}}}"#;
    let url = format!("https://s3.${{AWS::Region}}.${{AWS::URLSuffix}}/cdk-assets/{hash}.json");
    let consumers = format!(
        r#"{{"Resources": {{
            "Worker": {{"Type": "AWS::Lambda::Function", "Properties": {{"Timeout": 60}}}},
            "Inner": {{"Type": "AWS::CloudFormation::Stack", "Properties": {{"TemplateURL": {{"Fn::Sub": "{url}"}}}}}},
            "Mapping": {{"Type": "AWS::Lambda::EventSourceMapping", "Properties": {{
                "EventSourceArn": {consumer}, "FunctionName": {{"Ref": "Worker"}}}}}}}}}}"#
    );
    let directory = TemporaryDirectory::with_files([
        ("app/manifest.json", manifest),
        ("app/Queues.template.json", queues),
        ("app/Queues.metadata.json", metadata),
        ("app/Consumers.assets.json", &assets),
        ("app/Consumers.template.json", &consumers),
        ("app/Inner.nested.template.json", nested),
    ]);
    check(&directory.path().join("app"))
}

#[test]
fn an_output_that_is_read_by_its_stacks_name_is_a_link() {
    let reads = |output: &str| {
        let outcome = weakly_linked(&format!(
            r#"{{"Fn::GetStackOutput": {{"StackName": "shop-queues", "OutputName": "{output}"}}}}"#
        ));
        assert_eq!(outcome.errors, Vec::<String>::new());
        let graph = &outcome.graph;
        let mapping = &graph.mappings()[0];
        let queue = mapping.queue.known();
        let queue = queue.and_then(|link| graph.queue(mapping.resource.unit, link));
        queue.map(|queue| queue.resource.address.to_string())
    };
    assert_eq!(reads("OrdersArn").as_deref(), Some("Orders"));
    assert_eq!(reads("Other"), None);
}

#[test]
fn a_nested_stack_is_found_by_the_hash_of_its_template() {
    let outcome = weakly_linked(r#""arn:aws:sqs:eu-west-1:1:other""#);
    let calls: Vec<&str> = outcome
        .graph
        .units()
        .iter()
        .filter_map(|unit| unit.call.as_deref())
        .collect();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].ends_with("Consumers.template.json#Inner"), "{calls:?}");
}

#[test]
fn constructs_are_named_beside_the_templates() {
    let outcome = weakly_linked(r#""arn:aws:sqs:eu-west-1:1:other""#);
    let orders = outcome
        .graph
        .queues()
        .iter()
        .find(|queue| &*queue.resource.address == "Orders");
    assert_eq!(orders.unwrap().resource.construct.as_deref(), Some("Queues/Orders"));
    let worker = &outcome.graph.functions()[0].resource;
    assert_eq!(worker.construct.as_deref(), Some("Consumers/Worker"));
}
