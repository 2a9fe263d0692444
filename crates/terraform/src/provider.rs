//! Facts about the AWS provider: which attributes link to a resource, and defaults that other resources can refer to.

use super::value::{ResourceId, Value};
use knowledge::Form;

/// Returns `true` if a reference to this attribute links to the resource.
pub(crate) fn is_link(kind: &str, attribute: &str) -> bool {
    matches!(attribute, "arn" | "id" | "url") || is_name(kind, attribute) || form(kind, attribute).is_some()
}

/// Returns `true` if this attribute is the physical name, which a configuration can set.
pub fn is_name(kind: &str, attribute: &str) -> bool {
    matches!(
        (kind, attribute),
        (
            "aws_sqs_queue"
                | "aws_iam_role"
                | "aws_iam_instance_profile"
                | "aws_iam_policy"
                | "aws_cloudwatch_event_rule"
                | "aws_sns_topic",
            "name"
        ) | (
            "aws_lambda_function" | "aws_lambda_alias" | "awscc_lambda_function",
            "function_name"
        ) | ("awscc_sqs_queue", "queue_name")
            | ("aws_s3_bucket", "bucket")
    )
}

/// Returns `true` if this attribute is the policy that a data source builds.
pub(crate) fn is_document(id: &ResourceId, attribute: &str) -> bool {
    id.data && &*id.kind == "aws_iam_policy_document" && matches!(attribute, "json" | "minified_json")
}

/// Returns the partition of a Region.
pub(crate) fn partition(region: &str) -> &'static str {
    match region.split('-').next() {
        Some("cn") => "aws-cn",
        _ if region.starts_with("us-gov-") => "aws-us-gov",
        _ => "aws",
    }
}

/// Returns the form of link that an attribute provides.
pub fn form(kind: &str, attribute: &str) -> Option<Form> {
    match (kind, attribute) {
        (_, "arn" | "stream_arn") | ("aws_kms_alias", "target_key_arn") => Some(Form::Arn),
        ("aws_sqs_queue", "id" | "url") | ("awscc_sqs_queue", "id" | "queue_url") => Some(Form::Url),
        (_, "name" | "bucket" | "queue_name") if is_name(kind, attribute) => Some(Form::Name),
        ("aws_kms_key" | "aws_kms_alias", "key_id" | "target_key_id") => Some(Form::Name),
        ("aws_lambda_function" | "aws_lambda_alias", "qualified_arn" | "invoke_arn" | "qualified_invoke_arn") => {
            Some(Form::Arn)
        }
        ("aws_lambda_function" | "aws_lambda_alias" | "awscc_lambda_function", "function_name" | "id") => {
            Some(Form::Name)
        }
        _ => None,
    }
}

/// Argument of a planned queue that the plan replaces, which names the attribute that requires it. No provider has an
/// argument of this name.
pub const REPLACED: &str = "(replaced)";

/// Returns the provider's default for an attribute, if it has one.
pub(crate) fn default(kind: &str, attribute: &str) -> Option<Value> {
    let number = |value: i64| Some(Value::number(value));
    match (kind, attribute) {
        ("aws_sqs_queue", "visibility_timeout_seconds") => number(30),
        ("aws_sqs_queue", "message_retention_seconds") => number(345_600),
        ("aws_sqs_queue", "delay_seconds" | "receive_wait_time_seconds") => number(0),
        ("aws_sqs_queue", "max_message_size") => number(262_144),
        ("aws_sqs_queue", "fifo_queue" | "content_based_deduplication") => Some(Value::bool(false)),
        ("aws_cloudwatch_event_rule", "state") => Some(Value::text("ENABLED")),
        ("aws_cloudwatch_event_rule", "is_enabled") => Some(Value::bool(true)),
        ("aws_lambda_function", "timeout") => number(3),
        ("aws_lambda_function", "reserved_concurrent_executions") => number(-1),
        _ => None,
    }
}
