//! Flags handlers whose claim on a message stays if the work fails, so that later deliveries are skipped and deleted.

use super::prelude::*;
use crate::rules::shared::handlers::{InvokedHandler, invokes};

pub(super) static RULE: Rule = rule!(
    "claim-never-released",
    Category::Handlers,
    Severity::Warning,
    "the function claims a message before the work and keeps the claim if that fails: the retry is skipped"
);

fn check(findings: &mut Findings<'_>) {
    findings.report_bodies("no claim stays after a failure", unreleased);
}

fn unreleased(mapping: &EventSourceMapping, handled: &InvokedHandler<'_>) -> Option<Finding> {
    let claim = handled.handler.unreleased_claim.as_ref()?;
    let headline = format!(
        "{} claims a message before the work, and the claim stays if the work fails: the next delivery is skipped and \
         deleted",
        handled.function
    );
    let finding = Finding::new("claim", headline, claim.span, &*claim.words)
        .severity_if_enabled(Severity::Warning, mapping)
        .label(mapping.resource.header, invokes(mapping))
        .help(
            "on failure, delete the claim or mark it as failed, and let it expire after the function's timeout with a \
             condition that checks the expiry",
        );
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::handlers::{check_python, check_script};

    const MARK: &str = "# expect: claim-never-released";

    /// Checks a loop over records with this body; each line is indented.
    fn python(body: &str) {
        let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
        let handler = format!("def handler(event, context):\n    for record in event['Records']:\n{body}");
        check_python(&RULE, &handler);
    }

    fn claimed(put: &str, after: &str) -> String {
        format!(
            "try:
    {put} {MARK}
except ClientError as error:
    if error.response['Error']['Code'] == 'ConditionalCheckFailedException':
        continue
    raise
{after}"
        )
    }

    const PUT: &str =
        "table.put_item(Item={'id': record['messageId']}, ConditionExpression='attribute_not_exists(id)')";

    #[test]
    fn claim_that_stays_is_flagged() {
        python(&claimed(PUT, "ship(record)"));
        python(&claimed(
            PUT,
            "try:\n    ship(record)\nexcept Exception as error:\n    print(error)\n    raise",
        ));
        python(&claimed(
            PUT,
            "ship(record)\ntable.update_item(Key={'id': record['messageId']})",
        ));
    }

    #[test]
    fn released_claim_is_accepted() {
        let released = "try:\n    ship(record)\nexcept Exception:\n    table.delete_item(Key={'id': record['messageId']})\n    raise";
        python(&claimed(PUT, released).replace(MARK, ""));
    }

    #[test]
    fn claim_that_expires_is_accepted() {
        for put in [
            PUT.replace(
                "'attribute_not_exists(id)'",
                "'attribute_not_exists(id) OR expires < :now'",
            ),
            PUT.replace("Item={", "Item={'ttl': soon(), "),
        ] {
            python(&claimed(&put, "ship(record)").replace(MARK, ""));
        }
    }

    #[test]
    fn claim_that_ends_by_other_means_is_accepted() {
        let of_delivery = PUT.replace(
            "record['messageId']",
            "record['messageId'] + record['attributes']['ApproximateReceiveCount']",
        );
        python(&claimed(&of_delivery, "ship(record)").replace(MARK, ""));
        let redis = "if not r.setnx(record['messageId'], 1): <mark>\n    continue\n<expiry>ship(record)";
        python(&redis.replace("<mark>", MARK).replace("<expiry>", ""));
        let expires = "r.expire(record['messageId'], 30)\n";
        python(&redis.replace("<mark>", "").replace("<expiry>", expires));
    }

    #[test]
    fn claim_after_the_work_is_accepted() {
        python(&format!("ship(record)\n{}", claimed(PUT, "").replace(MARK, "")));
    }

    #[test]
    fn claim_that_raises_if_it_exists_is_accepted() {
        python(&format!("{PUT}\nship(record)"));
    }

    #[test]
    fn claim_in_redis_is_checked() {
        let of = |options: &str, mark: &str| {
            check_script(
                &RULE,
                &format!(
                    "exports.handler = async (event) => {{
  for (const record of event.Records) {{
    const claimed = await redis.set(record.messageId, '1', {options}); {mark}
    if (!claimed) continue;
    await ship(record);
  }}
}};
"
                ),
            );
        };
        of("'NX'", "/*here*/");
        of("{ NX: true }", "/*here*/");
        of("'NX', 'EX', 60", "");
        of("{ NX: true, EX: 60 }", "");
    }

    #[test]
    fn claim_in_sql_is_checked() {
        check_script(
            &RULE,
            "exports.handler = async (event) => {
  for (const record of event.Records) {
    const claim = await db.query('INSERT INTO seen (id) VALUES ($1) ON CONFLICT DO NOTHING', [record.messageId]); /*here*/
    if (claim.rowCount === 0) continue;
    await ship(record);
  }
};
",
        );
    }
}
