//! Writes SARIF 2.1.0 with everything that code scanning uses: rules with their pages, one-line regions, linked
//! locations, stable fingerprints, and unjudged resources as notifications.

use super::json_text::{Each, write_pretty};
use super::region::Paths;
use super::suppressed::why;
use super::{Report, printable, region};
use crate::diagnostic::{Diagnostic, Edit, Fix, Label, NotEvaluated, Severity, Silencer, Suppressed};
use crate::rules::Rule;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use serde_json::{Map, Value, json};
use source::{FileId, Span};
use std::io;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Base of relative URIs: the root of the repository.
const ROOT: &str = "%SRCROOT%";
const NOT_EVALUATED: &str = "not-evaluated";
const FAILED: &str = "failed";

/// Log of one run. Fields are in alphabetical order here and in the nested objects.
#[derive(Serialize)]
struct Log<N: Serialize, R: Serialize> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [Run<N, R>; 1],
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<N: Serialize, R: Serialize> {
    automation_details: Value,
    column_kind: &'static str,
    invocations: [Invocation<N>; 1],
    original_uri_base_ids: Value,
    results: R,
    tool: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation<N: Serialize> {
    execution_successful: bool,
    tool_execution_notifications: N,
}

/// Writes the report as a log of one run.
pub fn write(report: &Report<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let writer = Writer::new(report);
    let run = Run {
        automation_details: json!({ "id": category(report) }),
        column_kind: "unicodeCodePoints",
        invocations: [Invocation {
            execution_successful: report.errors.is_empty(),
            tool_execution_notifications: Each(|| writer.notifications()),
        }],
        original_uri_base_ids: json!({ ROOT: { "description": { "text": "The root of the repository" } } }),
        results: Each(|| writer.results()),
        tool: json!({ "driver": driver(&writer) }),
    };
    let log = Log {
        schema: SCHEMA,
        runs: [run],
        version: "2.1.0",
    };
    write_pretty(out, &log)
}

/// Returns the category of the run. Runs with other paths are analyses of their own, which do not close each other's
/// alerts.
fn category(report: &Report<'_>) -> String {
    let paths = report
        .units
        .paths
        .iter()
        .filter(|path| !matches!(path.as_str(), "" | "."));
    let paths: String = paths.map(|path| format!("{}/", printable(path))).collect();
    format!("{}/{paths}", env!("CARGO_PKG_NAME"))
}

fn driver(writer: &Writer<'_>) -> Value {
    let report = writer.report;
    let mut driver = json!({
        "name": env!("CARGO_PKG_NAME"),
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": writer.rules.iter().map(|rule| descriptor(report, rule)).collect::<Vec<_>>(),
        "notifications": [
            { "id": NOT_EVALUATED, "shortDescription": { "text": "A rule could not judge a resource: a value is unknown" } },
            { "id": FAILED, "shortDescription": { "text": "sqslint could not do its job" } },
        ],
    });
    if let Some(address) = report.published.address() {
        insert(&mut driver, "informationUri", address.into());
    }
    driver
}

fn descriptor(report: &Report<'_>, rule: &Rule<'_>) -> Value {
    let mut descriptor = json!({
        "id": rule.id,
        "name": rule.id,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": rule.summary },
        "help": { "text": rule.summary, "markdown": rule.page },
        "defaultConfiguration": { "enabled": rule.set.name() == "default", "level": level(rule.severity) },
        "properties": {
            "precision": "high",
            "problem.severity": match rule.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "recommendation",
            },
            "tags": ["sqs", rule.category.name()],
        },
    });
    if let Some(page) = report.published.page(rule.id) {
        insert(&mut descriptor, "helpUri", page.into());
    }
    descriptor
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

struct Writer<'a> {
    report: &'a Report<'a>,
    /// Rules that have a result, in the order of the catalogue.
    rules: Vec<Rule<'a>>,
    /// Indices in `rules` by id.
    indices: FxHashMap<&'a str, usize>,
}

