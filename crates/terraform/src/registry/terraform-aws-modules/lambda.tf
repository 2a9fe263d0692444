# What several descriptions hold.

variable "create" {
  type    = bool
  default = true
}
variable "create_function" {
  type    = bool
  default = true
}
variable "create_layer" {
  type    = bool
  default = false
}
variable "create_role" {
  type    = bool
  default = true
}
variable "lambda_at_edge" {
  type    = bool
  default = false
}
variable "function_name" {
  type    = string
  default = ""
}
variable "handler" {
  type    = string
  default = ""
}
variable "runtime" {
  type    = string
  default = ""
}
variable "lambda_role" {
  type    = string
  default = ""
}
variable "layers" {
  type    = list(string)
  default = null
}
variable "kms_key_arn" {
  type    = string
  default = null
}
variable "memory_size" {
  type    = number
  default = 128
}
variable "publish" {
  type    = bool
  default = false
}
variable "reserved_concurrent_executions" {
  type    = number
  default = -1
}
variable "timeout" {
  type    = number
  default = 3
}
variable "dead_letter_target_arn" {
  type    = string
  default = null
}
variable "environment_variables" {
  type    = map(string)
  default = {}
}
variable "package_type" {
  type    = string
  default = "Zip"
}
variable "layer_name" {
  type    = string
  default = ""
}
variable "create_async_event_config" {
  type    = bool
  default = false
}
variable "create_current_version_async_event_config" {
  type    = bool
  default = true
}
variable "create_unqualified_alias_async_event_config" {
  type    = bool
  default = true
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
variable "provisioned_concurrent_executions" {
  type    = number
  default = -1
}
variable "create_current_version_allowed_triggers" {
  type    = bool
  default = true
}
variable "create_unqualified_alias_allowed_triggers" {
  type    = bool
  default = true
}
variable "allowed_triggers" {
  type    = map(any)
  default = {}
}
variable "event_source_mapping" {
  default = {}
}
variable "role_name" {
  type    = string
  default = null
}
variable "attach_dead_letter_policy" {
  type    = bool
  default = false
}
variable "attach_async_event_policy" {
  type    = bool
  default = false
}
variable "attach_policy_json" {
  type    = bool
  default = false
}
variable "attach_policy_jsons" {
  type    = bool
  default = false
}
variable "attach_policy" {
  type    = bool
  default = false
}
variable "attach_policies" {
  type    = bool
  default = false
}
variable "number_of_policy_jsons" {
  type    = number
  default = 0
}
variable "number_of_policies" {
  type    = number
  default = 0
}
variable "attach_policy_statements" {
  type    = bool
  default = false
}
variable "policy_json" {
  type    = string
  default = null
}
variable "policy_jsons" {
  type    = list(string)
  default = []
}
variable "policy" {
  type    = string
  default = null
}
variable "policies" {
  type    = list(string)
  default = []
}
variable "policy_statements" {
  default = {}
}
variable "putin_khuylo" {
  type    = bool
  default = true
}
# They change nothing that is looked at.
variable "create_package" {}
variable "description" {}
variable "architectures" {}
variable "tracing_mode" {}
variable "vpc_subnet_ids" {}
variable "vpc_security_group_ids" {}
variable "tags" {}
variable "s3_object_tags" {}
variable "s3_object_tags_only" {}
variable "image_uri" {
  type    = string
  default = null
}
variable "image_config_entry_point" {}
variable "image_config_command" {
  type    = list(string)
  default = []
}
variable "image_config_working_directory" {}
variable "layer_skip_destroy" {}
variable "license_info" {}
variable "compatible_runtimes" {}
variable "compatible_architectures" {}
variable "use_existing_cloudwatch_log_group" {}
variable "cloudwatch_logs_retention_in_days" {}
variable "cloudwatch_logs_kms_key_id" {}
variable "cloudwatch_logs_tags" {}
variable "role_description" {}
variable "role_path" {}
variable "role_force_detach_policies" {}
variable "role_permissions_boundary" {}
variable "role_tags" {}
variable "attach_cloudwatch_logs_policy" {}
variable "attach_network_policy" {}
variable "attach_tracing_policy" {}
variable "policy_path" {}
variable "trusted_entities" {}
variable "assume_role_policy_statements" {}
variable "file_system_arn" {}
variable "file_system_local_mount_path" {}
variable "artifacts_dir" {}
variable "s3_prefix" {}
variable "ignore_source_code_hash" {}
variable "local_existing_package" {
  type    = string
  default = null
}
variable "s3_existing_package" {
  type    = map(string)
  default = null
}
variable "store_on_s3" {}
variable "s3_object_storage_class" {}
variable "s3_bucket" {}
variable "s3_acl" {}
variable "s3_server_side_encryption" {}
variable "source_path" {
  type    = any
  default = null
}
variable "hash_extra" {}
variable "build_in_docker" {}
variable "docker_file" {}
variable "docker_build_root" {}
variable "docker_image" {}
variable "docker_with_ssh_agent" {}
variable "docker_pip_cache" {}
variable "recreate_missing_package" {}
variable "ephemeral_storage_size" {}
variable "create_lambda_function_url" {}
variable "create_unqualified_alias_lambda_function_url" {}
variable "authorization_type" {}
variable "cors" {}
variable "code_signing_config_arn" {}

data "aws_partition" "current" {}
data "aws_region" "current" {}
data "aws_caller_identity" "current" {}

# What stands for outputs that are not described.
data "external" "not_described" {}

locals {
  create      = var.create && var.putin_khuylo && var.create_function && !var.create_layer
  create_role = local.create && var.create_role
  qualifiers = {
    current_version   = var.create_current_version_async_event_config
    unqualified_alias = var.create_unqualified_alias_async_event_config
  }
}

resource "aws_lambda_layer_version" "this" {
  count = var.create && var.putin_khuylo && var.create_layer ? 1 : 0

  layer_name = var.layer_name
}

resource "aws_iam_role" "lambda" {
  count = local.create_role ? 1 : 0

  name = try(coalesce(var.role_name, var.function_name), "*")
}

resource "aws_iam_role_policy" "dead_letter" {
  count = local.create_role && var.attach_dead_letter_policy ? 1 : 0

  role = aws_iam_role.lambda[0].name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["sns:Publish", "sqs:SendMessage"]
      Resource = var.dead_letter_target_arn
    }]
  })
}

