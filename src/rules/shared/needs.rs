//! Compares visibility timeouts with the needs of every function that polls a queue, for rules on timeouts that are too
//! long.

use super::advice::Advice;
use super::consumers::RunTime;
use super::findings::Findings;
use super::operands::Operand;
use crate::graph::{Condition, Queue, limits};

impl<'g> Findings<'g> {
    /// Returns the part of `when` under which `visibility` of `queue` exceeds `times` the value advised for each
    /// function that polls it, and at least one polls.
    pub(crate) fn exceeds_every_need(
        &mut self,
        queue: &Queue,
        visibility: &Operand<'_>,
        when: &Condition,
        times: i64,
    ) -> Condition {
        let advice: Advice = self.settings(queue);
        let (mut left, mut polled) = (when.clone(), Condition::never());
        for poll in self.polls(when, queue) {
            if !poll.enabled {
                continue;
            }
            polled = polled.or(&poll.when);
            let mut beyond = poll.when.not();
            for time in self.run_times(&poll) {
                let window = &poll.mapping.window;
                for window in self.numbers(&time.limit.when, poll.mapping, window, &limits::WINDOW) {
                    let needed = advice.needed(&time.limit, &window).value;
                    if visibility.value > needed.saturating_mul(times) {
                        beyond = beyond.or(&window.when);
                    }
                }
            }
            left = left.and(&beyond);
        }
        left.and(&polled)
    }

    /// Returns the longest run time among the functions that poll `queue`.
    pub(crate) fn longest_run(&mut self, queue: &Queue, when: &Condition) -> Option<RunTime<'g>> {
        let polls = self.polls(when, queue).into_iter().filter(|poll| poll.enabled);
        let times = polls.flat_map(|poll| self.run_times(&poll)).collect::<Vec<_>>();
        times.into_iter().max_by_key(|time| time.limit.value)
    }
}
