# module: terraform-aws-modules/lambda/aws
# versions: >= 4.13.0, < 9.0.0
# with: lambda.tf

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
variable "snap_start" {}
variable "replace_security_groups_on_destroy" {}
variable "replacement_security_group_ids" {}
variable "policy_name" {}
variable "docker_additional_options" {}
variable "docker_entrypoint" {}
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

resource "aws_lambda_function" "this" {
  count = local.create ? 1 : 0

  region = var.region

  function_name                  = var.function_name
  role                           = var.create_role ? aws_iam_role.lambda[0].arn : var.lambda_role
  handler                        = var.package_type != "Zip" ? null : var.handler
  filename                       = var.package_type != "Zip" || var.s3_existing_package != null ? null : data.archive_file.package.output_path
  s3_key                         = try(var.s3_existing_package.key, null)
  image_uri                      = var.package_type != "Image" ? null : var.image_uri
  runtime                        = var.package_type != "Zip" ? null : var.runtime
  package_type                   = var.package_type
  memory_size                    = var.memory_size
  reserved_concurrent_executions = var.reserved_concurrent_executions
  timeout                        = var.lambda_at_edge ? min(var.timeout, 30) : var.timeout
  publish                        = var.lambda_at_edge ? true : var.publish
  kms_key_arn                    = var.kms_key_arn
  layers                         = var.layers

  dynamic "image_config" {
    for_each = length(var.image_config_command) > 0 ? [true] : []

    content {
      command = var.image_config_command
    }
  }

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
