//! AWS's defaults, quotas and advice, each once, with its unit and its source.

use super::Seconds;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds, behind every number: `30 s`.
    Seconds,
    /// Milliseconds, where a time is no whole number of seconds.
    Milliseconds,
    /// Bytes.
    Bytes,
    /// Messages of a batch.
    Messages,
    /// Receives of one message.
    Receives,
    /// Characters of a name.
    Characters,
    /// Invocations at one time.
    Invocations,
    /// Pollers of an event source mapping.
    Pollers,
    /// Filters of an event source mapping.
    Filters,
    /// Queues in a list.
    Queues,
}

impl Unit {
    /// In full: `seconds`.
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

    /// As it stands behind a number: `s`, `bytes`.
    pub fn short(self) -> &'static str {
        match self {
            Unit::Seconds => "s",
            Unit::Milliseconds => "ms",
            _ => self.name(),
        }
    }

    /// Whether it is a sign, to stand behind every number of a comparison, and no word, to stand behind the last.
    pub fn is_sign(self) -> bool {
        matches!(self, Unit::Seconds | Unit::Milliseconds)
    }
}

/// The numbers that AWS accepts for one setting.
#[derive(Debug)]
pub struct Quota {
    /// The setting, in AWS's words.
    pub name: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// The least number accepted.
    pub least: i64,
    /// The greatest number accepted.
    pub most: i64,
    /// The page that says so.
    pub source: &'static str,
}

impl Quota {
    /// Whether AWS accepts `value`.
    pub fn accepts(&self, value: i64) -> bool {
        (self.least..=self.most).contains(&value)
    }
}

const CREATE_QUEUE: &str = "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html";
const PROVISIONED_POLLERS: &str = "https://docs.aws.amazon.com/lambda/latest/api/API_ProvisionedPollerConfig.html";
const FILTERING: &str = "https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html";
const CREATE_MAPPING: &str = "https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html";

/// Up to 12 hours.
pub static VISIBILITY_TIMEOUT: Quota = Quota {
    name: "visibility timeout",
    unit: Unit::Seconds,
    least: 0,
    most: 43_200,
    source: CREATE_QUEUE,
};
/// A minute to 14 days.
pub static RETENTION: Quota = Quota {
    name: "retention period",
    unit: Unit::Seconds,
    least: 60,
    most: 1_209_600,
    source: CREATE_QUEUE,
};
/// Up to 15 minutes.
pub static DELAY: Quota = Quota {
    name: "delivery delay",
    unit: Unit::Seconds,
    least: 0,
    most: 900,
    source: CREATE_QUEUE,
};
/// Long polling, from 1 on.
pub static RECEIVE_WAIT_TIME: Quota = Quota {
    name: "receive wait time",
    unit: Unit::Seconds,
    least: 0,
    most: 20,
    source: CREATE_QUEUE,
};
/// 1 KiB to 1 MiB.
pub static MAXIMUM_MESSAGE_SIZE: Quota = Quota {
    name: "maximum message size",
    unit: Unit::Bytes,
    least: 1_024,
    most: 1_048_576,
    source: CREATE_QUEUE,
};
/// A minute to a day.
pub static KEY_REUSE_PERIOD: Quota = Quota {
    name: "data key reuse period",
    unit: Unit::Seconds,
    least: 60,
    most: 86_400,
    source: CREATE_QUEUE,
};
/// The `maxReceiveCount` of a redrive policy.
pub static MAX_RECEIVE_COUNT: Quota = Quota {
    name: "max receive count",
    unit: Unit::Receives,
    least: 1,
    most: 1_000,
    source: CREATE_QUEUE,
};
/// Up to 15 minutes.
pub static FUNCTION_TIMEOUT: Quota = Quota {
    name: "function timeout",
    unit: Unit::Seconds,
    least: 1,
    most: 900,
    source: "https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html",
};
/// Up to 90 minutes.
pub static FUNCTION_TIMEOUT_MANAGED_INSTANCES: Quota = Quota {
    name: "function timeout on Managed Instances",
    unit: Unit::Seconds,
    least: 1,
    most: 5_400,
    source: "https://docs.aws.amazon.com/lambda/latest/dg/durable-invoking-esm.html",
};
/// Of a mapping on a standard queue.
pub static BATCH_SIZE: Quota = Quota {
    name: "batch size",
    unit: Unit::Messages,
    least: 1,
    most: 10_000,
    source: CREATE_MAPPING,
};
/// Up to 5 minutes.
pub static WINDOW: Quota = Quota {
    name: "batching window",
    unit: Unit::Seconds,
    least: 0,
    most: 300,
    source: CREATE_MAPPING,
};