resource "aws_iam_role_policy" "async" {
  count = local.create_role && var.attach_async_event_policy ? 1 : 0

  role = aws_iam_role.lambda[0].name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["sns:Publish", "sqs:SendMessage", "events:PutEvents", "lambda:InvokeFunction"]
      Resource = compact(distinct([var.destination_on_failure, var.destination_on_success]))
    }]
  })
}

resource "aws_iam_role_policy" "additional_json" {
  count = local.create_role && var.attach_policy_json ? 1 : 0

  role   = aws_iam_role.lambda[0].name
  policy = var.policy_json
}

resource "aws_iam_role_policy" "additional_jsons" {
  count = local.create_role && var.attach_policy_jsons ? var.number_of_policy_jsons : 0

  role   = aws_iam_role.lambda[0].name
  policy = var.policy_jsons[count.index]
}

resource "aws_iam_role_policy_attachment" "additional_one" {
  count = local.create_role && var.attach_policy ? 1 : 0

  role       = aws_iam_role.lambda[0].name
  policy_arn = var.policy
}

resource "aws_iam_role_policy_attachment" "additional_many" {
  count = local.create_role && var.attach_policies ? var.number_of_policies : 0

  role       = aws_iam_role.lambda[0].name
  policy_arn = var.policies[count.index]
}

data "aws_iam_policy_document" "additional_inline" {
  count = local.create_role && var.attach_policy_statements ? 1 : 0

  dynamic "statement" {
    for_each = var.policy_statements

    content {
      sid           = try(statement.value.sid, statement.key)
      effect        = try(statement.value.effect, null)
      actions       = try(statement.value.actions, null)
      not_actions   = try(statement.value.not_actions, null)
      resources     = try(statement.value.resources, null)
      not_resources = try(statement.value.not_resources, null)

      dynamic "condition" {
        for_each = try(statement.value.condition, [])

        content {
          test     = condition.value.test
          variable = condition.value.variable
          values   = condition.value.values
        }
      }
    }
  }
}

