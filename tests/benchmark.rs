//! Measures the bounds of speed and memory: `cargo test --release --test benchmark -- --ignored --nocapture` prints the
//! table of `BENCHMARKS.md`, updates it with `UPDATE=1`, and fails if a bound is exceeded. Inputs are generated. Each
//! figure is the best of several runs; next to the elapsed time is the processor time, which other work does not
//! increase.
//!
//! This is a separate executable, because it is compiled with optimizations and must run alone. `tests/kernels.rs`
//! counts figures that can be compared on any machine, busy or not.
//!
//! `SQSLINT_PLAN_MB` sets a different size of the plan. Other linters are measured if installed.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]
#![allow(clippy::too_many_lines, reason = "documents")]

#[path = "generated/editor.rs"]
mod editor;
#[path = "generated/many.rs"]
mod many;
#[path = "generated/plan.rs"]
mod plan;
#[path = "generated/services.rs"]
mod services;
#[path = "generated/tree.rs"]
mod tree;

use rayon::prelude::*;
use sqslint::testing::TemporaryDirectory;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Unit of the processor time that the system reports.
const TICK: Duration = Duration::from_millis(10);

/// Time and memory of one run of a program.
#[derive(Clone, Copy)]
struct Cost {
    wall: Duration,
    /// User and system time.
    processor: Duration,
    /// Peak memory in kB.
    peak: u64,
}

/// Runs a program, and samples `/proc` until it ends.
fn run(command: &mut Command) -> Cost {
    let start = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let of = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", child.id())).unwrap_or_default();
    let mut peak = 0;
    let (wall, ticks) = loop {
        let process = of("stat");
        let fields: Vec<&str> = process
            .rsplit(')')
            .next()
            .unwrap_or("")
            .split_ascii_whitespace()
            .collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u32>().ok()).unwrap_or(0);
        if matches!(fields.first(), None | Some(&"Z")) {
            break (start.elapsed(), number(11) + number(12));
        }
        let status = of("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let size = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = size.unwrap_or(0).max(peak);
        std::thread::sleep(Duration::from_micros(500));
    };
    child.wait().unwrap();
    Cost {
        wall,
        processor: TICK * ticks,
        peak,
    }
}

fn check(path: &Path, times: usize) -> Cost {
    best(times, || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
        run(command.args(["check", "--format", "concise", "--exit-zero"]).arg(path))
    })
}

/// Returns the lowest time of each kind, and the highest memory.
fn best(times: usize, cost: impl Fn() -> Cost) -> Cost {
    let costs: Vec<Cost> = (0..times).map(|_| cost()).collect();
    Cost {
        wall: costs.iter().map(|cost| cost.wall).min().unwrap(),
        processor: costs.iter().map(|cost| cost.processor).min().unwrap(),
        peak: costs.iter().map(|cost| cost.peak).max().unwrap(),
    }
}

fn fastest(work: impl Fn()) -> Duration {
    let times = (0..5).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    times.min().unwrap()
}

/// Rows, printed as they are measured; exceeded bounds are reported at the end.
#[derive(Default)]
struct Table {
    rows: Vec<String>,
    missed: Vec<String>,
}

/// Lines around the table in `BENCHMARKS.md`.
const MARKS: [&str; 2] = ["<!-- written by tests/benchmark.rs -->\n", "<!-- end -->\n"];

impl Table {
    fn line(&mut self, line: String) {
        println!("{line}");
        self.rows.push(line);
    }

    fn row(&mut self, what: &str, bound: &str, cost: Cost, others: &str, holds: bool) {
        let Cost { wall, processor, peak } = cost;
        self.line(format!(
            "| {what} | {bound} | {:.0} ms | {:.0} ms | {:.0} MB | {others} |",
            wall.as_secs_f64() * 1e3,
            processor.as_secs_f64() * 1e3,
            peak as f64 / 1024.0
        ));
        if !holds {
            self.missed.push(what.to_owned());
        }
    }

