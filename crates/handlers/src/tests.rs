//! Tests of hostile sources, of nesting, and of signatures in languages that are not parsed.

use super::locate::Made;
use super::machine::Machine;
use super::nesting::Refusal;
use super::syntax::Module;
use super::{
    Code, CodeSource, Handler, Language, Outcome, Reader, Response, Unread, exports, imported, limits, python, scan,
    scenario, script,
};
use source::Sources;
use source::files::{Files, Scratch};
use std::sync::Arc;
use std::time::{Duration, Instant};

type Read = fn(&str) -> Result<Module, Refusal>;

/// Constructs that nest: language, text before the inner part, innermost text, and text after it.
const NESTED: [(&str, &str, &str, &str); 56] = [
    ("py", "(", "1", ")"),
    ("py", "[", "1", "]"),
    ("py", "{1: ", "1", "}"),
    ("py", "f(", "1", ")"),
    ("py", "not ", "1", ""),
    ("py", "-", "1", ""),
    ("py", "~", "1", ""),
    ("py", "await ", "1", ""),
    ("py", "lambda: ", "1", ""),
    ("py", "1 if 1 else ", "1", ""),
    ("py", "1 + ", "1", ""),
    ("py", "", "1", " + 1"),
    ("py", "", "1", " ** 1"),
    ("py", "", "1", " < 1"),
    ("py", "", "1", " and 1"),
    ("py", "", "a", ".b"),
    ("py", "", "a", "()"),
    ("py", "", "a", "[1]"),
    ("py", "f\"{", "1", "}\""),
    ("py", "f'''{", "1", "}'''"),
    ("py", "f\"{1:{", "1", "}}\""),
    ("py", "[1 for a in ", "1", "]"),
    ("py", "*", "1", ""),
    ("py", "(a := ", "1", ")"),
    ("js", "(", "1", ")"),
    ("js", "[", "1", "]"),
    ("js", "({a: ", "1", "})"),
    ("js", "f(", "1", ")"),
    ("js", "new a(", "1", ")"),
    ("js", "a => ", "1", ""),
    ("js", "async () => ", "1", ""),
    ("js", "() => { return ", "1", "; }"),
    ("js", "function () { return ", "1", "; }"),
    ("js", "class { a = ", "1", "; }"),
    ("js", "`${", "1", "}`"),
    ("js", "!", "1", ""),
    ("js", "- ", "1", ""),
    ("js", "typeof ", "1", ""),
    ("js", "typeof\n", "1", ""),
    ("js", "await ", "1", ""),
    ("js", "1 ? 1 : ", "1", ""),
    ("js", "1 + ", "1", ""),
    ("js", "", "1", " + 1"),
    ("js", "", "1", "\n+ 1"),
    ("js", "", "1", " ?? 1"),
    ("js", "", "a", ".b"),
    ("js", "", "a", "\n.b()"),
    ("js", "", "a", "?.b"),
    ("js", "", "a", "()"),
    ("js", "", "a", "[1]"),
    ("js", "", "a", "``"),
    ("js", "", "a", "!"),
    ("js", "a = ", "1", ""),
    ("js", "", "1", " as any"),
    ("js", "<any>", "1", ""),
    ("js", "/a/.test(", "1", ")"),
];

/// Statements and types that nest, with the same parts; `{}` is the indentation of a level in Python.
const STATEMENTS: [(&str, &str, &str, &str); 20] = [
    ("js", "if (a) ", "b();", ""),
    ("js", "if (a)\n", "b();", ""),
    ("js", "if (a) {} else ", "b();", ""),
    ("js", "if (a) { ", "b();", " }"),
    ("js", "for (;;) ", "b();", ""),
    ("js", "for (const a of b) ", "b();", ""),
    ("js", "while (a)\n", "b();", ""),
    ("js", "do ", "b();", " while (a);"),
    ("js", "{", "b();", "}"),
    ("js", "a: ", "b();", ""),
    ("js", "try { ", "b();", " } finally {}"),
    ("js", "switch (a) { case 1: ", "b();", " }"),
    ("js", "function a() { ", "b();", " }"),
    ("js", "type A = [", "1", "];"),
    ("js", "type A = B<", "1", ">;"),
    ("js", "type A = B<1, ", "1", ">;"),
    ("js", "type A = { a: ", "1", " };"),
    ("js", "type A = () => ", "1", ";"),
    ("js", "type A = keyof ", "B", ";"),
    ("js", "type A = B extends C ? D : ", "1", ";"),
];

