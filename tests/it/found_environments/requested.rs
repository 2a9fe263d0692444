//! Requested environments (`--environment`): only these are judged.

use super::{MAIN, found};
use sqslint::history::{Action, BaselineChoice};
use sqslint::inputs::Variable;
use sqslint::testing::{TemporaryDirectory, describe};
use sqslint::{Options, Outcome, check, write_baseline};

const FILES: [(&str, &str); 4] = [
    ("main.tf", MAIN),
    ("env/dev.tfvars", "timeout = 100\n"),
    ("env/prod.tfvars", "timeout = 300\n"),
    ("env/test.tfvars", "timeout = 6\n"),
];

fn options(directory: &TemporaryDirectory, environments: &[&str]) -> Options {
    Options {
        paths: vec![directory.path().to_owned()],
        environments: environments.iter().map(|&name| name.to_owned()).collect(),
        ..Options::default()
    }
}

/// Returns the condition of each finding about visibility timeouts in `environments`, with the timeouts that it states.
fn judged(outcome: &Outcome) -> Vec<String> {
    let timeouts = outcome.findings.iter().filter_map(|found| {
        let (_, rest) = found.headline.split_once("may run for ")?;
        rest.split_once(" s").map(|(seconds, _)| seconds.to_owned())
    });
    timeouts
        .zip(found(outcome))
        .map(|(seconds, when)| format!("{seconds} {when}"))
        .collect()
}

#[test]
fn only_requested_environments_are_judged() {
    let directory = TemporaryDirectory::with_files(FILES);
    for (environments, expected) in [
        (&["prod"][..], &["300 always"][..]),
        (&["test"], &[]),
        (&["default"], &[]),
        (
            &["dev", "prod"],
            &["100 the environment is `dev`", "300 the environment is `prod`"],
        ),
        (&["prod", "default"], &["300 the environment is `prod`"]),
    ] {
        for trace in [false, true] {
            let options = Options {
                trace,
                ..options(&directory, environments)
            };
            let outcome = check(&options);
            assert_eq!(judged(&outcome), expected, "{environments:?} {}", describe(&outcome));
        }
    }
    let outcome = check(&options(&directory, &["prod"]));
    assert_eq!(outcome.environment.as_deref(), Some("prod"), "its graph is shown");
}

#[test]
fn unknown_environment_stops_the_run() {
    let directory = TemporaryDirectory::with_files(FILES);
    let outcome = check(&options(&directory, &["prod", "live"]));
    let error = "`--environment`: there is no environment `live`; there are `default`, `dev`, `prod`, `test`";
    assert_eq!(outcome.errors, [error]);
    assert!(outcome.findings.is_empty(), "{}", describe(&outcome));
    // Declared environments replace the others.
    let declared = "[[environment]]\nname = \"eu\"\nvar-files = [\"env/prod.tfvars\"]\n";
    let files = FILES.into_iter().chain([("sqslint.toml", declared)]);
    let directory = TemporaryDirectory::with_files(files);
    assert_eq!(judged(&check(&options(&directory, &["eu"]))), ["300 always"]);
    for name in ["default", "prod"] {
        let error = format!("`--environment`: there is no environment `{name}`; there are `eu`");
        assert_eq!(check(&options(&directory, &[name])).errors, [error]);
    }
}

#[test]
fn environment_beyond_the_bound_can_be_requested() {
    let names = (0..230).map(|at| (format!("env/a{at:04}.tfvars"), format!("timeout = {}\n", 100 + at)));
    let files: Vec<(String, String)> = names.chain([("main.tf".to_owned(), MAIN.to_owned())]).collect();
    let directory = TemporaryDirectory::with_files(files.iter().map(|(path, text)| (&**path, &**text)));
    let outcome = check(&options(&directory, &["a0229", "a0001"]));
    let expected = ["329 the environment is `a0229`", "101 the environment is `a0001`"];
    assert_eq!(judged(&outcome), expected);
    let limits = outcome.findings.iter().filter(|found| found.rule == "limit-reached");
    assert_eq!(limits.count(), 0);
}

