//! Checks from outside where output goes (files, GitHub Actions, terminals), and every format on a real run.

use needs::TERMINAL;
use sqslint::testing::TemporaryDirectory;
use std::process::{Command, Output};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cmd/formats.in");
pub(crate) const FORMATS: [&str; 11] = [
    "full",
    "concise",
    "json",
    "json-lines",
    "sarif",
    "github",
    "gitlab",
    "junit",
    "checkstyle",
    "markdown",
    "html",
];

/// Runs the program in the sample directory; only `variables` may influence the output.
fn run(variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
    let decisive = [
        "GITHUB_ACTIONS",
        "GITHUB_STEP_SUMMARY",
        "SQSLINT_FORMAT",
        "SQSLINT_CONFIG",
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "NO_GRAPHICS",
        "FORCE_HYPERLINK",
    ];
    for name in decisive {
        command.env_remove(name);
    }
    command
        .args(arguments)
        .current_dir(SAMPLE)
        .env("LC_ALL", "C.UTF-8")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn every_format_has_the_same_exit_code() {
    for format in FORMATS {
        let found = run(&[], &["check", "--format", format]);
        assert_eq!(found.status.code(), Some(1), "{format}");
        assert!(out(&found).contains("visibility"), "{format}");
        let refused = run(&[], &["check", "--format", format, "--select", "xyzzy"]);
        assert_eq!(refused.status.code(), Some(2), "{format}");
    }
}

#[test]
fn one_run_writes_several_reports() {
    let directory = TemporaryDirectory::with_files([]);
    let path = |format: &str| directory.path().join(format).display().to_string();
    let reports: Vec<String> = FORMATS
        .iter()
        .map(|format| format!("{format}={}", path(format)))
        .collect();
    let mut arguments = vec!["check", "--format", "concise"];
    for report in &reports {
        arguments.extend(["--report", report]);
    }
    let printed = out(&run(&[], &arguments));
    for format in FORMATS {
        let written = std::fs::read_to_string(path(format)).unwrap();
        assert_eq!(
            written,
            out(&run(&[], &["check", "--format", format, "--verbose"])),
            "{format}"
        );
    }
    assert_eq!(printed, std::fs::read_to_string(path("concise")).unwrap());
    // The next run replaces them, whatever they report.
    for more in [&["--pedantic"][..], &["--select", "fifo"], &["--verbose"]] {
        let again = run(&[], &[&arguments, more].concat());
        let said = String::from_utf8_lossy(&again.stderr);
        assert!(!said.contains("cannot write"), "{said}");
    }
}

#[test]
fn unwritable_report_fails_the_run() {
    let found = run(&[], &["check", "--report", "sarif=no/such/directory/x.sarif"]);
    assert_eq!(found.status.code(), Some(2));
    let said = String::from_utf8(found.stderr).unwrap();
    assert!(said.contains("cannot write `no/such/directory/x.sarif`"), "{said}");
}

#[test]
fn github_actions_get_annotations_by_default() {
    let directory = TemporaryDirectory::with_files([]);
    let summary = directory.path().join("summary.md");
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()),
    ];
    let text = out(&run(&variables, &["check"]));
    // First the report, in which no line is a command; then the commands.
    let (first, rest) = text.split_once('\n').unwrap();
    let token = first.strip_prefix("::stop-commands::").unwrap();
    let (report, commands) = rest.split_once(&format!("::{token}::\n")).unwrap();
    assert!(report.contains("\n  main.tf:") && !report.contains("\n::"), "{report}");
    assert!(commands.starts_with("::error file="), "{commands}");
    assert!(commands.lines().all(|line| line.starts_with("::")), "{commands}");
    let again = out(&run(&variables, &["check"]));
    assert_ne!(again.lines().next(), Some(first), "each run has its own token");
    let written = std::fs::read_to_string(&summary).unwrap();
    assert_eq!(
        written.matches("| severity | rule |").count(),
        2,
        "it is appended to: {written}"
    );
}

