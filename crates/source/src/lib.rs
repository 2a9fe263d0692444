#![doc = include_str!("../README.md")]

mod cache;
pub mod files;
pub mod reading;

use crate::files::Files;
use cache::Reads;
pub use cache::{Cache, Dependencies, Ids};
use rustc_hash::FxHashMap;
use std::any::{Any, TypeId};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};

/// Counts a parse of `text` if the feature `counts` is on. Every parser calls it.
#[cfg_attr(not(feature = "counts"), expect(unused_variables, reason = "nothing is counted"))]
pub fn parsed(text: &str) {
    #[cfg(feature = "counts")]
    files::counts::parsed(text);
}

/// Identifier of a file in [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// A byte range in a file; the end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// File of the range.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Creates the span of `range` in `file`. Files are limited to 4 GiB, so offsets fit.
    pub fn new(file: FileId, range: Range<usize>) -> Self {
        let clamp = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span {
            file,
            start: clamp(range.start),
            end: clamp(range.end.max(range.start)),
        }
    }

    /// Returns the byte range.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns `true` if `other` is within this span.
    pub fn contains(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }

    /// Returns the smallest span that covers both, or `self` if they are in different files.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A line and column, both from 1. Columns count Unicode scalar values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in Unicode scalar values.
    pub column: u32,
}

/// A file and its text.
#[derive(Debug)]
pub struct SourceFile {
    path: PathBuf,
    shown: String,
    name: String,
    text: String,
    /// Created at the first request for a position, which most files never get.
    index: OnceLock<Index>,
    /// Values derived from the text, at most one per type.
    derived: Mutex<DerivedValues>,
    is_guarded: AtomicBool,
    /// `true` if `text` is the content of the file, `false` for a substitute.
    is_read: bool,
    /// `true` if the texts of the run are too long to keep the values derived from them.
    is_large_run: Arc<AtomicBool>,
    /// `true` if derived values are kept for later runs, until the text changes.
    is_derived_kept_between_runs: bool,
}

/// Maximum total length of the texts, in bytes, for which derived values are kept throughout a run. It suffices for all
/// but large projects, where syntax trees would use more memory than anything else: they are dropped and derived again
/// if needed.
const MAX_TEXT_WITH_TREES: usize = 1 << 20;

/// Values by their type. Each is created by the first request for it.
type DerivedValues = Vec<(TypeId, Slot)>;
type Slot = Arc<OnceLock<Arc<dyn Any + Send + Sync>>>;

/// Returns the value of type `T`, which `make` creates at most once.
fn derived<T: Any + Send + Sync>(known: &Mutex<DerivedValues>, make: impl FnOnce() -> T) -> Arc<T> {
    let slot = {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let of_type = known.iter().find(|(id, _)| *id == TypeId::of::<T>());
        let of_type = of_type.map(|(_, slot)| slot.clone());
        of_type.unwrap_or_else(|| {
            let slot = Slot::default();
            known.push((TypeId::of::<T>(), slot.clone()));
            slot
        })
    };
    // Outside the lock, because `make` may request a value of another type.
    let value = slot.get_or_init(|| Arc::new(make())).clone();
    value.downcast().expect("a slot holds a value of its type")
}

/// Number of bytes between two entries of [`Index::characters`].
const STRIDE: usize = 4096;

/// Index that makes positions cheap, both in files of many lines and in files of one very long line.
#[derive(Debug)]
struct Index {
    /// Byte offset of the start of each line.
    lines: Vec<u32>,
    /// Number of characters that start before each multiple of [`STRIDE`].
    characters: Vec<u32>,
}

impl Index {
    fn new(text: &str) -> Self {
        let narrow = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let mut lines = vec![0];
        let mut characters = Vec::with_capacity(text.len() / STRIDE + 1);
        let mut count = 0;
        for (at, chunk) in text.as_bytes().chunks(STRIDE).enumerate() {
            characters.push(narrow(count));
            count += count_characters(chunk);
            let breaks = memchr::memchr_iter(b'\n', chunk);
            lines.extend(breaks.map(|within| narrow(at * STRIDE + within + 1)));
        }
        Index { lines, characters }
    }
}

