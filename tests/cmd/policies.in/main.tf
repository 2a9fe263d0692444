variable "keep" {
  default = 345600
}

resource "aws_sqs_queue" "orders" {
  name                      = "orders"
  message_retention_seconds = var.keep
}
