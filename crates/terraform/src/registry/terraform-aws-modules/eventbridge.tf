# What several descriptions hold.

variable "create" {
  type    = bool
  default = true
}
variable "create_role" {
  type    = bool
  default = true
}
variable "append_rule_postfix" {
  type    = bool
  default = true
}
variable "create_bus" {
  type    = bool
  default = true
}
variable "create_rules" {
  type    = bool
  default = true
}
variable "create_targets" {
  type    = bool
  default = true
}
variable "create_archives" {
  type    = bool
  default = false
}
variable "bus_name" {
  type    = string
  default = "default"
}
variable "rules" {
  type    = map(any)
  default = {}
}
variable "targets" {
  default = {}
}
variable "archives" {
  type    = map(any)
  default = {}
}
variable "role_name" {
  type    = string
  default = null
}
variable "append_schedule_postfix" {
  type    = bool
  default = true
}
variable "create_schedules" {
  type    = bool
  default = true
}
variable "schedules" {
  type    = map(any)
  default = {}
}
# They change nothing that is looked at.
variable "append_connection_postfix" {}
variable "append_destination_postfix" {}
variable "create_permissions" {}
variable "create_connections" {}
variable "create_api_destinations" {}
variable "permissions" {}
variable "connections" {}
variable "api_destinations" {}
variable "tags" {}
variable "role_description" {}
variable "role_path" {}
variable "role_force_detach_policies" {}
variable "role_permissions_boundary" {}
variable "role_tags" {}
variable "attach_kinesis_policy" {}
variable "attach_kinesis_firehose_policy" {}
variable "attach_sqs_policy" {}
variable "attach_ecs_policy" {}
variable "attach_lambda_policy" {}
variable "attach_sfn_policy" {}
variable "attach_cloudwatch_policy" {}
variable "attach_api_destination_policy" {}
variable "attach_tracing_policy" {}
variable "kinesis_target_arns" {}
variable "kinesis_firehose_target_arns" {}
variable "sqs_target_arns" {}
variable "ecs_target_arns" {}
variable "lambda_target_arns" {}
variable "sfn_target_arns" {}
variable "cloudwatch_target_arns" {}
variable "attach_policy_json" {}
variable "attach_policy_jsons" {}
variable "attach_policy" {}
variable "attach_policies" {}
variable "number_of_policy_jsons" {}
variable "number_of_policies" {}
variable "attach_policy_statements" {}
variable "trusted_entities" {}
variable "policy_json" {}
variable "policy_jsons" {}
variable "policy" {}
variable "policies" {}
variable "policy_statements" {}
variable "create_schemas_discoverer" {}
variable "schemas_discoverer_description" {}
variable "event_source_name" {}
variable "attach_sns_policy" {}
variable "sns_target_arns" {}
variable "append_schedule_group_postfix" {}
variable "create_schedule_groups" {}
variable "schedule_groups" {}
variable "schedule_group_timeouts" {}

# What stands for what is not described.
data "external" "not_described" {}

locals {
  create_role = var.create && var.create_role
  rules       = { for k, v in var.rules : k => merge(v, { Name = var.append_rule_postfix ? "${replace(k, "_", "-")}-rule" : k }) }
  targets = flatten([
    for k, v in var.rules : [
      for target in var.targets[k] : merge(target, { Name = var.append_rule_postfix ? "${replace(k, "_", "-")}-rule" : k })
    ] if length(var.targets) != 0
  ])
}

resource "aws_cloudwatch_event_archive" "this" {
  for_each = var.create && var.create_archives ? var.archives : {}

  name             = try(each.value.name, each.key)
  event_source_arn = try(each.value.event_source_arn, aws_cloudwatch_event_bus.this[0].arn, null)
}

resource "aws_iam_role" "eventbridge" {
  count = local.create_role ? 1 : 0

  name = try(coalesce(var.role_name, var.bus_name), "*")
}

# What the role may do is not described.
resource "aws_iam_role_policy" "eventbridge" {
  count = local.create_role ? 1 : 0

  role   = aws_iam_role.eventbridge[0].name
  policy = data.external.not_described.result
}

output "eventbridge_bus_name" {
  value = var.bus_name
}
output "eventbridge_bus_arn" {
  value = try(aws_cloudwatch_event_bus.this[0].arn, "")
}
output "eventbridge_rule_arns" {
  value = { for k, v in aws_cloudwatch_event_rule.this : k => v.arn }
}
output "eventbridge_rule_ids" {
  value = { for k, v in aws_cloudwatch_event_rule.this : k => v.id }
}
output "eventbridge_role_arn" {
  value = try(aws_iam_role.eventbridge[0].arn, "")
}
output "eventbridge_role_name" {
  value = try(aws_iam_role.eventbridge[0].name, "")
}
output "eventbridge_api_destination_arns" {
  value = data.external.not_described.result
}
output "eventbridge_archive_arns" {
  value = data.external.not_described.result
}
output "eventbridge_connection_arns" {
  value = data.external.not_described.result
}
output "eventbridge_connection_ids" {
  value = data.external.not_described.result
}
output "eventbridge_permission_ids" {
  value = data.external.not_described.result
}
output "eventbridge_schedule_arns" {
  value = data.external.not_described.result
}
output "eventbridge_schedule_group_arns" {
  value = data.external.not_described.result
}
output "eventbridge_schedule_group_ids" {
  value = data.external.not_described.result
}
output "eventbridge_schedule_group_states" {
  value = data.external.not_described.result
}
output "eventbridge_schedule_ids" {
  value = data.external.not_described.result
}
