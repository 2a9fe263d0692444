# module: terraform-aws-modules/sns/aws
# versions: >= 5.0.0, < 8.0.0
# with: sns.tf

variable "create" {
  type    = bool
  default = true
}
variable "use_name_prefix" {
  type    = bool
  default = false
}
variable "topic_policy" {
  type    = string
  default = null
}
variable "create_topic_policy" {
  type    = bool
  default = true
}
variable "source_topic_policy_documents" {
  type    = list(string)
  default = []
}
variable "override_topic_policy_documents" {
  type    = list(string)
  default = []
}
variable "enable_default_topic_policy" {
  type    = bool
  default = true
}
variable "topic_policy_statements" {
  default = null
}
variable "create_subscription" {
  type    = bool
  default = true
}
variable "subscriptions" {
  default = {}
}
variable "region" {
  type    = string
  default = null
}
# They change nothing that is looked at.
variable "tags" {}
variable "application_feedback" {}
variable "display_name" {}
variable "firehose_feedback" {}
variable "http_feedback" {}
variable "lambda_feedback" {}
variable "sqs_feedback" {}
variable "signature_version" {}
variable "data_protection_policy" {}
variable "tracing_config" {}
variable "archive_policy" {}
variable "fifo_throughput_scope" {}

# What stands for outputs that are not described.
data "external" "not_described" {}

data "aws_caller_identity" "current" {}

locals {
  name = try(trimsuffix(var.name, ".fifo"), "")
}

resource "aws_sns_topic" "this" {
  count = var.create ? 1 : 0

  region = var.region

  name                        = var.use_name_prefix ? null : (var.fifo_topic ? "${local.name}.fifo" : local.name)
  name_prefix                 = var.use_name_prefix ? "${local.name}-" : null
  fifo_topic                  = var.fifo_topic
  content_based_deduplication = var.content_based_deduplication
  delivery_policy             = var.delivery_policy
  kms_master_key_id           = var.kms_master_key_id
  policy                      = var.create_topic_policy ? null : var.topic_policy
}

data "aws_iam_policy_document" "this" {
  count = var.create && var.create_topic_policy ? 1 : 0

  source_policy_documents   = var.source_topic_policy_documents
  override_policy_documents = var.override_topic_policy_documents

  dynamic "statement" {
    for_each = var.enable_default_topic_policy ? [1] : []

    content {
      effect    = "Allow"
      actions   = ["sns:Subscribe", "sns:SetTopicAttributes", "sns:RemovePermission", "sns:Publish", "sns:ListSubscriptionsByTopic", "sns:GetTopicAttributes", "sns:DeleteTopic", "sns:AddPermission"]
      resources = [aws_sns_topic.this[0].arn]

      principals {
        type        = "AWS"
        identifiers = ["*"]
      }

      condition {
        test     = "StringEquals"
        variable = "AWS:SourceAccount"
        values   = [data.aws_caller_identity.current.account_id]
      }
    }
  }

  dynamic "statement" {
    for_each = var.topic_policy_statements != null ? var.topic_policy_statements : {}

    content {
      sid           = try(statement.value.sid, null)
      effect        = try(statement.value.effect, null)
      actions       = try(statement.value.actions, null)
      not_actions   = try(statement.value.not_actions, null)
      resources     = try(coalesce(statement.value.resources, null), [aws_sns_topic.this[0].arn])
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

resource "aws_sns_topic_policy" "this" {
  count = var.create && var.create_topic_policy ? 1 : 0

  region = var.region

  arn    = aws_sns_topic.this[0].arn
  policy = data.aws_iam_policy_document.this[0].json
}

resource "aws_sns_topic_subscription" "this" {
  for_each = { for k, v in var.subscriptions : k => v if var.create && var.create_subscription }

  region = var.region

  topic_arn                       = aws_sns_topic.this[0].arn
  protocol                        = each.value.protocol
  endpoint                        = each.value.endpoint
  confirmation_timeout_in_minutes = try(each.value.confirmation_timeout_in_minutes, null)
  delivery_policy                 = try(each.value.delivery_policy, null)
  endpoint_auto_confirms          = try(each.value.endpoint_auto_confirms, null)
  filter_policy                   = try(each.value.filter_policy, null)
  filter_policy_scope             = try(each.value.filter_policy_scope, null)
  raw_message_delivery            = try(each.value.raw_message_delivery, null)
  redrive_policy                  = try(each.value.redrive_policy, null)
  replay_policy                   = try(each.value.replay_policy, null)
  subscription_role_arn           = try(each.value.subscription_role_arn, null)
}

output "topic_arn" {
  value = try(aws_sns_topic.this[0].arn, null)
}
output "topic_id" {
  value = try(aws_sns_topic.this[0].id, null)
}
output "topic_name" {
  value = try(aws_sns_topic.this[0].name, null)
}
output "topic_owner" {
  value = data.external.not_described.result
}
output "topic_beginning_archive_time" {
  value = data.external.not_described.result
}
output "subscriptions" {
  value = aws_sns_topic_subscription.this
}
