//! Checks what is concluded from the code of workers: which queue it polls, for how long it hides a message, how it renews
//! that, and how long the work may take.

use sqslint::Options;
use sqslint::testing::TemporaryDirectory;

/// A task on ECS with the URL of a queue whose attributes are `<queue>`.
const STACK: &str = r#"
resource "aws_sqs_queue" "orders" {
  name = "orders"
  <queue>
}
variable "open" {}
resource "aws_iam_role" "worker" {
  name               = "worker"
  assume_role_policy = jsonencode({
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ecs-tasks.amazonaws.com" } }]
  })
}
resource "aws_iam_role_policy" "worker" {
  role   = aws_iam_role.worker.id
  policy = jsonencode({
    Statement = [{ Effect = "Allow", Action = ["sqs:ReceiveMessage", "sqs:DeleteMessage"], Resource = aws_sqs_queue.orders.arn }]
  })
}
resource "aws_ecs_task_definition" "worker" {
  family                = "worker"
  task_role_arn         = aws_iam_role.worker.arn
  container_definitions = jsonencode([{ name = "worker", image = "worker", environment = [{ name = "QUEUE_URL", value = aws_sqs_queue.orders.url }] }])
}
"#;

/// Returns the findings about times, as `rule severity`, sorted.
fn findings(files: &[(&str, &str)]) -> Vec<String> {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    let outcome = sqslint::check(&Options {
        paths: vec![directory.path().to_owned()],
        ..Options::default()
    });
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let of_times = |rule: &str| rule.starts_with("consumer-") || rule == "worker-time-undeclared";
    let found = outcome.findings.iter().filter(|finding| of_times(&finding.rule));
    let mut all: Vec<String> = found
        .map(|finding| format!("{} {}", finding.rule, finding.severity))
        .collect();
    all.sort();
    all
}

fn with_code(queue: &str, file: &str, code: &str) -> Vec<String> {
    findings(&[("infra/main.tf", &STACK.replace("<queue>", queue)), (file, code)])
}

/// Returns all findings, as `rule severity`.
fn all_findings(queue: &str, file: &str, code: &str) -> Vec<String> {
    let stack = STACK.replace("<queue>", queue);
    let directory = TemporaryDirectory::with_files([("infra/main.tf", &*stack), (file, code)]);
    let outcome = sqslint::check(&Options {
        paths: vec![directory.path().to_owned()],
        ..Options::default()
    });
    let found = outcome.findings.iter();
    found
        .map(|finding| format!("{} {}", finding.rule, finding.severity))
        .collect()
}

const TOO_SHORT: &str = "consumer-visibility-timeout-too-short warning";
const TOO_SLOW: &str = "consumer-heartbeat-too-slow warning";
const SLOW: &str = "consumer-heartbeat-too-slow info";
const UNDECLARED: &str = "worker-time-undeclared warning";
const UNHURRIED: &str = "worker-time-undeclared info";
const NOTHING: &[&str] = &[];

#[test]
fn options_of_sqs_consumer_are_compared() {
    let code = |options: &str| {
        format!(
            "import {{ Consumer }} from 'sqs-consumer';\n\
             const MINUTE = 60 * 1000;\n\
             const app = Consumer.create({{\n  {options}\n  handleMessage: async (message) => work(message),\n}});\n\
             app.start();\n"
        )
    };
    let url = "queueUrl: process.env.QUEUE_URL,";
    for (queue, options, expected) in [
        ("", "handleMessageTimeout: 45000,", &[TOO_SHORT] as &[&str]),
        ("", "handleMessageTimeout: 30001,", &[TOO_SHORT]),
        ("", "handleMessageTimeout: 30000,", NOTHING),
        ("", "handleMessageTimeout: MINUTE,", &[TOO_SHORT]),
        (
            "visibility_timeout_seconds = 60",
            "handleMessageTimeout: MINUTE,",
            NOTHING,
        ),
        (
            "visibility_timeout_seconds = 60",
            "handleMessageTimeout: 2 * MINUTE,",
            &[TOO_SHORT],
        ),
        // The receive sets a timeout of its own.
        ("", "handleMessageTimeout: 45000, visibilityTimeout: 60,", NOTHING),
        ("", "handleMessageTimeout: 90000, visibilityTimeout: 60,", &[TOO_SHORT]),
        (
            "visibility_timeout_seconds = 600",
            "handleMessageTimeout: 90000, visibilityTimeout: 60,",
            &[TOO_SHORT],
        ),
        ("", "visibilityTimeout: 60,", &[UNDECLARED]),
        ("", "visibilityTimeout: 61,", &[UNHURRIED]),
        (
            "visibility_timeout_seconds = 600",
            "visibilityTimeout: 60,",
            &[UNDECLARED],
        ),
        // A heartbeat.
        (
            "",
            "handleMessageTimeout: 600000, visibilityTimeout: 60, heartbeatInterval: 30,",
            NOTHING,
        ),
        ("", "visibilityTimeout: 60, heartbeatInterval: 31,", &[SLOW]),
        ("", "visibilityTimeout: 60, heartbeatInterval: 60,", &[TOO_SLOW]),
        // The code does not determine these.
        ("", "", &[UNDECLARED]),
        ("visibility_timeout_seconds = 60", "", &[UNDECLARED]),
        ("visibility_timeout_seconds = 61", "", &[UNHURRIED]),
        ("visibility_timeout_seconds = 0", "", NOTHING),
        ("visibility_timeout_seconds = var.open", "", NOTHING),
        ("", "handleMessageTimeout: Number(process.env.LIMIT),", &[UNDECLARED]),
        ("", "handleMessageTimeout: limit,", &[UNDECLARED]),
        // The options that are not known may set a visibility timeout.
        ("", "handleMessageTimeout: 45000, ...defaults,", NOTHING),
        ("", "handleMessageTimeout: -1,", &[UNDECLARED]),
        (
            "visibility_timeout_seconds = var.open",
            "handleMessageTimeout: 45000,",
            NOTHING,
        ),
    ] {
        let code = code(&format!("{url} {options}"));
        assert_eq!(
            with_code(queue, "worker/src/index.ts", &code),
            expected,
            "{queue} {options}"
        );
    }
}