/// Returns the construct nested `depth` times, as a statement.
fn nested((language, open, inner, close): (&str, &str, &str, &str), depth: usize) -> (Read, String) {
    // Only the first of several types is a declaration.
    let (head, open) = match open.strip_prefix("type A = ") {
        Some(rest) => ("type A = ", rest),
        None if inner == "b();" => ("", open),
        None => ("x = ", open),
    };
    let (close, tail) = match close.strip_suffix(';') {
        Some(rest) if head == "type A = " => (rest, ";"),
        _ => (close, ""),
    };
    let text = format!("{head}{}{inner}{}{tail}\n", open.repeat(depth), close.repeat(depth));
    (if language == "py" { python::read } else { script::read }, text)
}

#[test]
fn deep_nesting_of_every_construct_is_refused_before_parsing() {
    for construct in NESTED.into_iter().chain(STATEMENTS) {
        for depth in [700, 20_000] {
            let (read, text) = nested(construct, depth);
            assert_eq!(read(&text).err(), Some(Refusal::TooDeep), "{construct:?}");
        }
        let (read, text) = nested(construct, 3);
        assert!(!matches!(read(&text), Err(Refusal::TooDeep)), "{construct:?}");
    }
}

/// Characters that the parsers skip must not look like words, which end statements and hide prefixes.
#[test]
fn spaces_outside_of_ascii_hide_no_nesting() {
    for space in [
        "\u{feff}", "\u{a0}", "\u{85}", "\u{1680}", "\u{200b}", "\u{2028}", "\u{2029}", "\u{3000}",
    ] {
        for nested in [
            "typeof_",
            "_\na<\n",
            "a<_",
            "a_<\n",
            "if(a)_\n",
            "_a.b(_",
            "await_\n_",
            "new_new ",
        ] {
            let text = nested.replace('_', space).repeat(20_000);
            assert!(script::read(&text).is_err(), "{nested:?} {space:?}");
        }
        for nested in ["not_", "(_", "-_\\\n", "a if b else_", "lambda:_"] {
            let text = nested.replace('_', space).repeat(20_000);
            assert!(python::read(&text).is_err(), "{nested:?} {space:?}");
        }
    }
}

#[test]
fn signs_without_an_operand_hide_no_nesting() {
    for nested in [
        "\\\ndo ", "\\\na?", "\\ if(a)", "\\x\na:", "++\na?", "a?\n--\n", "a?++\n",
    ] {
        assert!(script::read(&nested.repeat(20_000)).is_err(), "{nested:?}");
    }
    assert!(script::read(&"let \\u0061 = i++\n++i\n".repeat(2_000)).is_ok());
}

#[test]
fn blocks_of_python_are_refused_by_indentation() {
    let blocks = |depth: usize| -> String {
        let lines = (0..depth).map(|level| format!("{}if a:\n", " ".repeat(level)));
        lines.collect::<String>() + &" ".repeat(depth) + "pass\n"
    };
    assert_eq!(python::read(&blocks(300)).err(), Some(Refusal::TooDeep));
    assert!(python::read(&blocks(50)).is_ok());
}

