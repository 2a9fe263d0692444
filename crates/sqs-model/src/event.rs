//! Events of a run, for traces.

/// An event in the life of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Time in milliseconds from the start of the run.
    pub at: u64,
    /// Index of the message, in the order of sending.
    pub message: u64,
    /// Receive count of the message; for events of an attempt, the number of its receive.
    pub receive: u32,
    /// Kind of event.
    pub kind: EventKind,
}

/// Kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The message was sent.
    Sent,
    /// A consumer received it.
    Received,
    /// The function is at its concurrency: the batch waits while its visibility timeout is running.
    Throttled,
    /// The work on a throttled message began.
    Started,
    /// Its visibility timeout ended.
    VisibleAgain,
    /// The work is done.
    Done,
    /// The work was skipped, because the message was processed before.
    Skipped,
    /// The work failed.
    Failed,
    /// The consumer crashed.
    Crashed,
    /// The function was stopped at its timeout.
    TimedOut,
    /// The visibility timeout was renewed.
    Renewed,
    /// The visibility timeout was renewed, but only up to 12 hours after the receive, the limit of SQS.
    RenewedToCeiling,
    /// A renewal was rejected because the visibility timeout had ended.
    RenewalRefused,
    /// A renewal was lost.
    RenewalMissed,
    /// The consumer deleted it.
    DeleteResult,
    /// A delete had no effect: the receipt handle is outdated or the message is gone. SQS reports no error.
    DeleteIgnored,
    /// The message reached the retention period of the queue and was deleted.
    Expired,
    /// The message moved to the dead-letter queue.
    Moved,
    /// The message reached the retention period of the dead-letter queue and was deleted.
    ExpiredInDeadLetterQueue,
}

impl EventKind {
    /// Returns the name in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Sent => "sent",
            EventKind::Received => "received",
            EventKind::Throttled => "throttled",
            EventKind::Started => "started",
            EventKind::VisibleAgain => "visible-again",
            EventKind::Done => "done",
            EventKind::Skipped => "skipped",
            EventKind::Failed => "failed",
            EventKind::Crashed => "crashed",
            EventKind::TimedOut => "timed-out",
            EventKind::Renewed => "renewed",
            EventKind::RenewedToCeiling => "renewed-to-ceiling",
            EventKind::RenewalRefused => "renewal-refused",
            EventKind::RenewalMissed => "renewal-missed",
            EventKind::DeleteResult => "deleted",
            EventKind::DeleteIgnored => "delete-ignored",
            EventKind::Expired => "expired",
            EventKind::Moved => "moved-to-dead-letter-queue",
            EventKind::ExpiredInDeadLetterQueue => "expired-in-dead-letter-queue",
        }
    }
}
