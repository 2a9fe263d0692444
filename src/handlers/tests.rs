//! Tests of hostile sources, and of signatures in compiled languages.

use super::file::File;
use super::syntax::Module;
use super::typed::{Returns, csharp, go, java};
use super::{python, script};

/// Runs all analyses like [`super::said`], and returns `true` if the module was understood.
fn is_understood(module: &Module) -> bool {
    let file = File::new(module);
    let Some(entry) = file.entry("handler") else {
        return false;
    };
    let regions = file.regions(&entry);
    let _ = (
        file.swallowing(&entry, &regions),
        file.going_on(&regions),
        file.undated(&entry, &regions),
    );
    let _ = (
        file.unconditional_write(&regions),
        file.untimed(&regions),
        file.answers_of(entry.function, true, 0),
    );
    !file.is_exhausted()
}

#[test]
fn deeply_nested_source_is_not_understood() {
    for depth in [300, 20_000] {
        let (open, close) = ("(".repeat(depth), ")".repeat(depth));
        assert!(python::read(&format!("def handler(event, context):\n    return {open}1{close}\n")).is_none());
        assert!(script::read(&format!("exports.handler = async () => {open}1{close};\n")).is_none());
        let lists = "[".repeat(depth) + &"]".repeat(depth);
        assert!(script::read(&format!("const a = {lists};\n")).is_none());
        let blocks = "{".repeat(depth) + &"}".repeat(depth);
        assert!(script::read(&format!("exports.handler = async () => {blocks};\n")).is_none());
    }
    assert!(python::read("def handler(event, context):\n    return ((1))\n").is_some());
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
    let module = python::read(&text).unwrap();
    is_understood(&module);
    let circle = python::read(
        "a = b\nb = a\ndef handler(event, context):\n    for r in a:\n        handler(a, b)\n    return handler(a, b)\n",
    );
    is_understood(&circle.unwrap());
}

#[test]
fn broken_text_is_not_understood() {
    for text in ["def handler(:", "\0\0", "lambda: (", "\u{feff}\u{202e}="] {
        assert!(python::read(text).is_none(), "{text:?}");
    }
    for text in ["export const = 1", "function (", "a => {", "`${"] {
        assert!(script::read(text).is_none(), "{text:?}");
    }
}

const ORDERS: &str = "\
package com.example;
public class Orders implements RequestHandler<SQSEvent, SQSBatchResponse> {
    @Override
    public SQSBatchResponse handleRequest(SQSEvent event, Context context) {
        List<SQSBatchResponse.BatchItemFailure> failures = new ArrayList<>();
        for (SQSMessage message : event.getRecords()) {
            try {
                ship(message);
            } catch (Exception e) {
                failures.add(new SQSBatchResponse.BatchItemFailure(message.getMessageId()));
            }
        }
        return new SQSBatchResponse(failures);
    }
}
";

fn of_java(source: &str) -> Option<Returns> {
    java(source, "Orders", "handleRequest").map(|found| found.returns)
}

#[test]
fn return_type_of_java_method_decides_the_response() {
    assert_eq!(of_java(ORDERS), Some(Returns::Failures));
    // A response whose list stays empty.
    let empty = ORDERS
        .replace("SQSBatchResponse.BatchItemFailure", "Object")
        .replace("Object(", "Object(// BatchItemFailure\n");
    assert_eq!(of_java(&empty), Some(Returns::Unknown));
    for (kind, returns) in [
        ("Void", Returns::Nothing),
        ("void", Returns::Nothing),
        ("String", Returns::Nothing),
        ("Object", Returns::Unknown),
    ] {
        let source = ORDERS.replace("public SQSBatchResponse handle", &format!("public {kind} handle"));
        assert_eq!(of_java(&source), Some(returns), "{kind}");
    }
    let stream = "class Orders { public void handleRequest(InputStream in, OutputStream out, Context context) {} }";
    assert_eq!(of_java(stream), Some(Returns::Unknown));
    let both = "class Orders { void handleRequest(A a) {} void handleRequest(B b) {} }";
    assert_eq!(of_java(both), None);
    assert_eq!(of_java("class Others { void handleRequest(A a) {} }"), None);
}

const FUNCTION: &str = "\
using Amazon.Lambda.SQSEvents;
namespace Example.Orders;
public class Function
{
    public async Task<SQSBatchResponse> FunctionHandler(SQSEvent evnt, ILambdaContext context)
    {
        var failures = new List<SQSBatchResponse.BatchItemFailure>();
        foreach (var message in evnt.Records)
        {
            try { await Ship(message); }
            catch (Exception) { failures.Add(new SQSBatchResponse.BatchItemFailure { ItemIdentifier = message.MessageId }); }
        }
        return new SQSBatchResponse(failures);
    }
}
";

fn of_csharp(source: &str) -> Option<Returns> {
    csharp(source, "Function", "FunctionHandler").map(|found| found.returns)
}

