//! Tracks the progress of a check, and whether it has been cancelled.

use super::clusters::Cluster;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Observer of a check.
pub(super) struct CheckObserver<'w> {
    /// Callback that receives the number of checked units, and the number of all units.
    pub(super) tell: &'w (dyn Fn(usize, usize) + Sync),
    /// Flag that cancels the check; `None` if it cannot be cancelled.
    pub(super) cancelled: Option<&'w Arc<AtomicBool>>,
}

/// Progress of a check. New units are processed twice, the first time to determine their relations.
pub(super) struct Progress<'w> {
    watch: &'w CheckObserver<'w>,
    units: usize,
    looks: usize,
    done: AtomicUsize,
}

impl<'w> Progress<'w> {
    pub(super) fn new(clusters: &[Cluster], watch: &'w CheckObserver<'w>) -> Self {
        let stale = clusters.iter().filter(|cluster| cluster.is_stale);
        let units: usize = stale.map(|cluster| cluster.inputs.len()).sum();
        let new = clusters.iter().filter(|cluster| !cluster.is_surveyed).count();
        Progress {
            watch,
            units,
            looks: units + new,
            done: AtomicUsize::new(0),
        }
    }

    /// Returns the flag that cancels the check.
    pub(super) fn cancelled(&self) -> Option<Arc<AtomicBool>> {
        self.watch.cancelled.cloned()
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.watch.cancelled.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Records that `cluster` was processed.
    pub(super) fn record_unit(&self, cluster: &Cluster) {
        let before = self.done.fetch_add(cluster.inputs.len(), Ordering::Relaxed);
        let done = before + cluster.inputs.len();
        // Units that turn out to be related are checked once more, so the number is capped.
        let units = (done * self.units / self.looks.max(1)).min(self.units);
        (self.watch.tell)(units, self.units);
    }
}
