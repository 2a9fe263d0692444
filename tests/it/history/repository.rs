//! Creates temporary repositories, runs the program in them, and has the files that most of them contain.

use crate::programs::isolate;
use needs::GIT;
use sqslint::testing::TemporaryDirectory;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Repository in a temporary directory.
pub(crate) struct Repository(pub(crate) TemporaryDirectory);

impl Repository {
    /// Creates a repository with these files committed on `main`; `None` if git is missing.
    pub(crate) fn new(files: &[(&str, &str)]) -> Option<Self> {
        if !GIT.is_available() {
            return None;
        }
        let repository = Repository(TemporaryDirectory::with_files(files.iter().copied()));
        repository.git(&["init", "-q", "-b", "main"]);
        repository.commit();
        Some(repository)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        let output = self.command("git").args(arguments).output().expect("git is there");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {complaint}");
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    /// Switches to a new branch.
    pub(crate) fn branch(&self) {
        self.git(&["switch", "-q", "-c", "work"]);
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("it is writable");
        std::fs::write(path, text).expect("it is writable");
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.path().join(name)).expect("it is there");
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path());
        isolate(&mut command);
        command
    }

    pub(crate) fn sqslint(&self, arguments: &[&str]) -> ProgramOutput {
        let output = self.command(env!("CARGO_BIN_EXE_sqslint")).args(arguments).output();
        ProgramOutput::of(&output.expect("the program is built"))
    }

    pub(crate) fn sqslint_with(&self, arguments: &[&str], text: &str) -> ProgramOutput {
        let mut command = self.command(env!("CARGO_BIN_EXE_sqslint"));
        let command = command.args(arguments).stdin(Stdio::piped());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program is built");
        let mut input = child.stdin.take().expect("it is piped");
        std::io::Write::write_all(&mut input, text.as_bytes()).expect("it is read");
        drop(input);
        ProgramOutput::of(&child.wait_with_output().expect("it ends"))
    }
}

pub(crate) struct ProgramOutput {
    pub(crate) code: Option<i32>,
    /// Files and rules of the findings.
    pub(crate) findings: Vec<String>,
    pub(crate) errors: String,
}

impl ProgramOutput {
    pub(crate) fn of(output: &Output) -> Self {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let findings = text.lines().filter_map(|line| {
            let (place, rest) = line.split_once(": ")?;
            let file = place.split(':').next()?;
            let rule = rest.split_once('[')?.1.split_once(']')?.0;
            Some(format!("{file} {rule}"))
        });
        ProgramOutput {
            code: output.status.code(),
            findings: findings.collect(),
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    #[track_caller]
    pub(crate) fn is(&self, code: i32, findings: &[&str]) -> &Self {
        assert_eq!(self.findings, findings, "{}", self.errors);
        assert_eq!(self.code, Some(code), "{}", self.errors);
        self
    }

    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        assert!(self.errors.contains(text), "`{text}` is not in:\n{}", self.errors);
        self
    }
}

pub(crate) const VISIBILITY: &str = "--select=visibility-timeout-below-function-timeout";
pub(crate) const REDRIVE: &str = "--select=redrive-policy-missing";

/// Queue with a literal timeout, a function with the timeout of a variable, and their mapping.
pub(crate) const QUEUE: &str = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 60\n}\n";
pub(crate) const FUNCTION: &str = "variable \"timeout\" {}\n\
    resource \"aws_lambda_function\" \"f\" {\n  timeout = var.timeout\n}\n\
    resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = aws_sqs_queue.q.arn\n  \
    function_name = aws_lambda_function.f.arn\n}\n";

pub(crate) const OLD_QUEUE: &str = "resource \"aws_sqs_queue\" \"old\" {\n  visibility_timeout_seconds = 10\n}\n\
    resource \"aws_lambda_event_source_mapping\" \"old\" {\n  event_source_arn = aws_sqs_queue.old.arn\n  \
    function_name = aws_lambda_function.f.arn\n}\n";