impl<'a> Writer<'a> {
    fn new(report: &'a Report<'a>) -> Self {
        let suppressed = report.shown_suppressed().iter().map(|one| &one.finding);
        let used: FxHashSet<&str> = report
            .findings
            .iter()
            .chain(suppressed)
            .map(|found| &*found.rule)
            .collect();
        let rules: Vec<Rule<'a>> = report.rules.rules().filter(|rule| used.contains(rule.id)).collect();
        let indices = rules.iter().enumerate().map(|(at, rule)| (rule.id, at)).collect();
        Writer { report, rules, indices }
    }

    fn results(&self) -> impl Iterator<Item = Value> {
        let found = self.report.findings.iter().map(|found| self.result(found));
        found.chain(self.report.shown_suppressed().iter().map(|one| self.silenced(one)))
    }

    fn result(&self, found: &Diagnostic) -> Value {
        let subject = &found.subject;
        let mut location = self.location(found.primary().span);
        insert(
            &mut location,
            "logicalLocations",
            json!([{
                "name": subject.address,
                "fullyQualifiedName": format!("{}#{}", subject.unit, subject.address),
                "kind": "resource",
            }]),
        );
        if !found.primary().message.is_empty() {
            insert(
                &mut location,
                "message",
                json!({ "text": unlinked(&found.primary().message) }),
            );
        }
        let related: Vec<Value> = secondary(found).map(|(id, label)| self.related(id, label)).collect();
        let mut fingerprints = Map::new();
        fingerprints.insert("sqslint/v1".to_owned(), found.fingerprint().into());
        let mut result = json!({
            "ruleId": found.rule,
            "level": level(found.severity),
            "message": { "text": self.message(found) },
            "locations": [location],
            "partialFingerprints": fingerprints,
            "properties": {
                "unit": subject.unit,
                "address": subject.address,
                "attribute": subject.attribute,
                "calculation": found.calculation.as_deref(),
                "help": found.help.as_deref(),
                "when": found.when,
                "calls": found.instances(str::to_owned),
            },
        });
        if let Some(index) = self.indices.get(&*found.rule) {
            insert(&mut result, "ruleIndex", (*index).into());
        }
        if !related.is_empty() {
            insert(&mut result, "relatedLocations", related.into());
        }
        if let Some(fix) = &found.fix {
            insert(&mut result, "fixes", json!([self.fix(fix)]));
        }
        result
    }

    /// Converts a suppressed finding, with the cause of the suppression.
    fn silenced(&self, one: &Suppressed) -> Value {
        let mut suppression = json!({ "kind": "external" });
        let mut justification = Some(why(one, self.report.sources, Paths::FromRepository));
        if let Silencer::Suppression(span) = &one.by {
            suppression = json!({ "kind": "inSource", "location": self.location(*span) });
            justification = one.reason.as_deref().map(printable);
        }
        if let Some(justification) = justification {
            insert(&mut suppression, "justification", justification.into());
        }
        let mut result = self.result(&one.finding);
        insert(&mut result, "suppressions", json!([suppression]));
        result
    }

    fn fix(&self, fix: &Fix) -> Value {
        let files = fix.edits.chunk_by(|a, b| a.span.file == b.span.file);
        let changes = files.filter_map(|edits| {
            let artifact = self.artifact(edits.first()?.span.file);
            let replacements: Vec<Value> = edits.iter().map(|edit| self.replacement(edit)).collect();
            Some(json!({ "artifactLocation": artifact, "replacements": replacements }))
        });
        json!({
            "description": { "text": unlinked(&fix.title) },
            "artifactChanges": changes.collect::<Vec<_>>(),
            "properties": { "safety": fix.safety.name() },
        })
    }

