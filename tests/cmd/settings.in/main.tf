data "aws_region" "current" {}
data "aws_caller_identity" "current" {}

locals {
  arns = "arn:aws:sqs:${data.aws_region.current.name}:${data.aws_caller_identity.current.account_id}"
}

resource "aws_sqs_queue" "orders" {
  name                       = "orders"
  visibility_timeout_seconds = terraform.workspace == "prod" ? 390 : 600
  redrive_policy             = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead.arn, maxReceiveCount = 3 })
}

resource "aws_sqs_queue" "dead" {
  name                      = "dead"
  message_retention_seconds = 1209600
}

resource "aws_lambda_function" "fulfil" {
  function_name = "fulfil"
  timeout       = 60
}

resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn                   = "${local.arns}:orders"
  function_name                      = aws_lambda_function.fulfil.arn
  maximum_batching_window_in_seconds = 60
  function_response_types            = ["ReportBatchItemFailures"]
}
