# What several descriptions hold.

variable "namespace" {
  type    = string
  default = null
}
variable "tenant" {
  type    = string
  default = null
}
variable "environment" {
  type    = string
  default = null
}
variable "stage" {
  type    = string
  default = null
}
variable "name" {
  type    = string
  default = null
}
variable "delimiter" {
  type    = string
  default = null
}
variable "attributes" {
  type    = list(string)
  default = []
}
variable "label_order" {
  type    = list(string)
  default = null
}
variable "regex_replace_chars" {
  type    = string
  default = null
}
variable "id_length_limit" {
  type    = number
  default = null
}
variable "label_value_case" {
  type    = string
  default = null
}
variable "allowed_aws_services_for_sns_published" {
  type    = list(string)
  default = []
}
variable "kms_master_key_id" {
  type    = string
  default = "alias/aws/sns"
}
variable "encryption_enabled" {
  type    = bool
  default = true
}
variable "sqs_queue_kms_master_key_id" {
  type    = string
  default = "alias/aws/sqs"
}
variable "sqs_queue_kms_data_key_reuse_period_seconds" {
  type    = number
  default = 300
}
variable "allowed_iam_arns_for_sns_publish" {
  type    = list(string)
  default = []
}
variable "sns_topic_policy_json" {
  type    = string
  default = ""
}
variable "sqs_dlq_enabled" {
  type    = bool
  default = false
}
variable "sqs_dlq_max_message_size" {
  type    = number
  default = 262144
}
variable "sqs_dlq_message_retention_seconds" {
  type    = number
  default = 1209600
}
variable "delivery_policy" {
  type    = string
  default = null
}
variable "fifo_topic" {
  type    = bool
  default = false
}
variable "fifo_queue_enabled" {
  type    = bool
  default = false
}
variable "content_based_deduplication" {
  type    = bool
  default = false
}
variable "redrive_policy" {
  type    = string
  default = null
}
# They change nothing that is looked at.
variable "labels_as_tags" {}
variable "tags" {}

# What stands for what is not described.
data "external" "not_described" {}

locals {
  # A label and the context that it extends: what is set here goes before what comes with the context.
  enabled     = var.enabled == null ? try(var.context.enabled, true) : var.enabled
  namespace   = var.namespace == null ? try(var.context.namespace, null) : var.namespace
  tenant      = var.tenant == null ? try(var.context.tenant, null) : var.tenant
  environment = var.environment == null ? try(var.context.environment, null) : var.environment
  stage       = var.stage == null ? try(var.context.stage, null) : var.stage
  name        = var.name == null ? try(var.context.name, null) : var.name
  attributes  = compact(distinct(concat(try(coalesce(var.context.attributes, []), []), coalesce(var.attributes, []))))
  delimiter   = var.delimiter == null ? try(var.context.delimiter, null) : var.delimiter
  order       = var.label_order == null ? try(var.context.label_order, null) : var.label_order
  limit       = var.id_length_limit == null ? try(var.context.id_length_limit, null) : var.id_length_limit
  removed     = var.regex_replace_chars == null ? try(var.context.regex_replace_chars, null) : var.regex_replace_chars
  case        = var.label_value_case == null ? try(var.context.label_value_case, null) : var.label_value_case
  separator   = local.delimiter == null ? "-" : local.delimiter

  texts = {
    namespace   = local.namespace
    tenant      = local.tenant
    environment = local.environment
    stage       = local.stage
    name        = local.name
  }
  clean      = { for k, v in local.texts : k => v == null ? "" : replace(v, coalesce(local.removed, "/[^-a-zA-Z0-9]/"), "") }
  clean_list = distinct([for v in local.attributes : replace(v, coalesce(local.removed, "/[^-a-zA-Z0-9]/"), "")])
  cased = {
    none  = merge(local.clean, { attributes = join(local.separator, local.clean_list) })
    lower = merge({ for k, v in local.clean : k => lower(v) }, { attributes = join(local.separator, [for v in local.clean_list : lower(v)]) })
    upper = merge({ for k, v in local.clean : k => upper(v) }, { attributes = join(local.separator, [for v in local.clean_list : upper(v)]) })
    title = merge({ for k, v in local.clean : k => title(lower(v)) }, { attributes = join(local.separator, [for v in local.clean_list : title(lower(v))]) })
  }
  labels = local.cased[local.case == null ? "lower" : local.case]
  parts  = [for k in coalescelist(local.order == null ? [] : local.order, ["namespace", "environment", "stage", "name", "attributes"]) : local.labels[k] if length(local.labels[k]) > 0]
  full   = join(local.separator, local.parts)
  # Cut with a hash at its end.
  id = (local.limit == null ? 0 : local.limit) != 0 && length(local.full) > (local.limit == null ? 0 : local.limit) ? data.external.not_described.result : local.full
}