#[test]
fn long_files_without_deep_nesting_are_read() {
    let lines = |line: &str| line.repeat(2_000);
    for text in [
        "value = [1, 2, (3, 4)]\n",
        "if a:\n    b(c, d)\nelif e:\n    f.g.h()\n",
        "name = f\"{a}{b!r:>10} {c:{d}}\"\n",
        "print('((((' \"[[[[\")  # {{{{\n",
        "\"\"\"((((\n\"\"\"\n",
        "a = 1 + \\\n    2\n",
    ] {
        assert!(python::read(&lines(text)).is_ok(), "{text}");
    }
    for text in [
        "const a = [1, 2, (3, 4)]\n",
        "if (a) { b(c) } else if (d) { e.f() }\n",
        "call('((((', \"[[[[\", `{{{{ ${a} ${`${b}`}`)  // ((((\n",
        "const a = b / c / d; /* (((( */\n",
        "const a = /[(/]\\(/.test(b) ? /\\[/ : c\n",
        "a.b()\n  .c()\n  .d()\n",
        "const a = b as C<D, E>;\n",
        "i++\n",
        "export const handler = async (event: Event): Promise<void> => { await a(event); };\nlet b = 1;\n",
    ] {
        let text = lines(text).replace("export const handler", "const handler");
        // Declarations of one name repeat; each is in a block.
        let text: String = text.lines().map(|line| format!("{line}\n")).collect();
        let read = script::read(&text);
        assert!(!matches!(read, Err(Refusal::TooDeep)), "{text:.80}");
    }
}

#[test]
fn strings_and_regular_expressions_hide_no_nesting() {
    let deep = "(".repeat(5_000);
    for text in [
        format!("a = b / 1 + {deep}"),
        format!("a = /'/; {deep}"),
        format!("if (a) /`/.b; {deep}"),
        format!("a = `${{b}}`; {deep}"),
        format!("// \u{2028}{deep}"),
        format!("a = '\\\n'; {deep}"),
        format!("a = {{}} / 1 + {deep}"),
        format!("a++ / 1 + {deep}"),
        format!("a! / 1 + {deep}"),
    ] {
        assert!(script::read(&text).is_err(), "{text:.40}");
    }
    for text in [
        format!("a = f\"{{b:'}}\"; {deep}"),
        format!("a = f\"{{b:=({deep}"),
        format!("a = rb'\\'; {deep}'\n{deep}"),
        format!("a = '''b'c'''; {deep}"),
        format!("# a\r{deep}"),
    ] {
        assert!(python::read(&text).is_err(), "{text:.40}");
    }
}

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

