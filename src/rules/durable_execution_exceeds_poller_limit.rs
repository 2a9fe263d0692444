//! Flags durable functions that may run for longer than Lambda waits for an invocation by a queue.

use super::prelude::*;
use crate::graph::Seconds;
use crate::rules::shared::queue_types::PolledQueue;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "durable-execution-exceeds-poller-limit",
    Category::Visibility,
    Severity::Warning,
    "a durable function may run for longer than Lambda waits for it when a queue invokes it"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for (assumed, function) in findings.graph.functions_of(mapping, &mapping.resource.when) {
            for execution in
                findings.any_numbers(&assumed, function, &function.durable_execution_timeout, Unit::Seconds)
            {
                for source in findings.polled_queues(mapping, &execution.when) {
                    for (when, quota) in findings.timeout_quotas(function, &execution) {
                        let when = when.and(&source.when);
                        findings.require(&when, function, at_most(&execution, quota.most), || {
                            exceeds(function, mapping, &execution, &source, quota)
                        });
                    }
                }
            }
        }
    }
}

fn exceeds(
    function: &Function,
    mapping: &EventSourceMapping,
    execution: &Operand<'_>,
    source: &PolledQueue<'_>,
    quota: &Quota,
) -> Finding {
    let (shown, limit) = (function.resource.shown(), Seconds(quota.most));
    let queue = &source.shown;
    let headline = format!(
        "an execution of the durable function {shown} may take {}, but Lambda waits {limit} for messages of {queue}: then the batch returns to the queue",
        execution.readable()
    );
    let label = format!("an execution may take {}", execution.shown());
    let invokes = format!("{mapping} waits for the whole execution");
    let scenario = (source.queue).and_then(|queue| scenarios::of_limit(queue, quota.most, execution));
    Finding::new("durable_execution_timeout", headline, execution, label)
        .scenario(scenario)
        .label(mapping.resource.header, invokes)
        .help(format!(
            "set `{}` to {} or less, or let a function that the queue invokes start the execution asynchronously",
            execution.name, quota.most
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;
    use crate::testing::stack;

    #[test]
    fn limit_is_30_minutes_or_90_on_managed_instances() {
        stack().check(
            &RULE,
            "
            function.execution_timeout | function.capacity_provider | finding
            1800                       |                            |
            1801                       |                            | function.execution_timeout
            3600                       |                            | function.execution_timeout
            open                       |                            |
            5400                       | arn                        |
            5401                       | arn                        | function.execution_timeout
            ",
        );
    }

    #[test]
    fn stream_source_is_ignored() {
        stack().only(&[Terraform]).check(
            &RULE,
            "
            function.execution_timeout | mapping.source | mapping.starting_position | finding
            1801                       | open           | LATEST                    |
            ",
        );
    }
}
