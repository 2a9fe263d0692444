//! Tests hostile content of pull requests: links out of the repository, pipes, endless files, planted names. Each test
//! is an attack that once worked. The program runs as in a hook, and must end by itself.
#![cfg(unix)]

mod reads;
mod special;
mod writes;

use sqslint::testing::TemporaryDirectory;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Text that no output may contain.
const SECRET: &str = "hunter2-hunter2";

/// Queue with a finding.
const QUEUE: &str = "resource \"aws_sqs_queue\" \"orders\" {\n  message_retention_seconds = 30\n}\n";

/// Repository, and files next to it that are not part of it.
struct HostileRepository {
    directory: TemporaryDirectory,
}

impl HostileRepository {
    /// Creates a repository of `files` next to a file `secret`, whose lines resemble several languages.
    fn with(files: &[(&str, &str)]) -> Self {
        let inside = files.iter().map(|(name, text)| (format!("repo/{name}"), *text));
        let mut all: Vec<(String, &str)> = inside.collect();
        let secret = format!("[default]\naws_secret_access_key = {SECRET}\nnot = {{ a thing {SECRET}\n");
        all.push(("secret".to_owned(), &secret));
        all.push(("repo/.git/HEAD".to_owned(), "ref: refs/heads/main\n"));
        let token = format!("[http]\n\textraheader = {SECRET}\n");
        all.push(("repo/.git/config".to_owned(), &token));
        let directory = TemporaryDirectory::with_files(all.iter().map(|(name, text)| (name.as_str(), *text)));
        HostileRepository { directory }
    }

    fn root(&self) -> PathBuf {
        self.directory.path().join("repo")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Returns the path of a file outside the repository.
    fn outside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn link(&self, target: impl AsRef<Path>, name: &str) -> &Self {
        symlink(target, self.path(name)).expect("links can be made");
        self
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Runs the program in the repository, for at most one minute and with at most 2 GB of memory.
    fn run(&self, arguments: &[&str]) -> ProgramOutput {
        let program = env!("CARGO_BIN_EXE_sqslint");
        let line = "ulimit -v 2000000; exec \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", line, "sh", program]).args(arguments);
        command.current_dir(self.root()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("the program starts");
        let id = child.id().to_string();
        let (ended, waiting) = mpsc::channel::<()>();
        let watch = std::thread::spawn(move || {
            let is_late = waiting.recv_timeout(Duration::from_mins(1)) == Err(RecvTimeoutError::Timeout);
            if is_late {
                let _ = Command::new("kill").args(["-9", &id]).status();
            }
            is_late
        });
        let output = child.wait_with_output().expect("it can be waited for");
        drop(ended);
        assert!(!watch.join().expect("the watch ends"), "{arguments:?} does not end");
        ProgramOutput(output)
    }

    /// Prints findings and graph in many formats; none may show the secret.
    fn shows_no_secret(&self, arguments: &[&str]) {
        let formats = ["full", "json", "sarif", "html", "markdown", "github"];
        for format in formats {
            let run = self.run(&[&["check", "--format", format, "--verbose"], arguments].concat());
            run.shows_no_secret();
            assert_ne!(run.0.status.code(), None, "{format}: {}", run.text());
        }
        for format in ["text", "json", "mermaid"] {
            self.run(&["graph", "--format", format, "."]).shows_no_secret();
        }
    }
}

struct ProgramOutput(Output);

impl ProgramOutput {
    fn code(&self) -> i32 {
        self.0.status.code().unwrap_or(-1)
    }

    /// Returns the text of both streams.
    fn text(&self) -> String {
        let both = [&self.0.stdout, &self.0.stderr];
        both.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
    }

    fn shows_no_secret(&self) {
        assert!(!self.text().contains(SECRET), "{}", self.text());
    }

    fn says(&self, what: &str) -> &Self {
        assert!(self.text().contains(what), "no {what:?} in\n{}", self.text());
        self
    }
}
