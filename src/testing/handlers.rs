//! A queue and a function whose source lies beside it, for tests of what sources say.

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
