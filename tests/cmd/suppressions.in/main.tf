resource "aws_sqs_queue" "polled" {
  # sqslint: ignore[visibility-timeout-zero] polled by one worker, which deletes first
  visibility_timeout_seconds = 0
}

# sqslint: ignore[visibility-timeout-zero until=2027-03-31] until the worker is rewritten
resource "aws_sqs_queue" "old" {
  visibility_timeout_seconds = 0
}

# sqslint: ignore[visibility-timeout-zreo]
resource "aws_sqs_queue" "new" {
  visibility_timeout_seconds = 30
}
