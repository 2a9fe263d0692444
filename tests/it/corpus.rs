//! Compares our graph with those of Terraform, the SAM translator and CloudFormation for the same files, and checks
//! real projects. Both tests need a collection of projects next to the checkout.

use crate::inputs::{LISTS, check, directories, entries, json};
use needs::{PROJECTS, RECORDINGS};
use serde_json::Value;
use sqslint::diagnostic::{RuleId, Subject};
use sqslint::explain::{ExplainedLocation, explain};
use sqslint::graph::Graph;
use sqslint::testing::{graph_json, graph_json_by_default};
use sqslint::{Options, Outcome};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Recorded graph, and the files that it was recorded from.
struct Recording {
    source: PathBuf,
    graph: Value,
    /// Values invented for the recording, as one text that is searched for addresses.
    made_up: String,
    /// Addresses of remote modules, each with a trailing dot. Terraform fetched them; sqslint does not.
    outside: Vec<String>,
}

/// Converts the recorded `module x (source)` to `module.x.`.
fn outside_modules(recorded: &Value) -> Vec<String> {
    let modules = recorded["outside"].as_array().into_iter().flatten();
    let names = modules.filter_map(|module| module.as_str()?.split(' ').nth(1));
    names.map(|name| format!("module.{name}.")).collect()
}

fn recordings(shared: &Path) -> Vec<Recording> {
    let mut all = Vec::new();
    for project in directories(&shared.join("corpus/expected")) {
        let sources = shared.join("corpus/dev").join(project.file_name().unwrap());
        let is_json = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
        for file in entries(&project).into_iter().filter(is_json) {
            let recorded = json(&file);
            all.push(Recording {
                source: sources.join(recorded["source"].as_str().unwrap()),
                graph: recorded["graph"].clone(),
                made_up: recorded["made_up"].to_string(),
                outside: outside_modules(&recorded),
            });
        }
    }
    for configuration in directories(&shared.join("terraform/configurations")) {
        all.push(Recording {
            graph: json(&configuration.join("expected.json")),
            source: configuration,
            made_up: String::new(),
            outside: Vec::new(),
        });
    }
    all
}

/// Relation between our value and the recorded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Equal,
    Unresolved,
    Wrong,
}

/// Compares one value. A `one_of` that defaults do not decide is unresolved if one of its cases may be the recorded
/// value.
fn compare(field: &str, recorded: &Value, ours: &Value) -> Verdict {
    if let Some(cases) = ours.get("one_of").and_then(Value::as_array) {
        let possible = |case: &Value| compare(field, recorded, &case["value"]) != Verdict::Wrong;
        return if cases.iter().any(possible) {
            Verdict::Unresolved
        } else {
            Verdict::Wrong
        };
    }
    if ours.get("unresolved").is_some() {
        return Verdict::Unresolved;
    }
    match field {
        // A recorded link without a target was unknown to the recording tool.
        "queue" | "function" | "target" if recorded.is_null() => Verdict::Equal,
        "queue" | "function" | "target" if ours.is_object() => equal(recorded, &ours["address"]),
        "redrive" if recorded.is_object() && ours.is_object() => {
            let target = compare("target", &recorded["target"], &ours["target"]);
            let count = compare("count", &recorded["maxReceiveCount"], &ours["max_receive_count"]);
            match (target, count) {
                (Verdict::Wrong, _) | (_, Verdict::Wrong) => Verdict::Wrong,
                (Verdict::Equal, Verdict::Equal) => Verdict::Equal,
                _ => Verdict::Unresolved,
            }
        }
        _ => equal(recorded, ours),
    }
}

fn equal(recorded: &Value, ours: &Value) -> Verdict {
    if recorded == ours {
        Verdict::Equal
    } else {
        Verdict::Wrong
    }
}

/// Verdicts counted by field, and one line per wrong or unresolved value.
#[derive(Default)]
struct Tally {
    fields: BTreeMap<String, [usize; 3]>,
    wrong: Vec<String>,
    unresolved: Vec<String>,
}

