//! Tests of signatures in languages that are not parsed.

use super::assert_linear;
use crate::find::exports;
use crate::read::scan;
use crate::run::imported;

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
