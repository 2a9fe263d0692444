//! Flags functions whose source lacks the function that their handler names.

use super::prelude::*;
use crate::graph::Unread;
use crate::rules::shared::handlers::invokes;

pub(super) static RULE: Rule = rule!(
    "handler-function-missing",
    Category::Handlers,
    Severity::Error,
    "the handler names a function that its file does not define, so every invocation fails"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for (function, when) in findings.invoked(mapping, &mapping.resource.when) {
            match &function.handler {
                Err(Unread::NoFunction { words, file, functions }) => {
                    let headline = format!("every invocation of {function} fails: {words}");
                    let help = match &**functions {
                        "" => "name a file that defines it".to_owned(),
                        functions => format!("name a function that the file has: {functions}"),
                    };
                    let finding = Finding::new("handler", headline, function.resource.header, "names the handler")
                        .severity_if_enabled(Severity::Error, mapping)
                        .label(*file, "the source, without the function")
                        .label(mapping.resource.header, invokes(mapping))
                        .help(help);
                    findings.report(&when, mapping, finding);
                }
                Ok(_) => {
                    let met = fact(true, || "the source defines the handler".to_owned());
                    findings.satisfied(&when, mapping, met);
                }
                Err(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::handlers::template;
    use crate::testing::{check_file_cases, run_files};

    #[test]
    fn file_without_the_function_is_flagged() {
        check_file_cases(
            &RULE,
            &[("template.yaml", &template("")), ("src/app.py", "<source>\n")],
            "
            source                                                                | finding
            def run(event, context):\\n    pass                                    | 1
            class Worker:\\n    def handler(self, event):\\n        pass            | 1
            def run():\\n    handler(1)                                            | 1
            import json                                                           | 1
            def handler(event, context):\\n    pass                                |
            async def handler(event, context):\\n    pass                          |
            from orders import handler                                            |
            from orders import run as handler                                     |
            from orders import *                                                  |
            import handler                                                        |
            handler = make()                                                      |
            run, handler = make()                                                 |
            try:\\n    from fast import handler\\nexcept ImportError:\\n    pass      |
            if DEBUG:\\n    def handler(event, context):\\n        pass              |
            for handler in make():\\n    pass                                      |
            globals()['handler'] = make()                                         |
            def __getattr__(name):\\n    return make(name)                         |
            def make():\\n    global handler\\n    handler = 1                       |
            def run(:                                                             |
            ",
        );
    }

    #[test]
    fn script_without_the_export_is_flagged() {
        check_file_cases(
            &RULE,
            &[("template.yaml", &template("")), ("src/app.js", "<source>\n")],
            "
            source                                                | finding
            exports.run = async (event) => {};                    | 1
            export const run = async (event) => {};               | 1
            async function run() {}\\nmodule.exports = { run };    | 1
            export default async function run(event) {}           | 1
            const work = async () => {};\\nexport { work as run }; | 1
            exports.handler = async (event) => {};                |
            const handler = async () => {};                       | 1
            this.handler = async () => {};                        |
            export const handler = async (event) => {};           |
            export function handler(event) {}                     |
            const run = () => {};\\nexport { run as handler };     |
            export { handler } from './orders.js';                |
            export * from './orders.js';                          |
            module.exports = require('./orders.js');              |
            module.exports = make();                              |
            module.exports = { ...make() };                       |
            module.exports['handler'] = () => {};                 |
            Object.assign(exports, make());                       |
            export const { handler } = make();                    |
            export = make();                                      |
            ",
        );
    }

    #[test]
    fn file_that_was_found_by_its_name_is_not_flagged() {
        let template = template("").replace("CodeUri: src/", "CodeUri: dist/orders.zip");
        let files = [
            ("template.yaml", &*template),
            ("orders/app.py", "def run(event, context):\n    pass\n"),
        ];
        assert_eq!(run_files(&RULE, &files).findings.len(), 0);
    }

    #[test]
    fn inline_code_without_the_function_is_flagged() {
        let template = "Resources:
  Q: {Type: AWS::SQS::Queue}
  F:
    Type: AWS::Lambda::Function
    Properties: {Handler: index.handler, Runtime: python3.13, Code: {ZipFile: \"def <name>(event, context):\\n    pass\\n\"}}
  M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}}
";
        check_file_cases(
            &RULE,
            &[("template.yaml", template)],
            "name | finding\nrun | 1\nhandler |",
        );
    }
}
