//! Tests the model against AWS's documentation, arithmetic and reported incidents.

mod closed_forms;
mod incidents;
mod queue;
mod scenarios;

use super::{QueueSettings, RedriveTarget};

const S: u64 = 1_000;
const DAY: u64 = 86_400 * S;

/// Returns the settings of a standard queue with a retention period of four days.
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
        dead_letter: Some(RedriveTarget {
            max_receives,
            retention: 14 * DAY,
        }),
        ..standard(visibility)
    }
}