resource "aws_iam_role_policy" "additional_inline" {
  count = local.create_role && var.attach_policy_statements ? 1 : 0

  role   = aws_iam_role.lambda[0].name
  policy = data.aws_iam_policy_document.additional_inline[0].json
}

output "lambda_function_arn" {
  value = try(aws_lambda_function.this[0].arn, "")
}
output "lambda_function_arn_static" {
  value = local.create ? "arn:${data.aws_partition.current.partition}:lambda:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:function:${aws_lambda_function.this[0].function_name}" : ""
}
output "lambda_function_invoke_arn" {
  value = try(aws_lambda_function.this[0].invoke_arn, "")
}
output "lambda_function_name" {
  value = try(aws_lambda_function.this[0].function_name, "")
}
output "lambda_function_qualified_arn" {
  value = try(aws_lambda_function.this[0].qualified_arn, "")
}
output "lambda_function_qualified_invoke_arn" {
  value = try(aws_lambda_function.this[0].qualified_invoke_arn, "")
}
output "lambda_function_version" {
  value = try(aws_lambda_function.this[0].version, "")
}
output "lambda_role_arn" {
  value = try(aws_iam_role.lambda[0].arn, "")
}
output "lambda_role_name" {
  value = try(aws_iam_role.lambda[0].name, "")
}
output "lambda_layer_arn" {
  value = try(aws_lambda_layer_version.this[0].arn, "")
}
output "lambda_cloudwatch_log_group_arn" {
  value = data.external.not_described.result
}
output "lambda_cloudwatch_log_group_name" {
  value = data.external.not_described.result
}
output "lambda_event_source_mapping_arn" {
  value = data.external.not_described.result
}
output "lambda_event_source_mapping_function_arn" {
  value = data.external.not_described.result
}
output "lambda_event_source_mapping_state" {
  value = data.external.not_described.result
}
output "lambda_event_source_mapping_state_transition_reason" {
  value = data.external.not_described.result
}
output "lambda_event_source_mapping_uuid" {
  value = data.external.not_described.result
}
output "lambda_function_code_sha256" {
  value = data.external.not_described.result
}
output "lambda_function_kms_key_arn" {
  value = data.external.not_described.result
}
output "lambda_function_last_modified" {
  value = data.external.not_described.result
}
output "lambda_function_signing_job_arn" {
  value = data.external.not_described.result
}
output "lambda_function_signing_profile_version_arn" {
  value = data.external.not_described.result
}
output "lambda_function_source_code_hash" {
  value = data.external.not_described.result
}
output "lambda_function_source_code_size" {
  value = data.external.not_described.result
}
output "lambda_function_url" {
  value = data.external.not_described.result
}
output "lambda_function_url_id" {
  value = data.external.not_described.result
}
output "lambda_layer_code_sha256" {
  value = data.external.not_described.result
}
output "lambda_layer_created_date" {
  value = data.external.not_described.result
}
output "lambda_layer_layer_arn" {
  value = data.external.not_described.result
}
output "lambda_layer_source_code_hash" {
  value = data.external.not_described.result
}
output "lambda_layer_source_code_size" {
  value = data.external.not_described.result
}
output "lambda_layer_version" {
  value = data.external.not_described.result
}
output "lambda_role_unique_id" {
  value = data.external.not_described.result
}
output "local_filename" {
  value = data.external.not_described.result
}
output "s3_object" {
  value = data.external.not_described.result
}

# A script of the module packs it, with what it installs, unless there is a package.
data "archive_file" "package" {
  type        = "zip"
  source_dir  = var.local_existing_package != null ? var.local_existing_package : try(tostring(var.source_path), tostring(var.source_path[0]), tostring(var.source_path[0].path), null)
  output_path = "package.zip"
}