    /// Replaces the table in `BENCHMARKS.md`.
    fn write(&self) {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/BENCHMARKS.md");
        let text = std::fs::read_to_string(file).unwrap();
        let (before, rest) = text.split_once(MARKS[0]).unwrap();
        let (_, after) = rest.split_once(MARKS[1]).unwrap();
        let table = self.rows.join("\n");
        let text = format!("{before}{}\n{table}\n\n{}{after}", MARKS[0], MARKS[1]);
        std::fs::write(file, text).unwrap();
    }
}

fn with_files(files: &[tree::File]) -> TemporaryDirectory {
    TemporaryDirectory::with_files(files.iter().map(|(name, text)| (&**name, &**text)))
}

/// Reads all files and parses the first `parsed`, on all processors, as the minimum that any linter must do.
fn parse_all(files: &[PathBuf], parsed: usize) {
    files.par_iter().enumerate().for_each(|(at, file)| {
        let text = std::fs::read_to_string(file).unwrap();
        if at >= parsed {
            return;
        }
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("tf") => drop(hcl_edit::parser::parse_body(&text).unwrap()),
            Some("yaml") => granit_parser::Parser::new_from_str(&text).for_each(|event| drop(event.unwrap())),
            _ => drop(serde_json::from_str::<serde_json::Value>(&text).unwrap()),
        }
    });
}

/// Other template linters: name, program, arguments to check whether it is installed, and arguments to run it on a
/// file.
const PEERS: [(&str, &str, (&[&str], &[&str])); 3] = [
    ("cfn-lint", "cfn-lint", (&["--version"], &[])),
    (
        "checkov",
        "checkov",
        (&["--version"], &["--quiet", "--compact", "--file"]),
    ),
    (
        "cloudformation-validate",
        "python3",
        (
            &["-c", "import cloudformation_validate"],
            &[
                "-c",
                "import sys, cloudformation_validate as c; c.CompositeEngine().validate_template(sys.argv[1])",
            ],
        ),
    ),
];

fn template(table: &mut Table) {
    let (files, _) = tree::tree();
    let is_template = |file: &&tree::File| file.0.ends_with("template.yaml");
    let text = &files.iter().find(is_template).unwrap().1;
    let directory = TemporaryDirectory::with_files([("template.yaml", &**text)]);
    let file = directory.path().join("template.yaml");
    let cost = check(&file, 50);
    let (mut others, mut holds) = (Vec::new(), cost.wall < Duration::from_millis(10));
    for (name, program, arguments) in PEERS {
        let asked = |arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        let is_here = |(asks, _): &(&[&str], _)| asked(asks).status().is_ok_and(|status| status.success());
        let Some((_, runs)) = Some(arguments).filter(is_here) else {
            others.push(format!("{name} is not installed"));
            continue;
        };
        let other = best(3, || run(asked(runs).arg(&file)));
        let factor = other.wall.as_secs_f64() / cost.wall.as_secs_f64();
        others.push(format!(
            "{name} {:.0} ms: {factor:.0} ×",
            other.wall.as_secs_f64() * 1e3
        ));
        holds = holds && (name != "cfn-lint" || factor >= 100.0);
    }
    let lines = text.lines().count();
    table.row(
        &format!("one SAM template of {lines} lines, cold"),
        "10 ms, 100 × cfn-lint",
        cost,
        &others.join(", "),
        holds,
    );
}

fn three_thousand_files(table: &mut Table) {
    let (files, parsed) = tree::tree();
    let directory = with_files(&files);
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| directory.path().join(name)).collect();
    let parsing = fastest(|| parse_all(&paths, parsed));
    let cost = check(directory.path(), 5);
    let factor = cost.wall.as_secs_f64() / parsing.as_secs_f64();
    table.row(
        &format!("{} files, {:.1} MB", files.len(), bytes as f64 / 1e6),
        "1 s, 4 × parsing, 140 MB",
        cost,
        &format!("parsing alone {:.0} ms: {factor:.1} ×", parsing.as_secs_f64() * 1e3),
        cost.wall < Duration::from_secs(1) && cost.peak < 140 * 1024 && factor <= 4.0,
    );
}

