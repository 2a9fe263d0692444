//! One folder of the editor, or one file outside of all: its units in clusters, each with what was
//! found in it, and judged again when a file changes that it was read from.

use super::clusters::{self, Cluster};
use super::diagnostics::{self, ByFile};
use super::names::Names;
use super::settings::Settings;
use crate::config::{Configs, NAMES};
use crate::discover::{Input, unit_of};
use crate::files::{Asked, HeldTexts, Overlaid, Stamp, stamp};
use crate::pipeline::{Options, Outcome, Place, check_inputs, inputs};
use crate::rules::Catalogue;
use crate::source::Kept;
use lsp_types::Diagnostic;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What a project is the project of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Root {
    /// A folder, by its real path.
    Folder(PathBuf),
    /// A file that lies in none.
    File(PathBuf),
}

impl Root {
    pub(super) fn path(&self) -> &Path {
        match self {
            Root::Folder(path) | Root::File(path) => path,
        }
    }
}

/// Who waits for what is judged.
pub(super) struct Watch<'w> {
    /// Hears how many clusters are judged, of how many.
    pub(super) tell: &'w (dyn Fn(usize, usize) + Sync),
    /// Set once nobody waits any more; `None` where somebody does, whatever comes.
    pub(super) abandoned: Option<&'w Arc<AtomicBool>>,
}

