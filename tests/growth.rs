//! Checks that time grows linearly with the size of the input: a plan of many services and other resources, made by a
//! seeded generator, and modules and resources with many instances. `tests/benchmark.rs` checks a plan of 100 MB.
//!
//! This is a separate executable: it compares runs of some tenths of a second, which other tests would slow down.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

#[path = "generated/curves.rs"]
mod curves;
#[path = "generated/plan.rs"]
mod generated;
#[path = "generated/many.rs"]
mod many;
#[path = "generated/services.rs"]
mod services;

use generated::plan;
use sqslint::testing::TemporaryDirectory;
use sqslint::{Options, Outcome};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum factor for four times the size: twice the linear growth, for a busy machine.
const LINEAR: u32 = 8;

/// Lock of the running measurement, so that only one test measures at a time.
static MEASURING: Mutex<()> = Mutex::new(());

/// Checks `path`, and returns the duration.
fn check(path: &Path) -> (Outcome, Duration) {
    let start = Instant::now();
    let outcome = sqslint::check(&Options {
        paths: vec![path.to_owned()],
        ..Options::default()
    });
    (outcome, start.elapsed())
}

#[test]
fn plan_time_grows_linearly() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
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
    let expected = ["alarm-without-action", "visibility-timeout-too-short"];
    let rules: BTreeSet<&str> = larger.findings.iter().map(|found| &*found.rule).collect();
    assert_eq!(rules, expected.into());
    // Startup costs are allowed for.
    let bound = LINEAR * first + Duration::from_millis(500);
    assert!(second < bound, "{first:?} for 0.5 MB, {second:?} for 2 MB");
}

/// Returns the duration of a check of these files, and the number of queues.
fn time(files: &[(&str, &str)]) -> (Duration, usize) {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    let (outcome, took) = check(directory.path());
    (took, outcome.graph.queues().len())
}

#[test]
fn instance_time_grows_linearly() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let module = r#"
variable "name" {}
resource "aws_sqs_queue" "dlq" { name = "${var.name}-dlq" }
resource "aws_sqs_queue" "q" {
  name           = var.name
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dlq.arn, maxReceiveCount = 5 })
}
resource "aws_lambda_function" "f" {
  function_name = var.name
  dead_letter_config { target_arn = aws_sqs_queue.dlq.arn }
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}
output "arn" { value = aws_sqs_queue.q.arn }
"#;
    let calls = |count: usize| {
        let main = format!(
            "module \"q\" {{\n  source = \"./m\"\n  for_each = toset([for n in range({count}) : \"n${{n}}\"])\n  name = each.key\n}}\n\
             resource \"aws_sqs_queue\" \"after\" {{\n  for_each = module.q\n  name = \"after-${{each.key}}\"\n}}\n"
        );
        time(&[("main.tf", &main), ("m/main.tf", module)])
    };
    let keys = |count: usize| {
        let main = format!(
            "locals {{\n  names = toset([for n in setproduct(range({}), range(100)) : join(\"-\", n)])\n}}\n\
             resource \"aws_sqs_queue\" \"dlq\" {{\n  for_each = local.names\n  name = \"${{each.key}}-dlq\"\n}}\n\
             resource \"aws_sqs_queue\" \"q\" {{\n  for_each = local.names\n  name = each.key\n}}\n\
             resource \"aws_sqs_queue_redrive_policy\" \"p\" {{\n  for_each = local.names\n  queue_url = aws_sqs_queue.q[each.key].url\n  \
             redrive_policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.dlq[each.key].arn, maxReceiveCount = 5 }})\n}}\n",
            count / 100
        );
        time(&[("main.tf", &main)])
    };
    let generated = |files: Vec<many::File>| {
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
        time(&files)
    };
    let sources = |count: usize| generated(many::sources(count));
    // These findings merge into one, and all functions compete with each other.
    let readers = |count: usize| generated(many::readers(count));
    // Each queue is missing a dead-letter queue, and gets one as a fix.
    let fixes = |count: usize| {
        let service = |at: usize| {
            format!(
                "  \"Q{at}\": {{\"Type\": \"AWS::SQS::Queue\", \"Properties\": {{\"VisibilityTimeout\": 30}}}},\n  \
                 \"F{at}\": {{\"Type\": \"AWS::Lambda::Function\", \"Properties\": {{\"Timeout\": 60}}}},\n  \
                 \"M{at}\": {{\"Type\": \"AWS::Lambda::EventSourceMapping\", \"Properties\": {{\"EventSourceArn\": \
                 {{\"Fn::GetAtt\": [\"Q{at}\", \"Arn\"]}}, \"FunctionName\": {{\"Ref\": \"F{at}\"}}}}}}"
            )
        };
        let services: Vec<String> = (0..count).map(service).collect();
        let text = format!("{{\"Resources\": {{\n{}\n}}}}\n", services.join(",\n"));
        let directory = TemporaryDirectory::with_files([("t.json", &*text)]);
        let (outcome, took) = check(directory.path());
        assert!(
            outcome
                .findings
                .iter()
                .all(|found| found.remedy.is_some() == found.fix.is_some())
        );
        (took, outcome.graph.queues().len())
    };
    for (few, many, queues) in [
        (fixes(500), fixes(2000), 2000),
        (calls(250), calls(1000), 3000),
        (keys(2500), keys(10_000), 20_000),
        (sources(500), sources(2000), 2001),
        (readers(250), readers(1000), 1),
    ] {
        assert_eq!(many.1, queues);
        assert!(many.0 < few.0 * LINEAR, "{few:?} {many:?}");
    }
}

