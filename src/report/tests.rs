//! Tests of the formats: over diagnostics made by hand (`samples`), over one report with everything in it
//! (`validation`), and on terminals of every kind (`terminal`).

mod example;
mod samples;
mod terminal;
mod validation;
