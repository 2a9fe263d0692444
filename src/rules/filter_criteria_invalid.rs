//! Flags filters that Lambda rejects.

use super::prelude::*;
use crate::graph::Attribute;
use crate::graph::limits::{FILTERS, FILTERS_AT_FIRST, PATTERN_LENGTH};
use crate::rules::shared::patterns::{PatternFault, parse, without_operator};

pub(super) static RULE: Rule = rule!(
    "filter-criteria-invalid",
    Category::Mapping,
    Severity::Error,
    "a mapping has filters that Lambda rejects: too many, too long, or not JSON objects"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for filters in findings.known(&mapping.resource.when, mapping, &mapping.filters) {
            let count = || Term::counted(filters.value.len(), Unit::Filters);
            let is_few = at_most(count(), FILTERS_AT_FIRST).depending_on(&filters);
            if !findings.satisfied(&filters.when, mapping, is_few) {
                findings.report(&filters.when, mapping, too_many(mapping, &filters));
            }
            for pattern in filters.value {
                for pattern in findings.known(&filters.when, mapping, pattern) {
                    judge(findings, mapping, &pattern);
                }
            }
        }
    }
}

fn judge(findings: &mut Findings<'_>, mapping: &EventSourceMapping, pattern: &Known<'_, String>) {
    let length = pattern.value.chars().count();
    let is_short = at_most(Term::counted(length, Unit::Characters), PATTERN_LENGTH).depending_on(pattern);
    let is_short = findings.require(&pattern.when, mapping, is_short, || {
        let what = format!("of {length} characters, but Lambda accepts {PATTERN_LENGTH}");
        wrong(mapping, pattern, &what, "too long").help("match fewer values, or several with one prefix")
    });
    let (what, label) = match parse(pattern.value).filter(|_| is_short) {
        Some(Err(PatternFault::NotJson)) => ("that is not JSON", "not JSON"),
        Some(Err(PatternFault::NotAnObject)) => ("that is not a JSON object", "not an object"),
        Some(Ok(object)) => {
            if let Some((key, inner)) = without_operator(&object) {
                findings.report(&pattern.when, mapping, not_an_operator(mapping, pattern, key, inner));
            }
            return;
        }
        None => return,
    };
    let finding =
        wrong(mapping, pattern, what, label).help("write an object, such as `{\"body\": {\"kind\": [\"order\"]}}`");
    findings.report(&pattern.when, mapping, finding);
}

fn wrong(mapping: &EventSourceMapping, pattern: &Known<'_, String>, what: &str, label: &str) -> Finding {
    let headline = format!("{mapping} has a filter pattern {what}");
    Finding::new("filters", headline, pattern, label)
}

fn not_an_operator(mapping: &EventSourceMapping, pattern: &Known<'_, String>, key: &str, inner: &str) -> Finding {
    let what = format!("with an object in the array of `{key}` that has no operator: Lambda may reject it");
    let label = format!("`{inner}` is not an operator such as `prefix`");
    wrong(mapping, pattern, &what, &label)
        .severity(Severity::Info)
        .help(format!(
            "an array of a pattern contains values and operators: write `{{\"{key}\": {{\"{inner}\": …}}}}`, which also \
             matches the objects in an array of the message"
        ))
}

fn too_many(mapping: &EventSourceMapping, filters: &Known<'_, Vec<Attribute<String>>>) -> Finding {
    let count = filters.value.len();
    let is_refused = !FILTERS.accepts(i64::try_from(count).unwrap_or(i64::MAX));
    let headline = if is_refused {
        format!(
            "{mapping} has {count} filters, but Lambda accepts at most {}",
            FILTERS.most
        )
    } else {
        format!("{mapping} has {count} filters, and Lambda accepts more than {FILTERS_AT_FIRST} only on request")
    };
    let severity = if is_refused { Severity::Error } else { Severity::Info };
    Finding::new("filter_count", headline, filters, format!("{count} filters"))
        .severity(severity)
        .help("put several values of one key into one pattern: `{\"body\": {\"kind\": [\"order\", \"return\"]}}`")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::diagnostic::Severity;
    use crate::testing::Dialect::Terraform;
    use crate::testing::stack;

    #[test]
    fn pattern_that_is_not_a_json_object_is_flagged() {
        stack().check(
            &RULE,
            r#"
            mapping.pattern               | finding
            {"body": {"kind": ["order"]}} |
            open                          |
            {}                            |
            kind = order                  | mapping.pattern
            "[1]"                         | mapping.pattern
            ""                            | mapping.pattern
            {'body': 1}                   | mapping.pattern
            "#,
        );
        stack().only(&[Terraform]).check(
            &RULE,
            r#"
            mapping.pattern                            | finding
            = "{\"body\": {\"a\": [\"${var.open}\"]}}" |
            = jsonencode([1])                          | mapping.pattern
            "#,
        );
    }

    #[test]
    fn object_without_operator_in_an_array_is_an_info() {
        stack().check(
            &RULE,
            r#"
            mapping.pattern                                                                        | finding
            {"body": {"Records": [{"s3": {"object": {"key": [{"suffix": ".pdf"}]}}}]}}             | info mapping.pattern
            {"body": {"kind": ["order", {"kind": "return"}]}}                                      | info mapping.pattern
            {"body": {"kind": [{"Prefix": "or"}]}}                                                 | info mapping.pattern
            {"body": {"$or": [{"kind": [{"like": "or"}]}, {"size": [1]}]}}                         | info mapping.pattern
            {"body": {"Records": {"s3": {"object": {"key": [{"suffix": ".pdf"}]}}}}}               |
            {"body": {"kind": [{"prefix": "or"}, {"suffix": "er"}, {"wildcard": "o*r"}, null, 1]}} |
            {"body": {"kind": [{"anything-but": {"prefix": "or"}}]}}                               |
            {"body": {"size": [{"numeric": [">", 1, "<=", 5]}, {"exists": false}]}}                |
            {"body": {"ip": [{"cidr": "10.0.0.0/8"}], "kind": [{"equals-ignore-case": "Order"}]}}  |
            {"body": {"$or": [{"kind": ["order"]}, {"size": [{"exists": true}]}]}}                 |
            {"body": [{}]}                                                                         |
            open                                                                                   |
            "#,
        );
    }

    #[test]
    fn pattern_above_4096_characters_is_flagged() {
        let count = |length: usize| {
            let pattern = format!(
                "{{\"body\": [\"{}\"]}}",
                "x".repeat(length - "{\"body\": [\"\"]}".len())
            );
            stack().mapping("pattern", pattern).findings(&RULE, Terraform).len()
        };
        assert_eq!((count(4096), count(4097)), (0, 1));
    }

    #[test]
    fn more_than_five_filters_are_an_info_and_more_than_ten_an_error() {
        let severity = |count: usize| {
            let filters = "    filter { pattern = jsonencode({ body = { kind = [\"order\"] } }) }\n".repeat(count);
            let mapping = "  event_source_arn = \"arn:aws:sqs:eu-west-1:111122223333:q\"\n  function_name = \"f\"\n";
            let text = format!(
                "resource \"aws_lambda_event_source_mapping\" \"m\" {{\n{mapping}  filter_criteria {{\n{filters}  }}\n}}\n"
            );
            let found = Terraform.findings(&RULE, &text);
            found.first().map(|found| found.severity)
        };
        for (count, expected) in [
            (5, None),
            (6, Some(Severity::Info)),
            (10, Some(Severity::Info)),
            (11, Some(Severity::Error)),
        ] {
            assert_eq!(severity(count), expected, "{count}");
        }
    }
}
