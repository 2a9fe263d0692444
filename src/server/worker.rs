//! Checks changes and answers requests, one after the other on a separate thread, so that the thread that reads
//! messages never waits.

use super::diagnostics::ByFile;
use super::documents::Document;
use super::inbox::{Changes, Inbox, Work};
use super::names::Names;
use super::outbox::Outbox;
use super::progress::CheckObserver;
use super::project::{Project, Root};
use super::settings::Settings;
use super::{address, questions};
use lsp_types::{
    MessageType, NumberOrString, ProgressParams, ProgressParamsValue, PublishDiagnosticsParams, ShowMessageParams,
    WorkDoneProgress, WorkDoneProgressBegin, WorkDoneProgressCreateParams, WorkDoneProgressEnd, WorkDoneProgressReport,
};
use source::files::{UnsavedTexts, beyond_links};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum time that a check may be cancelled repeatedly by further changes; after that, it runs to its end.
const PATIENCE: Duration = Duration::from_secs(2);

/// Minimum number of units for which progress is shown.
const WORTH_TELLING: usize = 32;

/// State of the projects, and of the diagnostics that the editor has received.
pub(super) struct Worker {
    pub(super) settings: Settings,
    pub(super) projects: Vec<Project>,
    pub(super) documents: BTreeMap<PathBuf, Document>,
    pub(super) names: Names,
    inbox: Inbox,
    pub(super) outbox: Outbox,
    /// Folders in the editor's spelling.
    folders: Vec<PathBuf>,
    /// `true` if projects were added or removed since the last publication.
    is_rearranged: bool,
    /// Last published diagnostics of each file.
    published: BTreeMap<PathBuf, Arc<PublishDiagnosticsParams>>,
    /// Errors that have been shown.
    shown: BTreeSet<String>,
    loads: i32,
    /// Start of the changes that have not been checked completely.
    check_started: Option<Instant>,
}

impl Worker {
    pub(super) fn new(settings: Settings, inbox: Inbox, outbox: Outbox) -> Self {
        Worker {
            settings,
            projects: Vec::new(),
            documents: BTreeMap::new(),
            names: Names::default(),
            inbox,
            outbox,
            folders: Vec::new(),
            is_rearranged: true,
            published: BTreeMap::new(),
            shown: BTreeSet::new(),
            loads: 0,
            check_started: None,
        }
    }

    /// Works until the inbox is closed.
    pub(super) fn run(&mut self) {
        while let Some(Work {
            documents,
            changes,
            question,
            overtaken,
        }) = self.inbox.next()
        {
            self.documents = documents;
            self.take(changes);
            let check_started = *self.check_started.get_or_insert_with(Instant::now);
            let may_stop = check_started.elapsed() < PATIENCE;
            let is_whole = self.refresh(may_stop.then_some(&overtaken));
            if is_whole {
                self.check_started = None;
                self.publish();
            }
            match question {
                Some(question) if is_whole => questions::answer(self, question),
                Some(question) => self.inbox.put_back(question),
                None => {}
            }
        }
    }

    /// Records changes.
    fn take(&mut self, changes: Changes) {
        if let Some(folders) = changes.folders {
            self.folders = folders;
        }
        let folders = self.folders.iter();
        let folders: Vec<(PathBuf, PathBuf)> = folders.map(|folder| (beyond_links(folder), folder.clone())).collect();
        self.names = Names::new(&self.documents, folders.clone());
        let mut roots: BTreeSet<Root> = folders.iter().map(|(real, _)| Root::Folder(real.clone())).collect();
        let is_held = |path: &Path| folders.iter().any(|(real, _)| path.starts_with(real));
        let loose = self
            .documents
            .iter()
            .filter(|(path, document)| !(document.is_file && is_held(path)));
        roots.extend(loose.map(|(path, _)| Root::File(path.clone())));
        let before = self.projects.len();
        self.projects.retain(|project| roots.remove(&project.root));
        self.is_rearranged |= self.projects.len() < before || !roots.is_empty();
        let new = roots.into_iter().map(|root| Project::new(root, &self.settings));
        self.projects.extend(new);
        for project in &mut self.projects {
            if changes.is_unwatched {
                project.detect_changes();
            }
            for (path, was_created_or_deleted) in &changes.files {
                project.note(path, *was_created_or_deleted);
            }
        }
    }

    /// Checks stale clusters. Returns `false` if the check was cancelled.
    fn refresh(&mut self, cancelled: Option<&Arc<AtomicBool>>) -> bool {
        let texts = self
            .documents
            .iter()
            .map(|(path, document)| (path.clone(), document.text.clone()));
        let texts: UnsavedTexts = Arc::new(texts.collect());
        let mut is_whole = true;
        for project in &mut self.projects {
            self.loads += 1;
            let load = Mutex::new(Load::new(&self.settings, &self.outbox, self.loads));
            let tell = |done, all| load.lock().unwrap_or_else(PoisonError::into_inner).tell(done, all);
            let watch = CheckObserver { tell: &tell, cancelled };
            is_whole &= project.refresh(&texts, &self.names, &watch);
            load.lock().unwrap_or_else(PoisonError::into_inner).end();
        }
        is_whole
    }

