//! Flags declared heartbeats that renew the visibility timeout too late.

use super::prelude::*;
use crate::graph::declared::{Duration, Heartbeat};
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "consumer-heartbeat-too-slow",
    Category::Consumers,
    Severity::Warning,
    "a declared worker renews the visibility timeout after the message has reappeared, or hardly before"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        findings.set_judged_attribute(&queue.visibility_timeout);
        for worker in findings.graph.timed(queue).filter(|one| one.is_worker()) {
            let Some(heartbeat) = worker.heartbeat else { continue };
            let Heartbeat { extend_to, .. } = heartbeat;
            let received = findings.graph.received_visibility(queue);
            if let Some(visibility) = received {
                judge(
                    findings,
                    queue,
                    &queue.resource.when,
                    heartbeat,
                    &Renewed::Received(visibility),
                );
            }
            for visibility in findings.visibility(&queue.resource.when, queue) {
                // `visibility-timeout-zero` reports a timeout of 0 with more detail.
                if visibility.value > 0 && received.is_none() {
                    let when = &visibility.when;
                    judge(findings, queue, when, heartbeat, &Renewed::First(&visibility));
                }
            }
            judge(
                findings,
                queue,
                &queue.resource.when,
                heartbeat,
                &Renewed::Later(extend_to),
            );
        }
    }
}

/// Deadline that a heartbeat extends.
enum Renewed<'a> {
    /// The queue's own visibility timeout, which starts with the receive.
    First(&'a Operand<'a>),
    /// The timeout that the receive sets.
    Received(Duration),
    /// The timeout set by an earlier renewal.
    Later(Duration),
}

impl Renewed<'_> {
    fn term(&self) -> Term<'_> {
        match self {
            Renewed::First(visibility) => (*visibility).into(),
            Renewed::Received(time) | Renewed::Later(time) => (*time).into(),
        }
    }

    fn shown(&self) -> String {
        match self {
            Renewed::First(visibility) => format!("the visibility timeout of {}", visibility.in_words()),
            Renewed::Received(time) => format!("the visibility timeout of {time} that each receive sets"),
            Renewed::Later(extend_to) => format!("the {extend_to} that each call sets"),
        }
    }
}

fn judge(
    findings: &mut Findings<'_>,
    queue: &Queue,
    when: &Condition,
    Heartbeat { every, extend_to }: Heartbeat,
    renewed: &Renewed<'_>,
) {
    let times = [every, extend_to];
    let in_time = findings.require(when, queue, below(every, renewed.term()), || {
        let harm = "the message has reappeared by then, and another worker has it";
        let finding = too_slow(queue, every, renewed, Severity::Warning, harm);
        match renewed {
            Renewed::First(visibility) => finding.scenario(scenarios::of_first_renewal(visibility, times, 0)),
            Renewed::Received(_) => finding,
            Renewed::Later(_) => finding.scenario(scenarios::of_later_renewal(times)),
        }
    });
    if in_time {
        let twice = 2 * Term::from(every);
        findings.require(when, queue, at_most(twice, renewed.term()), || {
            let harm = "one call that fails or comes late lets the message reappear";
            let finding = too_slow(queue, every, renewed, Severity::Info, harm);
            match renewed {
                Renewed::First(visibility) => finding.scenario(scenarios::of_first_renewal(visibility, times, 1)),
                Renewed::Received(_) | Renewed::Later(_) => finding,
            }
        });
    }
}

fn too_slow(queue: &Queue, every: Duration, renewed: &Renewed<'_>, severity: Severity, harm: &str) -> Finding {
    let (subject, shown) = (queue.resource.shown(), renewed.shown());
    let headline = match severity {
        Severity::Info => {
            format!("the worker of {subject} renews {shown} every {every}, after more than half of it: {harm}")
        }
        _ => format!("the worker of {subject} renews {shown} only after {every}: {harm}"),
    };
    let finding = match renewed {
        Renewed::First(visibility) => {
            let ends = format!("ends {} after the message is received", visibility.shown());
            Finding::new(
                "visibility_timeout",
                headline,
                *visibility,
                visibility.or_default("SQS", ends),
            )
        }
        Renewed::Received(time) | Renewed::Later(time) => {
            let header = queue.resource.header;
            let finding = Finding::new("visibility_timeout", headline, header, "the queue of that worker");
            let ends = format!("ends {time} after the call that sets it");
            time.span.into_iter().fold(finding, |all, span| all.label(span, &*ends))
        }
    };
    let renewed = every.span.map(|span| (span, format!("renewed every {every}")));
    renewed
        .into_iter()
        .fold(finding, |all, (span, label)| all.label(span, label))
        .severity(severity)
        .help("renew after half of the time at the latest; AWS's example sets 2 minutes every minute")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::CloudFormation;
    use crate::testing::queue;

    #[test]
    fn renewal_at_timeout_is_a_warning_and_after_half_an_info() {
        queue().check(
            &RULE,
            r#"
            queue.visibility_timeout | consumer                                             | finding
            60                       | heartbeat = { every = "60s", extend-to = "10m" }     | warning
            60                       | heartbeat = { every = "59999ms", extend-to = "10m" } | info
            60                       | heartbeat = { every = "31s", extend-to = "10m" }     | info
            60                       | heartbeat = { every = "30s", extend-to = "10m" }     |
            // The extension must also be renewed in time.
            600                      | heartbeat = { every = "60s", extend-to = "60s" }     | warning
            600                      | heartbeat = { every = "60s", extend-to = "61s" }     | info
            600                      | heartbeat = { every = "60s", extend-to = "2m" }      |
            // Both deadlines share one finding.
            60                       | heartbeat = { every = "90s", extend-to = "60s" }     | warning
            60                       | heartbeat = { every = "40s", extend-to = "40s" }     | warning
            0                        | heartbeat = { every = "20s", extend-to = "60s" }     |
            open                     | heartbeat = { every = "20s", extend-to = "60s" }     | unjudged
            "#,
        );
    }

    #[test]
    fn headline_names_renewal() {
        queue().only(&[CloudFormation]).check(
            &RULE,
            r#"
            consumer                                         | finding | headline
            heartbeat = { every = "30s", extend-to = "60s" } | 1       | the worker of `Orders` renews the visibility timeout of 30 s only after 30 s: the message has reappeared by then, and another worker has it
            "#,
        );
    }
}
