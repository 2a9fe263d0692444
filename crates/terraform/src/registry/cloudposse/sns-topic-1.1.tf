# module: cloudposse/sns-topic/aws
# versions: >= 1.1.1, < 2.0.0
# with: context.tf, sns-topic.tf

variable "subscribers" {
  type = map(object({
    protocol               = string
    endpoint               = string
    endpoint_auto_confirms = optional(bool, false)
    filter_policy          = optional(string, null)
    filter_policy_scope    = optional(string, null)
    raw_message_delivery   = optional(bool, false)
  }))
  default = {}
}
variable "delivery_status" {}

resource "aws_sns_topic_subscription" "this" {
  for_each = local.enabled ? var.subscribers : {}

  topic_arn              = aws_sns_topic.this[0].arn
  protocol               = each.value.protocol
  endpoint               = each.value.endpoint
  endpoint_auto_confirms = try(each.value.endpoint_auto_confirms, null)
  filter_policy          = try(each.value.filter_policy, null)
  filter_policy_scope    = try(each.value.filter_policy_scope, null)
  raw_message_delivery   = try(each.value.raw_message_delivery, null)
  redrive_policy = var.sqs_dlq_enabled ? coalesce(var.redrive_policy, jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead_letter_queue[0].arn
  })) : null
}
