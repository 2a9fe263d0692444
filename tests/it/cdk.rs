//! Checks synthesized CDK apps: a recorded app with its source, and generated templates of realistic size.

use crate::inputs::{check, repository};
use sqslint::Outcome;
use sqslint::testing::TemporaryDirectory;
use std::fmt::Write as _;

fn orders() -> Outcome {
    check(&repository("fixtures/cdk/orders/cdk.out"))
}

#[test]
fn cdk_out_is_skipped_and_committed_snapshots_are_checked() {
    let template = r#"{"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}}"#;
    let stack = |name: &str| {
        format!(
            r#""{name}": {{"type": "aws:cloudformation:stack", "properties": {{"templateFile": "{name}.template.json"}}}}"#
        )
    };
    // Not every template of a snapshot is committed.
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
fn report_lists_apps_that_are_read_or_missing() {
    let template = r#"{"Resources": {"Q": {"Type": "AWS::SQS::Queue", "Properties": {"DelaySeconds": 901}}}}"#;
    let stack = r#"{"type": "aws:cloudformation:stack", "properties": {"templateFile": "S.template.json"}}"#;
    let manifest = format!(r#"{{"version": "52.0.0", "artifacts": {{"S": {stack}}}}}"#);
    let settings = [(".git/HEAD", ""), (".gitignore", "cdk.out\n"), ("infra/cdk.json", "{}")];
    let run = |files: &[(&str, &str)], arguments: &[&str]| {
        let directory = TemporaryDirectory::with_files(settings.iter().chain(files).copied());
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_sqslint"))
            .args(["check", "--format", "concise"])
            .args(arguments)
            .current_dir(directory.path())
            .output()
            .expect("the program is built");
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    };
    let unread = "the CDK app of `infra/cdk.json` was not checked: no readable `cdk.out`; run `cdk synth` first";
    let (code, text) = run(&[], &[]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains(unread), "{text}");
    let (code, text) = run(&[("queues.yaml", template)], &["--ignore", "all"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains(&format!("1 queue judged, no findings; {unread}")),
        "{text}"
    );
    let output = [
        ("infra/cdk.out/manifest.json", &*manifest),
        ("infra/cdk.out/S.template.json", template),
    ];
    for paths in [".", "infra"] {
        let (code, text) = run(&output, &[paths]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("cdk.out/S.template.json:1:"), "{text}");
        assert!(text.contains("in 1 stack; `"), "{text}");
        assert!(
            text.contains("infra/cdk.out` was read as last written by `cdk synth`"),
            "{text}"
        );
    }
    let (code, text) = run(&output, &["--exclude", "**/cdk.out/"]);
    assert_eq!(code, Some(3), "{text}");
}

#[test]
fn every_stack_of_the_app_is_checked() {
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
fn mappings_to_aliases_resolve_to_functions() {
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
fn headlines_name_construct_paths_and_subjects_logical_ids() {
    let outcome = orders();
    let rule = "visibility-timeout-below-function-timeout";
    let found: Vec<_> = outcome.findings.iter().filter(|found| found.rule == rule).collect();
    assert_eq!(found.len(), 2);
    assert_eq!(
        found[0].headline,
        "`OrdersConsumers/Invoices` (`InvoicesF0222E8D`) has a visibility timeout of 30 s, \
         but `OrdersConsumers/Bill` (`BillE7713C54`) may run for 90 s, so a message may be processed twice"
    );
    // The second finding is in a nested stack.
    for construct in [
        "`OrdersConsumers/Reporting/Reports` (`",
        "`OrdersConsumers/Reporting/Report` (`",
    ] {
        assert!(found[1].headline.contains(construct), "{}", found[1].headline);
    }
    assert_eq!(found[0].subject.address, "InvoicesF0222E8D");
}

/// Builds a template like one synthesized from an app with `count` queues, each with an alias, a dead-letter queue and
/// roles.
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
fn large_templates_are_read_completely() {
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

/// Checks an app whose stacks read each other's outputs by name, whose nested stack is found by the hash of its
/// template, and whose construct paths are in metadata next to the templates.
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
fn output_read_by_stack_name_is_linked() {
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
fn nested_stack_is_found_by_template_hash() {
    let outcome = weakly_linked(r#""arn:aws:sqs:eu-west-1:1:other""#);
    let calls: Vec<&str> = outcome
        .graph
        .units()
        .iter()
        .filter_map(|unit| unit.key.calls().map(|_| unit.key.as_str()))
        .collect();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].ends_with("Consumers.template.json#Inner"), "{calls:?}");
}

#[test]
fn construct_paths_are_read_from_metadata() {
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
