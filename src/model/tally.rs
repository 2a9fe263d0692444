//! What a run came to.

/// Counts over a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages that were sent.
    pub sent: u64,
    /// Messages of which the work was done at least once.
    pub done: u64,
    /// Messages of which it was done more than once: duplicates.
    pub twice: u64,
    /// How often it was done beyond the first time, over all messages.
    pub repeats: u64,
    /// Messages that a second consumer had while the first still worked on them.
    pub overlapping: u64,
    /// Receives.
    pub receives: u64,
    /// Messages that moved to the dead-letter queue.
    pub dead_lettered: u64,
    /// Of these, messages of which the work had been done.
    pub dead_lettered_done: u64,
    /// Of these, messages that nobody had worked on.
    pub dead_lettered_untried: u64,
    /// Messages that are gone, and of which the work was never done: expired in the queue, or older than the
    /// dead-letter queue keeps messages when they arrived there.
    pub lost: u64,
    /// The most messages in flight.
    pub peak_in_flight: usize,
    /// How often a consumer died.
    pub crashes: u64,
    /// How long messages of dead consumers waited for the next, in milliseconds, over all.
    pub recovery: u64,
    /// The longest of these waits.
    pub longest_recovery: u64,
    /// How many waits there were.
    pub recoveries: u64,
    /// The longest time from sending a message to its being done.
    pub longest_wait: u64,
    /// Whether the run was broken off, since it would not have come to an end.
    pub is_broken_off: bool,
}
