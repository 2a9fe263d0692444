//! Checks everything that distributes the program: the GitHub action, workflows, packages, completions and the manual
//! page, and that they are consistent. `hooks.rs` checks that the hooks work.

use needs::{BASH, FISH, GROFF, JQ, ZSH};
#[cfg(unix)]
use sqslint::testing::TemporaryDirectory;
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

/// Runs `program` with `input` on its standard input.
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

/// Scripts of the action, in the order of its steps.
const SCRIPTS: [&str; 4] = ["install", "check", "upload", "comment"];

#[test]
fn action_inputs_are_used_and_never_part_of_a_script() {
    let action = text("action.yml");
    let (inputs, runs) = action.split_once("\nruns:").expect("it has both");
    let names = inputs.lines().filter_map(|line| {
        line.strip_prefix("  ")?
            .strip_suffix(':')
            .filter(|name| !name.starts_with(' '))
    });
    let names: Vec<&str> = names.collect();
    let all = "paths arguments working-directory version sha256 upload-sarif comment token";
    assert_eq!(names.join(" "), all);
    for name in names {
        assert!(runs.contains(&format!("inputs.{name} ")), "{name} is not used");
    }
    let steps: Vec<&str> = runs
        .lines()
        .filter_map(|line| line.trim().strip_prefix("run: "))
        .collect();
    let expected = SCRIPTS.map(|name| format!("bash \"$GITHUB_ACTION_PATH/.github/action/{name}.sh\""));
    assert_eq!(steps, expected, "an input would be part of a script");
}

/// Simulated runner for the scripts of the action: a repository, the runner's directory, and mocks of other programs.
#[cfg(unix)]
struct Runner(TemporaryDirectory);

#[cfg(unix)]
impl Runner {
    /// Creates a runner in which the scripts `programs` take precedence over installed programs.
    fn new(programs: &[(&str, &str)]) -> Runner {
        use std::os::unix::fs::PermissionsExt;
        let place = TemporaryDirectory::with_files([("runner/sqslint/bin/x", ""), ("bin/x", ""), ("repository/x", "")]);
        for (name, script) in programs {
            let path = place.path().join("bin").join(name);
            std::fs::write(&path, format!("#!/usr/bin/env bash\n{script}")).expect("it is writable");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        Runner(place)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn with_sqslint(self) -> Runner {
        let program = self.path("runner/sqslint/bin/sqslint");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_sqslint"), program).expect("it is writable");
        self
    }

    /// Returns the exit code and all output of the script called `name`.
    fn run(&self, name: &str, variables: &[(&str, &str)]) -> (Option<i32>, String) {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/action");
        let mut command = Command::new("bash");
        command
            .args(["--noprofile", "--norc"])
            .arg(scripts.join(name).with_extension("sh"));
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .current_dir(self.path("repository"))
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("RUNNER_TEMP", self.path("runner"))
            .env("GITHUB_ACTION_PATH", env!("CARGO_MANIFEST_DIR"))
            .env("SQSLINT_FORMAT", "concise")
            .env("LOG", self.path("log"))
            .envs(variables.iter().copied());
        let output = command.output().expect("bash is there");
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), said)
    }

    /// Returns the arguments with which the mocks were called.
    fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// Runs git in the repository and returns its output.
    fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
            .args(arguments);
        let output = command
            .current_dir(self.path("repository"))
            .output()
            .expect("git is there");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Commits a module whose queues have a visibility timeout of zero, and returns the commit.
    fn commit(&self, queues: &[&str]) -> String {
        let text: Vec<String> = queues
            .iter()
            .map(|name| format!("resource \"aws_sqs_queue\" \"{name}\" {{\n  visibility_timeout_seconds = 0\n}}\n"))
            .collect();
        std::fs::write(self.path("repository/main.tf"), text.concat()).expect("it is writable");
        self.git(&["add", "."]);
        self.git(&["commit", "-qm", "queues"]);
        self.git(&["rev-parse", "HEAD"])
    }
}

