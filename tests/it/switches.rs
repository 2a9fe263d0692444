//! Queues that exist only behind a switch which is off by default are mentioned once for each switch.

use sqslint::Options;
use sqslint::testing::TemporaryDirectory;

/// Returns the notes on the units of `files`.
fn notes(files: &[(&str, &str)]) -> Vec<String> {
    let folder = TemporaryDirectory::with_files(files.iter().copied());
    let outcome = sqslint::check(&Options {
        paths: vec![folder.path().to_owned()],
        ..Options::default()
    });
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let units = outcome.graph.units().iter();
    units.flat_map(|unit| unit.notes.clone()).collect()
}

const SWITCHED: &str = r#"
variable "sqs_enabled" { default = false }
resource "aws_sqs_queue" "orders" {
  count = var.sqs_enabled ? 1 : 0
}
resource "aws_sqs_queue" "failed" {
  count = var.sqs_enabled ? 1 : 0
}
"#;

#[test]
fn queues_without_an_instance_are_counted_by_the_variable() {
    let expected = "2 queues exist only with `var.sqs_enabled`, whose default leaves them out";
    assert_eq!(notes(&[("main.tf", SWITCHED)]), [expected]);
    let each = "variable \"names\" { default = {} }\nresource \"aws_sqs_queue\" \"q\" {\n  for_each = var.names\n}\n";
    let one = "1 queue exists only with `var.names`, whose default leaves it out";
    assert_eq!(notes(&[("main.tf", each)]), [one]);
}

#[test]
fn queues_of_a_module_without_an_instance_are_counted() {
    let module = SWITCHED.replace("count = var.sqs_enabled ? 1 : 0", "");
    let call = |count: &str| {
        format!("variable \"on\" {{ default = false }}\nmodule \"q\" {{\n  source = \"./q\"\n  count = {count}\n}}\n")
    };
    let expected = "2 queues exist only with `var.on`, whose default leaves them out";
    for (count, expected) in [("var.on ? 1 : 0", vec![expected]), ("0", vec![]), ("1", vec![])] {
        assert_eq!(
            notes(&[("main.tf", &call(count)), ("q/main.tf", &module)]),
            expected,
            "{count}"
        );
    }
}

#[test]
fn switch_that_is_on_or_set_is_not_mentioned() {
    let silent: Vec<String> = Vec::new();
    for files in [
        vec![("main.tf", SWITCHED.replace("default = false", "default = true"))],
        vec![("main.tf", SWITCHED.replace("default = false", ""))],
        vec![
            ("main.tf", SWITCHED.to_owned()),
            ("terraform.tfvars", "sqs_enabled = false\n".to_owned()),
        ],
        vec![
            ("main.tf", SWITCHED.to_owned()),
            ("env/prod.tfvars", "sqs_enabled = true\n".to_owned()),
        ],
        vec![(
            "main.tf",
            SWITCHED.replace("count = var.sqs_enabled ? 1 : 0", "count = 0"),
        )],
        vec![
            (
                "main.tf",
                "module \"q\" {\n  source = \"./q\"\n  sqs_enabled = false\n}\n".to_owned(),
            ),
            ("q/main.tf", SWITCHED.to_owned()),
        ],
    ] {
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        assert_eq!(notes(&files), silent, "{files:?}");
    }
}

#[test]
fn queue_behind_a_condition_is_judged_instead() {
    let template = "Parameters:\n  Queue: {Type: String, Default: 'no'}\n\
                    Conditions:\n  HasQueue: !Equals [!Ref Queue, 'yes']\n\
                    Resources:\n  Orders: {Type: AWS::SQS::Queue, Condition: HasQueue}\n";
    let folder = TemporaryDirectory::with_files([("template.yaml", template)]);
    let outcome = sqslint::check(&Options {
        paths: vec![folder.path().to_owned()],
        ..Options::default()
    });
    assert_eq!(outcome.graph.queues().len(), 1);
    assert_eq!(notes(&[("template.yaml", template)]), Vec::<String>::new());
}
