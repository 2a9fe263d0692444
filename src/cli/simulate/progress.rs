//! Shows the progress of a simulation in one line: only on a terminal, and only after a delay.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Delay before the line appears; shorter simulations need none.
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

    /// Counts a finished week. Failure to print the progress is ignored.
    pub(super) fn pass(&self) {
        let passed = self.passed.fetch_add(1, Ordering::Relaxed) + 1;
        if self.is_shown && self.start.elapsed() > PATIENCE {
            let filled = WIDTH * passed / self.all;
            let bar = "#".repeat(filled) + &"-".repeat(WIDTH.saturating_sub(filled));
            let _ = write!(io::stderr().lock(), "\r[{bar}] {passed} of {} weeks", self.all);
        }
    }

    /// Erases the line.
    pub(super) fn clear(&self) {
        if self.is_shown && self.start.elapsed() > PATIENCE {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}