#[test]
fn return_type_of_csharp_method_decides_the_response() {
    assert_eq!(of_csharp(FUNCTION), Some(Returns::Failures));
    assert!(csharp(FUNCTION, "Function", "FunctionHandler").unwrap().may_catch);
    let around = FUNCTION.replace("Example.Orders;", "Example.Orders {") + "}\n";
    assert_eq!(of_csharp(&around), Some(Returns::Failures));
    for (kind, returns) in [
        ("SQSBatchResponse", Returns::Failures),
        ("ValueTask<Amazon.Lambda.SQSEvents.SQSBatchResponse>", Returns::Failures),
        ("BatchItemFailuresResponse", Returns::Failures),
        ("Task", Returns::Nothing),
        ("void", Returns::Nothing),
        ("Task<string>", Returns::Nothing),
        ("Task<Answer>", Returns::Unknown),
        ("Stream", Returns::Unknown),
    ] {
        let source = FUNCTION.replace("Task<SQSBatchResponse> F", &format!("{kind} F"));
        assert_eq!(of_csharp(&source), Some(returns), "{kind}");
    }
    // A response whose list stays empty; only a comment mentions failures.
    let empty = "class Function { SQSBatchResponse FunctionHandler(SQSEvent e) => new(); /* BatchItemFailure */ }";
    assert_eq!(of_csharp(empty), Some(Returns::Unknown));
    let both = "class Function { void FunctionHandler(A a) {} void FunctionHandler(B b) {} }";
    assert_eq!(of_csharp(both), None);
    assert_eq!(of_csharp("class Other { void FunctionHandler(A a) {} }"), None);
    let parts = "partial class Function { void FunctionHandler(A a) {} } partial class Function { }";
    assert_eq!(of_csharp(parts), None);
}

fn of_go(results: &str, body: &str) -> Option<Returns> {
    let source = format!(
        "package main\nfunc handle(ctx context.Context, event events.SQSEvent) {results} {{\n{body}\n}}\nfunc main() {{ lambda.Start(handle) }}\n"
    );
    go(&source).map(|found| found.returns)
}

#[test]
fn result_types_of_go_function_decide_the_response() {
    let failures = "return events.SQSEventResponse{BatchItemFailures: failures}, nil";
    assert_eq!(
        of_go("(events.SQSEventResponse, error)", failures),
        Some(Returns::Failures)
    );
    assert_eq!(
        of_go("(response events.SQSEventResponse, err error)", failures),
        Some(Returns::Failures)
    );
    assert_eq!(
        of_go(
            "(events.SQSEventResponse, error)",
            "return events.SQSEventResponse{}, nil // BatchItemFailures"
        ),
        Some(Returns::Unknown)
    );
    assert_eq!(of_go("error", "return nil"), Some(Returns::Nothing));
    assert_eq!(of_go("", ""), Some(Returns::Nothing));
    assert_eq!(
        of_go("(map[string]interface{}, error)", "return nil, nil"),
        Some(Returns::Unknown)
    );
    assert_eq!(
        go("package main\nfunc main() { lambda.Start(elsewhere.Handle) }\n"),
        None
    );
}

/// Returns cause and reason of each note that the function's source in `file` was not read.
fn unread(file: &str, handler: &str, source: &str) -> Vec<(String, String)> {
    let template = format!(
        "Transform: AWS::Serverless-2016-10-31\nResources:\n  Q: {{Type: AWS::SQS::Queue}}\n  F:\n    \
         Type: AWS::Serverless::Function\n    Properties:\n      CodeUri: src/\n      Handler: {handler}\n      \
         Timeout: 5\n      Events: {{E: {{Type: SQS, Properties: {{Queue: !GetAtt Q.Arn}}}}}}\n"
    );
    let path = format!("src/{file}");
    let rule = crate::rules::by_id("batch-item-failures-ignored").expect("the rule exists");
    let outcome = crate::testing::run_files(rule, &[("template.yaml", &*template), (&*path, source)]);
    let notes = outcome.not_evaluated.into_iter();
    notes.map(|note| (note.reason, note.cause.to_owned())).collect()
}

#[test]
fn unreadable_source_is_reported() {
    let python = "def handler(event, context):\n    return None\n";
    let line = format!("#{}\n", "a".repeat(998));
    let padded = |size: usize| format!("{python}{}\n", line.repeat(66).split_at(size - python.len() - 1).0);
    let error = "it has a syntax error, or syntax that sqslint does not know";
    let larger = "it is larger than 64 KiB";
    for (file, handler, source, why) in [
        ("app.py", "app.handler", python.to_owned(), None),
        ("app.py", "app.handler", padded(64 << 10), None),
        ("app.py", "app.handler", padded((64 << 10) + 1), Some(larger)),
        ("app.py", "app.handler", "def handler(:\n".to_owned(), Some(error)),
        (
            "app.js",
            "app.handler",
            "exports.handler = async (event => {\n".to_owned(),
            Some(error),
        ),
        ("app.ts", "app.handler", "const a: = 1;\n".to_owned(), Some(error)),
        (
            "App.java",
            "App::handle",
            "class App { int handle( }\n".to_owned(),
            Some(error),
        ),
        (
            "App.cs",
            "A::App::Handle",
            "class App { int Handle( }\n".to_owned(),
            Some(error),
        ),
        ("main.go", "bootstrap", "package main\nfunc (\n".to_owned(), Some(error)),
        // A missing function or a missing source is not an error.
        ("app.py", "app.other", python.to_owned(), None),
        ("other.py", "app.handler", python.to_owned(), None),
    ] {
        let expected: Vec<_> = why.into_iter().map(|why| format!("was not read: {why}")).collect();
        let notes = unread(file, handler, &source);
        assert_eq!(notes.len(), expected.len(), "{file} {notes:?}");
        for ((reason, cause), expected) in notes.iter().zip(&expected) {
            assert!(reason.ends_with(expected) && reason.contains(file), "{reason}");
            assert!(["limit", "not-read"].contains(&&**cause), "{cause}");
        }
    }
}
