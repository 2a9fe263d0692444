//! Compares the model with a second, naive simulation, which is written from AWS's documentation and shares no code with
//! it: for twelve configurations, the counts of a week agree within the spread between weeks.
//!
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html>,
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html>,
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html>,
//! <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html>,
//! <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html>

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::struct_excessive_bools,
    reason = "counts are small, and the code is short"
)]

use sqs_model::traffic::Traffic;
use sqs_model::{Consumer, Heartbeat, QueueSettings, RedriveTarget, Share, Work};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

const S: u64 = 1_000;
const DAY: u64 = 86_400 * S;
/// Weeks of each simulation.
const WEEKS: u64 = 8;

/// A configuration. Times are in seconds.
#[derive(Clone, Copy)]
struct Config {
    name: &'static str,
    messages: usize,
    visibility: u64,
    retention: u64,
    delay: u64,
    receives: Option<u32>,
    /// Number of message groups of a FIFO queue.
    groups: Option<u32>,
    /// Timeout and concurrency of a function; a timeout of 0 for workers.
    timeout: u64,
    concurrency: u32,
    batch: usize,
    partial: bool,
    work: [u64; 2],
    /// Shares of attempts that fail and crash, and of messages that always fail.
    failing: f64,
    crashing: f64,
    poison: f64,
    heartbeat: Option<[u64; 2]>,
}

const WORKERS: Config = Config {
    name: "workers whose longest work exceeds the visibility timeout",
    messages: 2_000,
    visibility: 30,
    retention: 345_600,
    delay: 0,
    receives: None,
    groups: None,
    timeout: 0,
    concurrency: 50,
    batch: 1,
    partial: true,
    work: [10, 40],
    failing: 0.01,
    crashing: 0.01,
    poison: 0.0,
    heartbeat: None,
};
const FUNCTION: Config = Config {
    name: "a function with a dead-letter queue",
    timeout: 60,
    concurrency: 1_000,
    receives: Some(3),
    failing: 0.2,
    crashing: 0.02,
    ..WORKERS
};

const CONFIGS: [Config; 12] = [
    WORKERS,
    Config {
        name: "every retry is too slow, too",
        work: [31, 50],
        receives: Some(4),
        ..WORKERS
    },
    Config {
        name: "half of the messages are too slow, without a dead-letter queue",
        work: [20, 40],
        messages: 300,
        ..WORKERS
    },
    Config {
        name: "a heartbeat",
        work: [10, 200],
        heartbeat: Some([20, 60]),
        crashing: 0.05,
        receives: Some(2),
        ..WORKERS
    },
    Config {
        name: "messages that always fail, and expire",
        poison: 0.05,
        retention: 3_600,
        work: [5, 20],
        ..WORKERS
    },
    Config {
        name: "a delay, and one receive",
        delay: 600,
        receives: Some(1),
        failing: 0.1,
        ..WORKERS
    },
    FUNCTION,
    Config {
        name: "batches, all of which return",
        batch: 10,
        messages: 40_000,
        visibility: 360,
        work: [1, 8],
        failing: 0.05,
        ..FUNCTION
    },
    Config {
        name: "batches with partial responses",
        batch: 10,
        messages: 40_000,
        visibility: 360,
        work: [1, 8],
        failing: 0.05,
        partial: true,
        ..FUNCTION
    },
    Config {
        name: "batches that time out",
        batch: 10,
        messages: 60_000,
        visibility: 70,
        work: [5, 25],
        receives: Some(2),
        failing: 0.0,
        ..FUNCTION
    },
    Config {
        name: "five pollers, a concurrency of two",
        concurrency: 2,
        messages: 25_000,
        visibility: 60,
        work: [20, 50],
        receives: Some(2),
        failing: 0.0,
        ..FUNCTION
    },
    Config {
        name: "a FIFO queue",
        groups: Some(20),
        messages: 4_000,
        work: [10, 45],
        failing: 0.1,
        ..FUNCTION
    },
];

/// Counts: processed more than once, further attempts completed, dead-lettered, of those processed before, lost.
type Counts = [f64; 5];

