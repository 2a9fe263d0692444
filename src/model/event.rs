//! What happens in a run, for those who want to see it.

/// Something that happened to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Milliseconds from the start of the run.
    pub at: u64,
    /// Which message, from 0 in the order in which they were sent.
    pub message: u64,
    /// After how many receives of it; of an attempt the receive that it belongs to.
    pub receive: u32,
    /// What it was.
    pub kind: Kind,
}

/// Kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Somebody sent it.
    Sent,
    /// A consumer has it.
    Received,
    /// The function is busy: its batch waits while the visibility timeout runs.
    Throttled,
    /// Work on it began, where that was not at the receive.
    Started,
    /// Its visibility timeout has ended.
    VisibleAgain,
    /// The work is done.
    Done,
    /// There was nothing to do: it was handled before.
    Skipped,
    /// The work has failed.
    Failed,
    /// The consumer has died.
    Crashed,
    /// The function was stopped at its timeout.
    TimedOut,
    /// The visibility timeout was renewed.
    Renewed,
    /// It was renewed up to the 12 hours for which one receive may keep it.
    RenewedToCeiling,
    /// A renewal came too late.
    RenewalRefused,
    /// A renewal did not arrive.
    RenewalMissed,
    /// It was deleted by who had it.
    Deleted,
    /// A delete with an outdated receipt handle, or of what is gone: nobody is told.
    DeleteIgnored,
    /// It has reached the queue's retention period, and is gone.
    Expired,
    /// It has moved to the dead-letter queue.
    Moved,
    /// It was older than the dead-letter queue keeps messages, or has become so, and is gone.
    ExpiredAside,
}

impl Kind {
    /// As machine formats spell it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Sent => "sent",
            Kind::Received => "received",
            Kind::Throttled => "throttled",
            Kind::Started => "started",
            Kind::VisibleAgain => "visible-again",
            Kind::Done => "done",
            Kind::Skipped => "skipped",
            Kind::Failed => "failed",
            Kind::Crashed => "crashed",
            Kind::TimedOut => "timed-out",
            Kind::Renewed => "renewed",
            Kind::RenewedToCeiling => "renewed-to-ceiling",
            Kind::RenewalRefused => "renewal-refused",
            Kind::RenewalMissed => "renewal-missed",
            Kind::Deleted => "deleted",
            Kind::DeleteIgnored => "delete-ignored",
            Kind::Expired => "expired",
            Kind::Moved => "moved-to-dead-letter-queue",
            Kind::ExpiredAside => "expired-in-dead-letter-queue",
        }
    }
}
