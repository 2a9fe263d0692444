# module: cloudposse/lambda-function/aws
# versions: >= 0.3.3, < 1.0.0
# with: context.tf

variable "lambda_environment" {
  type = object({
    variables = map(string)
  })
  default = null
}
variable "function_name" {
  type = string
}
variable "handler" {
  type    = string
  default = null
}
variable "kms_key_arn" {
  type    = string
  default = ""
}
variable "layers" {
  type    = list(string)
  default = []
}
variable "memory_size" {
  type    = number
  default = 128
}
variable "package_type" {
  type    = string
  default = "Zip"
}
variable "publish" {
  type    = bool
  default = false
}
variable "reserved_concurrent_executions" {
  type    = number
  default = -1
}
variable "runtime" {
  type    = string
  default = null
}
variable "timeout" {
  type    = number
  default = 3
}
variable "dead_letter_config_target_arn" {
  type    = string
  default = null
}
variable "role_name" {
  type    = string
  default = null
}
variable "invoke_function_permissions" {
  type = list(object({
    principal  = string
    source_arn = string
  }))
  default = []
}
# They change nothing that is looked at.
variable "namespace" {}
variable "tenant" {}
variable "environment" {}
variable "stage" {}
variable "name" {}
variable "delimiter" {}
variable "attributes" {}
variable "labels_as_tags" {}
variable "tags" {}
variable "label_order" {}
variable "regex_replace_chars" {}
variable "id_length_limit" {}
variable "label_value_case" {}
variable "architectures" {}
variable "cloudwatch_event_rules" {}
variable "cloudwatch_lambda_insights_enabled" {}
variable "cloudwatch_logs_retention_in_days" {}
variable "cloudwatch_logs_kms_key_arn" {}
variable "cloudwatch_log_subscription_filters" {}
variable "description" {}
variable "event_source_mappings" {}
variable "filename" {}
variable "ignore_external_function_updates" {}
variable "image_config" {}
variable "image_uri" {}
variable "lambda_at_edge" {}
variable "permissions_boundary" {}
variable "s3_bucket" {}
variable "s3_key" {}
variable "s3_object_version" {}
variable "sns_subscriptions" {}
variable "source_code_hash" {}
variable "ssm_parameter_names" {}
variable "tracing_config_mode" {}
variable "vpc_config" {}
variable "custom_iam_policy_arns" {}
variable "lambda_at_edge_enabled" {}
variable "iam_policy_description" {}
variable "ephemeral_storage_size" {}
variable "inline_iam_policy" {}

# What stands for what is not described.
data "external" "not_described" {}

locals {
  enabled = var.enabled == null ? try(var.context.enabled, true) : var.enabled
}

resource "aws_lambda_function" "this" {
  count = local.enabled ? 1 : 0

  function_name                  = var.function_name
  role                           = aws_iam_role.this[0].arn
  handler                        = var.handler
  runtime                        = var.runtime
  package_type                   = var.package_type
  memory_size                    = var.memory_size
  publish                        = var.publish
  reserved_concurrent_executions = var.reserved_concurrent_executions
  timeout                        = var.timeout
  kms_key_arn                    = var.kms_key_arn
  layers                         = var.layers

  dynamic "dead_letter_config" {
    for_each = var.dead_letter_config_target_arn != null ? [true] : []

    content {
      target_arn = var.dead_letter_config_target_arn
    }
  }

  dynamic "environment" {
    for_each = var.lambda_environment != null ? [var.lambda_environment] : []

    content {
      variables = environment.value.variables
    }
  }
}

resource "aws_lambda_permission" "invoke_function" {
  for_each = local.enabled ? { for i, permission in var.invoke_function_permissions : i => permission } : {}

  function_name = aws_lambda_function.this[0].function_name
  action        = "lambda:InvokeFunction"
  principal     = each.value.principal
  source_arn    = each.value.source_arn
}

resource "aws_iam_role" "this" {
  count = local.enabled ? 1 : 0

  name = try(coalesce(var.role_name, null), data.external.not_described.result)
}

# The module puts several policies together.
resource "aws_iam_role_policy" "this" {
  count = local.enabled ? 1 : 0

  role   = aws_iam_role.this[0].name
  policy = data.external.not_described.result
}

output "arn" {
  value = local.enabled ? aws_lambda_function.this[0].arn : null
}
output "invoke_arn" {
  value = local.enabled ? aws_lambda_function.this[0].invoke_arn : null
}
output "qualified_arn" {
  value = local.enabled ? aws_lambda_function.this[0].qualified_arn : null
}
output "function_name" {
  value = local.enabled ? aws_lambda_function.this[0].function_name : null
}
output "role_name" {
  value = local.enabled ? aws_iam_role.this[0].name : null
}
output "role_arn" {
  value = local.enabled ? aws_iam_role.this[0].arn : null
}
output "cloudwatch_log_group_name" {
  value = data.external.not_described.result
}
