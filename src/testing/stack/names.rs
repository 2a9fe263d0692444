//! The names of attributes in each dialect, written independently of the tables of the frontends that they test.

use super::Dialect;

/// Name in no dialect, then the paths in Terraform and CloudFormation, or `-`. A dot separates blocks or keys, `!.`
/// the keys of an object in JSON, and `[]` an element of a list.
const NAMES: &[(&str, &str, &str)] = &[
    ("queue.name", "name", "QueueName"),
    ("queue.name_prefix", "name_prefix", "-"),
    ("queue.count", "count", "-"),
    ("queue.region", "region", "-"),
    ("queue.fifo", "fifo_queue", "FifoQueue"),
    (
        "queue.visibility_timeout",
        "visibility_timeout_seconds",
        "VisibilityTimeout",
    ),
    ("queue.retention", "message_retention_seconds", "MessageRetentionPeriod"),
    ("queue.delay", "delay_seconds", "DelaySeconds"),
    (
        "queue.wait_time",
        "receive_wait_time_seconds",
        "ReceiveMessageWaitTimeSeconds",
    ),
    ("queue.maximum_size", "max_message_size", "MaximumMessageSize"),
    ("queue.key", "kms_master_key_id", "KmsMasterKeyId"),
    (
        "queue.key_reuse_period",
        "kms_data_key_reuse_period_seconds",
        "KmsDataKeyReusePeriodSeconds",
    ),
    (
        "queue.managed_encryption",
        "sqs_managed_sse_enabled",
        "SqsManagedSseEnabled",
    ),
    (
        "queue.deduplication",
        "content_based_deduplication",
        "ContentBasedDeduplication",
    ),
    ("queue.deduplication_scope", "deduplication_scope", "DeduplicationScope"),
    ("queue.throughput_limit", "fifo_throughput_limit", "FifoThroughputLimit"),
    ("queue.redrive", "redrive_policy", "RedrivePolicy"),
    (
        "queue.target",
        "redrive_policy!.deadLetterTargetArn",
        "RedrivePolicy.deadLetterTargetArn",
    ),
    (
        "queue.max_receive_count",
        "redrive_policy!.maxReceiveCount",
        "RedrivePolicy.maxReceiveCount",
    ),
    ("queue.redrive_allow", "redrive_allow_policy", "RedriveAllowPolicy"),
    (
        "queue.permission",
        "redrive_allow_policy!.redrivePermission",
        "RedriveAllowPolicy.redrivePermission",
    ),
    (
        "queue.sources",
        "redrive_allow_policy!.sourceQueueArns",
        "RedriveAllowPolicy.sourceQueueArns",
    ),
    ("function.timeout", "timeout", "Timeout"),
    (
        "function.reserved_concurrency",
        "reserved_concurrent_executions",
        "ReservedConcurrentExecutions",
    ),
    (
        "function.tenant_isolation",
        "tenancy_config.tenant_isolation_mode",
        "TenancyConfig.TenantIsolationMode",
    ),
    (
        "function.execution_timeout",
        "durable_config.execution_timeout",
        "DurableConfig.ExecutionTimeout",
    ),
    (
        "function.failure_target",
        "dead_letter_config.target_arn",
        "DeadLetterConfig.TargetArn",
    ),
    (
        "function.capacity_provider",
        "capacity_provider_config.lambda_managed_instances_capacity_provider_config.capacity_provider_arn",
        "CapacityProviderConfig.LambdaManagedInstancesCapacityProviderConfig.CapacityProviderArn",
    ),
    ("mapping.count", "count", "-"),
    ("mapping.source", "event_source_arn", "EventSourceArn"),
    ("mapping.function", "function_name", "FunctionName"),
    ("mapping.enabled", "enabled", "Enabled"),
    ("mapping.batch_size", "batch_size", "BatchSize"),
    (
        "mapping.window",
        "maximum_batching_window_in_seconds",
        "MaximumBatchingWindowInSeconds",
    ),
    (
        "mapping.response_types",
        "function_response_types",
        "FunctionResponseTypes",
    ),
    (
        "mapping.concurrency",
        "scaling_config.maximum_concurrency",
        "ScalingConfig.MaximumConcurrency",
    ),
    (
        "mapping.pattern",
        "filter_criteria.filter.pattern",
        "FilterCriteria.Filters[].Pattern",
    ),
    (
        "mapping.minimum_pollers",
        "provisioned_poller_config.minimum_pollers",
        "ProvisionedPollerConfig.MinimumPollers",
    ),
    (
        "mapping.maximum_pollers",
        "provisioned_poller_config.maximum_pollers",
        "ProvisionedPollerConfig.MaximumPollers",
    ),
    (
        "mapping.poller_group",
        "provisioned_poller_config.poller_group_name",
        "ProvisionedPollerConfig.PollerGroupName",
    ),
    (
        "mapping.failure_destination",
        "destination_config.on_failure.destination_arn",
        "DestinationConfig.OnFailure.Destination",
    ),
    ("mapping.starting_position", "starting_position", "StartingPosition"),
    (
        "mapping.bisect",
        "bisect_batch_on_function_error",
        "BisectBatchOnFunctionError",
    ),
    (
        "mapping.maximum_age",
        "maximum_record_age_in_seconds",
        "MaximumRecordAgeInSeconds",
    ),
    (
        "mapping.maximum_retries",
        "maximum_retry_attempts",
        "MaximumRetryAttempts",
    ),
    (
        "mapping.parallelization",
        "parallelization_factor",
        "ParallelizationFactor",
    ),
];

/// Names of settings of functions and events in the Serverless Framework.
const SERVERLESS: &[(&str, &str)] = &[
    ("function.timeout", "timeout"),
    ("function.reserved_concurrency", "reservedConcurrency"),
    ("mapping.source", "arn"),
    ("mapping.enabled", "enabled"),
    ("mapping.batch_size", "batchSize"),
    ("mapping.window", "maximumBatchingWindow"),
    ("mapping.concurrency", "maximumConcurrency"),
];

/// Returns the path of an attribute in `dialect`, or `None` if it has none.
///
/// # Panics
/// If the name is unknown.
pub(super) fn path(name: &str, dialect: Dialect) -> Option<&'static str> {
    let neutral = name.replace("dlq.", "queue.");
    let found = NAMES.iter().find(|(of, _, _)| *of == neutral);
    let (_, terraform, cloudformation) = found.unwrap_or_else(|| panic!("the attribute `{name}` is unknown"));
    let path = match dialect {
        Dialect::Terraform => terraform,
        Dialect::Serverless if !neutral.starts_with("queue.") => {
            return SERVERLESS.iter().find(|(of, _)| *of == neutral).map(|(_, path)| *path);
        }
        Dialect::Sam if name == "mapping.source" => "Queue",
        Dialect::Sam if name == "mapping.function" => return None,
        Dialect::Sam if name == "function.failure_target" => "DeadLetterQueue.TargetArn",
        _ => cloudformation,
    };
    (path != "-").then_some(path)
}
