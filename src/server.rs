//! `sqslint server`: a language server. It reads messages on one thread, checks files and answers requests on another,
//! and writes on a third, so that no part blocks another or waits for the editor.
//!
//! ```text
//! editor ─► serve ─► inbox ─► worker ─► projects ─► clusters ─► pipeline
//!    ▲               texts,     │       one per      units that   a run over
//!    └── outbox ◄───────────────┘       folder       depend on    one cluster
//!        pending messages                            each other
//! ```
//!
//! The findings are those of `sqslint check` in the folder, regardless of the order of edits: the pipeline checks a
//! cluster, and checks it again once any of its inputs changes. While the user types, a cache carries syntax trees and
//! graphs of units from one check to the next. A project is read twice when it is opened: first to determine which
//! units depend on each other, and then to check those together, which reuses the results of the first pass. This
//! module knows no rule, no dialect and no format.

mod actions;
mod address;
mod clusters;
mod completion;
mod diagnostics;
mod documents;
mod hints;
mod hover;
mod inbox;
mod links;
mod names;
mod navigation;
mod outbox;
mod position;
mod progress;
mod project;
mod questions;
mod settings;
mod stdio;
mod worker;

use crate::pipeline::on_own_threads;
use inbox::Inbox;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions, DiagnosticOptions,
    DiagnosticServerCapabilities, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWatchedFilesRegistrationOptions, DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, ExecuteCommandOptions, FileChangeType, FileSystemWatcher, GlobPattern,
    HoverProviderCapability, InitializeParams, MessageType, OneOf, Registration, RegistrationParams, SaveOptions,
    ServerCapabilities, ShowMessageParams, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, WorkDoneProgressOptions, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities,
};
use outbox::Outbox;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use settings::Settings;
use std::path::PathBuf;
use worker::Worker;

/// Serves an editor over standard input and output until it exits. Returns `false` if it exits without a `shutdown`
/// request. Errors are violations of the protocol.
pub fn run() -> Result<bool, String> {
    let (connection, failure) = stdio::connect();
    let has_ended = serve(connection)?;
    failure.get().map_or(Ok(has_ended), |error| Err(error.clone()))
}

/// Serves an editor over any connection, like `run`.
pub fn serve(connection: Connection) -> Result<bool, String> {
    let (id, params) = match connection.initialize_start() {
        Ok(started) => started,
        Err(error) if error.channel_is_disconnected() => return Ok(false),
        Err(error) => return Err(error.to_string()),
    };
    let (settings, wrong) = Settings::new(&params);
    let params: InitializeParams =
        serde_json::from_value(params).map_err(|error| format!("the request `initialize` cannot be read: {error}"))?;
    let answer = json!({
        "capabilities": capabilities(&settings),
        "serverInfo": {"name": "sqslint", "version": env!("CARGO_PKG_VERSION")},
    });
    // It does not matter if `initialized` is the next message.
    let answer = Response::new_ok(id, answer);
    if connection.sender.send(answer.into()).is_err() {
        return Ok(false);
    }
    let Connection { sender, receiver } = connection;
    let (inbox, outbox) = (Inbox::default(), Outbox::default());
    outbox.deliver(move |message| sender.send(message).is_ok());
    for message in wrong {
        let message = format!("sqslint: {message}");
        let typ = MessageType::ERROR;
        outbox.tell("window/showMessage", ShowMessageParams { typ, message });
    }
    let mut reader = MessageReader {
        inbox: inbox.clone(),
        outbox: outbox.clone(),
        folders: folders(&params),
        is_leaving: false,
        settings: settings.clone(),
    };
    reader.begin();
    let work = std::thread::Builder::new().name("sqslint worker".to_owned());
    let worker = work.spawn(move || {
        let mut worker = Worker::new(settings, inbox, outbox);
        on_own_threads(|| worker.run());
    });
    let worker = worker.map_err(|error| format!("no thread can be started: {error}"))?;
    let has_ended = reader.read(receiver.iter());
    reader.inbox.close();
    // The worker is not joined: its current work may take long, and the result is no longer needed.
    drop(worker);
    reader.outbox.close();
    Ok(has_ended)
}

