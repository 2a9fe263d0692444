//! Checks that a package has one source, also among many.

use super::{PYTHON, cloudformation, handlers};

#[test]
fn file_of_several_packages_belongs_to_none() {
    let function = |name: &str| {
        format!(
            "resource \"aws_lambda_function\" \"{name}\" {{\n  function_name = \"{name}\"\n  role = \"r\"\n  handler = \"app.run\"\n  s3_key = \"{name}.zip\"\n}}\n"
        )
    };
    let mapping = "resource \"aws_sqs_queue\" \"q\" {}\nresource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = aws_sqs_queue.q.arn\n  function_name = aws_lambda_function.one.arn\n}\n";
    let one = format!("{mapping}{}", function("one"));
    let both = format!("{one}{}", function("two"));
    let source = ("a/app.py", PYTHON);
    assert_eq!(handlers(&[("main.tf", &one), source]), "run a/app.py:4");
    assert_eq!(
        handlers(&[("main.tf", &both), source]),
        "source not found (looked for `app.*`)"
    );
}

#[test]
fn package_is_found_among_the_functions_of_a_large_repository() {
    let template = cloudformation("{S3Bucket: b, S3Key: function-80.zip}");
    let names: Vec<String> = (1..=99).map(|number| format!("function_{number}/app.py")).collect();
    let files = names.iter().map(|name| (&**name, PYTHON));
    let files: Vec<_> = files.chain([("template.yaml", &*template)]).collect();
    assert_eq!(handlers(&files), "run function_80/app.py:4");
}