    /// Returns all findings by file.
    pub(super) fn found(&self) -> ByFile {
        let mut all = ByFile::new();
        for (path, found) in self.projects.iter().flat_map(Project::found) {
            let known = all.entry(path).or_default();
            // Folders may be nested.
            for one in found {
                if !known.contains(&one) {
                    known.push(one);
                }
            }
        }
        all
    }

    /// Returns the findings of all open files, and of files whose published diagnostics may be out of date.
    fn outdated_findings(&mut self) -> ByFile {
        /// Number of files above which a single pass over all findings is faster.
        const MANY: usize = 50;
        let changed = self.projects.iter_mut().flat_map(Project::changed);
        let mut changed: BTreeSet<PathBuf> = changed.collect();
        if std::mem::take(&mut self.is_rearranged) {
            changed.extend(self.published.keys().cloned());
        }
        changed.extend(self.documents.keys().cloned());
        let mut all = if changed.len() > MANY {
            self.found()
        } else {
            ByFile::new()
        };
        let is_many = changed.len() > MANY;
        let reported = changed.into_iter().map(|path| {
            let found = if is_many {
                all.remove(&path).unwrap_or_default()
            } else {
                self.found_in(&path)
            };
            (path, found)
        });
        reported.collect()
    }

    /// Returns the findings in one file.
    pub(super) fn found_in(&self, path: &Path) -> Vec<lsp_types::Diagnostic> {
        let mut found: Vec<lsp_types::Diagnostic> = Vec::new();
        for one in self.projects.iter().flat_map(|project| project.found_in(path)) {
            // Folders may be nested.
            if !found.contains(&one) {
                found.push(one);
            }
        }
        found
    }

    fn publish(&mut self) {
        self.show_errors();
        let mut has_changed = false;
        for (path, diagnostics) in self.outdated_findings() {
            let before = self.published.get(&path);
            // A closed document keeps the URI under which its diagnostics were published.
            let reported_by = before
                .map(|before| before.uri.clone())
                .filter(|_| diagnostics.is_empty());
            let Some(uri) = reported_by.or_else(|| self.names.uri(&path)) else {
                continue;
            };
            let params = PublishDiagnosticsParams::new(uri, diagnostics, self.names.version(&path));
            if before.is_some_and(|before| **before == params) {
                continue;
            }
            has_changed |= before.map(|before| &before.diagnostics) != Some(&params.diagnostics);
            let params = Arc::new(params);
            if !self.settings.pull {
                self.outbox.publish(params.clone());
            }
            if params.diagnostics.is_empty() && !self.documents.contains_key(&path) {
                self.published.remove(&path);
            } else {
                self.published.insert(path, params);
            }
        }
        if has_changed && self.settings.pull && self.settings.refreshes {
            self.outbox.refresh();
        }
    }

    /// Shows each error that prevents checks once.
    fn show_errors(&mut self) {
        let errors: BTreeSet<String> = self.projects.iter().flat_map(Project::problems).collect();
        for error in errors.difference(&self.shown) {
            let message = ShowMessageParams {
                typ: MessageType::WARNING,
                message: format!("sqslint: {error}"),
            };
            self.outbox.tell("window/showMessage", message);
        }
        self.shown = errors;
    }

    /// Returns the path of the file that a request refers to.
    pub(super) fn path(&self, uri: &lsp_types::Uri) -> Option<PathBuf> {
        let open = self
            .documents
            .iter()
            .find(|(_, document)| document.uri.as_str() == uri.as_str());
        let open = open.map(|(path, _)| path.clone());
        open.or_else(|| Some(beyond_links(&address::path_of(uri)?)))
    }
}

/// Progress notifications of a long load.
struct Load<'s> {
    outbox: &'s Outbox,
    token: NumberOrString,
    shows: bool,
    has_begun: bool,
    /// Last reported percentage.
    percentage: u32,
}

impl<'s> Load<'s> {
    fn new(settings: &Settings, outbox: &'s Outbox, number: i32) -> Self {
        Load {
            outbox,
            token: NumberOrString::String(format!("sqslint-load-{number}")),
            shows: settings.progress,
            has_begun: false,
            percentage: 0,
        }
    }

    fn tell(&mut self, done: usize, all: usize) {
        if !self.shows || all < WORTH_TELLING {
            return;
        }
        // Threads may report out of order, but the percentage must not decrease.
        let percentage = u32::try_from(done * 100 / all.max(1)).unwrap_or(100);
        self.percentage = percentage.max(self.percentage);
        let percentage = Some(self.percentage);
        let message = Some(format!("{done} of {all} units"));
        if self.has_begun {
            self.send(WorkDoneProgress::Report(WorkDoneProgressReport {
                percentage,
                message,
                cancellable: Some(false),
            }));
            return;
        }
        self.has_begun = true;
        let token = self.token.clone();
        let create = WorkDoneProgressCreateParams { token };
        self.outbox.ask("window/workDoneProgress/create", create);
        self.send(WorkDoneProgress::Begin(WorkDoneProgressBegin {
            title: "sqslint".to_owned(),
            percentage,
            message,
            cancellable: Some(false),
        }));
    }

    fn end(&mut self) {
        if self.has_begun {
            self.send(WorkDoneProgress::End(WorkDoneProgressEnd { message: None }));
        }
    }

    fn send(&self, step: WorkDoneProgress) {
        self.outbox.progress(ProgressParams {
            token: self.token.clone(),
            value: ProgressParamsValue::WorkDone(step),
        });
    }
}
