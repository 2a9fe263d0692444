//! Flags queues that redeliver a message long after its worker has crashed.

use super::prelude::*;
use crate::rules::shared::scenarios;
use crate::rules::shared::work::ProcessingTime;

/// Visibility timeout from which a delayed redelivery matters, in seconds.
const LONG: i64 = 900;

/// Largest acceptable ratio of the visibility timeout to the time of a slow message.
const TIMES: i64 = 10;

pub(super) static RULE: Rule = rule!(
    "consumer-recovery-slow",
    Category::Consumers,
    Severity::Info,
    "the message of a worker that dies stays invisible for more than ten times as long as the work takes",
    set = Set::Pedantic
);

fn check(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    for queue in graph.queues() {
        findings.set_judged_attribute(&queue.visibility_timeout);
        let unrenewed = graph.declared_workers(queue).filter(|one| one.heartbeat.is_none());
        for work in unrenewed.filter_map(ProcessingTime::slow) {
            for visibility in findings.visibility(&queue.resource.when, queue) {
                if findings.satisfied(&visibility.when, queue, below(&visibility, LONG)) {
                    continue;
                }
                let most = TIMES * Term::from(work);
                findings.require(&visibility.when, queue, at_most(&visibility, most), || {
                    slow(queue, &visibility, work)
                });
            }
        }
    }
}

fn slow(queue: &Queue, visibility: &Operand<'_>, work: ProcessingTime) -> Finding {
    let headline = format!(
        "when a worker of {queue} dies, its message stays invisible for up to {}, though the work takes {}",
        visibility.in_words(),
        work.time
    );
    let label = format!("no other worker receives the message for {}", visibility.shown());
    let finding = Finding::new("visibility_timeout", headline, visibility, label);
    let finding = finding.scenario(scenarios::of_crash(visibility, work));
    work.show(finding).help(format!(
        "set `{}` to a minute or two, renew it while the work goes on (`ChangeMessageVisibility`), and declare that as \
         `heartbeat`",
        visibility.name
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    #[test]
    fn timeout_above_ten_times_the_work_is_flagged() {
        queue().check(
            &RULE,
            r#"
            queue.visibility_timeout | consumer                                                                      | finding
            900                      | processing = { p99 = "90s" }                                                  |
            901                      | processing = { p99 = "90s" }                                                  | 1
            900                      | processing = { p99 = "89s" }                                                  | 1
            899                      | processing = { p99 = "1s" }                                                   |
            43200                    | processing = { p99 = "30m" }                                                  | 1
            3600                     | processing = { max = "60s" }                                                  | 1
            3600                     | processing = { max = "6m" }                                                   |
            3600                     | processing = { p50 = "1s" }                                                   |
            3600                     | processing = { p99 = "6m", max = "7m" }                                       |
            3600                     | processing = { p99 = "1s" }\nheartbeat = { every = "20s", extend-to = "60s" } |
            open                     | processing = { p99 = "1s" }                                                   |
            "#,
        );
    }
}
