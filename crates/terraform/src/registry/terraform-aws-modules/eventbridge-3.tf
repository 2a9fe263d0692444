# module: terraform-aws-modules/eventbridge/aws
# versions: >= 3.3.1, < 5.0.0
# with: eventbridge.tf

variable "append_pipe_postfix" {
  type    = bool
  default = true
}
variable "create_pipes" {
  type    = bool
  default = true
}
variable "pipes" {
  default = {}
}
variable "create_pipe_role_only" {
  type    = bool
  default = false
}
variable "dead_letter_config" {
  default = {}
}
variable "region" {
  type    = string
  default = null
}
variable "policy_path" {}
variable "sns_kms_arns" {}
variable "ecs_pass_role_resources" {}
variable "kms_key_identifier" {}
variable "bus_description" {}
variable "create_log_delivery_source" {}
variable "create_log_delivery" {}
variable "log_config" {}
variable "log_delivery" {}
variable "log_delivery_source_name" {}

resource "aws_cloudwatch_event_bus" "this" {
  count = var.create && var.create_bus ? 1 : 0

  region = var.region

  name = var.bus_name

  dynamic "dead_letter_config" {
    for_each = length(var.dead_letter_config) > 0 ? [var.dead_letter_config] : []

    content {
      arn = try(dead_letter_config.value.arn, null)
    }
  }
}

resource "aws_cloudwatch_event_rule" "this" {
  for_each = { for k, v in local.rules : k => v if var.create && var.create_rules }

  region = var.region

  name                = each.value.Name
  name_prefix         = try(each.value.name_prefix, null)
  event_bus_name      = var.create_bus ? aws_cloudwatch_event_bus.this[0].name : var.bus_name
  event_pattern       = try(each.value.event_pattern, null)
  schedule_expression = try(each.value.schedule_expression, null)
  state               = try(each.value.enabled ? "ENABLED" : "DISABLED", tobool(each.value.state) ? "ENABLED" : "DISABLED", upper(each.value.state), null)
}

resource "aws_cloudwatch_event_target" "this" {
  for_each = { for k, v in local.targets : v.name => v if var.create && var.create_targets }

  region = var.region

  event_bus_name = var.create_bus ? aws_cloudwatch_event_bus.this[0].name : var.bus_name
  rule           = each.value.Name
  arn            = try(each.value.destination, null) != null ? data.external.not_described.result : each.value.arn
  role_arn       = can(length(each.value.attach_role_arn) > 0) ? each.value.attach_role_arn : (try(each.value.attach_role_arn, null) == true ? aws_iam_role.eventbridge[0].arn : null)
  target_id      = try(each.value.target_id, null)
  input          = try(each.value.input, null)
  input_path     = try(each.value.input_path, null)

  dynamic "sqs_target" {
    for_each = try(each.value.message_group_id, null) != null ? [true] : []

    content {
      message_group_id = each.value.message_group_id
    }
  }

  dynamic "dead_letter_config" {
    for_each = try(each.value.dead_letter_arn, null) != null ? [true] : []

    content {
      arn = each.value.dead_letter_arn
    }
  }

  dynamic "retry_policy" {
    for_each = try(each.value.retry_policy, null) != null ? [each.value.retry_policy] : []

    content {
      maximum_event_age_in_seconds = retry_policy.value.maximum_event_age_in_seconds
      maximum_retry_attempts       = retry_policy.value.maximum_retry_attempts
    }
  }
}

resource "aws_scheduler_schedule" "this" {
  for_each = { for k, v in var.schedules : k => v if var.create && var.create_schedules }

  region = var.region

  name                = var.append_schedule_postfix ? "${replace(each.key, "_", "-")}-schedule" : each.key
  name_prefix         = try(each.value.name_prefix, null)
  group_name          = try(each.value.group_name, null)
  schedule_expression = each.value.schedule_expression
  state               = try(each.value.state, true) ? "ENABLED" : "DISABLED"

  target {
    arn      = each.value.arn
    role_arn = can(length(each.value.role_arn) > 0) ? each.value.role_arn : aws_iam_role.eventbridge[0].arn
    input    = try(each.value.input, null)

    dynamic "dead_letter_config" {
      for_each = try(each.value.dead_letter_arn, null) != null ? [true] : []

      content {
        arn = each.value.dead_letter_arn
      }
    }

    dynamic "sqs_parameters" {
      for_each = try(each.value.message_group_id, null) != null ? [true] : []

      content {
        message_group_id = each.value.message_group_id
      }
    }

    dynamic "retry_policy" {
      for_each = try(each.value.retry_policy, null) != null ? [each.value.retry_policy] : []

      content {
        maximum_event_age_in_seconds = retry_policy.value.maximum_event_age_in_seconds
        maximum_retry_attempts       = retry_policy.value.maximum_retry_attempts
      }
    }
  }
}

