//! Attempts: a consumer processes a batch, from its start to its deletes.

use super::{AttemptOutcome, Due, EventKind, MessageLocation, Receipt, Recheck, Reverse, Simulation, VisibilityError};
use crate::queue::DeleteResult;

/// A batch being processed, or one that is finished and has no jobs.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    number: u64,
    /// Work on its messages, in the order in which it ends.
    jobs: Vec<Job>,
    /// Number of jobs that have ended.
    over: usize,
    /// Time at which the function is stopped.
    stop: Option<u64>,
}

/// Work on one message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    receipt: Receipt,
    outcome: AttemptOutcome,
    ends: u64,
    /// `true` if the message was processed before, so that the work is skipped.
    is_idle: bool,
    has_failed: bool,
}

/// End of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Answered,
    TimedOut,
    Crashed,
}

impl Simulation<'_> {
    pub(super) fn begin(&mut self, now: u64, batch: &[Receipt]) {
        let consumer = &self.setup.consumer;
        let at = self.idle_attempts.pop().unwrap_or_else(|| {
            self.attempts.push(Attempt::default());
            u32::try_from(self.attempts.len() - 1).unwrap_or(u32::MAX)
        });
        let mut jobs = self.take_attempt(at).jobs;
        let mut lanes = std::mem::take(&mut self.lanes);
        lanes.clear();
        lanes.resize(consumer.parallelism.max(1) as usize, now);
        for receipt in batch {
            let record = self.records.get(receipt.message);
            let is_done = record.as_ref().is_some_and(|record| record.done > 0);
            let is_poison = record.as_ref().is_some_and(|record| record.is_poison);
            let is_idle = consumer.recheck == Recheck::First && is_done;
            if let Some(record) = record {
                record.running += 1;
            }
            let outcome = if is_idle {
                AttemptOutcome::Works(1)
            } else {
                self.draw(*receipt, is_poison)
            };
            let Some(lane) = lanes.iter_mut().min() else { continue };
            *lane += outcome.time();
            jobs.push(Job {
                receipt: *receipt,
                outcome,
                ends: *lane,
                is_idle,
                has_failed: false,
            });
        }
        self.lanes = lanes;
        jobs.sort_by_key(|job| job.ends);
        self.next += 1;
        self.running += 1;
        let attempt = Attempt {
            number: self.next,
            jobs,
            over: 0,
            stop: consumer.timeout.map(|timeout| now + timeout),
        };
        self.continue_attempt(at, attempt);
        self.schedule_beat(now, at, 1);
    }

    fn take_attempt(&mut self, at: u32) -> Attempt {
        let attempt = self.attempts.get_mut(at as usize);
        attempt.map(std::mem::take).unwrap_or_default()
    }

    fn continue_attempt(&mut self, at: u32, attempt: Attempt) {
        self.due.push(Reverse((attempt.next(), Due::Step(attempt.number, at))));
        self.attempts[at as usize] = attempt;
    }

    /// Continues an attempt when the work on a message ends or the function is stopped.
    pub(super) fn step_attempt(&mut self, now: u64, at: u32) {
        let mut attempt = self.take_attempt(at);
        let mut end = None;
        while let Some(job) = attempt.jobs.get_mut(attempt.over).filter(|job| job.ends <= now) {
            attempt.over += 1;
            match job.outcome {
                AttemptOutcome::Works(_) => self.done(now, *job),
                AttemptOutcome::Fails(_) => {
                    job.has_failed = true;
                    self.trace(now, job.receipt.message, job.receipt.receive, EventKind::Failed);
                }
                AttemptOutcome::Crashes(_) => end = Some(End::Crashed),
            }
            if end.is_some() {
                break;
            }
        }
        if end.is_none() {
            end = if attempt.over == attempt.jobs.len() {
                Some(End::Answered)
            } else if attempt.stop.is_some_and(|stop| stop <= now) {
                Some(End::TimedOut)
            } else {
                None
            };
        }
        let Some(end) = end else {
            self.continue_attempt(at, attempt);
            return;
        };
        self.finish(now, &attempt, end);
        attempt.jobs.clear();
        self.attempts[at as usize] = attempt;
        self.idle_attempts.push(at);
    }

    fn done(&mut self, now: u64, job: Job) {
        let recheck = self.setup.consumer.recheck;
        let Some(record) = self.records.get(job.receipt.message) else {
            return;
        };
        let was_done = record.done > 0;
        let is_skipped = job.is_idle || (recheck == Recheck::Last && was_done);
        if !is_skipped {
            record.done += 1;
            if was_done {
                self.tally.repeats += 1;
                self.tally.twice += u64::from(record.done == 2);
                self.tally.most_done = self.tally.most_done.max(u64::from(record.done));
            } else {
                self.tally.done += 1;
                self.tally.longest_wait = self.tally.longest_wait.max(now - self.sent_at(job.receipt.message));
            }
        }
        let kind = if is_skipped {
            EventKind::Skipped
        } else {
            EventKind::Done
        };
        self.trace(now, job.receipt.message, job.receipt.receive, kind);
    }

    fn finish(&mut self, now: u64, attempt: &Attempt, end: End) {
        self.running -= 1;
        let has_failed = attempt.jobs.iter().any(|job| job.has_failed);
        let partial = self.setup.consumer.partial_responses;
        for (at, job) in attempt.jobs.iter().enumerate() {
            let Receipt { message, receive, .. } = job.receipt;
            match end {
                End::TimedOut => self.trace(now, message, receive, EventKind::TimedOut),
                End::Crashed if at + 1 >= attempt.over => self.trace(now, message, receive, EventKind::Crashed),
                _ => {}
            }
            let is_deleted = end == End::Answered && !job.has_failed && (partial || !has_failed);
            let is_gone = is_deleted && self.delete(now, job.receipt);
            if let Some(record) = self.records.get(message) {
                record.running -= 1;
                if end == End::Crashed && record.location == MessageLocation::Queue && record.running == 0 {
                    self.crashed.insert(message, now);
                }
                if is_gone {
                    record.location = MessageLocation::Deleted;
                }
            }
            self.drop_if_finished(message);
        }
        self.tally.crashes += u64::from(end == End::Crashed);
    }

    fn delete(&mut self, now: u64, receipt: Receipt) -> bool {
        // Work ends before the visibility timeouts of the same millisecond, so the delete is sent one millisecond
        // earlier.
        let (kind, is_gone) = match self.queue.delete(now.saturating_sub(1), receipt) {
            DeleteResult::Gone => (EventKind::DeleteResult, true),
            DeleteResult::Before | DeleteResult::Ignored => (EventKind::DeleteIgnored, false),
        };
        self.trace(now, receipt.message, receipt.receive, kind);
        is_gone
    }

    /// Sends a heartbeat, unless the consumer has crashed.
    pub(super) fn beat(&mut self, now: u64, number: u64, at: u32, beat: u32) {
        let (Some(attempt), Some(heartbeat)) = (self.attempts.get(at as usize), self.setup.consumer.heartbeat) else {
            return;
        };
        if attempt.number != number {
            return;
        }
        let receipts: Vec<Receipt> = attempt.jobs.iter().map(|job| job.receipt).collect();
        for receipt in receipts {
            let kind = if beat <= heartbeat.missed {
                EventKind::RenewalMissed
            } else {
                match self.queue.change_visibility(now, receipt, heartbeat.extend_to) {
                    Ok(()) => EventKind::Renewed,
                    Err(VisibilityError::NotInFlight) => EventKind::RenewalRefused,
                    Err(VisibilityError::TooLong(left)) => match self.queue.change_visibility(now, receipt, left) {
                        Ok(()) => EventKind::RenewedToCeiling,
                        Err(_) => EventKind::RenewalRefused,
                    },
                }
            };
            self.trace(now, receipt.message, receipt.receive, kind);
        }
        self.schedule_beat(now, at, beat + 1);
    }

    /// Schedules a heartbeat of an attempt, unless the attempt ends before.
    fn schedule_beat(&mut self, now: u64, at: u32, beat: u32) {
        let (Some(attempt), Some(heartbeat)) = (self.attempts.get(at as usize), self.setup.consumer.heartbeat) else {
            return;
        };
        let time = now + heartbeat.every;
        if time < attempt.end() {
            self.due.push(Reverse((time, Due::Beat(attempt.number, at, beat))));
        }
    }
}

impl Attempt {
    /// Returns the time of its next step.
    fn next(&self) -> u64 {
        let ends = self.jobs.get(self.over).map_or(0, |job| job.ends);
        self.stop.map_or(ends, |stop| stop.min(ends))
    }

    /// Returns the time by which it ends; a crash ends it earlier.
    fn end(&self) -> u64 {
        let ends = self.jobs.last().map_or(0, |job| job.ends);
        self.stop.map_or(ends, |stop| stop.min(ends))
    }
}
