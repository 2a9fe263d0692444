//! Checks `AWS::Include` of files next to the template.

use crate::inputs::check;
use serde_json::Value;
use sqslint::Outcome;
use sqslint::testing::{TemporaryDirectory, graph_json};

const PARTS: [(&str, &str); 6] = [
    ("repo/.git/HEAD", ""),
    (
        "repo/shared/properties.yaml",
        "VisibilityTimeout: 70\nDelaySeconds: 9\n",
    ),
    (
        "repo/shared/queue.json",
        r#"{"More": {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": 71}}}"#,
    ),
    ("repo/shared/mapping.yaml", "prod: {wait: 72}\n"),
    (
        "repo/shared/sections.yaml",
        "Mappings: {M: {own: {wait: 73}}}\nResources:\n  Included: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !FindInMap [M, own, wait]}}\n",
    ),
    ("secret.yaml", "VisibilityTimeout: 74\n"),
];

fn run(template: &str, more: &[(&str, &str)]) -> Outcome {
    let own = [("repo/app/template.yaml", template)];
    let directory = TemporaryDirectory::with_files(PARTS.iter().chain(&own).chain(more).copied());
    check(&directory.path().join("repo/app/template.yaml"))
}

/// Lists the visibility timeouts, by address.
fn timeouts(outcome: &Outcome) -> Vec<String> {
    let document: Value = serde_json::from_str(&graph_json(&outcome.graph, &outcome.sources)).unwrap();
    let queues = document["queues"].as_array().unwrap().iter();
    let shown = queues.map(|queue| format!("{} {}", queue["address"].as_str().unwrap(), queue["visibility_timeout"]));
    shown.collect()
}

fn include(location: &str) -> String {
    format!("Fn::Transform: {{Name: AWS::Include, Parameters: {{Location: '{location}'}}}}")
}

/// Returns a template with one queue that has `properties`.
fn queue(properties: &str) -> String {
    format!(
        "AWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n      {properties}\n"
    )
}

#[test]
fn included_content_is_merged_with_its_siblings() {
    let properties = include("../shared/properties.yaml");
    assert_eq!(timeouts(&run(&queue(&properties), &[])), ["Q 70"]);
    let own = format!("{properties}\n      VisibilityTimeout: 5");
    assert_eq!(timeouts(&run(&queue(&own), &[])), ["Q 5"]);
    let resources = format!(
        "{}\n  {}",
        queue("VisibilityTimeout: 1"),
        include("../shared/queue.json")
    );
    assert_eq!(timeouts(&run(&resources, &[])), ["More 71", "Q 1"]);
    let mapping = queue("VisibilityTimeout: !FindInMap [M, prod, wait]");
    let mapping = format!("{mapping}Mappings:\n  M:\n    {}\n", include("../shared/mapping.yaml"));
    assert_eq!(timeouts(&run(&mapping, &[])), ["Q 72"]);
}

#[test]
fn include_transform_of_the_template_adds_sections() {
    for transform in [
        "{Name: AWS::Include, Parameters: {Location: ../shared/sections.yaml}}",
        "[AWS::Serverless-2016-10-31, {Name: AWS::Include, Parameters: {Location: ../shared/sections.yaml}}]",
    ] {
        let template = format!("Transform: {transform}\n{}", queue("VisibilityTimeout: 1"));
        assert_eq!(timeouts(&run(&template, &[])), ["Included 73", "Q 1"], "{transform}");
    }
}

#[test]
fn globals_of_the_template_apply_to_an_included_function() {
    let function = "F:\n  Type: AWS::Serverless::Function\n  Properties: {Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}}}\n";
    let template = |globals: &str| {
        let include = include("functions.yaml").replace('\n', "\n  ");
        format!(
            "AWSTemplateFormatVersion: '2010-09-09'\nTransform: AWS::Serverless-2016-10-31\n{globals}Resources:\n  Q: {{Type: AWS::SQS::Queue}}\n  {include}\n"
        )
    };
    let is_below = |globals: &str| {
        let outcome = run(&template(globals), &[("repo/app/functions.yaml", function)]);
        let mut found = outcome.findings.iter();
        found.any(|found| found.rule == "visibility-timeout-below-function-timeout")
    };
    assert!(is_below("Globals: {Function: {Timeout: 31}}\n"));
    assert!(!is_below("Globals: {Function: {Timeout: 30}}\n"));
    assert!(!is_below(""));
}

