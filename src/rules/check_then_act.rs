//! Flags handlers that check for an earlier record of a message and later write that record without a condition.

use super::prelude::*;
use crate::rules::shared::handlers::{InvokedHandler, invokes};

pub(super) static RULE: Rule = rule!(
    "check-then-act",
    Category::Handlers,
    Severity::Warning,
    "the function looks for a record and writes it later without a condition: two workers both find nothing"
);

fn check(findings: &mut Findings<'_>) {
    findings.report_bodies("nothing is checked first and written later", unconditional);
}

fn unconditional(mapping: &EventSourceMapping, handled: &InvokedHandler<'_>) -> Option<Finding> {
    let written = handled.handler.unconditional_write.as_ref()?;
    let headline = format!(
        "{} looks for a record before the work and writes it afterwards without a condition: a message that two workers receive is processed twice",
        handled.function
    );
    let severity = if handled.handler.pays_unconditionally {
        Severity::Warning
    } else {
        Severity::Info
    };
    let finding = Finding::new("idempotency", headline, written.span, &*written.words)
        .severity_if_enabled(severity, mapping)
        .label(mapping.resource.header, invokes(mapping))
        .help("write the record before the work, on the condition that it does not exist, with a time after which it expires");
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::check_files;
    use crate::testing::handlers::template;

    /// Checks a loop over records with this body; each line is indented.
    fn python(body: &str) {
        let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
        let handler = format!("def handler(event, context):\n    for record in event['Records']:\n{body}");
        check_files(&RULE, &[("template.yaml", &template("")), ("src/app.py", &handler)]);
    }

    const CHECKED: &str = "\
seen = table.get_item(Key={'id': record['messageId']})
if 'Item' in seen:
    continue
ship(record)
table.put_item(Item={'id': record['messageId']})";

    #[test]
    fn unconditional_write_after_work_is_flagged() {
        python(&format!("{CHECKED} # expect: check-then-act"));
    }

    #[test]
    fn conditional_write_is_accepted() {
        python(&CHECKED.replace("put_item(", "put_item(ConditionExpression='attribute_not_exists(id)', "));
    }

    #[test]
    fn write_to_another_table_is_ignored() {
        python(&CHECKED.replace("table.put_item", "orders.put_item"));
    }

    #[test]
    fn read_without_early_exit_is_ignored() {
        python(&CHECKED.replace("continue", "print('again')"));
    }

    #[test]
    fn write_without_work_in_between_is_accepted() {
        python(&CHECKED.replace("ship(record)\n", ""));
    }

    #[test]
    fn table_of_sdk_commands_is_compared() {
        for (table, mark) in [("TABLE", "// # expect: check-then-act"), ("OTHER", "")] {
            let handler = format!(
                "exports.handler = async (event) => {{
  for (const record of event.Records) {{
    const seen = await client.send(new GetCommand({{ TableName: TABLE, Key: {{ id: record.messageId }} }}));
    if (seen.Item) {{ continue; }}
    await ship(record);
    await client.send(new PutCommand({{ TableName: {table}, Item: {{ id: record.messageId }} }})); {mark}
  }}
}};
"
            );
            check_files(&RULE, &[("template.yaml", &template("")), ("src/app.js", &handler)]);
        }
    }
}
