//! Tests of the formats: with artificial diagnostics (`samples`), with a report that covers every case (`validation`),
//! and on different terminals (`terminal`).

mod example;
mod samples;
mod terminal;
mod validation;
