//! The alarm that a fix declares on a dead-letter queue, as CloudWatch knows it; each dialect spells it its own way.
//!
//! One message there is a failure already, so one is the threshold. SQS reports each minute.

/// What it says.
pub(in crate::frontend) const DESCRIPTION: &str = "Messages that could not be processed lie in the dead-letter queue";
/// Where its metric comes from.
pub(in crate::frontend) const NAMESPACE: &str = "AWS/SQS";
/// What it watches.
pub(in crate::frontend) const METRIC: &str = "ApproximateNumberOfMessagesVisible";
/// What names the queue.
pub(in crate::frontend) const DIMENSION: &str = "QueueName";
/// How the values of a period become one.
pub(in crate::frontend) const STATISTIC: &str = "Maximum";
/// Seconds of a period.
pub(in crate::frontend) const PERIOD: i64 = 60;
/// For how many of them the threshold is to be reached.
pub(in crate::frontend) const EVALUATION_PERIODS: i64 = 1;
/// From how many messages on it speaks.
pub(in crate::frontend) const THRESHOLD: i64 = 1;
/// How the value is compared with the threshold.
pub(in crate::frontend) const COMPARISON: &str = "GreaterThanOrEqualToThreshold";
/// SQS reports nothing of a queue that is not used.
pub(in crate::frontend) const MISSING_DATA: &str = "notBreaching";
