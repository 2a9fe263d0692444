//! AWS's defaults, quotas and recommendations, each defined once, with its unit and source.

use super::Seconds;

/// Unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds, written after every number: `30 s`.
    Seconds,
    /// Milliseconds, for durations that are not whole seconds.
    Milliseconds,
    /// Bytes.
    Bytes,
    /// Messages of a batch.
    Messages,
    /// Receives of one message.
    Receives,
    /// Characters of a name.
    Characters,
    /// Concurrent invocations.
    Invocations,
    /// Pollers of an event source mapping.
    Pollers,
    /// Filters of an event source mapping.
    Filters,
    /// Queues in a list.
    Queues,
}

impl Unit {
    /// Returns the full name: `seconds`.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Seconds => "seconds",
            Unit::Milliseconds => "milliseconds",
            Unit::Bytes => "bytes",
            Unit::Messages => "messages",
            Unit::Receives => "receives",
            Unit::Characters => "characters",
            Unit::Invocations => "concurrent invocations",
            Unit::Pollers => "pollers",
            Unit::Filters => "filters",
            Unit::Queues => "queues",
        }
    }

    /// Returns the form after a number: `s`, `bytes`.
    pub fn short(self) -> &'static str {
        match self {
            Unit::Seconds => "s",
            Unit::Milliseconds => "ms",
            _ => self.name(),
        }
    }

    /// Returns `true` for a symbol, which follows every number of a comparison; a word follows only the last.
    pub fn is_sign(self) -> bool {
        matches!(self, Unit::Seconds | Unit::Milliseconds)
    }
}

/// The range of numbers that AWS accepts for a setting.
#[derive(Debug)]
pub struct Quota {
    /// Name of the setting in AWS's terms.
    pub name: &'static str,
    /// Unit.
    pub unit: Unit,
    /// Minimum.
    pub least: i64,
    /// Maximum.
    pub most: i64,
    /// URL of the documentation.
    pub source: &'static str,
}

impl Quota {
    /// Returns `true` if AWS accepts `value`.
    pub fn accepts(&self, value: i64) -> bool {
        (self.least..=self.most).contains(&value)
    }
}

const CREATE_QUEUE: &str = "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html";
const PROVISIONED_POLLERS: &str = "https://docs.aws.amazon.com/lambda/latest/api/API_ProvisionedPollerConfig.html";
const FILTERING: &str = "https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html";
const CREATE_MAPPING: &str = "https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html";

/// Visibility timeout: up to 12 hours.
pub static VISIBILITY_TIMEOUT: Quota = Quota {
    name: "visibility timeout",
    unit: Unit::Seconds,
    least: 0,
    most: 43_200,
    source: CREATE_QUEUE,
};
/// Retention period: a minute to 14 days.
pub static RETENTION: Quota = Quota {
    name: "retention period",
    unit: Unit::Seconds,
    least: 60,
    most: 1_209_600,
    source: CREATE_QUEUE,
};
/// Delivery delay: up to 15 minutes.
pub static DELAY: Quota = Quota {
    name: "delivery delay",
    unit: Unit::Seconds,
    least: 0,
    most: 900,
    source: CREATE_QUEUE,
};
/// Receive wait time: up to 20 seconds; long polling from 1 up.
pub static RECEIVE_WAIT_TIME: Quota = Quota {
    name: "receive wait time",
    unit: Unit::Seconds,
    least: 0,
    most: 20,
    source: CREATE_QUEUE,
};
/// Maximum message size: 1 KiB to 1 MiB.
pub static MAXIMUM_MESSAGE_SIZE: Quota = Quota {
    name: "maximum message size",
    unit: Unit::Bytes,
    least: 1_024,
    most: 1_048_576,
    source: CREATE_QUEUE,
};
/// Data key reuse period: a minute to a day.
pub static KEY_REUSE_PERIOD: Quota = Quota {
    name: "data key reuse period",
    unit: Unit::Seconds,
    least: 60,
    most: 86_400,
    source: CREATE_QUEUE,
};
/// `maxReceiveCount` of a redrive policy.
pub static MAX_RECEIVE_COUNT: Quota = Quota {
    name: "max receive count",
    unit: Unit::Receives,
    least: 1,
    most: 1_000,
    source: CREATE_QUEUE,
};
/// Function timeout: up to 30 minutes. AWS raised the maximum from 900 s in November 2026; validations of older tools
/// may still reject more.
pub static FUNCTION_TIMEOUT: Quota = Quota {
    name: "function timeout",
    unit: Unit::Seconds,
    least: 1,
    most: 1_800,
    source: "https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html",
};
/// Function timeout on Managed Instances: up to 90 minutes.
pub static FUNCTION_TIMEOUT_MANAGED_INSTANCES: Quota = Quota {
    name: "function timeout on Managed Instances",
    unit: Unit::Seconds,
    least: 1,
    most: 5_400,
    source: "https://docs.aws.amazon.com/lambda/latest/dg/durable-invoking-esm.html",
};
/// Batch size of a mapping on a standard queue.
pub static BATCH_SIZE: Quota = Quota {
    name: "batch size",
    unit: Unit::Messages,
    least: 1,
    most: 10_000,
    source: CREATE_MAPPING,
};
/// Batching window: up to 5 minutes.
pub static WINDOW: Quota = Quota {
    name: "batching window",
    unit: Unit::Seconds,
    least: 0,
    most: 300,
    source: CREATE_MAPPING,
};