/// A generator of its own: Marsaglia's xorshift.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn happens(&mut self, share: f64) -> bool {
        (self.below(1 << 40) as f64) < share * (1_u64 << 40) as f64
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Done(usize),
    End(usize),
    Expire(usize),
    Visible(usize),
    Beat(usize),
    MorePollers,
}

#[derive(Clone, Default)]
struct Message {
    group: u32,
    is_poison: bool,
    receives: u32,
    /// End of the visibility timeout, or of the delay.
    hidden_until: u64,
    is_in_flight: bool,
    is_gone: bool,
    has_expired: bool,
    done: u32,
}

struct Batch {
    /// Messages, each with its receive and whether its work failed.
    jobs: Vec<(usize, u32, bool)>,
    has_answered: bool,
    is_over: bool,
}

struct Naive {
    config: Config,
    dice: Dice,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    messages: Vec<Message>,
    visible: BTreeSet<(u64, usize)>,
    batches: Vec<Batch>,
    running: u32,
    throttled: VecDeque<Vec<(usize, u32)>>,
    pollers: u32,
    is_growing: bool,
    dead_lettered: [u64; 2],
}

impl Naive {
    fn week(config: Config, seed: u64) -> Counts {
        let pollers = if config.timeout == 0 { config.concurrency } else { 5 };
        let mut dice = Dice(seed * 0x9e37_79b9 + 0x1234_5678_9abc);
        // The first numbers of close seeds are alike.
        for _ in 0..20 {
            dice.below(2);
        }
        let mut sends: Vec<u64> = (0..config.messages).map(|_| dice.below(7 * DAY)).collect();
        sends.sort_unstable();
        let mut this = Naive {
            config,
            dice,
            events: BinaryHeap::new(),
            messages: Vec::new(),
            visible: BTreeSet::new(),
            batches: Vec::new(),
            running: 0,
            throttled: VecDeque::new(),
            pollers,
            is_growing: false,
            dead_lettered: [0, 0],
        };
        for (number, sent) in sends.into_iter().enumerate() {
            let hidden_until = sent + config.delay * S;
            let group = config.groups.map_or(0, |groups| this.dice.below(groups.into()) as u32);
            let is_poison = this.dice.happens(config.poison);
            this.messages.push(Message {
                group,
                is_poison,
                hidden_until,
                ..Message::default()
            });
            this.events.push(Reverse((hidden_until, Event::Visible(number))));
            this.events
                .push(Reverse((sent + config.retention * S, Event::Expire(number))));
        }
        while let Some(Reverse((now, event))) = this.events.pop() {
            this.happen(now, event);
            this.poll(now);
        }
        let of = |is: fn(&Message) -> u32| this.messages.iter().map(|one| f64::from(is(one))).sum::<f64>();
        let [all, done] = this.dead_lettered;
        [
            of(|one| u32::from(one.done > 1)),
            of(|one| one.done.saturating_sub(1)),
            all as f64,
            done as f64,
            of(|one| u32::from(one.has_expired && one.done == 0)),
        ]
    }

    fn happen(&mut self, now: u64, event: Event) {
        match event {
            Event::Done(message) => self.messages[message].done += 1,
            Event::Expire(message) if !self.messages[message].is_gone => {
                self.messages[message].has_expired = true;
                self.remove(message);
            }
            Event::Visible(number) => {
                let message = &mut self.messages[number];
                if !message.is_gone && message.hidden_until == now {
                    message.is_in_flight = false;
                    // FIFO queues deliver in the order of sending.
                    let order = if self.config.groups.is_some() { 0 } else { now };
                    self.visible.insert((order, number));
                }
            }
            Event::Beat(batch) if !self.batches[batch].is_over => {
                let Some([every, extend_to]) = self.config.heartbeat else {
                    return;
                };
                for (message, receive, _) in self.batches[batch].jobs.clone() {
                    if self.messages[message].receives == receive && self.messages[message].is_in_flight {
                        self.hide(message, now + extend_to * S);
                    }
                }
                self.events.push(Reverse((now + every * S, Event::Beat(batch))));
            }
            Event::End(batch) => self.end(batch),
            Event::MorePollers => (self.pollers, self.is_growing) = (self.pollers + 1, false),
            Event::Expire(_) | Event::Beat(_) => {}
        }
    }

