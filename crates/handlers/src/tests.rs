//! Tests of hostile sources, and of functions in other files.

mod files;
mod nesting;
mod signatures;

use super::find::exports;
use super::find::locate::Made;
use super::run::machine::Machine;
use super::{Code, CodeSource, Handler, Language, Outcome, Reader, Unread, limits, python, scenario, script};
use source::Sources;
use source::files::{Files, Scratch};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[test]
fn analysis_of_cyclic_names_ends() {
    let mut text = String::from("def handler(event, context):\n    return a0\n");
    for at in 0..40 {
        for to in 0..40 {
            text.push_str(&format!("a{at} = a{to} or f{to}(a{at}, a{to})\n"));
        }
        text.push_str(&format!(
            "def f{at}(x):\n    for r in a{at}:\n        f{}(f{at}(x))\n    return f{at}(x)\n",
            (at + 1) % 40
        ));
    }
    let recursive = "def handler(event, context):\n    for r in event['Records']:\n        handler(r, handler)\n";
    let endless = "def handler(event, context):\n    while True:\n        if work(event):\n            work(event)\n";
    let branches = "        if work(r):\n            r = work(r)\n".repeat(60);
    let branches = format!("def handler(event, context):\n    for r in event['Records']:\n{branches}");
    for text in [&text, recursive, endless, &branches] {
        let module = python::read(text).unwrap();
        scenario::facts(&Machine::load(&module), "handler", Made::Here, text);
    }
    let script =
        "class A extends A { constructor() { super(); this.a = new A(); } }\nexports.handler = async () => new A();\n";
    scenario::facts(
        &Machine::load(&script::read(script).unwrap()),
        "handler",
        Made::Here,
        script,
    );
}

/// Every operation that copies items is repeated until it would have made 2^40 items, or 60 copies of 1,000.
#[test]
fn copies_are_bounded() {
    let python = [
        "a += a",
        "a = a + a",
        "a.extend(a)",
        "a = [*a, *a]",
        "a = list(a) + list(a)",
        "a = [a, a]\n        a = [x for y in a for x in y]",
        "a = [y for x in (1, 2) for y in a]",
        "a = sorted(a) + a[0:]",
        "a = [a, a]",
        "a = {**a, **a} if False else dict(x=a, y=a)",
        "d = {**d, **d}",
        "d = {'a': d, 'b': d}",
        "d[record] = d",
        "d.update(d)\n        d[record['body']] = 1\n        d = {**d, **d}",
        "a = tuple(a) + tuple(reversed(a))",
        "a = [b for p in zip(a, a) for b in p]",
        "a = [b for p in enumerate(a) for b in p]",
        "a += (b for b in a)",
        "a.append(a)\n        a = a + a",
    ];
    let script = [
        "a = [...a, ...a];",
        "a.push(...a);",
        "a = a.concat(a);",
        "a = [a, a].flat();",
        "a = [1, 2].flatMap(() => a);",
        "a = [1, 2].map(() => a);",
        "a = [a, a];",
        "d = { ...d, ...d };",
        "d = { a: d, b: d };",
        "d = Object.assign({}, d, d, { [record.body]: 1 }, d); d = { ...d, ...d };",
        "a = [...a.slice(), ...a.map((x) => x)];",
        "a = Array.from(a).concat(Array.from(a));",
        "a = Object.values({ ...[a, a] }).flat();",
        "a.unshift(...a);",
        "a = [...a.entries()].flat().concat(a);",
        "a = a.reduce((all, one) => [...all, one, one], []);",
    ];
    let check = |text: &str, is_script: bool| {
        let start = Instant::now();
        let module = if is_script {
            script::read(text)
        } else {
            python::read(text)
        }
        .unwrap();
        scenario::facts(&Machine::load(&module), "handler", Made::Here, text);
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "{:?} for\n{text}",
            start.elapsed()
        );
    };
    let big: String = (0..1_000).map(|at| format!("'{at}',")).collect();
    for operation in python {
        let start = "def handler(event, context):\n    for record in event['Records']:\n        a = [record]\n        d = {'x': record}\n";
        check(
            &format!("{start}{}", format!("        {operation}\n").repeat(40)),
            false,
        );
        let start = start.replace("[record]", "list(BIG)");
        check(
            &format!("BIG = [{big}]\n{start}{}", format!("        {operation}\n").repeat(60)),
            false,
        );
        let operation = operation.replace("        ", "").replace("record", "BIG");
        check(
            &format!(
                "BIG = [{big}]\na = BIG\nd = {{}}\n{}",
                format!("{operation}\n").repeat(60)
            ),
            false,
        );
    }
    for operation in script {
        let start = "exports.handler = async (event) => { for (const record of event.Records) { let a = [record], d = { x: record };\n";
        check(&format!("{start}{}}} }};", format!("{operation}\n").repeat(40)), true);
        let start = start.replace("[record]", "[...BIG]");
        check(
            &format!(
                "const BIG = [{big}];\n{start}{}}} }};",
                format!("{operation}\n").repeat(60)
            ),
            true,
        );
    }
}