#[test]
fn remote_missing_or_outside_include_is_unresolved() {
    for location in [
        "s3://bucket/part.yaml",
        "nothing.yaml",
        "../../secret.yaml",
        "/etc/passwd",
        "${Bucket}/x",
    ] {
        let outcome = run(&queue(&include(location)), &[]);
        assert!(timeouts(&outcome)[0].contains("unresolved"), "{location}");
        let held = outcome
            .findings
            .iter()
            .filter(|found| found.rule == "parse-error")
            .count();
        assert_eq!(held, 0, "{location}");
    }
}

#[test]
fn recursive_include_reaches_the_limit() {
    let round = format!("VisibilityTimeout: 8\nA: {{{}}}\n", include("round.yaml"));
    let outcome = run(
        &queue(&include("../shared/round.yaml")),
        &[("repo/shared/round.yaml", &round)],
    );
    assert_eq!(timeouts(&outcome), ["Q 8"]);
    assert_eq!(
        outcome
            .findings
            .iter()
            .filter(|found| found.rule == "limit-reached")
            .count(),
        1
    );
}

#[test]
fn invalid_included_file_is_reported() {
    let outcome = run(
        &queue(&include("../shared/broken.yaml")),
        &[("repo/shared/broken.yaml", "a: [\n")],
    );
    let found: Vec<_> = outcome
        .findings
        .iter()
        .filter(|found| found.rule == "parse-error")
        .collect();
    assert!(found[0].headline.contains("broken.yaml"), "{found:?}");
}

#[test]
fn unknown_macro_makes_its_siblings_unresolved() {
    let open = r#"Q {"unresolved":"`Fn::Transform` may change it"}"#;
    let own = queue("VisibilityTimeout: 5\n      Fn::Transform: {Name: Mine}");
    assert_eq!(timeouts(&run(&own, &[])), [open]);
    let resource = "AWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 5}, Fn::Transform: {Name: Mine}}\n";
    assert_eq!(timeouts(&run(resource, &[])), [open]);
    let absent = format!("Transform: Mine\n{}", queue("DelaySeconds: 1"));
    assert_eq!(
        timeouts(&run(&absent, &[])),
        [r#"Q {"unresolved":"the macro `Mine` may add it"}"#]
    );
    let written = format!(
        "Transform: [AWS::SecretsManager-2020-07-23, Mine]\n{}",
        queue("VisibilityTimeout: 5")
    );
    assert_eq!(timeouts(&run(&written, &[])), ["Q 5"]);
    let known = format!(
        "Transform: AWS::SecretsManager-2020-07-23\n{}",
        queue("DelaySeconds: 1")
    );
    assert_eq!(timeouts(&run(&known, &[])), ["Q 30"]);
}

/// Each macro with the expected values of a template that writes neither `VisibilityTimeout` nor `RedrivePolicy`, and
/// sets the function's timeout in `Globals`: whether the absent values are known, and whether the macro is noted.
const MACROS: [(&str, bool, bool); 14] = [
    ("AWS::LanguageExtensions", true, false),
    ("AWS::Include", true, false),
    ("AWS::SecretsManager-2020-07-23", true, false),
    ("AWS::SecretsManager-2024-09-16", true, false),
    ("AWS::CodeDeployBlueGreen", true, false),
    ("AWS::ServiceCatalog", true, false),
    ("DatadogServerless", true, false),
    (
        "{Name: DatadogServerless, Parameters: {stackName: !Ref 'AWS::StackName'}}",
        true,
        false,
    ),
    ("NewRelicLambda", true, false),
    ("new-relic-instrumentation", true, false),
    ("LumigoMacro", true, false),
    ("epsagon", true, false),
    ("Mine", false, true),
    ("AWS::Unheard", false, true),
];

#[test]
fn known_macros_leave_absent_values_known() {
    for (name, is_known, is_noted) in MACROS {
        let template = format!(
            "
AWSTemplateFormatVersion: '2010-09-09'
Transform: [{name}, AWS::Serverless-2016-10-31]
Globals: {{Function: {{Timeout: 40}}}}
Resources:
  Q: {{Type: AWS::SQS::Queue}}
  F:
    Type: AWS::Serverless::Function
    Properties: {{Events: {{E: {{Type: SQS, Properties: {{Queue: !GetAtt Q.Arn}}}}}}}}
"
        );
        let outcome = run(&template, &[]);
        let rules: Vec<&str> = outcome.findings.iter().map(|found| &*found.rule).collect();
        let expected = ["visibility-timeout-below-function-timeout", "redrive-policy-missing"];
        for rule in expected {
            assert_eq!(rules.contains(&rule), is_known, "{name}: {rules:?}");
        }
        let queues = outcome.coverage.judged_queues();
        assert_eq!(queues, usize::from(is_known), "{name}");
        let notes = &outcome.graph.units()[0].notes;
        assert_eq!(
            notes.iter().any(|note| note.contains("is not run")),
            is_noted,
            "{name}: {notes:?}"
        );
    }
}

#[test]
fn written_values_count_under_an_unknown_macro() {
    let template = "
AWSTemplateFormatVersion: '2010-09-09'
Transform: [Mine, AWS::Serverless-2016-10-31]
Globals: {Function: {Timeout: 40}}
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 30}}
  F:
    Type: AWS::Serverless::Function
    Properties: {Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}}}
