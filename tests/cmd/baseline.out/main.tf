resource "aws_sqs_queue" "orders" {
  visibility_timeout_seconds = 30
}

resource "aws_lambda_function" "fulfil" {
  timeout = 280
}

resource "aws_lambda_event_source_mapping" "fulfil_orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.fulfil.arn
}
