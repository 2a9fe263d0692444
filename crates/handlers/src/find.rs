//! Finds the file with the source of a function. It parses no file and knows no fact about a handler: a scan of tokens
//! decides which file is read next.

mod bundles;
pub(crate) mod exports;
mod images;
pub(crate) mod locate;
pub(crate) mod places;
pub(crate) mod search;
pub(crate) mod versions;
