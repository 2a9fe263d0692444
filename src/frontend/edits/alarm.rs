//! The alarm that a fix adds to a dead-letter queue, in the terms of `CloudWatch`; each dialect has its own spelling.
//!
//! A single message in the queue is a failure, so the threshold is one. SQS reports every minute.

/// Returns the description of the alarm.
pub(in crate::frontend) fn description(queue: &str) -> String {
    format!("Messages in the dead-letter queue {queue}")
}

/// Namespace of the metric.
pub(in crate::frontend) const NAMESPACE: &str = "AWS/SQS";
/// Watched metric.
pub(in crate::frontend) const METRIC: &str = "ApproximateNumberOfMessagesVisible";
/// Dimension with the queue's name.
pub(in crate::frontend) const DIMENSION: &str = "QueueName";
/// Statistic over a period.
pub(in crate::frontend) const STATISTIC: &str = "Maximum";
/// Length of a period in seconds.
pub(in crate::frontend) const PERIOD: i64 = 60;
/// Number of consecutive periods that must reach the threshold.
pub(in crate::frontend) const EVALUATION_PERIODS: i64 = 1;
/// Number of messages that triggers the alarm.
pub(in crate::frontend) const THRESHOLD: i64 = 1;
/// Comparison of the value with the threshold.
pub(in crate::frontend) const COMPARISON: &str = "GreaterThanOrEqualToThreshold";
/// Treatment of missing data: SQS reports nothing for an unused queue.
pub(in crate::frontend) const MISSING_DATA: &str = "notBreaching";
