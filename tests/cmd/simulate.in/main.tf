resource "aws_sqs_queue" "orders" {
  name                       = "orders"
  visibility_timeout_seconds = 30
}

resource "aws_lambda_function" "fulfil" {
  function_name = "fulfil"
  timeout       = 300
}

resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.fulfil.arn
  batch_size       = 1
}

resource "aws_sqs_queue" "uploads" {
  visibility_timeout_seconds = 43200
}
