//! The resource types of the AWS provider, and its names for the attributes of the graph.

use crate::frontend::lower::access::{Granted, ManagedPolicyNames, RoleNames};
use crate::frontend::lower::alarm::{AlarmNames, Dimensions, MetricNames};
use crate::frontend::lower::code::CodeNames;
use crate::frontend::lower::delivery::{
    IntegrationNames, NotificationNames, PipeNames, RuleNames, SenderNames, SubscriptionNames, TargetNames, TopicNames,
};
use crate::frontend::lower::function::{FailureNames, FunctionNames, InvokeConfigNames};
use crate::frontend::lower::mapping::MappingNames;
use crate::frontend::lower::properties::known;
use crate::frontend::lower::queue::QueueNames;
use crate::frontend::lower::worker::{EnvironmentNames, WorkerNames};
use crate::frontend::lower::{BareName, NodeKind, Path};
use crate::graph::delivery::{Sender, TargetKind};
use crate::graph::{FunctionAttributeNames, MappingAttributeNames, QueueAttributeNames, Store, limits};
use std::sync::LazyLock;

/// Returns the kind of node that a resource type becomes; `None` if it is not in the graph.
pub(in crate::frontend::terraform) fn kind(name: &str) -> Option<NodeKind> {
    Some(match name {
        "aws_sqs_queue" | "awscc_sqs_queue" => NodeKind::Queue(&QUEUE),
        "aws_sqs_queue_redrive_policy" => NodeKind::RedrivePolicy("queue_url", "redrive_policy"),
        "aws_sqs_queue_redrive_allow_policy" => NodeKind::RedriveAllowPolicy("queue_url", "redrive_allow_policy"),
        "aws_sqs_queue_policy" => NodeKind::QueuePolicy("queue_url", "policy"),
        "aws_lambda_function" | "awscc_lambda_function" => NodeKind::Function(&FUNCTION),
        "aws_lambda_function_event_invoke_config" => NodeKind::InvokeConfig(&INVOKE_CONFIG),
        "aws_lambda_function_recursion_config" => NodeKind::RecursionConfig("function_name", "recursive_loop"),
        "aws_lambda_alias" => NodeKind::FunctionAlias("function_name", "name", None),
        "aws_lambda_provisioned_concurrency_config" => {
            NodeKind::ProvisionedConcurrency("function_name", "provisioned_concurrent_executions")
        }
        "aws_lambda_event_source_mapping" | "awscc_lambda_event_source_mapping" => NodeKind::Mapping(&MAPPING),
        "aws_lambda_permission" => NodeKind::Permission("function_name", "principal"),
        "aws_cloudwatch_metric_alarm" => NodeKind::Alarm(&ALARM),
        "aws_cloudwatch_composite_alarm" => NodeKind::CompositeAlarm("alarm_rule"),
        "datadog_monitor" => NodeKind::Monitor("query"),
        "aws_api_gateway_rest_api" | "aws_apigatewayv2_api" => NodeKind::Api("body"),
        "aws_api_gateway_integration" => NodeKind::Integration(&REST_INTEGRATION),
        "aws_apigatewayv2_integration" => NodeKind::Integration(&HTTP_INTEGRATION),
        "aws_pipes_pipe" => NodeKind::Pipe(&PIPE),
        "aws_sns_topic" => NodeKind::Topic(&TOPIC),
        "aws_sns_topic_subscription" => NodeKind::Subscription(&SUBSCRIPTION),
        "aws_cloudwatch_event_rule" => NodeKind::Rule(&RULE),
        "aws_cloudwatch_event_target" => NodeKind::Target(&TARGET),
        "aws_scheduler_schedule" => NodeKind::Schedule(&SCHEDULE),
        "aws_sfn_state_machine" => NodeKind::StateMachine(&["definition"], "type", "role_arn"),
        "aws_iot_topic_rule" => NodeKind::Senders(&IOT_ACTIONS),
        "aws_autoscaling_lifecycle_hook" => NodeKind::Senders(&LIFECYCLE_HOOK),
        "aws_autoscaling_group" => NodeKind::Senders(&LIFECYCLE_HOOKS),
        "aws_s3_bucket" => NodeKind::Bucket,
        "aws_s3_bucket_notification" => NodeKind::Notifications(&NOTIFICATIONS),
        "aws_iam_role" => NodeKind::Role(&ROLE),
        "aws_iam_role_policy" => NodeKind::RolePolicy("role", Granted::Document("policy")),
        "aws_iam_role_policy_attachment" => NodeKind::RolePolicy("role", Granted::Managed("policy_arn")),
        "aws_iam_policy_attachment" => NodeKind::RolePolicy("roles", Granted::Managed("policy_arn")),
        "aws_iam_role_policy_attachments_exclusive" => {
            NodeKind::RolePolicy("role_name", Granted::Managed("policy_arns"))
        }
        "aws_iam_policy" => NodeKind::ManagedPolicy(&MANAGED_POLICY),
        "aws_kms_key" => NodeKind::Key("policy"),
        "aws_kms_key_policy" => NodeKind::KeyPolicy("key_id", "policy"),
        "aws_kms_grant" => NodeKind::RolePolicy("grantee_principal", Granted::Key),
        "aws_kms_alias" => NodeKind::KeyAlias("name", "target_key_id"),
        "aws_iam_instance_profile" => NodeKind::InstanceProfile("name", "role"),
        "aws_ssm_parameter" | "awscc_ssm_parameter" => {
            NodeKind::Published(Store::Parameter, "name", &["value", "insecure_value"])
        }
        "aws_secretsmanager_secret_version" => NodeKind::Published(Store::Secret, "secret_id", &["secret_string"]),
        "aws_ecs_task_definition" => NodeKind::Worker(&TASK_DEFINITION),
        "aws_batch_job_definition" => NodeKind::Worker(&JOB_DEFINITION),
        "aws_instance" | "aws_launch_configuration" | "aws_spot_instance_request" => NodeKind::Worker(&INSTANCE),
        "aws_launch_template" => NodeKind::Worker(&LAUNCH_TEMPLATE),
        "aws_apprunner_service" => NodeKind::Worker(&APP_RUNNER_SERVICE),
        "aws_eks_pod_identity_association" => NodeKind::Worker(&POD_IDENTITY),
        _ => return None,
    })
}

