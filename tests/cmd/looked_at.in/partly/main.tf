resource "aws_sqs_queue" "orders" {
  sqs_managed_sse_enabled = true
}

# Receives a queue.
module "worker" {
  source = "git::https://example.com/modules//lambda"
  source_arn = aws_sqs_queue.orders.arn
}

# May declare a queue.
module "letters" {
  source = "git::https://example.com/modules//sqs"
}

module "network" {
  source = "git::https://example.com/modules//vpc"
}
