//! Checks the evaluation of intrinsic functions. Each expression is the name of a queue; the result is the name, or the
//! reason why it is unresolved.

use crate::inputs::check_files;
use serde_json::Value;
use sqslint::testing::graph_json;

const HEAD: &str = r#"AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Env: {Type: String, Default: dev}
  Map: {Type: String, Default: M}
  One: {Type: Number, Default: 1}
  Open: {Type: String}
  L: {Type: CommaDelimitedList, Default: "a, b"}
  Switch: {Type: String, AllowedValues: ["on", "off"]}
Mappings:
  M: {dev: {k: x, "1": y, l: [p, q]}, prod: {k: z, "1": y, l: [r]}}
  Odd: {dev: {k: [{Ref: Env}], m: [!FindInMap [Odd, dev, m]]}}
Conditions:
  S: !Equals [!Ref Switch, "on"]
"#;

/// Evaluates `expressions` in a template that begins with `head`.
fn names(head: &str, expressions: &[&str]) -> Vec<String> {
    let mut text =
        format!("{head}Resources:\n  V: {{Type: 'AWS::Lambda::Version', Properties: {{FunctionName: f}}}}\n");
    for (at, expression) in expressions.iter().enumerate() {
        text.push_str(&format!(
            "  Q{at:03}: {{Type: 'AWS::SQS::Queue', Properties: {{QueueName: {expression}}}}}\n"
        ));
    }
    let outcome = check_files([("t.yaml", text.as_str())]);
    let problems: Vec<_> = outcome
        .findings
        .iter()
        .filter(|f| matches!(&*f.rule, "parse-error" | "limit-reached"))
        .collect();
    assert!(problems.is_empty(), "{problems:?}");
    let document: Value = serde_json::from_str(&graph_json(&outcome.graph, &outcome.sources)).unwrap();
    let queues = document["queues"].as_array().unwrap();
    assert_eq!(queues.len(), expressions.len());
    queues.iter().map(|queue| shown(&queue["name"])).collect()
}

fn shown(value: &Value) -> String {
    if let Some(cases) = value["one_of"].as_array() {
        let case = |case: &Value| format!("{} when {}", shown(&case["value"]), case["when"].as_str().unwrap());
        return cases.iter().map(case).collect::<Vec<_>>().join("; ");
    }
    match (value.as_str(), value["unresolved"].as_str()) {
        (Some(text), _) => text.to_owned(),
        (_, Some(reason)) => format!("? {reason}"),
        _ => value.to_string(),
    }
}