#[test]
fn queue_of_a_program_must_be_known() {
    let code = |url: &str, more: &str| {
        format!(
            "const {{ Consumer }} = require('sqs-consumer');\n{more}\n\
             Consumer.create({{ queueUrl: {url}, handleMessageTimeout: 45000, handleMessage }}).start();\n"
        )
    };
    for (url, more, expected) in [
        ("process.env.QUEUE_URL", "", TOO_SHORT),
        ("process.env['QUEUE_URL']", "", TOO_SHORT),
        ("process.env.QUEUE_URL || ''", "", TOO_SHORT),
        ("QUEUE_URL", "const { QUEUE_URL } = process.env;", TOO_SHORT),
        ("url", "const url = process.env.QUEUE_URL;", TOO_SHORT),
        (
            "options.url",
            "const options = { url: process.env.QUEUE_URL };",
            TOO_SHORT,
        ),
        ("config.QUEUE_URL", "const config = require('./config');", TOO_SHORT),
        ("config.get('QUEUE_URL')", "", TOO_SHORT),
        (
            "'https://sqs.eu-west-1.amazonaws.com/111122223333/orders'",
            "",
            TOO_SHORT,
        ),
        ("'orders'", "", TOO_SHORT),
        ("process.env.OTHER_URL", "", UNDECLARED),
        (
            "'https://sqs.eu-west-1.amazonaws.com/111122223333/invoices'",
            "",
            UNDECLARED,
        ),
        ("url", "let url = process.env.QUEUE_URL; url = other();", UNDECLARED),
        (
            "url",
            "const url = process.env.QUEUE_URL; function f(url) {}",
            UNDECLARED,
        ),
        ("urlOf('orders')", "", UNDECLARED),
    ] {
        assert_eq!(
            with_code("", "worker/index.js", &code(url, more)),
            [expected],
            "{url} {more}"
        );
    }
}

#[test]
fn calls_of_sdks_are_compared() {
    let receive = "messages = sqs.receive_message(QueueUrl=os.environ[\"QUEUE_URL\"], VisibilityTimeout=60)";
    let beat = |pause: &str, seconds: &str| {
        format!(
            "def beat(handle, stop):\n    while not stop.wait({pause}):\n        sqs.change_message_visibility(\
             QueueUrl=QUEUE_URL, ReceiptHandle=handle, VisibilityTimeout={seconds})\n"
        )
    };
    for (code, expected) in [
        (receive.to_owned(), &[UNDECLARED] as &[&str]),
        (
            "messages = sqs.receive_message(QueueUrl=os.environ[\"QUEUE_URL\"])".to_owned(),
            &[UNDECLARED],
        ),
        // The default of 30 s ends before the first renewal.
        (
            format!(
                "{}sqs.receive_message(QueueUrl=os.getenv(\"QUEUE_URL\"))",
                beat("45", "60")
            ),
            &[TOO_SLOW],
        ),
        (
            format!(
                "{}sqs.receive_message(QueueUrl=os.getenv(\"QUEUE_URL\"))",
                beat("15", "60")
            ),
            NOTHING,
        ),
        (format!("{}{receive}", beat("60", "600")), &[TOO_SLOW]),
        (format!("{}{receive}", beat("30", "600")), NOTHING),
        (format!("{}{receive}", beat("30", "30")), &[TOO_SLOW]),
        (format!("{}{receive}", beat("pause", "30")), NOTHING),
        // Setting 0 returns the message.
        (
            format!("{receive}\nsqs.change_message_visibility(QueueUrl=u, ReceiptHandle=h, VisibilityTimeout=0)"),
            NOTHING,
        ),
        // A retry that is delayed is not a heartbeat.
        (
            "while True:\n    sqs.receive_message(QueueUrl=os.environ[\"QUEUE_URL\"])\n    \
             sqs.change_message_visibility(QueueUrl=u, ReceiptHandle=h, VisibilityTimeout=20)\n    time.sleep(40)\n"
                .to_owned(),
            NOTHING,
        ),
        (
            "queue = boto3.resource(\"sqs\").get_queue_by_name(QueueName=\"orders\")\n\
             queue.receive_messages(VisibilityTimeout=90)\n"
                .to_owned(),
            &[UNHURRIED],
        ),
        ("sqs.receive_message(**options)".to_owned(), &[UNDECLARED]),
    ] {
        let code = format!("import boto3, os, time\nsqs = boto3.client(\"sqs\")\n{code}\n");
        assert_eq!(with_code("", "worker/main.py", &code), expected, "{code}");
    }
    let script = |pause: &str| {
        format!(
            "const timer = setInterval(() => extend(message), {pause});\n\
             async function extend(message) {{\n  await sqs.send(new ChangeMessageVisibilityCommand({{ QueueUrl: url, \
             ReceiptHandle: message.ReceiptHandle, VisibilityTimeout: 60 }}));\n}}\n\
             await sqs.send(new ReceiveMessageCommand({{ QueueUrl: process.env.QUEUE_URL }}));\n"
        )
    };
    for (pause, expected) in [
        ("45000", &[TOO_SLOW] as &[&str]),
        ("15_000", NOTHING),
        ("20 * 1000", &[SLOW]),
        ("pause", NOTHING),
    ] {
        assert_eq!(with_code("", "worker/main.mjs", &script(pause)), expected, "{pause}");
    }
}

#[test]
fn time_limit_of_celery_applies_to_late_acknowledgements() {
    let code = |settings: &str| {
        format!(
            "import os\nfrom celery import Celery\napp = Celery(\"orders\", broker=\"sqs://\")\n{settings}\n\
             app.conf.broker_transport_options = {{\n    \"predefined_queues\": {{\"orders\": {{\"url\": \
             os.environ[\"QUEUE_URL\"]}}}},\n    \"visibility_timeout\": 3600,\n}}\n"
        )
    };
    for (settings, expected) in [
        (
            "app.conf.update(task_time_limit=45, task_acks_late=True)",
            &[TOO_SHORT] as &[&str],
        ),
        (
            "app.conf.task_time_limit = 45\napp.conf.task_acks_late = True",
            &[TOO_SHORT],
        ),
        (
            "CELERY_TASK_TIME_LIMIT = 45\nCELERY_TASK_ACKS_LATE = True",
            &[TOO_SHORT],
        ),
        ("app.conf.task_acks_late = True", &[UNDECLARED]),
        // A message is deleted before the work begins, or the settings are not known.
        ("app.conf.task_time_limit = 45", NOTHING),
        ("app.conf.update(task_time_limit=45, task_acks_late=False)", NOTHING),
        ("app.conf.update(task_time_limit=limit(), task_acks_late=True)", NOTHING),
        (
            "app.conf.update(task_time_limit=45, task_acks_late=True)\n@app.task(time_limit=5)\ndef ship():\n    pass",
            NOTHING,
        ),
    ] {
        assert_eq!(with_code("", "app/tasks.py", &code(settings)), expected, "{settings}");
    }
    let short = "app.conf.update(task_time_limit=25, task_acks_late=True)";
    assert_eq!(with_code("", "app/tasks.py", &code(short)), NOTHING);
}

