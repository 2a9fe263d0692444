variable "visibility" {}
variable "retention" {}

resource "aws_sqs_queue" "this" {
  visibility_timeout_seconds = var.visibility
  message_retention_seconds  = var.retention

  # sqslint: ignore[max-receive-count-too-low] an order is never shipped twice
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead.arn
    maxReceiveCount     = 1
  })
}

resource "aws_sqs_queue" "dead" {
  message_retention_seconds = 1209600
}

output "arn" {
  value = aws_sqs_queue.this.arn
}