impl Tally {
    fn add(&mut self, field: String, verdict: Verdict, detail: impl FnOnce() -> String) {
        match verdict {
            Verdict::Equal => {}
            Verdict::Wrong => self.wrong.push(format!("{field}: {}", detail())),
            Verdict::Unresolved => self.unresolved.push(format!("{field}: {}", detail())),
        }
        self.fields.entry(field).or_default()[verdict as usize] += 1;
    }

    fn table(&self) -> String {
        let mut table = format!("{:<34} {:>6} {:>10} {:>6}\n", "field", "equal", "unresolved", "wrong");
        for (field, [equal, unresolved, wrong]) in &self.fields {
            writeln!(table, "{field:<34} {equal:>6} {unresolved:>10} {wrong:>6}").unwrap();
        }
        table
    }
}

/// Returns an address without its instance keys.
fn without_keys(address: &str) -> String {
    let mut depth = 0_usize;
    let mut outside = String::new();
    for character in address.chars() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            other if depth == 0 => outside.push(other),
            _ => {}
        }
    }
    outside
}

/// Returns `true` if a node of ours exists unconditionally when defaults apply.
fn is_certain(node: &Value) -> bool {
    node.get("when").is_none() && node.get("uncertain").is_none()
}

fn compare_unit(recording: &Recording, ours: &Value, tally: &mut Tally) {
    let source = recording.source.display();
    let is_of_unit = |node: &&Value| {
        let unit = node["unit"].as_str().unwrap();
        recording.source.ends_with(unit.trim_start_matches("../"))
    };
    for (recorded_list, our_list, fields) in LISTS {
        let our_nodes: Vec<&Value> = ours[our_list].as_array().unwrap().iter().filter(is_of_unit).collect();
        let recorded_nodes = recording.graph[recorded_list].as_array().unwrap();
        for recorded in recorded_nodes {
            let address = recorded["address"].as_str().unwrap();
            let node = our_nodes.iter().find(|node| node["address"] == address);
            // If the keys are unresolved, one node without keys represents all instances.
            let stand_in = || {
                let bare = |node: &&&Value| {
                    !is_certain(node) && without_keys(node["address"].as_str().unwrap()) == without_keys(address)
                };
                our_nodes.iter().find(bare)
            };
            let presence = match node {
                Some(_) => Verdict::Equal,
                None if stand_in().is_some() => Verdict::Unresolved,
                None if recording.outside.iter().any(|module| address.starts_with(module)) => Verdict::Unresolved,
                None => Verdict::Wrong,
            };
            tally.add(our_list.to_owned(), presence, || {
                format!("{source}: {address} is missing")
            });
            for (theirs, field) in fields.iter().filter(|_| node.is_some()) {
                let (recorded, ours) = (&recorded[theirs], &node.unwrap()[field]);
                tally.add(format!("{our_list}.{field}"), compare(field, recorded, ours), || {
                    format!("{source}: {address}: recorded {recorded}, ours {ours}")
                });
            }
        }
        for node in our_nodes {
            let address = node["address"].as_str().unwrap();
            let is_recorded = recorded_nodes.iter().any(|recorded| recorded["address"] == address);
            if !is_recorded && is_certain(node) && !recording.made_up.contains(address) {
                tally.add(our_list.to_owned(), Verdict::Wrong, || {
                    format!("{source}: {address} is not recorded")
                });
            }
        }
    }
}

#[test]
fn graphs_agree_with_the_tools_themselves() {
    let Some(shared) = RECORDINGS.found() else { return };
    let mut tally = Tally::default();
    for recording in recordings(&shared) {
        let outcome = check(&recording.source);
        let ours = graph_json_by_default(&outcome.graph, &outcome.sources);
        compare_unit(&recording, &serde_json::from_str(&ours).unwrap(), &mut tally);
    }
    println!("{}", tally.table());
    for line in &tally.unresolved {
        println!("unresolved {line}");
    }
    for line in &tally.wrong {
        println!("wrong {line}");
    }
    assert!(tally.wrong.is_empty(), "{} values are wrong", tally.wrong.len());
    // Six ends of mappings are known only by an import or a dynamic reference; ten timeouts may be set by `Globals` in
    // a file that is not included.
    assert!(
        tally.unresolved.len() <= 16,
        "{} values are unresolved",
        tally.unresolved.len()
    );
}