/// Filters of a mapping, with the maximum that AWS allows on request.
pub static FILTERS: Quota = Quota {
    name: "filters",
    unit: Unit::Filters,
    least: 0,
    most: 10,
    source: FILTERING,
};
/// Number of filters allowed without a request. Source: as above.
pub const FILTERS_AT_FIRST: i64 = 5;
/// Maximum number of characters of a filter's pattern. Source: as above.
pub const PATTERN_LENGTH: i64 = 4_096;
/// Queues in a redrive allow policy `byQueue`.
pub static ALLOWED_SOURCES: Quota = Quota {
    name: "source queues of a redrive allow policy",
    unit: Unit::Queues,
    least: 1,
    most: 10,
    source: CREATE_QUEUE,
};
/// Maximum concurrency of a mapping on a queue. AWS raises the upper bound of 1,000 on request.
pub static MAXIMUM_CONCURRENCY: Quota = Quota {
    name: "maximum concurrency",
    unit: Unit::Invocations,
    least: 2,
    most: i64::MAX,
    source: "https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html",
};
/// Minimum number of pollers of a mapping in provisioned mode.
pub static MINIMUM_POLLERS: Quota = Quota {
    name: "minimum pollers",
    unit: Unit::Pollers,
    least: 2,
    most: 200,
    source: PROVISIONED_POLLERS,
};
/// Maximum number of pollers of a mapping in provisioned mode.
pub static MAXIMUM_POLLERS: Quota = Quota {
    name: "maximum pollers",
    unit: Unit::Pollers,
    least: 2,
    most: 10_000,
    source: PROVISIONED_POLLERS,
};

/// Default visibility timeout.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html>
pub const VISIBILITY_TIMEOUT_DEFAULT: Seconds = Seconds(30);
/// Default retention period: 4 days. Source: as above.
pub const RETENTION_DEFAULT: Seconds = Seconds(345_600);
/// Default maximum message size through the API and CloudFormation, in bytes. Source: as above.
pub const MAXIMUM_MESSAGE_SIZE_DEFAULT: i64 = 1_048_576;
/// Default maximum message size of the Terraform provider, in bytes. Source: hashicorp/terraform-provider-aws,
/// `internal/service/sqs/queue.go`.
pub const MAXIMUM_MESSAGE_SIZE_TERRAFORM: i64 = 262_144;
/// Default data key reuse period. Source: as for the visibility timeout.
pub const KEY_REUSE_PERIOD_DEFAULT: Seconds = Seconds(300);
/// Maximum number of characters of a queue's name, including `.fifo`. Source: as for the visibility timeout.
pub const QUEUE_NAME_LENGTH: usize = 80;
/// Default memory of a function in MB. <https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html>
pub const MEMORY_DEFAULT: i64 = 128;
/// Default function timeout. <https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html>
pub const FUNCTION_TIMEOUT_DEFAULT: Seconds = Seconds(3);
/// Default time between the signal to stop a container and its end.
/// <https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task_definition_parameters.html>
pub const STOP_TIMEOUT_DEFAULT: Seconds = Seconds(30);
/// Maximum of that time on Fargate. Source: as above.
pub const STOP_TIMEOUT_FARGATE: i64 = 120;
/// Default batch size of a mapping on a queue.
/// <https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html>
pub const BATCH_SIZE_DEFAULT: i64 = 10;
/// Default batching window of a mapping on a queue. Source: as above.
pub const WINDOW_DEFAULT: Seconds = Seconds(0);
/// Maximum batch size without a batching window. Source: as above.
pub const BATCH_SIZE_WITHOUT_WINDOW: i64 = 10;
/// Maximum batch size for a FIFO queue. Source: as above.
pub const BATCH_SIZE_FIFO: i64 = 10;
/// Default maximum age of events in `EventBridge`.
/// <https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-retry-policy.html>
pub const EVENT_AGE_DEFAULT: Seconds = Seconds(86_400);

/// Maximum number of bytes of a queue's policy.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html>
pub const POLICY_BYTES: usize = 8_192;
/// Maximum number of statements of a queue's policy. Source: as above.
pub const POLICY_STATEMENTS: usize = 20;
/// Maximum number of actions of a statement. Source: as above.
pub const STATEMENT_ACTIONS: usize = 7;
/// Maximum number of principals. AWS does not state whether it counts per statement or per policy. Source: as above.
pub const STATEMENT_PRINCIPALS: usize = 50;
/// Maximum number of conditions, likewise. Source: as above.
pub const STATEMENT_CONDITIONS: usize = 10;

/// Approximate maximum number of messages in flight.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const IN_FLIGHT: i64 = 120_000;
/// Failures per second that a queue should bear without reaching the maximum number of messages in flight. Our own
/// choice.
pub const LEAST_FAILURES: i64 = 20;
/// Number of batches of a standard queue that Lambda processes concurrently from the start.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html>
pub const FIRST_CONCURRENT_BATCHES: i64 = 5;
/// Number of batches of a standard queue that Lambda processes concurrently at most, by default. Older documentation
/// states 1,000.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html>
pub const MOST_CONCURRENT_BATCHES: i64 = 1_250;

/// Maximum number of concurrent invocations by a provisioned poller of a queue.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html>
pub const POLLER_CONCURRENCY: i64 = 10;

/// Recommended visibility timeout in function timeouts; the batching window is added to it.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html>
pub const ADVISED_FUNCTION_TIMEOUTS: i64 = 6;
/// Recommended minimum of receives if Lambda polls. Source: as above.
pub const ADVISED_RECEIVES: i64 = 5;
/// Minimum number of receives that allows a retry. AWS: "we don't recommend setting the number of maximum receives to
/// 1". <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html>
pub const LEAST_RECEIVES: i64 = 2;