#[test]
fn values_of_the_command_line_override_the_environment() {
    let directory = TemporaryDirectory::with_files(FILES);
    let mut options = options(&directory, &["prod"]);
    options
        .inputs
        .variables
        .push(Variable::Assignment("stage=x".to_owned()));
    assert_eq!(judged(&check(&options)), ["300 always"]);
    options
        .inputs
        .variables
        .push(Variable::Assignment("timeout=70".to_owned()));
    assert_eq!(judged(&check(&options)), ["70 always"]);
    // The request also takes precedence over the configuration.
    let only_default = "environments = \"default\"".to_owned();
    options.config.lines.push(only_default);
    assert_eq!(judged(&check(&options)), ["70 always"]);
}

#[test]
fn units_with_other_environments_are_not_judged() {
    let alone = MAIN.replace("= var.timeout", "= 400").replace("variable", "# variable");
    let alone = alone.replace("= var.stage", "= 1");
    let files = [
        ("a/main.tf", MAIN),
        ("a/env/prod.tfvars", "timeout = 300\n"),
        ("b/main.tf", &*MAIN.replace("default = 5", "default = 200")),
        ("b/env/dev.tfvars", "timeout = 100\n"),
        ("c/main.tf", &alone),
    ];
    let directory = TemporaryDirectory::with_files(files);
    for (environments, expected, queues) in [
        (&["prod"][..], &["300 always", "400 always"][..], 2),
        (&["dev"], &["100 always", "400 always"], 2),
        (&["default"], &["200 always", "400 always"], 3),
        (&["dev", "prod"], &["300 always", "100 always", "400 always"], 3),
    ] {
        let outcome = check(&options(&directory, environments));
        assert_eq!(judged(&outcome), expected, "{environments:?}");
        assert_eq!(outcome.coverage.queues, queues, "{environments:?}");
    }
}

#[test]
fn suppression_for_another_environment_is_not_unused() {
    let rule = "visibility-timeout-below-function-timeout";
    let main = MAIN.replace(
        "resource \"aws_sqs_queue\"",
        &format!("# sqslint: ignore[{rule}] slow\nresource \"aws_sqs_queue\""),
    );
    let directory = TemporaryDirectory::with_files([("main.tf", &*main), FILES[2], FILES[3]]);
    for environments in [&[][..], &["prod"], &["test"], &["default"]] {
        let outcome = check(&options(&directory, environments));
        let unused = outcome
            .findings
            .iter()
            .filter(|found| found.rule == "unused-suppression");
        assert_eq!(unused.count(), 0, "{environments:?}");
    }
}

#[test]
fn baseline_of_one_environment_leaves_the_others() {
    let directory = TemporaryDirectory::with_files(FILES);
    let file = directory.path().join("baseline.json");
    let with = |environments: &[&str]| Options {
        baseline: BaselineChoice::File(file.clone()),
        ..options(&directory, environments)
    };
    let write = |environments: &[&str], action| {
        let (outcome, written) = write_baseline(&with(environments), action);
        assert!(outcome.errors.is_empty(), "{}", describe(&outcome));
        (written[0].added, written[0].removed)
    };
    write(&["prod"], Action::Create);
    assert_eq!(judged(&check(&with(&["prod"]))), [""; 0]);
    assert_eq!(judged(&check(&with(&[]))), ["100 the environment is `dev`"]);
    // An entry of `prod` is neither stale nor replaced.
    assert_eq!(write(&["test"], Action::Prune), (0, 0));
    assert_eq!(write(&["dev"], Action::Update).1, 0);
    assert_eq!(judged(&check(&with(&["dev", "prod"]))), [""; 0]);
    std::fs::write(directory.path().join("env/dev.tfvars"), "timeout = 6\n").expect("the file is writable");
    assert_eq!(write(&["prod"], Action::Prune), (0, 0));
    assert_eq!(write(&["dev"], Action::Prune), (0, 1));
}