/// Returns the open folders in the editor's spelling.
#[allow(deprecated)] // older editors send these fields only
fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    let folders = params.workspace_folders.iter().flatten().map(|folder| &folder.uri);
    let folders: Vec<PathBuf> = folders.filter_map(address::path_of).collect();
    if !folders.is_empty() {
        return folders;
    }
    let uri = params.root_uri.as_ref().and_then(address::path_of);
    uri.or_else(|| params.root_path.as_ref().map(PathBuf::from))
        .into_iter()
        .collect()
}

/// Returns the capabilities of the server.
fn capabilities(settings: &Settings) -> ServerCapabilities {
    let no_progress = WorkDoneProgressOptions::default();
    ServerCapabilities {
        position_encoding: Some(settings.encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
                include_text: Some(false),
            })),
            ..TextDocumentSyncOptions::default()
        })),
        diagnostic_provider: settings.pull.then(|| {
            DiagnosticServerCapabilities::Options(DiagnosticOptions {
                identifier: Some(diagnostics::SOURCE.to_owned()),
                inter_file_dependencies: true,
                workspace_diagnostics: true,
                work_done_progress_options: no_progress,
            })
        }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, actions::fix_all_kind()]),
            ..CodeActionOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(["[", ",", "\"", "."].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        inlay_hint_provider: settings.inlay_hints.then_some(OneOf::Left(true)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: questions::COMMANDS.map(str::to_owned).to_vec(),
            work_done_progress_options: no_progress,
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    }
}

/// Files that affect results even if they are not open: all that units are read from.
const WATCHED: &str =
    "**/*.{tf,tofu,hcl,tfvars,json,yaml,yml,toml,tfstate,template,tpl,tftpl,tmpl,txt,py,js,cjs,mjs,ts,cts,mts,go,java}";

/// Reader of the editor's messages.
struct MessageReader {
    inbox: Inbox,
    outbox: Outbox,
    folders: Vec<PathBuf>,
    /// `true` once the editor has requested a shutdown.
    is_leaving: bool,
    settings: Settings,
}

impl MessageReader {
    fn begin(&self) {
        if self.settings.watches {
            let watch = |glob: &str| FileSystemWatcher {
                glob_pattern: GlobPattern::String(glob.to_owned()),
                kind: None,
            };
            let options = DidChangeWatchedFilesRegistrationOptions {
                watchers: vec![watch(WATCHED), watch("**/.gitignore"), watch("**/.sqslint*")],
            };
            let registration = Registration {
                id: "sqslint-files".to_owned(),
                method: "workspace/didChangeWatchedFiles".to_owned(),
                register_options: serde_json::to_value(options).ok(),
            };
            let registrations = vec![registration];
            self.outbox
                .ask("client/registerCapability", RegistrationParams { registrations });
        }
        self.folders_changed();
    }

    fn folders_changed(&self) {
        let folders = self.folders.clone();
        self.inbox.change(|_, changes| {
            changes.folders = Some(folders);
            true
        });
    }

    /// Reads all messages, and returns `true` if the editor has shut down properly.
    fn read(&mut self, messages: impl Iterator<Item = Message>) -> bool {
        for message in messages {
            match message {
                Message::Request(request) => self.request(request),
                Message::Notification(notification) if notification.method == "exit" => return self.is_leaving,
                Message::Notification(notification) => self.notified(notification),
                // Responses to the server's own requests need no action.
                Message::Response(_) => {}
            }
        }
        false
    }

