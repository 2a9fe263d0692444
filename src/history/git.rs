//! Queries the repository through the program `git`: no library handles every kind of repository (partial clones,
//! worktrees, alternates, both hashes) as reliably as git itself.
//!
//! Only plumbing commands that read objects and the index are run. The repository's own configuration is not trusted,
//! so hooks, file system monitors, external diffs, lazy fetches and repositories in plain directories are disabled, and
//! no command compares file contents of the working tree, which would run filters.

use source::without_verbatim_prefix;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Settings that override those of the repository.
const SETTINGS: [&str; 6] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.quotePath=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
];
/// Variables that describe the repository to a hook. They apply to that repository only.
const OWN: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];

/// Repository.
#[derive(Debug, Clone)]
pub(super) struct Git {
    directory: PathBuf,
    /// `true` if the variables of a hook describe this repository.
    is_own: bool,
}

/// File of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeEntry {
    pub(super) kind: TreeEntryKind,
    pub(super) object: String,
    pub(super) size: u64,
    pub(super) path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeEntryKind {
    File,
    Link,
    /// A commit of another repository.
    Submodule,
}

impl Git {
    /// Returns the repository with the root `root`.
    pub(super) fn of(root: &Path) -> Self {
        let here = std::env::current_dir().ok();
        let here = here.and_then(|here| source::files::repository_root(&here));
        Git {
            directory: root.to_owned(),
            is_own: here.as_deref() == Some(root),
        }
    }

    /// Returns the repository of a submodule, if it is checked out.
    pub(super) fn submodule(&self, path: &Path) -> Option<Self> {
        let directory = self.directory.join(path);
        source::files::exists(&directory.join(".git")).then_some(Git {
            directory,
            is_own: false,
        })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.current_dir(without_verbatim_prefix(&self.directory));
        for name in OWN {
            match std::env::var_os(name) {
                // Relative paths are relative to the directory of this process.
                Some(value) if self.is_own && name != "GIT_ALTERNATE_OBJECT_DIRECTORIES" => {
                    command.env(name, std::path::absolute(Path::new(&value)).unwrap_or(value.into()));
                }
                Some(_) if !self.is_own => {
                    command.env_remove(name);
                }
                _ => {}
            }
        }
        command.env("GIT_OPTIONAL_LOCKS", "0");
        command.env("GIT_NO_LAZY_FETCH", "1");
        command.env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_LITERAL_PATHSPECS", "1");
        command.env("LC_ALL", "C");
        command.env_remove("GIT_EXTERNAL_DIFF");
        command.arg("--no-pager");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(arguments);
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs git and returns its output, or the first line of its error message.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        let output = self.command(arguments).output().map_err(|error| cannot_start(&error))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        let line = complaint.lines().find(|line| !line.trim().is_empty());
        let line = line.map(|line| line.trim_start_matches("fatal: ").to_owned());
        let verb = arguments.first().copied().unwrap_or_default();
        Err(line.unwrap_or_else(|| format!("`git {verb}` failed")))
    }

    fn line(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.run(arguments)?;
        Ok(String::from_utf8_lossy(&output).trim_end().to_owned())
    }

    /// Checks that git recognises the directory as a repository.
    pub(super) fn check(&self) -> Result<(), String> {
        self.line(&["rev-parse", "--git-dir"]).map(|_| ())
    }

