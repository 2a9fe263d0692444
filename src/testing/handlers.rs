//! A queue and a function whose source lies beside it, for tests of what sources say.

use super::check_files;
use crate::rules::Rule;

/// Asserts what `rule` finds of a handler in Python, by the markers in it.
pub fn check_python(rule: &Rule, handler: &str) {
    check_files(rule, &[("template.yaml", &template("")), ("src/app.py", handler)]);
}

/// The same of one in TypeScript, in which `/*here*/` ends the lines that `rule` finds something on.
pub fn check_script(rule: &Rule, handler: &str) {
    let marked = handler.replace("/*here*/", &format!("// # expect: {}", rule.id));
    check_files(rule, &[("template.yaml", &template("")), ("src/app.ts", &marked)]);
}

/// A SAM template whose function is `handler` of `src/app.py`, `src/app.js` or `src/app.ts`; `settings` are further lines
/// of its event, indented as its properties.
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
