//! A line that says how far a simulation is: on a terminal, and only after a while.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What is over sooner needs no line.
const PATIENCE: Duration = Duration::from_millis(500);
/// Columns of the bar.
const WIDTH: usize = 30;

pub(super) struct Progress {
    start: Instant,
    passed: AtomicUsize,
    all: usize,
    is_shown: bool,
}

impl Progress {
    pub(super) fn new(all: usize) -> Self {
        Progress {
            start: Instant::now(),
            passed: AtomicUsize::new(0),
            all: all.max(1),
            is_shown: io::stderr().is_terminal(),
        }
    }

    /// One more is over. That it cannot be shown is no reason to stop.
    pub(super) fn pass(&self) {
        let passed = self.passed.fetch_add(1, Ordering::Relaxed) + 1;
        if self.is_shown && self.start.elapsed() > PATIENCE {
            let filled = WIDTH * passed / self.all;
            let bar = "#".repeat(filled) + &"-".repeat(WIDTH.saturating_sub(filled));
            let _ = write!(io::stderr().lock(), "\r[{bar}] {passed} of {} weeks", self.all);
        }
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        if self.is_shown && self.start.elapsed() > PATIENCE {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}
