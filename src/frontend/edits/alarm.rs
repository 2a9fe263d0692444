//! The alarm that a fix adds to a dead-letter queue; each dialect has its own names and syntax.
//!
//! A single message in the queue is a failure, so the threshold is one. SQS reports every minute.

use super::piece::NewValue;
use crate::frontend::lower::Path;
use crate::frontend::lower::alarm::AlarmNames;

/// Returns the description of the alarm.
pub(in crate::frontend) fn description(queue: &str) -> String {
    format!("Messages in the dead-letter queue {queue}")
}

/// Dimension with the queue's name.
pub(in crate::frontend) const DIMENSION: &str = "QueueName";

/// Value of a setting.
#[derive(Debug, Clone, Copy)]
pub(in crate::frontend) enum Value {
    Text(&'static str),
    Number(i64),
}

impl From<Value> for NewValue {
    fn from(value: Value) -> Self {
        match value {
            Value::Text(text) => NewValue::text(text),
            Value::Number(number) => NewValue::Number(number),
        }
    }
}

/// Returns the metric of the alarm, under the names of a dialect.
pub(in crate::frontend) fn metric(names: &AlarmNames) -> [(Path, Value); 2] {
    [
        (names.metric.namespace, Value::Text("AWS/SQS")),
        (names.metric.metric, Value::Text("ApproximateNumberOfMessagesVisible")),
    ]
}

/// Returns the evaluation of the metric, under the names of a dialect.
pub(in crate::frontend) fn evaluation(names: &AlarmNames) -> [(Path, Value); 6] {
    [
        (names.metric.statistic, Value::Text("Maximum")),
        (names.metric.period, Value::Number(60)),
        (names.evaluation_periods, Value::Number(1)),
        (names.comparison, Value::Text("GreaterThanOrEqualToThreshold")),
        (names.threshold, Value::Number(1)),
        // SQS reports nothing for an unused queue.
        (names.missing_data, Value::Text("notBreaching")),
    ]
}
