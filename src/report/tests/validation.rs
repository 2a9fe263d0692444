//! Tests every format with a report that covers every case, including hostile text: by a snapshot, and by the schema of
//! the format.
#![allow(clippy::unwrap_used)]

use super::example::{HOSTILE, with, without};
use crate::report::graph::Topology;
use crate::report::{
    Report, checkstyle, concise, github, gitlab, html, human, json, json_lines, junit, markdown, sarif, statistics,
};
use crate::testing::written;
use roxmltree::Node;
use serde_json::Value;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

fn drawings() -> Vec<Topology> {
    vec![Topology {
        units: vec!["infra, <b>".to_owned()],
        ..Topology::default()
    }]
}

fn origin() -> html::Origin {
    html::Origin {
        repository: Some("shop, <b>".to_owned()),
        commit: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
    }
}

const FULL: human::Style = human::Style {
    width: 100,
    color: false,
    unicode: true,
    graphics: true,
    links: false,
    infos: true,
};

/// Function that writes a report in some format.
type Format = fn(&Report<'_>, &mut dyn Write) -> io::Result<()>;

fn json_lines(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    json_lines::write(report, &origin(), out)
}

/// Formats by name.
const FORMATS: [(&str, Format); 11] = [
    ("full", |report, out| human::write(report, FULL, out)),
    ("concise", |report, out| concise::write(report, false, out)),
    ("json", json::write),
    ("json-lines", json_lines),
    ("sarif", sarif::write),
    ("github", github::write),
    ("gitlab", gitlab::write),
    ("junit", junit::write),
    ("checkstyle", checkstyle::write),
    ("markdown", |report, out| markdown::write(report, &drawings(), out)),
    ("html", |report, out| html::write(report, &drawings(), &origin(), out)),
];

/// Returns the report that covers every case.
fn full(format: Format) -> String {
    with(|report| written(|out| format(report, out)))
}

/// Returns the report without findings.
fn empty(format: Format) -> String {
    without(|report| written(|out| format(report, out)))
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

/// Validates both reports in a JSON format.
fn check(name: &str, format: Format) -> Value {
    assert_valid(name, &serde_json::from_str(&empty(format)).unwrap());
    let document = serde_json::from_str(&full(format)).unwrap();
    assert_valid(name, &document);
    document
}

fn versionless(text: &str) -> String {
    text.replace(env!("CARGO_PKG_VERSION"), "[VERSION]")
}

/// Checks that `text` contains no control characters.
fn assert_harmless(text: &str) {
    let obeyed = |c: char| c != '\n' && crate::report::printable::is_deceptive(c);
    assert!(!text.contains(obeyed), "{text:?}");
}

#[test]
fn every_format_matches_its_snapshot() {
    for (name, format) in FORMATS {
        let mut text = versionless(&full(format));
        if name == "sarif" {
            // The rules' pages are long and irrelevant here.
            let mut log: Value = serde_json::from_str(&text).unwrap();
            log["runs"][0]["tool"]["driver"]["rules"]
                .as_array_mut()
                .unwrap()
                .truncate(0);
            text = serde_json::to_string_pretty(&log).unwrap();
        }
        if let Some((_, body)) = text.split_once("</head>") {
            text = body.to_owned();
        }
        insta::assert_snapshot!(name, text);
    }
}

#[test]
fn suppressed_findings_are_left_out_unless_requested() {
    for (name, format) in FORMATS {
        let text = with(|report| {
            let report = Report {
                show_suppressed: false,
                ..*report
            };
            written(|out| format(&report, out))
        });
        let always = ["json", "json-lines"].contains(&name);
        assert_eq!(text.contains("is left as it is"), always, "{name}");
        // Formats that could not mark a finding as suppressed never include it.
        let never = ["github", "gitlab", "checkstyle"].contains(&name);
        assert_eq!(full(format).contains("is left as it is"), !never, "{name}");
    }
    assert!(with(github::step_summary).contains("is left as it is"));
}

/// Collects the strings in a document that contain hostile text.
fn hostile_strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.contains("alert(") => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| hostile_strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| hostile_strings(field, found)),
        _ => {}
    }
}

