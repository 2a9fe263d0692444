//! Checks discovered environments: environments that the files name are checked without configuration, in addition to
//! the default values.

mod many;
mod requested;
mod services;
mod values;

use crate::inputs::check_files;
use sqslint::Outcome;
use sqslint::testing::{TemporaryDirectory, describe};

const MAIN: &str = r#"
variable "timeout" { default = 5 }
variable "stage" { default = "dev" }
resource "aws_sqs_queue" "orders" { visibility_timeout_seconds = 60 }
resource "aws_lambda_function" "worker" {
  function_name = "worker"
  timeout       = var.timeout
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.worker.arn
}
"#;

/// Returns the condition of each finding about visibility timeouts.
fn found(outcome: &Outcome) -> Vec<String> {
    assert!(outcome.errors.is_empty(), "{}", describe(outcome));
    let visibility = outcome.findings.iter();
    let visibility = visibility.filter(|found| found.rule == "visibility-timeout-below-function-timeout");
    visibility
        .map(|found| found.when.clone().unwrap_or_else(|| "always".to_owned()))
        .collect()
}

/// Returns what was not read.
fn unread(outcome: &Outcome) -> Vec<String> {
    let unread = outcome.not_evaluated.iter().filter(|open| open.is_unread());
    unread.map(|open| open.subject.address.clone()).collect()
}

fn check(files: &[(&str, &str)]) -> Vec<String> {
    found(&check_files(files.iter().copied()))
}

#[test]
fn labels_of_environments_with_one_value_are_merged() {
    let main = MAIN.replace("default = 5", "default = 300");
    let files = [
        ("main.tf", &*main),
        ("env/dev.tfvars", "timeout = 300\n"),
        ("env/prod.tfvars", "timeout = 300\n"),
    ];
    let outcome = check_files(files);
    assert_eq!(found(&outcome), ["always"]);
    let labels = outcome
        .findings
        .iter()
        .flat_map(sqslint::diagnostic::Diagnostic::labels);
    let labels = labels.filter(|label| label.message.contains("300 s")).count();
    let written = outcome
        .findings
        .iter()
        .flat_map(sqslint::diagnostic::Diagnostic::labels);
    let written = written.filter(|label| label.message.starts_with("the value comes from"));
    assert_eq!((labels, written.count()), (1, 3));
}

