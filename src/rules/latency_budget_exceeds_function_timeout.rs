//! Flags functions whose timeout is not above the declared time of their slowest messages.

use super::prelude::*;
use crate::rules::shared::consumers::{PollingMapping, RunTime, default_timeout_of};
use crate::rules::shared::work::ProcessingTime;

pub(super) static RULE: Rule = Rule {
    id: "latency-budget-exceeds-function-timeout",
    category: Category::Consumers,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "a message takes as long as the function may run, or longer, by its declared time",
    page: include_str!("../../rules/latency-budget-exceeds-function-timeout.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for (declared, poll, time) in findings.declared_runs(graph) {
        let Some(work) = ProcessingTime::longest(declared) else {
            continue;
        };
        let fits = below(work, &time.limit).depending_on(&time).depending_on(&poll);
        findings.require(&time.limit.when, time.function, fits, || {
            exceeds(&poll, &time, work).scenario(crate::rules::shared::scenarios::of_batch(
                graph,
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
    use super::{RULE, Severity};
    use crate::testing::run_files;

    fn found(timeout: &str, more: &str, says: &str) -> Vec<Severity> {
        let template = format!(
            "
Transform: AWS::Serverless-2016-10-31
Parameters:
  Open: {{Type: Number}}
Resources:
  Orders: {{Type: AWS::SQS::Queue}}
  Fulfil:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: {timeout}
      Events: {{Q: {{Type: SQS, Properties: {{Queue: !GetAtt Orders.Arn{more}}}}}}}
"
        );
        let settings = format!("[[consumer]]\nqueue = \"Orders\"\nfunction = \"Fulfil\"\n{says}\n");
        let outcome = run_files(&RULE, &[("template.yaml", &template), ("sqslint.toml", &settings)]);
        assert!(
            outcome.errors.is_empty() && outcome.unmatched.is_empty(),
            "{:?}",
            outcome.unmatched
        );
        outcome.findings.iter().map(|found| found.severity).collect()
    }

    #[test]
    fn slowest_message_must_take_less_than_the_timeout() {
        assert_eq!(found("60", "", "processing = { max = \"60s\" }"), [Severity::Warning]);
        assert_eq!(found("60", "", "processing = { max = \"59999ms\" }"), []);
        assert_eq!(found("60", "", "processing = { max = \"59s\" }"), []);
        assert_eq!(found("60", "", "processing = { p99 = \"60s\" }"), [Severity::Warning]);
        assert_eq!(
            found("60", "", "processing = { p99 = \"60s\", max = \"2m\" }"),
            [Severity::Warning]
        );
        assert_eq!(found("60", "", "processing = { p50 = \"60s\" }"), []);
    }

    #[test]
    fn disabled_mapping_is_an_info() {
        let disabled = ", Enabled: false";
        assert_eq!(
            found("60", disabled, "processing = { max = \"60s\" }"),
            [Severity::Info]
        );
    }

    #[test]
    fn unresolved_timeout_is_not_judged() {
        assert_eq!(found("!Ref Open", "", "processing = { max = \"60s\" }"), []);
    }
}