/// Counts the characters that start in `bytes`. Chunks of 192 are counted in a `u8`, which the compiler vectorizes: a
/// plan may be one line of 100 MB.
fn count_characters(bytes: &[u8]) -> usize {
    let begins = |byte: &u8| u8::from(byte & 0xc0 != 0x80);
    let counts = bytes.chunks(192).map(|few| few.iter().map(begins).sum::<u8>());
    counts.map(usize::from).sum()
}

impl SourceFile {
    /// Returns the path under which the file was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path for people: relative to the working directory, with `/`.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns the path for machines: relative to the repository root or, without one, to the working directory, with
    /// `/`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file name without its directory. It does not depend on where sqslint runs.
    pub fn base_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns `true` if the text equals the file byte for byte, which is not so if the file is not valid UTF-8.
    pub fn is_exact(&self) -> bool {
        !self.text.contains(char::REPLACEMENT_CHARACTER)
    }

    /// Returns `true` if it may contain secrets. Reports then show the text of a span, but not the lines around it.
    pub fn is_guarded(&self) -> bool {
        self.is_guarded.load(Ordering::Relaxed)
    }

    /// Returns the value that `make` derives from the text. It is computed at most once per type, on whichever thread
    /// asks first, so that each file is parsed once.
    ///
    /// # Panics
    ///
    /// Never: values are stored by their type.
    pub fn derived<T: Any + Send + Sync>(&self, make: impl FnOnce(&str) -> T) -> Arc<T> {
        derived(&self.derived, || make(&self.text))
    }

    /// Drops the [derived values](Self::derived) if the texts of the run are too long to keep them.
    pub fn drop_derived_if_large(&self) {
        if self.is_large_run.load(Ordering::Relaxed) {
            self.drop_derived();
        }
    }

    /// Drops the [derived values](Self::derived) unless they are kept for later runs.
    pub fn drop_derived(&self) {
        if self.is_derived_kept_between_runs {
            return;
        }
        self.derived.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::new(&self.text))
    }

    /// Counts the characters that start before byte `offset`.
    fn characters_before(&self, offset: usize) -> usize {
        let block = offset / STRIDE;
        let counted = self.index().characters.get(block).map_or(0, |&count| count as usize);
        let rest = self.text.as_bytes().get(block * STRIDE..offset).unwrap_or(&[]);
        counted + count_characters(rest)
    }

    /// Returns the index (from 0) of the line that contains byte `offset`.
    pub fn line_index(&self, offset: usize) -> usize {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        self.index().lines.partition_point(|&start| start <= offset).max(1) - 1
    }

    /// Returns the byte range of line `index` (from 0), including its line break.
    pub fn line_range(&self, index: usize) -> Range<usize> {
        let lines = &self.index().lines;
        let start = lines.get(index).map_or(self.text.len(), |&s| s as usize);
        let end = lines.get(index + 1).map_or(self.text.len(), |&s| s as usize);
        start..end
    }

    /// Returns the number of lines.
    pub fn line_count(&self) -> usize {
        self.index().lines.len()
    }

    /// Returns line and column of byte `offset`.
    pub fn position(&self, offset: usize) -> Position {
        // An offset within a character has that character's column.
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let line = self.line_index(offset);
        let start = self.line_range(line).start;
        let column = self.characters_before(offset) - self.characters_before(start);
        Position {
            line: u32::try_from(line + 1).unwrap_or(u32::MAX),
            column: u32::try_from(column + 1).unwrap_or(u32::MAX),
        }
    }
}

/// Texts by id and by path.
#[derive(Debug, Default)]
struct Texts {
    /// Files by id; `None` for ids of files that only other runs read.
    all: Vec<Option<Arc<SourceFile>>>,
    by_path: FxHashMap<PathBuf, usize>,
    by_directory: FxHashMap<PathBuf, Vec<usize>>,
    /// Total length of the texts in bytes.
    length: usize,
}

impl Texts {
    fn get(&self, at: usize) -> Option<&Arc<SourceFile>> {
        self.all.get(at)?.as_ref()
    }

