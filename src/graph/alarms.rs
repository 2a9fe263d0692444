//! `CloudWatch` alarms, the metrics that they watch, and the metrics of SQS.

use super::{Attribute, Link, Reason, Resource};
use conditions::Condition;
use source::Span;
use std::sync::Arc;

/// Namespace of SQS's metrics.
pub const NAMESPACE: &str = "AWS/SQS";
/// The only dimension of SQS's metrics.
pub const DIMENSION: &str = "QueueName";
/// Number of messages that can be received.
pub const VISIBLE: &str = "ApproximateNumberOfMessagesVisible";
/// Age of the oldest message.
pub const AGE: &str = "ApproximateAgeOfOldestMessage";
/// Number of messages in flight: received and not deleted yet.
pub const NOT_VISIBLE: &str = "ApproximateNumberOfMessagesNotVisible";
/// Number of messages sent, not counting those that a redrive policy moves.
pub const SENT: &str = "NumberOfMessagesSent";
/// Number of messages received.
pub const RECEIVED: &str = "NumberOfMessagesReceived";

/// All metrics of SQS.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html>
const METRICS: [&str; 16] = [
    AGE,
    VISIBLE,
    NOT_VISIBLE,
    SENT,
    RECEIVED,
    "ApproximateNumberOfMessagesDelayed",
    "NumberOfEmptyReceives",
    "NumberOfMessagesDeleted",
    "SentMessageSize",
    "NumberOfDeduplicatedSentMessages",
    "ApproximateNumberOfGroupsWithInflightMessages",
    "ApproximateNumberOfNoisyGroups",
    "ApproximateNumberOfMessagesVisibleInQuietGroups",
    "ApproximateNumberOfMessagesNotVisibleInQuietGroups",
    "ApproximateNumberOfMessagesDelayedInQuietGroups",
    "ApproximateAgeOfOldestMessageInQuietGroups",
];
/// Metrics that rise if messages stay in a queue.
const RISING_WITH_BACKLOG: [&str; 2] = [VISIBLE, AGE];
/// Metrics that seem to do so too, but do not count messages that a redrive policy moves. An alarm on one of them is
/// reported by `dead-letter-queue-alarm-metric-blind`, unless something sends to the queue directly: those messages
/// count.
const BLIND: [&str; 3] = [SENT, RECEIVED, NOT_VISIBLE];
/// Maximum number of wrong letters in a misspelled name.
const MAX_EDITS: usize = 2;

/// A dimension of a metric other than `QueueName`.
#[derive(Debug, Clone)]
pub struct Dimension {
    /// Name.
    pub name: Arc<str>,
    /// Span of the dimension.
    pub span: Span,
    /// Condition under which it is set.
    pub when: Condition,
}

/// A metric that an alarm watches.
#[derive(Debug, Clone)]
pub struct AlarmMetric {
    /// `AWS/SQS`.
    pub namespace: Attribute<String>,
    /// `ApproximateNumberOfMessagesVisible`.
    pub metric: Attribute<String>,
    /// Queue in the dimension `QueueName`; [`Link::none`] without that dimension.
    pub queue: Attribute<Link>,
    /// Known dimensions other than `QueueName`.
    pub other_dimensions: Vec<Dimension>,
    /// `Maximum`, `p99`; `None` if absent.
    pub statistic: Attribute<Option<String>>,
    /// Period of a data point in seconds; `None` if absent.
    pub period: Attribute<Option<i64>>,
}

/// A `CloudWatch` alarm.
#[derive(Debug, Clone)]
pub struct Alarm {
    /// Address, location and existence.
    pub resource: Resource,
    /// Physical name; `None` if it is generated.
    pub name: Attribute<Option<String>>,
    /// Metrics that it watches, directly or in metric queries.
    pub metrics: Vec<AlarmMetric>,
    /// `true` if it watches the result of metric queries instead of a single metric.
    pub has_queries: bool,
    /// Reason why some metric could not be determined (a metrics insights query, an unresolved list).
    pub opaque: Option<Reason>,
    /// Threshold; `None` if absent.
    pub threshold: Attribute<Option<i64>>,
    /// `GreaterThanThreshold`; `None` if absent.
    pub comparison: Attribute<Option<String>>,
    /// Number of periods that are evaluated.
    pub evaluation_periods: Attribute<Option<i64>>,
    /// Number of periods that must be breaching; `None` if absent, which means all.
    pub datapoints: Attribute<Option<i64>>,
    /// Treatment of periods without data; `None` if absent.
    pub missing_data: Attribute<Option<String>>,
    /// `true` if it has actions for the state ALARM.
    pub has_actions: Attribute<bool>,
    /// Targets of its actions for the state ALARM; `None` if it has no actions.
    pub actions: Option<Box<Attribute<Vec<Attribute<Link>>>>>,
    /// `true` if its actions are enabled.
    pub actions_enabled: Attribute<bool>,
    /// `true` if it is declared but does not exist.
    pub is_nonexistent: bool,
}

impl AlarmMetric {
    /// Returns `true` if it is certainly a metric of SQS without a queue, so that it never gets data.
    pub fn names_no_queue(&self) -> bool {
        let is_none = |link: Option<&Link>| link.is_some_and(|link| *link == Link::none());
        self.namespace.known().is_some_and(|name| name == NAMESPACE)
            && self.queue.cases.iter().all(|case| is_none(case.value()))
    }
}

