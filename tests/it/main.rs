//! Integration tests: they use the library and the program from outside. One module per subject, in one executable,
//! because each executable links the whole library again. `cargo test --test it <module>::` runs one module.
//!
//! `cli.rs`, `hooks.rs`, `growth.rs`, `kernels.rs`, `skipped.rs` and `benchmark.rs` are separate executables; each
//! states the reason.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

mod arns;
mod callers;
mod cdk;
mod cells;
mod combined;
mod conditions;
mod config;
mod configurations;
mod corpus;
mod coverage;
mod deployed;
mod dialects;
mod english;
mod environments;
mod explain;
mod fix_reach;
mod fixes;
mod fixtures;
mod fleet;
mod formats;
mod found_environments;
mod fuzz;
mod guards;
mod handler_sources;
mod handlers;
mod history;
mod hostile;
mod incidents;
mod includes;
mod inputs;
mod intrinsics;
mod layering;
mod loops;
mod moto;
mod neighbours;
mod newcomer;
mod packages;
mod pages;
mod parameters;
mod partial;
mod peers;
mod permissions;
mod pipes;
mod plans;
mod planted;
mod policies;
mod programs;
mod provenance;
mod published;
mod questions;
mod quotas;
mod readme;
mod remote_modules;
mod rule_names;
mod sam_translator;
mod server;
mod serverless;
mod simulations;
mod stacks;
mod strangers;
mod suppressions;
mod switches;
mod syntax;
mod templates;
mod terragrunt;
mod timelines;
mod unread;
mod worker_code;
mod workers;
mod worlds;
mod wrong_types;