    fn put(&mut self, at: usize, file: Arc<SourceFile>) {
        self.by_path.insert(file.path.clone(), at);
        if let Some(directory) = file.path.parent() {
            self.by_directory.entry(directory.to_owned()).or_default().push(at);
        }
        self.length = self.length.saturating_add(file.text.len());
        if self.all.len() <= at {
            self.all.resize(at + 1, None);
        }
        if let Some(slot) = self.all.get_mut(at) {
            *slot = Some(file);
        }
    }
}

/// All texts of a run, by [`FileId`]. Threads that load units share them; each path has one text.
#[derive(Debug, Default)]
pub struct Sources {
    texts: Arc<RwLock<Texts>>,
    files: Files,
    working_directory: PathBuf,
    /// Paths whose content was replaced by [`Sources::overlay`].
    overlaid: Vec<PathBuf>,
    /// `true` if the texts are longer than [`MAX_TEXT_WITH_TREES`].
    is_large: Arc<AtomicBool>,
    /// Cache shared with other runs.
    cache: Option<Arc<Cache>>,
    /// Ids shared with other runs.
    ids: Option<Arc<Ids>>,
    /// Recorder of the files that are read, within [`Sources::cached`].
    reads: Option<Arc<Reads>>,
    /// Set once the result of the run is not wanted any more.
    is_cancelled: Option<Arc<AtomicBool>>,
    /// Values of all texts.
    derived: Arc<Mutex<DerivedValues>>,
}

impl Sources {
    /// Creates empty sources. Paths are shown relative to `working_directory` and named relative to `repository`; both
    /// are absolute and without symbolic links.
    pub fn new(repository: Option<PathBuf>, working_directory: PathBuf) -> Self {
        Sources::with_files(Files::new(repository, Vec::new()), working_directory)
    }

    /// Like [`new`](Self::new), with the files that `files` allows to read.
    pub fn with_files(files: Files, working_directory: PathBuf) -> Self {
        Sources {
            files,
            working_directory,
            ..Sources::default()
        }
    }

    /// Reuses the results in `cache` and the `ids` of runs over the same files, and lets the run stop once
    /// `is_cancelled` is set.
    #[must_use]
    pub fn with_cache(
        mut self,
        cache: Option<Arc<Cache>>,
        ids: Option<Arc<Ids>>,
        is_cancelled: Option<Arc<AtomicBool>>,
    ) -> Self {
        self.ids = ids;
        if let Some(is_large) = cache.as_ref().and_then(|cache| cache.is_large()) {
            self.is_large = is_large;
        }
        self.cache = cache;
        self.is_cancelled = is_cancelled;
        self
    }