    fn hide(&mut self, message: usize, until: u64) {
        self.messages[message].hidden_until = until;
        self.events.push(Reverse((until, Event::Visible(message))));
    }

    fn remove(&mut self, number: usize) {
        let message = &mut self.messages[number];
        (message.is_gone, message.is_in_flight) = (true, false);
        self.visible.retain(|(_, one)| *one != number);
    }

    /// Deletes what a batch has processed. A delete takes effect with the receipt handle of the latest receive only, on
    /// a FIFO queue only within its visibility timeout.
    fn end(&mut self, batch: usize) {
        self.running -= 1;
        self.batches[batch].is_over = true;
        let jobs = self.batches[batch].jobs.clone();
        let return_all = !self.config.partial && self.config.timeout > 0 && jobs.iter().any(|(.., failed)| *failed);
        for (message, receive, has_failed) in jobs {
            let one = &self.messages[message];
            let is_valid = one.receives == receive && (self.config.groups.is_none() || one.is_in_flight);
            if self.batches[batch].has_answered && !has_failed && !return_all && is_valid && !one.is_gone {
                self.remove(message);
            }
        }
    }

    fn poll(&mut self, now: u64) {
        // The visibility timeout of a throttled batch goes on.
        for batch in &mut self.throttled {
            batch.retain(|(message, receive)| {
                let one = &self.messages[*message];
                one.is_in_flight && one.receives == *receive
            });
        }
        self.throttled.retain(|batch| !batch.is_empty());
        while self.running < self.config.concurrency
            && let Some(batch) = self.throttled.pop_front()
        {
            self.start(now, batch);
        }
        while self.running + (self.throttled.len() as u32) < self.pollers {
            let mut batch = Vec::new();
            while batch.len() < self.config.batch
                && let Some(at) = self.next(batch.last().map(|(message, _)| *message))
            {
                self.visible.remove(&at);
                let (message, limit) = (at.1, self.config.receives);
                if limit.is_some_and(|limit| self.messages[message].receives >= limit) {
                    self.dead_lettered[0] += 1;
                    self.dead_lettered[1] += u64::from(self.messages[message].done > 0);
                    self.remove(message);
                    continue;
                }
                self.messages[message].receives += 1;
                self.messages[message].is_in_flight = true;
                self.hide(message, now + self.config.visibility * S);
                batch.push((message, self.messages[message].receives));
            }
            if batch.is_empty() {
                break;
            }
            if self.running < self.config.concurrency {
                self.start(now, batch);
            } else {
                self.throttled.push_back(batch);
            }
        }
        let busy = self.running + self.throttled.len() as u32;
        if self.config.timeout > 0 && busy == 0 {
            self.pollers = 5;
        }
        let may_grow = self.config.timeout > 0 && self.pollers < self.config.concurrency && !self.is_growing;
        if may_grow && busy >= self.pollers && self.next(None).is_some() {
            self.is_growing = true;
            self.events.push(Reverse((now + 200, Event::MorePollers)));
        }
    }

    /// Returns the next message to receive. A group of a FIFO queue waits while one of its messages is in flight.
    fn next(&self, last: Option<usize>) -> Option<(u64, usize)> {
        let is_open = |(_, message): &&(u64, usize)| {
            let group = self.messages[*message].group;
            self.config.groups.is_none()
                || last.is_some_and(|last| self.messages[last].group == group)
                || !self.messages.iter().any(|one| one.group == group && one.is_in_flight)
        };
        self.visible.iter().find(is_open).copied()
    }

