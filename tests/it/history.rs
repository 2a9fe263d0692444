//! Checks findings that are new since a commit, units that a commit changes, and baselines, by running the program in
//! temporary repositories.

mod baselines;
mod buffers;
mod repository;
mod review;
mod since;
mod staged;