impl Watch<'_> {
    fn is_abandoned(&self) -> bool {
        self.abandoned.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// A folder, or a file by itself.
pub(super) struct Project {
    pub(super) root: Root,
    settings: Settings,
    options: Options,
    place: Place,
    configs: Configs,
    texts: HeldTexts,
    /// The disk under them, as of the last look.
    store: Arc<Overlaid>,
    clusters: Vec<Cluster>,
    /// Whether the units themselves may be others.
    is_moved: bool,
    /// What open texts were as units when units were looked for.
    recognised: BTreeMap<PathBuf, Option<Input>>,
    /// The configurations that hold for the units, as they were.
    configured: BTreeMap<PathBuf, Stamp>,
    /// The rules that the configurations know, as they were when nothing was wrong with them.
    catalogue: Catalogue,
    /// What is wrong with a configuration; nothing is judged then.
    misconfigured: Option<(PathBuf, Diagnostic)>,
    /// Files of which what was told may be no more.
    gone: BTreeSet<PathBuf>,
    /// What kept sqslint from looking.
    pub(super) errors: Vec<String>,
    /// Counts changes.
    clock: u64,
    /// The last outcome that somebody asked for, with the place of its cluster.
    looked_at: Option<(usize, Outcome)>,
}

impl Project {
    pub(super) fn new(root: Root, settings: &Settings) -> Self {
        let options = Options {
            paths: vec![root.path().to_owned()],
            notes_reach: true,
            ..settings.options.clone()
        };
        let directory = match &root {
            Root::Folder(path) => path.clone(),
            Root::File(path) => path.parent().unwrap_or(path).to_owned(),
        };
        let place = Place::at(directory, &options);
        let configs = place.configs(&options);
        Project {
            root,
            settings: settings.clone(),
            options,
            place,
            configs,
            texts: HeldTexts::default(),
            store: Arc::new(Overlaid::new(HeldTexts::default())),
            clusters: Vec::new(),
            is_moved: true,
            recognised: BTreeMap::new(),
            configured: BTreeMap::new(),
            catalogue: Catalogue::default(),
            misconfigured: None,
            gone: BTreeSet::new(),
            errors: Vec::new(),
            clock: 0,
            looked_at: None,
        }
    }

    /// Whether a file belongs to the folder, or is the file.
    pub(super) fn holds(&self, path: &Path) -> bool {
        match &self.root {
            Root::Folder(folder) => path.starts_with(folder),
            Root::File(file) => path == file,
        }
    }

    /// Notes that a file changed; `exists_anew` says that it may have come or gone.
    pub(super) fn note(&mut self, path: &Path, exists_anew: bool) {
        let name = path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
        if NAMES.contains(&name) || self.is_configuration(path) {
            self.forget();
            return;
        }
        self.is_moved |= exists_anew || name == ".gitignore";
        self.clock += 1;
        for cluster in &mut self.clusters {
            if cluster.note(path, exists_anew) {
                cluster.touched = self.clock;
            }
        }
    }

    fn is_configuration(&self, path: &Path) -> bool {
        self.misconfigured.as_ref().is_some_and(|(file, _)| file == path)
            || self.options.config.file.as_deref() == Some(path)
            || self.configured.contains_key(path)
    }

    /// Looks which files have changed without a word.
    pub(super) fn look_again(&mut self) {
        self.is_moved = true;
        self.clusters.par_iter_mut().for_each(Cluster::look_again);
    }

    /// Everything may have changed.
    fn forget(&mut self) {
        self.is_moved = true;
        for cluster in &mut self.clusters {
            cluster.is_stale = true;
        }
    }

    /// The bounds of what may be read, with the open texts in place of the files.
    fn place(&self) -> Place {
        Place {
            files: self.place.files.clone().of(self.store.clone()),
            ..self.place.clone()
        }
    }

    /// Judges what has changed, with `texts` in place of files. Returns whether all of it was: where nobody waits for it
    /// any more, the rest stays stale.
    pub(super) fn refresh(&mut self, texts: &HeldTexts, names: &Names, watch: &Watch<'_>) -> bool {
        self.texts = texts.clone();
        self.store = Arc::new(Overlaid::new(texts.clone()));
        self.find_moved();
        if self.is_moved {
            self.find_units();
        }
        let (mut done, mut is_whole) = (0, true);
        while is_whole && self.clusters.iter().any(|cluster| cluster.is_stale) {
            self.looked_at = None;
            self.share_out_room();
            is_whole = self.judge_stale(names, &mut done, watch);
            // As long as nobody reaches further than before, those belong together that did.
            if is_whole && self.clusters.iter().any(|cluster| cluster.is_reshaped) {
                self.clusters = clusters::join(std::mem::take(&mut self.clusters));
            }
        }
        is_whole
    }

    /// Lets what was typed in last hand on what it makes from one judgement to the next.
    fn share_out_room(&mut self) {
        /// In so many clusters somebody types at a time; of more it would cost much memory.
        const ROOM: usize = 4;
        let mut touched: Vec<u64> = self.clusters.iter().map(|cluster| cluster.touched).collect();
        touched.sort_by_key(|at| std::cmp::Reverse(*at));
        let least = touched.get(ROOM).map_or(1, |next| next + 1);
        for cluster in &mut self.clusters {
            if cluster.touched < least {
                cluster.kept = None;
            } else {
                cluster.kept.get_or_insert_default();
            }
        }
    }

    /// Whether a text that is open has become a unit, or is none any more.
    fn find_moved(&mut self) {
        let place = self.place();
        let open = self.texts.keys().filter(|path| self.holds(path));
        let recognised = open.map(|path| (path.clone(), unit_of(path, &place.files))).collect();
        let is_listed = |path: &Path| {
            let mut inputs = self.clusters.iter().flat_map(|cluster| &cluster.inputs);
            inputs.any(|input| input.path() == path)
        };
        let has_changed = |(path, unit): (&PathBuf, &Option<Input>)| match self.recognised.get(path) {
            Some(before) => before != unit,
            None => unit.is_some() != is_listed(path),
        };
        self.is_moved |= BTreeMap::iter(&recognised).any(has_changed);
        self.recognised = recognised;
    }

    /// Looks for units, and for configurations.
    fn find_units(&mut self) {
        let place = self.place();
        self.configs = place.configs(&self.options);
        self.errors.clear();
        self.is_moved = false;
        let found = inputs(&self.options, &place, &self.configs);
        let found = found.and_then(|found| {
            let wrong = found.iter().find_map(|input| self.configs.of(input.path()).err());
            self.misconfigured(wrong)
                .map_or(Ok(found), |message| Err(vec![message]))
        });
        let found = match found {
            Ok(found) => found,
            Err(errors) => {
                let wrong = self.configs.of(self.root.path()).err();
                if self.misconfigured.is_none() {
                    let _ = self.misconfigured(wrong);
                }
                if self.misconfigured.is_none() {
                    self.errors = errors;
                }
                Vec::new()
            }
        };
        if self.configs.of(self.root.path()).is_ok() && self.misconfigured.is_none() {
            self.catalogue = self.configs.catalogue();
        }
        let mut found: BTreeSet<Input> = found.into_iter().collect();
        let configured = found.iter().filter_map(|input| self.configs.of(input.path()).ok());
        let files: BTreeSet<PathBuf> = configured.flat_map(|config| config.files.clone()).collect();
        let configured = files.into_iter().map(|file| (file.clone(), stamp(&file))).collect();
        if self.configured != configured {
            self.configured = configured;
            self.clusters.iter_mut().for_each(|cluster| cluster.is_stale = true);
        }
        for cluster in &mut self.clusters {
            let before = cluster.inputs.len();
            cluster.inputs.retain(|input| found.remove(input));
            cluster.is_stale |= cluster.inputs.len() < before;
        }
        self.looked_at = None;
        for cluster in self.clusters.extract_if(.., |cluster| cluster.inputs.is_empty()) {
            self.gone.extend(cluster.found.into_keys());
        }
        self.clusters
            .extend(found.into_iter().map(|input| Cluster::new(vec![input])));
    }

    /// Keeps what is wrong with a configuration, and gives its words.
    fn misconfigured(&mut self, error: Option<crate::config::ConfigError>) -> Option<String> {
        let error = error.as_ref();
        self.gone.extend(self.misconfigured.take().map(|(path, _)| path));
        self.misconfigured = error.and_then(|error| diagnostics::of_configuration(error, self.settings.encoding));
        self.gone
            .extend(self.misconfigured.iter().map(|(path, _)| path.clone()));
        error.map(ToString::to_string)
    }

    /// Judges every stale cluster, as long as somebody waits for it, what was typed in last first.
    fn judge_stale(&mut self, names: &Names, done: &mut usize, watch: &Watch<'_>) -> bool {
        let mut clusters = std::mem::take(&mut self.clusters);
        let mut stale: Vec<&mut Cluster> = clusters.iter_mut().filter(|cluster| cluster.is_stale).collect();
        stale.sort_by_key(|cluster| std::cmp::Reverse(cluster.touched));
        let (before, all) = (*done, *done + stale.len());
        let judged = AtomicUsize::new(before);
        stale.into_par_iter().for_each(|cluster| {
            if !watch.is_abandoned() && self.judge(cluster, names, watch) {
                (watch.tell)(judged.fetch_add(1, Ordering::Relaxed) + 1, all);
            }
        });
        self.clusters = clusters;
        *done = judged.into_inner();
        *done == all
    }

    /// Whether it came to its end.
    fn judge(&self, cluster: &mut Cluster, names: &Names, watch: &Watch<'_>) -> bool {
        let abandoned = watch.abandoned.cloned();
        let (outcome, asked) = self.checked(&cluster.inputs, false, cluster.kept.clone(), abandoned);
        let Some(outcome) = outcome else {
            return false;
        };
        let found = diagnostics::of(&outcome, names, &self.settings);
        cluster.take(found, outcome.reach, asked.take());
        cluster.errors = outcome.errors;
        true
    }

    fn checked(
        &self,
        inputs: &[Input],
        trace: bool,
        kept: Option<Arc<Kept>>,
        abandoned: Option<Arc<AtomicBool>>,
    ) -> (Option<Outcome>, Arc<Asked>) {
        let asked = Arc::<Asked>::default();
        let place = self.place();
        let place = Place {
            files: place.files.clone().noting(asked.clone()),
            ..place
        };
        let options = Options {
            trace,
            ..self.options.clone()
        };
        let outcome = check_inputs(&options, &place, &self.configs, inputs.to_vec(), kept, abandoned);
        (outcome, asked)
    }

    /// Everything that is found, by file.
    pub(super) fn found(&self) -> ByFile {
        let mut all = ByFile::new();
        for (path, found) in self.clusters.iter().flat_map(|cluster| &cluster.found) {
            all.entry(path.clone()).or_default().extend_from_slice(found);
        }
        if let Some((path, wrong)) = &self.misconfigured {
            all.entry(path.clone()).or_default().push(wrong.clone());
        }
        for found in all.values_mut() {
            in_order(found);
        }
        all
    }

    /// What is found in one file.
    pub(super) fn found_in(&self, path: &Path) -> Vec<Diagnostic> {
        let found = self.clusters.iter().filter_map(|cluster| cluster.found.get(path));
        let mut found: Vec<Diagnostic> = found.flatten().cloned().collect();
        let wrong = self.misconfigured.as_ref().filter(|(file, _)| file == path);
        found.extend(wrong.map(|(_, wrong)| wrong.clone()));
        in_order(&mut found);
        found
    }

    /// Files whose findings have changed since this was last asked.
    pub(super) fn changed(&mut self) -> BTreeSet<PathBuf> {
        let mut changed = std::mem::take(&mut self.gone);
        for cluster in &mut self.clusters {
            changed.append(&mut cluster.changed);
        }
        changed
    }

    /// What is known of the cluster that a file is read for, with what its rules concluded.
    pub(super) fn look(&mut self, path: &Path) -> Option<&Outcome> {
        let at = self.cluster_of(path)?;
        if self.looked_at.as_ref().is_none_or(|(known, _)| *known != at) {
            let cluster = self.clusters.get(at)?;
            let (outcome, _) = self.checked(&cluster.inputs, true, cluster.kept.clone(), None);
            self.looked_at = Some((at, outcome?));
        }
        self.looked_at.as_ref().map(|(_, outcome)| outcome)
    }

    /// The same for the units of the file alone: what it is, or what it lies in.
    pub(super) fn alone(&self, path: &Path) -> Option<Outcome> {
        let is_its = |input: &&Input| match input {
            Input::TerraformModule(directory) | Input::CdkApp(directory) => path.parent() == Some(directory),
            other => other.path() == path,
        };
        let inputs = self.clusters.iter().flat_map(|cluster| &cluster.inputs);
        let inputs: Vec<Input> = inputs.filter(is_its).cloned().collect();
        if inputs.is_empty() {
            return None;
        }
        self.checked(&inputs, false, None, None).0
    }

    /// Hands [that](Self::look) over.
    pub(super) fn take_look(&mut self, path: &Path) -> Option<Outcome> {
        self.look(path)?;
        self.looked_at.take().map(|(_, outcome)| outcome)
    }

    /// Takes back what was handed over for the same file.
    pub(super) fn give_back(&mut self, path: &Path, outcome: Outcome) {
        self.looked_at = self.cluster_of(path).map(|at| (at, outcome));
    }

    fn cluster_of(&self, path: &Path) -> Option<usize> {
        let mut clusters = self.clusters.iter();
        clusters.position(|cluster| cluster.found.contains_key(path) || cluster.asked.contains_key(path))
    }

    /// The rules that there are for its files: ours, and policies.
    pub(super) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// What kept sqslint from its work.
    pub(super) fn problems(&self) -> Vec<String> {
        let errors = self.clusters.iter().flat_map(|cluster| &cluster.errors);
        self.errors.iter().chain(errors).cloned().collect()
    }
}

fn in_order(found: &mut [Diagnostic]) {
    found.sort_by(|a, b| {
        let key = |one: &Diagnostic| (one.range.start, one.range.end);
        (key(a), &a.message).cmp(&(key(b), &b.message))
    });
}
