//! Flags idempotent processing of records without the deadline of the Lambda invocation.

use super::prelude::*;
use crate::rules::shared::handlers::{InvokedHandler, invokes};

pub(super) static RULE: Rule = rule!(
    "idempotency-without-deadline",
    Category::Handlers,
    Severity::Warning,
    "after a timeout, idempotent work counts as in progress, and its retries are refused"
);

fn check(findings: &mut Findings<'_>) {
    findings.report_bodies("no record of idempotency is left without a deadline", undated);
}

fn undated(mapping: &EventSourceMapping, handled: &InvokedHandler<'_>) -> Option<Finding> {
    let made = handled.handler.deadline_unaware_idempotency.as_ref()?;
    let headline = format!(
        "idempotency in {} is not told when Lambda ends the invocation: after a timeout a message stays in progress, and \
         its retries are refused",
        handled.function
    );
    let help = "register the context in the handler (`config.register_lambda_context(context)`, \
                `config.registerLambdaContext(context)`)";
    let finding = Finding::new("idempotency", headline, made.span, &*made.words)
        .label(mapping.resource.header, invokes(mapping))
        .help(help);
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::handlers::{check_python, check_script};

    fn python(handler: &str) {
        check_python(&RULE, handler);
    }

    fn script(handler: &str) {
        check_script(&RULE, handler);
    }

    const DECORATED: &str = "\
config = IdempotencyConfig()
processor = BatchProcessor(event_type=EventType.SQS)

@idempotent_function(data_keyword_argument='record', config=config, persistence_store=table) # expect: idempotency-without-deadline
def work(record):
    ship(record)

def handler(event, context):
    return process_partial_response(event=event, record_handler=work, processor=processor, context=context)
";

    #[test]
    fn decorated_record_handler_without_context_is_flagged() {
        python(DECORATED);
        let unmarked = DECORATED.replace(" # expect: idempotency-without-deadline", "");
        python(&unmarked.replace("    return", "    config.register_lambda_context(context)\n    return"));
    }

    #[test]
    fn decorated_function_called_in_loop_is_flagged() {
        python(
            "@idempotent_function(data_keyword_argument='record', persistence_store=table) # expect: idempotency-without-deadline
def work(record):
    ship(record)
def handler(event, context):
    for record in event['Records']:
        work(record=record)
",
        );
    }

    #[test]
    fn idempotent_handler_is_accepted() {
        python("@idempotent(persistence_store=table)\ndef handler(event, context):\n    ship(event)\n");
    }

    #[test]
    fn imported_configuration_is_accepted() {
        let unmarked = DECORATED.replace(" # expect: idempotency-without-deadline", "");
        python(&unmarked.replace("config = IdempotencyConfig()", "from settings import config"));
    }

    #[test]
    fn idempotent_function_for_other_data_is_ignored() {
        python(
            "@idempotent_function(data_keyword_argument='x', persistence_store=table)
def other(x):
    ship(x)
def handler(event, context):
    for record in event['Records']:
        ship(record)
",
        );
    }

    const WRAPPED: &str = "\
const work = makeIdempotent(ship, { persistenceStore, config }); /*here*/
const config = new IdempotencyConfig({});
export const handler = async (event: SQSEvent, context: Context) =>
  processPartialResponse(event, work, processor);
";

    #[test]
    fn wrapped_function_without_context_is_flagged() {
        script(WRAPPED);
        let unmarked = WRAPPED.replace("/*here*/", "");
        script(&unmarked.replace("work, processor)", "work, processor, { context })"));
        script(&unmarked.replace(
            "processPartialResponse(",
            "config.registerLambdaContext(context), processPartialResponse(",
        ));
        script(
            "export const handler = makeIdempotent(async (event, context) => { await ship(event); }, { persistenceStore });\n",
        );
    }
}
