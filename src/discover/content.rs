//! Recognises YAML and JSON files by a scan of their bytes. The scan looks for top-level keys, as templates have them,
//! so that it does not mistake an `OpenAPI` document or a page about templates for a template, but still recognises a
//! broken one.

use super::names::SERVICES;
use std::borrow::Cow;
use std::str;

/// Key of a snapshot with the version of its format.
const SNAPSHOT: &str = "sqslint_snapshot";

/// Kind of unit that a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A CloudFormation or SAM template.
    Template,
    /// A Serverless Framework service.
    Serverless,
    /// A Terraform plan or state.
    Plan,
    /// A snapshot, or what Cloud Control says about a resource.
    Snapshot,
    /// The manifest of a synthesised CDK app.
    CloudAssembly,
}

/// Returns the kind of the file `name` with these bytes.
pub(super) fn kind(name: &str, bytes: &[u8]) -> Option<Kind> {
    if is_plan(bytes) {
        return Some(Kind::Plan);
    }
    let text = decode(bytes);
    let is_service_key = |key: &str| matches!(key, "service" | "provider" | "functions");
    let special = match name {
        name if SERVICES.contains(&name) => top_lines(&text)
            .any(|line| is_service_key(key_of(line)))
            .then_some(Kind::Serverless),
        "serverless.json" => top_keys(&text)
            .into_iter()
            .any(is_service_key)
            .then_some(Kind::Serverless),
        "manifest.json" => {
            let keys = top_keys(&text);
            (keys.contains(&"version") && keys.contains(&"artifacts")).then_some(Kind::CloudAssembly)
        }
        _ => None,
    };
    if special.is_some() {
        return special;
    }
    let template = if text.trim_start().starts_with('{') {
        if is_snapshot(&text) {
            return Some(Kind::Snapshot);
        }
        is_json_template(&text)
    } else {
        is_yaml_template(&text)
    };
    template.then_some(Kind::Template)
}

fn is_snapshot(text: &str) -> bool {
    let keys = top_keys(text);
    let is_described = ["ResourceDescription", "ResourceDescriptions"]
        .iter()
        .any(|key| keys.contains(key));
    keys.contains(&SNAPSHOT) || (keys.contains(&"TypeName") && is_described)
}

/// Returns `true` if YAML has the keys that every service must have.
pub(super) fn is_whole_service(bytes: &[u8]) -> bool {
    let text = decode(bytes);
    let has = |key| top_lines(&text).any(|line| key_of(line) == key);
    has("service") && has("provider")
}

/// Number of bytes that contain the first keys of a plan, unless a tool sorted them.
pub(super) const HEAD: usize = 4096;

/// Returns `true` if JSON is the output of `terraform show` for a plan or state, or a state file. The first [`HEAD`]
/// bytes suffice.
pub(super) fn is_plan(bytes: &[u8]) -> bool {
    let is_plan = |bytes: &[u8]| {
        let text = readable(bytes);
        let keys = top_keys(&text);
        let has = |key| keys.contains(&key);
        has("terraform_version") && (has("format_version") || (has("version") && has("serial")))
    };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return false;
    }
    // A search for one word avoids scanning most large files for their keys.
    is_plan(bytes.get(..HEAD).unwrap_or(bytes))
        || (bytes.len() > HEAD && memchr::memmem::find(bytes, b"\"terraform_version\"").is_some() && is_plan(bytes))
}

/// Returns `true` if a file is a saved plan or the messages of `terraform plan -json`, from which `terraform show -json`
/// makes a document.
pub(super) fn is_unshown_plan(bytes: &[u8]) -> bool {
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
    // A saved plan is a ZIP archive with a file of this name.
    let is_saved = head.starts_with(b"PK\x03\x04") && has("tfplan");
    is_saved || (has("\"@level\"") && (has("\"terraform.ui\"") || has("\"tofu.ui\"")))
}

