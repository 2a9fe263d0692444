//! Lints SQS queues together with their consumers, in Terraform, CloudFormation and SAM.
//!
//! [`check`] is the whole pipeline: select → load → lint → suppress → finish (see `pipeline.rs` for the steps). It
//! prints nothing, never exits and does not panic on any input; `main.rs` prints and chooses the exit code.
//!
//! ```text
//! cli ─► fix, add_ignores, write_baseline, explain ─► check
//!                                                     ├─ select   files, discover, config
//!                                                     ├─ load     frontend ─► graph
//!                                                     ├─ lint     rules
//!                                                     ├─ suppress suppress
//!                                                     └─ finish   history, edits of frontend
//! server ─► check, over the units that an edit concerns
//! report ◄─ Outcome ◄─────────────────────────────────┘
//! ```

pub mod config;
pub mod diagnostic;
pub mod discover;
pub mod explain;
mod fixes;
pub mod frontend;
pub mod graph;
pub mod history;
mod ignores;
pub mod inputs;
mod migrate;
mod pipeline;
pub mod policy;
pub mod published;
pub mod report;
pub mod review;
pub mod rules;
pub mod selection;
pub mod server;
pub mod suppress;
#[doc(hidden)]
pub mod testing;
mod trials;

pub use fixes::{Fixed, MadeFix, fix};
pub use ignores::{Added, add_ignores};
pub use migrate::migrate;
pub use pipeline::{Options, Outcome, Stdin, write_baseline};
pub use trials::{Trial, try_policy};

/// Checks everything under the paths of `options`.
pub fn check(options: &Options) -> Outcome {
    pipeline::check(options)
}
