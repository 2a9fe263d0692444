//! CloudFormation's resource types, and its names for the attributes of the graph.

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
use crate::frontend::lower::{BareName, NodeKind};
use crate::graph::delivery::{Sender, TargetKind};
use crate::graph::{FunctionAttributeNames, MappingAttributeNames, QueueAttributeNames, Store, limits};
use std::sync::LazyLock;

/// Returns the kind of node for a resource type, or `None` if the graph has none.
pub(in crate::frontend::cloudformation) fn kind(name: &str) -> Option<NodeKind> {
    Some(match name {
        "AWS::SQS::Queue" => NodeKind::Queue(&QUEUE),
        "AWS::SQS::QueuePolicy" => NodeKind::QueuePolicy("Queues", "PolicyDocument"),
        "AWS::SQS::QueueInlinePolicy" => NodeKind::QueuePolicy("Queue", "PolicyDocument"),
        "AWS::Lambda::Function" | "AWS::Serverless::Function" => NodeKind::Function(&FUNCTION),
        "AWS::Lambda::EventInvokeConfig" => NodeKind::InvokeConfig(&INVOKE_CONFIG),
        "AWS::Lambda::Alias" => NodeKind::FunctionAlias(
            "FunctionName",
            "Name",
            Some("ProvisionedConcurrencyConfig.ProvisionedConcurrentExecutions"),
        ),
        "AWS::Lambda::Version" => NodeKind::ProvisionedConcurrency(
            "FunctionName",
            "ProvisionedConcurrencyConfig.ProvisionedConcurrentExecutions",
        ),
        "AWS::Lambda::EventSourceMapping" => NodeKind::Mapping(&MAPPING),
        "AWS::Lambda::Permission" => NodeKind::Permission("FunctionName", "Principal"),
        "AWS::CloudWatch::Alarm" => NodeKind::Alarm(&ALARM),
        "AWS::CloudWatch::CompositeAlarm" => NodeKind::CompositeAlarm("AlarmRule"),
        "Datadog::Monitors::Monitor" => NodeKind::Monitor("Query"),
        "AWS::ApiGateway::RestApi" | "AWS::ApiGatewayV2::Api" => NodeKind::Api("Body"),
        "AWS::Serverless::Api" | "AWS::Serverless::HttpApi" => NodeKind::Api("DefinitionBody"),
        "AWS::ApiGateway::Method" => NodeKind::Integration(&REST_INTEGRATION),
        "AWS::ApiGatewayV2::Integration" => NodeKind::Integration(&HTTP_INTEGRATION),
        "AWS::Pipes::Pipe" => NodeKind::Pipe(&PIPE),
        "AWS::SNS::Topic" => NodeKind::Topic(&TOPIC),
        "AWS::SNS::Subscription" => NodeKind::Subscription(&SUBSCRIPTION),
        "AWS::Events::Rule" => NodeKind::Rule(&RULE),
        "AWS::Scheduler::Schedule" => NodeKind::Schedule(&SCHEDULE),
        "AWS::StepFunctions::StateMachine" => {
            NodeKind::StateMachine(&["DefinitionString", "Definition"], "StateMachineType", "RoleArn")
        }
        "AWS::Serverless::StateMachine" => NodeKind::StateMachine(&["Definition"], "Type", "RoleArn"),
        "AWS::IoT::TopicRule" => NodeKind::Senders(&IOT_ACTIONS),
        "AWS::AutoScaling::LifecycleHook" => NodeKind::Senders(&LIFECYCLE_HOOK),
        "AWS::AutoScaling::AutoScalingGroup" => NodeKind::Senders(&LIFECYCLE_HOOKS),
        "AWS::EventsV2::Subscriber" => NodeKind::Senders(&SUBSCRIBER),
        "AWS::S3::Bucket" => NodeKind::Notifications(&NOTIFICATIONS),
        "Custom::S3BucketNotifications" => NodeKind::Notifications(&CDK_NOTIFICATIONS),
        "AWS::IAM::Role" => NodeKind::Role(&ROLE),
        "AWS::IAM::Policy" => NodeKind::RolePolicy("Roles", Granted::Document("PolicyDocument")),
        "AWS::IAM::RolePolicy" => NodeKind::RolePolicy("RoleName", Granted::Document("PolicyDocument")),
        "AWS::IAM::ManagedPolicy" => NodeKind::ManagedPolicy(&MANAGED_POLICY),
        "AWS::KMS::Key" | "AWS::KMS::ReplicaKey" => NodeKind::Key("KeyPolicy"),
        "AWS::KMS::Alias" => NodeKind::KeyAlias("AliasName", "TargetKeyId"),
        "AWS::IAM::InstanceProfile" => NodeKind::InstanceProfile("InstanceProfileName", "Roles"),
        "AWS::SSM::Parameter" => NodeKind::Published(Store::Parameter, "Name", &["Value"]),
        "AWS::SecretsManager::Secret" => NodeKind::Published(Store::Secret, "Name", &["SecretString"]),
        "AWS::ECS::TaskDefinition" => NodeKind::Worker(&TASK_DEFINITION),
        "AWS::Batch::JobDefinition" => NodeKind::Worker(&JOB_DEFINITION),
        "AWS::EC2::Instance" | "AWS::AutoScaling::LaunchConfiguration" => NodeKind::Worker(&INSTANCE),
        "AWS::EC2::LaunchTemplate" => NodeKind::Worker(&LAUNCH_TEMPLATE),
        "AWS::AppRunner::Service" => NodeKind::Worker(&APP_RUNNER_SERVICE),
        "AWS::EKS::PodIdentityAssociation" => NodeKind::Worker(&POD_IDENTITY),
        _ => return None,
    })
}

