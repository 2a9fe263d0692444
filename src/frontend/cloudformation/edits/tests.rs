#![allow(clippy::unwrap_used)]

mod corpus;

use crate::diagnostic::{Change, Edit, MissingDeadLetterQueue, Place};
use source::{Sources, Span};

/// Returns the span of the `nth` `word` in `text`, which is a file of `sources`.
fn span_of(sources: &Sources, text: &str, word: &str, nth: usize) -> Span {
    let at = text.match_indices(word).nth(nth).unwrap().0;
    let file = sources.all().iter().find(|(_, file)| file.text() == text).unwrap().0;
    Span::new(file, at..at + word.len())
}

/// Applies `edits` to `text`.
fn applied(text: &str, edits: &[Edit]) -> String {
    let mut edits = edits.to_vec();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    let mut text = text.to_owned();
    for edit in edits {
        edit.apply(&mut text);
    }
    text
}

/// Applies the change to the file `name` with content `text`.
fn edited(name: &str, text: &str, change: impl Fn(&Sources) -> Change) -> Option<String> {
    let sources = Sources::new(None, "/".into());
    sources.add(&std::path::Path::new("/").join(name), text);
    let edits = crate::frontend::edits::edits(&change(&sources), &sources)?;
    let found = applied(text, &edits);
    assert!(reads(&found), "{found}");
    Some(found)
}

/// Returns `true` if the text is valid YAML or JSON.
fn reads(text: &str) -> bool {
    let sources = Sources::default();
    let file = sources.add(std::path::Path::new("t"), text);
    let parsed = trees::parsed::parse(text, file);
    parsed.errors.is_empty() && parsed.duplicates.is_empty() && parsed.limits.is_empty()
}

fn name_of(text: &str) -> &'static str {
    if text.trim_start().starts_with('{') {
        "t.json"
    } else {
        "t.yaml"
    }
}

/// Checks each case, also with the line endings of Windows.
fn check_cases(data: &str, change: impl Fn(&Sources, &str) -> Change) {
    for (before, after) in cases(data) {
        for end in ["\n", "\r\n"] {
            let before = before.replace('\n', end);
            let after = after.as_ref().map(|after| after.replace('\n', end));
            let found = edited(name_of(&before), &before, |sources| change(sources, &before));
            assert_eq!(found, after, "\n{before}");
        }
    }
}

/// Returns the span of the first of `words` that `text` contains.
fn first_of(sources: &Sources, text: &str, words: &[&str]) -> Span {
    let word = words.iter().find(|word| text.contains(**word)).unwrap();
    span_of(sources, text, word, 0)
}

fn absent(header: Span, name: &str) -> Place {
    Place {
        header,
        name: name.to_owned(),
        written: None,
        origins: Vec::new(),
        value: None,
    }
}

/// Splits data into cases: `---` separates the text before and after, `===` separates cases, `!` means that the edit is
/// refused.
fn cases(data: &str) -> Vec<(String, Option<String>)> {
    let cases = data.split("===\n").filter(|case| !case.trim().is_empty());
    cases
        .map(|case| {
            let (before, after) = case.split_once("---\n").unwrap();
            (before.to_owned(), (after.trim() != "!").then(|| after.to_owned()))
        })
        .collect()
}

#[test]
fn number_is_added_to_the_properties_of_its_resource() {
    check_cases(include_str!("tests/numbers.txt"), |sources, text| Change::Number {
        place: absent(first_of(sources, text, &["\"Orders\"", "Orders"]), "VisibilityTimeout"),
        value: 360,
    });
}

#[test]
fn number_is_added_to_an_event() {
    let key = ["\"Work\"", "Work", "sqs"];
    check_cases(include_str!("tests/events.txt"), |sources, text| {
        let is_service = text.contains("functions:");
        let name = if is_service {
            "maximumBatchingWindow"
        } else {
            "MaximumBatchingWindowInSeconds"
        };
        Change::Number {
            place: absent(first_of(sources, text, &key), name),
            value: 5,
        }
    });
}

#[test]
fn property_is_removed_with_emptied_parents() {
    let words = ["\"FifoQueue\": false", "\"FifoQueue\":false", "FifoQueue: false"];
    check_cases(include_str!("tests/removals.txt"), |sources, text| {
        let written = first_of(sources, text, &words);
        Change::Remove(Place {
            written: Some(written),
            ..absent(written, "FifoQueue")
        })
    });
}

