//! Flags settings on mappings of queues that Lambda supports only for streams.

use super::prelude::*;
use crate::graph::StreamSetting;

pub(super) static RULE: Rule = rule!(
    "stream-setting-on-queue",
    Category::Mapping,
    Severity::Error,
    "a mapping on a queue has a setting that only streams take"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        if mapping.stream_settings.is_empty() {
            for source in findings.polled_queues(mapping, &mapping.resource.when) {
                let none = fact(true, || "no setting that only streams take".to_owned());
                findings.satisfied(&source.when, mapping, none.depending_on(&mapping.resource.header));
            }
            continue;
        }
        let when = (mapping.stream_settings.iter()).fold(Condition::never(), |all, one| all.or(&one.when));
        for source in findings.polled_queues(mapping, &mapping.resource.when.and(&when)) {
            let set = |setting: &&StreamSetting| setting.when.is_possible_with(&source.when);
            let settings: Vec<&StreamSetting> = mapping.stream_settings.iter().filter(set).collect();
            if let Some(finding) = for_streams(mapping, &source.introduced(), &settings) {
                findings.report(&source.when, mapping, finding);
            }
        }
    }
}

/// Returns one finding for all settings, at the one that Lambda rejects first.
fn for_streams(mapping: &EventSourceMapping, source: &str, settings: &[&StreamSetting]) -> Option<Finding> {
    let start = settings.iter().find(|setting| setting.is_start);
    let first = start.or(settings.first())?;
    let names: Vec<String> = settings.iter().map(|setting| format!("`{}`", setting.name)).collect();
    let names = names.join(", ");
    let headline = format!("{mapping} sets {names} for {source}, which applies to streams only");
    let label = |setting: &StreamSetting| {
        if setting.is_start {
            "a queue has no position to start at, so Lambda rejects the mapping"
        } else {
            "it has no effect on a queue, or Lambda rejects it"
        }
    };
    let finding = Finding::new("stream_settings", headline, first.span, label(first));
    let others = settings.iter().filter(|setting| !std::ptr::eq(**setting, *first));
    let finding = others.fold(finding, |finding, setting| finding.label(setting.span, label(setting)));
    let severity = if start.is_some() {
        Severity::Error
    } else {
        Severity::Warning
    };
    Some(finding.severity(severity).help(format!("remove {names}")))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::stack;

    #[test]
    fn starting_position_is_an_error_and_other_settings_a_warning() {
        stack().queue("fifo", "open").check(
            &RULE,
            r#"
            mapping.starting_position | mapping.maximum_retries | mapping.maximum_age | mapping.bisect | mapping.parallelization | finding
            LATEST                    |                         |                     |                |                         | error mapping.starting_position
            null                      |                         |                     |                |                         |
            open                      |                         |                     |                |                         |
                                      | 2                       |                     |                |                         | warning mapping.maximum_retries
                                      |                         |                     | true           |                         | warning mapping.bisect
            // One cause, one finding.
            LATEST                    |                         |                     |                | 2                       | error mapping.starting_position
            LATEST                    | 3                       |                     |                |                         | error mapping.starting_position
            // Values that plans and states contain for absent attributes.
                                      | -1                      |                     |                |                         |
                                      |                         | 0                   |                |                         |
                                      |                         |                     | false          |                         |
            ""                        |                         |                     |                |                         |
            "#,
        );
    }

    #[test]
    fn streams_and_unresolved_sources_are_accepted() {
        let stream = r#"resource "aws_kinesis_stream" "s" {}"#;
        stack().terraform(stream).mapping("starting_position", "LATEST").check(
            &RULE,
            "
            mapping.source             | finding
            = aws_kinesis_stream.s.arn |
            open                       |
            queue.arn                  | mapping.starting_position
            ",
        );
    }
}
