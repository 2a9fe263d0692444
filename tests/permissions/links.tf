# Links between a principal and a queue, with the role `aws_iam_role.r` and the queue `aws_sqs_queue.q`. The lines that
# begin with `#:` have the name of the link, the rule that judges it, the actions that it requires, and patterns that
# match exactly these actions among those of the cases.

#: mapping | function-role-missing-queue-permission | "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes" | "sqs:Rec*", "sqs:De?eteMessage", "sqs:Get*Attributes"
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = aws_iam_role.r.arn
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}

#: pipe | pipe-role-missing-queue-permission | "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes" | "sqs:Rec*", "sqs:De?eteMessage", "sqs:Get*Attributes"
resource "aws_pipes_pipe" "p" {
  role_arn = aws_iam_role.r.arn
  source   = aws_sqs_queue.q.arn
  target   = "arn:aws:states:eu-west-1:111122223333:stateMachine:m"
}

#: target of a pipe | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_pipes_pipe" "p" {
  role_arn = aws_iam_role.r.arn
  source   = "arn:aws:kinesis:eu-west-1:111122223333:stream/s"
  target   = aws_sqs_queue.q.arn
}

#: dead-letter queue of a function | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = aws_iam_role.r.arn
  dead_letter_config {
    target_arn = aws_sqs_queue.q.arn
  }
}

#: destination of a function | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = aws_iam_role.r.arn
}
resource "aws_lambda_function_event_invoke_config" "c" {
  function_name = aws_lambda_function.f.function_name
  destination_config {
    on_failure {
      destination = aws_sqs_queue.q.arn
    }
  }
}

#: target of a schedule | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_scheduler_schedule" "s" {
  schedule_expression = "rate(1 hour)"
  target {
    arn      = aws_sqs_queue.q.arn
    role_arn = aws_iam_role.r.arn
  }
}

#: dead-letter queue of a schedule | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_scheduler_schedule" "s" {
  schedule_expression = "rate(1 hour)"
  target {
    arn      = "arn:aws:lambda:eu-west-1:111122223333:function:f"
    role_arn = aws_iam_role.r.arn
    dead_letter_config {
      arn = aws_sqs_queue.q.arn
    }
  }
}

#: target of a rule | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_cloudwatch_event_target" "t" {
  rule     = "r"
  arn      = aws_sqs_queue.q.arn
  role_arn = aws_iam_role.r.arn
}

#: integration of a REST API | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_api_gateway_integration" "i" {
  rest_api_id             = "a"
  resource_id             = "b"
  http_method             = "POST"
  type                    = "AWS"
  integration_http_method = "POST"
  credentials             = aws_iam_role.r.arn
  uri                     = "arn:aws:apigateway:${var.open}:sqs:path/${var.open}/${aws_sqs_queue.q.name}"
  request_templates       = { "application/json" = "Action=SendMessage&MessageBody=$input.body" }
}

#: integration of an HTTP API | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_apigatewayv2_integration" "i" {
  api_id              = "a"
  integration_type    = "AWS_PROXY"
  integration_subtype = "SQS-SendMessage"
  credentials_arn     = aws_iam_role.r.arn
  request_parameters  = { QueueUrl = aws_sqs_queue.q.url, MessageBody = "$request.body" }
}

#: schedule that sends a batch | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_scheduler_schedule" "s" {
  schedule_expression = "rate(1 hour)"
  target {
    arn      = "arn:aws:scheduler:::aws-sdk:sqs:sendMessageBatch"
    role_arn = aws_iam_role.r.arn
    input    = jsonencode({ QueueUrl = aws_sqs_queue.q.url, Entries = [{ Id = "1", MessageBody = "a" }] })
  }
}

#: operation of an OpenAPI document | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_api_gateway_rest_api" "a" {
  name = "a"
  body = jsonencode({
    paths = { "/orders" = { post = { "x-amazon-apigateway-integration" = {
      type             = "aws"
      httpMethod       = "POST"
      credentials      = aws_iam_role.r.arn
      uri              = "arn:aws:apigateway:${var.open}:sqs:path/${var.open}/${aws_sqs_queue.q.name}"
      requestTemplates = { "application/json" = "Action=SendMessage&MessageBody=$input.body" }
    } } } }
  })
}

#: dead-letter queue of a pipe | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_pipes_pipe" "p" {
  role_arn = aws_iam_role.r.arn
  source   = "arn:aws:dynamodb:eu-west-1:111122223333:table/t/stream/2026"
  target   = "arn:aws:states:eu-west-1:111122223333:stateMachine:m"
  source_parameters {
    dynamodb_stream_parameters {
      starting_position = "LATEST"
      dead_letter_config {
        arn = aws_sqs_queue.q.arn
      }
    }
  }
}

#: task of a state machine | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_sfn_state_machine" "m" {
  role_arn = aws_iam_role.r.arn
  definition = jsonencode({ States = { Send = {
    Type       = "Task"
    Resource   = "arn:aws:states:::sqs:sendMessage"
    Parameters = { QueueUrl = aws_sqs_queue.q.url, "MessageBody.$" = "$" }
  } } })
}

#: action of an IoT rule | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_iot_topic_rule" "i" {
  sql = "SELECT * FROM 'orders'"
  sqs {
    queue_url  = aws_sqs_queue.q.url
    role_arn   = aws_iam_role.r.arn
    use_base64 = false
  }
}

#: error action of an IoT rule | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_iot_topic_rule" "i" {
  sql = "SELECT * FROM 'orders'"
  error_action {
    sqs {
      queue_url  = aws_sqs_queue.q.url
      role_arn   = aws_iam_role.r.arn
      use_base64 = false
    }
  }
}

#: lifecycle hook | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_autoscaling_lifecycle_hook" "h" {
  autoscaling_group_name  = "workers"
  lifecycle_transition    = "autoscaling:EC2_INSTANCE_TERMINATING"
  notification_target_arn = aws_sqs_queue.q.arn
  role_arn                = aws_iam_role.r.arn
}

#: lifecycle hook of a group | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_autoscaling_group" "g" {
  initial_lifecycle_hook {
    name                    = "drain"
    lifecycle_transition    = "autoscaling:EC2_INSTANCE_TERMINATING"
    notification_target_arn = aws_sqs_queue.q.arn
    role_arn                = aws_iam_role.r.arn
  }
}

#: integration of an API under a role by its name | target-role-missing-send-permission | "sqs:SendMessage" | "sqs:S?ndM*"
resource "aws_api_gateway_integration" "i" {
  type              = "AWS"
  credentials       = "arn:aws:iam::${var.open}:role/${aws_iam_role.r.name}"
  uri               = "arn:aws:apigateway:${var.open}:sqs:path/${var.open}/${aws_sqs_queue.q.name}"
  request_templates = { "application/json" = "Action=SendMessage&MessageBody=$input.body" }
}

#: worker, known to read the queue because its role may receive from it | worker-role-missing-queue-permission | "sqs:DeleteMessage" | "sqs:Del?teM*"
resource "aws_ecs_task_definition" "t" {
  family        = "worker"
  task_role_arn = aws_iam_role.r.arn
  container_definitions = jsonencode([{ name = "worker", image = "worker" }])
}
resource "aws_iam_role_policy" "receive" {
  role   = aws_iam_role.r.id
  policy = jsonencode({ Statement = [
    { Effect = "Allow", Action = "sqs:ReceiveMessage", Resource = aws_sqs_queue.q.arn }
  ] })
}