/// Returns `true` if a line of the text begins a Terraform block.
pub(super) fn is_terraform(text: &str) -> bool {
    const BLOCKS: [&str; 9] = [
        "resource",
        "data",
        "module",
        "variable",
        "output",
        "locals",
        "provider",
        "terraform",
        "moved",
    ];
    text.lines().any(|line| {
        let block = BLOCKS.iter().find_map(|block| line.trim_start().strip_prefix(block));
        block.is_some_and(|rest| rest.starts_with([' ', '"', '{']) && rest.trim_start().starts_with(['"', '{']))
    })
}

/// Decodes text without its byte order mark. UTF-16 is decoded well enough for the frontend to report the encoding.
fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match bytes {
        [0xff, 0xfe, rest @ ..] | [0xfe, 0xff, rest @ ..] => {
            let narrow: Vec<u8> = rest.iter().copied().filter(|&byte| byte != 0).collect();
            Cow::Owned(String::from_utf8_lossy(&narrow).into_owned())
        }
        [0xef, 0xbb, 0xbf, rest @ ..] => readable(rest),
        _ => readable(bytes),
    }
}

/// Decodes bytes as text, with replacement characters if they are not UTF-8. Checking for valid UTF-8 first is much
/// faster.
pub(super) fn readable(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Returns the top-level lines without their indentation. The text may be indented as a whole.
fn top_lines(text: &str) -> impl Iterator<Item = &str> {
    let is_blank = |line: &&str| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with(['#', '%']) || line.starts_with("---")
    };
    let first = text.lines().find(|line| !is_blank(line)).unwrap_or("");
    let indent = first.get(..first.len() - first.trim_start().len()).unwrap_or("");
    let lines = text.lines().filter_map(move |line| line.strip_prefix(indent));
    lines.filter(|line| !line.starts_with([' ', '\t', '#']))
}

/// Returns the key at the start of a line, without quotes.
fn key_of(line: &str) -> &str {
    let key = line.split_once(':').map_or("", |(key, _)| key.trim_end());
    key.trim_matches(['"', '\''])
}

fn is_yaml_template(text: &str) -> bool {
    let mut resources = false;
    let mut globals = false;
    for line in top_lines(text) {
        match key_of(line) {
            "AWSTemplateFormatVersion" => return true,
            "Transform" if line.contains("AWS::Serverless-2016-10-31") => return true,
            "Resources" => resources = true,
            "Globals" => globals = true,
            _ => {}
        }
    }
    // `Globals` may be in a separate fragment; SAM's `Globals` contain one of these.
    (resources && has_resource_type(text))
        || (globals
            && text
                .lines()
                .any(|line| matches!(line.trim(), "Function:" | "Api:" | "HttpApi:")))
        || ((resources || globals) && text.contains("AWS::Serverless-2016-10-31"))
}

/// Returns `true` if any `Type` has an `AWS::` value, in YAML or JSON.
fn has_resource_type(text: &str) -> bool {
    text.match_indices("Type").any(|(at, word)| {
        let rest = text.get(at + word.len()..).unwrap_or("");
        let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest).trim_start();
        let Some(value) = rest.strip_prefix(':') else {
            return false;
        };
        let value = value.trim_start();
        value.strip_prefix(['"', '\'']).unwrap_or(value).starts_with("AWS::")
    })
}

fn is_json_template(text: &str) -> bool {
    if !text.contains("\"Resources\"") {
        return false;
    }
    let keys = top_keys(text);
    keys.contains(&"Resources") && (keys.contains(&"AWSTemplateFormatVersion") || has_resource_type(text))
}

