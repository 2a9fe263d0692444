# module: terraform-aws-modules/sqs/aws
# versions: >= 1.2.0, < 1.2.1

variable "create" {
  default = true
}
variable "sqs_queue_with_kms" {
  default = false
}
variable "name" {
  default = ""
}
variable "visibility_timeout_seconds" {
  default = 30
}
variable "message_retention_seconds" {
  default = 345600
}
variable "max_message_size" {
  default = 262144
}
variable "delay_seconds" {
  default = 0
}
variable "receive_wait_time_seconds" {
  default = 0
}
variable "policy" {
  default = ""
}
variable "redrive_policy" {
  default = ""
}
variable "fifo_queue" {
  default = false
}
variable "content_based_deduplication" {
  default = false
}
variable "kms_master_key_id" {
  default = ""
}
variable "kms_data_key_reuse_period_seconds" {
  default = 300
}
# They change nothing that is looked at.
variable "tags" {}

resource "aws_sqs_queue" "this" {
  count = var.create && !var.sqs_queue_with_kms ? 1 : 0

  name                        = var.name
  visibility_timeout_seconds  = var.visibility_timeout_seconds
  message_retention_seconds   = var.message_retention_seconds
  max_message_size            = var.max_message_size
  delay_seconds               = var.delay_seconds
  receive_wait_time_seconds   = var.receive_wait_time_seconds
  policy                      = var.policy
  redrive_policy              = var.redrive_policy
  fifo_queue                  = var.fifo_queue
  content_based_deduplication = var.content_based_deduplication
}

resource "aws_sqs_queue" "this_with_kms" {
  count = var.create && var.sqs_queue_with_kms ? 1 : 0

  name                              = var.name
  visibility_timeout_seconds        = var.visibility_timeout_seconds
  message_retention_seconds         = var.message_retention_seconds
  max_message_size                  = var.max_message_size
  delay_seconds                     = var.delay_seconds
  receive_wait_time_seconds         = var.receive_wait_time_seconds
  policy                            = var.policy
  redrive_policy                    = var.redrive_policy
  fifo_queue                        = var.fifo_queue
  content_based_deduplication       = var.content_based_deduplication
  kms_master_key_id                 = var.kms_master_key_id
  kms_data_key_reuse_period_seconds = var.kms_data_key_reuse_period_seconds
}

output "this_sqs_queue_id" {
  value = try(aws_sqs_queue.this[0].id, aws_sqs_queue.this_with_kms[0].id, "")
}
output "this_sqs_queue_arn" {
  value = try(aws_sqs_queue.this[0].arn, aws_sqs_queue.this_with_kms[0].arn, "")
}
