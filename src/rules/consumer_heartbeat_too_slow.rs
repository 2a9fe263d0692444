//! Flags declared heartbeats that renew the visibility timeout too late.

use super::prelude::*;
use crate::graph::declared::{Duration, Heartbeat};
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = Rule {
    id: "consumer-heartbeat-too-slow",
    category: Category::Consumers,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "a declared worker renews the visibility timeout after the message has reappeared, or hardly before",
    page: include_str!("../../rules/consumer-heartbeat-too-slow.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
        findings.set_judged_attribute(&queue.visibility_timeout);
        for heartbeat in graph.declared_workers(queue).filter_map(|one| one.heartbeat) {
            let Heartbeat { extend_to, .. } = heartbeat;
            for visibility in findings.visibility(&queue.resource.when, queue) {
                // `visibility-timeout-zero` reports a timeout of 0 with more detail.
                if visibility.value > 0 {
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
    /// The timeout set by an earlier renewal.
    Later(Duration),
}

impl Renewed<'_> {
    fn term(&self) -> Term<'_> {
        match self {
            Renewed::First(visibility) => (*visibility).into(),
            Renewed::Later(extend_to) => (*extend_to).into(),
        }
    }

    fn shown(&self) -> String {
        match self {
            Renewed::First(visibility) => format!("the visibility timeout of {}", visibility.in_words()),
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
                Renewed::Later(_) => finding,
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
        Renewed::Later(extend_to) => {
            let header = queue.resource.header;
            let finding = Finding::new("visibility_timeout", headline, header, "the queue of that worker");
            let ends = format!("ends {extend_to} after the call that sets it");
            extend_to
                .span
                .into_iter()
                .fold(finding, |all, span| all.label(span, &*ends))
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
    use super::{RULE, Severity};
    use crate::testing::run_files;

    fn found(visibility: &str, every: &str, extend_to: &str) -> Vec<Severity> {
        let queue = format!("resource \"aws_sqs_queue\" \"q\" {{\n  visibility_timeout_seconds = {visibility}\n}}\n");
        let settings = format!(
            "[[consumer]]\nqueue = \"aws_sqs_queue.q\"\nheartbeat = {{ every = \"{every}\", extend-to = \"{extend_to}\" }}\n"
        );
        let outcome = run_files(&RULE, &[("main.tf", &queue), ("sqslint.toml", &settings)]);
        assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
        outcome.findings.iter().map(|found| found.severity).collect()
    }

    #[test]
    fn renewal_at_timeout_is_a_warning_and_after_half_an_info() {
        assert_eq!(found("60", "60s", "10m"), [Severity::Warning]);
        assert_eq!(found("60", "59999ms", "10m"), [Severity::Info]);
        assert_eq!(found("60", "31s", "10m"), [Severity::Info]);
        assert_eq!(found("60", "30s", "10m"), []);
    }

    #[test]
    fn extension_must_also_be_renewed_in_time() {
        assert_eq!(found("600", "60s", "60s"), [Severity::Warning]);
        assert_eq!(found("600", "60s", "61s"), [Severity::Info]);
        assert_eq!(found("600", "60s", "2m"), []);
    }

    #[test]
    fn both_deadlines_share_one_finding() {
        assert_eq!(found("60", "90s", "60s"), [Severity::Warning]);
        assert_eq!(found("60", "40s", "40s"), [Severity::Warning]);
    }

    #[test]
    fn zero_and_unresolved_timeouts_are_not_compared() {
        assert_eq!(found("0", "20s", "60s"), []);
        let queue =
            "variable \"open\" {}\nresource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = var.open\n}\n";
        let settings =
            "[[consumer]]\nqueue = \"aws_sqs_queue.q\"\nheartbeat = { every = \"20s\", extend-to = \"60s\" }\n";
        let outcome = run_files(&RULE, &[("main.tf", queue), ("sqslint.toml", settings)]);
        assert!(outcome.findings.is_empty());
        assert_eq!(outcome.not_evaluated.len(), 1);
    }

    #[test]
    fn cloudformation_queue_is_flagged() {
        let template = "
AWSTemplateFormatVersion: '2010-09-09'
Resources:
  Orders: {Type: AWS::SQS::Queue}
";
        let settings = "[[consumer]]\nqueue = \"Orders\"\nheartbeat = { every = \"30s\", extend-to = \"60s\" }\n";
        let outcome = run_files(&RULE, &[("template.yaml", template), ("sqslint.toml", settings)]);
        assert_eq!(outcome.findings.len(), 1);
        assert_eq!(
            outcome.findings[0].headline,
            "the worker of `Orders` renews the visibility timeout of 30 s only after 30 s: the message has reappeared by then, and \
             another worker has it"
        );
    }
}