fn large_plan(table: &mut Table) {
    let megabytes = std::env::var("SQSLINT_PLAN_MB").map_or(100, |size| size.parse().unwrap());
    let text = plan::plan(megabytes * 1_000_000);
    let directory = TemporaryDirectory::with_files([("plan.json", &*text)]);
    let file = directory.path().join("plan.json");
    let size = text.len();
    let in_memory = fastest(|| {
        serde_json::from_str::<serde::de::IgnoredAny>(&text).unwrap();
    });
    drop(text);
    let ignored = fastest(|| {
        let text = std::fs::read_to_string(&file).unwrap();
        serde_json::from_str::<serde::de::IgnoredAny>(&text).unwrap();
    });
    let cost = check(&file, 5);
    let factor = cost.wall.as_secs_f64() / ignored.as_secs_f64();
    table.row(
        &format!("a plan of {:.0} MB", size as f64 / 1e6),
        "3 × serde_json, 3 × its size",
        cost,
        &format!(
            "read and ignored by serde_json {:.0} ms ({:.0} ms without reading the file): {factor:.1} ×",
            ignored.as_secs_f64() * 1e3,
            in_memory.as_secs_f64() * 1e3
        ),
        factor <= 3.0 && cost.peak * 1024 < 3 * size as u64,
    );
}

fn cdk_template(table: &mut Table) {
    let text = tree::cdk(5_000_000);
    let directory = TemporaryDirectory::with_files([("App.template.json", &*text)]);
    let cost = check(&directory.path().join("App.template.json"), 5);
    let factor = cost.peak as f64 * 1024.0 / text.len() as f64;
    table.row(
        "a CDK template of 5 MB",
        "",
        cost,
        &format!("memory {factor:.1} × the file"),
        true,
    );
}

/// Maximum factor for four times as many instances: linear growth, and a little for the resolution of the clock.
const LINEAR: f64 = 4.4;

fn instances(table: &mut Table, what: &str, files: fn(usize) -> Vec<tree::File>, count: usize) {
    let cost = |count| check(with_files(&files(count)).path(), 3);
    let (few, many) = (cost(count / 4), cost(count));
    let factor = many.wall.as_secs_f64() / few.wall.as_secs_f64();
    table.row(
        &format!("{what} {count} times"),
        &format!("{LINEAR} × a quarter"),
        many,
        &format!("{factor:.1} × the time of {}", count / 4),
        many.wall < few.wall.mul_f64(LINEAR) + Duration::from_millis(20),
    );
}

/// Measures one named template in a repository with `count` other files, any of which might depend on it.
fn one_of_many(table: &mut Table, count: usize, bound: Duration) {
    let endings = ["py", "ts", "md", "json", "yaml"];
    let mut files: Vec<tree::File> = (0..count)
        .map(|at| {
            let name = format!(
                "d{}/e{}/f{at}.{}",
                at % 100,
                at % 1000 / 100,
                endings[at % endings.len()]
            );
            (name, "{\"a\": 1}\n".to_owned())
        })
        .collect();
    let (generated, _) = tree::tree();
    let template = generated.into_iter().find(|(name, _)| name.ends_with("template.yaml"));
    files.push(("service/template.yaml".to_owned(), template.unwrap().1));
    files.push((".git/HEAD".to_owned(), "ref: refs/heads/main\n".to_owned()));
    let directory = with_files(&files);
    let cost = check(&directory.path().join("service/template.yaml"), 5);
    let what = format!("one template in a repository of {count} files");
    table.row(&what, &format!("{} ms", bound.as_millis()), cost, "", cost.wall < bound);
}

/// Measures reports of the tree.
fn reports(table: &mut Table) {
    let (files, _) = tree::tree();
    let directory = with_files(&files);
    let cases: [(&str, &[&str]); 3] = [
        ("SARIF of the tree", &["check", "--exit-zero", "--format", "sarif"]),
        ("HTML of the tree", &["check", "--exit-zero", "--format", "html"]),
        ("`graph --format json` of the tree", &["graph", "--format", "json"]),
    ];
    for (what, arguments) in cases {
        let cost = best(2, || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
            run(command.args(arguments).arg(directory.path()))
        });
        table.row(what, "150 MB", cost, "", cost.peak < 150 * 1024);
    }
}

