# A queue that two of three overrides are not about.
resource "aws_sqs_queue" "orders" {
  visibility_timeout_seconds = 0
}
