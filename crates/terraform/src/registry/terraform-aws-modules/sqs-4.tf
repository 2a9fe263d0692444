# module: terraform-aws-modules/sqs/aws
# versions: >= 4.0.1, < 6.0.0

variable "create" {
  type    = bool
  default = true
}
variable "content_based_deduplication" {
  type    = bool
  default = null
}
variable "deduplication_scope" {
  type    = string
  default = null
}
variable "delay_seconds" {
  type    = number
  default = null
}
variable "fifo_queue" {
  type    = bool
  default = false
}
variable "fifo_throughput_limit" {
  type    = string
  default = null
}
variable "kms_data_key_reuse_period_seconds" {
  type    = number
  default = null
}
variable "kms_master_key_id" {
  type    = string
  default = null
}
variable "max_message_size" {
  type    = number
  default = null
}
variable "message_retention_seconds" {
  type    = number
  default = null
}
variable "name" {
  type    = string
  default = null
}
variable "use_name_prefix" {
  type    = bool
  default = false
}
variable "receive_wait_time_seconds" {
  type    = number
  default = null
}
variable "redrive_allow_policy" {
  default = {}
}
variable "redrive_policy" {
  default = {}
}
variable "sqs_managed_sse_enabled" {
  type    = bool
  default = true
}
variable "visibility_timeout_seconds" {
  type    = number
  default = null
}
variable "create_queue_policy" {
  type    = bool
  default = false
}
variable "source_queue_policy_documents" {
  type    = list(string)
  default = []
}
variable "override_queue_policy_documents" {
  type    = list(string)
  default = []
}
variable "queue_policy_statements" {
  default = null
}
variable "create_dlq" {
  type    = bool
  default = false
}
variable "dlq_content_based_deduplication" {
  type    = bool
  default = null
}
variable "dlq_deduplication_scope" {
  type    = string
  default = null
}
variable "dlq_delay_seconds" {
  type    = number
  default = null
}
variable "dlq_kms_data_key_reuse_period_seconds" {
  type    = number
  default = null
}
variable "dlq_kms_master_key_id" {
  type    = string
  default = null
}
variable "dlq_message_retention_seconds" {
  type    = number
  default = null
}
variable "dlq_name" {
  type    = string
  default = null
}
variable "dlq_receive_wait_time_seconds" {
  type    = number
  default = null
}
variable "dlq_redrive_allow_policy" {
  default = {}
}
variable "dlq_visibility_timeout_seconds" {
  type    = number
  default = null
}
variable "create_dlq_redrive_allow_policy" {
  type    = bool
  default = true
}
variable "dlq_fifo_throughput_limit" {
  type    = string
  default = null
}
variable "region" {
  type    = string
  default = null
}
# They change nothing that is looked at.
variable "tags" {}
variable "dlq_sqs_managed_sse_enabled" {}
variable "dlq_tags" {}
variable "create_dlq_queue_policy" {}
variable "source_dlq_queue_policy_documents" {}
variable "override_dlq_queue_policy_documents" {}
variable "dlq_queue_policy_statements" {}

data "aws_partition" "current" {}
data "aws_region" "current" {
  region = var.region
}

# What stands for what is not described.
data "external" "not_described" {}
data "aws_caller_identity" "current" {}

locals {
  name     = try(trimsuffix(var.name, ".fifo"), "")
  dlq_bare = try(coalesce(try(trimsuffix(var.dlq_name, ".fifo"), ""), "${local.name}-dlq"), "")
  dlq_name = var.fifo_queue && !var.use_name_prefix ? "${local.dlq_bare}.fifo" : local.dlq_bare

  # The receives that the module allows where `redrive_policy` says nothing.
  max_receive_count = 5
}

resource "aws_sqs_queue" "this" {
  count = var.create ? 1 : 0

  region = var.region

  name                              = var.use_name_prefix ? null : (var.fifo_queue ? "${local.name}.fifo" : local.name)
  name_prefix                       = var.use_name_prefix ? "${local.name}-" : null
  fifo_queue                        = var.fifo_queue
  content_based_deduplication       = var.content_based_deduplication
  deduplication_scope               = var.deduplication_scope
  fifo_throughput_limit             = var.fifo_throughput_limit
  delay_seconds                     = var.delay_seconds
  max_message_size                  = var.max_message_size
  message_retention_seconds         = var.message_retention_seconds
  receive_wait_time_seconds         = var.receive_wait_time_seconds
  visibility_timeout_seconds        = var.visibility_timeout_seconds
  kms_master_key_id                 = var.kms_master_key_id
  kms_data_key_reuse_period_seconds = var.kms_data_key_reuse_period_seconds
  sqs_managed_sse_enabled           = var.kms_master_key_id != null ? null : var.sqs_managed_sse_enabled
}

