//! Runs the hooks with `pre-commit` in temporary repositories: the one of `docs/ci.md`, those of
//! `.pre-commit-hooks.yaml`, and that of the wheel.
//!
//! Tests that compile sqslint or download its build tools are ignored by default. To run them:
//! `cargo test --test hooks -- --ignored`.
//!
//! This is a separate executable, because a CI job runs it alone, with the ignored tests.

#[path = "it/programs.rs"]
mod programs;

use needs::{GIT, MATURIN, PRE_COMMIT};
use programs::isolate;
use sqslint::testing::TemporaryDirectory;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const GOOD: &str = "resource \"aws_sqs_queue\" \"q\" {\n  name = \"orders\"\n  visibility_timeout_seconds = 600\n}\n";
const FUNCTION: &str = "variable \"timeout\" {}\n\
    resource \"aws_lambda_function\" \"f\" {\n  function_name = \"f\"\n  role = \"arn:aws:iam::123456789012:role/f\"\n  \
    timeout = var.timeout\n}\n\
    resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = aws_sqs_queue.q.arn\n  batch_size = 1\n  \
    function_name = aws_lambda_function.f.arn\n}\n";
const REDRIVE: &str = "resource \"aws_sqs_queue\" \"d\" {\n  name = \"orders-dead\"\n  message_retention_seconds = 1209600\n}\n\
    resource \"aws_sqs_queue_redrive_policy\" \"q\" {\n  queue_url = aws_sqs_queue.q.id\n  redrive_policy = \
    jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })\n}\n";

const PRECIOUS: &str = "{\"precious\": true}";

