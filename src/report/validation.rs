//! Every format over one hostile report: a snapshot of each, and each against its schema.
#![allow(clippy::unwrap_used)]

use super::human::Style;
use super::{
    Report, Topology, Units, checkstyle, concise, github, gitlab, html, human, json, json_lines, junit, markdown,
    rdjson, sarif, statistics,
};
use crate::diagnostic::{Diagnostic, NotEvaluated, Severity, Subject};
use crate::source::{Sources, Span};
use roxmltree::Node;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What names and values may hold that a format must not pass on as it is.
const HOSTILE: &str =
    "]]>\u{1b}[2J<script>alert('1')</script>::error::%0A\r\n\t`|@team 日本 \"&amp; [x](y) \u{202e}\u{fffe}";
const TEXT: &str = "resource \"aws_sqs_queue\" \"ör\" {\r\n\tvisibility_timeout_seconds = \"]]><script>::error::\"\r\n}\r\n日本 = [\r\n  1,\r\n]\r\n";

fn subject(address: &str) -> Subject {
    Subject {
        unit: "infra, <b>".to_owned(),
        address: address.to_owned(),
        attribute: "visibility_timeout",
    }
}

fn find(sources: &Sources, path: &str, marked: &str) -> Span {
    let file = sources.add(Path::new(path), TEXT);
    let start = TEXT.find(marked).unwrap();
    Span::new(file, start..start + marked.len())
}

/// A plain finding over two files, one over several lines, and one that is hostile throughout.
fn findings(sources: &Sources) -> Vec<Diagnostic> {
    let main = "infra/main.tf";
    let plain = Diagnostic::new(
        "visibility-timeout-below-function-timeout",
        Severity::Error,
        subject("aws_sqs_queue.orders[\"a\"]"),
        "`aws_sqs_queue.orders[\"a\"]` hides a message for 30 s",
        find(sources, main, "visibility_timeout_seconds"),
        "30 s",
    )
    .label(find(sources, "infra/functions.tf", "[\r\n  1,\r\n]"), "[300] s")
    .calculation("6 × 300 s + 0 s = 1800 s")
    .help("set `visibility_timeout_seconds` to at least 1800");
    let lines = Diagnostic::new(
        "redrive-policy-missing",
        Severity::Warning,
        subject("aws_sqs_queue.日本"),
        "`aws_sqs_queue.日本` has no redrive policy",
        find(sources, main, "日本 = [\r\n  1,\r\n]"),
        "",
    )
    .when(Some("`var.a` is true".to_owned()));
    let hostile = Diagnostic::new(
        "queue-attribute-out-of-range",
        Severity::Info,
        subject(HOSTILE),
        HOSTILE,
        find(sources, "infra/a,b:c%]]>'<x>.tf", "\"]]><script>::error::\""),
        HOSTILE,
    )
    .label(find(sources, main, "}"), HOSTILE)
    .calculation(HOSTILE)
    .help(HOSTILE)
    .when(Some(HOSTILE.to_owned()));
    vec![hostile, plain.clone(), plain, lines]
}