#[test]
fn reference_is_replaced_by_the_arn() {
    let words = ["\"Source\": ", "\"Source\":", "Source: ", "Source:"];
    check_cases(include_str!("tests/arns.txt"), |sources, text| {
        let key = first_of(sources, text, &words);
        // The frontend passes the span of the entry.
        let file = sources.file(key.file);
        let parsed = trees::parsed::parse(file.text(), key.file);
        let source = parsed.documents[0].get("Use").unwrap().entry("Source").unwrap();
        Change::Arn(source.span())
    });
}

#[test]
fn dead_letter_queue_is_added_with_a_redrive_policy() {
    check_cases(include_str!("tests/dead_letter_queues.txt"), |sources, text| {
        let header = first_of(sources, text, &["\"OrdersQueue\"", "OrdersQueue"]);
        Change::DeadLetterQueue(MissingDeadLetterQueue {
            header,
            fifo: text.contains("FifoQueue"),
            max_receive_count: 5,
            retention: 1_209_600,
            to: None,
        })
    });
}

#[test]
fn alarm_is_added_after_its_queue() {
    check_cases(include_str!("tests/alarms.txt"), |sources, text| {
        Change::Alarm(first_of(sources, text, &["\"OrdersDLQ\"", "OrdersDLQ"]))
    });
}

#[test]
fn single_plain_reference_is_the_only_use() {
    let template = |reference: &str, rest: &str| {
        format!(
            "Parameters:\n  Wait:\n    Type: Number\n    Default: 30\nMappings:\n  Times:\n    a:\n      b: 30\n\
             Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n      Wait: {reference}\n{rest}"
        )
    };
    let service =
        |rest: &str| format!("service: s\ncustom:\n  a:\n    b: 30\n  c: 1\nx:\n  Wait: ${{self:custom.a.b}}\n{rest}");
    let cases = [
        (template("!Ref Wait", ""), true),
        (template("{Ref: Wait}", ""), true),
        (template("{\"Ref\": \"Wait\"}", ""), true),
        (template("!FindInMap [Times, a, b]", ""), true),
        (template("!FindInMap [Times, !Ref AWS::Region, b]", ""), false),
        (template("!Ref Wait", "Outputs:\n  O:\n    Value: !Ref Wait\n"), false),
        (
            template("!Ref Wait", "Outputs:\n  O:\n    Value: !Sub 'x-${Wait}'\n"),
            false,
        ),
        (
            template("!Ref Wait", "Conditions:\n  C: !Equals [!Ref Wait, 30]\n"),
            false,
        ),
        (template("!Ref Waiting", ""), false),
        (template("!Sub '${Wait}'", ""), false),
        (template("!If [C, !Ref Wait, 3]", ""), false),
        (template("30", ""), false),
        (
            template("!Ref Wait", "").replace("Default: 30", "Default: 30\n    MaxValue: 60"),
            false,
        ),
        (
            template(
                "!Ref Wait",
                "Metadata:\n  AWS::CloudFormation::Interface:\n    Parameters: [Wait]\n",
            ),
            true,
        ),
        (service(""), true),
        (service("y: ${self:custom.a}\n"), false),
        (service("y: ${self:custom.a.b}\n"), false),
        (service("y: ${self:custom.${opt:stage}.b}\n"), false),
        (service("y: ${self:custom.a.bc}\nz: ${self:custom.c}\n"), true),
        (
            service("").replace("${self:custom.a.b}", "${self:custom.a.b, 3}"),
            false,
        ),
        (
            service("").replace("${self:custom.a.b}", "${file(x.yml):custom.a.b}"),
            false,
        ),
    ];
    for (text, expected) in cases {
        let sources = Sources::new(None, "/".into());
        let file = sources.add(std::path::Path::new("/serverless.yml"), text.as_str());
        let at = text.find(" Wait: ").unwrap() + 1;
        let length = text[at..].find('\n').unwrap();
        let span = Span::new(file, at..at + length);
        assert_eq!(super::is_only_use(span, &sources), expected, "{text}");
    }
}

/// Makes every change at many offsets, in texts cut at any byte.
#[test]
fn edits_of_damaged_texts_do_not_panic() {
    let data = [
        include_str!("tests/numbers.txt"),
        include_str!("tests/removals.txt"),
        include_str!("tests/arns.txt"),
        include_str!("tests/dead_letter_queues.txt"),
    ];
    let words = [
        "OrdersQueue",
        "Orders",
        "FifoQueue: false",
        "\"FifoQueue\": false",
        "Ref",
        "Properties",
        "sqslint",
    ];
    for (before, _) in data.iter().flat_map(|data| cases(data)) {
        for end in (0..=before.len()).step_by(5) {
            let text = &before[..end];
            let sources = Sources::new(None, "/".into());
            let file = sources.add(&std::path::Path::new("/").join(name_of(text)), text);
            let spans = words.iter().filter_map(|word| {
                let at = text.find(word)?;
                Some(Span::new(file, at..at + word.len()))
            });
            for span in spans.chain([Span::new(file, 0..end), Span::new(file, end..end + 9)]) {
                hostile(span, &sources);
            }
        }
    }
}