#[test]
fn unused_variable_files_are_environments() {
    let prod = ["the environment is `prod`".to_owned()];
    let (hcl, json) = ("timeout = 300\n", r#"{"timeout": 300}"#);
    for (path, text) in [
        ("prod.tfvars", hcl),
        // Terraform only warns about a name that the root does not declare.
        ("prod.tfvars", "timeout = 300\nother = 1\n"),
        ("env/prod.tfvars", hcl),
        ("environments/prod/terraform.tfvars", hcl),
        ("env/prod.tfvars.json", json),
    ] {
        assert_eq!(check(&[("main.tf", MAIN), (path, text)]), prod, "{path}");
    }
}

#[test]
fn variable_file_in_a_sibling_directory_is_an_environment() {
    let files = [("infra/main.tf", MAIN), ("config/prod.tfvars", "timeout = 300\n")];
    assert_eq!(check(&files), ["the environment is `prod`"]);
}

#[test]
fn variable_file_of_another_module_is_not_an_environment() {
    for text in ["other = 1\n", "", "timeout = {\n"] {
        assert_eq!(check(&[("main.tf", MAIN), ("prod.tfvars", text)]), [""; 0], "{text}");
    }
    // A directory that contains a module has its own variable files.
    let files = [
        ("main.tf", MAIN),
        ("other/main.tf", MAIN),
        ("other/prod.tfvars", "timeout = 300\n"),
    ];
    let outcome = check_files(files);
    assert_eq!(found(&outcome), ["the environment is `prod`"]);
    let found = outcome.findings.iter().find(|found| found.when.is_some());
    assert!(found.unwrap().subject.unit.ends_with("other"), "{}", describe(&outcome));
}

#[test]
fn automatically_loaded_variable_file_is_not_an_environment() {
    let files = [("main.tf", MAIN), ("prod.auto.tfvars", "timeout = 300\n")];
    assert_eq!(check(&files), ["always"]);
}

#[test]
fn variable_files_of_one_environment_are_combined() {
    let main = MAIN.replace("= 60", "= var.visibility") + "variable \"visibility\" { default = 60 }\n";
    let files = [
        ("main.tf", &*main),
        ("env/prod/functions.tfvars", "timeout = 300\n"),
        ("env/prod/queues.tfvars", "visibility = 1800\n"),
    ];
    assert_eq!(check(&files), [""; 0]);
    let files = [
        ("main.tf", &*main),
        ("env/dev.tfvars", "timeout = 10\n"),
        ("env/prod.tfvars", "timeout = 300\nvisibility = 200\n"),
    ];
    assert_eq!(check(&files), ["the environment is `prod`"]);
}

#[test]
fn finding_under_defaults_only_has_a_condition() {
    let main = MAIN.replace("default = 5", "default = 100");
    let files = [("main.tf", &*main), ("prod.tfvars", "timeout = 5\n")];
    assert_eq!(check(&files), ["it is deployed with the defaults"]);
}

#[test]
fn finding_in_all_environments_has_no_condition() {
    let main = MAIN.replace("default = 5", "default = 100");
    let files = [
        ("main.tf", &*main),
        ("dev.tfvars", "stage = \"x\"\n"),
        ("prod.tfvars", "stage = \"y\"\n"),
    ];
    assert_eq!(check(&files), ["always"]);
    // A unit without environments is not checked in those of other units.
    let files = [
        ("a/main.tf", &*main),
        ("b/main.tf", MAIN),
        ("b/prod.tfvars", "timeout = 6\n"),
    ];
    assert_eq!(check(&files), ["always"]);
}

#[test]
fn value_set_in_every_environment_is_evaluated() {
    let main = MAIN.replace("{ default = 5 }", "{}");
    let open = |files: &[(&str, &str)]| check_files(files.iter().copied()).not_evaluated.len();
    assert_ne!(open(&[("main.tf", &main)]), 0);
    assert_eq!(open(&[("main.tf", &main), ("dev.tfvars", "timeout = 5\n")]), 0);
}

const TEMPLATE: &str = "
Transform: AWS::Serverless-2016-10-31
Parameters:
  Timeout: {Type: Number, Default: 5}
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties: {VisibilityTimeout: 60}
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: !Ref Timeout
      Events: {Orders: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}}
";

#[test]
fn samconfig_tables_are_environments() {
    let config = "version = 0.1\n[default.deploy.parameters]\nparameter_overrides = \"Timeout=6\"\n\
                  [prod.deploy.parameters]\nparameter_overrides = \"Timeout=300\"\n\
                  [test.build.parameters]\ncached = true\n";
    let files = [("template.yaml", TEMPLATE), ("samconfig.toml", config)];
    assert_eq!(check(&files), ["the environment is `prod`"]);
}

#[test]
fn parameter_files_are_environments() {
    let list = r#"[{"ParameterKey": "Timeout", "ParameterValue": "300"}]"#;
    let object = r#"{"Parameters": {"Timeout": "300"}, "Tags": {"a": "b"}}"#;
    for (path, text) in [
        ("prod.json", list),
        ("parameters-prod.json", list),
        ("params/prod.json", object),
        ("prod/parameters.json", object),
    ] {
        let files = [("template.yaml", TEMPLATE), (path, text)];
        assert_eq!(check(&files), ["the environment is `prod`"], "{path}");
    }
    for text in [
        r#"{"Timeout": "300"}"#,
        r#"[{"ParameterKey": "Other", "ParameterValue": "300"}]"#,
        r#"{"Parameters": {"Timeout": {"Type": "Number"}}, "Resources": {}}"#,
        "[]",
        "{",
    ] {
        let files = [("template.yaml", TEMPLATE), ("prod.json", text)];
        let outcome = check_files(files);
        let visibility = outcome
            .findings
            .iter()
            .any(|found| found.rule == "visibility-timeout-below-function-timeout");
        assert!(!visibility, "{text}");
    }
}