#[test]
fn date_of_a_task_is_compared_as_its_distance() {
    for (eta, expected) in [
        ("datetime.now(utc) + timedelta(hours=2)", true),
        ("datetime.utcnow() + timedelta(days=3)", true),
        ("datetime.now() + timedelta(seconds=30)", false),
        ("datetime.now() + timedelta(seconds=31)", true),
        ("datetime.now() + timedelta(minutes=delay)", false),
        ("datetime.now() + timedelta(1)", false),
        ("tomorrow", false),
        ("order.due + timedelta(hours=2)", false),
    ] {
        let code = format!(
            "from celery import Celery\napp = Celery(\"orders\", broker=\"sqs://\")\napp.conf.task_acks_late = True\n\
             app.conf.broker_transport_options = {{\"predefined_queues\": {{\"orders\": {{\"url\": \
             os.environ[\"QUEUE_URL\"]}}}}}}\nship.apply_async((1,), eta={eta})\n"
        );
        let found = all_findings("", "app/tasks.py", &code);
        let is_found = found
            .iter()
            .any(|one| one.starts_with("countdown-exceeds-visibility-timeout"));
        assert_eq!(is_found, expected, "{eta}: {found:?}");
    }
}

#[test]
fn time_limits_of_calls_are_compared() {
    let code = |call: &str| {
        format!(
            "import boto3, os, requests\nsqs = boto3.client(\"sqs\")\n\ndef work(m):\n    {call}\n\nwhile True:\n    \
             got = sqs.receive_message(QueueUrl=os.environ[\"QUEUE_URL\"])\n    if not got:\n        time.sleep(90)\n    \
             for m in got[\"Messages\"]:\n        work(m)\n        sqs.delete_message(QueueUrl=os.environ[\"QUEUE_URL\"], \
             ReceiptHandle=m[\"ReceiptHandle\"])\n    report(m)\n\ndef report(m):\n    requests.get(u, timeout=90)\n"
        )
    };
    for (call, expected) in [
        ("requests.post(u, timeout=31)", &[TOO_SHORT] as &[&str]),
        ("requests.post(u, timeout=30)", &[UNDECLARED]),
        ("requests.post(u, timeout=limit)", &[UNDECLARED]),
        ("requests.post(u)", &[UNDECLARED]),
    ] {
        assert_eq!(with_code("", "worker/main.py", &code(call)), expected, "{call}");
    }
    for (options, expected) in [
        ("", &[TOO_SHORT] as &[&str]),
        ("visibilityTimeout: 60,", &[UNDECLARED]),
        // The library stops waiting before the call does.
        ("handleMessageTimeout: 20000,", NOTHING),
    ] {
        let code = format!(
            "Consumer.create({{ queueUrl: process.env.QUEUE_URL, {options} handleMessage: async (m) => {{ \
             await axios.post(u, m.Body, {{ timeout: 45000 }}); }} }}).start(); // sqs-consumer\n"
        );
        assert_eq!(with_code("", "worker/index.js", &code), expected, "{options}");
    }
}

#[test]
fn declaration_wins_over_code() {
    let code = "const { Consumer } = require('sqs-consumer');\n\
                Consumer.create({ queueUrl: process.env.QUEUE_URL, handleMessageTimeout: 45000, handleMessage }).start();\n";
    let declared = |max: &str| {
        let settings = format!("[[consumer]]\nqueue = \"orders\"\nprocessing = {{ max = \"{max}\" }}\n");
        findings(&[
            ("main.tf", &STACK.replace("<queue>", "")),
            ("index.js", code),
            ("sqslint.toml", &settings),
        ])
    };
    assert_eq!(declared("10s"), NOTHING);
    assert_eq!(declared("40s"), [TOO_SHORT]);
}

#[test]
fn options_that_change_later_state_nothing() {
    for (change, expected) in [
        ("", &[TOO_SHORT] as &[&str]),
        ("options.visibilityTimeout = 60;", NOTHING),
        ("options['visibilityTimeout'] = 60;", NOTHING),
        ("options.batchSize = 10;", &[TOO_SHORT]),
        ("Object.assign(options, overrides);", NOTHING),
        ("app.updateOption('visibilityTimeout', 60);", NOTHING),
    ] {
        let code = format!(
            "import {{ Consumer }} from 'sqs-consumer';\nconst options = {{ queueUrl: process.env.QUEUE_URL, \
             handleMessageTimeout: 45000, handleMessage }};\n{change}\nconst app = Consumer.create(options);\napp.start();\n"
        );
        assert_eq!(with_code("", "w.js", &code), expected, "{change}");
    }
}

#[test]
fn programs_that_differ_state_nothing() {
    let code = |limit: u32| {
        format!(
            "const {{ Consumer }} = require('sqs-consumer');\nConsumer.create({{ queueUrl: process.env.QUEUE_URL, \
             handleMessageTimeout: {limit}, handleMessage }}).start();\n"
        )
    };
    let two = |first: u32, second: u32| {
        findings(&[
            ("main.tf", &STACK.replace("<queue>", "")),
            ("a/index.js", &code(first)),
            ("b/index.js", &code(second)),
        ])
    };
    assert_eq!(two(45_000, 45_000), [TOO_SHORT]);
    assert_eq!(two(45_000, 46_000), [UNDECLARED]);
}

