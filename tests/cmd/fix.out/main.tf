# Orders wait here.
resource "aws_sqs_queue" "orders" {
  name                       = "orders"
  visibility_timeout_seconds = 360 # seconds

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.failed.arn
    maxReceiveCount     = 5
  })
}

resource "aws_sqs_queue" "failed" {
  name                      = "orders-failed"
  message_retention_seconds = 1209600
}

resource "aws_lambda_function" "fulfil" {
  function_name = "fulfil"
  timeout       = 60
}

resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn        = aws_sqs_queue.orders.arn
  function_name           = aws_lambda_function.fulfil.arn
  function_response_types = ["ReportBatchItemFailures"]
}

resource "aws_cloudwatch_metric_alarm" "failed" {
  alarm_name          = "orders-failed"
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  dimensions          = { QueueName = aws_sqs_queue.failed.name }
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 1
  threshold           = 0
  comparison_operator = "GreaterThanThreshold"
}