    /// Returns the commit that `name` refers to, or `None` if it refers to no commit.
    pub(super) fn commit(&self, name: &str) -> Result<Option<String>, String> {
        self.check()?;
        if name.starts_with('-') {
            return Ok(None);
        }
        let wanted = format!("{name}^{{commit}}");
        let found = self.line(&["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]);
        Ok(found.ok().filter(|id| is_id(id)))
    }

    /// Returns the address that the clone was made from.
    pub(super) fn remote(&self) -> Option<String> {
        self.line(&["remote", "get-url", "origin"]).ok()
    }

    /// Returns the common ancestor of both commits, or `None` if this clone contains none.
    pub(super) fn merge_base(&self, one: &str, other: &str) -> Option<String> {
        self.line(&["merge-base", one, other]).ok().filter(|id| is_id(id))
    }

    /// Returns `true` if this clone lacks old commits.
    pub(super) fn is_shallow(&self) -> bool {
        self.line(&["rev-parse", "--is-shallow-repository"])
            .is_ok_and(|answer| answer == "true")
    }

    /// Returns every file of the tree of `commit`, with paths from its root.
    pub(super) fn tree(&self, commit: &str) -> Result<Vec<TreeEntry>, String> {
        let output = self.run(&["ls-tree", "-r", "-z", "-l", "--full-tree", commit])?;
        Ok(output.split(|byte| *byte == 0).filter_map(tree_entry).collect())
    }

    /// Returns the paths from the root of the repository whose contents differ between two commits.
    pub(super) fn changed(&self, from: &str, to: &str) -> Result<Vec<PathBuf>, String> {
        let output = self.run(&["diff-tree", "-r", "-z", "--no-renames", "--name-only", from, to])?;
        Ok(paths(&output))
    }

    /// Returns the paths from the root of the repository whose contents in the index differ from `HEAD`.
    pub(super) fn staged(&self) -> Result<Vec<PathBuf>, String> {
        let output = match self.commit("HEAD")? {
            Some(head) => self.run(&["diff-index", "--cached", "-z", "--no-renames", "--name-only", &head])?,
            None => self.run(&["ls-files", "--cached", "--full-name", "-z"])?,
        };
        Ok(paths(&output))
    }

    /// Returns the files that git ignores. An ignored directory is returned itself, with a trailing slash.
    pub(super) fn ignored(&self) -> Result<Vec<PathBuf>, String> {
        let flags = ["--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let output = self.run(&[&["ls-files"][..], &flags[..]].concat())?;
        Ok(paths(&output))
    }

    /// Starts a process that reads objects, one after the other.
    pub(super) fn batch(&self) -> Result<Batch, String> {
        let mut command = self.command(&["cat-file", "--batch"]);
        // Its error messages only repeat that an object is missing, which its answers state.
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| cannot_start(&error))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Ok(Batch {
            input: input.ok_or("`git cat-file` has no input")?,
            output: BufReader::new(output.ok_or("`git cat-file` has no output")?),
            child,
        })
    }
}

/// Running `git cat-file --batch`. Objects are requested one at a time, which avoids deadlocks.
#[derive(Debug)]
pub(super) struct Batch {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Batch {
    /// Returns the contents of `object`, or `None` if this clone does not contain it.
    pub(super) fn contents(&mut self, object: &str) -> Result<Option<Vec<u8>>, String> {
        let requested = writeln!(self.input, "{object}").and_then(|()| self.input.flush());
        requested.map_err(|error| format!("`git cat-file` ended: {error}"))?;
        answer(&mut self.output)
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn cannot_start(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "`git` is needed for this and was not found".to_owned(),
        std::io::ErrorKind::Unsupported => {
            "`git` is needed for this, and WebAssembly starts no programs: install the native program".to_owned()
        }
        _ => format!("`git` cannot be run: {error}"),
    }
}

fn is_id(text: &str) -> bool {
    text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Reads one answer of `git cat-file --batch`: a header line with a size, that many bytes, and a line break.
fn answer(output: &mut impl BufRead) -> Result<Option<Vec<u8>>, String> {
    const ODD: &str = "`git cat-file` gave an unexpected answer";
    let mut line = String::new();
    output.read_line(&mut line).map_err(|error| error.to_string())?;
    let mut words = line.split_ascii_whitespace();
    let size = match (words.next(), words.next(), words.next()) {
        (Some(_), Some("missing" | "submodule" | "ambiguous"), _) => return Ok(None),
        (Some(_), Some(_), Some(size)) => size.parse::<u64>().map_err(|_| ODD)?,
        _ => return Err(ODD.to_owned()),
    };
    let mut bytes = Vec::new();
    let read = output.by_ref().take(size).read_to_end(&mut bytes);
    let whole = read.is_ok_and(|read| u64::try_from(read).is_ok_and(|read| read == size));
    let mut end = [0];
    if !whole || output.read_exact(&mut end).is_err() {
        return Err(ODD.to_owned());
    }
    Ok(Some(bytes))
}

/// Parses `mode type object size<tab>path`.
fn tree_entry(line: &[u8]) -> Option<TreeEntry> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let (head, path) = (line.get(..tab)?, line.get(tab + 1..)?);
    let head = std::str::from_utf8(head).ok()?;
    let mut words = head.split_ascii_whitespace();
    let (mode, _, object) = (words.next()?, words.next()?, words.next()?);
    let kind = match mode {
        "120000" => TreeEntryKind::Link,
        "160000" => TreeEntryKind::Submodule,
        _ => TreeEntryKind::File,
    };
    Some(TreeEntry {
        kind,
        object: object.to_owned(),
        size: words.next()?.parse().unwrap_or(0),
        path: path_of(path)?,
    })
}

fn paths(output: &[u8]) -> Vec<PathBuf> {
    let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.filter_map(path_of).collect()
}

/// Converts a path from git's encoding: bytes on Unix, UTF-8 elsewhere.
#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
pub(super) fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(OsStr::from_bytes(bytes)))
}

/// Converts a path from git's encoding: bytes on Unix, UTF-8 elsewhere.
#[cfg(not(unix))]
pub(super) fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes)
        .ok()
        .map(|text| PathBuf::from(OsStr::new(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_may_contain_line_breaks() {
        let line = b"100644 blob 8baef1b4abc478178b004d62031cf7fe6db6f903       3\ta\nb \xc3\xa4.tf";
        let entry = tree_entry(line).map(|entry| (entry.kind, entry.size, entry.path));
        assert_eq!(entry, Some((TreeEntryKind::File, 3, PathBuf::from("a\nb ä.tf"))));
        let line = b"160000 commit 8baef1b4abc478178b004d62031cf7fe6db6f903       -\tsub";
        assert_eq!(tree_entry(line).map(|entry| entry.kind), Some(TreeEntryKind::Submodule));
    }

    #[test]
    fn answer_is_read_completely() {
        let mut output: &[u8] = b"aa blob 3\na\nb\nbb missing\ncc blob 9\nx\n";
        assert_eq!(answer(&mut output), Ok(Some(b"a\nb".to_vec())));
        assert_eq!(answer(&mut output), Ok(None));
        assert!(answer(&mut output).is_err());
    }
}
