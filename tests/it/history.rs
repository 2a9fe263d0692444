//! What is new since a commit, what a commit touches, and what a baseline holds: the program run in repositories made
//! in temporary directories.

mod baselines;
mod buffers;
mod repository;
mod since;
mod staged;
