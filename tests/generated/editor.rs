//! Simulates an editor, and measures the language server while typing.

use lsp_server::{Message, Notification, Request};
use serde_json::{Value, json};
use std::io::{BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Costs of the first load, and of each keystroke.
pub(crate) struct Typed {
    pub(crate) load: Duration,
    /// Processor time.
    pub(crate) keystroke: Duration,
    /// Time from the keystroke to the diagnostics, including the server's debounce delay.
    pub(crate) arrival: Duration,
    /// Peak memory of the server, in kB.
    pub(crate) peak: u64,
}

struct Editor {
    child: Child,
    input: ChildStdin,
    heard: Receiver<Message>,
}

/// Number of keystrokes measured together, because the system counts in hundredths of a second.
const KEYSTROKES: u32 = 60;
const TICK: Duration = Duration::from_millis(10);
/// Silence after which the server has sent everything.
const QUIET: Duration = Duration::from_millis(300);

/// Replaces the text of `file` in the folder `root` by the results of `change`.
pub(crate) fn typed(root: &Path, file: &str, change: impl Fn(&str, u32) -> String) -> Typed {
    let mut editor = Editor::start(root);
    let path = root.join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let uri = format!("file://{}", path.display());
    let document = json!({"uri": uri, "languageId": "terraform", "version": 0, "text": text});
    editor.tell("textDocument/didOpen", json!({"textDocument": document}));
    editor.ask(&uri);
    let load = editor.processors();
    let mut arrival = Duration::MAX;
    for version in 1..=KEYSTROKES {
        let changes = json!([{"text": change(&text, version)}]);
        let document = json!({"uri": uri, "version": version});
        while editor.heard.try_recv().is_ok() {}
        let start = Instant::now();
        editor.tell(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": changes}),
        );
        loop {
            match editor.heard.recv_timeout(Duration::from_mins(1)).unwrap() {
                Message::Notification(found) if found.params["version"] == version => break,
                _ => {}
            }
        }
        arrival = arrival.min(start.elapsed());
    }
    let keystroke = editor.processors().saturating_sub(load) / KEYSTROKES;
    let peak = editor.peak();
    editor.child.kill().unwrap();
    editor.child.wait().unwrap();
    Typed {
        load,
        keystroke,
        arrival,
        peak,
    }
}

impl Editor {
    fn start(root: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
        command.arg("server").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (send, heard) = channel();
        std::thread::spawn(move || {
            while let Ok(Some(message)) = Message::read(&mut output) {
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        let mut editor = Editor { child, input, heard };
        let uri = format!("file://{}", root.display());
        let params = json!({"capabilities": {}, "rootUri": uri});
        editor.send(Request::new(0.into(), "initialize".to_owned(), params).into());
        editor.heard.recv().unwrap();
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: Message) {
        message.write(&mut self.input).unwrap();
        self.input.flush().unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(Notification::new(method.to_owned(), params).into());
    }

    /// Waits until the server has processed all messages and sent all diagnostics.
    fn ask(&mut self, uri: &str) {
        let params = json!({"textDocument": {"uri": uri}});
        self.send(Request::new(1.into(), "textDocument/diagnostic".to_owned(), params).into());
        while !matches!(self.heard.recv().unwrap(), Message::Response(_)) {}
        // The diagnostics of other files are sent after the response.
        while self.heard.recv_timeout(QUIET).is_ok() {}
    }

    fn of(&self, name: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).unwrap()
    }

    fn processors(&self) -> Duration {
        let process = self.of("stat");
        let fields = process.rsplit(')').next().unwrap();
        let number = |at: usize| fields.split_ascii_whitespace().nth(at).unwrap().parse::<u32>().unwrap();
        TICK * (number(11) + number(12))
    }

    fn peak(&self) -> u64 {
        let status = self.of("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.unwrap().trim().strip_suffix(" kB").unwrap().parse().unwrap()
    }
}
