//! Sorts what findings do to messages into the three kinds by which a run can fail.

use sqs_model::scenario::Harm as Shown;

/// Harm of a finding, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Harm {
    /// A message is deleted or expires unseen, or a good one is dead-lettered.
    Loss,
    /// Work is done twice.
    Duplicates,
    /// A message is never processed, waits, or uses up its receives.
    Stuck,
}

impl Harm {
    /// All kinds.
    pub const ALL: [Harm; 3] = [Harm::Loss, Harm::Duplicates, Harm::Stuck];

    /// Returns the name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Harm::Loss => "loss",
            Harm::Duplicates => "duplicates",
            Harm::Stuck => "stuck",
        }
    }
}

impl From<Shown> for Harm {
    fn from(shown: Shown) -> Self {
        match shown {
            Shown::Lost | Shown::GivenUp => Harm::Loss,
            Shown::WorkedOnTwice | Shown::DoneAgain => Harm::Duplicates,
            Shown::NeverDone | Shown::Waits(_) | Shown::ReceiveUsedUp => Harm::Stuck,
        }
    }
}