#[test]
fn github_actions_get_the_requested_format() {
    let variables = [("GITHUB_ACTIONS", "true")];
    let asked = out(&run(&variables, &["check", "--format", "concise"]));
    assert!(!asked.contains("::error") && !asked.contains("::stop"), "{asked}");
    let by_variable = [("GITHUB_ACTIONS", "true"), ("SQSLINT_FORMAT", "concise")];
    assert_eq!(out(&run(&by_variable, &["check"])), asked);
    let elsewhere = out(&run(&[("GITHUB_ACTIONS", "false")], &["check"]));
    assert!(!elsewhere.contains("::error"), "{elsewhere}");
}

#[test]
fn colour_follows_options_and_variables() {
    for (variables, arguments, expected) in [
        (vec![], vec![], false),
        (vec![], vec!["--color", "always"], true),
        (vec![("NO_COLOR", "1")], vec!["--color", "always"], true),
        (vec![("CLICOLOR_FORCE", "1")], vec![], true),
        (vec![("CLICOLOR_FORCE", "0")], vec![], false),
        (vec![("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], vec![], false),
        (vec![("CLICOLOR_FORCE", "1")], vec!["--color", "never"], false),
    ] {
        let mut all = vec!["check"];
        all.extend(&arguments);
        let text = out(&run(&variables, &all));
        assert_eq!(text.contains("\u{1b}["), expected, "{variables:?} {arguments:?}");
    }
}

#[test]
fn hyperlinks_follow_options_and_format() {
    for (arguments, expected) in [
        (vec![], false),
        (vec!["--hyperlinks", "always"], true),
        (vec!["--hyperlinks", "never"], false),
        (vec!["--hyperlinks", "always", "--format", "concise"], true),
        (vec!["--hyperlinks", "always", "--format", "json"], false),
    ] {
        let mut all = vec!["check"];
        all.extend(&arguments);
        let text = out(&run(&[], &all));
        assert_eq!(text.contains("\u{1b}]8;;file:///"), expected, "{arguments:?}");
    }
}

#[test]
fn no_graphics_variable_disables_drawings() {
    let text = out(&run(&[("NO_GRAPHICS", "1")], &["check"]));
    assert!(!text.contains(['─', '│', '╭']), "{text}");
    assert!(text.contains("  at main.tf:"), "{text}");
}

#[test]
fn html_summary_names_the_units_of_equal_addresses() {
    let queue = "Resources:\n  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 0}}\n";
    let other = queue.replace("Q:", "Other:");
    let files = [("a.yaml", queue), ("b.yaml", queue), ("c.yaml", &other)];
    let directory = TemporaryDirectory::with_files(files);
    let root = directory.path().display().to_string();
    let page = out(&run(
        &[],
        &["check", "--isolated", "--pedantic", "--format", "html", &root],
    ));
    let (summary, _) = page.split_once("</table>").unwrap();
    for (unit, is_named) in [("a.yaml", true), ("b.yaml", true), ("c.yaml", false)] {
        assert_eq!(
            summary.contains(&format!("{unit}</span>")),
            is_named,
            "{unit}: {summary}"
        );
    }
}

#[test]
fn svg_drawings_are_well_formed() {
    let svg = out(&run(&[], &["graph", "--format", "svg"]));
    let document = roxmltree::Document::parse(&svg).unwrap();
    let boxes = document.descendants().filter(|node| node.has_tag_name("rect"));
    let boxes = boxes.filter(|node| {
        node.attribute("class")
            .is_some_and(|class| class.split(' ').next() == Some("b"))
    });
    assert_eq!(boxes.count(), 3, "{svg}");
    let page = out(&run(&[], &["check", "--format", "html"]));
    assert!(page.contains("<svg ") && !page.contains("<script"), "{page}");
}

#[test]
fn terminals_without_utf8_get_ascii() {
    for (variables, expected) in [
        (vec![("LC_ALL", "C")], true),
        (vec![("LC_ALL", "POSIX"), ("LANG", "C.UTF-8")], true),
        (
            vec![("LC_ALL", ""), ("LC_CTYPE", ""), ("LANG", "de_DE.ISO-8859-1")],
            true,
        ),
        (vec![("LC_ALL", ""), ("LC_CTYPE", "de_DE.UTF-8"), ("LANG", "C")], false),
        (vec![("LC_ALL", ""), ("LC_CTYPE", ""), ("LANG", "en_GB.utf8")], false),
    ] {
        for graphics in ["0", "1"] {
            let mut all = variables.clone();
            all.push(("NO_GRAPHICS", graphics));
            let text = out(&run(&all, &["check"]));
            assert_eq!(text.is_ascii(), expected, "{all:?}\n{text}");
        }
    }
}

/// Returns the output in a terminal with this number of columns.
fn in_terminal(variables: &[(&str, &str)], columns: usize, arguments: &str) -> String {
    let program = env!("CARGO_BIN_EXE_sqslint");
    let line = format!("stty rows 24 cols {columns}; '{program}' check {arguments}");
    let mut command = Command::new("script");
    for name in [
        "CI",
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "FORCE_HYPERLINK",
        "NO_GRAPHICS",
        "VTE_VERSION",
    ] {
        command.env_remove(name);
    }
    for name in ["GITHUB_ACTIONS", "SQSLINT_FORMAT", "TERM_PROGRAM", "WT_SESSION"] {
        command.env_remove(name);
    }
    let output = command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(SAMPLE)
        .env("LC_ALL", "C.UTF-8")
        .env("TERM", "xterm-256color")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).replace('\r', "")
}

#[test]
#[cfg(target_os = "linux")]
fn terminals_get_what_they_can_show() {
    const KITTY: (&str, &str) = ("TERM", "xterm-kitty");
    if !TERMINAL.is_available() {
        return;
    }
    for (variables, arguments, coloured, linked) in [
        (vec![], "", true, false),
        (vec![("TERM", "dumb")], "", false, false),
        (vec![("NO_COLOR", "1")], "", false, false),
        (vec![("CLICOLOR", "0")], "", false, false),
        (vec![], "--color never", false, false),
        (vec![KITTY], "", true, true),
        (vec![KITTY], "--hyperlinks never", true, false),
        (vec![KITTY, ("NO_COLOR", "1")], "", false, true),
        (vec![KITTY, ("CI", "true")], "", true, false),
        (vec![("TERM", "dumb")], "--color always --hyperlinks always", true, true),
    ] {
        let text = in_terminal(&variables, 80, arguments);
        assert!(text.contains("sqslint explain"), "{text}");
        assert_eq!(text.contains("\u{1b}["), coloured, "{variables:?} {arguments}\n{text}");
        assert_eq!(
            text.contains("\u{1b}]8;;file:"),
            linked,
            "{variables:?} {arguments}\n{text}"
        );
    }
    for columns in [40, 80, 120] {
        let text = in_terminal(&[("NO_COLOR", "1")], columns, "--quiet");
        let widest = text
            .lines()
            .filter(|line| line.contains(' '))
            .map(|line| line.chars().count())
            .max();
        // Names longer than the line are not broken.
        let bound = if columns == 40 { 50 } else { columns };
        assert!(
            widest.is_some_and(|widest| widest <= bound),
            "{columns}: {widest:?}\n{text}"
        );
    }
}

/// Repository whose findings involve files in several directories, one of which is invalid.
fn repository() -> TemporaryDirectory {
    let queue = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = var.wait\n}\nvariable \"wait\" {\n  default = 50000\n}\n";
    let reader = "resource \"aws_lambda_function\" \"f\" {\n  function_name = \"f\"\n  timeout       = 900\n}\n\
        resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = module.q.arn\n  \
        function_name    = aws_lambda_function.f.arn\n}\n\
        variable \"wait\" {}\n\
        module \"q\" {\n  source = \"../../modules/q\"\n  wait   = var.wait\n}\n";
    let called = format!("{queue}output \"arn\" {{\n  value = aws_sqs_queue.q.arn\n}}\n");
    TemporaryDirectory::with_files([
        (".git/HEAD", "ref: refs/heads/main\n"),
        ("infra/prod/main.tf", reader),
        ("infra/prod/terraform.tfvars", "wait = 30\n"),
        ("infra/broken/main.tf", "resource {\n"),
        ("modules/q/main.tf", &called),
        (
            "api/template.yaml",
            "Transform: AWS::Serverless-2016-10-31\nParameters: {Wait: {Type: Number}}\nResources:\n  \
             # sqslint: ignore[redrive] kept\n  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !Ref Wait}}\n  \
             Nested: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: nested/template.yaml}}\n  \
             P: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !GetAtt Nested.Outputs.Wait}}\n",
        ),
        (
            "api/nested/template.yaml",
            "AWSTemplateFormatVersion: 2010-09-09\nResources:\n  \
             D: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 0}}\nOutputs:\n  Wait: {Value: 99999}\n",
        ),
        (
            "api/samconfig.toml",
            "version = 0.1\n[default.deploy.parameters]\nparameter_overrides = \"Wait=88888\"\n",
        ),
    ])
}

#[test]
fn machine_formats_do_not_depend_on_the_working_directory() {
    let repository = repository();
    let root = repository.path().canonicalize().unwrap();
    let from = |directory: &str, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
        command.env_remove("GITHUB_ACTIONS").current_dir(root.join(directory));
        out(&command.args(arguments).arg(&root).output().unwrap())
    };
    let for_people = ["full", "concise"];
    for format in FORMATS.into_iter().filter(|format| !for_people.contains(format)) {
        let arguments = ["check", "--select", "all", "--show-suppressed", "--format", format];
        let expected = from(".", &arguments);
        assert!(
            expected.contains("infra/broken/main.tf") || format == "github",
            "{format}: {expected}"
        );
        for directory in ["infra", "infra/prod", "api", ".."] {
            assert_eq!(from(directory, &arguments), expected, "{format} from {directory}");
        }
    }
    let arguments = ["graph", "--format", "json"];
    assert_eq!(from("infra/prod", &arguments), from(".", &arguments));
}

