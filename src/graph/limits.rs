//! AWS's defaults and ranges, each once, with its source.

use super::Seconds;
use std::ops::RangeInclusive;

/// Visibility timeout of a queue that sets none.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html>
pub const VISIBILITY_TIMEOUT_DEFAULT: Seconds = Seconds(30);
/// Visibility timeouts that SQS accepts, in seconds: up to 12 hours. Source: as above.
pub const VISIBILITY_TIMEOUT: RangeInclusive<i64> = 0..=43_200;
/// Retention of a queue that sets none: 4 days. Source: as above.
pub const RETENTION_DEFAULT: Seconds = Seconds(345_600);
/// Retention periods that SQS accepts, in seconds: a minute to 14 days. Source: as above.
pub const RETENTION: RangeInclusive<i64> = 60..=1_209_600;
/// Delivery delays that SQS accepts, in seconds. Source: as above.
pub const DELAY: RangeInclusive<i64> = 0..=900;
/// Receive wait times that SQS accepts, in seconds. Source: as above.
pub const RECEIVE_WAIT_TIME: RangeInclusive<i64> = 0..=20;
/// Largest message of a queue that sets none, through the API and CloudFormation, in bytes. Source: as above.
pub const MAXIMUM_MESSAGE_SIZE_DEFAULT: i64 = 1_048_576;
/// Largest message that the Terraform provider sends when none is set, in bytes.
/// Source: hashicorp/terraform-provider-aws, `internal/service/sqs/queue.go`.
pub const MAXIMUM_MESSAGE_SIZE_TERRAFORM: i64 = 262_144;
/// Message sizes that SQS accepts as a maximum, in bytes. Source: as the first.
pub const MAXIMUM_MESSAGE_SIZE: RangeInclusive<i64> = 1_024..=1_048_576;
/// Data key reuse of a queue that sets none. Source: as the first.
pub const KEY_REUSE_PERIOD_DEFAULT: Seconds = Seconds(300);
/// Data key reuse periods that SQS accepts, in seconds. Source: as the first.
pub const KEY_REUSE_PERIOD: RangeInclusive<i64> = 60..=86_400;
/// Receive counts that a redrive policy may name. Source: as the first.
pub const MAX_RECEIVE_COUNT: RangeInclusive<i64> = 1..=1_000;
/// Timeout of a function that sets none.
/// <https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html>
pub const FUNCTION_TIMEOUT_DEFAULT: Seconds = Seconds(3);
/// Function timeouts that Lambda accepts, in seconds. Source: as above.
pub const FUNCTION_TIMEOUT: RangeInclusive<i64> = 1..=900;
/// Function timeouts on Managed Instances, in seconds: up to 90 minutes.
/// <https://docs.aws.amazon.com/lambda/latest/dg/durable-invoking-esm.html>
pub const FUNCTION_TIMEOUT_MANAGED_INSTANCES: RangeInclusive<i64> = 1..=5_400;
/// Batch size of a mapping on a queue that sets none.
/// <https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html>
pub const BATCH_SIZE_DEFAULT: i64 = 10;
/// Batching window of a mapping on a queue that sets none. Source: as above.
pub const WINDOW_DEFAULT: Seconds = Seconds(0);
/// Largest batch without a batching window, and largest batch of a FIFO queue. Source: as above.
pub const BATCH_SIZE_WITHOUT_WINDOW: i64 = 10;
/// Batch sizes that a mapping on a standard queue may have. Source: as above.
pub const BATCH_SIZE: RangeInclusive<i64> = 1..=10_000;
/// Batching windows that a mapping may have, in seconds. Source: as above.
pub const WINDOW: RangeInclusive<i64> = 0..=300;
/// Characters in a queue's name, `.fifo` included.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html>
pub const QUEUE_NAME_LENGTH: usize = 80;
/// How long `EventBridge` tries to deliver an event where nothing is set.
/// <https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-retry-policy.html>
pub const EVENT_AGE_DEFAULT: Seconds = Seconds(86_400);
