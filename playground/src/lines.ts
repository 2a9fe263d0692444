// Writes settings of the calculator as lines of each dialect.

export interface Settings {
  consumer: "function" | "workers";
  visibility: number;
  receives: number;
  timeout: number;
  batch: number;
  window: number;
  workers: number;
  every: number;
  extend: number;
  p50: number;
  p99: number;
  max: number;
  rate: number;
}

/** Returns the lines of each dialect that set what the files of a project determine. */
export function lines({ consumer, visibility, receives, timeout, batch, window }: Settings): Record<string, string> {
  const isFunction = consumer === "function";
  const redrive = (text: string) => (receives > 0 ? text : "");
  const terraform = `resource "aws_sqs_queue" "orders" {
  visibility_timeout_seconds = ${visibility}
${redrive(`  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.orders_dlq.arn
    maxReceiveCount     = ${receives}
  })
`)}}
`;
  const consumed = `
resource "aws_lambda_function" "worker" {
  timeout = ${timeout}
}

resource "aws_lambda_event_source_mapping" "orders" {
  batch_size                         = ${batch}
  maximum_batching_window_in_seconds = ${window}
}
`;
  const queue = `Orders:
  Type: AWS::SQS::Queue
  Properties:
    VisibilityTimeout: ${visibility}
${redrive(`    RedrivePolicy:
      deadLetterTargetArn: !GetAtt OrdersDlq.Arn
      maxReceiveCount: ${receives}
`)}`;
  const settings = (indent: string) => `${indent}BatchSize: ${batch}\n${indent}MaximumBatchingWindowInSeconds: ${window}\n`;
  const mapping = `Worker:
  Type: AWS::Lambda::Function
  Properties:
    Timeout: ${timeout}
OrdersMapping:
  Type: AWS::Lambda::EventSourceMapping
  Properties:
${settings("    ")}`;
  const sam = `Worker:
  Type: AWS::Serverless::Function
  Properties:
    Timeout: ${timeout}
    Events:
      Orders:
        Type: SQS
        Properties:
          Queue: !GetAtt Orders.Arn
${settings("          ")}`;
  return {
    Terraform: terraform + (isFunction ? consumed : ""),
    CloudFormation: queue + (isFunction ? mapping : ""),
    SAM: queue + (isFunction ? sam : ""),
  };
}
