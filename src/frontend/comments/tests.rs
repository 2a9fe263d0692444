//! Coverage of suppressions, form by form. In the expectations `«»` means nothing and `«*»` the whole file.
#![allow(clippy::unwrap_used)]

use super::suppressions;
use crate::suppress::{Content, Coverage};
use source::Sources;
use std::path::Path;

/// Renders each suppression of `text`: its content, and the first and last line of what it covers.
fn covered(name: &str, text: &str) -> Vec<String> {
    let sources = Sources::default();
    sources.add(Path::new(name), text);
    let found = suppressions(&sources);
    let shown = found.iter().map(|written| {
        let stated = match &written.content {
            Content::Text(text) => text.trim().to_owned(),
            Content::Fields(fields) => format!(
                "{} {} {}",
                fields.rules.join("+"),
                fields.until.as_deref().unwrap_or("-"),
                fields.reason.as_deref().unwrap_or("-")
            ),
        };
        let cover = match written.covers {
            Coverage::Nothing => String::new(),
            Coverage::File => "*".to_owned(),
            Coverage::Span(span) => {
                let text = sources.text(span);
                let mut lines = text.lines().map(str::trim);
                let first = lines.next().unwrap_or("");
                lines
                    .next_back()
                    .map_or(first.to_owned(), |last| format!("{first}…{last}"))
            }
        };
        let leading = if written.leading { "^" } else { "" };
        format!("{leading}{stated} «{cover}»")
    });
    shown.collect()
}