/// Returns the root of the project.
fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Repository protected by a hook.
struct Guarded {
    directory: TemporaryDirectory,
    /// Directory of pre-commit's installations.
    home: PathBuf,
    /// Environment variables of the hook.
    environment: Vec<(&'static str, OsString)>,
}

impl Guarded {
    /// Creates a repository with the hook of `configuration`, and commits a good queue.
    fn new(configuration: &str, home: &Path, environment: &[(&'static str, OsString)]) -> Self {
        let guarded = Guarded {
            directory: TemporaryDirectory::with_files([
                (".pre-commit-config.yaml", configuration),
                ("queue.tf", GOOD),
                ("function.tf", FUNCTION),
                ("redrive.tf", REDRIVE),
                ("terraform.tfvars", "timeout = 60\n"),
                ("README.md", "Orders\n"),
            ]),
            home: home.to_owned(),
            environment: environment.to_vec(),
        };
        guarded.done("git", &["init", "-q", "-b", "main"]);
        guarded.done(
            "pre-commit",
            &["install", "-t", "pre-commit", "-t", "pre-push", "-t", "commit-msg"],
        );
        guarded.commits();
        guarded
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("it is writable");
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.path());
        isolate(&mut command);
        command.env("PRE_COMMIT_HOME", &self.home);
        command.envs(self.environment.iter().cloned());
        command.output().expect("the program is there")
    }

    #[track_caller]
    fn done(&self, program: &str, arguments: &[&str]) {
        let output = self.run(program, arguments);
        assert!(output.status.success(), "{program} {arguments:?}: {}", said(&output));
    }

    /// Requires that the command fails with this message.
    #[track_caller]
    fn refused(&self, program: &str, arguments: &[&str], why: &str) {
        let output = self.run(program, arguments);
        assert!(!output.status.success(), "{program} {arguments:?}: {}", said(&output));
        assert!(said(&output).contains(why), "`{why}` is not in {}", said(&output));
    }

    #[track_caller]
    fn commits(&self) {
        self.done("git", &["add", "-A"]);
        self.done("git", &["commit", "-q", "-m", "x"]);
    }

    #[track_caller]
    fn is_refused(&self, why: &str) {
        self.done("git", &["add", "-A"]);
        self.refused("git", &["commit", "-q", "-m", "x"], why);
    }

    /// Restores the last commit.
    fn restore(&self) {
        self.done("git", &["reset", "-q", "--hard"]);
    }
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Checks the behavior that every hook must have.
fn guards(configuration: &str, home: &Path, environment: &[(&'static str, OsString)]) {
    const BELOW: &str = "visibility-timeout-below-function-timeout";
    let bad = GOOD.replace("600", "30");
    let guarded = Guarded::new(configuration, home, environment);
    // Files whose names are options: one would overwrite a file outside the repository, one would accept everything.
    let outside = TemporaryDirectory::with_files([("settings.json", PRECIOUS)]);
    let report = format!("--report=json={}", outside.path().display());
    std::fs::create_dir_all(guarded.path().join(&report)).expect("it is writable");
    guarded.write(&format!("{report}/settings.json"), "{}\n");
    guarded.write("lax.toml", "fail-level = \"never\"\n");
    guarded.write("--config=lax.toml", "");
    guarded.commits();
    // A bad number, in the file itself or in a variable file, next to files whose names are options.
    guarded.write("queue.tf", &bad);
    guarded.write("--config=lax.toml", "# changed\n");
    guarded.write(&format!("{report}/settings.json"), "[]\n");
    guarded.is_refused(BELOW);
    guarded.restore();
    guarded.write("terraform.tfvars", "timeout = 800\n");
    guarded.is_refused(BELOW);
    guarded.restore();
    // A deleted policy: pre-commit does not pass its name.
    guarded.done("git", &["rm", "-q", "redrive.tf"]);
    guarded.refused("git", &["commit", "-q", "-m", "x"], "redrive-policy-missing");
    guarded.restore();
    // Only staged content counts: a fix in the working tree does not help, and an error there does not matter.
    guarded.write("queue.tf", &bad);
    guarded.done("git", &["add", "-A"]);
    guarded.write("queue.tf", GOOD);
    guarded.refused("git", &["commit", "-q", "-m", "x"], BELOW);
    guarded.restore();
    guarded.write("queue.tf", &format!("# Orders\n{GOOD}"));
    guarded.done("git", &["add", "-A"]);
    guarded.write("queue.tf", &bad);
    guarded.done("git", &["commit", "-q", "-m", "x"]);
    guarded.restore();
    // An existing finding is reported for all files, but does not prevent commits of other files.
    guarded.done("pre-commit", &["run", "--all-files"]);
    guarded.write("queue.tf", &bad);
    guarded.done("git", &["commit", "-q", "-a", "--no-verify", "-m", "x"]);
    guarded.write("README.md", "All orders\n");
    guarded.commits();
    guarded.refused("pre-commit", &["run", "--all-files"], BELOW);
    guarded.refused(
        "pre-commit",
        &["run", "--from-ref", "HEAD~2", "--to-ref", "HEAD"],
        BELOW,
    );
    guarded.done("pre-commit", &["run", "--from-ref", "HEAD~1", "--to-ref", "HEAD"]);
    guarded.refused("pre-commit", &["run", "--files", "queue.tf"], BELOW);
    guarded.done("git", &["commit", "-q", "--allow-empty", "-m", "x"]);
    // Arguments of the user are arguments, not files.
    let ignoring = format!("{}\n        args: [--ignore, {BELOW}]\n", configuration.trim_end());
    guarded.write(".pre-commit-config.yaml", &ignoring);
    guarded.write("queue.tf", &format!("# Orders\n{bad}"));
    guarded.done("git", &["add", "-A"]);
    guarded.done("pre-commit", &["run"]);
    guarded.restore();
    pushes(&guarded, BELOW);
    let precious = std::fs::read_to_string(outside.path().join("settings.json"));
    assert_eq!(precious.expect("it is there"), PRECIOUS);
}

/// Requires that pushes are checked: at first everything, then only new commits.
fn pushes(guarded: &Guarded, why: &str) {
    let remote = TemporaryDirectory::with_files([]);
    let to = remote.path().to_string_lossy().into_owned();
    guarded.done("git", &["init", "-q", "--bare", &to]);
    guarded.refused("git", &["push", "-q", &to, "main"], why);
    guarded.done("git", &["push", "-q", "--no-verify", &to, "main"]);
    guarded.done("git", &["remote", "add", "origin", &to]);
    guarded.done("git", &["fetch", "-q", "origin"]);
    guarded.write("README.md", "Some orders\n");
    guarded.commits();
    guarded.done("git", &["push", "-q", "origin", "main"]);
    guarded.write("terraform.tfvars", "timeout = 61\n");
    guarded.done("git", &["commit", "-q", "-a", "--no-verify", "-m", "x"]);
    guarded.refused("git", &["push", "-q", "origin", "main"], why);
}

/// Returns the `PATH` with the program of this build first.
fn own_program() -> [(&'static str, OsString); 1] {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_sqslint"));
    let own = program.parent().expect("it has a directory").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&path)));
    [("PATH", path.expect("the directories have no separator in their names"))]
}

/// Returns the first block of `docs/ci.md` that contains `text`.
fn documented_block(text: &str) -> String {
    let page = std::fs::read_to_string(project().join("docs/ci.md")).expect("it is there");
    let mut blocks = page
        .split("```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| block.strip_prefix("yaml\n"));
    blocks
        .find(|block| block.contains(text))
        .expect("the page shows it")
        .to_owned()
}

/// Creates a repository of hooks with these files of the project.
fn hooks(files: &[&str]) -> TemporaryDirectory {
    let place = TemporaryDirectory::with_files([]);
    for file in files {
        copy(&project().join(file), &place.path().join(file));
    }
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(place.path());
        isolate(&mut command);
        assert!(command.status().expect("git is there").success());
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "x"]);
    git(&["tag", "v0"]);
    place
}

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        std::fs::copy(from, to).expect("it can be copied");
        return;
    }
    std::fs::create_dir_all(to).expect("it is writable");
    for entry in std::fs::read_dir(from).expect("it is there") {
        let entry = entry.expect("it is there");
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

fn configuration(hooks: &TemporaryDirectory, id: &str) -> String {
    let place = hooks.path().display();
    format!("repos:\n  - repo: {place}\n    rev: v0\n    hooks:\n      - id: {id}\n")
}

#[test]
fn documented_local_hook_protects_a_repository() {
    if !GIT.is_available() || !PRE_COMMIT.is_available() {
        return;
    }
    let home = TemporaryDirectory::with_files([]);
    guards(&documented_block("language: system"), home.path(), &own_program());
}

#[test]
fn hook_for_an_installed_program_protects_a_repository() {
    if !GIT.is_available() || !PRE_COMMIT.is_available() {
        return;
    }
    let (home, hooks) = (TemporaryDirectory::with_files([]), hooks(&[".pre-commit-hooks.yaml"]));
    guards(&configuration(&hooks, "sqslint-system"), home.path(), &own_program());
}

#[test]
fn files_in_several_invocations_are_checked_together() {
    if !GIT.is_available() || !PRE_COMMIT.is_available() {
        return;
    }
    let home = TemporaryDirectory::with_files([]);
    let block = documented_block("language: system");
    let naming = block.replace("        pass_filenames: false\n", "");
    assert_ne!(naming, block);
    let guarded = Guarded::new(&naming, home.path(), &own_program());
    // The names exceed one command line of pre-commit, and the files of a module are in different invocations.
    let mut all = String::new();
    for number in 0..900 {
        let name = format!("m{number:03}{}.json", "-".repeat(200));
        guarded.write(&name, "{}\n");
        let _ = writeln!(all, "{name}");
    }
    assert!(all.len() > 128 << 10);
    let other = GOOD.replace("\"q\"", "\"a\"").replace("orders", "audits");
    guarded.write("a.tf", &other.replace("600", "30"));
    guarded.write(
        "z.tf",
        &FUNCTION
            .replace("\"f\"", "\"z\"")
            .replace("\"m\"", "\"z\"")
            .replace(".q.", ".a.")
            .replace(".f.", ".z.")
            .replace("variable \"timeout\" {}\n", ""),
    );
    guarded.is_refused("visibility-timeout-below-function-timeout");
    guarded.write(
        "a.tf",
        &other.replace(
            '}',
            "  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })\n}",
        ),
    );
    guarded.commits();
    guarded.done("pre-commit", &["run", "--all-files"]);
}

#[test]
#[ignore = "builds sqslint from source, as pre-commit does"]
fn hook_built_by_pre_commit_protects_a_repository() {
    if !GIT.is_available() || !PRE_COMMIT.is_available() {
        return;
    }
    let package = [
        "Cargo.toml",
        "Cargo.lock",
        "README.md",
        "CHANGELOG.md",
        "sqslint.schema.json",
        "src",
        "rules",
    ];
    let hooks = hooks(&[&package[..], &[".pre-commit-hooks.yaml"]].concat());
    // The build is not optimized, and dependencies are compiled only once.
    let environment = [
        (
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("hooks").into(),
        ),
        ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0".into()),
        ("CARGO_PROFILE_RELEASE_LTO", "off".into()),
    ];
    let home = TemporaryDirectory::with_files([]);
    guards(&configuration(&hooks, "sqslint"), home.path(), &environment);
}

#[test]
#[ignore = "builds a wheel with maturin; pre-commit's environment for it needs setuptools"]
fn documented_wheel_protects_a_repository() {
    if !GIT.is_available() || !PRE_COMMIT.is_available() || !MATURIN.is_available() {
        return;
    }
    let wheels = TemporaryDirectory::with_files([]);
    let built = Command::new("maturin")
        .args(["build", "--profile", "dev", "--locked", "--out"])
        .arg(wheels.path())
        .current_dir(project())
        .output()
        .expect("maturin is there");
    assert!(built.status.success(), "{}", said(&built));
    let mut wheel = std::fs::read_dir(wheels.path()).expect("it is there");
    let wheel = wheel.next().expect("maturin writes it").expect("it is readable").path();
    // The wheel is installed in a virtual environment.
    let venv = wheels.path().join("venv");
    let scripts = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let run = |command: &mut Command| {
        let output = command.output().expect("the program is there");
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    };
    run(Command::new("python3").args(["-m", "venv"]).arg(&venv));
    run(Command::new(scripts.join("python"))
        .args(["-m", "pip", "install", "-q", "--no-index"])
        .arg(&wheel));
    let version = run(Command::new(scripts.join("sqslint")).arg("--version"));
    assert_eq!(version.trim(), concat!("sqslint ", env!("CARGO_PKG_VERSION")));
    // It also works as a hook.
    let block = documented_block("language: python");
    let named = block.replace(
        concat!("sqslint==", env!("CARGO_PKG_VERSION")),
        &wheel.to_string_lossy(),
    );
    assert_ne!(named, block, "the page names this version");
    let home = TemporaryDirectory::with_files([]);
    guards(&named, home.path(), &[]);
}
