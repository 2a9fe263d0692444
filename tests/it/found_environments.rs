//! Checks discovered environments: environments that the files name are checked without configuration, in addition to
//! the default values.

use crate::inputs::check_files;
use sqslint::testing::{TemporaryDirectory, describe};
use sqslint::{Options, Outcome};

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
    for text in ["timeout = 300\nother = 1\n", "", "timeout = {\n"] {
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
    assert_eq!(check(&files), ["no environment's values are given"]);
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
        ["the environment is `prod` or no environment's values are given"]
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

const SERVICE: &str = "service: s
provider:
  name: aws
  stage: ${opt:stage, 'dev'}
custom:
  timeouts:
    dev: 5
    prod: 300
functions:
  worker:
    handler: a.b
    timeout: ${self:custom.timeouts.${STAGE}}
    events:
      - sqs: {arn: !GetAtt Orders.Arn}
resources:
  Resources:
    Orders:
      Type: AWS::SQS::Queue
      Properties: {VisibilityTimeout: 60}
";

#[test]
fn serverless_stages_are_environments() {
    for stage in [
        "sls:stage",
        "opt:stage, 'dev'",
        "self:provider.stage",
        "opt:stage, self:provider.stage",
    ] {
        let service = SERVICE.replace("STAGE", stage);
        assert_eq!(
            check(&[("serverless.yml", &service)]),
            ["the environment is `prod`"],
            "{stage}"
        );
    }
}

#[test]
fn plugin_settings_are_not_stages() {
    let custom =
        "custom:\n  webpack: {packager: npm}\n  prune: {timeout: {}}\n  dev: {timeout: 5}\n  prod: {timeout: 300}\n";
    let old = "custom:\n  timeouts:\n    dev: 5\n    prod: 300\n";
    for (written, lookup) in [
        (
            "${self:custom.timeouts.${STAGE}}",
            "${self:custom.${sls:stage}.timeout}",
        ),
        (
            "${self:custom.timeouts.${STAGE}}",
            "${self:custom.${opt:stage, self:provider.stage}.timeout}",
        ),
    ] {
        let service = SERVICE.replace(old, custom).replace(written, lookup);
        let outcome = check_files([("serverless.yml", &*service)]);
        let named = outcome.environments.join(" ");
        assert!(
            named.contains("prod") && !named.contains("webpack"),
            "{lookup}: {named}"
        );
        assert_eq!(found(&outcome), ["the environment is `prod`"], "{lookup}");
    }
    // A whole entry has to resemble that of the default stage.
    let service = SERVICE.replace(old, custom);
    let service = service.replace(
        "${self:custom.timeouts.${STAGE}}",
        "5\n    environment: ${self:custom.${sls:stage}}",
    );
    let named = check_files([("serverless.yml", &*service)]).environments.join(" ");
    assert!(named.contains("prod") && !named.contains("webpack"), "{named}");
}

#[test]
fn files_selected_by_the_stage_name_environments() {
    let files = |lookup: &str, prod: &str| {
        let service = SERVICE.replace("${self:custom.timeouts.${STAGE}}", lookup);
        let service = service.replace("  timeouts:\n    dev: 5\n    prod: 300\n", "  unused: 1\n");
        check_files([
            ("serverless.yml", &*service),
            ("config/dev.yml", "timeout: 5\nother: 1\n"),
            ("config/prod.yml", prod),
            ("config/tables.yml", "Resources: {}\n"),
        ])
    };
    for lookup in [
        "${file(config/${sls:stage}.yml):timeout}",
        "${file(./config/${opt:stage, 'dev'}.yml):timeout}",
        "${file(config/${self:provider.stage}.yml):timeout, 5}",
    ] {
        let outcome = files(lookup, "timeout: 300\n");
        assert_eq!(found(&outcome), ["the environment is `prod`"], "{lookup}");
        assert!(!outcome.environments.join(" ").contains("tables"), "{lookup}");
    }
    // Without the value that is looked up, the fallback applies, and the file is not known to be a stage.
    let outcome = files("${file(config/${sls:stage}.yml):timeout, 5}", "other: 1\n");
    assert_eq!(outcome.environments, [""; 0]);
    // A whole file has to resemble the one of the default stage.
    let whole = "5\n    environment: ${file(config/${sls:stage}.yml)}";
    let named = files(whole, "other: 2\n").environments.join(" ");
    assert!(named.contains("prod") && !named.contains("tables"), "{named}");
    // Only the path with the stage counts.
    let outcome = files("${file(config/dev.yml):timeout}", "timeout: 300\n");
    assert_eq!(outcome.environments, [""; 0]);
}

#[test]
fn stage_with_parameters_is_an_environment() {
    let service = SERVICE.replace("${self:custom.timeouts.${STAGE}}", "${param:timeout}");
    for section in [
        "params:\n  default: {timeout: 5}\n  prod: {timeout: 300}\n",
        "stages:\n  default: {params: {timeout: 5}}\n  prod: {params: {timeout: 300}}\n",
    ] {
        let service = format!("{service}{section}");
        assert_eq!(
            check(&[("serverless.yml", &service)]),
            ["the environment is `prod`"],
            "{section}"
        );
    }
}

#[test]
fn map_not_indexed_by_the_stage_names_no_environments() {
    let service = SERVICE.replace("${self:custom.timeouts.${STAGE}}", "${self:custom.timeouts.dev}");
    assert_eq!(check(&[("serverless.yml", &service)]), [""; 0]);
}

/// Returns the module with `timeout` as its function's timeout, and `more` in place of the variable.
fn selecting(timeout: &str, more: &str) -> String {
    let main = MAIN.replace("variable \"timeout\" { default = 5 }\n", more);
    main.replace("= var.timeout", &format!("= {timeout}"))
}

const BY_ENV: &str =
    "locals {\n  by_env = { dev = 5, prod = 300 }\n  deep = { timeout = { dev = 5, \"prod\" = 300 } }\n}\n";

#[test]
fn values_compared_with_a_variable_are_environments() {
    let prod = ["the environment is `prod`".to_owned()];
    for timeout in [
        "var.stage == \"prod\" ? 300 : 5",
        "\"prod\" == var.stage ? 300 : 5",
        "var.stage != \"prod\" ? 5 : 300",
        "contains([\"prod\"], var.stage) ? 300 : 5",
        "local.by_env[var.stage]",
        "local.deep.timeout[var.stage]",
        "lookup(local.by_env, var.stage, 5)",
        "{ dev = 5, prod = 300 }[var.stage]",
        "lookup({ dev = 5, prod = 300 }, local.stage)",
    ] {
        let more = format!("{BY_ENV}locals {{ stage = var.stage }}\n");
        assert_eq!(check(&[("main.tf", &selecting(timeout, &more))]), prod, "{timeout}");
    }
}

#[test]
fn values_compared_with_the_workspace_are_environments() {
    for timeout in [
        "terraform.workspace == \"prod\" ? 300 : 5",
        "lookup(local.by_env, terraform.workspace, 5)",
        "lookup(local.by_env, local.workspace, 5)",
    ] {
        let more = format!("{BY_ENV}locals {{ workspace = terraform.workspace }}\n");
        let prod = ["the environment is `prod`"];
        assert_eq!(check(&[("main.tf", &selecting(timeout, &more))]), prod, "{timeout}");
    }
    // The map has no entry for the default workspace, so only the others are known.
    let main = selecting("local.by_env[terraform.workspace]", BY_ENV);
    assert_eq!(check(&[("main.tf", &main)]), ["the environment is `prod`"]);
}

#[test]
fn environment_is_passed_to_a_called_module() {
    let child = MAIN.replace("var.timeout", "var.env == \"prod\" ? 300 : 5") + "variable \"env\" {}\n";
    let root = |env: &str| {
        format!("variable \"stage\" {{ default = \"dev\" }}\nmodule \"m\" {{\n  source = \"./m\"\n  env = {env}\n}}\n")
    };
    let judged = |env: &str| check(&[("main.tf", &root(env)), ("m/main.tf", &child)]);
    assert_eq!(judged("var.stage"), ["the environment is `prod`"]);
    assert_eq!(judged("terraform.workspace"), ["the environment is `prod`"]);
    assert_eq!(judged("\"dev\""), [""; 0]);
}

#[test]
fn value_that_is_not_allowed_is_not_an_environment() {
    let prod = "var.stage == \"prod\" ? 300 : 5";
    let validation = |list: &str| {
        format!(
            "variable \"stage\" {{\n  default = \"dev\"\n  validation {{\n    condition = contains({list}, var.stage)\n    error_message = \"no\"\n  }}\n}}\n"
        )
    };
    let with = |timeout: &str, list: &str| {
        let main = selecting(timeout, "").replace("variable \"stage\" { default = \"dev\" }\n", &validation(list));
        check(&[("main.tf", &main)])
    };
    assert_eq!(with(prod, "[\"dev\", \"test\"]"), [""; 0]);
    assert_eq!(with(prod, "[\"dev\", \"prod\"]"), ["the environment is `prod`"]);
    // The validation allows a value that the expression does not mention.
    let other = "var.stage == \"dev\" ? 5 : 300";
    assert_eq!(with(other, "[\"dev\", \"live\"]"), ["the environment is `live`"]);
    // The value is fixed by a file that Terraform always loads.
    let main = selecting(prod, "");
    for name in ["terraform.tfvars", "a.auto.tfvars"] {
        assert_eq!(
            check(&[("main.tf", &main), (name, "stage = \"dev\"\n")]),
            [""; 0],
            "{name}"
        );
    }
    // If there are variable files of environments, those are all environments.
    let files = [("main.tf", &*main), ("env/dev.tfvars", "stage = \"dev\"\n")];
    assert_eq!(check(&files), [""; 0]);
}

#[test]
fn workspace_uses_the_variable_file_of_its_name() {
    let main = selecting(
        "terraform.workspace == \"prod\" ? var.timeout : 5",
        "variable \"timeout\" { default = 5 }\n",
    );
    let prod = ("env/prod.tfvars", "timeout = 300\n");
    assert_eq!(check(&[("main.tf", &main), prod]), ["the environment is `prod`"]);
    // If no file has the name of the workspace, any of the files may be used with it.
    let live = main
        .replace("\"prod\"", "\"live\"")
        .replace("var.timeout : 5", "300 : 5");
    let condition = "terraform.workspace = live and the environment is `prod`";
    assert_eq!(check(&[("main.tf", &live), prod]), [condition]);
}

/// The workspace `shop-dev` may use `dev.tfvars`.
#[test]
fn variable_file_without_a_workspace_of_its_name_applies_to_any() {
    let main = selecting(
        "contains([\"shop-dev\", \"prod\"], terraform.workspace) ? 5 : var.timeout",
        "variable \"timeout\" { default = 300 }\n",
    );
    let files = |workspaces: &str| {
        let main = main.replace("[\"shop-dev\", \"prod\"]", workspaces);
        let files = [("dev.tfvars", "timeout = 400\n"), ("prod.tfvars", "timeout = 400\n")];
        check(&[("main.tf", &main), files[0], files[1]])
    };
    let given_nothing = "no environment's values are given";
    let open = "not contains([\"shop-dev\", \"prod\"], terraform.workspace) and the environment is `dev`";
    assert_eq!(files("[\"shop-dev\", \"prod\"]"), [given_nothing, open]);
    assert_eq!(files("[\"prod\"]"), [given_nothing, "the environment is `dev`"]);
}

#[test]
fn environment_from_another_variable_names_the_variable() {
    let main = selecting(
        "var.size == \"large\" ? 300 : 5",
        "variable \"size\" { default = \"small\" }\n",
    );
    let outcome = check_files([("main.tf", &*main)]);
    assert_eq!(found(&outcome), ["the environment is `size=large`"]);
    assert!(
        outcome.environments[0].ends_with("with `size = large`"),
        "{:?}",
        outcome.environments
    );
    let files = [("main.tf", &*main), ("sqslint.toml", "environments = \"default\"\n")];
    assert_eq!(check(&files), [""; 0]);
}

/// Each environment receives its own value, regardless of their order.
#[test]
fn finding_names_only_the_wrong_environment() {
    for (wrong, choice) in [
        ("a", "var.stage == \"a\" ? 300 : var.stage == \"b\" ? 6 : 5"),
        ("b", "var.stage == \"a\" ? 6 : var.stage == \"b\" ? 300 : 5"),
        ("b", "lookup({ a = 6, b = 300, c = 7 }, var.stage, 5)"),
    ] {
        let main = selecting(choice, "");
        assert_eq!(
            check(&[("main.tf", &main)]),
            [format!("the environment is `{wrong}`")],
            "{choice}"
        );
    }
}

/// Checks a root whose variable files name `count` environments, of which only `defect` has a defect.
fn check_many(count: usize, defect: &str) -> Outcome {
    let names = (1..count).map(|at| format!("env/a{at:04}.tfvars"));
    let files = names.map(|name| (name, "timeout = 5\n".to_owned()));
    let defect = (format!("env/{defect}.tfvars"), "timeout = 300\n".to_owned());
    let files: Vec<_> = files.chain([defect, ("main.tf".to_owned(), MAIN.to_owned())]).collect();
    check_files(files.iter().map(|(path, text)| (&**path, &**text)))
}

/// Returns the headlines of findings on environments that were not judged, without the path of the root.
fn unjudged(outcome: &Outcome) -> Vec<String> {
    let limits = outcome.findings.iter().filter(|found| found.rule == "limit-reached");
    limits
        .map(|found| found.headline.replace(&found.subject.unit, "."))
        .collect()
}

#[test]
fn equally_named_files_that_set_the_same_variables_are_separate_environments() {
    let region = |name: &str, text: &str| (format!("env/{name}.tfvars"), text.to_owned());
    let judged = |files: &[(String, String)]| {
        let files = files.iter().map(|(path, text)| (&**path, &**text));
        found(&check_files(files.chain([("main.tf", MAIN)])))
    };
    let files = [region("eu/prod", "timeout = 300\n"), region("us/prod", "timeout = 6\n")];
    assert_eq!(judged(&files), ["the environment is `env/eu/prod`"]);
    let files = [
        region("eu/prod/terraform", "timeout = 6\n"),
        region("us/prod/terraform", "timeout = 300\n"),
    ];
    assert_eq!(judged(&files), ["the environment is `env/us/prod`"]);
    // Files that set different variables are parts of one environment.
    let files = [
        region("functions/prod", "timeout = 300\n"),
        region("tags/prod", "stage = \"x\"\n"),
    ];
    assert_eq!(judged(&files), ["the environment is `prod`"]);
}

#[test]
fn all_environments_up_to_the_bound_are_judged() {
    for count in [12, 13, 40, 200] {
        let outcome = check_many(count, "prod");
        assert_eq!(found(&outcome), ["the environment is `prod`"], "{count}");
        assert_eq!(unjudged(&outcome), [""; 0], "{count}");
    }
}

#[test]
fn environments_beyond_the_bound_are_reported() {
    for defect in ["prod", "shop-production", "live", "PRD-eu"] {
        let outcome = check_many(201, defect);
        assert_eq!(found(&outcome), [format!("the environment is `{defect}`")], "{defect}");
        assert_eq!(unjudged(&outcome), ["1 environment of `.` was not judged: `a0200`"]);
        assert!(outcome.fails());
    }
    // Staging is next, and other names are last.
    for (defect, finds) in [("staging", true), ("zz", false)] {
        let outcome = check_many(201, defect);
        assert_eq!(found(&outcome).len(), usize::from(finds), "{defect}");
        assert_eq!(unjudged(&outcome).len(), 1, "{defect}");
    }
    let outcome = check_many(300, "zz");
    let headline = &unjudged(&outcome)[0];
    assert!(
        headline.starts_with("100 environments of `.` were not judged: `a0201`, `a0202`"),
        "{headline}"
    );
    assert!(headline.ends_with("`a0250` and 50 more"), "{headline}");
}

#[test]
fn all_written_values_up_to_the_bound_are_judged() {
    for count in [12, 13, 40] {
        let rows: Vec<String> = (1..count).map(|at| format!("a{at} = 5")).collect();
        let main = selecting(
            &format!("lookup({{ {}, prod = 300 }}, var.stage, 5)", rows.join(", ")),
            "",
        );
        assert_eq!(check(&[("main.tf", &main)]), ["the environment is `prod`"], "{count}");
        let allowed: Vec<String> = (1..count).map(|at| format!("\"a{at}\"")).collect();
        let validation = format!(
            "validation {{\n condition = contains([{}, \"prod\"], var.stage)\n error_message = \"x\"\n}}",
            allowed.join(", ")
        );
        let main = selecting("startswith(var.stage, \"a\") || var.stage == \"dev\" ? 5 : 300", "").replace(
            "{ default = \"dev\" }",
            &format!("{{\ndefault = \"dev\"\n{validation}\n}}"),
        );
        assert_eq!(
            check(&[("main.tf", &main)]),
            ["the environment is `prod`"],
            "{count}: {main}"
        );
    }
    let rows: Vec<String> = (0..201).map(|at| format!("a{at:03} = 5")).collect();
    let main = selecting(&format!("lookup({{ {} }}, var.stage, 5)", rows.join(", ")), "");
    let outcome = check_files([("main.tf", &*main)]);
    assert_eq!(unjudged(&outcome), ["1 environment of `.` was not judged: `a200`"]);
}

#[test]
fn environments_judge_the_units_that_they_concern_and_those_linked_to_them() {
    let main = r#"
variable "stage" { default = "dev" }
resource "aws_sqs_queue" "orders" {
  name                       = "orders-${var.stage}"
  visibility_timeout_seconds = 30
}
"#;
    let template = |queue: &str| {
        format!(
            "Resources:\n  F: {{Type: AWS::Lambda::Function, Properties: {{Timeout: 60}}}}\n  M:\n    \
             Type: AWS::Lambda::EventSourceMapping\n    Properties:\n      FunctionName: !Ref F\n      \
             EventSourceArn: arn:aws:sqs:eu-west-1:111122223333:{queue}\n"
        )
    };
    for count in [12, 13, 40] {
        let names = (1..count).map(|at| format!("a{at:04}")).chain(["prod".to_owned()]);
        let mut files: Vec<(String, String)> = names
            .map(|name| (format!("infra/env/{name}.tfvars"), format!("stage = \"{name}\"\n")))
            .collect();
        files.push(("infra/main.tf".to_owned(), main.to_owned()));
        files.push(("worker/template.yaml".to_owned(), template("orders-prod")));
        files.extend((0..9).map(|at| (format!("other{at}/template.yaml"), template(&format!("other-{at}")))));
        let directory = TemporaryDirectory::with_files(files.iter().map(|(path, text)| (&**path, &**text)));
        // A traced run loads all units in every environment.
        let [outcome, whole] = [false, true].map(|trace| {
            sqslint::check(&Options {
                paths: vec![directory.path().to_owned()],
                trace,
                ..Options::default()
            })
        });
        assert_eq!(found(&outcome), ["the environment is `prod`"], "{count}");
        assert_eq!(describe(&outcome), describe(&whole), "{count}");
    }
}

#[test]
fn grant_of_another_unit_to_an_unresolved_role_counts_in_every_environment() {
    let main = r#"
variable "timeout" { default = 5 }
resource "aws_sqs_queue" "orders" { visibility_timeout_seconds = 1800 }
resource "aws_iam_role" "worker" { assume_role_policy = "{}" }
resource "aws_lambda_function" "worker" {
  timeout = var.timeout
  role    = aws_iam_role.worker.arn
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.worker.arn
}
"#;
    let grant = r#"
variable "role" {}
resource "aws_iam_role_policy" "consumers" {
  role   = var.role
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "sqs:*", Resource = "*" }] })
}
"#;
    let missing = |files: &[(&str, &str)]| {
        let findings = check_files(files.iter().copied()).findings.into_iter();
        findings
            .filter(|found| found.rule == "function-role-missing-queue-permission")
            .count()
    };
    let files = [
        ("infra/main.tf", main),
        ("infra/env/prod.tfvars", "timeout = 6\n"),
        ("shared/main.tf", grant),
    ];
    assert_eq!((missing(&files[..2]), missing(&files)), (1, 0));
}