#[test]
fn text_formats_show_paths_relative_to_the_working_directory() {
    let repository = repository();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
    command
        .env_remove("GITHUB_ACTIONS")
        .current_dir(repository.path().join("infra/prod"));
    let text = out(&command
        .args(["check", "--format", "concise", "../broken"])
        .output()
        .unwrap());
    assert!(
        text.starts_with("../broken/main.tf:1:11: error[parse-error] `main.tf` "),
        "{text}"
    );
}

#[test]
fn findings_of_one_rule_begin_with_the_worst_outcome() {
    let queue = |name: &str, visibility: u32| {
        format!(
            "resource \"aws_sqs_queue\" \"{name}\" {{\n  visibility_timeout_seconds = {visibility}\n}}\n\
             resource \"aws_lambda_function\" \"{name}\" {{\n  function_name = \"{name}\"\n  timeout = 60\n}}\n\
             resource \"aws_lambda_event_source_mapping\" \"{name}\" {{\n  event_source_arn = aws_sqs_queue.{name}.arn\n  \
             function_name = aws_lambda_function.{name}.arn\n}}\n"
        )
    };
    // After 100 s the first message is received again while it is worked on; after 120 s an attempt is wasted.
    let both = queue("wasted", 120) + &queue("twice", 100);
    let directory = TemporaryDirectory::with_files([("main.tf", &*both)]);
    let path = directory.path().display().to_string();
    let shown = out(&run(
        &[],
        &["check", "--isolated", "--select", "visibility-timeout-too-short", &path],
    ));
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
    assert!(at("`aws_sqs_queue.twice`") < at("`aws_sqs_queue.wasted`"), "{shown}");
}

