//! Flags handlers that read a message of SNS in the form that the subscription does not deliver.

use super::prelude::*;
use crate::graph::KeyRead;
use crate::graph::delivery::Subscription;
use crate::rules::shared::envelopes::{delivering, subscribed};
use crate::rules::shared::handlers::{InvokedHandler, invokes};

pub(super) static RULE: Rule = rule!(
    "sns-envelope-mismatch",
    Category::Handlers,
    Severity::Error,
    "the function reads a message without SNS's envelope, or the envelope of a raw message"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for handled in findings.handled_bodies(mapping) {
            let reads = &handled.handler.reads;
            let field = reads.field.as_ref().map(|read| (read, true));
            let envelope = reads.envelope.as_ref().map(|(read, is_parsed)| (read, *is_parsed));
            let is_raw = field.is_none();
            let Some((read, is_certain)) = field.or(envelope) else {
                let met = fact(true, || "no read of only one form of a message was found".to_owned());
                findings.satisfied(&handled.when, mapping, met);
                continue;
            };
            for source in findings.polled_queues(mapping, &handled.when) {
                let Some((queue, subscribed)) = source
                    .queue
                    .and_then(|queue| Some((queue, subscribed(findings.graph, queue)?)))
                else {
                    continue;
                };
                if let Some((when, subscription)) = delivering(findings, &subscribed.all, is_raw, &source.when) {
                    let finding = mismatch(mapping, &handled, read, queue, subscription, is_raw);
                    let severity = if subscribed.is_only && is_certain {
                        Severity::Error
                    } else {
                        Severity::Warning
                    };
                    findings.report(&when, mapping, finding.severity_if_enabled(severity, mapping));
                }
            }
        }
    }
}

