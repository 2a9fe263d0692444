//! What services come to.