#[test]
fn graphs_match_their_schema() {
    let mut schemas = boon::Schemas::new();
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemas/graph.json");
    let schema = boon::Compiler::new().compile(schema, &mut schemas).unwrap();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let output = run(&[], &["graph", fixtures, "--format", "json"]);
    let graph: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    if let Err(error) = schemas.validate(&graph, schema) {
        panic!("{error:#}");
    }
    let kinds = graph.as_object().unwrap().values().filter_map(|nodes| nodes.as_array());
    assert_eq!(kinds.filter(|nodes| nodes.is_empty()).count(), 0);
}

/// Project with a finding in the baseline, and what is added to it: an error, an info and a suppressed finding.
const BASELINED: &str = r#"
resource "aws_lambda_function" "quick" {
  timeout = 3
}
resource "aws_sqs_queue" "baselined" {
  name = "baselined"
}
resource "aws_lambda_event_source_mapping" "baselined" {
  event_source_arn = aws_sqs_queue.baselined.arn
  function_name    = aws_lambda_function.quick.arn
}
"#;
const ADDED: &str = r#"
resource "aws_sqs_queue" "orders" {
  visibility_timeout_seconds = 30
  redrive_policy             = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "failed" {
  message_retention_seconds = 1209600
}
# sqslint: ignore[redrive-policy-missing] its messages may be lost
resource "aws_sqs_queue" "suppressed" {
  name = "suppressed"
}
resource "aws_lambda_event_source_mapping" "suppressed" {
  event_source_arn = aws_sqs_queue.suppressed.arn
  function_name    = aws_lambda_function.quick.arn
}
resource "aws_lambda_function" "worker" {
  timeout = 60
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.worker.arn
}
"#;

/// Checks that every format contains the same findings by default, and that the run counts those it hides.
#[test]
fn formats_agree_on_what_they_contain() {
    const RULES: [(&str, bool); 3] = [
        ("visibility-timeout-below-function-timeout", true),
        ("dead-letter-queue-unalarmed", true),
        // Once suppressed, and once in the baseline.
        ("redrive-policy-missing", false),
    ];
    let select = format!("select = {:?}\n", RULES.map(|(rule, _)| rule));
    let directory = TemporaryDirectory::with_files([("main.tf", BASELINED), ("sqslint.toml", &select)]);
    let command = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
        let command = command.args(arguments).current_dir(directory.path());
        let command = command.env_remove("GITHUB_ACTIONS").env_remove("SQSLINT_FORMAT");
        command.output().unwrap()
    };
    assert!(command(&["baseline", "create"]).status.success());
    std::fs::write(directory.path().join("main.tf"), BASELINED.to_owned() + ADDED).unwrap();
    for format in FORMATS {
        let found = command(&["check", "--format", format]);
        let (printed, summary) = (out(&found), String::from_utf8_lossy(&found.stderr).into_owned());
        let words: Vec<&str> = printed.split_whitespace().collect();
        let hides_infos = words.join(" ").contains("1 info is not shown");
        assert_eq!(hides_infos, format == "full", "{format}");
        for (rule, is_shown) in RULES {
            let is_hidden_info = hides_infos && rule == "dead-letter-queue-unalarmed";
            // JSON has a list of its own for suppressed findings.
            let is_shown = (is_shown && !is_hidden_info) || (!is_shown && format.starts_with("json"));
            assert_eq!(printed.contains(rule), is_shown, "{format}: {rule}\n{printed}");
        }
        let counts =
            "1 error, 1 info in 1 module (1 suppressed, 1 fixable with `--unsafe-fixes`); 1 more in the baseline";
        assert!(summary.contains(counts), "{format}: {summary}");
    }
}