/// Handlers in languages that are not parsed: name, source, and whether they return failed messages (`None` if no
/// handler is found).
const SCANNED: [(&str, &str, Option<bool>); 28] = [
    (
        "App::handleRequest",
        "class App { override fun handleRequest(e: SQSEvent, c: Context): SQSBatchResponse { f.add(SQSBatchResponse.BatchItemFailure(id)) } }",
        Some(true),
    ),
    (
        "Orders::handleRequest",
        "class Orders { public SQSBatchResponse handleRequest(SQSEvent e, Context c) { f.add(new SQSBatchResponse.BatchItemFailure(id)); } }",
        Some(true),
    ),
    (
        "Orders::handleRequest",
        "class Orders { @Override @Logging(clear = true) public SQSBatchResponse handleRequest(SQSEvent e) { return handler.processBatch(BatchMessageHandlerBuilder.a()); } }",
        Some(true),
    ),
    (
        "Orders::handleRequest",
        "class Orders { public Object handleRequest(SQSEvent e) { f.add(new BatchItemFailure(id)); return new SQSBatchResponse(f); } }",
        Some(true),
    ),
    (
        "Orders::handleRequest",
        "class Orders { public Object handleRequest(SQSEvent e) { f.add(new BatchItemFailure(id)); return all(f); } }",
        Some(false),
    ),
    (
        "Orders::handleRequest",
        "class Orders { Void handleRequest(Object e) { f.add(new BatchItemFailure(id)); send(new SQSBatchResponse(f)); } }",
        Some(false),
    ),
    // The list stays empty.
    (
        "Orders::handleRequest",
        "class Orders { SQSBatchResponse handleRequest(SQSEvent e) { return new SQSBatchResponse(); } }",
        Some(false),
    ),
    (
        "Orders::handleRequest",
        "class Orders { SQSBatchResponse handleRequest(SQSEvent e) { return a; } /* new BatchItemFailure() */ String s = \"BatchItemFailure(\"; }",
        Some(false),
    ),
    // Another method has the type.
    (
        "Orders::handleRequest",
        "class Orders { Void handleRequest(SQSEvent e) { SQSBatchResponse r = all(e); } SQSBatchResponse all(SQSEvent e) { new BatchItemFailure(a); } }",
        Some(false),
    ),
    (
        "Orders::handleRequest",
        "class Orders { SQSBatchResponse other(A a) { return handleRequest(a); } Void handleRequest(A a) { new BatchItemFailure(a); } }",
        Some(false),
    ),
    (
        "Orders::handleRequest",
        "class Others { SQSBatchResponse handleRequest(A a) { } }",
        None,
    ),
    (
        "Orders::handleRequest",
        "class Orders { void handleRequest(A a) {} void handleRequest(B b) {} }",
        None,
    ),
    (
        "Orders::handleRequest",
        "class Orders : RequestHandler<SQSEvent, SQSBatchResponse> { override fun handleRequest(e: SQSEvent, c: Context): SQSBatchResponse { f += SQSBatchResponse.BatchItemFailure(id) } }",
        Some(true),
    ),
    (
        "Orders::handleRequest",
        "class Orders { override fun handleRequest(e: SQSEvent): SQSBatchResponse = SQSBatchResponse(e.records.map { BatchItemFailure(it.messageId) }) }",
        Some(true),
    ),
    (
        "Orders::handleRequest",
        "class Orders extends RequestHandler[SQSEvent, SQSBatchResponse] { def handleRequest(e: SQSEvent, c: Context): SQSBatchResponse = { new BatchItemFailure(id) } }",
        Some(true),
    ),
    (
        "Function::Handle",
        "public class Function { public async Task<SQSBatchResponse> Handle(SQSEvent e, ILambdaContext c) { f.Add(new SQSBatchResponse.BatchItemFailure { ItemIdentifier = id }); } }",
        Some(true),
    ),
    (
        "Function::Handle",
        "public class Function { public BatchItemFailuresResponse Handle(SQSEvent _) => SqsBatchProcessor.Result.BatchItemFailuresResponse; }",
        Some(true),
    ),
    (
        "Function::Handle",
        "public class Function { const string A = @\"\\\"; public Task Handle(SQSEvent e) { new BatchItemFailure(); } }",
        Some(false),
    ),
    (
        "main",
        "func handle(c context.Context, e events.SQSEvent) (events.SQSEventResponse, error) { return events.SQSEventResponse{BatchItemFailures: f}, nil }\nfunc main() { lambda.Start(handle) }",
        Some(true),
    ),
    (
        "main",
        "func (h *H) Handle(e events.SQSEvent) (r events.SQSEventResponse, err error) { f = append(f, events.SQSBatchItemFailure{ItemIdentifier: id}); return }\nfunc main() { lambda.StartWithOptions(h.Handle, nil) }",
        Some(true),
    ),
    (
        "main",
        "func handle(e events.SQSEvent) error { return nil }\nfunc main() { lambda.Start(handle) }",
        Some(false),
    ),
    (
        "main",
        "func handle(e events.SQSEvent) (events.SQSEventResponse, error) { return events.SQSEventResponse{}, nil } // BatchItemFailures:\nfunc main() { lambda.Start(handle) }",
        Some(false),
    ),
    (
        "main",
        "func main() { lambda.Start(handle) }\nconst kind = \"order\"\nfunc handle(e events.SQSEvent) error { return nil }",
        Some(false),
    ),
    (
        "main",
        "func handle(e events.SQSEvent) (events.SQSEventResponse, error) { return events.SQSEventResponse{BatchItemFailures: f}, nil }\nfunc main() { lambda.Start(trace.Wrap(handle, nil)) }",
        Some(true),
    ),
    ("main", "func main() { lambda.Start(elsewhere.Handle) }", None),
    (
        "main",
        "async fn handle(e: LambdaEvent<SqsEvent>) -> Result<SqsBatchResponse, Error> { f.push(BatchItemFailure { item_identifier: id }); }\nasync fn main() { run(service_fn(handle)).await }",
        Some(true),
    ),
    (
        "main",
        "async fn handle<'a>(e: LambdaEvent<SqsEvent>) -> Result<(), Error> { let a = 'x'; Ok(()) }\nasync fn main() { run(service_fn(handle)).await }",
        Some(false),
    ),
    ("main", "fn main() {}", None),
];

