# What several descriptions hold.

resource "aws_lambda_function" "this" {
  count = local.create ? 1 : 0

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
}

resource "aws_lambda_provisioned_concurrency_config" "current_version" {
  count = local.create && var.provisioned_concurrent_executions > -1 ? 1 : 0

  function_name                     = aws_lambda_function.this[0].function_name
  qualifier                         = aws_lambda_function.this[0].version
  provisioned_concurrent_executions = var.provisioned_concurrent_executions
}

resource "aws_lambda_permission" "current_version_triggers" {
  for_each = { for k, v in var.allowed_triggers : k => v if local.create && var.create_current_version_allowed_triggers }

  function_name  = aws_lambda_function.this[0].function_name
  qualifier      = aws_lambda_function.this[0].version
  action         = try(each.value.action, "lambda:InvokeFunction")
  principal      = try(each.value.principal, format("%s.amazonaws.com", try(each.value.service, "")))
  source_arn     = try(each.value.source_arn, null)
  source_account = try(each.value.source_account, null)
}

resource "aws_lambda_permission" "unqualified_alias_triggers" {
  for_each = { for k, v in var.allowed_triggers : k => v if local.create && var.create_unqualified_alias_allowed_triggers }

  function_name  = aws_lambda_function.this[0].function_name
  action         = try(each.value.action, "lambda:InvokeFunction")
  principal      = try(each.value.principal, format("%s.amazonaws.com", try(each.value.service, "")))
  source_arn     = try(each.value.source_arn, null)
  source_account = try(each.value.source_account, null)
}

resource "aws_lambda_event_source_mapping" "this" {
  for_each = { for k, v in var.event_source_mapping : k => v if local.create && var.create_unqualified_alias_allowed_triggers }

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