#[test]
fn hcl_suppressions_are_found_only_in_comments() {
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
fn yaml_suppressions_are_found_only_in_comments() {
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
fn suppressions_in_metadata_are_found() {
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
fn suppressions_in_terraform_json_are_found() {
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
fn broken_files_do_not_panic() {
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

/// Removes the `nth` suppression from `text`, or only `name` from it.
fn without(file: &str, text: &str, nth: usize, name: Option<&str>) -> Option<String> {
    let sources = Sources::default();
    sources.add(Path::new(file), text);
    let written = suppressions(&sources).into_iter().nth(nth).unwrap();
    let edit = super::removal(written.span, name, &sources)?;
    let mut text = text.to_owned();
    edit.apply(&mut text);
    Some(text)
}

#[test]
fn removal_deletes_only_the_suppression() {
    let cases = [
        ("a.tf", "x = 1\n# sqslint: ignore[a] why\ny = 2\n", "x = 1\ny = 2\n"),
        ("a.tf", "  // sqslint: ignore[a] why\ny = 2\n", "y = 2\n"),
        ("a.tf", "x = 1 # sqslint: ignore[a] why\ny = 2\n", "x = 1\ny = 2\n"),
        (
            "a.tf",
            "x = 1 # why # sqslint: ignore[a] so\ny = 2\n",
            "x = 1 # why\ny = 2\n",
        ),
        ("a.tf", "/* sqslint: ignore[a] why */\ny = 2\n", "y = 2\n"),
        ("a.tf", "x = 1 /* sqslint: ignore[a] */\n", "x = 1\n"),
        ("a.tf", "x = /* sqslint: ignore[a] */ 1\n", "x = 1\n"),
        (
            "a.tf",
            "/*\n * sqslint: ignore[a]\n * more\n */\ny = 2\n",
            "/*\n * more\n */\ny = 2\n",
        ),
        (
            "a.tf",
            "/* sqslint: ignore[a]\n * more */\ny = 2\n",
            "/*\n * more */\ny = 2\n",
        ),
        (
            "a.tf",
            "/* more\n * sqslint: ignore[a] */\ny = 2\n",
            "/* more\n */\ny = 2\n",
        ),
        ("a.tf", "x = 1\n# sqslint: ignore[a]", "x = 1\n"),
        ("a.tf", "# sqslint: ignore-file[a] why\r\nx = 1\r\n", "x = 1\r\n"),
        ("a.yaml", "a: 1\n# sqslint: ignore[a] why\nb: 2\n", "a: 1\nb: 2\n"),
        (
            "a.yaml",
            "a: 1 # sqslint: ignore[a] why\r\nb: 2\r\n",
            "a: 1\r\nb: 2\r\n",
        ),
        (
            "a.yaml",
            "a: 1 # so # sqslint: ignore[a] why\nb: 2\n",
            "a: 1 # so\nb: 2\n",
        ),
        ("a.yaml", "\u{feff}# sqslint: ignore-file[a]\nb: 2\n", "\u{feff}b: 2\n"),
        (
            "a.tf.json",
            "{\n  \"//\": \"sqslint: ignore[a] why\",\n  \"locals\": {}\n}\n",
            "{\n  \"locals\": {}\n}\n",
        ),
        (
            "a.tf.json",
            "{\"locals\": {}, \"//\": \"sqslint: ignore[a]\"}",
            "{\"locals\": {}}",
        ),
        (
            "a.tf.json",
            "{\"//\": [\"more\", \"sqslint: ignore[a]\"], \"locals\": {}}",
            "{\"//\": [\"more\"], \"locals\": {}}",
        ),
        (
            "a.tf.json",
            "{\"//\": [\"sqslint: ignore[a]\"], \"locals\": {}}",
            "{\"locals\": {}}",
        ),
        (
            "a.tf.json",
            "{\"//\": \"more # sqslint: ignore[a]\", \"locals\": {}}",
            "{\"//\": \"more\", \"locals\": {}}",
        ),
        (
            "a.yaml",
            "Resources:\n  Q:\n    Type: T\n    Metadata:\n      sqslint:\n        ignore:\n          - rule: a\n            reason: why\n",
            "Resources:\n  Q:\n    Type: T\n",
        ),
        (
            "a.yaml",
            "Metadata:\n  Other: 1\n  sqslint:\n    ignore:\n    - rule: a # so\n    - rule: b\n",
            "Metadata:\n  Other: 1\n  sqslint:\n    ignore:\n    - rule: b\n",
        ),
        (
            "a.yaml",
            "Metadata:\n  sqslint:\n    ignore: {rule: a}\nA: 1\n",
            "A: 1\n",
        ),
        (
            "a.json",
            "{\"Resources\": {\"Q\": {\"Metadata\": {\"sqslint\": {\"ignore\": [{\"rule\": \"a\"}]}}, \"Type\": \"T\"}}}",
            "{\"Resources\": {\"Q\": {\"Type\": \"T\"}}}",
        ),
        (
            "a.json",
            "{\n  \"Metadata\": {\n    \"sqslint\": {\n      \"ignore\": [\n        { \"rule\": \"a\" },\n        { \"rule\": \"b\" }\n      ]\n    }\n  }\n}\n",
            "{\n  \"Metadata\": {\n    \"sqslint\": {\n      \"ignore\": [\n        { \"rule\": \"b\" }\n      ]\n    }\n  }\n}\n",
        ),
    ];
    for (file, text, expected) in cases {
        assert_eq!(without(file, text, 0, None).as_deref(), Some(expected), "{text}");
        assert_eq!(without(file, text, 0, Some("a")).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn removal_deletes_one_of_several_names() {
    let cases = [
        ("a.tf", "# sqslint: ignore[a, b] why\n", "# sqslint: ignore[b] why\n"),
        ("a.tf", "# sqslint: ignore[b, a] why\n", "# sqslint: ignore[b] why\n"),
        (
            "a.tf",
            "# sqslint: ignore[ b a c ] why\n",
            "# sqslint: ignore[ b c ] why\n",
        ),
        (
            "a.yaml",
            "# sqslint: ignore[b, a until=2030-01-01] why\n",
            "# sqslint: ignore[b until=2030-01-01] why\n",
        ),
        ("a.yaml", "# sqslint: ignore[a until=2030-01-01] why\nb: 1\n", "b: 1\n"),
        (
            "a.yaml",
            "# sqslint: ignore[aa, a]\nb: 1\n",
            "# sqslint: ignore[aa]\nb: 1\n",
        ),
        (
            "a.tf.json",
            "{\"//\": \"sqslint: ignore[a,b]\"}",
            "{\"//\": \"sqslint: ignore[b]\"}",
        ),
        (
            "a.json",
            "{\"Metadata\": {\"sqslint\": {\"ignore\": [{\"rule\": [\"a\", \"b\"]}]}}}",
            "{\"Metadata\": {\"sqslint\": {\"ignore\": [{\"rule\": [\"b\"]}]}}}",
        ),
        (
            "a.yaml",
            "Metadata:\n  sqslint:\n    ignore:\n      - rules:\n          - b\n          - a\n",
            "Metadata:\n  sqslint:\n    ignore:\n      - rules:\n          - b\n",
        ),
    ];
    for (file, text, expected) in cases {
        assert_eq!(without(file, text, 0, Some("a")).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn removal_returns_valid_ranges_for_any_text() {
    let texts = [
        (
            "a.tf",
            "x = 1 /* é\n * sqslint: ignore[a, b until=2030-01-01] é\n */ # sqslint: ignore[a",
        ),
        (
            "a.yaml",
            "a: é # so # sqslint: ignore[a, é b]\n# sqslint: ignore[]\nMetadata: {sqslint: {ignore: [{rule: a}]}}",
        ),
        (
            "a.tf.json",
            "{\"//\": [\"é # sqslint: ignore[a]\", \"sqslint: \\\\u0069gnore[a]\"]}",
        ),
    ];
    for (name, text) in texts {
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let sources = Sources::default();
            let file = sources.add(Path::new(name), &text[..end]);
            for start in 0..=end {
                for stop in [start, start + 1, start + 9, end] {
                    for requested in [None, Some("a"), Some("é"), Some("")] {
                        let span = source::Span::new(file, start..stop);
                        if let Some(edit) = super::removal(span, requested, &sources) {
                            assert!(text[..end].get(edit.span.range()).is_some(), "{text} {edit:?}");
                        }
                    }
                }
            }
        }
    }
}
