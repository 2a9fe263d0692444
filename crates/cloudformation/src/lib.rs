#![doc = include_str!("../README.md")]

mod cdk;
mod comparisons;
mod conditions;
mod definitions;
pub mod document;
pub mod eval;
mod handover;
mod includes;
mod incomplete;
pub mod inputs;
mod intrinsics;
mod limits;
pub mod links;
mod loading;
mod local;
mod loops;
pub mod parameters;
mod project;
mod questions;
pub mod sam;
pub mod sections;
pub mod serverless;
mod snapshot;
pub mod stacks;
mod surroundings;
pub mod template;
mod unit;
pub mod value;

pub use cdk::{App, Environment, read_app};
pub use loading::evaluate;
pub use project::{Document, load_all};

pub use unit::{NamedInputs, Ties, Unit, UnitKind, UnreadStack};
