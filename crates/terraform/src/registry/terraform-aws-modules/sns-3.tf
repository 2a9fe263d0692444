# module: terraform-aws-modules/sns/aws
# versions: >= 3.0.0, < 5.0.0
# with: sns.tf

variable "create_sns_topic" {
  type    = bool
  default = true
}
variable "name_prefix" {
  type    = string
  default = null
}
variable "policy" {
  type    = string
  default = null
}
# They change nothing that is looked at.
variable "display_name" {}
variable "application_success_feedback_role_arn" {}
variable "application_success_feedback_sample_rate" {}
variable "application_failure_feedback_role_arn" {}
variable "http_success_feedback_role_arn" {}
variable "http_success_feedback_sample_rate" {}
variable "http_failure_feedback_role_arn" {}
variable "lambda_success_feedback_role_arn" {}
variable "lambda_success_feedback_sample_rate" {}
variable "lambda_failure_feedback_role_arn" {}
variable "sqs_success_feedback_role_arn" {}
variable "sqs_success_feedback_sample_rate" {}
variable "sqs_failure_feedback_role_arn" {}
variable "tags" {}
variable "firehose_success_feedback_role_arn" {}
variable "firehose_success_feedback_sample_rate" {}
variable "firehose_failure_feedback_role_arn" {}

# What stands for outputs that are not described.
data "external" "not_described" {}

resource "aws_sns_topic" "this" {
  count = var.create_sns_topic ? 1 : 0

  name                        = var.name
  name_prefix                 = var.name_prefix
  fifo_topic                  = var.fifo_topic
  content_based_deduplication = var.content_based_deduplication
  delivery_policy             = var.delivery_policy
  kms_master_key_id           = var.kms_master_key_id
  policy                      = var.policy
}

output "sns_topic_arn" {
  value = try(aws_sns_topic.this[0].arn, "")
}
output "sns_topic_id" {
  value = try(aws_sns_topic.this[0].id, "")
}
output "sns_topic_name" {
  value = try(aws_sns_topic.this[0].name, "")
}
output "sns_topic_owner" {
  value = data.external.not_described.result
}