static QUEUE: QueueNames = QueueNames {
    attributes: QueueAttributeNames {
        name: "QueueName",
        fifo: "FifoQueue",
        visibility_timeout: "VisibilityTimeout",
        retention: "MessageRetentionPeriod",
        delay: "DelaySeconds",
        receive_wait_time: "ReceiveMessageWaitTimeSeconds",
        maximum_message_size: "MaximumMessageSize",
        key: "KmsMasterKeyId",
        key_reuse_period: "KmsDataKeyReusePeriodSeconds",
        managed_encryption: "SqsManagedSseEnabled",
        content_based_deduplication: "ContentBasedDeduplication",
        deduplication_scope: "DeduplicationScope",
        throughput_limit: "FifoThroughputLimit",
    },
    replaced: None,
    sends_fifo_false: true,
    maximum_message_size_default: limits::MAXIMUM_MESSAGE_SIZE_DEFAULT,
    redrive: "RedrivePolicy",
    redrive_allow: "RedriveAllowPolicy",
    tags: &["Tags"],
    policy: None,
    known: LazyLock::new(|| {
        known(
            "ContentBasedDeduplication DeduplicationScope DelaySeconds FifoQueue FifoThroughputLimit \
            KmsDataKeyReusePeriodSeconds KmsMasterKeyId MaximumMessageSize MessageRetentionPeriod QueueName \
            ReceiveMessageWaitTimeSeconds RedriveAllowPolicy RedrivePolicy SqsManagedSseEnabled Tags \
            VisibilityTimeout",
        )
    }),
};

static FUNCTION: FunctionNames = FunctionNames {
    attributes: FunctionAttributeNames {
        name: "FunctionName",
        timeout: "Timeout",
        durable_execution_timeout: "DurableConfig.ExecutionTimeout",
        managed_instances: "CapacityProviderConfig",
        reserved_concurrency: "ReservedConcurrentExecutions",
        tenant_isolation: "TenancyConfig.TenantIsolationMode",
        role: "Role",
        recursive_loop: "RecursiveLoop",
    },
    durable: "DurableConfig",
    failures: &[
        FailureNames {
            name: "DeadLetterConfig",
            setting: "DeadLetterConfig",
            target: "DeadLetterConfig.TargetArn",
        },
        // The name in SAM.
        FailureNames {
            name: "DeadLetterQueue",
            setting: "DeadLetterQueue",
            target: "DeadLetterQueue.TargetArn",
        },
    ],
    tags: &["Tags"],
    runtime: "Runtime",
    memory: "MemorySize",
    architectures: "Architectures",
    layers: "Layers",
    environment: "Environment.Variables",
    code: CodeNames {
        handler: "Handler",
        command: "ImageConfig.Command",
        // The name in SAM, and the property that `aws cloudformation package` uploads.
        paths: &["CodeUri", "Code"],
        texts: &["InlineCode", "Code.ZipFile"],
        archived: &[],
        archived_text: &[],
        archived_texts: None,
        archives: &[],
        packages: &["CodeUri.Key", "Code.S3Key"],
        images: &["Code.ImageUri", "ImageUri"],
    },
};

