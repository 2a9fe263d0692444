//! Trees, spans, types, merge keys and bounds.

#![allow(clippy::unwrap_used)]
use super::*;
use source::Sources;
use std::path::Path;

fn read(text: &str) -> Parsed {
    let sources = Sources::default();
    let file = sources.add(Path::new("t.yaml"), text);
    parse(text, file)
}

fn one(text: &str) -> Node {
    let mut parsed = read(text);
    assert_eq!(parsed.errors, [], "{text}");
    assert_eq!(parsed.limits, [], "{text}");
    assert_eq!(parsed.documents.len(), 1, "{text}");
    parsed.documents.remove(0)
}

/// Renders a node as JSON, with `Debug` numbers.
fn show(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::String(text) => format!("{text:?}"),
        Value::Sequence(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", ")),
        Value::Mapping(entries) => {
            let entries = entries.iter().map(|e| format!("{}: {}", e.key, show(&e.value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns the text under each span, depth first: a node, then for each entry its key (after `@`) and its value.
fn spans(text: &str, node: &Node) -> Vec<String> {
    let mut all = vec![text[node.span.range()].to_owned()];
    for item in node.items().unwrap_or_default() {
        all.extend(spans(text, item));
    }
    for entry in node.entries().unwrap_or_default() {
        all.push(format!("@{}", &text[entry.key_span.range()]));
        all.extend(spans(text, &entry.value));
    }
    all
}

#[test]
fn spans_cover_the_written_text() {
    let cases: &[(&str, &[&str])] = &[
        ("a: 1\nb: 'x'\n", &["a: 1\nb: 'x'", "@a", "1", "@b", "'x'"]),
        (
            "a:\n  - x  # why\n  - y\n\nb: c\n",
            &[
                "a:\n  - x  # why\n  - y\n\nb: c",
                "@a",
                "x  # why\n  - y",
                "x",
                "y",
                "@b",
                "c",
            ],
        ),
        ("\u{feff}ä: {ö: 1}\n", &["ä: {ö: 1}", "@ä", "{ö: 1}", "@ö", "1"]),
        ("a: !Ref q\n", &["a: !Ref q", "@a", "!Ref q", "@!Ref", "q"]),
        (
            "a: !Sub\n  - x\n  - {}\nb: c",
            &[
                "a: !Sub\n  - x\n  - {}\nb: c",
                "@a",
                "!Sub\n  - x\n  - {}",
                "@!Sub",
                "x\n  - {}",
                "x",
                "{}",
                "@b",
                "c",
            ],
        ),
        (
            "a: |\n  one\n  two\n\nb:\n  c:\n",
            &["a: |\n  one\n  two\n\nb:\n  c", "@a", "one\n  two", "@b", "c", "@c", ""],
        ),
        (
            "a: !!str 012\r\nb:\r\n",
            &["a: !!str 012\r\nb", "@a", "!!str 012", "@b", ""],
        ),
        (
            "a: 'x\nshort'\nb: \"y\n z\"\n",
            &["a: 'x\nshort'\nb: \"y\n z\"", "@a", "'x\nshort'", "@b", "\"y\n z\""],
        ),
        (
            "x: &a [1]\ny: *a\n",
            &["x: &a [1]\ny: *a", "@x", "[1]", "1", "@y", "*a", "1"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(spans(text, &one(text)), *expected, "{text}");
    }
}

#[test]
fn documents_are_parsed_by_yaml_1_1() {
    let cases = [
        ("a: !GetAtt q.Arn", r#"{a: {Fn::GetAtt: "q.Arn"}}"#),
        ("a: !Condition c", r#"{a: {Condition: "c"}}"#),
        ("a: !If [c, !Ref x, 12]", r#"{a: {Fn::If: ["c", {Ref: "x"}, 12]}}"#),
        ("a: !Sub 10", r#"{a: {Fn::Sub: "10"}}"#),
        ("a: !Ref", "{a: {Ref: null}}"),
        ("a: ! 12", r#"{a: "12"}"#),
        ("a: !!int '12'", "{a: 12}"),
        ("12: x\nyes: z\n~: n", r#"{12: "x", yes: "z", ~: "n"}"#),
        ("a: 1\nb: 2\na: 3", "{b: 2, a: 3}"),
        (
            "x: &x {a: 1, b: 2}\ny: {b: 3, <<: *x}",
            "{x: {a: 1, b: 2}, y: {b: 3, a: 1}}",
        ),
        ("y: {<<: [{a: 1}, {a: 2, b: 2}], c: 3}", "{y: {c: 3, a: 1, b: 2}}"),
        ("y: {'<<': 1}", "{y: {<<: 1}}"),
        ("a: >-\n  one\n  two\n", r#"{a: "one two"}"#),
        ("a: 'x\n\n y\nz'", r#"{a: "x\ny z"}"#),
        ("&k a: *k", r#"{a: "a"}"#),
        ("- \n- a\n", r#"[null, "a"]"#),
    ];
    for (text, expected) in cases {
        assert_eq!(show(&one(text)), expected, "{text}");
    }
}

#[test]
fn broken_document_does_not_affect_the_others() {
    let parsed = read("a: 1\n---\nb: [1\n---\nc: 3\n");
    let shown: Vec<_> = parsed.documents.iter().map(show).collect();
    assert_eq!(shown, ["{a: 1}", "{c: 3}"]);
    assert_eq!(parsed.errors.len(), 1);
}

#[test]
fn placeholders_of_other_tools_are_named() {
    for (text, token) in [("a: %name%\n", "%name%"), ("a: {b: @env.name@}\n", "@env.name@")] {
        let errors = read(text).errors;
        assert_eq!(errors.len(), 1, "{text}");
        assert!(
            errors[0].message.starts_with(&format!("`{token}` is not YAML")),
            "{errors:?}"
        );
    }
    for text in ["a: %\n", "a: %name\n", "a: @\n", "a: %%\n", "a: %é", "a: @name%\n"] {
        assert!(!read(text).errors[0].message.contains("placeholder"), "{text}");
    }
}

#[test]
fn unknown_aliases_are_errors_and_stay_unresolved() {
    let parsed = read("a: *nothing\nb: &b [*b]\n<<: *c\n");
    assert_eq!(parsed.errors.len(), 3);
    assert_eq!(
        show(&parsed.documents[0]),
        r#"{a: {Fn::UnknownAlias: "*nothing"}, b: [{Fn::UnknownAlias: "*b"}]}"#
    );
}

#[test]
fn repeated_keys_are_recorded() {
    let text = "a: 1\na: 2\n";
    let parsed = read(text);
    assert_eq!(parsed.duplicates.len(), 1);
    assert_eq!(parsed.duplicates[0].map(source::Span::range)[0], 0..1);
}

#[test]
fn placeholder_of_a_template_engine_is_an_unknown_value() {
    for (text, is_unknown) in [
        ("a: {{ b }}\nc: 1\n", true),
        ("a: {{b.c}}\nc: 1\n", true),
        ("a: {b: {c: 1}}\nc: 1\n", false),
        ("a: \"{{ b }}\"\nc: 1\n", false),
    ] {
        let parsed = read(text);
        let value = parsed.documents[0].get("a").unwrap();
        assert_eq!(value.get("Fn::UnknownAlias").is_some(), is_unknown, "{text}");
        assert_eq!(parsed.errors.is_empty(), !is_unknown, "{text}");
    }
}

#[test]
fn exceeded_bounds_are_reported_as_limits() {
    let bomb: String = (0..9)
        .map(|level| {
            let inside = if level == 0 {
                "x".to_owned()
            } else {
                format!("*a{}", level - 1)
            };
            format!("a{level}: &a{level} [{}]\n", vec![inside; 9].join(", "))
        })
        .collect();
    for text in [
        bomb,
        "[".repeat(100_000),
        "- ".repeat(100_000),
        "{a: ".repeat(1000),
        "!Sub [".repeat(200) + &"]".repeat(200),
    ] {
        assert!(!read(&text).limits.is_empty());
    }
}

#[test]
fn dash_is_a_scalar_in_flow_collections() {
    let items = |text: &str| {
        let parsed = read(text);
        assert_eq!(parsed.errors, vec![], "{text}");
        let root = &parsed.documents[0];
        let list = root.get("a").unwrap();
        let shown = |node: &Node| {
            (
                node.as_str().unwrap_or("?").to_owned(),
                text[node.span.range()].to_owned(),
            )
        };
        let values = list.entries().unwrap_or_default().iter().map(|entry| &entry.value);
        list.items()
            .unwrap_or_default()
            .iter()
            .chain(values)
            .map(shown)
            .collect::<Vec<_>>()
    };
    let same = |all: &[&str]| {
        all.iter()
            .map(|one| ((*one).to_owned(), (*one).to_owned()))
            .collect::<Vec<_>>()
    };
    for (text, expected) in [
        ("a: [ -, x ]", same(&["-", "x"])),
        ("a: [-]", same(&["-"])),
        ("a: [x, -, _, -]", same(&["x", "-", "_", "-"])),
        ("a: {b: -, c: -}", same(&["-", "-"])),
        (
            "\u{feff}a: ['é', -, x]\nb: -,",
            vec![
                ("é".into(), "'é'".into()),
                ("-".into(), "-".into()),
                ("x".into(), "x".into()),
            ],
        ),
        ("a: ['b\nc', -, 'd\ne', -]", {
            let lines = [("b c", "'b\nc'"), ("-", "-"), ("d e", "'d\ne'"), ("-", "-")];
            lines.map(|(value, written)| (value.into(), written.into())).to_vec()
        }),
        ("a: [-x, -y]", same(&["-x", "-y"])),
    ] {
        assert_eq!(items(text), expected, "{text}");
    }
    // Real templates have hundreds of dashes. PyYAML rejects the three texts below.
    assert_eq!(items(&format!("a: [{}-]", "-, ".repeat(300))).len(), 301);
    for text in ["a: [ - , x ]", "a: [- x]", "a: [-[x]]"] {
        assert!(!read(text).errors.is_empty(), "{text}");
    }
    let endless = format!("a: [{}-]", "-, ".repeat(50_000));
    assert_eq!(read(&endless).errors.len(), 1);
}

#[test]
fn repairs_of_short_lines_are_bounded() {
    let text = format!("a: '{}'\n", "\nx".repeat(1000));
    assert_eq!(read(&text).errors.len(), 1);
}

#[test]
fn damaged_yaml_does_not_panic() {
    let text = "\u{feff}%YAML 1.1\n---\nA: &a {x: 1, 'y': \"é\\n\", [k]: v}\nR:\n  <<: [*a, {z: !Ref ö}]\n  P: !Sub\n    - |\n      ${x}\n\n    - ? q\n      : >-\n        w\n  L: 'a\nb'\n  T: !GetAtt Q.Arn\n  I: !If [C, 012, !Ref 'AWS::NoValue']\n  N:\n...\n---\n- - !!int '3'\n  - ~\n# end\n";
    let sources = Sources::default();
    super::super::hostile::maul(text, sources.add(Path::new("t.yaml"), text), parse);
}