#[test]
fn sceptre_configurations_are_environments() {
    let parameters = "parameters:\n  Timeout: 300\n  Topic: !stack_output topics.yaml::Arn\n";
    for (path, template, named) in [
        ("config/prod/worker.yaml", "template_path: worker.yaml\n", "prod"),
        (
            "config/prod/worker.yaml",
            "template_path: templates/worker.yaml\n",
            "prod",
        ),
        (
            "config/prod/eu/worker.yml",
            "template:\n  type: file\n  path: worker.yaml\n",
            "prod/eu",
        ),
        ("config/worker.yaml", "template_path: worker.yaml\n", "worker"),
    ] {
        let config = format!("{template}{parameters}");
        let files = [("templates/worker.yaml", TEMPLATE), (path, &*config)];
        assert_eq!(
            check(&files),
            [format!("the environment is `{named}`")],
            "{path} {template}"
        );
    }
    for config in [
        format!("template_path: other.yaml\n{parameters}"),
        parameters.to_owned(),
        "template_path: worker.yaml\nparameters: {Timeout: !stack_output a.yaml::B}\n".to_owned(),
        "template_path: worker.yaml\nparameters: {Timeout: '{{ var.timeout }}'}\n".to_owned(),
        "template_path: worker.yaml\nparameters:\n{% if x %}\n  Timeout: 300\n{% endif %}\n".to_owned(),
    ] {
        let files = [
            ("templates/worker.yaml", TEMPLATE),
            ("config/prod/worker.yaml", &*config),
        ];
        assert_eq!(check(&files), [""; 0], "{config}");
    }
}

#[test]
fn default_that_every_sceptre_configuration_replaces_is_not_judged() {
    let template = TEMPLATE.replace("Default: 5", "Default: 300");
    let judge = |dev: &str, prod: &str| {
        check(&[
            ("templates/worker.yaml", &template),
            ("config/dev/worker.yaml", &format!("template_path: worker.yaml\n{dev}")),
            (
                "config/prod/worker.yaml",
                &format!("template_path: worker.yaml\n{prod}"),
            ),
        ])
    };
    let (short, long) = ("parameters: {Timeout: 5}\n", "parameters: {Timeout: 300}\n");
    assert_eq!(judge(short, short), [""; 0]);
    assert_eq!(judge(short, long), ["the environment is `prod`"]);
    // One stack has the default.
    assert_eq!(
        judge(short, "parameters: {}\n"),
        ["the environment is `prod` or it is deployed with the defaults"]
    );
}

/// Terraform only warns of a name in a variable file that the root does not declare.
#[test]
fn variable_file_with_undeclared_names_is_an_environment() {
    let prod = ["the environment is `prod`"];
    for (file, text, expected) in [
        ("prod.tfvars", "timeout = 300\nold = 1\n", prod.as_slice()),
        (
            "env/prod.tfvars",
            "timeout = 300\nstage = \"x\"\nold = 1\nolder = 1\n",
            &prod,
        ),
        // Less than half of the names are declared.
        ("prod.tfvars", "timeout = 300\nold = 1\nolder = 1\n", &[]),
        ("prod.tfvars.json", "{\"timeout\": 300, \"old\": 1}", &prod),
    ] {
        assert_eq!(check(&[("main.tf", MAIN), (file, text)]), expected, "{text}");
    }
    // Another module declares all of the names.
    let other = "variable \"timeout\" {}\nvariable \"old\" {}\n";
    let files = [
        ("a/main.tf", MAIN),
        ("b/main.tf", other),
        ("env/prod.tfvars", "timeout = 300\nold = 1\n"),
    ];
    assert_eq!(check(&files), [""; 0]);
}

