variable "visibility" {
  type = number
}

variable "retention" {}

module "orders" {
  source     = "./modules/queue"
  visibility = var.visibility
  retention  = var.retention
  # Nothing stands here.
}

resource "aws_lambda_function" "worker" {
  function_name = "worker"
  timeout       = 60
}

resource "aws_lambda_event_source_mapping" "worker" {
  event_source_arn = module.orders.arn
  function_name    = aws_lambda_function.worker.arn
}

# The audit trail belongs to another team.
resource "aws_sns_topic" "audit" {
  name = "audit"
}
