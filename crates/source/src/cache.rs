//! Caches results between runs over the same files, for an editor session: unchanged texts keep their ids and syntax
//! trees, and [`Sources::cached`] returns a cached value as long as none of its inputs changed.
//!
//! The inputs of a value are all paths that its computation asked about, whether they existed or not, including those
//! of the cached values that it used. They are recorded in [`Dependencies`]. An example with two units that call the
//! same module and one that does not:
//!
//! ```text
//! run 1   cached(live/7)                computed: depends on live/7 and shared
//!           cached(shared)              computed: depends on shared
//!         cached(live/9)                computed: depends on live/9
//!         finish_run(sources)           keeps the texts and the three values
//! editor  invalidate(shared/main.tf)    drops live/7 and shared, which depend on it
//! run 2   cached(live/7)                computed again; its own files keep their texts and trees
//!           cached(shared)              computed again
//!         cached(live/9)                cached: its texts are added to the sources of run 2
//!         finish_run(sources)           drops the values that run 2 did not use
//! ```
//!
//! The owner of a [`Cache`] reports changes ([`Cache::invalidate`]). A batch run has none and computes everything once. An
//! editor session reads the units of a project in two passes, to relate them and to judge them. Both share a cache
//! ([`Cache::across_parts`]), which carries values, but no trees, from the first pass to the second.

use super::{FileId, SourceFile, Sources, Texts};
use crate::files::{PathRecorder, Paths};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::any::{Any, TypeId};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum total length of the texts whose trees are kept between runs, in bytes. Trees use about ten times as much
/// memory.
const MAX_TEXT_WITH_TREES_BETWEEN_RUNS: usize = 4 << 20;

/// A cache of the results of earlier runs over the same files.
#[derive(Debug, Default)]
pub struct Cache {
    store: Mutex<Store>,
    /// Set for a cache that carries values from one pass over the parts of a project to the next.
    across_parts: Option<SharedAcrossParts>,
}

/// Texts of the runs over the parts of one project.
#[derive(Debug, Default)]
struct SharedAcrossParts {
    /// Their total length in bytes.
    length: AtomicUsize,
    is_large: Arc<AtomicBool>,
    /// `true` in the second pass, in which each cached value is used for the last time.
    is_last_pass: AtomicBool,
}

/// Ids of files by path. A path has the same id in all runs that share them.
#[derive(Debug, Default)]
pub struct Ids(Mutex<FxHashMap<PathBuf, usize>>);

impl Ids {
    /// Returns the id of `path`, which is assigned at the first request.
    pub(super) fn of(&self, path: &Path) -> usize {
        let mut ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = ids.len();
        if let Some(known) = ids.get(path) {
            return *known;
        }
        ids.insert(path.to_owned(), next);
        next
    }
}

#[derive(Debug, Default)]
struct Store {
    /// Texts of the last run.
    texts: Vec<Option<Arc<SourceFile>>>,
    values: FxHashMap<Key, CachedValue>,
}

/// Identity of a value: its type, its path, and a hash of its other arguments.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    type_id: TypeId,
    path: PathBuf,
    arguments: u64,
}

#[derive(Debug)]
struct CachedValue {
    value: Arc<dyn Any + Send + Sync>,
    dependencies: Arc<Dependencies>,
    is_used: bool,
}

/// Inputs of a cached value.
#[derive(Debug, Default)]
pub struct Dependencies {
    paths: Paths,
    files: Vec<(FileId, Arc<SourceFile>)>,
}

/// Ids of the files that were read.
pub(super) type Reads = Mutex<FxHashSet<FileId>>;

impl Cache {
    /// Creates a cache for runs over the parts of one project, which may be concurrent.
    pub fn across_parts() -> Self {
        Cache {
            across_parts: Some(SharedAcrossParts::default()),
            ..Cache::default()
        }
    }

