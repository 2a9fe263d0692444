variable "timeout" {
  default = 5
}

variable "window" {}

resource "aws_sqs_queue" "orders" {
  visibility_timeout_seconds = 60
}

resource "aws_lambda_function" "fulfil" {
  function_name = "fulfil"
  timeout       = var.timeout
}

resource "aws_lambda_event_source_mapping" "fulfil" {
  event_source_arn                   = aws_sqs_queue.orders.arn
  function_name                      = aws_lambda_function.fulfil.arn
  maximum_batching_window_in_seconds = var.window
}