resource "aws_pipes_pipe" "this" {
  for_each = { for k, v in var.pipes : k => v if var.create && var.create_pipes }

  region = var.region

  name          = var.append_pipe_postfix ? "${replace(each.key, "_", "-")}-pipe" : each.key
  role_arn      = try(each.value.role_arn, aws_iam_role.eventbridge_pipe[each.key].arn)
  source        = each.value.source
  target        = each.value.target
  enrichment    = try(each.value.enrichment, null)
  desired_state = try(each.value.desired_state, null)

  dynamic "source_parameters" {
    for_each = try([each.value.source_parameters], [])

    content {
      dynamic "filter_criteria" {
        for_each = try([source_parameters.value.filter_criteria], [])

        content {
          dynamic "filter" {
            for_each = try(filter_criteria.value, [])

            content {
              pattern = filter.value.pattern
            }
          }
        }
      }

      dynamic "sqs_queue_parameters" {
        for_each = try([source_parameters.value.sqs_queue_parameters], [])

        content {
          batch_size                         = try(sqs_queue_parameters.value.batch_size, null)
          maximum_batching_window_in_seconds = try(sqs_queue_parameters.value.maximum_batching_window_in_seconds, null)
        }
      }

      dynamic "dynamodb_stream_parameters" {
        for_each = try([source_parameters.value.dynamodb_stream_parameters], [])

        content {
          dynamic "dead_letter_config" {
            for_each = try([dynamodb_stream_parameters.value.dead_letter_config], [])

            content {
              arn = dead_letter_config.value.arn
            }
          }
        }
      }

      dynamic "kinesis_stream_parameters" {
        for_each = try([source_parameters.value.kinesis_stream_parameters], [])

        content {
          dynamic "dead_letter_config" {
            for_each = try([kinesis_stream_parameters.value.dead_letter_config], [])

            content {
              arn = dead_letter_config.value.arn
            }
          }
        }
      }
    }
  }

  dynamic "target_parameters" {
    for_each = try([each.value.target_parameters], [])

    content {
      input_template = try(target_parameters.value.input_template, null)

      dynamic "sqs_queue_parameters" {
        for_each = try([target_parameters.value.sqs_queue_parameters], [])

        content {
          message_deduplication_id = try(sqs_queue_parameters.value.message_deduplication_id, null)
          message_group_id         = try(sqs_queue_parameters.value.message_group_id, null)
        }
      }

      dynamic "lambda_function_parameters" {
        for_each = try([target_parameters.value.lambda_function_parameters], [])

        content {
          invocation_type = try(lambda_function_parameters.value.invocation_type, null)
        }
      }
    }
  }
}

resource "aws_iam_role" "eventbridge_pipe" {
  for_each = { for k, v in var.pipes : k => v if var.create && var.create_pipes && (var.create_role || var.create_pipe_role_only) && try(v.create_role, true) }

  name = try(each.value.role_name_prefix, each.key)
}

# The module derives what a pipe may do from what it joins.
resource "aws_iam_role_policy" "eventbridge_pipe" {
  for_each = aws_iam_role.eventbridge_pipe

  role   = each.value.name
  policy = data.external.not_described.result
}

output "eventbridge_api_destinations" {
  value = data.external.not_described.result
}
output "eventbridge_archives" {
  value = data.external.not_described.result
}
output "eventbridge_bus" {
  value = data.external.not_described.result
}
output "eventbridge_connections" {
  value = data.external.not_described.result
}
output "eventbridge_iam_roles" {
  value = data.external.not_described.result
}
output "eventbridge_log_delivery_source_arn" {
  value = data.external.not_described.result
}
output "eventbridge_log_delivery_source_name" {
  value = data.external.not_described.result
}
output "eventbridge_permissions" {
  value = data.external.not_described.result
}
output "eventbridge_pipe_arns" {
  value = data.external.not_described.result
}
output "eventbridge_pipe_ids" {
  value = data.external.not_described.result
}
output "eventbridge_pipe_role_arns" {
  value = data.external.not_described.result
}
output "eventbridge_pipe_role_names" {
  value = data.external.not_described.result
}
output "eventbridge_pipes" {
  value = data.external.not_described.result
}
output "eventbridge_pipes_iam_roles" {
  value = data.external.not_described.result
}
output "eventbridge_rules" {
  value = data.external.not_described.result
}
output "eventbridge_schedule_groups" {
  value = data.external.not_described.result
}
output "eventbridge_schedules" {
  value = data.external.not_described.result
}
output "eventbridge_targets" {
  value = data.external.not_described.result
}
