//! Adds the facts about the source code of functions and workers to the graphs.

use crate::graph::{Code, CodeSource, Function, Graph};
use handlers::{Programs, Reader};
use rustc_hash::{FxHashMap, FxHashSet};
use source::files::clean;
use source::{Sources, Span};

/// Reads the source of functions that a queue may invoke, and of programs that poll queues if a queue has a worker. A
/// function in several graphs is read once.
pub(super) struct Handlers<'s> {
    reader: Reader<'s>,
    sources: &'s Sources,
    programs: Option<Programs>,
    /// Names of handlers that are not unique in the graphs of all units.
    shared: FxHashSet<String>,
}

impl<'s> Handlers<'s> {
    /// Creates a reader for `graphs`, and for others with some of their units.
    pub(super) fn new<'g>(graphs: impl Iterator<Item = &'g Graph>, sources: &'s Sources) -> Self {
        Handlers {
            programs: None,
            shared: shared(&graphs.collect::<Vec<_>>()),
            reader: Reader::new(sources),
            sources,
        }
    }

    /// Adds the facts to `graph`.
    pub(super) fn add_to(&mut self, graph: &mut Graph) {
        let here = shared(&[graph]);
        let is_only = |code: &Code| {
            let name = code.handler.as_deref().unwrap_or_default();
            !self.shared.contains(name) && !here.contains(name)
        };
        let pollers = graph.possible_pollers().map(|(at, function)| {
            let code = &function.code;
            (at, self.reader.polls(code, is_only(code)))
        });
        let pollers = pollers.filter(|(_, programs)| !programs.is_empty()).collect();
        graph.learn_pollers(pollers);
        if graph.has_workers() {
            let programs = self.programs.get_or_insert_with(|| self.reader.programs());
            let path = |span: Span| self.sources.file(span.file).shown().to_string();
            graph.learn_programs(programs, &path);
        }
        self.reader.read(graph.invoked_code().map(|code| (code, is_only(code))));
        graph.learn_handlers(|code| self.reader.handler(code));
    }
}

/// Returns the names of handlers that several functions with different code have. A file that fits one of them by its
/// name alone may be that of another.
fn shared(graphs: &[&Graph]) -> FxHashSet<String> {
    let mut first: FxHashMap<&str, (&Function, &str)> = FxHashMap::default();
    let mut shared = FxHashSet::default();
    for graph in graphs {
        for function in graph.functions() {
            let code = &function.code;
            let name = match &code.handler {
                Some(name) => name,
                // An image, whose Dockerfile states it.
                None if code.source.is_some() => "",
                None => continue,
            };
            let key = graph.unit(function.resource.unit).key.as_str();
            let (other, unit) = first.entry(name).or_insert((function, key));
            let is_same = *unit == key && other.resource.address == function.resource.address;
            let is_known = function.code.source != Some(CodeSource::Package(String::new()));
            if !(is_same || is_known && is_one(other.code.source.as_ref(), code.source.as_ref())) {
                shared.insert(name.to_owned());
            }
        }
    }
    shared
}

/// Returns `true` for the same source, also if modules refer to its path from different directories.
fn is_one(one: Option<&CodeSource>, other: Option<&CodeSource>) -> bool {
    match (one, other) {
        (Some(CodeSource::Path(one)), Some(CodeSource::Path(other))) => clean(one) == clean(other),
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::ONLY_TYPE;
    use crate::{rules, testing};
    use rustc_hash::FxHashSet;

    /// Returns cause and reason of each note that the function's source in `file` was not read.
    fn unread(file: &str, handler: &str, source: &str) -> Vec<(String, String)> {
        let template = format!(
            "Transform: AWS::Serverless-2016-10-31\nResources:\n  Q: {{Type: AWS::SQS::Queue}}\n  F:\n    \
             Type: AWS::Serverless::Function\n    Properties:\n      CodeUri: src/\n      Handler: {handler}\n      \
             Timeout: 5\n      Events: {{E: {{Type: SQS, Properties: {{Queue: !GetAtt Q.Arn}}}}}}\n"
        );
        let path = format!("src/{file}");
        let rule = rules::by_id("batch-item-failures-ignored").expect("the rule exists");
        let outcome = testing::run_files(rule, &[("template.yaml", &*template), (&*path, source)]);
        let notes = outcome.not_evaluated.into_iter();
        notes.map(|note| (note.reason, note.cause.to_owned())).collect()
    }

    #[test]
    fn unread_handlers_are_counted_by_reason() {
        let service = "service: s\nprovider: {name: aws, runtime: <runtime>}\nfunctions:\n  f:\n    handler: <handler>\n    \
                       events: [{sqs: {arn: 'arn:aws:sqs:eu-west-1:111122223333:q'}}]\n";
        let go = "package main\n\nimport \"github.com/aws/aws-lambda-go/events\"\n\nfunc main() { lambda.Start(handle) }\n\nfunc \
                  handle(event events.SQSEvent) error { return nil }\n";
        let config = "{\"compilerOptions\": {\"outDir\": \"dist\", \"rootDir\": \".\"}, \"include\": [\"src\"]}";
        let rule = rules::by_id("batch-item-failures-ignored").expect("the rule exists");
        for (runtime, handler, file, text, gap) in [
            (
                "nodejs22.x",
                "dist/worker.handler",
                "tsconfig.json",
                config,
                Some("source not found"),
            ),
            (
                "python3.13",
                "app.handler",
                "app.py",
                "def handler(:\n",
                Some("source not parsed"),
            ),
            ("provided.al2023", "cmd/f", "cmd/f/main.go", go, Some(ONLY_TYPE)),
            (
                "python3.13",
                "app.handler",
                "app.py",
                "def handler(event, context):\n    return None\n",
                None,
            ),
        ] {
            let service = service.replace("<runtime>", runtime).replace("<handler>", handler);
            let outcome = testing::run_files(rule, &[("serverless.yml", &*service), (file, text)]);
            let [handler] = &*outcome.coverage.handlers else {
                panic!("{:?}", outcome.coverage.handlers);
            };
            assert_eq!(handler.gap, gap, "{handler:?}");
            if let Err(reason) = &handler.read {
                let paths: Vec<&str> = reason.split('`').skip(1).step_by(2).collect();
                let once: FxHashSet<&str> = paths.iter().copied().collect();
                assert_eq!(paths.len(), once.len(), "{reason}");
            }
        }
    }

    #[test]
    fn unreadable_source_is_reported() {
        let python = "def handler(event, context):\n    return None\n";
        let line = format!("#{}\n", "a".repeat(998));
        let padded = |size: usize| format!("{python}{}\n", line.repeat(530).split_at(size - python.len() - 1).0);
        let error = "it has a syntax error, or syntax that sqslint does not know";
        let larger = "it is larger than 512 KiB";
        let deep = "it is nested too deeply";
        for (file, handler, source, why) in [
            ("app.py", "app.handler", python.to_owned(), None),
            ("app.py", "app.handler", padded(512 << 10), None),
            ("app.py", "app.handler", padded((512 << 10) + 1), Some(larger)),
            ("app.py", "app.handler", "def handler(:\n".to_owned(), Some(error)),
            ("app.py", "app.handler", "(".repeat(1_000), Some(deep)),
            (
                "app.js",
                "app.handler",
                "exports.handler = async (event => {\n".to_owned(),
                Some(error),
            ),
            ("app.js", "app.handler", "[".repeat(1_000), Some(deep)),
            ("app.ts", "app.handler", "const a: = 1;\n".to_owned(), Some(error)),
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
}
