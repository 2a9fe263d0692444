//! Projects of the fixtures, changed in their structure: blocks are doubled, moved, nested and taken away, numbers and
//! texts become odd ones, YAML gets anchors, tags and merge keys, files get other names, links and pipes beside them.
//! Each result is checked and fixed, and some are printed in every format. None panics, and none takes long.
//!
//! The same changes in every run. `SQSLINT_MUTATIONS` sets how many, `SQSLINT_MUTATION_SEED` from where on; a failure
//! names the number that brings it back: `SQSLINT_MUTATION_SEED=17 SQSLINT_MUTATIONS=1`.

use super::mutate::{Project, Random, mutated};
use crate::formats::FORMATS;
use sqslint::testing::TemporaryDirectory;
use sqslint::{Options, check, fix};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How many projects are made and checked.
const MUTATIONS: u64 = 240;
/// The time that one may take, in a debug build on a busy machine.
const TIME: Duration = Duration::from_mins(1);
/// Every so many are printed in every format.
const PRINTED: u64 = 12;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn mutated_projects_neither_panic_nor_hang() {
    let projects = Project::all(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures")));
    assert!(projects.len() > 100, "{} projects", projects.len());
    let first = number("SQSLINT_MUTATION_SEED", 0);
    let last = first + number("SQSLINT_MUTATIONS", MUTATIONS);
    for seed in first..last {
        let mut random = Random::new(seed);
        let files = mutated(&projects, &mut random);
        let directory = TemporaryDirectory::with_files([]);
        let begun = Instant::now();
        let tried = catch_unwind(AssertUnwindSafe(|| {
            for (name, bytes) in &files {
                write(directory.path(), name, bytes);
            }
            special(directory.path(), &mut random);
            judge(directory.path(), seed);
        }));
        let took = begun.elapsed();
        assert!(tried.is_ok(), "SQSLINT_MUTATION_SEED={seed} SQSLINT_MUTATIONS=1");
        assert!(took < TIME, "SQSLINT_MUTATION_SEED={seed}: {took:?}");
    }
}

fn write(directory: &Path, name: &Path, bytes: &[u8]) {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().expect("it lies in a directory")).expect("it is writable");
    std::fs::write(path, bytes).expect("it is writable");
}

/// Now and then something that is no file, where a file is expected.
fn special(directory: &Path, random: &mut Random) {
    if random.below(8) != 0 {
        return;
    }
    let name = ["main.tf", "template.yaml", "serverless.yml", "sqslint.toml"][random.below(4)];
    let path = directory.join(name);
    let _ = std::fs::remove_file(&path);
    match random.below(3) {
        0 => std::fs::create_dir(&path).expect("it can be made"),
        #[cfg(unix)]
        1 => std::os::unix::fs::symlink(["nowhere", ".", "/dev/zero"][random.below(3)], &path).expect("it can be made"),
        _ => std::fs::write(&path, b"\xff\xfe\x00").expect("it is writable"),
    }
}

fn judge(directory: &Path, seed: u64) {
    let options = Options {
        paths: vec![directory.to_owned()],
        trace: seed.is_multiple_of(2),
        ..Options::default()
    };
    check(&options);
    if seed.is_multiple_of(3) {
        fix(&options, sqslint::diagnostic::Safety::Unsafe).diff();
    }
    if seed.is_multiple_of(PRINTED) {
        for format in FORMATS {
            run(directory, &["check", "--pedantic", "--format", format, "."]);
        }
        run(directory, &["check", "--verbose", "--statistics", "."]);
        for format in ["dot", "mermaid", "json"] {
            run(directory, &["graph", "--format", format, "."]);
        }
    }
}

/// Runs the program, which ends by itself and says what it wants to say.
fn run(directory: &Path, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(
        code.is_some_and(|code| code <= 3) && !said.contains("panicked"),
        "{arguments:?}: {code:?} {said}"
    );
    output.stdout
}

/// Every file of the fixtures at once, copied in another order each time and checked with another number of threads.
#[test]
fn the_same_is_said_in_any_order_with_any_number_of_threads() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/stacks"));
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for project in Project::all(root) {
        files.extend(
            project
                .files
                .into_iter()
                .map(|(name, bytes)| (project.name.join(name), bytes)),
        );
    }
    files.sort();
    let mut said: Vec<Vec<u8>> = Vec::new();
    for (threads, turned) in [("1", false), ("2", true), ("16", false)] {
        let directory = TemporaryDirectory::with_files([]);
        if turned {
            files.reverse();
        }
        for (name, bytes) in &files {
            write(directory.path(), name, bytes);
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
        command.args(["check", "--pedantic", "--verbose", "--format", "json", "."]);
        command.env("RAYON_NUM_THREADS", threads).current_dir(directory.path());
        let output = command.output().expect("it starts");
        let text = String::from_utf8(output.stdout).expect("it is UTF-8");
        said.push(text.replace(&*directory.path().to_string_lossy(), "").into_bytes());
    }
    assert!(said[0].len() > 10_000, "{}", said[0].len());
    assert!(said[0] == said[1], "another order of files");
    assert!(said[0] == said[2], "another number of threads");
}