fn mismatch(
    mapping: &EventSourceMapping,
    handled: &InvokedHandler<'_>,
    read: &KeyRead,
    queue: &Queue,
    subscription: &Subscription,
    is_raw: bool,
) -> Finding {
    let raw = &subscription.raw_message_delivery;
    let (form, label, how, help) = if is_raw {
        (
            "raw: the body is the message itself",
            "SNS's envelope is not in the body",
            "with",
            format!("parse the body itself, or set `{}` to `false`", raw.name),
        )
    } else {
        (
            "in SNS's envelope: the message is a text in its `Message`",
            "the envelope has no such field",
            "without",
            format!("parse `Message` of the body, or set `{}` to `true`", raw.name),
        )
    };
    let headline = format!(
        "{} reads `{}` of each body, but messages of {queue} arrive {form}",
        handled.function, read.key
    );
    let span = raw.cases.first().map_or(subscription.resource.header, |case| case.span);
    Finding::new("body", headline, read.span, label)
        .label(mapping.resource.header, invokes(mapping))
        .label(span, format!("{subscription} delivers {how} raw message delivery"))
        .help(format!("{help}; meanwhile the function has to accept both forms"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{check_file_cases, check_files};

    fn template(raw: &str, others: &str) -> String {
        let template = crate::testing::handlers::template("");
        format!(
            "{template}  T:
    Type: AWS::SNS::Topic
  S:
    Type: AWS::SNS::Subscription
    Properties: {{Protocol: sqs, TopicArn: !Ref T, Endpoint: !GetAtt Q.Arn{raw}}}
{others}"
        )
    }

    const RAW: &str = ", RawMessageDelivery: true";

    /// Checks a handler in Python, whose marks count for this form only.
    fn python(raw: &str, body: &str) {
        let handler = format!("def handler(event, context):\n    for record in event['Records']:\n{body}\n");
        for delivered in ["", RAW] {
            let mark = if delivered == raw {
                "# expect: sns-envelope-mismatch"
            } else {
                ""
            };
            let files = [
                ("template.yaml", &*template(delivered, "")),
                ("src/app.py", &handler.replace("#!", mark)),
            ];
            check_files(&RULE, &files);
        }
    }

    fn script(raw: &str, body: &str) {
        let handler = format!(
            "exports.handler = async (event) => {{\n  for (const record of event.Records) {{\n{body}\n  }}\n}};\n"
        );
        for delivered in ["", RAW] {
            let mark = if delivered == raw {
                "// # expect: sns-envelope-mismatch"
            } else {
                ""
            };
            let files = [
                ("template.yaml", &*template(delivered, "")),
                ("src/app.js", &handler.replace("/*!*/", mark)),
            ];
            check_files(&RULE, &files);
        }
    }

    #[test]
    fn field_of_a_wrapped_message_is_flagged() {
        python("", "        ship(json.loads(record['body'])['id']) #!");
        python(
            "",
            "        order = json.loads(record['body'])\n        ship(order.get('id')) #!",
        );
        python(
            "",
            "        work(json.loads(record['body']))\n\ndef work(order):\n    if order['kind'] == 'paid': #!\n        ship(order)",
        );
        python(
            "",
            "        try:\n            ship(json.loads(record['body'])['id']) #!\n        except Exception:\n            raise",
        );
        script(
            "",
            "    const { id } = JSON.parse(record.body); /*!*/\n    await ship(id);",
        );
        script("", "    await ship(JSON.parse(record.body).detail.id); /*!*/");
        script(
            "",
            "    const order = JSON.parse(record.body);\n    if (!order.id) continue; /*!*/\n    await ship(order);",
        );
    }

    #[test]
    fn envelope_of_a_raw_message_is_flagged() {
        python(
            RAW,
            "        ship(json.loads(json.loads(record['body'])['Message'])['id']) #!",
        );
        python(
            RAW,
            "        body = json.loads(record['body'])\n        ship(json.loads(body.get('Message'))) #!",
        );
        python(RAW, "        ship(json.loads(record['body'])['Message']) #!");
        script(
            RAW,
            "    const { Message } = JSON.parse(record.body); /*!*/\n    await ship(JSON.parse(Message));",
        );
        script(
            RAW,
            "    const body = JSON.parse(record.body);\n    await ship(JSON.parse(body.Message).id, body.TopicArn); /*!*/",
        );
        script(
            RAW,
            "    await ship(JSON.parse(JSON.parse(record.body).Message)); /*!*/",
        );
    }

    #[test]
    fn code_that_knows_both_forms_or_none_is_accepted() {
        for body in [
            "        body = json.loads(record['body'])\n        if 'Message' in body:\n            body = json.loads(body['Message'])\n        ship(body['id'])",
            "        body = json.loads(record['body'])\n        if body.get('Type') == 'Notification':\n            body = json.loads(body['Message'])\n        ship(body['id'])",
            "        body = json.loads(record['body'])\n        try:\n            body = json.loads(body['Message'])\n        except KeyError:\n            pass\n        ship(body)",
            "        body = json.loads(record['body'])\n        ship(json.loads(body.get('Message', record['body'])))",
            "        body = unwrapped(json.loads(record['body']))\n        ship(body['id'])",
            "        body = json.loads(record['body'])\n        if is_of_topic(body):\n            body = opened(body)\n        ship(body['id'])",
            "        ship(json.loads(record['body']))",
            "        body = json.loads(record['body'])\n        order = json.loads(body['Message']) if 'TopicArn' in body else body\n        ship(order['id'])",
            "        body = json.loads(record['body'])\n        order = json.loads(body['Message']) if body.get('Type') == 'Notification' else body\n        ship(order['id'])",
            "        body = json.loads(record['body'])\n        body['id'] = 1\n        ship(body['id'])",
        ] {
            python("none", body);
        }
        for body in [
            "    const body = JSON.parse(record.body);\n    const order = body.Message ? JSON.parse(body.Message) : body;\n    await ship(order.id);",
            "    const body = JSON.parse(record.body);\n    await ship(JSON.parse(body.Message ?? record.body));",
            "    const body = JSON.parse(record.body);\n    const order = typeof body.Message === 'string' ? JSON.parse(body.Message) : body;\n    await ship(order.id);",
            "    let order = JSON.parse(record.body);\n    try { order = JSON.parse(order.Message); } catch {}\n    await ship(order);",
            "    const order = OrderSchema.parse(JSON.parse(record.body));\n    await ship(order.id);",
        ] {
            script("none", body);
        }
    }

    #[test]
    fn subscription_of_an_unknown_endpoint_or_of_another_protocol_delivers_nothing() {
        let subscription = "Protocol: sqs, TopicArn: !Ref T, Endpoint: !GetAtt Q.Arn";
        for other in [
            "Protocol: sqs, TopicArn: !Ref T, Endpoint: !Ref Missing",
            "Protocol: email, TopicArn: !Ref T, Endpoint: !Ref Missing",
        ] {
            let template = template("", "").replace(subscription, other);
            let handler = "def handler(event, context):\n    for record in event['Records']:\n        ship(json.loads(record['body'])['id'])\n";
            check_files(&RULE, &[("template.yaml", &*template), ("src/app.py", handler)]);
        }
    }

    #[test]
    fn other_senders_decide() {
        let handler = "def handler(event, context):\n    for record in event['Records']:\n        <read>\n";
        let template = template(", RawMessageDelivery: <raw>", "  <other>");
        check_file_cases(
            &RULE,
            &[("template.yaml", &template), ("src/app.py", handler)],
            "
            raw               | other                                                                              | read                                                   | finding
            false             |                                                                                    | ship(json.loads(record['body'])['id'])                 | error read
            false             | O: {Type: AWS::SSM::Parameter, Properties: {Type: String, Value: !Ref Q}}                                                   | ship(json.loads(record['body'])['id'])                 | warning read
            true              |                                                                                    | ship(json.loads(json.loads(record['body'])['Message'])) | error read
            true              |                                                                                    | ship(json.loads(record['body'])['Message'])            | warning read
            false             | U: {Type: AWS::SNS::Subscription, Properties: {Protocol: email, TopicArn: !Ref T, Endpoint: !Ref Missing}} | ship(json.loads(record['body'])['id']) | error read
            false             | U: {Type: AWS::SNS::Subscription, Properties: {Protocol: sqs, TopicArn: !Ref T, Endpoint: !Ref Missing}} | ship(json.loads(json.loads(record['body'])['Message'])) |
            !Ref Missing      |                                                                                    | ship(json.loads(record['body'])['id'])                 |
            false             | R: {Type: AWS::Events::Rule, Properties: {Targets: [{Id: a, Arn: !GetAtt Q.Arn}]}} | ship(json.loads(record['body'])['id'])                 |
            ",
        );
    }
}