#[test]
fn broken_text_is_not_understood() {
    for text in ["def handler(:", "\0\0", "lambda: (", "\u{202e}="] {
        assert!(python::read(text).is_err(), "{text:?}");
    }
    for text in ["export const = 1", "function (", "a => {", "`${"] {
        assert!(script::read(text).is_err(), "{text:?}");
    }
}

#[test]
fn comment_lines_take_linear_time() {
    let text = format!(
        "def handler(event, context):\n    work(event)\n{}    return None\n",
        "    # the courier\n".repeat(25_000)
    );
    assert!(python::read(&text).is_ok());
}

/// Returns the shortest of three durations.
fn shortest(run: impl Fn()) -> Duration {
    let times = (0..3).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

/// Asserts that 64 times the input takes less than 512 times as long, so that a busy machine cannot fail it; quadratic
/// time is 4,096 times as long.
fn assert_linear(what: &str, scan: impl Fn(usize)) {
    let (few, many) = (shortest(|| scan(500)), shortest(|| scan(32_000)));
    assert!(many < 512 * few, "{what}: {few:?} {many:?}");
}

#[test]
fn exports_that_never_end_are_scanned_in_linear_time() {
    for (language, start, text) in [
        (Language::Script, "", "{export "),
        (Language::Script, "", "exports = { a, "),
        (Language::Python, "from a import (\n", "b,\n"),
    ] {
        assert_linear(text, |count| {
            let text = start.to_owned() + &text.repeat(count);
            assert_eq!(exports::origin(&text, language, "handler"), exports::Defined::Nowhere);
        });
    }
}

#[test]
fn file_with_too_many_handlers_is_read_for_the_first_only() {
    let padding = "# padding\n".repeat(50_000);
    let functions = (0..20).map(|at| format!("def h{at}(event, context):\n    return None\n"));
    let app = format!("{padding}{}", functions.collect::<String>());
    let most = limits::MAX_ANALYSED_PER_FILE / app.len();
    let directory = Scratch::with_files([("app.py", &*app)]).unwrap();
    let root = directory.path().to_owned();
    let sources = Sources::with_files(Files::new(Some(root.clone()), Vec::new()), root.clone());
    let code = |at: usize| Code {
        handler: Some(format!("app.h{at}")),
        source: Some(CodeSource::Path(root.clone())),
        ..Code::default()
    };
    let codes: Vec<Code> = (0..=most).map(code).collect();
    let mut reader = Reader::new(&sources);
    reader.read(codes.iter().map(|code| (code, true)));
    // What was read before is not counted again.
    reader.read(codes.iter().map(|code| (code, true)));
    let mut found: Vec<_> = codes.iter().filter_map(|code| reader.handler(code)).collect();
    assert!(matches!(found.pop(), Some(Err(Unread::Refused(why))) if why.contains("too many handlers")));
    assert!(found.len() == most && found.iter().all(Result::is_ok));
}

#[test]
fn failure_that_a_function_of_another_file_ends_is_found() {
    let logs =
        "export const ship = async (one) => { try { await send(one.body); } catch (error) { log.error(error); } };\n";
    let throws = &logs.replace("log.error(error);", "log.error(error); throw error;");
    let outside = &logs.replace("try {", "await check(one); try {");
    let other = &logs.replace("try {", "await ledger.save(); try {");
    let keeps = &format!("let last;\n{}", logs.replace("log.error(error);", "last = error;"));
    let handler = |body: &str| {
        format!("import {{ ship }} from './ship';\nexport const handler = async (event) => {{ {body} }};\n")
    };
    let each = &handler("for (const one of event.Records) await ship(one);");
    for (app, ship, outcome) in [
        (each, logs, Outcome::Deleted),
        (each, throws, Outcome::Raised),
        (each, outside, Outcome::Unknown),
        (each, keeps, Outcome::Unknown),
        (each, other, Outcome::Unknown),
        (
            &handler("for (const one of event.Records) await ship(one, true);"),
            logs,
            Outcome::Unknown,
        ),
        (
            &handler("for (const one of event.Records) await ship(JSON.parse(one.body));"),
            logs,
            Outcome::Deleted,
        ),
        // The result may say that the message failed.
        (
            &handler("for (const one of event.Records) { if (!await ship(one)) throw new Error(); }"),
            logs,
            Outcome::Unknown,
        ),
    ] {
        let found = handler_of([("app.ts", &**app), ("ship.ts", ship)]).unwrap();
        assert_eq!(found.outcome, outcome, "{app}\n{ship}");
        assert_eq!(found.swallowed_failure.is_some(), outcome == Outcome::Deleted);
        assert_eq!(&*found.name, "handler");
    }
}

#[test]
fn call_of_a_function_that_returns_a_promise_has_to_be_awaited() {
    let handler = "import { later, plain, unknown } from './other';\nimport { client, old } from 'sdk';\n\
                   export const handler = async (event) => {\n  for (const record of event.Records) <call>;\n};\n";
    let other = "export const later = async (record) => { await fetch(record.body); };\n\
                 export const plain = (record: Message): string => of(record);\n\
                 export const unknown = (record: Message) => of(record);\n";
    for (call, outcome) in [
        ("later(record)", Outcome::Deleted),
        ("fetch(record.body)", Outcome::Deleted),
        ("axios.post('/', record.body)", Outcome::Deleted),
        ("client.send(new PutCommand(record))", Outcome::Deleted),
        ("old.put(record).promise()", Outcome::Deleted),
        ("await later(record)", Outcome::Raised),
        ("await old.put(record).promise()", Outcome::Raised),
        ("plain(record)", Outcome::Raised),
        ("unknown(record)", Outcome::Unknown),
        ("client.send(record)", Outcome::Unknown),
        ("socket.send(command)", Outcome::Unknown),
        ("requests.delete(record)", Outcome::Unknown),
    ] {
        let found = handler_of([("app.ts", &*handler.replace("<call>", call)), ("other.ts", other)]);
        assert_eq!(found.unwrap().outcome, outcome, "{call}");
    }
}

/// A status that is read and skipped is a claim if the handler writes it before the work, to the same record.
#[test]
fn status_that_is_skipped_and_never_released_is_a_claim() {
    let handler = "import boto3\ntable = boto3.resource('dynamodb').Table('orders')\ndef handler(event, context):\n    \
                   for record in event['Records']:\n        id = record['messageId']\n        \
                   item = table.get_item(Key={'id': id}).get('Item')\n        \
                   if item and item['status'] in <skipped>:\n            continue\n        <write>\n        \
                   ship(record)\n        table.put_item(Item={'id': id, 'status': 'done'})\n";
    let put = "table.put_item(Item={'id': id, 'status': 'working'})";
    let update = "table.update_item(Key={'id': id}, UpdateExpression='SET s = :s', \
                  ExpressionAttributeValues={':s': 'working'})";
    for (skipped, write, is_claim) in [
        ("('working', 'done')", put, true),
        ("('working',)", update, true),
        // Only what is done is skipped.
        ("('done',)", put, false),
        // Another record, and another status.
        ("('working',)", &*put.replace("'id': id", "'id': 1"), false),
        ("('working',)", &*put.replace("working", "started"), false),
        ("('working',)", &*put.replace("table", "other"), false),
        // The record expires, or the handler watches the time.
        (
            "('working',)",
            &*put.replace("'id': id", "'id': id, 'ttl': soon()"),
            false,
        ),
        (
            "('working',)",
            &*format!("context.get_remaining_time_in_millis(); {put}"),
            false,
        ),
        ("('working',)", "pass", false),
    ] {
        let app = handler.replace("<skipped>", skipped).replace("<write>", write);
        let found = handler_of([("app.py", &*app), ("other.py", "")]).unwrap();
        assert_eq!(found.unreleased_claim.is_some(), is_claim, "{app}");
    }
}

/// The fact names the key that Lambda does not read.
#[test]
fn failures_under_another_key_are_misplaced() {
    let handler = "def handler(event, context):\n    failed = []\n    for record in event['Records']:\n        try:\n            \
                   ship(record)\n        except Exception:\n            failed.append({<item>: record['messageId']})\n    \
                   return <response>\n";
    for (item, response, misplaced, malformed) in [
        ("'itemIdentifier'", "{'batchItemFailures': failed}", None, None),
        (
            "'itemIdentifier'",
            "{'BatchItemFailures': failed}",
            Some("`BatchItemFailures`"),
            None,
        ),
        (
            "'itemIdentifier'",
            "{'batch_item_failures': failed}",
            Some("`batch_item_failures`"),
            None,
        ),
        (
            "'itemIdentifier'",
            "{'batchItemFailure': failed}",
            Some("`batchItemFailure`"),
            None,
        ),
        (
            "'itemIdentifier'",
            "{'statusCode': 200, 'body': json.dumps({'batchItemFailures': failed})}",
            Some("`body`"),
            None,
        ),
        (
            "'itemIdentifier'",
            "{'body': {'batchItemFailures': failed}}",
            Some("`body`"),
            None,
        ),
        (
            "'messageId'",
            "{'batchItemFailures': failed}",
            None,
            Some("`messageId`"),
        ),
        (
            "'ItemIdentifier'",
            "{'batchItemFailures': failed}",
            None,
            Some("`ItemIdentifier`"),
        ),
        ("'itemIdentifier'", "{'failed': failed}", None, None),
    ] {
        let app = handler.replace("<item>", item).replace("<response>", response);
        let found = handler_of([("app.py", &*app), ("other.py", "")]).unwrap();
        for (fact, expected) in [
            (&found.misplaced_failures, misplaced),
            (&found.malformed_response, malformed),
        ] {
            let words = fact.as_ref().map(|fact| &*fact.words);
            assert_eq!(words.is_some(), expected.is_some(), "{app}");
            assert!(
                words.is_none_or(|words| words.contains(expected.unwrap_or_default())),
                "{words:?}\n{app}"
            );
        }
    }
}

/// A method of an object whose class is in another file may handle the failure there.
#[test]
fn method_of_a_class_that_handles_exceptions_leaves_the_outcome_unknown() {
    let app = "from worker import Worker\nworker = Worker()\ndef handler(event, context):\n    \
               for record in event['Records']:\n        worker.run(record)\n";
    let throws = "class Worker:\n    def run(self, record):\n        ship(record)\n";
    let logs = "class Worker:\n    def run(self, record):\n        try:\n            ship(record)\n        \
                except Exception as error:\n            print(error)\n";
    for (worker, outcome) in [(throws, Outcome::Raised), (logs, Outcome::Unknown)] {
        let found = handler_of([("app.py", app), ("worker.py", worker)]).unwrap();
        assert_eq!(found.outcome, outcome, "{worker}");
    }
}

/// Code of another file that is not read may handle the failure, however the call reaches it.
#[test]
fn call_of_another_file_leaves_the_outcome_unknown() {
    const QUIET: &str = "async (order) => { try { await fetch(order); } catch (error) { console.error(error); } }";
    let each = |import: &str, call: &str| {
        format!("{import}\nexports.handler = async (event) => {{\n  for (const one of event.Records) {call};\n}};\n")
    };
    for (import, export, call) in [
        (
            "const http = require('./http');",
            "module.exports = { submit: <quiet> };",
            "await http.submit(one.body)",
        ),
        (
            "import * as http from './http';",
            "export const submit = <quiet>;",
            "await http.submit(one.body)",
        ),
        (
            "import http from './http';",
            "export default { submit: <quiet> };",
            "await http.submit(one.body)",
        ),
        (
            "const { http } = require('./http');\nconst { submit } = http;",
            "exports.http = { submit: <quiet> };",
            "await submit(one.body)",
        ),
        (
            "const http = require('./http')();",
            "module.exports = () => ({ submit: <quiet> });",
            "await http.submit(one.body)",
        ),
        (
            "import { Http } from './http';\nconst http = new Http();",
            "export class Http {}",
            "await http.submit(one.body)",
        ),
    ] {
        let http = export.replace("<quiet>", QUIET);
        let found = handler_of([("app.js", &*each(import, call)), ("http.js", &*http)]).unwrap();
        assert_eq!(found.outcome, Outcome::Unknown, "{import}");
        let found = handler_of([("app.js", &*each(import, call))]).unwrap();
        assert_eq!(found.outcome, Outcome::Raised, "{import}");
    }
}

/// A batch of one message fails as a whole.
#[test]
fn message_alone_in_its_batch_has_an_outcome_of_its_own() {
    let all = "exports.handler = async (event) => {\n  const all = await Promise.allSettled(event.Records.map((one) => \
               ship(one)));\n  const failed = all.filter((one) => one.status === 'rejected');\n  \
               if (failed.length === event.Records.length) throw failed[0].reason;\n};\n";
    let found = handler_of([("app.js", all), ("other.js", "")]).unwrap();
    assert_eq!(
        (found.outcome, found.outcome_alone),
        (Outcome::Deleted, Outcome::Raised)
    );
}

/// A call without `await` whose function may return a promise leaves the fate of the message unknown.
#[test]
fn imported_function_with_the_type_of_a_value_returns_no_promise() {
    let handler = "import { read as parse } from './read';\nimport { ship } from './ship';\n\
                   export const handler = async (event) => {\n  for (const record of event.Records) {\n    \
                   try { await ship(parse(record)); } catch (error) { console.log(error); }\n  }\n};\n";
    let inner = "export function read(record: Message): Order { return JSON.parse(record.body); }\n";
    for (declared, outcome) in [
        (inner, Outcome::Deleted),
        ("export { read } from './inner';\n", Outcome::Deleted),
        (
            "export const read = (record: Message): Order => of(record);\n",
            Outcome::Deleted,
        ),
        (
            "export const read = ({ body }: { body: string }, at = now()): Order[] => [];\n",
            Outcome::Deleted,
        ),
        (
            "export const read = (record: Message): Promise<Order> => of(record);\n",
            Outcome::Unknown,
        ),
        (
            "export async function read(record: Message): Order { return of(record); }\n",
            Outcome::Unknown,
        ),
        (
            "export const read = async (record: Message) => of(record);\n",
            Outcome::Unknown,
        ),
        (
            "export function read(record: Message) { return of(record); }\n",
            Outcome::Unknown,
        ),
        (
            "export function read(record: Message): any { return of(record); }\n",
            Outcome::Unknown,
        ),
        (
            "export function other(record: Message): Order { return of(record); }\n",
            Outcome::Unknown,
        ),
        ("export function read(record: Message): ", Outcome::Unknown),
    ] {
        let found = handler_of([("app.ts", handler), ("read.ts", declared), ("inner.ts", inner)]);
        assert_eq!(found.unwrap().outcome, outcome, "{declared}");
    }
    for (package, outcome) in [("date-fns/parse", Outcome::Deleted), ("elsewhere", Outcome::Unknown)] {
        let handler = handler.replace("./read", package);
        assert_eq!(
            handler_of([("app.ts", &handler)]).unwrap().outcome,
            outcome,
            "{package}"
        );
    }
}

#[test]
fn name_of_a_library_function_says_what_it_does() {
    let script = |before: &str, work: &str| {
        let body = format!("{before} try {{ await {work}; }} catch (error) {{ console.log(error); }}");
        format!("export const handler = async (event) => {{ for (const one of event.Records) {{ {body} }} }};")
    };
    let python = "@idempotent_function(data_keyword_argument='record')\ndef process(record):\n    ship(record)\n\n\n\
         def handler(event, context):\n    for record in event['Records']:\n        try:\n            \
         process(record=record)\n        except Exception as error:\n            print(error)\n";
    for (file, text, outcome) in [
        ("app.py", python.to_owned(), Outcome::Deleted),
        ("app.ts", script("", "ship(readFileSync(one.body))"), Outcome::Deleted),
        (
            "app.ts",
            script("const id = one.arn.split(':').pop();", "ship(id)"),
            Outcome::Deleted,
        ),
        (
            "app.ts",
            script("activeSpan.setTag('id', one.id);", "ship(one)"),
            Outcome::Deleted,
        ),
        (
            "app.ts",
            script("subsegment.addAnnotation('id', one.id);", "ship(one)"),
            Outcome::Deleted,
        ),
        (
            "app.ts",
            script("", "tracer.trace('one', async () => ship(one))"),
            Outcome::Deleted,
        ),
        (
            "app.ts",
            script("if (!one.hasOwnProperty('id')) { return; }", "ship(one)"),
            Outcome::Deleted,
        ),
        (
            "app.ts",
            script("", "AWSXRay.captureAsyncFunc('one', async () => ship(one))"),
            Outcome::Deleted,
        ),
        (
            "app.ts",
            script("", "ship(one)").replace("console.log", "logError"),
            Outcome::Deleted,
        ),
        (
            "app.py",
            python.replace("print(error)", "log_exception(error)"),
            Outcome::Deleted,
        ),
        (
            "app.ts",
            script("", "ship(one)").replace("console.log", "logAndThrow"),
            Outcome::Unknown,
        ),
        // The first part fails, too.
        (
            "app.ts",
            script("await tracer.trace('one', async () => ship(one));", "tell(one)"),
            Outcome::Unknown,
        ),
        (
            "app.ts",
            script("await logger.within(async () => ship(one));", "tell(one)"),
            Outcome::Unknown,
        ),
    ] {
        assert_eq!(handler_of([(file, &*text)]).unwrap().outcome, outcome, "{text}");
    }
}

/// Returns what is known of the handler `app.handler` in `files`.
fn handler_of<const N: usize>(files: [(&str, &str); N]) -> Result<Arc<Handler>, Unread> {
    let directory = Scratch::with_files(files).unwrap();
    let root = directory.path().to_owned();
    let sources = Sources::with_files(Files::new(Some(root.clone()), Vec::new()), root.clone());
    let code = Code {
        handler: Some("app.handler".to_owned()),
        source: Some(CodeSource::Path(root)),
        ..Code::default()
    };
    let mut reader = Reader::new(&sources);
    reader.read([(&code, true)]);
    reader.handler(&code).unwrap()
}
