//! Flags handlers that look whether a message was seen before, and write that it was without asking again.

use super::prelude::*;
use crate::rules::shared::handlers::{Handled, invokes};

pub(super) static RULE: Rule = Rule {
    id: "check-then-act",
    category: Category::Handlers,
    severity: Severity::Info,
    set: Set::Pedantic,
    fix: None,
    summary: "the function looks for a record and writes it later without a condition: two workers both find nothing",
    page: include_str!("../../rules/check-then-act.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for handled in findings.handled(graph, mapping, &mapping.resource.when) {
            if let Some(finding) = unconditional(mapping, &handled) {
                findings.report(&handled.when, mapping, finding);
            } else {
                let bound = fact(true, || "nothing is checked first and written later".to_owned());
                findings.satisfied(&handled.when, mapping, bound);
            }
        }
    }
}

fn unconditional(mapping: &EventSourceMapping, handled: &Handled<'_>) -> Option<Finding> {
    let written = handled.handler.unconditional_write.as_ref()?;
    let headline = format!(
        "{} looks for a record before the work and writes it afterwards without a condition: a message that two workers \
         have is worked on twice",
        handled.function.resource.shown()
    );
    let finding = Finding::new("idempotency", headline, written.span, &*written.words)
        .label(mapping.resource.header, invokes(mapping))
        .help("write the record before the work, on the condition that it is not there, with a time after which it expires");
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::check_files;
    use crate::testing::handlers::template;

    /// A loop over records with this body; each line is indented.
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
    fn a_write_behind_the_work_is_too_late() {
        python(&format!("{CHECKED} # expect: check-then-act"));
    }

    #[test]
    fn a_condition_asks_again() {
        python(&CHECKED.replace("put_item(", "put_item(ConditionExpression='attribute_not_exists(id)', "));
    }

    #[test]
    fn another_table_holds_something_else() {
        python(&CHECKED.replace("table.put_item", "orders.put_item"));
    }

    #[test]
    fn a_read_that_ends_nothing_is_no_check() {
        python(&CHECKED.replace("continue", "print('again')"));
    }

    #[test]
    fn a_write_before_the_work_claims_it() {
        python(&CHECKED.replace("ship(record)\n", ""));
    }

    #[test]
    fn a_request_names_its_table() {
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