/// Returns the processor time that this process has used, which other work on the machine hardly changes; `None` if the
/// system does not report it.
fn processors() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit(')').next()?.split(' ').skip(12);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks()? + ticks()?)))
}

/// Maximum factor for four times the size: n^1.15, and a fifth more for a busy machine.
const NEARLY_LINEAR: f64 = 6.0;

/// Name of a shape of input, the files of that shape with a number of resources, and the smaller number.
type Curve = (&'static str, fn(usize) -> Vec<many::File>, usize);

const CURVES: [Curve; 17] = [
    ("statements of a queue's policy", curves::topics, 200),
    ("statements of a role's policy", curves::polled, 100),
    ("policies of one queue", curves::policies, 100),
    ("alarms", curves::alarms, 1000),
    ("subscriptions", curves::subscriptions, 500),
    ("filters of one queue's mappings", curves::filters, 200),
    ("pipes", curves::pipes, 200),
    ("rules of events", curves::rules, 200),
    ("unknown names", curves::unknown_names, 200),
    ("declared consumers", curves::consumers, 500),
    ("declared consumers by the end of a name", curves::consumers_by_end, 250),
    ("similar properties", curves::misspellings, 2_000),
    ("handlers of one file", curves::handlers, 50),
    ("functions of one imported file", curves::imported, 10),
    ("functions of a service", curves::functions, 200),
    ("parameters of other roots", curves::parameters, 100),
    ("fixes of templates that may be parts of others", curves::fragments, 100),
];

#[test]
fn pairs_take_nearly_linear_time() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let cost = |files: Vec<many::File>| {
        let before = processors()?;
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
        time(&files);
        processors()?.checked_sub(before)
    };
    // Values that are initialized once do not count.
    cost(curves::topics(10));
    for (what, files, count) in CURVES {
        let mut measured = Vec::new();
        // Other work on the machine can disturb a measurement, but hardly three of them.
        let is_nearly_linear = (0..3).any(|_| {
            let (Some(few), Some(many)) = (cost(files(count)), cost(files(4 * count))) else {
                return true;
            };
            measured.push((few, many));
            many < few.mul_f64(NEARLY_LINEAR) + Duration::from_millis(50)
        });
        assert!(is_nearly_linear, "{what}: {measured:?}");
    }
}

