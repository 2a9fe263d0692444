//! Environments that conditions name: values compared with a variable or the workspace.

use super::{MAIN, check, found, selecting};
use crate::inputs::check_files;

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
    let given_nothing = "it is deployed with the defaults";
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