/// Measures keystrokes in the language server; its first load costs as much as a batch run.
fn typing(table: &mut Table) {
    let mut row = |what: &str, root: &Path, file: &str, from: &str, bound: Duration| {
        let typed = editor::typed(root, file, |text, at| text.replacen(from, &format!("{from}{at}"), 1));
        let bound_shown = match bound {
            Duration::MAX => String::new(),
            bound => format!("{} ms of processors", bound.as_millis()),
        };
        table.line(format!(
            "| a keystroke: {what} | {bound_shown} | {:.0} ms | {:.1} ms | {:.0} MB | first load {:.0} ms of processors |",
            typed.arrival.as_secs_f64() * 1e3,
            typed.keystroke.as_secs_f64() * 1e3,
            typed.peak as f64 / 1024.0,
            typed.load.as_secs_f64() * 1e3,
        ));
        if typed.keystroke > bound {
            table.missed.push(format!("a keystroke: {what}"));
        }
    };
    let bound = Duration::from_millis(50);
    let queue = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 30\n}\n";
    let small = TemporaryDirectory::with_files([("main.tf", queue)]);
    row("a module of one file", small.path(), "main.tf", "seconds = 3", bound);
    let (files, _) = tree::tree();
    let directory = with_files(&files);
    let module = files
        .iter()
        .find(|(_, text)| text.contains("timeout       = "))
        .unwrap();
    row(
        "a module of the tree",
        directory.path(),
        &module.0,
        "timeout       = 1",
        bound,
    );
    row(
        "a template of the tree",
        directory.path(),
        "stacks/0/template.yaml",
        "Timeout: 3",
        bound,
    );
    let callers = (0..200).map(|at| {
        let name = format!("live/{at}/main.tf");
        let text = format!("module \"orders\" {{\n  source = \"../../module\"\n  name   = \"orders-{at}\"\n}}\n");
        (name, text)
    });
    let module = "variable \"name\" {}\n\nresource \"aws_sqs_queue\" \"q\" {\n  name = var.name\n  visibility_timeout_seconds = 180\n}\n\nresource \"aws_lambda_function\" \"f\" {\n  timeout = 30\n}\n\nresource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = aws_sqs_queue.q.arn\n  function_name = aws_lambda_function.f.arn\n}\n";
    let files: Vec<tree::File> = callers
        .chain([("module/main.tf".to_owned(), module.to_owned())])
        .collect();
    let directory = with_files(&files);
    row(
        "a module of 200 callers",
        directory.path(),
        "module/main.tf",
        "timeout = 3",
        bound,
    );
    row(
        "one of the 200 callers",
        directory.path(),
        "live/7/main.tf",
        "orders-",
        bound,
    );
    let directory = with_files(&services::services(80, 12));
    row(
        "one of 80 modules with 12 environments",
        directory.path(),
        "svc7/main.tf",
        "visibility_timeout_seconds = 6",
        bound,
    );
}

#[test]
#[ignore = "takes minutes and needs a release build"]
fn bounds_are_not_exceeded() {
    let mut table = Table::default();
    table.line("| work | bound | clock | processors | memory | against |".to_owned());
    table.line("| --- | --- | --- | --- | --- | --- |".to_owned());
    template(&mut table);
    three_thousand_files(&mut table);
    large_plan(&mut table);
    cdk_template(&mut table);
    instances(&mut table, "a module called", tree::calls, 4000);
    instances(&mut table, "`for_each` over keys,", tree::keys, 10_000);
    instances(&mut table, "queues with one dead-letter queue,", many::sources, 4000);
    instances(&mut table, "functions on one queue,", many::readers, 4000);
    one_of_many(&mut table, 1700, Duration::from_millis(8));
    one_of_many(&mut table, 10_000, Duration::from_millis(25));
    one_of_many(&mut table, 100_000, Duration::from_millis(120));
    reports(&mut table);
    typing(&mut table);
    if std::env::var_os("UPDATE").is_some() {
        table.write();
    }
    assert!(table.missed.is_empty(), "bounds exceeded: {:?}", table.missed);
}