/// If no environment can be evaluated, the defaults of what its file sets are not judged in its place.
#[test]
fn environment_that_cannot_be_evaluated_is_named() {
    let main = MAIN.replace("default = 5", "default = 300");
    let broken = ("prod.tfvars", "timeout = 300\nstage = \n");
    let alone = check_files([("main.tf", &*main), broken]);
    assert_eq!((found(&alone), unread(&alone)), (Vec::new(), vec!["prod".to_owned()]));
    // A constant is judged, whatever the environment.
    let constant = check_files([("main.tf", &*main.replace("= var.timeout", "= 300")), broken]);
    assert_eq!(found(&constant), ["always"]);
    let both = check_files([("main.tf", &*main), broken, ("dev.tfvars", "timeout = 5\n")]);
    assert_eq!(found(&both), ["it is deployed with the defaults"]);
    assert_eq!(unread(&both), ["prod"]);
    let chosen = check_files([
        ("main.tf", &*main),
        broken,
        ("sqslint.toml", "environments = \"default\"\n"),
    ]);
    assert_eq!(
        (found(&chosen), unread(&chosen)),
        (vec!["always".to_owned()], Vec::new())
    );
}

#[test]
fn parameter_file_that_cannot_be_read_is_an_environment_that_cannot_be_evaluated() {
    let template = TEMPLATE.replace("Default: 5", "Default: 300");
    let template = ("template.yaml", &*template);
    let dev = r#"[{"ParameterKey": "Timeout", "ParameterValue": "5"}]"#;
    for broken in [
        ("prod.json", r#"[{"ParameterKey": "Timeout", "ParameterValue": "300"#),
        ("params/prod.json", r#"{"Parameters": {"Timeout": {{ timeout }}}}"#),
        ("prod.yaml", "Parameters:\n  Timeout: \"300\n"),
    ] {
        let alone = check_files([template, broken]);
        assert_eq!(
            (found(&alone), unread(&alone)),
            (Vec::new(), vec!["prod".to_owned()]),
            "{broken:?}"
        );
        let both = check_files([template, broken, ("dev.json", dev)]);
        assert_eq!(found(&both), ["it is deployed with the defaults"], "{broken:?}");
    }
    let of_another = ("prod.json", r#"[{"ParameterKey": "Other", "ParameterValue": "300"#);
    let outcome = check_files([template, of_another]);
    assert_eq!(
        (found(&outcome), unread(&outcome)),
        (vec!["always".to_owned()], Vec::new())
    );
}

#[test]
fn configuration_or_inputs_disable_discovered_environments() {
    let files = [("main.tf", MAIN), ("prod.tfvars", "timeout = 300\n")];
    let default = "environments = \"default\"\n";
    assert_eq!(check(&[files[0], files[1], ("sqslint.toml", default)]), [""; 0]);
    let declared = "[[environment]]\nname = \"dev\"\n";
    assert_eq!(check(&[files[0], files[1], ("sqslint.toml", declared)]), [""; 0]);
    let directory = TemporaryDirectory::with_files(files);
    let outcome = sqslint::check(&sqslint::Options {
        paths: vec![directory.path().to_owned()],
        inputs: sqslint::inputs::Inputs {
            variables: vec![sqslint::inputs::Variable::Assignment("stage=x".to_owned())],
            ..sqslint::inputs::Inputs::default()
        },
        ..sqslint::Options::default()
    });
    assert_eq!(found(&outcome), [""; 0]);
}

#[test]
fn unjudged_resources_fail_the_run_with_fail_on_unjudged() {
    let main = MAIN.replace("{ default = 5 }", "{}").replace("= 60", "= 30");
    let fails = |settings: &str| {
        let outcome = check_files([("main.tf", &*main), ("sqslint.toml", settings)]);
        assert_ne!(outcome.not_evaluated.len(), 0, "{}", describe(&outcome));
        outcome.fails()
    };
    assert!(!fails("select = [\"visibility\"]\n"));
    assert!(fails("select = [\"visibility\"]\nfail-on-unjudged = true\n"));
}

/// Returns the module with `timeout` as its function's timeout, and `more` in place of the variable.
fn selecting(timeout: &str, more: &str) -> String {
    let main = MAIN.replace("variable \"timeout\" { default = 5 }\n", more);
    main.replace("= var.timeout", &format!("= {timeout}"))
}
