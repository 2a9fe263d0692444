# module: terraform-aws-modules/lambda/aws
# versions: >= 4.13.0, < 9.0.0

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
variable "putin_khuylo" {
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
variable "region" {
  type    = string
  default = null
}
variable "durable_config_execution_timeout" {
  type    = number
  default = null
}
variable "durable_config_retention_period" {
  type    = number
  default = null
}
variable "managed_instances_capacity_provider_arn" {
  type    = string
  default = null
}

# They change nothing that is looked at.
variable "create_package" {}
variable "create_lambda_function_url" {}
variable "description" {}
variable "code_signing_config_arn" {}
variable "architectures" {}
variable "ephemeral_storage_size" {}
variable "tracing_mode" {}
variable "vpc_subnet_ids" {}
variable "vpc_security_group_ids" {}
variable "tags" {}
variable "s3_object_tags" {}
variable "s3_object_tags_only" {}
variable "image_uri" {}
variable "image_config_entry_point" {}
variable "image_config_command" {}
variable "image_config_working_directory" {}
variable "snap_start" {}
variable "replace_security_groups_on_destroy" {}
variable "replacement_security_group_ids" {}
variable "create_unqualified_alias_lambda_function_url" {}
variable "authorization_type" {}
variable "cors" {}
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
variable "policy_name" {}
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
variable "local_existing_package" {}
variable "s3_existing_package" {}
variable "store_on_s3" {}
variable "s3_object_storage_class" {}
variable "s3_bucket" {}
variable "s3_acl" {}
variable "s3_server_side_encryption" {}
variable "source_path" {}
variable "hash_extra" {}
variable "build_in_docker" {}
variable "docker_file" {}
variable "docker_build_root" {}
variable "docker_image" {}
variable "docker_with_ssh_agent" {}
variable "docker_pip_cache" {}
variable "docker_additional_options" {}
variable "docker_entrypoint" {}
variable "recreate_missing_package" {}
variable "role_maximum_session_duration" {}
variable "invoke_mode" {}
variable "lambda_at_edge_logs_all_regions" {}
variable "timeouts" {}
variable "create_sam_metadata" {}
variable "function_tags" {}
variable "s3_kms_key_id" {}
variable "attach_create_log_group_permission" {}
variable "trigger_on_package_timestamp" {}
variable "logging_log_format" {}
variable "logging_application_log_level" {}
variable "logging_system_log_level" {}
variable "logging_log_group" {}
variable "s3_object_override_default_tags" {}
variable "cloudwatch_logs_skip_destroy" {}
variable "cloudwatch_logs_log_group_class" {}
variable "skip_destroy" {}
variable "ipv6_allowed_for_dual_stack" {}
variable "recursive_loop" {}
variable "include_default_tag" {}
variable "quiet_archive_local_exec" {}
variable "tenant_isolation_mode" {}
variable "cloudwatch_logs_deletion_protection_enabled" {}

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

resource "aws_lambda_function" "this" {
  count = local.create ? 1 : 0

  region = var.region

  function_name                  = var.function_name
  role                           = var.create_role ? aws_iam_role.lambda[0].arn : var.lambda_role
  handler                        = var.package_type != "Zip" ? null : var.handler
  runtime                        = var.package_type != "Zip" ? null : var.runtime
  package_type                   = var.package_type
  memory_size                    = var.memory_size
  reserved_concurrent_executions = var.reserved_concurrent_executions
  timeout                        = var.lambda_at_edge ? min(var.timeout, 30) : var.timeout
  publish                        = var.lambda_at_edge ? true : var.publish
  kms_key_arn                    = var.kms_key_arn
  layers                         = var.layers

  dynamic "environment" {
    for_each = length(keys(var.environment_variables)) == 0 ? [] : [true]

    content {
      variables = var.environment_variables
    }
  }

  dynamic "dead_letter_config" {
    for_each = var.dead_letter_target_arn == null ? [] : [true]

    content {
      target_arn = var.dead_letter_target_arn
    }
  }

  dynamic "durable_config" {
    for_each = var.durable_config_execution_timeout != null ? [true] : []

    content {
      execution_timeout = var.durable_config_execution_timeout
      retention_period  = var.durable_config_retention_period
    }
  }

  dynamic "capacity_provider_config" {
    for_each = var.managed_instances_capacity_provider_arn != null ? [true] : []

    content {
      lambda_managed_instances_capacity_provider_config {
        capacity_provider_arn = var.managed_instances_capacity_provider_arn
      }
    }
  }
}

resource "aws_lambda_layer_version" "this" {
  count = var.create && var.putin_khuylo && var.create_layer ? 1 : 0

  layer_name = var.layer_name
}

resource "aws_lambda_provisioned_concurrency_config" "current_version" {
  count = local.create && var.provisioned_concurrent_executions > -1 ? 1 : 0

  region = var.region

  function_name                     = aws_lambda_function.this[0].function_name
  qualifier                         = aws_lambda_function.this[0].version
  provisioned_concurrent_executions = var.provisioned_concurrent_executions
}

resource "aws_lambda_function_event_invoke_config" "this" {
  for_each = { for k, v in local.qualifiers : k => v if v && local.create && var.create_async_event_config }

  region = var.region

  function_name                = aws_lambda_function.this[0].function_name
  qualifier                    = each.key == "current_version" ? aws_lambda_function.this[0].version : null
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

resource "aws_lambda_permission" "current_version_triggers" {
  for_each = { for k, v in var.allowed_triggers : k => v if local.create && var.create_current_version_allowed_triggers }

  region = var.region

  function_name  = aws_lambda_function.this[0].function_name
  qualifier      = aws_lambda_function.this[0].version
  action         = try(each.value.action, "lambda:InvokeFunction")
  principal      = try(each.value.principal, format("%s.amazonaws.com", try(each.value.service, "")))
  source_arn     = try(each.value.source_arn, null)
  source_account = try(each.value.source_account, null)
}

resource "aws_lambda_permission" "unqualified_alias_triggers" {
  for_each = { for k, v in var.allowed_triggers : k => v if local.create && var.create_unqualified_alias_allowed_triggers }

  region = var.region

  function_name  = aws_lambda_function.this[0].function_name
  action         = try(each.value.action, "lambda:InvokeFunction")
  principal      = try(each.value.principal, format("%s.amazonaws.com", try(each.value.service, "")))
  source_arn     = try(each.value.source_arn, null)
  source_account = try(each.value.source_account, null)
}

resource "aws_lambda_event_source_mapping" "this" {
  for_each = { for k, v in var.event_source_mapping : k => v if local.create && var.create_unqualified_alias_allowed_triggers }

  region = var.region

  function_name                      = aws_lambda_function.this[0].arn
  event_source_arn                   = try(each.value.event_source_arn, null)
  batch_size                         = try(each.value.batch_size, null)
  maximum_batching_window_in_seconds = try(each.value.maximum_batching_window_in_seconds, null)
  enabled                            = try(each.value.enabled, true)
  starting_position                  = try(each.value.starting_position, null)
  parallelization_factor             = try(each.value.parallelization_factor, null)
  maximum_retry_attempts             = try(each.value.maximum_retry_attempts, null)
  maximum_record_age_in_seconds      = try(each.value.maximum_record_age_in_seconds, null)
  bisect_batch_on_function_error     = try(each.value.bisect_batch_on_function_error, null)
  topics                             = try(each.value.topics, null)
  queues                             = try(each.value.queues, null)
  function_response_types            = try(each.value.function_response_types, null)

  dynamic "destination_config" {
    for_each = try(each.value.destination_arn_on_failure, null) != null ? [true] : []

    content {
      on_failure {
        destination_arn = each.value.destination_arn_on_failure
      }
    }
  }

  dynamic "scaling_config" {
    for_each = try([each.value.scaling_config], [])

    content {
      maximum_concurrency = try(scaling_config.value.maximum_concurrency, null)
    }
  }

  dynamic "provisioned_poller_config" {
    for_each = try([each.value.provisioned_poller_config], [])

    content {
      maximum_pollers = try(provisioned_poller_config.value.maximum_pollers, null)
      minimum_pollers = try(provisioned_poller_config.value.minimum_pollers, null)
    }
  }

  dynamic "filter_criteria" {
    for_each = try(each.value.filter_criteria, null) != null ? [true] : []

    content {
      dynamic "filter" {
        for_each = try(flatten([each.value.filter_criteria]), [])

        content {
          pattern = try(filter.value.pattern, null)
        }
      }
    }
  }
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
