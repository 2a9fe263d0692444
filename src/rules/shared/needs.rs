//! Compares visibility timeouts with the needs of every function that polls a queue, for rules on timeouts that are too
//! long.

use super::advice::Advice;
use super::consumers::{PollingMapping, RunTime};
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
        let (mut left, mut polled) = (when.clone(), Condition::never());
        for poll in self.polls(when, queue) {
            if !poll.enabled {
                continue;
            }
            polled = polled.or(&poll.when);
            let mut beyond = poll.when.not();
            for (needed, when) in self.needs(queue, &poll) {
                if visibility.value > needed.saturating_mul(times) {
                    beyond = beyond.or(&when);
                }
            }
            left = left.and(&beyond);
        }
        left.and(&polled)
    }

    /// Returns the part of `when` under which a function that polls `queue` needs its `visibility`.
    pub(crate) fn is_needed(&mut self, queue: &Queue, visibility: &Operand<'_>, when: &Condition) -> Condition {
        let polls = self.polls(when, queue).into_iter().filter(|poll| poll.enabled);
        let needs = polls.flat_map(|poll| self.needs(queue, &poll)).collect::<Vec<_>>();
        (needs.into_iter().filter(|(needed, _)| visibility.value <= *needed))
            .fold(Condition::never(), |any, (_, when)| any.or(&when))
    }

    /// Returns the visibility timeouts of `queue` that are advised for the functions of `poll`.
    fn needs(&mut self, queue: &Queue, poll: &PollingMapping<'g>) -> Vec<(i64, Condition)> {
        let advice: Advice = self.settings(queue);
        let mut all = Vec::new();
        for time in self.run_times(poll) {
            for window in self.numbers(&time.limit.when, poll.mapping, &poll.mapping.window, &limits::WINDOW) {
                all.push((advice.needed(&time.limit, &window).value, window.when.clone()));
            }
        }
        all
    }

    /// Returns the longest run time among the functions that poll `queue`.
    pub(crate) fn longest_run(&mut self, queue: &Queue, when: &Condition) -> Option<RunTime<'g>> {
        let polls = self.polls(when, queue).into_iter().filter(|poll| poll.enabled);
        let times = polls.flat_map(|poll| self.run_times(&poll)).collect::<Vec<_>>();
        times.into_iter().max_by_key(|time| time.limit.value)
    }
}