/// Projects in Terraform 0.11 syntax (a quoted block type), which Terraform itself no longer accepts.
const REFUSED_BY_TERRAFORM: [&str; 1] = ["cloudchacho__terraform-aws-taskhawk-queue__root"];

/// Totals of a run over all projects.
#[derive(Default)]
struct Totals {
    units: usize,
    queues: usize,
    mappings: usize,
    linked_mappings: usize,
    links: usize,
    linked: usize,
    unresolved: BTreeMap<String, usize>,
    findings: BTreeMap<RuleId, usize>,
    problems: Vec<String>,
}

impl Totals {
    fn add(&mut self, project: &str, outcome: &Outcome) {
        let graph = &outcome.graph;
        self.units += graph.units().len();
        self.queues += graph.queues().len();
        self.mappings += graph.mappings().len();
        self.count_links(graph);
        let document = graph_json(graph, &outcome.sources);
        self.count_unresolved(&serde_json::from_str(&document).unwrap());
        for finding in &outcome.findings {
            *self.findings.entry(finding.rule.clone()).or_default() += 1;
            let is_repeated = finding.headline.ends_with("twice: only the last one counts");
            let refused = finding.rule == "parse-error" && (is_repeated || REFUSED_BY_TERRAFORM.contains(&project));
            if !refused && matches!(&*finding.rule, "parse-error" | "limit-reached") {
                let place = outcome.sources.start(finding.primary().span);
                self.problems.push(format!(
                    "{project}: {} {}:{}",
                    finding.headline, place.line, place.column
                ));
            }
        }
        for error in &outcome.errors {
            self.problems.push(format!("{project}: {error}"));
        }
        // A finding on any instance of a resource counts it as judged in part.
        let block = |address: &str| address.replace(|byte: char| byte.is_ascii_digit() || "[]\"".contains(byte), "");
        let (_, unjudged) = outcome.coverage.in_part(&outcome.findings);
        for gap in unjudged {
            let is_of_gap = |subject: &Subject| {
                subject.unit == gap.subject.unit && block(&subject.address) == block(&gap.subject.address)
            };
            if outcome.findings.iter().any(|found| is_of_gap(&found.subject)) {
                self.problems
                    .push(format!("{project}: {} has a finding", gap.subject.address));
            }
        }
    }

    fn count_links(&mut self, graph: &Graph) {
        for mapping in graph.mappings() {
            let unit = mapping.resource.unit;
            let queue = mapping.queue.cases.iter().filter_map(|case| case.value());
            let queue = queue.filter(|link| graph.queue(unit, link).is_some()).count() > 0;
            let function = mapping.function.cases.iter().filter_map(|case| case.value());
            let function = function.filter(|link| graph.function(unit, link).is_some()).count() > 0;
            self.links += 2;
            self.linked += usize::from(queue) + usize::from(function);
            self.linked_mappings += usize::from(queue && function);
        }
        for queue in graph.queues() {
            for (_, link) in queue.redrive_targets(&queue.resource.when) {
                self.links += 1;
                self.linked += usize::from(graph.queue(queue.resource.unit, link).is_some());
            }
        }
    }

    fn count_unresolved(&mut self, value: &Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.count_unresolved(value)),
            Value::Object(fields) => {
                if let Some(reason) = fields.get("unresolved").and_then(Value::as_str) {
                    *self.unresolved.entry(reason.to_owned()).or_default() += 1;
                    return;
                }
                // No rule reads tags, so unresolved tags do not count.
                let all = fields.iter().filter(|(name, _)| *name != "tags");
                all.for_each(|(_, value)| self.count_unresolved(value));
            }
            _ => {}
        }
    }

    fn print(&self) {
        println!(
            "units {}, queues {}, mappings {}",
            self.units, self.queues, self.mappings
        );
        println!("mappings with both ends linked {}", self.linked_mappings);
        println!("links {}, of them to a declared resource {}", self.links, self.linked);
        println!("unresolved values {}", self.unresolved.values().sum::<usize>());
        let mut causes: Vec<_> = self.unresolved.iter().collect();
        causes.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), *reason));
        for (reason, count) in causes.into_iter().take(5) {
            println!("  {count} {reason}");
        }
        println!("findings");
        for (rule, count) in &self.findings {
            println!("  {count} {rule}");
        }
        for problem in &self.problems {
            println!("problem {problem}");
        }
    }
}

