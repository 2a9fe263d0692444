# module: terraform-aws-modules/lambda/aws
# versions: >= 2.33.0, < 4.2.1
# with: lambda.tf, lambda-before-4.13.tf

resource "aws_lambda_function_event_invoke_config" "this" {
  for_each = { for k, v in local.qualifiers : k => v if local.create && var.create_async_event_config }

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
