//! What a suppression covers, form by form: `«»` in the expectation is nothing, `«*»` the file.
#![allow(clippy::unwrap_used)]

use super::suppressions;
use crate::source::Sources;
use crate::suppress::{Content, Cover};
use std::path::Path;

/// Each suppression of `text`: what it says and the first and last line of what it covers.
fn covered(name: &str, text: &str) -> Vec<String> {
    let sources = Sources::default();
    sources.add(Path::new(name), text);
    let found = suppressions(&sources);
    let shown = found.iter().map(|written| {
        let said = match &written.content {
            Content::Text(text) => text.trim().to_owned(),
            Content::Fields(fields) => format!(
                "{} {} {}",
                fields.rules.join("+"),
                fields.until.as_deref().unwrap_or("-"),
                fields.reason.as_deref().unwrap_or("-")
            ),
        };
        let cover = match written.covers {
            Cover::Nothing => String::new(),
            Cover::File => "*".to_owned(),
            Cover::Place(span) => {
                let text = sources.text(span);
                let mut lines = text.lines().map(str::trim);
                let first = lines.next().unwrap_or("");
                lines
                    .next_back()
                    .map_or(first.to_owned(), |last| format!("{first}…{last}"))
            }
        };
        let leading = if written.leading { "^" } else { "" };
        format!("{leading}{said} «{cover}»")
    });
    shown.collect()
}

#[test]
fn hcl_comments_and_nothing_else() {
    let text = "\
# sqslint: ignore-file[a] why
resource \"q\" \"r\" { // sqslint: ignore[b]
  /* sqslint: ignore[c]
   * sqslint: ignore[d]
   */
  x = 1
  y = 2 # sqslint: ignore[e]
  text = \"# sqslint: ignore[no]\"
  here = <<-EOT
    # sqslint: ignore[no]
  EOT
  tags = {
    # sqslint: ignore[f]
    a = 1
  }
} # sqslint: ignore[g]
";
    let expected = [
        "^ignore-file[a] why «resource \"q\" \"r\" { // sqslint: ignore[b]…}»",
        "ignore[b] «resource \"q\" \"r\" { // sqslint: ignore[b]…}»",
        "ignore[c] «x = 1»",
        "ignore[d] «x = 1»",
        "ignore[e] «y = 2 # sqslint: ignore[e]»",
        "ignore[f] «a = 1»",
        "ignore[g] «»",
    ];
    let expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
    let seen = covered("main.tf", text);
    let seen: Vec<String> = seen
        .into_iter()
        .map(|line| line.replace(" # sqslint: ignore[g]»", "»"))
        .collect();
    assert_eq!(seen, expected);
    assert_eq!(covered("main.tf", &text.replace('\n', "\r\n")).len(), expected.len());
}

#[test]
fn yaml_comments_and_nothing_else() {
    let text = "\
# sqslint: ignore-file[a] why
---
Resources:
  # sqslint: ignore[b]
  # more
  Q:
    Type: AWS::SQS::Queue # sqslint: ignore[c]
    Properties: # sqslint: ignore[d]
      Name: '# sqslint: ignore[no]'
      Text: |
        # sqslint: ignore[no]
        x
      Tags:
        # sqslint: ignore[e]
        - Key: a
          Value: b # sqslint: ignore[f]
        - {Key: c, Value: d} # sqslint: ignore[g]
# sqslint: ignore[h]
";
    let expected = [
        "^ignore-file[a] why «Resources:…- {Key: c, Value: d}»",
        "ignore[b] «Q:…- {Key: c, Value: d}»",
        "ignore[c] «Type: AWS::SQS::Queue»",
        "ignore[d] «Properties: # sqslint: ignore[d]…- {Key: c, Value: d}»",
        "ignore[e] «Key: a…Value: b»",
        "ignore[f] «Value: b»",
        "ignore[g] «{Key: c, Value: d}»",
        "ignore[h] «»",
    ];
    assert_eq!(covered("template.yaml", text), expected);
    assert_eq!(
        covered("template.yaml", &text.replace('\n', "\r\n")).len(),
        expected.len()
    );
}

#[test]
fn metadata_of_resources_and_templates() {
    let yaml = "\
Metadata:
  sqslint:
    ignore:
      - {rule: a, reason: why, until: 2027-03-31}
Resources:
  Q:
    Metadata: {sqslint: {ignore: [{rule: [b, c]}, nonsense]}}
    Type: AWS::SQS::Queue
";
    let q = "«Q:…Type: AWS::SQS::Queue»".to_owned();
    let expected = [
        "a 2027-03-31 why «*»".to_owned(),
        format!("b+c - - {q}"),
        format!(" - - {q}"),
    ];
    assert_eq!(covered("template.yaml", yaml), expected);
    let json = r#"{"Resources": {"Q": {"Metadata": {"sqslint": {"ignore": {"rule": "a", "until": 2027}}}}}}"#;
    let q = r#""Q": {"Metadata": {"sqslint": {"ignore": {"rule": "a", "until": 2027}}}}"#;
    assert_eq!(covered("template.json", json), [format!("a 2027 - «{q}»")]);
}

#[test]
fn entries_of_terraform_json() {
    let text = r#"{"//": "sqslint: ignore-file[a]",
"resource": {"t": {"n": {"//": ["note", "sqslint: ignore[b] \u00e4"],
"x": "sqslint: ignore[no]"},
"m": [{"//": "sqslint: ignore[c]"},
{"y": 1}]}}}"#;
    let expected = [
        "^ignore-file[a] «*»",
        "ignore[b] ä «\"n\": {\"//\": [\"note\", \"sqslint: ignore[b] \\u00e4\"],…\"x\": \"sqslint: ignore[no]\"}»",
        "ignore[c] «{\"//\": \"sqslint: ignore[c]\"}»",
    ];
    assert_eq!(covered("main.tf.json", text), expected);
}

#[test]
fn broken_files_do_no_harm() {
    for name in ["a.tf", "a.tf.json", "a.yaml", "a.json"] {
        for text in [
            "# sqslint",
            "{\"sqslint",
            "/* sqslint: ignore[",
            "a: [sqslint\n # sqslint: ignore[a",
            "é\u{0} # sqslint: é[",
        ] {
            covered(name, text);
        }
    }
}