    fn request(&mut self, request: Request) {
        self.outbox.wait_for_room();
        if self.is_leaving {
            let message = "the server is shutting down";
            return self.outbox.refuse(request.id, ErrorCode::InvalidRequest, message);
        }
        if request.method == "shutdown" {
            self.is_leaving = true;
            return self.outbox.answer(request.id, ());
        }
        if !questions::METHODS.contains(&request.method.as_str()) {
            let message = format!("unknown request `{}`", request.method);
            return self.outbox.refuse(request.id, ErrorCode::MethodNotFound, &message);
        }
        if let Some(refused) = self.inbox.ask(request) {
            let message = "too many questions wait for an answer";
            self.outbox.refuse(refused.id, ErrorCode::ServerCancelled, message);
        }
    }

    fn notified(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            "textDocument/didOpen" => self.with(params, |reader, params: DidOpenTextDocumentParams| {
                reader.inbox.change(|documents, changes| {
                    let path = documents.open(params.text_document);
                    let is_new = !source::files::exists(&path);
                    changes.note(path, is_new);
                    true
                });
            }),
            "textDocument/didChange" => self.with(params, |reader, params: DidChangeTextDocumentParams| {
                let (document, encoding) = (params.text_document, reader.settings.encoding);
                reader.inbox.change(|documents, changes| {
                    let edited = documents.edit(&document.uri, document.version, params.content_changes, encoding);
                    if let Some(path) = edited {
                        changes.note(path, false);
                    }
                    false
                });
            }),
            "textDocument/didClose" => self.with(params, |reader, params: DidCloseTextDocumentParams| {
                reader.inbox.change(|documents, changes| {
                    if let Some(path) = documents.close(&params.text_document.uri) {
                        let is_gone = !source::files::exists(&path);
                        changes.note(path, is_gone);
                    }
                    true
                });
            }),
            "textDocument/didSave" => self.inbox.change(|_, changes| {
                // Not every editor watches files, and saving often follows a pull or a code generator.
                changes.is_unwatched |= !self.settings.watches;
                true
            }),
            "workspace/didChangeWatchedFiles" => self.with(params, |reader, params: DidChangeWatchedFilesParams| {
                reader.inbox.change(|documents, changes| {
                    for event in params.changes {
                        let Some(path) = address::path_of(&event.uri) else {
                            continue;
                        };
                        let path = source::files::beyond_links(&path);
                        // The editor's text overrides the file on disk while it is open.
                        if event.typ != FileChangeType::CHANGED {
                            changes.note(path, true);
                        } else if !documents.open.contains_key(&path) {
                            changes.note(path, false);
                        }
                    }
                    false
                });
            }),
            "workspace/didChangeWorkspaceFolders" => {
                self.with(params, |reader, params: DidChangeWorkspaceFoldersParams| {
                    let paths = |folders: Vec<lsp_types::WorkspaceFolder>| -> Vec<PathBuf> {
                        folders
                            .iter()
                            .filter_map(|folder| address::path_of(&folder.uri))
                            .collect()
                    };
                    let removed = paths(params.event.removed);
                    reader.folders.retain(|folder| !removed.contains(folder));
                    reader.folders.extend(paths(params.event.added));
                    reader.folders_changed();
                });
            }
            "$/cancelRequest" => self.with(params, |reader, params: lsp_types::CancelParams| {
                let id = match params.id {
                    lsp_types::NumberOrString::Number(number) => number.into(),
                    lsp_types::NumberOrString::String(text) => text.into(),
                };
                if reader.inbox.cancel(&id) {
                    reader.outbox.refuse(id, ErrorCode::RequestCanceled, "cancelled");
                }
            }),
            _ => {}
        }
    }

    /// Calls `take` with the deserialized `params`. Invalid notifications are ignored, since the editor expects no
    /// answer.
    fn with<T: DeserializeOwned>(&mut self, params: Value, take: impl FnOnce(&mut Self, T)) {
        if let Ok(params) = serde_json::from_value(params) {
            take(self, params);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_extension_of_sources_is_watched() {
        for ending in ["tf", "tofu", "tfvars", "yaml", "json", "toml", "py", "java"] {
            assert!(WATCHED.contains(ending), "{ending}");
        }
    }
}