#[cfg(unix)]
#[test]
fn action_passes_its_inputs_to_the_program() {
    if !BASH.is_available() {
        return;
    }
    let runner = Runner::new(&[]).with_sqslint();
    runner.git(&["init", "-q"]);
    runner.commit(&["q"]);
    let run = |paths: &str, arguments: &str| runner.run("check", &[("PATHS", paths), ("ARGUMENTS", arguments)]);
    let (code, said) = run(".", "--select visibility\n--fail-level error");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 warning in 1 module"), "{said}");
    assert_eq!(run(".", "").0, Some(1));
    let (code, said) = run(".\nb", "");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`b`: no such file"), "{said}");
    // Neither a command nor a flag can be injected.
    run("$(touch harm) `touch harm` ; touch harm", "$(touch harm)");
    assert!(!runner.path("repository/harm").exists());
    assert!(run("--version", "").1.contains("`--version`: no such file"));
}

/// Mock of `gh`: logs its arguments and its input.
#[cfg(unix)]
const GH: &str = r#"
echo "gh $*" >> "$LOG"
case "$*" in
  *graphql*) if [ -n "${AUTHOR:-}" ]; then echo "$AUTHOR"; else exit 1; fi ;;
  *--paginate*) if [ -n "${KNOWN:-}" ]; then
    printf '[{"id": %s, "body": "<!-- sqslint -->", "user": {"login": "%s", "type": "%s"}}]' \
      "$KNOWN" "${BY:-github-actions[bot]}" "${TYPE:-Bot}"; else echo '[]'; fi ;;
  *body=@*) for one in "$@"; do case "$one" in body=@*) cat "${one#body=@}" >> "$LOG" ;; esac; done ;;
  *) cat >> "$LOG" ;;
esac
"#;

#[cfg(unix)]
#[test]
fn comment_lists_new_and_resolved_findings() {
    if !BASH.is_available() || !JQ.is_available() {
        return;
    }
    let runner = Runner::new(&[("gh", GH)]).with_sqslint();
    runner.git(&["init", "-q"]);
    let base = runner.commit(&["gone", "kept"]);
    runner.commit(&["kept", "come"]);
    let asked = [("PATHS", "."), ("ARGUMENTS", ""), ("COMMENT", "true"), ("BASE", &*base)];
    let (code, said) = runner.run("check", &asked);
    assert_eq!(code, Some(1), "{said}");
    let pull_request = [("REPOSITORY", "shop/orders"), ("NUMBER", "7")];
    let (code, said) = runner.run("comment", &pull_request);
    assert_eq!(code, Some(0), "{said}");
    let first = runner.log();
    assert!(
        first.contains("--method POST repos/shop/orders/issues/7/comments"),
        "{first}"
    );
    assert!(first.contains("**1 new, 0 worse, 1 resolved**"), "{first}");
    let place = |title: &str| first.find(title).expect(title);
    let (new, resolved) = (place(">New: 1<"), place(">Resolved: 1<"));
    let queue = |name: &str| first.rfind(&format!("`aws_sqs_queue.{name}`")).expect(name);
    assert!(
        new < queue("come") && queue("come") < resolved && resolved < queue("gone"),
        "{first}"
    );
    assert!(!first.contains("aws_sqs_queue.kept"), "{first}");
    // A second run updates the existing comment.
    let mut known = pull_request.to_vec();
    known.push(("KNOWN", "42"));
    runner.run("comment", &known);
    assert!(
        runner
            .log()
            .contains("--method PATCH repos/shop/orders/issues/comments/42")
    );
}

#[cfg(unix)]
#[test]
fn no_findings_make_no_comment() {
    if !BASH.is_available() || !JQ.is_available() {
        return;
    }
    let runner = Runner::new(&[("gh", GH)]);
    std::fs::write(runner.path("runner/sqslint-comment.md"), "").expect("it is writable");
    let (code, said) = runner.run("comment", &[("REPOSITORY", "a/b"), ("NUMBER", "1")]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!runner.log().contains("--method"), "{}", runner.log());
    // An existing comment is updated.
    runner.run("comment", &[("REPOSITORY", "a/b"), ("NUMBER", "1"), ("KNOWN", "5")]);
    assert!(
        runner
            .log()
            .contains("This change does nothing to a queue or its functions."),
        "{}",
        runner.log()
    );
}

