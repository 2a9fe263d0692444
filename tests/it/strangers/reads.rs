//! Checks that no file outside the repository is read, nor any of git's own files, whatever refers to them.

use super::*;

#[test]
fn terraform_files_linked_from_outside_are_reported_and_not_shown() {
    let scene = HostileRepository::with(&[("main.tf", QUEUE)]);
    scene.link("../secret", "leak.tf").link("../secret", "more.tf.json");
    scene.shows_no_secret(&[]);
    let run = scene.run(&["check", "--format", "concise"]);
    assert_eq!(run.code(), 1);
    run.says("leak.tf:1:1: error[parse-error]")
        .says("it is a link that leads out of the repository");
    // The rest of the module is checked.
    run.says("queue-attribute-out-of-range");
}

#[test]
fn variable_files_linked_from_outside_are_not_read() {
    for name in ["terraform.tfvars", "prod.auto.tfvars", "x.auto.tfvars.json"] {
        let scene = HostileRepository::with(&[("main.tf", QUEUE)]);
        scene.link("../secret", name).shows_no_secret(&[]);
        scene
            .run(&["check", "--format", "concise"])
            .says(name)
            .says("leads out of the repository");
    }
}

#[test]
fn files_of_git_are_not_read() {
    let reading = "resource \"aws_sqs_queue\" \"q\" {\n  name = file(\".git/config\")\n}\n";
    let scene = HostileRepository::with(&[("main.tf", reading)]);
    scene
        .link(".git/config", "terraform.tfvars")
        .link(".git/config", "x.tf");
    scene.shows_no_secret(&[]);
    scene
        .run(&["check", "--format", "concise"])
        .says("it is one of git's own files");
    for function in [
        "templatefile(\".git/config\", {})",
        "filebase64(\".git/config\")",
        "file(\".GIT/config\")",
    ] {
        let text = format!("resource \"aws_sqs_queue\" \"q\" {{\n  name = {function}\n}}\n");
        let scene = HostileRepository::with(&[("main.tf", &text)]);
        scene.shows_no_secret(&[]);
        let graph = scene.run(&["graph", "--format", "json"]);
        assert!(!graph.text().contains("W2h0dHBd"), "base64 of it: {}", graph.text());
    }
}

#[test]
fn configurations_linked_from_outside_are_rejected() {
    for name in ["sqslint.toml", ".sqslint.toml"] {
        let scene = HostileRepository::with(&[("main.tf", QUEUE)]);
        scene.link("../secret", name).shows_no_secret(&[]);
        let run = scene.run(&["check"]);
        assert_eq!(run.code(), 2);
        run.says(name).says("it is a link that leads out of the repository");
    }
    // A dangling link is not ignored either.
    let scene = HostileRepository::with(&[("main.tf", QUEUE)]);
    assert_eq!(scene.link("../nothing", "sqslint.toml").run(&["check"]).code(), 2);
    // A link within the repository is as good as a copy.
    let scene = HostileRepository::with(&[("main.tf", QUEUE), ("shared/s.toml", "fail-level = \"never\"\n")]);
    let run = scene.link("shared/s.toml", "sqslint.toml").run(&["check"]);
    assert_eq!(run.code(), 0, "{}", run.text());
}

#[test]
fn configurations_cannot_extend_files_outside() {
    let scene = HostileRepository::with(&[("main.tf", QUEUE)]);
    let outside = scene.outside("secret");
    for target in [
        "../secret",
        "/proc/self/environ",
        ".git/config",
        &*outside.to_string_lossy(),
    ] {
        let text = format!("extend = {target:?}\n");
        fs::write(scene.path("sqslint.toml"), text).unwrap();
        scene.shows_no_secret(&[]);
        let run = scene.run(&["check"]);
        assert_eq!(run.code(), 2);
        run.says("sqslint.toml:1:10");
    }
}

#[test]
fn environments_cannot_use_files_outside() {
    let variables = "[[environment]]\nname = \"prod\"\nvar-files = [\"../secret\"]\n";
    let parameters = "[[environment]]\nname = \"prod\"\nparameters = \"../secret\"\n";
    for text in [variables, parameters] {
        let template = "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n";
        let scene = HostileRepository::with(&[("main.tf", QUEUE), ("template.yaml", template), ("sqslint.toml", text)]);
        scene.shows_no_secret(&[]);
        let run = scene.run(&["check"]);
        assert_eq!(run.code(), 2, "{}", run.text());
        run.says("secret").says("outside of the repository");
    }
}

#[test]
fn samconfigs_baselines_and_templates_linked_from_outside_are_not_read() {
    let template = "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n";
    let scene = HostileRepository::with(&[("template.yaml", template)]);
    scene
        .link("../secret", "samconfig.toml")
        .link("../secret", ".sqslint-baseline.json");
    scene.link("../secret", "other.yaml").shows_no_secret(&[]);
    scene
        .run(&["check"])
        .says(".sqslint-baseline.json")
        .says("leads out of the repository");
}

