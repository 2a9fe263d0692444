//! The model against what AWS documents, against arithmetic, and against what teams have told of incidents.

mod closed_forms;
mod incidents;
mod queue;
mod scenarios;

use super::{DeadLetter, QueueSettings};

const S: u64 = 1_000;
const DAY: u64 = 86_400 * S;

/// A standard queue that keeps messages for four days.
fn standard(visibility: u64) -> QueueSettings {
    QueueSettings {
        visibility,
        retention: 4 * DAY,
        delay: 0,
        fifo: false,
        dead_letter: None,
    }
}

fn with_dead_letter(visibility: u64, max_receives: u32) -> QueueSettings {
    QueueSettings {
        dead_letter: Some(DeadLetter {
            max_receives,
            retention: 14 * DAY,
        }),
        ..standard(visibility)
    }
}