fn with<T>(ask: impl Fn(&Report<'_>) -> T) -> T {
    let sources = Sources::default();
    let findings = findings(&sources);
    let not_evaluated = [NotEvaluated {
        rule: "visibility-timeout-too-short",
        subject: subject(HOSTILE),
        reason: HOSTILE.to_owned(),
        span: find(&sources, "infra/main.tf", "resource"),
    }];
    ask(&Report {
        sources: &sources,
        findings: &findings,
        suppressed: &[],
        show_suppressed: false,
        not_evaluated: &not_evaluated,
        errors: &[HOSTILE.to_owned()],
        units: &Units {
            modules: 1,
            ..Units::default()
        },
    })
}

/// A report in which all is well.
fn without<T>(ask: impl Fn(&Report<'_>) -> T) -> T {
    ask(&Report {
        sources: &Sources::default(),
        findings: &[],
        suppressed: &[],
        show_suppressed: false,
        not_evaluated: &[],
        errors: &[],
        units: &Units::default(),
    })
}

fn drawings() -> Vec<Topology> {
    vec![Topology {
        unit: "infra, <b>".to_owned(),
        mermaid: "flowchart LR\n".to_owned(),
        svg: "<svg xmlns=\"http://www.w3.org/2000/svg\"/>".to_owned(),
    }]
}

fn schema(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas").join(name)
}

fn assert_valid(name: &str, document: &Value) {
    let mut schemas = boon::Schemas::new();
    let path = schema(name);
    let index = boon::Compiler::new()
        .compile(path.to_str().unwrap(), &mut schemas)
        .unwrap();
    if let Err(error) = schemas.validate(document, index) {
        panic!("{error:#}");
    }
}

/// Checks both reports of a JSON format.
fn check(name: &str, render: fn(&Report<'_>) -> String) -> Value {
    assert_valid(name, &serde_json::from_str(&without(render)).unwrap());
    let document = serde_json::from_str(&with(render)).unwrap();
    assert_valid(name, &document);
    document
}

fn versionless(text: &str) -> String {
    text.replace(env!("CARGO_PKG_VERSION"), "[VERSION]")
}

/// Nothing of a hostile name gets out as it is.
fn assert_harmless(text: &str) {
    let obeyed = |c: char| c != '\n' && super::is_deceptive(c);
    assert!(!text.contains(obeyed), "{text:?}");
}

#[test]
fn json_is_valid() {
    let document = check("report.json", json::render);
    assert_eq!(document["findings"].as_array().unwrap().len(), 4);
}

#[test]
fn json_lines_are_valid() {
    for text in [with(json_lines::render), without(json_lines::render)] {
        let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for record in &records {
            assert_valid("record.json", record);
        }
        assert_eq!(records.last().unwrap()["type"], "summary");
    }
    insta::assert_snapshot!(versionless(&with(json_lines::render)));
}

#[test]
fn sarif_is_valid() {
    let mut document = check("sarif-2.1.0.json", sarif::render);
    // The pages are long, and not what this is about.
    let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array_mut().unwrap();
    assert_eq!(rules.len(), crate::rules::RULES.len());
    assert!(rules.iter().all(|rule| {
        rule["help"]["markdown"]
            .as_str()
            .is_some_and(|page| page.starts_with("# "))
    }));
    rules.clear();
    insta::assert_snapshot!(versionless(&serde_json::to_string_pretty(&document).unwrap()));
}

#[test]
fn sarif_links_lead_somewhere() {
    let document: Value = serde_json::from_str(&with(sarif::render)).unwrap();
    let run = &document["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let text = result["message"]["text"].as_str().unwrap();
        let related = result["relatedLocations"].as_array().map_or(&[][..], Vec::as_slice);
        for location in related {
            assert!(text.contains(&format!("]({})", location["id"])), "{text}");
        }
        // Names that look like links lead nowhere.
        assert_eq!(text.matches("](").count(), related.len(), "{text}");
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region["startLine"], region["endLine"]);
        assert!(result["partialFingerprints"]["primaryLocationLineHash"].is_string());
    }
}

#[test]
fn gitlab_is_valid() {
    let document = check("gitlab.json", gitlab::render);
    let issues = document.as_array().unwrap();
    let mut fingerprints: Vec<_> = issues.iter().map(|issue| issue["fingerprint"].to_string()).collect();
    fingerprints.sort();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 4, "each fingerprint once");
    insta::assert_snapshot!(with(gitlab::render));
}

#[test]
fn rdjson_is_valid() {
    let document = check("rdjson.json", rdjson::render);
    // Bytes, not characters: the quoted value stands behind a tab.
    assert_eq!(document["diagnostics"][0]["location"]["range"]["start"]["column"], 31);
    insta::assert_snapshot!(with(rdjson::render));
}

/// What an element may have: attributes that it must have, others, and children.
type Element = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
);

/// `JUnit`, as the schema of Jenkins' plugin has it.
const JUNIT: &[Element] = &[
    (
        "testsuites",
        &[],
        &["name", "tests", "failures", "errors", "time"],
        &["testsuite"],
    ),
    (
        "testsuite",
        &["name", "tests"],
        &[
            "failures",
            "errors",
            "skipped",
            "package",
            "time",
            "timestamp",
            "hostname",
            "id",
            "file",
        ],
        &["testcase"],
    ),
    (
        "testcase",
        &["name"],
        &["classname", "time", "group"],
        &["skipped", "error", "failure"],
    ),
    ("failure", &[], &["message", "type"], &[]),
    ("error", &[], &["message", "type"], &[]),
    ("skipped", &[], &["message", "type"], &[]),
];

const CHECKSTYLE: &[Element] = &[
    ("checkstyle", &["version"], &[], &["file"]),
    ("file", &["name"], &[], &["error"]),
    ("error", &["line", "severity", "message", "source"], &["column"], &[]),
];

fn assert_elements(node: Node<'_, '_>, elements: &[Element]) {
    let name = node.tag_name().name();
    let (_, required, optional, children) = elements.iter().find(|element| element.0 == name).unwrap();
    for attribute in *required {
        assert!(node.has_attribute(*attribute), "<{name}> without {attribute}");
    }
    for attribute in node.attributes() {
        let known = required.contains(&attribute.name()) || optional.contains(&attribute.name());
        assert!(known, "<{name} {}>", attribute.name());
    }
    for child in node.children().filter(Node::is_element) {
        let within = child.tag_name().name();
        assert!(children.contains(&within), "<{within}> in <{name}>");
        assert_elements(child, elements);
    }
}

fn assert_xml(text: &str, elements: &[Element], root: &str) {
    let document = roxmltree::Document::parse(text).unwrap();
    assert_eq!(document.root_element().tag_name().name(), root);
    assert_elements(document.root_element(), elements);
    assert_harmless(text);
}

