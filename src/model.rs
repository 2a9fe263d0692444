//! A queue and what reads it, simulated: what SQS and Lambda do with messages, as AWS documents it.
//!
//! `queue` is SQS, `consumer` says who reads it, `simulation` lets time pass over both, event by event. `scenario` asks it
//! for the shortest run that shows a fault, `traffic` for what a week of messages comes to.
//!
//! Time is counted in whole milliseconds from the start of a run, chance comes from a seed: the same question has the
//! same answer everywhere. Nothing here knows files, the graph or rules.
//!
//! What is left out: SQS's own rare second deliveries of a standard queue, the order in which a standard queue hands
//! out messages (here: the one that became visible first), the time that calls take, and how Lambda adds pollers, of
//! which there are as many as may be from the start. All of it makes things worse than what a run shows, never better.

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

pub use consumer::{Consumer, Heartbeat, LAMBDA_CONCURRENCY, LEAST_POLLERS, Recheck};
pub use event::{Event, Kind};
pub use queue::{DeadLetter, Deleted, IN_FLIGHT, Moved, Queue, QueueSettings, Receipt, Refused, VISIBLE_WITHIN};
pub use random::{Random, Share};
pub use simulation::{Setup, Simulation};
pub use tally::Tally;
pub use work::{Act, Labour, Work};