#[cfg(unix)]
#[test]
fn comment_of_another_account_is_not_updated() {
    if !BASH.is_available() || !JQ.is_available() {
        return;
    }
    for (author, by, kind, is_own) in [
        ("", "github-actions[bot]", "Bot", true),
        ("github-actions[bot]", "github-actions[bot]", "Bot", true),
        ("reviews", "reviews[bot]", "Bot", true),
        ("octocat", "octocat", "User", true),
        ("", "stranger", "User", false),
        ("", "other[bot]", "Bot", false),
        ("octocat", "stranger", "User", false),
    ] {
        let runner = Runner::new(&[("gh", GH)]);
        std::fs::write(runner.path("runner/sqslint-comment.md"), "<!-- sqslint -->").expect("it is writable");
        let comment = [("AUTHOR", author), ("KNOWN", "5"), ("BY", by), ("TYPE", kind)];
        let (code, said) = runner.run(
            "comment",
            &[&[("REPOSITORY", "a/b"), ("NUMBER", "1")], &comment[..]].concat(),
        );
        assert_eq!(code, Some(0), "{said}");
        let log = runner.log();
        assert_eq!(
            log.contains("--method PATCH repos/a/b/issues/comments/5"),
            is_own,
            "{by}: {log}"
        );
        assert_eq!(log.contains("--method POST"), !is_own, "{by}: {log}");
    }
}

#[cfg(unix)]
#[test]
fn comment_is_shorter_than_the_limit_of_github() {
    if !BASH.is_available() || !JQ.is_available() {
        return;
    }
    for count in [3, 400] {
        let runner = Runner::new(&[("gh", GH)]).with_sqslint();
        runner.git(&["init", "-q"]);
        let base = runner.commit(&[]);
        let names: Vec<String> = (0..count).map(|at| format!("{}_{at}", "x".repeat(50))).collect();
        runner.commit(&names.iter().map(String::as_str).collect::<Vec<_>>());
        runner.run(
            "check",
            &[("PATHS", "."), ("ARGUMENTS", ""), ("COMMENT", "true"), ("BASE", &*base)],
        );
        let body = std::fs::read_to_string(runner.path("runner/sqslint-comment.md")).expect("it is written");
        assert!(body.len() < 65_536, "{}", body.len());
        let rows = body.lines().filter(|line| line.starts_with("| warning")).count();
        assert_eq!(rows == count, count == 3, "{body:.300}");
        assert!(
            body.contains(&format!("**{count} new, 0 worse, 0 resolved**")),
            "{body:.300}"
        );
        assert_eq!(body.contains(" more"), count > 3);
    }
}

#[cfg(unix)]
#[test]
fn sarif_is_uploaded_for_the_commit() {
    if !BASH.is_available() || !JQ.is_available() {
        return;
    }
    let runner = Runner::new(&[("gh", GH)]);
    std::fs::write(runner.path("runner/sqslint.sarif"), "{}").expect("it is writable");
    let place = [
        ("REPOSITORY", "a/b"),
        ("COMMIT", "c0ffee"),
        ("REF", "refs/pull/1/merge"),
    ];
    let (code, said) = runner.run("upload", &place);
    assert_eq!(code, Some(0), "{said}");
    let log = runner.log();
    let (asked, given) = log.split_once('\n').expect("both");
    assert_eq!(
        asked,
        "gh api --silent --method POST repos/a/b/code-scanning/sarifs --input -"
    );
    let given: serde_json::Value = serde_json::from_str(given).expect("it is JSON");
    assert_eq!(
        (&given["commit_sha"], &given["ref"]),
        (&"c0ffee".into(), &"refs/pull/1/merge".into())
    );
    assert!(
        given["sarif"].as_str().is_some_and(|sarif| sarif.starts_with("H4sI")),
        "{given}"
    );
}

/// Mock of `curl`: copies files from `$RELEASE`, and fails for missing ones as for status 404.
#[cfg(unix)]
const CURL: &str = r#"
to=; for one in "$@"; do if [ "$last" = --output ]; then to="$one"; fi; last="$one"; done
echo "curl $last" >> "$LOG"
if [ -n "${UNREACHABLE:-}" ]; then exit 6; fi
cp "$RELEASE/${last##*/}" "$to" 2> /dev/null || exit 22
"#;

