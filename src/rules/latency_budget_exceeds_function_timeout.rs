//! Flags functions whose timeout is not above the declared time of their slowest messages.

use super::prelude::*;
use crate::rules::shared::consumers::{PollingMapping, RunTime, default_timeout_of};
use crate::rules::shared::work::ProcessingTime;

pub(super) static RULE: Rule = rule!(
    "latency-budget-exceeds-function-timeout",
    Category::Consumers,
    Severity::Warning,
    "a message takes as long as the function may run, or longer, by its declared time"
);

fn check(findings: &mut Findings<'_>) {
    for (declared, poll, time) in findings.declared_runs() {
        let Some(work) = ProcessingTime::longest(declared) else {
            continue;
        };
        let fits = below(work, &time.limit).depending_on(&time).depending_on(&poll);
        findings.require(&time.limit.when, time.function, fits, || {
            exceeds(&poll, &time, work).scenario(crate::rules::shared::scenarios::of_batch(
                findings.graph,
                &poll,
                &time.limit,
                [1, 1],
                work,
            ))
        });
    }
}

fn exceeds(poll: &PollingMapping<'_>, time: &RunTime<'_>, work: ProcessingTime) -> Finding {
    let (function, limit) = (time.function.resource.shown(), &time.limit);
    let headline = format!(
        "{function} {}, but is stopped after {}, so its slowest messages are never finished and are retried until they are \
         moved or expire",
        work.takes(),
        limit.in_words()
    );
    let ends = limit.or_default(default_timeout_of(limit), format!("stopped after {}", limit.shown()));
    let finding = Finding::new("timeout", headline, limit, ends)
        .severity(poll.severity(Severity::Warning))
        .show(poll);
    work.show(finding).help(format!(
        "raise `{}` well above {}, and the queue's visibility timeout with it",
        limit.name, work.time
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::stack;

    #[test]
    fn slowest_message_must_take_less_than_the_timeout() {
        stack().check(
            &RULE,
            r#"
            function.timeout | mapping.enabled | consumer                                 | finding
            60               |                 | processing = { max = "60s" }             | warning
            60               |                 | processing = { max = "59999ms" }         |
            60               |                 | processing = { max = "59s" }             |
            60               |                 | processing = { p99 = "60s" }             | warning
            60               |                 | processing = { p99 = "60s", max = "2m" } | warning
            60               |                 | processing = { p50 = "60s" }             |
            60               | false           | processing = { max = "60s" }             | info
            open             |                 | processing = { max = "60s" }             |
            "#,
        );
    }
}
