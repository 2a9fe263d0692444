# module: terraform-aws-modules/eventbridge/aws
# versions: >= 1.14.2, < 3.0.0
# with: eventbridge.tf

resource "aws_cloudwatch_event_bus" "this" {
  count = var.create && var.create_bus ? 1 : 0

  name = var.bus_name
}

resource "aws_cloudwatch_event_rule" "this" {
  for_each = { for k, v in local.rules : k => v if var.create && var.create_rules }

  name                = each.value.Name
  name_prefix         = try(each.value.name_prefix, null)
  event_bus_name      = var.create_bus ? aws_cloudwatch_event_bus.this[0].name : var.bus_name
  event_pattern       = try(each.value.event_pattern, null)
  schedule_expression = try(each.value.schedule_expression, null)
  is_enabled          = try(each.value.enabled, true)
}

resource "aws_cloudwatch_event_target" "this" {
  for_each = { for k, v in local.targets : v.name => v if var.create && var.create_targets }

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