#[cfg(unix)]
#[test]
fn action_installs_a_binary_only_with_the_right_checksum() {
    if !BASH.is_available() {
        return;
    }
    let name = format!("sqslint-v{VERSION}-x86_64-unknown-linux-musl");
    let runner = || {
        let runner = Runner::new(&[("curl", CURL), ("cargo", "echo \"cargo $*\" >> \"$LOG\"")]);
        let release = runner.path("release");
        std::fs::create_dir_all(release.join(&name)).expect("it is writable");
        std::fs::write(release.join(&name).join("sqslint"), "#!/bin/sh\necho it\n").expect("it is writable");
        let packed = format!(
            "cd '{}' && chmod +x {name}/sqslint && tar -czf {name}.tar.gz {name} && sha256sum {name}.tar.gz > SHA256SUMS",
            release.display()
        );
        assert!(
            Command::new("bash")
                .args(["-c", &packed])
                .status()
                .expect("bash is there")
                .success()
        );
        runner
    };
    let installed = |runner: &Runner| runner.path("runner/sqslint/bin/sqslint").exists();
    let install = |runner: &Runner, more: &[(&str, &str)]| {
        let release = runner.path("release").display().to_string();
        let mut all = vec![
            ("RUNNER_OS", "Linux"),
            ("RUNNER_ARCH", "X64"),
            ("REPOSITORY", "a/b"),
            ("RELEASE", &*release),
        ];
        all.extend(more);
        runner.run("install", &all)
    };
    let one = runner();
    let (code, said) = install(&one, &[]);
    assert!(code == Some(0) && installed(&one), "{said}");
    let from = format!("curl https://github.com/a/b/releases/download/v{VERSION}/{name}.tar.gz");
    assert!(
        one.log().starts_with(&from) && !one.log().contains("cargo"),
        "{}",
        one.log()
    );
    // An archive that does not match is not unpacked, and nothing is compiled instead.
    for more in [("SHA256", "00"), ("UNREACHABLE", "1"), ("VERSION", "99.0.0")] {
        let other = runner();
        let (code, said) = install(&other, &[more]);
        assert!(
            code == Some(1) && !installed(&other) && said.contains("::error::"),
            "{more:?}: {said}"
        );
        assert!(!other.log().contains("cargo"), "{more:?}");
    }
    // The program is compiled if the release has no archive for the platform.
    for more in [("RUNNER_ARCH", "RISCV"), ("REPOSITORY", ""), ("RELEASE", "/nowhere")] {
        let other = runner();
        let (code, said) = install(&other, &[more]);
        assert!(
            code == Some(0) && other.log().contains("cargo install --locked"),
            "{more:?}: {said}"
        );
    }
}

#[test]
fn packages_for_node_and_browsers_have_the_version_and_no_address_of_a_registry() {
    for name in ["npm", "playground", "editors/vscode"] {
        for file in ["package.json", "package-lock.json"] {
            let text = text(&format!("{name}/{file}"));
            let package: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
            assert_eq!(package["version"], VERSION, "{name}/{file}");
            assert!(!text.contains("\"resolved\""), "{name}/{file}");
        }
    }
}

#[test]
fn page_may_send_nothing() {
    let page = text("playground/index.html");
    let (_, policy) = page.split_once("default-src 'none'").expect("it has a policy");
    let policy = policy.split('"').next().expect("it ends");
    for source in [
        "connect-src",
        "http",
        "*",
        "'unsafe-eval'",
        "script-src 'unsafe-inline'",
    ] {
        assert!(!policy.contains(source), "{source}");
    }
    assert!(policy.contains("form-action 'none'") && policy.contains("base-uri 'none'"));
}