/// Returns the keys of the outermost JSON object.
fn top_keys(text: &str) -> Vec<&str> {
    let mut keys = Vec::new();
    let mut depth = 0_usize;
    let mut bytes = text.bytes().enumerate();
    let mut last_string = None;
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let mut escaped = false;
                let end = bytes.find(|&(_, byte)| {
                    let ends = byte == b'"' && !escaped;
                    escaped = byte == b'\\' && !escaped;
                    ends
                });
                last_string = end.and_then(|(end, _)| text.get(at + 1..end));
            }
            b':' if depth == 1 => keys.extend(last_string.take()),
            _ => {}
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_recognised_by_top_level_keys() {
        let templates = [
            ("t.yaml", "AWSTemplateFormatVersion: '2010-09-09'\n"),
            ("t.yaml", "\u{feff}---\r\n\"AWSTemplateFormatVersion\": 2010-09-09\r\n"),
            ("t.yaml", "Transform: AWS::Serverless-2016-10-31\nGlobals: {}\n"),
            ("t.yaml", "Transform:\n  - AWS::Serverless-2016-10-31\nResources: {}\n"),
            ("t.yml", "Resources:\n  Q: {Type: 'AWS::SQS::Queue'}\n"),
            ("t.yml", "Globals:\n  Function:\n    Timeout: 3\n"),
            ("t.yml", "# a\n---\n  Resources:\n    Q: {Type: 'AWS::SQS::Queue'}\n"),
            ("t.yaml", "{\"Resources\": {\"Q\": {\"Type\" : \"AWS::SQS::Queue\"}}}"),
            (
                "t.template",
                " {\"AWSTemplateFormatVersion\": \"x\", \"Resources\": {}}",
            ),
            ("t.json", "{\"Resources\": {\"Q\": {\"Type\": \"AWS::SQS::Queue\", \"x"),
        ];
        for (name, text) in templates {
            assert_eq!(kind(name, text.as_bytes()), Some(Kind::Template), "{text}");
        }
        let others = [
            (
                "openapi.yaml",
                "openapi: 3.0.0\ncomponents:\n  Resources:\n    Type: AWS::SQS::Queue\n",
            ),
            (
                "k8s.yaml",
                "kind: ConfigMap\ndata:\n  t: |\n    AWSTemplateFormatVersion: x\n    Resources:\n",
            ),
            ("mkdocs.yml", "nav:\n- Resources: resources.md\n"),
            ("x.yaml", "Resources:\n  - name: a\n"),
            (
                "plan.json",
                "{\"resource_changes\": [{\"Resources\": {\"Type\": \"AWS::X\"}}]}",
            ),
            (
                "spec.json",
                "{\"ResourceTypes\": {\"AWS::SQS::Queue\": {\"Resources\": 1}}}",
            ),
            (
                "package.json",
                "{\"description\": \"\\\"Resources\\\": AWSTemplateFormatVersion\"}",
            ),
            ("event.json", "{\"Resources\": [\"arn\"]}"),
            (
                "list.json",
                "[{\"Resources\": {\"Q\": {\"Type\": \"AWS::SQS::Queue\"}}}]",
            ),
            ("serverless.yml", "nothing: here\n"),
            ("empty.yaml", ""),
        ];
        for (name, text) in others {
            assert_eq!(kind(name, text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn plans_and_states_are_recognised_by_top_level_keys() {
        let padding = format!("\"a\": \"{}\", ", "x".repeat(HEAD));
        for text in [
            r#"{"format_version":"1.2","terraform_version":"1.11.4","planned_values":{"#.to_owned(),
            r#"{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "x"}"#.to_owned(),
            format!("{{{padding} \"format_version\": \"1.2\", \"terraform_version\": \"1.11.4\"}}"),
        ] {
            assert_eq!(kind("x.json", text.as_bytes()), Some(Kind::Plan), "{text}");
        }
        for text in [
            r#"{"format_version":"1.0","provider_schemas":{"terraform_version":1}}"#,
            r#"[{"format_version":"1.0","terraform_version":1}]"#,
            r#"{"terraform_version":"1.11.4","version":"x"}"#,
        ] {
            assert_eq!(kind("x.json", text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn services_are_recognised_by_name_and_key() {
        assert_eq!(
            kind("serverless.yml", b"service: x\nresources:\n  Resources: {}\n"),
            Some(Kind::Serverless)
        );
        assert_eq!(kind("other.yml", b"service: x\n"), None);
        assert_eq!(kind("serverless.json", br#"{"service": "x"}"#), Some(Kind::Serverless));
        assert_eq!(kind("serverless.json", br#"{"custom": {"service": "x"}}"#), None);
    }

    #[test]
    fn utf_16_is_recognised() {
        let wide: Vec<u8> = [0xfeff]
            .into_iter()
            .chain("AWSTemplateFormatVersion: x\n".encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(kind("t.yaml", &wide), Some(Kind::Template));
    }
}