    /// Returns `true` if the result of the run is not wanted any more, so that the rest of it can be skipped.
    pub fn is_cancelled(&self) -> bool {
        let flag = self.is_cancelled.as_ref();
        flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Replaces the content of the file at `path` by `text`.
    pub fn overlay(&mut self, path: &Path, text: &str) {
        self.add(path, text);
        self.overlaid.push(path.to_owned());
    }

    /// Returns the paths whose content was replaced.
    pub fn overlaid(&self) -> &[PathBuf] {
        &self.overlaid
    }

    /// Returns the files that may be read.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Returns the repository root, if there is one.
    pub fn repository(&self) -> Option<&Path> {
        self.files.repository()
    }

    /// Returns the directory that shown paths are relative to.
    pub fn working_directory(&self) -> &Path {
        &self.working_directory
    }

    /// Adds the text of a file and returns its id. If `path` was added before, its text and id stay.
    pub fn add(&self, path: &Path, text: impl Into<String>) -> FileId {
        self.insert(path, text.into(), true)
    }

    /// Adds a file that was not read, so that spans can point into it. `text` is the part of it that may be shown.
    pub fn add_unread(&self, path: &Path, text: impl Into<String>) -> FileId {
        self.insert(path, text.into(), false)
    }

    fn insert(&self, path: &Path, text: String, is_read: bool) -> FileId {
        let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
        let known = texts.by_path.get(path).copied();
        let at = known.unwrap_or_else(|| {
            let next = texts.all.len();
            let at = self.ids.as_ref().map_or(next, |ids| ids.of(path));
            let length = texts.length.saturating_add(text.len());
            let cache = self.cache.as_ref();
            let length = cache.map_or(length, |cache| cache.length_with(text.len(), length));
            if length > MAX_TEXT_WITH_TREES {
                self.is_large.store(true, Ordering::Relaxed);
            }
            let is_derived_kept_between_runs = cache.is_some_and(|cache| cache.keeps_trees(length));
            let before = self.cache.as_ref().and_then(|cache| cache.text(at));
            let is_same = |file: &Arc<SourceFile>| {
                file.text == text
                    && file.is_read == is_read
                    && file.is_derived_kept_between_runs == is_derived_kept_between_runs
                    && !file.is_guarded()
            };
            let file = before.filter(is_same).unwrap_or_else(|| {
                Arc::new(SourceFile {
                    path: path.to_owned(),
                    shown: relative(path, Some(&self.working_directory)),
                    name: self.name_of(path),
                    text,
                    index: OnceLock::new(),
                    derived: Mutex::default(),
                    is_guarded: AtomicBool::new(false),
                    is_read,
                    is_large_run: self.is_large.clone(),
                    is_derived_kept_between_runs,
                })
            });
            texts.put(at, file);
            at
        });
        drop(texts);
        self.record_read(FileId(u32::try_from(at).unwrap_or(u32::MAX)))
    }

    /// Creates empty sources over the same files, for texts that may turn out not to belong to the run.
    #[must_use]
    pub fn separate(&self) -> Sources {
        Sources::with_files(self.files().clone(), self.working_directory().to_owned())
    }

    fn texts(&self) -> RwLockReadGuard<'_, Texts> {
        self.texts.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the file at `path` if it was added.
    pub fn find(&self, path: &Path) -> Option<FileId> {
        let at = self.texts().by_path.get(path).copied()?;
        Some(FileId(u32::try_from(at).unwrap_or(u32::MAX)))
    }

    /// Returns the file at `path` if its content was read.
    pub fn find_read(&self, path: &Path) -> Option<FileId> {
        let id = self.find(path).filter(|id| self.file(*id).is_read)?;
        if self.files.recorder().is_some() {
            // An earlier read recorded the path as a dependency of its own caller only, so record it for this one.
            let _ = self.files.find(path);
        }
        Some(self.record_read(id))
    }

    /// Marks a file as one that may contain secrets.
    pub fn guard(&self, id: FileId) {
        self.file(id).is_guarded.store(true, Ordering::Relaxed);
    }

    /// Returns `path` for machine formats: relative to the repository root.
    pub fn name_of(&self, path: &Path) -> String {
        let base = self.repository().unwrap_or(&self.working_directory);
        relative(path, Some(base))
    }

    /// Returns `path` for people: relative to the working directory.
    pub fn shown_of(&self, path: &Path) -> String {
        relative(path, Some(&self.working_directory))
    }

    /// Returns the file with the id `id`.
    ///
    /// # Panics
    /// If `id` belongs to other `Sources`.
    pub fn file(&self, id: FileId) -> Arc<SourceFile> {
        let texts = self.texts();
        texts.get(id.0 as usize).expect("an id of these sources").clone()
    }

    /// Drops the values derived from every text if the texts are too long to keep them.
    pub fn drop_derived_if_large(&self) {
        if self.is_large.load(Ordering::Relaxed) {
            self.all().iter().for_each(|(_, file)| file.drop_derived());
        }
    }

    /// Returns the value that `make` derives from all texts. It is computed at most once per type, so that all files must
    /// have been read.
    ///
    /// # Panics
    ///
    /// Never: values are stored by their type.
    pub fn derived<T: Any + Send + Sync>(&self, make: impl FnOnce(&Sources) -> T) -> Arc<T> {
        derived(&self.derived, || make(self))
    }

    /// Returns all files, in arbitrary order.
    pub fn all(&self) -> Vec<(FileId, Arc<SourceFile>)> {
        let texts = self.texts();
        let files = (0..).map(FileId).zip(&texts.all);
        files.filter_map(|(id, file)| Some((id, file.clone()?))).collect()
    }

    /// Returns all files in the directory of `id`, including itself, in the order of [`Sources::all`].
    pub fn in_directory_of(&self, id: FileId) -> Vec<(FileId, Arc<SourceFile>)> {
        let texts = self.texts();
        let directory = texts.get(id.0 as usize).and_then(|file| file.path.parent());
        let ids = directory.and_then(|directory| texts.by_directory.get(directory));
        let found = ids.into_iter().flatten().filter_map(|&at| {
            let id = FileId(u32::try_from(at).unwrap_or(u32::MAX));
            Some((id, texts.get(at)?.clone()))
        });
        found.collect()
    }

    /// Returns the text of `span`, or an empty text if it is out of range.
    pub fn text(&self, span: Span) -> String {
        self.file(span.file).text.get(span.range()).unwrap_or("").to_owned()
    }

    /// Returns the position of the start of `span`.
    pub fn start(&self, span: Span) -> Position {
        self.file(span.file).position(span.start as usize)
    }

    /// Returns the position of the end of `span`.
    pub fn end(&self, span: Span) -> Position {
        self.file(span.file).position(span.end as usize)
    }
}

/// Returns `path` relative to `base` with `/` and, if necessary, `..`; or absolute if they share no directory but the
/// root.
fn relative(path: &Path, base: Option<&Path>) -> String {
    let Some(base) = base else {
        return slashed(path);
    };
    if !path.is_absolute() || !base.is_absolute() {
        return slashed(path);
    }
    let shared = path
        .components()
        .zip(base.components())
        .take_while(|(a, b)| a == b)
        .count();
    if shared <= 1 {
        return slashed(path);
    }
    let up = base.components().count() - shared;
    let mut parts: Vec<String> = vec!["..".to_owned(); up];
    parts.extend(
        path.components()
            .skip(shared)
            .map(|c| c.as_os_str().to_string_lossy().into_owned()),
    );
    if parts.is_empty() {
        ".".to_owned()
    } else {
        parts.join("/")
    }
}

/// Removes the prefix `\\?\` of canonical paths on Windows, which few other programs understand.
pub fn without_verbatim_prefix(path: &Path) -> &Path {
    let disk = path.to_str().and_then(|text| text.strip_prefix(r"\\?\"));
    disk.filter(|disk| !disk.starts_with("UNC")).map_or(path, Path::new)
}

fn slashed(path: &Path) -> String {
    without_verbatim_prefix(path)
        .to_string_lossy()
        .replace(std::path::MAIN_SEPARATOR, "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbatim_prefix_of_windows_paths_is_removed() {
        let written = |path: &'static str| without_verbatim_prefix(Path::new(path)).to_string_lossy().into_owned();
        assert_eq!(written(r"\\?\C:\a\b"), r"C:\a\b");
        assert_eq!(written(r"\\?\UNC\server\a"), r"\\?\UNC\server\a");
        assert_eq!(written("/a/b"), "/a/b");
    }

    #[test]
    fn positions_count_characters_and_lines() {
        let sources = Sources::default();
        let file = sources.add(Path::new("a.tf"), "a\nöx\n");
        let at = |offset| {
            let position = sources.file(file).position(offset);
            (position.line, position.column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (2, 1));
        assert_eq!(at(4), (2, 2));
        assert_eq!(at(6), (3, 1));
        assert_eq!(at(99), (3, 1));
    }

    #[test]
    fn columns_in_a_very_long_line_are_exact() {
        let text = "ö".repeat(3 * STRIDE) + "\n" + &"xö".repeat(STRIDE);
        let sources = Sources::default();
        let file = sources.file(sources.add(Path::new("plan.json"), text.clone()));
        for offset in (0..text.len()).step_by(997).chain([text.len()]) {
            let before = text.get(..text.floor_char_boundary(offset)).unwrap_or("");
            let line = before.rsplit('\n').next().unwrap_or("");
            let column = u32::try_from(line.chars().count() + 1).unwrap_or(0);
            assert_eq!(file.position(offset).column, column, "{offset}");
        }
    }
}
