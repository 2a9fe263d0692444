//! Simulated editor, controlled by the tests.

use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum time to wait for a message; generous for slow machines.
const LONG: Duration = Duration::from_secs(40);

/// Simulated editor, with its server on a thread.
pub(super) struct Client {
    connection: Connection,
    ids: i32,
    pub(super) root: PathBuf,
    /// Capabilities of the server.
    pub(super) capabilities: Value,
    /// Latest diagnostics of each file, by its path below the root.
    pub(super) diagnostics: BTreeMap<String, Vec<Value>>,
    /// All other requests and notifications from the server.
    pub(super) received: Vec<(String, Value)>,
    versions: BTreeMap<String, i32>,
    /// Responses received while waiting for others.
    answers: Vec<(RequestId, Result<Value, i32>)>,
}

/// Returns the URI of a path.
pub(super) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Returns the capabilities of a modern editor.
pub(super) fn modern_capabilities() -> Value {
    json!({
        "general": {"positionEncodings": ["utf-16"]},
        "textDocument": {"publishDiagnostics": {"relatedInformation": true}},
        "window": {"workDoneProgress": true},
        "workspace": {"workspaceEdit": {"documentChanges": true}, "didChangeWatchedFiles": {"dynamicRegistration": true}},
    })
}

impl Client {
    /// Opens the folder `root` in a new editor.
    pub(super) fn new(root: &Path) -> Self {
        Client::with(root, &modern_capabilities(), &json!({}))
    }

    /// Like `new`, with these capabilities and initialization options.
    pub(super) fn with(root: &Path, capabilities: &Value, options: &Value) -> Self {
        let (ours, theirs) = Connection::memory();
        std::thread::spawn(move || sqslint::server::serve(theirs).expect("the protocol is followed"));
        let mut client = Client {
            connection: ours,
            ids: 0,
            root: root.to_owned(),
            capabilities: Value::Null,
            diagnostics: BTreeMap::new(),
            received: Vec::new(),
            versions: BTreeMap::new(),
            answers: Vec::new(),
        };
        let params = json!({
            "processId": null,
            "capabilities": capabilities,
            "workspaceFolders": [{"uri": uri(root), "name": "root"}],
            "initializationOptions": options,
        });
        client.capabilities = client.request("initialize", params)["capabilities"].clone();
        client.notify("initialized", json!({}));
        client
    }

    pub(super) fn notify(&self, method: &str, params: Value) {
        let message = Notification::new(method.to_owned(), params);
        self.connection.sender.send(message.into()).expect("the server listens");
    }

    /// Sends a request without waiting for its response.
    pub(super) fn send_request(&mut self, method: &str, params: Value) -> RequestId {
        self.ids += 1;
        let id = RequestId::from(self.ids);
        let request = Request::new(id.clone(), method.to_owned(), params);
        self.connection.sender.send(request.into()).expect("the server listens");
        id
    }

    /// Waits for the result of a request, or its error code.
    pub(super) fn wait_for_response(&mut self, id: &RequestId) -> Result<Value, i32> {
        loop {
            if let Some(at) = self.answers.iter().position(|(known, _)| known == id) {
                return self.answers.remove(at).1;
            }
            let message = self.connection.receiver.recv_timeout(LONG);
            self.take(message.expect("the server answers"));
        }
    }