    fn replacement(&self, edit: &Edit) -> Value {
        let file = self.report.sources.file(edit.span.file);
        let mut replacement = json!({ "deletedRegion": columns(&region::full_region(&file, edit.span)) });
        if !edit.text.is_empty() {
            insert(&mut replacement, "insertedContent", json!({ "text": edit.text }));
        }
        replacement
    }

    /// Returns the headline, the arithmetic and the help, with a link to each secondary location.
    fn message(&self, found: &Diagnostic) -> String {
        let mut sentences = vec![unlinked(&found.headline)];
        sentences.extend(found.calculation.iter().map(|text| unlinked(text)));
        sentences.extend(found.when.iter().map(|when| format!("When {}", unlinked(when))));
        sentences.extend(found.help.iter().map(|help| format!("Help: {}", unlinked(help))));
        let links: Vec<String> = secondary(found).map(|(id, label)| self.link(id, label)).collect();
        if !links.is_empty() {
            sentences.push(format!("See {}", links.join(", ")));
        }
        sentences.join(". ")
    }

    fn link(&self, id: usize, label: &Label) -> String {
        let file = self.report.sources.file(label.span.file);
        let line = file.position(label.span.start as usize).line;
        let text = if label.message.is_empty() {
            format!("{}:{line}", file.name())
        } else {
            format!("{} ({}:{line})", label.message, file.name())
        };
        let mut escaped = String::with_capacity(text.len());
        for character in unlinked(&text).chars() {
            if matches!(character, '[' | ']' | '\\') {
                escaped.push('\\');
            }
            escaped.push(character);
        }
        format!("[{escaped}]({id})")
    }

    fn related(&self, id: usize, label: &Label) -> Value {
        let mut location = self.location(label.span);
        insert(&mut location, "id", id.into());
        if !label.message.is_empty() {
            insert(&mut location, "message", json!({ "text": unlinked(&label.message) }));
        }
        location
    }

    fn location(&self, span: Span) -> Value {
        let file = self.report.sources.file(span.file);
        json!({ "physicalLocation": {
            "artifactLocation": self.artifact(span.file),
            "region": columns(&region::first_line_region(&file, span)),
        } })
    }

    fn artifact(&self, file: FileId) -> Value {
        let (uri, is_relative) = region::uri(&self.report.sources.file(file));
        let mut artifact = json!({ "uri": uri });
        if is_relative {
            insert(&mut artifact, "uriBaseId", ROOT.into());
        }
        artifact
    }

    fn notifications(&self) -> impl Iterator<Item = Value> {
        let failures = self.report.errors.iter().map(|error| {
            json!({
                "descriptor": { "id": FAILED, "index": 1 },
                "level": "error",
                "message": { "text": unlinked(error) },
            })
        });
        let open = self.report.not_evaluated.iter().map(|entry| self.open(entry));
        failures.chain(open)
    }

    fn open(&self, entry: &NotEvaluated) -> Value {
        let text = format!("`{}`: {}", entry.subject.address, entry.reason);
        json!({
            "descriptor": { "id": NOT_EVALUATED, "index": 0 },
            "associatedRule": { "id": entry.rule },
            "level": "note",
            "message": { "text": unlinked(&text) },
            "locations": [self.location(entry.span)],
        })
    }
}

fn columns(region: &region::Region) -> Value {
    json!({
        "startLine": region.start.line,
        "startColumn": region.start.column,
        "endLine": region.end.line,
        "endColumn": region.end.column,
    })
}

/// Returns the secondary labels, with the ids that links in the message use.
fn secondary(found: &Diagnostic) -> impl Iterator<Item = (usize, &Label)> {
    found
        .labels()
        .iter()
        .filter(|label| !label.primary)
        .enumerate()
        .map(|(at, label)| (at + 1, label))
}

fn insert(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(fields) = object {
        fields.insert(key.to_owned(), value);
    }
}

/// Converts `text` to one line without any syntax that viewers interpret as a link.
fn unlinked(text: &str) -> String {
    printable(text).replace("](", "] (")
}
