//! Checks pipes, devices, sockets and endless files in place of inputs: each is reported, and none blocks the program.

use super::*;
use std::os::unix::net::UnixListener;

/// Creates a named pipe without a writer.
fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("mkfifo is there");
    assert!(made.success());
}

/// Creates a sparse file of eight gibibytes that begins with `text`.
fn endless(path: &Path, text: &str) {
    let mut file = fs::File::create(path).unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    file.set_len(8 << 30).unwrap();
}

#[test]
fn devices_and_pipes_in_place_of_terraform_files_are_reported() {
    let scene = HostileRepository::with(&[("main.tf", QUEUE)]);
    pipe(&scene.path("pipe.tf"));
    pipe(&scene.path("terraform.tfvars"));
    scene.link("/dev/zero", "zero.tf").link("/dev/stdin", "stdin.tf");
    let _socket = UnixListener::bind(scene.path("socket.tf")).unwrap();
    let run = scene.run(&["check", "--format", "concise"]);
    assert_eq!(run.code(), 1, "{}", run.text());
    for name in ["pipe.tf", "terraform.tfvars", "socket.tf"] {
        run.says(&format!("`{name}` cannot be read: it is not an ordinary file"));
    }
    for name in ["zero.tf", "stdin.tf"] {
        run.says(&format!(
            "`{name}` cannot be read: it is a link that leads out of the repository"
        ));
    }
    run.says("queue-attribute-out-of-range");
}

#[test]
fn module_with_only_a_pipe_is_reported() {
    let scene = HostileRepository::with(&[]);
    pipe(&scene.path("z.tf"));
    let run = scene.run(&["check", "--format", "concise"]);
    assert_eq!(run.code(), 1, "{}", run.text());
    run.says("z.tf:1:1: error[parse-error]");
}

#[test]
fn pipes_in_place_of_other_files_do_not_block() {
    let template = "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n";
    let names = [
        ".gitignore",
        "samconfig.toml",
        "sqslint.toml",
        ".sqslint-baseline.json",
        "other.yaml",
        "terragrunt.hcl",
        "serverless.yml",
        "x.tfstate",
        "infra/.gitignore",
    ];
    for name in names {
        let scene = HostileRepository::with(&[("template.yaml", template), ("main.tf", QUEUE), ("infra/a.tf", QUEUE)]);
        pipe(&scene.path(name));
        for arguments in [
            &["check"][..],
            &["check", "main.tf"],
            &["check", name, "main.tf"],
            &["graph"],
        ] {
            let run = scene.run(arguments);
            assert!([0, 1, 2].contains(&run.code()), "{name} {arguments:?}: {}", run.text());
        }
        let run = scene.run(&["check", name]);
        assert_ne!(run.code(), 0, "{name}: {}", run.text());
    }
}

#[test]
fn endless_gitignore_is_reported_and_ignored() {
    let scene = HostileRepository::with(&[("infra/main.tf", QUEUE)]);
    endless(&scene.path("infra/.gitignore"), "*.tf\n");
    let run = scene.run(&["check", "--format", "concise"]);
    assert_eq!(run.code(), 1, "{}", run.text());
    run.says("infra/.gitignore:1:1: error[limit-reached]")
        .says("it is larger than 4 MiB");
    run.says("queue-attribute-out-of-range");
}

#[test]
fn huge_files_reach_the_limit() {
    let head = "AWSTemplateFormatVersion: 2010-09-09\nResources:\n  Q:\n    Type: AWS::SQS::Queue\n";
    let inputs = [
        ("z.tf", QUEUE),
        ("terraform.tfvars", "a = 1\n"),
        ("template.yaml", head),
        (
            "plan.json",
            "{\"format_version\": \"1.2\", \"terraform_version\": \"1.11.4\", \"planned_values\": {",
        ),
    ];
    for (name, text) in inputs {
        let scene = HostileRepository::with(&[("main.tf", QUEUE)]);
        endless(&scene.path(name), text);
        let run = scene.run(&["check", ".", name, "--format", "concise"]);
        assert_eq!(run.code(), 1, "{name}: {}", run.text());
        run.says(&format!("{name}:1:1: error[limit-reached]"))
            .says("it is larger than");
        run.says("queue-attribute-out-of-range");
    }
    // An unrelated file is skipped, regardless of its size.
    let scene = HostileRepository::with(&[("main.tf", QUEUE)]);
    endless(&scene.path("data.json"), "[");
    assert_eq!(scene.run(&["check"]).code(), 1);
    // A configuration that is too large cannot be read.
    let scene = HostileRepository::with(&[("main.tf", QUEUE)]);
    endless(&scene.path("sqslint.toml"), "");
    scene.run(&["check"]).says("it is larger than 1 MiB");
}