/// Arguments of the Cloud Control provider that have other names than those of the AWS provider. They are the properties
/// of CloudFormation, and nested objects are values.
const OF_CLOUD_CONTROL: [(&str, Path); 10] = [
    (
        "destination_config.on_failure.destination_arn",
        "destination_config.on_failure.destination",
    ),
    ("image_uri", "code.image_uri"),
    ("max_message_size", "maximum_message_size"),
    ("message_retention_seconds", "message_retention_period"),
    ("name", "queue_name"),
    ("receive_wait_time_seconds", "receive_message_wait_time_seconds"),
    ("s3_key", "code.s3_key"),
    ("tags", "(list of tags)"),
    ("tags_all", "(list of tags)"),
    ("visibility_timeout_seconds", "visibility_timeout"),
];

/// Returns the spelling of the argument at `path` in a resource of type `kind`.
pub(super) fn spelled(kind: &str, path: Path) -> Path {
    let is_queue = kind == "awscc_sqs_queue";
    let rows = OF_CLOUD_CONTROL
        .iter()
        .filter(|(known, _)| is_queue || *known != "name");
    let mut found = rows.filter(|(known, _)| kind.starts_with("awscc_") && *known == path);
    found.next().map_or(path, |(_, spelled)| spelled)
}

static QUEUE: QueueNames = QueueNames {
    attributes: QueueAttributeNames {
        name: "name",
        fifo: "fifo_queue",
        visibility_timeout: "visibility_timeout_seconds",
        retention: "message_retention_seconds",
        delay: "delay_seconds",
        receive_wait_time: "receive_wait_time_seconds",
        maximum_message_size: "max_message_size",
        key: "kms_master_key_id",
        key_reuse_period: "kms_data_key_reuse_period_seconds",
        managed_encryption: "sqs_managed_sse_enabled",
        content_based_deduplication: "content_based_deduplication",
        deduplication_scope: "deduplication_scope",
        throughput_limit: "fifo_throughput_limit",
    },
    replaced: Some(terraform::provider::REPLACED),
    // The provider does not send `false`.
    sends_fifo_false: false,
    maximum_message_size_default: limits::MAXIMUM_MESSAGE_SIZE_TERRAFORM,
    redrive: "redrive_policy",
    redrive_allow: "redrive_allow_policy",
    // A plan contains `tags_all`, which includes the provider's default tags.
    tags: &["tags_all", "tags"],
    policy: Some("policy"),
    // Of version 6.25 of the provider, and those of every resource.
    known: LazyLock::new(|| {
        known(
            "connection content_based_deduplication count deduplication_scope delay_seconds depends_on fifo_queue \
            fifo_throughput_limit for_each kms_data_key_reuse_period_seconds kms_master_key_id lifecycle \
            max_message_size message_retention_seconds name name_prefix policy provider provisioner \
            receive_wait_time_seconds redrive_allow_policy redrive_policy region sqs_managed_sse_enabled tags \
            tags_all timeouts visibility_timeout_seconds",
        )
    }),
};

