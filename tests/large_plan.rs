//! A plan of many services and of much that is no queue, made by a seeded generator: a small one is always read,
//! in time that grows with its size and no faster; one of 100 MB by `cargo test --release --test large_plan --
//! --ignored --nocapture`, against the bounds of speed and memory. `SQSLINT_PLAN_MB` sets another size.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use sqslint::testing::TemporaryDirectory;
use sqslint::{Options, Outcome};
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// Resources of a service beside its queue, dead-letter queue, function, mapping and alarm.
const OTHERS: usize = 24;

/// A linear congruential generator: the same plan in every run.
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

/// One planned resource: its type with name, its values, and what of it is known only after apply.
struct Planned {
    kind: &'static str,
    name: String,
    values: String,
    unknown: String,
}

fn service(random: &mut Random, name: &str) -> Vec<Planned> {
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
    for at in 0..OTHERS {
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

/// A plan of about `size` bytes, as Terraform prints it: on one line.
#[allow(clippy::too_many_lines, reason = "a document")]
fn plan(size: usize) -> String {
    let mut random = Random(20_261_121);
    let mut planned = String::new();
    let mut changes = String::new();
    let mut count = 0;
    while planned.len() + changes.len() < size {
        let name = format!("{}-{count}", random.text(8));
        let module = format!(r#"module.service[\"{name}\"]"#);
        let mut resources = Vec::new();
        for resource in service(&mut random, &name) {
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

fn check(file: &Path) -> (Outcome, Duration) {
    let start = Instant::now();
    let outcome = sqslint::check(&Options {
        paths: vec![file.to_owned()],
        ..Options::default()
    });
    (outcome, start.elapsed())
}

#[test]
fn time_grows_with_the_size_and_no_faster() {
    let (small, large) = (plan(500_000), plan(2_000_000));
    let directory = TemporaryDirectory::with_files([("small.json", &*small), ("large.json", &*large)]);
    let (outcome, first) = check(&directory.path().join("small.json"));
    let (larger, second) = check(&directory.path().join("large.json"));
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let mappings = |outcome: &Outcome| {
        let graph = &outcome.graph;
        let linked = graph.mappings().iter().filter(|mapping| {
            let queue = mapping
                .queue
                .known()
                .and_then(|link| graph.queue(mapping.resource.unit, link));
            queue.is_some_and(|queue| queue.resource.address.ends_with(".this"))
        });
        (linked.count(), graph.queues().len(), graph.functions().len())
    };
    let (linked, queues, functions) = mappings(&larger);
    assert!(linked > 20, "{linked}");
    assert_eq!((queues, functions), (2 * linked, linked));
    let rules = larger.findings.iter().map(|found| found.rule);
    assert!(
        rules.clone().all(|rule| rule == "visibility-timeout-too-short"),
        "{:?}",
        rules.collect::<Vec<_>>()
    );
    assert!(!larger.findings.is_empty());
    // Four times the size; what starts once, and a busy machine, are allowed for.
    let bound = 8 * first + Duration::from_millis(500);
    assert!(second < bound, "{first:?} for 0.5 MB, {second:?} for 2 MB");
}

/// The most memory that `child` had, in kB, where the system tells.
fn peak(child: &mut std::process::Child) -> Option<u64> {
    let status = format!("/proc/{}/status", child.id());
    let mut most = None;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most = line
            .and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok())
            .or(most);
        std::thread::sleep(Duration::from_millis(2));
    }
    most
}

#[test]
#[ignore = "100 MB; meant for a release build"]
fn a_large_plan_is_read_within_the_bounds() {
    let megabytes = std::env::var("SQSLINT_PLAN_MB").map_or(100, |size| size.parse().unwrap());
    let text = plan(megabytes * 1_000_000);
    let directory = TemporaryDirectory::with_files([("plan.json", &*text)]);
    let file = directory.path().join("plan.json");
    let best = |work: &dyn Fn()| {
        let times = (0..5).map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        });
        times.min().unwrap()
    };
    let ignored = best(&|| {
        serde_json::from_str::<serde::de::IgnoredAny>(&text).unwrap();
    });
    let checked = best(&|| {
        let (outcome, _) = check(&file);
        assert!(!outcome.findings.is_empty());
    });
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_sqslint"))
        .args(["check", "--format", "concise", "--exit-zero"])
        .arg(&file)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let peak = peak(&mut child).unwrap_or(0);
    let size = text.len();
    println!("{size} bytes: ignored in {ignored:?}, checked in {checked:?}, {peak} kB at most");
    assert!(checked < 3 * ignored, "{checked:?} against {ignored:?}");
    assert!(
        peak * 1024 < 3 * u64::try_from(size).unwrap(),
        "{peak} kB for {size} bytes"
    );
}
