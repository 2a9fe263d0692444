//! Generates a plan of many services and many other resources, with a seeded generator.

use std::fmt::Write as _;

/// Number of other resources per service, in addition to its queue, dead-letter queue, function, mapping and alarm.
const OTHERS: usize = 24;

/// Linear congruential generator, for the same plan in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn text(&mut self, length: usize) -> String {
        (0..length)
            .map(|_| char::from(b'a' + u8::try_from(self.below(26)).unwrap()))
            .collect()
    }
}

/// Planned resource: type, name, values, and the values known only after apply.
struct Planned {
    kind: &'static str,
    name: String,
    values: String,
    unknown: String,
}

fn service(random: &mut Random, name: &str, others: usize) -> Vec<Planned> {
    let planned = |kind, name: &str, values: String, unknown: &str| Planned {
        kind,
        name: name.to_owned(),
        values,
        unknown: unknown.to_owned(),
    };
    let queue = |name: &str, visibility: u64, retention: u64| {
        format!(
            r#"{{"content_based_deduplication":false,"delay_seconds":0,"fifo_queue":false,"kms_master_key_id":null,"max_message_size":262144,"message_retention_seconds":{retention},"name":"{name}","receive_wait_time_seconds":0,"region":"eu-west-1","tags":null,"timeouts":null,"visibility_timeout_seconds":{visibility}}}"#
        )
    };
    let of_queue = r#"{"arn":true,"id":true,"name_prefix":true,"policy":true,"redrive_allow_policy":true,"redrive_policy":true,"tags_all":true,"url":true}"#;
    let timeout = 10 + random.below(100);
    // One in ten is too short.
    let visibility = if random.below(10) == 0 { timeout } else { 6 * timeout };
    let mut all = vec![
        planned("aws_sqs_queue", "this", queue(name, visibility, 345_600), of_queue),
        planned("aws_sqs_queue", "failed", queue(&format!("{name}-failed"), 30, 1_209_600), of_queue),
        planned(
            "aws_lambda_function",
            "this",
            format!(
                r#"{{"architectures":["arm64"],"dead_letter_config":[],"environment":[{{"variables":{{"NAME":"{name}","TOKEN":"{}"}}}}],"function_name":"{name}","handler":"index.handler","memory_size":512,"reserved_concurrent_executions":-1,"role":"arn:aws:iam::123456789012:role/{name}","runtime":"nodejs22.x","timeout":{timeout}}}"#,
                random.text(40)
            ),
            r#"{"arn":true,"id":true,"invoke_arn":true,"qualified_arn":true,"version":true}"#,
        ),
        planned(
            "aws_lambda_event_source_mapping",
            "this",
            r#"{"batch_size":null,"enabled":true,"filter_criteria":[],"function_response_types":["ReportBatchItemFailures"],"maximum_batching_window_in_seconds":null,"scaling_config":[]}"#.to_owned(),
            r#"{"event_source_arn":true,"function_name":true,"id":true,"uuid":true}"#,
        ),
        planned(
            "aws_cloudwatch_metric_alarm",
            "failed",
            format!(
                r#"{{"alarm_name":"{name}","comparison_operator":"GreaterThanThreshold","dimensions":{{"QueueName":"{name}-failed"}},"evaluation_periods":1,"metric_name":"ApproximateNumberOfMessagesVisible","metric_query":[],"namespace":"AWS/SQS","period":60,"statistic":"Maximum","threshold":0}}"#
            ),
            r#"{"arn":true,"id":true}"#,
        ),
    ];
    for at in 0..others {
        let rules: Vec<String> = (0..6)
            .map(|_| {
                format!(
                    r#"{{"cidr_blocks":["10.{}.0.0/16"],"description":"{}","from_port":{},"protocol":"tcp","self":false}}"#,
                    random.below(256),
                    random.text(60),
                    random.below(65_536)
                )
            })
            .collect();
        all.push(planned(
            "aws_security_group",
            &format!("of_{at}"),
            format!(
                r#"{{"description":"{} \"quoted\" \u00e9","ingress":[{}],"name":"{name}-{at}","revoke_rules_on_delete":false,"tags":{{"Team":"{}"}},"vpc_id":"vpc-{}"}}"#,
                random.text(80),
                rules.join(","),
                random.text(12),
                random.text(17)
            ),
            r#"{"arn":true,"egress":true,"id":true,"ingress":[{},{},{},{},{},{}],"owner_id":true,"tags":{},"tags_all":true}"#,
        ));
    }
    all
}

