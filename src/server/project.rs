//! Checks one folder of the editor, or one file outside of all folders. Its units are grouped into clusters, each with
//! its findings, and a cluster is checked again if one of its files changes.

use super::clusters::{self, Cluster, CommonNodes, Stamps};
use super::diagnostics::{self, ByFile};
use super::names::Names;
use super::progress::{CheckObserver, Progress};
use super::settings::Settings;
use crate::config::{Configs, NAMES};
use crate::discover::{Input, unit_of};
use crate::pipeline::{Options, Outcome, ProjectPart, RunContext, Session, check_part, inputs, survey};
use crate::rules::Catalogue;
use lsp_types::Diagnostic;
use rayon::prelude::*;
use source::files::{Overlaid, PathRecorder, Stamp, UnsavedTexts, stamp};
use source::{Cache, Ids};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Root of a project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Root {
    /// A folder, by its real path.
    Folder(PathBuf),
    /// A file outside of all folders.
    File(PathBuf),
}

impl Root {
    pub(super) fn path(&self) -> &Path {
        match self {
            Root::Folder(path) | Root::File(path) => path,
        }
    }
}

/// Folder or single file.
pub(super) struct Project {
    pub(super) root: Root,
    settings: Settings,
    options: Options,
    context: RunContext,
    configs: Configs,
    texts: UnsavedTexts,
    /// Files on disk with the open texts, as of the last refresh.
    store: Arc<Overlaid>,
    /// Stamps of files during a refresh.
    stamps: Stamps,
    clusters: Vec<Cluster>,
    /// Ids of files in all checks.
    ids: Arc<Ids>,
    /// Results of reading new units to determine their relations, kept until they are checked.
    surveyed: Option<Arc<Cache>>,
    /// `true` if units may have been added or removed.
    must_find_units: bool,
    /// Units recognised in open texts during the last search for units.
    recognised: BTreeMap<PathBuf, Option<Input>>,
    /// Configurations that apply to the units, with their stamps.
    configured: BTreeMap<PathBuf, Stamp>,
    /// Rules known to the configurations when they last were valid.
    catalogue: Catalogue,
    /// Error in a configuration, which prevents checks.
    misconfigured: Option<(PathBuf, Diagnostic)>,
    /// Files whose published diagnostics may be out of date.
    outdated_files: BTreeSet<PathBuf>,
    /// Errors that prevented the search for units.
    pub(super) errors: Vec<String>,
    /// Logical clock, which counts changes.
    clock: u64,
    /// Last requested outcome, with the index of its cluster.
    record_unit: Option<(usize, Outcome)>,
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
        let context = RunContext::at(directory, &options);
        let configs = context.configs(&options);
        Project {
            root,
            settings: settings.clone(),
            options,
            context,
            configs,
            texts: UnsavedTexts::default(),
            store: Arc::new(Overlaid::new(UnsavedTexts::default())),
            stamps: Stamps::default(),
            clusters: Vec::new(),
            ids: Arc::default(),
            surveyed: None,
            must_find_units: true,
            recognised: BTreeMap::new(),
            configured: BTreeMap::new(),
            catalogue: Catalogue::default(),
            misconfigured: None,
            outdated_files: BTreeSet::new(),
            errors: Vec::new(),
            clock: 0,
            record_unit: None,
        }
    }

    /// Returns `true` if a file belongs to the project.
    pub(super) fn holds(&self, path: &Path) -> bool {
        match &self.root {
            Root::Folder(folder) => path.starts_with(folder),
            Root::File(file) => path == file,
        }
    }

    /// Records that a file changed or, with `was_created_or_deleted`, that it may have been created or deleted.
    pub(super) fn note(&mut self, path: &Path, was_created_or_deleted: bool) {
        let name = path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
        if NAMES.contains(&name) || self.is_configuration(path) {
            self.invalidate();
            return;
        }
        self.must_find_units |= was_created_or_deleted || name == ".gitignore";
        let new = |cluster: &Cluster| cluster.new_directory(path).map(Path::to_owned);
        let new = was_created_or_deleted
            .then(|| self.clusters.iter().find_map(new))
            .flatten();
        let path = new.as_deref().unwrap_or(path);
        if let Some(cache) = &self.surveyed {
            cache.invalidate(path, was_created_or_deleted);
        }
        self.clock += 1;
        for cluster in &mut self.clusters {
            if cluster.note(path, was_created_or_deleted) {
                cluster.touched = self.clock;
            }
        }
    }

    fn is_configuration(&self, path: &Path) -> bool {
        self.misconfigured.as_ref().is_some_and(|(file, _)| file == path)
            || self.options.config.file.as_deref() == Some(path)
            || self.configured.contains_key(path)
    }

    /// Detects files that have changed without notification.
    pub(super) fn detect_changes(&mut self) {
        self.must_find_units = true;
        self.surveyed = None;
        self.clusters.par_iter_mut().for_each(Cluster::detect_changes);
    }

    /// Invalidates all results.
    fn invalidate(&mut self) {
        self.must_find_units = true;
        self.surveyed = None;
        for cluster in &mut self.clusters {
            cluster.is_stale = true;
        }
    }

    /// Returns the directories and readable files, with the open texts in place of files on disk.
    fn context(&self) -> RunContext {
        RunContext {
            files: self.context.files.clone().from_store(self.store.clone()),
            ..self.context.clone()
        }
    }

    /// Checks stale clusters, with `texts` in place of files. Returns `false` if the check was cancelled; the remaining
    /// clusters stay stale.
    pub(super) fn refresh(&mut self, texts: &UnsavedTexts, names: &Names, watch: &CheckObserver<'_>) -> bool {
        self.texts = texts.clone();
        self.store = Arc::new(Overlaid::new(texts.clone()));
        self.detect_unit_changes();
        if self.must_find_units {
            self.find_units();
        }
        let mut is_whole = true;
        let progress = Progress::new(&self.clusters, watch);
        while is_whole && self.has_stale() {
            self.record_unit = None;
            self.share_out_room();
            is_whole = self.survey_new(&progress) && self.judge_stale(names, &progress);
            // Clusters only need to be joined again if the relations of one have changed.
            if is_whole && self.clusters.iter().any(|cluster| cluster.is_reshaped) {
                self.clusters = clusters::join(std::mem::take(&mut self.clusters));
            }
        }
        if is_whole {
            self.surveyed = None;
        }
        self.stamps = Stamps::default();
        is_whole
    }

    /// Returns `true` if a cluster must be checked again, because one of its files or a node that concerns it has changed.
    fn has_stale(&mut self) -> bool {
        let meaning = CommonNodes::of(&self.clusters).meaning;
        self.clusters
            .iter_mut()
            .for_each(|cluster| cluster.compare_meaning(meaning));
        self.clusters.iter().any(|cluster| cluster.is_stale)
    }

    /// Determines the relations of new units, so that related ones are checked together from the start. Returns `false`
    /// if it was cancelled.
    fn survey_new(&mut self, progress: &Progress<'_>) -> bool {
        if self.clusters.len() < 2 || self.clusters.iter().all(|cluster| cluster.is_surveyed) {
            return true;
        }
        let cache = self
            .surveyed
            .get_or_insert_with(|| Arc::new(Cache::across_parts()))
            .clone();
        let mut clusters = std::mem::take(&mut self.clusters);
        let new = clusters.par_iter_mut().filter(|cluster| !cluster.is_surveyed);
        new.for_each(|cluster| {
            if progress.is_cancelled() {
                return;
            }
            let session = Session {
                is_cancelled: progress.cancelled(),
                ..self.session(Some(cache.clone()))
            };
            let (found, dependencies) = self.over(&cluster.inputs, session, survey);
            if let Some((reach, shared)) = found {
                cluster.take_reach(reach, shared, dependencies.take(), &self.stamps);
                progress.record_unit(cluster);
            }
        });
        let is_whole = clusters.iter().all(|cluster| cluster.is_surveyed);
        if is_whole {
            cache.begin_last_pass();
        }
        self.clusters = if is_whole { clusters::join(clusters) } else { clusters };
        is_whole
    }

    /// Assigns caches to the clusters that were edited last.
    fn share_out_room(&mut self) {
        /// Maximum number of clusters with a cache, because caches need much memory.
        const ROOM: usize = 4;
        let mut touched: Vec<u64> = self.clusters.iter().map(|cluster| cluster.touched).collect();
        touched.sort_by_key(|at| std::cmp::Reverse(*at));
        let least = touched.get(ROOM).map_or(1, |next| next + 1);
        for cluster in &mut self.clusters {
            if cluster.touched < least {
                cluster.cache = None;
            } else {
                cluster.cache.get_or_insert_default();
            }
        }
    }

    /// Detects whether an open text has become a unit, or no longer is one.
    fn detect_unit_changes(&mut self) {
        let context = self.context();
        let open = self.texts.keys().filter(|path| self.holds(path));
        let recognised = open.map(|path| (path.clone(), unit_of(path, &context.files))).collect();
        let is_listed = |path: &Path| {
            let mut inputs = self.clusters.iter().flat_map(|cluster| &cluster.inputs);
            inputs.any(|input| input.path() == path)
        };
        let has_changed = |(path, unit): (&PathBuf, &Option<Input>)| match self.recognised.get(path) {
            Some(before) => before != unit,
            None => unit.is_some() != is_listed(path),
        };
        self.must_find_units |= BTreeMap::iter(&recognised).any(has_changed);
        self.recognised = recognised;
    }

    /// Finds units and configurations.
    fn find_units(&mut self) {
        let context = self.context();
        self.configs = context.configs(&self.options);
        self.errors.clear();
        self.must_find_units = false;
        let found = inputs(&self.options, &context, &self.configs);
        let found = found.and_then(|found| {
            let wrong = found.iter().find_map(|input| self.configs.for_path(input.path()).err());
            self.misconfigured(wrong)
                .map_or(Ok(found), |message| Err(vec![message]))
        });
        let found = match found {
            Ok(found) => found,
            Err(errors) => {
                let wrong = self.configs.for_path(self.root.path()).err();
                if self.misconfigured.is_none() {
                    let _ = self.misconfigured(wrong);
                }
                if self.misconfigured.is_none() {
                    self.errors = errors;
                }
                Vec::new()
            }
        };
        if self.configs.for_path(self.root.path()).is_ok() && self.misconfigured.is_none() {
            self.catalogue = self.configs.catalogue();
        }
        let mut found: BTreeSet<Input> = found.into_iter().collect();
        let configured = found
            .iter()
            .filter_map(|input| self.configs.for_path(input.path()).ok());
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
        self.record_unit = None;
        for cluster in self.clusters.extract_if(.., |cluster| cluster.inputs.is_empty()) {
            self.outdated_files.extend(cluster.found.into_keys());
        }
        self.clusters
            .extend(found.into_iter().map(|input| Cluster::new(vec![input])));
    }

    /// Stores an error in a configuration, and returns its message.
    fn misconfigured(&mut self, error: Option<crate::config::ConfigError>) -> Option<String> {
        let error = error.as_ref();
        self.outdated_files
            .extend(self.misconfigured.take().map(|(path, _)| path));
        self.misconfigured = error.and_then(|error| diagnostics::of_configuration(error, self.settings.encoding));
        self.outdated_files
            .extend(self.misconfigured.iter().map(|(path, _)| path.clone()));
        error.map(ToString::to_string)
    }

    /// Returns what all checks of the project share.
    fn session(&self, cache: Option<Arc<Cache>>) -> Session {
        Session {
            cache,
            ids: Some(self.ids.clone()),
            ..Session::default()
        }
    }

    /// Checks stale clusters, last edited ones first. Returns `false` if the check was cancelled.
    fn judge_stale(&mut self, names: &Names, progress: &Progress<'_>) -> bool {
        let mut clusters = std::mem::take(&mut self.clusters);
        let common = CommonNodes::of(&clusters);
        let stale = clusters.iter_mut().enumerate().filter(|(_, cluster)| cluster.is_stale);
        let mut stale: Vec<(usize, &mut Cluster)> = stale.collect();
        stale.sort_by_key(|(_, cluster)| std::cmp::Reverse(cluster.touched));
        stale.into_par_iter().for_each(|(at, cluster)| {
            if !progress.is_cancelled() && self.judge(cluster, &common, at, names, progress) {
                progress.record_unit(cluster);
            }
        });
        self.clusters = clusters;
        self.clusters.iter().all(|cluster| !cluster.is_stale)
    }

    /// Checks a cluster. Returns `false` if the check was cancelled.
    fn judge(
        &self,
        cluster: &mut Cluster,
        common: &CommonNodes,
        at: usize,
        names: &Names,
        progress: &Progress<'_>,
    ) -> bool {
        let cache = cluster.cache.clone().or_else(|| self.surveyed.clone());
        let session = Session {
            outside: common.outside(at),
            is_cancelled: progress.cancelled(),
            ..self.session(cache)
        };
        let (outcome, dependencies) = self.over(&cluster.inputs, session, check_part);
        let Some(outcome) = outcome else {
            return false;
        };
        let found = diagnostics::of(&outcome, names, &self.settings);
        let dependencies = dependencies.take();
        cluster.take(found, outcome.reach, outcome.shared, dependencies, &self.stamps);
        cluster.meaning = common.meaning;
        cluster.errors = outcome.errors;
        true
    }

    /// Applies `look` to units, and returns its result with the paths that it depends on.
    fn over<T>(
        &self,
        inputs: &[Input],
        session: Session,
        look: impl FnOnce(ProjectPart<'_>) -> Option<T>,
    ) -> (Option<T>, Arc<PathRecorder>) {
        let dependencies = Arc::<PathRecorder>::default();
        let context = self.context();
        let context = RunContext {
            files: context.files.clone().recording(dependencies.clone()),
            ..context
        };
        let outcome = look(ProjectPart {
            options: &self.options,
            context: &context,
            configs: &self.configs,
            inputs: inputs.to_vec(),
            session,
        });
        (outcome, dependencies)
    }

    /// Checks units with tracing, which keeps the judgements of rules.
    fn traced(&self, inputs: &[Input], session: Session) -> Option<Outcome> {
        let options = Options {
            trace: true,
            ..self.options.clone()
        };
        let traced = |part: ProjectPart<'_>| {
            check_part(ProjectPart {
                options: &options,
                ..part
            })
        };
        self.over(inputs, session, traced).0
    }

    /// Returns all findings by file.
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

    /// Returns the findings in one file.
    pub(super) fn found_in(&self, path: &Path) -> Vec<Diagnostic> {
        let found = self.clusters.iter().filter_map(|cluster| cluster.found.get(path));
        let mut found: Vec<Diagnostic> = found.flatten().cloned().collect();
        let wrong = self.misconfigured.as_ref().filter(|(file, _)| file == path);
        found.extend(wrong.map(|(_, wrong)| wrong.clone()));
        in_order(&mut found);
        found
    }

    /// Returns the files whose findings have changed since the last call.
    pub(super) fn changed(&mut self) -> BTreeSet<PathBuf> {
        let mut changed = std::mem::take(&mut self.outdated_files);
        for cluster in &mut self.clusters {
            changed.extend(std::mem::take(&mut cluster.changed));
        }
        changed
    }

    /// Returns a traced outcome of the cluster that reads a file.
    pub(super) fn look(&mut self, path: &Path) -> Option<&Outcome> {
        let at = self.cluster_of(path)?;
        if self.record_unit.as_ref().is_none_or(|(known, _)| *known != at) {
            let cluster = self.clusters.get(at)?;
            let session = Session {
                outside: CommonNodes::of(&self.clusters).outside(at),
                ..self.session(cluster.cache.clone())
            };
            let outcome = self.traced(&cluster.inputs, session)?;
            self.record_unit = Some((at, outcome));
        }
        self.record_unit.as_ref().map(|(_, outcome)| outcome)
    }

    /// Returns an outcome of the file's own units only: the file itself, or the module that contains it.
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
        self.over(&inputs, self.session(None), check_part).0
    }

    /// Returns the outcome of [`look`](Self::look), and removes it from the project.
    pub(super) fn take_look(&mut self, path: &Path) -> Option<Outcome> {
        self.look(path)?;
        self.record_unit.take().map(|(_, outcome)| outcome)
    }

    /// Stores the outcome that was removed for the same file.
    pub(super) fn give_back(&mut self, path: &Path, outcome: Outcome) {
        self.record_unit = self.cluster_of(path).map(|at| (at, outcome));
    }

    fn cluster_of(&self, path: &Path) -> Option<usize> {
        let mut clusters = self.clusters.iter();
        clusters.position(|cluster| cluster.found.contains_key(path) || cluster.dependencies.contains_key(path))
    }

    /// Returns the known rules: the built-in ones and the policies.
    pub(super) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Returns the errors that prevented checks.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::TemporaryDirectory;
    use source::files::counts;

    const QUEUE: &str = "# counted-by-sqslint: a queue\nresource \"aws_sqs_queue\" \"q\" {\n  name = \"mails\"\n}\n";
    const READER: &str = "# counted-by-sqslint: a reader\nresource \"aws_lambda_function\" \"f\" {\n  timeout = 45\n}\nresource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = \"arn:aws:sqs:eu-west-1:123456789012:mails\"\n  function_name = aws_lambda_function.f.arn\n}\n";
    const ALONE: &str = "# counted-by-sqslint: by itself\nResources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties: {VisibilityTimeout: 99999}\n";

    /// A function whose role lacks permissions, unless a grant to an unresolved role may give them.
    const ROLE: &str = r#"# counted-by-sqslint: a role