static INVOKE_CONFIG: InvokeConfigNames = InvokeConfigNames {
    function: "FunctionName",
    failure: FailureNames {
        name: "OnFailure",
        setting: "DestinationConfig",
        target: "DestinationConfig.OnFailure.Destination",
    },
    success: FailureNames {
        name: "OnSuccess",
        setting: "DestinationConfig.OnSuccess",
        target: "DestinationConfig.OnSuccess.Destination",
    },
};

static MAPPING: MappingNames = MappingNames {
    attributes: MappingAttributeNames {
        batch_size: "BatchSize",
        window: "MaximumBatchingWindowInSeconds",
        report_batch_item_failures: "FunctionResponseTypes",
        maximum_concurrency: "ScalingConfig.MaximumConcurrency",
        enabled: "Enabled",
        failure_destination: "DestinationConfig.OnFailure.Destination",
    },
    // The names in CloudFormation, in SAM's event `SQS`, and in its `SqsSubscription`.
    queues: &["EventSourceArn", "Queue", "QueueArn"],
    function: "FunctionName",
    filters: ["FilterCriteria", "Filters", "Pattern"],
    provisioned_pollers: "ProvisionedPollerConfig",
    minimum_pollers: "MinimumPollers",
    maximum_pollers: "MaximumPollers",
    poller_group: "PollerGroupName",
    tags: &["Tags"],
    stream_settings: [
        "StartingPosition",
        "BisectBatchOnFunctionError",
        "MaximumRecordAgeInSeconds",
        "MaximumRetryAttempts",
        "ParallelizationFactor",
        "TumblingWindowInSeconds",
    ],
    other_sources: &[
        "SelfManagedEventSource",
        "Topics",
        "Queues",
        "AmazonManagedKafkaEventSourceConfig",
        "SelfManagedKafkaEventSourceConfig",
        "DocumentDBEventSourceConfig",
    ],
    // Those of the resource, and of SAM's events.
    known: LazyLock::new(|| {
        known(
            "AmazonManagedKafkaEventSourceConfig BatchSize BisectBatchOnFunctionError ConsumerGroupId \
            DestinationConfig DocumentDBEventSourceConfig Enabled EventSourceArn FilterCriteria FunctionName \
            FunctionResponseTypes KafkaBootstrapServers KmsKeyArn LoggingConfig MaximumBatchingWindowInSeconds \
            MaximumRecordAgeInSeconds MaximumRetryAttempts MetricsConfig ParallelizationFactor \
            ProvisionedPollerConfig Queue QueueArn Queues ScalingConfig SchemaRegistryConfig \
            SecretsManagerKmsKeyId SelfManagedEventSource SelfManagedKafkaEventSourceConfig \
            SourceAccessConfigurations StartingPosition StartingPositionTimestamp Tags Topics \
            TumblingWindowInSeconds ScalingConfig.MaximumConcurrency DestinationConfig.OnFailure FilterCriteria.Filters \
            ProvisionedPollerConfig.MaximumPollers ProvisionedPollerConfig.MinimumPollers \
            ProvisionedPollerConfig.PollerGroupName",
        )
    }),
};

static ALARM: AlarmNames = AlarmNames {
    name: "AlarmName",
    metric: MetricNames {
        namespace: "Namespace",
        metric: "MetricName",
        dimensions: Dimensions::List("Dimensions", "Name", "Value"),
        statistic: "Statistic",
        period: "Period",
    },
    queries: "Metrics",
    query_metric: "MetricStat",
    metric_of_query: MetricNames {
        namespace: "Metric.Namespace",
        metric: "Metric.MetricName",
        dimensions: Dimensions::List("Metric.Dimensions", "Name", "Value"),
        statistic: "Stat",
        period: "Period",
    },
    expression: "Expression",
    threshold: "Threshold",
    comparison: "ComparisonOperator",
    evaluation_periods: "EvaluationPeriods",
    datapoints: "DatapointsToAlarm",
    missing_data: "TreatMissingData",
    actions: "AlarmActions",
    actions_enabled: "ActionsEnabled",
};