    /// Works on one message after the other.
    fn start(&mut self, now: u64, batch: Vec<(usize, u32)>) {
        let number = self.batches.len();
        let stop = if self.config.timeout > 0 {
            now + self.config.timeout * S
        } else {
            u64::MAX
        };
        let (mut at, mut has_answered, mut jobs) = (now, true, Vec::new());
        for (message, receive) in batch {
            let [least, most] = self.config.work;
            let time = least * S + self.dice.below((most - least) * S + 1);
            let crashes = self.dice.happens(self.config.crashing);
            let fails = self.messages[message].is_poison || self.dice.happens(self.config.failing);
            jobs.push((message, receive, fails));
            if !has_answered {
                continue;
            }
            at += if crashes { 1 + self.dice.below(time) } else { time };
            if crashes || at > stop {
                (at, has_answered) = (at.min(stop), false);
            } else if !fails {
                self.events.push(Reverse((at, Event::Done(message))));
            }
        }
        self.running += 1;
        self.batches.push(Batch {
            jobs,
            has_answered,
            is_over: false,
        });
        self.events.push(Reverse((at, Event::End(number))));
        if let Some([every, _]) = self.config.heartbeat {
            self.events.push(Reverse((now + every * S, Event::Beat(number))));
        }
    }
}

/// Returns the counts of the model.
fn modelled(config: Config, seed: u64) -> Counts {
    let mut consumer = match config.timeout {
        0 => Consumer::workers(config.concurrency),
        timeout => Consumer::function(timeout * S).reserved(config.concurrency),
    };
    consumer.batch = u32::try_from(config.batch).expect("batches are small");
    consumer.partial_responses = config.partial;
    consumer.heartbeat = config.heartbeat.map(|[every, extend_to]| Heartbeat {
        every: every * S,
        extend_to: extend_to * S,
        missed: 0,
    });
    let share = |share: f64| Share((share * 1e6) as u32);
    let tally = Traffic {
        queue: QueueSettings {
            visibility: config.visibility * S,
            retention: config.retention * S,
            delay: config.delay * S,
            fifo: config.groups.is_some(),
            dead_letter: config.receives.map(|max_receives| RedriveTarget {
                max_receives,
                retention: 14 * DAY,
            }),
        },
        consumer,
        work: Work::between(config.work[0] * S, config.work[1] * S),
        failing: share(config.failing),
        crashing: share(config.crashing),
        poison: share(config.poison),
        messages: config.messages as u64,
        groups: config.groups.unwrap_or(1),
        crash_after: S,
    }
    .week(seed);
    assert!(!tally.is_aborted, "{}", config.name);
    let counts = [
        tally.twice,
        tally.repeats,
        tally.dead_lettered,
        tally.dead_lettered_done,
        tally.lost,
    ];
    counts.map(|count| count as f64)
}

/// Returns the mean of each count, and its variance between weeks.
fn spread(weeks: &[Counts]) -> [(f64, f64); 5] {
    std::array::from_fn(|at| {
        let of = |week: &Counts| week[at];
        let mean = weeks.iter().map(of).sum::<f64>() / weeks.len() as f64;
        let square = |week: &Counts| (of(week) - mean).powi(2);
        (mean, weeks.iter().map(square).sum::<f64>() / (weeks.len() - 1) as f64)
    })
}

#[test]
fn model_agrees_with_an_independent_simulation() {
    let mut wrong = String::new();
    let mut all = [0.0; 5];
    for config in CONFIGS {
        let weeks =
            |simulate: fn(Config, u64) -> Counts| (1..=WEEKS).map(|seed| simulate(config, seed)).collect::<Vec<_>>();
        let (naive, model) = (spread(&weeks(Naive::week)), spread(&weeks(modelled)));
        for (at, ((one, its), (other, others))) in naive.into_iter().zip(model).enumerate() {
            all[at] += one;
            // Five standard errors of the difference of two means.
            let error = ((its + others) / WEEKS as f64).sqrt();
            if (one - other).abs() > 5.0 * error + 0.3 {
                wrong += &format!("{}: {at}: {one} and {other} ± {error}\n", config.name);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(all.iter().all(|count| *count > 1.0), "each count occurs: {all:?}");
}
