//! Converts source code to a common syntax. It knows languages, but no library and no file but the one that it reads.

pub(crate) mod language;
pub(crate) mod nesting;
pub(crate) mod python;
mod reader;
pub(crate) mod scan;
pub(crate) mod script;
pub(crate) mod syntax;
