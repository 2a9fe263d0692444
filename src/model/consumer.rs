//! Who reads the queue: workers, or Lambda's pollers with a function behind them.

/// Invocations at one time that an account has where nobody has asked for more.
/// <https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>
pub const LAMBDA_CONCURRENCY: u32 = 1_000;
/// How many batches Lambda's pollers take at one time from the start.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html>
pub const LEAST_POLLERS: u32 = 5;

/// Calls of `ChangeMessageVisibility` while the work goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    /// Milliseconds from the receive to the first call, and from one to the next.
    pub every: u64,
    /// The visibility timeout that each call sets, in milliseconds.
    pub extend_to: u64,
    /// How many of the first calls never arrive.
    pub missed: u32,
}

/// When a consumer looks whether a message was handled already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Recheck {
    /// Never: every attempt that is done has its effect.
    #[default]
    Never,
    /// Before it begins: an attempt that begins while another goes on sees nothing of that.
    First,
    /// Before it acts, at the end of its work.
    Last,
}

/// What takes messages and works on them. Of a worker each message is a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumer {
    /// Messages that are taken together at most.
    pub batch: u32,
    /// How long the first of them waits for others, in milliseconds.
    pub window: u64,
    /// Batches that are collected at one time, where there is such a window: each message goes to the smallest.
    pub collectors: u32,
    /// How long the work on a batch may take, in milliseconds; `None` for workers.
    pub timeout: Option<u64>,
    /// Batches that are worked on at one time.
    pub concurrency: u32,
    /// Batches that are taken at one time: those above the concurrency are throttled, and wait with their visibility
    /// timeout running.
    pub pollers: u32,
    /// Messages of a batch that are worked on at one time.
    pub parallelism: u32,
    /// Whether only the messages of a batch that failed stay in the queue.
    pub partial_responses: bool,
    /// How the messages are kept invisible.
    pub heartbeat: Option<Heartbeat>,
    /// When it looks whether a message was handled already.
    pub recheck: Recheck,
}

impl Consumer {
    /// So many workers, each with one message at a time.
    pub fn workers(count: u32) -> Self {
        Consumer {
            batch: 1,
            window: 0,
            collectors: 1,
            timeout: None,
            concurrency: count.max(1),
            pollers: count.max(1),
            parallelism: 1,
            partial_responses: true,
            heartbeat: None,
            recheck: Recheck::Never,
        }
    }

    /// A function that may run for `timeout` milliseconds, with a batch size of 1 and the concurrency that an account
    /// has.
    pub fn function(timeout: u64) -> Self {
        Consumer {
            timeout: Some(timeout.max(1)),
            partial_responses: false,
            ..Consumer::workers(LAMBDA_CONCURRENCY)
        }
    }

    /// The same with so many invocations at one time. Lambda takes batches above that, and is throttled.
    #[must_use]
    pub fn reserved(mut self, concurrency: u32) -> Self {
        self.concurrency = concurrency.max(1);
        self.pollers = self.concurrency.max(LEAST_POLLERS);
        self
    }

    /// The same with a heartbeat.
    #[must_use]
    pub fn renewing(mut self, every: u64, extend_to: u64) -> Self {
        self.heartbeat = Some(Heartbeat {
            every: every.max(1),
            extend_to,
            missed: 0,
        });
        self
    }

    /// The same, looking whether a message was handled already.
    #[must_use]
    pub fn rechecking(mut self, recheck: Recheck) -> Self {
        self.recheck = recheck;
        self
    }
}