static FUNCTION: FunctionNames = FunctionNames {
    attributes: FunctionAttributeNames {
        name: "function_name",
        timeout: "timeout",
        durable_execution_timeout: "durable_config.execution_timeout",
        managed_instances: "capacity_provider_config",
        reserved_concurrency: "reserved_concurrent_executions",
        tenant_isolation: "tenancy_config.tenant_isolation_mode",
        role: "role",
        // Set by a separate resource.
        recursive_loop: "recursive_loop",
    },
    durable: "durable_config",
    failures: &[FailureNames {
        name: "dead_letter_config",
        setting: "dead_letter_config",
        target: "dead_letter_config.target_arn",
    }],
    tags: &["tags_all", "tags"],
    runtime: "runtime",
    memory: "memory_size",
    architectures: "architectures",
    layers: "layers",
    environment: "environment.variables",
    code: CodeNames {
        handler: "handler",
        command: "image_config.command",
        paths: &[],
        texts: &[],
        // The last one is that of an object in a bucket.
        archived: &["source_file", "source_dir", "source"],
        archived_text: &["source_content"],
        archived_texts: Some(("source", "filename", "content")),
        archives: &["filename"],
        packages: &["s3_key", "filename"],
        images: &["image_uri"],
    },
};

static INVOKE_CONFIG: InvokeConfigNames = InvokeConfigNames {
    function: "function_name",
    failure: FailureNames {
        name: "on_failure",
        setting: "destination_config.on_failure",
        target: "destination_config.on_failure.destination",
    },
    success: FailureNames {
        name: "on_success",
        setting: "destination_config.on_success",
        target: "destination_config.on_success.destination",
    },
};

pub(super) static MAPPING: MappingNames = MappingNames {
    attributes: MappingAttributeNames {
        batch_size: "batch_size",
        window: "maximum_batching_window_in_seconds",
        report_batch_item_failures: "function_response_types",
        maximum_concurrency: "scaling_config.maximum_concurrency",
        enabled: "enabled",
        failure_destination: "destination_config.on_failure.destination_arn",
    },
    queues: &["event_source_arn"],
    function: "function_name",
    filters: ["filter_criteria", "filter", "pattern"],
    provisioned_pollers: "provisioned_poller_config",
    minimum_pollers: "minimum_pollers",
    maximum_pollers: "maximum_pollers",
    poller_group: "poller_group_name",
    tags: &["tags_all", "tags"],
    stream_settings: [
        "starting_position",
        "bisect_batch_on_function_error",
        "maximum_record_age_in_seconds",
        "maximum_retry_attempts",
        "parallelization_factor",
        "tumbling_window_in_seconds",
    ],
    other_sources: &[
        "self_managed_event_source",
        "amazon_managed_kafka_event_source_config",
        "document_db_event_source_config",
        "starting_position",
        "topics",
        "queues",
        "bisect_batch_on_function_error",
        "parallelization_factor",
    ],
    known: LazyLock::new(|| {
        known(
            "amazon_managed_kafka_event_source_config batch_size bisect_batch_on_function_error connection count \
            depends_on destination_config document_db_event_source_config enabled event_source_arn \
            filter_criteria for_each function_name function_response_types kms_key_arn lifecycle logging_config \
            maximum_batching_window_in_seconds maximum_record_age_in_seconds maximum_retry_attempts \
            metrics_config parallelization_factor provider provisioned_poller_config provisioner queues region \
            scaling_config self_managed_event_source self_managed_kafka_event_source_config \
            source_access_configuration starting_position starting_position_timestamp tags tags_all timeouts \
            topics tumbling_window_in_seconds scaling_config.maximum_concurrency destination_config.on_failure \
            filter_criteria.filter provisioned_poller_config.maximum_pollers provisioned_poller_config.minimum_pollers \
            provisioned_poller_config.poller_group_name",
        )
    }),
};