fn hostile(span: Span, sources: &Sources) {
    let place = absent(span, "VisibilityTimeout");
    let written = Place {
        written: Some(span),
        ..place.clone()
    };
    let changes = [
        Change::Number { place, value: 1 },
        Change::Remove(written),
        Change::Arn(span),
        Change::Alarm(span),
        Change::DeadLetterQueue(MissingDeadLetterQueue {
            header: span,
            fifo: true,
            max_receive_count: 5,
            retention: 1,
            to: None,
        }),
        Change::Suppression { at: span, name: None },
    ];
    for change in &changes {
        let Some(edits) = crate::frontend::edits::edits(change, sources) else {
            continue;
        };
        let text = applied(sources.file(span.file).text(), &edits);
        assert!(reads(&text), "{text}");
    }
    super::is_only_use(span, sources);
}

#[test]
fn shared_number_is_not_changed() {
    let cases = [
        ("Q: {VisibilityTimeout: 30}\n", true),
        ("A: &a {VisibilityTimeout: 30}\n", true),
        ("A: &a {VisibilityTimeout: 30}\nB: *a\n", false),
        ("A: &a\n  VisibilityTimeout: 30\nB:\n  <<: *a\n", false),
        ("A: !If [B, {VisibilityTimeout: 30}, 1]\n", true),
        ("Fn::ForEach::A: [X, [1], {Q: {VisibilityTimeout: 30}}]\n", false),
        ("{\"VisibilityTimeout: 30\": 1}", true),
    ];
    for (text, expected) in cases {
        let found = edited(name_of(text), text, |sources| Change::Number {
            place: Place {
                written: Some(span_of(sources, text, "VisibilityTimeout: 30", 0)),
                value: Some(30),
                ..absent(span_of(sources, text, "V", 0), "VisibilityTimeout")
            },
            value: 360,
        });
        assert_eq!(found, expected.then(|| text.replace("30", "360")), "{text}");
    }
}

#[test]
fn new_alarm_copies_the_actions_of_others() {
    let cases = [
        ("[!Ref Topic]", true),
        ("[!Ref AlertsTopicArn, !ImportValue alarms]", true),
        ("[!Ref ScaleUp]", false),
        ("[!Ref Policy]", false),
        ("[!If [A, !Ref Topic, !Ref AWS::NoValue]]", false),
        ("[arn:aws:sns:eu-west-1:123456789012:x]", true),
        ("!Ref Topics", false),
        ("[]", false),
        ("!If [HasTopic, [!Ref AlertsTopic], !Ref AWS::NoValue]", true),
        ("!If [Scales, [!Ref ScaleUpTopic], !Ref AWS::NoValue]", false),
    ];
    for (actions, expected) in cases {
        let text = format!(
            "Resources:\n  Topic:\n    Type: AWS::SNS::Topic\n  ScaleUp:\n    Type: AWS::AutoScaling::ScalingPolicy\n  \
             First:\n    Type: AWS::CloudWatch::Alarm\n    Properties:\n      Namespace: AWS/SQS\n      AlarmActions: {actions}\n  \
             Dead:\n    Type: AWS::SQS::Queue\n"
        );
        let found = edited("t.yaml", &text, |sources| {
            Change::Alarm(span_of(sources, &text, "Dead", 0))
        });
        let actions = found.map(|found| found.matches("AlarmActions").count());
        assert_eq!(actions, expected.then_some(2), "{text}");
    }
}

/// A file may be merged with another, so ids must be unused in both.
#[test]
fn new_id_is_unused_in_all_files_of_a_service() {
    let text = "Resources:\n  Orders:\n    Type: AWS::SQS::Queue\n  Age:\n    Type: AWS::CloudWatch::Alarm\n    \
                Properties:\n      Namespace: AWS/SQS\n      AlarmActions: [!Ref AlarmTopic]\n";
    let sources = Sources::new(None, "/".into());
    sources.add(std::path::Path::new("/a.yml"), text);
    sources.add(
        std::path::Path::new("/b.yml"),
        "Resources:\n  OrdersAlarm:\n    Type: T\n",
    );
    let header = span_of(&sources, text, "Orders", 0);
    let edits = crate::frontend::edits::edits(&Change::Alarm(header), &sources).unwrap();
    assert!(applied(text, &edits).contains("OrdersDepthAlarm:"));
}
