//! Tests of handlers that functions of other files make or are.

use super::handler_of;
use crate::{Outcome, Response};

#[test]
fn handler_that_a_function_of_another_file_makes_is_read() {
    const SWALLOWS: &str = "async (event: SQSEvent) => {\n  for (const record of event.Records) {\n    \
         try { await ship(record); } catch (error) { log.error(error); }\n  }\n}";
    let made = format!("export const create = ({{ ship, log }}: Parts) => {SWALLOWS};\n");
    let block = format!("export default function create(ship: Ship) {{\n  return {SWALLOWS};\n}}\n");
    let plain = format!("export const create = {SWALLOWS};\n");
    let deleted = |app: &str, other: &str| {
        let found = handler_of([("app.ts", app), ("make.ts", other)]);
        found.is_ok_and(|found| found.outcome == Outcome::Deleted)
    };
    for (app, other, is_deleted) in [
        (
            "import { create } from './make';\nexport const handler = create(parts());\n",
            &made,
            true,
        ),
        (
            "import create from './make';\nconst ship = connect();\nexport const handler: SQSHandler = create(ship);\n",
            &block,
            true,
        ),
        (
            "import { create } from './make';\nexports.handler = create({ log });\n",
            &made,
            true,
        ),
        (
            "import { create } from './make';\nexport const handler = create;\n",
            &plain,
            true,
        ),
        // A function that gets the handler, or another result, is not judged.
        (
            "import { create } from './make';\nexport const handler = create(async (event) => ship(event));\n",
            &made,
            false,
        ),
        (
            "import { create } from './make';\nexport const handler = create(parts()).handler;\n",
            &made,
            false,
        ),
        (
            "import { create } from './make';\nexport const handler = create(parts());\n",
            &plain,
            false,
        ),
        (
            "import { create } from 'package';\nexport const handler = create(parts());\n",
            &made,
            false,
        ),
    ] {
        assert_eq!(deleted(app, other), is_deleted, "{app}{other}");
    }
}

#[test]
fn handler_that_passes_the_event_to_another_file_is_that_of_the_file() {
    const RUN: &str = "export const run = async (event) => { for (const one of event.Records) await ship(one); };\n";
    let name = |app: (&str, &str), other: (&str, &str)| handler_of([app, other]).map(|found| found.name.to_string());
    for (app, expected) in [
        (
            "import { run } from './run';\nexport const handler = async (event) => run(event);\n",
            "run",
        ),
        (
            "const { run } = require('./run');\nexports.handler = async (event) => {\n  log.info(event);\n  return await run(event);\n};\n",
            "run",
        ),
        // The result is not that of the other function.
        (
            "import { run } from './run';\nexport const handler = async (event) => { await run(event); };\n",
            "handler",
        ),
        (
            "import { run } from './run';\nexport const handler = async (event) => run(event).catch(() => ({}));\n",
            "handler",
        ),
        (
            "import { run } from './run';\nexport const handler = async (event) => (await run(event)).response;\n",
            "handler",
        ),
        (
            "import { run } from './run';\nexport const handler = async (event) => {\n  const out = await run(event);\n  if (out.failed.length) throw new Error();\n  return out;\n};\n",
            "handler",
        ),
        (
            "import { run } from 'package';\nexport const handler = async (event) => run(event);\n",
            "handler",
        ),
        (
            "import { lost } from './run';\nexport const handler = async (event) => lost(event);\n",
            "handler",
        ),
        (
            "import { run } from './run';\nexport const handler = middy(run).use(parser());\n",
            "run",
        ),
        (
            "import { run } from './run';\nexport const handler = middy().use(parser()).handler(run);\n",
            "run",
        ),
        (
            "import { run } from './run';\nlet handler = run;\nexport { handler };\n",
            "run",
        ),
        // A wrapper has another name than the function in it.
        (
            "const work: Handler = async (event) => { for (const one of event.Records) await ship(one); };\nexport const handler = middy(work);\n",
            "work",
        ),
        (
            "async function work(event) { for (const one of event.Records) await ship(one); }\nexport const handler = middy(work);\n",
            "work",
        ),
        (
            "export const handler = middy(async (event) => { for (const one of event.Records) await ship(one); });\n",
            "handler",
        ),
        (
            "import { run } from './run';\nlet handler = run;\nhandler = wrap(handler);\nexport { handler };\n",
            "",
        ),
        (
            "import { run } from './run';\nlet handler = create(run);\nexport { handler };\n",
            "",
        ),
    ] {
        assert_eq!(
            name(("app.ts", app), ("run.ts", RUN)).unwrap_or_default(),
            expected,
            "{app}"
        );
    }
    let app = "from run import run\n\n\ndef handler(event, context):\n    return run(event, context)\n";
    let run = "def run(event, context):\n    for record in event['Records']:\n        ship(record)\n";
    assert_eq!(name(("app.py", app), ("run.py", run)).as_deref(), Ok("run"));
    let back = "from app import handler\n\n\ndef run(event, context):\n    return handler(event, context)\n";
    assert_eq!(name(("app.py", app), ("run.py", back)).as_deref(), Ok("run"), "a cycle");
    let logged = "export const run = async (event) => { for (const one of event.Records) { try { await ship(one); } catch (error) { <end> } } };\n";
    for (end, outcome) in [
        ("log.error(error);", Outcome::Deleted),
        ("throw error;", Outcome::Unknown),
    ] {
        let app = "import { run } from './run';\nexport const handler = middy(run).use(parser());\n";
        let found = handler_of([("app.ts", app), ("run.ts", &logged.replace("<end>", end))]);
        assert_eq!(found.unwrap().outcome, outcome, "a wrapper may catch the error: {end}");
    }
}

#[test]
fn declared_response_of_another_file_contains_failures() {
    for (result, end, is_declared) in [
        (": Promise<SQSBatchResponse>", "return all;", true),
        (
            ": Promise<SQSBatchResponse>",
            "return { batchItemFailures: [] };",
            false,
        ),
        (": Promise<Summary>", "return all;", false),
        ("", "return all;", false),
    ] {
        let handler = format!(
            "import {{ all }} from './made';\nexport const handler = async (event: SQSEvent){result} => {{\n  \
             for (const record of event.Records) {{ await ship(record); }}\n  {end}\n}};\n"
        );
        let response = handler_of([("app.ts", &handler)]).unwrap().response.clone();
        assert_eq!(matches!(response, Response::Failures(_)), is_declared, "{handler}");
    }
}
