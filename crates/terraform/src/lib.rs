#![doc = include_str!("../README.md")]

pub mod environments;
pub mod eval;
mod functions;
pub mod inputs;
pub mod json;
mod limits;
pub mod module;
pub mod number;
pub mod plan;
pub mod provider;
pub mod references;
pub mod registry;
pub mod syntax;
pub mod terragrunt;
pub mod types;
pub mod value;