impl Alarm {
    /// Returns `true` if its only actions change the number of instances of something: it notifies no one.
    pub fn only_scales(&self) -> bool {
        let lists = self.actions.iter().flat_map(|actions| &actions.cases);
        let links = lists
            .filter_map(|case| case.value())
            .flatten()
            .flat_map(|link| &link.cases);
        let scales = |link: &Link| link.written().to_ascii_lowercase().contains("scal");
        let mut scaling = links.map(|case| case.value().is_some_and(scales)).peekable();
        scaling.peek().is_some() && scaling.all(|scales| scales)
    }
}

/// A subscriber to alarms that is not an alarm action: a composite alarm, or a rule on events of alarms.
#[derive(Debug, Clone)]
pub struct AlarmSubscriber {
    /// Address, location and existence.
    pub resource: Resource,
    /// Text that contains the names of the alarms; `None` if it may subscribe to every alarm.
    pub names: Option<String>,
}

/// Returns `true` if `metric` rises when messages stay in a queue.
pub fn reveals_backlog(metric: &str) -> bool {
    RISING_WITH_BACKLOG.contains(&intended(metric))
}

/// Returns `true` if `metric` seems to count the messages in a dead-letter queue and does not.
pub fn is_blind(metric: &str) -> bool {
    BLIND.contains(&intended(metric))
}

/// Returns `true` if `metric` is the age of the oldest message.
pub fn is_age(metric: &str) -> bool {
    intended(metric) == AGE
}

/// Returns `true` if `metric` is the number of messages that can be received.
pub fn is_depth(metric: &str) -> bool {
    intended(metric) == VISIBLE
}

/// Returns `true` if `metric` is a level, not a count of events.
pub fn is_gauge(metric: &str) -> bool {
    metric.starts_with("Approximate") && METRICS.contains(&metric)
}

/// Returns `true` if `metric` is a count of events.
pub fn is_counter(metric: &str) -> bool {
    metric.starts_with("NumberOf") && METRICS.contains(&metric)
}

/// Returns the intended metric: the one that `metric` misspells, or `metric` itself.
fn intended(metric: &str) -> &str {
    misspelled_metric(metric).unwrap_or(metric)
}

/// Returns `true` if `metric` is a metric of SQS or misspells one.
pub fn is_sqs_metric(metric: &str) -> bool {
    METRICS.contains(&intended(metric))
}

/// Returns the SQS metric that `metric` misspells.
pub fn misspelled_metric(metric: &str) -> Option<&'static str> {
    if METRICS.contains(&metric) {
        return None;
    }
    // An attribute of queues, not a metric.
    if metric == "ApproximateNumberOfMessages" {
        return Some(VISIBLE);
    }
    let written = metric.to_ascii_lowercase();
    let is_slip = |known: &&str| {
        metric.len().abs_diff(known.len()) <= MAX_EDITS
            && strsim::levenshtein(&written, &known.to_ascii_lowercase()) <= MAX_EDITS
    };
    let full = format!("Approximate{metric}");
    let is_reordered = |known: &str| words(metric) == words(known) || words(&full) == words(known);
    METRICS.into_iter().find(|known| is_slip(known) || is_reordered(known))
}

/// Splits a metric's name into its words and sorts them: users write `VisibleMessages` for `MessagesVisible`.
fn words(metric: &str) -> Vec<&str> {
    let starts = metric.char_indices().filter(|(_, letter)| letter.is_ascii_uppercase());
    let starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([metric.len()]);
    let mut words: Vec<&str> = starts
        .iter()
        .zip(ends)
        .filter_map(|(start, end)| metric.get(*start..end))
        .collect();
    words.sort_unstable();
    words
}

/// Returns `true` if `namespace` misspells that of SQS.
pub fn is_misspelled_namespace(namespace: &str) -> bool {
    let letters: String = namespace.chars().filter(char::is_ascii_alphanumeric).collect();
    namespace != NAMESPACE && matches!(letters.to_ascii_lowercase().as_str(), "awssqs" | "sqs" | "amazonsqs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_metrics_are_recognised() {
        let cases = [
            ("ApproximateNumberOfMessagesVisible", None),
            ("ApproximateNumberOfMessagesNotVisible", None),
            ("ApproximateNumberOfMessageVisible", Some(VISIBLE)),
            ("approximateNumberOfMessagesVisible", Some(VISIBLE)),
            ("ApproximateNumberOfMessages", Some(VISIBLE)),
            ("AproximateAgeOfOldestMesage", Some(AGE)),
            ("NumberOfMessagesSend", Some(SENT)),
            ("Errors", None),
            ("ApproximateNumberOfMessagesInDlq", None),
            ("ApproximateNumberOfVisibleMessages", Some(VISIBLE)),
            ("NumberOfVisibleMessages", Some(VISIBLE)),
            ("NumberOfMessagesVisible", Some(VISIBLE)),
            ("AgeOfOldestMessage", Some(AGE)),
            ("NumberOfSentMessages", Some(SENT)),
            ("", None),
        ];
        for (metric, known) in cases {
            assert_eq!(misspelled_metric(metric), known, "{metric}");
        }
    }

    #[test]
    fn misspelled_namespaces_are_recognised() {
        for (namespace, is_slip) in [
            ("AWS/SQS", false),
            ("aws/sqs", true),
            ("AWS/Sqs", true),
            ("SQS", true),
            ("AWS/SNS", false),
        ] {
            assert_eq!(is_misspelled_namespace(namespace), is_slip, "{namespace}");
        }
    }
}