resource "aws_sqs_queue" "orders" {}
resource "aws_iam_role" "worker" {
  name               = "worker"
  assume_role_policy = jsonencode({ Statement = [] })
}
resource "aws_lambda_function" "worker" {
  function_name = "worker"
  role          = aws_iam_role.worker.arn
  timeout       = 3
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.worker.arn
}
"#;

    /// Returns a policy that lets an unresolved role perform `action`.
    fn grant(action: &str) -> String {
        format!(
            "variable \"role\" {{}}\nresource \"aws_iam_role_policy\" \"p\" {{\n  role = var.role\n  policy = jsonencode({{ \
             Statement = [{{ Effect = \"Allow\", Action = \"{action}\", Resource = \"*\" }}] }})\n}}\n"
        )
    }

    #[test]
    fn grant_to_unresolved_role_concerns_other_clusters() {
        let place = TemporaryDirectory::with_files([("a/main.tf", ROLE), ("b/main.tf", &grant("sqs:*"))]);
        let (settings, _) = Settings::new(&serde_json::Value::Null);
        let mut project = Project::new(Root::Folder(place.path().to_owned()), &settings);
        let mut findings_with = |text: Option<String>| {
            let path = place.path().join("b/main.tf");
            let texts = text.map(|text| (path.clone(), Arc::from(text)));
            let texts: UnsavedTexts = Arc::new(texts.into_iter().collect());
            project.note(&path, false);
            let watch = CheckObserver {
                tell: &|_, _| {},
                cancelled: None,
            };
            crate::pipeline::on_own_threads(|| project.refresh(&texts, &Names::default(), &watch));
            assert_eq!(project.clusters.len(), 2);
            let found = project.found();
            let of_role = found.values().flatten();
            let of_role = of_role.filter(|one| one.message.contains("sqs:ReceiveMessage"));
            (of_role.count(), counts::of(&place.path().join("a/main.tf"), ROLE).1)
        };
        assert_eq!(findings_with(None), (0, 1), "the policy may be the role's");
        for (text, expected) in [
            (format!("# moved\n{}", grant("sqs:*")), (0, 1)),
            (grant("s3:*"), (1, 2)),
            (grant("s3:Get*"), (1, 3)),
            (String::new(), (1, 4)),
        ] {
            let actual = findings_with(Some(text.clone()));
            assert_eq!(actual, expected, "findings, and checks of the other cluster: {text}");
        }
    }

    /// Opens and checks a folder.
    fn opened(place: &TemporaryDirectory) -> Project {
        let (settings, _) = Settings::new(&serde_json::Value::Null);
        let mut project = Project::new(Root::Folder(place.path().to_owned()), &settings);
        let watch = CheckObserver {
            tell: &|_, _| {},
            cancelled: None,
        };
        let texts = UnsavedTexts::default();
        crate::pipeline::on_own_threads(|| project.refresh(&texts, &Names::default(), &watch));
        project
    }

    #[test]
    fn search_for_the_source_of_a_function_does_not_join_modules() {
        let function = ROLE.replace(
            "  timeout       = 3",
            "  handler       = \"app.handler\"\n  timeout       = 3",
        );
        // Another text than in the other tests, which count its parses.
        let queue = "resource \"aws_sqs_queue\" \"q\" {}\n";
        let place = TemporaryDirectory::with_files([("a/main.tf", &*function), ("b/main.tf", queue), ("b/app.py", "")]);
        let project = opened(&place);
        let of = |name: &str| {
            project
                .clusters
                .iter()
                .position(|one| one.inputs.iter().any(|input| input.path().ends_with(name)))
        };
        let searches = |at: usize| project.clusters[at].dependencies.contains_key(&*place.path().join("b"));
        assert!(of("a").is_some_and(searches), "the search lists the other module");
        assert_ne!(of("a"), of("b"));
    }

    #[test]
    fn file_in_a_new_directory_concerns_what_lists_the_directory_above() {
        let function = ROLE.replace("  timeout ", "  handler       = \"app.handler\"\n  timeout ");
        let place = TemporaryDirectory::with_files([("a/main.tf", &*function), ("b/main.tf", "")]);
        let mut project = opened(&place);
        let source = place.path().join("a/src/deep/app.py");
        std::fs::create_dir_all(source.parent().unwrap()).unwrap();
        std::fs::write(&source, "").unwrap();
        project.note(&source, true);
        assert!(project.clusters.iter().any(|one| one.is_stale));
        project.clusters.iter_mut().for_each(|one| one.is_stale = false);
        project.note(&place.path().join("a/src/sqslint.toml"), true);
        assert!(
            project.clusters.iter().all(|one| one.is_stale),
            "a configuration concerns all"
        );
    }

    #[test]
    fn opened_project_is_checked_once() {
        let files = [("a/main.tf", QUEUE), ("b/main.tf", READER), ("c/template.yaml", ALONE)];
        let place = TemporaryDirectory::with_files(files);
        let (settings, wrong) = Settings::new(&serde_json::Value::Null);
        assert!(wrong.is_empty(), "{wrong:?}");
        let mut project = Project::new(Root::Folder(place.path().to_owned()), &settings);
        let (reported, texts) = (std::sync::Mutex::new(Vec::new()), UnsavedTexts::default());
        let tell = |done, all| reported.lock().unwrap().push((done, all));
        let watch = CheckObserver {
            tell: &tell,
            cancelled: None,
        };
        let is_whole = crate::pipeline::on_own_threads(|| project.refresh(&texts, &Names::default(), &watch));
        assert!(is_whole);
        let found = project.found();
        assert_eq!(found.len(), 3, "{found:#?}");
        assert_eq!(project.clusters.len(), 2, "a name joins two units");
        for (name, text) in files {
            let (_, parsed) = counts::of(&place.path().join(name), text);
            assert_eq!(
                parsed, 1,
                "{name}: looked at to tell what it concerns, and not parsed again to be judged"
            );
        }
        assert_eq!(reported.lock().unwrap().iter().max(), Some(&(3, 3)));
        assert!(project.surveyed.is_none(), "and nothing of it is kept");
    }
}