#[test]
fn variable_of_several_queues_is_resolved_by_the_folder() {
    let code = "const { Consumer } = require('sqs-consumer');\n\
                Consumer.create({ queueUrl: process.env.QUEUE_URL, handleMessageTimeout: 45000, handleMessage }).start();\n";
    let orders = STACK.replace("<queue>", "");
    let bills = orders.replace("orders", "bills").replace("worker", "biller");
    let apart = findings(&[
        ("orders/infra/main.tf", &orders),
        ("orders/src/index.js", code),
        ("bills/infra/main.tf", &bills),
    ]);
    assert_eq!(apart, [TOO_SHORT, UNDECLARED]);
    let together = findings(&[
        ("infra/orders.tf", &orders),
        ("infra/bills.tf", &bills),
        ("src/index.js", code),
    ]);
    assert_eq!(together, [UNDECLARED, UNDECLARED]);
}

#[test]
fn renewal_elsewhere_in_the_repository_allows_for_any_time() {
    let code = "const { Consumer } = require('sqs-consumer');\n\
                Consumer.create({ queueUrl: process.env.QUEUE_URL, handleMessageTimeout: 45000, handleMessage }).start();\n";
    let renews = "export const extend = (params) => sqs.changeMessageVisibility(params).promise();\n";
    let found = findings(&[
        ("main.tf", &STACK.replace("<queue>", "")),
        ("index.js", code),
        ("extend.js", renews),
    ]);
    assert_eq!(found, NOTHING);
}

/// Celery's application, which acknowledges a message after the work.
const CELERY: &str = r#"
from celery import Celery
app = Celery("orders", task_acks_late=True, broker_transport_options={
    "predefined_queues": {"celery": {"url": "https://sqs.eu-west-1.amazonaws.com/111122223333/orders"}},
})
"#;

