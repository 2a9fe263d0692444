//! The consumer of a queue: workers, or Lambda's pollers and a function.

/// Default quota of concurrent invocations of an account.
/// <https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>
pub const LAMBDA_CONCURRENCY: u32 = 1_000;
/// Minimum number of batches that Lambda's pollers process concurrently.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html>
pub const MIN_POLLERS: u32 = 5;

/// Milliseconds after which Lambda adds a poller: 300 per minute.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html>
pub const POLLER_INTERVAL: u64 = 200;

/// Periodic calls of `ChangeMessageVisibility` while a message is being processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    /// Milliseconds from the receive to the first call, and between calls.
    pub every: u64,
    /// Visibility timeout that each call sets, in milliseconds.
    pub extend_to: u64,
    /// Number of calls, from the first on, that are lost.
    pub missed: u32,
}

/// Time at which a consumer checks whether a message was processed before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Recheck {
    /// Never: each completed attempt has its effect.
    #[default]
    Never,
    /// Before the work. An attempt that starts while another one is running does not notice it.
    First,
    /// After the work, before its effect.
    Last,
}

/// A consumer that receives messages in batches and processes them. For workers each message is a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumer {
    /// Maximum number of messages in a batch.
    pub batch: u32,
    /// Batching window: how long the first message of a batch waits for others, in milliseconds.
    pub window: u64,
    /// Number of batches that are collected concurrently if there is a batching window. Each message goes to the
    /// smallest.
    pub collectors: u32,
    /// Maximum duration of the work on a batch, in milliseconds; `None` for workers.
    pub timeout: Option<u64>,
    /// Number of batches that are processed concurrently.
    pub concurrency: u32,
    /// Number of batches that are received concurrently. Those above the concurrency are throttled: they wait while
    /// their visibility timeout is running.
    pub pollers: u32,
    /// Number of batches that are received concurrently at first. As long as more messages wait, one is added every
    /// [`POLLER_INTERVAL`], up to `pollers`.
    pub first_pollers: u32,
    /// Number of messages of a batch that are processed concurrently.
    pub parallelism: u32,
    /// `true` if only the failed messages of a batch return to the queue (partial batch responses).
    pub partial_responses: bool,
    /// Heartbeat that keeps messages invisible during the work.
    pub heartbeat: Option<Heartbeat>,
    /// Time of the check whether a message was processed before.
    pub recheck: Recheck,
}

impl Consumer {
    /// Creates `count` workers, each with one message at a time.
    pub fn workers(count: u32) -> Self {
        Consumer {
            batch: 1,
            window: 0,
            collectors: 1,
            timeout: None,
            concurrency: count.max(1),
            pollers: count.max(1),
            first_pollers: count.max(1),
            parallelism: 1,
            partial_responses: true,
            heartbeat: None,
            recheck: Recheck::Never,
        }
    }

    /// Creates a function with a timeout of `timeout` milliseconds, a batch size of 1 and the default concurrency of an
    /// account.
    pub fn function(timeout: u64) -> Self {
        Consumer {
            timeout: Some(timeout.max(1)),
            partial_responses: false,
            first_pollers: MIN_POLLERS,
            ..Consumer::workers(LAMBDA_CONCURRENCY)
        }
    }

    /// Reserves `concurrency` invocations. Lambda receives at least [`MIN_POLLERS`] batches even so, and is
    /// throttled.
    #[must_use]
    pub fn reserved(mut self, concurrency: u32) -> Self {
        self.concurrency = concurrency.max(1);
        self.pollers = self.concurrency.max(MIN_POLLERS);
        self
    }

    /// Adds a heartbeat.
    #[must_use]
    pub fn renewing(mut self, every: u64, extend_to: u64) -> Self {
        self.heartbeat = Some(Heartbeat {
            every: every.max(1),
            extend_to,
            missed: 0,
        });
        self
    }

    /// Sets when it checks whether a message was processed before.
    #[must_use]
    pub fn rechecking(mut self, recheck: Recheck) -> Self {
        self.recheck = recheck;
        self
    }
}
