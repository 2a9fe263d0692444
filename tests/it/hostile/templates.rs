//! Checks templates that would grow, nest or refer to themselves endlessly: each must terminate, and report a limit.

use crate::inputs::check;
use sqslint::testing::TemporaryDirectory;

/// Returns the rules of the findings in `text`, which takes about a second on any machine.
fn tool_findings(name: &str, text: &str) -> Vec<String> {
    let directory = TemporaryDirectory::with_files([(name, text)]);
    let started = std::time::Instant::now();
    let outcome = check(&directory.path().join(name));
    // Without a bound it would be hours; debug builds on a busy machine need seconds.
    assert!(
        started.elapsed() < std::time::Duration::from_mins(1),
        "{:?}",
        started.elapsed()
    );
    let found = outcome.findings.iter().map(|found| &*found.rule);
    found
        .filter(|rule| matches!(*rule, "parse-error" | "limit-reached"))
        .map(str::to_owned)
        .collect()
}

const EXTENDED: &str = "AWSTemplateFormatVersion: '2010-09-09'\nTransform: AWS::LanguageExtensions\n";

#[test]
fn billion_aliased_nodes_reach_the_limit() {
    let mut text = EXTENDED.to_owned();
    text.push_str("Metadata:\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let below = vec![format!("*a{}", level - 1); 9].join(", ");
        text.push_str(&format!("  a{level}: &a{level} [{below}]\n"));
    }
    text.push_str("Resources: {Q: {Type: AWS::SQS::Queue}}\n");
    assert_eq!(tool_findings("t.yaml", &text), ["limit-reached"]);
}

#[test]
fn ten_thousand_levels_reach_the_limit() {
    let (open, close) = ("[".repeat(10_000), "]".repeat(10_000));
    let text = format!("{EXTENDED}Metadata: {open}{close}\nResources: {{Q: {{Type: AWS::SQS::Queue}}}}\n");
    assert_eq!(tool_findings("t.yaml", &text), ["limit-reached"]);
    let text = format!(
        r#"{{"AWSTemplateFormatVersion": "2010-09-09", "Metadata": {open}{close}, "Resources": {{"Q": {{"Type": "AWS::SQS::Queue"}}}}}}"#
    );
    assert_eq!(tool_findings("t.json", &text), ["limit-reached"]);
    let mut text = EXTENDED.to_owned();
    for level in 0..3_000 {
        text.push_str(&format!("{:level$}a:\n", ""));
    }
    assert_eq!(tool_findings("t.yaml", &text), ["limit-reached"]);
}

#[test]
fn loops_with_too_many_iterations_reach_the_limit() {
    let items = |count: usize| (0..count).map(|at| format!("i{at}")).collect::<Vec<_>>().join(", ");
    let one = format!(
        "{EXTENDED}Resources:\n  Fn::ForEach::Q: [N, [{}], {{'Q${{N}}': {{Type: AWS::SQS::Queue}}}}]\n",
        items(10_000)
    );
    assert_eq!(tool_findings("t.yaml", &one), ["limit-reached"]);
    let inner = format!(
        "Fn::ForEach::I: [J, [{}], {{'Q${{N}}${{J}}': {{Type: AWS::SQS::Queue}}}}]",
        items(300)
    );
    let product = format!(
        "{EXTENDED}Resources:\n  Fn::ForEach::Q: [N, [{}], {{{inner}}}]\n",
        items(300)
    );
    assert_eq!(tool_findings("t.yaml", &product), ["limit-reached"]);
    let mut deep = "'Q${A}': {Type: AWS::SQS::Queue}".to_owned();
    for level in 0..40 {
        deep = format!("Fn::ForEach::L{level}: [V{level}, [a, b], {{{deep}}}]");
    }
    assert_eq!(
        tool_findings("t.yaml", &format!("{EXTENDED}Resources:\n  {deep}\n")),
        ["limit-reached"]
    );
}

#[test]
fn repeatedly_doubled_strings_reach_the_limit() {
    // A document cannot have a hundred nested levels of `Fn::Sub`.
    let nested = |levels: usize, mentions: &str| {
        let mut text = "!Ref A".to_owned();
        for _ in 0..levels {
            text = format!("!Sub ['{mentions}', {{a: {text}}}]");
        }
        format!(
            "{EXTENDED}Parameters: {{A: {{Type: String, Default: xy}}}}\nResources: {{Q: {{Type: AWS::SQS::Queue, Properties: {{QueueName: {text}}}}}}}\n"
        )
    };
    assert_eq!(tool_findings("t.yaml", &nested(60, "${a}")), [""; 0]);
    assert_eq!(tool_findings("t.yaml", &nested(60, "${a}${a}")), ["limit-reached"]);
    assert_eq!(tool_findings("t.yaml", &nested(100, "${a}${a}")), ["limit-reached"]);
    let mut json = "!Ref A".to_owned();
    for _ in 0..40 {
        json = format!("!Join ['', [{{Fn::ToJsonString: [{json}, 1]}}, '\"\\\"']]");
    }
    let json = format!(
        "{EXTENDED}Parameters: {{A: {{Type: String, Default: '\"'}}}}\nResources: {{Q: {{Type: AWS::SQS::Queue, Properties: {{QueueName: {json}}}}}}}\n"
    );
    assert_eq!(tool_findings("t.yaml", &json), ["limit-reached"]);
}