/// Generates a plan of about `size` bytes on one line, as Terraform prints it.
pub(crate) fn plan(size: usize) -> String {
    plan_of(size, OTHERS)
}

/// Generates a plan of services with `others` other resources each.
#[allow(clippy::too_many_lines, reason = "a document")]
pub(crate) fn plan_of(size: usize, others: usize) -> String {
    let mut random = Random(20_261_121);
    let mut planned = String::new();
    let mut changes = String::new();
    let mut count = 0;
    while planned.len() + changes.len() < size {
        let name = format!("{}-{count}", random.text(8));
        let module = format!(r#"module.service[\"{name}\"]"#);
        let mut resources = Vec::new();
        for resource in service(&mut random, &name, others) {
            let Planned {
                kind,
                name,
                values,
                unknown,
            } = resource;
            let address = format!("{module}.{kind}.{name}");
            let common = format!(
                r#""address":"{address}","mode":"managed","type":"{kind}","name":"{name}","provider_name":"registry.terraform.io/hashicorp/aws""#
            );
            resources.push(format!(
                r#"{{{common},"schema_version":0,"values":{values},"sensitive_values":{{}}}}"#
            ));
            let comma = if changes.is_empty() { "" } else { "," };
            write!(
                changes,
                r#"{comma}{{{common},"module_address":"{module}","change":{{"actions":["create"],"before":null,"after":{values},"after_unknown":{unknown},"before_sensitive":false,"after_sensitive":{{}}}}}}"#
            )
            .unwrap();
        }
        let comma = if planned.is_empty() { "" } else { "," };
        write!(
            planned,
            r#"{comma}{{"resources":[{}],"address":"{module}"}}"#,
            resources.join(",")
        )
        .unwrap();
        count += 1;
    }
    let refers = |names: &[&str]| format!(r#"{{"references":{names:?}}}"#);
    let block = |kind: &str, name: &str, expressions: &[(&str, String)]| {
        let expressions: Vec<String> = expressions
            .iter()
            .map(|(name, value)| format!(r#""{name}":{value}"#))
            .collect();
        format!(
            r#"{{"address":"{kind}.{name}","mode":"managed","type":"{kind}","name":"{name}","provider_config_key":"aws","expressions":{{{}}},"schema_version":0}}"#,
            expressions.join(",")
        )
    };
    let mut blocks = vec![
        block(
            "aws_sqs_queue",
            "this",
            &[
                ("name", refers(&["var.name"])),
                ("visibility_timeout_seconds", refers(&["var.visibility"])),
                (
                    "redrive_policy",
                    refers(&["aws_sqs_queue.failed.arn", "aws_sqs_queue.failed", "var.receives"]),
                ),
            ],
        ),
        block(
            "aws_sqs_queue",
            "failed",
            &[
                ("name", refers(&["var.name"])),
                ("message_retention_seconds", r#"{"constant_value":1209600}"#.to_owned()),
            ],
        ),
        block(
            "aws_lambda_function",
            "this",
            &[
                ("function_name", refers(&["var.name"])),
                ("timeout", refers(&["var.timeout"])),
            ],
        ),
        block(
            "aws_lambda_event_source_mapping",
            "this",
            &[
                (
                    "event_source_arn",
                    refers(&["aws_sqs_queue.this.arn", "aws_sqs_queue.this"]),
                ),
                (
                    "function_name",
                    refers(&["aws_lambda_function.this.arn", "aws_lambda_function.this"]),
                ),
                (
                    "function_response_types",
                    r#"{"constant_value":["ReportBatchItemFailures"]}"#.to_owned(),
                ),
            ],
        ),
        block(
            "aws_cloudwatch_metric_alarm",
            "failed",
            &[(
                "dimensions",
                refers(&["aws_sqs_queue.failed.name", "aws_sqs_queue.failed"]),
            )],
        ),
    ];
    blocks.extend((0..OTHERS).map(|at| {
        block(
            "aws_security_group",
            &format!("of_{at}"),
            &[("name", refers(&["var.name"]))],
        )
    }));
    format!(
        r#"{{"format_version":"1.2","terraform_version":"1.11.4","planned_values":{{"root_module":{{"child_modules":[{planned}]}}}},"resource_changes":[{changes}],"configuration":{{"provider_config":{{}},"root_module":{{"module_calls":{{"service":{{"source":"./service","expressions":{{"name":{},"receives":{{"constant_value":5}}}},"for_each_expression":{},"module":{{"resources":[{}]}}}}}}}}}},"applyable":true,"complete":true,"errored":false}}"#,
        refers(&["each.key"]),
        refers(&["local.services"]),
        blocks.join(",")
    )
}
