//! Executes a handler on every path and states what happens to a message whose work fails. It knows no language but the
//! common syntax, and no place of a file.

mod calls;
mod claims;
mod classes;
mod classifiers;
mod evaluate;
pub(crate) mod imported;
mod layers;
mod lazy;
mod left;
mod libraries;
mod lists;
pub(crate) mod machine;
mod members;
mod outcomes;
mod processors;
mod promises;
pub(crate) mod reads;
mod responses;
pub(crate) mod scenario;
mod services;
mod statements;
mod stores;
mod tasks;
mod values;
mod variables;
mod work;
