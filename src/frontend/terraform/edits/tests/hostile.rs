//! Tests that no text and no span causes a panic, and that any edits leave a file as readable as before.

use super::*;

const HCL: &str = "# ä\nresource \"aws_sqs_queue\" \"q\" { # a\r\n  name = \"${var.ö}-q\" # b\n\n  tags = { a = <<E\nx = \"\nE\n  }\n}\n\
                   resource \"aws_lambda_event_source_mapping\" \"m\" { batch_size = 5 }\nvariable \"v\" {}\n";
const JSON: &str = "{\"resource\": {\"aws_sqs_queue\": {\"q\": {\"name\": \"${var.ö}\", \"delay_seconds\": 5}}}}\n";

fn changes(header: Span, at: Span) -> Vec<Change> {
    let place = |name: &str, written: Option<Span>| Place {
        header,
        name: name.to_owned(),
        written,
        origins: Vec::new(),
        value: Some(5),
    };
    vec![
        Change::Number {
            place: place("delay_seconds", None),
            value: 360,
        },
        Change::Number {
            place: place("batch_size", Some(at)),
            value: 360,
        },
        Change::Remove(place("batch_size", Some(at))),
        Change::Remove(place("delay_seconds", Some(at))),
        Change::Arn(at),
        Change::Alarm(header),
        missing_dead_letter_queue(header, false),
    ]
}

fn maul(name: &str, whole: &str, headers: &[&str]) {
    let places = Module::of(&[(name, whole)]);
    let mut spans: Vec<Span> = headers.iter().map(|header| places.span(header)).collect();
    spans.push(places.span(whole));
    spans.push(places.span("5"));
    for cut in (0..=whole.len()).filter(|at| whole.is_char_boundary(*at)) {
        let module = Module::of(&[(name, &whole[..cut])]);
        for (at, header) in spans.iter().enumerate() {
            let written = spans[(at + cut) % spans.len()];
            for change in changes(*header, written) {
                if let Some(edits) = all_edits(&change, &module.sources) {
                    applied(&whole[..cut], &edits);
                }
            }
            is_only_use(written, &module.sources);
        }
    }
}

#[test]
fn truncated_files_do_not_panic() {
    let headers = [
        "resource \"aws_sqs_queue\" \"q\"",
        "resource \"aws_lambda_event_source_mapping\" \"m\"",
    ];
    maul("main.tf", HCL, &headers);
    maul("main.tf.json", JSON, &["\"q\""]);
}

#[test]
fn arbitrary_spans_do_not_panic() {
    for (name, text) in [("main.tf", HCL), ("main.tf.json", JSON)] {
        let module = Module::of(&[(name, text)]);
        let (id, _) = module.files[0];
        for start in 0..text.len() {
            for length in [0, 7, text.len()] {
                let span = Span::new(id, start..start + length);
                is_only_use(span, &module.sources);
                for change in changes(span, span) {
                    if let Some(edits) = all_edits(&change, &module.sources) {
                        applied(text, &edits);
                    }
                }
            }
        }
    }
}
