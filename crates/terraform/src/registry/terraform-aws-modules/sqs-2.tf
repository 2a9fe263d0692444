# module: terraform-aws-modules/sqs/aws
# versions: >= 2.0.0, < 4.0.0

variable "create" {
  type    = bool
  default = true
}
variable "name" {
  type    = string
  default = null
}
variable "name_prefix" {
  type    = string
  default = null
}
variable "visibility_timeout_seconds" {
  type    = number
  default = 30
}
variable "message_retention_seconds" {
  type    = number
  default = 345600
}
variable "max_message_size" {
  type    = number
  default = 262144
}
variable "delay_seconds" {
  type    = number
  default = 0
}
variable "receive_wait_time_seconds" {
  type    = number
  default = 0
}
variable "policy" {
  type    = string
  default = ""
}
variable "redrive_policy" {
  type    = string
  default = ""
}
variable "fifo_queue" {
  type    = bool
  default = false
}
variable "content_based_deduplication" {
  type    = bool
  default = false
}
variable "kms_master_key_id" {
  type    = string
  default = null
}
variable "kms_data_key_reuse_period_seconds" {
  type    = number
  default = 300
}
variable "deduplication_scope" {
  type    = string
  default = null
}
variable "fifo_throughput_limit" {
  type    = string
  default = null
}
variable "redrive_allow_policy" {
  type    = string
  default = ""
}
variable "sqs_managed_sse_enabled" {
  type    = bool
  default = false
}
# They change nothing that is looked at.
variable "tags" {}

resource "aws_sqs_queue" "this" {
  count = var.create ? 1 : 0

  name                              = var.name
  name_prefix                       = var.name_prefix
  visibility_timeout_seconds        = var.visibility_timeout_seconds
  message_retention_seconds         = var.message_retention_seconds
  max_message_size                  = var.max_message_size
  delay_seconds                     = var.delay_seconds
  receive_wait_time_seconds         = var.receive_wait_time_seconds
  policy                            = var.policy
  redrive_policy                    = var.redrive_policy
  redrive_allow_policy              = var.redrive_allow_policy
  fifo_queue                        = var.fifo_queue
  content_based_deduplication       = var.content_based_deduplication
  deduplication_scope               = var.deduplication_scope
  fifo_throughput_limit             = var.fifo_throughput_limit
  kms_master_key_id                 = var.sqs_managed_sse_enabled ? null : var.kms_master_key_id
  kms_data_key_reuse_period_seconds = var.kms_data_key_reuse_period_seconds
  sqs_managed_sse_enabled           = var.sqs_managed_sse_enabled ? true : null
}

# Until 3.0.0.
output "this_sqs_queue_id" {
  value = try(aws_sqs_queue.this[0].id, "")
}
output "this_sqs_queue_arn" {
  value = try(aws_sqs_queue.this[0].arn, "")
}
# From 3.0.0.
output "sqs_queue_id" {
  value = try(aws_sqs_queue.this[0].id, "")
}
output "sqs_queue_arn" {
  value = try(aws_sqs_queue.this[0].arn, "")
}
output "sqs_queue_name" {
  value = try(aws_sqs_queue.this[0].name, "")
}