#[test]
fn command_of_a_container_states_times() {
    for (container, expected) in [
        (
            r#"command = ["php", "artisan", "queue:work", "sqs", "--timeout=45"]"#,
            TOO_SHORT,
        ),
        (
            r#"command = ["php", "artisan", "queue:work", "sqs", "--timeout", "31"]"#,
            TOO_SHORT,
        ),
        (
            r#"entryPoint = ["sh", "-c"], command = ["cd /app && php artisan queue:work sqs --timeout='45'"]"#,
            TOO_SHORT,
        ),
        (
            r#"command = ["php", "artisan", "queue:work", "--queue=${aws_sqs_queue.orders.name}", "--timeout=45"]"#,
            TOO_SHORT,
        ),
        (
            r#"command = ["php", "artisan", "queue:listen", "--timeout=45"], environment = [{ name = "QUEUE_CONNECTION", value = "sqs" }]"#,
            TOO_SHORT,
        ),
        (
            r#"command = ["celery", "-A", "app", "worker", "--time-limit=45"]"#,
            TOO_SHORT,
        ),
        (
            r#"command = ["celery", "-A", "app", "worker", "-Q", "orders", "--time-limit", "45"]"#,
            TOO_SHORT,
        ),
        (
            r#"command = ["php", "artisan", "queue:work", "sqs", "--timeout=30"]"#,
            "",
        ),
        (r#"command = ["celery", "-A", "app", "worker", "--time-limit=30"]"#, ""),
        // These do not determine a time, or that the worker polls this queue.
        (r#"command = ["php", "artisan", "queue:work", "sqs"]"#, UNDECLARED),
        (
            r#"command = ["php", "artisan", "queue:work", "sqs", "--timeout=0"]"#,
            UNDECLARED,
        ),
        (
            r#"command = ["php", "artisan", "queue:work", "sqs", "--timeout=$LIMIT"]"#,
            UNDECLARED,
        ),
        (
            r#"command = ["php", "artisan", "queue:work", "sqs", "--timeout=${var.open}"]"#,
            UNDECLARED,
        ),
        (
            r#"command = ["php", "artisan", "queue:work", "redis", "--timeout=45"]"#,
            UNDECLARED,
        ),
        (
            r#"command = ["php", "artisan", "queue:work", "--timeout=45"]"#,
            UNDECLARED,
        ),
        (
            r#"command = ["php", "artisan", "queue:work", "sqs", "--queue=bills", "--timeout=45"]"#,
            UNDECLARED,
        ),
        (
            r#"command = ["sh", "-c", "php artisan queue:work sqs --timeout=45 & php artisan queue:work redis"]"#,
            UNDECLARED,
        ),
        (
            r#"command = ["sh", "-c", "php artisan queue:work sqs --timeout=45 (wait)"]"#,
            UNDECLARED,
        ),
        // The connection follows the options, and takes precedence over the environment.
        (
            r#"environment = [{ name = "QUEUE_CONNECTION", value = "sqs" }], command = ["php", "artisan", "queue:work", "--tries=3", "redis", "--timeout=45"]"#,
            UNDECLARED,
        ),
        (
            r#"environment = [{ name = "QUEUE_CONNECTION", value = "sqs" }], command = ["php", "artisan", "queue:work", "-v", "redis", "--timeout=45"]"#,
            UNDECLARED,
        ),
        (
            r#"command = ["php", "artisan", "queue:work", "--sleep", "3", "sqs", "--timeout=45"]"#,
            TOO_SHORT,
        ),
        (r#"command = ["celery", "-A", "app", "beat"]"#, UNDECLARED),
        // The timeout of a shutdown.
        (r#"command = ["bundle", "exec", "shoryuken", "-t", "45"]"#, UNDECLARED),
    ] {
        let image = format!(r#"image = "worker", {container} }}])"#);
        let stack = STACK.replace("<queue>", "").replace(
            r#"image = "worker", environment = [{ name = "QUEUE_URL", value = aws_sqs_queue.orders.url }] }])"#,
            &image,
        );
        assert!(stack.contains(container));
        let code = if container.contains("celery") { CELERY } else { "" };
        let found = findings(&[("main.tf", &stack), ("app.py", code)]);
        assert_eq!(found.join(" "), expected, "{container}");
    }
}

#[test]
fn libraries_that_renew_on_their_own_are_not_undeclared() {
    let with = |file: &str, code: &str| with_code("visibility_timeout_seconds = 30", file, code);
    for (file, code) in [
        (
            "W.cs",
            "using AWS.Messaging;\nservices.AddAWSMessageBus(b => b.AddSQSPoller(url));\n",
        ),
        (
            "W.cs",
            "using MassTransit;\nx.UsingAmazonSqs((context, cfg) => cfg.Host(\"eu-west-1\"));\n",
        ),
        (
            "w.rb",
            "class W\n  include Shoryuken::Worker\n  shoryuken_options queue: 'orders', auto_visibility_timeout: true\nend\n",
        ),
        (
            "W.java",
            "@SqsListener(\"orders\")\nvoid on(Order order, QueueMessageVisibility visibility) {}\n",
        ),
    ] {
        assert_eq!(with(file, code), NOTHING, "{code}");
    }
    for (file, code) in [
        (
            "w.rb",
            "class W\n  include Shoryuken::Worker\n  shoryuken_options queue: 'orders', auto_delete: true\nend\n",
        ),
        ("W.java", "@SqsListener(\"orders\")\nvoid on(Order order) {}\n"),
    ] {
        assert_eq!(with(file, code), [UNDECLARED], "{code}");
    }
}

#[test]
fn receives_in_other_languages_state_timeouts() {
    let listener = |arguments: &str| format!("@SqsListener({arguments})\nvoid on(Order order) {{}}\n");
    let go = |settings: &str| {
        format!(
            "url := os.Getenv(\"QUEUE_URL\")\nfor {{\n\tout, err := c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{{{settings}}})\n\t\
             c.DeleteMessage(ctx, nil)\n}}\n"
        )
    };
    let java =
        |calls: &str| format!("var r = ReceiveMessageRequest.builder(){calls}.build(); sqs.receiveMessage(r);\n");
    for (file, code, expected) in [
        ("W.java", listener("\"orders\""), UNHURRIED),
        (
            "W.java",
            listener("value = \"orders\", messageVisibilitySeconds = \"30\""),
            UNDECLARED,
        ),
        (
            "W.kt",
            listener("queueNames = \"${QUEUE_URL}\", messageVisibilitySeconds = \"60\""),
            UNDECLARED,
        ),
        (
            "W.kt",
            listener("\"orders\", messageVisibilitySeconds = \"61\""),
            UNHURRIED,
        ),
        (
            "W.java",
            listener("value = \"orders\", messageVisibilitySeconds = SECONDS"),
            "",
        ),
        (
            "W.java",
            listener("value = \"${app.queue}\", messageVisibilitySeconds = \"30\""),
            "",
        ),
        ("w.go", go("QueueUrl: &url, VisibilityTimeout: 30"), ""),
        (
            "w.go",
            go("QueueUrl: aws.String(url), VisibilityTimeout: 30"),
            UNDECLARED,
        ),
        (
            "w.go",
            go("QueueUrl: aws.String(url), VisibilityTimeout: aws.Int64(30)"),
            UNDECLARED,
        ),
        (
            "w.go",
            go("QueueUrl: aws.String(os.Getenv(\"QUEUE_URL\")), VisibilityTimeout: 600"),
            UNHURRIED,
        ),
        ("w.go", go("QueueUrl: aws.String(url), VisibilityTimeout: seconds"), ""),
        (
            "w.go",
            go("QueueUrl: aws.String(url), /* VisibilityTimeout: 30 */"),
            UNHURRIED,
        ),
        (
            "W.java",
            java(".queueUrl(System.getenv(\"QUEUE_URL\")).visibilityTimeout(45)"),
            UNDECLARED,
        ),
        (
            "W.java",
            java(".queueUrl(System.getenv(\"QUEUE_URL\")).visibilityTimeout(450)"),
            UNHURRIED,
        ),
        ("W.java", java(".queueUrl(url()).visibilityTimeout(45)"), ""),
    ] {
        let found = with_code("visibility_timeout_seconds = 900", file, &code);
        assert_eq!(found.join(" "), expected, "{code}");
    }
}

#[test]
fn worker_that_may_be_a_sender_is_only_an_info() {
    let code = "import os, boto3\nsqs = boto3.client('sqs')\nsqs.receive_message(QueueUrl=os.environ['QUEUE_URL'])\n";
    let stack = STACK.replace("<queue>", "visibility_timeout_seconds = 30");
    let sends = stack.replace("\"sqs:DeleteMessage\"", "\"sqs:DeleteMessage\", \"sqs:SendMessage\"");
    let any = stack.replace("[\"sqs:ReceiveMessage\", \"sqs:DeleteMessage\"]", "\"sqs:*\"");
    for stack in [&sends, &any] {
        assert_eq!(findings(&[("main.tf", stack)]), [UNHURRIED]);
        assert_eq!(findings(&[("main.tf", stack), ("w.py", code)]), [UNDECLARED]);
    }
    assert_eq!(findings(&[("main.tf", &stack)]), [UNDECLARED]);
}

#[test]
fn code_that_may_set_the_visibility_timeout_is_not_undeclared() {
    let python =
        |call: &str| format!("import os, boto3\nsqs = boto3.client('sqs')\nurl = os.environ['QUEUE_URL']\n{call}\n");
    let go = |field: &str| {
        format!("out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{{QueueUrl: url, {field}}})\n")
    };
    for (file, code, expected) in [
        ("w.py", python("sqs.receive_message(QueueUrl=url)"), UNDECLARED),
        ("w.py", python("sqs.receive_message(QueueUrl=url, VisibilityTimeout=int(os.getenv('TIMEOUT', '300')))"), ""),
        ("w.py", python("self.sqs.receive_message(QueueUrl=self.url)"), UNDECLARED),
        ("w.py", python("self.sqs.receive_message(QueueUrl=self.url, VisibilityTimeout=300)"), ""),
        ("w.ts", "const { Consumer } = require('sqs-consumer');\nConsumer.create({ queueUrl: process.env.QUEUE_URL, visibilityTimeout: Number(process.env.TIMEOUT), handleMessage });\n".to_owned(), ""),
        ("w.go", go(""), UNDECLARED),
        ("w.go", go("VisibilityTimeout: 300"), ""),
    ] {
        assert_eq!(with_code("", file, &code).join(" "), expected, "{code}");
    }
}

/// A function without a mapping, whose environment contains the URL of a queue.
const FUNCTION: &str = r#"
variable "open" {}
resource "aws_sqs_queue" "orders" {
  name = "orders"
  <queue>
}
resource "aws_sqs_queue" "source" {
  name           = "source"
  redrive_policy = jsonencode({ deadLetterTargetArn = <dead>, maxReceiveCount = 5 })
}
resource "aws_lambda_function" "drain" {
  function_name = "drain"
  role          = "arn:aws:iam::111122223333:role/drain"
  handler       = "drain.handler"
  runtime       = "python3.13"
  filename      = data.archive_file.drain.output_path
  <function>
  environment {
    variables = { QUEUE_URL = aws_sqs_queue.orders.url, TABLE = "orders" }
  }
}
data "archive_file" "drain" {
  type        = "zip"
  source_file = "${path.module}/drain.<ending>"
  output_path = "drain.zip"
}
<more>
"#;

/// Returns the findings about times for a stack that replaces the marks of [`FUNCTION`].
fn with_function(marks: &[(&str, &str)], ending: &str, code: &str) -> Vec<String> {
    let defaults = [
        ("<queue>", "visibility_timeout_seconds = 300"),
        ("<function>", "timeout = 900"),
        ("<dead>", "\"arn:aws:sqs:eu-west-1:111122223333:dead\""),
        ("<more>", ""),
        ("<ending>", ending),
    ];
    let all = marks.iter().chain(&defaults);
    let stack = all.fold(FUNCTION.to_owned(), |stack, (mark, text)| stack.replace(mark, text));
    findings(&[("main.tf", &stack), (&format!("drain.{ending}"), code)])
}

/// A function that works on each message before it deletes it.
const DRAIN: &str = "import os, boto3\nsqs = boto3.client(\"sqs\")\n\
    def handler(event, context):\n    \
        reply = sqs.receive_message(QueueUrl=os.environ[\"QUEUE_URL\"], MaxNumberOfMessages=10)\n    \
        for message in reply.get(\"Messages\", []):\n        \
            ship(message)\n        \
            sqs.delete_message(QueueUrl=os.environ[\"QUEUE_URL\"], ReceiptHandle=message[\"ReceiptHandle\"])\n";

#[test]
fn function_that_polls_is_compared_with_its_timeout() {
    let mapping = "resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = aws_sqs_queue.orders.arn\n  \
                   function_name = aws_lambda_function.drain.arn\n  enabled = false\n}\n";
    let beyond = |queue: &'static str, function: &'static str| vec![("<queue>", queue), ("<function>", function)];
    for (marks, expected) in [
        (vec![], TOO_SHORT),
        (beyond("visibility_timeout_seconds = 900", "timeout = 900"), ""),
        (beyond("visibility_timeout_seconds = 899", "timeout = 900"), TOO_SHORT),
        (beyond("", "timeout = 60"), TOO_SHORT),
        // Both have their defaults: 30 s and 3 s.
        (beyond("", ""), ""),
        (beyond("visibility_timeout_seconds = 300", "timeout = var.open"), ""),
        (beyond("visibility_timeout_seconds = var.open", "timeout = 900"), ""),
        // Messages of a dead-letter queue are moved or inspected.
        (vec![("<dead>", "aws_sqs_queue.orders.arn")], ""),
        // Lambda polls the queue.
        (vec![("<more>", mapping)], ""),
    ] {
        assert_eq!(with_function(&marks, "py", DRAIN).join(" "), expected, "{marks:?}");
    }
    let extend = "def extend(message):\n    sqs.change_message_visibility(**message)\n";
    let stack = FUNCTION.replace("<queue>", "").replace("<function>", "timeout = 900");
    let stack = stack
        .replace("<dead>", "\"\"")
        .replace("<more>", "")
        .replace("<ending>", "py");
    let elsewhere = [("main.tf", &*stack), ("drain.py", DRAIN), ("messages.py", extend)];
    assert_eq!(findings(&elsewhere), NOTHING);
}

#[test]
fn code_of_a_function_must_work_between_receive_and_deletion() {
    let python = |from: &str, to: &str| {
        let code = DRAIN.replace(from, to);
        assert_ne!(code, DRAIN, "{from}");
        code
    };
    for (code, expected) in [
        // The receive hides messages longer, or not long enough.
        (python("MaxNumberOfMessages=10", "VisibilityTimeout=900"), ""),
        (python("MaxNumberOfMessages=10", "VisibilityTimeout=60"), TOO_SHORT),
        (python("MaxNumberOfMessages=10", "VisibilityTimeout=hidden()"), ""),
        (
            python("ship(message)", "sqs.change_message_visibility(**renewed(message))"),
            "",
        ),
        (python("ship(message)", "print(json.loads(message[\"Body\"]))"), ""),
        (
            python(
                "ship(message)",
                "sqs.send_message(QueueUrl=other, MessageBody=message[\"Body\"])",
            ),
            "",
        ),
        (python("sqs.delete_message", "keep"), ""),
        // In a loop, the timeout is that of many batches.
        (
            python("    reply = sqs", "    while True:\n     reply = sqs").replace("\n    for", "\n     for"),
            "",
        ),
        (
            python("os.environ[\"QUEUE_URL\"], MaxN", "os.environ[\"OTHER_URL\"], MaxN"),
            "",
        ),
        (python("os.environ[\"QUEUE_URL\"], MaxN", "event[\"queue\"], MaxN"), ""),
    ] {
        assert_eq!(with_function(&[], "py", &code).join(" "), expected, "{code}");
    }
    let script = |work: &str, after: &str| {
        format!(
            "export const handler = async () => {{\n  const {{ Messages }} = await sqs.send(new ReceiveMessageCommand({{ \
             QueueUrl: process.env.QUEUE_URL }}));\n  await Promise.all((Messages ?? []).map(async (message) => {{\n    {work}\n    \
             await sqs.send(new DeleteMessageCommand({{ QueueUrl: process.env.QUEUE_URL, ReceiptHandle: \
             message.ReceiptHandle }}));\n    {after}\n  }}));\n}};\n"
        )
    };
    for (code, expected) in [
        (script("await ship(message);", ""), TOO_SHORT),
        (script("", "await ship(message);"), ""),
        (script("const order = parse(message.Body);", ""), ""),
        (
            script(
                "await sqs.send(new SendMessageCommand({ QueueUrl: other, MessageBody: message.Body }));",
                "",
            ),
            "",
        ),
    ] {
        assert_eq!(with_function(&[], "mjs", &code).join(" "), expected, "{code}");
    }
}

/// Returns the findings about lost messages, as `rule severity`.
fn losses(file: &str, code: &str) -> Vec<String> {
    let mut found = all_findings("visibility_timeout_seconds = 300", file, code);
    found.retain(|one| one.starts_with("worker-deletes-before-work") || one.starts_with("worker-swallows-failures"));
    found
}

const EARLY: &[&str] = &["worker-deletes-before-work error"];
const HIDDEN: &[&str] = &["worker-swallows-failures warning"];

#[test]
fn messages_that_are_deleted_before_the_work_are_lost() {
    let delete = "sqs.delete_message(QueueUrl=URL, ReceiptHandle=m[\"ReceiptHandle\"])";
    for (body, more, expected) in [
        (format!("{delete}\n        work(m)"), "", EARLY),
        (format!("work(m)\n        {delete}"), "", NOTHING),
        (format!("body = json.loads(m[\"Body\"])\n        {delete}\n        work(body)"), "", EARLY),
        ("handle = m[\"ReceiptHandle\"]\n        sqs.delete_message(QueueUrl=URL, ReceiptHandle=handle)\n        work(m)".to_owned(), "", EARLY),
        (format!("{delete}\n        try:\n            work(m)\n        except Exception:\n            log.exception(\"failed\")"), "", EARLY),
        // Its work is only logging, or is about something else.
        (format!("{delete}\n        print(m)\n        logger.info(m[\"MessageId\"])"), "", NOTHING),
        (format!("{delete}\n        count()"), "", NOTHING),
        // The message is kept elsewhere first.
        (format!("table.put_item(Item=m)\n        {delete}\n        work(m)"), "", NOTHING),
        (format!("sqs.send_message(QueueUrl=OTHER, MessageBody=m[\"Body\"])\n        {delete}\n        work(m)"), "", NOTHING),
        // A message that is not for this worker.
        (format!("if is_old(m):\n            {delete}\n            continue\n        work(m)"), "", NOTHING),
        // A function that only deletes.
        ("ack(m)\n        work(m)".to_owned(), "def ack(m):\n    sqs.delete_message(QueueUrl=URL, ReceiptHandle=m[\"ReceiptHandle\"])\n", EARLY),
        ("ack(m)\n        work(m)".to_owned(), "def ack(m):\n    store(m)\n    sqs.delete_message(QueueUrl=URL, ReceiptHandle=m[\"ReceiptHandle\"])\n", NOTHING),
        // In the function that works.
        ("process(m)".to_owned(), "def process(m):\n    sqs.delete_message(QueueUrl=URL, ReceiptHandle=m[\"ReceiptHandle\"])\n    work(m)\n", EARLY),
        ("cache.delete()\n        work(m)".to_owned(), "", NOTHING),
    ] {
        let code = format!(
            "import json, os, boto3\nsqs = boto3.client(\"sqs\")\nURL = os.environ[\"QUEUE_URL\"]\n{more}while True:\n    \
             got = sqs.receive_message(QueueUrl=URL)\n    for m in got.get(\"Messages\", []):\n        {body}\n"
        );
        assert_eq!(losses("worker/main.py", &code), expected, "{code}");
    }
    for (body, expected) in [
        (
            "await sqs.deleteMessage({ QueueUrl, ReceiptHandle: m.ReceiptHandle }).promise();\n    await work(m);",
            EARLY,
        ),
        (
            "await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: m.ReceiptHandle }));\n    await work(m.Body);",
            EARLY,
        ),
        (
            "await work(m);\n    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: m.ReceiptHandle }));",
            NOTHING,
        ),
        (
            "const { Body, ReceiptHandle } = m;\n    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));\n    await work(Body);",
            EARLY,
        ),
        (
            "await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: m.ReceiptHandle }));\n    console.log(m.MessageId);",
            NOTHING,
        ),
    ] {
        let code = format!(
            "const QueueUrl = process.env.QUEUE_URL;\nwhile (true) {{\n  const got = await client.send(new \
             ReceiveMessageCommand({{ QueueUrl }}));\n  for (const m of got.Messages ?? []) {{\n    {body}\n  }}\n}}\n"
        );
        assert_eq!(losses("worker/main.mjs", &code), expected, "{code}");
    }
}

#[test]
fn failures_that_a_worker_hides_are_lost() {
    let delete = "sqs.delete_message(QueueUrl=URL, ReceiptHandle=m[\"ReceiptHandle\"])";
    for (catch, end, expected) in [
        (
            "except Exception:\n            log.exception(\"failed\")",
            delete,
            HIDDEN,
        ),
        ("except:\n            pass", delete, HIDDEN),
        ("except Exception:\n            raise", delete, NOTHING),
        ("except Exception:\n            continue", delete, NOTHING),
        ("except Exception:\n            sys.exit(1)", delete, NOTHING),
        ("except ValueError:\n            pass", delete, NOTHING),
        (
            "except Exception as error:\n            park(m, error)",
            delete,
            NOTHING,
        ),
        (
            "except Exception:\n            sqs.send_message(QueueUrl=DEAD, MessageBody=m[\"Body\"])",
            delete,
            NOTHING,
        ),
        (
            "finally:\n            sqs.delete_message(QueueUrl=URL, ReceiptHandle=m[\"ReceiptHandle\"])",
            "pass",
            HIDDEN,
        ),
        (
            "except Exception:\n            done = False",
            "if done:\n            ack(m)",
            NOTHING,
        ),
    ] {
        let code = format!(
            "import os, boto3\nsqs = boto3.client(\"sqs\")\nURL = os.environ[\"QUEUE_URL\"]\nwhile True:\n    \
             got = sqs.receive_message(QueueUrl=URL)\n    for m in got.get(\"Messages\", []):\n        try:\n            \
             work(m)\n        {catch}\n        {end}\n"
        );
        assert_eq!(losses("worker/main.py", &code), expected, "{code}");
    }
    for (handler, expected) in [
        (
            "async (m) => { try { await save(m); } catch (e) { console.error(e); } return m; }",
            HIDDEN,
        ),
        (
            "async (m) => { try { await save(m); } catch (e) { console.error(e); } }",
            HIDDEN,
        ),
        ("async (m) => { await save(m); return m; }", NOTHING),
        ("async (m) => save(m)", NOTHING),
        (
            "async (m) => { try { await save(m); } catch (e) { console.error(e); throw e; } }",
            NOTHING,
        ),
        (
            "async (m) => { try { await save(m); } catch (e) { console.error(e); return {}; } }",
            NOTHING,
        ),
        (
            "async (m) => { try { await save(m); } catch (e) { return keep(m); } }",
            NOTHING,
        ),
        (
            "async (m) => { try { await save(m); } catch (e) { await park(m); } }",
            NOTHING,
        ),
        ("handle", HIDDEN),
        ("imported", NOTHING),
    ] {
        let code = format!(
            "const {{ Consumer }} = require('sqs-consumer');\nconst {{ imported }} = require('./other');\n\
             async function handle(m) {{ try {{ await save(m); }} catch (e) {{ console.error(e); }} }}\n\
             async function save(m) {{ await fetch('https://store.example/', {{ method: 'POST', body: m.Body }}); }}\n\
             Consumer.create({{ queueUrl: process.env.QUEUE_URL, handleMessage: {handler} }}).start();\n"
        );
        assert_eq!(losses("worker/index.js", &code), expected, "{code}");
    }
}

#[test]
fn failures_that_hide_in_a_batch_are_lost() {
    let each = |body: &str, end: &str| format!("async (all) => {{ for (const m of all) {{ {body} }} {end} }}");
    let hidden = "try { await save(m); } catch (e) { console.error(e); }";
    for (handler, expected) in [
        (each(hidden, ""), HIDDEN),
        (each("save(m);", ""), HIDDEN),
        (each("await save(m);", ""), NOTHING),
        // Only the messages that it returns are deleted.
        (each(hidden, "return done;"), NOTHING),
        (each(hidden, "return [];"), NOTHING),
        ("imported".to_owned(), NOTHING),
    ] {
        let code = format!(
            "const {{ Consumer }} = require('sqs-consumer');\n\
             async function save(m) {{ await fetch('https://store.example/', {{ method: 'POST', body: m.Body }}); }}\n\
             Consumer.create({{ queueUrl: process.env.QUEUE_URL, handleMessageBatch: {handler} }}).start();\n"
        );
        assert_eq!(losses("worker/index.js", &code), expected, "{code}");
    }
}

#[test]
fn times_in_code_count_with_a_declaration() {
    let with = |queue: &str, receive: &str, body: &str, declared: &str| {
        let code = format!(
            "import os, boto3\nsqs = boto3.client(\"sqs\")\nURL = os.environ[\"QUEUE_URL\"]\nwhile True:\n    got = \
             sqs.receive_message(QueueUrl=URL, {receive})\n    for m in got.get(\"Messages\", []):\n        {body}\n"
        );
        findings(&[
            ("main.tf", &STACK.replace("<queue>", queue)),
            ("w.py", &code),
            (
                "sqslint.toml",
                &format!("[[consumer]]\nqueue = \"orders\"\n{declared}\n"),
            ),
        ])
    };
    let max = "processing = { max = \"45s\" }";
    assert_eq!(with("", "VisibilityTimeout=60", "work(m)", max), NOTHING);
    assert_eq!(with("", "VisibilityTimeout=44", "work(m)", max), [TOO_SHORT]);
    let long = "visibility_timeout_seconds = 600";
    assert_eq!(with(long, "VisibilityTimeout=44", "work(m)", max), [TOO_SHORT]);
    // Ten messages, one after the other.
    let ten = "MaxNumberOfMessages=10";
    for (queue, receive, body, declared, expected) in [
        (
            "visibility_timeout_seconds = 449",
            ten,
            "work(m)",
            max,
            &[TOO_SHORT] as &[&str],
        ),
        ("visibility_timeout_seconds = 450", ten, "work(m)", max, NOTHING),
        (
            "visibility_timeout_seconds = 449",
            "MaxNumberOfMessages=size()",
            "work(m)",
            max,
            NOTHING,
        ),
        (
            "visibility_timeout_seconds = 449",
            "WaitTimeSeconds=20",
            "work(m)",
            max,
            NOTHING,
        ),
        (
            "visibility_timeout_seconds = 449",
            ten,
            "pool.submit(work, m)",
            max,
            NOTHING,
        ),
        (
            "visibility_timeout_seconds = 225",
            ten,
            "work(m)",
            "processing = { max = \"45s\" }\nparallelism = 2",
            NOTHING,
        ),
        (
            "visibility_timeout_seconds = 224",
            ten,
            "work(m)",
            "processing = { max = \"45s\" }\nparallelism = 2",
            &[TOO_SHORT],
        ),
        (
            long,
            "MaxNumberOfMessages=10, VisibilityTimeout=60",
            "work(m)",
            max,
            &[TOO_SHORT],
        ),
    ] {
        assert_eq!(
            with(queue, receive, body, declared),
            expected,
            "{queue} {receive} {body} {declared}"
        );
    }
}

#[test]
fn found_workers_are_declared_by_init() {
    let code =
        "import os, boto3\nsqs = boto3.client(\"sqs\")\nsqs.receive_message(QueueUrl=os.environ[\"QUEUE_URL\"])\n";
    let consumer = "const { Consumer } = require('sqs-consumer');\nConsumer.create({ queueUrl: process.env.QUEUE_URL, \
                    handleMessageTimeout: 1500, visibilityTimeout: 60, heartbeatInterval: 20, handleMessage }).start();\n";
    let stack = STACK.replace("<queue>", "");
    let init = |directory: &TemporaryDirectory| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sqslint"));
        let output = command.args(["init", "--consumers"]).current_dir(directory.path());
        let output = output.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(directory.path().join("sqslint.toml")).unwrap()
    };
    for (file, code, expected) in [
        ("w.py", code, "# processing = { p99 = \"\", max = \"\" }"),
        ("w.js", consumer, "processing = { max = \"1500ms\" }"),
        (
            "w.js",
            consumer,
            "\nheartbeat = { every = \"20s\", extend-to = \"60s\" }\n",
        ),
    ] {
        let directory = TemporaryDirectory::with_files([("main.tf", &*stack), (file, code)]);
        let text = init(&directory);
        assert!(
            text.contains("\n[[consumer]]\nqueue = \"orders\"\n") && text.contains(expected),
            "{text}"
        );
        assert!(
            text.contains("\n# main.tf:19: `aws_ecs_task_definition.worker` may read the queue"),
            "{text}"
        );
        // A second run adds nothing, and the configuration is valid.
        assert_eq!(init(&directory), text);
    }
    // An existing file keeps every line.
    let own = "# Ours\nrequire-reason = true\n\n[rules.queue-short-polling]\nseverity = \"info\"\n";
    let directory = TemporaryDirectory::with_files([("main.tf", &*stack), ("w.py", code), ("sqslint.toml", own)]);
    let text = init(&directory);
    assert!(text.starts_with(own) && text.contains("[[consumer]]"), "{text}");
}