resource "aws_sqs_queue" "dlq" {
  count = var.create && var.create_dlq ? 1 : 0

  region = var.region

  name                              = var.use_name_prefix ? null : local.dlq_name
  name_prefix                       = var.use_name_prefix ? "${local.dlq_name}-" : null
  fifo_queue                        = var.fifo_queue
  content_based_deduplication       = try(coalesce(var.dlq_content_based_deduplication, var.content_based_deduplication), null)
  deduplication_scope               = try(coalesce(var.dlq_deduplication_scope, var.deduplication_scope), null)
  fifo_throughput_limit             = try(coalesce(var.dlq_fifo_throughput_limit, var.fifo_throughput_limit), null)
  delay_seconds                     = try(coalesce(var.dlq_delay_seconds, var.delay_seconds), null)
  max_message_size                  = var.max_message_size
  message_retention_seconds         = try(coalesce(var.dlq_message_retention_seconds, var.message_retention_seconds), null)
  receive_wait_time_seconds         = try(coalesce(var.dlq_receive_wait_time_seconds, var.receive_wait_time_seconds), null)
  visibility_timeout_seconds        = try(coalesce(var.dlq_visibility_timeout_seconds, var.visibility_timeout_seconds), null)
  kms_master_key_id                 = try(coalesce(var.dlq_kms_master_key_id, var.kms_master_key_id), null)
  kms_data_key_reuse_period_seconds = try(coalesce(var.dlq_kms_data_key_reuse_period_seconds, var.kms_data_key_reuse_period_seconds), null)
}

resource "aws_sqs_queue_redrive_policy" "this" {
  count = var.create && !var.create_dlq && length(var.redrive_policy) > 0 ? 1 : 0

  region = var.region

  queue_url      = aws_sqs_queue.this[0].url
  redrive_policy = jsonencode(var.redrive_policy)
}

resource "aws_sqs_queue_redrive_policy" "dlq" {
  count = var.create && var.create_dlq ? 1 : 0

  region = var.region

  queue_url = aws_sqs_queue.this[0].url
  redrive_policy = jsonencode(merge(
    {
      deadLetterTargetArn = aws_sqs_queue.dlq[0].arn
      maxReceiveCount     = local.max_receive_count
    },
    var.redrive_policy,
  ))
}

resource "aws_sqs_queue_redrive_allow_policy" "this" {
  count = var.create && !var.create_dlq && length(var.redrive_allow_policy) > 0 ? 1 : 0

  region = var.region

  queue_url            = aws_sqs_queue.this[0].url
  redrive_allow_policy = jsonencode(var.redrive_allow_policy)
}

resource "aws_sqs_queue_redrive_allow_policy" "dlq" {
  count = var.create && var.create_dlq && var.create_dlq_redrive_allow_policy ? 1 : 0

  region = var.region

  queue_url = aws_sqs_queue.dlq[0].url
  redrive_allow_policy = jsonencode(merge(
    {
      redrivePermission = "byQueue"
      sourceQueueArns   = [aws_sqs_queue.this[0].arn]
    },
    var.dlq_redrive_allow_policy,
  ))
}

data "aws_iam_policy_document" "this" {
  count = var.create && var.create_queue_policy ? 1 : 0

  source_policy_documents   = var.source_queue_policy_documents
  override_policy_documents = var.override_queue_policy_documents

  dynamic "statement" {
    for_each = var.queue_policy_statements != null ? var.queue_policy_statements : {}

    content {
      sid           = try(statement.value.sid, null)
      effect        = try(statement.value.effect, null)
      actions       = try(statement.value.actions, null)
      not_actions   = try(statement.value.not_actions, null)
      resources     = try(coalesce(statement.value.resources, null), [aws_sqs_queue.this[0].arn])
      not_resources = try(statement.value.not_resources, null)

      dynamic "principals" {
        for_each = try(coalesce(statement.value.principals, null), [])

        content {
          type        = principals.value.type
          identifiers = principals.value.identifiers
        }
      }

      dynamic "condition" {
        for_each = try(coalesce(statement.value.condition, null), coalesce(statement.value.conditions, null), [])

        content {
          test     = condition.value.test
          variable = condition.value.variable
          values   = condition.value.values
        }
      }
    }
  }
}

resource "aws_sqs_queue_policy" "this" {
  count = var.create && var.create_queue_policy ? 1 : 0

  region = var.region

  queue_url = aws_sqs_queue.this[0].url
  policy    = data.aws_iam_policy_document.this[0].json
}

output "queue_id" {
  value = try(aws_sqs_queue.this[0].id, null)
}
output "queue_arn" {
  value = try(aws_sqs_queue.this[0].arn, null)
}
output "queue_arn_static" {
  # Until 5.2.0 it names no FIFO queue rightly.
  value = var.create && !var.use_name_prefix ? (var.fifo_queue ? data.external.not_described.result : "arn:${data.aws_partition.current.partition}:sqs:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:${aws_sqs_queue.this[0].name}") : ""
}
output "queue_url" {
  value = try(aws_sqs_queue.this[0].url, null)
}
output "queue_name" {
  value = try(aws_sqs_queue.this[0].name, null)
}
output "dead_letter_queue_id" {
  value = try(aws_sqs_queue.dlq[0].id, null)
}
output "dead_letter_queue_arn" {
  value = try(aws_sqs_queue.dlq[0].arn, null)
}
output "dead_letter_queue_arn_static" {
  value = var.create && var.create_dlq && !var.use_name_prefix ? "arn:${data.aws_partition.current.partition}:sqs:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:${aws_sqs_queue.dlq[0].name}" : ""
}
output "dead_letter_queue_url" {
  value = try(aws_sqs_queue.dlq[0].url, null)
}
output "dead_letter_queue_name" {
  value = try(aws_sqs_queue.dlq[0].name, null)
}