#[test]
fn signatures_in_languages_that_are_not_parsed_are_found() {
    for (name, source, expected) in SCANNED {
        let found = scan::handler(source, name).map(|found| found.returns_failures == Some(true));
        assert_eq!(found, expected, "{source}");
    }
}

#[test]
fn signature_without_a_result_never_returns_failures() {
    for (name, source, expected) in [
        (
            "App::handle",
            "class App { public void handle(SQSEvent e) {} }",
            Some(false),
        ),
        (
            "App::handle",
            "class App { public Void handle(SQSEvent e) {} }",
            Some(false),
        ),
        (
            "App::handle",
            "class App { public async Task handle(SQSEvent e) {} }",
            Some(false),
        ),
        ("App::handle", "class App { public String handle(SQSEvent e) {} }", None),
        (
            "App::handle",
            "class App { public Task<object> handle(SQSEvent e) {} }",
            None,
        ),
        (
            "App::handle",
            "class App { public void handle(InputStream in, OutputStream out) {} }",
            None,
        ),
        (
            "main",
            "func main() { lambda.Start(run) }\nfunc run(e events.SQSEvent) error { }",
            Some(false),
        ),
        (
            "main",
            "func main() { lambda.Start(a.run) }\nfunc (a *App) run(e events.SQSEvent) { }",
            Some(false),
        ),
        (
            "main",
            "func main() { lambda.Start(run) }\nfunc run(e events.SQSEvent) (any, error) { }",
            None,
        ),
        (
            "main",
            "func main() { lambda.Start(func(e events.SQSEvent) error { return run(e) }) }\nfunc run(a A) (B, error) { }",
            Some(false),
        ),
        (
            "main",
            "func main() { lambda.Start(func(e events.SQSEvent) (any, error) { return run(e) }) }\nfunc run(a A) error { }",
            None,
        ),
        (
            "main",
            "func main() { lambda.Start(each(run)) }\nfunc run(e events.SQSEvent) error { }",
            None,
        ),
        (
            "main",
            "func main() { if a { lambda.Start(run) } else { lambda.Start(b) } }\nfunc run(e events.SQSEvent) error { }",
            None,
        ),
        (
            "main",
            "func main() { tracer.Start(run)\n lambda.Start(b.run) }\nfunc run(e events.SQSEvent) error { }",
            None,
        ),
        (
            "main",
            "func main() { lambda.Start(run) }\nfunc run(e Message) error { }",
            None,
        ),
    ] {
        let found = scan::handler(source, name).unwrap();
        assert_eq!(found.returns_failures, expected, "{source}");
    }
}

#[test]
fn scan_of_unfinished_source_ends() {
    for text in [
        "\"",
        "/*",
        "'\\",
        "@\"",
        "`",
        "\"\"\"",
        "lambda.Start(",
        "class A",
        "A(",
        "@",
        "é'",
    ] {
        for name in ["A::A", "main"] {
            scan::handler(text, name);
            scan::handler(&text.repeat(1_000), name);
        }
    }
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
fn signatures_that_never_end_are_scanned_in_linear_time() {
    for (name, text) in [
        ("App::handle", "class App SQSBatchResponse handle(\n"),
        ("App::handle", "class App { @A( handle("),
        ("main", "lambda.Start(handler, handler("),
    ] {
        assert_linear(text, |count| assert_eq!(scan::handler(&text.repeat(count), name), None));
    }
}

#[test]
fn long_type_of_a_result_is_not_read() {
    assert_linear("a long type", |count| {
        let text = format!("function run(): {} {{", "A | ".repeat(count));
        assert!(!imported::declares_value(&exports::tokens(&text), "run"));
    });
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
        entry_points: Vec::new(),
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
        (each, outside, Outcome::Raised),
        (each, keeps, Outcome::Raised),
        (each, other, Outcome::Raised),
        (
            &handler("for (const one of event.Records) await ship(one, true);"),
            logs,
            Outcome::Raised,
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
            Outcome::Raised,
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
        entry_points: Vec::new(),
    };
    let mut reader = Reader::new(&sources);
    reader.read([(&code, true)]);
    reader.handler(&code).unwrap()
}

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