#[test]
fn every_format_escapes_hostile_text() {
    for (name, format) in FORMATS {
        let text = full(format);
        match name {
            "json" | "json-lines" | "sarif" | "gitlab" => {
                // JSON escapes hostile text without changing it: programs receive the content of the files.
                assert!(!text.contains(|c: char| c != '\n' && c.is_ascii_control()), "{name}");
                let documents = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
                let mut strings = Vec::new();
                documents.for_each(|document| hostile_strings(&document.unwrap(), &mut strings));
                assert!(!strings.is_empty(), "{name}");
                if name.starts_with("json") {
                    assert!(strings.iter().all(|text| text.contains(HOSTILE)), "{name}");
                }
            }
            _ => assert_harmless(&text),
        }
        match name {
            "concise" => assert!(text.lines().all(|line| line.contains(".tf:")), "{text}"),
            "github" => assert!(text.lines().all(|line| line.starts_with("::")), "{text}"),
            // Text outside of markup is escaped.
            "junit" | "checkstyle" => {
                let document = roxmltree::Document::parse(&text).unwrap();
                let values = document.descendants().flat_map(|node| node.attributes());
                assert!(
                    values
                        .map(|value| value.value())
                        .any(|value| value.contains("]]>\\u{1b}[2J<script>"))
                );
            }
            "markdown" => {
                let markup = ["<script", "@team", "[x](y)"];
                assert!(!markup.iter().any(|markup| text.contains(markup)), "{text}");
                let bars = |line: &str| line.replace("\\|", "").matches('|').count();
                let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
                assert!(rows.iter().all(|row| [5, 6].contains(&bars(row))), "{rows:#?}");
            }
            "html" => assert!(!text.contains("<script") && !text.contains("alert('"), "{text}"),
            _ => {}
        }
    }
}

#[test]
fn json_is_valid() {
    let document = check("report.json", json::write);
    assert_eq!(document["findings"].as_array().unwrap().len(), 4);
}

#[test]
fn json_lines_are_valid() {
    for text in [full(json_lines), empty(json_lines)] {
        let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for record in &records {
            assert_valid("record.json", record);
        }
        assert_eq!(records.last().unwrap()["type"], "summary");
    }
}

#[test]
fn sarif_is_valid() {
    let document = check("sarif-2.1.0.json", sarif::write);
    let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let results = document["runs"][0]["results"].as_array().unwrap();
    for rule in rules {
        assert!(
            results.iter().any(|result| result["ruleId"] == rule["id"]),
            "{} is in use",
            rule["id"]
        );
    }
    for rule in rules {
        assert!(rule["help"]["markdown"].as_str().unwrap().starts_with("# "));
        let id = rule["id"].as_str().unwrap();
        let (_, name) = rule["helpUri"].as_str().unwrap().rsplit_once('/').unwrap();
        assert_eq!(name, format!("{id}.md"));
    }
}

#[test]
fn sarif_links_have_targets() {
    let document: Value = serde_json::from_str(&full(sarif::write)).unwrap();
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
        // Names that look like links are not links.
        assert_eq!(text.matches("](").count(), related.len(), "{text}");
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region["startLine"], region["endLine"]);
    }
}

#[test]
fn gitlab_is_valid() {
    let document = check("gitlab.json", gitlab::write);
    let issues = document.as_array().unwrap();
    let mut fingerprints: Vec<_> = issues.iter().map(|issue| issue["fingerprint"].to_string()).collect();
    fingerprints.sort();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 4, "each fingerprint once");
}

/// Element with its required attributes, optional attributes, and children.
type Element = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
);

/// `JUnit`, as defined by `junit-10.xsd` of Jenkins' xunit plugin.
const JUNIT: &[Element] = &[
    (
        "testsuites",
        &[],
        &["name", "tests", "failures", "errors", "time"],
        &["testsuite"],
    ),
    (
        "testsuite",
        &["name", "tests", "failures", "errors"],
        &["skipped", "package", "time", "timestamp", "hostname", "id", "file"],
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
    for text in [full(junit::write), empty(junit::write)] {
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
}

#[test]
fn checkstyle_is_valid() {
    assert_xml(&empty(checkstyle::write), CHECKSTYLE, "checkstyle");
    let text = full(checkstyle::write);
    assert_xml(&text, CHECKSTYLE, "checkstyle");
}

#[test]
fn github_commands_are_one_line_each() {
    let text = full(github::write);
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
}

#[test]
fn markdown_contains_no_markup_from_files() {
    let text = full(|report, out| markdown::write(report, &drawings(), out));
    assert_harmless(&text);
    assert!(!text.contains("<script>"), "{text}");
    assert!(!text.contains("@team"), "{text}");
    insta::assert_snapshot!(empty(|report, out| markdown::write(report, &[], out)));
}

#[test]
fn html_is_well_formed_and_runs_nothing() {
    let text = full(|report, out| html::write(report, &drawings(), &origin(), out));
    assert_harmless(&text);
    assert!(!text.contains("<script"), "{text}");
    // Apart from the head, which contains unclosed HTML elements, the page is also XML.
    let (_, body) = text.split_once("<body>").unwrap();
    let (body, _) = body.split_once("</body>").unwrap();
    roxmltree::Document::parse(&format!("<body>{body}</body>")).unwrap();
    assert_eq!(body.matches("http").count(), 1, "it loads nothing: that is a namespace");
}

#[test]
fn statistics_count_by_rule() {
    insta::assert_snapshot!(with(statistics::render));
    assert_eq!(without(statistics::render), "");
}