static PIPE: PipeNames = PipeNames {
    source: "Source",
    enrichment: "Enrichment",
    target: "Target",
    target_kinds: &[
        ("AWS::SQS::Queue", TargetKind::Queue),
        ("AWS::SNS::Topic", TargetKind::Topic),
        ("AWS::Events::EventBus", TargetKind::EventBus),
        ("AWS::Kinesis::Stream", TargetKind::Stream),
        ("AWS::KinesisFirehose::DeliveryStream", TargetKind::DeliveryStream),
    ],
    batch_size: "SourceParameters.SqsQueueParameters.BatchSize",
    window: "SourceParameters.SqsQueueParameters.MaximumBatchingWindowInSeconds",
    filters: ["SourceParameters.FilterCriteria", "Filters", "Pattern"],
    state: "DesiredState",
    invocation_types: [
        "TargetParameters.LambdaFunctionParameters.InvocationType",
        "TargetParameters.StepFunctionStateMachineParameters.InvocationType",
    ],
    message_group_id: "TargetParameters.SqsQueueParameters.MessageGroupId",
    role: "RoleArn",
    dead_letters: [
        "SourceParameters.DynamoDBStreamParameters.DeadLetterConfig.Arn",
        "SourceParameters.KinesisStreamParameters.DeadLetterConfig.Arn",
    ],
};

static IOT_ACTIONS: [SenderNames; 2] = [
    SenderNames {
        list: Some("TopicRulePayload.Actions"),
        sender: Sender::IotRule,
        of: &IOT_ACTION,
    },
    SenderNames {
        list: Some("TopicRulePayload.ErrorAction"),
        sender: Sender::IotRule,
        of: &IOT_ACTION,
    },
];

static IOT_ACTION: TargetNames = TargetNames::of_sender("Sqs.QueueUrl", "Sqs.RoleArn");

static LIFECYCLE_HOOK: [SenderNames; 1] = [SenderNames {
    list: None,
    sender: Sender::LifecycleHook,
    of: &HOOK,
}];

static LIFECYCLE_HOOKS: [SenderNames; 1] = [SenderNames {
    list: Some("LifecycleHookSpecificationList"),
    sender: Sender::LifecycleHook,
    of: &HOOK,
}];

static HOOK: TargetNames = TargetNames::of_sender("NotificationTargetARN", "RoleARN");

static SUBSCRIBER: [SenderNames; 1] = [SenderNames {
    list: None,
    sender: Sender::Subscriber,
    of: &TargetNames {
        dead_letter: "OnFailureConfiguration.Arn",
        message_group_id: "InvokeConfiguration.SqsParameters.MessageGroupId",
        ..TargetNames::of_sender("InvokeConfiguration.TargetArn", "InvokeConfiguration.RoleArn")
    },
}];

static REST_INTEGRATION: IntegrationNames = IntegrationNames {
    uri: "Integration.Uri",
    action: None,
    role: "Integration.Credentials",
    parameters: "Integration.RequestParameters",
    templates: "Integration.RequestTemplates",
};

static HTTP_INTEGRATION: IntegrationNames = IntegrationNames {
    uri: "IntegrationUri",
    action: Some(("IntegrationSubtype", "RequestParameters.QueueUrl")),
    role: "CredentialsArn",
    parameters: "RequestParameters",
    templates: "RequestTemplates",
};

static TOPIC: TopicNames = TopicNames {
    name: "TopicName",
    fifo: "FifoTopic",
    tags: &["Tags"],
    subscriptions: Some(("Subscription", &SUBSCRIPTION)),
};

static SUBSCRIPTION: SubscriptionNames = SubscriptionNames {
    topic: "TopicArn",
    protocol: "Protocol",
    endpoint: "Endpoint",
    raw_message_delivery: "RawMessageDelivery",
    redrive: "RedrivePolicy",
};

static RULE: RuleNames = RuleNames {
    state: "State",
    enabled: None,
    bus: "EventBusName",
    pattern: "EventPattern",
    targets: Some(("Targets", &TARGET)),
};