    /// Sends a request and returns its result.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send_request(method, params);
        self.wait_for_response(&id)
            .unwrap_or_else(|code| panic!("{method}: {code}"))
    }

    fn take(&mut self, message: Message) {
        let (method, params) = match message {
            Message::Notification(notification) => (notification.method, notification.params),
            // Requests from the server are not answered, as in some editors.
            Message::Request(request) => (request.method, request.params),
            Message::Response(response) => {
                let result = response.response_result.map_err(|error| error.code);
                return self.answers.push((response.id, result));
            }
        };
        if method == "textDocument/publishDiagnostics" {
            let name = self.name(params["uri"].as_str().unwrap_or_default());
            let found = params["diagnostics"].as_array().cloned().unwrap_or_default();
            self.diagnostics.insert(name, found);
        } else {
            self.received.push((method, params));
        }
    }

    fn name(&self, address: &str) -> String {
        let root = uri(&self.root) + "/";
        address.strip_prefix(&root).unwrap_or(address).to_owned()
    }

    /// Waits until `holds` returns `true`.
    pub(super) fn wait(&mut self, what: &str, holds: impl Fn(&Client) -> bool) {
        let end = Instant::now() + LONG;
        while !holds(self) {
            let left = end.saturating_duration_since(Instant::now());
            match self.connection.receiver.recv_timeout(left) {
                Ok(message) => self.take(message),
                Err(error) => panic!("{what}: {error}: {:#?}", self.diagnostics),
            }
        }
    }

    /// Waits until a file has exactly the findings of these rules.
    pub(super) fn wait_for(&mut self, name: &str, rules: &[&str]) {
        self.wait(&format!("{name} has {rules:?}"), |client| {
            client.diagnostics.contains_key(name) && client.rules(name) == rules
        });
    }

    /// Returns the rules of a file's findings, in their order.
    pub(super) fn rules(&self, name: &str) -> Vec<&str> {
        let found = self.diagnostics.get(name).into_iter().flatten();
        found.map(|one| one["code"].as_str().unwrap_or_default()).collect()
    }

    /// Returns the URI of a file below the root; other names are URIs already.
    pub(super) fn address(&self, name: &str) -> String {
        if name.contains(':') {
            name.to_owned()
        } else {
            uri(&self.root.join(name))
        }
    }

    pub(super) fn open(&mut self, name: &str, text: &str) {
        let is_terraform = name.rsplit('.').next() == Some("tf");
        let language = if is_terraform { "terraform" } else { "yaml" };
        self.open_as(name, language, text);
    }

    pub(super) fn open_as(&mut self, name: &str, language: &str, text: &str) {
        self.versions.insert(name.to_owned(), 1);
        let document = json!({"uri": self.address(name), "languageId": language, "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Replaces the whole text.
    pub(super) fn change(&mut self, name: &str, text: &str) {
        self.edit(name, json!([{"text": text}]));
    }

    /// Sends edits in the form of the protocol.
    pub(super) fn edit(&mut self, name: &str, edits: Value) {
        let version = self.versions.entry(name.to_owned()).or_insert(1);
        *version += 1;
        let document = json!({"uri": uri(&self.root.join(name)), "version": *version});
        let document = if name.contains(':') {
            json!({"uri": name, "version": *version})
        } else {
            document
        };
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": edits}),
        );
    }

    pub(super) fn close(&mut self, name: &str) {
        self.versions.remove(name);
        self.notify(
            "textDocument/didClose",
            json!({"textDocument": {"uri": self.address(name)}}),
        );
    }

    /// Notifies the server of created (1), changed (2) or deleted (3) files.
    pub(super) fn notify_file_changes(&self, changes: &[(&str, u8)]) {
        let changes = changes.iter();
        let changes: Vec<Value> = changes
            .map(|(name, kind)| json!({"uri": self.address(name), "type": kind}))
            .collect();
        self.notify("workspace/didChangeWatchedFiles", json!({"changes": changes}));
    }

    /// Returns a position, for a request.
    pub(super) fn place(&self, name: &str, line: u32, character: u32) -> Value {
        json!({"textDocument": {"uri": self.address(name)}, "position": {"line": line, "character": character}})
    }

    /// Requests the code actions on a line.
    pub(super) fn actions(&mut self, name: &str, line: u32) -> Vec<Value> {
        let at = json!({"line": line, "character": 0});
        let params = json!({
            "textDocument": {"uri": self.address(name)},
            "range": {"start": at, "end": at},
            "context": {"diagnostics": []},
        });
        let actions = self.request("textDocument/codeAction", params);
        actions.as_array().cloned().unwrap_or_default()
    }

    /// Requests every finding, as file, line and rule; the server first processes all earlier messages.
    pub(super) fn found(&mut self) -> Vec<String> {
        let report = self.request("workspace/diagnostic", json!({"previousResultIds": []}));
        let mut all = Vec::new();
        for item in report["items"].as_array().into_iter().flatten() {
            let name = self.name(item["uri"].as_str().unwrap_or_default());
            for found in item["items"].as_array().into_iter().flatten() {
                let (start, rule) = (&found["range"]["start"], found["code"].as_str().unwrap_or_default());
                all.push(format!("{name}:{}:{} {rule}", start["line"], start["character"]));
            }
        }
        all.sort();
        all
    }

    /// Ends the session.
    pub(super) fn shut_down(mut self) {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
    }
}

/// Returns `text` with the edits of an action that belong to this file.
pub(super) fn applied(text: &str, action: &Value, address: &str) -> String {
    let documents = action["edit"]["documentChanges"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let document = documents.iter().find(|one| one["textDocument"]["uri"] == address);
    let mut edits: Vec<Value> = document
        .and_then(|one| one["edits"].as_array().cloned())
        .unwrap_or_default();
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap_or_default()).unwrap_or_default();
    let offset = |place: &Value| {
        let lines = text.split_inclusive('\n').take(number(&place["line"]));
        lines.map(str::len).sum::<usize>() + number(&place["character"])
    };
    edits.sort_by_key(|edit| std::cmp::Reverse(offset(&edit["range"]["start"])));
    let mut text = text.to_owned();
    for edit in edits {
        let (start, end) = (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]));
        text.replace_range(start..end, edit["newText"].as_str().unwrap_or_default());
    }
    text
}