#[test]
fn environments_of_one_module_take_no_time_for_other_units() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let with = |environments: usize| {
        let queues =
            (0..50).map(|at| format!("  Q{at}: {{Type: AWS::SQS::Queue, Properties: {{VisibilityTimeout: 0}}}}\n"));
        let template = format!("Resources:\n{}", queues.collect::<String>());
        let mut files = vec![(
            "tf/main.tf".to_owned(),
            "variable \"t\" { default = 1 }\nresource \"aws_sqs_queue\" \"q\" { visibility_timeout_seconds = var.t }\n"
                .to_owned(),
        )];
        files.extend((0..environments).map(|at| (format!("tf/e{at}.tfvars"), format!("t = {at}\n"))));
        files.extend((0..40).map(|at| (format!("t{at}/template.yaml"), template.clone())));
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
        time(&files).0
    };
    let (none, many) = (with(0), with(30));
    // To judge all units in each environment took more than ten times as long as to judge them once.
    assert!(many < 2 * none + Duration::from_millis(200), "{none:?} {many:?}");
}

#[test]
fn environments_of_many_modules_take_as_long_together_as_apart() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    for environments in [12, 13, 40] {
        let files = services::services(20, environments);
        let directory = TemporaryDirectory::with_files(files.iter().map(|(name, text)| (&**name, &**text)));
        let (together, took) = check(directory.path());
        let alone = (0..20).map(|at| check(&directory.path().join(format!("svc{at}"))));
        let (alone, apart): (Vec<Outcome>, Vec<Duration>) = alone.unzip();
        let number = |outcome: &Outcome| outcome.findings.len();
        assert_eq!(number(&together), alone.iter().map(number).sum::<usize>());
        assert!(number(&together) >= 20, "{}", number(&together));
        let apart: Duration = apart.into_iter().sum();
        assert!(took < apart * 3 / 2 + Duration::from_millis(200), "{took:?} {apart:?}");
    }
}

#[test]
fn nested_variables_of_services_take_linear_time() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let service = |variables: &str| {
        let text = format!(
            "service: a\nprovider: {{name: aws}}\ncustom: {{a: \"{variables}\"}}\nfunctions:\n  f:\n    handler: a.b\n    events: \
             [{{sqs: '${{self:custom.a}}'}}]\nresources: {{Resources: {{Q: {{Type: AWS::SQS::Queue, Properties: {{QueueName: \
             !Sub \"{variables}\"}}}}}}}}\n"
        );
        let directory = TemporaryDirectory::with_files([("serverless.yml", &*text)]);
        check(directory.path()).1
    };
    for (open, close) in [
        ("${self:a, ", "}"),
        ("${self:a, ", ""),
        ("${x ", "}"),
        ("${x ", ""),
        ("${self:a.${", ""),
    ] {
        let nested = |count: usize| service(&format!("{}{}", open.repeat(count), close.repeat(count)));
        let (few, many) = (nested(10_000), nested(40_000));
        let bound = LINEAR * few + Duration::from_millis(500);
        assert!(many < bound, "{open}{close}: {few:?} {many:?}");
    }
}

/// Returns a queue, `functions` functions and their mappings. Their numbers depend on `parameters` unrelated
/// parameters, in a different order for each function.
fn nested_conditions(parameters: usize, functions: usize) -> String {
    let each = |line: &dyn Fn(usize) -> String| (0..parameters).map(line).collect::<String>();
    let chain = |first: usize, least: usize| {
        let open = each(&|at| format!("!If [C{}, {}, ", (first + at) % parameters, least + 2 * at));
        format!("{open}{}{}", least + 2 * parameters, "]".repeat(parameters))
    };
    let mut text = format!(
        "Parameters:\n{}Conditions:\n{}Resources:\n  Q: {{Type: AWS::SQS::Queue, Properties: {{VisibilityTimeout: {}}}}}\n",
        each(&|at| format!("  P{at}: {{Type: String}}\n")),
        each(&|at| format!("  C{at}: !Equals [!Ref P{at}, prod]\n")),
        chain(0, 30)
    );
    for at in 0..functions {
        text.push_str(&format!(
            "  F{at}: {{Type: AWS::Lambda::Function, Properties: {{Timeout: {}}}}}\n  \
             M{at}: {{Type: AWS::Lambda::EventSourceMapping, Properties: {{EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F{at}}}}}\n",
            chain(at + 1, 10)
        ));
    }
    text
}