static TARGET: TargetNames = TargetNames {
    source: "Source",
    target: "Arn",
    dead_letter: "DeadLetterConfig.Arn",
    role: "RoleArn",
    message_group_id: "SqsParameters.MessageGroupId",
    maximum_event_age: "RetryPolicy.MaximumEventAgeInSeconds",
    input: "Input",
    // The state of the rule.
    state: "State",
};

static SCHEDULE: TargetNames = TargetNames {
    source: "Source",
    target: "Target.Arn",
    dead_letter: "Target.DeadLetterConfig.Arn",
    role: "Target.RoleArn",
    message_group_id: "Target.SqsParameters.MessageGroupId",
    maximum_event_age: "Target.RetryPolicy.MaximumEventAgeInSeconds",
    input: "Target.Input",
    state: "State",
};

/// The notifications that CDK sets with the API of S3, after the bucket.
static CDK_NOTIFICATIONS: NotificationNames = NotificationNames {
    bucket: Some("BucketName"),
    lists: [
        (
            "NotificationConfiguration.QueueConfigurations",
            "QueueArn",
            BareName::Queue,
        ),
        (
            "NotificationConfiguration.LambdaFunctionConfigurations",
            "LambdaFunctionArn",
            BareName::Function,
        ),
        (
            "NotificationConfiguration.TopicConfigurations",
            "TopicArn",
            BareName::Queue,
        ),
    ],
};

static NOTIFICATIONS: NotificationNames = NotificationNames {
    bucket: None,
    lists: [
        (
            "NotificationConfiguration.QueueConfigurations",
            "Queue",
            BareName::Queue,
        ),
        (
            "NotificationConfiguration.LambdaConfigurations",
            "Function",
            BareName::Function,
        ),
        (
            "NotificationConfiguration.TopicConfigurations",
            "Topic",
            BareName::Queue,
        ),
    ],
};

static ROLE: RoleNames = RoleNames {
    name: "RoleName",
    policies: "Policies",
    document: "PolicyDocument",
    managed: "ManagedPolicyArns",
    trust: "AssumeRolePolicyDocument",
};

static TASK_DEFINITION: WorkerNames = WorkerNames {
    roles: &["TaskRoleArn"],
    containers: Some("ContainerDefinitions"),
    stop_timeout: Some("StopTimeout"),
    commands: &["EntryPoint", "Command"],
    launch_types: Some("RequiresCompatibilities"),
    container_role: None,
    environments: &[VARIABLES, SECRETS],
};

static JOB_DEFINITION: WorkerNames = WorkerNames {
    containers: Some("ContainerProperties"),
    commands: &["Command"],
    container_role: Some("JobRoleArn"),
    environments: &[VARIABLES, SECRETS],
    ..INSTANCE
};

const VARIABLES: EnvironmentNames = EnvironmentNames::Pairs("Environment", "Name", "Value");

const SECRETS: EnvironmentNames = EnvironmentNames::Pairs("Secrets", "Name", "ValueFrom");

static INSTANCE: WorkerNames = WorkerNames {
    roles: &["IamInstanceProfile"],
    containers: None,
    stop_timeout: None,
    commands: &[],
    launch_types: None,
    container_role: None,
    environments: &[],
};

static LAUNCH_TEMPLATE: WorkerNames = WorkerNames {
    roles: &[
        "LaunchTemplateData.IamInstanceProfile.Name",
        "LaunchTemplateData.IamInstanceProfile.Arn",
    ],
    ..INSTANCE
};

static APP_RUNNER_SERVICE: WorkerNames = WorkerNames {
    roles: &["InstanceConfiguration.InstanceRoleArn"],
    environments: &[
        EnvironmentNames::Pairs(
            "SourceConfiguration.ImageRepository.ImageConfiguration.RuntimeEnvironmentVariables",
            "Name",
            "Value",
        ),
        EnvironmentNames::Pairs(
            "SourceConfiguration.CodeRepository.CodeConfiguration.CodeConfigurationValues.RuntimeEnvironmentVariables",
            "Name",
            "Value",
        ),
    ],
    ..INSTANCE
};

static POD_IDENTITY: WorkerNames = WorkerNames {
    roles: &["RoleArn"],
    ..INSTANCE
};

static MANAGED_POLICY: ManagedPolicyNames = ManagedPolicyNames {
    name: "ManagedPolicyName",
    document: "PolicyDocument",
    roles: Some("Roles"),
};