locals {
  topic_name  = var.fifo_topic ? "${local.id}.fifo" : local.id
  queue_name  = var.fifo_queue_enabled ? "${local.id}.fifo" : local.id
  dlq_enabled = local.enabled && var.sqs_dlq_enabled
}

resource "aws_sns_topic" "this" {
  count = local.enabled ? 1 : 0

  name                        = local.topic_name
  fifo_topic                  = var.fifo_topic
  content_based_deduplication = var.content_based_deduplication
  delivery_policy             = var.delivery_policy
  kms_master_key_id           = var.encryption_enabled && var.kms_master_key_id != "" ? var.kms_master_key_id : ""
}

resource "aws_sns_topic_policy" "this" {
  count = local.enabled && length(var.allowed_aws_services_for_sns_published) > 0 || length(var.allowed_iam_arns_for_sns_publish) > 0 ? 1 : 0

  arn    = aws_sns_topic.this[0].arn
  policy = length(var.sns_topic_policy_json) > 0 ? var.sns_topic_policy_json : data.external.not_described.result
}

resource "aws_sqs_queue" "dead_letter_queue" {
  count = local.dlq_enabled ? 1 : 0

  name                              = local.queue_name
  fifo_queue                        = var.fifo_queue_enabled
  max_message_size                  = var.sqs_dlq_max_message_size
  message_retention_seconds         = var.sqs_dlq_message_retention_seconds
  kms_master_key_id                 = var.sqs_queue_kms_master_key_id
  kms_data_key_reuse_period_seconds = var.sqs_queue_kms_data_key_reuse_period_seconds
}

resource "aws_sqs_queue_policy" "default" {
  count = local.dlq_enabled ? 1 : 0

  queue_url = aws_sqs_queue.dead_letter_queue[0].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "SQS:SendMessage"
      Resource  = aws_sqs_queue.dead_letter_queue[0].arn
      Principal = { AWS = "*" }
      Condition = { ArnEquals = { "aws:SourceArn" = aws_sns_topic.this[0].arn } }
    }]
  })
}

output "sns_topic" {
  value = local.enabled ? aws_sns_topic.this[0] : null
}
output "sns_topic_name" {
  value = local.enabled ? local.topic_name : null
}
output "sns_topic_id" {
  value = local.enabled ? aws_sns_topic.this[0].id : null
}
output "sns_topic_arn" {
  value = local.enabled ? aws_sns_topic.this[0].arn : null
}
output "sns_topic_owner" {
  value = data.external.not_described.result
}
output "aws_sns_topic_subscriptions" {
  value = local.enabled ? aws_sns_topic_subscription.this : null
}
output "dead_letter_queue_url" {
  value = local.dlq_enabled ? aws_sqs_queue.dead_letter_queue[0].url : null
}
output "dead_letter_queue_id" {
  value = local.dlq_enabled ? aws_sqs_queue.dead_letter_queue[0].id : null
}
output "dead_letter_queue_name" {
  value = local.dlq_enabled ? aws_sqs_queue.dead_letter_queue[0].name : null
}
output "dead_letter_queue_arn" {
  value = local.dlq_enabled ? aws_sqs_queue.dead_letter_queue[0].arn : null
}
