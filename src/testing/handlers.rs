//! Creates projects with a queue and a function with source code, for tests of rules that read it.

use super::check_files;
use crate::rules::Rule;

/// Asserts that the findings of `rule` in a Python handler are those that its markers expect.
pub fn check_python(rule: &Rule, handler: &str) {
    check_files(rule, &[("template.yaml", &template("")), ("src/app.py", handler)]);
}

/// Asserts that the findings of `rule` in a TypeScript handler are on the lines that end with `/*here*/`.
pub fn check_script(rule: &Rule, handler: &str) {
    let marked = handler.replace("/*here*/", &format!("// # expect: {}", rule.id));
    check_files(rule, &[("template.yaml", &template("")), ("src/app.ts", &marked)]);
}

/// Returns a SAM template with a function whose handler is `handler` in `src/app.py`, `src/app.js` or `src/app.ts`.
/// `settings` are further lines for the properties of its event, with their indentation.
pub fn template(settings: &str) -> String {
    format!(
        "Transform: AWS::Serverless-2016-10-31
Resources:
  Q:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: src/
      Handler: app.handler
      Events:
        E:
          Type: SQS
          Properties:
            Queue: !GetAtt Q.Arn
            {settings}
"
    )
}
