//! Flags handlers that read a record by a key that only messages from `ReceiveMessage` have.

use super::prelude::*;
use crate::rules::shared::handlers::{InvokedHandler, invokes};

pub(super) static RULE: Rule = rule!(
    "record-key-unknown",
    Category::Handlers,
    Severity::Error,
    "the function reads a key that the records of an event do not have"
);

fn check(findings: &mut Findings<'_>) {
    findings.report_bodies("no read of a key that records lack was found", unknown);
}

fn unknown(mapping: &EventSourceMapping, handled: &InvokedHandler<'_>) -> Option<Finding> {
    let (read, known) = handled.handler.reads.unknown_key.as_ref()?;
    let headline = format!(
        "{} reads `{}` of its records, but Lambda's event calls it `{known}`",
        handled.function, read.key
    );
    let label = format!("no record has `{}`", read.key);
    let finding = Finding::new("records", headline, read.span, label)
        .severity_if_enabled(Severity::Error, mapping)
        .label(mapping.resource.header, invokes(mapping))
        .help(format!(
            "read `{known}`: only the messages that `ReceiveMessage` returns have `{}`",
            read.key
        ));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::check_files;
    use crate::testing::handlers::{check_python, check_script, template};

    #[test]
    fn key_of_the_sdk_is_flagged_in_python() {
        let check = |body: &str| {
            let body = body.replace("#!", "# expect: record-key-unknown");
            check_python(
                &RULE,
                &format!("def handler(event, context):\n    for record in event['Records']:\n{body}\n"),
            );
        };
        check("        ship(record['Body']) #!");
        check("        ship(json.loads(record.get('Body'))) #!");
        check("        work(record)\n\ndef work(message):\n    ship(message['MessageAttributes']['kind']) #!");
        check(
            "        try:\n            ship(record)\n        except Exception:\n            delete(record['ReceiptHandle']) #!",
        );
        check("        key = 'Body'\n        ship(record[key]) #!");
        check("        ship(record['body'])\n        print(record['MessageId']) #!");
        // Both forms.
        check("        ship(record.get('Body') or record.get('body'))");
        check("        ship(record['Body'] if 'Body' in record else record['body'])");
        check(
            "        try:\n            ship(record['Body'])\n        except KeyError:\n            ship(record['body'])",
        );
        // The record comes from elsewhere, or is changed.
        check("        for one in sqs.receive_message(QueueUrl=url)['Messages']:\n            ship(one['Body'])");
        check("        record['Body'] = record.pop('body')\n        ship(record['Body'])");
        check("        record.update(Body=1)\n        ship(record['Body'])");
        check("        ship(converted(record)['Body'])");
        check("        message = {'Body': record['body']}\n        ship(message['Body'])");
    }

    #[test]
    fn key_of_the_sdk_is_flagged_in_javascript() {
        let check = |body: &str| {
            let body = body.replace("!!", "/*here*/");
            check_script(
                &RULE,
                &format!(
                    "export const handler = async (event) => {{\n  for (const record of event.Records) {{\n{body}\n  }}\n}};\n"
                ),
            );
        };
        check("    await ship(record.Body); !!");
        check("    const { MessageId, body } = record; !!\n    await ship(MessageId, body);");
        check("    await ship(JSON.parse(record['Body'])); !!");
        check("    if (!record.Body) continue; !!\n    await ship(record);");
        check("    try { await ship(record); } catch { await remove(record.ReceiptHandle); } !!");
        check("    await ship(record.Body ?? record.body);");
        check("    await ship('Body' in record ? record.Body : record.body);");
        check("    Object.assign(record, normalized(record));\n    await ship(record.Body);");
        check(
            "    const { Messages } = await sqs.send(new ReceiveMessageCommand({}));\n    for (const one of Messages) await ship(one.Body);",
        );
    }

    #[test]
    fn code_in_another_file_may_make_the_record() {
        let handler = "from wrap import adapted\n@adapted\ndef handler(event, context):\n    for record in event['Records']:\n        ship(record['Body'])\n";
        check_files(&RULE, &[("template.yaml", &template("")), ("src/app.py", handler)]);
    }
}