/// A run that judged nothing does not end in "no findings" alone.
#[test]
fn last_line_without_findings_states_what_was_judged() {
    let Some(shared) = PROJECTS.found() else { return };
    for project in directories(&shared.join("corpus/dev")) {
        let coverage = check(&project).coverage;
        let run = Command::new(env!("CARGO_BIN_EXE_sqslint"))
            .args(["check", "--isolated", "--format", "concise", "."])
            .current_dir(&project)
            .output()
            .unwrap();
        let printed = String::from_utf8(run.stderr).unwrap();
        let last = printed.lines().last().unwrap_or_default();
        let judged = coverage.judged_queues() + coverage.judged_mappings() + coverage.read_handlers();
        let is_stated = if judged > 0 {
            last.contains(" judged, no findings")
        } else {
            last.contains("no queues found in") || last.ends_with("so nothing was checked")
        };
        assert!(
            run.status.code() != Some(0) || last.contains("info") || is_stated,
            "{}: {last}",
            project.display()
        );
    }
}

#[test]
fn real_projects_are_checked_without_a_problem() {
    let Some(shared) = PROJECTS.found() else { return };
    let index = std::fs::read_to_string(shared.join("corpus/dev/INDEX.tsv")).unwrap();
    let mut totals = Totals::default();
    for project in index.lines().skip(1).filter_map(|line| line.split('\t').next()) {
        totals.add(project, &check(&shared.join("corpus/dev").join(project)));
    }
    totals.print();
    assert!(totals.problems.is_empty(), "{} problems", totals.problems.len());
    // These bounds ensure that sqslint does not resolve less than before.
    assert!(
        totals.linked_mappings >= 94,
        "{} mappings are linked",
        totals.linked_mappings
    );
    assert!(totals.linked >= 274, "{} links lead to a resource", totals.linked);
    let unresolved: usize = totals.unresolved.values().sum();
    assert!(unresolved <= 290, "{unresolved} values are unresolved");
}

/// Every line that `check` reports is explained by `explain` and the editor's hover: for the file alone, or, if the
/// finding depends on other units, for the whole project.
#[test]
fn every_reported_line_is_explained() {
    let Some(shared) = PROJECTS.found() else { return };
    let mut unexplained = Vec::new();
    for project in directories(&shared.join("corpus/dev")) {
        let outcome = check(&project);
        let mut places: BTreeMap<PathBuf, Vec<(usize, &RuleId)>> = BTreeMap::new();
        for found in &outcome.findings {
            let file = outcome.sources.file(found.primary().span.file);
            let line = file.position(found.primary().span.start as usize).line;
            let place = (line as usize, &found.rule);
            places.entry(file.path().to_owned()).or_default().push(place);
        }
        for (path, lines) in places {
            let explains = |paths: &Path, line: usize, rule: &RuleId| {
                let asked = ExplainedLocation {
                    file: &path,
                    line,
                    column: None,
                };
                let options = Options {
                    paths: vec![paths.to_owned()],
                    ..Options::default()
                };
                let explained = explain(&options, asked);
                explained.conclusions().iter().any(|one| *one.rule.id == **rule)
            };
            for (line, rule) in lines {
                if !(explains(&path, line, rule) || explains(&project, line, rule)) {
                    unexplained.push(format!("{}:{line}: {}", path.display(), &**rule));
                }
            }
        }
    }
    assert!(unexplained.is_empty(), "{unexplained:#?}");
}