#[test]
fn workflows_pin_actions_to_commits() {
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

#[cfg(unix)]
#[test]
fn release_archive_is_installed_by_the_action() {
    if !BASH.is_available() {
        return;
    }
    let target = "x86_64-unknown-linux-musl";
    let runner = Runner::new(&[("curl", CURL)]);
    let release = runner.path("release");
    let packed = Command::new("bash")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/release/archive.sh"))
        .args([env!("CARGO_BIN_EXE_sqslint"), target])
        .arg(&release)
        .output()
        .expect("bash exists");
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    // The name that `cargo binstall` expects, too.
    let package = text("Cargo.toml");
    assert!(package.contains("/releases/download/v{ version }/{ name }-v{ version }-{ target }.tar.gz\""));
    assert!(package.contains("bin-dir = \"{ name }-v{ version }-{ target }/{ bin }{ binary-ext }\""));
    let name = format!("sqslint-v{VERSION}-{target}");
    let sums = format!(
        "cd '{}' && sha256sum {name}.tar.gz > SHA256SUMS && tar -tzf {name}.tar.gz",
        release.display()
    );
    let listed = Command::new("bash").args(["-c", &sums]).output().expect("bash exists");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for part in [
        "sqslint",
        "sqslint.1",
        "completions/_sqslint",
        "sqslint.schema.json",
        "schemas/report.json",
        "LICENSE-MIT",
        "README.md",
    ] {
        assert!(
            listed.lines().any(|line| line == format!("{name}/{part}")),
            "{part}: {listed}"
        );
    }
    let (code, printed) = runner.run(
        "install",
        &[
            ("RUNNER_OS", "Linux"),
            ("RUNNER_ARCH", "X64"),
            ("REPOSITORY", "a/b"),
            ("RELEASE", &release.display().to_string()),
        ],
    );
    assert_eq!(code, Some(0), "{printed}");
    let version = Command::new(runner.path("runner/sqslint/bin/sqslint"))
        .arg("--version")
        .output();
    let version = version.expect("the program is installed").stdout;
    assert_eq!(String::from_utf8_lossy(&version).trim(), format!("sqslint {VERSION}"));
}

#[test]
fn hooks_in_the_docs_match_the_manifest() {
    let (page, hooks) = (text("docs/ci.md"), text(".pre-commit-hooks.yaml"));
    let count = |text: &str, line: &str| text.lines().filter(|one| one.trim() == line).count();
    for (line, of_hooks) in [
        // The container does not know what is staged.
        ("entry: sqslint check --staged --force-exclude --allow-empty", 2),
        ("files: \\.(tf|tofu|tfvars|hcl|ya?ml|json|toml)$", 3),
        ("require_serial: true", 3),
        ("always_run: true", 3),
        ("pass_filenames: false", 3),
    ] {
        assert_eq!((count(&page, line), count(&hooks, line)), (2, of_hooks), "{line}");
    }
    // A path may have the name of an option.
    for script in [".github/action/check.sh", ".gitlab/sqslint.gitlab-ci.yml"] {
        let named = text(script);
        let mut named = named
            .lines()
            .filter(|line| line.contains("check") && line.contains("paths") | line.contains("PATHS"));
        assert!(
            named.all(|line| line.starts_with('#') || line.contains(" -- ")),
            "{script}"
        );
    }
    assert!(page.contains(&format!("additional_dependencies: [sqslint=={VERSION}]")));
}

#[test]
fn package_contains_all_files_a_build_needs() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args([
            "package",
            "--package",
            "sqslint",
            "--list",
            "--allow-dirty",
            "--offline",
        ])
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
    for needed in ["sqslint.schema.json", "src/cli/config/sqslint.toml", "docs/policies.md"] {
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
fn completions_and_manual_are_valid() {
    for shell in [&BASH, &ZSH] {
        if shell.is_available() {
            let said = fed(shell.name, &["-n"], &printed(&["completions", shell.name]));
            assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        }
    }
    if FISH.is_available() {
        let said = fed("fish", &["--no-execute"], &printed(&["completions", "fish"]));
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    }
    let manual = printed(&["man"]);
    assert!(manual.is_ascii(), "roff has names for other characters");
    if GROFF.is_available() {
        let said = fed("groff", &["-man", "-ww", "-z", "-Tascii"], &manual);
        assert_eq!(String::from_utf8_lossy(&said.stderr), "");
    }
}