    /// Begins the last pass: the first request for a value removes it from the cache, and no value is added, except for
    /// [shared](Sources::shared) values.
    pub fn begin_last_pass(&self) {
        if let Some(parts) = &self.across_parts {
            parts.is_last_pass.store(true, Ordering::Relaxed);
        }
    }

    fn is_last_pass(&self) -> bool {
        let parts = self.across_parts.as_ref();
        parts.is_some_and(|parts| parts.is_last_pass.load(Ordering::Relaxed))
    }

    /// Returns the cached value for `key`.
    fn cached(&self, key: &Key, is_shared: bool) -> Option<(Arc<dyn Any + Send + Sync>, Arc<Dependencies>)> {
        let values = &mut self.lock().values;
        if self.is_last_pass() && !is_shared {
            return values.remove(key).map(|cached| (cached.value, cached.dependencies));
        }
        let cached = values.get_mut(key)?;
        cached.is_used = true;
        Some((cached.value.clone(), cached.dependencies.clone()))
    }

    /// Returns the flag that is set once the texts are too long to keep trees in a run, if all runs share it.
    pub(super) fn is_large(&self) -> Option<Arc<AtomicBool>> {
        self.across_parts.as_ref().map(|parts| parts.is_large.clone())
    }

    /// Returns the total length of the texts including `added` new bytes: over all runs if the cache is shared across
    /// parts, else `length`, which is that of the run.
    pub(super) fn length_with(&self, added: usize, length: usize) -> usize {
        let parts = self.across_parts.as_ref();
        parts.map_or(length, |parts| {
            parts.length.fetch_add(added, Ordering::Relaxed).saturating_add(added)
        })
    }

    /// Returns `true` if trees are kept for the next run when the texts have the total length `length`.
    pub(super) fn keeps_trees(&self, length: usize) -> bool {
        self.across_parts.is_none() && length <= MAX_TEXT_WITH_TREES_BETWEEN_RUNS
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the text that the file had in the last run.
    pub(super) fn text(&self, at: usize) -> Option<Arc<SourceFile>> {
        self.lock().texts.get(at)?.clone()
    }

    /// Invalidates the values that depend on `path`. With `is_created_or_deleted`, the file may have been created or
    /// deleted, with all files below it.
    pub fn invalidate(&self, path: &Path, is_created_or_deleted: bool) {
        let values = &mut self.lock().values;
        values.retain(|_, cached| !depends_on(&cached.dependencies.paths, path, is_created_or_deleted));
    }

    /// Takes the texts of a completed run, and drops the values that it did not use.
    pub fn finish_run(&self, sources: &Sources) {
        if self.across_parts.is_some() {
            return;
        }
        let mut store = self.lock();
        // Values refer to files by id, and ids are stable, so texts and values stay consistent.
        store.texts.clone_from(&sources.texts().all);
        store.values.retain(|_, cached| std::mem::take(&mut cached.is_used));
    }
}

/// Returns `true` if a result that asked about `dependencies` may depend on a change of `path`. With
/// `is_created_or_deleted`, the file may have been created or deleted, with all files below it.
pub(crate) fn depends_on(dependencies: &Paths, path: &Path, is_created_or_deleted: bool) -> bool {
    // A created or deleted entry changes the listing of its directory, and everything below the entry.
    let is_listed = || path.parent().is_some_and(|parent| dependencies.contains(parent));
    dependencies.contains(path)
        || (is_created_or_deleted && (is_listed() || dependencies.iter().any(|one| one.starts_with(path))))
}

impl Sources {
    /// Returns the cached value for `path` and `arguments` if none of its inputs changed, else calls `make`. Also
    /// returns the inputs of the value.
    pub fn cached<T: Send + Sync + 'static>(
        &self,
        path: &Path,
        arguments: impl Hash,
        make: impl FnOnce(&Sources) -> T,
    ) -> (Arc<T>, Arc<Dependencies>) {
        self.cached_as(false, path, arguments, make)
    }

