//! Collects the initial inputs, all from the fixtures and the docs, so that nothing is stored twice.

use super::mutate::Project;
use super::targets::{ROOT, packed};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Maximum size of a seed in bytes; a fuzzer is fast with small inputs.
const LARGEST: usize = 24_000;

/// Initial input.
pub(crate) struct Seed {
    /// Origin.
    pub(crate) name: String,
    /// Content.
    pub(crate) bytes: Vec<u8>,
}

impl Seed {
    fn new(name: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        Seed {
            name: name.into(),
            bytes: text.into(),
        }
    }
}

/// Returns the root of the checkout, for any package that compiles this file.
fn checkout() -> &'static Path {
    let mut places = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    places
        .find(|place| place.join("fixtures").is_dir())
        .expect("the package is in a checkout")
}

fn page(name: &str) -> String {
    std::fs::read_to_string(checkout().join(name)).expect("it is there")
}

fn projects() -> Vec<Project> {
    Project::all(&checkout().join("fixtures"))
}

/// Returns the files of the fixtures with one of these extensions.
fn files(endings: &[&str]) -> Vec<Seed> {
    let mut seeds = Vec::new();
    for project in projects() {
        for (name, bytes) in project.files {
            let path: PathBuf = project.name.join(name);
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if endings.contains(&ending) && bytes.len() <= LARGEST {
                seeds.push(Seed::new(path.to_string_lossy(), bytes));
            }
        }
    }
    seeds
}

fn is_plan(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    ["\"format_version\"", "\"terraform_version\""]
        .iter()
        .any(|key| text.contains(key))
}

pub(crate) fn terraform() -> Vec<Seed> {
    files(&["tf", "tofu", "hcl"])
}

pub(crate) fn yaml() -> Vec<Seed> {
    files(&["yaml", "yml"])
}

/// Returns documents that are neither plans nor expected results of tests.
pub(crate) fn json() -> Vec<Seed> {
    let mut seeds = files(&["json"]);
    seeds.retain(|seed| !is_plan(&seed.bytes) && String::from_utf8_lossy(&seed.bytes).contains("AWS::"));
    seeds
}

pub(crate) fn plans() -> Vec<Seed> {
    let mut seeds = files(&["json", "tfstate"]);
    seeds.retain(|seed| is_plan(&seed.bytes));
    seeds
}

/// Returns the TOML blocks of a page.
fn blocks(name: &str) -> Vec<Seed> {
    let text = page(name);
    let blocks = text.split("```toml\n").skip(1).enumerate();
    let blocks = blocks.filter_map(|(at, rest)| Some((at, rest.split_once("```")?.0)));
    blocks
        .map(|(at, block)| Seed::new(format!("{name}-{at}"), block))
        .collect()
}

pub(crate) fn configurations() -> Vec<Seed> {
    let mut seeds = files(&["toml"]);
    for name in ["docs/configuration.md", "docs/policies.md", "docs/suppressions.md"] {
        if checkout().join(name).exists() {
            seeds.extend(blocks(name));
        }
    }
    seeds.push(Seed::new("every-setting", page("src/cli/config/sqslint.toml")));
    seeds
}

/// Deduplicates the texts, and names each by its number.
fn distinct(texts: impl IntoIterator<Item = String>) -> Vec<Seed> {
    let texts: BTreeSet<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    let numbered = texts.into_iter().enumerate();
    numbered.map(|(at, text)| Seed::new(at.to_string(), text)).collect()
}

/// Returns the text after each `=` in the Terraform of the fixtures.
pub(crate) fn terraform_expressions() -> Vec<Seed> {
    let files = terraform();
    let texts = files.iter().map(|seed| String::from_utf8_lossy(&seed.bytes));
    distinct(texts.flat_map(|text| {
        let values = text
            .lines()
            .filter_map(|line| Some(line.split_once(" = ")?.1.trim().to_owned()));
        let values = values.filter(|value| value.contains(['(', '$', '?', '[', '.', '*']));
        values.collect::<Vec<_>>()
    }))
}

/// Returns the expressions of the documented policies.
pub(crate) fn policies() -> Vec<Seed> {
    let text = page("docs/policies.md");
    let keys = ["require = ", "forbid = ", "where = "];
    let asked = text.lines().filter_map(|line| {
        let value = keys.iter().find_map(|key| line.strip_prefix(key))?;
        let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        Some(value.trim_start_matches(quote).split(quote).next()?.to_owned())
    });
    distinct(asked)
}

/// Returns the texts after `sqslint:` in the fixtures, and some invalid ones.
pub(crate) fn suppressions() -> Vec<Seed> {
    let texts = [
        "ignore",
        "ignore[",
        "ignore[visibility-timeout-zero]",
        "ignore[visibility-timeout-zero until=2027-03-31] because",
        "ignore[visibility-timeout-zero, dead-letter-queue, Visibility-Timeout-Zero] -- because",
        "ignore[all until=2020-02-30] it was",
        "ignore-file[all] because",
        "ignore-file[visibility until=2026-09-01] until then\nignore[visibility] and then",
        " ignore [ visibility-timeout-zero ] */ resource",
        "ignored[nothing] ${var.open}",
    ];
    let mut texts: Vec<String> = texts.map(str::to_owned).to_vec();
    let files = files(&["tf", "yaml", "yml", "json"]);
    for seed in &files {
        let text = String::from_utf8_lossy(&seed.bytes);
        let behind = text.lines().filter_map(|line| line.split_once("sqslint:"));
        texts.extend(behind.map(|(_, said)| said.trim().to_owned()));
    }
    distinct(texts)
}