static ALARM: AlarmNames = AlarmNames {
    name: "alarm_name",
    metric: MetricNames {
        namespace: "namespace",
        metric: "metric_name",
        dimensions: DIMENSIONS,
        statistic: "statistic",
        period: "period",
    },
    queries: "metric_query",
    query_metric: "metric",
    metric_of_query: MetricNames {
        namespace: "namespace",
        metric: "metric_name",
        dimensions: DIMENSIONS,
        statistic: "stat",
        period: "period",
    },
    expression: "expression",
    threshold: "threshold",
    comparison: "comparison_operator",
    evaluation_periods: "evaluation_periods",
    datapoints: "datapoints_to_alarm",
    missing_data: "treat_missing_data",
    actions: "alarm_actions",
    actions_enabled: "actions_enabled",
};

const DIMENSIONS: Dimensions = Dimensions::Object("dimensions", "dimensions.QueueName");

static PIPE: PipeNames = PipeNames {
    source: "source",
    enrichment: "enrichment",
    target: "target",
    target_kinds: &[
        ("aws_sqs_queue", TargetKind::Queue),
        ("aws_sns_topic", TargetKind::Topic),
        ("aws_cloudwatch_event_bus", TargetKind::EventBus),
        ("aws_kinesis_stream", TargetKind::Stream),
        ("aws_kinesis_firehose_delivery_stream", TargetKind::DeliveryStream),
    ],
    batch_size: "source_parameters.sqs_queue_parameters.batch_size",
    window: "source_parameters.sqs_queue_parameters.maximum_batching_window_in_seconds",
    filters: ["source_parameters.filter_criteria", "filter", "pattern"],
    state: "desired_state",
    invocation_types: [
        "target_parameters.lambda_function_parameters.invocation_type",
        "target_parameters.step_function_state_machine_parameters.invocation_type",
    ],
    message_group_id: "target_parameters.sqs_queue_parameters.message_group_id",
    role: "role_arn",
    dead_letters: [
        "source_parameters.dynamodb_stream_parameters.dead_letter_config.arn",
        "source_parameters.kinesis_stream_parameters.dead_letter_config.arn",
    ],
};

static IOT_ACTIONS: [SenderNames; 2] = [
    SenderNames {
        list: Some("sqs"),
        sender: Sender::IotRule,
        of: &TargetNames::of_sender("queue_url", "role_arn"),
    },
    SenderNames {
        list: Some("error_action"),
        sender: Sender::IotRule,
        of: &TargetNames::of_sender("sqs.queue_url", "sqs.role_arn"),
    },
];

static LIFECYCLE_HOOK: [SenderNames; 1] = [SenderNames {
    list: None,
    sender: Sender::LifecycleHook,
    of: &HOOK,
}];

static LIFECYCLE_HOOKS: [SenderNames; 1] = [SenderNames {
    list: Some("initial_lifecycle_hook"),
    sender: Sender::LifecycleHook,
    of: &HOOK,
}];

static HOOK: TargetNames = TargetNames::of_sender("notification_target_arn", "role_arn");

static REST_INTEGRATION: IntegrationNames = IntegrationNames {
    uri: "uri",
    action: None,
    role: "credentials",
    parameters: "request_parameters",
    templates: "request_templates",
};