#[test]
fn self_references_terminate() {
    for text in [
        "Mappings: {M: {a: {b: !FindInMap [M, a, b], c: [!FindInMap [M, a, c]]}}}\nResources: {Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !FindInMap [M, a, b], DelaySeconds: !Join ['', !FindInMap [M, a, c]]}}}\n",
        "Parameters: {P: {Type: String, Default: !Ref P}}\nResources: {Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !Ref P}}}\n",
        "Resources: {Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !GetAtt Q.QueueName, RedrivePolicy: {deadLetterTargetArn: !GetAtt Q.Arn, maxReceiveCount: 1}}}}\n",
        "Resources:\n  A: {Type: AWS::Lambda::Alias, Properties: {FunctionName: !Ref B}}\n  B: {Type: AWS::Lambda::Alias, Properties: {FunctionName: !Ref A}}\n  M: {Type: AWS::Lambda::EventSourceMapping, Properties: {FunctionName: !Ref A, EventSourceArn: !Sub '${M}'}}\n",
        "Parameters: {L: {Type: CommaDelimitedList, Default: a}}\nResources:\n  Fn::ForEach::X: [N, !Ref N, {'Q${N}': {Type: AWS::SQS::Queue}}]\n",
    ] {
        assert_eq!(tool_findings("t.yaml", &format!("{EXTENDED}{text}")), [""; 0], "{text}");
    }
    // Conditions that refer to each other.
    let text = format!(
        "{EXTENDED}Conditions: {{A: !Not [!Condition B], B: !Not [!Condition A]}}\nResources: {{Q: {{Type: AWS::SQS::Queue, Condition: A}}}}\n"
    );
    tool_findings("t.yaml", &text);
}

#[test]
fn wide_templates_take_linear_time() {
    // One string with very many references to a long value, and very many strings with references to it.
    let value = "v".repeat(4_000);
    let names = "${A}".repeat(20_000);
    let text = format!(
        "{EXTENDED}Parameters: {{A: {{Type: String, Default: {value}}}}}\nResources: {{Q: {{Type: AWS::SQS::Queue, Properties: {{QueueName: !Sub '{names}'}}}}}}\n"
    );
    assert_eq!(tool_findings("t.yaml", &text), ["limit-reached"]);
    let mut many = format!("{EXTENDED}Parameters: {{A: {{Type: String, Default: {value}}}}}\nResources:\n");
    for at in 0..2_000 {
        many.push_str(&format!(
            "  Q{at}: {{Type: AWS::SQS::Queue, Properties: {{QueueName: !Sub '{at}-{}'}}}}\n",
            "${A}".repeat(100)
        ));
    }
    tool_findings("t.yaml", &many);
}

#[test]
fn nested_lookups_terminate() {
    let keys: Vec<String> = (0..8).map(|at| format!("k{at}")).collect();
    let row = |value: &str| {
        keys.iter()
            .map(|key| format!("{key}: {value}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mapping = format!("{{{}}}", row(&format!("{{{}}}", row("k1"))));
    let mut text = EXTENDED.to_owned();
    text.push_str(&format!("Mappings: {{M: {mapping}}}\nParameters:\n"));
    let mut look_up = "k1".to_owned();
    for at in 0..12 {
        text.push_str(&format!("  P{at}: {{Type: String}}\n"));
        look_up = format!("!FindInMap [M, !Ref P{at}, {look_up}]");
    }
    text.push_str(&format!(
        "Resources: {{Q: {{Type: AWS::SQS::Queue, Properties: {{QueueName: {look_up}}}}}}}\n"
    ));
    tool_findings("t.yaml", &text);
    let sides: String = (0..40).map(|at| format!("${{P{at}}}")).collect();
    let mut text = EXTENDED.to_owned();
    text.push_str("Parameters:\n");
    for at in 0..40 {
        text.push_str(&format!("  P{at}: {{Type: String, AllowedValues: [a, b, c, d]}}\n"));
    }
    text.push_str("Resources:\n");
    for at in 0..40 {
        text.push_str(&format!(
            "  Q{at}: {{Type: AWS::SQS::Queue, Properties: {{QueueName: !Sub '{sides}'}}}}\n"
        ));
    }
    tool_findings("t.yaml", &text);
}

#[test]
fn values_with_too_many_cases_are_unresolved() {
    // Each of ten parameters has one of ten keys, and the value depends on all of them.
    let all = |line: &dyn Fn(usize) -> String| (0..10).map(line).collect::<String>();
    let keys = |at: usize| all(&|key| format!("k{key}: {{t: {}}}, ", 30 + 10 * at + key));
    let mut value = "30".to_owned();
    for at in (0..10).rev() {
        value = format!("!If [C{at}, !FindInMap [M{at}, !Ref P{}, t], {value}]", (at + 1) % 10);
    }
    let text = format!(
        "AWSTemplateFormatVersion: '2010-09-09'\nMappings:\n{}Parameters:\n{}Conditions:\n{}Resources: {{Q: {{Type: AWS::SQS::Queue, Properties: {{VisibilityTimeout: {value}}}}}}}\n",
        all(&|at| format!("  M{at}: {{{}}}\n", keys(at))),
        all(&|at| format!("  P{at}: {{Type: String}}\n")),
        all(&|at| format!("  C{at}: !Equals [!Ref P{at}, k0]\n")),
    );
    assert_eq!(tool_findings("t.yaml", &text), [""; 0]);
}
