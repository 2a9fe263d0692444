//! Drives the language server as an editor does: over pipes if the process matters, and otherwise over channels.

mod answers;
mod client;
mod editors;
mod equal;
mod hostile;
mod noise;
mod projects;
mod session;