static HTTP_INTEGRATION: IntegrationNames = IntegrationNames {
    uri: "integration_uri",
    action: Some(("integration_subtype", "request_parameters.QueueUrl")),
    role: "credentials_arn",
    ..REST_INTEGRATION
};

static TOPIC: TopicNames = TopicNames {
    name: "name",
    fifo: "fifo_topic",
    tags: &["tags_all", "tags"],
    subscriptions: None,
};

static SUBSCRIPTION: SubscriptionNames = SubscriptionNames {
    topic: "topic_arn",
    protocol: "protocol",
    endpoint: "endpoint",
    raw_message_delivery: "raw_message_delivery",
    redrive: "redrive_policy",
};

static RULE: RuleNames = RuleNames {
    state: "state",
    enabled: Some("is_enabled"),
    bus: "event_bus_name",
    pattern: "event_pattern",
    targets: None,
};

static TARGET: TargetNames = TargetNames {
    source: "rule",
    target: "arn",
    dead_letter: "dead_letter_config.arn",
    role: "role_arn",
    message_group_id: "sqs_target.message_group_id",
    maximum_event_age: "retry_policy.maximum_event_age_in_seconds",
    input: "input",
    // The state of the rule.
    state: "state",
};

static SCHEDULE: TargetNames = TargetNames {
    source: "name",
    target: "target.arn",
    dead_letter: "target.dead_letter_config.arn",
    role: "target.role_arn",
    message_group_id: "target.sqs_parameters.message_group_id",
    maximum_event_age: "target.retry_policy.maximum_event_age_in_seconds",
    input: "target.input",
    state: "state",
};

static NOTIFICATIONS: NotificationNames = NotificationNames {
    bucket: Some("bucket"),
    lists: [
        ("queue", "queue_arn", BareName::Queue),
        ("lambda_function", "lambda_function_arn", BareName::Function),
        ("topic", "topic_arn", BareName::Queue),
    ],
};

static ROLE: RoleNames = RoleNames {
    name: "name",
    policies: "inline_policy",
    document: "policy",
    managed: "managed_policy_arns",
    trust: "assume_role_policy",
};

static TASK_DEFINITION: WorkerNames = WorkerNames {
    roles: &["task_role_arn"],
    containers: Some("container_definitions"),
    stop_timeout: Some("stopTimeout"),
    commands: &["entryPoint", "command"],
    launch_types: Some("requires_compatibilities"),
    container_role: None,
    environments: &[VARIABLES, SECRETS],
};

static JOB_DEFINITION: WorkerNames = WorkerNames {
    containers: Some("container_properties"),
    commands: &["command"],
    container_role: Some("jobRoleArn"),
    environments: &[VARIABLES, SECRETS],
    ..INSTANCE
};

const VARIABLES: EnvironmentNames = EnvironmentNames::Pairs("environment", "name", "value");

const SECRETS: EnvironmentNames = EnvironmentNames::Pairs("secrets", "name", "valueFrom");

static INSTANCE: WorkerNames = WorkerNames {
    roles: &["iam_instance_profile"],
    containers: None,
    stop_timeout: None,
    commands: &[],
    launch_types: None,
    container_role: None,
    environments: &[],
};

static LAUNCH_TEMPLATE: WorkerNames = WorkerNames {
    roles: &["iam_instance_profile.name", "iam_instance_profile.arn"],
    ..INSTANCE
};

static APP_RUNNER_SERVICE: WorkerNames = WorkerNames {
    roles: &["instance_configuration.instance_role_arn"],
    environments: &[
        EnvironmentNames::Object(
            "source_configuration.image_repository.image_configuration.runtime_environment_variables",
        ),
        EnvironmentNames::Object(
            "source_configuration.code_repository.code_configuration.code_configuration_values.runtime_environment_variables",
        ),
    ],
    ..INSTANCE
};

static POD_IDENTITY: WorkerNames = WorkerNames {
    roles: &["role_arn"],
    ..INSTANCE
};

static MANAGED_POLICY: ManagedPolicyNames = ManagedPolicyNames {
    name: "name",
    document: "policy",
    roles: None,
};