    /// Like [`Sources::cached`], for a value that several parts of a project need.
    pub fn shared<T: Send + Sync + 'static>(&self, path: &Path, make: impl FnOnce(&Sources) -> T) -> Arc<T> {
        self.cached_as(true, path, (), make).0
    }

    fn cached_as<T: Send + Sync + 'static>(
        &self,
        is_shared: bool,
        path: &Path,
        arguments: impl Hash,
        make: impl FnOnce(&Sources) -> T,
    ) -> (Arc<T>, Arc<Dependencies>) {
        let Some(cache) = &self.cache else {
            // A batch run: compute, without recording inputs.
            let (value, dependencies) = self.recording_dependencies(make);
            return (Arc::new(value), dependencies);
        };
        let mut hasher = FxHasher::default();
        arguments.hash(&mut hasher);
        let key = Key {
            type_id: TypeId::of::<T>(),
            path: path.to_owned(),
            arguments: hasher.finish(),
        };
        // A cached value is valid: `invalidate` has dropped those that depend on a changed file.
        if let Some((value, dependencies)) = cache.cached(&key, is_shared)
            && let Ok(value) = value.downcast::<T>()
        {
            self.add_dependencies(&dependencies);
            return (value, dependencies);
        }
        // Compute it, while a recorder collects its inputs.
        let (value, dependencies) = self.recording_dependencies(make);
        let value = Arc::new(value);
        let cached = CachedValue {
            value: value.clone(),
            dependencies: dependencies.clone(),
            is_used: true,
        };
        // The computation of a cancelled run may have stopped halfway, so its value is not cached.
        if !self.is_cancelled() && (is_shared || !cache.is_last_pass()) {
            cache.lock().values.insert(key, cached);
        }
        (value, dependencies)
    }

    /// Calls `make` and records its inputs. Without a cache they are not needed and not recorded.
    pub fn recording_dependencies<T>(&self, make: impl FnOnce(&Sources) -> T) -> (T, Arc<Dependencies>) {
        if self.cache.is_none() {
            return (make(self), Arc::default());
        }
        let (recorder, reads) = (Arc::<PathRecorder>::default(), Arc::<Reads>::default());
        // Shares the texts of this run, but has recorders of its own: they see only what `make` asks about.
        let view = Sources {
            texts: self.texts.clone(),
            files: self.files.clone().recording(recorder.clone()),
            working_directory: self.working_directory.clone(),
            overlaid: self.overlaid.clone(),
            is_large: self.is_large.clone(),
            cache: self.cache.clone(),
            ids: self.ids.clone(),
            reads: Some(reads.clone()),
            is_cancelled: self.is_cancelled.clone(),
            derived: self.derived.clone(),
        };
        let value = make(&view);
        let reads = std::mem::take(&mut *reads.lock().unwrap_or_else(PoisonError::into_inner));
        #[allow(clippy::iter_over_hash_type)] // the files are only looked up by id
        let files = reads.into_iter().map(|id| (id, self.file(id))).collect();
        let paths = recorder.take();
        let dependencies = Arc::new(Dependencies { paths, files });
        // A value that is being computed around this one depends on the same inputs.
        self.add_dependencies(&dependencies);
        (value, dependencies)
    }

    /// Adds the inputs of a cached value to those of the value being computed, and its texts to this run, because its
    /// spans point into them.
    pub fn add_dependencies(&self, dependencies: &Dependencies) {
        // The paths, for the value being computed, if any.
        if let Some(recorder) = self.files.recorder() {
            recorder.record_all(&dependencies.paths);
        }
        if let Some(reads) = &self.reads {
            let mut reads = reads.lock().unwrap_or_else(PoisonError::into_inner);
            reads.extend(dependencies.files.iter().map(|(id, _)| *id));
        }
        self.add_files(&dependencies.files);
    }

    /// Adds texts of other runs with the same [`Ids`], so that spans may point into them. Texts of this run stay.
    pub fn add_files(&self, files: &[(FileId, Arc<SourceFile>)]) {
        // Usually all of them are here already, which a read lock suffices to find out.
        let is_here = |texts: &Texts| {
            let here = |(id, file): &(FileId, Arc<SourceFile>)| {
                let known = texts.get(id.0 as usize);
                known.is_some_and(|known| known.is_guarded() || !file.is_guarded())
            };
            files.iter().all(here)
        };
        if is_here(&self.texts()) {
            return;
        }
        let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
        for (id, file) in files {
            match texts.get(id.0 as usize) {
                // This run read the file itself, without knowing that it may contain secrets.
                Some(known) if file.is_guarded() => known.is_guarded.store(true, Ordering::Relaxed),
                Some(_) => {}
                None => texts.put(id.0 as usize, file.clone()),
            }
        }
    }

    /// Records that a file was read.
    pub(super) fn record_read(&self, id: FileId) -> FileId {
        if let Some(reads) = &self.reads {
            reads.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        }
        id
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::files::Files;
    use crate::files::Scratch;
    use std::cell::Cell;

    /// Runs that cache the length of `a` and the total length of both files, and count how often each was computed.
    struct Runs {
        directory: Scratch,
        cache: Arc<Cache>,
        ids: Arc<Ids>,
        computed: Cell<(usize, usize)>,
    }

    impl Runs {
        fn new() -> Self {
            Runs::over(Cache::default())
        }

        fn over(cache: Cache) -> Self {
            Runs {
                directory: Scratch::with_files([("a", "1"), ("b", "22")]).unwrap(),
                cache: Arc::new(cache),
                ids: Arc::default(),
                computed: Cell::default(),
            }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.directory.path().join(name)
        }

        fn length(&self, name: &str, sources: &Sources) -> usize {
            let path = self.at(name);
            let known = sources.find_read(&path);
            let id = known.unwrap_or_else(|| {
                let bytes = sources.files().read(&path, 9).unwrap_or_default();
                sources.add(&path, String::from_utf8(bytes).unwrap())
            });
            sources.file(id).text().len()
        }

        fn run(&self) -> (usize, Vec<(FileId, Arc<SourceFile>)>) {
            let files = Files::new(None, vec![self.directory.path().to_owned()]);
            let sources = Sources::with_files(files, self.directory.path().to_owned()).with_cache(
                Some(self.cache.clone()),
                Some(self.ids.clone()),
                None,
            );
            let (both, _) = sources.cached(&self.at("b"), "both", |sources| {
                let (first, second) = self.computed.get();
                self.computed.set((first, second + 1));
                let (a, _) = sources.cached(&self.at("a"), (), |sources| {
                    let (first, second) = self.computed.get();
                    self.computed.set((first + 1, second));
                    self.length("a", sources)
                });
                *a + self.length("b", sources)
            });
            self.cache.finish_run(&sources);
            let mut all = sources.all();
            all.sort_by_key(|(id, _)| *id);
            (*both, all)
        }

        fn write(&self, name: &str, text: &str) {
            std::fs::write(self.at(name), text).unwrap();
            self.cache.invalidate(&self.at(name), false);
        }
    }

    #[test]
    fn value_is_recomputed_after_a_change_of_an_input() {
        let runs = Runs::new();
        let (length, first) = runs.run();
        assert_eq!((length, runs.computed.get(), first.len()), (3, (1, 1), 2));
        let (length, second) = runs.run();
        assert_eq!((length, runs.computed.get()), (3, (1, 1)));
        let is_same = |(one, other): (&(FileId, Arc<SourceFile>), &(FileId, Arc<SourceFile>))| {
            one.0 == other.0 && Arc::ptr_eq(&one.1, &other.1)
        };
        assert!(
            first.iter().zip(&second).all(is_same),
            "the texts of a cached value are in the sources"
        );
        runs.write("a", "333");
        let (length, third) = runs.run();
        assert_eq!((length, runs.computed.get()), (5, (2, 2)), "through the inner value");
        let at = |files: &[(FileId, Arc<SourceFile>)], name: &str| {
            let found = files.iter().find(|(_, file)| file.path().ends_with(name)).unwrap();
            found.clone()
        };
        assert_eq!(at(&first, "a").0, at(&third, "a").0, "a path keeps its id");
        assert!(
            Arc::ptr_eq(&at(&first, "b").1, &at(&third, "b").1),
            "and an unchanged file keeps its text"
        );
    }

    #[test]
    fn passing_cache_gives_each_value_away_once_in_the_last_pass() {
        let runs = Runs::over(Cache::across_parts());
        assert_eq!((runs.run().0, runs.computed.get()), (3, (1, 1)));
        assert_eq!(
            (runs.run().0, runs.computed.get()),
            (3, (1, 1)),
            "every part may use it"
        );
        runs.cache.begin_last_pass();
        assert_eq!(
            (runs.run().0, runs.computed.get()),
            (3, (1, 1)),
            "the last pass uses it"
        );
        assert_eq!((runs.run().0, runs.computed.get()), (3, (1, 2)), "and removes it");
        runs.write("a", "333");
        assert_eq!(
            (runs.run().0, runs.computed.get()),
            (5, (2, 3)),
            "a changed file is computed again"
        );
    }

    #[test]
    fn shared_value_is_computed_once_in_the_last_pass() {
        let cache = Arc::new(Cache::across_parts());
        cache.begin_last_pass();
        let computed = Cell::new(0);
        let value = || {
            let sources = Sources::default().with_cache(Some(cache.clone()), None, None);
            *sources.shared(Path::new("/"), |_| computed.replace(computed.get() + 1))
        };
        assert_eq!([value(), value()], [0, 0]);
    }

    #[test]
    fn trees_are_dropped_once_the_parts_together_are_large() {
        let cache = Arc::new(Cache::across_parts());
        let text = "x".repeat(super::super::MAX_TEXT_WITH_TREES / 2 + 1);
        let trees = ["a", "b"].map(|name| {
            let sources = Sources::default().with_cache(Some(cache.clone()), None, None);
            let file = sources.file(sources.add(Path::new(name), text.as_str()));
            let tree = Arc::downgrade(&file.derived(str::len));
            sources.drop_derived_if_large();
            tree.upgrade().is_some()
        });
        assert_eq!(trees, [true, false]);
    }

    #[test]
    fn created_and_deleted_files_invalidate_their_directory_and_contents() {
        let dependencies: Paths = [Arc::from(Path::new("/p/a/b/c")), Arc::from(Path::new("/p/d"))]
            .into_iter()
            .collect();
        for (path, is_created_or_deleted, expected) in [
            ("/p/a/b/c", false, true),
            ("/p/d/new", true, true),
            ("/p/d/new", false, false),
            ("/p/a", true, true),
            ("/p/a", false, false),
            ("/p/x", true, false),
        ] {
            assert_eq!(
                depends_on(&dependencies, Path::new(path), is_created_or_deleted),
                expected,
                "{path} {is_created_or_deleted}"
            );
        }
    }

    #[test]
    fn cached_value_guards_its_secrets_again() {
        let runs = Runs::new();
        let sources = |cache: &Arc<Cache>| {
            let sources = Sources::with_files(Files::default(), PathBuf::from("/"));
            sources.with_cache(Some(cache.clone()), Some(runs.ids.clone()), None)
        };
        let guarding = |sources: &Sources| {
            let (id, _) = sources.cached(Path::new("/x"), (), |sources| {
                let id = sources.add(Path::new("/x"), "secret");
                sources.guard(id);
                id
            });
            *id
        };
        let first = sources(&runs.cache);
        guarding(&first);
        runs.cache.finish_run(&first);
        let second = sources(&runs.cache);
        let id = second.add(Path::new("/x"), "secret");
        assert!(!second.file(id).is_guarded());
        assert_eq!(guarding(&second), id);
        assert!(second.file(id).is_guarded());
    }
}
