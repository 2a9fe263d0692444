resource "aws_sqs_queue" "orders" {
  name                       = "orders"
  visibility_timeout_seconds = 360

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.failed.arn
    maxReceiveCount     = 3
  })
}

resource "aws_sqs_queue" "failed" {
  name                      = "orders-failed"
  message_retention_seconds = 1209600
}

data "archive_file" "fulfil" {
  type        = "zip"
  source_file = "app.py"
  output_path = "fulfil.zip"
}

resource "aws_lambda_function" "fulfil" {
  function_name = "fulfil"
  runtime       = "python3.13"
  handler       = "app.handler"
  filename      = data.archive_file.fulfil.output_path
  timeout       = 60
}

resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.fulfil.arn
}