fn expect(head: &str, cases: &[(&str, &str)]) {
    let expressions: Vec<&str> = cases.iter().map(|(expression, _)| *expression).collect();
    let wrong: Vec<String> = names(head, &expressions)
        .iter()
        .zip(cases)
        .filter(|(found, (_, expected))| *found != expected)
        .map(|(found, (expression, expected))| format!("{expression}\n  expected {expected}\n  found    {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A limit of one value is no finding, because the value may be irrelevant to queues.
#[test]
fn value_of_too_many_cases_is_unresolved() {
    let switches: String = ('A'..='G')
        .map(|name| format!("  {name}: {{Type: String, AllowedValues: [x, y]}}\n"))
        .collect();
    expect(
        &format!("Parameters:\n{switches}"),
        &[(
            "!Sub '${A}${B}${C}${D}${E}${F}${G}'",
            "? too many combinations of conditions",
        )],
    );
}

#[test]
fn string_functions_are_evaluated() {
    expect(
        HEAD,
        &[
            ("!Sub '${Env}-${!Env}-q'", "dev-${Env}-q"),
            ("!Sub ['${a}-${a}-${Env}', {a: !Ref One}]", "1-1-dev"),
            ("!Sub ['${Env}', {Env: own}]", "own"),
            ("!Sub ['${ a }', {a: !Join ['', [x, !Sub '${Env}']]}]", "xdev"),
            ("!Sub '${Env'", "${Env"),
            (
                "!Join ['-', [a, !Ref One, !Ref 'AWS::NoValue', !If [S, b, !Ref 'AWS::NoValue']]]",
                "a-1-b when S; a-1 when not S",
            ),
            ("!Join ['', !Ref L]", "ab"),
            ("!Join ['.', !Split ['-', a-b-c]]", "a.b.c"),
            ("!Select ['1', !Ref L]", "b"),
            ("!Select [!Ref One, [x, y]]", "y"),
            ("!Select [!If [S, 0, 1], [x, y]]", "x when S; y when not S"),
            ("!Select [0, !If [S, [x], !Ref L]]", "x when S; a when not S"),
            (
                "!Select [2, !Split ['/', !Ref 'AWS::StackId']]",
                "? `AWS::StackId` is known only at deployment",
            ),
            ("!Select [0, !Split ['-', !Select [1, !Split ['/', 'a/b-c']]]]", "b"),
            ("!Select [1, !Cidr [10.0.0.0/16, 2, 8]]", "10.0.1.0/24"),
            ("{Fn::Base64: !Sub 'f${Env}'}", "ZmRldg=="),
            (
                "'a-{{resolve:ssm:/x}}'",
                "? `{{resolve:…}}` values are known only at deployment",
            ),
            (
                "!Sub '{{resolve:ssm:/${Env}/x}}'",
                "? `{{resolve:…}}` values are known only at deployment",
            ),
            (
                "!Join ['', ['{{resolve:', 'ssm:/x}}']]",
                "? `{{resolve:…}}` values are known only at deployment",
            ),
            (
                "!ImportValue {Fn::Sub: '${Env}-q'}",
                "? no template that is read exports `dev-q`",
            ),
        ],
    );
}

#[test]
fn mappings_and_conditions_are_evaluated() {
    expect(
        HEAD,
        &[
            ("!FindInMap [M, prod, k]", "z"),
            ("!FindInMap [!Ref Map, dev, k]", "x"),
            ("!FindInMap [M, prod, nothing]", "? mapping `M` has no `nothing`"),
            ("!FindInMap [N, dev, k]", "? mapping `N` is not declared"),
            ("!Select [1, !FindInMap [M, dev, l]]", "q"),
            (
                "!FindInMap [Odd, dev, k]",
                "? mappings hold only strings and lists of strings",
            ),
            (
                "!FindInMap [Odd, dev, m]",
                "? mappings hold only strings and lists of strings",
            ),
            ("!If [S, a, !If [S, b, c]]", "a when S; c when not S"),
            ("!If [S, !Ref 'AWS::NoValue', b]", "null when S; b when not S"),
            ("!If [Missing, a, b]", "? condition `Missing` is not declared"),
        ],
    );
}

#[test]
fn expressions_that_cloudformation_rejects_are_unresolved() {
    expect(
        HEAD,
        &[
            ("!Ref [a]", "? `Ref` takes a name"),
            ("!Ref {Fn::Sub: 'Env'}", "? `Ref` takes a name"),
            ("!GetAtt V", "? `Fn::GetAtt` takes a resource and an attribute"),
            ("!GetAtt [V]", "? `Fn::GetAtt` takes a resource and an attribute"),
            ("!Sub [a]", "? `Fn::Sub` takes a string, or a string and an object"),
            ("!Sub [a, b]", "? `Fn::Sub` takes a string and an object"),
            ("!Sub '${a-b}'", "? `Fn::Sub` does not take the name `a-b`"),
            ("!Sub '${}'", "? `Fn::Sub` does not take the name ``"),
            ("!Sub '${L}'", "? a list is used in a string"),
            (
                "!Sub ['${a}', {a: !Ref 'AWS::NoValue'}]",
                "? `AWS::NoValue` is used in a string",
            ),
            ("!Join [a]", "? `Fn::Join` takes two items"),
            ("!Join [[a], [b]]", "? `Fn::Join` takes a string between the items"),
            ("!Join ['', a]", "? a list is expected here"),
            ("!Join ['', !GetAtt V.Some]", "? `V.Some` is known only at deployment"),
            ("!Split [',', !Ref L]", "? a single value is expected here"),
            (
                "!Select [x, !Ref L]",
                "? the index of `Fn::Select` is not a whole number",
            ),
            ("!Select [2, !Ref L]", "? the list of `Fn::Select` is shorter"),
            ("!Select [0, abc]", "? a list is expected here"),
            ("!If [S, a]", "? `Fn::If` takes three items"),
            ("!FindInMap [M, dev]", "? `Fn::FindInMap` takes three items"),
            (
                "!FindInMap [M, dev, k, {DefaultValue: d}]",
                "? `DefaultValue` needs the transform `AWS::LanguageExtensions`",
            ),
            (
                "{Fn::Length: !Ref L}",
                "? `Fn::Length` needs the transform `AWS::LanguageExtensions`",
            ),
            (
                "{Fn::ToJsonString: {a: 1}}",
                "? `Fn::ToJsonString` needs the transform `AWS::LanguageExtensions`",
            ),
            ("!Equals [a, a]", "? `Fn::Equals` is only allowed in conditions"),
            ("!GetAZs ''", "? availability zones are known only at deployment"),
            (
                "!Select [0, !GetAZs '']",
                "? availability zones are known only at deployment",
            ),
            (
                "!Cidr [a]",
                "? `Fn::Cidr` takes a block, a count and the bits of a range",
            ),
            ("{Fn::New: 1}", "? `Fn::New` is not evaluated"),
        ],
    );
}

#[test]
fn language_extensions_are_evaluated() {
    expect(
        &format!("{HEAD}Transform: AWS::LanguageExtensions\n"),
        &[
            ("!FindInMap [M, none, k, {DefaultValue: !Sub 'd-${Env}'}]", "d-dev"),
            (
                "!FindInMap [!Sub 'M', !Select [0, [prod]], !Join ['', [k]], {DefaultValue: d}]",
                "z",
            ),
            ("!FindInMap [M, !Sub 'prod', k]", "z"),
            (
                "!FindInMap [M, !Ref Open, k, {DefaultValue: d}]",
                "x when Open = dev; z when Open = prod; d when Open != dev, prod",
            ),
            ("!Ref {Fn::Sub: 'Env'}", "dev"),
            ("!Ref {Fn::If: [S, Env, One]}", "dev when S; 1 when not S"),
            ("!Sub ['${n}', {n: {Fn::Length: !Ref L}}]", "2"),
            ("{Fn::Length: [a, b, c]}", "3"),
            ("{Fn::Length: a}", "? a list is expected here"),
            (
                "!Join ['', [{Fn::ToJsonString: {a: 1, b: [true, x, !Ref One], c: !Ref 'AWS::NoValue', d: !Ref L}}]]",
                r#"{"a":1,"b":[true,"x","1"],"d":["a","b"]}"#,
            ),
            (
                "!Sub ['${j}', {j: {Fn::ToJsonString: [!If [S, 'a\"', b]]}}]",
                r#"["a\""] when S; ["b"] when not S"#,
            ),
        ],
    );
}
