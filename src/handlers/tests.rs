//! Tests of hostile sources, and of signatures in languages that are not parsed.