#[test]
fn named_links_out_of_the_repository_are_rejected() {
    let scene = HostileRepository::with(&[("main.tf", QUEUE)]);
    fs::create_dir(scene.outside("far")).unwrap();
    fs::write(
        scene.outside("far/x.tf"),
        format!("# {SECRET}\nresource {{{{ {SECRET}\n"),
    )
    .unwrap();
    scene
        .link("../far", "infra")
        .link("../secret", "leak.yaml")
        .link("../far/x.tf", "y.tf");
    for name in ["infra", "infra/x.tf", "leak.yaml", "y.tf"] {
        scene.shows_no_secret(&[name]);
        let run = scene.run(&["check", name]);
        assert_eq!(run.code(), 2, "{name}: {}", run.text());
        run.says("it is a link that leads out of the repository");
    }
    for flag in ["--var-file", "--parameters", "--config", "--baseline"] {
        let run = scene.run(&["check", flag, "leak.yaml", "main.tf"]);
        run.shows_no_secret();
        assert_eq!(run.code(), 2, "{flag}: {}", run.text());
        run.says("leads out of the repository");
    }
    scene
        .run(&["explain", "leak.yaml:1"])
        .says("leads out of the repository");
    // A path named by the user, without a link, may be anywhere.
    fs::write(scene.outside("prod.tfvars"), "").unwrap();
    let run = scene.run(&["check", "--var-file", "../prod.tfvars", "main.tf"]);
    assert_eq!(run.code(), 1, "{}", run.text());
    let run = scene.run(&["check", "../far"]);
    assert_eq!(run.code(), 1, "{}", run.text());
    run.says("x.tf:2");
}

#[test]
fn links_within_the_repository_are_followed() {
    let scene = HostileRepository::with(&[("shared/queue.tf", QUEUE), ("infra/.keep", "")]);
    scene.link("../shared/queue.tf", "infra/queue.tf");
    let run = scene.run(&["check", "infra", "--format", "concise"]);
    assert_eq!(run.code(), 1);
    run.says("queue-attribute-out-of-range");
}

#[test]
fn called_modules_cannot_link_outside() {
    let call = "module \"q\" {\n  source = \"./q\"\n}\n";
    let scene = HostileRepository::with(&[("main.tf", call), ("q/main.tf", QUEUE)]);
    scene.link("../../secret", "q/leak.tf");
    fs::create_dir_all(scene.path(".terraform/modules")).unwrap();
    scene.link("../../../secret", ".terraform/modules/modules.json");
    scene.shows_no_secret(&[]);
    scene
        .run(&["check", "--format", "concise"])
        .says("q/leak.tf:1:1: error[parse-error]");
}

#[test]
fn without_a_repository_links_out_of_the_named_directory_are_rejected() {
    let scene = HostileRepository::with(&[("main.tf", QUEUE)]);
    fs::remove_dir_all(scene.path(".git")).unwrap();
    scene.link("../secret", "terraform.tfvars").shows_no_secret(&[]);
    scene.run(&["check", "--format", "concise"]).says("terraform.tfvars");
    // Modules next to the named directory are read nevertheless, as Terraform does.
    let call = "module \"q\" {\n  source = \"../modules/q\"\n}\n";
    let scene = HostileRepository::with(&[("live/main.tf", call), ("modules/q/main.tf", QUEUE)]);
    fs::remove_dir_all(scene.path(".git")).unwrap();
    scene
        .run(&["check", "live", "--format", "concise"])
        .says("modules/q/main.tf:2");
}

#[test]
fn function_source_outside_is_not_read() {
    let template = |code: &str| {
        format!(
            "Transform: AWS::Serverless-2016-10-31
Resources:
  Q:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: {code}
      Handler: app.handler
      Events: {{E: {{Type: SQS, Properties: {{Queue: !GetAtt Q.Arn}}}}}}
"
        )
    };
    let handler = format!("def handler(event, context):\n    return {{'batchItemFailures': work('{SECRET}')}}\n");
    let only = ["--select", "batch-item-failures-ignored"];
    let check = ["check", "--select", "batch-item-failures-ignored"];
    // The code is in a directory next to the repository, by path and by link.
    for (code, link) in [("../far", None), ("src", Some("src"))] {
        let scene = HostileRepository::with(&[("template.yaml", &template(code))]);
        fs::create_dir(scene.outside("far")).unwrap();
        fs::write(scene.outside("far/app.py"), &handler).unwrap();
        if let Some(name) = link {
            scene.link("../far", name);
        }
        scene.shows_no_secret(&only);
        assert_eq!(scene.run(&check).code(), 0);
    }
    // The code is a link, and one of git's own files.
    let scene = HostileRepository::with(&[("template.yaml", &template(".")), (".git/app.py", &handler)]);
    fs::write(scene.outside("app.py"), &handler).unwrap();
    scene.link("../app.py", "app.py").shows_no_secret(&only);
    let scene = HostileRepository::with(&[("template.yaml", &template(".git")), (".git/app.py", &handler)]);
    scene.shows_no_secret(&only);
    // A link within the repository is as good as a copy.
    let inside = handler.replace(SECRET, "x");
    let scene = HostileRepository::with(&[("template.yaml", &template("src")), ("code/app.py", &inside)]);
    assert_eq!(scene.link("code", "src").run(&check).code(), 1);
}