/// Filters of a mapping, as many as AWS allows on request.
pub static FILTERS: Quota = Quota {
    name: "filters",
    unit: Unit::Filters,
    least: 0,
    most: 10,
    source: FILTERING,
};
/// Filters that are allowed without a request. Source: as above.
pub const FILTERS_AT_FIRST: i64 = 5;
/// Characters of a filter's pattern. Source: as above.
pub const PATTERN_LENGTH: i64 = 4_096;
/// Queues in a redrive allow policy `byQueue`.
pub static ALLOWED_SOURCES: Quota = Quota {
    name: "source queues of a redrive allow policy",
    unit: Unit::Queues,
    least: 1,
    most: 10,
    source: CREATE_QUEUE,
};
/// Of a mapping on a queue. AWS raises the upper bound of 1,000 on request.
pub static MAXIMUM_CONCURRENCY: Quota = Quota {
    name: "maximum concurrency",
    unit: Unit::Invocations,
    least: 2,
    most: i64::MAX,
    source: "https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html",
};
/// Of a mapping in provisioned mode.
pub static MINIMUM_POLLERS: Quota = Quota {
    name: "minimum pollers",
    unit: Unit::Pollers,
    least: 2,
    most: 200,
    source: PROVISIONED_POLLERS,
};
/// The same. Other pages of AWS say 2,000.
pub static MAXIMUM_POLLERS: Quota = Quota {
    name: "maximum pollers",
    unit: Unit::Pollers,
    least: 2,
    most: 10_000,
    source: PROVISIONED_POLLERS,
};
/// What older pages and the schemas of CloudFormation still allow at most.
pub const MAXIMUM_POLLERS_OLD: i64 = 2_000;

/// Visibility timeout of a queue that sets none.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html>
pub const VISIBILITY_TIMEOUT_DEFAULT: Seconds = Seconds(30);
/// Retention of a queue that sets none: 4 days. Source: as above.
pub const RETENTION_DEFAULT: Seconds = Seconds(345_600);
/// Largest message of a queue that sets none, through the API and CloudFormation, in bytes. Source: as above.
pub const MAXIMUM_MESSAGE_SIZE_DEFAULT: i64 = 1_048_576;
/// Largest message that the Terraform provider sends when none is set, in bytes.
/// Source: hashicorp/terraform-provider-aws, `internal/service/sqs/queue.go`.
pub const MAXIMUM_MESSAGE_SIZE_TERRAFORM: i64 = 262_144;
/// Data key reuse of a queue that sets none. Source: as the first.
pub const KEY_REUSE_PERIOD_DEFAULT: Seconds = Seconds(300);
/// Characters in a queue's name, `.fifo` included. Source: as the first.
pub const QUEUE_NAME_LENGTH: usize = 80;
/// Timeout of a function that sets none.
/// <https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html>
pub const FUNCTION_TIMEOUT_DEFAULT: Seconds = Seconds(3);
/// Batch size of a mapping on a queue that sets none.
/// <https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html>
pub const BATCH_SIZE_DEFAULT: i64 = 10;
/// Batching window of a mapping on a queue that sets none. Source: as above.
pub const WINDOW_DEFAULT: Seconds = Seconds(0);
/// Largest batch without a batching window. Source: as above.
pub const BATCH_SIZE_WITHOUT_WINDOW: i64 = 10;
/// Largest batch from a FIFO queue. Source: as above.
pub const BATCH_SIZE_FIFO: i64 = 10;
/// How long `EventBridge` tries to deliver an event where nothing is set.
/// <https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-retry-policy.html>
pub const EVENT_AGE_DEFAULT: Seconds = Seconds(86_400);

/// Messages of a queue in flight at one time, about.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const IN_FLIGHT: i64 = 120_000;
/// Failures in a second that a queue should bear before its messages in flight are as many as may be. Of our own.
pub const LEAST_FAILURES: i64 = 20;
/// How many batches of a standard queue Lambda processes at the same time from the start.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html>
pub const FIRST_CONCURRENT_BATCHES: i64 = 5;

/// AWS advises a visibility timeout of six function timeouts, and the batching window on top.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html>
pub const ADVISED_FUNCTION_TIMEOUTS: i64 = 6;
/// AWS advises at least five receives where Lambda polls. Source: as above.
pub const ADVISED_RECEIVES: i64 = 5;
/// The fewest receives that allow a retry. AWS: "we don't recommend setting the number of maximum receives to 1".
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html>
pub const LEAST_RECEIVES: i64 = 2;
