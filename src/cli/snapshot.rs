//! Runs `sqslint snapshot`: prints the script that lists what an account has deployed.

use super::{Exit, Streams};
use std::io;

/// The script. sqslint itself sends no requests and sees no credentials.
const SCRIPT: &str = include_str!("snapshot/snapshot.py");

pub(super) fn run(streams: &mut Streams<'_>) -> io::Result<Exit> {
    streams.out.write_all(SCRIPT.as_bytes())?;
    Ok(Exit::Clean)
}
