//! Checks structural mutations of the fixtures: blocks are duplicated, moved, nested and removed, numbers and strings
//! replaced by unusual ones, YAML gets anchors, tags and merge keys, and files are renamed, or replaced by links and
//! directories. The program checks each project, reports in every format, and fixes, explains and draws some. It must
//! never panic, and always end within bounds of processor time, memory and stack, which the operating system enforces.
//!
//! Every run makes the same mutations. `SQSLINT_MUTATIONS` sets their number, `SQSLINT_MUTATION_SEED` the first one; a
//! failure names the number that reproduces it: `SQSLINT_MUTATION_SEED=17 SQSLINT_MUTATIONS=1`.

use crate::formats::FORMATS;
use crate::fuzz::mutate::{Project, Random, mutated};
use sqslint::testing::TemporaryDirectory;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Number of projects to generate and check.
const MUTATIONS: u64 = 240;
/// Limits of a run, in a debug build: seconds of processor time, bytes of memory, and bytes of stack for the main
/// thread.
const BOUNDS: [&str; 4] = ["prlimit", "--cpu=10", "--data=536870912", "--stack=524288"];

/// Formats of the graph.
const GRAPHS: [&str; 5] = ["json", "dot", "mermaid", "svg", "text"];

/// Returns a number that an environment variable may set.
pub(crate) fn number(variable: &str, otherwise: u64) -> u64 {
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
        // Reports are written next to the project.
        let directory = TemporaryDirectory::with_files([]);
        let project = directory.path().join("project");
        for (name, bytes) in &files {
            write(&project, name, bytes);
        }
        special(&project, &mut random);
        for arguments in commands(seed, &files) {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            if let Err(why) = run(&project, &arguments) {
                panic!("SQSLINT_MUTATION_SEED={seed} SQSLINT_MUTATIONS=1: {arguments:?}: {why}");
            }
        }
    }
}

/// Returns the arguments of a check that writes every format to a file next to the project.
fn check_in_every_format() -> Vec<String> {
    let words = "check --pedantic --verbose --statistics --show-suppressed --format json .";
    let mut check: Vec<String> = words.split(' ').map(str::to_owned).collect();
    for format in FORMATS {
        check.extend(["--report".to_owned(), format!("{format}=../{format}")]);
    }
    check
}

/// Returns the command lines to run: every format each time, and the other commands in turns.
fn commands(seed: u64, files: &[(PathBuf, Vec<u8>)]) -> Vec<Vec<String>> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let mut all = vec![check_in_every_format()];
    if seed.is_multiple_of(3) {
        all.push(words("check --fix --unsafe-fixes --diff ."));
    }
    if seed.is_multiple_of(2) {
        let (first, _) = &files[0];
        all.push(vec!["explain".to_owned(), format!("{}:3", first.display())]);
    }
    if seed.is_multiple_of(4) {
        let at = usize::try_from(seed / 4).unwrap_or(0) % GRAPHS.len();
        all.push(words(&format!("graph --format {} .", GRAPHS[at])));
    }
    all
}

fn write(directory: &Path, name: &Path, bytes: &[u8]) {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().expect("it has a directory")).expect("it is writable");
    std::fs::write(path, bytes).expect("it is writable");
}

/// Replaces a file by something unusual, for some of the seeds.
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

/// Runs the program, and returns its output, or why it failed: a panic or an exceeded limit.
fn run(directory: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    run_within(&BOUNDS, directory, arguments)
}

/// Runs the program under the `prlimit` command `bounds`. Returns its output, or a message if it fails.
pub(super) fn run_within(bounds: &[&str], directory: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    static IS_BOUNDED: LazyLock<bool> = LazyLock::new(|| needs::PRLIMIT.is_available());
    let program = env!("CARGO_BIN_EXE_sqslint");
    let mut words = if *IS_BOUNDED { bounds.to_vec() } else { Vec::new() };
    words.push(program);
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null());
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code().is_some_and(|code| code <= 3) && !said.contains("panicked") {
        return Ok(output.stdout);
    }
    Err(format!("{} {said}", output.status))
}

#[test]
fn operating_system_enforces_the_bounds() {
    if !needs::PRLIMIT.is_available() {
        return;
    }
    let mut command = Command::new(BOUNDS[0]);
    command
        .args(&BOUNDS[1..])
        .args(["sh", "-c", "ulimit -t; ulimit -d; ulimit -s"]);
    let output = command.output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "10\n524288\n512\n");
}

/// Runs many stacks at once, in every format, graph and fix. Each time, the files are in another directory, are written
/// in a different order, and are checked by a different number of threads.
#[test]
fn output_does_not_depend_on_file_order_or_threads() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/stacks"));
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for project in Project::all(root) {
        let below = project.files.into_iter();
        files.extend(below.map(|(name, bytes)| (project.name.join(name), bytes)));
    }
    files.sort();
    let first = all_output(&files, "1");
    assert!(
        first.iter().all(|(what, said)| said.len() > 1_000 || what == "github"),
        "{first:?}"
    );
    let two = all_output(&files, "2");
    files.reverse();
    let turned = all_output(&files, "16");
    for (at, (what, said)) in first.iter().enumerate() {
        assert!(said == &two[at].1, "{what}: two threads");
        assert!(
            said == &turned[at].1,
            "{what}: sixteen threads and another order of files"
        );
    }
}

/// Returns the output of each format and command.
fn all_output(files: &[(PathBuf, Vec<u8>)], threads: &str) -> Vec<(String, String)> {
    let directory = TemporaryDirectory::with_files([]);
    let project = directory.path().join("project");
    for (name, bytes) in files {
        write(&project, name, bytes);
    }
    let place = directory.path().to_string_lossy().into_owned();
    let said = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
        command
            .args(arguments)
            .current_dir(&project)
            .env("RAYON_NUM_THREADS", threads);
        let output = command.output().expect("it starts");
        let said = [output.stdout, output.stderr].concat();
        String::from_utf8(said).expect("it is UTF-8").replace(&place, "")
    };
    let check = check_in_every_format();
    let check: Vec<&str> = check.iter().map(String::as_str).collect();
    let mut all = vec![("check".to_owned(), said(&check))];
    for format in FORMATS {
        let written = std::fs::read_to_string(directory.path().join(format)).expect("it is written");
        all.push((format.to_owned(), written.replace(&place, "")));
    }
    for format in GRAPHS {
        all.push((format!("graph {format}"), said(&["graph", "--format", format, "."])));
    }
    all.push((
        "fixes".to_owned(),
        said(&["check", "--fix", "--unsafe-fixes", "--diff", "."]),
    ));
    all
}