";
    let rules: Vec<String> = (run(template, &[]).findings.iter())
        .map(|found| found.rule.to_string())
        .collect();
    assert_eq!(rules, ["visibility-timeout-below-function-timeout"]);
}

#[test]
fn macros_leave_values_unresolved_that_they_may_add() {
    let timeouts_of = |transforms: &str, properties: &str| {
        let text = format!(
            "AWSTemplateFormatVersion: '2010-09-09'
Transform: [{transforms}]
Globals: {{Function: {{MemorySize: 256}}}}
Resources:
  Q: {{Type: AWS::SQS::Queue, Properties: {{DelaySeconds: 1}}}}
  F:
    Type: AWS::Serverless::Function
    Properties: {{CodeUri: ., Handler: a.b{properties}, Events: {{E: {{Type: SQS, Properties: {{Queue: !GetAtt Q.Arn}}}}}}}}
"
        );
        let outcome = run(&text, &[]);
        let document: Value = serde_json::from_str(&graph_json(&outcome.graph, &outcome.sources)).unwrap();
        let function = &document["functions"][0];
        [
            timeouts(&outcome),
            vec![function["timeout"].to_string()],
            vec![function["memory"].to_string()],
        ]
        .concat()
    };
    let sam = "AWS::Serverless-2016-10-31";
    let known = [
        "AWS::CodeDeployBlueGreen",
        "AWS::LanguageExtensions",
        "AWS::SecretsManager-2024-09-16",
        "AWS::ServiceCatalog",
        "DatadogServerless",
        "EpsagonMacro",
        "LumigoMacro",
        "NewRelicMacro",
    ];
    let expected = timeouts_of(sam, "");
    assert_eq!(expected[0], "Q 30");
    for name in known {
        assert_eq!(timeouts_of(&format!("{name}, {sam}"), ""), expected, "{name}");
    }
    let open = timeouts_of(&format!("Mine, {sam}"), ", Timeout: 60");
    let written = timeouts_of(sam, ", Timeout: 60");
    let notes: Vec<String> = run(&format!("Transform: [Mine, Mine]\n{}", queue("DelaySeconds: 1")), &[])
        .graph
        .units()
        .iter()
        .flat_map(|unit| unit.notes.clone())
        .collect();
    assert_eq!(
        notes,
        ["the macro `Mine` is not run: values that it may add are unresolved"]
    );
    assert_eq!(open[0], r#"Q {"unresolved":"the macro `Mine` may add it"}"#);
    assert_eq!(open[1..], written[1..], "what the function and `Globals` write");
}

#[test]
fn macro_in_a_section_transforms_its_resources() {
    let of = |name: &str| format!("{}  Fn::Transform: {{Name: {name}}}\n", queue("DelaySeconds: 1"));
    assert_eq!(
        timeouts(&run(&of("Mine"), &[])),
        [r#"Q {"unresolved":"the macro `Mine` may add it"}"#]
    );
    assert_eq!(timeouts(&run(&of("AWS::Include"), &[])), ["Q 30"]);
}

/// Settings that an include or a macro may add do not count as written: neither a setting without effect, nor another
/// source of a mapping.
#[test]
fn possible_additions_of_an_include_do_not_count_as_written() {
    let template = "
AWSTemplateFormatVersion: '2010-09-09'
Transform: [TRANSFORMS]
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 5}}
  F:
    Type: AWS::Serverless::Function
    Properties: {PROPERTIESTimeout: 60, Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}}}
";
    let away = include("s3://bucket/more.yaml");
    let variants = [
        ("AWS::Serverless-2016-10-31", format!("{away}, ")),
        ("Mine, AWS::Serverless-2016-10-31", String::new()),
    ];
    for (transforms, properties) in variants {
        let template = template
            .replace("TRANSFORMS", transforms)
            .replace("PROPERTIES", &properties);
        let outcome = run(&template, &[]);
        let document: Value = serde_json::from_str(&graph_json(&outcome.graph, &outcome.sources)).unwrap();
        assert_eq!(document["event_source_mappings"][0]["queue"], "Q", "{transforms}");
        let rules: Vec<&str> = outcome.findings.iter().map(|found| &*found.rule).collect();
        assert!(!rules.contains(&"function-dead-letter-config-ineffective"), "{rules:?}");
    }
}
