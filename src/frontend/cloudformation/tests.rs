//! One table of constructs a file.