#[test]
fn junit_is_valid() {
    for text in [with(junit::render), without(junit::render)] {
        assert_xml(&text, JUNIT, "testsuites");
        let document = roxmltree::Document::parse(&text).unwrap();
        for suite in document.descendants().filter(|node| node.has_tag_name("testsuite")) {
            let count = |name: &str| {
                suite
                    .descendants()
                    .filter(|node| node.has_tag_name(name))
                    .count()
                    .to_string()
            };
            for (attribute, element) in [
                ("tests", "testcase"),
                ("failures", "failure"),
                ("errors", "error"),
                ("skipped", "skipped"),
            ] {
                assert_eq!(suite.attribute(attribute), Some(count(element).as_str()), "{attribute}");
            }
        }
    }
    insta::assert_snapshot!(with(junit::render));
}

#[test]
fn checkstyle_is_valid() {
    assert_xml(&without(checkstyle::render), CHECKSTYLE, "checkstyle");
    let text = with(checkstyle::render);
    assert_xml(&text, CHECKSTYLE, "checkstyle");
    insta::assert_snapshot!(text);
}

#[test]
fn github_commands_are_one_line_each() {
    let text = with(github::render);
    assert_harmless(&text);
    let kinds: Vec<&str> = text
        .lines()
        .map(|line| line.split([' ', ':']).nth(2).unwrap())
        .collect();
    assert_eq!(kinds, ["error", "error", "error", "warning", "notice"]);
    for line in text.lines() {
        let (properties, _) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        let (_, properties) = properties.split_once(' ').unwrap();
        let names: Vec<&str> = properties
            .split(',')
            .map(|property| property.split_once('=').unwrap().0)
            .collect();
        assert!(
            names == ["title"] || names == ["file", "line", "endLine", "col", "endColumn", "title"],
            "{names:?}"
        );
    }
    insta::assert_snapshot!(text);
}

#[test]
fn markdown_holds_no_markup_of_others() {
    let text = with(|report| markdown::render(report, &drawings()));
    assert_harmless(&text);
    assert!(!text.contains("<script>"), "{text}");
    assert!(!text.contains("@team"), "{text}");
    insta::assert_snapshot!(text);
    insta::assert_snapshot!(without(|report| markdown::render(report, &[])));
}

#[test]
fn html_is_well_formed_and_runs_nothing() {
    let text = with(|report| html::render(report, &drawings()));
    assert_harmless(&text);
    assert!(!text.contains("<script"), "{text}");
    // Beside the head, which HTML does not close, it is XML as well.
    let (_, body) = text.split_once("<body>").unwrap();
    let (body, _) = body.split_once("</body>").unwrap();
    roxmltree::Document::parse(&format!("<body>{body}</body>")).unwrap();
    assert!(
        !body.contains("http") || body.matches("http").count() == 1,
        "it loads nothing"
    );
    insta::assert_snapshot!(versionless(&format!("<body>{body}</body>")));
}

#[test]
fn statistics_count_by_rule() {
    insta::assert_snapshot!(with(statistics::render));
    assert_eq!(without(statistics::render), "");
}

const STYLE: Style = Style {
    width: 80,
    color: false,
    unicode: true,
    graphics: true,
    links: false,
};

#[test]
fn narrow_terminals_are_not_overrun() {
    let sources = Sources::default();
    // Without the hostile one, whose words are longer than a narrow line.
    let findings = findings(&sources).split_off(1);
    for width in [40, 50, 60] {
        let report = Report {
            sources: &sources,
            findings: &findings,
            suppressed: &[],
            show_suppressed: false,
            not_evaluated: &[],
            errors: &[],
            units: &Units::default(),
        };
        let text = human::render(&report, Style { width, ..STYLE });
        for line in text.lines() {
            let is_word = line.trim().split(' ').count() <= 2;
            assert!(line.chars().count() <= width || is_word, "{width}: {line}\n{text}");
        }
        if width == 40 {
            insta::assert_snapshot!(text);
        }
    }
}

#[test]
fn paths_are_links_where_they_are_asked_for() {
    let sources = Sources::default();
    let path = "/repository/a b.tf";
    let file = sources.add(Path::new(path), TEXT);
    let span = Span::new(file, 0..8);
    let found = [Diagnostic::new("r", Severity::Error, subject("a"), "h", span, "l")];
    let report = Report {
        sources: &sources,
        findings: &found,
        suppressed: &[],
        show_suppressed: false,
        not_evaluated: &[],
        errors: &[],
        units: &Units::default(),
    };
    let link = format!("\u{1b}]8;;file:///repository/a%20b.tf\u{1b}\\{path}\u{1b}]8;;\u{1b}\\:1:1");
    for links in [true, false] {
        for graphics in [true, false] {
            let style = Style {
                graphics,
                links,
                ..STYLE
            };
            assert_eq!(human::render(&report, style).contains(&link), links);
        }
        assert_eq!(concise::render_linked(&report, links).contains(&link), links);
    }
}
