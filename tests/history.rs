//! What is new since a commit, what a commit touches, and what a baseline holds: the program run in repositories made
//! in temporary directories.

#[path = "history/baselines.rs"]
mod baselines;
#[path = "history/buffers.rs"]
mod buffers;
mod programs;
#[path = "history/repository.rs"]
mod repository;
#[path = "history/since.rs"]
mod since;
#[path = "history/staged.rs"]
mod staged;
