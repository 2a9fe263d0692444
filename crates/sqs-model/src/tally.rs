//! Counts of a run.

/// Counts of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages sent.
    pub sent: u64,
    /// Messages processed at least once.
    pub done: u64,
    /// Messages processed more than once: duplicates.
    pub twice: u64,
    /// Completed attempts beyond the first, over all messages.
    pub repeats: u64,
    /// Maximum number of completed attempts at a message that was processed more than once.
    pub most_done: u64,
    /// Messages that a second consumer received while the first was still processing them.
    pub overlapping: u64,
    /// Receives.
    pub receives: u64,
    /// Messages moved to the dead-letter queue.
    pub dead_lettered: u64,
    /// Messages moved to the dead-letter queue although they had been processed.
    pub dead_lettered_done: u64,
    /// Messages deleted without having been processed: they expired in the queue, or on arrival in the dead-letter
    /// queue.
    pub lost: u64,
    /// Maximum number of messages in flight.
    pub peak_in_flight: usize,
    /// Crashes of consumers.
    pub crashes: u64,
    /// Sum of the times from a crash to the next receive, in milliseconds.
    pub recovery: u64,
    /// Maximum time from a crash to the next receive.
    pub longest_recovery: u64,
    /// Maximum time from sending a message to its first completed attempt.
    pub longest_wait: u64,
    /// `true` if the run was aborted because it would not have ended.
    pub is_aborted: bool,
}