#[test]
fn unrelated_conditions_are_bounded_and_counted() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    for (parameters, functions) in [(10, 10), (20, 20)] {
        let text = nested_conditions(parameters, functions);
        let directory = TemporaryDirectory::with_files([("t.yaml", &*text)]);
        let (outcome, took) = check(directory.path());
        // A debug build takes three seconds for twenty on an idle machine; without a bound it would be minutes.
        assert!(took < Duration::from_secs(30), "{took:?} for {parameters}");
        let rules: Vec<&str> = outcome.findings.iter().map(|found| &*found.rule).collect();
        assert!(rules.contains(&"visibility-timeout-too-short"), "{rules:?}");
        let is_told = |reason: &str| reason == "its conditions are too complex to tell apart";
        assert!(outcome.not_evaluated.iter().any(|note| is_told(&note.reason)));
    }
}

/// Checks `files` under the policies `config`, and returns the processor time and the number of unjudged resources.
fn judge(files: &[(String, String)], config: &str) -> (Duration, usize) {
    let config = [("sqslint.toml".to_owned(), config.to_owned())];
    let all = files.iter().chain(&config).map(|(name, text)| (&**name, &**text));
    let directory = TemporaryDirectory::with_files(all.chain([(".git/HEAD", "")]));
    let start = processors().unwrap_or_default();
    let outcome = sqslint::check(&Options {
        paths: vec![directory.path().to_owned()],
        selection: sqslint::selection::Selection::new(vec!["policy".to_owned()], Vec::new(), false),
        ..Options::default()
    });
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let took = processors().unwrap_or_default().saturating_sub(start);
    (took, outcome.not_evaluated.len())
}

#[test]
fn cost_of_policies_grows_linearly() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    // 4^1.15
    let is_linear = |few: Duration, many: Duration| many < few.mul_f64(4.93) + Duration::from_millis(300);
    let queues = |count: usize| {
        let queue = |at: usize| {
            format!(
                "resource \"aws_sqs_queue\" \"q{at}\" {{\n  redrive_policy = jsonencode({{ deadLetterTargetArn = \
                 aws_sqs_queue.failed.arn, maxReceiveCount = 5 }})\n}}\n"
            )
        };
        let text = (0..count).map(queue).collect::<String>() + "resource \"aws_sqs_queue\" \"failed\" {}\n";
        vec![("main.tf".to_owned(), text)]
    };
    // Each queue looks at all that share its dead-letter queue.
    let heavy = |count: usize| {
        let policy = |at: usize| {
            format!(
                "[[policy]]\nid = \"p{at}\"\nfor = \"queue\"\nrequire = \'\'\'queue.dead_letter_queue.sources.all(s, \
                 s.retention >= duration(\"{at}s\") && s.sources.all(t, t.fifo))\'\'\'\nmessage = \"m\"\n"
            )
        };
        (0..count).map(policy).collect::<String>()
    };
    // The policies share the steps of a run.
    let (few, _) = judge(&queues(100), &heavy(20));
    let (many, open) = judge(&queues(100), &heavy(80));
    assert!(open > 0 && is_linear(few, many), "{few:?} {many:?}");
    let (few, _) = judge(&queues(100), &heavy(10));
    let (many, _) = judge(&queues(400), &heavy(10));
    assert!(is_linear(few, many), "{few:?} {many:?}");
    // Each file contains a policy.
    let files = |count: usize| {
        let file = |at: usize| {
            let text =
                format!("[[policy]]\nid = \"p{at}\"\nfor = \"queue\"\nrequire = \"!queue.fifo\"\nmessage = \"m\"\n");
            (format!("policies/{at}.toml"), text)
        };
        (0..count).map(file).chain(queues(1)).collect::<Vec<_>>()
    };
    let (few, _) = judge(&files(250), "policies = [\"policies/*.toml\"]\n");
    let (many, _) = judge(&files(1_000), "policies = [\"policies/*.toml\"]\n");
    assert!(is_linear(few, many), "{few:?} {many:?}");
}
