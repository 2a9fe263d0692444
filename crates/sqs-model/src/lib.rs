#![doc = include_str!("../README.md")]
//!
//! `queue` is SQS, `consumer` describes what polls it, and `simulation` advances both from event to event.

pub mod clock;
mod consumer;
mod event;
mod queue;
mod random;
pub mod scenario;
mod simulation;
mod tally;
#[cfg(test)]
mod tests;
pub mod traffic;
mod work;

pub use consumer::{Consumer, Heartbeat, LAMBDA_CONCURRENCY, MIN_POLLERS, POLLER_INTERVAL, Recheck};
pub use event::{Event, EventKind};
pub use queue::{
    DeleteResult, MAX_IN_FLIGHT, MAX_IN_FLIGHT_TIME, Moved, Queue, QueueSettings, Receipt, RedriveTarget,
    VisibilityError,
};
pub use random::{Random, Share};
pub use simulation::{Setup, Simulation};
pub use tally::Tally;
pub use work::{AttemptOutcome, Outcomes, Work};
