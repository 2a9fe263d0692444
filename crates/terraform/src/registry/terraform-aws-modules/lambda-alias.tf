# What several descriptions hold.

variable "create" {
  type    = bool
  default = true
}
variable "use_existing_alias" {
  type    = bool
  default = false
}
variable "refresh_alias" {
  type    = bool
  default = true
}
variable "create_async_event_config" {
  type    = bool
  default = false
}
variable "create_version_async_event_config" {
  type    = bool
  default = true
}
variable "create_qualified_alias_async_event_config" {
  type    = bool
  default = true
}
variable "create_version_allowed_triggers" {
  type    = bool
  default = true
}
variable "create_qualified_alias_allowed_triggers" {
  type    = bool
  default = true
}
variable "name" {
  type    = string
  default = ""
}
variable "function_name" {
  type    = string
  default = ""
}
variable "function_version" {
  type    = string
  default = ""
}
variable "maximum_event_age_in_seconds" {
  type    = number
  default = null
}
variable "maximum_retry_attempts" {
  type    = number
  default = null
}
variable "destination_on_failure" {
  type    = string
  default = null
}
variable "destination_on_success" {
  type    = string
  default = null
}
variable "allowed_triggers" {
  type    = map(any)
  default = {}
}
variable "event_source_mapping" {
  default = {}
}
# They change nothing that is looked at.
variable "description" {}
variable "routing_additional_version_weights" {}

# What stands for outputs that are not described.
data "external" "not_described" {}

locals {
  # An existing alias is that of the function that the call names.
  alias_arn = var.create && var.use_existing_alias ? var.function_name : try(aws_lambda_alias.no_refresh[0].arn, aws_lambda_alias.with_refresh[0].arn, "")
  qualifiers = {
    version         = var.create_version_async_event_config
    qualified_alias = var.create_qualified_alias_async_event_config
  }
}

resource "aws_lambda_alias" "no_refresh" {
  count = var.create && !var.use_existing_alias && !var.refresh_alias ? 1 : 0

  name             = var.name
  function_name    = var.function_name
  function_version = var.function_version != "" ? var.function_version : "$LATEST"
}

resource "aws_lambda_alias" "with_refresh" {
  count = var.create && !var.use_existing_alias && var.refresh_alias ? 1 : 0

  name             = var.name
  function_name    = var.function_name
  function_version = var.function_version != "" ? var.function_version : "$LATEST"
}

# The flags of the qualifiers leave nothing out.
resource "aws_lambda_function_event_invoke_config" "this" {
  for_each = var.create && var.create_async_event_config ? local.qualifiers : {}

  function_name                = var.function_name
  qualifier                    = each.key == "version" ? var.function_version : var.name
  maximum_event_age_in_seconds = var.maximum_event_age_in_seconds
  maximum_retry_attempts       = var.maximum_retry_attempts

  dynamic "destination_config" {
    for_each = var.destination_on_failure != null || var.destination_on_success != null ? [true] : []

    content {
      dynamic "on_failure" {
        for_each = var.destination_on_failure != null ? [true] : []

        content {
          destination = var.destination_on_failure
        }
      }

      dynamic "on_success" {
        for_each = var.destination_on_success != null ? [true] : []

        content {
          destination = var.destination_on_success
        }
      }
    }
  }
}

resource "aws_lambda_permission" "version_triggers" {
  for_each = var.create && var.create_version_allowed_triggers ? var.allowed_triggers : {}

  function_name  = var.function_name
  qualifier      = var.function_version
  action         = try(each.value.action, "lambda:InvokeFunction")
  principal      = try(each.value.principal, format("%s.amazonaws.com", try(each.value.service, "")))
  source_arn     = try(each.value.source_arn, null)
  source_account = try(each.value.source_account, null)
}

resource "aws_lambda_permission" "qualified_alias_triggers" {
  for_each = var.create && var.create_qualified_alias_allowed_triggers ? var.allowed_triggers : {}

  function_name  = var.function_name
  qualifier      = var.name
  action         = try(each.value.action, "lambda:InvokeFunction")
  principal      = try(each.value.principal, format("%s.amazonaws.com", try(each.value.service, "")))
  source_arn     = try(each.value.source_arn, null)
  source_account = try(each.value.source_account, null)
}

output "lambda_alias_arn" {
  value = local.alias_arn
}
output "lambda_alias_invoke_arn" {
  value = try(aws_lambda_alias.with_refresh[0].invoke_arn, aws_lambda_alias.no_refresh[0].invoke_arn, data.external.not_described.result)
}
output "lambda_alias_name" {
  value = var.create ? var.name : ""
}
output "lambda_alias_description" {
  value = data.external.not_described.result
}
output "lambda_alias_function_version" {
  value = data.external.not_described.result
}
output "lambda_alias_event_source_mapping_function_arn" {
  value = data.external.not_described.result
}
output "lambda_alias_event_source_mapping_state" {
  value = data.external.not_described.result
}
output "lambda_alias_event_source_mapping_state_transition_reason" {
  value = data.external.not_described.result
}
output "lambda_alias_event_source_mapping_uuid" {
  value = data.external.not_described.result
}