/// Returns the handlers of the tests of the source analysis.
pub(crate) fn sources() -> Vec<Seed> {
    let folder = checkout().join("tests/handlers/cases");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    paths.sort();
    let texts = paths
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("it can be read"));
    // Each file has many handlers, separated by empty lines.
    distinct(texts.flat_map(|text| text.split("\n\n").map(str::to_owned).collect::<Vec<_>>()))
}

/// Returns the values with variables in the services of the fixtures, and some that the framework evaluates in parts.
pub(crate) fn variables() -> Vec<Seed> {
    let mut texts: Vec<String> = [
        "${self:custom.missing, 60}",
        "${opt:stage, self:provider.stage, 'dev'}",
        "${self:custom.${opt:stage, 'dev'}.timeout}",
        "${file(./${opt:stage}.yml):timeout, ''}",
        "${strToBool(${env:ON, 'true'})}",
        "${ssm(eu-west-1):/a/${self:service}~true}",
        "${cf(eu-west-1):stack.Output}",
        "a${self:service}b${sls:instanceId}",
    ]
    .map(str::to_owned)
    .to_vec();
    for seed in files(&["yml"]) {
        let text = String::from_utf8_lossy(&seed.bytes);
        let values = text.lines().filter_map(|line| Some(line.split_once(": ")?.1.trim()));
        texts.extend(values.filter(|value| value.contains("${")).map(str::to_owned));
    }
    distinct(texts)
}

/// Returns numbers of simulations: of a queue, a consumer, its work and its messages.
pub(crate) fn traffic() -> Vec<Seed> {
    let overlap = "30 345600 0 1 280 10 0 0 1 5 1209600 0 12000 25000 280000 150 0 0 0 2000 1 1000 1";
    let changes = [
        ("30 3", "0 3"),
        ("0 1 280", "900 0 3"),
        (" 0 12000", " 1 12000"),
        (" 0 0 0 2000", " 900 900 900 2000"),
    ];
    let changes = changes.iter().map(|(from, to)| overlap.replacen(from, to, 1));
    let swapped = [
        "43200 60 0 1 900 10000 300 1 1 1 60 0 1 1 1 0 0 0 0 50 1 0 7",
        "1 60",
        "",
    ]
    .map(str::to_owned);
    let mut seeds = distinct(changes.chain(swapped).chain([overlap.to_owned()]));
    seeds.push(Seed::new("empty", ""));
    seeds
}

/// Returns the projects of the fixtures, each directory packed into one text.
pub(crate) fn trees() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for project in projects() {
        let name = project.name.to_string_lossy().into_owned();
        let packed = packed(&project.files);
        if packed.len() <= LARGEST {
            seeds.push(Seed::new(name, packed));
        }
    }
    seeds
}

/// Returns editor sessions that open a file, send requests about every part of it, and edit it.
pub(crate) fn sessions() -> Vec<Seed> {
    let mut seeds = Vec::new();
    let files = terraform().into_iter().chain(yaml()).step_by(9);
    for seed in files.filter(|seed| seed.bytes.len() < 3_000) {
        let name = if Path::new(&seed.name).extension().is_some_and(|ending| ending == "tf") {
            "main.tf"
        } else {
            "t/template.yaml"
        };
        let text = String::from_utf8_lossy(&seed.bytes).into_owned();
        seeds.push(Seed::new(seed.name, session(name, &text)));
    }
    seeds
}

fn session(name: &str, text: &str) -> String {
    let uri = format!("{ROOT}/{name}");
    let document = json!({"uri": uri});
    let range = |line: usize| json!({"start": {"line": line, "character": 2}, "end": {"line": line, "character": 9}});
    let mut lines = vec![json!({"method": "textDocument/didOpen",
        "params": {"textDocument": {"uri": uri, "languageId": "any", "version": 1, "text": text}}})];
    let mut ask = |method: &str, params: Value| lines.push(json!({"id": 1, "method": method, "params": params}));
    for line in (0..text.lines().count()).step_by(4) {
        let place = json!({"textDocument": document, "position": {"line": line, "character": 4}});
        for method in ["hover", "definition", "completion"] {
            ask(&format!("textDocument/{method}"), place.clone());
        }
        let params = json!({"textDocument": document, "range": range(line), "context": {"diagnostics": []}});
        ask("textDocument/codeAction", params);
    }
    let mut references = json!({"textDocument": document, "position": {"line": 1, "character": 4}});
    references["context"] = json!({"includeDeclaration": true});
    ask("textDocument/references", references);
    ask(
        "textDocument/inlayHint",
        json!({"textDocument": document, "range": range(0)}),
    );
    ask("textDocument/diagnostic", json!({"textDocument": document}));
    ask("workspace/diagnostic", json!({"previousResultIds": []}));
    ask(
        "workspace/executeCommand",
        json!({"command": "sqslint.graph", "arguments": [{"uri": uri, "format": "svg"}]}),
    );
    lines.push(json!({"method": "textDocument/didChange",
        "params": {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"range": range(1), "text": "x = 1\n"}]}}));
    lines.push(json!({"id": 1, "method": "textDocument/diagnostic", "params": {"textDocument": document}}));
    lines.push(json!({"method": "workspace/didChangeWatchedFiles",
        "params": {"changes": [{"uri": format!("{ROOT}/main.tf"), "type": 3}]}}));
    lines.push(json!({"method": "textDocument/didClose", "params": {"textDocument": document}}));
    lines.iter().map(|line| format!("{line}\n")).collect()
}
