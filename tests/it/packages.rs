//! What lies around the program for others to take it by: the action, workflows, packages, completions, manual. What
//! each says of the others is held here; that hooks work, in `hooks.rs`.

#[cfg(unix)]
use sqslint::testing::TemporaryDirectory;
use sqslint::testing::needs::{BASH, FISH, GROFF, ZSH};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn text(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("it is there")
}

fn printed(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_sqslint"))
        .args(arguments)
        .output()
        .expect("it is built");
    assert!(output.status.success());
    output.stdout
}

/// What `program` says about `input`.
fn fed(program: &str, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program is there");
    let mut pipe = child.stdin.take().expect("it is piped");
    std::io::Write::write_all(&mut pipe, input).expect("it is read");
    drop(pipe);
    child.wait_with_output().expect("it ends")
}

/// The script of the last step of the action, without its indentation.
fn script(action: &str) -> String {
    let (_, script) = action.rsplit_once("run: |\n").expect("the last step has one");
    script.lines().map(|line| line.trim_start().to_owned() + "\n").collect()
}

#[test]
fn inputs_of_the_action_are_used_and_are_no_script() {
    let action = text("action.yml");
    let (inputs, runs) = action.split_once("\nruns:").expect("it has both");
    let names = inputs.lines().filter_map(|line| {
        line.strip_prefix("  ")?
            .strip_suffix(':')
            .filter(|name| !name.starts_with(' '))
    });
    let names: Vec<&str> = names.collect();
    assert_eq!(names, ["paths", "arguments", "working-directory"]);
    for name in names {
        assert!(
            runs.contains(&format!("${{{{ inputs.{name} }}}}")),
            "{name} is not used"
        );
    }
    assert!(!script(&action).contains("${{"), "an input stands in the script");
}

#[cfg(unix)]
#[test]
fn the_action_hands_its_inputs_over() {
    let place = TemporaryDirectory::with_files([
        (
            "a/main.tf",
            "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n",
        ),
        ("sqslint/bin/x", ""),
    ]);
    let program = place.path().join("sqslint/bin/sqslint");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_sqslint"), program).expect("it is writable");
    let run = |paths: &str, arguments: &str| {
        let mut command = Command::new("bash");
        command.args([
            "--noprofile",
            "--norc",
            "-eo",
            "pipefail",
            "-c",
            &script(&text("action.yml")),
        ]);
        command.current_dir(place.path()).env("RUNNER_TEMP", place.path());
        command
            .env("PATHS", paths)
            .env("ARGUMENTS", arguments)
            .env("SQSLINT_FORMAT", "concise");
        let output = command.output().expect("bash is there");
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), said)
    };
    if !BASH.is_met() {
        return;
    }
    let (code, said) = run("a", "--select visibility\n--fail-level error");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 warning in 1 module"), "{said}");
    assert_eq!(run("a", "").0, Some(1));
    let (code, said) = run("a\nb", "");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`b`: no such file"), "{said}");
    // Neither a command nor a flag can be slipped in.
    run("$(touch harm) `touch harm` ; touch harm", "$(touch harm)");
    assert!(!place.path().join("harm").exists());
    assert!(run("--version", "").1.contains("`--version`: no such file"));
}

#[test]
fn workflows_take_actions_by_their_commits() {
    for name in ["ci.yml", "release.yml"] {
        let workflow = text(&format!(".github/workflows/{name}"));
        let used: Vec<&str> = workflow
            .lines()
            .filter_map(|line| Some(line.split_once("uses: ")?.1))
            .collect();
        assert!(!used.is_empty());
        for action in used {
            let (commit, version) = action
                .split_once('@')
                .and_then(|(_, pin)| pin.split_once(" # v"))
                .expect(action);
            assert!(
                commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{action}"
            );
            assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{action}");
        }
    }
}

#[test]
fn archives_have_the_name_that_binstall_looks_for() {
    let (package, release) = (text("Cargo.toml"), text(".github/workflows/release.yml"));
    assert!(package.contains("/releases/download/v{ version }/{ name }-v{ version }-{ target }.tar.gz\""));
    assert!(package.contains("bin-dir = \"{ name }-v{ version }-{ target }/{ bin }{ binary-ext }\""));
    // A tag is `v` and the version.
    assert!(release.contains("name=\"sqslint-$GITHUB_REF_NAME-$TARGET\""));
    assert!(release.contains("tar -czf \"$name.tar.gz\" \"$name\""));
    for part in [
        "completions/_sqslint\"",
        "sqslint.1",
        "sqslint.schema.json",
        "tests/schemas/report.json",
        "LICENSE-*",
        "SHA256SUMS",
        "maturin build",
    ] {
        assert!(release.contains(part), "{part}");
    }
}

#[test]
fn hooks_say_the_same_in_the_docs_and_in_the_manifest() {
    let (page, hooks) = (text("docs/ci.md"), text(".pre-commit-hooks.yaml"));
    let count = |text: &str, line: &str| text.lines().filter(|one| one.trim() == line).count();
    for line in [
        "entry: sqslint check --staged --force-exclude --allow-empty",
        "files: \\.(tf|tofu|tfvars|hcl|ya?ml|json|toml)$",
        "require_serial: true",
        "always_run: true",
    ] {
        assert_eq!((count(&page, line), count(&hooks, line)), (2, 3), "{line}");
    }
    assert!(page.contains(&format!("additional_dependencies: [sqslint=={VERSION}]")));
}

#[test]
fn the_package_holds_what_a_build_needs() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["package", "--list", "--allow-dirty", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().expect("cargo runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listed = String::from_utf8_lossy(&output.stdout).replace('\\', "/");
    let listed: Vec<&str> = listed.lines().collect();
    for rule in sqslint::rules::RULES {
        assert!(
            listed.contains(&format!("rules/{}.md", rule.id).as_str()),
            "{}",
            rule.id
        );
    }
    for needed in [
        "sqslint.schema.json",
        "src/cli/config/sqslint.toml",
        "src/frontend/terraform/registry/terraform-aws-modules/lambda.tf",
    ] {
        assert!(listed.contains(&needed), "{needed}");
    }
    let needless = |name: &&&str| {
        ["fixtures/", "tests/", ".github/", ".ci/"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    assert_eq!(listed.iter().find(needless), None);
}

#[test]
fn completions_and_the_manual_are_understood() {
    for shell in [&BASH, &ZSH] {
        if shell.is_met() {
            let said = fed(shell.name, &["-n"], &printed(&["completions", shell.name]));
            assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        }
    }
    if FISH.is_met() {
        let said = fed("fish", &["--no-execute"], &printed(&["completions", "fish"]));
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    }
    let manual = printed(&["man"]);
    assert!(manual.is_ascii(), "roff has names for other characters");
    if GROFF.is_met() {
        let said = fed("groff", &["-man", "-ww", "-z", "-Tascii"], &manual);
        assert_eq!(String::from_utf8_lossy(&said.stderr), "");
    }
}
